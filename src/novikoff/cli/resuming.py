"""`--resume`: does the game go on in the middle of this source, or is it another one that follows?

Files
    A file is the same if it lies at the same place, however its path is spelled, and holds the same bytes, by its size
    and a sample of them. One to which whole lines were added since is the same too: the game goes on with them.
    A file of another place and other bytes follows. If only one of the two is as it was, or if a source was played
    before the last one, the user is asked, by an error: `--same` goes on where the game stopped, `--again` plays the
    source from its beginning, as rows that follow.
Pipes
    Nothing of a pipe can be recognised. One that came to its end is followed by the next; after one that was left in
    the middle the user is asked: `--same` skips what was played.
Others
    demo:NAME and stream:NAME are the same if their names are.

The sample does not see every byte. It need not: rounds that were played are not played again, and no certificate rests
on it.
"""

from __future__ import annotations

import os
from typing import Any, Literal

from novikoff.cli.saving import Saving
from novikoff.core.errors import InputError
from novikoff.core.stream import Stream
from novikoff.data.formats.byte_reader import LONGEST_MAGIC, MAGIC
from novikoff.data.formats.origin import sample
from novikoff.game.ledger import Ledger

Bytes = Literal["same", "grown", "other"]

SAME = "Pass --same to go on where the game stopped, or"
AGAIN = "--again to play the source from its beginning, as rows that follow."


def goes_on(ledger: Ledger, stream: Stream, source: str, saving: Saving) -> bool:
    """True if the game goes on in this source, at `ledger.position`; False if the source follows. `source` as asked."""
    if saving.resume is None or ledger.position is None:
        return False
    now = {"source": stream.name, **(stream.fingerprint() or {})}
    then = {"source": ledger.source, **(ledger.fingerprint or {})}
    found = _bytes(then, now, source)
    played = [one for one in ledger.earlier if _bytes(one, now, source) != "other" or _here(one, now)]
    if saving.same or (not saving.again and _same(ledger, stream, then, now, found)):
        if found == "grown" and ledger.position.get("end"):
            ledger.position = dict(ledger.position["end"])
        return True
    if played and stream.rereadable and not saving.again:
        raise InputError(f"a source must not be played twice by mistake: {stream.name} was played before. Pass {AGAIN}")
    ledger.repeated |= stream.rereadable and (found != "other" or bool(played))
    ledger.earlier = [*ledger.earlier, {key: then[key] for key in ("source", "place", "size", "sample") if key in then}]
    return False


def _same(ledger: Ledger, stream: Stream, then: dict[str, Any], now: dict[str, Any], found: Bytes) -> bool:
    """Is it the source that was played last? Raises if that is not certain."""
    at, passes = f"after round {ledger.rounds:,}, in {ledger.source}", (ledger.position or {})["passes"]
    here = _here(then, now)
    if here and not stream.rereadable:
        if passes:  # a pipe that came to its end is not this one
            return False
        raise InputError(
            f"a pipe that goes on must be told from one that begins again: it stopped {at}. {SAME} {AGAIN}"
        )
    again = passes > 1 or ledger.repeated or (ledger.position or {}).get("begun", False)
    if here and (found == "same" or (found == "grown" and not again)):
        return True
    if here:
        how = "rows were added to it after several passes" if found == "grown" else "it has changed since"
        raise InputError(f"a source to go on in must be as it was: the game stopped {at}, and {how}. {SAME} {AGAIN}")
    if found != "other":
        raise InputError(
            f"a source to go on in must be where it was: the game stopped {at}, and {stream.name} is another file that "
            f"{'holds' if found == 'same' else 'begins with'} the same bytes. {SAME} {AGAIN}"
        )
    return False


def _here(then: dict[str, Any], now: dict[str, Any]) -> bool:
    """Is it at the same place? What has none is known by its name."""
    key = "place" if "place" in then and "place" in now else "source"
    return ("size" in then) == ("size" in now) and bool(then[key] == now[key])


def _bytes(then: dict[str, Any], now: dict[str, Any], path: str) -> Bytes:
    """What is in the source, beside what was; a name says all of what has no bytes."""
    if "size" not in then or "size" not in now:
        return "same" if "size" not in then and "size" not in now and then["source"] == now["source"] else "other"
    if "sample" not in then or "sample" not in now:
        return "other"
    if then["size"] == now["size"]:
        return "same" if then["sample"] == now["sample"] else "other"
    if then["size"] > now["size"] or not os.path.isfile(path):
        return "other"
    return "grown" if sample(path, then["size"]) == then["sample"] and _whole(path, then["size"]) else "other"


def _whole(path: str, size: int) -> bool:
    """Did the first bytes of a file end with a line? Packed ones may end anywhere."""
    with open(path, "rb") as file:
        if file.read(LONGEST_MAGIC).startswith(tuple(MAGIC)):
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"
