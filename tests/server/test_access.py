"""Tokens: roles, models, limits, rotation while the service runs, and what is logged of refusals."""

import base64
import hashlib
import json
import os

import pytest

from novikoff.core.errors import InputError
from novikoff.server import access
from novikoff.server.access import Access, Grant, read, token_file
from serving import TOKEN, opened

TABLE = f"""[tokens.owner]
token = "{TOKEN}"
roles = ["admin"]
[tokens.shop]
sha256 = "{hashlib.sha256(b"the token of the shop").hexdigest()}"
roles = ["predict"]
models = ["m"]
[tokens.reader]
token = "the-token-of-the-reader"
roles = ["read"]
models = ["m"]
[tokens.judge]
token = "the-token-of-the-judge"
roles = ["label"]
[tokens.slow]
token = "the-token-of-the-slow"
roles = ["predict"]
per_second = 2
"""


def written(path, text):
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(text)
    return path


def code(client, token, method, path, body=None):
    reply = client.http.request(method, path, json=body, headers={"authorization": f"Bearer {token}"})
    return reply.status_code if reply.status_code < 400 else reply.json()["error"]["code"]


def test_tokens_allow_what_their_roles_and_models_are(tmp_path, capfd):
    written(tmp_path / "token", TABLE.replace("the token of the shop", ""))
    with opened(tmp_path) as client:
        client.make()
        client.make("n")
        x = {"id": "a", "x": {"f": 1}}
        judge, reader = "the-token-of-the-judge", "the-token-of-the-reader"
        assert code(client, judge, "POST", "/v1/models/m/predict", x) == "forbidden"
        assert code(client, judge, "POST", "/v1/models/m/learn", {**x, "label": "ham"}) == "forbidden"
        assert code(client, judge, "POST", "/v1/models/m/label", {"id": "a", "label": "ham"}) == "unknown_id"
        assert code(client, judge, "GET", "/v1/models") == "forbidden"
        assert code(client, reader, "GET", "/v1/models/m/certificate") == 200
        assert code(client, reader, "GET", "/v1/models/n") == "forbidden"
        assert code(client, reader, "GET", "/v1/models/m/model.nk") == "forbidden"
        assert code(client, reader, "DELETE", "/v1/models/m?confirm=m") == "forbidden"
        assert code(client, reader, "PUT", "/v1/models/m", {"learner": "perceptron"}) == "forbidden"
        seen = client.http.get("/v1/models", headers={"authorization": f"Bearer {reader}"}).json()["models"]
        assert [one["name"] for one in seen] == ["m"]
        told = client.http.get("/metrics", headers={"authorization": f"Bearer {reader}"}).text
        assert 'model="m"' in told
        assert 'model="n"' not in told
        lines = [{"op": "predict", **x}, {"op": "label", "id": "a", "label": "ham"}]
        text = "\n".join(map(json.dumps, lines))
        headers = {"authorization": f"Bearer {judge}"}
        first, second = client.http.post("/v1/models/m/bulk", content=text, headers=headers).text.splitlines()
        assert json.loads(first)["error"]["code"] == "forbidden"
        assert json.loads(second)["error"]["code"] == "unknown_id"
        assert client.ask("GET", "/m")["predicted"] == 0
    refused = [json.loads(line) for line in capfd.readouterr().err.splitlines() if '"event": "refused"' in line]
    assert {"code": "forbidden", "path": "/v1/models/m/predict", "client": "127.0.0.1", "token": "judge"}.items() <= (
        refused[0].items()
    )


def test_schemes_are_read_in_any_case_and_wrong_tokens_are_refused(tmp_path):
    with opened(tmp_path) as client:
        good = base64.b64encode(f"novikoff:{TOKEN}".encode()).decode()
        other = base64.b64encode(f"root:{TOKEN}".encode()).decode()
        for given, status in (
            (f"bearer {TOKEN}", 200), (f"BEARER  {TOKEN}", 200), (f"basic {good}", 200), (f"Basic {other}", 401),
            ("Basic é", 401), (f"Bearer {TOKEN}x", 401), (TOKEN, 401), ("Bearer", 401), ("", 401),
        ):  # fmt: skip
            found = client.http.get("/v1/models", headers={"authorization": given.encode()})
            assert (given, found.status_code) == (given, status)


