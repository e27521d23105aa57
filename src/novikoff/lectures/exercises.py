"""Checkers of the exercises: a solution is certified, or refuted with a counterexample.

A solution is a Python file that defines one name; `novikoff notes check FILE.py` finds the exercise by that name.
"""

from __future__ import annotations

import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import novikoff as nk
from novikoff.core.errors import InputError

ROUNDS = 60
"""Rounds of a duel: more than doubles can bisect."""
FEW = 8
"""Rounds of the duels against every sequence of predictions."""
MOST_BYTES = 100_000
"""Memory that a learner may allocate in a few rounds on a grid of a million points."""


class Verdict(NamedTuple):
    """Result of a check.

    Attributes:
        solved: Whether the solution passed.
        text: What was checked, or the counterexample.
    """

    solved: bool
    text: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise.

    Attributes:
        name: Name of the exercise.
        lecture: Number of the lecture.
        task: What to show or to build.
        defines: Name that a solution defines.
        interface: What that name has to be.
        check: Function from the defined object to a verdict.
    """

    name: str
    lecture: int
    task: str
    defines: str
    interface: str
    check: Callable[[Any], Verdict]


def check(path: str) -> tuple[Exercise, Verdict]:
    """Run a solution and check it; raise InputError if the file defines no known name."""
    file = Path(path)
    try:
        source = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"a solution must be a Python file: {path}: {error.strerror or error}.") from None
    defined: dict[str, Any] = {"__name__": "solution", "__file__": str(file)}
    try:
        exec(compile(source, str(file), "exec"), defined)
    except (Exception, SystemExit) as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}.") from None
    for one in EXERCISES:
        if one.defines in defined:
            try:
                return one, one.check(defined[one.defines])
            except (Exception, SystemExit) as error:
                return one, Verdict(False, f"It raised {type(error).__name__}: {error}")
    names = ", ".join(f"{one.defines} ({one.name})" for one in EXERCISES)
    raise InputError(f"{path} solves no exercise: define one of {names}.")


def _rectangles(adversary: Callable[[], Any]) -> Verdict:
    """Play learners against the adversary: each prediction must be wrong, and the labels those of some rectangle."""
    learners: list[tuple[str, Any]] = [
        ("always +1", nk.Constant(1)),
        ("always -1", nk.Constant(-1)),
        ("the tightest box", nk.TightestBox(2)),
        ("alternating labels", _Scripted([1, -1] * ROUNDS)),
        ("the nearest neighbour", _Nearest()),
    ]
    named, rng = len(learners), np.random.default_rng(0)
    learners += [("random predictions", _Scripted(rng.choice([-1, 1], ROUNDS).tolist())) for _ in range(20)]
    for name, learner in learners:
        if (found := _refuted(adversary(), name, learner, ROUNDS)) is not None:
            return found
    for predictions in product((1, -1), repeat=FEW):
        if (found := _refuted(adversary(), f"the predictions {predictions}", _Scripted(predictions), FEW)) is not None:
            return found
    return Verdict(
        True,
        f"{ROUNDS} of {ROUNDS} predictions were wrong for each of {named} learners and 20 random ones, {FEW} of {FEW} "
        f"for all {2**FEW} sequences of predictions, and some rectangle has all the labels (exact rationals).",
    )


def _refuted(opponent: Any, name: str, learner: Any, rounds: int) -> Verdict | None:
    """Play one duel; return the first round that refutes the adversary, None if there is none."""
    points: list[tuple[tuple[Fraction, ...], int]] = []
    for t in range(1, rounds + 1):
        point = tuple(Fraction(value) for value in opponent.next_point())
        if len(point) != 2:
            return Verdict(False, f"next_point() must return two numbers: got {point} in round {t}.")
        predicted = int(learner.predict_one(point))
        label = opponent.label(predicted)
        if type(label) not in (int, np.int64) or label != -predicted:
            return Verdict(
                False, f"Against {name}, round {t}: {label!r} is not the opposite of the prediction {predicted:+d}."
            )
        learner.learn_one(point, label)
        points.append((point, label))
        if (inside := _unrealizable(points)) is not None:
            return Verdict(
                False,
                f"Against {name}, round {t}: no rectangle has these labels. The negative point "
                f"({inside[0]}, {inside[1]}) is in every box around the positive ones.",
            )
    return None


class _Scripted:
    """Learner whose predictions are given, so that an adversary cannot rely on a rule."""

    def __init__(self, predictions: Sequence[int]) -> None:
        self.predictions, self.round = predictions, 0

    def predict_one(self, point: object) -> int:
        return self.predictions[self.round]

    def learn_one(self, point: object, label: int) -> None:
        self.round += 1


class _Nearest:
    """Learner that predicts the label of the nearest point."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[Fraction, ...], int]] = []

    def predict_one(self, point: tuple[Fraction, ...]) -> int:
        distances = [(sum(abs(a - b) for a, b in zip(point, old, strict=True)), label) for old, label in self.seen]
        return min(distances)[1] if distances else 1

    def learn_one(self, point: tuple[Fraction, ...], label: int) -> None:
        self.seen.append((point, label))


