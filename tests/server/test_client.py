"""The client, against a small service of ours: what is lost is sent again, and nothing is counted twice."""

import asyncio
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from novikoff.core.errors import InputError
from novikoff.server import client as module
from novikoff.server.client import AsyncClient, Client, ServiceError


class Service(BaseHTTPRequestHandler):
    """Rounds by id in memory. Some answers are lost once the work is done, some requests are refused for now."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer()

    def do_PUT(self):
        self.answer()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        state = self.server.state
        if self.headers.get("Authorization") != "Bearer secret":
            return self.tell(401, {"error": {"code": "unauthorized", "message": "a request must have the token"}})
        state["asked"] += 1
        trouble = state["trouble"].pop(0) if state["trouble"] else None
        if trouble == "refuse":
            return self.tell(503, {"error": {"code": "overloaded", "message": "later"}})
        verb = self.path.rsplit("/", 1)[-1]
        if verb == "bulk":
            found = [self.one(json.loads(line)) for line in body.splitlines()]
            told = b"".join(json.dumps(one).encode() + b"\n" for one in found)
        elif self.command == "PUT":
            told = b"{}"
        elif "/rounds/" in self.path:
            known = state["rounds"].get(verb)
            if known is None:
                return self.tell(404, {"error": {"code": "unknown_id", "message": "it is not known"}})
            told = json.dumps(known).encode()
        else:
            told = json.dumps(self.one({"op": verb, **json.loads(body)})).encode()
        if trouble in ("lose", "wait"):  # the work is done, and nobody hears of it: at once, or not within the second
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR) if trouble == "lose" else time.sleep(1.5)
        return self.tell(200, told)

    def one(self, asked):
        rounds = self.server.state["rounds"]
        repeated = asked["id"] in rounds
        rounds.setdefault(asked["id"], {"id": asked["id"], "round": len(rounds) + 1})
        return {**rounds[asked["id"]], "repeated": repeated, "op": asked["op"]}

    def tell(self, status, told):
        told = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_):
        """Nobody wants to read of it."""


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.001)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    server.state = {"asked": 0, "trouble": [], "rounds": {}}
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(service):
    with Client(service.url, "secret", timeout=1.0) as one:
        yield one


def test_lost_requests_are_retried_under_the_same_id(service, client):
    model = client.create("mail", "perceptron")
    service.state["trouble"] = ["lose", "refuse", "lose", None]
    said = model.predict({"a": np.float64(1.0)})
    assert said["repeated"]  # the first had come
    assert len(service.state["rounds"]) == 1
    assert service.state["asked"] == 5
    assert model.predict(np.ones(3), id="mine")["id"] == "mine"


def test_lines_are_sent_again_together_and_answered_in_order(service, client, monkeypatch):
    monkeypatch.setattr(module, "LINES", 10)
    service.state["trouble"] = [None, "wait", "refuse"]
    lines = [{"op": "learn", "id": str(t), "x": [t], "label": 1} for t in range(25)]
    found = list(client.model("mail").bulk(lines))
    assert [one["id"] for one in found] == [str(t) for t in range(25)]
    assert len(service.state["rounds"]) == 25
    assert [one["repeated"] for one in found] == [10 <= t < 20 for t in range(25)]


def test_permanent_refusals_have_their_code(service, client):
    with Client(service.url, "wrong") as wrong, pytest.raises(ServiceError, match="must have the token") as caught:
        wrong.model("mail").predict([1.0])
    assert (caught.value.code, caught.value.status) == ("unauthorized", 401)
    assert client.model("mail").round("unknown") is None
    with pytest.raises(ServiceError, match="does not answer") as caught:
        Client("http://127.0.0.1:9", "secret", retries=1).models()
    assert caught.value.code == "unreachable"
    service.state["trouble"] = ["refuse"] * 3
    with Client(service.url, "secret", retries=2) as hasty, pytest.raises(ServiceError, match="later"):
        hasty.model("mail").label("a", 1)
    with pytest.raises(InputError, match="an address must be"):
        Client("ftp://somewhere")


def test_many_wait_at_once(service, monkeypatch):
    monkeypatch.setenv("NOVIKOFF_TOKEN", "secret")

    async def play():
        async with AsyncClient(service.url) as client:
            model = await client.create("mail")
            await asyncio.gather(*(model.predict([t], str(t)) for t in range(20)))
            await model.label("3", "spam")
            assert (await model.round("3"))["id"] == "3"
            return [one async for one in model.bulk({"op": "predict", "id": str(t), "x": [t]} for t in range(30))]

    found = asyncio.run(play())
    assert [one["repeated"] for one in found] == [t < 20 for t in range(30)]
