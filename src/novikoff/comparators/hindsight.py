"""Comparators in hindsight: the best ones for a stream that can be read again.

Algorithm
    The stream is read once to learn its size and scale (comparators/blocks.py). Then good directions are searched for:
    for the margin (comparators/separation.py), for the hinge loss, for its square, and for targets that grow with the
    length (comparators/search.py). Finally the whole stream is read again, and the directions found, each at its best
    length, are evaluated on every row (comparators/linear.py).
Promise
    The facts come from the last reading only, summed as for comparators during a game: the certificates do not depend
    on the search. The brackets bound the distance from the best possible comparator (comparators/limits.py). If the
    stream of the last reading differs from that of the first, or from that of the game (by its fingerprint, and by the
    sums of the game's comparators on it), the facts are invalid, and the certificates are void.
Cost
    A few dozen epochs, with three searches in parallel; memory: `memory` bytes, 24 per row and 60 per feature.
Reference
    [novikoff1962], [freund1999]; the search: [hsieh2008].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.blocks import MEMORY, Blocks
from novikoff.comparators.descent import Descent
from novikoff.comparators.limits import (
    Bracket,
    Mixture,
    down,
    hinge_limit,
    lengths_limit,
    margin_limit,
    squared_limit,
    up,
)
from novikoff.comparators.linear import HEAVIEST, LinearScorer
from novikoff.comparators.linear_tracker import LinearComparatorFacts
from novikoff.comparators.rereading import Reading, fingerprint
from novikoff.comparators.rounding import length_of, root
from novikoff.comparators.search import (
    FIRST,
    Found,
    Progress,
    Step,
    Task,
    hinge_search,
    lengths_search,
    margin_search,
    squared_search,
)
from novikoff.comparators.second_pass import again, placed, same_sums
from novikoff.comparators.separation import (
    MOST_EXACT_PATIENT,
    NOT_SEARCHED,
    WORK_PATIENT,
    Separation,
    Separator,
    separate,
)
from novikoff.comparators.tally import Comparator
from novikoff.core.errors import InputError
from novikoff.core.executors import Executor, Over, Threads, executor
from novikoff.core.types import Source
from novikoff.data.as_stream import Wanted, source_for
from novikoff.numerics.clock import clock

Vector = NDArray[np.float64]

CHANGED = "the source changed between the game and the comparators' reading"
"""Reason of void facts: the source changed."""
READINGS, READINGS_OUTSIDE = 300, 30
"""Number of times that the search for a separator reads all rows, about: in memory, and outside."""
OTHERS = "the rounds of the game are not those of this source, read as often as there were passes"
"""Reason of void facts: the game was played on other rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Hindsight:
    """Comparators found in hindsight.

    Attributes:
        facts: Facts for the certificates, in addition to those of the comparators during the game.
        directions: U for the margin, the hinge loss, its square and lengths, and the separator with the widest margin
            in double precision, the bias weight last: comparator u of the facts is directions[u.direction - 1] /
            u.scale.
        margin: Bracket of the largest margin of a unit vector; `low` is the margin found. Both are 0 if no vector
            separates the labels.
        hinge: Bracket of the least mistake bound of a comparator by its hinge loss; `high` is the bound found.
        squared_hinge: Bracket of the least bound by squared hinge loss. It is None, as is `margin`, for a learner that
            did not start at zero.
        lengths: Bracket of the least bound with targets that grow with the length, over all kappa.
        steps: Optimisation problems that the searches solved.
        in_memory: Whether all rows were held in memory; else they were read `reads` times.
        reads: Number of times the stream was read.
        epochs: Epochs of all searches.
        seconds: Duration.
    """

    facts: LinearComparatorFacts
    directions: NDArray[np.float64]
    margin: Bracket | None
    hinge: Bracket
    squared_hinge: Bracket | None
    lengths: Bracket
    steps: tuple[Step, ...]
    in_memory: bool
    reads: int
    epochs: int
    seconds: float

    def __repr__(self) -> str:
        least = f"mistakes <= {math.floor(min(self.hinge.high, self.lengths.high)):,}"
        return f"<Hindsight, {self.facts.invalid_reason or least}, {self.epochs:,} epochs>"

    def joined(self, tracked: LinearComparatorFacts) -> LinearComparatorFacts:
        """Return these facts joined with those of the comparators during the game."""
        return joined(tracked, self.facts)


