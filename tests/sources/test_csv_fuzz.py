"""Malformed tables: never a crash, a hang or a silently wrong row, whatever the block and the number of threads.

The oracle, `slow`, is plain Python from the words of the format, byte by byte: neither pyarrow nor Python's csv.
"""

from __future__ import annotations

import itertools
import math
import random
import re

import numpy as np
import pyarrow as pa
import pytest

from novikoff.errors import SourceError
from novikoff.sources.csv import CSV

PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
MARK = b"\xef\xbb\xbf"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MEANINGLESS = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LONGEST_CELL = 131_072  # a fault beyond it is not looked for by its column


class Fault(Exception):  # noqa: N818 - what the oracle says of a table; each argument must be in the message
    pass


# what a table means


def rows_of(data, delimiter):
    """(line, cells) of each row: a quote at the start of a cell opens it, "" in it is a quote, then any rest."""
    data = b"" if data in (MARK[:1], MARK[:2]) else data.removeprefix(MARK)
    rows, cells, cell = [], [], bytearray()
    line, first, at, inside, fresh = 1, 1, 0, False, True
    while at < len(data):
        c = data[at : at + 1]
        end = 0 if c not in (b"\r", b"\n") else 2 if data[at : at + 2] == b"\r\n" else 1
        line += end > 0
        if inside:
            if data[at : at + 2] == b'""':
                cell += b'"'
                at += 2
            elif c == b'"':
                inside = False
                at += 1
            else:
                cell += data[at : at + max(end, 1)]
                at += max(end, 1)
        elif end:
            if cells or not fresh:
                rows.append((first, [*cells, bytes(cell)]))
            cells, cell, first, fresh = [], bytearray(), line, True
            at += end
        elif c == delimiter:
            cells.append(bytes(cell))
            cell, fresh = bytearray(), True
            at += 1
        else:
            inside = fresh and c == b'"'
            cell += b"" if inside else c
            fresh = False
            at += 1
    if cells or not fresh:
        rows.append((first, [*cells, bytes(cell)]))
    return rows


def slow(data, delimiter, header, label=None, columns=None, positive=None, many=None):
    """x, y and the names of the features, or a Fault: the first in reading order."""
    rows = rows_of(data, delimiter.encode())
    if not rows:
        raise Fault("must not be empty", "has no rows")
    line, first = rows[0]
    for c, cell in enumerate(first):
        text_of(cell, line, f"column {c} (from 0)")
    if header and len(rows) == 1:
        raise Fault("must not be empty", f"header on line {line} and no rows")
    names = [cell.decode().strip() for cell in first] if header else [""] * len(first)
    used = [found(column, names, header) for column in columns or ()]
    target = guessed(names, used) if label is None else found(label, names, header)
    used = [c for c in range(index(names), len(names)) if c != target] if columns is None else used
    if not used:
        raise Fault("must have a label and a feature")
    if target in used:
        raise Fault("must be used once")
    for c, cell in enumerate(first if header else ()):
        if b"\0" in cell:
            raise Fault("text must be without zero bytes", f"line {line}, {called(names, c)}")
    x, values = [], []
    for line, cells in rows[1 if header else 0 :]:
        if len(cells) != len(names):
            raise Fault(f"every row must have {len(names)} cells", f"line {line} of", f"has {len(cells)}.")
        row = {}
        for c, cell in enumerate(cells):
            where = called(names, c)
            if b"\0" in cell:
                raise Fault("text must be without zero bytes", f"line {line}, {where}")
            if c not in used and c != target:
                continue
            text = text_of(cells[c], line, where)
            row[c] = (
                label_of(text, line, where, values, positive, many) if c == target else number_of(text, line, where)
            )
        values.append(row[target])
        x.append([row[c] for c in used])
    y = signs(values, positive, many, called(names, target))
    whole = all(re.fullmatch(r"-?[0-9]+", cell) and -(2**63) <= int(cell) < 2**63 for row in x for cell in row)
    numbers = [[int(cell) if whole else float(cell) for cell in row] for row in x]
    return np.array(numbers, dtype=np.int64 if whole else np.float64), y, names, used


def called(names, c):
    """How a message calls a column; of an odd name only that there is one."""
    return f"column {c} (from 0)" if not names[c] else f'column "{names[c][:37] if names[c].isalnum() else ""}'


def index(names):
    """How many columns come before the first name, if all others have one: an index."""
    named = [c for c, name in enumerate(names) if name]
    return named[0] if named and len(names) - len(named) == named[0] else 0


def found(column, names, header):
    if isinstance(column, str):
        if not header or names.count(column) != 1:
            raise Fault("column must be one of")
        return names.index(column)
    if not -len(names) <= column < len(names):
        raise Fault("column must be one of")
    return column % len(names)


