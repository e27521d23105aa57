"""The search for good comparators: the shortest u for the hinge loss it has, and the widest margin.

What is best
    R is 1 here, E the number of passes. The bounds of the Perceptron's theorems are least on the path of the support
    vector machine, where C is what the bound says itself:
        hinge       C = a / sqrt M                  M = D + a sqrt M, so C is 1 - D/M, below 1
        squared     C = a / (2 sqrt Q)
        lengths     C = 2 kappa, kappa = ||u|| / (2 sqrt(sum of alpha/C ||x||^2))
    for (1/2)||u||^2 + C * (loss of all passes), as the derivatives along the path must agree. So C is found by putting
    it in again, from the solution before, and the length of u by comparators/scale.py.
    With weights w_1 at the start the loss is D - <u,w_1>: u is C w_1 + the sum of alpha_t z_t.
How far from the best
    Every alpha limits what any comparator can reach (comparators/limits.py); when the limit is within `gap` of what was
    found, the search is over; within a tenth of it, as long as it took no more than CHEAP non-zeros.
Cost
    A few dozen epochs. It gives up after VISITS non-zeros for a problem: nothing is promised of what it finds.
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
from novikoff.comparators.scale import Kappa, hinge_scale, lengths_scale, squared_scale

Vector = NDArray[np.float64]
Problem = Literal["hinge", "squared hinge", "lengths", "margin"]
Tell = Callable[["Step"], None]

FIRST = 0.25
LARGEST = 1e6
STEPS, FEW = 12, 3
"""Problems for one search; fewer if rows must be read again for each epoch."""

VISITS, CHEAP = 2_000_000_000, 20_000_000
CLOSE, FURTHEST = 0.3, 16.0
FURTHER = 1.25
"""C goes a little further than to where it is put: a fifth of the way is left each time, as streams go."""

THINNEST = 2.0**-100
"""A margin that says nothing, but would have to be divided by."""

CLOSER = 0.3
"""What is left of the tolerance when C is found and the limit is still too far."""


@dataclass(frozen=True, slots=True)
class Step:
    """One problem solved: min (1/2)||u||^2 + cost * (loss of one pass), up to the gap from primal to dual.

    bound    the mistake bound of the best multiple of u, or the margin of u
    limit    what no comparator can beat, by this alpha
    epochs   and seconds, of the search so far
    Numbers of the search: as computed, from rows in single precision.
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
    """The best comparator of a search, and the alpha with the best limit. Rows are those of `Blocks`.

    bound, limit   as computed; `cost` is what alpha is limited by
    kappa          of u, for the problem of lengths
    """

    u: Vector
    bound: float
    alpha: Vector
    cost: float
    limit: float = 0.0
    kappa: float = 0.0
    steps: list[Step] = field(default_factory=list)

    def gap(self) -> float:
        """How far the bound is from the limit, relatively; whole numbers count, as mistakes do."""
        return 0.0 if math.floor(self.bound) <= self.limit else 1.0 - self.limit / self.bound


@dataclass(frozen=True, eq=False)
class Task:
    """What the searches share.

    radius     R in the units of the rows
    passes     E
    hopeless   zero rows labelled -1: every comparator loses 1 there
    start      w_1 in the units of the rows, None if zero
    """

    radius: float
    passes: int
    hopeless: int
    gap: float
    start: Vector | None = None
    tell: Tell | None = None


