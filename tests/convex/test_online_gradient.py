import copy
import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from helpers import one_in, same, some, sparse
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.convex._loops import gradient_layout as at
from novikoff.convex.online_gradient import OnlineGradient
from novikoff.core.errors import InputError, MismatchError, ModelFileError
from novikoff.core.types import Batch, StepResult
from novikoff.data.memory import RegressionArrays
from novikoff.game import ledger_state
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from samples import NUMBERS

SAMPLES = {"online-gradient": [("online-gradient", *NUMBERS)]}
"""Samples for tests/test_every_learner.py."""

NAN, INF = math.nan, math.inf
WAYS = [
    {"loss": loss, "rate": rate, "horizon": 50 if rate == "fixed" else None, **more}
    for loss in ("squared", "absolute")
    for rate in ("fixed", "anytime", "adaptive")
    for more in ({}, {"bias": 0.5, "radius": 0.3}, {"bias": 1.0, "normalize": True, "radius": 2.0})
]
every = pytest.mark.parametrize("way", WAYS, ids=[str(k) for k in range(len(WAYS))])


class Plain:
    """The rule as it is written, every weight changed in every round; and what is promised of it."""

    def __init__(self, learner, width):
        self.of, self.w, self.past = learner, np.zeros(width + 1), []
        self.squares, self.g = 0.0, np.zeros(width + 1)
        self.pull, self.linear = np.zeros(width + 1), 0.0

    def play(self, x, y):
        of = self.of
        length = np.linalg.norm(x)
        x = np.append(x / length if of.normalize and length else x, of.bias)
        p = float(self.w @ x)
        self.past.append(self.w)
        g = 2 * (p - y) * x if of.loss == "squared" else np.sign(p - y) * x
        self.squares += g @ g
        reach = math.hypot(1.0, of.bias)
        furthest = of.radius * reach + 1.0
        steepest = 2 * furthest * reach if of.loss == "squared" else reach
        if of.rate == "fixed":
            rate = of.radius / steepest / math.sqrt(of.horizon)
        elif of.rate == "anytime":
            rate = 2 * of.radius / steepest / math.sqrt(len(self.past))
        else:
            rate = 2 * of.radius / math.sqrt(2 * self.squares) if self.squares else 0.0
        self.pull, self.linear = self.pull + g, self.linear + g @ self.w
        w = self.w - rate * g
        self.w = w * min(1.0, of.radius / max(np.linalg.norm(w), 1e-300))
        return p


def stream(rows, width, seed=0, zeros=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width)) * (rng.random((rows, width)) >= zeros)
    x /= np.maximum(np.linalg.norm(x, axis=1), 1.0)[:, None]
    y = np.clip(x @ rng.normal(size=width) + 0.3 * rng.normal(size=rows), -1.0, 1.0)
    return x, y


def pairs(x):
    return [(np.flatnonzero(row).astype(np.uint32), row[np.flatnonzero(row)]) for row in x]


def test_the_rule_on_two_examples_by_hand():
    learner = OnlineGradient(horizon=16)  # |p - y| <= 2, so G = 4 and the rate is 1/16
    assert learner.play_one([1.0, 0.0], 1.0) == StepResult(0.0, 1.0, 1.0)
    assert learner.weights.tolist() == [1 / 8, 0.0]
    assert learner.play_one([0.5, 0.5], 0.0) == StepResult(1 / 16, 1 / 256, 1 / 256)
    assert learner.weights.tolist() == [1 / 8 - 1 / 256, -1 / 256]
    assert learner.averaged.tolist() == [1 / 16, 0.0]
    assert (learner.predict_one([0.0, 1.0]), learner.mean().predict_one([0.5, 0.5])) == (-1 / 256, 1 / 32)


def test_the_absolute_loss_steps_by_the_sign_and_not_at_equality():
    learner = OnlineGradient(radius=0.25, loss="absolute", horizon=16)  # G = 1: the rate is 1/16
    for y, weight in [(1.0, 1 / 16), (1 / 16, 1 / 16), (-1.0, 0.0), (0.0, 0.0)]:
        learner.learn_one([1.0], y)
        assert learner.weights.tolist() == [weight]
    assert learner.averaged.tolist() == [(0 + 1 / 16 + 1 / 16 + 0) / 4]


