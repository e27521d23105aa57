"""Statements that hold with probability 1 - delta fail at most that often, in simulated games whose truth is known.

Examples are independent draws of a distribution on 20 rows, so that most rows come several times and the risk of
whatever was learned is a sum of 20 terms. They are delivered in every way there is: as arrays in the order drawn,
through scikit-learn's `fit`, with weights of rows above 1, with weights of labels. A statement must either be void,
because its independence is refuted, or fail in at most delta of the games. Each test of that fails wrongly with a
chance below one in a million.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import novikoff as nk
from novikoff.game.reservoir import HypothesisReservoir
from novikoff.game.specs import make
from novikoff.integrations.sklearn import NovikoffClassifier, NovikoffRegressor
from novikoff.online_to_batch.replay import replay

DELTA = 0.05
ROUNDS = 100
WRONGLY = 1e-6
"""The chance with which a test of coverage fails although the statement is true."""


class World:
    """A distribution on 20 rows in the unit disc; each has its own chance of the label +1, often one half."""

    def __init__(self, rng):
        x = rng.normal(size=(20, 2))
        self.x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0)
        self.p = rng.choice([0.1, 0.5, 0.5, 0.9], 20)
        self.rows = nk.Batch(self.x, np.ones(20, np.int8), 1)

    def draw(self, rng, rounds=ROUNDS):
        """Independent examples: rows, and labels -1 and +1."""
        which = rng.integers(0, 20, rounds)
        return self.x[which], np.where(rng.random(rounds) < self.p[which], 1, -1)

    def risk(self, classifier):
        """The chance of an error on a new example."""
        said = np.asarray(classifier.predict_many(self.rows))
        return float(np.mean(np.where(said == 1, 1.0 - self.p, self.p)))

    def brier(self, learner):
        """The expected squared distance of P(+1) from the label."""
        q = np.array([learner.probability_one(x) for x in self.x])
        return float(np.mean(self.p * (1.0 - q) ** 2 + (1.0 - self.p) * q**2))

    def squared(self, learner):
        """The expected squared loss of a predictor of the label as a number."""
        said = np.array([learner.predict_one(x) for x in self.x])
        return float(np.mean(self.p * (said - 1.0) ** 2 + (1.0 - self.p) * (said + 1.0) ** 2))


# Delivery: the examples of a world as a stream, in one of the ways there are.


def frame(x, y, **more):
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], **more, "label": y})


def in_order(x, y, rng, **kind):
    return nk.RegressionArrays(x, y.astype(float)) if kind else nk.Arrays(x, y)


def weighted(x, y, rng, **kind):
    weights = rng.integers(1, 5, len(y))
    return nk.Frame(frame(x, y.astype(float) if kind else y, w=weights), label="label", weight="w", **kind)


def label_weighted(x, y, rng):
    return nk.Frame(frame(x, np.where(y == 1, "yes", "no")), label="label", positive="yes", label_weights={"yes": 4})


DELIVERIES = {"in order": in_order, "weighted": weighted, "label weights": label_weighted}


# Statements: each plays one game and yields (name, bound or None if void, truth).


def bound_of(certificate):
    return None if certificate.status == "void" else certificate.bound


def kept_game(spec, stream, seed):
    ledger = nk.Ledger(make(spec, "learner"))
    ledger.reservoir = HypothesisReservoir(ledger.learner, 10, seed)
    return nk.play(ledger.learner, stream, ledger=ledger)


def kept_best(world, stream, seed):
    kept = nk.finalize(kept_game("perceptron", stream, seed), "best", DELTA, stream)
    yield "best_risk", bound_of(kept.certificate), world.risk(kept.classifier)


def kept_random(world, stream, seed):
    """Limits on the mean risk, and the mean Brier score, of all hypotheses of the game."""
    ledger = kept_game("ftrl", stream, seed)
    kept = nk.finalize(ledger, "random", DELTA)
    learners = [learner for _, learner, _ in replay(ledger, ledger.reservoir, stream, [*range(ledger.rounds)])]
    truth = {
        "risk": float(np.mean([world.risk(learner) for learner in learners if learner is not None])),
        "Brier": float(np.mean([world.brier(learner) for learner in learners if learner is not None])),
    }
    for one in kept.certificates:
        name = "Brier" if "rier" in one.quantity else "risk"
        yield f"{one.theorem} ({name})", bound_of(one), truth[name]


def kept_voted(world, stream, seed):
    kept = nk.finalize(kept_game("perceptron", stream, seed), "voted", DELTA, stream)
    yield "voted_risk", bound_of(kept.certificate), world.risk(kept.classifier)


def kept_of_multiclass(world, stream, seed):
    """The same of a learner of many labels, which are numbered in the order in which they come."""
    stream.show_many()
    ledger = nk.Ledger(make("perceptron", "learner", multiclass=True))
    ledger.reservoir = HypothesisReservoir(ledger.learner, 10, seed)
    kept = nk.finalize(nk.play(ledger.learner, stream, ledger=ledger), "best", DELTA, stream)
    up = np.array([str(kept.predict_one(x)) in ("1", "yes") for x in world.x])
    yield "best_risk", bound_of(kept.certificate), float(np.mean(np.where(up, 1.0 - world.p, world.p)))


def chosen_threshold(world, stream, seed):
    """Cost, precision and recall, of all hypotheses of the game, at the threshold that looks best afterwards."""
    ledger = kept_game("ftrl", stream, seed)
    chosen = nk.choose_threshold(ledger, cost={"FP": 1, "FN": 3}, delta=DELTA)
    learners = [learner for _, learner, _ in replay(ledger, ledger.reservoir, stream, [*range(ledger.rounds)])]
    up = np.mean([chosen.predict(one, world.rows) == 1 for one in learners if one is not None], axis=0)
    right, false, missed = (float(np.mean(one)) for one in (up * world.p, up * (1.0 - world.p), (1.0 - up) * world.p))
    cost, precision, recall = chosen.certificates
    yield cost.theorem, bound_of(cost), false + 3.0 * missed
    for one, truth in ((precision, right / max(right + false, 1e-300)), (recall, right / max(right + missed, 1e-300))):
        least = bound_of(one)
        yield one.theorem, None if least is None else -least, -truth


def held_back(world, stream, seed):
    mixed = nk.parallel_perceptron(stream, shards=2, epochs=2, held=2, delta=DELTA, threads=1)
    kept = mixed.kept
    yield "held_risk", bound_of(kept.certificate), world.risk(kept.classifier)


GRADIENT = "online-gradient:limit=1,low=-1,high=1"


def kept_average(world, stream, seed):
    kept = nk.finalize(kept_game(GRADIENT, stream, seed), "averaged", DELTA)
    for one in kept.certificates:
        yield one.theorem, bound_of(one), world.squared(kept.classifier)


def average_of_game(world, stream, seed):
    ledger = nk.play(make(GRADIENT, "learner"), stream)
    for one in ledger.certify():
        if one.theorem.startswith("average_risk"):
            yield f"{one.theorem} of the game", bound_of(one), world.squared(ledger.learner.mean())


def average_of_shards(world, stream, seed):
    kept = nk.parallel_gradient(stream, make(GRADIENT, "learner"), shards=3, delta=DELTA, threads=1)
    for one in kept.certificates:
        yield f"{one.theorem} of shards", bound_of(one), world.squared(kept.classifier)


CLASSIFIERS = {"best": kept_best, "random": kept_random, "voted": kept_voted, "multiclass": kept_of_multiclass,
               "threshold": chosen_threshold, "held": held_back}  # fmt: skip
REGRESSIONS = {"averaged": kept_average, "game": average_of_game, "shards": average_of_shards}


def failures(games):
    """Of each statement: games in which it was made, and in which it was false."""
    made, failed = {}, {}
    for game in games:
        for name, bound, truth in game:
            made[name] = made.get(name, 0) + (bound is not None)
            failed[name] = failed.get(name, 0) + (bound is not None and bound < truth)
    return {name: (made[name], failed[name]) for name in made}


def check_coverage(found, delta):
    """Failures are as many as a coin of chance delta may show, but for one time in a million."""
    for name, (made, failed) in found.items():
        chance = float(binom.sf(failed - 1, made, delta))
        assert chance > WRONGLY, f"{name} was false in {failed} of {made} games, at delta = {delta}"


def sizes(short, long):
    """So many simulated games in a short run, and in `make test-all`."""
    return pytest.mark.parametrize("games", [short, pytest.param(long, marks=pytest.mark.slow)])


FIRST = [(statement, "in order") for statement in CLASSIFIERS] + [("best", "weighted"), ("held", "label weights")]
CASES = [(statement, delivery, 400) for statement in CLASSIFIERS for delivery in DELIVERIES]


@pytest.mark.parametrize(
    ("statement", "delivery", "games"),
    [*((*case, 5) for case in FIRST), *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES)],
)
def test_limits_on_the_risk_of_classifiers_hold(statement, delivery, games):
    def game(seed):
        rng = np.random.default_rng([1, seed])
        world = World(rng)
        return CLASSIFIERS[statement](world, DELIVERIES[delivery](*world.draw(rng), rng), seed)

    found = failures(map(game, range(games)))
    check_coverage(found, DELTA)
    if delivery == "in order":
        assert all(made > games / 2 for made, _ in found.values()), f"void too often: {found}"


@sizes(5, 400)
@pytest.mark.parametrize("delivery", ["in order", "weighted"])
@pytest.mark.parametrize("statement", REGRESSIONS)
def test_limits_on_the_risk_of_averages_hold(statement, delivery, games):
    def game(seed):
        rng = np.random.default_rng([2, seed])
        world = World(rng)
        return REGRESSIONS[statement](world, DELIVERIES[delivery](*world.draw(rng), rng, outcomes="numbers"), seed)

    check_coverage(failures(map(game, range(games))), DELTA)


def fitted(world, rng, seed, weights):
    """Every statement about independent draws that an estimator's game makes."""
    x, y = world.draw(rng)
    model = NovikoffRegressor(GRADIENT, random_state=seed)
    model.fit(x, y.astype(float), sample_weight=rng.integers(1, 5, len(y)) if weights else None)
    for one in model.certificates_:
        if one.theorem.startswith("average_risk"):
            yield one.theorem, bound_of(one), world.squared(model.ledger_.learner.mean())


