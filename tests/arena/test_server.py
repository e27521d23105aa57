"""The server answers its own page only, and whatever is sent, with a sentence."""

import http.client
import json

import pytest

from novikoff.arena.guard import POLICY
from novikoff.arena.server import MOST_BYTES
from novikoff.cli.main import main

SCRIPT = {"v": 1, "game": "thresholds", "moves": [[[50], "p"]]}


def ask(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Host": f"127.0.0.1:{port}", **headers}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def play(port, body, path="/api/play", **headers):
    sent = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return ask(port, "POST", path, sent, **{"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("path", ["/", "/arena.js", "/draw.js", "/arena.css", "/api/games"])
def test_the_page_is_served_under_a_strict_policy(port, path):
    code, headers, text = ask(port, "GET", path)
    assert code == 200
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert len(text) > 100


def test_a_game_is_played(port):
    code, _, text = play(port, SCRIPT)
    assert code == 200
    assert json.loads(text)["frames"][-1]["view"]["hi"] == 50


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
def test_a_foreign_host_is_refused(port, host):
    assert ask(port, "GET", "/", Host=host)[0] in (400, 403)
    assert play(port, SCRIPT, Host=host)[0] in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(port, origin):
    assert play(port, SCRIPT, Origin=origin)[0] == 403


def test_our_own_origin_is_not(port):
    assert play(port, SCRIPT, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert play(port, SCRIPT, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200


def test_a_large_body_is_refused(port):
    assert play(port, b'"' + b"x" * MOST_BYTES + b'"')[0] == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_other_content_is_refused(port, kind):
    assert ask(port, "POST", "/api/play", json.dumps(SCRIPT), **{"Content-Type": kind})[0] == 415


@pytest.mark.parametrize("body", ["", "{", "[1,", "nul", "\x00", "[" * 50_000, '{"v": 1', b"\xff\xfe"])
def test_invalid_json_is_refused(port, body):
    code, _, text = play(port, body)
    assert code == 400
    assert "must" in json.loads(text)["error"]


@pytest.mark.parametrize("path", ["/api/play", "/api/probe"])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({}, "the version of a script must be 1"),
        ({"v": 1, "game": "x"}, "a game must be one of"),
        ({"v": 1, "game": "thresholds", "moves": [[[10**9], "p"]], "x": 5}, "integers from 0 to 100"),
    ],
)
def test_a_bad_script_is_refused_in_a_sentence(port, path, bad, why):
    code, _, text = play(port, bad, path)
    assert code == 400
    assert why in json.loads(text)["error"]


def test_a_bug_is_reported_as_one(port, monkeypatch):
    monkeypatch.setattr("novikoff.arena.replay.frame", lambda *_: 1 / 0)
    code, headers, text = play(port, SCRIPT)
    assert code == 500
    assert "ZeroDivisionError" in json.loads(text)["error"]
    assert headers["content-security-policy"] == POLICY


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/arena.py", "/page/index.html", "/api/none", "/%2e%2e/server.py"]
)
def test_nothing_else_is_served(port, path):
    code, headers, _ = ask(port, "GET", path)
    assert code == 404
    assert headers["content-security-policy"] == POLICY
    assert ask(port, "GET", path, Host="evil.example")[0] == 403


def test_theorems_are_explained_and_others_are_not(port):
    code, _, text = ask(port, "GET", "/api/explain/halving_mistakes")
    assert code == 200
    assert "Proof" in json.loads(text)["text"]
    assert ask(port, "GET", "/api/explain/nothing")[0] == 404


def test_missing_fields_are_named(monkeypatch, capsys):
    monkeypatch.setattr("novikoff.cli.arena.find_spec", lambda name: None)
    assert main(["arena"]) == 2
    assert "pip install 'novikoff[arena]'" in capsys.readouterr().err


def test_port_in_use_is_reported(port, capsys):
    assert main(["arena", "--port", str(port), "--no-browser"]) == 2
    assert "is in use. Pass --port N" in capsys.readouterr().err


def test_a_link_of_something_else_is_refused(capsys):
    assert main(["arena", "http://127.0.0.1/x#y", "--no-browser"]) == 2
    assert "a link must be from the arena, with" in capsys.readouterr().err
