"""The Ellipsoid: the rule by hand, cuts that hold what they must, and one learner whatever the form of its examples."""

import copy
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import csr, same, sparse
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.core.types import Batch, Sparse
from novikoff.linear import _loops as linear_loops
from novikoff.linear.ellipsoid import FLAWS, WIDEST, Ellipsoid
from samples import GRID, NAMED_MARGIN, SPARSE_MARGIN, VECTORS, margin_stream

SAMPLES = {
    "ellipsoid": [
        ("ellipsoid", *VECTORS),
        ("ellipsoid", partial(margin_stream, 1), [[1, 2], [math.nan], [math.inf], ["a"], None]),
        ("ellipsoid:bias=1,normalize=true", *VECTORS),
        ("ellipsoid:bias=3,grid=3", *GRID),
        ("ellipsoid:cuts=deep,width=3", *VECTORS),
        ("ellipsoid:margin=0.1", *VECTORS),
        ("ellipsoid", *SPARSE_MARGIN),
        ("ellipsoid:bias=0.5,cuts=deep", *SPARSE_MARGIN),
        ("ellipsoid:width=4", *NAMED_MARGIN),
        ("ellipsoid:width=4,bias=1,normalize=true", *NAMED_MARGIN),
    ],
}
"""Samples for tests/test_every_learner.py."""


def separable(d, rows, seed, bias=0.0):
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(rows, d)), rng.normal(size=d)
    return x, np.where(x @ u + bias * rng.normal() >= 0, 1, -1).astype(np.int8)


def plain(rows, labels, cuts="centre", margin=0.0):
    """The algorithm with numpy and no scale: (predictions, w, J)."""
    d = rows.shape[1]
    w, J, said = np.zeros(d), np.eye(d), []
    for x, y in zip(rows, labels, strict=True):
        said.append(-1 if x @ w < 0 else 1)
        if said[-1] == y:
            continue
        x = x / np.linalg.norm(x)
        image = J.T @ x
        s = np.linalg.norm(image)
        p = image / s
        v = J @ p
        alpha = max(0.0, (margin - y * (w @ x)) / s) if cuts == "deep" or margin else 0.0
        b = math.sqrt((d - 1) * (1 - alpha) / ((d + 1) * (1 + alpha)))
        w = w + y * (1 + d * alpha) / (d + 1) * v
        J = math.sqrt(d * d / (d * d - 1) * (1 - alpha**2)) * (J - (1 - b) * np.outer(v, p))
    return said, w, J


def test_golden_three_cuts():
    learner = Ellipsoid()
    steps = [
        ((1.0, 0.0), (-1 / 3, 0.0), [[4 / 9, 0.0], [0.0, 4 / 3]]),
        ((0.0, 1.0), (-1 / 3, -0.384900179), [[16 / 27, 0.0], [0.0, 16 / 27]]),
        ((1.0, -1.0), (-0.514777018, -0.203456495), [[0.526748971, 0.263374486], [0.263374486, 0.526748971]]),
    ]
    for x, w, A in steps:
        assert learner.play_one(x, -1) == 1  # a mistake
        assert learner.weights.tolist() == pytest.approx(w, abs=1e-9)
        assert np.allclose(learner.factor @ learner.factor.T, A, atol=1e-9)
    assert (learner.rounds, learner.updates, learner.size, learner.flaw) == (3, 3, 6, "")


def test_the_example_of_the_slides_is_no_mistake():
    learner = Ellipsoid()
    assert learner.play_one([1.0, 0.0], 1) == 1
    assert not learner.weights.any()
    assert learner.updates == 0


def test_one_dimension_is_bisection():
    learner = Ellipsoid()
    for x, y, w, J in [(2.0, -1, -0.5, 0.5), (-3.0, 1, -0.5, 0.5), (2.0, 1, -0.25, 0.25), (5.0, 1, -0.125, 0.125)]:
        learner.learn_one([x], y)
        assert (learner.weights[0], learner.factor[0, 0]) == (w, J)
    given_margin = Ellipsoid(margin=0.2)
    given_margin.learn_one([4.0], -1)  # v <= -0.2 of [-1, 1]
    assert given_margin.weights[0] == pytest.approx(-0.6)
    assert given_margin.factor[0, 0] == pytest.approx(0.4)
    given_margin.learn_one([4.0], 1)  # v >= 0.2 of [-1, -0.2]: nothing is left
    assert (given_margin.flaw, given_margin.updates) == (FLAWS[4], 1)


