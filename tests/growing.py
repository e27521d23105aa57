"""Short games of every learner, on rows whose features, labels and outcomes come late: for tests of model files.

The first rows are constant and narrow, and most of what a learner keeps is made later: whoever loads an early file must
make room again for what is to come. A learner that is not listed plays the rows of its first sample (samples.py).
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import novikoff as nk
import samples
from novikoff.core.types import Batch
from novikoff.data.as_stream import as_stream
from novikoff.game.specs import make

ROUNDS = 36
QUIET = ROUNDS // 3
"""Rounds at the beginning in which nothing but the first feature is seen, and no label but the first."""


class Growing(NamedTuple):
    """A learner's maker, and its rounds: pairs of x and y."""

    make: Callable[[], Any]
    rows: list[tuple[Any, Any]]

    @property
    def dense(self) -> bool:
        """Can these rounds be played as a batch of arrays?"""
        return isinstance(self.rows[0][0], np.ndarray)

    def batch(self, start: int, stop: int) -> Batch:
        """Rounds of arrays as one batch."""
        rows = self.rows[start:stop]
        return Batch(np.array([x for x, _ in rows]), np.array([y for _, y in rows]), start + 1)


def _table(width: int = 5) -> np.ndarray:
    rng = np.random.default_rng(7)
    x = np.round(rng.normal(size=(ROUNDS, width)), 2)
    x[:QUIET, 1:] = 0.0
    return x


def _signs(x: np.ndarray) -> list[int]:
    y = np.where(x @ np.arange(1, x.shape[1] + 1) + 0.3 * np.cos(np.arange(len(x))) >= 0.0, 1, -1)
    y[:QUIET] = 1
    y[QUIET] = -1
    return y.tolist()


def _dense() -> list[tuple[Any, Any]]:
    x = _table()
    return list(zip(x, _signs(x), strict=True))


def _sparse() -> list[tuple[Any, Any]]:
    """Places up to 300 in the end, beyond what matrices hold; some rows are empty."""
    x, rng = _table(), np.random.default_rng(3)
    rows: list[tuple[Any, Any]] = []
    for t, y in enumerate(_signs(x)):
        most = 1 if t < QUIET else 5 if t < 2 * QUIET else 300
        places = np.unique(rng.integers(0, most, 0 if t % 7 == 3 else 4)).astype(np.uint32)
        rows.append(((places, np.round(rng.normal(size=len(places)), 2)), y))
    return rows


