"""Traces: the potentials of the proofs, every inequality on arbitrary streams, and broken learners at their round."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError
from novikoff.core.types import StepResult
from novikoff.game import trace as tracing
from novikoff.reports import proof as drawing

THRESHOLDS = nk.classes.thresholds(20)

LEARNERS: dict[str, Any] = {
    "perceptron": nk.Perceptron,
    "perceptron with bias": lambda: nk.Perceptron(bias=1.0),
    "normalized perceptron": lambda: nk.Perceptron(normalize=True),
    "ellipsoid": nk.Ellipsoid,
    "deep ellipsoid": lambda: nk.Ellipsoid(cuts="deep"),
    "kernel perceptron": nk.KernelPerceptron,
    "polynomial kernel": lambda: nk.KernelPerceptron(kernel="polynomial"),
    "randomized budget": lambda: nk.RandomizedBudgetPerceptron(budget=3),
    "forgetron": lambda: nk.Forgetron(budget=3),
    "basic forgetron": lambda: nk.Forgetron(budget=3, basic=True),
    "linear forgetron": lambda: nk.Forgetron(budget=3, kernel="linear", radius=20.0),
}
"""Learners on vectors whose proof is followed."""

FINITE: dict[str, Any] = {
    "halving": lambda: nk.Halving(THRESHOLDS),
    "conservative halving": lambda: nk.Halving(THRESHOLDS, conservative=True),
    "halving with a prior": lambda: nk.Halving(THRESHOLDS, prior=list(range(1, 23))),
    "threshold halving": lambda: nk.ThresholdHalving(20),
    "consistent": lambda: nk.Consistent(THRESHOLDS),
    "random consistent": lambda: nk.Consistent(THRESHOLDS, random=True),
    "weighted majority": lambda: nk.WeightedMajority(THRESHOLDS),
    "weighted majority with beta 0.9": lambda: nk.WeightedMajority(THRESHOLDS, beta=0.9),
}
"""Learners on a grid whose proof is followed."""

rows = st.lists(
    st.tuples(st.lists(st.integers(-5, 5), min_size=2, max_size=2), st.sampled_from([-1, 1])), min_size=1, max_size=40
)
points = st.lists(st.tuples(st.integers(0, 20), st.sampled_from([-1, 1])), min_size=1, max_size=40)


def traced(learner: Any, stream: Any, **more: Any) -> tracing.Trace:
    found = nk.play(learner, stream, trace=True, **more).trace
    assert found is not None
    return found


def failures(trace: tracing.Trace) -> list[tuple[int, str]]:
    assert trace.failed is not None
    assert trace.proof is not None
    return [failure for check in trace.proof.checks for failure in check.failures]


@pytest.mark.parametrize("name", LEARNERS)
@given(stream=rows)
@example(stream=[([4, 0], -1), ([4, 0], 1), ([0, 1], -1)])  # m - D is 1e-8, a difference of terms near 1
@example(stream=[([-1, -1], -1), ([0, -1], -1), ([0, 2], -1), ([2, 1], -1)])  # <f,u> cancels to -3e-17
@example(stream=[([5, 1], -1), ([2e-8, 1e-8], -1), ([-3e-8, 1e-8], 1), ([5, 1], -1)])  # gains far below 1
def test_every_inequality_holds_on_arbitrary_rows(name: str, stream: Any) -> None:
    trace = traced(LEARNERS[name](), [(np.array(x, dtype=float), y) for x, y in stream])
    assert not trace.failed, trace.summary()


@pytest.mark.parametrize("name", FINITE)
@given(stream=points)
@settings(max_examples=12, deadline=None)
def test_every_inequality_holds_on_arbitrary_points(name: str, stream: Any) -> None:
    trace = traced(FINITE[name](), stream)
    assert not trace.failed, trace.summary()


@given(losses=st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=30))
@pytest.mark.parametrize("rate", ["anytime", "doubling", "horizon"])
@settings(max_examples=12, deadline=None)
def test_every_inequality_of_exponential_weights_holds(rate: str, losses: list[list[float]]) -> None:
    given_ = {"horizon": len(losses)} if rate == "horizon" else {"rate": rate}
    trace = traced(nk.ExponentialWeights(3, loss="table", **given_), np.array(losses))
    assert not trace.failed, trace.summary()
    assert trace.proof is not None
    assert trace.proof.checks[0].checked == len(losses)


@pytest.mark.parametrize("name", [*LEARNERS, *FINITE])
def test_trace_changes_nothing(name: str) -> None:
    random = np.random.default_rng(1)
    if name in LEARNERS:
        x = random.normal(size=(60, 2))
        stream: Any = (x, np.where(x @ [1.0, -1.0] + 0.3 * random.normal(size=60) > 0, 1, -1))
        make = LEARNERS[name]
    else:
        stream, make = [(int(k), 1 if k > 7 else -1) for k in random.integers(0, 21, 60)], FINITE[name]
    plain, followed = nk.play(make(), stream, record=True), nk.play(make(), stream, record=True, trace=True)
    assert plain.recorded().tolist() == followed.recorded().tolist()
    assert plain.certify() == followed.certify()
    assert plain.trace is None
    assert followed.trace is not None


def test_potentials_of_the_perceptron_by_hand() -> None:
    stream = [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([2.0, 1.0], 1), ([1.0, 0.0], -1)]
    trace = traced(nk.Perceptron(), stream)
    assert trace.columns == ("t", "x", "prediction", "label", "mistake", "<w,u>", "||w||^2")
    assert [row.mistake for row in trace.rows] == [True, False, True, True]
    # w = (-1,0), (-1,0), (1,1), (0,1)
    assert [row.potentials[1] for row in trace.rows] == [1.0, 1.0, 2.0, 1.0]
    proof = trace.proof
    assert proof is not None
    assert [point.mistakes for point in proof.points] == [0, 1, 2, 3]
    # ||u|| sqrt(1 + 5 + 1) after three mistakes, ||u|| sqrt(1) after the first
    last, first = proof.points[-1].values[3], proof.points[1].values[3]
    assert last / first == pytest.approx(7**0.5)
    assert trace.rows[0].potentials[0] == pytest.approx(proof.points[1].values[1])


def test_potentials_of_halving_by_hand() -> None:
    trace = traced(nk.ThresholdHalving(6), [(3, 1), (1, -1), (2, -1)])
    assert [row.potentials for row in trace.rows] == [(4,), (2,), (1,)]
    assert trace.summary() == [
        "|V| falls to half or less: checked at 2 of 2 mistakes",
        "0 <= log2 |V| <= log2 |H| - m: checked at 2 of 2 mistakes",
    ]


def test_contradiction_ends_the_proof_and_is_no_failure() -> None:
    trace = traced(nk.ThresholdHalving(6), [(3, 1), (3, -1), (3, 1)])
    assert not trace.failed
    assert trace.summary()[-1] == "the theorem does not apply from round 2 on: no hypothesis fits all labels"


def test_separable_rows_have_no_loss_and_mistakes_stay_below_the_upper_side() -> None:
    x = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0], [-3.0, -1.0], [2.0, -1.0], [-2.0, 1.0]] * 3)
    y = np.where(x @ [2.0, 1.0] > 0, 1, -1)
    proof = traced(nk.Perceptron(), (x, y)).proof
    assert proof is not None
    for point in proof.points:
        assert point.values[0] == pytest.approx(point.mistakes)  # D = 0
        assert point.mistakes <= point.values[3] * (1 + 1e-9)


class Unfiltered(nk.Halving):
    """Halving that never removes a hypothesis."""

    def _keep(self, ballot: Any, y: Any) -> None:
        pass


class AlwaysPositive(nk.ThresholdHalving):
    """Halving that ignores the vote."""

    def predict_one(self, x: Any) -> Any:
        return 1

    def play_one(self, x: Any, y: Any) -> Any:
        super().play_one(x, y)
        return 1


class Doubled(nk.Perceptron):
    """Perceptron that adds 2 y x, and again after each mistake."""

    def play_one(self, x: Any, y: Any) -> Any:
        prediction = super().play_one(x, y)
        if prediction != y:
            self._weights += 3.0 * y * np.asarray(x)
        return prediction


class Backwards(nk.Perceptron):
    """Perceptron that subtracts y x."""

    def play_one(self, x: Any, y: Any) -> Any:
        prediction = super().play_one(x, y)
        if prediction != y:
            self._weights -= 2.0 * y * np.asarray(x)
        return prediction


class Eager(nk.Perceptron):
    """Perceptron that changes in every round."""

    def play_one(self, x: Any, y: Any) -> Any:
        prediction = super().play_one(x, y)
        if prediction == y:
            self._weights += 0.5 * y * np.asarray(x)
        return prediction


class Stuck(nk.Ellipsoid):
    """Ellipsoid that is never cut."""

    def play_one(self, x: Any, y: Any) -> Any:
        return self.predict_one(x)


class Forgetful(nk.KernelPerceptron):
    """Kernel Perceptron that inserts no example."""

    def play_one(self, x: Any, y: Any) -> Any:
        return self.predict_one(x)


class Stubborn(nk.WeightedMajority):
    """Weighted majority that predicts the minority."""

    def _winner(self, choices: Any) -> Any:
        return -super()._winner(choices)


class Costly(nk.ExponentialWeights):
    """Exponential weights that pays the largest loss."""

    def play_one(self, x: Any, y: Any) -> Any:
        played = super().play_one(x, y)
        worst = float(np.max(y))
        return StepResult(played.predictions, worst, worst)

    def learn_many(self, batch: Any) -> Any:
        return None


LINE = [(np.array([1.0, 0.2]), -1), (np.array([0.9, -0.3]), 1), (np.array([1.0, 0.1]), -1), (np.array([0.8, -0.4]), 1)]


@pytest.mark.parametrize(
    ("broken", "stream", "claim", "round_"),
    [
        (Unfiltered(THRESHOLDS), [(10, -1), (15, -1)], "|V| falls to half or less", 1),
        (AlwaysPositive(20), [(3, -1), (5, -1)], "|V| falls to half or less", 1),
        (Doubled(), LINE, "||w||^2 grows by ||x||^2 or less", 1),
        (Backwards(), LINE, "<w,u> rises by 1 - loss of u or more", 1),
        (Eager(), LINE, "w changes at mistakes only", 0),
        (Stuck(), LINE, "ln volume falls by ln(1/kappa) or more", 1),
        (Forgetful(), LINE, "<f,u> rises by 1 - loss of u or more", 1),
        (Stubborn(THRESHOLDS), [(10, 1), (10, 1), (10, 1)], "W falls by (1+beta)/2 or more", 2),
    ],
)  # fmt: skip
def test_broken_learner_fails_at_its_round(broken: Any, stream: Any, claim: str, round_: int) -> None:
    trace = traced(broken, stream * 3)
    assert trace.failed, trace.summary()
    assert trace.proof is not None
    found = {check.claim: check for check in trace.proof.checks if check.failed}
    assert claim in found, trace.summary()
    if round_:
        assert found[claim].failures[0][0] == round_
    assert any(f"{claim}: FAILED at " in line for line in trace.summary())


def test_broken_exponential_weights_fails() -> None:
    losses = np.array([[0.0, 1.0, 1.0]] * 20)
    trace = traced(Costly(3, loss="table", horizon=20), losses)
    assert trace.failed
    assert failures(trace)


def test_rows_of_every_form_give_the_same_potentials() -> None:
    random = np.random.default_rng(3)
    x = random.integers(-3, 4, (50, 3)).astype(float)
    y = np.where(x @ [1.0, -2.0, 0.5] + 0.1 > 0, 1, -1)
    dicts = [({k: v for k, v in enumerate(row) if v}, int(label)) for row, label in zip(x.tolist(), y, strict=True)]
    pairs = [(np.array(row), int(label)) for row, label in zip(x, y, strict=True)]
    from scipy.sparse import csr_matrix

    found = [traced(nk.Perceptron(bias=1.0), source) for source in ((x, y), pairs, dicts, (csr_matrix(x), y))]
    for one in found[1:]:
        assert not one.failed
        assert [r.potentials[1] for r in one.rows] == [r.potentials[1] for r in found[0].rows]
        products = [r.potentials[0] for r in one.rows]
        assert products == pytest.approx([r.potentials[0] for r in found[0].rows])


def test_scaled_columns_are_followed_as_the_learner_sees_them() -> None:
    trace = nk.play("perceptron", "demo:iris", trace=True).trace
    assert trace is not None
    assert not trace.failed
    assert trace.proof is not None
    assert all(check.checked == check.of for check in trace.proof.checks)
    assert {row.label for row in trace.rows} == {"setosa", "not setosa"}


def test_resumed_learner_starts_from_its_weights() -> None:
    learner = nk.Perceptron()
    nk.play(learner, LINE)
    trace = traced(learner, LINE * 2)
    assert not trace.failed, trace.summary()


def test_memory_is_bounded_and_checks_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "FIRST", 10)
    monkeypatch.setattr(tracing, "MISTAKES", 5)
    random = np.random.default_rng(0)
    stream = [
        (int(k), int(label))
        for k, label in zip(random.integers(0, 21, 3000), random.choice([-1, 1], 3000), strict=True)
    ]
    trace = traced(nk.WeightedMajority(THRESHOLDS), stream)
    assert len(trace) <= 10 + 5 + tracing.LAST
    assert [row.t for row in trace.rows] == sorted({row.t for row in trace.rows})
    assert trace.rows[-1].t == 3000
    assert not trace.whole
    assert trace.proof is not None
    assert trace.proof.checks[0].checked == nk.play(nk.WeightedMajority(THRESHOLDS), stream).mistakes


def test_changes_beyond_the_limit_are_counted_as_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    from novikoff.linear import proofs

    monkeypatch.setattr(proofs, "MOST_NUMBERS", 20)
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 2))
    trace = traced(nk.Perceptron(), (x, random.choice([-1, 1], 200)))
    lines = trace.summary()
    assert lines[0].startswith("||w||^2 grows")
    assert "checked at" in lines[0]
    rises = next(check for check in trace.proof.checks if check.claim.startswith("<w,u>"))  # type: ignore[union-attr]
    assert 0 < rises.checked < rises.of
    assert not trace.failed
    assert trace.rows[-1].potentials[0] is None


def test_frame_has_a_row_per_round() -> None:
    pytest.importorskip("pandas")
    frame = traced(nk.ThresholdHalving(6), [(3, 1), (1, -1), (2, -1)]).frame()
    assert frame["|V|"].tolist() == [4, 2, 1]
    assert frame["mistake"].tolist() == [False, True, True]


def test_trace_of_a_learner_without_a_proof_has_the_rounds() -> None:
    trace = nk.play("auto", "demo:iris", rounds=5, trace=True).trace
    assert trace is not None
    assert len(trace) == 5
    assert not trace.failed
    assert trace.columns == ("t", "x", "prediction", "label", "mistake")
    assert trace.summary() == ["no proof is followed for Auto: the table has no potentials"]


def test_long_table_shows_first_mistakes_and_last() -> None:
    stream = [(10, 1 if t % 100 == 50 else -1) for t in range(300)]
    lines = list(drawing.table(traced(nk.WeightedMajority(THRESHOLDS), stream)))
    assert len(lines) < 40
    assert [line for line in lines if line.split()[0] in ("51", "151", "251")]
    assert any(line.startswith("... ") and line.endswith("rounds") for line in lines)
    assert lines[-1].split()[0] == "300"


# The command line


def test_duel_prints_the_trace_and_its_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["duel", "threshold-halving:n=1000", "grid-bisection:n=1000", "--rounds", "12", "--trace"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["t", "x", "prediction", "label", "mistake", "|V|"]
    assert "|V| falls to half or less: checked at 9 of 9 mistakes (proof of halving_mistakes)" in out


def test_run_writes_trace_files(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("t.csv", "t.jsonl"):
        assert main(["run", "perceptron", "demo:iris", "-q", "--trace", str(tmp_path / name)]) == 0
        assert main(["run", "perceptron", "demo:iris", "-q", "--trace", str(tmp_path / name)]) == 0  # its own file
    with (tmp_path / "t.csv").open() as file:
        table = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert len(table) == len(lines) == 150
    assert [float(row["||w||^2"]) for row in table] == [row["||w||^2"] for row in lines]
    assert sum(row["mistake"] for row in lines) == 6
    (tmp_path / "other.csv").write_text("a,b\n")
    assert main(["run", "perceptron", "demo:iris", "-q", "--trace", str(tmp_path / "other.csv")]) != 0
    assert (tmp_path / "other.csv").read_text() == "a,b\n"


def test_json_has_checks_and_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "perceptron", "demo:iris", "--json", "--trace"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["trace"]) == 150
    assert found["proof"]["theorem"] == "perceptron_hinge"
    assert all(check["checked"] == check["of"] == 6 and not check["failed"] for check in found["proof"]["checks"])


def test_plot_of_the_proof(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "proof.svg"
    assert main(["run", "ellipsoid", "demo:iris", "-q", "--plot", str(path), "--chart", "proof"]) == 0
    text = path.read_text()
    assert "proof of ellipsoid_margin" in text
    assert "ln volume" in text
    assert "checked at" in text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--chart", "proof"], "--chart proof needs a file: pass --plot FILE too."),
        (["--trace", "nowhere.txt"], "a trace must be a CSV or a JSON Lines file: got nowhere.txt."),
    ],
)
def test_impossible_requests_are_refused(options: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "perceptron", "demo:iris", *options]) != 0
    assert error in capsys.readouterr().err


def test_chart_of_a_learner_without_a_proof_is_refused(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "auto", "demo:iris", "--plot", str(tmp_path / "p.svg"), "--chart", "proof"]) != 0
    assert "--chart proof needs a learner whose proof is followed: auto" in capsys.readouterr().err
    assert not (tmp_path / "p.svg").exists()


def test_path_of_a_trace_is_checked(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="does not exist"):
        tracing.check_path(str(tmp_path / "no" / "t.csv"))
