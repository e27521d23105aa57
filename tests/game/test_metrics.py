"""The area under the ROC curve: within its bins it is the true one, however the stream is cut; calibration."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.cli.main import main
from novikoff.convex.ftrl import FTRL
from novikoff.core.adapt import adapt
from novikoff.core.errors import ModelFileError
from novikoff.core.registry import names
from novikoff.game import ledger_state
from novikoff.game.metrics import Calibration, Ranking
from novikoff.game.specs import make


@pytest.mark.parametrize("name", names("learner"))
def test_the_score_of_a_row_is_the_score_that_was_played(name):
    try:
        learner = make(name, "learner", domain=nk.Domain("vector", 3))
    except nk.core.errors.NovikoffError:
        pytest.skip("it must be told more")
    player = adapt(learner)
    if player.task == "regression" or not (player.tells_scores and player.has("score_one")):
        pytest.skip("it has no scores of rows")
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(40, 3)):
        asked = learner.score_one(x)
        player.play_one(x, int(np.sign(x @ [1.0, -2.0, 0.5] + rng.normal())) or 1)
        assert player.within.scored == pytest.approx(asked, rel=1e-9, abs=1e-12)


def exact(scores, y):
    """Pairs won, ties half; a score that is no number is near 0."""
    scores = np.where(np.isnan(scores), 2.0**-80, scores)
    up, down = scores[y > 0], scores[y < 0]
    wins = (up[:, None] > down).sum() + 0.5 * (up[:, None] == down).sum()
    return wins / (len(up) * len(down)) if len(up) and len(down) else None


any_scores = st.lists(
    st.tuples(
        st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, 2.0**-70, -(2.0**-70), 2.0**70, math.nan])),
        st.sampled_from([-1, 1]),
    ),
    max_size=60,
)


@given(any_scores)
def test_the_area_is_within_its_interval(pairs):
    scores, y = np.array([s for s, _ in pairs], dtype=np.float64), np.array([y for _, y in pairs], dtype=np.int8)
    ranking = Ranking()
    ranking.add(scores, y)
    area, true = ranking.area(), exact(scores, y)
    if true is None:
        assert area is None
    else:
        assert 0.0 <= area.low <= true <= area.high <= 1.0
        assert area.low <= area.value <= area.high


def test_scores_that_are_the_same_are_known_to_tie():
    ranking = Ranking()
    ranking.add(np.array([3.0, 3.0, 1.0, 5.0]), np.array([1, -1, -1, 1], dtype=np.int8))
    assert ranking.area() == (0.875, 0.875, 0.875)
    ranking.add(np.array([3.0 + 2.0**-40]), np.array([1], dtype=np.int8))
    area = ranking.area()
    assert area.low < 5.5 / 6 < area.high  # of 3 and 3 + 2^-40 the order is not known any more


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_interval_is_narrow_on_any_scale(scale):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(20_000) < 0.3, 1, -1).astype(np.int8)
    scores = scale * (rng.normal(size=len(y)) + 0.8 * y)
    ranking = Ranking()
    ranking.add(scores, y)
    area = ranking.area()
    assert area.low <= exact(scores, y) <= area.high < area.low + 0.004


@given(any_scores, st.lists(st.integers(0, 60), max_size=4))
def test_cuts_and_single_rounds_and_saving_leave_the_same_bins(pairs, cuts):
    scores, y = np.array([s for s, _ in pairs], dtype=np.float64), np.array([y for _, y in pairs], dtype=np.int8)
    whole, cut, single = Ranking(), Ranking(), Ranking()
    whole.add(scores, y)
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        cut.add(scores[part], y[part])
        cut = Ranking.restore(cut.state())
    for score, label in pairs:
        single.waiting.append(score)
        single.labels.append(label)
    for other in (cut, single):
        assert (whole.state() is None) == (other.state() is None)
        for name, value in (whole.state() or {}).items():
            np.testing.assert_array_equal(value, other.state()[name])


@pytest.mark.parametrize(
    "changed",
    [
        {"bins": np.array([5, 5])},
        {"bins": np.array([5, 2**15])},
        {"counts": np.array([[1, 0], [0, -1]])},
        {"counts": np.array([[1, 0]])},
        {"only": np.array([1.0])},
    ],
)
def test_bins_that_cannot_be_are_refused(changed):
    sound = {"bins": np.array([5, 6]), "counts": np.array([[1, 0], [0, 1]]), "only": np.array([1.0, 2.0])}
    Ranking.restore(sound)
    with pytest.raises(ModelFileError):
        Ranking.restore({**sound, **changed})


def rows(count=300):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(count, 3))
    return x, np.where(x @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=count) >= 0, 1, -1)


def scoring():
    """Learners on vectors and labels that have a score."""
    for name in names("learner"):
        try:
            learner = make(name, "learner", domain=nk.Domain("vector", 3))
        except nk.NovikoffError:
            continue
        player = adapt(learner)
        if player.scores and player.task != "regression" and learner.domain.kind == "vector":
            yield name


@pytest.mark.parametrize("name", [*scoring(), "perceptron:scale=standard", "vaw:probabilities=true"])
def test_every_learner_with_a_score_has_an_area_of_the_scores_it_had(name):
    x, y = rows()

    def fresh():
        return make(name, "learner", domain=nk.Domain("vector", 3))

    ledger, alone = nk.play(fresh(), (x, y)), fresh()
    scores = []
    game = nk.Game(alone, track=False)
    for row, label in zip(x, y.tolist(), strict=True):
        scores.append(alone.score_one(row))
        game.learn_one(row, label)
    true = exact(np.array(scores), y)
    if name != "second-order-perceptron":  # which divides its score by what only a mistake makes known
        assert ledger.auc.low <= true <= ledger.auc.high <= ledger.auc.low + 0.02
    assert game.ledger.auc == ledger.auc


def test_a_saved_game_resumes_with_its_area(tmp_path):
    x, y = rows()
    whole = nk.play(nk.Perceptron(), (x, y))
    half = nk.play(nk.Perceptron(), (x[:100], y[:100]))
    nk.save(half, tmp_path / "half.nk")
    again = nk.load(tmp_path / "half.nk")
    rest = nk.play(again.learner, (x[100:], y[100:]), ledger=again)
    assert rest.auc == whole.auc
    with pytest.raises(ModelFileError, match="it must have scores of its 100 rounds"):
        ledger_state.restore({**ledger_state.state_of(half), "ranking": whole.ranking.state()}, half.learner)


def test_the_area_is_reported(tmp_path, capsys):
    x, y = rows()
    table = tmp_path / "rows.csv"
    table.write_text("a,b,c,label\n" + "".join(f"{a},{b},{c},{v}\n" for (a, b, c), v in zip(x, y, strict=True)))
    assert main(["run", "perceptron", str(table), "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["auc_interval"][0] <= told["auc"] <= told["auc_interval"][1]
    assert main(["run", "perceptron", str(table), "-q"]) == 0
    assert f" {told['auc']:.3f}    chance: 0.5" in capsys.readouterr().out
    assert main(["run", "constant", str(table), "--json", "-q"]) == 0
    assert "auc" not in json.loads(capsys.readouterr().out)


def test_learner_without_scores_has_no_auc():
    class Silent(nk.Perceptron):
        def play_one(self, x, y):
            said = super().play_one(x, y)
            self.scored = None
            return said

    game = nk.Game(Silent(), track=False)
    for x, y in [((1.0,), 1.0), ((-1.0,), -1), ((2.0,), 1)]:
        game.learn_one(x, y)
    assert game.ledger.auc is None


def noisy(rounds, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    return x, np.where(x[:, 0] + rng.normal(size=rounds) > 0.0, 1, -1)


def test_bins_by_hand():
    found = Calibration()
    found.write(np.array([0.95, 1.0, 0.75, 0.05]), np.array([1, 1, -1, -1]))  # P(+1): 0.95, 1, 0.25, 0.95
    table = found.table()
    assert [(b.low, b.high, b.rounds) for b in table] == [(0.2, 0.3, 1), (0.9, 1.0, 3)]
    assert table[0][3:] == (0.25, 0.0)
    assert table[1][3:] == pytest.approx((2.9 / 3, 2 / 3))
    assert found.predicted == pytest.approx(3.15)
    assert found.error == pytest.approx((0.25 + 0.9) / 4)
    assert Calibration().table() == []


@pytest.mark.parametrize("copies", [1, 20])
def test_nan_is_in_no_bin(copies):
    found = Calibration()
    found.write(np.array([0.95, np.nan] * copies), np.array([1, -1] * copies))
    assert (sum(found.rounds), found.rounds[9], found.positives[9]) == (copies, copies, copies)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([-1, 1])), min_size=1, max_size=60), st.integers(1, 20))
def test_batches_of_any_size_leave_the_same_bits(rounds, size):
    chances, y = map(np.array, zip(*rounds, strict=True))
    whole, parts = Calibration(), Calibration()
    whole.write(chances, y)
    for start in range(0, len(y), size):
        parts.write(chances[start : start + size], y[start : start + size])
    assert whole == parts == Calibration.restore(parts.state())
    assert sum(whole.rounds) == len(y)


def test_every_ledger_of_probabilities_has_it_and_keeps_it():
    ledger = nk.play("ftrl", noisy(300))
    assert sum(ledger.calibration.rounds) == 300
    assert sum(ledger.calibration.positives) == ledger.positives
    assert ledger_state.restore(ledger_state.state_of(ledger), ledger.learner).calibration == ledger.calibration
    assert sum(nk.play("perceptron", noisy(300)).calibration.rounds) == 0
    state = ledger_state.state_of(ledger)
    state["calibration"]["rounds"][0] += 1
    with pytest.raises(ModelFileError, match="its bins must have 300 rounds"):
        ledger_state.restore(state, ledger.learner)
    state["calibration"]["rounds"][0] = -1
    with pytest.raises(ModelFileError, match="rounds of calibration must be an integer from 0"):
        ledger_state.restore(state, ledger.learner)


@pytest.mark.parametrize("bias", [1.0, 0.25, -3.0])
def test_calibration_error_of_ftrl_matches_its_sums(bias):
    x, y = noisy(400)
    ledger = nk.play(FTRL(bias=bias), (x, y))
    excess = ledger.calibration.predicted - ledger.positives
    assert excess == pytest.approx(ledger.learner.gradients()[0] / bias, abs=1e-9)
    assert abs(excess) > 1e-3
    certificate = next(one for one in ledger.certify() if one.theorem == "ftrl_regret")
    assert certificate.status == "valid"
    claims = [assumption.claim for assumption in certificate.assumptions]
    assert "the mean error of its probabilities agrees with its sums" in claims


class Boaster(FTRL):
    """Says that it had been surer than it was, and pays the same."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(probabilities=np.where(np.arange(len(y)) % 2, played.probabilities, 0.5))


def test_learning_from_other_probabilities_than_predicted_is_detected():
    ledger = nk.play(Boaster(), noisy(400))
    certificate = next(one for one in ledger.certify() if one.theorem == "ftrl_regret")
    assert certificate.status == "void"
    assert "mean error of its probabilities" in certificate.reason
