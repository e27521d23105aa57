"""Loops are compiled once, not by every process of a run: on an empty cache that took a fifth of the compiling.

A process that needs a loop while another compiles it waits, and finds it in the cache. So that processes do not wait
for one another, each begins a whole run with the games of other learners (growing.py).
"""

import fcntl
import os
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

WHOLE = 5000
"""Fewest tests for which the learners are played first: a folder of tests needs the loops of a few."""


def compile_once():
    """Let one process at a time compile a loop."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile, held = Dispatcher.compile, set()

    @contextmanager
    def alone(name):
        if name in held:  # a loop of the same name is part of it
            yield
            return
        held.add(name)
        try:
            with open(folder() / f"{name}.lock", "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        finally:
            held.discard(name)

    def compiled(self, signature):
        with global_compiler_lock, alone(f"{self.py_func.__module__}.{self.py_func.__qualname__}"):
            return compile(self, signature)

    Dispatcher.compile = compiled


def folder():
    """The folder of locks and marks, in that of the compiled loops."""
    found = Path(os.environ["NUMBA_CACHE_DIR"]) / "locks"
    found.mkdir(parents=True, exist_ok=True)
    return found


def play_others(number, count):
    """Play a game of every `count`-th learner, from that of this number on."""
    from growing import GAMES, ROUNDS
    from novikoff.game.game import Game

    for name in list(GAMES)[number::count]:
        game = GAMES[name]
        with suppress(Exception), warnings.catch_warnings():  # what fails is for the tests to report
            warnings.simplefilter("ignore")
            by_rows = Game(game.make())
            for x, y in game.rows:
                by_rows.learn_one(x, y)
            by_rows.ledger.certify(fixed=False)
            if game.dense:
                in_batches = Game(game.make())
                in_batches.learn_batch(game.batch(0, ROUNDS))
                in_batches.player.predict_many(game.batch(0, ROUNDS))
