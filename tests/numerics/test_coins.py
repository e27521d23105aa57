"""Coins are a pure function of seed, purpose and number, and look fair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.numerics import splitmix
from novikoff.numerics.coins import coin, coins, mix, start, uniform


def test_the_finaliser_is_splitmix64():
    # The first outputs of SplitMix64 from state 1234567, as published with the reference implementation.
    golden = 0x9E3779B97F4A7C15
    outputs = [mix((1234567 + (k + 1) * golden) & (2**64 - 1)) for k in range(3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.integers(), st.text(), st.integers(0, 2**60))
def test_a_coin_is_64_bits_and_always_the_same(seed, purpose, t):
    assert 0 <= coin(seed, purpose, t) < 2**64
    assert coin(seed, purpose, t) == coin(seed, purpose, t)
    assert 0.0 <= uniform(seed, purpose, t) < 1.0


@given(st.integers(), st.text(), st.integers(0, 2**60))
def test_compiled_coins_and_arrays_of_coins_are_those_of_python(seed, purpose, t):
    origin = np.uint64(start(seed, purpose))
    assert int(splitmix.coin(origin, t)) == coin(seed, purpose, t)
    assert splitmix.uniform(origin, t) == uniform(seed, purpose, t)
    assert coins(seed, purpose, t, t + 3).tolist() == [coin(seed, purpose, k) for k in range(t, t + 3)]


def test_coins_of_different_seeds_and_purposes_are_unrelated():
    draws = {(s, p): [uniform(s, p, t) for t in range(4000)] for s in (0, 1) for p in ("a", "b")}
    for key, values in draws.items():
        assert abs(np.mean(values) - 0.5) < 0.02, key
    keys = list(draws)
    for i, first in enumerate(keys):
        for second in keys[i + 1 :]:
            assert abs(np.corrcoef(draws[first], draws[second])[0, 1]) < 0.06
