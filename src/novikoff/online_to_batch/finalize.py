"""finalize: turn a finished online game into one classifier, with an upper bound on its error rate on new examples.

Assumption
    The examples of the game and the new ones are independent draws from one distribution. This is trusted, not
    checked; the drift test (drift/monitor.py) can refute it, and runs whenever the stream is read again.
How
    best      the longest-surviving hypothesis with the smallest risk bound: each candidate is frozen where it began and
              tested on every later example, in one further pass over the stream
    random    one hypothesis drawn uniformly from all of the first pass (reservoir.py); the bound is on its risk on
              average over the draw: the one drawn may be worse. For a probabilistic learner the expected Brier score is
              bounded too; log loss is unbounded and has no such bound
    voted     a vote of all hypotheses (the Perceptron), or of 51 drawn ones (any other learner: the bound is then also
              on average over the draw)
    averaged  the Perceptron with the mean of its weights: often good, but no bound is known; or the mean of the weights
              of a regression learner with a convex loss: its expected loss is bounded twice, at delta/2 each. Not for
              probabilistic learners: log loss is convex in their weights but unbounded, so no bound would follow
    last      the final hypothesis: no bound is known
Delta
    The bounds of each classifier fail with probability at most delta. To keep the smallest bound of several methods,
    divide delta by their number.
Cost
    best: a pass that replays the game and runs every candidate on every later row; on Ray the stretches of the stream
    are scored in parallel (scoring.py). voted: a pass that replays the game. Others: none.
Reference
    [cesabianchi2004], [cesabianchi2008], [freund1999].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.convex.theorems.average_risk import average_risk
from novikoff.convex.theorems.average_risk_always import average_risk_always
from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts
from novikoff.core.adapt import adapt, adapt_predictor
from novikoff.core.certificate import RANK, Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import Advice, InputError, Option, counted, named, shown
from novikoff.core.executors import Executor, Threads, executor
from novikoff.core.learner import Learner, Predictor, check_batch
from novikoff.core.registry import entry, learner_name
from novikoff.core.state import Choice, Count, Field, Number, Value, Values, require
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Example, LabelValue, Run, Source, State
from novikoff.data.as_stream import as_stream
from novikoff.data.tables.alignment import adopted, adopted_row
from novikoff.data.tables.encoding import Encoding
from novikoff.drift.monitor import ALPHA, DriftTest
from novikoff.game.game import users_labels
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import restored_certificate
from novikoff.game.reservoir import Average, HypothesisReservoir, SumsMistakes
from novikoff.linear.perceptron import Perceptron
from novikoff.numerics.coins import coin
from novikoff.online_to_batch.replay import Tell, replay
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
"""Methods of `finalize`."""
VOTERS = 51
"""Number of hypotheses that vote if all of them cannot."""
STEPS = "voted perceptron"
"""Name of a `VotedPerceptron` in model files; it has a space, so no learner can be registered by that name."""
PROMISES = (best_risk, ensemble_risk, ensemble_risk_fixed, voted_risk)
"""Theorems that bound the risk of a final classifier."""
LARGEST = float(np.finfo(np.float64).max)
"""Largest finite float."""


@dataclass(frozen=True)
class OnlineToBatch(Shown):
    """A classifier that no longer learns, made from an online game.

    Attributes:
        how: Method by which it was chosen; "held" for the fewest errors on held-out rows (mixing.py).
        classifier: A frozen learner of the class that the caller passed, or a vote.
        certificates: Bounds on its risk; empty for "last" and for an average of classifiers.
        delta: Probability that the first certificate fails.
        rounds: Number of examples of the game.
        index: Number of these from which it had learned; None for votes and averages.
        wealth: Largest wealth of the drift test, which may refute independence (`refuted`); None if it was not run.
        labels: Original values of the labels -1 and +1.
        source: Name of the source.
        feature_names: Names of the columns that the learner was trained on, if they have any.
        encoding: Mapping from table columns to features; None if the source was not a table.
    """

    key: ClassVar[Literal["kept", "mixed"]] = "kept"

    how: Method
    classifier: Predictor
    certificates: tuple[Certificate, ...]
    delta: float
    rounds: int
    index: int | None = None
    wealth: float | None = None
    labels: list[LabelValue] | None = None
    source: str = ""
    feature_names: list[str] | None = None
    encoding: Encoding | None = None

    def __repr__(self) -> str:
        first, source = self.certificate, f" on {self.source}" if self.source else ""
        bound = "no bound" if first is None or first.bound is None else f"{first.quantity} <= {first.bound:.4g}"
        status = "" if first is None else f", {first.status}"
        rounds = counted(self.rounds, "round")
        return f"<OnlineToBatch {self.how} of {self.classifier!r}{source}, {rounds}: {bound}{status}>"

    @property
    def refuted(self) -> bool:
        """Whether the drift test refuted that the examples are independent draws from one distribution."""
        return self.wealth is not None and self.wealth * ALPHA >= 1.0

    def state(self) -> State:
        voters = _voters(self.predictor)
        return {
            **{field.name: field.saved(self) for field in PLAIN},
            "certificates": [dataclasses.asdict(certificate) for certificate in self.certificates],
            "voters": [[_name(voter), voter.state()] for voter in voters],
            "drawn": isinstance(self.classifier, RandomVote),
            "encoding": None if self.encoding is None else self.encoding.state(),
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the classifier with this `state`; written by hand, because its bounds are recomputed."""
        plain: State = {field.name: field.restored(state, None, "a classifier") for field in PLAIN}
        voters = [_restored(name, saved) for name, saved in state["voters"]]
        kinds = sorted({type(voter).__name__ for voter in voters})
        drawn = [voter for voter in voters if isinstance(voter, Learner)] if state["drawn"] else []
        sound = len(kinds) == 1 and len(voters) == (len(drawn) if state["drawn"] else 1)
        require(sound, "voters must be of one kind", kinds)
        certificates = tuple(map(restored_certificate, state["certificates"]))
        _check_saved(plain, certificates, voters[0].numbered)
        encoding = None if state["encoding"] is None else Encoding.restore(state["encoding"])
        classifier = RandomVote(drawn) if drawn else voters[0]
        return cls(
            classifier=cast(Predictor, classifier.original), certificates=certificates, encoding=encoding, **plain
        )

    @property
    def certificate(self) -> Certificate | None:
        """Certificate to rely on; None if there is none."""
        return self.certificates[0] if self.certificates else None

    @property
    def drawn(self) -> bool:
        """Whether it was drawn at random: its bounds then hold on average over the draw, and its risk may be larger."""
        return self.how == "random" or isinstance(self.classifier, RandomVote)

    @cached_property
    def predictor(self) -> Predictor:
        """The classifier, adapted."""
        return adapt_predictor(self.classifier)

    @property
    def rows_held(self) -> int:
        """Number of training rows in its hypotheses."""
        return self.predictor.all_rows_held

    @property
    def domain(self) -> Domain:
        """Domain of the examples x."""
        return self.predictor.domain

    def predict_one(self, x: Example) -> LabelValue:
        """Return the predicted label of x, as an original label value."""
        prediction = self.predictor.predict_one(adopted_row(x, self.encoding, self.feature_names))
        labels = users_labels(self.predictor, self.labels)
        return prediction if labels is None else labels.decode(prediction)

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        """Return the predicted label of every row of a batch, in the batch's internal labels."""
        check_batch(self.encoding, batch)
        return self.predictor.predict_many(batch)


