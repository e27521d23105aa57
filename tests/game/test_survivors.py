"""The longest stretches between mistakes, against a plain list of all; in one batch or in many."""

from itertools import pairwise

import numpy as np
import pytest

from novikoff.game._loops import survivors


def plain(wrong, candidates):
    """(length, first index) of the hypotheses that are over: the longest; of equally long ones the first."""
    ends = [t + 1 for t, mistake in enumerate(wrong) if mistake]
    over = [(end - first, first) for first, end in zip([0, *ends], ends, strict=False)]
    return sorted(sorted(over, key=lambda one: (-one[0], one[1]))[:candidates]), ends[-1] if ends else 0


@pytest.mark.parametrize("rounds", [0, 1, 50, 500, 1024, 3000, 5000])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("candidates", [1, 3, 50])
def test_those_that_stay_are_the_longest_and_of_equally_long_ones_the_first(rounds, rate, candidates):
    rng = np.random.default_rng([rounds, candidates, int(100 * rate)])
    for parts in (1, 1, 2, 7):
        wrong = rng.random(rounds) < rate
        y = np.where(np.arange(rounds) % 3, 1, -1).astype(np.int8)
        predictions = np.where(wrong, -y, y).astype(np.int8)
        lengths, firsts, counts = np.zeros(candidates, np.int64), np.zeros(candidates, np.int64), np.zeros(3, np.int64)
        cuts = sorted([0, rounds, *rng.integers(0, rounds + 1, parts - 1).tolist()])
        for start, stop in pairwise(cuts):
            survivors.see(predictions[start:stop], y[start:stop], start, lengths, firsts, counts)
        wanted, since = plain(wrong.tolist(), candidates)
        mistakes, last, found = counts.tolist()
        assert sorted(zip(lengths[:found].tolist(), firsts[:found].tolist(), strict=True)) == wanted
        assert (mistakes, last) == (int(wrong.sum()), since)