def _unrealizable(points: list[tuple[tuple[Fraction, ...], int]]) -> tuple[Fraction, ...] | None:
    """Return a negative point in the bounding box of the positive ones; None if a rectangle has all labels."""
    positive = [point for point, label in points if label == 1]
    if not positive:
        return None
    low = [min(values) for values in zip(*positive, strict=True)]
    high = [max(values) for values in zip(*positive, strict=True)]
    for point, label in points:
        if label == -1 and all(a <= value <= b for a, value, b in zip(low, point, high, strict=True)):
            return point
    return None


def _thresholds(make: Callable[[int], Any]) -> Verdict:
    """Compare with Halving over listed thresholds, then count the lines run per round on large grids."""
    for n in (1, 2, 3, 7, 10):
        for seed in range(20):
            rng = np.random.default_rng([n, seed])
            target = int(rng.integers(0, n + 2))
            halving, solution = nk.Halving(nk.classes.thresholds(n)), make(n)
            for t, x in enumerate(rng.integers(0, n + 1, 40).tolist(), 1):
                label = 1 if x >= target else -1
                ours, given = halving.predict_one(x), solution.predict_one(x)
                if given != ours:
                    return Verdict(
                        False,
                        f"n = {n}, target x >= {target}, round {t}, x = {x}: it predicts {given!r}, "
                        f"Halving predicts {ours:+d}.",
                    )
                halving.learn_one(x, label)
                solution.learn_one(x, label)
    for n in (100, 10**4):
        if (found := _differs(make, n)) is not None:
            return found
    lines = {n: _lines_per_round(make, n) for n in (10**3, 10**5)}
    short = _cpu_seconds(make, 10**3, math.inf)
    if (long := _cpu_seconds(make, 10**7, limit := 0.1 + 50 * short)) > limit:
        return Verdict(False, f"50 rounds take {short:.2g} s at n = 10^3, but more than {long:.2g} s at n = 10^7.")
    if (held := _bytes_held(make, 10**6)) > MOST_BYTES:
        return Verdict(False, f"It allocates {held:,} bytes at n = 10^6: work of that size is not O(log n).")
    lines |= {n: _lines_per_round(make, n) for n in (10**6, 10**9)}
    for n in (10**6, 10**9):
        if (found := _differs(make, n)) is not None:
            return found
    if lines[10**9] > 4 * math.log2(10**9) * max(lines[10**3] / math.log2(10**3), 1.0):
        return Verdict(
            False, f"Lines run per round grow too fast: {lines[10**3]:.0f} at n = 10^3, {lines[10**9]:.0f} at n = 10^9."
        )
    return Verdict(
        True,
        f"The predictions are Halving's on 104 streams; lines run per round: {lines[10**3]:.0f} at "
        f"n = 10^3, {lines[10**6]:.0f} at 10^6, {lines[10**9]:.0f} at 10^9.",
    )


