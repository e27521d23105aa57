"""AdaGrad: the rule by hand, its losses and their slopes, what is promised against every u, and who cheats."""

import copy
import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from helpers import novikoff
from novikoff import Batch, Game
from novikoff.convex.adagrad import AdaGrad
from novikoff.convex.comparators import tracker
from novikoff.convex.comparators.losses import CODES, ConvexLoss
from novikoff.core.errors import InputError
from novikoff.core.registry import CATALOG
from novikoff.game.specs import make
from novikoff.reports.explanation import INSTANCES, explain
from novikoff.testing import check_learner
from samples import GRID, NAMED, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "adagrad": [
        ("adagrad", *VECTORS),
        ("adagrad:rate=4,bias=0", *GRID),
        ("adagrad", *SPARSE),
        ("adagrad", *NAMED),
        ("adagrad:loss=squared", *NUMBERS),
    ],
}
"""Samples for tests/test_every_learner.py."""


def lost_more(run):
    """The same, of a learner with a convex loss, and of its mistakes."""
    tracked = dataclasses.replace(run.tracked, lost=run.tracked.lost + 500.0)
    return dataclasses.replace(cases.changed(run, lost=run.after.lost + 500.0), mistakes=500, tracked=tracked)


CASES = {
    "convex_regret": cases.of_metric(
        nk.AdaGrad, cases.apart(50), lost_more, lambda: cases.run_of(nk.AdaGrad(bias=0.0), cases.orthogonal(12, 1))
    ),
    "convex_mistakes": cases.of_metric(
        nk.AdaGrad, cases.apart(50), lost_more, lambda: cases.run_of(nk.AdaGrad(bias=0.0), cases.orthogonal(12, 1))
    ),
}
"""Cases for tests/test_every_theorem.py."""

LOSSES = [ConvexLoss("hinge"), ConvexLoss("absolute"), ConvexLoss("pinball", 0.875), ConvexLoss("huber", 0.5),
          ConvexLoss("squared")]  # fmt: skip
NUMBERS = ("absolute", "pinball", "huber", "squared")


