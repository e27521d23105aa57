"""Client of `novikoff serve`: predictions now, labels later. It depends on the standard library only.

    from novikoff.server.client import Client

    model = Client("http://127.0.0.1:1963", token="…").create("mail", "auto", negative="ham", positive="spam")
    answer = model.predict({"subject": "hello", "words": 12})
    model.label(answer["id"], "spam")                # once it is known
    print(model.certificate()["certificates"][0])

A request that may have been lost is sent again, with growing pauses. Repeating an id with the same x or label has no
effect, so nothing is counted twice. `AsyncClient` has the same methods as coroutines; each runs in a thread. A client
is thread-safe; its connections stay open until it is closed, for example by `with`.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from novikoff.core.errors import InputError, NovikoffError

if TYPE_CHECKING:
    from novikoff.core.types import Json

LINES = 1000
"""Lines per bulk request: they are answered together, and sent again together."""
AGAIN = ("overloaded", "storage_failed", "not_ready")
"""Codes of temporary refusals."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Shortest and longest pause before a request is sent again, in seconds."""
LOST = (ConnectionError, http.client.HTTPException, TimeoutError, OSError)
"""Errors after which it is unknown whether a request arrived."""


class ServiceError(NovikoffError):
    """A refused request, or an unreachable service.

    Attributes:
        code: Error code of the service (docs/service.md); "unreachable" without an answer.
        status: HTTP status; 0 without an answer.
    """

    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class Client:
    """Connection to a service.

    Args:
        url: Address of the service, such as http://127.0.0.1:1963.
        token: Access token; by default the environment variable NOVIKOFF_TOKEN.
        timeout: Seconds to wait for an answer.
        retries: Number of times that a lost or temporarily refused request is sent again.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 30.0, retries: int = 8) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or port == 0:
            raise InputError(f"an address must be like http://127.0.0.1:1963: got {url!r}.")
        token = os.environ.get("NOVIKOFF_TOKEN") if token is None else token
        if token is not None and not (token.isascii() and token.isprintable()):
            raise InputError("a token must be printable ASCII: this one is not.")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._path = parts.hostname, port, parts.path.rstrip("/")
        self._timeout, self._retries = timeout, retries
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._idle: deque[http.client.HTTPConnection] = deque()
        self.url = url

    def models(self) -> list[dict[str, Json]]:
        """Return the models, each with its counts."""
        found: list[dict[str, Json]] = self.call("GET", "/v1/models")["models"]
        return found

    def create(self, name: str, learner: str = "auto", **options: object) -> Model:
        """Create a model, or return an existing one with the same options.

        Args:
            name: Name of the model.
            learner: Spec of the learner.
            options: negative, positive, labels, bits, seed, … (see /docs).
        """
        self.call("PUT", f"/v1/models/{quote(name, safe='')}", {"learner": learner, **options})
        return self.model(name)

    def model(self, name: str) -> Model:
        """Return the model of that name, without a request."""
        return Model(self, name)

    def upload(self, name: str, file: bytes, **options: object) -> Model:
        """Create a model from a file of `Model.download` or `nk.save`; `options` as in /docs."""
        query = urlencode({key: value for key, value in options.items() if value is not None})
        self.send("PUT", f"/v1/models/{quote(name, safe='')}/model.nk?{query}", file)
        return self.model(name)

    def delete(self, name: str) -> bool:
        """Delete a model with all its data; return False if there is none of that name."""
        try:
            self.call("DELETE", f"/v1/models/{quote(name, safe='')}?confirm={quote(name, safe='')}")
        except ServiceError as error:
            if error.code != "unknown_model":
                raise
            return False
        return True

    def back_up(self, name: str) -> dict[str, Json]:
        """Write a backup of all models to DIR/backups/NAME of the service; return its description."""
        found: dict[str, Json] = self.call("POST", f"/v1/backups/{quote(name, safe='')}")
        return found

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request with a JSON body, retry if it may have been lost, and return the JSON answer."""
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        return json.loads(self.send(method, path, content))

    def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request, retry if it may have been lost, and return the bytes of the answer."""
        pause = FIRST_PAUSE
        for left in range(self._retries, -1, -1):
            try:
                return self._once(method, path, body)
            except ServiceError as error:
                if error.code not in (*AGAIN, "unreachable") or not left:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))  # so that clients do not retry in step
            pause = min(2.0 * pause, LONGEST_PAUSE)
        raise AssertionError

    def _once(self, method: str, path: str, body: bytes | None) -> bytes:
        try:
            connection, kept = self._idle.pop(), True
        except IndexError:
            connection, kept = self._kind(self._host, self._port, timeout=self._timeout), False
        try:
            connection.request(method, self._path + path, body, self._headers)
            answer = connection.getresponse()
            content = answer.read()
        except LOST as error:
            connection.close()
            if kept and isinstance(error, (ConnectionError, http.client.BadStatusLine)):
                return self._once(method, path, body)  # the service had closed the idle connection
            what = f"the service at {self.url} does not answer ({error or type(error).__name__}): is it running?"
            raise ServiceError("unreachable", what) from None
        self._idle.append(connection)
        if answer.status < 400:
            return content
        try:
            found = json.loads(content)["error"]
            raise ServiceError(found["code"], found["message"], answer.status)
        except (ValueError, KeyError, TypeError):
            what = f"{self.url} is not a novikoff service: it answered {answer.status} {answer.reason}."
            raise ServiceError("not_the_service", what, answer.status) from None

    def close(self) -> None:
        """Close idle connections; the client can still be used."""
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Model:
    """One model of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/v1/models/{quote(name, safe='')}"

    def predict(
        self, x: object, id: str | None = None, why: bool = False, probabilities: bool = False
    ) -> dict[str, Json]:
        """Predict x: return `prediction`, `score`, and the `id` for its label, a new one if none is given.

        With `why` the answer has an explanation, with `probabilities` the probability of each label, and for conformal
        models always the prediction `set`.
        """
        request: dict[str, object] = {"id": id or uuid4().hex, "x": plain(x)}
        asked = {name: True for name, wanted in (("why", why), ("probabilities", probabilities)) if wanted}
        return self._post("predict", {**request, **asked})

    def label(self, id: str, label: object) -> dict[str, Json]:
        """Send the label of a round; the answer states whether it was a `mistake`."""
        return self._post("label", {"id": id, "label": plain(label)})

    def learn(self, x: object, label: object, id: str | None = None) -> dict[str, Json]:
        """Predict and label in one request."""
        return self._post("learn", {"id": id or uuid4().hex, "x": plain(x), "label": plain(label)})

    def bulk(self, lines: Iterable[dict[str, object]]) -> Iterator[dict[str, Json]]:
        """Yield a reply per line {"op": "predict" | "label" | "learn", …}, in order; a refused line has an "error"."""
        rest = iter(lines)
        while some := list(islice(rest, LINES)):
            yield from self._bulk(some)

    def _bulk(self, lines: list[dict[str, object]]) -> list[dict[str, Json]]:
        """Send the lines of one request; if some are refused temporarily, send all again: repeated lines do nothing."""
        body = b"".join(json.dumps(line, allow_nan=False).encode() + b"\n" for line in lines)
        pause = FIRST_PAUSE
        while True:
            replies = [json.loads(line) for line in self.client.send("POST", f"{self._path}/bulk", body).splitlines()]
            codes = {one["error"]["code"] for one in replies if "error" in one}
            if len(replies) == len(lines) and not codes & {*AGAIN}:
                return replies
            if pause > LONGEST_PAUSE:
                raise ServiceError(
                    "overloaded", f"the service at {self.client.url} does not answer every line: retry later."
                )
            time.sleep(pause)
            pause *= 2.0

    def importance(self) -> dict[str, Json]:
        """Return the importance of the features: `columns`, `values`, `kind` and `unit`."""
        return self._get("/importance")

    def certificate(self) -> dict[str, Json]:
        """Return results and certificates so far."""
        return self._get("/certificate")

    def proof(self) -> dict[str, Json]:
        """Return the proof file of the certificates, for `novikoff verify` without data."""
        return self._get("/proof")

    def describe(self) -> dict[str, Json]:
        """Return the model and its counts."""
        return self._get("")

    def round(self, id: str) -> dict[str, Json] | None:
        """Return the state of a round, or None if it is unknown."""
        try:
            return self._get(f"/rounds/{quote(id, safe='')}")
        except ServiceError as error:
            if error.code != "unknown_id":
                raise
            return None

    def download(self, rows: bool = False) -> bytes:
        """Return the model file, as `nk.load` reads it; `rows`: with training rows, for exact resuming."""
        return self.client.send("GET", f"{self._path}/model.nk?rows={str(rows).lower()}")

    def _get(self, path: str) -> dict[str, Json]:
        found: dict[str, Json] = self.client.call("GET", self._path + path)
        return found

    def _post(self, verb: str, body: dict[str, object]) -> dict[str, Json]:
        found: dict[str, Json] = self.client.call("POST", f"{self._path}/{verb}", body)
        return found


