"""Consistent: first or random, its two theorems, and exact expectations on small classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.finite.classes import table, thresholds
from novikoff.finite.theorems.consistent_expected import harmonic, harmonic_difference
from samples import CLASSES, INDICES, MATRIX

SAMPLES = {
    "consistent": [
        ("consistent:[thresholds:n=20]", *INDICES),
        ("consistent:[thresholds:n=20],random=true,seed=5", *INDICES),
        (f"consistent:[{MATRIX}],random=true", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""


class Unfiltered(nk.Consistent):
    """Broken: a hypothesis that erred may be drawn again."""

    def play_one(self, x, y):
        return self.predict_one(x)


CASES = {
    "consistent_mistakes": cases.of_hypotheses(
        lambda: nk.Consistent(thresholds(7)),
        cases.PLAIN,
        lambda: cases.run_of(nk.Consistent(thresholds(7)), [(x, -1) for x in range(8)]),
        lambda: cases.run_of(cases.broken(nk.Consistent(thresholds(7))), cases.PLAIN),
    ),
    "consistent_expected": cases.of_hypotheses(
        lambda: nk.Consistent(thresholds(7), random=True),
        cases.PLAIN,
        lambda: cases.run_of(nk.Consistent(table([[1], [-1]]), random=True), [(0, 1)]),
        lambda: cases.run_of(Unfiltered(thresholds(7), random=True), cases.PLAIN),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def test_the_golden_value():
    assert nk.play(nk.Consistent(thresholds(4)), [(x, -1) for x in range(5)]).mistakes == 5


@given(
    st.integers(0, 12),
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.integers(0, 13),
    st.booleans(),
    st.integers(0, 9),
)
def test_both_theorems_hold_on_realizable_streams(n, points, k, random, seed):
    stream = [(x % (n + 1), 1 if x % (n + 1) >= k else -1) for x in points]
    ledger = nk.play(nk.Consistent(thresholds(n), random=random, seed=seed), stream)
    if ledger.deterministic:
        (found,) = ledger.certify()
        assert found.theorem == "consistent_mistakes"
        assert ledger.mistakes <= found.bound <= n + 1
    else:
        (found,) = ledger.certify()
        assert found.theorem == "consistent_expected"
        assert found.kind == "D"
        assert found.observed <= found.bound <= math.log(n + 2) + 1e-6
    assert found.status in ("valid", "vacuous")


def test_one_disagreeing_round_costs_half_a_mistake():
    ledger = nk.play(nk.Consistent(table([[1], [-1]]), random=True), [(0, 1)] * 3)
    assert ledger.expected == 0.5
    assert ledger.certify()[0].bound == pytest.approx(0.5, abs=1e-8)  # H(2) - H(1), never floored


def test_draws_follow_the_chances():
    rows = [[1], [1], [1], [-1]]
    said = [nk.Consistent(table(rows), random=True, seed=seed).predict_one(0) for seed in range(4000)]
    assert abs(np.mean(np.array(said) == 1) - 0.75) < 4 * math.sqrt(0.75 * 0.25 / 4000)


def test_the_mean_of_realised_mistakes_is_the_expected_number():
    x = np.arange(200) % 31
    y = np.where(x >= 17, 1, -1)
    ledgers = [nk.play(nk.Consistent(thresholds(30), random=True, seed=s), (x, y)) for s in range(100)]
    assert len({ledger.expected for ledger in ledgers}) == 1  # the filter does not depend on the draws
    realised = np.array([ledger.mistakes for ledger in ledgers])
    error = realised.std(ddof=1) / math.sqrt(len(realised))
    assert abs(realised.mean() - ledgers[0].expected) < 4 * error


def test_mistake_driven_filtering_breaks_the_theorem():
    # H = {right, wrong}: filtering on mistakes only, E[M] -> 1 > ln 2; filtering every round it is 1/2.
    chance_both, expected = 1.0, 0.0
    for _ in range(30):
        expected += chance_both / 2
        chance_both /= 2  # the wrong one goes only when it is followed
    assert expected == pytest.approx(1.0)
    assert expected > math.log(2)
    assert nk.play(nk.Consistent(table([[1], [-1]]), random=True), [(0, 1)] * 30).expected == 0.5


def test_without_realizability_both_certificates_are_void():
    for random in (False, True):
        ledger = nk.play(nk.Consistent(thresholds(3), random=random), [(3, -1), (0, 1), (1, 1)])
        (found,) = ledger.certify()
        assert found.status == "void"
        assert "up to round 2" in found.reason


@pytest.mark.parametrize(("more", "fewer"), [(2, 1), (300, 255), (10**6, 3), (10**7, 10**7 - 5), (10**12, 10**11)])
def test_harmonic_numbers_are_accurate(more, fewer):
    from scipy.special import digamma

    exact = digamma(more + 1.0) - digamma(fewer + 1.0)
    assert harmonic_difference(more, fewer) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_harmonic_is_continuous_where_the_method_changes():
    assert harmonic(256) == pytest.approx(math.fsum(1 / k for k in range(1, 257)), rel=1e-15)
