"""A stream as a learner that has learned before must see it: tables by its encoding, others by the names of columns."""

from __future__ import annotations

from collections.abc import Sequence

from novikoff.errors import MismatchError
from novikoff.sources.matched import matched
from novikoff.stream import Stream
from novikoff.tables.column import Column
from novikoff.tables.encoding import Encoding
from novikoff.tables.table import Table


def adopted(
    stream: Stream, encoding: Encoding | None, names: Sequence[str] | None, whose: str = "the learner",
    learn: bool = True, numbered: bool = False,
) -> Stream:  # fmt: skip
    """The stream for a learner of that encoding, or of features of these names; None: as it is.

    whose      the learner is called so in messages
    learn      may new features get a place?
    numbered   the learner knows features by number
    """
    if not isinstance(stream, Table):
        known = encoding is None or encoding.dense or stream.encoding is encoding
        if not known:
            raise MismatchError(
                f"{whose} learned from a table with other columns than numbers: {stream.name} is no table. Play it on "
                "one with the same columns."
            )
        return matched(stream, names, whose)
    if encoding is None and numbered and not stream.encoding.dense:
        raise MismatchError(
            f"{whose} knows its features by number: {stream.name} is a table, whose features have names. Begin a new "
            "game, or play it on a source like the first."
        )
    if encoding is None and names is not None:
        if not stream.encoding.dense:
            raise MismatchError(f"{whose} learned from columns of numbers: {stream.name} has others. Choose columns.")
        encoding = Encoding([Column(name, "number") for name in names])
    if encoding is not None:
        stream.adopt(encoding, learn, whose)
    return stream
