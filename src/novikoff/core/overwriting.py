"""Files that are written replace files of their own kind only, unless that is asked for.

A model file replaces a model file, a converted file a converted file, a plot a plot; an empty file is nobody's. It is
looked at before a game begins, and again when the file is written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from novikoff.core.errors import Advice, NovikoffError, Option


def check_replaced(
    path: str | os.PathLike[str], what: str, is_one: Callable[[str], bool], force: bool, error: type[NovikoffError]
) -> None:
    """Refuse to write `what` (such as "a model file") where a file is that is none.

    is_one   does the file at this path hold one?
    force    replace any file; never a folder or a device
    """
    name = os.fspath(path)
    try:
        there = os.stat(name)
    except OSError:  # nothing is there, or nothing can be: writing will tell
        return
    if not stat.S_ISREG(there.st_mode):
        raise error(f"{what} must be written to a plain file: {name} is none. Choose another name.")
    if force or there.st_size == 0 or _holds(name, is_one):
        return
    raise error(
        f"{what} must not replace a file of another kind",
        f"{name} is there, with {there.st_size:,} bytes that are not {what}",
        Advice("Choose another name, or replace it with ", Option("force", True), "."),
    )


def _holds(path: str, is_one: Callable[[str], bool]) -> bool:
    try:
        return is_one(path)
    except Exception:  # what cannot be read as one is none, however its reader fails
        return False


def first_bytes(path: str, count: int) -> bytes:
    """The first bytes of a file, by which many formats are known."""
    with open(path, "rb") as file:
        return file.read(count)
