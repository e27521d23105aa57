"""Weighted Majority: all hypotheses vote, and a mistake reduces a hypothesis's weight.

Algorithm
    w_i = pi_i (1 without a prior).  Predict the label with the most weight; +1 on a tie (in multiclass, the
    smallest).  Multiply w_i by beta if i did not predict the true label: on every round, or (`conservative`) on
    mistakes only. A hypothesis without a valid label has no vote and errs. A prior gives each hypothesis a weight;
    "length" gives a program of L bits the weight 2^-L.
    beta = 0 is Halving without restarts. When every hypothesis has been penalised all weights are 0: then those with
    the fewest penalties vote, each with its prior weight, and the theorem is void.
Exactness
    The state is the number of penalties of each hypothesis, an integer: nothing underflows, nothing drifts.
    The weights pi_i beta^(penalties - fewest) are summed in floats, each label's with a relative error below
    (|H| + 64) 2^-52. Labels within that error are compared in integers: beta is p/2^q, like every float,
    and the sign of a sum of v_k (p/2^q)^k is found exactly. So the prediction is the heaviest label, without rounding,
    as the proof requires, and is the same on every machine.
Promise
    experts/theorems/weighted_majority_mistakes.py: at most (m ln(1/beta) + ln|H|) / ln(2/(1+beta)) mistakes when the
    best hypothesis errs m times.
Cost
    O(|H|) time per round (about 10 ms for a million thresholds), 8 bytes per hypothesis, 8 more if conservative
    and 8 more with a prior. Ties are compared exactly, which about doubles the time of a round; for beta within 1e-9
    or so of 1 that may take the square of the number of different penalties (20 ms for 2,000 of them).
Reference
    [littlestone1994].
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.hypotheses import HasLengths, HypothesisClass, task_for
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Count, require
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.experts.panel import Voters, is_number
from novikoff.experts.proofs import WeightedMajorityProof
from novikoff.experts.theorems.weighted_majority_mistakes import WeightedMajorityFacts, weighted_majority_mistakes
from novikoff.finite.classes import Hypotheses
from novikoff.finite.classes.survivors import refuse_if_too_large, whole_weights

Counts = NDArray[np.int64]

PART = 2**15
"""Number of hypotheses weighed at once: their arrays fit in the processor's cache."""


