"""Charts of how good predictions are: ROC, precision and recall, calibration, log loss under its guarantee, time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.game.ledger import Ledger
from novikoff.game.thresholds import Thresholds, table_of
from novikoff.reports import sentences, summary
from novikoff.reports.bound_curve import at, proved
from novikoff.reports.charts import (
    BOUND,
    COLOURS,
    CONSTANT,
    DASHED,
    DOTTED,
    GRID,
    Bar,
    Bars,
    Line,
    Panel,
    Region,
)
from novikoff.reports.sentences import brief, share

POINTS = 160
"""Largest number of points of a curve over thresholds."""
CHANCE = "scores at random"
"""Name of the curve of scores without information."""


def table(ledger: Ledger) -> Thresholds | None:
    """Return the thresholds of a game with two labels; None if it has no scores, or only one label was observed."""
    player, metrics = ledger.player, ledger.metrics
    if ledger.adversary is not None or player.task != "binary" or not ledger.rounds or ledger.auc is None:
        return None
    return table_of(metrics.ranking, player.probable)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most POINTS points of a curve, about equally far from each other, with both ends."""
    if len(points) <= POINTS:
        return list(points)
    steps = [abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in pairwise(points)]
    along = np.concatenate([[0.0], np.cumsum(steps)])
    chosen = np.searchsorted(along, np.linspace(0.0, along[-1], POINTS)).clip(0, len(points) - 1)
    return [points[k] for k in dict.fromkeys([0, *chosen.tolist(), len(points) - 1])]


def roc(ledger: Ledger) -> Panel | None:
    """Return the share of positive rows found against that of false alarms, by threshold."""
    rows, area = table(ledger), ledger.auc
    if rows is None or area is None:
        return None
    points = [(one.false_positive_rate or 0.0, one.recall or 0.0) for one in reversed(rows)]
    lines = [
        Line(f"AUC {area.value:.3f}", _thinned([(0.0, 0.0), *points]), end=""),
        Line(f"{CHANCE}: 0.5", [(0.0, 0.0), (1.0, 1.0)], CONSTANT, DOTTED, end=""),
    ]
    name = summary.quoted(ledger, ledger.label(1))
    return Panel(f"recall of {name}", "false positive rate", lines, low=0.0, high=1.0, last=1.0, height=1.1,
                 title="ROC curve")  # fmt: skip


def average_precision(rows: Thresholds) -> float:
    """Return the mean of the precision over recall: the area of steps below the curve."""
    found, before = 0.0, 0.0
    for one in reversed(rows):
        if one.precision is not None and one.recall is not None:
            found += (one.recall - before) * one.precision
            before = one.recall
    return found


def precision_recall(ledger: Ledger) -> Panel | None:
    """Return precision against recall, by threshold."""
    rows = table(ledger)
    if rows is None:
        return None
    points = [(one.recall, one.precision) for one in reversed(rows)
              if one.recall is not None and one.precision is not None]  # fmt: skip
    positives = ledger.metrics.positives / ledger.metrics.rounds
    lines = [
        Line(f"average precision {average_precision(rows):.3f}", _thinned(points), end=""),
        Line(f"{CHANCE}: {share(positives)}", [(0.0, positives), (1.0, positives)], CONSTANT, DOTTED, end=""),
    ]
    if (one := rows.at(0.0)).precision is not None and one.recall is not None:
        lines.append(Line("at the default threshold", [(one.recall, one.precision)], COLOURS[2], end="", marks=True))
    if ledger.threshold is not None and (row := ledger.threshold.row).precision is not None and row.recall is not None:
        lines.append(Line("at the chosen threshold", [(row.recall, row.precision)], BOUND, end="", marks=True))
    name = summary.quoted(ledger, ledger.label(1))
    return Panel(f"precision for {name}", "recall", lines, low=0.0, high=1.0, last=1.0, height=1.1,
                 title="Precision and recall")  # fmt: skip


