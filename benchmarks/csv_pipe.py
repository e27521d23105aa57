"""CSV from a pipe: our reader, with rows encoded for a learner, against `pyarrow.csv`, which only parses.

Both read the same 60 MB and more, written by another process into a pipe, each in a process of its own. A table of
numbers becomes dense rows; one with a category, a date and missing values sparse ones. Wall clock, processor time of
the reader, and its peak memory; ratios are medians of alternated runs.
"""

import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from benchmarks import made

SIZE, REPEATS, WANTED = 60_000_000, 7, 1.0


def write(path, mixed, size=SIZE):
    """A table of numbers; if `mixed`, with a category, a date and cells that are missing among them."""
    draw = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write(",".join([*(f"x{c}" for c in range(10)), *(["city", "day"] if mixed else []), "label"]) + "\n")
        while file.tell() < size:
            x = draw.normal(size=(20_000, 10)).round(6).astype(str)
            if mixed:
                x[draw.random(20_000) < 0.02, 3] = ""
                city = draw.choice(["Rome", "Oslo", "Lima", "Bonn"], 20_000)
                day = np.datetime_as_string(np.datetime64("2024-01-01") + draw.integers(0, 700, 20_000))
                x = np.column_stack([x, city, day])
            y = draw.choice(["no", "yes"], 20_000)
            file.write("\n".join(map(",".join, np.column_stack([x, y]).tolist())) + "\n")


def read(how):
    """Read standard input; print the rows, and seconds, processor seconds and megabytes that it took."""
    if how == "ours":
        import novikoff as nk

        start, used = time.perf_counter(), time.process_time()
        rows = sum(len(batch) for batch in nk.CSV("-").batches())
    else:
        from pyarrow import csv

        start, used = time.perf_counter(), time.process_time()
        rows = sum(batch.num_rows for batch in csv.open_csv(sys.stdin.buffer))
    spent = time.perf_counter() - start, time.process_time() - used
    print(rows, *spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(how, path):
    command = [sys.executable, "-m", "benchmarks.csv_pipe", how]
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as writer:
        told = subprocess.run(command, stdin=writer.stdout, capture_output=True, text=True, check=True).stdout
    return [float(value) for value in told.split()]


def main():
    with made.folder() as folder:
        for name in ("numbers", "mixed"):
            path = os.path.join(folder, f"{name}.csv")
            write(path, name == "mixed")
            measured("ours", path)
            turns = [[measured(how, path) for how in ("ours", "pyarrow")] for _ in range(REPEATS)]
            assert len({run[0] for turn in turns for run in turn}) == 1
            best = [[min(turn[who][what] for turn in turns) for what in (1, 2, 3)] for who in (0, 1)]
            wall, cpu = (statistics.median(theirs[k] / ours[k] for ours, theirs in turns) for k in (1, 2))
            mark = "" if wall >= WANTED else "   BELOW"
            size, rows = os.path.getsize(path) / 1e6, int(turns[0][0][0])
            print(f"{name}, {size:.0f} MB, {rows:,} rows, against pyarrow.csv: {wall:.2f}x as fast (at least "
                  f"{WANTED:g}x){mark}, {cpu:.2f}x by processor time")  # fmt: skip
            for who, (s, c, m) in zip(("ours, encoded", "pyarrow.csv"), best, strict=True):
                print(f"    {who:<14} {s:.2f} s, {c:.2f} s of processor time, {m:.0f} MB at most")


if __name__ == "__main__":
    read(sys.argv[1])
