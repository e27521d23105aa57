"""`predict`: the predictions of a saved model, row by row, and its error rate."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from novikoff.cli.games import Output, write_report
from novikoff.cli.opening import open_source, opened_table, print_notes, print_target
from novikoff.cli.prediction_file import PredictionFile, check
from novikoff.core.certificate import bound_text
from novikoff.core.errors import InputError, LabelError, MismatchError, SourceError, counted
from novikoff.core.labels import Numbering, alike, plain_label
from novikoff.core.learner import Predictor
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Labels
from novikoff.data.as_stream import check_presence, for_learner
from novikoff.data.tables.alignment import adopted
from novikoff.data.tables.table import Table
from novikoff.distributed.mixed import ParallelPerceptron
from novikoff.game import persistence
from novikoff.game.baselines import MOST
from novikoff.game.explanation import Explanation
from novikoff.game.explanation import why as explained
from novikoff.game.ledger import Ledger
from novikoff.game.predicting import probabilities, repeats
from novikoff.game.thresholds import Threshold
from novikoff.numerics.total import Total
from novikoff.online_to_batch.finalize import OnlineToBatch
from novikoff.online_to_batch.voting import RandomVote

EXACT = 2.0**53
"""Smallest integer whose successor is not a double."""
HINT = "If the source has no label column, pass --no-label."
"""Advice for a source whose columns do not match."""


def predict_source(
    path: str, source: str, options: dict[str, object], as_json: bool, labelled: bool = True, scores: bool = False,
    page: Output | None = None, why: bool = False, form: Form | None = None,
) -> int:  # fmt: skip
    """Run `novikoff predict` and return the exit code.

    Args:
        path: Model file.
        source: Source, as on the command line.
        options: Options of the reader.
        as_json: Print one JSON object.
        labelled: Whether the source has labels or outcomes to compare with.
        scores: Print the score after each label.
        page: Output options with the report to write.
        why: Print the contribution of each column after each prediction.
        form: Options about the table of predictions.
    """
    page, form = page or Output(as_json), form or Form()
    page.check()
    form.check(page.force, (path, source), why)
    if is_zipfile(source) and not is_zipfile(path):
        raise InputError(f"the model comes before the source. Try: novikoff predict {source} {path}")
    saved = persistence.load(path)
    saved = saved.kept if isinstance(saved, ParallelPerceptron) else saved
    classifier = saved.player if isinstance(saved, Ledger) else saved.predictor
    numbers = classifier.task == "regression"
    if scores and not classifier.scores and classifier.of_labels is None:
        raise InputError(f"--scores needs a classifier with scores: that of {path} has none. Leave it out.")
    if form.probabilities and (numbers or not classifier.probable):
        what = "a regressor" if numbers else "a learner without probabilities"
        raise InputError(f"--probabilities needs a classifier with probabilities: {path} is of {what}. Leave it out.")
    if form.threshold is not None:
        saved = _with_threshold(saved, path, form.threshold)
    out: Out | None = None
    try:
        stream = form.opened(options, saved, lambda reading: _open(source, reading, classifier, numbers, labelled))
        if form.id is not None:
            opened_table(stream).carry(form.id)
        stream = _matched(path, saved, classifier, stream, form.missing_columns == "impute")
        if isinstance(stream, Table):
            stream.keep_all = True
        if classifier.numbered:
            if not stream.unlabelled:
                stream.show_many()
        elif saved.labels and not numbers:
            stream.expected = Labels(*saved.labels)
        watch = None if isinstance(saved, Ledger) else Watch(saved)
        explain = _explained(path, saved, stream, scores) if why else None
        score = _scores(classifier, saved.labels) if scores else None
        out = Out(path, stream.name, as_json, score, explain)
        if form.table:
            out = Rows(path, stream, as_json, score, form, classifier, saved.labels)
        result = (_print_numbers if numbers else _print_labels)(saved, classifier, stream, path, out, watch)
    except BaseException as error:
        if isinstance(out, Rows):
            out.file.close(failed=True)
        if isinstance(error, LabelError) and labelled:
            error.advise(HINT)
        raise
    if isinstance(saved, Ledger) and (note := repeats(saved)) is not None:
        stream.notes.append(note)
    print_target(stream, as_json)
    print_notes(stream, as_json)
    facts, sentence = result
    facts |= {} if stream.target_column is None else {"target": stream.target_column._asdict()}
    facts |= {} if watch is None else watch.fields()
    out.end(facts)
    if page.report is not None:
        from novikoff.reports import page as pages

        lines = [sentence] if watch is None else [sentence, watch.sentence()]
        limits = () if isinstance(saved, Ledger) else saved.certificates
        write_report(page, pages.predictions(path, stream.name, lines, limits, facts, page.command))
    if as_json:
        return 0
    print(sentence, file=sys.stderr)
    if watch is not None:
        print(watch.sentence(), file=sys.stderr)
    return 0


def _with_threshold(saved: Ledger | OnlineToBatch, path: str, threshold: float) -> Ledger:
    """Return the game with another threshold of positive predictions."""
    if not isinstance(saved, Ledger):
        raise InputError(f"--threshold needs a model saved by `novikoff run`: {path} is a final classifier.")
    from novikoff.online_to_batch.choose_threshold import given_threshold

    saved.threshold = given_threshold(saved, threshold)
    return saved


def _open(source: str, options: dict[str, Any], classifier: Predictor, numbers: bool, labelled: bool) -> Stream:
    if labelled:
        return open_source(source, options, numbers)
    from novikoff.data.unlabelled import unlabelled

    given = {key: value for key, value in options.items() if value is not None}
    for option in ("label", "positive"):
        if option in given:
            raise InputError(f"--{option} and --no-label cannot be combined: leave one of them out.")
    return unlabelled(source, numbers=numbers, **given)


def _matched(
    path: str, saved: Ledger | OnlineToBatch, classifier: Predictor, stream: Stream, impute: bool = False
) -> Stream:
    """Return the source with the columns of the model; refuse one that does not fit before its first row is read."""
    wanted, shown, hint = _width(classifier), stream.domain.width, ""
    if wanted is not None and shown is not None:
        if stream.unlabelled and shown == wanted + 1:
            hint = "If one of its columns is the label, leave out --no-label."
        elif not stream.unlabelled and shown == wanted - 1:
            hint = HINT
    try:
        stream = adopted(stream, saved.encoding, saved.feature_names, path, learn=False, impute=impute)
    except MismatchError as error:
        if hint and "labelled" not in error.do:
            error.advise(hint)
        raise
    if saved.encoding is None and wanted is not None and shown is not None and wanted != shown:
        raise MismatchError(f"the model {path} has {counted(wanted, 'feature')}", f"{stream.name} has {shown:,}", hint)
    classifier.check_hash(stream)
    if isinstance(saved, Ledger):
        check_presence(saved.fingerprint, stream)
    if not classifier.domain.admits(stream.domain):
        raise MismatchError(f"the model {path} needs {classifier.domain}: {stream.name} has {stream.domain}.")
    return stream


def _width(classifier: Predictor) -> int | None:
    """Return the number of features that a classifier needs, or None if it is not fixed."""
    if classifier.domain.kind in ("vector", "point", "any") and classifier.domain.width is not None:
        return classifier.domain.width
    voters: Sequence[Predictor] = classifier.voters if isinstance(classifier, RandomVote) else ()
    each: tuple[Predictor, ...] = (classifier, *voters, *classifier.learners)
    for one in each:
        features = one.features
        if features is not None and features.kind == "array" and features.count:
            return features.count
    return None


class Out:
    """Writer of predictions as they are computed: one line each, or all in one JSON object.

    Args:
        path: Model file.
        source: Name of the source.
        as_json: Write one JSON object.
        score: Function from an example to its score, or to one score per class; written after the label or as a pair.
        why: Function from a row of the last batch and its example to an explanation; written below the prediction, or
            in its place in JSON.
    """

    def __init__(
        self, path: str, source: str, as_json: bool, score: Callable[[Any], Any] | None = None,
        why: Callable[[int, Any], Explanation] | None = None,
    ) -> None:  # fmt: skip
        self._head = {"model": path, "source": source}
        self._json, self._begun, self._score, self._why = as_json, False, score, why

    def write(self, predictions: list[Any], batch: Batch) -> None:
        if self._why is not None:
            found = [self._why(row, x) for row, (x, _) in enumerate(batch.rows())]
            if self._json:
                predictions = [one.plain() for one in found]
            else:
                below = (["", *one.lines()] for one in found)
                predictions = [str(one) + "\n  ".join(more) for one, more in zip(predictions, below, strict=True)]
        if self._score is not None:
            predictions = [[one, self._score(x)] for one, (x, _) in zip(predictions, batch.rows(), strict=True)]
        if not self._json:
            lines = predictions if self._score is None else [f"{one}\t{_written(score)}" for one, score in predictions]
            sys.stdout.write("".join(f"{one}\n" for one in lines))
        elif predictions:
            self._begin()
            sys.stdout.write(json.dumps(predictions)[1:-1])

    def _begin(self) -> None:
        if self._begun:
            sys.stdout.write(", ")
        else:
            sys.stdout.write(json.dumps(self._head)[:-1] + ', "predictions": [')
        self._begun = True

    def end(self, facts: dict[str, object]) -> None:
        """Write the end of the JSON object, with the facts known after the last row."""
        if self._json:
            if not self._begun:
                self._begin()
            sys.stdout.write("], " + json.dumps(facts)[1:] + "\n")


@dataclass(frozen=True)
class Form:
    """Options about predictions as a table.

    Attributes:
        id: Column of ids, by name or number, to repeat next to each prediction; None for none.
        probabilities: Whether to write the probability of each label.
        output: File to write; None for standard output.
        missing_columns: "refuse" or "impute", as in `Ledger.predict`.
        threshold: Threshold of positive predictions, a probability or a score; None for that of the model.
    """

    id: str | None = None
    probabilities: bool = False
    output: str | None = None
    missing_columns: str = "refuse"
    threshold: float | None = None

    @property
    def table(self) -> bool:
        """Whether predictions are written as a table with a header."""
        return self.id is not None or self.probabilities or self.output is not None

    def check(self, force: bool, sources: Sequence[str], why: bool) -> None:
        """Refuse impossible options before anything is read."""
        if why and self.table:
            raise InputError("--why cannot be combined with --id, --probabilities or --output: leave it out.")
        if self.output is not None:
            check(self.output, force, sources)

    def opened(
        self, options: dict[str, Any], saved: Ledger | OnlineToBatch, open: Callable[[dict[str, Any]], Stream]
    ) -> Stream:
        """Return the source without the id column, unless that was a feature in training."""
        encoding, left_out = saved.encoding, options.get("drop") or ()
        if self.id is None or encoding is None or any(one.name == self.id for one in encoding.columns):
            return open(options)
        if self.id in {encoding.label, *encoding.left_out}:
            return open(options)
        try:
            return open({**options, "drop": [*left_out, self.id]})
        except SourceError as error:
            if repr(self.id) in str(error):
                raise SourceError(str(error).replace("a column to leave out", "the id column", 1)) from None
            raise


class Rows(Out):
    """Writer of predictions as a table, or as one JSON object whose predictions are objects.

    Args:
        path: Model file.
        stream: Source.
        as_json: Write one JSON object.
        score: Function from an example to its score, or to one score per class.
        form: Options about the table.
        classifier: Model that predicts.
        labels: User's labels.
    """

    def __init__(
        self, path: str, stream: Stream, as_json: bool, score: Callable[[Any], Any] | None, form: Form,
        classifier: Predictor, labels: list[object] | None,
    ) -> None:  # fmt: skip
        super().__init__(path, stream.name, as_json)
        self._stream, self._classifier, self._form, self._of = stream, classifier, form, score
        self._names = list(labels or ()) or ([] if classifier.task == "multiclass" else [-1, 1])
        self.file = PredictionFile(form.output, form.id)

    def write(self, predictions: list[object], batch: Batch) -> None:
        if not predictions:
            return
        columns: dict[str, Sequence[Any]] = {}
        if self._form.id is not None:
            table = opened_table(self._stream)
            columns[str(table.carried)] = table.carried_values(len(batch))
        columns["prediction"] = predictions
        if self._form.probabilities:
            found = probabilities(self._classifier, batch)
            for place, name in enumerate(self._names or range(found.shape[1])):
                columns[f"probability_{name}"] = found[:, place].tolist()
        if self._of is not None:
            scores = [self._of(x) for x, _ in batch.rows()]
            several = isinstance(scores[0], dict)
            for name in scores[0] if several else [""]:
                columns[f"score_{name}" if several else "score"] = [one[name] if several else one for one in scores]
        if self._json and self._form.output is None:
            super().write([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], batch)
        else:
            self.file.write(columns)

    def end(self, facts: dict[str, object]) -> None:
        if self._form.output is None:
            super().end(facts)
            return
        self.file.close()
        if self._json:
            sys.stdout.write(json.dumps({**self._head, "output": self._form.output, **facts}) + "\n")
        else:
            print(f"{counted(self.file.rows, 'prediction')} in {self._form.output}", file=sys.stderr)


def _explained(
    path: str, saved: Ledger | OnlineToBatch, stream: Stream, scores: bool
) -> Callable[[int, Any], Explanation]:
    """Return a function from a row of the last batch and its example to an explanation."""
    if scores:
        raise InputError("--why and --scores cannot be combined: --why prints scores. Leave out --scores.")
    if not isinstance(saved, Ledger):
        raise InputError(f"--why needs a model saved by `novikoff run`: {path} is a final classifier. Leave it out.")
    ledger, table = saved, stream if isinstance(stream, Table) else None
    return lambda row, x: explained(ledger, x, cells=None if table is None else table.cells(row))


def _scores(classifier: Predictor, labels: list[object] | None) -> Callable[[Any], Any]:
    """Return the function from an example to its score; for a multiclass model, to the score of each class by name."""
    each = classifier.of_labels
    if each is None:
        return lambda x: float(classifier.score_one(x))
    numbering = Numbering(list(labels or ()))
    return lambda x: {str(numbering.decode(label)): float(score) for label, score in enumerate(each(x))}


def _written(score: object) -> str:
    """Format a score, or the scores of all classes, for one line."""
    return "\t".join(f"{name}={one!r}" for name, one in score.items()) if isinstance(score, dict) else repr(score)


Summary = tuple[dict[str, Any], str]
"""Summary of the predictions: JSON fields, and a sentence."""


def _print_labels(
    saved: Ledger | OnlineToBatch, classifier: Predictor, stream: Stream, path: str, out: Out, watch: Watch | None
) -> Summary:
    """Print the label of every example, or its set; return the number of mistakes."""
    rows = mistakes = held = judged = 0
    pairs: Counter[tuple[Any, Any]] = Counter()
    sets = classifier.covers
    threshold = saved.threshold if isinstance(saved, Ledger) else None
    numbering = Numbering(list(saved.labels or ())) if classifier.numbered else None
    for batch in stream.batches():
        labels = Labels(*saved.labels) if saved.labels and numbering is None else stream.labels or Labels()
        known, came = _labelled(stream, batch)
        if numbering is not None:
            if not stream.unlabelled and len(came):
                came = for_learner(replace(batch, y=came), stream, classifier, numbering).y
        elif stream.labels is not None and not alike(stream.labels.positive, labels.positive):
            raise MismatchError(
                f"{labels.positive!r} is +1 in {path}: in {stream.name} it is {stream.labels.positive!r}. "
                f"Pass --positive {labels.positive}."
            )
        _check_exact(batch, classifier, stream)
        predictions = classifier.predict_many(batch) if threshold is None else threshold.predict(classifier, batch)
        words: dict[float, object] = (
            {y: plain_label(labels.decode(y)) for y in (-1, 1)} if classifier.task != "multiclass" else {}
        )
        if numbering is not None:
            words = dict(enumerate(numbering.values))
        if sets:
            found = [classifier.predict_set(x) for x, _ in batch.rows()]
            out.write([Set([words.get(label, label) for label in one]) for one in found], batch)
            if not stream.unlabelled:
                held += sum(y in found[row] for row, y in zip(known.tolist(), came.tolist(), strict=True))
        else:
            out.write([words.get(label, label) for label in predictions.tolist()], batch)
        rows += len(batch)
        if not stream.unlabelled:
            wrong = predictions[known] != came
            judged += len(came)
            mistakes += int(np.count_nonzero(wrong))
            pairs.update(zip(came.tolist(), predictions[known].tolist(), strict=True))
            if watch is not None:
                watch.see(wrong)
    at = "" if threshold is None else f"; positive from {threshold.value:.3g} on"
    used: dict[str, Any] = {} if threshold is None else {"threshold": _finite(threshold.value)}
    if stream.unlabelled or (rows and not judged):
        return {"rows": rows, **used}, counted(rows, "row") + at
    rate = mistakes / judged if judged else 0.0
    facts: dict[str, Any] = {"rows": rows, "mistakes": mistakes, "mistake_rate": rate, **used}
    facts |= {"labelled": judged} if judged < rows else {}
    constant = ""
    if pairs:
        true: Counter[Any] = Counter()
        for (came, _), times in pairs.items():
            true[words.get(came, came)] += times
        seen = sorted({label for pair in pairs for label in pair})
        if numbering is not None:
            seen.sort(key=lambda label: (isinstance(words[label], str), words[label]))
        if len(seen) <= MOST:
            table = [[pairs[came, one] for one in seen] for came in seen]
            facts["confusion"] = {"labels": [words.get(label, label) for label in seen], "table": table}
        often, times = max(true.items(), key=lambda item: item[1])
        facts["baselines"] = {"best_constant": {"says": often, "mistakes": judged - times}}
        constant = f"; always predicting {often}: {judged - times:,}"
    if sets:
        return facts | {"held": held}, _held(held, judged, "label")
    if threshold is not None and judged:
        at += _at_threshold(threshold, pairs, facts)
    with_label = counted(judged, "row") + (" with a label" if judged < rows else "")
    return facts, f"{counted(mistakes, 'mistake')} in {with_label} ({100 * rate:.3g} %){constant}{at}"


def _labelled(stream: Stream, batch: Batch) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the rows of a batch that have a label, and their labels."""
    gone = stream.unlabelled_rows(len(batch)) if isinstance(stream, Table) else None
    if gone is None:
        return np.arange(len(batch)), batch.y
    known = np.flatnonzero(~gone)
    return known, batch.y[known]


