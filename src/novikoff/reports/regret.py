"""Plot of a game with experts: the regret next to its bound, and the weights of the experts below.

`History` records the game at certain rounds; `plot` draws it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate, bound_text, number
from novikoff.core.errors import counted
from novikoff.core.observer import Observer
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.reports.drawing import (
    COLOURS,
    DASHES,
    FONT,
    INK,
    LONGEST_REASON,
    cut,
    label_ends,
    line_up,
    quiet,
    short_source,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = (8.0, 7.2)
SHOWN = 8
"""Largest number of experts with a band of their own."""
KEPT = 64
"""Largest number of experts whose weights are stored per moment."""
GREY = "#999999"
FAINT_WEIGHT, TALL_ENOUGH = 0.01, 0.09
"""Weight below which an expert belongs to the others, and height of a band that fits a name."""
GRID, NAME_STEPS = 400, 56
"""Steps across the bands, and steps that a name needs."""
AGAINST = {
    "fixed_share_regret": "the best sequence of experts",
    "sleeping_regret": "the expert nearest to its bound, while active",
}
"""Comparator of each theorem; the best expert by default."""
DENSE, STEP = 200, 1.01
"""Moments: every round up to DENSE, then each STEP times the one before."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """State after some round: bounded value and bound by theorem, and the largest weights."""

    rounds: int
    regret: float
    bounds: Mapping[str, tuple[float, float]]
    experts: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass
class History(Observer):
    """Observer that records the moments of a game."""

    moments: list[Moment] = field(default_factory=list)
    _next: int = 1

    def due(self, ledger: Ledger, rounds: int) -> int:
        while self._next < ledger.rounds:
            self._next = _after(self._next)
        return min(self._next - ledger.rounds, rounds)

    def see_last(self, ledger: Ledger) -> None:
        """Record the end of the game."""
        if not self.moments or self.moments[-1].rounds < ledger.rounds:
            self.look(ledger)

    def look(self, ledger: Ledger) -> None:
        """Record the present state of the game."""
        self._next = _after(ledger.rounds)
        weights = np.asarray(ledger.player.weights)
        experts = np.argpartition(-weights, KEPT)[:KEPT] if len(weights) > KEPT else np.arange(len(weights))
        bounds = {
            one.theorem: (float(one.observed), float(one.bound))
            for one in ledger.certify()
            if one.bound is not None and one.side == "upper"
        }
        regret = ledger.expected - cast(ExpertsFacts, ledger.player.facts()).best_loss
        self.moments.append(Moment(ledger.rounds, regret, bounds, experts, weights[experts]))

    def weights(self, expert: int) -> NDArray[np.float64]:
        """Return the weight of an expert at each moment; 0 where it was not among the largest."""
        return np.array([float(seen.weights[seen.experts == expert].sum()) for seen in self.moments])


def _after(rounds: int) -> int:
    """Return the round of the next moment."""
    return rounds + 1 if rounds < DENSE else int(STEP * rounds) + 1


def plot(
    history: History, certificates: Sequence[Certificate], experts: Sequence[str], learner: str, source: str
) -> Figure:
    """Draw the regret and its tightest bound over rounds, and the weights of the leading experts below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES)
    above, below = figure.add_axes((0.09, 0.435, 0.72, 0.44)), figure.add_axes((0.09, 0.075, 0.72, 0.30))
    title = "\n".join(textwrap.wrap(f"{learner} on {short_source(source)}", 76))
    figure.text(0.012, 0.985, title, fontsize=FONT + 2.5, color=INK, va="top")
    _regret(figure, above, history, certificates)
    _weights(figure, below, history, experts)
    line_up(figure)
    return figure


