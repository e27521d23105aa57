"""Crammer, Kandola and Singer's Perceptron: which support leaves, and when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.types import Batch
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from samples import GRID, NAMED, SPARSE, VECTORS

SAMPLES = {
    "cks": [
        ("cks:budget=20,gamma=0.5", *VECTORS),
        ("cks:budget=none,kernel=linear,distill=true", *GRID),
        ("cks:budget=9,kernel=linear,beta=0.5,distill=true", *SPARSE),
        ("cks:budget=1,gamma=0.5", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""


def twin(gram, y, budget, beta, distill):
    """The rule in plain Python on whole numbers, f always summed anew: predictions, and the rounds kept."""
    held, said = [], []

    def f(t):
        return sum(int(y[j]) * gram[j, t] for j in held)

    def margin(j):
        return int(y[j]) * (f(j) - int(y[j]) * gram[j, j])

    for t, label in enumerate(y.tolist()):
        score = f(t)
        said.append(1 if score >= 0 else -1)
        if not (said[-1] != label if beta == 0 else label * score <= beta):
            continue
        if budget is not None and len(held) == budget:
            held.remove(max(held, key=margin))  # of equal ones max takes the first, the oldest
        held.append(t)
        while distill and margin(max(held, key=margin)) > beta:
            held.remove(max(held, key=margin))
    return said, held


@given(
    st.integers(0, 10**6),
    st.integers(1, 80),
    st.sampled_from([None, 1, 2, 5, 17]),
    st.sampled_from([0, 2]),
    st.booleans(),
    st.sampled_from(["linear", "polynomial"]),
)
def test_it_plays_as_its_twin_in_plain_python(seed, rows, budget, beta, distill, kernel):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, (rows, 2)).astype(float), rng.choice([-1, 1], rows).astype(np.int8)
    similarity = Kernel.of(kernel, degree=2, constant=1.0)
    learner = CrammerKandolaSinger(budget, kernel, degree=2, constant=1.0, beta=beta, distill=distill)
    gram = similarity.matrix(x, x).astype(int)
    said, held = twin(gram, y, budget, beta, distill)
    assert learner.learn_many(Batch(x, y, 1)).tolist() == said
    order = np.argsort(learner.supports.facts(4))  # BORN: from the oldest on
    assert learner.supports.examples()["points"][order].tolist() == x[held].tolist()
    assert learner.supports.coefficients[order].tolist() == y[held].tolist()
    if held:
        fits = gram[np.ix_(held, held)] @ y[held].astype(int)
        assert learner.supports.facts(5)[order].tolist() == fits.tolist()  # FITS


def test_distilling_keeps_the_example_just_learned():
    x, y = np.tile(np.eye(4), (25, 1)), np.full(100, -1, dtype=np.int8)
    learner = CrammerKandolaSinger(None, "linear", distill=True)
    assert int(np.sum(learner.learn_many(Batch(x, y, 1)) != y)) == 4  # with "at least beta" it would be 100
    assert learner.size == 4


def test_distilling_keeps_at_least_one_support_despite_rounding():
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 1e8):
        learner = CrammerKandolaSinger(None, "linear", distill=True)
        for _ in range(300):
            learner.learn_one(rng.normal(size=2) * scale, int(rng.choice([-1, 1])))
            assert learner.size >= (learner.updates > 0)


def test_support_with_the_largest_margin_under_the_others_is_removed():
    learner = CrammerKandolaSinger(3, "linear")
    for x in ([-3.0, 1.0], [0.0, -1.0], [0.5, 0.0]):
        learner.learn_one(x, -learner.predict_one(x))
    assert learner.size == 3
    before = {tuple(row) for row in learner.supports.examples()["points"].tolist()}
    margins = {}
    points, signs = learner.supports.examples()["points"], learner.supports.coefficients
    for k, row in enumerate(points):
        others = [j for j in range(3) if j != k]
        margins[tuple(row.tolist())] = signs[k] * float(signs[others] @ points[others] @ row)
    x = [0.0, 2.0]
    learner.learn_one(x, -learner.predict_one(x))
    after = {tuple(row) for row in learner.supports.examples()["points"].tolist()}
    assert before - after == {max(margins, key=margins.get)}


def test_without_a_budget_and_without_distilling_it_is_the_kernel_perceptron():
    rng = np.random.default_rng(3)
    batch = Batch(rng.normal(size=(200, 3)), rng.choice([-1, 1], 200).astype(np.int8), 1)
    learner = CrammerKandolaSinger(None, gamma=0.5)
    assert learner.learn_many(batch).tolist() == KernelPerceptron(gamma=0.5).learn_many(batch).tolist()


def test_with_a_margin_it_learns_from_examples_it_had_right():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 2))
    y = np.where(x[:, 0] >= 0, 1, -1).astype(np.int8)
    learner = CrammerKandolaSinger(50, "linear", beta=1.0)
    mistakes = int(np.sum(learner.learn_many(Batch(x, y, 1)) != y))
    assert learner.updates > mistakes


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_distilled_list_is_as_short_as_the_margin_guarantees(beta):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    u = np.array([0.6, 0.0, 0.8])
    x = x[np.abs(x @ u) > 0.3]
    y = np.where(x @ u > 0, 1, -1)
    learner = CrammerKandolaSinger(None, "linear", beta=beta, distill=True)
    ledger = nk.play(learner, (x, y))
    assert learner.size <= (1.0 + 2.0 * beta) / 0.3**2
    (certificate,) = [found for found in ledger.certify() if found.theorem == "cks_cache"]
    assert certificate.status == ("valid" if beta else "vacuous"), str(certificate)
    assert certificate.bound is None or learner.size <= certificate.bound
