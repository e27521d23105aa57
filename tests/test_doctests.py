"""Examples in docstrings print what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

import novikoff
from novikoff.core import registry

ROOT = Path(novikoff.__file__).parent
MODULES = sorted(
    ".".join(["novikoff", *path.relative_to(ROOT).with_suffix("").parts])
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_doctests_of_a_module_pass(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    registered = {room: dict(found) for room, found in registry._registered.items()}
    monkeypatch.setattr(registry, "_registered", registered)  # an example may register a name
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
