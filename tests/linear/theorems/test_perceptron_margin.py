"""Novikoff's bound: golden values, arbitrary separable streams, several passes, and when it is void."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.linear.theorems.perceptron_margin import perceptron_margin

CASES = {
    "perceptron_margin": dataclasses.replace(
        cases.from_zero_case,
        void=(*cases.from_zero_case.void, (lambda: cases.run_of(nk.Perceptron(), cases.BOTH), cases.NARROW)),
    ),
}
"""Cases for tests/test_every_theorem.py."""


@pytest.mark.parametrize("size", [1, 3, 0.1, 1e-100, 1e100])
def test_the_theorem_is_tight_on_orthogonal_examples_in_two_passes(game, size):
    found = perceptron_margin(game(np.eye(9) * size, [-1] * 9, passes=2))
    assert (found.observed, found.bound, found.status) == (9, 9, "valid")


def test_golden_p2_the_shortest_separator(game):
    run = game([(2, 1), (-1, -2), (1, 3), (-2, 0)], [1, -1, 1, -1])
    found = perceptron_margin(run)
    assert (run.mistakes, found.bound, found.status) == (1, 3, "valid")
    assert found.quantities["margin"] ** 2 == pytest.approx(16 / 5)
    assert found.quantities["R"] ** 2 == pytest.approx(10)


def test_golden_p3_alternating_labels_have_no_margin(game):
    run = game([[1]] * 10, [1, -1] * 5)
    found = perceptron_margin(run)
    assert (run.mistakes, found.status) == (9, "void")
    assert found.reason.endswith("have the same example with opposite labels")


def test_a_zero_example_labelled_minus_one_has_no_margin(game):
    assert perceptron_margin(game([[1.0], [0.0]], [1, -1])).status == "void"


@given(
    st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=30),
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
    st.integers(1, 4),
    st.sampled_from([1, 0.1]),
)
def test_the_theorem_holds_on_separable_streams_and_a_separator_is_found(game, rows, u, passes, size):
    rows = [row for row in rows if np.dot(row, u) != 0]
    if not rows:
        return
    best = max(np.dot(row, row) for row in rows) * np.dot(u, u) / min(abs(np.dot(row, u)) for row in rows) ** 2
    assume(best <= 300)  # narrower margins are for hindsight to find
    run = game(np.array(rows) * size, [1 if np.dot(row, u) > 0 else -1 for row in rows], passes)
    found = perceptron_margin(run)
    assert found.status in ("valid", "vacuous")
    assert run.mistakes <= found.bound
    assert found.bound <= 1.01 * best


def test_nan_makes_it_void(game):
    found = perceptron_margin(game([[1.0], [float("nan")]], [1, 1]))
    assert (found.status, found.reason) == ("void", "a feature was NaN or infinite")
