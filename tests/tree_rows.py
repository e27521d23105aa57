"""Stored rows for the tests of trees."""

import dataclasses

import numpy as np

import novikoff as nk
from cases import Case, changed, run_of
from novikoff.trees.store import RowStore


def stored(x, y, most=131_072):
    rows = RowStore(most)
    for start in range(0, len(y), 512):
        part = slice(start, start + 512)
        rows.add(np.asarray(x[part], float), np.asarray(y[part], float), np.zeros(x.shape[1]))
    return rows


def table(rows=400, seed=0):
    """Two numbers, one of them with missing values, and a category; labels depend on all of them."""
    coins = np.random.default_rng(seed)
    x = np.column_stack([coins.normal(size=(rows, 2)), coins.integers(0, 9, rows)])
    x[coins.random(rows) < 0.2, 1] = np.nan
    z = x[:, 0] + np.where(np.isnan(x[:, 1]), 1.0, -x[:, 1]) + np.isin(x[:, 2], (1, 4, 7))
    return x, (z + 0.3 * coins.normal(size=rows) > 0.5).astype(float), np.array([0, 0, 1], np.int8)


def of_tree(make, streams, sample, still):
    """A tree: tight while it is one node; void where it played something else, and where its parts disagree."""

    def game(stream):
        x, y = map(np.array, zip(*stream, strict=True))
        numbers = make().task == "regression"
        return run_of(make(), nk.RegressionArrays(x.astype(float), y) if numbers else (x.astype(float), y))

    return Case(streams, game, sample, lambda: game(still), lambda: changed(game(sample), bound=0.0),
                ((lambda: dataclasses.replace(game(sample), before=game(sample).after), "warm start"),
                 (lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds"),
                 (lambda: changed(game(sample), mixed=game(sample).after.mixed + 1.0), "mixture"),
                 (lambda: changed(game(sample), drift=1e-3), "drift by rounding"),
                 (lambda: changed(game(sample), sound=False), "whole numbers")))  # fmt: skip
