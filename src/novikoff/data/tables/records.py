"""The rows of any source as JSON objects with their labels, as another program would send them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from novikoff.core.batch import Sparse
from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream
from novikoff.data.tables.table import Table


def records(stream: Stream) -> Iterator[tuple[Any, Any]]:
    """Each row as {column: value}, empty cells left out; of other sources than tables, as {index: value} or numbers."""
    if isinstance(stream, Table):
        yield from _of_table(stream)
        return
    for batch in stream.batches():
        labels = stream.labels
        for x, y in batch.rows():
            label = y if labels is None else labels.decode(int(y))
            yield _plain(x, isinstance(batch.x, Sparse)), label.item() if hasattr(label, "item") else label


def _of_table(table: Table) -> Iterator[tuple[Any, Any]]:
    columns, label = table.columns, table.label
    if label is None:
        raise SourceError(f"rows must have labels to be learned from: {table.name} has none.")
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
    return x.tolist() if hasattr(x, "tolist") else x