def _at_threshold(threshold: Threshold, pairs: Counter[tuple[Any, Any]], facts: dict[str, Any]) -> str:
    """Return precision, recall and cost of a threshold on these rows, with the limits if they are fresh."""
    counts = [pairs[came, found] for came, found in ((1, 1), (-1, 1), (1, -1), (-1, -1))]
    from novikoff.online_to_batch.choose_threshold import on_fresh_rows
    from novikoff.reports import thresholds
    from novikoff.reports.plain import certificate

    here = on_fresh_rows(threshold, counts)
    row = here.row
    facts |= {"precision": row.precision, "recall": row.recall, "cost": here.cost}
    parts = [f"{name} {value:.3g}" for name, value in (("precision", row.precision), ("recall", row.recall))
             if value is not None]  # fmt: skip
    costs = f"FP={here.cost_fp:g}, FN={here.cost_fn:g}"
    parts.append(f"cost {here.cost:.3g} per row for {costs} (best constant: {here.constant_cost:.3g})")
    facts["limits"] = [certificate(one) for one in here.certificates]
    limits = thresholds.limits(here)
    return f"; {'; '.join(parts)}\n{limits}" + (", new to the model" if limits.startswith("guaranteed") else "")


def _finite(value: float) -> float | None:
    """Return a number for JSON; None for an infinite one."""
    return value if math.isfinite(value) else None


