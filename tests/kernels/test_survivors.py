"""The longest stretches between mistakes, against a plain list of all; in one batch or in many."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.kernels import survivors


def plain(wrong, candidates):
    """(length, first index) of the hypotheses that are over: the longest; of equally long ones the first."""
    ends = [t + 1 for t, mistake in enumerate(wrong) if mistake]
    over = [(end - first, first) for first, end in zip([0, *ends], ends, strict=False)]
    return sorted(sorted(over, key=lambda one: (-one[0], one[1]))[:candidates]), ends[-1] if ends else 0


@given(
    st.lists(st.integers(0, 1), max_size=300),
    st.integers(1, 6),
    st.lists(st.integers(1, 100), max_size=9),
    st.integers(1, 12),
)
def test_those_that_stay_are_the_longest_and_of_equally_long_ones_the_first(wrong, candidates, cuts, repeated):
    wrong = np.array(wrong * repeated, dtype=np.int8)
    y = np.where(np.arange(len(wrong)) % 3, 1, -1).astype(np.int8)
    predictions = np.where(wrong, -y, y).astype(np.int8)
    lengths, firsts, counts = np.zeros(candidates, np.int64), np.zeros(candidates, np.int64), np.zeros(3, np.int64)
    start = 0
    for size in [*cuts, len(wrong)]:
        stop = min(start + size, len(wrong))
        survivors.see(predictions[start:stop], y[start:stop], start, lengths, firsts, counts)
        start = stop
    wanted, since = plain(wrong.tolist(), candidates)
    mistakes, last, found = counts.tolist()
    assert sorted(zip(lengths[:found].tolist(), firsts[:found].tolist(), strict=True)) == wanted
    assert (mistakes, last) == (int(wrong.sum()), since)