class AsyncClient:
    """Asynchronous `Client`."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 30.0, retries: int = 8) -> None:
        self.client = Client(url, token, timeout, retries)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.client.close()

    async def models(self) -> list[dict[str, Json]]:
        """Return the models; see `Client.models`."""
        return await asyncio.to_thread(self.client.models)

    async def create(self, name: str, learner: str = "auto", **options: object) -> AsyncModel:
        """Create a model; see `Client.create`."""
        return AsyncModel(await asyncio.to_thread(self.client.create, name, learner, **options))

    def model(self, name: str) -> AsyncModel:
        """Return the model of that name; see `Client.model`."""
        return AsyncModel(self.client.model(name))

    async def upload(self, name: str, file: bytes, **options: object) -> AsyncModel:
        """Create a model from a file; see `Client.upload`."""
        return AsyncModel(await asyncio.to_thread(self.client.upload, name, file, **options))

    async def delete(self, name: str) -> bool:
        """Delete a model; see `Client.delete`."""
        return await asyncio.to_thread(self.client.delete, name)

    async def back_up(self, name: str) -> dict[str, Json]:
        """Write a backup of all models; see `Client.back_up`."""
        return await asyncio.to_thread(self.client.back_up, name)


class AsyncModel:
    """Asynchronous `Model`."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def predict(
        self, x: object, id: str | None = None, why: bool = False, probabilities: bool = False
    ) -> dict[str, Json]:
        """Predict x; see `Model.predict`."""
        return await asyncio.to_thread(self.model.predict, x, id, why, probabilities)

    async def label(self, id: str, label: object) -> dict[str, Json]:
        """Send a label; see `Model.label`."""
        return await asyncio.to_thread(self.model.label, id, label)

    async def learn(self, x: object, label: object, id: str | None = None) -> dict[str, Json]:
        """Predict and label; see `Model.learn`."""
        return await asyncio.to_thread(self.model.learn, x, label, id)

    async def bulk(self, lines: Iterable[dict[str, object]]) -> AsyncIterator[dict[str, Json]]:
        """Yield a reply per line; see `Model.bulk`."""
        rest = iter(lines)
        while some := list(islice(rest, LINES)):
            for one in await asyncio.to_thread(self.model._bulk, some):
                yield one

    async def importance(self) -> dict[str, Json]:
        """Return the importance of the features; see `Model.importance`."""
        return await asyncio.to_thread(self.model.importance)

    async def certificate(self) -> dict[str, Json]:
        """Return results and certificates; see `Model.certificate`."""
        return await asyncio.to_thread(self.model.certificate)

    async def proof(self) -> dict[str, Json]:
        """Return the proof file; see `Model.proof`."""
        return await asyncio.to_thread(self.model.proof)

    async def describe(self) -> dict[str, Json]:
        """Return the model and its counts; see `Model.describe`."""
        return await asyncio.to_thread(self.model.describe)

    async def download(self) -> bytes:
        """Return the model file; see `Model.download`."""
        return await asyncio.to_thread(self.model.download)

    async def round(self, id: str) -> dict[str, Json] | None:
        """Return the state of a round; see `Model.round`."""
        return await asyncio.to_thread(self.model.round, id)


def plain(value: object) -> object:
    """Return an example or a label as JSON values: arrays as lists, numpy numbers as Python numbers."""
    lists = getattr(value, "tolist", None)  # arrays of any library: numpy is not imported here
    if lists is not None:
        return cast("object", lists())
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value
