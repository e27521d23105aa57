"""Decorators for compiled loops.

Compiled code is cached on disk (caching.py), releases the interpreter lock and never reorders float arithmetic (no
fastmath). If no cache folder is writable, loops are compiled without a cache. The plain-Python twin of a loop is its
`py_func`.

Compiling takes seconds once, so there should be little to compile. A function with its own entry takes a tenth of a
second even if it is small, and is optimised again in each loop that calls it; therefore most functions are `inlined`.
Read-only arrays, as those of mapped files and of frames, are passed to the code for writable ones: loops write only to
arrays that their caller owns. With NUMBA_BOUNDSCHECK they are compiled apart, and writing to one is an error.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import config, event
from numba.extending import models, register_model, typeof_impl

from novikoff.numerics import spare_foreign
from novikoff.numerics.caching import LoopCache
from novikoff.numerics.clock import call_before_compiling, compiling_begins, compiling_ends
from novikoff.numerics.linking import PART, PartCache, link_implementations, remember_implementations

Function = TypeVar("Function", bound=Callable[..., Any])


if spare_foreign:
    absent = [name for name in ("scipy.linalg.cython_blas", "cffi") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type] # None: importing them fails while numba looks
    import numba.core.typing.cffi_utils
    import numba.np.arraymath

    for name in absent:
        del sys.modules[name]


class Timed(event.Listener):
    """Listener that stops the clock of games and Python's garbage collector while numba compiles.

    The objects of a compilation live as long as it does, so a collector that visits them again and again takes a
    seventh of the time and finds nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0  # a compilation contains those of the loops that it calls
        self._collecting = False  # whether the collector was enabled when the outermost compilation began

    def on_start(self, event: Any) -> None:
        compiling_begins()
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._collecting = gc.isenabled()
                gc.disable()
        if self._depth == 1 and isinstance(event.data["dispatcher"]._cache, LoopCache):
            call_before_compiling()

    def on_end(self, event: Any) -> None:  # also after an error
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._collecting:
                gc.enable()
        compiling_ends()
        dispatcher = event.data["dispatcher"]
        failed = tuple(event.data["args"]) not in dispatcher.overloads  # `event.is_failed` has the wrong sign
        if failed and isinstance(dispatcher._cache, LoopCache):
            dispatcher._cache.release()


event.register("numba:compile", Timed())
remember_implementations()
link_implementations()


def compiled(function: Function) -> Function:
    """Compile `function` at its first call."""
    return _dispatcher(function)


def borrowing(function: Function) -> Function:
    """Compile as `compiled`, without reference counts of arrays: for functions that neither create nor return one.

    Counting takes an atomic operation for each array of a record whenever the record is passed on.
    """
    return _dispatcher(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Inline `function` into each loop that calls it; for functions that are small or called once."""
    return _dispatcher(function, inline="always")


class Inner:
    """A function that is compiled as part of the loops that call it; a call from Python compiles a second version."""

    def __init__(self, function: Callable[..., Any], **given: Any) -> None:
        self.py_func = function
        self.given = {"_nrt": True, **given}  # otherwise it would be that of the caller
        self.part: Any = _dispatcher(function, PartCache, **PART, **self.given)

    @cached_property
    def own(self) -> Callable[..., Any]:
        """Version that Python can call; it has another name, so that the cache does not confuse the two."""
        given = self.py_func
        copy = FunctionType(given.__code__, given.__globals__, given.__name__, given.__defaults__)
        copy.__qualname__ = f"{given.__qualname__}_own"
        return _dispatcher(copy, **self.given)

    def __call__(self, *arguments: Any) -> Any:
        return self.own(*arguments)


class Part(types.Dispatcher):
    """Type of an `Inner`: compiled once per argument type, although numba would compile once per literal value."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return super().get_call_type(context, tuple(map(types.unliteral, args)), kws)


register_model(Part)(models.OpaqueModel)


@typeof_impl.register(Inner)
def _typeof_inner(value: Inner, context: Any) -> Any:
    return Part(value.part)


def inner(function: Function) -> Function:
    """Compile `function` without an entry from Python; for large functions that loops share.

    Compiling the entry can take as long as compiling the function.
    """
    return cast(Function, Inner(function))


def borrowing_inner(function: Function) -> Function:
    """Compile as `inner`, without reference counts, as `borrowing`."""
    return cast(Function, Inner(function, _nrt=False))


def _dispatcher(function: Function, cache: type[LoopCache] = LoopCache, **given: Any) -> Function:
    ways: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **given}
    dispatcher: Any = numba.njit(**ways)(function)
    if hasattr(dispatcher, "enable_caching"):  # not with NUMBA_DISABLE_JIT
        with contextlib.suppress(RuntimeError):  # "cannot cache function: no locator available"
            dispatcher._cache = cache(function)
        if not getattr(config, "BOUNDSCHECK", False):
            dispatcher._compile_for_args = _ForWritable(dispatcher, dispatcher._compile_for_args)
    return cast(Function, dispatcher)


class _ForWritable:
    """Called by numba if a loop has no code for its arguments: read-only arrays get that for writable ones.

    Args:
        dispatcher: The loop.
        compile_for: numba's own way, which compiles a second version for read-only arrays.
    """

    def __init__(self, dispatcher: Any, compile_for: Callable[..., Any]) -> None:
        self.dispatcher, self.compile_for = dispatcher, compile_for

    def __call__(self, *arguments: Any) -> Any:
        given = [numba.typeof(value) for value in arguments] if any(map(_has_read_only, arguments)) else []
        if not given:
            return self.compile_for(*arguments)
        entry = self.dispatcher.compile(tuple(map(_writable, given)))
        self.dispatcher._insert([one._code for one in given], entry, False)  # found without this detour from now on
        return entry


def _has_read_only(value: Any) -> bool:
    """Return whether an argument is or contains a read-only array."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return isinstance(value, tuple) and any(map(_has_read_only, value))


def _writable(kind: Any) -> Any:
    """Return the type of the same arrays if they were writable."""
    if isinstance(kind, types.Array):
        return kind.copy(readonly=False)
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        parts = tuple(map(_writable, members))
        return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    return kind
