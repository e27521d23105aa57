"""Comparators in hindsight: dual descent relative to LIBLINEAR, the whole search, and a file out of core.

For each cost, our solver stops when its objective is at most LIBLINEAR's. The distance from the optimum is certified:
the objective of our u over all rows, rounded up, and the dual bound of our alpha, rounded down.
Run: python -m benchmarks hindsight
"""

import math
import os
import statistics
import sys
import time
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

import novikoff as nk
from benchmarks import made
from benchmarks.timing import alternated, line, process, ratio
from novikoff.comparators.blocks import Blocks
from novikoff.comparators.descent import Descent
from novikoff.comparators.hindsight import hindsight
from novikoff.comparators.limits import objective
from novikoff.core.certificate import bound_text
from novikoff.data.arrays import SparseMatrix
from novikoff.data.convert import convert

OUT_OF_CORE = (
    "import sys, novikoff as nk; from novikoff.comparators.hindsight import hindsight; hindsight(nk.read(sys.argv[1]))"
)


class Race:
    """Comparison at one cost: LIBLINEAR to its default tolerance, ours to LIBLINEAR's objective."""

    def __init__(self, matrix, y, cost):
        self.matrix, self.y, self.cost = matrix, y, cost
        self.stream = SparseMatrix(matrix, y)
        self.objective, self.gaps = math.inf, []

    def peer(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LinearSVC(loss="hinge", dual=True, fit_intercept=False, C=self.cost, random_state=0)
            u = model.fit(self.matrix, self.y).coef_.ravel()
        losses = np.maximum(0.0, 1.0 - self.y * (self.matrix @ u))
        self.objective = 0.5 * u @ u + self.cost * losses.sum()

    def ours(self):
        """Solve the problem, including reading the rows, as LIBLINEAR does."""
        blocks = Blocks(self.stream, 0.0, False)
        descent, cost, unit = Descent(blocks), self.cost / blocks.unit**2, blocks.unit**2

        def enough(margins):  # rows are in single precision: `excess` evaluates the result in double precision
            square = float(descent.u @ descent.u)
            primal = (0.5 * square + cost * float(np.maximum(0.0, 1.0 - margins).sum())) * unit
            dual = (float(descent.alpha.sum()) - 0.5 * square) * unit
            self.gaps.append((primal - dual) / primal)
            return primal <= self.objective

        if not descent.solve(cost, 0.0, enough):
            sys.exit(f"LIBLINEAR's objective {self.objective} was not reached at C = {self.cost}")
        self.u = descent.u[1:] * blocks.unit
        self.blocks, self.descent = blocks, descent

    def excess(self):
        """Return our objective relative to LIBLINEAR's, minus 1, in double precision."""
        losses = np.maximum(0.0, 1.0 - self.y * (self.matrix @ self.u))
        return (0.5 * self.u @ self.u + self.cost * losses.sum()) / self.objective - 1.0

    def certified(self):
        """Return a bracket of the optimal objective."""
        return objective(self.blocks, self.descent.u, self.descent.alpha, self.cost)


def main():
    rows, y = made.sparse(200_000)
    places, ends = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    matrix = csr_matrix((rows.values, places, ends), shape=(len(rows), rows.width))
    for cost in (0.1, 1.0):
        race = Race(matrix, y, cost)
        race.peer()
        race.ours()
        times = alternated({"peer": race.peer, "ours": race.ours}, 5)
        line(
            "LIBLINEAR, default tolerance",
            f"hinge, C = {cost:g}, same objective",
            ratio(times["peer"], times["ours"]),
            1,
        )
        print(
            f"duality gap at that point: {race.gaps[-1]:.1e}; objective relative to LIBLINEAR's: {race.excess():+.1e}"
        )
        best = race.certified()
        low, high = bound_text(best.low, "lower"), bound_text(best.high, "upper")
        print(
            f"certified: the optimal objective is between {low} and {high}, a gap of {best.gap:.1e}; "
            f"LIBLINEAR's is {race.objective:,.2f}"
        )
    stream = SparseMatrix(matrix, y)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        ledger = nk.play(nk.Perceptron(), stream)
        played = time.perf_counter()
        found = hindsight(stream, played=ledger.fingerprint)
        seconds.append(time.perf_counter() - played)
    tracked, bracket = ledger.certify()[0], found.hinge
    print(
        f"hindsight on 200,000 rows: {statistics.median(seconds):.2f} s (at most 6 s); the game {played - start:.2f} s"
    )
    print(f"hinge bound {bracket.high:,.0f}, at best {bracket.low:,.0f}; in one pass {tracked.bound:,}")
    with made.folder() as folder:
        (text, _), _ = made.text_files(10**9, folder)
        arrow = os.path.join(folder, "made.arrow")
        convert(nk.read(text), arrow)
        took, peak = process([sys.executable, "-c", OUT_OF_CORE, arrow])
        print(f"hindsight on 1 GB, out of core: {took:.0f} s, {peak:.0f} MB (at most 500 MB, without mapped files)")


if __name__ == "__main__":
    main()