@sizes(5, 400)
@pytest.mark.parametrize("weights", [False, True], ids=["plain", "sample_weight"])
def test_limits_hold_after_fit_of_scikit_learn(weights, games):
    def game(seed):
        rng = np.random.default_rng([3, seed])
        return fitted(World(rng), rng, seed, weights)

    check_coverage(failures(map(game, range(games))), 0.025)


@sizes(3, 100)
def test_fit_of_scikit_learn_errs_as_often_as_the_order_given(games):
    """Labels that are coin flips are wrong half of the time in any order that does not put equal rows together."""
    errors = rounds = 0
    for seed in range(games):
        rng = np.random.default_rng([4, seed])
        x = rng.normal(size=(20, 2))[rng.integers(0, 20, 200)]
        model = NovikoffClassifier("perceptron", random_state=seed).fit(x, rng.integers(0, 2, 200))
        errors, rounds = errors + model.ledger_.mistakes, rounds + model.ledger_.rounds
    assert binom.cdf(errors, rounds, 0.5) > WRONGLY


@sizes(5, 300)
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_the_drift_test_seldom_refutes_independent_draws(delivery, games):
    """Its chance of a false alarm, ever, is alpha; with weights it may not be run, or must see rows once."""

    def game(seed):
        rng = np.random.default_rng([5, seed])
        world = World(rng)
        stream = DELIVERIES[delivery](*world.draw(rng, 600), rng)
        test = nk.DriftTest(seed=seed, alpha=DELTA)
        playing = nk.Game(make("perceptron", "learner"), drift=test)
        nk.play(playing.learner, stream, ledger=playing.ledger)
        yield "drift", 0.0, float(test.alarm)

    check_coverage(failures(map(game, range(games))), DELTA)


