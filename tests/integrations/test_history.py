"""The full-history learner: refits on schedule, saving to the bit, guarantees around it, its cost."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import novikoff as nk
from novikoff.core.errors import InputError, NovikoffError
from samples import BAD_TRIPLE, VECTORS, number_stream

SAMPLES = {
    "history": [
        ("history:[DecisionTreeClassifier]", *VECTORS),
        ("history:LogisticRegression,every=40,options=C=0.5", *VECTORS),
        ("history:Ridge", number_stream, BAD_TRIPLE),
    ]
}
"""Samples for tests/test_every_learner.py."""


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] + 0.3 * rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize(("every", "fitted"), [(1, range(1, 61)), (7, range(7, 61, 7)), (None, (1, 2, 4, 8, 16, 32))])
def test_predictions_are_those_of_models_fitted_on_the_past(every, fitted):
    x, y = rows()
    ledger = nk.play(nk.History("LogisticRegression", every=every), (x, y), record=True)
    wanted = []
    for t in range(60):
        past = max((n for n in fitted if n <= t), default=0)
        labels = y[:past]
        if len(set(labels.tolist())) < 2:
            wanted.append(1 if labels.sum() >= 0 else -1)
        else:
            wanted.append(int(LogisticRegression(random_state=0).fit(x[:past], labels).predict(x[t : t + 1])[0]))
    assert ledger.recorded().tolist() == wanted
    assert ledger.learner.facts().fits == len(fitted)


def test_numbers_are_predicted_by_a_regressor():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    y = x @ [1.0, -2.0]
    ledger = nk.play(nk.History(Ridge(alpha=0.1), every=1), nk.RegressionArrays(x, y), record=True)
    recorded = ledger.recorded()
    assert recorded[0] == 0.0
    assert recorded[-1] == Ridge(alpha=0.1).fit(x[:-1], y[:-1]).predict(x[-1:])[0]


@pytest.mark.parametrize("model", ["RandomForestClassifier", "LogisticRegression", "MLPClassifier"])
def test_resumed_game_equals_an_uninterrupted_one_to_the_bit(model, tmp_path):
    x, y = rows(50)
    spec = f"history:{model},every=15,seed=3" + (",options=max_iter=20" if model == "MLPClassifier" else "")
    whole = nk.play(spec, (x, y), record=True)
    first = nk.play(spec, (x[:23], y[:23]), record=True)
    nk.save(first, tmp_path / "game.nk")
    loaded = nk.load(tmp_path / "game.nk")
    rest = nk.play(loaded.learner, (x[23:], y[23:]), record=True)
    assert [*first.recorded().tolist(), *rest.recorded().tolist()] == whole.recorded().tolist()
    assert loaded.learner.state()["rows"].tolist() == whole.learner.state()["rows"].tolist()


def test_model_and_named_options_are_the_same_learner():
    x, y = rows()
    one = nk.play(nk.History(DecisionTreeClassifier(max_depth=2, criterion="entropy")), (x, y), record=True)
    two = nk.play('history:[DecisionTreeClassifier],options="max_depth=2; criterion=entropy"'.replace('"', ""), (x, y),
                  record=True)  # fmt: skip
    assert one.recorded().tolist() == two.recorded().tolist()
    assert one.learner.state()["options"] == "criterion=entropy; max_depth=2"


def test_team_with_a_lightweight_learner_has_its_regret_certified():
    x, y = rows(150)
    ledger = nk.play("hedge:learners=[[history:LogisticRegression],[perceptron:bias=1]]", (x, y))
    assert any(one.holds and "regret" in one.quantity for one in ledger.certify())


def test_kept_classifier_has_a_limit_on_its_risk():
    x, y = rows(300)
    ledger = nk.play("history:LogisticRegression", (x, y), candidates=10)
    kept = nk.finalize(ledger, how="best", stream=(x, y))
    (found, *_) = kept.certificates
    assert found.holds
    assert 0.0 < found.bound < 1.0
    assert kept.predict_one(x[0]) in (-1, 1)


def test_cost_of_each_round_grows_and_that_of_a_lightweight_learner_does_not():
    x, y = rows(400)
    found = nk.measure_cost(["history:DecisionTreeClassifier,every=1", "perceptron"], (x, y))
    full, light = found.learners
    assert [t for t, _ in full.curve] == [t for t, _ in light.curve]
    assert full.curve[-1][0] == 400
    assert full.seconds > 0.0
    assert all(low <= high for (_, low), (_, high) in zip(full.curve, full.curve[1:], strict=False))


@pytest.mark.parametrize(
    "make",
    [
        lambda: nk.History("NoSuchModel"),
        lambda: nk.History("StandardScaler"),
        lambda: nk.History("os"),
        lambda: nk.History("LogisticRegression", every=0),
        lambda: nk.History("LogisticRegression", seed=0.5),
        lambda: nk.History("LogisticRegression", options="C"),
        lambda: nk.History("LogisticRegression", options="no_such=1"),
        lambda: nk.History(make_pipeline(StandardScaler(), LogisticRegression())),
        lambda: nk.History(LogisticRegression),
        lambda: nk.History(LogisticRegression(), options="C=1"),
        lambda: nk.History(3),
    ],
)
def test_wrong_arguments_are_refused(make):
    with pytest.raises(InputError):
        make()


def test_sparse_rows_are_refused():
    with pytest.raises(NovikoffError, match="needs arrays"):
        nk.History().predict_one({"red": 1.0})
