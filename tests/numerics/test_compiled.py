"""Compiled loops are cached until a file changes that they depend on."""

import ast
import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numba.core.caching
import numba.extending
import numpy as np
import pytest

import novikoff
from novikoff.numerics.caching import PACKAGE, sources
from novikoff.numerics.compiled import compiled, inlined, inner

WAYS = ("compiled", "inlined", "inner")
CALLER = """
from novikoff.numerics.compiled import compiled
from novikoff.kernel._loops.{way}_middle import doubled

@compiled
def call():
    return doubled()
"""
MIDDLE = """
from novikoff.numerics.compiled import {way}
from novikoff.kernel._loops import {way}_callee
from novikoff.kernel._loops.{way}_layout import (
    SHIFT,
)

@{way}
def doubled():
    return 2 * {way}_callee.value() + SHIFT
"""
CALLEE = """
from novikoff.numerics.compiled import {way}

@{way}
def value():
    return {number}
"""
LAYOUT = "SHIFT = {shift}\n"
PROGRAM = """
from importlib import import_module

for way in ("compiled", "inlined", "inner"):
    call = import_module(f"novikoff.linear._loops.{way}_caller").call
    print(call(), sum(call.stats.cache_hits.values()))
"""

RECORD = """
from typing import NamedTuple

class Pair(NamedTuple):
    first: float
    second: float
"""
TAKER = """
from novikoff.linear._loops.{module} import Pair
from novikoff.numerics.compiled import compiled

@compiled
def total(pair):
    return pair.first + pair.second
"""
TOTAL = """
from novikoff.linear._loops import taker

print(taker.total(taker.Pair(1.0, 2.0)))
"""


