"""What a user builds by hand is checked where it is built: sparse rows, batches and labels of any kind."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.types import Sparse, check_label

MAKES = {
    "perceptron": nk.Perceptron,
    "ellipsoid": lambda: nk.Ellipsoid(width=2),
    "kernel perceptron": nk.KernelPerceptron,
    "forgetron": lambda: nk.Forgetron(3),
    "budget": lambda: nk.RandomizedBudgetPerceptron(3),
    "own kernel": lambda: nk.KernelPerceptron(dot),
    "tighter": lambda: nk.TighterPerceptron(3),
    "cks": lambda: nk.CrammerKandolaSinger(3),
    "team": lambda: nk.Hedge([nk.Perceptron(), nk.Ellipsoid(width=2)]),
    "drawing team": lambda: nk.Hedge([nk.Perceptron(), nk.RandomizedBudgetPerceptron(3)]),
    "threshold halving": lambda: nk.ThresholdHalving(9),
    "halving": lambda: nk.Halving(nk.classes.thresholds(9)),
    "weighted majority": lambda: nk.WeightedMajority(nk.classes.thresholds(9)),
    "consistent": lambda: nk.Consistent(nk.classes.thresholds(9), random=True),
    "exponential weights": lambda: nk.ExponentialWeights(nk.classes.thresholds(9)),
    "midpoint": nk.Midpoint,
    "constant": lambda: nk.Constant(1),
    "tightest box": lambda: nk.TightestBox(2),
    "rectangle halving": lambda: nk.RectangleHalving(10, 2),
}
ODD = [Fraction(1), Fraction(-1), Decimal(1), 1 + 0j, np.complex128(-1), np.array([1]), np.array([[1]]), [1], (1,), "1",
       None, np.datetime64(1, "s"), 0.5, 2, float("nan"), {1}, np.array([1, -1])]  # fmt: skip


def dot(x, z):
    return float(x @ z)


def example(make):
    kind = make().domain.kind
    wide = kind in ("vector", "point") or isinstance(make(), nk.TightestBox)
    return [1, 2] if wide else 3


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("label", ODD, ids=repr)
def test_an_odd_label_is_our_error_on_every_path(make, label):
    x = example(make)
    for teach in ("learn_one", "play_one"):
        learner = make()
        before = repr(learner.facts())
        if hasattr(learner, teach):
            with pytest.raises(InputError, match="a label must be"):
                getattr(learner, teach)(x, label)
            assert repr(learner.facts()) == before
    game = nk.Game(make())
    with pytest.raises(InputError, match="a label must be"):
        game.learn_one(x, label)
    assert game.ledger.rounds == 0
    with pytest.raises(InputError, match="label"):
        nk.play(make(), [(x, label)])


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("label", ODD, ids=repr)
def test_an_odd_label_in_a_batch_is_our_error(make, label):
    y = np.empty(3, dtype=object)
    y[:] = [1, -1, 1]
    y[1] = label
    x = np.array([example(make)] * 3)
    game = nk.Game(make())
    with pytest.raises(InputError, match="round 2: a label must be -1 or"):
        game.learn_batch(nk.Batch(x, y, 1))
    learner = make()
    if learner.has("learn_many"):
        try:
            played = learner.learn_many(nk.Batch(x, y, 1))
        except InputError as error:
            assert "a label must be -1 or +1" in str(error)  # noqa: PT017
        else:
            assert played is None  # left to be played row by row


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@pytest.mark.parametrize("kind", [object, np.float64, np.int64, np.float16, list])
def test_labels_of_any_kind_of_number_are_played(make, kind):
    y = [1, -1, -1, 1, 1]
    x = np.array([example(make)] * 5)
    games = [nk.Game(make()) for _ in range(3)]
    games[0].learn_batch(nk.Batch(x, np.array(y, np.int8), 1))
    games[1].learn_batch(nk.Batch(x, y if kind is list else np.array(y, dtype=kind), 1))
    for row, label in zip(x, y, strict=True):
        games[2].learn_one(row if row.ndim else int(row), np.array(label) if kind is object else float(label))
    assert games[0].ledger.mistakes == games[1].ledger.mistakes == games[2].ledger.mistakes


@pytest.mark.parametrize("y", [np.array([1 + 0j, -1]), np.array(["1", "-1"]), np.array([[1], [-1]]), np.array([0, 1]),
                               np.array([1, -128], np.int8), np.array([1.0, np.nan])])  # fmt: skip
def test_an_array_of_other_labels_is_our_error(y):
    batch = nk.Batch(np.ones((2, 2)), y, 11)
    for make in (nk.Perceptron, nk.Ellipsoid, nk.KernelPerceptron, MAKES["team"]):
        with pytest.raises(InputError, match="a label must be -1 or"):
            nk.Game(make()).learn_batch(batch)
        with pytest.raises(InputError, match="a label must be -1 or"):
            make().learn_many(batch)
    with pytest.raises(InputError, match="round 1"):
        nk.Game(nk.Perceptron()).learn_batch(batch)


def test_check_label_takes_numbers_that_are_one():
    assert [check_label(y, None) for y in (1, -1, 1.0, np.int8(-1), np.float32(1), np.array(-1))] == [
        1,
        -1,
        1,
        -1,
        1,
        -1,
    ]


def sparse(rows, width=9):
    ends = np.cumsum([0, *map(len, rows)])
    indices = np.array([i for row in rows for i, _ in row], dtype=np.int64)
    return Sparse(ends, indices, np.array([v for row in rows for _, v in row], dtype=float), width)


def test_repeated_indices_of_rows_built_by_hand_are_refused():
    with pytest.raises(
        InputError, match=r"no index may be repeated in a row: row 2 has \[7, 3, 7\]. Sum their values first."
    ):
        sparse([[(3, 1.0)], [(7, 1.0), (3, 2.0), (7, 1.0)], [(3, 1.0)]])
    assert len(sparse([[(3, 1.0)], [(7, 1.0), (3, 2.0)], [(3, 1.0)]])) == 3


def test_repeated_index_does_not_hide_a_value():
    """Six times 0.5 of one feature is 3: R was taken for sqrt(6) / 2, and the bound was too small."""
    arrays = np.array([0, 6], np.uint64), np.zeros(6, np.uint32), np.full(6, 0.5), 1
    with pytest.raises(InputError, match="repeated"):
        nk.Batch(Sparse(*arrays), np.array([-1], np.int8), 1)


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1)), max_size=6), max_size=6))
def test_rows_are_refused_exactly_if_one_has_an_index_twice(rows):
    twice = any(len({i for i, _ in row}) < len(row) for row in rows)
    if twice:
        with pytest.raises(InputError, match="repeated"):
            sparse(rows)
    else:
        assert [list(zip(i.tolist(), v.tolist(), strict=True)) for i, v in sparse(rows).rows()] == rows


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        (([0, 2], [0, 9], [1.0, 1.0], 9), "indices must be integers below the width, 9"),
        (([0, 2], [0, -1], [1.0, 1.0], 9), "indices must be integers below the width, 9"),
        (([0, 2], [0.0, 1.0], [1.0, 1.0], 9), "indices must be integers"),
        (([0, 2], [0, 1], [1.0], 9), "indices and values must have one length"),
        (([0, 3], [0, 1], [1.0, 1.0], 9), "indices and values must have one length, at least 3"),
        (([0, 2, 1], [0, 1], [1.0, 1.0], 9), "indptr must be non-decreasing integers from 0"),
        (([-1, 2], [0, 1], [1.0, 1.0], 9), "indptr must be"),
        (([0.0, 2.0], [0, 1], [1.0, 1.0], 9), "indptr must be"),
        (([], [0, 1], [1.0, 1.0], 9), "indptr must be"),
        (([0, 2], [0, 1], ["a", "b"], 9), "values must be numbers"),
        (([0, 2], [0, 1], [1j, 1.0], 9), "values must be numbers"),
    ],
)
def test_rows_that_kernels_would_read_past_are_refused(arrays, match):
    with pytest.raises(InputError, match=match):
        Sparse(*(np.array(part) for part in arrays[:3]), arrays[3])


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float16, np.longdouble, bool, np.float32, np.float64])
def test_sparse_values_of_any_kind_are_played_as_numbers(kind):
    x = np.abs(np.random.default_rng(2).integers(-1, 2, size=(80, 5)))
    y = np.where(x[:, 0] > x[:, 1], 1, -1).astype(np.int8)
    where, places = np.nonzero(x)
    ends = np.searchsorted(where, np.arange(81))
    for make in (
        nk.Perceptron,
        lambda: nk.Perceptron(normalize=True),
        lambda: nk.Ellipsoid(width=5),
        nk.KernelPerceptron,
    ):
        one, other = nk.Game(make()), nk.Game(make())
        one.learn_batch(nk.Batch(Sparse(ends, places, x[where, places].astype(kind), 5), y, 1))
        other.learn_batch(nk.Batch(Sparse(ends, places, x[where, places].astype(float), 5), y, 1))
        assert [str(c) for c in one.ledger.certify()] == [str(c) for c in other.ledger.certify()]


def test_parts_of_rows_are_not_checked_again():
    rows = sparse([[(0, 1.0), (3, 2.0)]] * 4)
    assert rows.checked
    assert rows[1:3].checked
    assert [len(part) for part in (rows[1:3], rows[2:])] == [2, 2]
    trusted = Sparse(np.array([0, 2], np.uint64), np.array([4, 4], np.uint32), np.ones(2), 9, checked=True)
    assert len(trusted) == 1
