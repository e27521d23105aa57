"""Server of the arena: stateless, on this machine only. A request has all moves, the answer the replayed game.

It listens on 127.0.0.1, answers only requests for its local host names (which stops DNS rebinding from other pages),
accepts JSON of at most 100 kB, and its page runs under a content policy that blocks every other origin.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from importlib import resources
from typing import Any

from novikoff.arena.guard import HEADERS, body_of, foreign, names
from novikoff.arena.replay import probe, replay
from novikoff.arena.saved import DRAWING as MODULES
from novikoff.arena.saved import page
from novikoff.arena.scenes import SCENES, describe
from novikoff.core.errors import InputError, NovikoffError
from novikoff.reports.explanation import explain

PORT = 1962
"""Default port."""
PAUSE = 0.7
"""Seconds without a request after which the next scene is compiled."""
MOST_BYTES = 100_000
"""Largest size of a request body in bytes."""
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/arena.css": ("arena.css", "text/css; charset=utf-8"),
    "/arena.js": ("arena.js", "text/javascript; charset=utf-8"),
    **{f"/{name}": (name, "text/javascript; charset=utf-8") for name in (*MODULES, "link.js", "lessons.js")},
}
"""File and media type of each path."""


@dataclass
class Warmth:
    """Progress of `warm_up`.

    Attributes:
        done: Scenes that are compiled.
        asked: Time at which a browser last asked for a game.
    """

    done: int = 0
    asked: float = 0.0


def app(port: int = PORT, warmth: Warmth | None = None) -> Any:
    """Return the application for a server on this port; `warmth` is the progress that it reports."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    warmth = warmth or Warmth(done=len(SCENES))

    def error(code: int, message: str) -> Response:
        return JSONResponse({"error": message}, code)

    def file(request: Request) -> Response:
        name, kind = FILES[request.url.path]
        text = resources.files("novikoff.arena").joinpath("page", name).read_text(encoding="utf-8")
        return Response(text, media_type=kind)

    def games(request: Request) -> Response:
        return JSONResponse(describe())

    def explained(request: Request) -> Response:
        try:
            return JSONResponse({"text": explain(request.path_params["name"])})
        except NovikoffError as found:
            return error(404, str(found))

    async def answered(request: Request, act: Any) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return error(415, "a request must be JSON: set its content type to application/json.")
        if (body := await body_of(request.stream(), MOST_BYTES)) is None:
            return error(413, f"a request must have at most {MOST_BYTES:,} bytes.")
        try:
            script = json.loads(body)
        except (ValueError, RecursionError):
            return error(400, "a request must be JSON: this one cannot be parsed.")
        try:
            return JSONResponse(await run_in_threadpool(act, script))
        except NovikoffError as found:
            return error(400, str(found))

    def ready(request: Request) -> Response:
        return JSONResponse({"done": warmth.done, "of": len(SCENES)})

    async def played(request: Request) -> Response:
        warmth.asked = time.monotonic()
        return await answered(request, replay)

    async def probed(request: Request) -> Response:
        return await answered(request, probe)

    async def saved(request: Request) -> Response:
        return await answered(request, _saved)

    def failed(request: Request, found: Exception) -> Response:
        return error(500, f"the arena failed ({type(found).__name__}): this is a bug. Please report it with the link.")

    routes = [
        *(Route(path, file) for path in FILES),
        Route("/api/games", games),
        Route("/api/ready", ready),
        Route("/api/explain/{name}", explained),
        Route("/api/play", played, methods=["POST"]),
        Route("/api/probe", probed, methods=["POST"]),
        Route("/api/save", saved, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes, exception_handlers={Exception: failed}), port)


def _saved(request: object) -> dict[str, str]:
    """Return the game of a link as an HTML file."""
    link = request.get("link") if isinstance(request, dict) else None
    if not isinstance(link, str):
        raise InputError(f"a request to save must have a link: got {type(link).__name__}.")
    return {"html": page(link)}


class Guard:
    """Middleware that refuses foreign hosts and origins, and adds the security headers to every answer, errors too."""

    def __init__(self, inner: Any, port: int) -> None:
        self._inner, self._hosts = inner, names(port)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.datastructures import Headers, MutableHeaders
        from starlette.responses import JSONResponse

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        inner = self._inner
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if refusal := foreign(headers.get("host"), headers.get("origin"), self._hosts):
                inner = JSONResponse({"error": refusal}, 403)
        await inner(scope, receive, sent)


def warm_up(warmth: Warmth | None = None, first: str = "") -> None:
    """Play a round of each game, so that no click waits for a compilation.

    Args:
        warmth: Record of the progress; between scenes, a browser that is playing goes first.
        first: Name of the game to begin with.
    """
    for scene in sorted(SCENES.values(), key=lambda one: one.name != first):
        while warmth is not None and warmth.done and time.monotonic() - warmth.asked < PAUSE:
            time.sleep(0.05)
        place = [least for least, _ in scene({}, 0, "me").limits()]
        replay({"v": 1, "game": scene.name, "moves": [[place, "p"], [place, "m"], [place, "o"]], "field": True})
        if warmth is not None:
            warmth.done += 1


def serve(port: int = PORT, first: str = "") -> None:
    """Serve the arena until Ctrl-C; the game `first` is compiled first."""
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise InputError(
            "the arena needs two more packages, starlette and uvicorn: pip install 'novikoff[arena]'."
        ) from None
    warmth = Warmth()
    threading.Thread(target=warm_up, args=(warmth, first), daemon=True).start()
    uvicorn.run(app(port, warmth), host="127.0.0.1", port=port, log_level="warning")
