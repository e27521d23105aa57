"""`auto`: time per dense row, longest round, first run, and text relative to Vowpal Wabbit.

Dense rows have 58 features for the linear mixture, 20 for `auto`. Rounds are those of games played row by row, with
their certificates, on public streams and on 100,000 generated rows: CPU time, threads included. On text, whole
processes are timed, ours with its certificate; Vowpal Wabbit runs its default learner. The first run has no cache of
compiled loops.
"""

import os
import statistics
import sys
import tempfile
import time

import numpy as np

import novikoff as nk
from benchmarks import made, quality_streams, trees
from benchmarks.perceptron_text import PEER, keep_near
from benchmarks.timing import process, ratio
from novikoff.mixtures._loops import linear_mixture_layout as mix

SIZE = int(float(os.environ.get("NOVIKOFF_BENCH_BYTES", "1e9")))
WIDTH, ROWS = 58, 4_000
TURNS = 3
STREAMS, MANY = ("weather", "adult", "elec"), 100_000
"""Streams whose longest round is measured, and the number of generated rows."""


def report(what, got, wanted, unit):
    mark = "" if got <= wanted else "   ABOVE"
    print(f"{what:<72} {got:>8.2f} {unit:<9} (at most {wanted:g}){mark}", flush=True)


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, WIDTH))
    return x, np.where((x[:, :4] ** 2).sum(axis=1) + x[:, 5] > 3.0, 1, -1).astype(np.int8)


def seconds_a_row(learner, x, y):
    """Return microseconds of CPU time per row: the machine may be busy."""
    start = time.process_time()
    learner.learn_many(nk.Batch(x, y, 1))
    return 1e6 * (time.process_time() - start) / len(y)


def dense():
    x, y = rows(ROWS)
    awake = []
    for _ in range(TURNS):
        learner = nk.LinearMixture()
        learner.learn_many(nk.Batch(x[:9], y[:9], 1))
        awake.append(seconds_a_row(learner, x[:900], y[:900]))  # no member rests within 1,000 rounds
    report("linear-mixture, dense, all fourteen members awake", statistics.median(awake), 120, "us/row")
    learner.learn_many(nk.Batch(x, y, 1))
    asleep = int((learner._standing[mix.IDLE] < 0.0).sum())
    resting = seconds_a_row(learner, *rows(ROWS, 1))
    report(f"linear-mixture, dense, {asleep} of 15 members resting", resting, 40, "us/row")
    single = []
    for _ in range(TURNS):
        logistic = nk.Logistic()
        logistic.learn_many(nk.Batch(x[:9], y[:9], 1))
        single.append(seconds_a_row(logistic, x, y))
    report("logistic, dense", statistics.median(single), 8, "us/row")


def default():
    """Print the CPU time of games of several lengths, certificate included."""
    x, y = trees.made()
    nk.play("auto", (x[:600], y[:600])).certify()  # load or compile the loops
    for count, wanted in ((1_000, 250), (5_000, 150), (20_000, 150)):
        taken = []
        for _ in range(TURNS):
            start = time.process_time()
            nk.play("auto", (x[:count], y[:count])).certify()
            taken.append(1e6 * (time.process_time() - start) / count)
        report(f"auto, {count:,} rows of {trees.COLUMNS}, certificate included", min(taken), wanted, "us/row")


def longest():
    """Print the longest of all rounds, and the mean, of games played row by row."""
    streams = {name: lambda name=name: quality_streams.rows(name, 0) for name in STREAMS}
    for name in (*streams, "made"):
        if name == "made":
            x, y = trees.made(MANY)
        else:
            try:
                found = streams[name]()
            except FileNotFoundError as error:
                print(f"({name} is left out: {error})", file=sys.stderr)
                continue
            x, y = found.matrix(), 2 * found.y - 1
        game = nk.Game("auto")
        for t in range(600):  # load or compile the loops
            game.learn_one(x[t], int(y[t]))
        game, times = nk.Game("auto"), np.empty(len(y))
        for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
            start = time.process_time()
            game.learn_one(row, label)
            times[t] = time.process_time() - start
        game.ledger.certify()
        what = f"auto, {len(y):,} rounds of {x.shape[1]} columns ({name}), mean {1e6 * times.mean():.0f} us"
        report(f"{what}, longest: {int(times.argmax()) + 1:,}", 1e3 * times.max(), 20, "ms")


def text():
    with made.folder() as folder:
        (svm, lines), number = made.text_files(SIZE, folder)
        vw = [sys.executable, "-c", PEER, f"--quiet -d {lines}"]
        for spec, wanted in (("auto:fast=true", 0.8), ("auto", 1.6)):
            ours = [sys.executable, "-m", "novikoff", "run", spec, svm, "--quiet"]
            process(ours)  # compile once
            times = ([], [])
            for _ in range(TURNS):
                for taken, command, data in zip(times, (ours, vw), (svm, lines), strict=True):
                    keep_near(data)
                    taken.append(process(command)[0])
            what = f"{spec}, {os.path.getsize(svm) / 1e6:,.0f} MB of text, {number:,} rows, relative to VW"
            report(what, ratio(*times), wanted, "times")


def first_run():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small.csv")
        x, y = rows(500)
        np.savetxt(path, np.column_stack([x[:, :8], y]), delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
        os.environ["NUMBA_CACHE_DIR"] = os.path.join(folder, "cache")
        taken, _ = process([sys.executable, "-m", "novikoff", "run", path, "--quiet"])
        del os.environ["NUMBA_CACHE_DIR"]
    report("auto, first run after installation, a small table", taken, 8, "s")


def main():
    dense()
    default()
    longest()
    first_run()
    text()


if __name__ == "__main__":
    main()
