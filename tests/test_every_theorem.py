"""Every theorem: holds on arbitrary streams, is met where it is said to be, violated, void; and cites its own source.

A theorem without a case here fails. A case says how to play a game that the theorem covers, which game meets it, how
to break who promises it, and how to break what it assumes. What is special to one theorem (golden values, exact
expectations, hostile floats) is in a file of its own.
"""

import dataclasses
import importlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff as nk
from helpers import drive
from mixed_forecasts import Mixed, MixedNumbers
from novikoff.adversaries.bisection import Bisection
from novikoff.adversaries.budget_ruin import BudgetRuin
from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.adversaries.majority_flip import MajorityFlip
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.bandits.theorems.bandit_facts import GAMMAS, BanditFacts
from novikoff.bandits.theorems.policy_limits import PolicyFacts
from novikoff.core.certificate import DeclaredTheorem
from novikoff.core.types import Domain, Run, StepResult
from novikoff.distributed import mixing
from novikoff.finite.classes import cube, table, thresholds
from novikoff.kernel._loops import rows
from novikoff.kernel.theorems.kernel_facts import KernelFacts
from novikoff.linear._loops import second_order_layout as at
from novikoff.online_to_batch.theorems.risk_facts import BestFacts, EnsembleFacts, HeldFacts
from novikoff.reports.explanation import read_references, theorems

STATUS = (Path(__file__).parents[1] / "docs" / "status.md").read_text()
TIGHT = {name: cells[3] for cells in (line.split(" | ") for line in STATUS.splitlines() if line.startswith("| `"))
         for name in re.findall(r"`(\w+)`", cells[0])}  # fmt: skip
"""What docs/status.md says of each theorem's tightness."""


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


def late_run(learner, stream, delay):
    """What theorems on late labels are told: blocks are served, and their labels come from the last to the first."""
    game, stream = nk.Game(learner), list(stream)
    for start in range(0, len(stream), delay + 1):
        block = range(start, min(start + delay + 1, len(stream)))
        for t in block:
            game.predict_one(stream[t][0], t)
        for t in reversed(block):
            game.learn_one(t, stream[t][1])
    ledger, seen = game.ledger, []
    of_arrivals = tuple(one for one in ledger.certify() if not one.theorem.startswith("delayed_"))
    learner.promises = (seen.append,)
    ledger.certify()
    return dataclasses.replace(seen[0], arrivals=of_arrivals, tracked=None)


def served(run, **values):
    """The run, of which other things are told that were served."""
    return dataclasses.replace(run, late=dataclasses.replace(run.late, **values))


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


class Hoarder(nk.CrammerKandolaSinger):
    """Broken: it throws nothing out, and says that it does."""

    def facts(self):
        return dataclasses.replace(super().facts(), distilled=True, margin=0.0)


class Unfiltered(nk.Consistent):
    """Broken: a hypothesis that erred may be drawn again."""

    def play_one(self, x, y):
        return self.predict_one(x)


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


class Unmoved:
    """A rule for sets that never changes its mind."""

    def threshold(self):
        return 0.5

    def see(self, score):
        pass


def sets_changed(run, **values):
    """The run of one whose sets held other things."""
    return dataclasses.replace(run, coverage=dataclasses.replace(run.coverage, **values))


LABELS = st.sampled_from([-1, 1])
INDICES = st.lists(st.tuples(st.integers(0, 7), LABELS), min_size=1, max_size=30)
VECTORS = st.lists(st.tuples(st.tuples(*[st.integers(-3, 3)] * 3), LABELS), min_size=1, max_size=25)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(0, 1))
SCRIPTS = st.lists(LABELS, min_size=1, max_size=12)
FORECASTS = st.lists(st.tuples(st.tuples(*[st.floats(-9, 9)] * 3), LABELS), min_size=1, max_size=25)
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


