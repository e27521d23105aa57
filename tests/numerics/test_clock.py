"""The clock of games stands still while kernels are compiled, and somebody can be told."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli import main as commands
from novikoff.cli import verbs
from novikoff.numerics import clock as clocks
from novikoff.numerics import compiled as compiler
from novikoff.numerics.clock import clock, compiling_begins, compiling_ends


class Watch:
    """perf_counter, as the test says."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def watch(monkeypatch):
    watch = Watch()
    monkeypatch.setattr(clocks.time, "perf_counter", watch)
    for name, value in (
        ("_before", 0.0),
        ("_since", None),
        ("_depth", 0),
        ("_notified", False),
        ("on_compiling", None),
    ):
        monkeypatch.setattr(clocks, name, value)
    return watch


def test_clock_runs_except_while_compiling(watch):
    start = clock()
    watch.now += 2.0
    assert clock() - start == 2.0
    compiling_begins()
    watch.now += 30.0
    assert clock() - start == 2.0
    compiling_begins()  # a kernel that the first one calls
    watch.now += 30.0
    compiling_ends()
    watch.now += 30.0
    assert clock() - start == 2.0
    compiling_ends()
    watch.now += 3.0
    assert clock() - start == 5.0


class Slow:
    """A learner whose first batch has to be compiled for a hundred seconds, and plays for one."""

    domain, labels, promises = nk.Perceptron().domain, None, ()

    def __init__(self, watch):
        self.watch = watch

    def predict_one(self, x):
        return 1

    def learn_one(self, x, y):
        pass

    def learn_many(self, batch):
        other = threading.Thread(target=self.compile)  # whichever thread it is
        other.start()
        other.join()
        self.watch.now += 1.0
        return np.ones(len(batch), dtype=np.int8)

    def compile(self):
        compiling_begins()
        self.watch.now += 100.0
        compiling_ends()

    def facts(self):
        return None


def test_the_seconds_of_a_game_do_not_count_compiling(watch):
    ledger = nk.play(Slow(watch), (np.ones((4, 2)), np.array([1, -1, 1, 1])))
    assert (ledger.rounds, ledger.seconds) == (4, 1.0)


def test_clock_stops_while_numba_compiles(monkeypatch):
    heard = []
    monkeypatch.setattr(compiler, "compiling_begins", lambda: heard.append("begins"))
    monkeypatch.setattr(compiler, "compiling_ends", lambda: heard.append("ends"))

    def twice(x):
        return 2 * x

    kernel = compiler.numba.njit(twice)
    assert kernel(3) == 6
    assert heard == ["begins", "ends"]
    assert kernel(4) == 8
    assert heard == ["begins", "ends"]


def test_compile_notice_is_given_once(watch, monkeypatch):
    told, heard = [], threading.Event()

    def tell():
        told.append(threading.current_thread())
        heard.set()

    monkeypatch.setattr(clocks, "on_compiling", tell)
    monkeypatch.setattr(clocks, "LONG", 0.0)
    for _ in range(2):
        compiling_begins()
        assert heard.wait(60)
        compiling_ends()
    assert len(told) == 1


def test_short_compile_gives_no_notice(watch, monkeypatch):
    told = []
    monkeypatch.setattr(clocks, "on_compiling", lambda: told.append(1))
    monkeypatch.setattr(clocks, "LONG", 1e6)
    compiling_begins()
    timer = clocks._timer
    compiling_ends()
    timer.join()
    assert told == []


def test_command_line_prints_one_compile_notice(watch, monkeypatch, capsys):
    told = threading.Event()

    def compile_for_long(asked):
        compiling_begins()
        assert told.wait(60)
        compiling_ends()
        return 0

    said = commands._announce_compiling
    monkeypatch.setattr(commands, "_announce_compiling", lambda: (said(), told.set()))
    monkeypatch.setattr(verbs, "demo", compile_for_long)
    monkeypatch.setattr(clocks, "LONG", 0.0)
    assert commands.main(["demo"]) == 0
    assert capsys.readouterr().err == "novikoff: compiling (first run only)\n"
    assert clocks.on_compiling is None


@pytest.mark.slow
def test_only_the_first_run_prints_a_compile_notice(tmp_path):
    rows = [f"{1 if t % 2 else -1} {t % 7 + 1}:0.5 9:{t % 5}.25" for t in range(100)]
    source = tmp_path / "rows.svm"
    source.write_text("\n".join(rows) + "\n")
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def heard():
        asked = [sys.executable, "-m", "novikoff", "run", "perceptron", str(source)]
        done = subprocess.run(asked, env=where, capture_output=True, text=True, timeout=300, check=True)
        return done.stdout, done.stderr

    (first, said), (second, silent) = heard(), heard()
    assert said.splitlines().count("novikoff: compiling (first run only)") == 1
    assert "compiling" not in silent
    assert first.splitlines()[2:] == second.splitlines()[2:]
