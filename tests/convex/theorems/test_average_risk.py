import dataclasses
import math

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import cases
import novikoff as nk
from novikoff.convex.online_gradient import OnlineGradient
from novikoff.convex.theorems.average_risk import DELTA, average_risk, risk_limit
from novikoff.convex.theorems.average_risk_always import LARGEST, RATES, RATIO, average_risk_always, margin, psi
from novikoff.core.types import Run
from novikoff.game.ledger_state import packed, unpacked

CASES = {
    "average_risk": cases.of_targets(
        None,
        None,
        [((1.0,), 0.5)] * 900,
        (lambda: dataclasses.replace(cases.run_of(nk.OnlineGradient(), cases.ones(9)), repeated=True), "used once"),
    ),
    "average_risk_always": cases.of_targets(
        None,
        None,
        [((1.0,), 0.5)] * 900,
        (
            lambda: dataclasses.replace(cases.run_of(nk.OnlineGradient(), cases.ones(9)), adaptive=True),
            "independent draws",
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

BOTH = pytest.mark.parametrize("theorem", [average_risk, average_risk_always])


def run_of(learner, loss, **other):
    facts = learner.facts()
    run = Run(dataclasses.replace(facts, rounds=0), facts, facts.rounds, 0, loss, (0, 0), False, True, loss=loss)
    return dataclasses.replace(run, **other)


def coin_facts(rounds):
    """Of a game in which x is always zero: the loss is the outcome, whatever the weights; C = 1 but for a hair."""
    learner = OnlineGradient(radius=1e-20, limit=1e-20, low=0.0, high=1.0, loss="absolute")
    for _ in range(rounds):
        learner.learn_one([0.0], 0.0)
    return run_of(learner, 0.0)


def binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def test_golden_values_of_the_margin():
    assert risk_limit(0.0, 1.0, 1000, 0.05) == pytest.approx(0.03870, abs=5e-6)
    assert risk_limit(0.1, 1.0, 1000, 0.05) == pytest.approx(0.13870, abs=5e-6)
    assert risk_limit(0.2, 4.0, 1000, 0.05) == pytest.approx(0.2 + 4 * 0.0387023, abs=1e-6)


def least(second, delta):
    """The margin, by a fine search of the rates that does not pay for the choice: a limit from below."""
    rates = np.arange(1, 10_000) / 10_000
    return float(np.min((-(np.log1p(-rates) + rates) * second + math.log(1.0 / delta)) / rates))


def test_golden_values_at_all_times():
    run = dataclasses.replace(coin_facts(100), loss=10.0)
    assert average_risk_always(run, 0.05).bound == pytest.approx(0.23612, abs=1e-5)  # losses of 0 and 1: k = 1
    assert average_risk_always(dataclasses.replace(run, squares=1.0), 0.05).bound == pytest.approx(0.17608, abs=1e-5)
    assert average_risk_always(dataclasses.replace(run, loss=0.0), 0.05).bound == pytest.approx(0.03718, abs=1e-5)


@pytest.mark.parametrize("second", [0.0, 0.01, 0.3, 2.0, 50.0, 1e4, 1e9])
def test_the_margin_is_near_the_best_rate(second):
    assert least(second, 0.05) <= margin(second, 0.05) <= 1.8 * least(second, 0.05) + 1.0


def test_a_second_moment_that_is_not_known_is_at_most_the_first():
    run = dataclasses.replace(coin_facts(100), loss=5.0)
    unknown = average_risk_always(run).bound
    assert average_risk_always(dataclasses.replace(run, squares=1e9)).bound == unknown
    assert average_risk_always(dataclasses.replace(run, squares=0.5)).bound < unknown


def test_the_lemma_holds_in_exact_numbers():
    for r in (0.01, 0.3, 0.7, 1.0 - 2.0**-7):
        for x in np.linspace(0.0, 1.0, 101).tolist():
            assert math.exp(-r * x - psi(r) * x * x) <= 1.0 - r * x + 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(0.3, 4.0), (2.0, 2.0), (0.05, 0.4), (5.0, 0.5)])
def test_the_limit_at_all_times_covers_losses_of_any_shape(shape):
    """Losses are beta variables: no prefix of 300 may break the limit in more than delta of the runs."""
    rng, runs, n, delta = np.random.default_rng(0), 2000, 300, 0.2
    mean = shape[0] / sum(shape)
    failed = 0
    for _ in range(runs):
        losses = rng.beta(*shape, n)
        first, second = np.cumsum(losses), np.cumsum(losses**2)
        rates = LARGEST * RATIO ** np.arange(RATES)
        shares = np.log((np.arange(RATES) + 1) * (np.arange(RATES) + 2) / delta)
        curves = np.array([psi(r) for r in rates.tolist()])
        margins = np.min((curves[:, None] * second + shares[:, None]) / rates[:, None], axis=0)
        assert margins[-1] <= margin(float(second[-1]), delta) * (1.0 + 1e-9)
        failed += bool(np.any(first + margins < mean * np.arange(1, n + 1)))
    assert failed <= delta * runs


def test_squares_are_summed_by_the_ledger_and_saved():
    x, y = world(np.random.default_rng(0), 200)
    ledgers = [nk.play(OnlineGradient(), (x, y)), nk.play(OnlineGradient(), zip(x, y, strict=True))]
    again = unpacked(packed(ledgers[0]))
    said = nk.play(OnlineGradient(), (x, y), record=True).recorded()
    for ledger in (*ledgers, again):
        assert ledger.squares == pytest.approx(np.sum((said - y) ** 4))
        assert ledger.squares == ledgers[0].squares


def test_small_losses_are_worth_a_narrower_limit():
    """C is 4 and the mean loss 0.02 or so: the limit by the first moment alone is twice as far from it."""
    learner = OnlineGradient(radius=1.0)
    ledger = nk.play(learner, world(np.random.default_rng(3), 1000))
    found = {c.theorem: c for c in ledger.certify()}
    first = average_risk_always(run_of(learner, ledger.loss))
    above = found["average_risk_always"].bound - ledger.loss / 1000
    assert found["average_risk_always"].status == "conditional"
    assert above < 0.5 * (first.bound - ledger.loss / 1000)
    assert above < 0.25 * (found["average_risk"].bound - ledger.loss / 1000)


@BOTH
@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
def test_the_chance_to_be_wrong_is_below_delta_exactly_and_not_nothing(theorem, p):
    n = 60
    run = coin_facts(n)
    limits = [theorem(dataclasses.replace(run, loss=float(k))) for k in range(n + 1)]
    wrong = [c.bound < p for c in limits]
    chance = sum(weight for weight, is_wrong in zip(binomial(n, p), wrong, strict=True) if is_wrong)
    assert chance <= DELTA
    if p >= 0.3:
        assert chance > 0.0  # a limit that is never below the risk would be no limit


def world(rng, n):
    x = rng.normal(size=(n, 4))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x, np.clip(x @ [0.5, -0.5, 0.2, 0.0] + rng.uniform(-0.2, 0.2, n), -1.0, 1.0)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_average_keeps_below_its_limit_on_independent_examples(loss):
    fresh_x, fresh_y = world(np.random.default_rng(1_000_000), 20_000)
    wrong, risks, last = 0, [], []
    for seed in range(40):
        learner = OnlineGradient(radius=1.0, loss=loss, horizon=500)
        ledger = nk.play(learner, world(np.random.default_rng(seed), 500))
        certificates = {c.theorem: c for c in ledger.certify()}
        risk, end = (
            np.mean((fresh_x @ w - fresh_y) ** 2 if loss == "squared" else np.abs(fresh_x @ w - fresh_y))
            for w in (learner.averaged, learner.weights)
        )
        wrong += any(risk > certificates[name].bound for name in ("average_risk", "average_risk_always"))
        assert certificates["average_risk"].status == "conditional"
        assert certificates["average_risk"].observed == ledger.loss / 500
        risks.append(risk)
        last.append(end)
    assert wrong == 0
    assert np.mean(risks) <= ledger.loss / 500  # by Jensen, in the mean


def test_diabetes_the_average_errs_less_on_a_fresh_half_than_its_limit():
    """Disease progression is from 25 to 346: told to be from 0 to 400, in units of 400, before the first round."""
    data = load_diabetes()
    order = np.random.default_rng(0).permutation(len(data.target))
    x, y = data.data[order] * 3.0, data.target[order] / 400.0
    half = len(y) // 2
    learner = OnlineGradient(radius=0.75, limit=1.0, low=0.0, high=1.0, bias=1.0)
    ledger = nk.play(learner, (x[:half], y[:half]))
    certificates = {c.theorem: c for c in ledger.certify()}
    said = x[half:] @ learner.averaged + learner.averaged_constant * learner.bias
    risk = np.mean((said - y[half:]) ** 2)
    assert said[0] == pytest.approx(learner.mean().predict_one(x[half]))
    assert risk < certificates["average_risk_always"].bound < certificates["average_risk"].bound < 0.5
    assert risk < np.mean((y[:half].mean() - y[half:]) ** 2)  # better than the mean outcome
    assert certificates["online_gradient_regret"].status == "valid"


def test_fixed_n_is_checked_if_it_is_the_horizon():
    x, y = world(np.random.default_rng(0), 100)
    claim = "the number of rounds was fixed in advance"
    for horizon, standing in [(100, "checked"), (99, "trusted"), (None, "trusted")]:
        ledger = nk.play(OnlineGradient(horizon=horizon), (x, y))
        standings = {c.theorem: {a.claim: a.standing for a in c.assumptions} for c in ledger.certify()}
        assert standings["average_risk"][claim] == standing
        assert claim not in standings["average_risk_always"]


@BOTH
def test_nonconvex_losses_are_void_and_no_rounds_are_vacuous(theorem):
    learner = OnlineGradient()
    learner.learn_one([0.5], 0.5)
    run = run_of(learner, 0.25)
    assert theorem(run).status in ("conditional", "vacuous")
    for loss in ("zero-one", "clipped"):
        wrong = theorem(dataclasses.replace(run, after=dataclasses.replace(run.after, loss=loss)))
        assert (wrong.status, wrong.bound) == ("void", None)
        assert "convex" in wrong.reason
    assert theorem(dataclasses.replace(run, before=run.after, rounds=0)) is None


def test_a_loss_that_is_cut_off_breaks_the_theorem_so_it_must_be_void():
    """Errors of -4 and 0 in turn: cut off at 1 their losses have mean 1/2, the loss of their mean is 1."""
    cut = [min(1.0, error * error) for error in (-4.0, 0.0)]
    assert min(1.0, np.mean([-4.0, 0.0]) ** 2) > np.mean(cut)


@BOTH
def test_a_range_or_a_length_that_was_learned_on_the_way_has_no_limit_of_risk(theorem):
    for x, y, word in (([0.5], 7.0, "outcomes"), ([3.0], 0.5, "length")):
        learner = OnlineGradient()
        learner.learn_one([0.5], 0.5)
        assert theorem(run_of(learner, 0.25)).status != "void"
        learner.learn_one(x, y)
        certificate = theorem(run_of(learner, 0.5))
        assert certificate.status == "void"
        assert word in str(certificate)
        given = OnlineGradient(limit=3.0, low=-1.0, high=7.0)
        given.learn_one(x, y)
        assert theorem(run_of(given, 0.5)).status != "void"


def test_the_largest_loss_is_not_taken_from_the_run():
    """All losses are small, but they need not have been: C stays what W, R and the range of y make of it."""
    for low, high, loss, top in [(-1.0, 5.0, "squared", 121.0), (-5.0, -1.0, "squared", 121.0),
                                 (-5.0, 1.0, "absolute", 11.0), (1.0, 5.0, "absolute", 11.0)]:  # fmt: skip
        learner = OnlineGradient(radius=2.0, limit=3.0, low=low, high=high, loss=loss)
        ledger = nk.play(learner, (np.zeros((10, 2)), np.full(10, high)))
        (certificate,) = [c for c in ledger.certify() if c.theorem == "average_risk"]
        assert certificate.quantities["largest_loss"] == pytest.approx(top)
        margin = top * math.sqrt(math.log(40.0) / 20.0)
        assert certificate.bound == pytest.approx(ledger.loss / 10 + margin)
