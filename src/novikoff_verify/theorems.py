"""Theorems: the bound that follows from the sums in a proof, and these sums recomputed from the data.

A class per theorem. Its docstring is the statement; `follows` checks the arithmetic; `see` and `sums` recompute the
sums from the rows, where the theorem has sums of rows.
"""

from __future__ import annotations

import functools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from novikoff_verify.exact import (
    OUTWARD,
    NotCoveredError,
    binomial_enough,
    count,
    decimal,
    double,
    fraction,
    logarithm,
    number,
    poisson_enough,
    require,
    units,
)
from novikoff_verify.hypotheses import Survivors
from novikoff_verify.kernels import Kernel, Vector
from novikoff_verify.leader import Leader, log_loss
from novikoff_verify.ridge import Newton, Ridge
from novikoff_verify.rows import KINDS, Row, flags

ULP = Fraction(1, 2**53)
"""Largest relative error of one operation on doubles."""
FINEST = 1074
"""Every double is a whole multiple of 2^-1074."""
MANY = 2**40
"""Largest number of rounds, and of values in a row, for which rounding errors are bounded."""
MOST_CENTERS = 5_000
"""Most centers of a function in the space of a kernel."""
CLOSE = Fraction(1, 10**9)
"""Largest relative difference of two sums of the same losses in doubles."""
SLACK = Fraction(1, 10**9)
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

    side: ClassVar[str] = "upper"
    """Whether the observed value is at most (upper) or at least (lower) the bound."""
    quantities: ClassVar[tuple[str, ...]] = ("mistakes",)
    """What the theorem bounds: one of these."""
    kinds: ClassVar[tuple[str, ...]] = ("vectors", "points")
    """Rows that it is about."""
    rules: ClassVar[tuple[str, ...]] = ()
    """Learners that it is about; empty for any."""
    trusted: ClassVar[tuple[str, ...]] = ()
    """What no check sees, at any depth."""
    of_rows: bool = True
    """Whether its sums can be recomputed from the rows."""
    replays: bool = False
    """Whether `see` and `sums` also replay what the theorem is about."""

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        self.proof, self.claim, self.witness = proof, claim, claim["witness"]
        self.rounds, self.rule = proof["data"]["rows"], proof["learner"].get("rule")
        self.observed, self.bound = number(claim["observed"]), number(claim["bound"])
        require(claim["side"] == self.side, f"the theorem is about the {self.side} side")
        require(claim["quantity"] in self.quantities, f"the theorem bounds {' or '.join(self.quantities)}")
        require(proof["data"]["kind"] in self.kinds, f"the theorem is about {' or '.join(self.kinds)}")
        require(self.rule is None or not self.rules or self.rule in self.rules, "the theorem is of another learner")
        holds = self.observed <= self.bound if self.side == "upper" else self.observed >= self.bound
        require(holds, "the observed value is beyond the bound")
        if claim["quantity"] == "mistakes":
            require(self.observed.denominator == 1 == self.bound.denominator, "mistakes must be whole numbers")
            require(0 <= self.observed <= self.rounds, "there must be as many mistakes as rounds at most")

    def get(self, name: str) -> Fraction:
        """Return a number of the witness, at least 0."""
        value = number(self.witness[name])
        require(value >= 0, f"{name} must be at least 0")
        return value

    def follows(self) -> None:
        """Raise `RefutedError` unless the bound follows from the witness."""
        raise NotImplementedError

    def see(self, row: Row, wrong: bool) -> None:
        """Add a row to the sums."""

    def sums(self) -> None:
        """Raise `RefutedError` unless the rows have the sums of the witness, or smaller ones where that is enough."""


