"""Ledger: what happened in a game, in memory that does not grow with rounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.certificate import Certificate
from novikoff.consistency import check, next_mark
from novikoff.errors import ModelFileError
from novikoff.player import Player
from novikoff.totals import Total
from novikoff.types import Adversary, Learner, Run, State, StepResult, Theorem

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.tracker import KernelTracker, LinearTracker
    from novikoff.reservoir import HypothesisReservoir
    from novikoff.tables.encoding import Encoding

RANK = {"violated": 0, "valid": 1, "conditional": 2, "vacuous": 3, "void": 4}


@dataclass(eq=False)
class Ledger:
    """The record of one learner's game, from the moment the ledger was opened.

    spec               how the learner was written, if it was made from that
    rounds, mistakes   counted by the tie rule; no mistakes where the loss is another than zero-one
    positives          rounds labelled +1 (two labels only)
    fixed              every round came from one source that was there before the game: a file, arrays, a list; False
                       where another followed, or where anybody's code made the rounds
    seconds            of the game, without those in which kernels were compiled (kernels/clock.py)
    repeated           the stream was gone through again
    curve              (t, mistakes or loss after t) at every t <= 1,000, then at t, ceil(1.01 t), ...
    predictions        one per round, if asked for
    tracker            the comparators that see every round, for learners whose theorems need them
    reservoir          the hypotheses to keep, if any are
    hindsight          the best comparators there are, if they were looked for after the game; not saved
    position           where the stream goes on, after a whole batch: {"passes": done before this one, "at": ...}
    fingerprint        of the source, to recognise it again
    earlier            fingerprints of the sources before it
    labels             the source's values for -1 and +1, once they are known
    feature_names      of the columns the learner learned from, once a source has named them
    encoding           how the columns of the table it learned from become features; None if it was no table
    members            the ledgers of the learners of a team, each of the same rounds
    """

    learner: Learner
    adversary: Adversary | None = None
    source: str = ""
    spec: str = ""
    rounds: int = 0
    passes: int = 0
    mistakes: int = 0
    positives: int = 0
    seconds: float = 0.0
    deterministic: bool = True
    fixed: bool = False
    repeated: bool = False
    curve: list[tuple[int, int | float]] = field(default_factory=list)
    predictions: list[NDArray[Any]] | None = None
    before: Any = None
    adversary_before: Any = None
    tracker: LinearTracker | KernelTracker | None = None
    reservoir: HypothesisReservoir | None = None
    hindsight: Hindsight | None = None
    position: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    earlier: list[dict[str, Any]] = field(default_factory=list)
    labels: list[Any] | None = None
    feature_names: list[str] | None = None
    encoding: Encoding | None = None
    answered: int = 0  # rounds that the adversary answered
    members: list[Ledger] = field(default_factory=list)
    _next: int = 1
    _expected: Total = field(default_factory=Total)
    _paid: Total = field(default_factory=Total)

    def __post_init__(self) -> None:
        self.player = Player(self.learner)
        if self.before is None:
            self.before = self.learner.facts()
        if self.adversary is not None and self.adversary_before is None:
            self.adversary_before = self.adversary.facts()
        self.name_features(self.feature_names or self.player.feature_names)
        self.read_by(self.encoding or self.player.encoding)
        if not self.members:
            self.members = [Ledger(member, source=self.source) for member in self.player.members]

    def name_features(self, names: Sequence[str] | None) -> None:
        """Remember what the learner's features are called, unless it is known; in the learner too, if that can be."""
        if self.feature_names is None and names is not None:
            self.feature_names = list(names)
        if self.feature_names is not None:
            self.player.feature_names = self.feature_names

    def read_by(self, encoding: Encoding | None) -> None:
        """Remember how the columns of a table become features; in the learner too, if that can be."""
        if encoding is not None:
            self.encoding = self.player.encoding = encoding

    @property
    def counts(self) -> bool:
        """Are mistakes what the learner pays for?"""
        return self.player.counts

    @property
    def expected(self) -> float:
        """The sum over rounds of the chance of a mistake, or of the expected loss."""
        return float(self._expected)

    @property
    def loss(self) -> float:
        """What the predictions cost: the mistakes, where a mistake costs 1."""
        return float(self.mistakes) if self.counts else float(self._paid)

    @property
    def mistake_rate(self) -> float:
        """Mistakes per round."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    @property
    def loss_rate(self) -> float:
        """Loss per round."""
        return self.loss / self.rounds if self.rounds else 0.0

    def write(self, prediction: int, y: int, chance: float | None = None) -> None:
        """One round. `chance` is the chance the learner gave the true label, if it draws."""
        self.rounds += 1
        mistake = prediction != y
        self.mistakes += mistake
        self.positives += y == 1
        if chance is None:
            self._expected.add(float(mistake))
        else:
            self.deterministic = False
            self._expected.add(1.0 - chance)
        if self.rounds == self._next:
            self._mark(self.rounds, self.mistakes)
        if self.predictions is not None:
            self.predictions.append(np.array([prediction]))

    def write_batch(self, predictions: NDArray[Any], y: NDArray[Any]) -> None:
        """Many rounds of a learner that draws nothing."""
        mistakes = self._count(predictions != y)
        self._expected.add(float(mistakes))
        self._write(predictions, y)

    def write_results(self, played: StepResult, y: NDArray[Any]) -> None:
        """Many rounds of a learner that draws, or that pays another loss than a mistake."""
        self.deterministic &= not self.player.draws
        if self.counts:
            self._count(played.losses > 0.0)
        else:
            self._pay(played.losses)
        self._expected.add_all(played.expected)
        for k, member in enumerate(self.members):
            chance = None if played.chances is None else played.chances[:, k]
            member._write_member(played.members[:, k], y, chance)
        self._write(played.predictions, y)

    def _write_member(self, predictions: NDArray[Any], y: NDArray[Any], chance: NDArray[Any] | None) -> None:
        """Rounds of a learner of a team; `chance` is that of a mistake, if it draws."""
        if chance is None or not self.player.draws:
            self.write_batch(predictions, y)
            return
        self.deterministic = False
        self._count(predictions != y)
        self._expected.add_all(chance)
        self._write(predictions, y)

    def _count(self, wrong: NDArray[Any]) -> int:
        """Count mistakes, and mark the curve; how many there were."""
        before = done = self.mistakes
        at = 0
        while self._next <= self.rounds + len(wrong):
            position = self._next - self.rounds
            done += int(np.count_nonzero(wrong[at:position]))
            at = position
            self._mark(self._next, done)
        self.mistakes = done + int(np.count_nonzero(wrong[at:]))
        return self.mistakes - before

    def _pay(self, losses: NDArray[Any]) -> None:
        """Add up losses, and mark the curve."""
        at = 0
        while self._next <= self.rounds + len(losses):
            position = self._next - self.rounds
            self._paid.add_all(losses[at:position])
            at = position
            self._mark(self._next, float(self._paid))
        self._paid.add_all(losses[at:])

    def _write(self, predictions: NDArray[Any], y: NDArray[Any]) -> None:
        """What is left to write of rounds whose mistakes were counted."""
        self.rounds += len(y)
        self.positives += int(np.count_nonzero(y == 1)) if y.ndim == 1 else 0
        if self.predictions is not None:
            self.predictions.append(predictions)

    def _mark(self, t: int, paid: int | float) -> None:
        self.curve.append((t, paid))
        self._next = next_mark(t)

    def said(self) -> NDArray[Any]:
        """Every prediction, in order; needs `record=True`."""
        return np.concatenate(self.predictions) if self.predictions else np.zeros(0, dtype=np.int8)

    def certify(
        self, adaptive: bool = False, fixed: bool | None = None, members: Sequence[Sequence[Certificate]] | None = None
    ) -> list[Certificate]:  # fmt: skip
        """What the learner's theorems, and the adversary's, say of this game; the tightest valid one first.

        adaptive, fixed   of the stream, for a learner of a team: the team's ledger knows
        members           `certify_members()`, if it is known
        """
        adaptive = adaptive or self.adversary is not None
        fixed = self.fixed if fixed is None else fixed
        tracked = None if self.tracker is None else self.tracker.facts(self.player.within)
        if self.hindsight is not None:
            from novikoff.comparators.hindsight import joined
            from novikoff.comparators.tracker import LinearComparatorFacts

            tracked = joined(tracked, self.hindsight.facts) if isinstance(tracked, LinearComparatorFacts) else tracked
        members = self.certify_members(adaptive, fixed) if members is None else members
        found = self._evaluate(
            self.learner.promises,
            self.before,
            self.learner.facts(),
            adaptive,
            fixed,
            tracked,
            tuple(map(tuple, members)),
        )
        if self.adversary is not None:
            forced = self._evaluate(self.adversary.promises, self.adversary_before, self.adversary.facts(), True, False)
            found += forced if self.answered == self.rounds else [_broken_off(certificate) for certificate in forced]
        return sorted(found, key=lambda c: (c.side != "upper", RANK[c.status], _tightness(c)))

    def certify_members(self, adaptive: bool = False, fixed: bool | None = None) -> list[list[Certificate]]:
        """What the theorems of the learners of a team say of what each of them did."""
        adaptive, fixed = adaptive or self.adversary is not None, self.fixed if fixed is None else fixed
        return [member.certify(adaptive, fixed) for member in self.members]

    def _evaluate(
        self, theorems: tuple[Theorem, ...], before: Any, after: Any, adaptive: bool, fixed: bool, tracked: Any = None,
        members: tuple[tuple[Certificate, ...], ...] = (),
    ) -> list[Certificate]:  # fmt: skip
        run = Run(
            before=before,
            after=after,
            rounds=self.rounds,
            mistakes=self.mistakes,
            expected=self.expected,
            constants=(self.positives, self.rounds - self.positives),
            adaptive=adaptive,
            deterministic=self.deterministic,
            tracked=tracked,
            loss=self.loss,
            members=members,
            fixed=fixed,
            repeated=self.repeated,
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
                "tracker": None if self.tracker is None else self.tracker.state(),
                "members": [member.state() for member in self.members],
                "encoding": None if self.encoding is None else self.encoding.state(),
                "reservoir": None if self.reservoir is None else self.reservoir.state(),
                "expected": dataclasses.astuple(self._expected), "paid": dataclasses.astuple(self._paid)}  # fmt: skip

    @classmethod
    def restore(cls, state: State, learner: Learner) -> Ledger:
        """The ledger whose `state` this is, of `learner`."""
        plain = {part.name: state[part.name] for part in dataclasses.fields(cls) if part.name not in _NOT_PLAIN}
        for name in ("rounds", "passes", "mistakes", "positives", "answered", "_next"):
            if type(plain[name]) is not int or plain[name] < 0:
                raise ModelFileError(f"{name} of a ledger must be a whole number: got {plain[name]!r}.")
        for name, values in (("seconds", [state["seconds"]]), *((name, state[name]) for name in ("expected", "paid"))):
            if not all(math.isfinite(value) for value in values):
                raise ModelFileError(f"{name} of a ledger must be finite: got {values!r}.")
        names = plain["feature_names"]
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ModelFileError(f"feature_names of a ledger must be texts: got {names!r}.")
        plain["_expected"], plain["_paid"] = Total(*state["expected"]), Total(*state["paid"])
        plain["members"] = [cls.restore(*pair) for pair in zip(state["members"], Player(learner).members, strict=True)]
        plain["curve"] = [(t, mistakes) for t, mistakes in state["curve"]]
        plain["predictions"] = None if state["predictions"] is None else [state["predictions"]]
        now = learner.facts()
        plain["before"] = before = type(now)(**state["before"])
        for part in dataclasses.fields(now):
            then, since = getattr(before, part.name), getattr(now, part.name)
            if not (type(then) is type(since) or {type(then), type(since)} <= {int, float}):
                raise ModelFileError(f"{part.name} of a ledger must be of the learner's kind: got {then!r}.")
        if state["encoding"] is not None:
            from novikoff.tables.encoding import Encoding

            plain["encoding"] = Encoding.restore(state["encoding"])
        if state["tracker"] is not None:
            from novikoff.comparators.tracker import restored

            plain["tracker"] = restored(state["tracker"])
        if state["reservoir"] is not None:
            from novikoff.reservoir import HypothesisReservoir

            plain["reservoir"] = HypothesisReservoir.restore(state["reservoir"], learner)
        ledger = cls(learner=learner, **plain)
        check(ledger)
        return ledger


_NOT_PLAIN = (
    "learner", "adversary", "adversary_before", "before", "curve", "predictions", "tracker", "hindsight",
    "reservoir", "members", "encoding", "_expected", "_paid",
)  # fmt: skip


def _broken_off(certificate: Certificate) -> Certificate:
    """The void certificate of an adversary that answered a round which was then not played."""
    return dataclasses.replace(certificate, bound=None, status="void", reason="a round was answered and not played")


def _tightness(certificate: Certificate) -> float:
    """How far what was promised is from what happened: bounds on mistakes, losses and regrets are compared by that."""
    return 0.0 if certificate.bound is None else abs(certificate.bound - certificate.observed)
