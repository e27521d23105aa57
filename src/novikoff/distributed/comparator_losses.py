"""comparator_losses: the exact losses of linear comparators on a source, summed over its parts in parallel.

Algorithm
    The source is cut into parts (`Stream.parts`). Every part is read once, on the chosen executor (executors.py), and
    shown to the comparators; then the results of the parts are combined: losses are added, R is the largest R, and the
    least margin the least of all (comparators/exact_tally.py).
Promise
    Each margin is rounded down, and the sums are exact: however the source is cut, in whatever order parts are added,
    and on every executor, the facts are the same to the bit as those of one pass, and so is every certificate computed
    from them. With `game`, the comparators of that game see the rows again: a source that differs from that of the game
    is an error.
Cost
    One pass; a few million rows per second and core. Each part returns a few kilobytes, and never its rows.
Reference
    a bound holds for every u: [novikoff1962], [freund1999].
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
from novikoff.comparators.rereading import note_skipped, rows_of, two_labels
from novikoff.comparators.rounding import of_length
from novikoff.comparators.second_pass import again, same_sums
from novikoff.comparators.shards import merged
from novikoff.core.errors import InputError
from novikoff.core.executors import Count, Executor, Over, executor
from novikoff.core.stream import Stream
from novikoff.core.types import Source
from novikoff.data.as_stream import as_stream
from novikoff.data.tables.alignment import adopted
from novikoff.game.ledger import Ledger
from novikoff.linear.perceptron import Perceptron

Vector = NDArray[np.float64]

TOGETHER = 3
"""Number of comparators that one loop over a row scores (comparators/_loops/margins.py)."""


@dataclass(frozen=True, eq=False)
class ComparatorSums:
    """Losses of comparators on some rows; `facts()` returns them for theorems, and `+` adds those of other rows.

    Attributes:
        weights: Weights of each comparator, feature by feature, the bias weight last, in the single precision in which
            they were used. Nine lengths are considered, each twice the one before; the given length is the fifth.
        scorers: Sums of the comparators, three at a time.
        source: Name of the source.
        game: Game whose rows these are, if the sums were made for one.
    """

    weights: tuple[Vector, ...]
    scorers: tuple[LinearScorer, ...]
    source: str = ""
    game: Ledger | None = None

    @property
    def rows(self) -> int:
        """Number of rows seen."""
        return self.scorers[0].tally.rows

    def __add__(self, other: ComparatorSums) -> ComparatorSums:
        """Return the sums of the same comparators over the rows of both."""
        same = len(self.scorers) == len(other.scorers) and all(map(_alike, self.scorers, other.scorers))
        if not same:
            raise InputError("only sums with the same comparators, bias and normalize can be added: these differ.")
        added = tuple(map(_added, self.scorers, other.scorers))
        return ComparatorSums(self.weights, added, f"{self.source} and {other.source}")

    def facts(self) -> LinearComparatorFacts:
        """Return the facts for theorems; comparators are numbered from 1, and u = 0 is the first entry."""
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
        """Return the facts of the comparators of the game joined with these."""
        if self.game is not game:
            raise InputError("losses must be summed for the game that is certified: pass game= to comparator_losses.")
        return joined(tracked, self.facts())


def comparator_losses(
    source: Source,
    comparators: Sequence[ArrayLike],
    game: Ledger | None = None,
    bias: float = 0.0,
    normalize: bool = False,
    parts: int = 8,
    on: str | Executor = "threads",
    threads: int | None = None,
    progress: Count | None = None,
) -> ComparatorSums:
    """Sum the losses of linear comparators over the parts of a source.

    Args:
        source: Rereadable source that `play` accepts: path, file pattern, URL or arrays.
        comparators: Weights u, feature by feature, the bias weight last (0 without a bias); missing features have 0.
        game: Game of the Perceptron, one pass over this source, whose bias and normalize are then used; pass the result
            to `game.certify(comparators=...)`.
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm, before the constant feature is added.
        parts: Number of parts to read in parallel; a source that cannot be cut is one part.
        on: Executor of the parts: "threads", "ray", or the address of a Ray cluster.
        threads: Number of threads; None for one per core.
        progress: Callback that receives the number of finished parts and the number of all parts.

    Returns:
        The sums, from which theorems are evaluated.

    Example:
        >>> import novikoff as nk
        >>> x, y = [[1.0, 0.0], [0.0, 1.0]] * 10, [-1, 1] * 10
        >>> sums = nk.comparator_losses((x, y), [[-1.0, 1.0, 0.0]], parts=1, threads=1)
        >>> sums.rows
        20
    """
    vectors = [np.atleast_1d(np.array(u, np.float64)) for u in comparators]
    if not vectors or any(u.ndim != 1 or not np.all(np.isfinite(u)) for u in vectors):
        raise InputError("comparators must be one or more lists of finite numbers: got none, or other values.")
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
    note_skipped(stream, [skipped for _, skipped in found])
    if repr(before) != repr(stream.fingerprint()) or (game is not None and game.fingerprint not in (None, before)):
        raise InputError(CHANGED)
    if tracked is not None and echo is not None:
        echoes = [one[-1] for one in each]
        if not same_sums(tracked, echoes, merged(echoes)):
            raise InputError(OTHERS)
    first, *others = (one[: len(scorers)] for one in each)
    for one in others:
        first = list(map(_added, first, one))
    weights = [u for scorer in first for u in scorer.directions()][: len(vectors)]
    return ComparatorSums(tuple(weights), tuple(first), stream.name, game)


def placed(vectors: Sequence[Vector], bias: float, normalize: bool) -> LinearScorer:
    """Return a scorer of up to three comparators that has seen no rows."""
    three = [*vectors, *([np.zeros(1)] * (TOGETHER - len(vectors)))]
    fresh = LinearScorer.placed(three, [], 1.0, bias, normalize)
    scales = [float(np.max(np.abs(of_length(u, 1))) / np.max(np.abs(u))) if u.any() else 1.0 for u in three]
    exact: Any = ExactTally(scales)
    return LinearScorer(fresh.U, fresh.bias_weights, exact, bias, normalize)


def _show(over: Over, part: Stream, scorers: Sequence[LinearScorer]) -> tuple[list[LinearScorer], Any]:
    """Return the comparators after they saw the rows of a part, and the bad rows that were skipped."""
    copies = [copy.deepcopy(scorer) for scorer in scorers]
    for batch in part.batches():
        if over():
            raise InterruptedError
        x, y = rows_of(batch)
        for scorer in copies:
            scorer.see(x, y, np.zeros(len(y), np.bool_))
    return copies, list(part.skipped)


def _of_game(game: Ledger) -> LinearComparatorFacts:
    """Return the facts of the comparators of a game; raise an error if sums cannot be made for it."""
    tracker = game.tracker
    if not isinstance(tracker, LinearTracker) or game.player.changes_examples:
        raise InputError("comparator_losses needs a game of the Perceptron that tracks comparators, without scaling.")
    if game.passes != 1 or tracker.start is not None:
        raise InputError(f"comparator_losses needs a game of one pass from zero weights: got {game.passes} passes.")
    return tracker.facts()


def _alike(one: LinearScorer, other: LinearScorer) -> bool:
    """Return whether two scorers have the same comparators."""
    arrays = ((one.U, other.U), (one.bias_weights, other.bias_weights), (one.tally.edges, other.tally.edges))
    plain = one.bias == other.bias and one.normalize == other.normalize
    return plain and all(np.array_equal(a, b) for a, b in arrays)


def _added(one: LinearScorer, other: LinearScorer) -> LinearScorer:
    """Return a scorer of the rows of both."""
    both, tally = copy.copy(one), cast(Any, copy.deepcopy(one.tally))
    tally.merge(other.tally)
    both.tally = tally
    both.longest = np.maximum(one.longest, other.longest)
    both.nonzeros, both.empty = max(one.nonzeros, other.nonzeros), one.empty and other.empty
    return both
