"""Checkers of the exercises: a solution is certified, or refuted with a counterexample.

A solution is a Python file that defines one name; `novikoff notes check FILE.py` finds the exercise by that name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import novikoff as nk
from novikoff.core.errors import InputError

ROUNDS = 60
"""Rounds of a duel: more than doubles can bisect."""


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
    except Exception as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}.") from None
    for one in EXERCISES:
        if one.defines in defined:
            try:
                return one, one.check(defined[one.defines])
            except Exception as error:
                return one, Verdict(False, f"It raised {type(error).__name__}: {error}")
    names = ", ".join(f"{one.defines} ({one.name})" for one in EXERCISES)
    raise InputError(f"{path} solves no exercise: define one of {names}.")


def _rectangles(adversary: Callable[[], Any]) -> Verdict:
    """Play learners against the adversary: each prediction must be wrong, and the labels those of some rectangle."""
    learners: Mapping[str, Callable[[], Any]] = {
        "always +1": lambda: nk.Constant(1),
        "always -1": lambda: nk.Constant(-1),
        "the tightest box": lambda: nk.TightestBox(2),
        "alternating labels": _Alternating,
        "the nearest neighbour": _Nearest,
    }
    for name, make in learners.items():
        learner, opponent = make(), adversary()
        points: list[tuple[tuple[Fraction, ...], int]] = []
        for t in range(1, ROUNDS + 1):
            point = tuple(Fraction(value) for value in opponent.next_point())
            if len(point) != 2:
                return Verdict(False, f"next_point() must return two numbers: got {point} in round {t}.")
            predicted = learner.predict_one(point)
            label = opponent.label(predicted)
            if label not in (-1, 1) or label == predicted:
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
    return Verdict(
        True,
        f"{ROUNDS} of {ROUNDS} predictions were wrong for each of {len(learners)} learners, and some "
        "rectangle has all the labels (exact rationals).",
    )


class _Alternating:
    """Learner that predicts +1 and -1 in turn."""

    def __init__(self) -> None:
        self.turn = 1

    def predict_one(self, point: object) -> int:
        return self.turn

    def learn_one(self, point: object, label: int) -> None:
        self.turn = -self.turn


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
    lines = {n: _lines_per_round(make, n) for n in (10**3, 10**6, 10**9)}
    if lines[10**9] > 4 * math.log2(10**9) * max(lines[10**3] / math.log2(10**3), 1.0):
        return Verdict(
            False, f"Lines run per round grow too fast: {lines[10**3]:.0f} at n = 10^3, {lines[10**9]:.0f} at n = 10^9."
        )
    return Verdict(
        True,
        f"The predictions are Halving's on 100 streams; lines run per round: {lines[10**3]:.0f} at "
        f"n = 10^3, {lines[10**6]:.0f} at 10^6, {lines[10**9]:.0f} at 10^9.",
    )


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
    for d, epsilon in ((2, 0.5), (2, 0.05), (3, 0.5), (3, 0.3)):
        found = np.asarray(build(d, epsilon), dtype=float)
        if found.ndim != 2 or found.shape[1] != d or not len(found):
            return Verdict(False, f"cover({d}, {epsilon}) must have shape (points, {d}): got {found.shape}.")
        off = np.abs(np.linalg.norm(found, axis=1) - 1.0)
        if off.max() > 1e-9:
            return Verdict(
                False, f"cover({d}, {epsilon}): point {found[off.argmax()].tolist()} is not on the unit sphere."
            )
        limit = (4 / epsilon + 1) ** d
        if len(found) > limit:
            return Verdict(False, f"cover({d}, {epsilon}) has {len(found):,} points; (4/epsilon + 1)^d = {limit:,.0f}.")
        far, distance = _farthest(found, d)
        if distance > epsilon * (1 + 1e-9):
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
    rng = np.random.default_rng(0)
    tried = rng.normal(size=(20_000, d))
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    for _ in range(30):  # climb away from the nearest point, with shrinking steps
        nearest = points[np.argmax(tried @ points.T, axis=1)]
        moved = tried - rng.uniform(0.0, 0.1, size=(len(tried), 1)) * nearest
        moved /= np.linalg.norm(moved, axis=1)[:, None]
        better = np.max(moved @ points.T, axis=1) < np.max(tried @ points.T, axis=1)
        tried[better] = moved[better]
    worst = int(np.argmin(np.max(tried @ points.T, axis=1)))
    return tried[worst], float(np.linalg.norm(points - tried[worst], axis=1).min())


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
        "cover",
        3,
        "Build an epsilon-cover of the unit sphere in R^d with at most (4/epsilon + 1)^d points.",
        "cover",
        "a function cover(d, epsilon) -> array (points, d)",
        _cover,
    ),
)