PLAIN: tuple[Field, ...] = (
    Choice("how", (*METHODS, "held")),
    Number("delta", 5e-324, 1.0 - 2.0**-53),
    Count("rounds", 1),
    Count("index", optional=True),
    Number("wealth", 0.0, optional=True),
    Values("labels", str | int | float | bool | None, optional=True),
    Value("source", str),
    Values("feature_names", str, optional=True),
)
"""Fields of `OnlineToBatch` that are saved without conversion."""


def _check_saved(plain: State, certificates: tuple[Certificate, ...], multiclass: bool) -> None:
    """Raise an error if a saved classifier has invalid fields or certificates."""
    labels = plain["labels"]
    require(labels is None or multiclass or len(labels) == 2, "a classifier must have two labels", labels)
    for one in certificates:
        require(one.status in RANK and one.kind == "P", "a risk bound must have a known status and kind P", one.status)
        bound, most = one.bound, LARGEST if one.quantity == "risk of the average" else 1.0
        sound = bound is None if one.status == "void" else type(bound) in (int, float) and 0.0 <= bound <= most  # type: ignore[operator]
        require(sound, f"a risk bound must be a number from 0 to {most}, or null if it is void", bound)
        require(0.0 <= one.observed <= most, f"an observed risk must be from 0 to {most}", one.observed)
        vacuous = bound is not None and bound >= one.trivial
        require(vacuous == (one.status == "vacuous"), "a risk bound must be vacuous exactly if it is trivial", bound)
        if bound is not None:
            require(one.observed <= bound, "a risk bound must not be below the observed risk", bound)
            proved = _proved(one, plain)
            require(proved is None or bound == proved, f"a risk bound must be that of {one.theorem}, {proved}", bound)