def guessed(names, used):
    free = [c for c in range(index(names), len(names)) if c not in used] or [len(names) - 1]
    for name in ("label", "y", "class", "target"):
        for c in free:
            if names[c].lower() == name:
                return c
    return free[-1]


def text_of(cell, line, where):
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise Fault("text must be UTF-8", f"line {line}, {where}") from None


def number_of(text, line, where):
    text = text.strip(" \t")
    if not text:
        raise Fault("features must be numbers", f"line {line}, {where}", "is empty")
    if MEANINGLESS.fullmatch(text) or (NUMBER.fullmatch(text) and math.isinf(float(text))):
        raise Fault("features must be finite", f"line {line}, {where}")
    if not NUMBER.fullmatch(text):
        raise Fault("features must be numbers", f"line {line}, {where}")
    return text


def value_of(text):
    """A number if it is written as one, and whole if it is whole."""
    text = text.strip(" \t")
    if re.fullmatch(r"[+-]?[0-9]{1,300}", text):
        return int(text)
    if NUMBER.fullmatch(text):
        number = float(text)
        return int(number) if math.isfinite(number) and number == math.floor(number) else number
    return text


def label_of(text, line, where, before, positive, many):
    value = value_of(text)
    if value == "":
        raise Fault("labels must not be missing", f"line {line}, {where}")
    if MEANINGLESS.fullmatch(str(value)):
        raise Fault("labels must be finite", f"line {line}, {where}")
    if isinstance(value, str) and set(value) & set("\r\n"):
        raise Fault("labels must be on one line", f"line {line}, {where}")
    if positive is None and many is not None:
        if isinstance(value, str) or value not in range(many):
            raise Fault(f"labels must be whole numbers from 0 to {many - 1}", f"line {line}, {where}")
    elif positive is None and len({*before, value}) > 2:
        raise Fault("labels must take two values", f"line {line}, {where}", "has a third")
    return value


def signs(values, positive, many, where):
    """The labels, once all values are known."""
    if positive is not None:
        if value_of(str(positive)) not in values:
            raise Fault("the positive label must occur", where)
        return [1 if value == value_of(str(positive)) else -1 for value in values]
    if many is not None:
        return [int(value) for value in values]
    two = set(values)
    if two <= {-1, 1} or two <= {0, 1}:
        return [1 if value == 1 else -1 for value in values]
    if len(two) < 2:
        raise Fault("labels must take two values: every row", where)
    larger = max(two, key=str if any(isinstance(value, str) for value in two) else None)
    return [1 if value == larger else -1 for value in values]


# what the reader says


def fast(path, **options):
    """x, y and the stream; read twice, the second time in part."""
    stream = CSV(path, **options)
    batches = list(stream.batches())
    assert [batch.first for batch in batches] == np.cumsum([1, *map(len, batches)])[:-1].tolist()
    x, y = np.concatenate([batch.x for batch in batches]), np.concatenate([batch.y for batch in batches]).tolist()
    if len(batches) > 1:
        end = batches[len(y) % (len(batches) - 1)].end
        rest = list(stream.batches(end))
        assert rest[0].first == end["row"] + 1
        assert np.concatenate([batch.y for batch in rest]).tolist() == y[rest[0].first - 1 :]
        assert np.concatenate([batch.x for batch in rest]).tobytes() == x[rest[0].first - 1 :].tobytes()
    assert stream.rows == len(y)
    return x, y, stream


def check(path, data, options, block):
    """Compare; True if there was a fault. What was sniffed is told to the oracle."""
    path.write_bytes(data)
    about = (data, options, block)
    said = None
    try:
        x, y, stream = fast(path, block=block, **options)
    except SourceError as error:
        said = str(error)
    if said is not None:
        assert str(path) in said, (*about, said)
        assert "\n" not in said or "column must be one of" in said, (*about, said)  # that lists the names as they are
        if {"delimiter", "header"} <= options.keys() and len(data) < LONGEST_CELL:
            with pytest.raises(Fault) as caught:
                slow(data, **options)
            assert all(part in said for part in caught.value.args), (*about, said, caught.value.args)
        return True
    layout = stream._layout
    sniffed = {"delimiter": layout.delimiter, "header": bool(layout.names)}
    want, signs, names, used = slow(data, **{**options, **sniffed})
    assert x.dtype == want.dtype, about
    assert x.tobytes() == want.tobytes(), (*about, x, want)
    assert y == signs, about
    named = tuple(names[c] or f"x{j}" for j, c in enumerate(used))
    assert stream.features == (named if layout.names else None), about
    assert stream.domain.kind == ("point" if want.dtype == np.int64 else "vector")
    return False


# inputs

