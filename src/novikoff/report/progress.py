"""Progress on standard error: a line that renews itself on a terminal, doubling rows on a pipe."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from novikoff.ledger import Ledger


class Progress:
    """Called with the ledger now and then; quiet for the first two seconds."""

    def __init__(self, rounds: int | None = None, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._rounds = rounds
        self._start = time.perf_counter()
        self._shown_at = self._start + 1.8
        self._next_row = 1
        self._last = (0, 0)
        self._began = False

    def __call__(self, ledger: Ledger) -> None:
        """Show where the game is, if it is time to."""
        now = time.perf_counter()
        if self._out.isatty():
            if now - self._shown_at > 0.2:
                self._shown_at = now
                self._line(ledger, now)
        elif ledger.rounds >= self._next_row and now - self._start > 2.0:
            self._row(ledger)

    def _line(self, ledger: Ledger, now: float) -> None:
        rate = ledger.rounds / max(now - self._start, 1e-9)
        left = ""
        if self._rounds:
            seconds = (self._rounds - ledger.rounds) / rate if rate else 0
            left = f" of {self._rounds:,}, {seconds:,.0f} s left"
        text = f"round {ledger.rounds:,}{left}, {ledger.mistakes:,} mistakes, {rate:,.0f} rounds a second"
        self._out.write(f"\r\x1b[2K{text}")
        self._out.flush()
        self._began = True

    def _row(self, ledger: Ledger) -> None:
        if not self._began:
            self._out.write(f"{'rounds':>14} {'mistakes':>12} {'rate':>8} {'since':>8}\n")
            self._began = True
        rounds, mistakes = ledger.rounds - self._last[0], ledger.mistakes - self._last[1]
        since = mistakes / rounds if rounds else 0.0
        self._out.write(f"{ledger.rounds:>14,} {ledger.mistakes:>12,} {ledger.mistake_rate:>8.4f} {since:>8.4f}\n")
        self._out.flush()
        self._last = (ledger.rounds, ledger.mistakes)
        while self._next_row <= ledger.rounds:
            self._next_row *= 2

    def done(self) -> None:
        """Clear the line."""
        if self._began and self._out.isatty():
            self._out.write("\r\x1b[2K")
            self._out.flush()
