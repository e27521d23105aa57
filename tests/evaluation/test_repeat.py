"""Repeating a game with many seeds: promises in expectation are judged by their mean, all others run by run."""

import dataclasses
import random
import statistics
from dataclasses import dataclass

import numpy as np
import pytest

import novikoff as nk
from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.core.certificate import Assumption, Bound, seen, theorem
from novikoff.core.errors import InputError, SpecError
from novikoff.core.feature_places import Features
from novikoff.core.types import Domain
from novikoff.evaluation.repeat import repeat, verdicts
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.theorems.kernel_facts import KernelFacts
from novikoff.kernel.theorems.rbp_expected import rbp_expected
from novikoff.numerics.coins import uniform

THRESHOLDS = [(t * 37 % 101, 1 if t * 37 % 101 >= 50 else -1) for t in range(60)]
RANDOM = "consistent:[thresholds:n=100],random=true"


@dataclass(frozen=True)
class GuessFacts:
    rounds: int


@theorem("E", "")
def guess_expected(run):
    """A learner that says +1 with chance 1/2 errs on half of all rounds, in expectation; here on -1 only."""
    return Bound(run.rounds / 2 + 1e-9, [seen("the stream was fixed in advance", not run.adaptive)])


class Guess:
    """Says +1 with a chance, which was promised to be 1/2."""

    promises = (guess_expected,)
    labels = None
    draws = True

    def __init__(self, chance, seed):
        self.domain, self.rounds, self._chance, self._seed = Domain("any"), 0, chance, seed

    def chances(self, x):
        return {1: self._chance, -1: 1.0 - self._chance}

    def predict_one(self, x):
        return 1 if uniform(self._seed, "guess", self.rounds) < self._chance else -1

    def learn_one(self, x, y):
        self.rounds += 1

    def facts(self):
        return GuessFacts(self.rounds)


NEGATIVE = [(0, -1)] * 400


def certificate(observed, bound, kind="E", side="upper", assumptions=(), trivial=1000, void=""):
    @theorem(kind, "", side=side)
    def it(run):
        return Bound(bound, assumptions, observed=observed, trivial=trivial if side == "upper" else 0, void=void)

    return it(None)


def verdict(*pairs, **options):
    (found,) = verdicts(range(len(pairs)), [[certificate(*pair, **options)] for pair in pairs])
    return found


def test_each_game_is_one_play_with_its_seed():
    repeated = repeat(RANDOM, THRESHOLDS, seeds=[3, 1, 8])
    for seed, game in zip([3, 1, 8], repeated.games, strict=True):
        ledger = nk.play(nk.Consistent(nk.classes.thresholds(100), random=True, seed=seed), THRESHOLDS)
        assert (game.mistakes, game.expected) == (ledger.mistakes, ledger.expected)
        assert game.certificates == tuple(ledger.certify())
    assert repeated.seeds == (3, 1, 8)


def test_mean_deviation_and_standard_error_are_those_of_the_mistakes():
    repeated = repeat(RANDOM, THRESHOLDS, seeds=range(40))
    mistakes = [game.mistakes for game in repeated.games]
    assert repeated.mistakes.mean == pytest.approx(statistics.mean(mistakes))
    assert repeated.mistakes.deviation == pytest.approx(statistics.stdev(mistakes))
    assert repeated.mistakes.standard_error == pytest.approx(statistics.stdev(mistakes) / 40**0.5)
    assert abs(repeated.mistakes.mean - repeated.expected.mean) < 3 * repeated.mistakes.standard_error


def test_a_random_consistent_learner_keeps_its_bound_in_every_run():
    repeated = repeat(RANDOM, THRESHOLDS)
    (found,) = repeated.verdicts
    assert (found.theorem, found.kind, found.status, found.reason) == ("consistent_expected", "D", "valid", "")
    assert found.observed.mean == pytest.approx(repeated.expected.mean)
    assert found.bound == repeated.games[0].certificates[0].bound
    assert "consistent_expected: valid: mean expected mistakes" in str(repeated)


def test_a_fair_guess_keeps_its_bound_and_single_runs_need_not():
    repeated = repeat(lambda seed: Guess(0.5, seed), NEGATIVE)
    (found,) = repeated.verdicts
    assert (found.kind, found.status, found.bound) == ("E", "valid", 200 + 1e-9)
    assert any(game.mistakes > 200 for game in repeated.games)


