"""Every check of the harness notices what it is for: learners, bounds and metrics that are broken on purpose."""

import dataclasses

import numpy as np
import pytest

from attack import harness
from attack.harness import LEARNERS, NUMBERS, VECTORS, Tally, attack, match
from novikoff.convex.ftrl import FTRL
from novikoff.finite.halving import Halving
from novikoff.game.delayed.late import Late
from novikoff.game.ledger import Ledger
from novikoff.linear.perceptron import Perceptron


def noticed(spec, family, kind, text, *ways):
    """An attack on this match must fail, and say why."""
    with pytest.raises(AssertionError, match=text):
        attack(match(spec, family, kind, 0), ways)


def test_a_sound_match_passes():
    tally = attack(match("perceptron", VECTORS, "noise", 0))
    assert tally.games.total() == 1 + len(harness.WAYS)
    assert tally.statuses["violated"] == 0


def broken_bound(monkeypatch, **changes):
    """Certificates of all games have other values than those of their theorems."""
    certify = Ledger.certify

    def other(self, *args, **more):
        return [dataclasses.replace(one, **changes) if one.bound is not None else one
                for one in certify(self, *args, **more)]  # fmt: skip

    monkeypatch.setattr(Ledger, "certify", other)


def test_a_violated_certificate_is_noticed(monkeypatch):
    broken_bound(monkeypatch, status="violated")
    noticed("perceptron", VECTORS, "noise", "perceptron_")


def test_bound_below_observed_loss_is_detected(monkeypatch):
    broken_bound(monkeypatch, bound=-1, status="valid")
    noticed("perceptron", VECTORS, "noise", "perceptron_")


@pytest.mark.parametrize("part", ["bound", "observed"])
def test_nan_is_detected(monkeypatch, part):
    broken_bound(monkeypatch, **{part: float("nan"), "status": "valid"})
    noticed("perceptron", VECTORS, "noise", "nan")


def test_a_vacuous_bound_that_is_called_valid_is_noticed(monkeypatch):
    broken_bound(monkeypatch, bound=10**6, status="valid")
    noticed("perceptron", VECTORS, "noise", "valid")


def test_prediction_that_changes_the_learner_is_detected(monkeypatch):
    predict = Perceptron.predict_one

    def other(self, x):
        if self.rounds:
            self.weights[0] += 1e-9
        return predict(self, x)

    monkeypatch.setattr(Perceptron, "predict_one", other)
    noticed("perceptron", VECTORS, "noise", "asking")


def test_a_batch_that_is_not_its_rows_is_noticed(monkeypatch):
    learn = Perceptron.learn_many

    def other(self, batch):
        return learn(self, dataclasses.replace(batch, y=np.roll(batch.y, 1)))

    monkeypatch.setattr(Perceptron, "learn_many", other)
    noticed("perceptron", VECTORS, "noise", "differ", harness.batch)


def test_a_state_that_loses_something_is_noticed(monkeypatch):
    restore = Perceptron.restore.__func__

    def other(cls, state):
        learner = restore(cls, state)
        learner.weights[:] = np.round(learner.weights, 3)
        return learner

    monkeypatch.setattr(Perceptron, "restore", classmethod(other))
    noticed("perceptron", VECTORS, "noise", "differ", harness.saved)


def test_a_prediction_that_threads_disturb_is_noticed(monkeypatch):
    import threading

    many = Perceptron.predict_many
    first = threading.get_ident()

    def other(self, batch):
        said = many(self, batch)
        return said if threading.get_ident() == first else -said

    monkeypatch.setattr(Perceptron, "predict_many", other)
    noticed("perceptron", VECTORS, "noise", "threads give other answers", harness.threads)


@pytest.mark.parametrize(
    ("name", "spec", "family", "broken"),
    [
        ("mistakes", "perceptron", VECTORS, lambda self: -1),
        ("mistake_rate", "perceptron", VECTORS, lambda self: 0.0),
        ("last_label", "perceptron", VECTORS, lambda self: 0),
        ("precision", "perceptron", VECTORS, lambda self: 0.987),
        ("recall", "perceptron", VECTORS, lambda self: 0.987),
        ("best_constant", "perceptron", VECTORS, lambda self: type("", (), {"costs": -1})()),
        ("auc", "perceptron", VECTORS, lambda self: type("", (), {"low": 1.1, "high": 1.2})()),
        ("log_loss", "ftrl", VECTORS, lambda self: 1e-3),
        ("brier", "ftrl", VECTORS, lambda self: 1e-3),
        ("mae", "vaw", NUMBERS, lambda self: 1e-3),
        ("loss", "vaw", NUMBERS, lambda self: 1e-3),
    ],
)
def test_a_wrong_metric_is_noticed(monkeypatch, name, spec, family, broken):
    one = match(spec, family, "noise", 0)
    found = harness.witness(one)

    class Wrong:
        """The ledger with one metric that is not true."""

        def __getattr__(self, asked):
            return broken(self) if asked == name else getattr(found.ledger, asked)

    ledger, found.ledger = found.ledger, None
    harness.check_metrics(one, dataclasses.replace(found, ledger=ledger))
    found.ledger = ledger
    with pytest.raises(AssertionError):
        harness.check_metrics(one, dataclasses.replace(found, ledger=Wrong()))


def test_weighted_rows_that_are_scored_at_each_copy_are_noticed(monkeypatch):
    """Copies after the first are right more often."""
    monkeypatch.setattr(harness, "weights_of_copies", lambda counts: np.ones(counts.sum(), dtype=np.int64))
    noticed("perceptron", VECTORS, "noise", "differs", harness.weighted)


def test_probabilities_beyond_one_are_noticed(monkeypatch):
    monkeypatch.setattr(FTRL, "probability_one", lambda self, x: 1.5)
    noticed("ftrl", VECTORS, "noise", r"outside \[0, 1\]")


def test_late_labels_that_are_counted_wrongly_are_noticed(monkeypatch):
    see = Late.see

    def other(self, batch, result):
        see(self, batch, result)
        self.mistakes += self.labelled == 3

    monkeypatch.setattr(Late, "see", other)
    noticed("perceptron", VECTORS, "noise", "late mistakes", harness.late)


def test_a_learner_that_exceeds_its_bound_is_noticed(monkeypatch):
    """A halving learner that says the opposite of its majority: the certificate itself is violated."""
    spec, family = LEARNERS["halving"][0]
    predict, learn = Halving.predict_one, Halving.play_one

    def opposite(self, x):
        return -predict(self, x)

    def play(self, x, y):
        return -learn(self, x, y)

    monkeypatch.setattr(Halving, "predict_one", opposite)
    monkeypatch.setattr(Halving, "play_one", play)
    noticed(spec, family, "separable", "halving_mistakes: violated")


def test_rounds_that_are_refused_end_a_match():
    tally = Tally()
    one = match("online-gradient:loss=absolute,low=-2,high=2,normalize=true,bias=1", NUMBERS, "huge", 0, tally)
    harness.witness(one)
    assert tally.refused == 1
    assert one.rounds < 24
