"""Learners, ledgers, certificates and comparisons are short texts: names and settings, no arrays."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.display import Written
from novikoff.core.registry import entry, names
from novikoff.game.specs import make
from samples import learner_samples


@pytest.mark.parametrize("name", names("learner"))
def test_every_learner_is_a_short_text(name):
    learner = make(learner_samples()[name][0][0], "learner")
    assert isinstance(learner, Written)
    assert len(repr(learner)) <= 160
    assert not any(part in repr(learner) for part in ("array", " at 0x", "\n"))
    begins = "Perceptron(" if name == "scaled" else entry(name, "learner").load().__name__
    assert repr(learner).removeprefix("<").startswith(begins)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("perceptron", "Perceptron()"),
        ("perceptron:bias=1,scale=standard", "Perceptron(bias=1.0, scale='standard')"),
        ("rbp:budget=5,gamma=2", "RandomizedBudgetPerceptron(budget=5, gamma=2.0)"),
        ("kernel-perceptron:polynomial,degree=3", "KernelPerceptron(kernel='polynomial', degree=3)"),
        ("halving:[thresholds:n=9]", "Halving(hypotheses=Thresholds)"),
        ("hedge:learners=[perceptron,constant]", "Hedge(learners=[Perceptron(), Constant()])"),
    ],
)
def test_non_default_arguments_are_shown(spec, text):
    assert repr(make(spec, "learner", domain=nk.Domain("vector", 2))) == text


def test_ledgers_certificates_and_comparisons_have_short_reprs():
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(x[:, 0] > 0, 1, -1)
    ledger = nk.play("perceptron", (x, y))
    comparison = nk.compare(["perceptron", "arow"], (x, y))
    for one in (ledger, *ledger.certify(), comparison):
        assert len(repr(one)) <= 200, repr(one)
        assert "array(" not in repr(one)
