"""Types for finite hypothesis classes: the class, its version space, and the vote of the survivors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from novikoff.core.errors import ModelFileError, shown
from novikoff.core.types import Domain, Example, Label, State, Task


@dataclass(frozen=True, slots=True)
class VersionSpaceFacts:
    """Quantities that the theorems on finite classes need.

    Attributes:
        hypotheses: |H|.
        survivors: Number of hypotheses in the version space.
        whole: Prior weight of all of H; |H| if the prior is uniform.
        weight: Prior weight of the survivors.
        lightest: Smallest prior weight of a hypothesis.
        restarts: Number of times that the version space became empty and the learner restarted with all of H.
        emptied_at: Round of the first restart, counted by the learner; 0 without a restart.
        rounds: Rounds of the learner so far.
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
    """Raise `ModelFileError` unless 0 <= part <= whole; facts may come from a model file."""
    if not 0 <= part <= whole:
        raise ModelFileError(f"{name} must be from 0 to {shown(whole)}: got {shown(part)}.")


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """Vote of the surviving hypotheses on one x.

    Attributes:
        weights: Prior weight of the hypotheses that predict each label.
        first: Label of the first survivor; 0 if it gives no valid label.
        choices: Label of each survivor, in a format that only the space interprets.
    """

    weights: Mapping[Label, int]
    first: Label
    choices: Any

    def winner(self) -> Label:
        """Return the label with the most weight; +1 in a tie, the smallest label in a multiclass tie."""
        if -1 in self.weights:
            return 1 if self.weights[1] >= self.weights[-1] else -1
        return max(self.weights, key=lambda label: (self.weights[label], -label))


class Space(Protocol):
    """A version space: the hypotheses of a class that are consistent with the labels so far."""

    lightest: int  # smallest prior weight of a hypothesis of the class

    @property
    def count(self) -> int:
        """Number of survivors."""
        ...

    @property
    def weight(self) -> int:
        """Prior weight of the survivors."""
        ...

    def poll(self, x: Example) -> Ballot:
        """Return the vote on x without changing the space; raise `InputError` if x is outside the domain."""
        ...

    def keep(self, ballot: Ballot, label: Label) -> None:
        """Remove the survivors that did not vote for `label`."""
        ...

    def first(self) -> int:
        """Return the lowest index of a survivor."""
        ...

    def state(self) -> State:
        """Return the survivors as plain data."""
        ...

    def load(self, state: State) -> None:
        """Set the survivors to those of a saved `state`."""
        ...


@runtime_checkable
class HypothesisClass(Protocol):
    """A finite class of functions from x to labels, numbered 0 to size - 1."""

    name: str
    domain: Domain
    labels: int | None

    @property
    def size(self) -> int:
        """Exact number of hypotheses."""
        ...

    def space(self, prior: str | list[int] | None = None) -> Space:
        """Return a new version space of all hypotheses.

        Args:
            prior: None for a uniform prior, "length", or one weight per hypothesis.
        """
        ...

    def describe(self, index: int) -> str:
        """Return a readable description of hypothesis number `index`."""
        ...

    def state(self) -> State:
        """Return the plain data from which the class can be rebuilt."""
        ...


@runtime_checkable
class HasLengths(Protocol):
    """A class whose hypotheses have lengths in bits, as programs do, for the prior "length"."""

    def length(self, index: int) -> int:
        """Return the length of hypothesis number `index`."""
        ...


def task_for(labels: int | None) -> Task:
    """Return the task of a learner on a hypothesis class with this number of labels; None stands for -1 and +1."""
    return "binary" if labels is None else "multiclass"
