"""The text formats with one row per line: an independent slow reader of each, and lines, good and malformed, to read.

A slow reader is plain Python over the whole text at once; its options are those of the reader under test.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import io
import json
import math
import mmap
import random
import re
import struct
import sys
from collections import deque
from contextlib import contextmanager

import numba
import numpy as np
import pytest
from sklearn.utils import murmurhash3_32

from novikoff.core.errors import SourceError
from novikoff.data._loops import svmlight as svmlight_kernel
from novikoff.data._loops import vw as vw_kernel
from novikoff.data.formats import svmlight, vw
from novikoff.data.formats.jsonl import JSONL
from novikoff.numerics import decimals


def values(*numbers):
    """These doubles as bytes."""
    return np.array(numbers, dtype=float).tobytes()


def rows_of(batches, width=None):
    """Every row as (y, indices, values). Batches follow each other; all have this width, or grow wider if None."""
    rows, least = [], 0
    for batch in batches:
        assert batch.first == len(rows) + 1
        assert batch.x.width == width if width else batch.x.width >= least
        least = batch.x.width
        assert (batch.x.indptr.dtype, batch.x.indices.dtype, batch.x.values.dtype) == (np.uint64, np.uint32, np.float64)
        rows += [(int(y), i.tolist(), v.tobytes()) for (i, v), y in batch.rows()]
        assert least > max((i for _, row, _ in rows for i in row), default=-1)
    return rows


class Format:
    """One format under test.

    reader     class of the stream
    hashed     whether features are hashed into 2^bits
    padding    number of bytes behind a text that a kernel may read
    bad        a line whose value is bad, and `fault`, the message about it for a {line}
    advice     what to do about a line "x"
    seeds      good and bad lines, and the bytes they are made of, to mutate
    """

    name: str
    reader: type
    hashed: bool
    padding: int
    bad: bytes
    fault: str
    advice: str
    alphabet: bytes
    seeds: tuple[bytes, ...]

    def __repr__(self):
        return self.name

    def line(self, label, *pairs):
        """A line with this label and these pairs of index and value."""
        raise NotImplementedError

    def table(self, rng, rows):
        """Random good lines."""
        raise NotImplementedError

    def slow(self, data, **options):
        """The rows (line, label, {index: value}) and the numbers of bad lines, from 0."""
        raise NotImplementedError

    def options(self, rng):
        """Random options of the reader and of `slow`."""
        return {}

    def parse(self, data, rng, **options):
        """What the reader under test makes of one chunk: rows as `slow` gives them, and bad lines."""
        raise NotImplementedError

    def padded(self, text, rng):
        """The text and bytes behind it that a kernel may read and must not use."""
        return bytearray(text + (rng.randbytes(self.padding) if rng else b"7" * self.padding))

    def rows_of(self, batches, bits=18):
        return rows_of(batches, 2**bits if self.hashed else None)

    def read(self, data, **options):
        """Every row as (y, indices, values), of bytes or any source."""
        stream = self.reader(io.BytesIO(data) if isinstance(data, bytes) else data, **options)
        return self.rows_of(list(stream.batches()), options.get("bits", 18))

    def fails(self, data, **options):
        """The message of the error."""
        with pytest.raises(SourceError) as caught:
            self.read(data, **options)
        return str(caught.value)

    def expected(self, data, **options):
        """The rows of the slow reader where label 1 is +1, and the numbers of bad lines."""
        rows, bad = self.slow(data, **options)
        return [(1 if y == 1 else -1, list(row), values(*row.values())) for _, y, row in rows], bad

    def mutated(self, rng):
        """A line that was good, or random bytes, or characters that lines are made of."""
        kind = rng.randrange(10)
        if kind == 0:
            return rng.randbytes(rng.randrange(40))
        if kind == 1:
            return bytes(rng.choices(self.alphabet, k=rng.randrange(40)))
        data = bytearray(rng.choice(self.seeds))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            how = rng.randrange(4)
            if how == 0:
                data[at:at] = bytes([rng.choice(self.alphabet)])
            elif how == 1:
                del data[at : at + rng.randrange(1, 4)]
            elif how == 2:
                data[at : at + 1] = bytes([rng.choice(self.alphabet)])
            else:
                data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randrange(12)]
        return bytes(data)

    def fuzz(self, seed, count, pieces=1, **given):
        """Compare with the slow reader, bit for bit, what is taken and what is refused; the share with a bad line."""
        rng = random.Random(seed)
        refused = 0
        for _ in range(count):
            data = b"\n".join(self.mutated(rng) for _ in range(pieces)) + b"\n"
            options = self.options(rng)
            got, want = self.parse(data, rng, **options, **given), to_bits(*self.slow(data, **options))
            assert got == want, (data, options)
            refused += bool(want[1])
        return refused / count


def assert_bad_line(form, line, place, said):
    """The message about this line, the third, has the place and these words, whatever the line ends in."""
    good = form.line(1, (1, 1)) + form.line(-1, (1, 1))
    for end in (b"\n", b"\r\n") if not line.endswith(b"\r") else (b"\r\n",):
        message = form.fails(good + line + end + good)
        assert said in message
        assert place in message
        assert message.endswith(", or pass skip_bad=N to skip up to N bad lines.")


def bits_of(x):
    return x if isinstance(x, str) else struct.pack("<d", x)


def to_bits(rows, bad):
    """Rows as `slow` gives them, with every double as its bytes."""
    return [(line, bits_of(label), [(i, bits_of(v)) for i, v in row.items()]) for line, label, row in rows], bad


def parsed_bits(parsed):
    """A parsed chunk in the same form."""
    rows = zip(parsed.row_lines.tolist(), parsed.labels.tolist(), parsed.x.rows(), strict=True)
    found = [(line, bits_of(y), [(int(i), bits_of(v)) for i, v in zip(*row, strict=True)]) for line, y, row in rows]
    return found, [line for line, _ in parsed.bad]


def slow_lines(data, row_of):
    """The rows that `row_of` finds in lines, which may end in CRLF, and the numbers of lines where it fails."""
    rows, bad = [], []
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
        try:
            found = row_of(line.removesuffix(b"\r"))
        except ValueError:
            bad.append(number)
        else:
            if found is not None:
                rows.append((number, *found))
    return rows, bad


def slow_number(word):
    number = float(word) if re.fullmatch(rb"[-+]?(\d+|\d+\.\d*|\.\d+)([eE][-+]?\d+)?", word) else math.inf
    if math.isinf(number):
        raise ValueError
    return number


def slow_hash(name, seed):
    name = name.encode("utf-8", "surrogatepass") if isinstance(name, str) else name
    if re.fullmatch(rb"[0-9]+", name):
        return (int(name) + seed) % 2**32
    return murmurhash3_32(name, seed=seed, positive=True)


def slow_entry(row, i, value):
    """Add a value to those of its index; an infinite value or sum is an error."""
    row[i] = row[i] + value if i in row else value
    if not math.isfinite(row[i]) or not math.isfinite(value):
        raise ValueError


def anything(rng):
    """A finite number in one of many forms, small enough to be added up."""
    kind = rng.randrange(6)
    if kind == 0:
        return repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(64) & ~(1 << 62)))[0]).encode()
    if kind == 1:
        return b"%.*f" % (rng.randrange(25), rng.random() * 10 ** rng.randint(-3, 3))
    if kind == 2:
        return b"%d" % rng.randrange(-20, 20)
    if kind == 3:
        return b"%.*e" % (rng.randrange(20), rng.random())
    if kind == 4:
        return b"%d.%de%d" % (rng.randrange(9), rng.getrandbits(70), rng.randint(-330, 290))
    return b"%.4f" % rng.random()


def ended(data):
    """The text with a new line at its end."""
    return data if data.endswith(b"\n") else data + b"\n"


def never_little(size):
    """A chunk parser must not leave a short text to Python."""
    return False


# svmlight


class SvmlightFormat(Format):
    name = "svmlight"
    reader = svmlight.Svmlight
    hashed = False
    padding = svmlight_kernel.PADDING
    largest = 2**32 - 2
    bad = b"1 1:"
    fault = 'a value must be a finite number: line {line}, column 5 of a BytesIO has ""'
    advice = "Correct the line"
    alphabet = b"0123456789.:-+eE \t\r\n#qidnaxf_\x00\x80\xff"
    seeds = (
        b"1 1:0.5 3:1e-3 7:.5 # c", b"-1 qid:3 1:1 2:2 1:3", b"+1 4294967294:1 0:-0", b"1 5:1 2:2 5:3\r\n-1 1:1",
        b"0.123456789012345678 1:12345678901234567890", b"1 12345678:1.2345678 123456789:123456789.5e-300",
        b"1 1:1e308 1:1e308", b"# c\n\n1", b"1 1:1.7976931348623157e308 2:5e-324 3:9007199254740993",
        b"1 3:0.5 17:-0.25 101:7 9999:1.00000001 12345678:12345678 12345679:-3 12345680:0.1\r",
        b"1 3:0.5 17:9.99999999 ",
        b"-1 1:0.12345678 2:1.2345678 3:1.234567 4:1.23456 5:1.2345 6:1.234 7:1.23 8:1.2 9:12 10:123456 11:1234567",
    )  # fmt: skip

    def line(self, label, *pairs):
        return b" ".join([b"%r" % label, *(b"%d:%r" % pair for pair in pairs)]) + b"\n"

    def slow(self, data):
        return slow_lines(data, self._slow_row)

    def _slow_row(self, line):
        label, *words = re.split(rb"[ \t]+", line.split(b"#")[0].strip(b" \t"))
        if not label:
            return None
        if words and re.fullmatch(rb"qid:\d+", words[0]):
            words.pop(0)
        row = {}
        for word in words:
            found = re.fullmatch(rb"0*(\d{1,10}):(.*)", word, re.DOTALL)
            if not found or int(found[1]) > self.largest:
                raise ValueError
            slow_entry(row, int(found[1]), slow_number(found[2]))
        return slow_number(label), row

    def parse(self, data, rng=None, kernel=svmlight_kernel):
        """The whole text as one chunk, with a comment before it if `rng` says so: vectors need bytes before them."""
        first = b"# a few bytes before the text\n" if rng and rng.randrange(2) else b""
        text = first + ended(data)
        parser = svmlight.ChunkParser(kernel, 10**9, deque(), never_little)
        rows, bad = parsed_bits(parser.parse(self.padded(text, rng), len(text), 0))
        skipped = bool(first)
        return [(line - skipped, *row) for line, *row in rows], [line - skipped for line in bad]

    def read_line(self, line):
        return svmlight.read_line(line)

    def table(self, rng, rows):
        lines = []
        for _ in range(rows):
            kind = rng.randrange(12)
            if kind == 0:
                lines.append(rng.choice([b"", b"  ", b"# c", b"\t#"]))
                continue
            line = rng.choice([b"1", b"-1", b"+1", b"-1.0", b"1e0"]) + (b" qid:3" if kind == 1 else b"")
            for _ in range(rng.randrange(6)):
                index = rng.choice([rng.randrange(5), rng.randrange(2**32 - 1)])
                line += rng.choice([b" ", b"\t", b"  "]) + b"%d:" % index + anything(rng)
            lines.append(line + rng.choice([b"", b" ", b" # c", b"\r"]))
        return b"\n".join(lines) + rng.choice([b"", b"\n"])

    def kernels(self, room):
        """Function that runs both kernels on the first bytes of a memory: the plain one from the second line on."""
        kernel = svmlight_kernel
        places = tuple(np.zeros(room, np.uint32) for _ in range(4))
        rows = tuple(np.zeros(room, kind) for kind in (float, np.uint32, np.uint64, np.uint32, float))
        wrong, table = np.zeros(kernel.WIDE, np.uint64), np.zeros(kernel.SLOTS, np.uint32)

        def run(text, size):
            second = bytes(text[:size]).index(b"\n") + 1
            table.fill(0)
            kernel.places(text, np.uint64(size), *places)
            kernel.parse_all(text, np.uint64(size), np.zeros(5, np.uint64), places, rows, wrong, table)
            kernel.parse(text, np.uint64(size), np.array([second, 0, 0, 1, 0], np.uint64), places, rows, wrong)

        return run


# Vowpal Wabbit


class VWFormat(Format):
    name = "vw"
    reader = vw.VW
    hashed = True
    padding = decimals.PADDING
    bad = b"1 | 1:"
    fault = 'a value must be a finite number: line {line}, column 7 of a BytesIO has ""'
    advice = "Check the format, or correct the line"
    alphabet = b"0123456789.:-+eE \t\r\n|'abtf_\x00\x80\xff"
    seeds = (
        b"1 |f 1:0.5 a:1e-3 7:.5", b"-1 1 'tag |f:2 1:1 b a:3|g a b a", b"+1 tag| 4294967294:1 0:-0", b"1 2 0.5 |a b",
        b"1 | 5:1 2:2 5:3\r\n-1 |f 1:1", b"0.123456789012345678 | 1:12345678901234567890",
        b"1 |f :1 :2|f :3 word\t12 7", b"1 1.0 0 |n:1e300 12345678:1.2345678 abcdefgh:123456789.5e-300",
        b"1 | 9 5:8e307 5:8e307 5:8e307\n1 | 9 5 3 4 5 3", b"1 |f a:1e308 a:1e308", b"\n\n1 |",
        b"1 |x 1:1.7976931348623157e308 2:5e-324 3:9007199254740993",
        b"1 'a|abcdefghijklmnopqrstuvwxyz:0.25 0123456789012345678901234567890123456789:1 x12345678901234567",
    )  # fmt: skip
    names = (b"a", b"b", b"9", b"123", b"007", b"12345678", b"123456789012345678901234", b"word", b"abcdefgh",
             b"abcdefghi", b"1.5", b"-3", b"a=b", b"a^b", b"#", b"12345678a", b"x\xff", b"'quoted", b"_")  # fmt: skip

    def line(self, label, *pairs):
        return b" ".join([b"%r |" % label, *(b"%d:%r" % pair for pair in pairs)]) + b"\n"

    def slow(self, data, bits=18, ignore_weights=False):
        return slow_lines(data, lambda line: self._slow_row(line, bits, ignore_weights))

    def _slow_row(self, line, bits, ignore_weights):
        if not line.strip(b" \t"):
            return None
        if b"|" not in line or any(c < 32 and c != 9 for c in line):
            raise ValueError
        before, *parts = line.split(b"|")
        words = before.split(b" ")
        if words[-1] or next(filter(None, reversed(words)), b"").startswith(b"'"):
            words = list(filter(None, words))[:-1]  # the last is a tag
        words = list(filter(None, words))
        if b"\t" in before or not 1 <= len(words) <= 3:
            raise ValueError
        label, importance, base = (*map(slow_number, words), *[1.0, 0.0][len(words) - 1 :])
        if not ignore_weights and (importance != 1 or base != 0):
            raise ValueError
        row = {}
        for part in parts:
            seed, weight, nameless = 0, 1.0, 0
            words = re.split(rb"[ \t]+", part)
            if words[0]:
                name, weight = self._split(words[0])
                if name == b"":
                    raise ValueError
                seed = slow_hash(name, 0)
            for word in filter(None, words[1:]):
                name, value = self._split(word)
                if name == b"":
                    i = seed + nameless
                    nameless += 1
                else:
                    i = slow_hash(name, seed)
                slow_entry(row, i % 2**bits, value * weight)
        return label, row

    @staticmethod
    def _split(word):
        name, *value = word.split(b":", 1)
        return name, slow_number(value[0]) if value else 1.0

    def options(self, rng):
        return {"bits": rng.choice([2, 18, 32]), "ignore_weights": rng.random() < 0.5}

    def parse(self, data, rng=None, kernel=vw_kernel, bits=18, ignore_weights=False):
        text = ended(data)
        parser = vw.ChunkParser(kernel, bits, ignore_weights, 10**9, deque(), never_little)
        return parsed_bits(parser.parse(self.padded(text, rng), len(text), 0))

    def read_line(self, line):
        return vw.read_line(line, 18)

    def table(self, rng, rows, ignore_weights=False):
        number = plain if ignore_weights else anything
        lines = []
        for _ in range(rows):
            if rng.randrange(12) == 0:
                lines.append(rng.choice([b"", b"  ", b"\t", b" \t "]))
                continue
            line = rng.choice([b"1", b"-1", b"+1", b"-1.0", b" 1e0"])
            line += rng.choice([b"", b" 2", b" 1 0", b"  0.5 -2 "] if ignore_weights else [b"", b"", b" 1", b" 1.0 0"])
            line += rng.choice([b" ", b"  ", b" 'tag ", b" 'tag", b" tag", b" 7"])
            for _ in range(rng.randrange(1, 4)):
                space = rng.choice((b"", *self.names))
                line += b"|" + space + (b":" + plain(rng) if space and rng.randrange(4) == 0 else b"")
                for _ in range(rng.randrange(5)):
                    name = rng.choice((b"", b"%d" % rng.randrange(2**34), *self.names))
                    line += rng.choice([b" ", b"\t", b"  "]) + name
                    line += b":" + number(rng) if not name or rng.randrange(2) else b""
            lines.append(line + rng.choice([b"", b" ", b"\r"]))
        return b"\n".join(lines) + rng.choice([b"", b"\n"])

    def kernels(self, room):
        """Function that runs the kernel on the first bytes of a memory."""
        arrays = [np.zeros(room, kind) for kind in (float, np.uint32, np.uint64, np.uint32, float)]
        table = np.zeros(vw_kernel.SLOTS, np.uint32)

        def run(text, size):
            table.fill(0)
            mask, state = np.uint64(2**18 - 1), np.zeros(5, np.uint64)
            vw_kernel.parse(text, np.uint64(size), mask, True, state, *arrays, table)

        return run


def plain(rng):
    """A number that stays finite when it is multiplied by another."""
    return rng.choice([b"1", b"0.5", b"3", b"-2", b"1e1", b".25", b"%.4f" % rng.random()])


# JSON lines, with a JSON reader of its own


class JsonlFormat(Format):
    name = "jsonl"
    reader = JSONL
    hashed = True
    bad = b'{"y": 1, "a": null}'
    fault = 'a feature must be a number or text: line {line}, key "a" of a BytesIO has null'
    advice = "Correct the line"
    alphabet = b'0123456789.-+eE \t\r\n{}[]":,\\ualbnrtfsNI\x00\x7f\x80\xff'
    seeds = (
        b'{"y": 1, "a": 0.5, "b": {"c": 1e-3, "d": [1, 2.5]}}', b'{"label": -1, "a": "red", "b": true, "c": false}',
        b'{"a": 1, "a": 2, "y": 1}', b'{"x": [1, null, "a"], "y": 0}', b'{"y": "spam", "a": {}}\n{"y": "ham", "b": []}',
        b'{"y": 1, "a": NaN, "b": -Infinity}', b'{"y": 1, "5": 1e308, "05": 1e308}',
        b'{"y": 1, "\\u00e9\\n": 1, "\xc3\xa9": 2}',
        b'{"y": 1, "\\ud83d\\ude00": 1, "\\ud800": 2, "\\ude00\\ud83d": 3}',
        b'{"a": 1, "outcome": 2}\r\n{"outcome": 1}',
        b'{"y": "1.5", "a": 123456789012345678901234567890, "b": 1E+2, "c": -0}', b'[{"y": 1}]', b"\n\n{}",
    )  # fmt: skip

    def line(self, label, *pairs):
        """The index as the key, with a zero more before it each time it is repeated: an index in all of them."""
        keys: dict[int, int] = {}
        row = {"y": label}
        for i, value in pairs:
            row["0" * keys.setdefault(i, 0) + str(i)] = value
            keys[i] += 1
        return json.dumps(row).encode() + b"\n"

    def slow(self, data, bits=18):
        rows, bad, key, numbers = [], [], None, None
        for number, line in enumerate(data.split(b"\n")):
            if not line.strip(b" \t\r"):
                continue
            try:
                text = line.decode()
                pairs, end = json_value(text, blanks(text, 0))
                if blanks(text, end) != len(text) or not isinstance(pairs, tuple):
                    raise ValueError
                if key is None and pairs:
                    key = label_key([name for name, _ in pairs])
                (given,) = (value for name, value in pairs if name == key)
                label = json_label(given)
                if numbers is None:
                    numbers = isinstance(label, float)
                if numbers != isinstance(label, float):
                    raise ValueError
                row = {}
                json_features(tuple(pair for pair in pairs if pair[0] != key), "", row, bits)
                rows.append((number, label, row))
            except (ValueError, RecursionError):
                bad.append(number)
        return rows, bad

    def options(self, rng):
        return {"bits": rng.choice([2, 18, 32])}

    def parse(self, data, rng=None, **options):
        """The text behind an empty line, lest its first bytes be taken for those of a packed file."""
        stream = JSONL(io.BytesIO(b"\n" + data), multiclass=True, skip_bad=10**9, **options)
        found = []
        try:
            found = [(int(y), zip(*row, strict=True)) for batch in stream.batches() for row, y in batch.rows()]
        except SourceError as error:
            assert "a source must not be empty" in str(error)  # noqa: PT017
        bad = [line - 2 for line, _ in stream.skipped]
        assert all(f"line {line}, " in message for line, message in stream.skipped)
        lines = (n for n, line in enumerate(data.split(b"\n")) if line.strip(b" \t\r") and n not in bad)
        rows = zip(lines, found, strict=True)
        known = stream.label_values
        return [(n, bits_of(known[y]), [(int(i), bits_of(v)) for i, v in row]) for n, (y, row) in rows], bad

    def table(self, rng, rows):
        def value(depth):
            kind = rng.randrange(6 if depth else 4)
            if kind < 2:
                return rng.choice([rng.randrange(-9, 9), rng.random(), rng.random() * 10 ** rng.randint(-9, 9), True])
            if kind == 2:
                return rng.choice(["red", "green", ""])
            if kind == 3:
                return [rng.random() for _ in range(rng.randrange(4))]
            return {rng.choice("abcd"): value(depth - 1) for _ in range(rng.randrange(3))}

        keys = (rng.sample("abcdef7", 3) for _ in range(rows))
        return json_lines(*({"y": rng.choice([1, -1]), **{key: value(2) for key in row}} for row in keys))


def json_lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def label_key(names):
    """The key of the label by the keys of the first object."""
    lower = [name.lower() for name in names]
    found = [lower.index(name) for name in ("label", "target") if name in lower]
    edges = lower[0] in ("class", "y") and lower[-1] not in ("class", "y")
    return names[found[0] if found else 0 if edges else -1]


def blanks(text, at):
    """The first place from `at` on that is not blank."""
    return re.compile(r"[ \t\n\r]*").match(text, at).end()


def json_value(text, at):
    """The value that begins there and where it ends: an object as a tuple of pairs, an array as a list."""
    number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").match(text, at)
    if number:
        return float(number.group()), number.end()
    for word, value in (("true", True), ("false", False), ("null", None), ("NaN", math.nan), ("Infinity", math.inf)):
        if text.startswith(word, at):
            return value, at + len(word)
    if text.startswith("-Infinity", at):
        return -math.inf, at + 9
    if text[at : at + 1] == '"':
        return json_string(text, at)
    if text[at : at + 1] not in ("[", "{"):
        raise ValueError
    close, items = ("]", []) if text[at] == "[" else ("}", [])
    at = blanks(text, at + 1)
    if text[at : at + 1] == close:
        return (items if close == "]" else ()), at + 1
    while True:
        if close == "}":
            if text[at : at + 1] != '"':
                raise ValueError
            key, at = json_string(text, at)
            at = blanks(text, at)
            if text[at : at + 1] != ":":
                raise ValueError
            at = blanks(text, at + 1)
        value, at = json_value(text, at)
        items.append(value if close == "]" else (key, value))
        at = blanks(text, at)
        if text[at : at + 1] == close:
            if close == "}" and len({key for key, _ in items}) < len(items):
                raise ValueError
            return (items if close == "]" else tuple(items)), at + 1
        if text[at : at + 1] != ",":
            raise ValueError
        at = blanks(text, at + 1)


def json_string(text, at):
    found = re.compile(r'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"').match(text, at)
    if not found:
        raise ValueError
    short = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

    def unescaped(match):
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] == "u" else short.get(code, code)

    units = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", unescaped, found.group(1))
    joined = re.sub("[\ud800-\udbff][\udc00-\udfff]", pair, units)
    return joined, found.end()


def pair(match):
    high, low = match.group()
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + ord(low) - 0xDC00)


def json_label(value):
    if isinstance(value, str) and re.fullmatch(r"[ \t]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?[ \t]*", value):
        value = float(value)
    if not isinstance(value, (bool, float, str)) or (isinstance(value, float) and not -(2**53) < value < 2**53):
        raise ValueError
    return value.strip() if isinstance(value, str) else float(value) + 0.0  # -0 and 0 are one label


def json_features(items, path, row, bits):
    seed = slow_hash(path, 0) if path else 0
    for key, value in items:
        within = f"{path}.{key}" if path else key
        if isinstance(value, tuple):
            json_features(value, within, row, bits)
        elif isinstance(value, list):
            first = slow_hash(within, 0) if within else 0
            for k, item in enumerate(value):
                if not isinstance(item, (bool, float)):
                    raise ValueError
                slow_entry(row, (first + k) % 2**bits, float(item))
        elif isinstance(value, str):
            slow_entry(row, slow_hash(f"{key}={value}", seed) % 2**bits, 1.0)
        elif value is None:
            raise ValueError
        else:
            slow_entry(row, slow_hash(key, seed) % 2**bits, float(value))


SVMLIGHT, VW, JSON_LINES = FORMATS = (SvmlightFormat(), VWFormat(), JsonlFormat())


# bounds


@contextmanager
def plain_python(kernel):
    """The module of a kernel as plain Python, where numpy checks every index."""
    shared = ("novikoff.numerics.decimals", "novikoff.numerics.repeats", "novikoff.data._loops.words")
    real = {name: importlib.import_module(name) for name in shared}
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    try:
        for name in shared:
            sys.modules[name] = _loaded(name)
        yield _loaded(kernel.__name__)
    finally:
        sys.modules.update(real)
        numba.config.DISABLE_JIT = before


def _loaded(name):
    found = importlib.util.find_spec(name)
    spec = importlib.util.spec_from_file_location(name, found.origin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parse_before_forbidden_page(name, count):
    """Let the kernels of a format read mutated lines whose padding ends at a page that no process may read."""
    form = next(one for one in FORMATS if one.name == name)
    page, rng = mmap.PAGESIZE, random.Random(9)
    area = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + page), page, 0) == 0
    memory, run = np.frombuffer(area, dtype=np.uint8), form.kernels(page)
    for _ in range(count):
        data = form.line(1, (1, 1), (2, 2), (3, 3), (4, 4)) + form.mutated(rng)[:200] + b"\n"
        text = memory[page - form.padding - len(data) : page]
        text[: len(data)] = np.frombuffer(data, dtype=np.uint8)
        text[len(data) :] = rng.choice(b"\n0179:a")
        run(text, len(data))