def _proved(one: Certificate, plain: State) -> float | None:
    """Recompute the bound of a saved certificate from its quantities; None if they do not determine it."""
    saved: Mapping[str, Any] = one.quantities  # from a file: the bound that follows from them is compared
    if one.theorem not in ("ensemble_risk", "ensemble_risk_fixed", "voted_risk", "best_risk", "held_risk"):
        return None
    delta = saved["delta"]
    judged = next(saved[name] for name in ("errors", "brier", "mistakes") if name in saved)
    trials = saved["trials"] if "trials" in saved else saved["rounds"]
    require(delta == plain["delta"], "delta of a risk bound must be that of the classifier", delta)
    require(one.observed == judged / trials, f"an observed risk must be {judged} of {trials}", one.observed)
    if one.theorem == "held_risk":
        return min(held_limit(HeldFacts(saved["candidates"], 1, judged, trials, delta)), 1.0)
    require(saved["rounds"] == plain["rounds"], "a risk bound must have the classifier's rounds", saved["rounds"])
    fixed = saved["when"] == FIXED
    if one.theorem == "best_risk":
        require(saved["first"] == plain["index"], "a risk bound must be that of the hypothesis", saved["first"])
        require(trials == saved["rounds"] - saved["first"], "a hypothesis must be tested on all later rounds", trials)
        return min(best_limit(judged, trials, saved["first"], saved["rounds"], delta, fixed), 1.0)
    limit = ensemble_limit(EnsembleFacts(trials, judged, delta, fixed))
    return min(2.0 * limit if one.theorem == "voted_risk" else limit, 1.0)


def _voters(classifier: Predictor) -> Sequence[VotedPerceptron | Learner]:
    """Return the hypotheses of a vote, or the classifier alone."""
    if isinstance(classifier, RandomVote):
        return classifier.voters
    assert isinstance(classifier, (VotedPerceptron, Learner))  # there are no other final classifiers
    return [classifier]


def _name(voter: VotedPerceptron | Learner) -> str:
    return STEPS if isinstance(voter, VotedPerceptron) else learner_name(type(voter.original))


def _restored(name: str, state: State) -> VotedPerceptron | Learner:
    """Return the hypothesis whose `_name` this is, with its saved state."""
    if name == STEPS:
        return VotedPerceptron.restore(state)
    kind: Any = entry(name, "learner").load()
    return adapt(kind.restore(state))


