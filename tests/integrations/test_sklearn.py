"""Learners as scikit-learn estimators."""

import inspect
import json
import math
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.registry import entry
from novikoff.core.weights import Balance, rounds_of
from novikoff.game.specs import parse
from novikoff.integrations import sklearn as estimators
from novikoff.integrations.sklearn import (
    AutoRegressor,
    NovikoffClassifier,
    NovikoffRegressor,
    PerceptronClassifier,
    VAWRegressor,
)
from novikoff.integrations.sklearn.estimator import POOR
from novikoff.integrations.sklearn.named import SHARED
from novikoff.online_to_batch.risk import kl_limit
from novikoff.testing.failing import require_same

QUICK = ["NovikoffClassifier('logistic')", "NovikoffRegressor('vaw')"]
"""Run by default; the whole list is slow."""
CLASSIFIERS = [
    "auto", "adagrad", "arow", "ftrl", "logistic", "perceptron:bias=1", "second-order-perceptron",
    "vaw:probabilities=true", "kernel-perceptron", "rbp", "forgetron", "tighter", "cks", "ellipsoid", "constant",
    "scaled:[perceptron:bias=1]", "specialists:[ftrl],64", "hedge:learners=[perceptron,arow]",
    "conformal:[ftrl]", "linear-mixture:drift=true", "tightest-box",
]  # fmt: skip
NOT_TRIED = "cover-halving: its covers have more than a million points in the 10 and 30 dimensions of the checks"
REGRESSORS = ["auto-regression", "vaw", "online-gradient", "adagrad:loss=absolute", "conformal:[vaw]"]
NAMED = [getattr(estimators, name) for name in estimators.__all__ if not name.startswith("Novikoff")]
ALL = [f"NovikoffClassifier({spec!r})" for spec in CLASSIFIERS]
ALL += [f"NovikoffRegressor({spec!r})" for spec in REGRESSORS] + [f"{kind.__name__}()" for kind in NAMED]
DECLARED = {
    "check_class_weight_classifiers": "with a weight of 0.0001 no row of the class is learned, so the class is unknown",
    "check_sample_weight_equivalence_on_dense_data": "equal rows are spread over the game, a weighted row is not",
    "check_sample_weight_equivalence_on_sparse_data": "equal rows are spread over the game, a weighted row is not",
}
"""Checks that fail as expected; what else a learner cannot do is declared by the tag `poor_score`."""
CHECKS = f"""
import json, sys, warnings
DECLARED = {DECLARED}
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
from novikoff.integrations.sklearn import *
for text in sys.argv[1:]:
    told = check_estimator(eval(text), on_fail=None, on_skip=None, expected_failed_checks=DECLARED)
    bad = [[one["check_name"], one["status"], str(one["exception"])] for one in told if one["status"] != "passed"]
    print(json.dumps([text, len(told), [one for one in bad if not (one[0] in DECLARED and one[1] == "xfail")]]))
"""


