"""Kernel comparators that watch a game: blocks, stops and threads change nothing; what is not safe is invalid."""

import math

import numpy as np
import pytest

from helpers import sparse
from novikoff.comparators.tracker import restored
from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Batch, Sparse
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernels import Kernel

LINEAR = Kernel.of("linear")
CUBE = Kernel.of("polynomial", degree=3, constant=0.5)
RBF = Kernel.of("rbf", gamma=0.7)


def example_stream(rows, width=4, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.3] = 0.0
    y = np.where((x[:, 0] ** 2 + x[:, 1]) + 0.2 * coins.normal(size=rows) > 0.7, 1, -1).astype(np.int8)
    return x, y, coins.random(rows) < 0.4


def seen(state):
    """A state as bytes, to compare two of them to the bit."""
    if isinstance(state, dict):
        return {key: seen(part) for key, part in state.items()}
    return (str(state.dtype), state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("similarity", [RBF, CUBE])
@pytest.mark.parametrize("keep", [0, 50, 1000])
def test_batches_rows_and_stops_change_nothing_to_the_bit(similarity, form, keep):
    x, y, wrong = example_stream(330)
    table = form(x)
    states, facts = [], []
    for sizes in ([330], [1, 63, 64, 65, 137], [30] * 11, None):
        tracker = KernelTracker(similarity, keep)
        start = 0
        for size in sizes or []:
            some = slice(start, start + size)
            memory = "owned" if size > 64 else "borrowed"
            tracker.see(Batch(table[some], y[some], start + 1, memory=memory), wrong[some])
            start += size
            if size == 65:
                tracker.facts()
                tracker = restored(tracker.state())
        if sizes is None:
            rows = table.rows() if isinstance(table, Sparse) else table
            for row, label, mistake in zip(rows, y.tolist(), wrong.tolist(), strict=True):
                tracker.see_row(row, label, mistake)
        assert tracker.rows == 330
        states.append(seen(tracker.state()))
        facts.append(tracker.facts())
    assert states[1:] == states[:1] * 3
    assert facts[1:] == facts[:1] * 3
    assert facts[0].mistakes == np.count_nonzero(wrong)


def test_rows_and_batches_come_in_their_order():
    x, y, wrong = example_stream(4000)
    tracker, whole = KernelTracker(RBF, 200), KernelTracker(RBF, 200)
    for t in range(30):
        tracker.see_row(x[t], int(y[t]), bool(wrong[t]))
    tracker.see(Batch(x[30:3700], y[30:3700], 31, memory="owned"), wrong[30:3700])
    for t in range(3700, 4000):
        tracker.see_row(x[t], int(y[t]), bool(wrong[t]))
    whole.see(Batch(x, y, 1), wrong)
    assert seen(tracker.state()) == seen(whole.state())


def test_wide_rows_are_kept_up_to_a_number_of_bytes():
    x, y, wrong = example_stream(40)
    tracker = KernelTracker(LINEAR)
    tracker.keep = 1000
    tracker.see(Batch(x, y, 1), wrong)
    assert tracker.state()["kept"] is None
    assert tracker.facts().points <= math.ceil(1000 / 48)


def test_borrowed_arrays_may_change_afterwards():
    x, y, wrong = example_stream(100)
    once, twice = KernelTracker(RBF, 200), KernelTracker(RBF, 200)
    lent, labels, mistakes = x.copy(), y.copy(), wrong.copy()
    once.see(Batch(lent, labels, 1), mistakes)
    lent[:], labels[:], mistakes[:] = 7.0, 1, True
    twice.see(Batch(x, y, 1), wrong)
    assert once.facts() == twice.facts()


def test_no_rows_and_rows_of_zeros_are_valid():
    facts = KernelTracker(LINEAR).facts()
    assert (facts.invalid_reason, facts.rows, facts.comparators[0].hinge) == ("", 0, 0)
    tracker = KernelTracker(LINEAR)
    tracker.see(Batch(np.zeros((100, 3)), np.ones(100, np.int8), 1), np.zeros(100, np.bool_))
    facts = tracker.facts()
    assert (facts.invalid_reason, facts.rows, facts.square, len(facts.comparators)) == ("", 100, 0, 1)


@pytest.mark.parametrize("keep", [0, 100])
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e200, 1e140, 1e-140])
def test_nonfinite_or_extreme_rows_are_invalid(keep, number):
    tracker = KernelTracker(LINEAR, keep)
    tracker.see_row(np.array([0.0, number]), 1, True)
    facts = tracker.facts()
    assert ("NaN or infinite" in facts.invalid_reason) == (not math.isfinite(number))
    assert "rescale" in facts.invalid_reason or "NaN or infinite" in facts.invalid_reason
    assert (facts.square, facts.mistakes_square, facts.penalized, facts.over_mistakes) == (0, 0, (), ())


