"""The tighter Perceptron: which support leaves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.types import Batch
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.tighter import TighterPerceptron
from samples import GRID, NAMED, SPARSE, VECTORS

SAMPLES = {
    "tighter": [
        ("tighter:budget=20,gamma=0.5", *VECTORS),
        ("tighter:budget=5,kernel=linear,bias=2,beta=1", *GRID),
        ("tighter:budget=7,kernel=polynomial,normalize_kernel=true", *SPARSE),
        ("tighter:budget=1,gamma=0.5", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""


def twin(gram, y, budget, beta):
    """The rule in plain Python on whole numbers: predictions, and the rounds kept."""
    held, said = [], []

    def f(t):
        return sum(int(y[j]) * gram[j, t] for j in held)

    def wrong_without(j):
        return sum((1 if f(k) - int(y[j]) * gram[j, k] >= 0 else -1) != y[k] for k in held)

    for t, label in enumerate(y.tolist()):
        score = f(t)
        said.append(1 if score >= 0 else -1)
        if said[-1] != label if beta == 0 else label * score <= beta:
            if len(held) == budget:
                held.remove(min(held, key=wrong_without))  # of equal ones min takes the first, the oldest
            held.append(t)
    return said, held


@given(
    st.integers(0, 10**6),
    st.integers(1, 70),
    st.integers(1, 18),
    st.sampled_from([0, 2]),
    st.sampled_from(["linear", "polynomial"]),
)
def test_it_plays_as_its_twin_in_plain_python(seed, rows, budget, beta, kernel):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, (rows, 2)).astype(float), rng.choice([-1, 1], rows).astype(np.int8)
    similarity = Kernel.of(kernel, degree=2, constant=1.0)
    learner = TighterPerceptron(budget, kernel, degree=2, constant=1.0, beta=beta)
    said, held = twin(similarity.matrix(x, x).astype(int), y, budget, beta)
    assert learner.learn_many(Batch(x, y, 1)).tolist() == said
    order = np.argsort(learner.supports.facts(4))  # BORN: from the oldest on
    assert learner.supports.examples()["points"][order].tolist() == x[held].tolist()
    assert learner.supports.coefficients[order].tolist() == y[held].tolist()


def test_oldest_of_equally_useful_supports_is_removed():
    learner = TighterPerceptron(3, "linear")
    for example in np.eye(4)[[2, 0, 1, 3]]:
        learner.learn_one(example, -1)
    left = {tuple(row) for row in np.eye(4)} - {tuple(row) for row in learner.supports.examples()["points"].tolist()}
    assert left == {(0.0, 0.0, 1.0, 0.0)}


def test_least_useful_support_is_removed():
    learner = TighterPerceptron(3, "linear")
    for example in ([0.0, 1.0], [1.0, -3.0], [1.0, 1.0]):
        assert learner.play_one(example, -1) == 1
    # Without the first, two supports are wrong; without the second one, itself; without the third two.
    assert learner.play_one([0.0, 1.0], -1) == 1
    assert sorted(learner.supports.examples()["points"].tolist()) == [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]


def test_the_table_of_values_grows_with_the_supports():
    rng = np.random.default_rng(0)
    batch = Batch(rng.normal(size=(300, 3)), rng.choice([-1, 1], 300).astype(np.int8), 1)
    learner = TighterPerceptron(100, gamma=0.5)
    learner.learn_many(batch)
    points = learner.supports.examples()["points"]
    table = learner._table()
    assert table.shape == (112, 112)
    assert np.array_equal(table[:100, :100], learner.similarity.matrix(points, points))


def test_while_nothing_leaves_it_is_the_kernel_perceptron():
    rng = np.random.default_rng(1)
    batch = Batch(rng.normal(size=(80, 3)), rng.choice([-1, 1], 80).astype(np.int8), 1)
    learner = TighterPerceptron(80, gamma=0.5)
    assert learner.learn_many(batch).tolist() == KernelPerceptron(gamma=0.5).learn_many(batch).tolist()


@given(st.integers(0, 10**6), st.sampled_from(["linear", "polynomial"]))
def test_resume_with_normalised_kernels_matches_uninterrupted_run(seed, kernel):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, (60, 2)).astype(float), rng.choice([-1, 1], 60).astype(np.int8)
    learner = TighterPerceptron(6, kernel, normalize_kernel=True)
    learner.learn_many(Batch(x[:30], y[:30], 1))
    again = TighterPerceptron.restore(learner.state())
    held = slice(learner.size)
    assert np.array_equal(again._table()[held, held], learner._table()[held, held])
    rest = Batch(x[30:], y[30:], 31)
    assert again.learn_many(rest).tolist() == learner.learn_many(rest).tolist()
