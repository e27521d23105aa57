"""Chart of a game with experts: the regret next to its bound, and the weights of the experts below.

`History` records the game at certain rounds; `chart` draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.observer import Observer
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.reports.charts import (
    BOUND,
    CONSTANT,
    DASHED,
    LONGEST_REASON,
    Chart,
    Line,
    Panel,
    Region,
    cut,
    short_source,
    style,
)

SHOWN = 7
"""Largest number of experts drawn as separate bands."""
KEPT = 64
"""Largest number of experts whose weights are stored per moment."""
FAINT_WEIGHT, TALL_ENOUGH = 0.01, 0.09
"""Weight below which an expert belongs to the others, and height of a band that fits a name."""
GRID, NAME_STEPS = 200, 28
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


def chart(
    history: History, certificates: Sequence[Certificate], experts: Sequence[str], learner: str, source: str
) -> Chart:
    """Return the regret and its tightest bound over rounds, and the weights of the leading experts below."""
    return Chart(f"{learner} on {short_source(source)}", panels(history, certificates, experts))


def panels(history: History, certificates: Sequence[Certificate], experts: Sequence[str]) -> list[Panel]:
    """Return the panels of regret and of weights."""
    return [_regret(history, certificates), _weights(history, experts)]


def _regret(history: History, certificates: Sequence[Certificate]) -> Panel:
    best = next((one for one in certificates if one.side == "upper" and _bounds_regret(one)), None)
    seen = history.moments
    theorem = "" if best is None else best.theorem
    regret = [(moment.rounds, moment.bounds.get(theorem, (moment.regret, 0.0))[0]) for moment in seen]
    begin = [(0, 0.0)] if seen[0].rounds == 1 else []  # otherwise the game was resumed
    name = f"regret: loss minus that of {AGAINST.get(theorem, 'the best expert')}"
    lines, notes = [Line(name, [*begin, *regret])], []
    if best is not None and best.bound is not None:
        bounds = [(moment.rounds, moment.bounds[theorem][1]) for moment in seen if theorem in moment.bounds]
        status = "" if best.status == "valid" else f", {best.status}"
        end = bound_text(bounds[-1][1], "upper")
        lines.append(Line(f"guaranteed at most ({theorem}{status})", bounds, BOUND, DASHED, end=end))
    else:
        void = next((one for one in certificates if one.reason), None)
        notes = ["no bound to draw" + ("" if void is None else f" ({cut(void.reason, LONGEST_REASON)})")]
    values = [0.0, *(value for line in lines for _, value in line.points)]
    low, high = min(values), max(values)
    pad = 0.05 * (high - low) or 1.0
    up = "regret" if best is None else best.quantity
    return Panel(up, "rounds", lines, notes=notes, low=low - (pad if low < 0 else 0.0), high=high + pad)


def _bounds_regret(certificate: Certificate) -> bool:
    return certificate.holds and certificate.kind == "D" and "regret" in certificate.quantity


def _weights(history: History, experts: Sequence[str]) -> Panel:
    """Return stacked bands of the leading experts; a band that vanished is labelled where it was large."""
    seen = history.moments
    rounds = np.array([moment.rounds for moment in seen])
    grid = np.linspace(rounds[0], rounds[-1], GRID)
    chosen = leading(history)
    bands = [np.interp(grid, rounds, history.weights(expert)) for expert in chosen]
    names = [cut(_name(experts, expert), 24) for expert in chosen]
    colours = [style(place)[0] for place in range(len(chosen))]
    if others := len(experts) - len(chosen):
        bands.append(np.maximum(1.0 - np.sum(bands, axis=0), 0.0) if bands else np.ones(GRID))
        names.append("all experts" if not chosen else "1 other" if others == 1 else f"{others:,} others")
        colours.append(CONSTANT)
    regions, floor = [], np.zeros(GRID)
    for band, colour, name in zip(bands, colours, names, strict=True):
        points = list(zip(grid.tolist(), floor.tolist(), (floor + band).tolist(), strict=True))
        place, height = _widest(band)
        end, inside = "", None
        if band[-1] >= FAINT_WEIGHT:
            end = f"{name}  {_share(band[-1])}"
        elif height >= TALL_ENOUGH:
            inside = (name, float(grid[place]), float(floor[place] + band[place] / 2))
        regions.append(Region("", points, colour, 0.35 if colour == CONSTANT else 0.75, end, inside))
        floor = floor + band
    return Panel("weights", "rounds", (), regions, low=0.0, high=1.0, percent=True, height=0.8)


def _name(names: Sequence[str], expert: int) -> str:
    return names[expert] if expert < len(names) else f"expert {expert + 1}"


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
