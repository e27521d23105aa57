"""Processes share the cache of compiled loops: each loop is compiled by one of them, and no damage outlives a kill."""

import os
import subprocess
import sys

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from novikoff.numerics import caching
from novikoff.numerics.caching import LoopCache, LoopFile
from novikoff.numerics.compiled import compiled

LOOP = """
import os, sys, time
import numba
from novikoff.numerics.compiled import compiled, inner

def slow(x):
    raise NotImplementedError

@numba.extending.overload(slow)
def slow_type(x):
    print("compiling", flush=True)
    time.sleep(float(os.environ["TYPING"]))
    return lambda x: 2 * x

@inner
def part(x):
    return slow(x)

@compiled
def loop(x):
    return part(x) + 1"""


def started(folder, program, typing=0.0):
    where = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "TYPING": str(typing)}
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {program}"]
    return subprocess.Popen(command, env=where, stdout=subprocess.PIPE, text=True)


def output(process):
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    return text.splitlines()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "loops.py").write_text(LOOP)
    return tmp_path


ASKED = "import loops; print(loops.loop(3), sum(loops.loop.stats.cache_misses.values()))"


def test_a_loop_that_two_processes_need_is_compiled_by_one_of_them(folder):
    printed = [output(process) for process in [started(folder, ASKED, 1.5) for _ in range(2)]]
    assert sorted(line for lines in printed for line in lines) == ["7 0", "7 1", "compiling"]


def test_lock_of_a_killed_process_is_released(folder):
    first = started(folder, ASKED, 600.0)
    assert first.stdout.readline() == "compiling\n"
    waiting = started(folder, f"import loops; print('ready', flush=True); {ASKED}")
    assert waiting.stdout.readline() == "ready\n"
    hurry = f"import novikoff.numerics.caching as caching; caching.WAIT = 0.1; {ASKED}"
    assert output(started(folder, hurry)) == ["compiling", "7 1"]  # it does not wait
    first.kill()
    first.communicate()
    assert output(waiting) == ["7 0"]


def test_lock_is_released_after_a_compile_error(watched):
    @compiled
    def half(x):
        return x / 2

    with pytest.raises(numba.TypingError):
        half("text")
    assert half(3.0) == 1.5
    assert {cache._depth for cache in watched} == {0}


def test_loop_that_is_compiled_for_other_types_as_part_of_itself(watched):
    @compiled
    def power(x, n):
        return 1.0 if n == 0 else x * power(1.0 * x, n - 1)

    assert power(2, 3) == 8.0
    assert {cache._depth for cache in watched} <= {0}  # none if it was in the cache


@pytest.fixture
def watched(monkeypatch):
    """The caches of loops that were locked."""
    found, acquire = [], LoopCache._acquire

    def watch(cache):
        found.append(cache)
        acquire(cache)

    monkeypatch.setattr(LoopCache, "_acquire", watch)
    return found


@pytest.mark.parametrize("kind", [LoopFile, pytest.param(IndexDataCacheFile, marks=pytest.mark.xfail(strict=True))])
def test_code_of_an_earlier_version_is_not_loaded_after_a_kill(kind, tmp_path, monkeypatch):
    """numba's own order, index before code, fails."""
    kind(str(tmp_path), "loop", "stamp").save("key", "old")
    for name in ("_save_index", "_save_data"):
        with monkeypatch.context() as patch:
            patch.setattr(kind, name, then_killed(getattr(kind, name)))
            with pytest.raises(Killed):
                kind(str(tmp_path), "loop", "edited").save("key", "new")
        assert kind(str(tmp_path), "loop", "edited").load("key") in (None, "new")


class Killed(BaseException):
    pass


def then_killed(save):
    def call(*given):
        save(*given)
        raise Killed

    return call


def test_folder_without_lock_file_is_not_waited_for(tmp_path):
    (tmp_path / "file").touch()
    assert caching._locked(str(tmp_path / "file" / "folder"), 3)
    caching._unlock(str(tmp_path / "file" / "folder"), 3)
