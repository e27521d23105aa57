"""Limits on a risk: golden values, exact tails, what grows with what, and the far ends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincc
from scipy.stats import binom

from novikoff.core.errors import InputError
from novikoff.online_to_batch.risk import (
    candidate_limit,
    chernoff,
    clopper_pearson,
    kl_limit,
    poisson_closed,
    poisson_least,
    poisson_limit,
    share,
)

DELTAS = st.floats(1e-300, 0.999)


@pytest.mark.parametrize(
    ("mistakes", "limit"), [(0, 3.688879), (1, 7.847714), (10, 28.271075), (50, 90.600808), (100, 157.940895)]
)
def test_golden_poisson(mistakes, limit):
    assert poisson_limit(mistakes, 0.05) == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize(("count", "limit"), [(0, 0.0), (1, 0.003075), (10, 2.054886), (100, 58.329355)])
def test_golden_lower_poisson(count, limit):
    assert poisson_least(count, 0.05) == pytest.approx(limit, abs=1e-6)


@given(count=st.integers(1, 10**7), delta=DELTAS)
def test_lower_poisson_is_just_below_the_root(count, delta):
    found, level = poisson_least(count, delta), math.log((count + 1) * (count + 2)) - math.log(delta)
    assert 0.0 <= found < count
    if found > 1e-300:
        high = found * (1 + 1e-6)
        assert found - count + count * math.log(count / found) >= level - 1e-6 * count
        assert high - count + count * math.log(count / high) <= level + 1e-6 * count


def gentile(m, n, delta):
    """Of the literature: M/n + (36/n) ln((M+3)/delta) + (2/n) sqrt(M ln((M+3)/delta))."""
    level = math.log((m + 3) / delta)
    return (m + 36 * level + 2 * math.sqrt(m * level)) / n


def azuma(m, n, delta):
    return m / n + math.sqrt(math.log(1 / delta) / (2 * n))


@pytest.mark.parametrize(
    ("mistakes", "n", "closed", "kl", "others"),
    [
        (0, 1000, 0.00738, 0.00368, (0.14740, 0.03870)),
        (10, 1000, 0.03270, 0.02801, (0.22510, 0.04870)),
        (100, 1000, 0.16320, 0.15334, (0.42994, 0.13870)),
        (50, 10**5, 0.00096, 0.00091, (0.00338, 0.00437)),
    ],
)
def test_golden_table(mistakes, n, closed, kl, others):
    assert poisson_closed(mistakes, 0.05) / n == pytest.approx(closed, abs=5.1e-6)
    assert kl_limit(mistakes, n, 0.05) == pytest.approx(kl, abs=5.1e-6)
    assert (gentile(mistakes, n, 0.05), azuma(mistakes, n, 0.05)) == pytest.approx(others, abs=5.1e-6)
    assert kl_limit(mistakes, n, 0.05) <= poisson_limit(mistakes, 0.05) / n <= gentile(mistakes, n, 0.05)


@pytest.mark.parametrize(
    ("errors", "trials", "level", "limit"),
    [(0, 900, 5e-5, 0.0109435539), (10, 500, 5e-5, 0.0565395923), (3, 3, 0.01, 1.0)],
)
def test_golden_clopper_pearson(errors, trials, level, limit):
    assert clopper_pearson(errors, trials, level) == pytest.approx(limit, abs=1e-10)


def tail(k, n, p):
    """P(at most k of n), in whole numbers."""
    p = Fraction(p)
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1))


@pytest.mark.parametrize("level", [0.4, 0.05, 5e-5, 1e-12, 1e-300])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 2), (1, 40), (19, 40), (20, 40), (39, 40), (3, 200), (150, 200)])
def test_clopper_and_pearson_against_the_exact_tail(k, n, level):
    limit = clopper_pearson(k, n, level)
    exact = Fraction(level)
    assert tail(k, n, limit) <= exact  # never too small
    if limit < 1.0:
        assert tail(k, n, limit * (1 - 1e-9)) > exact  # nor too large


@pytest.mark.parametrize(
    ("k", "n"),
    [
        (1, 10**9),
        (10, 10**6),
        (1000, 10**6),
        (5 * 10**5, 10**6),
        (10**6 - 3, 10**6),
        (10**5, 10**9),
        (5 * 10**8, 10**9),
    ],
)
@pytest.mark.parametrize("level", [0.4, 1e-3, 5e-11, 1e-100])
def test_clopper_and_pearson_against_the_beta_integral_up_to_a_billion(k, n, level):
    limit = clopper_pearson(k, n, level)
    assert betaincc(k + 1, n - k, limit) <= level * (1 + 1e-7)
    if limit < 1 - 1e-12:
        inside = k / n + (limit - k / n) * (1 - 1e-7)
        assert betaincc(k + 1, n - k, inside) > level * (1 - 1e-7)


@pytest.mark.parametrize(("k", "n"), [(3, 10**12), (3 * 10**11, 10**12), (10**12 - 1, 10**12)])
def test_a_trillion_trials(k, n):
    limit = clopper_pearson(k, n, 5e-14)
    assert k / n < limit <= min(chernoff(k, n, math.log(1 / 5e-14)), 1.0)
    assert limit - k / n <= 9 * math.sqrt(k + 40) / n


@pytest.mark.parametrize("level", [0.4, 0.01, 1e-9])
def test_a_tail_that_is_not_summed_to_its_end_makes_the_limit_larger(level, monkeypatch):
    whole = clopper_pearson(200_000, 400_000, level)
    monkeypatch.setattr("novikoff.online_to_batch.risk.MOST_TERMS", 1)
    assert whole < clopper_pearson(200_000, 400_000, level) < 1.001 * whole


@given(st.integers(1, 300), st.data())
def test_chernoff_is_never_below_clopper_and_pearson(n, data):
    k, b = data.draw(st.integers(0, n)), data.draw(st.floats(0.01, 600))
    assert clopper_pearson(k, n, math.exp(-b)) <= chernoff(k, n, b)


def kl(q, p):
    left = q * math.log(q / p) if q else 0.0
    return left + ((1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0.0)


@given(st.integers(1, 10**6), st.floats(0, 1), DELTAS)
def test_kl_is_inverted(n, rate, delta):
    m = math.floor(rate * n)
    p, level = kl_limit(m, n, delta), math.log((m + 1) * (m + 2)) - math.log(delta)
    assert m / n < p <= 1.0 or p == m / n == 1.0
    if p < 1.0 - 1e-9:
        assert n * kl(m / n, p) == pytest.approx(level, rel=1e-6)
    assert p <= share(poisson_limit(m, delta), n) <= share(poisson_closed(m, delta), n)


@given(st.integers(0, 10**12), DELTAS)
def test_the_poisson_root_is_a_root(m, delta):
    limit, level = poisson_limit(m, delta), math.log((m + 1) * (m + 2)) - math.log(delta)
    assert limit <= poisson_closed(m, delta) <= (m + math.sqrt(2 * m * level) + 2 * level) * (1 + 1e-9)
    if m:  # any x > 0 proves a bound; the best one proves this one
        x = math.log(limit / m)
        assert (x * m + level) / -math.expm1(-x) == pytest.approx(limit, rel=1e-9)
    else:
        assert limit == pytest.approx(level, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 1000), DELTAS, DELTAS)
def test_limits_grow_with_errors_and_fall_with_examples_and_delta(m, more, one, other):
    small, large = sorted((one, other))
    n = 10**6 + 1000
    for limit in (
        poisson_limit,
        poisson_closed,
        lambda k, d: kl_limit(k, n, d),
        lambda k, d: candidate_limit(k, n, 5, d),
    ):
        assert limit(m, large) <= limit(m, small) <= limit(m + more, small)
    for limit in (kl_limit, lambda k, n, d: candidate_limit(k, n, 5, d)):
        assert limit(m, n + more, small) <= limit(m, n, small)
    assert candidate_limit(m, n, 5, small) <= candidate_limit(m, n, 5 + more, small)


@given(st.integers(0, 400), st.integers(1, 50), st.integers(1, 300))
def test_clopper_and_pearson_grow_with_errors_and_fall_with_trials_and_level(k, more, twentieths):
    n, level = 500, 0.5**twentieths
    limit = clopper_pearson(k, n, level)
    assert clopper_pearson(k, n + more, level) < limit < clopper_pearson(k + more, n, level)
    assert clopper_pearson(k, n, level / 2) > limit


def test_a_run_with_no_mistakes_and_one_with_nothing_else():
    assert kl_limit(0, 1, 0.05) == pytest.approx(1 - 0.05 / 2)
    assert kl_limit(1, 1, 0.05) == kl_limit(10**12, 10**12, 1e-300) == 1.0
    assert kl_limit(0, 10**12, 1e-300) == pytest.approx(math.log(2e300) / 1e12, rel=1e-9)
    assert poisson_limit(0, 1e-300) == pytest.approx(math.log(2e300))
    assert clopper_pearson(0, 1, 0.05) == pytest.approx(0.95)
    assert clopper_pearson(0, 10**12, 5e-324) == pytest.approx(744.4400719213812 / 1e12)
    assert clopper_pearson(10**12, 10**12, 0.9) == candidate_limit(1, 1, 0, 0.5) == chernoff(0, 1, math.inf) == 1.0
    assert clopper_pearson(1, 2, 0.9) == 0.5  # never below what was seen


def test_limits_are_rounded_up():
    """In 60 digits no smaller float would do."""
    from decimal import Decimal, localcontext

    with localcontext(prec=60):
        for m, n, delta in ((0, 7, 0.05), (3, 1000, 0.05), (10**6, 10**7, 1e-9)):
            level = (Decimal((m + 1) * (m + 2)) / Decimal(delta)).ln()
            p = poisson_limit(m, delta)
            for limit, sound in ((p, True), (math.nextafter(p, 0), False)):
                s = Decimal(limit) - m
                assert (s - (m * (1 + s / m).ln() if m else 0) >= level) is sound
            q = kl_limit(m, n, delta)
            for limit, sound in ((q, True), (math.nextafter(q, 0), False)):
                rest = (n - m) * ((n - m) / (n * (1 - Decimal(limit)))).ln()
                assert ((m * (m / (n * Decimal(limit))).ln() if m else 0) + rest >= level) is sound
    assert share(3.0, 10) > 3.0 / 10
    assert share(11.0, 10) == 1.0


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_exact_chance_that_the_kl_limit_fails_is_at_most_delta(delta):
    """A hypothesis that stays: M is binomial, so the chance is a sum."""
    n = 60
    limits = np.array([kl_limit(m, n, delta) for m in range(n + 1)])
    for p in np.linspace(0.001, 0.999, 400):
        assert binom.pmf(np.arange(n + 1), n, p)[limits < p].sum() <= delta


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_exact_chance_that_the_poisson_limit_ever_fails_is_at_most_delta(delta):
    """The chance that M ever is so small that n p > P(M), step by step: at all n up to 400."""
    limits = np.array([poisson_limit(m, delta) for m in range(402)])
    worst = 0.0
    for p in (0.01, 0.05, 0.2, 0.5, 0.9):
        alive, failed = np.zeros(402), 0.0
        alive[0] = 1.0
        for n in range(1, 401):
            alive[1:] = alive[1:] * (1 - p) + alive[:-1] * p
            alive[0] *= 1 - p
            over = n * p > limits
            failed += alive[over].sum()
            alive[over] = 0.0
        assert failed <= delta
        worst = max(worst, failed)
    assert worst > delta / 20  # it is no idle promise


def test_the_exact_chance_that_clopper_and_pearson_fail_is_at_most_the_level_and_reaches_it():
    n, level = 40, 0.05
    limits = np.array([clopper_pearson(k, n, level) for k in range(n + 1)])
    for p in np.linspace(0.0005, 0.9995, 400):
        assert binom.cdf(np.flatnonzero(limits < p).max(initial=-1), n, p) <= level
    for k in (0, 7, 38):
        assert binom.cdf(k, n, limits[k] * (1 + 1e-12)) == pytest.approx(level, rel=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan, 2.0])
def test_a_delta_that_is_no_chance_is_refused(delta):
    for limit in (
        lambda: poisson_limit(1, delta),
        lambda: poisson_closed(1, delta),
        lambda: kl_limit(1, 2, delta),
        lambda: clopper_pearson(1, 2, delta),
        lambda: candidate_limit(1, 2, 0, delta),
    ):
        with pytest.raises(InputError, match="must be a probability between 0 and 1"):
            limit()


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="errors must be at least 0"):
        poisson_limit(-1, 0.05)
    with pytest.raises(InputError, match="not fewer than errors: got 2, with 3"):
        kl_limit(3, 2, 0.05)
    with pytest.raises(InputError, match="at least 1"):
        clopper_pearson(0, 0, 0.05)
    with pytest.raises(InputError, match="first must be at least 0"):
        candidate_limit(0, 1, -1, 0.05)
    for b in (-1.0, math.nan):
        with pytest.raises(InputError, match="b must be at least 0"):
            chernoff(0, 1, b)
