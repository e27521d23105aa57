"""Ledger: what happened in a game, in memory that does not grow with rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.baselines import Baselines, Confusion, Constant
from novikoff.calibration import Calibration
from novikoff.certificate import Certificate
from novikoff.certifying import certify
from novikoff.consistency import next_mark
from novikoff.errors import counted
from novikoff.player import Player
from novikoff.ranking import Area, Ranking
from novikoff.shown import Shown
from novikoff.totals import Total
from novikoff.types import Adversary, Learner, StepResult, as_batch

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.kernel_tracker import KernelTracker
    from novikoff.comparators.linear_tracker import LinearTracker
    from novikoff.comparators.metric_hindsight import MetricHindsight
    from novikoff.comparators.metric_tracker import MetricTracker
    from novikoff.coverage import Coverage
    from novikoff.drift import DriftWatch
    from novikoff.late import Late
    from novikoff.reservoir import HypothesisReservoir
    from novikoff.summing import ComparatorSums
    from novikoff.tables.encoding import Encoding


@dataclass(eq=False, repr=False)
class Ledger(Shown):
    """The record of one learner's game, from the moment the ledger was opened.

    spec               how the learner was written, if it was made from that
    rounds, mistakes   counted by the tie rule; no mistakes where the loss is another than zero-one
    positives          rounds labelled +1 (two labels only)
    fixed              every round came from one source that was there before the game: a file, arrays, a list; False
                       where another followed, or where anybody's code made the rounds
    seconds            of the game, without those in which kernels were compiled (kernels/clock.py)
    repeated           the stream was gone through again
    curve              (t, mistakes or loss after t) at every t <= 1,000, then at t, ceil(1.01 t), ...
    bounds             (t, what the tightest theorem allowed up to t) at some t, if asked for (reports/bounds.py)
    predictions        one per round, if asked for
    tracker            the comparators that see every round, for learners whose theorems need them
    reservoir          the hypotheses to keep, if any are
    hindsight          the best comparators there are, if they were looked for after the game; not saved
    position           where the stream goes on, after a whole batch: {"passes": done before this one, "at": ...}
    fingerprint        of the source, to recognise it again
    earlier            fingerprints of the sources before it
    labels             the source's values for -1 and +1, once they are known; of many labels, for 0, 1, 2, ...
    feature_names      of the columns the learner learned from, once a source has named them
    encoding           how the columns of the table it learned from become features; None if it was no table
    members            the ledgers of the learners of a team, each of the same rounds
    baselines          what those would have paid who learn nothing, and which label was said for which
    ranking            how the scores of the rounds rank the labels
    calibration        how often what was said to be so probable came, of a learner with probabilities
    coverage           what the sets held, of a learner that says sets
    late               what was served, of a game whose labels come late: the ledger is then in the order of arrival
    drift              a test of drift that watches the game, if one does
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
    bounds: list[tuple[int, float]] = field(default_factory=list)
    predictions: list[NDArray[Any]] | None = None
    before: Any = None
    adversary_before: Any = None
    tracker: LinearTracker | KernelTracker | MetricTracker | None = None
    reservoir: HypothesisReservoir | None = None
    hindsight: Hindsight | MetricHindsight | None = None
    position: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    earlier: list[dict[str, Any]] = field(default_factory=list)
    labels: list[Any] | None = None
    feature_names: list[str] | None = None
    encoding: Encoding | None = None
    answered: int = 0  # rounds that the adversary answered
    impossible: int = 0  # rounds whose label had been given no chance at all
    members: list[Ledger] = field(default_factory=list)
    baselines: Baselines = field(default_factory=Baselines)
    ranking: Ranking = field(default_factory=Ranking)
    calibration: Calibration = field(default_factory=Calibration)
    coverage: Coverage | None = None
    late: Late | None = None
    drift: DriftWatch | None = None
    _next: int = 1
    _expected: Total = field(default_factory=Total)
    _paid: Total = field(default_factory=Total)
    _log_loss: Total = field(default_factory=Total)
    _brier: Total = field(default_factory=Total)
    _errors: Total = field(default_factory=Total)

    def __post_init__(self) -> None:
        self.player = Player(self.learner)
        if self.learner.labels is not None and not self.rounds:
            self.baselines.last = 0
        if self.before is None:
            self.before = self.learner.facts()
        if self.player.numbered:
            self.labels = self.player.label_values or [] if self.labels is None else self.labels
            self.player.label_values = self.labels
        if self.adversary is not None and self.adversary_before is None:
            self.adversary_before = self.adversary.facts()
        if self.player.covers and self.coverage is None:
            from novikoff.coverage import Coverage

            self.coverage = Coverage(self.player.standing())
        self.name_features(self.feature_names or self.player.feature_names)
        self.read_by(self.encoding or self.player.encoding)
        if not self.members:
            names = self.labels if self.player.numbered else None
            self.members = [Ledger(member, source=self.source, labels=names) for member in self.player.members]

    def __repr__(self) -> str:
        who, where = self.spec or type(self.learner).__name__, f" on {self.source}" if self.source else ""
        paid = counted(self.mistakes, "mistake") if self.counts else f"{self.player.loss} loss {self.loss:.6g}"
        rate = f" ({100 * self.mistakes / self.rounds:.3g} %)" if self.counts and self.rounds else ""
        return f"<Ledger {who}{where}: {counted(self.rounds, 'round')}, {paid}{rate}>"

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
    def log_loss(self) -> float | None:
        """The sum of -ln P(y), infinite if a label came that had no chance; None without probabilities."""
        if not self.player.probable:
            return None
        return math.inf if self.impossible else float(self._log_loss)

    @property
    def brier(self) -> float | None:
        """The sum of (1 - P(y))^2, of many labels that over all of (P - 1 if it came)^2; None without probabilities."""
        return float(self._brier) if self.player.probable else None

    @property
    def mae(self) -> float | None:
        """The mean absolute error of predicted numbers; None where labels are predicted, and before the first."""
        known = self.player.outcomes == "numbers" and self.rounds
        return float(self._errors) / self.rounds if known else None

    @property
    def rmse(self) -> float | None:
        """The root of the mean squared error; None where another loss is paid, and before the first round."""
        known = self.player.outcomes == "numbers" and self.player.loss == "squared" and self.rounds
        return math.sqrt(self.loss_rate) if known else None

    @property
    def r2(self) -> float | None:
        """By what share the squared loss is below that of the best constant; None where either is not known, or 0."""
        constant = None if self.rmse is None else self.best_constant
        return None if constant is None or constant.costs <= 0.0 else 1.0 - self.loss / constant.costs

    @property
    def mistake_rate(self) -> float:
        """Mistakes per round."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    @property
    def loss_rate(self) -> float:
        """Loss per round."""
        return self.loss / self.rounds if self.rounds else 0.0

    @property
    def confusion(self) -> Confusion | None:
        """Which label was said for which, in the user's labels; None where outcomes are no labels, or too many."""
        labels = [-1, 1] if self._signs else sorted(self.baselines.labels(), key=self._order)
        table = self.baselines.confusion(labels) if self.counts else None
        return None if table is None or not self.rounds else Confusion(list(map(self.label, labels)), table)

    def _order(self, label: Any) -> tuple[bool, Any]:
        """Labels that have names in the order of these: numbers by their size, then texts."""
        name = self.label(label)
        return isinstance(name, str), name

    @property
    def best_constant(self) -> Constant | None:
        """The label, or with squared loss the number, that is best to say always, with its cost; None if not known."""
        if not self.counts:
            return self.baselines.mean() if self.player.loss == "squared" else None
        found = self.baselines.most_frequent()
        return None if found is None else Constant(self.label(found.says), found.costs)

    @property
    def last_label(self) -> int | None:
        """Mistakes of who says the label of the round before; +1 in the first. None where outcomes are no labels."""
        return self.baselines.changes if self.counts else None

    @property
    def precision(self) -> float | None:
        """How many of the rounds in which +1 was said were +1; None if none was, or for other labels."""
        right, said, _ = self._positive()
        return right / said if said else None

    @property
    def recall(self) -> float | None:
        """In how many of the rounds that were +1 that was said; None if none was, or for other labels."""
        right, _, shown = self._positive()
        return right / shown if shown else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if +1 was neither said nor shown."""
        right, said, shown = self._positive()
        return 2 * right / (said + shown) if said + shown else None

    @property
    def auc(self) -> Area | None:
        """The area under the ROC curve of the scores, within bins; None without scores, or if a label never came."""
        area = self.ranking.area()
        return area if self.ranking.rounds == self.rounds else None

    def _positive(self) -> tuple[int, int, int]:
        """How often +1 was said rightly, was said, and was shown; 0 of other labels."""
        (_, wrong), (missed, right) = self.baselines.confusion([-1, 1]) or ((0, 0), (0, 0))
        return (right, wrong + right, missed + right) if self._signs else (0, 0, 0)

    @property
    def _signs(self) -> bool:
        """Are the labels -1 and +1?"""
        return self.learner.labels is None and not self.player.pays

    def label(self, label: Any) -> Any:
        """What the user calls a label; one without a name is itself."""
        if self.labels is None or not (self._signs or self.player.numbered):
            return label
        if self._signs:
            return self.labels[label == 1]
        return self.labels[label] if 0 <= label < len(self.labels) else label

    def write(self, prediction: int, y: int, chance: float | None = None) -> None:
        """One round. `chance` is the chance the learner gave the true label, if it draws."""
        self.deterministic &= chance is None
        mistake = prediction != y
        self._write_one(prediction, y, mistake, float(mistake) if chance is None else 1.0 - chance)

    def write_result(self, played: StepResult, y: Any) -> None:
        """One round of a learner that draws, or that pays another loss than a mistake, or has probabilities."""
        if self.members or played.sets is not None or not (self._signs and self.counts):
            self.write_results(as_batch(played), np.asarray(y)[np.newaxis])
            return
        y = int(y)
        self.deterministic &= not self.player.draws
        if (p := played.probabilities) is not None:
            if p > 0.0:
                self._log_loss.add(-np.log(np.array([p])).item())  # of an array: one number may be rounded otherwise
            else:
                self.impossible += 1
            self._brier.add((1.0 - p) * (1.0 - p) if played.briers is None else played.briers)
            self.calibration.write_one(p, y)
        self._write_one(played.predictions, y, played.losses > 0.0, float(played.expected))

    def _write_one(self, prediction: int, y: int, mistake: bool, expected: float) -> None:
        """What every round with a label leaves."""
        self.rounds += 1
        self.mistakes += bool(mistake)
        self.positives += bool(y == 1)
        self.baselines.count_one(prediction, y)
        self._expected.add(expected)
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
        if self.counts and not self.player.pays:
            self._count(played.predictions != y)
        elif self.counts:
            self._count(played.losses > 0.0)
        else:
            self._pay(played.losses)
        self._expected.add_all(played.expected)
        if played.probabilities is not None:
            possible = played.probabilities[played.probabilities > 0.0]
            self.impossible += len(played.probabilities) - len(possible)
            self._log_loss.add_all(-np.log(possible))
            briers = (1.0 - played.probabilities) ** 2 if played.briers is None else played.briers
            self._brier.add_all(briers)
            self._calibrate(played, y)
        if played.sets is not None and self.coverage is not None:
            self.coverage.write(played.sets)
        for k, member in enumerate(self.members):
            chance, result = None if played.chances is None else played.chances[:, k], played.of(k)
            if result is not None:
                member.write_results(result, y)
            else:
                member._write_member(played.members[:, k], y, chance)
        self._write(played.predictions, y)

    def _calibrate(self, played: StepResult, y: NDArray[Any]) -> None:
        """How probable +1 was said to be, or of many labels that which was said."""
        if self._signs:
            self.calibration.write(played.probabilities, y)
        elif played.confidences is not None:
            right = played.predictions == y
            sure = np.where(right, played.confidences, 1.0 - played.confidences)
            self.calibration.write(sure, np.where(right, np.int8(1), np.int8(-1)))

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
        self.positives += int(np.count_nonzero(y == 1)) if y.ndim == 1 and self.player.loss != "table" else 0
        if self.player.loss == "table":  # outcomes are losses: there is nothing to predict always
            pass
        elif not self.counts and y.ndim == 1:
            self.baselines.sum(y)
            if self.player.outcomes == "numbers":
                self._errors.add_all(np.abs(predictions - y))
        elif y.ndim == 1:
            (self.baselines.count_signs if self._signs else self.baselines.count)(predictions, y)
        if self.predictions is not None:
            self.predictions.append(predictions)

    def _mark(self, t: int, paid: int | float) -> None:
        self.curve.append((t, paid))
        self._next = next_mark(t)

    def said(self) -> NDArray[Any]:
        """Every prediction, in order; needs `record=True`."""
        return np.concatenate(self.predictions) if self.predictions else np.zeros(0, dtype=np.int8)

    def certify(
        self, adaptive: bool = False, fixed: bool | None = None, members: Sequence[Sequence[Certificate]] | None = None,
        comparators: ComparatorSums | None = None,
    ) -> list[Certificate]:  # fmt: skip
        """What the learner's theorems, and the adversary's, say of this game; the tightest valid one first.

        adaptive, fixed   of the stream, for a learner of a team: the team's ledger knows
        members           `certify_members()`, if it is known
        comparators       more of them, which `comparator_sums` was asked for with this game
        """
        return certify(self, adaptive, fixed, members, comparators)

    def certify_members(self, adaptive: bool = False, fixed: bool | None = None) -> list[list[Certificate]]:
        """What the theorems of the learners of a team say of what each of them did."""
        adaptive, fixed = adaptive or self.adversary is not None, self.fixed if fixed is None else fixed
        return [member.certify(adaptive, fixed) for member in self.members]
