"""State of `parallel_perceptron` after some epochs, which can be saved and resumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.shards import merged
from novikoff.comparators.tally import Tally
from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, counted
from novikoff.core.state import MOST_ROUNDS, Count, Field, Number, Tuples, Value, Values, array, require
from novikoff.core.types import LabelValue, State
from novikoff.data.tables.encoding import Encoding
from novikoff.distributed.theorems.mixing_facts import MixingFacts
from novikoff.distributed.theorems.mixing_mistakes import mixing_mistakes
from novikoff.linear.perceptron import Perceptron
from novikoff.online_to_batch.finalize import Method, OnlineToBatch
from novikoff.online_to_batch.theorems.held_risk import held_risk
from novikoff.online_to_batch.theorems.risk_facts import HeldFacts

Vector = NDArray[np.float64]
MOST = 2**53
"""Limit of the sum of mixing weights: integers below it are exact in doubles."""
PROMISES = (mixing_mistakes, held_risk)
"""Theorems on the mixed Perceptron."""

SHARED = ("U", "bias_weights")
"""State of the comparators that all shards share, saved once."""


@dataclass(frozen=True)
class Asked:
    """Settings of a mixing run; a resumed run must have the same.

    Attributes:
        shards: Number of parts of the source that are trained separately.
        epochs: Maximum number of epochs; an epoch without a mistake is the last.
        weights: How the final weights of shards are mixed: "uniform", "mistakes" (by mistakes in that epoch), or
            integers, one per shard.
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.
        held: Number of further parts that are held out for evaluation.
        delta: Probability that the risk bound may fail.
    """

    shards: int
    epochs: int
    weights: str | tuple[int, ...] = "uniform"
    bias: float = 0.0
    normalize: bool = False
    held: int = 0
    delta: float = 0.05

    def __post_init__(self) -> None:
        least = {"shards": 1, "epochs": 1, "held": 0}
        for name, fewest in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < fewest:
                raise InputError(f"{name} must be an integer, at least {fewest}: got {value!r}.")
        if isinstance(self.weights, str):
            sound = self.weights in ("uniform", "mistakes")
        else:
            whole = all(type(c) is int and 0 <= c < MOST // self.shards for c in self.weights)
            sound = whole and len(self.weights) == self.shards and sum(self.weights) > 0
        if not sound:
            raise InputError(
                f'weights must be "uniform", "mistakes" or integers, one per shard and not all 0: got {self.weights!r}.'
            )
        if not 0.0 < self.delta < 1.0:
            raise InputError(f"delta must be a probability between 0 and 1: got {self.delta}. 0.05 is usual.")

    def parts(self, mistakes: Sequence[int]) -> tuple[int, ...]:
        """Return the integers by which shards with these mistakes are mixed."""
        if not isinstance(self.weights, str):
            return tuple(self.weights)
        return tuple(mistakes) if self.weights == "mistakes" and any(mistakes) else (1,) * len(mistakes)

    def state(self) -> State:
        weights = self.weights if isinstance(self.weights, str) else list(self.weights)
        return {**self.__dict__, "weights": weights}

    @classmethod
    def restore(cls, state: State) -> Self:
        weights = state["weights"]
        return cls(**{**state, "weights": weights if isinstance(weights, str) else tuple(weights)})


class Epoch(NamedTuple):
    """Result of one epoch.

    Attributes:
        mistakes: Mistakes of each shard.
        parts: Integer by which each shard was mixed.
        errors: Errors of the mixed weights on held-out rows; None without such rows.
    """

    mistakes: tuple[int, ...]
    parts: tuple[int, ...]
    errors: int | None = None


@dataclass
class ParallelPerceptron:
    """A Perceptron that is mixed after every epoch.

    Attributes:
        asked: Settings of the run.
        learner: Perceptron with the weights after the last epoch.
        scorers: Comparators, as each shard saw them.
        total: Sum of the weights after each epoch, the bias weight last.
        source: Name of the source.
        epochs: Result of each epoch.
        rows: Number of rows of each shard.
        trials: Number of held-out rows.
        best: Perceptron with the fewest errors on held-out rows after any epoch; None without such rows.
        unexplained: Largest deviation of a shard's weights from the sum of its mistakes, in units of rounding error.
        same_rows: Whether every epoch read the same rows.
        own_mistakes: Whether every shard changed its weights on its mistakes only.
        cuts: Rows at which the source was cut.
        fingerprint: Fingerprint of the source.
        marks: Fingerprint of each shard.
        labels: Original values of the labels -1 and +1.
        feature_names: Names of the columns, if any.
        encoding: Mapping from table columns to features; None if the source was not a table.
        averaged_errors: Errors of the average on held-out rows; None until the run is done.
        copies: Whether held-out rows have weights above 1.
    """

    key: ClassVar[Literal["kept", "mixed"]] = "mixed"
    rows_held: ClassVar[int] = 0

    asked: Asked
    learner: Perceptron
    scorers: list[LinearScorer]
    total: Vector
    source: str = ""
    epochs: list[Epoch] = field(default_factory=list)
    rows: tuple[int, ...] = ()
    trials: int = 0
    best: Perceptron | None = None
    unexplained: float = 0.0
    same_rows: bool = True
    own_mistakes: bool = True
    cuts: list[int] = field(default_factory=list)
    fingerprint: object = None
    marks: list[object] = field(default_factory=list)
    labels: list[LabelValue] | None = None
    feature_names: list[str] | None = None
    encoding: Encoding | None = None
    averaged_errors: int | None = None
    copies: bool = False

    @property
    def done(self) -> bool:
        """Whether all epochs were played, or one without a mistake."""
        return len(self.epochs) == self.asked.epochs or (bool(self.epochs) and not any(self.epochs[-1].mistakes))

    @property
    def mistakes(self) -> int:
        """Mistakes of all shards in all epochs."""
        return sum(sum(epoch.mistakes) for epoch in self.epochs)

    @property
    def averaged(self) -> Perceptron:
        """Perceptron with the mean of the weights after each epoch."""
        return with_weights(self.learner, self.total / max(len(self.epochs), 1))

    def facts(self) -> MixingFacts:
        """Return the facts for the theorem on mixing."""
        weights = [Fraction(0)] * self.asked.shards
        for epoch in self.epochs:
            whole = sum(epoch.parts)
            weights = [weight + Fraction(c, whole) for weight, c in zip(weights, epoch.parts, strict=True)]
        seen = [scorer for scorer in self.scorers if scorer.tally.rows]
        reason = next((scorer.invalid_reason for scorer in seen if scorer.invalid_reason), "")
        return MixingFacts(
            mistakes=tuple(epoch.mistakes for epoch in self.epochs), parts=tuple(epoch.parts for epoch in self.epochs),
            rows=self.rows, comparators=tuple(merged(self.scorers, weights)),
            square=Fraction(0) if reason else max((scorer.square() for scorer in seen), default=Fraction(0)),
            nonzeros=max((scorer.nonzeros for scorer in seen), default=0), unexplained=self.unexplained,
            same_rows=self.same_rows, own_mistakes=self.own_mistakes, invalid_reason=reason,
        )  # fmt: skip

    def certify(self) -> list[Certificate]:
        """Return the certificate of the theorem on mixing, and with held-out rows that of the risk of `kept`."""
        kept = self.kept
        return [mixing_mistakes(self.facts()), *kept.certificates]

    @property
    def kept(self) -> OnlineToBatch:
        """Classifier to use: the one with the fewest errors on held-out rows; without such rows, the average."""
        how: Method = "held" if self.asked.held else "averaged"
        classifier, certificates = self.averaged, ()
        found = [epoch.errors for epoch in self.epochs if epoch.errors is not None]
        if self.asked.held and found and self.best is not None:
            errors, mean = min(found), self.averaged_errors
            if mean is None or errors <= mean:
                classifier = self.best
            else:
                errors = mean
            facts = HeldFacts(self.asked.epochs + 1, len(found) + (mean is not None), errors, self.trials,
                              self.asked.delta, copies=self.copies)  # fmt: skip
            certificates = (held_risk(facts),)  # type: ignore[assignment]
        return OnlineToBatch(
            how, classifier, certificates, self.asked.delta, max(sum(self.rows), 1), labels=self.labels,
            source=self.source, feature_names=self.feature_names, encoding=self.encoding,
        )  # fmt: skip

    def __repr__(self) -> str:
        shards, epochs = counted(self.asked.shards, "shard"), counted(len(self.epochs), "epoch")
        return f"<ParallelPerceptron on {self.source}, {shards}, {epochs}: {self.mistakes:,} mistakes>"

    def state(self) -> State:
        return {
            **{one.name: one.saved(self) for one in PLAIN},
            "unexplained": self.unexplained if math.isfinite(self.unexplained) else 2.0**1000,
            "asked": self.asked.state(),
            "learner": self.learner.state(),
            "best": None if self.best is None else self.best.state(),
            "total": self.total.copy(),
            "encoding": None if self.encoding is None else self.encoding.state(),
            "comparators": {name: getattr(self.scorers[0], name).copy() for name in SHARED},
            "seen": [
                {name: value for name, value in one.state().items() if name not in SHARED} for one in self.scorers
            ],
        }

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the mixture with this `state`; written by hand, because shards share the directions of comparators."""
        asked = Asked.restore(state["asked"])
        plain: State = {one.name: one.restored(state, None, "a mixture") for one in PLAIN}
        rule = {"bias": asked.bias, "normalize": asked.normalize}
        scorers = [LinearScorer.restore_with({**state["comparators"], **seen}, **rule) for seen in state["seen"]]
        require(len(scorers) == asked.shards, f"comparators must have {asked.shards} shards", len(scorers))
        plain["epochs"] = [Epoch(tuple(mistakes), tuple(parts), errors) for mistakes, parts, errors in plain["epochs"]]
        for epoch in plain["epochs"]:
            sound = len(epoch.mistakes) == len(epoch.parts) == asked.shards
            sound = sound and all(type(one) is int and one >= 0 for one in (*epoch.mistakes, *epoch.parts))
            require(sound and any(epoch.parts), f"an epoch must have mistakes of {asked.shards} shards", epoch.mistakes)
        count = asked.shards if plain["epochs"] else 0
        for name in ("rows", "marks"):
            require(len(plain[name]) in (count, asked.shards), f"{name} must have {asked.shards} shards", plain[name])
        plain["rows"] = tuple(plain["rows"])
        learner = Perceptron.restore(state["learner"])
        total = array(state, "total", (len(learner.weights) + 1,), finite=False, of="a mixture")
        return cls(
            asked, learner, scorers, total, **plain,
            best=None if state["best"] is None else Perceptron.restore(state["best"]),
            encoding=None if state["encoding"] is None else Encoding.restore(state["encoding"]),
        )  # fmt: skip


