"""Trace of a game: its rounds as a table, with the potentials of the proof, and the checks of its inequalities.

`nk.play(..., trace=True)` follows the game round by round; `ledger.trace` has the result. Games without a trace cost
nothing more. Memory is bounded: the first rounds, the mistakes and the last rounds are kept; checks are made at every
mistake, whether its round is kept or not.
"""

from __future__ import annotations

import csv
import json
import math
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from novikoff.core.display import Shown
from novikoff.core.errors import Advice, InputError, Option, counted
from novikoff.core.observer import Observer
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.core.proof import Played, Proof, Value
from novikoff.core.types import Batch, Example, Label, Sparse, StepResult

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

FIRST, MISTAKES, LAST = 10_000, 50_000, 1_000
"""Number of first rounds, of later mistakes and of last rounds that are kept."""
LONGEST_ROW = 16
"""Largest number of features of an x that is kept in full; longer ones are shortened."""
SHOWN_FEATURES = 3
"""Number of features that a shortened x shows."""
TEXT = ("t", "x", "prediction", "label", "mistake")
"""First columns of the table."""


class TraceRow(NamedTuple):
    """One round of a trace.

    Attributes:
        t: Number of the round, from 1.
        x: The example, shortened if it is long.
        prediction: Prediction, in the user's labels.
        label: Label, in the user's labels.
        mistake: Whether the prediction was wrong; for other losses than mistakes, the loss.
        potentials: Potentials of the proof after the round.
        events: Number of changes of the learner that the proof had recorded.
    """

    t: int
    x: Any
    prediction: Any
    label: Any
    mistake: bool | float
    potentials: tuple[Value, ...]
    events: int


class Trace(Observer, Shown):
    """Rounds of a game with the potentials of its proof.

    Args:
        ledger: Ledger of the game, before its first round or at any later one.

    Example:
        >>> import novikoff as nk
        >>> trace = nk.play(nk.ThresholdHalving(6), [(3, 1), (1, -1), (2, -1)], trace=True).trace
        >>> trace.columns
        ('t', 'x', 'prediction', 'label', 'mistake', '|V|')
        >>> [row.potentials[0] for row in trace.rows]
        [4, 2, 1]
        >>> trace.summary()[0]
        '|V| falls to half or less: checked at 2 of 2 mistakes'
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._player = ledger, ledger.player
        self.proof: Proof | None = ledger.player.within.proof()
        self._first: list[TraceRow] = []
        self._mistakes: list[TraceRow] = []
        self._last: deque[TraceRow] = deque(maxlen=LAST)
        self._begun, self._seen = ledger.rounds, 0
        self._counts = ledger.counts

    # Observing

    def due(self, ledger: Ledger, rounds: int) -> int:
        """Return 1: the potentials are read after every round."""
        return min(1, rounds)

    def see(self, batch: Batch, result: StepResult) -> None:
        for at, (x, y) in enumerate(batch.rows()):
            proof, row = self.proof, None
            if proof is not None and proof.needs_rows:
                row = self._row_of(batch, x, at)
            self._add(x, row, y, _at(result.predictions, at), _at(result.losses, at))

    def see_one(self, ledger: Ledger, x: Example, y: Label, result: StepResult) -> None:
        row = None
        if self.proof is not None and self.proof.needs_rows:
            row = x if self._player.within.features is None else self._player.seen_row(x)
        self._add(x, row, y, result.predictions, result.losses)

    def _row_of(self, batch: Batch, x: object, at: int) -> Any:
        """Return a row of a batch as the learner saw it."""
        features = self._player.within.features
        if isinstance(batch.x, list) and features is not None:
            return features.row(x, learn=False)
        seen: Any = self._player.seen_batch(batch).x
        return next(islice(seen.rows(), at, None)) if isinstance(seen, Sparse) else seen[at]

    def _add(self, x: Any, row: Any, y: Any, prediction: Any, loss: Any) -> None:
        ledger, proof = self._ledger, self.proof
        self._seen += 1
        t = self._begun + self._seen
        mistake = bool(prediction != y) if self._counts else True
        potentials: tuple[Value, ...] = ()
        if proof is not None:
            potentials = proof.see(self._player.within.original, Played(t, row, y, mistake, ledger.expected))
        found = TraceRow(
            t, _short(x), self._user(prediction), self._user(y),
            mistake if self._counts else _plain(loss), potentials, 0 if proof is None else proof.events,
        )  # fmt: skip
        if len(self._first) < FIRST:
            self._first.append(found)
            return
        if self._counts and mistake and len(self._mistakes) < MISTAKES:
            self._mistakes.append(found)
        self._last.append(found)

    def _user(self, label: object) -> Any:
        """Return a label in the user's values, where they are known."""
        known, player = self._ledger.labels, self._player
        label = _plain(label)
        if not known or not player.learns_labels or not isinstance(label, int):
            return label if not isinstance(label, np.ndarray) else _short(label)
        if player.task == "binary":
            return known[1] if label == 1 else known[0]
        return known[label] if 0 <= label < len(known) else label

    # Results

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        names = TEXT if self._counts else (*TEXT[:-1], "loss")
        return names if self.proof is None else (*names, *self.proof.potentials)

    @property
    def rows(self) -> list[TraceRow]:
        """Rounds that were kept, in order, with all potentials."""
        self._end()
        start = self._last[0].t if self._last else 0
        kept = [*self._first, *(row for row in self._mistakes if row.t < start), *self._last]
        if self.proof is None:
            return kept
        return [row._replace(potentials=self.proof.late(row.events, row.potentials)) for row in kept]

    @property
    def whole(self) -> bool:
        """Whether every round since the trace began was kept."""
        return len(self._first) + len(self._last) == self._seen

    def _end(self) -> None:
        """Evaluate what needs the comparators of the certificate."""
        ledger, tracker = self._ledger, self._ledger.tracker
        if self.proof is None:
            return
        tracked = None if tracker is None else tracker.facts(ledger.player.within.original)
        if tracked is None:  # of a learner from outside
            tracked = next((found for one in self._player.within.behaviours if (found := one.tracked())), None)
        if ledger.hindsight is not None and tracked is not None:
            tracked = ledger.hindsight.joined(tracked)
        self.proof.end(tracked, tracker)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each round that was kept as a dict by column."""
        names = self.columns
        for row in self.rows:
            yield dict(zip(names, (*row[:5], *map(_finite, row.potentials)), strict=True))

    def frame(self) -> Any:
        """Return a pandas frame with one row per round that was kept."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError("a frame needs pandas: it is not installed. Use rows or records().") from None
        return pandas.DataFrame(list(self.records()), columns=list(self.columns))

    @property
    def failed(self) -> bool:
        """Whether an inequality of the proof failed on this run."""
        self._end()
        return self.proof is not None and self.proof.failed

    def summary(self) -> list[str]:
        """Return one line per inequality of the proof: how often it was checked, and where it failed."""
        self._end()
        if self.proof is None:
            name = type(self._player.within.original).__name__
            return [f"no proof is followed for {name}: the table has no potentials"]
        unit = "round" if self.proof.every_round else "mistake"
        lines = []
        for check in self.proof.checks:
            line = f"{check.claim}: checked at {check.checked:,} of {counted(check.of, unit)}"
            if check.failed:
                first = "; ".join(f"round {t:,}: {text}" for t, text in check.failures[:2])
                line = f"{check.claim}: FAILED at {check.failed:,} of {counted(check.of, unit)} ({first})"
            lines.append(line)
        if self.proof.ended:
            lines.append(f"the theorem does not apply from round {self.proof.ended_at:,} on: {self.proof.ended}")
        return lines or ["no mistake: nothing to check"]

    def save(self, path: str, force: bool = False) -> None:
        """Write the table to a file, .csv or .jsonl."""
        check_path(path, force)
        try:
            with Path(path).open("w", encoding="utf-8", newline="") as file:
                if PurePath(path).suffix.lower() == ".csv":
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow(self.columns)
                    writer.writerows(_cells(record.values()) for record in self.records())
                else:
                    file.writelines(json.dumps(record, allow_nan=False) + "\n" for record in self.records())
        except OSError as error:
            raise InputError(f"a trace must be writable: {path}: {error.strerror or error}.") from None

    def __repr__(self) -> str:
        about = "no proof" if self.proof is None else f"proof of {self.proof.theorem}"
        return f"<Trace of {counted(self._seen, 'round')}, {about}: {self.summary()[0]}>"