def line(rounds=300, seed=0, width=3):
    """A line with outliers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, width)) * 10.0 ** np.arange(width)
    return x, x @ (1.0 / 10.0 ** np.arange(width)) + 4.0 + rng.standard_t(2, size=rounds)


def stream_for(loss, rounds=300, seed=0):
    x, y = line(rounds, seed)
    return nk.RegressionArrays(x, y) if loss != "hinge" else (x, np.where(y > 4.0, 1, -1))


def test_the_rule_by_hand():
    """x = 1, 2, 2 and y = 3, 1, 1, absolute loss: c = 3, M, R and H as in the docstring."""
    learner, said = AdaGrad("absolute", bias=0.0), []
    for x, y in ((1.0, 3.0), (2.0, 1.0), (2.0, 1.0)):
        said.append(learner.predict_one([x]))
        learner.learn_one([x], y)
    second = 2.0 * 3.0 / (math.sqrt(5 / 2) * math.sqrt(4.0 + 1.0))  # G = -1, H = 1
    third = -2.0 * 3.0 / (math.sqrt(9 / 3) * math.sqrt(4.0 + 5.0))  # G = -1 + 2, H = 1 + 4
    assert said == [0.0, pytest.approx(second), pytest.approx(third)]
    facts = learner.facts()
    assert facts.lost == pytest.approx(3.0 + (second - 1.0) + (1.0 - third))
    spread = 3.0 * (1.0 + 4.0 / (math.sqrt(5 / 2) * math.sqrt(5.0)) + 4.0 / (math.sqrt(3.0) * 3.0))
    assert facts.gained == pytest.approx(0.5 * spread)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@given(z=st.floats(-5, 5), u=st.floats(-5, 5), y=st.floats(-5, 5))
def test_losses_lie_above_their_linear_parts(loss, z, u, y):
    y = math.copysign(1.0, y) if loss.name == "hinge" else y
    (at, there), slope = loss.of(np.array([z, u]), np.full(2, y)), loss.slopes(np.array([z]), np.array([y]))[0]
    assert there >= at + slope * (u - z) - 1e-9
    assert abs(slope) <= loss.steepest
    soft, slopes = loss.smooth(np.array([z]), np.array([y]), 1e-6)
    assert soft == pytest.approx(at, abs=1e-5)
    assert len(slopes) == 1


@pytest.mark.parametrize("loss", CODES)
def test_it_plays_the_slopes_of_the_losses_and_keeps_its_bound(loss):
    ledger = nk.play(AdaGrad(loss, tau=0.875, delta=0.5), stream_for(loss))
    found = {one.theorem: one for one in ledger.certify()}
    assert found["convex_regret"].status == "valid", found
    assert found["convex_regret"].quantity == f"{loss} loss"
    assert found["convex_regret"].bound <= 1.5 * found["convex_regret"].observed
    assert ("convex_mistakes" in found) == (loss == "hinge")
    if loss != "hinge":
        assert ledger.loss == pytest.approx(found["convex_regret"].observed)


@pytest.mark.parametrize("loss", CODES)
@given(seed=st.integers(0, 2**32), rounds=st.integers(1, 25), scale=st.sampled_from([1e-6, 1.0, 1e9]))
def test_no_bound_is_violated_on_arbitrary_streams(loss, seed, rounds, scale):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(1.2, size=(rounds, 3)) * rng.choice([0.0, 1.0, 1e-3, 1e3], size=(rounds, 3))
    y = rng.standard_t(1.2, size=rounds) * scale * rng.integers(0, 2, rounds)
    learner = AdaGrad(
        loss, rate=float(2.0 ** rng.integers(-6, 7)), tau=0.1, delta=scale, bias=float(rng.integers(0, 2))
    )
    ledger = nk.play(learner, (x, np.where(y > 0, 1, -1)) if loss == "hinge" else nk.RegressionArrays(x, y))
    for one in ledger.certify():
        assert one.status in ("valid", "vacuous"), str(one)


def test_half_of_either_price_breaks_the_bound():
    """On e_1 .. e_20 with outcomes out of reach all losses are linear."""
    ledger = nk.play(AdaGrad("absolute", bias=0.0), nk.RegressionArrays(np.eye(20), np.full(20, 50.0)))
    (found,) = ledger.certify()
    told = found.quantities
    paid, penalty, delta = told["comparator_loss"], told["penalty"], told["delta"]
    assert (penalty, delta) == pytest.approx((250.0 * math.sqrt(2.0), 500.0), rel=1e-3)
    assert paid + 0.5 * penalty + delta < ledger.loss
    assert paid + penalty + 0.5 * delta < ledger.loss
    assert 0.87 * found.bound <= ledger.loss <= found.bound


@pytest.mark.parametrize("loss", CODES)
def test_dual_sums_stay_below_the_theorem_on_adversarial_streams(loss):
    """Outcomes that answer back: always where the slope is largest."""
    learner, rng = AdaGrad(loss, bias=0.0), np.random.default_rng(1)
    for _ in range(200):
        x = rng.normal(size=2)
        z = learner.score_one(x) if loss == "hinge" else learner.predict_one(x)
        learner.learn_one(x, (-1 if z >= 0 else 1) if loss == "hinge" else -math.copysign(1.0 + rng.random(), z))
    facts = learner.facts()
    assert facts.least <= facts.gained


def test_loss_scales_with_the_outcomes_and_not_with_the_features():
    x, y = line()
    plain = nk.play(AdaGrad("absolute"), nk.RegressionArrays(x, y)).loss
    assert nk.play(AdaGrad("absolute"), nk.RegressionArrays(x * [8.0, 0.5, 2.0**40], y)).loss == plain
    assert nk.play(AdaGrad("absolute"), nk.RegressionArrays(x, 1024.0 * y)).loss == 1024.0 * plain


def test_quantiles_and_outliers():
    x, y = line(3000)
    above = []
    for tau in (0.1, 0.5, 0.9):
        learner = nk.play(AdaGrad("pinball", tau=tau), nk.RegressionArrays(x, y)).learner
        above.append(float(np.mean(learner.predict_many(Batch(x, y, 1)) > y)))
    assert above == pytest.approx([0.1, 0.5, 0.9], abs=0.08)


def test_rows_beyond_the_kept_ones_are_seen_by_fitted_weights(monkeypatch):
    monkeypatch.setattr(tracker, "KEEP", 6000)
    monkeypatch.setattr(tracker.ConvexTracker.__init__, "__defaults__", (6000,))
    for loss in CODES:
        game, other = Game(AdaGrad(loss)), Game(AdaGrad(loss))
        x, y = line(400)
        y = np.where(y > 4.0, 1, -1) if loss == "hinge" else y
        for start in range(0, 400, 50):
            game.learn_batch(Batch(x[start : start + 50], y[start : start + 50], start + 1))
        for row, outcome in zip(x, y, strict=True):
            other.learn_one(row, outcome.item())
        first, second = game.ledger.certify()[0], other.ledger.certify()[0]
        assert 0 < first.quantities["fitted"] < 400
        assert {first.status, second.status} == {"valid"}
        assert first.observed == second.observed
        saved = tracker.ConvexTracker.restore(copy.deepcopy(game.ledger.tracker.state()))
        assert saved.facts(game.learner) == game.ledger.tracker.facts(game.learner)


class Idle(AdaGrad):
    """Skips every other step, and counts none of that."""

    def _play(self, rows, y, learns, scores):
        before = self._held.copy()
        super()._play(rows, y, learns, scores)
        if learns and self.rounds % 2:
            self._held[:, 4] = before[:, 4]


class Boaster(AdaGrad):
    """Says scores that are not its own."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(scores=played.scores + 1.0)


