"""Predictions of a finished game for new rows: a frame, a file, dicts, arrays, or one row, in the user's labels.

Rows go through the encoding of the training table: columns are matched by name, in any order; the label, if it is among
them, is ignored. Absent and new columns are refused, or with `missing_columns="impute"` read as missing and ignored.
Nothing is learned: rows are predicted as if no outcome were revealed in between.

Warnings:
    Unseen categories, numbers missing where none was in training, categories spelled differently, and a model that is
    hardly better than repeating the previous outcome: each is one `UserWarning`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt_stream, is_stream
from novikoff.core.batch import Sparse
from novikoff.core.errors import InputError, MismatchError, close, named, shown
from novikoff.core.learner import Learner, Predictor
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Labels, LabelValue
from novikoff.data.as_stream import check_presence
from novikoff.data.column_names import names_of_row

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger
    from novikoff.game.thresholds import Threshold

MissingColumns = Literal["refuse", "impute"]
CHOICES = ("refuse", "impute")
"""Values of `missing_columns`."""
NOTED = ("not in training", "in training", "count as two", "are read as missing", "and ignored")
"""Parts of the notes of a table that are warnings for predictions."""


class Rows(NamedTuple):
    """Rows to predict.

    Attributes:
        batches: Batches as the learner takes them.
        one: Whether it was one row.
        stream: Source of the batches; None for arrays and single rows.
    """

    batches: Iterable[Batch]
    one: bool
    stream: Stream | None = None


def check_missing_columns(asked: object) -> None:
    """Raise InputError unless it is one of `CHOICES`."""
    if asked not in CHOICES:
        raise InputError(
            f"missing_columns must be {' or '.join(CHOICES)}", f"got {shown(asked)}", close(asked, CHOICES)
        )


def rows_of(ledger: Ledger, rows: Any, missing_columns: str = "refuse") -> Rows:
    """Return rows of the user as batches of the learner.

    Args:
        ledger: Ledger of the learner.
        rows: A path, stream, frame, list of dicts, 2-d array or sparse matrix; or one row: a dict, a 1-d array, a list
            of numbers.
        missing_columns: "refuse" or "impute".
    """
    from novikoff.data.arrays import SparseMatrix, is_frame, is_sparse
    from novikoff.data.tables.alignment import adopted

    check_missing_columns(missing_columns)
    if isinstance(rows, Batch):
        return Rows([rows], False)
    if isinstance(rows, Mapping) or _is_row(rows):
        return Rows([_single(ledger, rows, missing_columns == "impute")], True)
    if is_stream(rows):
        stream = adapt_stream(rows)
    elif isinstance(rows, (str, os.PathLike)):
        stream = _file(ledger, rows)
    elif is_frame(rows):
        stream = _frame(ledger, rows)
    elif is_sparse(rows):
        stream = SparseMatrix(rows, np.full(rows.shape[0], -1))
    elif isinstance(rows, np.ndarray) or _are_numbers(rows):
        return Rows([_array(ledger, rows)], False)
    elif isinstance(rows, Iterable):
        return _dicts(ledger, list(rows), missing_columns == "impute")
    else:
        do = "Pass a frame, a list of dicts, an array with a row per example, a path, or one dict."
        raise InputError("rows must be examples like those of training", f"got {named(rows)}", do)
    stream = adopted(stream, ledger.encoding, ledger.feature_names, learn=False, impute=missing_columns == "impute")
    ledger.player.check_hash(stream)
    check_presence(ledger.fingerprint, stream)
    return Rows(stream.batches(), False, stream)


def _is_row(rows: object) -> bool:
    """Return whether it is one example: a 1-d array or list of numbers, an (indices, values) pair, a row of a frame."""
    if isinstance(rows, np.ndarray):
        return rows.ndim == 1 and rows.dtype != object
    if isinstance(rows, tuple) and len(rows) == 2 and isinstance(rows[0], np.ndarray):
        return True
    numbers = isinstance(rows, (list, tuple)) and rows and all(isinstance(one, (int, float)) for one in rows)
    return bool(numbers) or names_of_row(rows) is not None


def _are_numbers(rows: object) -> bool:
    """Return whether rows are a list of lists of numbers."""
    return (
        isinstance(rows, (list, tuple))
        and bool(rows)
        and all(isinstance(one, (list, tuple, np.ndarray)) for one in rows)
    )


def _single(ledger: Ledger, x: Any, impute: bool) -> Batch:
    """Return one row as a batch."""
    from novikoff.data.tables.alignment import adopted_row
    from novikoff.data.tables.encoding import Surprises
    from novikoff.data.tables.records import expanded, is_record

    if isinstance(x, (list, tuple)) and not (len(x) == 2 and isinstance(x[0], np.ndarray)):
        x = np.asarray(x, dtype=np.float64)
    encoding = ledger.encoding
    if encoding is None:
        x = expanded(x) if is_record(x) else x
        return Batch([adopted_row(x, None, ledger.feature_names)], np.full(1, -1), 1)
    if isinstance(x, Mapping):
        known = [column.name for column in encoding.columns]
        if not encoding.open and not impute and not any(name in x for name in known):
            wanted = ", ".join(known[:5])
            raise MismatchError(
                "a row must have the columns of training", f"got {shown(dict(x))}", f"These are {wanted}."
            )
        if impute:
            x = {name: x[name] for name in known if name in x}
    surprises = Surprises()
    row: Any = adopted_row(x, encoding, ledger.feature_names, surprises=surprises)
    y = np.full(1, -1)
    if isinstance(row, np.ndarray):
        return Batch(row[np.newaxis], y, 1, encoding=encoding)
    places, values = row
    ends = np.array([0, len(places)], dtype=np.uint64)
    width = max(encoding.width, int(places.max(initial=0)) + 1)
    return Batch(Sparse(ends, places, values, width, checked=True), y, 1, encoding=encoding)


def _array(ledger: Ledger, rows: object) -> Batch:
    """Return rows of numbers as a batch."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("rows must be numbers, all of one length: got others. Pass dicts or a frame.") from None
    if table.ndim != 2:
        raise InputError(f"an array of rows must have two dimensions: got shape {table.shape}.")
    if not np.isfinite(table).all():
        raise InputError(
            "rows must be finite numbers: got NaN or infinity. Pass a frame, whose gaps are missing values."
        )
    if ledger.encoding is not None and not ledger.encoding.dense:
        raise MismatchError(
            "rows must have the columns of training, by name: got an array. Pass a frame or dicts with these columns."
        )
    return Batch(table, np.full(len(table), -1), 1, encoding=ledger.encoding)


