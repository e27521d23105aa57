"""`send`: stream a file through a service; every row has an id, so that sending it twice has no effect."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.cli.opening import open_source, print_notes
from novikoff.core.batch import Sparse
from novikoff.core.certificate import bound_text
from novikoff.core.certificate import number as figure
from novikoff.core.errors import Advice, InputError, Option, SourceError, counted
from novikoff.core.stream import Stream
from novikoff.data.tables.table import Table
from novikoff.game import specs
from novikoff.numerics.clock import clock
from novikoff.server.client import LINES, Client, Model, ServiceError

MOST_WAITING = 100_000
"""Largest number of rows read until both labels have appeared."""
BETWEEN = 0.5
"""Smallest number of seconds between two updates of the progress."""
MOST_BLOCK = LINES // 4
"""Labels per block."""
FEW = 2
"""Number of retries before an unreachable service is reported."""

Row = tuple[int, Any, Any]
"""Number of a row, its x and its label."""


def send_source(
    source: str, reading: dict[str, object], url: str, name: str | None, learner: str | None, token_file: str | None,
    late: int, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Stream a source through a service, from where it stopped."""
    stem = Path(source.partition(":")[2] if source.startswith(("demo:", "stream:")) else source).name
    name = name or re.sub(r"[^a-z0-9._-]+", "-", stem.partition(".")[0].lower()).strip("-._") or "model"
    token = _token(token_file)
    played = _played(url, token, name, learner)
    spec = learner or played
    with Client(url, token) as client:
        stream = open_source(source, reading, spec is not None and specs.task(specs.parse(spec)) == "regression")
        print_notes(stream, quiet)
        return _sent(client, stream, name, stem, learner, played is None, reading, late, as_json, quiet)


def _played(url: str, token: str | None, name: str, learner: str | None) -> str | None:
    """Return the learner of the model, or None if there is no such model; report an unreachable service soon."""
    try:
        with Client(url, token, retries=FEW) as client:
            models: Sequence[dict[str, Any]] = client.models()
            known = {one["name"]: one.get("model", {}).get("learner", learner or "auto") for one in models}
    except ServiceError as error:
        if error.code != "unauthorized":
            raise
        advice = Advice("Pass ", Option("token_file", letter="PATH"), ", or set NOVIKOFF_TOKEN.")
        raise InputError("the service needs its token", f"{url} refused the request", advice) from None
    found = known.get(name)
    if found is not None and learner not in (None, found):
        advice = Advice("Pass ", Option("model", letter="NAME"), " with another name.")
        raise InputError("the model exists with another learner", f"{name} is {found}", advice)
    return found


def _sent(
    client: Client, stream: Stream, name: str, stem: str, learner: str | None, new: bool, reading: dict[str, Any],
    late: int, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    model = client.model(name)
    rows: Iterable[Row] = ((number, x, label) for number, (x, label) in enumerate(records(stream), 1))
    if new:
        numbers, multiclass = (
            stream.outcomes == "numbers",
            bool(stream.multiclass or stream.several or reading.get("labels")),
        )
        first: list[Row] = []
        options: dict[str, Any] = {"labels": "multiclass"} if multiclass else {}
        if not numbers and not multiclass:
            first, options = _two_labels(iter(rows), stem, reading.get("positive"))
            rows = chain(first, rows)
        client.create(name, learner or ("auto-regression" if numbers else "auto"), **options)
    known = _known(model, stem)
    start = max(0, known - late - LINES) if late else known
    if known and not quiet:
        print(f"{counted(known, 'row')} of {stem} were sent before: continuing after them", file=sys.stderr)
    shown = _Shown(quiet)
    refused = 0
    replies: Iterator[dict[str, Any]] = model.bulk(_operations(islice(rows, start, None), stem, late))
    for reply in replies:
        if "error" in reply:
            refused += 1
            if refused <= 3:
                print(f"{reply['error'].get('id') or 'a row'}: {reply['error']['message']}", file=sys.stderr)
        else:
            shown(reply)
    shown.end()
    certificate = model.certificate()
    if as_json:
        print(json.dumps({"model": name, "rows": shown.rows, "refused": refused, **certificate}))
    else:
        _report(name, stem, shown.rows, refused, certificate)
    return 2 if refused else 0


def _token(path: str | None) -> str | None:
    """Return the token in the file; None, for the token of the environment, without one."""
    try:
        return None if path is None else Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "it is not ASCII")
        raise InputError(f"the token file {path} cannot be read: {why}.") from None


def _two_labels(rows: Iterator[Row], stem: str, positive: object) -> tuple[list[Row], dict[str, Any]]:
    """Return the first rows, up to the second label, and the two labels; the larger one is positive."""
    first: list[Row] = []
    labels: dict[Any, None] = {}
    for row in islice(rows, MOST_WAITING):
        first.append(row)
        labels[row[2]] = None
        if len(labels) == 2:
            break
    if len(labels) < 2:
        raise InputError(f"two labels are needed: the first {len(first):,} rows of {stem} have {list(labels)!r}.")
    low, high = sorted(labels, key=_order)
    if positive is not None and str(positive) == str(low):
        low, high = high, low
    return first, {"negative": wire(low), "positive": wire(high)}


def _order(label: object) -> tuple[bool, Any]:
    """Return a sort key: numbers by size, then texts."""
    value = wire(label)
    return isinstance(value, str), value


def wire(label: object) -> Any:
    """Return a label as JSON; a text that is a number becomes one."""
    if not isinstance(label, str):
        return label
    try:
        value = float(label)
    except ValueError:
        return label
    return int(value) if value.is_integer() else value if value == value and abs(value) != float("inf") else label


