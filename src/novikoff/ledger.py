"""Ledger: what happened in a game, in memory that does not grow with rounds."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.certificate import Certificate
from novikoff.errors import ModelFileError
from novikoff.types import Adversary, Learner, Run, State, Theorem

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.kernel_riding import KernelRiding
    from novikoff.comparators.riding import Riding

RANK = {"violated": 0, "valid": 1, "conditional": 2, "vacuous": 3, "void": 4}


@dataclass(eq=False)
class Ledger:
    """The record of one learner's game, from the moment the ledger was opened.

    rounds, mistakes   counted by the tie rule
    positives          rounds labelled +1 (two labels only)
    curve              (t, mistakes after t) at every t <= 1,000, then at t, ceil(1.01 t), ...
    predictions        one per round, if asked for
    riding             the comparators that ride along, for learners whose theorems need them
    hindsight          the best comparators there are, if they were looked for after the game; not saved
    position           where the stream goes on, after a whole batch: {"passes": done before this one, "at": ...}
    fingerprint        of the source, to recognise it again
    labels             the source's values for -1 and +1, once they are known
    """

    learner: Learner
    adversary: Adversary | None = None
    source: str = ""
    rounds: int = 0
    passes: int = 0
    mistakes: int = 0
    positives: int = 0
    seconds: float = 0.0
    deterministic: bool = True
    curve: list[tuple[int, int]] = field(default_factory=list)
    predictions: list[NDArray[Any]] | None = None
    before: Any = None
    adversary_before: Any = None
    riding: Riding | KernelRiding | None = None
    hindsight: Hindsight | None = None
    position: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    labels: list[Any] | None = None
    answered: int = 0  # rounds that the adversary answered
    _next: int = 1
    _expected: float = 0.0
    _lost: float = 0.0  # what adding to _expected rounded off (Neumaier)

    def __post_init__(self) -> None:
        if self.before is None:
            self.before = self.learner.facts()
        if self.adversary is not None and self.adversary_before is None:
            self.adversary_before = self.adversary.facts()

    @property
    def expected(self) -> float:
        """The sum over rounds of the chance of a mistake."""
        return self._expected + self._lost

    @property
    def mistake_rate(self) -> float:
        """Mistakes per round."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    def write(self, prediction: int, y: int, chance: float | None = None) -> None:
        """One round. `chance` is the chance the learner gave the true label, if it draws."""
        self.rounds += 1
        mistake = prediction != y
        self.mistakes += mistake
        self.positives += y == 1
        if chance is None:
            self._expect(float(mistake))
        else:
            self.deterministic = False
            self._expect(1.0 - chance)
        if self.rounds == self._next:
            self._mark(self.rounds, self.mistakes)
        if self.predictions is not None:
            self.predictions.append(np.array([prediction]))

    def write_batch(self, predictions: NDArray[Any], y: NDArray[Any]) -> None:
        """Many rounds of a learner that draws nothing."""
        wrong = predictions != y
        start, base = self.rounds, self.mistakes
        done = counted = 0
        while self._next <= start + len(y):
            position = self._next - start
            counted += int(np.count_nonzero(wrong[done:position]))
            done = position
            self._mark(self._next, base + counted)
        mistakes = counted + int(np.count_nonzero(wrong[done:]))
        self.rounds += len(y)
        self.mistakes += mistakes
        self._expect(float(mistakes))
        self.positives += int(np.count_nonzero(y == 1))
        if self.predictions is not None:
            self.predictions.append(predictions)

    def _mark(self, t: int, mistakes: int) -> None:
        self.curve.append((t, mistakes))
        self._next = t + 1 if t < 1000 else math.ceil(1.01 * t)

    def _expect(self, chance: float) -> None:
        total = self._expected + chance
        larger, smaller = (self._expected, chance) if self._expected >= chance else (chance, self._expected)
        self._lost += (larger - total) + smaller
        self._expected = total

    def said(self) -> NDArray[Any]:
        """Every prediction, in order; needs `record=True`."""
        return np.concatenate(self.predictions) if self.predictions else np.zeros(0, dtype=np.int8)

    def certify(self) -> list[Certificate]:
        """What the learner's theorems, and the adversary's, say of this game; the tightest valid one first."""
        rode = None if self.riding is None else self.riding.facts()
        if self.hindsight is not None:
            from novikoff.comparators.hindsight import joined
            from novikoff.comparators.riding import RidingFacts

            rode = joined(rode, self.hindsight.facts) if isinstance(rode, RidingFacts) else rode
        found = self._evaluate(self.learner.promises, self.before, self.learner.facts(), rode)
        if self.adversary is not None:
            forced = self._evaluate(self.adversary.promises, self.adversary_before, self.adversary.facts())
            found += forced if self.answered == self.rounds else [_broken_off(certificate) for certificate in forced]
        return sorted(found, key=lambda c: (c.side != "upper", RANK[c.status], _tightness(c)))

    def _evaluate(
        self, theorems: tuple[Theorem, ...], before: Any, after: Any, riding: Any = None
    ) -> list[Certificate]:
        run = Run(
            before=before,
            after=after,
            rounds=self.rounds,
            mistakes=self.mistakes,
            expected=self.expected,
            constants=(self.positives, self.rounds - self.positives),
            adaptive=self.adversary is not None,
            deterministic=self.deterministic,
            riding=riding,
        )
        certificates = (theorem(run) for theorem in theorems)
        return [certificate for certificate in certificates if certificate is not None]

    def state(self) -> State:
        """As plain data (without the learner)."""
        if self.adversary is not None:
            raise ModelFileError("a game to save must be one on a stream: an adversary is not plain data.")
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _NOT_PLAIN}
        said = None if self.predictions is None else self.said()
        return {**plain, "curve": [list(point) for point in self.curve], "predictions": said,
                "before": dataclasses.asdict(self.before),
                "riding": None if self.riding is None else self.riding.state()}  # fmt: skip

    @classmethod
    def restore(cls, state: State, learner: Learner) -> Ledger:
        """The ledger whose `state` this is, of `learner`."""
        fields = {field.name for field in dataclasses.fields(cls)} - {
            "learner",
            "adversary",
            "adversary_before",
            "hindsight",
        }
        plain = {name: state[name] for name in fields}
        for name in ("rounds", "passes", "mistakes", "positives", "answered", "_next"):
            if type(plain[name]) is not int or plain[name] < 0:
                raise ModelFileError(f"{name} of a ledger must be a whole number: got {plain[name]!r}.")
        for name in ("seconds", "_expected", "_lost"):
            if not math.isfinite(plain[name]):
                raise ModelFileError(f"{name} of a ledger must be finite: got {plain[name]!r}.")
        plain["curve"] = [(t, mistakes) for t, mistakes in state["curve"]]
        plain["predictions"] = None if state["predictions"] is None else [state["predictions"]]
        now = learner.facts()
        plain["before"] = before = type(now)(**state["before"])
        for part in dataclasses.fields(now):
            then, since = getattr(before, part.name), getattr(now, part.name)
            if not (type(then) is type(since) or {type(then), type(since)} <= {int, float}):
                raise ModelFileError(f"{part.name} of a ledger must be of the learner's kind: got {then!r}.")
        if state["riding"] is not None:
            plain["riding"] = _riding(state["riding"])
        return cls(learner=learner, **plain)


_NOT_PLAIN = ("learner", "adversary", "adversary_before", "before", "curve", "predictions", "riding", "hindsight")


def _riding(state: State) -> Riding | KernelRiding:
    """The comparators whose state this is."""
    if state.get("kind") == "kernel":
        from novikoff.comparators.kernel_riding import KernelRiding

        return KernelRiding.restore(state)
    from novikoff.comparators.riding import Riding

    return Riding.restore(state)


def _broken_off(certificate: Certificate) -> Certificate:
    """The void certificate of an adversary that answered a round which was then not played."""
    return dataclasses.replace(certificate, bound=None, status="void", reason="a round was answered and not played")


def _tightness(certificate: Certificate) -> float:
    if certificate.bound is None:
        return 0.0
    return certificate.bound if certificate.side == "upper" else -certificate.bound
