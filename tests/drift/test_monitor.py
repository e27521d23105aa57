"""Tests that refute independence: golden values, false alarms, drift that is found, chunks and stops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from helpers import drive
from novikoff.core.errors import InputError, ModelFileError
from novikoff.drift._loops import drift as kernel
from novikoff.drift.monitor import DriftTest, Monitor
from novikoff.numerics.coins import MASK, mix, purpose_word, uniform

ERRORS = [0, 1, 0, 0, 1, 1]
COINS = [0.5, 0.25, 0.75, 0.1, 0.9, 0.4]


@pytest.mark.parametrize("form", ["compiled", "plain"])
def test_golden_p_values_and_wealth(form):
    p_value, bet = (getattr(kernel, name) for name in ("p_value", "bet"))
    if form == "plain":
        p_value, bet = p_value.py_func, bet.py_func
    capital, ones, ps, wealth = np.full((1, 3), 1 / 3), 0, [], []
    for number, (wrong, u) in enumerate(zip(ERRORS, COINS, strict=True), 1):
        ps.append(p_value(bool(wrong), ones, number, u))
        wealth.append(bet(capital, np.ones(1), 0.01, ps[-1]))
        ones += wrong
    assert ps == pytest.approx([0.5, 0.125, 0.833333, 0.325, 0.36, 0.2], abs=1e-6)
    assert wealth == pytest.approx([1, 1, 0.9175, 0.921879375, 0.939523473, 1.001448058], abs=1e-9)


def test_golden_wealth_of_the_monitor():
    monitor, wealth = Monitor(0.1), []
    for wrong in (1, 0, 1, 1):
        monitor.see(np.array([wrong]))
        wealth.append(monitor.wealth)
    assert wealth == pytest.approx([2.120605469, 1.621099472, 4.295230679, 15.840738271], abs=1e-9)
    assert (monitor.seen, monitor.errors, monitor.alarm) == (4, 3, False)


def test_the_coins_are_its_own():
    start = mix((7 & MASK) ^ purpose_word("drift 64"))
    for t in (0, 1, 12345):
        assert kernel.uniform(np.uint64(start), t) == uniform(7, "drift 64", t)


def reference(seed, errors):
    """The rule as it is written, in plain Python."""
    wealth, largest, seen = 1.0, 1.0, 0
    capital = [[1 / 9] * 3 for _ in range(3)]
    start = 64
    while start < len(errors):
        ones = 0
        for number, wrong in enumerate(errors[start : 2 * start], 1):
            u = uniform(seed, "drift 64", seen)
            seen += 1
            p = u * (ones + 1) / number if wrong else (ones + u * (number - ones)) / number
            ones += wrong
            jump = min(0.01, 1 / seen)
            for row, scale in zip(capital, (1, 1 / 4, 1 / 16), strict=True):
                total = sum(row)
                for j, eps in enumerate((1, 0, -1)):
                    row[j] = ((1 - jump) * row[j] + jump * total / 3) * (1 + eps * scale * (p - 0.5))
            wealth = sum(map(sum, capital))
            largest = max(largest, wealth)
        start *= 2
    return wealth, largest


@pytest.mark.parametrize("rate", [0.0, 0.2, 1.0])
def test_the_compiled_loop_is_the_rule(rate):
    errors = np.random.default_rng(1).random(3000) < rate
    test = drive(DriftTest(seed=11), errors)
    assert (test.wealth, test.largest) == pytest.approx(reference(11, errors.tolist()), rel=1e-10)


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(1, 300), min_size=1, max_size=8), st.booleans())
def test_chunks_and_stops_leave_the_same_bits(seed, sizes, stop):
    errors = np.random.default_rng(seed).random(2000) < 0.3
    whole = drive(DriftTest(seed=seed), errors)
    parts, at, turn = DriftTest(seed=seed), 64, 0
    while at < len(errors):
        if not parts.left:
            parts.refresh()
        end = min(at + min(sizes[turn % len(sizes)], parts.left), len(errors))
        parts.see(errors[at:end])
        at, turn = end, turn + 1
        if stop:
            parts = DriftTest.restore(parts.state())
    assert plain(parts) == plain(whole)
    watched, watching = Monitor(0.28), Monitor(0.28)
    watched.see(errors)
    for cut in np.split(errors, np.cumsum(sizes)):
        watching.see(cut)
        watching = Monitor.restore(watching.state()) if stop else watching
    assert plain(watching) == plain(watched)


def plain(test):
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in test.state().items()}


def allowed(runs, chance):
    """So many false alarms in so many runs are no surprise."""
    return binom.ppf(0.999, runs, chance)


def live_and_frozen(rng, runs, rounds, noise, flip_at=None):
    """Perceptrons on Gaussian examples: their own mistakes, and those of their snapshots at 64, 128, .."""
    w, frozen = np.zeros((runs, 2)), np.zeros((runs, 2))
    live, still = np.zeros((2, runs, rounds), dtype=bool)
    for t in range(rounds):
        if t >= 64 and t & (t - 1) == 0:
            frozen = w.copy()
        x = rng.standard_normal((runs, 2))
        y = np.where((x[:, 0] >= 0) ^ (rng.random(runs) < noise), 1, -1)
        if flip_at is not None and t >= flip_at:
            y = np.where((x[:, 1] >= 0) ^ (rng.random(runs) < noise), 1, -1)
        live[:, t] = np.where((w * x).sum(1) >= 0, 1, -1) != y
        still[:, t] = np.where((frozen * x).sum(1) >= 0, 1, -1) != y
        w += np.where(live[:, t], y, 0)[:, None] * x
    return live, still


def alarms(errors, first=64):
    return sum(drive(DriftTest(seed=seed, first=first), row).alarm for seed, row in enumerate(errors))


def test_false_alarms_are_rare_on_independent_examples():
    _, still = live_and_frozen(np.random.default_rng(2), 400, 1000, 0.1)
    assert 0 < alarms(still) <= allowed(400, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_false_alarms_over_many_exchangeable_streams(noise):
    _, still = live_and_frozen(np.random.default_rng(3), 2000, 3000, noise)
    assert alarms(still) <= allowed(2000, 0.05)


@pytest.mark.slow
def test_false_alarms_on_rows_that_are_exchangeable_but_not_independent():
    """Rows drawn without replacement: errors in a random order, of a number fixed in advance."""
    rng = np.random.default_rng(4)
    bag = np.arange(2000) < 700
    assert alarms(rng.permutation(bag) for _ in range(2000)) <= allowed(2000, 0.05)


def test_a_learner_that_keeps_learning_would_raise_false_alarms():
    """So the snapshot must be frozen: fed with the learner's own mistakes, the same bets are no test."""
    live, _ = live_and_frozen(np.random.default_rng(5), 300, 3000, 0.0)
    assert alarms(np.concatenate([live, live], axis=1), first=3000) > 1.5 * allowed(300, 0.05)  # all in one block


