"""ThresholdHalving is Halving on thresholds(n), bit for bit, in constant time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.certificate import number
from novikoff.core.errors import InputError
from novikoff.finite._loops import threshold_halving as kernel
from novikoff.finite.classes import thresholds
from samples import INDICES

SAMPLES = {
    "threshold-halving": [
        ("threshold-halving:n=20", *INDICES),
        ("threshold-halving:n=20,conservative=true", *INDICES),
    ],
}
"""Samples for tests/test_every_learner.py."""


def stream(n, rounds, seed, noise=0.0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n + 1, rounds)
    k = rng.integers(0, n + 2)
    y = np.where(x >= k, 1, -1)
    flip = rng.random(rounds) < noise
    return x, np.where(flip, -y, y)


def test_the_golden_stream():
    ledger = nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1), (9, 1)], record=True)
    assert ledger.recorded().tolist() == [1, 1, -1]
    assert ledger.mistakes == 3 == ledger.certify()[0].bound
    assert (ledger.learner.lo, ledger.learner.hi) == (9, 9)


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_predicts_as_halving_does_for_every_n_up_to_50(conservative, noise):
    for n in range(51):
        for seed in range(3):
            x, y = stream(n, 60, seed, noise)
            fast = nk.play(nk.ThresholdHalving(n, conservative), (x, y), record=True)
            slow = nk.play(nk.Halving(thresholds(n), conservative=conservative), (x, y), record=True)
            assert fast.recorded().tolist() == slow.recorded().tolist()
            assert fast.learner.facts() == slow.learner.facts()
            assert fast.certify() == slow.certify()


@given(
    st.integers(0, 60),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from([-1, 1])), min_size=1, max_size=50),
    st.booleans(),
)
def test_sweep_loop_and_the_python_twin_agree_on_arbitrary_streams(n, pairs, conservative):
    x = np.array([i % (n + 1) for i, _ in pairs])
    y = np.array([label for _, label in pairs], dtype=np.int8)
    swept = nk.ThresholdHalving(n, conservative)
    looped = nk.ThresholdHalving(n, conservative)
    said = swept.learn_many(nk.Batch(x, y, 1))
    assert said.tolist() == [looped.play_one(i, label) for i, label in zip(x.tolist(), y.tolist(), strict=True)]
    assert swept.state() == looped.state()
    twin = np.array([0, n + 1, 0, 0, 0], dtype=np.int64)
    out = np.empty(len(x), dtype=np.int8)
    kernel.learn_many.py_func(x, y, n, twin, conservative, out)
    assert out.tolist() == said.tolist()
    assert twin.tolist() == [looped.lo, looped.hi, looped.restarts, looped.emptied_at, looped.rounds]


@pytest.mark.parametrize("n", [10**18, 2**61, 2**61 + 1, 10**40])
def test_any_n_is_accepted(n):
    def pairs():
        lo, hi = 0, n + 1
        while lo < hi:
            middle = (lo + hi) // 2
            yield middle, -1
            lo = middle + 1

    ledger = nk.play(nk.ThresholdHalving(n), pairs())
    (found,) = ledger.certify()
    assert ledger.mistakes <= found.bound == (n + 2).bit_length() - 1
    assert ledger.learner.survivor() == "always -1"


def test_a_compiled_sweep_at_the_largest_n_does_not_overflow():
    n = 2**61
    x = np.array([n, 0, n, n - 1, n // 2], dtype=np.int64)
    y = np.array([1, -1, 1, -1, -1], dtype=np.int8)
    swept, looped = nk.ThresholdHalving(n), nk.ThresholdHalving(n)
    assert swept.learn_many(nk.Batch(x, y, 1)).tolist() == [
        looped.play_one(int(i), int(s)) for i, s in zip(x, y, strict=True)
    ]
    assert swept.state() == looped.state()


def test_a_bad_index_in_a_sweep_changes_nothing():
    learner = nk.ThresholdHalving(10)
    before = learner.state()
    with pytest.raises(InputError, match="from 0 to 10: got 11 in round 3"):
        learner.learn_many(nk.Batch(np.array([1, 2, 11]), np.array([1, 1, 1], dtype=np.int8), 1))
    assert learner.state() == before
    with pytest.raises(InputError, match="at least 0"):
        nk.ThresholdHalving(-1)


def test_huge_n_is_printed_by_its_length():
    n = 10**5000
    learner = nk.ThresholdHalving(n)
    with pytest.raises(InputError, match=r"from 0 to about 2\^16609: got 0.5"):
        learner.predict_one(0.5)
    assert learner.survivor() == "x >= k for k in 0 .. a number of 16,610 bits"
    ledger = nk.play(learner, [(n // 2, -1), (n // 2 + 1, 1)])
    assert learner.survivor() == "x >= a number of 16,609 bits"
    (found,) = ledger.certify()
    assert (ledger.mistakes, found.bound) == (2, 16609)
    assert number(found.quantities["hypotheses"]) == "about 2^16609"
    with pytest.raises(InputError, match=r"got n = a number of 16,610 bits"):
        nk.ThresholdHalving(-n)
