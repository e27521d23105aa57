"""Output to pipes that may be closed early: `novikoff … | head`.

Files are written before anything is printed, and the exit code does not depend on a closed pipe. A failed write to
standard error never ends a game.

Messages name options as flags: `skip_bad=N` in Python is `--skip-bad N` on the command line.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from typing import TextIO

from novikoff.core.errors import Option

FLAGS = {"unlabelled": "no-label", "labelled": "label", "how": "finalize", "candidates": "finalize"}
"""Flag of each Python option that has another name on the command line."""


def flag(option: Option) -> str:
    """Return an option as it is typed on the command line."""
    name = FLAGS.get(option.name, option.name.replace("_", "-"))
    if option.value is False:
        return f"--no-{name}"
    value = option.letter or ("" if option.value is None or option.value is True else shlex.quote(str(option.value)))
    return f"--{name} {value}" if value else f"--{name}"


@contextlib.contextmanager
def until_closed() -> Iterator[None]:
    """Print on standard output; if the pipe is closed, drop the rest."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def silence(stream: TextIO) -> None:
    """Redirect a stream to the null device, including what Python writes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class Tolerant:
    """Stream that ignores a closed pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, unless the pipe is closed."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, unless the pipe is closed."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            silence(self._stream)
