"""Coins: random numbers that are functions of (seed, purpose, t), so repeated queries agree.

The generator is SplitMix64 [steele2014]: its state is a hash of seed and purpose, advanced t + 1 times in one step.
numerics/splitmix.py has the same coins for compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MASK = 0xFFFFFFFFFFFFFFFF
"""64 one bits, to reduce Python integers to words."""
GOLDEN = 0x9E3779B97F4A7C15
"""Increment of the state: 2^64 over the golden ratio, made odd."""
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Multipliers of the finaliser."""

Words = TypeVar("Words", int, "NDArray[np.uint64]")


def mix(z: Words) -> Words:
    """Return SplitMix64's finaliser, a random-looking bijection of 64-bit words, of one word or of an array."""
    word: Any = z
    word = ((word ^ (word >> 30)) * FIRST) & MASK
    word = ((word ^ (word >> 27)) * SECOND) & MASK
    mixed: Words = word ^ (word >> 31)
    return mixed


def purpose_word(purpose: str) -> int:
    """Return a 64-bit hash of a purpose (FNV-1a), so that different purposes have unrelated coins."""
    word = 0xCBF29CE484222325
    for byte in purpose.encode():
        word = ((word ^ byte) * 0x100000001B3) & MASK
    return word


def start(seed: int, purpose: str) -> int:
    """Return the generator's state before the first coin."""
    return mix((seed & MASK) ^ purpose_word(purpose))


def coin(seed: int, purpose: str, t: int) -> int:
    """Return coin number t: 64 random bits."""
    return mix((start(seed, purpose) + (t + 1) * GOLDEN) & MASK)


def coins(seed: int, purpose: str, first: int, stop: int) -> NDArray[np.uint64]:
    """Return coins number first .. stop - 1."""
    import numpy as np

    t = np.arange(first + 1, stop + 1, dtype=np.uint64)
    return mix(np.uint64(start(seed, purpose)) + t * np.uint64(GOLDEN))


def uniform(seed: int, purpose: str, t: int) -> float:
    """Return coin number t as a number in [0, 1), a multiple of 2^-53."""
    return (coin(seed, purpose, t) >> 11) * 2.0**-53