def epochs():
    """Two experts take turns in each epoch of 1, 2, 4, ... rounds, then the first leads."""
    sizes = [(2**j, min(2**j, int(np.ceil(6 * 2 ** (j / 2))))) for j in range(17)]
    return np.concatenate([lead((n - ahead) // 2, n - (n - ahead) // 2 * 2) for n, ahead in sizes])


@dataclass(frozen=True)
class Case:
    """How one theorem is tested.

    streams   what may be played
    game      what the theorem is told of a game on one of them
    sample    one of which it says something that is worth knowing
    tight     what it is told of a game that meets it, where docs/status.md says that one does
    broken    what it is told of who broke the promise; None for those that hold on average
    void      what it is told where an assumption fails, and a word of why
    unless    a word of why it may be void on some of the streams
    """

    streams: Any
    game: Callable[[Any], Any]
    sample: Any
    tight: Callable[[], Any] | None
    broken: Callable[[], Any] | None
    void: tuple[tuple[Callable[[], Any], str], ...]
    unless: str = "nothing"


def of_late(game, learner=nk.Perceptron):
    """On late labels: the Perceptron, or another learner, and (`game`) how it is broken."""

    def whole():
        return late_run(learner(), apart(30), 3)

    return Case(
        VECTORS, lambda stream: late_run(learner(), stream, len(stream) // 3), apart(30),
        lambda: late_run(learner(), [row for row in orthogonal(9, 1) for _ in range(5)], 4),
        game,
        ((lambda: served(whole(), labelled=59), "game in order of arrival"),
         (lambda: dataclasses.replace(whole(), arrivals=tuple(
             dataclasses.replace(one, bound=None, status="void", reason="it was broken") for one in whole().arrivals)),
          "no valid bound"),),
    )  # fmt: skip


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


def of_sets(rule, tight, cheat, *wrong, times=30, groups=None):
    """A conformal learner around a constant: whatever the stream is."""
    game = lambda stream: run_of(nk.Conformal(nk.Constant(), 0.1, 0.05, 0.5, groups, *rule), stream)
    sample = orthogonal(3, times)
    void = tuple((lambda change=change: change(game(sample)), why) for change, why in wrong)
    return Case(VECTORS, game, sample, tight, lambda: cheat(game(sample)), void)


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


def logged(rows, **changes):
    """What a log of losses and probabilities shows of the policy that plays the arm that was played with chance 1/2."""
    losses, chances = np.asarray(rows).reshape(-1, 2).T
    weighed = [0.5 / (chances + gamma) for gamma in GAMMAS]
    sums, rest = (tuple(float(weight @ paid) for weight in weighed) for paid in (losses, 1.0 - losses))
    lost = float(losses.sum())
    after = dataclasses.replace(BanditFacts("log", len(losses), 2, 2, lost, GAMMAS, (sums, sums)), **changes)
    run = Run(dataclasses.replace(after, rounds=0), after, len(losses), 0, 0.0, (0, 0), adaptive=False,
              deterministic=False, loss=lost, fixed=False)  # fmt: skip
    return PolicyFacts(run, 2, sums, rest)


def mixed(stream, forgets=False):
    """What is told of the Perceptron on two shards; broken, it forgets what it learned after every epoch."""
    x, y = map(np.array, zip(*stream, strict=True))
    as_it_is = mixing.mean
    mixing.mean = (lambda ends, parts: 0.0 * as_it_is(ends, parts)) if forgets else as_it_is
    try:
        return nk.mix((x.astype(float), y), 2, 30 if forgets else 3, threads=1).facts()
    finally:
        mixing.mean = as_it_is


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


def of_multiclass_kernel():
    """The kernel Perceptron of many labels."""

    def game(stream):
        return run_of(nk.MulticlassKernelPerceptron("linear", labels=3), stream)

    def paid_more(run):
        tracked = dataclasses.replace(run.tracked, mistakes=140)
        return dataclasses.replace(changed(run, updates=140), mistakes=140, tracked=tracked)

    sample = [(tuple(3.0 * np.eye(3)[t % 3]), t % 3) for t in range(150)]
    return Case(
        MANY_VECTORS,
        game,
        sample,
        lambda: run_of(nk.MulticlassKernelPerceptron("linear", labels=2), [(x, 1) for x, _ in orthogonal(12)]),
        lambda: paid_more(game(sample)),
        (
            (lambda: dataclasses.replace(game(sample), rounds=1), "every round it learned from"),
            (lambda: changed(game(sample), updates=70), "only on the mistakes of its scores"),
            (lambda: changed(game(sample), new=7), "agrees with the ledger's"),
            (lambda: changed(game(sample), evictions=1), "ever removed"),
        ),
    )


THREE = [(tuple(3.0 * np.eye(3)[j]), j) for j in range(3)]


def multiclass_vaw(stream):
    """Vovk-Azoury-Warmuth with three labels."""
    return run_of(nk.MulticlassVAW(scale_free=False, bias=0.0, labels=3), stream)


def scored_more(run, paid=500.0, **more):
    """The Brier score was so much more, and the learner says that its books have so much more."""
    books = {name: getattr(run.after, name) + value for name, value in more.items()}
    return dataclasses.replace(changed(run, **books), brier=run.brier + paid)


class Stubborn(nk.Specialists):
    """Broken: whatever they lost, it trusts the copy that began last."""

    def _mixed(self, chances, y):
        for copy in self._copies:
            copy.log = 0.0 if copy is self._copies[-1] else -50.0
        return super()._mixed(chances, y)


def of_specialists():
    """The same of copies begun at different times."""

    def make():
        return nk.Specialists(nk.FTRL(), 4)

    def game(stream):
        return run_of(make(), stream)

    return Case(VECTORS, game, apart(200), None, lambda: run_of(Stubborn(nk.FTRL(), 4), apart(200)),
                ((lambda: changed(game(apart(50)), loss=7.0), "agrees with the ledger's"),
                 (lambda: changed(game(apart(50)), rounds=7), "exactly the recorded rounds"),
                 (lambda: warm(make, apart(8), apart(8)), "warm start")))  # fmt: skip


def paid_more(run):
    """The learner paid so much more, as it says itself."""
    return dataclasses.replace(changed(run, loss=run.after.loss + 500.0), log_loss=run.log_loss + 500.0)


def paid_more_since(run):
    """The same, in the rounds since copies of its weights were made."""
    frozen = tuple(dataclasses.replace(u, paid=u.paid + 500.0) for u in run.tracked.frozen)
    return dataclasses.replace(paid_more(run), tracked=dataclasses.replace(run.tracked, frozen=frozen))


def lost_more(run):
    """The same, of a learner with a convex loss, and of its mistakes."""
    tracked = dataclasses.replace(run.tracked, lost=run.tracked.lost + 500.0)
    return dataclasses.replace(changed(run, lost=run.after.lost + 500.0), mistakes=500, tracked=tracked)


def mixture_paid_more(run):
    """The same of a mixture, each forecaster of which did."""
    losses = [loss + 500.0 for loss in run.after.losses]
    tracked = dataclasses.replace(run.tracked, losses=tuple(losses))
    return dataclasses.replace(changed(run, losses=losses), log_loss=run.log_loss + 500.0, tracked=tracked)


def multiclass_mixture_paid_more(run):
    """The same with many labels."""
    return changed(paid_more(run), loss=run.after.loss + 500.0, losses=[loss + 500.0 for loss in run.after.losses])


def multiclass_members():
    """`auto` for many labels, against the best of its members as they played."""

    def game(stream):
        return dataclasses.replace(
            run_of(nk.MulticlassAuto(fast=True, labels=3), stream), tracked=None
        )  # it needs none

    sample = [(tuple(3.0 * np.eye(3)[t % 3]), t % 3) for t in range(150)]
    return Case(
        MANY_VECTORS, game, sample, None, lambda: paid_more(game(sample)),
        (
            (lambda: dataclasses.replace(game(sample), rounds=1), "the recorded rounds"),
            (lambda: changed(game(sample), loss=1.0), "agrees with the ledger's"),
        ),
    )  # fmt: skip


def regression(pairs):
    """`auto` for numbers."""
    x, y = map(np.array, zip(*pairs, strict=True))
    return run_of(nk.AutoRegression(), nk.RegressionArrays(x, y))


def hilly(rounds):
    """A line with a wave on it."""
    return [((t % 13 / 13.0,), 5.0 * (t % 13) + np.sin(t)) for t in range(rounds)]


def regression_paid_more(run):
    """It paid so much more than its best member, as it says itself."""
    return dataclasses.replace(changed(run, paid=1e6, mixed=1e6), loss=1e6)


def shared_odds(stream, bend=0.0):
    """Fixed share over forecasters whose log-odds are the examples."""
    learner = Mixed([1.0 / len(stream[0][0])] * len(stream[0][0]))
    learner.bend = bend
    x, y = map(np.array, zip(*stream, strict=True))
    return run_of(learner, (x, y))


def mixed_numbers(stream, shared, bend=0.0):
    """AdaHedge over forecasters whose numbers are the examples."""
    learner = MixedNumbers([1.0 / len(stream[0][0])] * len(stream[0][0]), shared)
    learner.bend = bend
    x, y = map(np.array, zip(*stream, strict=True))
    return run_of(learner, nk.RegressionArrays(x, y))


def of_mixed_numbers(shared):
    """AdaHedge over forecasters of a number, with sharing or without."""
    game, sample = (
        lambda stream: mixed_numbers(stream, shared),
        [((5.0 * (-1.0) ** t, 0.0), 5.0 * (-1.0) ** t) for t in range(40)],
    )
    return Case(
        FORECASTS, game, sample, lambda: game([((t % 3,), 1.0) for t in range(9)]),
        lambda: mixed_numbers(sample, shared, bend=1e-3),
        ((lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds"),
         (lambda: dataclasses.replace(game(sample), loss=7.0), "is the ledger's"),
         (lambda: warm(lambda: MixedNumbers([0.5, 0.5], shared), *[nk.RegressionArrays(np.eye(2), np.ones(2))] * 2),
          "started untrained")),
    )  # fmt: skip


def vaw(pairs, **changes):
    """Vovk-Azoury-Warmuth on numbers."""
    x, y = map(np.array, zip(*pairs, strict=True))
    return changed(run_of(nk.VAW(scale_free=False, bias=0.0), nk.RegressionArrays(x, y)), **changes)


class Overpaying(nk.VAW):
    """Broken: it says 3 more than it should, and pays for it; the credit of its books makes up for that.

    Where the credit is what it should be, no square being negative, who pays more than is promised contradicts its own
    books and is void: the theorem is an equality.
    """

    def _learn(self, rows, y):
        played, totals = super()._learn(rows, y), self.matrix.totals
        said = played.predictions + 3.0
        losses = (said - y) ** 2
        more = (losses - played.losses).sum()
        totals[[at.LOSS, at.UNCLIPPED]] += more
        totals[at.LINEAR_SIZE] -= more
        return StepResult(said, losses, losses)


def weights(rule="fixed", **more):
    """Exponential weights on a table of losses, an expert drawn in each round."""
    given = {"fixed": {"eta": 0.5}, "anytime": {}, "doubling": {"rate": "doubling"}}[rule] | more
    return lambda experts: nk.ExponentialWeights(experts, loss="table", play="draw", **given)


def of_bandits(make, broken_one, *more):
    """A bandit on a table of losses: void after a warm start, and where its books are not those of the game."""
    game = lambda losses: run_of(make(losses.shape[1]), nk.Losses(losses))
    sample = np.tile([[0.5, 1.0, 1.0]], (3000, 1))
    warmed = lambda: warm(lambda: make(2), nk.Losses(lead(2, 60)), nk.Losses(lead(2, 60)))
    wrong = lambda: changed(game(sample), lost=1.0)
    random = np.random.default_rng(0).random((20_000, 3))
    tight = None if broken_one is None else lambda: game(random)
    return Case(TABLES, game, sample, tight, broken_one,
                ((warmed, "warm start"), (wrong, "learned from the recorded losses"), *more))  # fmt: skip


def exp3(arms, **more):
    return nk.Exp3IX(arms, **{"horizon": 3000, **more})


def cheated(make):
    """It pays 1 in every round, and says so of itself."""
    return lambda: run_of(broken(make(3)), nk.Losses(np.tile([[0.5, 1.0, 1.0]], (3000, 1))))


def sleeping(experts):
    return nk.SleepingExperts(experts, loss="table", play="draw")


def concave(experts):
    return nk.ExponentialWeights(experts, loss="log", play="mean")


def team(**rule):
    return nk.Hedge([nk.ThresholdHalving(7), nk.Constant(-1)], **rule)


def drawing_team():
    return nk.Hedge([nk.Consistent(thresholds(7), random=True, seed=5), nk.Constant(-1)], horizon=400)


def forecasts(rows):
    """The experts say the numbers of a table; the outcome is always 1."""
    return nk.Advice(rows, np.ones(len(rows)))


def apart(n, x=2.0):
    """Two sides of a wide margin, in turn."""
    return [((x * y, 0.1 * t / n), y) for t, y in enumerate([-1, 1] * n)]


def on_one_side(n, width=3):
    return [((1.0,) * width, -1)] * n


def grid_walk():
    """From corner to corner of a grid, and the corner once more."""
    return [((min(k, 4), max(k - 4, 0)), 1) for k in range(9)] + [((0, 0), 1)]


def two_in_turn(budget, times):
    """So many vectors once each, then two others in turn."""
    e = [tuple(row) for row in np.eye(budget + 2).tolist()]
    return [(x, -1) for x in [*e[:budget], *e[budget:] * times]]


def cks():
    return nk.CrammerKandolaSinger(None, "linear", distill=True)


LINEAR = {"kernel": "linear"}
NARROW = "separates the labels"
ROWS, PRIOR = table([[1, 1, 1], [-1, 1, 1], [-1, -1, 1]]), [4, 2, 1]
FLIPS = [(0, -1), (1, -1), (2, -1)]
PLAIN = [(0, -1), (7, 1)] * 20
BOTH = [((1.0,), 1), ((1.0,), -1)]
kernel_case = of_vectors(
    lambda: nk.KernelPerceptron(**LINEAR), lambda: run_of(opposite(nk.KernelPerceptron), apart(20)), unless=NARROW,
    more=((lambda: changed(run_of(nk.KernelPerceptron(**LINEAR), orthogonal(3)), evictions=1), "ever removed"),),
)  # fmt: skip
perceptron_case = of_vectors(nk.Perceptron, lambda: run_of(Opposite(), apart(20)), warmed=False, unless=NARROW)
from_zero_case = of_vectors(nk.Perceptron, lambda: run_of(Opposite(), apart(20)), unless=NARROW)
ellipsoid_case = of_vectors(
    nk.Ellipsoid, lambda: run_of(broken(nk.Ellipsoid(width=3)), on_one_side(60)), False, separable(), False, "thin",
    [((1.0, 0.2), 1)] * 30, ((lambda: run_of(nk.Ellipsoid(), BOTH), "separates"),),
)  # fmt: skip
forgetron_case = of_vectors(
    lambda: nk.Forgetron(90, "linear", radius=6.0),
    lambda: run_of(broken(nk.Forgetron(90, "linear", radius=1.0)), [((1.0, 0.0), -1)] * 60),
    tight=False, sample=[((5.0, 0.0), -1)] * 60,
)  # fmt: skip

CASES = {
    "halving_mistakes": of_hypotheses(
        lambda: nk.Halving(thresholds(7)), PLAIN, lambda: run_of(nk.Halving(cube(4)), MajorityFlip(4), 4),
        lambda: run_of(broken(nk.Halving(thresholds(7))), PLAIN),
    ),
    "halving_restarts": Case(
        INDICES, lambda stream: run_of(nk.Halving(thresholds(7)), stream), [(7, -1), (0, 1), *PLAIN],
        lambda: run_of(nk.Halving(ROWS, prior=PRIOR), FLIPS * 3),
        lambda: run_of(broken(nk.Halving(ROWS)), [*FLIPS, *[(2, 1)] * 30]), (),
    ),
    "consistent_mistakes": of_hypotheses(
        lambda: nk.Consistent(thresholds(7)), PLAIN,
        lambda: run_of(nk.Consistent(thresholds(7)), [(x, -1) for x in range(8)]),
        lambda: run_of(broken(nk.Consistent(thresholds(7))), PLAIN),
    ),
    "consistent_expected": of_hypotheses(
        lambda: nk.Consistent(thresholds(7), random=True), PLAIN,
        lambda: run_of(nk.Consistent(table([[1], [-1]]), random=True), [(0, 1)]),
        lambda: run_of(Unfiltered(thresholds(7), random=True), PLAIN),
    ),
    "tightest_box_mistakes": Case(
        st.lists(st.tuples(st.tuples(st.integers(0, 4), st.integers(0, 4)), LABELS), min_size=1, max_size=25),
        lambda stream: run_of(nk.TightestBox(2, 5), stream), grid_walk(),
        lambda: run_of(nk.TightestBox(2, 5), grid_walk()),
        lambda: run_of(broken(nk.TightestBox(2, 5)), [((1, 1), 1)] * 9),
        ((lambda: run_of(nk.TightestBox(2, 5), [((1, 1), 1), ((1, 1), -1)]), "inside the box"),
         (lambda: run_of(nk.TightestBox(2), [((1, 1), 1)]), "over the reals")),
        unless="not realizable",
    ),
    "cover_restarts": Case(
        separable(2), lambda stream: run_of(nk.CoverHalving(2, largest=2000), stream), apart(20), None,
        lambda: run_of(broken(nk.CoverHalving(2)), apart(20)),
        ((lambda: run_of(nk.CoverHalving(2), [((0, 0), -1)]), "x = 0"),
         (lambda: run_of(nk.CoverHalving(2, largest=20), [((1, 1), 1), ((1, 1), -1)] * 9), "finest cover")),
        unless="finest cover",
    ),
    "weighted_majority_mistakes": Case(
        INDICES, lambda stream: run_of(nk.WeightedMajority(thresholds(7)), stream), PLAIN, None,
        lambda: run_of(broken(nk.WeightedMajority(thresholds(7))), PLAIN),
        ((lambda: run_of(nk.WeightedMajority(thresholds(7), beta=0.0), [(3, -1), (0, 1)]), "penalised"),),
    ),
    "fixed_rate_regret": of_experts(
        weights(), lambda: run_of(weights(eta=0.01)(2), nk.Losses(lead(20_000, 1_200))), "rate was constant",
        {"rates": 9.0},
    ),
    "anytime_regret": of_experts(
        weights("anytime"), lambda: run_of(weights("anytime")(2), nk.Losses(lead(100_000, 3_000))), "never increased",
        {"rates": 0.1},
    ),
    "doubling_regret": of_experts(
        weights("doubling"), lambda: run_of(weights("doubling")(2), nk.Losses(epochs())), "epochs", {"epochs": 3},
    ),
    "mixability_gaps": of_experts(
        weights(), lambda: run_of(weights()(3), nk.Losses(lead(0, 80, 3))), "never increased", {"rates": 0.1},
    ),
    "ada_hedge_regret": of_experts(
        lambda experts: nk.AdaHedge(experts, loss="table", play="draw"),
        lambda: run_of(nk.AdaHedge(2, loss="table", play="draw"), nk.Losses(lead(20_000, 1_500))), "equal weights",
        {"uniform": False},
    ),
    "small_losses": of_experts(
        weights(), lambda: run_of(weights(eta=200.0)(400), nk.Losses(np.tril(np.ones((399, 400))))),
        "rate was constant", {"rates": 9.0},
    ),
    "fixed_share_regret": of_experts(
        lambda experts: nk.FixedShare(experts, switches=1, horizon=30, loss="table", play="draw"),
        lambda: run_of(nk.FixedShare(10, switches=1, horizon=100, alpha=1e-9, eta=20.0, loss="table", play="draw"),
                       nk.Losses(1.0 - np.repeat(np.eye(10)[:2], 50, axis=0))),
        "rate must be positive", {"eta": 0.0},
    ),
    "sleeping_regret": dataclasses.replace(
        of_experts(sleeping, None, "not finite", {"sleeper_gaps": np.inf}),
        broken=lambda: changed(run_of(sleeping(2), nk.Losses(lead(2, 60))), sleeper_regret=50.0),
    ),
    "exp_concave_regret": Case(
        arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(0, 1)),
        lambda rows: run_of(concave(rows.shape[1]), forecasts(rows)), np.tile([[0.9, 0.1]], (40, 1)),
        lambda: run_of(concave(3), forecasts(np.tile([[0.9, 0.1, 0.1]], (60, 1)))),
        lambda: run_of(broken(concave(2), 5.0), forecasts(np.tile([[0.9, 0.1]], (40, 1)))),
        ((lambda: changed(run_of(concave(2), forecasts(np.tile([[0.9, 0.1]], (9, 1)))), rates=1.0), "was constant"),
         (lambda: warm(lambda: concave(1), forecasts(np.ones((3, 1))), forecasts(np.ones((3, 1)))), "warm start")),
    ),
    "drawn_loss": dataclasses.replace(
        of_experts(weights(), None, "not finite", {"top": np.inf}), broken=None,
        void=((lambda: changed(run_of(weights()(2), nk.Losses(lead(9, 9))), top=np.inf), "not finite"),
              (lambda: dataclasses.replace(run_of(weights()(2), nk.Losses(lead(9, 9))), rounds=3), "every round")),
    ),
    "observable_regret": of_bandits(
        exp3, None, (lambda: changed(run_of(exp3(2), nk.Losses(lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "ix_pathwise": of_bandits(exp3, cheated(exp3)),
    "ix_regret": of_bandits(
        exp3, None,
        (lambda: changed(run_of(exp3(2), nk.Losses(lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "tsallis_pathwise": of_bandits(
        nk.TsallisINF, cheated(nk.TsallisINF),
        (lambda: changed(run_of(nk.TsallisINF(2), nk.Losses(lead(2, 60))), off=0.1), "sum to 1"),
    ),
    "tsallis_regret": of_bandits(
        nk.TsallisINF, None,
        (lambda: dataclasses.replace(run_of(nk.TsallisINF(2), nk.Losses(lead(2, 60))), adaptive=True),
         "fixed in advance"),
    ),
    "policy_limits": Case(
        arrays(np.float64, st.tuples(st.integers(1, 25), st.just(2)), elements=st.floats(0.015625, 1)), logged,
        np.tile([[0.25, 0.5], [0.75, 0.5]], (2000, 1)), None, None,
        ((lambda: logged([[0.5, 0.5]], suspect="they are not"), "the arms were drawn with (they are not)"),
         (lambda: logged([]), "there were no rounds")),
    ),
    "drift_alarm": of_bets(
        lambda errors: drive(nk.DriftTest(), errors), np.arange(500) % 5 == 0, np.arange(500) >= 400, "equally likely",
    ),
    "monitor_alarm": of_bets(watched, np.arange(500) % 5 == 0, np.arange(500) >= 200, "error rate is at most 0.2"),
    "hedge_mistakes": Case(
        INDICES, lambda stream: run_of(team(), stream), PLAIN * 5, None,
        lambda: run_of(broken(team()), PLAIN * 5),
        ((lambda: warm(team, PLAIN, PLAIN), "warm start"),
         (lambda: changed(run_of(team(), PLAIN), apart=False), "independent of the learners"),
         (lambda: changed(run_of(team(), PLAIN), rule="sleeping"), "no bound of this kind")),
        unless="not realizable",
    ),
    "delayed_mistakes": of_late(lambda: served(late_run(nk.Perceptron(), apart(30), 3), mistakes=60, changed=0)),
    "delayed_conservative": of_late(lambda: served(late_run(nk.Perceptron(), apart(30), 3), mistakes=60, others=3)),
    "delayed_drawn": dataclasses.replace(
        of_late(None, lambda: nk.Hedge([nk.Perceptron(), nk.Perceptron(bias=1.0)])), tight=None
    ),
    "hedge_expected": Case(
        INDICES, lambda stream: run_of(drawing_team(), stream), PLAIN * 10, None, None,
        ((lambda: run_of(drawing_team(), GridBisection(7), 20), "fixed in advance"),
         (lambda: changed(run_of(drawing_team(), PLAIN), apart=False), "independent of the learners")),
        unless="not realizable",
    ),
    "auto_regret": of_metric(lambda: nk.Auto(fast=True), apart(50), mixture_paid_more),
    "auto_frozen": dataclasses.replace(
        of_metric(lambda: nk.Auto(fast=True), apart(50), mixture_paid_more),
        void=((lambda: dataclasses.replace(run_of(nk.Auto(fast=True), apart(50)), rounds=1), "every round"),
              (lambda: changed(run_of(nk.Auto(fast=True), apart(50)), rounds=7), "exactly the recorded rounds"),
              (lambda: changed(run_of(nk.Auto(fast=True), apart(50)), losses=[7.0] * 3), "agree with their scores")),
    ),
    "auto_regression_regret": Case(
        TARGETS, regression, hilly(60), None, lambda: regression_paid_more(regression(hilly(60))),
        ((lambda: dataclasses.replace(regression(hilly(9)), rounds=1), "exactly the recorded rounds"),
         (lambda: dataclasses.replace(regression(hilly(9)), loss=1e9), "agrees with the ledger's"),
         (lambda: changed(regression(hilly(9)), grown=-1e9), "the growth of the range"),
         (lambda: changed(regression(hilly(9)), chi=[1e9] * 6), "up to rounding"),
         (lambda: warm(nk.AutoRegression, ones(4), ones(4)), "started untrained")),
    ),
    "switching_regret": Case(
        FORECASTS, shared_odds, [((4.0, -4.0), 1)] * 20 + [((4.0, -4.0), -1)] * 20,
        lambda: shared_odds([((0.5,), y) for y in (1, -1, 1, 1)]),
        lambda: shared_odds([((4.0, -4.0), 1)] * 20, bend=0.1),
        ((lambda: dataclasses.replace(shared_odds([((1.0, 0.0), 1)] * 9), rounds=1), "exactly the recorded rounds"),
         (lambda: dataclasses.replace(shared_odds([((1.0, 0.0), 1)] * 9), log_loss=7.0), "is the ledger's"),
         (lambda: warm(lambda: Mixed([0.5, 0.5]), *[(np.eye(2), np.ones(2))] * 2), "started untrained")),
    ),
    "numbers_regret": of_mixed_numbers(shared=False),
    "numbers_switching_regret": of_mixed_numbers(shared=True),
    "ftrl_regret": of_metric(nk.FTRL, apart(50), paid_more, lambda: run_of(nk.FTRL(bias=0.0), orthogonal(12, 1))),
    "ftrl_suffix": dataclasses.replace(
        of_metric(nk.FTRL, apart(50), paid_more_since),
        void=((lambda: dataclasses.replace(run_of(nk.FTRL(), apart(50)), rounds=1), "evaluated on every round"),
              (lambda: changed(run_of(nk.FTRL(), apart(50)), rounds=7), "exactly the recorded rounds"),
              (lambda: changed(run_of(nk.FTRL(), apart(50)), loss=7.0), "agrees with the ledger's")),
    ),
    "convex_regret": of_metric(
        nk.AdaGrad, apart(50), lost_more, lambda: run_of(nk.AdaGrad(bias=0.0), orthogonal(12, 1))
    ),
    "convex_mistakes": of_metric(
        nk.AdaGrad, apart(50), lost_more, lambda: run_of(nk.AdaGrad(bias=0.0), orthogonal(12, 1))
    ),
    "specialists_promise": of_specialists(),
    "specialists_regret": of_specialists(),
    "stretch_regret": of_specialists(),
    "logistic_regret": of_metric(nk.Logistic, apart(50), paid_more),
    "metric_mistakes": of_metric(
        nk.SecondOrderPerceptron, apart(20),
        lambda run: dataclasses.replace(
            changed(run, mistakes=40, updates=40), mistakes=40,
            tracked=dataclasses.replace(run.tracked, mistakes=40, updates=40),
        ),
        lambda: run_of(nk.SecondOrderPerceptron(ridge=0.5, bias=0.0), orthogonal(12, 1)),
    ),
    "multiclass_mistakes": of_multiclass(
        nk.MulticlassPerceptron, lambda run: dataclasses.replace(changed(run, mistakes=140, updates=140), mistakes=140),
        lambda: run_of(nk.MulticlassPerceptron(labels=2), [(x, 1) for x, _ in orthogonal(12)]),
    ),
    "multiclass_auto_regret": of_multiclass(
        lambda **k: nk.MulticlassAuto(fast=True, **k), multiclass_mixture_paid_more
    ),
    "multiclass_auto_members": multiclass_members(),
    "multiclass_kernel_mistakes": of_multiclass_kernel(),
    "multiclass_logistic_regret": of_multiclass(
        lambda **k: nk.MulticlassLogistic(scale_free=False, **k), paid_more,
    ),
    "multiclass_regret": of_multiclass(
        nk.MulticlassFTRL, paid_more,
        lambda: run_of(nk.MulticlassFTRL(rate=0.25, bias=0.0, labels=2), [(x, 1) for x, _ in orthogonal(12, 1)]),
    ),
    "multiclass_vaw_regret": Case(
        MANY_VECTORS, multiclass_vaw, THREE * 50, lambda: multiclass_vaw([(x, 1) for x, _ in orthogonal(9, 1)]),
        lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0, unprojected=500.0, credit=-500.0),
        ((lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0), "projecting did not increase the loss"),
         (lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0, unprojected=500.0), "its sums"),
         (lambda: dataclasses.replace(multiclass_vaw(THREE), rounds=1), "exactly the recorded rounds"),
         (lambda: scored_more(multiclass_vaw(THREE), novelty=1.0, paid=0.0), "agrees with the ledger's"),
         (lambda: scored_more(multiclass_vaw(THREE), most=1.0, chi=-1.0, paid=0.0), "best loss in hindsight is known"),
         (lambda: warm(lambda: nk.MulticlassVAW(labels=3), THREE, THREE), "started untrained")),
    ),
    "vaw_regret": Case(
        TARGETS, vaw, [((1.0,), 1.0)] * 90, lambda: vaw(orthogonal(9, 1)),
        lambda: run_of(Overpaying(bias=0.0), ones(90)),
        ((lambda: dataclasses.replace(vaw([((1.0,), 1.0)] * 90, loss=500.0), loss=500.0), "clipping did not increase"),
         (lambda: dataclasses.replace(vaw([((1.0,), 1.0)] * 90, loss=500.0, unclipped=500.0), loss=500.0), "its sums"),
         (lambda: dataclasses.replace(vaw(orthogonal(9)), rounds=1), "exactly the recorded rounds"),
         (lambda: vaw(orthogonal(9), loss=1.0), "agrees with the ledger's"),
         (lambda: warm(nk.VAW, ones(4), ones(4)), "started untrained")),
    ),
    "online_gradient_regret": of_targets(
        lambda: run_of(broken(nk.OnlineGradient(), 4.0), ones(90)),
        lambda: run_of(nk.OnlineGradient(radius=2.0, low=-2.0, high=2.0, loss="absolute", horizon=100),
                       nk.RegressionArrays(np.eye(100), np.full(100, 2.0))),
        [((1.0,), 1.0)] * 90, (lambda: changed(run_of(nk.OnlineGradient(), ones(9)), rate=9.0), "never increased"),
    ),
    "average_risk": of_targets(
        None, None, [((1.0,), 0.5)] * 900,
        (lambda: dataclasses.replace(run_of(nk.OnlineGradient(), ones(9)), repeated=True), "used once"),
    ),
    "average_risk_always": of_targets(
        None, None, [((1.0,), 0.5)] * 900,
        (lambda: dataclasses.replace(run_of(nk.OnlineGradient(), ones(9)), adaptive=True), "independent draws"),
    ),
    "best_risk": of_risk(lambda n, m, horizon: BestFacts(n, 0.05, 5, 0, m, n, m, horizon=horizon)),
    "held_risk": of_risk(lambda n, m, horizon: HeldFacts(5, 5, m, n), horizons=(True,)),
    "mixing_mistakes": Case(
        VECTORS, mixed, UPRIGHT, lambda: mixed(orthogonal(9)), lambda: mixed(UPRIGHT * 9, forgets=True),
        ((lambda: dataclasses.replace(mixed(UPRIGHT), same_rows=False), "the same rows"),
         (lambda: dataclasses.replace(mixed(UPRIGHT), unexplained=2.0), "nothing else changed them")),
    ),
    "ensemble_risk": of_risk(),
    "ensemble_risk_fixed": of_risk(horizons=(True,)),
    "voted_risk": of_risk(),
    "perceptron_lengths": perceptron_case,
    "perceptron_hinge": perceptron_case,
    "perceptron_margin": dataclasses.replace(
        from_zero_case, void=(*from_zero_case.void, (lambda: run_of(nk.Perceptron(), BOTH), NARROW))
    ),
    "perceptron_squared_hinge": from_zero_case,
    "ellipsoid_margin": dataclasses.replace(
        ellipsoid_case, tight=lambda: run_of(nk.Ellipsoid(), [((3.0,), -1), ((3.0,), -1), ((-2.0,), 1)]),
    ),
    "ellipsoid_given_margin": dataclasses.replace(
        ellipsoid_case, game=lambda stream: run_of(nk.Ellipsoid(margin=0.05), stream), unless="margin above 0.05",
        broken=lambda: run_of(broken(nk.Ellipsoid(margin=0.05, width=3)), on_one_side(90)),
        void=((lambda: run_of(nk.Ellipsoid(margin=0.9), apart(5, 0.05)), "margin above 0.9"),),
    ),
    "ellipsoid_grid": dataclasses.replace(
        ellipsoid_case, game=lambda stream: run_of(nk.Ellipsoid(grid=3, bias=3.0), stream),
        broken=lambda: run_of(broken(nk.Ellipsoid(grid=1, width=2)), on_one_side(60, 2)),
        void=((lambda: run_of(nk.Ellipsoid(grid=1), BOTH), "on the grid"),), unless="on the grid",
        sample=[((1.0, 0.2), 1)] * 90,
    ),
    "kernel_lengths": kernel_case,
    "kernel_hinge": kernel_case,
    "kernel_margin": kernel_case,
    "kernel_squared_hinge": kernel_case,
    "rbp_no_eviction": of_vectors(
        lambda: nk.RandomizedBudgetPerceptron(50, **LINEAR),
        lambda: run_of(opposite(nk.RandomizedBudgetPerceptron, 50), apart(20)),
    ),
    "rbp_expected": of_vectors(
        lambda: nk.RandomizedBudgetPerceptron(4, **LINEAR), None, tight=False, sample=two_in_turn(4, 60),
        more=((lambda: run_of(nk.RandomizedBudgetPerceptron(4, **LINEAR), Orthogonal(9), 9), "fixed in advance"),),
    ),
    "forgetron_pathwise": forgetron_case,
    "forgetron_theorem": dataclasses.replace(
        forgetron_case, unless="above the R^2",
        void=(*forgetron_case.void, (lambda: run_of(nk.Forgetron(9, "linear", radius=1.0), BOTH), "at least 83")),
    ),
    "cks_cache": of_vectors(
        cks, lambda: run_of(Hoarder(None, **LINEAR, beta=50.0), apart(50)), warmed=False, unless=NARROW,
        more=((lambda: run_of(cks(), BOTH), NARROW),),
    ),
    "budget_forced": of_adversary(lambda: BudgetRuin(5), lambda: nk.Forgetron(5, **LINEAR, radius=1.0), 20),
    "orthogonal_forced": of_adversary(lambda: Orthogonal(6), nk.Perceptron, 12),
    "bisection_forced": of_adversary(Bisection, nk.Midpoint, 20),
    "plane_bisection_forced": of_adversary(PlaneBisection, nk.Perceptron, 20),
    "grid_bisection_forced": of_adversary(lambda: GridBisection(20), lambda: nk.ThresholdHalving(20), 20),
    "majority_flip_forced": of_adversary(lambda: MajorityFlip(5), lambda: nk.Halving(cube(5)), 10),
    "contrarian_regret": of_adversary(Contrarian, lambda: Scripted([1, -1]), 20),
    "coin_flip_regret": dataclasses.replace(
        of_adversary(CoinFlip, nk.Constant, 20), tight=None, broken=None,
        void=((lambda: dataclasses.replace(run_of(nk.Constant(), CoinFlip(), 9, True), adaptive=False), "the coin"),),
    ),
    "coverage_deviation": of_sets(
        (), lambda: run_of(nk.Conformal(nk.Constant(), alpha=2**-10, step=0.25, start=0.0), Contrarian(), 10),
        lambda run: sets_changed(run, misses=(90,), missed=(90,), after=(0.5 + 0.05 * 81.0,)),
        (lambda run: sets_changed(run, after=(0.5,)), "moved by the step"),
        (lambda run: sets_changed(run, played=(89,)), "counts include"),
    ),
    "coverage_pinball": of_sets(
        (), lambda: run_of(nk.Conformal(nk.Constant(), alpha=0.25, step=0.0625), on_one_side(40)),
        lambda run: sets_changed(run, pinball=80.0),
        (lambda run: sets_changed(run, after=(0.5,)), "moved by the step"),
    ),
    "coverage_overlapping": of_sets(
        (),
        lambda: run_of(nk.Conformal(nk.Constant(), 0.1, 0.05, 0.0, [0, 1]),
                       [((1.0, float(other)), -1) for other in range(22)]),
        lambda run: sets_changed(run, misses=(900, 0, 0), missed=(900, 0, 0), rounds=(900, 0, 0), played=(900, 0, 0),
                                 after=(0.5 + 0.1 * 810.0, 0.5, 0.5 + 0.05 * 810.0)),
        (lambda run: sets_changed(run, after=(0.9, 0.9, 0.9)), "misses of its groups"),
        (lambda run: sets_changed(run, misses=(8, 8, 8)), "the thresholds counted the same"),
        times=300, groups=[0, 1],
    ),
    "coverage_decaying": of_sets(
        ("decaying",),
        lambda: run_of(nk.Conformal(nk.Constant(), 0.1, 0.05, 0.0, rule="decaying"),
                       [((1.0,), 1)] * 3500 + [((1.0,), -1)] * 1500),
        lambda run: sets_changed(run, misses=(900,), missed=(900,), after=(810.0 * 0.05 / 30.0,), moved=(0.0,)),
        (lambda run: sets_changed(run, after=(0.9,)), "agree with the thresholds"),
        (lambda run: sets_changed(run, misses=(8,)), "the thresholds counted the same"),
        times=300,
    ),
    "coverage_governed": of_sets(
        ("quantile",), lambda: run_of(nk.Conformal(nk.Constant(), rule=Unmoved()), Contrarian(), 2000),
        lambda run: sets_changed(run, misses=(90,), missed=(90,)),
        (lambda run: sets_changed(run, misses=(8,)), "the governor counted the same"),
    ),
}  # fmt: skip
EVERY = {name: getattr(importlib.import_module(module), name) for name, module in theorems().items()}
every = pytest.mark.parametrize("name", EVERY)


@every
def test_a_theorem_is_declared_once_and_cites_what_its_docstring_does(name):
    theorem = EVERY[name]
    assert isinstance(theorem, DeclaredTheorem)
    assert (theorem.name, theorem.__module__) == (name, theorems()[name])
    told = importlib.import_module(theorem.__module__).__doc__
    assert re.search(rf"^Theorem \({theorem.side}", told, re.MULTILINE)
    assert f"[{theorem.reference}]" in told[told.index("\nReference") :]
    assert theorem.reference in read_references()


def own(name, found):
    """The certificate, which says what was declared."""
    theorem = EVERY[name]
    assert (found.theorem, found.kind, found.side) == (name, theorem.kind, theorem.side)
    assert found.reference == theorem.reference
    assert theorem.quantity in found.quantity or name in ("online_gradient_regret", "voted_risk")
    return found


@every
@settings(max_examples=15)
@given(data=st.data())
def test_it_holds_on_arbitrary_streams(name, data):
    case = CASES[name]
    found = EVERY[name](case.game(data.draw(case.streams)))
    if found is not None:
        assert own(name, found).status in ("valid", "vacuous", "conditional", "void"), str(found)
        assert found.status != "void" or case.unless in found.reason, str(found)


@every
def test_it_says_something(name):
    found = own(name, EVERY[name](CASES[name].game(CASES[name].sample)))
    seldom = name == "cks_cache"  # no more than were put in: where nothing had to leave that says nothing
    assert found.status in ("valid", "conditional") or (seldom and found.status == "vacuous"), str(found)


@every
def test_it_is_met_where_the_status_page_says_so(name):
    said, meets = TIGHT[name], CASES[name].tight
    assert (meets is not None) == said.startswith(("yes", "to ", "for ")), said
    if meets is not None:
        found = own(name, EVERY[name](meets()))
        part = re.match(r"to ([\d.]+) %", said)
        share = float(part[1]) / 100 if part else 1.0 - 1e-7
        assert found.status != "violated"
        least, most = sorted((found.observed, found.bound))
        assert share * most <= least, str(found)


@every
def test_who_breaks_the_promise_is_found_out(name):
    cheat = CASES[name].broken
    assert (cheat is not None) == (EVERY[name].kind == "D")
    if cheat is not None:
        found = own(name, EVERY[name](cheat()))
        assert found.status == "violated", str(found)


@every
def test_it_is_void_where_an_assumption_fails(name):
    assert CASES[name].void or name == "halving_restarts"  # which assumes nothing
    for run, why in CASES[name].void:
        found = own(name, EVERY[name](run()))
        assert (found.status, found.bound) == ("void", None), str(found)
        assert why in found.reason


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.streams is TABLES])
def test_against_one_expert_there_is_nothing_to_lose(name):
    found = EVERY[name](CASES[name].game(np.full((10, 1), 0.25)))
    if name in ("observable_regret", "ix_regret", "tsallis_regret", "ix_pathwise", "tsallis_pathwise"):
        assert found.observed <= found.bound
    elif name == "drawn_loss":
        assert found.observed == 2.5 < found.bound
    else:
        least = 2.5 if name == "small_losses" else 0.0
        assert found.status == "valid"
        assert abs(found.observed - least) < 1e-15
        assert least <= found.bound < least + 1e-8


@every
def test_without_comparators_it_says_nothing(name):
    run = CASES[name].game(CASES[name].sample)
    if getattr(run, "tracked", None) is not None:
        assert EVERY[name](dataclasses.replace(run, tracked=None)) is None
