"""`auto` with trees and boosting: bits, mixed tables, new labels, certificates and their breaks."""

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.mixtures.auto import NAMES
from samples import NAMED, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "auto": [("auto", *VECTORS), ("auto:bias=0", *SPARSE), ("auto:fast=true", *NAMED)],
    "auto-regression": [("auto-regression", *NUMBERS)],
}
"""Samples for tests/test_every_learner.py."""


def mixed_table(rows=400, seed=0):
    """A frame with a number, a number that is sometimes missing, and a category that gets new values."""
    coins = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": coins.normal(size=rows), "b": coins.choice(["x", "y", "z"], rows)})
    frame["c"] = np.where(coins.random(rows) < 0.1, np.nan, coins.normal(size=rows))
    frame.loc[rows // 2 :, "b"] = coins.choice(["x", "q", "r"], rows - rows // 2)
    score = frame.a + (frame.b == "x") + frame.c.fillna(0.0) + 0.3 * coins.normal(size=rows)
    frame["label"] = np.where(score > 0.3, "yes", "no")
    return frame


def rings(rows=600, labels=2, seed=1):
    """Labels by the distance from the origin, which no linear function tells apart."""
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, 3))
    found = np.digitize((x[:, :2] ** 2).sum(axis=1), np.linspace(1.0, 2.5, labels - 1))
    return x, pd.factorize(found)[0]


def by_rows(learner, x, y):
    game = nk.Game(learner)
    for row, label in zip(x, y.tolist(), strict=True):
        game.predict_one(row)
        game.learn_one(row, label)
    return game.ledger


def by_batches(learner, x, y, *sizes):
    game, start = nk.Game(learner), 0
    for size in (*sizes, len(y)):
        stop = min(start + size, len(y))
        game.learn_batch(nk.Batch(x[start:stop], y[start:stop], start + 1))
        start = stop
    return game.ledger


@pytest.mark.parametrize("make", [nk.Auto, nk.MulticlassAuto, nk.AutoRegression])
def test_rows_batches_and_resumed_games_give_the_same_bits(make, tmp_path):
    x, y = rings(260, 3 if make is nk.MulticlassAuto else 2)
    y = {nk.Auto: 2 * y - 1, nk.AutoRegression: y + x[:, 0]}.get(make, y)
    y = y.astype({nk.Auto: np.int8, nk.AutoRegression: np.float64}.get(make, np.int32))
    whole = by_batches(make(), x, y)
    assert by_rows(make(), x, y).loss == whole.loss
    nk.save(by_batches(make(), x[:133], y[:133], 1, 70), tmp_path / "game.nk")
    resumed = nk.load(tmp_path / "game.nk")
    game = nk.Game(resumed.learner, resumed)
    game.learn_batch(nk.Batch(x[133:], y[133:], 134))
    assert resumed.loss == whole.loss
    assert resumed.log_loss == whole.log_loss
    np.testing.assert_array_equal(
        resumed.learner.predict_many(nk.Batch(x, y, 1)), whole.learner.predict_many(nk.Batch(x, y, 1))
    )
    assert [str(one) for one in resumed.certify()] == [str(one) for one in whole.certify()]


def test_batch_sizes_do_not_matter_on_mixed_tables(tmp_path):
    path = tmp_path / "table.csv"
    mixed_table().to_csv(path, index=False)
    losses = set()
    for size in (1, 37, 400):
        game = nk.Game(nk.Auto())
        for batch in nk.read(path).batches():
            for start in range(0, len(batch), size):
                game.learn_batch(batch.part(start, min(start + size, len(batch))))
        losses.add(game.ledger.log_loss)
    assert len(losses) == 1


def test_trees_help_where_linear_members_cannot():
    x, y = rings(1500)
    plain, whole = (nk.play(learner, (x, 2 * y - 1)) for learner in (nk.LinearMixture(fast=True), nk.Auto()))
    assert whole.log_loss < 0.5 * plain.log_loss


def test_the_certificate_is_met_with_little_slack():
    x, y = rings(1500)
    ledger = nk.play(nk.Auto(), (x, 2 * y - 1))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert ledger.log_loss <= certificate.bound <= 1.1 * ledger.log_loss
    weights = ledger.learner.weights
    assert len(weights) == len(ledger.learner.shares) == len(NAMES)
    assert weights.sum() == pytest.approx(1.0)
    assert ledger.learner.shares.sum() == pytest.approx(1.0)


class Careless(nk.Auto):
    """It mixes with weights that are not those of fixed share."""

    def _create(self):
        super()._create()
        play = self._top.play

        def wrong(odds, y):
            play(odds, y)
            return odds.mean(axis=1)

        self._top.play = wrong


def test_another_mixture_is_a_violation():
    x, y = rings(300)
    (certificate,) = nk.play(Careless(), (x, 2 * y - 1)).certify()
    assert certificate.status == "violated"


def test_a_trained_learner_voids_the_certificate():
    x, y = rings(300)
    learner = nk.Auto()
    nk.play(learner, (x, 2 * y - 1))
    assert {one.status for one in nk.play(learner, (x, 2 * y - 1)).certify()} <= {"void"}


def test_wide_rows_and_fast_play_the_linear_mixture_alone():
    coins = np.random.default_rng(0)
    x = coins.normal(size=(60, 300))
    y = np.where(x[:, 0] > 0, 1, -1)
    for learner, other in ((nk.Auto(), nk.LinearMixture()), (nk.Auto(fast=True), nk.LinearMixture(fast=True))):
        ours, theirs = nk.play(learner, (x, y)), nk.play(other, (x, y))
        assert ours.log_loss == theirs.log_loss
        assert [str(one) for one in ours.certify()] == [str(one) for one in theirs.certify()]
        assert ours.learner.names == theirs.learner.names


def test_labels_may_come_unannounced():
    x, y = rings(400, 4)
    order = np.argsort(y[:40], kind="stable")  # the labels of the first rows come one after the other
    x[:40], y[:40] = x[:40][order], y[:40][order]
    y = pd.factorize(y)[0]
    ledger = nk.play(nk.MulticlassAuto(), list(zip(x, y.tolist(), strict=True)))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert ledger.log_loss <= certificate.bound
    probabilities = ledger.learner.probabilities_one(x[0])
    assert probabilities.sum() == pytest.approx(1.0 - 1.0 / 401.0**2)


def test_numbers_are_predicted_better_than_by_linear_members():
    x, _ = rings(800)
    y = (x[:, :2] ** 2).sum(axis=1) * np.sign(x[:, 2])
    ours, theirs = (
        nk.play(one, nk.RegressionArrays(x, y)) for one in (nk.AutoRegression(), nk.LinearMixtureRegression())
    )
    assert ours.loss < 0.8 * theirs.loss
    (certificate,) = ours.certify()
    assert certificate.status == "valid"
    assert ours.loss <= certificate.bound


def test_huge_outcomes_are_played():
    x, y = rings(120)
    ledger = nk.play(nk.AutoRegression(), nk.RegressionArrays(x, (y - 0.5) * 2.0**250))
    assert np.isfinite(ledger.learner.predict_one(x[0]))


def test_drift_starts_copies_of_the_linear_mixture():
    assert type(nk.make("auto:drift=true")) is nk.Specialists
    assert type(nk.make("auto:drift=true").steady) is nk.LinearMixture
