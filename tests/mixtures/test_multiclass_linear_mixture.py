"""The linear mixture of many labels: its members, its stack, who rests, and who cheats."""

import dataclasses

import numpy as np
import pytest

import cases
import novikoff as nk
from helpers import bits
from novikoff.core.types import Batch, Sparse
from novikoff.linear._loops import multiclass_layout as at
from novikoff.linear._loops import second_order_layout as matrix
from novikoff.mixtures._loops import linear_mixture_layout as mix


def multiclass_mixture_paid_more(run):
    """The same with many labels."""
    return cases.changed(
        cases.paid_more(run), loss=run.after.loss + 500.0, losses=[loss + 500.0 for loss in run.after.losses]
    )


def multiclass_members():
    """The linear mixture of many labels, against the best of its members as they played."""

    def game(stream):
        return dataclasses.replace(
            cases.run_of(nk.MulticlassLinearMixture(fast=True, labels=3), stream), tracked=None
        )  # it needs none

    sample = [(tuple(3.0 * np.eye(3)[t % 3]), t % 3) for t in range(150)]
    return cases.Case(
        cases.MANY_VECTORS, game, sample, None, lambda: cases.paid_more(game(sample)),
        (
            (lambda: dataclasses.replace(game(sample), rounds=1), "the recorded rounds"),
            (lambda: cases.changed(game(sample), loss=1.0), "agrees with the ledger's"),
        ),
    )  # fmt: skip


CASES = {
    "multiclass_linear_mixture_regret": cases.of_multiclass(
        lambda **k: nk.MulticlassLinearMixture(fast=True, **k), multiclass_mixture_paid_more
    ),
    "multiclass_linear_mixture_members": multiclass_members(),
}
"""Cases for tests/test_every_theorem.py."""


def digits(rounds=None, seed=0, name="digits"):
    """Scikit-learn's, shuffled, labels in the order of their first appearance."""
    data = getattr(pytest.importorskip("sklearn.datasets"), f"load_{name}")()
    order = np.random.default_rng(seed).permutation(len(data.target))[:rounds]
    names = {label: k for k, label in enumerate(dict.fromkeys(data.target[order].tolist()))}
    return data.data[order], np.array([names[label] for label in data.target[order].tolist()])


def regret(game):
    """The certificate against weights in hindsight."""
    return next(one for one in game.ledger.certify() if one.theorem == "multiclass_linear_mixture_regret")


def test_first_row_determines_the_members():
    x, y = digits(20)
    counts = {}
    wide = np.hstack([x, np.zeros((20, 300))])
    for name, rows in (("array", x), ("sparse", Sparse.of_dense(x)), ("wide", wide)):
        learner = nk.MulticlassLinearMixture()
        learner.learn_many(Batch(rows, y, 1))
        counts[name] = len(learner.names)
    assert counts == {"array": 16, "sparse": 16, "wide": 9}
    fast = nk.MulticlassLinearMixture(fast=True)
    fast.learn_many(Batch(x, y, 1))
    assert fast.names == ["sqrt 1", "newton 1", "stack"]


def test_the_mixture_is_near_its_best_forecaster():
    x, y = digits(400)
    learner = nk.MulticlassLinearMixture()
    game = nk.Game(learner)
    game.learn_batch(Batch(x, y, 1))
    facts = learner.facts()
    assert min(facts.losses) - 1e-9 <= facts.loss + np.log(16.0)
    assert facts.loss <= min(facts.losses) + np.log(16.0) + 1e-9
    assert abs(facts.loss + facts.novelty - game.ledger.log_loss) < 1e-6
    members, found = sorted(game.ledger.certify(), key=lambda one: one.theorem)
    assert (members.status, found.status) == ("conditional", "valid")  # the stack's loss is the learner's own count
    assert members.bound == pytest.approx(min(facts.losses) + np.log(16.0) + facts.novelty)
    assert members.bound < found.bound
    assert abs(np.exp(facts.log_weights).sum() - 1.0) < 1e-9


@pytest.mark.slow
def test_digits_are_learned():
    x, y = digits()
    learner = nk.MulticlassLinearMixture()
    played = learner.learn_many(Batch(x, y, 1))
    assert (played.predictions != y).mean() < 0.06
    assert -np.log(played.probabilities).mean() < 0.23


def test_one_versus_rest_members_retire_with_too_many_labels():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(36, 1)), np.arange(36) % 33
    learner = nk.MulticlassLinearMixture()
    game = nk.Game(learner)
    for start in range(0, 36, 9):
        game.learn_batch(Batch(x[start : start + 9], y[start : start + 9], start + 1))
    rests = learner._standing[mix.IDLE] < 0.0
    assert rests.tolist() == [False] * 8 + [True] * 7 + [False]
    assert game.ledger.certify()[0].status in ("valid", "vacuous")
    again = nk.MulticlassLinearMixture.restore(learner.state())
    assert bits(again.state()) == bits(learner.state())