def test_tokens_are_rotated_while_the_service_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(access, "BETWEEN", -1.0)
    path = written(tmp_path / "token", TABLE)
    with opened(tmp_path) as client:
        assert code(client, "the-token-of-the-judge", "GET", "/v1/models") == "forbidden"
        written(path, TABLE.replace("the-token-of-the-judge", "another-token-of-the-judge"))
        assert code(client, "the-token-of-the-judge", "GET", "/v1/models") == "unauthorized"
        assert code(client, "another-token-of-the-judge", "GET", "/v1/models") == "forbidden"
        written(path, "[tokens.owner]\nroles = []\n")  # not valid: the last valid one stays in force
        assert code(client, "another-token-of-the-judge", "GET", "/v1/models") == "forbidden"
        path.unlink()
        assert code(client, TOKEN, "GET", "/v1/models") == 200
    assert "tokens_unreadable" in capfd.readouterr().err


def test_requests_above_the_limit_of_a_token_are_refused(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    limited, free = Grant("a", per_second=2.0, _room=2.0, _last=100.0), Grant("b")
    assert [limited.spend(), limited.spend()] == [0.0, 0.0]
    assert limited.spend() == 0.5
    now[0] += 0.5
    assert limited.spend(5) == 0.0
    assert limited.spend() == 2.5  # a large bulk request is paid for afterwards
    now[0] += 100.0
    assert [limited.spend(), limited.spend(), limited.spend() > 0.0] == [0.0, 0.0, True]
    assert free.spend(10**9) == 0.0


def test_requests_above_the_limit_are_429(tmp_path):
    written(tmp_path / "token", TABLE)
    with opened(tmp_path) as client:
        client.make()
        asked = [code(client, "the-token-of-the-slow", "POST", "/v1/models/m/predict", {"id": "a", "x": {"f": 1}})
                 for _ in range(20)]  # fmt: skip
        assert "rate_limited" in asked
        assert client.predict("a", {"f": 1})["round"] == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("short", "16 or more"),
        ("two tokens of some length", "no spaces"),
        ("é" * 20, "ASCII"),
        ("[tokens.a]\nroles = ['admin']\n", "either token or sha256"),
        ("[tokens.a]\nroles = ['king']\ntoken = 'a-token-of-some-length'\n", "roles of token a"),
        ("[tokens.a]\nroles = ['admin']\nsha256 = 'abc'\n", "64 hexadecimal"),
        ("[tokens.a]\nroles = ['admin']\ntoken = 'a-token-of-some-length'\nper_second = 0\n", "above 0"),
        ("[tokens.a]\nroles = ['admin']\ntoken = 'a-token-of-some-length'\nrole = 1\n", "not valid"),
        ("[[tokens]]\n", "not valid"),
        ("[other]\n", "tables"),
        ("".join(f"[tokens.{n}]\nroles = ['read']\ntoken = 'a-token-of-some-length'\n" for n in "ab"), "must differ"),
    ],
)
def test_token_files_that_are_not_valid_are_refused(tmp_path, text, why):
    with pytest.raises(InputError, match=why):
        read(written(tmp_path / "token", text))


def test_a_token_file_that_all_may_read_is_refused(tmp_path):
    path = written(tmp_path / "token", TOKEN)
    assert len(read(path)) == 1
    os.chmod(path, 0o640)
    assert len(read(path)) == 1
    os.chmod(path, 0o644)
    with pytest.raises(InputError, match=f"chmod 600 {path}"):
        read(path)


def test_the_first_token_is_not_printed_to_a_journal(tmp_path, capfd, monkeypatch):
    path = token_file(tmp_path, None)
    assert path.stat().st_mode & 0o777 == 0o600
    token = path.read_text().strip()
    assert token not in capfd.readouterr().err
    assert Access(path, print).grant(f"Bearer {token}".encode()).allows("admin", None)
    assert token_file(tmp_path, None) == path
    assert path.read_text().strip() == token
    monkeypatch.setattr(access.sys.stderr, "isatty", lambda: True, raising=False)
    token = token_file(tmp_path / "..", tmp_path / "other")
    assert token == tmp_path / "other"


def test_every_request_is_logged_where_asked(tmp_path, capfd):
    with opened(tmp_path, access_log=True) as client:
        client.make()
        client.predict("a", {"f": 1})
        client.predict("a", {"f": 2}, 409)
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    logged = [(one["method"], one["path"], one["status"], one["token"]) for one in lines if one["event"] == "request"]
    assert logged[-3:] == [("PUT", "/v1/models/m", 201, "admin"), ("POST", "/v1/models/m/predict", 200, "admin"),
                           ("POST", "/v1/models/m/predict", 409, "admin")]  # fmt: skip