@pytest.mark.parametrize(("cuts", "margin"), [("centre", 0.0), ("deep", 0.0), ("deep", 0.05)])
@pytest.mark.parametrize("d", [2, 3, 7, 16])
def test_the_kernel_is_the_plain_algorithm(d, cuts, margin):
    rng = np.random.default_rng(d)
    x, u = rng.normal(size=(400, d)), rng.normal(size=d)
    x = x[np.abs(x @ u) > 0.2 * np.linalg.norm(x, axis=1) * np.linalg.norm(u)]
    y = np.where(x @ u > 0, 1, -1).astype(np.int8)
    learner = Ellipsoid(cuts=cuts, margin=margin)
    said, w, J = plain(x, y, cuts, margin)
    assert learner.learn_many(Batch(x, y, 1)).tolist() == said
    assert np.allclose(learner.weights, w, atol=1e-9)
    assert np.allclose(learner.factor, J, atol=1e-9)
    assert learner.updates == np.count_nonzero(np.array(said) != y)


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3, 6]), st.sampled_from(["centre", "deep", "margin"]))
def test_cut_contains_its_half_and_has_its_volume(seed, d, kind):
    rng = np.random.default_rng(seed)
    level = 0.1 if kind == "margin" else 0.0
    learner = Ellipsoid(cuts="deep" if kind == "deep" else "centre", margin=level, width=d)
    for _ in range(rng.integers(0, 6)):
        x = rng.normal(size=d)
        learner.learn_one(x, -learner.predict_one(x))
    if learner.flaw:
        return
    w, J, depth = learner.weights.copy(), learner.factor, learner.facts().depth
    x = rng.normal(size=d)
    y = -learner.predict_one(x)
    learner.learn_one(x, y)
    if learner.flaw:
        return
    inside = rng.normal(size=(4000, d))
    inside *= rng.uniform(size=(4000, 1)) ** (1 / d) / np.linalg.norm(inside, axis=1, keepdims=True)
    inside = w + inside @ J.T
    scores = y * (inside @ x)
    floor = y * (w @ x) if kind == "centre" else level * np.linalg.norm(x)
    kept = inside[scores >= floor]
    reach = np.linalg.norm(np.linalg.solve(learner.factor, (kept - learner.weights).T), axis=0)
    assert np.all(reach <= 1.0 + 1e-9)
    kappa = 0.5 if d == 1 else d / (d + 1) * (d * d / (d * d - 1)) ** ((d - 1) / 2)
    ratio = abs(np.linalg.det(learner.factor) / np.linalg.det(J))
    assert ratio == pytest.approx(kappa * math.exp(depth - learner.facts().depth))
    assert ratio <= kappa * (1 + 1e-9)


numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
games = st.integers(1, 5).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(numbers, min_size=d, max_size=d), st.sampled_from([-1, 1])), min_size=1, max_size=40
    )
)


