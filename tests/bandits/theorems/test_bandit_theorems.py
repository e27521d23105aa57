"""Theorems on bandits: golden values, exact expectations on short tables, and how often a limit fails.

What all theorems have in common is tested in test_every_theorem.py.
"""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk
from helpers import drawing, tries
from novikoff.bandits.theorems import ix_regret, tsallis_regret
from novikoff.bandits.theorems.bandit_facts import GAMMAS, BanditFacts, at_least


def of_bandits(make, broken_one, *more):
    """A bandit on a table of losses: void after a warm start, and where its books are not those of the game."""
    game = lambda losses: cases.run_of(make(losses.shape[1]), nk.Losses(losses))
    sample = np.tile([[0.5, 1.0, 1.0]], (3000, 1))
    warmed = lambda: cases.warm(lambda: make(2), nk.Losses(cases.lead(2, 60)), nk.Losses(cases.lead(2, 60)))
    wrong = lambda: cases.changed(game(sample), lost=1.0)
    random = np.random.default_rng(0).random((20_000, 3))
    tight = None if broken_one is None else lambda: game(random)
    return cases.Case(cases.TABLES, game, sample, tight, broken_one,
                ((warmed, "warm start"), (wrong, "learned from the recorded losses"), *more))  # fmt: skip


def exp3(arms, **more):
    return nk.Exp3IX(arms, **{"horizon": 3000, **more})


def cheated(make):
    """It pays 1 in every round, and says so of itself."""
    return lambda: cases.run_of(cases.broken(make(3)), nk.Losses(np.tile([[0.5, 1.0, 1.0]], (3000, 1))))