def test_the_weights_go_back_to_the_ball_by_the_shortest_way():
    learner = OnlineGradient(radius=0.25, loss="absolute", rate="anytime", bias=1.0, limit=1.0)
    learner.learn_one([1.0], 1.0)  # a step of 0.5 / sqrt 2 each way, longer than the radius
    assert learner.weights[0] == pytest.approx(0.25 / math.sqrt(2), rel=1e-15)
    assert learner.constant_weight == pytest.approx(0.25 / math.sqrt(2), rel=1e-15)


@every
@pytest.mark.parametrize("zeros", [0.0, 0.7], ids=["dense", "sparse"])
def test_lazy_weights_and_their_average_are_the_plain_ones(way, zeros):
    x, y = stream(400, 5, seed=3, zeros=zeros)
    learner = OnlineGradient(**way)
    plain = Plain(learner, 5)
    said = [plain.play(row, outcome) for row, outcome in zip(x, y, strict=True)]
    played = learner.learn_many(Batch(sparse(x) if zeros else x, y, 1))
    assert played.predictions == pytest.approx(said, abs=1e-11)
    assert np.append(learner.weights, learner.constant_weight) == pytest.approx(plain.w, abs=1e-11)
    mean = np.mean(plain.past, axis=0)
    assert np.append(learner.averaged, learner.averaged_constant) == pytest.approx(mean, abs=1e-11)
    facts = learner.facts()
    assert facts.linear == pytest.approx(plain.linear, abs=1e-9)
    assert facts.pull == pytest.approx(np.linalg.norm(plain.pull), abs=1e-9)
    assert facts.squares == pytest.approx(plain.squares)
    assert learner.mean().predict_one(x[0] if not zeros else pairs(x)[0]) == pytest.approx(
        mean @ np.append(x[0] * (1 / np.linalg.norm(x[0]) if learner.normalize else 1.0), learner.bias), abs=1e-11
    )


