"""Proofs followed through a game: the potentials, and every inequality of the proof checked on this run.

A `Proof` sees the learner after each round (game/trace.py). It returns the potentials of the theorem's proof, records a
point of its chain of inequalities at each mistake, and checks the step that the proof takes there. What depends on the
comparator u of the certificate is computed when the game has ended, from the changes of the learner that were kept.

The checks read the state of the learner, not its rule: a learner that breaks its rule is shown at the round where the
inequality fails. They are computed in doubles and allow for rounding; the certificates do not depend on them.

Rounding
    A sum of n terms of total size S is computed with an error of at most (n - 1) 2^-53 S, in any order, and so is each
    term that is a product, with one unit more. Both sides of an inequality are such sums: CLOSE times the sizes of
    their terms covers 4 million terms on each side. A proof passes these sizes where terms may cancel.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

CLOSE = 1e-9
"""Rounding error that a check allows, relative to the size of the terms."""
MOST_POINTS = 20_000
"""Largest number of points of a chain that are kept."""
MOST_FAILURES = 5
"""Largest number of failures of one inequality that are described."""
MOST_NUMBERS = 8_000_000
"""Largest number of doubles that a proof keeps of the learner's changes."""

Value = int | float | None
"""A potential after a round; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Played:
    """One round, as a proof sees it.

    Attributes:
        round: Number of the round, from 1.
        x: The row as the learner saw it: an array, or (indices, values); None if the learner has no features.
        y: Outcome.
        mistake: Whether the prediction was wrong; always true where every round has a loss.
        expected: Expected loss of the learner over all rounds so far.
    """

    round: int
    x: Any
    y: Any
    mistake: bool
    expected: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """The chain of inequalities after one mistake: `values` must not decrease."""

    round: int
    mistakes: int
    values: tuple[float, ...]


@dataclass(slots=True)
class Check:
    """One inequality and its result on the run.

    Attributes:
        claim: The inequality.
        checked: Number of times that it was evaluated.
        of: Number of times that the proof uses it.
        failed: Number of failures.
        failures: The first failures: (round, description).
    """

    claim: str
    checked: int = 0
    of: int = 0
    failed: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, holds: bool | None, round: int, found: str = "") -> None:
        """Count one use; None if the inequality could not be evaluated."""
        self.of += 1
        if holds is None:
            return
        self.checked += 1
        if not holds:
            self.failed += 1
            if len(self.failures) < MOST_FAILURES:
                self.failures.append((round, found))


class Proof(ABC):
    """The proof of one theorem on one game.

    Attributes:
        theorem: Name of the theorem.
        potentials: Name of each potential, in the order of `see`.
        chain: Name of each member of the chain of inequalities, from the least.
        scale: Unit of the chain's values, for a chart.
        every_round: Whether the inequality is used in every round, not only at mistakes.
        needs_rows: Whether `see` reads x.
        points: The chain after each mistake.
        checks: Inequalities of the proof.
        ended: Reason why the theorem stopped to apply, such as an empty version space; "" if it did not.
    """

    theorem: str = ""
    potentials: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    scale: str = ""
    every_round: bool = False
    needs_rows: bool = False

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.ended = ""
        self.ended_at = 0
        self.mistakes = 0
        self._steps: dict[str, Check] = {}
        self._order = Check(" <= ".join(self.chain))

    @abstractmethod
    def see(self, learner: object, played: Played) -> tuple[Value, ...]:
        """Process one round; return the potentials after it, None for those that are known at the end only."""

    def end(self, tracked: object, tracker: object) -> None:  # noqa: B027 # most proofs need no comparators
        """Evaluate what needs the comparators; may be called again after more rounds.

        Args:
            tracked: Facts of the comparators; None if there are none.
            tracker: The comparators.
        """

    @property
    def events(self) -> int:
        """Number of changes recorded so far; `late` takes it."""
        return self.mistakes

    def late(self, events: int, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the potentials after that many changes, from those that `see` returned; call `end` first."""
        return values

    @property
    def checks(self) -> list[Check]:
        return [one for one in (*self._steps.values(), self._order) if one.of]

    @property
    def failed(self) -> bool:
        """Whether an inequality of the proof failed."""
        return any(one.failed for one in self.checks)

    def stop(self, round: int, reason: str) -> None:
        """Record that the theorem does not apply from this round on."""
        if not self.ended:
            self.ended, self.ended_at = reason, round

    def step(self, claim: str, holds: bool | None, round: int, found: str = "") -> None:
        """Check one step of the proof."""
        self._steps.setdefault(claim, Check(claim)).add(holds, round, found)

    def restart(self, *chain: str) -> None:
        """Forget the points of the chain, to evaluate it again; `chain` names its members, if they change."""
        self.chain = chain or self.chain
        self.points, self._order = [], Check(" <= ".join(self.chain))

    def begin(self, *values: float) -> None:
        """Record the chain before the first round."""
        if all(math.isfinite(value) for value in values):
            self.points.append(Point(0, 0, values))

    def point(self, round: int, values: Sequence[float | None], size: float = 0.0) -> None:
        """Record and check the chain after a mistake.

        Args:
            round: Number of the round.
            values: Members of the chain; None if they are unknown.
            size: Size of the terms that the members are sums of: where terms cancel, their rounding errors remain.
        """
        if any(value is None or value != value for value in values):
            self._order.add(None, round)
            return
        known = [float(value) for value in values if value is not None]
        holds = all(below(one, two, size) for one, two in pairwise(known))
        found = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.chain, known, strict=True))
        self._order.add(holds, round, found)
        if len(self.points) < MOST_POINTS:
            self.points.append(Point(round, self.mistakes, tuple(known)))


def below(one: float, two: float, size: float = 0.0) -> bool:
    """Return whether one <= two, up to rounding relative to the largest of both and `size`."""
    return one <= two + CLOSE * max(abs(one), abs(two), size, 1e-300)


def log2(number: int) -> float:
    """Return log2 of an integer of any size; -inf for 0."""
    return math.log2(number) if number > 0 else -math.inf