def test_loop_is_recompiled_if_a_file_that_it_depends_on_changes(tmp_path):
    source = Path(novikoff.__file__).parent
    copy = shutil.copytree(source, tmp_path / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    where = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def write(folder, file, text, **more):
        for way in WAYS:
            (copy / folder / "_loops" / f"{way}_{file}.py").write_text(text.format(way=way, **more))

    def told():
        asked = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(asked, env=where, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    write("linear", "caller", CALLER)
    write("kernel", "middle", MIDDLE)
    write("kernel", "callee", CALLEE, number=1)
    write("kernel", "layout", LAYOUT, shift=0)
    assert told() == ["2 0"] * 3
    write("kernel", "unrelated", CALLEE, number=1)
    assert told() == ["2 1"] * 3
    write("kernel", "callee", CALLEE, number=22)
    assert told() == ["44 0"] * 3
    write("kernel", "layout", LAYOUT, shift=100)
    assert told() == ["144 0"] * 3
    shutil.copytree(copy, tmp_path / "elsewhere" / "novikoff", copy_function=shutil.copyfile)
    where["PYTHONPATH"] = str(tmp_path / "elsewhere")
    assert told() == ["144 1"] * 3  # another checkout of equal files


def imports(path):
    """The modules of the package that a file imports, by its syntax tree."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_sources_of_a_loop_are_the_files_that_it_imports():
    files = [path for folder in ("numerics", "*/_loops") for path in PACKAGE.glob(f"{folder}/[!_]*.py")]
    modules = {".".join(("novikoff", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in files}
    direct = {path: {modules[name] for name in imports(path) if name in modules} for path in modules.values()}
    for path in direct:
        expected, left = {path}, [path]
        while left:
            new = direct[left.pop()] - expected
            expected |= new
            left += new
        found = {Path(source) for source in sources(str(path))}
        assert {one for one in found if one in direct and one.name != "__init__.py"} == expected, path


def test_cache_with_a_record_of_a_removed_module_is_ignored(tmp_path):
    source = Path(novikoff.__file__).parent
    copy = shutil.copytree(source, tmp_path / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    where = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    where["PYTHONDONTWRITEBYTECODE"] = "1"  # two sources of one size and second have the same stale bytecode
    loops = copy / "linear" / "_loops"
    for module in ("old_record", "new_record"):
        (loops / "old_record.py").unlink(missing_ok=True)
        (loops / f"{module}.py").write_text(RECORD)
        (loops / "taker.py").write_text(TAKER.format(module=module))
        done = subprocess.run([sys.executable, "-c", TOTAL], env=where, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr


@inner
def scaled(x, factor, shift):
    return x * factor + shift


@inlined
def doubled(x):
    return scaled(x, 2.0, 0)


@compiled
def both(x):
    return doubled(x) + scaled(x, 3.0, 1)


def test_an_inner_function_is_compiled_once_for_all_numbers_of_a_kind(tmp_path):
    assert told(tmp_path, "both(1.5), len(scaled.part.signatures)") == "8.5 1"


def test_inner_functions_can_be_called_from_python():
    assert [scaled(1.5, 2.0, 4), doubled(1.5), both(1.5), scaled(2.5, 2.0, 4)] == [7.0, 3.0, 8.5, 9.0]
    assert [twin.py_func(1.5, *more) for twin, more in ((scaled, (2.0, 4)), (doubled, ()))] == [7.0, 3.0]


@pytest.mark.parametrize(
    "calls",
    [
        ("scaled(1.5, 2.0, 4)", "both(1.5)"),
        pytest.param(("both(1.5)", "scaled(1.5, 2.0, 4)"), marks=pytest.mark.slow),
    ],
)
def test_the_cache_does_not_give_a_part_to_python(tmp_path, calls):
    """A part has no way in: to call it would end the process."""
    for call in calls:
        assert told(tmp_path, call) in ("7.0", "8.5")


def told(cache, asked):
    """What a process that has this cache of kernels says."""
    program = f"import sys; sys.path.insert(0, sys.argv[1]); from test_compiled import *; print({asked})"
    command = [sys.executable, "-c", program, os.path.dirname(__file__)]
    where = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(command, env=where, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("part", ["_save_index", "_save_data"])
def test_a_kernel_that_cannot_be_saved_is_used_all_the_same(part, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, part, full)

    @compiled
    def doubled(x):
        return 2 * x

    assert doubled(21) == 42


@pytest.mark.parametrize("way", [compiled, inlined, inner])
def test_without_a_folder_for_the_cache_kernels_are_compiled_all_the_same(way, monkeypatch):
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    assert way(lambda x: 2 * x)(21) == 42


@pytest.fixture
def collector():
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collector_is_paused_while_loops_are_compiled(enabled, collector):
    seen = []

    def type_of_call(x):
        seen.append(gc.isenabled())
        if isinstance(x, numba.types.UnicodeType):
            raise numba.TypingError("no text")
        return lambda x: 2 * x

    def doubled(x):
        raise NotImplementedError

    numba.extending.overload(doubled)(type_of_call)
    nested = compiled(lambda x: doubled(x))
    loop = compiled(lambda x: nested(x) + doubled(x))
    (gc.enable if enabled else gc.disable)()
    assert loop(21) == 84
    assert gc.isenabled() == enabled
    with pytest.raises(numba.TypingError):
        loop("text")
    assert gc.isenabled() == enabled
    assert seen
    assert not any(seen)


class Held(NamedTuple):
    values: np.ndarray


@pytest.mark.skipif(numba.config.BOUNDSCHECK, reason="with bounds checking they are compiled apart")
def test_read_only_arrays_are_passed_to_the_code_for_writable_ones():
    @compiled
    def total(x, held, times):
        return times * (x.sum() + held.values.sum())

    x = np.arange(4.0)
    fixed = x.view()
    fixed.flags.writeable = False
    pairs = [(one, Held(two)) for one in (fixed, x) for two in (fixed, x)]
    assert [total(*pair, 2) for pair in (*pairs, *pairs)] == [24.0] * 8
    assert len(total.signatures) == 1
    assert total(fixed[::2], Held(x), 1) == 8.0  # another layout is other code
    assert len(total.signatures) == 2
