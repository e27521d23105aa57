"""Theorems: the bound that follows from the sums in a proof, and these sums recomputed from the data.

A class per theorem. Its docstring is the statement; `follows` checks the arithmetic; `see` and `sums` recompute the
sums from the rows, where the theorem has sums of rows.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from novikoff_verify.exact import (
    OUTWARD,
    NotCoveredError,
    RefutedError,
    count,
    decimal,
    fraction,
    logarithm,
    number,
    require,
    units,
)
from novikoff_verify.hypotheses import Survivors
from novikoff_verify.rows import Row

ULP = Fraction(1, 2**53)
"""Largest relative error of one operation on doubles."""
CLOSE = Fraction(1, 10**9)
"""Largest relative difference of two sums of the same losses in doubles."""
SLACK = Fraction(1, 10**6)
"""Largest allowance for the rounding of a learner that a proof may claim, per unit of loss."""


def decimal_loss(value: float) -> Decimal:
    """Return a loss as a decimal; it may be infinite."""
    return Decimal("Infinity") if value == math.inf else decimal(value)


def price(chance: Fraction) -> Decimal:
    """Return ln(1/chance), within 10^-58."""
    return -decimal(chance).ln()


def floor_log2(above: int, below: int) -> int:
    """Return log2(above / below) rounded down, for whole numbers above >= below >= 1."""
    return (above // below).bit_length() - 1


class Theorem:
    """A claim of a proof: an observed value, a bound, and the sums from which the bound follows (`witness`)."""

    of_rows: bool = True
    """Whether its sums can be recomputed from the rows."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        self.proof, self.claim, self.witness = proof, claim, claim["witness"]
        self.rounds = count(proof["data"]["rows"], "rows")
        self.observed, self.bound = number(claim["observed"]), number(claim["bound"])
        self.upper = claim.get("side", "upper") == "upper"
        holds = self.observed <= self.bound if self.upper else self.observed >= self.bound
        require(holds, f"the observed value {float(self.observed):g} is beyond the bound {float(self.bound):g}")

    def get(self, name: str) -> Fraction:
        """Return a number of the witness."""
        return number(self.witness[name])

    def follows(self) -> None:
        """Raise `RefutedError` unless the bound follows from the witness."""
        raise NotImplementedError

    def see(self, row: Row, wrong: bool) -> None:
        """Add a row to the sums."""

    def sums(self) -> None:
        """Raise `RefutedError` unless the rows have the sums of the witness, or smaller ones where that is enough."""

    def counted(self) -> int:
        """Return the mistakes as a whole number."""
        require(self.observed.denominator == 1 and self.bound.denominator == 1, "mistakes must be whole numbers")
        return int(self.observed)