def _print_numbers(
    saved: Ledger | OnlineToBatch, classifier: Predictor, stream: Stream, path: str, out: Out, watch: Watch | None
) -> Summary:
    """Print the number predicted for every example, or its interval; return the mean loss."""
    rows, lost, held, sets = 0, 0.0, 0, classifier.covers
    misses, squares, outcomes = Total(), Total(), Spread()
    for batch in stream.batches():
        predictions = classifier.predict_ahead(batch)
        known, came = _labelled(stream, batch)
        if sets:
            found = [classifier.predict_set(x, ahead=True) for x, _ in batch.rows()]
            out.write([Interval(one) for one in found], batch)
            if not stream.unlabelled:
                pairs = zip(came.tolist(), (found[row] for row in known.tolist()), strict=True)
                held += sum(bool(one) and one[0] <= y <= one[1] for y, one in pairs)
        else:
            out.write(predictions.tolist(), batch)
        rows += len(batch)
        if not stream.unlabelled:
            ahead, came = predictions[known].astype(np.float64), came.astype(np.float64)
            lost += float(classifier.costs(ahead, came).sum())
            misses.add_all(np.abs(ahead - came))
            squares.add_all((ahead - came) ** 2)
            outcomes.add_all(came)
    judged = outcomes.count
    if stream.unlabelled or (rows and not judged):
        return {"rows": rows}, counted(rows, "row")
    mean = lost / judged if judged else 0.0
    facts: dict[str, Any] = {"rows": rows, "mean_loss": mean}
    facts |= {"labelled": judged} if judged < rows else {}
    if sets:
        return facts | {"held": held}, _held(held, judged, "number")
    with_label = counted(judged, "row") + (" with a number" if judged < rows else "")
    sentence = f"mean {classifier.loss} loss {mean:.6g} over {with_label}"
    if judged:
        facts |= {"rmse": math.sqrt(float(squares) / judged), "mae": float(misses) / judged}
        facts["baselines"] = {"mean": {"says": outcomes.mean, "rmse": outcomes.deviation}}
        sentence = (
            f"RMSE {facts['rmse']:.4g}, MAE {facts['mae']:.4g} in {with_label}; always predicting their mean "
            f"{outcomes.mean:.4g}: RMSE {outcomes.deviation:.4g}"
        )
        if watch is not None or classifier.loss != "squared":
            sentence += f"; mean {classifier.loss} loss {mean:.6g}"
    return facts, sentence