def test_many_projections_are_folded_exactly():
    x, y = stream(9000, 3, seed=1)
    y = np.where(np.arange(9000) // 100 % 2, 1.0, -1.0) * np.sign(x[:, 0])
    learner = OnlineGradient(radius=0.1, loss="absolute", rate="anytime")
    plain, folds, scale = Plain(learner, 3), 0, 1.0
    for t in range(9000):
        learner.play_one(x[t], y[t])
        plain.play(x[t], y[t])
        folds += learner._totals[at.SINCE] == 0.0
        scale = min(scale, learner._totals[at.SCALE])
        assert np.linalg.norm(learner.weights) <= 0.1 * (1 + learner.facts().excess) or t % 100
    assert folds >= 3  # of which two by the number of rounds
    assert 2.0**-8 <= scale < 0.1
    assert learner.averaged == pytest.approx(np.mean(plain.past, axis=0)[:3], abs=1e-12)
    assert learner._totals[at.LENGTH2] == pytest.approx(np.linalg.norm(learner.weights) ** 2, rel=1e-12)


@some(2, way=WAYS, zeros=[0.0, 0.7])
def test_batches_of_any_size_are_the_loop_to_the_bit(way, zeros):
    x, y = stream(300, 4, seed=2, zeros=zeros)
    looped = OnlineGradient(**way)
    rows = pairs(x) if zeros else list(x)
    alone = nk.play(looped, list(zip(rows, y.tolist(), strict=True)), record=True)
    for size in (1, 7, 128, 1000):
        learner = OnlineGradient(**way)
        ledger = Ledger(learner, predictions=[])
        for start in range(0, 300, size):
            part = x[start : start + size]
            shown = scipy.sparse.csr_array(part) if zeros else part
            nk.play(learner, RegressionArrays(shown, y[start : start + size]), ledger=ledger)
        assert ledger.recorded().tolist() == alone.recorded().tolist()
        assert same(learner.state(), looped.state())
        assert (ledger.loss, ledger.curve) == (alone.loss, alone.curve)
        assert ledger.certify() == alone.certify()


@every
def test_resume_matches_uninterrupted_run(way):
    x, y = stream(300, 4, seed=5)
    whole = nk.play(OnlineGradient(**way), (x, y))
    for cut in (1, 50, 299):
        part = nk.play(OnlineGradient(**way), (x[:cut], y[:cut]))
        learner = OnlineGradient.restore(copy.deepcopy(part.learner.state()))
        assert same(learner.state(), part.learner.state())
        ledger = ledger_state.restore(copy.deepcopy(ledger_state.state_of(part)), learner)
        nk.play(learner, (x[cut:], y[cut:]), ledger=ledger)
        assert same(learner.state(), whole.learner.state())
        assert (ledger.loss, ledger.curve, ledger.certify()) == (whole.loss, whole.curve, whole.certify())


@every
def test_predicting_changes_nothing_and_playing_is_predicting_then_learning(way):
    x, y = stream(60, 3)
    learner = OnlineGradient(**way)
    game = Game(learner)
    for row, outcome in zip(x, y, strict=True):
        before = copy.deepcopy(learner.state())
        asked = {learner.predict_one(row), learner.predict_one(row.tolist())}
        learner.mean().predict_one(row)
        assert same(learner.state(), before)
        assert asked == {game.learn_one(row, outcome)}


def test_names_numbers_and_pairs_are_one_stream():
    x, y = stream(200, 6, seed=4, zeros=0.6)
    learners = [OnlineGradient(bias=0.5) for _ in range(3)]
    names = "abcdef"
    seen = sorted(range(6), key=lambda i: int(np.flatnonzero(x[:, i])[0]) * 10 + i)
    for row, outcome in zip(pairs(x), y, strict=True):
        kept = dict(zip(row[0].tolist(), row[1].tolist(), strict=True))
        said = [
            learners[0].play_one(row, outcome).predictions,
            learners[1].play_one(kept, outcome).predictions,
            learners[2].play_one({names[i]: value for i, value in kept.items()}, outcome).predictions,
        ]
        assert len(set(said)) == 1
    assert same(learners[0].state(), learners[1].state())
    assert "".join(learners[2].features.names) == "".join(names[i] for i in seen)
    assert learners[2].weights.tolist() == learners[0].weights[seen].tolist()
    assert learners[2].predict_one({"new": 0.5}) == learners[2].predict_one({}) == 0.5 * learners[2].constant_weight


def test_rows_with_gaps_between_their_numbers_are_read_right():
    x, y = stream(40, 6)
    one, two, three = OnlineGradient(), OnlineGradient(), OnlineGradient()
    for row, outcome in zip(x, y, strict=True):
        assert one.predict_one(row[::2]) == two.predict_one(row[::2].copy())
        assert one.play_one(row[::2], outcome) == two.play_one(row[::2].copy(), outcome)
    three.learn_many(Batch(x[:, ::2], y, 1))
    assert one.weights.tolist() == two.weights.tolist() == three.weights.tolist()


def test_the_width_grows_with_the_stream():
    learner = OnlineGradient(horizon=4)
    for place in (0, 5, 2, 100_000):
        learner.learn_one((np.array([place]), np.array([1.0])), 1.0)
        assert learner.weights[place] == 0.25
    assert learner.features.count == 100_001
    assert learner.size == 4
    assert learner.facts().comparator == "zero weights"  # too many features to know the best


def pair(places, values):
    return np.array(places), np.array(values)


# Of each form: what is always bad, what is bad after others, and what is good.
BAD_FORMS = {
    "array": (
        [[0.1, NAN], [INF, 0.1], ["a", "b"], None, 3, [0.8, 0.8], np.array([0.8, 0.8]), np.array([0.1, NAN])],
        [[0.1], {"a": 0.1}, np.array([0.1, 0.1, 0.1])],
        [0.6, 0.6],
    ),
    "pair": (
        [pair([0, 2], [0.1]), pair([0], [NAN]), pair([1, 1], [0.1, 0.1]), pair([7], [1.1]), {0: INF}, {0: 1.1}, None],
        [{"red": 0.1}, [0.1]],
        pair([0, 2], [0.6, 0.6]),
    ),
    "names": (
        [{"red": NAN}, {"red": INF, "new": 0.1}, {"red": "a"}, {"red": "0.1"}, {"red": None}, {"new": 1.1},
         {"red": 1.1}, {"red": 0.1, 3: 0.1}, {"red": [0.1]}, {"red": 2**70}, None],
        [{3: 0.1}, [0.1], pair([0], [0.1])],
        {"red": 0.6, "green": 0.6},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", BAD_FORMS)
@pytest.mark.parametrize("played", [0, 20])
def test_bad_examples_and_outcomes_are_refused_and_change_nothing(form, played):
    bad, other, good = BAD_FORMS[form]
    learner = OnlineGradient(bias=0.5, limit=1.0, low=-1.0, high=1.0)
    for t in range(played):
        learner.learn_one(good, (-1.0) ** t)
    before = copy.deepcopy(learner.state())
    for x in [*bad, *(other if played else [])]:
        with pytest.raises(InputError):
            learner.predict_one(x)
        with pytest.raises(InputError):
            learner.learn_one(x, 0.5)
    for y in (1.5, -1.0000001, NAN, INF, None, "spam", [0.5], 1j):
        with pytest.raises(InputError, match="outcome"):
            learner.learn_one(good, y)
    assert same(learner.state(), before)


@pytest.mark.parametrize("zeros", [False, True], ids=["dense", "sparse"])
def test_a_batch_with_one_bad_row_is_not_played_at_all(zeros):
    x, y = stream(50, 3)
    learner = OnlineGradient(limit=1.0, low=-1.0, high=1.0)
    learner.learn_many(Batch(sparse(x) if zeros else x, y, 1))
    before = copy.deepcopy(learner.state())
    for row, outcome, words in [(x[30] * 1.1 / np.linalg.norm(x[30]), 0.0, "longer"), (x[30] * NAN, 0.0, "finite"),
                                (x[30], 1.1, "outcome"), (x[30], NAN, "outcome")]:  # fmt: skip
        worse, off = x.copy(), y.copy()
        worse[30], off[30] = row, outcome
        with pytest.raises(InputError, match=f"{words}.* in round 81"):
            learner.learn_many(Batch(sparse(worse) if zeros else worse, off, 51))
        assert same(learner.state(), before)


def test_normalized_example_is_within_the_length_limit():
    x, y = stream(2000, 50)
    x /= np.linalg.norm(x, axis=1)[:, None]
    assert ((x * x).sum(axis=1) > 1.0).any()  # by a rounding
    said = OnlineGradient().learn_many(Batch(x, y, 1)).predictions
    assert len(said) == 2000
    assert said[-1] != 0.0


def test_normalised_examples_may_be_of_any_length_and_integers_will_do():
    learner = OnlineGradient(normalize=True, horizon=16)
    learner.learn_one([3, 4], 1)
    assert learner.weights == pytest.approx([0.6 / 8, 0.8 / 8])
    learner.learn_one([0, 0], 1)
    assert learner.predict_one([3e100, 4e100]) == pytest.approx(1 / 8)
    assert learner.predict_one([3e-150, 4e-150]) == 0.0  # too short to tell where it points
    with pytest.raises(InputError, match="finite"):
        learner.predict_one([1e200, 0.0])


@given(st.data())
def test_the_weights_stay_in_the_ball_on_any_input(data):
    width = data.draw(st.integers(1, 4))
    way = data.draw(st.sampled_from(WAYS))
    learner = OnlineGradient(**way)
    number = st.floats(-0.5, 0.5)
    for _ in range(data.draw(st.integers(1, 30))):
        x = data.draw(st.lists(number, min_size=width, max_size=width))
        played = learner.play_one(x, data.draw(st.floats(-1.0, 1.0)))
        facts = learner.facts()
        length = np.linalg.norm(np.append(learner.weights, learner.constant_weight))
        assert length <= learner.radius * (1 + facts.excess)
        assert 0.0 <= played.losses <= facts.top


def test_arrays_matrices_frames_and_pairs_are_the_same_game():
    import pyarrow as pa

    x, y = stream(100, 3)
    frame = pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    ledgers = [
        nk.play(OnlineGradient(), shown, record=True)
        for shown in ((x, y), (x.tolist(), y.tolist()), frame, list(zip(x, y, strict=True)),
                      iter(list(zip(x, y, strict=True))))
    ]  # fmt: skip
    assert all(ledger.recorded().tolist() == ledgers[0].recorded().tolist() for ledger in ledgers)
    assert ledgers[0].loss == pytest.approx(np.sum((ledgers[0].recorded() - y) ** 2))
    assert (ledgers[0].mistakes, ledgers[0].loss, ledgers[0].expected) == (0, ledgers[0].loss, ledgers[0].loss)
    matrix = nk.play(OnlineGradient(), (scipy.sparse.csr_array(x), y))
    assert matrix.loss == pytest.approx(ledgers[0].loss)


LEARNED = [{}, {"bias": 1.0}, {"bias": 1.0, "normalize": True, "loss": "absolute", "rate": "anytime"}]


def far_stream(rows, width, seed=0, zeros=0.0):
    """Outcomes from about -60 to 340, after ten that are within -1 .. 1; longer and longer rows."""
    x, y = stream(rows, width, seed, zeros)
    y = np.where(np.arange(rows) < 10, y, 140.0 + 200.0 * y)
    return x * np.linspace(0.5, 9.0, rows)[:, None], y


@pytest.mark.parametrize("way", LEARNED, ids=str)
def test_a_range_that_is_not_given_is_learned_and_predictions_stay_in_it(way):
    x, y = far_stream(300, 4)
    learner = OnlineGradient(**way)
    said = np.zeros(300)
    for t in range(300):
        score = learner._score(x[t])
        said[t] = learner.predict_one(x[t])
        assert learner.play_one(x[t], y[t]).predictions == said[t]  # what comes does not change what was said
        if t > 10:
            least, most = y[:t].min(), y[:t].max()
            assert said[t] == pytest.approx((least + most) / 2 + np.clip(score, -1, 1) * (most - least) / 2)
    late = slice(150, None)
    assert np.abs(said - y)[late].mean() < 0.8 * np.abs(np.median(y) - y)[late].mean()  # it does learn
    assert learner.predict_one(x[0] * 1e3) == pytest.approx(np.clip(learner.predict_one(x[0] * 1e3), y.min(), y.max()))


@pytest.mark.parametrize("zeros", [0.0, 0.7], ids=["dense", "sparse"])
@pytest.mark.parametrize("way", LEARNED, ids=str)
def test_a_learned_range_is_the_same_in_batches_row_by_row_and_saved(way, zeros):
    x, y = far_stream(120, 4, zeros=zeros)
    rows = pairs(x) if zeros else x
    looped = OnlineGradient(**way)
    results = [looped.play_one(*round) for round in zip(rows, y, strict=True)]
    for size in (1, 7, 120):
        learner, said, lost = OnlineGradient(**way), [], []
        for first in range(0, 120, size):
            part = slice(first, first + size)
            learner = OnlineGradient.restore(learner.state())
            result = learner.learn_many(Batch(sparse(x[part]) if zeros else x[part], y[part], first + 1))
            said, lost = [*said, *result.predictions], [*lost, *result.losses]
        assert said == [one.predictions for one in results]
        assert lost == [one.losses for one in results]
        assert same(learner.state()["own"], looped.state()["own"])
        assert same(learner.state()["range"], looped.state()["range"])
        assert learner.state()["longest"] == looped.state()["longest"]


def test_within_the_default_range_a_learned_one_changes_nothing():
    x, y = stream(300, 4)
    said = [OnlineGradient(**way).learn_many(Batch(x, y, 1)).predictions for way in ({}, {"low": -1.0, "high": 1.0})]
    assert said[0].tolist() == said[1].tolist()


def test_a_refused_example_leaves_a_learned_range_unchanged():
    x, y = far_stream(50, 3)
    learner = OnlineGradient()
    learner.learn_many(Batch(x, y, 1))
    before = copy.deepcopy(learner.state())
    with pytest.raises(InputError, match="finite"):
        learner.learn_one([NAN, 1.0, 1.0], 1e6)
    with pytest.raises(InputError, match="outcome.* Clean or drop the row"):
        learner.learn_one(x[0], INF)
    worse = x * 20.0
    worse[30] *= NAN
    with pytest.raises(InputError, match="finite.* in round 31"):
        learner.learn_many(Batch(worse, y * 9.0, 1))
    assert same(learner.state(), before)


def test_the_limit_of_a_rate_that_rests_on_it_does_not_grow():
    learner = OnlineGradient(rate="anytime")
    with pytest.raises(InputError, match="no longer than 1.0"):
        learner.learn_one([2.0], 7.0)


def test_numbers_are_not_labels():
    x, y = stream(50, 3)
    with pytest.raises(MismatchError, match="needs numbers: arrays has labels"):
        nk.play(OnlineGradient(), nk.Arrays(x, np.sign(y)))
    with pytest.raises(MismatchError, match="needs labels: targets has numbers"):
        nk.play(nk.Perceptron(), RegressionArrays(x, np.sign(y)))
    with pytest.raises(MismatchError, match="needs numbers"):
        nk.play(OnlineGradient(), Orthogonal(3), rounds=3)
    with pytest.raises(MismatchError, match="expected a stream, arrays"):
        nk.play(OnlineGradient(), 3)


@pytest.mark.parametrize(
    "wrong",
    [{"radius": 0.0}, {"radius": INF}, {"radius": "a"}, {"limit": -1.0}, {"limit": NAN}, {"low": 2.0}, {"high": INF},
     {"bias": NAN}, {"bias": None}, {"loss": "hinge"}, {"rate": "slow"}, {"rate": "fixed"}, {"horizon": 0},
     {"horizon": 10, "rate": "anytime"}, {"horizon": 2.5}, {"hindsight": -1}, {"hindsight": 1.5}],
    ids=str,
)  # fmt: skip
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(InputError):
        OnlineGradient(**wrong)


def test_extreme_scales_do_not_overflow():
    for size in (1e-40, 1e40):
        for way in WAYS:
            learner = OnlineGradient(**{**way, "radius": size, "limit": size, "low": -size, "high": size, "bias": size})
            x, y = stream(50, 2)
            learner.learn_many(Batch(x * size, y * size, 1))
            state = learner.state()
            assert np.isfinite(state["own"]).all()
            assert np.isfinite(state["held"]).all()
            assert np.linalg.norm(learner.weights) <= size * (1 + 1e-9)
            facts = learner.facts()
            assert facts.linear_regret <= facts.promise + facts.rounding


@pytest.mark.parametrize(
    ("part", "value"),
    [("held", np.zeros((3, 1))), ("held", np.full((3, 2), NAN)), ("held", "a"), ("own", np.zeros(3)),
     ("own", np.zeros(at.OWN)), ("gram", np.zeros((2, 2))), ("moments", np.zeros(9)), ("normalize", 1),
     ("features", {"kind": "array", "count": -1, "names": []})],
)  # fmt: skip
def test_a_damaged_state_is_refused(part, value):
    learner = OnlineGradient()
    learner.learn_one([0.5, 0.5], 1.0)
    with pytest.raises(ModelFileError):
        OnlineGradient.restore({**learner.state(), part: value})


@pytest.mark.parametrize("seed", one_in(2, range(6)))
def test_facts_are_the_same_to_the_bit_in_rows_and_in_batches_that_grow_wider(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 13)) * (np.arange(60)[:, None] >= np.linspace(0, 40, 13))
    y = rng.normal(size=60)
    one, many = OnlineGradient(), OnlineGradient()
    for t, row in enumerate(x):
        one.learn_one((np.flatnonzero(row).astype(np.uint32), row[np.flatnonzero(row)]), y[t])
    many.learn_many(Batch(sparse(x), y, 1))
    assert same(one.state(), many.state())
    assert one.facts() == many.facts()
