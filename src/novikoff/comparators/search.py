"""Search for good comparators: the shortest u for its hinge loss, and the widest margin.

Optimum
    R is 1 here, E the number of passes. The bounds of the Perceptron's theorems are least on the path of the support
    vector machine, where C satisfies an equation in the bound itself:
        hinge       C = a / sqrt M                  M = D + a sqrt M, so C is 1 - D/M, below 1
        squared     C = a / (2 sqrt Q)
        lengths     C = 2 kappa, kappa = ||u|| / (2 sqrt(sum of alpha/C ||x||^2))
    for (1/2)||u||^2 + C * (loss of all passes), as the derivatives along the path must agree. So C is found by
    fixed-point iteration from the previous solution, and the length of u by comparators/scale.py.
    With weights w_1 at the start the loss is D - <u,w_1>: u is C w_1 + the sum of alpha_t z_t.
Distance from the optimum
    Every alpha gives a limit that no comparator can beat (comparators/limits.py). The search ends when the bound found
    is within `gap` of that limit; within a tenth of `gap`, as long as that takes no more than CHEAP non-zeros.
Cost
    A few dozen epochs. It gives up after VISITS non-zeros per problem: the quality of the result is not guaranteed.
Reference
    [hsieh2008]; the path: [freund1999].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.descent import Descent
from novikoff.comparators.scale import FURTHER, Kappa, hinge_scale, lengths_scale, squared_scale

Vector = NDArray[np.float64]
Problem = Literal["hinge", "squared hinge", "lengths", "margin"]
Progress = Callable[["Step"], None]
"""Progress callback, called with each solved problem."""

FIRST = 0.25
"""First C, in units of 1/R^2."""
LARGEST = 1e6
"""Largest C of the squared hinge loss."""
STEPS, FEW = 12, 3
"""Maximum number of problems per search: if rows are in memory, and if they are read again for each epoch."""

VISITS, CHEAP = 2_000_000_000, 20_000_000
"""Non-zeros after which a problem is given up, and up to which a tighter gap is sought."""
CLOSE, FURTHEST = 0.3, 16.0
"""Distance of ln C from its goal at which the tolerance is tightened, and the largest factor of one step."""

THINNEST = 2.0**-100
"""Smallest margin that is divided by; a smaller one gives no useful bound."""

CLOSER = 0.3
"""Factor of the tolerance when C has converged and the limit is still too far away."""


@dataclass(frozen=True, slots=True)
class Step:
    """One solved problem: min (1/2)||u||^2 + cost * (loss of one pass), up to the duality gap.

    Numbers are as computed in the search, from rows in single precision.

    Attributes:
        problem: Name of the problem.
        cost: C.
        primal: Primal objective.
        dual: Dual objective.
        bound: Mistake bound of the best multiple of u, or the margin of u.
        limit: Bound that no comparator can beat, from this alpha.
        epochs: Epochs of the search so far.
        seconds: Seconds of the search so far.
    """

    problem: Problem
    cost: float
    primal: float
    dual: float
    bound: float
    limit: float
    epochs: int
    seconds: float


@dataclass(eq=False)
class Found:
    """Best comparator of a search, and the alpha with the best limit; rows are those of `Blocks`.

    Attributes:
        u: The comparator.
        bound: Its mistake bound, or margin, as computed.
        alpha: Dual variables with the best limit.
        cost: Upper limit of each alpha.
        limit: Bound that no comparator can beat, as computed.
        kappa: kappa of u, for the problem of lengths.
        steps: Solved problems.
    """

    u: Vector
    bound: float
    alpha: Vector
    cost: float
    limit: float = 0.0
    kappa: float = 0.0
    steps: list[Step] = field(default_factory=list)

    def gap(self) -> float:
        """Return the relative distance of the bound from the limit; bounds are rounded down, as mistakes are whole."""
        return 0.0 if math.floor(self.bound) <= self.limit else 1.0 - self.limit / self.bound


@dataclass(frozen=True, eq=False)
class Task:
    """Settings that the searches share.

    Attributes:
        radius: R in the units of the rows.
        passes: E.
        hopeless: Number of zero rows labelled -1, on which every comparator loses 1.
        gap: Relative distance from the optimum at which a search stops.
        start: w_1 in the units of the rows; None if zero.
        progress: Callback that receives each step.
    """

    radius: float
    passes: int
    hopeless: int
    gap: float
    start: Vector | None = None
    progress: Progress | None = None


def hinge_search(descent: Descent, task: Task, c: float = FIRST) -> Found:
    """Find the u with the least D + a^2/2 + a sqrt(D + a^2/4), starting from the descent's last hinge problem."""
    start, passes, radius = task.start, task.passes, task.radius
    weight = 0.0 if start is None else float(np.linalg.norm(start))

    def objective(margins: Vector) -> tuple[float, float, float]:
        square = float(descent.u @ descent.u)
        paid = cost * float(np.sum(np.maximum(1.0 - margins, 0.0)))
        if start is not None:
            paid -= cost / passes * float(descent.u @ start)
        dual = float(np.sum(descent.alpha)) + task.hopeless * cost - 0.5 * square
        return 0.5 * square + paid, dual, square + paid

    found = _nothing(descent, task)
    closer, budget = 1.0, _visits(descent)
    for _ in range(STEPS if descent.blocks.fits else FEW):
        cost = _go_on(descent, c * passes / radius**2, task)
        watch, before = _Watch(objective, closer * _wanted_gap(descent, task)), descent.visits
        descent.solve(cost, 0.0, watch, budget)
        budget -= descent.visits - before
        norm = float(np.linalg.norm(descent.u))
        dot = 0.0 if start is None else float(descent.u @ start)
        s, bound = hinge_scale(watch.margins, radius * norm, passes, dot, norm * weight)
        limit = _hinge_limit(descent, task, cost)
        _note(found, descent, task, Step("hinge", cost, watch.primal, watch.dual, bound, limit, 0, 0.0), s)
        if found.gap() <= _wanted_gap(descent, task) or s == 0.0 or norm == 0.0 or budget <= 0.0:
            break
        wanted = s * norm / math.sqrt(radius**2 * bound + weight**2) * radius**2
        closer *= CLOSER if abs(math.log(wanted / c)) < CLOSE else 1.0
        c *= min(max((wanted / c) ** FURTHER, 1.0 / FURTHEST), FURTHEST)
    return found


