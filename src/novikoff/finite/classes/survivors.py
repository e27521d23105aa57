"""Version space stored as the list of its survivors: each round costs O(survivors), not O(|H|)."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from numbers import Rational
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, ModelFileError, TooLargeError, shown, whole
from novikoff.core.hypotheses import Ballot
from novikoff.core.types import Domain, Example, Label, State

LARGEST = 100_000_000
"""Largest number of hypotheses stored one by one (about 1 GB at the peak of the first round)."""


class Enumerable(Protocol):
    """A class that can compute the labels of any of its hypotheses."""

    name: str
    domain: Domain
    labels: int | None

    @property
    def size(self) -> int:
        """Exact number of hypotheses."""
        ...

    def encode(self, x: Example) -> Any:
        """Return x, checked, in the form that `labels_of` takes."""
        ...

    def labels_of(self, x: Any, members: NDArray[np.int64] | None) -> NDArray[np.integer]:
        """Return the label that each member gives x; members None means the whole class, in order."""
        ...


def refuse_if_too_large(cls_name: str, size: int, alternative: str) -> None:
    """Raise TooLargeError, with the size and advice, rather than run out of memory."""
    if size > LARGEST:
        raise TooLargeError(
            f"a class must have at most {LARGEST:,} hypotheses to be enumerated: "
            f"{cls_name} has {whole(size)}. {alternative}"
        )


def whole_weights(prior: object, size: int) -> NDArray[np.int64]:
    """Return a prior as integers in the same proportions; integers and Fractions are exact."""
    if isinstance(prior, str):
        raise InputError(f"a prior must be one weight per hypothesis: got {prior!r}, which only programs accept.")
    count = len(prior) if isinstance(prior, Collection) else None
    if not isinstance(prior, Collection) or count != size:
        given = shown(prior) if count is None else f"{count:,}"
        raise InputError(f"a prior must have one weight for each hypothesis, {whole(size)}: got {given}.")
    try:
        parts = [_exact(weight) for weight in prior]
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "a prior must consist of positive finite numbers (whole numbers or Fractions are exact)."
        ) from None
    if min(parts) <= 0:
        raise InputError(f"a prior must consist of positive numbers: got {min(parts)}. Leave that hypothesis out.")
    scale = math.lcm(*(part.denominator for part in parts))
    weights = [int(part * scale) for part in parts]
    if sum(weights) >= 2**63:
        raise InputError("a prior, as whole numbers, must add up to less than 2^63. Use coarser weights.")
    return np.array(weights, dtype=np.int64)


def _exact(weight: Any) -> Fraction:
    if isinstance(weight, Rational):  # int, because numpy integers would overflow inside a Fraction
        return Fraction(int(weight.numerator), int(weight.denominator))
    return Fraction(weight)


class Survivors:
    """Survivors of an `Enumerable` class, as sorted numbers; None stands for all of them."""

    def __init__(self, hypotheses: Enumerable, prior: object, alternative: str) -> None:
        refuse_if_too_large(hypotheses.name, hypotheses.size, alternative)
        self._class = hypotheses
        self._weights = None if prior is None else whole_weights(prior, hypotheses.size)
        self._members: NDArray[np.int64] | None = None
        self.lightest = 1 if self._weights is None else int(self._weights.min())

    @property
    def count(self) -> int:
        return self._class.size if self._members is None else len(self._members)

    @property
    def weight(self) -> int:
        if self._weights is None:
            return self.count
        return int((self._weights if self._members is None else self._weights[self._members]).sum())

    def poll(self, x: Example) -> Ballot:
        choices = self._class.labels_of(self._class.encode(x), self._members)
        return Ballot(self._tally(choices), int(choices[0]), choices)

    def _tally(self, choices: NDArray[np.generic]) -> dict[Label, int]:
        labels = self._class.labels
        possible = (-1, 1) if labels is None else range(labels)
        if self._weights is not None:
            weights = self._weights if self._members is None else self._weights[self._members]
            return {label: int(weights[choices == label].sum()) for label in possible}
        if labels is not None:
            return dict(enumerate(np.bincount(choices, minlength=labels).tolist()))
        return {label: int(np.count_nonzero(choices == label)) for label in possible}

    def keep(self, ballot: Ballot, label: Label) -> None:
        voted = ballot.choices == label
        self._members = np.flatnonzero(voted) if self._members is None else self._members[voted]

    def first(self) -> int:
        return 0 if self._members is None else int(self._members[0])

    def alive(self) -> NDArray[np.bool_]:
        """Return, for each hypothesis, whether it survives."""
        left = np.zeros(self._class.size, dtype=np.bool_)
        left[slice(None) if self._members is None else self._members] = True
        return left

    def state(self) -> State:
        return {"members": None if self._members is None else self._members.copy()}

    def load(self, state: State) -> None:
        if state["members"] is None:
            self._members = None
            return
        members = np.asarray(state["members"])
        sound = members.dtype == np.int64 and members.ndim == 1 and len(members) > 0
        sound = sound and members[0] >= 0 and members[-1] < self._class.size
        if not sound or np.any(np.diff(members) <= 0):
            raise ModelFileError(
                f"survivors must be numbers of hypotheses of {self._class.name}, in order: they are not."
            )
        self._members = members
