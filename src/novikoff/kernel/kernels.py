"""Kernels K(x, z): inner products of two examples in a feature space.

Kinds
    linear      <x,z>
    polynomial  (constant + <x,z>)^degree, degree an integer from 1, constant at least 0
    rbf         exp(-gamma ||x-z||^2)
    own         a user-defined function of two arrays, which is trusted to be an inner product
    `normalized` divides by sqrt(K(x,x) K(z,z)), and is 0 if one of them is 0; the rbf is normalised anyway. Then
    `bias` c adds the constant feature c to the feature space: K + c^2.
Numbers
    Sums run from the first feature to the last. Between arrays, ||x-z||^2 is the sum of squared differences; between
    sparse rows it is ||x||^2 + ||z||^2 - 2<x,z>, clipped at 0. The exponential is that of numerics/exp.py. So a value
    depends on its two rows only, and is the same in a matrix, in a learner and on every machine.
Reference
    [aizerman1964]; [scholkopf2002].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, ModelFileError, shown
from novikoff.core.state import Schema, arguments, require
from novikoff.core.types import Sparse, State
from novikoff.kernel import _loops
from novikoff.kernel._loops.cache import empty

Rows = NDArray[np.float64] | Sparse
Function = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

KINDS = ("linear", "polynomial", "rbf")
"""Built-in kernels, in the order of the codes of kernel/_loops/cache.py."""
HALF_ULP = 2.0**-53
"""Relative error of one rounding."""
HIGHEST_DEGREE = 64
"""Largest degree of a polynomial kernel."""
SAVED: Schema = {
    "kind": str, "gamma": float, "degree": int, "constant": float, "normalized": bool, "bias": float,
}  # fmt: skip
"""Attributes that are saved, with their types."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as plain data; `Kernel.of` checks the arguments and creates one.

    Attributes:
        kind: "linear", "polynomial", "rbf" or "own".
        gamma: Width parameter of the rbf kernel.
        degree: Degree of the polynomial kernel.
        constant: Constant of the polynomial kernel.
        normalized: Whether K(x,z) is divided by sqrt(K(x,x) K(z,z)).
        bias: Value c of a constant feature; adds c^2.
        function: The user-defined function of kind "own".

    Example:
        >>> import numpy as np
        >>> import novikoff as nk
        >>> nk.Kernel.of("linear").matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
        [[11.0]]
    """

    kind: str
    gamma: float = 0.0
    degree: int = 1
    constant: float = 0.0
    normalized: bool = False
    bias: float = 0.0
    function: Function | None = None

    @classmethod
    def of(
        cls,
        kernel: str | Function = "rbf",
        gamma: float = 1.0,
        degree: int = 2,
        constant: float = 1.0,
        normalized: bool = False,
        bias: float = 0.0,
    ) -> Self:
        """Return the kernel of that name or function; parameters of other kinds are ignored."""
        if not math.isfinite(bias * bias):
            raise InputError(f"a bias and its square must be finite: got {bias}.")
        normalized, bias = bool(normalized), float(bias)
        if callable(kernel):
            return cls("own", normalized=normalized, bias=bias, function=kernel)
        if kernel == "linear":
            return cls("linear", normalized=normalized, bias=bias)
        if kernel == "polynomial":
            if not 1 <= degree <= HIGHEST_DEGREE or int(degree) != degree:
                raise InputError(f"a degree must be an integer from 1 to {HIGHEST_DEGREE}: got {shown(degree)}.")
            if not 0.0 <= constant < math.inf:
                raise InputError(f"the constant of a polynomial must be finite and at least 0: got {constant}.")
            return cls("polynomial", degree=int(degree), constant=float(constant), normalized=normalized, bias=bias)
        if kernel == "rbf":
            if not 0.0 < gamma < math.inf:
                raise InputError(f"gamma must be finite and above 0: got {gamma}.")
            return cls("rbf", gamma=float(gamma), bias=bias)
        raise InputError(f"a kernel must be one of {', '.join(KINDS)}, or a function: got {shown(kernel)}.")

    @classmethod
    def named(
        cls,
        kernel: str | Function | None,
        gamma: float | None,
        degree: int | None,
        constant: float | None,
        normalized: bool,
        bias: float,
    ) -> Self:
        """Return the kernel of a learner that is linear unless a kernel, or a parameter of one, is named."""
        if kernel is None:
            polynomial = degree is not None or constant is not None
            kernel = "rbf" if gamma is not None else "polynomial" if polynomial else "linear"
        return cls.of(
            kernel,
            1.0 if gamma is None else gamma,
            2 if degree is None else degree,
            1.0 if constant is None else constant,
            normalized,
            bias,
        )

    @property
    def limit(self) -> float | None:
        """Largest possible K(x,x), if known in advance; None if it depends on the examples."""
        return 1.0 + self.bias * self.bias if self.kind == "rbf" or self.normalized else None

    @property
    def space(self) -> str:
        """Where examples are compared, if different ones may be the same there, such as x and -x; "" otherwise."""
        return " in the kernel's feature space" if self.kind == "polynomial" else ""

    def matrix(self, Z: Rows, X: Rows) -> NDArray[np.float64]:
        """Return K(z,x) for every row z of Z (rows) and x of X (columns)."""
        if self.kind == "own":
            return self._called(Z, X)
        if isinstance(Z, Sparse) != isinstance(X, Sparse):
            Z, X = _sparse(Z), _sparse(X)
        # The larger side is stored as supports, whose loop runs in vector registers.
        if len(Z) < len(X):
            return np.ascontiguousarray(self.matrix(X, Z).T)
        put, queries = _loops.rows.rows_of(Z), _loops.rows.rows_of(X)
        sparse = isinstance(Z, Sparse)
        width = Z.width if isinstance(Z, Sparse) else put[3]
        if not sparse and width != queries[3]:
            raise InputError(f"rows must have the same width: got {width} and {queries[3]}.")
        held = empty(len(Z), width, sparse, len(put[2]) if sparse else 0)
        _loops.supports.fill(held, self.rule, put, len(Z))
        values = np.empty((len(X), len(Z)))
        _loops.supports.cross(held, self.rule, queries, values)
        return np.ascontiguousarray(values.T)

    def self_product(self, X: Rows) -> NDArray[np.float64]:
        """Return K(x,x) for every row."""
        if self.kind == "own":
            rows = _dense(X, 0)
            return np.array([self.own_value(row) for row in rows], dtype=np.float64)
        values = np.empty(len(X))
        _loops.supports.selfs_of(self.rule, _loops.rows.rows_of(X), values)
        return values

    @property
    def rule(self) -> tuple[int, float, int, float, bool, float]:
        """Parameters in the form of the compiled loops (kernel/_loops/cache.py)."""
        kind = (*KINDS, "own").index(self.kind)
        return kind, self.gamma, self.degree, self.constant, self.normalized, self.bias * self.bias

    def value(self, z: NDArray[np.float64], x: NDArray[np.float64]) -> float:
        """Return K(z,x) of a user-defined kernel for one pair."""
        assert self.function is not None
        value = float(self.function(z, x))
        if self.normalized:
            length = math.sqrt(max(float(self.function(z, z)), 0.0)) * math.sqrt(max(float(self.function(x, x)), 0.0))
            value = value / length if length > 0.0 else 0.0
        if not math.isfinite(value):
            raise InputError(f"a kernel must return finite numbers: got {value}.")
        return value + self.bias * self.bias

    def own_value(self, x: NDArray[np.float64]) -> float:
        """Return K(x,x) of a user-defined kernel."""
        if not self.normalized:
            return self.value(x, x)
        assert self.function is not None
        return (1.0 if float(self.function(x, x)) > 0.0 else 0.0) + self.bias * self.bias

    def _called(self, Z: Rows, X: Rows) -> NDArray[np.float64]:
        width = max(rows.width for rows in (Z, X) if isinstance(rows, Sparse)) if isinstance(Z, Sparse) else 0
        down, across = _dense(Z, width), _dense(X, width)
        values = [[self.value(z, x) for x in across] for z in down]
        return np.array(values, dtype=np.float64).reshape(len(down), len(across))

    def relative_error(self, n: int, square: float = 0.0) -> float:
        """Return an upper bound on |computed - K(x,z)| / sqrt(K(x,x) K(z,z)) for one value.

        Products must not underflow (no ||x||^2 below 2^-900 except 0). A user-defined kernel is assumed to have the
        error of a sum over the features.

        Args:
            n: Largest number of features of a row (of non-zeros, if sparse).
            square: Upper bound on ||x||^2 and ||z||^2; needed only by the rbf of sparse rows.
        """
        if self.kind == "rbf":
            # The exponent t has n+4 roundings: of a sum of positive terms for arrays, of terms that sum to at most
            # 4 ||x||^2 in size for sparse rows. Its relative error is multiplied by t exp(-t) < 1.
            error = (n + 10) * HALF_ULP * (1.0 + 4.0 * self.gamma * square)
        else:
            error = self.degree * (n + 6) * HALF_ULP * (2.0 if self.normalized else 1.0) + 6.0 * HALF_ULP
        error += 2.0 * HALF_ULP if self.bias else 0.0
        return min(error / (1.0 - error) if error < 0.5 else math.inf, 1.0 if self.kind == "rbf" else math.inf)

    def error(self, n: int, square: float) -> float:
        """Return an upper bound on |computed - K(x,z)| for rows of at most n features with ||x||^2 <= `square`."""
        largest = self.limit
        if largest is None:
            largest = (self.constant + square) ** self.degree + self.bias * self.bias
        return self.relative_error(n, square) * largest * (1.0 + 2.0**-40)

    def arguments(self) -> dict[str, object]:
        """Return the constructor arguments that give a learner this kernel."""
        return {
            "kernel": self.function or self.kind,
            "gamma": self.gamma,
            "degree": self.degree,
            "constant": self.constant,
            "normalize_kernel": self.normalized,
            "bias": self.bias,
        }

    def state(self) -> State:
        if self.function is not None:
            raise ModelFileError(
                "a saved kernel must be built in: a Python function is not plain data. "
                f"Use {', '.join(KINDS)}, or keep the learner in memory."
            )
        return {name: getattr(self, name) for name in SAVED}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the kernel with this saved state; by hand, because `of` checks what each kind needs."""
        found = arguments(state, SAVED, "a kernel")
        require(found["kind"] in KINDS, f"a saved kernel must be one of {', '.join(KINDS)}", found["kind"])
        return cls.of(*found.values())


def _dense(X: Rows, width: int) -> NDArray[np.float64]:
    """Return rows as an array; sparse rows with at least `width` columns."""
    return X.dense(width) if isinstance(X, Sparse) else np.asarray(X, dtype=np.float64)


def _sparse(X: Rows) -> Sparse:
    """Return rows as sparse rows."""
    return X if isinstance(X, Sparse) else Sparse.of_dense(np.asarray(X, dtype=np.float64))
