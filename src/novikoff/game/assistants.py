"""Processes that compile loops while a game is played whose loops are not in the cache yet.

They start when the game compiles its first loop, so a game whose loops are cached costs nothing. Each process calls the
learner's `rehearsals`, which play its parts on generated rows, from the last to the first: the game comes from the
other side. A loop is compiled by one process only (numerics/caching.py). What a process fails to compile, the game
compiles itself. The processes end with the game, or with the process that plays it.

The environment variable NOVIKOFF_COMPILERS is the number of processes: 0 for none; by default the number of other
processors, at most 4, and none in worker processes and under pytest.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

from novikoff.core.executors import cores
from novikoff.core.learner import Learner
from novikoff.numerics import clock

VARIABLE = "NOVIKOFF_COMPILERS"
"""Environment variable with the number of processes."""
MOST = 4
"""Most processes by default."""
PROGRAM = """import json, sys
given = json.loads(sys.argv[1])
sys.path[:] = given["path"]
from novikoff.game.assistants import assist
assist(given["names"])
"""

_lock = threading.Lock()
_running = False  # whether a game of this process has assistants


def assistants() -> int:
    """Return the number of processes that may be started."""
    given = os.environ.get(VARIABLE, "")
    if given.isdecimal():
        return int(given)
    worker = multiprocessing.parent_process() is not None or "PYTEST_VERSION" in os.environ
    return 0 if worker or not sys.executable or getattr(sys, "frozen", False) else min(cores() - 1, MOST)


@contextlib.contextmanager
def assisted(learner: Learner) -> Iterator[None]:
    """Compile the loops of `learner` in other processes too, from the first missing one to the end of the block."""
    if not learner.rehearsals:
        yield
        return
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        global _running
        with _lock:
            if _running:
                return
            _running = True
            started.extend(_start(learner.rehearsals, assistants()))

    clock.before_compiling.append(start)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            clock.before_compiling.remove(start)
        _stop(started)


def _start(rehearsals: Sequence[str], count: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start processes; each begins with its share of the rehearsals, counted from the last."""
    backwards, count = list(reversed(rehearsals)), min(count, len(rehearsals))
    for number in range(count):
        names = backwards[number::count] + [name for name in backwards if name not in backwards[number::count]]
        given = json.dumps({"path": [entry for entry in sys.path if isinstance(entry, str)], "names": names})
        with contextlib.suppress(OSError):
            yield subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, given], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env={**os.environ, VARIABLE: "0"},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )  # fmt: skip


def _stop(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the processes; files of the cache are complete at any time."""
    global _running
    for process in started:
        process.kill()
        process.communicate()
    if started:
        with _lock:
            _running = False


def assist(names: Sequence[str]) -> None:
    """Call rehearsals in a process of its own, as long as its standard input is open.

    Args:
        names: Functions as "module:function".
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    for name in names:
        module, _, function = name.partition(":")
        with contextlib.suppress(Exception):  # the game compiles it, or reports the error
            getattr(importlib.import_module(module), function)()


def _end_with_input() -> None:
    """End this process when the one that started it does, or closes the pipe."""
    sys.stdin.read()
    os._exit(0)
