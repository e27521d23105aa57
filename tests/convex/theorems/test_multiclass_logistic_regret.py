"""Each label against the rest: what learners of two lost beyond the log loss is known, and left out of the bound."""

import math

import numpy as np
import pytest

import cases
import novikoff as nk
from helpers import one_in
from novikoff.core.types import Batch

CASES = {
    "multiclass_logistic_regret": cases.of_multiclass(
        lambda **k: nk.MulticlassLogistic(scale_free=False, **k),
        cases.paid_more,
    ),
}
"""Cases for tests/test_every_theorem.py."""


def flowers(rounds=240, labels=4, seed=0):
    """Rows about a centre for each label; numbered as they first come."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, labels, rounds)
    x = rng.normal(size=(labels, 3))[y] * 2.0 + rng.normal(size=(rounds, 3))
    order = {label: k for k, label in enumerate(dict.fromkeys(y.tolist()))}
    return x, np.array([order[label] for label in y.tolist()])


def certified(learner, x, y, size=10**9):
    game = nk.Game(learner)
    for start in range(0, len(y), size):
        game.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
    (found,) = game.ledger.certify()
    return found, game.ledger


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_surplus_is_the_binary_loss_beyond_the_log_loss(seed):
    x, y = flowers(seed=seed)
    found, ledger = certified(nk.MulticlassLogistic(labels=4), x, y)
    facts = ledger.learner.facts()
    assert found.status == "valid"
    assert found.quantities["surplus"] == pytest.approx(math.fsum(facts.losses) - facts.loss, rel=1e-9)
    terms = ("comparator_loss", "penalty", "delta", "deficit")
    without = sum(found.quantities[name] for name in terms)
    assert found.bound == pytest.approx(without - found.quantities["surplus"])
    assert found.observed <= found.bound < 0.75 * without


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_late_labels_do_not_raise_the_surplus(seed):
    x, y = flowers(labels=5, seed=seed)
    found, ledger = certified(nk.MulticlassLogistic(), x, y)
    facts = ledger.learner.facts()
    assert 0.0 < found.quantities["surplus"] <= math.fsum(facts.losses) - facts.loss
    assert found.observed <= found.bound


def test_the_surplus_is_the_same_in_batches_and_saved():
    x, y = flowers()
    whole, ledger = certified(nk.MulticlassLogistic(), x, y)
    parts, _ = certified(nk.MulticlassLogistic(), x, y, size=17)
    assert parts.quantities == pytest.approx(whole.quantities)
    assert ledger.certify()[0].bound == whole.bound


def test_a_game_resumes_from_a_file_with_the_surplus(tmp_path):
    x, y = flowers()
    whole = nk.play(nk.MulticlassLogistic(), (x, y), labels="multiclass")
    part = nk.play(nk.MulticlassLogistic(), (x[:100], y[:100]), labels="multiclass")
    nk.save(part, tmp_path / "half.nk")
    again = nk.load(tmp_path / "half.nk")
    game = nk.Game(again.learner, again)
    for row, label in zip(x[100:], y[100:].tolist(), strict=True):
        game.learn_one(row, label)
    one, two = (ledger.certify()[0].quantities["surplus"] for ledger in (whole, game.ledger))
    assert one == pytest.approx(two)