class Liar(AdaGrad):
    """Says that it lost nothing."""

    def facts(self):
        return dataclasses.replace(super().facts(), lost=0.0)


@pytest.mark.parametrize("kind", [Idle, Boaster, Liar])
@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_cheating_learner_is_void(kind, loss):
    game = Game(kind(loss))
    x, y = line(60)
    for row, outcome in zip(x, np.where(y > 4.0, 1, -1) if loss == "hinge" else y, strict=True):
        game.learn_one(row, outcome.item())
    assert {one.status for one in game.ledger.certify()} == {"void"}


@pytest.mark.parametrize("loss", NUMBERS)
def test_numbers_keep_every_contract(loss):
    x, y = line(60)
    check_learner(lambda: AdaGrad(loss), nk.RegressionArrays(x, y), refused=[[1.0], "a", None])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"loss": "log"}, "a loss must be one of hinge, absolute, pinball, huber, squared: got 'log'"),
        ({"rate": 0.0}, "a rate must be"),
        ({"tau": 1.0}, "tau must be from 0.001 to 0.999"),
        ({"delta": math.inf}, "delta must be"),
    ],
)
def test_invalid_arguments_are_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        AdaGrad(**arguments)
    with pytest.raises(InputError, match="y must be a number, at most 2\\^200"):
        AdaGrad("absolute").learn_one([1.0], 2.0**201)


def test_the_frame_names_learners_and_theorems_that_are_theirs():
    told, page = explain("oco"), (Path(__file__).parents[2] / "docs" / "oco.md").read_text()
    assert told == explain("online-convex-optimization")
    for learner, chosen, loss, theorem in INSTANCES:
        assert theorem in {promise.name for promise in CATALOG[learner].load().promises}, learner
        assert re.search(rf"{learner} +{re.escape(chosen)} +{re.escape(loss)} +{theorem}\n", told)
        cell = chosen.replace("|", "\\|")
        assert f"| `{learner}` | {cell} | {loss} | `{theorem}` |" in page


def test_the_command_line_plays_quantiles(tmp_path):
    x, y = line(80)
    rows = [",".join(f"{value:.6f}" for value in row) for row in np.column_stack([x, y])]
    (tmp_path / "line.csv").write_text("\n".join(["a,b,c,y", *rows]))
    done = novikoff("run", "adagrad:loss=pinball,tau=0.9", str(tmp_path / "line.csv"), "-q")
    assert done.returncode == 0, done.stderr
    assert "valid: pinball loss" in done.stdout
    assert "(convex_regret; details: -v)" in done.stdout
    model = str(tmp_path / "line.nk")
    novikoff("run", "adagrad:loss=pinball,tau=0.9", str(tmp_path / "line.csv"), "-q", "--save", model)
    said = novikoff("predict", model, str(tmp_path / "line.csv"))
    assert "mean pinball loss " in said.stderr
    assert make("adagrad:loss=huber,delta=2", "learner").kind == ("huber", 2.0)


@pytest.mark.parametrize("loss", ["hinge", "pinball"])
def test_intermediate_certificates_do_not_change_later_ones(loss):
    """Names come in another order in each row: what is kept of the rows must stay in theirs."""
    rng = np.random.default_rng(0)
    names = np.array(list("abcdef"))
    rows = [{name: float(rng.normal()) for name in rng.permutation(names)[:4]} for _ in range(40)]
    y = [1.0 if row.get("a", 0.0) > 0 else -1.0 for row in rows]
    told = []
    for looks in ((), (2, 20, 39)):
        game = Game(AdaGrad(loss))
        for t, (x, outcome) in enumerate(zip(rows, y, strict=True)):
            if t in looks:
                game.ledger.certify()
            game.learn_one(x, outcome)
        told.append([str(one) for one in game.ledger.certify()])
    assert told[0] == told[1]
    assert all("void" not in one for one in told[0])


@pytest.mark.parametrize("loss", [loss for loss in CODES if loss != "hinge"])
@pytest.mark.parametrize("size", [(1e-150, 1e-50), (1e-150, 1.0), (1e150, 1e-50), (1e150, 1e50)])
def test_scores_stay_numbers_where_the_squares_of_slopes_underflow(loss, size):
    rng = np.random.default_rng(0)
    x, y = size[0] * rng.uniform(-1.0, 1.0, (40, 3)), size[1] * rng.integers(-2, 3, 40)
    ledger = nk.play(AdaGrad(loss), nk.RegressionArrays(x, y), record=True)
    assert np.isfinite(ledger.recorded()).all()
    assert math.isfinite(ledger.loss)
    assert all(one.status != "violated" for one in ledger.certify())
