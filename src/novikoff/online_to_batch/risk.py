"""Risk bounds: upper bounds on the error rate on new examples, from the errors on the examples seen.

Limits
    poisson_limit     n times the mean risk of the hypotheses of a run, from its mistakes; for all n at once
    kl_limit          the mean risk itself, for one n that was fixed in advance; tighter
    clopper_pearson   the risk of one hypothesis, from its errors on fresh examples
    candidate_limit   the same for any hypothesis of a run, at any time
    poisson_least     lower limit that belongs to poisson_limit, for events that are wanted
    poisson_closed, chernoff   upper bounds on these in closed form
    Their theorems are in online_to_batch/theorems/ensemble_risk.py, ensemble_risk_fixed.py, best_risk.py and
    threshold_cost.py.
Rounding
    Each upper bound is the smallest float at which its inequality holds in 60 digits, so it is never too small, and it
    is monotone in mistakes, n and delta as the theorem is; the lower bound is the largest float that is not too large.
    For Clopper and Pearson the tail is summed in floats, all terms positive, and enlarged by more than its rounding
    error: up to 10^9 trials the bound is at most 1 + 1e-9 times too large.
Cost
    Milliseconds each; up to a second for 10^12 trials of Clopper and Pearson.
Reference
    [clopper1934]; [loader2000] for the largest term of the tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

from novikoff.core.errors import InputError, shown

DIGITS = 60
"""Decimal digits of the exact arithmetic."""

MOST_TERMS = 1 << 18
"""Maximum number of summed terms of a tail; the rest is bounded by a geometric series."""


def poisson_limit(mistakes: int, delta: float) -> float:
    """Return P(M) = M + s, s the root of s - M ln(1 + s/M) = ln((M+1)(M+2)/delta); for M = 0 the logarithm itself."""
    _check(mistakes, delta)
    with localcontext(prec=DIGITS):
        return _poisson(mistakes, _level(mistakes, delta))


def poisson_least(count: int, delta: float) -> float:
    """Return the Q < m = `count` with Q - m + m ln(m/Q) = ln((m+1)(m+2)/delta), rounded down; 0 for m = 0."""
    _check(count, delta)
    if count == 0:
        return 0.0
    with localcontext(prec=DIGITS):
        level, m = _level(count, delta), Decimal(count)

        def enough(q: float) -> bool:
            exact = Decimal(q)
            return q > 0.0 and exact - m + m * (m / exact).ln() <= level

        guess = float(count)
        for _ in range(200):  # q = m exp(-(level + m - q) / m) contracts to the root below m
            guess = count * math.exp(-(float(level) + count - guess) / count)
        # Above the root the inequality holds, so the float before the smallest such one is below it.
        return math.nextafter(_smallest(enough, guess, 0.0, float(count)), 0.0)


def poisson_closed(mistakes: int, delta: float) -> float:
    """Return M + L + sqrt(L^2 + 2ML), L = ln((M+1)(M+2)/delta): at least P(M)."""
    _check(mistakes, delta)
    with localcontext(prec=DIGITS):
        level = _level(mistakes, delta)
        return _up(mistakes + level + (level * level + 2 * mistakes * level).sqrt())


def kl_limit(mistakes: int, n: int, delta: float) -> float:
    """Return the largest p with n kl(M/n || p) <= ln((M+1)(M+2)/delta)."""
    _check(mistakes, delta, n)
    with localcontext(prec=DIGITS):
        return _kl(mistakes, n, _level(mistakes, delta))


def clopper_pearson(errors: int, trials: int, level: float) -> float:
    """Return the p at which at most `errors` errors have probability `level`; never below errors/trials."""
    _check(errors, level, trials, name="level")
    if errors == trials:
        return 1.0
    with localcontext(prec=DIGITS):
        log_level = Decimal(level).ln()
        if errors == 0:
            return min(_up(1 - (log_level / trials).exp()), 1.0)
        low, high = _up(Decimal(errors) / trials), _kl(errors, trials, -log_level)
        least = math.log(level)
        guess = _beta_guess(errors, trials, level, high)
        return _smallest(lambda p: _log_tail(errors, trials, p) <= least, guess, low, high)


def chernoff(errors: int, trials: int, b: float) -> float:
    """Return (K + b + sqrt(b^2 + 2bK)) / N, at most 1: not below Clopper and Pearson's bound at level exp(-b)."""
    _check(errors, 0.5, trials)
    if not b >= 0.0:
        raise InputError(f"b must be at least 0: got {shown(b)}. Pass ln(1/level).")
    if b == math.inf:
        return 1.0
    with localcontext(prec=DIGITS):
        exact = Decimal(b)
        return min(_up((errors + exact + (exact * exact + 2 * exact * errors).sqrt()) / trials), 1.0)


def candidate_limit(errors: int, trials: int, first: int, delta: float) -> float:
    """Return P(K)/N with L = ln((t+1)(t+2)(K+1)(K+2)/delta), at most 1: valid for all n and all t at once."""
    _check(errors, delta, trials)
    if first < 0:
        raise InputError(f"first must be at least 0: got {first}.")
    with localcontext(prec=DIGITS):
        level = _level(errors, delta) + Decimal((first + 1) * (first + 2)).ln()
        return min(_up(Decimal(_poisson(errors, level)) / trials), 1.0)


def share(total: float, n: int) -> float:
    """Return total / n, rounded up; at most 1, as a risk is."""
    return min(math.nextafter(total / n, math.inf), 1.0)


