"""Candidates that are judged elsewhere, in stretches of the stream, have the errors that they have here."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from helpers import Sent
from novikoff.core.errors import InputError
from novikoff.online_to_batch.scoring import STRETCHES, stretches


@given(st.lists(st.integers(1, 1000), max_size=60, unique=True), st.integers(0, 50))
def test_stretches_are_the_whole(ends, more):
    places = [(0, None), *((row, {"row": row}) for row in sorted(ends))]
    found = stretches(places, places[-1][0] + more)
    assert found[0].first == 0
    assert found[-1].last == places[-1][0] + more
    assert all(one.last == other.first for one, other in pairwise(found))
    assert all((one.first, one.start) in places for one in found)
    assert len(found) <= STRETCHES


def written(path, count, labels):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, (count, 4))
    y = np.asarray(labels)[(x[:, 0] + rng.integers(0, 2, count)) % len(labels)]
    lines = (f"{b} " + " ".join(f"{i}:{v}" for i, v in enumerate(a)) for a, b in zip(x, y, strict=True))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("labels", [[1, -1], [3, 7, 5]])
def test_executor_of_the_evaluation_changes_nothing(labels, tmp_path):
    path = written(tmp_path / "rows.svm", 900, labels)
    source = nk.read(path, chunk=500)  # many batches, each a place to begin
    ledger = nk.play("perceptron", source, candidates=20, labels="multiclass" if len(labels) > 2 else None)
    here, who = nk.finalize(ledger, "best", stream=source), Sent()
    there = nk.finalize(ledger, "best", stream=source, on=who)
    assert repr(there.certificates) == repr(here.certificates)
    assert (there.index, there.wealth) == (here.index, here.wealth)
    assert who.tasks == STRETCHES


def test_a_stream_that_becomes_shorter_is_noticed(tmp_path):
    path = written(tmp_path / "rows.svm", 100, [1, -1])

    class Meanwhile(Sent):
        def map(self, function, items, *shared, progress=None):
            written(path, 50, [1, -1])
            return super().map(function, items, *shared)

    ledger = nk.play("perceptron", path, candidates=5)
    with pytest.raises(InputError, match="has changed since the game"):
        nk.finalize(ledger, "best", stream=path, on=Meanwhile())