@given(
    games, st.sampled_from([0.0, 0.3]), st.booleans(), st.sampled_from([("centre", 0.0), ("deep", 0.0), ("deep", 0.1)])
)
def test_sweep_and_loop_agree_to_the_bit(pairs, bias, normalize, cut):
    x = np.array([row for row, _ in pairs])
    y = np.array([label for _, label in pairs], dtype=np.int8)
    sparse = csr([{i: v for i, v in enumerate(row) if v} for row in x.tolist()], x.shape[1])
    for rows in (x, sparse):
        swept, looped, parts = (Ellipsoid(bias, normalize, *cut, width=x.shape[1]) for _ in range(3))
        batch = Batch(rows, y, 1)
        said = swept.learn_many(batch).tolist()
        assert said == [looped.play_one(row, label) for row, label in batch.rows()]
        middle, end = len(y) // 3, len(y)
        again = [parts.learn_many(batch.part(0, middle)), parts.learn_many(batch.part(middle, end - 1)),
                 parts.learn_many(batch.part(end - 1, end))] if end > 1 else [parts.learn_many(batch)]  # fmt: skip
        assert said == np.concatenate(again).tolist()
        assert same(swept.state(), looped.state())
        assert same(swept.state(), parts.state())


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_every_form_of_an_example_makes_the_same_cuts(bias):
    x, y = separable(5, 300, 4, bias)
    x[1:][np.abs(x[1:]) < 0.3] = 0.0  # not in the first, so that names come in order
    sparse = [{i: v for i, v in enumerate(row) if v} for row in x.tolist()]
    names = "abcde"

    def swept(rows):
        learner = Ellipsoid(bias, width=5)
        return learner.learn_many(Batch(rows, y, 1)).tolist(), learner

    def looped(rows):
        learner = Ellipsoid(bias, width=5)
        return [learner.play_one(row, int(label)) for row, label in zip(rows, y, strict=True)], learner

    games = [
        swept(x),
        swept(csr(sparse, 5)),
        looped(list(x)),
        looped(x.tolist()),
        looped(sparse),
        looped([(np.array(list(row), dtype=np.uint32), np.array(list(row.values()))) for row in sparse]),
    ]
    games.append(looped([{names[i]: v for i, v in row.items()} for row in sparse]))
    for said, learner in games[1:]:
        assert said == games[0][0]
        assert np.array_equal(learner.factor, games[0][1].factor)
        assert np.array_equal(learner.weights, games[0][1].weights)
        assert learner.bias_weight == games[0][1].bias_weight
    narrow, whole = (np.round(4 * x).astype(kind) for kind in (np.float32, np.int64))
    assert swept(narrow)[0] == swept(whole)[0] == swept(whole.astype(np.int16))[0] == swept(whole.astype(float))[0]
    assert same(swept(narrow)[1].state(), swept(whole)[1].state())


