"""Objects from outside the package that become learners: two methods are enough to play everywhere."""

import ast
import pathlib

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError, MismatchError


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


def test_own_learners_are_adapted_to_themselves():
    learner = nk.Perceptron()
    assert adapt(learner) is learner
    assert adapt(adapt(found := Majority())).original is found


class Mean:
    """Two methods of a regression: the mean of the outcomes so far."""

    task = "regression"

    def __init__(self):
        self.count, self.total = 0, 0.0

    def predict_one(self, x):
        return self.total / self.count if self.count else 0.0

    def learn_one(self, x, y):
        self.count, self.total = self.count + 1, self.total + y


class Mode:
    """Two methods of a multiclass task: the most frequent label so far."""

    task = "multiclass"

    def __init__(self):
        self.counts = {}

    def predict_one(self, x):
        return max(self.counts, key=self.counts.get, default=0)

    def learn_one(self, x, y):
        self.counts[y] = self.counts.get(y, 0) + 1


class Rate(Majority):
    """Three methods: a frequency as the probability of +1."""

    def __init__(self):
        self.rounds, self.positive = 2, 1

    def probability_one(self, x):
        return self.positive / self.rounds

    def predict_one(self, x):
        return 1 if 2 * self.positive >= self.rounds else -1

    def learn_one(self, x, y):
        self.rounds, self.positive = self.rounds + 1, self.positive + (y == 1)


def one_by_one(learner, x, y):
    game = nk.Game(learner)
    for row, outcome in zip(x, y, strict=True):
        game.learn_one(row, outcome)
    return game.ledger


def test_losses_of_a_regression_of_two_methods_are_squared_errors():
    x, y = rows()[0], [1.0, 2.5, 4.0] * 20
    learner, paid = Mean(), 0.0
    for outcome in y:
        paid += (learner.predict_one(None) - outcome) ** 2
        learner.learn_one(None, outcome)
    for ledger in (nk.play(Mean(), (x[:60], np.array(y))), one_by_one(Mean(), x[:60], y)):
        assert ledger.loss == pytest.approx(paid)
        assert ledger.rmse == pytest.approx((paid / 60) ** 0.5)
    covered = nk.play(nk.Conformal(Mean(), alpha=0.2), (x[:60], np.array(y)))
    assert covered.loss == pytest.approx(paid)
    assert {one.status for one in covered.certify()} == {"valid"}


def test_regression_with_custom_loss_needs_costs():
    class Odd(Mean):
        loss = "odd"

    with pytest.raises(InputError, match="odd loss must have costs, or return a StepResult: Odd does neither"):
        nk.play(Odd(), (np.zeros((2, 1)), np.array([1.0, 2.5])))


def test_labels_of_a_multiclass_learner_of_two_methods_are_counted():
    names = ["b", "a", "b", "c", "c", "c"]
    for ledger in (nk.play(Mode(), (np.zeros((6, 1)), names)), one_by_one(Mode(), np.zeros((6, 1)), names)):
        assert (ledger.player.labels, ledger.labels) == (3, ["b", "a", "c"])
        assert ledger.mistakes == 4  # the first b is what 0 stands for
    game = nk.Game(ledger.learner, ledger)
    assert game.predict_one([0.0]) == "c"
    team = nk.play(nk.Hedge([Mode(), nk.MulticlassPerceptron()]), (np.zeros((6, 1)), names))
    assert team.members[0].mistakes == 4


def test_a_multiclass_learner_that_does_not_count_its_labels_cannot_be_saved():
    class Kept(Mode):
        def state(self):
            return dict(self.counts)

    with pytest.raises(InputError, match="must count its labels to be saved: Kept has no labels"):
        nk.play(Kept(), (np.zeros((3, 1)), ["b", "a", "c"])).player.state()


def test_specialists_and_drift_tests_copy_an_object_without_state():
    x, y = rows()
    alone, team = nk.play(Rate(), (x, y)), nk.play(nk.Specialists(Rate(), block=32), (x, y))
    assert team.members[0].log_loss == pytest.approx(alone.log_loss)
    assert {one.status for one in team.certify()} == {"valid"}
    game = nk.Game(Majority(), drift=nk.DriftTest(first=8))
    for row, label in zip(x, y.tolist(), strict=True):
        game.learn_one(row, label)
    assert game.ledger.drift.test.seen == len(y) - 8


def test_wrapped_objects_of_two_methods_play():
    pytest.importorskip("river")

    class Frequent(Majority):
        def predict_one(self, x):
            return self.total >= 0

        def learn_one(self, x, y):
            self.total += 1 if y else -1

    x, y = rows()
    assert nk.play(nk.wrap(Frequent()), (x, y)).mistakes == by_hand(x, y)


def test_compare_takes_functions_that_make_regressors():
    found = nk.compare({"mean": lambda seed: Mean()}, (np.zeros((9, 1)), np.arange(9.0) / 2.0), 1)
    assert found.learners[0].games[0].mae > 0.0


def test_an_unknown_task_is_refused():
    learner = Majority()
    learner.task = "ranking"
    with pytest.raises(InputError, match="the task of Majority must be one of binary, multiclass, .*: got 'ranking'"):
        adapt(learner)


def test_games_return_the_object_that_was_passed():
    x, y = rows()
    learner = Majority()
    ledger = nk.play(learner, (x, y))
    assert ledger.learner is nk.Game(learner, ledger).learner is learner
    nk.play(learner, (x, y), ledger=ledger)
    assert ledger.rounds == 2 * len(y)
    with pytest.raises(MismatchError, match="must belong to this learner"):
        nk.Game(Majority(), ledger)


BORDERS = {
    "core/adapt.py": "learners and streams of other packages",
    "core/batch.py": "rows of any type",
    "cli/learner_file.py": "classes of a file",
    "core/behaviour.py": "the state of learners from outside",
    "finite/behaviour.py": "the class of a learner from outside",
    "linear/behaviour.py": "the weights of a learner from outside",
    "core/display.py": "names of functions; parameters of a class by their names",
    "core/executors.py": "what the operating system has",
    "core/registry.py": "classes to be registered",
    "core/types.py": "labels of any type",
    "data/_loops/": "compiled functions, or those of Python if numba is off",
    "data/": "files, frames, arrays and dates of other libraries",
    "evaluation/repeat.py": "names of functions",
    "finite/": "names of functions; numbers of other libraries",
    "game/assistants.py": "what the operating system has",
    "game/delayed/pending.py": "rows of pandas",
    "game/following.py": "messages of other libraries",
    "game/persistence.py": "file objects",
    "game/prepare.py": "names of functions",
    "game/specs.py": "names that a function knows",
    "integrations/": "models of River and scikit-learn",
    "numerics/caching.py": "settings of numba",
    "numerics/compiled.py": "internals of numba",
    "server/": "errors of other libraries; arrays without an import of numpy",
    "cli/send.py": "errors of the operating system",
    "testing/": "objects to be tested",
}
"""Modules that look for attributes of objects from outside, each with what they are."""


def probes(path):
    """Yield the lines in which an object is asked for an attribute that it may not have."""
    source = path.read_text(encoding="utf-8")
    if "attr(" not in source:  # parsing takes longest
        return
    for node in ast.walk(ast.parse(source)):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if called == "hasattr" or (called == "getattr" and len(node.args) == 3):
            yield node.lineno


def test_only_borders_probe_objects_for_attributes():
    source = pathlib.Path(nk.__file__).parent
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if [*probes(path)]}
    assert [name for name in sorted(found) if not any(name.startswith(border) for border in BORDERS)] == []
    assert [border for border in BORDERS if not any(name.startswith(border) for name in found)] == []
