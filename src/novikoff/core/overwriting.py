"""Protection against overwriting files of another kind.

A model file may replace a model file, a converted file a converted file, a plot a plot, and any of them an empty file.
This is checked before a game begins, and again when the file is written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from novikoff.core.errors import Advice, NovikoffError, Option


def check_replaced(
    path: str | os.PathLike[str], what: str, is_one: Callable[[str], bool], force: bool, error: type[NovikoffError]
) -> None:
    """Raise `error` if writing `what` would replace a file of another kind.

    Args:
        path: File to write.
        what: Kind of file with its article, such as "a model file".
        is_one: Function that returns whether the file at a path is of this kind.
        force: Whether to replace any file; never a folder or a device.
        error: Exception class.
    """
    name = os.fspath(path)
    try:
        there = os.stat(name)
    except OSError:  # no such file, or an invalid path: writing reports that
        return
    if not stat.S_ISREG(there.st_mode):
        raise error(f"{what} must be written to a regular file: {name} is not one. Choose another name.")
    if force or there.st_size == 0 or _holds(name, is_one):
        return
    raise error(
        f"{what} must not replace a file of another kind",
        f"{name} exists, with {there.st_size:,} bytes that are not {what}",
        Advice("Choose another name, or replace it with ", Option("force", True), "."),
    )


def _holds(path: str, is_one: Callable[[str], bool]) -> bool:
    try:
        return is_one(path)
    except Exception:  # any failure of the reader means that the file is of another kind
        return False


def first_bytes(path: str, count: int) -> bytes:
    """Return the first bytes of a file, which identify many formats."""
    with open(path, "rb") as file:
        return file.read(count)