def test_a_learner_broken_on_purpose_is_detected():
    repeated = repeat(lambda seed: Guess(0.6, seed), NEGATIVE)
    (found,) = repeated.verdicts
    assert found.status == "violated"
    assert "please report this" in found.reason
    assert found.observed.mean - 3 * found.observed.standard_error > 200
    assert all(game.certificates[0].status == "valid" for game in repeated.games)  # no single run can tell


def test_below_thirty_seeds_there_is_no_verdict():
    for seeds, status in [(range(29), "conditional"), (range(30), "violated")]:
        (found,) = repeat(lambda seed: Guess(0.6, seed), NEGATIVE, seeds=seeds).verdicts
        assert found.status == status
    (found,) = repeat(lambda seed: Guess(0.6, seed), NEGATIVE, seeds=range(29)).verdicts
    assert found.reason == "too few seeds: 29, a verdict on an expectation needs 30"


def test_an_adversary_is_made_afresh_for_each_seed():
    repeated = repeat("constant", CoinFlip, seeds=range(60), rounds=400)
    (found,) = repeated.verdicts
    assert (found.theorem, found.kind, found.side, found.status) == ("coin_flip_regret", "E", "lower", "valid")
    for seed in (0, 59):
        ledger = nk.play(nk.Constant(), CoinFlip(seed=seed), rounds=400)
        assert repeated.games[seed].mistakes == ledger.mistakes
    with pytest.raises(InputError, match="each seed needs a new adversary"):
        repeat("constant", CoinFlip(), rounds=10)


def test_three_standard_errors_decide():
    # 15 times 0 and 15 times 2: mean 1, deviation sqrt(30/29), standard error sqrt(1/29)
    edge = 1 - 3 / 29**0.5
    runs = [0.0, 2.0] * 15
    assert verdict(*((value, edge + 1e-9) for value in runs)).status == "valid"
    assert verdict(*((value, edge - 1e-9) for value in runs)).status == "violated"
    low = 1 + 3 / 29**0.5
    assert verdict(*((value, low - 1e-9) for value in runs), side="lower").status == "valid"
    assert verdict(*((value, low + 1e-9) for value in runs), side="lower").status == "violated"


def test_bounds_that_differ_are_compared_run_by_run():
    # the bound moves with what is observed: only their difference tells
    assert verdict(*((10.0 * t, 10.0 * t + 1) for t in range(30))).status == "valid"
    broken = verdict(*((10.0 * t, 10.0 * t - 1) for t in range(30)))
    assert broken.status == "violated"
    assert broken.bound == pytest.approx(144.0)
    assert broken.observed.mean == 145.0


def test_one_run_that_exceeds_a_bound_of_kind_d_is_enough():
    runs = [(3, 4)] * 40 + [(5, 4)] + [(3, 4)] * 9
    found = verdict(*runs, kind="D")
    assert found.status == "violated"
    assert found.reason.startswith("with seed 40: a proven bound does not hold")
    assert verdict(*[(3, 4)] * 40, kind="D").status == "valid"
    assert "in 2 of 3 runs, first with seed 0" in verdict((5, 4), (3, 4), (6, 4), kind="D").reason
    assert verdict((3, 4), kind="D").status == "valid"  # this needs no thirty seeds


def test_a_theorem_that_was_void_or_silent_in_a_run_is_void():
    good = certificate(1.0, 2.0)
    bad = certificate(1.0, None, trivial=9, void="not realizable")
    (found,) = verdicts(range(31), [[good]] * 30 + [[bad]])
    assert (found.status, found.bound, found.reason) == ("void", None, "with seed 30: not realizable")
    assert str(found) == "it: void (with seed 30: not realizable)"
    (found,) = verdicts(range(31), [[good]] * 30 + [[]])
    assert (found.status, found.reason) == ("void", "with seed 30: no certificate")


def test_the_weakest_run_decides_how_sure_the_verdict_is():
    trusted = [Assumption("as they say", "trusted")]
    runs = [[certificate(1.0, 2.0)]] * 29 + [[certificate(1.0, 2.0, assumptions=trusted)]]
    (found,) = verdicts(range(30), runs)
    assert (found.status, found.reason) == ("conditional", "not checked: as they say")
    (found,) = verdicts(range(2), runs[-2:])
    assert found.reason == "not checked: as they say; too few seeds: 2, a verdict on an expectation needs 30"
    assert verdict(*[(1.0, 2000.0)] * 30).status == "vacuous"


def test_a_guarantee_with_high_probability_is_reported_and_not_judged():
    found = verdict(*[(1, 2)] * 29, (3, 2), kind="P")
    assert (found.status, found.reason) == ("valid", "held in 29 of 30 runs")


