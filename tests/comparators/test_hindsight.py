"""Comparators in hindsight: sound on any stream, against fractions; close to the best, against known answers."""

import dataclasses
import math
import os
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import novikoff as nk
from helpers import Sent, sparse
from novikoff.comparators import hindsight as module
from novikoff.comparators.hindsight import hindsight, joined
from novikoff.comparators.search import Found
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Domain, Labels, Run
from novikoff.data.formats.svmlight import Svmlight
from novikoff.game.play import play
from novikoff.linear.perceptron import Perceptron
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths
from novikoff.linear.theorems.perceptron_margin import perceptron_margin
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge

THEOREMS = (perceptron_hinge, perceptron_margin, perceptron_squared_hinge, perceptron_lengths)
MUSHROOMS = Path(os.environ.get("NOVIKOFF_DATA", "data")) / "mushroom_agaricus" / "agaricus.txt.train"
WILD = [0.0, 1.0, -1.0, 0.1, 3.0, 1e16, -1e16, 1e-160, -3e-160, 5e-324, 1e150, 2.0**-449, 2.0**449]


class Rows:
    """Rows in memory as a stream, in batches of `size`."""

    name, domain, labels, rereadable = "rows", Domain("vector"), Labels(), True

    def __init__(self, x, y, form=np.asarray, size=5):
        self.x, self.y, self.size = form(np.asarray(x, dtype=np.float64)), np.array(y, dtype=np.int8), size

    def batches(self, start=None):
        for first in range(0, len(self.y), self.size):
            yield Batch(self.x[first : first + self.size], self.y[first : first + self.size], first + 1)


def certified(learner, stream, passes=1, rounds=None, **options):
    """The learner's game, what was found in hindsight, and the certificates."""
    before = learner.facts()
    start = np.append(learner.weights, learner.bias_weight) if learner.updates else None
    ledger = play(learner, stream, passes=passes, rounds=rounds)
    watched = ledger.tracker.facts(learner)
    found = hindsight(stream, learner.bias, learner.normalize, passes, start, rounds=rounds, **options)
    facts = dataclasses.replace(found.facts, mistakes=watched.mistakes, unexplained=watched.unexplained)
    run = Run(before, learner.facts(), ledger.rounds, ledger.mistakes, 0.0, (0, 0), False, True, facts)
    return found, [theorem(run) for theorem in THEOREMS]


def features(row, bias, normalize):
    """The x~ of a row: the very doubles that the learner computes with."""
    row = [float(value) for value in row]
    if normalize:
        total = 0.0
        for value in row:
            total += value * value
        scale = 1.0 / math.sqrt(total) if total > 0.0 else 0.0
        row = [value * scale for value in row]
    return [*row, float(bias)]


def dot(u, x):
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(u, x, strict=True)), Fraction(0))


def check(found, rows, labels, bias=0.0, normalize=False, passes=1, start=None):
    """Every comparator against fractions, outward; and the brackets are true."""
    facts = found.facts
    assert facts.rows == passes * len(rows)
    if facts.invalid_reason:
        assert [u.direction for u in facts.comparators] == [0]
        assert facts.penalized == ()
        return
    kept = [
        (features(row, bias, normalize), y)
        for row, y in zip(rows, labels, strict=True)
        if y == -1 or bias != 0.0 or any(row)
    ]
    squares = [dot(x, x) for x, _ in kept]
    longest = max(squares, default=Fraction(0))
    assert longest <= facts.square <= longest * (1 + Fraction(1, 2**40))
    width = len(rows[0])
    for k, direction in enumerate(found.directions, start=1):
        weights = [*direction[:-1].tolist(), *[0.0] * (width + 1 - len(direction)), direction[-1]]
        margins = [y * dot(weights, x) for x, y in kept]
        norm2, first = dot(weights, weights), Fraction(0) if start is None else dot(weights, start)
        mine = [u for u in (*facts.comparators, *facts.penalized) if u.direction == k]
        for u in mine[:: max(1, len(mine) // 8)]:
            kappa = getattr(u, "kappa", 0)
            losses = [max(0, 1 + kappa * x2 - m / Fraction(u.scale)) for m, x2 in zip(margins, squares, strict=True)]
            assert u.square >= norm2 / Fraction(u.scale) ** 2
            assert u.start <= first / Fraction(u.scale)
            assert (u.loss if kappa else u.hinge) >= passes * sum(losses)
            assert kappa or u.squared_hinge >= passes * sum(loss**2 for loss in losses)
    for bracket in (found.margin, found.hinge, found.squared_hinge, found.lengths):
        assert bracket is None or 0.0 <= bracket.low <= bracket.high


def streams(values, most=12, width=3):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, st.sampled_from([-1, 1])), min_size=1, max_size=most)


