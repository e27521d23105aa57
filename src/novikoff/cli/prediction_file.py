"""Predictions as a table: one row per example with id, prediction and probabilities, as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from novikoff.core.errors import InputError
from novikoff.core.overwriting import check_replaced
from novikoff.core.types import Batch

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
"""Formats by file suffix."""

Cells = Callable[[Batch], dict[str, Sequence[Any]]]
"""Function from a batch to the values of further columns."""


def format_of(path: str) -> str:
    """Return the format of an output file, from its suffix."""
    found = SUFFIXES.get(Path(path).suffix.lower())
    if found is None:
        raise InputError(f"--output must end in {', '.join(SUFFIXES)}", f"got {path}", "Rename the file.")
    return found


def check(path: str, force: bool, sources: Sequence[str]) -> None:
    """Refuse a file that cannot be written, or that is one of the inputs."""
    format_of(path)
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError("--output must be in an existing folder", f"{folder} does not exist", "Create it first.")
    for source in sources:
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise InputError(f"--output must be another file than the input: got {path} for both.")
    check_replaced(path, "a file of predictions", _is_ours, force, InputError)


def _is_ours(path: str) -> bool:
    """Return whether a file has a column `prediction`, as those written here."""
    if format_of(path) == "parquet":
        import pyarrow.parquet as pq

        return "prediction" in pq.read_schema(path).names
    with open(path, "rb") as file:
        return b"prediction" in file.readline(2**16)


class PredictionFile:
    """Writer of predictions as a table.

    The file is written under another name and renamed at the end: a run that fails leaves no partial file.

    Args:
        path: File to write; None for CSV on standard output.
        ids: Name of the id column; None without ids.
    """

    def __init__(self, path: str | None, ids: str | None) -> None:
        self.path, self._ids = path, ids
        self._format = "csv" if path is None else format_of(path)
        self._beside = None if path is None else f"{path}.part"
        self._file: TextIO | None = None
        self._writer: Any = None
        self.rows = 0

    def write(self, columns: dict[str, Sequence[object]]) -> None:
        """Write rows, given by column."""
        count = len(next(iter(columns.values())))
        self.rows += count
        if self._format == "parquet":
            self._write_parquet(columns)
            return
        file = self._open()
        if self._format == "jsonl":
            for row in zip(*columns.values(), strict=True):
                file.write(json.dumps(dict(zip(columns, row, strict=True)), default=str) + "\n")
            return
        if self._writer is None:
            self._writer = csv.writer(file, delimiter="\t" if self._format == "tsv" else ",", lineterminator="\n")
            self._writer.writerow(columns)
        self._writer.writerows(
            ["" if cell is None else str(cell) if isinstance(cell, list) else cell for cell in row]
            for row in zip(*columns.values(), strict=True)
        )

    def _open(self) -> TextIO:
        if self._file is None:
            where = self._beside
            self._file = sys.stdout if where is None else Path(where).open("w", encoding="utf-8", newline="")  # noqa: SIM115
        return self._file

    def _write_parquet(self, columns: dict[str, Sequence[object]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        plain = {name: [str(one) if isinstance(one, list) else one for one in cells] for name, cells in columns.items()}
        if self._writer is None:
            table = pa.table(plain)
            self._writer = pq.ParquetWriter(self._beside, table.schema)
        else:
            table = pa.table(plain, schema=self._writer.schema)
        self._writer.write_table(table)

    def close(self, failed: bool = False) -> None:
        """Finish the file; drop it if the run failed."""
        if self._format == "parquet" and self._writer is not None:
            self._writer.close()
        if self._file is not None and self._beside is not None:
            self._file.close()
        if self._beside is None or not os.path.exists(self._beside):
            return
        if failed:
            os.remove(self._beside)
        else:
            assert self.path is not None
            os.replace(self._beside, self.path)
