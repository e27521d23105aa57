"""Gradient-boosted trees that are refitted to the stored rows at growing intervals.

Algorithm
    Refits begin at round 32, then whenever the number of rounds has grown by a quarter; with a window of R rows, every
    R/2 rounds. A refit starts from scratch on the stored rows: a constant, then K boosting rounds of one tree per
    output (trees/_loops/boosting.py). Its work is spread over the next rounds of the game, up to about 8 ms each; then
    the new trees replace the old ones. Nothing else changes between refits. The forecasts are the scores after some
    numbers of boosting rounds, such as 15, 30 and 60. Before the first trees, the forecast is the frequency of the
    labels, or the mean outcome.
Promise
    None: it is a forecaster for mixtures, whose theorems hold for any function of the past.
Cost
    Amortised O(K d) per row and output; 60 trees of 24 leaves on 20 columns took about 30 microseconds per row.
Reference
    [friedman2001] for boosting, [ke2017] for histograms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.state import MOST_ROUNDS, Array, Count, Field, Stateful, array, require
from novikoff.core.types import State
from novikoff.numerics.records import astuple
from novikoff.trees import _loops
from novikoff.trees._loops.boosting_layout import CHUNK, DONE, SAMPLE, SOFTMAX, SQUARED, Settings, Trees, Work
from novikoff.trees._loops.layout import BINS, STRIDE
from novikoff.trees.bins import Edges
from novikoff.trees.paths import by_column
from novikoff.trees.store import TOGETHER, RowStore

Loss = Literal["logistic", "softmax", "squared"]
LOSSES: tuple[Loss, ...] = ("logistic", "softmax", "squared")

FIRST = 32
"""Round of the first refit."""
GROWTH = 1.25
"""Ratio of the rounds at which consecutive refits begin."""
MOST_OUTPUTS = 32
"""Largest number of labels for which trees are fitted: every boosting round fits one tree per label."""
SORTING = 20_000, 12
"""Estimated nanoseconds of finding the edges of a column, and those per row of the sample in addition."""
SHARE = 4_000_000
"""Work of a refit per round of the game, in nanoseconds as estimated by `Boosting.work`."""


@dataclass(frozen=True)
class Boosting:
    """Constants of boosted trees.

    Attributes:
        loss: Loss that is minimised.
        rounds: Boosting rounds; each fits one tree per output.
        leaves: Largest number of leaves of a tree.
        rate: Learning rate.
        ridge: Added to the curvature of a leaf; it shrinks the leaf's value.
        least: Fewest rows on either side of a cut.
        gain: A cut must gain more than this.
        rows: Fraction of the rows drawn for each round.
        prefixes: Numbers of boosting rounds after which the scores are forecasts.
        fine: Subtracted from the gain of a cut on categories, per category beyond the second.
        window: Number of latest rows to fit; 0 for all that are stored.
    """

    loss: Loss
    rounds: int = 60
    leaves: int = 24
    rate: float = 0.15
    ridge: float = 2.0
    least: int = 5
    gain: float = 0.5
    rows: float = 0.5
    prefixes: tuple[int, ...] = (15, 30, 60)
    fine: float = 0.5
    window: int = 0

    def drawn(self, columns: int) -> int:
        """Return the number of columns drawn for each tree: half of them, but at least eight, or all of fewer."""
        return max((columns + 1) // 2, min(columns, 8))

    def work(self, rows: int, columns: int, outputs: int) -> int:
        """Return a rough estimate of the nanoseconds of a refit.

        It depends on sizes only, never on a clock, so that every machine spreads a refit over the same rounds.
        """
        by_row = 10 + int(6 * self.rows * self.drawn(columns))
        by_leaf = 6 * self.drawn(columns) * BINS
        return self.rounds * outputs * (rows * by_row + self.leaves * by_leaf)

    def record(self, columns: int) -> Settings:
        """Return the settings for the compiled loop."""
        return Settings(
            LOSSES.index(self.loss), self.rounds, self.leaves, self.rate, self.ridge, self.least, self.gain, self.fine,
            self.rows, self.drawn(columns),
        )  # fmt: skip


TWO_LABELS = Boosting("logistic")
"""Constants for two labels."""
WINDOW = Boosting("logistic", rounds=30, leaves=12, rate=0.3, prefixes=(30,), window=2000)
"""Constants for two labels on the last 2,000 rows, to follow drift."""
MANY_LABELS = Boosting("softmax", leaves=8, rate=0.2, ridge=0.5, least=2, gain=0.0)
"""Constants for many labels."""
NUMBERS = Boosting("squared", rounds=100, leaves=16, rate=0.1, least=3, gain=1.0, rows=0.7, prefixes=(25, 50, 100))
"""Constants for regression."""
RESIDUALS = Boosting("squared", rounds=60, leaves=16, rate=0.1, least=3, gain=2.0, rows=0.7, prefixes=(20, 60))
"""Constants for the residuals of another forecaster."""


@dataclass(frozen=True)
class _TreeArrays(Field):
    """The arrays of fitted trees; every cut is on a known column, and every child comes after its parent."""

    def pack(self, value: Any, owner: object) -> object:
        return {name: part.copy() for name, part in value._asdict().items()}

    def unpack(self, state: State, owner: Any, of: str) -> object:
        count, outputs = len(owner.sums), state["outputs"]
        known = count >= outputs if owner.settings.loss == "softmax" else count == outputs
        require(known, f"sums of {of} must have a number per output", owner.sums)
        saved, empty = state[self.name], no_trees(owner.settings, outputs)
        parts = {
            name: array(saved, name, part.shape, part.dtype, name != "cut", f"trees of {of}")
            for name, part in empty._asdict().items()
        }
        trees = Trees(**parts)
        inner, nodes = trees.column >= 0, trees.column.shape[1]
        later = (trees.left > np.arange(nodes)) & (trees.left + 1 < nodes)
        require(bool(later[inner].all()), f"children of {of} must come after their parents", trees.left)
        known = int(trees.column.max(initial=-1)) < len(owner.kinds)
        require(known, f"cuts of {of} must be on known columns", trees.column)
        return trees


class BoostedTrees(Stateful):
    """Boosted trees that follow a stream.

    Args:
        settings: Constants.
        seed: Seed of the drawn rows and columns.
        skipped: Number of leading columns of the stored rows that are not features.
        base: Column of the stored rows with the score to which trees are added; None for a score of 0.

    Attributes:
        rounds: Rows seen.
        fitted: Number of rows to which the current trees were fitted; 0 before the first.
        next: Round at which the next refit begins.
        began: Round at which the refit in progress began; -1 if there is none.
        build_first: Number of its first row.
        build_labels: Number of outputs of its trees.
        build_kinds: (columns,) Kinds of its columns.
        sums: Number of rows of each label (two labels: of label 1), or the sum of outcome - base.
        kinds: (columns,) 0 for numbers, 1 for categories, of the current trees.
        trees: Current trees.
    """

    described = "boosted trees"
    fields = (
        Count("rounds"),
        Count("fitted", most="rounds"),
        Count("refits", most="rounds"),
        Count("next", 1),
        Count("began", -1, "rounds"),
        Count("build_first", most="began", when="building"),
        Count("build_labels", 1, MOST_OUTPUTS, when="building"),
        Array("build_kinds", (None,), np.int8, nonnegative=True, most=1, when="building"),
        Array("sums", (None,)),
        Array("kinds", (None,), np.int8, nonnegative=True, most=1),
        Count("outputs", 1, MOST_OUTPUTS, assigned=False),
        _TreeArrays("trees"),
    )

    def __init__(self, settings: Boosting, seed: int = 0, skipped: int = 0, base: int | None = None) -> None:
        if base is not None and settings.loss != "squared":
            raise InputError(f"a base needs the squared loss: got the {settings.loss} loss.")
        self.settings, self.seed, self.skipped, self.base = settings, seed, skipped, base
        self.rounds = self.fitted = self.refits = 0
        self.next, self.began = FIRST, -1
        self.build_first, self.build_labels, self.build_kinds = 0, 1, np.zeros(0, np.int8)
        self.sums, self.kinds = np.zeros(1), np.zeros(0, np.int8)
        self.trees = no_trees(settings, 1)
        self._build: _Build | None = None
        self._prefixes = np.array(settings.prefixes)

    @property
    def outputs(self) -> int:
        """Number of outputs of the current trees."""
        return len(self.trees.bias)

    def play(self, rows: RowStore, count: int, kinds: NDArray[np.int8], labels: int = 1) -> NDArray[np.float64]:
        """Forecast the next `count` stored rows, each before its outcome, and learn them.

        Args:
            rows: Stored rows, these included.
            count: Number of rows.
            kinds: (d,) 0 for numbers, 1 for categories.
            labels: Number of labels known before these rows, if the loss is softmax. Only the last row may have a
                new label.

        Returns:
            (rows, prefixes, outputs) scores, base included.
        """
        scores = np.empty((count, len(self._prefixes), labels))
        if labels >= len(self.sums) and self.settings.loss == "softmax":
            self.sums = np.append(
                self.sums, np.zeros(labels + 1 - len(self.sums))
            )  # room for a new label in the last row
        done = 0
        while done < count:
            if self._build is None and self.rounds >= self.next:
                self._begin(rows, kinds, labels)
            event = self.next if self._build is None else self._build.takeover
            stop = min(count, done + event - self.rounds)
            here = np.arange(self.rounds, self.rounds + stop - done) % len(rows.x)
            self._scores(rows.x[here], scores[done:stop], rows.y[here])
            self.rounds += stop - done
            done = stop
            if self._build is not None and self._build.advance(rows, self.rounds):
                self.trees, self.kinds, self.fitted = self._build.trees, self._build.kinds, self._build.count
                self._build, self.began = None, -1
        return scores

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the gain of the cuts on each column (columns,), in the loss that the trees minimise."""
        trees, nodes = np.nonzero(self.trees.column >= 0)
        return by_column(self.trees.column[trees, nodes], self.trees.gains[trees, nodes], columns)

    def look(self, x: NDArray[np.float64], labels: int = 1) -> NDArray[np.float64]:
        """Return the (rows, prefixes, outputs) scores of rows without learning."""
        scores = np.empty((len(x), len(self._prefixes), labels))
        self._scores(x, scores, np.zeros(0))
        return scores

    def _scores(self, x: NDArray[np.float64], scores: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Write the scores of rows; add their outcomes, if there are any, to the sums."""
        base = np.zeros(len(x)) if self.base is None else x[:, self.base]
        if self.fitted:
            known = scores[:, :, : len(self.trees.bias)]
            _loops.boosting.forecast(astuple(self.trees), self.kinds, x, self.skipped, self._prefixes, known)
            # Labels without trees get the score of one that was never seen among the fitted rows.
            scores[:, :, known.shape[2] :] = np.log(0.5 / (self.fitted + 0.5 * scores.shape[2]))
            self._count(y, base)
        else:
            for t in range(len(x)):
                scores[t] = self._constants(self.rounds + (t if len(y) else 0), scores.shape[2])
                self._count(y[t : t + 1], base[t : t + 1])
        if self.base is not None:
            scores += base[:, None, None]

    def _constants(self, count: int, outputs: int) -> NDArray[np.float64]:
        """Return the scores (outputs,) without trees: from the sums of `count` rows."""
        sums = self.sums[:outputs]
        if self.settings.loss == "squared":
            return sums / max(count, 1)
        rest = count + 0.5 * outputs if self.settings.loss == "softmax" else count - sums + 0.5
        scores: NDArray[np.float64] = np.log((sums + 0.5) / rest)
        return scores

    def _count(self, y: NDArray[np.float64], base: NDArray[np.float64]) -> None:
        """Add the outcomes of rows to the sums."""
        if self.settings.loss == "softmax":
            np.add.at(self.sums, y.astype(np.int64), 1.0)
        elif len(y):
            self.sums[0] = np.cumsum(np.append(self.sums, y - base))[-1]  # in their order

    def _begin(self, rows: RowStore, kinds: NDArray[np.int8], labels: int) -> None:
        """Begin a refit on the stored rows, if there are enough of them."""
        window, now = self.settings.window, self.rounds
        if labels > MOST_OUTPUTS:
            self.next = MOST_ROUNDS  # the trees of the first labels remain
            return
        self.next = max(now + 1, int(now * GROWTH))
        if window:
            self.next = min(self.next, now + window // 2)
        first = max(rows.first, now - min(window or rows.window, rows.window))
        if now - first >= min(FIRST, now) and 2 * (now - first) >= min(self.fitted, window or self.fitted):
            self.began, self.refits = now, self.refits + 1
            self.build_first, self.build_kinds, self.build_labels = first, kinds.copy(), labels
            self._build = _Build(self, rows)

    def resume(self, rows: RowStore) -> None:
        """Repeat the work of the refit that was in progress when the state was saved.

        It is dropped if its rows were not saved.
        """
        require(self.rounds <= rows.count, "boosted trees must not have seen more rows than the store", self.rounds)
        if self.building and self.build_first >= rows.first:
            self._build = _Build(self, rows)
            self._build.advance(rows, self.rounds)
        else:
            self.began = -1

    @property
    def building(self) -> bool:
        """Whether a refit is in progress."""
        return self.began >= 0


class _Build:
    """A refit in progress.

    Attributes:
        trees: Trees, complete at the takeover.
        takeover: Round from which the new trees forecast.
        count: Number of rows that are fitted.
    """

    def __init__(self, owner: BoostedTrees, rows: RowStore) -> None:
        settings, first, labels, self.kinds = owner.settings, owner.build_first, owner.build_labels, owner.build_kinds
        count, columns = owner.began - first, len(self.kinds)
        self.first, self.count, self.began = first, count, owner.began
        self.skipped, self.settings = owner.skipped, settings.record(columns)
        # The store keeps the rows of a build for TOGETHER rounds.
        share = min(settings.work(count, columns, labels) // SHARE, count // 8, TOGETHER)
        self.takeover = owner.began + max(1, share)
        # One unit is about a split. Before the trees: the edges of each column, chunks of codes, the bias.
        self.steps, self.chunks = 0, -(-count // CHUNK)
        splits = settings.rounds * labels * (settings.leaves + 1)
        sorting = SORTING[0] + SORTING[1] * min(count, SAMPLE)
        self.sorted = max(1, sorting * splits // max(1, settings.work(count, columns, labels)))
        self.prepared = self.sorted * columns + columns * self.chunks + 1
        self.units = self.prepared + splits
        self.trees = no_trees(settings, labels)
        here = np.arange(first, owner.began) % len(rows.x)
        self.base = np.zeros(count) if owner.base is None else rows.x[here, owner.base]
        nodes, drawn, scores = 2 * settings.leaves - 1, self.settings.columns, np.empty((labels, count))
        start = np.random.default_rng([owner.seed, owner.refits]).integers(2**63, dtype=np.uint64)
        self.work = Work(
            np.zeros(6, np.int64), np.array([start]), np.empty((columns, count), np.uint8),
            *Edges.none(columns), rows.y[here], scores, scores if settings.loss == "squared" else np.empty_like(scores),
            np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32), np.empty((2, count)),
            np.empty((2, count)), np.empty(columns, np.int64), np.empty((settings.leaves, drawn, STRIDE * BINS)),
            np.empty((nodes, 3), np.int64), np.empty((nodes, 4)), np.zeros((nodes, 2), np.uint64),
            np.empty(BINS, np.int64), np.empty((6, BINS)), np.zeros(STRIDE * BINS), np.ones(1),
        )  # fmt: skip

    def advance(self, rows: RowStore, now: int) -> bool:
        """Do the work that is due after `now` rounds; return whether the trees take over."""
        until = -(-self.units * (now - self.began) // (self.takeover - self.began))
        work = self.work
        while work.counters[DONE] < min(until, self.prepared):
            work.counters[DONE] += self._prepare(rows, self.steps)
            self.steps += 1
        if until > self.prepared:
            _loops.boosting.advance(
                astuple(work), astuple(self.trees), astuple(self.settings), self.kinds, self.prepared, until
            )
        return now == self.takeover

    def _prepare(self, rows: RowStore, step: int) -> int:
        """Do one step of the work before the first tree; return its units."""
        work, columns = self.work, len(self.kinds)
        if step < columns:
            if self.kinds[step] == 0:
                some = np.arange(self.first, self.began, max(1, self.count // SAMPLE)) % len(rows.x)
                Edges(work.edges, work.edge_counts).find(step, rows.x[some, self.skipped + step])
            return self.sorted
        if step < columns + self.chunks:
            begin = CHUNK * (step - columns)
            stop = min(begin + CHUNK, self.count)
            _loops.codes.code(rows.x, self.skipped, self.kinds, work.edges, self.first, begin, stop, work.codes)
            return columns
        self._find_bias()
        return 1

    def _find_bias(self) -> None:
        """Set the bias of each output to the best constant on these rows, and all scores to the bias plus the base."""
        work, bias = self.work, self.trees.bias
        if self.settings.loss == SQUARED:
            bias[0] = (work.target - self.base).mean()
        elif self.settings.loss == SOFTMAX:
            counts = np.bincount(work.target.astype(np.int64), minlength=len(bias))
            bias[:] = np.log((counts + 0.5) / (self.count + 0.5 * len(bias)))
        else:
            ones = float(work.target.sum())
            score = math.log((ones + 0.5) / (self.count - ones + 0.5))
            for _ in range(4):  # Newton steps; the first is small
                p = 1.0 / (1.0 + math.exp(-score))
                step = (self.count * p - ones) / (self.count * p * (1.0 - p) + 1e-3)
                score -= min(max(step, -4.0), 4.0)
            bias[0] = score
        work.scores[:] = bias[:, None] + self.base


def no_trees(settings: Boosting, outputs: int) -> Trees:
    """Return arrays of trees without a cut."""
    shape = settings.rounds * outputs, 2 * settings.leaves - 1
    return Trees(
        np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape, np.int32), np.zeros(shape, np.int8),
        np.zeros((*shape, 2), np.uint64), np.zeros(shape), np.zeros(shape), np.zeros(outputs),
    )  # fmt: skip
