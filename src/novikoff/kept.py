"""keep: one classifier from an online game, with an upper limit on its error on new examples.

Assumption
    The examples of the game, and the new ones, are independent draws of one distribution. It is trusted, never checked
    for free; the drift test (drift.py) can refute it, and is run wherever the stream is read again.
How
    best      of the longest survivors, the one with the least limit on its risk: each is frozen where it began and
              judged by every example after that, in one further pass over the stream
    random    one drawn uniformly from all hypotheses of the first pass (keeping.py); the limit is on its risk on
              average over that draw
    voted     a vote of all of them (the Perceptron), or of 51 that are drawn (any other learner)
    averaged  the Perceptron with the mean of its weights: often good, and no limit is known
    last      the hypothesis at the end: no limit is known
Cost
    best: a pass that replays the game and asks every candidate about every later row. voted: a pass that replays it.
    The others: none.
Reference
    [cesabianchi2004], [cesabianchi2008], [freund1999].
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.catalog import entry, learner_name
from novikoff.certificate import Assumption, Certificate
from novikoff.certificates.best_risk import best_risk
from novikoff.certificates.ensemble_risk import ensemble_risk
from novikoff.certificates.ensemble_risk_fixed import ensemble_risk_fixed
from novikoff.certificates.risk_facts import BestFacts, EnsembleFacts
from novikoff.certificates.voted_risk import voted_risk
from novikoff.drift import DriftTest
from novikoff.errors import InputError
from novikoff.game import Game, for_learner, labels_of
from novikoff.keeping import Keeping
from novikoff.kernels.coins import coin
from novikoff.learners.perceptron import Perceptron
from novikoff.ledger import RANK, Ledger
from novikoff.types import Batch, Domain, Example, Label, Learner, State, Stream
from novikoff.voting import Drawn, Steps

How = Literal["best", "random", "voted", "averaged", "last"]
HOWS: tuple[How, ...] = ("best", "random", "voted", "averaged", "last")
VOTERS = 51
STEPS = "voted-perceptron"
ROWS_TOGETHER = 65_536
"""Rows of a replay that are played and judged at a time, at most."""

PROMISES = (best_risk, ensemble_risk, ensemble_risk_fixed, voted_risk)
"""The theorems that limit a kept classifier's risk."""

Tell = Callable[[int], None]
"""Called with the rows that a further pass has done."""


