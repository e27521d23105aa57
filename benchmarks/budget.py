"""Kernel learners with a full budget: rounds per second, relative to numpy on the same kernel values.

Run: python -m benchmarks budget
"""

import time

import numpy as np

from benchmarks.timing import alternated, line, ratio
from novikoff.core.types import Batch, Sparse
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger
from novikoff.kernel.forgetron import Forgetron
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.kernel.tighter import TighterPerceptron


def noisy(rows, width, seed, scale=1.0):
    """Return points with random labels: about every second round is a mistake, and the budget is soon full."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width)) * scale
    return x, np.where(rng.random(rows) < 0.5, 1, -1).astype(np.int8)


def learnable(rows, width, seed, noise=0.1):
    """Return points labelled by a noisy halfspace: about one round in four is a mistake."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width))
    y = np.where(x[:, :4].sum(axis=1) > 0.0, 1, -1)
    return x, np.where(rng.random(rows) < noise, -y, y).astype(np.int8)


def full(learner, x, y):
    """Return the learner, trained until its budget is full."""
    while learner.size < learner.supports.budget:
        learner.learn_many(Batch(x, y, 1))
    return learner


def blas(x, supports, coefficients):
    """Compute one matrix-vector product and one exp of its size per round."""
    for row in x:
        np.exp(supports @ row) @ coefficients


def loop(x, supports, coefficients, gamma):
    for row in x:
        np.exp(-gamma * ((supports - row) ** 2).sum(1)) @ coefficients


def dense_against_blas():
    x, y = noisy(4000, 100, 1)
    learner = full(RandomizedBudgetPerceptron(1000, gamma=0.01), x, y)
    x, y = learnable(1000, 100, 2)
    supports, coefficients = learner.supports.examples()["points"], learner.supports.coefficients
    times = alternated(
        {"ours": lambda: learner.learn_many(Batch(x, y, 1)), "blas": lambda: blas(x, supports, coefficients)}
    )
    line("a BLAS product and np.exp per round", "dense, d=100, B=1,000, rbf", ratio(times["blas"], times["ours"]), 0.8)


def dense_against_loop():
    x, y = noisy(4000, 20, 1)
    learner = full(RandomizedBudgetPerceptron(100, gamma=0.05), x, y)
    x, y = learnable(5000, 20, 2)
    supports, coefficients = learner.supports.examples()["points"], learner.supports.coefficients
    times = alternated({
        "ours": lambda: learner.learn_many(Batch(x, y, 1)),
        "loop": lambda: loop(x, supports, coefficients, 0.05),
    })  # fmt: skip
    line("exp(-g*((S-x)**2).sum(1)) @ a per round", "dense, d=20, B=100, rbf", ratio(times["loop"], times["ours"]), 20)


def census(rows, seed):
    """Return rows like those of a9a: 14 ones among 123 features."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.permuted(np.tile(np.arange(123), (rows, 1)), axis=1)[:, :14], axis=1).astype(np.uint32)
    x = Sparse(np.arange(0, 14 * rows + 1, 14, dtype=np.uint64), places.reshape(-1), np.ones(14 * rows), 123)
    return x, np.where(rng.random(rows) < 0.5, 1, -1).astype(np.int8)


def sparse_rate():
    x, y = census(20_000, 1)
    learner = full(RandomizedBudgetPerceptron(5000, gamma=0.1), x, y)
    x, y = census(4000, 2)
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        learner.learn_many(Batch(x, y, 1))
        rates.append(len(y) / (time.perf_counter() - start))
    line("20,000 rounds per second", f"a9a-like, 5,000 supports: {max(rates):,.0f}", max(rates) / 20_000, 1)


def wide_rate():
    """Time text-like rows, too wide to be stored feature by feature; no minimum is required."""
    rng = np.random.default_rng(1)
    rows = 4000
    places = np.sort(rng.integers(0, 200_000 // 50, (rows, 50)) * 50 + np.arange(50), axis=1).astype(np.uint32)
    x = Sparse(np.arange(0, 50 * rows + 1, 50, dtype=np.uint64), places.reshape(-1), rng.random(50 * rows), 200_000)
    y = np.where(rng.random(rows) < 0.5, 1, -1).astype(np.int8)
    learner = full(RandomizedBudgetPerceptron(1000, gamma=0.1), x, y)
    start = time.perf_counter()
    learner.learn_many(Batch(x, y, 1))
    print(
        f"200,000 features, 50 non-zeros, 1,000 supports: {rows / (time.perf_counter() - start):,.0f} rounds per second"
    )


def steady():
    """Print microseconds per round with a full budget, early and late in the run."""
    print(f"\n{'us per round, d=20, B=100, one mistake in four':<52} {'early':>8} {'late':>8} {'late/early':>10}")
    for make in (RandomizedBudgetPerceptron, Forgetron, CrammerKandolaSinger, TighterPerceptron):
        learner = full(make(100, gamma=0.05), *noisy(2000, 20, 1))
        x, y = learnable(4000, 20, 2)
        learner.learn_many(Batch(x, y, 1))
        times = []
        for _ in range(40):
            start = time.perf_counter()
            learner.learn_many(Batch(x, y, 1))
            times.append((time.perf_counter() - start) / len(y) * 1e6)
        early, late = min(times[:10]), min(times[-10:])
        print(f"{make.__name__:<52} {early:>8.2f} {late:>8.2f} {late / early:>10.2f}")


def growing():
    x, y = noisy(8000, 20, 1)
    learner = KernelPerceptron(gamma=0.05)
    learner.learn_many(Batch(x[:10], y[:10], 1))
    start = time.perf_counter()
    learner.learn_many(Batch(x, y, 1))
    took = time.perf_counter() - start
    print(f"{'KernelPerceptron, 8,000 rounds of noise':<52} {took:>8.2f} s, {learner.size:,} supports")


def main():
    dense_against_blas()
    dense_against_loop()
    sparse_rate()
    wide_rate()
    steady()
    growing()


if __name__ == "__main__":
    main()
