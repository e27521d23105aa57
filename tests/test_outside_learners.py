"""Learners from outside the package: what they are shown, and what is counted of them."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.types import Domain, StepResult

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(np.random.default_rng(1).random(60) < 0.5, 1, -1).astype(np.int8)


@dataclass(frozen=True)
class NoFacts:
    """Nothing."""


class Outside:
    """Says +1, and learns nothing."""

    domain, labels, promises = Domain("vector"), None, ()

    def predict_one(self, x):
        return 1

    def learn_one(self, x, y):
        pass

    def facts(self):
        return NoFacts()

    def state(self):
        return {}


class Sure(Outside):
    """P(+1) = 0.8 at first, 0.9 once it has learned."""

    rounds = 0

    def probability_one(self, x):
        return 0.9 if self.rounds else 0.8

    def learn_one(self, x, y):
        self.rounds += 1


def losses_of_sure():
    given = np.where(Y == 1, 0.9, 1.0 - 0.9)
    given[0] = 0.8 if Y[0] == 1 else 1.0 - 0.8
    return -np.log(given).sum(), np.square(1.0 - given).sum()


class PlaysLabels(Sure):
    def play_one(self, x, y):
        self.learn_one(x, y)
        return 1


class PlaysResults(PlaysLabels):
    def play_one(self, x, y):
        return StepResult(super().play_one(x, y), 0.0, 0.0)


@pytest.mark.parametrize("kind", [Sure, PlaysLabels, PlaysResults])
def test_probabilities_are_asked_before_each_label(kind):
    for ledger in (nk.play(kind(), (X, Y)), nk.play(nk.Scaled(kind()), (X, Y)), one_by_one(kind())):
        log_loss, brier = losses_of_sure()
        assert ledger.log_loss == pytest.approx(log_loss)
        assert ledger.brier == pytest.approx(brier)
        assert ledger.mistakes == np.count_nonzero(Y == -1) == ledger.expected
    team = nk.play(nk.Hedge([kind(), nk.Perceptron()]), (X, Y))
    assert team.members[0].log_loss == pytest.approx(losses_of_sure()[0])


def one_by_one(learner):
    game = nk.Game(learner)
    for x, y in zip(X, Y, strict=True):
        game.learn_one(x, y)
    return game.ledger


class ManySure(Outside):
    """Knows labels as they come; each of k has 1/(k+1), and so has one never seen."""

    task, labels = "multiclass", 0

    def predict_one(self, x):
        return 0

    def probabilities_one(self, x):
        return np.full(self.labels, 1.0 / (self.labels + 1))

    def learn_one(self, x, y):
        self.labels = max(self.labels, y + 1)


def test_probabilities_of_many_labels_are_asked_before_each_label():
    ledger = nk.play(ManySure(), (X[:4], ["a", "b", "a", "c"]), labels="multiclass")
    assert ledger.log_loss == pytest.approx(math.log(1 * 2 * 3 * 3))
    briers = [0.0, 0.25 + 0.25, 1 / 9 + 4 / 9, 2 / 9 + 4 / 9]
    assert ledger.brier == pytest.approx(sum(briers))


def test_a_batch_without_its_probabilities_is_refused():
    class Together(Sure):
        def learn_many(self, batch):
            return np.ones(len(batch), dtype=np.int8)

    with pytest.raises(MismatchError, match="learn_many of a learner with probabilities must return them"):
        nk.play(Together(), (X, Y))


@pytest.mark.parametrize("p", [1.5, -0.1, math.nan, math.inf])
def test_a_probability_outside_0_and_1_is_refused(p):
    class Wild(Sure):
        def probability_one(self, x):
            return p

    class Batches(Wild):
        def learn_many(self, batch):
            wrong = np.zeros(len(batch))
            return StepResult(np.ones(len(batch)), wrong, wrong, probabilities=np.full(len(batch), p))

    for kind in (Wild, Batches):
        with pytest.raises(InputError, match="a probability must be from 0 to 1: "):
            nk.play(kind(), (X, Y))


class Cheat(Outside):
    """Writes into the labels what it said."""

    def learn_many(self, batch):
        said = np.ones(len(batch), dtype=np.int8)
        batch.y[...] = said
        return said


class Free(Outside):
    """Says that nothing was lost."""

    def learn_many(self, batch):
        nothing = np.zeros(len(batch))
        return StepResult(np.ones(len(batch), dtype=np.int8), nothing, nothing)


@pytest.mark.parametrize("kind", [Cheat, Free])
def test_mistakes_are_counted_from_labels_that_the_learner_cannot_change(kind):
    y = Y.copy()
    ledger = nk.play(kind(), (X, y))
    assert np.array_equal(y, Y)
    assert ledger.mistakes == np.count_nonzero(Y == -1)
    team = nk.play(nk.Hedge([kind(), nk.Perceptron()]), (X, y))
    assert team.members[0].mistakes == ledger.mistakes
    assert team.members[1].mistakes == nk.play(nk.Perceptron(), (X, Y)).mistakes


def test_losses_of_numbers_are_counted_from_the_outcomes():
    class Number(Outside):
        task, loss = "regression", "squared"

        def predict_one(self, x):
            return 0.0

        def play_one(self, x, y):
            return StepResult(0.0, 0.0, 0.0)

    assert nk.play(Number(), nk.RegressionArrays(X, np.full(60, 2.0))).loss == 240.0


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_cannot_be_written_into(form):
    class Writes(Outside):
        def __init__(self, many, says):
            self.learn_many = self._many if many else None
            self.says = says

        def _many(self, batch):
            rows = batch.x if isinstance(batch.x, np.ndarray) else batch.x.values
            rows[...] = 0.0
            return np.ones(len(batch), dtype=np.int8)

        def _write(self, x):
            (x if isinstance(x, np.ndarray) else x[1])[...] = 0.0
            return 1

        def predict_one(self, x):
            return self._write(x) if self.says else 1

        def learn_one(self, x, y):
            self._write(x)

    x = X.copy()
    given = form(x)
    for many, says in ((True, False), (False, False), (False, True)):
        learner = Writes(many, says)
        if not many:
            del learner.learn_many
        with pytest.raises(ValueError, match="read-only"):
            nk.play(learner, (given, Y))
    game = nk.Game(Writes(True, True))
    for act in (lambda: game.predict_one(x[0]), lambda: game.learn_one(x[0], 1)):
        with pytest.raises(ValueError, match="read-only"):
            act()
    assert np.array_equal(x, X)
    assert np.array_equal(given.toarray() if form is csr_array else given, X)


def test_a_mapping_is_copied():
    class Pops(Outside):
        def learn_one(self, x, y):
            x.clear()

    x = {"a": 1.0}
    nk.Game(Pops()).learn_one(x, 1)
    assert x == {"a": 1.0}


@pytest.mark.parametrize("model", [SGDClassifier(loss="log_loss", random_state=0), SGDRegressor(random_state=0)])
def test_a_wrapped_model_that_scales_in_place_changes_no_rows(model):
    x = X.copy()
    y = Y.astype(float) if isinstance(model, SGDRegressor) else Y

    class Pipeline:
        """scikit-learn's pipelines have no partial_fit."""

        def __init__(self, copy):
            self.scaler = StandardScaler(copy=copy).fit(10.0 * X + 3.0)
            self.model = model.__class__(**model.get_params())

        def __sklearn_tags__(self):
            return model.__sklearn_tags__()

        def predict(self, x):
            return self.model.predict(self.scaler.transform(x))

        def predict_proba(self, x):
            return self.model.predict_proba(self.scaler.transform(x))

        def partial_fit(self, x, y, **more):
            self.model.partial_fit(self.scaler.transform(x), y, **more)

    source = nk.RegressionArrays if isinstance(model, SGDRegressor) else nk.Arrays
    ledgers = [nk.play(nk.wrap(Pipeline(copy)), source(x, y)) for copy in (False, True)]
    assert np.array_equal(x, X)
    assert ledgers[0].loss == ledgers[1].loss
    assert ledgers[0].log_loss == ledgers[1].log_loss


