import copy
import dataclasses
import math

import numpy as np
import pytest

import cases
import novikoff as nk
from helpers import bits
from novikoff.convex.vaw import VAW
from novikoff.core.errors import ModelFileError, SpecError
from novikoff.core.types import Batch, Sparse
from novikoff.experts._loops import ada_hedge_layout as hedge
from novikoff.game.game import Game
from novikoff.mixtures.linear_mixture_regression import LinearMixtureRegression
from novikoff.testing import check_learner


def hills(rounds, seed=0, noise=0.3):
    """A sum that is linear in one feature and not in another, of different scales; far from 0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    y = 100.0 + 2.0 * x[:, 0] + 5.0 * np.sin(2.0 * x[:, 1]) + noise * rng.normal(size=rounds)
    return x * np.array([1e-3, 1.0, 1e5]), y


SAMPLES = {
    "linear-mixture-regression": [
        ("linear-mixture-regression", lambda noise, seed: nk.RegressionArrays(*hills(60)), [[1.0], "a", None])
    ]
}
"""Samples for tests/test_every_learner.py."""


def regression(pairs):
    """The linear mixture for numbers."""
    x, y = map(np.array, zip(*pairs, strict=True))
    return cases.run_of(nk.LinearMixtureRegression(), nk.RegressionArrays(x, y))


def hilly(rounds):
    """A line with a wave on it."""
    return [((t % 13 / 13.0,), 5.0 * (t % 13) + np.sin(t)) for t in range(rounds)]


def regression_paid_more(run):
    """It paid so much more than its best member, as it says itself."""
    return dataclasses.replace(cases.changed(run, paid=1e6, mixed=1e6), loss=1e6)


CASES = {
    "linear_mixture_regression_regret": cases.Case(
        cases.TARGETS,
        regression,
        hilly(60),
        None,
        lambda: regression_paid_more(regression(hilly(60))),
        (
            (lambda: dataclasses.replace(regression(hilly(9)), rounds=1), "exactly the recorded rounds"),
            (lambda: dataclasses.replace(regression(hilly(9)), loss=1e9), "agrees with the ledger's"),
            (lambda: cases.changed(regression(hilly(9)), grown=-1e9), "the growth of the range"),
            (lambda: cases.changed(regression(hilly(9)), chi=[1e9] * 6), "up to rounding"),
            (lambda: cases.warm(nk.LinearMixtureRegression, cases.ones(4), cases.ones(4)), "started untrained"),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def test_it_keeps_every_contract():
    x, y = hills(12)
    refused = [[1.0], [1.0, 2.0, math.nan], "a", None]
    check_learner(
        LinearMixtureRegression,
        nk.RegressionArrays(x, y),
        refused=refused,
        outcomes=["a", None, math.nan, math.inf, 2.0**500],
    )
    named = [({f"w{i}": 1.0 for i in range(t % 3, t % 7 + 3)}, float(t % 5)) for t in range(30)]
    check_learner(lambda: LinearMixtureRegression(bias=0.0), named, refused=[{"a": math.nan}, [1.0]])


def test_linear_member_matches_vaw_on_shifted_and_clipped_outcomes():
    x, y = hills(50)
    learner, alone, said = LinearMixtureRegression(), VAW(ridge=0.01), []
    losses, low, high = 0.0, math.inf, -math.inf
    for t, (row, outcome) in enumerate(zip(x, y, strict=True)):
        told = 0.0 if t == 0 else min(max(y[0] + alone.predict_one(row), low), high)
        losses += (told - outcome) ** 2
        alone.learn_one(row, outcome - y[0])
        low, high = min(low, outcome), max(high, outcome)
        said.append(learner.play_one(row, outcome).predictions)
    assert learner._table[hedge.LOSSES, 1] == pytest.approx(losses, rel=1e-12)
    assert learner._table[hedge.LOSSES, -2] == pytest.approx(y[0] ** 2 + (np.diff(y) ** 2).sum(), rel=1e-12)
    assert said[0] == 0.0
    assert min(y) <= min(said[1:]) <= max(said) <= max(y)


def test_ada_hedge_by_hand():
    """Three rounds of two forecasters: the leader, then weights at the rate ln 2 / D."""
    table, numbers, said = np.zeros((2, 2)), np.zeros(hedge.NUMBERS), np.zeros(3)
    predictions, y = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 3.0]]), np.array([0.0, 2.0, 1.0])
    from novikoff.experts import _loops as experts_loops

    experts_loops.ada_hedge.play(table, numbers, predictions, y, True, said)
    # round 1: equal weights, h = 1/2, m = 0; then ln 2 / D = 2 ln 2, so that a loss of 1 weighs 1/4
    w = np.array([1.0, 0.25]) / 1.25
    assert said[:2].tolist() == pytest.approx([0.5, w[1]])
    lost = np.array([4.0, 1.0])
    m = -np.log(w @ np.exp(-2.0 * np.log(2.0) * lost)) / (2.0 * np.log(2.0))
    gaps = 0.5 + w @ lost - m
    w = np.exp(-np.log(2.0) / gaps * np.array([2.0, 0.0]))
    assert said[2] == pytest.approx(3.0 * w[1] / w.sum())
    assert numbers[hedge.GAPS] >= gaps
    assert table[hedge.LOSSES].tolist() == [5.0, 6.0]
    assert table[hedge.SHARES].sum() == pytest.approx(3.0)


def test_rates_beyond_floats_keep_the_regret_bound():
    rng = np.random.default_rng(0)
    from novikoff.experts import _loops as experts_loops

    for size in (1e-150, 1.0, 1e100):
        table, numbers, said = np.zeros((2, 3)), np.zeros(hedge.NUMBERS), np.zeros(300)
        predictions, y = size * rng.normal(size=(300, 3)), size * rng.normal(size=300)
        predictions[:20, 0] = y[:20]
        experts_loops.ada_hedge.play(table, numbers, predictions, y, True, said)
        regret = numbers[hedge.MIXED] - table[hedge.LOSSES].min()
        assert 0.0 <= ((said - y) ** 2).sum() <= numbers[hedge.MIXED] * (1.0 + 1e-12)
        assert regret <= (2.0 * numbers[hedge.GAPS] - numbers[hedge.LAST_GAP]) * (1.0 + 1e-9)


def test_outcomes_that_are_moved_or_multiplied_and_features_that_are_rescaled_change_nothing_else():
    x, y = hills(120)
    first = LinearMixtureRegression().learn_many(Batch(x, y, 1)).predictions
    scaled = LinearMixtureRegression().learn_many(Batch(x * 2.0 ** np.array([-300, 17, 200]), 8.0 * y, 1)).predictions
    assert (8.0 * first).tolist() == scaled.tolist()
    moved = LinearMixtureRegression().learn_many(Batch(x, y + 1024.0, 1)).predictions
    assert moved[1:] == pytest.approx(first[1:] + 1024.0, abs=1e-6)


def test_hills_and_planes_are_learned_by_the_right_members():
    x, y = hills(800)
    learner = LinearMixtureRegression()
    ledger = nk.play(learner, (x, y), record=True)
    error = np.abs(np.concatenate(ledger.predictions)[400:] - y[400:]).mean()
    linear = np.abs(nk.play(VAW(), (x, y), record=True).predictions[-1] - y)[400:].mean()
    assert error < 0.7 < 2.0 < linear
    assert learner.names[int(learner.weights.argmax())].startswith(("random", "stack"))
    plane = nk.play(LinearMixtureRegression(), (x, 100.0 + 2.0 * x[:, 1] + np.sin(np.arange(800.0))))
    (certificate,) = plane.certify()
    assert certificate.quantities["member"].startswith("linear")


def test_last_outcome_member_predicts_a_slow_series():
    rng = np.random.default_rng(0)
    y = 50.0 + np.cumsum(rng.normal(size=600))
    x = rng.normal(size=(600, 2))
    ledger = nk.play(LinearMixtureRegression(), (x, y))
    again = y[0] ** 2 + (np.diff(y) ** 2).sum()
    (certificate,) = ledger.certify()
    assert certificate.quantities["member"] == "last outcome"
    assert certificate.quantities["member_loss"] == pytest.approx(again, rel=1e-12)
    assert ledger.loss <= certificate.bound < 1.1 * again


def test_bound_holds_and_means_something():
    x, y = hills(800)
    (certificate,) = nk.play(LinearMixtureRegression(), (x, y)).certify()
    assert certificate.status == "valid"
    assert certificate.observed <= certificate.bound < 2.0 * certificate.observed
    quantities = certificate.quantities
    best = quantities["best_in_hindsight"] + quantities["chi"] + quantities["first_outcome"] + quantities["range"]
    assert certificate.bound == pytest.approx(best + quantities["mixture"], rel=1e-9)


SHAPES = [
    lambda rng, n, d: rng.normal(size=(n, d)),
    lambda rng, n, d: rng.integers(-2, 3, (n, d)).astype(float),
    lambda rng, n, d: rng.standard_t(1.2, size=(n, d)) * 10.0 ** rng.integers(-3, 4, d),
    lambda rng, n, d: np.eye(d)[rng.integers(0, d, n)],
]
OUTCOMES = [
    lambda rng, x, t, said: float(x.sum() + rng.normal()),
    lambda rng, x, t, said: float(rng.standard_t(1.2)),
    lambda rng, x, t, said: said + (1.0 if said <= 0.0 else -1.0) * (1.0 + t % 7),
    lambda rng, x, t, said: float(2.0 ** (t % 40)),
]


@pytest.mark.parametrize("number", range(len(OUTCOMES)))
def test_bound_holds_on_arbitrary_and_adversarial_streams(number):
    rng = np.random.default_rng(number)
    for t in range(8):
        rounds, width = int(rng.integers(2, 50)), int(rng.integers(1, 5))
        learner = LinearMixtureRegression()
        game = Game(learner)
        for s, row in enumerate(SHAPES[t % len(SHAPES)](rng, rounds, width)):
            game.learn_one(row, OUTCOMES[number](rng, row, s, learner.predict_one(row)))
        (certificate,) = game.ledger.certify()
        assert certificate.status in ("valid", "vacuous"), str(certificate)
        facts = learner.facts()
        clipped = [after - before for after, before in zip(facts.losses, facts.unclipped, strict=False)]
        assert max(clipped) <= (facts.first**2 + facts.grown) * (1.0 + 1e-9) + 1e-9


class Deaf(LinearMixtureRegression):
    """Says more than the mean of its members."""

    def _play(self, rows, y, seen, said, again):
        super()._play(rows, y, seen, said, again)
        said += 3.0 * np.abs(y).max()


class Idle(LinearMixtureRegression):
    """A member forgets half of what it added up."""

    def _play(self, rows, y, seen, said, again):
        super()._play(rows, y, seen, said, again)
        self._linear[0].sums *= 0.5


class Skipping(LinearMixtureRegression):
    """A member leaves out some rounds, and all its books do."""

    def _learned(self, matrix, rows, y):
        if matrix is self._linear[0] and self.rounds == 30:
            return np.zeros(len(y))
        return super()._learned(matrix, rows, y)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Deaf, "agrees with the ledger's"), (Idle, "up to rounding"), (Skipping, "learned from every round")],
)
def test_learner_that_breaks_its_rule_is_detected(kind, reason, scale):
    x, y = hills(60)
    y = y * scale
    game = Game(kind())
    for start in range(0, 60, 10):
        game.learn_batch(Batch(x[start : start + 10], y[start : start + 10], start + 1))
    (certificate,) = game.ledger.certify()
    assert (certificate.status, reason in certificate.reason) == ("void", True)


def test_resume_matches_uninterrupted_run_to_the_bit():
    x, y = hills(80)
    whole, first = LinearMixtureRegression(), LinearMixtureRegression()
    together = whole.learn_many(Batch(x, y, 1)).predictions
    first.learn_many(Batch(x[:37], y[:37], 1))
    second = LinearMixtureRegression.restore(copy.deepcopy(first.state()))
    assert second.learn_many(Batch(x[37:], y[37:], 38)).predictions.tolist() == together[37:].tolist()
    assert bits(second.state()) == bits(whole.state())


def test_chunks_of_a_batch_do_not_matter(monkeypatch):
    x, y = hills(70)
    together = LinearMixtureRegression().learn_many(Batch(x, y, 1)).predictions.tolist()
    monkeypatch.setattr("novikoff.mixtures.linear_mixture_regression.CHUNK", 16)
    assert LinearMixtureRegression().learn_many(Batch(x, y, 1)).predictions.tolist() == together


def test_it_plays_where_no_learner_is_named_and_outcomes_are_numbers(tmp_path):
    x, y = hills(40)
    path = tmp_path / "hills.csv"
    lines = [",".join(map(repr, row)) for row in np.column_stack([x, y]).tolist()]
    path.write_text("\n".join(["a,b,c,y", *lines]))
    played = [nk.play(learner, where) for learner in (None, "auto", "auto-regression") for where in ((x, y), str(path))]
    assert {type(ledger.learner) for ledger in played} == {nk.AutoRegression}
    assert len({ledger.loss for ledger in played}) == 1
    assert type(nk.play("auto", (x, np.where(y > 100.0, 1.5, 2.5))).learner) is nk.Auto
    assert type(nk.play("auto", nk.RegressionArrays(x, np.where(y > 100.0, 1.0, 2.0))).learner) is nk.AutoRegression
    with pytest.raises(SpecError, match="fast"):
        nk.play("auto:fast=true", (x, y))
    assert (
        type(nk.play("auto", (x, np.arange(40) % 5)).learner) is nk.MulticlassAuto
    )  # a few whole numbers may be classes


def test_chicks_that_grow_are_followed_more_closely_than_by_rivers_linear_regression():
    rows = list(pytest.importorskip("river.datasets").ChickWeights())
    x, y = np.array([list(row.values()) for row, _ in rows], dtype=float), np.array([weight for _, weight in rows])
    said = LinearMixtureRegression().learn_many(Batch(x, y.astype(float), 1)).predictions
    assert np.abs(said - y).mean() < 21.2  # benchmarks/quality.py: River's StandardScaler, LinearRegression 23.76


def test_ignored_features_of_wide_rows_are_reported():
    rng = np.random.default_rng(2)
    for width, told in ((255, 0), (300, 1)):
        ledger = nk.play("linear-mixture-regression", (rng.normal(size=(5, width)), rng.normal(size=5)))
        assert len([line for line in ledger.player.tale() if "features seen" in line]) == told
    assert "the first 255 features seen" in ledger.player.tale()[0]


def walk(rounds, seed=0):
    """A random walk whose steps the features know: the last outcome is close, and new rows need the features."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 2))
    return x, np.cumsum(rng.normal(size=rounds)) + 0.5 * x[:, 0] + 100.0


