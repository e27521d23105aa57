"""Cases of theorems: `Case`, of which each test file of a theorem declares one, and helpers to make them."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff as nk
from novikoff.core.types import Domain, StepResult
from novikoff.finite.classes import table
from novikoff.kernel._loops import rows
from novikoff.kernel.theorems.kernel_facts import KernelFacts
from novikoff.online_to_batch.theorems.risk_facts import EnsembleFacts


def run_of(learner, environment, rounds=None, adversary=False):
    """What the theorems of the learner, or of the adversary, are told of this game."""
    ledger, seen = nk.play(learner, environment, rounds=rounds), []
    (ledger.adversary if adversary else ledger.learner).promises = (seen.append,)
    ledger.certify()
    return seen[0]


def warm(make, *games):
    """The run of the second game of one learner."""
    learner = make()
    return [run_of(learner, game) for game in games][-1]


def changed(run, **values):
    """The run of a learner that says other things of itself."""
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))


def broken(learner, worst=1.0):
    """The same learner, but it errs in every round and pays `worst`, and says that it learned from each of them."""

    class Broken(type(learner)):
        def play_one(self, x, y):
            played = super().play_one(x, y)
            if isinstance(played, StepResult) and self.task == "regression":
                return played._replace(predictions=y + math.sqrt(worst), losses=worst, expected=worst)
            return played._replace(losses=worst, expected=worst) if isinstance(played, StepResult) else -y

        def learn_many(self, batch):
            return None

        def facts(self):
            facts = super().facts()
            return dataclasses.replace(facts, updates=facts.rounds) if isinstance(facts, KernelFacts) else facts

    learner.__class__ = Broken
    return learner


class Opposite(nk.Perceptron):
    """Broken: it says the opposite of what it believes, and learns when that is a mistake."""

    def predict_one(self, x):
        return -super().predict_one(x)

    def play_one(self, x, y):
        said, x = self.predict_one(x), np.array(x, dtype=float)
        if said != y:
            self.features.row(x, learn=True)
            self._grow()
            self._weights[: len(x)] += y * x
        self.rounds += 1
        self.updates += said != y
        return said

    def learn_many(self, batch):
        return None


def opposite(kind, *args):
    """The same of a learner with a kernel: a function of ours, so that it learns row by row."""

    class OppositeKernel(kind):
        def play_one(self, x, y):
            said = -self.predict_one(x)
            row = rows.rows_of_one(self.features.row(x, learn=True))
            square = self.supports.call(*row[1:])
            self.supports.begin(row[3])
            if said != y:
                self._insert(row[1:], y, square)
            self.rounds += 1
            return said

        def learn_many(self, batch):
            return None

    return OppositeKernel(*args, lambda z, x: float(z @ x))


def kind(adversary):
    """The same adversary, but it says what the learner does."""

    class Kind(type(adversary)):
        def answer(self, prediction):
            super().answer(prediction)
            return max(prediction, key=prediction.get)

    adversary.__class__ = Kind
    return adversary


class Scripted:
    """A learner that says what is written; with `draws` a coin decides."""

    promises, labels, domain = (), None, Domain("any")

    def __init__(self, says=(1,), draws=False):
        self.says, self.draws, self.rounds = says, draws, 0

    def predict_one(self, x):
        return self.says[self.rounds % len(self.says)]

    def chances(self, x):
        return {1: 0.5, -1: 0.5} if self.draws else {self.predict_one(x): 1.0}

    def learn_one(self, x, y):
        self.rounds += 1

    def facts(self):
        return None


LABELS = st.sampled_from([-1, 1])
INDICES = st.lists(st.tuples(st.integers(0, 7), LABELS), min_size=1, max_size=30)
VECTORS = st.lists(st.tuples(st.tuples(*[st.integers(-3, 3)] * 3), LABELS), min_size=1, max_size=25)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(0, 1))
SCRIPTS = st.lists(LABELS, min_size=1, max_size=12)
TARGETS = st.lists(st.tuples(st.tuples(st.floats(-1, 1)), st.floats(-1, 1)), min_size=1, max_size=25)


@st.composite
def separable(draw, width=3):
    """Labels of a linear target, with nothing on its border."""
    u = draw(st.tuples(*[st.integers(-3, 3)] * width).filter(any))
    points = draw(st.lists(st.tuples(*[st.integers(-3, 3)] * width), min_size=1, max_size=25))
    sides = [(x, int(np.dot(x, u))) for x in points]
    return [(x, 1 if side > 0 else -1) for x, side in sides if side] or [(u, 1)]


def orthogonal(k, times=2):
    return [(tuple(map(float, row)), -1) for row in np.eye(k)] * times


def lead(turns, rounds, k=2):
    """Experts take turns to lose, then the first leads."""
    return np.concatenate([np.tile(1.0 - np.eye(k), (turns, 1)), np.tile([[0.0] + [1.0] * (k - 1)], (rounds, 1))])


@dataclass(frozen=True)
class Case:
    """How one theorem is tested. Games are given as what the theorem is called with: `run_of(learner, stream)`.

    Attributes:
        streams: Strategy of hypothesis for arbitrary streams.
        game: Function from a stream to the run of a learner that promises the theorem.
        sample: A stream on which the certificate is valid or conditional.
        tight: Function to a run that meets the bound; None if none is known (docs/status.md then says so).
        broken: Function to a run that violates it, of a learner broken on purpose; None unless the kind is D.
        void: Functions to runs in which an assumption fails, each with a part of the reason.
        unless: Part of the reason for which it may be void on some of the streams.
    """

    streams: Any
    game: Callable[[Any], Any]
    sample: Any
    tight: Callable[[], Any] | None = None
    broken: Callable[[], Any] | None = None
    void: tuple[tuple[Callable[[], Any], str], ...] = ()
    unless: str = "nothing"


def of_hypotheses(make, sample, tight, cheat, unless="not realizable"):
    """A learner that follows the hypotheses left: void where none is."""
    game = lambda stream: run_of(make(), stream)
    return Case(INDICES, game, sample, tight, cheat, ((lambda: game([(3, -1), (0, 1)]), unless),), unless)


def of_experts(make, tight, words, *changes):
    """A learner on losses: void after a warm start, and where its facts say that it was another rule."""
    game = lambda losses: run_of(make(losses.shape[1]), nk.Losses(losses))
    sample = lead(2, 60)
    warmed = lambda: warm(lambda: make(2), nk.Losses(sample), nk.Losses(sample))
    wrong = lambda values: lambda: changed(game(sample), **values)
    cheat = lambda: run_of(broken(make(2)), nk.Losses(sample))
    void = ((warmed, "warm start"), *((wrong(values), words) for values in changes))
    return Case(TABLES, game, sample, tight, cheat, void)


UPRIGHT = orthogonal(4, 3)


def of_vectors(make, cheat, warmed=True, streams=VECTORS, tight=True, unless="nothing", sample=UPRIGHT, more=()):
    """A learner of vectors with comparators: tight on orthogonal examples, void where these saw something else."""
    game = lambda stream: run_of(make(), stream)
    void = [(lambda: dataclasses.replace(game(sample), rounds=1), "every round it learned from"), *more]
    if warmed:
        void.append((lambda: warm(make, sample, sample), "warm start"))
    met = (lambda: game(orthogonal(9))) if tight else None
    return Case(streams, game, sample, met, cheat, tuple(void), unless)


def of_adversary(make, learner, rounds):
    """Tight against this learner; void if predictions are drawn."""
    game = lambda says: run_of(Scripted(says), make(), rounds, adversary=True)
    coins = lambda: run_of(Scripted(draws=True), make(), rounds, adversary=True)
    tight = lambda: run_of(learner(), make(), rounds, adversary=True)
    return Case(SCRIPTS, game, [1, -1], tight, lambda: run_of(learner(), kind(make()), rounds, adversary=True),
                ((coins, "is deterministic"),))  # fmt: skip


def of_risk(facts=lambda n, m, horizon: EnsembleFacts(n, m, horizon=horizon), horizons=(False, True)):
    """A limit on a risk: void where the examples drift, and without any."""
    told = st.integers(1, 2000).flatmap(
        lambda n: st.builds(facts, st.just(n), st.integers(0, n), st.sampled_from(horizons))
    )
    drift = lambda: dataclasses.replace(facts(1000, 100, True), independence="refuted")
    empty = lambda: facts(0, 0, True)
    return Case(told, lambda facts: facts, facts(1000, 100, True), None, None,
                ((drift, "independent draws"), (empty, "there were no examples")))  # fmt: skip


ERRORS = st.lists(st.booleans(), max_size=300).map(np.array)


def of_bets(game, sample, drifting, why):
    """A test that bets on errors: void after an alarm, also on arbitrary errors."""
    return Case(ERRORS, lambda errors: game(np.asarray(errors, dtype=bool)).facts(), sample, None, None,
                ((lambda: game(drifting).facts(), why),), unless=why)  # fmt: skip


def watched(errors):
    """A monitor of a classifier with a risk of at most 0.2."""
    monitor = nk.Monitor(0.2)
    monitor.see(errors)
    return monitor


def ones(n, y=1.0):
    return nk.RegressionArrays(np.ones((n, 1)), np.full(n, y))


def of_targets(cheat, tight, sample, *void):
    """Online gradient descent on numbers: void after a warm start, and where the loss is not convex."""
    game = lambda pairs: run_of(nk.OnlineGradient(), nk.RegressionArrays(*map(np.array, zip(*pairs, strict=True))))
    return Case(TARGETS, game, sample, tight, cheat,
                ((lambda: warm(nk.OnlineGradient, ones(4), ones(4)), "warm start"),
                 (lambda: changed(game(sample), loss="zero-one"), "convex"),
                 *void))  # fmt: skip


def of_metric(make, sample, cheat, tight=None):
    """A learner in a metric: void after a warm start, and on rounds that it or its comparators did not see.

    Who cheats is void (test_metric_theorems.py, test_auto.py): to break the promise it must say itself that it paid.
    """
    game = lambda stream: run_of(make(), stream)
    return Case(VECTORS, game, sample, tight, lambda: cheat(game(sample)),
                ((lambda: (lambda run: dataclasses.replace(run, before=run.after))(game(sample)), "warm start"),
                 (lambda: dataclasses.replace(game(sample), rounds=1), "evaluated on every round"),
                 (lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds")))  # fmt: skip


MANY_VECTORS = st.lists(st.tuples(st.tuples(*[st.integers(-3, 3)] * 3), st.integers(0, 2)), min_size=1, max_size=25)


def of_multiclass(make, cheat, tight=None):
    """The same of learners of many labels, whose scores cost what they say."""

    def cost(run):
        run = cheat(run)
        after = run.after
        own = after.losses[after.shown] if hasattr(after, "shown") else getattr(after, "mistakes", 0) or after.loss
        lost = (own,) if isinstance(run.tracked.lost, tuple) else own
        return dataclasses.replace(run, tracked=dataclasses.replace(run.tracked, lost=lost))

    found = of_metric(lambda: make(labels=3), [(tuple(3.0 * np.eye(3)[t % 3]), t % 3) for t in range(150)], cost, tight)
    return dataclasses.replace(found, streams=MANY_VECTORS)


class Stubborn(nk.Specialists):
    """Broken: whatever they lost, it trusts the copy that began last."""

    def _mixed(self, chances, y):
        for copy in self._copies:
            copy.log = 0.0 if copy is self._copies[-1] else -50.0
        return super()._mixed(chances, y)


def paid_more(run):
    """The learner paid so much more, as it says itself."""
    return dataclasses.replace(changed(run, loss=run.after.loss + 500.0), log_loss=run.log_loss + 500.0)


def weights(rule="fixed", **more):
    """Exponential weights on a table of losses, an expert drawn in each round."""
    given = {"fixed": {"eta": 0.5}, "anytime": {}, "doubling": {"rate": "doubling"}}[rule] | more
    return lambda experts: nk.ExponentialWeights(experts, loss="table", play="draw", **given)


def apart(n, x=2.0):
    """Two sides of a wide margin, in turn."""
    return [((x * y, 0.1 * t / n), y) for t, y in enumerate([-1, 1] * n)]


def on_one_side(n, width=3):
    return [((1.0,) * width, -1)] * n


def two_in_turn(budget, times):
    """So many vectors once each, then two others in turn."""
    e = [tuple(row) for row in np.eye(budget + 2).tolist()]
    return [(x, -1) for x in [*e[:budget], *e[budget:] * times]]


LINEAR = {"kernel": "linear"}
NARROW = "separates the labels"
ROWS, PRIOR = table([[1, 1, 1], [-1, 1, 1], [-1, -1, 1]]), [4, 2, 1]
PLAIN = [(0, -1), (7, 1)] * 20
BOTH = [((1.0,), 1), ((1.0,), -1)]
perceptron_case = of_vectors(nk.Perceptron, lambda: run_of(Opposite(), apart(20)), warmed=False, unless=NARROW)
from_zero_case = of_vectors(nk.Perceptron, lambda: run_of(Opposite(), apart(20)), unless=NARROW)
ellipsoid_case = of_vectors(
    nk.Ellipsoid, lambda: run_of(broken(nk.Ellipsoid(width=3)), on_one_side(60)), False, separable(), False, "thin",
    [((1.0, 0.2), 1)] * 30, ((lambda: run_of(nk.Ellipsoid(), BOTH), "separates"),),
)  # fmt: skip
