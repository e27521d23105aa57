"""Representations of results and learners: a short text, and HTML for notebooks."""

from __future__ import annotations

import inspect
from importlib import import_module

from novikoff.core.hypotheses import HypothesisClass


class Shown:
    """Mixin with a `_repr_html_`; the HTML is made by reports/page.py."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        made: str = import_module("novikoff.reports.page").fragment(self)
        return made


LONGEST = 100
"""Maximum number of characters of an argument in a repr."""
MOST = 3
"""Maximum number of members of an ensemble in a repr."""


class Written(Shown):
    """Mixin with a short repr such as `Perceptron(bias=1.0)`, without arrays and weights."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"

    def _argument(self, name: str, default: object) -> object:
        """Return the value of a parameter, or its default if the two are equivalent."""
        return getattr(self, name, default)

    def _arguments(self) -> list[str]:
        """Return the arguments that differ from their defaults, as text."""
        arguments = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = self._argument(name, parameter.default)
            if value is parameter.empty or (written := _written(value)) == _written(parameter.default):
                continue
            if written:
                arguments.append(f"{name}={written}")
        return arguments


def _written(value: object) -> str:
    """Return a plain value, learners or a named object as text; "" for anything else."""
    if isinstance(value, (bool, int, float, str, Written)) or value is None:
        text = repr(value)
    elif isinstance(value, (list, tuple)) and value and all(isinstance(one, Written) for one in value):
        more = f", and {len(value) - MOST} more" if len(value) > MOST else ""
        text = f"[{', '.join(map(repr, value[:MOST]))}{more}]"
    elif callable(value) or isinstance(value, HypothesisClass):
        text = getattr(value, "__name__", type(value).__name__)
    else:
        return ""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