def split(stream):
    return [x for x, _ in stream], [y for _, y in stream]


forms = st.sampled_from([np.asarray, sparse])


@given(streams(st.integers(-4, 4)), st.sampled_from([0.0, 1.0]), st.integers(1, 3), forms)
@example([([-2, -4, -2], -1), ([3, 2, -1], -1), ([-3, 4, -4], 1)], 1.0, 1, np.asarray)  # one direction is very long
def test_integers_are_certified(stream, bias, passes, form):
    rows, labels = split(stream)
    found, certificates = certified(Perceptron(bias), Rows(rows, labels, form), passes)
    check(found, rows, labels, bias, passes=passes)
    assert all(c.status in ("valid", "vacuous", "void") for c in certificates)
    assert certificates[0].status != "void"
    assert certificates[3].status != "void"


@given(streams(st.floats(-100, 100)), st.sampled_from([0.0, 0.3]), st.booleans(), st.integers(1, 2), forms)
def test_floats_are_certified_outward(stream, bias, normalize, passes, form):
    rows, labels = split(stream)
    found, certificates = certified(Perceptron(bias, normalize), Rows(rows, labels, form), passes)
    check(found, rows, labels, bias, normalize, passes)
    assert all(c.status in ("valid", "vacuous", "void") for c in certificates)


@given(streams(st.sampled_from(WILD), most=6), forms)
def test_wild_floats_are_certified_outward_or_refused(stream, form):
    rows, labels = split(stream)
    found, certificates = certified(Perceptron(), Rows(rows, labels, form))
    check(found, rows, labels)
    assert all(c.status in ("valid", "vacuous", "void") for c in certificates)


@given(streams(st.integers(-3, 3)), streams(st.integers(-3, 3)), st.sampled_from([0.0, 1.0]), st.integers(1, 2))
def test_a_learner_that_had_learned_before_is_certified_by_hinge_losses(first, stream, bias, passes):
    learner = Perceptron(bias)
    for x, y in first:
        learner.learn_one(np.array(x, dtype=np.float64), y)
    assume(learner.updates)
    start = [*learner.weights.tolist(), learner.bias_weight]
    rows, labels = split(stream)
    found, (hinge, margin, squared, lengths) = certified(learner, Rows(rows, labels), passes)
    check(found, rows, labels, bias, passes=passes, start=start)
    assert hinge.status in ("valid", "vacuous")
    assert lengths.status in ("valid", "vacuous")
    if any(start):
        assert (margin.status, squared.status) == ("void", "void")
        assert found.margin is None


def test_orthogonal_examples_are_tight():
    found, (hinge, margin, squared, lengths) = certified(Perceptron(), Rows(np.eye(7), [-1] * 7))
    assert hinge.observed == hinge.bound == margin.bound == squared.bound == lengths.bound == 7
    assert found.margin.low <= 7**-0.5 <= found.margin.high


def test_four_examples_have_the_margin_computed_by_hand():
    rows, labels = [[2, 1], [-1, -2], [1, 3], [-2, 0]], [1, -1, 1, -1]
    found, (_, margin, _, _) = certified(Perceptron(), Rows(rows, labels))
    assert (margin.observed, margin.bound) == (1, 3)
    assert found.margin.low <= math.sqrt(16 / 5) <= found.margin.high
    assert 10 / found.margin.high**2 <= 3.125 <= 10 / found.margin.low**2
    assert found.margin.gap <= 0.01


def test_labels_that_alternate_leave_nothing_but_zero():
    found, (hinge, margin, *_) = certified(Perceptron(), Rows(np.ones((10, 1)), [1, -1] * 5))
    assert (hinge.observed, hinge.bound, hinge.status) == (9, 10, "vacuous")
    assert margin.status == "void"
    assert found.hinge.low >= 9.99
    assert (found.margin.low, found.hinge.high, found.lengths.high) == (0.0, 10.0, 10.0)


def widest_in_the_plane(rows, labels):
    """The largest margin of a unit vector in two dimensions: it is decided by one row or by two."""
    z = np.array(rows, dtype=np.float64) * np.array(labels)[:, None]
    candidates = [row for row in z if row @ row > 0]
    for a, b in product(z, z):
        side = a - b  # where both have one margin, the vector is orthogonal to their difference
        candidates += [np.array([-side[1], side[0]]), np.array([side[1], -side[0]])]
    units = [c / math.sqrt(c @ c) for c in candidates if c @ c > 0]
    return max((float((z @ u).min()) for u in units), default=0.0)


