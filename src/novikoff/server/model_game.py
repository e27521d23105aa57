"""Game of one model: learner, ledger, and the user's names of labels. It does no input or output.

The game is played in the order in which labels arrive (late.py). Rows are bytes (examples.py), in batches.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.arena.replay import shown as shown_certificate
from novikoff.core.errors import InputError, NovikoffError, SpecError, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, Labels, Sparse, StepResult, check_label
from novikoff.data.tables.alignment import adopted_row
from novikoff.data.tables.encoding import Surprises
from novikoff.data.tables.records import checked_schema, first_encoding
from novikoff.drift.monitor import DriftTest, DriftWatch
from novikoff.experts.hedge import Hedge
from novikoff.game import specs
from novikoff.game.delayed.late import Late
from novikoff.game.explanation import importance, why
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.metrics import Forecast
from novikoff.game.persistence import ledger_of, snapshot
from novikoff.game.predicting import probabilities
from novikoff.game.prepare import RowShape, learner_for, scaled
from novikoff.numerics.coins import uniform
from novikoff.reports import plain, sentences, terminal
from novikoff.server.examples import EXACT, PAIRS, Rows
from novikoff.server.wire import Model

MOST_LABELS = 10_000
"""Largest number of labels of a multiclass model."""
MOST_LETTERS = 200
"""Largest number of characters of a label."""
MOST_SPEC, MOST_LEARNERS = 10_000, 200
"""Largest number of characters, and of learners in brackets, of a spec: making thousands takes many seconds."""
MOST_BITS = 24
"""Largest number of bits of the feature hash."""


class Predictions(Observer):
    """Observer that collects the predictions of the rounds played, and their scores where there are any."""

    def __init__(self, late: Late) -> None:
        self.values: list[Any] = []
        self.scores: list[float | None] = []
        self._late = late

    def see(self, batch: Batch, result: StepResult) -> None:
        self.values += np.asarray(result.predictions).tolist()
        found = result.scores if self._late.noted is None else self._late.noted
        scores = [] if found is None else np.asarray(found).tolist()
        if len(scores) == len(batch) and isinstance(scores[0], float):
            self.scores += [score if math.isfinite(score) else None for score in scores]

    def clear(self) -> None:
        """Forget all rounds."""
        self.values.clear()
        self.scores.clear()


def check_options(options: Model) -> None:
    """Refuse invalid options, whatever the learner."""
    if len(options.learner) > MOST_SPEC or options.learner.count("[") > MOST_LEARNERS:
        raise SpecError(f"a spec must have at most {MOST_SPEC:,} characters and {MOST_LEARNERS} brackets.")
    if not 1 <= options.bits <= MOST_BITS:
        raise SpecError(f"bits must be from 1 to {MOST_BITS}: got {options.bits}.")
    if not 1 <= options.most_pending <= 10**9:
        raise SpecError(f"most_pending must be from 1 to 10^9: got {options.most_pending}.")
    if options.expire_seconds is not None and not 0.0 < options.expire_seconds < math.inf:
        raise SpecError(f"expire_seconds must be above 0: got {options.expire_seconds}.")
    if options.keep_examples is not None and not 0 <= options.keep_examples <= 10**15:
        raise SpecError(f"keep_examples must be from 0 to 10^15: got {options.keep_examples}.")


def begin(options: Model, name: str) -> Ledger:
    """Return the ledger of a new game."""
    check_options(options)
    if (options.negative is None) != (options.positive is None) or (options.positive is not None and options.labels):
        raise SpecError("negative and positive must be given together, and not with labels.")
    if options.positive is not None and options.positive == options.negative:
        raise SpecError(f"negative and positive must differ: both are {options.positive!r}.")
    rows = RowShape(scaled=options.schema is not None, multiclass=options.labels == "multiclass")
    if options.schema:
        checked_schema(options.schema)
    learner = learner_for(scaled(specs.parse(options.learner), rows), rows, {"seed": options.seed})
    ledger = Ledger(learner, source=f"the service, {name}", spec=options.learner)
    if learner.task == "losses":
        raise SpecError("the service needs a learner on examples: this one plays on losses.")
    if options.labels and not ledger.player.numbered:
        raise SpecError(f"labels=multiclass needs a multiclass learner: {options.learner} is not.")
    if options.positive is not None:
        if not ledger._signs:
            raise SpecError("negative and positive need a binary classifier: this learner is not one.")
        ledger.labels = [options.negative, options.positive]
    ledger.fingerprint = {"bits": options.bits}  # a downloaded file records how its features were hashed
    return ledger


def bits_of(ledger: Ledger, requested: int | None) -> int:
    """Return the bits of the feature hash of an uploaded game; refuse it if its features were not hashed that way."""
    known = (ledger.fingerprint or {}).get("bits")
    if ledger.encoding is not None:
        return int(requested or Model("").bits)  # objects are encoded like the rows of its table
    for learner in (ledger.player, ledger.player.within, *ledger.player.learners):
        features = learner.features
        if features is None or features.kind in (None, "array"):
            continue
        found = features.count.bit_length() - 1
        if features.kind == "names" or features.count != 2**found:
            raise SpecError("the features of this game are named or numbered: the service needs hashed features, "
                            "as in JSON lines, or arrays of numbers.")  # fmt: skip
        known = found
    if known is not None and requested not in (None, known):
        raise SpecError(f"'bits' is {requested}, but the model was trained with {known}: leave it out.")
    bits = int(known or requested or Model("").bits)
    ledger.fingerprint = {**(ledger.fingerprint or {}), "bits": bits}
    return bits


def certified(ledger: Ledger, n: int) -> dict[str, object]:
    """Return the certificates of a game, with the counts they are about."""
    late = ledger.late
    assert late is not None
    return {
        "as_of_arrival": n,
        "predicted": late.predicted,
        "labelled": late.labelled,
        "pending": late.waiting,
        "expired": late.expired,
        "mistakes": late.mistakes if ledger.counts else None,
        "arrival_mistakes": late.arrival_mistakes if ledger.counts else None,
        "changed": late.changed,
        "most_pending": late.others,
        **context(ledger),
        "variant": "arrival",
        "certificates": [shown_certificate(one) for one in ledger.certify()],
    }


def context(ledger: Ledger) -> dict[str, object]:
    """Return figures to compare the counts with: loss of a regression, baselines, drift test."""
    found: dict[str, Any] = {} if ledger.counts else {"loss": ledger.loss, "loss_name": ledger.player.loss}
    found["baselines"] = plain.baselines(ledger)
    if ledger.drift is not None:
        found["drift"] = {**plain.drift(ledger.drift.test), "sentence": sentences.whole(terminal.watched(ledger))}
    return found


class Play:
    """A game in progress.

    Args:
        ledger: Ledger of the game so far.
        bits: Bits of the feature hash.
        schema: Kinds of columns, if objects are rows of a table; {} to detect them; None to hash objects.
    """

    def __init__(self, ledger: Ledger, bits: int, schema: dict[str, str] | None = None) -> None:
        if ledger.late is None:
            if ledger.encoding is not None and ledger.encoding.lags is not None:
                raise InputError(
                    "a served model must be without lags", "got a model with lags", "Use novikoff predict."
                )
            ledger.late = Late.begin(ledger)
        if ledger.drift is None and ledger.counts:
            ledger.drift = DriftWatch()
        self._observed = Predictions(ledger.late)
        self.ledger, self.late = ledger, ledger.late
        self._schema = schema
        table = schema is not None or ledger.encoding is not None
        self.game = self._game()
        self.learner = ledger.player
        self.rows = Rows(ledger.player.domain, bits, self._row if table else None)
        self._bits = bits
        self._labels = None if ledger.labels is None or ledger.player.numbered else Labels(*ledger.labels)
        self._scored = ledger._signs and ledger.player.scores

    def _game(self) -> Game:
        return Game(self.ledger.learner, self.ledger, observers=[self._observed], schema=self._schema or None)

    def reset_drift(self) -> None:
        """Begin the drift test again."""
        if self.ledger.drift is not None:
            self.ledger.drift = DriftWatch()
            self.game = self._game()

    def weights(self) -> list[float]:
        """Return the probability of each learner of a team to be followed."""
        assert isinstance(self.learner, Hedge)
        found: list[float] = self.learner.weights.tolist()
        return found

    def follow(self, ids: Sequence[str], seed: int) -> NDArray[np.int64]:
        """Return which learner of a team each id follows, drawn by the present weights."""
        assert isinstance(self.learner, Hedge)
        sums = np.cumsum(self.learner.weights)
        draws = [uniform(seed, f"id {id}", self.ledger.rounds) for id in ids]
        return np.searchsorted(sums[:-1] / sums[-1], np.array(draws), side="right")

    def warm_up(self, form: str | None) -> None:
        """Compile the loops by playing a few rounds of another game."""
        twin = Play(ledger_of(snapshot(self.ledger)), self._bits, self._schema)
        if form is None and self.rows.records:
            form = "record"
        kind, _, width = (form or "pairs").partition(" ")
        row = np.zeros(1, PAIRS).tobytes() if kind == "pairs" else bytes(8 * int(width or 1))
        row = b'{"x": 1, "c": "a"}' if kind == "record" else row
        with suppress(NovikoffError):
            twin.predict(form or "pairs", [row])
            label = twin.decode(1) if self.ledger._signs else 0.0
            twin.learn(form or "pairs", [row] * 2, [label] * 2)
            if twin.ledger.drift is not None:  # its loop would first be called much later
                twin.ledger.drift = DriftWatch(DriftTest(first=1))
                Play(twin.ledger, self._bits, self._schema).learn(form or "pairs", [row] * 4, [label] * 4)

    def predict(
        self, form: str, rows: Sequence[bytes], count: bool = True, members: NDArray[np.int64] | None = None
    ) -> tuple[list[object], list[float | None]]:
        """Return the prediction of each row, encoded as for the learner, and its score, None without one.

        Args:
            form: Form of the rows.
            rows: Examples as bytes.
            count: Whether the rounds wait for their labels.
            members: Learner of a team that each row follows.
        """
        batch = self._batch(form, rows, np.ones(len(rows), np.int8), False)
        scores: list[float | None] = [None] * len(rows)
        if self._scored:
            found = self.learner.scores_many(batch).tolist()
            scores = [score if math.isfinite(score) else None for score in found]
        predictions = self.game.predict_batch(batch, count)
        if members is not None and not (self.learner.numbered and not self.learner.labels):
            assert isinstance(self.learner, Hedge)
            for k in set(members.tolist()):
                predictions = np.where(members == k, self.learner.learners[k].predict_many(batch), predictions)
        return predictions.tolist(), scores

    def why(self, form: str, row: bytes, x: object) -> dict[str, object]:
        """Return the score of an example as a sum over its features; `x` is the example as it was sent."""
        if form == "record":
            return why(self.ledger, json.loads(row)).plain()
        batch = self.rows.batch(form, [row], np.ones(1, np.int8), self.ledger.rounds + 1)
        cells = {str(key): value for key, value in x.items()} if isinstance(x, dict) else {}
        return why(self.ledger, batch.example(0), cells=cells, words=self.rows.names(x)).plain()

    def probabilities(self, form: str, row: bytes) -> list[dict[str, Any]]:
        """Return each known label with its probability."""
        (found,) = probabilities(self.learner, self._batch(form, [row], np.ones(1, np.int8), False)).tolist()
        names = range(len(found)) if self.learner.numbered else (-1, 1)
        return [{"label": self.decode(name), "probability": p} for name, p in zip(names, found, strict=True)]

    def set_of(self, form: str, row: bytes) -> list[Any]:
        """Return the prediction set of a conformal learner: labels, or the ends of an interval, None if infinite."""
        batch = self._batch(form, [row], np.ones(1, np.int8), False)
        if self.learner.task == "regression":
            ends = self.learner.predict_set(batch.example(0), ahead=True)
            return [float(end) if math.isfinite(end) else None for end in ends]
        return [self.decode(label) for label in self.learner.predict_set(batch.example(0))]

    def importance(self) -> dict[str, object]:
        """Return the importance of the features, with the names of those read since the start."""
        return importance(self.ledger, names=self.rows.known()).plain()

    def learn(
        self, form: str, rows: Sequence[bytes], labels: Sequence[object],
        served: Sequence[tuple[object, int, float | None]] | None = None,
    ) -> list[tuple[Any, Any] | NovikoffError]:  # fmt: skip
        """Learn rounds in order; return for each its encoded label and the prediction on arrival, or an error.

        Args:
            form: Form of the rows.
            rows: Examples as bytes.
            labels: Labels as the user names them.
            served: Served prediction, version and score of each round; None if predict and label come together.
        """
        results: list[tuple[object, object] | NovikoffError] = []
        some = len(rows)
        while (at := len(results)) < len(rows):
            part = slice(at, at + some)
            self._observed.clear()
            y: list[Any] = []
            try:
                y = self._encoded(labels[part])
                self._learn(form, rows[part], self._array(y), None if served is None else served[part])
            except NovikoffError as error:
                if some == 1:
                    results.append(error)
                    self._cut()
                    continue
                some = 1  # one of the rounds is invalid: continue one by one to find it
            results += zip(y, self._observed.values, strict=False)
        return results

    def _learn(
        self, form: str, rows: Sequence[bytes], y: NDArray[Any], served: Sequence[tuple[Any, int, float | None]] | None
    ) -> None:  # fmt: skip
        known = self.ledger.encoding
        kept = None if known is None else known.kept()
        try:
            batch = self._batch(form, rows, y, True)
            if served is None:
                self.game.learn_batch(batch)
            else:
                predictions, versions, scores = zip(*served, strict=True)
                forecasts = self._forecasts(versions, scores)
                self.game.learn_batch(batch, np.array(predictions), np.array(versions, np.int64), forecasts)
        except NovikoffError:
            if known is None:
                self.ledger.encoding = self.learner.encoding = None
            elif kept is not None:
                known.forget(kept)
            raise

    def replay(
        self, form: str, rows: Sequence[bytes], y: Sequence[object],
        served: Sequence[tuple[object, int, float | None, int]],
    ) -> list[object]:  # fmt: skip
        """Replay rounds with their served prediction, version, score and waiting rounds; return the predictions now."""
        self._observed.clear()
        batch = self._batch(form, rows, self._array(y), True)
        predictions, versions, scores, others = zip(*served, strict=True)
        forecasts = self._forecasts(versions, scores)
        most = max(self.late.others, *others)
        self.game.learn_batch(batch, np.array(predictions), np.array(versions, np.int64), forecasts)
        self.late.others = most  # the batch also counts rounds that were predicted after these labels arrived
        return list(self._observed.values)

    def learn_pairs(
        self, form: str, rows: Sequence[bytes], labels: Sequence[object]
    ) -> list[tuple[Any, Any, float | None]] | None:
        """Learn rounds whose labels come before the next prediction, in one batch.

        Return the encoded label, prediction and score of each; or None, and learn nothing, if one of them is invalid
        or the learner has scores that it does not report when it learns.
        """
        reports = not self._scored or self.learner.tells_scores or self.learner.probable
        if self.learner.draws or self.learner.covers or not reports:
            return None
        self._observed.clear()
        try:
            y = self._encoded(labels)
            self._learn(form, rows, self._array(y), None)
        except NovikoffError:
            self._cut()
            return None
        scores = self._observed.scores if self._scored else [None] * len(rows)
        return list(zip(y, self._observed.values, scores, strict=True))

    def _forecasts(self, versions: Sequence[int], scores: Sequence[float | None]) -> list[Forecast | None]:
        """Return what was served with each round; None where nothing was learned since, and its score is known."""
        now = enumerate(versions, self.ledger.rounds)
        return [
            None if score is None or version == rounds else Forecast(score)
            for (rounds, version), score in zip(now, scores, strict=True)
        ]

    def _row(self, x: dict[str, object]) -> Any:
        """Return an object as the learner takes it; the first object of a game decides the columns if it is learned."""
        encoding = self.ledger.encoding
        if encoding is None:
            return adopted_row(x, first_encoding(x, self._schema), None, surprises=Surprises(live=True))
        return self.game.encoded(x)

    def _batch(self, form: str, rows: Sequence[bytes], y: NDArray[Any], learn: bool) -> Batch:
        """Return stored rows as a batch; if `learn`, columns and categories of records become features."""
        first = self.ledger.rounds + 1
        if form != "record":
            return self.rows.batch(form, rows, y, first)
        objects = [json.loads(row) for row in rows]
        if learn and self.ledger.encoding is None:
            self.ledger.read_by(first_encoding(objects[0], self._schema))
        found: list[Any] = [self.game.encoded(x, learn=True) if learn else self._row(x) for x in objects]
        encoding = self.ledger.encoding
        if isinstance(found[0], np.ndarray):
            width = max(map(len, found))
            if learn:
                self.learner.widen_all(width)
            table = np.zeros((len(found), width))
            for place, row in enumerate(found):
                table[place, : len(row)] = row
            return Batch(table, y, first, memory="owned", encoding=encoding)
        ends = np.zeros(len(found) + 1, np.uint64)
        np.cumsum([len(places) for places, _ in found], out=ends[1:])
        indices = np.concatenate([places for places, _ in found])
        values = np.concatenate([row for _, row in found])
        width = max(0 if encoding is None else encoding.width, int(indices.max(initial=0)) + 1)
        return Batch(Sparse(ends, indices, values, width, checked=True), y, first, memory="owned", encoding=encoding)

    def _array(self, y: Sequence[object]) -> NDArray[Any]:
        kinds = {"binary": np.int8, "multiclass": np.int64}
        return np.array(y, kinds.get(self.learner.task, np.float64))

    @property
    def values(self) -> list[Any]:
        """User's names of the classes of a multiclass model, by number."""
        return [] if self.game.numbering is None else self.game.numbering.values

    def name_labels(self, values: Sequence[object]) -> None:
        """Add names of classes."""
        for value in values:
            self._numbering().encode(value)

    def _numbering(self) -> Numbering:
        assert self.game.numbering is not None
        return self.game.numbering

    def _cut(self) -> None:
        """Forget classes of which nothing was learned."""
        if self.learner.numbered:
            self._numbering().cut(self.learner.labels or 0)

    def _encoded(self, labels: Sequence[object]) -> list[object]:
        """Encode labels of the user for the learner."""
        self._cut()
        found = [self.encode(label, new=True) for label in labels]
        if len(self.values) > MOST_LABELS:
            self._cut()
            raise InputError(f"there must be at most {MOST_LABELS:,} labels.")
        return found

    def encode(self, label: object, new: bool = False) -> object:
        """Encode a label of the user; an unknown class is None, or is added with `new`."""
        label = float(label) if type(label) is int and abs(label) < EXACT else label
        if isinstance(label, str) and len(label) > MOST_LETTERS:
            raise InputError(f"a label must have at most {MOST_LETTERS} characters: got {len(label):,}.")
        if self.learner.numbered:
            label = one_label(label)
            return self._numbering().encode(label) if new else self._numbering().find(label)
        if not self.learner.learns_labels:
            if type(label) is not float or not math.isfinite(label):
                raise InputError("an outcome must be a finite number.")
            return label
        if self._labels is not None:
            try:
                return self._labels.encode(label)
            except InputError:
                names = f"{self._labels.negative!r} or {self._labels.positive!r}"
                raise InputError(f"a label must be {names}: got {shown(label)}.") from None
        whole = int(label) if type(label) is float and label.is_integer() and abs(label) < EXACT else label
        return check_label(whole, self.learner.labels)

    def decode(self, label: Any) -> Any:
        """Decode a label to the user's name; None if there was no prediction."""
        if self.learner.numbered:
            return None if label is None or label < 0 else self._numbering().decode(label)
        return label if self._labels is None else self._labels.decode(label)

    def decision(self, score: float | None) -> Any:
        """Return the label by the threshold that was chosen for the game; None without a finite score."""
        threshold = self.ledger.threshold
        return None if threshold is None or score is None else self.decode(threshold.decide(score))

    def mistake(self, prediction: object, y: object) -> bool | None:
        """Return whether the prediction was wrong; None for regression."""
        return bool(prediction != y) if self.ledger.counts else None
