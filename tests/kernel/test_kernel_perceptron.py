"""The kernel Perceptron: the rule, and the Perceptron in its feature space."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.types import Batch
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.linear.perceptron import Perceptron
from samples import GRID, NAMED, SPARSE, VECTORS
from twins import dense_twin

SAMPLES = {
    "kernel-perceptron": [
        ("kernel-perceptron:gamma=0.5", *VECTORS),
        ("kernel-perceptron:linear,bias=2", *GRID),
        ("kernel-perceptron:polynomial,degree=3,normalize_kernel=true", *SPARSE),
        ("kernel-perceptron:rbf,gamma=0.5,bias=1", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

GERMAN = Path(os.environ.get("NOVIKOFF_DATA", "data")) / "german" / "german.mat"
labels = st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=40)


def whole_stream(seed, rows, width=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (rows, width)).astype(float), rng.choice([-1, 1], rows).astype(np.int8)


def twin(similarity, x, y):
    """The rule in plain Python; the predictions, and the coefficient of each support by its first round."""
    gram = similarity.matrix(x, x)
    slots, coefficients, said = [], [], []
    for t, label in enumerate(y.tolist()):
        score = dense_twin(np.array(coefficients), gram[slots, t]) if slots else 0.0
        said.append(1 if score >= 0.0 else -1)
        if said[-1] != label:
            for k, s in enumerate(slots):
                if np.array_equal(x[s], x[t]) and y[s] == label:
                    coefficients[k] += label
                    break
            else:
                slots.append(t)
                coefficients.append(float(label))
    return said, dict(zip(slots, coefficients, strict=True))


def test_xor_is_learned_after_three_mistakes_and_one():
    x = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    y = np.array([-1, 1, 1, -1], dtype=np.int8)
    learner = KernelPerceptron("polynomial", degree=2, constant=1.0)
    assert [int(np.sum(learner.learn_many(Batch(x, y, 1)) != y)) for _ in range(3)] == [3, 1, 0]
    points, coefficients = learner.supports.examples()["points"], learner.supports.coefficients
    order = [int(np.flatnonzero((points == row).all(axis=1))[0]) for row in x]
    assert coefficients[order].tolist() == y.tolist()  # alpha = (1, 1, 1, 1)


@given(st.integers(0, 10**6), st.integers(1, 80), st.sampled_from([0.0, 1.0, 2.0]))
def test_with_the_linear_kernel_it_is_the_perceptron(seed, rows, bias):
    x, y = whole_stream(seed, rows)
    dual, primal = KernelPerceptron("linear", bias=bias), Perceptron(bias=bias)
    assert dual.learn_many(Batch(x, y, 1)).tolist() == primal.learn_many(Batch(x, y, 1)).tolist()
    weights = dual.supports.coefficients @ dual.supports.examples()["points"]
    assert weights.tolist() == primal.weights.tolist()


KERNELS = [
    Kernel.of("rbf", gamma=0.1),
    Kernel.of("polynomial", degree=3, normalized=True),
    Kernel.of("linear"),
    Kernel.of("linear", normalized=True, bias=0.7),
]


@pytest.mark.parametrize("similarity", KERNELS, ids=str)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 70))
def test_it_plays_as_its_twin_in_plain_python(similarity, seed, rows):
    x, y = whole_stream(seed, rows, width=2)
    x *= 0.37
    learner = KernelPerceptron(**similarity.arguments())
    said, coefficients = twin(similarity, x, y)
    assert learner.learn_many(Batch(x, y, 1)).tolist() == said
    assert learner.supports.coefficients.tolist() == list(coefficients.values())
    assert learner.supports.examples()["points"].tolist() == x[list(coefficients)].tolist()


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_sizes_of_the_coefficients_add_up_to_the_mistakes(seed, rows):
    x, y = whole_stream(seed, rows, width=2)
    learner = KernelPerceptron("polynomial", degree=2)
    mistakes = sum(int(np.sum(learner.learn_many(Batch(x, y, 1)) != y)) for _ in range(3))
    assert np.sum(np.abs(learner.supports.coefficients)) == mistakes == learner.updates == learner.facts().supports


def test_the_same_example_with_both_labels_is_two_supports():
    learner = KernelPerceptron("rbf", gamma=1.0)
    for _ in range(10):
        learner.learn_one([1.0, 2.0], -1)
        learner.learn_one([1.0, 2.0], 1)
    assert learner.size == 2
    assert set(learner.supports.coefficients.tolist()) == {float(-learner.updates // 2), float(learner.updates // 2)}


def test_a_zero_example_in_feature_space_can_never_be_learned():
    learner = KernelPerceptron("linear")
    assert [learner.play_one([0.0, 0.0], -1) for _ in range(5)] == [1] * 5
    assert learner.updates == 5


def test_the_perceptrons_theorems_hold_on_a_ring():
    rng = np.random.default_rng(0)
    angles, inside = rng.uniform(0.0, 2.0 * np.pi, 3000), rng.random(3000) < 0.5
    lengths = np.where(inside, rng.uniform(0.0, 0.5, 3000), rng.uniform(1.2, 1.4, 3000))
    x, y = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=1), np.where(inside, -1, 1)
    ledger = nk.play(KernelPerceptron("polynomial", degree=2, constant=1.0), (x, y))
    found = {certificate.theorem: certificate for certificate in ledger.certify()}
    assert found["kernel_margin"].status == "valid"
    assert 1 <= ledger.mistakes <= found["kernel_margin"].bound <= 100


@pytest.mark.skipif(not GERMAN.exists(), reason="needs the German credit data with its published permutations")
def test_on_the_german_data_it_makes_the_published_mistakes():
    from scipy.io import loadmat

    saved = loadmat(GERMAN)
    x, y = saved["data"][:, 1:].astype(float), saved["data"][:, 0].astype(np.int8)
    rates = []
    for order in saved["ID_all"].astype(int) - 1:
        learner = KernelPerceptron("rbf", gamma=1 / 128)
        rates.append(100.0 * np.mean(learner.learn_many(Batch(x[order], y[order], 1)) != y[order]))
    assert round(float(np.mean(rates)), 3) == 35.220


def test_predictions_between_rounds_use_arrays_that_have_grown():
    rng = np.random.default_rng(0)
    learner = nk.KernelPerceptron(gamma=0.5)
    for x, y in zip(rng.normal(size=(300, 2)), rng.choice([-1, 1], 300).tolist(), strict=True):
        said = learner.predict_one(x)
        assert learner.play_one(x, y) == said
    assert learner.size > 100
