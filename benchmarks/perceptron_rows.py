"""The Perceptron, one example at a time, relative to River's."""

import random

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, line, ratio

ROUNDS = 20_000


def main():
    from river.linear_model import Perceptron as Peer

    rng = random.Random(0)
    dicts = [{f"f{i}": rng.gauss(0, 1) for i in range(20)} for _ in range(ROUNDS)]
    target = [rng.gauss(0, 1) for _ in range(20)]
    labels = [1 if sum(w * v for w, v in zip(target, x.values(), strict=True)) > 0 else -1 for x in dicts]
    truths = [label == 1 for label in labels]
    arrays = [np.array(list(x.values())) for x in dicts]
    nk.Perceptron().play_one(arrays[0], 1)

    def river():
        peer = Peer()
        for x, y in zip(dicts, truths, strict=True):
            peer.predict_one(x)
            peer.learn_one(x, y)

    def two(examples):
        learner = nk.Perceptron()
        for x, y in zip(examples, labels, strict=True):
            learner.predict_one(x)
            learner.learn_one(x, y)

    def one(examples):
        learner = nk.Perceptron()
        for x, y in zip(examples, labels, strict=True):
            learner.play_one(x, y)

    times = alternated(
        {
            "river": river,
            "dict, two calls": lambda: two(dicts),
            "array, two calls": lambda: two(arrays),
            "dict, play_one": lambda: one(dicts),
            "array, play_one": lambda: one(arrays),
        },
        repeats=9,
    )
    for name, wanted in (
        ("dict, two calls", 1.5),
        ("array, two calls", 3),
        ("dict, play_one", 2.5),
        ("array, play_one", 6),
    ):
        line(
            "River Perceptron, predict_one + learn_one",
            f"{name}, 20 features",
            ratio(times["river"], times[name]),
            wanted,
        )
    print(", ".join(f"{name} {min(found) / ROUNDS * 1e6:.2f} us" for name, found in times.items()))


if __name__ == "__main__":
    main()
