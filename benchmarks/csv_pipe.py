"""CSV from a pipe: our reader, which encodes rows for a learner, relative to `pyarrow.csv`, which returns columns.

All read the same table of at least 60 MB, which another process writes into a pipe. Each runs in its own process and
has read the first rows before, so that imports and compilation are not measured. A table of numbers becomes dense rows;
one with a category, a date and missing values becomes sparse rows. The third reader also builds a matrix of pyarrow's
numeric columns, as learners need it. Printed: wall-clock time, CPU time and peak memory of the reader; ratios are
medians of alternated runs.
"""

import io
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from benchmarks import made

SIZE, REPEATS, WANTED = 60_000_000, 9, 1.0
FIRST_ROWS = 3000


def write(path, mixed, size=SIZE):
    """Write a table of numbers; if `mixed`, with a category, a date and missing cells."""
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


def ours(file):
    import novikoff as nk

    return sum(len(batch) for batch in nk.CSV(file).batches())


def pyarrow(file, matrix=False):
    from pyarrow import csv, types

    rows = 0
    for batch in csv.open_csv(file):
        rows += batch.num_rows
        if matrix:
            numbers = [column for column in batch.columns if types.is_floating(column.type)]
            np.column_stack([column.to_numpy(zero_copy_only=False) for column in numbers])
    return rows


def pyarrow_matrix(file):
    return pyarrow(file, matrix=True)


READERS = {"ours, encoded": ours, "pyarrow.csv": pyarrow, "  and a matrix": pyarrow_matrix}


def read(how, path):
    """Read standard input; print the number of rows, seconds, CPU seconds and peak megabytes."""
    reader = READERS[how]
    with open(path, "rb") as file:
        first = b"".join(file.readline() for _ in range(FIRST_ROWS))
    reader(io.BytesIO(first))
    start, used = time.perf_counter(), time.process_time()
    rows = reader(sys.stdin.buffer)
    spent = time.perf_counter() - start, time.process_time() - used
    print(rows, *spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(how, path):
    command = [sys.executable, "-m", "benchmarks.csv_pipe", how, path]
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as writer:
        told = subprocess.run(command, stdin=writer.stdout, capture_output=True, text=True, check=True).stdout
    return [float(value) for value in told.split()]


def main():
    with made.folder() as folder:
        for name in ("numbers", "mixed"):
            path = os.path.join(folder, f"{name}.csv")
            write(path, name == "mixed")
            measured("ours, encoded", path)
            turns = [[measured(how, path) for how in READERS] for _ in range(REPEATS)]
            assert len({run[0] for turn in turns for run in turn}) == 1
            size, rows = os.path.getsize(path) / 1e6, int(turns[0][0][0])
            print(f"{name}, {size:.0f} MB, {rows:,} rows")
            for who, how in enumerate(READERS):
                wall, cpu = (statistics.median(turn[who][k] / turn[0][k] for turn in turns) for k in (1, 2))
                seconds, used, memory = (statistics.median(turn[who][k] for turn in turns) for k in (1, 2, 3))
                told = f"; ours is {wall:.2f}x as fast, {cpu:.2f}x by CPU time" if who else ""
                mark = "   BELOW" if wall < WANTED else ""
                print(f"    {how:<14} {seconds:.2f} s, {used:.2f} s of CPU time, {memory:.0f} MB{told}{mark}")


if __name__ == "__main__":
    read(*sys.argv[1:])
