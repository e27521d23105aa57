"""`auto`, certificate included, relative to River's ARF(10) and MOA's ARF(30), and LightGBM's progressive refits.

The first 5,000 rows of six public streams of 8 to 57 columns, of german's 1,000; each row is predicted, then learned.
All play in one process, in turn, row by row except for `auto`, which plays a table, and LightGBM, which refits on the
past when it has grown by a quarter. CPU time of predicting and learning, threads included; the minimum of two turns
after a first one of 300 rows. The settings of the peers are those of the quality board (benchmarks/quality_peers.py).
MOA needs capymoa and Java; a peer or a stream that is absent is left out.
"""

import statistics
import sys
from dataclasses import replace

from benchmarks import quality_streams
from benchmarks.quality_peers import PEERS, WARM, ours

STREAMS = ("weather", "Agrawal", "Hyperplane", "adult", "german", "spambase")
ROWS, TURNS = 5_000, 2
LEAST = {"River ARF(10)": 8.0, "MOA ARF(30)": 5.0, "LightGBM": 1.0}
"""Smallest allowed median of the ratios of the peers' CPU time to that of `auto`."""


def first(rows, most):
    return replace(rows, x=rows.x[:most], y=rows.y[:most])


def players():
    """Return the players by name, `auto` first."""
    return {"auto": lambda rows: ours("auto", rows), **{name: PEERS[name].play for name in LEAST}}


def measured(rows, playing):
    """Return the CPU seconds of each player that is there."""
    found = {}
    for turn in range(TURNS + 1):
        for name, play in list(playing.items()):
            try:
                seconds = play(first(rows, ROWS if turn else WARM)).seconds
            except ImportError as error:
                print(f"({name} is left out: {error})", file=sys.stderr)
                del playing[name]
                continue
            if turn:
                found[name] = min(seconds, found.get(name, seconds))
    return found


def main():
    playing, ratios = players(), {name: [] for name in LEAST}
    for stream in STREAMS:
        try:
            rows = quality_streams.rows(stream, 0)
        except FileNotFoundError as error:
            print(f"({stream} is left out: {error})", file=sys.stderr)
            continue
        rows = first(rows, ROWS)
        seconds, number = measured(rows, playing), len(rows.y)
        parts = [f"{stream:<11}{number:>6,} rows of {rows.x.shape[1]:>2}"]
        for name, taken in seconds.items():
            parts.append(f"{name} {1e6 * taken / number:,.0f} us/row")
            if name in ratios:
                ratios[name].append(taken / seconds["auto"])
                parts[-1] += f" ({ratios[name][-1]:.1f}x)"
        print("   ".join(parts), flush=True)
    for name, least in LEAST.items():
        if ratios[name]:
            found, worst = statistics.median(ratios[name]), min(ratios[name])
            mark = "" if found >= least else "   BELOW"
            print(f"auto relative to {name}: {found:.1f}x as fast, {worst:.1f}x at least (at least {least:g}x){mark}")


if __name__ == "__main__":
    main()
