"""Synthetic data for the benchmarks: sparse rows like RCV1's (70 non-zeros of 47,000), as arrays and as text."""

import os
import tempfile

import numpy as np

from novikoff.core.types import Sparse
from novikoff.numerics.compiled import compiled

WIDTH = 47_000
NONZEROS = 70
BLOCK = 50_000


def rows(number, seed, noise=0.03):
    """Return sparse rows and labels of a planted classifier; values have four decimals, so that text is exact."""
    rng = np.random.default_rng(seed)
    target = np.random.default_rng(0).normal(size=WIDTH) / (1.0 + np.arange(WIDTH) / 300.0)
    # Feature frequencies follow Zipf's law: rank r has probability about 1/(r + 20); features of a row are distinct.
    ranks = 20.0 * np.exp(rng.random((number, NONZEROS)) * np.log((WIDTH - NONZEROS) / 20.0 + 1.0)) - 20.0
    places = np.sort(ranks.astype(np.int64), axis=1)
    steps = np.arange(NONZEROS)
    places = np.maximum.accumulate(places - steps, axis=1) + steps
    values = np.round(rng.gamma(2.0, 0.04, (number, NONZEROS)), 4) + 0.0001
    values = np.round(values, 4)
    scores = np.einsum("ij,ij->i", target[places], values)
    y = np.where(scores >= 0, 1, -1)
    y = np.where(rng.random(number) < noise, -y, y).astype(np.int8)
    return places.astype(np.uint32), values, y


def sparse(number, seed=1):
    """Return the rows as one `Sparse`, and the labels."""
    places, values, y = rows(number, seed)
    indptr = np.arange(number + 1, dtype=np.uint64) * np.uint64(NONZEROS)
    return Sparse(indptr, places.ravel(), values.ravel(), WIDTH), y


@compiled
def _write(places, values, y, bar, out):
    """Write rows as text: `1 12:0.0627 …`, or with a bar after the label, for Vowpal Wabbit."""
    at = 0
    for t in range(len(y)):
        if y[t] < 0:
            out[at] = 45
            at += 1
        out[at] = 49
        at += 1
        if bar:
            out[at] = 32
            out[at + 1] = 124
            at += 2
        for k in range(places.shape[1]):
            out[at] = 32
            at += 1
            number = places[t, k]
            digits = 1
            rest = number // 10
            while rest:
                digits += 1
                rest //= 10
            for place in range(digits - 1, -1, -1):
                out[at + place] = 48 + number % 10
                number //= 10
            at += digits
            tenths = np.int64(np.round(values[t, k] * 10000.0))
            out[at] = 58
            out[at + 1] = 48 + tenths // 10000
            out[at + 2] = 46
            tenths %= 10000
            for place in range(3, -1, -1):
                out[at + 3 + place] = 48 + tenths % 10
                tenths //= 10
            at += 7
        out[at] = 10
        at += 1
    return at


def text_files(size, folder):
    """Write two files of about `size` bytes with the same rows, svmlight and Vowpal Wabbit; return paths and rows."""
    paths = [os.path.join(folder, name) for name in ("made.svm", "made.vw")]
    out = np.empty(BLOCK * (NONZEROS * 14 + 8), dtype=np.uint8)
    number = 0
    with open(paths[0], "wb") as svm, open(paths[1], "wb") as vw:
        block = 0
        while svm.tell() < size:
            places, values, y = rows(BLOCK, block + 1)
            for file, bar in ((svm, False), (vw, True)):
                file.write(out[: _write(places.astype(np.int64), values, y, bar, out)].data)
            number += BLOCK
            block += 1
    return paths, number


def folder():
    """Return a temporary folder."""
    return tempfile.TemporaryDirectory(prefix="novikoff-bench-")
