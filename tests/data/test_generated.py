"""Streams from a generator: the planted margin holds, the same seed gives the same rows, hard orders are hard."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels, Sparse
from novikoff.data.generated import LARGEST_SHARE, ROWS, Drifting, Noisy, Separable, bits, nearly_normal, pushed
from novikoff.data.hard_order import HardOrder
from novikoff.game.ledger import Ledger
from novikoff.game.play import play

STREAMS = [
    Separable(9_000, width=5),
    Separable(9_000, width=300, nonzeros=7),
    Noisy(9_000, width=5, noise=0.2),
    Noisy(9_000, width=300, nonzeros=7),
    Drifting(9_000, width=5, every=700),
    Drifting(9_000, width=300, nonzeros=7, every=1),
    HardOrder(9_000, width=5, examples=50),
]
NAMES = [stream.name for stream in STREAMS]


class PlainPerceptron:
    """The rule in a few lines, on dense rows and on pairs (indices, values)."""

    domain, labels, promises = Domain("vector"), None, ()

    def __init__(self, width, reverse=False):
        self.w, self.step = np.zeros(width), -1 if reverse else 1

    def predict_one(self, x):
        where, values = x if isinstance(x, tuple) else (slice(None), x)
        score = 0.0
        for term in (self.w[where] * values)[:: self.step].tolist():
            score += term
        return 1 if score >= 0.0 else -1

    def learn_one(self, x, y):
        if self.predict_one(x) != y:
            where, values = x if isinstance(x, tuple) else (slice(None), x)
            self.w[where] += y * values

    def facts(self):
        return None


def rows(stream, start=None):
    """Every row as ([(index, value), ...], y)."""
    found = []
    for batch in stream.batches(start):
        for x, y in batch.rows():
            where, values = x if isinstance(batch.x, Sparse) else (np.arange(len(x)), x)
            found.append((list(zip(where.tolist(), values.tolist(), strict=True)), y))
    return found


def margins(u, found):
    """y <u, x> of each row, exactly."""
    exact = [Fraction(float(value)) for value in u]
    return [y * sum(exact[i] * Fraction(value) for i, value in x) for x, y in found]


def squared(values):
    """Their squares added, exactly."""
    return sum(Fraction(float(value)) ** 2 for value in values)


def attainable(width, nonzeros):
    """The largest margin that may be asked for, as the error says it."""
    with pytest.raises(SourceError) as error:
        Separable(1, width, 2.0, nonzeros=nonzeros)
    return float(re.search(r"at most (\S+) for", str(error.value))[1])


shapes = st.integers(2, 60).flatmap(
    lambda width: st.tuples(st.just(width), st.one_of(st.none(), st.integers(1, width)))
)


@given(shapes, st.floats(1e-9, 1.0), st.integers(0, 2**62))
def test_the_planted_margin_holds_exactly_on_every_row(shape, share, seed):
    width, nonzeros = shape
    margin = share * attainable(width, nonzeros)
    stream = Separable(30, width, margin, seed, nonzeros)
    found = rows(stream)
    length = squared(stream.target)
    assert length == pytest.approx(1.0, abs=1e-14)
    for (x, _), gain in zip(found, margins(stream.target, found), strict=True):
        size = squared(value for _, value in x)
        assert size == pytest.approx(1.0, abs=1e-13)
        assert gain >= Fraction(margin)
        assert gain**2 >= Fraction(margin) ** 2 * length * size  # for u and x of length exactly 1 too


@pytest.mark.parametrize("nonzeros", [None, 40])
def test_the_margin_is_met_closely_and_holds_on_many_rows(nonzeros):
    stream = Separable(20_000, width=50, margin=0.1, seed=3, nonzeros=nonzeros)
    gains = []
    for batch in stream.batches():
        if isinstance(batch.x, Sparse):
            gains += [y * float(stream.target[where] @ values) for (where, values), y in batch.rows()]
        else:
            gains += (batch.y * (batch.x @ stream.target)).tolist()
    assert 0.1 <= min(gains) < 0.1 + 1e-9
    pushed_out = np.mean(np.array(gains) < 0.1 + 1e-9)
    assert 0.3 < pushed_out < 0.7  # the others are as far as chance put them
    assert max(gains) > 0.3


def test_a_direction_along_the_target_stays_there():
    unit = np.array([[0.6, 0.8]])
    x, y = pushed(np.array([[3.0, 4.0], [-3.0, -4.0], [4.0, -3.0], [-4.0, 3.0]]), unit, 0.5)
    assert np.allclose(x[:2], [[0.6, 0.8], [-0.6, -0.8]], atol=1e-15)
    assert y.tolist() == [1, -1, 1, 1]  # a tie is +1
    assert np.allclose((x * x).sum(axis=1), 1.0)
    assert np.allclose(x @ unit[0] * y, [1.0, 1.0, 0.5, 0.5])
    assert np.allclose(x[2], 0.5 * unit[0] + np.sqrt(0.75) * np.array([0.8, -0.6]))


@pytest.mark.parametrize("least", [0.3, 0.999, LARGEST_SHARE])
def test_directions_that_hardly_leave_the_target_keep_length_and_margin(least):
    unit = np.array([[0.6, 0.8, 0.0]])
    beside = np.array([[0.64, -0.48, 0.6]])  # across
    steps = 10.0 ** np.linspace(-18, 0, 400)[:, None]
    x, y = pushed(262141.0 * np.concatenate([unit + steps * beside, -unit + steps * beside]), unit, least)
    exact = [Fraction(0.6), Fraction(0.8), Fraction(0)]
    for row, label in zip(x.tolist(), y.tolist(), strict=True):
        assert label * sum(a * Fraction(b) for a, b in zip(exact, row, strict=True)) >= Fraction(least)
        assert squared(row) == pytest.approx(1.0, abs=1e-13)


def test_directions_look_normal_and_are_never_zero():
    values = nearly_normal(bits(0, ROWS, 0, 200_000))
    assert np.all(values % 2 != 0)
    assert abs(values.mean()) < 5 * values.std() / 200_000**0.5
    inside = np.mean(np.abs(values) < values.std())
    assert 0.65 < inside < 0.70  # 0.683 for the normal law, 0.577 for the uniform
    ends = np.array([0, 2**64 - 1, 2**16 - 1, 2**63], dtype=np.uint64)
    assert nearly_normal(ends).tolist() == [-262139.0, 262141.0, -131069.0, -196603.0]


def test_the_rows_of_a_seed_stay_the_same_for_ever():
    assert nearly_normal(bits(0, ROWS, 0, 4)).tolist() == [-15393.0, -42537.0, -136047.0, 81625.0]
    (clean,) = Separable(16, width=4).batches()
    (noisy,) = Noisy(16, width=4, noise=0.5).batches()
    (sparse,) = Separable(3, width=9, nonzeros=3).batches()
    assert "".join("+" if y == 1 else "-" for y in clean.y) == "--+-+---+++-+++-"
    assert "".join("+" if y == 1 else "-" for y in noisy.y) == "+++++-+-+-+++-+-"
    assert sparse.x.indices.tolist() == [0, 3, 5, 0, 2, 4, 0, 3, 6]
    assert clean.x[0] == pytest.approx([-0.09330330297113, -0.25783424923556, -0.82463681279240, 0.49476269115952])


@pytest.mark.parametrize("stream", STREAMS, ids=NAMES)
def test_stream_describes_itself(stream):
    sparse = "nonzeros" in stream.name
    assert stream.domain == Domain("vector", 300 if sparse else 5)
    assert stream.labels == Labels()
    assert stream.rereadable
    assert len(stream) == stream.rows == 9_000
    at = 0
    for batch in stream.batches():
        assert batch.first == at + 1
        at += len(batch)
        assert batch.end == {"row": at}
        assert batch.y.dtype == np.int8
        assert set(batch.y.tolist()) == {-1, 1}
        assert len(batch.x) == len(batch.y)
        if sparse:
            x = batch.x
            assert (x.indptr.dtype, x.indices.dtype, x.values.dtype) == (np.uint64, np.uint32, np.float64)
            assert x.width == 300
            assert x.indptr.tolist() == [7 * t for t in range(len(x) + 1)]
            assert len(x.indices) == len(x.values) == 7 * len(x)
        else:
            assert batch.x.dtype == np.float64
            assert batch.x.shape == (len(batch), 5)
            assert batch.x.flags.c_contiguous
    assert at == 9_000


@pytest.mark.parametrize("stream", STREAMS, ids=NAMES)
def test_reading_may_begin_anywhere_and_again(stream):
    whole = rows(stream)
    assert rows(stream) == whole
    for start in (699, 4_095, 4_096, 4_097, 8_999, 9_000):
        assert rows(stream, {"row": start}) == whole[start:]


@pytest.mark.parametrize("kind", [Separable, Noisy, Drifting])
@pytest.mark.parametrize("nonzeros", [None, 3])
def test_a_shorter_stream_is_the_beginning_of_a_longer_one(kind, nonzeros):
    longer = rows(kind(5_000, 30, seed=8, nonzeros=nonzeros))
    assert rows(kind(4_500, 30, seed=8, nonzeros=nonzeros)) == longer[:4_500]
    assert rows(kind(10, 30, seed=8, nonzeros=nonzeros)) == longer[:10]


def test_seeds_blocks_and_purposes_have_different_bits():
    drawn = {
        tuple(bits(seed, purpose, block, 2).tolist())
        for seed, purpose, block in itertools.product([0, 1, 2**40], range(3), range(3))
    }
    assert len(drawn) == 27
    assert rows(Separable(50, seed=1)) != rows(Separable(50, seed=2))
    assert len({tuple(Separable(1, 64, seed=seed).target) for seed in range(20)}) == 20
    found = [tuple(x) for x, _ in rows(Separable(9_000, width=3))]
    assert len(set(found)) == 9_000


def test_memory_does_not_grow_with_the_rounds_nor_with_where_reading_begins():
    stream = Separable(10**15, width=20)
    assert rows(stream, {"row": 10**15 - 3}) == rows(Separable(10**15, width=20), {"row": 10**15 - 3})
    tracemalloc.start()
    for batch in itertools.islice(stream.batches({"row": 10**14}), 3):
        assert len(batch) > 0
    few = tracemalloc.get_traced_memory()[1]
    for _ in itertools.islice(stream.batches(), 30):
        pass
    many = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert many < 1.2 * few < 50e6


def test_wide_rows_come_in_small_blocks():
    batch = next(Separable(10_000, width=100_000, margin=0.01).batches())
    assert batch.x.shape == (2, 100_000)
    batch = next(Separable(10_000, width=300_000, margin=0.01).batches())
    assert batch.x.shape == (1, 300_000)


@given(shapes, st.integers(0, 100))
def test_sparse_rows_have_distinct_sorted_features(shape, seed):
    width, nonzeros = shape
    if nonzeros is None:
        nonzeros = width
    for x, _ in rows(Separable(20, width, 0.01, seed, nonzeros)):
        where = [i for i, _ in x]
        assert len(where) == nonzeros
        assert where == sorted(set(where))
        assert where[0] >= 0
        assert where[-1] < width
        assert all(value != 0.0 for _, value in x)


def test_sparse_features_are_as_frequent_as_words():
    stream = Separable(20_000, width=1000, nonzeros=20)
    counts = np.zeros(1000)
    for batch in stream.batches():
        counts += np.bincount(batch.x.indices, minlength=1000)
    assert counts[0] == 20_000
    assert counts.min() > 0  # every feature comes
    for low, high in [(10, 20), (50, 100), (200, 400), (500, 1000)]:
        expected = sum(20_000 / (i + 1) for i in range(low, high)) * 20 / np.log(1000)
        assert 0.4 < counts[low:high].sum() / expected < 2.5


def test_all_non_zeros_are_a_dense_row():
    sparse, dense = Separable(50, 12, 0.3, 4, nonzeros=12), Separable(50, 12, 0.3, 4)
    assert np.array_equal(sparse.target, dense.target)
    assert np.allclose(np.abs(dense.target), 12**-0.5)
    assert rows(sparse) == rows(dense)


@given(shapes, st.floats(0.05, 1.0), st.integers(0, 1000))
def test_the_perceptron_keeps_novikoffs_bound(shape, share, seed):
    width, nonzeros = shape
    margin = share * attainable(width, nonzeros)
    ledger = play(PlainPerceptron(width), Separable(300, width, margin, seed, nonzeros))
    assert ledger.rounds == 300
    assert ledger.mistakes <= 1.0 / margin**2


def test_a_game_that_stops_and_resumes_is_the_whole_game():
    stream = Separable(9_000, width=10, margin=0.05)
    straight = play(PlainPerceptron(10), stream, record=True)
    learner = PlainPerceptron(10)
    ledger = Ledger(learner, source=stream.name)
    for batch in stream.batches():
        play(learner, stream, rounds=len(batch), record=True, ledger=ledger, resume=True)
    assert ledger.recorded().tolist() == straight.recorded().tolist()
    assert ledger.mistakes == straight.mistakes > 5


def test_noise_flips_labels_and_leaves_the_examples():
    clean = rows(Separable(20_000, width=6, seed=5))
    noisy = rows(Noisy(20_000, width=6, seed=5, noise=0.1))
    assert [x for x, _ in noisy] == [x for x, _ in clean]
    flipped = [a != b for (_, a), (_, b) in zip(noisy, clean, strict=True)]
    assert abs(sum(flipped) - 2_000) < 5 * (20_000 * 0.1 * 0.9) ** 0.5
    assert abs(sum(flipped[:4096]) - sum(flipped[4096:8192])) < 6 * (2 * 4096 * 0.09) ** 0.5
    assert flipped[:4096] != flipped[4096:8192]  # each block has its own coins
    assert np.array_equal(Noisy(width=6, seed=5).target, Separable(width=6, seed=5).target)


def test_noise_may_be_zero_or_one():
    clean = rows(Separable(500, nonzeros=20))
    assert rows(Noisy(500, nonzeros=20, noise=0.0)) == clean
    assert rows(Noisy(500, nonzeros=20, noise=1.0)) == [(x, -y) for x, y in clean]


@pytest.mark.parametrize("nonzeros", [None, 9])
@pytest.mark.parametrize("every", [1, 37, 4_096])
def test_a_drifting_row_keeps_the_margin_to_the_target_of_its_round(nonzeros, every):
    stream = Drifting(4_200, width=40, margin=0.15, seed=2, nonzeros=nonzeros, every=every)
    found = rows(stream)
    for t in (*range(1, 120), *range(4_090, 4_201)):
        (gain,) = margins(stream.target_at(t), [found[t - 1]])
        assert gain >= Fraction(0.15)
    assert min(margins(stream.target, found[every : every + 100])) < 0.15  # the first target is soon wrong


def test_the_target_turns_by_a_tenth_and_returns():
    stream = Drifting(width=40, every=100)
    at = [stream.target_at(1 + 100 * turn) for turn in range(21)]
    assert np.array_equal(at[0], stream.target)
    assert np.array_equal(stream.target_at(100), at[0])
    assert [round(float(at[0] @ at[turn]), 9) for turn in (0, 1, 5, 10)] == [1.0, 0.8, 0.0, -1.0]
    assert [round(float(a @ b), 9) for a, b in itertools.pairwise(at)] == [0.8] * 20
    assert np.array_equal(at[10], -at[0])
    assert np.array_equal(at[20], at[0])


def test_a_narrow_target_turns_by_one_feature_at_a_time():
    stream = Drifting(width=3, every=5)
    signs = [np.sign(stream.target_at(t) / stream.target).tolist() for t in (5, 6, 11, 16, 21)]
    assert signs == [[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1], [1, -1, -1]]


def test_drifting_before_its_first_turn_is_separable():
    assert rows(Drifting(5_000, seed=9, every=5_000)) == rows(Separable(5_000, seed=9))
    drifted = rows(Drifting(5_000, seed=9, every=4_000))
    assert drifted[:4_000] == rows(Separable(4_000, seed=9))
    assert drifted[4_000:] != rows(Separable(5_000, seed=9))[4_000:]


def until_right(x, y, seed):
    """The Perceptron's mistakes on random passes over a set, until it gets all of it right."""
    w, mistakes, generator = np.zeros(x.shape[1]), 0, np.random.default_rng(seed)
    while True:
        before = mistakes
        for i in generator.permutation(len(y)):
            if (1 if w @ x[i] >= 0.0 else -1) != y[i]:
                w += y[i] * x[i]
                mistakes += 1
        if mistakes == before:
            return mistakes


