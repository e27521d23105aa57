"""Losses of arms: one is better by the gap; after a switch another is; a row is a function of its number."""

from itertools import pairwise

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.data.bandit_losses import BanditLosses


def test_one_arm_loses_less_by_the_gap():
    stream = BanditLosses(5, 0.2, 40_000, seed=3)
    means = stream.losses(0, 40_000).mean(axis=0)
    best = stream.best(0)
    assert stream.witness()[0] == best == int(means.argmin())
    assert means[best] == pytest.approx(0.3, abs=0.01)
    assert np.delete(means, best) == pytest.approx(0.5, abs=0.01)


def test_after_each_switch_another_arm_is_the_best():
    stream = BanditLosses(4, 0.5, 8000, switches=3, seed=1)
    bests = [stream.best(k) for k in range(4)]
    assert all(one != other for one, other in pairwise(bests))
    table = stream.losses(0, 8000)
    for k, best in enumerate(bests):
        assert table[2000 * k : 2000 * (k + 1), best].sum() == 0.0


def test_a_row_is_a_function_of_its_number():
    stream = BanditLosses(3, 0.1, 500, switches=2, seed=9)
    assert np.array_equal(stream.losses(0, 500)[123:130], stream.losses(123, 130))
    assert np.array_equal(np.concatenate([b.y for b in stream.batches()]), stream.losses(0, 500))


@pytest.mark.parametrize("given", [{"arms": 0}, {"gap": 0.7}, {"gap": "a"}, {"rounds": 0}, {"switches": -1}])
def test_wrong_arguments_are_refused(given):
    with pytest.raises(InputError):
        nk.synthetic.bandit_losses(**given)