def hindsight(
    stream: Source,
    bias: float = 0.0,
    normalize: bool = False,
    passes: int = 1,
    start: ArrayLike | None = None,
    gap: float = 0.01,
    progress: Progress | None = None,
    rounds: int | None = None,
    names: Mapping[str, int] | None = None,
    played: object = None,
    memory: int = MEMORY,
    tracked: LinearComparatorFacts | None = None,
    on: str | Executor = "threads",
    threads: int | None = None,
) -> Hindsight:
    """Find good comparators for a game that was played on `stream`, in fresh passes over it.

    Args:
        stream: Source of the game, which can be read again: a stream, a path, arrays (X, y) or a data frame.
        bias: The learner's value of a constant feature; 0 for none.
        normalize: Whether the learner divides each x by its norm.
        passes: Number of passes that the learner made.
        start: The learner's weights before the first round, the bias weight last; None if all are zero.
        gap: Relative distance from the optimum at which the search stops.
        progress: Callback that receives each solved problem.
        rounds: Number of rounds played, if not the whole stream; only with one pass.
        names: Position of each named feature in `start`.
        played: Fingerprint of the stream when it was played, if it has one.
        memory: Bytes of rows to hold in memory.
        tracked: Facts of the comparators of the game; the rows of the stream must be those of the game.
        on: Executor of up to three searches: "threads", "ray", or the address of a Ray cluster.
        threads: Number of threads; None for one per core.

    Returns:
        The comparators, their facts, and brackets of their distance from the optimum.

    Example:
        >>> import numpy as np
        >>> import novikoff as nk
        >>> rows = nk.Arrays(np.array([[1.0, 0.0], [0.0, 1.0]] * 10), np.array([-1, 1] * 10))
        >>> round(nk.hindsight(rows, threads=1).margin.low, 3)
        0.707
    """
    began, stream = clock(), source_for(stream, Wanted("binary"))
    if not stream.rereadable:
        raise InputError(f"hindsight needs a stream that can be read again: {stream.name} cannot. Save it in a file.")
    if passes < 1 or (rounds is not None and passes > 1):
        raise InputError(f"passes must be at least 1, and 1 if rounds are given: got {passes} and rounds={rounds}.")
    if not 0.0 < gap < 1.0:
        raise InputError(f"gap must be between 0 and 1: got {gap}.")
    bias, first = float(bias), None if start is None else np.array(start, dtype=np.float64)
    first = first if first is not None and np.any(first) else None
    heavy = first is not None and not np.max(np.abs(first)) <= HEAVIEST
    weights = None if heavy else first
    blocks = Blocks(stream, bias, normalize, rounds, names, memory)
    task = Task(math.sqrt(blocks.longest), passes, blocks.reading.hopeless, gap, _inside(weights, blocks), progress)
    separation = NOT_SEARCHED if weights is not None else _separation(blocks)
    found = _search(blocks, task, executor(on, threads), separation.outcome == "unknown")
    widest = _inside(separation.u / blocks.unit, blocks) if separation.found else None
    directions = [widest, *(None if one is None else one.u for one in (found.hinge, found.squared))]
    if found.margin is not None:
        directions[0] = found.margin.u
    scorer, separator = placed(blocks, directions), Separator(separation.u, bias, normalize)
    penalized = placed(blocks, [found.lengths.u], [(0, found.lengths.kappa)])
    echo = None if tracked is None or tracked.invalid_reason else again(tracked)
    reading = blocks.show(scorer, penalized, separator, *([] if echo is None else [echo]))
    reason = scorer.invalid_reason or ("the weights at the start were too large" if heavy else "")
    rest = passes, reading.left_out
    if tracked and echo and not same_sums(tracked, [echo], echo.comparators(np.zeros(2)), *rest):
        reason = OTHERS
    same = reading == blocks.reading and len(set(map(repr, [*reading.fingerprint, played or fingerprint(stream)]))) == 1
    facts = _facts(scorer, penalized, reading, weights, passes, reason if same else CHANGED)
    facts = _with_separation(facts, separator, separation)
    brackets = _brackets(blocks, task, facts, weights, found, separation.limit)
    steps = tuple(step for one in found if one for step in one.steps)
    shown = np.stack([np.append(one.U[:-1, k], one.bias_weights[k]).astype(np.float64)
                      for one, k in ((scorer, 0), (scorer, 1), (scorer, 2), (penalized, 0))])  # fmt: skip
    exact = np.zeros(max(shown.shape[1], len(separator.u)))
    exact[: len(separator.u) - 1], exact[-1] = separator.u[:-1], separator.u[-1]
    wide = np.pad(shown[:, :-1], ((0, 0), (0, len(exact) - shown.shape[1])))
    shown = np.vstack([np.column_stack([wide, shown[:, -1]]), exact])
    epochs, seconds = sum(one.steps[-1].epochs for one in found if one and one.steps), clock() - began
    return Hindsight(facts, shown, *brackets, steps, blocks.fits, blocks.passes + 1, epochs, seconds)


