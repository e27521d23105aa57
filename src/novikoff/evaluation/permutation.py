"""permutation_test: is the order of these rows a random one, for this learner?

Method
    The learner plays the rows as they came, and anew for each of J shuffles of them; S is a statistic of where it
    erred. With c the number of shuffles whose S is at least that of the rows as they came,
        p = (1 + c) / (1 + J).
    Shuffle j goes by the same random numbers as shuffle j of `compare`. All games have the same seed for the learner's
    coins.
Statistics
    Of a row with a weight the first prediction counts, once: shuffles move rows, with all their rounds.
    later_mistakes    the mistakes in the second half less those in the first: finds rows that become harder
    fewer_mistakes    how few there are in all: finds a target that changes, if the learner follows it
    or your own. To use two of them, halve the level of each.
Theorem
    If the rows, with their weights, are exchangeable (independent draws of one distribution are), p <= a has chance at
    most a, for every a: a small p refutes it. For any learner and any statistic that were chosen without looking at the
    rows.
Proof
    The rows as they came and the J shuffles are then J + 1 exchangeable orders of one set of rows, so their statistics
    (functions of the order, and of coins that all share) are exchangeable too: each is as likely as another to be the
    k-th largest, and ties only make p larger. []
Cost
    The rows in memory, as much again for each game at a time, and J + 1 games.
Reference
    [phipson2010]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.executors import Count, Over, Threads, cores
from novikoff.core.learner import adapt
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, StepResult
from novikoff.data.as_stream import check_count
from novikoff.data.cached import MOST_BYTES, hold
from novikoff.evaluation.compare import ended, on_rows, order
from novikoff.game.play import play
from novikoff.game.prepare import Made, RowShape, called, labels_apart, learner_for, recipe, stream_for

Statistic = Callable[[NDArray[np.bool_]], float]
"""Of where the learner erred: one truth value for each row, in the order played."""


@dataclass(frozen=True, slots=True)
class Permuted:
    """What the shuffles say.

    p          the chance of an order that looks as bad, or worse, if all orders are equally likely; `float` of this
    observed   the statistic of the rows as they came
    shuffled   that of each shuffle
    """

    learner: str
    source: str
    p: float
    observed: float
    shuffled: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the statistic over the shuffles."""
        return math.fsum(self.shuffled) / len(self.shuffled)

    def __float__(self) -> float:
        return self.p

    def __str__(self) -> str:
        return (
            f"{self.learner} on {self.source}: statistic {self.observed:,.6g} as the rows came, mean "
            f"{self.mean:,.6g} over {len(self.shuffled)} shuffles: p = {self.p:.4g}"
        )


def later_mistakes(wrong: NDArray[np.bool_]) -> float:
    """Mistakes in the second half less those in the first; a row in the middle counts for neither."""
    half = len(wrong) // 2
    return float(np.count_nonzero(wrong[len(wrong) - half :]) - np.count_nonzero(wrong[:half]))


def fewer_mistakes(wrong: NDArray[np.bool_]) -> float:
    """Large if there are few: where what is to be learned changes, rows in their order are easier than mixed ones."""
    return -float(np.count_nonzero(wrong))


class _Errors(Observer):
    """Where a learner errs, row by row, in the labels of its own game: many are numbered in the order played."""

    sees_copies = False

    def __init__(self) -> None:
        self.wrong: list[NDArray[np.bool_]] = []

    def see(self, batch: Batch, result: StepResult) -> None:
        wrong = np.asarray(result.predictions) != batch.y
        self.wrong.append(wrong if batch.weights is None else wrong[batch.weights > 0])


def permutation_test(
    make_learner: Made,
    stream: object,
    permutations: int = 199,
    seed: int = 0,
    statistic: Statistic = later_mistakes,
    rounds: int | None = None,
    threads: int | None = None,
    progress: Count | None = None,
) -> Permuted:
    """Play the rows as they came and shuffled, and compare.

    make_learner   a spec of the catalog, or a function of a seed that makes a learner on labels
    stream         what `play` takes, but no adversary
    permutations   J: the smallest p there can be is 1/(J + 1)
    seed           of the shuffles, and of the learner's coins
    statistic      of where the learner erred (later_mistakes, fewer_mistakes, a function): large ones speak against
                   a random order
    rounds         hold only so many rows, the first
    threads        how many games at a time; None: one a core
    progress       called with the number of games done, and of all
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
        if adapt(learner).pays:
            player = f"{type(learner).__name__} plays on {learner.domain}"
            raise InputError(f"a permutation test counts mistakes in labels: {player}. Choose a learner of labels.")
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
    return Permuted(called(make), held.name, p, observed, tuple(shuffled))
