"""Online gradient descent: rows relative to River's linear regression, arrays to scikit-learn's SGDRegressor.

All with squared loss. Ours also projects the weights onto their ball, averages them, and keeps the sums that its
certificates need; with few features these include the sums for the best weights in hindsight. scikit-learn averages
only where the line says so.
"""

import random

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDRegressor

import novikoff as nk
from benchmarks import made
from benchmarks.timing import alternated, line, ratio
from novikoff.convex.online_gradient import OnlineGradient

ROUNDS = 20_000


def rows():
    from river.linear_model import LinearRegression

    rng = random.Random(0)
    dicts = [{f"f{i}": rng.gauss(0, 0.1) for i in range(20)} for _ in range(ROUNDS)]
    y = [max(-1.0, min(1.0, sum(x.values()) + rng.gauss(0, 0.1))) for x in dicts]
    arrays = [np.array(list(x.values())) for x in dicts]

    def river():
        peer = LinearRegression()
        for x, outcome in zip(dicts, y, strict=True):
            peer.predict_one(x)
            peer.learn_one(x, outcome)

    def ours(examples):
        learner = OnlineGradient(limit=2.0)
        for x, outcome in zip(examples, y, strict=False):
            learner.play_one(x, outcome)

    ours(arrays[:2])
    ours(dicts[:2])
    times = alternated({"river": river, "dict": lambda: ours(dicts), "array": lambda: ours(arrays)})
    for name, wanted in (("dict", 1.2), ("array", 2)):
        line("River LinearRegression, predict_one + learn_one", f"{name}, play_one, 20 features",
             ratio(times["river"], times[name]), wanted)  # fmt: skip
    print(", ".join(f"{name} {min(found) / ROUNDS * 1e6:.2f} us" for name, found in times.items()))


def arrays():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 64)) / 16.0
    y = np.clip(x @ rng.normal(size=64) + 0.1 * rng.normal(size=len(x)), -1.0, 1.0)
    few = np.ascontiguousarray(x[:, :16])
    sparse, labels = made.sparse(50_000)
    lengths = np.sqrt(np.add.reduceat(sparse.values.astype(np.float64) ** 2, sparse.indptr[:-1].astype(np.int64)))
    longest, outcomes = float(lengths.max()) * 1.01, labels.astype(np.float64)
    matrix = csr_matrix(
        (sparse.values, sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)),
        shape=(len(sparse), sparse.width),
    )

    def ours(shown, outcome, hindsight=0):
        OnlineGradient(limit=longest, hindsight=hindsight).learn_many(nk.Batch(shown, outcome, 1))

    def peer(shown, outcome, average):
        SGDRegressor(shuffle=False, average=average, alpha=0.0, eta0=1e-4).partial_fit(shown, outcome)

    for shown, outcome in ((x[:9], y[:9]), (sparse[0:9], outcomes[:9])):
        ours(shown, outcome)
    against = "scikit-learn SGDRegressor.partial_fit, in order"
    for what, shown, theirs, outcome in (
        ("d = 16", few, few, y), ("d = 64", x, x, y), ("sparse", sparse, matrix, outcomes)
    ):  # fmt: skip
        actions = {
            "ours": lambda a=shown, b=outcome: ours(a, b),
            "theirs, averaging": lambda a=theirs, b=outcome: peer(a, b, True),
            "ours, best in hindsight": lambda a=shown, b=outcome: ours(a, b, 64),
            "theirs": lambda a=theirs, b=outcome: peer(a, b, False),
        }
        if what == "sparse":
            del actions["ours, best in hindsight"]  # too many features
        times = alternated(actions)
        line(against, f"{what}, both average", ratio(times["theirs, averaging"], times["ours"]), 1)
        line(against, f"{what}, only ours averages", ratio(times["theirs"], times["ours"]), 0.7)
        if "ours, best in hindsight" in times:
            slow = ratio(times["ours, best in hindsight"], times["ours"])
            print(f"{what}: finding the best weights in hindsight as well takes {slow:.1f} times as long")
        print(", ".join(f"{name} {min(found) / len(outcome) * 1e9:.0f} ns per row" for name, found in times.items()))


def main():
    rows()
    arrays()


if __name__ == "__main__":
    main()
