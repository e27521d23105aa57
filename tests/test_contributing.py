"""CONTRIBUTING lists the files to touch for a new learner, theorem, adversary, format or loop, and no others."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import novikoff as nk
from novikoff import adversaries
from novikoff.core.registry import CATALOG
from novikoff.reports.explanation import theorems

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from making import names  # noqa: E402

SOURCES = {path: path.read_text() for path in (ROOT / "src/novikoff").rglob("*.py*") if path.suffix in (".py", ".pyi")}
TABLE = re.findall(r"^\| an? (\w+) \| (.*?) \| (.*?) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
ROWS = {
    what: (re.findall(r"`([\w./]+)`", written), [path for path in re.findall(r"`([\w./]+)`", lines) if "." in path])
    for what, written, lines in TABLE
}
ROOMS = ["learner", "adversary", "format"]
MADE = {"src/novikoff/__init__.pyi", "src/novikoff/adversaries/__init__.py"}
"""Files of the package that `make names` renews."""

COMMON = {"core", "numerics", "data", "comparators"}
"""Packages below all families."""


def entries(room):
    return {name: entry for name, entry in CATALOG.items() if entry.room == room}


def named(name, entry, text):
    """Is it named there, as a user writes it or as it is imported?"""
    return re.search(rf"import {entry.attribute}\b|[\"`]{name}[\"`:]|\"{entry.attribute}\"", text) is not None


def test_table_of_files_lists_every_kind_and_existing_paths():
    assert list(ROWS) == ["learner", "theorem", "adversary", "format", "loop"]
    for written, lines in ROWS.values():
        for path in (*written, *lines):
            path = path.replace("FAMILY", "linear")
            assert (ROOT / path).parent.is_dir(), path
            assert "NAME" in path or (ROOT / path).exists(), path


@pytest.mark.parametrize("room", ROOMS)
def test_every_entry_is_in_its_declared_file(room):
    home = ROWS[room][0][0]
    for name, entry in entries(room).items():
        package, _, file = entry.module.rpartition(".")
        if entry.module == "data.tables.table_formats":  # the formats of tables have one file
            continue
        path = home.replace("FAMILY", package).replace("NAME", file)
        assert f"src/novikoff/{entry.module.replace('.', '/')}.py" == path, name
        assert (ROOT / path).exists()


@pytest.mark.parametrize("room", ROOMS)
def test_each_has_a_line_in_every_file_that_is_listed(room):
    for path in ROWS[room][1]:
        text = (ROOT / path).read_text()
        for name, entry in entries(room).items():
            assert named(name, entry, text), f"{name} is not in {path}"


def test_lists_of_names_are_up_to_date():
    stale = [str(path.relative_to(ROOT)) for path, text in names.renewed().items() if path.read_text() != text]
    assert stale == [], "run make names"


@pytest.mark.parametrize("room", ROOMS)
def test_no_other_file_of_the_package_has_a_line_for_each(room):
    naming = set(SOURCES)  # those that name all entries so far
    for name, entry in entries(room).items():
        own = f"{entry.module.replace('.', '/')}.py"
        naming = {path for path in naming if not str(path).endswith(own) and named(name, entry, SOURCES[path])}
    listed = {path for path in ROWS[room][1] if path.startswith("src/")}
    assert {str(path.relative_to(ROOT)) for path in naming} - MADE == listed


def test_every_learner_format_and_adversary_is_a_public_name():
    for entry in CATALOG.values():
        if entry.room in ("learner", "format"):
            assert getattr(nk, entry.attribute) is entry.load()
        elif entry.room == "adversary":
            assert getattr(adversaries, entry.attribute) is entry.load()
    assert len(adversaries.__all__) == len(entries("adversary"))


def test_every_theorem_is_in_its_declared_file():
    assert ROWS["theorem"][0][0] == "src/novikoff/FAMILY/theorems/NAME.py"
    for name, module in theorems().items():
        assert module.endswith(f".theorems.{name}")
        assert f"def {name}(" in (ROOT / "src" / f"{module.replace('.', '/')}.py").read_text()


def test_no_other_file_of_the_package_has_a_line_for_each_theorem():
    naming = set(SOURCES)
    for name in theorems():
        naming = {path for path in naming if path.stem != name and f'"{name}"' in SOURCES[path]}
    listed = {path for path in ROWS["theorem"][1] if path.startswith("src/")}
    assert {str(path.relative_to(ROOT)) for path in naming} == listed


def test_unlisted_family_imports_only_shared_packages():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {package for layer in contracts[0]["layers"] for package in layer.split(" | ")}
    for path, text in SOURCES.items():
        package = path.relative_to(ROOT / "src" / "novikoff").parts[0]
        for imported in re.findall(r"^\s*(?:from|import) novikoff\.(\w+)", text, re.MULTILINE):
            if package.endswith((".py", ".pyi")) or imported == package:
                continue
            assert package in layered or imported in COMMON, (
                f"{path.relative_to(ROOT)} imports novikoff.{imported}: "
                f"add {package} to the layers of [tool.importlinter] in pyproject.toml"
            )
            assert imported in layered, f"{path.relative_to(ROOT)} imports the family {imported}"


def test_type_checkers_know_the_loops_that_are_called():
    called = {
        (package, name)
        for text in SOURCES.values()
        for package, alias in re.findall(r"^from novikoff\.(\w+) import _loops(?: as (\w+))?$", text, re.MULTILINE)
        for name in re.findall(rf"(?<![\w.]){alias or '_loops'}\.(\w+)\.\w+\(", text)
    }
    assert called
    for package, name in called:
        listed = (ROOT / f"src/novikoff/{package}/_loops/__init__.py").read_text()
        assert f"from novikoff.{package}._loops import {name} as {name}\n" in listed, name
