"""Scaling: values by hand, whatever the sizes, and certificates on what the learner within saw."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff as nk
from helpers import same, tries
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Sparse
from novikoff.data._loops import scaling
from novikoff.data.scaled import KNOWN, SCALES, Rescaled, Scaled, Scaler
from novikoff.game.specs import make
from novikoff.testing import check_certificate, check_learner
from samples import GRID, NAMED, NAMED_MARGIN, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "scaled": [
        ("scaled:[perceptron:bias=1]", *VECTORS),
        ("perceptron:bias=1,normalize=true,scale=range", *VECTORS),
        ("perceptron:bias=2,scale=standard", *GRID),
        ("perceptron:scale=standard", *SPARSE),
        ("perceptron:bias=0.5,scale=range", *NAMED),
        ("perceptron:normalize=true,scale=standard", *NAMED),
        ("scaled:learner=[online-gradient:bias=1]", *NUMBERS),
        ("kernel-perceptron:gamma=0.5,scale=standard", *VECTORS),
        ("kernel-perceptron:linear,bias=2,scale=range", *SPARSE),
        ("rbp:budget=20,gamma=0.5,scale=standard", *VECTORS),
        ("forgetron:budget=20,gamma=0.5,scale=range", *VECTORS),
        ("ellipsoid:bias=1,scale=standard", *VECTORS),
        ("ellipsoid:width=4,scale=range", *NAMED_MARGIN),
        (
            "hedge:learners=[[perceptron:bias=1],[rbp:budget=20]],scale=range",
            *VECTORS,
        ),
    ],
}
"""Samples for tests/test_every_learner.py."""

every_scale = pytest.mark.parametrize("scale", SCALES)
tables = arrays(np.float64, (7, 3), elements=st.floats(allow_nan=False, allow_infinity=False))


def scaled(scale, rows):
    return Scaler(scale).rows(np.array(rows, dtype=np.float64), learn=True)


def sparse(x):
    """Every row without its zeros."""
    indptr = np.concatenate([[0], np.cumsum((x != 0).sum(axis=1))]).astype(np.uint64)
    return Sparse(indptr, np.nonzero(x)[1].astype(np.uint32), x[x != 0], x.shape[1], checked=True)


def test_the_mean_and_the_deviation_are_of_the_rows_up_to_this_one():
    found = scaled("standard", [[1, 10], [3, 10], [5, 40]])
    assert found[0].tolist() == [0, 0]
    assert found[1].tolist() == [1, 0]
    assert found[2].tolist() == pytest.approx([math.sqrt(3 / 2), math.sqrt(2)])


def test_the_largest_size_is_of_the_rows_up_to_this_one():
    assert scaled("range", [[0, 2], [-4, 1], [2, -8]]).tolist() == [[0, 1], [-1, 0.5], [0.5, -1]]


def test_a_sparse_feature_is_over_the_root_of_its_mean_square_where_it_is_present():
    found = Scaler("standard").rows(sparse(np.array([[3.0, 0.0], [0.0, -2.0], [4.0, 1.0]])), learn=True).values
    assert found.tolist() == pytest.approx([1, -1, 4 / math.sqrt(12.5), 1 / math.sqrt(2.5)])
    found = Scaler("range").rows(sparse(np.array([[3.0, 0.0], [0.0, -2.0], [-6.0, 1.0]])), learn=True).values
    assert found.tolist() == [1, -1, -1, 0.5]


def test_mean_and_deviation_are_looked_at_when_a_sixteenth_more_rows_came_and_when_a_value_is_far_off():
    many = [[1.0], [-1.0]] * 16  # after these the mean is 0, the deviation 1, and the next look at row 34
    assert scaled("standard", [*many, [3.0]])[-1, 0] == 3.0
    mean, square = 3 / 34, 41 / 34
    assert scaled("standard", [*many, [0.0], [3.0]])[-1, 0] == pytest.approx((3 - mean) / math.sqrt(square - mean**2))
    mean, square = 100 / 33, 10032 / 33
    assert scaled("standard", [*many, [100.0]])[-1, 0] == pytest.approx((100 - mean) / math.sqrt(square - mean**2))


@every_scale
def test_a_constant_column_is_uninformative_and_harms_nothing(scale):
    x = np.column_stack([np.full(50, 0.1), np.arange(50.0)])
    found = scaled(scale, x)
    assert set(found[:, 0].tolist()) == ({0.0} if scale == "standard" else {1.0})
    assert np.array_equal(found[:, 1:], scaled(scale, x[:, 1:]))
    assert not scaled(scale, np.zeros((9, 2))).any()


def test_a_huge_offset_costs_no_digits():
    small = np.random.default_rng(0).integers(-8, 8, (400, 2)) / 8.0
    assert np.array_equal(scaled("standard", 1e9 + small), scaled("standard", small))


def test_an_outlier_is_as_long_as_the_rows_allow_and_soon_forgiven():
    x = np.random.default_rng(1).normal(size=(4000, 1))
    x[2000] = 1e12
    found = scaled("standard", x)
    assert found[2000, 0] == pytest.approx(math.sqrt(2000), rel=1e-3)
    assert np.abs(found).max() == found[2000, 0]


@every_scale
@given(tables)
def test_every_row_is_finite_and_of_a_modest_size(scale, x):
    for found in (scaled(scale, x), Scaler(scale).rows(sparse(x), learn=True).values):
        assert np.isfinite(found).all()
        assert np.abs(found).max(initial=0.0) <= (8.0 if scale == "standard" else 1.0)


@every_scale
@given(tables, st.booleans())
@settings(max_examples=tries(50))
def test_compiled_and_plain_python_are_the_same_to_the_bit(scale, x, store):
    rows = sparse(x)
    one, two = (np.zeros((KNOWN, 3)) for _ in range(2))
    for dense in (True, False):
        kernel = getattr(scaling, f"{scale}_{'dense' if dense else 'sparse'}")
        given = (x,) if dense else (rows.indptr, rows.indices, rows.values)
        out, twin = (np.empty(x.shape if dense else len(rows.values)) for _ in range(2))
        kernel(one, *given, out, True)
        with np.errstate(all="ignore"):
            kernel.py_func(two, *given, twin, True)
        kernel(one, *given, out, store)
        with np.errstate(all="ignore"):
            kernel.py_func(two, *given, twin, store)
        assert same(one, two)
        assert same(out, twin)


@every_scale
@pytest.mark.parametrize("spec", ["perceptron:bias=1", "kernel-perceptron:gamma=0.5", "rbp:budget=9", "ellipsoid"])
@pytest.mark.parametrize("form", [np.asarray, sparse], ids=["dense", "sparse"])
def test_features_times_powers_of_two_are_played_the_same_to_the_bit(scale, spec, form):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.8)
    y = np.where(x @ [1, -2, 0.5, 1] + rng.normal(size=300) > 0, 1, -1)
    games = []
    for times in (np.ones(4), 2.0 ** np.array([-40, 30, 0, 7])):
        learner = make(f"{spec},scale={scale}" if ":" in spec else f"{spec}:scale={scale}", "learner")
        said = learner.learn_many(Batch(form(x * times), y.astype(np.int8), 1))
        asked = learner.predict_many(Batch(form(x * times), y.astype(np.int8), 1))
        games.append((getattr(said, "predictions", said).tolist(), asked.tolist(), learner.within.state()))
    assert same(*games)


@every_scale
@pytest.mark.parametrize("x", [[5.0, -1.0], (np.array([0, 9], dtype=np.uint32), np.array([5.0, 1.0])),
                               {"a": 5.0, "new": 1.0}], ids=["array", "pair", "names"])  # fmt: skip
def test_predicting_stores_nothing(scale, x):
    learner = Scaled(nk.Perceptron(), scale)
    first = x if not isinstance(x, dict) else {"a": 1.0, "b": 2.0}
    for y in (1, -1, 1):
        learner.play_one(first, y)
    before = learner.state()
    for _ in range(3):
        learner.predict_one(x), learner.score_one(x), learner.chances(x)
    assert same(learner.state(), before)


@pytest.mark.parametrize("scale", SCALES)
def test_a_second_pass_scales_each_row_as_it_was_learned(scale):
    x = np.random.default_rng(0).normal(size=(9, 3)) * 10.0 ** np.arange(3)
    again = Rescaled(nk.Arrays(x, np.where(x[:, 0] > 0.0, 1, -1)), scale, nk.Perceptron().features)
    assert np.array_equal(np.vstack([batch.x for batch in again.batches()]), Scaler(scale).rows(x, learn=True))


def test_a_feature_that_is_only_asked_of_needs_no_room():
    learner = Scaled(nk.KernelPerceptron(), "standard")
    learner.play_one({0: 1.0, 1: 2.0}, -1)
    assert learner.predict_one({2**28 - 1: 1.0}) in (-1, 1)


def test_names_are_scaled_as_numbers_and_come_at_any_time():
    rng = np.random.default_rng(5)
    names, named, numbered = "abcdef", Scaled(nk.Perceptron(bias=1)), Scaled(nk.Perceptron(bias=1))
    for t in range(200):
        some = range(1 + min(t // 30, 5))
        values, y = rng.normal(size=len(some)) * 10.0 ** np.arange(len(some)), int(rng.choice([-1, 1]))
        one = named.play_one({names[k]: float(v) for k, v in zip(some, values, strict=True)}, y)
        assert one == numbered.play_one({k: float(v) for k, v in zip(some, values, strict=True)}, y)
    assert same(named.within.state(), numbered.within.state())
    assert list(named.features.names) == list(names)


def test_user_defined_kernel_is_asked_of_scaled_rows_once_each():
    def closeness(a, b):
        return float(np.dot(a, b)) if isinstance(a, np.ndarray) else sum(v * b.get(k, 0.0) for k, v in a.items())

    x = np.random.default_rng(0).normal(size=(40, 2)) * [1, 1000]
    y = np.where(x[:, 0] > 0, 1, -1)
    ours, theirs = (nk.Scaled(nk.KernelPerceptron(kernel)) for kernel in ("linear", closeness))
    one, two = nk.play(ours, (x, y), record=True), nk.play(theirs, (x, y), record=True)
    assert same(ours.scaler.state(), theirs.scaler.state())
    assert one.recorded().tolist() == two.recorded().tolist()


@every_scale
@given(
    arrays(np.float64, (30, 2), elements=st.floats(-1e6, 1e6)), arrays(np.int8, 30, elements=st.sampled_from([-1, 1]))
)
@settings(max_examples=25, deadline=None)
def test_no_certificate_of_a_scaled_game_is_violated_on_any_stream(scale, x, y):
    for spec in ("perceptron:bias=1", "forgetron:budget=5,gamma=0.5"):
        for certificate in nk.play(make(f"{spec},scale={scale}", "learner"), (x, y)).certify():
            check_certificate(certificate)
            assert certificate.status != "violated"


def test_the_certificate_of_a_scaled_game_is_that_of_the_scaled_rows():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(500, 3)) * [1, 1e4, 1e-4]
    y = np.where(x @ [1, 1e-4, 1e4] > 0, 1, -1)
    told = nk.play(nk.Scaled(nk.Perceptron(bias=1.0), "standard"), (x, y))
    plain = nk.play(nk.Perceptron(bias=1.0), (scaled("standard", x), y))
    assert told.mistakes == plain.mistakes
    assert [c.bound for c in told.certify()] == [c.bound for c in plain.certify()]
    assert told.certify()[0].status == "valid"


def test_a_scaled_regression_keeps_every_contract():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3)) * [1, 100, 0.01]
    y = np.clip(x @ [0.3, 0.002, 20], -1, 1)
    check_learner(lambda: nk.Scaled(nk.OnlineGradient(normalize=True)), (x, y), refused=[[1.0], None, "a"])


def test_invalid_vector_is_not_scaled():
    with pytest.raises(InputError, match="only learners on vectors can be scaled: ThresholdHalving plays on index"):
        nk.Scaled(nk.ThresholdHalving(9))
    with pytest.raises(InputError, match='a scale must be "standard" or "range": got \'much\''):
        nk.Scaled(nk.Perceptron(), "much")


def test_hindsight_and_keep_in_python(tmp_path):
    rng = np.random.default_rng(4)
    rows = [({"a": float(a), "b": 100 * float(b)}, 1 if a + b > 0 else -1) for a, b in rng.normal(size=(300, 2))]
    ledger = nk.play(nk.Scaled(nk.Perceptron(bias=1)), rows, hindsight=True, candidates=10)
    assert ledger.hindsight.facts.invalid_reason == ""
    nk.save(nk.finalize(ledger, "best", stream=rows), tmp_path / "kept.nk")
    nk.save(ledger, tmp_path / "game.nk")
    kept, game = nk.load(tmp_path / "kept.nk"), nk.load(tmp_path / "game.nk")
    assert kept.predict_one({"a": 3.0, "b": 100.0}) == 1
    assert same(game.learner.state(), ledger.learner.state())
    with pytest.raises(InputError, match="needs one pass from the first example on: the learner had seen examples"):
        nk.play(ledger.learner, rows, hindsight=True)


def test_a_scaled_learner_has_a_score_and_a_probability_where_the_one_within_has():
    perceptron, ftrl = Scaled(nk.Perceptron()), Scaled(nk.FTRL())
    for learner in (perceptron, ftrl):
        learner.learn_one([1.0, 2.0], 1)
        assert learner.score_one([2.0, 0.0]) == learner.within.score_one(learner._scaled_example([2.0, 0.0]))
    assert not perceptron.has("probability_one")
    assert ftrl.probability_one([2.0, 0.0]) == ftrl.within.probability_one(ftrl._scaled_example([2.0, 0.0]))
