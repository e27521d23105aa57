"""HTTP interface of the service. Frequent routes are plain ASGI, which is faster; the others use Starlette."""

from __future__ import annotations

import asyncio
import base64
import hmac
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from novikoff.arena.guard import HEADERS, body_of, foreign
from novikoff.core.errors import InputError
from novikoff.game import persistence
from novikoff.server import openapi
from novikoff.server.actor import Actor, Job, Look
from novikoff.server.bulk import bulk
from novikoff.server.dashboard import Dashboard
from novikoff.server.handlers import Item
from novikoff.server.prometheus import Histogram
from novikoff.server.service import Service, log
from novikoff.server.status import describe, metrics
from novikoff.server.wire import (
    KINDS,
    PLAIN,
    STATUS,
    Label,
    Model,
    RefusedError,
    checked_name,
    decode,
    encode,
    request,
    round_request,
)

MOST_BYTES = 1_000_000
"""Largest size of a request body in bytes."""
MOST_MODEL_BYTES = 256_000_000
"""Largest size of an uploaded model file in bytes."""
PATIENCE = 30.0
"""Seconds within which a body must arrive."""
OPEN = ("/healthz", "/readyz")
"""Paths that need no token."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
JSON = [
    (b"content-type", b"application/json"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]
"""Headers of a JSON answer."""


class App:
    """ASGI application of the service.

    Attributes:
        service: Models.
        stopping: Function that returns whether the server is about to stop; events then end.

    Args:
        service: Models.
        token: Access token that requests must have.
    """

    def __init__(self, service: Service, token: str) -> None:
        self.service = service
        self.stopping: Callable[[], bool] = lambda: False
        basic = base64.b64encode(f"novikoff:{token}".encode()).decode()
        self._tokens = [f"Bearer {token}".encode(), f"Basic {basic}".encode()]
        self.request_seconds = Histogram((0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
        service.deliver = self._deliver
        self._loop: asyncio.AbstractEventLoop | None = None
        self._dashboard = Dashboard(self)
        self._cold = Starlette(
            routes=[
                *self._dashboard.routes(),
                Route("/healthz", self._health),
                Route("/readyz", self._ready),
                Route("/metrics", self._metrics),
                Route("/openapi.json", self._openapi),
                Route("/docs", self._docs),
                Route("/v1/models", self._list),
                Route("/v1/models/{name}", self._describe, methods=["GET"]),
                Route("/v1/models/{name}", self._create, methods=["PUT"]),
                Route("/v1/models/{name}", self._delete, methods=["DELETE"]),
                Route("/v1/models/{name}/certificate", self._certificate),
                Route("/v1/models/{name}/importance", self._importance),
                Route("/v1/models/{name}/model.nk", self._download, methods=["GET"]),
                Route("/v1/models/{name}/model.nk", self._upload, methods=["PUT"]),
                Route("/v1/models/{name}/rounds/{id:path}", self._round_of),
            ],
            exception_handlers={HTTPException: _unknown, RefusedError: _refused, Exception: _unexpected},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self.service.start()
        log("started", models=len(self.service.models))
        yield
        await run_in_threadpool(self.service.stop)
        log("stopped")

    def _deliver(self, jobs: Sequence[Job]) -> None:
        """Resolve the futures of jobs; called in the thread of an actor."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_wake, jobs)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._cold(scope, receive, send)
            return
        if scope["type"] != "http":  # web sockets are not supported
            return
        begin = time.perf_counter()
        try:
            if scope["path"] not in OPEN:
                self._check(scope["headers"])
            parts = scope["path"].split("/")
            verb = parts[4] if len(parts) == 5 and scope["method"] == "POST" and parts[1:3] == ["v1", "models"] else ""
            if verb in KINDS:
                await self._round(self.service.actor(parts[3]), verb, receive, send)
            elif verb == "bulk":
                await bulk(self.service.actor(parts[3]), self._submit, receive, send)
            else:
                await self._cold(scope, receive, send)
        except RefusedError as refusal:
            await _send(send, refusal.status, encode(refusal.fields()), _more(refusal))
        self.request_seconds.observe(time.perf_counter() - begin)

    def _check(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Refuse requests without the token, and those from pages of another origin."""
        given, origin, host = b"", None, ""
        for name, value in headers:
            if name == b"authorization":
                given = value
            elif name == b"origin":
                origin = value.decode("latin-1")
            elif name == b"host":
                host = value.decode("latin-1")
        if not any(hmac.compare_digest(given, token) for token in self._tokens):
            raise RefusedError("unauthorized", "a request must have the token: Authorization: Bearer TOKEN.")
        if refusal := foreign(host, origin, (host,)):
            raise RefusedError("foreign", refusal)

    async def _round(self, actor: Actor, verb: str, receive: Receive, send: Send) -> None:
        one = round_request(decode(await _body(receive, MOST_BYTES)), KINDS[verb])
        if actor.state != "ready":
            raise actor.refusal()
        try:
            item = Item(one, None if isinstance(one, Label) else actor.play.rows.read(one.x))
        except RefusedError as refusal:
            refusal.id = one.id
            raise
        await self._submit(actor, [item], True)
        if isinstance(item.reply, RefusedError):
            raise item.reply
        await _send(send, 200, encode(item.reply))

    def _submit(self, actor: Actor, items: list[Item], single: bool) -> asyncio.Future[None]:
        """Queue the items; their replies are set when the future is done."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        actor.submit(Job(items, future, single))
        return future

    async def look(self, actor: Actor, at: Callable[[Actor], Any]) -> Any:
        """Return a read-only view of the game, taken by its actor."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done(found: Any) -> None:
            loop.call_soon_threadsafe(_settle, future, found)

        actor.look(Look(at, done))
        found = await future
        if isinstance(found, RefusedError):
            raise found
        return found

    async def _health(self, _: Request) -> Response:
        return _json({"status": "alive"})

    async def _ready(self, _: Request) -> Response:
        ready = self.service.ready
        return _json({"ready": ready}, 200 if ready else 503)

    async def _metrics(self, _: Request) -> Response:
        for actor in list(self.service.models.values()):
            if actor.state in ("ready", "storage_failed") and self.service.stale(actor):
                await self.certificate(actor)
        return Response(metrics(self.service, self.request_seconds), media_type="text/plain; version=0.0.4")

    async def _openapi(self, _: Request) -> Response:
        return _json(openapi.document())

    async def _docs(self, _: Request) -> Response:
        return Response(openapi.page(), media_type="text/html; charset=utf-8", headers=HEADERS)

    async def _list(self, _: Request) -> Response:
        return _json({"models": [describe(actor) for _, actor in sorted(self.service.models.items())]})

    async def _describe(self, request: Request) -> Response:
        return _json(describe(self.service.actor(request.path_params["name"])))

    async def _create(self, http: Request) -> Response:
        name = checked_name(http.path_params["name"])
        one = request(decode(await _body(http.receive, MOST_BYTES), PLAIN), Model)
        made = await run_in_threadpool(self.service.create, name, one)
        return _json(describe(self.service.actor(name)), 201 if made else 200)

    async def _delete(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.service.actor(name)
        if request.query_params.get("confirm") != name:
            raise RefusedError("unconfirmed", f"deleting a model cannot be undone: confirm it with ?confirm={name}.")
        await run_in_threadpool(self.service.delete, name)
        self._dashboard.forget(name)
        return _json({"name": name, "state": "deleted"})

    async def _round_of(self, request: Request) -> Response:
        id = request.path_params["id"]
        return _json(
            await self.look(self.service.actor(request.path_params["name"]), lambda actor: actor.table.describe(id))
        )

    async def certificate(self, actor: Actor) -> dict[str, Any]:
        """Return the certificates of the game now."""
        copied = await self.look(actor, Actor.copied)
        return await run_in_threadpool(self.service.certificate, actor, copied)

    async def _certificate(self, request: Request) -> Response:
        return _json(await self.certificate(self.service.actor(request.path_params["name"])))

    async def _importance(self, request: Request) -> Response:
        return _json(await self.look(self.service.actor(request.path_params["name"]), _importance_of))

    async def _download(self, request: Request) -> Response:
        name = request.path_params["name"]
        rows = request.query_params.get("rows", "false")
        if rows not in ("true", "false"):
            raise RefusedError("bad_request", f"rows must be true or false: got {rows!r}.")
        _, what = await self.look(self.service.actor(name), Actor.copied)
        if rows == "false":
            what = await run_in_threadpool(_without_rows, what)
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been sent
        await run_in_threadpool(persistence.pack, what, file)
        size = file.tell()
        file.seek(0)

        def chunks() -> Any:
            with file:
                while chunk := file.read(1 << 16):
                    yield chunk

        headers = {"content-disposition": f'attachment; filename="{name}.nk"', "content-length": str(size)}
        return StreamingResponse(chunks(), media_type="application/octet-stream", headers=headers)

    async def _upload(self, http: Request) -> Response:
        name = checked_name(http.path_params["name"])
        given = {**http.query_params, "learner": "of the file"}
        try:
            one = msgspec.convert(given, Model, strict=False)
        except msgspec.ValidationError as error:
            raise RefusedError("bad_request", f"unknown or invalid option: {error}. See /docs.") from None
        with tempfile.TemporaryFile() as file:
            size = 0
            async for chunk in _chunks(http.receive):
                size += len(chunk)
                if size > MOST_MODEL_BYTES:
                    raise RefusedError("too_large", f"a model file must have at most {MOST_MODEL_BYTES:,} bytes.")
                await run_in_threadpool(file.write, chunk)
            file.seek(0)
            bits = one.bits if "bits" in given else None
            await run_in_threadpool(self.service.upload, name, file, one, bits)
        return _json(describe(self.service.actor(name)), 201)


def _importance_of(actor: Actor) -> dict[str, Any] | RefusedError:
    """Return the importance of the features of a model; runs in the thread of its actor."""
    try:
        return actor.play.importance()
    except InputError as error:
        return RefusedError("bad_request", str(error))


def _wake(jobs: Sequence[Job]) -> None:
    for job in jobs:
        _settle(job.future, None)


def _settle(future: asyncio.Future[object], found: object) -> None:
    if not future.done():  # the request may have been cancelled
        future.set_result(found)


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the parts of a body; refuse it if one is late."""
    more = True
    while more:
        try:
            async with asyncio.timeout(PATIENCE):
                message = await receive()
        except TimeoutError:
            raise RefusedError("bad_request", f"the body stalled for {PATIENCE:.0f} seconds.") from None
        if message["type"] == "http.disconnect":
            raise RefusedError("bad_request", "the body is incomplete: the connection was closed early.")
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _body(receive: Receive, most: int) -> bytes:
    """Return the body; refuse it if it is too large or late."""
    first = await receive()
    if first["type"] == "http.request" and not first.get("more_body", False) and len(first["body"]) <= most:
        found: bytes | None = first["body"]  # one message, the usual case
        return found or b""

    async def again() -> MutableMapping[str, Any]:
        nonlocal first
        message, first = first, {}
        return message or await receive()

    try:
        async with asyncio.timeout(PATIENCE):
            found = await body_of(_chunks(again), most)
    except TimeoutError:
        raise RefusedError("bad_request", f"the body must arrive within {PATIENCE:.0f} seconds.") from None
    if found is None:
        raise RefusedError("too_large", f"a request must have at most {most:,} bytes.")
    return found


async def _send(send: Send, status: int, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
    headers = [*JSON, (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _more(refusal: RefusedError) -> list[tuple[bytes, bytes]]:
    if refusal.code == "unauthorized":
        return [(b"www-authenticate", b'Basic realm="novikoff", charset="UTF-8"')]
    return [(b"retry-after", b"1")] if refusal.status == 503 else []


def _without_rows(what: persistence.Snapshot) -> persistence.Snapshot:
    """Return the snapshot without training rows, so that it can be shared."""
    return persistence.snapshot(persistence.ledger_of(what), checked=True, without_rows=True)


def _json(found: object, status: int = 200) -> Response:
    return Response(encode(found), status, headers={a.decode(): b.decode() for a, b in JSON})


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, RefusedError)
    found = _json(refusal.fields(), refusal.status)
    for name, value in _more(refusal):
        found.headers[name.decode()] = value.decode()
    return found


async def _unknown(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    code = "wrong_method" if status == 405 else "nothing_here"
    return _json(RefusedError(code, "no such path and method: see /docs.").fields(), STATUS[code])


async def _unexpected(request: Request, error: Exception) -> Response:
    log("unexpected", level="error", path=request.url.path, reason=repr(error))
    return _json(RefusedError("not_ready", "unexpected error: see the log of the service.").fields(), 503)