@pytest.mark.parametrize(("gives", "taken"), [(1.5, 1.0), (-3.0, 0.0), (math.inf, 1.0), (math.nan, 0.5)])
def test_a_wrapped_probability_is_cut_off(gives, taken):
    class Wild(SGDClassifier):
        def predict_proba(self, x):
            return np.array([[1.0 - gives, gives]])

    learner = nk.wrap(Wild(random_state=0))
    ledger = nk.play(learner, (X, np.ones(60, dtype=np.int8)))
    assert learner.probability_one(X[0]) == taken
    given = np.array([0.5] + [taken] * 59)
    assert ledger.log_loss == pytest.approx(math.inf if taken == 0.0 else -np.log(given).sum())


class Unlocks(Outside):
    """Makes what it is shown writable again, and writes into it."""

    def _write(self, values):
        values.flags.writeable = True
        values[...] = 7.0

    def learn_one(self, x, y):
        self._write(x)

    def learn_many(self, batch):
        for part in (batch.x.indices, batch.x.values) if hasattr(batch.x, "values") else (batch.x,):
            self._write(part)
        return np.ones(len(batch), dtype=np.int8)


@pytest.mark.parametrize("sparse", [False, True])
def test_learner_that_makes_arrays_writable_writes_into_copies(sparse):
    given = X.copy()
    rows = csr_array(given) if sparse else given
    nk.play(Unlocks(), (rows, Y))
    np.testing.assert_array_equal(rows.toarray() if sparse else given, X)
    game = nk.Game(Unlocks())
    game.learn_one(given[0], 1)
    np.testing.assert_array_equal(given, X)