def finalize(
    ledger: Ledger, how: Method = "best", delta: float = 0.05, stream: Source | None = None, tell: Tell | None = None,
    on: str | Executor = "threads", threads: int | None = None,
) -> OnlineToBatch:  # fmt: skip
    """Turn a finished game into a classifier with a risk bound.

    Args:
        ledger: Ledger of a game played with `candidates`, as in `nk.play(learner, source, candidates=50)`.
        how: "best", "random", "voted", "averaged" or "last"; `novikoff.online_to_batch.finalize` explains each.
        delta: Probability that the risk bound may fail.
        stream: Source of the game, as passed to `play`; required by "best" and "voted", which read it again.
        tell: Callback that receives the number of rows done in the further pass.
        on: Executor that tests the candidates of "best": "threads", "ray", or the address of a Ray cluster.
        threads: Number of threads; None for one per core.

    Returns:
        The classifier with its certificates; it predicts with `predict_one` and `predict_many`.

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 50
        >>> game = nk.play(nk.Perceptron(), rows, candidates=10)
        >>> kept = nk.finalize(game, how="best", delta=0.05, stream=rows)
        >>> kept.predict_one([0.0, 1.0])
        1
    """
    given: object = ledger
    if not isinstance(given, Ledger):
        do = "Pass ledger = nk.play(learner, source, candidates=50)."
        raise InputError("finalize needs the ledger of a game", f"got {named(given)}", do)
    reservoir = ledger.reservoir
    if how not in METHODS:
        raise InputError(f"how must be one of {', '.join(METHODS)}: got {how!r}.")
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0:
        raise InputError(f"delta must be a probability between 0 and 1: got {shown(delta)}. 0.05 is usual.")
    if reservoir is None:
        raise InputError("finalize needs a game that stores hypotheses: play with candidates=50, for example.")
    if reservoir.rounds == 0:
        raise InputError("finalize needs a game with at least one round: this one has none.")
    check_method(how, ledger.player)
    if how in ("best", "voted"):
        again = None if stream is None else as_stream(stream, ledger.player)
        if again is None or not again.rereadable:
            what = "no stream was given" if again is None else f"{again.name} cannot be read again"
            raise InputError(f"how={how!r} reads the stream of the game again: {what}. Pass it, or use how='random'.")
        if how == "best":
            return _best(ledger, reservoir, delta, again, tell, executor(on, threads))
        return _voted(ledger, reservoir, delta, again, tell)
    if how == "random":
        learner, facts = ledger.player.from_state(reservoir.drawn), _ensemble_of(ledger, reservoir, delta)
        scored = () if reservoir.brier is None else (dataclasses.replace(facts, mistakes=reservoir.brier, brier=True),)
        theorems = (ensemble_risk_fixed, ensemble_risk) if reservoir.fixed else (ensemble_risk,)
        limits = tuple(theorem(one) for one in (facts, *scored) for theorem in theorems)
        return _kept(ledger, how, learner, limits, delta, reservoir, index=reservoir.index)
    if how == "averaged" and not reservoir.labelled:
        return _kept(ledger, how, *_averaged_numbers(ledger, reservoir, delta), delta, reservoir)
    if how == "averaged":
        again = None if stream is None else as_stream(stream, ledger.player)
        return _kept(ledger, how, _averaged(ledger, reservoir, again, tell), (), delta, reservoir)
    return _kept(ledger, how, ledger.player.copy(), (), delta, reservoir, index=ledger.rounds)


BEST_OR_VOTED = Advice(Option("how", "best"), " or ", Option("how", "voted"))
"""Advice to use "best" or "voted"."""


def check_method(how: Method, learner: Learner) -> None:
    """Raise an error if this method cannot be used with this learner."""
    name = type(learner.original).__name__
    if learner.task == "regression":
        if how != "averaged" and learner.averages:
            raise InputError(
                f"{how} is for classifiers",
                f"{name} predicts numbers",
                Advice("Use ", Option("how", "averaged"), "."),
            )
    elif how == "averaged" and learner.changes_examples:
        raise InputError(
            "averaging needs a Perceptron without scaling",
            "this one scales each row by the rows before it",
            Advice("Use ", BEST_OR_VOTED, ", or ", Option("scale", letter="none"), "."),
        )
    elif how == "averaged" and not learner.sums_mistakes:
        raise InputError(
            "averaging needs a binary Perceptron",
            f"got {name}",
            Advice("Use ", BEST_OR_VOTED, "."),
        )


