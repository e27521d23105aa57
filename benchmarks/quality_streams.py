"""Streams of the quality board: real tables, generated streams that drift, and streams that nobody tuned on.

A stream is a table of columns (numbers, and categories as text) or a sparse matrix, with its outcomes: 0 and 1, numbers
of labels, or real numbers. Rows with a missing value are left out, because River and MOA's learners have no use for
them. Streams without a meaningful order are shuffled by the seeds 0, 1, ...; the others are played as they come.

    NOVIKOFF_DATA   adult, elec, german, mushroom, rcv1, sms_spam, spambase, w1a and weather are read from this folder
    scikit-learn    breast cancer, diabetes, digits, iris, wine
    River           Bananas, ChickWeights, ImageSegments, Phishing, TrumpApproval, Shuttle, and all generators
    statsmodels     Affairs
    plotnine        diamonds
    pydataset       Benefits, Chile, Computers, HI, Hdma, NOxEmissions, Tuna, Wages, Yogurt

The files of the last three packages are read as they lie there; nothing of the packages is imported. A stream whose
source is absent is left out.
"""

import importlib.util
import os
import pathlib
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import loadmat
from scipy.sparse import csr_matrix, vstack

ROWS = 20_000
"""Rows of generated streams, and the most of a table that are played: the first of each order."""

Loaded = tuple[Any, Any]


@dataclass(frozen=True)
class Stream:
    """One stream: its task (binary, multiclass or regression), its loader, and whether its order is meaningful."""

    task: str
    load: Callable[[], Loaded]
    ordered: bool = False
    held_back: bool = False
    most: int | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of a stream in one order: a data frame or a sparse matrix, and outcomes (rows,)."""

    task: str
    x: Any
    y: Any
    ordered: bool = False

    @property
    def labels(self) -> int:
        """Number of labels; 0 for numbers."""
        return 0 if self.task == "regression" else int(self.y.max()) + 1

    @property
    def sparse(self) -> bool:
        return not isinstance(self.x, pd.DataFrame)

    @property
    def categories(self) -> list[str]:
        """Names of the columns with categories."""
        return [] if self.sparse else [name for name in self.x if not pd.api.types.is_numeric_dtype(self.x[name])]

    def matrix(self) -> Any:
        """Return the numbers and one column per category; the categories of all rows are known beforehand."""
        if self.sparse:
            return self.x
        names = self.categories
        parts = [self.x.drop(columns=names).to_numpy(float)]
        parts += [pd.get_dummies(self.x[name]).to_numpy(float) for name in names]
        return np.ascontiguousarray(np.hstack(parts))


def rows(name: str, order: int) -> Rows:
    """Return a stream in the order of a seed, or its own."""
    stream = STREAMS[name]
    x, y = stream.load()
    y = np.asarray(y, float) if stream.task == "regression" else numbered(y)
    if not stream.ordered:
        chosen = np.random.default_rng(order).permutation(len(y))
        x, y = x.iloc[chosen] if isinstance(x, pd.DataFrame) else x[chosen], y[chosen]
    if stream.most is not None:
        x, y = x[: stream.most], y[: stream.most]
    return Rows(stream.task, x.reset_index(drop=True) if isinstance(x, pd.DataFrame) else x, y, stream.ordered)


def numbered(y: Any) -> Any:
    """Return labels as 0, 1, ... in their sorted order."""
    return np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)


# Loaders


def folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("NOVIKOFF_DATA") or "data")


def frame(x: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(x, float)).add_prefix("x")


def table(path: str, label: Any, **options: Any) -> Loaded:
    found = pd.read_csv(folder() / path, **options)
    y = found.pop(label)
    return found.rename(columns=lambda name: f"x{name}" if isinstance(name, int) else name), y


def read(*names: str) -> Loaded:
    """Read files of a format that novikoff detects as one sparse matrix, without features that never occur."""
    import novikoff as nk

    xs, ys = [], []
    for name in names:
        for batch in nk.read(str(folder() / name)).batches():
            x = batch.x
            parts = (np.array(x.values, float), np.array(x.indices, np.int64), np.array(x.indptr, np.int64))
            xs.append(csr_matrix(parts, shape=(len(x), 2**18)))
            ys.append(np.array(batch.y))
    x = vstack(xs).tocsr()
    x = x[:, np.unique(x.indices)]
    x.sort_indices()
    return (frame(x.toarray()) if x.shape[1] <= 300 else x), np.concatenate(ys)


def german() -> Loaded:
    found = loadmat(folder() / "german" / "german.mat")["data"]
    return frame(found[:, 1:]), found[:, 0]


def bundled(name: str, y: Callable[[Any], Any] = lambda y: y) -> Loaded:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return frame(found.data), y(found.target)


def river(name: str) -> Loaded:
    from river import datasets

    return records(getattr(datasets, name)())


def records(found: Any) -> Loaded:
    found = list(found)
    x = pd.DataFrame([x for x, _ in found])
    numeric = [name for name in x if not pd.api.types.is_object_dtype(x[name])]
    return x.astype(dict.fromkeys(numeric, float)).add_prefix("x"), np.array([y for _, y in found])


def concepts(name: str, variants: Any, seed: int, **options: Any) -> Loaded:
    """Generate concepts one after the other, of equal length, with abrupt changes."""
    from river.datasets import synth

    parts = [
        getattr(synth, name)(**variant, seed=seed + number, **options).take(ROWS // len(variants))
        for number, variant in enumerate(variants)
    ]
    x, y = records(row for part in parts for row in part)
    return x, y.astype(int)


def generated(name: str, rows: int = ROWS, **options: Any) -> Loaded:
    from river.datasets import synth

    x, y = records(getattr(synth, name)(**options).take(rows))
    return x, y


def led() -> Loaded:
    from river.datasets import synth

    half = {"noise_percentage": 0.1, "irrelevant_features": True}
    parts = [synth.LEDDrift(seed=seed, n_drift_features=n, **half).take(ROWS // 2) for seed, n in ((4, 0), (5, 7))]
    return records(row for part in parts for row in part)


def packaged(package: str, path: str, **options: Any) -> pd.DataFrame:
    """Read a table from the files of a package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError(f"the package {package} is not installed")
    inside = pathlib.Path(found.submodule_search_locations[0])
    if package != "pydataset":
        return pd.read_csv(inside / path, **options)
    with tarfile.open(inside / "resources.tar.gz") as archive:
        return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0, **options)


