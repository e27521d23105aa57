"""Expert advice: time of a round with a million experts relative to one np.exp of that size and to plain numpy.

One thread each, except for numpy's dot products, for which BLAS chooses the number of threads.

Run: python -m benchmarks experts
"""

import statistics

import numpy as np

from benchmarks.timing import alternated, line, ratio
from novikoff.core.types import Batch
from novikoff.experts.ada_hedge import AdaHedge
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.fixed_share import FixedShare
from novikoff.experts.sleeping_experts import SleepingExperts

EXPERTS = 1_000_000
REPEATS = 31


class Direct:
    """Exponential weights in plain numpy."""

    def __init__(self, experts, eta):
        self.lost, self.eta = np.zeros(experts), eta

    def play(self, x, y):
        weights = np.exp(-self.eta * (self.lost - self.lost.min()))
        weights /= weights.sum()
        losses = y if x is None else (x - y) ** 2
        said = None if x is None else weights @ x
        mean = weights @ losses
        self.lost += losses
        return said, mean


def a_million():
    """Time each learner, np.exp and plain numpy in turns; more than three at a time would evict each other's caches."""
    rng = np.random.default_rng(0)
    losses = rng.random(EXPERTS)
    exponents, out = -5.0 * rng.random(EXPERTS), np.empty(EXPERTS)
    told = {}
    for name, make, given in (
        ("losses, the mean", lambda: ExponentialWeights(EXPERTS, eta=0.01, loss="table", play="mean"), (None, losses)),
        ("advice, squared loss", lambda: ExponentialWeights(EXPERTS, eta=0.01, loss="squared"), (losses, 0.3)),
        ("losses, drawn", lambda: ExponentialWeights(EXPERTS, eta=0.01, loss="table"), (None, losses)),
        ("anytime", lambda: ExponentialWeights(EXPERTS, loss="table", play="mean"), (None, losses)),
        ("AdaHedge", lambda: AdaHedge(EXPERTS, loss="table", play="mean"), (None, losses)),
    ):
        learner, direct = make(), Direct(EXPERTS, 0.01)
        actions = {
            "np.exp": lambda: np.exp(exponents, out=out),
            "plain numpy": lambda direct=direct, given=given: direct.play(*given),
            name: lambda learner=learner, given=given: learner.play_one(*given),
        }
        alternated(actions, 2)  # compiled
        times = alternated(actions, REPEATS)
        told.update({f"{key}, measured with {name}" if key != name else key: statistics.median(seconds)
                     for key, seconds in times.items()})  # fmt: skip
        if name not in ("anytime", "AdaHedge"):
            line("one np.exp of as many numbers", f"a million experts, {name}", ratio(times["np.exp"], times[name]), 1)
            line("plain numpy", f"a million experts, {name}", ratio(times["plain numpy"], times[name]), 3)
    print(f"\n{'milliseconds per round with a million experts':<52}")
    for name, seconds in told.items():
        print(f"    {name:<48} {1e3 * seconds:>8.2f}")


def batches():
    rng = np.random.default_rng(0)
    print(f"\n{'nanoseconds per expert and round, in batches':<52} {'N=10':>8} {'N=1,000':>8}")
    makers = {
        "fixed rate, losses": (lambda n: ExponentialWeights(n, eta=0.1, loss="table", play="mean"), "table"),
        "fixed rate, squared loss": (lambda n: ExponentialWeights(n, loss="squared"), "squared"),
        "fixed rate, log loss": (lambda n: ExponentialWeights(n, loss="log"), "log"),
        "fixed rate, zero-one loss, drawn": (lambda n: ExponentialWeights(n, eta=0.1), "zero-one"),
        "anytime, losses": (lambda n: ExponentialWeights(n, loss="table", play="mean"), "table"),
        "AdaHedge, losses": (lambda n: AdaHedge(n, loss="table", play="mean"), "table"),
        "Fixed Share, 3 switches, losses": (lambda n: FixedShare(n, 3, 10**6, loss="table", play="mean"), "table"),
        "sleeping, losses": (lambda n: SleepingExperts(n, loss="table", play="mean"), "table"),
    }
    for name, (make, loss) in makers.items():
        told = []
        for n in (10, 1000):
            rows = 200_000 // n
            x = rng.random((rows, n))
            y = (rng.random(rows) < 0.5).astype(float)
            batch = Batch(None, x, 1) if loss == "table" else Batch(x.round() if loss == "zero-one" else x, y, 1)
            learner = make(n)
            learner.learn_many(batch.part(0, 3))
            seconds = alternated({"ours": lambda learner=learner, batch=batch: learner.learn_many(batch)})["ours"]
            told.append(1e9 * statistics.median(seconds) / x.size)
        print(f"    {name:<48} {told[0]:>8.1f} {told[1]:>8.2f}")


def main():
    a_million()
    batches()


if __name__ == "__main__":
    main()
