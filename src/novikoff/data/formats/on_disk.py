"""A file that can be read more than once, as tables and Arrow files must: a path, a URL, or a copy of what comes once.

Standard input and other file objects are copied to a temporary file, unpacked, which goes away with the stream.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import weakref
from typing import Any

from novikoff.core.errors import SourceError
from novikoff.data.formats.opened import LONGEST_MAGIC, MAGIC
from novikoff.data.formats.origin import Origin, status
from novikoff.data.formats.urls import is_url, open_url

COPIED_AT_ONCE = 2**20
PACKED = (".gz", ".bz2", ".xz", ".zst")


class OnDisk:
    """The path of a file, and its name for messages (`str`)."""

    def __init__(self, source: Any) -> None:
        self.remote = isinstance(source, str) and is_url(source)
        self.copied = not isinstance(source, (str, os.PathLike)) or os.fspath(source) == "-"
        if self.copied:
            origin = Origin(source)
            self.name = origin.name
            self.path = _copy(origin)
            weakref.finalize(self, _remove, self.path)
        else:
            self.path = self.name = os.fsdecode(source)
            if not self.remote and not stat.S_ISREG(status(self.path).st_mode):
                must, do = "a source must be a file that can be read twice", "Save it in a file first."
                raise SourceError(must, f"{self.path} is not", do)

    def __str__(self) -> str:
        return self.name

    def notes(self) -> list[str]:
        """What to tell the user."""
        return [f"{self.name} was copied to a temporary file, to be read more than once"] if self.copied else []

    def fingerprint(self) -> dict[str, Any]:
        """Size and time of change of the file; nothing for a copy of something else."""
        return {} if self.copied else Origin(self.path).fingerprint()

    def open(self) -> Any:
        """Its bytes."""
        return open_url(self.path) if self.remote else open(self.path, "rb")

    def packing(self) -> str | None:
        """How it is packed, by its first bytes: gzip, bzip2, xz, zstd or None."""
        try:
            with self.open() as file:
                head = file.read(LONGEST_MAGIC)
        except OSError as error:
            raise SourceError(f"a file must be readable: {self.name} is not ({error}). Check it.") from None
        return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)


def _copy(origin: Origin) -> str:
    """The path of a copy of the unpacked bytes."""
    with origin.open() as opened:
        number, path = tempfile.mkstemp(prefix="novikoff-")
        try:
            with open(number, "wb") as copy:
                while piece := opened.read(COPIED_AT_ONCE):
                    copy.write(piece)
        except BaseException as error:
            _remove(path)
            if isinstance(error, OSError):
                raise SourceError(
                    f"a source must be copied to be read twice: {origin.name} is not ({error})."
                ) from None
            raise
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
