"""ARFF, the format of Weka and MOA: attributes with declared types, then `@data` and one row per line.

Types
    numeric (real, integer) is a number; a date is parsed by its declared format and read as a date. Nominal and string
    attributes are read as in CSV, except that numbers among them are categories.
Rows
    Cells are separated by commas, tabs or spaces. ? is a missing value. Quotes are single or double, with backslash
    escapes. A sparse row, `{1 X, 3 Y}`, numbers attributes from 0; omitted ones are 0: the number 0, the first value
    of a nominal attribute, 1970-01-01; an omitted string is missing. Comments begin with %.
Class
    The last attribute is the label by default. A nominal label is never a regression outcome.
Cost
    Parsed by Python in one thread, about as fast as JSON lines; memory for a few chunks.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from novikoff.core.errors import SourceError, quoted
from novikoff.core.types import Position, counts_at
from novikoff.data.formats.labelled_lines import BYTE_ORDER_MARK, CHUNK_BYTES
from novikoff.data.formats.lines import first_bytes, whole_lines
from novikoff.data.layout import MUST_BE_UTF8
from novikoff.data.tables.cells import array
from novikoff.data.tables.column import Kind, names_apart, recognise
from novikoff.data.tables.table_reader import LONGEST_HEAD, MOMENT, RECOGNISED_ROWS, SKIP, Piece, TextReader

TOKEN = re.compile(r"""[\s,]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,{}'"][^\s,{}]*)|([{}'"]))""")
"""Pattern of the next value: in single quotes, in double quotes, or without; or a brace or quote that is not closed."""
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
SPECIAL = re.compile(r"""[%'"{}]""")
"""Characters of a line that cannot be split at its commas."""
DECLARED = re.compile(r"@([a-z]+)\s*(.*)", re.IGNORECASE)
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:%[^\n]*)?\r?\n)*[ \t]*@(?:relation|attribute)\b", re.IGNORECASE)
"""Start of an ARFF file: comments and blank lines, then a declaration."""
NUMERIC = ("numeric", "real", "integer")
ISO_DATE = "yyyy-MM-dd'T'HH:mm:ss"
"""Default date format, in the notation of Java."""
LETTERS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "M": "%m", "MMM": "%b", "MMMM": "%B", "dd": "%d", "d": "%d",
           "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f",
           "a": "%p", "EEE": "%a", "EEEE": "%A"}  # fmt: skip
"""Letters of a date format of Java, and the same of `strptime`."""
HOUR = re.compile("%[HI]")
PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
CORRECT = "Correct the line."


class Attribute(NamedTuple):
    """A declared attribute.

    Attributes:
        name: Name of the attribute.
        type: "numeric", "nominal", "string" or "date".
        omitted: Value where a sparse row omits the attribute; None for a missing value.
        form: Format of a date, as in `strptime`; None if it is detected.
    """

    name: str
    type: str
    omitted: str | None = None
    form: str | None = None

    def cell(self, text: str | None) -> str | None:
        """Return a cell as in a CSV file: a date in ISO format, None for a missing value."""
        if text is None or self.form is None:
            return text
        try:
            found = datetime.strptime(text, self.form)
            return (found if HOUR.search(self.form) else found.date()).isoformat()
        except ValueError:
            return text  # the error of a date, which names the line


