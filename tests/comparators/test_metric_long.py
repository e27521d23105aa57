"""Learners in a metric over millions of rounds, and on thousands of streams of any floats: no promise is broken."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.observer import Observer
from novikoff.core.types import Batch
from novikoff.game.game import Game
from novikoff.game.specs import make
from novikoff.linear._loops import second_order_layout as at
from novikoff.numerics.sizes import U0

SPECS = [
    "ftrl", "ftrl:newton,rate=4", "logistic", "logistic:ridge=1,radius=1,scale_free=false", "arow",
    "arow:diagonal=true", "second-order-perceptron", "second-order-perceptron:diagonal=true,scale_free=false",
    "vaw:probabilities=true", "vaw", "linear-mixture:fast=true", "linear-mixture",
]  # fmt: skip


def batches(rounds, width, size=2**14):
    """Rows of different scales with noisy labels, made as they are needed."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=width)
    for start in range(0, rounds, size):
        x = rng.normal(size=(min(size, rounds - start), width))
        y = np.where(x @ u + 2.0 * rng.normal(size=len(x)) < 0.0, -1, 1).astype(np.int8)
        yield Batch(x * 10.0 ** (np.arange(width) % 5 - 2), y, start + 1)


def signs(rounds, width, size=2**16):
    """Features that are -1 or +1: metrics do not grow, so that what a theorem adds up is all that is left in sums."""
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], (size, width))
    chance = 1.0 / (1.0 + np.exp(-x @ rng.normal(size=width)))
    for start in range(0, rounds, size):
        count = min(size, rounds - start)
        y = np.where(rng.random(count) < chance[:count], 1, -1).astype(np.int8)
        yield Batch(x[:count], y, start + 1)


def adversarial(rng):
    """A short stream: any scales, huge, tiny, repeated, zero, growing and alternating rows; None: labels against it."""
    rounds, width = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    x = rng.normal(size=(rounds, width)) * (rng.random((rounds, width)) < rng.choice([1.0, 0.5]))
    kind = rng.integers(8)
    if kind == 0:
        x *= 10.0 ** rng.uniform(-150.0, 150.0, width)
    elif kind == 1:
        x *= 10.0 ** rng.uniform(-150.0, 150.0, (rounds, width))
    elif kind == 2:
        x = np.repeat(x[:1], rounds, axis=0)
    elif kind == 3:
        x = np.repeat(x[:, :1], width, axis=1)
    elif kind == 4:
        x *= 2.0 ** rng.integers(-3, 4, (rounds, 1)).cumsum(axis=0)
    elif kind == 5:
        x = rng.choice([0.0, 1.0, -1.0, 1e-150, 2.0**500, 2.0**-500, 1.0 + 2.0**-52], (rounds, width))
    elif kind == 6:
        x *= np.where(np.arange(rounds) % 2, 1e100, 1e-100)[:, None]
    x[rng.random(rounds) < 0.1] = 0.0
    y = [np.where(rng.random(rounds) < 0.5, -1, 1), np.where(x[:, 0] < 0.0, -1, 1), np.full(rounds, -1), None]
    return x, y[rng.integers(4)]


def holds_on(spec, seeds):
    """How often each status was seen."""
    seen = {}
    for seed in seeds:
        x, y = adversarial(np.random.default_rng(seed))
        learner = make(spec, "learner")
        if "scale_free=false" in spec:  # larger ones are refused
            x = x.clip(-(2.0**23), 2.0**23)
        game = Game(learner)
        if spec == "vaw":
            game.learn_batch(Batch(x, np.where(y == 1, 1.0, -3.0) if y is not None else x[:, 0].clip(-1e9, 1e9), 1))
        elif y is not None:
            game.learn_batch(Batch(x, y.astype(np.int8), 1))
        else:
            for row in x:
                game.learn_one(row, -learner.predict_one(row))
        for found in game.ledger.certify():
            assert found.status != "violated", (spec, seed, str(found))
            seen[found.status] = seen.get(found.status, 0) + 1
            if found.status == "void":
                seen[found.reason] = seen.get(found.reason, 0) + 1
    return seen


@pytest.mark.parametrize("spec", SPECS)
def test_no_bound_is_violated_on_streams_of_any_floats(spec):
    seen = holds_on(spec, range(8))
    assert seen.get("valid", 0) + seen.get("vacuous", 0) > 0, seen


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_no_bound_is_violated_on_thousands_of_streams(spec):
    seen = holds_on(spec, range(1000, 1300 if spec == "linear-mixture" else 4000))
    print(spec, seen)
    assert seen.get("valid", 0) + seen.get("vacuous", 0) > 0.5 * sum(
        seen.get(one, 0) for one in ("valid", "vacuous", "void")
    )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["logistic", "vaw:probabilities=true", "auto:fast=true", "ftrl"])
def test_numbers_do_not_drift_in_ten_million_rounds(spec):
    game = Game(make(spec, "learner"))
    for batch in signs(10_000_000, 3):
        game.learn_batch(batch)
    found = game.ledger.certify()
    print(spec, [str(one) for one in found], game.learner.facts())
    assert found
    assert all(one.status == "valid" for one in found), found


@pytest.mark.slow
def test_million_rounds_with_256_features_stay_within_rounding():
    learner, rng = nk.Logistic(), np.random.default_rng(1)
    game, pairs = Game(learner), rng.integers(0, 256, (100, 2))
    moment, sums = np.zeros(256, np.longdouble), np.zeros(len(pairs), np.longdouble)
    game._watching.append(Recount(learner.kappa, moment, sums, pairs))
    for batch in batches(1_000_000, 255):
        game.learn_batch(batch)
    (found,) = game.ledger.certify()
    assert found.status == "valid", str(found)
    full = learner.matrix.full()
    sizes = np.sqrt(full.ridge + np.diag(full.sums))
    added, doubt = learner.goals()[0].added
    off = np.abs(-added - moment) / doubt
    error = np.abs(full.sums[pairs[:, 0], pairs[:, 1]] - sums)
    allowed = (full.updates + 20) * U0 * sizes[pairs[:, 0]] * sizes[pairs[:, 1]]
    least, most = full.inverse_between(-added, doubt)
    facts = learner.facts()
    print("b", float(off.max()), "S", float((error / allowed).max()), "b'A^-1 b", least, most, facts, str(found))
    assert learner.matrix.totals[at.COUNT] == 256
    assert off.max() <= 1.0
    assert (error <= allowed).all()
    assert most - least <= 1e-3 * most  # of b, a sum of 10^6 numbers, 10^12 u0 is all that is known


class Recount(Observer):
    """Adds up, in long doubles, what the learner adds up: b, and some of the entries of S."""

    def __init__(self, kappa, moment, sums, pairs):
        self.kappa, self.moment, self.sums, self.pairs = kappa, moment, sums, pairs

    def see(self, batch, result):
        x = np.column_stack([np.ones(len(batch.y)), batch.x]).astype(np.longdouble)
        y, z = batch.y.astype(np.longdouble), result.scores.astype(np.longdouble)
        q = 1.0 / (1.0 + np.exp(y * z))
        h = self.kappa * q * (1.0 - q)
        self.moment -= ((-y * q - h * z)[:, None] * x).sum(axis=0)
        self.sums += (h[:, None] * x[:, self.pairs[:, 0]] * x[:, self.pairs[:, 1]]).sum(axis=0)
