"""`python -m benchmarks` lists the benchmarks, and rejects unknown names and options before it measures anything."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "benchmarks").glob("*.py"))
NAMES = [file.stem for file in FILES if file.stem not in ("__init__", "__main__", "made", "timing")]


def asked(*arguments):
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_help_has_a_line_for_each():
    done = asked("--help")
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  "))
    assert (done.returncode, done.stderr, list(told)) == (0, "", NAMES)
    assert told["svmlight"].startswith("Reading svmlight text")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["svmligth"], "unknown benchmark: svmligth. Available:\n  adapters "),
        (["--shuffles", "3"], "--shuffles must follow the name of a benchmark"),
        (["svmlight", "--shuffles", "3"], "svmlight takes no options: got --shuffles 3."),
    ],
)
def test_unknown_names_are_refused(arguments, said):
    done = asked(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_imported_names_exist(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("novikoff."):
            try:
                module = importlib.import_module(node.module)
            except ImportError as error:
                if str(error.name).startswith("novikoff"):
                    raise
                pytest.skip(f"an extra is not installed: {error}")
            for name in node.names:
                if not hasattr(module, name.name):
                    importlib.import_module(f"{node.module}.{name.name}")