@pytest.mark.parametrize("size", [1e-160, 1e-140, 1e140])
def test_a_normalised_kernel_needs_every_row_to_be_of_a_safe_size(size):
    tracker = KernelTracker(Kernel.of("linear", normalized=True))
    for row in ([1.0, 1.0], [size, 2 * size], [0.0, 0.0]):
        tracker.see_row(np.array(row), 1, False)
    assert "rescale" in tracker.facts().invalid_reason


def test_sparse_rows_so_long_that_the_rbf_cannot_be_computed_are_invalid():
    tracker = KernelTracker(RBF)
    for row in ([1e9, 0.0], [1e9, 1.0]):
        tracker.see(Batch(sparse(np.array([row])), np.ones(1, np.int8), 1), np.zeros(1, np.bool_))
    assert "accuracy" in tracker.facts().invalid_reason


@pytest.mark.parametrize(("power", "safe"), [(-1000, False), (-899, True), (899, True), (1000, False)])
def test_the_gamma_of_the_rbf_must_be_of_a_safe_size(power, safe):
    tracker = KernelTracker(Kernel.of("rbf", gamma=2.0**power))
    tracker.see_row(np.array([1.0, 2.0]), 1, False)
    assert (tracker.facts().invalid_reason == "") == safe


def test_kernel_that_is_not_an_inner_product_is_detected():
    tracker = KernelTracker(Kernel.of(lambda z, x: 1.0 if (z == x).all() else -1.0))
    for value in (1.0, 2.0, 3.0):
        tracker.see_row(np.array([value]), 1, False)
    facts = tracker.facts()
    assert "not an inner product" in facts.invalid_reason
    assert len(facts.comparators) == 1


def test_the_error_of_rows_is_known_where_there_was_nothing_to_fit_on():
    """The learner's scores are of these rows too."""
    tracker = KernelTracker(LINEAR, 1)
    tracker.see_row(np.zeros(50), 1, False)
    tracker.see_row(np.ones(50), -1, True)
    facts = tracker.facts()
    assert facts.points == 0
    assert facts.error >= LINEAR.relative_error(50)


def test_rows_must_stay_of_one_form_or_become_wider():
    tracker = KernelTracker(LINEAR)
    tracker.see_row(np.zeros(2), 1, False)
    tracker.see_row(np.zeros(3), 1, False)
    assert tracker.facts().rows == 2
    tracker.see_row(np.zeros(2), 1, False)
    with pytest.raises(InputError, match="one form"):
        tracker.facts()


def test_a_number_of_rows_to_keep_must_not_be_negative():
    with pytest.raises(InputError, match="at least 0"):
        KernelTracker(LINEAR, -1)


def plain(state):
    """Nothing in it but arrays and what JSON can hold."""
    if isinstance(state, dict):
        return all(type(key) is str and plain(part) for key, part in state.items())
    if isinstance(state, list):
        return all(map(plain, state))
    if isinstance(state, np.ndarray):
        return state.dtype != object
    return state is None or type(state) in (str, int, bool) or (type(state) is float and math.isfinite(state))


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("number", [1.0, 1e200])
def test_the_state_is_plain_data(form, number):
    x, y, wrong = example_stream(300)
    x[200] = number
    tracker = KernelTracker(LINEAR, 100)
    tracker.see(Batch(form(x), y, 1), wrong)
    assert plain(tracker.state())
    again = restored(tracker.state())
    assert seen(again.state()) == seen(tracker.state())
    assert again.facts() == tracker.facts()


def test_user_defined_kernel_cannot_be_saved():
    with pytest.raises(ModelFileError):
        KernelTracker(Kernel.of(lambda z, x: float(z @ x))).state()


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("betas", np.zeros((2, 7))),
        ("tally", {"top": 1, "probes": 0, "rows": 1, "mistakes": 0, "penalties": [], "counts": np.zeros(3, np.int64),
                   "sums": np.zeros(3), "squares": np.zeros(3), "least": np.zeros(5), "added": np.zeros(3)}),
        ("points", {"dense": np.zeros(3)}),
        ("points", {"indptr": np.array([0, 2], np.uint64), "indices": np.zeros(1, np.uint32), "values": np.zeros(1),
                    "width": 1}),
    ],
)  # fmt: skip
def test_a_damaged_state_is_refused(part, broken):
    x, y, wrong = example_stream(40)
    tracker = KernelTracker(RBF, 20)
    tracker.see(Batch(x, y, 1), wrong)
    state = tracker.state()
    state["scorer"] = {**state["scorer"], part: broken}
    with pytest.raises(ValueError, match="must"):
        restored(state)


def test_the_fit_finds_a_comparator_that_is_worth_having():
    coins = np.random.default_rng(2)
    x = coins.normal(size=(2000, 2))
    y = np.where((x**2).sum(axis=1) > 1.4, 1, -1).astype(np.int8)
    tracker = KernelTracker(Kernel.of("rbf", gamma=1.0), 200)
    tracker.see(Batch(x, y, 1), np.zeros(2000, np.bool_))
    facts = tracker.facts()
    assert min(u.hinge + facts.square * u.square for u in facts.comparators) < 700
    assert min(u.bound() for u in facts.penalized) < 700