class Attributes(TextReader):
    """Reader of ARFF.

    Args:
        source: Path, "-" for standard input, or binary file object.
        skip_bad: Number of bad lines to skip before an error.
        chunk: Bytes parsed at a time.
        encoding: Encoding of the text; None detects it.
    """

    label_last = True

    def __init__(
        self, source: object, skip_bad: int = 0, chunk: int = CHUNK_BYTES, encoding: str | None = None
    ) -> None:
        self.most_bad = self._skip_bad = skip_bad
        self._chunk = chunk
        super().__init__(source, encoding)

    def _look(self, text: bytes) -> None:
        while (found := self._declarations(text)) is None:  # more attributes than first rows
            lines = text.count(b"\n")
            more = first_bytes(self._opened, 2 * lines + 2, lines + 1, MOMENT, 16 * LONGEST_HEAD)
            if len(more) <= len(text):
                raise SourceError("ARFF must have a line @data before its rows", f"{self.name} has none", CORRECT)
            text = more
        line, byte = found
        self._begin = (line, byte)
        if not self._attributes:
            raise SourceError(f"ARFF must declare attributes before @data: {self.name} has none. {CORRECT}")
        text = first_bytes(self._opened, line + RECOGNISED_ROWS + 1, line + 1, MOMENT, 16 * LONGEST_HEAD)
        self.names = names_apart(one.name for one in self._attributes)
        rows = text[byte:].split(b"\n")
        if len(rows) > 1 and rows[-1] and (self._opened.live or len(self._opened.peek(len(text) + 1)) > len(text)):
            rows.pop()  # cut off
        self._head: list[list[str | None]] = []
        for row in rows[:RECOGNISED_ROWS]:
            with suppress(SourceError):  # raised when its row is read
                if (cells := self._cells(row)) is not None:
                    self._head.append(cells)
        if not self._head and not any(map(_has_row, rows)):
            raise SourceError(f"a source must not be empty: {self.name} has no rows after @data. Check the file.")
        head = self.head()
        self.declared = {
            name: kind
            for name, one in zip(self.names, self._attributes, strict=True)
            if (kind := _kind(one, name, head[name])) is not None
        }

    def _declarations(self, text: bytes) -> tuple[int, int] | None:
        """Read the attributes; return the number of lines and bytes up to the rows, None if there is no @data."""
        self._attributes: list[Attribute] = []
        byte = 0
        for number, line in enumerate(io.BytesIO(text), 1):
            byte += len(line)
            written = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            try:
                content = written.decode().strip()
            except UnicodeDecodeError:
                raise SourceError(*MUST_BE_UTF8, line=number, source=self.name) from None
            if not content or content.startswith("%"):
                continue
            found = DECLARED.match(content)
            if found is None:
                if not line.endswith(b"\n"):
                    return None
                was = f"has {quoted(content[:60])}"
                raise SourceError("a line before @data must begin with @", was, CORRECT, line=number, source=self.name)
            if found[1].lower() == "data":
                return number, byte
            if found[1].lower() == "attribute" and line.endswith(b"\n"):
                try:
                    self._attributes.append(_attribute(found[2]))
                except SourceError as error:
                    raise error.at(line=number, source=self.name) from None
        return None

    def head(self) -> Mapping[str, list[Any]]:
        return {name: [row[c] for row in self._head] for c, name in enumerate(self.names)}

    def pieces(self, start: Position | None, wanted: Mapping[str, Kind]) -> Iterator[Piece]:
        line, byte = self._begin if self.first <= self._begin[1] else (0, self.first)
        here = counts_at(start) if start else {"row": 0, "line": line, "byte": byte, "bad": 0}
        if self.last is not None and here["byte"] >= self.last:
            return
        free: deque[bytearray] = deque()
        with self._from(here["byte"]) as opened:
            for text, size, added in whole_lines(opened, self._chunk, 0, free):
                lines = bytes(memoryview(text)[: size - 1]).split(b"\n")
                free.append(text)
                yield self._piece(lines, size - added, here, wanted)

    def _piece(self, lines: list[bytes], size: int, here: dict[str, int], wanted: Mapping[str, Kind]) -> Piece:
        rows: list[list[str | None]] = []
        numbers: list[int] = []
        error = None
        for number, line in enumerate(lines, here["line"] + 1):
            try:
                cells = self._cells(line)
            except SourceError as fault:
                fault.at(line=number, source=self.name)
                if here["bad"] >= self._skip_bad:
                    error = fault.advise(*SKIP)
                    break
                here["bad"] += 1
                self.skipped.append((number, fault.what))
                continue
            if cells is not None:
                rows.append(cells)
                numbers.append(number)
        here.update(row=here["row"] + len(rows), line=here["line"] + len(lines), byte=here["byte"] + size)
        places = {name: c for c, name in enumerate(self.names)}
        arrays = {name: array([row[places[name]] for row in rows], kind) for name, kind in wanted.items()}
        return Piece(arrays, len(rows), size, dict(here), lambda row: {"line": numbers[row]}, error)

    def _cells(self, line: bytes) -> list[str | None] | None:
        """Return the cells of a line; None for a blank line or a comment."""
        if not _has_row(line):
            return None
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise SourceError(*MUST_BE_UTF8) from None
        cells: list[str | None]
        if SPECIAL.search(text) is None:
            cells = [None if (cell := one.strip()) == "?" else cell for one in text.split(",")]
            if len(cells) == len(self._attributes):
                return self._read(cells)
        cells = _values(text)
        if cells and cells[0] == "{":
            return self._read(self._sparse(cells))
        if len(cells) > 2 and cells[-3] == "{" and cells[-1] == "}":
            do = "Write the weight as an attribute, and pass it as weight."
            raise SourceError("a row must have no weight in braces", f"has {{{cells[-2]}}}", do)
        if len(cells) != len(self._attributes):
            must = f"a row must have {len(self._attributes)} values, one per attribute"
            raise SourceError(must, f"has {len(cells)}", CORRECT)
        return self._read(cells)

    def _read(self, cells: list[str | None]) -> list[str | None]:
        return [one.cell(cell) for one, cell in zip(self._attributes, cells, strict=True)]

    def _sparse(self, cells: Sequence[str | None]) -> list[str | None]:
        """Return all cells of a sparse row, from its values and braces."""
        pairs = cells[1:-1]
        if cells[-1] != "}" or len(pairs) % 2:
            raise SourceError("a sparse row must be {number value, ...}", "is not", CORRECT)
        found = [one.omitted for one in self._attributes]
        given = set()
        for place, value in zip(pairs[::2], pairs[1::2], strict=True):
            c = int(place) if place is not None and place.isascii() and place.isdigit() else len(found)
            if c >= len(found):
                must = f"a sparse row must number attributes from 0 to {len(found) - 1}"
                raise SourceError(must, f"has {quoted(str(place))}", CORRECT)
            if c in given:
                raise SourceError("a sparse row must have each attribute once", f"has {c} twice", CORRECT)
            given.add(c)
            found[c] = value
        return found


