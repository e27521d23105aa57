"""Errata of the lecture notes: each with the corrected statement, and a counterexample that is computed when shown.

`novikoff notes errata` runs all of them; docs/errata.md is made from this list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

import novikoff as nk


class Shown(NamedTuple):
    """A counterexample.

    Attributes:
        text: What was computed, with its figures.
        wrong: Whether the printed statement fails on it.
    """

    text: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Erratum:
    """One slip of the notes.

    Attributes:
        name: Name in `novikoff notes errata NAME`.
        lecture: Number of the lecture, from 0.
        where: Where it stands.
        printed: What is printed.
        correct: What is true.
        show: Computes a counterexample.
    """

    name: str
    lecture: int
    where: str
    printed: str
    correct: str
    show: Callable[[], Shown]


def _peeking() -> Shown:
    peeking, mistakes = nk.Halving(nk.classes.cube(6)), 0
    for t in range(6):
        peeking.learn_one(t, -1)  # the printed V_t has seen y_t ...
        mistakes += peeking.predict_one(t) != -1  # ... when it predicts x_t
    honest = nk.play(nk.Halving(nk.classes.cube(6)), [(t, -1) for t in range(6)]).mistakes
    return Shown(
        f"All labellings of 6 points: {mistakes} mistakes with the printed V_t, {honest} without peeking.",
        mistakes == 0 < honest,
    )


def _first_state() -> Shown:
    first = nk.ThresholdHalving(10).predict_one(5)
    return Shown(f"An untrained learner predicts round 1: {first:+d} for x = 5 of 0..10.", first == 1)


def _sign_of_start() -> Shown:
    score = float(np.dot(np.zeros(2), [3.0, 4.0]))
    return Shown(
        f"<x, w_0> = {score:g}; its sign is taken as +1: Perceptron predicts "
        f"{nk.Perceptron().predict_one([3.0, 4.0]):+d}.",
        score != 1.0,
    )


def _update_sign() -> Shown:
    learner, x = nk.Perceptron(), np.array([3.0, 4.0])
    learner.learn_one(x, -1)
    score = float(np.asarray(learner.weights) @ x)
    return Shown(
        f"A mistake on x = (3, 4) labelled -1: <w_1, x> = 0 becomes <w_2, x> = {score:g}, not more.", score < 0
    )


def _start_of_potential() -> Shown:
    start, best, first = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([5.0, 0.0])
    return Shown(
        f"With w_0 = (1, 0), w* = (0, 1), x_0 = (5, 0): <w_0, w*> = {start @ best:g}, but <w_0, x_0> = "
        f"{start @ first:g}, which is no lower bound before the first "
        f"mistake.",
        start @ best < start @ first,
    )


def _squared_count() -> Shown:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 5))
    x /= np.linalg.norm(x, axis=1)[:, None]
    x = x[np.abs(x[:, 0]) > 0.1]
    learner = nk.Perceptron()
    made = nk.play(learner, (x, np.where(x[:, 0] > 0, 1, -1))).mistakes
    norm = float(np.dot(learner.weights, learner.weights))
    text = (
        f"After {made} mistakes on rows of length 1: ||w||^2 = {norm:.1f} <= M = {made}. The "
        f"printed (M rho)^2 = {made**2} "
        "only gives M gamma <= M rho, which bounds nothing."
    )
    return Shown(text, norm <= made + 1e-9 < made**2)


def _margin_zero() -> Shown:
    return Shown(
        "w* = 0 has y <w*, x> >= 0 on every stream, also on x = 1 with both labels, which no hypothesis predicts.",
        all(y * 0.0 * 1.0 >= 0.0 for y in (-1, 1)),
    )


class PrintedThresholds:
    """The slide's efficient Halving: on +1 it sets r to r - 1/(2n) instead of x - 1/(2n)."""

    def __init__(self, n: int) -> None:
        self.n, self.left, self.right = n, Fraction(-1, 2 * n), 1 + Fraction(1, 2 * n)

    def play_one(self, i: int, y: int) -> int:
        """Predict x = i/n, then update."""
        x = Fraction(i, self.n)
        predicted = 1 if (x - self.left) - (self.right - x) >= 0 else -1
        if self.left <= x <= self.right:
            if y == 1:
                self.right -= Fraction(1, 2 * self.n)
            else:
                self.left = x + Fraction(1, 2 * self.n)
        return predicted


