"""Ellipsoid method: an ellipsoid contains every consistent target, and each mistake cuts it in half.

Algorithm
    An ellipsoid with centre w that contains a target, at first the unit ball. Predict +1 if <w,x~> >= 0, else -1.
    On a mistake, replace it by the smallest ellipsoid around its half where y<v-w,x~> >= 0. With A = J J' its matrix,
        p = J'x~/||J'x~||,  v = J p,  b = sqrt((d-1)/(d+1)),
        w <- w + y v/(d+1),  J <- sqrt(d^2/(d^2-1)) (J - (1-b) v p').
    d = 1: w <- w + y v/2, J <- J/2. A is never stored: cancellation in its updates can make x'Ax negative, which
    cannot happen with J.
    `cuts="deep"` cuts at y<v,x~> >= 0, that is alpha = -y<w,x~>/||J'x~|| beyond the centre; `margin` m > 0 at
    y<v,x~> >= m ||x~||: w <- w + y (1+d alpha) v/(d+1), b^2 = (d-1)(1-alpha)/((d+1)(1+alpha)), and J shrinks by
    sqrt(1-alpha^2) more. Alpha is rounded down.
    `bias` c adds a constant feature of value c; `normalize` divides each x by its norm first, which changes nothing
    without a bias: only directions matter, and x~ is scaled before every update.
    x~ = 0 is predicted +1 and cannot be learned. An update that doubles cannot represent is skipped, and the theorems
    become void: if alpha is 1 or more (nothing is left), or if the ellipsoid is too thin. Whenever the number of
    updates has doubled, ln|det J| is compared with its exact value; after a mismatch the theorems stay void.
    The width is `width`, or that of the first example (of the first batch, for sparse examples).
Promise
    linear/theorems/ellipsoid_margin.py: M <= 2d(d+1) ln(1 + 1/g), g the normalised margin of any u.
    linear/theorems/ellipsoid_given_margin.py for `margin`; linear/theorems/ellipsoid_grid.py for `grid` n: target and
    examples are vectors of integers from -n to n.
Cost
    O(d) per round, O(d^2) per mistake, O(d^2) memory; O(d^3) whenever the mistakes have doubled, and to certify.
Reference
    [khachiyan1979]; [grotschel1988], chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.attribution import (
    Attribution,
    Coefficients,
    Importances,
    linear_attribution,
    weight_importances,
)
from novikoff.core.batch import still
from novikoff.core.encode import LARGEST_COORDINATE
from novikoff.core.errors import Advice, InputError, Option, TooLargeError, counted, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Count, Number, Part, require
from novikoff.core.types import Batch, Domain, Example, Label, Outcome, Sparse, State, Theorem, check_label, signs
from novikoff.linear import _loops
from novikoff.linear.proofs import EllipsoidProof
from novikoff.linear.theorems.ellipsoid_facts import CLOSE, EllipsoidFacts, log_shrink
from novikoff.linear.theorems.ellipsoid_given_margin import ellipsoid_given_margin
from novikoff.linear.theorems.ellipsoid_grid import ellipsoid_grid
from novikoff.linear.theorems.ellipsoid_margin import ellipsoid_margin

DOUBLE = np.dtype(np.float64)
CUTS = ("centre", "deep")
WIDEST = 2**14
"""Largest width; the matrix then takes 2 GB."""
WIDTH_OF_BITS = " to hash features into 2^B places, which leaves room for new ones."
"""End of the advice for an x beyond the width."""

FLAWS = (
    "",
    "a zero example was labelled -1: every target predicts +1 for it",
    "an example was not finite",
    "the ellipsoid became too thin for double precision",
    "nothing was left of the ellipsoid: no target has such a margin",
    "the check of the volume failed: too much rounding",
)
"""Reasons why the theorems are void, by the flaw codes of linear/_loops/ellipsoid.py; the last is set in `_look`."""
CHECK = FLAWS.index("the check of the volume failed: too much rounding")
"""Flaw code of a failed volume check."""


class Ellipsoid(Learner):
    """Linear classifier that keeps an ellipsoid around all consistent targets and cuts it on mistakes.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or integers to numbers
    (core/feature_places.py). Features beyond the width are ignored in predictions and refused in learning.

    Args:
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.
        cuts: "centre" to cut through the centre, "deep" to cut at the hyperplane of the example.
        margin: Normalised margin of the target, at least 0 and below 1; cuts keep this margin.
        grid: Largest integer n of a target and examples with integer coordinates from -n to n; 0 if unknown.
        width: Number of features; None to take it from the first example.

    Guarantee:
        If some u separates the stream with normalised margin g, at most 2d(d+1) ln(1 + 1/g) mistakes in d dimensions
        (`ellipsoid_margin`; with `margin`, `ellipsoid_given_margin`; with `grid`, `ellipsoid_grid`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Ellipsoid(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        1
    """

    domain: Domain
    features: Features

    keeps_scores = True
    promises: ClassVar[tuple[Theorem, ...]] = (ellipsoid_margin, ellipsoid_given_margin, ellipsoid_grid)
    conservative = True
    scales = wants_bias = True
    fields = (
        Argument("bias", float),
        Argument("normalize", bool),
        Argument("cuts", str),
        Argument("margin", float),
        Argument("grid", int),
        Count("width", 1, WIDEST, optional=True),
        Count("rounds"),
        Count("updates", most="rounds", at="_counts.0"),
        Count("flaw", most=len(FLAWS) - 1, at="_counts.1"),
        Number("scale", math.ulp(0.0), at="_scalars.0"),
        Number("depth", 0.0, at="_scalars.1"),
        Part("features"),
        Array("centre", ("dimension",), at="_body.0", assigned=False),
        Array("factor", ("dimension", "dimension"), at="_body.1", assigned=False),
    )

    def __init__(
        self,
        bias: float = 0.0,
        normalize: bool = False,
        cuts: str = "centre",
        margin: float = 0.0,
        grid: int = 0,
        width: int | None = None,
    ) -> None:
        if not math.isfinite(bias):
            raise InputError(f"a bias must be finite: got {bias}.")
        if cuts not in CUTS:
            raise InputError(f"cuts must be centre or deep: got {cuts!r}.")
        if not 0.0 <= margin < 1.0:
            raise InputError(f"a margin must be at least 0 and below 1: got {margin}. Divide it by the length of x.")
        if not 0 <= grid <= LARGEST_COORDINATE or int(grid) != grid:
            raise InputError(f"a grid must be an integer up to {LARGEST_COORDINATE:,}: got {shown(grid)}.")
        self.bias, self.normalize = float(bias), normalize
        self.cuts, self.margin, self.grid = cuts, float(margin), int(grid)
        self.rounds = 0
        self.scored = None
        self.features = Features()
        # [scale, depth] and [updates, flaw code]: shared with the compiled loops, which change them in place.
        self._scalars, self._counts = np.array([1.0, 0.0]), np.zeros(2, np.int64)
        # Without a bias only the direction of x counts, so there is nothing to normalise.
        self._rule = (self.bias, normalize and self.bias != 0.0, cuts == "deep" or margin > 0.0, self.margin)
        self.width: int | None = None
        self.domain = Domain("vector")
        self._hold(np.zeros(0), np.zeros((0, 0)))
        if width is not None:
            self._fix(width)

    @property
    def dimension(self) -> int:
        """Dimension of the ellipsoid: the width, plus 1 with a bias; 0 until the width is known."""
        return 0 if self.width is None else self.width + (self.bias != 0.0)

    def _hold(self, centre: NDArray[np.float64], factor: NDArray[np.float64]) -> None:
        """Store the ellipsoid as the `body` of the compiled loops, with fresh scratch arrays."""
        scratch = (np.zeros(len(centre)), np.zeros(len(centre)))
        self._body = (centre, factor, self._scalars, self._counts, *scratch)
        # Arrays of this shape take the fast path in `score_one` and `play_one`, which skips all conversions.
        self._shape = (self.width,) if self.features.kind == "array" else None

    def _fix(self, width: int) -> None:
        """Start with the unit ball in `width` dimensions, plus one for the bias."""
        check_width(width)
        self.width, self.domain = int(width), Domain("vector", int(width))
        self._hold(np.zeros(self.dimension), np.eye(self.dimension))

    @property
    def updates(self) -> int:
        """Number of cuts: the mistakes, except those on which no cut was possible."""
        return int(self._counts[0])

    @property
    def weights(self) -> NDArray[np.float64]:
        """Centre of the ellipsoid, without the bias."""
        return self._body[0][: self.width or 0]

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature at the centre."""
        return float(self._body[0][-1]) if self.bias and self.width is not None else 0.0

    @property
    def factor(self) -> NDArray[np.float64]:
        """Factor J of the ellipsoid {w + J e : ||e|| <= 1}, with the bias as last coordinate."""
        factor: NDArray[np.float64] = self._scalars[0] * self._body[1]
        return factor

    @property
    def flaw(self) -> str:
        """Reason why the theorems are void; "" if they hold."""
        return FLAWS[int(self._counts[1])]

    @property
    def size(self) -> int:
        """Numbers stored in the centre and the factor."""
        return len(self._body[0]) * (len(self._body[0]) + 1)

    def linear_weights(self) -> Coefficients | None:
        return None if self.normalize else self._coefficients()

    def _coefficients(self) -> Coefficients:
        return Coefficients(self.weights[np.newaxis], np.array([self.bias * self.bias_weight]))

    def attribution(self, x: Example) -> Attribution:
        """Return <w, x~> as the sum of weight times value."""
        row = self.features.row(x, learn=False)
        return linear_attribution("score", row, self._coefficients(), self.score_one(x), self.normalize)

    def importances(self) -> Importances:
        return weight_importances(self._coefficients())

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """Return <w,x~>, or the score of a multiple of x~ if that is very small or large."""
        if type(x) is np.ndarray and x.shape == self._shape and x.dtype is DOUBLE:
            score: float = _loops.ellipsoid.score_dense(self._body, self._rule, x)
            if math.isfinite(score):
                return score
        row = self.features.row(x, learn=False)
        if self.width is None:
            return 0.0
        if isinstance(row, tuple):
            body, indices = self._never_seen(row[0])
            return float(_loops.ellipsoid.score_sparse(body, self._rule, indices, row[1], 0, len(indices)))
        self._check("array", len(row))
        return float(_loops.ellipsoid.score_dense(self._body, self._rule, row))

    def play_one(self, x: Example, y: Outcome) -> Label:
        if type(y) is not int or (y != 1 and y != -1):
            y = check_label(y, None)
        before, score = self.updates, math.nan
        if type(x) is np.ndarray and x.shape == self._shape and x.dtype is DOUBLE:
            score = _loops.ellipsoid.play_dense(self._body, self._rule, x, y)
            self.features.seen = x
        if not math.isfinite(score):
            score = self._play_row(x, y)
        self.rounds += 1
        if self.updates != before:
            self._look(self.updates)
        self.scored = score
        return -1 if score < 0.0 else 1

    def learn_many(self, batch: Batch) -> NDArray[np.int8]:
        scores, y = np.empty(len(batch)), still(signs(batch))
        play: Callable[..., int]
        if isinstance(batch.x, Sparse):
            self._meet("numbers", batch.x.width)
            play = partial(_loops.ellipsoid.learn_sparse, self._body, self._rule, *_rows(batch.x))
        else:
            x = batch.table()
            self._meet("array", x.shape[1])
            play = partial(_loops.ellipsoid.learn_dense, self._body, self._rule, _doubles(x))
        # The loop halts at each power of two of updates, where `_look` checks the volume: as in `play_one`.
        row = 0
        while row < len(batch):
            before = self.updates
            halt = 1 << before.bit_length()  # the next power of two
            row = play(y, row, halt, scores)
            if self.updates != before:
                self._look(self.updates)
        self.rounds += len(batch)
        self.scored = scores
        return np.where(scores < 0.0, -1, 1).astype(np.int8)

    def predict_many(self, batch: Batch) -> NDArray[np.int8]:
        return np.where(self.scores_many(batch) < 0.0, np.int8(-1), np.int8(1))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the score of every row without learning."""
        scores = np.zeros(len(batch))
        x = self.features.rows(batch, learn=False)
        if self.width is None:
            return scores
        if isinstance(x, Sparse):
            x = x.alone()
            body, indices = self._never_seen(x.indices)
            indptr, _, values = _rows(x)
            _loops.ellipsoid.scores_sparse(body, self._rule, indptr, still(indices), values, scores)
        else:
            self._check("array", x.shape[1])
            _loops.ellipsoid.scores_dense(self._body, self._rule, _doubles(x), scores)
        return scores

    def _never_seen(self, indices: NDArray[np.uint32]) -> tuple[Any, NDArray[np.uint32]]:
        """Return a body and indices for predicting; features beyond the width share one place of weight 0."""
        width = self.width or 0
        if not len(indices) or int(indices.max()) < width:
            return self._body, indices
        centre = np.insert(self._body[0], width, 0.0)
        body = (centre, *self._body[1:4], np.zeros(len(centre)), np.zeros(len(centre)))
        return body, np.minimum(indices, np.uint32(width))

    def _row(self, x: Example) -> Row:
        """Return x as a row after checking that it can be learned from; change nothing."""
        row = self.features.row(x, learn=False)
        if isinstance(row, tuple):
            reach = int(row[0].max()) + 1 if len(row[0]) else 0
            self._check("numbers", reach if self.width is None else max(reach, 1))
        else:
            self._check("array", len(row))
        return row

    def _play_row(self, x: Example, y: Label) -> float:
        """Play a round with x in any form; return the score."""
        row = self._row(x)
        new = self.features.kind is None
        self.features.row(x, learn=True)
        if self.width is None:
            self._fix(int(row[0].max()) + 1 if isinstance(row, tuple) else len(row))
        elif new:
            self._hold(*self._body[:2])
        self._settle()
        if isinstance(row, tuple):
            return float(_loops.ellipsoid.play_sparse(self._body, self._rule, *row, y))
        return float(_loops.ellipsoid.play_dense(self._body, self._rule, row, y))

    def _meet(self, kind: Any, width: int) -> None:
        """Prepare for a batch of this kind and width."""
        self._check(kind, width)
        new = self.features.kind is None
        self.features.meet(kind, width)
        if self.width is None:
            self._fix(width)
        elif new:
            self._hold(*self._body[:2])
        self._settle()

    def _check(self, kind: str, width: int) -> None:
        """Raise an error if x exceeds the width: a cut changes all dimensions, so none can be added later."""
        if self.width is not None and (width > self.width or (kind == "array" and width != self.width)):
            more = Advice("Start with a larger width; for a table, pass ", Option("bits", letter="B"), WIDTH_OF_BITS)
            raise InputError(
                f"x must be within the width of the ellipsoid, {self.width}", f"got {counted(width, 'feature')}", more
            )
        check_width(width)

    def _settle(self) -> None:
        """Mark all features within the width as met, so that rows and batches leave the same state."""
        if self.features.kind != "names":
            self.features.count = self.width or 0

    def _look(self, updates: int) -> None:
        """Check the volume against the cuts whenever the updates have doubled; a failure is permanent."""
        if updates & (updates - 1) or self._counts[1]:
            return
        d = len(self._body[0])
        with np.errstate(all="ignore"):
            log_volume = float(np.linalg.slogdet(self._body[1])[1]) + d * math.log(self._scalars[0])
        expected = -updates * log_shrink(d) - float(self._scalars[1])
        if not abs(log_volume - expected) <= CLOSE:  # also if log_volume is NaN
            self._counts[1] = CHECK

    def tracker(self) -> LinearTracker:
        """Return comparators over the learner's features; without a bias, normalising x changes no prediction."""
        return LinearTracker(self.bias, self.normalize or self.bias == 0.0)

    def proof(self) -> EllipsoidProof:
        return EllipsoidProof(self.facts())

    def facts(self) -> EllipsoidFacts:
        moved = self.updates > 0
        return EllipsoidFacts(
            rounds=self.rounds,
            updates=self.updates,
            width=len(self._body[0]),
            depth=float(self._scalars[1]),
            margin=self.margin,
            grid=self.grid,
            bias=self.bias,
            normalize=self.normalize or self.bias == 0.0,
            flaw=self.flaw,
            centre=self._body[0].copy() if moved else np.zeros(0),
            factor=self.factor if moved else np.zeros((0, 0)),
        )

    def after_restoring(self, found: State) -> None:
        if self.width is not None:
            self.domain = Domain("vector", self.width)
        require(self.features.count <= (self.width or 0), "features must be within the width", self.features.count)
        self._hold(found["centre"], found["factor"])


def check_width(width: int) -> None:
    """Raise an error if the width is not a positive integer or too large to store."""
    if width < 1 or int(width) != width:
        raise InputError(f"a width must be a positive integer: got {width}. Pass width if the first example is empty.")
    if width > WIDEST:
        raise TooLargeError(
            f"the width of an ellipsoid must be at most {WIDEST:,}: got {width:,}, and its matrix has the square of "
            "that many entries. Select fewer features, or use the Perceptron."
        )


def _doubles(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the values as doubles; any other type would compile the loops again, which takes seconds."""
    return still(values.astype(np.float64, copy=False))


def _rows(x: Sparse) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Return the arrays of sparse rows, with values as doubles."""
    return still(x.indptr), still(x.indices), _doubles(x.values)