def hinge_search(descent: Descent, task: Task, c: float = FIRST) -> Found:
    """The u with the least D + a^2/2 + a sqrt(D + a^2/4); the descent goes on from the hinge problem it solved last."""
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
    """The u with the least a + sqrt Q; the descent goes on from the squared problem it solved last, or any alpha."""
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
    """The u and kappa with the least sum of max(0, 1 + kappa ||z||^2 - <u,z>) + ||u||^2/(4 kappa), which is convex.

    c   the first kappa, in units of 1 / (mean ||z||^2)
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
    """Looks at margins: is the primal within `tolerance` of the dual? It remembers what it saw last."""

    def __init__(self, objective: Callable[[Vector], tuple[float, float, float]], tolerance: float) -> None:
        self._objective, self._tolerance = objective, tolerance
        self.primal = self.dual = 0.0
        self.margins = np.zeros(0)

    def __call__(self, margins: Vector) -> bool:
        self.margins = margins
        self.primal, self.dual, unit = self._objective(margins)
        return self.primal - self.dual <= self._tolerance * max(unit, 0.0)


def margin_search(descent: Descent, task: Task) -> Found:
    """The u with the widest margin; its bound is that margin, its limit what no u can reach."""
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
    _tell(found, descent, task, Step("margin", math.inf, primal, dual, found.bound, found.limit, 0, 0.0))
    return found


def _hinge_limit(descent: Descent, task: Task, cost: float) -> float:
    total = task.passes * (float(np.sum(descent.alpha)) / cost + task.hopeless)
    return _lengths_limit(descent, task, cost, task.radius**2 * total)


def _lengths_limit(descent: Descent, task: Task, cost: float, lengths: float) -> float:
    """lengths: E * (sum of alpha/C ||z||^2), or what is larger."""
    total = task.passes * (float(np.sum(descent.alpha)) / cost + task.hopeless)
    whole = descent.u if task.start is None else descent.u - task.start * (cost / task.passes)
    mean = task.passes / cost * whole
    square = float(mean @ mean)
    if square == 0.0:
        return total
    dot = 0.0 if task.start is None else float(mean @ task.start)
    return max(min(1.0, (lengths - 2.0 * dot) / square), 0.0) * total


def _squared_limit(descent: Descent, task: Task, cost: float) -> float:
    total = float(np.sum(descent.alpha)) + 2.0 * cost * task.hopeless
    spread = float(np.sum(np.square(descent.alpha))) + 4.0 * cost**2 * task.hopeless
    most = max(task.passes * spread, task.passes**2 * float(descent.u @ descent.u) / task.radius**2)
    return (task.passes * total) ** 2 / most if most > 0.0 else 0.0


def _wanted_gap(descent: Descent, task: Task) -> float:
    cheap = descent.visits + 2 * descent.blocks.rows <= _visits(descent) * CHEAP / VISITS
    return task.gap / 10.0 if cheap else task.gap


def _visits(descent: Descent) -> float:
    """How many rows may be visited for one problem."""
    blocks = descent.blocks
    return VISITS * max(blocks.rows, 1) / max(blocks.nonzeros, 1)


def _go_on(descent: Descent, cost: float, task: Task) -> float:
    """Scale what was found with another cost to this one, or begin with the learner's start; the cost, nearly."""
    if 0.0 < descent.cost < math.inf:
        factor = cost / descent.cost
        descent.scale(factor)
        return factor * descent.cost  # to the bit, so that an alpha at its limit stays there
    if task.start is not None:
        descent.u += task.start * (cost / task.passes)
    return cost


def _nothing(descent: Descent, task: Task) -> Found:
    """u = 0."""
    return Found(np.zeros(len(descent.u)), float(task.passes * descent.blocks.rows), np.zeros(0), 1.0)


def _note(found: Found, descent: Descent, task: Task, step: Step, s: float) -> None:
    """Keep the best, and tell."""
    if step.bound < found.bound:
        found.u, found.bound = s * descent.u, step.bound
    if step.limit > found.limit:
        found.alpha, found.limit, found.cost = descent.alpha.copy(), step.limit, step.cost
    _tell(found, descent, task, step)


def _tell(found: Found, descent: Descent, task: Task, step: Step) -> None:
    """Add the step, its cost and objective in the units of the stream."""
    unit = descent.blocks.unit**2
    done = replace(step, cost=step.cost * unit, primal=step.primal * unit, dual=step.dual * unit,
                   epochs=descent.epochs, seconds=descent.seconds)  # fmt: skip
    found.steps.append(done)
    if task.tell:
        task.tell(done)
