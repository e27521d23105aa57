"""`arena`: serve the page on this machine and open it in the browser, or save a game as a page."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl

from novikoff.core.errors import InputError
from novikoff.core.overwriting import check_replaced, first_bytes

NEEDS = ("starlette", "uvicorn")
"""Packages of the extra `arena`."""


def save_game(link: str | None, path: str, force: bool) -> int:
    """Write the game of a link as an HTML file that replays it."""
    from novikoff.arena.saved import page

    if link is None:
        raise InputError("a saved game needs a link: pass LINK too, from Copy link of the arena.")
    check_replaced(path, "a saved game", lambda there: b"<title>novikoff" in first_bytes(there, 600), force, InputError)
    try:
        Path(path).write_text(page(link), encoding="utf-8")
    except OSError as error:
        raise InputError(f"a saved game must be writable: {path}: {error.strerror or error}.") from None
    print(f"saved: {path}", file=sys.stderr)
    return 0


def open_arena(link: str | None, port: int, browse: bool) -> int:
    """Run `novikoff arena` until Ctrl-C."""
    if missing := [name for name in NEEDS if find_spec(name) is None]:
        raise InputError(f"the arena needs {' and '.join(missing)}: pip install 'novikoff[arena]'.")
    from novikoff.arena.server import serve

    _, _, place = (link or "").partition("#")
    if link and not place.startswith(("v=1&", "lesson=")):
        raise InputError(f"a link must be from the arena, with #v=1&g=… in it: got {link}.")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise InputError(f"port {port} is in use. Pass --port N, or stop the other program.")
    address = f"http://127.0.0.1:{port}/" + (f"#{place}" if place else "")
    print(f"arena: {address} (stop: Ctrl-C)", file=sys.stderr, flush=True)
    if browse:
        threading.Timer(0.7, webbrowser.open, [address]).start()
    serve(port, dict(parse_qsl(place)).get("g", ""))
    return 0
