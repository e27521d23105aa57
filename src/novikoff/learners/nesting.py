"""Learners inside a learner, as plain data: each by its file and class in learners/, and its own state.

A file from a stranger can name a learner of this library and nothing else: only files of learners/ are imported.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from novikoff import learners
from novikoff.errors import ModelFileError, shown
from novikoff.learners.restoring import require
from novikoff.types import Learner, State

HOME = f"{learners.__name__}."


def saved(learner: Learner) -> State:
    """Which learner it is, and all of it."""
    kind = type(learner)
    if _find(kind.__module__.removeprefix(HOME), kind.__name__) is not kind:
        raise ModelFileError(f"a saved learner must be one of novikoff's: {kind.__name__} of {kind.__module__} is not.")
    return {"file": kind.__module__.removeprefix(HOME), "class": kind.__name__, "state": learner.state()}


def restored(state: State) -> Learner:
    """The learner that was `saved`."""
    kind = _find(state["file"], state["class"])
    require(kind is not None, "a learner must be one of novikoff's", f"{shown(state['class'])} of {state['file']!r}")
    learner: Learner = kind.restore(state["state"])
    return learner


def _find(file: Any, name: Any) -> Any:
    """The learner's class; None if learners/ has no such file, or the file no such learner."""
    if not any(file == module.name for module in pkgutil.iter_modules(learners.__path__)):
        return None
    kind = getattr(importlib.import_module(HOME + file), name, None)
    own = isinstance(kind, type) and kind.__module__ == HOME + file
    return kind if own and hasattr(kind, "restore") and hasattr(kind, "promises") else None