class Perceptron(Theorem):
    """Mistakes of the Perceptron, started at zero, against one vector u = U/S on rows x~ (x, then the bias).

    In doubles, with M mistakes, n values in a row at most and g = n 2^-53 / (1 - n 2^-53),
        M - (losses of u on the mistakes)  <=  lambda ||u|| sqrt(R^2 M),
        lambda = (1 + 2^-53 M) / (1 - 2^-53 M) * (1 + g (floor(sqrt M) + 1)).
    """

    kinds, rules = ("vectors",), ("perceptron",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        learner = proof["learner"]
        self.exact = not learner.get("normalize", False)
        self.bits = count(proof["data"]["bits"], "bits", FINEST)
        weights = {int(place): double(value) for place, value in self.witness["weights"].items()}
        self.own = max((w.as_integer_ratio()[1].bit_length() - 1 for w in weights.values()), default=0)
        self.weights = {place: units(w, self.own) for place, w in weights.items()}  # place -1: the constant feature
        self.bias = units(double(learner["bias"]), self.bits)
        self.scale, self.square, self.longest = self.get("scale"), self.get("square"), self.get("longest")
        require(self.scale > 0, "the scale of u must be above 0")
        norm = Fraction(sum(w * w for w in self.weights.values()), 4**self.own)
        require(norm <= self.square * self.scale**2, "||u||^2 is larger than the proof says")
        self.nonzeros = count(self.witness["nonzeros"], "nonzeros", MANY)
        require(self.rounds <= MANY, "the rounding errors of so many rounds are not bounded")
        self.total, self.seen_longest, self.seen_nonzeros, self.seen_mistakes = Fraction(0), Fraction(0), 0, 0

    @property
    def growth(self) -> Fraction:
        """lambda^2 ||u||^2."""
        g, mistakes = self.nonzeros * ULP / (1 - self.nonzeros * ULP), int(self.observed)
        factor = (1 + ULP * mistakes) / (1 - ULP * mistakes) * (1 + g * (math.isqrt(mistakes) + 1))
        return factor**2 * self.square

    @property
    def excess(self) -> Fraction:
        """What rounding adds to the sum of the squared lengths of the mistakes, where it does not multiply ||u||^2."""
        return Fraction(0)

    def see(self, row: Row, wrong: bool) -> None:
        if not self.exact:
            raise NotCoveredError("rows that the learner divides by their length")
        require(row.y in (-1, 1), "a label must be -1 or +1")
        length = self.bias * self.bias
        margin = self.weights.get(-1, 0) * self.bias
        for place, value in row.x:
            whole = units(value, self.bits)
            length += whole * whole
            margin += self.weights.get(place, 0) * whole
        found = row.y * Fraction(margin, 1 << (self.own + self.bits)) / self.scale
        self.tally(found, Fraction(length, 4**self.bits), len(row.x) + (self.bias != 0), wrong)

    def tally(self, margin: Fraction, square: Fraction, values: int, wrong: bool) -> None:
        """Add a row of this margin y<u,x~>, squared length and number of values."""
        self.total += self.loss(margin, square)
        self.seen_longest = max(self.seen_longest, square)
        self.seen_nonzeros = max(self.seen_nonzeros, values)
        self.seen_mistakes += wrong

    def loss(self, margin: Fraction, square: Fraction) -> Fraction:
        """Return the loss of u on a row, from y<u,x~> and ||x~||^2."""
        return max(Fraction(0), 1 - margin)

    def sums(self) -> None:
        require(self.seen_mistakes == self.observed, "the list of mistakes has another number of them")
        require(self.total <= self.get("loss"), "the losses of u on the data are larger than the proof says")
        require(self.seen_longest <= self.longest, "a row is longer than the proof says")
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

    @functools.cached_property
    def kappa(self) -> Fraction:
        """The k of the theorem."""
        kappa = self.get("kappa")
        require(kappa > 0, "kappa must be above 0")
        return kappa

    def loss(self, margin: Fraction, square: Fraction) -> Fraction:
        return max(Fraction(0), 1 + self.kappa * square - margin)

    def follows(self) -> None:
        bound = self.get("loss") + self.growth / (4 * self.kappa) + self.kappa * self.excess
        require(bound < self.bound + 1, "the bound does not follow from the losses, ||u|| and kappa")


class KernelSpace(Perceptron):
    """The same against u = U/S, U the sum of beta_j K(z_j, .), z_j rows of the data, on the features of a kernel K.

    <u,x~> is u(x), ||x~||^2 is K(x,x), and with e the error of a score (`Kernel.of_scores`)
        M - (losses of u on the mistakes)  <=  lambda ||u|| sqrt(R^2 M),    lambda^2 = 1 + 2 M e.
    """

    rules = ("kernel-perceptron",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        Theorem.__init__(self, proof, claim)
        learner = proof["learner"]
        self.kernel = Kernel(learner, count(proof["data"]["bits"], "bits", FINEST))
        self.centers = [count(center, "a center", self.rounds - 1) for center in self.witness["centers"]]
        self.betas = [number(beta) for beta in self.witness["betas"]]
        require(len(self.centers) == len(self.betas), "a center needs one coefficient")
        require(len(self.centers) <= MOST_CENTERS, f"more than {MOST_CENTERS:,} centers")
        self.scale, self.square, self.longest = self.get("scale"), self.get("square"), self.get("longest")
        self.nonzeros, self.widest = count(self.witness["nonzeros"], "nonzeros", MANY), self.get("widest")
        require(self.scale > 0 and self.rounds <= MANY, "the scale of u must be above 0")
        if learner.get("budget") is not None:
            require(self.observed <= count(learner["budget"], "budget"), "more mistakes than the budget")
        self.total, self.seen_longest, self.seen_nonzeros, self.seen_mistakes = Fraction(0), Fraction(0), 0, 0
        self.waiting: list[tuple[Row, bool]] | None = []  # rows before the last center
        self.u: list[tuple[Vector, Decimal]] = []

    @property
    def error(self) -> Fraction:
        """The e of the scores of this game."""
        return self.kernel.of_scores(int(self.observed), self.nonzeros, self.widest)

    @property
    def growth(self) -> Fraction:
        return (1 + 2 * self.observed * self.error) * self.square

    def see(self, row: Row, wrong: bool) -> None:
        if self.waiting is None:
            self.add(row, wrong)
            return
        self.waiting.append((row, wrong))
        if len(self.waiting) > max(self.centers, default=0):
            waiting, self.waiting = self.waiting, None
            vectors = [self.kernel.vector(waiting[center][0].x) for center in self.centers]
            self.u = [(z, decimal(beta)) for z, beta in zip(vectors, self.betas, strict=True)]
            terms = [a * b * self.kernel.value(x, z) for x, a in self.u for z, b in self.u]
            norm = fraction(sum(terms, Decimal(0))) + OUTWARD * fraction(sum(map(abs, terms), Decimal(0)))
            require(norm <= self.square * self.scale**2, "||u||^2 is larger than the proof says")
            for one in waiting:
                self.add(*one)

    def add(self, row: Row, wrong: bool) -> None:
        """Add a row to the sums."""
        require(row.y in (-1, 1), "a label must be -1 or +1")
        x = self.kernel.vector(row.x)
        require(
            self.kernel.dot(x, x) <= self.widest or self.kernel.name != "rbf", "a row is longer than the proof says"
        )
        terms = [beta * self.kernel.value(z, x) for z, beta in self.u]
        off = OUTWARD * fraction(sum(map(abs, terms), Decimal(0)))
        margin = (row.y * fraction(sum(terms, Decimal(0))) - off) / self.scale
        self.tally(margin, self.kernel.own(x), len(x), wrong)


class KernelMargin(KernelSpace, PerceptronMargin):
    """If y u(x) >= 1 on every row, then M <= lambda^2 R^2 ||u||^2."""


class KernelHinge(KernelSpace, PerceptronHinge):
    """With D the sum of max(0, 1 - y u(x)), M <= D + a sqrt M for a = lambda R ||u||."""


class KernelSquaredHinge(KernelSpace, PerceptronSquaredHinge):
    """With Q the sum of max(0, 1 - y u(x))^2, M <= (a + sqrt Q)^2 for a = lambda R ||u||."""


class KernelLengths(KernelSpace, PerceptronLengths):
    """For any k > 0, M <= sum of max(0, 1 + k K(x,x) - y u(x)) + ||u||^2 / (4 k) + 2 k M^2 e R^2."""

    @property
    def growth(self) -> Fraction:
        return self.square

    @property
    def excess(self) -> Fraction:
        return 2 * self.observed**2 * self.error * self.longest


class Finite(Theorem):
    """Mistakes of a learner that keeps the hypotheses consistent with the labels; some are left at the end."""

    kinds, rules = ("points",), ("halving",)
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
        require(self.get("before") == self.space.weight(), "the class has another weight than the proof says")
        require(0 < self.get("after") <= self.get("before"), "no hypothesis is left")
        bits = floor_log2(self.space.weight(), count(self.witness["after"], "after"))
        require(bits <= self.bound, "the bound does not follow from W")


class ConsistentMistakes(Finite):
    """With V the hypotheses left, M <= |V before| - |V after|."""

    rules = ("consistent",)

    def follows(self) -> None:
        require(self.get("before") == self.space.count(), "the class has another size than the proof says")
        require(0 < self.get("after") <= self.get("before"), "no hypothesis is left")
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
        whole, least, times = self.space.weight(), self.space.least(), count(self.witness["restarts"], "restarts")
        require(times > 0 and self.get("before") == whole, "the class has another weight than the proof says")
        phase = floor_log2(whole, least) + 1
        after = count(self.witness["after"], "after")
        require(0 < after <= whole, "no hypothesis is left")
        bound = times * phase + floor_log2(whole, after)
        require(bound <= self.bound, "the bound does not follow from the restarts")

    def sums(self) -> None:
        super().sums()
        require(self.space.restarts == self.witness["restarts"], "the proof has another number of restarts")


class WeightedMajority(Finite):
    """Mistakes of a vote in which an error multiplies the weight of a hypothesis by beta.

    For every hypothesis of prior pi with m errors,
    M <= (m ln(1/beta) + ln(W(H)/pi)) / ln(2 / (1 + beta)).
    """

    rules = ("weighted-majority",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.beta = number(proof["learner"]["beta"])
        require(0 < self.beta < 1, "beta must be between 0 and 1")
        self.errors = dict.fromkeys(self.space.left, 0)

    def follows(self) -> None:
        whole, weight = self.space.weight(), self.get("weight")
        require(0 < weight <= whole, "a hypothesis must have a weight above 0, and no more than all")
        cost, shrinkage = self.get("errors") * logarithm(1 / self.beta), -logarithm((1 + self.beta) / 2)
        require(shrinkage > 0, "beta is too close to 1")
        bound = (cost + logarithm(Fraction(whole) / weight)) / shrinkage
        require(bound < self.bound + 1, "the bound does not follow from the errors")

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

    kinds, rules = ("points",), ("tightest-box",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.box: tuple[list[int], list[int]] | None = None
        self.mistakes = 0

    def follows(self) -> None:
        count(self.witness["created"], "created", 1)
        require(self.get("created") + self.get("grown") <= self.bound, "the bound does not follow from the box")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        require(row.y in (-1, 1), "a label must be -1 or +1")
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
    """An adversary shows k points, each labelled against the prediction; any labels fit one target. M >= min(T, k).

    The points are k orthogonal unit vectors, or points of a class that has every labelling of them.
    """

    side = "lower"
    trusted = ("the learner is deterministic: the adversary saw its prediction",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.labels: dict[tuple[Any, ...], int] = {}
        self.mistakes = 0

    def most(self) -> Fraction:
        """Return the number of mistakes that are forced."""
        return min(Fraction(self.rounds), self.get("points"))

    def follows(self) -> None:
        require(self.bound <= self.most(), "more is claimed than the points allow")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        require(row.y in (-1, 1), "a label must be -1 or +1")
        unit = len(row.x) == 1 and row.x[0][1] == 1.0 if self.proof["data"]["kind"] == "vectors" else True
        require(unit, "a row is not one of the vectors e_1, .., e_k")
        require(wrong or tuple(row.x) in self.labels, "a new point was not labelled against the prediction")
        require(self.labels.setdefault(tuple(row.x), row.y) == row.y, "one point has two labels")

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        require(len(self.labels) >= self.bound, "fewer points were shown than mistakes are claimed")


class BudgetForced(Forced):
    """B + 1 orthogonal vectors, each always with one label, that fit one target; a mistake in every round: M >= T."""

    kinds = ("vectors",)

    def most(self) -> Fraction:
        return Fraction(self.rounds)

    def sums(self) -> None:
        require(self.mistakes == self.observed == self.rounds, "the learner was right in a round")
        require(len(self.labels) <= self.get("budget") + 1, "more vectors were shown than the budget and one")


class GridBisection(Theorem):
    """The answers halve the V thresholds that fit, and one fits them all: M >= min(T, log2 V)."""

    side, kinds, trusted = "lower", ("points",), Forced.trusted

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.space, self.mistakes = Survivors({"class": "thresholds", "n": self.witness["n"]}, None), 0

    def follows(self) -> None:
        most = min(self.rounds, floor_log2(self.space.count(), 1))
        require(self.bound <= most, "more is claimed than the thresholds allow")

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        require(row.y in (-1, 1), "a label must be -1 or +1")
        require(wrong or self.space.count() == 1, "a label that was open is the one that was predicted")
        self.space.keep(row.x, row.y)

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        require(self.space.count() == self.get("after"), "the thresholds that are left are not those of the proof")


class BisectionForced(Forced):
    """One number is shown that some thresholds label +1 and others -1, contrary to the prediction, in k rounds: M >= k.

    h_theta(x) = +1 for x >= theta; rows are vectors whose other values are 0, or points of a grid.
    """

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.low, self.high, self.forced = -math.inf, math.inf, 0  # theta is from above low to high

    def most(self) -> Fraction:
        return Fraction(self.rounds)

    def see(self, row: Row, wrong: bool) -> None:
        self.mistakes += wrong
        require(row.y in (-1, 1), "a label must be -1 or +1")
        pairs = row.x if self.proof["data"]["kind"] == "vectors" else list(enumerate(row.x))
        require(all(place == 0 for place, _ in pairs), "a row must be one number")
        x = pairs[0][1] if pairs else 0.0
        is_open = self.low < x < self.high
        require(wrong or not is_open, "a label that was open is the one that was predicted")
        self.forced += is_open
        self.low, self.high = (self.low, min(self.high, x)) if row.y == 1 else (max(self.low, x), self.high)
        require(self.low < self.high, "no threshold fits all labels")

    def sums(self) -> None:
        require(self.mistakes == self.observed, "the list of mistakes has another number of them")
        require(self.forced >= self.bound, "fewer labels were open than mistakes are claimed")


class ContrarianRegret(Theorem):
    """A learner that is contradicted in every round: M - m >= T/2, m the mistakes of the better constant label."""

    side, quantities, kinds, trusted = "lower", ("regret",), KINDS, Forced.trusted

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.labels = {-1: 0, 1: 0}

    def follows(self) -> None:
        require(self.bound <= -(-self.rounds // 2), "more is claimed than the rounds allow")

    def see(self, row: Row, wrong: bool) -> None:
        require(row.y in self.labels, "a label must be -1 or +1")
        require(wrong, "the learner was right in a round")
        self.labels[row.y] += 1

    def sums(self) -> None:
        regret = self.rounds - min(self.labels.values())
        require(regret == self.observed, "the regret is not that of the labels and mistakes")


class ExponentialWeights(Theorem):
    """Regret of exponential weights on losses from 0 to S, with prior pi, against the expert i that is named.

    With r the last rate and r_1 >= r_2 >= .. the rates,
        sum of h_t - L_i  <=  ln(1/pi_i) / r + S^2/8 (r_1 + .. + r_T).
    """

    quantities = ("regret", "expected regret")
    kinds, rules = ("losses",), ("exponential-weights",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.experts = count(self.witness["experts"], "experts")
        prior = proof["learner"].get("prior")
        self.prior = [number(p) for p in prior] if prior else None
        if self.prior is not None:
            sound = len(self.prior) == self.experts and min(self.prior) > 0 and sum(self.prior) == 1
            require(sound, "a prior must be positive numbers of sum 1")
        self.losses = [Fraction(0)] * self.experts
        self.slack = self.get("rounding")
        require(self.slack <= SLACK * (1 + self.rounds * self.get("top")), "the allowance for rounding is too large")
        require(self.get("best_loss") <= self.get("comparator_loss"), "no expert loses less than the best")

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
        require(self.rounds == 0 or self.get("rates") >= self.get("rate") > 0, "rates must be positive")
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
        named = self.losses[count(self.witness["comparator"], "comparator", self.experts - 1)]
        require(named - self.get("comparator_loss") <= self.slack, "the named expert has a larger loss")


class MixabilityGaps(ExponentialWeights):
    """sum of h_t - L_i <= ln(1/pi_i) / r + the sum of the gaps h_t - m_t, m_t the mix loss of round t."""

    def mixing(self) -> Fraction:
        require(self.get("rate") > 0, "rates must be positive")
        return self.get("gaps")


class AdaHedge(ExponentialWeights):
    """With D_t the sum of the gaps of rounds 1 .. t, and equal weights, the regret is at most D_T + D_{T-1}."""

    def follows(self) -> None:
        require(self.prior is None, "the theorem needs equal weights")
        require(self.get("last_gap") <= self.get("gaps"), "the last gap is larger than all gaps")
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

    quantities = ("log loss",)
    rules = ("fixed-share", "bayes")
    kinds = ("forecasts",)
    trusted = ("each forecast was made before its label", "the cost of labels that were not announced (`novelty`)")

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        learner = proof["learner"]
        self.shares = learner["rule"] == "fixed-share"
        self.prior = [number(weight) for weight in learner["prior"]]
        self.joins = [count(after, "joins") for after in learner["joins"]]
        sound = len(self.prior) == len(self.joins) and min(self.prior) > 0 and min(self.joins) == 0
        require(sound, "a prior must be positive numbers, and someone must play from the start")
        require(self.shares or not any(self.joins), "the forecasters of a Bayes mixture play from the start")
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
        require(min(losses) >= 0, "a probability is above 1")
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
                self.least[i] = losses[i] + price(p)
            elif not self.shares:
                self.least[i] += losses[i]
            elif self.joins[i] == t - 1:
                self.least[i] = losses[i] + best + price(p)
            else:
                stay = self.least[i] + price((1 - Fraction(1, t)) * (1 - new) + p / t)
                self.least[i] = losses[i] + min(stay, best + price(p / t))
        self.played += losses[-1]

    def sums(self) -> None:
        lost = fraction(self.played) + self.get("novelty")
        require(abs(lost - self.observed) <= CLOSE * (1 + lost), "the loss is not that of the forecasts played")
        least = min(self.least) * (1 + decimal(OUTWARD))
        require(least + decimal(self.get("novelty") - self.bound) <= 0, "every path costs more than the bound")


class NumbersMixture(Theorem):
    """Squared loss of the mean of N forecasters under AdaHedge's weights: L <= L_j + D_T + D_{T-1}, D_t sums of gaps.

    A row has the outcome, the forecasts, and the one played. The bound may also be L itself, which is no promise.
    """

    quantities, kinds, rules = ("squared loss",), ("numbers",), ("ada-hedge",)
    trusted = ("each forecast was made before its outcome",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.losses: list[Fraction] = []

    def follows(self) -> None:
        require(self.get("last_gap") <= self.get("gaps"), "the last gap is larger than all gaps")
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
    """A loss that is at most a sum of parts: of that of a vector u, of u'Au/2, and of what the rounds cost beyond."""

    quantities: ClassVar[tuple[str, ...]] = ("log loss",)
    kinds: ClassVar[tuple[str, ...]] = KINDS
    parts: ClassVar[tuple[str, ...]] = ("comparator", "penalty", "delta")
    of_rows = False

    def part(self, name: str) -> Fraction:
        """Return a part."""
        value = number(self.witness["parts"][name])
        require(value >= 0, f"{name} must be at least 0")
        return value

    def follows(self) -> None:
        require(self.witness["parts"].keys() == set(self.parts), f"the parts must be {', '.join(self.parts)}")
        value = sum(map(self.part, self.parts), Fraction(0))
        require(value <= self.bound, "the bound does not follow from its parts")


class FTRLRegret(Parts):
    """Log loss of follow the regularised leader: L <= L_u + u'Au/2 + sum of Delta, A the metric at the end.

    Delta = g (z - z0) + g^2 v/2 in each round. `doubt` is an allowance for the rounding of the gradients in doubles.
    """

    kinds, rules, of_rows = ("vectors",), ("ftrl",), True
    parts = ("comparator", "penalty", "delta", "doubt")

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.leader = Leader(proof["learner"]) if self.rule else None
        self.u = {int(place): decimal(double(weight)) for place, weight in self.witness.get("weights", {}).items()}
        self.lost = Decimal(0)

    def see(self, row: Row, wrong: bool) -> None:
        if self.leader is None or "weights" not in self.witness:
            raise NotCoveredError("a learner or a comparator that the proof does not describe")
        require(row.y in (-1, 1), "a label must be -1 or +1")
        values = self.leader.values(row.x)
        self.lost += log_loss(row.y * sum((self.u.get(place, Decimal(0)) * x for place, x in values), Decimal(0)))
        self.leader.see(row.x, row.y)

    def sums(self) -> None:
        if self.leader is not None:
            found = {"comparator": self.lost, "penalty": self.leader.penalty(self.u), "delta": self.leader.delta}
            for name, value in found.items():
                exact = fraction(value)
                require(exact <= self.part(name) + CLOSE * (1 + exact), f"{name} is larger on these rows")


class LogisticRegret(Parts):
    """Log loss of second-order logistic regression: L <= sum of max(l, Q)(<u,x>) + u'Lu/2 + sum of Delta.

    Delta = (g e + g^2 v/2 - h e^2/2) / (1 + h v), e = z - z0, in each round.
    """

    kinds, rules, of_rows = ("vectors",), ("logistic",), True

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.matrix = Newton(proof["learner"]) if self.rule else None
        self.u = {int(place): decimal(double(weight)) for place, weight in self.witness.get("weights", {}).items()}

    def see(self, row: Row, wrong: bool) -> None:
        if self.matrix is None or "weights" not in self.witness:
            raise NotCoveredError("a learner or a comparator that the proof does not describe")
        require(row.y in (-1, 1), "a label must be -1 or +1")
        self.matrix.play(row.x, row.y, self.u)

    def sums(self) -> None:
        if self.matrix is not None:
            one = self.matrix
            found = {"comparator": one.approximated, "penalty": one.penalty(self.u), "delta": one.delta}
            for name, value in found.items():
                exact = fraction(value)
                require(exact <= self.part(name) + CLOSE * (1 + exact), f"{name} is larger on these rows")


class VAWRegret(Parts):
    """Squared loss of Vovk-Azoury-Warmuth: at most the least u'Lu + sum of (<u,x> - y)^2, + the sum of y^2 chi.

    With A_t = L_t + the sum of x x' up to x_t, v = x'(A_t - xx')^-1 x and chi = v / (1 + v). Of labels and P(+1) = (1 +
    p)/2 it is a quarter of all that, the Brier score.
    """

    quantities, kinds, rules = ("squared loss", "Brier score"), ("outcomes", "vectors"), ("vaw",)
    parts, of_rows = ("best_in_hindsight", "chi"), True

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.matrix = Ridge(proof["learner"]) if self.rule else None
        self.share = Fraction(1, 4) if claim["quantity"] == "Brier score" else Fraction(1)
        require((self.share == 1) == (proof["data"]["kind"] == "outcomes"), "the Brier score is of labels")

    def see(self, row: Row, wrong: bool) -> None:
        if self.matrix is None:
            raise NotCoveredError("a metric that the proof does not describe")
        require(self.share == 1 or row.y in (-1, 1), "a label must be -1 or +1")
        self.matrix.see(row.x, decimal(Fraction(row.y)))

    def sums(self) -> None:
        if self.matrix is not None:
            off = CLOSE * (1 + fraction(self.matrix.squares))
            for name, value in (("best_in_hindsight", self.matrix.best()), ("chi", self.matrix.chi)):
                require(self.share * fraction(value) <= self.part(name) + off, f"{name} is larger on these rows")


class TreePruning(Parts):
    """Log loss of a tree: that of the best constants of a pruning, their regret, the price of not knowing it."""

    parts = ("constants", "regret", "price", "novelty")


class CoverageDeviation(Theorem):
    """Misses of sets that are everything for a threshold q >= 1, and empty for q < 0.

    q starts at q_1 from 0 to 1 and is q_1 + step (misses - alpha rounds), counted in its group, d rounds late. Then
        |misses/T - alpha|  <=  (1 + (d + 1) step + 2 r) / (step T),   r = 8 2^-53 (2 + step (misses + T + 1)),
    r the rounding of q in doubles. Nothing else about the sets matters: the misses are replayed, in fractions.
    """

    trusted = ("which sets missed the outcome, and which rounds are of the group",)

    quantities, kinds, replays = ("deviation of coverage",), KINDS, True

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.delay, self.misses = count(self.witness["delay"], "delay"), count(self.witness["misses"], "misses")
        self.counted = count(self.witness["rounds"], "rounds", self.rounds)
        self.start, self.step, self.alpha = self.get("start"), self.get("step"), self.get("alpha")
        require(self.misses <= self.counted > 0, "the counts of the proof are impossible")
        require(self.step > 0 and 0 < self.alpha < 1 and self.start <= 1, "the constants of the proof are impossible")
        self.rounding = 8 * ULP * (2 + self.step * (self.misses + self.counted + 1))
        self.t = self.known = 0
        self.seen: list[bool] = []

    def follows(self) -> None:
        off = abs(Fraction(self.misses, self.counted) - self.alpha)
        require(abs(off - self.observed) <= SLACK * off, "the deviation is not that of the misses")
        most = 1 + (self.delay + 1) * self.step + 2 * self.rounding
        require(most / (self.step * self.counted) <= self.bound, "the bound does not follow from step and rounds")

    def see(self, row: Row, wrong: bool) -> None:
        if not self.t:
            self.missed = flags(self.proof, "missed")
            self.inside = flags(self.proof, "group") if "group" in self.witness else lambda t: True
        t, self.t = self.t, self.t + 1
        if not self.inside(t):
            return
        if len(self.seen) > self.delay:  # the outcome that became known
            self.known += self.seen[len(self.seen) - self.delay - 1]
        q = self.start + self.step * (self.known - self.alpha * max(len(self.seen) - self.delay, 0))
        require(q < 1 + self.rounding or not self.missed(t), "a set of everything has no miss")
        require(q >= -self.rounding or self.missed(t), "an empty set has no hit")
        self.seen.append(self.missed(t))

    def sums(self) -> None:
        found = (len(self.seen), sum(self.seen))
        require(found == (self.counted, self.misses), "the misses are not those of the proof")


class RiskLimit(Theorem):
    """An upper limit on the risk, the chance of an error on a fresh example, from errors counted on examples.

    It fails with a chance of at most delta, if the examples are independent draws from one distribution.
    """

    quantities, kinds = ("mean risk",), KINDS
    trusted = ("the examples are independent draws from one distribution, new to the learner",)

    def __init__(self, proof: dict[str, Any], claim: dict[str, Any]) -> None:
        super().__init__(proof, claim)
        self.examples = count(self.witness["rounds"], "rounds", self.rounds)
        self.delta, self.seen, self.mistakes = self.get("delta"), 0, 0
        require(self.examples > 0 and 0 < self.delta < 1, "there are no examples, or delta is not between 0 and 1")

    def counts(self) -> tuple[int, int]:
        """Return the errors, and the examples on which they were counted."""
        return count(self.witness["mistakes"], "mistakes", self.examples), self.examples

    def enough(self, errors: int, trials: int) -> bool:
        """Return whether the claimed limit is large enough for these errors."""
        return poisson_enough(errors, self.bound * trials, Fraction((errors + 1) * (errors + 2)) / self.delta)

    def follows(self) -> None:
        errors, trials = self.counts()
        require(abs(self.observed - Fraction(errors, trials)) <= SLACK, "the rate is not that of the errors")
        require(self.bound >= 1 or self.enough(errors, trials), "the limit is too small for these errors")

    def see(self, row: Row, wrong: bool) -> None:
        self.seen += 1
        self.mistakes += wrong and self.seen <= self.examples

    def sums(self) -> None:
        require(self.mistakes == self.counts()[0], "the list of mistakes has another number of them")


class EnsembleRisk(RiskLimit):
    """The mean risk of the hypotheses of a game, for all n at once, from its M mistakes: P/n.

    P = M + s, s the root of s - M ln(1 + s/M) = ln((M+1)(M+2)/delta); for M = 0 s is the right side.
    """


class BestRisk(RiskLimit):
    """The risk of one hypothesis of a game of n rounds, from its K errors on the N examples after it.

    n fixed in advance: the p at which at most K errors in N have probability delta/n (Clopper and Pearson).
    """

    quantities, of_rows = ("risk",), False

    def counts(self) -> tuple[int, int]:
        trials = count(self.witness["trials"], "trials", self.examples)
        require(trials + count(self.witness["first"], "first") == self.examples, "not all later examples were counted")
        require(trials > 0, "there are no examples")
        return count(self.witness["errors"], "errors", trials), trials

    def enough(self, errors: int, trials: int) -> bool:
        return binomial_enough(errors, trials, self.bound, self.delta / self.examples)


THEOREMS: dict[str, type[Theorem]] = {
    "perceptron_margin": PerceptronMargin,
    "perceptron_hinge": PerceptronHinge,
    "perceptron_squared_hinge": PerceptronSquaredHinge,
    "perceptron_lengths": PerceptronLengths,
    "kernel_margin": KernelMargin,
    "kernel_hinge": KernelHinge,
    "kernel_squared_hinge": KernelSquaredHinge,
    "kernel_lengths": KernelLengths,
    "rbp_no_eviction": KernelHinge,
    "halving_mistakes": HalvingMistakes,
    "consistent_mistakes": ConsistentMistakes,
    "majority_flip_forced": Forced,
    "orthogonal_forced": Forced,
    "budget_forced": BudgetForced,
    "grid_bisection_forced": GridBisection,
    "bisection_forced": BisectionForced,
    "contrarian_regret": ContrarianRegret,
    "halving_restarts": HalvingRestarts,
    "weighted_majority_mistakes": WeightedMajority,
    "tightest_box_mistakes": TightestBox,
    "ftrl_regret": FTRLRegret,
    "logistic_regret": LogisticRegret,
    "vaw_regret": VAWRegret,
    "tree_pruning": TreePruning,
    "fixed_rate_regret": ExponentialWeights,
    "anytime_regret": ExponentialWeights,
    "mixability_gaps": MixabilityGaps,
    "ada_hedge_regret": AdaHedge,
    "mixture_regret": Mixture,
    "numbers_regret": NumbersMixture,
    "switching_regret": Mixture,
    "ensemble_risk": EnsembleRisk,
    "best_risk": BestRisk,
    "coverage_deviation": CoverageDeviation,
}
"""Class of each theorem that can be checked, by its name in novikoff."""


def theorem(proof: dict[str, Any], claim: dict[str, Any]) -> Theorem:
    """Return the check of a claim."""
    if claim["theorem"] not in THEOREMS:
        raise NotCoveredError("a theorem that this program does not know")
    return THEOREMS[claim["theorem"]](proof, claim)
