"""Cost of --save-every: whole processes, on about 100 MB of svmlight text.

The model is a Perceptron of 47,000 features, its comparators, and the first rows, on which they are fitted.
"""

import os
import sys

from benchmarks import made
from benchmarks.timing import alternated, process, ratio

SIZE, EVERY, REPEATS, MOST = 100_000_000, 5_000, 7, 1.5


def main():
    with made.folder() as folder:
        (text, _), rows = made.text_files(SIZE, folder)
        model = os.path.join(folder, "m.nk")
        plain = [sys.executable, "-m", "novikoff", "run", "perceptron", text, "-q"]
        saving = [*plain, "--save", model, "--save-every", str(EVERY)]
        process(plain)
        times = alternated({"plain": lambda: process(plain), "saving": lambda: process(saving)}, REPEATS)
        more = ratio(times["saving"], times["plain"])
        mark = "" if more <= MOST else "   ABOVE"
        told = ", ".join(f"{name} {min(times[name]):.2f} s" for name in times)
        print(f"{rows:,} rows with --save-every {EVERY:,} ({os.path.getsize(model) / 2**20:.1f} MB), relative to "
              f"no saving: {more:.2f}x the time (at most {MOST:g}x){mark} ({told})")  # fmt: skip


if __name__ == "__main__":
    main()