def _check(errors: int, delta: float, trials: int | None = None, name: str = "delta") -> None:
    if errors < 0:
        raise InputError(f"errors must be at least 0: got {errors}.")
    if trials is not None and not max(errors, 1) <= trials:
        raise InputError(f"trials must be at least 1, and not fewer than errors: got {trials}, with {errors} errors.")
    if not 0.0 < delta < 1.0:
        raise InputError(f"{name} must be a probability between 0 and 1: got {shown(delta)}. 0.05 is usual.")


def _level(m: int, delta: float) -> Decimal:
    """Return ln((m+1)(m+2)/delta)."""
    return (Decimal((m + 1) * (m + 2)) / Decimal(delta)).ln()


def _up(value: Decimal) -> float:
    """Return the smallest float that is not below `value`."""
    near = float(value)
    return near if Decimal(near) >= value else math.nextafter(near, math.inf)


def _smallest(enough: Callable[[float], bool], guess: float, low: float, high: float) -> float:
    """Return the smallest float from `low` to `high` for which `enough` holds.

    `enough` must be monotone, and is assumed to hold at `high`. The search brackets the answer by growing steps around
    `guess`, then bisects.
    """
    guess = min(max(guess, low), high)
    step = max(guess * 1e-15, 5e-324)
    if enough(guess):
        high = guess
        while (lower := max(high - step, low)) < high and enough(lower):
            high, step = lower, 8.0 * step
        if lower == high:
            return high
        low = lower
    else:
        low = guess
        while (upper := min(low + step, high)) < high and not enough(upper):
            low, step = upper, 8.0 * step
        high = upper
    while low < (middle := low + (high - low) / 2.0) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _poisson(m: int, level: Decimal) -> float:
    """Return the P >= m with P - m - m ln(P/m) = level, rounded up."""
    if m == 0:
        return _up(level)
    closed = m + level + (level * level + 2 * m * level).sqrt()
    s, want = float(closed - m), float(level)
    for _ in range(20):  # Newton's steps decrease to the root, as the function is convex
        s -= (s - m * math.log1p(s / m) - want) * (m + s) / s

    def enough(p: float) -> bool:
        exact = Decimal(p)
        return exact > m and exact - m - m * (exact / m).ln() >= level

    return _smallest(enough, m + s, float(m), _up(closed))


def _kl(m: int, n: int, level: Decimal) -> float:
    """Return the p >= m/n with n kl(m/n || p) = level, rounded up."""
    if m == n:
        return 1.0
    if m == 0:
        return min(_up(1 - (-level / n).exp()), 1.0)
    low, want, rate = m / n, float(level), m / n
    high = min(_up((m + level + (level * level + 2 * m * level).sqrt()) / n), 1.0)
    guess = low, high
    for _ in range(60):
        p = (guess[0] + guess[1]) / 2.0
        over = p >= 1.0 or n * (rate * math.log(rate / p) + (1 - rate) * math.log((1 - rate) / (1 - p))) >= want
        guess = (guess[0], p) if over else (p, guess[1])
    return _smallest(lambda p: p >= 1.0 or _divergence(m, n, p) >= level, guess[1], low, high)


def _divergence(m: int, n: int, p: float) -> Decimal:
    """Return n kl(m/n || p) for 0 < m < n and 0 < p < 1."""
    exact = Decimal(p)
    return m * (m / (n * exact)).ln() + (n - m) * ((n - m) / (n * (1 - exact))).ln()


def _beta_guess(errors: int, trials: int, level: float, high: float) -> float:
    """Return the bound as scipy computes it; `high` if scipy fails."""
    from scipy.special import betainccinv

    guess = float(betainccinv(errors + 1.0, float(trials - errors), level))
    return guess if 0.0 < guess <= 1.0 else high


def _log_tail(k: int, n: int, p: float) -> float:
    """Return the logarithm of P(at most k of n), rounded up; 0 < k < n and k/n <= p.

    The largest term is C(n,k) p^k (1-p)^(n-k), by Stirling's series; each other term is the one before it times a
    ratio, and the ratios are below 1 and decrease.
    """
    if p >= 1.0:
        return -math.inf
    import numpy as np

    largest = _stirling(n) - _stirling(k) - _stirling(n - k) - float(_divergence(k, n, p))
    largest += 0.5 * (math.log(n) - math.log(2.0 * math.pi * k) - math.log(n - k))
    odds = (1.0 - p) / p
    total, term, done, size = 1.0, 1.0, 0, 64
    while done < min(k, MOST_TERMS) and term > 1e-18 * total:
        j = np.arange(done + 1, min(done + size, k) + 1, dtype=np.float64)
        terms: Any = term * np.cumprod((k - j + 1.0) / (n - k + j) * odds)
        total += float(terms.sum())
        term, done, size = float(terms[-1]), int(j[-1]), 4 * size
    if done < k:
        ratio = (k - done) / (n - k + done + 1.0) * odds
        total += term * ratio / (1.0 - ratio) if ratio < 1.0 else math.inf
    return largest + math.log(total) + 1e-12 + 1e-15 * (done - min(largest, 0.0))


def _stirling(n: int) -> float:
    """Return ln n! - ln(sqrt(2 pi n) (n/e)^n), within 1e-13; n >= 1."""
    if n < 16:
        return math.log(math.factorial(n)) - (0.5 * math.log(2.0 * math.pi * n) + n * math.log(n) - n)
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * n * n)) / (n * n)) / (n * n)) / n