WHOLE = (b"0", b"1", b"7", b"-3", b"42", b"007", b" 5", b"6 ", b"\t8", b'"9"', b'" 1"', b"-0", b"9223372036854775807",
         b"-9223372036854775808", b'"2"3')  # fmt: skip
REAL = (b"0.5", b"-1.25", b"1e3", b".5", b"2.", b"+1", b"1E-7", b"5e-324", b"2.2250738585072011e-308", b"1e-400",
        b"-0.0", b"1.7976931348623157e308", b"9007199254740993", b"9223372036854775808", b"0.1", b"+.5e+0", b"4.9e-324",
        b"1e22", b"123456789012345678901234567890", b"0." + b"0" * 330 + b"1", b"1" * 250, b'"1.5"')  # fmt: skip
ODD = (b"", b" ", b"\t", b'""', b"nan", b"NaN", b"-nan", b"+NAN", b"inf", b"-Inf", b"Infinity", b"1e999", b"-1e400",
       b"1" * 400, b"0x10", b"0X1f", b"0xFFFFFFFFFFFFFFFF", b"0x1p3", b"-0x1", b'"0x7"', b'"0"x7', b"1_000", b'"1,000"',
       b"1'000", b"1 000", "١٢".encode(), "１".encode(), "1\u00a0".encode(), b"1\x00", b"\x001", b"\xff",
       b"\xed\xa0\x80", b"\xc0\x80", b"1e", b"e5", b".", b"-", b"+", b"--1", b"+-1", b"1.2.3", b"1d5", b"1f",
       b"true", b"null", b"NA", b"?", b"#1", b"1;2", b"1\t2",
       b'"1\n2"', b'"1\r\n"', b'"a""b"', b'1"', b'"1', b'"', b'a"b', b"\x1a", b"\x0b1",
       b"\x0c2", b"\xef\xbb\xbf1", b"=1+1", b"$3", b"5%", b"1/2", b"2020-01-01", b"x", b"abc")  # fmt: skip
LABELS = (
    (b"ham", b"spam"), (b"u", b"v"), (b"0", b"1"), (b"-1", b"+1"), (b"1", b"1.0", b"2"), (b"9", b"10", b"9.0"),
    (b"v", b"1"), (b"u", b"v", b"w"), (b"0", b"1", b"2"), (b"5",), (b"1",), (b"0",), (b'"a,b"', b'"c""d"'),
    ("é".encode(), "ß".encode()), (b" u", b"u", b"v "), (b"True", b"False"), (b"0x10", b"16"), (b"1e-400", b"0"),
    (b"9007199254740992", b"9007199254740993"), (b"u", b"u\x00"), (b"9007199254740992", b"9007199254740992.0", b"1"),
)  # fmt: skip
NAMES = (b"a", b"b", b"c", b"x0", b"label", b"Y", b"class", b" target ", b"a", b"", b"7", b'"x\ny"', b'"p,q"',
         b'"r""s"', "né".encode(), b"\xfc", b"nan", b"a\x00")  # fmt: skip
NOTES = (
    b"",
    b"n",
    b'"one\ntwo"',
    b'"\r\n\n"',
    b'"1;2,3\t4""\n"',
    b'"5\r"',
    b"0x1",
    b"\xe9",
    b'"',
    b"\x00",
    b'"a\n1,u\n"',
)
ALPHABET = b'01234567890123456789.,,;\t""\n\n\r+-eExabuv _\x00\x1a\xc3\xff'
POSITIVE = ("v", "1", 1, 1.0, "spam", "é", "9007199254740992", "+1", "never", "u\0", "0x10")


