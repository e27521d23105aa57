"""Conversion of a game's environment to a stream, and iteration over a stream in pieces for one learner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt_stream, is_stream
from novikoff.core.errors import POSITIVE, Advice, InputError, MismatchError, Option, named, shown
from novikoff.core.labels import Numbering, are_numbers
from novikoff.core.learner import Learner, Predictor
from novikoff.core.registry import with_multiclass
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position, Task
from novikoff.data.arrays import Arrays, more_than_two
from novikoff.data.formats.files import is_paths
from novikoff.data.memory import Pairs, arrays_of, first_labels

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

NAMED = "Or pass the name of the learner, so that a multiclass one is made."
"""Advice for a binary learner on a multiclass stream."""

Piece = tuple[Batch, Position | None, int]
"""Rows and their end: a position of the stream and the number of rows after it."""


class Wanted(NamedTuple):
    """Outcomes that a source must provide.

    Attributes:
        task: The learner's task: regression, advice or losses; otherwise labels.
        multiclass: None for two labels, k for labels 0 .. k-1, True for any labels numbered in order of appearance.
        domain: Domain of x, for pairs; None if unknown.
    """

    task: Task
    multiclass: int | None = None
    domain: Domain | None = None

    @property
    def labels(self) -> bool:
        """Whether the outcomes are labels."""
        return self.task in ("binary", "multiclass")


def as_stream(environment: object, learner: Learner, multiclass: bool | None = False) -> Stream:
    """Return the environment as a stream for the learner.

    Args:
        environment: A stream (returned as it is), path, arrays (X, y), sparse matrix with labels, data frame, or
            iterable of (x, y).
        learner: Learner that plays on it.
        multiclass: True: multiclass labels, numbered in order of appearance; None: the same if the first rows have
            three or more labels, or if the learner numbers its labels; False: the labels of the learner.
    """
    return source_for(environment, Wanted(learner.task, asked(learner), learner.domain), multiclass)


def source_for(environment: object, wanted: Wanted, multiclass: bool | None = False) -> Stream:
    """Return the environment as a stream with the wanted outcomes; `multiclass` as in `as_stream`."""
    if (
        multiclass is None
        and wanted.labels
        and wanted.multiclass is None
        and (both := arrays_of(environment)) is not None
    ):
        multiclass = more_than_two(both[1])
    if multiclass and wanted.labels:
        wanted = wanted._replace(multiclass=True)
    stream = _stream(environment, wanted)
    several = wanted.multiclass is True or (multiclass is None and wanted.multiclass is None and stream.several)
    if several and wanted.labels and not stream.multiclass:
        stream.show_many()
        values = stream.label_values or ()
        whole = multiclass is None and stream.table and all(type(one) in (int, float) for one in values)
        if whole and values:
            sentence = f"the labels of {stream.name} are {len(values)} whole numbers, taken for classes. To predict "
            stream.notes.append(Advice(sentence, "them as numbers pass ", Option("task", "regress"), "."))
    return stream


def _stream(environment: object, wanted: Wanted) -> Stream:
    if is_stream(environment):
        stream = adapt_stream(environment)
        if wanted.task == "regression" and stream.outcomes == "labels" and stream.opened_here:
            stream.show_numbers()
        return stream
    if isinstance(environment, (str, os.PathLike)) or is_paths(environment):
        return _read(environment, wanted)
    if wanted.task in ("advice", "losses"):
        from novikoff.data.memory import advice

        return advice(environment, wanted.task == "losses")
    from novikoff.data.arrays import SparseMatrix, is_frame, is_sparse

    numbers, multiclass = wanted.task == "regression", wanted.multiclass
    if is_frame(environment):
        from novikoff.data.tables.table_formats import Frame

        return Frame(environment, multiclass=multiclass, outcomes="numbers" if numbers else "labels")
    if numbers:
        from novikoff.data.memory import targets

        return targets(environment)
    if isinstance(environment, tuple) and len(environment) == 2 and is_sparse(environment[0]):
        return SparseMatrix(*environment, multiclass=multiclass)
    if (both := arrays_of(environment)) is not None:
        return Arrays(*both, multiclass=multiclass)
    if isinstance(environment, np.ndarray) and environment.ndim == 2 and environment.shape[1] != 2:
        must, was = "an environment must have labels", f"got an array of shape {environment.shape} alone"
        raise MismatchError(must, was, "Pass X and y as one pair: (X, y).")
    if isinstance(environment, Iterable):
        return Pairs(environment, domain=wanted.domain, multiclass=multiclass, recognise=multiclass is None)
    raise MismatchError(
        f"expected a stream, an adversary, arrays (X, y) or an iterable of (x, y): got {type(environment).__name__}."
    )


def asked(learner: Learner) -> int | None:
    """Return the labels that a learner needs, as in `Wanted.multiclass`."""
    return True if learner.numbered else learner.labels


def opened(environment: object) -> object:
    """Open paths and frames; return numeric outcomes as a regression stream.

    For learners that do both classification and regression: the outcomes decide. Anything that is not a path, frame,
    arrays or stream is returned as it is; a stream is adapted.
    """
    from novikoff.data.arrays import is_frame

    if isinstance(environment, (str, os.PathLike)) or is_paths(environment):
        from novikoff.data.reader import read

        environment = read(environment)
    elif is_stream(environment):
        environment = adapt_stream(environment)
    elif is_frame(environment):
        from novikoff.data.tables.table_formats import Frame

        environment = Frame(environment)
    if isinstance(environment, Stream):
        if environment.numeric:
            show_numbers(environment)
    elif isinstance(environment, tuple) and len(environment) == 2 and hasattr(environment[1], "__array__"):
        y = np.asarray(environment[1])
        if y.ndim == 1 and y.dtype.kind in "iuf" and are_numbers(set(y.astype(np.float64).tolist())):
            from novikoff.data.memory import targets

            return targets(environment)
    else:
        first = first_labels(environment)
        if all(type(y) in (int, float) for y in first) and are_numbers({float(y) for y in first}):
            from novikoff.data.memory import targets

            return targets(environment)
    return environment


def show_numbers(stream: Stream) -> None:
    """Switch a stream to regression on its label column, and add a note."""
    stream.show_numbers()
    label = stream.target_column.name if stream.table and stream.target_column is not None else "the label"
    sentence = f"{label} of {stream.name} is numeric: regression. For classification pass "
    stream.notes.append(Advice(sentence, Option("positive"), ".", " Or pass ", Option("task", "classify"), "."))


def _read(path: Any, wanted: Wanted) -> Stream:
    """Open a path or demo:NAME with the wanted outcomes."""
    if wanted.task in ("advice", "losses"):
        raise MismatchError(
            f"a table of experts must be read with a loss: got {path}. Pass nk.read_experts(path, loss=…)."
        )
    from novikoff.data.reader import read

    return read(path, outcomes="numbers") if wanted.task == "regression" else read(path, multiclass=wanted.multiclass)


def check_asked(labels: str | None) -> None:
    """Raise InputError unless `labels` is None or "multiclass"."""
    if labels not in (None, "multiclass"):
        raise InputError(f'labels must be None or "multiclass": got {labels!r}. Leave it out for two labels.')


def check_count(name: str, value: object, least: int, do: str = "") -> None:
    """Raise InputError unless `value` is a whole number of at least `least`; `do` is the advice of the error."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        got = shown(value) if isinstance(value, (bool, int, float, str)) or value is None else named(value)
        raise InputError(
            f"{name} must be an integer from {least}", f"got {got}", do or f"For example, write {name}={max(least, 2)}."
        )
    if value < least:
        raise InputError(f"{name} must be at least {least}: got {value}.")