def _threshold_update() -> Shown:
    n, worst, ours = 10, 0, 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, n + 1, 200)
        y = np.where(x >= rng.integers(0, n + 2), 1, -1)
        slide = PrintedThresholds(n)
        worst = max(worst, sum(slide.play_one(i, s) != s for i, s in zip(x.tolist(), y.tolist(), strict=True)))
        ours = max(ours, nk.play(nk.ThresholdHalving(n), (x, y)).mistakes)
    return Shown(
        f"n = 10, 50 realizable streams: up to {worst} mistakes as printed, {ours} corrected; the bound is 3.",
        worst > 3 >= ours,
    )


def _thresholds_counted() -> Shown:
    made = nk.play(nk.ThresholdHalving(2), nk.adversaries.GridBisection(2), rounds=10).mistakes
    return Shown(
        f"n = 2: the adversary forces {made} mistakes; floor(log2(n + 1)) = 1, floor(log2(n + 2)) = 2.", made > 1
    )


def _halfspaces_counted() -> Shown:
    vectors, functions = nk.classes.halfspaces(10, 3).size, nk.classes.halfspaces(10, 3, distinct=True).size
    return Shown(f"n = 10, d = 3: {vectors:,} weight vectors, {functions:,} different functions.", functions < vectors)


def _numpy_sign() -> Shown:
    return Shown(
        f"numpy: sign(0) = {np.sign(0.0):g}, a mistake for both labels; a score of 0 has to predict +1.",
        bool(np.sign(0.0) == 0.0),
    )


def _ellipsoid_example() -> Shown:
    same, other = nk.Ellipsoid(), nk.Ellipsoid()
    same.learn_one([1.0, 0.0], 1)
    other.learn_one([1.0, 0.0], -1)
    return Shown(
        f"x = (1, 0), y = +1 is no mistake of w = 0: w stays {_vector(same)}; with y = -1 it becomes {_vector(other)}.",
        not np.any(same.weights) and bool(np.any(other.weights)),
    )


def _vector(learner: nk.Learner) -> str:
    return f"({', '.join(f'{value:.3g}' for value in np.asarray(learner.weights))})"


def _ellipsoid_exponent() -> Shown:
    d, n = 5, 100
    shrink = (d * d / (d * d - 1)) ** (d / 2) * math.sqrt((d - 1) / (d + 1))
    printed, right = math.exp(-1 / (2 * n + 2)), math.exp(-1 / (2 * d + 2))
    return Shown(
        f"d = 5, n = 100: a cut leaves {shrink:.4f} of the volume; e^(-1/(2d+2)) = {right:.4f}, "
        f"e^(-1/(2n+2)) = {printed:.4f}, which says far less.",
        shrink <= right < printed,
    )


def _ellipsoid_bound() -> Shown:
    rows = [([1.0, 0.0], -1), ([0.0, 1.0], -1), ([-1.0, 0.0], 1)]
    made = nk.play(nk.Ellipsoid(), rows).mistakes
    return Shown(
        f"On the grid with n = 1 and d = 2 it makes {made} mistakes on three rows; 2d(2d+2) ln n = 0.", made > 0
    )


def _ellipsoid_ball() -> Shown:
    n, best, x = 2, np.array([0.5, -0.5]), np.array([1.0, 0.5])
    near = best - 0.96 / n**2 * x / np.linalg.norm(x)
    distance, score = float(np.linalg.norm(near - best)), float(near @ x)
    corner = math.sqrt(2.0)
    return Shown(
        f"n = 2: w* = (0.5, -0.5), x = (1, 0.5), <w*, x> = {best @ x:g} = 1/n^2. A w at distance {distance:.2f} of w* "
        f"has <w, x> = {score:.3f}: it is not consistent. And w* = (1, 1), of length {corner:.2f}, is not in the unit "
        "ball.",
        distance < 1 / n**2 and score < 0 and corner > 1.0,
    )


