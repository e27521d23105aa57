"""Learners of the quality board: novikoff's, and those of River, Vowpal Wabbit, MOA, LightGBM and scikit-learn.

A player gets all rows of a stream in order, predicts each before it learns it, and returns `Played`. Settings are the
defaults of each library unless its name or this list says otherwise:

    River           one-hot columns for categories, StandardScaler for numbers, then LogisticRegression,
                    SoftmaxRegression or LinearRegression; HAT: HoeffdingAdaptiveTree; ARF and AMF with 10 trees and
                    seed 1. HAT and ARF for labels get categories as such, other trees one-hot columns.
    Vowpal Wabbit   logistic loss (`--oaa` for more than two labels), squared loss for numbers; "VW -q ::" has all
                    products of two features. Categories are features named column=value.
    MOA             through CapyMOA: ARF with 30 trees, SRP with 10, SGBT with 100; seed 1. Categories are nominal
                    attributes; labels and categories are announced.
    LightGBM        100 trees, refitted on the whole past when the rows have grown by a quarter, from 32 rows on; the
                    frequencies or the mean before that. Categories are given as such. "+ lags": also the last outcome
                    and the exponential means of rates 0.5, 0.1 and 0.02 of the outcomes, per label; for streams whose
                    order is meaningful.
    scikit-learn    SGDClassifier (log loss) and SGDRegressor by `partial_fit`, one row at a time; columns, and numbers
                    to predict, standardised by the mean and deviation of the past.
    frequencies     KT estimate of the labels; the mean of the past for numbers.

Probabilities of peers are raised to 1e-6 and normalised. Seconds are CPU time of predicting and learning, without
the encoding of rows and the compiling of kernels.
"""

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality_streams import Rows

FLOOR = 1e-6
WARM = 300
"""Rows of a first game that is not measured."""
WIDE = 60
"""Most columns for which Vowpal Wabbit gets products."""
LAG_RATES = (1.0, 0.5, 0.1, 0.02)


@dataclass
class Played:
    """Predictions of one pass.

    Attributes:
        predictions: (rows,) predicted label or number.
        seconds: CPU seconds.
        chances: (rows,) probability given to the outcome that came; None for numbers.
        scores: (rows,) probability of label 1, for two labels.
        bound: Guaranteed sum of losses (log loss or squared loss), if there is a certificate.
        loss: Sum of losses that the bound is about.
    """

    predictions: Any
    seconds: float
    chances: Any = None
    scores: Any = None
    bound: float | None = None
    loss: float | None = None


def judged(chances: Any, rows: Rows, seconds: float) -> Played:
    """Return the result of probabilities (rows, labels), floored and normalised."""
    predictions = chances.argmax(1)
    chances = np.maximum(chances, FLOOR)
    chances /= chances.sum(1, keepdims=True)
    scores = chances[:, 1] if rows.labels == 2 else None
    return Played(predictions, seconds, chances[np.arange(len(rows.y)), rows.y], scores)


# River


def records(rows: Rows, one_hot: bool = False) -> list[dict[str, Any]]:
    if rows.sparse:
        x = rows.x
        return [
            dict(zip(x.indices[a:b].tolist(), x.data[a:b].tolist(), strict=True))
            for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)
        ]
    return (frame(rows) if one_hot else rows.x).to_dict("records")


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows.matrix()).add_prefix("x")


def river(make: Callable[[Rows], Any], rows: Rows, one_hot: bool = False) -> Played:
    one_hot = one_hot or not rows.labels  # trees for numbers have linear leaves
    model, xs, ys = make(rows), records(rows, one_hot and make is not river_linear), rows.y.tolist()
    if not rows.labels:
        said = np.zeros(len(ys))
        start = time.process_time()
        for t, (x, y) in enumerate(zip(xs, ys, strict=True)):
            said[t] = model.predict_one(x) or 0.0
            model.learn_one(x, y)
        return Played(said, time.process_time() - start)
    chances = np.zeros((len(ys), rows.labels))
    start = time.process_time()
    for t, (x, y) in enumerate(zip(xs, ys, strict=True)):
        for label, p in model.predict_proba_one(x).items():
            chances[t, int(label)] = p
        model.learn_one(x, bool(y) if rows.labels == 2 else y)
    return judged(chances, rows, time.process_time() - start)


def river_linear(rows: Rows) -> Any:
    from river import compose, linear_model, preprocessing

    scaled = preprocessing.StandardScaler()
    if rows.categories:
        numbers = [name for name in rows.x if name not in rows.categories]
        scaled = (compose.Select(*numbers) | scaled) + (
            compose.Select(*rows.categories) | preprocessing.OneHotEncoder()
        )
    model = {0: linear_model.LinearRegression, 2: linear_model.LogisticRegression}
    return scaled | model.get(rows.labels, linear_model.SoftmaxRegression)()


