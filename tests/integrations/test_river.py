"""Learners as River models, and models of River and scikit-learn as learners."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing, tree
from sklearn.linear_model import SGDClassifier, SGDRegressor

import novikoff as nk
from helpers import one_in
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.core.errors import InputError, MismatchError, ModelFileError
from novikoff.core.types import Batch, Sparse
from novikoff.core.weights import rounds_of
from novikoff.integrations.river import NovikoffClassifier, NovikoffRegressor
from novikoff.testing.failing import require_same

MANY = {"labels": "multiclass"}
QUICK = [NovikoffClassifier("perceptron:bias=1"), NovikoffClassifier("perceptron", **MANY), NovikoffRegressor("vaw")]
ALL = [
    *map(NovikoffClassifier, ["auto", "adagrad", "arow", "ftrl", "logistic", "second-order-perceptron",
                              "vaw:probabilities=true", "kernel-perceptron", "rbp", "forgetron", "tighter", "cks",
                              "constant", "scaled:[perceptron:bias=1]", "specialists:[ftrl],64",
                              "hedge:learners=[perceptron,arow]", "conformal:[ftrl]", "linear-mixture:drift=true"]),
    *(NovikoffClassifier(spec, **MANY) for spec in ("auto", "ftrl", "vaw", "second-order-perceptron",
                                                   "hedge:learners=[perceptron,ftrl]")),
    *map(NovikoffRegressor, ["auto-regression", "online-gradient", "adagrad:loss=absolute", "conformal:[vaw]"]),
]  # fmt: skip
NOT_TRIED = (
    "ellipsoid: its width is fixed by the first example, and River's checks take features away; "
    "tightest-box, cover-halving: they take arrays of a fixed width, and River gives dicts"
)


def pass_checks(model):
    done = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in checks.yield_checks(model):
            check(model.clone())
            done += 1
    assert done > 20


@pytest.mark.parametrize("model", one_in(2, QUICK), ids=lambda model: f"{model.learner} {getattr(model, 'labels', '')}")
def test_every_check_of_river_passes(model):
    pass_checks(model)


@pytest.mark.slow
@pytest.mark.parametrize("model", ALL, ids=lambda model: f"{model.learner} {getattr(model, 'labels', '')}")
def test_every_check_passes_for_every_learner(model):
    pass_checks(model)


def test_a_game_of_river_is_that_of_play():
    phishing = list(datasets.Phishing())
    model = NovikoffClassifier("perceptron:bias=1")
    metric = evaluate.progressive_val_score(phishing, model, metrics.Accuracy())
    learner = nk.make("perceptron:bias=1", "learner")
    ledger = nk.play(learner, [(x, 1 if y else -1) for x, y in phishing])
    assert model.ledger.mistakes == ledger.mistakes == round((1.0 - metric.get()) * 1250)
    require_same(model.ledger.learner.state(), learner.state(), "the learners must be the same")
    assert model.certify()[0].bound == ledger.certify()[0].bound


@pytest.mark.parametrize("spec", ["perceptron", "logistic", "ftrl", "auto:fast=true"])
@pytest.mark.parametrize("numbered", [False, True], ids=["names", "numbers"])
def test_single_rounds_match_batches(spec, numbered):
    phishing = list(datasets.Phishing())[:600]
    places = {name: place for place, name in enumerate(phishing[0][0])}
    model = NovikoffClassifier(spec)
    for x, y in phishing:
        model.learn_one({places[name]: value for name, value in x.items()} if numbered else x, y)
    model.ledger.tracker.state()  # what waits is looked at, and the game goes on
    rows = [(np.array([places[name] for name in x], np.uint32), np.array([*x.values()])) for x, _ in phishing]
    batch = Batch(Sparse.of_rows(rows), np.array([1 if y else -1 for _, y in phishing], np.int8), 1)
    game = nk.Game(nk.make(spec, "learner"))
    game.learn_batch(batch)
    for part in ("baselines", "calibration", "tracker"):
        require_same(getattr(model.ledger, part).state(), getattr(game.ledger, part).state(), part)
    one, many = model.ledger, game.ledger
    assert (one.mistakes, one.loss, one.log_loss, one.brier, one.auc) == (
        many.mistakes, many.loss, many.log_loss, many.brier, many.auc,
    )  # fmt: skip
    assert list(map(str, one.certify())) == list(map(str, many.certify()))


@pytest.mark.parametrize("spec", ["ftrl", "logistic", "auto:fast=true"])
def test_comparators_are_shown_single_rounds_together(spec, monkeypatch):
    seen = []
    see = MetricTracker._see
    monkeypatch.setattr(
        MetricTracker, "_see", lambda self, x, y, scores: seen.append(len(y)) or see(self, x, y, scores)
    )
    model = NovikoffClassifier(spec)
    for x, y in list(datasets.Phishing())[:300]:
        model.learn_one(x, y)
    assert len(seen) < 12  # after 2, 4, 8 ... rounds a copy of the weights is made, which must have seen all before
    assert model.ledger.tracker.rows == 300
    model.certify()
    assert sum(seen) == 300


def test_in_a_pipeline_it_has_a_certificate_at_any_time():
    model = preprocessing.StandardScaler() | NovikoffClassifier("ftrl")
    told = []
    for t, (x, y) in enumerate(datasets.Phishing().take(300)):
        assert model.predict_proba_one(x).keys() == ({False, True} if t else set())  # before any label is known
        model.learn_one(x, y)
        if t % 100 == 99:
            told += model["NovikoffClassifier"].certify()[:1]
    assert [one.status for one in told] == ["valid"] * 3
    assert told[0].observed < told[2].observed <= told[2].bound


def test_pickles_and_copies_keep_the_certificate():
    model = NovikoffClassifier("perceptron")
    for x, y in datasets.Phishing().take(200):
        model.learn_one(x, y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert str(again.certify()) == str(model.certify())
    more = list(datasets.Phishing().take(100))
    for x, y in more:
        model.learn_one(x, y)
        again.learn_one(x, y)
    assert str(again.certify()) == str(model.certify())


def test_labels_are_the_users():
    for model in (NovikoffClassifier("rbp:budget=3,seed=0"), NovikoffClassifier("perceptron", labels=("spam", "ham"))):
        assert model.predict_one({"a": 1.0}) == (None if model.labels is None else "ham")
        model.learn_one({"a": 1.0}, "spam")
        assert model.predict_one({"a": 1.0}) == "spam"
        model.learn_one({"a": -1.0}, "ham")
        assert (model.predict_one({"a": 1.0}), model.predict_one({"a": -1.0})) == ("spam", "ham")
        with pytest.raises(InputError, match="labels must be 'spam' or 'ham': got 'eggs'"):
            model.learn_one({"a": 1.0}, "eggs")
    for nothing in (None, float("nan")):
        for fresh in (NovikoffClassifier("perceptron"), NovikoffClassifier("ftrl", **MANY)):
            with pytest.raises(InputError, match="label"):
                fresh.learn_one({"a": 1.0}, nothing)
            assert fresh.ledger.rounds == 0
    numbers = NovikoffClassifier("perceptron")
    for t in range(6):
        numbers.learn_one({"a": float(t % 2)}, t % 2)
    assert (numbers.predict_one({"a": 0.0}), numbers.ledger.rounds) in [(0, 6), (1, 6)]
    free = NovikoffClassifier("perceptron")
    assert free.predict_one({"a": 1.0}) is None
    for t in range(9):
        free.learn_one({"abc"[t % 3]: 1.0}, ["x", 7, "z"][t % 3])
    assert [free.predict_one({name: 1.0}) for name in "abc"] == ["x", 7, "z"]
    for wrong in ("two", ("a",), ("a", "a"), ("a", "b", "c")):
        with pytest.raises(InputError, match="labels must be two values"):
            NovikoffClassifier("perceptron", labels=wrong)
    many = NovikoffClassifier("ftrl", **MANY)
    assert many.predict_one({"a": 1.0}) is None
    for t in range(9):
        many.learn_one({"abc"[t % 3]: 1.0}, "xyz"[t % 3])
    assert [many.predict_one({name: 1.0}) for name in "abc"] == ["x", "y", "z"]
    assert sum(many.predict_proba_one({"a": 1.0}).values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NovikoffClassifier("vaw"), "must be a classifier"),
        (lambda: NovikoffClassifier("rbp", **MANY), "the learner must be multiclass"),
        (lambda: NovikoffRegressor("perceptron"), "must be for regression"),
        (lambda: NovikoffClassifier("threshold-halving:n=10"), "the learner must take vectors"),
    ],
)
def test_the_wrong_learner_is_refused(make, message):
    with pytest.raises(MismatchError, match=message):
        make()


def test_numbers_are_predicted_and_certified():
    model = NovikoffRegressor("vaw")
    metric = evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    assert metric.get() < 2.0
    assert model.certify()[0].status == "valid"


def test_a_model_of_river_plays_as_river_plays_it():
    phishing = list(datasets.Phishing())
    own = linear_model.LogisticRegression()
    right = evaluate.progressive_val_score(phishing, own.clone(), metrics.Accuracy()).get()
    ledger = nk.play(nk.wrap(own), [(x, 1 if y else -1) for x, y in phishing])
    assert ledger.mistakes == round((1.0 - right) * 1250)
    assert ledger.certify() == []  # none of its own
    assert ledger.log_loss is not None
    assert own.weights == {}  # the caller's is not taught


def test_a_team_of_rivers_models_and_ours_has_a_proved_regret():
    models = [linear_model.LogisticRegression(), naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier()]
    learners = [*map(nk.wrap, models), nk.make("perceptron:bias=1", "learner"), nk.make("arow", "learner")]
    ledger = nk.play(nk.Hedge(learners), [(x, 1 if y else -1) for x, y in datasets.Phishing().take(500)])
    best = ledger.certify()[0]
    assert best.status == "valid"
    assert best.observed <= best.bound
    assert ledger.expected - min(member.mistakes for member in ledger.members) <= best.bound + 1e-9
    again = type(ledger.learner).restore(ledger.learner.state())
    assert again.learners[0].rounds == 500


def rows(count=300):
    coins = np.random.default_rng(0)
    X = coins.normal(size=(count, 4))
    return X, np.where(X[:, 0] - X[:, 1] > 0, 1, -1)


@pytest.mark.parametrize("model", [SGDClassifier(loss="log_loss", random_state=0), linear_model.LogisticRegression()])
def test_classifier_kept_from_any_model_has_a_risk_bound(model):
    X, y = rows()
    ledger = nk.play(nk.wrap(model), (X, y), candidates=10)
    kept = nk.finalize(ledger, "best", stream=(X, y))
    assert kept.certificate.status == "conditional"
    assert kept.certificate.bound < 0.4
    assert np.mean([kept.predict_one(x) != label for x, label in zip(X, y, strict=True)]) < 0.2


@pytest.mark.parametrize("model", [SGDClassifier(random_state=0), naive_bayes.GaussianNB()])
def test_sets_around_any_model_cover(model):
    ledger = nk.play(nk.Conformal(nk.wrap(model), alpha=0.2), rows())
    assert [one.status for one in ledger.certify()] == ["valid"] * len(ledger.certify())
    assert any(one.theorem.startswith("coverage") for one in ledger.certify())


def test_models_are_compared_with_learners():
    made = {"river": lambda seed: nk.wrap(naive_bayes.GaussianNB()), "ours": "perceptron"}
    compared = nk.compare(made, rows(), shuffles=2)
    assert {one.learner for one in compared.learners} == {"river", "ours"}


def test_regressors_and_many_labels_are_wrapped():
    X, _ = rows()
    ledger = nk.play(nk.wrap(SGDRegressor(random_state=0)), (X, X[:, 0]))
    assert ledger.loss < 0.5 * ledger.best_constant.costs
    many = nk.wrap(naive_bayes.GaussianNB(), labels="multiclass")
    names = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    ledger = nk.play(many, (X, names), labels="multiclass")
    assert ledger.mistakes < 0.3 * ledger.rounds


def test_a_wrapped_model_is_not_saved_in_a_file(tmp_path):
    ledger = nk.play(nk.wrap(naive_bayes.GaussianNB()), rows(20))
    with pytest.raises(ModelFileError, match="only plain data can be saved: WrappedProbable is not"):
        nk.save(ledger, tmp_path / "model.nk")
    with pytest.raises(InputError, match="a model must have predict_one and learn_one"):
        nk.wrap(object())
    with pytest.raises(InputError, match="a scikit-learn model needs arrays"):
        nk.wrap(SGDClassifier()).learn_one({"a": 1.0}, 1)


@pytest.mark.parametrize(
    ("make", "label"),
    [
        (lambda: NovikoffClassifier("perceptron:bias=1"), lambda y: bool(y)),
        (lambda: NovikoffClassifier("perceptron", labels="multiclass"), lambda y: ["a", "b"][int(y)]),
        (lambda: NovikoffRegressor("vaw"), float),
    ],
)
def test_whole_weights_are_learned_and_scored(make, label):
    examples = [(x, label(y)) for x, y in list(datasets.Phishing())[:200]]
    weights = np.random.default_rng(0).integers(0, 4, len(examples)).tolist()
    weighted, repeated, pipeline = make(), make(), preprocessing.StandardScaler() | make()
    first = []
    for (x, y), w in zip(examples, weights, strict=True):
        if w:
            first.append((w, weighted.predict_one(x), y))
        weighted.learn_one(x, y, w=float(w))
        pipeline.learn_one(x, y, w=w)
        for _ in range(w):
            repeated.learn_one(x, y)
    require_same(weighted.ledger.learner.state(), repeated.ledger.learner.state(), "the learners")
    assert weighted.ledger.rounds == sum(weights) == list(pipeline.steps.values())[-1].ledger.rounds
    assert (weighted.ledger.weighted.rows, weighted.ledger.weighted.rounds) == (len(first), sum(weights))
    if isinstance(weighted, NovikoffRegressor):
        assert weighted.ledger.mae == pytest.approx(sum(w * abs(said - y) for w, said, y in first) / sum(weights))
    else:
        assert weighted.ledger.mistake_rate == sum(w for w, said, y in first if said not in (None, y)) / sum(weights)
    again = pickle.loads(pickle.dumps(weighted))
    assert again.ledger.mistake_rate == weighted.ledger.mistake_rate


@pytest.mark.parametrize("w", [-1, float("nan"), float("inf"), "2"])
def test_invalid_weights_are_refused(w):
    for model, y in ((NovikoffClassifier("perceptron"), True), (NovikoffRegressor("vaw"), 1.0)):
        with pytest.raises(InputError, match="a weight must be a number from 0"):
            model.learn_one({"a": 1.0}, y, w=w)
        assert model.ledger.rounds == 0


def test_predictions_use_the_chosen_threshold():
    model = NovikoffClassifier("logistic")
    for x, y in (examples := list(datasets.Phishing().take(200))):
        model.learn_one(x, y)
    chosen = nk.choose_threshold(model.ledger, cost={"FP": 1, "FN": 30})
    for one in (model, pickle.loads(pickle.dumps(model))):
        found = [one.predict_one(x) for x, _ in examples]
        assert found == [one.predict_proba_one(x)[True] >= chosen.value for x, _ in examples]
        assert one.predict_many(pd.DataFrame([x for x, _ in examples])).tolist() == found
    assert found != [model.predict_proba_one(x)[True] >= 0.5 for x, _ in examples]


def test_learn_many_takes_weights():
    frame, y, w = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 4}), [True, False, True] * 4, [1.0, 2.5, 0.5] * 4
    many, single = NovikoffClassifier("perceptron"), NovikoffClassifier("perceptron")
    many.learn_many(frame, pd.Series(y), w=pd.Series(w))
    for row, label, weight in zip(frame.to_dict("records"), y, w, strict=True):
        single.learn_one(row, label, w=weight)
    require_same(many.ledger.learner.state(), single.ledger.learner.state(), "the learners")
    assert many.ledger.weighted.rounds == single.ledger.rounds != 12


def test_generated_streams_whose_first_label_is_1_are_read_as_0_and_1():
    for y, labels in (([1, 1, 0, 1], [0, 1]), ([1, -1, 1], [-1, 1]), ([1, 1], [-1, 1])):
        ledger = nk.play("perceptron", (({"a": float(t)}, one) for t, one in enumerate(y)))
        assert ((ledger.labels or [-1, 1]), ledger.positives) == (labels, y.count(1))


def test_fractional_weights_toss_a_new_coin_for_each_row():
    for x in ({"a": 1.0}, {"a": 1.0, "c": "red"}):  # numbers, and a record of mixed values
        model = NovikoffClassifier("perceptron")
        for _ in range(40):
            model.learn_one(x, True, w=0.5)
        assert model.ledger.rounds == rounds_of(np.full(40, 0.5)).sum()


def test_row_of_weight_zero_is_not_learned():
    model = NovikoffClassifier("perceptron")
    model.learn_one({"a": 1.0}, "spam", w=0)
    model.learn_one({"a": 1.0}, "ham")
    assert model.predict_one({"a": 1.0}) == "ham"  # "spam" was never learned, and is no label
    assert model.ledger.rounds == 1


def test_regressor_predicts_rows_ahead_without_the_last_outcome():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.cumsum(rng.normal(size=300)) + 0.5 * x[:, 0] + 100.0
    model = NovikoffRegressor()
    for row, outcome in zip(x, y, strict=True):
        model.learn_one({"a": row[0], "b": row[1]}, outcome)
    new = [{"a": float(a), "b": 0.0} for a in np.linspace(-2, 2, 9)]
    ahead = [model.predict_one(row, ahead=True) for row in new]
    assert np.ptp(ahead) > np.ptp([model.predict_one(row) for row in new])
    assert ahead == [model.predict_one(row, ahead=True) for row in new]


MIXED = pd.DataFrame(
    {
        "city": ["Rome", "Oslo", None, "Rome", "Bern", "Oslo"] * 8,
        "age": [31.0, np.nan, 45.0, 28.0, 39.0, 50.0] * 8,
        "paid": [True, False, True, True, False, False] * 8,
    }
)


@pytest.mark.parametrize("labels", [["no", "yes", "maybe"], [False, True, True], [0, 7, 0]], ids=str)
def test_frames_are_learned_and_predicted_as_their_rows(labels):
    y = pd.Series((labels * 16)[: len(MIXED)])
    one, many = NovikoffClassifier("logistic"), NovikoffClassifier("logistic")
    assert many.predict_many(MIXED[:2]).tolist() == [None, None]  # no label is known
    for start in (0, 5, 30):
        part = slice(start, {0: 5, 5: 30, 30: 48}[start])
        many.learn_many(MIXED[part], y[part])
    for x, label in zip(MIXED.to_dict("records"), y, strict=True):
        one.learn_one(x, label)
    require_same(many.ledger.learner.state(), one.ledger.learner.state(), "batches and rows")
    predicted, chances = many.predict_many(MIXED[7:13]), many.predict_proba_many(MIXED[7:13])
    assert predicted.index.tolist() == chances.index.tolist() == list(range(7, 13))
    assert predicted.tolist() == [one.predict_one(x) for x in MIXED[7:13].to_dict("records")]
    assert chances.to_dict("records") == [one.predict_proba_one(x) for x in MIXED[7:13].to_dict("records")]
    assert {*chances.columns} == {*labels}
    with pytest.raises(InputError, match="one row each per example: got 2, 3 and 2"):
        many.learn_many(MIXED[:2], y[:3])


def test_regressor_learns_frames_as_rows():
    y = np.arange(48.0)
    one, many = NovikoffRegressor("vaw"), NovikoffRegressor("vaw")
    many.learn_many(MIXED, y)
    for x, number in zip(MIXED.to_dict("records"), y, strict=True):
        one.learn_one(x, number)
    assert many.predict_many(MIXED[:9]).tolist() == [one.predict_one(x) for x in MIXED[:9].to_dict("records")]


def test_data_sets_of_river_are_played_as_they_are():
    binary = nk.play("perceptron", datasets.Phishing(), rounds=200)
    assert (binary.labels, binary.mistakes) == (
        [False, True],
        nk.play("perceptron", [(x, 1 if y else -1) for x, y in datasets.Phishing().take(200)]).mistakes,
    )
    many = nk.play("perceptron", datasets.ImageSegments(), rounds=200)
    assert (many.labels[:2], len(many.labels)) == (["path", "foliage"], 7)
    numbers = nk.play("vaw", datasets.TrumpApproval(), rounds=100)
    assert numbers.loss == nk.play("vaw", list(datasets.TrumpApproval().take(100))).loss
    dates = nk.play("vaw", datasets.AirlinePassengers())
    assert dates.rmse < np.std([y for _, y in datasets.AirlinePassengers()])
    assert nk.play("logistic", datasets.Phishing().take(50)).labels == [False, True]  # an iterator
    assert nk.play("perceptron", [({"a": 1.0}, 0), ({"a": -1.0}, 1)]).labels == [0, 1]
    assert nk.play("perceptron", [({"a": 1.0}, "x"), ({"a": -1.0}, "y"), ({"b": 1.0}, "z")]).labels == ["x", "y", "z"]


class Spy:
    """River model that keeps the rows it is given."""

    def __init__(self):
        self.rows = []

    def predict_one(self, x):
        return None

    def learn_one(self, x, y):
        self.rows.append((x, y))


def test_wrapped_model_gets_the_columns_of_a_table_as_they_are():
    frame = MIXED.assign(label=["no", "yes"] * 24)
    learner = nk.wrap(Spy())
    nk.play(learner, frame, label="label")
    assert learner.model.rows[:3] == [
        ({"city": "Rome", "age": 31.0, "paid": 1.0}, False),
        ({"city": "Oslo", "paid": 0.0}, True),
        ({"age": 45.0, "paid": 1.0}, False),
    ]
    team = nk.Hedge([nk.wrap(Spy()), nk.make("perceptron", "learner")])
    nk.play(team, frame, label="label")
    assert team.learners[0].model.rows == learner.model.rows
    with pytest.raises(InputError, match="GaussianNB must accept categories: column 'city' raised TypeError"):
        nk.play(nk.wrap(naive_bayes.GaussianNB()), frame, label="label")
    only = compose.Select("city") | preprocessing.OneHotEncoder() | linear_model.LogisticRegression()
    assert nk.play(nk.wrap(only), frame[["city", "label"]].dropna(), label="label").rounds == 40
