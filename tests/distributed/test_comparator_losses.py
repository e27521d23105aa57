"""comparator_losses: however a source is cut, and whoever reads it, what comparators lose is the same to the bit."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import novikoff as nk
from novikoff.comparators.exact_tally import FINE, ExactTally, exact_sums
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.errors import InputError, SourceError


def rows(count=2000, width=5, seed=0, shortest=-40):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, width)) * np.exp2(rng.integers(shortest, 1, (count, 1)))  # sums of floats would round
    return x, np.where((x @ rng.normal(size=width) > 0) ^ (rng.random(count) < 0.1), 1, -1)


def told(sums):
    return repr(sums.facts()), [u.tobytes() for u in sums.weights]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.data())
def test_sums_of_doubles_are_exact(values, data):
    places = np.array([data.draw(st.integers(0, 3)) for _ in values], np.intp)
    found = [0] * 4
    for place, more in exact_sums(np.array(values, np.float64), places):
        found[place] += more
    for place in range(4):
        mine = [Fraction(value) for value, at in zip(values, places, strict=True) if at == place]
        assert Fraction(found[place], 2**FINE) == sum(mine, Fraction(0))


@pytest.mark.parametrize("seed", range(3))
def test_losses_are_never_below_those_of_the_margins(seed):
    margins, tally = np.random.default_rng(seed).uniform(-1.0, 3.0, 50), ExactTally([1.0])
    tally.add(margins[:, None], np.zeros(50, np.bool_))
    found = [u for u in tally.comparators([Fraction(1)]) if u.direction]
    assert len(found) == 9
    for u in found:
        below = [max(1 - Fraction(margin) / Fraction(u.scale), Fraction(0)) for margin in margins.tolist()]
        assert sum(below) <= u.hinge <= sum(below) * (1 + Fraction(1, 2**60))
        squared = sum(part**2 for part in below)
        assert squared <= u.squared_hinge <= squared * (1 + Fraction(1, 2**45))


def test_losses_by_hand():
    x, y = np.array([[2.0], [0.5], [-1.0], [3.0]]), np.array([1, 1, 1, -1])  # margins of u = 1: 2, 1/2, -1, -3
    facts = nk.comparator_losses((x, y), [[1.0, 0.0]], parts=3).facts()
    assert facts.square >= 9
    own = {float(u.square): (u.hinge, u.squared_hinge) for u in facts.comparators if u.direction}
    hinge, squared = own[min(own, key=lambda square: abs(square - 1))]
    assert math.isclose(hinge, 0.5 + 2 + 4)
    assert math.isclose(squared, 0.25 + 4 + 16)
    assert hinge >= Fraction(13, 2)
    assert squared >= Fraction(81, 4)


@given(st.lists(st.integers(0, 400), max_size=4), st.randoms(use_true_random=False), st.booleans())
def test_however_it_is_cut_and_added_the_bits_are_those_of_one_pass(cuts, random, normalize):
    x, y = rows(400)
    us = np.random.default_rng(1).normal(size=(4, 6))
    options = {"bias": 0.5, "normalize": normalize}
    whole = nk.comparator_losses((x, y), us, parts=1, **options)
    ends = sorted({0, *cuts, 400})
    parts = [nk.comparator_losses((x[a:b], y[a:b]), us, parts=1, **options) for a, b in pairwise(ends)]
    random.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert told(total) == told(whole)


def test_files_and_threads_change_no_bit_nor_do_the_certificates_of_a_game(tmp_path):
    x, y = rows(shortest=0)
    path = tmp_path / "rows.arrow"
    nk.convert(nk.Arrays(x, y), path)
    learner = nk.Perceptron(bias=1.0)
    ledger = nk.Ledger(learner, tracker=LinearTracker(1.0, keep=500, additive=True))  # fitted on a few rows
    nk.play(learner, path, ledger=ledger)
    best = np.append(np.linalg.lstsq(x, y, rcond=None)[0], 0.0)
    us = [best, 100 * best, np.zeros(6), np.append(learner.weights, learner.bias_weight)]
    one = nk.comparator_losses(path, us, game=ledger, parts=1)
    certificates = ledger.certify(comparators=one)
    for parts in (2, 5, 33):
        again = nk.comparator_losses(path, us, game=ledger, parts=parts, threads=3)
        assert told(again) == told(one)
        assert repr(ledger.certify(comparators=again)) == repr(certificates)
    before, after = ({c.theorem: c.bound for c in found} for found in (ledger.certify(), certificates))
    assert after["perceptron_hinge"] < before["perceptron_hinge"]
    assert all(c.status in ("valid", "vacuous") for c in certificates if c.bound is not None)


@pytest.mark.parametrize("lengths", [[1.0, 4.0], [4.0, 1.0], [0.0, 1e-200], [1e-200, 0.0], [0.0, 0.0]])
def test_parts_of_different_lengths_are_added_to_those_of_one_pass(lengths):
    """The least margin may be in either part; rows too short for the theorems in either, next to rows of zeros."""
    x, y = np.array([[length, 0.0] for length in lengths]), [1, 1]
    whole, cut = (nk.comparator_losses((x, y), [[1.0, 0.0, 0.0]], parts=parts).facts() for parts in (1, 2))
    assert repr(cut) == repr(whole)
    if max(lengths) == 4.0:
        assert min(u.square for u in cut.comparators if u.direction and u.hinge == 0) >= 1
    assert bool(cut.invalid_reason) == (max(lengths) == 1e-200)


def test_separator_has_a_margin():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    ledger = nk.play(nk.Perceptron(), (x, [1, 1, 1]))
    found = nk.comparator_losses((x, [1, 1, 1]), [[1.0, 1.0, 0.0]], game=ledger, parts=2).facts()
    assert min(u.hinge for u in found.comparators) == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_another_source_is_refused_where_the_directions_have_no_weight(sparse):
    """The last three features are 0 in the game: no direction has a weight there."""
    x, y = rows(300)
    played = np.hstack([x, np.zeros((300, 3))])
    form = csr_array if sparse else np.asarray
    ledger = nk.play(nk.Perceptron(), (form(played), y))
    assert nk.comparator_losses((form(played), y), [np.ones(9)], game=ledger).rows == 300
    assert nk.comparator_losses((csr_array(played), y), [np.ones(9)], game=ledger).rows == 300
    new, swapped, wider = played.copy(), played.copy(), np.hstack([played, np.zeros((300, 4))])
    new[:, 6] = y
    swapped[:, [0, 7]] = swapped[:, [7, 0]]
    wider[200:, 10] = y[200:] * 1e-6  # beyond the features of the game
    separates = np.eye(9)[6]
    for other in (new, swapped, wider):
        with pytest.raises(InputError, match="not those of this source"):
            nk.comparator_losses((form(other), y), [separates], game=ledger, parts=3)


def test_features_that_come_late_are_compared():
    """Comparators are fitted on the first rows; later features have no weight in them."""
    x, y = rows(600, shortest=0)
    played = np.hstack(
        [x, np.where(np.arange(600)[:, None] < 300, 0.0, np.random.default_rng(1).normal(size=(600, 4)))]
    )
    ledger = nk.Ledger(learner := nk.Perceptron(), tracker=LinearTracker(keep=2000, additive=True))
    nk.play(learner, (csr_array(played), y), ledger=ledger)
    assert len(ledger.tracker.facts().directions[0]) <= 10
    assert nk.comparator_losses((played, y), [np.ones(10)], game=ledger).rows == 600
    played[599, [6, 7]] = played[599, [7, 6]]
    with pytest.raises(InputError, match="not those of this source"):
        nk.comparator_losses((played, y), [np.ones(10)], game=ledger)


def test_a_game_on_other_rows_and_comparators_of_another_are_refused():
    x, y = rows(300)
    ledger, us = nk.play(nk.Perceptron(), (x, y)), [np.ones(6)]
    for other in ((x, -y), (x * 1.01, y), (x[:-1], y[:-1])):
        with pytest.raises(InputError, match="not those of this source"):
            nk.comparator_losses(other, us, game=ledger)
    with pytest.raises(InputError, match="pass game="):
        ledger.certify(comparators=nk.comparator_losses((x, y), us))
    with pytest.raises(InputError, match="one pass"):
        nk.comparator_losses((x, y), us, game=nk.play(nk.Perceptron(), (x, y), passes=2))
    with pytest.raises(InputError, match="same comparators"):
        nk.comparator_losses((x, y), us) + nk.comparator_losses((x, y), [np.zeros(6)])
    with pytest.raises(InputError, match="finite"):
        nk.comparator_losses((x, y), [[math.nan]])
    with pytest.raises(SourceError, match="at least 1"):
        nk.comparator_losses((x, y), us, parts=0)
    x[7, 2] = 1e200
    assert nk.comparator_losses((x, y), us).facts().invalid_reason
