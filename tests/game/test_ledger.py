"""The ledger counts the same whatever the size of the batches, and in constant memory."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.core.certificate import Certificate
from novikoff.core.types import StepResult
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import state_of


def random_game(rounds, seed=0):
    rng = np.random.default_rng(seed)
    return rng.choice([-1, 1], rounds).astype(np.int8), rng.choice([-1, 1], rounds).astype(np.int8)


def marks(rounds):
    t, out = 1, []
    while t <= rounds:
        out.append(t)
        t = t + 1 if t < 1000 else math.ceil(1.01 * t)
    return out


@given(st.integers(0, 5000), st.integers(1, 3000), st.integers(0, 5))
def test_batches_and_single_rounds_write_the_same(rounds, size, seed):
    said, y = random_game(rounds, seed)
    one, many = Ledger(nk.ThresholdHalving(1)), Ledger(nk.ThresholdHalving(1))
    for p, label in zip(said.tolist(), y.tolist(), strict=True):
        one.write(p, label)
    for start in range(0, rounds, size):
        many.write_batch(said[start : start + size], y[start : start + size])
    assert state_of(one) == state_of(many)
    assert one.mistakes == np.count_nonzero(said != y)
    assert [t for t, _ in one.curve] == marks(rounds)
    wrong = np.concatenate([[0], np.cumsum(said != y)])
    assert [m for _, m in one.curve] == [wrong[t] for t in marks(rounds)]


@given(st.lists(st.tuples(st.sampled_from([0.0, 5e-324, 0.1, 0.5, 1.0]) | st.floats(0, 1), st.sampled_from([-1, 1]),
                          st.sampled_from([-1, 1])), max_size=40), st.integers(1, 40))  # fmt: skip
def test_batches_and_single_rounds_with_probabilities_write_the_same(rounds, size):
    one, many = Ledger(nk.FTRL()), Ledger(nk.FTRL())
    for p, said, y in rounds:
        wrong = float(said != y)
        one.write_result(StepResult(said, wrong, wrong, probabilities=p), y)
    for start in range(0, len(rounds), size):
        p, said, y = map(np.array, zip(*rounds[start : start + size], strict=True))
        wrong = (said != y).astype(np.float64)
        many.write_results(StepResult(said, wrong, wrong, probabilities=p), y)
    assert repr(state_of(one)) == repr(state_of(many))
    assert one.impossible == sum(p == 0.0 for p, *_ in rounds)


def test_the_curve_stays_short():
    ledger = Ledger(nk.ThresholdHalving(1))
    zeros = np.ones(1_000_000, dtype=np.int8)
    for _ in range(20):
        ledger.write_batch(zeros, zeros)
    assert ledger.rounds == 20_000_000
    assert len(ledger.curve) < 2100


def watched(seen, n):
    """A learner whose only theorem writes down what it is told."""

    class Watched(nk.ThresholdHalving):
        promises = (seen.append,)

    return Watched(n)


def test_the_constants_are_counted():
    seen = []
    nk.play(watched(seen, 3), [(0, -1), (1, -1), (2, 1)]).certify()
    assert seen[0].constants == (1, 2)  # always -1 errs on one, always +1 on two


def test_expected_mistakes_are_summed_without_losing_small_parts():
    ledger = Ledger(nk.ThresholdHalving(1))
    ledger.write(-1, 1, chance=0.0)
    for _ in range(1000):
        ledger.write(1, 1, chance=1.0 - 2.0**-53)  # each alone is lost beside 1.0
    assert ledger.expected == 1.0 + 1000 * 2.0**-53
    assert not ledger.deterministic


def test_certificates_come_tightest_valid_first_and_the_adversarys_last():
    def theorem(name, side, bound):
        status = "vacuous" if bound == 100 else "valid"
        return lambda run: Certificate(name, "D", side, "mistakes", 3, bound, 100 if side == "upper" else 0, status)

    class Learner(nk.ThresholdHalving):
        promises = (theorem("loose", "upper", 9), theorem("empty", "upper", 100), theorem("tight", "upper", 4))

    class Opponent(GridBisection):
        promises = (theorem("low", "lower", 1), theorem("high", "lower", 3))

    ledger = nk.play(Learner(10), Opponent(10), rounds=3)
    assert [c.theorem for c in ledger.certify()] == ["tight", "loose", "empty", "high", "low"]


def test_run_records_whether_the_stream_was_adaptive():
    seen = []
    for environment in ([(1, 1)], GridBisection(10)):
        nk.play(watched(seen, 10), environment, rounds=1).certify()
    assert [run.adaptive for run in seen] == [False, True]


def test_a_ledger_opened_in_mid_game_certifies_its_own_part():
    learner = nk.ThresholdHalving(10)
    nk.play(learner, [(5, -1), (8, -1)])
    second = nk.play(learner, [(9, 1)] + [(3, -1)] * 9)
    found = second.certify()[0]
    assert (second.mistakes, found.bound, found.status) == (1, 1, "valid")  # from 3 thresholds to 1


def test_recorded_predictions_are_those_made():
    ledger = nk.play(nk.ThresholdHalving(10), (np.array([5, 8, 9]), np.array([-1, -1, 1])), record=True)
    assert ledger.recorded().tolist() == [1, 1, -1]
