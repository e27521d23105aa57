"""A ledger does not depend on how its rounds were grouped."""

import numpy as np

import novikoff as nk
from novikoff.core.types import Batch, Sparse
from novikoff.game import persistence


def test_sparse_rows_keep_their_width_in_small_groups():
    coins = np.random.default_rng(0)
    y = np.where(coins.random(300) < 0.5, 1, -1).astype(np.int8)
    indices = np.tile(np.arange(3, dtype=np.uint32), 300)
    rows = Sparse(np.arange(0, 901, 3, dtype=np.uint64), indices, coins.normal(size=900), 1024, checked=True)

    def played(together):
        game = nk.Game(nk.Perceptron())
        for start in range(0, 300, together):
            some = slice(start, start + together)
            game.learn_batch(Batch(rows[some], y[some], start + 1, memory="owned"))
        what = persistence.snapshot(game.ledger)
        return what.meta, {name: array.tobytes() for name, array in what.arrays.items()}

    assert played(300) == played(10) == played(1)