def run_checks(texts):
    """All of check_estimator, in a process that has switched on what it would else skip."""
    done = subprocess.run(
        [sys.executable, "-c", CHECKS, *texts], env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_check_of_scikit_learn_passes_and_none_is_skipped():
    for text, checks, bad in run_checks(QUICK):
        assert checks > 50, text
        assert bad == [], text


@pytest.mark.slow
@pytest.mark.parametrize("text", ALL)
def test_every_check_passes_for_every_learner(text):
    ((_, checks, bad),) = run_checks([text])
    assert checks > 50
    assert bad == []


def test_exceptions_are_declared_by_tags():
    declared = [spec for spec in CLASSIFIERS if NovikoffClassifier(spec).__sklearn_tags__().classifier_tags.poor_score]
    assert {spec.partition(":")[0] for spec in declared} == set(POOR)


def rows(count=400, width=5, seed=0):
    coins = np.random.default_rng(seed)
    X = coins.normal(size=(count, width))
    return X, np.where(X @ coins.normal(size=width) + 0.3 * coins.normal(size=count) > 0, "spam", "ham")


def same(one, other):
    """Are learners and certificates the same, to the bit?"""
    assert [str(c) for c in one.certificates_] == [str(c) for c in other.certificates_]
    require_same(one.ledger_.learner.state(), other.ledger_.learner.state(), "learners must be the same")


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "ftrl", "rbp:budget=20"])
def test_chunks_are_the_whole_to_the_bit(spec):
    X, y = rows()
    whole = NovikoffClassifier(spec, random_state=1).partial_fit(X, y, classes=["ham", "spam"])
    parts = NovikoffClassifier(spec, random_state=1)
    for start, stop in ((0, 1), (1, 130), (130, 131), (131, 400)):
        parts.partial_fit(X[start:stop], y[start:stop], classes=["ham", "spam"] if start == 0 else None)
    same(whole, parts)
    assert whole.ledger_.rounds == 400


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "ftrl", "ellipsoid", "hedge:learners=[perceptron,arow]"])
def test_pickles_clones_and_mapped_files_keep_the_certificate(spec, tmp_path):
    X, y = rows()
    model = NovikoffClassifier(spec, random_state=0).fit(X[:300], y[:300])
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib", mmap_mode="r")]
    for again in loaded:
        same(model, again)
        assert np.array_equal(again.predict(X), model.predict(X))
    model.partial_fit(X[300:], y[300:])
    for again in loaded:  # it learns the same; comparators, which hold rows, are not in a pickle
        again.partial_fit(X[300:], y[300:])
        require_same(again.ledger_.learner.state(), model.ledger_.learner.state(), "learners must be the same")
        assert again.ledger_.mistakes == model.ledger_.mistakes
        known = {str(one) for one in model.certificates_}
        assert all(
            "after 300 rounds; proved until then" in str(one) or str(one) in known for one in again.certificates_
        )
    assert not hasattr(clone(model), "ledger_")


def test_fit_is_a_game_that_is_certified_and_scores_are_signs():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), PerceptronClassifier(random_state=0)).fit(X, y)
    best = model[-1].certificates_[0]
    assert best.status == "valid"
    assert best.observed == model[-1].ledger_.mistakes <= best.bound
    assert model.score(X, y) > 0.93
    assert np.array_equal(model.decision_function(X) >= 0, model.predict(X) == 1)
    learner = model[-1].ledger_.learner
    scores = model[:-1].transform(X) @ learner.weights + learner.bias_weight
    assert np.allclose(model.decision_function(X), scores)
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_scores_of_rows_that_are_not_finite_are_refused(bad, normalize):
    X, y = rows(30)
    X[:, 4] = 0.0  # its weight stays 0
    model = PerceptronClassifier(normalize=normalize).fit(X, y)
    X[7, 4] = bad
    for given in (X, scipy.sparse.csr_array(X), pd.DataFrame(X), X.tolist()):
        with pytest.raises(ValueError, match="Input X contains|X must be finite"):
            model.decision_function(given)


def test_shuffled_order_depends_on_the_seed_and_not_on_the_rows():
    X, y = rows(60)
    order = np.random.RandomState(5).permutation(60)
    shuffled = NovikoffClassifier("perceptron", random_state=5).fit(X, y)
    same(shuffled, NovikoffClassifier("perceptron", shuffle=False).fit(X[order], y[order]))


@pytest.mark.parametrize("sparse", [False, True])
def test_equal_rows_are_spread_over_the_game(sparse):
    coins = np.random.default_rng(0)
    X, y = coins.normal(size=(20, 2))[coins.integers(20, size=4000)], coins.choice([-1, 1], 4000)
    model = PerceptronClassifier(random_state=0).fit(scipy.sparse.csr_array(X) if sparse else X, y)
    assert 1800 < model.ledger_.mistakes < 2200  # labels are coin flips; with equal rows as neighbours it was below 100


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [2, 20, 300])
def test_risk_limits_cover_independent_rows_with_repeats(distinct):
    """Labels are coin flips, so the squared risk of every w is at least 1 and its error rate 1/2."""
    games, failed, kept = 200, 0, 0
    for seed in range(games):
        coins = np.random.default_rng(seed)
        X = coins.normal(size=(distinct, 2))[coins.integers(distinct, size=500)]
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
        y = coins.choice([-1.0, 1.0], 500)
        spec = "online-gradient:radius=0.1,low=-1,high=1,limit=1"
        model = NovikoffRegressor(spec, random_state=seed % 3).fit(X, y)
        limits = [c.bound for c in model.certificates_ if c.theorem.startswith("average_risk")]
        assert len(limits) == 2
        failed += min(limits) < 1.0
        game = PerceptronClassifier(random_state=seed % 3).fit(X, y).ledger_
        assert game.fixed
        kept += kl_limit(game.mistakes, game.rounds, 0.05) < 0.5
    assert failed <= 0.05 * games + 3.0 * math.sqrt(0.05 * 0.95 * games)
    assert kept <= 0.05 * games + 3.0 * math.sqrt(0.05 * 0.95 * games)


