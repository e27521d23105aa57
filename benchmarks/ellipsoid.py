"""The Ellipsoid in 500 dimensions: time of a mistake relative to the BLAS calls of its update.

These are J'x and Jp (dgemv) and the rank-one update of J (dger), in place and in one thread. Half of the labels are
random, so many rounds are mistakes; the self-checks, O(d^3) whenever the mistakes have doubled, are included.
Run: python -m benchmarks ellipsoid
"""

import time

import numpy as np
from scipy.linalg.blas import dgemv, dger
from threadpoolctl import threadpool_limits

from benchmarks.timing import alternated, line, ratio
from novikoff.core.types import Batch, Sparse
from novikoff.linear.ellipsoid import Ellipsoid

WIDTH, ROUNDS, REPEATS = 500, 10_000, 5
NONZEROS = 20


def stream():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROUNDS, WIDTH))
    drawn = rng.random(ROUNDS) < 0.5
    y = np.where(drawn, rng.choice([-1, 1], ROUNDS), np.where(x @ rng.normal(size=WIDTH) >= 0, 1, -1))
    return x, y.astype(np.int8)


def sparse_stream():
    rng = np.random.default_rng(1)
    indices = np.sort(rng.random((ROUNDS, WIDTH)).argsort(axis=1)[:, :NONZEROS], axis=1).astype(np.uint32).ravel()
    indptr = np.arange(0, ROUNDS * NONZEROS + 1, NONZEROS, dtype=np.uint64)
    rows = Sparse(indptr, indices, rng.normal(size=len(indices)), WIDTH)
    return rows, rng.choice(np.array([-1, 1], dtype=np.int8), ROUNDS)


def play(x, y):
    learner = Ellipsoid(width=WIDTH)
    learner.learn_many(Batch(x, y, 1))
    return learner


def blas(updates):
    rng = np.random.default_rng(2)
    J = np.asfortranarray(np.eye(WIDTH))
    x = rng.normal(size=WIDTH)
    for _ in range(updates):
        p = dgemv(1.0, J, x, trans=1)
        v = dgemv(1.0, J, p)
        J = dger(-1e-9, v, p, a=J, overwrite_a=1)


def main():
    x, y = stream()
    rows, labels = sparse_stream()
    with threadpool_limits(1):
        updates = play(x, y).updates  # compiles, too
        fewer = play(rows, labels).updates
        times = alternated({"ours": lambda: play(x, y), "sparse": lambda: play(rows, labels),
                            "blas": lambda: blas(updates)}, REPEATS)  # fmt: skip
        each = {name: min(times[name]) / count * 1e6 for name, count in
                {"ours": updates, "sparse": fewer, "blas": updates}.items()}  # fmt: skip
        print(f"{updates:,} mistakes of {ROUNDS:,}, d = {WIDTH}: {each['ours']:.1f} us each, BLAS {each['blas']:.1f}")
        print(f"{fewer:,} mistakes on sparse rows of {NONZEROS}: {each['sparse']:.1f} us each")
        line("two dgemv and a dger", "a mistake, d = 500", ratio(times["blas"], times["ours"]), 1 / 1.5)
        learner = play(x, y)
        said = np.array([learner.predict_one(row) for row in x[:1000]], dtype=np.int8)
        right = Batch(np.tile(x[:1000], (10, 1)), np.tile(said, 10), 1)
        start = time.perf_counter()
        learner.learn_many(right)
        print(f"a round without a mistake: {(time.perf_counter() - start) / len(right) * 1e6:.2f} us")


if __name__ == "__main__":
    main()
