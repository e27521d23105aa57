"""Tops: fixed share and AdaHedge over forecasts, their trackers, and the theorems on them."""

import dataclasses
import itertools
import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, setcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from helpers import bits, one_in
from mixed_forecasts import MixedNumbers, MixedOdds, Played
from novikoff.comparators.tracker import restored
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Run
from novikoff.mixtures.theorems.mixture_regret import mixture_regret
from novikoff.mixtures.theorems.numbers_regret import numbers_regret
from novikoff.mixtures.theorems.numbers_switching_regret import numbers_switching_regret
from novikoff.mixtures.theorems.switching_regret import switching_regret
from novikoff.mixtures.top_tracker import BayesTracker, NumbersTracker, SwitchingTracker
from novikoff.mixtures.tops import AdaHedgeTop, BayesTop, FixedShareTop

FORECASTS = st.lists(st.tuples(st.tuples(*[st.floats(-9, 9)] * 3), cases.LABELS), min_size=1, max_size=25)


def mixed_odds(stream, bend=0.0, shared=True):
    """Fixed share, or Bayes, over forecasters whose log-odds are the examples."""
    learner = MixedOdds([1.0 / len(stream[0][0])] * len(stream[0][0]), shared)
    learner.bend = bend
    x, y = map(np.array, zip(*stream, strict=True))
    return cases.run_of(learner, (x, y))


def mixed_numbers(stream, shared, bend=0.0):
    """AdaHedge over forecasters whose numbers are the examples."""
    learner = MixedNumbers([1.0 / len(stream[0][0])] * len(stream[0][0]), shared)
    learner.bend = bend
    x, y = map(np.array, zip(*stream, strict=True))
    return cases.run_of(learner, nk.RegressionArrays(x, y))


def of_mixed_numbers(shared):
    """AdaHedge over forecasters of a number, with sharing or without."""
    game, sample = (
        lambda stream: mixed_numbers(stream, shared),
        [((5.0 * (-1.0) ** t, 0.0), 5.0 * (-1.0) ** t) for t in range(40)],
    )
    return cases.Case(
        FORECASTS,
        game,
        sample,
        lambda: game([((t % 3,), 1.0) for t in range(9)]),
        lambda: mixed_numbers(sample, shared, bend=1e-3),
        (
            (lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds"),
            (lambda: dataclasses.replace(game(sample), loss=7.0), "is the ledger's"),
            (
                lambda: cases.warm(
                    lambda: MixedNumbers([0.5, 0.5], shared), *[nk.RegressionArrays(np.eye(2), np.ones(2))] * 2
                ),
                "started untrained",
            ),
        ),
    )


def of_mixed_odds(shared):
    """A mixture of forecasters with log-odds, with sharing or without."""
    game = partial(mixed_odds, shared=shared)
    return cases.Case(
        FORECASTS,
        game,
        [((4.0, -4.0), 1)] * 20 + [((4.0, -4.0), -1)] * (20 if shared else 2),
        lambda: game([((0.5,), y) for y in (1, -1, 1, 1)]),
        lambda: game([((4.0, -4.0), 1)] * 20, bend=0.1),
        (
            (lambda: dataclasses.replace(game([((1.0, 0.0), 1)] * 9), rounds=1), "exactly the recorded rounds"),
            (lambda: dataclasses.replace(game([((1.0, 0.0), 1)] * 9), log_loss=7.0), "is the ledger's"),
            (
                lambda: cases.warm(lambda: MixedOdds([0.5, 0.5], shared), *[(np.eye(2), np.ones(2))] * 2),
                "started untrained",
            ),
        ),
    )


CASES = {
    "switching_regret": of_mixed_odds(shared=True),
    "mixture_regret": of_mixed_odds(shared=False),
    "numbers_regret": of_mixed_numbers(shared=False),
    "numbers_switching_regret": of_mixed_numbers(shared=True),
}
"""Cases for tests/test_every_theorem.py."""


class Named:
    def __init__(self, count):
        self.names = [f"forecaster {i}" for i in range(count)]


def odds(p):
    return np.log(p) - np.log1p(-np.asarray(p))


def tracked(tracker, y, scores):
    """The facts of a tracker that saw these rounds in one batch."""
    tracker.see(Batch(np.zeros((len(y), 1)), np.asarray(y), 1), np.asarray(scores))
    return tracker.facts(Named(len(tracker.prior)))


def run_of(facts, log_loss=None, loss=0.0):
    rounds = facts.rows
    return Run(Played(0), Played(rounds), rounds, 0, 0.0, (0, rounds), False, True, facts, loss, log_loss=log_loss)


def labels_game(top, logs, y, tracker=None):
    """The facts of fixed share on ln P (rows, N, labels)."""
    played = top.play_labels(logs, np.asarray(y))
    tracker = tracker or SwitchingTracker(top.prior)
    return played, tracked(tracker, y, np.concatenate([logs, played[:, None]], axis=1))


def numbers_game(prior, forecasts, y, shared):
    top, tracker = AdaHedgeTop(prior, shared), NumbersTracker(prior, shared)
    said = top.play(forecasts, y)
    facts = tracked(tracker, y, np.c_[forecasts, said])
    theorem = numbers_switching_regret if shared else numbers_regret
    return theorem(run_of(facts, loss=float(np.sum((said - y) ** 2)))), facts


def test_golden_stream_of_fixed_share():
    z, y = odds([[0.8, 0.3]] * 4), np.array([1, 1, -1, -1], dtype=np.int8)
    played = FixedShareTop([0.5, 0.5]).play(z, y)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-played)), [0.55, 0.606818182, 0.652996255, 0.515090394], atol=1e-9)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    assert facts.loss == pytest.approx(2.879575560, abs=1e-9)
    assert facts.path.value == pytest.approx(4.065757105, abs=1e-9)
    assert facts.path.changes == 1
    # The readable upper bound of the same path: ln T + sum of ln 1/pi + the sum of ln of the rounds of its changes.
    assert facts.path.loss + math.log(4) + 2 * math.log(2) + math.log(2) == pytest.approx(4.625372893, abs=1e-9)