def test_a_weighted_row_is_played_in_place():
    X, y = rows(60)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    made = [NovikoffClassifier("perceptron", shuffle=False) for _ in range(3)]
    weighed = made[0].fit(X, y, sample_weight=weights)
    same(weighed, made[1].fit(X.repeat(weights, 0), y.repeat(weights)))
    same(weighed, made[2].fit(X, y, sample_weight=weights.astype(float)))
    assert weighed.ledger_.rounds == weights.sum()
    with pytest.raises(InputError, match="must let a row be learned: their sum is 0.0006"):
        NovikoffClassifier("perceptron").fit(X, y, sample_weight=np.full(60, 0.00001))


def test_predictions_use_the_chosen_threshold():
    X, y = rows(200)
    model = estimators.LogisticClassifier(random_state=0).fit(X, y)
    own = model.predict(X).tolist()
    chosen = nk.choose_threshold(model.ledger_, cost={"FP": 1, "FN": 30})
    found = np.where(model.predict_proba(X)[:, 1] >= chosen.value, "spam", "ham").tolist()
    assert model.predict(X).tolist() == pickle.loads(pickle.dumps(model)).predict(X).tolist() == found != own
    assert model.fit(X, y).predict(X).tolist() == own


def test_fractional_weights_are_rounded_by_coins_of_the_rows():
    X, y = rows(60)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    model = PerceptronClassifier(shuffle=False)
    whole = model.fit(X, y, sample_weight=weights).ledger_
    assert whole.rounds == rounds_of(weights).sum()
    parts = PerceptronClassifier(shuffle=False)
    for part in (slice(0, 25), slice(25, 60)):
        parts.partial_fit(X[part], y[part], classes=["ham", "spam"], sample_weight=weights[part])
    assert (parts.ledger_.rounds, parts.ledger_.mistakes) == (whole.rounds, whole.mistakes)
    assert PerceptronClassifier(passes=2).fit(X, y, sample_weight=weights).ledger_.rounds != 2 * whole.rounds


def test_balanced_classes_have_equal_weight_and_lose_no_row():
    X, y = rows(300)
    y[40:100] = "spam"
    model = PerceptronClassifier(class_weight="balanced", shuffle=False).fit(X, y)
    often, seldom = sorted(((y == "spam").sum(), (y == "ham").sum()), reverse=True)
    assert model.ledger_.weighted.rows == 300
    assert abs(model.ledger_.rounds - 2 * often) <= 3 * math.sqrt(seldom / 4)
    parts = PerceptronClassifier(class_weight="balanced")
    for part in (slice(0, 120), slice(120, 300)):
        parts.partial_fit(X[part], y[part], classes=["ham", "spam"])
    assert parts.ledger_.rounds == rounds_of(Balance().weights(y == "spam")).sum()


def test_a_row_of_a_class_is_played_as_often_as_the_class_weighs():
    X, y = rows(60)
    each = np.where(y == "spam", 3, 1)
    repeated = PerceptronClassifier(shuffle=False).fit(X.repeat(each, 0), y.repeat(each))
    same(repeated, PerceptronClassifier(shuffle=False, class_weight={"spam": 3}).fit(X, y))
    parts = PerceptronClassifier(random_state=0, class_weight={"spam": 3, "ham": 0})
    for part in (y == "ham", y == "spam"):
        parts.partial_fit(X[part], y[part], classes=["ham", "spam"], sample_weight=np.full(part.sum(), 2))
    assert parts.ledger_.rounds == 6 * (y == "spam").sum()
    refused = [
        ({"spam": -0.5}, "from 0 to 10,000: got -0.5"), ({"spm": 3}, "are among the classes .*got {'spm'"),
        ({"spam": 0, "ham": 0}, "must not all be 0"), ("balance", 'must be "balanced", or a dict'),
    ]  # fmt: skip
    for wrong, message in refused:
        with pytest.raises(InputError, match=message):
            PerceptronClassifier(class_weight=wrong).fit(X, y)


