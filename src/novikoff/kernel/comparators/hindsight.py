"""Comparators of a kernel learner in hindsight: the widest margin over all rows of a stream that can be read again.

Algorithm
    The stream is read as often as the search needs (kernel/comparators/separation.py); rows are held if they fit in
    memory. Then it is read once more, and the function found is evaluated on every row, next to the comparators of the
    game.
Promise
    The separator comes from the last reading only. If the stream changed, or the comparators of the game have other
    sums on it than they had in the game, it is not used.
Cost
    A few readings; `memory` bytes; MOST_CORNERS^2 numbers.
Reference
    [aizerman1964]; [wolfe1976] for the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from novikoff.comparators.blocks import MEMORY
from novikoff.comparators.hindsight import CHANGED, OTHERS
from novikoff.comparators.limits import Bracket, down, up
from novikoff.comparators.rereading import fingerprint, whole
from novikoff.comparators.rounding import root
from novikoff.comparators.rows import Labels, Rows, sizes
from novikoff.comparators.separation import Chunk
from novikoff.comparators.tally import Comparator, Tally
from novikoff.comparators.witness import Witness
from novikoff.core.stream import Stream
from novikoff.core.types import Sparse
from novikoff.kernel.comparators.functions import KernelScorer
from novikoff.kernel.comparators.separation import WORK_PATIENT, scorer_of, separate_chunks, widest_of
from novikoff.kernel.comparators.tracker import KernelComparatorFacts, KernelTracker
from novikoff.numerics.clock import clock

SIZE = 1_024
"""Number of rows of a chunk."""
ROUNDED = Fraction(1, 2**20)
"""Relative difference of losses that rounding explains."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelHindsight:
    """Separator of a kernel learner found in hindsight.

    Attributes:
        separator: Function with the widest margin; None if none was found.
        witness: Proof that no function separates the rows; None if there is none.
        margin: Bracket of the widest margin of a function of length 1.
        rows: Number of rounds.
        points: Number of rows that the separator consists of.
        reads: Number of times the stream was read.
        flaw: Reason why the result is not used; "" if it is.
        space: Feature space of the witness, if it is not that of the examples (`Kernel.space`).
        seconds: Duration.
    """

    separator: Comparator | None
    witness: Witness | None
    margin: Bracket
    rows: int
    points: int
    reads: int
    flaw: str
    space: str
    seconds: float

    def joined(self, tracked: KernelComparatorFacts) -> KernelComparatorFacts:
        """Return the facts of the comparators during the game with the separator and the witness."""
        if self.flaw or tracked.invalid_reason or self.rows != tracked.rows:
            return tracked
        last = max((u.direction for u in tracked.comparators), default=0)
        more = () if self.separator is None else (replace(self.separator, direction=last + 1),)
        return replace(tracked, comparators=tracked.comparators + more, witness=tracked.witness or self.witness)


def look_again(
    tracker: KernelTracker, stream: Stream, passes: int, rounds: int | None, names: Mapping[str, int] | None,
    played: object, memory: int = MEMORY,
) -> KernelHindsight:  # fmt: skip
    """Find the separator with the widest margin for a game that was played on this stream.

    Args:
        tracker: Tracker of the game.
        stream: Stream of the game, which can be read again.
        passes: Number of passes of the game.
        rounds: Number of rounds played, if not the whole stream.
        names: Position of each named feature.
        played: Fingerprint of the stream when it was played, if it has one.
        memory: Bytes of rows to hold in memory.
    """
    began, tracked = clock(), tracker.facts()
    reads, before = 0, fingerprint(stream)

    def parts() -> Iterator[tuple[Rows, Labels]]:
        nonlocal reads
        reads += 1
        return whole(stream, rounds, dict(names or {}))

    found = separate_chunks(tracker.similarity, _chunks(parts, memory), WORK_PATIENT)
    scorer, old = scorer_of(tracker.similarity, found), tracker._now()
    echo = KernelScorer(old.similarity, old.points, old.betas, Tally(old.tally.directions, old.tally.top))
    rows = 0
    for x, y in parts():
        rows += len(y)
        for one in [echo] if scorer is None else [echo, scorer]:
            one.see(x, y, np.zeros(len(y), np.bool_))
    after = fingerprint(stream)
    flaw = tracked.invalid_reason or echo.invalid_reason
    if len({repr(before), repr(after), repr(played or before)}) > 1:
        flaw = CHANGED
    elif not flaw and not (passes * rows == tracked.rows and _same(old, echo, passes)):
        flaw = OTHERS
    widest = None if flaw or scorer is None else widest_of(scorer)
    witness = None if flaw else found.witness
    low = 0.0 if widest is None else down(1 / root(widest.square))
    high = 0.0 if witness is not None else math.inf if scorer is None or flaw else _limit(scorer)
    return KernelHindsight(widest, witness, Bracket(low, high), passes * rows, 0 if scorer is None else
                           len(scorer.points), reads, flaw, tracker.similarity.space, clock() - began)  # fmt: skip


def _limit(scorer: KernelScorer) -> float:
    """Return a margin that no function of length 1 exceeds: the length of a mean of signed rows."""
    total = math.fsum(np.abs(scorer.betas[0]).tolist()) * (1.0 - 2.0**-50)
    return up(root(scorer.norms2[0]) / Fraction(total)) if total > 0.0 else math.inf


def _same(old: KernelScorer, echo: KernelScorer, passes: int) -> bool:
    """Return whether the comparators of the game have the same losses on the rows that were read."""
    for k in range(old.tally.directions):
        for (_, there, _), (_, here, _) in zip(old.tally.losses(k), echo.tally.losses(k), strict=False):
            if abs(passes * here - there) > ROUNDED * (old.tally.rows + there):
                return False
    return abs(old.longest - echo.longest) <= float(ROUNDED) * old.longest


def _chunks(parts: Callable[[], Iterator[tuple[Rows, Labels]]], memory: int) -> Callable[[], Iterator[Chunk]]:
    """Return a function that yields the rows in chunks, which are held if they fit in memory."""
    held: list[Chunk] | None = None

    def read() -> Iterator[Chunk]:
        nonlocal held
        if held is not None:
            yield from held
            return
        kept: list[Chunk] | None = []
        first = size = 0
        for x, y in parts():
            for start in range(0, len(y), SIZE):
                part, labels = x[start : start + SIZE], y[start : start + SIZE].copy()
                rows = part.copy(np.float64) if isinstance(part, Sparse) else np.array(part, dtype=np.float64)
                size += int(sizes(rows).sum())
                chunk = Chunk(rows, labels, first + start)
                kept = None if kept is None or size > memory else [*kept, chunk]
                yield chunk
            first += len(y)
        held = kept

    return read
