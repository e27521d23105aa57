"""The words of finite classes: a class of hypotheses, its version space, and how the survivors vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from novikoff.core.errors import ModelFileError, shown
from novikoff.core.types import Domain, Example, Label, State


@dataclass(frozen=True, slots=True)
class VersionSpaceFacts:
    """What the theorems on finite classes need to know.

    hypotheses   |H|
    survivors    how many are left
    whole        prior weight of all of H (|H| when all weigh the same)
    weight       prior weight of the survivors
    lightest     the smallest prior weight
    restarts     how often no hypothesis was left and the learner began again with all of H
    emptied_at   the learner's round of the first restart, 0 if there was none
    rounds       the learner's rounds so far
    """

    hypotheses: int
    survivors: int
    whole: int
    weight: int
    lightest: int = 1
    restarts: int = 0
    emptied_at: int = 0
    rounds: int = 0

    def __post_init__(self) -> None:
        check_part("survivors", self.survivors, self.hypotheses)
        check_part("weight", self.weight, self.whole)


def check_part(name: str, part: int, whole: int) -> None:
    """Refuse a part that is larger than the whole: facts may come from a model file."""
    if not 0 <= part <= whole:
        raise ModelFileError(f"{name} must be from 0 to {shown(whole)}: got {shown(part)}.")


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """How the surviving hypotheses vote on one x.

    weights   the prior weight behind each label
    first     the label of the first survivor; 0 if it gives no valid label
    choices   each one's label, in whatever form the space likes
    """

    weights: Mapping[Label, int]
    first: Label
    choices: Any

    def winner(self) -> Label:
        """The label with the most weight; a tie says +1, with many labels the smallest."""
        if -1 in self.weights:
            return 1 if self.weights[1] >= self.weights[-1] else -1
        return max(self.weights, key=lambda label: (self.weights[label], -label))


class Space(Protocol):
    """The version space: the hypotheses of a class that are still believed."""

    lightest: int  # the smallest prior weight of a hypothesis of the class

    @property
    def count(self) -> int:
        """How many."""
        ...

    @property
    def weight(self) -> int:
        """Their prior weight together."""
        ...

    def poll(self, x: Example) -> Ballot:
        """Let each vote on x. Raises `InputError` if x is not of the domain; changes nothing."""
        ...

    def keep(self, ballot: Ballot, label: Label) -> None:
        """Only those that voted for `label` stay."""
        ...

    def first(self) -> int:
        """The lowest index of a survivor."""
        ...

    def state(self) -> State:
        """The survivors, as plain data."""
        ...

    def load(self, state: State) -> None:
        """Become the space whose `state` this is."""
        ...


class HypothesisClass(Protocol):
    """A finite class of functions from x to labels, numbered 0 .. size-1."""

    name: str
    domain: Domain
    labels: int | None

    @property
    def size(self) -> int:
        """Exactly how many hypotheses vote."""
        ...

    def space(self, prior: str | list[int] | None = None) -> Space:
        """A fresh version space holding all of them. prior: None, "length", or a weight for each."""
        ...

    def describe(self, index: int) -> str:
        """Hypothesis number `index`, readable."""
        ...

    def state(self) -> State:
        """Enough to build the class again."""
        ...
