"""Proof files: their size, the cost of recording one, and the speed of `novikoff verify` in pure Python.

Verification is in processor seconds, at depth `data` and with the learner replayed too, of four theorems at once.
"""

import os
import time

import numpy as np

import novikoff as nk
from benchmarks import made
from novikoff_verify.command import Verification, read

ROWS, WIDTH, USED, LONG, LEAST, LARGEST = 10_000, 100, 5, 1_000_000, 50_000, 1_000_000


def game(rows, width, used=None, **more):
    """Play rows of which `used` values are not 0; None for all."""
    rng = np.random.default_rng(0)
    if used is None:
        x = rng.normal(size=(rows, width))
    else:
        x = np.zeros((rows, width))
        x[np.arange(rows)[:, None], rng.integers(0, width, (rows, used))] = rng.normal(size=(rows, used))
    y = np.where(x @ rng.normal(size=width) + rng.normal(size=rows) > 0.0, 1, -1)
    start = time.process_time()
    ledger = nk.play(nk.Perceptron(), (x, y), **more)
    return ledger, time.process_time() - start


def main():
    with made.folder() as folder:
        proof, rows = os.path.join(folder, "p.json"), os.path.join(folder, "p.rows")
        game(ROWS, WIDTH)
        _, plain = game(ROWS, WIDTH)
        ledger, recorded = game(ROWS, WIDTH, proof=rows)
        ledger.write_proof(proof)
        values = ROWS * WIDTH
        print(f"recording {values:,} values: {1e6 * (recorded - plain) / values:.2f} us per value")
        for depth in ("data", "replay"):
            start = time.process_time()
            status = Verification(read(proof), rows, depth).status
            speed = values / (time.process_time() - start)
            mark = "" if speed >= LEAST and status == 0 else "   BELOW"
            print(f"verify to depth {depth}: {speed:,.0f} values per second (at least {LEAST:,}){mark}")
        ledger, _ = game(LONG, WIDTH, USED, proof=True)
        ledger.write_proof(proof)
        size = os.path.getsize(proof)
        mark = "" if size <= LARGEST else "   ABOVE"
        print(f"proof of {LONG:,} rows with {WIDTH} features: {size:,} bytes (at most {LARGEST:,}){mark}")


if __name__ == "__main__":
    main()
