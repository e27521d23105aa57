"""Web server of the service: uvicorn, with limits on connections and on slow requests."""

from __future__ import annotations

import logging
import socket
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from novikoff.core.errors import Advice, InputError, Option

PORT = 1963
"""Default port."""
MOST_CONNECTIONS = 2000
"""Number of connections from which idle ones are closed, those of the client with most connections first."""
MOST_FILES = 65_536
"""Number of open files that the process asks for."""
PATIENCE = 20.0
"""Seconds within which the head of a request must arrive."""
MOST_HEAD = 65_536
"""Approximate largest size of the head of a request in bytes."""
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def serve(
    folder: Path, host: str, port: int, tokens: Path | None, sync: str, snapshot_every: int, access_log: bool = False,
    accept_loss: Sequence[str] = (),
) -> None:  # fmt: skip
    """Serve until the process is stopped."""
    try:
        import httptools  # noqa: F401
        import msgspec  # noqa: F401
        import uvicorn
    except ModuleNotFoundError as error:
        raise InputError(f"the service needs {error.name}: pip install 'novikoff[serve]'.") from None
    from novikoff.server.access import Access, token_file
    from novikoff.server.app import App
    from novikoff.server.service import Service, log

    _open_many_files()
    service = Service(folder, sync, snapshot_every, accept_loss)
    app = App(service, Access(token_file(folder, tokens), log), access_log)
    with listening(host, port) as sock:
        shown = f"[{host}]" if ":" in host else host
        print(
            f"novikoff serves {folder} at http://{shown}:{sock.getsockname()[1]}/ (see /docs)",
            file=sys.stderr,
            flush=True,
        )
        service.address = f"http://{_local(shown)}:{sock.getsockname()[1]}"
        server = uvicorn.Server(configured(app))
        app.stopping = lambda: server.should_exit
        server.run([sock])


def _local(host: str) -> str:
    """Return the address under which this machine reaches a service that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)


def _open_many_files() -> None:
    """Raise the limit of open files, which connections and databases need, as far as the system allows."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def configured(app: Any) -> Any:
    """Return the configuration of uvicorn."""
    import uvicorn

    logging.getLogger("uvicorn").handlers = [Forwarded()]
    return uvicorn.Config(
        app, http=patient(), ws="none", lifespan="on", access_log=False, log_level="warning", log_config=None,
        server_header=False, timeout_keep_alive=75, timeout_graceful_shutdown=30,
    )  # fmt: skip


class Forwarded(logging.Handler):
    """Handler that writes the log records of uvicorn to the log of the service."""

    def emit(self, record: logging.LogRecord) -> None:
        from novikoff.server.service import log

        error = record.exc_info[1] if record.exc_info else None
        why = {} if error is None else {"traceback": "".join(traceback.format_exception(error))}
        log("server", level=record.levelname.lower(), message=record.getMessage(), **why)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise InputError(
            "the address is not available", f"{host}, port {port}: {error.strerror}",
            Advice("Pass another ", Option("port", letter="N"), "."),
        ) from None  # fmt: skip
    return sock


def patient() -> Any:
    """Return uvicorn's protocol with a timeout and a size limit on the head of a request."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Patient(HttpToolsProtocol):
        _waits: Any = None
        _head = 0
        _began = 0.0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._began = self.loop.time()
            self._wait()
            if len(self.connections) > MOST_CONNECTIONS:
                self._make_room()

        def _make_room(self) -> None:
            """Close the oldest idle connection of the client with most; without one, refuse far too many."""
            among = [one for one in self.connections if isinstance(one, Patient) and not one.transport.is_closing()]
            counts = Counter(one.client and one.client[0] for one in among)
            idle = [one for one in among if one is not self and (one.cycle is None or one.cycle.response_complete)]
            if idle:
                most = max(idle, key=lambda one: (counts[one.client and one.client[0]], -one._began))
                most.transport.close()
            elif len(among) > 2 * MOST_CONNECTIONS:
                self.transport.close()

        def data_received(self, data: bytes) -> None:
            if self._waits is None and (self.cycle is None or self.cycle.response_complete):
                self._wait()
            super().data_received(data)
            if self._waits is not None and not self.transport.is_closing():
                self._head += len(data)
                if self._head > MOST_HEAD:
                    self.transport.write(TOO_LONG)
                    self.transport.close()

        def on_headers_complete(self) -> None:
            self._rest()
            self._began = self.loop.time()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._waits = self.loop.call_later(PATIENCE, self.transport.close)

        def _rest(self) -> None:
            self._head = 0
            if self._waits is not None:
                self._waits.cancel()
                self._waits = None

    return Patient