class WeightedMajority(Learner):
    """Weighted vote of all hypotheses of a class, in which a mistake reduces a hypothesis's weight.

    Args:
        hypotheses: Finite hypothesis class.
        beta: Factor of the weight after a mistake, from 0 to below 1.
        prior: Prior weights, "length" for 2^-length of programs, or None for equal ones.
        conservative: Whether weights change only in rounds in which the prediction was wrong.

    Guarantee:
        At most (m ln(1/beta) + ln|H|) / ln(2/(1 + beta)) mistakes if the best hypothesis makes m
        (`weighted_majority_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.WeightedMajority(nk.classes.thresholds(8))
        >>> nk.play(learner, [(5, 1), (2, -1), (4, 1), (3, -1), (6, 1)]).mistakes
        1
    """

    domain: Domain
    labels: int | None
    fixed_labels = True

    promises: ClassVar[tuple[Theorem, ...]] = (weighted_majority_mistakes,)
    fields = (
        Hypotheses("hypotheses", argument=True),
        Argument("beta", float),
        Argument("prior"),
        Argument("conservative", bool),
        Count("rounds"),
        Array("penalties", None, np.int64, nonnegative=True, most="rounds"),
        Array("errors", ("size",), np.int64, nonnegative=True, most="rounds", optional=True, at="_own_errors",
              assigned=False),
    )  # fmt: skip

    def __init__(
        self, hypotheses: HypothesisClass, beta: float = 0.5, prior: object = None, conservative: bool = False
    ) -> None:
        if not is_number(beta) or not 0 <= beta < 1 or float(beta) == 1.0:
            raise InputError(f"beta must be a number from 0 to below 1: got {beta!r}. 0.5 is usual.")
        if not isinstance(hypotheses, Voters):
            raise InputError(f"hypotheses must be a class that lists its members: got {hypotheses!r}.")
        alternative = "Weighted majority counts the errors of each: use a smaller class."
        refuse_if_too_large(hypotheses.name, hypotheses.size, alternative)
        hypotheses.space()  # raises here, not in the first round, if the class is too large
        self.domain = hypotheses.domain
        self.labels, self.task = hypotheses.labels, task_for(hypotheses.labels)
        self.hypotheses = hypotheses
        self.beta = float(beta)
        self.conservative = bool(conservative)
        self._by_length = isinstance(prior, str) and prior == "length"
        self._prior = None if prior is None else _weights_of(prior, hypotheses)
        self.whole = hypotheses.size if self._prior is None else int(self._prior.sum())
        self.rounds = 0
        self.penalties: Counts = np.zeros(hypotheses.size, dtype=np.int64)
        self.errors = self.penalties.copy() if conservative else self.penalties
        self._fewest = self._most = 0  # smallest and largest number of penalties

    @property
    def size(self) -> int:
        """Number of hypotheses; none is ever dropped."""
        return len(self.penalties)

    def predict_one(self, x: Example) -> Label:
        return self._winner(self._choices(x))

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then learn, evaluating the hypotheses once."""
        y = check_label(y, self.labels)
        choices = self._choices(x)
        prediction = self._winner(choices)
        wrong = choices != y
        self.rounds += 1
        if self.conservative:
            self.errors += wrong
        if prediction != y or not self.conservative:
            self.penalties += wrong
            self._look()
        return prediction

    def _choices(self, x: Example) -> NDArray[np.integer]:
        return self.hypotheses.labels_of(self.hypotheses.encode(x), None)

    def _look(self) -> None:
        """Update the smallest and the largest number of penalties."""
        self._fewest, self._most = int(self.penalties.min()), int(self.penalties.max())

    def _winner(self, choices: NDArray[np.integer]) -> Label:
        """Return the heaviest label, exactly; on a tie +1, or the smallest in multiclass."""
        labels = [1, -1] if self.task == "binary" else list(range(self.labels or 0))
        totals = np.zeros(max(labels) + 2)
        for part, weights in self._weights():
            places = np.add(choices[part], 1, dtype=np.int64)  # label y is summed in place y + 1
            totals += np.bincount(places, weights=weights, minlength=len(totals))
        shares = totals[np.array(labels) + 1]
        rounding = 4.0 * (self.size + 64) * 2.0**-52
        underflow = 1e-300 * self.whole
        near = np.flatnonzero(shares >= shares.max() * (1.0 - rounding) - underflow)
        winner, *rivals = (labels[i] for i in near.tolist())
        for rival in rivals:
            if self._compare(choices, rival, winner) > 0:
                winner = rival
        return winner

    def _weights(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield pi_i beta^(penalties_i - fewest), computed from the counts, for one part of the class at a time."""
        span = self._most - self._fewest
        powers = np.power(self.beta, np.arange(span + 1)) if span < self.size else None
        for start in range(0, self.size, PART):
            part = slice(start, start + PART)
            levels = self.penalties[part] - self._fewest
            weights = np.power(self.beta, levels) if powers is None else powers[levels]
            yield part, weights if self._prior is None else weights * self._prior[part]

    def _compare(self, choices: NDArray[np.integer], one: Label, two: Label) -> int:
        """Return the exact sign of (weight of label one) - (weight of label two)."""
        votes: dict[int, int] = {}
        for label, side in ((one, 1), (two, -1)):
            voters = np.flatnonzero(choices == label)
            for level, weight in self._tally(self.penalties[voters] - self._fewest, voters):
                votes[level] = votes.get(level, 0) + side * weight
        levels = sorted(level for level, vote in votes.items() if vote)
        return sign_at(self.beta, levels, [votes[level] for level in levels])

    def _tally(self, levels: Counts, voters: Counts) -> list[tuple[int, int]]:
        """Return the prior weight of the voters at each nonempty level: integers, below 2^63 in total."""
        most = int(levels.max(initial=0))
        if most <= len(levels):
            names, places = np.arange(most + 1), levels
        else:
            names, places = np.unique(levels, return_inverse=True)
            places = places.reshape(-1)  # numpy 2.0 gave it another shape
        if self._prior is None:
            sums = np.bincount(places, minlength=len(names))
        else:
            sums = np.zeros(len(names), dtype=np.int64)
            np.add.at(sums, places, self._prior[voters])
        filled = np.flatnonzero(sums)
        return list(zip(names[filled].tolist(), sums[filled].tolist(), strict=True))

    def survivor(self) -> str:
        """Return a readable name of the heaviest hypothesis; the first of equals."""
        if self._prior is None:
            return self.hypotheses.describe(int(self.penalties.argmin()))
        heaviest = np.concatenate([weights for _, weights in self._weights()]).argmax()
        return self.hypotheses.describe(int(heaviest))

    def textbook(self) -> dict[str, object] | None:
        if self._by_length or self.beta == 0.0:
            return None
        prior = None if self._prior is None else self._prior.tolist()
        own = {"rule": "weighted-majority", "beta": str(Fraction(self.beta)), "conservative": self.conservative}
        return {**own, "class": self.hypotheses.state(), "prior": prior}

    def proof(self) -> WeightedMajorityProof:
        return WeightedMajorityProof(self.facts())

    def facts(self) -> WeightedMajorityFacts:
        comparator = self._comparator()
        return WeightedMajorityFacts(
            hypotheses=self.size,
            beta=self.beta,
            rounds=self.rounds,
            whole=self.whole,
            best_mistakes=int(self.errors.min()),
            comparator_errors=int(self.errors[comparator]),
            comparator_weight=1 if self._prior is None else int(self._prior[comparator]),
            fewest=self._fewest,
            spread=math.log(math.fsum(float(weights.sum()) for _, weights in self._weights())),
        )

    def _comparator(self) -> int:
        """Return the hypothesis with the smallest bound; any is valid, so floats may choose it."""
        if self._prior is None:
            return int(self.errors.argmin())
        price = -math.log(self.beta) if self.beta > 0.0 else 1e9
        return int((price * self.errors - np.log(self._prior)).argmin())

    @property
    def prior(self) -> Any:
        """The prior as passed to the constructor."""
        return "length" if self._by_length else self._prior

    @property
    def _own_errors(self) -> Counts | None:
        """Errors, where they differ from the penalties."""
        return self.errors if self.conservative else None

    def after_restoring(self, found: State) -> None:
        self.errors = found["errors"] if self.conservative else self.penalties
        require(self.errors is not None, "a conservative learner must have saved errors", None)
        sound = bool(np.all(self.penalties <= self.errors))
        require(sound, "penalties of a learner must not exceed its errors", self.penalties)
        self._look()


