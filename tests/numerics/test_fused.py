"""Fused multiply-adds: alone, in vectors and in plain Python the same, rounded once."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from novikoff.numerics.fused import fused
from twins import fused_twin

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


def vectors(lanes):
    """out = a * b + c for arrays of so many numbers."""

    @intrinsic
    def function(typingctx, a, b, c, out):
        def codegen(context, builder, signature, arguments):
            kind = ir.VectorType(ir.DoubleType(), lanes).as_pointer()
            places = [
                builder.bitcast(context.make_array(type_)(context, builder, value).data, kind)
                for type_, value in zip(signature.args, arguments, strict=True)
            ]
            result = fused(builder, *(builder.load(place, align=8) for place in places[:3]))
            builder.store(result, places[3], align=8)
            return context.get_dummy_value()

        return types.void(a, b, c, out), codegen

    @numba.njit
    def call(a, b, c, out):
        function(a, b, c, out)

    return call


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_vectors_are_rounded_once(lanes):
    rng = np.random.default_rng(lanes)
    call, out = vectors(lanes), np.empty(lanes)
    for scale in (1.0, 1e-160, 1e150):
        for _ in range(100):
            a, b = scale * rng.normal(size=(2, lanes))
            c = -a * b * (1.0 + rng.integers(-2, 3, lanes) * 2.0**-52)  # cancels
            call(a, b, c, out)
            given = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
            assert out.tolist() == [fused_twin(*one) for one in given]


def test_fused_product_keeps_bits_that_two_roundings_lose():
    a = 1.0 + 2.0**-30
    assert fused_twin(a, a, -(1.0 + 2.0**-29)) == 2.0**-60
    assert a * a - (1.0 + 2.0**-29) == 0.0


def test_nonfinite_values_stay_nonfinite():
    assert fused_twin(math.inf, 1.0, 0.0) == math.inf
    assert math.isnan(fused_twin(math.inf, 0.0, 1.0))