def test_rows_without_labels_are_predicted_without_the_last_outcome():
    x, y = walk(600)
    ledger = nk.play("linear-mixture-regression", nk.RegressionArrays(x, y))
    learner, (certificate,) = ledger.learner, ledger.certify()
    assert learner.names[learner._repeats] == "last outcome"
    assert learner.shares[learner._repeats] > 0.5
    new = Batch(np.random.default_rng(5).normal(size=(50, 2)), np.zeros(50), 1)
    asked, ahead = learner.predict_many(new), ledger.player.predict_ahead(new)
    assert np.ptp(asked) < 0.5 * np.ptp(ahead)  # the next round of the game: close to the last outcome
    assert np.corrcoef(ahead, new.x[:, 0])[0, 1] > 0.5
    assert ledger.player.predict_ahead(Batch(list(new.x), new.y, 1)) == pytest.approx(ahead)
    assert ahead[:7].tolist() == ledger.player.predict_ahead(Batch(new.x[:7], new.y[:7], 1)).tolist()
    assert certificate.status == "valid"  # of the game, in which labels are shown
    assert any("repeats the last outcome had" in line for line in learner.tale())
    unmoved = nk.play("linear-mixture-regression", nk.RegressionArrays(x, 3.0 * x[:, 0] + x[:, 1]))
    assert unmoved.learner.tale() == []


