"""Halving on all programs of at most 28 bits: rounds per second and memory.

    python -m benchmarks.programs [bits] [width]

random        features drawn from {0, 1, 2}, labels of a hidden program: few programs survive
few filtered  features from three vectors only: a large share of all programs survives
every round   the same, with the survivors filtered in every round, even if none is eliminated
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence

import numpy as np

from novikoff.finite.classes.program import Programs
from novikoff.finite.halving import Halving

ROUNDS = 1_000


def streams(width: int) -> dict[str, tuple[np.ndarray, list[int]]]:
    rng = np.random.default_rng(0)
    spread = rng.integers(0, 3, (ROUNDS, width)).astype(float)
    few = rng.integers(0, 3, (3, width)).astype(float)[rng.integers(0, 3, ROUNDS)]
    last = min(2, width - 1)

    def hidden(x: np.ndarray) -> int:
        return 1 if x[0] < x[last] and not x[1 % width] else -1

    return {"random": (spread, [hidden(x) for x in spread]), "few filtered": (few, [hidden(x) for x in few])}


def line(name: str, seconds: float, mistakes: int | str, left: int) -> None:
    print(f"{name:<42}{ROUNDS / seconds:>12,.0f} rounds/s   mistakes {mistakes:>3}   survivors {left:>12,}")


def main(arguments: Sequence[str] = ()) -> None:
    bits, width = (int(value) for value in arguments) if arguments else (28, 4)
    start = time.perf_counter()
    programs = Programs(bits, width)
    space = programs.space()
    space.keep(space.poll(np.zeros(width)), 1)
    print(f"{programs.name}: {programs.size:,} programs; first round, compilation included: "
          f"{time.perf_counter() - start:.2f} s")  # fmt: skip
    for name, (X, y) in streams(width).items():
        for prior in (None, "length"):
            for conservative in (False, True):
                learner = Halving(programs, prior, conservative)
                start = time.perf_counter()
                mistakes = sum(learner.play_one(x, label) != label for x, label in zip(X, y, strict=True))
                seconds = time.perf_counter() - start
                kind = f"{name}, prior {prior}{', conservative' if conservative else ''}"
                line(kind, seconds, mistakes, learner.size)
    X, y = streams(width)["few filtered"]
    space = programs.space("length")
    start = time.perf_counter()
    for x, label in zip(X, y, strict=True):
        space.keep(space.poll(x), label)
    line("every round, prior length", time.perf_counter() - start, "-", space.count)
    print(f"peak resident memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
