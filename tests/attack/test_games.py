"""Every learner on every kind of rows, in every way to play: no certificate is violated, and all ways are one game.

`harness.py` says what is played and checked. A short run plays one match in some fifteen; `make test-all` plays all of
them, more than 15,000 games. Each test reports how many games it played, and the statuses of their certificates, as
properties: `pytest -m slow tests/attack/test_games.py --junitxml=report.xml` writes them down.
"""

import json
import math

import numpy as np
import pytest

import novikoff as nk
from attack.harness import (
    KINDS,
    LEARNERS,
    LOSSES,
    VECTORS,
    WAYS,
    Tally,
    attack,
    check_certificates,
    match,
    witness,
)
from novikoff.core.registry import CATALOG, MANY
from novikoff.game.specs import make

MATCHES = [(name, kind) for name in LEARNERS for kind in KINDS]
TOGETHER = 8
"""Ways in which each match is played, beside row by row: others for the next kind of rows, so that each occurs."""


def test_every_learner_is_attacked():
    assert set(LEARNERS) == {name for name, entry in CATALOG.items() if entry.room == "learner"}
    assert len(KINDS) == 23
    families = [(name, family.labels) for name, samples in LEARNERS.items() for _, family in samples]
    assert {name for name, labels in families if labels == 3} >= set(MANY)


def test_all_matches_together_are_fifteen_thousand_games():
    specs = sum(map(len, LEARNERS.values()))
    assert specs * len(KINDS) * (1 + TOGETHER) >= 15_000


SHORT = [(name, list(KINDS)[5 * number % len(KINDS)]) for number, name in enumerate(LEARNERS)]
"""One kind of rows for each learner; between them all kinds."""


@pytest.mark.parametrize("number", range(len(SHORT)), ids=[f"{name}-{kind}" for name, kind in SHORT])
def test_a_few_matches(number):
    name, kind = SHORT[number]
    samples = LEARNERS[name]
    spec, family = samples[number % len(samples)]
    some = (WAYS[number % len(WAYS)], WAYS[(number + 3) % len(WAYS)])
    attack(match(spec, family, kind, seed=1, rounds=24), some)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), MATCHES, ids=[f"{name}-{kind}" for name, kind in MATCHES])
def test_every_match(name, kind, record_property):
    tally, first = Tally(), list(KINDS).index(kind)
    ways = [WAYS[(first + k) % len(WAYS)] for k in range(TOGETHER)]
    for spec, family in LEARNERS[name]:
        attack(match(spec, family, kind, 0, tally), ways)
    record_property("tally", json.dumps([tally.games, tally.statuses, tally.refused]))


# Bounds computed a second time, naively


PLAIN = [kind for kind in KINDS if kind not in ("huge", "tiny", "mixed scales", "heavy tails", "growing", "missing")]
"""Kinds of dense rows on which sums of plain floats are exact enough."""


def naive_perceptron(ledger, x, y):
    """The least right side of two theorems over the comparators that were tracked: of equal and of own lengths."""
    facts = ledger.tracker.facts()
    bias, normalize = facts.bias, facts.normalize
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    rows = np.hstack([x / np.where(lengths > 0, lengths, 1.0) if normalize else x, np.full((len(x), 1), bias)])
    squares = (rows**2).sum(axis=1)
    hinge = lengths = float(len(y))
    for one in facts.comparators:
        if one.direction:
            u = facts.directions[one.direction - 1] / one.scale
            loss, a2 = np.maximum(0.0, 1.0 - y * (rows @ u)).sum(), squares.max() * (u @ u)
            hinge = min(hinge, loss + a2 / 2 + math.sqrt(a2 * loss + a2 * a2 / 4))
    for one in facts.penalized:
        u, kappa = facts.directions[one.direction - 1] / one.scale, float(one.kappa)
        if kappa:
            loss = np.maximum(0.0, 1.0 + kappa * squares - y * (rows @ u)).sum()
            lengths = min(lengths, loss + u @ u / (4.0 * kappa))
    return {"perceptron_hinge": hinge, "perceptron_lengths": lengths}


@pytest.mark.parametrize("kind", [*PLAIN[::5], *(pytest.param(kind, marks=pytest.mark.slow) for kind in PLAIN)])
@pytest.mark.parametrize("spec", ["perceptron", "perceptron:bias=1,normalize=true"])
def test_bounds_of_the_perceptron_are_those_of_a_naive_sum(spec, kind):
    one = match(spec, VECTORS, kind, 2)
    ledger = witness(one).ledger
    certificates = {found.theorem: found for found in ledger.certify()}
    for theorem, value in naive_perceptron(ledger, one.x, one.y).items():
        found = certificates[theorem]
        assert ledger.mistakes <= value + 1e-6
        if found.status != "void":
            least = min(value, one.rounds)
            assert math.floor(least - 1e-6) <= found.bound <= math.floor(least * (1.0 + 1e-6) + 1e-6)


