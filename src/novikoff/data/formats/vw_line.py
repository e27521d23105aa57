"""One line of Vowpal Wabbit text, read by Python: slow, exact, and able to say what is wrong.

The format, and which index a feature has, are told in vw.py.
"""

from __future__ import annotations

import math
import re

from novikoff.core.errors import Advice, LabelError, Option
from novikoff.data.formats.svmlight_line import BadLineError, Row, finite

LOW = 2**32 - 1
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")
WORD = re.compile(rb"[^ \t]+")
CORRECT = "Correct the line"
NEUTRAL = ("an importance weight must be 1, as the theorems count every round once",
           "a base must be 0, as the theorems know no score but the learner's")  # fmt: skip


def read_line(line: bytes, bits: int, ignore_weights: bool = False) -> Row | None:
    """The row that a line without its new line holds; None if it is blank. Raises `BadLineError`.

    Its number more: was an importance or a base left out?
    """
    line = line.removesuffix(b"\r")
    if not line.strip(b" \t"):
        return None
    control = CONTROL.search(line)
    if control:
        raise BadLineError("a line must have no control characters", control.start() + 1, control.group(), CORRECT)
    head, bar, rest = line.partition(b"|")
    if not bar:
        raise BadLineError(
            "a line must have a bar before its features", 1, line, "Is it Vowpal Wabbit text? Correct it"
        )
    label, ignored = _label(head, line, ignore_weights)
    entries: dict[int, float] = {}
    at = len(head) + 1
    for part in rest.split(b"|"):
        base, weight, nameless = 0, 1.0, 0
        for word in WORD.finditer(part):
            text, column = word.group(), at + word.start() + 1
            name, colon, number = text.partition(b":")
            what = "a value" if word.start() else "a weight"
            value = finite(number, column + len(name) + 1, what) if colon else 1.0
            if word.start() == 0:
                if not name:
                    raise BadLineError("a namespace must have a name", column, text, "Put a blank behind the bar")
                base, weight = hashed(name, 0), value
                continue
            if not math.isfinite(value * weight):
                must = "a value times the weight of its namespace must be finite"
                raise BadLineError(must, column, text, "Scale the feature")
            i = (hashed(name, base) if name else base + nameless) & (2**bits - 1)
            nameless += not name
            x = value * weight + entries[i] if i in entries else value * weight
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
            entries[i] = x
        at += len(part) + 1
    return label, entries, ignored


def _label(head: bytes, line: bytes, ignore_weights: bool) -> tuple[float, bool]:
    """What is before the first bar: the label, and whether an importance or a base was left out."""
    if b"\t" in head:
        at = head.index(b"\t")
        raise BadLineError("words before the bar must have blanks between them", at + 1, head[at:], "Replace the tab")
    words = list(WORD.finditer(head))
    if words and (words[-1].end() == len(head) or words[-1].group().startswith(b"'")):
        words.pop()  # a tag
    if not words:
        raise BadLineError("a line must have a label", 1, line, "Put a label and a blank before the bar", LabelError)
    if len(words) > 3:
        must = "a label must be one number, with an importance and a base at most"
        raise BadLineError(must, words[3].start() + 1, words[3].group(), CORRECT, LabelError)
    label, *more = (
        finite(word.group(), word.start() + 1, what)
        for word, what in zip(words, ("a label", "an importance weight", "a base"), strict=False)
    )
    for word, value, neutral, must in zip(words[1:], more, (1.0, 0.0), NEUTRAL, strict=False):
        if value != neutral and not ignore_weights:
            do = Advice("Pass ", Option("ignore_weights", True), " to count every row once")
            raise BadLineError(must, word.start() + 1, word.group(), do)
    return label, more not in ([], [1.0], [1.0, 0.0])


def hashed(name: bytes, base: int) -> int:
    """The 32-bit hash of a name in a namespace of hash `base`: base + n for a whole number n, else MurmurHash3."""
    if name.isdigit():
        return (base + int(name[-32:])) & LOW  # 2^32 divides 10^32
    return murmur(name, base)


def murmur(data: bytes, seed: int) -> int:
    """MurmurHash3 x86_32 (Austin Appleby), as in data/_loops/words.py."""
    h = seed
    whole = len(data) & ~3
    for at in range(0, len(data), 4):
        four = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & LOW
        h ^= (four << 15 | four >> 17) * 0x1B873593 & LOW
        if at < whole:
            h = (h << 13 | h >> 19) & LOW
            h = h * 5 + 0xE6546B64 & LOW
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & LOW
    h = (h ^ h >> 13) * 0xC2B2AE35 & LOW
    return h ^ h >> 16