@pytest.mark.parametrize(
    ("width", "margin", "examples"), [(20, 0.1, 1000), (20, 0.1, 200), (20, 0.03, 200), (3, 0.05, 200), (100, 0.1, 200)]
)
def test_the_hard_order_costs_more_mistakes_than_random_ones(width, margin, examples):
    hard = easy = 0
    for seed in range(3):
        stream = HardOrder(width=width, margin=margin, seed=seed, examples=examples)
        mistakes = play(PlainPerceptron(width), stream, rounds=len(stream.order) + 1).mistakes
        assert mistakes == len(stream.order) <= 1.0 / margin**2
        random = [until_right(stream.x, stream.y, shuffle) for shuffle in range(3)]
        assert mistakes >= max(random)
        hard, easy = hard + 3 * mistakes, easy + sum(random)
    assert hard > 1.25 * easy


def test_the_hard_order_comes_near_novikoffs_bound():
    assert all(len(HardOrder(seed=seed).order) >= 95 for seed in range(5))  # of 100


@pytest.mark.parametrize("reverse", [False, True])
def test_every_perceptron_errs_on_the_whole_hard_order_and_never_after(reverse):
    stream = HardOrder(5_000, width=7, margin=0.05, examples=300)
    hard = len(stream.order)
    ledger = play(PlainPerceptron(7, reverse), stream, record=True)
    shown = np.concatenate([batch.y for batch in stream.batches()])
    assert np.flatnonzero(ledger.recorded() != shown).tolist() == list(range(hard))
    assert 50 < hard < 400
    x = np.concatenate([batch.x for batch in stream.batches()])
    assert np.array_equal(x[hard : hard + 300], stream.x)  # then the set in turn
    assert np.array_equal(x[hard + 300 : hard + 600], stream.x)
    assert {tuple(row) for row in x.tolist()} == {tuple(row) for row in stream.x.tolist()}


