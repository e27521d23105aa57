"""`nk.list`: all names of learners, adversaries, classes, streams and formats."""

from __future__ import annotations

from typing import get_args

from novikoff.core.errors import SpecError
from novikoff.core.registry import Room, entry, names


def list(kind: Room | None = None) -> dict[str, str]:
    """Return all names of one kind, or of every kind, with a line on each.

    Args:
        kind: "learner", "adversary", "class", "stream" or "format"; None for all of them.

    Example:
        >>> import novikoff as nk
        >>> nk.list("adversary")["contrarian"]
        'The contrarian: every prediction is wrong'
    """
    kinds = get_args(Room)
    if kind is not None and kind not in kinds:
        raise SpecError(f"a kind must be one of {', '.join(kinds)}: got {kind!r}.")
    return {name: entry(name, room).summary() for room in kinds if kind in (None, room) for name in names(room)}
