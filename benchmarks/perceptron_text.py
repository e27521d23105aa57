"""The Perceptron from a 1 GB text file, against Vowpal Wabbit, whole processes; ours with its riding certificate."""

import os
import statistics
import sys

from benchmarks import made
from benchmarks.timing import REPEATS, line, process

SIZE = int(float(os.environ.get("NOVIKOFF_BENCH_BYTES", "1e9")))
PEER = "import sys; from vowpalwabbit import Workspace; Workspace(sys.argv[1]).finish()"


def vw(path, *options):
    return [sys.executable, "-c", PEER, " ".join(["--sgd --loss_function hinge --quiet -d", path, *options])]


def ours(path):
    return [sys.executable, "-m", "novikoff", "run", "perceptron", path, "--quiet"]


def main():
    with made.folder() as folder:
        (svm, text), number = made.text_files(SIZE, folder)
        small, small_text, arrow = (os.path.join(folder, name) for name in ("small.svm", "small.vw", "made.arrow"))
        for source, target in ((svm, small), (text, small_text)):
            with open(source, "rb") as whole, open(target, "wb") as part:
                part.writelines(whole.readline() for _ in range(10))
        process(ours(small))  # compile once
        process([sys.executable, "-m", "novikoff", "convert", svm, arrow])
        process([sys.executable, "-m", "novikoff", "convert", small, arrow + ".small"])
        cache = os.path.join(folder, "cache")
        process(vw(text, "--cache_file", cache, "-k"))
        print(f"{os.path.getsize(svm) / 1e6:,.0f} MB of text, {number:,} rows; medians of {REPEATS} alternated ratios")
        commands = {
            "vw": vw(text),
            "ours": ours(svm),
            "vw start": vw(small_text),
            "ours start": ours(small),
            "vw cache": vw(text, "--cache_file", cache),
            "ours arrow": ours(arrow),
            "ours arrow start": ours(arrow + ".small"),
        }
        times = {name: [] for name in commands}
        memory = dict.fromkeys(commands, 0.0)
        for _ in range(REPEATS):
            for name, command in commands.items():
                taken, peak = process(command)
                times[name].append(taken)
                memory[name] = max(memory[name], peak)

        def beyond(name, start):
            return [a - b for a, b in zip(times[name], times[start], strict=True)]

        def ratio(a, b):
            return statistics.median(x / y for x, y in zip(a, b, strict=True))

        peer = "Vowpal Wabbit --sgd --loss_function hinge"
        line(peer, "whole process", ratio(times["vw"], times["ours"]), 3)
        line(peer, "beyond process start", ratio(beyond("vw", "vw start"), beyond("ours", "ours start")), 5)
        cached = ratio(beyond("vw cache", "vw start"), beyond("ours arrow", "ours arrow start"))
        line("Vowpal Wabbit, warm cache; ours from Arrow", "beyond process start", cached, 6)
        for name, found in times.items():
            print(f"  {name:<18} {statistics.median(found):6.2f} s   peak resident {memory[name]:,.0f} MB")


if __name__ == "__main__":
    main()