def _kept(ledger: Ledger, how: Method, classifier: Predictor, certificates: tuple[Certificate, ...], delta: float,
          reservoir: HypothesisReservoir, **more: Any) -> OnlineToBatch:  # fmt: skip
    return OnlineToBatch(
        how, cast(Predictor, classifier.original), certificates, float(delta), reservoir.rounds, labels=ledger.labels,
        source=ledger.source,
        feature_names=ledger.feature_names, encoding=ledger.encoding, **more,
    )  # fmt: skip


def _ensemble(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, test: DriftTest | None = None, drawn: bool = False
) -> EnsembleFacts:
    """Return the facts of a game and of the drift test on its replay."""
    refuted = test is not None and test.alarm
    copies = ledger.weighted is not None
    return EnsembleFacts(
        rounds=reservoir.rounds, mistakes=reservoir.mistakes, delta=delta, horizon=reservoir.fixed,
        independence="refuted" if refuted else "trusted", evidence=test.largest if test is not None else 1.0,
        drawn=drawn, copies=copies,
    )  # fmt: skip


def _ensemble_of(ledger: Ledger, reservoir: HypothesisReservoir, delta: float) -> EnsembleFacts:
    """Return the facts of a game that is not read again, with its drift test, if there was one."""
    test = None if ledger.drift is None else ledger.drift.test
    return dataclasses.replace(_ensemble(ledger, reservoir, delta, test), late=ledger.late is not None)


def _averaged(ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream | None, tell: Tell | None) -> Learner:
    average = reservoir.average
    if average is None:
        if stream is None or not stream.rereadable:
            raise InputError(
                "an average needs the game to store it, or a stream that can be read again: pass the "
                "stream, or play with candidates=HypothesisReservoir(learner, averaging=True)."
            )
        average, done = Average(ledger.learner), 0
        for part, _, predictions in replay(ledger, reservoir, stream, [], tell):
            average.add(part, np.flatnonzero(predictions != part.y), done)
            done += len(part)
    learner = ledger.player if reservoir.final is None else ledger.player.from_state(reservoir.final)
    return adapt(cast(SumsMistakes, learner.original).less(average.total / reservoir.rounds))


def _averaged_numbers(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float
) -> tuple[Learner, tuple[Certificate, ...]]:
    """Return a learner with the mean weights and two risk bounds at delta/2 each; the smaller holds with 1 - delta."""
    learner = ledger.player
    if reservoir.final is not None or ledger.passes > 1:
        raise InputError(f"an average for regression needs one pass: this game had {ledger.passes}. Play one pass.")
    run: Run[OnlineGradientFacts] = Run(
        before=ledger.before, after=cast(OnlineGradientFacts, learner.facts()), rounds=ledger.rounds, mistakes=0,
        expected=ledger.expected,
        constants=(0, ledger.rounds), adaptive=False, deterministic=ledger.deterministic, loss=ledger.loss,
        squares=ledger.squares, fixed=ledger.fixed, repeated=ledger.repeated or ledger.weighted is not None,
    )  # fmt: skip
    return learner.mean(), average_limits(run, delta, reservoir.fixed)


def average_limits(run: Run[OnlineGradientFacts], delta: float, fixed: bool) -> tuple[Certificate, ...]:
    """Return the bounds on the risk of an average, the smaller first.

    Args:
        run: Game that was averaged.
        delta: Probability that the bounds may fail, both together.
        fixed: Whether the number of rounds was fixed in advance.
    """
    half = delta / 2.0
    found = (average_risk(run, half) if fixed else None, average_risk_always(run, half))
    limits = (limit for limit in found if limit is not None)
    return tuple(sorted(limits, key=lambda limit: (RANK[limit.status], limit.bound or 0.0)))