@pytest.mark.parametrize("size", [1e-170, 1e-300, 5e-320, 1e170, 1e300])
@pytest.mark.parametrize("cuts", ["centre", "deep"])
def test_examples_may_be_of_any_length(size, cuts):
    rows, labels = [(1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (0.5, 0.25), (-1.0, 1.0)], [-1, -1, -1, 1, -1]
    usual, other = Ellipsoid(cuts=cuts), Ellipsoid(cuts=cuts)
    for x, y in zip(rows, labels, strict=True):
        assert usual.play_one(np.array(x), y) == other.play_one(np.array(x) * size, y)
    assert np.allclose(usual.factor, other.factor, atol=1e-3 if size < 1e-310 else 1e-12)
    assert usual.flaw == other.flaw


@pytest.mark.parametrize("x", [(5e-324, 0.0, 0.0), (1.7e308, 1.7e308, 1.7e308)])
def test_a_score_that_doubles_cannot_hold_still_has_its_sign(x):
    learner = Ellipsoid(width=3)
    for axis in (0, 1, 2):
        learner.learn_one({axis: 1e4}, -1)
    learner._body[0][:] *= 4.0  # so that the sum overflows
    learner._body[0][0] = -0.25  # and the product underflows
    label = np.array([-1], dtype=np.int8)
    sparse = csr([{i: value for i, value in enumerate(x) if value}], 3)
    for rows in (np.array([x]), sparse):
        kind = Ellipsoid.restore({**learner.state(), "features": Ellipsoid().features.state()})
        assert kind.predict_one(next(iter(Batch(rows, label, 1).rows()))[0]) == -1
        assert kind.learn_many(Batch(rows, label, 1)).tolist() == [-1]


@given(st.integers(0, 1000), st.sampled_from(["centre", "deep"]))
def test_a_power_of_two_changes_nothing_to_the_bit(seed, cuts):
    x, y = separable(4, 60, seed)
    powers = 2.0 ** np.random.default_rng(seed).integers(-900, 900, (60, 1))
    one, two = Ellipsoid(cuts=cuts), Ellipsoid(cuts=cuts)
    assert one.learn_many(Batch(x, y, 1)).tolist() == two.learn_many(Batch(x * powers, y, 1)).tolist()
    assert same(one.state(), two.state())


def test_zero_example_predicts_plus_one_and_cannot_be_learned():
    learner = Ellipsoid(width=2)
    assert learner.play_one([0.0, 0.0], 1) == 1
    assert (learner.updates, learner.flaw) == (0, "")
    assert learner.play_one([0.0, 0.0], -1) == 1
    assert (learner.updates, learner.rounds, learner.flaw) == (0, 2, FLAWS[1])
    learner.learn_one([1.0, 0.0], -1)
    assert learner.updates == 1  # it goes on
    assert learner.flaw == FLAWS[1]
    with_bias = Ellipsoid(bias=1.0, width=2)
    with_bias.learn_one([0.0, 0.0], -1)
    assert (with_bias.updates, with_bias.flaw) == (1, "")
    assert with_bias.predict_one([0.0, 0.0]) == -1


def test_inseparable_labels_end_in_a_flaw_and_never_in_nan():
    rng = np.random.default_rng(0)
    for d, cuts in [(1, "centre"), (2, "centre"), (2, "deep"), (5, "centre"), (5, "deep")]:
        learner = Ellipsoid(cuts=cuts)
        x = np.repeat(rng.normal(size=(20_000, d)), 2, axis=0)  # each example twice, with both labels
        y = np.tile(np.array([1, -1], dtype=np.int8), len(x) // 2)
        learner.learn_many(Batch(x, y, 1))
        assert learner.flaw, (d, cuts)
        assert np.all(np.isfinite(learner.factor))
        assert np.all(np.isfinite(learner.weights))


def test_nonfinite_batch_row_is_a_flaw_and_changes_nothing():
    for bad in (math.nan, math.inf, -math.inf):
        learner = Ellipsoid(width=2)
        learner.learn_many(
            Batch(np.array([[1.0, 0.0], [bad, 1.0], [0.0, 1.0]]), np.array([-1, -1, -1], dtype=np.int8), 1)
        )
        assert learner.flaw == FLAWS[2]
        assert learner.updates == 2
        assert np.all(np.isfinite(learner.factor))


def test_a_self_check_that_failed_stays_failed_also_in_a_file():
    learner = Ellipsoid(width=3)
    learner.learn_one([1.0, 0.0, 0.0], -1)
    learner._body[1][:] *= 1.01
    learner.learn_one([0.0, 1.0, 0.0], -1)
    assert learner.flaw == FLAWS[5]
    learner._body[1][:] /= 1.01
    again = Ellipsoid.restore(learner.state())
    for x in ([0.0, 0.0, 1.0], [1.0, 1.0, 2.0]):
        again.learn_one(x, -again.predict_one(x))
    assert again.updates == 4
    assert again.flaw == FLAWS[5]


def test_volume_is_checked_whenever_the_updates_double():
    learner = Ellipsoid(width=3)
    learner.learn_one([1.0, 0.0, 0.0], -1)
    learner._body[1][:] *= 1.01
    learner.learn_many(Batch(np.eye(3)[1:], np.array([-1, -1], dtype=np.int8), 1))
    assert (learner.updates, learner.flaw) == (3, FLAWS[5])  # seen at the second


def test_the_width_is_that_of_the_first_example_or_the_one_given():
    learner = Ellipsoid()
    assert learner.predict_one([1.0, 2.0]) == 1
    assert learner.domain.width is None
    learner.learn_one([1.0, 2.0], 1)
    assert learner.domain.width == 2
    with pytest.raises(InputError, match="must have 2 numbers"):
        learner.learn_one([1.0, 2.0, 3.0], 1)
    with pytest.raises(InputError, match="pass bits=B"):
        learner.learn_many(Batch(np.ones((2, 3)), np.ones(2, dtype=np.int8), 1))
    named = Ellipsoid(width=2)
    named.learn_one({"a": 1.0}, -1)
    named.learn_one({"b": 1.0}, -1)
    before = copy.deepcopy(named.state())
    with pytest.raises(InputError, match="larger width"):
        named.learn_one({"a": 1.0, "c": 1.0}, -1)
    assert named.state()["features"] == before["features"]
    with pytest.raises(InputError, match="positive integer"):
        Ellipsoid().learn_one({}, -1)
    with pytest.raises(TooLargeError, match="its matrix"):
        Ellipsoid().learn_one({WIDEST: 1.0}, -1)
    assert Ellipsoid(width=1).predict_one({}) == 1


def test_features_that_were_never_seen_have_weight_0_at_prediction():
    for options in ({}, {"bias": -0.1}, {"bias": -0.4, "normalize": True}):
        learner, wide = Ellipsoid(width=2, **options), Ellipsoid(width=9, **options)
        for x, y in (({0: 1.0, 1: 0.25}, -1), ({1: 1.0}, -1), ({0: -1.0}, 1)) * 3:
            learner.learn_one(x, y)
        wide._body[0][:2], wide._body[0][-1] = learner.weights, learner._body[0][-1]
        wide.features.kind = "numbers"
        rows = [{0: -1.0, 7: 0.5, 8: 2.0}, {0: 1.0, 5: 3.0}, {6: 1.0}, {0: -0.5, 1: 0.25, 8: 1e-300}, {0: 0.2, 3: 9.0}]
        x = Sparse.of_rows([(np.array([*row], np.uint32), np.array([*row.values()])) for row in rows])
        said = [learner.predict_one(row) for row in rows]
        assert said == [wide.predict_one(row) for row in rows]
        assert learner.predict_many(Batch(x, np.ones(5, np.int8), 1)).tolist() == said
        assert {*said} == {-1, 1}


@pytest.mark.parametrize(
    "wrong",
    [{"bias": math.nan}, {"cuts": "shallow"}, {"margin": 1.0}, {"margin": -0.1}, {"margin": math.nan}, {"grid": -1},
     {"grid": 1.5}, {"grid": 10**400}, {"grid": math.nan}, {"width": 0}, {"width": 2.5}, {"width": WIDEST + 1}],
)  # fmt: skip
def test_invalid_arguments_are_refused(wrong):
    with pytest.raises((InputError, TooLargeError)):
        Ellipsoid(**wrong)


def test_a_damaged_state_is_refused():
    learner = Ellipsoid(bias=1.0)
    x, y = separable(3, 40, 1)
    learner.learn_many(Batch(x, y, 1))
    state = learner.state()
    assert same(Ellipsoid.restore(state).state(), learner.state())
    for name, value in {
        "centre": np.zeros(3),
        "factor": np.zeros((3, 4)),
        "scale": 0.0,
        "depth": -1.0,
        "flaw": 17,
        "updates": 41,
        "width": 0,
    }.items():
        with pytest.raises(ModelFileError):
            Ellipsoid.restore({**state, name: value})
    poisoned = state["factor"].copy()
    poisoned[0, 0] = math.nan
    with pytest.raises(ModelFileError):
        Ellipsoid.restore({**state, "factor": poisoned})
    wide = {**state["features"], "count": 9}
    with pytest.raises(ModelFileError):
        Ellipsoid.restore({**state, "features": wide})


def test_facts_are_equal_by_value():
    one, two = Ellipsoid(width=2), Ellipsoid(width=2)
    assert one.facts() == two.facts()
    one.learn_one([1.0, 0.5], -1)
    assert one.facts() != two.facts()
    two.learn_one([1.0, 0.5], -1)
    assert one.facts() == two.facts()
    assert one.facts() != "facts"


def test_comparators_use_the_learners_features():
    for bias, normalize, seen in [(0.0, False, True), (0.0, True, True), (1.0, False, False), (1.0, True, True)]:
        learner = Ellipsoid(bias, normalize)
        tracker = learner.tracker()
        assert (tracker.bias, tracker.normalize) == (bias, seen)
        assert (learner.facts().bias, learner.facts().normalize) == (bias, seen)


def test_kernels_are_compiled_for_one_kind_of_arrays():
    x, y = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1, -1], dtype=np.int8)
    held = x.copy()
    held.flags.writeable = y.flags.writeable = False
    for rows in (x, held, x.astype(np.float32), x.astype(np.int64)):
        for shown in (rows, sparse(rows)):
            learner = Ellipsoid()
            learner.learn_many(Batch(shown, y, 1))
            learner.predict_many(Batch(shown, y, 1))
    many = (
        linear_loops.ellipsoid.learn_dense,
        linear_loops.ellipsoid.learn_sparse,
        linear_loops.ellipsoid.scores_dense,
    )
    assert [len(kernel.signatures) for kernel in many] == [1, 1, 1]
