"""Nearest point to the origin of a polytope, given by the inner products of its corners: the widest margin, dual.

Algorithm
    The corners are z = y x~, in any feature space. p = sum of w_i z_i over a few corners, the corral, with w >= 0 and
    sum w = 1. Corners with <p,z> below ||p||^2 enter the corral; p moves to the nearest point of its affine hull, or,
    where a weight would become negative, as far as it may, and that corner leaves. ||p|| never grows.
Promise
    No unit vector has a larger margin than ||p|| on these corners, and p/||p|| has the margin (least <p,z>)/||p||.
    If p = 0 no vector separates them, and the corral is a witness. All up to rounding: callers verify.
Cost
    O(corners * corral + corral^3) per step; about as many steps as corners in the corral at the end.
Reference
    [wolfe1976].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

TOLERANCE = 1e-7
"""Relative distance of a corner's <p,z> below ||p||^2 that is ignored."""
ROUNDED = 1e-15
"""The same in units of the largest ||z||^2, for rounding."""
STEPS = 20_000
"""Maximum number of steps of one call."""
TOGETHER = 64
"""Maximum number of corners that enter the corral together."""


class NearestPoint:
    """Corners, their inner products, and the corral.

    Attributes:
        corral: Numbers of the corners in the corral.
        weights: Their weights, which sum to 1.
        square: ||p||^2.
        work: Multiplications so far, about: corral^3 for each affine hull.
    """

    def __init__(self) -> None:
        self._gram, self.count = np.zeros((0, 0)), 0
        self.corral, self.weights = np.zeros(0, np.int64), np.zeros(0)
        self.square = np.inf
        self.work = 0.0

    @property
    def gram(self) -> Matrix:
        """(corners, corners) inner products."""
        return self._gram[: self.count, : self.count]

    @property
    def largest(self) -> float:
        """Largest ||z||^2."""
        return float(np.max(self.gram.diagonal(), initial=0.0))

    def add(self, across: Matrix, own: Matrix) -> None:
        """Add corners.

        Args:
            across: (corners so far, new corners) inner products.
            own: (new corners, new corners) inner products.
        """
        old, new = self.count, len(own)
        if old + new > len(self._gram):
            grown = np.zeros((2 * (old + new), 2 * (old + new)))
            grown[:old, :old] = self.gram
            self._gram = grown
        self.count = old + new
        self._gram[:old, old : old + new] = across
        self._gram[old : old + new, :old] = across.T
        self._gram[old : old + new, old : old + new] = own

    def keep(self, corners: NDArray[np.int64]) -> None:
        """Forget all corners but these, in increasing order, which must include the corral."""
        self._gram = self.gram[np.ix_(corners, corners)].copy()
        self.count = len(corners)
        self.corral = np.searchsorted(corners, self.corral)

    def products(self) -> Vector:
        """Return <p,z> of every corner."""
        return np.asarray(np.einsum("ij,j->i", self.gram[:, self.corral], self.weights))

    def solve(self, flat: float, steps: int = STEPS, together: int = TOGETHER, work: float = np.inf) -> int:
        """Move p to the nearest point, and return the number of steps.

        Args:
            flat: ||p||^2 at which to stop.
            steps: Maximum number of steps.
            together: Maximum number of corners that enter the corral together.
            work: Value of `self.work` at which to stop.
        """
        if not len(self.corral) and self.count:
            self.corral, self.weights = np.array([int(np.argmin(self.gram.diagonal()))]), np.ones(1)
            self.square = float(self.gram[self.corral[0], self.corral[0]])
        slack, done = ROUNDED * self.largest, 0
        while done < steps and self.square > flat and self.work < work:
            done += 1
            products = self.products()
            low = products < self.square * (1.0 - TOLERANCE) - slack
            low[self.corral] = False
            if not low.any():
                break
            order = np.flatnonzero(low)
            entering = order[np.argsort(products[order], kind="stable")[:together]]
            if self._enter(entering):
                continue
            if together == 1 or len(entering) == 1:
                break  # no progress beyond rounding
            together = 1
        return done

    def _enter(self, corners: NDArray[np.int64]) -> bool:
        """Let corners enter the corral; return whether ||p|| decreased, and undo it if not."""
        corral, weights = np.concatenate([self.corral, corners]), np.append(self.weights, np.zeros(len(corners)))
        while True:
            wanted = self._affine(corral)
            if wanted is None:
                return False
            out = wanted <= 0.0
            if not out.any():
                weights = wanted
                break
            # Corners that entered with weight 0 and would become negative leave at once; then the first to reach 0.
            leaving = out & (weights <= 0.0)
            if not leaving.any():
                with np.errstate(divide="ignore", invalid="ignore"):
                    reach = np.where(out, weights / (weights - wanted), np.inf)
                step = float(np.min(reach))
                weights = np.maximum((1.0 - step) * weights + step * wanted, 0.0)
                leaving = reach <= step
            corral, weights = corral[~leaving], weights[~leaving]
            if not len(corral):
                return False
        part = self.gram[np.ix_(corral, corral)]
        square = float(weights @ part @ weights)
        if not square < self.square:
            return False
        self.corral, self.weights, self.square = corral, weights, square
        return True

    def _affine(self, corral: NDArray[np.int64]) -> Vector | None:
        """Return the weights of the nearest point of the affine hull; None if rounding prevents it."""
        self.work += float(len(corral)) ** 3
        part = self.gram[np.ix_(corral, corral)]
        ones = np.ones(len(corral))
        shifted = part + float(np.mean(part.diagonal()))  # definite if the corners are affinely independent
        try:
            np.linalg.cholesky(shifted)
            found = np.linalg.solve(shifted, ones)
        except np.linalg.LinAlgError:
            if len(corral) > len(self.corral) + 1:
                return None  # then they enter one by one
            try:
                found = np.linalg.lstsq(shifted, ones, rcond=1e-15)[0]
            except np.linalg.LinAlgError:
                return None
        total = float(np.sum(found))
        return np.asarray(found / total, dtype=np.float64) if np.isfinite(total) and total > 0.0 else None