@sizes(5, 200)
def test_a_monitor_seldom_refutes_a_limit_that_holds(games):
    def game(seed):
        rng = np.random.default_rng([6, seed])
        world = World(rng)
        learner = make("perceptron", "learner")
        nk.play(learner, nk.Arrays(*world.draw(rng)))
        monitor = nk.Monitor(min(max(world.risk(learner), 0.01), 0.99), alpha=DELTA)
        x, y = world.draw(rng, 600)
        monitor.see(np.array([learner.predict_one(row) for row in x]) != y)
        yield "monitor", 0.0, float(monitor.alarm)

    check_coverage(failures(map(game, range(games))), DELTA)


@sizes(6, 200)
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_permutation_tests_refute_random_orders_seldom(delivery, games):
    def game(seed):
        rng = np.random.default_rng([7, seed])
        world = World(rng)
        stream = DELIVERIES[delivery](*world.draw(rng), rng)
        found = nk.permutation_test("perceptron", stream, permutations=19, seed=seed, threads=1)
        yield "p <= 0.1", found.p, 0.1 + 1e-12

    check_coverage(failures(map(game, range(games))), 0.1)


# Statements over the coins of a learner: no data are drawn, the stream is fixed.


def drawn(rng, seed):
    """The loss of experts that are drawn, against its limit."""
    losses = rng.random((ROUNDS, 4)) < rng.random(4)
    learner = make("exponential-weights:experts=4,loss=table,play=draw", "learner", seed=seed)
    ledger = nk.play(learner, nk.Losses(losses.astype(float)))
    for one in ledger.certify():
        if one.kind == "P":
            yield one.theorem, bound_of(one), ledger.loss