def squared_search(descent: Descent, task: Task, c: float = FIRST) -> Found:
    """Find the u with the least a + sqrt Q, starting from the descent's last squared problem, or any alpha."""
    passes, radius = task.passes, task.radius

    def objective(margins: Vector) -> tuple[float, float, float]:
        square = float(descent.u @ descent.u)
        primal = 0.5 * square + cost * float(np.sum(np.square(np.maximum(1.0 - margins, 0.0))))
        extra = float(np.sum(np.square(descent.alpha))) / (4.0 * cost)
        dual = float(np.sum(descent.alpha)) + task.hopeless * cost - 0.5 * square - extra
        return primal, dual, primal

    found = _nothing(descent, task)
    closer, budget = 1.0, _visits(descent)
    for _ in range(STEPS if descent.blocks.fits else FEW):
        cost = c * passes / radius**2
        if descent.diagonal > 0.0:
            descent.scale(cost * 2.0 * descent.diagonal)
        watch, before = _Watch(objective, closer * _wanted_gap(descent, task)), descent.visits
        descent.solve(math.inf, 0.5 / cost, watch, budget)
        budget -= descent.visits - before
        norm = float(np.linalg.norm(descent.u))
        s, bound = squared_scale(watch.margins, radius * norm, passes)
        limit = _squared_limit(descent, task, cost)
        _note(found, descent, task, Step("squared hinge", cost, watch.primal, watch.dual, bound, limit, 0, 0.0), s)
        if found.gap() <= _wanted_gap(descent, task) or s == 0.0 or norm == 0.0 or budget <= 0.0:
            break
        a = s * norm * radius
        rest = math.sqrt(bound) - a  # sqrt Q
        wanted = min(a / (2.0 * rest) if rest > 0.0 else LARGEST, LARGEST)
        closer *= CLOSER if abs(math.log(wanted / c)) < CLOSE else 1.0
        c *= min(max((wanted / c) ** FURTHER, 1.0 / FURTHEST), FURTHEST)
    return found


