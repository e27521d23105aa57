"""`auto` against its members' own weights: the bound by its definition, in numpy, and who may promise."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff import numerics
from novikoff.convex.logistic import curvature
from novikoff.core.types import Batch
from novikoff.game import ledger_state
from novikoff.game.game import Game
from novikoff.mixtures._loops import auto_layout as mix
from novikoff.mixtures.auto import Auto


def rings(rounds, seed=0):
    """Labels by the distance from the middle, with noise; features of different scales, one of which grows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    y = np.where((x**2).sum(axis=1) + rng.normal(size=rounds) > 2.4, 1, -1).astype(np.int8)
    return x * np.array([1e-3, 1.0, 1e5]) * np.geomspace(1.0, 3.0, rounds)[:, None] ** [0, 0, 1], y


def found(ledger):
    (certificate,) = (one for one in ledger.certify() if one.theorem == "auto_frozen")
    return certificate


def log_loss(m):
    return np.logaddexp(0.0, -m)


def by_definition(learner, x, y):
    """For each member and each s: what it paid until s, and the bound since."""
    copies, scores, start = [], [], 0
    for s in (2, 4, 8, 16, 32, 64, 128, 256, len(y)):
        scores.append(learner.learn_many(Batch(x[start:s], y[start:s], start + 1)).scores)
        copies.append((s, learner.own_weights()))
        start = s
    z, kappa = np.vstack(scores), curvature(6.0)
    rows, _ = numerics.nonzeros.of_dense(x, 1.0)
    plain, values = np.hstack([np.ones((len(y), 1)), x]), {}
    for j, member in enumerate(copies[-1][1]):
        seen = plain
        if member.goal.images is not None:
            seen = member.goal.images(rows).values.reshape(len(y), mix.WAVES)
        bound = 0.0
        for (s, own), (until, later) in zip(copies[-2::-1], copies[:0:-1], strict=True):
            u = own[j].weights
            score = seen[s:until, : len(u)] @ u
            lost, some = log_loss(y[s:until] * score), z[s:until, j]
            if own[j].goal.loss == "parabola":
                q = 1.0 / (1.0 + np.exp(y[s:until] * some))
                gap, g = score - some, -y[s:until] * q
                parabola = log_loss(y[s:until] * some) + g * gap + kappa * q * (1.0 - q) * gap**2 / 2.0
                lost = np.maximum(lost, parabola)
            bound += lost.sum() + (later[j].goal.penalty.square(u) - own[j].goal.penalty.square(u)) / 2.0
            bound += later[j].goal.promised - own[j].goal.promised
            values[j, s] = log_loss(y[:s] * z[:s, j]).sum(), bound
    return values


@pytest.mark.parametrize("fast", [False, True])
def test_the_bound_is_that_of_the_theorem(fast):
    x, y = rings(400)
    values = by_definition(Auto(fast=fast), x, y)
    learner = Auto(fast=fast)
    ledger = nk.play(learner, (x, y))
    frozen = {(u.member, u.after): u for u in ledger.tracker.facts(learner).frozen}
    assert {(2 if fast else 14, 8)} == {(len({j for j, _ in frozen}), len({s for _, s in frozen}))}
    for key, (before, bound) in values.items():
        assert (frozen[key].before, frozen[key].bound) == pytest.approx((before, bound), rel=1e-7, abs=1e-7)
    certificate, price = found(ledger), math.log(learner.members + 1)
    least = min(before + bound for (_, s), (before, bound) in values.items() if 8 * s <= 400)
    assert certificate.status == ("valid" if not fast else certificate.status)
    assert certificate.bound == pytest.approx(least + price, rel=1e-7)
    assert certificate.quantities["after"] <= 50


def test_it_is_close_in_one_pass_where_nothing_is_kept():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, 4)) * [1.0, 100.0, 0.01, 1.0]
    y = np.where(x @ [1.0, 0.01, 50.0, 0.0] + rng.normal(size=3000) < 0.0, -1, 1).astype(np.int8)
    learner = Auto()
    ledger = nk.Ledger(learner)
    ledger.tracker = learner.tracker()
    ledger.tracker.keep = 1000
    for start in range(0, 3000, 500):
        Game(learner, ledger).learn_batch(Batch(x[start : start + 500], y[start : start + 500], start + 1))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert certificate.observed < certificate.bound < 1.1 * certificate.observed
    assert certificate.quantities["before"] < 0.2 * certificate.observed


def test_a_member_that_rests_promises_nothing():
    x, y = rings(400)
    learner = Auto()
    game = Game(learner)
    game.learn_batch(Batch(x[:300], y[:300], 1))
    learner._standing[mix.IDLE, 9] = mix.ASLEEP
    game.learn_batch(Batch(x[300:], y[300:], 301))
    members = {u.member for u in game.ledger.tracker.facts(learner).frozen}
    assert members == set(range(14)) - {9}
    assert found(game.ledger).status == "valid"


def test_a_learner_that_learned_before_promises_with_the_weights_that_its_members_had():
    x, y = rings(600)
    bounds = set()
    for size in (300, 7, 1):
        learner = Auto()
        learner.learn_many(Batch(x[:300], y[:300], 1))
        weights = learner._standing[mix.LOG_WEIGHT].copy()
        game = Game(learner)
        for start in range(300, 600, size):
            game.learn_batch(Batch(x[start : min(start + size, 600)], y[start : min(start + size, 600)], start - 299))
            if size == 7:
                game = Game(learner, ledger_state.restore(ledger_state.state_of(game.ledger), learner))
        (certificate,) = game.ledger.certify()
        assert certificate.status == "valid", str(certificate)
        member = learner.names.index(certificate.quantities["member"])
        assert certificate.quantities["mixture"] == pytest.approx(-weights[member])
        bounds.add(certificate.bound)
    assert len(bounds) == 1
