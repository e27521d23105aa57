"""The Perceptron on 1 GB of text, certificate included, relative to Vowpal Wabbit; whole processes."""

import os
import statistics
import sys

from benchmarks import made
from benchmarks.timing import REPEATS, line, process, ratio

SIZE = int(float(os.environ.get("NOVIKOFF_BENCH_BYTES", "1e9")))
PEER = "import sys; from vowpalwabbit import Workspace; Workspace(sys.argv[1]).finish()"


def vw(path, *options):
    return [sys.executable, "-c", PEER, " ".join(["--sgd --loss_function hinge --quiet -d", path, *options])]


def ours(path):
    return [sys.executable, "-m", "novikoff", "run", "perceptron", path, "--quiet"]


def keep_near(path):
    """Read the file, so that it is in the page cache: disks are not measured."""
    with open(path, "rb", buffering=0) as file:
        while file.read(2**23):
            pass


def main():
    with made.folder() as folder:
        (svm, text), number = made.text_files(SIZE, folder)
        small, small_text, arrow = (os.path.join(folder, name) for name in ("small.svm", "small.vw", "made.arrow"))
        for source, target in ((svm, small), (text, small_text)):
            with open(source, "rb") as whole, open(target, "wb") as part:
                part.writelines(whole.readline() for _ in range(10))
        process([sys.executable, "-m", "novikoff", "convert", svm, arrow])
        process([sys.executable, "-m", "novikoff", "convert", small, arrow + ".small"])
        cache = os.path.join(folder, "cache")
        process(vw(text, "--cache_file", cache, "-k"))
        process(ours(svm))  # compile once
        process(ours(arrow))
        print(
            f"{os.path.getsize(svm) / 1e6:,.0f} MB of text, {number:,} rows; medians of the ratios of alternated runs"
        )
        peer = "Vowpal Wabbit --sgd --loss_function hinge"
        times = alternated_processes(
            2 * REPEATS, (vw(text), text), (vw(small_text), small_text), (ours(svm), svm), (ours(small), small)
        )
        line(peer, "whole process", ratio(times[0], times[2]), 3)
        line(peer, "beyond process start", ratio(beyond(*times[:2]), beyond(*times[2:])), 5)
        # Here a run takes a third of the process start, which varies: more repetitions.
        cached, mapped = (vw(text, "--cache_file", cache), cache), (ours(arrow), arrow)
        times = alternated_processes(
            3 * REPEATS, cached, (vw(small_text), small_text), mapped, (ours(arrow + ".small"), arrow + ".small")
        )
        faster = ratio(beyond(*times[:2]), beyond(*times[2:]))
        line("Vowpal Wabbit, warm cache; ours from Arrow", "beyond process start", faster, 6)


def alternated_processes(repeats, *commands):
    """Return seconds of each command, run in turns with its data in the page cache; print medians and peak memory."""
    times, memory = [[] for _ in commands], [0.0] * len(commands)
    for _ in range(repeats):
        for k, (command, data) in enumerate(commands):
            keep_near(data)
            taken, peak = process(command)
            times[k].append(taken)
            memory[k] = max(memory[k], peak)
    for name, taken, peak in zip(("vw", "vw start", "ours", "ours start"), times, memory, strict=True):
        print(f"  {name:<10} {statistics.median(taken):6.2f} s   peak resident {peak:,.0f} MB   ({repeats} turns)")
    return times


def beyond(whole, start):
    return [a - b for a, b in zip(whole, start, strict=True)]


if __name__ == "__main__":
    main()
