"""The Randomized Budget Perceptron: the rule, its coins, and its exact expectation."""

import copy
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError
from novikoff.core.types import Batch
from novikoff.kernel._loops import randomized_budget as kernel
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.numerics import coins
from samples import GRID, NAMED, SPARSE, VECTORS
from twins import dense_twin

SAMPLES = {
    "rbp": [
        ("rbp:budget=20,gamma=0.5", *VECTORS),
        ("rbp:budget=20,kernel=linear,seed=5", *VECTORS),
        ("rbp:budget=1,kernel=linear,bias=2", *GRID),
        ("rbp:budget=7,kernel=polynomial,normalize_kernel=true", *SPARSE),
        ("rbp:budget=400,gamma=0.5", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

GERMAN = Path(os.environ.get("NOVIKOFF_DATA", "data")) / "german" / "german.mat"


def slot_of(seed, mistake, budget):
    return int(coins.uniform(seed, "eviction", mistake) * budget)


def twin(similarity, x, y, budget, seed):
    """The rule in plain Python: predictions, and the rounds of the supports by slot."""
    gram = similarity.matrix(x, x)
    slots, said, mistakes = [], [], 0
    for t, label in enumerate(y.tolist()):
        score = dense_twin(y[slots].astype(float), gram[slots, t]) if slots else 0.0
        said.append(1 if score >= 0.0 else -1)
        if said[-1] != label:
            mistakes += 1
            if len(slots) < budget:
                slots.append(t)
            else:
                slots[slot_of(seed, mistakes, budget)] = t
    return said, slots


@given(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 20), st.integers(-5, 2**70))
def test_it_plays_as_its_twin_in_plain_python(stream, rows, budget, seed):
    rng = np.random.default_rng(stream)
    x, y = rng.normal(size=(rows, 3)), rng.choice([-1, 1], rows).astype(np.int8)
    similarity = Kernel.of("rbf", gamma=0.5)
    learner = RandomizedBudgetPerceptron(budget, "rbf", gamma=0.5, seed=seed)
    said, slots = twin(similarity, x, y, budget, seed)
    assert learner.learn_many(Batch(x, y, 1)).tolist() == said
    assert learner.supports.examples()["points"].tolist() == x[slots].tolist()
    assert learner.supports.coefficients.tolist() == y[slots].tolist()


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.integers(1, 2**31))
def test_removed_slot_is_drawn_by_the_coin_of_the_mistake(seed, t, budget):
    slot = kernel.victim(np.uint64(coins.start(seed, "eviction")), t, budget)
    assert slot == slot_of(seed, t, budget)
    assert 0 <= slot < budget


def test_every_slot_has_the_same_chance():
    counts = np.bincount([slot_of(seed, 7, 5) for seed in range(5000)], minlength=5)
    assert np.all(np.abs(counts - 1000) < 5 * np.sqrt(1000 * 0.8))


def expected_mistakes(examples, budget):
    """E[M] of the learner itself: at each removal it is given, in turn, a seed that removes each slot."""
    seeds = {}

    def seed_for(slot, mistake):
        if (slot, mistake) not in seeds:
            seeds[slot, mistake] = next(s for s in range(10**6) if slot_of(s, mistake, budget) == slot)
        return seeds[slot, mistake]

    paths = {"": (Fraction(1), RandomizedBudgetPerceptron(budget, "linear").state())}
    total = Fraction(0)
    for x in examples:
        after = {}
        for chance, state in paths.values():
            learner = RandomizedBudgetPerceptron.restore(copy.deepcopy(state))
            wrong = learner.predict_one(x) != -1
            total += chance * wrong
            choices = range(budget) if wrong and learner.size == budget else [0]
            for slot in choices:
                forced = RandomizedBudgetPerceptron.restore(
                    {**copy.deepcopy(state), "seed": seed_for(slot, learner.updates + 1)}
                )
                forced.learn_one(x, -1)
                held = forced.state()
                key = str(sorted(forced.supports.examples()["points"].tolist())) + str(held["supports"]["updates"])
                before = after[key][0] if key in after else Fraction(0)
                after[key] = (before + chance / len(choices), held)
        paths = after
    assert sum(chance for chance, _ in paths.values()) == 1
    return total


def test_its_expected_mistakes_are_exactly_those_of_the_enumeration():
    e = np.eye(3)
    assert expected_mistakes(list(e) * 2, 2) == Fraction("4.875")
    assert expected_mistakes(list(e) * 4, 2) == Fraction("8.888671875")


def test_with_one_support_it_errs_on_every_turn_of_two_orthogonal_examples():
    learner = RandomizedBudgetPerceptron(1, "linear")
    e = np.eye(2)
    assert [learner.play_one(e[t % 2], -1) for t in range(5)] == [1] * 5
    assert (learner.size, learner.supports.evictions) == (1, 4)


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_while_nothing_leaves_it_is_the_kernel_perceptron(seed, rows):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, 2)), rng.choice([-1, 1], rows).astype(np.int8)
    budgeted, free = RandomizedBudgetPerceptron(rows, gamma=0.5), KernelPerceptron(gamma=0.5)
    assert budgeted.learn_many(Batch(x, y, 1)).tolist() == free.learn_many(Batch(x, y, 1)).tolist()
    assert budgeted.supports.evictions == 0


def test_seed_determines_the_game():
    rng = np.random.default_rng(0)
    batch = Batch(rng.normal(size=(500, 4)), rng.choice([-1, 1], 500).astype(np.int8), 1)
    said = [RandomizedBudgetPerceptron(10, gamma=0.3, seed=s).learn_many(batch).tolist() for s in (0, 1, 0)]
    assert said[0] == said[2] != said[1]


@pytest.mark.parametrize("seed", [2.5, "a", None, True])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(InputError, match="seed"):
        RandomizedBudgetPerceptron(5, seed=seed)


def test_the_same_example_twice_is_two_supports():
    learner = RandomizedBudgetPerceptron(5, "linear")
    for _ in range(3):
        learner.learn_one([0.0, 0.0], -1)
    assert learner.size == 3


@pytest.mark.skipif(not GERMAN.exists(), reason="needs the German credit data with its published permutations")
def test_on_the_german_data_it_makes_about_the_published_mistakes():
    from scipy.io import loadmat

    saved = loadmat(GERMAN)
    x, y = saved["data"][:, 1:].astype(float), saved["data"][:, 0].astype(np.int8)
    orders = saved["ID_all"].astype(int) - 1
    means = []  # each is of 20 games, as the published one
    for seed in range(8):
        rates = []
        for k, order in enumerate(orders):
            learner = RandomizedBudgetPerceptron(100, "rbf", gamma=1 / 128, seed=100 * seed + k)
            rates.append(100.0 * np.mean(learner.learn_many(Batch(x[order], y[order], 1)) != y[order]))
        means.append(np.mean(rates))
    assert abs(np.mean(means) - 37.5) < 3.0 * np.std(means, ddof=1) * np.sqrt(1.0 + 1.0 / len(means))
