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
        ("docs", "NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet"),
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
    assert [line for line in told if not line.startswith("echo ")][-1] == runs


EXTRAS = {
    "arena": {"starlette", "uvicorn"},
    "serve": {"starlette", "uvicorn", "httptools", "uvloop", "msgspec"},
}
"""Packages that an extra brings, and nothing else needs."""
FOLDERS = {"": "", "arena": "arena", "serve": "server"}
"""The package of ours that uses an extra."""


def test_every_package_that_is_imported_is_declared():
    extras = PROJECT["optional-dependencies"]
    assert all({re.split("[<>=]", one)[0] for one in extras[name]} == needed for name, needed in EXTRAS.items())
    apart = {
        "": {"ray", "fsspec", "river"},
        **EXTRAS,
    }  # imported where they are used
    assert {*extras["ray"], *extras["urls"], *extras["river"]} == {"ray>=2.30", "fsspec>=2023.1", "river>=0.21"}
    for room, needed in apart.items():
        apart_from = [] if room else [FOLDERS[extra] for extra in EXTRAS]
        others = imported_by(ROOT / "src" / "novikoff" / FOLDERS[room], apart_from) - needed
        known = packages_distributions()
        assert {re.sub("[_.]", "-", known[name][0]).lower() for name in others} <= set(DECLARED)


def imported_by(folder, apart):
    """Packages of others that files in the folder import, but for those in rooms apart."""
    imported = set()
    for path in folder.rglob("*.py"):
        if any(folder / room in path.parents for room in apart):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    return imported - set(sys.stdlib_module_names) - {"novikoff", ""}


def test_numba_is_one_that_was_tested():
    """A place of its own is set for the stamp of the cache, and test_compiled.py shows that it works."""
    need = DECLARED["numba"]
    assert any(bound.operator == "<" for bound in need.specifier)
    assert version("numba") in need.specifier
    assert version("llvmlite") in DECLARED["llvmlite"].specifier