@pytest.mark.parametrize("kind", PLAIN)
def test_the_bound_of_halving_counts_hypotheses_one_by_one(kind):
    spec, family = LEARNERS["halving"][0]
    one = match(spec, family, kind, 2)
    ledger = witness(one).ledger
    left = [all((x >= k) == (y == 1) for x, y in zip(one.x, one.y, strict=True)) for k in range(22)]
    [found] = [found for found in ledger.certify() if found.theorem == "halving_mistakes"]
    if any(left):
        assert found.bound == math.floor(math.log2(len(left) / sum(left)))
        assert ledger.mistakes <= found.bound
    else:
        assert found.status == "void"


@pytest.mark.parametrize("kind", PLAIN)
def test_expert_mixture_matches_bayes_loss(kind):
    """Log loss: the mixture is Bayes' rule with a uniform prior, and its regret at most ln N."""
    spec, family = LEARNERS["exponential-weights"][1]
    one = match(spec, family, kind, 2)
    ledger = witness(one).ledger
    chances = np.where(one.y[:, None] == 1.0, one.x, 1.0 - one.x)
    likelihoods = np.cumprod(chances, axis=0)
    bayes = -math.log(likelihoods[-1].mean())
    assert ledger.loss == pytest.approx(bayes)
    [found] = [found for found in ledger.certify() if found.theorem == "exp_concave_regret"]
    regret = bayes - (-math.log(likelihoods[-1].max()))
    assert found.observed == pytest.approx(regret, abs=1e-9)
    assert regret - 1e-9 <= found.bound
    assert found.bound == pytest.approx(math.log(one.x.shape[1]))


@pytest.mark.parametrize("kind", PLAIN)
def test_a_fixed_rate_has_the_regret_of_its_formula(kind):
    one = match("exponential-weights:experts=6,loss=table,eta=0.4", LOSSES, kind, 2)
    ledger = witness(one).ledger
    totals, lost = np.zeros(6), 0.0
    for row in one.y:
        weights = np.exp(-0.4 * (totals - totals.min()))
        lost += weights @ row / weights.sum()
        totals += row
    [found] = [found for found in ledger.certify() if found.theorem == "fixed_rate_regret"]
    assert found.observed == pytest.approx(lost - totals.min(), abs=1e-9)
    assert found.bound == pytest.approx(math.log(6) / 0.4 + 0.4 * one.rounds / 8)
    assert lost - totals.min() <= found.bound


class Scores(nk.Observer):
    """Remembers the scores of all forecasters of a mixture."""

    def __init__(self):
        self.rows = []

    def see(self, batch, result):
        self.rows.append(np.atleast_2d(result.scores))


@pytest.mark.parametrize("kind", [*PLAIN[1::4], *(pytest.param(kind, marks=pytest.mark.slow) for kind in PLAIN)])
@pytest.mark.parametrize("spec", ["linear-mixture", "linear-mixture:fast=true"])
def test_linear_mixture_loses_at_most_ln_n_more_than_each_member_that_never_slept(spec, kind):
    one = match(spec, VECTORS, kind, 2)
    scores = Scores()
    ledger = nk.play(one.new(), one.stream(), observers=[scores])
    check_certificates(ledger, one.tally)
    losses = np.logaddexp(0.0, -one.y[:, None] * np.vstack(scores.rows)).sum(axis=0)
    awake = [loss for loss, slept in zip(losses, ledger.learner.facts().slept, strict=True) if not slept]
    assert awake, "every member sleeps"
    assert ledger.log_loss <= min(awake) + math.log(len(losses)) + 1e-6


def naive_kernel_perceptron(x, y, gamma):
    """Predictions of the Perceptron in the space of a Gaussian kernel, by its definition."""
    said, wrong = [], []
    for t, row in enumerate(x):
        score = sum(y[i] * math.exp(-gamma * float(((x[i] - row) ** 2).sum())) for i in wrong)
        said.append(1 if score >= 0.0 else -1)
        wrong += [t] if said[-1] != y[t] else []
    return said


@pytest.mark.parametrize("kind", [kind for kind in PLAIN if kind not in ("constant", "grid", "one-hot")])
def test_the_kernel_perceptron_is_that_of_its_definition(kind):
    one = match("kernel-perceptron:gamma=0.5", VECTORS, kind, 2, rounds=40)
    ledger = nk.play(one.new(), one.stream(), record=True)
    assert ledger.recorded().tolist() == naive_kernel_perceptron(one.x, one.y.tolist(), 0.5)


# Streams that were found to break something


def test_auto_never_falls_asleep_for_good():
    """Separable, then coin flips, then separable: the last third must be learned again."""
    n = 1000
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(3 * n, 3))
        y = np.where(x[:, 0] > 0, 1, -1)
        y[n : 2 * n] = np.where(rng.random(n) < 0.5, 1, -1)
        ledger = nk.play(make("auto", "learner"), (x, y), record=True)
        late = np.count_nonzero(ledger.recorded()[-n // 2 :] != y[-n // 2 :])
        assert late < n // 10, f"{late} of the last {n // 2} labels are wrong"
        check_certificates(ledger, Tally())
