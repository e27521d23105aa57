"""Scaling as a part of the Perceptron: its cost beside the sweep over the same dense rows."""

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, ratio


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400_000, 64)) * 10.0 ** rng.integers(-3, 4, 64)
    y = np.where(rng.normal(size=len(x)) + x[:, 0] / np.abs(x[:, 0]).max() >= 0, 1, -1)
    rows = nk.Arrays(x, y)

    def game(learner, track):
        return lambda: nk.play(learner(), rows, track=track)

    learners = {
        "none": nk.Perceptron,
        "standard": lambda: nk.Scaled(nk.Perceptron(), "standard"),
        "range": lambda: nk.Scaled(nk.Perceptron(), "range"),
    }
    for track, what in ((True, "certified game"), (False, "bare sweep")):
        times = alternated({scale: game(learner, track) for scale, learner in learners.items()})
        for scale in ("standard", "range"):
            told = ratio(times[scale], times["none"])
            print(f"{what}, d = 64, scale={scale}: {told:.2f}x the time of scale=none")


if __name__ == "__main__":
    main()
