"""A scene: a game of the arena, with a learner of the library, places to be played, and what there is to see.

A place is a list of whole numbers, so that a link carries it exactly: hundredths in the plane, a threshold, a cell of a
grid, or which experts lose (a bit each). The learner, the ledger and the certificates are those of any other game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from novikoff.core.errors import InputError
from novikoff.core.learner import Learner
from novikoff.core.types import Adversary
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger

Place = list[int]


class Scene(ABC):
    """A learner, what was shown to it, and what can be seen of it.

    options   each with its least, most and usual value
    rivals    who may play against the learner: me, builtin (an adversary), target (a hidden one), data (real rows)
    labelled  has a round a label to be answered? Where it has none, the place says it all
    """

    name: ClassVar[str]
    title: ClassVar[str]
    learner_name: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {}
    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target")
    labelled: ClassVar[bool] = True

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
    def view(self) -> dict[str, object]:
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

    def votes(self, x: object) -> dict[str, int] | None:
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
        said = self.game.learn_one(x, y)
        self.shown.append((x, y))
        assert isinstance(said, int)  # the labels of a scene are -1 and +1
        return said

    def predict(self, x: Any) -> int:
        """Return what the learner predicts now."""
        said = self.game.predict_one(x)
        assert isinstance(said, int)
        return said


def _same(x: object, other: object) -> bool:
    return bool(np.array_equal(np.asarray(x), np.asarray(other)))


def checked_options(scene: type[Scene], given: Mapping[str, Any]) -> dict[str, int]:
    """Options within their ranges."""
    for name, value in given.items():
        if name not in scene.options:
            raise InputError(
                f"an option of {scene.name} must be one of {', '.join(scene.options) or 'none'}: got {name!r}."
            )
        least, most, _ = scene.options[name]
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"{name} must be an integer from {least} to {most}: got {value!r}.")
    return dict(given)


def checked_place(scene: Scene, place: object) -> Place:
    """A place within its limits."""
    limits = scene.limits()
    if not isinstance(place, Sequence) or isinstance(place, str) or len(place) != len(limits):
        raise InputError(f"a place of {scene.name} must be {len(limits)} whole numbers: got {place!r}.")
    for value, (least, most) in zip(place, limits, strict=True):
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"a place must be of whole numbers from {least} to {most}: got {value!r}.")
    return list(place)
