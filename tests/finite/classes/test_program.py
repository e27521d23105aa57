"""Programs: the language, its numbering, and the version space in both of its forms."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.core.types import Domain
from novikoff.finite.classes import program
from novikoff.finite.classes.program import Programs
from novikoff.finite.classes.survivors import Survivors
from novikoff.finite.halving import Halving
from novikoff.game.play import play

DEFAULT = (-1, 0, 0.5, 1)
SHAPES = [
    (17, 1, DEFAULT),
    (15, 2, DEFAULT),
    (14, 3, DEFAULT),
    (15, 4, DEFAULT),
    (14, 5, (0,)),
    (16, 3, ()),
    (24, 1, ()),
    (12, 2, (-0.25, 3, 1e-05)),
]
TARGET = "x[0] < x[2] and not x[1]"


def brute_force(bits, width, constants):
    """Sources of every length, fully bracketed, by a recursion that knows nothing of blocks."""

    def leaves(length):
        per_feature = math.ceil(math.log2(width))
        if length == 2 + per_feature:
            yield from (f"x[{i}]" for i in range(width))
        if width > 1 and length == 2 + math.ceil(math.log2(width * (width - 1))):
            yield from (f"x[{i}] < x[{j}]" for i in range(width) for j in range(width) if i != j)
        if constants and length == 3 + per_feature + math.ceil(math.log2(len(constants))):
            yield from (f"x[{i}] < {c}" for i in range(width) for c in constants)

    found = {}
    for length in range(bits + 1):
        found[length] = list(leaves(length))
        found[length] += [f"not ({a})" for a in found.get(length - 3, [])]
        for word in ("and", "or"):
            for left in range(length - 3):
                right = length - 3 - left
                found[length] += [f"({a}) {word} ({b})" for a, b in product(found[left], found.get(right, []))]
    return found


def examples(width, count, seed=0):
    """Vectors with ties, zeros, negatives, whole numbers and others."""
    rng = random.Random(seed)
    values = [-2, -1, -0.25, 0, 0, 0.5, 0.75, 1, 1, 2, 1e-300]
    return [[rng.choice(values) for _ in range(width)] for _ in range(count)]


def compiled(sources):
    return [compile(source, "program", "eval") for source in sources]


def truth(sources, x):
    return [1 if eval(source, {"x": x}) else -1 for source in sources]


class Oracle:
    """The same programs, each run by Python itself and kept in the plain list of survivors."""

    labels = None

    def __init__(self, programs):
        self.name = "oracle"
        self.domain = programs.domain
        self.size = programs.size
        self.lengths = [programs.length(i) for i in range(programs.size)]
        self.bits = programs.bits
        self.describe = programs.describe
        self.encode = programs.encode
        self._sources = compiled(programs.describe(i) for i in range(programs.size))

    def space(self, prior=None):
        return Survivors(self, [2 ** (self.bits - n) for n in self.lengths] if prior == "length" else None, "")

    def labels_of(self, x, members):
        chosen = self._sources if members is None else [self._sources[i] for i in members]
        return np.array(truth(chosen, x.tolist()), dtype=np.int8)


@pytest.fixture(scope="module")
def small():
    programs = Programs(13, 3)
    return programs, Oracle(programs)


# The language


@pytest.mark.parametrize("shape", SHAPES)
def test_class_matches_brute_force_enumeration(shape):
    programs = Programs(*shape)
    found = brute_force(*shape)
    assert programs.size == len(programs) == sum(map(len, found.values()))
    lengths = [programs.length(i) for i in range(programs.size)]
    assert lengths == [length for length, sources in found.items() for _ in sources]
    # Of every length, the same behaviours, each as often.
    shown = examples(programs.width, 30)
    columns = zip(*(programs.labels_of(programs.encode(x), None).tolist() for x in shown), strict=True)
    ours = Counter(zip(lengths, columns, strict=True))
    theirs = Counter()
    for length, written in found.items():
        sources = compiled(written)
        theirs.update((length, answers) for answers in zip(*(truth(sources, x) for x in shown), strict=True))
    assert ours == theirs


@pytest.mark.parametrize("shape", SHAPES)
def test_every_label_matches_python_evaluation_of_the_source(shape):
    programs = Programs(*shape)
    sources = compiled(programs.describe(i) for i in range(programs.size))
    everyone = np.arange(programs.size)
    for x in examples(programs.width, 12, seed=1):
        expected = truth(sources, x)
        assert programs.labels_of(programs.encode(x), None).tolist() == expected
        assert programs.labels_of(programs.encode(x), everyone).tolist() == expected


@given(
    st.lists(st.one_of(st.integers(-2, 2), st.floats(allow_nan=False, allow_infinity=False)), min_size=4, max_size=4),
    st.lists(st.integers(0, 16_675), min_size=1, max_size=40, unique=True).map(sorted),
)
def test_long_programs_are_evaluated_alike_by_words_one_by_one_and_python(x, members):
    programs = Programs(20, 4)
    expected = truth([programs.describe(i) for i in members], x)
    row = programs.encode(x)
    assert programs.labels_of(row, np.array(members)).tolist() == expected
    assert programs.labels_of(row, None)[members].tolist() == expected


@pytest.mark.parametrize("shape", [(24, 4, DEFAULT), (21, 9, ())])
def test_all_programs_of_a_large_class_are_evaluated_alike_by_words_one_by_one_and_python(shape):
    # With 9 features there are 81 programs of 9 bits, so the 81 x 81 rectangles have rows beyond the first word.
    programs = Programs(*shape)
    everyone = np.arange(programs.size)
    sample = sorted(random.Random(5).sample(range(programs.size), 2_000))
    sources = compiled(programs.describe(i) for i in sample)
    for x in examples(programs.width, 6, seed=2):
        row = programs.encode(x)
        labels = programs.labels_of(row, None)
        assert np.array_equal(labels, programs.labels_of(row, everyone))
        assert labels[sample].tolist() == truth(sources, x)


@pytest.mark.parametrize("shape", SHAPES)
def test_code_is_prefix_free_and_kraft_holds(shape):
    programs = Programs(*shape)
    codes = [programs.code(i) for i in range(programs.size)]
    assert [len(code) for code in codes] == [programs.length(i) for i in range(programs.size)]
    assert not any(after.startswith(before) for before, after in pairwise(sorted(codes)))
    assert programs.space("length").weight == sum(2 ** (programs.bits - len(code)) for code in codes)
    assert programs.space("length").weight <= 2**programs.bits


@pytest.mark.parametrize("shape", SHAPES)
def test_sources_are_unique_and_read_back(shape):
    programs = Programs(*shape)
    sources = [programs.describe(i) for i in range(programs.size)]
    assert len(set(sources)) == programs.size
    assert [programs.index_of(source) for source in sources] == list(range(programs.size))


@pytest.mark.parametrize(
    "source",
    [
        "x[3]",
        "not not x[0]",
        "not x[0] < x[1]",
        "x[0] < -1 or x[1] < 0.5",
        "x[0] and x[1] and x[2]",
        "x[0] and (x[1] and x[2])",
        "x[0] or x[1] and x[2]",
        "(x[0] or x[1]) and x[2]",
        "x[0] or (x[1] or x[2])",
        "not (x[0] or x[1]) and not x[2]",
        "not (x[0] and not x[1])",
        TARGET,
    ],
)
def test_sources_have_no_more_parentheses_than_needed(source):
    programs = Programs(30, 4)
    assert programs.describe(programs.index_of(source)) == source
    assert programs.describe(programs.index_of(f"({source})")) == source


def test_the_code_of_a_program_is_the_polish_notation_of_the_table():
    programs = Programs(20, 4)
    pair = format(1, "04b")  # 0 < 1, 0 < 2, ...
    assert programs.code(programs.index_of(TARGET)) == "110" + "01" + pair + "101" + "00" + "01"
    assert programs.length(programs.index_of(TARGET)) == 16
    assert programs.code(programs.index_of("x[2] < 0.5")) == "100" + "10" + "10"


def test_programs_are_numbered_in_the_documented_order():
    programs = Programs(14, 4)
    sources = [programs.describe(i) for i in range(programs.size)]
    assert sources[:6] == ["x[0]", "x[1]", "x[2]", "x[3]", "x[0] < x[1]", "x[0] < x[2]"]
    # 7 bits: comparisons with constants by feature, then `not` of 4 bits.
    assert sources[16:21] == ["x[0] < -1", "x[0] < 0", "x[0] < 0.5", "x[0] < 1", "x[1] < -1"]
    assert sources[32:34] == ["not x[0]", "not x[1]"]
    # 11 bits: 4 x 4, the left operand chooses the row.
    eleven = [source for i, source in enumerate(sources) if programs.length(i) == 11]
    assert eleven[:5] == ["x[0] and x[0]", "x[0] and x[1]", "x[0] and x[2]", "x[0] and x[3]", "x[1] and x[0]"]
    assert eleven[16] == "x[0] or x[0]"
    # 13 bits: twenty `not` of 10 bits, then 4 x 12 and 12 x 4: a row is as long as the longer side.
    thirteen = [source for i, source in enumerate(sources) if programs.length(i) == 13]
    assert thirteen[20:22] == ["x[0] and x[0] < x[1]", "x[0] and x[0] < x[2]"]
    assert thirteen[68:70] == ["x[0] < x[1] and x[0]", "x[0] < x[2] and x[0]"]


def test_sizes_are_exact():
    assert Programs(20, 4).size == 16_676
    assert Programs(28, 4).size == 1_872_228
    assert Programs(4, 4).size == 4


@pytest.mark.parametrize(
    "source",
    ["", "x[", "x[4]", "x[-1]", "x[True]", "y[0]", "x[0] > x[1]", "x[0] <= x[1]", "x[0] < x[0]", "x[0] < 7", "1 < x[0]",
     "x[0] < x[1] < x[2]", "x[0] < True", "True", "x[0] & x[1]", "x[0:1]", "f(x)", "-x[0]", "x[0] < 'a'", "(" * 5000],
)  # fmt: skip
def test_source_outside_the_language_has_no_number(source):
    with pytest.raises(InputError, match="a program must be made of"):
        Programs(20, 4).index_of(source)


def test_a_program_that_is_too_long_has_no_number():
    with pytest.raises(InputError, match=r"at most 15 bits: .* has 16"):
        Programs(15, 4).index_of(TARGET)


# The class


def test_the_class_is_rebuilt_from_its_state():
    for programs in (Programs(12, 3), Programs(11, 2, constants=[2, -0.5])):
        state = programs.state()
        assert state.pop("class") == "programs"
        again = Programs(**state)
        assert (again.name, again.size, again.constants) == (programs.name, programs.size, programs.constants)
        assert again.describe(again.size - 1) == programs.describe(programs.size - 1)
    assert Programs(12, 3).name == "programs:bits=12,width=3"
    assert Programs(11, 2, constants=[2, -0.5]).name == "programs:bits=11,width=2,constants=[2,-0.5]"
    assert Programs(12, 3).domain == Domain("vector", 3)


def test_a_class_that_is_too_large_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match=r"at most 1,073,741,824: programs:bits=60,width=8 has [\d,]+\. Take fewer"):
        Programs(60, 8)


@pytest.mark.parametrize(
    "arguments",
    [(0, 4), (3, 4), (1, 1), (300, 4), (12.5, 4), (True, 4), (12, 0), (12, -1), (12, 3, (1, 1.0)), (12, 3, (0, -0.0)),
     (12, 3, (math.nan,)), (12, 3, (math.inf,)), (12, 3, ("1",)), (12, 3, (2**53 + 1,)), (12, 3, (10**400,))],
)  # fmt: skip
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(InputError, match="must be"):
        Programs(*arguments)


@pytest.mark.parametrize("prior", ["size", [1, 2], np.ones(3), 1])
def test_prior_is_none_or_length(prior):
    with pytest.raises(InputError, match='None or "length"'):
        Programs(10, 2).space(prior)


@pytest.mark.parametrize("index", [-1, 4])
def test_a_number_outside_the_class_is_refused(index):
    for method in ("describe", "length", "code"):
        with pytest.raises(InputError, match="from 0 to 3"):
            getattr(Programs(4, 4), method)(index)
    with pytest.raises(InputError, match="from 0 to 3"):
        Programs(4, 4).labels_of(np.zeros(4), np.array([0, index]))


# The version space


def shares(monkeypatch, share):
    """Survivors are listed below 1 in `share`: 0 lists them at the first filter, a huge one never."""
    monkeypatch.setattr(program, "LISTED_SHARE", share)


def streams(width):
    """Pairs (x, y): of a target, of noise (so that belief begins again), and all of one label."""
    shown = examples(width, 60, seed=3)
    rng = random.Random(4)
    yield [(x, 1 if x[0] < x[2] and not x[1] else -1) for x in shown]
    yield [(x, rng.choice((-1, 1))) for x in shown]
    yield [(x, 1) for x in shown]


@pytest.mark.parametrize("share", [0, 4, 10**9])
@pytest.mark.parametrize("prior", [None, "length"])
@pytest.mark.parametrize("conservative", [False, True])
def test_the_space_agrees_with_a_plain_list_of_survivors(monkeypatch, small, share, prior, conservative):
    shares(monkeypatch, share)
    programs, oracle = small
    for stream in streams(3):
        ours, theirs = Halving(programs, prior, conservative), Halving(oracle, prior, conservative)
        assert ours.facts() == theirs.facts()
        for x, y in stream:
            ballot, expected = ours.space.poll(x), theirs.space.poll(x)
            assert (ballot.weights, ballot.first) == (expected.weights, expected.first)
            assert all(type(weight) is int for weight in ballot.weights.values())
            assert ours.play_one(x, y) == theirs.play_one(x, y)
            assert ours.facts() == theirs.facts()
            assert ours.space.weight == theirs.space.weight
            assert ours.survivor() == theirs.survivor()


@given(
    st.lists(st.tuples(st.lists(st.integers(-1, 2), min_size=4, max_size=4), st.sampled_from((-1, 1))), max_size=25),
    st.sampled_from((None, "length")),
    st.booleans(),
)
def test_both_forms_of_the_space_play_the_same_game(stream, prior, conservative):
    programs = Programs(18, 4)
    with pytest.MonkeyPatch.context() as monkeypatch:
        games = []
        for share in (0, 10**9):
            shares(monkeypatch, share)
            learner = Halving(programs, prior, conservative)
            games.append([(learner.play_one(x, y), learner.facts(), learner.survivor()) for x, y in stream])
    assert games[0] == games[1]


@pytest.mark.parametrize("share", [0, 10**9])
@pytest.mark.parametrize("prior", [None, "length"])
def test_resume_matches_uninterrupted_run(monkeypatch, share, prior):
    shares(monkeypatch, share)
    programs = Programs(18, 3)
    stream = next(streams(3))
    straight, stopped = Halving(programs, prior), Halving(programs, prior)
    for x, y in stream:
        stopped = Halving.restore(stopped.state())
        ballots = [learner.space.poll(x) for learner in (straight, stopped)]
        assert ballots[0].weights == ballots[1].weights
        assert ballots[0].first == ballots[1].first
        assert straight.play_one(x, y) == stopped.play_one(x, y)
        before, after = straight.space.state(), stopped.space.state()
        for key in ("alive", "members"):
            assert (before[key] is None) == (after[key] is None)
            assert before[key] is None or np.array_equal(before[key], after[key])
    assert (straight.space.state()["members"] is None) == (share != 0)


def test_state_is_a_copy():
    space = Programs(12, 3).space()
    state = space.state()
    whole = space.count
    space.keep(space.poll([1, 0, 2]), 1)
    assert space.count < whole
    space.load(state)
    assert space.count == whole


def test_survivors_of_another_class_are_refused():
    programs = Programs(12, 3)
    space, whole = programs.space(), programs.size
    alive = space.state()["alive"]
    unused = alive.copy()
    unused[-1] = ~np.uint64(0)
    for bits in (alive[:-1], alive.astype(np.int64), np.zeros_like(alive), unused, np.zeros(0, dtype=np.uint64)):
        with pytest.raises(ModelFileError, match="survivors"):
            space.load({"alive": bits, "members": None})
    for numbers in ([], [-1], [whole], [3, 2], [1, 1], [0.5], [[1]]):
        with pytest.raises(ModelFileError, match="survivors"):
            space.load({"alive": None, "members": np.array(numbers)})
    assert space.count == whole


@pytest.mark.parametrize("share", [0, 10**9])
@pytest.mark.parametrize("bad", [[0, math.nan, 1], [0, math.inf, 1], [0, 1], [0, 1, 2, 3], "abc", None, [[0, 1, 2]]])
def test_bad_input_leaves_the_space_unchanged(monkeypatch, share, bad):
    shares(monkeypatch, share)
    learner = Halving(Programs(14, 3), "length")
    for x, y in list(next(streams(3)))[:3]:
        learner.learn_one(x, y)
    before = learner.facts()
    with pytest.raises(InputError, match="x must"):
        learner.learn_one(bad, 1)
    assert learner.facts() == before


def test_polling_changes_nothing_and_a_vote_outlives_the_next():
    space = Programs(14, 3).space()
    first = space.poll([1, 0, 2])
    space.poll([0, 0, 0])
    count = first.weights[1]
    space.keep(first, 1)
    assert space.count == space.weight == count
    assert space.poll([1, 0, 2]).weights == {1: count, -1: 0}


# The theorem


@pytest.mark.parametrize("conservative", [False, True])
def test_halving_finds_the_hidden_program_within_its_length(conservative):
    programs = Programs(20, 4)
    learner = Halving(programs, prior="length", conservative=conservative)
    X = np.random.default_rng(7).integers(0, 3, (10_000, 4))
    y = [1 if row[0] < row[2] and not row[1] else -1 for row in X.tolist()]
    ledger = play(learner, (X, y))
    assert ledger.rounds == 10_000
    assert ledger.mistakes <= programs.length(programs.index_of(TARGET)) == 16
    if not conservative:
        found = compile(learner.survivor(), "survivor", "eval")
        assert all((1 if eval(found, {"x": row}) else -1) == label for row, label in zip(X.tolist(), y, strict=True))
        assert programs.length(programs.index_of(learner.survivor())) <= 16
    certificate = next(c for c in ledger.certify() if c.theorem == "halving_mistakes")
    assert certificate.status == "valid"
    assert certificate.bound <= 16


@given(
    st.integers(0, 16_675),
    st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=1, max_size=40),
    st.booleans(),
)
def test_mistakes_never_exceed_the_length_of_a_perfect_program(target, shown, conservative):
    programs = Programs(20, 4)
    source = programs.describe(target)
    learner = Halving(programs, "length", conservative)
    mistakes = 0
    for x in shown:
        y = 1 if eval(source, {"x": x}) else -1
        mistakes += learner.play_one(x, y) != y
    facts = learner.facts()
    assert facts.restarts == 0
    assert mistakes <= programs.length(target)
    assert 2**mistakes * facts.weight <= facts.whole


def test_the_lightest_weight_is_that_of_the_longest_program():
    # No program over one feature and no constant has 4 bits: the longest of at most 4 is x[0], of 2.
    programs = Programs(4, 1, constants=())
    assert (programs.size, programs.space("length").lightest, programs.space().lightest) == (1, 4, 1)
    assert Programs(20, 4).space("length").lightest == 1


def test_the_kernels_equal_their_plain_python_twins():
    from novikoff.finite._loops import programs as kernel

    def plain(function):
        return getattr(function, "py_func", function)

    held = program.All(Programs(16, 3)._code)
    row = np.array([0.5, 0.0, 2.0])
    words = np.zeros_like(held._alive)
    plain(kernel.evaluate)(held._plan, row, held._constants, words)
    assert np.array_equal(words, held._values(row))
    for value in (0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0):
        assert int(kernel.ones(np.uint64(value))) == int(plain(kernel.ones)(np.uint64(value))) == value.bit_count()
    few = program.Few(Programs(16, 3)._code, np.arange(0, Programs(16, 3).size, 7))
    values = np.zeros(len(few._members), dtype=np.bool_)
    plain(kernel.run)(few._starts, few._tokens, row, few._constants, values)
    assert np.array_equal(values, few.run(row))


@pytest.mark.parametrize(("at", "count"), list(product((0, 1, 63, 64, 70), (1, 2, 63, 64, 65, 128, 130))))
def test_runs_of_bits_are_copied_and_filled_to_any_position(at, count):
    from novikoff.finite._loops import programs as kernel

    rng = random.Random(count)
    bits = rng.getrandbits(count)
    start = 4 * 64 + at
    before = (1 << at) - 1 << (4 * 64)  # the bits below are left alone
    for flip in (False, True):
        words = _words(bits | before, 12)
        kernel.append(words, start, 0, count, ~np.uint64(0) if flip else np.uint64(0))
        copied = bits ^ ((1 << count) - 1) if flip else bits
        assert _number(words) == bits | before | copied << start
    words = _words(before, 12)
    kernel.fill(words, start, count)
    assert _number(words) == before | ((1 << count) - 1) << start


def _words(number, count):
    return np.array([(number >> (64 * k)) & (2**64 - 1) for k in range(count)], dtype=np.uint64)


def _number(words):
    return sum(int(word) << (64 * k) for k, word in enumerate(words))