def joined(tracked: LinearComparatorFacts, found: LinearComparatorFacts) -> LinearComparatorFacts:
    """Join the facts of the comparators during the game with those found in hindsight.

    Both must have seen the same rounds, by their number and length; otherwise only the former are returned.
    Non-zeros may differ: the first rows are kept without their zeros, and rows that are read again have them.
    """
    alike = all(getattr(tracked, name) == getattr(found, name) for name in
                ("rows", "bias", "normalize", "start_square"))  # fmt: skip
    close = abs(tracked.square - found.square) <= tracked.square / 2**30
    if found.invalid_reason or tracked.invalid_reason or not (alike and close):
        return tracked
    last = max(len(tracked.directions), *(u.direction for u in tracked.comparators))
    more = tuple(replace(u, direction=last + u.direction) if u.direction else u for u in found.comparators)
    penalized = tuple(replace(u, direction=last + u.direction) for u in found.penalized)
    return replace(tracked, square=min(tracked.square, found.square), nonzeros=max(tracked.nonzeros, found.nonzeros),
                   comparators=tracked.comparators + more, penalized=tracked.penalized + penalized,
                   directions=tracked.directions + found.directions if tracked.directions else (),
                   witness=tracked.witness or found.witness)  # fmt: skip


def _inside(start: Vector | None, blocks: Blocks) -> Vector | None:
    """Return w_1 in the units of the blocks, the bias first."""
    if start is None:
        return None
    inside = np.zeros(blocks.width)
    width = min(len(start), blocks.width) - 1
    inside[0], inside[1 : width + 1] = start[-1], start[:width]
    return inside * blocks.unit


class _All(NamedTuple):
    """Results of the searches; None for a search that does not apply."""

    hinge: Found
    lengths: Found
    squared: Found | None
    margin: Found | None


def _separation(blocks: Blocks) -> Separation:
    """Search for the widest margin, or prove that the rows are not separable."""
    visits = (blocks.nonzeros + blocks.rows) * (READINGS if blocks.fits else READINGS_OUTSIDE)
    return separate(
        blocks.chunks(), blocks.square, blocks.bias, blocks.normalize, visits, MOST_EXACT_PATIENT, WORK_PATIENT
    )


def _with_separation(facts: LinearComparatorFacts, separator: Separator, found: Separation) -> LinearComparatorFacts:
    """Return the facts with the separator, if it separates all rows of the last reading, and with the witness."""
    if facts.invalid_reason:
        return facts
    widest, directions = separator.comparator(len(facts.directions) + 1), facts.directions
    if widest is None or not directions:
        return replace(facts, witness=found.witness)
    return replace(facts, comparators=(*facts.comparators, widest), directions=(*directions, separator.u))


