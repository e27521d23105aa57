"""The contracts, over every learner that plays on advice or losses, for every loss that it takes.

A sample is a spec and the kind of table it is played on.
"""

import copy
import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.catalog import make
from novikoff.errors import InputError
from novikoff.model import snapshot, write
from novikoff.types import Batch

ROUNDS, EXPERTS = 150, 6


def losses(seed, **_):
    return None, np.random.default_rng(seed).random((ROUNDS, EXPERTS))


def numbers(seed, whole=False, asleep=False):
    """Probabilities, some better than others; outcomes in [0, 1], or 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROUNDS)
    y = np.round(y) if whole else y
    quality = np.linspace(0.0, 1.0, EXPERTS)
    x = np.clip(quality * y[:, None] + (1 - quality) * rng.random((ROUNDS, EXPERTS)), 0.0, 1.0)
    if asleep:
        x[rng.random(x.shape) < 0.3] = math.nan
        x[:, 0] = np.where(np.isnan(x[:, 0]), 0.5, x[:, 0])
    return x, y


def votes(seed, **_):
    x, y = numbers(seed, whole=True)
    return np.round(x), y


TABLES = {
    "table": losses,
    "absolute": numbers,
    "squared": numbers,
    "log": lambda seed: numbers(seed, whole=True),
    "zero-one": votes,
    "asleep": lambda seed: numbers(seed, asleep=True),
}
SAMPLES = [
    (f"{spec}experts={EXPERTS},loss={loss}", loss)
    for spec in (
        "exponential-weights:", "exponential-weights:rate=doubling,", "exponential-weights:horizon=150,seed=4,",
        "exponential-weights:eta=0.4,prior=[1,2,3,4,5,6],", "ada-hedge:", "fixed-share:switches=2,horizon=150,",
        "fixed-share:switches=0,horizon=150,prior=[6,5,4,3,2,1],", "sleeping-experts:", "sleeping-experts:eta=0.3,",
    )
    for loss in ("table", "absolute", "squared", "log", "zero-one")
]  # fmt: skip
SAMPLES += [(f"{spec},play=draw", loss) for spec, loss in SAMPLES if loss in ("table", "squared", "log")]
SAMPLES += [(f"randomized-weighted-majority:experts={EXPERTS},loss={loss}", loss) for loss in ("zero-one", "table")]
SAMPLES += [(f"sleeping-experts:experts={EXPERTS},loss={loss}", "asleep") for loss in ("absolute", "squared")]
every = pytest.mark.parametrize(("spec", "table"), SAMPLES, ids=[spec for spec, _ in SAMPLES])


def stream(table, seed=0):
    x, y = TABLES[table](seed)
    return nk.Losses(y) if x is None else nk.Advice(x, y)


def rounds(table, seed=0):
    x, y = TABLES[table](seed)
    return [(None if x is None else x[t], y[t]) for t in range(ROUNDS)]


def same(one, two):
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return type(one) is type(two) and one.dtype == two.dtype and np.array_equal(one, two, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    return type(one) is type(two) and one == two


def sums(ledger):
    return ledger.rounds, ledger.mistakes, ledger.loss, ledger.expected, ledger.curve, ledger.said().tolist()


@every
def test_asking_changes_nothing(spec, table):
    learner = make(spec, "learner")
    for x, y in rounds(table)[:40]:
        before = copy.deepcopy(learner.state())
        assert learner.predict_one(x) == learner.predict_one(x)
        assert same(learner.state(), before)
        assert math.isclose(float(np.sum(learner.weights)), 1.0, rel_tol=1e-12)
        learner.learn_one(x, y)


@every
def test_batches_of_any_size_leave_the_same_sums_and_state(spec, table):
    game = nk.Game(make(spec, "learner"))
    game.ledger.predictions = []
    for x, y in rounds(table, 1):
        game.learn_one(x, y)
    x, y = TABLES[table](1)
    for size in (1, 7, 64, 1000):
        learner = make(spec, "learner")
        swept = nk.Game(learner)
        swept.ledger.predictions = []
        for start in range(0, ROUNDS, size):
            part = slice(start, start + size)
            swept.learn_batch(Batch(None if x is None else x[part], y[part], start + 1))
        assert same(learner.state(), game.learner.state())
        assert sums(swept.ledger) == sums(game.ledger)
        assert [str(c) for c in swept.ledger.certify()] == [str(c) for c in game.ledger.certify()]


@every
def test_stopping_and_going_on_is_not_stopping(spec, table, tmp_path):
    whole = nk.play(make(spec, "learner"), stream(table, 2), record=True)
    for cut in (1, 60, ROUNDS - 1):
        part = nk.play(make(spec, "learner"), stream(table, 2), rounds=cut, record=True)
        nk.save(part, tmp_path / "model.nk")
        again = nk.load(tmp_path / "model.nk")
        assert same(again.learner.state(), part.learner.state())
        ledger = nk.play(again.learner, stream(table, 2), ledger=again, resume=True)
        assert same(ledger.learner.state(), whole.learner.state())
        assert sums(ledger) == sums(whole)
        assert ledger.certify() == whole.certify(fixed=False)  # that these are the same arrays is not known


@every
def test_what_is_to_be_saved_stays_as_it_is_while_the_game_goes_on(spec, table, tmp_path):
    then, now = (nk.play(make(spec, "learner"), stream(table, 2), rounds=60) for _ in range(2))
    taken = snapshot(now)
    nk.play(now.learner, stream(table, 2), ledger=now, resume=True)
    write(taken, tmp_path / "model.nk")
    again = nk.load(tmp_path / "model.nk")
    assert same(again.learner.state(), then.learner.state())
    assert again.certify() == then.certify()


@every
def test_bad_rounds_are_refused_and_change_nothing(spec, table):
    learner = make(spec, "learner")
    x, y = TABLES[table](3)
    nk.play(learner, stream(table, 3), rounds=20)
    before = copy.deepcopy(learner.state())
    if x is None:
        wrong = [(None, bad) for bad in ([0.5] * 5, [0.5] * 7, [1.5, *y[0, 1:]], [-0.1, *y[0, 1:]], "a", None)]
    else:
        far = [] if "zero-one" in spec else [([1.5, *x[0, 1:]], y[0]), (x[0], 1.5), (x[0], -0.5)]
        infinite = [(x[0], math.inf), (x[0], math.nan), ([math.inf, *x[0, 1:]], y[0])]
        wrong = [([0.5] * 5, y[0]), ([0.5] * 7, y[0]), ("a", y[0]), (x[0], "a"), (x[0], None), *infinite, *far]
    for advice, outcome in wrong:
        with pytest.raises(InputError):
            learner.learn_one(advice, outcome)
    if "sleeping" not in spec:
        hole = (None, [math.nan, *y[0, 1:]]) if x is None else ([math.nan, *x[0, 1:]], y[0])
        with pytest.raises(InputError):
            learner.learn_one(*hole)
    assert same(learner.state(), before)


@every
def test_no_certificate_is_ever_violated_and_some_say_something(spec, table):
    said = set()
    for seed in range(5):
        for certificate in nk.play(make(spec, "learner"), stream(table, seed)).certify():
            assert certificate.status in ("valid", "vacuous", "void"), str(certificate)
            said.add(certificate.status)
    assert "valid" in said


@every
def test_the_same_seed_is_the_same_game(spec, table):
    one, two = (nk.play(make(spec, "learner"), stream(table, 4), record=True) for _ in range(2))
    assert sums(one) == sums(two)
