"""Exponential weights: golden values, rates, rounding; and the contracts of all learners with expert advice."""

import copy
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import same
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.core.types import Batch
from novikoff.data.memory import Losses
from novikoff.experts.ada_hedge import AdaHedge
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.fixed_share import FixedShare
from novikoff.experts.randomized_weighted_majority import RandomizedWeightedMajority
from novikoff.experts.sleeping_experts import SleepingExperts
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.finite.classes.matrix import Table
from novikoff.finite.classes.program import Programs
from novikoff.finite.classes.threshold import Thresholds
from novikoff.game.play import play
from novikoff.numerics.coins import uniform
from samples import CLASSES, INDICES, MATRIX, PROGRAMS

SAMPLES = {
    "exponential-weights": [
        ("exponential-weights:[thresholds:n=20]", *INDICES),
        ("exponential-weights:[thresholds:n=20],horizon=300,seed=5", *INDICES),
        ("exponential-weights:[programs:bits=12,width=3],rate=doubling,prior=length", *PROGRAMS),
        (f"exponential-weights:[{MATRIX}],eta=0.3", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""

TABLE = np.array([(0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0)])
NAN = math.nan


def played(learner, table):
    """The weights of each round, and h."""
    weights, means = [], []
    for row in table:
        weights.append(learner.weights)
        means.append(learner.play_one(None, row).expected)
    return weights, means


def test_the_golden_table_with_a_fixed_rate():
    learner = ExponentialWeights(3, eta=0.5, loss="table", play="mean")
    weights, means = played(learner, TABLE)
    assert weights[1] == pytest.approx([0.419228952, 0.254275213, 0.326495836], abs=1e-9)
    assert weights[3] == pytest.approx([0.451862762, 0.274068619, 0.274068619], abs=1e-9)
    facts = learner.facts()
    assert math.fsum(means) == pytest.approx(2.023212155, abs=1e-9)
    assert (facts.best, facts.best_loss) == (0, 1.0)
    assert facts.mixed - facts.best_loss == pytest.approx(1.023212155, abs=1e-9)
    assert math.log(3) / 0.5 + facts.gaps == pytest.approx(2.383751497, abs=1e-9)
    assert math.log(3) / 0.5 + 0.5 * 4 / 8 == pytest.approx(2.447224577, abs=1e-9)


def test_the_golden_table_at_any_time():
    learner = ExponentialWeights(3, loss="table", play="mean")
    weights, means = played(learner, TABLE)
    facts = learner.facts()
    assert facts.rule == "anytime"
    assert weights[3] == pytest.approx([0.587829513, 0.206085244, 0.206085244], abs=1e-9)
    assert math.fsum(means) == pytest.approx(2.099580546, abs=1e-9)
    assert facts.eta == pytest.approx(2.0 * math.sqrt(math.log(3) / 4))
    assert math.log(3) / facts.eta + facts.gaps == pytest.approx(1.531869920, abs=1e-9)
    assert facts.rates == pytest.approx(sum(2.0 * math.sqrt(math.log(3) / t) for t in range(1, 5)))


def test_rate_without_the_square_root_exceeds_the_bound():
    stream = np.tile([0.0, 1.0], (1000, 1))
    wrong = ExponentialWeights(2, eta=8 * math.log(2) / 1000, loss="table")
    right = ExponentialWeights(2, horizon=1000, loss="table")
    for learner, regret in ((wrong, 124.545100), (right, 9.559795)):
        learner.learn_many(Batch(None, stream, 1))
        assert learner.facts().mixed - learner.facts().best_loss == pytest.approx(regret, abs=1e-6)
    facts = right.facts()
    bound = math.log(2) / facts.eta + facts.eta * 1000 / 8
    assert bound == pytest.approx(18.6165, abs=1e-4)
    assert 124.5 > math.sqrt(1000 * math.log(2)) > bound > 9.559795


def test_fair_coins_force_the_expected_regret():
    """T/2 for every learner, and half of E|S_T| less for the best of two constant experts: THEORY 12.3, exactly."""
    for rounds, regret in ((100, 3.979462), (1000, 12.612509)):
        assert rounds / 2 * math.comb(rounds, rounds // 2) / 2**rounds == pytest.approx(regret, abs=1e-6)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        y = rng.integers(0, 2, 100).astype(float)
        learner = ExponentialWeights(2, horizon=100)
        learner.learn_many(Batch(np.tile([0.0, 1.0], (100, 1)), y, 1))
        facts = learner.facts()
        found.append(facts.mixed - facts.best_loss)
        assert found[-1] <= math.sqrt(100 * math.log(2) / 2) + 1e-9
    assert np.mean(found) == pytest.approx(3.979462, abs=4 * np.std(found) / 20)


def test_doubling_restarts_at_powers_of_two():
    learner = ExponentialWeights(3, rate="doubling", loss="table", play="mean")
    rng = np.random.default_rng(3)
    table = rng.random((100, 3))
    mixed, gaps, totals = 0.0, 0.0, np.zeros(3)
    for t, row in enumerate(table, 1):
        if t & (t - 1) == 0:
            totals[:] = 0.0
        eta = math.sqrt(8 * math.log(3) / 2 ** (t.bit_length() - 1))
        w = np.exp(-eta * (totals - totals.min()))
        w /= w.sum()
        assert learner.weights == pytest.approx(w, abs=1e-12)
        h = float(w @ row)
        mixed, gaps = mixed + h, gaps + h + math.log(w @ np.exp(-eta * row)) / eta
        totals += row
        assert learner.play_one(None, row).expected == pytest.approx(h, abs=1e-12)
        facts = learner.facts()
        assert facts.mixed == pytest.approx(mixed, abs=1e-9)
        assert facts.gaps == pytest.approx(gaps, abs=1e-9)
        assert facts.epochs == t.bit_length()
        assert facts.span == pytest.approx(sum(1 / math.sqrt(8 * math.log(3) / 2**k) for k in range(facts.epochs)))
    assert facts.best_loss == pytest.approx(table.sum(axis=0).min(), abs=1e-12)


def test_mixing_log_loss_is_bayes():
    """eta = 1: the weights are the posterior, and the loss of the mixture is -ln of its chance."""
    p = np.array([[0.9, 0.2], [0.8, 0.3], [0.1, 0.6]])
    y = np.array([1.0, 1.0, 0.0])
    learner = ExponentialWeights(2, loss="log", prior=[3, 1])
    said = learner.learn_many(Batch(p, y, 1))
    joint, total = np.array([0.75, 0.25]), 1.0
    for t in range(3):
        posterior = joint / joint.sum()
        assert said.predictions[t] == pytest.approx(posterior @ p[t], abs=1e-12)
        joint = joint * (p[t] if y[t] else 1 - p[t])
        assert said.losses[t] == pytest.approx(-math.log(joint.sum() / total), abs=1e-12)
        total = joint.sum()
    assert learner.weights == pytest.approx(joint / joint.sum(), abs=1e-12)
    facts = learner.facts()
    assert (facts.rule, facts.eta, facts.unit) == ("fixed", 1.0, 1.0)
    assert said.losses.sum() <= min(facts.best_loss + math.log(4), facts.comparator_loss + facts.price) + 1e-12


def test_squared_loss_is_mixed_at_rate_one_half():
    facts = ExponentialWeights(4, loss="squared").facts()
    assert facts.unit == 1.0
    learner = ExponentialWeights(4, loss="squared")
    rng = np.random.default_rng(0)
    x, y = rng.random((2000, 4)), rng.random(2000)
    said = learner.learn_many(Batch(x, y, 1))
    facts = learner.facts()
    assert facts.eta == 0.5
    assert said.losses.sum() - facts.best_loss <= 2 * math.log(4)
    assert np.all(said.losses <= said.losses.max())
    assert facts.mixed >= said.losses.sum() - 1e-9


def test_clipping_predictions_not_losses_keeps_the_bound():
    """THEORY 11.9: (.6, 0) and (0, .6) in turn; clipped losses would cost 97.8 in 400 rounds."""
    x = np.tile([[0.6, 0.0], [0.0, 0.6]], (200, 1))
    learner = ExponentialWeights(2, loss="log")
    said = learner.learn_many(Batch(x, np.ones(400), 1))
    assert said.losses.sum() - learner.facts().best_loss <= math.log(2) + 1e-6


@given(st.integers(0, 2**32), st.sampled_from(["fixed", "anytime", "doubling", "adaptive"]), st.integers(2, 5))
def test_facts_are_exact_up_to_the_reported_rounding(seed, rule, experts):
    """The float game against 60 digits, on streams that are hard for floats."""
    getcontext().prec = 60
    rng = np.random.default_rng(seed)
    rounds = 80
    hard = np.array([0.0, 1.0, 0.1, 0.3, 1e-17, 1.0 - 2.0**-53, 1e-300, 2.0**-40, 0.5])
    table = hard[rng.integers(0, len(hard), (rounds, experts))]
    table[: rounds // 2, 0] = 0.1
    makers = {
        "fixed": lambda: ExponentialWeights(experts, eta=float(rng.choice([1e-3, 0.3, 5.0, 2000.0])), loss="table",
                                            play="mean"),
        "anytime": lambda: ExponentialWeights(experts, loss="table", play="mean", prior=rng.integers(1, 9, experts)),
        "doubling": lambda: ExponentialWeights(experts, rate="doubling", loss="table", play="mean"),
        "adaptive": lambda: AdaHedge(experts, loss="table", play="mean"),
    }  # fmt: skip
    learner = makers[rule]()
    mixed = gaps = Decimal(0)
    lost = [Fraction(0)] * experts
    for row in table:
        before = learner.facts()
        w = [Decimal(value) for value in learner.weights.tolist()]
        if rule == "fixed":  # at high rates weights may be too small for a float, and still count
            gaps_now = [Decimal(float(loss - min(lost))) for loss in lost]
            w = [(-Decimal(before.eta) * gap).exp() for gap in gaps_now]
        total = sum(w)
        learner.play_one(None, row)
        after = learner.facts()
        if rule == "adaptive" and after.eta > 0.0:  # weights too small for a float count here too
            w = [(-Decimal(after.eta) * Decimal(float(loss - min(lost)))).exp() for loss in lost]
            total = sum(w)
        h = sum(a * Decimal(b) for a, b in zip(w, row.tolist(), strict=True)) / total
        if after.eta > 0.0:
            rate = Decimal(after.eta)
            m = -(sum(a * (-rate * Decimal(b)).exp() for a, b in zip(w, row.tolist(), strict=True)) / total).ln() / rate
        else:
            m = min(Decimal(b) for a, b in zip(w, row.tolist(), strict=True) if a > 0)
        mixed, gaps = mixed + h, gaps + h - m
        lost = [a + Fraction(b) for a, b in zip(lost, row.tolist(), strict=True)]
        assert abs(Decimal(after.mixed) - Decimal(before.mixed) - h) <= Decimal(after.rounding) + Decimal("1e-15")
    facts = learner.facts()
    allowed = Decimal(facts.rounding)
    assert abs(Decimal(facts.mixed) - mixed) <= allowed
    assert abs(Decimal(facts.gaps) - gaps) <= allowed * 2
    assert abs(Fraction(facts.best_loss) - min(lost)) <= Fraction(facts.rounding)
    if rule in ("fixed", "anytime") and facts.uniform:
        assert mixed - Decimal(float(min(lost))) <= Decimal(math.log(experts) / facts.eta) + gaps + allowed


def test_rounding_is_next_to_nothing_in_ordinary_runs():
    learner = ExponentialWeights(10, horizon=100_000, loss="table")
    learner.learn_many(Batch(None, np.random.default_rng(0).random((100_000, 10)), 1))
    assert learner.facts().rounding < 1e-9 * math.sqrt(100_000 * math.log(10) / 2)


def test_a_prior_is_a_head_start():
    learner = ExponentialWeights(3, eta=0.5, loss="table", play="mean", prior=[6, 3, 1])
    assert learner.weights == pytest.approx([0.6, 0.3, 0.1])
    for row in TABLE:
        learner.play_one(None, row)
    w = np.array([0.6, 0.3, 0.1]) * np.exp(-0.5 * TABLE.sum(axis=0))
    assert learner.weights == pytest.approx(w / w.sum())
    facts = learner.facts()
    assert not facts.uniform
    costs = TABLE.sum(axis=0) + np.log([10 / 6, 10 / 3, 10]) / 0.5
    assert facts.comparator == int(costs.argmin())
    assert facts.comparator_loss + facts.price / 0.5 == pytest.approx(costs.min())
    assert facts.mixed <= costs.min() + facts.gaps + 1e-9


def test_rates_lie_on_the_scale_of_the_loss():
    learner = ExponentialWeights(2, horizon=50, loss="log", play="draw", clip=0.01)
    x = np.tile([0.3, 0.6], (50, 1))
    learner.learn_many(Batch(x, np.ones(50), 1))
    facts = learner.facts()
    assert facts.unit == facts.top == pytest.approx(math.log(100))
    assert facts.eta == pytest.approx(math.sqrt(8 * math.log(2) / 50))
    lost = 50 * np.array([-math.log(0.3), -math.log(0.6)])
    w = np.exp(-facts.eta / facts.top * (lost - lost.min()))
    assert learner.weights == pytest.approx(w / w.sum())


def test_the_expert_drawn_is_where_the_coin_falls():
    learner = ExponentialWeights(5, eta=1.0, loss="table", seed=9)
    rng = np.random.default_rng(1)
    for t in range(200):
        w = learner.weights
        said = learner.predict_one(None)
        row = rng.random(5)
        got = learner.play_one(None, row)
        assert got.predictions == said == np.searchsorted(np.cumsum(w), uniform(9, "expert", t), side="right")
        assert got.losses == row[int(said)]
        assert got.expected == pytest.approx(w @ row, abs=1e-12)


# Contracts, for all learners with expert advice.

RULES = {
    "fixed": lambda n, **more: ExponentialWeights(n, eta=0.3, **more),
    "anytime": lambda n, **more: ExponentialWeights(n, rate="anytime", **more),
    "doubling": lambda n, **more: ExponentialWeights(n, rate="doubling", **more),
    "prior": lambda n, **more: ExponentialWeights(n, rate="anytime", prior=np.arange(1, n + 1), **more),
    "steep": lambda n, **more: ExponentialWeights(n, eta=5000.0, prior=np.arange(1, n + 1), **more),
    "ada": AdaHedge,
    "share": lambda n, **more: FixedShare(n, 2, 300, **more),
    "share-prior": lambda n, **more: FixedShare(n, 2, 300, prior=np.arange(1, n + 1), **more),
    "share-steep": lambda n, **more: FixedShare(n, 2, 300, eta=3000.0, **more),
    "share-nothing": lambda n, **more: FixedShare(n, 1, 300, alpha=0, **more),
    "sleeping": SleepingExperts,
    "sleeping-prior": lambda n, **more: SleepingExperts(n, eta=0.4, prior=[0.9 / n] * n, **more),
    "sleeping-steep": lambda n, **more: SleepingExperts(n, eta=4000.0, **more),
}
GAMES = {
    "table-mean": {"loss": "table", "play": "mean"},
    "table-draw": {"loss": "table", "seed": 3},
    "zero-one": {"loss": "zero-one", "seed": 4},
    "absolute": {"loss": "absolute"},
    "squared": {"loss": "squared"},
    "squared-draw": {"loss": "squared", "play": "draw"},
    "log": {"loss": "log", "clip": 0.01},
    "log-draw": {"loss": "log", "play": "draw"},
}
CASES = [(rule, game) for rule in RULES for game in GAMES]
every = pytest.mark.parametrize(("rule", "game"), CASES, ids=[f"{a}-{b}" for a, b in CASES])


def stream(learner, experts, rounds, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (rounds, experts)) / 2.0 if learner.loss == "zero-one" else rng.random((rounds, experts))
    y = rng.integers(0, 2, rounds).astype(float)
    if isinstance(learner, SleepingExperts):
        x[rng.random(x.shape) < 0.4] = NAN
        x[5] = NAN
    return Batch(None, x, 1) if learner.loss == "table" else Batch(x, y, 1)


def rows(batch):
    return list(batch.rows())


@every
def test_batches_of_any_size_and_resumes_match_single_rounds(rule, game):
    for experts in (1, 2, 13):
        one = RULES[rule](experts, **GAMES[game])
        batch = stream(one, experts, 150, experts)
        looped = []
        for x, y in rows(batch):
            said = one.predict_one(x)
            got = one.play_one(x, y)
            if not (isinstance(one, SleepingExperts) and one.loss == "table"):
                assert got.predictions == said
            looped.append(got[:3])
        for size in (1, 7, 33, 150):
            learner = RULES[rule](experts, **GAMES[game])
            parts = []
            for start in range(0, 150, size):
                part = learner.learn_many(batch.part(start, start + size))
                parts += list(zip(part.predictions.tolist(), part.losses.tolist(), part.expected.tolist(), strict=True))
                if size == 33:
                    learner = type(learner).restore(copy.deepcopy(learner.state()))
            assert parts == looped
            assert same(learner.state(), one.state())
            assert learner.facts() == one.facts()


@every
def test_reported_losses_sum_to_the_totals(rule, game):
    learner = RULES[rule](6, **GAMES[game])
    batch = stream(learner, 6, 200, 5)
    got = learner.learn_many(batch)
    facts = learner.facts()
    assert isinstance(facts, ExpertsFacts)
    assert facts.rounds == learner.rounds == 200
    assert learner.weights.sum() == pytest.approx(1.0)
    assert np.all((got.losses >= 0.0) & (got.losses <= facts.top))
    if learner.draws or learner.loss == "table":
        assert got.expected.sum() == pytest.approx(facts.mixed)
    else:
        assert got.losses.tolist() == got.expected.tolist()
        assert got.losses.sum() <= facts.mixed + 1e-9
    gap = facts.rates / facts.unit * facts.top**2 / 8
    assert 0.0 <= facts.last_gap <= facts.gaps
    assert facts.rule == "adaptive" or facts.gaps <= gap + 1e-9


@every
def test_predicting_changes_nothing_and_bad_input_is_refused(rule, game):
    learner = RULES[rule](4, **GAMES[game])
    batch = stream(learner, 4, 40, 1)
    learner.learn_many(batch)
    before = copy.deepcopy(learner.state())
    y = rows(batch)[0][1]
    good = np.full(4, 0.5)
    for _ in range(2):
        learner.predict_one(None if learner.loss == "table" else good)
        learner.chances(None if learner.loss == "table" else good)
        learner.weights  # noqa: B018
    bad = [[0.5] * 3, [0.5] * 5, 0.5, None, "abcd", ["a"] * 4, [[0.5] * 4], [0.5, 0.5, 0.5, math.inf], [0.5, {}, 1, 1]]
    bad += [] if isinstance(learner, SleepingExperts) else [[0.5, NAN, 0.5, 0.5]]
    bad += [] if learner.loss == "zero-one" else [[0.5, 1.5, 0.5, 0.5], [-0.1, 0.5, 0.5, 0.5]]
    for row in bad:
        given = (None, row) if learner.loss == "table" else (row, y)
        with pytest.raises(InputError):
            learner.learn_one(*given)
        with pytest.raises(InputError):
            learner.play_one(*given)
        if learner.loss != "table":
            with pytest.raises(InputError):
                learner.predict_one(row)
    if learner.loss == "table":
        with pytest.raises(InputError, match="None"):
            learner.play_one(good, good)
    else:
        for outcome in (NAN, math.inf, None, "a", [1.0], *([] if learner.loss == "zero-one" else [1.5, -1])):
            with pytest.raises(InputError):
                learner.play_one(good, outcome)
        with pytest.raises(InputError):
            learner.learn_many(Batch(batch.x, np.full(40, NAN), 1))
    wide = np.full((3, 5), 0.5)
    with pytest.raises(InputError, match="shape"):
        learner.learn_many(Batch(None, wide, 1) if learner.loss == "table" else Batch(wide, np.ones(3), 1))
    table = batch.y if learner.loss == "table" else batch.x
    spoilt = table.copy()
    spoilt[30, 2] = math.inf
    with pytest.raises(InputError, match="expert 2 has inf in round 131"):
        learner.learn_many(Batch(None, spoilt, 101) if learner.loss == "table" else Batch(spoilt, batch.y, 101))
    assert same(learner.state(), before)


@pytest.mark.parametrize("rule", RULES)
def test_single_expert_has_no_regret(rule):
    learner = RULES[rule](1, loss="absolute")
    x = np.random.default_rng(0).random((100, 1))
    got = learner.learn_many(Batch(x, np.ones(100), 1))
    facts = learner.facts()
    assert got.predictions == pytest.approx(x[:, 0], rel=4e-16)
    assert (facts.eta, facts.gaps, facts.rounding, facts.price) == (0.0, 0.0, 0.0, 0.0)
    assert facts.mixed == pytest.approx(facts.best_loss, abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_expert_with_vanished_weight_recovers(rule):
    """No expert is lost, however far behind it was."""
    learner = RULES[rule](2, loss="table", play="mean")
    first, then = np.tile([0.0, 1.0], (30_000, 1)), np.tile([1.0, 0.0], (60_000, 1))
    learner.learn_many(Batch(None, first, 1))
    assert learner.weights[0] > 0.9
    learner.learn_many(Batch(None, then, 1))
    assert learner.weights[1] > 0.9
    assert np.all(np.isfinite(learner.weights))


@every
def test_the_guarantees_hold_in_a_game(rule, game):
    for seed in range(3):
        learner = RULES[rule](5, **GAMES[game])
        batch = stream(learner, 5, 300, seed)
        found = play(learner, batch.y if learner.loss == "table" else (batch.x, batch.y)).certify()
        assert any(certificate.holds for certificate in found), [str(one) for one in found]
        for certificate in found:
            assert certificate.status in ("valid", "vacuous", "void"), str(certificate)


def test_read_only_arrays_are_played_as_they_are():
    learner, other = (ExponentialWeights(9, loss="log") for _ in range(2))
    batch = stream(learner, 9, 50, 2)
    said = learner.learn_many(batch)
    batch.x.flags.writeable = False
    batch.y.flags.writeable = False
    assert other.learn_many(batch).predictions.tolist() == said.predictions.tolist()


# A class of hypotheses as experts.

BY_CLASS = {
    "fixed": lambda c, seed=0: ExponentialWeights(c, eta=0.5, seed=seed),
    "anytime": lambda c, seed=0: ExponentialWeights(c, seed=seed),
    "majority": lambda c, seed=0: RandomizedWeightedMajority(c, seed=seed),
    "ada": lambda c, seed=0: AdaHedge(c, seed=seed),
    "share": lambda c, seed=0: FixedShare(c, 1, 200, seed=seed),
}


@pytest.mark.parametrize("kind", BY_CLASS)
def test_hypotheses_vote_with_their_weight(kind):
    learner = BY_CLASS[kind](Thresholds(20), seed=2)
    rng = np.random.default_rng(0)
    assert learner.draws
    assert learner.labels is None
    for x in rng.integers(0, 21, 200).tolist():
        y = 1 if x >= 7 else -1
        choices = Thresholds(20).labels_of(x, None)
        chances = learner.chances(x)
        assert chances.get(1, 0.0) == pytest.approx(learner.weights[choices == 1].sum(), abs=1e-12)
        assert sum(chances.values()) == pytest.approx(1.0)
        said = learner.predict_one(x)
        assert said in chances
        assert learner.play_one(x, y) == said
    assert learner.survivor() == Thresholds(20).describe(7)
    assert learner.learn_many(Batch(np.array([1]), np.array([1], dtype=np.int8), 1)) is None
    assert learner.facts().best_loss == 0.0
    again = type(learner).restore(learner.state())
    assert same(again.state(), learner.state())


def test_many_labels_and_a_prior_by_length():
    matrix = Table([[0, 1, 2], [0, 1, 1], [2, 2, 2]])
    learner = ExponentialWeights(matrix, eta=1.0)
    assert learner.labels == 3
    assert learner.chances(2) == pytest.approx({2: 2 / 3, 1: 1 / 3})
    learner.learn_one(2, 1)
    w = np.exp([-1.0, 0.0, -1.0])
    assert learner.chances(2) == pytest.approx({1: 1 / w.sum(), 2: 2 * w[0] / w.sum()})
    programs = Programs(bits=9, width=2)
    learner = ExponentialWeights(programs, prior="length")
    lengths = np.array([programs.length(i) for i in range(programs.size)])
    assert learner.weights == pytest.approx(2.0**-lengths / np.sum(2.0**-lengths))
    assert sum(learner.chances([1.0, 2.0]).values()) == pytest.approx(1.0)
    assert same(ExponentialWeights.restore(learner.state()).state(), learner.state())


def test_a_game_on_a_class_keeps_its_bound():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 21, 400)
    y = np.where(rng.random(400) < 0.1, -1, 1) * np.where(x >= 7, 1, -1)
    for kind, make in BY_CLASS.items():
        found = play(make(Thresholds(20)), (x, y)).certify()
        assert found[0].status == "valid", (kind, str(found[0]))
        assert all(one.status != "violated" for one in found)


# What cannot be.


@pytest.mark.parametrize(
    "more",
    [
        {"eta": 0.0},
        {"eta": -1.0},
        {"eta": math.inf},
        {"eta": True},
        {"eta": "a"},
        {"horizon": 0},
        {"horizon": 1.5},
        {"rate": "fixed"},
        {"rate": "anytime", "eta": 0.5},
        {"rate": "doubling", "horizon": 10},
        {"rate": "slow"},
        {"loss": "hinge"},
        {"play": "both"},
        {"play": "mean"},
        {"seed": 1.5},
        {"prior": [1, 2]},
        {"prior": [1, 2, 0]},
        {"prior": [1, 2, -1]},
        {"prior": [1, 2, NAN]},
        {"prior": [1, 2, math.inf]},
        {"prior": [1.0, 1.0, 1e-200]},
        {"prior": "length"},
        {"prior": 3},
        {"loss": "log", "clip": 0.6},
    ],
)
def test_arguments_out_of_range_are_refused(more):
    with pytest.raises(InputError, match="must|needs eta or horizon|are for rate"):
        ExponentialWeights(3, **more)


@pytest.mark.parametrize("experts", [0, -1, 1.5, True, None, "three", [1, 2], 10**12])
def test_experts_must_be_a_number_or_a_class(experts):
    with pytest.raises(InputError):
        ExponentialWeights(experts)


def test_a_class_that_is_too_large_or_pays_another_loss_is_refused():
    with pytest.raises(TooLargeError):
        ExponentialWeights(Thresholds(10**9))
    with pytest.raises(InputError, match="zero-one"):
        ExponentialWeights(Thresholds(5), loss="absolute")
    with pytest.raises(InputError, match="experts must be an integer"):
        SleepingExperts(Thresholds(5))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("far", np.zeros(2)),
        ("far", np.array([0.0, NAN, 0.0])),
        ("near", [0.0, 0.0, 0.0]),
        ("lead", 3),
        ("lead", -1),
        ("rounds", -1),
        ("rounds", 1.5),
        ("numbers", np.zeros(1)),
        ("numbers", np.array(["a"] * 15)),
        ("numbers", np.full(15, math.inf)),
        ("numbers", [0.0] * 15),
    ],
)
def test_a_damaged_state_is_refused(name, value):
    learner = ExponentialWeights(3, loss="table")
    learner.play_one(None, [0.0, 0.5, 1.0])
    state = learner.state()
    state["weights"][name] = value
    with pytest.raises(ModelFileError):
        ExponentialWeights.restore(state)


def test_playing_on_beyond_the_horizon_keeps_the_rate():
    learner = ExponentialWeights(2, horizon=10, loss="table")
    learner.learn_many(Batch(None, np.tile([0.0, 1.0], (30, 1)), 1))
    facts = learner.facts()
    assert (facts.rounds, facts.horizon) == (30, 10)
    assert facts.eta == pytest.approx(math.sqrt(8 * math.log(2) / 10))
    assert facts.rates == pytest.approx(30 * facts.eta)


@pytest.mark.parametrize("eta", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("light", [7.017563868327936e-20, 2.704081638142233e-16, 1.2168722168806578e-10])
@pytest.mark.parametrize("theorem", ["fixed_rate_regret", "mixability_gaps", "small_losses"])
def test_no_bound_is_below_its_theorem_where_the_rate_is_tiny_and_the_prior_on_one_expert(eta, light, theorem):
    getcontext().prec = 60
    learner = ExponentialWeights(3, eta=eta, loss="table", prior=[light, 1.0, light])
    table = np.tile([1.0, 0.25, 0.5], (16, 1))
    found = {one.theorem: one for one in play(learner, Losses(table)).certify()}[theorem]
    rate, prior = Decimal(eta), 1 / (1 + 2 * Decimal(light))
    price = -prior.ln() / rate
    if theorem == "small_losses":
        least = rate * (4 + price) / (1 - (-rate).exp())
    else:
        least = price + (rate * 16 / 8 if theorem == "fixed_rate_regret" else 0)
    assert Decimal(found.bound) >= least


def test_a_prior_is_a_matter_of_proportions_however_large_its_numbers_are():
    large = ExponentialWeights(3, eta=1.0, loss="table", prior=[1.5e308, 1e308, 1.25e308])
    small = ExponentialWeights(3, eta=1.0, loss="table", prior=[6.0, 4.0, 5.0])
    assert large.weights == pytest.approx(small.weights, rel=1e-12)
    for prior, prices in (
        ([1.0, 0.25], [0.8, 0.2]),
        ([0.5, 0.25], [0.5, 0.25]),
    ):  # one that leaves room is left as it is
        sleepy = SleepingExperts(2, eta=1.0, loss="table", prior=prior)
        sleepy.play_one(None, [0.0, 1.0])
        assert sleepy.facts().sleeper_price in [pytest.approx(-math.log(price)) for price in prices]
