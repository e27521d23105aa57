"""Proofs of the Perceptron and the Ellipsoid, followed through a game.

Perceptron
    With w_1 the weights when the game started, m mistakes so far, D the hinge loss of u on them, S the sum of ||x~||^2
    over them:
        m - D + <w_1,u>  <=  <w,u>  <=  ||u|| ||w||  <=  ||u|| sqrt(||w_1||^2 + S).
    At each mistake <w,u> rises by at least 1 - (hinge loss of u), and ||w||^2 by at most ||x~||^2. The comparator u of
    the certificate is known at the end; the changes of w at the mistakes are kept until then.
Ellipsoid
    d ln r  <=  ln(volume)  <=  -m ln(1/kappa), where the ball of radius r around a multiple of u is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rounding import root
from novikoff.comparators.tally import Comparator
from novikoff.core.proof import MOST_NUMBERS, Played, Proof, Value, below
from novikoff.linear.theorems.ellipsoid_facts import Ball, EllipsoidFacts, log_shrink
from novikoff.linear.theorems.perceptron_facts import near

Vector = NDArray[np.float64]
Places = NDArray[np.int64]

RISES = "<w,u> rises by 1 - loss of u or more"
"""First step of the Perceptron's proof."""
GROWS = "||w||^2 grows by ||x||^2 or less"
"""Second step of the Perceptron's proof."""
WITHOUT = ("||w||", "sqrt(sum ||x||^2)")
"""Chain of the Perceptron's proof without a comparator."""
ONLY = "w changes at mistakes only"
"""Assumption on the rounds in between."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the weights.

    Attributes:
        round: Its round.
        mistake: Whether the round was a mistake.
        places: Features that changed; the bias is feature -1.
        values: Their changes.
        row: x~ as (places, values), the bias included; None if it was not kept.
        y: Label.
        square: ||x~||^2.
        norm2: ||w||^2 after the change.
    """

    round: int
    mistake: bool
    places: Places
    values: Vector
    row: tuple[Places, Vector] | None
    y: int
    square: float
    norm2: float


def weights_of(learner: Any) -> tuple[Vector, float]:
    """Return the weights of a linear learner, and that of its constant feature."""
    return np.asarray(learner.weights, dtype=np.float64), float(learner.bias_weight)


