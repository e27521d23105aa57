"""The service under attack: hostile text and files, slow and many clients; one model never harms another."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from novikoff.server import app, server, service
from novikoff.server.actor import Look
from serving import TOKEN, opened


def test_half_a_surrogate_pair_is_refused_everywhere(client):
    client.make()
    client.make("many", learner="perceptron", labels="multiclass", negative=None, positive=None)
    half = r"\ud800"
    for method, path, body in (
        ("PUT", "/v1/models/n", '{"learner": "perceptron", "negative": "HALF", "positive": "b"}'),
        ("PUT", "/v1/models/n", '{"learner": "perceptron", "schema": {"HALF": "number"}}'),
        ("POST", "/v1/models/many/learn", '{"id": "a", "x": {"f": 1}, "label": "HALF"}'),
        ("POST", "/v1/models/many/learn", '{"id": "a", "x": {"HALF": 1}, "label": "b"}'),
        ("POST", "/v1/models/m/predict", '{"id": "HALF", "x": {"f": 1}}'),
        ("POST", "/v1/models/m/predict", '{"id": "a", "x": {"f": "HALF", "g:": 1}}'),
    ):
        reply = client.http.request(method, path, content=body.replace("HALF", half))
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_json")
    line = '{"op": "learn", "id": "a", "x": {"f": 1}, "label": "HALF"}'.replace("HALF", half)
    found = json.loads(client.http.post("/v1/models/many/bulk", content=line).text)
    assert found["error"]["code"] == "bad_json"
    whole = '{"id": "a", "x": {"\\ud83d\\ude00": 1}, "label": "\\ud83d\\ude00"}'
    assert client.http.post("/v1/models/many/learn", content=whole).json()["label"] == "\N{GRINNING FACE}"
    assert [one["state"] for one in client.ask("GET", "")["models"]] == ["ready"] * 2


def test_a_failing_certificate_affects_its_model_only(tmp_path, monkeypatch, capfd):
    certified = service.certified

    def failing(ledger, n):
        if "bad" in ledger.source:
            raise IndexError("a bug")
        return certified(ledger, n)

    monkeypatch.setattr(service, "certified", failing)
    monkeypatch.setattr(service, "BETWEEN", 0.01)
    with opened(tmp_path) as client:
        client.make("bad")
        client.make()
        client.learn("a", {"f": 1}, "ham")
        assert client.code("GET", "/v1/models/bad/certificate") == (500, "certificate_failed")
        end, text = time.monotonic() + 60, ""
        while 'certificate_failed{model="bad"} 1' not in text or 'as_of_label{model="m"} 1' not in text:
            assert time.monotonic() < end
            text = client.http.get("/metrics").text
        assert 'novikoff_bound{model="bad"' not in text
        assert 'novikoff_certificate_failed{model="m"} 0' in text
        with client.http.stream("GET", "/v1/models/bad/events") as events:
            assert next(line for line in events.iter_lines() if line.startswith("data"))
    assert capfd.readouterr().err.count('"certificate_failed"') == 1


def test_metrics_evaluate_nothing(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make()
        monkeypatch.setattr(service, "certified", None)  # would raise
        assert 'novikoff_ready{model="m"} 1' in client.http.get("/metrics").text


def test_a_model_without_its_database_is_not_hidden(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        client.make("n")
    (tmp_path / "models/m/model.sqlite").unlink()
    with opened(tmp_path) as client:
        found = client.ask("GET", "/m")
        assert found["state"] == "failed"
        assert "model.sqlite is missing" in found["reason"]
        assert client.ask("GET", "/n")["state"] == "ready"
        assert not (tmp_path / "models/m/model.sqlite").exists()
        assert client.ask("DELETE", "/m?confirm=m")["state"] == "deleted"


def test_specs_of_thousands_of_learners_are_refused(client):
    for spec in ("hedge:learners=[" + ",".join(["[perceptron]"] * 5000) + "]", "perceptron" + "n" * 20_000):
        assert client.code("PUT", "/v1/models/m", {"learner": spec}) == (422, "bad_model")


def test_single_requests_come_before_bulk(client):
    client.make()
    actor, blocked, lines = client.service.models["m"], threading.Event(), 3000
    actor.look(Look(lambda _: blocked.wait(60), lambda _: None))
    text = "\n".join(json.dumps({"op": "predict", "id": str(k), "x": {"f": 1}}) for k in range(lines))
    with ThreadPoolExecutor(2) as pool:
        bulk = pool.submit(client.http.post, "/v1/models/m/bulk", content=text)
        end = time.monotonic() + 60
        while actor.waiting < lines:
            assert time.monotonic() < end
            time.sleep(0.005)
        single = pool.submit(client.predict, "single", {"f": 1})
        while actor.waiting < lines + 1:
            assert time.monotonic() < end
            time.sleep(0.005)
        blocked.set()
        assert single.result()["round"] <= 1025  # one group of bulk may have been taken before
        assert bulk.result().text.count('"round"') == lines


def test_idle_connections_give_way_and_health_is_always_answered(client, monkeypatch):
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(app, "MOST_BUSY", 0)
    where = (client.http.base_url.host, client.http.base_url.port)
    idle = [socket.create_connection(where) for _ in range(60)]
    try:
        for path, status in (("/healthz", 200), ("/v1/models", 503)):
            with socket.create_connection(where) as one:
                one.settimeout(10)
                one.sendall(f"GET {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())
                assert one.recv(1000).startswith(f"HTTP/1.1 {status}".encode())
        idle[0].settimeout(10)
        assert idle[0].recv(1) == b""  # the oldest were closed
    finally:
        for one in idle:
            one.close()


@pytest.mark.slow
def test_a_hundred_models_are_scraped_at_once(tmp_path):
    with opened(tmp_path) as client:
        for k in range(100):
            client.make(f"m{k}")
            client.ask("POST", f"/m{k}/learn", {"id": "a", "x": {"f": 1}, "label": "ham"})
        begin = time.process_time()
        text = client.http.get("/metrics").text
        print(f"a scrape of 100 models: {time.process_time() - begin:.3f} s of CPU time, {len(text):,} bytes")
        assert text.count("novikoff_ready{") == 100
        assert client.http.get("/metrics", headers={"authorization": f"bearer {TOKEN}"}).status_code == 200