def check_many(learner: Learner, multiclass: bool, spec: str, source: str) -> None:
    """Raise MismatchError for a binary learner on multiclass labels, and name the multiclass learners."""
    if multiclass and learner.task == "binary":
        raise MismatchError(
            "the learner must be multiclass",
            f"{spec} is for two labels, and {source} has more",
            Advice("Multiclass learners: ", ", ".join(with_multiclass()), ". Or: ", POSITIVE),
        )


def goes_on(ledger: Ledger, stream: Stream) -> bool:
    """Return whether the stream is the unchanged file of the ledger's rounds; False if that is unknown."""
    known = stream.fingerprint() or {}
    return "mtime_ns" in known and ledger.source == stream.name and ledger.fingerprint == known


def check_presence(played: Mapping[str, object] | None, stream: Stream) -> None:
    """Raise MismatchError if labelled text counts words and the game counted each once, or the other way round.

    Args:
        played: Fingerprint of the source of the game, if any.
        stream: Further source of the game, or rows to predict.
    """
    then, now = map(_presence, (played or {}, stream.fingerprint() or {}))
    if then is not None and now is not None and then != now:
        once, every = "counted each word once", "counted every occurrence of a word"
        do = Advice("Pass ", Option("presence"), ".") if then else Advice("Leave out ", Option("presence"), ".")
        raise MismatchError(f"the game {once if then else every}", f"{stream.name} is read otherwise", do)