@given(streams(st.integers(-5, 5), most=8, width=2))
def test_the_bracket_holds_the_largest_margin(stream):
    rows, labels = split(stream)
    kept = [(x, y) for x, y in stream if any(x) or y == -1]
    assume(kept)
    widest = max(widest_in_the_plane(*split(kept)), 0.0)
    bracket = hindsight(Rows(rows, labels)).margin
    assert bracket.low <= widest * (1 + 1e-9)
    assert widest <= bracket.high * (1 + 1e-9)


@given(streams(st.integers(-5, 5), most=10, width=2), st.integers(0, 10**6), st.integers(1, 3))
def test_no_comparator_beats_the_limits(stream, seed, passes):
    rows, labels = split(stream)
    found = hindsight(Rows(rows, labels), passes=passes)
    z = np.array([[y * v for v in x] for x, y in stream if any(x) or y == -1], dtype=np.float64).reshape(-1, 2)
    r2 = float(np.max(np.sum(z * z, axis=1), initial=0.0))
    coins = np.random.default_rng(seed)
    for u in coins.normal(size=(200, 2)) * np.exp(coins.uniform(-4, 2, size=(200, 1))):
        losses = np.maximum(0.0, 1.0 - z @ u)
        d, q, a2 = passes * losses.sum(), passes * (losses**2).sum(), r2 * float(u @ u)
        assert d + a2 / 2 + math.sqrt(a2 * d + a2**2 / 4) >= found.hinge.low * (1 - 1e-9)
        assert (math.sqrt(a2) + math.sqrt(q)) ** 2 >= found.squared_hinge.low * (1 - 1e-9)


def noisy(rows=400, width=6, seed=0, noise=0.5):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.3] = 0.0
    y = np.where(x @ np.arange(1, width + 1) + noise * coins.normal(size=rows) > 0, 1, -1)
    return x, y


