"""Output whose reader may leave: `novikoff … | head`.

Files that were asked for are written before anything is printed, and the exit code does not depend on who listens. What
is said on standard error never ends a game.

In messages, options are flags: the library names parameters of Python, `skip_bad=N`, the command line `--skip-bad N`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from novikoff.core.errors import Option

FLAGS = {"unlabelled": "no-label", "labelled": "label", "how": "keep"}


def flag(option: Option) -> str:
    """An option as it is typed."""
    name = FLAGS.get(option.name, option.name.replace("_", "-"))
    if option.value is False:
        return f"--no-{name}"
    value = option.letter or ("" if option.value is None or option.value is True else shlex.quote(str(option.value)))
    return f"--{name} {value}" if value else f"--{name}"


@contextlib.contextmanager
def while_heard() -> Iterator[None]:
    """Print on standard output; if its reader leaves, the rest is left out."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def silence(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, also what Python writes when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class Tolerant:
    """A stream as it is, but it does not matter whether anybody reads it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if there is a reader."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, if there is a reader."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            silence(self._stream)