def _again(
    ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream, stops: list[int], test: DriftTest,
    tell: Tell | None, places: list[Place] | None = None,
) -> Iterator[tuple[int, Batch, Learner | None, NDArray[np.number]]]:  # fmt: skip
    """Replay the first pass under a drift test.

    Yields:
        Rounds done before the part, its rows, the learner before it if it begins at a stop, and the game's predictions.
    """
    snapshot, done = None, 0
    looks = (test.first * 2**k for k in range(64))
    for part, learner, predictions in replay(ledger, reservoir, stream, [*stops, *looks], tell, places):
        if done == test.next_snapshot and ledger.weighted is None:  # copies of a row are not exchangeable with others
            test.refresh()
            snapshot = learner
        yield done, part, learner, predictions
        if snapshot is not None:
            test.see(snapshot.predict_many(part) != part.y)
        done += len(part)


@dataclass(eq=False)
class _Candidate:
    """A hypothesis that is tested on all later examples."""

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
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, stream: Stream, tell: Tell | None, workers: Executor
) -> OnlineToBatch:
    marks, test = set(reservoir.indices()), DriftTest()
    candidates: list[_Candidate] = []
    places: list[Place] = [(0, None)]
    with ThreadPoolExecutor(workers.count if isinstance(workers, Threads) else 1) as pool:
        for done, part, learner, _ in _again(ledger, reservoir, stream, [*marks], test, tell, places):
            if learner is not None and done in marks:
                candidates.append(_Candidate(done, learner))
            if isinstance(workers, Threads):  # threads score while the stream is read; others read it again below
                _judge(candidates, part, pool)
    if not isinstance(workers, Threads):
        seen, rounds = adopted(stream, ledger.encoding, ledger.feature_names), reservoir.rounds
        found = [(one.index, one.learner) for one in candidates]
        errors = judged(seen, found, ledger.labels or (), stretches(places, rounds), workers)
        for one, wrong in zip(candidates, errors, strict=True):
            one.errors, one.trials = wrong, rounds - one.index
    # Compare by bounds even if drift makes them void: the error rate alone favours candidates with the fewest trials.
    chosen = min(candidates, key=lambda one: (best_limit(one.errors, one.trials, one.index, reservoir.rounds, delta,
                                                         reservoir.fixed), one.index))  # fmt: skip
    facts = BestFacts(
        rounds=reservoir.rounds, delta=delta, candidates=len(candidates), first=chosen.index, errors=chosen.errors,
        trials=chosen.trials, mistakes=reservoir.mistakes, horizon=reservoir.fixed,
        independence="refuted" if test.alarm else "trusted", evidence=test.largest, copies=ledger.weighted is not None,
    )  # fmt: skip
    return _kept(ledger, "best", chosen.learner, (best_risk(facts),), delta, reservoir, index=chosen.index,
                 wealth=_wealth(ledger, test))  # fmt: skip


def _voted(
    ledger: Ledger, reservoir: HypothesisReservoir, delta: float, stream: Stream, tell: Tell | None
) -> OnlineToBatch:
    test = DriftTest()
    drawn = sorted(coin(reservoir.seed, "voters", k) % reservoir.rounds for k in range(VOTERS))
    first = ledger.player.from_state(reservoir.initial)
    steps = VotedPerceptron(cast(Perceptron, first.original)) if ledger.player.sums_mistakes else None
    voters: list[Learner] = []
    for done, part, learner, predictions in _again(
        ledger, reservoir, stream, drawn if steps is None else [], test, tell
    ):
        if steps is not None:
            steps.add(part, np.flatnonzero(predictions != part.y))
        elif learner is not None:
            voters += [learner] * drawn.count(done)
    limit = voted_risk(_ensemble(ledger, reservoir, delta, test, drawn=steps is None))
    return _kept(ledger, "voted", steps or RandomVote(voters), (limit,), delta, reservoir, wealth=_wealth(ledger, test))


def _wealth(ledger: Ledger, test: DriftTest) -> float | None:
    """Return the largest wealth of a drift test; None for a weighted game, in which it was not run."""
    return test.largest if ledger.weighted is None else None