def test_intervals_of_rows_without_labels_leave_out_the_last_outcome():
    x, y = walk(300)
    ledger = nk.play("conformal:[linear-mixture-regression]", nk.RegressionArrays(x, y))
    new = Batch(np.random.default_rng(5).normal(size=(20, 2)), np.zeros(20), 1)
    within = nk.play("linear-mixture-regression", nk.RegressionArrays(x, y)).player.predict_ahead(new)
    assert ledger.player.predict_ahead(new) == pytest.approx(within)
    middles = [sum(ledger.learner.predict_set(row, ahead=True)) / 2 for row in new.x]
    assert middles == pytest.approx(within)
    assert np.ptp([sum(ledger.learner.predict_set(row)) / 2 for row in new.x]) < np.ptp(middles)


def test_mixed_rows_play_every_member():
    x, y = walk(40)
    rows = Sparse.of_dense(np.hstack([x, np.ones((40, 1))]))
    learner = nk.LinearMixtureRegression()
    learner.learn_many(Batch(rows, y, 1))
    assert len(learner.names) == 8
    again = nk.LinearMixtureRegression.restore(learner.state())
    assert bits(again.state()) == bits(learner.state())
    state = learner.state()
    del state["scaling"]
    with pytest.raises(ModelFileError, match="train it again"):
        nk.LinearMixtureRegression.restore(state)
