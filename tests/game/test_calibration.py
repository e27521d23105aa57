"""What was said to be so probable, beside how often it came."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.convex.ftrl import Ftrl
from novikoff.core.errors import ModelFileError
from novikoff.game import ledger_state
from novikoff.game.calibration import Calibration


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
def test_what_is_not_a_number_is_in_no_bin(copies):
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
    with pytest.raises(ModelFileError, match="counts of rounds"):
        ledger_state.restore(state, ledger.learner)


@pytest.mark.parametrize("bias", [1.0, 0.25, -3.0])
def test_ftrl_is_off_on_average_by_just_what_its_sums_say(bias):
    x, y = noisy(400)
    ledger = nk.play(Ftrl(bias=bias), (x, y))
    excess = ledger.calibration.predicted - ledger.positives
    assert excess == pytest.approx(ledger.learner.gradients()[0] / bias, abs=1e-9)
    assert abs(excess) > 1e-3
    certificate = next(one for one in ledger.certify() if one.theorem == "ftrl_regret")
    assert certificate.status == "valid"
    claims = [assumption.claim for assumption in certificate.assumptions]
    assert "its probabilities are off on average by what its sums say" in claims


class Boaster(Ftrl):
    """Says that it had been surer than it was, and pays the same."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(probabilities=np.where(np.arange(len(y)) % 2, played.probabilities, 0.5))


def test_who_learned_from_other_probabilities_than_it_said_is_found_out():
    ledger = nk.play(Boaster(), noisy(400))
    certificate = next(one for one in ledger.certify() if one.theorem == "ftrl_regret")
    assert certificate.status == "void"
    assert "off on average" in certificate.reason
