"""Cost of scaling, relative to the Perceptron on the same dense rows.

The last lines time the two loops alone, on rows that stay in the cache: a lower limit for any way to pass rows from one
to the other. Standardising reads five numbers and writes three per feature; the Perceptron reads two and, in half of
the rounds of this stream, writes one.
"""

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, ratio
from novikoff.data.scaled import Scaler


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
    for track, what in ((True, "game with certificate"), (False, "game without certificate")):
        times = alternated({scale: game(learner, track) for scale, learner in learners.items()})
        for scale in ("standard", "range"):
            told = ratio(times[scale], times["none"])
            print(f"{what}, d = 64, scale={scale}: {told:.2f}x the time of scale=none")
    few = nk.Batch(np.ascontiguousarray(x[:1024]), y[:1024].astype(np.int8), 1)
    learner, scalers = nk.Perceptron(), {scale: Scaler(scale) for scale in ("standard", "range")}

    def often(play):
        return lambda: [play() for _ in range(200)]

    kernels = {scale: often(lambda scaler=scaler: scaler.rows(few.x, True)) for scale, scaler in scalers.items()}
    times = alternated({"none": often(lambda: learner.learn_many(few)), **kernels})
    for scale in scalers:
        told = 1.0 + ratio(times[scale], times["none"])
        print(f"loops alone, in the cache, d = 64, scale={scale}: at least {told:.2f}x")


if __name__ == "__main__":
    main()
