"""The limit on the wealth of a monitor: golden values, when it says nothing, and that an alarm makes it void.

How often alarms are false is tested in tests/drift/test_monitor.py; what all theorems have in common, in
test_every_theorem.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.drift.theorems.monitor_alarm import MonitorFacts, monitor_alarm

CASES = {
    "monitor_alarm": cases.of_bets(
        cases.watched, np.arange(500) % 5 == 0, np.arange(500) >= 200, "error rate is at most 0.2"
    ),
}
"""Cases for tests/test_every_theorem.py."""


def watched(limit, errors):
    monitor = nk.Monitor(limit)
    monitor.see(np.array(errors, dtype=bool))
    return monitor


def test_golden_values_at_five_percent():
    """Wealth is that of test_golden_wealth_of_the_monitor: after 1, 0, 1, 1 with a limit of 0.1."""
    (found,) = watched(0.1, [1, 0, 1, 1]).certify()
    assert found.observed == pytest.approx(15.840738271, abs=1e-9)
    assert found.bound == pytest.approx(40.0, rel=1e-9)
    assert found.bound > 40.0
    assert found.trivial == pytest.approx(2 * 5.5**4)
    assert found.status == "conditional"
    assert (found.quantities["errors"], found.quantities["limit"], found.quantities["delta"]) == (3, 0.1, 0.05)


def test_bound_is_vacuous_if_no_bet_can_win_as_much():
    assert [watched(0.5, [0] * count).certify()[0].status for count in (0, 7, 8)] == [
        "vacuous", "vacuous", "conditional",
    ]  # fmt: skip


@given(st.floats(0.001, 0.999), st.lists(st.booleans(), max_size=300))
def test_wealth_is_at_most_the_largest_winnings(limit, errors):
    monitor = watched(limit, errors)
    (found,) = monitor.certify()
    assert monitor.largest <= found.trivial * (1 + 1e-12)
    assert (found.status == "void") == monitor.alarm


def test_an_alarm_is_a_void_certificate():
    facts = [MonitorFacts(1000, 300, largest, 0.1, 0.05) for largest in (40.0, 40.000001)]
    assert [one.alarm for one in facts] == [False, True]
    assert [monitor_alarm(one).status for one in facts] == ["conditional", "void"]
    assert "at most 0.1 (bets against this grew from 1 to 40)" in monitor_alarm(facts[1]).reason