def _dicts(ledger: Ledger, rows: list[object], impute: bool) -> Rows:
    """Return dicts, pairs (dict, label) or other single rows as batches."""
    from novikoff.data.tables.alignment import adopted
    from novikoff.data.tables.records import Records
    from novikoff.data.tables.table import Table

    rows = [one[0] if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], Mapping) else one for one in rows]
    if not rows:
        return Rows([], False)
    if ledger.encoding is None or not all(isinstance(one, Mapping) for one in rows):
        return Rows((_single(ledger, one, impute) for one in rows), False)
    reader = Records(rows)
    table = Table(reader, labelled=False, drop=_others(ledger, reader.names))
    stream = adopted(table, ledger.encoding, ledger.feature_names, learn=False, impute=impute or ledger.encoding.open)
    return Rows(stream.batches(), False, stream)


def _frame(ledger: Ledger, frame: object) -> Stream:
    from novikoff.data.tables.columnar import FrameTable
    from novikoff.data.tables.table import Table

    reader = FrameTable(frame)
    return Table(reader, labelled=False, drop=_others(ledger, reader.names))


def _file(ledger: Ledger, path: object) -> Stream:
    from novikoff.data.as_stream import Wanted, source_for
    from novikoff.data.reader import read
    from novikoff.data.tables.table import Table

    stream = read(path)
    if not isinstance(stream, Table):
        return source_for(stream, Wanted(ledger.player.task, ledger.player.labels, ledger.player.domain))
    return Table(stream.reader, labelled=False, drop=_others(ledger, stream.reader.names))


def _others(ledger: Ledger, names: Iterable[str]) -> list[str]:
    """Return the columns that are no features: the label, and columns left out in training."""
    encoding = ledger.encoding
    if encoding is None:
        known = {*(ledger.feature_names or ())}
        return [name for name in names if known and name not in known and ledger.target and name == ledger.target.name]
    features = {column.name for column in encoding.columns}
    aside = {encoding.label, encoding.weight, *encoding.left_out}
    return [name for name in names if name in aside and name not in features]


def classes(ledger: Ledger) -> list[LabelValue]:
    """Return the user's labels, in the order of the columns of `predict_proba`."""
    player = ledger.player
    if player.task == "regression":
        raise InputError("a regressor has no classes: it predicts numbers.")
    if player.numbered:
        return list(ledger.labels or ())
    if player.task == "multiclass":
        return list(range(player.labels or 0))
    return list(ledger.labels) if ledger.labels is not None else [-1, 1]


