"""Regret in a convex set: on arbitrary losses, with equality, void and violated where it is broken."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from cases import Case
from helpers import tries
from novikoff.convex.theorems.online_convex_regret import OnlineConvexFacts, online_convex_regret

DOMAINS = {
    "ball": nk.Ball(1.0, dim=3),
    "box": nk.Box([-1.0, 0.0, 0.5], [1.0, 2.0, 0.75]),
    "simplex": nk.Simplex(3),
    "scaled simplex": nk.Simplex(3, total=5.0),
}
NUMBERS = st.floats(-3, 3)
ROUNDS = st.tuples(st.sampled_from(["linear", "squared", "absolute", "hinge"]), st.tuples(NUMBERS, NUMBERS, NUMBERS))
GAMES = st.tuples(
    st.sampled_from(sorted(DOMAINS)),
    st.sampled_from(["gradient", "ftrl", "mirror descent"]),
    st.sampled_from([None, 0.01, 0.5, 20.0]),
    st.lists(ROUNDS, min_size=1, max_size=25),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
)


def loss_of(kind, a):
    a = np.array(a)
    if kind == "linear":
        return lambda w: (float(a @ w), a)
    if kind == "squared":
        return lambda w: (float((w - a) @ (w - a)), 2.0 * (w - a))
    if kind == "absolute":
        return lambda w: (float(np.abs(w - a).sum()), np.sign(w - a))
    return lambda w: (max(0.0, 1.0 - float(a @ w)), -a if a @ w < 1.0 else np.zeros(3))


def facts_of(game):
    domain, method, rate, rounds, u = game
    here = DOMAINS[domain]
    if method == "mirror descent" and not isinstance(here, nk.Simplex):
        method = "ftrl"
    player = nk.OnlineMinimiser(here, method, rate)
    for kind, a in rounds:
        player.learn_one(loss_of(kind, a))
    return player._facts(here.project(np.array(u)), "given point", None)


def corner():
    """One linear loss, played from the corner where it is largest."""
    domain = nk.Projected(lambda v: np.clip(v, -1.0, 1.0), 2.0, [1.0])
    player = nk.OnlineMinimiser(domain, "ftrl")
    player.learn_one(lambda w: (float(w[0]), np.ones(1)))
    return player._facts(np.array([-1.0]), "given point", None)


SAMPLE = ("ball", "gradient", None, [("linear", (1.0, 0.0, 0.0)), ("linear", (-1.0, 1.0, 0.0))] * 30, (0.0, 0.0, 0.0))
TRUE = OnlineConvexFacts("gradient", 10, 8.0, 2.0, 6.0, 7.0, 1e-9, 20.0)
CASES = {
    "online_convex_regret": Case(
        GAMES,
        facts_of,
        SAMPLE,
        corner,
        lambda: dataclasses.replace(TRUE, promised=5.0),
        (
            (
                lambda: dataclasses.replace(TRUE, not_convex="the loss of round 3 is not convex"),
                "round 3 is not convex",
            ),
            (lambda: dataclasses.replace(TRUE, outside=True), "in the set"),
            (lambda: dataclasses.replace(TRUE, wide=True), "projection and diameter"),
            (lambda: dataclasses.replace(TRUE, rose=True), "never rose"),
            (lambda: dataclasses.replace(TRUE, rounds=0), "no round"),
        ),
    )
}
"""Cases for tests/test_every_theorem.py."""


@settings(max_examples=tries(200))
@given(GAMES)
def test_linear_regret_is_at_most_the_bound_for_any_point(game):
    facts = facts_of(game)
    assert not facts.not_convex
    assert not facts.wide
    assert facts.linear <= facts.promised + facts.slack
    assert facts.linear <= facts.largest + facts.slack


@pytest.mark.parametrize("method", ["gradient", "ftrl", "mirror descent"])
def test_bounds_have_power(method):
    """A fraction of the bound is exceeded on some stream: gradients that point away from one corner, then back."""
    worst = 0.0
    for rounds in (1, 2, 4, 50):
        for g in ([1.0, 0.0, 0.0], [1.0, -1.0, 0.0]):
            player = nk.OnlineMinimiser(nk.Simplex(3), method)
            for _ in range(rounds):
                player.learn_one(loss_of("linear", g))
            facts = player._facts(nk.Simplex(3).least(np.array(g)), "given point", None)
            worst = max(worst, facts.linear / facts.promised)
    assert worst > 0.2


def test_linear_regret_above_the_bound_is_a_violation_of_a_known_set():
    assert online_convex_regret(TRUE).status == "valid"
    broken = online_convex_regret(dataclasses.replace(TRUE, linear=8.0))
    assert broken.status == "violated"
