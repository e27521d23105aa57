"""HTTP interface of the service. Frequent routes are plain ASGI, which is faster; the others use Starlette."""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route

from novikoff.arena.guard import HEADERS, body_of, foreign
from novikoff.core.errors import InputError
from novikoff.game import persistence
from novikoff.server import openapi
from novikoff.server.access import Access, Grant, needed
from novikoff.server.actor import Actor, Job, Look
from novikoff.server.bulk import bulk
from novikoff.server.dashboard import Dashboard
from novikoff.server.handlers import Answering, Item
from novikoff.server.prometheus import Requests
from novikoff.server.service import Service, log
from novikoff.server.status import describe, metrics, overview
from novikoff.server.wire import (
    KINDS,
    PLAIN,
    STATUS,
    Freeze,
    Label,
    Model,
    RefusedError,
    Rollback,
    Shadow,
    Team,
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
MOST_BUSY, MOST_OF_ONE = 2000, 1000
"""Largest number of requests in progress, and of those from one address; /healthz and /readyz are not counted."""
PATIENCE = 30.0
"""Seconds within which a body must arrive."""
DENIED = ("unauthorized", "forbidden", "foreign", "rate_limited")
"""Codes of refusals that are logged."""
OPEN = ("/healthz", "/readyz")
"""Paths that need no token."""

PAGES = ("healthz", "readyz", "metrics")
"""Pages that have a route of their own in metrics."""
ROUTES = (
    "predict",
    "label",
    "learn",
    "bulk",
    "certificate",
    "proof",
    "importance",
    "model.nk",
    "events",
    "rounds",
    "freeze",
    "rollback",
    "drift-test",
    "shadows",
    "team",
)
"""Requests about a model that have a route of their own in metrics."""

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
        access: Tokens that requests must have.
        access_log: Whether every request is logged.
    """

    def __init__(self, service: Service, access: Access, access_log: bool = False) -> None:
        self.service, self._access, self._logs = service, access, access_log
        self.stopping: Callable[[], bool] = lambda: False
        self.requests = Requests()
        self._busy: Counter[str] = Counter()
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
                Route("/v1/fleet", self._fleet),
                Route("/v1/models/{name}/mistakes", self._mistakes),
                Route("/v1/backups/{name}", self._back_up, methods=["POST"]),
                Route("/v1/models/{name}", self._describe, methods=["GET"]),
                Route("/v1/models/{name}", self._create, methods=["PUT"]),
                Route("/v1/models/{name}", self._delete, methods=["DELETE"]),
                Route("/v1/models/{name}/certificate", self._certificate),
                Route("/v1/models/{name}/proof", self._proof),
                Route("/v1/models/{name}/importance", self._importance),
                Route("/v1/models/{name}/model.nk", self._download, methods=["GET"]),
                Route("/v1/models/{name}/model.nk", self._upload, methods=["PUT"]),
                Route("/v1/models/{name}/rounds/{id:path}", self._round_of),
                Route("/v1/models/{name}/freeze", self._freeze, methods=["POST"]),
                Route("/v1/models/{name}/rollback", self._roll_back, methods=["POST"]),
                Route("/v1/models/{name}/drift-test", self._reset_drift, methods=["DELETE"]),
                Route("/v1/models/{name}/team", self._team, methods=["PUT"]),
                Route("/v1/models/{name}/shadows", self._shadows),
                Route("/v1/models/{name}/shadows/{shadow}", self._shadow, methods=["PUT", "DELETE"]),
                Route("/v1/models/{name}/shadows/{shadow}/model.nk", self._download),
            ],
            exception_handlers={HTTPException: _unknown, RefusedError: _refused, Exception: _unexpected},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
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
        begin, status = time.perf_counter(), 0
        grant: Grant | None = None
        client, entered = _client(scope), False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            parts = scope["path"].split("/")
            verb = parts[4] if len(parts) == 5 and scope["method"] == "POST" and parts[1:3] == ["v1", "models"] else ""
            if scope["path"] not in OPEN:
                self._enter(client)
                entered = True
                grant = scope["grant"] = self._grant(scope["headers"])
                self._check(grant, scope["method"], parts, verb)
            if verb in KINDS:
                await self._round(self.service.actor(parts[3]), verb, receive, sending)
            elif verb == "bulk":
                await bulk(self.service.actor(parts[3]), self._submit, receive, sending, grant)
            else:
                await self._cold(scope, receive, sending)
        except RefusedError as refusal:
            if refusal.code in DENIED:
                self._access.refused(refusal, scope["path"], client, None if grant is None else grant.name)
            await _send(sending, refusal.status, encode(refusal.fields()), _more(refusal))
        finally:
            if entered:
                self._leave(client)
        seconds = time.perf_counter() - begin
        self.requests.observe(_route(parts), status, seconds)
        if self._logs:
            log("request", method=scope["method"], path=scope["path"], status=status, seconds=round(seconds, 6),
                client=client, token=None if grant is None else grant.name)  # fmt: skip

    def _enter(self, client: str) -> None:
        """Count a request in progress; refuse it if there are too many, in all or of this client."""
        known = self._busy.get(client, 0)
        if self._busy.total() >= MOST_BUSY or known >= MOST_OF_ONE:
            raise RefusedError("overloaded", "too many requests are in progress: retry in a moment.")
        self._busy[client] = known + 1

    def _leave(self, client: str) -> None:
        self._busy[client] -= 1
        if not self._busy[client]:
            del self._busy[client]

    def _check(self, grant: Grant, method: str, parts: list[str], verb: str) -> None:
        """Refuse requests that the token does not allow."""
        if verb in KINDS:
            grant.check(verb, parts[3])
        elif verb == "bulk":
            if not (grant.allows("predict", parts[3]) or grant.allows("label", parts[3])):
                raise RefusedError("forbidden", f"this token must have the role predict or label for {parts[3]}.")
        else:
            role, model = needed(method, parts)
            if not grant.allows(role, model):
                raise RefusedError("forbidden", f"this token must have the role {role}, for {model or 'all models'}.")
        if wait := grant.spend():
            raise RefusedError("rate_limited", f"this token allows {grant.per_second:g} requests per second: retry in "
                               f"{math.ceil(wait)} s.")  # fmt: skip

    def _grant(self, headers: list[tuple[bytes, bytes]]) -> Grant:
        """Return what the token of a request allows; refuse requests without one, or from pages of another origin."""
        given, origin, host = b"", None, ""
        for name, value in headers:
            if name == b"authorization":
                given = value
            elif name == b"origin":
                origin = value.decode("latin-1")
            elif name == b"host":
                host = value.decode("latin-1")
        grant = self._access.grant(given)
        if refusal := foreign(host, origin, (host,)):
            raise RefusedError("foreign", refusal)
        return grant

    async def _round(self, actor: Actor, verb: str, receive: Receive, send: Send) -> None:
        one = round_request(decode(await _body(receive, MOST_BYTES)), KINDS[verb])
        if actor.state != "ready" and not actor.answers([one]):
            raise actor.refusal()
        try:
            item = Item(one, None if isinstance(one, Label) else actor.play.rows.read(one.x))
        except RefusedError as refusal:
            refusal.id = one.id
            raise
        await self._submit(actor, [item], True)
        if isinstance(item.reply, RefusedError):
            raise item.reply
        await _send(send, 200, item.body)

    def _submit(self, actor: Actor, items: list[Item], single: bool) -> asyncio.Future[None]:
        """Queue the items; their replies are set when the future is done."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        actor.submit(Job(items, future, single))
        return future

    async def look(self, actor: Actor, at: Callable[[Actor], Any]) -> Any:
        """Return a read-only view of the game, taken by its actor."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done(found: object) -> None:
            loop.call_soon_threadsafe(_settle, future, found)

        actor.look(Look(at, done))
        found = await future
        if isinstance(found, RefusedError):
            raise found
        return found

    async def _health(self, _: Request) -> Response:
        return _json({"status": "alive"})

    async def _ready(self, request: Request) -> Response:
        found = self.service.readiness(request.query_params.get("failed") == "allow")
        return _json(found, 200 if found["ready"] else 503)

    async def _metrics(self, request: Request) -> Response:
        grant: Grant = request.scope["grant"]
        return Response(metrics(self.service, self.requests, grant.sees), media_type="text/plain; version=0.0.4")

    async def _openapi(self, _: Request) -> Response:
        return _json(openapi.document())

    async def _docs(self, _: Request) -> Response:
        return Response(openapi.page(), media_type="text/html; charset=utf-8", headers=HEADERS)

    async def _list(self, request: Request) -> Response:
        grant: Grant = request.scope["grant"]
        models = sorted(self.service.models.items())
        return _json({"models": [describe(actor) for name, actor in models if grant.sees(name)]})

    async def _fleet(self, request: Request) -> Response:
        grant: Grant = request.scope["grant"]
        models = sorted(self.service.models.items())
        return _json({"models": [overview(self.service, actor) for name, actor in models if grant.sees(name)]})

    async def _mistakes(self, http: Request) -> Response:
        actor = self.service.actor(http.path_params["name"])
        return _json({"mistakes": await self.look(actor, lambda one: one.table.mistakes())})

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

    async def _back_up(self, request: Request) -> Response:
        found = await run_in_threadpool(self.service.back_up, checked_name(request.path_params["name"]))
        return _json(found, 201)

    async def _round_of(self, request: Request) -> Response:
        id = request.path_params["id"]
        return _json(
            await self.look(self.service.actor(request.path_params["name"]), lambda actor: actor.table.describe(id))
        )

    async def _change(self, http: Request, act: Callable[[Answering], Any], rebuild: bool = False) -> Any:
        """Change a model in a commit of its own; return what `act` returns."""
        actor = self.service.actor(http.path_params["name"])
        found = await self.look(actor, lambda one: one.change(act, rebuild))
        self.service.forget(actor)
        log("model_changed", model=actor.name, path=http.url.path, method=http.method)
        return found

    async def _freeze(self, http: Request) -> Response:
        one = request(decode(await _body(http.receive, MOST_BYTES), PLAIN), Freeze)
        await self._change(http, lambda table: table.freeze(one.frozen))
        return await self._describe(http)

    async def _roll_back(self, http: Request) -> Response:
        one = request(decode(await _body(http.receive, MOST_BYTES), PLAIN), Rollback)
        await self._change(http, lambda table: table.roll_back(one.labels, log), rebuild=True)
        self._dashboard.forget(http.path_params["name"])
        return await self._describe(http)

    async def _reset_drift(self, http: Request) -> Response:
        await self._change(http, lambda table: table.reset_drift())
        self.service.actor(http.path_params["name"]).alarmed = None
        return await self._describe(http)

    async def _team(self, http: Request) -> Response:
        name = checked_name(http.path_params["name"])
        one = request(decode(await _body(http.receive, MOST_BYTES), PLAIN), Team)
        grant: Grant = http.scope["grant"]
        for member in one.models:
            if not grant.allows("admin", member):
                raise RefusedError("forbidden", f"this token must have the role admin for {member}.")
        await run_in_threadpool(self.service.make_team, name, one)
        return _json(describe(self.service.actor(name)), 201)

    async def _shadows(self, http: Request) -> Response:
        return _json(await self.look(self.service.actor(http.path_params["name"]), _shadows_of))

    async def _shadow(self, http: Request) -> Response:
        name = checked_name(http.path_params["shadow"])
        status = 200
        if http.method == "DELETE":
            await self._change(http, lambda table: table.delete_shadow(name))
        else:
            one = request(decode(await _body(http.receive, MOST_BYTES), PLAIN), Shadow)
            status = (
                201 if await self._change(http, lambda table: table.add_shadow(name, one.learner, one.seed)) else 200
            )
        found = await self.look(self.service.actor(http.path_params["name"]), _shadows_of)
        return _json(found, status)

    async def certificate(self, actor: Actor) -> dict[str, Any]:
        """Return the certificates of the game now."""
        copied = await self.look(actor, Actor.copied)
        return await run_in_threadpool(self.service.certificate, actor, copied)

    async def _certificate(self, request: Request) -> Response:
        return _json(await self.certificate(self.service.actor(request.path_params["name"])))

    async def _proof(self, request: Request) -> Response:
        actor = self.service.actor(request.path_params["name"])
        copied = await self.look(actor, Actor.copied)
        return _json(await run_in_threadpool(self.service.proof, actor, copied))

    async def _importance(self, request: Request) -> Response:
        return _json(await self.look(self.service.actor(request.path_params["name"]), _importance_of))

    async def _download(self, request: Request) -> Response:
        name = request.path_params["name"]
        rows = request.query_params.get("rows", "false")
        if rows not in ("true", "false"):
            raise RefusedError("bad_request", f"rows must be true or false: got {rows!r}.")
        if (shadow := request.path_params.get("shadow")) is None:
            _, what = await self.look(self.service.actor(name), Actor.copied)
        else:
            what = await self.look(self.service.actor(name), lambda actor: _copied_shadow(actor, shadow))
            name = f"{name}-{shadow}"
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


def _shadows_of(actor: Actor) -> dict[str, object]:
    """Return the shadows of a model; runs in the thread of its actor."""
    table = actor.table
    return {"shadows": [one.describe(name, table.play, table.labels) for name, one in sorted(table.shadows.items())]}


def _copied_shadow(actor: Actor, name: str) -> persistence.Snapshot | RefusedError:
    """Return a copy of the game of a shadow; runs in the thread of the actor."""
    try:
        return persistence.snapshot(actor.table.shadow(name).play.ledger, checked=True)
    except RefusedError as refusal:
        return refusal


def _importance_of(actor: Actor) -> dict[str, object] | RefusedError:
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
            raise RefusedError("too_slow", f"the body stalled for {PATIENCE:.0f} seconds.") from None
        if message["type"] == "http.disconnect":
            raise RefusedError("bad_request", "the body is incomplete: the connection was closed early.")
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _body(receive: Receive, most: int) -> bytes:
    """Return the body; refuse it if it is too large or late."""
    try:
        async with asyncio.timeout(PATIENCE):
            first = await receive()
    except TimeoutError:
        raise RefusedError("too_slow", f"the body must arrive within {PATIENCE:.0f} seconds.") from None
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
        raise RefusedError("too_slow", f"the body must arrive within {PATIENCE:.0f} seconds.") from None
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
    if refusal.code == "too_slow":
        return [(b"connection", b"close")]
    return [(b"retry-after", b"1")] if refusal.status == 503 or refusal.code == "rate_limited" else []


def _route(parts: list[str]) -> str:
    """Return the route of a path for metrics; there are few, whatever paths are requested."""
    if parts[1:3] != ["v1", "models"]:
        return parts[1] if len(parts) == 2 and parts[1] in PAGES else "page"
    return "models" if len(parts) == 3 else "model" if len(parts) == 4 else parts[4] if parts[4] in ROUTES else "other"


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""


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


async def _unknown(http: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    code = "wrong_method" if status == 405 else "nothing_here"
    found = _json(RefusedError(code, "no such path and method: see /docs.").fields(), STATUS[code])
    if status == 405:
        routes = [one for one in http.app.routes if one.matches(http.scope)[0] != Match.NONE]
        found.headers["allow"] = ", ".join(sorted({method for one in routes for method in one.methods or ()}))
    return found


async def _unexpected(request: Request, error: Exception) -> Response:
    log("unexpected", level="error", path=request.url.path, reason=repr(error))
    return _json(RefusedError("not_ready", "unexpected error: see the log of the service.").fields(), 503)
