"""Separators in the feature space of a kernel, and proofs that there are none."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import novikoff as nk
from novikoff.comparators.separation import Chunk
from novikoff.kernel.comparators.separation import separate, separate_chunks, verified
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernels import Kernel
from novikoff.reports.hindsight import describe


def least_square(gram, y):
    """Return the least ||f||^2 with y f(x) >= 1 on every row, by a general solver of the dual problem."""
    signed = gram * np.outer(y, y)
    found = minimize(
        lambda a: 0.5 * a @ signed @ a - a.sum(), np.full(len(y), 1.0), jac=lambda a: signed @ a - 1.0,
        bounds=[(0.0, None)] * len(y), method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return -2.0 * found.fun


def noise(rows=80, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), np.where(rng.random(rows) < 0.5, 1, -1).astype(np.int8)


def margin_of(ledger):
    (found,) = (one for one in ledger.certify() if one.theorem == "kernel_margin")
    return found


@pytest.mark.parametrize("gamma", [0.7, 3.0])
def test_rbf_separates_any_labels_with_the_widest_margin(gamma):
    x, y = noise()
    K = Kernel.of("rbf", gamma)
    found = separate(K, x, y)
    widest = verified(K, found, [(x, y)])
    best = least_square(K.matrix(x, x), y.astype(float))
    assert best * (1.0 - 1e-6) <= float(widest.square) <= best * 1.001
    margin = margin_of(nk.play(nk.KernelPerceptron(kernel="rbf", gamma=gamma), (x, y)))
    assert margin.status in ("valid", "vacuous")
    assert margin.observed <= margin.bound <= 1.001 * best


def test_same_example_with_opposite_labels_is_a_proof_for_every_kernel():
    x, y = noise()
    x[5], y[5], y[70] = x[70], 1, -1
    for K in (Kernel.of("rbf", 1.0), Kernel.of("polynomial", degree=3), Kernel.of("linear")):
        found = separate(K, x, y)
        assert found.outcome == "inseparable"
    margin = margin_of(nk.play(nk.KernelPerceptron(kernel="rbf"), (x, y)))
    assert margin.reason.endswith("rounds 6 and 71 have the same example with opposite labels")


def test_noise_is_proved_inseparable_for_kernels_of_finite_dimension():
    x, y = noise(200, 2)
    for K in (Kernel.of("linear"), Kernel.of("linear", bias=1.0), Kernel.of("polynomial", degree=2)):
        found = separate(K, x, y)
        assert found.outcome == "inseparable"
        rows = np.array(found.witness.rows) - 1
        weights = np.array(found.witness.shares) * y[rows]
        assert weights @ K.matrix(x[rows], x[rows]) @ weights == pytest.approx(0.0, abs=1e-9)


def test_linear_kernel_agrees_with_the_linear_search():
    rng = np.random.default_rng(1)
    x = rng.integers(-2, 3, (60, 3)) / 2.0
    scores = x @ [1.0, -0.5, 0.5] + 0.25
    y = np.where(scores > 0, 1, -1)
    linear = {one.theorem: one.bound for one in nk.play(nk.Perceptron(bias=1.0), (x, y)).certify()}
    kernel = margin_of(nk.play(nk.KernelPerceptron(kernel="linear", bias=1.0), (x, y)))
    assert kernel.bound == linear["perceptron_margin"]


def test_chunks_give_the_margin_of_all_rows():
    x, y = noise(300)
    K = Kernel.of("rbf", 4.0)

    def chunks():
        return [Chunk(x[k : k + 100], y[k : k + 100], k) for k in range(0, 300, 100)]

    whole, parts = separate(K, x, y), separate_chunks(K, chunks, 1e12)
    one, two = (verified(K, found, [(x, y)]) for found in (whole, parts))
    assert float(two.square) == pytest.approx(float(one.square), rel=1e-3)


def test_hindsight_bounds_a_kernel_game_that_one_pass_did_not():
    x, y = noise(400)
    learner = nk.KernelPerceptron(kernel="rbf", gamma=4.0)
    tracker = KernelTracker(learner.similarity, keep=50, additive=True)
    tracker._held = None
    ledger = nk.play(learner, nk.Arrays(x, y), ledger=nk.Ledger(learner, tracker=tracker), hindsight=True)
    margin = margin_of(ledger)
    best = least_square(learner.similarity.matrix(x, x), y.astype(float))
    assert ledger.hindsight.flaw == ""
    assert margin.bound <= 1.01 * best
    assert ledger.hindsight.margin.low <= best**-0.5 * (1.0 + 1e-6)
    assert ledger.hindsight.margin.high >= best**-0.5 * (1.0 - 1e-6)
    ledger.hindsight = None
    assert margin_of(ledger).bound is None


def test_hindsight_over_several_passes_and_with_proofs():
    x, y = noise(60)
    ledger = nk.play(nk.KernelPerceptron(kernel="rbf"), nk.Arrays(x, y), passes=3, hindsight=True)
    assert ledger.hindsight.flaw == ""
    assert ledger.hindsight.rows == 180
    ledger = nk.play(nk.KernelPerceptron(kernel="linear"), nk.Arrays(x, y), hindsight=True)
    assert ledger.hindsight.witness is not None
    assert margin_of(ledger).reason.startswith("nothing separates")


def test_hindsight_of_another_stream_is_not_used():
    from novikoff.kernel.comparators.hindsight import OTHERS, look_again

    x, y = noise(60)
    ledger = nk.play(nk.KernelPerceptron(kernel="rbf"), nk.Arrays(x, y))
    found = look_again(ledger.tracker, nk.Arrays(x * 1.01, y), 1, None, None, None)
    assert (found.flaw, found.separator) == (OTHERS, None)
    assert found.joined(ledger.tracker.facts()) == ledger.tracker.facts()


def test_held_rows_are_saved_and_resumed():
    x, y = noise(500)
    learner = nk.KernelPerceptron(kernel="rbf", gamma=4.0)
    ledger = nk.play(learner, (x, y))
    tracker = ledger.tracker
    assert tracker.rows_held == 500
    again = KernelTracker.restore(tracker.state())
    assert again.facts().comparators == tracker.facts().comparators
    old = {name: value for name, value in tracker.state().items() if name != "held"}
    assert len(KernelTracker.restore(old).facts().comparators) == len(tracker.facts().comparators) - 1


def test_too_many_rows_are_not_held():
    x, y = noise(2500)
    ledger = nk.play(nk.KernelPerceptron(kernel="linear"), (x, y))
    assert ledger.tracker.rows_held <= 400 + 128
    assert margin_of(ledger).reason.endswith("another one may")


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_rescaled_rows_have_the_same_margin(scale):
    x, y = noise(40)
    one = margin_of(nk.play(nk.KernelPerceptron(kernel="polynomial", degree=2, constant=0.0), (x, y)))
    two = margin_of(nk.play(nk.KernelPerceptron(kernel="polynomial", degree=2, constant=0.0), (x * scale, y)))
    assert (one.bound is None) == (two.bound is None)
    if one.bound is not None:
        assert math.isclose(one.bound, two.bound, rel_tol=1e-6, abs_tol=1)


def test_a_proof_in_the_feature_space_does_not_call_different_examples_the_same():
    x, y = np.array([[1.0, 2.0], [-1.0, -2.0]] * 3), np.array([1, -1] * 3)
    learner = nk.KernelPerceptron(kernel="polynomial", degree=2, constant=0.0)
    ledger = nk.play(learner, nk.Arrays(x, y), hindsight=True)
    reason = margin_of(ledger).reason
    assert reason.endswith("rounds 1 and 2 have the same example in the kernel's feature space with opposite labels")
    assert reason in describe(ledger.hindsight).lines[0]
    x = np.array([[1.0, 0.0], [-1.0, 0.0]] * 3)
    reason = margin_of(nk.play(nk.KernelPerceptron(kernel="linear"), (x, np.array([1, 1] * 3)))).reason
    assert reason.endswith("label times example, summed over rounds 1 and 2 with weights 1, 1, is zero")
