"""Streams included in the package: `demo(name)`, or "demo:name" as a source.

Generated streams are integers from the raw bits of PCG64, which numpy keeps stable; the others are real tables in
`datasets/` (sources and licences: LICENSE-datasets.md), shuffled with a fixed seed.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import Scalar
from novikoff.core.errors import SourceError, close
from novikoff.core.types import Domain
from novikoff.data.arrays import Arrays

TASTY = ((20, 75), (30, 85))
"""Hidden rectangle of `papayas`: colour from 20 to 75, softness from 30 to 85."""

THRESHOLD = 618_034
"""Hidden threshold of `thresholds`: the label is +1 from this value on."""

MONTHS = (-4, -3, 2, 8, 13, 17, 19, 18, 14, 8, 3, -2)
"""Mean temperature of each month of `snow`, in degrees Celsius."""
SNOW = (70, 5)
"""Hidden rule of `snow`: it snows from a humidity of 70 % plus 5 % per degree on."""


def demo(name: str) -> Arrays:
    """Return the demo stream with this name."""
    if name not in DEMOS:
        guess = close(name, DEMOS)
        raise SourceError(f"a demo must be one of {', '.join(DEMOS)}: got {name!r}.{' ' * bool(guess)}{guess}")
    return DEMOS[name](f"demo:{name}")


def papayas(name: str) -> Arrays:
    """2,000 papayas on a 101 x 101 grid of colour and softness; tasty inside a hidden rectangle."""
    x = integers(2_000 * 2, 101, seed=1).reshape(-1, 2)
    low, high = np.array(TASTY).T
    tasty = np.all((low <= x) & (x <= high), axis=1)
    return Arrays(x, np.where(tasty, "tasty", "not tasty"), name=name, features=("colour", "softness"))


def thresholds(name: str) -> Arrays:
    """1,000,000 whole numbers from 0 to 1,000,000; +1 from a hidden threshold on."""
    x = integers(1_000_000, 1_000_001, seed=2)
    stream = Arrays(x, np.where(x >= THRESHOLD, 1, -1), name=name)
    stream.domain = Domain("index", 1_000_001)
    return stream


def program(name: str) -> Arrays:
    """10,000 rows of four numbers 0, 1, 2; +1 where x[0] < x[2] and not x[1]."""
    x = integers(10_000 * 4, 3, seed=3).reshape(-1, 4)
    truth = (x[:, 0] < x[:, 2]) & (x[:, 1] == 0)
    return Arrays(x, np.where(truth, 1, -1), name=name, features=("x0", "x1", "x2", "x3"))


def snow(name: str) -> Arrays:
    """3,650 days in order, with temperature, humidity and wind; snow where the humidity is high for the temperature."""
    days = 3_650
    above, humidity, wind = (integers(days, below, seed) for below, seed in ((15, 7), (61, 8), (41, 9)))
    month = np.arange(days) % 365 * 12 // 365
    temperature, humidity = np.array(MONTHS)[month] + above - 7, humidity + 40
    base, slope = SNOW
    falls = humidity >= base + slope * temperature
    x = np.column_stack([temperature, humidity, wind])
    features = ("temperature (°C)", "humidity (%)", "wind (km/h)")
    return Arrays(x, np.where(falls, "snow", "no snow"), positive="snow", name=name, features=features)


def iris(name: str) -> Arrays:
    """150 irises, four lengths in cm; setosa against the others."""
    features, x, species = table("iris")
    x, species = shuffled(x, species, seed=4)
    return Arrays(x, species, positive="setosa", name=name, features=features)


def breast_cancer(name: str) -> Arrays:
    """569 tumours, 30 measurements of their cells; malignant against benign."""
    features, x, diagnosis = table("breast_cancer")
    x, diagnosis = shuffled(x, diagnosis, seed=5)
    return Arrays(x, diagnosis, positive="malignant", name=name, features=features)


def digits_even(name: str) -> Arrays:
    """1,797 handwritten digits of 8 x 8 pixels from 0 to 16; even against odd."""
    features, x, digit = table("digits")
    x, parity = shuffled(x.astype(np.int64), np.where(digit.astype(np.int64) % 2 == 0, "even", "odd"), seed=6)
    return Arrays(x, parity, positive="even", name=name, features=features)


DEMOS: Mapping[str, Callable[[str], Arrays]] = {
    "papayas": papayas,
    "thresholds": thresholds,
    "program": program,
    "iris": iris,
    "breast-cancer": breast_cancer,
    "digits-even": digits_even,
    "snow": snow,
}


def table(name: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.str_]]:
    """Read `datasets/NAME.csv.gz`: feature names, features and labels, in the order of the file."""
    packed = files("novikoff.data") / "datasets" / f"{name}.csv.gz"
    with packed.open("rb") as file, gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        (*features, _), *rows = csv.reader(text)
    cells = np.array(rows)
    return features, cells[:, :-1].astype(np.float64), cells[:, -1]


def integers(count: int, below: int, seed: int) -> NDArray[np.int64]:
    """Return `count` integers from 0 to below-1, uniform up to 2^-32."""
    bits = np.random.PCG64(seed).random_raw(count) >> np.uint64(32)
    return (bits * np.uint64(below) >> np.uint64(32)).astype(np.int64)


def shuffled(x: NDArray[np.float64], y: NDArray[Scalar], seed: int) -> tuple[NDArray[np.float64], NDArray[Scalar]]:
    """Return the rows in a random order that the seed fixes."""
    order = np.argsort(np.random.PCG64(seed).random_raw(len(y)), kind="stable")
    return x[order], y[order]
