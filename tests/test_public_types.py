"""No public signature has Any: what may be anything is `object`, and is checked when it comes."""

import ast
import functools
import importlib
import inspect
import re
import types
import typing

import numpy as np

MODULES = (
    "novikoff",
    "novikoff.integrations.river",
    "novikoff.integrations.sklearn",
    "novikoff.integrations.wrap",
    "novikoff.server.client",
    "novikoff.testing",
)

PLAIN = ("NDArray", "ArrayLike", "State", "Schema")
"""Aliases that are not looked into: shapes of arrays, what numpy takes, and saved values, which fields check."""

ALLOWED = {
    r"core\.state\.|\.(after_restoring|arguments|pack|unpack): ": "a saved value, which its field checks",
    r"\.task_of: given$": "arguments of the constructor of any learner",
    r"\.prior: |: (prior|start|functions)$|MajorityFlip\.ask: return$": "weights, vectors or examples, checked in use",
    r"core\.types\.Run\.": "comparators of the learner whose theorem is evaluated",
    r"Stream\.encoding$|\.fingerprint: return$": "how one table is encoded, and what one kind of source is known by",
    r"game\.ledger\.Ledger\.": "facts of any learner, and JSON that only its source understands",
    r"core\.registry\.register: return$|game\.specs\.make: ": "whatever is registered",
    r"reading\.read: |\.without_labels: options$": "options of any format",
    r"compare\.compare: defaults$": "defaults of any learner",
    r"SparseMatrix\.__init__: X$": "a matrix of scipy",
    r"integrations\.sklearn\.": "what scikit-learn takes and validates",
    r"integrations\.(river|wrap)\.": "values and models of River and scikit-learn",
    r"server\.client\.Client\.call: return$": "the JSON of any route",
}
"""Signatures that have Any, as patterns, each with the reason."""


def has_any(kind, seen=()):
    """Return whether a type is made of Any; the shape of an array is not looked at."""
    if kind is typing.Any:
        return True
    if typing.get_origin(kind) is np.ndarray:
        return has_any(typing.get_args(kind)[1])
    parts = typing.get_args(kind)
    return any(has_any(part) for part in parts if part is not ... and not isinstance(part, list)) or any(
        has_any(one) for part in parts if isinstance(part, list) for one in part
    )


def mentions_any(annotation, scope):
    """Return whether an annotation, as it is written, mentions Any or an alias that is made of it."""
    if not isinstance(annotation, str):
        return has_any(annotation)
    names = [node.id for node in ast.walk(ast.parse(annotation, mode="eval")) if isinstance(node, ast.Name)]
    return any(name == "Any" or has_any(scope.get(name)) for name in names if name not in PLAIN)


def functions(value):
    """Yield the functions behind a public name: itself, or those of a class, a property or a decorated method."""
    if inspect.isclass(value):
        for kind in value.__mro__:
            if kind.__module__.startswith("novikoff"):
                for name, part in vars(kind).items():
                    if not name.startswith("_") or name in ("__init__", "__call__", "__getitem__", "__iter__"):
                        yield from functions(part)
    elif isinstance(value, property):
        yield value.fget
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, (classmethod, staticmethod)):
        yield from functions(value.__func__)
    elif callable(value) and isinstance(inspect.unwrap(value), types.FunctionType):
        yield inspect.unwrap(value)


def attributes(value):
    """Yield the annotated attributes of a class: name, annotation, and the names that its module knows."""
    for kind in value.__mro__ if inspect.isclass(value) else ():
        if kind.__module__.startswith("novikoff"):
            scope = vars(importlib.import_module(kind.__module__))
            for name, annotation in vars(kind).get("__annotations__", {}).items():
                if not name.startswith("_"):
                    yield f"{kind.__module__}.{kind.__qualname__}.{name}", annotation, scope


def names(module):
    """Return the public names of a module: those that it lists, or else those that it defines."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]


def public():
    for module in map(importlib.import_module, MODULES):
        for name in names(module):
            value = getattr(module, name)
            yield from (getattr(value, one) for one in names(value)) if inspect.ismodule(value) else (value,)


def found():
    """Return every public signature and attribute with Any."""
    wrong = set()
    for value in public():
        for function in functions(value):
            if function.__module__.startswith("novikoff"):
                for name, annotation in function.__annotations__.items():
                    if mentions_any(annotation, function.__globals__):
                        wrong.add(f"{function.__module__}.{function.__qualname__}: {name}")
        wrong |= {name for name, annotation, scope in attributes(value) if mentions_any(annotation, scope)}
    return sorted(wrong)


def test_public_signatures_have_no_any():
    assert [name for name in found() if not any(re.search(pattern, name) for pattern in ALLOWED)] == []


def test_every_exception_is_needed():
    names = found()
    assert [pattern for pattern in ALLOWED if not any(re.search(pattern, name) for name in names)] == []


if __name__ == "__main__":
    print(*found(), sep="\n")
