"""The forest as a learner."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from samples import GRID, NAMED, SPARSE, VECTORS

SAMPLES = {
    "forest": [
        ("forest:trees=3", *VECTORS),
        ("forest:trees=2,seed=5,rows=50", *GRID),
        ("forest:trees=2", *SPARSE),
        ("forest:trees=2", *NAMED),
    ],
}


def test_forest_learns_xor():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 5))
    y = np.where((x[:, 0] > 0) ^ (x[:, 1] > 0), 1, -1)
    ledger = nk.play(nk.Forest(), (x, y))
    assert ledger.mistakes < 500
    assert ledger.certify()[0].number("epochs") > 8


def test_the_seed_decides():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5))
    y = np.where(x[:, 0] + 0.5 * rng.normal(size=400) > 0, 1, -1)
    one, again, other = (nk.play(nk.Forest(trees=2, seed=seed), (x, y)).log_loss for seed in (1, 1, 2))
    assert one == again != other


def test_arguments_are_checked():
    for wrong in (0, 2.5, True, 1001):
        with pytest.raises(InputError, match="trees must be"):
            nk.Forest(trees=wrong)
    with pytest.raises(InputError, match="seed"):
        nk.Forest(seed=-1)
