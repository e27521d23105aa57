"""Other processes compile loops while a game is played whose loops are not in the cache yet."""

import os
import subprocess
import sys
import time

import pytest

from novikoff.game import assistants

LEARNER = """
import os, pathlib, time
import numba
import novikoff as nk
from novikoff.numerics.compiled import compiled

DONE = pathlib.Path(os.environ["DONE"])

def waiting(x):
    raise NotImplementedError

@numba.extending.overload(waiting)
def waiting_type(x):  # compiling takes until the other process is done
    while not DONE.exists():
        time.sleep(0.05)
    return lambda x: x

@compiled
def first(x):
    return waiting(x)

@compiled
def second(x):
    return 2 * x

def rehearse_second():
    second(1)
    while "HANG" in os.environ:
        time.sleep(1.0)
    DONE.touch()

class Slow(nk.Perceptron):
    rehearsals = ("learner:missing", "no_such_module:function", "learner:rehearse_second")

    def learn_many(self, batch):
        first(1)
        second(1)
        return super().learn_many(batch)

Slow.__module__ = "novikoff.slow"  # a learner from elsewhere is adapted, and has no rehearsals
"""
GAME = """
import subprocess
import learner, numpy as np, novikoff as nk

class Watched(subprocess.Popen):
    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        print(self.pid, flush=True)

subprocess.Popen = Watched
rows = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1, 1])
mistakes = nk.play(learner.Slow(), rows).mistakes
print(mistakes, *(sum(loop.stats.cache_hits.values()) for loop in (learner.first, learner.second)))
"""


def started(folder, **more):
    (folder / "learner.py").write_text(LEARNER)
    where = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), assistants.VARIABLE: "1",
             "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "DONE": str(folder / "done"), **more}  # fmt: skip
    return subprocess.Popen([sys.executable, "-c", GAME], env=where, stdout=subprocess.PIPE, text=True)


def running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def output(process):
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    return text.splitlines()


def test_another_process_compiles_loops_of_a_game(tmp_path):
    child, printed = output(started(tmp_path))
    assert printed == "1 0 1"
    assert not running(int(child))
    assert output(started(tmp_path)) == ["1 1 1"]  # all loops are cached: no process is started


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_assistant_ends_with_a_killed_game(tmp_path):
    game = started(tmp_path, HANG="")
    child = int(game.stdout.readline())
    game.kill()
    game.communicate()
    for _ in range(600):
        if not running(child):
            return
        time.sleep(0.1)
    pytest.fail("the process still runs")


def test_number_of_assistants(monkeypatch):
    monkeypatch.setattr(assistants, "cores", lambda: 3)
    assert assistants.assistants() == 0  # under pytest
    monkeypatch.delenv("PYTEST_VERSION", raising=False)
    assert assistants.assistants() == 2
    monkeypatch.setattr(assistants, "cores", lambda: 64)
    assert assistants.assistants() == assistants.MOST
    monkeypatch.setattr(assistants.multiprocessing, "parent_process", lambda: "the parent")
    assert assistants.assistants() == 0
    monkeypatch.setenv(assistants.VARIABLE, "7")
    assert assistants.assistants() == 7


def test_rehearsals_are_divided_from_the_last_on(monkeypatch):
    names = []
    monkeypatch.setattr(assistants.subprocess, "Popen", lambda command, **_: names.append(command[-1]))
    assert len(list(assistants._start("abcde", 2))) == 2
    assert [eval(text)["names"] for text in names] == [list("ecadb"), list("dbeca")]


REHEARSED = """
import importlib, pkgutil
import numpy as np
import novikoff as nk
from novikoff.mixtures.auto import Auto
from novikoff.mixtures.auto_regression import AutoRegression
from novikoff.mixtures.multiclass_auto import MulticlassAuto

def compiled():
    found = set()
    for package in ("novikoff.trees._loops", "novikoff.mixtures._loops"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
            for name, value in vars(importlib.import_module(module.name)).items():
                loop = getattr(value, "part", value)
                if getattr(getattr(loop, "py_func", None), "__module__", None) == module.name:
                    found |= {(module.name, name, str(one)) for one in loop.signatures}
    return found

x = np.random.default_rng(1).normal(size=(120, 4))
for kind, y in ((Auto, np.sign(x[:, 0]).astype(int)), (MulticlassAuto, np.arange(120) % 3), (AutoRegression, x[:, 1])):
    for name in kind.rehearsals:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)()
    before = compiled()
    kind.rehearsals = ()
    nk.play(kind(), (x, y))
    for module, name, _ in sorted(compiled() - before):
        print(kind.__name__, module.removeprefix("novikoff."), name)
"""
OWN = {"columns", "linear_mixture", "multiclass_linear_mixture", "resting", "discriminant", "new_labels"}
"""Modules whose loops play before the trees, and are compiled by the game."""


def test_rehearsals_compile_the_loops_of_a_game():
    done = subprocess.run([sys.executable, "-c", REHEARSED], capture_output=True, text=True, check=True, timeout=600)
    missing = [line for line in done.stdout.splitlines() if line.split()[1].rpartition(".")[2] not in OWN]
    assert missing == []
