"""Plot of a game: mistakes or loss over rounds, next to the guarantee and the baselines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports import coverage, sentences, stretches, summary
from novikoff.reports.bound_curve import proved
from novikoff.reports.drawing import (
    COLOURS,
    CONSTANT,
    DASHES,
    FONT,
    GRID,
    LONGEST_REASON,
    brief,
    cut,
    label_ends,
    line_up,
    new_figure,
    percent,
    place_title,
    quiet,
    short_source,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABOVE, BELOW = (0.09, 0.40, 0.72, 0.46), (0.09, 0.11, 0.72, 0.24)
"""Position of the two pairs of axes of a game."""
ELSEWHERE = ("coverage_", "stretch_")
"""Theorems that have axes of their own, below."""
FAR = 4.0
"""Height of the best constant, relative to everything else, from which on it is cut off."""


def game(
    ledger: Ledger, certificates: Sequence[Certificate], learner: str, hindsight: Iterable[tuple[str, float]] = ()
) -> Figure:
    """Draw mistakes or loss over rounds: the total above, the rate per round below.

    The tightest bound is a curve if the ledger has its `bounds`, otherwise a level; the levels of `hindsight`, (label,
    mistakes), are drawn too. A level of the whole game is a horizontal line above, and its share per round below. The
    best constant is drawn at its rate over the whole game.
    """
    where = "on" if ledger.adversary is None else "against"
    own, what = ledger.metrics, "mistakes" if ledger.counts else f"{ledger.player.loss} loss"
    if ledger.weighted is not None and ledger.counts:
        what = "weight predicted wrong"
    figure, axes = new_figure(f"{learner} {where} {short_source(ledger.source)}", "", what)
    axes.set_position(ABOVE)
    below = figure.add_axes(BELOW)
    unit = "rounds" if ledger.weighted is None else "weight"
    quiet(below, unit, "rate, %" if ledger.counts else f"loss per {summary.unit(ledger)}")
    rounds, paid = zip(*dict([(0, 0), *own.curve, (own.rounds, own.loss)]).items(), strict=True)
    style = "steps-post" if ledger.counts and own.mistakes < 100 else "default"  # few mistakes are visible one by one
    axes.plot(rounds, paid, color=COLOURS[0], linewidth=1.8, drawstyle=style, label=f"{what} of {cut(learner)}")
    levels, missing = _levels(ledger, certificates, hindsight)
    for name, value, _, colour, dash in levels:
        if colour == COLOURS[1] and ledger.bounds:
            corners = zip(*proved(_bounds(ledger, value)), strict=True)
            axes.plot(*corners, color=colour, linewidth=1.5, linestyle=dash, label=name)
        elif colour == CONSTANT:
            axes.plot([0, own.rounds], [0, value], color=colour, linewidth=1.5, linestyle=dash, label=name)
        else:
            axes.axhline(value, color=colour, linewidth=1.5, linestyle=dash, label=name)
    if missing:
        axes.plot([], [], " ", label=missing)
    ends = [(float(paid[-1]), brief(paid[-1]), COLOURS[0])]
    bounds = ledger.bounds if ledger.weighted is None else []
    far = _far(levels, [float(paid[-1]), *(bound for _, bound in bounds)])
    ends += [(value, text, colour) for _, value, text, colour, _ in levels if not (far and colour == CONSTANT)]
    axes.set_xlim(0, max(own.rounds, 1))
    highest = [*(value for value, _, _ in ends), *(bound for _, bound in bounds if len(levels))]
    axes.set_ylim(0, 1.05 * max(*highest, 1.0 if ledger.counts else 1e-9))
    axes.tick_params(labelbottom=False)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False, fontsize=FONT)
    place_title(axes, rows=len(axes.get_legend_handles_labels()[1]))
    label_ends(figure, axes, own.rounds, ends)
    _rates(figure, below, ledger, levels)
    line_up(figure)
    stretches.panel(figure, ledger)
    coverage.panels(figure, ledger, certificates)
    return figure


def _levels(
    ledger: Ledger, certificates: Sequence[Certificate], hindsight: Iterable[tuple[str, float]]
) -> tuple[list[tuple[str, float, str, str, object]], str]:
    """Return the levels to draw (label, value, formatted value, colour, dashes), and why no bound is among them."""
    found: list[tuple[str, float, str, str, Any]] = []
    constant, why, what = ledger.best_constant, "", f"the {ledger.player.loss} loss"
    best = summary.bounding(ledger, certificates)
    if ledger.weighted is not None:
        why = "bounds not drawn: they count each copy of a row as one round"
    elif best is not None:
        value = summary.allowed(ledger, best) or 0.0
        loss = "loss allowed by the regret bound" if "regret" in best.quantity else f"bound on {what}"
        name = f"bound on {best.quantity}" if ledger.counts else loss
        when = "up to each round" if ledger.bounds else f"after {counted(ledger.rounds, 'round')}"
        name += f" {when} ({best.theorem}, {best.status})"
        found.append((name, float(value), bound_text(value, "upper"), COLOURS[1], DASHES[1]))
    elif bounds := [c for c in certificates if c.side == "upper" and not c.theorem.startswith(ELSEWHERE)]:
        reason = cut(bounds[0].reason, LONGEST_REASON)
        why = f"no bound to draw: {bounds[0].theorem} is {bounds[0].status}" + (f" ({reason})" if reason else "")
        if bounds[0].status in ("valid", "conditional") and bounds[0].quantity != "mistakes":
            allows = bound_text(bounds[0].bound or 0.0, "upper")
            quantity = bounds[0].quantity.removesuffix(", at most")
            why = cut(f"not drawn: {bounds[0].theorem}, {quantity} at most {allows}", LONGEST_REASON + 20)
    if constant is not None and ledger.adversary is None:
        name = f"{cut(summary.always(ledger))}, the best constant ({brief(constant.costs)} in all)"
        found.append((name, float(constant.costs), brief(constant.costs), CONSTANT, DASHES[2]))
    for colour, (name, value) in zip(COLOURS[2:], hindsight, strict=False):
        found.append((f"{name}, in hindsight", float(value), brief(value), colour, DASHES[2]))
    return found, why


def _far(levels: Sequence[tuple[str, float, str, str, object]], others: Sequence[float]) -> bool:
    """Return whether the best constant is so high that it would flatten the rest; its line is then cut off."""
    near = max(*others, *(value for _, value, _, colour, _ in levels if colour != CONSTANT), 1e-9)
    return any(value > FAR * near for _, value, _, colour, _ in levels if colour == CONSTANT)


def _bounds(ledger: Ledger, last: float) -> list[tuple[int, float]]:
    """Return the bounds up to certain rounds, with the last one."""
    return [*((t, bound) for t, bound in ledger.bounds if t < ledger.rounds), (ledger.rounds, last)]


def _on(grid: Sequence[float], corners: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return the staircase at the rounds of a grid, and on both sides of each corner in between."""
    ends = [rounds for rounds, _ in corners[1::2]]
    levels = [bound for _, bound in corners[1::2]]
    at = [(t, levels[bisect_left(ends, t)]) for t in grid]
    return sorted(
        [*at, *((float(t), bound) for t, bound in corners if grid[0] <= t <= grid[-1])], key=lambda one: one[0]
    )


