"""Scene: one game of the arena, with a learner of the library, the places to play, and the data that the page draws.

A place is a list of integers, so that a link carries it exactly: hundredths in the plane, a threshold, a cell of a
grid, or the losing experts (one bit each). Learner, ledger and certificates are those of any other game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError
from novikoff.core.learner import Learner
from novikoff.core.types import Adversary
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.trace import Trace
from novikoff.reports import summary

Place = list[int]


class Beside(NamedTuple):
    """A second learner, which plays the same rounds: its name and its game."""

    name: str
    game: Game


class Scene(ABC):
    """One game of the arena: a learner, the rounds played so far, and the data that the page draws.

    Attributes:
        options: Smallest, largest and default value of each option.
        rivals: Available opponents: me, builtin (an adversary of the library), target (a hidden one), data (real rows).
        labelled: Whether a round has a label to answer; without one, the place alone is the move.
        lasting: Whether a bound at a round covers the rounds before it, as it does for sums of losses.
        ordered: Whether every rival but "me" takes rows of `data`.
        second: A second learner on the same rounds; None if there is none.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    learner_name: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[int, int, int]]] = {}
    rivals: ClassVar[tuple[str, ...]] = ("me", "builtin", "target")
    labelled: ClassVar[bool] = True
    lasting: ClassVar[bool] = True
    ordered: ClassVar[bool] = False
    second: Beside | None = None

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        self.chosen = {name: options.get(name, usual) for name, (_, _, usual) in self.options.items()}
        self.coins = np.random.default_rng(seed)
        self.rival = rival
        self.shown: list[tuple[Any, int]] = []
        learner = self.made()
        self.adversary = self.opponent()
        self.ledger = Ledger(learner, self.adversary, source=self.name, passes=1)
        self.ledger.trace = Trace(self.ledger)
        self.game = Game(learner, self.ledger, observers=[self.ledger.trace])

    @property
    def learner(self) -> Any:
        """Learner that plays."""
        return self.game.learner

    @abstractmethod
    def made(self) -> Learner:
        """Create the learner of the scene."""

    @abstractmethod
    def limits(self) -> list[tuple[int, int]]:
        """Return the smallest and largest value of each number of a place."""

    @abstractmethod
    def example(self, place: Place) -> object:
        """Return the example x of a place."""

    @abstractmethod
    def view(self) -> dict[str, object]:
        """Return the state of the learner, as the page draws it."""

    def opponent(self) -> Adversary | None:
        """Create the adversary that asks and answers; None if there is none."""
        return self.builtin() if self.rival == "builtin" else None

    def builtin(self) -> Adversary:
        """Create the adversary that the library has for this learner."""
        raise InputError(f"a rival of {self.name} must be one of {', '.join(self.rivals)}: got builtin.")

    def target(self, x: object) -> int:
        """Return the label that the hidden target gives to x."""
        raise InputError(f"a rival of {self.name} must be one of {', '.join(self.rivals)}: got target.")

    def hidden(self) -> list[float] | None:
        """Return the parameters of the hidden target, for the page to draw; None if nothing is hidden."""
        return None

    def best(self) -> dict[str, object] | None:
        """Return the comparator of the certificate, for the page to draw; None if there is none to draw."""
        return None

    def random_place(self) -> Place:
        """Draw the place that the hidden target asks about next."""
        return [int(self.coins.integers(least, most + 1)) for least, most in self.limits()]

    def data(self, number: int) -> tuple[Place, int]:
        """Return the place and label of a row of real data."""
        raise InputError(f"a rival of {self.name} must be one of {', '.join(self.rivals)}: got {self.rival}.")

    def free(self, x: object) -> dict[str, bool]:
        """Return which answers are consistent with some target."""
        return {"+": self.fits(x, 1), "-": self.fits(x, -1)}

    def fits(self, x: object, y: int) -> bool:
        """Return whether some target agrees with every answer so far and labels x with y."""
        return all(not _same(x, other) or y == label for other, label in self.shown)

    def votes(self, x: object) -> dict[str, int] | None:
        """Return the number of votes for +1 and for -1, or None if nothing votes."""
        return None

    def paid(self) -> float:
        """Return what the score of the page counts: the mistakes, or the expected loss."""
        return self.ledger.mistakes if self.ledger.counts else self.ledger.expected

    def allowed(self, certificates: Sequence[Certificate]) -> list[float]:
        """Return the bounds on what `paid` counts, informative or not."""
        found = (summary.allowed(self.ledger, one) for one in certificates if one.side == "upper")
        return [float(value) for value in found if value is not None]

    def certificates(self) -> list[Certificate]:
        """Return the certificates of the learner."""
        return self.ledger.certify()

    def more_certificates(self) -> list[tuple[str, Certificate]]:
        """Return further certificates to list, each with the name of what it is about."""
        return [(self.second.name, one) for one in self.second.game.ledger.certify()] if self.second else []

    def others(self) -> dict[str, float]:
        """Return what else the chart shows in this round, by name."""
        return {self.second.name: self.second.game.ledger.mistakes} if self.second else {}

    def apriori(self) -> float | None:
        """Return the bound known before the first round, or None."""
        return None

    def field(self) -> dict[str, object] | None:
        """Return the predictions over the whole plane, or None if `view` determines them."""
        return None

    def learn(self, x: object, y: int) -> int:
        """Play a round and return the prediction."""
        if self.second is not None:
            self.second.game.learn_one(x, y)
        predicted = self.game.learn_one(x, y)
        self.shown.append((x, y))
        assert isinstance(predicted, int)  # the labels of a scene are -1 and +1
        return predicted

    def predict(self, x: object) -> int:
        """Return the prediction for x now."""
        predicted = self.game.predict_one(x)
        assert isinstance(predicted, int)
        return predicted


def _same(x: object, other: object) -> bool:
    return bool(np.array_equal(np.asarray(x), np.asarray(other)))


def checked_options(scene: type[Scene], given: Mapping[str, Any]) -> dict[str, int]:
    """Return the options, all known and within their ranges."""
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
    """Return the place, within its limits."""
    limits = scene.limits()
    if not isinstance(place, Sequence) or isinstance(place, str) or len(place) != len(limits):
        raise InputError(f"a place of {scene.name} must be {len(limits)} integers: got {place!r}.")
    for value, (least, most) in zip(place, limits, strict=True):
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"a place must have integers from {least} to {most}: got {value!r}.")
    return list(place)
