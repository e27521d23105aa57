"""Bulk requests: one JSON object per line in, one per line out, in order, each sent once it is on the disk.

Lines are read while answers are written. A client that sends without reading is slowed down once too many answers are
unread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from novikoff.server.access import Grant
from novikoff.server.actor import Actor
from novikoff.server.handlers import Item
from novikoff.server.wire import Label, RefusedError, bulk_line, encode

LINES = 500
"""Lines per group."""
MOST_LINE = 1_000_000
"""Largest size of a line in bytes."""
AHEAD = 16
"""Largest number of groups that wait for their commit."""
MOST_UNREAD = 64_000_000
"""Largest number of bytes of unread answers."""
PATIENCE = 30.0
"""Seconds within which the next lines must arrive."""
YIELD = 50
"""Lines that are read at once."""
PAUSE = 0.02
"""Seconds before a line is submitted again to an overloaded model."""

Submit = Callable[[Actor, list[Item], bool], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Some = tuple[Awaitable[None] | None, list[tuple[int, Item | RefusedError]]]
"""Numbered lines, and a future that resolves when they are answered."""


async def bulk(actor: Actor, submit: Submit, receive: Receive, send: Send, grant: Grant | None = None) -> None:
    """Answer every line of the body that `grant` allows."""
    if actor.state != "ready":
        raise actor.refusal()
    answers: asyncio.Queue[Some | None] = asyncio.Queue(AHEAD)
    headers = [(b"content-type", b"application/x-ndjson"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    writing = asyncio.create_task(_write(answers, send))
    try:
        await _read(actor, submit, receive, answers, grant)
        await answers.put(None)
        await writing
    finally:
        writing.cancel()


async def _write(answers: asyncio.Queue[Some | None], send: Send) -> None:
    """Write answers as soon as they are known; wait for a slow client only when too much is unread."""
    unread: deque[bytes] = deque()
    size, sending = 0, None
    while (some := await answers.get()) is not None:
        done, found = some
        if done is not None:
            await done
        unread.append(b"".join(_line(number, one) for number, one in found))
        size += len(unread[-1])
        if sending is None or sending.done() or size > MOST_UNREAD:
            if sending is not None:
                await sending
            body, size = b"".join(unread), 0
            unread.clear()
            sending = asyncio.ensure_future(send({"type": "http.response.body", "body": body, "more_body": True}))
    if sending is not None:
        await sending
    await send({"type": "http.response.body", "body": b"".join(unread)})


async def _read(
    actor: Actor, submit: Submit, receive: Receive, answers: asyncio.Queue[Some | None], grant: Grant | None
) -> None:
    rest, done, more = b"", 0, True
    while more:
        try:
            async with asyncio.timeout(PATIENCE):
                message = await receive()
        except TimeoutError:
            late = RefusedError("bad_request", f"no line arrived for {PATIENCE:.0f} seconds.")
            await answers.put((None, [(done + 1, late)]))
            return
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
        *lines, rest = (rest + message.get("body", b"")).split(b"\n")
        if not more:
            lines.append(rest)
        for start in range(0, len(lines), LINES):
            some = lines[start : start + LINES]
            while grant is not None and (wait := grant.spend(len(some))):
                await asyncio.sleep(wait)
            await answers.put(await _submitted(actor, submit, some, done, grant))
            done += len(some)
        if len(rest) > MOST_LINE:
            refusal = RefusedError("too_large", f"a line must have at most {MOST_LINE:,} bytes: the rest was not read.")
            await answers.put((None, [(done + 1, refusal)]))
            return


async def _submitted(actor: Actor, submit: Submit, lines: list[bytes], before: int, grant: Grant | None = None) -> Some:
    """Submit lines; blank ones have no answer."""
    found: list[tuple[int, Item | RefusedError]] = []
    for number, line in enumerate(lines, before + 1):
        if (number - before) % YIELD == 0:
            await asyncio.sleep(0)  # single requests come first
        if not line.strip():
            continue
        one = None
        try:
            one = bulk_line(line)
            if grant is not None:
                grant.check(one.kind, actor.name)
            row = None if isinstance(one, Label) else actor.play.rows.read(one.x)
            found.append((number, Item(one, row)))
        except RefusedError as refusal:
            refusal.id = refusal.id if one is None else one.id
            found.append((number, refusal))
    items = [one for _, one in found if isinstance(one, Item)]
    for _ in range(int(PATIENCE / PAUSE)):
        try:
            return submit(actor, items, False) if items else None, found
        except RefusedError as refusal:
            for item in items:
                item.reply = refusal
            if refusal.code != "overloaded":
                break
            await asyncio.sleep(PAUSE)
    return None, found


def _line(number: int, one: Item | RefusedError) -> bytes:
    reply = one.reply if isinstance(one, Item) else one
    if isinstance(reply, RefusedError):
        return encode({"line": number, **reply.fields()}) + b"\n"
    assert isinstance(one, Item)
    return one.body + b"\n"