class PerceptronProof(Proof):
    """The proof of the Perceptron's theorem.

    Args:
        learner: The learner at the start of the game.
        bias: Value of its constant feature.
        normalize: Whether each x is divided by its norm.
        read: Function that returns the weights of the learner, and that of the constant feature.
    """

    theorem = "perceptron_hinge"
    potentials = ("<w,u>", "||w||^2")
    chain = ("m - D", "<w,u>", "||u|| ||w||", "||u|| sqrt(sum ||x||^2)")
    scale = "mistakes"
    needs_rows = True

    def __init__(
        self, learner: object, bias: float = 0.0, normalize: bool = False,
        read: Callable[[Any], tuple[Vector, float]] = weights_of,
    ) -> None:  # fmt: skip
        super().__init__()
        self._bias, self._normalize, self._read = bias, normalize, read
        weights, constant = read(learner)
        self._before, self._constant = weights.copy(), constant
        self._first = (self._before, constant)
        self._norm2 = self._start2 = _square(weights, constant)
        self._changes: list[Change] = []
        self._kept = self._events = 0
        self._gains: list[float] = []  # <w,u> after each change that was kept
        self._ended_at = -1

    @property
    def events(self) -> int:
        return self._events

    def see(self, learner: object, played: Played) -> tuple[Value, ...]:
        weights, constant = self._read(learner)
        self.mistakes += played.mistake
        grown = len(weights) - len(self._before)
        before = np.append(self._before, np.zeros(grown)) if grown > 0 else self._before
        places = np.flatnonzero(weights != before[: len(weights)])
        changed = len(places) > 0 or constant != self._constant
        if changed and not played.mistake:
            self.step(ONLY, False, played.round, f"{len(places)} weights changed")
        if changed or played.mistake:
            self._note(weights, constant, before, places, played)
        return None, self._norm2

    def _note(self, weights: Vector, constant: float, before: Vector, places: Places, played: Played) -> None:
        norm2, (x, square) = _square(weights, constant), self._row(played.x)
        self._events += 1
        if played.mistake:
            rise, size = norm2 - self._norm2, max(norm2, self._norm2)
            found = f"||w||^2 {self._norm2:.6g} -> {norm2:.6g}, ||x||^2 = {square:.6g}"
            self.step(GROWS, below(rise, square, size), played.round, found)
        values, step = weights[places] - before[places], constant - self._constant
        if step:
            places, values = np.append(places, -1), np.append(values, step)
        if self._kept == self._events - 1 and self._numbers() <= MOST_NUMBERS:
            same = played.mistake and len(places) == len(x[0]) and bool(
                np.array_equal(places, x[0]) and np.array_equal(values, played.y * x[1])
            )  # fmt: skip
            self._changes.append(
                Change(played.round, played.mistake, places, values, None if same else x, int(played.y), square, norm2)
            )
            self._kept += 1
        self._before, self._constant, self._norm2 = weights.copy(), constant, norm2

    def _numbers(self) -> int:
        """Return about how many numbers are kept, from the last change."""
        last = self._changes[-1] if self._changes else None
        return (
            0 if last is None else self._kept * 2 * (len(last.places) + (0 if last.row is None else len(last.row[0])))
        )

    def _row(self, x: object) -> tuple[tuple[Places, Vector], float]:
        """Return x~ without zeros, the bias last, and ||x~||^2."""
        if isinstance(x, tuple):
            places, values = np.asarray(x[0], dtype=np.int64), np.asarray(x[1], dtype=np.float64)
            order = np.argsort(places, kind="stable")
            places, values = places[order], values[order]
        else:
            values = np.asarray(x, dtype=np.float64).reshape(-1)
            places = np.arange(len(values))
        kept = values != 0.0
        places, values = places[kept], values[kept]
        if self._normalize and len(values):
            values = values / math.sqrt(math.fsum((values * values).tolist()))
        if self._bias:
            places, values = np.append(places, -1), np.append(values, self._bias)
        return (places, values), float(np.dot(values, values))

    def end(self, tracked: object, tracker: object) -> None:
        if self._ended_at == self._events:
            return
        self._ended_at = self._events
        self._gains = []
        self._steps.pop(RISES, None)
        found = chosen(tracked)
        self.restart(*(WITHOUT if found is None else type(self).chain))
        if found is None:
            self._lengths()
            return
        u, norm = found
        product = _product(u, *self._first)
        length = norm * math.sqrt(self._start2)
        # The terms of <u,x~> and of <u,w'-w> have a size of at most the lengths' product, by Cauchy-Schwarz; and the
        # weights, which are rounded, change by y x~ only up to units of ||w||.
        start, hinge, length2, size, mistakes, total = product, 0.0, self._start2, length, 0, self.mistakes
        self.begin(start, start, length, length)
        for change in self._changes:
            gain = _dot(u, change.places, change.values)
            product += gain
            self._gains.append(product)
            reach = norm * math.sqrt(max(change.square, change.norm2, float(np.dot(change.values, change.values))))
            size += reach
            if not change.mistake:
                continue
            x = change.row or (change.places, change.y * change.values)
            loss = max(0.0, 1.0 - change.y * _dot(u, *x))
            mistakes, hinge, length2 = mistakes + 1, hinge + loss, length2 + change.square
            size += 1.0 + loss
            text = f"<w,u> rises by {gain:.6g}, loss of u {loss:.6g}"
            self.step(RISES, below(1.0 - loss, gain, 1.0 + loss + reach), change.round, text)
            self.mistakes = mistakes
            self.point(
                change.round,
                (mistakes - hinge + start, product, norm * math.sqrt(change.norm2), norm * math.sqrt(length2)),
                size,
            )
        self.mistakes = total
        for _ in range(total - mistakes):  # changes that were not kept
            self.step(RISES, None, 0)
            self.point(0, (None,) * len(self.chain))

    def _lengths(self) -> None:
        """Evaluate the part of the chain that needs no comparator."""
        length2, total = self._start2, self.mistakes
        mistakes = [change for change in self._changes if change.mistake]
        for self.mistakes, change in enumerate(mistakes, 1):
            length2 += change.square
            self.point(change.round, (math.sqrt(change.norm2), math.sqrt(length2)))
        self.mistakes = total

    def late(self, events: int, values: tuple[Value, ...]) -> tuple[Value, ...]:
        if not self._gains and events:
            return values
        if events == 0 or events > len(self._gains):
            return (0.0 if events == 0 and self._start2 == 0.0 else None), *values[1:]
        return self._gains[events - 1], *values[1:]


