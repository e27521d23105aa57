"""Online-to-batch conversion: risk bounds, errors on new rows, and the cost of keeping candidates.

Quality: each data set is shuffled and halved; the learner plays the first half once, and the final classifier is tested
on the second. Digits (5 or more?) and breast cancer come with scikit-learn; spambase and mushroom are read from the
folder NOVIKOFF_DATA, if it is set. Means over the shuffles, in %. Bounds are at delta = 0.05; that of "random" (and of
the vote of drawn hypotheses) holds on average over the draw.
Cost: a game with and without candidates on 200,000 sparse rows, without and with comparators. Averaging the weights
adds a step per mistake, here in one row of six, and is reported separately. Then the evaluation of 50 candidates
relative to predicting all rows 50 times; since a candidate starts halfway on average, half of that work is needed.
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
    """Yield the name, rows and labels of each data set."""
    digits, cancer = load_digits(), load_breast_cancer()
    yield "digits", digits.data, np.where(digits.target >= 5, 1, -1)
    yield "breast cancer", cancer.data, np.where(cancer.target == 1, 1, -1)
    folder = os.environ.get("NOVIKOFF_DATA")
    if not folder:
        print("(spambase and mushroom are skipped: set NOVIKOFF_DATA to the folder of the data)")
        return
    yield "spambase", *read(pathlib.Path(folder) / "spambase" / "spambase.data")
    yield "mushroom", *read(pathlib.Path(folder) / "mushroom_agaricus" / "agaricus.txt.train")


def read(path):
    """Return all rows of a file as one dense array, and the labels."""
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
            print(f"  {how:<9} bound {promised}  error {100 * errors.mean():6.2f}  last {100 * last:6.2f}  "
                  f"difference {100 * (errors.mean() - last):+6.2f}  above the bound {broken} of {SHUFFLES}",
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
    times = alternated(actions, 101)  # to resolve 1 % of 20 ms
    certified = alternated({"plain": lambda: game(None, True), "average": lambda: game(True, True)}, 5)
    more = ratio(times["keep"], times["plain"])
    mark = "" if more <= MOST else "   ABOVE"
    print(f"a game with candidates=50, relative to one without: {more:.3f}x (at most {MOST:g}x){mark}", flush=True)
    summed, both = ratio(times["average"], times["plain"]), ratio(certified["average"], certified["plain"])
    print(f"    with averaged weights as well: {summed:.2f}x, with certificates {both:.2f}x", flush=True)
    whole = nk.Batch(rows, y, 1)

    def labels():
        for _ in range(50):
            ledger.learner.predict_many(whole)

    times = alternated({"best": lambda: finalize(ledger, "best", stream=stream), "labels": labels, "game": game}, 3)
    told = [f"{name} {min(times[name]):.2f} s" for name in times]
    print(f"evaluating 50 candidates, relative to predicting all rows 50 times in one thread: "
          f"{ratio(times['best'], times['labels']):.2f}x ({', '.join(told)})")  # fmt: skip


def main():
    for name, x, y in sets():
        quality(name, x, y)
    cost()


if __name__ == "__main__":
    main()