def river_tree(rows: Rows) -> Any:
    from river import tree

    return (tree.HoeffdingAdaptiveTreeClassifier if rows.labels else tree.HoeffdingAdaptiveTreeRegressor)(seed=1)


def river_forest(rows: Rows) -> Any:
    from river import forest

    return (forest.ARFClassifier if rows.labels else forest.ARFRegressor)(n_models=10, seed=1)


def river_mondrian(rows: Rows) -> Any:
    from river import forest

    return (forest.AMFClassifier if rows.labels else forest.AMFRegressor)(n_estimators=10, seed=1)


# Vowpal Wabbit


def vw(options: str, rows: Rows) -> Played:
    from vowpalwabbit import Workspace

    labels = rows.labels
    features = [
        "| "
        + " ".join(
            (f"{name}={value}".replace(" ", "_").replace(":", "_") if isinstance(value, str) else f"{name}:{value}")
            for name, value in row.items()
            if value
        )
        for row in records(rows)
    ]
    if labels > 2:
        options += f" --oaa {labels} --loss_function logistic --probabilities"
    elif labels:
        options += " --loss_function logistic --link logistic"
    model = Workspace(f"--quiet {options}")
    outcomes = (2 * rows.y - 1 if labels == 2 else rows.y + 1 if labels else rows.y).tolist()
    said = np.zeros((len(outcomes), labels if labels > 2 else 1))
    start = time.process_time()
    for t, (text, outcome) in enumerate(zip(features, outcomes, strict=True)):
        if labels > 2:
            said[t] = model.predict(text)
            model.learn(f"{outcome} {text}")
        else:
            example = model.parse(f"{outcome} {text}")
            model.learn(example)
            said[t] = example.get_simplelabel_prediction()  # made before learning
            model.finish_example(example)
    seconds = time.process_time() - start
    model.finish()
    if not labels:
        return Played(said[:, 0], seconds)
    return judged(said if labels > 2 else np.hstack([1.0 - said, said]), rows, seconds)


# MOA, through CapyMOA


def moa(name: str, options: dict[str, Any], rows: Rows) -> Played:
    from capymoa import classifier, regressor
    from capymoa.core import LabeledInstance, RegressionInstance
    from capymoa.stream import Schema

    x = np.empty(rows.x.shape)
    names, categories = [f"x{place}" for place in range(x.shape[1])], {}
    for place, column in enumerate(rows.x):
        if column in rows.categories:
            codes, values = pd.factorize(rows.x[column])
            x[:, place], categories[names[place]] = codes, [f"v{code}" for code in range(len(values))]
        else:
            x[:, place] = rows.x[column]
    if rows.labels:
        categories["y"] = [f"v{label}" for label in range(rows.labels)]
    schema = Schema.from_custom([*names, "y"], target="y", categories=categories, name="stream")
    module, suffix = (classifier, "Classifier") if rows.labels else (regressor, "Regressor")
    make = getattr(module, name, None) or getattr(module, name + suffix)
    model = make(schema=schema, random_seed=1, **options)
    kind = LabeledInstance if rows.labels else RegressionInstance
    outcomes = rows.y.tolist()
    chances = np.zeros((len(outcomes), max(1, rows.labels)))
    start = time.process_time()
    for t, outcome in enumerate(outcomes):
        instance = kind.from_array(schema, x[t], outcome)
        if rows.labels:
            found = model.predict_proba(instance)
            chances[t] = 1.0 / rows.labels if found is None else found
        else:
            chances[t] = model.predict(instance) or 0.0
        model.train(instance)
    seconds = time.process_time() - start
    return judged(chances, rows, seconds) if rows.labels else Played(np.nan_to_num(chances[:, 0]), seconds)


# LightGBM


def refits(rows: int) -> Any:
    """Yield the number of rows learned from and the end of the rows predicted by each refit."""
    start = 32
    while start < rows:
        stop = min(rows, max(start + 1, int(1.25 * start)))
        yield start, stop
        start = stop


def lag_columns(rows: Rows) -> Any:
    """Return the last outcome and exponential means of the outcomes before each row, per label."""
    shown = rows.y[:, None] if not rows.labels else np.eye(rows.labels)[rows.y][:, 1:]
    found, means = np.zeros((len(shown), len(LAG_RATES), shown.shape[1])), np.tile(shown[0] * 0.0, (len(LAG_RATES), 1))
    for t, outcome in enumerate(shown):
        found[t] = means
        means = outcome + 0.0 * means if t == 0 else means + np.array(LAG_RATES)[:, None] * (outcome - means)
    return found.reshape(len(shown), -1)