def bandits(rng, seed, spec):
    """The regret of a bandit, which the table of losses shows, against its limits."""
    losses = (rng.random((ROUNDS, 3)) < rng.random(3)).astype(float)
    if "exp4" in spec:
        advice = rng.integers(0, 3, (ROUNDS, 4))
        stream = nk.ContextualLosses(advice, losses, advice=True)
        best = min(losses[np.arange(ROUNDS), column].sum() for column in advice.T)
    else:
        stream, best = nk.Losses(losses), losses.sum(axis=0).min()
    ledger = nk.play(make(spec, "learner", seed=seed), stream)
    for one in ledger.certify():
        if one.kind == "P":
            yield one.theorem, bound_of(one), ledger.loss - best


def late_draws(rng, seed):
    """Mistakes of what a team that draws served, with late labels."""
    x = rng.normal(size=(ROUNDS, 2))
    y = np.where((x[:, 0] > 0) ^ (rng.random(ROUNDS) < 0.2), 1, -1)
    learner = make("hedge:learners=[perceptron,[perceptron:bias=1]]", "learner", seed=seed)
    game, served, waiting = nk.Game(learner), {}, []
    for t in range(ROUNDS):
        served[t] = game.predict_one(x[t], id=str(t))
        waiting.append(t)
        if len(waiting) > 5:
            done = waiting.pop(int(rng.integers(6)))
            game.learn_one(str(done), int(y[done]))
    for one in game.ledger.certify():
        if one.kind == "P":
            late = one.theorem.startswith("delayed")
            truth = game.ledger.late.mistakes if late else game.ledger.loss
            yield one.theorem, bound_of(one), truth


