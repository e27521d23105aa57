"""Losses of arms: one is better by the gap; after a switch another is; a row is a function of its number."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

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


def test_given_means_are_those_of_the_table():
    stream = BanditLosses(rounds=40_000, seed=3, means=[0.1, 0.9, 0.0, 1.0])
    assert stream.means().tolist() == [0.1, 0.9, 0.0, 1.0]
    table = stream.losses(0, 40_000)
    assert table.mean(axis=0) == pytest.approx([0.1, 0.9, 0.0, 1.0], abs=0.01)
    assert nk.make("bandit-losses:means=[0.1,0.9,0,1],rounds=40000,seed=3", "stream").name == stream.name


def test_uniform_means_are_drawn_by_the_seed():
    drawn = np.concatenate([BanditLosses(5, seed=seed, means="uniform").means() for seed in range(2000)])
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    stream = BanditLosses(5, rounds=40_000, seed=3, means="uniform")
    assert stream.losses(0, 40_000).mean(axis=0) == pytest.approx(stream.means(), abs=0.01)
    assert stream.reseeded(4).means().tolist() == BanditLosses(5, seed=4, means="uniform").means().tolist()


@pytest.mark.parametrize("given", [{"arms": 0}, {"gap": 0.7}, {"gap": "a"}, {"rounds": 0}, {"switches": -1},
                                   {"means": "gauss"}, {"means": [0.5, 1.5]}, {"means": []}, {"means": ["a"]},
                                   {"means": [0.5], "switches": 1}])  # fmt: skip
def test_wrong_arguments_are_refused(given):
    with pytest.raises(InputError):
        nk.synthetic.bandit_losses(**given)
