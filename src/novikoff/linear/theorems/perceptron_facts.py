"""Facts shared by the Perceptron's theorems, and the effect of rounding.

The run in floats
    With u = 2^-53, M updates, n non-zeros in an x~ (the bias included) and g = n u/(1 - n u), the weights of the run
    obey for every comparator v with hinge loss D
        M - D + <v, w_1>  <=  lambda ||v|| sqrt(||w_1||^2 + R^2 M),
        lambda = (1 + u)^M (1 + u M) (1 + g sqrt M).
    Proof: on a mistake the computed score has the wrong sign or is 0, so y<w,x> <= g ||w|| R, plus n 2^-1075 if
    products underflow. The new weights are w + y x + r with ||r|| <= u ||w + y x||. By induction over k updates
        ||w_k|| <= (1 + u)^k (sqrt(||w_1||^2 + R^2 k) + g R k),
    as c^2 + 2 g R c + R^2, c being the bracket for k, is at most the square of the bracket for k + 1. The bracket for M
    is at most (1 + g sqrt M) sqrt(||w_1||^2 + R^2 M). The mistakes add at least M - D to <v, w>, and the errors r
    together subtract at most u M ||v|| times the largest ||w_k||. []
    Underflow adds n 2^-1074 to R^2 in the induction, where R^2 is 0 (then no x~ has a product) or at least 2^-900;
    `LinearComparatorFacts.square` was rounded up by more than that.
    (1 + u)^M <= 1/(1 - u M), and sqrt M is rounded up to an integer: lambda is a fraction, and the rest of the
    computation is exact.
    If lengths differ, R^2 k is the sum of the ||x||^2 of the first k mistakes: R k in the bracket is then the sum of
    their ||x||, at most sqrt k times the root of that sum, and lambda is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear_tracker import LinearComparatorFacts
from novikoff.comparators.rounding import root
from novikoff.comparators.tally import Comparator, PenalizedComparator
from novikoff.comparators.tracker import ComparatorFacts
from novikoff.core.certificate import Assumption, inseparable, none_separates, refutations, seen
from novikoff.core.types import Run

SEPARATED = "separation of the labels by one of the comparators"
"""Assumption as a noun phrase: a whole sentence marked "refuted" could be read as its opposite."""


@dataclass(frozen=True, slots=True)
class PerceptronFacts:
    """State of a Perceptron, for its theorems.

    Attributes:
        rounds: Rounds so far.
        updates: Updates so far; the learner changes on mistakes only.
        norm: Upper bound on ||w||; 0 only if all weights are 0.
        bias: Value of the constant feature; None if unknown.
        normalize: Whether x is divided by its norm; None if unknown.
    """

    rounds: int
    updates: int
    norm: float
    bias: float | None = None
    normalize: bool | None = None

    @classmethod
    def of(
        cls, weights: NDArray[np.float64], bias_weight: float, rounds: int, updates: int, bias: float | None = None,
        normalize: bool | None = None,
    ) -> Self:  # fmt: skip
        """Return the facts of a learner with these weights."""
        largest = max(float(np.max(np.abs(weights), initial=0.0)), abs(bias_weight))
        if largest == 0.0 or not math.isfinite(largest):
            return cls(rounds, updates, largest, bias, normalize)
        exponent = math.frexp(largest)[1]  # scaled so that no square overflows, and underflow does not matter
        square = float(np.sum(np.square(np.ldexp(weights, -exponent)))) + math.ldexp(bias_weight, -exponent) ** 2
        norm = math.sqrt(square) * (1.0 + (len(weights) + 8) * 2.0**-52)
        return cls(rounds, updates, _scaled(norm, exponent), bias, normalize)


def rounding_factor(run: Run[PerceptronFacts]) -> Fraction:
    """Return the lambda of this run."""
    tracked: LinearComparatorFacts = run.tracked
    unit = Fraction(1, 2**53)
    g = tracked.nonzeros * unit / (1 - tracked.nonzeros * unit)
    return (1 + unit * run.mistakes) / (1 - unit * run.mistakes) * (1 + g * (math.isqrt(run.mistakes) + 1))


def assumptions(run: Run[PerceptronFacts]) -> list[Assumption]:
    """Return the assumptions of all Perceptron theorems, with the result of each check."""
    tracked: LinearComparatorFacts = run.tracked
    before, after = run.before, run.after
    same = (after.bias is None or after.bias == tracked.bias) and (
        after.normalize is None or after.normalize == tracked.normalize
    )
    whole_game = tracked.rows == run.rounds == after.rounds - before.rounds
    counted = after.updates - before.updates == run.mistakes == tracked.mistakes
    return [
        seen("every x is finite, with a length that does not overflow", not tracked.invalid_reason),
        seen("the comparators used the learner's features", same),
        seen("the comparators were evaluated on every round it learned from", whole_game),
        seen("it changed only on its mistakes", counted),
        explained(tracked, "each mistake added y x to its weights, and nothing else changed them"),
    ]


def explained(facts: ComparatorFacts, claim: str) -> Assumption:
    """Return whether the mistakes explain the weights, by each comparator's gain on them (comparators/linear.py)."""
    if facts.unexplained is None:
        return Assumption(claim, "trusted")
    return seen(claim, facts.unexplained <= 1.0)


