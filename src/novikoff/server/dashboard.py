"""Dashboard at /: a table of all models, and results and guarantees of each, live, by server-sent events.

Page, curve and cards are those of the arena, under the same content policy. The page needs the token: the browser asks
for a user name (novikoff) and a password (the token).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from novikoff.arena.guard import HEADERS
from novikoff.core.certificate import bound_text
from novikoff.server.actor import Actor
from novikoff.server.model_game import context
from novikoff.server.status import describe
from novikoff.server.wire import RefusedError

if TYPE_CHECKING:
    from novikoff.server.app import App

BETWEEN = 1.0
"""Seconds between two events."""
SHARE = 0.1
"""Fraction of the time that may go into certificates while someone watches."""
LISTENS = 10.0
"""Seconds after which a page must reconnect, so that a stopping service is not held up."""
POINTS = 300
"""Approximate number of points of the curve that are sent."""
FILES = {
    "/": ("dashboard.html", "text/html; charset=utf-8"),
    "/arena.css": ("arena.css", "text/css; charset=utf-8"),
    "/dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
    "/dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8"),
    "/draw.js": ("draw.js", "text/javascript; charset=utf-8"),
    "/charts.js": ("charts.js", "text/javascript; charset=utf-8"),
    "/formula.js": ("formula.js", "text/javascript; charset=utf-8"),
}
"""File and media type of each path."""


class Dashboard:
    """Routes and events of the dashboard."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._bounds: dict[str, list[tuple[int, float, bool, str]]] = {}
        self._due: dict[str, float] = {}

    def routes(self) -> list[Route]:
        """Return the routes of the page and its events."""
        events = Route("/v1/models/{name}/events", self._events)
        return [*(Route(path, self._file) for path in FILES), events]

    def forget(self, name: str) -> None:
        """Forget the bounds of a deleted model: its name may be used again."""
        self._bounds.pop(name, None)
        self._due.pop(name, None)

    async def _file(self, request: Request) -> Response:
        name, kind = FILES[request.url.path]
        text = resources.files("novikoff.arena").joinpath("page", name).read_text(encoding="utf-8")
        return Response(text, media_type=kind, headers=HEADERS)

    async def _events(self, request: Request) -> Response:
        actor = self._app.service.actor(request.path_params["name"])
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._stream(actor), media_type="text/event-stream", headers=headers)

    async def _stream(self, actor: Actor) -> AsyncIterator[bytes]:
        begin, before = time.monotonic(), ""
        yield b"retry: 500\n\n"
        while time.monotonic() - begin < LISTENS and not self._app.stopping():
            text = json.dumps(await self._now(actor), default=str)
            yield b": still here\n\n" if text == before else f"data: {text}\n\n".encode()
            before = text
            await asyncio.sleep(BETWEEN)

    async def _now(self, actor: Actor) -> dict[str, Any]:
        found = describe(actor)
        if actor.state not in ("ready", "storage_failed"):
            return {**found, "curve": [[0, 0]], "bounds": [], "certificates": []}
        found |= await self._app.look(actor, _seen)
        certificate = self._app.service.certified(actor)
        now = time.monotonic()
        fresh = certificate is not None and certificate["labelled"] == found["labelled"]
        if now >= self._due.get(actor.name, 0.0) and not fresh:
            with suppress(RefusedError):  # shown and logged as far as known
                certificate = await self._app.certificate(actor)
            self._due[actor.name] = time.monotonic() + (time.monotonic() - now) / SHARE
        bounds = self._bounds.setdefault(actor.name, [])
        cards = certificate["certificates"] if certificate is not None else []
        what = "mistakes of the answers served" if found["mistakes"] is not None else f"{found['loss_name']} loss"
        first = next((one for one in cards if one["quantity"] == what and one["bound"] is not None), None)
        if certificate is not None and first is not None and (not bounds or bounds[-1][0] < certificate["labelled"]):
            bounds.append((certificate["labelled"], first["bound"], True, bound_text(first["bound"], "upper")))
            del bounds[: -2 * POINTS]
        as_of = 0 if certificate is None else certificate["labelled"]
        return {**found, "bounds": bounds, "certificates": cards, "as_of": as_of}


def _seen(actor: Actor) -> dict[str, Any]:
    """Return the curve of mistakes or loss, with its context; runs in the actor's thread."""
    late, ledger = actor.play.late, actor.play.ledger
    paid, now = (late.curve, late.mistakes) if ledger.counts else (ledger.curve, ledger.loss)
    curve = list(dict([(0, 0), *paid, (late.labelled, now)]).items())
    step = max(1, len(curve) // POINTS)
    return {"curve": [list(point) for point in [*curve[:-1:step], curve[-1]]], **context(ledger)}
