"""What a direction's sums say of its losses, against fractions, whatever the sums are."""

from fractions import Fraction

import numpy as np
import pytest

from novikoff.comparators.riders import UNIT, Riders

SIZES = [0.0, 5e-324, 1e-200, 1e-30, 1e-9, 0.1, 3.0, 2.0**62, 1e200, 1e300]


def with_sums(top, exact, seed):
    """Directions of length 5, and sums that no stream need have."""
    coins = np.random.default_rng(seed)
    U = np.zeros((3, 4), np.float32)
    U[:2, :3] = [[3], [4]]
    riders = Riders(U, np.zeros(3), top, exact)
    shape = riders.counts.shape
    riders.counts[:] = coins.integers(0, 2**30, shape) * coins.integers(0, 2, shape)
    if exact:
        riders.sums[:], riders.squares[:] = coins.integers(0, 2**61, shape), coins.integers(0, 2**62, shape)
        riders.carries[:] = coins.integers(0, 2**40, shape)
    else:
        riders.sums[:] = coins.choice(coins.choice(SIZES, 2), shape)
        riders.squares[:] = coins.choice(coins.choice(SIZES, 2), shape)
    riders.rows, riders.nonzeros = int(coins.choice([1, 1000, 2**40])), 2
    riders.longest[:] = 4.0 ** (top - 3)
    return riders


def in_fractions(riders, k):
    """(S, hinge, squared hinge) of U/S for every eleventh threshold S; squares that underflowed are counted."""
    rounds = 0 if riders.exact else riders.rows
    growth = 1 if riders.exact else 1 / (1 - (riders.rows + 4) * UNIT)
    edges = [Fraction(edge) for edge in riders.edges[:-1].tolist()]
    for i, S in [*enumerate(edges)][::11]:
        hinge, squared = Fraction(0), Fraction(rounds, 2**1074)
        for j in range(i + 1):  # a margin d below its own threshold T is S - T + d below S
            count, d = int(riders.counts[k, j]), Fraction(riders.sums[k, j].item())
            d2 = Fraction(riders.squares[k, j].item()) + int(riders.carries[k, j]) * 2**62
            step = S - edges[j]
            hinge += count * step + d
            squared += count * step**2 + 2 * step * d + d2
        yield float(S), growth * hinge / S, growth * squared / S**2


@pytest.mark.parametrize(("top", "exact"), [(-448, False), (3, False), (24, False), (448, False), (24, True)])
@pytest.mark.parametrize("seed", range(8))
def test_losses_are_those_of_the_sums_and_never_less(top, exact, seed):
    riders = with_sums(top, exact, seed)
    found = [u for u in riders.comparators(np.zeros(3)) if u.direction == 1 and u.scale in riders.edges]
    assert len(found) == 129
    for u, (S, hinge, squared) in zip(found[::11], in_fractions(riders, 0), strict=True):
        assert (u.scale, u.hinge) == (S, hinge)
        assert u.square >= 25 / Fraction(S) ** 2
        assert squared <= u.squared_hinge <= squared + Fraction(not exact, 2**127)
