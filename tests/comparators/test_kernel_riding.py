"""Comparators in the space of a kernel: exact sums beside ours, the trap of a negative square, blocks and stops."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.comparators import kernel_fit, kernel_riding, tally
from novikoff.comparators.kernel_riders import KernelRiders
from novikoff.comparators.kernel_riding import KernelRiding
from novikoff.errors import InputError, ModelFileError
from novikoff.similarity import Similarity
from novikoff.types import Batch, Sparse

LINEAR = Similarity.of("linear")
CUBE = Similarity.of("polynomial", degree=3, constant=0.5)
RBF = Similarity.of("rbf", gamma=0.7)
EXACT = [LINEAR, CUBE, RBF, Similarity.of("linear", bias=0.3)]
CONTEXT = decimal.Context(prec=80)


def value(similarity, z, x):
    """K(z,x) with 70 figures and more."""
    z, x = [Fraction(float(v)) for v in z], [Fraction(float(v)) for v in x]
    bias2 = Fraction(similarity.bias * similarity.bias)
    if similarity.kind == "rbf":
        power = Fraction(similarity.gamma) * sum((a - b) ** 2 for a, b in zip(z, x, strict=True))
        return Fraction(CONTEXT.exp(-CONTEXT.divide(decimal.Decimal(power.numerator), power.denominator))) + bias2
    dot = sum((a * b for a, b in zip(z, x, strict=True)), Fraction(0))
    return (Fraction(similarity.constant) + dot) ** similarity.degree + bias2


def sparse(x):
    rows = [np.flatnonzero(row) for row in x]
    lengths = np.array([0, *map(len, rows)], np.uint64)
    indices = np.concatenate([np.zeros(0, np.uint32), *rows]).astype(np.uint32)
    values = np.concatenate([np.zeros(0), *(row[places] for row, places in zip(x, rows, strict=True))])
    return Sparse(np.cumsum(lengths, dtype=np.uint64), indices, values, x.shape[1])


def check(riders, similarity, x, y, close=1e-9):
    """Every number of every comparator is on the safe side of the exact one, and close to it."""
    points = riders.points if isinstance(riders.points, np.ndarray) else spread(riders.points, x.shape[1])
    gram = [[value(similarity, a, b) for b in points] for a in points]
    values = [[value(similarity, z, row) for z in points] for row in x]
    betas = [[Fraction(b) for b in beta] for beta in riders.betas.tolist()]
    assert riders.radius2() >= max(value(similarity, row, row) for row in x)
    seen = 0
    for u in riders.comparators():
        if u.direction == 0:
            assert (u.square, u.hinge, u.squared_hinge) == (0, len(y), len(y))
            continue
        seen += 1
        beta, scale = betas[u.direction - 1], Fraction(u.scale)
        square = sum(a * b * gram[i][j] for i, a in enumerate(beta) for j, b in enumerate(beta))
        losses = [
            max(Fraction(0), 1 - int(label) * sum(b * k for b, k in zip(beta, row, strict=True)) / scale)
            for row, label in zip(values, y, strict=True)
        ]
        assert u.square >= square / scale**2
        assert u.hinge >= sum(losses)
        assert u.squared_hinge >= sum(loss * loss for loss in losses)
        assert float(u.hinge) <= float(sum(losses)) * (1 + close) + close * len(y)
    return seen


def spread(rows, width):
    table = np.zeros((len(rows), width))
    for row, (places, numbers) in zip(table, rows.rows(), strict=True):
        row[places] = numbers
    return table


def example_stream(rows, width=4, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.3] = 0.0
    y = np.where((x[:, 0] ** 2 + x[:, 1]) + 0.2 * coins.normal(size=rows) > 0.7, 1, -1).astype(np.int8)
    return x, y


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("similarity", EXACT)
def test_every_number_is_on_the_safe_side_of_the_exact_one(similarity, form):
    x, y = example_stream(24)
    riders = KernelRiders.fitted(similarity, form(x[:9]), y[:9])
    riders.see(form(x), y)
    assert riders.trouble() == ""
    assert check(riders, similarity, x, y) > 20


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([LINEAR, CUBE]),
    st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.3, 0.7, 1e8, -1e8, 1e-170, 1.0]), min_size=6, max_size=6),
    st.lists(st.sampled_from([1.0, -1.0, 3.0, -3.0, 1e8, -1e8, 0.1]), min_size=3, max_size=3),
)
def test_sums_that_cancel_are_on_the_safe_side(similarity, numbers, beta):
    x = np.array(numbers).reshape(3, 2)
    y = np.array([1, -1, 1], np.int8)
    riders = KernelRiders(similarity, x, np.array([beta]), 4)
    riders.see(x, y)
    if riders.trouble() == "":
        check(riders, similarity, x, y, close=1e300)


def test_a_square_that_rounds_to_nothing_would_give_a_false_certificate():
    """f = 7 K(0.3, .) - 3 K(0.7, .) is not 0, for 0.3 and 0.7 are rounded; its square, as computed, is negative."""
    points, beta = [0.3, 0.7], [7.0, -3.0]
    exact = sum((Fraction(b) * Fraction(z) for b, z in zip(beta, points, strict=True)), Fraction(0))
    rows = [(z * points[0]) * beta[0] + (z * points[1]) * beta[1] for z in points]
    computed = beta[0] * rows[0] + beta[1] * rows[1]
    margin = beta[0] * points[0] + beta[1] * points[1]  # of x = -1, labelled -1: a mistake, as 0 says +1
    assert exact > 0
    assert computed < 0 < margin
    assert 1 * max(0.0, computed) / margin**2 < 1  # R^2 ||f||^2 / margin^2 is below the one mistake
    riders = KernelRiders(LINEAR, np.array(points)[:, None], np.array([beta]), 1)
    riders.see(np.array([[-1.0]]), np.array([-1], np.int8))
    assert riders.norms2[0] >= exact**2
    assert all(riders.radius2() * u.square >= 1 for u in riders.comparators() if u.hinge == 0)


def test_the_error_of_the_kernel_itself_is_paid_for():
    """f = K(z, .) - K(z', .), z' = z (1 + 3e-8): adding up 3,000 equal numbers drifts by more than the rest covers."""
    points = np.full((2, 3000), 0.3)
    points[1] *= 1 + 3e-8
    riders = KernelRiders(LINEAR, points, np.array([[1.0, -1.0]]), 1)
    assert riders.norms2[0] >= 3000 * (Fraction(points[0, 0]) - Fraction(points[1, 0])) ** 2


def test_a_function_that_is_no_inner_product_is_found_out_where_it_shows():
    riding = KernelRiding(Similarity.of(lambda z, x: 1.0 if (z == x).all() else -1.0))
    for value in (1.0, 2.0, 3.0):
        riding.see_row(np.array([value]), 1)
    facts = riding.facts()
    assert "no inner product" in facts.flaw
    assert len(facts.comparators) == 1


def test_clamping_gives_false_certificates_and_paying_for_rounding_gives_none():
    """Random f whose terms cancel: the mistake bound R^2 ||f||^2 / margin^2 of one mistake must be at least 1."""
    coins = np.random.default_rng(1)
    false = 0
    for _ in range(150):
        z = coins.normal(size=(6, 2))
        # beta in the null space of z, but for rounding: f is as good as 0
        beta = np.linalg.svd(z.T)[2][-1] * coins.uniform(0.5, 2.0)
        x = coins.normal(size=(1, 2))
        scores = float(beta @ LINEAR.matrix(z, x)[:, 0])
        y = np.array([-1], np.int8)
        clamped = max(0.0, float(beta @ (LINEAR.matrix(z, z) @ beta)))
        margin = -scores
        false += margin > 0 and float(x[0] @ x[0]) * clamped / margin**2 < 1
        riders = KernelRiders(LINEAR, z, beta[None], 3)
        riders.see(x, y)
        bounds = [riders.radius2() * u.square for u in riders.comparators() if u.direction and u.hinge == 0]
        assert all(bound >= 1 for bound in bounds)
    assert false > 0


def seen(state):
    """A state as bytes, to compare two of them to the bit."""
    if isinstance(state, dict):
        return {key: seen(part) for key, part in state.items()}
    return (str(state.dtype), state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("similarity", [RBF, CUBE])
@pytest.mark.parametrize("keep", [0, 50, 1000])
def test_batches_rows_and_stops_change_nothing_to_the_bit(similarity, form, keep):
    x, y = example_stream(330)
    table = form(x)
    states, facts = [], []
    for sizes in ([330], [1, 63, 64, 65, 137], [30] * 11, None):
        riding = KernelRiding(similarity, keep)
        start = 0
        for size in sizes or []:
            riding.see(Batch(table[start : start + size], y[start : start + size], start + 1), behind=size > 64)
            start += size
            if size == 65:
                riding.facts()
                riding = KernelRiding.restore(riding.state())
        if sizes is None:
            for row, label in zip(table.rows() if isinstance(table, Sparse) else table, y.tolist(), strict=True):
                riding.see_row(row, label)
        assert riding.rows == 330
        states.append(seen(riding.state()))
        facts.append(riding.facts())
    assert states[1:] == states[:1] * 3
    assert facts[1:] == facts[:1] * 3


def test_rows_and_batches_come_in_their_order():
    x, y = example_stream(4000)
    riding, whole = KernelRiding(RBF, 200), KernelRiding(RBF, 200)
    for row, label in zip(x[:30], y[:30], strict=True):
        riding.see_row(row, int(label))
    riding.see(Batch(x[30:3700], y[30:3700], 31), behind=True)
    for row, label in zip(x[3700:], y[3700:], strict=True):
        riding.see_row(row, int(label))
    whole.see(Batch(x, y, 1))
    assert seen(riding.state()) == seen(whole.state())


def test_wide_rows_are_kept_up_to_a_number_of_bytes(monkeypatch):
    monkeypatch.setattr(kernel_riding, "MOST_KEPT", 1000)
    x, y = example_stream(40)
    riding = KernelRiding(LINEAR)
    riding.see(Batch(x, y, 1))
    assert riding.state()["kept"] is None
    assert riding.facts().points <= math.ceil(1000 / 48)


def test_lent_arrays_may_change_afterwards():
    x, y = example_stream(100)
    once, twice = KernelRiding(RBF, 200), KernelRiding(RBF, 200)
    lent = x.copy()
    once.see(Batch(lent, y, 1))
    lent[:] = 7.0
    twice.see(Batch(x, y, 1))
    assert once.facts() == twice.facts()


def test_sums_beyond_the_doubles_are_left_out():
    """f(x) is 1e160, as after terms that cancelled: the squares of distances are above 1e308."""
    riders = KernelRiders(LINEAR, np.array([[1e135]]), np.array([[1e-110]]), 1)
    x, y = np.array([[1e135], [1e-3]]), np.array([-1, 1], np.int8)
    riders.see(x, y)
    assert riders.trouble() == ""
    assert [u.direction for u in riders.comparators()] == [0]


def test_no_rows_and_rows_of_zeros_are_no_flaw():
    facts = KernelRiding(LINEAR).facts()
    assert (facts.flaw, facts.rows, facts.comparators[0].hinge) == ("", 0, 0)
    riding = KernelRiding(LINEAR)
    riding.see(Batch(np.zeros((100, 3)), np.ones(100, np.int8), 1))
    facts = riding.facts()
    assert (facts.flaw, facts.rows, facts.square, len(facts.comparators)) == ("", 100, 0, 1)


@pytest.mark.parametrize("keep", [0, 100])
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e200, 1e140, 1e-140])
def test_what_is_not_finite_or_not_safe_is_a_flaw(keep, number):
    riding = KernelRiding(LINEAR, keep)
    riding.see_row(np.array([0.0, number]), 1)
    flaw = riding.facts().flaw
    assert ("not a number" in flaw) == (not math.isfinite(number))
    assert "rescale" in flaw or "not a number" in flaw


@pytest.mark.parametrize("size", [1e-160, 1e-140, 1e140])
def test_a_normalised_kernel_needs_every_row_to_be_of_a_safe_size(size):
    riding = KernelRiding(Similarity.of("linear", normalized=True))
    for row in ([1.0, 1.0], [size, 2 * size], [0.0, 0.0]):
        riding.see_row(np.array(row), 1)
    assert "rescale" in riding.facts().flaw


def test_sparse_rows_so_long_that_the_rbf_cannot_be_computed_are_a_flaw():
    riding = KernelRiding(RBF)
    for row in ([1e9, 0.0], [1e9, 1.0]):
        riding.see(Batch(sparse(np.array([row])), np.ones(1, np.int8), 1))
    assert "accuracy" in riding.facts().flaw


@pytest.mark.parametrize(("power", "safe"), [(-1000, False), (-899, True), (899, True), (1000, False)])
def test_the_gamma_of_the_rbf_must_be_of_a_safe_size(power, safe):
    riding = KernelRiding(Similarity.of("rbf", gamma=2.0**power))
    riding.see_row(np.array([1.0, 2.0]), 1)
    assert (riding.facts().flaw == "") == safe


def test_the_error_of_rows_is_known_where_there_was_nothing_to_fit_on():
    """The learner's scores are of these rows too."""
    riding = KernelRiding(LINEAR, 1)
    riding.see_row(np.zeros(50), 1)
    riding.see_row(np.ones(50), -1)
    facts = riding.facts()
    assert facts.points == 0
    assert facts.error >= LINEAR.relative_error(50)


def test_rows_must_stay_of_one_form():
    riding = KernelRiding(LINEAR)
    riding.see_row(np.zeros(2), 1)
    riding.see_row(np.zeros(3), 1)
    with pytest.raises(InputError, match="one form"):
        riding.facts()


def test_a_number_of_rows_to_keep_must_not_be_negative():
    with pytest.raises(InputError, match="at least 0"):
        KernelRiding(LINEAR, -1)


def plain(state):
    """Nothing in it but arrays and what JSON can hold."""
    if isinstance(state, dict):
        return all(type(key) is str and plain(part) for key, part in state.items())
    if isinstance(state, np.ndarray):
        return state.dtype != object
    return state is None or type(state) in (str, int, bool) or (type(state) is float and math.isfinite(state))


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("number", [1.0, 1e200])
def test_the_state_is_plain_data(form, number):
    x, y = example_stream(300)
    x[200] = number
    riding = KernelRiding(LINEAR, 100)
    riding.see(Batch(form(x), y, 1))
    assert plain(riding.state())
    again = KernelRiding.restore(riding.state())
    assert seen(again.state()) == seen(riding.state())
    assert again.facts() == riding.facts()


def test_a_function_of_the_users_cannot_be_saved():
    riding = KernelRiding(Similarity.of(lambda z, x: float(z @ x)))
    with pytest.raises(ModelFileError):
        riding.state()


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("betas", np.zeros((2, 7))),
        ("tally", {"top": 1, "rows": 1, "counts": np.zeros(3, np.int64), "sums": np.zeros(3), "squares": np.zeros(3),
                   "least": np.zeros(5)}),
        ("points", {"dense": np.zeros(3)}),
        ("points", {"indptr": np.array([0, 2], np.uint64), "indices": np.zeros(1, np.uint32), "values": np.zeros(1),
                    "width": 1}),
    ],
)  # fmt: skip
def test_a_broken_model_file_is_refused(part, broken):
    x, y = example_stream(40)
    riding = KernelRiding(RBF, 20)
    riding.see(Batch(x, y, 1))
    state = riding.state()
    state["riders"] = {**state["riders"], part: broken}
    with pytest.raises(ValueError, match="must"):
        KernelRiding.restore(state)


