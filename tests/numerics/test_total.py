"""The compensated sum: exact where a plain sum is not, and the same in batches of any size."""

import math

import numpy as np
import pytest

from novikoff.numerics.total import FEW, Total


@pytest.mark.parametrize("together", [1, 4, 4 * FEW])
def test_sum_keeps_what_rounding_loses(together):
    values = np.array([1.0, 1e100, 1.0, -1e100] * FEW)
    total = Total()
    for start in range(0, len(values), together):
        total.add_all(values[start : start + together])
    assert float(total) == math.fsum(values) == 2.0 * FEW