@pytest.mark.parametrize("noise", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("passes", [1, 4])
def test_the_bounds_are_within_the_gap_of_the_best(noise, passes):
    found = hindsight(Rows(*noisy(noise=noise), size=64), passes=passes)
    assert found.hinge.gap <= 0.01
    assert found.squared_hinge.gap <= 0.01
    assert found.lengths.gap <= 0.01
    if noise == 0.0:
        assert found.margin.gap <= 0.01 or found.margin.high**-2 * float(found.facts.square) >= found.facts.rows


@pytest.mark.parametrize("passes", [1, 3])
def test_the_limits_hold_with_weights_at_the_start(passes):
    x, y = noisy(noise=8.0)
    start = np.array([3.0, -2.0, 0.5, 0.0, 1.0, 9.0, 0.0])
    found = hindsight(Rows(x, y, size=64), passes=passes, start=start)
    assert found.hinge.gap <= 0.05
    z, r2, w2 = x * y[:, None], float(found.facts.square), float(start @ start)
    coins = np.random.default_rng(1)
    best = found.directions[1][:-1]
    for scale in np.exp(coins.uniform(-4, 2, size=300)):
        u = (best / np.linalg.norm(best) + 0.3 * coins.normal(size=6)) * scale
        loss = passes * np.maximum(0.0, 1.0 - z @ u).sum() - u @ start[:-1]
        a2, b2 = r2 * float(u @ u), w2 * float(u @ u)
        assert loss + a2 / 2 + math.sqrt(a2 * loss + a2**2 / 4 + b2) >= found.hinge.low


def test_hindsight_is_not_worse_than_comparators_that_watched_the_game():
    x, y = noisy(3_000, 20, noise=6.0)
    learner = Perceptron()
    ledger = play(learner, Rows(x, y, size=500))
    tracked = {c.theorem: c.bound for c in ledger.certify()}
    found, certificates = certified(Perceptron(), Rows(x, y, size=500))
    for certificate in certificates:
        assert certificate.status == "void" or certificate.bound <= tracked[certificate.theorem]
    both = joined(ledger.tracker.facts(), found.facts)
    assert len(both.comparators) == len(ledger.tracker.facts().comparators) + len(found.facts.comparators)
    assert joined(ledger.tracker.facts(), hindsight(Rows(x[1:], y[1:])).facts) == ledger.tracker.facts()


def test_dense_and_sparse_rows_agree():
    x, y = noisy()
    first, second = (hindsight(Rows(x, y, form, 64), bias=1.0) for form in (np.asarray, sparse))
    assert first.hinge.high == pytest.approx(second.hinge.high, rel=1e-3)
    assert first.lengths.high == pytest.approx(second.lengths.high, rel=1e-3)
    assert float(first.facts.square) == pytest.approx(float(second.facts.square))


def test_the_same_stream_gives_the_same_comparators():
    x, y = noisy()
    first, second = (hindsight(Rows(x, y, size=size)) for size in (400, 7))
    assert first.facts == second.facts
    assert (first.hinge, first.margin, first.lengths) == (second.hinge, second.margin, second.lengths)


@pytest.mark.parametrize("lie", [0.0, 1e-3, 1e9])
def test_certificates_do_not_rely_on_the_search(monkeypatch, lie):
    """A search that returns any u, with any bound, alpha and limit, changes neither soundness nor the brackets."""
    x, y = noisy(100, noise=8.0)
    coins = np.random.default_rng(3)

    def broken(descent, task, *_):
        u = coins.normal(size=len(descent.u))
        return Found(u, lie, np.abs(coins.normal(size=descent.blocks.rows)) * 0.1, 1.0, lie, kappa=coins.random())

    for name in ("hinge_search", "squared_search", "lengths_search", "margin_search"):
        monkeypatch.setattr(module, name, broken)
    found, certificates = certified(Perceptron(), Rows(x, y))
    check(found, x.tolist(), y.tolist())
    assert all(c.status in ("valid", "vacuous", "void") for c in certificates)
    assert all(c.bound >= c.observed for c in (certificates[0], certificates[3]))
    monkeypatch.undo()
    honest = hindsight(Rows(x, y))
    assert found.hinge.low <= honest.hinge.high <= found.hinge.high
    assert found.lengths.low <= honest.lengths.high <= found.lengths.high
    assert found.squared_hinge.low <= honest.squared_hinge.high <= found.squared_hinge.high
    assert found.margin.low <= honest.margin.high
    assert honest.margin.low <= found.margin.high


def test_invalid_options_are_refused():
    rows = Rows(np.eye(2), [1, -1])
    with pytest.raises(InputError, match="passes must be at least 1"):
        hindsight(rows, passes=0)
    with pytest.raises(InputError, match="1 if rounds are given"):
        hindsight(rows, passes=2, rounds=1)
    with pytest.raises(InputError, match="gap must be between"):
        hindsight(rows, gap=0.0)
    rows.rereadable = False
    with pytest.raises(InputError, match="read again"):
        hindsight(rows)


@pytest.mark.skipif(not MUSHROOMS.exists(), reason="needs the mushrooms in the folder NOVIKOFF_DATA")
def test_mushrooms_are_separable_and_the_bracket_is_within_a_percent():
    found, (hinge, margin, *_) = certified(Perceptron(), Svmlight(str(MUSHROOMS)))
    assert found.margin.gap <= 0.01
    assert margin.status == hinge.status == "valid"
    assert found.hinge.gap <= 0.01
    assert hinge.bound <= 253


@pytest.mark.parametrize(("memory", "start"), [(2**24, None), (4_000, None), (2**24, np.ones(4))])
def test_executor_of_the_search_changes_no_bit(memory, start):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    stream = Rows(x, np.where(x[:, 0] + 0.5 * rng.normal(size=400) >= 0, 1, -1), size=50)

    def told(**asked):
        steps = []
        found = hindsight(stream, 1.0, start=start, memory=memory, progress=steps.append, **asked)
        each = [dataclasses.replace(step, seconds=0.0) for step in found.steps]
        assert sorted(map(repr, steps)) == sorted(map(repr, found.steps))
        return repr(dataclasses.replace(found, steps=each, seconds=0.0)), found.directions.tobytes()

    assert told() == told(threads=1) == told(on=Sent())


def test_arrays_and_frames_are_sources_too():

    x, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 10), np.array([-1, 1] * 10)
    expected = hindsight(nk.Arrays(x, y), threads=1).margin
    assert hindsight((x, y), threads=1).margin == expected
    assert hindsight(pd.DataFrame(x, columns=["a", "b"]).assign(label=y), threads=1).margin.low == pytest.approx(
        expected.low
    )
    with pytest.raises(InputError, match="needs a stream that can be read again"):
        hindsight(iter([([1.0], 1), ([-1.0], -1)]))
