"""Tables, cubes and functions: what they count, and what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.finite.classes import (
    cube,
    functions,
    halfspaces,
    programs,
    rectangles,
    restore_class,
    sphere_cover,
    table,
    thresholds,
)
from novikoff.finite.classes.survivors import whole_weights


def test_a_cube_holds_every_function_once():
    for k in (1, 3, 5):
        hypotheses = cube(k)
        rows = {tuple(int(hypotheses.labels_of(x, None)[h]) for x in range(k)) for h in range(len(hypotheses))}
        assert len(hypotheses) == len(rows) == 2**k


def test_thresholds_are_n_plus_two():
    assert len(thresholds(10)) == 12
    assert thresholds(10**30).size == 10**30 + 2
    assert [thresholds(1).describe(k) for k in range(3)] == ["x >= 0", "x >= 1", "always -1"]
    with pytest.raises(InputError):
        thresholds(-1)


@pytest.mark.parametrize("matrix", [[], [[]], [1, 2], [[0.5]], [["a"]], [[-2, 1]], [[2**20]]])
def test_invalid_table_is_refused(matrix):
    with pytest.raises(InputError):
        table(matrix)


def test_zeros_and_ones_are_two_of_many_labels():
    assert table([[0, 1]]).labels == 2
    assert table([[-1, 1]]).labels is None


@pytest.mark.parametrize("hypotheses", [thresholds(7), table([[0, 2], [1, 1]]), table([[1, -1]])])
def test_a_class_is_restored_from_its_state(hypotheses):
    again = restore_class(hypotheses.state())
    assert again.size == hypotheses.size
    assert [again.describe(i) for i in range(again.size)] == [hypotheses.describe(i) for i in range(again.size)]


def test_an_unknown_class_is_refused():
    with pytest.raises(ModelFileError, match="must be one of"):
        restore_class({"class": "os.system"})


def test_functions_cannot_be_saved_but_play():
    learner = nk.Halving(functions([str.islower, str.isupper]))
    assert learner.predict_one("abc") == 1
    learner.learn_one("ABC", 1)
    assert learner.survivor() == "isupper"
    with pytest.raises(ModelFileError, match="cannot be saved"):
        learner.state()
    with pytest.raises(InputError):
        functions([])


@pytest.mark.parametrize("functions_", [[1, 2], 3, "abc", [str.islower, None]])
def test_functions_must_be_functions(functions_):
    with pytest.raises(InputError, match="functions must be"):
        functions(functions_)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="the same length"):
        table([[0, 1, 2], [2, 1]])


@pytest.mark.parametrize(
    "hypotheses", [thresholds(10**19), rectangles(10**9, 3), halfspaces(10**6, 5), sphere_cover(9, 0.001, "cube")]
)
def test_len_raises_for_huge_classes_and_size_is_exact(hypotheses):
    assert hypotheses.size >= 2**63
    with pytest.raises(TooLargeError, match="`size`"):
        len(hypotheses)
    assert len(thresholds(2**63 - 3)) == 2**63 - 1
    with pytest.raises(TooLargeError):
        len(thresholds(2**63 - 2))


@pytest.mark.parametrize("wrong", [10.7, 10.0, "10", None, True, [10]])
@pytest.mark.parametrize(
    "make",
    [
        thresholds,
        cube,
        nk.ThresholdHalving,
        nk.CoverHalving,
        nk.TightestBox,
        nk.adversaries.GridBisection,
        nk.adversaries.MajorityFlip,
        nk.adversaries.RectangleBisection,
        lambda n: rectangles(n, 2),
        lambda n: rectangles(2, n),
        lambda n: halfspaces(n, 2),
        lambda n: halfspaces(2, n),
        lambda n: sphere_cover(n, 0.5),
        lambda n: programs(n, 2),
        lambda n: programs(12, n),
        lambda n: nk.RectangleHalving(n, 2),
        lambda n: nk.RectangleHalving(2, n),
        lambda n: nk.CoverHalving(2, largest=n),
        lambda n: nk.Consistent(thresholds(2), random=True, seed=n),
        lambda n: nk.adversaries.CoinFlip(seed=n),
    ],
)
def test_non_integers_are_refused(make, wrong):
    with pytest.raises(InputError, match="whole number|integer"):
        make(wrong)


def test_numpy_integers_are_accepted():
    assert thresholds(np.int64(3)).size == 5
    learner = nk.Consistent(thresholds(3), random=True, seed=np.int64(3))
    assert learner.predict_one(2) == nk.Consistent(thresholds(3), random=True, seed=3).predict_one(2)
    assert type(learner.state()["seed"]) is int


def test_a_prior_of_numpy_integers_does_not_overflow():
    prior = [2**61 + 1, 2**61 + 1, Fraction(1, 8), 1]
    for given in (prior, [np.int64(prior[0]), np.int64(prior[1]), Fraction(1, 8), np.int64(1)]):
        with pytest.raises(InputError, match=r"less than 2\^63"):
            whole_weights(given, 4)
    mixed = [np.int64(2**59 + 1), Fraction(np.int64(3), 8), np.float64(0.5), np.uint8(200)]
    assert whole_weights(mixed, 4).tolist() == [8 * (2**59 + 1), 3, 4, 1600]
    facts = nk.Halving(table([[1], [-1]]), prior=[np.int64(2**60), Fraction(1, 2)]).facts()
    assert (facts.whole, facts.lightest) == (2**61 + 1, 1)
