"""Samples of learners and cases of theorems, from the test files that declare them; streams that samples share.

A test file of a learner declares `SAMPLES = {name: [(spec, stream, refused), ...]}`: a spec, a function of noise and
seed that returns what `nk.play` takes (x and y, or a stream), and examples that must raise an error. The contracts in
test_every_learner.py, and tests of threads, model files, texts and attacks, play all of them. That of a theorem
declares `CASES` (cases.py), that of a format `FILES = {name: (content, options)}`, for data/test_every_stream.py.
"""

import importlib
import math
import re
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np

import novikoff as nk
from novikoff.core.registry import CATALOG
from novikoff.game import specs

HERE = Path(__file__).parent
ROUNDS = 300
NAN, INF = math.nan, math.inf


def index_stream(width, noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, width, ROUNDS)
    return x, flipped(np.where(x >= width // 3, 1, -1), noise, rng)


def point_stream(low, high, dim, noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(low, high + 1, (ROUNDS, dim))
    middle = (high - low) // 2
    inside = np.all((x >= low + 1) & (x <= low + 1 + middle), axis=1)
    return x, flipped(np.where(inside, 1, -1), noise, rng)


def grid_linear_stream(dim, noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (ROUNDS, dim))
    w = rng.integers(-2, 3, dim)
    return x, flipped(np.where(x @ w >= 0, 1, -1), noise, rng)


def margin_stream(dim, noise, seed):
    """Directions at least 0.35 from the plane of the target."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=dim)
    x = rng.normal(size=(8 * ROUNDS, dim))
    margins = x @ w / np.linalg.norm(w) / np.linalg.norm(x, axis=1)
    x, margins = x[np.abs(margins) > 0.35][:ROUNDS], margins[np.abs(margins) > 0.35][:ROUNDS]
    assert len(x) == ROUNDS
    return x, flipped(np.where(margins > 0, 1, -1), noise, rng)


def program_stream(noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (ROUNDS, 3)).astype(float)
    return x, flipped(np.where((x[:, 0] < x[:, 2]) & (x[:, 1] == 0), 1, -1), noise, rng)


def real_stream(noise, seed):
    rng = np.random.default_rng(seed)
    x = [Fraction(int(i), 997) for i in rng.integers(0, 997, ROUNDS)]
    y = np.array([1 if i >= Fraction(1, 3) else -1 for i in x])
    return x, flipped(y, noise, rng)


def box_stream(noise, seed):
    x, y = point_stream(0, 7, 2, noise, seed)
    return [tuple(Fraction(int(v), 3) for v in row) for row in x], y


def sparse_stream(noise, seed):
    x, y = margin_stream(4, noise, seed)
    rng = np.random.default_rng(seed)
    kept = [np.sort(rng.choice(4, rng.integers(0, 5), replace=False)).astype(np.uint32) for _ in x]
    return [(k, row[k]) for k, row in zip(kept, x, strict=True)], y


def named_stream(noise, seed):
    rows, y = sparse_stream(noise, seed)
    names = ["red", "green", "blue", "dark"]
    return [{names[i]: float(v) for i, v in zip(k, values, strict=True)} for k, values in rows], y


def many_stream(noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, ROUNDS)
    y = np.array([0, 1, 2, 0, 1])[x]
    return x, np.where(rng.random(ROUNDS) < noise, (y + 1) % 3, y)


def flipped(y, noise, rng):
    return np.where(rng.random(len(y)) < noise, -y, y)


def sparse_margin_stream(noise, seed):
    """Sparse rows with two features at least, normalised margin 0.2 at least; the last feature is in the first."""
    x, _ = margin_stream(4, 0.0, seed)
    rng = np.random.default_rng(seed)
    w = np.array([1.0, -1.0, 1.0, -1.0])
    rows, y = [], []
    while len(rows) < ROUNDS:
        row = x[rng.integers(len(x))]
        kept = np.sort(rng.choice(4, rng.integers(2, 5), replace=False)).astype(np.uint32)
        margin = row[kept] @ w[kept] / (2.0 * np.linalg.norm(row[kept]))
        if abs(margin) > 0.2 and (rows or 3 in kept):
            rows.append((kept, row[kept]))
            y.append(1 if margin > 0 else -1)
    return rows, flipped(np.array(y), noise, rng)


def named_margin_stream(noise, seed):
    rows, y = sparse_margin_stream(noise, seed)
    names = ["red", "green", "blue", "dark"]
    return [{names[i]: float(v) for i, v in zip(k, values, strict=True)} for k, values in rows], y


def number_stream(noise, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 3))
    return nk.RegressionArrays(x, x[:, 0] + noise * rng.normal(size=60))


def loss_stream(noise, seed, experts=4):
    return nk.Losses(np.random.default_rng(seed).random((60, experts)))


BAD_INDEX = [-1, 21, 2.5, NAN, INF, None, "a", [1, 2]]
BAD_PAIR = [[1], [1, 2, 3], [1, NAN], [INF, 1], ["a", "b"], None, 3]
BAD_POINT = [*BAD_PAIR, [1, 2.5]]
BAD_TRIPLE = [[1], [1, 2], [1, 2, NAN], [INF, 1, 1], ["a", "b", "c"], None, 3]
PLACES = np.array([0, 2], dtype=np.uint32)
BAD_SPARSE = [
    (PLACES, np.array([1.0])),
    (PLACES, np.array([1.0, NAN])),
    (PLACES, np.array([INF, 1.0])),
    (np.array([1, 1]), np.array([1.0, 2.0])),
    (np.array([-1, 1]), np.array([1.0, 2.0])),
    (np.array([0.5, 1]), np.array([1.0, 2.0])),
    (np.array([0, 2**40]), np.array([1.0, 2.0])),
    {"red": 1.0},
    [1.0, 2.0],
    None,
    "a",
]
BAD_NAMED = [
    {"red": NAN},
    {"red": INF, "new": 1.0},
    {"red": "a"},
    {"red": None},
    {3: 1.0},
    {"red": 1.0, 3: 1.0},
    [1.0],
    None,
]
MATRIX = "table:matrix=[[0,1,2,0,1],[0,1,2,0,0],[2,1,0,0,1],[1,1,1,1,1]]"

INDICES = (partial(index_stream, 21), BAD_INDEX)
POINTS = (partial(point_stream, 0, 7, 2), BAD_POINT)
PLANE = (partial(margin_stream, 2), BAD_PAIR)
VECTORS = (partial(margin_stream, 3), BAD_TRIPLE)
GRID = (partial(grid_linear_stream, 3), BAD_TRIPLE)
SPARSE = (sparse_stream, BAD_SPARSE)
NAMED = (named_stream, BAD_NAMED)
SPARSE_MARGIN = (sparse_margin_stream, BAD_SPARSE)
NAMED_MARGIN = (named_margin_stream, BAD_NAMED)
PROGRAMS = (program_stream, BAD_TRIPLE)
CLASSES = (many_stream, BAD_INDEX)
NUMBERS = (number_stream, BAD_TRIPLE)
LOSSES = (loss_stream, [0, "a"])


X = np.random.default_rng(0).integers(0, 9, (60, 3))
Y = np.where(X[:, 0] > 3, 1, -1)
"""Rows of the sample files of formats."""


def lines(write):
    """Return a sample file: a line for each row of X and Y."""
    return "".join(write(x.tolist(), y) + "\n" for x, y in zip(X, Y.tolist(), strict=True)).encode()


def collected(constant):
    """Merge the dicts of this name in the test files of all folders."""
    found = {}
    for path in sorted(HERE.glob("*/**/test_*.py")):
        if re.search(rf"^{constant} = {{", path.read_text(), re.MULTILINE):
            module = importlib.import_module(".".join(path.relative_to(HERE).with_suffix("").parts))
            declared = getattr(module, constant)
            assert not found.keys() & declared.keys(), f"{path.relative_to(HERE)}: another file declares the same name"
            found |= declared
    return found


@cache
def learner_samples():
    """Samples of every learner, in the order of the registry."""
    found = collected("SAMPLES")
    listed = [name for name, entry in CATALOG.items() if entry.room == "learner"]
    for name in listed:
        family, _, file = CATALOG[name].module.partition(".")
        where = f"tests/{family}/test_{file}.py"
        assert name in found, f'{name} has no samples: add SAMPLES = {{"{name}": [...]}} to {where} (tests/samples.py)'
    assert set(found) == set(listed), f"not in core/registry.py: {sorted(set(found) - set(listed))}"
    return {name: found[name] for name in listed}


def has_labels(spec):
    """Return whether a learner of this spec predicts labels."""
    return specs.task(specs.parse(spec)) in ("binary", "multiclass")


def examples(stream, noise, seed=0):
    """Return what to play: arrays, pairs, or the stream."""
    found = stream(noise, seed)
    if not isinstance(found, tuple):
        return found
    x, y = found
    return (x, y) if isinstance(x, np.ndarray) else list(zip(x, y.tolist(), strict=True))
