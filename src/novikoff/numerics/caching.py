"""Cache of compiled loops on disk, shared by processes.

numba's cache, with four changes. An entry is valid as long as no file has changed that the loop depends on: numba
looks only at the file of the loop itself. Files are compared by their contents and, in a folder that NUMBA_CACHE_DIR
names, found by them: checkouts, environments and images share what was compiled once. A process that needs a loop while
another compiles it waits and loads it from the cache. Code is saved before the index that names it, so that a process
that is killed leaves no index with the code of an earlier version.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
import zlib
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

from novikoff.numerics.clock import compiling_begins, compiling_ends

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

WAIT = 120.0
"""Most seconds to wait for another process that compiles a loop; then it is compiled here too."""
LOCKS = "novikoff.lock"
"""Name of the file in each folder of the cache of which processes lock one byte per loop.

The system releases the lock of a process that ends.
"""


class LoopCache(FunctionCache):
    """Cache of one loop; `load_overload` that finds nothing locks the loop until `save_overload` or `release`."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        file = function.__code__.co_filename
        own, current = self._cache_file._source_stamp, stamp(file)
        shared: str = getattr(config, "CACHE_DIR", "")
        if shared and _in_package(file):
            name = ".".join(Path(file).relative_to(PACKAGE).with_suffix("").parts)
            self._cache_path = os.path.join(shared, f"{PACKAGE.name}.{name}_{current}")
            self._impl.locator._cache_path = self._cache_path
            own = current  # that of older releases of numba has the time of the checkout
        self._cache_file = LoopFile(self._cache_path, self._impl.filename_base, own)
        # Not the source stamp: that is unpickled together with the signatures, which may name a module that is gone.
        self._cache_file._version = (self._cache_file._version, current)
        self._place = zlib.crc32(self._impl.filename_base.encode()) % 2**30
        self._depth = 0  # a loop may be compiled for other types as part of itself

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            self._acquire()
            found = super().load_overload(sig, target_context)  # another process may just have saved it
            if found is not None:
                self.release()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with contextlib.suppress(OSError):  # the disk is full, for example: the compiled loop works without a cache
                super().save_overload(sig, data)
        finally:
            self.release()

    def _acquire(self) -> None:
        """Lock the loop. numba compiles in one thread at a time, so only processes compete."""
        self._depth += 1
        if self._depth > 1 or _locked(self._cache_path, self._place):
            return
        compiling_begins()  # waiting is not part of a game either
        try:
            end = time.monotonic() + WAIT
            while time.monotonic() < end and not _locked(self._cache_path, self._place):
                time.sleep(0.01)
        finally:
            compiling_ends()

    def release(self) -> None:
        """Unlock the loop."""
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0:
            _unlock(self._cache_path, self._place)


class LoopFile(IndexDataCacheFile):
    """Files of one loop: its code for each signature, and the index."""

    def save(self, key: Any, data: Any) -> None:
        overloads = self._load_index()
        taken = set(overloads.values())
        name = overloads.get(key) or next(name for name in map(self._data_name, count(1)) if name not in taken)
        self._save_data(name, data)
        overloads[key] = name
        self._save_index(overloads)


@cache
def _lock_file(folder: str) -> int | None:
    """Return the descriptor of the lock file of a folder, open as long as this process runs; None without one."""
    try:
        os.makedirs(folder, exist_ok=True)
        return os.open(os.path.join(folder, LOCKS), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # a folder that cannot be written to: nothing to wait for
        return None


def _locked(folder: str, place: int) -> bool:
    """Lock a byte; return False if another process has locked it."""
    file = _lock_file(folder)
    if file is None:
        return True
    try:
        if os.name == "nt":
            os.lseek(file, place, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _unlock(folder: str, place: int) -> None:
    """Unlock a byte."""
    file = _lock_file(folder)
    if file is None:
        return
    with contextlib.suppress(OSError):
        if os.name == "nt":
            os.lseek(file, place, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


PACKAGE = Path(__file__).parent.parent
"""Folder of novikoff."""
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)
"""An import statement: the module and the names after `from`, or the modules after `import`."""


@cache
def stamp(file: str) -> str:
    """Return a digest of the contents of every file that loops in `file` depend on, and of whether indices are checked.

    With NUMBA_BOUNDSCHECK numba compiles different code, but on its own would reuse cached code without checks.
    """
    found = hashlib.sha256(str(bool(getattr(config, "BOUNDSCHECK", False))).encode())
    for path in sources(file):
        found.update(f"\n{os.path.relpath(path, PACKAGE)} {_digest(path)}".encode())
    return found.hexdigest()[:32]


@cache
def _digest(file: str) -> str:
    """Return a digest of the contents of a file."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def sources(file: str) -> list[str]:
    """Return the files with compiled code, constants and records that `file` imports, directly or not, and `file`.

    Imports of files with compiled code (`numerics` and `_loops`) are followed; of other files only the imported one
    counts. A file outside of the package may depend on every file with compiled code.
    """
    if not _in_package(file):
        return sorted(map(str, [*PACKAGE.glob("numerics/*.py"), *PACKAGE.glob("*/_loops/*.py")]))
    found, left = {file}, [file]
    while left:
        new = imported(left.pop()) - found
        found |= new
        left += filter(_followed, new)
    return sorted(found)


def _in_package(file: str) -> bool:
    """Return whether a file belongs to this package."""
    return file.startswith(f"{PACKAGE}{os.sep}")


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