def check_path(path: str, force: bool = False) -> None:
    """Refuse a file that cannot be written, or must not be replaced, before the game is played."""
    if PurePath(path).suffix.lower() not in (".csv", ".jsonl"):
        do = Advice("End its name with .csv or .jsonl, or put ", Option("trace"), " last to print it.")
        raise InputError("a trace must be a CSV or a JSON Lines file", f"got {path}", do)
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"the folder {Path(path).parent} does not exist. Create it, or choose another.")
    check_replaced(path, "a trace", _is_trace, force, InputError)


def _is_trace(path: str) -> bool:
    """Return whether the file is a trace, by its first columns."""
    begin = first_bytes(path, 200)
    return begin.startswith((b"t,x,prediction,label,", b'{"t": '))


def _at(values: Any, place: int) -> Any:
    return None if values is None else values[place]


def _plain(value: object) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _finite(value: Value) -> Value:
    """Return the value; None for infinity and NaN, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cells(values: Any) -> list[Any]:
    return [json.dumps(value) if isinstance(value, (list, dict)) else value for value in values]


def _short(x: object) -> Any:
    """Return x as plain data; a long one as text with its first features."""
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            return x.item()
        x = x.reshape(-1)
        return x.tolist() if len(x) <= LONGEST_ROW else _text([f"{v:.4g}" for v in x[:SHOWN_FEATURES]], len(x), "[]")
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        pairs = [f"{i}:{v:.4g}" for i, v in zip(x[0][:LONGEST_ROW].tolist(), x[1].tolist(), strict=False)]
        return _text(pairs, len(x[0]), "{}")
    if isinstance(x, dict):
        pairs = [f"{key}:{value:.4g}" if isinstance(value, float) else f"{key}:{value}" for key, value in x.items()]
        return _text(pairs, len(x), "{}")
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x] if len(x) <= LONGEST_ROW else _text([str(v) for v in x[:3]], len(x), "[]")
    value = _plain(x)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def _text(parts: list[str], count: int, ends: str) -> str:
    """Return the features of a row as text, only the first ones if there are many."""
    more = f" ... {count} features" if count > LONGEST_ROW else ""
    return f"{ends[0]}{' '.join(parts[:SHOWN_FEATURES] if more else parts)}{more}{ends[1]}"
