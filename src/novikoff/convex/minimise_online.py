"""Online convex optimisation with losses of one's own: play a point of a convex set, then pay a convex loss.

Method
    "gradient"        project w - rate * gradient onto the set (Zinkevich)
    "ftrl"            minimise <sum of gradients, w> + |w - start|^2/(2 rate) over the set
    "mirror descent"  on the simplex: weights proportional to exp(-rate * sum of gradients)
    Rates adapt to the gradients, or are fixed (`rate`). Bound and proof: convex/theorems/online_convex_regret.py.
Comparator
    The certificate is about one fixed point u: a given one, or the best that was found. The search starts from the mean
    of the points played; scipy's SLSQP minimises the total loss up to 30 dimensions, then projected gradient steps
    improve it. Any u is sound. For a ball, a box and the simplex, `comparator_gap` bounds how much better the best
    point can be: by convexity its loss is at least F(u) + the least <F'(u), v - u> over v in the set.
Cost
    One projection per round; the losses are kept, and evaluated at the comparator: O(T) memory for points and
    gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.convex.sets import Ball, Box, ConvexSet, Simplex
from novikoff.convex.theorems.online_convex_regret import OnlineConvexFacts, online_convex_regret
from novikoff.core.certificate import Certificate, number
from novikoff.core.errors import InputError, shown

Vector = NDArray[np.float64]
Method = Literal["gradient", "ftrl", "mirror descent"]
METHODS = ("gradient", "ftrl", "mirror descent")
"""Names of the methods."""
PROMISES = (online_convex_regret,)
"""Theorems of a run."""
SOLVED = 30
"""Largest dimension that is solved with SLSQP."""
STEPS = 100
"""Largest number of projected gradient steps of the search for a comparator."""

Slope = Vector | Sequence[float]
"""A gradient, as a loss may return it."""
Loss = Callable[[Vector], tuple[float, Slope]] | tuple[Callable[[Vector], float], Callable[[Vector], Slope]]
"""A loss: a function from w to (value, gradient), or a pair of functions, value and gradient."""


class OnlineMinimiser:
    """Player of online convex optimisation: `point` is played, then `learn_one(loss)` pays and moves.

    Args:
        domain: Set of the points: `Ball`, `Box`, `Simplex` or `Projected`.
        method: "gradient", "ftrl" or "mirror descent" (on the simplex only).
        rate: Fixed learning rate; None for one that adapts to the gradients.

    Example:
        >>> import novikoff as nk
        >>> player = nk.OnlineMinimiser(nk.Box(-1.0, 1.0, dim=1))
        >>> for target in (1.0, 0.5, 0.5):
        ...     paid = player.learn_one(lambda w, y=target: (float((w[0] - y) ** 2), 2 * (w - y)))
        >>> player.rounds, player.certify()[0].holds
        (3, True)
    """

    def __init__(self, domain: ConvexSet, method: Method = "gradient", rate: float | None = None) -> None:
        if not isinstance(domain, ConvexSet):
            raise InputError(f"domain must be a convex set, such as Ball(1.0, dim=3): got {shown(domain)}.")
        if method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}: got {shown(method)}.")
        if method == "mirror descent" and not isinstance(domain, Simplex):
            raise InputError(
                f"mirror descent needs the simplex, where its distance is the entropy: got {domain!r}. "
                'Elsewhere pass method="gradient", which is mirror descent with the Euclidean distance.'
            )
        if rate is not None and not 0.0 < float(rate) < math.inf:
            raise InputError(f"rate must be a positive number: got {shown(rate)}. Leave it out for one that adapts.")
        self.domain, self.method, self.rate = domain, method, rate
        self.point: Vector = domain.start.copy()
        self._sum, self._squares, self._spent = np.zeros(domain.dim), 0.0, 0.0
        self._rate = math.inf if rate is None or method == "gradient" else float(rate)
        self._played, self._rose = self._rate, False  # rate of the last round
        self._points: list[Vector] = []
        self._gradients: list[Vector] = []
        self._losses: list[Loss] = []
        self._paid: list[float] = []

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        return len(self._paid)

    @property
    def points(self) -> Vector:
        """(T, dim) points played."""
        return np.array(self._points).reshape(-1, self.domain.dim)

    @property
    def gradients(self) -> Vector:
        """(T, dim) gradient of each loss at the point played."""
        return np.array(self._gradients).reshape(-1, self.domain.dim)

    @property
    def losses(self) -> Vector:
        """(T,) loss of each point played."""
        return np.array(self._paid)

    @property
    def loss(self) -> float:
        """Total loss."""
        return math.fsum(self._paid)

    def learn_one(self, loss: Loss) -> float:
        """Pay the loss at `point`, then move; return the loss paid."""
        value, gradient = evaluated(loss, self.point, self.rounds + 1)
        self._points.append(self.point)
        self._gradients.append(gradient)
        self._losses.append(loss)
        self._paid.append(value)
        # the gradient is in units of the simplex's total: the theorem is about probabilities
        scale = self.domain.total if isinstance(self.domain, Simplex) and self.method == "mirror descent" else 1.0
        size = (
            0.5 * float(np.ptp(gradient)) * scale
            if self.method == "mirror descent"
            else float(np.linalg.norm(gradient))
        )
        if self.method == "gradient":
            self._squares += size * size
            rate = self._played = self._next_rate()
            if size > 0.0:
                self._spent += 0.5 * rate * size * size
                self.point = self.domain.project(self.point - rate * gradient)
        else:
            reach = 2.0 if self.method == "mirror descent" else self.domain.diameter
            self._spent += min(0.5 * self._rate * size * size if size > 0.0 else 0.0, reach * size)
            self._squares += size * size
            self._sum = self._sum + gradient
            self._played, rate = self._rate, self._next_rate()
            if math.isfinite(rate):
                self.point = self._leader(rate, scale)
        return value

    def _next_rate(self) -> float:
        """Return the next rate: fixed, or by the gradients so far; infinite while there were none."""
        if self.rate is not None:
            found = self.rate
        elif self._squares == 0.0:
            found = math.inf
        elif self.method == "mirror descent":
            found = math.sqrt(max(math.log(self.domain.dim), 1e-300) / self._squares)
        else:
            found = self.domain.diameter / math.sqrt(2.0 * self._squares)
        self._rose = self._rose or found > self._rate
        if math.isfinite(found):
            self._rate = found
        return found

    def _leader(self, rate: float, scale: float) -> Vector:
        if self.method == "ftrl":
            return self.domain.project(self.domain.start - rate * self._sum)
        exponents = -rate * scale * (self._sum - self._sum.min())
        weights = np.exp(exponents)
        found: Vector = weights * (scale / weights.sum())
        return found

    def total(self, u: ArrayLike) -> float:
        """Return the total loss of always playing u."""
        point = np.asarray(u, np.float64)
        return math.fsum(evaluated(loss, point, t + 1)[0] for t, loss in enumerate(self._losses))

    def best(self) -> tuple[Vector, float | None]:
        """Return the best fixed point found, and an upper bound on its distance from the optimal loss, if known."""
        return _best(self.domain, self._losses, self.points)

    def certify(self, comparator: ArrayLike | None = None) -> list[Certificate]:
        """Return the regret against a fixed point and its bound.

        Args:
            comparator: Point of the set to compare with; None for the best that is found.
        """
        gap: float | None = None
        if comparator is None:
            u, gap = self.best() if self._losses else (self.domain.start, None)
        else:
            u = np.asarray(comparator, np.float64)
            if u.shape != (self.domain.dim,) or not np.isfinite(u).all():
                raise InputError(
                    f"the comparator must be a vector of {self.domain.dim:,} numbers: got {shown(comparator)}."
                )
        return [online_convex_regret(self._facts(u, "given point" if comparator is not None else "", gap))]

    def _facts(self, u: Vector, how: str, gap: float | None) -> OnlineConvexFacts:
        points, gradients, diameter = self.points, self.gradients, self.domain.diameter
        theirs = [evaluated(loss, u, t + 1)[0] for t, loss in enumerate(self._losses)]
        linear = np.einsum("ij,ij->i", gradients, points - u)
        norms = np.linalg.norm(gradients, axis=1)
        near = 1e-9 * (diameter + float(np.abs(u).max(initial=0.0)))
        allowed = 1e-9 * (1.0 + np.abs(self.losses) + np.abs(theirs)) + near * norms
        excess = self.losses - theirs - linear - allowed
        t = int(np.argmax(excess > 0.0)) if (excess > 0.0).any() else -1
        not_convex = "" if t < 0 else (
            f"the loss of round {t + 1:,} is not convex, or its gradient is wrong: l(w) - l(u) is "
            f"{self.losses[t] - theirs[t]:.6g}, above <g, w - u> = {linear[t]:.6g}"
        )  # fmt: skip
        far = bool(len(points)) and float(np.linalg.norm(points - u, axis=1).max()) > diameter + near
        outside = float(np.linalg.norm(self.domain.project(u) - u)) > near
        promised = self._promised()
        slack = math.fsum(allowed) + 2.0**-45 * (abs(promised) + float(np.abs(linear).sum())) + 1e-9
        total = math.fsum(linear)
        # a projection that is not this library's is refuted by a sum that a right one makes impossible
        wrong = not self.domain.known and total > promised + slack
        return OnlineConvexFacts(
            self.method, self.rounds, self.loss, math.fsum(theirs), total, promised, slack, self._largest(),
            not_convex, outside, self.domain.known, far or wrong, self._rose, how or "best fixed point found", gap,
        )  # fmt: skip

    def _promised(self) -> float:
        """Return B of the theorem."""
        if not math.isfinite(self._played) or not self.domain.diameter:
            return self._spent  # no gradient so far, or only that of the last round; or a single point
        if self.method == "mirror descent":
            return math.log(self.domain.dim) / self._played + self._spent
        return self.domain.diameter**2 / (2.0 * self._played) + self._spent

    def _largest(self) -> float:
        """Return the largest linear regret that the gradients allow against any fixed sequence of points."""
        found = 0.0
        for w, g in zip(self._points, self._gradients, strict=True):
            least = self.domain.least(g)
            found += self.domain.diameter * float(np.linalg.norm(g)) if least is None else float(g @ (w - least))
        return found

    def __repr__(self) -> str:
        return f"<OnlineMinimiser {self.method} on {self.domain!r}: {self.rounds:,} rounds, loss {number(self.loss)}>"


@dataclass(frozen=True, slots=True, repr=False)
class OnlineMinimisation:
    """Result of `minimise_online`.

    Attributes:
        player: The player, with all points, losses and gradients.
        comparator: Best fixed point that was found.
        comparator_loss: Its total loss.
        comparator_gap: Upper bound on its loss less that of the best point; None if unknown.
        certificates: Certificate of the regret against it.
    """

    player: OnlineMinimiser
    comparator: Vector
    comparator_loss: float
    comparator_gap: float | None
    certificates: tuple[Certificate, ...]

    @property
    def points(self) -> Vector:
        """(T, dim) points played."""
        return self.player.points

    @property
    def losses(self) -> Vector:
        """(T,) loss of each point played."""
        return self.player.losses

    @property
    def loss(self) -> float:
        """Total loss."""
        return self.player.loss

    @property
    def regret(self) -> float:
        """Loss less that of the comparator."""
        return self.loss - self.comparator_loss

    def certify(self, comparator: ArrayLike | None = None) -> list[Certificate]:
        """Return the certificates; against another point if one is given."""
        return list(self.certificates) if comparator is None else self.player.certify(comparator)

    def __repr__(self) -> str:
        return f"<OnlineMinimisation {self.player.rounds:,} rounds: {self.certificates[0]}>"

    def __str__(self) -> str:
        player = self.player
        first = f"{player.method} on {player.domain!r}: {player.rounds:,} rounds, loss {number(self.loss)}"
        gap = "" if self.comparator_gap is None else f" (at most {self.comparator_gap:.2g} above the optimum)"
        second = f"best fixed point: loss {number(self.comparator_loss)}{gap}"
        return "\n".join([first, second, *map(str, self.certificates)])


def minimise_online(
    losses: Iterable[Loss],
    domain: ConvexSet,
    method: Method = "gradient",
    rate: float | None = None,
) -> OnlineMinimisation:
    """Play online convex optimisation on losses of your own, and certify the regret against the best fixed point.

    Args:
        losses: One loss per round: a function from w to (value, gradient), or a pair of functions (value, gradient).
        domain: Set of the points: `Ball`, `Box`, `Simplex` or `Projected`.
        method: "gradient", "ftrl" or "mirror descent" (on the simplex only).
        rate: Fixed learning rate; None for one that adapts to the gradients.

    Returns:
        Points, losses, the best fixed point, and the certificate.

    Example:
        >>> import novikoff as nk
        >>> import numpy as np
        >>> targets = np.array([[1.0, 0.0], [0.0, 1.0]] * 50)
        >>> losses = [lambda w, y=y: (float((w - y) @ (w - y)), 2 * (w - y)) for y in targets]
        >>> run = nk.minimise_online(losses, nk.Ball(1.0, dim=2))
        >>> run.comparator.round(3).tolist(), run.certify()[0].status
        ([0.5, 0.5], 'valid')
    """
    player = OnlineMinimiser(domain, method, rate)
    for loss in losses:
        player.learn_one(loss)
    u, gap = player.best() if player.rounds else (domain.start, None)
    found = online_convex_regret(player._facts(u, "", gap))
    return OnlineMinimisation(player, u, player.total(u), gap, (found,))


def evaluated(loss: Loss, w: Vector, t: int) -> tuple[float, Vector]:
    """Return value and gradient of a loss at w; raise `InputError` with the round if they are not finite numbers."""
    point = w.copy()  # a loss may change its argument
    value: object
    gradient: object
    try:
        if isinstance(loss, tuple):
            value, gradient = loss[0](point), loss[1](w.copy())
        else:
            value, gradient = loss(point)
        found, slope = float(value), np.array(gradient, np.float64).reshape(-1)
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(
            "a loss must be a function from w to (value, gradient), or a pair of functions",
            f"that of round {t:,} raised {type(error).__name__}: {error}",
        ) from error
    if slope.shape != w.shape:
        raise InputError(f"the gradient must have {len(w):,} numbers", f"that of round {t:,} has {len(slope):,}")
    if not math.isfinite(found) or not np.isfinite(slope).all():
        raise InputError("a loss and its gradient must be finite", f"round {t:,} has {found} and {shown(slope)}")
    return found, slope


def _best(domain: ConvexSet, losses: Sequence[Loss], points: Vector) -> tuple[Vector, float | None]:
    """Return the point of the least total loss that is found, and a bound on its distance from the optimum."""

    def total(w: Vector) -> tuple[float, Vector]:
        parts = [evaluated(loss, w, t + 1) for t, loss in enumerate(losses)]
        return math.fsum(value for value, _ in parts), np.sum([gradient for _, gradient in parts], axis=0)

    def distance(w: Vector, gradient: Vector) -> float | None:
        least = domain.least(gradient)
        return None if least is None else max(float(gradient @ (w - least)), 0.0)

    best = domain.project(points.mean(axis=0))
    value, gradient = total(best)
    solved = _solved(domain, total, best) if domain.dim <= SOLVED and domain.diameter else None
    if solved is not None:
        solved = domain.project(solved)
        other, slope = total(solved)
        if other < value:
            best, value, gradient = solved, other, slope
    norm = float(np.linalg.norm(gradient))
    step = domain.diameter / norm if norm > 0.0 else 0.0
    for _ in range(STEPS):
        gap = distance(best, gradient)
        if step * norm <= 1e-12 * domain.diameter or (gap is not None and gap <= 1e-9 * (1.0 + abs(value))):
            break
        trial = domain.project(best - step * gradient)
        other, slope = total(trial)
        moved = trial - best
        # the model of a smooth loss with curvature 1/step: above it, the step is too long
        smooth = value + float(gradient @ moved) + float(moved @ moved) / (2.0 * step)
        step *= 1.5 if other <= smooth else 0.5
        if other < value:
            best, value, gradient = trial, other, slope
            norm = float(np.linalg.norm(gradient))
    return best, distance(best, gradient)


def _solved(domain: ConvexSet, total: Callable[[Vector], tuple[float, Vector]], start: Vector) -> Vector | None:
    """Return the minimum by SLSQP over a ball, a box or the simplex; None for another set, or if it fails."""
    from scipy.optimize import minimize

    more: dict[str, object]
    options = {"maxiter": 200, "ftol": 1e-14}
    if isinstance(domain, Ball):
        center, square = domain.start, domain.radius**2
        inside = {
            "type": "ineq",
            "fun": lambda w: square - (w - center) @ (w - center),
            "jac": lambda w: -2.0 * (w - center),
        }
        more = {"constraints": [inside]}
    elif isinstance(domain, Box):
        more = {"bounds": list(zip(domain.low.tolist(), domain.high.tolist(), strict=True))}
    elif isinstance(domain, Simplex):
        sums = {"type": "eq", "fun": lambda w: w.sum() - domain.total, "jac": lambda w: np.ones(domain.dim)}
        more = {"bounds": [(0.0, domain.total)] * domain.dim, "constraints": [sums]}
    else:
        return None
    try:
        with np.errstate(all="ignore"):
            found = minimize(total, start, jac=True, method="SLSQP", options=options, **more)
    except (InputError, ValueError, ArithmeticError):
        return None  # a loss that is not defined outside the set
    return found.x if np.isfinite(found.x).all() else None