def test_more_than_32_announced_labels_play_without_matrices():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), np.arange(60) % 40
    learner = nk.MulticlassLinearMixture(labels=40)
    game = nk.Game(learner)
    game.learn_batch(Batch(x, y, 1))
    assert len(learner.names) == 9
    assert game.ledger.certify()[0].status in ("valid", "vacuous")


def coins_between(seed, n=2000, labels=3):
    """Labels by the largest of some numbers, then n at random, then by the numbers again."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3 * n, labels))
    y = x.argmax(axis=1)
    y[n : 2 * n] = rng.integers(0, labels, n)
    y[:labels] = range(labels)
    return x, y


def near_its_steady_members(learner, x, y, step=500):
    """Play and check, every so many rounds, that the mixture is within ln(J+1) of each forecaster that never slept."""
    slept = 0
    for start in range(0, len(y), step):
        learner.learn_many(Batch(x[start : start + step], y[start : start + step], start + 1))
        facts = learner.facts()
        steady = [lost for lost, rested in zip(facts.losses, facts.slept, strict=True) if not rested]
        assert facts.loss <= min(steady) + np.log(len(facts.names)) + 1e-6
        assert not any(facts.slept[:8])
        assert not facts.slept[-1]
        assert abs(np.exp(facts.log_weights).sum() - 1.0) < 1e-9
        slept = max(slept, sum(facts.slept))
    return slept


def test_mixture_never_falls_asleep_when_labels_turn_into_coins_and_back():
    x, y = coins_between(0)
    learner = nk.MulticlassLinearMixture(labels=3)
    assert near_its_steady_members(learner, x, y) > 0
    assert learner.size > 1
    x, y = coins_between(50)
    wrong = learner.predict_many(Batch(x[:200], y[:200], 1)) != y[:200]
    assert wrong.mean() < 0.2


@pytest.mark.slow
def test_mixture_is_near_its_best_steady_member_on_long_streams():
    for seed in range(6):
        near_its_steady_members(nk.MulticlassLinearMixture(), *coins_between(seed, labels=2 + seed % 3))


def test_waking_in_a_batch_and_row_by_row_gives_the_same_bits_with_new_labels_and_features():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2060, 6)) * (rng.random((2060, 6)) < 0.8)
    x[:1100, 4:] = 0.0
    y = np.append([0, 1], np.where(x[2:, 0] > 0.0, 0, 1))
    y[1200:][x[1200:, 1] > 1.0] = 2  # comes while members sleep
    rows = Sparse.of_dense(x)
    made = []
    for _ in range(2):
        made.append(nk.MulticlassLinearMixture())
        made[-1].learn_many(Batch(rows[:1000], y[:1000], 1))
        made[-1]._standing[mix.IDLE, [9, 11, 14]] = mix.ASLEEP
    together, single = made
    said = together.learn_many(Batch(rows[1000:], y[1000:], 1001)).probabilities
    assert together.size == 16
    single.learn_many(Batch(rows[1000:2030], y[1000:2030], 1001))
    single = nk.MulticlassLinearMixture.restore(single.state())
    for t in range(2030, 2060):
        row = rows.row(t)
        asked = single.probabilities_one(row)
        played = single.play_one(row, int(y[t])).probabilities
        assert played == said[t - 1000]
        assert asked[y[t]] == played
    assert bits(single.state()) == bits(together.state())
    slots = single._slots[single._slots >= 0]
    assert sorted(slots.tolist()) == list(range(7))


def test_the_discriminant_is_bayes_rule_with_students_t():
    student = pytest.importorskip("scipy.stats").multivariate_t
    rng = np.random.default_rng(0)
    y = np.append([0, 1, 2], rng.integers(0, 3, 37))
    sizes, shifts = [1.0, 1e6, 1e-6, 0.0], [0.0, 1e7, 0.0, 5.0]  # the last is constant
    x = (rng.normal(size=(40, 4)) + 2.0 * np.eye(3, 4)[y]) * sizes + shifts
    learner = nk.MulticlassLinearMixture(labels=3)
    learner.learn_many(Batch(x[:32], y[:32], 1))
    past, came, centre, deviation = x[:32, :3], y[:32], x[:32, :3].mean(0), x[:32, :3].std(0)
    for t in range(32, 40):  # the covariance is found anew after 32 rounds, and then after 64
        within = sum((past[came == j] - past[came == j].mean(0)).T @ (past[came == j] - past[came == j].mean(0))
                     for j in range(3))  # fmt: skip
        shape, chances = (2.0 * np.diag(deviation**2) + within) / (t + 2.0), np.empty(3)
        for j in range(3):
            n = (came == j).sum()
            mean = (n * past[came == j].mean(0) + 0.25 * centre) / (n + 0.25)
            wide = shape * (1.0 + 1.0 / (n + 0.25))
            d = np.sqrt(np.diag(wide))
            chances[j] = (n + 1.0) * student.pdf((x[t, :3] - mean) / d, shape=wide / np.outer(d, d), df=t + 2.0)
            chances[j] /= d.prod()
        before = learner.facts().losses[14]
        learner.learn_many(Batch(x[t : t + 1], y[t : t + 1], t + 1))
        assert learner.names[14] == "discriminant"
        assert learner.facts().losses[14] - before == pytest.approx(-np.log(chances[y[t]] / chances.sum()), abs=1e-9)
        past, came = np.vstack([past, x[t, :3]]), np.append(came, y[t])


class Trusting(nk.MulticlassLinearMixture):
    """Broken: whatever they lost, it trusts its first member."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._standing[mix.LOG_WEIGHT] = [0.0] + [-50.0] * (self._standing.shape[1] - 1)
        return played


