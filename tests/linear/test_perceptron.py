"""The Perceptron: the rule by hand, and one learner whatever the form of its examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from helpers import csr
from novikoff.core.errors import InputError
from novikoff.numerics import lanes
from samples import GRID, NAMED, SPARSE, VECTORS
from twins import dense_twin

SAMPLES = {
    "perceptron": [
        ("perceptron", *VECTORS),
        ("perceptron:bias=1,normalize=true", *VECTORS),
        ("perceptron:bias=2", *GRID),
        ("perceptron:bias=0.5", *SPARSE),
        ("perceptron:normalize=true", *SPARSE),
        ("perceptron", *NAMED),
        ("perceptron:bias=1,normalize=true", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

GOLDEN = [((2.0, 1.0), 1), ((-1.0, -2.0), -1), ((1.0, 3.0), 1), ((-2.0, 0.0), -1)]


def test_the_rule_on_a_hand_computed_example():
    learner = nk.Perceptron()
    said = [learner.play_one(np.array(x), y) for x, y in GOLDEN]
    assert said == [1, 1, 1, -1]  # a score of 0 says +1; only round 2 errs
    assert learner.weights.tolist() == [1.0, 2.0]
    assert (learner.rounds, learner.updates) == (4, 1)


def test_orthonormal_examples_labelled_minus_one_are_all_mistakes():
    ledger = nk.play(nk.Perceptron(), (np.eye(7), -np.ones(7, dtype=int)))
    assert ledger.mistakes == 7
    margin = next(c for c in ledger.certify() if c.theorem == "perceptron_margin")
    assert margin.bound == 7  # R^2/margin^2 = 1/(1/7): tight


def test_an_alternating_label_is_vacuous():
    ledger = nk.play(nk.Perceptron(), [(np.array([1.0]), 1 if t % 2 == 0 else -1) for t in range(10)])
    assert ledger.mistakes == 9
    hinge = next(c for c in ledger.certify() if c.theorem == "perceptron_hinge")
    assert (hinge.bound, hinge.status) == (10, "vacuous")


whole = st.integers(-8, 8)
rows_of_whole = st.lists(
    st.tuples(st.lists(whole, min_size=5, max_size=5), st.sampled_from([-1, 1])), min_size=1, max_size=40
)


@given(rows_of_whole, st.sampled_from([0.0, 1.0, 3.0]))
def test_every_form_of_an_example_is_the_same_on_integers(pairs, bias):
    x = np.array([row for row, _ in pairs], dtype=np.float64)
    y = np.array([label for _, label in pairs], dtype=np.int8)
    sparse = [{i: v for i, v in enumerate(row) if v} for row in x.tolist()]
    names = "abcde"

    def swept(rows):
        learner = nk.Perceptron(bias=bias)
        return learner.learn_many(nk.Batch(rows, y, 1)).tolist(), learner

    def looped(rows):
        learner = nk.Perceptron(bias=bias)
        return [learner.play_one(row, int(label)) for row, label in zip(rows, y, strict=True)], learner

    games = [
        swept(x),
        swept(x.astype(np.int64)),
        swept(x.astype(np.float32)),
        swept(csr(sparse)),
        looped(list(x)),
        looped(x.astype(np.int64).tolist()),
        looped(sparse),
        looped([(np.array(list(row), dtype=np.uint32), np.array(list(row.values()))) for row in sparse]),
    ]
    for said, learner in games[1:]:
        assert said == games[0][0]
        assert learner.bias_weight == games[0][1].bias_weight
        width = len(learner.weights)
        assert learner.weights.tolist() == games[0][1].weights[:width].tolist()
        assert not games[0][1].weights[width:].any()
    named, learner = looped([{names[i]: v for i, v in row.items()} for row in sparse])
    assert named == games[0][0]
    for name, place in learner.features.names.items():
        assert learner.weights[place] == games[0][1].weights[names.index(name)]


finite = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(
    st.lists(st.tuples(st.lists(finite, min_size=11, max_size=11), st.sampled_from([-1, 1])), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1]),
    st.booleans(),
)
def test_sweep_and_loop_agree_to_the_bit_on_arbitrary_floats(pairs, bias, normalize):
    x = np.array([row for row, _ in pairs])
    y = np.array([label for _, label in pairs], dtype=np.int8)
    sparse = csr([{i: v for i, v in enumerate(row) if v} for row in x.tolist()])
    for rows in (x, sparse):
        swept, looped, halves = (nk.Perceptron(bias, normalize) for _ in range(3))
        batch = nk.Batch(rows, y, 1)
        said = swept.learn_many(batch).tolist()
        assert said == [looped.play_one(row, label) for row, label in batch.rows()]
        middle = len(y) // 2
        assert said == [*halves.learn_many(batch.part(0, middle)), *halves.learn_many(batch.part(middle, len(y)))]
        for other in (looped, halves):
            assert other.bias_weight == swept.bias_weight
            width = min(len(other.weights), len(swept.weights))
            assert other.weights[:width].tolist() == swept.weights[:width].tolist()


@given(st.lists(st.tuples(finite, finite), max_size=40), st.floats(0.1, 2))
def test_the_dot_products_are_their_twins(pairs, scale):
    from numba import njit

    w, x = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    plain, scaled = _compiled(njit)
    assert plain(w, x) == dense_twin(w, x)
    assert scaled(w, x, scale) == dense_twin(w, x, scale)
    indices = np.arange(len(x), dtype=np.uint32)
    assert lanes.sparse(w, indices, x, 0, len(x)) == lanes.sparse.py_func(w, indices, x, 0, len(x))
    assert lanes.inverse_norm(x, 0, len(x)) == lanes.inverse_norm.py_func(x, 0, len(x))


def _compiled(njit, cache={}):  # noqa: B006 - compiled once
    if not cache:
        dense, dense_scaled = lanes.dense, lanes.dense_scaled
        cache["plain"] = njit(lambda w, x: dense(w, x))
        cache["scaled"] = njit(lambda w, x, scale: dense_scaled(w, x, scale))
    return cache["plain"], cache["scaled"]


def test_normalised_rows_have_length_one_and_zero_rows_stay():
    learner = nk.Perceptron(normalize=True)
    learner.learn_one(np.array([3.0, 4.0]), -1)
    assert learner.weights.tolist() == [-0.6000000000000001, -0.8]
    learner.learn_one(np.array([0.0, 0.0]), -1)
    assert learner.weights.tolist() == [-0.6000000000000001, -0.8]


def test_the_width_grows_with_the_stream_and_new_features_weigh_nothing():
    learner = nk.Perceptron()
    learner.learn_one({3: 1.0}, -1)
    assert learner.predict_one({1000: 1.0}) == 1
    assert len(learner.weights) == 4
    learner.learn_one({1000: 1.0}, -1)
    assert len(learner.weights) == 1001
    assert learner.size == 2


def test_a_score_beyond_the_doubles_is_played_as_the_sweep_does():
    x = np.array([[1e308, 1e308], [1e308, -1e308], [-1e308, -1e308], [1e308, 1e308]])
    y = np.array([-1, -1, 1, -1], dtype=np.int8)
    for bias in (0.0, 1e308):
        swept, looped = nk.Perceptron(bias), nk.Perceptron(bias)
        said = swept.learn_many(nk.Batch(x, y, 1)).tolist()
        assert said == [looped.play_one(row, int(label)) for row, label in zip(x, y, strict=True)]
        assert np.array_equal(swept.weights, looped.weights, equal_nan=True)
    ledger = nk.play(nk.Perceptron(), (x, y))
    assert all(certificate.status in ("void", "vacuous") for certificate in ledger.certify())


def test_examples_keep_to_one_kind():
    learner = nk.Perceptron()
    learner.learn_one({"a": 1.0}, -1)
    for other in (np.array([1.0]), {0: 1.0}, (np.array([0], dtype=np.uint32), np.array([1.0]))):
        with pytest.raises(InputError, match="all examples must have one form"):
            learner.learn_one(other, 1)
    with pytest.raises(InputError, match="all examples must have one form"):
        learner.learn_many(nk.Batch(np.ones((1, 1)), np.ones(1, dtype=np.int8), 1))
    array = nk.Perceptron()
    array.learn_one(np.ones(3), -1)
    with pytest.raises(InputError, match="3"):
        array.predict_one(np.ones(4))
    with pytest.raises(InputError, match="3 features"):
        array.learn_many(nk.Batch(np.ones((1, 4)), np.ones(1, dtype=np.int8), 1))


def test_a_bias_must_be_finite():
    with pytest.raises(InputError, match="finite"):
        nk.Perceptron(bias=math.inf)


def test_several_passes_converge_on_separable_data_and_stay_within_the_bound():
    rng = np.random.default_rng(1)
    u = np.array([1.0, -2.0, 0.5])
    x = rng.normal(size=(500, 3))
    x = x[np.abs(x @ u) > 0.5]
    ledger = nk.play(nk.Perceptron(), (x, np.where(x @ u > 0, 1, -1)), passes=60, record=True)
    margin = next(c for c in ledger.certify() if c.theorem == "perceptron_margin")
    assert ledger.mistakes <= margin.bound
    last = ledger.recorded()[-len(x) :]
    assert np.array_equal(last, np.where(x @ u > 0, 1, -1))  # a pass without a mistake


class Shy(nk.Perceptron):
    """Broken on purpose: its weights are half of what its mistakes made them."""

    def learn_many(self, batch):
        said = super().learn_many(batch)
        self._weights *= 0.5
        return said


def test_a_learner_that_learns_half_of_it_has_no_certificate():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    stream = (x, np.where(x[:, 0] > 0, 1, -1))
    assert nk.play(nk.Perceptron(), stream).certify()[0].status == "valid"
    assert {found.status for found in nk.play(Shy(), stream).certify()} == {"void"}


def test_without_a_budget_the_cycle_that_ruins_a_budget_of_b_costs_b_plus_one_mistakes():
    for budget in (1, 4, 9):
        cycle = np.tile(np.eye(budget + 1), (20, 1))
        ledger = nk.play(nk.Perceptron(), (cycle, -np.ones(len(cycle), dtype=int)))
        assert ledger.mistakes == budget + 1
        assert ledger.learner.weights.tolist() == [-1.0] * (budget + 1)  # u: no hinge loss, length sqrt(B + 1)
        assert ledger.certify()[0].bound == budget + 1
