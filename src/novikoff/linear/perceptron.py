"""Perceptron: on a mistake, add the example to the weights.

Algorithm
    w_1 = 0.  Predict +1 if <w_t, x_t> >= 0, else -1.  On a mistake, w_{t+1} = w_t + y_t x_t.
    `bias` c adds a constant feature of value c; `normalize` divides each x by its norm first (a zero x stays).
    On tables columns are scaled and the bias is 1; perceptron:scale=none,bias=0 plays as in the lecture notes.
    Features that were never seen have weight 0, so the width grows with the stream.
    The prediction is +1 if the score overflows to NaN (infinity minus infinity).
Promise
    linear/theorems/perceptron_hinge.py: for every u, M <= D + a^2/2 + a sqrt(D + a^2/4) with D the hinge loss of u and
    a = R ||u||. linear/theorems/perceptron_margin.py: M <= R^2/margin^2 if some u separates the rows.
    linear/theorems/perceptron_squared_hinge.py: M <= (a + sqrt Q)^2. linear/theorems/perceptron_lengths.py, for x of
    different lengths: M <= sum of max(0, 1 + kappa ||x||^2 - y<u,x>) + ||u||^2/(4 kappa) for every u and kappa > 0.
Cost
    O(non-zeros of x) per round, O(width) memory.
Reference
    [rosenblatt1958]; [novikoff1962].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.attribution import (
    Attribution,
    Coefficients,
    Importances,
    linear_attribution,
    weight_importances,
)
from novikoff.core.errors import InputError
from novikoff.core.feature_places import Features, Row, never_seen, rows_never_seen
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Count, Number, Part, require
from novikoff.core.types import Batch, Domain, Example, Label, Outcome, Sparse, State, Theorem, check_label, signs
from novikoff.linear import _loops
from novikoff.linear._loops import named
from novikoff.linear.theorems.perceptron_facts import PerceptronFacts
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths
from novikoff.linear.theorems.perceptron_margin import perceptron_margin
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge

if TYPE_CHECKING:
    from novikoff.linear.proofs import PerceptronProof

DOUBLE = np.dtype(np.float64)


class Perceptron(Learner):
    """Linear classifier that changes its weights on mistakes only.

    x may be an array of numbers, a pair (indices, values) of arrays, or a mapping from names or integers to numbers
    (core/feature_places.py). Weights of named features are kept in a dict, which is faster for single rows. Dicts are
    scored in plain Python from left to right, in the order of the compiled loops: the results are equal to the bit.

    Args:
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.

    Guarantee:
        For every u with total hinge loss D on the stream, at most D + a^2/2 + a sqrt(D + a^2/4) mistakes, where
        a = R ||u|| and R is the largest norm of an x (`perceptron_hinge`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Perceptron(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        1
    """

    domain: Domain
    features: Features
    updates: int
    normalize: bool

    keeps_scores = True
    promises: ClassVar[tuple[Theorem, ...]] = (
        perceptron_lengths,
        perceptron_hinge,
        perceptron_margin,
        perceptron_squared_hinge,
    )
    conservative = True
    scales = wants_bias = True
    sums_mistakes = True
    fields = (
        Argument("bias", float),
        Argument("normalize", bool),
        Count("rounds"),
        Count("updates", most="rounds"),
        Part("features"),
        Array("weights", ("features.count",), finite=False, assigned=False),
        Number("bias_weight", finite=False, at="_bias_weight.0"),
    )

    def __init__(self, bias: float = 0.0, normalize: bool = False) -> None:
        if not math.isfinite(bias):
            raise InputError(f"a bias must be finite: got {bias}.")
        self.domain = Domain("vector")
        self.bias = float(bias)
        self.normalize = normalize
        self.rounds = self.updates = 0
        self.scored = None
        self.features = Features()
        self._bias_weight = np.zeros(1)  # weight of the constant feature
        self._named: dict[str, float] = {}
        self._hold(np.zeros(0))

    def _hold(self, weights: NDArray[np.float64]) -> None:
        """Store the weights; arrays of shape `_shape` then take the fast path, which skips all conversions."""
        self._weights = weights  # longer than the numbered features met, to grow rarely; the last weight is 0
        self._shape = weights.shape if self.features.kind == "array" else None

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each feature, without the constant one."""
        if self.features.kind == "names":
            return np.array([self._named[name] for name in self.features.names])
        return self._weights[: self.features.count]

    @property
    def bias_weight(self) -> float:
        """Weight of the constant feature."""
        return float(self._bias_weight[0])

    @property
    def size(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self.weights)) + int(self._bias_weight[0] != 0.0)

    def linear_weights(self) -> Coefficients | None:
        return None if self.normalize else self._coefficients()

    def _coefficients(self) -> Coefficients:
        return Coefficients(self.weights[np.newaxis], np.array([self.bias * self.bias_weight]))

    def attribution(self, x: Example) -> Attribution:
        """Return <w, x> as the sum of weight times value; with `normalize`, of x divided by its norm."""
        row = self.features.row(x, learn=False)
        return linear_attribution("score", row, self._coefficients(), self.score_one(x), self.normalize)

    def importances(self) -> Importances:
        return weight_importances(self._coefficients())

    def predict_one(self, x: Example) -> Label:
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x: Example) -> float:
        """Return <w, x>; its sign is the prediction."""
        if type(x) is np.ndarray and x.shape == self._shape and x.dtype is DOUBLE:
            score: float = _loops.perceptron.score_dense(self._weights, self._bias_weight, x, self.bias, self.normalize)
        else:
            score = self._score_dict(x, self._weights_of(x))
        return score if math.isfinite(score) else self._score_row(self.features.row(x, learn=False), x)

    def play_one(self, x: Example, y: Outcome) -> Label:
        if type(y) is not int or y not in (1, -1):
            y = check_label(y, None)
        if type(x) is np.ndarray and x.shape == self._shape and x.dtype is DOUBLE:
            score: float = _loops.perceptron.play_dense(
                self._weights, self._bias_weight, x, y, self.bias, self.normalize
            )
            self.features.seen = x
            if not math.isfinite(score):
                score = self._play_row(x, y)
        else:
            self.features.seen = None
            weights = self._weights_of(x)
            score = self._score_dict(x, weights)
            if not math.isfinite(score):
                score = self._play_row(x, y)
            elif (-1 if score < 0.0 else 1) != y and isinstance(x, dict):  # only a dict has a finite score on this path
                self._add_dict(x, weights, y)
        prediction = -1 if score < 0.0 else 1
        self.scored = score
        self.rounds += 1
        if prediction != y:
            self.updates += 1
        return prediction

    def learn_many(self, batch: Batch) -> NDArray[np.int8]:
        predictions, scores, y = np.empty(len(batch), dtype=np.int8), np.empty(len(batch)), signs(batch)
        x = self.features.rows(batch, learn=True)
        self._grow()
        if isinstance(x, Sparse):
            _loops.perceptron.learn_sparse(
                self._weights, self._bias_weight, *x.arrays, y, self.bias, self.normalize, predictions, scores
            )
        else:
            _loops.perceptron.learn_dense(
                self._weights, self._bias_weight, x, y, self.bias, self.normalize, predictions, scores
            )
        self.rounds += len(batch)
        self.updates += int(np.count_nonzero(predictions != y))
        self.scored = scores
        return predictions

    def predict_many(self, batch: Batch) -> NDArray[np.int8]:
        return np.where(self.scores_many(batch) < 0.0, np.int8(-1), np.int8(1))

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return <w, x> of every row without learning."""
        scores = np.empty(len(batch))
        x = self.features.rows(batch, learn=False)
        rest = (self.bias, self.normalize, scores)
        if isinstance(x, Sparse):
            weights, x = rows_never_seen(self._weights, x)
            _loops.perceptron.scores_sparse(weights, self._bias_weight, *x.arrays, *rest)
        else:
            weights = self._weights if len(self._weights) else np.zeros(x.shape[1])
            _loops.perceptron.scores_dense(weights, self._bias_weight, x, *rest)
        return scores

    def _score_row(self, row: Row, x: Example) -> float:
        """Return the score of x in any form; `row` is x after checking."""
        if not isinstance(row, tuple):
            weights = self._weights if len(self._weights) else np.zeros(len(row))
            score: float = _loops.perceptron.score_dense(weights, self._bias_weight, row, self.bias, self.normalize)
        elif self.features.kind in ("names", None) and isinstance(x, Mapping):
            known = dict(zip(x, row[1].tolist(), strict=True))
            score = self._score_dict(known, {name: self._named.get(name, 0.0) for name in known})
        else:
            weights, indices = never_seen(self._weights, row[0])
            score = self._score_sparse(weights, indices, row[1])
        return score

    def _score_sparse(self, weights: NDArray[np.float64], indices: NDArray[np.uint32], values: Any) -> float:
        score: float = _loops.perceptron.score_sparse(
            weights, self._bias_weight, indices, values, self.bias, self.normalize
        )
        return score

    def _play_row(self, x: Example, y: Label) -> float:
        """Play a round with x in any form; return the score."""
        row = self.features.row(x, learn=True)
        self._grow()
        if isinstance(row, tuple) and self.features.kind == "numbers":  # `_grow` gave all of them weights
            score = self._score_sparse(self._weights, *row)
        else:
            score = self._score_row(row, x)
        if (-1 if score < 0.0 else 1) != y:
            self._add_row(row, x, y)
        return score

    def _add_row(self, row: Row, x: Example, y: Label) -> None:
        if self.features.kind == "names" and isinstance(x, Mapping):
            self._add_dict(dict(zip(x, row[1].tolist(), strict=True)), self._named, y)
            return
        values = row[1] if isinstance(row, tuple) else row
        scale = numerics.lanes.inverse_norm(values, 0, len(values)) if self.normalize else 1.0
        if isinstance(row, tuple):
            _loops.perceptron.add_sparse(
                self._weights, self._bias_weight, *row, 0, len(values), y * scale, y, self.bias
            )
        else:
            _loops.perceptron.add_dense(self._weights, self._bias_weight, row, y * scale, y, self.bias)

    def _weights_of(self, x: Example) -> named.Weights:
        """Return the weights by key for a dict of features met before; None for any other x."""
        if type(x) is not dict or not x:
            return None
        if self.features.kind == "numbers":
            try:  # no negative index, and none in the spare room
                met = min(x) >= 0 and max(x) < self.features.count
            except TypeError:
                return None
            return self._weights.data if met else None
        return self._named or None

    def _score_dict(self, x: Any, weights: named.Weights) -> float:
        """Return the score of a dict of Python numbers whose keys all have weights; NaN for any other x."""
        if weights is None:
            return math.nan
        try:
            if self.normalize:
                score = named.score_scaled(weights, x, named.inverse_norm(x))
            else:
                score = named.score(weights, x)
        except (KeyError, TypeError, ValueError, OverflowError, RuntimeWarning):
            return math.nan
        if type(score) is not float:  # the values are numpy scalars, and the sum has their precision
            return math.nan
        return score + self.bias * float(self._bias_weight[0]) if self.bias else score

    def _add_dict(self, x: dict[object, float], weights: object, y: Label) -> None:
        named.add(weights, x, y, named.inverse_norm(x) if self.normalize else 1.0)
        self._bias_weight[0] += y * self.bias

    def _grow(self) -> None:
        """Make room for the features met."""
        if self.features.kind == "names":
            # Names are appended, so the new ones are at the end: read them backwards, then restore the order.
            new = islice(reversed(self.features.names), len(self.features.names) - len(self._named))
            self._named.update((name, 0.0) for name in reversed([*new]))
            return
        need = self.features.count + (self.features.kind == "numbers")
        if need > len(self._weights) or (self._shape is None and self.features.kind == "array"):
            spare = 0 if self.features.kind == "array" else min(len(self._weights), 2**20)
            self._hold(np.append(self._weights, np.zeros(need - len(self._weights) + spare)))

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0."""
        if self.features.widen(width):
            self._grow()

    def tracker(self) -> LinearTracker:
        """Return comparators over the same features for a game that starts now."""
        start = np.append(self.weights, self.bias_weight) if self.updates > 0 else None
        return LinearTracker(self.bias, self.normalize, start, additive=True)

    def textbook(self) -> dict[str, object]:
        return {"rule": "perceptron", "bias": self.bias.hex(), "normalize": self.normalize}

    def proof(self) -> PerceptronProof:
        from novikoff.linear.proofs import PerceptronProof

        return PerceptronProof(self, self.bias, self.normalize)

    def facts(self) -> PerceptronFacts:
        return PerceptronFacts.of(self.weights, self.bias_weight, self.rounds, self.updates, self.bias, self.normalize)

    def less(self, weights: NDArray[np.float64]) -> Self:
        """Return a copy with these weights subtracted; the last one is that of the bias."""
        state = self.state()
        state["weights"][: len(weights) - 1] -= weights[:-1]
        return type(self).restore({**state, "bias_weight": self.bias_weight - float(weights[-1])})

    def after_restoring(self, found: State) -> None:
        fits = self.bias != 0.0 or self.bias_weight == 0.0
        require(fits, "a bias must have a weight of 0 if it is 0", self.bias_weight)
        if self.features.kind == "names":
            self._named = dict(zip(self.features.names, found["weights"].tolist(), strict=True))
        else:
            self._hold(found["weights"])
            self._grow()
