"""The limit on the wealth of a drift test: golden values, when it says nothing, and that an alarm makes it void.

How often alarms are false is tested in tests/drift/test_monitor.py; what all theorems have in common, in
test_every_theorem.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from helpers import drive
from novikoff.drift.theorems.drift_alarm import DriftFacts, drift_alarm

CASES = {
    "drift_alarm": cases.of_bets(
        lambda errors: drive(nk.DriftTest(), errors),
        np.arange(500) % 5 == 0,
        np.arange(500) >= 400,
        "equally likely",
    ),
}
"""Cases for tests/test_every_theorem.py."""


def test_golden_values_at_five_percent():
    found = drift_alarm(DriftFacts(seen=100, largest=3.5, alpha=0.05))
    assert found.bound == pytest.approx(20.0, rel=1e-9)
    assert found.bound > 20.0
    assert (found.status, found.observed, found.kind) == ("conditional", 3.5, "P")
    assert found.trivial == pytest.approx(1.5**100)
    assert (found.quantities["examples"], found.quantities["delta"]) == (100, 0.05)


def test_bound_is_vacuous_if_no_bet_can_win_as_much():
    assert [drift_alarm(DriftFacts(seen, 1.0, 0.05)).status for seen in (0, 7, 8)] == [
        "vacuous", "vacuous", "conditional",
    ]  # fmt: skip


@given(st.lists(st.booleans(), min_size=65, max_size=400), st.integers(0, 9))
def test_wealth_is_at_most_the_largest_winnings(errors, seed):
    test = drive(nk.DriftTest(seed=seed), np.array(errors))
    (found,) = test.certify()
    assert test.largest <= found.trivial * (1 + 1e-12)
    assert (found.status == "void") == test.alarm


@pytest.mark.parametrize(("largest", "alarm"), [(19.9999, False), (20.0, False), (20.000001, True), (1e90, True)])
def test_an_alarm_is_a_void_certificate(largest, alarm):
    facts = DriftFacts(1000, largest, 0.05)
    found = drift_alarm(facts)
    assert facts.alarm == alarm
    assert found.status == ("void" if alarm else "conditional")
    assert alarm or found.observed <= found.bound
    assert ("grew from 1 to" in found.reason) == alarm


def test_a_long_stream_has_a_finite_certificate():
    assert drift_alarm(DriftFacts(10**9, 2.0**300, 1e-300)).trivial < float("inf")