def _known(model: Model, stem: str) -> int:
    """Return the number of rows sent before; rows are sent in order, so a binary search finds it."""

    def sent(number: int) -> bool:
        return model.round(f"{stem}:{number}") is not None

    high = 1
    while sent(high):
        high *= 2
    low = high // 2  # sent, and high is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sent(middle) else (low, middle)
    return low


def _operations(rows: Iterable[Row], stem: str, late: int) -> Iterator[dict[str, Any]]:
    """Yield the operations: each row is predicted, and labelled at least `late` rows later.

    Labels are sent in blocks, because switching between predictions and labels costs time.
    """
    waiting: deque[tuple[str, Any]] = deque()
    block = min(max(1, late // 4), MOST_BLOCK)
    for number, x, label in rows:
        id = f"{stem}:{number}"
        if not late:
            yield {"op": "learn", "id": id, "x": x, "label": wire(label)}
            continue
        yield {"op": "predict", "id": id, "x": x}
        waiting.append((id, wire(label)))
        if len(waiting) >= late + block:
            for _ in range(block):
                one, observed = waiting.popleft()
                yield {"op": "label", "id": one, "label": observed}
    for one, observed in waiting:
        yield {"op": "label", "id": one, "label": observed}


class _Shown:
    """Progress of answered rows and mistakes, on standard error."""

    def __init__(self, quiet: bool) -> None:
        self.rows = self._mistakes = 0
        self._begin = self._shown_at = clock()
        self._write: Callable[[str], Any] = (lambda _: None) if quiet or not sys.stderr.isatty() else sys.stderr.write

    def __call__(self, reply: dict[str, object]) -> None:
        if "arrival" not in reply:
            return
        self.rows += 1
        self._mistakes += bool(reply.get("mistake"))
        now = clock()
        if now - self._shown_at >= BETWEEN:
            self._shown_at = now
            rate = self.rows / (now - self._begin)
            mistakes = "" if reply["mistake"] is None else f"{self._mistakes:,} mistakes · "
            self._write(f"\r{self.rows:,} rows · {mistakes}{rate:,.0f} rows/s ")

    def end(self) -> None:
        """Clear the line."""
        self._write("\r\033[K")


def _report(name: str, stem: str, rows: int, refused: int, certificate: dict[str, Any]) -> None:
    sent = f"{counted(rows, 'label')} of {stem} sent to {name}" + (f", {refused:,} refused" if refused else "")
    print(sent)
    labelled, baselines = certificate["labelled"], certificate["baselines"]
    changed, pending, expired = (f"{certificate[name]:,}" for name in ("changed", "pending", "expired"))
    print(
        f"{_paid(certificate, certificate)} in {counted(labelled, 'labelled round')}; {changed} answers changed before "
        f"their labels came; {pending} waiting for labels, {expired} expired"
    )
    if labelled and (constant := baselines.get("best_constant")):
        again = baselines.get("last_label")
        last = "" if again is None else f"; repeating the previous label: {_paid(certificate, again)}"
        print(f"baselines: always {constant['says']}: {_paid(certificate, constant)}{last}")
    if "drift" in certificate:
        print(certificate["drift"]["sentence"])
    for one in certificate["certificates"]:
        if one["bound"] is not None and one["status"] != "void":
            sign = ">" if one["status"] == "violated" else "<="
            reply = f"{one['quantity']} {figure(one['observed'])} {sign} {bound_text(one['bound'], 'upper')}"
            print(f"  {one['status']:<11} {one['theorem']}: {reply}")


def _paid(certificate: dict[str, Any], costs: dict[str, Any]) -> str:
    """Return mistakes, or the loss, of the learner or a baseline in the rounds of this certificate."""
    labelled, mistakes = certificate["labelled"], costs.get("mistakes")
    if mistakes is None:
        where = " in the order of arrival" if costs is certificate else ""
        return f"{certificate['loss_name']} loss {costs['loss']:.6g}{where}"
    return counted(mistakes, "mistake") + (f" ({100 * mistakes / labelled:.3g} %)" if labelled else "")


def records(stream: Stream) -> Iterator[tuple[Any, Any]]:
    """Yield each row as {column: value} without empty cells; {index: value} or numbers if it is not from a table."""
    if isinstance(stream, Table):
        yield from _of_table(stream)
        return
    for batch in stream.batches():
        labels = stream.labels
        for (x, _), y in zip(batch.rows(), batch.y.tolist(), strict=True):
            label = y if labels is None else labels.decode(int(y))
            yield _plain(x, isinstance(batch.x, Sparse)), label.item() if isinstance(label, np.generic) else label


def _of_table(table: Table) -> Iterator[tuple[Any, Any]]:
    columns, label = table.columns, table.label
    if label is None:
        raise SourceError(f"rows must have labels: {table.name} has none.")
    numbers = table.outcomes == "numbers"
    kinds: dict[str, Any] = {column.name: "number" if column.kind == "number" else "category" for column in columns}
    for piece in table.reader.pieces(None, {**kinds, label: "number" if numbers else "category"}):
        if piece.error is not None:
            raise piece.error
        values = {name: piece.arrays[name].to_pylist() for name in (*kinds, label)}
        for row in range(piece.rows):
            x = {name: values[name][row] for name in kinds}
            yield {name: value for name, value in x.items() if value is not None}, values[label][row]


def _plain(x: Any, sparse: bool) -> Any:
    if sparse:
        return {str(place): value for place, value in zip(x[0].tolist(), x[1].tolist(), strict=True)}
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x