def _regret(figure: Figure, axes: Axes, history: History, certificates: Sequence[Certificate]) -> None:
    best = next((one for one in certificates if one.side == "upper" and _bounds_regret(one)), None)
    quiet(axes, "", "regret" if best is None else best.quantity)
    seen = history.moments
    rounds = [moment.rounds for moment in seen]
    regret = [moment.regret for moment in seen]
    if best is not None:
        regret = [moment.bounds.get(best.theorem, (moment.regret, 0.0))[0] for moment in seen]
    last = rounds[-1]
    against = AGAINST.get("" if best is None else best.theorem, "the best expert")
    begin = [0] if rounds[0] == 1 else []  # otherwise the game was resumed
    label = f"regret: loss minus that of {against}"
    axes.plot([*begin, *rounds], [*begin, *regret], color=COLOURS[0], linewidth=1.8, label=label)
    ends = [(regret[-1], number(regret[-1]), COLOURS[0])]
    heights = [0.0, *regret]
    if best is not None and best.bound is not None:
        known = [(moment.rounds, moment.bounds[best.theorem][1]) for moment in seen if best.theorem in moment.bounds]
        t, bound = zip(*known, strict=True)
        label = f"bound for any outcomes ({best.theorem}, {best.status} after {counted(last, 'round')})"
        axes.plot(t, bound, color=COLOURS[1], linewidth=1.5, linestyle=DASHES[1], label=label)
        ends.append((float(bound[-1]), bound_text(bound[-1], "upper"), COLOURS[1]))
        heights += bound
    else:
        void = next((one for one in certificates if one.reason), None)
        why = "" if void is None else f" ({cut(void.reason, LONGEST_REASON)})"
        axes.plot([], [], " ", label=f"no bound to draw{why}")
    axes.set_xlim(0, max(last, 1))
    low, high = min(heights), max(heights)
    pad = 0.05 * (high - low) or 1.0
    axes.set_ylim(low - (pad if low < 0 else 0.0), high + pad)
    if low < 0:
        axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.tick_params(labelbottom=False)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False, fontsize=FONT)
    label_ends(figure, axes, last, ends)


def _bounds_regret(certificate: Certificate) -> bool:
    return certificate.holds and certificate.kind == "D" and "regret" in certificate.quantity


def _weights(figure: Figure, axes: Axes, history: History, experts: Sequence[str]) -> None:
    """Draw stacked bands of the leading experts; a band that vanished is labelled where it was large."""
    quiet(axes, "rounds", "weights")
    seen = history.moments
    last = seen[-1].rounds
    rounds = np.array([moment.rounds for moment in seen])
    grid = np.linspace(rounds[0], last, GRID)
    chosen = leading(history)
    bands = [np.interp(grid, rounds, history.weights(expert)) for expert in chosen]
    rest = np.maximum(1.0 - np.sum(bands, axis=0), 0.0) if bands else np.ones(GRID)
    others = len(experts) - len(chosen)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(chosen))]
    names = [cut(experts[expert]) for expert in chosen]
    if others:
        bands, colours = [*bands, rest], [*colours, GREY]
        names.append("all experts" if not chosen else "1 other" if others == 1 else f"{others:,} others")
    axes.set_xlim(0, max(last, 1))
    axes.set_ylim(0.0, 1.0)
    axes.grid(visible=False)
    ends, floor = [], np.zeros(GRID)
    for band, colour, name in zip(bands, colours, names, strict=True):
        middle = floor + band / 2
        axes.fill_between(grid, floor, floor + band, color=colour, alpha=0.35 if colour == GREY else 0.75, linewidth=0)
        place, height = _widest(band)
        if band[-1] >= FAINT_WEIGHT:
            ends.append((float(middle[-1]), f"{name}  {_share(band[-1])}", colour))
        elif height >= TALL_ENOUGH:
            axes.text(grid[place], middle[place], name, color="white", fontsize=FONT, ha="center", va="center")
        floor = floor + band
    label_ends(figure, axes, last, ends)


def _widest(band: NDArray[np.float64]) -> tuple[int, float]:
    """Return where a name fits best into a band, and the least height of the band there."""
    windows = np.lib.stride_tricks.sliding_window_view(band, min(NAME_STEPS, len(band))).min(axis=1)
    place = int(windows.argmax())
    return place + min(NAME_STEPS, len(band)) // 2, float(windows[place])


def leading(history: History) -> list[int]:
    """Return the experts to draw, by final weight: those that are large at the end, or were for long."""
    mean: dict[int, float] = {}
    steps = np.diff([0, *(moment.rounds for moment in history.moments)]) / max(history.moments[-1].rounds, 1)
    for moment, step in zip(history.moments, steps, strict=True):
        for expert, weight in zip(moment.experts.tolist(), moment.weights.tolist(), strict=True):
            mean[expert] = mean.get(expert, 0.0) + step * weight
    last = dict(zip(history.moments[-1].experts.tolist(), history.moments[-1].weights.tolist(), strict=True))
    worth = {expert: max(mean[expert], last.get(expert, 0.0)) for expert in mean}
    ranked = sorted((expert for expert in mean if worth[expert] >= FAINT_WEIGHT), key=lambda one: (-worth[one], one))
    return sorted(ranked[:SHOWN], key=lambda expert: (-last.get(expert, 0.0), -mean[expert], expert))


def _share(weight: float) -> str:
    return f"{100 * weight:.0f} %" if weight >= 0.0995 else f"{100 * weight:.1f} %"
