"""Halving: the rule by hand, the theorem on arbitrary classes and streams, and what happens without realizability."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.certificate import floor_log2
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.core.hypotheses import Ballot
from novikoff.finite.classes import cube, functions, halfspaces, sphere_cover, table, thresholds
from samples import BAD_TRIPLE, CLASSES, GRID, INDICES, MATRIX, POINTS, PROGRAMS, VECTORS, grid_linear_stream

SAMPLES = {
    "halving": [
        ("halving:[thresholds:n=20]", *INDICES),
        ("halving:[thresholds:n=20],conservative=true", *INDICES),
        ("halving:[rectangles:m=8,dim=2]", *POINTS),
        ("halving:[halfspaces:n=2,dim=3]", partial(grid_linear_stream, 3), [*BAD_TRIPLE, [1, 2, 2.5]]),
        (
            "halving:[halfspaces:n=2,dim=3,distinct=true,bias=true]",
            *GRID,
        ),
        ("halving:[sphere-cover:dim=3,epsilon=0.3]", *VECTORS),
        ("halving:[programs:bits=16,width=3]", *PROGRAMS),
        ("halving:[programs:bits=18,width=3],prior=length", *PROGRAMS),
        ("halving:[programs:bits=16,width=3],prior=length,conservative=true", *PROGRAMS),
        (f"halving:[{MATRIX}]", *CLASSES),
        (f"halving:[{MATRIX}],prior=[1,2,3,4],conservative=true", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""

FIRST = [(1, -1, -1), (-1, -1, 1), (-1, -1, -1), (-1, 1, -1)]
SECOND = [(-1, 1, -1), (-1, -1, 1), (-1, -1, -1), (1, -1, 1)]


@pytest.mark.parametrize(
    ("rows", "stream", "conservative", "said"),
    [
        (FIRST, [(0, -1), (1, -1), (2, -1)], False, [-1, -1, 1]),
        (FIRST, [(0, -1), (1, -1), (2, -1)], True, [-1, -1, -1]),
        (SECOND, [(2, 1), (1, -1), (0, 1)], False, [1, -1, 1]),
        (SECOND, [(2, 1), (1, -1), (0, 1)], True, [1, -1, -1]),
    ],
)
def test_neither_filter_dominates_the_other(rows, stream, conservative, said):
    ledger = nk.play(nk.Halving(table(rows), conservative=conservative), stream, record=True)
    assert ledger.recorded().tolist() == said


def test_the_golden_threshold_stream():
    ledger = nk.play(nk.Halving(thresholds(10)), [(5, -1), (8, -1), (9, 1)], record=True)
    assert ledger.recorded().tolist() == [1, 1, -1]
    assert ledger.learner.survivor() == "x >= 9"
    assert ledger.certify()[0].bound == 3


def test_tie_predicts_plus_one_or_the_smallest_label():
    assert nk.Halving(table([[1], [-1]])).predict_one(0) == 1
    assert nk.Halving(table([[2], [1], [0], [1], [2]])).predict_one(0) == 1
    assert Ballot({0: 2, 1: 2, 2: 1}, 0, None).winner() == 0
    assert Ballot({-1: 2, 1: 2}, 1, None).winner() == 1


rows_of = lambda labels: st.integers(1, 5).flatmap(
    lambda points: st.lists(
        st.lists(st.sampled_from(labels), min_size=points, max_size=points), min_size=1, max_size=40
    )
)


@given(rows_of([-1, 1]), st.data(), st.booleans())
def test_the_theorem_holds_on_arbitrary_classes_and_realizable_streams(rows, data, conservative):
    target = data.draw(st.sampled_from(rows))
    points = data.draw(st.lists(st.integers(0, len(rows[0]) - 1), max_size=30))
    learner = nk.Halving(table(rows), conservative=conservative)
    ledger = nk.play(learner, [(0, target[0])] + [(x, target[x]) for x in points])
    (found,) = ledger.certify()
    assert found.status in ("valid", "vacuous")
    assert ledger.mistakes <= found.bound <= floor_log2(len(rows), 1)


@given(rows_of([0, 1, 2, 3]), st.data(), st.booleans())
def test_the_theorem_holds_with_many_labels(rows, data, conservative):
    if max(map(max, rows)) == 1 and min(map(min, rows)) == 1:
        rows = [[0] * len(rows[0]), *rows]  # all ones would be read as -1/+1
    target = data.draw(st.sampled_from(rows))
    points = data.draw(st.lists(st.integers(0, len(rows[0]) - 1), min_size=1, max_size=30))
    ledger = nk.play(nk.Halving(table(rows), conservative=conservative), [(x, target[x]) for x in points])
    (found,) = ledger.certify()
    assert ledger.mistakes <= found.bound <= floor_log2(len(rows), 1)


@given(rows_of([-1, 1]), st.data(), st.booleans())
def test_bound_with_a_prior_uses_the_weight_of_the_target(rows, data, conservative):
    prior = data.draw(st.lists(st.integers(1, 1000), min_size=len(rows), max_size=len(rows)))
    chosen = data.draw(st.integers(0, len(rows) - 1))
    points = data.draw(st.lists(st.integers(0, len(rows[0]) - 1), min_size=1, max_size=30))
    learner = nk.Halving(table(rows), prior=prior, conservative=conservative)
    ledger = nk.play(learner, [(x, rows[chosen][x]) for x in points])
    (found,) = ledger.certify()
    assert ledger.mistakes <= found.bound <= floor_log2(sum(prior), prior[chosen])


def test_a_prior_of_fractions_is_exact():
    prior = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    facts = nk.Halving(table([[1], [-1], [1]]), prior=prior).facts()
    assert (facts.whole, facts.weight, facts.lightest) == (6, 6, 1)


def test_a_prior_of_fractions_can_be_saved(tmp_path):
    prior = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    ledger = nk.play(nk.Halving(table([[1], [-1], [1]]), prior=prior), [(0, 1)])
    nk.save(ledger, tmp_path / "m.nk")
    assert nk.load(tmp_path / "m.nk").learner.facts() == ledger.learner.facts()


def test_the_heavy_hypothesis_decides():
    rows = [[1], [1], [-1]]
    assert nk.Halving(table(rows)).predict_one(0) == 1
    assert nk.Halving(table(rows), prior=[1, 1, 3]).predict_one(0) == -1


@pytest.mark.parametrize("prior", [[1], [1, 0], [1, -1], [1, float("nan")], ["a", "b"], [2**62, 2**62], "length"])
def test_an_impossible_prior_is_refused(prior):
    with pytest.raises(InputError):
        nk.Halving(table([[1], [-1]]), prior=prior)


@given(
    rows_of([-1, 1]),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1, 1])), min_size=1, max_size=60),
    st.booleans(),
)
def test_on_arbitrary_streams_the_certificate_is_void_or_holds_and_the_restart_theorem_holds(
    rows, stream, conservative
):
    stream = [(x % len(rows[0]), y) for x, y in stream]
    ledger = nk.play(nk.Halving(table(rows), conservative=conservative), stream)
    found = {c.theorem: c for c in ledger.certify()}
    facts = ledger.learner.facts()
    if facts.restarts:
        assert found["halving_mistakes"].status == "void"
        assert "not realizable" in found["halving_mistakes"].reason
        again = found["halving_restarts"]
        assert ledger.mistakes <= again.bound
        best = min(sum(row[x] != y for x, y in stream) for row in rows)
        assert facts.restarts <= best  # every phase contains an error of each hypothesis
        assert again.bound <= (best + 1) * (floor_log2(len(rows), 1) + 1)
    else:
        assert list(found) == ["halving_mistakes"]
        assert ledger.mistakes <= found["halving_mistakes"].bound


def test_without_realizability_it_restarts_with_the_whole_class():
    learner = nk.Halving(thresholds(3))
    nk.play(learner, [(3, -1), (0, 1)])  # no threshold says -1 at 3 and +1 at 0
    assert learner.size == 5
    ledger = nk.play(learner, [(1, -1), (2, 1)] * 3)
    assert learner.survivor() == "x >= 2"
    assert ledger.mistakes <= 2


class Stubborn(nk.Halving):
    """Broken on purpose: it learns nothing."""

    def play_one(self, x, y):
        return self.predict_one(x)


def test_a_learner_that_learns_nothing_is_detected():
    x = np.arange(64) % 6
    ledger = nk.play(Stubborn(thresholds(5)), (x, np.where(x >= 4, 1, -1)))
    assert ledger.certify()[0].status == "violated"


def test_a_function_without_a_valid_label_has_no_vote_and_goes():
    def broken(x):
        raise ValueError

    learner = nk.Halving(functions([broken, lambda x: "maybe", lambda x: x > 3, lambda x: -1]))
    assert learner.predict_one(2) == -1
    learner.learn_one(2, -1)
    assert learner.size == 2
    learner.learn_one(9, 1)
    assert learner.size == 1


def test_a_class_too_large_to_hold_is_refused_with_its_size_and_the_alternative():
    with pytest.raises(TooLargeError, match=r"1,000,000,000,000,000,002.*ThresholdHalving"):
        nk.Halving(thresholds(10**18))
    with pytest.raises(TooLargeError, match="fewer points"):
        cube(60)


@pytest.mark.parametrize("members", [[], [-1, 2], [3, 3], [5, 2], [4, 12], [[1, 2]]])
def test_survivors_from_a_file_are_checked(members):
    learner = nk.Halving(thresholds(10))
    state = learner.state() | {"space": {"members": np.array(members)}}
    with pytest.raises(ModelFileError, match="in order"):
        nk.Halving.restore(state)


def test_huge_size_is_printed_by_its_length():
    with pytest.raises(TooLargeError, match=r"about 2\^20000"):
        nk.Halving(thresholds(2**20000))


def test_survivors_are_compacted():
    learner = nk.Halving(thresholds(1000))
    nk.play(learner, [(500, 1), (400, -1)])
    assert learner.size == 100
    assert len(learner.space._members) == 100


def test_running_out_of_memory_changes_nothing(monkeypatch):
    hypotheses = thresholds(3)
    learner = nk.Halving(hypotheses)
    learner.learn_one(3, -1)
    before = learner.facts()

    def full(*_):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(hypotheses, "space", full)
        with pytest.raises(MemoryError):
            learner.learn_one(0, 1)
    assert learner.facts() == before
    learner.learn_one(0, 1)
    assert (learner.facts().restarts, learner.facts().emptied_at, learner.facts().rounds) == (1, 2, 2)


def test_bound_counts_votes_not_distinct_functions():
    rows = [[1, 1]] * 4 + [[-1, 1]] * 2 + [[-1, -1]]  # A four times, B twice, C once
    ledger = nk.play(nk.Halving(table(rows)), [(0, -1), (1, -1)])
    assert ledger.mistakes == 2
    assert ledger.mistakes > 1  # three functions, but seven votes
    assert ledger.certify()[0].bound == 2


def test_score_of_zero_predicts_plus_one():
    for learner in (nk.Halving(sphere_cover(2, 0.5)), nk.CoverHalving(2)):
        assert learner.predict_one([0.0, 0.0]) == 1
    assert nk.Halving(halfspaces(1, 2)).predict_one([0, 0]) == 1


@pytest.mark.parametrize("bits", [1, 2, 5, 20])
def test_programs_of_at_most_b_bits_guarantee_b_mistakes(bits):
    assert floor_log2(2 ** (bits + 1) - 2, 1) == bits
