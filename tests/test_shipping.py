"""What a fresh clone needs: make's rules, and the packages that are declared."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED = {need.name: need for need in map(Requirement, PROJECT["dependencies"])}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("target", "runs"),
    [
        ("demo", ".venv/bin/novikoff demo"),
        ("test", ".venv/bin/python -m pytest -n auto"),
        ("check", ".venv/bin/lint-imports"),
        ("bench", ".venv/bin/python -m benchmarks"),
    ],
)
def test_make_installs_before_it_runs_on_a_fresh_clone(tmp_path, target, runs):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    # As typed at a prompt: what an outer make hands down would make this one name its folders.
    alone = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    make = ["make", "-n", target]
    done = subprocess.run(make, cwd=tmp_path, env=alone, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert done.stderr == ""
    assert told[0].endswith("-m venv .venv")
    assert any("--editable" in line for line in told)
    assert told[-1] == runs


def test_every_package_that_is_imported_is_declared():
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    others = imported - set(sys.stdlib_module_names) - {"novikoff", ""}
    known = packages_distributions()
    assert {re.sub("[_.]", "-", known[name][0]).lower() for name in others} <= set(DECLARED)


def test_numba_is_one_that_was_tested():
    """A place of its own is set for the stamp of the cache, and test_compiled.py shows that it works."""
    need = DECLARED["numba"]
    assert any(bound.operator == "<" for bound in need.specifier)
    assert version("numba") in need.specifier
    assert version("llvmlite") in DECLARED["llvmlite"].specifier
