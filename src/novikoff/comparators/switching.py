"""The best sequence of experts with a few switches, exactly.

What is best
    Of a table of losses, a row per round and a column per expert: the path i_1 .. i_T with at most m switches
    (rounds t with i_t different from i_{t-1}) whose losses sum to the least.
Method
    Let d[s][i] be the least loss of a path that is at i now and has switched at most s times. Then
        d[s][i]  <-  l_t(i) + min( d[s][i], min over j of d[s-1][j] ),
    with the d[s-1] of the round before. One bit for each (t, s, i) says whether it came from elsewhere, so the path is
    found by going back. Equals stay: no switch is made for nothing.
Rounding
    The losses of the path are added exactly and rounded once. Between paths that differ by no more than the rounding of
    T additions, any may be taken; whole-number losses have no rounding.
Cost
    O(T N m) time; T N m / 8 bytes for the bits.
Reference
    [herbster1998] for the comparator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.errors import InputError, shown

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SwitchingPath:
    """A sequence of experts, one for each round, with its loss and how often it switches."""

    experts: NDArray[np.int64]
    loss: float
    switches: int


def best_path(losses: ArrayLike, switches: int) -> SwitchingPath:
    """The path with the least loss and at most so many switches."""
    table, most = _checked(losses, switches)
    rounds, experts = table.shape
    moved = np.zeros((rounds, most + 1, -(-experts // 8)), dtype=np.uint8)
    origin = np.zeros((rounds, most + 1), dtype=np.int64)
    d = np.repeat(table[:1], most + 1, axis=0)
    for t in range(1, rounds):
        where = np.argmin(d, axis=1)
        elsewhere = d[np.arange(most), where[:-1]][:, np.newaxis]
        better = elsewhere < d[1:]
        moved[t, 1:] = np.packbits(better, axis=1)
        origin[t] = where
        d[1:] = np.where(better, elsewhere, d[1:])
        d += table[t]
    path = np.empty(rounds, dtype=np.int64)
    s, i = most, int(np.argmin(d[most]))
    for t in range(rounds - 1, -1, -1):
        path[t] = i
        if moved[t, s, i >> 3] >> (7 - (i & 7)) & 1:
            s -= 1
            i = int(origin[t, s])
    loss = math.fsum(table[np.arange(rounds), path].tolist())
    return SwitchingPath(path, loss, int(np.count_nonzero(path[1:] != path[:-1])))


def least_losses(losses: ArrayLike, switches: int) -> Table:
    """The least loss with at most k switches, for k = 0 .. switches; summed in floats, round by round."""
    table, most = _checked(losses, switches)
    d = np.repeat(table[:1], most + 1, axis=0)
    for row in table[1:]:
        d[1:] = np.minimum(d[1:], d[:-1].min(axis=1)[:, np.newaxis])
        d += row
    found = d.min(axis=1)
    return np.append(found, np.full(switches - most, found[-1]))


def _checked(losses: ArrayLike, switches: int) -> tuple[Table, int]:
    """The table, and no more switches than there is room for."""
    table = np.ascontiguousarray(losses, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(f"losses must be a table, a row per round and a column per expert: got shape {table.shape}.")
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        t, i = wrong[0].tolist()
        raise InputError("a loss must be finite", f"has {table[t, i]}", round=t + 1, expert=i)
    if isinstance(switches, bool) or not isinstance(switches, (int, np.integer)) or switches < 0:
        raise InputError(f"switches must be a whole number, 0 or more: got {shown(switches)}.")
    return table, min(int(switches), len(table) - 1)
