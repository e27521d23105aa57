"""Of many labels: which was said for which, and how well each is told from the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports.sentences import about
from novikoff.reports.summary import label

MOST, FREQUENT, LONGEST = 20, 10, 12
"""Labels of a table that is shown; confusions that are told of more; characters of a label at the head of a column."""


class Rates(NamedTuple):
    """Of one label.

    precision   how many of the rounds in which it was said were so; None if it never was
    recall      in how many of the rounds that were so it was said; None if none was
    """

    label: object
    shown: int
    said: int
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.said if self.said else None

    @property
    def recall(self) -> float | None:
        return self.right / self.shown if self.shown else None


def rates(ledger: Ledger) -> list[Rates]:
    """Of each of many labels; none where there are two, or too many."""
    found = ledger.confusion if ledger.learner.labels is not None else None
    if found is None:
        return []
    said = [sum(column) for column in zip(*found.table, strict=True)]
    return [Rates(name, sum(row), said[k], row[k]) for k, (name, row) in enumerate(zip(*found, strict=True))]


def confusions(
    names: Sequence[Any], table: Sequence[Sequence[int]], most: int = FREQUENT
) -> list[tuple[Any, Any, int]]:
    """The most frequent ones of a table, each as what came, what was said, and how often."""
    wrong = [(names[i], names[j], n) for i, row in enumerate(table) for j, n in enumerate(row) if n and i != j]
    return sorted(wrong, key=lambda one: -one[2])[:most]


def confused(ledger: Ledger, verbose: bool = False) -> Iterator[str]:
    """The table of labels, in lines, or of more than twenty the confusions that were most frequent."""
    found = ledger.confusion if ledger.learner.labels is not None else None
    if found is None:
        return
    names = [label(ledger, one) for one in found.labels]
    if len(names) > MOST:
        yield f"{counted(len(names), 'label')}; what was said most often instead of what came:"
        for came, said, rounds in confusions(names, found.table):
            yield f"  {said} for {came}: {rounds:,}"
    else:
        yield from _table(names, found.table)
    if verbose:
        yield "of each label, how often it came and was said; precision and recall:"
        wide = max(map(len, names))
        for name, one in zip(names, rates(ledger), strict=True):
            precision, recall = ("none" if rate is None else about(rate) for rate in (one.precision, one.recall))
            yield f"  {name:<{wide}}  {one.shown:>9,}  {one.said:>9,}  {precision:>8}  {recall:>8}"


def _table(names: list[str], table: list[list[int]]) -> Iterator[str]:
    heads = [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in names]
    widths = [max(len(head), *(len(f"{row[k]:,}") for row in table)) for k, head in enumerate(heads)]
    wide = max(4, *map(len, heads))
    yield (
        f"  {'came':<{wide}}  "
        + "  ".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))
        + "  said"
    )
    for head, row in zip(heads, table, strict=True):
        yield f"  {head:<{wide}}  " + "  ".join(f"{n:>{width},}" for n, width in zip(row, widths, strict=True))
