"""Several files as one stream, one after the other, named by a pattern: day-*.svm, s3://logs/2026-*/part-*.parquet.

Rows
    Those of the files in the order of their names. What labels stand for and what columns are is told by the first
    file, and holds for all. A position is the number of a file, the rows before it, and a position in it.
Parts
    A part may begin within a file. Packed files cannot be cut: each is in one part, as a whole.
"""

from __future__ import annotations

import copy
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Self

from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Batch, Domain, Json, Labels, Position, count_at
from novikoff.data.formats.origin import is_url, mark, matching


def named_by(source: object) -> list[str] | None:
    """The files that a pattern names, in order; None if it is no pattern, but the name of a file."""
    if not isinstance(source, (str, os.PathLike)) or not glob.has_magic(text := os.fsdecode(source)):
        return None
    if is_url(text):
        found = matching(text)
    elif os.path.exists(text):
        return None
    else:
        found = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
    if not found:
        raise SourceError(f"a pattern must name a file: there is none like {text}. Check it, and the quotes around it.")
    return found


class Files(Stream):
    """The rows of files; `open` makes a stream of a path."""

    rereadable = True

    def __init__(self, name: str, paths: Sequence[str], open: Callable[[str], Stream]) -> None:
        self.name, self._paths = name, list(paths)
        self._files = [open(path) for path in paths]
        self._first = self._files[0]
        self._told = len(paths) == 1
        self.notes = [*self._first.notes, f"{len(paths):,} files, from {paths[0]} to {paths[-1]}"]

    def _agreed(self) -> list[Stream]:
        """The files, each read as the first."""
        if not self._told:
            for file in self._files[1:]:
                if file.domain.kind != self._first.domain.kind or file.outcomes != self._first.outcomes:
                    raise SourceError(f"files must be of one kind: {file.name} is not as {self._first.name} is.")
                file.read_as(self._first)
            self._told = True
        return self._files

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """That of the first file; as wide as need be if widths differ."""
        widths = {file.domain.width for file in self._files}
        return self._first.domain if len(widths) == 1 else Domain(self._first.domain.kind)

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """What stands for -1 and +1; None before it is known."""
        return self._first.labels

    @property
    def features(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The names of the columns; None if they have none."""
        return self._first.features

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Does the first file show three labels or more?"""
        return self._first.several

    @property
    def table(self) -> bool:  # type: ignore[override]
        """Are they tables?"""
        return self._first.table

    @property
    def outcomes(self) -> str:  # type: ignore[override]
        """What is to be predicted."""
        return self._first.outcomes

    @property
    def bits(self) -> int | None:  # type: ignore[override]
        """Features are hashed into 2^bits; None if they are not."""
        return self._first.bits

    @property
    def skipped(self) -> list[tuple[int, str]]:  # type: ignore[override]
        """The bad rows of all files."""
        return [one for file in self._files for one in file.skipped]

    @property
    def most_bad(self) -> int:  # type: ignore[override]
        """As many in each file."""
        return sum(file.most_bad for file in self._files)

    @property
    def scaled_by_default(self) -> bool:  # type: ignore[override]
        """Are their features scaled by default?"""
        return self._first.scaled_by_default

    @property
    def target_column(self) -> Target | None:  # type: ignore[override]
        """The column that is predicted, and how it was chosen in the first file."""
        return self._first.target_column

    @property
    def encoding(self) -> Any:
        """How columns become features; None if they are no tables."""
        return self._first.encoding

    def show_many(self) -> None:
        raise SourceError(f"labels of several files must be two: {self.name} has more. Put them in one file.")

    def count(self) -> int | None:
        counts = [file.count() for file in self._files]
        return None if None in counts else sum(count for count in counts if count is not None)

    def fingerprint(self) -> dict[str, Json]:
        """Those of all files."""
        return {"files": [file.fingerprint() for file in self._files]}

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        here: Position = start or {"file": 0, "before": 0, "row": 0, "at": None}
        before, begun, inside = count_at(here, "before"), count_at(here, "file"), here["at"]
        for number, file in enumerate(self._agreed()):
            if number < begun:
                continue
            rows = 0
            for batch in file.batches(inside if number == begun and isinstance(inside, dict) else None):
                rows = batch.first - 1 + len(batch)
                end: Position | None = None
                if batch.end is not None:
                    end = {"file": number, "before": before, "row": before + rows, "at": batch.end}
                yield replace(batch, first=before + batch.first, end=end)
            before += rows

    def extent(self) -> int:
        """The extents of all files together; of one that cannot be cut, its size as it lies there."""
        return sum(map(_extent, self._files, self._paths))

    def borders(self) -> Sequence[int]:
        """Where files begin, and where parts of them had better begin."""
        starts = accumulate(map(_extent, self._files, self._paths), initial=0)
        return [at + border for at, file in zip(starts, self._files, strict=False) for border in (0, *file.borders())]

    def part(self, first: int, last: int) -> Self:
        """The rows that begin from `first` on and before `last`, of all extents one after the other."""
        self._within(first, last)
        chosen, at = [], 0
        for file, path in zip(self._agreed(), self._paths, strict=True):
            size = _extent(file, path)
            begin, end = max(first - at, 0), min(last - at, size)
            if begin < end:
                whole = _cuttable(file)
                if whole or begin == 0:
                    chosen.append((file.part(begin, end) if whole else file, path))
            at += size
        part = copy.copy(self)
        part._files, part._paths = [file for file, _ in chosen], [path for _, path in chosen]
        part._told, part.notes, part.name = True, [], f"{self.name}, from {first:,}"
        return part


def _cuttable(file: Stream) -> bool:
    try:
        file.extent()
    except SourceError:
        return False
    return True


def _extent(file: Stream, path: str) -> int:
    if _cuttable(file):
        return file.extent()
    return int(mark(path)["size"]) if is_url(path) else os.path.getsize(path)