def chosen(tracked: Any) -> tuple[Vector, float] | None:
    """Return the comparator with the least bound, the bias weight last, and its norm; None if there is none."""
    directions: Sequence[Vector] = () if tracked is None else tracked.directions
    best = least(tracked, len(directions))
    if best is None:
        return None
    u = directions[best.direction - 1] / best.scale
    return u, math.sqrt(float(np.dot(u, u)))


def least(tracked: Any, known: int) -> Comparator | None:
    """Return the comparator u with the least D + a^2/2 + a sqrt(D + a^2/4), a = R ||u||, of the first `known`."""
    if tracked is None:
        return None
    square = near(tracked.square)

    def bound(u: Comparator) -> float:
        hinge, a2 = max(near(u.hinge) - near(u.start), 0.0), square * near(u.square)
        return hinge + a2 / 2.0 + math.sqrt(a2) * math.sqrt(hinge + a2 / 4.0)

    return min((u for u in tracked.comparators if 0 < u.direction <= known), key=bound, default=None)


def _square(weights: Vector, constant: float) -> float:
    return float(np.dot(weights, weights)) + constant * constant


def _dot(u: Vector, places: Places, values: Vector) -> float:
    """Return <u, v> for v given by its places; u is 0 where it has no feature, and its last weight is the bias's."""
    known = places < len(u) - 1
    return float(np.dot(u[places[known]], values[known]))


def _product(u: Vector, weights: Vector, constant: float) -> float:
    known = min(len(u) - 1, len(weights))
    return float(np.dot(u[:known], weights[:known])) + float(u[-1]) * constant


class EllipsoidProof(Proof):
    """d ln r <= ln(volume) <= -m ln(1/kappa), in units in which the unit ball has volume 1."""

    theorem = "ellipsoid_margin"
    potentials = ("ln volume",)
    chain = ("d ln r", "ln volume", "-m ln(1/kappa)")
    scale = "ln volume"

    def __init__(self, facts: EllipsoidFacts) -> None:
        super().__init__()
        self._before, self._updates, self._level = _log_volume(facts), facts.updates, facts.margin
        self._start = self._before
        self._seen: list[tuple[int, int, float, int]] = []  # round, mistakes, ln volume, d
        self._last: tuple[int, float] | None = None

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        self.mistakes += played.mistake
        facts: EllipsoidFacts = learner.facts()
        if not played.mistake and facts.updates == self._updates:
            return (self._before,)
        before, after = self._before, _log_volume(facts)
        self._before, self._updates = after, facts.updates
        if facts.flaw:
            self.stop(played.round, facts.flaw)
        if self.ended or not played.mistake:
            return (after,)
        drop = log_shrink(max(facts.width, 1))
        found = f"ln volume {before:.6g} -> {after:.6g}, ln(1/kappa) = {drop:.6g}"
        claim = "ln volume falls by ln(1/kappa) or more"
        self.step(claim, below(after, before - drop, 1e3 * (1.0 + abs(after))), played.round, found)
        if len(self._seen) < MOST_NUMBERS // 8:
            self._seen.append((played.round, self.mistakes, after, max(facts.width, 1)))
        return (after,)

    def end(self, tracked: object, tracker: object) -> None:
        floor, total = self._floor(tracked), self.mistakes
        self.restart(*(type(self).chain[1:] if floor is None else type(self).chain))
        for k, (round, mistakes, volume, width) in enumerate(self._seen):
            low = () if floor is None else (width * math.log(floor),)
            if k == 0:
                self.begin(*low, self._start, self._start)
            self.mistakes = mistakes
            drop = mistakes * log_shrink(width)
            self.point(round, (*low, volume, self._start - drop), abs(self._start) + drop)
        self.mistakes = total

    def _floor(self, tracked: Any) -> float | None:
        """Return the radius of the ball that is never cut; None if no comparator separates the rows."""
        if tracked is None:
            return None
        squares = [u.square for u in tracked.comparators if u.direction and u.hinge == 0]
        if not squares or not tracked.square:
            return None
        g = min(1.0, float(1 / root(tracked.square * min(squares))) * (1.0 - 1e-12))
        return None if g <= self._level else Ball(g, np.zeros(0), self._level).radius


def _log_volume(facts: EllipsoidFacts) -> float:
    """Return ln|det J|; 0 before the first update."""
    return 0.0 if facts.updates == 0 else float(np.linalg.slogdet(facts.factor)[1])