def test_drift_inside_a_block_is_found():
    _, still = live_and_frozen(np.random.default_rng(6), 100, 2000, 0.05, flip_at=1500)
    assert alarms(still) >= 85


def test_drift_at_a_snapshot_is_found_by_a_test_with_other_snapshots():
    rng = np.random.default_rng(7)
    errors = rng.random((60, 4096)) < np.where(np.arange(4096) < 2048, 0.1, 0.4)
    assert alarms(errors) <= 10
    assert alarms(errors, first=96) >= 55


def test_a_small_change_late_in_a_long_stream_is_found():
    """Where sharing out at a constant rate would have left e^-2000 of the wealth."""
    rng = np.random.default_rng(8)
    rate = np.where(np.arange(1_000_000) < 800_000, 0.1, 0.13)
    tests = [drive(DriftTest(seed=seed), rng.random(len(rate)) < rate) for seed in range(5)]
    assert sum(test.alarm for test in tests) >= 4
    calm = drive(DriftTest(seed=9), rng.random(len(rate)) < 0.1)
    assert 1e-4 < calm.wealth < 20


def test_wealth_stays_a_number_on_any_input():
    errors = np.zeros(1 << 18, dtype=bool)
    errors[3 << 16 :] = True
    test = drive(DriftTest(), errors)
    assert test.alarm
    assert 2.0**300 <= test.wealth <= 2.0**302
    monitor = Monitor(1e-6)
    monitor.see(np.ones(500, dtype=bool))
    assert monitor.alarm
    assert np.isfinite(monitor.wealth)


