"""Whatever kind of number comes in, double precision is computed with: by learners and by their comparators alike."""

import contextlib
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from helpers import some
from novikoff.core.errors import InputError

KINDS = {
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "float64": np.float64,
    "Fraction": Fraction,
    "Decimal": Decimal,
    "int": int,
    "int8": np.int8,
}
LEARNERS = {
    "perceptron": lambda: nk.Perceptron(),
    "with a bias": lambda: nk.Perceptron(bias=0.1),
    "normalised": lambda: nk.Perceptron(normalize=True),
    "ellipsoid": lambda: nk.Ellipsoid(width=4),
    "kernel": lambda: nk.KernelPerceptron("polynomial"),
    "forgetron": lambda: nk.Forgetron(3, kernel="rbf"),
    "budget": lambda: nk.RandomizedBudgetPerceptron(3, kernel="linear"),
    "team": lambda: nk.Hedge([nk.Perceptron(), nk.Ellipsoid(width=4)]),
}
FORMS = {
    "names": lambda values: dict(zip("abcd", values, strict=True)),
    "numbers": lambda values: dict(enumerate(values)),
    "pair": lambda values: (np.arange(4), np.array(values)),
    "list": list,
    "tuple": tuple,
}


def game_of(make, rows):
    game = nk.Game(make())
    for x, y in rows:
        game.learn_one(x, y)
    return game


def told(game):
    """All that depends on the numbers: predictions, what the learner knows and what its comparators saw."""
    ledger = game.ledger
    facts = [one.tracker.facts() for one in (ledger, *ledger.members) if one.tracker is not None]
    return ledger.mistakes, ledger.curve, facts, [str(c) for c in ledger.certify()]


@pytest.mark.parametrize("small", [np.float32, np.float16, np.longdouble])
def test_the_margin_that_float32_would_lose_is_not_lost(small):
    h = small(2.0**-12.55 if small is not np.float16 else 2.0**-6.3)
    game = nk.Game(nk.Perceptron())
    for sign in (1, -1):
        game.learn_one({"a": small(1), **{f"h{i}": h for i in range(30)}, "b": small(sign)}, -1)
    assert game.ledger.mistakes == 1
    assert {certificate.status for certificate in game.ledger.certify()} == {"valid"}


def each():
    """Kinds, learners and forms; in a short run, every form with one learner, and one form with each of the others."""
    for (k, kind), (n, learner), (f, form) in itertools.product(*map(enumerate, (KINDS, LEARNERS, FORMS))):
        short = n == 0 or f == (k + n) % len(FORMS)
        yield pytest.param(kind, learner, form, marks=[] if short else pytest.mark.slow)


@pytest.mark.parametrize(("kind", "learner", "form"), list(each()))
def test_a_number_of_any_kind_is_computed_with_as_its_double(kind, learner, form):
    make, shape, number = LEARNERS[learner], FORMS[form], KINDS[kind]
    rng = np.random.default_rng(7)
    values = rng.integers(-9, 10, size=(25, 4))
    plain = values.tolist() if kind in ("int", "int8") else (values / 24.0).tolist()
    given = [[number(value) for value in row] for row in plain]
    labels = np.where(values[:, 0] - 0.3 * values[:, 1] >= 0, 1, -1).tolist()
    doubles = [[float(value) for value in row] for row in given]
    one = game_of(make, [(shape(row), y) for row, y in zip(given, labels, strict=True)])
    other = game_of(make, [(shape(row), y) for row, y in zip(doubles, labels, strict=True)])
    assert told(one) == told(other)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("int", "int8")])
def test_gradient_descent_computes_in_doubles(kind):
    number, rng = KINDS[kind], np.random.default_rng(3)
    rows = [[number(v) for v in row] for row in (rng.uniform(-0.4, 0.4, size=(30, 3)) / 3.0).tolist()]
    y = [number(v) for v in rng.uniform(-1, 1, size=30).tolist()]
    for shape in (list, lambda row: dict(zip("abc", row, strict=True)), lambda row: (np.arange(3), np.array(row))):
        games = [nk.OnlineGradient(), nk.OnlineGradient()]
        for row, outcome in zip(rows, y, strict=True):
            games[0].learn_one(shape(row), outcome)
            games[1].learn_one(shape([float(v) for v in row]), float(outcome))
        assert games[0].facts() == games[1].facts()


