"""Malformed labelled text: never a crash, a hang or a silently wrong row, whatever the chunk.

The oracle, `slow`, is plain Python from the words of the format: the whole text at once, scikit-learn's hash.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys

import pytest
from sklearn.utils import murmurhash3_32

from novikoff.core.errors import SourceError
from novikoff.data._loops import words as kernel
from novikoff.data.formats.labelled_text import Text

PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
MARK = b"\xef\xbb\xbf"
FINITE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


# what a text means


def slow(data, bits=18, positive=None, multiclass=None, skip_bad=0):
    """The rows (label, {index: count}) up to the first fault, what is said of that, and the lines that were skipped."""
    lines = meanings(data, bits, positive)
    faults = [(number, value) for number, value, counts in lines if counts is None]
    last = faults[skip_bad][0] if len(faults) > skip_bad else math.inf  # what is behind it is not looked at
    values = [value for number, value, counts in lines if counts is not None and number < last]
    first_two = list(dict.fromkeys(values))[:2]
    rows, skipped = [], []
    for number, value, counts in lines:
        if counts is None:
            if len(skipped) == skip_bad:
                return rows, (f"line {number} of", value), skipped
            skipped.append(number)
            continue
        y = label_of(value, first_two, positive, multiclass)
        if y == "there is only":  # no fault of that label: the other may be on a line that is bad
            numbers = [number for number, _ in faults]
            if len(faults) > skip_bad:
                return [], (f"line {numbers[skip_bad]} of", faults[skip_bad][1]), numbers[:skip_bad]
        if isinstance(y, str):
            return rows, (f"line {number} of", y), skipped
        rows.append((y, counts))
    return rows, None if rows else ("must not be empty", "has no rows"), skipped


def meanings(data, bits, positive):
    """(line, value, counts) of each row, (line, fault, None) of a bad line."""
    lines = []
    numbers = None
    for number, line in enumerate(data.removeprefix(MARK).split(b"\n"), start=1):
        if set(line) <= set(b" \t\r"):
            continue
        label, tab, message = line.partition(b"\t")
        label = label.strip(b" ")
        if not tab or not label:
            lines.append((number, "has nothing before its TAB" if tab else "has no TAB", None))
            continue
        try:
            word = label.decode()
        except UnicodeDecodeError:
            word = "\0"
        if "\0" in word:
            lines.append((number, "must be UTF-8 without zero bytes", None))
            continue
        if numbers is None:
            numbers = positive is None and FINITE.fullmatch(word) is not None
        value = same_text(word) if positive is not None else float(word) if numbers and is_label(word) else word
        if numbers and isinstance(value, str):
            lines.append((number, "must be finite numbers", None))
            continue
        counts = {}
        for found in re.findall(rb"[0-9A-Za-z\x80-\xff]+", message):
            index = murmurhash3_32(found.lower(), 0, positive=True) % 2**bits
            counts[index] = counts.get(index, 0.0) + 1.0
        lines.append((number, value, counts))
    return lines


def is_label(word):
    """A finite number, and itself if it is whole: two labels must not become one."""
    if not FINITE.fullmatch(word) or math.isinf(float(word)):
        return False
    return not re.fullmatch(r"[+-]?[0-9]+", word) or int(float(word)) == int(word)


def same_text(word):
    """+1, 1 and 1.0 are the same label; 9007199254740993 and 9007199254740992 are not."""
    if re.fullmatch(r"[+-]?[0-9]{1,300}", word):
        return str(int(word))
    if FINITE.fullmatch(word) and not math.isinf(float(word)):
        number = float(word)
        return str(int(number)) if number == math.floor(number) else repr(number)
    return word


def label_of(value, first_two, positive, multiclass):
    """The label that a value stands for, or what must be said of it."""
    if positive is not None:
        return 1 if value == same_text(str(positive)) else -1
    if multiclass is not None:
        whole = not isinstance(value, str) and value in range(multiclass)
        return int(value) if whole else "must be integers from 0 to"
    if len(first_two) == 1:
        return {-1: -1, 0: -1, 1: 1}.get(value, "there is only")
    return "has a third" if value not in first_two else 1 if value == max(first_two) else -1


# what the reader says


def fast(data, **options):
    """The same three of the reader; the batches must be numbered on."""
    stream = Text(io.BytesIO(data), **options)
    rows, said, ends = [], None, []
    try:
        for batch in stream.batches():
            assert batch.first == len(rows) + 1
            rows += [
                (y, dict(zip(indices.tolist(), values.tolist(), strict=True)))
                for (indices, values), y in batch.rows()
            ]  # fmt: skip
            ends.append(batch.end)
    except SourceError as error:
        said = str(error)
        assert "\n" not in said
        assert "a BytesIO" in said
    return rows, said, [line for line, _ in stream.skipped], ends


def check(data, options, chunk):
    """Compare; True if there was a fault."""
    rows, said, skipped, ends = fast(data, chunk=chunk, **options)
    want, fault, lines = slow(data, **options)
    about = (data, options, chunk, said)
    assert rows == want, about
    assert (said is None) == (fault is None), about
    assert fault is None or all(part in said for part in fault), (*about, fault)
    assert skipped == lines, about
    if said is None:
        end = json.loads(json.dumps(ends[len(data) % len(ends)]))
        rest = [y for batch in Text(io.BytesIO(data), chunk=50, **options).batches(end) for y in batch.y.tolist()]
        assert rest == [y for y, _ in rows[end["row"] :]], about
    return fault is not None


# inputs

LABELS = (
    (b"ham", b"spam"), (b"u", b"v"), (b"0", b"1"), (b"-1", b"+1"), (b"1", b"1.0", b"2"), (b"9", b"10"), (b"v", b"1"),
    (b"u", b"v", b"w"), (b"0", b"1", b"2"), (b"5",), (b"1",), (b"0",), (b"spam",), ("é".encode(), "ß".encode()),
)  # fmt: skip
ODD_LABELS = (
    b"nan", b"NaN", b"-nan", b"inf", b"-Infinity", b"1e999", b"-1e999", b"1e-400", b"5e-324", b"-0", b"0x1p3", b"0x10",
    b"1_000", b"1,000", "١".encode(), b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\x00", b"9007199254740992",
    b"9007199254740993", b"1" * 400, b"+", b".", b"1.", b".5", b"+.5e1", b"\xef\xbb\xbfu", b"a b", b" u", b"v  ", b"\r",
    b"U", b'"u"', b"\xc2\xa0", b"1\r", b"1e0", b"--1",
)  # fmt: skip
MESSAGES = (
    b"", b"@A@Z[`a`z{/0/9:\x7f\x80", b"WINNER!! Call now, call",
    b"Ok lar...", b"a a A b", "Café CAFÉ é".encode(), b"1 22 333 4444 55555 666666",
    b"x\ty\tz", b"\t", b"\x00a\x00a", b"don't\rstop", b"\xff\xfe word", b"word\r", b" ", b"one,two;three", b"a" * 70,
    b" ".join(b"w%d" % i for i in range(40)),
)  # fmt: skip
BAD = (b"no tab", b"\tno label", b"   \tno label", b"x", b"\x00", b"\xff\xfe", b"spam ham", b"\xc2\xa0\xe2\x80\xa8")
BLANK = (b"", b" ", b"\t", b"\r", b" \t \r", b"\t\t")
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n")
ALPHABET = b"uv01 \t\t\t\n\n\r.+-eE,;aA_x\x00\x1f\x7f\x80\xbb\xbf\xc3\xa9\xef\xff"
POSITIVE = ("v", "1", 1, 1.0, "spam", "é", "9007199254740992", "nan", "+1", "never", "1e999")


def lines_of(rng, most):
    """Lines of one kind of labels, few of them bad."""
    labels = rng.choice(LABELS)
    labels += (MARK + labels[0],) if rng.random() < 0.05 else ()
    worse = rng.choice((0.0, 0.0, 0.05, 0.3))
    data = []
    for _ in range(rng.randrange(1, most + 1)):
        if rng.random() < worse:
            line = rng.choice(BAD) if rng.random() < 0.5 else rng.choice(ODD_LABELS) + b"\t" + rng.choice(MESSAGES)
        elif rng.random() < 0.1:
            line = rng.choice(BLANK)
        else:
            line = rng.choice(labels) + b"\t" + rng.choice(MESSAGES)
        data += [line, rng.choice(ENDS) if worse else b"\n"]
    if rng.random() < 0.4:
        data.pop()
    return (MARK if rng.random() < 0.1 else b"") + b"".join(data)


def mutated(rng, data):
    """The same with a few bytes put in, taken out, changed or said twice."""
    text = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
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
    kind = rng.randrange(20)
    if kind == 0:
        return rng.randbytes(rng.randrange(60))
    if kind in (1, 2):
        return bytes(rng.choices(ALPHABET, k=rng.randrange(80)))
    if kind == 3 and rng.random() < 0.02:  # a line of up to 40,000 words
        words = b" ".join(b"%x" % rng.randrange(50_000) for _ in range(rng.randrange(40_000)))
        return lines_of(rng, most) + b"\nu\t" + words + b"\nv\t" + words[:9]
    data = lines_of(rng, most)
    return mutated(rng, data) if kind < 14 else data


def some_options(rng):
    options = {"bits": rng.choice((1, 3, 18, 32)), "skip_bad": rng.choice((0, 0, 1, 2, 1000))}
    how = rng.randrange(6)
    if how == 0:
        options["positive"] = rng.choice(POSITIVE)
    elif how == 1:
        options["multiclass"] = rng.choice((1, 2, 3, 11))
    return options


def fuzz(seed, count, most=8):
    """Compare that many texts; how many had a fault."""
    rng = random.Random(seed)
    faults = 0
    for _ in range(count):
        data, options = some_input(rng, most), some_options(rng)
        if not data.startswith(PACKED):
            faults += check(data, options, rng.choice((1, 2, rng.randrange(3, 200), 2**20)))
    return faults


def test_malformed_texts_are_refused_and_the_others_right():
    assert 240 < fuzz(1, 600) < 540


def test_malformed_lines_leave_their_neighbours_right():
    fuzz(2, 30, most=400)


@pytest.mark.slow
def test_malformed_texts_are_refused_and_the_others_right_120_000_times():
    assert 48_000 < fuzz(3, 120_000) < 108_000
    fuzz(4, 3_000, most=400)


@pytest.mark.parametrize("content", [b"u\tx y\nv\tz\n", b"\xef\xbb\xbf0\ta\r\nbad\n1\tb", b"5\ta\nx\tb\n\t\n3\tc\n"])
def test_every_change_of_one_byte_is_read_as_the_slow_reader_does(content):
    for at, byte in itertools.product(range(len(content)), (*ALPHABET, None)):
        data = content[:at] + (b"" if byte is None else bytes([byte])) + content[at + 1 :]
        skip_bad, chunk = ((0, 1), (2, 5), (1, 2**20))[(at + (byte or 0)) % 3]
        check(data, {"skip_bad": skip_bad}, chunk)


def test_every_cut_of_a_text_is_read_as_the_slow_reader_does():
    content = MARK + "ham\tone é two\r\nspam\tthree\n\n ham\t\nno tab\nspam\tone, one\n".encode()
    for cut, chunk in itertools.product(range(len(content)), (1, 9, 2**20)):
        check(content[:cut], {"skip_bad": cut % 2}, chunk)


# bounds


def test_the_plain_twin_reads_and_writes_within_bounds_and_agrees(monkeypatch):
    """As plain Python, where numpy checks every index."""
    for name in ("read_lines", "count_words", "add_entry", "same_bytes", "finish", "mix", "scramble"):
        monkeypatch.setattr(kernel, name, getattr(kernel, name).py_func)
    rng = random.Random(5)
    for _ in range(400):
        check(some_input(rng, 4)[:300], some_options(rng), rng.choice((1, 30, 2**20)))


@pytest.mark.slow
def test_the_kernel_stays_in_bounds_when_numba_checks_them(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_text_fuzz as t; t.fuzz(6, 20_000);"
        "t.fuzz(7, 200, most=400); print('alive')"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code, os.path.dirname(__file__)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "alive", done.stderr