def starts_at_zero(run: Run[PerceptronFacts]) -> bool:
    """Return whether all weights were zero when the game started."""
    return run.before.norm == 0.0


def why_void(run: Run[PerceptronFacts], needs_zero: bool) -> str:
    """Return why these theorems are void for this run; "" if they hold."""
    tracked: LinearComparatorFacts = run.tracked
    warm = ""
    if needs_zero and not starts_at_zero(run):
        warm = "warm start: the weights were not zero when the game started"
    elif starts_at_zero(run) != (tracked.start_square == 0):
        warm = "warm start: the comparators were not given the initial weights"
    return tracked.invalid_reason or warm or refutations(assumptions(run))


def shortest(tracked: ComparatorFacts) -> Comparator | None:
    """Return the shortest comparator that separates the rows; None if none does."""
    separating = [u for u in tracked.comparators if u.direction and u.hinge == 0]
    return min(separating, key=lambda u: u.square, default=None)


def not_separated(tracked: ComparatorFacts, more: str = "") -> str:
    """Return why no comparator separates the rows: a proof if there is one, else that none was found.

    Args:
        tracked: Facts of the comparators.
        more: Further requirement on the separator.
    """
    witness = tracked.witness
    if witness is None:
        return none_separates(more)
    # With a constant feature the weighted labels would have to cancel too.
    unbiased = tracked.unbiased and not witness.balanced
    return inseparable(witness.text(tracked.space) + ("; a bias may change that" if unbiased else ""))


def proof(tracked: ComparatorFacts) -> dict[str, object]:
    """Return the proof that no comparator separates the rows as a quantity; nothing if there is none."""
    return {} if tracked.witness is None else {"inseparable": tracked.witness.plain()}


def shortlist(comparators: Sequence[Comparator], bound: Callable[[float, float, float], float]) -> list[Comparator]:
    """Return the comparators that may give the least bound(||u||^2, hinge - <u,w_1>, squared hinge), in floats.

    Any comparator gives a valid bound; this only saves exact arithmetic on the others.
    """
    rough = [bound(near(u.square), near(u.hinge) - near(u.start), near(u.squared_hinge)) for u in comparators]
    least = min((value for value in rough if not math.isnan(value)), default=math.inf)
    found = [u for u, value in zip(comparators, rough, strict=True) if value <= least + 1e-6 * abs(least) + 1e-6]
    return found or list(comparators)


def witness_of(
    run: Run[PerceptronFacts], u: Comparator | PenalizedComparator | None, loss: Fraction, **more: Fraction
) -> dict[str, object] | None:
    """Return the comparator and its sums for a proof file; None if its weights are not known.

    Args:
        run: The run.
        u: The comparator; None if there is none.
        loss: At least the sum of its losses.
        more: Further exact quantities.
    """
    tracked: LinearComparatorFacts = run.tracked
    if u is None or not 0 < u.direction <= len(tracked.directions) or not starts_at_zero(run):
        return None
    *weights, of_bias = tracked.directions[u.direction - 1].tolist()
    named = {**dict(enumerate(weights)), -1: of_bias}
    exact = {"scale": Fraction(u.scale), "square": u.square, "longest": tracked.square, "loss": loss, **more}
    return {
        "weights": {str(place): weight.hex() for place, weight in named.items() if weight},
        "nonzeros": tracked.nonzeros,
        **{name: str(value) for name, value in exact.items()},
    }


def near(value: Fraction) -> float:
    """Return a nearby double for comparing; infinite on overflow."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def quantities(tracked: ComparatorFacts, u: Comparator) -> dict[str, Any]:
    """Return the reported quantities of the best comparator."""
    return {
        "comparators": len(tracked.comparators),
        "R": float(root(tracked.square)),
        "norm": float(root(u.square)),
        "scale": u.scale,
        "hinge": float(u.hinge),
        **misclassified(u),
    }


def misclassified(u: Comparator | PenalizedComparator) -> dict[str, int]:
    """Return the number of mistakes of a comparator, at most, as a quantity; nothing if they were not counted."""
    return {} if u.mistakes is None else {"comparator_mistakes": u.mistakes}


def _scaled(norm: float, exponent: int) -> float:
    """Return norm * 2^exponent, rounded up."""
    try:
        return math.nextafter(math.ldexp(norm, exponent), math.inf)
    except OverflowError:
        return math.inf