def test_a_float32_just_above_the_range_is_above_it():
    learner = nk.OnlineGradient(high=0.1)
    assert float(np.float32(0.1)) > 0.1
    with pytest.raises(InputError, match=r"an outcome must be a number from -1\.0 to 0\.1"):
        learner.learn_one([0.5], np.float32(0.1))
    assert learner.rounds == 0


@pytest.mark.parametrize("kind", ["float32", "float16", "longdouble", "Fraction", "Decimal"])
def test_advice_and_outcomes_of_any_kind_are_doubles(kind):
    number, rng = KINDS[kind], np.random.default_rng(5)
    rows = [[number(v) for v in row] for row in rng.uniform(size=(25, 3)).tolist()]
    y = [number(v) for v in rng.uniform(size=25).tolist()]
    pairs = list(zip(rows, y, strict=True))
    doubles = [([float(v) for v in row], float(outcome)) for row, outcome in pairs]
    one, other = (nk.ExponentialWeights(3, loss="squared") for _ in range(2))
    ledgers = [nk.play(one, pairs), nk.play(other, doubles)]
    assert [c.bound for c in ledgers[0].certify()] == [c.bound for c in ledgers[1].certify()]
    third = nk.ExponentialWeights(3, loss="squared")
    for row, outcome in pairs:
        third.learn_one(row, outcome)
    assert third.facts() == one.facts() == other.facts()


@some(3, learner=LEARNERS, dtype=["f2", "f4", "g", "i1", "i4", "u1", ">f8", ">i4", "O"])
def test_a_batch_of_any_kind_of_numbers_is_played_as_doubles(learner, dtype):
    x = np.abs(np.random.default_rng(1).integers(-6, 7, size=(70, 4)))
    y = np.where(x[:, 0] >= x[:, 1], 1, -1).astype(np.int8)
    games = [nk.Game(LEARNERS[learner]()) for _ in range(2)]
    games[0].learn_batch(nk.Batch(x.astype(dtype), y, 1))
    games[1].learn_batch(nk.Batch(x.astype(np.float64), y, 1))
    assert games[0].ledger.mistakes == games[1].ledger.mistakes
    if dtype != "O":  # played row by row, where the two kinds of rows are added up in another order
        assert told(games[0]) == told(games[1])


def test_unsigned_numbers_beyond_int64_keep_their_size():
    batch = nk.Batch(np.array([[2**63 + 2**12]], dtype=np.uint64), np.ones(1, np.int8), 1)
    assert batch.x.tolist() == [[float(2**63 + 2**12)]]


@pytest.mark.parametrize("values", [["1", "2"], [1 + 0j, 2j], np.array([1j, 2]), np.array(["1", "2"]),
                                    np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), [None, 1.0],
                                    [np.array([1.0]), np.array([2.0])]])  # fmt: skip
@pytest.mark.parametrize("form", ["names", "numbers", "pair", "list"])
def test_invalid_number_is_refused_and_nothing_is_learned(form, values):
    if form == "names" and values[0] is None:
        pytest.skip("None is a missing value of a named feature")
    shape = {**FORMS, "names": lambda v: dict(zip("ab", v, strict=True)), "pair": lambda v: (np.arange(2), v)}[form]
    for make in (nk.Perceptron, lambda: nk.Ellipsoid(width=2), nk.KernelPerceptron):
        game = nk.Game(make())
        game.learn_one(shape([1.0, 2.0]) if form != "pair" else (np.arange(2), np.array([1.0, 2.0])), -1)
        before = told(game)
        with pytest.raises(InputError):
            game.learn_one(shape(values), 1)
        assert told(game) == before


def test_advice_that_is_no_number_is_refused():
    for values in (["0.5", "0.5"], np.array([0.5, 0.5j]), [None, 0.5]):
        learner = nk.ExponentialWeights(2, loss="absolute")
        with pytest.raises(InputError, match="2 predictions, one for each expert"):
            learner.learn_one(values, 1.0)
        with contextlib.suppress(InputError):  # or it must go row by row
            assert learner.learn_many(nk.Batch(np.array([values]), np.ones(1), 1)) is None
        with pytest.raises(InputError):
            nk.play(learner, [(values, 1.0)])
        assert learner.rounds == 0


def test_product_beyond_float16_is_handled():
    game = nk.Game(nk.Perceptron())
    for label in (-1, -1, 1):
        game.learn_one({"a": np.float16(3000.0), "b": np.float16(-1.0)}, label)
    assert game.learner.weights.tolist() == [0.0, 0.0]
    assert math.isfinite(game.learner.score_one({"a": np.float16(60000.0)}))
