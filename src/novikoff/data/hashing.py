"""Feature hashing as in Vowpal Wabbit: the index of a feature name."""

from __future__ import annotations

import re

LOW = 2**32 - 1
WORD = re.compile(rb"[0-9a-z\x80-\xff]+")


def words_of(text: bytes) -> list[bytes]:
    """Return the different words of a text in order, as data/_loops/words.py counts them.

    >>> words_of(b"Call now, CALL!")
    [b'call', b'now']
    """
    return list(dict.fromkeys(WORD.findall(text.lower())))  # bytes.lower changes ASCII letters only


def hashed(name: bytes, base: int) -> int:
    """Return the 32-bit hash of a feature name in a namespace with hash `base`.

    A whole number n hashes to base + n, any other name by MurmurHash3 with seed `base`.
    """
    if name.isdigit():
        return (base + int(name[-32:])) & LOW  # 2^32 divides 10^32
    return murmur(name, base)


def murmur(data: bytes, seed: int) -> int:
    """Return MurmurHash3 x86_32 (Austin Appleby) of the data, as in data/_loops/words.py."""
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
