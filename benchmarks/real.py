"""Real data as arrays, and tables of errors, for the benchmarks of drift, bounds and prediction sets.

Breast cancer, digits, iris (versicolor and virginica) and diabetes come with scikit-learn; Phishing, Bananas, SEA (four
concepts in turn, a tenth of the labels flipped), ImageSegments (foliage or not), TrumpApproval and ChickWeights with
River; german, mushroom, spambase, w1a, sms_spam, rcv1 and weather are read from the folder NOVIKOFF_DATA.
Rows of at most 300 features are dense. Learners have their default parameters, except for those in the spec, and are
scaled as by `novikoff run`. The quality board (benchmarks/quality.py) has its own streams.
"""

import itertools
import os
import pathlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_matrix, issparse, vstack

import novikoff as nk
from novikoff.core.adapt import adapt
from novikoff.core.registry import find
from novikoff.core.types import Domain, Sparse
from novikoff.game.specs import make, parse, with_scale

DENSE = 300
SEA_ROWS = 2_500
"""Rows of each of the four concepts."""

NARROW = ("ellipsoid", "second-order-perceptron", "arow", "logistic", "vaw")
"""Learners with a matrix of all pairs of features."""


# Streams


@dataclass
class Data:
    """A stream in memory; y has labels -1 and +1, or regression targets."""

    x: Any
    y: Any
    shuffled: bool = True

    def __post_init__(self):
        if issparse(self.x) and self.x.shape[1] <= DENSE:
            self.x = self.x.toarray()

    @property
    def numbers(self):
        return self.y.dtype == np.float64


def labels(x, positive):
    return Data(np.ascontiguousarray(x, np.float64), np.where(positive, 1, -1).astype(np.int8))


def breast_cancer():
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return labels(found.data, found.target == 1)


def digits():
    from sklearn.datasets import load_digits

    found = load_digits()
    return labels(found.data, found.target % 2 == 0)


def iris():
    from sklearn.datasets import load_iris

    found = load_iris()
    return labels(found.data[50:], found.target[50:] == 2)


def diabetes():
    from sklearn.datasets import load_diabetes

    found = load_diabetes()
    return Data(found.data, found.target)


def folder():
    """Return the folder of the data; streams from there are skipped if it is missing."""
    return pathlib.Path(os.environ.get("NOVIKOFF_DATA") or "data")


def german():
    rows = loadmat(folder() / "german" / "german.mat")["data"]
    return labels(rows[:, 1:], rows[:, 0] == 1)


def read(*names, **options):
    """Return all rows of files of one format, without columns for features that never occur."""
    xs, ys = [], []
    for name in names:
        for batch in nk.read(str(folder() / name), **options).batches():
            x = batch.x
            if isinstance(x, Sparse):
                parts = (np.array(x.values, np.float64), np.array(x.indices, np.int64), np.array(x.indptr, np.int64))
                x = csr_matrix(parts, shape=(len(x), 2**18))
            xs.append(x)
            ys.append(np.array(batch.y))
    y = np.concatenate(ys)
    if not issparse(xs[0]):
        return labels(np.concatenate(xs), y == 1)
    x = vstack(xs).tocsr()
    x = x[:, np.unique(x.indices)]
    x.sort_indices()
    return Data(x, y.astype(np.int8))


def river_rows(rows, y, shuffled=True):
    rows = list(rows)
    x = np.array([[float(value) for value in row.values()] for row, _ in rows])
    return Data(x, np.array([y(label) for _, label in rows]), shuffled)


def sign(truth):
    return np.int8(1 if truth else -1)


def phishing():
    from river.datasets import Phishing

    return river_rows(Phishing(), sign)


def bananas():
    from river.datasets import Bananas

    return river_rows(Bananas(), sign)


def segments():
    from river.datasets import ImageSegments

    return river_rows(ImageSegments(), lambda label: sign(label == "foliage"))


def sea():
    from river.datasets.synth import SEA

    concepts = [SEA(variant=k, seed=k, noise=0.1).take(SEA_ROWS) for k in range(4)]
    return river_rows((row for concept in concepts for row in concept), sign, shuffled=False)


def trump_approval():
    from river.datasets import TrumpApproval

    return river_rows(TrumpApproval(), float, shuffled=False)


def chick_weights():
    from river.datasets import ChickWeights

    return river_rows(ChickWeights(), float, shuffled=False)


STREAMS = {
    "breast cancer": breast_cancer,
    "digits even/odd": digits,
    "iris": iris,
    "german": german,
    "mushroom": lambda: read("mushroom_agaricus/agaricus.txt.train", "mushroom_agaricus/agaricus.txt.test"),
    "spambase": lambda: read("spambase/spambase.data"),
    "w1a": lambda: read("w1a/w1a"),
    "sms_spam": lambda: read("sms_spam/SMSSpamCollection"),
    "rcv1": lambda: read("rcv1_vw/rcv1_small.dat", "rcv1_vw/rcv1_small_test.data"),
    "weather": lambda: read("weather_noaa/weather.csv", label="target"),
    "Phishing": phishing,
    "Bananas": bananas,
    "SEA": sea,
    "ImageSegments": segments,
    "diabetes": diabetes,
    "TrumpApproval": trump_approval,
    "ChickWeights": chick_weights,
}


