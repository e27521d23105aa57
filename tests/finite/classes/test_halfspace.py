"""Halfspaces with weights on a grid: exact votes, exact sizes, and Halving within its bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.encode import LARGEST_COORDINATE
from novikoff.core.errors import InputError, TooLargeError
from novikoff.finite._loops import linear as kernel
from novikoff.finite.classes import restore_class
from novikoff.finite.classes.halfspace import Halfspaces, count_distinct, inequality
from novikoff.finite.classes.matrix import Table
from novikoff.finite.halving import Halving
from novikoff.game.play import play

GOLDEN = [  # n, dim, size, its bound, distinct, its bound
    (1, 2, 9, 3, 9, 3),
    (2, 2, 25, 4, 17, 4),
    (2, 3, 125, 6, 99, 6),
    (10, 2, 441, 8, 257, 8),
    (10, 3, 9261, 13, 7491, 12),
    (5, 4, 14641, 13, 13857, 13),
]
KINDS = [{"distinct": distinct, "bias": bias} for distinct in (False, True) for bias in (False, True)]


def plain_twin(function):
    return getattr(function, "py_func", function)  # itself where nothing is compiled


def brute_weights(n, weights, distinct):
    everyone = itertools.product(range(-n, n + 1), repeat=weights)
    return [w for w in everyone if not distinct or math.gcd(*w) in (0, 1)]


def brute_label(w, x):
    return 1 if sum(a * b for a, b in zip(w, x, strict=True)) >= 0 else -1


def moebius(k):
    sign = 1
    for p in range(2, k + 1):
        if k % p == 0:
            k //= p
            sign = -sign
            if k % p == 0:
                return 0
    return sign


def random_stream(hypotheses, target, rounds, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-hypotheses.n, hypotheses.n + 1, (rounds, hypotheses.dim))
    full = np.hstack([X, np.full((rounds, 1), hypotheses.n)]) if hypotheses.bias else X
    return [(x, brute_label(target, row)) for x, row in zip(X, full.tolist(), strict=True)]


@pytest.mark.parametrize(("n", "dim", "size", "bound", "distinct", "distinct_bound"), GOLDEN)
def test_the_sizes_and_bounds_are_the_golden_ones(n, dim, size, bound, distinct, distinct_bound):
    every, once = Halfspaces(n, dim), Halfspaces(n, dim, distinct=True)
    assert (every.size, once.size) == (size, distinct)
    assert (every.size.bit_length() - 1, once.size.bit_length() - 1) == (bound, distinct_bound)
    assert len(brute_weights(n, dim, True)) == distinct


def test_the_count_of_primitive_weights_is_that_of_the_moebius_formula():
    for n, weights in itertools.product(range(1, 40), range(1, 6)):
        formula = 1 + sum(moebius(k) * ((2 * (n // k) + 1) ** weights - 1) for k in range(1, n + 1))
        assert count_distinct(n, weights) == formula


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "dim"), [(1, 1), (7, 1), (1, 2), (3, 2), (4, 3), (2, 4), (1, 7)])
def test_every_vote_is_that_of_whole_number_arithmetic(n, dim, kind):
    hypotheses = Halfspaces(n, dim, **kind)
    weights = brute_weights(n, dim + kind["bias"], kind["distinct"])
    assert [hypotheses.weights(i) for i in range(hypotheses.size)] == weights
    rng = np.random.default_rng(n * 10 + dim)
    for largest in (0, 1, n, LARGEST_COORDINATE):
        x = rng.integers(-largest, largest + 1, dim)
        encoded = hypotheses.encode(x)
        expected = [brute_label(w, [*x.tolist(), n][: len(w)]) for w in weights]
        assert hypotheses.labels_of(encoded, None).tolist() == expected
        members = rng.permutation(hypotheses.size)[: hypotheses.size // 2]
        for listed in (members, np.sort(members)):
            assert hypotheses.labels_of(encoded, listed).tolist() == [expected[i] for i in listed]


def test_votes_are_exact_where_the_scores_are_largest():
    # Weights so many that no ending is tabled, and coordinates at the limit.
    n = 5000
    hypotheses = Halfspaces(n, 2)
    x = np.array([LARGEST_COORDINATE, LARGEST_COORDINATE - 1])
    pairs = [(n, -n), (-n, n), (n - 1, -n), (1 - n, n), (n, n), (-n, -n), (0, 0)]
    members = np.array([(a + n) * (2 * n + 1) + b + n for a, b in pairs])
    assert [hypotheses.weights(int(i)) for i in members] == pairs
    assert hypotheses.labels_of(hypotheses.encode(x), members).tolist() == [brute_label(w, x.tolist()) for w in pairs]


def test_the_compiled_votes_are_those_of_their_plain_twins():
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, 3)
    tables = [np.empty(25, dtype=np.int64) for _ in range(2)]
    kernel.low_scores(x, 2, tables[0])
    plain_twin(kernel.low_scores)(x, 2, tables[1])
    assert tables[0].tolist() == tables[1].tolist()
    numbers = np.sort(rng.permutation(125)[:40])
    compiled, plain = np.empty(125, dtype=np.int8), np.empty(125, dtype=np.int8)
    kernel.label_grid(x, 2, 1, tables[0], compiled)
    plain_twin(kernel.label_grid)(x, 2, 1, tables[0], plain)
    assert compiled.tolist() == plain.tolist()
    listed = np.empty(40, dtype=np.int8)
    plain_twin(kernel.label_numbers)(x, 2, 1, tables[0], numbers, listed)
    assert listed.tolist() == plain[numbers].tolist()


def test_distinct_hypotheses_are_distinct_functions_and_miss_none():
    n, dim = 3, 2
    points = list(itertools.product(range(-n, n + 1), repeat=dim))

    def behaviours(hypotheses):
        votes = np.array([hypotheses.labels_of(hypotheses.encode(x), None) for x in points])
        return {tuple(column) for column in votes.T.tolist()}

    once = Halfspaces(n, dim, distinct=True)
    assert len(behaviours(once)) == once.size
    assert behaviours(once) == behaviours(Halfspaces(n, dim))


def test_one_distinct_weight_has_three_values_for_any_n():
    hypotheses = Halfspaces(LARGEST_COORDINATE, 1, distinct=True)
    assert hypotheses.size == 3
    assert [hypotheses.describe(i) for i in range(3)] == ["-1*x[0] >= 0", "always +1", "1*x[0] >= 0"]
    assert Halving(hypotheses).predict_one([-5]) == 1  # -1 and 0 outvote +1


def test_repeated_votes_count_in_the_bound():
    # Functions A, B, C vote 4, 2 and 1 times. On C's stream Halving errs twice: log2(7) allows it, log2(3) does not.
    a, b, c = [1, 1], [-1, 1], [-1, -1]
    stream = [(0, -1), (1, -1)]
    ledger = play(Halving(Table([a] * 4 + [b] * 2 + [c])), stream)
    assert ledger.mistakes == 2 > math.log2(3)
    assert ledger.certify()[0].bound == 2 == (7).bit_length() - 1
    assert play(Halving(Table([a, b, c])), stream).mistakes == 1


@given(
    n=st.integers(1, 4),
    dim=st.integers(1, 3),
    kind=st.sampled_from(KINDS),
    conservative=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_halving_is_within_its_bound_on_every_realizable_stream(n, dim, kind, conservative, seed):
    hypotheses = Halfspaces(n, dim, **kind)
    target = hypotheses.weights(seed % hypotheses.size)
    ledger = play(Halving(hypotheses, conservative=conservative), random_stream(hypotheses, target, 40, seed))
    certificate = ledger.certify()[0]
    assert certificate.theorem == "halving_mistakes"
    assert certificate.status in ("valid", "vacuous")
    assert ledger.mistakes <= certificate.bound <= hypotheses.size.bit_length() - 1


def test_a_prior_weighs_the_halfspaces():
    hypotheses = Halfspaces(1, 1)  # -x >= 0, always, x >= 0
    assert Halving(hypotheses, prior=[5, 1, 1]).predict_one([3]) == -1
    assert Halving(hypotheses).predict_one([3]) == 1


def test_a_ties_vote_and_the_origin_are_positive():
    hypotheses = Halfspaces(2, 3)
    assert set(hypotheses.labels_of(hypotheses.encode([0, 0, 0]), None).tolist()) == {1}


def test_a_halfspace_is_readable():
    assert inequality([2, 0, -1]) == "2*x[0] - 1*x[2] >= 0"
    assert inequality([-2, 1]) == "-2*x[0] + 1*x[1] >= 0"
    assert inequality([0, 0]) == "always +1"
    hypotheses = Halfspaces(10, 1, bias=True)  # x in tenths: the constant 1 is 10
    assert hypotheses.describe(13 * 21 + 8) == "3*x[0] - 20 >= 0"
    with pytest.raises(InputError, match="numbered 0 to 440"):
        hypotheses.describe(441)


@pytest.mark.parametrize("kind", KINDS)
def test_the_class_and_its_survivors_are_restored(kind):
    hypotheses = Halfspaces(3, 2, **kind)
    assert restore_class(hypotheses.state()).state() == hypotheses.state()
    stream = random_stream(hypotheses, hypotheses.weights(hypotheses.size // 3), 30, 5)
    learner = Halving(hypotheses)
    for x, y in stream[:3]:
        learner.learn_one(x, y)
    again = Halving.restore(learner.state())
    for x, y in stream[3:]:
        assert again.play_one(x, y) == learner.play_one(x, y)
    assert again.facts() == learner.facts()
    assert again.survivor() == learner.survivor()


def test_a_class_too_large_is_refused_with_its_size_before_memory_is_taken():
    with pytest.raises(TooLargeError, match=r"244,140,625\. Take a smaller n or fewer dimensions\.$"):
        Halfspaces(2, 12).space()
    assert 5**12 - (3**12 - 1) == 243_609_185
    with pytest.raises(TooLargeError, match=r"243,609,185\. Take a smaller n or fewer dimensions\.$"):
        Halfspaces(2, 12, distinct=True).space()
    with pytest.raises(TooLargeError, match=r"100,060,009\. Take .*, or distinct=True\.$"):
        Halfspaces(5001, 2).space()
    with pytest.raises(TooLargeError, match=r"2,000,000,001\. Take .*, or distinct=True\.$"):
        Halfspaces(10**9, 1).space()
    assert Halfspaces(12, 5, distinct=True).size == 9_335_043
    assert Halfspaces(2**31 - 1, 400).size == (2**32 - 1) ** 400


@pytest.mark.parametrize(
    ("n", "dim"), [(0, 2), (-1, 2), (2.5, 2), (2**31, 2), (2, 0), (2, 1.5), (2, 401), (math.nan, 2)]
)
def test_invalid_class_is_refused(n, dim):
    with pytest.raises(InputError):
        Halfspaces(n, dim)


@pytest.mark.parametrize(
    "x", [[1], [1, 2, 3], [0.5, 1], [math.nan, 1], [math.inf, 1], [2**31, 0], [0, -(2**31)], ["a", "b"], 3, None]
)
def test_bad_input_is_refused_and_changes_nothing(x):
    learner = Halving(Halfspaces(3, 2))
    learner.learn_one([1, 2], -1)
    before = learner.facts()
    for act in (learner.predict_one, lambda x: learner.learn_one(x, 1)):
        with pytest.raises(InputError):
            act(x)
    for label in (0, 2, math.nan, "spam"):
        with pytest.raises(InputError):
            learner.learn_one([1, 2], label)
    assert learner.facts() == before
    assert learner.state()["rounds"] == 1