def lengths_search(descent: Descent, task: Task, c: float = FIRST) -> Found:
    """Minimise the sum of max(0, 1 + kappa ||z||^2 - <u,z>) + ||u||^2/(4 kappa) over u and kappa, which is convex.

    Args:
        descent: Descent to continue.
        task: Settings of the search.
        c: First kappa, in units of 1 / (mean ||z||^2).
    """
    start, passes, squares = task.start, task.passes, descent.blocks.squares()
    weight2 = 0.0 if start is None else float(start @ start)
    held = squares[squares > 0.0]
    found = _nothing(descent, task)
    if len(held) == 0:
        return found
    moving, closer, budget = Kappa(c / float(np.mean(held))), 1.0, _visits(descent)

    def objective(margins: Vector) -> tuple[float, float, float]:
        square = float(descent.u @ descent.u)
        paid = cost * float(np.sum(np.maximum(1.0 + kappa * squares - margins, 0.0)))
        if start is not None:
            paid -= cost / passes * float(descent.u @ start)
        dual = float(np.sum(descent.alpha * (1.0 + kappa * squares))) + task.hopeless * cost - 0.5 * square
        return 0.5 * square + paid, dual, square + paid

    for _ in range(STEPS if descent.blocks.fits else FEW):
        kappa = moving.value
        cost = _go_on(descent, 2.0 * kappa * passes, task)
        watch, before = _Watch(objective, closer * _wanted_gap(descent, task)), descent.visits
        descent.solve(cost, 0.0, watch, budget, kappa)
        budget -= descent.visits - before
        norm2 = float(descent.u @ descent.u)
        dot = 0.0 if start is None else float(descent.u @ start)
        s, bound = lengths_scale(watch.margins - kappa * squares, norm2 / (4.0 * kappa) - dot + kappa * weight2, passes)
        lengths = passes / cost * float(np.sum(descent.alpha * squares))
        limit = _lengths_limit(descent, task, cost, lengths)
        if bound < found.bound:
            found.kappa = s * kappa
        _note(found, descent, task, Step("lengths", cost, watch.primal, watch.dual, bound, limit, 0, 0.0), s)
        if found.gap() <= _wanted_gap(descent, task) or s == 0.0 or norm2 == 0.0 or lengths == 0.0 or budget <= 0.0:
            break
        wanted = math.sqrt(norm2 / (lengths + weight2)) / 2.0
        closer *= CLOSER if abs(math.log(wanted / kappa)) < CLOSE else 1.0
        moving.move(wanted)
    return found


class _Watch:
    """Stopping rule: the primal is within `tolerance` of the dual. It stores the last margins and objectives."""

    def __init__(self, objective: Callable[[Vector], tuple[float, float, float]], tolerance: float) -> None:
        self._objective, self._tolerance = objective, tolerance
        self.primal = self.dual = 0.0
        self.margins = np.zeros(0)

    def __call__(self, margins: Vector) -> bool:
        self.margins = margins
        self.primal, self.dual, unit = self._objective(margins)
        return self.primal - self.dual <= self._tolerance * max(unit, 0.0)


def margin_search(descent: Descent, task: Task) -> Found:
    """Find the u with the widest margin; `bound` is that margin, `limit` a margin that no u exceeds."""
    found = Found(np.zeros(len(descent.u)), 0.0, descent.alpha.copy(), math.inf, math.inf)
    rounds = float(task.passes * descent.blocks.rows)
    usable = descent.blocks.sample.square != 0.0 if descent.blocks.fits else None
    primal = dual = 0.0

    def enough(margins: Vector) -> bool:
        nonlocal primal, dual
        square, total = float(descent.u @ descent.u), float(np.sum(descent.alpha))
        least = float(np.min(margins if usable is None else margins[usable], initial=math.inf))
        norm = math.sqrt(square)
        primal = 0.5 * (norm / least) * (norm / least) if least > THINNEST else math.inf
        dual = total - 0.5 * square
        if norm == 0.0 or total == 0.0:
            return False
        width, limit = least / norm, norm / total
        if width > found.bound and least > THINNEST:
            found.bound, found.u = width, descent.u / least
        if limit < found.limit:
            found.limit, found.alpha = limit, descent.alpha.copy()
        return found.bound >= (
            1.0 - _wanted_gap(descent, task)
        ) * found.limit or task.radius >= found.limit * math.sqrt(rounds)

    if not enough(descent.margins()):
        descent.solve(math.inf, 0.0, enough, _visits(descent))
    _report(found, descent, task, Step("margin", math.inf, primal, dual, found.bound, found.limit, 0, 0.0))
    return found