def predicted(found: pd.DataFrame, label: str, drop: tuple[str, ...] = ()) -> Loaded:
    found = found.dropna().reset_index(drop=True)
    y = found.pop(label)
    return found.drop(columns=list(drop)), y


def affairs() -> Loaded:
    x, y = predicted(packaged("statsmodels", "datasets/fair/fair.csv"), "affairs")
    return x, y > 0


def variants(option: str, *values: Any) -> list[dict[str, Any]]:
    return [{option: value} for value in values]


def held_back(task: str, load: Callable[[], Loaded], ordered: bool = False, most: int | None = None) -> Stream:
    return Stream(task, load, ordered, True, most)


def ecdat(name: str, label: str, *drop: str) -> Callable[[], Loaded]:
    return lambda: predicted(packaged("pydataset", f"Ecdat/{name}"), label, drop)


MUSHROOM = ("mushroom_agaricus/agaricus.txt.train", "mushroom_agaricus/agaricus.txt.test")
RCV1 = ("rcv1_vw/rcv1_small.dat", "rcv1_vw/rcv1_small_test.data")
FUNCTION = "classification_function"
MOVING = {"seed_model": 3, "seed_sample": 3, "n_features": 10, "n_centroids": 30, "n_drift_centroids": 30}

STREAMS = {
    "adult": Stream("binary", lambda: table("adult/adult.csv", "label")),
    "elec": Stream("binary", lambda: table("elec/elec.csv", "label"), ordered=True),
    "weather": Stream("binary", lambda: table("weather_noaa/weather.csv", "target"), ordered=True),
    "spambase": Stream("binary", lambda: table("spambase/spambase.data", 57, header=None)),
    "german": Stream("binary", german),
    "mushroom": Stream("binary", lambda: read(*MUSHROOM)),
    "w1a": Stream("binary", lambda: read("w1a/w1a")),
    "sms_spam": Stream("binary", lambda: read("sms_spam/SMSSpamCollection")),
    "rcv1": Stream("binary", lambda: read(*RCV1)),
    "breast cancer": Stream("binary", lambda: bundled("breast_cancer")),
    "digits odd/even": Stream("binary", lambda: bundled("digits", lambda y: y % 2)),
    "Phishing": Stream("binary", lambda: river("Phishing")),
    "Bananas": Stream("binary", lambda: river("Bananas")),
    "SEA": Stream("binary", lambda: concepts("SEA", variants("variant", 0, 1, 2, 3), 10, noise=0.1), ordered=True),
    "Agrawal": Stream(
        "binary", lambda: concepts("Agrawal", variants(FUNCTION, 0, 3, 6, 1), 20, perturbation=0.05), ordered=True
    ),
    "Hyperplane": Stream(
        "binary",
        lambda: generated("Hyperplane", seed=5, n_drift_features=5, mag_change=0.001, noise_percentage=0.05),
        ordered=True,
    ),
    "RBF": Stream(
        "binary", lambda: generated("RandomRBFDrift", n_classes=2, change_speed=0.001, **MOVING), ordered=True
    ),
    "Sine": Stream(
        "binary", lambda: concepts("Sine", variants(FUNCTION, 0, 1, 2, 3), 40, has_noise=True), ordered=True
    ),
    "Mixed": Stream("binary", lambda: concepts("Mixed", variants(FUNCTION, *[0, 1] * 4), 50), ordered=True),
    "iris": Stream("multiclass", lambda: bundled("iris")),
    "wine": Stream("multiclass", lambda: bundled("wine")),
    "digits": Stream("multiclass", lambda: bundled("digits")),
    "ImageSegments": Stream("multiclass", lambda: river("ImageSegments")),
    "LED": Stream("multiclass", led, ordered=True),
    "diabetes": Stream("regression", lambda: bundled("diabetes")),
    "ChickWeights": Stream("regression", lambda: river("ChickWeights"), ordered=True),
    "TrumpApproval": Stream("regression", lambda: river("TrumpApproval"), ordered=True),
    "Friedman": Stream(
        "regression",
        lambda: generated("FriedmanDrift", 10_000, drift_type="gra", position=(3_500, 6_500), seed=7),
        ordered=True,
    ),
    "Affairs": held_back("binary", affairs),
    "Benefits": held_back("binary", ecdat("Benefits", "ui")),
    "HI": held_back("binary", ecdat("HI", "hhi", "hhi2"), most=ROWS),
    "Hdma": held_back("binary", ecdat("Hdma", "deny")),
    "Shuttle": held_back("binary", lambda: river("Shuttle"), ordered=True, most=ROWS),
    "Chile": held_back("multiclass", lambda: predicted(packaged("pydataset", "car/Chile"), "vote")),
    "Tuna": held_back("multiclass", ecdat("Tuna", "Tuna.choice", "Tuna.hid", "Tuna.id"), ordered=True),
    "Yogurt": held_back("multiclass", ecdat("Yogurt", "choice", "id"), ordered=True),
    "diamonds": held_back(
        "regression", lambda: predicted(packaged("plotnine", "data/diamonds.csv"), "price"), most=ROWS
    ),
    "Computers": held_back("regression", ecdat("Computers", "price"), ordered=True),
    "NOxEmissions": held_back(
        "regression", lambda: predicted(packaged("pydataset", "robustbase/NOxEmissions"), "LNOx"), ordered=True
    ),
    "Wages": held_back("regression", ecdat("Wages", "lwage")),
}
"""Streams by name; those held back were named before any learner was run on them, and nothing was chosen on them."""