# Players: each plays all rows in order and returns (predictions, mean log loss, seconds), or None if it does not apply


def ours(spec, data):
    width = data.x.shape[1]
    name = spec.partition(":")[0]
    if find(name, "learner") is None or (name in NARROW and width > DENSE):
        return None
    play = learner_for(spec, data)
    if (adapt(play).task == "regression") != data.numbers:
        return None
    x, y = data.x, data.y
    if issparse(x):
        x = Sparse(x.indptr.astype(np.uint64), x.indices.astype(np.uint32), x.data, width)
    nk.Game(learner_for(spec, data), track=False).learn_batch(nk.Batch(x[:2], y[:2], 1))  # compile
    ledger = nk.Ledger(play, predictions=[])
    start = time.process_time()
    nk.Game(play, ledger, track=False).learn_batch(nk.Batch(x, y, 1))
    seconds = time.process_time() - start
    said = np.concatenate(ledger.predictions)
    lost = getattr(ledger, "log_loss", None)
    return said, None if lost is None else lost / len(y), seconds


def learner_for(spec, data):
    return make(with_scale(parse(spec), None, not issparse(data.x)), "learner", Domain("vector", data.x.shape[1]))


def constant(data):
    y = data.y
    if data.numbers:
        return np.full(len(y), np.median(y)), None, None
    share = np.mean(y == 1)
    return np.full(len(y), 1 if share >= 0.5 else -1), log_loss(np.full(len(y), share), y), None


def log_loss(chances, y):
    """Return the mean of -ln P(y), given P(+1)."""
    return float(-np.mean(np.log(np.where(y == 1, chances, 1.0 - chances))))


def dicts(data):
    """Return rows as dicts, for River."""
    if not issparse(data.x):
        return [dict(enumerate(row)) for row in data.x.tolist()]
    ends = data.x.indptr
    index, value = data.x.indices.tolist(), data.x.data.tolist()
    return [dict(zip(index[a:b], value[a:b], strict=True)) for a, b in itertools.pairwise(ends)]


def river(model, data):
    rows, y = dicts(data), data.y.tolist()
    said = np.zeros(len(y))
    start = time.process_time()
    if data.numbers:
        for t, (x, outcome) in enumerate(zip(rows, y, strict=True)):
            said[t] = model.predict_one(x)
            model.learn_one(x, outcome)
        return said, None, time.process_time() - start
    for t, (x, label) in enumerate(zip(rows, y, strict=True)):
        chances = model.predict_proba_one(x)
        said[t] = chances.get(True, 0.0) if chances else 0.5
        model.learn_one(x, label == 1)
    seconds = time.process_time() - start
    return np.where(said >= 0.5, 1, -1), log_loss(np.clip(said, 1e-15, 1.0 - 1e-15), data.y), seconds


def logistic_regression():
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def linear_regression():
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def random_forest(numbers):
    from river import forest

    return forest.ARFRegressor(seed=0) if numbers else forest.ARFClassifier(seed=0)


# The tables


def cell(found, least=(-np.inf, -np.inf)):
    """Return error and log loss as text; bold if they are the lowest."""
    wrong, lost = found[:, 0].mean(), found[:, 1].mean()
    told = bold(f"{wrong:.2f}" if wrong < 1e6 else f"{wrong:.1e}", wrong <= least[0])
    if len(found) > 1 and found[:, 0].std() > 1e-9:
        told += f" ±{standard_error(found[:, 0]):.2f}"
    return told if np.isnan(lost) else f"{told} / {bold(f'{lost:.3f}'.lstrip('0'), lost <= least[1])}"


def lowest(means):
    """Return the smallest mean that is not NaN."""
    return min((mean for mean in means if not np.isnan(mean)), default=np.inf)


def bold(text, really):
    return f"**{text}**" if really else text


def standard_error(figures):
    """Return the standard error of the mean."""
    return figures.std(ddof=1) / np.sqrt(len(figures)) if len(figures) > 1 else 0.0


def table(title, streams, learners, results):
    """Print a table of results and one of seconds; learners are rows, streams are columns."""
    rows = [name for name in learners if any((s, name) in results for s in streams)]
    least = {s: [lowest([found[:, k].mean() for (at, _), found in results.items() if at == s]) for k in (0, 1)]
             for s in streams}  # fmt: skip

    def wrong(s, name):
        return cell(results[s, name], least[s]) if (s, name) in results else "–"

    def seconds(s, name):
        spent = results[s, name][:, 2].mean() if (s, name) in results else np.nan
        return "–" if np.isnan(spent) else f"{spent:.2g}"

    for what, shown in ((title, wrong), ("seconds", seconds)):
        print(f"| {what} | {' | '.join(streams)} |\n|---|{'---|' * len(streams)}")
        for name in rows:
            print(f"| {name} | {' | '.join(shown(s, name) for s in streams)} |")
        print(flush=True)