class Perceptron(Theorem):
    """Mistakes of the Perceptron, started at zero, against one vector u = U/S on rows x~ (x, then the bias).

    In doubles, with M mistakes, n values in a row at most and g = n 2^-53 / (1 - n 2^-53),
        M - (losses of u on the mistakes)  <=  lambda ||u|| sqrt(R^2 M),
        lambda = (1 + 2^-53 M) / (1 - 2^-53 M) * (1 + g (floor(sqrt M) + 1)).
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        learner = proof["learner"]
        self.exact = not learner.get("normalize", False)
        self.bits = count(proof["data"].get("bits", 0), "bits")
        weights = {int(place): float.fromhex(value) for place, value in self.witness["weights"].items()}
        self.own = max((w.as_integer_ratio()[1].bit_length() - 1 for w in weights.values()), default=0)
        self.weights = {place: units(w, self.own) for place, w in weights.items()}  # place -1: the constant feature
        self.bias = units(float.fromhex(learner["bias"]), self.bits)
        self.scale, self.square, self.longest = self.get("scale"), self.get("square"), self.get("longest")
        require(self.scale > 0, "the scale of u must be above 0")
        norm = Fraction(sum(w * w for w in self.weights.values()), 4**self.own)
        require(norm <= self.square * self.scale**2, "||u||^2 is larger than the proof says")
        self.nonzeros = count(self.witness["nonzeros"], "nonzeros")
        self.total, self.seen_longest, self.seen_nonzeros, self.seen_mistakes = Fraction(0), 0, 0, 0

    @property
    def growth(self) -> Fraction:
        """lambda^2 ||u||^2."""
        g, mistakes = self.nonzeros * ULP / (1 - self.nonzeros * ULP), self.counted()
        factor = (1 + ULP * mistakes) / (1 - ULP * mistakes) * (1 + g * (math.isqrt(mistakes) + 1))
        return factor**2 * self.square

    def see(self, row: Row, wrong: bool) -> None:
        if not self.exact:
            raise NotCoveredError("rows that the learner divides by their length")
        length = self.bias * self.bias
        margin = self.weights.get(-1, 0) * self.bias
        for place, value in row.x:
            whole = units(value, self.bits)
            length += whole * whole
            margin += self.weights.get(place, 0) * whole
        self.total += self.loss(
            row.y * Fraction(margin, 1 << (self.own + self.bits)) / self.scale, Fraction(length, 4**self.bits)
        )
        self.seen_longest = max(self.seen_longest, length)
        self.seen_nonzeros = max(self.seen_nonzeros, len(row.x) + (self.bias != 0))
        self.seen_mistakes += wrong

    def loss(self, margin: Fraction, square: Fraction) -> Fraction:
        """Return the loss of u on a row, from y<u,x~> and ||x~||^2."""
        return max(Fraction(0), 1 - margin)

    def sums(self) -> None:
        require(self.seen_mistakes == self.observed, "the list of mistakes has another number of them")
        require(self.total <= self.get("loss"), "the losses of u on the data are larger than the proof says")
        longest = Fraction(self.seen_longest, 4**self.bits)
        require(longest <= self.longest, "a row is longer than the proof says")
        require(self.seen_nonzeros <= self.nonzeros, "a row has more values than the proof says")


class PerceptronMargin(Perceptron):
    """If y<u,x~> >= 1 on every row, then M <= lambda^2 R^2 ||u||^2."""

    def follows(self) -> None:
        require(self.get("loss") == 0, "u must have no loss")
        require(self.growth * self.longest < self.bound + 1, "the bound does not follow from R and ||u||")


class PerceptronHinge(Perceptron):
    """With D the sum of max(0, 1 - y<u,x~>), M <= D + a sqrt M for a = lambda R ||u||.

    No number K above the bound B obeys K <= D + a sqrt K: B + 1 does not, and K - a sqrt K grows from there on.
    """

    def follows(self) -> None:
        beyond = self.bound + 1 - self.get("loss")
        square = self.growth * self.longest * (self.bound + 1)
        require(beyond > 0 and beyond**2 > square, "the bound does not follow from D, R and ||u||")


class PerceptronSquaredHinge(Perceptron):
    """With Q the sum of max(0, 1 - y<u,x~>)^2, M <= (a + sqrt Q)^2 for a = lambda R ||u||."""

    def loss(self, margin: Fraction, square: Fraction) -> Fraction:
        return max(Fraction(0), 1 - margin) ** 2

    def follows(self) -> None:
        a2, q = self.growth * self.longest, self.get("loss")
        beyond = self.bound + 1 - a2 - q
        require(beyond > 0 and beyond**2 > 4 * a2 * q, "the bound does not follow from Q, R and ||u||")


class PerceptronLengths(Perceptron):
    """For any k > 0, M <= sum of max(0, 1 + k ||x~||^2 - y<u,x~>) + lambda^2 ||u||^2 / (4 k)."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.kappa = self.get("kappa")
        require(self.kappa > 0, "kappa must be above 0")

    def loss(self, margin: Fraction, square: Fraction) -> Fraction:
        return max(Fraction(0), 1 + self.kappa * square - margin)

    def follows(self) -> None:
        bound = self.get("loss") + self.growth / (4 * self.kappa)
        require(bound < self.bound + 1, "the bound does not follow from the losses, ||u|| and kappa")


