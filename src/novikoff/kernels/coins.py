"""Coins: a random number is a function of (seed, purpose, t), so asking twice gives the same answer.

The generator is SplitMix64 [steele2014]: the state is seed + purpose-hash, advanced t times in one step.
"""

from __future__ import annotations

MASK = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """SplitMix64's finaliser: a bijection of 64-bit words that looks random."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def purpose_word(purpose: str) -> int:
    """A 64-bit word for a purpose (FNV-1a), so that different purposes have unrelated coins."""
    word = 0xCBF29CE484222325
    for byte in purpose.encode():
        word = ((word ^ byte) * 0x100000001B3) & MASK
    return word


def coin(seed: int, purpose: str, t: int) -> int:
    """Coin number t: 64 random bits."""
    start = mix((seed & MASK) ^ purpose_word(purpose))
    return mix((start + (t + 1) * GOLDEN) & MASK)


def uniform(seed: int, purpose: str, t: int) -> float:
    """Coin number t as a number in [0, 1), a multiple of 2^-53."""
    return (coin(seed, purpose, t) >> 11) * 2.0**-53
