"""comparator_losses: what linear comparators lose on a source, summed over its parts by whoever reads them, exactly.

Algorithm
    The source is cut into parts (`Stream.parts`). Every part is read once, where it is asked to be (executors.py), and
    shown to the comparators; what each part showed is added up: losses are sums, R is the largest, and the least margin
    the least (comparators/exact_tally.py).
Promise
    The sums are exact, of margins that are each rounded down: however the source is cut, in whatever order parts are
    added, and whoever reads them, the facts are the same to the bit as those of one pass, and so is every certificate
    that is made of them. Summed for a game, its own comparators are shown the rows again: a source that is not that of
    the game is refused.
Cost
    One pass; a few million rows a second on a core. Of every part a few kilobytes come back: rows never do.
Reference
    any u will do: [novikoff1962], [freund1999].
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.exact_tally import ExactTally
from novikoff.comparators.hindsight import CHANGED, OTHERS, joined
from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.linear_tracker import LinearComparatorFacts, LinearTracker
from novikoff.comparators.rereading import rows_of, tell_skipped, two_labels
from novikoff.comparators.rounding import of_length
from novikoff.comparators.second_pass import again, the_same
from novikoff.comparators.shards import merged
from novikoff.core.errors import InputError
from novikoff.core.executors import Count, Executor, Over, executor
from novikoff.core.stream import Stream
from novikoff.data.as_stream import as_stream
from novikoff.data.tables.alignment import adopted
from novikoff.game.ledger import Ledger
from novikoff.linear.perceptron import Perceptron

Vector = NDArray[np.float64]

TOGETHER = 3
"""Comparators that one loop over a row scores (comparators/_loops/margins.py)."""


@dataclass(frozen=True, eq=False)
class ComparatorSums:
    """What comparators lose on some rows: `facts()` for theorems, and `+` for those of other rows.

    weights    of each comparator, feature by feature, the weight of the bias last, as it was shown the rows: in single
               precision. It is looked at in nine lengths, each twice as long as the one before; its own is the fifth
    rows       that were seen
    game       whose rows they are, if they were summed for one
    """

    weights: tuple[Vector, ...]
    scorers: tuple[LinearScorer, ...]
    source: str = ""
    game: Ledger | None = None

    @property
    def rows(self) -> int:
        """How many were seen."""
        return self.scorers[0].tally.rows

    def __add__(self, other: ComparatorSums) -> ComparatorSums:
        """The same comparators on the rows of both."""
        mine, theirs = self.scorers, other.scorers
        same = len(mine) == len(theirs) and all(map(_alike, mine, theirs))
        if not same:
            raise InputError("sums must be of the same comparators, bias and normalize, to be added: they are not.")
        return ComparatorSums(self.weights, tuple(map(_added, mine, theirs)), f"{self.source} and {other.source}")

    def facts(self) -> LinearComparatorFacts:
        """What theorems need to know of them; each comparator counts from 1, u = 0 is the first."""
        first, reason = self.scorers[0], self.scorers[0].invalid_reason
        found = [next(iter(first.comparators(None)))]
        for number, scorer in enumerate(self.scorers if not reason else ()):
            found += [replace(u, direction=u.direction + TOGETHER * number)
                      for u in scorer.comparators(None) if u.direction]  # fmt: skip
        return LinearComparatorFacts(
            rows=self.rows, mistakes=0, square=Fraction(0) if reason else first.square(), mistakes_square=Fraction(0),
            comparators=tuple(found), invalid_reason=reason, nonzeros=first.nonzeros, start_square=Fraction(0),
            bias=first.bias, normalize=first.normalize, top=0, directions=self.weights,
        )  # fmt: skip

    def joined(self, game: Ledger, tracked: Any) -> LinearComparatorFacts:
        """The comparators that watched the game, and these."""
        if self.game is not game:
            raise InputError(
                "comparators must be summed for the game that is certified: pass game= to comparator_losses."
            )
        return joined(tracked, self.facts())


def comparator_losses(
    source: object,
    comparators: Sequence[ArrayLike],
    game: Ledger | None = None,
    bias: float = 0.0,
    normalize: bool = False,
    parts: int = 8,
    on: str | Executor = "threads",
    threads: int | None = None,
    progress: Count | None = None,
) -> ComparatorSums:
    """What linear comparators lose on a source, summed over its parts.

    source            what `play` takes that can be read again: a path, a pattern of files, a URL, arrays
    comparators       weights u, feature by feature, that of the bias last (0 without a bias); features beyond have 0
    game              a game of the Perceptron, one pass over this source: `game.certify(comparators=...)` takes the
                      sums; bias and normalize are then its own
    bias, normalize   x~ is x, of length 1 if `normalize`, and then the constant `bias` if it is not 0
    parts             how many are read by themselves; sources that cannot be cut are one
    on, threads       who reads them: "threads" and how many, "ray", or the address of a cluster of Ray
    progress          called with the parts done, and of all
    """
    vectors = [np.atleast_1d(np.array(u, np.float64)) for u in comparators]
    if not vectors or any(u.ndim != 1 or not np.all(np.isfinite(u)) for u in vectors):
        raise InputError("comparators must be lists of finite numbers, at least one: got others.")
    stream, tracked = as_stream(source, Perceptron()), None
    if game is not None:
        tracked, stream = _of_game(game), adopted(stream, game.encoding, game.feature_names)
        bias, normalize = tracked.bias, tracked.normalize
    two_labels(stream, "a sum over parts")
    scorers = [placed(vectors[k : k + TOGETHER], bias, normalize) for k in range(0, len(vectors), TOGETHER)]
    echo = None if tracked is None or tracked.invalid_reason else again(tracked)
    shown = [*scorers, *([] if echo is None else [echo])]
    before = stream.fingerprint()
    cut = [stream] if parts == 1 else stream.parts(parts)
    found = executor(on, threads).map(_show, cut, shown, progress=progress)
    each = [scorers for scorers, _ in found]
    tell_skipped(stream, [skipped for _, skipped in found])
    if repr(before) != repr(stream.fingerprint()) or (game is not None and game.fingerprint not in (None, before)):
        raise InputError(CHANGED)
    if tracked is not None and echo is not None:
        theirs = [one[-1] for one in each]
        if not the_same(tracked, theirs, merged(theirs)):
            raise InputError(OTHERS)
    first, *others = (one[: len(scorers)] for one in each)
    for one in others:
        first = list(map(_added, first, one))
    weights = [u for scorer in first for u in scorer.directions()][: len(vectors)]
    return ComparatorSums(tuple(weights), tuple(first), stream.name, game)


def placed(vectors: Sequence[Vector], bias: float, normalize: bool) -> LinearScorer:
    """Up to three comparators, which have seen nothing yet."""
    three = [*vectors, *([np.zeros(1)] * (TOGETHER - len(vectors)))]
    fresh = LinearScorer.placed(three, [], 1.0, bias, normalize)
    scales = [float(np.max(np.abs(of_length(u, 1))) / np.max(np.abs(u))) if u.any() else 1.0 for u in three]
    exact: Any = ExactTally(scales)
    return LinearScorer(fresh.U, fresh.bias_weights, exact, bias, normalize)


def _show(over: Over, part: Stream, scorers: Sequence[LinearScorer]) -> tuple[list[LinearScorer], Any]:
    """What comparators see of a part, and the bad rows that were skipped."""
    mine = [copy.deepcopy(scorer) for scorer in scorers]
    for batch in part.batches():
        if over():
            raise InterruptedError
        x, y = rows_of(batch)
        for scorer in mine:
            scorer.see(x, y, np.zeros(len(y), np.bool_))
    return mine, list(part.skipped)


def _of_game(game: Ledger) -> LinearComparatorFacts:
    """What the comparators of a game saw, if it can be summed for."""
    tracker = game.tracker
    if not isinstance(tracker, LinearTracker) or game.player.changes_examples:
        raise InputError("sums are for a game of the Perceptron that tracks comparators, on rows as they are.")
    if game.passes != 1 or tracker.start is not None:
        raise InputError(f"sums are for a game of one pass that began with zero weights: got {game.passes} passes.")
    return tracker.facts()


def _alike(one: LinearScorer, other: LinearScorer) -> bool:
    arrays = ((one.U, other.U), (one.bias_weights, other.bias_weights), (one.tally.edges, other.tally.edges))
    plain = one.bias == other.bias and one.normalize == other.normalize
    return plain and all(np.array_equal(a, b) for a, b in arrays)


def _added(one: LinearScorer, other: LinearScorer) -> LinearScorer:
    """What both saw."""
    both, tally = copy.copy(one), cast(Any, copy.deepcopy(one.tally))
    tally.merge(other.tally)
    both.tally = tally
    both.longest = np.maximum(one.longest, other.longest)
    both.nonzeros, both.empty = max(one.nonzeros, other.nonzeros), one.empty and other.empty
    return both
