"""`novikoff experts` on a table of 1,000 forecasters, relative to pyarrow's read_csv of the same file.

100,000 rounds of probabilities with four digits, 700 MB. Both are whole processes, alternated; pyarrow uses all cores
and only reads. Times are given with and without the process start, which is measured on a table of two rows.
"""

import os
import statistics
import sys

import numpy as np

from benchmarks.made import folder
from benchmarks.timing import REPEATS, process, ratio
from novikoff.numerics.compiled import compiled

ROUNDS, EXPERTS, BLOCK = 100_000, 1_000, 2_000
MOST = 1.2
READ = "import sys; from pyarrow import csv; csv.read_csv(sys.argv[1])"


@compiled
def _write(tenths, digits, y, out):
    """Write rows such as `1,0.1234,…`: the outcome, and each probability with `digits` digits; return their size."""
    at = 0
    for t in range(len(y)):
        out[at] = 48 + y[t]
        at += 1
        for k in range(tenths.shape[1]):
            out[at], out[at + 1], out[at + 2] = 44, 48, 46
            number = tenths[t, k]
            for place in range(digits + 2, 2, -1):
                out[at + place] = 48 + number % 10
                number //= 10
            at += digits + 3
        out[at] = 10
        at += 1
    return at


def made(path, rounds, experts, digits=4, seed=0):
    """Write forecasts of a coin whose bias drifts; each expert sees the bias with independent noise."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 3.0, experts)
    chance = 0.0
    out = np.empty(BLOCK * (experts * (digits + 3) + 2), dtype=np.uint8)
    with open(path, "wb") as file:
        file.write(("outcome," + ",".join(f"expert{k}" for k in range(experts)) + "\n").encode())
        for first in range(0, rounds, BLOCK):
            rows = min(BLOCK, rounds - first)
            walk = chance + np.cumsum(rng.normal(0.0, 0.05, rows))
            walk, chance = np.clip(walk, -3.0, 3.0), float(np.clip(walk[-1], -3.0, 3.0))
            seen = walk[:, None] + noise * rng.standard_normal((rows, experts), dtype=np.float32)
            forecasts = 1.0 / (1.0 + np.exp(-seen))
            y = rng.random(rows) < 1.0 / (1.0 + np.exp(-walk))
            tenths = np.minimum((forecasts * 10**digits).astype(np.int64), 10**digits - 1)
            file.write(out[: _write(tenths, digits, y.astype(np.int64), out)].data)


def main():
    with folder() as where:
        table, empty = os.path.join(where, "table.csv"), os.path.join(where, "short.csv")
        made(table, ROUNDS, EXPERTS)
        made(empty, 2, EXPERTS)
        commands = {}
        for name, path in (("", table), (" start", empty)):
            commands["novikoff" + name] = [sys.executable, "-m", "novikoff", "experts", path, "-q"]
            commands["pyarrow" + name] = [sys.executable, "-c", READ, path]
        for command in commands.values():
            process(command)  # compile, and load the file into the page cache
        told = {name: [] for name in commands}
        for _ in range(REPEATS):
            for name, command in commands.items():
                told[name].append(process(command))
        seconds = {name: [one for one, _ in runs] for name, runs in told.items()}
        peaks = {name: max(peak for _, peak in runs) for name, runs in told.items()}
        print(f"{os.path.getsize(table) / 1e6:,.0f} MB, {ROUNDS:,} rounds of {EXPERTS:,} experts; {REPEATS} turns")
        for name in ("novikoff", "pyarrow"):
            whole, start = statistics.median(seconds[name]), statistics.median(seconds[name + " start"])
            print(f"{name:<10} {whole:6.2f} s, of which {start:.2f} s process start; peak memory {peaks[name]:,.0f} MB")
        beyond = {
            name: [a - b for a, b in zip(seconds[name], seconds[name + " start"], strict=True)]
            for name in ("novikoff", "pyarrow")
        }
        for what, times in (("whole processes", seconds), ("without the start", beyond)):
            got = ratio(times["novikoff"], times["pyarrow"])
            mark = "" if got <= MOST else "   ABOVE"
            print(f"{what:<20} novikoff / pyarrow {got:6.2f}x  (at most {MOST:g}x){mark}")


if __name__ == "__main__":
    main()