def _hinge_limit(descent: Descent, task: Task, cost: float) -> float:
    """Return the bound that no comparator can beat by its hinge loss."""
    total = task.passes * (float(np.sum(descent.alpha)) / cost + task.hopeless)
    return _lengths_limit(descent, task, cost, task.radius**2 * total)


def _lengths_limit(descent: Descent, task: Task, cost: float, lengths: float) -> float:
    """Return the bound that no comparator can beat; lengths: at least E * (sum of alpha/C ||z||^2)."""
    total = task.passes * (float(np.sum(descent.alpha)) / cost + task.hopeless)
    whole = descent.u if task.start is None else descent.u - task.start * (cost / task.passes)
    mean = task.passes / cost * whole
    square = float(mean @ mean)
    if square == 0.0:
        return total
    dot = 0.0 if task.start is None else float(mean @ task.start)
    return max(min(1.0, (lengths - 2.0 * dot) / square), 0.0) * total


def _squared_limit(descent: Descent, task: Task, cost: float) -> float:
    """Return the bound that no comparator can beat by its squared hinge loss."""
    total = float(np.sum(descent.alpha)) + 2.0 * cost * task.hopeless
    spread = float(np.sum(np.square(descent.alpha))) + 4.0 * cost**2 * task.hopeless
    most = max(task.passes * spread, task.passes**2 * float(descent.u @ descent.u) / task.radius**2)
    return (task.passes * total) ** 2 / most if most > 0.0 else 0.0


def _wanted_gap(descent: Descent, task: Task) -> float:
    """Return the gap to reach: a tenth of the requested one while that is cheap."""
    cheap = descent.visits + 2 * descent.blocks.rows <= _visits(descent) * CHEAP / VISITS
    return task.gap / 10.0 if cheap else task.gap


def _visits(descent: Descent) -> float:
    """Return the maximum number of row visits for one problem."""
    blocks = descent.blocks
    return VISITS * max(blocks.rows, 1) / max(blocks.nonzeros, 1)


def _go_on(descent: Descent, cost: float, task: Task) -> float:
    """Rescale the last solution to this cost, or begin at the learner's initial weights; return the rounded cost."""
    if 0.0 < descent.cost < math.inf:
        factor = cost / descent.cost
        descent.scale(factor)
        return factor * descent.cost  # to the bit, so that an alpha at its limit stays there
    if task.start is not None:
        descent.u += task.start * (cost / task.passes)
    return cost


def _nothing(descent: Descent, task: Task) -> Found:
    """Return u = 0 as the initial result."""
    return Found(np.zeros(len(descent.u)), float(task.passes * descent.blocks.rows), np.zeros(0), 1.0)


def _note(found: Found, descent: Descent, task: Task, step: Step, s: float) -> None:
    """Keep the best solution, and report the step."""
    if step.bound < found.bound:
        found.u, found.bound = s * descent.u, step.bound
    if step.limit > found.limit:
        found.alpha, found.limit, found.cost = descent.alpha.copy(), step.limit, step.cost
    _report(found, descent, task, step)


def _report(found: Found, descent: Descent, task: Task, step: Step) -> None:
    """Append the step, with cost and objectives in the units of the stream, and call `progress`."""
    unit = descent.blocks.unit**2
    done = replace(step, cost=step.cost * unit, primal=step.primal * unit, dual=step.dual * unit,
                   epochs=descent.epochs, seconds=descent.seconds)  # fmt: skip
    found.steps.append(done)
    if task.progress:
        task.progress(done)