def _ellipsoid_code() -> Shown:
    x, matrix, cuts = np.array([1.0, 2.0]) / math.sqrt(5.0), np.eye(2), 0
    while (square := float(x @ matrix @ x)) > 0.0 and cuts < 1000:
        image = matrix @ x
        matrix = 4 / 3 * (matrix - 2 / 3 * np.outer(image, image) / square)
        cuts += 1
    text = f"d = 2, cuts along one x: after {cuts} cuts x'Ax = {square:.1g}, whose root the next step takes."
    return Shown(f"{text} At d = 1, eta divides by zero.", square <= 0.0)


def _doubles() -> Shown:
    doubles = nk.play(nk.Constant(1), nk.adversaries.Bisection(exact=False), rounds=1200).mistakes
    exact = nk.play(nk.Constant(1), nk.adversaries.Bisection(), rounds=1200).mistakes
    return Shown(
        f"1,200 rounds against a constant: {doubles} mistakes with doubles, {exact:,} with exact rationals.",
        doubles < exact == 1200,
    )


def _rbp_theorem() -> Shown:
    budget, length = 1, 0.05
    eps = math.sqrt(budget) / length - 1
    hinge = 1 - length
    log = 2 * (1 + eps) * length**2 * math.log(length + length / eps)
    printed = (1 + 2 / eps) * (hinge + (1 + eps) ** 2 * length**3 + log)
    made = nk.play(nk.RandomizedBudgetPerceptron(1, kernel="linear"), [([1.0], -1)]).mistakes
    return Shown(
        f"B = 1, one example (e1, -1), u = -0.05 e1: {made} mistake, the printed bound is {printed:.4f}. Its "
        "logarithm is negative for small ||u||.",
        made > printed,
    )


def _dependent() -> Shown:
    budget, games, lengths = 4, 400, []
    for seed in range(games):
        rng = np.random.default_rng(seed)
        supports = list(rng.normal(size=(budget, 3)))
        row = []
        for _ in range(2):  # two evicting mistakes in a row
            supports[rng.integers(budget)] = rng.normal(size=3)
            row.append(float(np.linalg.norm(np.sum(supports, axis=0))))
        lengths.append(row)
    correlation = float(np.corrcoef(np.transpose(lengths))[0, 1])
    return Shown(
        f"B = 4, {games} games: the lengths of w_k and w_{{k+1}} have correlation {correlation:.2f} "
        f"(a *not* is "
        "missing).",
        correlation > 0.3,
    )


def _lost_factor() -> Shown:
    budget, length, mistakes, eps = 100, 5.0, 1000, 0.5
    printed = length * (1 + eps) * math.sqrt(budget) * mistakes
    right = length * (1 + eps) * mistakes / math.sqrt(budget)
    return Shown(
        f"B = 100, ||u|| = 5, E M = 1,000: the printed step says E M <= {printed:,.0f} + ..., which bounds "
        f"nothing; with the lost 1/B it is {right:,.0f}.",
        printed > mistakes > right,
    )


def _log_of_zero() -> Shown:
    rows = [([1.0], 1)] * 10
    made = nk.play(nk.Perceptron(), rows).mistakes
    return Shown(
        f"Ten equal examples: M = {made}, and ln M does not exist; the bounds here use ln(1/delta) and counts "
        "of at least 1.",
        made == 0,
    )


def _margin_is_minimum() -> Shown:
    w, x = np.array([1.0, 0.0]), np.array([[1.0, 0.0], [5.0, 2.0]])
    distances = x @ w / np.linalg.norm(w)
    return Shown(
        f"Two examples at distances {distances[0]:g} and {distances[1]:g}: gamma_w = "
        f"{distances.min():g} is the "
        "distance of the nearest only.",
        distances.max() > distances.min(),
    )


