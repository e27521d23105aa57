"""Decorators for compiled loops.

Compiled code is cached on disk, releases the interpreter lock and never reorders float arithmetic (no fastmath). If no
cache folder is writable, loops are compiled without a cache. numba recompiles a loop if its own file has changed, but
not if a loop that it calls has changed in another file; therefore the cache stamp covers all files that its file imports.
The plain-Python twin of a loop is its `py_func`.

Compiling takes seconds once, so there should be little to compile. A function with its own entry takes a tenth of a
second even if it is small, and is optimised again in each loop that calls it; therefore most functions are `inlined`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import threading
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba import config, types
from numba.core import event
from numba.extending import models, register_model, typeof_impl

from novikoff.numerics import spare_foreign
from novikoff.numerics.clock import compiling_begins, compiling_ends

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

    def on_end(self, event: Any) -> None:  # also after an error
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._collecting:
                gc.enable()
        compiling_ends()


event.register("numba:compile", Timed())


def compiled(function: Function) -> Function:
    """Compile `function` at its first call."""
    return _dispatcher(function)


def inlined(function: Function) -> Function:
    """Inline `function` into each loop that calls it; for functions that are small or called once."""
    return _dispatcher(function, inline="always")


class Inner:
    """A function that is compiled as part of the loops that call it; a call from Python compiles a second version."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.part: Any = _dispatcher(function, no_cpython_wrapper=True)

    @cached_property
    def own(self) -> Callable[..., Any]:
        """Version that Python can call; it has another name, so that the cache does not confuse the two."""
        given = self.py_func
        copy = FunctionType(given.__code__, given.__globals__, given.__name__, given.__defaults__)
        copy.__qualname__ = f"{given.__qualname__}_own"
        return _dispatcher(copy)

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


def _dispatcher(function: Function, **given: Any) -> Function:
    ways = {"nogil": True, "no_cfunc_wrapper": True, **given}
    try:
        dispatcher = numba.njit(cache=True, **ways)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(**ways)(function))
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_version"):  # a version of numba without it is left with its own stamp
        # Not the source stamp: that is unpickled together with the signatures, which may name a module that is gone.
        index._version = (index._version, stamp(function.__code__.co_filename))
        index.save = forgiving(index.save)
    return cast(Function, dispatcher)


def forgiving(save: Callable[..., None]) -> Callable[..., None]:
    """Return a version of `save` that ignores an OSError: if the disk is full, the compiled loop still works."""

    def call(*given: Any) -> None:
        with contextlib.suppress(OSError):
            save(*given)

    return call


PACKAGE = Path(__file__).parent.parent
"""Folder of novikoff."""
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)
"""An import statement: the module and the names after `from`, or the modules after `import`."""


@cache
def stamp(file: str) -> tuple[Any, ...]:
    """Return path, modification time and size of every file that loops in `file` depend on, and if indices are checked.

    With NUMBA_BOUNDSCHECK numba compiles different code, but on its own would reuse cached code without checks.
    """
    found = ((path, os.stat(path)) for path in sources(file))
    return bool(getattr(config, "BOUNDSCHECK", False)), *(
        (os.path.relpath(path, PACKAGE), status.st_mtime_ns, status.st_size) for path, status in found
    )


def sources(file: str) -> list[str]:
    """Return the files with compiled code, constants and records that `file` imports, directly or not, and `file`.

    Imports of files with compiled code (`numerics` and `_loops`) are followed; of other files only the imported one
    counts. A file outside of the package may depend on every file with compiled code.
    """
    if not file.startswith(f"{PACKAGE}{os.sep}"):
        return sorted(map(str, [*PACKAGE.glob("numerics/*.py"), *PACKAGE.glob("*/_loops/*.py")]))
    found, left = {file}, [file]
    while left:
        new = imported(left.pop()) - found
        found |= new
        left += filter(_followed, new)
    return sorted(found)


def _followed(file: str) -> bool:
    """Return whether imports of an imported file count; an `__init__` imports modules when they are first used."""
    folder, name = os.path.split(file)
    return os.path.basename(folder) in ("numerics", "_loops") and name != "__init__.py"


@cache
def imported(file: str) -> frozenset[str]:
    """Return the files of the package that `file` imports."""
    found: set[str] = set()
    for base, names, modules in IMPORT.findall(Path(file).read_text(encoding="utf-8")):
        if base.startswith("."):
            raise ImportError(f"{file} has a relative import: name the module in full.")
        if base:
            found.update(_files(base, whole=False))
            for name in re.findall(r"\w+", names):
                found.update(_files(f"{base}.{name}", whole=True))
        for module in re.findall(r"[\w.]+", modules):
            found.update(_files(module, whole=True))
    return frozenset(found)


@cache
def _files(module: str, whole: bool) -> list[str]:
    """Return the files of a module of the package: of a folder all if it is imported `whole`, otherwise `__init__`."""
    first, *rest = module.split(".")
    if first != PACKAGE.name:
        return []
    path = os.path.join(PACKAGE, *rest)
    if os.path.isfile(f"{path}.py"):
        return [f"{path}.py"]
    if not rest or not os.path.isdir(path):
        return []
    return [str(one) for one in Path(path).glob("*.py" if whole else "__init__.py")]
