"""A server of the arena on a free port, and a page of a browser, where there is one."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from browsing import watched


@pytest.fixture(scope="session")
def port():
    uvicorn = pytest.importorskip("uvicorn")
    from novikoff.arena.server import app

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app(number), host="127.0.0.1", port=number, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield number
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def page(browser, port):
    """A page that fails the test on an error in it, or on a request that leaves this machine."""
    with watched(browser, f"http://127.0.0.1:{port}/", accept_downloads=True) as one:
        yield one