def _mistake_index() -> Shown:
    learner, rows = nk.Perceptron(), [([1.0, 0.0], -1), ([0.0, 2.0], -1)]
    nk.play(learner, rows)
    made = np.asarray(learner.weights)
    printed = np.array([-1.0, 0.0]) + np.array([-1.0, 0.0])  # w_1 + y~_1 x~_1
    return Shown(
        f"Mistakes on (1, 0) and (0, 2), both labelled -1: w_2 = ({made[0]:g}, {made[1]:g}) = w_1 + y~_2 x~_2; the "
        f"printed w_1 + y~_1 x~_1 is ({printed[0]:g}, {printed[1]:g}).",
        not np.array_equal(made, printed),
    )


def _strict() -> Shown:
    learner = nk.Perceptron()
    learner.learn_one([3.0, 4.0], -1)
    norm = float(np.dot(learner.weights, learner.weights))
    return Shown(
        f"First mistake on x = (3, 4): ||w_1||^2 = {norm:g} = ||w_0||^2 + R^2, so < is false and <= is true.",
        norm == 25.0,
    )


def _cauchy() -> Shown:
    learner = nk.Perceptron()
    nk.play(learner, [([1.0, 1.0], -1), ([1.0, -1.0], 1)])
    w, best = np.asarray(learner.weights), np.array([0.0, -1.0])
    inner, lengths = float(w @ best), float(np.linalg.norm(w) * np.linalg.norm(best))
    return Shown(
        f"<w*, w_m> = {inner:g}, ||w*|| ||w_m|| = {lengths:.4g}: Cauchy-Schwarz gives <=, not =.", inner < lengths
    )


def _cover_built() -> Shown:
    promised, size = math.floor(2 * math.log2(math.ceil(8 / 0.1) + 1)), nk.classes.sphere_cover(2, 0.05).size
    return Shown(
        f"d = 2, gamma = 0.1, R = 1: the corollary allows {promised} mistakes; the cover that is "
        f"built has {size} "
        f"directions and allows {size.bit_length() - 1}.",
        size.bit_length() - 1 < promised,
    )


def _rate_without_root() -> Shown:
    experts, rounds = 2, 1000
    claimed = math.sqrt(rounds * math.log(experts))
    regrets = {}
    for name, eta in (
        ("printed", 8 * math.log(experts) / rounds),
        ("right", math.sqrt(8 * math.log(experts) / rounds)),
    ):
        learner = nk.ExponentialWeights(experts, eta=eta, loss="table")
        losses = np.zeros((rounds, experts))
        losses[:, 1] = 1.0  # the first expert never loses
        ledger = nk.play(learner, nk.Losses(losses))
        regrets[name] = ledger.expected
    return Shown(
        f"T = 1,000, two experts, one of them perfect: regret {regrets['printed']:.1f} with eta = 8 ln|H|/T, "
        f"{regrets['right']:.1f} with its root; the theorem claims {claimed:.1f}.",
        regrets["printed"] > claimed > regrets["right"],
    )


def _survivors() -> Shown:
    rows = [(1, -1, -1), (-1, -1, 1), (-1, -1, -1), (-1, 1, -1)]
    kept = {lazy: nk.Halving(nk.classes.table(rows), conservative=lazy) for lazy in (False, True)}
    for learner in kept.values():
        nk.play(learner, [(0, -1), (1, -1), (2, -1)])
    return Shown(
        f"Four hypotheses, three rounds: filtered on mistakes only {kept[True].size} are left, of "
        f"which three have "
        f"erred; filtered always, "
        f"{kept[False].size}.",
        kept[False].size == 1 < (kept[True].size or 0),
    )


def _last_mistake() -> Shown:
    delay = 100_000
    x = np.append(np.zeros(delay, dtype=np.int64), 1)
    y = np.full(delay + 1, -1, dtype=np.int64)
    ledger = nk.play(nk.ThresholdHalving(1), (x, y), record=True)
    return Shown(
        f"Its last mistake comes in round {delay + 1:,}: finitely many mistakes, but arbitrarily late.",
        bool(ledger.recorded()[-1] != y[-1]),
    )


