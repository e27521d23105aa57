"""Tables, cubes and functions: what they count, and what they refuse."""

import pytest

import novikoff as nk
from novikoff.classes import cube, functions, restore_class, table, thresholds
from novikoff.errors import InputError, ModelFileError


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
def test_a_table_that_is_none_is_refused(matrix):
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
