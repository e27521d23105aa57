"""The compiled passes beside plain Python, bit for bit; exp(x) - c; draws; and two times ten million rounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.types import Batch
from novikoff.experts._loops import advice, standings, weights
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.numerics.compiled import compiled
from novikoff.numerics.exp import LEAST
from twins import exp_twin, fused_twin, parts_twin


@compiled
def decay_of(x, c):
    return weights.decay(x, c)


def decay_twin(x, c):
    """`decay` in plain Python, operation by operation."""
    if x < LEAST:
        return 0.0 - c
    near, power = parts_twin(x)
    return fused_twin(near, power, power - c)


@given(st.floats(-800.0, 0.0), st.sampled_from([0.0, 1.0]))
def test_exp_less_one_is_right_also_near_zero(x, c):
    got, right = decay_of(x, c), math.expm1(x) if c else math.exp(x)
    assert got == decay_twin(x, c)
    assert got == pytest.approx(right, rel=2 * 2.0**-52, abs=1e-307)


def lanes(values, factors=None):
    """The sum in eight lanes: of values, or of their products with factors, each rounded once with the sum."""
    sums = [0.0] * 8
    for i, value in enumerate(values):
        sums[i % 8] = sums[i % 8] + value if factors is None else fused_twin(value, factors[i], sums[i % 8])
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))


def neumaier(values):
    total = lost = 0.0
    for value in values:
        new = total + value
        lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + lost


def chunked(values, factors=None):
    chunks = [slice(k, k + 1024) for k in range(0, len(values), 1024)]
    return neumaier([lanes(values[chunk], factors and factors[chunk]) for chunk in chunks])


class Twin:
    """Exponential weights on losses at one rate, as experts/_loops/standings.py, in plain Python."""

    def __init__(self, experts, rate):
        self.far, self.near, self.lead, self.rate, self.rounds = [0.0] * experts, [0.0] * experts, 0, rate, 0

    def gap(self, i, far, near):
        return (self.far[i] - far) + (self.near[i] - near)

    def play(self, losses, advice=None):
        far, near = self.far[self.lead], self.near[self.lead]
        gaps = [self.gap(i, far, near) for i in range(len(losses))]
        w = [exp_twin(-self.rate * max(gap, 0.0)) for gap in gaps]
        h = chunked(w, losses if advice is None else advice) / chunked(w)
        self.near = [a + b for a, b in zip(self.near, losses, strict=True)]
        reached = [gap + loss for gap, loss in zip(gaps, losses, strict=True)]
        where = next(k for k in range(0, len(w), 1024) if min(reached[k : k + 1024]) == min(reached))
        step = self.gap(self.lead, far, near)
        if min(reached) < step:
            for i in range(where, min(where + 1024, len(w))):
                if self.gap(i, far, near) < step:
                    self.lead, step = i, self.gap(i, far, near)
        self.rounds += 1
        if self.rounds % weights.FLUSH == 0:
            for i, (a, b) in enumerate(zip(self.far, self.near, strict=True)):
                total = a + b
                part = total - a
                self.near[i], self.far[i] = (a - (total - part)) + (b - part), total
        return h


@pytest.mark.parametrize(
    "experts", [2, 3, 7, 8, 9, 16, 29, 1023, 1024, 1025, pytest.param(2500, marks=pytest.mark.slow)]
)
def test_the_compiled_rounds_are_those_of_plain_python_bit_for_bit(experts):
    rng = np.random.default_rng(experts)
    table = rng.random((70 if experts < 100 else 34, experts))
    learner, twin = ExponentialWeights(experts, eta=0.7, loss="table", play="mean"), Twin(experts, 0.7)
    played = learner.learn_many(Batch(None, table, 1))
    assert played.losses.tolist() == [twin.play(row) for row in table.tolist()]
    state = learner.state()["weights"]
    assert state["far"].tolist() == twin.far
    assert state["near"].tolist() == twin.near
    assert state["lead"] == twin.lead


@pytest.mark.parametrize("experts", [3, 8, 29, 1030])
def test_squared_losses_that_are_computed_on_the_way_are_those_of_plain_python(experts):
    rng = np.random.default_rng(experts)
    advice, outcomes = rng.random((34, experts)), rng.random(34)
    learner, twin = ExponentialWeights(experts, eta=0.7, loss="squared"), Twin(experts, 0.7)
    played = learner.learn_many(Batch(advice, outcomes, 1))
    said = [
        twin.play([(p - y) * (p - y) for p in row], row)
        for row, y in zip(advice.tolist(), outcomes.tolist(), strict=True)
    ]
    assert played.predictions.tolist() == said
    state = learner.state()["weights"]
    assert state["far"].tolist() == twin.far
    assert state["near"].tolist() == twin.near
    assert state["lead"] == twin.lead


def test_flushing_is_exact():
    rng = np.random.default_rng(1)
    table = np.concatenate([rng.random(50) * 10.0 ** rng.integers(-3, 9, 50), rng.random(50)])
    before = [Fraction(table[i]) + Fraction(table[50 + i]) for i in range(50)]
    standings.flush(table, 0, 50, 50)
    assert [Fraction(table[i]) + Fraction(table[50 + i]) for i in range(50)] == before
    assert np.abs(table[50:]).max() < 1e-6


@given(
    st.lists(st.sampled_from([0.0, 1e-300, 1e-12, 0.25, 1.0]), min_size=1, max_size=300),
    st.integers(1, 9),
    st.floats(0.0, 1.0, exclude_max=True),
)
def test_draw_follows_cumulative_weights(some, times, u):
    w = np.array(some * times)
    if w.sum() == 0.0:
        w[len(w) // 2] = 1.0
    parts = [lanes(w[k : k + 1024].tolist()) for k in range(0, len(w), 1024)]
    room = np.concatenate([w, parts])
    drawn = advice.find(room, 0, len(w), len(w), u * math.fsum(w))
    ends = np.cumsum(w)
    assert w[drawn] > 0.0
    assert ends[drawn] - w[drawn] <= u * ends[-1] * (1 + 1e-12) + 1e-12
    assert u * ends[-1] <= ends[drawn] * (1 + 1e-12) + 1e-12


def test_the_first_number_out_of_range_is_found():
    rows = np.random.default_rng(0).random((5, 37))
    assert advice.flaw(rows, 0.0, 1.0, False) == (-1, -1)
    rows[4, 3] = 1.5
    rows[3, 36] = math.nan
    rows[3, 7] = math.nan
    assert advice.flaw(rows, 0.0, 1.0, False) == (3, 7)
    assert advice.flaw(rows, 0.0, 1.0, True) == (4, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [lambda: ExponentialWeights(3, eta=0.01, loss="table"), lambda: ExponentialWeights(3, loss="table")]
)
def test_nothing_is_lost_when_a_million_lies_between_experts_that_then_turn(make):
    learner, rows = make(), 1_000_000
    one, two = np.tile([0.0, 0.1, 0.3], (rows, 1)), np.tile([0.1, 0.0, 0.3], (rows, 1))
    for part in range(20):
        played = learner.learn_many(Batch(None, one if part < 10 else two, part * rows + 1))
        assert np.all(np.isfinite(played.expected))
        assert abs(learner.weights.sum() - 1.0) < 1e-12
        if part == 9:
            assert learner.weights == pytest.approx([1.0, 0.0, 0.0], abs=1e-200)
            assert learner.facts().best_loss == 0.0
    tenth, third = Fraction(0.1) * 10 * rows, Fraction(0.3) * 20 * rows
    state, facts = learner.state()["weights"], learner.facts()
    for i, right in enumerate((tenth, tenth, third)):
        assert abs(Fraction(state["far"][i]) + Fraction(state["near"][i]) - right) <= facts.rounding
    assert learner.weights == pytest.approx([0.5, 0.5, 0.0], abs=1e-9)
    assert facts.mixed - facts.best_loss <= math.log(3) / facts.eta + facts.gaps + facts.rounding
    assert facts.rounding < 1e-4
    learner.learn_many(Batch(None, np.tile([1.0, 0.0, 1.0], (50, 1)), 20 * rows + 1))
    eta = 0.01 if facts.horizon == 0 and facts.rule == "fixed" else 2.0 * math.sqrt(math.log(3) / (20 * rows + 51))
    w = learner.weights
    assert w[1] / w[0] == pytest.approx(math.exp(eta * 50.0), rel=1e-9)
