"""Attack on certificates: hostile rows, ways to play them, and the checks that every game has to pass.

A match is one learner on one kind of rows. It is played row by row first, with every prediction, score and probability
written down before the label is shown: this is the witness. The same rows are then played in every other way, and each
game must agree with the witness to the bit. What the ledger of the witness reports is computed a second time, from what
was written down, by code that shares nothing with the library.

Run it with bounds checking of compiled code by setting NUMBA_BOUNDSCHECK=1 and a NUMBA_CACHE_DIR of its own.
"""

import copy
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

import novikoff as nk
from helpers import same
from novikoff.core import registry
from novikoff.core.adapt import adapt
from novikoff.core.batch import weights_of_copies
from novikoff.core.errors import InputError
from novikoff.core.types import Sparse
from novikoff.data.as_stream import as_stream, for_learner
from novikoff.game.game import Game
from novikoff.game.specs import make
from samples import learner_samples

ROUNDS = 60
WIDTH = 4
LABELS = 3
EXPERTS = 6
ARMS = 3


# Rows: each function draws x, of shape (rounds, features).


def gaussian(rng, rounds=ROUNDS):
    return rng.normal(size=(rounds, WIDTH))


def distinct(rng, rounds=ROUNDS):
    """Independent draws of 20 rows: most of them come several times."""
    return gaussian(rng, 20)[rng.integers(0, 20, rounds)]


def repeated(rng, rounds=ROUNDS):
    """Each row three times in a row."""
    return np.repeat(gaussian(rng, rounds), 3, axis=0)[:rounds]


def constant(rng, rounds=ROUNDS):
    return np.tile(gaussian(rng, 1), (rounds, 1))


def zeros(rng, rounds=ROUNDS):
    """Rows of zeros, and a few that are not."""
    return gaussian(rng, rounds) * (rng.random((rounds, 1)) < 0.1)


def one_hot(rng, rounds=ROUNDS):
    return np.eye(12)[rng.integers(0, 12, rounds)]


def sparse(rng, rounds=ROUNDS):
    return rng.normal(size=(rounds, 15)) * (rng.random((rounds, 15)) < 0.15)


def wide(rng, rounds=ROUNDS):
    return rng.normal(size=(rounds, 40))


def huge(rng, rounds=ROUNDS):
    return 1e150 * rng.uniform(-1.0, 1.0, size=(rounds, WIDTH))


def tiny(rng, rounds=ROUNDS):
    return 1e-150 * gaussian(rng, rounds)


def mixed_scales(rng, rounds=ROUNDS):
    """Features from 1e-9 to 1e9, and one row in five longer by 1e7."""
    long = np.where(rng.random((rounds, 1)) < 0.2, 1e7, 1.0)
    return gaussian(rng, rounds) * 10.0 ** np.linspace(-9, 9, WIDTH) * long


def heavy_tails(rng, rounds=ROUNDS):
    return rng.standard_cauchy(size=(rounds, WIDTH)) ** 3


def growing(rng, rounds=ROUNDS):
    """Features that are zero at first: the last one comes at two thirds."""
    x = rng.normal(size=(rounds, 9))
    begins = np.linspace(0, 2 * rounds // 3, 9).astype(int)
    return np.where(np.arange(rounds)[:, None] >= begins, x, 0.0)


def missing(rng, rounds=ROUNDS):
    """Rows of which any feature may be missing, and some rows have none."""
    return rng.normal(size=(rounds, 6)) * (rng.random((rounds, 6)) < rng.random((rounds, 1)))


def grid(rng, rounds=ROUNDS):
    """Small whole numbers: scores of exactly 0 are frequent."""
    return rng.integers(-2, 3, size=(rounds, 3)).astype(float)


def with_margin(rng, rounds=ROUNDS):
    x = gaussian(rng, 20 * rounds)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x[np.abs(x[:, 0] - x[:, 1]) > 0.4][:rounds]


# Labels 0 .. k-1: each function is given the rows and k. None: chosen against the learner.


def linear(rng, x, k):
    """The largest of k linear scores: separable."""
    size = np.abs(x).max(axis=0, initial=0.0)
    unit = x / np.where(size > 0.0, size, 1.0)
    w = np.zeros((x.shape[1], k))
    w[0], w[min(1, x.shape[1] - 1)] = np.linspace(-1.0, 1.0, k), -np.linspace(-1.0, 1.0, k)
    return np.argmax(unit @ w + 0.2 * np.abs(np.arange(k) - (k - 1) / 2 < 0.6), axis=1)


def flipped(share):
    def labels(rng, x, k):
        y = linear(rng, x, k)
        return np.where(rng.random(len(y)) < share, (y + rng.integers(1, k, len(y))) % k, y)

    return labels


def one_label(rng, x, k):
    return np.full(len(x), rng.integers(0, k))


def alternating(rng, x, k):
    return np.arange(len(x)) % k


def in_order(rng, x, k):
    return np.sort(flipped(0.1)(rng, x, k))


def coins(rng, x, k):
    return rng.integers(0, k, len(x))


def a_coin_stage(rng, x, k):
    """Linear, then coin flips, then linear again."""
    third = len(x) // 3
    y = linear(rng, x, k)
    y[third : 2 * third] = rng.integers(0, k, third)
    return y


def flipped_late(rng, x, k):
    """Linear, but for one label at the end."""
    y = linear(rng, x, k)
    y[-3] = (y[-3] + 1) % k
    return y


KINDS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "distinct": (distinct, flipped(0.1)),
    "repeated": (repeated, flipped(0.1)),
    "constant": (constant, flipped(0.1)),
    "zeros": (zeros, flipped(0.1)),
    "one-hot": (one_hot, flipped(0.1)),
    "sparse": (sparse, flipped(0.1)),
    "wide": (wide, flipped(0.1)),
    "huge": (huge, flipped(0.1)),
    "tiny": (tiny, flipped(0.1)),
    "mixed scales": (mixed_scales, flipped(0.1)),
    "heavy tails": (heavy_tails, flipped(0.1)),
    "drift": (gaussian, a_coin_stage),
    "one label": (gaussian, one_label),
    "alternating": (gaussian, alternating),
    "adversarial": (gaussian, None),
    "sorted": (gaussian, in_order),
    "noise": (gaussian, coins),
    "separable": (with_margin, linear),
    "nearly separable": (with_margin, flipped(0.04)),
    "flipped late": (with_margin, flipped_late),
    "growing": (growing, flipped(0.1)),
    "missing": (missing, flipped(0.1)),
    "grid": (grid, linear),
}


