"""ThresholdHalving: the same cost per round for every n, relative to reading the same arrays once (the limit)."""

import statistics
import time

import numpy as np

import novikoff as nk
from novikoff.numerics.compiled import compiled

ROUNDS = 20_000_000
REPEATS = 7


@compiled
def read(x, y):
    total = 0
    for t in range(len(x)):
        total += x[t] ^ y[t]
    return total


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main():
    rng = np.random.default_rng(0)
    batches = {}
    for power in (3, 9, 18):
        x = rng.integers(0, 10**power + 1, ROUNDS)
        batches[power] = nk.Batch(x, np.where(x >= 10**power // 3, 1, -1).astype(np.int8), 1)
        nk.ThresholdHalving(10**power).learn_many(nk.Batch(x[:10], batches[power].y[:10], 1))
        read(x[:10], batches[power].y[:10])
    times = {(power, kind): [] for power in batches for kind in ("learn_many", "play", "read")}
    for _ in range(REPEATS):  # alternated, so that a slow moment of the machine affects all
        for power, batch in batches.items():
            times[power, "learn_many"].append(
                seconds(lambda n=10**power, b=batch: nk.ThresholdHalving(n).learn_many(b))
            )
            times[power, "play"].append(
                seconds(lambda n=10**power, b=batch: nk.play(nk.ThresholdHalving(n), (b.x, b.y)))
            )
            times[power, "read"].append(seconds(lambda b=batch: read(b.x, b.y)))
    print(f"{'n':>6} {'learn_many, million rounds/s':>28} {'play':>8} {'learn_many / plain reading':>27}")
    for power in batches:
        swept, play = (statistics.median(times[power, kind]) for kind in ("learn_many", "play"))
        ratios = [a / b for a, b in zip(times[power, "learn_many"], times[power, "read"], strict=True)]
        rates = f"{ROUNDS / swept / 1e6:>28.0f} {ROUNDS / play / 1e6:>8.0f}"
        print(f"10^{power:<3} {rates} {statistics.median(ratios):>26.2f}x")
    ratio = statistics.median([a / b for a, b in zip(times[18, "learn_many"], times[3, "learn_many"], strict=True)])
    print(f"time per round at n = 10^18 relative to n = 10^3: {ratio:.2f}x (median of {REPEATS})")


if __name__ == "__main__":
    main()
