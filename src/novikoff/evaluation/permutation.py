"""permutation_test: test whether the order of the rows is random, as far as this learner can see.

Method
    The learner plays the rows in their original order, and once for each of J shuffles of them; S is a statistic of
    its mistakes. With c the number of shuffles whose S is at least that of the original order,
        p = (1 + c) / (1 + J).
    Shuffle j uses the same random numbers as shuffle j of `compare`. The learner has the same seed in all games.
Statistics
    A weighted row counts once, by its first prediction: shuffles move rows together with all their rounds.
    later_mistakes    mistakes in the second half minus those in the first: detects rows that become harder
    fewer_mistakes    minus the number of mistakes: detects a changing target, if the learner follows it
    A function of your own works too. To use two statistics, halve the level of each.
Theorem
    If the rows, with their weights, are exchangeable (independent draws from one distribution are), p <= a has
    probability at most a, for every a: a small p refutes exchangeability. This holds for any learner and any statistic
    that were chosen without looking at the rows.
Proof
    The original order and the J shuffles are then J + 1 exchangeable orders of one set of rows, so their statistics
    (functions of the order, and of coins that all share) are exchangeable too: each is equally likely to be the
    k-th largest, and ties only make p larger. []
Cost
    The rows in memory, one copy for each game running at a time, and J + 1 games.
Reference
    [phipson2010]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, counted, shown
from novikoff.core.executors import Count, Over, Threads, cores
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, Source, StepResult
from novikoff.data.as_stream import check_count
from novikoff.data.cached import MOST_BYTES, hold
from novikoff.evaluation.compare import ended, on_rows, order
from novikoff.game.play import play
from novikoff.game.prepare import Made, RowShape, called, labels_apart, learner_for, recipe, stream_for

Statistic = Callable[[NDArray[np.bool_]], float]
"""Function of the learner's mistakes: one truth value per row, in the order played."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Result of a permutation test.

    Attributes:
        learner: Name of the learner.
        source: Name of the source.
        p: p-value: probability of an order whose statistic is at least as large, if all orders are equally likely;
            also `float(result)`.
        observed: Statistic of the original order.
        shuffled: Statistic of each shuffle.
    """

    learner: str
    source: str
    p: float
    observed: float
    shuffled: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean of the statistic over the shuffles."""
        return math.fsum(self.shuffled) / len(self.shuffled)

    def __repr__(self) -> str:
        shuffles = counted(len(self.shuffled), "shuffle")
        return f"<PermutationTest {self.learner} on {self.source}, {shuffles}: p = {self.p:.4g}>"

    def __float__(self) -> float:
        return self.p

    def __str__(self) -> str:
        return (
            f"{self.learner} on {self.source}: statistic {self.observed:,.6g} in the original order, mean "
            f"{self.mean:,.6g} over {len(self.shuffled)} shuffles: p = {self.p:.4g}"
        )


def later_mistakes(wrong: NDArray[np.bool_]) -> float:
    """Return the mistakes in the second half minus those in the first; a middle row counts in neither."""
    half = len(wrong) // 2
    return float(np.count_nonzero(wrong[len(wrong) - half :]) - np.count_nonzero(wrong[:half]))


def fewer_mistakes(wrong: NDArray[np.bool_]) -> float:
    """Return minus the number of mistakes: large if there are few.

    If the target changes over time, rows are easier in their original order than shuffled.
    """
    return -float(np.count_nonzero(wrong))


class _Errors(Observer):
    """Recorder of the rows on which a learner errs, in the labels of its game."""

    sees_copies = False

    def __init__(self) -> None:
        self.wrong: list[NDArray[np.bool_]] = []

    def see(self, batch: Batch, result: StepResult) -> None:
        wrong = np.asarray(result.predictions) != batch.y
        self.wrong.append(wrong if batch.weights is None else wrong[batch.weights > 0])


def permutation_test(
    make_learner: Made,
    stream: Source,
    permutations: int = 199,
    seed: int = 0,
    statistic: Statistic = later_mistakes,
    rounds: int | None = None,
    threads: int | None = None,
    progress: Count | None = None,
) -> PermutationTest:
    """Test whether the order of the rows is random, by playing them in their original order and shuffled.

    Args:
        make_learner: Spec of a classifier, or a function of a seed that returns one.
        stream: Any source that `play` accepts, except an adversary.
        permutations: Number J of shuffles; the smallest possible p is 1/(J + 1).
        seed: Seed of the shuffles and of the learner.
        statistic: Function of the learner's mistakes (later_mistakes, fewer_mistakes or your own); large values are
            evidence against a random order.
        rounds: Number of leading rows to use; None for all.
        threads: Number of games to run at a time; None for one per core.
        progress: Callback that receives the number of finished games and the number of all games.

    Returns:
        The p-value and the statistics from which it was computed.

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10
        >>> nk.permutation_test("perceptron", rows, permutations=19, threads=1).p
        1.0
    """
    make = recipe("permutation_test", make_learner, stream)
    check_count("permutations", permutations, 1, labels_apart("permutation_test", permutations))
    if rounds is not None:
        check_count("rounds", rounds, 1)
    held = hold(stream_for(make, stream), rounds)
    make = on_rows(make, held)

    def task(over: Over, number: int) -> float:
        rows = held.shuffled(order(held.units, seed, number - 1)) if number else held
        learner = learner_for(make, RowShape.of(held), {"seed": seed})
        if not learner.learns_labels:
            player = f"{type(learner.original).__name__} plays on {learner.domain}"
            raise InputError(f"a permutation test is for classification: {player}. Choose a classifier.")
        seen = _Errors()
        play(learner, rows, track=False, observers=[ended(over), seen])
        value = float(statistic(np.concatenate(seen.wrong)))
        if math.isnan(value):
            raise InputError(f"a statistic must be a number: got {shown(value)}, with shuffle {number}.")
        return value

    fit = max(MOST_BYTES // max(held.size, 1), 1)
    players = Threads(min(cores(), fit) if threads is None else threads)
    observed, *shuffled = players.map(task, range(permutations + 1), progress=progress)
    p = (1 + sum(value >= observed for value in shuffled)) / (1 + permutations)
    return PermutationTest(called(make), held.name, p, observed, tuple(shuffled))