def test_the_fit_finds_a_comparator_that_is_worth_having():
    coins = np.random.default_rng(2)
    x = coins.normal(size=(2000, 2))
    y = np.where((x**2).sum(axis=1) > 1.4, 1, -1).astype(np.int8)
    riding = KernelRiding(Similarity.of("rbf", gamma=1.0), 200)
    riding.see(Batch(x, y, 1))
    facts = riding.facts()
    assert min(u.hinge + facts.square * u.square for u in facts.comparators) < 700


@pytest.mark.parametrize("similarity", [RBF, CUBE, LINEAR])
@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_the_fit_is_as_good_as_a_long_descent_by_coordinates(similarity, noise):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 3))
    y = np.where((x[:, 0] * x[:, 1] > 0.0) ^ (rng.random(120) < noise), 1, -1).astype(np.int8)
    gram = similarity.matrix(x, x)
    signed = gram / np.mean(gram.diagonal()) * np.outer(y, y)
    betas = kernel_fit.fit(gram, y)
    for beta, cost in zip(betas[:-1], kernel_fit.COSTS[:-1], strict=True):
        alpha, slow = beta * y, np.zeros(120)
        for _ in range(300):
            for t in range(120):
                slow[t] = min(max(slow[t] + (1.0 - signed[t] @ slow) / signed[t, t], 0.0), cost)
        assert np.all((alpha >= 0.0) & (alpha <= cost))
        assert dual(signed, alpha) >= 0.999 * dual(signed, slow)


