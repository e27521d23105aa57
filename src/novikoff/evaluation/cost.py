"""measure_cost: the time of each round of several learners, to compare one that refits with one that updates.

Method
    Every learner plays the same rows in memory, in batches that end at the points of a grid; the process time used so
    far is recorded at each. Times are those of one run on this machine: run it on an idle one, and more than once.
Cost
    The rows in memory, and one game per learner.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.core.errors import InputError
from novikoff.core.observer import Observer
from novikoff.core.types import Source
from novikoff.data.cached import hold
from novikoff.evaluation.compare import on_rows
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from novikoff.game.prepare import Made, RowShape, called, learner_for, recipe, stream_for

POINTS = 60
"""Number of points of a curve."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Time of one learner.

    Attributes:
        learner: Name of the learner.
        curve: Pairs (t, seconds of the first t rounds).
        mistakes: Mistakes, or the total loss if the loss is not zero-one.
    """

    learner: str
    curve: tuple[tuple[int, float], ...]
    mistakes: float

    @property
    def seconds(self) -> float:
        """Seconds of the whole game."""
        return self.curve[-1][1]

    @property
    def per_round(self) -> list[tuple[int, float]]:
        """Pairs (t, seconds per round between the previous point and t)."""
        before = [(0, 0.0), *self.curve[:-1]]
        return [(t, (s - s0) / (t - t0)) for (t, s), (t0, s0) in zip(self.curve, before, strict=True)]


@dataclass(frozen=True, slots=True)
class Costs:
    """Times of several learners on the same rows.

    Attributes:
        source: Name of the source.
        rounds: Number of rounds.
        learners: Time of each learner.
    """

    source: str
    rounds: int
    learners: tuple[Cost, ...]


def measure_cost(learners: Sequence[Made], stream: Source, rounds: int | None = None) -> Costs:
    """Play learners one after the other and record the time of their rounds.

    Args:
        learners: Learners or specs.
        stream: Any source that `play` accepts.
        rounds: Number of leading rows to play; None for all.

    Returns:
        Seconds up to each point of a grid, for each learner.

    Example:
        >>> import novikoff as nk
        >>> found = nk.measure_cost(["perceptron", "history:LogisticRegression"], "demo:iris")
        >>> [one.curve[-1][0] for one in found.learners]
        [150, 150]
    """
    made = [recipe("measure_cost", learner, stream) for learner in learners]
    if not made:
        raise InputError("measure_cost needs at least one learner: got none.")
    held = hold(stream_for(made[0], stream), rounds)
    total = sum(len(batch) for batch in held.batches())
    grid = np.unique(np.linspace(1, total, min(POINTS, total)).astype(np.int64)).tolist()
    found = []
    for make in made:
        learner: Any = learner_for(on_rows(make, held), RowShape.of(held), {})
        clock = _Clock(grid)
        ledger = play(learner, held, track=False, observers=[clock])
        clock.look(ledger)
        found.append(Cost(called(make), tuple(clock.times), float(ledger.loss)))
    return Costs(held.name, total, tuple(found))


class _Clock(Observer):
    """Records the process time at the rounds of a grid.

    Args:
        grid: Rounds, increasing.
    """

    def __init__(self, grid: list[int]) -> None:
        self._grid, self._start = grid, time.process_time()
        self.times: list[tuple[int, float]] = []

    def begin_pass(self, ledger: Ledger) -> None:
        self._start = time.process_time()

    def due(self, ledger: Ledger, rounds: int) -> int:
        left = next((t - ledger.rounds for t in self._grid if t > ledger.rounds), rounds)
        return min(left, rounds)

    def look(self, ledger: Ledger) -> None:
        t = ledger.rounds
        if t in self._grid and (not self.times or self.times[-1][0] < t):
            self.times.append((t, time.process_time() - self._start))
