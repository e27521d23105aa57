"""keep: one classifier from an online game, with an upper limit on its error on new examples.

Assumption
    The examples of the game, and the new ones, are independent draws of one distribution. It is trusted, never checked
    for free; the drift test (drift/monitor.py) can refute it, and is run wherever the stream is read again.
How
    best      of the longest survivors, the one with the least limit on its risk: each is frozen where it began and
              judged by every example after that, in one further pass over the stream
    random    one drawn uniformly from all hypotheses of the first pass (reservoir.py); the limit is on its risk on
              average over that draw: the one that was drawn may be worse. Of a learner with probabilities the
              expected Brier score is limited too; log loss is not bounded, and has no such limit
    voted     a vote of all of them (the Perceptron), or of 51 that are drawn (any other learner: the limit is then one
              on average over that draw too)
    averaged  the Perceptron with the mean of its weights: often good, and no limit is known; or the mean of the weights
              of a learner of numbers with a convex loss: its expected loss is limited, twice, by delta/2 each. Not of
              learners with probabilities: log loss is convex in their weights but not bounded, so no limit would follow
    last      the hypothesis at the end: no limit is known
Delta
    Each classifier's limits fail with chance delta at most. To keep the one with the smallest limit of several ways,
    ask for delta divided by how many they are.
Cost
    best: a pass that replays the game and asks every candidate about every later row; on Ray that is asked in stretches
    of the stream at once (scoring.py). voted: a pass that replays it.
    The others: none.
Reference
    [cesabianchi2004], [cesabianchi2008], [freund1999].
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.convex.theorems.average_risk import average_risk
from novikoff.convex.theorems.average_risk_always import average_risk_always
from novikoff.core.certificate import RANK, Assumption, Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import Advice, InputError, Option, named, shown
from novikoff.core.executors import Executor, Threads, executor
from novikoff.core.learner import Learner, adapt, check_batch
from novikoff.core.registry import entry, learner_name
from novikoff.core.state import require
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Example, Run, State
from novikoff.data.as_stream import as_stream
from novikoff.data.tables.alignment import adopted, adopted_row
from novikoff.data.tables.encoding import Encoding
from novikoff.drift.monitor import ALPHA, DriftTest
from novikoff.game.game import users_labels
from novikoff.game.ledger import Ledger
from novikoff.game.reservoir import Average, HypothesisReservoir
from novikoff.numerics.coins import coin
from novikoff.online_to_batch.replay import Tell, frozen, replay
from novikoff.online_to_batch.scoring import Place, judged, stretches
from novikoff.online_to_batch.theorems.best_risk import best_risk
from novikoff.online_to_batch.theorems.best_risk import limit as best_limit
from novikoff.online_to_batch.theorems.ensemble_risk import ensemble_risk
from novikoff.online_to_batch.theorems.ensemble_risk_fixed import WHEN as FIXED
from novikoff.online_to_batch.theorems.ensemble_risk_fixed import ensemble_risk_fixed
from novikoff.online_to_batch.theorems.held_risk import limit as held_limit
from novikoff.online_to_batch.theorems.risk_facts import BestFacts, EnsembleFacts, HeldFacts, ensemble_limit
from novikoff.online_to_batch.theorems.voted_risk import voted_risk
from novikoff.online_to_batch.voting import RandomVote, VotedPerceptron

Method = Literal["best", "random", "voted", "averaged", "last", "held"]
METHODS: tuple[Method, ...] = ("best", "random", "voted", "averaged", "last")
VOTERS = 51
STEPS = "voted perceptron"  # with a space: no learner can be registered by that name
PROMISES = (best_risk, ensemble_risk, ensemble_risk_fixed, voted_risk)
"""The theorems that limit a kept classifier's risk."""
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class OnlineToBatch(Shown):
    """A classifier that learns no more.

    how            how it was chosen; "held": by its errors on rows held back (mixing.py)
    classifier     what predicts: a learner that is not taught any more, or a vote
    certificates   the limits on its risk; none for "last" and for an average of classifiers
    delta          the chance that the first of them fails
    rounds         examples that it was made from
    index          how many of these it had learned from; None for votes and averages
    wealth         the most of the drift test, which may refute independence (`refuted`); None if it was not run
    labels         the values for -1 and +1
    feature_names  of the columns that the learner learned from, if they have names
    encoding       how the columns of the table that it learned from become features; None if it was no table
    """

    how: Method
    classifier: Any
    certificates: tuple[Certificate, ...]
    delta: float
    rounds: int
    index: int | None = None
    wealth: float | None = None
    labels: list[Any] | None = None
    source: str = ""
    feature_names: list[str] | None = None
    encoding: Encoding | None = None

    @property
    def refuted(self) -> bool:
        """Did the drift test refute that the examples are independent draws of one distribution?"""
        return self.wealth is not None and self.wealth * ALPHA >= 1.0

    def state(self) -> State:
        voters = self.classifier.voters if isinstance(self.classifier, RandomVote) else [self.classifier]
        plain = {name: getattr(self, name) for name in PLAIN}
        return {
            **plain,
            "certificates": [dataclasses.asdict(certificate) for certificate in self.certificates],
            "voters": [[_name(voter), voter.state()] for voter in voters],
            "drawn": isinstance(self.classifier, RandomVote),
            "encoding": None if self.encoding is None else self.encoding.state(),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        voters = [_classifier(name).restore(saved) for name, saved in state["voters"]]
        certificates = tuple(
            Certificate(**{**told, "assumptions": tuple(Assumption(**one) for one in told["assumptions"])})
            for told in state["certificates"]
        )
        plain = {name: state[name] for name in PLAIN}
        _check_saved(plain, certificates, adapt(voters[0]).numbered if voters else False)
        if plain["how"] not in (*METHODS, "held") or not voters or (len(voters) > 1 and not state["drawn"]):
            raise InputError(
                f"a classifier must be kept in one of the ways {', '.join(METHODS)}: got {plain['how']!r}."
            )
        encoding = None if state["encoding"] is None else Encoding.restore(state["encoding"])
        classifier = RandomVote(voters) if state["drawn"] else voters[0]
        return cls(classifier=classifier, certificates=certificates, encoding=encoding, **plain)

    @property
    def certificate(self) -> Certificate | None:
        """The limit to rely on."""
        return self.certificates[0] if self.certificates else None

    @property
    def drawn(self) -> bool:
        """Was it drawn? Then limits are on its risk on average over the draw: this one's may be larger."""
        return self.how == "random" or isinstance(self.classifier, RandomVote)

    @property
    def domain(self) -> Domain:
        """What x may be."""
        domain: Domain = self.classifier.domain
        return domain

    def predict_one(self, x: Example) -> Any:
        """The label of x, as the user calls it."""
        said = self.classifier.predict_one(adopted_row(x, self.encoding, self.feature_names))
        labels = users_labels(self.classifier, self.labels)
        return said if labels is None else labels.decode(said)

    def predict_many(self, batch: Batch) -> NDArray[Any]:
        """The labels of all rows of a batch, -1 and +1 as its own are."""
        check_batch(self.encoding, batch)
        return adapt(self.classifier).predict_many(batch)


PLAIN = ("how", "delta", "rounds", "index", "wealth", "labels", "source", "feature_names")


def _check_saved(plain: State, certificates: tuple[Certificate, ...], multiclass: bool) -> None:
    """Refuse a file whose promises cannot be ours. `many`: its labels are numbered."""
    delta, wealth, labels = plain["delta"], plain["wealth"], plain["labels"]
    require(type(delta) is float and 0.0 < delta < 1.0, "delta must be a chance between 0 and 1", delta)
    require(type(plain["rounds"]) is int and plain["rounds"] > 0, "rounds must be a whole number", plain["rounds"])
    require(wealth is None or (type(wealth) is float and 0.0 <= wealth < math.inf), "wealth must be a number", wealth)
    sound = labels is None or (isinstance(labels, list) and (multiclass or len(labels) == 2))
    require(sound, "labels must be many" if multiclass else "labels must be two", labels)
    names = plain["feature_names"]
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(names is None or texts, "feature_names must be texts", names)
    for one in certificates:
        require(one.status in RANK and one.kind == "P", "a limit must have a status, and be of kind P", one.status)
        bound, most = one.bound, LARGEST if one.quantity == "risk of the average" else 1.0
        sound = bound is None if one.status == "void" else type(bound) in (int, float) and 0.0 <= bound <= most  # type: ignore[operator]
        require(sound, f"a limit must be a number from 0 to {most}, or none if it is void", bound)
        require(0.0 <= one.observed <= most, f"a risk must be from 0 to {most}", one.observed)
        vacuous = bound is not None and bound >= one.trivial
        require(vacuous == (one.status == "vacuous"), "a limit of 1 must be called vacuous, and no other", bound)
        if bound is not None:
            require(one.observed <= bound, "a limit must not be below the risk in the run", bound)
            proved = _proved(one, plain)
            require(proved is None or bound == proved, f"a limit must be what {one.theorem} proves, {proved}", bound)


def _proved(one: Certificate, plain: State) -> float | None:
    """Evaluate the theorem of a limit again on the counts beside it; None where these do not determine the limit."""
    told: Mapping[str, Any] = one.quantities  # of a file: the limit that follows from them is compared
    if one.theorem not in ("ensemble_risk", "ensemble_risk_fixed", "voted_risk", "best_risk", "held_risk"):
        return None
    delta = told["delta"]
    judged = next(told[name] for name in ("errors", "brier", "mistakes") if name in told)
    trials = told["trials"] if "trials" in told else told["rounds"]
    require(delta == plain["delta"], "the chance that a limit fails must be that of the classifier", delta)
    require(one.observed == judged / trials, f"a risk must be {judged} of {trials}", one.observed)
    if one.theorem == "held_risk":
        return min(held_limit(HeldFacts(told["candidates"], 1, judged, trials, delta)), 1.0)
    require(told["rounds"] == plain["rounds"], "a limit must be of the classifier's rounds", told["rounds"])
    fixed = told["when"] == FIXED
    if one.theorem == "best_risk":
        require(told["first"] == plain["index"], "a limit must be of the hypothesis kept", told["first"])
        require(trials == told["rounds"] - told["first"], "a hypothesis is judged by all rounds after it", trials)
        return min(best_limit(judged, trials, told["first"], told["rounds"], delta, fixed), 1.0)
    limit = ensemble_limit(EnsembleFacts(trials, judged, delta, fixed))
    return min(2.0 * limit if one.theorem == "voted_risk" else limit, 1.0)


def _name(voter: Any) -> str:
    return STEPS if isinstance(voter, VotedPerceptron) else learner_name(type(voter))


def _classifier(name: str) -> Any:
    return VotedPerceptron if name == STEPS else entry(name, "learner").load()


def keep(
    ledger: Ledger, how: Method = "best", delta: float = 0.05, stream: object = None, tell: Tell | None = None,
    on: str | Executor = "threads", threads: int | None = None,
) -> OnlineToBatch:  # fmt: skip
    """A classifier from a game that was played with `keep`.

    how      "best" | "random" | "voted" | "averaged" | "last"
    delta    the limits hold with probability 1 - delta
    stream   the stream of the game, which "best" and "voted" read again: what `play` took
    tell     called now and then with the rows done in the further pass
    on       who judges the candidates of "best": "threads" and how many, "ray", or the address of a cluster of Ray
    """
    given: Any = ledger
    if not isinstance(given, Ledger):
        do = "Pass ledger = nk.play(learner, source, keep=50)."
        raise InputError("a classifier is kept from the ledger of a game", f"got {named(given)}", do)
    reservoir = ledger.reservoir
    if how not in METHODS:
        raise InputError(f"how must be one of {', '.join(METHODS)}: got {how!r}.")
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0:
        raise InputError(f"delta must be a chance between 0 and 1: got {shown(delta)}. Take 0.05 if in doubt.")
    if reservoir is None:
        raise InputError("a classifier is kept from a game that remembers its hypotheses: play with keep=50, say.")
    if reservoir.rounds == 0:
        raise InputError("a classifier is kept from a game with at least one round: this one has none.")
    check_method(how, ledger.learner)
    if how in ("best", "voted"):
        again = None if stream is None else as_stream(stream, ledger.learner)
        if again is None or not again.rereadable:
            what = "no stream was given" if again is None else f"{again.name} cannot be read again"
            raise InputError(f"how={how!r} reads the stream of the game again: {what}. Pass it, or take how='random'.")
        if how == "best":
            return _best(ledger, reservoir, delta, again, tell, executor(on, threads))
        return _voted(ledger, reservoir, delta, again, tell)
    if how == "random":
        learner, facts = type(ledger.learner).restore(reservoir.drawn), _ensemble_of(ledger, reservoir, delta)
        scored = () if reservoir.brier is None else (dataclasses.replace(facts, mistakes=reservoir.brier, brier=True),)
        theorems = (ensemble_risk_fixed, ensemble_risk) if reservoir.fixed else (ensemble_risk,)
        limits = tuple(theorem(one) for one in (facts, *scored) for theorem in theorems)
        return _kept(ledger, how, learner, limits, delta, reservoir, index=reservoir.index)
    if how == "averaged" and not reservoir.labelled:
        return _kept(ledger, how, *_averaged_numbers(ledger, reservoir, delta), delta, reservoir)
    if how == "averaged":
        again = None if stream is None else as_stream(stream, ledger.learner)
        return _kept(ledger, how, _averaged(ledger, reservoir, again, tell), (), delta, reservoir)
    return _kept(ledger, how, frozen(ledger.learner), (), delta, reservoir, index=ledger.rounds)


BEST_OR_VOTED = Advice(Option("how", "best"), " or ", Option("how", "voted"))


def check_method(how: Method, learner: Learner) -> None:
    """Refuse what cannot be kept of this learner."""
    name = type(learner).__name__
    player = adapt(learner)
    if player.outcomes == "numbers":
        if how != "averaged" and player.averages:
            raise InputError(
                f"{how} keeps a classifier",
                f"{name} predicts numbers",
                Advice("Take ", Option("how", "averaged"), "."),
            )
    elif how == "averaged" and player.changes_examples:
        raise InputError(
            "weights are averaged for the Perceptron on examples as they are",
            "this one scales them, each by those before it",
            Advice("Take ", BEST_OR_VOTED, ", or ", Option("scale", letter="none"), "."),
        )
    elif how == "averaged" and not player.sums_mistakes:
        raise InputError(
            "weights are averaged for the Perceptron of two labels",
            f"those of {name}, if it has any, are not added up",
            Advice("Take ", BEST_OR_VOTED, "."),
        )


def _kept(ledger: Ledger, how: Method, classifier: Any, certificates: tuple[Certificate, ...], delta: float,
          reservoir: HypothesisReservoir, **more: Any) -> OnlineToBatch:  # fmt: skip
    return OnlineToBatch(
        how, classifier, certificates, float(delta), reservoir.rounds, labels=ledger.labels, source=ledger.source,
        feature_names=ledger.feature_names, encoding=ledger.encoding, **more,
    )  # fmt: skip


def _ensemble(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, test: DriftTest | None = None, drawn: bool = False
) -> EnsembleFacts:
    refuted = test is not None and test.alarm
    copies = ledger.weighted is not None
    return EnsembleFacts(
        rounds=reservoir.rounds, mistakes=reservoir.mistakes, delta=delta, horizon=reservoir.fixed,
        independence="refuted" if refuted else "trusted", evidence=test.largest if test is not None else 1.0,
        drawn=drawn, copies=copies,
    )  # fmt: skip


def _ensemble_of(ledger: Ledger, reservoir: HypothesisReservoir, delta: float) -> EnsembleFacts:
    """Of a game that is not read again: with the test of drift that watched it, if one did."""
    test = None if ledger.drift is None else ledger.drift.test
    return dataclasses.replace(_ensemble(ledger, reservoir, delta, test), late=ledger.late is not None)


def _averaged(ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream | None, tell: Tell | None) -> Learner:
    average = reservoir.average
    if average is None:
        if stream is None or not stream.rereadable:
            raise InputError(
                "an average is added up as the game is played, or from a stream that can be read again: pass the "
                "stream, or play with keep=HypothesisReservoir(learner, averaging=True)."
            )
        average, done = Average(ledger.learner), 0
        for part, _, said in replay(ledger, reservoir, stream, [], tell):
            average.add(part, np.flatnonzero(said != part.y), done)
            done += len(part)
    learner: Any = type(ledger.learner).restore(reservoir.final) if reservoir.final is not None else ledger.learner
    averaged: Learner = learner.less(average.total / reservoir.rounds)
    return averaged


def _averaged_numbers(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float
) -> tuple[Learner, tuple[Certificate, ...]]:
    """A learner whose weights are the mean, and two limits at delta/2 each: the smaller holds with 1 - delta."""
    learner: Any = ledger.learner
    if reservoir.final is not None or ledger.passes > 1:
        raise InputError(f"an average of numbers is kept from one pass: this game had {ledger.passes}. Play one.")
    run: Run[Any] = Run(
        before=ledger.before, after=learner.facts(), rounds=ledger.rounds, mistakes=0, expected=ledger.expected,
        constants=(0, ledger.rounds), adaptive=False, deterministic=ledger.deterministic, loss=ledger.loss,
        squares=ledger.squares, fixed=ledger.fixed, repeated=ledger.repeated or ledger.weighted is not None,
    )  # fmt: skip
    return learner.mean(), average_limits(run, delta, reservoir.fixed)


def average_limits(run: Run[Any], delta: float, fixed: bool) -> tuple[Certificate, ...]:
    """The limits on the risk of an average, the smaller first; fixed: were its rounds fixed in advance?"""
    half = delta / 2.0
    found = (average_risk(run, half) if fixed else None, average_risk_always(run, half))
    limits = (limit for limit in found if limit is not None)
    return tuple(sorted(limits, key=lambda limit: (RANK[limit.status], limit.bound or 0.0)))


def _again(
    ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream, stops: list[int], test: DriftTest,
    tell: Tell | None, places: list[Any] | None = None,
) -> Iterator[tuple[int, Batch, Learner | None, NDArray[Any]]]:  # fmt: skip
    """The first pass again, watched by the test of drift: rounds before, rows, the learner at a stop, what was said."""
    snapshot, done = None, 0
    looks = (test.first * 2**k for k in range(64))
    for part, learner, said in replay(ledger, reservoir, stream, [*stops, *looks], tell, places):
        if done == test.next_snapshot and ledger.weighted is None:  # copies of a row are not exchangeable with others
            test.refresh()
            snapshot = None if learner is None else adapt(learner)
        yield done, part, learner, said
        if snapshot is not None:
            test.see(snapshot.predict_many(part) != part.y)
        done += len(part)


@dataclass(eq=False)
class _Candidate:
    """A hypothesis that is judged by all later examples."""

    index: int
    learner: Learner
    errors: int = 0
    trials: int = 0

    def judge(self, batch: Batch) -> None:
        self.errors += int(np.count_nonzero(self.learner.predict_many(batch) != batch.y))
        self.trials += len(batch)


def _judge(candidates: list[_Candidate], batch: Batch, pool: ThreadPoolExecutor) -> None:
    if isinstance(batch.x, list):  # single rows are not worth a thread
        for candidate in candidates:
            candidate.judge(batch)
    else:
        list(pool.map(lambda candidate: candidate.judge(batch), candidates))


def _best(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, stream: Stream, tell: Tell | None, who: Executor
) -> OnlineToBatch:
    marks, test = set(reservoir.indices()), DriftTest()
    candidates: list[_Candidate] = []
    places: list[Place] = [(0, None)]
    with ThreadPoolExecutor(who.count if isinstance(who, Threads) else 1) as pool:
        for done, part, learner, _ in _again(ledger, reservoir, stream, [*marks], test, tell, places):
            if learner is not None and done in marks:
                candidates.append(_Candidate(done, adapt(learner)))
            if isinstance(who, Threads):  # who read it judges by it; others read it themselves, in stretches
                _judge(candidates, part, pool)
    if not isinstance(who, Threads):
        seen, rounds = adopted(stream, ledger.encoding, ledger.feature_names), reservoir.rounds
        found = [(one.index, one.learner) for one in candidates]
        errors = judged(seen, found, ledger.labels or (), stretches(places, rounds), who)
        for one, wrong in zip(candidates, errors, strict=True):
            one.errors, one.trials = wrong, rounds - one.index
    # Compared by their limits even where a drift makes them void: the rate of errors alone prefers those judged least.
    chosen = min(candidates, key=lambda one: (best_limit(one.errors, one.trials, one.index, reservoir.rounds, delta,
                                                         reservoir.fixed), one.index))  # fmt: skip
    facts = BestFacts(
        rounds=reservoir.rounds, delta=delta, candidates=len(candidates), first=chosen.index, errors=chosen.errors,
        trials=chosen.trials, mistakes=reservoir.mistakes, horizon=reservoir.fixed,
        independence="refuted" if test.alarm else "trusted", evidence=test.largest, copies=ledger.weighted is not None,
    )  # fmt: skip
    return _kept(ledger, "best", chosen.learner.original, (best_risk(facts),), delta, reservoir, index=chosen.index,
                 wealth=_wealth(ledger, test))  # fmt: skip


def _voted(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, stream: Stream, tell: Tell | None
) -> OnlineToBatch:
    test = DriftTest()
    drawn = sorted(coin(reservoir.seed, "voters", k) % reservoir.rounds for k in range(VOTERS))
    first: Any = type(ledger.learner).restore(reservoir.initial)
    steps = VotedPerceptron(first) if ledger.player.sums_mistakes else None
    voters: list[Learner] = []
    for done, part, learner, said in _again(ledger, reservoir, stream, drawn if steps is None else [], test, tell):
        if steps is not None:
            steps.add(part, np.flatnonzero(said != part.y))
        elif learner is not None:
            voters += [learner] * drawn.count(done)
    limit = voted_risk(_ensemble(ledger, reservoir, delta, test, drawn=steps is None))
    return _kept(ledger, "voted", steps or RandomVote(voters), (limit,), delta, reservoir, wealth=_wealth(ledger, test))


def _wealth(ledger: Ledger, test: DriftTest) -> float | None:
    """The most of a test of drift; None of a weighted game, in which it was not run."""
    return test.largest if ledger.weighted is None else None
