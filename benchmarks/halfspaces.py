"""Halving on ten million halfspaces: time to build the class, to play a game, and to poll the survivors.

Run: python -m benchmarks halfspaces
"""

from __future__ import annotations

import time

import numpy as np

from novikoff.finite.classes.halfspace import Halfspaces
from novikoff.finite.halving import Halving

ROUNDS = 1000


def main() -> None:
    Halving(Halfspaces(1, 2)).learn_one([1, 1], 1)  # compile
    Halving(Halfspaces(1, 2, distinct=True)).learn_one([1, 1], 1)
    print(f"{'class':44} {'|H|':>11} {'build s':>8} {'1,000 rounds s':>15} {'mistakes':>8} {'survivors':>9}")
    for hypotheses in (
        Halfspaces(12, 5),
        Halfspaces(12, 5, distinct=True),
        Halfspaces(12, 4, bias=True),
        Halfspaces(1, 15),
        Halfspaces(1500, 2),
    ):
        game(hypotheses)
    print()
    print(f"{'survivors of ' + Halfspaces(12, 5).name:44} {'us per poll':>11} {'ns each':>8}")
    for left in (9_765_625, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1):
        poll(Halfspaces(12, 5), left)


def game(hypotheses: Halfspaces) -> None:
    """Play a random realizable stream of 1,000 rounds and print the times."""
    rng = np.random.default_rng(1)
    examples = rng.integers(-hypotheses.n, hypotheses.n + 1, (ROUNDS, hypotheses.dim))
    start = time.perf_counter()
    learner = Halving(hypotheses)
    built = time.perf_counter() - start
    target = np.array(hypotheses.weights(hypotheses.size // 3))
    constant = np.full((ROUNDS, int(hypotheses.bias)), hypotheses.n)
    labels = np.where(np.hstack([examples, constant]) @ target >= 0, 1, -1).tolist()
    start = time.perf_counter()
    mistakes = sum(learner.play_one(x, y) != y for x, y in zip(examples, labels, strict=True))
    played = time.perf_counter() - start
    print(f"{hypotheses.name:44} {hypotheses.size:11,} {built:8.3f} {played:15.3f} {mistakes:8} {learner.size:9,}")


def poll(hypotheses: Halfspaces, left: int) -> None:
    """Print the time of one vote of `left` survivors, spread evenly over the class."""
    space = hypotheses.space()
    if left < hypotheses.size:
        members = np.linspace(0, hypotheses.size - 1, left).astype(np.int64)
        space.load({"members": members})
    x = np.array([3, -7, 11, 2, -5])
    repeats = max(5, min(2000, 20_000_000 // (left + 1000)))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(repeats):
            space.poll(x)
        best = min(best, (time.perf_counter() - start) / repeats)
    print(f"{left:44,} {best * 1e6:11,.1f} {best * 1e9 / left:8,.1f}")


if __name__ == "__main__":
    main()
