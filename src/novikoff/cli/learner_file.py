"""Learners in a Python file: `novikoff run learner.py:MyLearner rows.csv`.

The file is executed, as Python would; the class needs `predict_one` and `learn_one` (core/adapt.py). It is registered
for this process, so every verb that takes the spec of a learner takes it. The service does not: it runs no files.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

from novikoff.core import registry
from novikoff.core.errors import InputError

SPEC = re.compile(r"(?P<path>[^\[\]]*\.py)(?::(?P<name>[A-Za-z_]\w*)(?=[,:]|$))?(?P<rest>[:,].*)?")
"""FILE.py:Class, and arguments after a comma."""
METHODS = ("predict_one", "learn_one")


def own_learner(spec: str | None) -> str | None:
    """Return the spec with a registered name if it is FILE.py:Class; any other spec unchanged."""
    found = SPEC.fullmatch(spec or "")
    if spec is None or found is None:
        return spec
    path, name = found["path"], found["name"]
    module = _load(path)
    kinds = {one: kind for one, kind in vars(module).items() if _is_learner(kind, module)}
    if name is None and len(kinds) == 1:
        name = next(iter(kinds))
    if name not in kinds:
        wanted = f"no class {name} with" if name else "no single class with"
        has = f"It has {', '.join(kinds)}." if kinds else "Define a class with both methods."
        raise InputError(f"{path} must define the learner: it has {wanted} predict_one and learn_one. {has}")
    label = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").strip("-").lower()
    if label in registry.CATALOG:
        label = f"my-{label}"
    registry.register(label, kinds[name])
    rest = (found["rest"] or "").lstrip(":,")
    return f"{label}:{rest}" if rest else label


def _load(path: str) -> ModuleType:
    """Execute a Python file and return it as a module."""
    if not Path(path).is_file():
        raise InputError(f"a learner's file must exist: {path} does not.")
    name = f"own_{Path(path).stem}"
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # dataclasses look their module up
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        found.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.pop(0)
    return module


def _is_learner(kind: object, module: ModuleType) -> bool:
    """Return whether a class is defined in the module and has both methods."""
    return isinstance(kind, type) and kind.__module__ == module.__name__ and all(hasattr(kind, m) for m in METHODS)
