"""Confusion matrix of many labels, with precision and recall of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports.summary import label

MOST, FREQUENT, LONGEST = 20, 10, 12
"""Largest number of labels in a matrix, of confusions listed otherwise, and of characters in a column head."""


class Rates(NamedTuple):
    """Counts of one label: rows that have it, rows predicted as it, and rows where both agree."""

    label: object
    shown: int
    said: int
    right: int

    @property
    def precision(self) -> float | None:
        """Share of its predictions that were right; None if it was never predicted."""
        return self.right / self.said if self.said else None

    @property
    def recall(self) -> float | None:
        """Share of its rows that were predicted as it; None if it never occurred."""
        return self.right / self.shown if self.shown else None


def rates(ledger: Ledger) -> list[Rates]:
    """Return the counts of each label; nothing for two labels, or too many."""
    found = ledger.confusion if ledger.player.task == "multiclass" else None
    if found is None:
        return []
    predicted = [sum(column) for column in zip(*found.table, strict=True)]
    return [Rates(name, sum(row), predicted[k], row[k]) for k, (name, row) in enumerate(zip(*found, strict=True))]


def confusions(names: Sequence[object], table: Sequence[Sequence[int]]) -> list[tuple[object, object, int]]:
    """Return the most frequent confusions: actual label, predicted label, count."""
    wrong = [(names[i], names[j], n) for i, row in enumerate(table) for j, n in enumerate(row) if n and i != j]
    return sorted(wrong, key=lambda one: -one[2])[:FREQUENT]


def confused(ledger: Ledger, verbose: bool = False) -> Iterator[str]:
    """Yield the confusion matrix in lines, or the most frequent confusions of more than twenty labels."""
    found = ledger.confusion if ledger.player.task == "multiclass" else None
    if found is None:
        return
    names = [label(ledger, one) for one in found.labels]
    if len(names) > MOST:
        yield f"{counted(len(names), 'label')}; most frequent confusions:"
        for actual, predicted, rounds in confusions(names, found.table):
            yield f"  {actual} predicted as {predicted}: {rounds:,}"
    else:
        yield from _table(names, found.table)
    if verbose:
        wide = max(5, *map(len, names))
        yield f"  {'label':<{wide}}  {'actual':>9}  {'predicted':>9}  {'precision':>9}  {'recall':>9}"
        for name, one in zip(names, rates(ledger), strict=True):
            precision, recall = ("-" if rate is None else f"{rate:.3f}" for rate in (one.precision, one.recall))
            yield f"  {name:<{wide}}  {one.shown:>9,}  {one.said:>9,}  {precision:>9}  {recall:>9}"


def _table(names: list[str], table: list[list[int]]) -> Iterator[str]:
    heads = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in names]
    widths = [max(len(head), *(len(f"{row[k]:,}") for row in table)) for k, head in enumerate(heads)]
    wide = max(map(len, heads))
    yield "confusion matrix (rows: actual label, columns: predicted label)"
    yield f"  {'':<{wide}}  " + "  ".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))
    for head, row in zip(heads, table, strict=True):
        yield f"  {head:<{wide}}  " + "  ".join(f"{n:>{width},}" for n, width in zip(row, widths, strict=True))
