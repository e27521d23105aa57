"""Progress on standard error: a bar on a terminal, a line per doubling of rounds on a pipe; silent for two seconds."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from novikoff.game.ledger import Ledger
from novikoff.numerics.clock import clock

QUIET = 2.0
"""Seconds before anything is shown."""
BETWEEN = 0.2
"""Seconds between two updates of the bar."""


class Progress:
    """Callback that shows the progress of a game.

    Args:
        rounds: Number of rounds, if known.
        size: Bytes of the source, if known; its position then gives the fraction done.
        out: Stream to write to; standard error by default.
    """

    def __init__(self, rounds: int | None = None, size: int | None = None, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._rounds, self._size = rounds, size
        self._start = clock()
        self._shown_at = self._start + QUIET - BETWEEN
        self._next_row = 1
        self._last = (0, 0.0)
        self._first = 0
        self._bar: Any = None
        self._began = False

    def __call__(self, ledger: Ledger) -> None:
        """Show the progress, if it is time to."""
        now = clock()
        self._first = self._first or ledger.rounds
        if self._out.isatty():
            if now - self._shown_at > BETWEEN:
                self._shown_at = now
                self._renew(ledger, now)
        elif ledger.rounds >= self._next_row and now - self._start > QUIET:
            self._row(ledger)

    def _renew(self, ledger: Ledger, now: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            known = self._fraction(ledger) is not None
            columns: list[Any] = [TextColumn("{task.description}"), BarColumn(bar_width=24)]
            columns += [TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn()] if known else []
            self._bar = Bar(*columns, console=Console(file=self._out), transient=True, auto_refresh=False)
            self._task = self._bar.add_task("", total=1.0 if known else None)
            self._bar.start()
        rate = (ledger.rounds - self._first) / max(now - self._start, 1e-9)
        mean = f"error rate {ledger.loss_rate:.3f}" if ledger.counts else f"mean loss {ledger.loss_rate:.4g}"
        text = f"round {ledger.rounds:,} · {mean} · {rate:,.0f} rounds/s"
        self._bar.update(self._task, description=text, completed=self._fraction(ledger), refresh=True)

    def _fraction(self, ledger: Ledger) -> float | None:
        """Return the fraction of the game that is done; None if unknown."""
        if self._rounds:
            return min(ledger.rounds / self._rounds, 1.0)
        at = (ledger.position or {}).get("at") or {}
        return at["byte"] / self._size if self._size and "byte" in at else None

    def _row(self, ledger: Ledger) -> None:
        if not self._began:
            what, mean = ("mistakes", "error rate") if ledger.counts else ("loss", "mean loss")
            self._out.write(f"{'rounds':>14} {what:>12} {mean:>10} {'latest':>10}\n")
            self._began = True
        measured = ledger.metrics
        rounds, paid = measured.rounds - self._last[0], measured.loss - self._last[1]
        since = paid / rounds if rounds else 0.0
        total = f"{measured.mistakes:,}" if ledger.counts else f"{measured.loss:,.1f}"
        self._out.write(f"{ledger.rounds:>14,} {total:>12} {ledger.loss_rate:>10.4f} {since:>10.4f}\n")
        self._out.flush()
        self._last = (measured.rounds, measured.loss)
        while self._next_row <= ledger.rounds:
            self._next_row *= 2

    def done(self) -> None:
        """Clear the bar."""
        if self._bar is not None:
            self._bar.stop()
