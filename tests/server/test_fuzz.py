"""Whatever is sent, it is refused in words or done: no 500, no traceback, and memory stays what it was."""

import json
import random
import resource
import socket
import time

import pytest

from novikoff.server import server
from serving import TOKEN, opened

DEEP = "[" * 2000 + "]" * 2000
VALUES = (
    None, True, False, 0, 1, -1, 0.5, 1e308, -1e-320, 10**30, 10**400, float("nan"), float("inf"), "", "a", "spam",
    "ham", "\x00", "\ud800", "é" * 300, "x" * 5000, [], [1], [1, "a"], [[1]], [None], {}, {"a": 1}, {"a": None},
    {"a": {"b": [1, 2]}},
    {"a": 1e308, "b": 1e308}, {"": 0}, {"a:b": 1}, {str(k): k for k in range(300)},
)  # fmt: skip
VERBS = ("predict", "label", "learn", "bulk", "model.nk", "certificate", "rounds/a", "rounds/../../x", "nothing", "")
NAMES = ("m", "n", "multiclass", "numbers", "..", "%2e%2e", "a/b", "A", "x" * 300, "")
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD")


def body(coins, verb):
    """A body: mostly nearly right."""
    kind = coins.random()
    if kind < 0.05:
        return coins.randbytes(coins.randrange(300))
    if kind < 0.08:
        return DEEP.encode()
    x = {f"f{coins.randrange(9)}": coins.gauss(0, 1)}
    label = coins.choice(("ham", "spam", 1, 0.5))
    found = {"id": f"{coins.randrange(200)}", "x": x, "label": label, "op": coins.choice(("predict", "label", "learn"))}
    if verb in ("predict", "label", "learn"):
        del found["op"]
    kind = found.get("op", verb)
    for key in {"predict": ["label"], "label": ["x"]}.get(kind, []):
        del found[key]
    if coins.random() < 0.5:
        found[coins.choice([*found, "more", "learner"])] = coins.choice(VALUES)
    if coins.random() < 0.1:
        del found[coins.choice(list(found))]
    text = json.dumps(found).encode()
    if coins.random() < 0.1:
        at = coins.randrange(len(text))
        text = text[:at] + coins.randbytes(1) + text[at + 1 :]
    if coins.random() < 0.1:
        text = b"\n".join([text] * coins.randrange(1, 20))
    return text


@pytest.mark.parametrize("requests", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_requests_at_random(tmp_path, capfd, requests):
    coins = random.Random(requests)
    statuses = {}
    with opened(tmp_path) as client:
        client.make()
        client.make("multiclass", learner="perceptron", labels="multiclass", negative=None, positive=None)
        client.make("numbers", learner="vaw", negative=None, positive=None)
        for name in ("m", "multiclass", "numbers"):  # objects from now on
            client.ask("POST", f"/{name}/predict", {"id": "first", "x": {"f0": 1}})
        before = 0
        for k in range(requests):
            if k == requests // 3:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            verb = coins.choice(VERBS[:4] if coins.random() < 0.7 else VERBS)
            path = f"/v1/models/{coins.choice(NAMES[:4] if coins.random() < 0.8 else NAMES)}/{verb}"
            method = "POST" if coins.random() < 0.8 else coins.choice(METHODS)
            reply = client.http.request(method, path, content=body(coins, verb))
            statuses[reply.status_code] = statuses.get(reply.status_code, 0) + 1
            if reply.status_code >= 400 and method != "HEAD":
                assert reply.json()["error"]["message"] if reply.content else True
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert client.ask("GET", "/m")["state"] == client.ask("GET", "/multiclass")["state"] == "ready"
        assert client.ask("GET", "/numbers")["state"] == "ready"
        assert client.ask("GET", "/m")["predicted"] > 10
    told = capfd.readouterr().err
    assert "Traceback" not in told
    assert '"error"' not in told
    assert not [status for status in statuses if status >= 500]
    assert {200, 400, 404, 422} <= set(statuses)
    assert grown < 60_000  # kilobytes


def test_slow_clients_are_disconnected(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.3)
    with opened(tmp_path) as client:
        where = (client.http.base_url.host, client.http.base_url.port)
        with socket.create_connection(where) as one, socket.create_connection(where) as other:
            one.sendall(b"GET /v1/models HTTP/1.1\r\nhost: a\r\n")  # and no more
            other.sendall(f"GET /healthz HTTP/1.1\r\nhost: {where[0]}:{where[1]}\r\n\r\n".encode())
            assert other.recv(1000).startswith(b"HTTP/1.1 200")
            other.sendall(b"GET")
            for sock in (one, other):
                sock.settimeout(10)
                while sock.recv(1000):
                    pass  # until it is closed


def test_a_head_that_does_not_end_is_refused(tmp_path, capfd):
    with opened(tmp_path) as client:
        where = (client.http.base_url.host, client.http.base_url.port)
        for head, part in ((b"GET / HTTP/1.1\r\nx: ", b"a" * 1000), (b"GET / HTTP/1.1\r\n", b"x: y\r\n" * 200)):
            with socket.create_connection(where) as sock:
                sock.settimeout(10)
                sent = 0
                try:
                    sock.sendall(head)
                    while sent < 20_000_000:
                        sent += sock.send(part)
                except ConnectionError:
                    pass
                assert sent < 20_000_000
        with socket.create_connection(where) as sock:
            sock.sendall(b"nonsense\r\n\r\n")
            assert sock.recv(1000).startswith(b"HTTP/1.1 400")
        assert client.http.get("/healthz").status_code == 200
    assert all(json.loads(line)["event"] for line in capfd.readouterr().err.splitlines())


def test_a_body_that_does_not_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("novikoff.server.app.PATIENCE", 0.3)
    monkeypatch.setattr("novikoff.server.bulk.PATIENCE", 0.3)
    with opened(tmp_path) as client:
        client.make()
        where = (client.http.base_url.host, client.http.base_url.port)
        for verb, told in (("predict", b"HTTP/1.1 408"), ("bulk", b"for 0 seconds"), ("model.nk", b"HTTP/1.1 408")):
            with socket.create_connection(where) as sock:
                method = "PUT" if verb == "model.nk" else "POST"
                part = "" if verb == "predict" else "{"
                head = f"{method} /v1/models/m/{verb} HTTP/1.1\r\nhost: {where[0]}:{where[1]}\r\n"
                sock.sendall(f"{head}authorization: Bearer {TOKEN}\r\ncontent-length: 900\r\n\r\n{part}".encode())
                sock.settimeout(10)
                read, end = b"", time.monotonic() + 10
                while told not in read and time.monotonic() < end:
                    read += sock.recv(1000)
                assert told in read
                while verb == "predict" and sock.recv(1000):
                    pass  # until it is closed
