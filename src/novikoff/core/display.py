"""How results and learners are shown: a short text of a learner, and a page in a notebook."""

from __future__ import annotations

import inspect
from importlib import import_module


class Shown:
    """Has a `_repr_html_`, made by reports/page.py."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        made: str = import_module("novikoff.reports.page").fragment(self)
        return made


LONGEST = 100
"""Characters of a text."""
MOST = 3
"""Learners of a team that are named."""


class Written(Shown):
    """`Perceptron(bias=1.0)`: no arrays, no weights."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"

    def _argument(self, name: str, default: object) -> object:
        """What was given for a parameter, or its default if that says as much."""
        return getattr(self, name, default)

    def _arguments(self) -> list[str]:
        """The arguments that are not the default, as they are written."""
        told = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = self._argument(name, parameter.default)
            if value is parameter.empty or (written := _written(value)) == _written(parameter.default):
                continue
            if written:
                told.append(f"{name}={written}")
        return told


def _written(value: object) -> str:
    """A plain value, learners, or what has a name; "" of what has none."""
    if isinstance(value, (bool, int, float, str, Written)) or value is None:
        text = repr(value)
    elif isinstance(value, (list, tuple)) and value and all(isinstance(one, Written) for one in value):
        more = f", and {len(value) - MOST} more" if len(value) > MOST else ""
        text = f"[{', '.join(map(repr, value[:MOST]))}{more}]"
    elif callable(value) or hasattr(value, "space"):
        text = getattr(value, "__name__", type(value).__name__)
    else:
        return ""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