def shares(rng, count, parts=12):
    """Random fractions above 0 of sum 1."""
    cuts = sorted(rng.choice(np.arange(1, parts), count - 1, replace=False).tolist())
    return [Fraction(b - a, parts) for a, b in zip([0, *cuts], [*cuts, parts], strict=True)]


@pytest.mark.parametrize("seed", one_in(4, range(60)))
def test_fixed_share_is_bayes_over_all_paths_in_exact_fractions(seed):
    rng = np.random.default_rng(seed)
    count, rounds, labels = int(rng.integers(2, 4)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    prior = shares(rng, count)
    p = [[shares(rng, labels) for _ in range(count)] for _ in range(rounds)]
    y = rng.integers(0, labels, rounds)
    whole, best = Fraction(0), None
    for path in itertools.product(range(count), repeat=rounds):
        chance = prior[path[0]]
        for t in range(1, rounds):
            a = Fraction(1, t + 1)
            chance *= (1 - a if path[t] == path[t - 1] else 0) + a * prior[path[t]]
        lost = math.prod((p[t][i][y[t]] for t, i in enumerate(path)), start=Fraction(1))
        whole += chance * lost
        changes = sum(a != b for a, b in itertools.pairwise(path))
        best = max(best or (Fraction(-1), 0), (chance * lost, -changes))
    logs = np.log(np.array(p, dtype=float))
    played, facts = labels_game(FixedShareTop([float(one) for one in prior]), logs, y)
    assert facts.loss == pytest.approx(-math.log(whole), abs=1e-13)
    assert facts.path.value == pytest.approx(-math.log(best[0]), abs=1e-13)
    ties = [math.isclose(v, facts.path.value, abs_tol=1e-12) for v in facts.losses]
    assert facts.path.changes == -best[1] or any(ties)
    assert facts.off <= 1e-14
    assert np.allclose(np.exp(played).sum(axis=1), 1.0)
    found = switching_regret(run_of(facts, log_loss=facts.loss))
    assert found.status in ("valid", "vacuous")
    assert found.bound <= facts.path.value * (1.0 + 1e-12) + 2e-9
    assert facts.path.value <= found.quantities["single_bound"]


def streams(count=3):
    row = st.tuples(st.tuples(*[st.floats(-9, 9)] * count), st.sampled_from([-1, 1]))
    return st.lists(row, min_size=1, max_size=30)


def chances_of_joining(prior, joins, path):
    """The probability of a path of fixed share whose forecasters join after given rounds, from the text of its theorem.

    It is 0 for a path through a forecaster that has not joined.
    """
    chance, before = Fraction(1), None
    for t, i in enumerate(path, start=1):
        here = [j for j in range(len(prior)) if joins[j] < t]
        if i not in here:
            return Fraction(0)
        whole = sum(prior[j] for j in here)
        joined = sum(prior[j] for j in here if joins[j] == t - 1)
        if t == 1 or joins[i] == t - 1:
            chance *= prior[i] / whole
        else:
            stays = (1 - Fraction(1, t)) * (1 - joined / whole) if i == before else 0
            chance *= stays + Fraction(1, t) * prior[i] / whole
        before = i
    return chance


@pytest.mark.parametrize("seed", one_in(4, range(60)))
def test_forecasters_that_join_are_mixed_as_bayes_over_all_paths_in_exact_fractions(seed):
    rng = np.random.default_rng(seed)
    count, rounds, labels = int(rng.integers(2, 5)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    prior, joins = shares(rng, count), [0, *rng.integers(0, 6, count - 1).tolist()]
    rng.shuffle(joins)
    p = [[shares(rng, labels) for _ in range(count)] for _ in range(rounds)]
    y = rng.integers(0, labels, rounds)
    paths = list(itertools.product(range(count), repeat=rounds))
    chances = [chances_of_joining(prior, joins, path) for path in paths]
    assert sum(chances) == 1
    lost = [math.prod((p[t][i][y[t]] for t, i in enumerate(path)), start=Fraction(1)) for path in paths]
    whole = sum(a * b for a, b in zip(chances, lost, strict=True))
    best = max(a * b for a, b in zip(chances, lost, strict=True))
    floats, logs = [float(one) for one in prior], np.log(np.array(p, dtype=float))
    played, facts = labels_game(FixedShareTop(floats, joins), logs, y, SwitchingTracker(floats, joins))
    assert facts.loss == pytest.approx(-math.log(whole), abs=1e-13)
    assert facts.path.value == pytest.approx(-math.log(best), abs=1e-13)
    assert facts.off <= 1e-14
    assert np.allclose(np.exp(played).sum(axis=1), 1.0)
    found = switching_regret(run_of(facts, log_loss=facts.loss))
    assert found.status in ("valid", "vacuous")
    for j in range(count):
        if joins[j] < rounds:  # the paths that are with j since it joined are a part of the sum
            own = sum(a * b for a, b, path in zip(chances, lost, paths, strict=True) if set(path[joins[j] :]) == {j})
            here = sum(prior[i] for i in range(count) if joins[i] < rounds)
            bound = facts.losses[j] + math.log(here / prior[j]) + math.log(rounds / (joins[j] + 1))
            assert -math.log(own) <= bound + 1e-12
            assert found.quantities["single_bound"] <= bound + 1e-8


@given(streams(4), st.lists(st.integers(0, 30), min_size=3, max_size=3))
def test_bounds_of_forecasters_that_join_hold_on_every_stream(stream, later):
    prior, joins = [0.4, 0.3, 0.2, 0.1], [0, *later]
    z, y = np.array([row for row, _ in stream]), np.array([label for _, label in stream], dtype=np.int8)
    top = FixedShareTop(prior, joins)
    played = top.play(z, y)
    facts = tracked(SwitchingTracker(prior, joins), y, np.c_[z, played])
    found = switching_regret(run_of(facts, log_loss=facts.loss))
    assert found.status in ("valid", "vacuous")
    assert facts.loss <= found.bound
    assert facts.loss <= found.quantities["single_bound"]
    assert [weight > 0.0 for weight in top.weights] == [after <= len(y) for after in joins]
    bent = tracked(SwitchingTracker(prior, [0, *(after + 1 for after in later)]), y, np.c_[z, played])
    active = [[one <= after for one in joins] for after in later]
    moved = any(after < len(y) and np.ptp(z[after][on]) > 1e-3 for after, on in zip(later, active, strict=True))
    assert not moved or switching_regret(run_of(bent, log_loss=facts.loss)).status == "violated"


def test_a_forecaster_that_has_not_joined_costs_nothing():
    z, y = np.array([[2.0, -9.0]] * 10), np.ones(10, np.int8)
    played = FixedShareTop([0.5, 0.5], [0, 10]).play(z, y)
    assert played.tolist() == pytest.approx([2.0] * 10, abs=1e-12)
    facts = tracked(SwitchingTracker([0.5, 0.5], [0, 10]), y, np.c_[z, played])
    assert facts.path.value == pytest.approx(facts.loss, abs=1e-12)
    assert facts.losses[1] == facts.loss


@pytest.mark.parametrize("joins", [[1, 2], [0], [0, -1], [0, 0.5], [[0, 1]]])
def test_joins_must_be_rounds_for_each_forecaster(joins):
    with pytest.raises(InputError, match="joins must be 2 numbers of rounds, one of them 0"):
        FixedShareTop([0.5, 0.5], joins)


def test_a_mixture_saved_before_forecasters_could_join_plays_as_before():
    state = FixedShareTop([0.5, 0.5]).state()
    del state["joins"]
    z, y = odds([[0.8, 0.3]] * 4), np.array([1, 1, -1, -1], dtype=np.int8)
    assert FixedShareTop.restore(state).play(z, y).tolist() == FixedShareTop([0.5, 0.5]).play(z, y).tolist()


def test_a_path_is_cheaper_than_its_readable_price():
    rng = np.random.default_rng(4)
    y = rng.choice([-1, 1], 2000).astype(np.int8)
    z = rng.normal(0.0, 1.0, (2000, 2))
    z[:1000, 0] += y[:1000]
    z[1000:, 1] += y[1000:]
    played = FixedShareTop([0.5, 0.5]).play(z, y)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    readable = facts.path.loss + math.log(2000) + 2 * math.log(2) + math.log(1000)
    assert facts.path.changes == 1
    assert facts.loss < facts.path.value < readable - 0.5


def test_an_infinite_loss_drops_a_forecaster_for_that_round_only():
    z, y = np.array([[np.inf, 0.5], [-np.inf, 0.5], [np.inf, 0.5], [np.inf, 0.5]]), np.array([1, 1, 1, 1], np.int8)
    played = FixedShareTop([0.5, 0.5]).play(z, y)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    assert facts.losses[0] == math.inf
    assert math.isfinite(facts.loss)
    half = math.log1p(math.exp(-0.5))
    routes = [  # to forecaster 1 after round 1 or not, and back after round 2 or not
        math.log(2) + math.log(4) + half + math.log(6) + math.log(8 / 7),
        math.log(2) + half + math.log(4 / 3) + half + math.log(6) + math.log(8 / 7),
        math.log(2) + math.log(4) + half + math.log(6 / 5) + half + math.log(8 / 7) + half,
        math.log(2) + math.log(4 / 3) + math.log(6 / 5) + math.log(8 / 7) + 4 * half,
    ]
    assert facts.path.value == pytest.approx(min(routes), abs=1e-12)
    assert switching_regret(run_of(facts, log_loss=facts.loss)).status in ("valid", "vacuous")


def test_a_label_that_every_forecaster_excludes_voids_the_bound():
    z, y = np.array([[np.inf, np.inf], [1.0, 1.0], [1.0, -1.0]]), np.array([-1, 1, 1], dtype=np.int8)
    top = FixedShareTop([0.5, 0.5])
    played = top.play(z, y)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    assert not np.isnan(top.weights).any()
    assert facts.loss == math.inf
    found = switching_regret(run_of(facts, log_loss=math.inf))
    assert (found.status, found.bound) == ("void", None)
    assert "infinite log loss" in found.reason


@given(streams(), st.integers(0, 30))
def test_batches_and_rows_are_the_same_to_the_bit(stream, cut):
    z, y = np.array([row for row, _ in stream]), np.array([label for _, label in stream], dtype=np.int8)
    for make, learn in (
        (lambda: FixedShareTop([0.5, 0.25, 0.25]), y),
        (lambda: FixedShareTop([0.5, 0.25, 0.25], [4, 0, 9]), y),
        (lambda: BayesTop([0.5, 0.25, 0.25]), y),
        (lambda: AdaHedgeTop([0.5, 0.25, 0.25]), y.astype(float)),
        (lambda: AdaHedgeTop([0.5, 0.25, 0.25], shared=True), y.astype(float)),
    ):
        whole, parts = make(), make()
        expected = whole.play(z, learn)
        looked, found = [], []
        for t in range(len(y)):
            looked.append(parts.look(z[t : t + 1])[0])
            found.append(parts.play(z[t : t + 1], learn[t : t + 1])[0])
            if t == cut:
                parts = type(parts).restore(parts.state())
        assert expected.tolist() == found == looked
        assert bits(whole.state()) == bits(parts.state())


@given(streams())
def test_trackers_do_not_depend_on_batches_or_interruptions(stream):
    z, y = np.array([row for row, _ in stream]), np.array([label for _, label in stream], dtype=np.int8)
    prior = [0.5, 0.25, 0.25]
    for tracker, top, learn in (
        (SwitchingTracker(prior), FixedShareTop(prior), y),
        (SwitchingTracker(prior, [4, 0, 9]), FixedShareTop(prior, [4, 0, 9]), y),
        (BayesTracker(prior), BayesTop(prior), y),
        (NumbersTracker(prior, True), AdaHedgeTop(prior, True), y.astype(float)),
        (NumbersTracker(prior), AdaHedgeTop(prior), y.astype(float)),
    ):
        scores = np.c_[z, top.play(z, learn)]
        by_rows = restored(tracker.state())
        for t in range(len(y)):
            by_rows.see_row(None, learn[t].item(), scores[t])
            by_rows = restored(by_rows.state())
        assert tracked(tracker, learn, scores) == by_rows.facts(Named(3))


def test_a_game_certifies_and_finds_a_mixture_that_is_not_one():
    rng = np.random.default_rng(1)
    y = rng.choice([-1, 1], 300)
    z = rng.normal(0.0, 1.0, (300, 3))
    z[:150, 0] += 2.0 * y[:150]
    z[150:, 1] += 2.0 * y[150:]
    ledger = nk.play(MixedOdds([0.5, 0.25, 0.25]), (z, y))
    (found,) = ledger.certify()
    assert found.status == "valid"
    assert found.quantities["changes"] == 1
    assert found.bound < found.quantities["single_bound"] - 50.0
    broken = MixedOdds([0.5, 0.25, 0.25])
    broken.bend = 1e-6  # far too little to be seen in the loss
    (found,) = nk.play(broken, (z, y)).certify()
    assert found.status == "violated"
    assert "round 1 is not the mixture" in found.reason


@pytest.mark.parametrize("fault", ["old weights", "uniform", "rate 1/2", "one forecaster"])
def test_faults_of_the_mixing_are_found_on_short_streams(fault):
    rng = np.random.default_rng(2)
    y = rng.choice([-1, 1], 40).astype(np.int8)
    z = rng.normal(0.0, 2.0, (40, 4)) + y[:, None] * [1.0, 0.5, 0.0, -0.5]
    top, played = FixedShareTop([0.25] * 4), np.empty(40)
    logs = lambda row: -np.logaddexp(0.0, -row)
    before = top.weights.copy()
    for t in range(40):
        weights = {"old weights": before, "uniform": np.full(4, 0.25), "one forecaster": np.eye(4)[0]}.get(fault)
        if fault == "rate 1/2":
            weights = np.sqrt(top.weights) / np.sqrt(top.weights).sum()
        before = top.weights.copy()
        played[t] = np.log(weights @ np.exp(logs(z[t]))) - np.log(weights @ np.exp(logs(-z[t])))
        top.play(z[t : t + 1], y[t : t + 1])
    facts = tracked(SwitchingTracker([0.25] * 4), y, np.c_[z, played])
    assert switching_regret(run_of(facts, log_loss=facts.loss)).status == "violated"


def test_a_loss_that_is_not_that_of_the_forecasts_voids_the_bound():
    z, y = odds([[0.8, 0.3]] * 4), np.array([1, 1, -1, -1], dtype=np.int8)
    played = FixedShareTop([0.5, 0.5]).play(z, y)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    found = switching_regret(run_of(facts, log_loss=facts.loss - 0.01))
    assert found.status == "void"
    assert "is the ledger's" in found.reason


def test_the_cost_of_new_labels_is_added_on_both_sides():
    z, y = odds([[0.8, 0.3]] * 4), np.array([1, 1, -1, -1], dtype=np.int8)
    played = FixedShareTop([0.5, 0.5]).play(z, y)
    facts = tracked(SwitchingTracker([0.5, 0.5]), y, np.c_[z, played])
    reserved = dataclasses.replace(facts, novelty=2.0, trivial=9.0)
    found = switching_regret(run_of(reserved, log_loss=facts.loss + 2.0))
    assert found.status == "valid"
    assert found.bound == pytest.approx(facts.path.value + 2.0, abs=1e-8)
    assert switching_regret(run_of(reserved, log_loss=facts.loss + 1.0)).status == "void"


def decimal_hedge(forecasts, y, prior, shared):
    """AdaHedge in 60 digits, from the text of its theorem: L, the gaps, and 1/eta, ln Z and weights of each round."""
    setcontext(Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX))
    count = len(prior)
    f, y = [[Decimal(p) for p in row] for row in forecasts], [Decimal(one) for one in y]
    pi, c = [Decimal(p) for p in prior], Decimal(count).ln()
    gaps, lost, rates, norms, losses, total = Decimal(0), Decimal(0), [], [], [], [Decimal(0)] * count
    v, last = None, None
    for t, row in enumerate(f, 1):
        loss = [(p - y[t - 1]) ** 2 for p in row]
        rate, norm = gaps / c, Decimal(0)
        if shared and (rate == 0 or v is None):
            w = list(pi)
        elif shared:
            power = [one ** (last / rate) for one in v]
            norm = sum(power).ln()
            a = 1 / Decimal(t)
            w = [(1 - a) * one / sum(power) + a * p for one, p in zip(power, pi, strict=True)]
        else:
            behind = [one - min(total) for one in total]
            w = [Decimal(b == 0) if rate == 0 else (-b / rate).exp() for b in behind]
            w = [one / sum(w) for one in w]
        said, h = (sum(a * b for a, b in zip(w, of, strict=True)) for of in (row, loss))
        lost += (said - y[t - 1]) ** 2
        if rate == 0:
            m = min(loss) if shared else min(a + b for a, b in zip(total, loss, strict=True)) - min(total)
        else:
            terms = [a * ((min(loss) - b) / rate).exp() for a, b in zip(w, loss, strict=True)]
            m = min(loss) - rate * sum(terms).ln()
            v, last = [one / sum(terms) for one in terms], rate
        gaps, gap = gaps + h - m, h - m
        total = [a + b for a, b in zip(total, loss, strict=True)]
        rates.append(rate)
        norms.append(norm)
        losses.append(loss)
    return lost, gaps, gap, rates, norms, losses, total


@pytest.mark.parametrize("seed", one_in(3, range(25)))
@pytest.mark.parametrize("kind", ["plain", "wild scales", "heavy tails", "against"])
def test_ada_hedge_agrees_with_sixty_digits_and_its_bounds_hold(seed, kind):
    rng = np.random.default_rng(seed)
    count, rounds = 3, 6
    forecasts, y = rng.normal(0.0, 1.0, (rounds, count)), rng.normal(0.0, 1.0, rounds)
    if kind == "wild scales":
        y *= 10.0 ** rng.integers(-6, 7, rounds)
    elif kind == "heavy tails":
        y = rng.standard_t(1, rounds)
    elif kind == "against":
        y = -4.0 * np.sign(forecasts[:, 0]) * 2.0 ** np.arange(rounds)
    prior = [0.5, 0.3, 0.2]
    for shared in (False, True):
        found, facts = numbers_game(prior, forecasts, y, shared)
        lost, gaps, _, rates, norms, losses, total = decimal_hedge(forecasts, y, prior, shared)
        assert facts.loss == pytest.approx(float(lost), rel=1e-12)
        assert facts.gaps == pytest.approx(float(gaps), rel=1e-9)
        assert found.status in ("valid", "vacuous")
        if not shared:
            assert float(lost) <= float(min(total) + 2 * gaps) * (1.0 + 1e-12)
            continue
        first, best = next((t for t, rate in enumerate(rates) if rate > 0), rounds), None
        for path in itertools.product(range(count), repeat=rounds):
            cost = sum(losses[t][i] for t, i in enumerate(path))
            for t in range(first, rounds):
                pi = Decimal(prior[path[t]])
                if t == first:
                    cost += rates[t] * (1 / pi).ln()
                elif path[t] == path[t - 1]:
                    cost += rates[t] * (norms[t] - (1 - 1 / Decimal(t + 1)).ln())
                else:
                    cost += rates[t] * (Decimal(t + 1) / pi).ln()
            assert lost <= cost + gaps
            best = cost if best is None else min(best, cost)
        assert facts.path.value == pytest.approx(float(best), rel=1e-12)


def naive(forecasts, y):
    """Regret and gaps of AdaHedge with linear weights, a minimum over the weighted, and h - m: unsound in floats."""
    count = forecasts.shape[1]
    total, gaps, paid = np.zeros(count), 0.0, 0.0
    for row, outcome in zip(forecasts, y, strict=True):
        behind = total - total.min()
        w = np.exp(-math.log(count) / gaps * behind) if gaps > 0.0 else (behind <= 0.0).astype(float)
        w /= w.sum()
        paid += (w @ row - outcome) ** 2
        lost = (row - outcome) ** 2
        h = w @ lost
        if gaps > 0.0:
            eta, some, least = math.log(count) / gaps, w > 0.0, lost[w > 0.0].min()
            m = least - math.log(w[some] @ np.exp(-eta * (lost[some] - least))) / eta
        else:
            m = lost[w > 0.0].min()
        gaps += max(h - m, 0.0)
        total += lost
    return paid - total.min(), gaps


@pytest.mark.parametrize("growth", [64.0, 256.0, 1024.0])
@pytest.mark.parametrize("rounds", [6, 9, 12])
def test_a_leader_that_fails_once_is_booked_although_the_others_weigh_nothing(growth, rounds):
    forecasts = np.zeros((rounds + 1, 6))
    forecasts[:-1, 1:] = growth ** (np.arange(rounds)[:, None] / 2.0)
    forecasts[-1, 0] = 3.0 * math.sqrt(np.sum(forecasts[:, 1] ** 2))
    y = np.zeros(rounds + 1)
    found, facts = numbers_game([1 / 6] * 6, forecasts, y, False)
    assert facts.loss <= min(facts.losses) + (2.0 * facts.gaps - facts.last_gap) * (1.0 + 1e-9)
    assert found.status in ("valid", "vacuous")
    regret, gaps = naive(forecasts, y)
    assert regret > 2.0 * gaps  # so the stream has power
    found, facts = numbers_game([1 / 6] * 6, forecasts, y, True)
    assert found.status in ("valid", "vacuous")


def test_losses_that_differ_by_their_last_bit_do_not_hide_gaps():
    p = 1.4375
    while (q := math.nextafter(p, 2.0) ** 2) != math.nextafter(p * p, 4.0) or 0.5 * (p * p) + 0.5 * q != p * p:
        p = math.nextafter(p, 2.0)
    forecasts, total = [[p, math.nextafter(p, 2.0)]], [p * p, math.nextafter(p, 2.0) ** 2]
    for _ in range(100):  # whoever leads fails
        leader = int(total[1] < total[0])
        forecasts.append([0.0625 * (leader == 0), 0.0625 * (leader == 1)])
        total[leader] += 0.0625**2
    forecasts, y = np.array(forecasts), np.zeros(101)
    found, facts = numbers_game([0.5, 0.5], forecasts, y, False)
    assert found.status in ("valid", "vacuous"), str(found)
    assert facts.loss <= min(facts.losses) + 2.0 * facts.gaps * (1.0 + 1e-9)
    regret, gaps = naive(forecasts, y)
    assert regret > 2.0 * gaps + 0.1  # so the stream has power
    found, facts = numbers_game([0.5, 0.5], forecasts, y, True)
    assert found.status in ("valid", "vacuous"), str(found)


def test_a_lead_too_small_for_a_gap_does_not_hide_the_next_one():
    forecasts, y = np.array([[0.0, 2.3e-162], [1.0, 0.0], [0.0, 1.0]]), np.zeros(3)
    assert forecasts[0, 1] ** 2 > 0.0 == 0.5 * forecasts[0, 1] ** 2  # so there is a leader, and no gap
    found, facts = numbers_game([0.5, 0.5], forecasts, y, False)
    assert found.status in ("valid", "vacuous"), str(found)
    assert facts.gaps >= 1.0


@pytest.mark.parametrize("size", [1e-162, 1e-160, 1e-150, 1e150])
def test_losses_of_any_size_are_mixed(size):
    rng = np.random.default_rng(7)
    forecasts, y = size * rng.normal(0.0, 1.0, (50, 9)), size * rng.normal(0.0, 1.0, 50)
    for shared in (False, True):
        found, facts = numbers_game([1 / 9] * 9, forecasts, y, shared)
        assert facts.off == 0.0
        assert found.status in ("valid", "vacuous"), str(found)


def test_sums_of_many_rounds_are_compensated():
    rng = np.random.default_rng(8)
    z, y = rng.normal(0.0, 3.0, (200_000, 1)), rng.choice([-1, 1], 200_000).astype(np.int8)
    facts = tracked(SwitchingTracker([1.0]), y, np.c_[z, z])
    exact = math.fsum(np.logaddexp(0.0, -y * z[:, 0]).tolist())
    assert facts.loss == pytest.approx(exact, rel=1e-15)
    assert facts.path.value == pytest.approx(exact, rel=1e-15)


def test_equal_forecasts_cost_nothing():
    forecasts, y = np.repeat(np.linspace(-1.0, 1.0, 100)[:, None], 3, axis=1), np.ones(100)
    for shared in (False, True):
        found, facts = numbers_game([0.5, 0.25, 0.25], forecasts, y, shared)
        top = AdaHedgeTop([0.5, 0.25, 0.25], shared)
        np.testing.assert_allclose(top.play(forecasts, y), forecasts[:, 0], rtol=1e-15)
        assert facts.gaps <= 1e-13
        assert found.bound == pytest.approx(facts.loss, rel=1e-9)


def test_sharing_follows_a_change_of_the_best_forecaster_of_a_number():
    rng = np.random.default_rng(0)
    level = np.where(np.arange(4000) // 1000 % 2 == 0, 1.0, -1.0)
    y = level + rng.normal(0.0, 0.3, 4000)
    forecasts = np.tile([1.0, -1.0, 0.0], (4000, 1))
    plain, _ = numbers_game([1 / 3] * 3, forecasts, y, False)
    found, facts = numbers_game([1 / 3] * 3, forecasts, y, True)
    assert found.quantities["changes"] == 3
    assert facts.loss < found.bound < 0.25 * plain.observed


@pytest.mark.parametrize("shared", [False, True])
def test_a_mean_that_is_not_the_mixture_is_a_violation(shared):
    rng = np.random.default_rng(3)
    forecasts, y = rng.normal(0.0, 1.0, (50, 3)), rng.normal(0.0, 1.0, 50)
    learner = MixedNumbers([0.5, 0.25, 0.25], shared)
    assert nk.play(learner, nk.RegressionArrays(forecasts, y)).certify()[0].status in ("valid", "vacuous")
    learner = MixedNumbers([0.5, 0.25, 0.25], shared)
    learner.bend = 1e-6
    (found,) = nk.play(learner, nk.RegressionArrays(forecasts, y)).certify()
    assert found.status == "violated"
    assert "is not the mixture" in found.reason


@pytest.mark.parametrize("prior", [[], [0.5, 0.4], [1.5, -0.5], [0.5, math.nan]])
def test_a_prior_must_sum_to_one(prior):
    with pytest.raises(InputError, match="positive numbers that sum to 1"):
        FixedShareTop(prior)


def test_forecasts_that_are_not_numbers_are_refused_before_learning():
    top = FixedShareTop([0.5, 0.5])
    with pytest.raises(InputError, match="forecasts must be 2 x 2 numbers: got nan"):
        top.play(np.array([[0.0, 1.0], [math.nan, 0.0]]), np.array([1, 1], dtype=np.int8))
    assert (top.rounds, top.weights.tolist()) == (0, [0.5, 0.5])


def test_bayes_mixture_is_the_mean_of_products_of_probabilities():
    coins = np.random.default_rng(3)
    for _ in range(20):
        rounds, count = int(coins.integers(1, 30)), int(coins.integers(1, 5))
        prior = coins.dirichlet(np.ones(count)).tolist()
        z, y = coins.normal(scale=3.0, size=(rounds, count)), coins.choice([-1, 1], rounds).astype(np.int8)
        top = BayesTop(prior)
        played = top.play(z, y)
        products = np.log(prior) - np.logaddexp(0.0, -y[:, None] * z).sum(axis=0)
        assert np.logaddexp(0.0, -y * played).sum() == pytest.approx(-np.logaddexp.reduce(products), rel=1e-12)
        labels = BayesTop(prior).play_labels(np.stack([-np.logaddexp(0.0, z), -np.logaddexp(0.0, -z)], 2), (y > 0) * 1)
        assert labels[:, 1] - labels[:, 0] == pytest.approx(played, rel=1e-9, abs=1e-9)


def test_bayes_mixture_remembers_a_forecaster_that_trailed_by_thousands():
    y = np.r_[np.ones(300), -np.ones(301)].astype(np.int8)
    z = np.tile([30.0, -30.0], (len(y), 1))  # the second loses 9,000 nats, then wins them back
    top = BayesTop([0.5, 0.5])
    played = top.play(z, y)
    facts = tracked(BayesTracker([0.5, 0.5]), y, np.c_[z, played])
    assert mixture_regret(run_of(facts, log_loss=facts.loss)).status == "vacuous"  # a constant does better
    assert facts.loss <= min(facts.losses) + math.log(2.0) + 1e-9
    assert top.weights[1] == pytest.approx(1.0)


def test_bayes_mixture_learns_nothing_from_a_label_that_every_forecaster_excluded():
    top = BayesTop([0.5, 0.5])
    top.play([[np.inf, np.inf]], np.array([-1], np.int8))
    assert top.weights.tolist() == [0.5, 0.5]
    top.play([[np.inf, 0.0]], np.array([-1], np.int8))
    assert top.weights.tolist() == [0.0, 1.0]


def test_bayes_tracker_finds_another_mixture():
    coins = np.random.default_rng(5)
    z, y = coins.normal(size=(60, 3)), coins.choice([-1, 1], 60).astype(np.int8)
    prior = [0.2, 0.3, 0.5]
    scores = np.c_[z, BayesTop(prior).play(z, y)]
    assert tracked(BayesTracker(prior), y, scores).off_at == 0
    scores[40, -1] += 1e-6
    facts = tracked(BayesTracker(prior), y, scores)
    assert facts.off_at == 41
    assert mixture_regret(run_of(facts, log_loss=facts.loss)).status == "violated"
