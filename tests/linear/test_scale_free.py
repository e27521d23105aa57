"""What the scale-free learners share: golden values, one arithmetic for every form of x, invariance to scale."""

import contextlib
import copy
import math
from itertools import product

import numpy as np
import pytest

from helpers import bits, first_of, same
from novikoff.convex.ftrl import FTRL
from novikoff.convex.logistic import Logistic, curvature
from novikoff.convex.multiclass_logistic import MulticlassLogistic
from novikoff.convex.multiclass_vaw import MulticlassVAW
from novikoff.convex.vaw import VAW
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Sparse
from novikoff.data.memory import RegressionArrays
from novikoff.data.scaled import Scaled
from novikoff.game.play import play
from novikoff.game.specs import make
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.arow import AROW
from novikoff.linear.multiclass_second_order_perceptron import MulticlassSecondOrderPerceptron
from novikoff.linear.second_order_perceptron import SecondOrderPerceptron
from novikoff.mixtures.linear_mixture import LinearMixture
from novikoff.mixtures.multiclass_linear_mixture import MulticlassLinearMixture
from novikoff.numerics.logits import hedge_all
from samples import GRID, NAMED, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "ftrl": [
        ("ftrl", *VECTORS),
        ("ftrl:newton,rate=0.5,bias=0", *GRID),
        ("ftrl", *SPARSE),
        ("ftrl", *NAMED),
    ],
    "logistic": [
        ("logistic", *VECTORS),
        ("logistic:ridge=1,radius=4,scale_free=false,bias=0", *GRID),
        ("logistic", *SPARSE),
        ("logistic:ridge=0.01", *NAMED),
    ],
    "vaw": [
        ("vaw:probabilities=true", *VECTORS),
        ("vaw:probabilities=true,scale_free=false", *GRID),
        ("vaw:probabilities=true,bias=0", *SPARSE),
        ("vaw:probabilities=true", *NAMED),
        ("vaw", *NUMBERS),
    ],
    "second-order-perceptron": [
        ("second-order-perceptron", *VECTORS),
        ("second-order-perceptron:diagonal=true", *GRID),
        ("second-order-perceptron:scale_free=false,bias=0", *SPARSE),
        ("second-order-perceptron:diagonal=true", *NAMED),
    ],
    "arow": [
        ("arow", *VECTORS),
        ("arow:diagonal=true", *GRID),
        ("arow:ridge=0.1", *SPARSE),
        ("arow:diagonal=true,scale_free=false", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

X = np.array([(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (-1, 2)], dtype=float)
Y = np.array([-1, -1, 1, -1, 1, 1], dtype=np.int8)
SPECS = [
    "ftrl", "ftrl:newton,rate=0.25", "logistic", "logistic:ridge=0.01,radius=4", "vaw:probabilities=true", "arow",
    "arow:diagonal=true", "second-order-perceptron", "second-order-perceptron:diagonal=true",
]  # fmt: skip

near = pytest.approx


def scores(learner):
    found = []
    for x, y in zip(X, Y.tolist(), strict=True):
        found.append(learner.score_one(x))
        learner.learn_one(x, y)
    return found


def test_golden_root_of_two_virtual_labels():
    z0, weight = np.array([1.0, 3.0, -2.0]), np.array([0.5, 2.0, 10.0])
    assert hedge_all(z0, 2.0 * weight) == near([0.808261156, 1.646389866, -0.335936709], abs=1e-8)
    odd = hedge_all(np.array([0.0, 1e6, -1e6, np.inf, np.nan]), np.array([3.0, 0.0, 1.0, 1.0, 1.0]))
    assert np.isfinite(hedge_all(np.array([1.0, -1.0, 5.0]), np.array([-4.0, -1e300, -1e-9]))).all()  # rounded below 0
    assert odd.tolist() == [0.0, 700.0, -700.0, 0.0, 0.0]
    z0, v = 10.0 ** np.random.default_rng(0).uniform((-6, -4), (2.8, 4), (9_000, 2)).T
    z = hedge_all(z0, v)
    assert z + 0.5 * v * np.tanh(0.5 * z) == near(z0, rel=1e-11, abs=1e-11)


def test_golden_ftrl():
    learner = FTRL(bias=0.0)
    assert scores(learner) == near([0, 0, -0.624058075, 0, 0.164558834, 0.425387237], abs=1e-8)
    assert learner.sums[:2] == near([4.249682031, 1.133216551], abs=1e-8)
    assert learner.diagonal()[1:] == near([3.229399286, 3.080665684], abs=1e-8)
    assert learner.facts().dual == near(0.7536, abs=1e-4)
    newton = FTRL("newton", bias=0.0)
    assert scores(newton)[2] == near(-0.575828742, abs=1e-8)
    assert newton.sums[:2] == near([4.281705774, 0.899919994], abs=1e-8)
    assert newton.diagonal()[1:] == near([5.969213566, 5.959849840], abs=1e-8)
    assert newton.facts().dual == near(0.4998, abs=1e-4)


def test_golden_logistic():
    kappas = [0.924234315, 0.761594156, 0.482013790, 0.331684918, 0.249832325, 0.199981841]
    assert [curvature(c) for c in (1, 2, 4, 6, 8, 10)] == near(kappas, abs=1e-8)
    learner = Logistic(ridge=1.0, scale_free=False, bias=0.0)
    assert scores(learner) == near([0, 0, -0.638321648, 0, -0.070218675, 0.657425711], abs=1e-8)
    facts = learner.facts()
    assert (facts.loss, facts.gained, facts.dual) == near((4.288226790, 1.325620897, 1.325620897), abs=1e-8)
    assert facts.least <= facts.gained * (1.0 + 1e-12) <= facts.dual * (1.0 + 2e-12)
    free = Logistic(ridge=1.0, bias=0.0)
    scores(free)
    assert free.facts().loss == near(4.291967022, abs=1e-8)


def test_golden_vaw():
    learner = VAW(scale_free=False, bias=0.0)
    assert scores(learner) == near([0, 0, -0.5, 0, -1 / 9, 1 / 3], abs=1e-8)
    facts = learner.facts()
    assert (facts.loss, facts.most, facts.chi, facts.credit) == near(
        (6.929012346, 4.222222222, 3.111111111, 0.404320988), abs=1e-8
    )
    assert facts.loss == near(facts.most + facts.chi - facts.credit, abs=1e-12)


def test_golden_second_order_perceptron():
    learner = SecondOrderPerceptron(scale_free=False, bias=0.0)
    assert scores(learner) == near([0, 0, -1, 0, -0.25, 0.75], abs=1e-8)
    assert (learner.mistakes, learner.facts().gained) == near((5, 2.555555556), abs=1e-8)
    assert learner.matrix.full().matrix.tolist() == [[8, 2], [2, 5]]
    diagonal = SecondOrderPerceptron(diagonal=True, scale_free=False, bias=0.0)
    assert scores(diagonal) == near([0, 0, -2 / 3, 0, -0.05, 1 / 3], abs=1e-8)
    assert (diagonal.mistakes, diagonal.facts().gained) == near((5, 2.866666667), abs=1e-8)


def test_golden_arow():
    learner = AROW(scale_free=False, bias=0.0)
    assert scores(learner) == near([0, 0, -1, 0, -0.25, 0.75], abs=1e-8)
    assert (learner.mistakes, learner.updates) == (5, 6)
    assert (learner.facts().gained, learner.facts().dual) == near((16 / 9, 16 / 9), abs=1e-8)
    assert learner.weights == near([0.0, 4 / 9], abs=1e-8)


def log_det(learner):
    """Of A/ridge."""
    return np.linalg.slogdet(learner.matrix.full().matrix / learner.ridge)[1]


def test_golden_limits_of_the_sums_of_theorems():
    perceptron, vaw = SecondOrderPerceptron(scale_free=False, bias=0.0), VAW(scale_free=False, bias=0.0)
    logistic = Logistic(ridge=1.0, scale_free=False, bias=0.0)
    for learner in (perceptron, vaw, logistic):
        scores(learner)
    assert (log_det(perceptron), log_det(vaw)) == near((3.583518938, 4.394449155), abs=1e-8)
    assert log_det(logistic) / (2.0 * logistic.kappa) == near(1.480895643, abs=1e-8)
    assert perceptron.facts().gained <= log_det(perceptron)
    assert vaw.facts().chi <= log_det(vaw)
    assert logistic.facts().gained <= log_det(logistic) / (2.0 * logistic.kappa)
    d, rounds, kappa = 10, 1000, curvature(6.0)  # in advance, for |x| <= 1 and ridge 1
    assert d / (2.0 * kappa) * np.log(1.0 + kappa * rounds / (4.0 * d)) == near(33.603684191, abs=1e-8)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rounds, d))
    y = np.where(rng.random(rounds) < 0.5, 1, -1).astype(np.int8)
    learner = Logistic(ridge=1.0, scale_free=False, bias=0.0)
    learner.learn_many(Batch(x / np.linalg.norm(x, axis=1)[:, None], y, 1))
    assert learner.facts().gained <= 33.603684191


def streams(seed, rounds=120, width=7):
    """Features of very different scales, many zeros, some seen late."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, width)) * 10.0 ** rng.integers(-6, 6, width) * (rng.random((rounds, width)) < 0.6)
    x[: rounds // 3, -1] = 0.0
    y = np.where(x[:, 0] + rng.normal(size=rounds) * np.abs(x[:, 0]).mean() >= 0.0, 1, -1).astype(np.int8)
    return x, y


def sparse(x):
    ends = np.cumsum([0, *(x != 0.0).sum(axis=1)]).astype(np.uint64)
    return Sparse(ends, np.nonzero(x)[1].astype(np.uint32), x[x != 0.0], x.shape[1])


@pytest.mark.parametrize("spec", SPECS)
def test_dense_sparse_and_named_rows_one_by_one_and_together_give_the_same_bits(spec):
    x, y = streams(1)
    dense, rows, pairs, named = (make(spec, "learner") for _ in range(4))
    together = dense.learn_many(Batch(x, y, 1)).scores if "vaw" not in spec else dense.learn_many(Batch(x, y, 1))[5]
    found = rows.learn_many(Batch(sparse(x), y, 1))
    assert (found.scores if "vaw" not in spec else found[5]).tolist() == together.tolist()
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        here = np.flatnonzero(row).astype(np.uint32)
        asked = pairs.score_one((here, row[here]))
        played = pairs.play_one((here, row[here]), label)
        told = named.play_one({f"f{i}": float(row[i]) for i in here}, label)
        assert played == told
        assert (played.scores if "vaw" not in spec else played[5]) == together[t]
        if "vaw" not in spec and spec != "second-order-perceptron":
            assert asked == together[t]


@pytest.mark.parametrize("spec", SPECS)
def test_features_multiplied_by_powers_of_two_change_no_bit(spec):
    x, y = streams(2)
    powers = 2.0 ** np.array([300, -200, 7, 0, -1, 40, -90])
    one, two = make(spec, "learner"), make(spec, "learner")
    first, second = one.learn_many(Batch(x, y, 1)), two.learn_many(Batch(x * powers, y, 1))
    for left, right in zip(first, second, strict=True):
        assert left is right is None or left.tolist() == right.tolist()
    assert [one.score_one(row) for row in x[:20]] == [two.score_one(row * powers) for row in x[:20]]


@pytest.mark.parametrize("spec", SPECS)
def test_predicting_new_features_and_larger_values_stores_nothing(spec):
    x, y = streams(3)
    learner = make(spec, "learner")
    for row, label in zip(x, y.tolist(), strict=True):
        here = np.flatnonzero(row).astype(np.uint32)
        learner.learn_one((here, row[here]), label)
    before = copy.deepcopy(learner.state())
    new = (np.array([0, 3, 50, 90000], np.uint32), np.array([1e9, -2.0, 3.0, 4.0]))
    asked = learner.score_one(new)
    assert bits(learner.state()) == bits(before)
    played = learner.play_one(new, 1)
    if "vaw" not in spec and spec != "second-order-perceptron":
        assert asked == played.scores


def test_numbers_beyond_2_to_the_500_are_refused_and_change_nothing():
    for spec in SPECS:
        learner = make(spec, "learner")
        learner.learn_one({"a": 1.0}, 1)
        before = bits(learner.state())
        with pytest.raises(InputError, match=r"2\^500"):
            learner.learn_one({"a": 1.0, "b": 2.0**501}, 1)
        assert bits(learner.state()) == before
        learner.learn_one({"b": 2.0**500, "c": 2.0**-501}, -1)
        assert np.isfinite(learner.score_one({"a": 3.0, "b": -(2.0**500)}))


def test_a_matrix_is_kept_for_the_first_256_features_seen():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 400)) * (rng.random((300, 400)) < 0.05)
    y = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    whole, some = Logistic(bias=0.0), Logistic(bias=0.0)
    played = whole.learn_many(Batch(sparse(x), y, 1)).scores
    seen = list(dict.fromkeys(i for row in x for i in np.flatnonzero(row).tolist()))[:256]
    kept = np.zeros_like(x)
    kept[:, seen] = x[:, seen]
    assert some.learn_many(Batch(sparse(kept), y, 1)).scores.tolist() == played.tolist()
    assert (whole.size, np.count_nonzero(whole.weights)) == (256, 256)


def off(learner):
    """How far P A is from I, features being scaled to 1."""
    full, n = learner.matrix.full(), learner.matrix.count
    inverse, sizes = np.tril(learner.matrix.inverse[:n, :n]), np.sqrt(np.diag(full.matrix))
    whole = (inverse + np.tril(inverse, -1).T) * np.outer(sizes, sizes)
    return np.abs(whole @ (full.matrix / np.outer(sizes, sizes)) - np.eye(n)).max()


def test_inverse_matches_the_matrix_before_and_after_recomputation():
    x, y = streams(4, rounds=400)
    learner = Logistic()
    learner.learn_many(Batch(x, y, 1))
    assert off(learner) < 1e-11
    other = Logistic.restore(learner.state())
    learner.matrix.totals[at.SINCE] = 2**14 - 1
    for one in (learner, other):
        one.learn_one(np.zeros(7), 1)
    assert (learner.matrix.totals[at.SINCE], other.matrix.totals[at.SINCE]) == (0.0, 401.0)
    assert off(learner) < 1e-12
    assert learner.weights == near(other.weights, rel=1e-9)


def test_vaw_for_numbers_clips_to_a_range_that_is_known():
    x, _ = streams(5)
    y = np.clip(x[:, 0] / np.abs(x[:, 0]).max(), -0.2, 0.2)
    free, clipped = VAW(), VAW(low=-0.2, high=0.2)
    wide, narrow = free.learn_many(Batch(x, y, 1)), clipped.learn_many(Batch(x, y, 1))
    assert narrow.predictions.tolist() == np.clip(wide.predictions, -0.2, 0.2).tolist()
    with pytest.raises(InputError, match="from -0.2 to 0.2"):
        clipped.learn_one(x[0], 0.3)


def test_comparators_see_scaled_rows():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(80, 3)) * [1.0, 10.0, 100.0] + 3.0
    y = np.where(x @ [1.0, 0.1, 0.01] + rng.normal(size=80) > 3.5, 1, -1)
    found = []
    for examples in ((x, y), list(zip(x, y.tolist(), strict=True))):
        ledger = play(Scaled(FTRL()), examples)
        certificates = {one.theorem: one for one in ledger.certify()}
        assert all(one.status in ("valid", "vacuous") for one in certificates.values()), certificates
        found.append((certificates["ftrl_regret"].bound, certificates["ftrl_suffix"].bound, ledger.log_loss))
    assert found[0] == found[1]


MANY = [MulticlassVAW, MulticlassSecondOrderPerceptron, MulticlassLogistic, MulticlassLinearMixture]


@pytest.mark.parametrize("kind", [Logistic, VAW, AROW, LinearMixture, *MANY])
def test_inverse_is_recomputed_at_the_same_rounds_for_any_batches(kind, monkeypatch):
    x, y = streams(4, rounds=40)
    if kind in MANY:
        y = np.append(np.arange(2), np.random.default_rng(0).integers(0, 2, 38))
        y[20:22] = 2, 3  # new ones, after a stretch
    untouched, whole, rows = kind(), kind(), kind()
    untouched.learn_many(Batch(x, y, 1))
    monkeypatch.setattr(at, "REFRESH", 8)
    whole.learn_many(Batch(x, y, 1))
    for t in range(40):
        rows.learn_many(Batch(x[t : t + 1], y[t : t + 1], t + 1))
    assert same(whole.state(), rows.state())
    assert not same(whole.state(), untouched.state())


MATRIX = ["arow", "second-order-perceptron", "vaw", "logistic", "vaw:probabilities=true"]
MANY_MATRIX = [MulticlassVAW, MulticlassSecondOrderPerceptron, MulticlassLogistic]


def with_options(spec, options):
    return make(f"{spec}{',' if ':' in spec else ':'}{options}", "learner")


def outcomes(learner, x):
    return np.where(x[:, 0] < 0.0, -1, 1).tolist() if learner.task == "binary" else np.sign(x[:, 0]).tolist()


@pytest.mark.parametrize("spec", MATRIX)
@pytest.mark.parametrize("scale", [2.0**24, 1e30, 2.0**498])
def test_numbers_too_large_for_a_fixed_ridge_are_refused_and_change_nothing(spec, scale):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    learner = with_options(spec, "scale_free=false")
    y = outcomes(learner, x)
    play(learner, (x, y) if learner.task == "binary" else RegressionArrays(x, y))
    before, large = bits(learner.state()), x * scale
    with pytest.raises(InputError, match=r"that of round 1 is not\. Leave out scale_free=false"):
        play(learner, (large, y) if learner.task == "binary" else RegressionArrays(large, y), resume=True)
    for t in range(3):
        with pytest.raises(InputError, match="Leave out scale_free=false"):
            learner.learn_one(large[t], y[t])
        with pytest.raises(InputError, match="Leave out scale_free=false"):
            learner.predict_one(large[t])
    assert bits(learner.state()) == before
    free = with_options(spec, "scale_free=true,bias=0")
    assert play(free, (large, y) if free.task == "binary" else RegressionArrays(large, y)).rounds == 40


@pytest.mark.parametrize("kind", MANY_MATRIX)
def test_many_labels_refuse_numbers_too_large_for_a_fixed_ridge(kind):
    x = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 3
    with pytest.raises(InputError, match=r"that of round 1 is not\. Leave out scale_free=false"):
        play(kind(scale_free=False), (x * 2.0**498, y), labels="multiclass")
    with pytest.raises(InputError, match="Leave out scale_free=false"):
        kind(scale_free=False, bias=1e9)


def extreme_rows(rng, count, width):
    x = rng.normal(size=(count, width))
    yield x * 2.0**498
    yield x * 2.0**-499
    yield x * 1e-200
    yield x * 2.0 ** rng.integers(-500, 497, (count, 1))
    yield x * 2.0 ** rng.integers(-500, 497, (1, width))
    yield x * 2.0 ** rng.integers(-500, 497, (count, width))


@pytest.mark.parametrize("spec", [*MATRIX, "arow:diagonal=true", *MANY_MATRIX])
@pytest.mark.parametrize("seed", first_of(3))
def test_rows_of_any_scale_are_played_with_finite_losses_or_refused(spec, seed):
    rng = np.random.default_rng(seed)
    every = list(product((True, False), (1.0, 2.0**-40, 2.0**90), (1.0, 0.0)))
    for k, x in enumerate(extreme_rows(rng, 40, 3)):
        for scale_free, ridge, bias in every if seed else every[k % 3 :: 3]:
            options = {"scale_free": scale_free, "ridge": ridge, "bias": bias}
            with contextlib.suppress(InputError):
                if isinstance(spec, str):
                    learner = with_options(spec, ",".join(f"{k}={v}" for k, v in options.items()).lower())
                    y = outcomes(learner, x)
                    ledger = play(learner, (x, y) if learner.task == "binary" else RegressionArrays(x, y))
                else:
                    ledger = play(spec(**options), (x, rng.integers(0, 3, len(x))), labels="multiclass")
                assert not math.isnan(ledger.loss)
                for one in ledger.certify():
                    assert one.status != "violated"
                    assert not math.isnan(one.observed)


def test_feature_that_grows_beyond_the_doubles_keeps_its_inverse():
    """A[0, 0] grows by 2^1000 where P[0, 0] is 2^996: their product is no double."""
    learner = VAW(bias=0.0)
    learner.learn_one([2.0**-498, 1.0], 1.0)
    learner.learn_one([2.0**500, 1.0], 1.0)
    assert learner.matrix.inverse[0, 0] > 0.0
    assert learner.predict_one([2.0**500, 0.0]) == near(1 / 8, rel=1e-9)  # that of A = [[3, 1], [1, 3]], b = [1, 2]