def logged(rng, seed):
    """What every arm, and a policy, would have cost, against all limits at once."""
    losses = np.round(rng.random((ROUNDS, 3)), 3)
    chances = rng.dirichlet(np.ones(3), ROUNDS) * 0.85 + 0.05
    arms = np.array([rng.choice(3, p=p) for p in chances])
    rows = np.arange(ROUNDS)
    policy = rng.dirichlet(np.ones(3), ROUNDS)
    log = pd.DataFrame({"arm": [f"arm {i}" for i in arms], "loss": losses[rows, arms], "p": chances[rows, arms],
                        "other": policy[rows, arms]})  # fmt: skip
    found = nk.evaluate_policies(log, policies=["other"], arms=3, delta=DELTA)
    costs = {f"arm {i}": losses[:, i].mean() for i in range(3)} | {"other": (policy * losses).sum(axis=1).mean()}
    off = max(max(one.low - costs[one.policy], costs[one.policy] - one.high) for one in found.limits)
    yield "off-policy limits", 0.0, off
    yield "regret of a log", bound_of(found.regret), losses[rows, arms].sum() - losses.sum(axis=0).min()


COINS = {
    "drawn": drawn,
    "exp3-ix": partial(bandits, spec="exp3-ix:arms=3,horizon=100"),
    "tsallis-inf": partial(bandits, spec="tsallis-inf:arms=3"),
    "exp4": partial(bandits, spec="exp4:arms=3,experts=4,horizon=100"),
    "late": late_draws,
    "log": logged,
}


@sizes(10, 1000)
@pytest.mark.parametrize("statement", COINS)
def test_statements_over_coins_hold(statement, games):
    found = failures(COINS[statement](np.random.default_rng([8, seed]), seed) for seed in range(games))
    check_coverage(found, DELTA)
    assert found
    assert any(made for made, _ in found.values())


@pytest.mark.slow
def test_repeated_games_call_an_expectation_broken_seldom():
    """A promise that holds is called broken about once in 500 times."""
    broken = judged = 0
    for seed in range(12):
        rng = np.random.default_rng([9, seed])
        x = rng.normal(size=(ROUNDS, 2))
        y = np.where((x[:, 0] > 0) ^ (rng.random(ROUNDS) < 0.2), 1, -1)
        for verdict in nk.repeat("rbp:budget=20,gamma=0.5", (x, y), seeds=range(30)).verdicts:
            broken, judged = broken + (verdict.status == "violated"), judged + 1
    assert judged
    assert binom.sf(broken - 1, judged, 1 / 500) > WRONGLY


def test_false_limits_are_noticed():
    """The check of coverage: limits that fail in half of the games, and those that fail as often as they may."""
    with pytest.raises(AssertionError, match="a limit was false in 20 of 40 games"):
        check_coverage({"a limit": (40, 20)}, DELTA)
    check_coverage({"a limit": (40, 4), "void": (0, 0)}, DELTA)


def test_a_limit_that_forgets_chance_is_noticed(monkeypatch):
    """Without what is left to chance the rate of errors of the best of many is below its risk far too often."""
    from novikoff.online_to_batch import finalize

    original = finalize.best_risk

    def forgetful(facts):
        found = original(facts)
        return replace(found, bound=found.observed)

    monkeypatch.setattr(finalize, "best_risk", forgetful)

    def game(seed):
        rng = np.random.default_rng([1, seed])
        world = World(rng)
        return kept_best(world, in_order(*world.draw(rng), rng), seed)

    with pytest.raises(AssertionError, match="best_risk was false"):
        check_coverage(failures(map(game, range(25))), DELTA)


def test_equal_examples_that_stand_together_are_noticed():
    """Examples in the order of their labels: limits on the average are false, and the check of coverage says so."""

    def game(seed):
        rng = np.random.default_rng([10, seed])
        world = World(rng)
        world.p[:] = 0.5
        x, y = world.draw(rng, 400)
        order = np.argsort(y, kind="stable")
        stream = nk.RegressionArrays(x[order], y[order].astype(float))
        ledger = nk.play(make(f"{GRADIENT},bias=1", "learner"), stream)
        for one in ledger.certify():
            if one.theorem.startswith("average_risk"):
                yield one.theorem, bound_of(one), world.squared(ledger.learner.mean())

    with pytest.raises(AssertionError, match="average_risk.* was false"):
        check_coverage(failures(map(game, range(8))), 0.025)
