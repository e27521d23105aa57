"""Fused multiply-adds: alone, in vectors and in plain Python the same, rounded once."""

import math
from fractions import Fraction

import numba
from hypothesis import given
from hypothesis import strategies as st
from numba import types
from numba.extending import intrinsic

from novikoff.kernels.fused import fused, fused_twin

numbers = st.floats(-1e100, 1e100)


@intrinsic
def _fused(typingctx, a, b, c):
    def codegen(context, builder, signature, arguments):
        return fused(builder, *arguments)

    return types.float64(types.float64, types.float64, types.float64), codegen


@numba.njit
def alone(a, b, c):
    return _fused(a, b, c)


@given(numbers, numbers, numbers)
def test_compiled_and_plain_python_round_once(a, b, c):
    right = float(Fraction(a) * Fraction(b) + Fraction(c))
    assert alone(a, b, c) == fused_twin(a, b, c) == right


def test_what_two_roundings_would_lose_is_there():
    a = 1.0 + 2.0**-30
    assert fused_twin(a, a, -(1.0 + 2.0**-29)) == 2.0**-60
    assert a * a - (1.0 + 2.0**-29) == 0.0


def test_what_is_not_finite_stays_so():
    assert fused_twin(math.inf, 1.0, 0.0) == math.inf
    assert math.isnan(fused_twin(math.inf, 0.0, 1.0))
