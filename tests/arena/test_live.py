"""A run is told while it plays, and the last that is told is what happened."""

import contextlib
import http.client
import json
import threading

import numpy as np
import pytest

import novikoff as nk
from novikoff.arena import live as module
from novikoff.arena.live import Live
from novikoff.cli.main import main


@contextlib.contextmanager
def got(live, path="/", host=None):
    place = live.address[7:-1]
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.request("GET", path, headers={"Host": host or place})
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


def events(live):
    """What is told, until the end."""
    found = []
    with got(live, "/events") as answer:
        assert answer.status == 200
        for line in answer:
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
                if found[-1]["ended"]:
                    break
    return found


def batches(count):
    coins = np.random.default_rng(0)
    x = coins.normal(size=(count, 3))
    return x, np.where(x[:, 0] + 0.5 * coins.normal(size=count) > 0, 1, -1)


@pytest.fixture
def live(monkeypatch):
    monkeypatch.setattr(module, "BETWEEN", 0.0)
    one = Live("perceptron")
    yield one
    one.close(0.0)


def test_last_event_is_the_ledger(live):
    heard = []
    listener = threading.Thread(target=lambda: heard.extend(events(live)))
    listener.start()
    x, y = batches(3000)
    ledger = nk.play("perceptron", list(zip(x, y, strict=True)), observers=[live])
    live.end(ledger)
    listener.join(20)
    assert heard[-1]["curve"][-1] == [ledger.rounds, ledger.mistakes]
    assert [one["bound"] for one in heard[-1]["certificates"]] == [one.bound for one in ledger.certify()]
    assert heard[-1]["certificates"][0]["sentence"]
    assert len(heard[-1]["curve"]) <= module.POINTS + 300
    assert str(ledger.mistakes) in heard[-1]["lead"]


def test_late_watcher_gets_the_latest_state(live):
    ledger = nk.play("perceptron", batches(500))
    live.end(ledger)
    assert events(live)[-1]["ended"]


def test_games_are_the_same_when_watched(live):
    x, y = batches(2000)
    assert nk.play("perceptron", (x, y), observers=[live]).mistakes == nk.play("perceptron", (x, y)).mistakes


def test_foreign_hosts_are_refused(live):
    live.end(nk.play("perceptron", batches(9)))
    for path, host, code in (("/", "evil.example", 403), ("/../live.py", None, 404), ("/", None, 200),
                             ("/events", "evil.example", 403), ("/events", None, 200)):  # fmt: skip
        with got(live, path, host) as answer:
            assert answer.status == code
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_command_line_prints_the_live_address(capsys):
    assert main(["run", "perceptron", "demo:breast-cancer", "--live"]) == 0
    assert "live curve: http://127.0.0.1:" in capsys.readouterr().err


def test_the_page_draws_it(page, live):
    ledger = nk.play("perceptron", batches(2000))
    live.end(ledger)
    page.goto(live.address)
    page.wait_for_selector("body[data-ended]")
    assert page.inner_text("h1") == f"perceptron on {ledger.source}"
    assert page.locator(".card").count() >= 3
    assert page.locator("#curve path").count() >= 2
    assert {"500", "1,000", "2,000 rounds"} <= set(page.locator("#curve text").all_text_contents())
    written = page.locator("#rate text.plus").text_content()
    assert float(written.removeprefix("error rate ").removesuffix(" %")) == pytest.approx(
        100 * ledger.loss_rate, rel=0.005)  # fmt: skip
    assert page.locator("#rate text.good").text_content().startswith("lately ")
    page.wrong[:] = [one for one in page.wrong if not one.startswith(live.address)]