@pytest.mark.parametrize("risk", [0.1, 0.05, 0.0])
def test_the_monitor_is_calm_while_the_certificate_holds(risk):
    rng = np.random.default_rng(9)
    monitors = [Monitor(0.1) for _ in range(400)]
    for monitor in monitors:
        monitor.see(rng.random(5000) < risk)
    assert sum(monitor.alarm for monitor in monitors) <= allowed(400, 0.05)


@pytest.mark.slow
def test_the_monitor_over_many_streams_at_the_limit():
    rng = np.random.default_rng(10)
    monitors = [Monitor(0.1) for _ in range(2000)]
    for monitor in monitors:
        monitor.see(rng.random(20_000) < 0.1)
    assert sum(monitor.alarm for monitor in monitors) <= allowed(2000, 0.05)


@pytest.mark.parametrize("before", [0, 1000, 300_000])
def test_monitor_detects_drift_after_a_long_good_period(before):
    rng = np.random.default_rng(11)
    monitor = Monitor(0.1)
    monitor.see(rng.random(before) < 0.05)
    assert not monitor.alarm
    monitor.see(rng.random(2000) < 0.3)
    assert monitor.alarm


def test_blocks_end_at_rounds_fixed_in_advance():
    test = DriftTest()
    assert (test.next_snapshot, test.left) == (64, 0)
    with pytest.raises(InputError, match="it has 0 examples left up to round 64"):
        test.see(np.zeros(1, dtype=bool))
    test.refresh()
    assert (test.next_snapshot, test.left) == (128, 64)
    test.see(np.zeros(60, dtype=bool))
    with pytest.raises(InputError, match="at round 128: 4 examples are still to come"):
        test.refresh()
    with pytest.raises(InputError, match="got 5, and it has 4 examples left"):
        test.see(np.zeros(5, dtype=bool))
    test.see(np.zeros(4, dtype=bool))
    test.see(np.zeros(0, dtype=bool))
    test.refresh()
    assert (test.next_snapshot, test.left, test.seen) == (256, 128, 64)


def test_invalid_arguments_are_refused():
    for alpha in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="alpha must be a probability"):
            DriftTest(alpha=alpha)
        with pytest.raises(InputError, match="alpha must be a probability"):
            Monitor(0.1, alpha=alpha)
    for limit in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="a limit must be between 0 and 1"):
            Monitor(limit)
    with pytest.raises(InputError, match="first must be a positive"):
        DriftTest(first=0)
    for errors in (np.zeros((2, 2), dtype=bool), np.array([0, 2]), np.array([0.5]), np.array([np.nan])):
        with pytest.raises(InputError, match="errors must be a one-dimensional array of booleans"):
            Monitor(0.1).see(errors)


@pytest.mark.parametrize(
    "change",
    [
        {"next_snapshot": 100},
        {"next_snapshot": 64},
        {"wealth": float("nan")},
        {"largest": 0.5},
        {"counts": np.array([5, 6, 0])},
        {"counts": np.array([500, 400, 0])},
        {"counts": np.array([1, 2])},
        {"capital": np.full((3, 3), -1.0)},
        {"capital": np.full((3, 3), np.inf)},
    ],
    ids=str,
)
def test_invalid_state_is_refused(change):
    state = drive(DriftTest(), np.zeros(200, dtype=bool)).state()
    DriftTest.restore(state)
    with pytest.raises(ModelFileError):
        DriftTest.restore({**state, **change})


def test_invalid_monitor_is_refused():
    with pytest.raises(ModelFileError):
        Monitor.restore({**Monitor(0.1).state(), "errors": 3})
    with pytest.raises(ModelFileError):
        Monitor.restore({**Monitor(0.1).state(), "capital": np.zeros(3)})