def table(rng, delimiter, most):
    """A table with few cells that are not right, often none; and the options that would read it."""
    width = rng.choice((2, 3, 4)) if rng.random() < 0.97 else 1
    target = rng.choice((width - 1, width - 1, 0))
    labels = rng.choice(LABELS)
    cells = WHOLE if rng.random() < 0.5 else WHOLE + REAL
    worse = rng.choice((0.0, 0.0, 0.02, 0.1))
    end = rng.choice((b"\n", b"\n", b"\r\n", b"\r", None))
    data = [MARK] if rng.random() < 0.1 else []
    rows = [[rng.choice(NAMES[:12]) if rng.random() < 0.99 else rng.choice(NAMES) for _ in range(width)]]
    for _ in range(rng.choice((rng.randrange(most + 1), most))):
        row = [rng.choice(ODD) if rng.random() < worse else rng.choice(cells) for _ in range(width)]
        if rng.random() >= worse:
            row[target] = rng.choice(labels)
        rows.append(row)
        if rng.random() < worse / 2:
            row.append(b"") if rng.random() < 0.5 else row.pop()
    header = rng.random() < 0.6
    right = {"delimiter": delimiter.decode(), "header": header, "label": target}
    if rng.random() < 0.15:  # one more column, of anything, that is not used
        for row in rows:
            row.append(rng.choice(NOTES))
        right["columns"] = [c for c in range(width) if c != target]
    for row in rows[0 if header else 1 :]:
        data.append(delimiter.join(row))
        data.append(end or rng.choice((b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n", b"\n\r")))
        if rng.random() < 0.05:
            data.append(rng.choice((b"\n", b"\r\n", b"\n\n", end or b"\n")))
    if len(data) > 1 and rng.random() < 0.4:
        data.pop()
    return b"".join(data), right


def mutated(rng, data):
    """The same with a few bytes put in, taken out, changed or said twice."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        how = rng.randrange(4)
        if how == 0:
            text[at:at] = bytes([rng.choice(ALPHABET)])
        elif how == 1:
            del text[at : at + rng.randrange(1, 4)]
        elif how == 2:
            text[at : at + 1] = bytes([rng.choice(ALPHABET)])
        else:
            text[at:at] = text[rng.randrange(len(text) + 1) :][: rng.randrange(12)]
    return bytes(text)


def some_input(rng, most):
    delimiter = rng.choice((b",", b",", b"\t", b";"))
    right = {"delimiter": delimiter.decode(), "header": False}
    kind = rng.randrange(20)
    if kind == 0:
        data = rng.randbytes(rng.randrange(60))
    elif kind == 1:
        data = bytes(rng.choices(ALPHABET, k=rng.randrange(80)))
    elif kind == 3 and rng.random() < 0.02:  # a long line, a long cell
        row = delimiter.join(rng.choice((b"1", b"2.5", b"1" * 90)) for _ in range(rng.randrange(2000)))
        data = row + b"\n" + row + b"\n" + b"x" * rng.choice((0, 1, 200_000))
    else:
        data, right = table(rng, delimiter, most)
        data = mutated(rng, data) if kind < 10 else data
    return data, right


def some_options(rng, right):
    """Those that read the table, for the most part; what is left out is sniffed."""
    options = {name: value for name, value in right.items() if rng.random() < 0.95}
    if rng.random() < 0.05:
        options["header"] = rng.random() < 0.5
    if rng.random() < 0.05:
        options["label"] = rng.choice((0, 1, -1, -2, 3, "label", "a", "Y"))
    if rng.random() < 0.05:
        options["columns"] = rng.choice(([0], [1, 0], [-1], ["b"], ["a", "c"], [5], []))
    how = rng.randrange(10)
    if how == 0:
        options["positive"] = rng.choice(POSITIVE)
    elif how == 1:
        options["many"] = rng.choice((1, 2, 3, 11))
    return options


def fuzz(path, seed, count, most=6):
    """Compare that many tables; how many had a fault."""
    rng = random.Random(seed)
    faults = 0
    for _ in range(count):
        data, right = some_input(rng, most)
        options = some_options(rng, right)
        if not data.startswith(PACKED):
            faults += check(path, data, options, rng.choice((1, rng.randrange(4, 80), 2**20, 2**20)))
    return faults


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def threads(request):
    before = pa.cpu_count()
    pa.set_cpu_count(request.param)
    yield request.param
    pa.set_cpu_count(before)


def test_malformed_tables_are_refused_and_the_others_right(path, threads):
    assert 400 < fuzz(path, threads, 800) < 700


def test_malformed_rows_leave_their_neighbours_right(path, threads):
    fuzz(path, 10 + threads, 50, most=200)


@pytest.mark.slow
def test_malformed_tables_are_refused_and_the_others_right_100_000_times(path, threads):
    assert 25_000 < fuzz(path, 20 + threads, 50_000) < 45_000
    fuzz(path, 30 + threads, 1_000, most=200)


@pytest.mark.parametrize("content", [b"a,l\n1,u\n2,v\n", b'\xef\xbb\xbf1,0\r\n"2",1', b"3,u\r4.5,v\r"])
def test_every_change_of_one_byte_is_read_as_the_slow_reader_does(path, content):
    for at, byte in itertools.product(range(len(content)), (*set(ALPHABET), None)):
        data = content[:at] + (b"" if byte is None else bytes([byte])) + content[at + 1 :]
        check(path, data, {"delimiter": ",", "header": content.startswith(b"a")}, (4, 2**20)[at % 2])


def test_every_cut_of_a_table_is_read_as_the_slow_reader_does(path):
    content = MARK + 'a;"b;\nc";label\r\n1;2;"é;"\r\n\n3;.5;"x""y"\n"-4";1e-3;é;\n'.encode()
    for cut, block in itertools.product(range(len(content)), (4, 13, 2**20)):
        check(path, content[:cut], {"delimiter": ";", "header": cut % 7 != 0}, block)
