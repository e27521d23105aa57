"""Streams in hindsight: rows that do not fit in memory, zero rows, single rows, and sources that change."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import some
from novikoff.comparators.blocks import Blocks
from novikoff.comparators.hindsight import CHANGED, OTHERS, hindsight, joined
from novikoff.comparators.rereading import Reading, read
from novikoff.core.errors import InputError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Labels, Run, Sparse
from novikoff.data.arrays import Arrays
from novikoff.data.convert import convert
from novikoff.data.formats.svmlight import Svmlight
from novikoff.data.memory import Pairs
from novikoff.data.tables.table_formats import Arrow
from novikoff.game.play import play
from novikoff.linear.ellipsoid import Ellipsoid
from novikoff.linear.perceptron import Perceptron
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths
from novikoff.linear.theorems.perceptron_margin import perceptron_margin
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge

THEOREMS = (perceptron_hinge, perceptron_margin, perceptron_squared_hinge, perceptron_lengths)


def certified(learner, stream, passes=1, rounds=None, **options):
    before = learner.facts()
    start = np.append(learner.weights, learner.bias_weight) if learner.updates else None
    ledger = play(learner, stream, passes=passes, rounds=rounds)
    watched = ledger.tracker.facts(learner)
    found = hindsight(stream, learner.bias, learner.normalize, passes, start, rounds=rounds, **options)
    facts = dataclasses.replace(found.facts, mistakes=watched.mistakes, unexplained=watched.unexplained)
    run = Run(before, learner.facts(), ledger.rounds, ledger.mistakes, 0.0, (0, 0), False, True, facts)
    return found, [theorem(run) for theorem in THEOREMS]


def noisy(rows=600, width=6, seed=0, noise=3.0, whole=False):
    coins = np.random.default_rng(seed)
    x = coins.integers(-4, 5, (rows, width)).astype(float) if whole else coins.normal(size=(rows, width))
    y = np.where(x @ np.arange(1, width + 1) + noise * coins.normal(size=rows) > 0, 1, -1)
    return x, y


class Changing(Stream):
    """Rows that a function may change before each pass."""

    name, domain, labels, rereadable = "changing", Domain("vector"), Labels(), True

    def __init__(self, x, y, change):
        self.x, self.y, self.change, self.passes = x.copy(), y.astype(np.int8), change, 0

    def batches(self, start=None):
        self.passes += 1
        self.change(self)
        yield Batch(self.x, self.y, 1)


@some(2, memory=[2_000, 9_000], form=["dense", "sparse"], noise=[0.0, 3.0])
def test_rows_that_do_not_fit_in_memory_are_as_sound_and_about_as_good(noise, form, memory, tmp_path):
    x, y = noisy(noise=noise)
    stream = Arrays(x, y)
    if form == "sparse":
        path = tmp_path / "rows.svm"
        lines = [
            f"{label} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(row.tolist()))
            for row, label in zip(x, y, strict=True)
        ]
        path.write_text("\n".join(lines))
        stream = Svmlight(str(path), chunk=3_000)
    inside, held = certified(Perceptron(0.5), stream)
    outside, read_again = certified(Perceptron(0.5), stream, memory=memory)
    assert (inside.in_memory, outside.in_memory) == (True, False)
    assert inside.reads <= 3
    assert outside.reads > 3
    assert [c.observed for c in held] == [c.observed for c in read_again]
    assert all(c.status in ("valid", "void", "vacuous") for c in (*held, *read_again))
    assert outside.hinge.low <= inside.hinge.high * (1 + 1e-9)
    assert inside.hinge.low <= outside.hinge.high * (1 + 1e-9)
    assert outside.hinge.high == pytest.approx(inside.hinge.high, rel=0.03)
    assert outside.lengths.high == pytest.approx(inside.lengths.high, rel=0.03)
    assert outside.lengths.low <= inside.lengths.high * (1 + 1e-9)
    assert inside.lengths.low <= outside.lengths.high * (1 + 1e-9)
    assert outside.squared_hinge.high == pytest.approx(inside.squared_hinge.high, rel=0.03)
    assert outside.facts.square == inside.facts.square


@given(
    st.lists(st.tuples(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.sampled_from([-1, 1])), min_size=1,
             max_size=20),
    st.integers(1, 400),
    st.sampled_from([0.0, 1.0]),
)  # fmt: skip
def test_for_any_memory_the_certificates_hold(stream, memory, bias):
    """Also with less than a row has."""
    rows, labels = [x for x, _ in stream], [y for _, y in stream]
    source = Pairs([(np.array(x, dtype=np.float64), y) for x, y in zip(rows, labels, strict=True)])
    _, certificates = certified(Perceptron(bias), source, memory=memory)
    assert all(c.status in ("valid", "void", "vacuous") for c in certificates)


def test_blocks_have_the_rows_of_the_stream():
    x, y = noisy(200)
    x[3], x[9], y[3], y[9] = 0.0, 0.0, 1, -1  # one is left out
    stream = Arrays(x, y)
    whole = Blocks(stream, 0.25, False)
    u = np.random.default_rng(0).normal(size=7)
    expected = y * (x @ u[1:] + 0.25 * u[0]) * whole.unit
    np.testing.assert_allclose(whole.margins(u), expected, rtol=1e-5, atol=1e-6)
    parts = Blocks(stream, 0.25, False, memory=3_000)
    assert not parts.fits
    assert [block.first for block in parts.each()] == sorted({block.first for block in parts.each()})
    assert sum(len(block) for block in parts.each()) == 200
    np.testing.assert_array_equal(parts.margins(u), whole.margins(u))
    for one, other in zip(parts.combined(expected), whole.combined(expected), strict=True):
        np.testing.assert_allclose(one, other)
    assert (Blocks(stream, 0.0, False).rows, Blocks(stream, 0.0, False).reading.left_out) == (199, 1)
    lengths = [float(np.sum(block.square)) for block in Blocks(stream, 0.0, True).each()]
    assert sum(lengths) == pytest.approx(198 * Blocks(stream, 0.0, True).unit ** 2)


def test_a_zero_row_labelled_plus_costs_nothing():
    rows, labels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), np.array([1, -1, 1, -1])
    for form in (Arrays(rows, labels), Pairs(list(zip(rows, labels.tolist(), strict=True)))):
        found, (hinge, margin, squared, lengths) = certified(Perceptron(), form)
        assert found.facts.rows == 4
        assert hinge.observed == hinge.bound == margin.bound == squared.bound == lengths.bound == 2
        assert found.margin.low <= 0.5**0.5 <= found.margin.high


def test_a_zero_row_labelled_minus_leaves_no_margin():
    rows, labels = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]] * 3), np.array([-1, 1, 1, 1] * 3)
    found, (hinge, margin, _, lengths) = certified(Perceptron(), Arrays(rows, labels))
    assert margin.status == "void"
    assert (found.margin.low, found.margin.high) == (0.0, 0.0)
    assert hinge.observed == 3
    assert 3 <= hinge.bound < 12
    assert 3 <= lengths.bound < 12
    with_bias, (_, margin, *_) = certified(Perceptron(1.0), Arrays(rows, labels))
    assert with_bias.margin.low > 0.0
    assert margin.status in ("valid", "vacuous")


@pytest.mark.parametrize("label", [1, -1])
def test_nothing_but_zero_rows(label):
    found, (hinge, _, squared, lengths) = certified(Perceptron(), Arrays(np.zeros((5, 2)), np.full(5, label)))
    assert hinge.observed == hinge.bound == squared.bound == (0 if label == 1 else 5)
    assert lengths.observed == lengths.bound
    assert found.hinge.low == found.hinge.high == found.lengths.low == found.lengths.high


def test_a_source_that_changes_before_the_last_reading_is_void():
    x, y = noisy(50)
    changes = {
        "a value": lambda s: s.x.__setitem__((7, 2), 5.0),
        "a label": lambda s: s.y.__setitem__(7, -s.y[7]),
        "a row": lambda s: (setattr(s, "x", s.x[:-1]), setattr(s, "y", s.y[:-1])),
    }
    for change in changes.values():
        stream = Changing(x, y, lambda s, change=change: change(s) if s.passes == 3 else None)
        found, certificates = certified(Perceptron(), stream)
        assert found.facts.invalid_reason == CHANGED
        assert all(c.status == "void" for c in certificates)
        assert all(CHANGED in c.reason for c in certificates)
    still, certificates = certified(Perceptron(), Changing(x, y, lambda s: None))
    assert still.facts.invalid_reason == ""
    assert certificates[0].status != "void"


@pytest.mark.parametrize("memory", [10**8, 1_500])
@pytest.mark.parametrize("which", [3, 4, 5])
def test_a_source_that_grows_between_two_passes_is_void(memory, which):
    """Longer, wider, or both: no array is overrun."""
    x, y = noisy(100)

    def longer(s):
        s.x, s.y = np.vstack([s.x, s.x]), np.concatenate([s.y, s.y])

    def wider(s):
        s.x = np.hstack([s.x, np.ones((len(s.x), 5000))])

    for change in (longer, wider):
        stream = Changing(x, y, lambda s, change=change: change(s) if s.passes == which else None)
        play(Perceptron(), stream, track=False)
        found = hindsight(stream, memory=memory)
        assert found.facts.invalid_reason == (CHANGED if which == 3 or memory == 1_500 else "")


def test_a_file_that_changed_since_the_game_is_void(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n-1 2:1\n" * 20)
    stream = Svmlight(str(path))
    ledger = play(Perceptron(), stream, track=False)
    assert ledger.fingerprint
    assert hindsight(Svmlight(str(path)), played=ledger.fingerprint).facts.invalid_reason == ""
    path.write_text("1 1:3\n-1 2:1\n" * 21)
    assert hindsight(Svmlight(str(path)), played=ledger.fingerprint).facts.invalid_reason == CHANGED


def test_a_file_and_its_conversion_give_the_same_comparators(tmp_path):
    text, arrow = tmp_path / "rows.svm", tmp_path / "rows.arrow"
    x, y = noisy(300, whole=True)
    text.write_text(
        "\n".join(
            f"{label} " + " ".join(f"{i}:{v:g}" for i, v in enumerate(row)) for row, label in zip(x, y, strict=True)
        )
    )
    convert(Svmlight(str(text)), arrow)
    first, second = hindsight(Svmlight(str(text))), hindsight(Arrow(str(arrow)))
    assert first.facts == second.facts


def test_named_features_and_pairs_are_read_as_the_learner_reads_them():
    coins = np.random.default_rng(2)
    names = [f"word{i}" for i in range(12)]
    pairs = []
    for _ in range(80):
        chosen = coins.choice(12, size=4, replace=False)
        values = coins.integers(1, 4, size=4)
        label = 1 if values[chosen < 6].sum() + coins.normal() > values[chosen >= 6].sum() else -1
        pairs.append(({names[i]: float(v) for i, v in zip(chosen, values, strict=True)}, label))
    learner = Perceptron(1.0)
    _, certificates = certified(learner, Pairs(pairs))
    assert all(c.status in ("valid", "vacuous", "void") for c in certificates)
    again, (hinge, *_) = certified(learner, Pairs(pairs), names=learner.features.names)
    assert hinge.status in ("valid", "vacuous")
    assert again.facts.start_square > 0


def test_single_numbers_sparse_rows_and_a_mixture_are_put_together():
    pair = (np.array([4, 1]), np.array([1.0, 2.0]))
    parts = list(read(Pairs([({3: 1.0}, 1), (pair, -1), ({}, -1)]), 0.0))
    assert len(parts) == 1
    x, y = parts[0]
    assert isinstance(x, Sparse)
    assert (x.indices.tolist(), x.indptr.tolist(), y.tolist()) == ([3, 4, 1], [0, 1, 3, 3], [1, -1, -1])
    mixed = list(read(Pairs([({3: 1.0}, 1), (np.ones(2), -1), (np.ones(2), 1)]), 0.0))
    assert [len(y) for _, y in mixed] == [1, 2]


def test_only_the_rounds_that_were_played_are_read():
    x, y = noisy(300)
    found, certificates = certified(Perceptron(), Arrays(x, y), rounds=120)
    assert found.facts.rows == 120
    assert found.facts.comparators == hindsight(Arrays(x[:120], y[:120])).facts.comparators
    assert all(c.status != "violated" for c in certificates)
    for stream in (Arrays(x, y), Pairs(list(zip(x, y.tolist(), strict=True)))):  # in one batch, and in 300
        reading = Reading()
        assert sum(len(labels) for _, labels in read(stream, 0.0, 120, None, reading)) == reading.rows == 120


def test_rounds_that_were_not_read_void_the_certificate():
    x, y = noisy(300)
    learner = Perceptron()
    before = learner.facts()
    ledger = play(learner, Arrays(x, y), track=False)
    facts = hindsight(Arrays(x, y), rounds=299).facts
    run = Run(before, learner.facts(), ledger.rounds, ledger.mistakes, 0.0, (0, 0), False, True, facts)
    assert all(theorem(run).status == "void" for theorem in THEOREMS)
    facts = dataclasses.replace(hindsight(Arrays(x, y)).facts, bias=1.0)
    run = dataclasses.replace(run, tracked=facts)
    assert all(theorem(run).status == "void" for theorem in THEOREMS)


def test_weights_too_large_at_the_start_are_invalid():
    assert "start" in hindsight(Arrays(*noisy(50)), start=np.full(7, 1e200)).facts.invalid_reason


def test_many_labels_are_refused():
    with pytest.raises(InputError, match="-1 or \\+1"):
        hindsight(Arrays(np.eye(3), np.array([0, 1, 2])))


@pytest.mark.parametrize("later", [1e8, 1e100, 2.0**449])
@pytest.mark.parametrize("first", [1.0, 2.0**-440])
def test_rows_that_come_later_may_be_much_longer(first, later):
    """The units of the search are those of the longest row, wherever it is."""
    x, y = np.array([[first, 0.0], [0.0, first], [later, 0.0], [0.0, later]]), np.array([1, -1, 1, -1])
    pairs = Pairs([(row, label) for row, label in zip(x, y.tolist(), strict=True)] * 2)

    class OneByOne(Changing):
        def batches(self, start=None):
            for t in range(8):
                yield Batch(self.x[t : t + 1], self.y[t : t + 1], t + 1)

    for stream in (OneByOne(np.vstack([x, x]), np.concatenate([y, y]), None), pairs):
        found, certificates = certified(Perceptron(), stream)
        assert found.facts.invalid_reason == ""
        assert all(c.status in ("valid", "void", "vacuous") for c in certificates)
        assert found.hinge.low <= found.hinge.high <= 8.0
    blocks = Blocks(OneByOne(np.vstack([x, x]), np.concatenate([y, y]), None), 0.0, False)
    assert 0.2 <= blocks.longest <= 1.0
    assert (blocks.rows, blocks.reading.rows) == (8, 8)


@pytest.mark.parametrize("learner", [Perceptron(), Ellipsoid(bias=1.0)])
def test_dense_rows_with_zeros_are_joined_with_the_comparators_that_watched_the_game(learner):
    """Those keep the first rows without their zeros, so they count fewer non-zeros."""
    coins = np.random.default_rng(0)
    x = np.eye(8)[coins.integers(0, 8, 300)] + 0.5 * np.eye(8)[coins.integers(0, 8, 300)]
    y = np.where(x @ coins.normal(size=8) > 0, 1, -1)
    ledger = play(learner, Arrays(x, y), hindsight=True)
    tracked, found = ledger.tracker.facts(), ledger.hindsight.facts
    assert tracked.nonzeros < found.nonzeros
    both = joined(tracked, found)
    assert len(both.comparators) == len(tracked.comparators) + len(found.comparators)
    assert both.nonzeros == found.nonzeros
    assert all(c.status != "violated" for c in ledger.certify())


def again(ledger, stream, **options):
    """What look-back finds, told what the comparators that watched the game saw."""
    return hindsight(stream, ledger.tracker.bias, ledger.tracker.normalize, ledger.passes, ledger.tracker.start,
                     tracked=ledger.tracker.facts(), **options)  # fmt: skip


def one_hot(seed, noise):
    coins = np.random.default_rng(seed)
    places = coins.integers(0, 8, 200)
    y = np.where(places % 2 == 0, 1, -1) * np.where(coins.random(200) < noise, -1, 1)
    return Arrays(np.eye(8)[places], y)


def test_a_game_on_two_sources_is_not_certified_by_one_of_them():
    """As many rounds, of the same lengths: only the losses tell. One is noise, the other separable."""
    learner, noise, clean = Perceptron(), one_hot(0, 0.5), one_hot(1, 0.0)
    ledger = play(learner, noise)
    play(learner, clean, ledger=ledger)
    assert (ledger.passes, ledger.rounds) == (2, 400)
    unchecked = joined(ledger.tracker.facts(), hindsight(clean, passes=2).facts)
    run = Run(ledger.before, learner.facts(), 400, ledger.mistakes, 0.0, (0, 0), False, True, unchecked)
    assert perceptron_margin(run).status == "violated"
    found = again(ledger, clean)
    assert found.facts.invalid_reason == OTHERS
    ledger.hindsight = found
    assert all(c.status != "violated" for c in ledger.certify())


def test_a_last_pass_that_was_broken_off_is_not_looked_back_on():
    stream = one_hot(0, 0.2)
    ledger = play(Perceptron(), stream, passes=2, rounds=300)
    assert again(ledger, stream).facts.invalid_reason == OTHERS


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("kind", ["whole", "floats", "whole at first", "normalized", "names", "sparse", "warm"])
def test_comparators_that_watched_the_game_see_the_same_again(passes, kind):
    x, y = noisy(700, whole=kind in ("whole", "names", "whole at first", "warm"))
    x[coins_below(x.shape, 0.3)] = 0.0
    x[5], y[5], x[6], y[6] = 0.0, 1, 0.0, -1  # zero rows: one is left out
    if kind == "whole at first":
        x[400:] += 0.25
    stream = Arrays(x, y)
    if kind == "names":
        stream = Pairs(
            [({f"n{k}": v for k, v in enumerate(row) if v}, int(label)) for row, label in zip(x, y, strict=True)]
        )
    if kind == "sparse":
        stream = Pairs([((np.flatnonzero(row), row[row != 0.0]), int(label)) for row, label in zip(x, y, strict=True)])
    learner = Perceptron(normalize=kind == "normalized")
    if kind == "warm":
        learner.learn_one(np.arange(6.0), -1)
    ledger = play(learner, stream, passes=passes)
    names = learner.features.names
    found = again(ledger, stream, names=names)
    assert found.facts.invalid_reason == ""
    both = joined(ledger.tracker.facts(), found.facts)
    assert len(both.comparators) > len(ledger.tracker.facts().comparators)


def coins_below(shape, chance):
    return np.random.default_rng(9).random(shape) < chance
