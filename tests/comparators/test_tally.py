"""What sums of margins say of losses, against fractions, whatever the sums are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import one_in
from novikoff.comparators.tally import UNIT, Tally, shortened
from novikoff.core.errors import ModelFileError

SIZES = [0.0, 5e-324, 1e-200, 1e-30, 1e-9, 0.1, 3.0, 2.0**62, 1e200, 1e300]
TINY = Fraction(1, 2**98)


def with_sums(top, seed):
    """One direction with two penalties, and sums that no stream need have."""
    coins, tally = np.random.default_rng(seed), Tally(1, top, [(0, 0.5), (0, 2.0**-20)])
    tally.counts[:] = coins.integers(0, 2**30, tally.counts.shape) * coins.integers(0, 2, tally.counts.shape)
    tally.sums[:] = coins.choice(coins.choice(SIZES, 2), tally.sums.shape)
    tally.squares[:] = coins.choice(coins.choice(SIZES, 2), tally.squares.shape)
    tally.rows = int(coins.choice([1, 1000, 2**40]))
    return tally


def in_fractions(tally, series):
    """S -> (hinge, squared hinge) for every eleventh threshold S; squares that underflowed are counted."""
    rounding_factor, found = 1 / (1 - (tally.rows + 8) * UNIT), {}
    edges = [Fraction(edge) for edge in tally.edges[:-1].tolist()]
    for i, S in [*enumerate(edges)][::11]:
        hinge, squared = Fraction(0), Fraction(tally.rows, 2**1074)
        for j in range(i + 1):  # a margin d below its own threshold T is S - T + d below S
            count, d, step = int(tally.counts[series, j]), Fraction(tally.sums[series, j].item()), S - edges[j]
            hinge += count * step + d
            squared += count * step**2 + 2 * step * d
            squared += Fraction(tally.squares[series, j].item()) if series == 0 else 0
        found[float(S)] = rounding_factor * hinge / S, rounding_factor * squared / S**2
    return found


@pytest.mark.parametrize("top", [-448, 3, 24, 448])
@pytest.mark.parametrize("seed", one_in(2, range(8)))
def test_losses_are_those_of_the_sums_and_never_less(top, seed):
    tally = with_sums(top, seed)
    found = [u for u in tally.comparators([Fraction(25)]) if u.direction == 1]
    assert len(found) == 129
    exact = in_fractions(tally, 0)
    for u in found[::11]:
        hinge, squared = exact[u.scale]
        assert hinge <= u.hinge <= hinge * (1 + TINY)
        assert squared <= u.squared_hinge <= squared * (1 + TINY)
        assert 25 / Fraction(u.scale) ** 2 <= u.square <= 25 / Fraction(u.scale) ** 2 * (1 + TINY)


@pytest.mark.parametrize("top", [-448, 3, 448])
@pytest.mark.parametrize("seed", range(4))
def test_penalty_and_mistake_losses_match_their_sums(top, seed):
    tally = with_sums(top, seed)
    starts = [Fraction(7)]  # nothing is left out then
    penalized, wrong = list(tally.penalized([Fraction(25)], starts)), list(tally.over_mistakes([Fraction(25)], starts))
    assert (len(penalized), len(wrong)) == (2 * 129, 129)
    for series, kappa, mine in ((1, Fraction(1, 2), penalized[:129]), (2, Fraction(1, 2**20), penalized[129:]),
                                (3, Fraction(0), wrong)):  # fmt: skip
        exact = in_fractions(tally, series)
        for u in mine[::11]:
            hinge, _ = exact[u.scale]
            assert hinge <= u.loss <= hinge * (1 + TINY)
            assert (u.kappa, u.start) == (kappa / Fraction(u.scale), 7 / Fraction(u.scale))
            assert u.square >= 25 / Fraction(u.scale) ** 2


@given(
    st.lists(st.floats(-1e3, 1e3) | st.floats(-1e-3, 1e-3) | st.sampled_from([1e160, -1e140]), max_size=40),
    st.sampled_from([-440, -3, 0, 4, 440]),
)
def test_losses_are_those_of_the_margins_and_never_less(margins, top):
    tally, shown = Tally(1, top), np.ldexp(np.array(margins), top)
    tally.add(np.column_stack([shown, np.ones(len(shown))]), np.zeros(len(shown), np.bool_))
    exact_margins = [Fraction(m) for m in shown.tolist()]
    found = list(tally.comparators([Fraction(1)], Fraction(2**3000)))
    assert len(found) > 1 or any(abs(m) > 1e100 for m in exact_margins)
    for u in found[1:]:
        losses = [max(1 - m / Fraction(u.scale), Fraction(0)) for m in exact_margins]
        for told, exact in ((u.hinge, sum(losses)), (u.squared_hinge, sum(loss**2 for loss in losses))):
            assert exact <= told <= exact * (1 + Fraction(1, 10**12)) + Fraction(1, 10**40)


@given(
    st.lists(
        st.tuples(st.floats(-1e3, 1e3) | st.floats(-1e-3, 1e-3), st.floats(0, 1e3) | st.sampled_from([1e-300, 5e-324])),
        max_size=40,
    ),
    st.sampled_from([2.0**-400, 1e-9, 0.1, 3.0, 1e9]),
)
def test_penalties_are_taken_off_and_rounded_down(rows, kappa):
    tally, table = Tally(1, 4, [(0, kappa)]), np.array(rows).reshape(-1, 2)
    wrong = np.arange(len(table)) % 3 == 0
    tally.add(table, wrong)
    for u in tally.penalized([Fraction(1)]):
        exact = [max(1 + u.kappa * Fraction(x2) - Fraction(m) / Fraction(u.scale), Fraction(0)) for m, x2 in rows]
        close = Fraction(1, 10**12) * sum(abs(Fraction(m)) + Fraction(kappa) * Fraction(x2) for m, x2 in rows)
        assert sum(exact) <= u.loss <= sum(exact) * (1 + Fraction(1, 10**12)) + close / Fraction(u.scale)
    for u in tally.over_mistakes([Fraction(1)]):
        exact = [max(1 - Fraction(m) / Fraction(u.scale), Fraction(0)) for m, _ in rows[::3]]
        assert sum(exact) <= u.loss <= sum(exact) * (1 + Fraction(1, 10**12))
    square = sum((Fraction(x2) for _, x2 in rows[::3]), Fraction(0))
    assert square <= tally.mistakes_square() <= square * (1 + Fraction(1, 10**12)) + Fraction(1, 10**290)


def test_a_length_that_is_lost_next_to_a_large_one_is_kept_by_the_sum_over_mistakes():
    tally = Tally(1, 4)
    tally.add(np.array([[0.0, 1e20], *[[0.0, 1.0]] * 1000]), np.ones(1001, np.bool_))
    assert 10**20 + 1000 <= tally.mistakes_square() < 10**20 + 1001


@pytest.mark.parametrize("kappa", [0.0, -1.0, math.nan, math.inf, 2.0**-401, 2.0**401])
def test_a_kappa_that_underflow_would_spoil_is_left_out(kappa):
    assert Tally(1, 4, [(0, kappa), (0, 0.5)]).penalties == [(0, 0.5)]


def test_a_direction_that_is_not_used_has_no_comparators():
    tally = Tally(2, 4, [(0, 0.5), (1, 0.5)])
    tally.add(np.array([[1.0, 1.0, 1.0]]), np.ones(1, np.bool_))
    norms2 = [Fraction(0), Fraction(1)]
    assert {u.direction for u in tally.comparators(norms2)} == {0, 2}
    assert {u.direction for u in tally.penalized(norms2)} == {2}
    assert {u.direction for u in tally.over_mistakes(norms2)} == {2}


def test_penalized_comparators_that_bound_more_are_left_out_and_no_others():
    tally = Tally(1, 4, [(0, 0.01)])
    tally.add(np.column_stack([np.linspace(-1, 9, 50), np.ones(50)]), np.zeros(50, np.bool_))
    every = {u.scale: u.bound() for u in tally.penalized([Fraction(1)], [Fraction(0)])}
    told = {u.scale: u.bound() for u in tally.penalized([Fraction(1)])}
    least = min(every.values())
    assert least < 50
    assert {scale: bound for scale, bound in every.items() if bound <= least + 1}.items() <= told.items()
    assert told.items() <= {scale: bound for scale, bound in every.items() if bound <= 1.1 * float(least) + 2}.items()


def filled():
    coins, tally = np.random.default_rng(0), Tally(2, 4, [(0, 0.5), (1, 0.25)])
    tally.add(coins.normal(size=(40, 3)) ** 2, coins.random(40) < 0.5)
    return tally


def test_a_tally_is_restored_to_the_bit_and_resumes():
    one, coins = filled(), np.random.default_rng(1)
    two = Tally.restore(one.state())
    more, wrong = coins.normal(size=(9, 3)) ** 2, coins.random(9) < 0.5
    for tally in (one, two):
        tally.add(more, wrong)
    assert (one.rows, one.mistakes, one.penalties) == (two.rows, two.mistakes, two.penalties)
    for name in ("edges", "counts", "sums", "squares", "least", "added"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        ("counts", np.zeros((6, 7), np.int64)),
        ("counts", np.zeros((6, 130), np.float64)),
        ("sums", np.zeros((6, 130), np.float32)),
        ("squares", np.zeros((3, 130))),
        ("least", np.zeros(3)),
        ("added", np.zeros((2, 2))),
        ("counts", np.zeros((6, 130), np.int64)),
        ("rows", 41),
        ("mistakes", 41),
        ("mistakes", -1),
        ("penalties", [[0, 0.5]]),
        ("penalties", [[0, 0.5], [2, 0.25]]),
        ("penalties", [[0, 0.5], [-1, 0.25]]),
        ("penalties", [[0, 0.5], [1, math.nan]]),
    ],
)
def test_a_damaged_state_is_refused(name, damaged):
    with pytest.raises(ModelFileError, match="must"):
        Tally.restore({**filled().state(), name: damaged})


@given(st.integers(0, 2**3000), st.integers(1, 2**3000))
def test_a_shortened_number_is_at_least_the_number_and_hardly_more(above, below):
    exact = Fraction(above, below)
    assert exact <= shortened(above, below) <= exact * (1 + TINY)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=40), st.integers(1, 3))
def test_mistakes_of_a_comparator_are_its_margins_that_are_not_positive(margins, parts):
    tally, rows = Tally(2, 3, [(1, 0.5)]), np.array([[*map(float, row), 1.0] for row in margins])
    for part in np.array_split(rows, parts):
        tally.add(part, np.zeros(len(part), bool))
    wrong = {0: len(rows), **{k + 1: int(np.count_nonzero(rows[:, k] <= 0)) for k in range(2)}}
    found = [*tally.comparators([Fraction(1)] * 2), *tally.penalized([Fraction(1)] * 2)]
    assert {u.direction for u in found} == {0, 1, 2}
    assert all(u.mistakes == wrong[u.direction] for u in found)
    assert all(u.mistakes <= u.hinge for u in found if hasattr(u, "hinge"))


def test_margins_too_small_for_the_thresholds_count_as_mistakes():
    tally = Tally(1, 3)
    tally.add(np.array([[-1.0, 1.0], [2.0**-40, 1.0], [1.0, 1.0]]), np.zeros(3, bool))
    assert {u.mistakes for u in tally.comparators([Fraction(1)]) if u.direction} == {2}  # at least 1, never less
