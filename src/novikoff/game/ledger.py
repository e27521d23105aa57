"""Ledger: what happened in a game, in memory that does not grow with rounds, and what the theorems say of it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import RANK, Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import MismatchError, counted
from novikoff.core.stream import Target
from novikoff.core.types import (
    Adversary,
    LabelValue,
    Run,
    StepResult,
    Theorem,
    as_batch,
)
from novikoff.game.baselines import Confusion, Constant
from novikoff.game.metrics import Area, Metrics, WeightedMetrics

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.metric_hindsight import MetricHindsight
    from novikoff.comparators.tracker import Tracker
    from novikoff.data.tables.encoding import Encoding
    from novikoff.distributed.comparator_losses import ComparatorSums
    from novikoff.drift.monitor import DriftWatch
    from novikoff.game.delayed.late import Late
    from novikoff.game.reservoir import HypothesisReservoir


@dataclass(frozen=True)
class Proved:
    """Certificates of the first `rounds` rounds of a game, as they stood then."""

    rounds: int
    certificates: tuple[Certificate, ...]

    def besides(self, found: Sequence[Certificate]) -> list[Certificate]:
        """Void certificates of the theorems that have nothing to say of the whole game, with what was proved then.

        None of them is a bound on the game as it is now: no report and no theorem on a team may take it for one.
        """
        known = {one.theorem for one in found}
        return [
            dataclasses.replace(one, bound=None, status="void", reason=f"{self.reason}: {str(one).partition(': ')[2]}")
            for one in self.certificates
            if one.theorem not in known
        ]

    @property
    def reason(self) -> str:
        """Why nothing is known of the whole game."""
        return f"a model file left its comparators out after {counted(self.rounds, 'round')}; proved until then"


def certify(
    ledger: Ledger, adaptive: bool, fixed: bool | None, members: Sequence[Sequence[Certificate]] | None,
    comparators: ComparatorSums | None,
) -> list[Certificate]:  # fmt: skip
    """`Ledger.certify`."""
    proved = ledger.proved
    if proved is not None and proved.rounds == ledger.rounds and comparators is None:
        return list(proved.certificates)
    adaptive = adaptive or ledger.adversary is not None
    fixed = ledger.fixed if fixed is None else fixed
    tracked = None if ledger.tracker is None else ledger.tracker.facts(ledger.player.within.original)
    if ledger.hindsight is not None and tracked is not None:
        tracked = ledger.hindsight.joined(tracked)
    if comparators is not None:
        tracked = comparators.joined(ledger, tracked)
    members = ledger.certify_members(adaptive, fixed) if members is None else members
    before, after = ledger.before, ledger.learner.facts()
    told = tuple(map(tuple, members))
    found = _evaluate(ledger, ledger.learner.promises, before, after, adaptive, fixed, tracked, told)
    adversary = ledger.adversary
    if adversary is not None:
        forced = _evaluate(ledger, adversary.promises, ledger.adversary_before, adversary.facts(), True, False)
        found += forced if ledger.answered == ledger.rounds else [_broken_off(certificate) for certificate in forced]
    found = sorted(found, key=lambda c: (c.side != "upper", RANK[c.status], _tightness(c)))
    found = found if ledger.late is None else [*_of_the_served(ledger, found), *found]
    return found if proved is None else [*found, *proved.besides(found)]


def _of_the_served(ledger: Ledger, found: list[Certificate]) -> list[Certificate]:
    """What is promised of answers whose labels came late, by what is promised of the game of arrivals."""
    from novikoff.game.delayed.late import PROMISES

    before, after = ledger.before, ledger.learner.facts()
    return _evaluate(ledger, PROMISES, before, after, False, ledger.fixed, arrivals=tuple(found))


def _evaluate(
    ledger: Ledger, theorems: tuple[Theorem, ...], before: Any, after: Any, adaptive: bool, fixed: bool,
    tracked: Any = None, members: tuple[tuple[Certificate, ...], ...] = (), arrivals: tuple[Certificate, ...] = (),
) -> list[Certificate]:  # fmt: skip
    """The certificates of these theorems that have something to say."""
    conservative = ledger.player.conservative and not ledger.player.changes_examples
    run = Run(
        before=before,
        after=after,
        rounds=ledger.rounds,
        mistakes=ledger.mistakes,
        expected=ledger.expected,
        constants=(ledger.positives, ledger.rounds - ledger.positives),
        adaptive=adaptive,
        deterministic=ledger.deterministic,
        tracked=tracked,
        loss=ledger.loss,
        squares=ledger.squares,
        members=members,
        fixed=fixed,
        repeated=ledger.repeated or ledger.weighted is not None,
        log_loss=ledger.log_loss,
        brier=ledger.brier,
        predicted=ledger.calibration.predicted if ledger.player.probable else None,
        coverage=None if ledger.coverage is None else ledger.coverage.facts(ledger.player.standing()),
        late=None if ledger.late is None else ledger.late.facts(conservative),
        arrivals=arrivals,
    )
    certificates = (theorem(run) for theorem in theorems)
    return [certificate for certificate in certificates if certificate is not None]


def _broken_off(certificate: Certificate) -> Certificate:
    """The void certificate of an adversary that answered a round which was then not played."""
    return dataclasses.replace(certificate, bound=None, status="void", reason="a round was answered and not played")


def _tightness(certificate: Certificate) -> float:
    """How far what was promised is from what happened: bounds on mistakes, losses and regrets are compared by that.

    What is promised of sets comes after what is promised of predictions.
    """
    if certificate.theorem.startswith("coverage_"):
        return math.inf
    return 0.0 if certificate.bound is None else abs(certificate.bound - certificate.observed)


@dataclass(eq=False, repr=False)
class Ledger(Metrics, Shown):
    """The record of one learner's game, from the moment the ledger was opened.

    spec               how the learner was written, if it was made from that
    rounds, mistakes   of every round, as theorems count them; these and other counts are told by `Metrics`
    weighted           the same counts of a game with weighted rows: each row once, with its weight; None if all have
                       weight 1. All rates (mistake_rate, precision, auc, mae, ...) are then from these
    fixed              every round came from one source that was there before the game: a file, arrays, a list; False
                       where another followed, or where anybody's code made the rounds
    seconds            of the game, without those in which kernels were compiled (numerics/clock.py)
    repeated           the stream was gone through again
    bounds             (t, what the tightest theorem allowed up to t) at some t, if asked for (reports/bound_curve.py)
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
    target             the column that was predicted, and how it was chosen; None if the labels had no column
    late               what was served, of a game whose labels come late: the ledger is then in the order of arrival
    drift              a test of drift that watches the game, if one does
    proved             certificates of a game whose comparators were left out of a model file: of its rounds up to then
    """

    adversary: Adversary | None = None
    source: str = ""
    spec: str = ""
    passes: int = 0
    seconds: float = 0.0
    fixed: bool = False
    repeated: bool = False
    bounds: list[tuple[int, float]] = field(default_factory=list)
    predictions: list[NDArray[np.number]] | None = None
    before: Any = None
    adversary_before: Any = None
    tracker: Tracker | None = None
    reservoir: HypothesisReservoir | None = None
    hindsight: Hindsight | MetricHindsight | None = None
    position: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    earlier: list[dict[str, Any]] = field(default_factory=list)
    labels: list[LabelValue] | None = None
    feature_names: list[str] | None = None
    encoding: Encoding | None = None
    answered: int = 0  # rounds that the adversary answered
    target: Target | None = None
    members: list[Ledger] = field(default_factory=list)
    late: Late | None = None
    drift: DriftWatch | None = None
    weighted: WeightedMetrics | None = None
    proved: Proved | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.before is None:
            self.before = self.learner.facts()
        if self.player.numbered:
            self.labels = self.player.label_values or [] if self.labels is None else self.labels
            self.player.label_values = self.labels
        if self.adversary is not None and self.adversary_before is None:
            self.adversary_before = self.adversary.facts()
        self.name_features(self.feature_names or self.player.feature_names)
        self.read_by(self.encoding or self.player.encoding)
        if not self.members:
            names = self.labels if self.player.numbered else None
            self.members = [Ledger(member, source=self.source, labels=names) for member in self.player.learners]

    def __repr__(self) -> str:
        who, where = self.spec or type(self.learner).__name__, f" on {self.source}" if self.source else ""
        where += f", target: {self.target}" if self.target is not None else ""
        paid = counted(self.mistakes, "mistake") if self.counts else f"{self.player.loss} loss {self.loss:.6g}"
        rate = f" ({100 * self.mistakes / self.rounds:.3g} %)" if self.counts and self.rounds else ""
        told = f"{counted(self.rounds, 'round')}, {paid}{rate}"
        if (own := self.weighted) is not None:
            lost = f"error {100 * self.mistake_rate:.3g} %" if self.counts else f"{self.loss_rate:.4g} per weight"
            told = f"{counted(own.rows, 'row')} of weight {own.rounds:,}, {lost}; {told}"
        return f"<Ledger {who}{where}: {told}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        do = "Write nk.save(ledger, path), and nk.load(path) to read it."
        raise MismatchError("a ledger must be saved as a model file", "it was pickled", do)

    def __copy__(self) -> Ledger:
        return self._like(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        memo[id(self)] = copied = self._like({})
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def _like(self, attributes: dict[str, Any]) -> Ledger:
        other = object.__new__(type(self))
        other.__dict__.update(attributes)
        return other

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
    def metrics(self) -> Metrics:
        """What all rates are from: the rounds, or in a weighted game the rows, each with its weight."""
        return self if self.weighted is None else self.weighted

    @property
    def mae(self) -> float | None:
        """The mean absolute error of predicted numbers; None where labels are predicted, and before the first."""
        known, own = self.player.outcomes == "numbers" and self.rounds, self.metrics
        return own.absolute / own.rounds if known else None

    @property
    def rmse(self) -> float | None:
        """The root of the mean squared error; None where another loss is paid, and before the first round."""
        known = self.player.outcomes == "numbers" and self.player.loss == "squared" and self.rounds
        return math.sqrt(self.loss_rate) if known else None

    @property
    def r2(self) -> float | None:
        """By what share the squared loss is below that of the best constant; None where either is not known, or 0."""
        constant = None if self.rmse is None else self.best_constant
        return None if constant is None or constant.costs <= 0.0 else 1.0 - self.metrics.loss / constant.costs

    @property
    def mistake_rate(self) -> float:
        """Mistakes per round; in a weighted game the share of the weight that was predicted wrong."""
        own = self.metrics
        return own.mistakes / own.rounds if own.rounds else 0.0

    @property
    def loss_rate(self) -> float:
        """Loss per round; in a weighted game per unit of weight."""
        own = self.metrics
        return own.loss / own.rounds if own.rounds else 0.0

    @property
    def confusion(self) -> Confusion | None:
        """Which label was said for which, in the user's labels; None where outcomes are no labels, or too many."""
        baselines = self.metrics.baselines
        labels = [-1, 1] if self._signs else sorted(baselines.labels(), key=self._order)
        table = baselines.confusion(labels) if self.counts else None
        return None if table is None or not self.rounds else Confusion(list(map(self.label, labels)), table)

    def _order(self, label: Any) -> tuple[bool, Any]:
        """Labels that have names in the order of these: numbers by their size, then texts."""
        name = self.label(label)
        return isinstance(name, str), name

    @property
    def best_constant(self) -> Constant | None:
        """The label, or with squared loss the number, that is best to say always, with its cost; None if not known."""
        if not self.counts:
            return self.metrics.baselines.mean() if self.player.loss == "squared" else None
        found = self.metrics.baselines.most_frequent()
        return None if found is None else Constant(self.label(found.says), found.costs)

    @property
    def last_label(self) -> int | None:
        """Mistakes of who says the label of the round before; +1 in the first. None where outcomes are no labels."""
        return self.metrics.baselines.changes if self.counts else None

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
        own = self.metrics
        area = own.ranking.area()
        return area if own.ranking.rounds == own.rounds else None

    def _positive(self) -> tuple[int, int, int]:
        """How often +1 was said rightly, was said, and was shown; 0 of other labels."""
        (_, wrong), (missed, right) = self.metrics.baselines.confusion([-1, 1]) or ((0, 0), (0, 0))
        return (right, wrong + right, missed + right) if self._signs else (0, 0, 0)

    def label(self, label: int) -> LabelValue:
        """What the user calls a label; one without a name is itself."""
        if self.labels is None or not (self._signs or self.player.numbered):
            return label
        if self._signs:
            return self.labels[label == 1]
        return self.labels[label] if 0 <= label < len(self.labels) else label

    def write(self, prediction: int, y: int, chance: float | None = None, weight: int | None = None) -> None:
        """One round. `chance` is the chance the learner gave the true label, if it draws.

        weight   of a row of several rounds: all of it in the first, 0 in the others; None: of weight 1
        """
        if weight is not None or self.weighted is not None:
            chances = None if chance is None else np.array([1.0 - chance])
            played = StepResult(np.array([prediction]), None, None)
            self._weigh().score(played, np.array([y]), _one(weight), chances)
        self.deterministic &= chance is None
        mistake = prediction != y
        self._write_one(prediction, y, mistake, float(mistake) if chance is None else 1.0 - chance)

    def write_result(self, played: StepResult, y: float | NDArray[np.float64], weight: int | None = None) -> None:
        """One round of a learner that draws, or that pays another loss than a mistake, or has probabilities."""
        weighted = weight is not None or self.weighted is not None
        if weighted or self.members or played.sets is not None or not (self._signs and self.counts):
            self.write_results(as_batch(played), np.asarray(y)[np.newaxis], _one(weight))
            return
        y = int(y)
        self.deterministic &= not self.player.draws
        if (p := played.probabilities) is not None:
            if p > 0.0:
                self._log_loss.add(-float(np.log(p)))  # numpy's, as in batches: that of `math` may be rounded otherwise
            else:
                self.impossible += 1
            self._brier.add((1.0 - p) * (1.0 - p) if played.briers is None else played.briers)
            self.calibration.write_one(p, y)
        self._write_one(played.predictions, y, played.predictions != y, float(played.expected))

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

    def write_batch(
        self, predictions: NDArray[np.number], y: NDArray[np.number], weights: NDArray[np.int64] | None = None,
        chances: NDArray[np.number] | None = None,
    ) -> None:  # fmt: skip
        """Many rounds of labels.

        weights   as those of a `Batch`
        chances   of a mistake, of a learner that draws
        """
        if weights is not None or self.weighted is not None:
            self._weigh().score(StepResult(predictions, None, None), y, weights, chances)
        self.count_batch(predictions, y, chances)

    def write_results(
        self, played: StepResult, y: NDArray[np.number], weights: NDArray[np.int64] | None = None
    ) -> None:
        """Many rounds of a learner that draws, or that pays another loss than a mistake."""
        if weights is not None or self.weighted is not None:
            self._weigh().score(played, y, weights)
        for k, member in enumerate(self.members):
            chances, result = None if played.chances is None else played.chances[:, k], played.of(k)
            if result is not None:
                member.write_results(result, y, weights)
            else:
                member.write_batch(played.members[:, k], y, weights, chances if member.player.draws else None)
        self.count_results(played, y)

    def rank(
        self, scores: NDArray[np.float64], y: NDArray[np.number], weights: NDArray[np.int64] | None = None
    ) -> None:
        """Count the scores of rounds that were written."""
        self.ranking.add(scores, y)
        if self.weighted is not None:
            self.weighted.rank(scores, y, weights)

    def rank_one(self, score: float, y: int, weight: int | None = None) -> None:
        """Count the score of a round of a weighted game that was written."""
        if self.weighted is not None:
            self.weighted.rank(np.array([score], dtype=np.float64), np.array([y], dtype=np.int8), _one(weight))

    def _weigh(self) -> WeightedMetrics:
        """The count of rows by their weights, which begins with the first that is not 1."""
        if self.weighted is None:
            self.weighted = WeightedMetrics.following(self)
        return self.weighted

    def _tally(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        super()._tally(predictions, y)
        if self.predictions is not None:
            self.predictions.append(predictions)

    def said(self) -> NDArray[np.number]:
        """Every prediction, in order; needs `record=True`."""
        return np.concatenate(self.predictions) if self.predictions else np.zeros(0, dtype=np.int8)

    def certify(
        self, adaptive: bool = False, fixed: bool | None = None, members: Sequence[Sequence[Certificate]] | None = None,
        comparators: ComparatorSums | None = None,
    ) -> list[Certificate]:  # fmt: skip
        """What the learner's theorems, and the adversary's, say of this game; the tightest valid one first.

        adaptive, fixed   of the stream, for a learner of a team: the team's ledger knows
        members           `certify_members()`, if it is known
        comparators       more of them, which `comparator_losses` was asked for with this game
        """
        return certify(self, adaptive, fixed, members, comparators)

    def certify_members(self, adaptive: bool = False, fixed: bool | None = None) -> list[list[Certificate]]:
        """What the theorems of the learners of a team say of what each of them did."""
        adaptive, fixed = adaptive or self.adversary is not None, self.fixed if fixed is None else fixed
        return [member.certify(adaptive, fixed) for member in self.members]


def _one(weight: int | None) -> NDArray[np.int64] | None:
    return None if weight is None else np.array([weight], dtype=np.int64)