def dual(signed, alpha):
    """What the fit makes large."""
    return np.sum(alpha) - 0.5 * alpha @ signed @ alpha


@given(st.integers(0, 2**3000), st.integers(1, 2**3000))
def test_a_shortened_number_is_at_least_the_number_and_hardly_more(above, below):
    exact = Fraction(above, below)
    assert exact <= tally.shortened(above, below) <= exact * (1 + Fraction(1, 2**98))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3) | st.floats(-1e-3, 1e-3) | st.sampled_from([1e160, -1e140]), max_size=40),
    st.sampled_from([-440, -3, 0, 4, 440]),
)
def test_losses_are_those_of_the_margins_and_never_less(margins, top):
    counted = tally.Tally(1, top)
    counted.add(np.ldexp(np.array(margins), top).reshape(-1, 1))
    shown = [Fraction(m) for m in np.ldexp(np.array(margins), top).tolist()]
    found = list(counted.comparators([Fraction(1)], Fraction(2**3000)))
    assert len(found) > 1 or any(abs(m) > 1e100 for m in shown)
    for u in found[1:]:
        scale = Fraction(u.scale)
        losses = [max(1 - m / scale, Fraction(0)) for m in shown]
        for told, exact in ((u.hinge, sum(losses)), (u.squared_hinge, sum(loss**2 for loss in losses))):
            assert exact <= told <= exact * (1 + Fraction(1, 10**12)) + Fraction(1, 10**40)
        assert 1 / scale**2 <= u.square <= (1 + Fraction(1, 2**90)) / scale**2