class Finite(Theorem):
    """Mistakes of a learner that keeps the hypotheses consistent with the labels; some are left at the end."""

    restarts: ClassVar[bool] = False
    """Whether the learner restarts with all hypotheses when none is left."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        learner = proof["learner"]
        self.conservative = bool(learner.get("conservative", False))
        self.space = Survivors(learner["class"], learner.get("prior"))
        self.mistakes = 0

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        if wrong or not self.conservative:
            self.space.keep(row.x, row.y, self.restarts)

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        require(self.left() == self.get("after"), "the hypotheses that are left are not those of the proof")

    def left(self) -> int:
        """Return the weight of the hypotheses that are left."""
        return self.space.weight()


class HalvingMistakes(Finite):
    """With W the prior weight of the hypotheses left, M <= log2(W before / W after)."""

    def follows(self) -> None:
        self.counted()
        require(self.get("before") == self.space.weight(), "the class has another weight than the proof says")
        require(self.get("after") > 0, "no hypothesis is left")
        require(self.get("before") < self.get("after") * 2 ** int(self.bound + 1), "the bound does not follow from W")


class ConsistentMistakes(Finite):
    """With V the hypotheses left, M <= |V before| - |V after|."""

    def follows(self) -> None:
        self.counted()
        require(self.get("before") == self.space.count(), "the class has another size than the proof says")
        require(self.get("after") > 0, "no hypothesis is left")
        require(self.get("before") - self.get("after") <= self.bound, "the bound does not follow from |V|")

    def left(self) -> int:
        return self.space.count()


class HalvingRestarts(Finite):
    """Mistakes of Halving that restarts with all of H where no hypothesis fits all labels.

    With r restarts and w the least weight of a hypothesis,
    M <= log2(W before / w) + 1 + (r - 1) (log2(W(H) / w) + 1) + log2(W(H) / W after), each logarithm rounded down.
    """

    restarts = True

    def follows(self) -> None:
        self.counted()
        whole, least, times = self.space.weight(), self.space.least(), count(self.witness["restarts"], "restarts")
        require(times > 0 and self.get("before") == whole, "the class has another weight than the proof says")
        phase = floor_log2(whole, least) + 1
        bound = times * phase + floor_log2(whole, int(self.get("after")))
        require(bound <= self.bound, "the bound does not follow from the restarts")

    def sums(self) -> None:
        super().sums()
        require(self.space.restarts == self.witness["restarts"], "the proof has another number of restarts")


class WeightedMajority(Finite):
    """Mistakes of a vote in which an error multiplies the weight of a hypothesis by beta.

    For every hypothesis of prior pi with m errors,
    M <= (m ln(1/beta) + ln(W(H)/pi)) / ln(2 / (1 + beta)).
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.beta = number(proof["learner"]["beta"])
        require(0 < self.beta < 1, "beta must be between 0 and 1")
        self.errors = dict.fromkeys(self.space.left, 0)

    def follows(self) -> None:
        self.counted()
        whole, weight = self.space.weight(), self.get("weight")
        cost = self.get("errors") * logarithm(1 / self.beta) + logarithm(Fraction(whole) / weight)
        require(cost / -logarithm((1 + self.beta) / 2) < self.bound + 1, "the bound does not follow from the errors")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        for one in self.errors:
            self.errors[one] += self.space.says(one, row.x) != row.y

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        weight, errors = self.get("weight"), self.get("errors")
        found = any(m <= errors and self.space.prior_of(one) >= weight for one, m in self.errors.items())
        require(found, "no hypothesis of this weight makes so few errors")


