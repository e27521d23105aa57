"""Scenes: the games of the arena, each with a learner of the library, places to be played, and what there is to see.

A place is a list of whole numbers, so that a link carries it exactly: hundredths in the plane, a threshold, a cell of a
grid, or which experts lose (a bit each). The learner, the ledger and the certificates are those of any other game.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.classes.rectangle import how_many_boxes
from novikoff.errors import InputError
from novikoff.game import Game
from novikoff.learners.cover_halving import CoverHalving
from novikoff.learners.ellipsoid import Ellipsoid
from novikoff.learners.exponential_weights import ExponentialWeights
from novikoff.learners.forgetron import Forgetron
from novikoff.learners.kernel_perceptron import KernelPerceptron
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.rectangle_halving import RectangleHalving
from novikoff.learners.threshold_halving import ThresholdHalving
from novikoff.ledger import Ledger
from novikoff.types import Adversary, Batch, Learner

Place = list[int]
UNIT = 100
"""Of the plane: -UNIT .. UNIT, in both directions."""
FIELD = 61
"""Points of a picture of the plane, in each direction."""


class Scene(ABC):
    """A learner, what was shown to it, and what can be seen of it.

    options   each with its least, most and usual value
    rivals    who may play against the learner: me, builtin (an adversary), target (a hidden one), data (real rows)
    """

    name: ClassVar[str]
    title: ClassVar[str]
    learner_name: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {}
    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        self.chosen = {name: options.get(name, usual) for name, (_, _, usual) in self.options.items()}
        self.coins = np.random.default_rng(seed)
        self.rival = rival
        self.shown: list[tuple[Any, int]] = []
        learner = self.made()
        self.adversary = self.builtin() if rival == "builtin" else None
        self.ledger = Ledger(learner, self.adversary, source=self.name, passes=1)
        self.game = Game(learner, self.ledger)

    @property
    def learner(self) -> Any:
        """Who plays."""
        return self.game.learner

    @abstractmethod
    def made(self) -> Learner:
        """The learner of the scene."""

    @abstractmethod
    def limits(self) -> list[tuple[int, int]]:
        """The least and the most of each number of a place."""

    @abstractmethod
    def example(self, place: Place) -> Any:
        """The x of a place."""

    @abstractmethod
    def view(self) -> dict[str, Any]:
        """What is to be seen of the learner now."""

    def builtin(self) -> Adversary:
        """The adversary of the library for this learner."""
        raise InputError(f"a rival of {self.name} must be one of {', '.join(self.rivals)}: got builtin.")

    def target(self, x: Any) -> int:
        """What the hidden target says of x."""
        raise InputError(f"a rival of {self.name} must be one of {', '.join(self.rivals)}: got target.")

    def random_place(self) -> Place:
        """Where the hidden target asks next."""
        return [int(self.coins.integers(least, most + 1)) for least, most in self.limits()]

    def free(self, x: Any) -> dict[str, bool]:
        """Which answers some target still fits."""
        return {"+": self.fits(x, 1), "-": self.fits(x, -1)}

    def fits(self, x: Any, y: int) -> bool:
        """Is there a target that says all that was answered, and y of x?"""
        return all(not _same(x, other) or y == label for other, label in self.shown)

    def votes(self, x: Any) -> dict[str, int] | None:
        """How many say +1 and -1, where there is a vote."""
        return None

    def apriori(self) -> float | None:
        """What is promised before the first round; None if nothing is."""
        return None

    def field(self) -> dict[str, Any] | None:
        """A picture of what the learner says everywhere; None where the view tells it."""
        return None

    def learn(self, x: Any, y: int) -> int:
        """Play a round; what the learner said."""
        said = int(self.game.learn_one(x, y))
        self.shown.append((x, y))
        return said


def _same(x: Any, other: Any) -> bool:
    return bool(np.array_equal(np.asarray(x), np.asarray(other)))


class Plane(Scene):
    """Points of the plane, and lines that say +1 on one side."""

    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target", "data")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        angle = self.coins.uniform(0.0, 2.0 * math.pi)
        self._target = np.array([math.cos(angle), math.sin(angle), self.coins.uniform(-0.4, 0.4)])
        self._rows: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if rival == "data":
            self._rows = flowers(self.coins)

    def limits(self) -> list[tuple[int, int]]:
        return [(-UNIT, UNIT), (-UNIT, UNIT)]

    def example(self, place: Place) -> Any:
        return np.array(place, dtype=np.float64) / UNIT

    def builtin(self) -> Adversary:
        return PlaneBisection()

    @property
    def through_origin(self) -> bool:
        """Must lines go through the origin?"""
        return True

    def target(self, x: Any) -> int:
        offset = 0.0 if self.through_origin else self._target[2]
        return 1 if float(x[0] * self._target[0] + x[1] * self._target[1]) + offset >= 0 else -1

    def data(self, place: int) -> tuple[Place, int]:
        """The real row of that number."""
        assert self._rows is not None
        points, labels = self._rows
        place %= len(points)
        return points[place].tolist(), int(labels[place])

    def fits(self, x: Any, y: int) -> bool:
        from scipy.optimize import linprog

        rows = [*self.shown, (x, y)]
        points = np.array([[*point, *(() if self.through_origin else (1.0,))] for point, _ in rows])
        labels = np.array([label for _, label in rows])
        signed = -labels[:, None] * points  # y <u, x> >= s, s as large as it can be, |u_i| <= 1
        wanted = np.hstack([signed, np.ones((len(rows), 1))])
        width = points.shape[1]
        found = linprog([0.0] * width + [-1.0], wanted, np.zeros(len(rows)), bounds=[(-1, 1)] * width + [(0, 1)])
        return bool(found.status == 0 and found.x[-1] > 1e-9)


class PerceptronScene(Plane):
    """A line that turns with each mistake."""

    name, title, learner_name = "perceptron", "Perceptron", "perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"bias": (0, 1, 1)}

    def made(self) -> Learner:
        return Perceptron(bias=float(self.chosen["bias"]))

    @property
    def through_origin(self) -> bool:
        return not self.chosen["bias"]

    def view(self) -> dict[str, Any]:
        weights = self.learner.weights
        plane = [float(w) for w in weights[:2]] if len(weights) >= 2 else [0.0, 0.0]
        return {"w": [*plane, float(self.learner.bias_weight)]}


class EllipsoidScene(Plane):
    """An ellipse that must hold the target, cut with each mistake."""

    name, title, learner_name = "ellipsoid", "Ellipsoid", "ellipsoid"

    def made(self) -> Learner:
        return Ellipsoid(width=2)

    def view(self) -> dict[str, Any]:
        centre, factor = self.learner.weights, self.learner.factor
        return {"centre": centre.tolist(), "factor": factor.tolist(), "w": [*centre.tolist(), 0.0]}


class HalfspacesScene(Plane):
    """Directions of a cover of the circle; the majority of those left decides."""

    name, title, learner_name = "halfspaces", "Halfspaces", "cover-halving"

    def made(self) -> Learner:
        return CoverHalving(2, largest=256)

    def votes(self, x: Any) -> dict[str, int]:
        votes = self.learner.votes(x)
        return {"+": votes, "-": self.learner.size - votes}

    def view(self) -> dict[str, Any]:
        points, alive = self.learner.survivors()
        angles = np.arctan2(points[1], points[0])
        return {"angles": np.round(angles, 4).tolist(), "alive": alive.tolist(), "epsilon": self.learner.epsilon}


class KernelScene(Plane):
    """Bumps around the examples that it erred on; with a budget the oldest fade."""

    name, title, learner_name = "kernel", "Kernel", "kernel-perceptron"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"gamma": (1, 20, 6), "budget": (0, 40, 0)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target", "data")

    def made(self) -> Learner:
        gamma, budget = float(self.chosen["gamma"]), self.chosen["budget"]
        return Forgetron(max(budget, 1), gamma=gamma) if budget else KernelPerceptron(gamma=gamma)

    def target(self, x: Any) -> int:
        """Inside a ring, or not."""
        far = math.hypot(x[0] - 0.3 * self._target[2], x[1])
        return 1 if 0.35 <= far <= 0.75 else -1

    def fits(self, x: Any, y: int) -> bool:
        return Scene.fits(self, x, y)

    def view(self) -> dict[str, Any]:
        if not self.learner.size:
            return {"supports": [], "weights": []}
        rows, weights = self.learner.supports.expansion()
        return {"supports": np.asarray(rows).tolist(), "weights": np.asarray(weights).tolist()}

    def field(self) -> dict[str, Any]:
        along = np.linspace(-1.0, 1.0, FIELD)
        points = np.array([[x, y] for y in along[::-1] for x in along])
        said = self.learner.predict_many(Batch(points, np.ones(len(points), np.int8), 0))
        return {"n": FIELD, "says": "".join("+" if label == 1 else "-" for label in said.tolist())}


class ThresholdsScene(Scene):
    """An interval of thresholds that halves."""

    name, title, learner_name = "thresholds", "Thresholds", "threshold-halving"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"n": (1, 1000, 100)}

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        self._target = int(self.coins.integers(0, self.chosen["n"] + 2))

    def made(self) -> Learner:
        return ThresholdHalving(self.chosen["n"])

    def builtin(self) -> Adversary:
        return GridBisection(self.chosen["n"])

    def target(self, x: Any) -> int:
        return 1 if x >= self._target else -1

    def limits(self) -> list[tuple[int, int]]:
        return [(0, self.chosen["n"])]

    def example(self, place: Place) -> Any:
        return place[0]

    def _between(self) -> tuple[int, int]:
        """The thresholds that fit all answers: lo .. hi; lo > hi if none does."""
        above = [x for x, y in self.shown if y == 1]
        below = [x + 1 for x, y in self.shown if y == -1]
        return max(below, default=0), min(above, default=self.chosen["n"] + 1)

    def fits(self, x: Any, y: int) -> bool:
        low, high = self._between()
        return bool(low <= min(high, x) if y == 1 else max(low, x + 1) <= high)

    def votes(self, x: Any) -> dict[str, int]:
        low, high = self.learner.lo, self.learner.hi
        plus = max(0, min(high, x) - low + 1)
        return {"+": plus, "-": high - low + 1 - plus}

    def apriori(self) -> float:
        return float((self.chosen["n"] + 2).bit_length() - 1)

    def view(self) -> dict[str, Any]:
        return {"lo": self.learner.lo, "hi": self.learner.hi, "n": self.chosen["n"]}


class BoxesScene(Scene):
    """All boxes on a grid vote; those that erred are gone."""

    name, title, learner_name = "boxes", "Boxes", "rectangle-halving"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"m": (2, 31, 21)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        ends = np.sort(self.coins.integers(0, self.chosen["m"], size=(2, 2)), axis=1)
        self._target = ends

    def made(self) -> Learner:
        return RectangleHalving(self.chosen["m"], 2)

    def target(self, x: Any) -> int:
        inside = all(low <= value <= high for value, (low, high) in zip(x, self._target, strict=True))
        return 1 if inside else -1

    def limits(self) -> list[tuple[int, int]]:
        return [(0, self.chosen["m"] - 1)] * 2

    def example(self, place: Place) -> Any:
        return tuple(place)

    def fits(self, x: Any, y: int) -> bool:
        positive = [point for point, label in [*self.shown, (x, y)] if label == 1]
        negative = [point for point, label in [*self.shown, (x, y)] if label == -1]
        if not positive:
            return True
        low, high = (tuple(edge(axis) for axis in zip(*positive, strict=True)) for edge in (min, max))
        return not any(all(a <= v <= b for a, v, b in zip(low, point, high, strict=True)) for point in negative)

    def votes(self, x: Any) -> dict[str, int]:
        plus = self.learner.votes(x)
        return {"+": plus, "-": self.learner.size - plus}

    def apriori(self) -> float:
        return float(how_many_boxes(self.chosen["m"], 2).bit_length() - 1)

    def view(self) -> dict[str, Any]:
        learner = self.learner
        return {"m": self.chosen["m"], "left": learner.size, "low": learner.low, "high": learner.high}

    def field(self) -> dict[str, Any]:
        m, size = self.chosen["m"], self.learner.size
        shares = [round(self.learner.votes((x, y)) / size, 3) for y in range(m - 1, -1, -1) for x in range(m)]
        return {"n": m, "shares": shares}


class ExpertsScene(Scene):
    """Weights of experts; each round somebody says who loses."""

    name, title, learner_name = "experts", "Experts", "exponential-weights"
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {"experts": (2, 8, 4)}
    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target")

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, "me")
        self.rival = rival
        self._chances = self.coins.uniform(0.2, 0.8, size=self.chosen["experts"])

    def made(self) -> Learner:
        return ExponentialWeights(self.chosen["experts"], loss="table", play="mean")

    def limits(self) -> list[tuple[int, int]]:
        return [(0, 2 ** self.chosen["experts"] - 1)]

    def example(self, place: Place) -> Any:
        return np.array([(place[0] >> i) & 1 for i in range(self.chosen["experts"])], dtype=np.float64)

    def random_place(self) -> Place:
        """Of the built-in rival: whom the learner trusts the most loses. Else each expert has a chance of its own."""
        if self.rival == "builtin":
            return [1 << int(np.argmax(self.learner.weights))]
        loses = self.coins.random(self.chosen["experts"]) < self._chances
        return [int(sum(1 << i for i in np.flatnonzero(loses)))]

    def free(self, x: Any) -> dict[str, bool]:
        return {"+": True, "-": True}

    def learn(self, x: Any, y: int) -> int:
        self.game.learn_one(None, x)
        self.shown.append((x, y))
        return 0

    def view(self) -> dict[str, Any]:
        facts = self.learner.facts()
        lost = np.sum([losses for losses, _ in self.shown], axis=0) if self.shown else np.zeros(self.chosen["experts"])
        return {"weights": self.learner.weights.tolist(), "losses": lost.tolist(), "lost": self.ledger.expected,
                "best": float(facts.best_loss)}  # fmt: skip


SCENES: dict[str, type[Scene]] = {
    one.name: one
    for one in (
        PerceptronScene, ThresholdsScene, BoxesScene, HalfspacesScene, EllipsoidScene, KernelScene, ExpertsScene,
    )
}  # fmt: skip


def flowers(coins: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two measures of irises, versicolor and virginica, as places of the plane, in random order."""
    from sklearn.datasets import load_iris

    data = load_iris()
    chosen = data.target > 0
    rows, labels = data.data[chosen][:, 2:], np.where(data.target[chosen] == 2, 1, -1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    places = np.rint((2.0 * (rows - low) / (high - low) - 1.0) * 0.9 * UNIT).astype(np.int64)
    order = coins.permutation(len(places))
    return places[order], labels[order].astype(np.int64)


def describe() -> list[dict[str, Any]]:
    """The scenes, with their options and rivals, for the page."""
    return [
        {
            "name": scene.name,
            "title": scene.title,
            "learner": scene.learner_name,
            "about": " ".join((scene.__doc__ or "").split()),
            "rivals": list(scene.rivals),
            "options": {name: list(limits) for name, limits in scene.options.items()},
        }
        for scene in SCENES.values()
    ]


def chosen(name: Any) -> type[Scene]:
    """The scene of that name."""
    if not isinstance(name, str) or name not in SCENES:
        raise InputError(f"a game must be one of {', '.join(SCENES)}: got {name!r}.")
    return SCENES[name]


def checked_options(scene: type[Scene], given: Mapping[str, Any]) -> dict[str, int]:
    """Options within their ranges."""
    for name, value in given.items():
        if name not in scene.options:
            raise InputError(
                f"an option of {scene.name} must be one of {', '.join(scene.options) or 'none'}: got {name!r}."
            )
        least, most, _ = scene.options[name]
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"{name} must be a whole number from {least} to {most}: got {value!r}.")
    return dict(given)


def checked_place(scene: Scene, place: Any) -> Place:
    """A place within its limits."""
    limits = scene.limits()
    if not isinstance(place, Sequence) or isinstance(place, str) or len(place) != len(limits):
        raise InputError(f"a place of {scene.name} must be {len(limits)} whole numbers: got {place!r}.")
    for value, (least, most) in zip(place, limits, strict=True):
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"a place must be of whole numbers from {least} to {most}: got {value!r}.")
    return list(place)
