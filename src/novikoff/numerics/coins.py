"""Coins: a random number is a function of (seed, purpose, t), so asking twice gives the same answer.

The generator is SplitMix64 [steele2014]: its state is a hash of seed and purpose, advanced t + 1 times in one step.
numerics/splitmix.py has the same coins for compiled loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

Words = TypeVar("Words", int, "NDArray[np.uint64]")


def mix(z: Words) -> Words:
    """SplitMix64's finaliser: a bijection of 64-bit words that looks random. Of one word, or of an array of them."""
    word: Any = z
    word = ((word ^ (word >> 30)) * FIRST) & MASK
    word = ((word ^ (word >> 27)) * SECOND) & MASK
    mixed: Words = word ^ (word >> 31)
    return mixed


def purpose_word(purpose: str) -> int:
    """A 64-bit word for a purpose (FNV-1a), so that different purposes have unrelated coins."""
    word = 0xCBF29CE484222325
    for byte in purpose.encode():
        word = ((word ^ byte) * 0x100000001B3) & MASK
    return word


def start(seed: int, purpose: str) -> int:
    """The generator's state before the first coin."""
    return mix((seed & MASK) ^ purpose_word(purpose))


def coin(seed: int, purpose: str, t: int) -> int:
    """Coin number t: 64 random bits."""
    return mix((start(seed, purpose) + (t + 1) * GOLDEN) & MASK)


def coins(seed: int, purpose: str, first: int, stop: int) -> NDArray[np.uint64]:
    """Coins number first .. stop - 1."""
    import numpy as np

    t = np.arange(first + 1, stop + 1, dtype=np.uint64)
    return mix(np.uint64(start(seed, purpose)) + t * np.uint64(GOLDEN))


def uniform(seed: int, purpose: str, t: int) -> float:
    """Coin number t as a number in [0, 1), a multiple of 2^-53."""
    return (coin(seed, purpose, t) >> 11) * 2.0**-53