def test_whole_bounds_are_averaged_outward():
    assert verdict((1, 3), (1, 4), kind="D").bound == 4
    assert verdict((9, 3), (9, 4), kind="D", side="lower").bound == 3
    huge = 10**400
    assert verdict((1, huge), (1, huge + 2), kind="D", trivial=huge * 9).bound == huge + 1


def test_violated_verdict_comes_first():
    good, bad = (
        certificate(1, 2, kind="D"),
        dataclasses.replace(certificate(3, 2, "D", trivial=9), theorem="other"),
    )
    assert [found.theorem for found in verdicts([0], [[good, bad]])] == ["other", "it"]


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_depends_on_the_number_of_threads(threads):
    seen = []
    repeated = repeat(RANDOM, THRESHOLDS, seeds=range(6), threads=threads, progress=lambda *now: seen.append(now))
    alone = repeat(RANDOM, THRESHOLDS, seeds=range(6))
    assert [game.mistakes for game in repeated.games] == [game.mistakes for game in alone.games]
    assert repeated.verdicts == alone.verdicts
    assert seen == [(done, 6) for done in range(1, 7)]


def test_a_stream_that_comes_once_is_played_with_every_seed():
    once = repeat(RANDOM, iter(THRESHOLDS), seeds=range(4))
    assert [game.mistakes for game in once.games] == [g.mistakes for g in repeat(RANDOM, THRESHOLDS, range(4)).games]
    short = repeat(RANDOM, THRESHOLDS, range(4), rounds=10, passes=2)
    assert {game.rounds for game in short.games} == {20}


def test_comparators_ride_along_in_every_run():
    x = np.random.default_rng(0).normal(size=(200, 3))
    repeated = repeat("perceptron", (x, np.where(x.sum(axis=1) >= 0, 1, -1)), seeds=range(3))
    assert all(game.certificates == repeated.games[0].certificates for game in repeated.games)
    assert {found.theorem for found in repeated.verdicts} >= {"perceptron_hinge", "perceptron_margin"}
    assert all(found.kind == "D" and found.status != "violated" for found in repeated.verdicts)


def test_bad_requests_are_refused():
    for seeds in ([], [1, 2, 1]):
        with pytest.raises(InputError, match="seeds must be distinct"):
            repeat(RANDOM, THRESHOLDS, seeds=seeds)
    with pytest.raises(SpecError, match="must not set a seed"):
        repeat(RANDOM + ",seed=3", THRESHOLDS)
    with pytest.raises(SpecError, match="lambda seed"):
        repeat(nk.Constant(), THRESHOLDS)


class Unfair:
    """A Randomized Budget Perceptron whose newest example leaves nine times out of ten."""

    labels = None
    promises = (rbp_expected,)
    deterministic = False

    def __init__(self, seed, budget=16, fair=False):
        self.domain, self.similarity, self.features = Domain("vector"), Kernel.of("linear"), Features()
        self.budget, self.kept, self.rounds, self.updates, self.evictions = budget, [], 0, 0, 0
        self._fair, self._coins = fair, random.Random(seed)

    def predict_one(self, x):
        return 1 if sum(y * float(np.dot(z, x)) for z, y in self.kept) >= 0 else -1

    def learn_one(self, x, y):
        self.features.row(x, learn=True)
        self.rounds += 1
        if self.predict_one(x) != y:
            self.updates += 1
            if len(self.kept) == self.budget:
                self.evictions += 1
                newest = not self._fair and self._coins.random() < 0.9
                self.kept.pop(self.budget - 1 if newest else self._coins.randrange(self.budget))
            self.kept.append((np.array(x, dtype=float), y))

    def tracker(self):
        return KernelTracker(self.similarity)

    def facts(self):
        return KernelFacts(
            self.rounds, self.updates, len(self.kept), self.evictions, self.budget, self.similarity, not self.kept
        )


def test_evictions_that_are_not_fair_are_violated_and_fair_ones_valid():
    """Sixteen vectors once each, then two others in turn: the one that comes was just forgotten."""
    rows = np.eye(18)[[*range(16), *[16, 17] * 20]]
    stream = [(x, -1) for x in rows]
    (verdict,) = nk.repeat(lambda seed: Unfair(seed), stream, seeds=range(30)).verdicts
    assert verdict.status == "violated"
    (verdict,) = nk.repeat(lambda seed: Unfair(seed, fair=True), stream, seeds=range(30)).verdicts
    assert verdict.status == "valid"
    (verdict,) = nk.repeat("rbp:budget=16,kernel=linear", stream, seeds=range(30)).verdicts
    assert verdict.status == "valid"