def predictions(
    player: Predictor, batch: Batch, labels: list[object] | None, threshold: Threshold | None = None
) -> list[Any]:
    """Return the predictions of a batch, in the user's labels; None while no label is known."""
    if player.task == "regression":
        return [float(one) for one in player.predict_ahead(batch)]
    if player.numbered and not player.labels:
        return [None] * len(batch)
    ahead = player.predict_many(batch) if threshold is None else threshold.predict(player, batch)
    found = np.asarray(ahead).tolist()
    if player.task == "multiclass":
        return [labels[one] if labels and 0 <= one < len(labels) else one for one in found]
    both = Labels(*labels) if labels else Labels()
    return [both.decode(one) for one in found]


def predict(ledger: Ledger, rows: object, missing_columns: str = "refuse") -> Any:
    """Implement `Ledger.predict`."""
    given = rows_of(ledger, rows, missing_columns)
    found = [
        one for batch in given.batches for one in predictions(ledger.player, batch, ledger.labels, ledger.threshold)
    ]
    warn(ledger, given)
    if given.one:
        return found[0]
    if ledger.player.task == "regression":
        return np.array(found, dtype=np.float64)
    return np.array(found) if len({type(one) for one in found}) == 1 else np.array(found, dtype=object)


def probabilities(player: Predictor, batch: Batch) -> NDArray[np.float64]:
    """Return the probability of each label, by row."""
    if not player.probable:
        raise InputError(
            "probabilities need a learner that predicts them",
            f"{_called(player)} does not",
            "Choose auto, logistic, ftrl, tree or forest.",
        )
    found = np.asarray(player.probabilities_many(batch), dtype=np.float64)
    if player.task == "multiclass":
        normed: NDArray[np.float64] = found / np.maximum(found.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return normed
    found = np.clip(found.reshape(-1), 0.0, 1.0)
    return np.column_stack([1.0 - found, found])


def _called(player: Predictor) -> str:
    """Return the class of the innermost learner."""
    return type(player.within.original if isinstance(player, Learner) else player).__name__


def predict_proba(ledger: Ledger, rows: object, missing_columns: str = "refuse") -> Any:
    """Implement `Ledger.predict_proba`."""
    names = classes(ledger)
    given = rows_of(ledger, rows, missing_columns)
    parts = [probabilities(ledger.player, batch) for batch in given.batches]
    warn(ledger, given)
    found = np.concatenate(parts) if parts else np.zeros((0, len(names)))
    return dict(zip(names, found[0].tolist(), strict=False)) if given.one else found


def predict_set(ledger: Ledger, rows: object, missing_columns: str = "refuse") -> Any:
    """Implement `Ledger.predict_set`."""
    player = ledger.player
    if not player.covers:
        do = "Play with nk.Conformal."
        raise InputError("prediction sets need a conformal learner", f"{type(ledger.learner).__name__} is not one", do)
    numbers = player.task == "regression"
    given = rows_of(ledger, rows, missing_columns)
    found = [
        tuple(player.predict_set(x, ahead=numbers)) if numbers
        else tuple(ledger.label(label) for label in player.predict_set(x))
        for batch in given.batches for x, _ in batch.rows()
    ]  # fmt: skip
    warn(ledger, given)
    return found[0] if given.one else found


def warn(ledger: Ledger, given: Rows) -> None:
    """Warn of rows that differ from those of training, and of a model that repeats the previous outcome."""
    notes = [] if given.stream is None else [note for note in given.stream.notes if any(one in note for one in NOTED)]
    if not given.one and (note := repeats(ledger)) is not None:
        notes.append(note)
    for note in notes:
        warnings.warn(str(note), UserWarning, stacklevel=4)


def repeats(ledger: Ledger) -> str | None:
    """Return a warning if repeating the previous label is about as good as the model, and better than a constant."""
    again, constant = ledger.last_label, ledger.best_constant
    if again is None or constant is None or ledger.rounds < 100:
        return None
    mistakes = ledger.metrics.mistakes
    if again > 1.1 * mistakes or again >= 0.8 * constant.costs:
        return None
    return (
        f"the model is hardly better than repeating the previous label ({mistakes:,} mistakes against {again:,}): rows "
        "whose labels are not revealed in between may be predicted much worse."
    )


def explained(ledger: Ledger, rows: Any) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a frame or a list as dicts, to be explained one by one."""
    from novikoff.data.arrays import is_frame

    if not is_frame(rows):
        yield from rows
        return
    import narwhals as nw

    found = nw.from_native(rows)
    whole = found.collect() if isinstance(found, nw.LazyFrame) else found
    yield from whole.iter_rows(named=True)
