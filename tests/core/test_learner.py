"""The learner contract: tasks, defaults and abilities."""

import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.learner import Learner
from novikoff.core.registry import CATALOG, MANY


def test_every_learner_of_the_catalog_inherits_the_contract():
    for entry in (*CATALOG.values(), *MANY.values()):
        if entry.room == "learner":
            assert issubclass(entry.load(), Learner), entry.attribute


TASKS = {
    "perceptron": "binary", "logistic": "binary", "vaw": "regression", "auto-regression": "regression",
    "online-gradient": "regression", "halving": "binary", "exponential-weights": "advice", "exp3-ix": "losses",
}  # fmt: skip


@pytest.mark.parametrize(("name", "task"), TASKS.items())
def test_a_learner_knows_its_task(name, task):
    arguments = {"halving": "[thresholds:n=9]", "exponential-weights": "experts=3", "exp3-ix": "arms=3"}
    learner = nk.make(f"{name}:{arguments[name]}" if name in arguments else name, "learner")
    assert learner.task == task


def test_labels_of_a_multiclass_learner_are_numbered_or_fixed():
    grows, fixed = nk.MulticlassPerceptron(), nk.Halving(nk.classes.table([[0, 1, 2], [2, 1, 0]]))
    assert (grows.task, grows.numbered, grows.labels) == ("multiclass", True, 0)
    assert (fixed.task, fixed.numbered, fixed.labels) == ("multiclass", False, 3)


def test_abilities_are_the_methods_a_learner_brings():
    assert nk.Perceptron().has("score_one")
    assert not nk.Perceptron().has("probability_one")
    assert nk.Scaled(nk.Logistic()).has("probability_one")
    assert not nk.Scaled(nk.Perceptron()).has("probability_one")
    assert nk.Conformal(nk.Perceptron()).has("predict_set")
    assert not nk.Conformal(nk.Perceptron()).has("probability_one")
    with pytest.raises(InputError, match="must have a probability: Perceptron has none"):
        nk.Perceptron().probability_one([1.0])