def _differs(make: Callable[[int], Any], n: int) -> Verdict | None:
    """Return the first prediction that is not that of Halving on a large grid, with rows near the version space."""
    rng = np.random.default_rng(n)
    low, high, target = 0, n + 1, int(rng.integers(0, n + 2))  # thresholds from low to high are consistent
    solution = make(n)
    for t in range(1, 101):
        near = int(rng.integers(low - 2, high + 3)), (low + high) // 2, int(rng.integers(0, n + 1))
        x = min(max(near[int(rng.integers(3))], 0), n)
        votes = min(max(x - low + 1, 0), high - low + 1)
        halving, given = (1 if 2 * votes >= high - low + 1 else -1), solution.predict_one(x)
        if given != halving:
            text = f"n = {n:,}, thresholds {low:,} to {high:,} left, round {t}, x = {x:,}"
            return Verdict(False, f"{text}: it predicts {given!r}, Halving predicts {halving:+d}.")
        label = 1 if x >= target else -1
        low, high = (low, min(high, x)) if label == 1 else (max(low, x + 1), high)
        solution.learn_one(x, label)
    return None


def _bytes_held(make: Callable[[int], Any], n: int) -> int:
    """Return the most bytes that a solution allocates in five rounds."""
    tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        solution = make(n)
        for x in (n // 2, n // 4, n // 3, 0, n):
            solution.predict_one(x)
            solution.learn_one(x, 1 if x >= n // 3 else -1)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()


def _cpu_seconds(make: Callable[[int], Any], n: int, limit: float) -> float:
    """Return the processor time of 50 rounds; stop above the limit."""
    began, solution, rng = time.process_time(), make(n), np.random.default_rng(n)
    for x in rng.integers(0, n + 1, 50).tolist():
        solution.predict_one(x)
        solution.learn_one(x, 1 if x >= n // 3 else -1)
        if time.process_time() - began > limit:
            break
    return time.process_time() - began


def _lines_per_round(make: Callable[[int], Any], n: int, most: int = 200_000) -> float:
    """Return the mean number of lines that a solution runs per round; raise if it runs too many."""
    count, rng = 0, np.random.default_rng(n)
    target = int(rng.integers(0, n + 1))

    def trace(frame: FrameType, event: str, value: object) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count > most:
                raise TimeoutError(f"more than {most:,} lines in 50 rounds at n = {n:,}: this is not O(log n)")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        solution = make(n)
        for x in rng.integers(0, n + 1, 50).tolist():
            solution.predict_one(x)
            solution.learn_one(x, 1 if x >= target else -1)
    finally:
        sys.settrace(before)
    return count / 50


def _ellipsoid(inside: Callable[[Any, Any, Any], bool]) -> Verdict:
    """Compare `inside(M, v, x)` with the definition {Mw + v : ||w|| <= 1} on random M, v, x."""
    rng, tested = np.random.default_rng(0), 0
    while tested < 2000:
        d = int(rng.integers(1, 6))
        root = rng.normal(size=(d, d))
        m, v = root @ root.T + 0.1 * np.eye(d), rng.normal(size=d)
        w = rng.normal(size=d)
        w *= rng.uniform(0.0, 2.0) / np.linalg.norm(w)
        length = float(np.linalg.norm(w))
        if abs(length - 1.0) < 1e-3:
            continue  # too close to the boundary for floats
        tested += 1
        given = bool(inside(m.copy(), v.copy(), m @ w + v))
        if given != (length <= 1.0):
            return Verdict(
                False,
                f"d = {d}, ||w|| = {length:.4f}: x = Mw + v is {'in' if length <= 1 else 'outside'} E(M, v), "
                f"but the answer is {given}. M = {np.round(m, 3).tolist()}.",
            )
    return Verdict(True, f"{tested:,} random points in 1 to 5 dimensions: it agrees with the definition on each.")


def _cover(build: Callable[[int, float], Any]) -> Verdict:
    """Check lengths, size and covering radius: exactly in the plane, by search in three dimensions."""
    sizes = []
    for d, epsilon in ((2, 0.5), (2, 0.37), (2, 0.05), (3, 0.7), (3, 0.5), (3, 0.3)):
        found = np.asarray(build(d, epsilon), dtype=float)
        if found.ndim != 2 or found.shape[1] != d or not len(found):
            return Verdict(False, f"cover({d}, {epsilon}) must have shape (points, {d}): got {found.shape}.")
        off = np.abs(np.linalg.norm(found, axis=1) - 1.0)
        if not off.max() <= 1e-9:
            return Verdict(
                False, f"cover({d}, {epsilon}): point {found[off.argmax()].tolist()} is not on the unit sphere."
            )
        limit = (4 / epsilon + 1) ** d
        if len(found) > limit:
            return Verdict(False, f"cover({d}, {epsilon}) has {len(found):,} points; (4/epsilon + 1)^d = {limit:,.0f}.")
        far, distance = _farthest(found, d)
        if not distance <= epsilon * (1 + 1e-9):
            return Verdict(
                False,
                f"cover({d}, {epsilon}): the direction {np.round(far, 4).tolist()} has distance "
                f"{distance:.4f} from every point.",
            )
        sizes.append(f"{len(found):,} points for d = {d}, epsilon = {epsilon} (largest distance found: {distance:.4f})")
    return Verdict(True, "; ".join(sizes) + ". In the plane this is a proof, in three dimensions a search.")


def _farthest(points: np.ndarray[Any, np.dtype[np.float64]], d: int) -> tuple[Any, float]:
    """Return the direction farthest from all points, and its distance."""
    if d == 2:
        angles = np.sort(np.arctan2(points[:, 1], points[:, 0]))
        gaps = np.diff([*angles, angles[0] + 2 * math.pi])
        k = int(gaps.argmax())
        middle = angles[k] + gaps[k] / 2
        return np.array([math.cos(middle), math.sin(middle)]), 2 * math.sin(min(gaps[k] / 4, math.pi / 2))
    rng, far, widest = np.random.default_rng(0), points[0], -1.0
    for _ in range(10):
        tried = rng.normal(size=(1000, d))
        tried /= np.linalg.norm(tried, axis=1)[:, None]
        products = tried @ points.T
        nearest, cosines = products.argmax(axis=1), products.max(axis=1)
        for _ in range(30):  # climb away from the nearest point, with random steps
            moved = tried - rng.uniform(0.0, 0.1, size=(len(tried), 1)) * points[nearest]
            moved /= np.linalg.norm(moved, axis=1)[:, None]
            products = moved @ points.T
            better = products.max(axis=1) < cosines
            tried[better], nearest[better] = moved[better], products[better].argmax(axis=1)
            cosines[better] = products[better].max(axis=1)
        worst = tried[int(np.argmin(cosines))]
        distance = float(np.linalg.norm(points - worst, axis=1).min())
        if distance > widest:
            far, widest = worst, distance
    return far, widest


def _symmetric(make: Callable[[Any], Any]) -> Verdict:
    """Check S = symmetric(M): symmetric, positive definite, and SS' = MM', so that E(S, v) = E(M, v) for every v."""
    rng = np.random.default_rng(0)
    for k in range(200):
        d = 1 + k % 5
        m = rng.normal(size=(d, d)) * (-1.0 if k % 2 else 1.0)
        if np.linalg.cond(m) > 1e4:
            continue
        found, shown = np.asarray(make(m.copy()), dtype=float), f"M = {np.round(m, 3).tolist()}"
        if found.shape != (d, d) or not np.all(np.isfinite(found)):
            return Verdict(
                False, f"symmetric(M) must be a finite matrix of shape {(d, d)}: got {found.shape}. {shown}."
            )
        size = float(np.linalg.norm(m)) ** 2
        if not np.allclose(found, found.T, rtol=0.0, atol=1e-9 * math.sqrt(size)):
            return Verdict(False, f"It is not symmetric: {np.round(found, 3).tolist()}. {shown}.")
        if not np.linalg.eigvalsh((found + found.T) / 2)[0] > 0.0:
            return Verdict(False, f"It is not positive definite: {np.round(found, 3).tolist()}. {shown}.")
        off = np.abs(found @ found.T - m @ m.T)
        if not np.max(off) <= 1e-8 * size:
            side = np.linalg.svd(m.T @ np.linalg.inv(found @ found.T) @ m)
            w = side[2][0] if side[1][0] > 1.0 else side[2][-1]
            length = float(np.linalg.norm(np.linalg.solve(found, m @ w)))
            return Verdict(
                False,
                f"x = Mw with ||w|| = 1 is on the boundary of E(M, 0), but x = Sw' only for ||w'|| = {length:.4f}: "
                f"the ellipsoids differ. w = {np.round(w, 3).tolist()}, {shown}.",
            )
    return Verdict(True, "S is symmetric and positive definite, and SS' = MM' on random matrices in 1 to 5 dimensions.")


def _hypotheses(functions: Sequence[Callable[[int], int]]) -> Verdict:
    """Check that on every sequence of labels, one per day, some function errs on at most half of the days."""
    table = np.array([[function(day) for day in range(1, ROUNDS + 1)] for function in functions])
    if table.ndim != 2 or not len(table) or not np.all((table == 1) | (table == -1)):
        return Verdict(False, "hypotheses must be a non-empty list of functions from a day 1, 2, .. to -1 or +1.")
    rng, days = np.random.default_rng(0), 12
    tries = [np.array(labels) for labels in product((-1, 1), repeat=days)]
    tries += [rng.choice([-1, 1], ROUNDS) for _ in range(500)] + [-table[k] for k in range(min(len(table), 100))]
    tries += [np.where(table[:, :length].sum(axis=0) > 0, -1, 1) for length in range(1, ROUNDS + 1)]
    for labels in tries:
        wrong = (table[:, : len(labels)] != labels).sum(axis=1)
        if 2 * int(wrong.min()) > len(labels):
            given = "".join("+" if label == 1 else "-" for label in labels)
            return Verdict(
                False,
                f"A learner that errs on the {len(labels)} labels {given} has regret "
                f"{len(labels) - int(wrong.min())} < T/2 only: the best of {len(table)} functions errs "
                f"{int(wrong.min())} times.",
            )
    proof = "it has a function and its opposite, whose errors add up to T" if _has_opposites(table) else "none failed"
    return Verdict(
        True,
        f"The best function errs on at most half of the days for all {2**days:,} sequences of {days} labels, and "
        f"{len(tries) - 2**days} longer ones ({proof}): a deterministic learner that errs every day has regret T/2.",
    )


def _has_opposites(table: np.ndarray[Any, np.dtype[np.int64]]) -> bool:
    """Return whether some row and its negative are in the table."""
    rows = {row.tobytes() for row in table}
    return any((-row).tobytes() in rows for row in table)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "rectangles",
        1,
        "Show that axis-aligned rectangles over the reals cannot be learned, by an adversary that makes every "
        "prediction wrong.",
        "Adversary",
        "a class with next_point() -> two numbers or fractions, and label(prediction) -> -1 or +1",
        _rectangles,
    ),
    Exercise(
        "thresholds",
        1,
        "Implement Halving for thresholds on the grid 0..n in O(log n) per round; an even vote predicts +1.",
        "ThresholdLearner",
        "a class made by ThresholdLearner(n), with predict_one(x) and learn_one(x, y)",
        _thresholds,
    ),
    Exercise(
        "ellipsoid",
        1,
        "Decide whether x is in E(M, v) = {Mw + v : ||w|| <= 1} for symmetric positive definite M, without finding w.",
        "inside",
        "a function inside(M, v, x) -> bool",
        _ellipsoid,
    ),
    Exercise(
        "symmetric",
        1,
        "Show that E(M, v) = E(UDU', v) for invertible M = UDV': build that symmetric positive definite matrix.",
        "symmetric",
        "a function symmetric(M) -> array (d, d)",
        _symmetric,
    ),
    Exercise(
        "cover",
        3,
        "Build an epsilon-cover of the unit sphere in R^d with at most (4/epsilon + 1)^d points.",
        "cover",
        "a function cover(d, epsilon) -> array (points, d)",
        _cover,
    ),
    Exercise(
        "negative-result",
        4,
        "Give a hypothesis class against which every deterministic learner can be made to have regret T/2 or more: on "
        "every sequence of labels its best function errs at most T/2 times.",
        "hypotheses",
        "a list of functions from a day 1, 2, .. to -1 or +1",
        _hypotheses,
    ),
)
