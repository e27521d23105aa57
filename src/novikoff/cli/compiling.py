"""`compile`: compile the loops of learners ahead, in several processes.

Each learner plays generated rows of every kind that it takes: a table with two labels, with three labels, with numbers,
and sparse rows. Processes take tasks from a list, the longest first. A learner that takes none of these rows, such as
one over experts or a finite class, is compiled when it is first used.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Literal

import numpy as np

from novikoff.core.errors import NovikoffError, counted
from novikoff.core.executors import cores
from novikoff.core.registry import find, names
from novikoff.game.assistants import VARIABLE

FIRST = ("auto", "auto-regression")
"""Learners whose parts are compiled apart, because they take longest."""
ROWS = 64
"""Rows of a generated source: trees are grown from row 16 or 32 on."""
PROGRAM = """import json, sys
sys.path[:] = json.loads(sys.argv[1])
from novikoff.cli.compiling import work
work()
"""


def compile_learners(specs: Sequence[str], processes: int | None) -> int:
    """Compile the loops of learners, all of them if `specs` is empty; print progress, and return an exit code."""
    from novikoff.game.specs import make, parse

    for spec in specs:
        if find(parse(spec).name, "learner") is None:
            make(spec)  # raises the error of an unknown name
    wanted = list(dict.fromkeys(specs)) or names("learner")
    wanted.sort(key=lambda name: name not in FIRST)
    tasks = [*_rehearsals(wanted), *wanted]
    count, start = min(processes or cores(), len(tasks)), time.perf_counter()
    found: dict[str, Any] = {}
    with_them = f"with {counted(count, 'process', 'processes')}"
    print(f"Compiling the loops of {counted(len(wanted), 'learner')} {with_them}.", flush=True)
    for name, result in _in_processes(tasks, count):
        found[name] = result
        if name in wanted:
            kinds = ", ".join(result["kinds"]) or "not compiled ahead: it needs rows or parameters of its own"
            print(f"  {name}: {kinds}", flush=True)
    lost = [name for name in specs if not found.get(name, {}).get("kinds")]
    compiled, seconds = sum(one["compiled"] for one in found.values()), time.perf_counter() - start
    print(f"Compiled {counted(compiled, 'loop')} in {seconds:.1f} s.")
    folders = sorted({folder for one in found.values() for folder in one["folders"]})
    print(
        f"Cache: {os.path.commonpath(folders)}" if folders else "Cache: none. Set NUMBA_CACHE_DIR to a writable folder."
    )
    return 1 if lost else 0


def _rehearsals(wanted: Sequence[str]) -> list[str]:
    """Return the rehearsals of the learners that take longest, as "module:function"."""
    from novikoff.mixtures.auto import Auto
    from novikoff.mixtures.auto_regression import AutoRegression
    from novikoff.mixtures.multiclass_auto import MulticlassAuto

    kinds = {"auto": (Auto, MulticlassAuto), "auto-regression": (AutoRegression,)}
    found = [part for name in wanted for kind in kinds.get(name, ()) for part in kind.rehearsals]
    return list(dict.fromkeys(found))


def _in_processes(tasks: Sequence[str], count: int) -> Iterator[tuple[str, Any]]:
    """Yield each task and its result, as processes finish them; a task whose process died is left out."""
    left: SimpleQueue[str] = SimpleQueue()
    for task in tasks:
        left.put(task)
    done: SimpleQueue[tuple[str, Any] | None] = SimpleQueue()
    threads = [threading.Thread(target=_serve, args=(left, done), daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    ended = 0
    while ended < count:
        result = done.get()
        if result is None:
            ended += 1
        else:
            yield result


def _serve(left: SimpleQueue[str], done: SimpleQueue[tuple[str, object] | None]) -> None:
    """Pass tasks to a process until none is left; None in `done` means the end."""
    command = [sys.executable, "-P", "-c", PROGRAM, json.dumps([entry for entry in sys.path if isinstance(entry, str)])]
    environment = {**os.environ, VARIABLE: "0"}
    try:
        while not left.empty():
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                text=True, encoding="utf-8",
            ) as process:  # fmt: skip
                assert process.stdin is not None
                assert process.stdout is not None
                with contextlib.suppress(Empty, OSError):
                    while True:
                        task = left.get_nowait()
                        print(task, file=process.stdin, flush=True)
                        line = process.stdout.readline()
                        if not line:
                            break  # the process died: the next task gets another one
                        done.put((task, json.loads(line)))
    finally:
        done.put(None)


def work() -> None:
    """Read tasks, one per line, and print what was compiled for each; the other side of `_serve`."""
    from novikoff import numerics

    numerics.spare_foreign = True
    from numba.core import event

    from novikoff.numerics.caching import LoopCache
    from novikoff.numerics.compiled import compiled

    del compiled  # imported for its effect: loops are cached
    output, sys.stdout = sys.stdout, sys.stderr

    class Counted(event.Listener):
        """Count compiled loops, and note the folders of their caches."""

        loops, folders = 0, set[str]()

        def on_start(self, event: Any) -> None:
            cache = event.data["dispatcher"]._cache
            if isinstance(cache, LoopCache):
                self.loops += 1
                self.folders.add(cache.cache_path)

        def on_end(self, event: object) -> None:
            pass

    counts = Counted()
    register: Any = event.register
    register("numba:compile", counts)
    for line in sys.stdin:
        counts.loops, task = 0, line.strip()
        kinds = _rehearsed(task) if ":" in task and task.startswith("novikoff.") else _played(task)
        result = {"kinds": kinds, "compiled": counts.loops, "folders": sorted(counts.folders)}
        print(json.dumps(result), file=output, flush=True)


def _rehearsed(name: str) -> list[str]:
    """Call a rehearsal."""
    module, _, function = name.partition(":")
    with contextlib.suppress(Exception):  # a game compiles it, or reports the error
        getattr(importlib.import_module(module), function)()
    return []


def _played(spec: str) -> list[str]:
    """Play a learner on rows of every kind, in batches and row by row; return the kinds that it takes."""
    from novikoff.game.game import Game
    from novikoff.game.play import play
    from novikoff.game.prepare import prepare

    found = []
    for kind, source in _sources():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels: Literal["multiclass"] | None = "multiclass" if kind == "three labels" else None
                ledger = play(spec, source, labels=labels)
                ledger.certify()
                if isinstance(source[0], np.ndarray):
                    game = Game(prepare(spec, source, labels is not None)[0])
                    for x, y in zip(source[0][:2], source[1][:2], strict=True):
                        game.learn_one(x, y)
        except (NovikoffError, ImportError):  # not a kind of rows for this learner
            continue
        if kind != "numbers" or ledger.player.task == "regression":  # for others they are labels
            found.append(kind)
    return found


def _sources() -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield kinds of rows, and rows with outcomes."""
    from scipy.sparse import csr_array

    x = np.sin(np.arange(4.0 * ROWS)).reshape(ROWS, 4)
    signs = np.where(x[:, 0] > 0.0, 1, -1)
    yield "two labels", (x, signs)
    yield "three labels", (x, np.arange(ROWS) % 3)
    yield "numbers", (x, x[:, 1])
    yield "sparse rows", (csr_array(x), signs)