def frequencies(rows: Rows) -> Any:
    """Return KT estimates (rows, labels) of the labels, or means (rows,) of the numbers, before each row."""
    past = np.arange(len(rows.y))
    if not rows.labels:
        return np.append(0.0, np.cumsum(rows.y)[:-1] / past[1:])
    came = np.eye(rows.labels)[rows.y]
    counts = np.vstack([np.zeros(rows.labels), np.cumsum(came, 0)[:-1]])
    return (counts + 0.5) / (past + 0.5 * rows.labels)[:, None]


def lightgbm(lags: bool, rows: Rows) -> Played:
    import lightgbm as library

    x = rows.x if rows.sparse else rows.x.astype(dict.fromkeys(rows.categories, "category"))
    if lags:
        x = pd.concat([x, pd.DataFrame(lag_columns(rows)).add_prefix("lag")], axis=1)
    if not rows.sparse:
        x.columns = [f"c{place}" for place in range(x.shape[1])]
    said = frequencies(rows)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for past, stop in refits(len(rows.y)):
            if not rows.labels:
                model = library.LGBMRegressor(verbose=-1, n_jobs=1).fit(x[:past], rows.y[:past])
                said[past:stop] = model.predict(x[past:stop])
            elif len(np.unique(rows.y[:past])) > 1:
                model = library.LGBMClassifier(verbose=-1, n_jobs=1).fit(x[:past], rows.y[:past])
                said[past:stop] = 0.0
                said[past:stop, model.classes_] = model.predict_proba(x[past:stop])
    seconds = time.process_time() - start
    return judged(said, rows, seconds) if rows.labels else Played(said, seconds)


def constant(rows: Rows) -> Played:
    start = time.process_time()
    said = frequencies(rows)
    seconds = time.process_time() - start
    return judged(said, rows, seconds) if rows.labels else Played(said, seconds)


# scikit-learn


