"""Classifiers kept from a game: what is promised of them, how they fare on fresh rows, and what keeping costs.

Quality: each data set is shuffled and halved; the learner plays the first half once, and what is kept of it is asked
about the second. Digits (is it 5 or more?) and breast cancer come with scikit-learn; spambase and mushroom are read
from the folder that NOVIKOFF_DATA names, if it does. Means over the shuffles, in %. A limit is at delta = 0.05; that
of "random" (and of the vote of drawn hypotheses) is one on average over the draw.
Cost: a game with and without keep on 200,000 sparse rows, without comparators and with. The sums of an average are a
step for each mistake, here one row in six: they are no part of the ensemble. And the scoring of 50 candidates against
50 times the labels of all rows, which is twice as much as there is to do if they begin in the middle on average.
"""

import os
import pathlib

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits

import novikoff as nk
from benchmarks import made
from benchmarks.timing import alternated, ratio
from novikoff.core.adapt import adapt
from novikoff.core.types import Sparse
from novikoff.game.reservoir import HypothesisReservoir
from novikoff.online_to_batch.finalize import METHODS, finalize

SHUFFLES = 20
ROWS = 200_000
MOST = 1.05
LEARNERS = {
    "perceptron:bias=1,normalize": lambda: nk.Perceptron(bias=1.0, normalize=True),
    "rbp:budget=100,gamma=2": lambda: nk.RandomizedBudgetPerceptron(100, gamma=2.0),
}


def sets():
    """name -> rows of length 1 and labels."""
    digits, cancer = load_digits(), load_breast_cancer()
    yield "digits", digits.data, np.where(digits.target >= 5, 1, -1)
    yield "breast cancer", cancer.data, np.where(cancer.target == 1, 1, -1)
    folder = os.environ.get("NOVIKOFF_DATA")
    if not folder:
        print("(spambase and mushroom: name the folder of the data in NOVIKOFF_DATA)")
        return
    yield "spambase", *read(pathlib.Path(folder) / "spambase" / "spambase.data")
    yield "mushroom", *read(pathlib.Path(folder) / "mushroom_agaricus" / "agaricus.txt.train")


def read(path):
    """All rows of a file, as one dense array."""
    xs, ys = [], []
    for batch in nk.read(str(path)).batches():
        x = batch.x
        if isinstance(x, Sparse):
            parts = (np.array(x.values), np.array(x.indices, np.int64), np.array(x.indptr, np.int64))
            x = csr_matrix(parts, shape=(len(x), 200)).toarray()
        xs.append(np.array(x, np.float64))
        ys.append(np.array(batch.y))
    return np.concatenate(xs), np.concatenate(ys).astype(np.int64)


def quality(name, x, y):
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    for learner, fresh in LEARNERS.items():
        found = {how: [] for how in METHODS}
        for seed in range(SHUFFLES):
            order = np.random.default_rng(seed).permutation(len(y))
            seen, new = np.split(order, [len(y) // 2])
            stream, test = nk.Arrays(x[seen], y[seen]), nk.Batch(x[new], y[new].astype(np.int8), 1)
            ledger = nk.Ledger(fresh())
            ledger.reservoir = HypothesisReservoir(ledger.learner, 50, seed)
            nk.play(ledger.learner, stream, ledger=ledger, track=False)
            for how in METHODS:
                if how == "averaged" and not isinstance(ledger.learner, nk.Perceptron):
                    continue
                kept = finalize(ledger, how, stream=stream)
                limit = kept.certificate.bound if kept.certificate else None
                error = np.mean(adapt(kept).predict_many(test) != test.y)
                found[how].append((np.nan if limit is None else limit, error))
        last = np.array(found["last"])[:, 1].mean()
        print(f"{name}, {learner}: {len(seen):,} rows")
        for how in (how for how in METHODS if found[how]):
            limits, errors = np.array(found[how]).T
            promised = f"{100 * np.nanmean(limits):6.2f}" if np.isfinite(limits).any() else "     -"
            broken = int(np.count_nonzero(errors > limits))
            print(f"  {how:<9} limit {promised}  error {100 * errors.mean():6.2f}  last {100 * last:6.2f}  "
                  f"kept - last {100 * (errors.mean() - last):+6.2f}  above its limit {broken} of {SHUFFLES}",
                  flush=True)  # fmt: skip


def cost():
    rows, y = made.sparse(ROWS)
    matrix = csr_matrix((rows.values, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)),
                        shape=(len(rows), rows.width))  # fmt: skip
    stream = nk.SparseMatrix(matrix, y)

    def game(averaging=None, track=False):
        ledger = nk.Ledger(nk.Perceptron(bias=1.0))
        if averaging is not None:
            ledger.reservoir = HypothesisReservoir(ledger.learner, 50, 0, averaging)
        return nk.play(ledger.learner, stream, ledger=ledger, track=track)

    ledger = game(True)
    finalize(ledger, "best", stream=stream)
    actions = {"plain": game, "keep": lambda: game(False), "average": lambda: game(True)}
    times = alternated(actions, 101)  # a hundredth of 20 ms is to be seen
    certified = alternated({"plain": lambda: game(None, True), "average": lambda: game(True, True)}, 5)
    more = ratio(times["keep"], times["plain"])
    mark = "" if more <= MOST else "   ABOVE"
    print(f"a game with candidates=50, against one without: {more:.3f}x (at most {MOST:g}x){mark}", flush=True)
    summed, both = ratio(times["average"], times["plain"]), ratio(certified["average"], certified["plain"])
    print(f"    if the average is summed in the game too: {summed:.2f}x, with certificates {both:.2f}x", flush=True)
    whole = nk.Batch(rows, y, 1)

    def labels():
        for _ in range(50):
            ledger.learner.predict_many(whole)

    times = alternated({"best": lambda: finalize(ledger, "best", stream=stream), "labels": labels, "game": game}, 3)
    told = [f"{name} {min(times[name]):.2f} s" for name in times]
    print(f"scoring 50 candidates, against 50 times the labels of all rows in one thread: "
          f"{ratio(times['best'], times['labels']):.2f}x ({', '.join(told)})")  # fmt: skip


def main():
    for name, x, y in sets():
        quality(name, x, y)
    cost()


if __name__ == "__main__":
    main()