def _rates(figure: Figure, axes: Axes, ledger: Ledger, levels: Sequence[tuple[str, float, str, str, object]]) -> None:
    """Draw the loss per round up to each round, without the first fiftieth, whose rate is noise."""
    times, words = (100.0, percent) if ledger.counts else (1.0, _rate)
    promised = sentences.percent if ledger.counts else lambda rate: sentences.rounded(rate, "upper", 3)
    own = ledger.metrics
    first, last = max(own.rounds // 50, 1), max(own.rounds, 1)
    points = [(t, times * paid / t) for t, paid in dict([*own.curve, (last, own.loss)]).items() if t >= first]
    rounds, rates = zip(*points, strict=True)
    axes.plot(rounds, rates, color=COLOURS[0], linewidth=1.8, label="_")
    grid = np.linspace(first, last, GRID)
    ends, highest = [(float(rates[-1]), words(rates[-1]), COLOURS[0])], [1e-9]
    for _, value, _, colour, dash in levels:
        rate = times * value / last
        at: Sequence[float] = grid.tolist()
        over: Sequence[float] = [rate] * GRID if colour == CONSTANT else (times * value / grid).tolist()
        if colour == COLOURS[1] and ledger.bounds:
            steps = proved(_bounds(ledger, value))
            at, over = zip(*((t, times * bound / t) for t, bound in _on(grid.tolist(), steps)), strict=True)
            highest.append(max(over))
        axes.plot(at, over, color=colour, linewidth=1.5, linestyle=dash, label="_")
        ends.append((rate, promised(value / last) if colour == COLOURS[1] else words(rate), colour))
    axes.set_xlim(0, last)
    axes.set_ylim(0, 1.05 * max(*rates, *(rate for rate, _, _ in ends), *highest))
    label_ends(figure, axes, last, ends)


def _rate(rate: float) -> str:
    return brief(float(f"{rate:.3g}"))