class TightestBox(Theorem):
    """The bounding box of the positives, on a grid: M <= 1 if there is a box + the growth of its sides.

    No row labelled -1 may be inside the box of the positives before it.
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.box: tuple[list[int], list[int]] | None = None
        self.mistakes = 0

    def follows(self) -> None:
        self.counted()
        require(self.get("created") + self.get("grown") <= self.bound, "the bound does not follow from the box")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        if self.box is not None and row.y == -1:
            inside = all(a <= v <= b for a, v, b in zip(self.box[0], row.x, self.box[1], strict=True))
            require(not inside, "a row labelled -1 is inside the box")
        elif row.y == 1:
            low, high = self.box or (row.x, row.x)
            self.box = list(map(min, low, row.x)), list(map(max, high, row.x))

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        grown = 0 if self.box is None else sum(b - a for a, b in zip(*self.box, strict=True))
        sound = self.get("created") == (self.box is not None) and self.get("grown") == grown
        require(sound, "the box has another size than the proof says")


class Forced(Theorem):
    """An adversary contradicts each prediction; its answers fit one target. M >= min(T, k) mistakes.

    Of k points or orthogonal vectors each is shown once, and any labels fit. With `budget`, k = B + 1 vectors are shown
    again, always with one label, and M >= T.
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.labels: dict[tuple[Any, ...], int] = {}
        self.mistakes = 0

    def follows(self) -> None:
        self.counted()
        most = Fraction(self.rounds) if "budget" in self.witness else min(Fraction(self.rounds), self.get("points"))
        require(self.bound <= most, "more is claimed than the points allow")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        unit = len(row.x) == 1 and row.x[0][1] == 1.0 if self.proof["data"]["kind"] == "vectors" else True
        require(unit, "a row is not one of the vectors e_1, .., e_k")
        require(self.labels.setdefault(tuple(row.x), row.y) == row.y, "one point has two labels")

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        shown = len(self.labels)
        sound = shown <= self.get("budget") + 1 if "budget" in self.witness else shown >= self.bound
        require(sound, "another number of points was shown")


