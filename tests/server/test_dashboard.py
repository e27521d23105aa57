"""The dashboard: behind the token, under a strict policy, and told of what was served."""

import json
import re

import httpx
import pytest

from browsing import watched
from novikoff.cli.send import send_source
from novikoff.core.certificate import bound_text
from novikoff.server import client as ours
from novikoff.server.recovery import DATABASE
from serving import opened


def events(http, name):
    """What the page is told first."""
    with http.stream("GET", f"/v1/models/{name}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        first = next(line for line in answer.iter_lines() if line.startswith("data: "))
    return json.loads(first.removeprefix("data: "))


def test_dashboard_needs_the_token_and_has_a_strict_policy(client):
    for path in ("/", "/dashboard.js", "/draw.js", "/arena.css", "/v1/models/m/events"):
        assert httpx.get(f"{client.http.base_url}{path}").status_code == 401
    page = client.http.get("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script type=" in page.text
    assert "http" not in page.text
    assert client.code("GET", "/v1/models/nobody/events") == (404, "unknown_model")


def test_every_module_of_the_dashboard_is_served(client):
    left, seen = ["dashboard.js"], set()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            reply = client.http.get(f"/{name}")
            assert reply.status_code == 200, name
            left += re.findall(r'from "\./(.+?)"', reply.text)
    assert len(seen) > 2


def test_dashboard_receives_served_predictions(client):
    client.make()
    for t in range(40):
        client.predict(str(t), {"a": 1.0 if t % 2 else -1.0})
    for t in range(30):
        client.label(str(t), "spam" if t % 2 else "ham")
    told = events(client.http, "m")
    assert (told["predicted"], told["labelled"], told["pending"]) == (40, 30, 10)
    assert told["curve"][-1] == [30, told["mistakes"]]
    first = told["certificates"][0]
    assert first["theorem"] == "delayed_mistakes"
    assert told["bounds"] == [[30, first["bound"], True, bound_text(first["bound"], "upper")]]
    assert "of the served answers were wrong" in first["sentence"] or first["status"] == "vacuous"


def test_watchers_are_disconnected_when_the_service_stops(client):
    client.make()
    with client.http.stream("GET", "/v1/models/m/events") as answer:
        lines = answer.iter_lines()
        next(line for line in lines if line.startswith("data: "))
        client.app.stopping = lambda: True
        client.predict("a", {"f": 1})
        assert not [line for line in lines if line.startswith("data: ")]  # it ends before anything else is told
        client.app.stopping = lambda: False


def test_everybody_can_read_the_page_as_it_happens(client, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    client.make()
    client.make("numbers", learner="vaw", negative=None, positive=None)
    client.ask("POST", "/numbers/learn", {"id": "a", "x": [1], "label": 0.5})

    def send(first, last, turned):
        lines = [{"op": "learn", "id": f"{k}", "x": {"f": k % 5 - 2.0, "g": 1}, "label": "spam" if (k % 5 > 2) != turned
                  else "ham"} for k in range(first, last)]  # fmt: skip
        client.http.post("/v1/models/m/bulk", content="\n".join(map(json.dumps, lines)))

    send(0, 600, False)
    client.predict("waits", {"f": 1})
    home = str(client.http.base_url) + "/"
    token = client.http.headers["authorization"].split()[1]
    with watched(browser, home, http_credentials={"username": "novikoff", "password": token}) as page:
        page.goto(home)
        page.get_by_role("link", name="numbers").wait_for()
        assert page.locator("#rows tr").count() == 2
        page.fill("#search", "perceptron")
        assert page.locator("#rows tr").count() == 1
        page.get_by_role("link", name="m", exact=True).press("Enter")
        page.wait_for_selector("#promises .card")
        mistakes = client.ask("GET", "/m")["mistakes"]
        assert page.inner_text("#lead").startswith(f"{mistakes} mistakes (")
        assert "in 600 labelled rounds; 601 were served" in page.inner_text("#lead")
        assert re.fullmatch(r"Last \d+: 0 mistakes \(0\.0\xa0%\)\.", page.inner_text("#lately"))
        assert "always ham: 240 mistakes (40.0\xa0%); repeating the previous label: " in page.inner_text("#baselines")
        assert page.inner_text("#waits").startswith("1 wait")
        assert "no evidence" in page.inner_text("#drift")
        send(600, 1500, True)
        page.wait_for_selector("#drift.alarm")
        page.locator("#lead", has_text="in 1,500 labelled rounds").wait_for()
        for scheme, width in (("light", 1000), ("dark", 360)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            found = axe.Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        page.locator("#mistakes tr").nth(1).wait_for()
        latest = client.ask("GET", "/m/mistakes")["mistakes"][0]["id"]
        page.locator("#mistakes td", has_text=latest).first.wait_for()
        page.click("#rank")
        page.locator("#kind", has_text="By ").wait_for()
        assert page.locator("#features tr").count() == len(client.ask("GET", "/m/importance")["columns"])
        page.get_by_role("link", name="All models").press("Enter")
        page.fill("#search", "")
        page.get_by_role("link", name="numbers").press("Enter")
        page.locator("#lead", has_text="squared loss").wait_for()
        client.ask("DELETE", "/numbers?confirm=numbers")
        page.locator("#state", has_text="numbers was removed").wait_for()
        page.wrong[:] = [one for one in page.wrong if "404" not in one]  # the browser's own words


def test_the_table_of_models_sorts_searches_and_puts_failed_ones_first(tmp_path, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with opened(tmp_path) as client:
        for name in ("a", "b", "z"):
            client.make(name)
        for k, name in enumerate("aab"):
            client.ask("POST", f"/{name}/learn", {"id": f"{k}", "x": {"f": k}, "label": "ham"})
    (tmp_path / "models/z" / DATABASE).write_bytes(b"nonsense" * 1000)
    with opened(tmp_path) as client:
        client.ask("GET", "/a/certificate")
        rows = {one["name"]: one for one in client.http.get("/v1/fleet").json()["models"]}
        assert [rows[name]["state"] for name in rows] == ["ready", "ready", "failed"]
        assert (rows["a"]["labelled"], rows["a"]["baseline"], rows["a"]["drift_alarm"]) == (2, 0, False)
        assert "Restore the folder of z" in rows["z"]["advice"]
        home = str(client.http.base_url) + "/"
        token = client.http.headers["authorization"].split()[1]
        with watched(browser, home, http_credentials={"username": "novikoff", "password": token}) as page:
            page.goto(home)
            page.locator("#trouble", has_text="z: failed").wait_for()

            def order():
                return [one.strip() for one in page.locator("#rows td:first-child").all_inner_texts()]

            assert order() == ["z", "a", "b"]
            page.get_by_role("button", name="Model").click()
            assert order() == ["z", "b", "a"]
            page.get_by_role("button", name="Rows").click()
            assert order() == ["z", "a", "b"]
            assert page.locator("th[aria-sort=descending]").inner_text().strip() == "Rows"
            page.fill("#search", "perceptron failed")
            assert order() == []
            page.fill("#search", "Failed")
            assert order() == ["z"]
            page.fill("#search", "")
            for scheme, width in (("light", 1000), ("dark", 360)):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("() => document.documentElement.scrollWidth") <= width
                found = axe.Axe().run(page)
                assert found.violations_count == 0, found.generate_report()


def test_recent_mistakes_are_listed(client):
    client.make()
    answers = {k: client.predict(f"{k}", {"f": k % 2 or -1.0}) for k in range(40)}
    wrong = [k for k, one in answers.items() if client.label(f"{k}", "ham" if k % 2 else "spam")["mistake"]]
    found = client.ask("GET", "/m/mistakes")["mistakes"]
    assert [one["id"] for one in found] == [f"{k}" for k in reversed(wrong)][:10]
    assert found[0]["prediction"] != found[0]["label"]
    client.make("numbers", learner="vaw", negative=None, positive=None)
    for k, y in enumerate((0.1, 9, 0.2)):
        client.ask("POST", "/numbers/learn", {"id": f"{k}", "x": [1], "label": y})
    assert client.ask("GET", "/numbers/mistakes")["mistakes"][0]["id"] == "1"


def test_a_file_is_sent_and_sent_again(client, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NOVIKOFF_TOKEN", client.http.headers["authorization"].split()[1])
    monkeypatch.setattr(ours, "LINES", 50)
    rows = [f"{t % 7},{'red' if t % 3 else ''},{'spam' if t % 7 > 3 else 'ham'}" for t in range(300)]
    source, url = tmp_path / "mail.csv", str(client.http.base_url)

    def send(count, late):
        source.write_text("\n".join(["size,colour,label", *rows[:count]]) + "\n")
        code = send_source(str(source), {}, url, None, "perceptron:bias=1", None, late, True, True)
        return code, json.loads(capsys.readouterr().out)

    code, found = send(120, 10)
    assert (code, found["model"], found["labelled"], found["pending"]) == (0, "mail", 120, 0)
    assert found["changed"] >= 0
    code, found = send(300, 10)  # it has grown: what was sent is not counted again
    assert (code, found["labelled"], found["predicted"], found["refused"]) == (0, 300, 300, 0)
    game = client.ask("GET", "/mail")
    assert game["labelled"] == 300