def sign_at(beta: float, levels: Sequence[int], votes: Sequence[int]) -> int:
    """Return the exact sign of the sum of votes[k] * beta^levels[k], for 0 <= beta < 1 and increasing levels.

    beta = p / 2^q. `above / unit` is the sum so far, in units of the weight at the current level. The sign is decided
    once no later votes, each worth less than such a unit, can change it: after about log(votes) / log(1/beta) levels.
    """
    if beta == 0.0:
        levels, votes = [level for level in levels if level == 0], votes[: int(0 in levels)]
    p, power = beta.as_integer_ratio()
    q = power.bit_length() - 1
    bits = -math.log2(beta) * (1.0 - 1e-9) if beta > 0.0 else 0.0  # least worth of one level, in bits
    above, unit, last = 0, 1, 0
    rest = sum(map(abs, votes))
    for level, vote in zip(levels, votes, strict=True):
        gap = level - last
        if above == 0:
            unit = 1
        elif above.bit_length() - 1 - unit.bit_length() - rest.bit_length() + gap * bits >= 0:
            break  # the later levels cannot change the sign, so no further power of p is needed
        else:
            above <<= q * gap
            unit *= p**gap
        above += vote * unit
        rest -= abs(vote)
        last = level
        if abs(above) >= rest * unit:
            break
    return (above > 0) - (above < 0)


def _weights_of(prior: object, hypotheses: HypothesisClass) -> Counts:
    """Return the prior as integers."""
    if not (isinstance(prior, str) and prior == "length" and isinstance(hypotheses, HasLengths)):
        return whole_weights(prior, hypotheses.size)
    length = hypotheses.length
    numbers = range(hypotheses.size)  # sorted by length, so bisection finds where each length ends
    longest = length(numbers[-1])
    ends = np.array([bisect_right(numbers, bits, key=length) for bits in range(longest + 1)], dtype=np.int64)
    how_many = np.diff(ends, prepend=0)
    return np.repeat(2 ** (longest - np.arange(longest + 1, dtype=np.int64)), how_many)
