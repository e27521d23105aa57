"""What readers of tables in text share: the bytes, of which the first are looked at before they are read."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from novikoff.core.errors import Option
from novikoff.data.formats.first_lines import first_bytes
from novikoff.data.formats.opened import Opened
from novikoff.data.formats.origin import Origin
from novikoff.data.tables.piece import RECOGNISED_ROWS, Reader

LONGEST_HEAD, MOMENT = 2**24, 0.01
SKIP = ("Or pass ", Option("skip_bad", letter="N"), " to skip up to N bad rows.")


class TextReader(Reader):
    """A reader of a path, "-" or a binary file object. `cut`: of a part of it."""

    cut = False

    def __init__(self, source: Any) -> None:
        origin = self._origin = Origin(source)
        super().__init__(origin.name)
        self.rereadable, self.independent, self.fixed = origin.rereadable, origin.independent, origin.fixed
        self._opened = origin.open()
        try:
            self._look(first_rows(self._opened))
        except BaseException:
            self._opened.close()
            raise
        if self.rereadable:
            self._opened.close()

    @abstractmethod
    def _look(self, text: bytes) -> None:
        """Find the columns, from the first rows."""

    def fingerprint(self) -> dict[str, Any]:
        return self._origin.fingerprint()

    def extent(self) -> int:
        return self._origin.size()

    def part(self, first: int, last: int) -> Self:
        begin, end = map(self._origin.line_from, (first, last))
        part = super().part(begin, end)
        part.cut = begin > 0 or end < self.extent()
        part._origin = self._origin.until(end)
        part.name = f"{self.name}, from byte {begin:,}"
        return part

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._opened = self._origin.open()
        self._opened.close()

    def ready(self, wait: float) -> bool:
        return self._opened.closed or self._opened.ready(wait)

    def _from(self, byte: int) -> Opened:
        """The bytes from there on: of what comes once, those that were opened, if none is taken yet."""
        self.skipped.clear()
        if self.rereadable or self._opened.closed:
            self._opened = self._origin.open(byte)
        else:
            self._opened.skip(byte)
        return self._opened


def first_rows(opened: Opened) -> bytes:
    """The first rows of a text, without taking them: a thousand, or of a slow pipe those that came, two at least."""
    return first_bytes(opened, RECOGNISED_ROWS + 1, 2, MOMENT, LONGEST_HEAD)