def test_metrics_of_weighted_rows_count_each_row_once():
    X, y = rows(200)
    weights = np.random.default_rng(3).integers(0, 5, 200)
    for model in (
        NovikoffClassifier("perceptron:scale=none", shuffle=False).fit(X, y, sample_weight=weights),
        NovikoffClassifier("perceptron:scale=none").partial_fit(X, y, ["ham", "spam"], sample_weight=weights),
    ):
        ledger, plain = model.ledger_, nk.Game(nk.Perceptron())
        wrong = 0
        for row, label, weight in zip(X, np.where(y == "spam", 1, -1), weights, strict=True):
            wrong += weight * (weight > 0 and plain.predict_one(row) != label)
            for _ in range(weight):
                plain.learn_one(row, label)
        assert (ledger.rounds, ledger.mistakes) == (weights.sum(), plain.ledger.mistakes)
        assert ledger.mistake_rate == wrong / weights.sum() > ledger.mistakes / ledger.rounds
        assert pickle.loads(pickle.dumps(model)).ledger_.mistake_rate == ledger.mistake_rate
    classes = NovikoffClassifier("perceptron", class_weight={"spam": 7}).fit(X, y).ledger_
    assert all(count % 7 == 0 for count in classes.confusion.table[1])


def test_a_sorted_table_is_shuffled():
    X, y = load_iris(return_X_y=True)
    assert NovikoffClassifier("ftrl", passes=5, random_state=0).fit(X, y).score(X, y) > 0.9
    assert NovikoffClassifier("ftrl", shuffle=False).fit(X, y).score(X, y) < 0.9


def test_passes_are_rounds():
    X, y = rows(50)
    model = NovikoffClassifier("perceptron", passes=3, random_state=0).fit(X, y)
    assert (model.ledger_.rounds, model.ledger_.passes, model.ledger_.repeated) == (150, 3, True)
    with pytest.raises(InputError, match="passes must be an integer from 1"):
        NovikoffClassifier(passes=0).fit(X, y)


def test_many_classes_are_one_game_or_one_each():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    many = NovikoffClassifier("ftrl", random_state=0).fit(X, names)
    assert many.certificates_[0].status == "valid"
    assert many.ledger_.labels == ["setosa", "versicolor", "virginica"]
    assert many.decision_function(X).shape == (150, 3)
    assert np.allclose(many.predict_proba(X).sum(axis=1), 1.0)
    assert np.array_equal(many.classes_[many.predict_proba(X).argmax(axis=1)], many.predict(X))
    each = NovikoffClassifier("rbp:gamma=0.5", passes=3, random_state=0).fit(X, names)
    assert list(each.certificates_) == list(each.ledger_) == ["setosa", "versicolor", "virginica"]
    assert each.certificates_["setosa"][0].status == "valid"
    assert each.score(X, names) > 0.9
    again = pickle.loads(pickle.dumps(each))
    assert str(again.certificates_) == str(each.certificates_)


def test_sparse_dense_and_frames_are_the_same():
    X, y = rows(200)
    X[np.abs(X) < 0.7] = 0.0
    columns = list("abcde")
    dense = NovikoffClassifier("perceptron:scale=none", random_state=0).fit(X, y)
    sparse = NovikoffClassifier("perceptron:scale=none", random_state=0).fit(scipy.sparse.csc_array(X), y)
    pandas = NovikoffClassifier("perceptron:scale=none", random_state=0).fit(pd.DataFrame(X, columns=columns), y)
    frame = pl.DataFrame(X, schema=columns)
    polars = NovikoffClassifier("perceptron:scale=none", random_state=0).fit(frame, pl.Series(y.tolist()))
    for other, given in ((sparse, scipy.sparse.csr_matrix(X)), (pandas, pd.DataFrame(X, columns=columns)),
                         (polars, frame)):  # fmt: skip
        assert other.ledger_.mistakes == dense.ledger_.mistakes
        assert np.allclose(other.decision_function(given), dense.decision_function(X), rtol=1e-12)
    assert np.array_equal(sparse.predict(X), sparse.predict(scipy.sparse.csr_array(X)))
    assert np.array_equal(dense.predict(X), dense.predict(scipy.sparse.csr_array(X)))
    box = NovikoffClassifier("tightest-box", random_state=0).fit(scipy.sparse.csr_array(X), y)  # it takes arrays only
    assert np.array_equal(box.predict(X), NovikoffClassifier("tightest-box", random_state=0).fit(X, y).predict(X))
    assert pandas.feature_names_in_.tolist() == polars.ledger_.feature_names == columns


