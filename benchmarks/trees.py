"""Trees and forests, certificate included, and boosted trees, relative to River's adaptive random forest; and their
slowest round.

20,000 rows of 20 numbers, labelled by a noisy rule on three of them. River's forest has ten trees and plays the first
2,000 rows, while its trees are still small. CPU time, the minimum of several alternated runs.
"""

import time

import numpy as np
from river import forest

import novikoff as nk
from novikoff.trees.boosting import TWO_LABELS, BoostedTrees
from novikoff.trees.store import TOGETHER, RowStore

ROWS, RIVER_ROWS, COLUMNS, TURNS = 20_000, 2_000, 20, 3
LEAST = {"tree": 60.0, "forest": 8.0, "boosting": 8.0}
"""Smallest allowed speed relative to River's forest."""
SLOWEST = 0.020
"""Largest allowed CPU time of a single round, in seconds."""


def made(rows=ROWS):
    coins = np.random.default_rng(0)
    x = coins.normal(size=(rows, COLUMNS))
    return x, np.where((x[:, 0] > 0) ^ (x[:, 1] * x[:, 2] > 0.3) ^ (coins.random(rows) < 0.1), 1, -1)


def river(x, y):
    model = forest.ARFClassifier(n_models=10, seed=0)
    for row, label in zip(x[:RIVER_ROWS].tolist(), y[:RIVER_ROWS].tolist(), strict=True):
        named = dict(enumerate(row))
        model.predict_proba_one(named)
        model.learn_one(named, label)


def processor_time(act, rows):
    start = time.process_time()
    act()
    return (time.process_time() - start) / rows


def boosting():
    """Return a function that plays rows with boosted trees, which are a part of `auto`."""
    store, trees, kinds = RowStore(), BoostedTrees(TWO_LABELS), np.zeros(COLUMNS, np.int8)

    def act(x, y):
        store.add(x, (y > 0).astype(float), np.zeros(COLUMNS))
        trees.play(store, len(y), kinds)

    return act


def play(spec, x, y):
    if spec == "boosting":
        act = boosting()
        for start in range(0, len(y), TOGETHER):
            act(x[start : start + TOGETHER], y[start : start + TOGETHER])
    else:
        nk.play(spec, (x, y))


def slowest(spec, x, y):
    """Return the longest round of a game played row by row."""
    if spec == "boosting":
        act = boosting()
    else:
        learner = nk.make(spec, "learner")

        def act(x, y):
            learner.play_one(x[0], int(y[0]))

    most = 0.0
    for t in range(len(y)):
        start = time.process_time()
        act(x[t : t + 1], y[t : t + 1])
        most = max(most, time.process_time() - start)
    return most


def main():
    x, y = made()
    for spec in LEAST:
        play(spec, x[:600], y[:600])  # compile
        slowest(spec, x[:2], y[:2])
    turns = []
    for _ in range(TURNS):
        turn = {spec: processor_time(lambda spec=spec: play(spec, x, y), ROWS) for spec in LEAST}
        turns.append({**turn, "river": processor_time(lambda: river(x, y), RIVER_ROWS)})
    best = {name: min(turn[name] for turn in turns) for name in turns[0]}
    for spec, least in LEAST.items():
        times = best["river"] / best[spec]
        mark = "" if times >= least else "   BELOW"
        print(f"{spec:<8} {best[spec] * 1e6:7.1f} us/row   River's ARF(10) {best['river'] * 1e6:8.1f} us/row"
              f"   {times:7.1f}x as fast (at least {least:g}x){mark}", flush=True)  # fmt: skip
        longest = slowest(spec, x, y)
        mark = "" if longest <= SLOWEST else "   ABOVE"
        print(f"{spec:<8} slowest round {longest * 1e3:6.1f} ms (at most {SLOWEST * 1e3:g}){mark}", flush=True)


if __name__ == "__main__":
    main()
