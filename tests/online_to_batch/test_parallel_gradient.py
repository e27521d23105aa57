"""average: the mean over shards, by hand; its limit on the risk holds, and says nothing where it may not."""

from itertools import pairwise

import numpy as np
import pytest

import novikoff as nk
from helpers import Sent
from novikoff.convex.theorems.average_risk import averaging_error
from novikoff.core.errors import InputError

LEARNER = "online-gradient:radius=2,limit=1,low=-1,high=1"
TARGET = np.array([0.6, -0.4, 0.2])


def drawn(rng, count):
    """Examples of one distribution: outcomes that a plane and a coin make."""
    x = rng.uniform(-0.5, 0.5, (count, 3))
    return x, np.clip(x @ TARGET + rng.choice([-0.3, 0.3], count), -1.0, 1.0)


def test_the_mean_of_shards_by_hand():
    x, y = np.array([[1.0], [1.0], [1.0]]), np.array([1.0, 1.0, -1.0])
    kept = nk.parallel_gradient((x, y), LEARNER, shards=2)
    cuts = nk.RegressionArrays(x, y).cuts(2)
    total = 0.0
    for first, last in pairwise(cuts):
        learner = nk.make(LEARNER, "learner")
        for row, outcome in zip(x[first:last], y[first:last], strict=True):
            total += learner.weights[0] if learner.features.count else 0.0
            learner.learn_one(row, outcome)
    assert kept.classifier.weights.tolist() == pytest.approx([total / 3])
    assert kept.rounds == 3


def test_one_shard_matches_finalize():
    x, y = drawn(np.random.default_rng(0), 300)
    ledger = nk.play(nk.make(LEARNER, "learner"), (x, y), candidates=1)
    theirs, ours = nk.finalize(ledger, "averaged"), nk.parallel_gradient((x, y), LEARNER, shards=1)
    assert ours.classifier.weights.tobytes() == theirs.classifier.weights.tobytes()
    assert [(one.theorem, one.bound) for one in ours.certificates] == [
        (c.theorem, c.bound) for c in theirs.certificates
    ]


def test_the_limit_holds_on_new_examples_and_is_not_far():
    rng = np.random.default_rng(1)
    x, y = drawn(rng, 100_000)
    for _ in range(40):
        shards = int(rng.integers(1, 12))
        kept = nk.parallel_gradient(drawn(rng, 2000), LEARNER, shards=shards)
        risk = np.mean((x @ kept.classifier.weights - y) ** 2)
        assert risk <= min(one.bound for one in kept.certificates)
        assert {one.status for one in kept.certificates} <= {"conditional", "vacuous"}
        assert kept.certificates[0].bound < risk + 0.5  # of losses up to 9


def test_executor_changes_no_bit_and_result_is_saved(tmp_path):
    x, y = drawn(np.random.default_rng(2), 500)
    told = [
        nk.parallel_gradient((x, y), LEARNER, shards=5, **how)
        for how in ({"threads": 1}, {"threads": 3}, {"on": Sent()})
    ]
    assert len({one.classifier.weights.tobytes() for one in told}) == 1
    assert len({repr(one.certificates) for one in told}) == 1
    nk.save(told[0], tmp_path / "kept.nk")
    assert nk.load(tmp_path / "kept.nk").predict_one(x[0]) == told[0].predict_one(x[0])


def test_text_split_by_bytes_is_reported(tmp_path):
    x, y = drawn(np.random.default_rng(3), 400)
    path = tmp_path / "rows.csv"
    path.write_text(
        "a,b,c,y\n" + "".join("{:.3f},{:.3f},{:.3f},{:.3f}\n".format(*row) for row in np.column_stack([x, y]))
    )
    kept = nk.parallel_gradient(str(path), LEARNER, shards=3)
    assert kept.rounds == 400
    assert {one.standing for one in kept.certificates[0].assumptions if "which shard" in one.claim} == {"trusted"}
    assert nk.parallel_gradient((x, y), LEARNER).certificates[0].assumptions[-1].standing == "checked"


def test_learned_ranges_have_no_risk_bound_and_other_learners_are_refused():
    x, y = drawn(np.random.default_rng(4), 200)
    assert {one.status for one in nk.parallel_gradient((x, 5 * y)).certificates} == {"void"}
    for other in ("vaw", "auto-regression"):
        with pytest.raises(InputError, match="averaging needs an untrained online gradient descent learner"):
            nk.parallel_gradient((x, y), other)
    learner = nk.make(LEARNER, "learner")
    learner.learn_one(x[0], y[0])
    with pytest.raises(InputError, match="averaging needs an untrained online gradient descent learner"):
        nk.parallel_gradient((x, y), learner)
    assert averaging_error(nk.make(LEARNER, "learner").facts()) < 1e-12
