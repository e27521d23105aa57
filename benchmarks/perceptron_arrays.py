"""The Perceptron on arrays, relative to scikit-learn's partial_fit and to reading the array once (the limit)."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import Perceptron as Peer

import novikoff as nk
from benchmarks import made
from benchmarks.timing import alternated, line, ratio
from novikoff.numerics.compiled import compiled

CLASSES = np.array([-1, 1])


@compiled
def read(x):
    total = 0
    flat = x.ravel().view(np.int64)
    for i in range(len(flat)):
        total ^= flat[i]
    return total


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1_000_000, 64))
    y = np.where(x @ rng.normal(size=64) + 0.3 * rng.normal(size=len(x)) >= 0, 1, -1).astype(np.int8)
    dense = nk.Batch(x, y, 1)
    rows, labels = made.sparse(200_000)
    sparse = nk.Batch(rows, labels, 1)
    matrix = csr_matrix(
        (rows.values, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=(len(rows), rows.width)
    )
    for batch in (dense, sparse):
        nk.Perceptron().learn_many(batch)
    read(x)
    times = alternated(
        {
            "ours, sparse": lambda: nk.Perceptron().learn_many(sparse),
            "scikit-learn, sparse": lambda: Peer(shuffle=False).partial_fit(matrix, labels, CLASSES),
            "ours, dense": lambda: nk.Perceptron().learn_many(dense),
            "scikit-learn, dense": lambda: Peer().partial_fit(x, y, CLASSES),
            "scikit-learn, dense, in order": lambda: Peer(shuffle=False).partial_fit(x, y, CLASSES),
            "reading": lambda: read(x),
            "ours, dense, again": lambda: nk.Perceptron().learn_many(dense),
        }
    )
    peer = "scikit-learn Perceptron.partial_fit, float64"
    line(peer, "sparse, shuffle=False", ratio(times["scikit-learn, sparse"], times["ours, sparse"]), 2)
    line(peer, "dense d = 64, default", ratio(times["scikit-learn, dense"], times["ours, dense"]), 10)
    line(peer, "dense d = 64, shuffle=False", ratio(times["scikit-learn, dense, in order"], times["ours, dense"]), 4)
    limit = ratio(times["ours, dense, again"], times["reading"])
    print(f"dense rows, relative to reading the same array once: {limit:.2f}x the time (at most 1.5x)")
    nanoseconds = min(times["ours, sparse"]) / len(rows.values) * 1e9
    rate = len(y) / min(times["ours, dense"]) / 1e6
    print(f"sparse rows: {nanoseconds:.2f} ns per non-zero; dense: {rate:.0f} million rows per second")


if __name__ == "__main__":
    main()