def test_weights_are_routed_and_outputs_are_set():
    X, y = rows(100)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PerceptronClassifier(random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_output(transform="pandas").set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        pipeline.fit(pd.DataFrame(X, columns=list("abcde")), y, sample_weight=np.full(100, 2))
    assert pipeline[-1].ledger_.rounds == 200
    assert pipeline[-1].feature_names_in_.tolist() == list("abcde")


def test_searches_and_scores_of_scikit_learn_take_them():
    X, y = rows(120)
    search = GridSearchCV(PerceptronClassifier(random_state=0), {"bias": [0.0, 1.0], "normalize": [False, True]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8
    assert search.best_estimator_.certificates_[0].status in ("valid", "vacuous")
    assert cross_val_score(NovikoffClassifier("logistic", random_state=0), X, y, scoring="roc_auc").mean() > 0.9


def test_numbers_are_predicted_and_certified():
    coins = np.random.default_rng(0)
    X = coins.normal(size=(300, 4))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0 + 0.1 * coins.normal(size=300)
    for model in (VAWRegressor(), AutoRegressor(random_state=0)):
        assert model.fit(X, y).score(X, y) > 0.99
        assert model.certificates_[0].status == "valid"
    parts = VAWRegressor().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    same(parts, VAWRegressor().partial_fit(X, y))
    same(parts, pickle.loads(pickle.dumps(parts)))


def test_a_learner_of_your_own():
    X, y = rows(80)
    model = NovikoffClassifier(lambda seed: nk.Perceptron(bias=2.0), random_state=0).fit(X, y.astype(object))
    assert model.ledger_.learner.bias == 2.0
    assert model.predict(X).dtype == object  # as it was given
    for wrong in (nk.Perceptron, 3, None):  # the class would take the seed for its bias
        with pytest.raises(InputError, match="a spec, a learner, or a function from a seed"):
            NovikoffClassifier(wrong).fit(X, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NovikoffClassifier("vaw"), "a classifier needs a learner for labels"),
        (lambda: NovikoffRegressor("perceptron"), "a regressor needs a learner for numbers"),
        (lambda: NovikoffClassifier("threshold-halving:n=10"), "must play on rows of numbers"),
    ],
)
def test_the_wrong_learner_is_refused(make, message):
    with pytest.raises(MismatchError, match=message):
        make().fit(np.eye(4), [0, 1, 0, 1])


def test_classes_must_be_known_and_stay():
    X, y = rows(20)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        PerceptronClassifier().partial_fit(X, y)
    model = PerceptronClassifier().partial_fit(X, y, classes=["ham", "spam"])
    with pytest.raises(ValueError, match="y must be one of the classes"):
        model.partial_fit(X, np.full(20, "eggs"))
    with pytest.raises(ValueError, match="classes must stay"):
        model.partial_fit(X, y, classes=["ham", "eggs"])


def test_weights_importances_and_explanations_are_those_of_the_ledger():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = NovikoffClassifier("logistic", random_state=0).fit(X, y)
    held = model.ledger_.importance()
    by = dict(zip(held.columns, held.values, strict=True))
    assert model.feature_importances_.tolist() == [by[name] for name in X.columns]
    weights = model.ledger_.learner.weights
    assert model.coef_.tolist() == [weights.tolist()]
    assert model.intercept_.shape == (1,)
    first, second = model.why(X.iloc[:2])
    assert first == model.ledger_.why(X.to_numpy()[0])
    assert [first.score, second.score] == model.decision_function(X.iloc[:2]).tolist()
    assert first.columns[0] in X.columns


def test_weights_are_there_only_where_the_score_is_linear_in_x():
    X, y = load_iris(return_X_y=True)
    many = NovikoffClassifier("logistic", random_state=0).fit(X, y)
    assert many.coef_.shape == (3, 4)
    assert many.intercept_.shape == (3,)
    each = NovikoffClassifier("arow", random_state=0).fit(X, y)  # a game per class
    assert each.coef_.shape == (3, 4)
    assert {*each.why(X[:1])[0]} == {0, 1, 2}
    tree = NovikoffClassifier("tree", random_state=0).fit(X, y)
    assert not hasattr(tree, "coef_")
    assert tree.feature_importances_.shape == (4,)
    assert not hasattr(NovikoffClassifier("perceptron", random_state=0).fit(X, y), "coef_")  # its columns are scaled
    kernel = NovikoffClassifier("kernel-perceptron", random_state=0).fit(X, y)
    assert not hasattr(kernel, "feature_importances_")
    assert not hasattr(NovikoffClassifier("logistic"), "coef_")
    numbers = NovikoffRegressor("vaw").fit(X, X[:, 0] + 1.0)
    assert numbers.coef_.shape == (4,)
    assert type(numbers.intercept_) is float
    assert numbers.why(X[:1])[0].score == numbers.predict(X[:1])[0]


@pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)
def test_every_class_has_the_arguments_of_its_learner(kind):
    constructor = entry(kind.spec_name, "learner").load()
    own = [one for one in inspect.signature(kind).parameters if one not in SHARED]
    assert {*own} <= {*inspect.signature(constructor).parameters}
    model = kind()
    nk.make(model._made_from(), "learner")
    named = parse(model._made_from()).named
    for name in own:
        assert named.get(name, getattr(model, name)) == getattr(model, name)
    assert kind(**model.get_params()).get_params() == model.get_params()
    assert isinstance(model, NovikoffRegressor if "Regressor" in kind.__name__ else NovikoffClassifier)