class Running:
    """Mean and deviation of the rows seen."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.square = 0, np.zeros(width), np.zeros(width)

    def scale(self) -> Any:
        found = np.sqrt(self.square / max(1, self.count))
        return np.where(found > 0.0, found, 1.0)

    def add(self, row: Any) -> None:
        self.count += 1
        off = row - self.mean
        self.mean = self.mean + off / self.count
        self.square = self.square + off * (row - self.mean)


def sgd(rows: Rows) -> Played:
    import sklearn
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    x, labels = rows.matrix(), np.arange(rows.labels)
    model = SGDClassifier(loss="log_loss", random_state=1) if rows.labels else SGDRegressor(random_state=1)
    seen, target = None if rows.sparse else Running(x.shape[1]), Running(1)
    said = np.zeros((len(rows.y), max(1, rows.labels)))
    start = time.process_time()
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        for t in range(len(rows.y)):
            row, y = x[t : t + 1], rows.y[t : t + 1]
            if seen is not None:
                seen.add(row[0])
                row = (row - seen.mean) / seen.scale()
            if rows.labels:
                said[t] = model.predict_proba(row)[0] if t else 1.0 / rows.labels
                model.partial_fit(row, y, classes=labels)
            else:
                said[t] = model.predict(row) * target.scale() + target.mean if t else 0.0
                target.add(y)
                model.partial_fit(row, (y - target.mean) / target.scale())
    seconds = time.process_time() - start
    return judged(said, rows, seconds) if rows.labels else Played(said[:, 0], seconds)


# novikoff


def source(rows: Rows, most: int | None = None) -> Any:
    """Return the first rows as a data frame with a label column, or as arrays; labels are not announced."""
    y = rows.y[:most]
    if rows.sparse:
        return rows.x[:most], 2 * y - 1
    return rows.x[:most].assign(label=[f"label {label}" for label in y] if rows.labels else y)


def ours(spec: str, rows: Rows) -> Played:
    """Play a spec; for numbers, `-regression` is appended to its name."""
    import novikoff as nk

    class Chances(nk.Observer):
        """Stores the probability of each outcome."""

        def __init__(self) -> None:
            self.found: list[Any] = []

        def see(self, batch: Any, result: Any) -> None:
            if result.probabilities is not None:
                self.found.append(np.array(result.probabilities))

    if not rows.labels:
        name, colon, options = spec.partition(":")
        spec = f"{name}-regression{colon}{options}"
    table, seen = source(rows), Chances()
    if not rows.labels or len(np.unique(rows.y[:WARM])) > 1:
        nk.play(spec, source(rows, WARM)).certify()  # loads or compiles the loops
    start = time.process_time()
    ledger = nk.play(spec, table, observers=[seen], record=True)
    certificates = ledger.certify()
    seconds = time.process_time() - start
    loss = float(ledger.log_loss if rows.labels else ledger.loss)
    bounds = {
        status: [one.bound for one in certificates if one.status == status and np.isclose(one.observed, loss)]
        for status in ("valid", "conditional")
    }
    bound = min(bounds["valid"] or bounds["conditional"], default=None)
    said = np.concatenate(ledger.predictions)
    if not rows.labels:
        return Played(said, seconds, bound=bound, loss=loss)
    names = [0, 1] if rows.sparse else [int(name.split()[1]) for name in ledger.labels]
    if len(names) == 2 and said.min() < 0:  # labels -1 and +1
        said = np.where(said > 0, 1, 0)
    said = np.array([*names, -1])[said]
    if np.sum(said != rows.y) != ledger.mistakes:
        raise AssertionError(f"{spec}: {np.sum(said != rows.y)} errors are counted, the ledger has {ledger.mistakes}")
    if not seen.found:
        return Played(said, seconds, bound=bound)
    chances = np.concatenate(seen.found)
    scores = np.where(rows.y == 1, chances, 1.0 - chances) if rows.labels == 2 else None
    return Played(said, seconds, chances, scores, bound, loss)


# The list


@dataclass(frozen=True)
class Peer:
    """A peer: its player, and where and how often it plays.

    Attributes:
        play: Player.
        tasks: Tasks it can play.
        sparse: Whether it plays wide sparse rows.
        most: Most rows; longer streams are left out.
        slow: Whether it plays fewer orders of longer streams: 2 above 1,000 rows, 1 above 3,000.
        cost: Microseconds per row, for the time left while nothing was measured.
        applies: Further condition on the rows.
    """

    play: Callable[[Rows], Played]
    tasks: tuple[str, ...] = ("binary", "multiclass", "regression")
    sparse: bool = False
    most: int | None = None
    slow: bool = False
    cost: float = 100.0
    applies: Callable[[Rows], bool] = lambda rows: True

    def orders(self, rows: Rows, wanted: int) -> int:
        """Return the number of orders to play; 0 if the peer does not apply."""
        if rows.task not in self.tasks or (rows.sparse and not self.sparse) or not self.applies(rows):
            return 0
        if self.most is not None and len(rows.y) > self.most:
            return 0
        if rows.ordered:
            return min(1, wanted)
        return min(wanted, orders_of_slow(len(rows.y))) if self.slow else wanted


def orders_of_slow(rows: int) -> int:
    return 5 if rows <= 1_000 else 2 if rows <= 3_000 else 1


def part(function: Callable[..., Played], *arguments: Any, **options: Any) -> Callable[[Rows], Played]:
    return functools.partial(function, *arguments, **options)


LABELS = ("binary", "multiclass")
PEERS = {
    "frequencies": Peer(constant, sparse=True, cost=1),
    "VW": Peer(part(vw, ""), sparse=True, cost=12),
    "VW -q ::": Peer(part(vw, "-q ::"), cost=15, applies=lambda rows: rows.matrix().shape[1] <= WIDE),
    "River linear": Peer(part(river, river_linear), sparse=True, cost=50),
    "LightGBM": Peer(part(lightgbm, False), sparse=True, cost=200),
    "LightGBM + lags": Peer(part(lightgbm, True), cost=250, applies=lambda rows: rows.ordered),
    "scikit-learn SGD": Peer(sgd, sparse=True, slow=True, cost=800),
    "River HAT": Peer(part(river, river_tree), cost=120),
    "MOA SRP(10)": Peer(
        part(moa, "StreamingRandomPatches", {"ensemble_size": 10}), LABELS, slow=True, most=10_000, cost=900
    ),
    "River ARF(10)": Peer(part(river, river_forest), slow=True, cost=1500),
    "MOA ARF(30)": Peer(part(moa, "AdaptiveRandomForest", {"ensemble_size": 30}), slow=True, cost=2000),
    "River AMF(10)": Peer(part(river, river_mondrian, one_hot=True), slow=True, most=10_000, cost=1500),
    "MOA SGBT": Peer(part(moa, "StreamingGradientBoostedTrees", {}), ("binary",), slow=True, most=3_000, cost=5000),
}
"""Peers by name, quick ones first."""
