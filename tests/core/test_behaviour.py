"""Two methods are enough: what a learner was seen to do gives it the theorems whose assumptions held in every round."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from helpers import novikoff
from novikoff.core.adapt import adapt


class Plain:
    """The Perceptron in two methods."""

    def __init__(self, width: int = 2) -> None:
        self.weights = np.zeros(width)

    def predict_one(self, x: Any) -> int:
        return 1 if self.weights @ x >= 0 else -1

    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights = self.weights + y * x


class InPlace(Plain):
    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights += y * x


class Later(Plain):
    """Weights that exist from the first mistake on."""

    def __init__(self) -> None:
        self.weights = None  # type: ignore[assignment]

    def predict_one(self, x: Any) -> int:
        return 1 if self.weights is None or self.weights @ x >= 0 else -1

    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights = (np.zeros(len(x)) if self.weights is None else self.weights) + y * x


class WithBias(Plain):
    def __init__(self) -> None:
        super().__init__(3)

    def predict_one(self, x: Any) -> int:
        return 1 if self.weights @ np.append(x, 1.0) >= 0 else -1

    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights = self.weights + y * np.append(x, 1.0)


class Counting(Plain):
    """Counts its rounds, so its state changes in every one; its weights do not."""

    seen = 0

    def learn_one(self, x: Any, y: int) -> None:
        self.seen += 1
        super().learn_one(x, y)


class Eager(Plain):
    def learn_one(self, x: Any, y: int) -> None:
        self.weights = self.weights + y * x


class Halved(Plain):
    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights = self.weights + 0.5 * y * x


class Constant(Plain):
    """Adds y x at its mistakes, and predicts something else than the sign."""

    def predict_one(self, x: Any) -> int:
        return 1


class Drifting(Plain):
    """Changes its weights when it predicts."""

    def predict_one(self, x: Any) -> int:
        prediction = super().predict_one(x)
        self.weights = self.weights * 0.9
        return prediction


class Jitter(Plain):
    """Adds y x, and a unit in the last place."""

    def learn_one(self, x: Any, y: int) -> None:
        if self.predict_one(x) != y:
            self.weights = np.nextafter(self.weights + y * x, np.inf)


rows = st.lists(
    st.tuples(st.lists(st.integers(-4, 4), min_size=2, max_size=2), st.sampled_from([-1, 1])), min_size=1, max_size=40
)


def arrays(stream: Any) -> list[tuple[Any, int]]:
    return [(np.array(x, dtype=float), y) for x, y in stream]


def line(rounds: int = 60) -> list[tuple[Any, int]]:
    random = np.random.default_rng(2)
    x = random.normal(size=(rounds, 2))
    return [(row, 1 if row @ [1.0, -2.0] > 0 else -1) for row in x]


@pytest.mark.parametrize(
    ("kind", "bias"), [(Plain, 0.0), (InPlace, 0.0), (Later, 0.0), (WithBias, 1.0), (Counting, 0.0)]
)
@given(stream=rows)
@settings(max_examples=15, deadline=None)
def test_perceptron_from_outside_has_the_certificates_of_the_built_in(kind: Any, bias: float, stream: Any) -> None:
    ours, theirs = (nk.play(one, arrays(stream)) for one in (nk.Perceptron(bias=bias), kind()))
    assert theirs.mistakes == ours.mistakes
    assert [str(one) for one in theirs.certify()] == [str(one) for one in ours.certify()]
    assert [one.assumptions for one in theirs.certify()] == [one.assumptions for one in ours.certify()]


@pytest.mark.parametrize(
    ("kind", "refuted"),
    [
        (Eager, {"its weights changed at mistakes only", "it changed at its mistakes only"}),
        (Halved, {"each mistake added y x to its weights"}),
        (Jitter, {"each mistake added y x to its weights"}),
        (Constant, {"its prediction is the sign of <w, x>"}),
        (Drifting, {"its weights changed at mistakes only"}),
    ],
)
def test_other_behaviour_is_refuted_and_gets_no_theorem(kind: Any, refuted: set[str]) -> None:
    ledger = nk.play(kind(), line())
    found = {claim.claim for one in ledger.player.behaviours for claim in one.claims if claim.standing == "refuted"}
    assert refuted <= found
    assert ledger.certify() == []


def test_change_between_rounds_is_refuted() -> None:
    learner = Plain()
    game = nk.Game(learner)  # type: ignore[arg-type]
    for x, y in line(20):
        game.learn_one(x, y)
    assert game.ledger.certify()
    learner.weights = learner.weights * 1.0  # an equal copy
    game.learn_one(*line(21)[-1])
    assert game.ledger.certify()
    learner.weights = learner.weights * 2.0
    game.learn_one(*line(22)[-1])
    assert game.ledger.certify() == []


def test_warm_start_uses_the_weights_at_the_start() -> None:
    learner = Plain()
    nk.play(learner, line(30))  # type: ignore[arg-type]
    again = nk.Perceptron()
    nk.play(again, line(30))
    stream = line(80)[30:]
    ours, theirs = nk.play(again, stream), nk.play(learner, stream)  # type: ignore[arg-type]
    assert [str(one) for one in theirs.certify()] == [str(one) for one in ours.certify()]


@given(stream=rows)
@settings(max_examples=15, deadline=None)
def test_certificates_from_behaviour_are_never_violated(stream: Any) -> None:
    for kind in (Plain, WithBias, Eager, Halved, Constant, Drifting, Jitter):
        ledger = nk.play(kind(), arrays(stream))  # type: ignore[abstract]
        assert all(one.status != "violated" for one in ledger.certify())


class Grid:
    """Halving for thresholds, in two methods."""

    def __init__(self) -> None:
        self.hypotheses = nk.classes.thresholds(20)
        self.lo, self.hi = 0, 21

    def predict_one(self, x: int) -> int:
        return 1 if 2 * x + 1 >= self.lo + self.hi else -1

    def learn_one(self, x: int, y: int) -> None:
        if y == 1:
            self.hi = min(self.hi, x)
        else:
            self.lo = max(self.lo, x + 1)


class First(Grid):
    """The first consistent threshold."""

    def predict_one(self, x: int) -> int:
        return 1 if x >= self.lo else -1


class Positive(Grid):
    def predict_one(self, x: int) -> int:
        return 1


POINTS = [(10, -1), (15, 1), (12, -1), (13, -1), (14, 1), (20, 1), (3, -1)]


@pytest.mark.parametrize(
    ("kind", "theorems"),
    [(Grid, {"halving_mistakes", "consistent_mistakes"}), (First, {"consistent_mistakes"}), (Positive, set())],
)
def test_learner_with_a_class_gets_the_theorems_that_its_predictions_satisfy(kind: Any, theorems: set[str]) -> None:
    ledger = nk.play(kind(), POINTS)
    assert {one.theorem for one in ledger.certify()} == theorems
    assert all(one.status != "violated" for one in ledger.certify())
    if kind is Grid:
        ours = {one.theorem: one.bound for one in nk.play(nk.ThresholdHalving(20), POINTS).certify()}
        assert {one.theorem: one.bound for one in ledger.certify()}["halving_mistakes"] == ours["halving_mistakes"]


@pytest.mark.parametrize(("kind", "theorem"), [(Grid, "halving_mistakes"), (First, "consistent_mistakes")])
def test_trace_follows_the_proof_that_the_predictions_satisfy(kind: Any, theorem: str) -> None:
    ledger = nk.play(kind(), POINTS, trace=True)
    trace = ledger.trace
    assert trace is not None
    assert not trace.failed, trace.summary()
    assert trace.proof is not None
    assert trace.proof.theorem == theorem
    assert trace.proof.checks[0].checked == ledger.mistakes > 0
    assert trace.columns[-1] == "|V|"


def test_contradicted_labels_make_the_certificates_void() -> None:
    ledger = nk.play(Grid(), [(10, 1), (10, -1)])  # type: ignore[arg-type]
    assert {one.status for one in ledger.certify()} <= {"void"}


def test_report_states_behaviour_and_theorems(tmp_path: Any, nothing_else_registered: Any) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\n\nclass MyPerceptron:\n    def __init__(self, width=4):\n"
        "        self.weights = np.zeros(width)\n\n    def predict_one(self, x):\n"
        "        return 1 if self.weights @ x >= 0 else -1\n\n    def learn_one(self, x, y):\n"
        "        if self.predict_one(x) != y:\n            self.weights += y * x\n"
    )
    code, out, error = novikoff("run", "mine.py:MyPerceptron", "demo:iris", "-q", cwd=tmp_path)
    assert code == 0, error
    text = " ".join(out.split())
    assert "each mistake added y x to its weights: checked" in text
    assert "so the theorems of the Perceptron apply (perceptron_lengths, perceptron_hinge" in text
    assert "certificate valid: 0.0333 mistakes per row (5 in 150)" in text
    code, out, error = novikoff("run", "mine.py:width=4", "demo:iris", "--json", cwd=tmp_path)
    assert code == 0, error
    assert {one["standing"] for one in json.loads(out)["behaviour"]} == {"checked"}
    code, out, error = novikoff("duel", "mine.py:MyPerceptron,width=5", "orthogonal:5", "--rounds", "5", cwd=tmp_path)
    assert code == 0, error
    code, out, error = novikoff(
        "compare", "demo:iris", "-l", "mine.py", "-l", "perceptron:scale=none,bias=0", cwd=tmp_path
    )
    assert code == 0, error
    assert "my-perceptron" in out
    code, _, error = novikoff("run", "mine.py:Nobody", "demo:iris", cwd=tmp_path)
    assert code != 0
    assert "it has no class Nobody with predict_one and learn_one. It has MyPerceptron." in error
    code, _, error = novikoff("run", "absent.py:Nobody", "demo:iris", cwd=tmp_path)
    assert code != 0
    assert "a learner's file must exist: absent.py does not." in error


def test_trace_follows_a_perceptron_from_outside_and_shows_where_another_fails() -> None:
    good, bad = (nk.play(kind(), line(), trace=True).trace for kind in (WithBias, Halved))
    assert good is not None
    assert bad is not None
    assert not good.failed, good.summary()
    assert bad.failed
    ours = nk.play(nk.Perceptron(bias=1.0), line(), trace=True).trace
    assert ours is not None
    assert [row.potentials[1] for row in good.rows] == pytest.approx([row.potentials[1] for row in ours.rows])


def test_members_of_an_ensemble_have_their_theorems() -> None:
    ledger = nk.play(nk.Hedge([Plain(), nk.Perceptron()]), line())  # type: ignore[list-item]
    theirs, ours = ledger.certify_members()
    assert [str(one) for one in theirs] == [str(one) for one in ours]


def test_registered_class_of_two_methods_plays_by_its_name(nothing_else_registered: Any) -> None:
    nk.register("plain-perceptron", Plain)
    ledger = nk.play("plain-perceptron:width=2", line())
    assert ledger.certify()[0].status == "valid"


def test_copies_are_not_watched_and_learners_with_facts_are_not_either() -> None:
    player = adapt(Plain())
    player.play_one(np.array([1.0, 0.0]), -1)
    assert player.behaviours
    assert not player.copy().behaviours
    assert not adapt(nk.Perceptron()).behaviours
