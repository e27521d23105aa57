"""Halving on finer and finer covers: the margin need not be known, and the certificate says what it cost."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.errors import InputError, TooLargeError
from novikoff.core.types import Run
from novikoff.finite.classes.sphere import LARGEST_COVER, SphereCover
from novikoff.finite.cover_halving import CoverHalving
from novikoff.finite.halving import Halving
from novikoff.finite.theorems.cover_restarts import CoverFacts, cover_restarts
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from samples import PLANE, VECTORS

SAMPLES = {
    "cover-halving": [
        ("cover-halving:dim=2", *PLANE),
        ("cover-halving:dim=3,conservative=true,largest=2000", *VECTORS),
    ],
}
"""Samples for tests/test_every_learner.py."""

CASES = {
    "cover_restarts": cases.Case(
        cases.separable(2),
        lambda stream: cases.run_of(nk.CoverHalving(2, largest=2000), stream),
        cases.apart(20),
        None,
        lambda: cases.run_of(cases.broken(nk.CoverHalving(2)), cases.apart(20)),
        (
            (lambda: cases.run_of(nk.CoverHalving(2), [((0, 0), -1)]), "x = 0"),
            (lambda: cases.run_of(nk.CoverHalving(2, largest=20), [((1, 1), 1), ((1, 1), -1)] * 9), "finest cover"),
        ),
        unless="finest cover",
    ),
}
"""Cases for tests/test_every_theorem.py."""

HALFWAY = math.pi / 7  # between two of the 7 angles of the first cover of the circle


def at(angle):
    return (math.cos(angle), math.sin(angle))


def squeeze(margin):
    """Two examples that leave only normals within asin(margin) of HALFWAY."""
    return [(at(HALFWAY + side * math.acos(margin)), 1) for side in (-1, 1)]


def margin_stream(dim, margin, rounds, seed):
    """Examples with y <u, x> >= margin ||x||, many of them right at the margin, of very different lengths."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=dim)
    u /= np.linalg.norm(u)
    stream = []
    for _ in range(rounds):
        y = int(rng.choice([-1, 1]))
        across = rng.normal(size=dim)
        across -= (across @ u) * u
        across = across / np.linalg.norm(across) if dim > 1 else np.zeros(1)
        along = margin if rng.random() < 0.7 else rng.uniform(margin, 1)
        x = y * (along * u + math.sqrt(1 - along**2) * across)
        stream.append((x * 10.0 ** rng.integers(-3, 4), y))
    return stream


def run(before, after, mistakes, rounds=1000):
    return Run(before, after, rounds, mistakes, float(mistakes), (0, rounds), adaptive=False, deterministic=True)


def test_it_begins_as_halving_on_the_cover_to_one_half():
    learner, plain = CoverHalving(2), Halving(SphereCover(2, 0.5))
    assert (learner.size, learner.epsilon) == (7, 0.5)
    for x, y in margin_stream(2, 0.6, 50, 0):
        assert learner.predict_one(x) == plain.predict_one(x)
        assert learner.play_one(x, y) == plain.play_one(x, y)
    assert learner.survivor() == plain.survivor()
    assert learner.level == 0


def test_empty_cover_is_replaced_by_a_finer_one_and_the_bounds_are_summed():
    ledger = play(CoverHalving(2), squeeze(0.3))
    learner = ledger.learner
    assert (learner.level, learner.epsilon, learner.size) == (1, 0.25, SphereCover(2, 0.25).size)
    (certificate,) = ledger.certify()
    assert certificate.bound == 2 + 1  # floor(log2 7) + 1 for the emptied cover, 0 for the untouched one
    assert certificate.quantities["covers"] == 2
    assert certificate.quantities["margin_guess"] == 0.5


@pytest.mark.parametrize(("dim", "margin"), [(1, 0.5), (2, 0.9), (2, 0.25), (2, 0.1), (2, 0.003), (3, 0.5), (3, 0.05),
                                             (4, 0.2), (5, 0.3)])  # fmt: skip