# Learners: each family is a way to make an environment of rows and labels.


@dataclass(frozen=True)
class Family:
    """Examples of one domain.

    examples    of rows, the x of each round
    outcomes    of a generator, labels 0 .. k-1 and examples, the y of each round
    stream      of both, what `nk.play` takes
    labels      k
    answer      the worst y for a prediction, where labels are chosen against the learner
    vectors     x may be dense, sparse or named
    """

    examples: Callable[[Any], Any]
    outcomes: Callable[[Any, Any, Any], Any]
    stream: Callable[[Any, Any], Any]
    labels: int = 2
    answer: Callable[[Any], Any] | None = None
    vectors: bool = False


def signs(rng, labels, x):
    return np.where(labels > 0, 1, -1)


def steps(values, count):
    """Each column as whole numbers 0 .. count-1, in the order of its values."""
    ranks = [np.unique(column, return_inverse=True)[1] for column in values.T]
    return np.stack([rank * count // (int(rank.max(initial=0)) + 1) for rank in ranks], axis=1)


def columns(x, count):
    """The first columns, those missing filled by repetition."""
    return x[:, np.arange(count) % x.shape[1]]


def numbers(rng, labels, x):
    """Outcomes in five steps; with the scale of the rows, as far as outcomes may go."""
    size = float(np.clip(np.abs(x).max(initial=0.0), 1e-50, 1e50)) if np.abs(x).max(initial=0.0) else 1.0
    return (labels - 2.0) * (size if not 1e-6 < size < 1e6 else 1.0)


def advice(x):
    """Columns as probabilities."""
    return (steps(columns(x, EXPERTS), 9) + 1.0) / 10.0


def losses(rng, labels, x):
    table = steps(columns(x, EXPERTS), 5) / 4.0
    return np.where(labels[:, None] == np.arange(EXPERTS) % 2, table, 1.0 - table)


def pairs(x, y):
    return list(zip(x, np.asarray(y).tolist(), strict=True))


VECTORS = Family(lambda x: x, signs, lambda x, y: nk.Arrays(x, y), answer=lambda said: -said, vectors=True)
MANY = Family(lambda x: x, lambda rng, labels, x: labels, lambda x, y: nk.Arrays(x, y, multiclass=True), LABELS,
              lambda said: (said + 1) % LABELS, True)  # fmt: skip
NUMBERS = Family(lambda x: x, numbers, lambda x, y: nk.RegressionArrays(x, y), 5,
                 lambda said: 1.0 if said <= 0.0 else -1.0, True)  # fmt: skip
LINE = Family(lambda x: steps(x[:, :1], 21)[:, 0], signs, lambda x, y: nk.Arrays(x, y), answer=lambda said: -said)
CLASSES = Family(lambda x: steps(x[:, :1], 5)[:, 0], lambda rng, labels, x: labels,
                 lambda x, y: nk.Arrays(x, y, multiclass=3), 3, lambda said: (said + 1) % 3)  # fmt: skip
PLANE = Family(lambda x: steps(columns(x, 2), 8), signs, lambda x, y: nk.Arrays(x, y), answer=lambda said: -said)
SPACE = Family(lambda x: steps(columns(x, 3), 5) - 2, signs, lambda x, y: nk.Arrays(x, y), answer=lambda said: -said)
CELLS = Family(lambda x: steps(columns(x, 3), 3).astype(float), signs, lambda x, y: nk.Arrays(x, y),
               answer=lambda said: -said)  # fmt: skip
BALL = Family(lambda x: columns(x, 2), signs, lambda x, y: nk.Arrays(x, y), answer=lambda said: -said)
REALS = Family(lambda x: [Fraction(int(i), 41) for i in steps(x[:, :1], 40)[:, 0]], signs, pairs,
               answer=lambda said: -said)  # fmt: skip
ADVICE = Family(advice, lambda rng, labels, x: labels.astype(float), lambda x, y: nk.Advice(x, y),
                answer=lambda said: float(said < 0.5))  # fmt: skip
VOTES = Family(lambda x: np.round(advice(x)), ADVICE.outcomes, ADVICE.stream, answer=ADVICE.answer)
ASLEEP = Family(lambda x: np.where((advice(x) > 0.7) & (np.arange(EXPERTS) > 0), np.nan, advice(x)), ADVICE.outcomes,
                ADVICE.stream, answer=ADVICE.answer)  # fmt: skip
LOSSES = Family(lambda x: x, losses, lambda x, y: nk.Losses(y))
BANDIT = Family(lambda x: x, lambda rng, labels, x: losses(rng, labels, x)[:, :ARMS], lambda x, y: nk.Losses(y))
CONTEXTS = Family(lambda x: steps(columns(x, EXPERTS), ARMS), BANDIT.outcomes,
                  lambda x, y: nk.ContextualLosses(x, y, advice=True))  # fmt: skip

TABLE = "table:matrix=[[0,1,2,0,1],[0,1,2,0,0],[2,1,0,0,1],[1,1,1,1,1]]"

CHOSEN: dict[str, list[tuple[str, Family]]] = {
    "consistent": [
        ("consistent:[thresholds:n=20]", LINE),
        (f"consistent:[{TABLE}],random=true", CLASSES),
    ],
    "halving": [
        ("halving:[thresholds:n=20]", LINE),
        ("halving:[rectangles:m=8,dim=2],conservative=true", PLANE),
        ("halving:[programs:bits=16,width=3],prior=length", CELLS),
        (f"halving:[{TABLE}],prior=[1,2,3,4]", CLASSES),
    ],
    "threshold-halving": [("threshold-halving:n=20", LINE)],
    "rectangle-halving": [("rectangle-halving:m=8,dim=2", PLANE)],
    "tightest-box": [("tightest-box:dim=2,m=8", PLANE)],
    "cover-halving": [("cover-halving:dim=2,largest=2000", BALL)],
    "perceptron": [
        ("perceptron", VECTORS),
        ("perceptron:bias=1,normalize=true", VECTORS),
        ("perceptron", MANY),
    ],
    "ellipsoid": [("ellipsoid", VECTORS), ("ellipsoid:bias=1,cuts=deep,normalize=true", VECTORS)],
    "kernel-perceptron": [
        ("kernel-perceptron:gamma=0.5", VECTORS),
        ("kernel-perceptron:polynomial,degree=3,normalize_kernel=true", VECTORS),
        ("kernel-perceptron:linear,bias=2", VECTORS),
        ("kernel-perceptron:gamma=0.5", MANY),
    ],
    "rbp": [("rbp:budget=5,gamma=0.5", VECTORS), ("rbp:budget=400,kernel=linear,seed=5", VECTORS)],
    "forgetron": [
        ("forgetron:budget=7,gamma=0.5", VECTORS),
        ("forgetron:budget=90,kernel=linear,normalize_kernel=true", VECTORS),
    ],
    "cks": [
        ("cks:budget=9,kernel=linear,beta=0.5,distill=true", VECTORS),
        ("cks:budget=none,gamma=0.5,distill=true", VECTORS),
    ],
    "tighter": [("tighter:budget=5,gamma=0.5", VECTORS)],
    "scaled": [
        ("scaled:[perceptron:bias=1]", VECTORS),
        ("perceptron:normalize=true,scale=range", VECTORS),
        ("kernel-perceptron:gamma=0.5,scale=standard", VECTORS),
    ],
    "conformal": [
        ("conformal:[ftrl],alpha=0.2,step=0.5", VECTORS),
        ("conformal:[perceptron:bias=1],rule=quantile", VECTORS),
        ("conformal:[perceptron]", MANY),
        ("conformal:[vaw],rule=decaying", NUMBERS),
    ],
    "weighted-majority": [
        ("weighted-majority:[thresholds:n=20],beta=0.25", LINE),
        (f"weighted-majority:[{TABLE}],prior=[1,2,3,4],conservative=true", CLASSES),
    ],
    "randomized-weighted-majority": [
        ("randomized-weighted-majority:[thresholds:n=20]", LINE),
        (f"randomized-weighted-majority:experts={EXPERTS},loss=zero-one", VOTES),
    ],
    "exponential-weights": [
        ("exponential-weights:[thresholds:n=20]", LINE),
        (f"exponential-weights:experts={EXPERTS},loss=log", ADVICE),
        (f"exponential-weights:experts={EXPERTS},loss=squared,play=draw", ADVICE),
        (f"exponential-weights:experts={EXPERTS},loss=table,rate=doubling", LOSSES),
    ],
    "ada-hedge": [
        ("ada-hedge:[rectangles:m=8,dim=2],seed=3", PLANE),
        (f"ada-hedge:experts={EXPERTS},loss=table", LOSSES),
    ],
    "fixed-share": [
        ("fixed-share:[thresholds:n=20],switches=2,horizon=60", LINE),
        (f"fixed-share:switches=2,horizon=60,experts={EXPERTS},loss=absolute", ADVICE),
    ],
    "sleeping-experts": [
        (f"sleeping-experts:experts={EXPERTS},loss=squared", ASLEEP),
        (f"sleeping-experts:eta=0.3,experts={EXPERTS},loss=table", LOSSES),
    ],
    "hedge": [
        ("hedge:learners=[[perceptron:bias=1],[rbp:budget=5,gamma=0.5]]", VECTORS),
        ("hedge:learners=[[consistent:[thresholds:n=20],random=true],[threshold-halving:n=20]],by=ada-hedge", LINE),
        ("hedge:learners=[perceptron,[perceptron:bias=1]]", MANY),
    ],
    "specialists": [
        ("specialists:[ftrl],block=16", VECTORS),
        ("specialists:[logistic:bias=0],block=9", VECTORS),
    ],
    "auto": [("auto", VECTORS), ("auto:fast=true", VECTORS), ("auto", MANY)],
    "auto-regression": [("auto-regression", NUMBERS)],
    "linear-mixture": [("linear-mixture", VECTORS), ("linear-mixture", MANY)],
    "linear-mixture-regression": [("linear-mixture-regression", NUMBERS)],
    "ftrl": [("ftrl", VECTORS), ("ftrl:newton,rate=0.5,bias=0", VECTORS), ("ftrl", MANY)],
    "adagrad": [
        ("adagrad", VECTORS),
        ("adagrad:loss=pinball,tau=0.2", NUMBERS),
        ("adagrad:loss=huber,rate=4,bias=0", NUMBERS),
    ],
    "logistic": [
        ("logistic", VECTORS),
        ("logistic:ridge=1,radius=4,scale_free=false,bias=0", VECTORS),
        ("logistic", MANY),
    ],
    "vaw": [("vaw:probabilities=true", VECTORS), ("vaw", NUMBERS), ("vaw", MANY)],
    "second-order-perceptron": [
        ("second-order-perceptron", VECTORS),
        ("second-order-perceptron:diagonal=true,scale_free=false", VECTORS),
        ("second-order-perceptron", MANY),
    ],
    "arow": [("arow", VECTORS), ("arow:diagonal=true,scale_free=false", VECTORS)],
    "online-gradient": [
        ("online-gradient", NUMBERS),
        ("online-gradient:loss=absolute,low=-2,high=2,normalize=true,bias=1", NUMBERS),
    ],
    "exp3-ix": [(f"exp3-ix:arms={ARMS}", BANDIT)],
    "tsallis-inf": [(f"tsallis-inf:arms={ARMS}", BANDIT)],
    "ucb1": [(f"ucb1:arms={ARMS}", BANDIT)],
    "thompson": [(f"thompson:arms={ARMS}", BANDIT)],
    "explore-then-commit": [(f"explore-then-commit:arms={ARMS},horizon=100", BANDIT)],
    "exp4": [(f"exp4:arms={ARMS},experts={EXPERTS}", CONTEXTS)],
    "midpoint": [("midpoint", REALS)],
    "constant": [("constant", REALS)],
}
"""Settings to attack; a learner that is not listed plays as in its first sample (samples.py)."""


def family_of(learner):
    """The family for the task and the domain of a learner."""
    kind, width = learner.domain.kind, learner.domain.width
    if learner.task == "regression":
        return NUMBERS
    if kind == "losses":
        return Family(lambda x: x, lambda rng, labels, x: losses(rng, labels, x)[:, :width], lambda x, y: nk.Losses(y))
    if kind == "vector" and width is None:
        return VECTORS
    take = {
        "vector": lambda x: columns(x, width),
        "point": lambda x: steps(columns(x, width), 2),
        "index": lambda x: steps(x[:, :1], width)[:, 0],
    }
    if kind in take:
        return replace(BALL, examples=take[kind])
    return replace(ADVICE, examples=lambda x: advice(x)[:, :width]) if kind == "advice" else REALS


def attacked():
    """Every learner of the registry with its settings."""
    found = {}
    for name, samples in learner_samples().items():
        spec = samples[0][0]
        found[name] = [*CHOSEN.get(name, [(spec, family_of(make(spec, "learner")))])]
        if name in registry.MANY and all(family is not MANY for _, family in found[name]):
            found[name].append((name, MANY))
    return found


LEARNERS: dict[str, list[tuple[str, Family]]] = attacked()


# Matches


@dataclass
class Tally:
    """Counts of what was played: games by way, certificates by status, rounds refused."""

    games: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    refused: int = 0


@dataclass
class Match:
    """A learner on rows of one kind.

    new      makes the learner
    x, y     rounds in the learner's form: arrays, or lists of objects
    form     of vectors: "dense", "sparse" or "named"
    """

    spec: str
    family: Family
    new: Callable[[], Any]
    x: Any
    y: Any
    form: str
    tally: Tally

    @property
    def rounds(self) -> int:
        return len(self.y)

    def example(self, t):
        return self.x[t] if isinstance(self.x, list) else self.whole.example(t)

    def outcome(self, t):
        y = np.asarray(self.y)[t]
        return y if y.ndim else y.item()

    @cached_property
    def whole(self):
        """All rounds as a batch in the learner's labels."""
        learner = self.new()
        stream = as_stream(self.stream(), learner)
        numbering = Game(learner).numbering
        (batch,) = [for_learner(one, stream, adapt(learner), numbering) for one in stream.batches()]
        return batch

    def batch(self, start=0, stop=None):
        """Rounds as a batch in the learner's labels; sparse rows are as wide as the widest up to there."""
        stop = self.rounds if stop is None else stop
        if self.form == "sparse":
            rows = Sparse.of_rows(self.x[start:stop], width_of(self.x[:stop]))
            return nk.Batch(rows, self.y[start:stop], start + 1)
        if isinstance(self.x, list):
            return nk.Batch(self.x[start:stop], self.y[start:stop], start + 1)
        return self.whole.part(start, stop)

    def stream(self, start=0, stop=None):
        """Rounds as an environment for `nk.play`."""
        stop = self.rounds if stop is None else stop
        x, y = self.x[start:stop], self.y[start:stop]
        if self.form == "dense":
            return self.family.stream(x, y)
        if self.family is NUMBERS:
            return pairs(x, y)
        return nk.Pairs(pairs(x, y), multiclass=True) if self.family is MANY else nk.Pairs(pairs(x, y))

    def cut(self, rounds):
        self.x, self.y = self.x[:rounds], self.y[:rounds]
        self.__dict__.pop("whole", None)


def match(spec, family, kind, seed, tally=None, form=None, rounds=None):
    """Rows of a kind for a learner; labels are numbered in the order in which they first come."""
    rng = np.random.default_rng([seed, *spec.encode(), *kind.encode()])
    rounds = rounds or int(rng.integers(ROUNDS // 2, ROUNDS + 1))
    rows, labels = KINDS[kind]
    new = partial(make, spec, "learner", multiclass=family is MANY)
    x = rows(rng, rounds)
    examples = family.examples(x)
    form = form or {"growing": "sparse", "missing": "named"}.get(kind, "dense") if family.vectors else "dense"
    if form == "sparse":
        examples = [(np.flatnonzero(row).astype(np.uint32), row[np.flatnonzero(row)]) for row in x]
    elif form == "named":
        examples = [{f"f{i}": float(row[i]) for i in np.flatnonzero(row)} for row in x]
    if labels is not None or family.answer is None:
        labels = (labels or alternating)(rng, x, family.labels)
        y = family.outcomes(rng, first_come(labels) if family is MANY else labels, x)
    else:
        y = against(new(), examples, family)
    return Match(spec, family, new, examples, np.asarray(y), form, tally or Tally())


def width_of(rows):
    """One more than the largest index of sparse rows."""
    return max((int(indices[-1]) + 1 for indices, _ in rows if len(indices)), default=1)


def first_come(labels):
    """Labels numbered in the order in which they first come."""
    known = list(dict.fromkeys(labels.tolist()))
    return np.array([known.index(label) for label in labels.tolist()])


def against(learner, examples, family):
    """Outcomes that contradict every prediction of this learner; None before it knows a label."""
    y, known = [], 0
    for x in examples:
        worst = 0
        try:
            said = 0 if learner.labels == 0 else learner.predict_one(x)
            worst = min(family.answer(said), known) if family is MANY else family.answer(said)
            known += worst == known
            learner.learn_one(x, worst)
        except InputError:  # the witness is refused the same round
            y += [worst] * (len(examples) - len(y))
            break
        y.append(worst)
    return y


# Checks


def check_certificates(ledger, tally, **more):
    """No certificate may be violated, contradict itself, or rest on what is not a number."""
    found = ledger.certify(**more)
    for one in found:
        tally.statuses[one.status] += 1
        assert one.status in ("valid", "conditional", "vacuous", "void"), str(one)
        if one.status == "void":
            assert one.bound is None, str(one)
            assert one.reason, str(one)
            continue
        assert one.bound is not None, str(one)
        assert not math.isnan(one.bound), str(one)
        assert math.isfinite(one.observed), str(one)
        above = one.observed > one.bound if one.side == "upper" else one.observed < one.bound
        assert one.kind != "D" or not above, str(one)
        vacuous = one.bound >= one.trivial if one.side == "upper" else one.bound <= one.trivial
        assert vacuous == (one.status == "vacuous"), str(one)
        assert all(assumption.standing != "refuted" for assumption in one.assumptions), str(one)
    for member in ledger.members:
        check_certificates(member, tally, **more)
    return found


@dataclass
class Witness:
    """A game played row by row, and what was written down before each label."""

    ledger: Any
    said: list[Any] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    chances: list[Any] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    certificates: list[str] = field(default_factory=list)


def witness(match):
    """Play row by row; rounds that the learner refuses end the match there."""
    game = new_game(match.new())
    learner, player, found = game.learner, game.player, Witness(game.ledger)
    looks = {0, 1, 2, match.rounds // 2}
    for t in range(match.rounds):
        x, y = match.example(t), match.outcome(t)
        try:
            asked = predicted(player, x)
            if t in looks:
                check_certificates(game.ledger, match.tally)
                before = copy.deepcopy(learner.state())
                assert repr(asked) == repr(predicted(player, x)), f"asking twice gives two answers in round {t + 1}"
                assert same(learner.state(), before), f"asking changes the learner in round {t + 1}"
            game.learn_one(x, y)
        except InputError:
            match.tally.refused += 1
            match.cut(t)
            break
        said, score, chances, held = asked
        found.said.append(said)
        found.scores.append(score)
        found.chances.append(chances)
        found.held.append(None if held is None else (held[0] <= y <= held[-1] if held and player.task == "regression"
                                                     else y in held))  # fmt: skip
    found.certificates = [str(one) for one in check_certificates(game.ledger, match.tally, fixed=False)]
    check_metrics(match, found)
    match.tally.games["rows"] += 1
    return found


def predicted(player, x):
    """The prediction of x, and the score, probabilities and set beside it, where there are any."""
    learner = player.original
    if player.numbered and not learner.labels:
        return None, None, np.zeros(0) if player.probable else None, None
    said = learner.predict_one(x)
    scored = player.scores and player.tells_scores and player.task != "regression" and learner.labels is None
    score = learner.score_one(x) if scored else None
    chances = None
    if player.probable:
        chances = learner.probabilities_one(x) if player.numbered else learner.probability_one(x)
    return said, score, chances, learner.predict_set(x) if player.covers else None


def new_game(learner):
    """A game that remembers every prediction."""
    game = Game(learner)
    game.ledger.predictions = []
    return game


def check_metrics(match, found, weights=None):
    """What the ledger reports is what follows from the predictions that were written down.

    weights   of the rows, whole numbers: each was predicted once, and counts so often
    """
    ledger, rounds = found.ledger, match.rounds
    copies = np.arange(rounds) if weights is None else np.repeat(np.arange(rounds), weights)
    counted = ledger if weights is None or (weights == 1).all() else ledger.weighted
    y = np.asarray(match.y)
    assert counted.rounds == len(copies)
    if not len(copies):
        return
    said = np.asarray([0 if one is None else one for one in found.said])
    if weights is None:
        assert ledger.recorded().tolist() == said.tolist(), "recorded predictions are not those that were made"
    if ledger.counts and y.ndim == 1:
        check_counts(ledger, counted, said[copies], y[copies])
        first = 1 if ledger.learner.labels is None else 0
        rows = np.unique(copies)
        changed = np.append(first, y[rows][:-1]) != y[rows]
        assert ledger.last_label == sum(changed if weights is None else changed * weights[rows]), "last label"
    elif ledger.player.task == "regression" and y.ndim == 1:
        check_errors(ledger, counted, said[copies].astype(float), y[copies])
    if ledger.player.probable:
        check_probabilities(counted, [found.chances[t] for t in copies], y[copies])
    if all(found.scores[t] is not None for t in copies):
        check_area(ledger, np.array([found.scores[t] for t in copies]), y[copies])
    if ledger.coverage is not None and weights is None and all(held is not None for held in found.held):
        assert ledger.coverage.missed == found.held.count(False), "sets that missed are not counted"


def check_counts(ledger, counted, said, y):
    wrong = said != y
    assert counted.mistakes == wrong.sum(), (counted.mistakes, wrong.sum())
    assert ledger.mistake_rate == wrong.sum() / len(y)
    assert [list(point) for point in counted.curve] == [[t, int(wrong[:t].sum())] for t, _ in counted.curve]
    counts = Counter(y.tolist())
    assert ledger.best_constant.costs == len(y) - max(counts.values())
    if ledger.learner.labels is None and ledger.player.learns_labels:
        right, says, shown = ((said == 1) & (y == 1)).sum(), (said == 1).sum(), (y == 1).sum()
        assert counted.positives == shown
        assert ledger.precision == (right / says if says else None)
        assert ledger.recall == (right / shown if shown else None)
        assert ledger.confusion.table == [[int(((said == j) & (y == i)).sum()) for j in (-1, 1)] for i in (-1, 1)]


def check_errors(ledger, counted, said, y):
    with np.errstate(over="ignore", under="ignore"):
        gaps = np.abs(said - y)
        assert math.isclose(ledger.mae, math.fsum(gaps / len(y)), rel_tol=1e-9)
        if ledger.player.loss == "squared":
            assert math.isclose(counted.loss, math.fsum(gaps * gaps), rel_tol=1e-9, abs_tol=1e-300)
            size = np.abs(y).max() or 1.0
            mean = math.fsum(y / size) / len(y)
            costs = math.fsum((y / size - mean) ** 2)
            assert math.isclose(ledger.best_constant.costs / size / size, costs, rel_tol=1e-6, abs_tol=1e-9)
        elif ledger.player.loss == "absolute":
            assert math.isclose(counted.loss, math.fsum(gaps), rel_tol=1e-9)


def check_probabilities(counted, chances, y):
    """Sums of -ln P(y) and of squared errors, within what the rounding of 1 - P can do."""
    low = high = brier = 0.0
    for chance, label in zip(chances, y.tolist(), strict=True):
        if counted.player.numbered:
            chance = np.append(chance, 0.0) if label == len(chance) else np.asarray(chance)
            rest = max(0.0, 1.0 - math.fsum(chance))
            p = float(chance[label]) if label < len(chance) - (chance[-1] == 0.0) else rest
            assert np.all(chance >= 0.0), "a probability is negative"
            assert math.fsum(chance) <= 1.0 + 1e-9, "probabilities sum to more than 1"
            if label == len(chance) - 1 and chance[-1] == 0.0:
                high = math.inf  # the probability of a new label is not reported
                continue
            brier += sum((float(p) - (k == label)) ** 2 for k, p in enumerate(chance))
        else:
            assert 0.0 <= chance <= 1.0, "a probability is outside [0, 1]"
            p = chance if label == 1 else 1.0 - chance
            brier += (1.0 - p) ** 2
        low += -math.log(min(p + 2.0**-50, 1.0))
        high += -math.log(p - 2.0**-50) if p > 2.0**-50 else math.inf
    assert low * (1.0 - 1e-9) - 1e-9 <= counted.log_loss <= high * (1.0 + 1e-9) + 1e-9, (low, counted.log_loss, high)
    if not counted.player.numbered:
        assert math.isclose(counted.brier, brier, rel_tol=1e-9, abs_tol=1e-9), (counted.brier, brier)


def exact_area(scores, y):
    """The share of pairs in the right order, as a fraction; None if a label never came."""
    up, down = scores[y == 1], scores[y != 1]
    if not len(up) or not len(down):
        return None
    above = (up[:, None] > down).sum() + 0.5 * (up[:, None] == down).sum()
    return Fraction(float(above)) / (len(up) * len(down))


def check_area(ledger, scores, y):
    wanted = exact_area(np.where(np.isnan(scores), 0.0, scores), y)
    assert (ledger.auc is None) == (wanted is None)
    if wanted is not None:
        assert ledger.auc.low <= float(wanted) <= ledger.auc.high, (ledger.auc, float(wanted))


COUNTED = ("rounds", "mistakes", "positives", "loss", "expected", "log_loss", "brier", "mae", "rmse", "r2", "precision",
           "recall", "f1", "auc", "confusion", "best_constant", "last_label", "curve", "calibration")  # fmt: skip


OF_SERVED = ("mae", "rmse", "r2", "precision", "recall", "f1", "auc", "confusion")
"""Rates that are those of served predictions if labels are late."""


def check_same(ledger, wanted, but=()):
    """Two games are one: predictions, state, and all that is counted but for some names."""
    assert ledger.recorded().tolist() == wanted.recorded().tolist(), "predictions differ"
    for name in (one for one in COUNTED if one not in but):
        left, right = getattr(ledger, name), getattr(wanted, name)
        assert left == right, f"{name} differs: {left} and {right}"
    assert same(ledger.learner.state(), wanted.learner.state()), "states differ"
    assert ledger.learner.facts() == wanted.learner.facts(), "facts differ"


# Ways to play


def in_pieces(match, rng, game=None, start=0, stop=None, between=None):
    """Rounds in batches of random sizes, some of them row by row."""
    game, stop = game or new_game(match.new()), match.rounds if stop is None else stop
    while start < stop:
        end = min(stop, start + int(rng.choice([1, 2, 7, 30])))
        if rng.random() < 0.3:
            for t in range(start, end):
                game.learn_one(match.example(t), match.outcome(t))
        else:
            game.learn_batch(match.batch(start, end))
        start = end
        if between is not None and start < stop:
            between(game, start)
    return game.ledger


def reloaded(ledger):
    """The ledger, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        nk.save(ledger, Path(folder) / "model.nk")
        return nk.load(Path(folder) / "model.nk")


def batch(match, found, rng):
    """All rounds at once."""
    game = new_game(match.new())
    game.learn_batch(match.batch())
    return game.ledger


def pieces(match, found, rng):
    return in_pieces(match, rng)


def saved_early(match, found, rng):
    """Saved and loaded after rounds 0, 1 and 2."""
    ledger = new_game(match.new()).ledger
    for start in range(min(3, match.rounds)):
        ledger = reloaded(ledger)
        ledger.predictions = [] if ledger.predictions is None else ledger.predictions
        in_pieces(match, rng, Game(ledger.learner, ledger), start, start + 1)
    return in_pieces(match, rng, Game(ledger.learner, ledger), min(3, match.rounds))


def saved(match, found, rng):
    """Saved and loaded at random rounds."""
    ledger, cuts = new_game(match.new()).ledger, np.sort(rng.integers(0, match.rounds + 1, 3))
    for start, stop in zip([0, *cuts], [*cuts, match.rounds], strict=True):
        in_pieces(match, rng, Game(ledger.learner, ledger), int(start), int(stop))
        ledger = reloaded(ledger)
    return ledger


def threads(match, found, rng):
    """Between pieces, four threads predict the rows to come: all must answer what one thread answers."""

    def between(game, start):
        rest = match.batch(start, match.rounds)
        answers = partial(answered, game.player, rest)
        alone = answers(0)
        with ThreadPoolExecutor(4) as pool:
            for one in pool.map(answers, range(8)):
                assert same(one, alone), f"threads give other answers than one alone after round {start}"

    return in_pieces(match, rng, between=between)


def answered(player, rest, _):
    if player.numbered and not player.original.labels:
        return []
    found = [player.predict_many(rest)]
    if player.scores_rows and player.task != "regression" and player.learns_labels:
        found.append(player.scores_many(rest))
    if player.probable and player.has("probabilities_one" if player.numbered else "probability_one"):
        found.append(player.probabilities_many(rest))
    return found


def meanwhile(match, found, rng):
    """A thread predicts, without a pause, while the game goes on: the game is not disturbed."""
    game, done = new_game(match.new()), [False]
    last = match.example(match.rounds - 1)

    def ask():
        asked = 0
        while not done[0] or not asked:
            if game.ledger.rounds:
                game.learner.predict_one(last)
            asked += 1
            time.sleep(2e-4)

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            in_pieces(match, rng, game)
        finally:
            done[0] = True
        asking.result()
    return game.ledger


def resumed(match, found, rng):
    """`play` stopped at a random round, saved, loaded and resumed."""
    stop = int(rng.integers(0, match.rounds + 1))
    ledger = reloaded(nk.play(match.new(), match.stream(), rounds=stop, record=True))
    ledger.predictions = [] if ledger.predictions is None else ledger.predictions
    return nk.play(ledger.learner, match.stream(), ledger=ledger, resume=True)


def passes(match, found, rng):
    """Three passes are the same rows three times."""
    ledger = nk.play(match.new(), match.stream(), passes=3, record=True)
    game = new_game(match.new())
    for _ in range(3):
        in_pieces(match, rng, game)
    check_certificates(ledger, match.tally)
    check_same(ledger, game.ledger)


def other_form(match, found, rng):
    """Dense rows as sparse ones, and the other way round; some learners see arrays with other features, or centred."""
    centred = any(word in match.spec for word in ("auto", "linear-mixture", "scale=standard", "scaled"))
    if not match.family.vectors or match.form == "named" or centred:
        return pieces(match, found, rng)
    twin = replace(match)
    if match.form == "dense":
        twin.form = "sparse"
        twin.x = [(np.flatnonzero(row).astype(np.uint32), row[np.flatnonzero(row)]) for row in match.x]
    else:
        twin.form, twin.x = "dense", Sparse.of_rows(match.x, width_of(match.x)).dense()
    try:
        ledger = in_pieces(twin, rng)
    except InputError:  # sparse rows grow wider than the first: an ellipsoid has its width from that
        match.tally.refused += 1
        return None
    check_certificates(ledger, match.tally)
    said, wanted = ledger.recorded(), found.ledger.recorded()
    alike = np.allclose(said, wanted, rtol=1e-6) if match.family is NUMBERS else np.array_equal(said, wanted)
    assert alike, "predictions of dense and sparse rows differ"
    return None


def late(match, found, rng):
    """Labels by id: late, out of order, some never. The game is that of the arrivals, in their order."""
    if match.family in (LOSSES, BANDIT, CONTEXTS):
        return pieces(match, found, rng)
    game = new_game(match.new())
    waiting, served, arrived = [], {}, []

    def arrive(t):
        arrived.append(t)
        told = game.learn_one(f"id {t}", match.outcome(t))
        assert game.find(f"id {t}").repeated
        return told

    try:
        for t in range(match.rounds):
            served[t] = game.predict_one(match.example(t), id=f"id {t}")
            waiting.append(t)
            while waiting and rng.random() < 0.45:
                arrive(waiting.pop(int(rng.integers(len(waiting)))))
        for t in list(rng.permutation(waiting))[: len(waiting) * 3 // 4]:
            arrive(int(t))
    except InputError:  # in this order a row is refused: a narrow one came first
        match.tally.refused += 1
        check_certificates(game.ledger, match.tally)
        return None
    ledger = game.ledger
    check_certificates(ledger, match.tally)
    again = new_game(match.new())
    for t in arrived:
        again.learn_one(match.example(t), match.outcome(t))
    check_same(ledger, again.ledger, OF_SERVED)
    if ledger.late is None:
        assert match.rounds == 0
        return None
    assert (ledger.late.predicted, ledger.late.labelled) == (match.rounds, len(arrived))
    if ledger.counts:
        wrong = sum(served[t] != match.outcome(t) for t in arrived)
        assert ledger.late.mistakes == ledger.metrics.mistakes == wrong, "late mistakes"
    if match.family is not REALS:  # fractions that wait cannot be saved
        check_certificates(reloaded(ledger), match.tally)
    return None


ONE_ROW = ("auto", "forest", "linear-mixture-regression")
"""Learners to which the rounds of a weighted row are one row: tests/mixtures/test_copies_of_rows.py."""


def unmarked(state):
    """A saved state without the marks of stored rows that are another round of the row before."""
    if not isinstance(state, dict):
        return state
    return {name: unmarked(value) for name, value in state.items() if name != "again"}


def weighted(match, found, rng):
    """Rows with weights: learned as often as they weigh, predicted and scored once, row by row and in batches."""
    if match.family in (LOSSES, BANDIT, CONTEXTS):
        return pieces(match, found, rng)
    weights = rng.integers(1 if match.family is MANY else 0, 4, match.rounds)  # labels keep the numbers they have
    game = new_game(match.new())
    seen = Witness(game.ledger)
    for t, weight in enumerate(weights.tolist()):
        asked = predicted(game.player, match.example(t)) if weight else (0, 0.0, None, None)
        for values, one in zip((seen.said, seen.scores, seen.chances, seen.held), asked, strict=True):
            values.append(one)
        game.learn_one(match.example(t), match.outcome(t), weight=weight)
    told = [str(one) for one in check_certificates(game.ledger, match.tally, fixed=False)]
    check_metrics(match, seen, weights)
    times = np.repeat(np.arange(match.rounds), weights)
    x = [match.x[t] for t in times] if isinstance(match.x, list) else match.x[times]
    again, copies = replace(match, x=x, y=np.asarray(match.y)[times]), weights_of_copies(weights)
    batches = new_game(match.new())
    for start in range(0, again.rounds, 7):
        piece = again.batch(start, min(start + 7, again.rounds))
        batches.learn_batch(replace(piece, weights=copies[start : start + 7]))
    check_same(batches.ledger, game.ledger)
    assert told == [str(one) for one in check_certificates(batches.ledger, match.tally, fixed=False)]
    if not any(name in match.spec for name in ONE_ROW):
        plain, weighed = (unmarked(one.learner.state()) for one in (in_pieces(again, rng), game))
        assert same(plain, weighed), "a weighted row is not learned as often as it weighs"
    return None


WAYS = (batch, pieces, saved_early, saved, threads, meanwhile, resumed, passes, other_form, late, weighted)
"""Ways to play the rounds of a witness; those that return a ledger return one that must be the witness's own."""


def attack(match, ways=WAYS, seed=0):
    """Play a match in every way; the tally of what was played."""
    found = witness(match)
    for number, way in enumerate(ways):
        rng = np.random.default_rng([seed, number])
        try:
            ledger = way(match, found, rng) if match.rounds else None
            if ledger is not None:
                check_same(ledger, found.ledger)
                told = [str(one) for one in check_certificates(ledger, match.tally, fixed=False)]
                assert told == found.certificates, f"certificates differ: {told} and {found.certificates}"
        except Exception as error:
            error.add_note(f"{match.spec} ({match.rounds} rounds, {match.form}), played by {way.__name__}, seed {seed}")
            raise
        match.tally.games[way.__name__] += 1
    return match.tally
