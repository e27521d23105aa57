"""Hypotheses given as Python functions of x.

Hypotheses
    `functions([f, g, ...])`: each is called with x and returns True or +1, False or -1. A function that raises or
    returns anything else has no valid label: it does not vote and is filtered.
Cost
    One call per survivor and round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, ModelFileError, shown
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.survivors import Survivors


class Functions:
    """User-defined Python predicates of x.

    Args:
        functions: Functions that return True or +1, False or -1.
        domain: Domain of x; None for any.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.functions([lambda x: x > 0, lambda x: x > 1]))
        2
    """

    labels: int | None = None

    def __init__(self, functions: Sequence[Callable[[Any], object]], domain: Domain | None = None) -> None:
        if not isinstance(functions, Iterable):
            raise InputError(f"functions must be a list of Python functions of x: got {shown(functions)}.")
        self.functions = tuple(functions)
        if not self.functions:
            raise InputError("functions must not be empty: got no function.")
        for function in self.functions:
            if not callable(function):
                raise InputError(f"functions must be Python functions of x: got {shown(function)}.")
        self.domain = domain or Domain("any")
        self.name = f"functions[{len(self.functions)}]"

    @property
    def size(self) -> int:
        return len(self.functions)

    def __len__(self) -> int:
        return self.size

    def space(self, prior: object = None) -> Survivors:
        return Survivors(self, prior, "Pass fewer functions.")

    def encode(self, x: Example) -> Example:
        return x

    def labels_of(self, x: Example, members: NDArray[np.int64] | None) -> NDArray[np.int8]:
        chosen = self.functions if members is None else [self.functions[i] for i in members.tolist()]
        return np.array([_vote(function, x) for function in chosen], dtype=np.int8)

    def describe(self, index: int) -> str:
        return getattr(self.functions[index], "__name__", repr(self.functions[index]))

    def state(self) -> State:
        raise ModelFileError("Python functions cannot be saved. Use another hypothesis class, such as a table.")


def _vote(function: Callable[[Any], object], x: Example) -> int:
    """Return +1, -1, or 0 for no valid label."""
    try:
        answer = function(x)
        if answer is True or answer is False or isinstance(answer, np.bool_):
            return 1 if answer else -1
        return int(answer) if answer in (1, -1) else 0
    except Exception:
        return 0