def test_arguments_of_the_learner_are_searched():
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(NovikoffClassifier("perceptron", random_state=0), {"learner__bias": [0.0, 1.0]}, cv=2)
    best = search.fit(X[:200], y[:200]).best_estimator_
    assert best.learner == f"perceptron:bias={search.best_params_['learner__bias']}"
    model = NovikoffClassifier("cks:5,beta=0.5").set_params(learner__bias=1.0, passes=2)
    assert (model.learner, model.passes) == ("cks:budget=5,beta=0.5,bias=1.0", 2)
    assert model.set_params(learner__budget=None).learner == "cks:budget=none,beta=0.5,bias=1.0"
    assert model.get_params()["learner__budget"] is None
    assert model.get_params(deep=False).keys() == {
        "learner", "passes", "shuffle", "random_state", "track", "class_weight",
    }  # fmt: skip
    with pytest.raises(ValueError, match="Invalid parameter 'learner__depth'"):
        model.set_params(learner__depth=3)


def test_learner_is_accepted_and_not_changed():
    X, y = load_iris(return_X_y=True)
    own = nk.Perceptron(bias=1.0)
    given = NovikoffClassifier(own, random_state=0).fit(X[:100], y[:100])
    named = NovikoffClassifier("perceptron:bias=1,scale=none", random_state=0).fit(X[:100], y[:100])
    assert given.ledger_.mistakes == named.ledger_.mistakes > 0
    assert NovikoffClassifier(own, random_state=0, passes=3).fit(X, y).score(X, y) > 0.6  # a game per class
    assert own.updates == 0
    again = clone(NovikoffClassifier(own)).set_params(learner__normalize=True, learner__bias=0.5)
    assert repr(again.learner) == "Perceptron(bias=0.5, normalize=True)"
    assert repr(own) == "Perceptron(bias=1.0)"
    kernel = NovikoffClassifier(nk.KernelPerceptron(gamma=2.0))
    assert not [name for name in kernel.get_params() if name.startswith("learner__")]  # its arguments are not known


def test_switch_for_comparators_is_named_as_in_play():
    X, y = load_breast_cancer(return_X_y=True)
    model = PerceptronClassifier(track=False, random_state=0).fit(X[:100], y[:100])
    assert model.ledger_.tracker is None


def test_sign_of_a_score_is_its_prediction_also_at_zero():
    model = PerceptronClassifier(bias=0.0).partial_fit([[1.0, 0.0]], ["b"], classes=["a", "b"])  # no mistake: weights 0
    assert model.decision_function([[0.0, 1.0]]) > 0.0
    assert model.predict([[0.0, 1.0]]) == ["b"]
