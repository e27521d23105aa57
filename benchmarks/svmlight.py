"""Reading svmlight text like RCV1's (about 70 entries per row, such as 12345:0.0627) relative to counting its lines."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise

import numpy as np

from novikoff.data.formats.svmlight import Svmlight

MEGABYTES = 200
REPEATS = 7
PIECE = 2**20


def rcv1_like(megabytes, seed=0):
    """Return rows of about 70 of 47,000 features: 16 MB generated line by line, then repeated."""
    rng = np.random.default_rng(seed)
    lines, size = [], 0
    while size < 16e6 and size < megabytes * 1e6:
        count = max(1, int(rng.normal(70, 25)))
        indices = np.sort(rng.choice(47_000, count, replace=False)) + 1
        values = rng.lognormal(-2.8, 0.6, count)
        entries = "".join(f" {i}:{v:.4f}" for i, v in zip(indices.tolist(), values.tolist(), strict=True))
        lines.append(f"{'1' if rng.random() < 0.5 else '-1'}{entries}\n".encode())
        size += len(lines[-1])
    block = b"".join(lines)
    return block * max(1, round(megabytes * 1e6 / len(block)))


def count_lines(path):
    """Return the number of lines; reads every byte of the file once, which is the limit."""
    buffer = bytearray(PIECE)
    data = np.frombuffer(buffer, dtype=np.uint8)
    lines = 0
    with open(path, "rb", buffering=0) as file:
        while got := file.readinto(buffer):
            lines += np.count_nonzero(data[:got] == 10)
    return lines


def read(path, threads):
    return sum(len(batch) for batch in Svmlight(path, threads=threads).batches())


def kernel_seconds(data, clock):
    """Return the seconds of the compiled parser alone: one core, chunk by chunk, no file and no Batch."""
    from novikoff.data._loops import svmlight as kernel

    cuts = [0]
    while cuts[-1] < len(data):
        cuts.append(data.rfind(b"\n", cuts[-1], cuts[-1] + PIECE) + 1)
    texts = [np.frombuffer(bytearray(data[a:b] + bytes(kernel.PADDING)), np.uint8) for a, b in pairwise(cuts)]
    room = PIECE + kernel.PADDING
    found = [np.empty(room, np.uint32) for _ in range(4)]
    arrays = (np.empty(room), np.empty(room, np.uint32), np.zeros(room + 1, np.uint64), np.empty(room, np.uint32),
              np.empty(room), np.zeros(kernel.WIDE, np.uint64))  # fmt: skip
    spent = 0.0
    for text in texts:
        begin = text.tobytes().index(b"\n") + 1  # the first line is left to the plain parser
        state = np.array([begin, 0, 0, 1, 0], dtype=np.uint64)
        size = np.uint64(len(text) - kernel.PADDING)
        start = clock()
        kernel.places(text, size, *found)
        kernel.parse(text, size, state, *found, *arrays)
        spent += clock() - start
        assert state[kernel.AT] == size
    return spent


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def resident(path, threads):
    """Return the peak resident megabytes of a process before (everything compiled) and after it reads the file."""
    code = (
        "import io, sys; from novikoff.data.formats.svmlight import Svmlight\n"
        "peak = lambda: next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"
        "read = lambda p: sum(len(b) for b in Svmlight(p, threads=int(sys.argv[2])).batches())\n"
        "read(io.BytesIO(b'1 1:1\\n-1 1:1\\n')); before = peak(); read(sys.argv[1]); print(before, peak())"
    )
    command = [sys.executable, "-c", code, path, str(threads)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(kilobytes) / 1024 for kilobytes in out.split()]


def main():
    data = rcv1_like(MEGABYTES)
    size = len(data) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rcv1.svm")
        with open(path, "wb") as file:
            file.write(data)
        count_lines(path)
        read(path, 1)
        kernel_seconds(data[:PIECE][: data.rfind(b"\n", 0, PIECE) + 1], time.perf_counter)
        times = {name: [] for name in ("plain", "kernel", "cpu", "one", "two")}
        for _ in range(REPEATS):  # alternated, so that a slow moment of the machine affects all
            times["plain"].append(seconds(lambda: count_lines(path)))
            times["kernel"].append(kernel_seconds(data, time.perf_counter))
            times["cpu"].append(kernel_seconds(data, time.thread_time))
            times["one"].append(seconds(lambda: read(path, 1)))
            times["two"].append(seconds(lambda: read(path, 2)))
        print(f"{size:.0f} MB of text like RCV1, {data.count(10):,} rows; medians of {REPEATS} runs")
        print(f"{'':<34} {'MB/s':>6} {'time / plain reading':>21}")
        for name, what in (
            ("plain", "plain reading (counting lines)"), ("kernel", "parser alone, one core"),
            ("cpu", "parser alone, CPU time"), ("one", "batches(), 1 thread"), ("two", "batches(), 2 threads"),
        ):  # fmt: skip
            ratio = statistics.median(a / b for a, b in zip(times[name], times["plain"], strict=True))
            told = "" if name == "cpu" else f"{ratio:>20.2f}x"  # CPU time is not comparable with wall-clock time
            print(f"{what:<34} {size / statistics.median(times[name]):>6.0f} {told}")
        for threads in (1, 2) if os.path.exists("/proc/self/status") else ():
            before, after = resident(path, threads)
            print(f"peak resident memory, {threads} thread(s): {after:.0f} MB, of which {before:.0f} MB before reading")


if __name__ == "__main__":
    main()
