"""Chart of a game: mistakes or loss over rounds, next to the guarantee and the baselines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from novikoff.core.certificate import Certificate, bound_text
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.reports import charts, columns, coverage, quality, sentences, stretches, summary, thresholds
from novikoff.reports.bound_curve import at, proved
from novikoff.reports.charts import (
    BOUND,
    COLOURS,
    CONSTANT,
    DASH_DOT,
    DASHED,
    DOTTED,
    FAR,
    GRID,
    LONGEST_REASON,
    Bars,
    Chart,
    Line,
    Panel,
    brief,
    cut,
    percent,
    short_source,
)

ELSEWHERE = ("coverage_", "stretch_")
"""Prefixes of theorems that are drawn in separate panels."""
FEW = 100
"""Largest number of mistakes drawn as steps."""
ROLLING, FEWEST_ROLLING = 20, 20
"""Rows per row of the rolling window, and its smallest length."""


@dataclass(frozen=True, slots=True)
class _Level:
    """A value of the whole game to draw next to the mistakes or the loss.

    Attributes:
        name: Name in the legend.
        value: Value after the last round.
        text: The value, formatted.
        colour: Colour of its line.
        dash: Dashes of its line.
        corners: Its value up to each round, as a staircase, if it has grown in steps; empty otherwise.
        grows: Whether it grows evenly from 0, like the mistakes of a constant prediction.
    """

    name: str
    value: float
    text: str
    colour: str
    dash: int
    corners: Sequence[tuple[float, float]] = ()
    grows: bool = False

    def line(self, rounds: int) -> Line:
        """Return the level as a curve of totals."""
        points = self.corners or [(0, 0.0 if self.grows else self.value), (rounds, self.value)]
        return Line(self.name, points, self.colour, self.dash, end=self.text)


def chart(
    ledger: Ledger, certificates: Sequence[Certificate], learner: str, hindsight: Iterable[tuple[str, float]] = ()
) -> Chart:
    """Return the chart of a game.

    Args:
        ledger: The game.
        certificates: Its certificates, the tightest first.
        learner: Name or spec of the learner.
        hindsight: Bounds found in hindsight: (name, mistakes).
    """
    where = "on" if ledger.adversary is None else "against"
    title = f"{learner} {where} {short_source(ledger.source)}"
    drawn = [*panels(ledger, certificates, hindsight), *promised(ledger, certificates)]
    return Chart(title, [*drawn, *further(ledger, certificates)])


def panels(
    ledger: Ledger, certificates: Sequence[Certificate], hindsight: Iterable[tuple[str, float]] = (),
    experts: Sequence[str] = (),
) -> list[Panel]:  # fmt: skip
    """Return mistakes or loss over rounds: the total, then the rate per round.

    The tightest bound is a staircase if the ledger has its `bounds`, otherwise a level. A level of the whole game is a
    horizontal line among totals, and its share per round among rates. The best constant is drawn at its mean rate.
    """
    if not ledger.rounds:
        return []
    levels, missing = _levels(ledger, certificates, hindsight, experts)
    return [_totals(ledger, levels, missing), _rates(ledger, levels)]


def promised(ledger: Ledger, certificates: Sequence[Certificate]) -> list[Panel | Bars]:
    """Return the panels of guarantees that are not about what the game counts: log loss, or any other quantity."""
    found = quality.log_loss(ledger, certificates), quality.promise(ledger, certificates)
    return [one for one in found if one is not None] if ledger.rounds else []


def further(ledger: Ledger, certificates: Sequence[Certificate]) -> list[Panel | Bars]:
    """Return the panels of stretches, prediction sets, thresholds and important columns, where the game has them."""
    sets = coverage.panels(ledger, certificates)
    return [*stretches.panels(ledger), *sets, *thresholds.panels(ledger), *columns.bars(ledger)]


def quantity(ledger: Ledger) -> str:
    """Return what is counted: mistakes, or the loss."""
    if ledger.counts:
        return "mistakes" if ledger.weighted is None else "weight predicted wrong"
    return f"{ledger.player.loss} loss"


def unit(ledger: Ledger) -> str:
    """Return the unit of counts: rows, rounds against an adversary, or weight."""
    if ledger.adversary is not None:
        return "rounds"
    return "rows" if ledger.weighted is None else "weight"


def _totals(ledger: Ledger, levels: Sequence[_Level], missing: str) -> Panel:
    """Return mistakes or loss so far, with the levels; `missing` is why no bound is among them."""
    measured, what = ledger.metrics, quantity(ledger)
    paid = list(dict([(0, 0), *measured.curve, (measured.rounds, measured.loss)]).items())
    ours = Line(what, paid, steps=ledger.counts and measured.mistakes < FEW, end=brief(measured.loss))
    lines = [ours, *(level.line(measured.rounds) for level in levels)]
    near = max(
        [float(measured.loss), *(value for line in lines if line.colour != CONSTANT for _, value in line.points)]
    )
    high = max([near, *(level.value for level in levels if level.value <= FAR * near), 1.0 if ledger.counts else 1e-9])
    title = "Mistakes so far" if ledger.counts else f"{charts.sentence_case(what)} so far"
    return Panel(what, unit(ledger), lines, notes=[missing] if missing else [], high=1.05 * high, title=title)


def _levels(
    ledger: Ledger, certificates: Sequence[Certificate], hindsight: Iterable[tuple[str, float]], experts: Sequence[str]
) -> tuple[list[_Level], str]:
    """Return the levels to draw, and why no bound is among them."""
    found: list[_Level] = []
    constant, why = ledger.best_constant, ""
    best = summary.bounding(ledger, certificates)
    if ledger.weighted is not None:
        why = "bounds not drawn: they count each copy of a row as one round"
    elif best is not None:
        value = float(summary.allowed(ledger, best) or 0.0)
        corners = proved([*((t, bound) for t, bound in ledger.bounds if t < ledger.rounds), (ledger.rounds, value)])
        when = "" if len(corners) > 2 else ", at the end"
        held = "" if best.status == "valid" else f", {best.status}"
        name = f"guaranteed at most ({best.theorem}{held}){when}"
        found.append(_Level(name, value, bound_text(value, "upper"), BOUND, DASHED, corners))
    elif bounds := [c for c in certificates if c.side == "upper" and not c.theorem.startswith(ELSEWHERE)]:
        why = _reason(bounds[0])
    if experts and isinstance(facts := ledger.player.facts(), ExpertsFacts) and facts.rule != "sleeping":
        paid = float(facts.best_loss)
        found.append(_Level(f"best expert, {cut(experts[facts.best])}", paid, brief(paid), COLOURS[2], DASH_DOT,
                            grows=True))  # fmt: skip
    if constant is not None and ledger.adversary is None:
        costs = float(constant.costs)
        found.append(_Level(f"{cut(summary.always(ledger))}: {brief(costs)}", costs, brief(costs), CONSTANT, DOTTED,
                            grows=True))  # fmt: skip
    for colour, (name, value) in zip(COLOURS[2:-1], hindsight, strict=False):
        found.append(_Level(f"{name}, in hindsight", float(value), brief(value), colour, DOTTED))
    return found, why


def _reason(first: Certificate) -> str:
    """Return why no bound is drawn, given the first certificate."""
    if first.status in ("valid", "conditional") and first.quantity != "mistakes":
        return cut(f"guarantee on {first.quantity.removesuffix(', at most')}: see its own chart", LONGEST_REASON)
    reason = cut(first.reason, LONGEST_REASON)
    return f"no bound to draw: {first.theorem} is {first.status}" + (f" ({reason})" if reason else "")


def _rates(ledger: Ledger, levels: Sequence[_Level]) -> Panel:
    """Return the loss per round up to each round, without the first fiftieth, whose rate is noise."""
    measured, counts = ledger.metrics, ledger.counts
    times, words = (100.0, percent) if counts else (1.0, _rounded)
    promised = sentences.percent if counts else lambda rate: sentences.rounded(rate, "upper", 3)
    first, last = max(measured.rounds // 50, 1), max(measured.rounds, 1)
    rates = [(t, times * paid / t) for t, paid in dict([*measured.curve, (last, measured.loss)]).items() if t >= first]
    grid = np.linspace(first, last, GRID).tolist()
    lines, highest = [Line("mean so far", rates, end=words(rates[-1][1]))], [rate for _, rate in rates]
    for level in levels:
        rate = times * level.value / last
        points: list[tuple[float, float]] = [(first, rate), (last, rate)]
        if not level.grows:
            points = [(t, times * value / t) for t, value in at(grid, level.corners or [(0, 0), (last, level.value)])]
        text = promised(level.value / last) if level.colour == BOUND else words(rate)
        name = "guaranteed at most" if level.colour == BOUND else level.name.partition(":")[0]
        lines.append(Line(name, points, level.colour, level.dash, end=text))
        highest.append(max(value for _, value in points) if len(level.corners) > 2 else rate)
    if recent := rolling(ledger):
        window = f"last {recent[-1][0] - recent[0][0]:,} {unit(ledger)}"
        lines.append(Line(window, [(t, times * rate) for t, rate in recent[1:]], COLOURS[5], end="", thin=True))
        highest.append(times * max(rate for _, rate in recent[1:]))
    up = "rate, %" if counts else f"loss per {summary.unit(ledger)}"
    title = "Error rate" if counts else f"Loss per {summary.unit(ledger)}"
    return Panel(up, unit(ledger), lines, low=0.0, high=1.05 * max(*highest, 1e-9), height=0.6, title=title)


def rolling(ledger: Ledger) -> list[tuple[int, float]]:
    """Return (t, loss per row of the last rows up to t), after a first point with the window; empty for few rows.

    The window is a twentieth of the rows, or up to 1 % more where the curve has no point; its first row is one of the
    curve's points.
    """
    measured = ledger.metrics
    last = measured.rounds
    window = max(last // ROLLING, FEWEST_ROLLING)
    if last < 2 * window:
        return []
    known = [(0, 0.0), *((t, float(paid)) for t, paid in measured.curve)]
    if known[-1][0] < last:
        known.append((last, float(measured.loss)))
    at_rounds = [t for t, _ in known]
    found: list[tuple[int, float]] = []
    for t in np.linspace(window, last, GRID).astype(int).tolist():
        now = known[bisect_right(at_rounds, t) - 1]
        before = known[max(bisect_right(at_rounds, now[0] - window) - 1, 0)]
        if now[0] > before[0] and (not found or found[-1][0] < now[0]):
            found.append((now[0], (now[1] - before[1]) / (now[0] - before[0])))
    return [(last - window, 0.0), *found]


def _rounded(rate: float) -> str:
    return brief(float(f"{rate:.3g}"))
