"""Cases of the theorems on bandits for independent losses."""

import dataclasses

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk

TABLES = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(0, 1))


def of_independent_losses(make, tight=None, *more):
    """Void after a warm start, against an adversary, and where its books are not those of the game."""
    game = lambda losses: cases.run_of(make(losses.shape[1]), nk.Losses(losses))
    sample = np.tile([[0.2, 1.0]], (3000, 1))
    warmed = lambda: cases.warm(lambda: make(2), nk.Losses(sample), nk.Losses(sample))
    wrong = lambda: cases.changed(game(sample), lost=1.0)
    adaptive = lambda: dataclasses.replace(game(sample), adaptive=True)
    void = ((warmed, "warm start"), (wrong, "learned from the recorded losses"), (adaptive, "independent draws"), *more)
    return cases.Case(TABLES, game, sample, tight, None, void)
