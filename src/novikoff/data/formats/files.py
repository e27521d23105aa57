"""Several files as one stream, by a list of paths or a pattern: day-*.svm, s3://logs/2026-*/part-*.parquet.

Rows
    Files of a pattern are read in the order of their names, those of a list in its order. The first file determines
    labels and columns for all. A position is a file number, the number of rows before that file, and a position in it.
Parts
    A part may begin inside a file. Compressed files cannot be split: each belongs to one part.
"""

from __future__ import annotations

import copy
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Self, TypeGuard

from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Batch, Domain, Json, Labels, Position, count_at
from novikoff.data.formats.origin import is_url, mark, matching

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding


def named_by(source: object) -> list[str] | None:
    """Return the files that match a pattern, sorted; None if the source is not a pattern but a file."""
    if not isinstance(source, (str, os.PathLike)) or not glob.has_magic(text := os.fsdecode(source)):
        return None
    if is_url(text):
        found = matching(text)
    elif os.path.exists(text):
        return None
    else:
        found = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
    if not found:
        raise SourceError(f"no file matches {text}. Check the pattern and the quotes around it.")
    return found


def is_paths(source: object) -> TypeGuard[Sequence[str | os.PathLike[str]]]:
    """Return whether the source is a list of paths."""
    if not isinstance(source, (list, tuple)) or not source:
        return False
    return all(isinstance(one, (str, os.PathLike)) for one in source)


def paths_of(sources: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the files of a list of paths in its order; a pattern stands for the files that match, sorted."""
    return [path for one in sources for path in named_by(one) or [os.fsdecode(one)]]


class Files(Stream):
    """Stream over the rows of several files.

    Args:
        name: Name of the source in messages.
        paths: Paths of the files in order.
        open: Opens a path as a stream.
    """

    rereadable = True

    def __init__(self, name: str, paths: Sequence[str], open: Callable[[str], Stream]) -> None:
        self.name, self._paths = name, list(paths)
        self._files = [open(path) for path in paths]
        self._first = self._files[0]
        self._agreed_once = len(paths) == 1
        self.notes = [*self._first.notes, f"{len(paths):,} files, from {paths[0]} to {paths[-1]}"]

    def _agreed(self) -> list[Stream]:
        """Return the files; at the first call, give all of them the labels and columns of the first file."""
        if not self._agreed_once:
            for file in self._files[1:]:
                if file.domain.kind != self._first.domain.kind or file.outcomes != self._first.outcomes:
                    raise SourceError(f"files must have one format: {file.name} differs from {self._first.name}.")
                file.read_as(self._first)
            self._agreed_once = True
        return self._files

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Domain of the first file; without a width if the widths differ."""
        widths = {file.domain.width for file in self._files}
        return self._first.domain if len(widths) == 1 else Domain(self._first.domain.kind)

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Values for -1 and +1; None before they are known."""
        return self._first.labels

    @property
    def features(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Column names; None if there are none."""
        return self._first.features

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Whether the first file has three or more labels."""
        return self._first.several

    @property
    def table(self) -> bool:  # type: ignore[override]
        """Whether the files are tables."""
        return self._first.table

    @property
    def outcomes(self) -> str:  # type: ignore[override]
        """Kind of the outcomes, "labels" or "numbers"."""
        return self._first.outcomes

    @property
    def bits(self) -> int | None:  # type: ignore[override]
        """Number of bits of hashed features; None if they are not hashed."""
        return self._first.bits

    @property
    def skipped(self) -> list[tuple[int, str]]:  # type: ignore[override]
        """Skipped bad rows of all files."""
        return [one for file in self._files for one in file.skipped]

    @property
    def most_bad(self) -> int:  # type: ignore[override]
        """Number of bad rows that may be skipped, summed over the files."""
        return sum(file.most_bad for file in self._files)

    @property
    def scaled_by_default(self) -> bool:  # type: ignore[override]
        """Whether features are scaled by default."""
        return self._first.scaled_by_default

    @property
    def target_column(self) -> Target | None:  # type: ignore[override]
        """Label column of the first file and the reason for its choice."""
        return self._first.target_column

    @property
    def encoding(self) -> Encoding | None:
        """Encoding of columns as features; None if the files are not tables."""
        return self._first.encoding

    @encoding.setter
    def encoding(self, encoding: Encoding | None) -> None:
        self._first.encoding = encoding

    def show_many(self) -> None:
        raise SourceError(f"several files must have two labels in all: {self.name} has more. Put them in one file.")

    def count(self) -> int | None:
        counts = [file.count() for file in self._files]
        return None if None in counts else sum(count for count in counts if count is not None)

    def fingerprint(self) -> dict[str, Json]:
        """Return the fingerprints of all files."""
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
        """Return the sum of the extents of all files; for a file that cannot be split, its stored size."""
        return sum(map(_extent, self._files, self._paths))

    def borders(self) -> Sequence[int]:
        """Return the starts of files, and good split points inside them."""
        starts = accumulate(map(_extent, self._files, self._paths), initial=0)
        return [at + border for at, file in zip(starts, self._files, strict=False) for border in (0, *file.borders())]

    def part(self, first: int, last: int) -> Self:
        """Return the rows that start from `first` on and before `last`, in the concatenated extents."""
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
        part._agreed_once, part.notes, part.name = True, [], f"{self.name}, from {first:,}"
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