class GridBisection(Finite):
    """The answers halve the V thresholds that fit, and one fits them all: M >= min(T, log2 V)."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        Theorem.__init__(self, proof, claim)
        self.space, self.conservative = Survivors({"class": "thresholds", "n": self.witness["n"]}, None), False
        self.mistakes = 0

    def follows(self) -> None:
        self.counted()
        most = min(self.rounds, floor_log2(self.space.count(), 1))
        require(self.bound <= most, "more is claimed than the thresholds allow")

    def left(self) -> int:
        return self.space.count()


class ContrarianRegret(Theorem):
    """A learner that is contradicted in every round: M - m >= T/2, m the mistakes of the better constant label."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.mistakes, self.labels = 0, {-1: 0, 1: 0}

    def follows(self) -> None:
        self.counted()
        require(self.bound <= -(-self.rounds // 2), "more is claimed than the rounds allow")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        self.labels[row.y] += 1

    def sums(self) -> None:
        regret = self.mistakes - min(self.labels.values())
        require(regret == self.observed, "the regret is not that of the labels and mistakes")


class ExponentialWeights(Theorem):
    """Regret of exponential weights on losses from 0 to S, with prior pi, against the expert i that is named.

    With r the last rate and r_1 >= r_2 >= .. the rates,
        sum of h_t - L_i  <=  ln(1/pi_i) / r + S^2/8 (r_1 + .. + r_T).
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.experts = count(self.witness["experts"], "experts")
        prior = proof["learner"].get("prior")
        self.prior = [number(p) for p in prior] if prior else None
        if self.prior is not None:
            sound = len(self.prior) == self.experts and min(self.prior) > 0 and sum(self.prior) <= 1 + OUTWARD
            require(sound, "a prior must be positive numbers of sum 1")
        self.losses = [Fraction(0)] * self.experts
        self.slack = self.get("rounding")
        require(
            0 <= self.slack <= SLACK * (1 + self.rounds * self.get("top")), "the allowance for rounding is too large"
        )

    def price(self) -> Fraction:
        """Return ln(1/pi_i) of the named expert."""
        i = count(self.witness["comparator"], "comparator")
        require(i < self.experts, "the expert that is named does not exist")
        return logarithm(Fraction(self.experts) if self.prior is None else 1 / self.prior[i])

    def detour(self) -> Fraction:
        """Return the loss of the named expert beyond that of the best one."""
        return self.get("comparator_loss") - self.get("best_loss")

    def mixing(self) -> Fraction:
        """Return the sum of the costs of mixing."""
        return self.get("rates") * self.get("top") ** 2 / 8

    def follows(self) -> None:
        value = self.detour() + self.price() / self.get("rate") + self.mixing() if self.experts > 1 else Fraction(0)
        require(value <= self.bound, "the bound does not follow from the prior, the rates and the losses")

    def see(self, row: Row, wrong: bool) -> None:
        require(len(row.x) == self.experts, "a row has another number of losses than experts")
        top = self.get("top")
        for k, loss in enumerate(row.x):
            require(0 <= loss <= top, "a loss is outside its range")
            self.losses[k] += Fraction(loss)

    def sums(self) -> None:
        require(abs(min(self.losses) - self.get("best_loss")) <= self.slack, "the best expert has another loss")
        named = self.losses[self.witness["comparator"]]
        require(named - self.get("comparator_loss") <= self.slack, "the named expert has a larger loss")


class MixabilityGaps(ExponentialWeights):
    """sum of h_t - L_i <= ln(1/pi_i) / r + the sum of the gaps h_t - m_t, m_t the mix loss of round t."""

    def mixing(self) -> Fraction:
        return self.get("gaps")


class AdaHedge(ExponentialWeights):
    """With D_t the sum of the gaps of rounds 1 .. t, and equal weights, the regret is at most D_T + D_{T-1}."""

    def follows(self) -> None:
        require(self.prior is None, "the theorem needs equal weights")
        value = 2 * self.get("gaps") - self.get("last_gap") if self.experts > 1 else Fraction(0)
        require(value <= self.bound, "the bound does not follow from the gaps")


class Mixture(Theorem):
    """Log loss of a mixture of N forecasters: at most the loss of any of them, or of any path, + its price.

    A row has the losses -ln P(y) of the forecasters in one round and, last, of the forecast played. Forecaster i, of
    prior pi_i, joins after s_i rounds; in round t those with s_i < t are awake, p_i = pi_i / pi(awake), and b is the p
    of those that join in round t > 1. A path names one awake forecaster per round. Its price is ln 1/p_i of its first,
    + for every later round t, with i its forecaster there,
        ln 1/((1 - 1/t)(1 - b) + p_i/t) if it stays,    ln t/p_i if it changes to i,    ln 1/p_i if i joins.
    The bound is the least over paths. A Bayes mixture does not share weight: the bound is the least of L_j + ln 1/pi_j,
    and all play from the start.
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        learner = proof["learner"]
        self.shares = learner["rule"] == "fixed-share"
        self.prior = [number(weight) for weight in learner["prior"]]
        self.joins = [count(after, "joins") for after in learner["joins"]]
        sound = len(self.prior) == len(self.joins) and min(self.prior) > 0 and min(self.joins) == 0
        require(sound and sum(self.prior) <= 1 + SLACK, "a prior must be positive numbers of sum 1")
        self.of_rows = proof["data"]["kind"] == "forecasts"
        self.t = 0
        self.least = [Decimal(0)] * len(self.prior)
        self.played = Decimal(0)

    def follows(self) -> None:
        value = self.get("loss") + self.get("price") + self.get("novelty")
        require(value <= self.bound, "the bound does not follow from the loss and the price of the path")

    def see(self, row: Row, wrong: bool) -> None:
        self.t += 1
        losses = [decimal_loss(value) for value in row.x]
        require(len(losses) == len(self.prior) + 1, "a row has another number of forecasts")
        t, names = self.t, range(len(self.prior))
        each = list(zip(self.prior, self.joins, strict=True))
        whole = Fraction(sum(p for p, after in each if after < t))
        new = Fraction(sum(p for p, after in each if 0 < after == t - 1)) / whole
        best = min(self.least)
        for i in names:
            if self.joins[i] >= t:
                self.least[i] = Decimal("Infinity")
                continue
            p = self.prior[i] / whole
            if t == 1:
                self.least[i] = losses[i] + (price(p) if self.shares else price(self.prior[i]))
            elif not self.shares:
                self.least[i] += losses[i]
            elif self.joins[i] == t - 1:
                self.least[i] = losses[i] + best + price(p)
            else:
                stay = self.least[i] + price((1 - Fraction(1, t)) * (1 - new) + p / t)
                self.least[i] = losses[i] + min(stay, best + price(p / t))
        self.played += losses[-1]

    def sums(self) -> None:
        least, lost = fraction(min(self.least)), fraction(self.played) + self.get("novelty")
        require(abs(lost - self.observed) <= CLOSE * (1 + lost), "the loss is not that of the forecasts played")
        require(least + self.get("novelty") <= self.bound, "every path costs more than the bound")


class NumbersMixture(Theorem):
    """Squared loss of the mean of N forecasters under AdaHedge's weights: L <= L_j + D_T + D_{T-1}, D_t sums of gaps.

    A row has the outcome, the forecasts, and the one played. The bound may also be L itself, which is no promise.
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.losses: list[Fraction] = []

    def follows(self) -> None:
        value = self.get("loss") + 2 * self.get("gaps") - self.get("last_gap")
        require(value <= self.bound, "the bound does not follow from the loss and the gaps")

    def see(self, row: Row, wrong: bool) -> None:
        y, *forecasts = map(Fraction, row.x)
        found = [(f - y) ** 2 for f in forecasts]
        self.losses = [a + b for a, b in zip(self.losses, found, strict=True)] if self.losses else found

    def sums(self) -> None:
        *each, played = self.losses
        require(abs(played - self.observed) <= CLOSE * (1 + played), "the loss is not that of the forecasts played")
        require(abs(min(each) - self.get("loss")) <= CLOSE * (1 + played), "the best forecaster has another loss")


class Parts(Theorem):
    """A loss that is at most a sum of parts, each measured in the run.

    Logarithmic loss of a linear learner: L <= L_u + u'Au/2 + D; of a tree: the constants of a pruning, their regret and
    the price of not knowing it. Squared loss: the best in hindsight + the sum of y^2 chi.
    """

    of_rows = False

    def follows(self) -> None:
        value = sum((number(part) for part in self.witness["parts"].values()), Fraction(0))
        require(value <= self.bound, "the bound does not follow from its parts")


class CoverageDeviation(Theorem):
    """A threshold that moves by step (miss - alpha), from 0 to 1: |misses/T - alpha| <= (1 + step) / (step T)."""

    of_rows = False

    def follows(self) -> None:
        rounds, step, alpha = count(self.witness["rounds"], "rounds"), self.get("step"), self.get("alpha")
        require(0 < rounds <= self.rounds and step > 0 and 0 < alpha < 1, "the sums of the proof are impossible")
        off = abs(Fraction(count(self.witness["misses"], "misses"), rounds) - alpha)
        require(abs(off - self.observed) <= SLACK * off, "the deviation is not that of the misses")
        require((1 + step) / (step * rounds) <= self.bound, "the bound does not follow from step and rounds")


THEOREMS: dict[str, type[Theorem]] = {
    "perceptron_margin": PerceptronMargin,
    "perceptron_hinge": PerceptronHinge,
    "perceptron_squared_hinge": PerceptronSquaredHinge,
    "perceptron_lengths": PerceptronLengths,
    "halving_mistakes": HalvingMistakes,
    "consistent_mistakes": ConsistentMistakes,
    "majority_flip_forced": Forced,
    "orthogonal_forced": Forced,
    "budget_forced": Forced,
    "grid_bisection_forced": GridBisection,
    "contrarian_regret": ContrarianRegret,
    "halving_restarts": HalvingRestarts,
    "weighted_majority_mistakes": WeightedMajority,
    "tightest_box_mistakes": TightestBox,
    "ftrl_regret": Parts,
    "logistic_regret": Parts,
    "vaw_regret": Parts,
    "tree_pruning": Parts,
    "fixed_rate_regret": ExponentialWeights,
    "anytime_regret": ExponentialWeights,
    "mixability_gaps": MixabilityGaps,
    "ada_hedge_regret": AdaHedge,
    "mixture_regret": Mixture,
    "numbers_regret": NumbersMixture,
    "switching_regret": Mixture,
    "coverage_deviation": CoverageDeviation,
}
"""Class of each theorem that can be checked, by its name in novikoff."""


def theorem(proof: dict[str, Any], claim: dict[str, Any]) -> Theorem:
    """Return the check of a claim."""
    name = claim.get("theorem")
    if name not in THEOREMS:
        raise NotCoveredError(f"the theorem {name}")
    try:
        return THEOREMS[name](proof, claim)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise RefutedError(f"the proof of {name} is incomplete or malformed: {error!r}") from None
