"""Orthogonal vectors: k mistakes on any learner, which meets Novikoff's bound for the Perceptron."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.adversaries.theorems.majority_flip_forced import MajorityFlipFacts
from novikoff.adversaries.theorems.orthogonal_forced import orthogonal_forced
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.types import Adversary, Domain, Run
from novikoff.finite.classes.sphere import SphereCover
from novikoff.finite.consistent import Consistent
from novikoff.finite.constant import Constant
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.play import play

CASES = {
    "orthogonal_forced": cases.of_adversary(lambda: Orthogonal(6), nk.Perceptron, 12),
}
"""Cases for tests/test_every_theorem.py."""


class PlainPerceptron:
    """The rule in a few lines; its certificates are tested elsewhere."""

    domain, labels, promises = Domain("vector"), None, ()

    def __init__(self, width):
        self.w = np.zeros(width)

    def predict_one(self, x):
        return 1 if float(self.w @ x) >= 0.0 else -1

    def learn_one(self, x, y):
        if self.predict_one(x) != y:
            self.w += y * x

    def facts(self):
        return None


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


def novikoff(u, shown):
    """R^2/margin^2 of u on the rows shown, exactly."""
    rows = [([Fraction(float(v)) for v in x], y) for x, y in shown]
    margin = min(y * sum(a * b for a, b in zip(u, x, strict=True)) for x, y in rows)
    assert margin > 0
    return max(sum(v * v for v in x) for x, _ in rows) * sum(Fraction(v) ** 2 for v in u) / margin**2


class Listening(Orthogonal):
    """The same, with its rows written down."""

    def __init__(self, k):
        super().__init__(k)
        self.shown = []

    def answer(self, prediction):
        x = self.ask(never)
        self.shown.append((x, super().answer(prediction)))
        return self.shown[-1][1]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 64])
def test_novikoffs_theorem_is_tight_for_the_perceptron(k):
    learner, adversary = PlainPerceptron(k), Listening(k)
    ledger = play(learner, adversary, rounds=5 * k)
    assert ledger.mistakes == k == novikoff(adversary.witness(), adversary.shown)
    assert [y for _, y in adversary.shown] == [-1] * (5 * k)  # a score of 0 says +1
    assert learner.w.tolist() == list(adversary.witness()) == [-1.0] * k
    certificate = lower(ledger)
    assert (certificate.theorem, certificate.kind, certificate.side) == ("orthogonal_forced", "D", "lower")
    assert certificate.status == "valid"
    assert certificate.bound == certificate.observed == k
    assert certificate.quantities["margin"] == pytest.approx(k**-0.5)


def test_seven_orthonormal_vectors_cost_seven_mistakes():
    ledger = play(PlainPerceptron(7), Orthogonal(7), rounds=7)
    assert ledger.curve[-1] == (7, 7)
    assert lower(ledger).quantities["witness"] == "-------"


@given(st.integers(1, 9), st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=30))
def test_witness_separates_for_any_learner(k, said):
    adversary = Listening(k)
    for prediction in said:
        adversary.answer({prediction: 1.0})
    u = adversary.witness()
    assert len(u) == k
    assert set(u) <= {-1, 1}
    assert novikoff(u, adversary.shown) == k
    assert [y for _, y in adversary.shown[:k]] == [-prediction for prediction in said[:k]]
    assert [int(np.argmax(x)) for x, _ in adversary.shown] == [t % k for t in range(len(said))]


def test_the_examples_are_fresh_unit_vectors_of_doubles():
    adversary = Orthogonal(4)
    assert isinstance(adversary, Adversary)
    assert adversary.domain == Domain("vector", 4)
    assert adversary.name == "orthogonal:k=4"
    x = adversary.ask(never)
    assert (x.dtype, x.tolist()) == (np.float64, [1.0, 0.0, 0.0, 0.0])
    x[:] = 7.0  # whatever a learner does to it
    assert adversary.ask(never).tolist() == [1.0, 0.0, 0.0, 0.0]
    adversary.answer({1: 1.0})
    assert adversary.ask(never).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert adversary.facts() == MajorityFlipFacts(4, (-1,))
    assert adversary.witness() == (-1, 1, 1, 1)


@pytest.mark.parametrize(("rounds", "forced"), [(0, 0), (4, 4), (6, 6), (20, 6)])
def test_any_deterministic_learner_pays_for_each_new_vector(rounds, forced):
    certificate = lower(play(Constant(-1), Orthogonal(6), rounds=rounds))
    assert certificate.bound == forced
    assert certificate.observed == rounds  # "always -1" does not learn
    assert certificate.quantities["witness"] == "+" * min(rounds, 6)
    assert certificate.status == ("valid" if rounds else "vacuous")


def test_vectors_shown_before_the_ledger_was_opened_are_not_counted():
    adversary = Orthogonal(6)
    play(Constant(1), adversary, rounds=4)
    assert lower(play(Constant(1), adversary, rounds=10)).bound == 2
    assert lower(play(Constant(1), adversary, rounds=10)).bound == 0


def test_a_long_witness_is_reported_by_its_counts():
    certificate = lower(play(Constant(1), Orthogonal(200), rounds=200))
    assert certificate.quantities["witness"] == "0 points +1, 200 points -1"


def test_the_certificate_is_void_for_a_learner_that_draws():
    certificate = lower(play(Consistent(SphereCover(2, 0.5), random=True), Orthogonal(2), rounds=2))
    assert certificate.status == "void"
    assert certificate.bound is None
    assert "is deterministic" in certificate.reason


def test_the_certificate_is_violated_by_one_mistake_too_few():
    facts = MajorityFlipFacts(5, ()), MajorityFlipFacts(5, (-1,) * 5)
    for mistakes, status in [(5, "valid"), (4, "violated")]:
        run = Run(*facts, rounds=9, mistakes=mistakes, expected=float(mistakes), constants=(0, 9), adaptive=True,
                  deterministic=True)  # fmt: skip
        assert orthogonal_forced(run).status == status


def test_a_learner_on_another_domain_is_refused():
    with pytest.raises(MismatchError, match="orthogonal:k=3 has vector"):
        play(ThresholdHalving(10), Orthogonal(3), rounds=3)


def test_no_vectors_are_refused():
    with pytest.raises(InputError, match="must be a positive integer: got k = 0"):
        Orthogonal(0)