PLAIN: tuple[Field, ...] = (
    Value("source", str),
    Values("rows", int, None, 0, MOST_ROUNDS),
    Count("trials"),
    Number("unexplained", 0.0),
    Value("same_rows", bool),
    Value("own_mistakes", bool),
    Values("cuts", int, None, 0, MOST_ROUNDS),
    Value("fingerprint", object),
    Values("marks", object),
    Values("labels", str | int | float | bool | None, optional=True),
    Values("feature_names", str, optional=True),
    Count("averaged_errors", optional=True),
    Value("copies", bool, default=bool),
    Tuples("epochs", (list | tuple, list | tuple, int | None)),
)
"""Fields of `ParallelPerceptron` that are saved without conversion."""


def with_weights(learner: Perceptron, weights: Vector) -> Perceptron:
    """Return a copy of the learner with other weights, the bias weight last."""
    state = {**learner.state(), "weights": weights[:-1].copy(), "bias_weight": float(weights[-1])}
    return Perceptron.restore(state)


def weights_of(learner: Perceptron) -> Vector:
    """Return the weights of a learner, the bias weight last."""
    return np.append(learner.weights, learner.bias_weight)


def unseen(scorer: LinearScorer) -> LinearScorer:
    """Return the same comparators before they saw any rows."""
    old = scorer.tally
    tally = Tally(old.directions, old.top, old.penalties, old.probes)
    return LinearScorer(scorer.U, scorer.bias_weights, tally, scorer.bias, scorer.normalize)