@dataclass(frozen=True)
class Kept:
    """A classifier that learns no more.

    how            how it was chosen
    classifier     what predicts: a learner that is not taught any more, or a vote
    certificates   the limits on its risk, the tightest first; none for "averaged" and "last"
    delta          each of them holds with probability 1 - delta
    rounds         examples that it was made from
    index          how many of these it had learned from; None for votes and averages
    wealth         of the drift test: above 20 it refutes independence; None if it was not run
    labels         the values for -1 and +1
    """

    how: How
    classifier: Any
    certificates: tuple[Certificate, ...]
    delta: float
    rounds: int
    index: int | None = None
    wealth: float | None = None
    labels: list[Any] | None = None
    source: str = ""

    def state(self) -> State:
        """All of it, as plain data."""
        voters = self.classifier.voters if isinstance(self.classifier, Drawn) else [self.classifier]
        plain = {name: getattr(self, name) for name in PLAIN}
        return {
            **plain,
            "certificates": [dataclasses.asdict(certificate) for certificate in self.certificates],
            "voters": [[_name(voter), voter.state()] for voter in voters],
            "drawn": isinstance(self.classifier, Drawn),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        """The classifier whose `state` this is."""
        voters = [_classifier(name).restore(saved) for name, saved in state["voters"]]
        certificates = tuple(
            Certificate(**{**told, "assumptions": tuple(Assumption(**one) for one in told["assumptions"])})
            for told in state["certificates"]
        )
        plain = {name: state[name] for name in PLAIN}
        if plain["how"] not in HOWS or not voters or (len(voters) > 1 and not state["drawn"]):
            raise InputError(f"a classifier must be kept in one of the ways {', '.join(HOWS)}: got {plain['how']!r}.")
        return cls(classifier=Drawn(voters) if state["drawn"] else voters[0], certificates=certificates, **plain)

    @property
    def certificate(self) -> Certificate | None:
        """The tightest limit there is."""
        return self.certificates[0] if self.certificates else None

    @property
    def domain(self) -> Domain:
        """What x may be."""
        domain: Domain = self.classifier.domain
        return domain

    def predict_one(self, x: Example) -> Label:
        """The label of x."""
        label: Label = self.classifier.predict_one(x)
        return label

    def label_batch(self, batch: Batch) -> NDArray[Any]:
        """The labels of all rows of a batch."""
        return labels_of(self.classifier, batch)


PLAIN = ("how", "delta", "rounds", "index", "wealth", "labels", "source")


def _name(voter: Any) -> str:
    return STEPS if isinstance(voter, Steps) else learner_name(type(voter))


def _classifier(name: str) -> Any:
    return Steps if name == STEPS else entry(name, "learner").load()


def keep(
    ledger: Ledger, how: How = "best", delta: float = 0.05, stream: Stream | None = None, tell: Tell | None = None
) -> Kept:
    """A classifier from a game that was played with `keep`.

    how      "best" | "random" | "voted" | "averaged" | "last"
    delta    the limits hold with probability 1 - delta
    stream   the stream of the game, which "best" and "voted" read again
    tell     called now and then with the rows done in the further pass
    """
    keeping = ledger.keeping
    if how not in HOWS:
        raise InputError(f"how must be one of {', '.join(HOWS)}: got {how!r}.")
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta must be between 0 and 1: got {delta}.")
    if keeping is None:
        raise InputError("a classifier is kept from a game that remembers its hypotheses: play with keep=50, say.")
    if keeping.rounds == 0:
        raise InputError("a classifier is kept from a game with at least one round: this one has none.")
    if how in ("best", "voted"):
        if stream is None or not stream.rereadable:
            what = "no stream was given" if stream is None else f"{stream.name} cannot be read again"
            raise InputError(f"how={how!r} reads the stream of the game again: {what}. Pass it, or take how='random'.")
        return (_best if how == "best" else _voted)(ledger, keeping, delta, stream, tell)
    if how == "random":
        learner = type(ledger.learner).restore(keeping.drawn)
        limits = _tightest([ensemble_risk(_ensemble(keeping, delta)), _if_fixed(keeping, delta)])
        return _kept(ledger, how, learner, limits, delta, keeping, index=keeping.index)
    if how == "averaged":
        return _kept(ledger, how, _averaged(ledger, keeping), (), delta, keeping)
    return _kept(ledger, how, _frozen(ledger.learner), (), delta, keeping, index=ledger.rounds)


def _kept(ledger: Ledger, how: How, classifier: Any, certificates: tuple[Certificate, ...], delta: float,
          keeping: Keeping, **more: Any) -> Kept:  # fmt: skip
    return Kept(
        how, classifier, certificates, delta, keeping.rounds, labels=ledger.labels, source=ledger.source, **more
    )


def _ensemble(keeping: Keeping, delta: float, test: DriftTest | None = None) -> EnsembleFacts:
    refuted = test is not None and test.alarm
    return EnsembleFacts(
        rounds=keeping.rounds, mistakes=keeping.mistakes, delta=delta, horizon=keeping.fixed,
        independence="refuted" if refuted else "trusted", evidence=test.largest if test is not None else 1.0,
    )  # fmt: skip


def _if_fixed(keeping: Keeping, delta: float, test: DriftTest | None = None) -> Certificate | None:
    """The limit that needs the number of rounds to be fixed in advance."""
    return ensemble_risk_fixed(_ensemble(keeping, delta, test)) if keeping.fixed else None


def _tightest(found: list[Certificate | None]) -> tuple[Certificate, ...]:
    there = [certificate for certificate in found if certificate is not None]
    return tuple(sorted(there, key=lambda c: (RANK[c.status], 2.0 if c.bound is None else c.bound)))


def _frozen(learner: Learner) -> Learner:
    """A copy that is not taught any more."""
    return type(learner).restore(learner.state())


def _averaged(ledger: Ledger, keeping: Keeping) -> Learner:
    if keeping.average is None:
        raise InputError(f"weights are averaged for the Perceptron: {type(ledger.learner).__name__} has none. "
                         "Take how='best' or 'voted'.")  # fmt: skip
    state = keeping.final or ledger.learner.state()
    total = keeping.average.total / keeping.rounds
    weights, own = np.array(state["weights"]), float(state["bias_weight"])
    weights[: len(total) - 1] -= total[:-1]
    return type(ledger.learner).restore({**state, "weights": weights, "bias_weight": own - float(total[-1])})


def replay(
    ledger: Ledger, keeping: Keeping, stream: Stream, stops: list[int], tell: Tell | None = None
) -> Iterator[tuple[Batch, Learner, NDArray[Any]]]:
    """The first pass again, in parts that end at each of `stops` (rounds) at the latest.

    Each part comes with the learner as it was before it, and with what that learner then said in the game.
    """
    learner = type(ledger.learner).restore(keeping.initial)
    game = Game(learner, riding=False)
    waiting = sorted(stop for stop in set(stops) if 0 < stop < keeping.rounds)
    for whole in stream.batches():
        batch = for_learner(whole, stream.labels, learner)
        start, end = 0, min(len(batch), keeping.rounds - game.ledger.rounds)
        while start < end:
            stop = min(start + ROWS_TOGETHER, end)
            if waiting and waiting[0] - game.ledger.rounds <= stop - start:
                stop = start + waiting.pop(0) - game.ledger.rounds
            part = batch.part(start, stop)
            before = _frozen(learner)
            game.ledger.predictions = []
            game.learn_batch(part)
            yield part, before, game.ledger.said()
            start = stop
            if tell:
                tell(game.ledger.rounds)
        if game.ledger.rounds == keeping.rounds:
            break
    if (game.ledger.rounds, game.ledger.mistakes) != (keeping.rounds, keeping.mistakes):
        raise InputError(
            f"a stream must stay as it was in the game: {stream.name} now gives {game.ledger.mistakes:,} mistakes in "
            f"{game.ledger.rounds:,} rounds, and gave {keeping.mistakes:,} in {keeping.rounds:,}. Play again."
        )


@dataclass(eq=False)
class _Candidate:
    """A hypothesis that is judged by all later examples."""

    index: int
    learner: Learner
    errors: int = 0
    trials: int = 0

    def judge(self, batch: Batch) -> None:
        self.errors += int(np.count_nonzero(labels_of(self.learner, batch) != batch.y))
        self.trials += len(batch)


def _best(ledger: Ledger, keeping: Keeping, delta: float, stream: Stream, tell: Tell | None) -> Kept:
    marks = set(keeping.indices())
    test, snapshot = DriftTest(), None
    stops = [*marks, *(test.first * 2**k for k in range(64) if test.first * 2**k < keeping.rounds)]
    candidates: list[_Candidate] = []
    done = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for part, learner, _ in replay(ledger, keeping, stream, stops, tell):
            if done in marks:
                candidates.append(_Candidate(done, learner))
            if done == test.next_snapshot:
                test.refresh()
                snapshot = learner
            list(pool.map(lambda candidate, rows=part: candidate.judge(rows), candidates))
            if snapshot is not None:
                test.see(labels_of(snapshot, part) != part.y)
            done += len(part)
    limits = [(_judged(keeping, candidate, len(candidates), delta, test), candidate) for candidate in candidates]
    certificate, chosen = min(limits, key=lambda pair: (2.0 if pair[0].bound is None else pair[0].bound,
                                                        pair[1].errors / max(pair[1].trials, 1)))  # fmt: skip
    return _kept(ledger, "best", chosen.learner, (certificate,), delta, keeping, index=chosen.index,
                 wealth=test.largest)  # fmt: skip


def _judged(keeping: Keeping, candidate: _Candidate, candidates: int, delta: float, test: DriftTest) -> Certificate:
    return best_risk(
        BestFacts(
            rounds=keeping.rounds, delta=delta, candidates=candidates, first=candidate.index, errors=candidate.errors,
            trials=candidate.trials, mistakes=keeping.mistakes,
            independence="refuted" if test.alarm else "trusted", evidence=test.largest,
        )
    )  # fmt: skip


def _voted(ledger: Ledger, keeping: Keeping, delta: float, stream: Stream, tell: Tell | None) -> Kept:
    test, snapshot, done = DriftTest(), None, 0
    drawn = sorted(coin(keeping.seed, "voters", k) % keeping.rounds for k in range(VOTERS))
    steps = Steps(Perceptron.restore(keeping.initial)) if isinstance(ledger.learner, Perceptron) else None
    voters: list[Learner] = []
    stops = [*(drawn if steps is None else ()), *(test.first * 2**k for k in range(64))]
    for part, learner, said in replay(ledger, keeping, stream, stops, tell):
        if steps is not None:
            steps.add(part, np.flatnonzero(said != part.y))
        else:
            voters += [learner] * drawn.count(done)
        if done == test.next_snapshot:
            test.refresh()
            snapshot = learner
        if snapshot is not None:
            test.see(labels_of(snapshot, part) != part.y)
        done += len(part)
    limits = _tightest([voted_risk(_ensemble(keeping, delta, test))])
    return _kept(ledger, "voted", steps or Drawn(voters), limits, delta, keeping, wealth=test.largest)
