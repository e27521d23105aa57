"""Live page: the loss curve of a long run in the browser, served by the process that plays.

The page receives server-sent events, at most two per second. The observer reads the game between two batches, and
evaluates certificates only while that takes less than a hundredth of the run's time.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources

from novikoff.arena.guard import HEADERS, foreign, names
from novikoff.arena.replay import shown
from novikoff.core.certificate import bound_text
from novikoff.core.errors import InputError
from novikoff.core.observer import Observer
from novikoff.game.ledger import Ledger
from novikoff.numerics.clock import clock
from novikoff.reports import sentences, summary
from novikoff.reports.game_chart import quantity

BETWEEN = 0.5
"""Smallest number of seconds between two events."""
SHARE = 0.01
"""Fraction of the run's time that may go into certificates."""
GUESS = 0.05
"""Assumed duration of the first evaluation of certificates, in seconds."""
POINTS = 300
"""Approximate number of points of the curve that are sent."""
FILES = {
    "/": ("live.html", "text/html; charset=utf-8"),
    "/arena.css": ("arena.css", "text/css; charset=utf-8"),
    "/live.js": ("live.js", "text/javascript; charset=utf-8"),
    "/draw.js": ("draw.js", "text/javascript; charset=utf-8"),
    "/formula.js": ("formula.js", "text/javascript; charset=utf-8"),
    "/charts.js": ("charts.js", "text/javascript; charset=utf-8"),
}
"""File and media type of each path."""


class Live(Observer):
    """Observer that sends the state of a game to every open page.

    Args:
        learner: Name of the learner in the page's title.
        port: Port on 127.0.0.1; 0 chooses a free one.
        certify: Evaluate certificates during the run too.
    """

    def __init__(self, learner: str, port: int = 0, certify: bool = True) -> None:
        self._learner, self._certify = learner, certify
        self._begin = self._sent = clock()
        self._spent, self._takes = 0.0, GUESS
        self._latest, self._number, self.ended = "", 0, False
        self._cards: list[dict[str, object]] = []
        self._bounds: list[tuple[int, float, bool, str]] = []
        self._news = threading.Condition()
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror or error}. Choose another.") from None
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()

    def rest(self, ledger: Ledger) -> None:
        now = clock()
        if ledger.rounds and now - self._sent >= BETWEEN:
            self._sent = now
            if self._certify and self._spent + self._takes <= SHARE * (now - self._begin):
                self._look(ledger)
                self._takes = clock() - now
                self._spent += self._takes
            self._send(ledger, False)

    def end(self, ledger: Ledger) -> None:
        """Send the final state, with its certificates."""
        if self._certify and ledger.rounds:
            self._look(ledger)
        self.ended = True
        self._send(ledger, True)

    def close(self, seconds: float = 1.0) -> None:
        """Wait until pages have received the final event, then stop the server."""
        threading.Event().wait(seconds if self._number else 0.0)
        self._server.shutdown()
        self._server.server_close()

    def _look(self, ledger: Ledger) -> None:
        certificates = ledger.certify()
        self._cards = [shown(one) for one in certificates]
        best = summary.bounding(ledger, certificates)
        if best is not None:
            allowed = summary.allowed(ledger, best) or 0.0
            self._bounds.append((ledger.rounds, float(allowed), True, bound_text(allowed, "upper")))

    def _send(self, ledger: Ledger, ended: bool) -> None:
        paid = ledger.mistakes if ledger.counts else ledger.loss
        curve = list(dict([(0, 0), *ledger.curve, (ledger.rounds, paid)]).items())
        step = max(1, len(curve) // POINTS)
        event = {
            "learner": self._learner,
            "source": ledger.source,
            "counts": ledger.counts,
            "counted": quantity(ledger),
            "lead": sentences.capital(summary.lead(ledger, [])) if ledger.rounds else "",
            "curve": [*curve[:-1:step], curve[-1]],
            "bounds": self._bounds,
            "certificates": self._cards,
            "ended": ended,
        }
        with self._news:
            self._latest, self._number = json.dumps(event, default=str), self._number + 1
            self._news.notify_all()

    def wait(self, seen: int) -> tuple[int, str]:
        """Return the newest event and its number: as soon as it is newer than `seen`, or after ten seconds."""
        with self._news:
            self._news.wait_for(lambda: self._number > seen, timeout=10.0)
            return self._number, self._latest


def _handler(live: Live) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Request handler for the page, its files and the event stream."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if refusal := foreign(self.headers.get("Host"), self.headers.get("Origin"), names(live.port)):
                self._answer(403, "text/plain", refusal.encode())
            elif self.path == "/events":
                self._events()
            elif self.path in FILES:
                name, kind = FILES[self.path]
                self._answer(200, kind, resources.files("novikoff.arena").joinpath("page", name).read_bytes())
            else:
                self._answer(404, "text/plain", b"not found")

        def _answer(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _events(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.close_connection = True
            seen = 0
            try:
                while True:
                    number, text = live.wait(seen)
                    self.wfile.write(f"data: {text}\n\n".encode() if number > seen else b": still here\n\n")
                    self.wfile.flush()
                    seen = number
                    if live.ended and number:
                        return
            except OSError:  # the page was closed
                return

        def log_message(self, *_: object) -> None:
            """Log nothing: the terminal belongs to the run."""

    return Handler