class Timid(nk.MulticlassLinearMixture):
    """Broken: it gives less to what came than the mixture, and says that its members lost so much more."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._paid[at.LOSS] += 0.01 * len(y)
        self._standing[mix.LOSS] += 0.01 * len(y)
        return played._replace(probabilities=played.probabilities * np.exp(-0.01))


@pytest.mark.parametrize(("kind", "why"), [(Trusting, "its weights agree"), (Timid, "loss agrees with its scores")])
def test_a_mixture_that_is_not_that_of_the_losses_is_void(kind, why):
    x, y = digits(60)
    game = nk.Game(kind(fast=True))
    for start in range(0, 60, 10):
        game.learn_batch(Batch(x[start : start + 10], y[start : start + 10], start + 1))
    found = regret(game)
    assert found.status == "void"
    assert why in found.reason


def test_a_label_that_comes_late_has_learned_from_every_round_that_was_not_its_own():
    x, y = digits(60)
    late, announced = nk.MulticlassLinearMixture(), nk.MulticlassLinearMixture(labels=int(y.max()) + 1)
    for learner in (late, announced):
        learner.learn_many(Batch(x, y, 1))
    count = announced.labels
    for one, other in zip((*late._matrices, *late._waves), (*announced._matrices, *announced._waves), strict=True):
        assert np.array_equal(one[:, :count], other[:, :count])


def test_least_bound_is_one_versus_rest_and_falsified_sums_are_void():
    x, y = digits(name="wine")
    game = nk.Game(nk.MulticlassLinearMixture())
    game.learn_batch(Batch(x, y, 1))
    found = regret(game)
    told = found.quantities
    assert found.status == "valid"
    assert told["member"].startswith("second order")
    parts = ("comparator_loss", "penalty", "delta", "deficit", "mixture", "novelty")
    assert found.bound == pytest.approx(sum(told[name] for name in parts))
    game.learner._matrices[0][:, 1, matrix.MOMENT] *= 2.0  # of label 1
    game.ledger.tracker.rest._labels[1]._cached = None
    found = regret(game)
    assert found.status == "void"
    assert "their sums agree with these scores" in found.reason


def test_compared_member_is_checked_even_if_it_claims_to_have_slept(monkeypatch):
    x, y = digits(name="wine")
    game = nk.Game(nk.MulticlassLinearMixture())
    game.learn_batch(Batch(x, y, 1))
    after, tracked = game.learner.facts(), game.ledger.tracker.facts(game.learner)
    member = next(m for m in range(len(tracked.against.lost)) if tracked.against.best(m))
    lost, losses, slept = list(tracked.against.lost), list(after.losses), list(after.slept)
    lost[member] = 0.0  # and the mixture lost 17
    losses[after.lanes + member], slept[after.lanes + member] = lost[member], True
    against = dataclasses.replace(tracked.against, lost=lost)
    monkeypatch.setattr(game.ledger.tracker, "facts", lambda learner: dataclasses.replace(tracked, against=against))
    monkeypatch.setattr(
        nk.MulticlassLinearMixture, "facts", lambda learner: dataclasses.replace(after, losses=losses, slept=slept)
    )
    found = regret(game)
    assert found.status == "void"
    assert "active or compared" in found.reason


def of_members(ledger):
    (found,) = (one for one in ledger.certify() if one.theorem == "multiclass_linear_mixture_members")
    return found


def test_loss_of_a_member_is_trusted_unless_comparators_see_its_scores():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    linear = nk.play(nk.MulticlassLinearMixture(), (x, np.argmax(x[:, :3], axis=1)), labels="multiclass")
    round_ = nk.play(nk.MulticlassLinearMixture(), (x, np.digitize((x**2).sum(1), [2.5, 5.0])), labels="multiclass")
    unseen = nk.play(nk.MulticlassLinearMixture(), (x, np.argmax(x[:, :3], axis=1)), labels="multiclass", track=False)
    for ledger, tracked in ((linear, True), (round_, True), (unseen, False)):
        found, facts = of_members(ledger), ledger.learner.facts()
        best = found.quantities["member"]
        seen = tracked and (best == facts.names[facts.shown] or best.startswith("second order"))
        (standing,) = (one.standing for one in found.assumptions if "scores" in one.claim)
        assert standing == ("checked" if seen else "trusted")
        assert found.status in (("valid", "vacuous") if seen else ("conditional", "vacuous"))
    assert of_members(unseen).status == "conditional"
