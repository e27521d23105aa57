"""`auto` against its members' and its stack's own weights: the bound by its definition, and who may promise."""

import dataclasses
import math

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff import numerics
from novikoff.convex.logistic import curvature
from novikoff.core.errors import ModelFileError
from novikoff.core.types import Batch, Sparse
from novikoff.game import ledger_state
from novikoff.game.game import Game
from novikoff.mixtures._loops import linear_mixture_layout as mix
from novikoff.mixtures.linear_mixture import LinearMixture
from novikoff.mixtures.theorems.linear_mixture_facts import SLACK
from novikoff.mixtures.theorems.linear_mixture_frozen import linear_mixture_frozen
from novikoff.mixtures.theorems.linear_mixture_regret import linear_mixture_regret
from novikoff.reports.sentences import sentence


def mixture_paid_more(run):
    """The same of a mixture, each forecaster of which did."""
    losses = [loss + 500.0 for loss in run.after.losses]
    tracked = dataclasses.replace(run.tracked, losses=tuple(losses))
    return dataclasses.replace(cases.changed(run, losses=losses), log_loss=run.log_loss + 500.0, tracked=tracked)


CASES = {
    "linear_mixture_regret": cases.of_metric(lambda: nk.LinearMixture(fast=True), cases.apart(50), mixture_paid_more),
    "linear_mixture_frozen": dataclasses.replace(
        cases.of_metric(lambda: nk.LinearMixture(fast=True), cases.apart(50), mixture_paid_more),
        void=(
            (
                lambda: dataclasses.replace(cases.run_of(nk.LinearMixture(fast=True), cases.apart(50)), rounds=1),
                "every round",
            ),
            (
                lambda: cases.changed(cases.run_of(nk.LinearMixture(fast=True), cases.apart(50)), rounds=7),
                "exactly the recorded rounds",
            ),
            (
                lambda: cases.changed(cases.run_of(nk.LinearMixture(fast=True), cases.apart(50)), losses=[7.0] * 3),
                "agree with their scores",
            ),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def test_bound_allows_for_rounding_of_the_mixture():
    """The mixture may pay more than ln N beyond a member by as much as its check accepts for rounding."""
    run = cases.run_of(nk.LinearMixture(fast=True), cases.apart(50))
    names, before = run.after.names, linear_mixture_regret(run)
    best = names.index(before.quantities["member"])
    weights = [0.0 if j == best else -800.0 for j in range(len(names))]  # all weight on one member
    losses = [run.log_loss - weight - math.log(len(names)) for weight in weights]
    tracked = dataclasses.replace(run.tracked, losses=tuple(losses))
    sure = dataclasses.replace(cases.changed(run, log_weights=weights, losses=losses), tracked=tracked)
    more = 0.5 * SLACK * (1.0 + run.log_loss)
    found = [linear_mixture_regret(dataclasses.replace(sure, log_loss=run.log_loss + paid)) for paid in (0.0, more)]
    assert {one.bound is None for one in found} == {False}
    assert found[0].bound == pytest.approx(before.bound, rel=1e-12)
    assert found[1].bound - found[0].bound == pytest.approx(more, rel=0.01)


def rings(rounds, seed=0):
    """Labels by the distance from the middle, with noise; features of different scales, one of which grows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    y = np.where((x**2).sum(axis=1) + rng.normal(size=rounds) > 2.4, 1, -1).astype(np.int8)
    return x * np.array([1e-3, 1.0, 1e5]) * np.geomspace(1.0, 3.0, rounds)[:, None] ** [0, 0, 1], y


def found(ledger):
    (certificate,) = (one for one in ledger.certify() if one.theorem == "linear_mixture_frozen")
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
    z = np.vstack(scores)
    clipped = np.clip(z[:, :-1], -8.0, 8.0)
    of_stack = np.array([curvature(C) for C in np.abs(clipped).max(axis=1, initial=1.0)])
    rows, _ = numerics.nonzeros.of_dense(x, 1.0)
    plain, values = np.hstack([np.ones((len(y), 1)), x]), {}
    for j, member in enumerate(copies[-1][1]):
        seen = plain
        if member.goal.images is not None:
            seen = member.goal.images(rows).values.reshape(len(y), mix.WAVES)
        kappas = np.full(len(y), curvature(6.0))
        if member.goal.on_scores:
            seen, kappas = clipped, of_stack
        bound = 0.0
        for (s, own), (until, later) in zip(copies[-2::-1], copies[:0:-1], strict=True):
            u = own[j].weights
            score = seen[s:until, : len(u)] @ u
            lost, some = log_loss(y[s:until] * score), z[s:until, j]
            if own[j].goal.loss == "parabola":
                q = 1.0 / (1.0 + np.exp(y[s:until] * some))
                gap, g = score - some, -y[s:until] * q
                parabola = log_loss(y[s:until] * some) + g * gap + kappas[s:until] * q * (1.0 - q) * gap**2 / 2.0
                lost = np.maximum(lost, parabola)
            bound += lost.sum() + (later[j].goal.penalty.square(u) - own[j].goal.penalty.square(u)) / 2.0
            bound += later[j].goal.promised - own[j].goal.promised
            values[j, s] = log_loss(y[:s] * z[:s, j]).sum(), bound
    return values


@pytest.mark.parametrize("fast", [False, True])
def test_the_bound_is_that_of_the_theorem(fast):
    x, y = rings(400)
    values = by_definition(LinearMixture(fast=fast), x, y)
    learner = LinearMixture(fast=fast)
    ledger = nk.play(learner, (x, y))
    frozen = {(u.member, u.after): u for u in ledger.tracker.facts(learner).frozen}
    assert {(3 if fast else 15, 8)} == {(len({j for j, _ in frozen}), len({s for _, s in frozen}))}
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
    learner = LinearMixture()
    ledger = nk.Ledger(learner)
    ledger.tracker = learner.tracker()
    ledger.tracker.keep = 1000
    for start in range(0, 3000, 500):
        Game(learner, ledger).learn_batch(Batch(x[start : start + 500], y[start : start + 500], start + 1))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert certificate.observed < certificate.bound < 1.05 * certificate.observed
    assert certificate.quantities["before"] < 0.2 * certificate.observed


def test_member_that_rests_has_no_bound():
    x, y = rings(400)
    learner = LinearMixture()
    game = Game(learner)
    game.learn_batch(Batch(x[:300], y[:300], 1))
    learner._standing[mix.IDLE, 9] = mix.ASLEEP
    game.learn_batch(Batch(x[300:], y[300:], 301))
    members = {u.member for u in game.ledger.tracker.facts(learner).frozen}
    assert members == set(range(15)) - {9}
    assert found(game.ledger).status == "valid"


def test_bound_of_a_trained_learner_uses_its_members_weights():
    x, y = rings(200)
    bounds = set()
    for size in (100, 7, 1):
        learner = LinearMixture()
        learner.learn_many(Batch(x[:100], y[:100], 1))
        weights = learner._standing[mix.LOG_WEIGHT].copy()
        game = Game(learner)
        for start in range(100, 200, size):
            game.learn_batch(Batch(x[start : min(start + size, 200)], y[start : min(start + size, 200)], start - 99))
            if size == 7:
                game = Game(learner, ledger_state.restore(ledger_state.state_of(game.ledger), learner))
        (certificate,) = game.ledger.certify()
        assert certificate.status == "valid", str(certificate)
        member = learner.names.index(certificate.quantities["member"])
        assert certificate.quantities["mixture"] == pytest.approx(-weights[member])
        bounds.add(certificate.bound)
    assert len(bounds) == 1


def of_stack(ledger):
    """Facts of the stack's copies, by the round after which the first was made."""
    learner = ledger.learner
    return {u.after: u for u in ledger.tracker.facts(learner).frozen if u.member == learner.members}


def test_stack_has_the_least_bound_on_rings():
    x, y = rings(400)
    ledger = nk.play(LinearMixture(), (x, y))
    certificate = found(ledger)
    told = certificate.quantities
    assert (told["member"], told["combined"], told["after"]) == ("stack", 14, 32)
    assert certificate.bound == pytest.approx(195.543251, abs=1e-6)
    assert certificate.observed == pytest.approx(171.402293, abs=1e-6)
    parts = told["before"] + told["comparator_loss"] + told["delta"] + told["deficit"] + told["mixture"]
    assert certificate.bound == pytest.approx(parts, abs=1e-6)
    text = sentence(certificate)
    assert "a combination of the scores of its 14 members" in text
    assert "combinations of its own members" in text


def arbitrary(rng, kind):
    """Rows of any scale, some of them sparse and beyond the 256th feature; labels of a rule, noisy, or one."""
    rounds, width = int(rng.integers(20, 200)), int(rng.integers(1, 6))
    x = rng.normal(size=(rounds, width)) * 10.0 ** rng.uniform(-6, 6, size=width)
    x[rng.random(rounds) < 0.1] *= 10.0 ** rng.uniform(0, 6)
    y = np.where(x @ rng.normal(size=width) >= 0.0, 1, -1)
    if kind % 3 == 1:
        y[rng.random(rounds) < 0.3] *= -1
    elif kind % 3 == 2:
        y[:] = 1
    if kind % 4 < 3:
        return x, y.astype(np.int8)
    names = np.tile(np.arange(width, dtype=np.uint32), (rounds, 1))
    names[rounds // 2 :, -1] = 300  # members on random features retire
    ends = np.arange(0, x.size + 1, width, dtype=np.uint64)
    return Sparse(ends, names.reshape(-1), x.reshape(-1), 301), y.astype(np.int8)


@pytest.mark.parametrize("kinds", [range(12), pytest.param(range(12, 60), marks=pytest.mark.slow)], ids=["few", "more"])
def test_the_stack_pays_no_more_than_its_copies_allow_on_arbitrary_streams(kinds):
    rng = np.random.default_rng(11)
    for kind in kinds:
        x, y = arbitrary(rng, kind)
        learner = LinearMixture(fast=kind % 5 == 0, seed=kind)
        game = Game(learner)
        for start in range(0, len(y), 50):
            game.learn_batch(Batch(x[start : min(start + 50, len(y))], y[start : start + 50], start + 1))
        copies = of_stack(game.ledger)
        assert set(copies) == {2**k for k in range(1, 8) if 2**k < len(y)}
        for u in copies.values():
            assert u.paid <= u.bound
            assert u.unexplained <= 0.5
            assert u.least <= u.gained + 1e-6 * (1.0 + abs(u.gained))
        assert found(game.ledger).status in ("valid", "vacuous")


def test_an_adversary_keeps_the_bound_of_the_stack():
    rng = np.random.default_rng(12)
    learner = LinearMixture()
    game = Game(learner)
    for row in rng.normal(size=(150, 3)):
        game.learn_one(row, -learner.predict_one(row))
    assert all(u.paid <= u.bound for u in of_stack(game.ledger).values())
    assert found(game.ledger).status in ("valid", "vacuous")


def test_resume_matches_uninterrupted_run_for_the_stack():
    x, y = rings(150)
    whole, parts = Game(LinearMixture()), Game(LinearMixture())
    whole.learn_batch(Batch(x, y, 1))
    for start in range(0, 150, 17):
        parts.learn_batch(Batch(x[start : start + 17], y[start : start + 17], start + 1))
        parts = Game(parts.learner, ledger_state.restore(ledger_state.state_of(parts.ledger), parts.learner))
    rows = Game(LinearMixture())
    for row, label in zip(x, y.tolist(), strict=True):
        rows.learn_one(row, label)
    assert of_stack(whole.ledger) == of_stack(parts.ledger) == of_stack(rows.ledger)
    assert found(whole.ledger) == found(parts.ledger) == found(rows.ledger)


def test_a_saved_copy_of_the_stack_with_too_few_weights_is_refused():
    x, y = rings(100)
    game = Game(LinearMixture())
    game.learn_batch(Batch(x, y, 1))
    state = ledger_state.state_of(game.ledger)
    frozen = state["tracker"]["frozen"]
    frozen["stack"][1] = frozen["stack"][1][:5].copy()
    with pytest.raises(ModelFileError, match="the copy of a stack must have 14 weights"):
        ledger_state.restore(state, game.learner)


def test_stack_above_its_bound_is_violated():
    x, y = rings(400)
    learner, runs = LinearMixture(), []
    ledger = nk.play(learner, (x, y))
    learner.promises = (runs.append,)
    ledger.certify()
    (run,) = runs
    assert linear_mixture_frozen(run).status == "valid"
    losses = [loss + 500.0 for loss in run.after.losses]
    tracked = dataclasses.replace(run.tracked, losses=tuple(losses))
    worse = dataclasses.replace(run, log_loss=run.log_loss + 500.0, tracked=tracked,
                                after=dataclasses.replace(run.after, losses=losses))  # fmt: skip
    assert (linear_mixture_frozen(worse).status, linear_mixture_frozen(worse).quantities["member"]) == (
        "violated",
        "stack",
    )
