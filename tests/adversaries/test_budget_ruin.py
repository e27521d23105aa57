"""Budget ruin: every round a mistake on a learner with at most B examples, B + 1 on the Perceptron."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.budget_ruin import BudgetRuin
from novikoff.adversaries.theorems.budget_forced import BudgetRuinFacts, budget_forced
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.types import Adversary, Domain, Run
from novikoff.finite.constant import Constant
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.play import play
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger
from novikoff.kernel.forgetron import Forgetron
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.kernel.tighter import TighterPerceptron
from novikoff.linear.perceptron import Perceptron

CASES = {
    "budget_forced": cases.of_adversary(lambda: BudgetRuin(5), lambda: nk.Forgetron(5, **cases.LINEAR, radius=1.0), 20),
}
"""Cases for tests/test_every_theorem.py."""


class Budgeted:
    """A Perceptron that keeps at most `budget` examples; `choose(list)` says which one leaves."""

    domain, labels, promises = Domain("vector"), None, ()

    def __init__(self, budget, choose):
        self.budget, self.choose, self.kept = budget, choose, []

    def predict_one(self, x):
        return 1 if sum(y * float(z @ x) for z, y in self.kept) >= 0.0 else -1

    def learn_one(self, x, y):
        if self.predict_one(x) != y:
            if len(self.kept) == self.budget:
                self.kept.pop(self.choose(self.kept))
            self.kept.append((x, y))

    def facts(self):
        return None


class Listening(BudgetRuin):
    """The same, with its rows written down."""

    def __init__(self, budget):
        super().__init__(budget)
        self.shown = []

    def ask(self, probe):
        self.x = super().ask(probe)
        return self.x

    def answer(self, prediction):
        self.shown.append((self.x, super().answer(prediction)))
        return self.shown[-1][1]


CHOICES = {
    "oldest": lambda kept: 0,
    "newest": lambda kept: len(kept) - 1,
    "random": lambda kept: random.Random(len(kept)).randrange(len(kept)),
}


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("budget", [1, 2, 7, 30])
def test_a_learner_on_a_budget_errs_in_every_round(budget, choice):
    adversary = Listening(budget)
    ledger = play(Budgeted(budget, CHOICES[choice]), adversary, rounds=8 * budget)
    assert ledger.mistakes == 8 * budget
    found = lower(ledger)
    assert (found.theorem, found.kind, found.bound, found.status) == ("budget_forced", "D", 8 * budget, "valid")
    assert found.quantities["escapes"] == 0
    assert {y for _, y in adversary.shown} == {-1}


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_every_eviction_order_errs_each_round(budget, seed):
    coins = random.Random(seed)
    ledger = play(Budgeted(budget, lambda kept: coins.randrange(len(kept))), BudgetRuin(budget), rounds=40)
    assert ledger.mistakes == lower(ledger).bound == 40


@pytest.mark.parametrize("budget", [1, 2, 7, 30])
def test_witness_has_no_hinge_loss_and_the_stated_length(budget):
    adversary = Listening(budget)
    play(Budgeted(budget, CHOICES["oldest"]), adversary, rounds=5 * budget)
    u = np.array(adversary.witness())
    assert float(u @ u) == budget + 1
    assert all(y * float(u @ x) == 1.0 and float(x @ x) == 1.0 for x, y in adversary.shown)


def test_the_oldest_that_leaves_meets_the_vectors_in_turn():
    adversary = Listening(3)
    play(Budgeted(3, CHOICES["oldest"]), adversary, rounds=12)
    assert [int(np.argmax(x)) for x, _ in adversary.shown] == [0, 1, 2, 3] * 3


BUDGETED = {
    "randomized": lambda budget: RandomizedBudgetPerceptron(budget, "linear"),
    "forgetron": lambda budget: Forgetron(budget, "linear", radius=1.0),
    "basic forgetron": lambda budget: Forgetron(budget, "linear", radius=1.0, basic=True),
    "cks": lambda budget: CrammerKandolaSinger(budget, "linear"),
    "tighter": lambda budget: TighterPerceptron(budget, "linear"),
}


@pytest.mark.parametrize("name", BUDGETED)
def test_every_budget_learner_is_ruined_within_its_bound(name):
    ledger = play(BUDGETED[name](6), BudgetRuin(6), rounds=60)
    assert ledger.mistakes == lower(ledger).bound == 60
    assert all(certificate.status != "violated" for certificate in ledger.certify())


@pytest.mark.parametrize("learner", [Perceptron, lambda: KernelPerceptron("linear")])
@pytest.mark.parametrize("budget", [1, 2, 7, 30])
def test_the_perceptron_makes_one_mistake_for_each_vector_and_no_more(learner, budget):
    ledger = play(learner(), BudgetRuin(budget), rounds=6 * budget)
    found = lower(ledger)
    assert ledger.mistakes == found.bound == budget + 1
    assert found.status == "valid"
    assert found.quantities["escapes"] == 6 * budget - (budget + 1)
    upper = [c for c in ledger.certify() if c.side == "upper"]
    assert [c.bound for c in upper] == [budget + 1] * len(upper)
    assert len(upper) == len(ledger.learner.promises)


def test_one_example_more_than_the_adversary_thinks_is_enough_to_escape():
    ledger = play(Budgeted(6, CHOICES["oldest"]), BudgetRuin(5), rounds=50)
    assert ledger.mistakes == lower(ledger).bound == 6


@pytest.mark.parametrize("label", [-1, 1])
def test_any_learner_that_draws_nothing_errs_once_on_each_vector(label):
    ledger = play(Constant(label), BudgetRuin(4), rounds=20)
    assert ledger.mistakes == lower(ledger).bound == 20  # and one that never learns on all of them, for ever
    assert ledger.adversary.witness() == (-label,) * 5


class Stubborn:
    """Knows every label it was told, but for the last: there it says the opposite."""

    domain, labels, promises = Domain("vector"), None, ()

    def __init__(self):
        self.told, self.last = {}, None

    def predict_one(self, x):
        key = tuple(x)
        return (-1 if key == self.last else 1) * self.told.get(key, 1)

    def learn_one(self, x, y):
        self.last = tuple(x)
        self.told[self.last] = y

    def facts(self):
        return None


def test_the_vector_shown_last_is_shown_again_if_the_learner_errs_there_alone():
    ledger = play(Stubborn(), BudgetRuin(3), rounds=20)
    assert ledger.mistakes == lower(ledger).bound == 20


def test_a_ledger_opened_in_the_middle_is_guaranteed_the_vectors_that_are_left():
    adversary = BudgetRuin(6)
    play(Budgeted(9, CHOICES["oldest"]), adversary, rounds=3)
    ledger = play(Budgeted(9, CHOICES["oldest"]), adversary, rounds=40)
    assert ledger.mistakes == 7  # the new learner knows nothing of the first three either
    assert lower(ledger).bound == 4


def test_a_learner_that_draws_makes_it_void():
    facts = BudgetRuinFacts(2, (), 0)
    run = Run(facts, dataclasses.replace(facts, said=(-1, -1, -1)), 5, 5, 2.5, (0, 0), True, False)
    found = budget_forced(run)
    assert found.status == "void"
    assert "is deterministic" in found.reason


def test_adversary_that_forces_less_than_promised_is_detected():
    facts = BudgetRuinFacts(2, (), 0)
    run = Run(facts, dataclasses.replace(facts, said=(-1, -1, -1)), 5, 4, 4.0, (0, 0), True, True)
    assert budget_forced(run).status == "violated"
    escaped = dataclasses.replace(run, after=dataclasses.replace(run.after, escapes=2))
    assert budget_forced(escaped).status == "valid"
    assert budget_forced(dataclasses.replace(escaped, mistakes=2)).status == "violated"


def test_it_is_an_adversary_with_a_name_and_a_domain():
    adversary = BudgetRuin(9)
    assert isinstance(adversary, Adversary)
    assert (adversary.name, adversary.domain) == ("budget-ruin:budget=9", Domain("vector", 10))
    with pytest.raises(MismatchError):
        play(ThresholdHalving(5), adversary, rounds=3)


@pytest.mark.parametrize("budget", [0, -1, 2.5, "3", True])
def test_a_budget_must_be_an_integer(budget):
    with pytest.raises(InputError, match="budget"):
        BudgetRuin(budget)
