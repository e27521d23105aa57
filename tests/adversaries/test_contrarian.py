"""The contrarian: regret ceil(T/2) for every learner that draws nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.opposite import opposite
from novikoff.finite.classes.matrix import cube
from novikoff.finite.constant import Constant
from novikoff.finite.midpoint import Midpoint

CASES = {
    "contrarian_regret": cases.of_adversary(Contrarian, lambda: cases.Scripted([1, -1]), 20),
}
"""Cases for tests/test_every_theorem.py."""


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


class Turns:
    """Says the labels of a list in turn."""

    promises = ()
    labels = None
    domain = nk.Domain("any")

    def __init__(self, answers):
        self.answers, self.round = answers, 0

    def predict_one(self, x):
        return self.answers[self.round % len(self.answers)]

    def learn_one(self, x, y):
        self.round += 1

    def facts(self):
        return None


@pytest.mark.parametrize(
    ("chances", "label"),
    [({1: 1.0}, -1), ({-1: 1.0}, 1), ({1: 0.5, -1: 0.5}, -1), ({1: 0.49, -1: 0.51}, 1), ({1: 0.51, -1: 0.49}, -1)],
)
def test_the_opposite_of_the_likelier_label_where_a_tie_counts_as_plus_one(chances, label):
    assert opposite(chances) == label


@given(st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=12), st.integers(0, 60))
def test_the_theorem_holds_for_any_table_of_answers(answers, rounds):
    adversary = Contrarian()
    ledger = nk.play(Turns(answers), adversary, rounds=rounds)
    certificate = lower(ledger)
    label, mistakes = adversary.witness()
    said = [answers[t % len(answers)] for t in range(rounds)]
    assert ledger.mistakes == rounds
    assert mistakes == sum(label == prediction for prediction in said)  # it errs where the learner says its label
    assert mistakes == min(said.count(1), said.count(-1))
    assert certificate.observed == rounds - mistakes >= certificate.bound == -(-rounds // 2)
    assert certificate.status == ("valid" if rounds else "vacuous")
    assert certificate.quantities["witness"] == f"always {label:+d}"
    assert certificate.quantity == "regret"


@pytest.mark.parametrize("rounds", [1, 2, 99, 100])
def test_theorem_is_tight_on_a_learner_that_alternates_labels(rounds):
    certificate = lower(nk.play(Turns([1, -1]), Contrarian(), rounds=rounds))
    assert certificate.observed == certificate.bound


def test_a_constant_pays_for_every_round():
    adversary = Contrarian()
    certificate = lower(nk.play(Constant(1), adversary, rounds=100))
    assert (certificate.observed, certificate.bound) == (100, 50)
    assert adversary.witness() == (-1, 0)


@pytest.mark.parametrize(
    "learner", [nk.ThresholdHalving(7), nk.Halving(cube(3)), Midpoint()], ids=["threshold", "cube", "midpoint"]
)
def test_it_shows_the_origin_of_the_learners_domain(learner):
    adversary = Contrarian(learner.domain)
    assert adversary.ask(never) == 0
    certificate = lower(nk.play(learner, adversary, rounds=51))
    assert certificate.status == "valid"
    assert certificate.observed >= certificate.bound == 26


def test_a_vector_domain_is_shown_zeros():
    assert Contrarian(nk.Domain("vector", 3)).ask(never) == (0, 0, 0)


def test_the_certificate_is_void_for_a_learner_that_draws():
    learner = nk.Consistent(cube(2), random=True)
    certificate = lower(nk.play(learner, Contrarian(learner.domain), rounds=50))
    assert certificate.status == "void"
    assert certificate.bound is None
    assert certificate.reason == "assumption failed: the learner is deterministic"
