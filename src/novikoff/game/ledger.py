"""The ledger of a game: its counts, in memory independent of the number of rounds, and its certificates."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import RANK, Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import MismatchError, counted
from novikoff.core.stream import Target
from novikoff.core.types import (
    Adversary,
    CountsRounds,
    Example,
    LabelValue,
    Prediction,
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
    from novikoff.core.attribution import Kind
    from novikoff.core.learner import Learner
    from novikoff.data.tables.encoding import Encoding
    from novikoff.distributed.comparator_losses import ComparatorSums
    from novikoff.drift.monitor import DriftWatch
    from novikoff.game.course import Course
    from novikoff.game.delayed.late import Late
    from novikoff.game.explanation import Explanation, Importance
    from novikoff.game.export import Exported
    from novikoff.game.predicting import MissingColumns
    from novikoff.game.proof_file import ProofRecord
    from novikoff.game.reservoir import HypothesisReservoir
    from novikoff.game.since import Mark, Since
    from novikoff.game.thresholds import Threshold, Thresholds
    from novikoff.game.trace import Trace
    from novikoff.kernel.comparators.hindsight import KernelHindsight


@dataclass(frozen=True)
class Proved:
    """Certificates of the first `rounds` rounds of a game, as they stood then."""

    rounds: int
    certificates: tuple[Certificate, ...]

    def voided(self, found: Sequence[Certificate]) -> list[Certificate]:
        """Return void certificates, with their earlier bounds as reason, for theorems without a certificate in `found`.

        They do not bound the whole game, so no report and no theorem on an ensemble may use them as bounds.
        """
        known = {one.theorem for one in found}
        return [
            dataclasses.replace(one, bound=None, status="void", reason=f"{self.reason}: {str(one).partition(': ')[2]}")
            for one in self.certificates
            if one.theorem not in known
        ]

    @property
    def reason(self) -> str:
        """Why there is no bound on the whole game."""
        return f"a model file omitted its comparators after {counted(self.rounds, 'round')}; proved until then"


Evaluated = tuple[Theorem, Run[Any], Certificate]
"""A theorem, the run on which it was evaluated, and the certificate."""


def certify(
    ledger: Ledger, adaptive: bool, fixed: bool | None, members: Sequence[Sequence[Certificate]] | None,
    comparators: ComparatorSums | None,
) -> list[Certificate]:  # fmt: skip
    """Implement `Ledger.certify`."""
    proved = ledger.proved
    if proved is not None and proved.rounds == ledger.rounds and comparators is None:
        return list(proved.certificates)
    found = [certificate for _, _, certificate in evaluated(ledger, adaptive, fixed, members, comparators)]
    found = sorted(found, key=lambda c: (c.side != "upper", RANK[c.status], _tightness(c)))
    found = found if ledger.late is None else [*_certify_served(ledger, found), *found]
    return found if proved is None else [*found, *proved.voided(found)]


def evaluated(
    ledger: Ledger, adaptive: bool = False, fixed: bool | None = None,
    members: Sequence[Sequence[Certificate]] | None = None, comparators: ComparatorSums | None = None,
) -> list[Evaluated]:  # fmt: skip
    """Return every theorem that applies to the rounds in the order of arrival, its run and its certificate."""
    adaptive = adaptive or ledger.adversary is not None
    fixed = ledger.fixed if fixed is None else fixed
    tracked = None if ledger.tracker is None else ledger.tracker.facts(ledger.player.within.original)
    if ledger.hindsight is not None and tracked is not None:
        tracked = ledger.hindsight.joined(tracked)
    if comparators is not None:
        tracked = comparators.joined(ledger, tracked)
    members = ledger.certify_members(adaptive, fixed) if members is None else members
    before, after = ledger.before, ledger.player.facts()
    others = tuple(map(tuple, members))
    found = _evaluate(ledger, ledger.player.promises, before, after, adaptive, fixed, tracked, others)
    for one in (one for one in ledger.player.within.behaviours if one.rounds == ledger.rounds):
        found += _evaluate(ledger, one.promises, one.before, one.facts(), adaptive, fixed, one.tracked())
    adversary = ledger.adversary
    if adversary is not None:
        forced = _evaluate(ledger, adversary.promises, ledger.adversary_before, adversary.facts(), True, False)
        played = ledger.answered == ledger.rounds
        found += forced if played else [(theorem, run, _interrupted(one)) for theorem, run, one in forced]
    return found


def _certify_served(ledger: Ledger, found: list[Certificate]) -> list[Certificate]:
    """Return certificates of the served answers of a game with delayed labels, from those of the game of arrivals."""
    from novikoff.game.delayed.late import PROMISES

    before, after = ledger.before, ledger.player.facts()
    of_served = _evaluate(ledger, PROMISES, before, after, False, ledger.fixed, arrivals=tuple(found))
    return [certificate for _, _, certificate in of_served]


def _evaluate(
    ledger: Ledger, theorems: tuple[Theorem, ...], before: object, after: object, adaptive: bool, fixed: bool,
    tracked: object = None, members: tuple[tuple[Certificate, ...], ...] = (), arrivals: tuple[Certificate, ...] = (),
) -> list[Evaluated]:  # fmt: skip
    """Return the theorems that apply, with their run and certificate."""
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
    found = ((theorem, run, theorem(run)) for theorem in theorems)
    return [(theorem, run, certificate) for theorem, run, certificate in found if certificate is not None]


def _interrupted(certificate: Certificate) -> Certificate:
    """Return a void certificate for an adversary that answered a round which was then not played."""
    return dataclasses.replace(certificate, bound=None, status="void", reason="a round was answered and not played")


def _tightness(certificate: Certificate) -> float:
    """Return the sort key of a certificate: the distance of its bound from the observed value.

    Certificates of prediction sets come after those of predictions.
    """
    if certificate.theorem.startswith("coverage_"):
        return math.inf
    return 0.0 if certificate.bound is None else abs(certificate.bound - certificate.observed)


@dataclass(eq=False, repr=False)
class Ledger(Metrics, Shown):
    """The record of one learner's game, from the moment the ledger was opened.

    Counts and sums of all rounds are documented in `Metrics`. With weighted rows, rates (mistake_rate, precision, auc,
    mae, ...) are computed from `weighted`; with delayed labels, from the predictions that were served (`metrics`).

    Args:
        learner: The learner.
        adversary: The opponent; None for a game on a stream.
        source: Name of the source.
        spec: Spec that the learner was made from; "" if there is none.

    Attributes:
        passes: Number of passes begun.
        seconds: Duration of the game, without compilation (numerics/clock.py).
        fixed: Whether every round is from one source that existed before the game: a file, arrays, a list.
        repeated: Whether the stream was read more than once.
        bounds: (t, tightest bound up to t) at some t, if requested (reports/bound_curve.py).
        predictions: One prediction per round, if requested.
        before: The learner's facts when the game started.
        tracker: Comparators that see every round, for learners whose theorems need them.
        reservoir: Candidates for `nk.finalize`, if requested.
        hindsight: Best comparators found after the game, if requested; not saved.
        position: Position at which to resume, after a whole batch: {"passes": passes completed, "at": ...}.
        fingerprint: Fingerprint of the source, to recognise it.
        earlier: Fingerprints of earlier sources.
        labels: The source's values of -1 and +1, or of 0, 1, 2, ..., once they are known.
        feature_names: Names of the learned columns, once a source has named them.
        encoding: How columns of the learned table become features; None if it was not a table.
        members: Ledgers of the learners of an ensemble, each of the same rounds.
        target: The predicted column and how it was chosen; None if the labels have no column.
        late: Counts of served answers in a game with delayed labels, whose ledger is in the order of arrival.
        drift: Drift test that watches the game, if any.
        weighted: Counts of rows by weight in a game with weighted rows; None if all weights are 1.
        proved: Certificates of the first rounds of a game whose comparators were left out of a model file.
        trace: Rounds with the potentials of the proof, if requested (game/trace.py); not saved.
        course: Points along the game, for charts, if requested (game/course.py); not saved.
        threshold: Score from which on new rows are predicted positive, if `nk.choose_threshold` chose one; counts and
            metrics of the game are those of the learner's own predictions.
        proof_record: Digest of the rows and mistakes of the game, for `write_proof`, if requested; not saved.
        mark: Counts when the game was last resumed, or after the round that was asked for; not saved.

    Example:
        >>> import novikoff as nk
        >>> ledger = nk.play("threshold-halving:10", [(5, -1), (8, -1), (9, 1)])
        >>> ledger.rounds, ledger.mistakes, ledger.mistake_rate
        (3, 3, 1.0)
        >>> ledger
        <Ledger threshold-halving:10 on pairs: 3 rounds, 3 mistakes (100 %)>
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
    adversary_before: object = None
    tracker: Tracker | None = None
    reservoir: HypothesisReservoir | None = None
    hindsight: Hindsight | MetricHindsight | KernelHindsight | None = None
    position: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    earlier: list[dict[str, Any]] = field(default_factory=list)
    labels: list[LabelValue] | None = None
    feature_names: list[str] | None = None
    encoding: Encoding | None = None
    answered: int = 0  # rounds that the adversary answered
    weighed: int = 0  # rows of `Game.learn_one`, which number the coins of their weights
    target: Target | None = None
    members: list[Ledger] = field(default_factory=list)
    late: Late | None = None
    drift: DriftWatch | None = None
    weighted: WeightedMetrics | None = None
    proved: Proved | None = None
    trace: Trace | None = None
    threshold: Threshold | None = None
    mark: Mark | None = None
    proof_record: ProofRecord | None = None
    course: Course | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.before is None:
            self.before = self.player.facts()
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
        figures = f"{counted(self.rounds, 'round')}, {paid}{rate}"
        if (weighted := self.weighted) is not None:
            lost = f"error {100 * self.mistake_rate:.3g} %" if self.counts else f"{self.loss_rate:.4g} per weight"
            figures = f"{counted(weighted.rows, 'row')} of weight {weighted.rounds:,}, {lost}; {figures}"
        return f"<Ledger {who}{where}: {figures}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        do = "Write nk.save(ledger, path), and nk.load(path) to read it."
        raise MismatchError("a ledger must be saved as a model file", "it was pickled", do)

    def __copy__(self) -> Ledger:
        return self._like(self.__dict__)

    def __deepcopy__(self, memo: dict[int, object]) -> Ledger:
        memo[id(self)] = copied = self._like({})
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def with_learner(self, player: Learner) -> Ledger:
        """Return a copy of the ledger with another state of its learner, to predict with."""
        return self._like({**self.__dict__, "learner": player.original, "player": player})

    def _like(self, attributes: dict[str, object]) -> Ledger:
        other = object.__new__(type(self))
        other.__dict__.update(attributes)
        return other

    def name_features(self, names: Sequence[str] | None) -> None:
        """Store the names of the features, unless they are known, here and in the learner."""
        if self.feature_names is None and names is not None:
            self.feature_names = list(names)
        if self.feature_names is not None:
            self.player.feature_names = self.feature_names

    def read_by(self, encoding: Encoding | None) -> None:
        """Store the encoding of a table, here and in the learner."""
        if encoding is not None:
            self.encoding = self.player.encoding = encoding
            for member in self.player.learners:
                member.encoding = encoding

    @property
    def rounds_before(self) -> int:
        """Rounds that the learner had played before this game; 0 if its facts do not count them."""
        return self.before.rounds if isinstance(self.before, CountsRounds) else 0

    @property
    def metrics(self) -> Metrics:
        """Counts from which rates are computed: of served predictions, of weighted rows, or else of the rounds."""
        if self.late is not None and self.late.served is not None:
            return self.late.served
        return self if self.weighted is None else self.weighted

    @property
    def mae(self) -> float | None:
        """Mean absolute error of predicted numbers; None for labels and before the first round."""
        known, metrics = self.player.task == "regression" and self.rounds, self.metrics
        return metrics.absolute / metrics.rounds if known else None

    @property
    def rmse(self) -> float | None:
        """Root mean squared error; None for other losses and before the first round."""
        known = self.player.task == "regression" and self.player.loss == "squared" and self.rounds
        return math.sqrt(self.loss_rate) if known else None

    @property
    def r2(self) -> float | None:
        """Coefficient of determination against the best constant; None if the constant is unknown or has loss 0."""
        constant = None if self.rmse is None else self.best_constant
        return None if constant is None or constant.costs <= 0.0 else 1.0 - self.metrics.loss / constant.costs

    @property
    def mistake_rate(self) -> float:
        """Mistakes per round; in a weighted game, per unit of weight."""
        metrics = self.metrics
        return metrics.mistakes / metrics.rounds if metrics.rounds else 0.0

    @property
    def loss_rate(self) -> float:
        """Loss per round; in a weighted game, per unit of weight."""
        metrics = self.metrics
        return metrics.loss / metrics.rounds if metrics.rounds else 0.0

    @property
    def confusion(self) -> Confusion | None:
        """Confusion table in the user's labels; None if outcomes are not labels or there are too many."""
        baselines = self.metrics.baselines
        labels = [-1, 1] if self._signs else sorted(baselines.labels(), key=self._order)
        table = baselines.confusion(labels) if self.counts else None
        return None if table is None or not self.rounds else Confusion(list(map(self.label, labels)), table)

    def _order(self, label: Prediction) -> tuple[bool, object]:
        """Return a sort key of a label: numbers by size, then texts."""
        name = self.label(label)
        return isinstance(name, str), name

    @property
    def best_constant(self) -> Constant | None:
        """Best constant prediction with its loss: a label, or a number for squared loss; None if unknown."""
        if not self.counts:
            return self.metrics.baselines.mean() if self.player.loss == "squared" else None
        found = self.metrics.baselines.most_frequent()
        return None if found is None else Constant(self.label(found.says), found.costs)

    @property
    def last_label(self) -> int | None:
        """Mistakes of predicting the previous label, +1 in the first round; None if outcomes are not labels."""
        return self.metrics.baselines.changes if self.counts else None

    @property
    def precision(self) -> float | None:
        """Fraction of the +1 predictions that are correct; None without +1 predictions or for other labels."""
        right, predicted, _ = self._positive()
        return right / predicted if predicted else None

    @property
    def recall(self) -> float | None:
        """Fraction of the +1 labels that were predicted; None without +1 labels or for other labels."""
        right, _, shown = self._positive()
        return right / shown if shown else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None if +1 was neither predicted nor observed."""
        right, predicted, shown = self._positive()
        return 2 * right / (predicted + shown) if predicted + shown else None

    @property
    def auc(self) -> Area | None:
        """Area under the ROC curve, up to binning; None without scores or if only one label was observed."""
        metrics = self.metrics
        area = metrics.ranking.area()
        return area if metrics.ranking.rounds == metrics.rounds else None

    def since(self, mark: Mark | None = None) -> Since | None:
        """Return the results of the last part of the game: since it was resumed, or after `nk.play(..., after=N)`.

        Args:
            mark: Counts of an earlier moment, from `marked()`; None for `self.mark`.

        Returns:
            Its results; None if there is no mark.

        Example:
            >>> import novikoff as nk
            >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 50
            >>> nk.play(nk.Perceptron(), rows, after=10).since().mistakes
            0
        """
        mark = self.mark if mark is None else mark
        return None if mark is None else mark.since(self)

    def marked(self) -> Mark:
        """Return a copy of the counts, for `since`."""
        from novikoff.game.since import Mark

        return Mark(self)

    def thresholds(self) -> Thresholds:
        """Return precision, recall and counts at every threshold of the scores, computed before each label was known.

        Returns:
            The rows of a table, the lowest threshold first; `frame()` makes a frame of them.

        Example:
            >>> import novikoff as nk
            >>> table = nk.play("logistic", nk.read("demo:breast-cancer")).thresholds()
            >>> row = table.at(0.0)  # the learner's own predictions: log-odds of 0
            >>> row.true_positives + row.false_positives + row.false_negatives + row.true_negatives
            569
        """
        from novikoff.game.thresholds import thresholds

        return thresholds(self)

    def _positive(self) -> tuple[int, int, int]:
        """Return the numbers of correct +1 predictions, +1 predictions and +1 labels; 0 for other labels."""
        (_, wrong), (missed, right) = self.metrics.baselines.confusion([-1, 1]) or ((0, 0), (0, 0))
        return (right, wrong + right, missed + right) if self._signs else (0, 0, 0)

    def label(self, label: Prediction) -> LabelValue:
        """Return the user's value of a label; the label itself if it has none."""
        if self.labels is None or not (self._signs or self.player.numbered):
            return label
        if self._signs:
            return self.labels[label == 1]
        if label == -1:
            return "none known"  # served before the first label
        return self.labels[int(label)] if 0 <= label < len(self.labels) else label

    @property
    def classes(self) -> list[LabelValue]:
        """Labels in the order of the columns of `predict_proba`: the user's values."""
        from novikoff.game.predicting import classes

        return classes(self)

    def predict(self, rows: object, missing_columns: MissingColumns = "refuse") -> Any:
        """Predict new rows, in the user's labels and through the encoding of the training table.

        Args:
            rows: A frame, path, stream, list of dicts, or array with one row per example; or one dict, array or list.
                A label column among them is ignored.
            missing_columns: "refuse" to raise an error for columns that are absent or new; "impute" to read absent ones
                as missing values, and to ignore new ones.

        Returns:
            An array with one prediction per row; for one row, the prediction.

        Example:
            >>> import novikoff as nk
            >>> rows = [({"age": 31, "city": "Rome"}, "stay"), ({"age": 45, "city": "Oslo"}, "leave")] * 5
            >>> ledger = nk.play("logistic", rows)
            >>> ledger.predict({"age": 45, "city": "Oslo"}), ledger.predict([{"age": 31, "city": "Rome"}]).tolist()
            ('leave', ['stay'])
        """
        from novikoff.game.predicting import predict

        return predict(self, rows, missing_columns)

    def predict_proba(self, rows: object, missing_columns: MissingColumns = "refuse") -> Any:
        """Return the probability of each label, for learners that predict probabilities.

        Args:
            rows: As in `predict`.
            missing_columns: As in `predict`.

        Returns:
            An array (rows, labels), whose columns are in the order of `classes`; for one row, a dict by label.
        """
        from novikoff.game.predicting import predict_proba

        return predict_proba(self, rows, missing_columns)

    def predict_set(self, rows: object, missing_columns: MissingColumns = "refuse") -> Any:
        """Return prediction sets, or intervals of numbers, of a conformal learner.

        Args:
            rows: As in `predict`.
            missing_columns: As in `predict`.

        Returns:
            A list of tuples, one per row; for one row, the tuple.
        """
        from novikoff.game.predicting import predict_set

        return predict_set(self, rows, missing_columns)

    @overload
    def why(
        self, row: Mapping[object, object] | str | NDArray[np.generic], label: LabelValue | None = None,
        against: Example | None = None,
    ) -> Explanation: ...  # fmt: skip
    @overload
    def why(self, row: object, label: LabelValue | None = None, against: Example | None = None) -> Any: ...
    def why(self, row: object, label: LabelValue | None = None, against: Example | None = None) -> Any:
        """Explain the prediction of a row: its score as a sum over the columns (game/explanation.py).

        Args:
            row: Dict, array, row of a frame, or text, as in training; or a frame, or a list of dicts.
            label: Label whose score is explained; None for the positive one of two labels, or the predicted one of
                more.
            against: Row to compare with, for any learner with scores; None for what the learner itself holds.

        Returns:
            The explanation; a list of them for a list of dicts, and for a frame with another number of rows than one.

        Example:
            >>> import novikoff as nk
            >>> rows = [({"free": 1, "call": 1}, 1), ({"see": 1, "you": 1}, -1)] * 3
            >>> print(nk.play("ftrl", rows).why({"free": 1, "you": 1}))
            prediction: -1
            log-odds of 1 -0.06367, by weight times value:
                 -0.6143  you = 1
                 +0.5794  free = 1
                -0.02879  bias
        """
        from novikoff.data.arrays import is_frame
        from novikoff.game.explanation import one_row, why
        from novikoff.game.predicting import explained

        against = one_row(against) if is_frame(against) else against
        dicts = isinstance(row, (list, tuple)) and bool(row) and all(isinstance(one, Mapping) for one in row)
        if not is_frame(row) and not dicts:
            return why(self, row, label, against)
        found = [why(self, one, label, against) for one in explained(self, row)]
        return found[0] if len(found) == 1 and not dicts else found

    def importance(self, kind: Kind | None = None, data: object = None, rows: int = 500) -> Importance:
        """Return the importance of the columns, the largest first (game/explanation.py).

        Args:
            kind: None for what the learner holds: weights, gains of cuts, or for a mixture the mean of both;
                "permutation" for the increase of the loss when the values of a column are exchanged between rows.
            data: Rows with labels for "permutation"; None for the last rows that the learner stores.
            rows: Largest number of rows for "permutation".

        Example:
            >>> import novikoff as nk
            >>> found = nk.play("logistic", nk.read("demo:breast-cancer")).importance()
            >>> found.columns[0], found.unit
            ('worst concave points', 'weight times standard deviation')
        """
        from novikoff.game.explanation import importance

        return importance(self, kind, data, rows)

    def export(self, path: str | os.PathLike[str], format: str | None = None) -> Exported:
        """Write a linear model, trees or a forest to a file that other programs can score (game/export.py).

        Args:
            path: File to write; an existing one is replaced.
            format: "json" or "onnx"; None for the ending of the path. ONNX needs the package onnx.

        Returns:
            What was written: path, format, kind and number of columns.

        Raises:
            MismatchError: If the model is neither linear nor a tree, or its features are hashed, dates or text.
        """
        from novikoff.game.export import export

        return export(self, path, format)

    def write(self, prediction: int, y: int, chance: float | None = None, weight: int | None = None) -> None:
        """Record one round.

        Args:
            prediction: Predicted label.
            y: Observed label.
            chance: Probability that the learner gave y, if it draws its predictions.
            weight: Weight of a row that takes several rounds: the whole weight in the first, 0 in the others. None if
                the row has weight 1.
        """
        if weight is not None or self.weighted is not None:
            chances = None if chance is None else np.array([1.0 - chance])
            played = StepResult(np.array([prediction]), None, None)
            self._weigh().score(played, np.array([y]), _one(weight), chances)
        self.deterministic &= chance is None
        mistake = prediction != y
        self._write_one(prediction, y, mistake, float(mistake) if chance is None else 1.0 - chance)

    def write_result(self, played: StepResult, y: float | NDArray[np.float64], weight: int | None = None) -> None:
        """Record one round of a learner that returns a `StepResult`."""
        weighted = weight is not None or self.weighted is not None
        if weighted or self.members or played.sets is not None or not (self._signs and self.counts):
            self.write_results(as_batch(played), np.asarray(y)[np.newaxis], _one(weight))
            return
        y = int(y)
        self.deterministic &= not self.player.draws
        if (p := played.probabilities) is not None:
            if p > 0.0:
                self._log_loss.add(-float(np.log(p)))  # numpy's log, as in batches: math.log may round differently
            else:
                self.impossible += 1
            self._brier.add((1.0 - p) * (1.0 - p) if played.briers is None else played.briers)
            self.calibration.write_one(p, y)
        self._write_one(played.predictions, y, played.predictions != y, float(played.expected))

    def _write_one(self, prediction: int, y: int, mistake: bool, expected: float) -> None:
        """Update the counts that every labelled round changes."""
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
        """Record rounds with labels.

        Args:
            predictions: (rows,) predicted labels.
            y: (rows,) observed labels.
            weights: Weights as in `Batch`.
            chances: (rows,) probability of a mistake, if the learner draws its predictions.
        """
        if weights is not None or self.weighted is not None:
            self._weigh().score(StepResult(predictions, None, None), y, weights, chances)
        self.count_batch(predictions, y, chances)

    def write_results(
        self, played: StepResult, y: NDArray[np.number], weights: NDArray[np.int64] | None = None
    ) -> None:
        """Record rounds of a learner that returns a `StepResult`."""
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
        """Count the scores of recorded rounds."""
        self.ranking.add(scores, y)
        if self.weighted is not None:
            self.weighted.rank(scores, y, weights)

    def rank_one(self, score: float, y: int, weight: int | None = None) -> None:
        """Count the score of a recorded round of a weighted game."""
        if self.weighted is not None:
            self.weighted.rank(np.array([score], dtype=np.float64), np.array([y], dtype=np.int8), _one(weight))

    def _weigh(self) -> WeightedMetrics:
        """Return the counts by weight, which start with the first weight that is not 1."""
        if self.weighted is None:
            self.weighted = WeightedMetrics.following(self)
        return self.weighted

    def _tally(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        super()._tally(predictions, y)
        if self.predictions is not None:
            self.predictions.append(predictions)

    def recorded(self) -> NDArray[np.number]:
        """Return every prediction in order; needs `record=True`."""
        return np.concatenate(self.predictions) if self.predictions else np.zeros(0, dtype=np.int8)

    def certify(
        self, adaptive: bool = False, fixed: bool | None = None, members: Sequence[Sequence[Certificate]] | None = None,
        comparators: ComparatorSums | None = None,
    ) -> list[Certificate]:  # fmt: skip
        """Return the certificates of the learner's and the adversary's theorems, the tightest valid one first.

        Args:
            adaptive: Whether the stream reacted to the learner; for members of an ensemble.
            fixed: Whether the stream was fixed in advance, for members of an ensemble; None for `self.fixed`.
            members: Result of `certify_members()`, if it is known.
            comparators: Further comparators from `nk.comparator_losses`.
        """
        return certify(self, adaptive, fixed, members, comparators)

    def write_proof(self, path: str | Path, force: bool = False, risks: Sequence[Certificate] = ()) -> None:
        """Write the certificates with what they follow from, for `novikoff verify` (docs/proofs.md).

        Args:
            path: File to write, .json.
            force: Whether to replace a file of another kind.
            risks: Certificates of a classifier made from this game (`nk.finalize`).

        Raises:
            InputError: If the game was not played with `proof=True`, or none of its certificates has a proof file.
        """
        from novikoff.game.proof_file import write_proof

        write_proof(self, path, force, risks)

    def certify_members(self, adaptive: bool = False, fixed: bool | None = None) -> list[list[Certificate]]:
        """Return the certificates of each learner of an ensemble."""
        adaptive, fixed = adaptive or self.adversary is not None, self.fixed if fixed is None else fixed
        return [member.certify(adaptive, fixed) for member in self.members]


def _one(weight: int | None) -> NDArray[np.int64] | None:
    return None if weight is None else np.array([weight], dtype=np.int64)
