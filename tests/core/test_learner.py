"""The learner contract: defaults, abilities, and objects that become learners."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError
from novikoff.core.learner import Learner
from novikoff.core.registry import CATALOG, MANY


class Majority:
    """Two methods, and nothing else of the contract."""

    def __init__(self):
        self.total = 0

    def predict_one(self, x):
        return 1 if self.total >= 0 else -1

    def learn_one(self, x, y):
        self.total += y


def rows(count=200):
    x = np.random.default_rng(0).normal(size=(count, 3))
    return x, np.where(x[:, 0] > -0.4, 1, -1)


def by_hand(x, y):
    learner, mistakes = Majority(), 0
    for row, label in zip(x, y.tolist(), strict=True):
        mistakes += learner.predict_one(row) != label
        learner.learn_one(row, label)
    return mistakes


def test_every_learner_of_the_catalog_inherits_the_contract():
    for entry in (*CATALOG.values(), *MANY.values()):
        if entry.room == "learner":
            assert issubclass(entry.load(), Learner), entry.attribute


def test_two_methods_are_enough_to_play():
    x, y = rows()
    ledger = nk.play(Majority(), (x, y))
    assert (ledger.rounds, ledger.mistakes) == (len(y), by_hand(x, y))
    assert ledger.certify() == []
    game = nk.Game(Majority())
    for row, label in zip(x, y.tolist(), strict=True):
        game.learn_one(row, label)
    assert game.ledger.mistakes == ledger.mistakes


def test_certificates_around_an_object_of_two_methods_hold():
    x, y = rows()
    for learner in (nk.Hedge([Majority(), nk.Perceptron()]), nk.Conformal(Majority(), alpha=0.2)):
        found = nk.play(learner, (x, y)).certify()
        assert found
        assert all(one.status != "violated" for one in found)
    both = nk.compare({"majority": lambda seed: Majority(), "perceptron": lambda seed: nk.Perceptron()}, (x, y), 1)
    assert both.learners[0].games[0].mistakes > 0


@pytest.mark.parametrize(("lacking", "what"), [("predict_one", "no predict_one"), ("learn_one", "no learn_one")])
def test_an_object_with_less_is_refused_in_one_sentence(lacking, what):
    kind = type("Half", (), {name: value for name, value in vars(Majority).items() if name != lacking})
    with pytest.raises(InputError, match=f"must have predict_one and learn_one: .* has {what}"):
        adapt(kind())


def test_a_learner_without_state_cannot_be_saved(tmp_path):
    with pytest.raises(nk.NovikoffError, match="Majority"):
        nk.save(nk.play(Majority(), rows()), tmp_path / "model.nk")
    with pytest.raises(InputError, match="learner with state and restore can be saved: Majority has no state"):
        adapt(Majority()).state()


def test_a_subclass_with_its_own_learn_one_learns_with_it():
    class Stubborn(nk.Perceptron):
        def learn_one(self, x, y):
            pass

    x, y = rows()
    learner = Stubborn()
    nk.play(learner, (x, y), track=False)
    assert not learner.weights.any()


def test_a_model_of_river_is_sent_to_the_wrapper():
    river = pytest.importorskip("river.linear_model")
    with pytest.raises(InputError, match=r"a River model must be wrapped.*nk\.wrap"):
        nk.play(river.LogisticRegression(), rows())


TASKS = {
    "perceptron": "binary", "logistic": "binary", "vaw": "regression", "auto-regression": "regression",
    "online-gradient": "regression", "halving": "binary", "exponential-weights": "advice", "exp3-ix": "losses",
}  # fmt: skip


@pytest.mark.parametrize(("name", "task"), TASKS.items())
def test_a_learner_knows_its_task(name, task):
    arguments = {"halving": "[thresholds:n=9]", "exponential-weights": "experts=3", "exp3-ix": "arms=3"}
    learner = nk.make(f"{name}:{arguments[name]}" if name in arguments else name, "learner")
    assert learner.task == task
    assert nk.MulticlassPerceptron().task == "multiclass"


def test_abilities_are_the_methods_a_learner_brings():
    assert nk.Perceptron().has("score_one")
    assert not nk.Perceptron().has("probability_one")
    assert nk.Scaled(nk.Logistic()).has("probability_one")
    assert not nk.Scaled(nk.Perceptron()).has("probability_one")
    assert nk.Conformal(nk.Perceptron()).has("predict_set")
    assert not nk.Conformal(nk.Perceptron()).has("probability_one")
    with pytest.raises(InputError, match="must have a probability: Perceptron has none"):
        nk.Perceptron().probability_one([1.0])


def test_own_learners_are_adapted_to_themselves():
    learner = nk.Perceptron()
    assert adapt(learner) is learner
    assert adapt(learner) is learner
    assert adapt(adapt(found := Majority())).original is found
