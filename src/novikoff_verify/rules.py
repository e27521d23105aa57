"""Learners in textbook form, replayed on the data: they must make the mistakes, or have the loss, that is claimed."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from novikoff_verify.exact import (
    OUTWARD,
    NotCoveredError,
    count,
    decimal,
    double,
    fraction,
    number,
    require,
    root,
    units,
)
from novikoff_verify.hypotheses import Survivors
from novikoff_verify.kernels import Kernel, Vector
from novikoff_verify.leader import Leader
from novikoff_verify.ridge import Newton, Ridge
from novikoff_verify.rows import Row

ULP = Fraction(1, 2**53)
"""Largest relative error of one operation on doubles."""
FINEST = 1074
"""Every double is a whole multiple of 2^-1074."""
CLOSE = Fraction(1, 10**12)
"""Largest relative rounding error of a rate, or of a sum of rates, in doubles."""
SAME = Fraction(1, 10**7)
"""Largest difference of gaps in doubles and in decimals, relative to 1 + their sum."""
EXACT = 2**52
"""Size up to which sums of whole numbers are exact in doubles."""


class Rule:
    """A learner that is replayed; `notes` are remarks for the report."""

    def __init__(self, proof: dict[str, Any]) -> None:
        self.proof = proof
        self.notes: list[str] = []

    def see(self, row: Row, wrong: bool) -> None:
        """Play a round; raise `RefutedError` if the prediction was not the one that the proof claims."""
        raise NotImplementedError

    def end(self) -> None:
        """Check what is known only after the last round."""


class Perceptron(Rule):
    """Predict +1 if <w,x~> >= 0, else -1; after a mistake add y x~ to w. It starts at w = 0.

    w is the exact sum over the claimed mistakes. The learner's own w, in doubles, differs from it by at most
    M 2^-53 lambda' R sqrt M, by induction over M mistakes (novikoff/linear/theorems/perceptron_facts.py), and a score
    by that times ||x|| and by its own rounding, n 2^-53 ||w|| ||x||. A score within that of 0 may have either sign.
    On whole numbers doubles are exact, and 0 predicts +1.
    """

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        if proof["learner"].get("normalize", False):
            raise NotCoveredError("rows that the learner divides by their length")
        self.bits = count(proof["data"]["bits"], "bits", FINEST)
        self.bias = units(double(proof["learner"]["bias"]), self.bits)
        self.weights: dict[int, int] = {}
        self.mistakes, self.longest, self.nonzeros, self.size = 0, 0, 1, 0
        self.close = 0

    def see(self, row: Row, wrong: bool) -> None:
        x = [(place, units(value, self.bits)) for place, value in row.x]
        x += [(-1, self.bias)] if self.bias else []
        length = sum(value * value for _, value in x)
        self.longest, self.nonzeros = max(self.longest, length), max(self.nonzeros, len(x))
        score = sum(self.weights.get(place, 0) * value for place, value in x)
        within = self._rounding(x, length)
        if abs(score) <= within:
            self.close += 1
        else:
            require((score >= 0) == ((row.y == 1) != wrong), "the Perceptron does not predict this")
        if wrong:
            self.mistakes += 1
            for place, value in x:
                self.weights[place] = self.weights.get(place, 0) + row.y * value
                self.size = max(self.size, abs(self.weights[place]))

    def _rounding(self, x: list[tuple[int, int]], length: int) -> int:
        """Return how far from 0 a score may be by rounding, in units 4^-bits; -1 if there is none."""
        largest = max((abs(value) for _, value in x), default=0)
        if not self.mistakes:
            return -1
        if self.bits == 0 and len(x) * largest * max(self.size, 1) < EXACT and self.size + largest < EXACT:
            return -1
        m, n = self.mistakes, self.nonzeros
        g = n * ULP / (1 - n * ULP)
        norm = (1 + ULP * m) / (1 - ULP * m) * (1 + g * (math.isqrt(m) + 1)) * root(Fraction(self.longest * m))
        within = (m * ULP + g * (1 + m * ULP)) * norm * root(Fraction(length))
        return math.ceil(within) + n

    def end(self) -> None:
        if self.close:
            self.notes.append(f"{self.close:,} scores are within rounding of 0: either prediction is accepted there")


class KernelPerceptron(Rule):
    """Predict +1 if f(x) >= 0, else -1; after a mistake add y K(x, .) to f. It starts at f = 0.

    A score in doubles is wrong by at most M e R^2 (`Kernel.of_scores`): within that of 0 it may have either sign. With
    a budget it stops being this learner when the mistakes exceed it.
    """

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        learner = proof["learner"]
        self.kernel = Kernel(learner, count(proof["data"]["bits"], "bits", FINEST))
        self.budget = None if learner.get("budget") is None else count(learner["budget"], "budget")
        self.added: list[tuple[Vector, int]] = []
        self.longest = self.widest = Fraction(0)
        self.nonzeros = self.close = 0

    def see(self, row: Row, wrong: bool) -> None:
        x, mistakes = self.kernel.vector(row.x), len(self.added)
        self.longest, self.nonzeros = max(self.longest, self.kernel.own(x)), max(self.nonzeros, len(x))
        self.widest = max(self.widest, self.kernel.dot(x, x))
        score = fraction(sum((y * self.kernel.value(z, x) for z, y in self.added), Decimal(0)))
        error = self.kernel.of_scores(mistakes, self.nonzeros, self.widest) + OUTWARD
        if mistakes and abs(score) <= mistakes * error * self.longest:
            self.close += 1
        else:
            require((score >= 0) == ((row.y == 1) != wrong), "the kernel Perceptron does not predict this")
        if wrong:
            self.added.append((x, row.y))
            require(self.budget is None or len(self.added) <= self.budget, "more mistakes than the budget")

    def end(self) -> None:
        if self.close:
            self.notes.append(f"{self.close:,} scores are within rounding of 0: either prediction is accepted there")


class Halving(Rule):
    """Predict the label with the most weight among the hypotheses left; a tie predicts +1, or the smallest label."""

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        learner = proof["learner"]
        self.space = Survivors(learner["class"], learner.get("prior"))
        self.conservative = bool(learner.get("conservative", False))

    def see(self, row: Row, wrong: bool) -> None:
        votes = self.space.votes(row.x)
        ahead = max(votes.values())
        tied = [label for label, weight in votes.items() if weight == ahead]
        require((first(tied) != row.y) == wrong, "the majority does not predict this")
        if wrong or not self.conservative:
            self.space.keep(row.x, row.y, restart=True)


class Consistent(Halving):
    """Predict as some hypothesis does that agrees with every label so far."""

    def see(self, row: Row, wrong: bool) -> None:
        votes = self.space.votes(row.x)
        possible = any(weight for label, weight in votes.items() if (label != row.y) == wrong)
        require(possible, "no hypothesis that is left predicts this")
        self.space.keep(row.x, row.y, restart=True)


class WeightedMajority(Halving):
    """Vote of all hypotheses with weight pi beta^(penalties); those that are wrong get one, or only after a mistake.

    A tie predicts +1, or the smallest label. Weights are exact fractions.
    """

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        self.beta = number(proof["learner"]["beta"])
        self.weights = {one: Fraction(self.space.prior_of(one)) for one in self.space.left}

    def see(self, row: Row, wrong: bool) -> None:
        said = {one: self.space.says(one, row.x) for one in self.weights}
        votes: dict[int, Fraction] = {}
        for one, weight in self.weights.items():
            votes[said[one]] = votes.get(said[one], Fraction(0)) + weight
        tied = [label for label, weight in votes.items() if weight == max(votes.values())]
        require((first(tied) != row.y) == wrong, "the weighted majority does not predict this")
        if wrong or not self.conservative:
            self.weights = {one: w if said[one] == row.y else w * self.beta for one, w in self.weights.items()}


class TightestBox(Rule):
    """Predict +1 exactly inside the bounding box of the positives so far."""

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        self.box: tuple[list[int], list[int]] | None = None

    def see(self, row: Row, wrong: bool) -> None:
        low, high = self.box or ([], [])
        inside = self.box is not None and all(a <= v <= b for a, v, b in zip(low, row.x, high, strict=True))
        require(((1 if inside else -1) != row.y) == wrong, "the box does not predict this")
        if row.y == 1:
            self.box = list(map(min, low or row.x, row.x)), list(map(max, high or row.x, row.x))


class ExponentialWeights(Rule):
    """Weights proportional to pi_i exp(-r L_i), L_i the losses before the round; its loss is the weighted mean.

    The rate is fixed, or 2 sqrt(ln N / t) / S in round t, or ln N over the sum of the gaps so far (`adaptive`; all
    weight on the leaders while that is 0). Decimals of 60 digits.
    """

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        learner = proof["learner"]
        self.kind, self.top = learner.get("rate", "adaptive"), decimal(number(learner.get("top", 1)))
        prior = [number(p) for p in learner["prior"]] if learner.get("prior") else None
        self.count = count(learner["experts"], "experts")
        self.prior = [decimal(Fraction(1, self.count) if prior is None else prior[k]) for k in range(self.count)]
        self.fixed = decimal(number(learner["eta"])) if self.kind == "fixed" else Decimal(0)
        self.losses = [Decimal(0)] * self.count
        self.paid = self.gaps = self.last = self.rates = self.rate = Decimal(0)
        self.t = 0
        self.choices = Decimal(self.count).ln()
        if self.kind not in ("fixed", "anytime", "adaptive"):
            raise NotCoveredError(f"the rate {self.kind}")

    def _rate(self) -> Decimal | None:
        """Return the rate of the round; None if it is infinite."""
        if self.kind == "fixed":
            return self.fixed
        if self.kind == "anytime":
            return 2 * (self.choices / self.t).sqrt() / self.top
        return self.choices / self.gaps if self.gaps else None

    def see(self, row: Row, wrong: bool) -> None:
        loss = [decimal(value) for value in row.x]
        self.paid += mean(self.play(loss), loss)

    def play(self, loss: list[Decimal]) -> list[Decimal]:
        """Play a round with these losses and return the weights it was played with."""
        self.t += 1
        behind, rate = [total - min(self.losses) for total in self.losses], self._rate()
        self.rate, self.rates = rate or Decimal(0), self.rates + (rate or 0)
        each = zip(self.prior, behind, strict=True)
        if rate is None:
            weights = [Decimal(0) if gap else p for p, gap in each]
            mixed = min(gap + value for gap, value in zip(behind, loss, strict=True))
        else:
            weights = [p * (-rate * gap).exp() for p, gap in each]
            least = min(loss)
            mixed = least - mean(weights, [(rate * (least - value)).exp() for value in loss]).ln() / rate
        self.last = max(mean(weights, loss) - mixed, Decimal(0))
        self.gaps += self.last
        self.losses = [total + value for total, value in zip(self.losses, loss, strict=True)]
        return weights

    def end(self) -> None:
        regret = fraction(self.paid - min(self.losses))
        for claim in self.proof["claims"]:
            witness = claim["witness"]
            slack = number(witness["rounding"])
            require(abs(regret - number(claim["observed"])) <= slack, "the regret is not the one that is claimed")
            played = {"gaps": self.gaps, "last_gap": self.last, "rate": self.rate, "rates": self.rates}
            for name in witness.keys() & played.keys():
                found, most = fraction(played[name]), slack if "gap" in name else CLOSE * fraction(played[name])
                require(abs(found - number(witness[name])) <= most, f"{name} is not what is claimed")


class NumbersMixture(ExponentialWeights):
    """Play the mean of forecasts of a number, under the weights of AdaHedge on their squared losses."""

    def see(self, row: Row, wrong: bool) -> None:
        y, *forecasts, played = map(decimal, row.x)
        mixed = mean(self.play([(f - y) ** 2 for f in forecasts]), forecasts)
        most = max(map(abs, forecasts))
        require(abs(mixed - played) <= Decimal("1e-9") * most, "the forecast played is not the mean")

    def end(self) -> None:
        for claim in self.proof["claims"]:
            for name, value in (("gaps", self.gaps), ("last_gap", self.last)):
                close = abs(fraction(value) - number(claim["witness"][name])) <= SAME * (1 + fraction(self.gaps))
                require(close, f"{name} is not what is claimed")


class VAW(Rule):
    """Predict x'A^-1 b, x in A already, clipped to low .. high (-1 .. 1 for labels); b is the sum of earlier y x."""

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        learner = proof["learner"]
        self.matrix, self.loss = Ridge(learner), Decimal(0)
        ends = [None if learner[name] is None else decimal(double(learner[name])) for name in ("low", "high")]
        if proof["data"]["kind"] == "vectors":
            ends = [Decimal(-1), Decimal(1)]
        self.low, self.high = ends

    def see(self, row: Row, wrong: bool) -> None:
        y = decimal(Fraction(row.y))
        score = self.matrix.see(row.x, y)
        score = score if self.low is None else max(score, self.low)
        score = score if self.high is None else min(score, self.high)
        self.loss += (score - y) ** 2

    def end(self) -> None:
        off = SAME * (1 + fraction(self.matrix.squares))
        for claim in self.proof["claims"]:
            share = Fraction(1, 4) if claim["quantity"] == "Brier score" else 1
            require(abs(share * fraction(self.loss) - number(claim["observed"])) <= off, "the loss is another one")