def calibration(ledger: Ledger) -> list[Panel]:
    """Return observed frequencies against predicted probabilities, and the rows of each range of predictions."""
    found = ledger.metrics.calibration
    bins = found.table()
    if not bins or ledger.adversary is not None:
        return []
    event = "right" if ledger.player.numbered else summary.quoted(ledger, ledger.label(1))
    errors = [math.sqrt(one.observed * (1.0 - one.observed) / one.rounds) for one in bins]
    lines = [
        Line(f"calibration error {brief(found.error)}", [(one.predicted, one.observed) for one in bins], end="",
             marks=True, around=errors),
        Line("perfectly calibrated", [(0.0, 0.0), (1.0, 1.0)], CONSTANT, DOTTED, end=""),
    ]  # fmt: skip
    counts = [one.rounds for one in bins]
    shown = [Region("", [(one.low, 0.0, one.rounds), (one.high, 0.0, one.rounds)], opacity=0.6) for one in bins]
    what = "rows" if ledger.weighted is None else "weight"
    return [
        Panel(f"observed share {event}", "predicted probability", lines, low=0.0, high=1.0, last=1.0, height=1.1,
              title="Calibration"),
        Panel(what, "predicted probability", (), shown, low=0.0, high=1.05 * max(counts), last=1.0, height=0.7,
              title="Predicted probabilities"),
    ]  # fmt: skip


def log_loss(ledger: Ledger, certificates: Sequence[Certificate]) -> Panel | None:
    """Return the log loss per row up to each row, with its guarantee and the best constant; None without either."""
    total, course, best = ledger.metrics.log_loss, ledger.course, summary.bounding_log_loss(certificates)
    if total is None or not np.isfinite(total) or not ledger.rounds or ledger.weighted is not None:
        return None
    if ledger.adversary is not None or (best is None and (course is None or not course.log_loss)):
        return None
    last, constant = ledger.rounds, summary.entropy(ledger)
    first = max(last // 50, 1)
    points = [] if course is None else course.log_loss
    rates = [(t, paid / t) for t, paid in points if first <= t < last] + [(last, total / last)]
    name = "log loss, mean so far" if len(rates) > 1 else "log loss of all rows"
    lines = [Line(name, rates, end=brief(total / last), marks=len(rates) == 1)]
    highest = [rate for _, rate in rates]
    if best is not None:
        bound = float(best.bound or 0.0)
        marked = [] if course is None else [(t, value) for t, value in course.log_bounds if t < last]
        corners = proved([*marked, (last, bound)])
        grid = np.linspace(first, last, GRID).tolist()
        allowed = [(t, value / t) for t, value in at(grid, corners)]
        held = "" if best.status == "valid" else f", {best.status}"
        held += "" if len(corners) > 2 else ", at the end"
        lines.append(Line(f"guaranteed at most ({best.theorem}{held})", allowed, BOUND, DASHED,
                          end=sentences.per(bound, last)))  # fmt: skip
        highest.append(bound / last if len(corners) <= 2 else min(max(value for _, value in allowed), 3 * highest[-1]))
    if constant is not None:
        lines.append(Line(f"best constant: {brief(constant)}", [(first, constant), (last, constant)], CONSTANT, DOTTED,
                          end=brief(constant)))  # fmt: skip
        highest.append(min(constant, 3 * max(highest)))
    return Panel("log loss per row", "rows", lines, low=0.0, high=1.05 * max(*highest, 1e-9),
                 title="Log loss and its guarantee" if best is not None else "Log loss")  # fmt: skip


def promise(ledger: Ledger, certificates: Sequence[Certificate]) -> Bars | None:
    """Return the observed and the guaranteed value of the first certificate that no other chart draws."""
    best = next((one for one in certificates if one.status in ("valid", "conditional", "violated")
                 and one.side == "upper" and one.bound is not None), None)  # fmt: skip
    if best is None or best.bound is None or best.theorem.startswith("coverage_"):
        return None
    drawn = summary.allowed(ledger, best) is not None and ledger.weighted is None
    if drawn or best.quantity == "log loss":
        return None
    observed, bound = float(best.observed), float(best.bound)
    rows = [
        Bar("observed", 0.0, observed, end=brief(observed)),
        Bar("at most", 0.0, bound, end=sentences.rounded(bound, "upper", 4)),
    ]
    return Bars(best.quantity, rows, title=f"Guarantee: {best.quantity}")


def seconds(ledger: Ledger) -> Panel | None:
    """Return the seconds after each row; None if they were not recorded."""
    if ledger.course is None or len(ledger.course.seconds) < 3 or ledger.adversary is not None:
        return None
    points = [(0.0, 0.0), *((float(t), value) for t, value in ledger.course.seconds)]
    return Panel("seconds", "rows", [Line("", points, COLOURS[2], end=f"{points[-1][1]:.3g} s")], height=0.7,
                 title="Time")  # fmt: skip