def _presence(fingerprint: Mapping[str, Any]) -> bool | None:
    """Return whether words counted once; None for a source that is not labelled text."""
    first = (fingerprint.get("files") or [fingerprint])[0]
    return bool(first["presence"]) if "presence" in first else None


def check_outcomes(learner: Learner, name: str, shown: str = "labels", read_for: str | None = None) -> None:
    """Raise MismatchError unless the source has the learner's outcomes: labels, numbers, or advice for its loss."""
    learned = "numbers" if learner.task == "regression" else "labels"
    if learned != shown:
        do: str | Advice = f"Pass arrays (X, y), or choose a learner for {shown}."
        if (learned, shown) == ("numbers", "labels"):
            do = Advice("Pass ", Option("task", "regress"), ", or choose a learner for labels.")
        raise MismatchError(f"the learner needs {learned}: {name} has {shown}.", do=do)
    if learner.task in ("advice", "losses") and read_for is not None and learner.loss != read_for:
        raise MismatchError(
            f"the learner must have the loss with which the table is read: it has {learner.loss}, and {name} is read "
            f"with {read_for}. Pass the same loss to both."
        )


def pieces(stream: Stream, at: Position | None, skip: int, rounds: int | None, rows: int | None) -> Iterator[Piece]:
    """Yield one pass from `skip` rows after `at`: at most `rounds` rounds, in batches of at most `rows` rows.

    The rounds of a weighted row stay together: it is scored once, with its weight, so it is played to its end.
    """
    # A piece ends at the position of its batch if it is the rest of that batch; otherwise at the last known position
    # `at`, plus the rows since then: `behind` counts those before this batch.
    left, behind = rounds, 0
    for batch in stream.batches(at):
        start = max(skip - behind, 0)
        while start < len(batch) and (left is None or left > 0):
            stop = min(start + (rows or len(batch)), len(batch), len(batch) if left is None else start + left)
            stop = batch.row_end(stop)
            whole = stop == len(batch) and batch.end is not None
            yield batch.part(start, stop), batch.end if whole else at, 0 if whole else behind + stop
            left = None if left is None else left - (stop - start)
            start = stop
        if left is not None and left <= 0:
            return
        if batch.end is None:
            behind += len(batch)
        else:
            at, skip, behind = batch.end, max(skip - behind - len(batch), 0), 0


def for_learner(batch: Batch, stream: Stream, learner: Predictor, numbering: Numbering | None = None) -> Batch:
    """Return the batch with labels as the learner encodes them: -1/+1, or 0 .. k-1 for multiclass.

    Args:
        batch: Batch of the stream.
        stream: Stream of the batch.
        learner: Learner that plays, or classifier that predicts.
        numbering: Numbering of the labels, for a learner that numbers them in order of appearance.
    """
    labels = stream.labels
    if numbering is not None:
        return replace(batch, y=_numbered(batch.y, stream, learner, numbering))
    if not learner.learns_labels or (labels is None) == (learner.task == "multiclass"):
        return batch
    if labels is None:
        raise MismatchError("the learner is binary", "the stream is multiclass", Advice(POSITIVE, " ", NAMED))
    values = [labels.negative, labels.positive]
    known = [int(value) for value in values if isinstance(value, (int, np.integer))]
    if len(known) < 2 or not all(0 <= value < (learner.labels or 0) for value in known):
        raise MismatchError(f"the learner has labels 0 .. {(learner.labels or 0) - 1}: the stream has {values}.")
    return replace(batch, y=np.where(batch.y == 1, known[1], known[0]).astype(np.int32))


def _numbered(y: NDArray[Any], stream: Stream, learner: Predictor, numbering: Numbering) -> NDArray[np.int64]:
    """Return labels in the numbering of the game, which may already have labels of earlier streams."""
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise MismatchError("labels must be two values or 0 .. k-1", f"{stream.name} has {y.dtype}")
    numbering.cut(learner.labels or 0)
    two = None if stream.labels is None else [stream.labels.negative, stream.labels.positive]
    values = stream.label_values if two is None else two
    shown, firsts, places = np.unique(y if two is None else (y > 0).view(np.int8), return_index=True,
                                      return_inverse=True)  # fmt: skip
    codes = np.empty(len(shown), dtype=np.int64)
    for place in np.argsort(firsts).tolist():
        codes[place] = numbering.encode(shown[place] if values is None else values[shown[place]])
    return codes[places.reshape(-1)]
