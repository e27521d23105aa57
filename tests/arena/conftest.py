"""A server of the arena on a free port, and a browser, where there is one."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time

import pytest

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
MISSING = "no browser: install one (`make browser`) to test the page"


@pytest.fixture(scope="session")
def port():
    uvicorn = pytest.importorskip("uvicorn")
    from novikoff.arena.server import app, warm_up

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    warm_up()
    server = uvicorn.Server(uvicorn.Config(app(number), host="127.0.0.1", port=number, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield number
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def browser():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        assert not os.environ.get("NOVIKOFF_NEEDS_BROWSER"), MISSING
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=quiet)
        yield running
        running.close()


@pytest.fixture
def page(browser, port, tmp_path):
    """A page that fails the test on an error in it, or on a request that leaves this machine."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, accept_downloads=True)
    one = context.new_page()
    wrong = []
    one.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    one.on("pageerror", lambda error: wrong.append(str(error)))
    one.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(
        (f"http://127.0.0.1:{port}/", "data:", "blob:", "file:")) else None)  # fmt: skip
    one.wrong = wrong
    one.set_default_timeout(20_000)
    yield one
    context.close()
    assert not wrong