@pytest.mark.parametrize("conservative", [False, True])
def test_the_certificate_holds_and_the_covers_are_as_few_as_guaranteed(dim, margin, conservative):
    for seed in range(5):
        ledger = play(CoverHalving(dim, conservative), margin_stream(dim, margin * (1 + 1e-9), 300, seed))
        (certificate,) = ledger.certify()
        assert certificate.status == "valid"
        assert ledger.mistakes <= certificate.bound
        covers = certificate.quantities["covers"]
        assert covers <= math.floor(math.log2(1 / margin)) + 1 <= math.ceil(math.log2(1 / margin)) + 1
        levels = [SphereCover(dim, 2.0 ** -(k + 1)).size for k in range(covers)]
        whole = sum(size.bit_length() for size in levels[:-1]) + levels[-1].bit_length() - 1
        assert certificate.bound <= whole == certificate.quantities["a_priori"]
        assert certificate.quantities["margin_above"] == SphereCover(dim, 2.0**-covers).epsilon


def test_the_number_of_covers_guaranteed_is_met():
    # Margin 0.3: floor(log2(1/0.3)) + 1 = 2. The first cover is emptied, the second never is.
    ledger = play(CoverHalving(2), squeeze(0.3) * 50)
    assert ledger.learner.level + 1 == 2 == math.floor(math.log2(1 / 0.3)) + 1
    assert ledger.certify()[0].status == "valid"


@given(
    st.lists(st.tuples(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), st.sampled_from([-1, 1])), min_size=1),
    st.booleans(),
    st.integers(0, 10),
)
def test_on_any_stream_the_certificate_is_true_or_void_also_from_the_middle(stream, conservative, middle):
    learner, middle = CoverHalving(2, conservative, largest=200), min(middle, len(stream) - 1)
    for x, y in stream[:middle]:
        learner.learn_one(x, y)
    ledger = play(learner, stream[middle:], ledger=Ledger(learner))
    (certificate,) = ledger.certify()
    assert certificate.status in ("valid", "vacuous", "void")
    assert (certificate.status == "void") == (
        ledger.before.capped < learner.capped or any(x == (0, 0) and y == -1 for x, y in stream[middle:])
    )


def test_ledger_opened_in_the_middle_counts_the_remaining_hypotheses():
    before = CoverFacts(level=1, hypotheses=13, survivors=3, spent=3)
    later = CoverFacts(level=3, hypotheses=51, survivors=12, spent=3 + 4 + 5)
    # floor(log2 3) + 1 for what was left of 13, 5 for the cover of 26, floor(log2(51/12)) for the last.
    assert cover_restarts(run(before, later, 9)).bound == 2 + 5 + 2
    assert cover_restarts(run(before, later, 9)).status == "valid"
    assert cover_restarts(run(before, later, 10)).status == "violated"
    assert cover_restarts(run(before, dataclasses.replace(before, survivors=1), 1)).bound == 1


def test_the_origin_labelled_negative_is_not_learned_from_and_voids():
    learner = CoverHalving(2)
    learner.learn_one(at(1.0), 1)
    before = learner.facts()
    ledger = play(learner, [((0.0, 0.0), -1), ((0.0, -0.0), 1)], ledger=Ledger(learner))
    assert ledger.mistakes == 1
    assert learner.facts() == dataclasses.replace(before, zeros=1, rounds=before.rounds + 2)
    (certificate,) = ledger.certify()
    assert certificate.status == "void"
    assert certificate.reason == "not separable: x = 0 was labelled -1"
    # It happened before this ledger was opened: the theorem holds from here on.
    assert play(learner, margin_stream(2, 0.6, 30, 1), ledger=Ledger(learner)).certify()[0].status == "valid"


def test_a_stream_without_a_margin_reaches_the_finest_cover_and_voids():
    contradiction = [(at(0.3), 1), (at(0.3), -1)]
    ledger = play(CoverHalving(2, largest=100), contradiction * 3)
    assert ledger.learner.size == 51  # 7, 13, 26, 51: the next, 101, is too many
    assert ledger.certify()[0].status == "vacuous"  # true as yet
    ledger = play(ledger.learner, contradiction * 2, ledger=ledger)
    assert (ledger.learner.capped, ledger.learner.size) == (2, 51)
    (certificate,) = ledger.certify()
    assert certificate.status == "void"
    assert certificate.reason == (
        "no margin above 0.0625 R: the finest cover allowed, of 51 points, was emptied (times: 2)"
    )


