"""Comparators in hindsight: the best there are, for a stream that can be read again.

Algorithm
    The stream is read once to see what there is (comparators/blocks.py). Then good directions are searched for: for the
    hinge loss, for its square, and for the margin (comparators/search.py). At last the whole stream is read again, and
    the three directions found, each at the length that was best for it, are shown every row (comparators/riders.py).
Promise
    The facts are those of the last reading alone, summed as for comparators that ride along: whatever the search did,
    the certificates hold. The brackets say how far the bounds are from the best that any comparator could give
    (comparators/limits.py). If the stream was not the same in the last reading as in the first, or as in the game (by
    its fingerprint, and by what the comparators that rode along see there again), the facts have a flaw, and the
    certificates are void.
Cost
    A few dozen epochs; memory `memory` bytes and 24 a row and 60 a feature.
Reference
    [novikoff1962], [freund1999]; the search: [hsieh2008].
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.blocks import MEMORY, Blocks
from novikoff.comparators.descent import Descent
from novikoff.comparators.limits import Bracket, Mixture, down, hinge_limit, margin_limit, squared_limit, up
from novikoff.comparators.placing import again, placed, the_same
from novikoff.comparators.reading import Reading, fingerprint
from novikoff.comparators.riders import Comparator, Riders
from novikoff.comparators.riding import HEAVIEST, RidingFacts
from novikoff.comparators.rounding import length_of, root
from novikoff.comparators.search import FIRST, Found, Step, Task, Tell, hinge_search, margin_search, squared_search
from novikoff.errors import InputError
from novikoff.types import Stream

Vector = NDArray[np.float64]

CHANGED = "the source changed between the game and the comparators' reading"
OTHERS = "the rounds of the game are not those of this source, read as often as there were passes"


@dataclass(frozen=True, slots=True, eq=False)
class Hindsight:
    """What was found.

    facts           for the certificates, in place of those of comparators that rode along
    directions      U for the margin, the hinge loss and its square, the weight of the bias last: comparator u of the
                    facts is directions[u.direction - 1] / u.scale
    margin          the largest margin of a unit vector, low being that of ours; 0, 0 if there is none
    hinge           the least mistake bound of a comparator by its hinge loss, high being that of ours
    squared_hinge   and by its squared hinge loss; None, as for the margin, for a learner that did not start at zero
    steps           the problems that were solved on the way
    in_memory       all rows were held; else they were read `reads` times
    """

    facts: RidingFacts
    directions: NDArray[np.float64]
    margin: Bracket | None
    hinge: Bracket
    squared_hinge: Bracket | None
    steps: tuple[Step, ...]
    in_memory: bool
    reads: int
    epochs: int
    seconds: float


def hindsight(
    stream: Stream,
    bias: float = 0.0,
    normalize: bool = False,
    passes: int = 1,
    start: ArrayLike | None = None,
    gap: float = 0.01,
    progress: Tell | None = None,
    rounds: int | None = None,
    names: Mapping[str, int] | None = None,
    played: Any = None,
    memory: int = MEMORY,
    rode: RidingFacts | None = None,
) -> Hindsight:
    """Good comparators for a game that was played on `stream`, as a fresh pass shows it.

    bias, normalize   the learner's: x~ is x, of length 1 if `normalize`, and then the constant `bias` if it is not 0
    passes            how often the learner went through the stream
    start             its weights before the first round, that of the bias last; None if all are zero
    gap               how close to the best the bounds should be, relatively
    progress          called with each problem that was solved
    rounds            of the stream that were played, if not all; with one pass
    names             places of named features in `start`
    played            the fingerprint of the stream when it was played, if it has one
    memory            bytes of rows to hold
    rode              what comparators that rode along saw: the rows of the stream must be those of the game
    """
    began = time.perf_counter()
    if not stream.rereadable:
        raise InputError(f"hindsight needs a stream that can be read again: {stream.name} cannot. Save it in a file.")
    if passes < 1 or (rounds is not None and passes > 1):
        raise InputError(f"passes must be at least 1, and 1 if rounds are given: got {passes} and rounds={rounds}.")
    if not 0.0 < gap < 1.0:
        raise InputError(f"a gap must be between 0 and 1: got {gap}.")
    bias, first = float(bias), None if start is None else np.array(start, dtype=np.float64)
    first = first if first is not None and np.any(first) else None
    heavy = first is not None and not np.max(np.abs(first)) <= HEAVIEST
    weights = None if heavy else first
    blocks = Blocks(stream, bias, normalize, rounds, names, memory)
    task = Task(math.sqrt(blocks.longest), passes, blocks.reading.hopeless, gap, _inside(weights, blocks), progress)
    hinge, squared, margin, epochs = _search(blocks, task)
    directions = [None if found is None else found.u for found in (margin, hinge, squared)]
    riders = placed(blocks, directions, task.radius)
    echo = None if rode is None or rode.flaw else again(rode)
    reading = blocks.show(riders) if echo is None else blocks.show(riders, echo)
    flaw = riders.flaw or ("the weights at the start were too large" if heavy else "")
    if rode is not None and echo is not None and not the_same(rode, echo, passes, reading.left_out):
        flaw = OTHERS
    same = reading == blocks.reading and len(set(map(repr, [*reading.fingerprint, played or fingerprint(stream)]))) == 1
    facts = _facts(riders, reading, weights, passes, flaw if same else CHANGED, bias, normalize)
    brackets = _brackets(blocks, task, facts, weights, hinge, squared, margin)
    steps = tuple(step for found in (hinge, squared, margin) if found for step in found.steps)
    shown = np.vstack([riders.U[:-1, : len(riders.own)], riders.own]).T.astype(np.float64)
    seconds = time.perf_counter() - began
    return Hindsight(facts, shown, *brackets, steps, blocks.fits, blocks.passes + 1, epochs, seconds)


def joined(rode: RidingFacts, found: RidingFacts) -> RidingFacts:
    """The comparators that rode along and those found in hindsight, together.

    Both must have seen the same rounds, by their number and length; else those that rode along, alone. Non-zeros may
    differ: the first rows are kept without their zeros, and rows that are read again have them.
    """
    alike = all(getattr(rode, name) == getattr(found, name) for name in
                ("rows", "bias", "normalize", "start_square", "start_exact"))  # fmt: skip
    close = abs(rode.square - found.square) <= rode.square / 2**30
    if found.flaw or rode.flaw or not (alike and close):
        return rode
    last = max(len(rode.directions), *(u.direction for u in rode.comparators))
    more = tuple(replace(u, direction=last + u.direction) if u.direction else u for u in found.comparators)
    return replace(rode, square=min(rode.square, found.square), nonzeros=max(rode.nonzeros, found.nonzeros),
                   exact=rode.exact and found.exact, comparators=rode.comparators + more,
                   directions=rode.directions + found.directions if rode.directions else ())  # fmt: skip


def _inside(start: Vector | None, blocks: Blocks) -> Vector | None:
    """w_1 in the units of the blocks, the bias first."""
    if start is None:
        return None
    inside = np.zeros(blocks.width)
    width = min(len(start), blocks.width) - 1
    inside[0], inside[1 : width + 1] = start[-1], start[:width]
    return inside * blocks.unit


def _search(blocks: Blocks, task: Task) -> tuple[Found, Found | None, Found | None, int]:
    """The hinge loss, its square, and the margin; and how many epochs it took."""
    if task.radius == 0.0:
        descent = Descent(blocks)
        return Found(descent.u, float(task.passes * blocks.rows), descent.alpha, 1.0), None, None, 0
    first, second, c, d = Descent(blocks), Descent(blocks), FIRST, FIRST
    if not blocks.fits:  # the first rows tell about where to look
        head, small = Descent(blocks.head()), replace(task, tell=None, hopeless=0)
        hinge_search(head, small)
        c = head.cost * task.radius**2 / task.passes
        first.go_on_from(head)
        if task.start is None:
            squared_search(head, small)
            d = 0.5 / head.diagonal * task.radius**2 / task.passes
            second.go_on_from(head)
    hinge = hinge_search(first, task, c)
    if task.start is not None:
        return hinge, None, None, first.epochs
    if blocks.fits:
        second.go_on_from(first)
    squared = squared_search(second, task, d)
    margin = margin_search(first, task) if task.hopeless == 0 else None
    return hinge, squared, margin, first.epochs + second.epochs


def _facts(
    riders: Riders, reading: Reading, start: Vector | None, passes: int, flaw: str, bias: float, normalize: bool
) -> RidingFacts:  # fmt: skip
    """What the last reading has shown, for all passes."""
    square, exact = (Fraction(0), True) if start is None else length_of(start)
    # Told weights, the riders also give the comparators that would be too long for a single pass.
    told = np.zeros(2) if start is None and passes > 1 else start
    comparators = [
        replace(u, hinge=passes * u.hinge, squared_hinge=passes * u.squared_hinge,
                start=Fraction(0) if start is None else u.start)
        for u in riders.comparators(told)
    ]  # fmt: skip
    return RidingFacts(
        rows=passes * reading.rows,
        square=Fraction(0) if flaw else riders.square(),
        nonzeros=riders.nonzeros,
        exact=riders.exact,
        comparators=tuple(comparators[:1] if flaw else comparators),
        start_square=square,
        start_exact=exact,
        bias=bias,
        normalize=normalize,
        flaw=flaw,
        directions=riders.directions(),
    )


def _brackets(
    blocks: Blocks, task: Task, facts: RidingFacts, start: Vector | None, hinge: Found, squared: Found | None,
    margin: Found | None,
) -> tuple[Bracket | None, Bracket, Bracket | None]:  # fmt: skip
    """Between what the facts say and what the alphas of the search leave possible."""
    if facts.flaw:
        return None, Bracket(0.0, math.inf), None
    passes, hopeless = task.passes, task.hopeless

    def mixture(found: Found) -> Mixture:
        alpha = found.alpha if len(found.alpha) == blocks.rows else np.zeros(blocks.rows)
        return Mixture.of(blocks, alpha, facts.square, start)

    mixed = mixture(hinge)
    most = Fraction(float(np.max(hinge.alpha, initial=hinge.cost)))
    hinge_low = hinge_limit(mixed, most, facts, passes, hopeless)
    hinge_high = min(_hinge_bounds(facts), default=math.inf)
    if start is not None:
        return None, Bracket(hinge_low, hinge_high), None
    margins = [margin_limit(mixed)]
    if squared is None:
        low = float(passes * hopeless)
        return Bracket(0.0, 0.0), Bracket(hinge_low, hinge_high), Bracket(low, low)
    mixed = mixture(squared)
    margins.append(margin_limit(mixed))
    squared_low = squared_limit(mixed, Fraction(squared.cost), facts, passes, hopeless)
    squared_high = min(
        up((root(facts.square * u.square) + root(u.squared_hinge)) ** 2)
        for u in _few(facts, lambda u, r: (math.sqrt(r * float(u.square)) + math.sqrt(float(u.squared_hinge))) ** 2)
    )
    widest = min((u.square for u in facts.comparators if u.direction and u.hinge == 0), default=None)
    if margin is not None:
        margins.append(margin_limit(mixture(margin)))
    margin_high = 0.0 if hopeless else min(margins)
    margin_low = 0.0 if widest is None else down(1 / root(widest))
    return Bracket(margin_low, margin_high), Bracket(hinge_low, hinge_high), Bracket(squared_low, squared_high)


def _hinge_bounds(facts: RidingFacts) -> list[float]:
    """The bounds of the best comparators, rounded up."""

    def about(u: Comparator, r: float) -> float:
        a2, loss = r * float(u.square), float(u.hinge - u.start)
        return loss + a2 / 2 + math.sqrt(max(a2 * loss + a2**2 / 4 + float(u.square * facts.start_square), 0.0))

    bounds = []
    for u in _few(facts, about):
        a2, loss = facts.square * u.square, u.hinge - u.start
        inside = a2 * loss + a2**2 / 4 + u.square * facts.start_square
        bounds.append(up(loss + a2 / 2 + root(max(inside, Fraction(0)))))
    return bounds


def _few(facts: RidingFacts, about: Callable[[Comparator, float], float]) -> list[Comparator]:
    """The comparators that are best, about: the rest need not be looked at exactly."""
    r = float(facts.square)

    def key(u: Comparator) -> float:
        try:
            return about(u, r)
        except OverflowError:
            return math.inf

    return sorted(facts.comparators, key=key)[:3]
