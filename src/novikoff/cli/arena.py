"""`arena`: serve the page on this machine and open it in the browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from importlib.util import find_spec

from novikoff.core.errors import InputError

NEEDS = ("starlette", "uvicorn")
"""Packages of the extra `arena`."""


def open_arena(link: str | None, port: int, browse: bool) -> int:
    """Run `novikoff arena` until Ctrl-C."""
    if missing := [name for name in NEEDS if find_spec(name) is None]:
        raise InputError(f"the arena needs {' and '.join(missing)}: pip install 'novikoff[arena]'.")
    from novikoff.arena.server import serve

    _, _, place = (link or "").partition("#")
    if link and not place.startswith("v=1&"):
        raise InputError(f"a link must be from the arena, with #v=1&g=… in it: got {link}.")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise InputError(f"port {port} is in use. Pass --port N, or stop the other program.")
    address = f"http://127.0.0.1:{port}/" + (f"#{place}" if place else "")
    print(f"arena: {address} (stop: Ctrl-C)", file=sys.stderr, flush=True)
    if browse:
        threading.Timer(0.7, webbrowser.open, [address]).start()
    serve(port)
    return 0
