"""The limits on what a policy would have cost: golden values, both sides, and that `nk.evaluate_policies` reports them.

How often the limits fail is tested in tests/bandits/test_off_policy.py; what all theorems have in common, in
test_every_theorem.py.
"""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk
from novikoff.bandits.theorems.bandit_facts import GAMMAS, BanditFacts
from novikoff.bandits.theorems.policy_limits import PolicyFacts, policy_limits
from novikoff.core.types import Run


def logged(rows, **changes):
    """What a log of losses and probabilities shows of the policy that plays the arm that was played with chance 1/2."""
    losses, chances = np.asarray(rows).reshape(-1, 2).T
    weighed = [0.5 / (chances + gamma) for gamma in GAMMAS]
    sums, rest = (tuple(float(weight @ paid) for weight in weighed) for paid in (losses, 1.0 - losses))
    lost = float(losses.sum())
    after = dataclasses.replace(BanditFacts("log", len(losses), 2, 2, lost, GAMMAS, (sums, sums)), **changes)
    run = Run(dataclasses.replace(after, rounds=0), after, len(losses), 0, 0.0, (0, 0), adaptive=False,
              deterministic=False, loss=lost, fixed=False)  # fmt: skip
    return PolicyFacts(run, 2, sums, rest)


CASES = {
    "policy_limits": cases.Case(
        arrays(np.float64, st.tuples(st.integers(1, 25), st.just(2)), elements=st.floats(0.015625, 1)),
        logged,
        np.tile([[0.25, 0.5], [0.75, 0.5]], (2000, 1)),
        None,
        None,
        (
            (lambda: logged([[0.5, 0.5]], suspect="they are not"), "the arms were drawn with (they are not)"),
            (lambda: logged([]), "there were no rounds"),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def always(losses, rounds, grid, delta=0.05):
    """Always playing an arm of two; it had chance 1/2 in every round, and these losses when it was drawn."""
    sums, rest = (tuple(float(np.sum(paid / (0.5 + gamma))) for gamma in grid) for paid in (losses, 1.0 - losses))
    log = BanditFacts("log", rounds, 2, 2, 0.0, grid, (sums, sums), delta=delta, named=False)
    run = Run(replace(log, rounds=0), log, rounds, 0, 0.0, (0, 0), adaptive=False, deterministic=False, fixed=False)
    return PolicyFacts(run, 2, sums, rest)


QUARTERS = np.full(200, 0.25)
"""Losses of the arm in the 200 of 400 rounds in which it was drawn."""


def test_golden_values_with_one_gamma():
    """S(l) = 50 / 0.6 and S(1 - l) = 150 / 0.6; with 2 N C = 4 each limit is ln(4 / 0.05) / 0.2 away."""
    found = policy_limits(always(QUARTERS, 400, (0.1,)))
    away = math.log(4 / 0.05) / 0.2
    assert found.quantities["at_least"] == pytest.approx((50 / 0.6 - away) / 400, rel=1e-9)
    assert found.bound == pytest.approx(1 - (150 / 0.6 - away) / 400, rel=1e-9)
    assert found.observed == pytest.approx(50 / 0.6 / 400, rel=1e-12)
    assert (found.status, found.kind, found.quantity) == ("conditional", "P", "estimated loss per round")


def test_the_best_gamma_of_the_grid_is_taken():
    alone = [policy_limits(always(QUARTERS, 400, (gamma,))).bound for gamma in (0.1, 0.02)]
    both = policy_limits(always(QUARTERS, 400, (0.1, 0.02), delta=0.1))  # twice the statements, and twice the chance
    assert both.bound == min(alone)


def test_lower_limit_mirrors_upper_limit_of_savings():
    facts = always(QUARTERS, 400, (0.1, 0.02))
    found, saved = policy_limits(facts), policy_limits(replace(facts, losses=facts.savings, savings=facts.losses))
    assert found.quantities["at_least"] == pytest.approx(1 - saved.bound, rel=1e-9)
    assert found.bound == pytest.approx(1 - saved.quantities["at_least"], rel=1e-9)


def test_a_short_log_is_uninformative():
    found = policy_limits(always(QUARTERS[:5], 10, GAMMAS))
    assert (found.status, found.bound, found.quantities["at_least"]) == ("vacuous", 1.0, 0.0)


@pytest.mark.parametrize("rewards", [False, True])
def test_a_log_is_reported_by_the_theorem(rewards):
    rng = np.random.default_rng(0)
    drawn, paid = rng.integers(0, 2, 3000), rng.random(3000)
    names = np.array(["left", "right"])[drawn]
    found = nk.evaluate_policies(
        pd.DataFrame({"arm": names, "reward" if rewards else "loss": paid, "probability": 0.5})
    )
    for one in found.limits:
        losses = (1.0 - paid if rewards else paid)[names == one.policy]
        limit = policy_limits(always(losses, 3000, GAMMAS))
        ends = (limit.quantities["at_least"], limit.observed, limit.bound)
        wanted = [1.0 - value for value in reversed(ends)] if rewards else ends
        assert (one.low, one.estimate, one.high) == pytest.approx(wanted, rel=1e-9)
    assert "there were no arms other than the 2 of the log" in limit.reason