def _search(blocks: Blocks, task: Task, executor: Executor, margin: bool) -> _All:
    """Search for the hinge loss, its square and growing targets, in parallel if possible; if `margin`, for that too."""
    if task.radius == 0.0:
        zero = Descent(blocks)
        nothing = Found(zero.u, float(task.passes * blocks.rows), zero.alpha, 1.0)
        return _All(nothing, nothing, None, None)
    first, second, third = Descent(blocks), Descent(blocks), Descent(blocks)
    c = d = k = FIRST
    if not blocks.fits:  # the first rows give a starting point
        head, small = Descent(blocks.head()), replace(task, progress=None, hopeless=0)
        hinge_search(head, small)
        c = head.cost * task.radius**2 / task.passes
        first.continue_from(head)
        lengths_search(head, small)
        held = [square for square in head.blocks.squares().tolist() if square > 0.0]
        k = head.kappa * math.fsum(held) / len(held) if held else FIRST
        third.continue_from(head)
        if task.start is None:
            squared_search(head, small)
            d = 0.5 / head.diagonal * task.radius**2 / task.passes
            second.continue_from(head)
    found: dict[str, Found] = {}
    if blocks.fits:  # the other searches start from its solution
        found["hinge"] = hinge_search(first, task, c)
        second.continue_from(first)
        third.continue_from(first)
    jobs = [_Job(("lengths",), third.without_rows(), k)]
    if task.start is None:
        jobs.append(_Job(("squared",), second.without_rows(), d))
    after = ("margin",) if margin and task.start is None and task.hopeless == 0 else ()
    jobs.append(_Job(after if blocks.fits else ("hinge", *after), first.without_rows(), c))
    alone = isinstance(executor, Threads)
    if alone and not blocks.fits:
        executor = Threads(1)  # the searches share one stream
    quiet = task if alone else replace(task, progress=None)
    for one, read in executor.map(_solved, jobs, blocks, quiet):
        found |= one
        blocks.passes += 0 if alone else read
        for step in (step for name in one for step in one[name].steps if task.progress and not alone):
            task.progress(step)  # type: ignore[misc]
    return _All(found["hinge"], found["lengths"], found.get("squared"), found.get("margin"))


@dataclass(frozen=True)
class _Job:
    """Problems for one descent to solve in order; `c` is the initial value of the first."""

    problems: tuple[str, ...]
    descent: Descent
    c: float


def _solved(over: Over, job: _Job, blocks: Blocks, task: Task) -> tuple[dict[str, Found], int]:
    """Return the solutions of a job, and the number of times the stream was read for them."""
    descent, before = job.descent, blocks.passes
    descent.blocks, descent.over = blocks, over
    found = {}
    for problem in job.problems:
        if problem == "margin":
            found[problem] = margin_search(descent, task)
        else:
            search = {"hinge": hinge_search, "lengths": lengths_search, "squared": squared_search}[problem]
            found[problem] = search(descent, task, job.c)
    return found, blocks.passes - before


def _facts(
    scorer: LinearScorer, penalized: LinearScorer, reading: Reading, start: Vector | None, passes: int, reason: str
) -> LinearComparatorFacts:
    """Return the facts of the last reading, for all passes."""
    comparators = [
        replace(u, hinge=passes * u.hinge, squared_hinge=passes * u.squared_hinge, mistakes=passes * (u.mistakes or 0))
        for u in scorer.comparators(start, passes)
    ]
    more = [
        replace(u, direction=4, loss=passes * u.loss, mistakes=passes * (u.mistakes or 0))
        for u in penalized.penalized(start, passes)
    ]
    return LinearComparatorFacts(
        rows=passes * reading.rows,
        mistakes=0,
        square=Fraction(0) if reason else scorer.square(),
        mistakes_square=Fraction(0),
        comparators=tuple(comparators[:1] if reason else comparators),
        penalized=() if reason else tuple(more),
        invalid_reason=reason,
        nonzeros=scorer.nonzeros,
        start_square=Fraction(0) if start is None else length_of(start),
        bias=scorer.bias,
        normalize=scorer.normalize,
        top=scorer.tally.top,
        directions=(*scorer.directions(), *penalized.directions()[:1]),
    )