CASES = {
    "observable_regret": of_bandits(
        exp3,
        None,
        (lambda: cases.changed(cases.run_of(exp3(2), nk.Losses(cases.lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "ix_pathwise": of_bandits(exp3, cheated(exp3)),
    "ix_regret": of_bandits(
        exp3,
        None,
        (lambda: cases.changed(cases.run_of(exp3(2), nk.Losses(cases.lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "tsallis_pathwise": of_bandits(
        nk.TsallisINF,
        cheated(nk.TsallisINF),
        (lambda: cases.changed(cases.run_of(nk.TsallisINF(2), nk.Losses(cases.lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "tsallis_regret": of_bandits(
        nk.TsallisINF,
        None,
        (
            lambda: dataclasses.replace(cases.run_of(nk.TsallisINF(2), nk.Losses(cases.lead(2, 60))), adaptive=True),
            "fixed in advance",
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

ARMS, LOSSES = [0, 1, 0, 2], [1.0, 0.0, 0.5, 1.0]


def certified(ledger):
    return {one.theorem: one for one in ledger.certify()}


def worked(make):
    """The certificates of the worked example, which begins anew for the ledger."""
    learner = drawing(make, ARMS, LOSSES)
    game = nk.Game(learner)
    for loss in LOSSES:
        game.learn_one(None, loss)
    return game.ledger, certified(game.ledger)


def test_golden_values_of_the_worked_example():
    ledger, found = worked(lambda seed: nk.Exp3IX(3, eta=0.5, seed=seed))
    assert ledger.loss == 2.5
    assert found["ix_pathwise"].bound == pytest.approx(4.359600071, abs=1e-8)
    facts = dataclasses.replace(ledger.learner.facts(), gammas=(0.25,))
    limits = [at_least(facts, (e,), 3) for e in ledger.learner.state()["estimates"].tolist()]  # gamma is eta/2 = 0.25
    assert 2.5 - min(limits) == pytest.approx(10.688689124, abs=1e-8)


def test_golden_values_in_advance():
    assert tsallis_regret.in_advance(10, 100_000) == pytest.approx(3367.544468, abs=1e-6)
    eta = math.sqrt(2 * math.log(10) / 1e6)
    facts = BanditFacts("ix", 100_000, 10, 10, 0.0, GAMMAS, (), eta=eta, rates=1e5 * eta)
    chance, entropy = math.log(2 / 0.05), math.log(10)
    ours = 2 * math.sqrt(2e6 * entropy) + (math.sqrt(1e6 / (2 * entropy)) + 1) * chance
    assert ix_regret.in_advance(facts) == pytest.approx(ours) == pytest.approx(6014.601)
    published = 2 * math.sqrt(2e6 * entropy) + (math.sqrt(2e6 / entropy) + 1) * chance
    assert published == pytest.approx(7733.587246, abs=1e-6)


TABLES = arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 5)), elements=st.floats(0, 1))


@settings(max_examples=tries(150))
@given(TABLES, st.integers(0, 2**32), st.sampled_from([None, 0.01, 0.3, 3.0, 50.0]), st.booleans())
def test_the_pathwise_bounds_hold_on_any_input(table, seed, eta, implicit):
    arms = table.shape[1]
    for learner in (nk.Exp3IX(arms, eta=eta, implicit=implicit, seed=seed), nk.TsallisINF(arms, seed)):
        ledger = nk.play(learner, nk.Losses(table))
        found = next(one for one in ledger.certify() if one.kind == "D")
        assert found.status in ("valid", "vacuous")


@pytest.mark.parametrize("spent", ["ix_pathwise", "tsallis_pathwise"])
def test_pathwise_bounds_fail_with_half_the_spent_loss(spent):
    """They have some power: the sums are needed."""
    table = np.tile([[0.0, 1.0, 1.0, 1.0]], (40, 1))
    make = nk.TsallisINF if spent == "tsallis_pathwise" else lambda arms, seed: nk.Exp3IX(arms, eta=0.6, seed=seed)
    broken = 0
    for seed in range(300):
        learner = make(4, seed=seed)
        nk.play(learner, nk.Losses(table))
        facts = learner.facts()
        entrance = 0.0 if spent == "tsallis_pathwise" else math.log(4) / facts.eta
        broken += facts.lost > facts.least + 0.5 * (entrance + facts.spent)
    assert broken > 0


def expected_regret(table):
    """Of Tsallis-INF, exactly: over all sequences of arms, each with its chance."""
    rounds, arms = table.shape
    total = 0.0
    for sequence in itertools.product(range(arms), repeat=rounds):
        learner, chance, lost = nk.TsallisINF(arms), 1.0, 0.0
        for t, arm in enumerate(sequence):
            p = learner.chances().get(arm, 0.0)
            chance, lost = chance * p, lost + table[t, arm]
            learner._estimates[arm] += table[t, arm] / p if p else 0.0
            learner.rounds += 1
        total += chance * lost
    return total - table.sum(axis=0).min()


@settings(max_examples=8, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 3)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_tsallis_keeps_its_expectation_exactly_on_short_tables(table):
    assert expected_regret(table) <= tsallis_regret.in_advance(table.shape[1], len(table))


def supermartingale(losses, chances, shares, gamma):
    """The mean of exp(2 gamma q l/(p + gamma)), and what it is at most."""
    factor = np.exp(2 * gamma * shares * losses / (chances + gamma))
    return float(chances @ factor), math.exp(2 * gamma * float(shares @ losses))


@settings(max_examples=tries(300))
@given(st.integers(1, 6), st.sampled_from(GAMMAS), st.randoms(use_true_random=False))
def test_the_factor_of_the_observable_limit_is_at_most_1_on_average(arms, gamma, random):
    draw = lambda: np.array([random.random() ** 4 + 1e-9 for _ in range(arms)])
    chances, shares, losses = draw(), draw(), np.minimum(draw(), 1.0)
    mean, most = supermartingale(losses, chances / chances.sum(), shares / shares.sum(), gamma)
    assert mean <= most * (1 + 1e-12)


def test_factor_exceeds_1_with_less_gamma_in_the_denominator():
    chances, losses, shares = np.array([0.01, 0.99]), np.array([1.0, 0.0]), np.array([1.0, 0.0])
    gamma = 0.1
    mean, most = supermartingale(losses, chances, shares, gamma)
    assert mean <= most
    weakened = float(chances @ np.exp(2 * gamma * shares * losses / (chances + 0.3 * gamma)))
    assert weakened > most


def failures(games, make, rounds, arms, delta=0.05):
    """In how many games the observable limit was below the regret, at the end or at any of 20 moments."""
    failed = 0
    for seed in range(games):
        gap = 0.1 * (seed % 5)
        stream = nk.synthetic.bandit_losses(arms=arms, gap=gap, rounds=rounds, switches=seed % 3, seed=seed)
        learner = make(arms, seed=seed + 10**6)
        game = nk.Game(learner)
        bad = False
        for batch in stream.batches():
            for k in range(0, len(batch), max(1, rounds // 20)):
                game.learn_batch(batch.part(k, min(k + max(1, rounds // 20), len(batch))))
                found = certified(game.ledger)["observable_regret"]
                bad |= found.observed > found.bound
        failed += bad
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("make", [nk.Exp3IX, nk.TsallisINF, lambda arms, seed: nk.Exp3IX(arms, eta=0.05, seed=seed)])
@pytest.mark.parametrize(("rounds", "arms"), [(500, 3), (5000, 8)])
def test_the_observable_limit_fails_in_few_of_1000_games(make, rounds, arms):
    """With the grid of seven gammas; 50 of 1,000 would be allowed."""
    assert failures(1000, make, rounds, arms) <= 50


@pytest.mark.slow
def test_a_limit_without_its_allowance_fails_often():
    """The simulation has power: at one gamma, without the logarithm, the estimates are as often too large."""
    failed = 0
    for seed in range(200):
        learner = nk.Exp3IX(3, eta=0.05, seed=seed)
        nk.play(learner, nk.synthetic.bandit_losses(arms=3, gap=0.0, rounds=500, seed=seed))
        failed += any(sums[-1] > total for sums, total in zip(learner.facts().sums, learner.totals, strict=True))
    assert failed > 50


def test_the_regret_of_a_simulation_is_the_true_one():
    stream = nk.synthetic.bandit_losses(arms=4, gap=0.2, rounds=2000, seed=5)
    ledger = nk.play(nk.Exp3IX(4), stream)
    best, lost = stream.witness()
    assert certified(ledger)["observable_regret"].observed == ledger.loss - lost
    assert ledger.learner.facts().best == best


def share_that_fails(chance, share, runs=2000, rounds=2000, delta=0.1):
    """How often the limit of one arm that always costs 1 is ever above the truth; `share` of its allowance is taken."""
    plays = np.cumsum(np.random.default_rng(0).random((runs, rounds)) < chance, axis=1)
    truth, level = np.arange(1, rounds + 1), share * math.log(len(GAMMAS) / delta)
    failed = np.zeros(runs, dtype=bool)
    for gamma in GAMMAS:
        failed |= (plays / (chance + gamma) - level / (2 * gamma) > truth).any(axis=1)
    return failed.mean()


@pytest.mark.parametrize("chance", [0.002, 0.02, 0.2])
def test_the_limit_of_an_arm_is_ever_wrong_in_at_most_delta_of_runs(chance):
    """The grid of seven gammas, all T at once; with a quarter of the allowance it is wrong more often than delta."""
    assert share_that_fails(chance, 1.0) <= 0.1
    assert share_that_fails(chance, 0.25) > 0.1