def test_one_dimension_has_a_single_cover():
    ledger = play(CoverHalving(1), [([1.0], 1), ([2.0], -1)])
    assert (ledger.learner.level, ledger.learner.capped, ledger.learner.size) == (0, 1, 2)
    assert ledger.certify()[0].status == "void"
    assert play(CoverHalving(1), [([1.0], -1), ([2.0], -1), ([-3.0], 1)]).mistakes == 1


@pytest.mark.parametrize("conservative", [False, True])
def test_resume_matches_uninterrupted_run(conservative):
    stream = [*margin_stream(3, 0.05, 150, 7), ((0.0, 0.0, 0.0), -1), *margin_stream(3, 0.05, 150, 8)]
    learner = CoverHalving(3, conservative, largest=5000)
    for t, (x, y) in enumerate(stream):
        if t % 25 == 0:
            state = learner.state()
            json.dumps({**state, "space": None})
            again = CoverHalving.restore(state)
            for later, label in stream[t : t + 40]:
                assert again.predict_one(later) == again.play_one(later, label)
            direct = CoverHalving.restore(state)
            assert direct.facts() == learner.facts()
            learner = direct
        learner.learn_one(x, y)
    straight = CoverHalving(3, conservative, largest=5000)
    for x, y in stream:
        straight.learn_one(x, y)
    assert straight.facts() == learner.facts()
    assert straight.survivor() == learner.survivor()
    assert straight.rounds == learner.rounds == len(stream)
    assert learner.level > 0


def test_predicting_changes_nothing():
    learner = CoverHalving(2)
    learner.learn_one(at(2.0), -1)
    before = learner.facts()
    for angle in range(10):
        learner.predict_one(at(angle))
    assert learner.facts() == before


def test_huge_and_tiny_examples_are_labelled_by_direction():
    plain = margin_stream(2, 0.1, 100, 4)
    told = [play(CoverHalving(2), [(x * scale, y) for x, y in plain], record=True) for scale in (1.0, 1e-300, 1e300)]
    assert told[0].recorded().tolist() == told[1].recorded().tolist() == told[2].recorded().tolist()
    assert told[1].learner.zeros == 0


@pytest.mark.parametrize("x", [[1], [1, 2, 3], [math.nan, 1], [math.inf, 1], ["a", "b"], None])
def test_bad_input_is_refused_and_changes_nothing(x):
    learner = CoverHalving(2)
    learner.learn_one([1, 2], -1)
    before = learner.facts()
    with pytest.raises(InputError):
        learner.predict_one(x)
    with pytest.raises(InputError):
        learner.learn_one(x, 1)
    for label in (0, 2, math.nan):
        with pytest.raises(InputError):
            learner.learn_one([1, 2], label)
    assert learner.facts() == before
    assert learner.rounds == 1


def test_invalid_settings_are_refused():
    for largest in (0, -1, LARGEST_COVER + 1):
        with pytest.raises(InputError, match="the largest cover"):
            CoverHalving(2, largest=largest)
    with pytest.raises(TooLargeError, match="the first cover"):
        CoverHalving(3, largest=32)
    assert CoverHalving(3, largest=33).size == 33
    with pytest.raises(TooLargeError, match="fewer dimensions"):
        CoverHalving(20)
    with pytest.raises(InputError, match="dimension"):
        CoverHalving(0)


def test_running_out_of_memory_changes_nothing(monkeypatch):
    learner = CoverHalving(2)
    learner.learn_one([0.0, 1.0], 1)
    while learner._space.poll([0.0, 1.0]).weights[-1]:
        learner.learn_one([0.0, 1.0], 1)
    before, survivors = learner.facts(), learner.survivor()

    def full(*_):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(SphereCover, "space", full)
        with pytest.raises(MemoryError):
            learner.learn_one([0.0, 1.0], -1)
    assert (learner.facts(), learner.rounds, learner.survivor()) == (before, 1, survivors)
    assert CoverHalving.restore(learner.state()).facts() == before
    learner.learn_one([0.0, 1.0], -1)
    assert (learner.level, learner.rounds) == (1, 2)
