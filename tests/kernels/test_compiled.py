"""Compiled kernels are cached until any kernel changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import novikoff

CALLER = """
from novikoff.kernels.compiled import compiled
from novikoff.kernels.callee import value

@compiled
def call():
    return value()
"""
CALLEE = """
from novikoff.kernels.compiled import compiled

@compiled
def value():
    return {}
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path):
    source = Path(novikoff.__file__).parent
    copy = shutil.copytree(source, tmp_path / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "caller.py").write_text(CALLER)
    where = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    program = "from novikoff.kernels.caller import call; print(call(), sum(call.stats.cache_hits.values()))"

    def told():
        asked = [sys.executable, "-c", program]
        return subprocess.run(asked, env=where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    (copy / "kernels" / "callee.py").write_text(CALLEE.format(1))
    assert told() == ["1", "0"]
    assert told() == ["1", "1"]
    (copy / "kernels" / "callee.py").write_text(CALLEE.format(22))
    assert told() == ["22", "0"]