def recognises(head: bytes) -> bool:
    """Return whether the first bytes are those of an ARFF file."""
    return HEADER.match(head) is not None


def _has_row(line: bytes) -> bool:
    content = line.lstrip()
    return content != b"" and not content.startswith(b"%")


def _values(text: str) -> list[str | None]:
    """Return the values of a line, and its braces; None for a missing value."""
    found: list[str | None] = []
    at = 0
    while (token := TOKEN.match(text, at)) is not None:
        single, double, bare, other = token.groups()
        if other in ("'", '"'):
            raise SourceError("a quote must be closed", f"has {quoted(text[token.start(4) :][:40])}", CORRECT)
        if bare is not None and bare.startswith("%"):
            break
        plain = bare if bare is not None else other
        if plain is not None:
            found.append(None if plain == "?" else plain)
        else:
            found.append(ESCAPE.sub(_escaped, double if single is None else single))
        at = token.end()
    return found


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else CONTROLS.get(code, code)


def _attribute(text: str) -> Attribute:
    """Return the attribute of a declaration: its name, quoted or not, and its type."""
    name = TOKEN.match(text)
    if name is None or name[4] is not None:
        raise SourceError("an attribute must have a name and a type", f"has {quoted(text[:60])}", CORRECT)
    inside = name[1] if name[1] is not None else name[2]
    called = name[3] if inside is None else ESCAPE.sub(_escaped, inside)
    rest = text[name.end() :].strip()
    if rest.startswith("{"):
        values = _values(rest)
        if "}" not in values:
            raise SourceError("the values of a nominal attribute must end with }", f"has {quoted(rest[:60])}", CORRECT)
        return Attribute(called, "nominal", values[1] if values[1] != "}" else None)
    declared = _values(rest)
    kind = str(declared[0] if declared else "").split("[")[0].lower()
    if kind in NUMERIC:
        return Attribute(called, "numeric", "0")
    if kind == "string":
        return Attribute(called, "string")
    if kind == "date":
        written = declared[1] if len(declared) > 1 else None
        form = _strptime(written or ISO_DATE)
        epoch = None if form is None else datetime(1970, 1, 1).strftime(form)
        return Attribute(called, "date", epoch, form)
    must = "the type of an attribute must be numeric, string, date or {values}"
    raise SourceError(must, f"has {quoted(rest[:60])} for {quoted(called)}", CORRECT)


def _strptime(form: str) -> str | None:
    """Return a date format of Java as one of `strptime`; None if it has a part that `strptime` has not."""
    found = []
    at = 0
    for part in PART.finditer(form):
        if part.start() != at:
            return None
        at = part.end()
        if part[1] is not None:
            found.append((part[1].replace("''", "'") or "'").replace("%", "%%"))
        elif part[2] is None:
            found.append(part[0].replace("%", "%%"))
        elif part[0] in LETTERS:
            found.append(LETTERS[part[0]])
        else:
            return None
    return "".join(found) if at == len(form) else None


def _kind(attribute: Attribute, name: str, cells: Sequence[str | None]) -> Kind | None:
    """Return the kind that a declaration implies; None to detect it from the cells, as in CSV."""
    if attribute.type == "numeric":
        return "number"
    if attribute.type != "date" and recognise(name, cells).kind == "number":
        return "category"
    return None