def _with_names(rows: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [({f"w{k}": float(v) for k, v in zip(*row, strict=True)}, y) for row, y in rows]


def _whole_sparse() -> list[tuple[Any, Any]]:
    """Sparse rows of five features, the last one in the first row."""
    table = _table()
    table[0, -1] = 1.0
    whole = np.round(3.0 * table)
    places = [np.flatnonzero(row).astype(np.uint32) for row in whole]
    return [((used, row[used]), y) for used, row, y in zip(places, whole, _signs(table), strict=True)]


def _many(rows: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [(x, 0 if t < QUIET else t % 3 if t < 2 * QUIET else t % 6) for t, (x, _) in enumerate(rows)]


def _numbers(rows: list[tuple[Any, Any]], most: float = 20.0) -> list[tuple[Any, Any]]:
    """Outcomes, constant at first."""
    return [(x, 0.25 if t < QUIET else float(np.round(most * np.sin(t), 2))) for t, (x, _) in enumerate(rows)]


def _indices(width: int = 21) -> list[tuple[Any, Any]]:
    x = np.random.default_rng(5).integers(0, width, ROUNDS)
    return [(int(i), 1 if i >= width // 3 else -1) for i in x]


def _points(high: int, dim: int) -> list[tuple[Any, Any]]:
    x = np.random.default_rng(5).integers(0, high + 1, (ROUNDS, dim))
    return [(row, 1 if (row > high // 2).all() else -1) for row in x]


def _reals() -> list[tuple[Any, Any]]:
    return [(Fraction(i * 37 % 101, 101), 1 if i * 37 % 101 > 33 else -1) for i in range(ROUNDS)]


def _losses(arms: int = 3) -> list[tuple[Any, Any]]:
    return [(None, y) for y in np.random.default_rng(5).random((ROUNDS, arms))]


def _advice(experts: int = 3, asleep: bool = False) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(5)
    x = rng.random((ROUNDS, experts))
    if asleep:
        x[1:, 1][rng.random(ROUNDS - 1) < 0.5] = np.nan
    return list(zip(x, rng.random(ROUNDS).tolist(), strict=True))


def _contexts(arms: int = 2) -> list[tuple[Any, Any]]:
    return list(zip(_table(), np.random.default_rng(5).random((ROUNDS, arms)), strict=True))


def _advised(experts: int = 4, arms: int = 3) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(5)
    return list(zip(rng.integers(0, arms, (ROUNDS, experts)), rng.random((ROUNDS, arms)), strict=True))


LINEAR = (
    "perceptron", "perceptron:bias=1,normalize=true", "ftrl", "ftrl:newton,bias=0", "adagrad", "logistic",
    "logistic:scale_free=false,bias=0", "vaw:probabilities=true", "second-order-perceptron",
    "second-order-perceptron:diagonal=true", "arow", "arow:diagonal=true", "auto",
    "linear-mixture", "linear-mixture:fast=true",
    "specialists:[ftrl],block=8",
    "specialists:[linear-mixture],block=16", "kernel-perceptron:gamma=0.5",
    "kernel-perceptron:polynomial,normalize_kernel=true",
    "rbp:budget=3,gamma=0.5", "forgetron:budget=3,gamma=0.5", "cks:budget=3,gamma=0.5", "cks:budget=none,kernel=linear",
    "tighter:budget=3,gamma=0.5", "conformal:[logistic]", "conformal:[ftrl],rule=quantile",
    "hedge:learners=[[perceptron:bias=1],[logistic],[rbp:budget=3]]", "perceptron:scale=standard",
    "logistic:scale=range", "conformal:[arow:scale=standard],groups=0",
)  # fmt: skip
NUMBERS = (
    "auto-regression", "linear-mixture-regression", "linear-mixture-regression:bias=0",
    "vaw", "vaw:scale_free=false,bias=0", "adagrad:loss=squared",
    "online-gradient", "online-gradient:loss=absolute,bias=1", "online-gradient:low=-30,high=30,limit=10",
    "conformal:[vaw]", "conformal:[linear-mixture-regression],rule=quantile",
)  # fmt: skip
MANY = {
    "many perceptron": nk.MulticlassPerceptron,
    "many ftrl": nk.MulticlassFTRL,
    "many auto": nk.MulticlassAuto,
    "many linear mixture": nk.MulticlassLinearMixture,
    "many linear mixture fast": lambda: nk.MulticlassLinearMixture(fast=True),
    "many vaw": nk.MulticlassVAW,
    "many second-order-perceptron": nk.MulticlassSecondOrderPerceptron,
    "many logistic": nk.MulticlassLogistic,
    "many kernel-perceptron": lambda: nk.MulticlassKernelPerceptron(gamma=0.1),
    "many conformal": lambda: nk.Conformal(nk.MulticlassLogistic()),
}
MATRIX = "table:matrix=[[0,1,2,0,1],[0,1,2,0,0],[2,1,0,0,1],[1,1,1,1,1]]"
OTHERS: dict[str, Callable[[], list[tuple[Any, Any]]]] = {
    "consistent:[thresholds:n=20]": _indices,
    "consistent:[thresholds:n=20],random=true": _indices,
    "halving:[thresholds:n=20]": _indices,
    "halving:[rectangles:m=8,dim=2]": lambda: _points(7, 2),
    "halving:[halfspaces:n=2,dim=3]": lambda: _points(3, 3),
    "halving:[sphere-cover:dim=3,epsilon=0.3]": lambda: [(x[:3] + 0.1, y) for x, y in _dense()],
    "halving:[programs:bits=12,width=3]": lambda: _points(2, 3),
    f"halving:[{MATRIX}],prior=[1,2,3,4]": lambda: [(t % 5, t % 3) for t in range(ROUNDS)],
    "threshold-halving:n=20": _indices,
    "rectangle-halving:m=8,dim=2": lambda: _points(7, 2),
    "tightest-box:dim=2": lambda: _points(7, 2),
    "cover-halving:dim=2": lambda: [(x[:2] + 0.1, y) for x, y in _dense()],
    "ellipsoid": lambda: [(x + 0.1, y) for x, y in _dense()],
    "ellipsoid:bias=1,cuts=deep": _whole_sparse,
    "ellipsoid:width=5": lambda: _with_names(_whole_sparse()),
    "weighted-majority:[thresholds:n=20]": _indices,
    "weighted-majority:[thresholds:n=20],beta=0.9,conservative=true": _indices,
    "exponential-weights:[thresholds:n=20]": _indices,
    "exponential-weights:experts=3,loss=table": _losses,
    "exponential-weights:experts=3,loss=squared": _advice,
    "randomized-weighted-majority:[thresholds:n=20]": _indices,
    "ada-hedge:[thresholds:n=20]": _indices,
    "ada-hedge:experts=3,loss=absolute": _advice,
    "fixed-share:[thresholds:n=20],switches=2,horizon=36": _indices,
    "fixed-share:experts=3,loss=table,switches=1,horizon=36": _losses,
    "sleeping-experts:experts=3,loss=squared": lambda: _advice(asleep=True),
    "exp3-ix:3": _losses,
    "tsallis-inf:3": _losses,
    "exp4:3,experts=4": _advised,
    "midpoint": _reals,
    "constant": _reals,
}  # fmt: skip


KINDS = ("dense", "sparse", "named")
"""Kinds of rows, the last word in the name of a game that has them."""


def _games() -> dict[str, Growing]:
    def spec(given: str) -> Callable[[], Any]:
        return lambda: make(given, "learner")

    rows = dict(zip(KINDS, (_dense(), _sparse(), _with_names(_sparse())), strict=True))
    found = {}
    for kind, examples in rows.items():
        found |= {f"{given} {kind}": Growing(spec(given), examples) for given in LINEAR}
        limited = {given: _numbers(examples) for given in NUMBERS}
        found |= {f"{given} {kind}": Growing(spec(given), numbers) for given, numbers in limited.items()}
        found |= {f"{name} {kind}": Growing(maker, _many(examples)) for name, maker in MANY.items()}
    found |= {given: Growing(spec(given), examples()) for given, examples in OTHERS.items()}
    played = {given.partition(":")[0] for given in (*LINEAR, *NUMBERS, *OTHERS)}
    for name, ((given, stream, _), *_) in samples.learner_samples().items():
        if name not in played:
            source = as_stream(samples.examples(stream, 0.1), make(given, "learner"))
            pairs = [pair for batch in source.batches() for pair in batch.rows()]
            found[given] = Growing(spec(given), pairs[:ROUNDS])
    found["exp4 over learners"] = Growing(
        lambda: nk.Exp4(2, learners=[nk.Perceptron(bias=1.0), nk.Logistic()]), _contexts()
    )
    return found


GAMES: dict[str, Growing] = _games()


def shortly(games: Iterable[str]) -> set[str]:
    """Return the games of a short run: each learner plays one kind of rows, in turn."""
    forms: dict[str, list[str]] = {}
    for name in games:
        learner, _, kind = name.rpartition(" ")
        forms.setdefault(learner if kind in KINDS else name, []).append(name)
    return {names[number % len(names)] for number, names in enumerate(forms.values())}


def in_turn() -> Any:
    """Parametrise by every game; in a short run each learner plays one kind of rows, in turn."""
    short = shortly(GAMES)
    marks = {name: [] if name in short else [pytest.mark.slow] for name in GAMES}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks[name]) for name in GAMES])
