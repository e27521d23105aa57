"""The memorizer: equal x, its mistakes by hand, and its contracts."""

import math
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.finite.memorizer import key
from samples import GRID, INDICES, NAMED_MARGIN, SPARSE_MARGIN

BAD_NUMBERS = [math.nan, math.inf, None]
SAMPLES = {
    "memorizer": [
        ("memorizer", INDICES[0], [*BAD_NUMBERS, object()]),
        ("memorizer", GRID[0], [[1, math.nan, 2], [[1, 2], [3, 4]], None]),
        ("memorizer", SPARSE_MARGIN[0], [(np.array([0, 1]), np.array([1.0])), (np.array([1, 1]), np.ones(2)), None]),
        ("memorizer", NAMED_MARGIN[0], [{"red": math.nan}, {"red": "a"}, {3: 1.0}, None]),
    ]
}
"""Samples for tests/test_every_learner.py."""


def test_equal_examples_have_one_key():
    assert key(1) == key(1.0) == key(Fraction(1)) == key(np.float32(1)) == key(np.array(1))
    assert key([0.5, 2]) == key((0.5, 2.0)) == key(np.array([0.5, 2.0]))
    assert key({"a": 1, "b": 0.0}) == key({"a": 1.0})
    assert key((np.array([3, 1]), np.array([1.0, 2.0]))) == key((np.array([1, 3], np.uint32), np.array([2, 1])))
    different = [0, 1, 0.1, Fraction(1, 10), [1], [1, 0], "1", "", {"a": 1.0}, {}, (np.array([1]), np.array([1.0]))]
    assert len({key(x) for x in different}) == len(different)


@pytest.mark.parametrize("x", [math.nan, math.inf, None, True, [[1]], {"a": "b"}, {1: 1.0}, object(), [None]])
def test_what_cannot_be_compared_is_refused(x):
    with pytest.raises(InputError, match="x must be"):
        nk.Memorizer().predict_one(x)


def test_predictions_on_an_example_computed_by_hand():
    ledger = nk.play(nk.Memorizer(), [(3, -1), (4, 1), (3, -1), (3, 1), (3, -1), (5, -1)], record=True)
    assert ledger.recorded().tolist() == [1, 1, -1, -1, 1, 1]
    assert ledger.learner.size == 3
    facts = ledger.learner.facts()
    assert (facts.changes, facts.changed_at) == (2, 4)  # the first change


def test_on_a_finite_domain_it_errs_at_most_once_per_point():
    rng = np.random.default_rng(0)
    target = rng.choice([-1, 1], 50)
    x = rng.integers(0, 50, 3000)
    ledger = nk.play(nk.Memorizer(), (x, target[x]))
    (found,) = ledger.certify()
    assert found.status == "valid"
    assert found.observed == np.count_nonzero(target == -1)
    assert found.bound == 50


def test_on_an_infinite_domain_it_never_learns():
    assert nk.play(nk.Memorizer(), nk.adversaries.Bisection(), rounds=40).mistakes == 40


def test_it_resumes_to_the_bit(tmp_path):
    ledger = nk.play(nk.Memorizer(), [(0.1, -1), ("mail", 1), ({"a": 2.0}, -1), (Fraction(1, 3), -1)])
    nk.save(ledger, tmp_path / "model.nk")
    loaded = nk.load(tmp_path / "model.nk")
    assert loaded.learner.known == ledger.learner.known
    assert [loaded.learner.predict_one(x) for x in (0.1, "mail", {"a": 2}, Fraction(1, 3), 7)] == [-1, 1, -1, -1, 1]