class Spread:
    """Mean and standard deviation of the outcomes of all batches."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add_all(self, values: NDArray[np.float64]) -> None:
        """Add the outcomes of one batch."""
        if not len(values):
            return
        here, count = float(values.mean()), self.count + len(values)
        apart = here - self.mean
        self._squares += float(((values - here) ** 2).sum()) + apart * apart * self.count * (len(values) / count)
        self.mean += apart * (len(values) / count)
        self.count = count

    @property
    def deviation(self) -> float:
        """RMSE of always predicting the mean."""
        return math.sqrt(self._squares / self.count) if self.count else 0.0


class Set(list[Any]):
    """Prediction set of labels, printed with bars between them; a list in JSON."""

    def __str__(self) -> str:
        return "|".join(map(str, self)) if self else "nothing"


class Interval(list[Any]):
    """Prediction interval, printed as lo..hi; a list in JSON, with null for an infinite end."""

    def __init__(self, ends: tuple[float, ...]) -> None:
        super().__init__(end if math.isfinite(end) else None for end in ends)

    def __str__(self) -> str:
        if not self:
            return "nothing"
        return "everything" if None in self else f"{self[0]!r}..{self[1]!r}"


def _held(held: int, rows: int, what: str) -> str:
    """Describe the coverage of the sets; thresholds that no longer learn have no guarantee."""
    share = f"{100 * held / rows:.4g} %" if rows else "undefined"
    sets = f"{held:,} of {counted(rows, 'set')} contain the {what}"
    return f"coverage {share}: {sets}; no guarantee, as predicting does not adapt the thresholds"


def _check_exact(batch: Batch, classifier: Predictor, stream: Stream) -> None:
    """Refuse integers that doubles cannot represent: a table without labels is read as doubles."""
    whole = stream.unlabelled and classifier.domain.kind in ("index", "point")
    if whole and isinstance(batch.x, np.ndarray) and (np.abs(batch.x) >= EXACT).any():
        raise InputError(f"integers must be below 2^53 in a source without labels: {stream.name} has larger ones.")


class Watch:
    """The guarantee of a final classifier, and a test of it on new rows."""

    def __init__(self, kept: OnlineToBatch) -> None:
        self._kept, self._limit, self._monitor, self._seen = kept, None, None, False
        self._numbers = kept.predictor.task == "regression"
        certificate = kept.certificate
        if certificate is not None and certificate.bound is not None:
            self._limit = float(certificate.bound)
            # A drawn classifier has a bound on the mean only, which its errors cannot refute.
            if 0.0 < self._limit < 1.0 and not kept.drawn and not self._numbers:
                from novikoff.drift.monitor import Monitor

                self._monitor = Monitor(self._limit)

    def see(self, wrong: NDArray[np.bool_]) -> None:
        self._seen = True
        if self._monitor is not None:
            self._monitor.see(wrong)

    def fields(self) -> dict[str, Any]:
        alarm = self._monitor.alarm if self._monitor is not None and self._seen else None
        return {"how": self._kept.how, "limit": self._limit, "delta": self._kept.delta, "drawn": self._kept.drawn,
                "alarm": alarm}  # fmt: skip

    def sentence(self) -> str:
        """Return the guarantee, and whether these rows refute its assumption."""
        if self._limit is None:
            certificate = self._kept.certificate
            why = f": {certificate.reason}" if certificate is not None else ""
            return f"final classifier: {self._kept.how}; no bound on its error rate is known{why}"
        what = "expected loss" if self._numbers else "error rate"
        mean = " (mean over the random draw of the classifier)" if self._kept.drawn else ""
        bound = f"guaranteed: {what} at most {bound_text(self._limit, 'upper')}{mean}"
        bound += f" with probability {1 - self._kept.delta:.6g}"
        if self._monitor is None or not self._monitor.alarm:
            return f"{bound}, if these rows are independent draws from the training distribution"
        return f"{bound}, on independent draws from the training distribution; too many errors: these rows are not"
