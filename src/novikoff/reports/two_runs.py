"""Report of two runs: before and after, or reference and current.

If the second run continues the first, it is compared by its rows after those of the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from novikoff import __version__
from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, counted
from novikoff.game.ledger import Ledger
from novikoff.game.since import Since
from novikoff.reports import game_chart, html, plain, quality, summary, tiles
from novikoff.reports.charts import COLOURS, Line, Panel
from novikoff.reports.sentences import about, brief, share
from novikoff.reports.tiles import Tile

SURE = 1.96
"""Standard errors within which a difference of two rates is not clear."""
SHARES = ("accuracy", "AUC", "F1", "precision", "recall")
"""Metrics that are shares of 1, and better when larger."""


class Figures(NamedTuple):
    """What two runs are compared by.

    Attributes:
        rows: Number of rows.
        error: Error rate, or mean loss for numbers.
        counts: Whether the error is a share of the rows.
        metrics: Other metrics by name.
    """

    rows: int
    error: float
    counts: bool
    metrics: dict[str, float]


def figures(ledger: Ledger) -> Figures:
    """Return the figures of a whole run."""
    measured = ledger.metrics
    found: dict[str, float | None] = {"accuracy": 1.0 - ledger.mistake_rate if ledger.counts else None}
    if measured.log_loss is not None and measured.brier is not None and measured.rounds:
        found |= {"log loss": measured.log_loss / measured.rounds, "Brier score": measured.brier / measured.rounds}
    area, constant = ledger.auc, ledger.best_constant
    found |= {"AUC": None if area is None else area.value, "F1": ledger.f1, "precision": ledger.precision,
              "recall": ledger.recall, "RMSE": ledger.rmse, "MAE": ledger.mae}  # fmt: skip
    if constant is not None and measured.rounds:
        found["loss of the best constant"] = constant.costs / measured.rounds
    return Figures(measured.rounds, ledger.loss_rate, ledger.counts, _known(found))


def _of_part(part: Since, counts: bool) -> Figures:
    """Return the figures of the last part of a run."""
    found = {"accuracy": None if part.mistake_rate is None else 1.0 - part.mistake_rate, "log loss": part.log_loss,
             "Brier score": part.brier, "AUC": part.auc, "RMSE": part.rmse, "MAE": part.mae,
             "loss of the best constant": part.best_constant}  # fmt: skip
    return Figures(part.weight, part.loss_rate or 0.0, counts, _known(found))


def _known(found: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in found.items() if value is not None and math.isfinite(value)}


def continues(first: Ledger, second: Ledger) -> bool:
    """Return whether the second run went on from the end of the first: its curve begins with that of the first."""
    known = len(first.curve)
    return 0 < first.rounds < second.rounds and second.spec == first.spec and second.curve[:known] == first.curve


def page(first: Ledger, second: Ledger, names: tuple[str, str], command: Sequence[str] = ()) -> str:
    """Return the HTML report of two runs.

    Args:
        first: The run before, or the reference.
        second: The run after, or the current one.
        names: Names of both.
        command: Command line that reproduces the report.
    """
    if (first.player.task, first.player.loss) != (second.player.task, second.player.loss):
        tasks = " and ".join(f"{one.player.task} with {one.player.loss} loss" for one in (first, second))
        raise InputError("two runs can be compared if both predict the same kind of outcome", f"got {tasks}")
    if not (first.rounds and second.rounds):
        raise InputError("two runs can be compared if both have rows: one of them has none.")
    goes_on = continues(first, second)
    one, two = figures(first), figures(second)
    labels = names
    if goes_on and (part := first.marked().since(second)).weight > 0:
        two = _of_part(part, second.counts)
        labels = names[0], f"{names[1]}, rows after {first.rounds:,}"
    certificates = first.certify(), second.certify()
    games = list(zip(names, (first, second), certificates, strict=True))
    title = f"{names[0]} and {names[1]}"
    return html.document(
        title,
        html.heading(title, f"novikoff {__version__}"),
        html.tiles(strip(one, two, labels, second, certificates[1])),
        html.text(*_notes(first, second, names, goes_on)),
        html.part("Over time", html.charts(html.figure(over_time(first, second, names), hero=True))),
        html.part("Results", table(one, two, labels), html.charts(*map(html.figure, curves(first, second, names)))),
        *(html.part(f"Guarantees of {name}", *(html.card(each, summary.guarantee(ledger, each)) for each in proofs[:2]))
          for name, ledger, proofs in games),
        html.part(
            "Details",
            html.assumptions([*certificates[0], *certificates[1]]),
            html.again(command),
            html.as_json({
                key: plain.game(ledger, proofs, ledger.spec)
                for key, (_, ledger, proofs) in zip(("first", "second"), games, strict=True)
            }),
        ),
    )  # fmt: skip


def strip(
    one: Figures, two: Figures, names: tuple[str, str], second: Ledger, certificates: Sequence[Certificate]
) -> list[Tile]:
    """Return the tiles: both errors, the guarantee of the second run, and whether the errors differ."""
    show = about if one.counts else brief
    what = "error" if one.counts else "loss"
    found = [Tile(f"{when} {what}".capitalize(), show(each.error), f"{name}: {counted(each.rows, 'row')}")
             for when, each, name in zip(("first", "second"), (one, two), names, strict=True)]  # fmt: skip
    best = summary.principal(certificates)
    text, _ = tiles.VERDICTS["void" if best is None else best.status]
    note = "of the second run: no bound is known" if best is None else f"second run: {summary.guarantee(second, best)}"
    found.append(Tile("Guarantee", text, note))
    change = two.error - one.error
    size = f"{100 * abs(change):.2g} points" if one.counts else brief(abs(change))
    if one.counts:
        spread = SURE * math.sqrt(sum(each.error * (1.0 - each.error) / each.rows for each in (one, two)))
        if abs(change) <= spread:
            note = f"{100 * change:+.2g} points".replace("-", "\u2212") + f"; chance alone explains {100 * spread:.2g}"
            return [*found, Tile("Verdict", "No clear change", note)]
        note = f"by {size}; chance alone explains {100 * spread:.2g}, if rows are independent"
    else:
        note = f"by {size}"
    if change == 0.0:
        return [*found, Tile("Verdict", "No change", "")]
    return [*found, Tile("Verdict", "Better" if change < 0 else "Worse", note, "good" if change < 0 else "bad")]


def _notes(first: Ledger, second: Ledger, names: tuple[str, str], goes_on: bool) -> Iterator[str]:
    """Yield what a reader must know to compare the runs."""
    if goes_on:
        yield (f"{names[1]} continues {names[0]}: its figures are those of the {second.rounds - first.rounds:,} rows "
               "after it; charts and guarantees are about each whole run.")  # fmt: skip
    if first.spec != second.spec:
        yield f"The learners differ: {first.spec} and {second.spec}."
    if first.source != second.source:
        yield f"The sources differ: {first.source} and {second.source}. Part of the change may be due to the rows."
    if first.labels != second.labels:
        yield f"The labels differ: {first.labels} and {second.labels}."


def table(one: Figures, two: Figures, names: tuple[str, str]) -> str:
    """Return the metrics of both runs and their differences."""
    rows = [("rows", f"{one.rows:,}", f"{two.rows:,}", "")]
    for name, before in one.metrics.items():
        if (after := two.metrics.get(name)) is not None:
            show = share if name in SHARES else brief
            rows.append((name, show(before), show(after), f"{after - before:+.3g}"))
    return html.table(["metric", *names, "difference"], rows, stacked=True)


def over_time(first: Ledger, second: Ledger, names: tuple[str, str]) -> Panel:
    """Return the error rate, or loss per row, of both runs: the mean so far, and of the last rows."""
    found: list[Line] = []
    times = 100.0 if first.counts else 1.0
    for place, (ledger, name) in enumerate(zip((first, second), names, strict=True)):
        mean, *_, recent = game_chart.panels(ledger, [])[1].lines
        found.append(replace(mean, name=f"{name}, mean so far", colour=COLOURS[place]))
        if recent.name.startswith("last "):
            found.append(replace(recent, name=f"{name}, {recent.name}", colour=COLOURS[(5, 4)[place]]))
    high = 1.05 * max([times * 1e-9, *(value for line in found for _, value in line.points)])
    up = "error rate, %" if first.counts else "loss per row"
    return Panel(up, "rows", found, low=0.0, high=high)


def curves(first: Ledger, second: Ledger, names: tuple[str, str]) -> list[Panel]:
    """Return ROC, precision and recall, and calibration of both runs, where both have them."""
    found = []
    pairs = [(quality.roc(first), quality.roc(second)),
             (quality.precision_recall(first), quality.precision_recall(second)),
             *zip(quality.calibration(first)[:1], quality.calibration(second)[:1], strict=False)]  # fmt: skip
    for one, two in pairs:
        if one is not None and two is not None:
            lines = [replace(panel.lines[0], name=f"{name}: {panel.lines[0].name}", colour=COLOURS[place])
                     for place, (panel, name) in enumerate(zip((one, two), names, strict=True))]  # fmt: skip
            found.append(replace(one, lines=lines))
    return found