@given(st.integers(3, 40), st.floats(1e-6, 0.99), st.integers(0, 1000))
def test_the_set_of_the_hard_order_keeps_the_margin_on_its_grid(width, margin, seed):
    stream = HardOrder(40, width, margin, seed, examples=20)
    found = rows(stream)
    assert min(margins(stream.target, found)) >= Fraction(margin)
    assert max(squared(value for _, value in x) for x, _ in found) <= 1
    assert np.array_equal(np.floor(stream.x * 2.0**20), stream.x * 2.0**20)
    assert len(stream.order) <= min(40, 1.0 / margin**2)


def test_the_hard_order_stops_at_its_rounds():
    stream = HardOrder(10)
    assert len(stream.order) == len(rows(stream)) == 10
    assert np.array_equal(stream.order, HardOrder(500).order[:10])


def test_stream_name_recreates_the_stream():
    assert NAMES[0] == "separable:rounds=9000,width=5,margin=0.1,seed=0"
    assert NAMES[3] == "noisy:rounds=9000,width=300,margin=0.1,seed=0,nonzeros=7,noise=0.1"
    assert NAMES[4] == "drifting:rounds=9000,width=5,margin=0.1,seed=0,every=700"
    assert NAMES[6] == "hard-order:rounds=9000,width=5,margin=0.1,seed=0,examples=50"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Separable(0), "rounds must be an integer from 1 to .*: got 0"),
        (lambda: Separable(1.5), "rounds must be an integer from 1 to .*: got 1.5"),
        (lambda: Separable(True), "rounds must be an integer from 1 to .*: got True"),
        (lambda: Noisy(0), "rounds must be"),
        (lambda: Drifting(0), "rounds must be"),
        (lambda: HardOrder(0), "rounds must be"),
        (lambda: Separable(width=1), "width must be an integer from 2 to 268,435,456: got 1"),
        (lambda: HardOrder(width=2), "width must be an integer from 3 to 268,435,456: got 2"),
        (lambda: HardOrder(examples=0), "examples must be"),
        (lambda: Separable(seed=-1), "seed must be an integer from 0"),
        (lambda: HardOrder(seed=-1), "seed must be an integer from 0"),
        (lambda: Separable(nonzeros=0), "nonzeros must be an integer from 1 to 20: got 0"),
        (lambda: Separable(nonzeros=21), "nonzeros must be an integer from 1 to 20: got 21"),
        (lambda: Drifting(every=0), "every must be an integer from 1"),
        (lambda: Drifting().target_at(0), "t must be an integer from 1"),
        (lambda: Noisy(noise=-0.1), "noise must be a probability from 0 to 1: got -0.1"),
        (lambda: Noisy(noise=1.1), "noise must be a probability from 0 to 1: got 1.1"),
        (lambda: Noisy(noise=float("nan")), "noise must be a probability from 0 to 1: got nan"),
        (lambda: Separable(margin=0.0), "margin must be above 0 and at most 0.999999998 .*: got 0.0"),
        (lambda: Separable(margin=-0.1), "margin must be above 0"),
        (lambda: Separable(margin=1.0), "margin must be above 0 and at most 0.999999998 .*: got 1.0"),
        (lambda: Separable(margin=float("nan")), "margin must be above 0"),
        (lambda: HardOrder(margin=1.0), "margin must be above 0 and at most 0.99999"),
        (lambda: HardOrder(margin=0.0), "margin must be above 0"),
        (lambda: Separable(width=1000, nonzeros=1), "at most 0.0316227765. .*: got 0.1. Use a smaller margin"),
    ],
)
def test_impossible_arguments_are_refused(make, message):
    with pytest.raises(SourceError, match=message):
        make()


@pytest.mark.parametrize(("width", "nonzeros"), [(2, None), (20, None), (47_000, 70), (1000, 1), (9, 9), (2, 1)])
def test_the_largest_margin_named_can_be_had(width, nonzeros):
    most = attainable(width, nonzeros)
    if nonzeros is None:
        assert LARGEST_SHARE - 2e-9 < most < 1.0
    stream = Separable(20, width, most, nonzeros=nonzeros)
    assert min(margins(stream.target, rows(stream))) >= Fraction(most)
    with pytest.raises(SourceError):
        Separable(20, width, most * (1 + 1e-8), nonzeros=nonzeros)


def test_the_largest_margin_of_the_hard_order_can_be_had():
    with pytest.raises(SourceError) as error:
        HardOrder(width=50, margin=1.0)
    most = float(re.search(r"at most (\S+) for", str(error.value))[1])
    stream = HardOrder(20, width=50, margin=most, examples=10)
    assert min(margins(stream.target, rows(stream))) >= Fraction(most)