class FTRL(Rule):
    """Predict P(+1) of `Leader`; +1 if it is 1/2 or more."""

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        self.leader = Leader(proof["learner"])

    def see(self, row: Row, wrong: bool) -> None:
        self.leader.see(row.x, row.y)

    @property
    def loss(self) -> Decimal:
        """Its log loss."""
        return self.leader.loss

    def end(self) -> None:
        loss = fraction(self.loss)
        for claim in self.proof["claims"]:
            close = abs(loss - number(claim["observed"])) <= SAME * (1 + loss)
            require(claim["quantity"] != "log loss" or close, "the loss is another one")


class Logistic(FTRL):
    """Predict P(+1) of `Newton`; +1 if it is 1/2 or more."""

    def __init__(self, proof: dict[str, Any]) -> None:
        Rule.__init__(self, proof)
        self.matrix = Newton(proof["learner"])

    def see(self, row: Row, wrong: bool) -> None:
        self.matrix.play(row.x, row.y, {})

    @property
    def loss(self) -> Decimal:
        return self.matrix.loss


class Mixture(Rule):
    """Play P = sum of w_i P_i over the forecasters that are awake; afterwards v_i = w_i P_i(y) / P(y).

    Bayes: w = v. Fixed share: w_i = (1 - a)(1 - b) v_i + a p_i for those awake, p_i for those that join, a = 1/(t+1).
    """

    def __init__(self, proof: dict[str, Any]) -> None:
        super().__init__(proof)
        learner = proof["learner"]
        if proof["data"]["kind"] != "forecasts":
            raise NotCoveredError("a mixture whose forecasts were not written: write them with --proof-rows")
        self.shares = learner["rule"] == "fixed-share"
        self.prior, self.joins = [number(weight) for weight in learner["prior"]], learner["joins"]
        self.t = 0
        self.weights = self._entering(1)

    def _entering(self, t: int) -> list[Decimal]:
        """Return the p_i of round t; 0 for forecasters that have not joined."""
        awake = [p if after < t else Fraction(0) for p, after in zip(self.prior, self.joins, strict=True)]
        return [decimal(p / sum(awake)) for p in awake]

    def see(self, row: Row, wrong: bool) -> None:
        self.t += 1
        chances = [Decimal(0) if loss == math.inf else decimal(-loss).exp() for loss in row.x]
        parts = [w * p for w, p in zip(self.weights, chances[:-1], strict=True)]
        mixed = sum(parts, Decimal(0))
        off = abs(mixed - chances[-1])
        require(off <= Decimal("1e-9") * chances[-1], "the forecast played is not the mixture")
        after = [part / mixed for part in parts] if mixed else self.weights
        if self.shares:
            t, entering = self.t, self._entering(self.t + 1)
            joined = sum((p for p, s in zip(entering, self.joins, strict=True) if s == t), Decimal(0))
            each = zip(after, entering, self.joins, strict=True)
            after = [p if s == t else (t * (1 - joined) * v + p) / (t + 1) for v, p, s in each]
        self.weights = after


def mean(weights: list[Decimal], values: list[Decimal]) -> Decimal:
    """Return the mean of values by weight."""
    return sum((w * v for w, v in zip(weights, values, strict=True)), Decimal(0)) / sum(weights)


def first(tied: list[int]) -> int:
    """Return the label that a tie predicts: +1, or the smallest of several."""
    return 1 if set(tied) == {-1, 1} else min(tied)


RULES: dict[str, type[Rule]] = {
    "perceptron": Perceptron,
    "kernel-perceptron": KernelPerceptron,
    "halving": Halving,
    "consistent": Consistent,
    "weighted-majority": WeightedMajority,
    "tightest-box": TightestBox,
    "fixed-share": Mixture,
    "bayes": Mixture,
    "vaw": VAW,
    "ftrl": FTRL,
    "logistic": Logistic,
    "ada-hedge": NumbersMixture,
    "exponential-weights": ExponentialWeights,
}
"""Class of each learner that can be replayed, by its name in a proof."""


def rule(proof: dict[str, Any]) -> Rule:
    """Return the learner of a proof, untrained."""
    name = proof["learner"].get("rule")
    if name not in RULES:
        raise NotCoveredError(f"the learner {name}")
    return RULES[name](proof)
