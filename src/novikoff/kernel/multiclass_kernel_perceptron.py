"""Multiclass kernel Perceptron: each mistake becomes a support for its label and against the predicted one.

Algorithm
    f_j = 0 for every label j. Predict the label with the largest f_j(x), on a tie the smallest. On a mistake, f_y +=
    K(x,.) and f_p -= K(x,.), p being the prediction: the example becomes a support, with a coefficient for each label;
    a repeated example is added to its support. `kernel`, `gamma`, `degree`, `constant`, `normalize_kernel` and `bias`
    as for two labels (kernel/kernel_perceptron.py), but the kernel must be built in. A new label is added with f = 0 in
    the round in which it is first observed: it cannot be predicted there, and is learned from as if it had been
    announced just before.
Promise
    kernel/theorems/multiclass_kernel_mistakes.py: for every F in the feature space of K, the largest M with
    M <= D + ||F|| R sqrt(2M) + S, with D its hinge loss and S at most the number of new labels.
Cost
    One value of K and k products per support and round: time and memory grow with the mistakes.
Reference
    [crammer2003]; [fink2006].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.state import Array, require
from novikoff.core.types import Sparse, State, StepResult, Theorem
from novikoff.kernel import _loops
from novikoff.kernel.comparators.multiclass_tracker import MulticlassKernelTracker
from novikoff.kernel.kernel_learner import UNUSED
from novikoff.kernel.kernels import KINDS, Kernel
from novikoff.kernel.supports import Examples, Supports
from novikoff.kernel.theorems.multiclass_kernel_mistakes import MulticlassKernelFacts, multiclass_kernel_mistakes
from novikoff.linear._loops import multiclass_layout
from novikoff.linear.multiclass import MulticlassLearner

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassKernelPerceptron(MulticlassLearner):
    """Multiclass Perceptron in the feature space of a kernel, with one support per mistake.

    Args:
        kernel: "linear", "polynomial" or "rbf".
        gamma: Width parameter of the rbf kernel exp(-gamma ||x-z||^2).
        degree: Degree of the polynomial kernel (constant + <x,z>)^degree.
        constant: Constant of the polynomial kernel.
        normalize_kernel: Whether to divide K(x,z) by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2 to the kernel.
        labels: Number of labels, if known in advance; None to add labels as they are observed.

    Guarantee:
        For every F in the kernel's feature space with total multiclass hinge loss D, the largest M with
        M <= D + ||F|| R sqrt(2M), plus at most one mistake per new label (`multiclass_kernel_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> rows = [([0.0, 0.0], 0), ([3.0, 0.0], 1), ([0.0, 3.0], 2)]
        >>> nk.play(nk.MulticlassKernelPerceptron(labels=3), rows * 4).mistakes
        3
    """

    promises: ClassVar[tuple[Theorem, ...]] = (multiclass_kernel_mistakes,)
    conservative = True
    scales = True
    fields = (
        *(field for field in MulticlassLearner.fields if field.name != "bias"),  # the kernel's bias is in the supports
        Examples("supports", "places"),
        Array("coefficients", ("labels", "size"), assigned=False),
        Array("totals", (multiclass_layout.TOTALS,), at="_totals"),
    )

    def __init__(
        self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 2, constant: float = 1.0,
        normalize_kernel: bool = False, bias: float = 0.0, labels: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(0.0, labels)
        if callable(kernel):
            raise InputError(f"a kernel for multiclass must be one of {', '.join(KINDS)}: got a function.")
        self.similarity = Kernel.of(kernel, gamma, degree, constant, normalize_kernel, bias)
        self.supports = Supports(self.similarity)
        self._coefficients = np.zeros((self.labels, 0))
        self._totals = np.zeros(multiclass_layout.TOTALS)

    def _argument(self, name: str, default: object) -> Any:
        known = self.similarity.arguments()
        if name in known:
            return default if name in UNUSED.get(self.similarity.kind, ()) else known[name]
        return super()._argument(name, default)

    @property
    def size(self) -> int:
        """Number of supports."""
        return self.supports.count

    @property
    def rows_held(self) -> int:
        """Number of training rows in the hypothesis: the supports."""
        return self.supports.count

    @property
    def updates(self) -> int:
        """Number of mistakes that changed the coefficients."""
        return self.supports.updates

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients, one row per label and one column per support."""
        return self._coefficients[: self.labels, : self.size].copy()

    def widen(self, width: int) -> None:
        """Grow to `width` features; supports are 0 in new columns."""
        self.features.widen(width)

    def _make_room(self, places: int, labels: int = 0) -> None:
        """Grow the coefficients to `labels` rows and one column per slot; supports are stored sparse."""
        had, room = self._coefficients.shape
        slots = self.supports.cache.slots.shape[1]
        if labels > had or slots > room:
            coefficients = np.zeros((max(labels, 2 * had) if labels > had else had, slots))
            coefficients[:had, :room] = self._coefficients
            self._coefficients = coefficients

    def _played(
        self, rows: Nonzeros, y: NDArray[np.generic], learns: bool, scores: NDArray[np.generic]
    ) -> NDArray[np.int64]:
        held, predicted, t = self.supports, np.empty(len(scores), dtype=np.int64), 0
        tidy = _loops.rows.rows_of(as_sparse(rows))
        play: Any = _loops.multiclass_kernel_perceptron.play
        while True:
            cache = held.cache if learns else held.to_read()
            known = max(self.labels, int(y[:t].max(initial=-1)) + 1)
            t = play(cache, held.rule, tidy, y, t, learns, known, self._coefficients, self._totals, scores, predicted)
            if t == len(scores):
                return predicted
            held.make_room(tidy[1][int(tidy[0][t]) : int(tidy[0][t + 1])], -1)
            self._make_room(0, 0)

    def _learn(self, rows: Nonzeros, y: NDArray[Any]) -> StepResult:
        labels = max(self.labels, int(y.max(initial=-1)) + 1)
        self._make_room(0, labels)
        scores = np.empty((len(y), labels))
        predicted = self._played(rows, y, True, scores)
        wrong = (predicted != y).astype(np.float64)
        return StepResult(predicted, wrong, wrong, scores=scores)

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        scores = np.empty((len(rows.ends) - 1, self.labels))
        self._played(rows, np.zeros(0, dtype=np.int64), False, scores)
        return scores

    def tracker(self) -> MulticlassKernelTracker | None:
        """Return comparators in the same feature space for a game that starts now; None after the first round."""
        return MulticlassKernelTracker(self.similarity, self.announced) if self.rounds == 0 else None

    def facts(self) -> MulticlassKernelFacts:
        new = int(self._totals[multiclass_layout.SURPRISES])
        return MulticlassKernelFacts(self.rounds, self.updates, self.updates, 0, None, self.similarity, self.size == 0,
                               labels=self.labels, new=new)  # fmt: skip

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        similarity = Kernel.restore(state["supports"]["similarity"])
        return {**similarity.arguments(), **super().arguments(state)}

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        coefficients = found["coefficients"]
        sound = bool((coefficients.sum(axis=0) == 0.0).all())
        require(sound, "coefficients of a support must add up to 0", coefficients)
        self._coefficients = np.zeros((self.labels, self.supports.cache.slots.shape[1]))
        self._coefficients[:, : self.size] = coefficients


def as_sparse(rows: Nonzeros) -> Sparse:
    """Return rows of numerics/nonzeros.py as `Sparse` rows."""
    end = int(rows.ends[-1])
    width = int(rows.places[:end].max(initial=0)) + 1
    return Sparse(rows.ends.astype(np.uint64), rows.places[:end], rows.values[:end], width, checked=True)
