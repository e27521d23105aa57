"""The best path with a few switches: against all paths there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.comparators.switching import best_path, least_losses
from novikoff.errors import InputError


def brute(table, switches):
    """The least loss over all paths with at most so many switches."""
    rounds, experts = table.shape
    return min(
        math.fsum(table[t, i] for t, i in enumerate(path))
        for path in itertools.product(range(experts), repeat=rounds)
        if sum(a != b for a, b in itertools.pairwise(path)) <= switches
    )


@given(st.data(), st.integers(1, 3), st.integers(1, 6), st.integers(0, 7))
def test_no_path_is_better(data, experts, rounds, switches):
    whole = data.draw(st.lists(st.integers(0, 3), min_size=experts * rounds, max_size=experts * rounds))
    table = np.array(whole, dtype=float).reshape(rounds, experts)
    found = best_path(table, switches)
    assert found.loss == brute(table, switches) == table[np.arange(rounds), found.experts].sum()
    assert found.switches == np.count_nonzero(np.diff(found.experts)) <= switches
    assert least_losses(table, switches).tolist() == [brute(table, k) for k in range(switches + 1)]


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 4))
def test_with_floats_no_path_is_better_but_for_rounding(rows, switches):
    table = np.array(rows)
    assert best_path(table, switches).loss == pytest.approx(brute(table, switches), rel=1e-14, abs=1e-300)


def test_equals_stay():
    found = best_path(np.ones((50, 9)), 5)
    assert (found.switches, found.experts.tolist()) == (0, [0] * 50)
    assert best_path([[0, 0], [0, 0], [1, 0]], 2).experts.tolist() == [1, 1, 1]


def test_a_planted_path_of_many_experts_is_found():
    rng = np.random.default_rng(0)
    table = rng.integers(1, 4, (400, 21)).astype(float)
    planted = np.repeat([20, 3, 11, 3], 100)
    table[np.arange(400), planted] = 0.0
    found = best_path(table, 3)
    assert (found.loss, found.switches) == (0.0, 3)
    assert np.array_equal(found.experts, planted)
    assert best_path(table, 2).loss > 0.0
    assert best_path(table, 0).loss == table.sum(axis=0).min()


def test_with_a_switch_in_every_round_each_round_is_at_its_best():
    table = np.random.default_rng(1).random((40, 5))
    assert best_path(table, 39).loss == math.fsum(table.min(axis=1))
    assert best_path(table, 10**9).loss == math.fsum(table.min(axis=1))


@pytest.mark.parametrize(
    ("table", "switches", "words"),
    [
        ([[1.0, float("nan")]], 0, "expert 1 has nan in round 1"),
        ([1.0, 2.0], 0, "a row per round"),
        (np.zeros((0, 3)), 0, "a row per round"),
        ([[0.0]], -1, "0 or more"),
        ([[0.0]], 1.5, "whole number"),
    ],
)
def test_what_is_not_a_table_is_refused(table, switches, words):
    with pytest.raises(InputError, match=words):
        best_path(table, switches)
