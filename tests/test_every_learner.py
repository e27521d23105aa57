"""The contracts, over every learner in the catalog.

Each learner has samples here: specs, and a stream for its domain. A learner without one fails. A short run plays the
first sample of each learner at length, and so the first of each family on each kind of rows; the others for a while.
"""

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import ModelFileError
from novikoff.core.registry import CATALOG
from novikoff.game import ledger_state
from novikoff.game.specs import make
from novikoff.testing import check_certificate, check_learner

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

SAMPLES: dict[str, list[tuple[str, Any, list[Any]]]] = {
    "consistent": [
        ("consistent:[thresholds:n=20]", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("consistent:[thresholds:n=20],random=true,seed=5", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        (f"consistent:[{MATRIX}],random=true", many_stream, BAD_INDEX),
    ],
    "halving": [
        ("halving:[thresholds:n=20]", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("halving:[thresholds:n=20],conservative=true", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("halving:[rectangles:m=8,dim=2]", lambda q, s: point_stream(0, 7, 2, q, s), BAD_POINT),
        ("halving:[halfspaces:n=2,dim=3]", lambda q, s: grid_linear_stream(3, q, s), [*BAD_TRIPLE, [1, 2, 2.5]]),
        (
            "halving:[halfspaces:n=2,dim=3,distinct=true,bias=true]",
            lambda q, s: grid_linear_stream(3, q, s),
            BAD_TRIPLE,
        ),
        ("halving:[sphere-cover:dim=3,epsilon=0.3]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("halving:[programs:bits=16,width=3]", program_stream, BAD_TRIPLE),
        ("halving:[programs:bits=18,width=3],prior=length", program_stream, BAD_TRIPLE),
        ("halving:[programs:bits=16,width=3],prior=length,conservative=true", program_stream, BAD_TRIPLE),
        (f"halving:[{MATRIX}]", many_stream, BAD_INDEX),
        (f"halving:[{MATRIX}],prior=[1,2,3,4],conservative=true", many_stream, BAD_INDEX),
    ],
    "threshold-halving": [
        ("threshold-halving:n=20", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("threshold-halving:n=20,conservative=true", lambda q, s: index_stream(21, q, s), BAD_INDEX),
    ],
    "rectangle-halving": [
        ("rectangle-halving:m=8,dim=1", lambda q, s: point_stream(0, 7, 1, q, s), [[8], [-1], [1, 2], [NAN], None]),
        ("rectangle-halving:m=8,dim=2", lambda q, s: point_stream(0, 7, 2, q, s), BAD_POINT),
        ("rectangle-halving:m=5,dim=3,conservative=true", lambda q, s: point_stream(0, 4, 3, q, s), BAD_TRIPLE),
    ],
    "tightest-box": [
        ("tightest-box:dim=2,m=8", lambda q, s: point_stream(0, 7, 2, q, s), BAD_POINT),
        ("tightest-box:dim=2", box_stream, BAD_PAIR),
    ],
    "cover-halving": [
        ("cover-halving:dim=2", lambda q, s: margin_stream(2, q, s), BAD_PAIR),
        ("cover-halving:dim=3,conservative=true,largest=2000", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
    ],
    "ellipsoid": [
        ("ellipsoid", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid", lambda q, s: margin_stream(1, q, s), [[1, 2], [NAN], [INF], ["a"], None]),
        ("ellipsoid:bias=1,normalize=true", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid:bias=3,grid=3", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid:cuts=deep,width=3", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid:margin=0.1", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid", sparse_margin_stream, BAD_SPARSE),
        ("ellipsoid:bias=0.5,cuts=deep", sparse_margin_stream, BAD_SPARSE),
        ("ellipsoid:width=4", named_margin_stream, BAD_NAMED),
        ("ellipsoid:width=4,bias=1,normalize=true", named_margin_stream, BAD_NAMED),
    ],
    "perceptron": [
        ("perceptron", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:bias=1,normalize=true", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:bias=2", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:bias=0.5", sparse_stream, BAD_SPARSE),
        ("perceptron:normalize=true", sparse_stream, BAD_SPARSE),
        ("perceptron", named_stream, BAD_NAMED),
        ("perceptron:bias=1,normalize=true", named_stream, BAD_NAMED),
    ],
    "specialists": [
        ("specialists:[ftrl],block=16", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("specialists:[logistic:bias=0],block=50", sparse_stream, BAD_SPARSE),
        ("specialists:[ftrl:metric=newton],block=100", named_stream, BAD_NAMED),
    ],
    "auto": [
        ("auto", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("auto:fast=true", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("auto:bias=0", sparse_stream, BAD_SPARSE),
        ("auto:fast=true", named_stream, BAD_NAMED),
    ],
    "ftrl": [
        ("ftrl", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ftrl:newton,rate=0.5,bias=0", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("ftrl", sparse_stream, BAD_SPARSE),
        ("ftrl", named_stream, BAD_NAMED),
    ],
    "adagrad": [
        ("adagrad", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("adagrad:rate=4,bias=0", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("adagrad", sparse_stream, BAD_SPARSE),
        ("adagrad", named_stream, BAD_NAMED),
    ],
    "logistic": [
        ("logistic", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("logistic:ridge=1,radius=4,scale_free=false,bias=0", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("logistic", sparse_stream, BAD_SPARSE),
        ("logistic:ridge=0.01", named_stream, BAD_NAMED),
    ],
    "vaw": [
        ("vaw:probabilities=true", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("vaw:probabilities=true,scale_free=false", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("vaw:probabilities=true,bias=0", sparse_stream, BAD_SPARSE),
        ("vaw:probabilities=true", named_stream, BAD_NAMED),
    ],
    "second-order-perceptron": [
        ("second-order-perceptron", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("second-order-perceptron:diagonal=true", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("second-order-perceptron:scale_free=false,bias=0", sparse_stream, BAD_SPARSE),
        ("second-order-perceptron:diagonal=true", named_stream, BAD_NAMED),
    ],
    "arow": [
        ("arow", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("arow:diagonal=true", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("arow:ridge=0.1", sparse_stream, BAD_SPARSE),
        ("arow:diagonal=true,scale_free=false", named_stream, BAD_NAMED),
    ],
    "kernel-perceptron": [
        ("kernel-perceptron:gamma=0.5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("kernel-perceptron:linear,bias=2", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("kernel-perceptron:polynomial,degree=3,normalize_kernel=true", sparse_stream, BAD_SPARSE),
        ("kernel-perceptron:rbf,gamma=0.5,bias=1", named_stream, BAD_NAMED),
    ],
    "rbp": [
        ("rbp:budget=20,gamma=0.5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("rbp:budget=20,kernel=linear,seed=5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("rbp:budget=1,kernel=linear,bias=2", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("rbp:budget=7,kernel=polynomial,normalize_kernel=true", sparse_stream, BAD_SPARSE),
        ("rbp:budget=400,gamma=0.5", named_stream, BAD_NAMED),
    ],
    "forgetron": [
        ("forgetron:budget=20,gamma=0.5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("forgetron:budget=5,kernel=linear,radius=6,basic=true", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("forgetron:budget=90,kernel=linear,normalize_kernel=true", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("forgetron:budget=7,kernel=polynomial,normalize_kernel=true,bias=1", sparse_stream, BAD_SPARSE),
        ("forgetron:budget=1,gamma=0.5", named_stream, BAD_NAMED),
    ],
    "cks": [
        ("cks:budget=20,gamma=0.5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("cks:budget=none,kernel=linear,distill=true", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("cks:budget=9,kernel=linear,beta=0.5,distill=true", sparse_stream, BAD_SPARSE),
        ("cks:budget=1,gamma=0.5", named_stream, BAD_NAMED),
    ],
    "tighter": [
        ("tighter:budget=20,gamma=0.5", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("tighter:budget=5,kernel=linear,bias=2,beta=1", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("tighter:budget=7,kernel=polynomial,normalize_kernel=true", sparse_stream, BAD_SPARSE),
        ("tighter:budget=1,gamma=0.5", named_stream, BAD_NAMED),
    ],
    "scaled": [
        ("scaled:[perceptron:bias=1]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:bias=1,normalize=true,scale=range", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:bias=2,scale=standard", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("perceptron:scale=standard", sparse_stream, BAD_SPARSE),
        ("perceptron:bias=0.5,scale=range", named_stream, BAD_NAMED),
        ("perceptron:normalize=true,scale=standard", named_stream, BAD_NAMED),
        ("kernel-perceptron:gamma=0.5,scale=standard", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("kernel-perceptron:linear,bias=2,scale=range", sparse_stream, BAD_SPARSE),
        ("rbp:budget=20,gamma=0.5,scale=standard", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("forgetron:budget=20,gamma=0.5,scale=range", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid:bias=1,scale=standard", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("ellipsoid:width=4,scale=range", named_margin_stream, BAD_NAMED),
        (
            "hedge:learners=[[perceptron:bias=1],[rbp:budget=20]],scale=range",
            lambda q, s: margin_stream(3, q, s),
            BAD_TRIPLE,
        ),
    ],
    "conformal": [
        ("conformal:[ftrl],alpha=0.2", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[perceptron:bias=1,scale=standard],rule=quantile", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[ftrl],groups=0,rule=decaying,step=0.5", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[ftrl],groups=[0,2],step=0.5", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[perceptron],groups=0", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[arow],groups=2", sparse_stream, BAD_SPARSE),
        ("conformal:[perceptron:normalize=true],step=0.2", sparse_stream, BAD_SPARSE),
        ("conformal:[logistic],groups=red,step=0.5", named_stream, BAD_NAMED),
        ("conformal:[kernel-perceptron:gamma=0.5]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("conformal:[hedge:learners=[perceptron,[rbp:budget=20]]]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        (f"conformal:[halving:[{MATRIX}]],start=0", many_stream, BAD_INDEX),
        (f"conformal:[consistent:[{MATRIX}],random=true]", many_stream, BAD_INDEX),
    ],
    "weighted-majority": [
        ("weighted-majority:[thresholds:n=20],beta=0.25", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        (
            "weighted-majority:[thresholds:n=20],beta=0.9,conservative=true",
            lambda q, s: index_stream(21, q, s),
            BAD_INDEX,
        ),
        ("weighted-majority:[thresholds:n=20],beta=0", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("weighted-majority:[rectangles:m=8,dim=2]", lambda q, s: point_stream(0, 7, 2, q, s), BAD_POINT),
        ("weighted-majority:[halfspaces:n=2,dim=3]", lambda q, s: grid_linear_stream(3, q, s), BAD_TRIPLE),
        ("weighted-majority:[sphere-cover:dim=3,epsilon=0.3]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        ("weighted-majority:[programs:bits=12,width=3],prior=length", program_stream, BAD_TRIPLE),
        (f"weighted-majority:[{MATRIX}]", many_stream, BAD_INDEX),
        (f"weighted-majority:[{MATRIX}],prior=[1,2,3,4],beta=0.75,conservative=true", many_stream, BAD_INDEX),
    ],
    "exponential-weights": [
        ("exponential-weights:[thresholds:n=20]", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("exponential-weights:[thresholds:n=20],horizon=300,seed=5", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("exponential-weights:[programs:bits=12,width=3],rate=doubling,prior=length", program_stream, BAD_TRIPLE),
        (f"exponential-weights:[{MATRIX}],eta=0.3", many_stream, BAD_INDEX),
    ],
    "randomized-weighted-majority": [
        ("randomized-weighted-majority:[thresholds:n=20]", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        (f"randomized-weighted-majority:[{MATRIX}],beta=0.8,prior=[1,2,3,4]", many_stream, BAD_INDEX),
    ],
    "ada-hedge": [
        ("ada-hedge:[thresholds:n=20]", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        ("ada-hedge:[rectangles:m=8,dim=2],seed=3", lambda q, s: point_stream(0, 7, 2, q, s), BAD_POINT),
    ],
    "fixed-share": [
        ("fixed-share:[thresholds:n=20],switches=2,horizon=300", lambda q, s: index_stream(21, q, s), BAD_INDEX),
        (f"fixed-share:[{MATRIX}],switches=1,horizon=300,alpha=0.01,eta=0.5", many_stream, BAD_INDEX),
    ],
    "hedge": [
        ("hedge:learners=[perceptron,[rbp:budget=20,gamma=0.5]]", lambda q, s: margin_stream(3, q, s), BAD_TRIPLE),
        (
            "hedge:learners=[[perceptron:bias=1],ellipsoid,[kernel-perceptron:gamma=0.5]],horizon=300,seed=2",
            lambda q, s: margin_stream(3, q, s),
            BAD_TRIPLE,
        ),
        (
            "hedge:learners=[[consistent:[thresholds:n=20],random=true],[threshold-halving:n=20]],by=ada-hedge",
            lambda q, s: index_stream(21, q, s),
            BAD_INDEX,
        ),
        ("hedge:learners=[[perceptron:bias=0.5],[tighter:budget=7]]", sparse_stream, BAD_SPARSE),
        ("hedge:learners=[perceptron,[forgetron:budget=9,gamma=0.5]]", named_stream, BAD_NAMED),
    ],
    "midpoint": [("midpoint", real_stream, [NAN, INF, None, "a", [1, 2]])],
    "constant": [("constant", real_stream, []), ("constant:label=-1", real_stream, [])],
}
CASES = [(spec, stream, bad) for samples in SAMPLES.values() for spec, stream, bad in samples]
IDS = [f"{k}-{spec}" for k, (spec, _, _) in enumerate(CASES)]
every = pytest.mark.parametrize(("spec", "stream", "bad"), CASES, ids=IDS)
noisy = pytest.mark.parametrize(
    "noise",
    [pytest.param(0.0, marks=pytest.mark.slow, id="realizable"), pytest.param(0.1, id="noisy")],
)
"""Streams that a target explains are played by every learner below, which must keep its promise."""


def chosen():
    """The first sample of each learner, and the first of each family on each kind of rows."""
    seen, found = set(), set()
    kinds = [(name, id(bad)) for name, samples in SAMPLES.items() for _, _, bad in samples]
    for k, (name, rows) in enumerate(kinds):
        family = CATALOG[name].load().__mro__[-2]
        if not {name, (family, rows)} <= seen:
            found.add(k)
        seen |= {name, (family, rows)}
    return found


CHOSEN = chosen()


def samples(*noises):
    """Samples with some noise; those that are not chosen, and streams without noise where others have it, are slow."""
    for k, case in enumerate(CASES):
        for noise in noises:
            marks = [] if k in CHOSEN and noise == noises[-1] else pytest.mark.slow
            yield pytest.param(*case, noise, marks=marks, id=f"{'noisy' if noise else 'realizable'}-{IDS[k]}")


def examples(stream, noise, seed=0):
    """What to play on: arrays, or pairs of who knows what."""
    x, y = stream(noise, seed)
    return (x, y) if isinstance(x, np.ndarray) else list(zip(x, y.tolist(), strict=True))


PAYING = {"sleeping-experts", "online-gradient", "exp3-ix", "tsallis-inf", "exp4", "auto-regression"}
"""Learners that pay another loss than a mistake: test_every_forecaster.py, and files of their own in learners/."""


def test_every_learner_of_the_catalog_has_samples():
    assert set(SAMPLES) == {name for name, entry in CATALOG.items() if entry.room == "learner"} - PAYING


@pytest.mark.parametrize(("spec", "stream", "bad", "noise"), list(samples(0.0, 0.1)))
def test_every_contract_is_kept(spec, stream, bad, noise):
    check_learner(partial(make, spec, "learner"), examples(stream, noise), refused=bad)


@every
@noisy
@pytest.mark.parametrize("seeds", [[1], pytest.param(range(2, 8), marks=pytest.mark.slow)], ids=["once", "again"])
def test_no_certificate_is_ever_violated(spec, stream, bad, noise, seeds):
    for seed in seeds:
        for certificate in nk.play(make(spec, "learner"), examples(stream, noise, seed)).certify():
            check_certificate(certificate)
            assert certificate.status != "conditional"


# A target outside the class; or a budget so small, or a kernel so wide, that the bound is vacuous or void.
NOTHING_SAID = {
    "tightest-box:dim=2",
    "rbp:budget=1,kernel=linear,bias=2",
    "rbp:budget=7,kernel=polynomial,normalize_kernel=true",
    "forgetron:budget=7,kernel=polynomial,normalize_kernel=true,bias=1",
    "forgetron:budget=1,gamma=0.5",
    "cks:budget=20,gamma=0.5",
    "cks:budget=none,kernel=linear,distill=true",
    "cks:budget=9,kernel=linear,beta=0.5,distill=true",
    "cks:budget=1,gamma=0.5",
}


@pytest.mark.parametrize(("spec", "stream", "bad", "noise"), list(samples(0.0)))
def test_a_learner_that_promises_something_keeps_it_on_realizable_streams(spec, stream, bad, noise):
    learner, played = make(spec, "learner"), examples(stream, noise, 3)
    if isinstance(played, list):
        again = list(itertools.islice(itertools.cycle(played), 2000))
    else:
        again = tuple(np.resize(part, (2000, *part.shape[1:])) for part in played)
    found = nk.play(learner, again).certify()
    if not learner.promises:
        assert found == []
    elif spec in NOTHING_SAID:
        assert {certificate.status for certificate in found} <= {"vacuous", "void"}
    else:
        assert found[0].status == "valid", str(found[0])


def without_a_round(state, name):
    """The state of a learner with one round less, wherever it counts them."""
    if isinstance(state, dict):
        return {key: value - 1 if key == name and type(value) is int and value > 0 else without_a_round(value, name)
                for key, value in state.items()}  # fmt: skip
    return state


@every
def test_a_saved_game_that_contradicts_itself_is_refused(spec, stream, bad):
    ledger = nk.play(make(spec, "learner"), examples(stream, 0.1), rounds=40, record=True)
    state, learner = ledger_state.state_of(ledger), ledger.learner
    assert ledger_state.restore(state, learner).rounds == ledger.rounds == 40
    top = ledger.rounds + 1
    for change in (
        {"mistakes": top},
        {"positives": top},
        {"rounds": top},
        {"rounds": ledger.rounds - 1},
        {"passes": top + 1},
        {"seconds": -1.0},
        {"curve": state["curve"][:-1]},
        {"curve": [*state["curve"][:-1], [ledger.rounds, top]]},
        {"curve": [[t, ledger.mistakes + 1] for t, _ in state["curve"]]},
        {"predictions": state["predictions"][1:]},
        {"expected": (float(top), 0.0)},
        {"_next": top + 7},
    ):
        with pytest.raises(ModelFileError):
            ledger_state.restore({**state, **change}, learner)
    if "rounds" in state["before"]:
        shorter = type(learner).restore(without_a_round(learner.state(), "rounds"))
        with pytest.raises(ModelFileError):
            ledger_state.restore(state, shorter)
    for part, whole in (("survivors", "hypotheses"), ("weight", "whole")):
        if part in state["before"] and whole in state["before"]:
            with pytest.raises(ModelFileError):
                ledger_state.restore(
                    {**state, "before": {**state["before"], part: state["before"][whole] + 1}}, learner
                )