ERRATA: tuple[Erratum, ...] = (
    Erratum(
        "peeking",
        0,
        "definition 2, version space",
        "V_t: hypotheses that are right in all rounds up to and including t",
        "V_1 = H, and V_t uses the rounds before t; otherwise predicting x_t peeks at y_t",
        _peeking,
    ),
    Erratum(
        "first-state",
        0,
        "prediction game",
        "h_0 is chosen, h_1 predicts round 1",
        "the initial state predicts round 1",
        _first_state,
    ),
    Erratum(
        "sign-of-start",
        0,
        "Perceptron, initialisation",
        "x . w_0 = 1",
        "sign(x . w_0) = 1; the score is 0",
        _sign_of_start,
    ),
    Erratum(
        "margin-zero",
        0,
        "assumption 4",
        "gamma = 0 is equivalent to realizability",
        "w* = 0 has gamma = 0 on any data",
        _margin_zero,
    ),
    Erratum(
        "update-sign",
        0,
        "Perceptron, effect of an update",
        "w_{t+1} . x_t = (w_t + x_t) . x_t >= w_t . x_t after a mistake",
        "y_t w_{t+1} . x_t = y_t w_t . x_t + ||x_t||^2; as printed only for y_t = +1",
        _update_sign,
    ),
    Erratum(
        "start-of-potential",
        0,
        "proof of theorem 2",
        "w_{T+1} . w* >= w_0 . x_0 + M gamma",
        "w_0 . w* + M gamma",
        _start_of_potential,
    ),
    Erratum(
        "squared-count",
        0,
        "proof of theorem 2",
        "||w_{T+1}||^2 <= ||0 + M rho||^2",
        "||w_{T+1}||^2 <= M rho^2, because y <w, x> <= 0 on a mistake",
        _squared_count,
    ),
    Erratum(
        "threshold-update",
        1,
        "efficient Halving",
        "on +1: r <- r - 0.5/n",
        "r <- x - 0.5/n",
        _threshold_update,
    ),
    Erratum(
        "thresholds-counted",
        1,
        "efficient Halving",
        "bound log(n + 1)",
        "the first interval holds n + 2 thresholds: floor(log2(n + 2))",
        _thresholds_counted,
    ),
    Erratum(
        "halfspaces-counted",
        1,
        "halfspaces on a grid",
        "|H| = (2n + 1)^d",
        "that counts weight vectors; there are fewer functions",
        _halfspaces_counted,
    ),
    Erratum(
        "numpy-sign",
        1,
        "Ellipsoid, code",
        "numpy's sign, with sign(0) = 0",
        "a score of 0 predicts +1",
        _numpy_sign,
    ),
    Erratum(
        "ellipsoid-example",
        1,
        "Ellipsoid, intuition",
        "x_1 = (1, 0), y_1 = +1 moves w",
        "sign(0) = +1 is no mistake; y_1 = -1 moves w",
        _ellipsoid_example,
    ),
    Erratum(
        "ellipsoid-exponent",
        1,
        "Ellipsoid, volume",
        "the volume shrinks by e^(-1/(2n+2))",
        "by e^(-1/(2d+2))",
        _ellipsoid_exponent,
    ),
    Erratum(
        "ellipsoid-bound",
        1,
        "Ellipsoid, theorem",
        "M <= 2d(2d + 2) log n on a grid",
        "2d(d + 1) ln(1 + 1/g) with margin g >= 1/(d n^2) on a grid; ties need the constant feature",
        _ellipsoid_bound,
    ),
    Erratum(
        "ellipsoid-ball",
        1,
        "Ellipsoid, why volume can't be too small",
        "all w within 1/n^2 of w* are consistent, and in the first ellipsoid",
        "needs ||x|| <= 1 and ||w*|| + 1/n^2 <= 1; on the grid both may be sqrt(d)",
        _ellipsoid_ball,
    ),
    Erratum(
        "ellipsoid-code",
        1,
        "Ellipsoid, code",
        "A <- eta (A - ...), eta = d^2/(d^2 - 1)",
        "a factor J with A = JJ'",
        _ellipsoid_code,
    ),
    Erratum(
        "doubles",
        1,
        "impossibility",
        "bisection on the reals, in floating point",
        "exact rationals: doubles run out",
        _doubles,
    ),
    Erratum(
        "rbp-theorem",
        2,
        "RBP, theorem",
        "(1 + 2/eps)(D + (1+eps)^2 ||u||^3 + 2 (1+eps) ||u||^2 ln(||u|| + ||u||/eps))",
        "false for small ||u||; E M <= (1 + 1/eps) D + (1+eps)^2 ||u||^2 / (4 eps) holds",
        _rbp_theorem,
    ),
    Erratum(
        "dependent",
        2,
        "RBP, proof",
        "but the w_k are independent",
        "the w_k are not independent",
        _dependent,
    ),
    Erratum(
        "lost-factor",
        2,
        "RBP, last step",
        "E M <= D + ||u|| B + ||u|| E sum ||w_k||",
        "the factor 1/B is lost: (||u||/B) E sum ||w_k||",
        _lost_factor,
    ),
    Erratum(
        "log-of-zero",
        2,
        "random ensemble",
        "M/n + c/n (sqrt(M ln M) + ln M)",
        "ln M does not exist at M = 0",
        _log_of_zero,
    ),
    Erratum(
        "margin-is-minimum",
        3,
        "margin",
        "gamma_w is the distance of x_t to the hyperplane",
        "it is the smallest of these distances",
        _margin_is_minimum,
    ),
    Erratum(
        "mistake-index",
        3,
        "Perceptron, first claim",
        "w_{m+1} = w_m + y~_m x~_m, with mistakes counted from 1",
        "w_{m+1} = w_m + y~_{m+1} x~_{m+1}, because w_0 is before the first mistake",
        _mistake_index,
    ),
    Erratum(
        "strict",
        3,
        "Perceptron, first claim",
        "||w_{m+1}||^2 < ||w_m||^2 + R^2",
        "<=: the first mistake has equality",
        _strict,
    ),
    Erratum(
        "cauchy",
        3,
        "Perceptron, last line",
        "<w*, w_m> = ||w*|| ||w_m||",
        "<=",
        _cauchy,
    ),
    Erratum(
        "cover-built",
        3,
        "corollary 1",
        "d log2(ceil(8R/gamma) + 1), from the existence of a cover",
        "the certificate uses the size of the cover that is built",
        _cover_built,
    ),
    Erratum(
        "rate-without-root",
        4,
        "exponential weighting",
        "eta = 8 ln|H| / T",
        "eta = sqrt(8 ln|H| / T), with regret at most sqrt(T ln|H| / 2)",
        _rate_without_root,
    ),
    Erratum(
        "survivors",
        4,
        "Halving",
        "H_t is the set of correct experts",
        "not if it is filtered on mistakes only",
        _survivors,
    ),
    Erratum(
        "last-mistake",
        4,
        "Halving",
        "after finitely many rounds the predictor never errs",
        "finitely many mistakes; the last may be arbitrarily late",
        _last_mistake,
    ),
)


def page() -> str:
    """Return the errata as a page of the documentation."""
    rows = ["| name | lecture | where | printed | correct |", "|---|---|---|---|---|"]
    for one in ERRATA:
        cells = (f"`{one.name}`", str(one.lecture), one.where, one.printed, one.correct)
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |")
    lead = (
        "novikoff started from five sets of lecture notes. These statements in them are wrong or loose. "
        "`novikoff notes errata` computes a counterexample to each; `novikoff notes errata NAME` shows one."
    )
    return f"# Errata of the lecture notes\n\n{lead}\n\n" + "\n".join(rows) + "\n"