def _brackets(
    blocks: Blocks, task: Task, facts: LinearComparatorFacts, start: Vector | None, found: _All, widest_possible: float
) -> tuple[Bracket | None, Bracket, Bracket | None, Bracket]:  # fmt: skip
    """Return brackets between the facts and the bounds from the searches' alphas: margin, hinge, squared, lengths."""
    if facts.invalid_reason:
        return None, Bracket(0.0, math.inf), None, Bracket(0.0, math.inf)
    passes, hopeless = task.passes, task.hopeless

    def mixture(one: Found) -> Mixture:
        alpha = one.alpha if len(one.alpha) == blocks.rows else np.zeros(blocks.rows)
        return Mixture.of(blocks, alpha, facts.square, start)

    def most(one: Found) -> Fraction:
        return Fraction(float(np.max(one.alpha, initial=one.cost)))

    mixed, stretched = mixture(found.hinge), mixture(found.lengths)
    hinge = Bracket(hinge_limit(mixed, most(found.hinge), facts, passes, hopeless), min(_hinge_bounds(facts)))
    least = lengths_limit(stretched, most(found.lengths), facts, passes, hopeless)
    nothing = facts.comparators[0].hinge  # u = 0, with kappa towards 0
    lengths = Bracket(least, up(min([nothing, *(u.bound(facts.start_square) for u in facts.penalized)])))
    if start is not None:
        return None, hinge, None, lengths
    margins = [margin_limit(mixed), margin_limit(stretched)]
    if found.squared is None:
        low = float(passes * hopeless)
        return Bracket(0.0, 0.0), hinge, Bracket(low, low), lengths
    mixed = mixture(found.squared)
    margins.append(margin_limit(mixed))
    squared_low = squared_limit(mixed, Fraction(found.squared.cost), facts, passes, hopeless)
    squared_high = min(
        up((root(facts.square * u.square) + root(u.squared_hinge)) ** 2)
        for u in _few(facts, lambda u, r: (math.sqrt(r * float(u.square)) + math.sqrt(float(u.squared_hinge))) ** 2)
    )
    widest = min((u.square for u in facts.comparators if u.direction and u.hinge == 0), default=None)
    if found.margin is not None:
        margins.append(margin_limit(mixture(found.margin)))
    margin_high = 0.0 if hopeless or facts.witness is not None else min(*margins, widest_possible)
    margin_low = 0.0 if widest is None else down(1 / root(widest))
    return Bracket(margin_low, margin_high), hinge, Bracket(squared_low, squared_high), lengths


def _hinge_bounds(facts: LinearComparatorFacts) -> list[float]:
    """Return the bounds of the best comparators, rounded up."""

    def about(u: Comparator, r: float) -> float:
        a2, loss = r * float(u.square), float(u.hinge - u.start)
        return loss + a2 / 2 + math.sqrt(max(a2 * loss + a2**2 / 4 + float(u.square * facts.start_square), 0.0))

    bounds = []
    for u in _few(facts, about):
        a2, loss = facts.square * u.square, u.hinge - u.start
        inside = a2 * loss + a2**2 / 4 + u.square * facts.start_square
        bounds.append(up(loss + a2 / 2 + root(max(inside, Fraction(0)))))
    return bounds


def _few(facts: LinearComparatorFacts, about: Callable[[Comparator, float], float]) -> list[Comparator]:
    """Return the approximately best comparators; the rest need no exact evaluation."""
    r = float(facts.square)

    def key(u: Comparator) -> float:
        try:
            return about(u, r)
        except OverflowError:
            return math.inf

    return sorted(facts.comparators, key=key)[:3]
