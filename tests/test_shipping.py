"""What a fresh clone needs: make's rules, and the packages that are declared."""

import ast
import json
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


def test_the_version_and_the_dependencies_are_the_same_everywhere():
    import novikoff

    recipe = (ROOT / "recipe/meta.yaml").read_text()
    assert novikoff.__version__ == PROJECT["version"]
    assert f"version: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version = "{PROJECT["version"]}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("  run_constrained:")[0]
    needs = {need.name: need.specifier for need in map(Requirement, re.findall("- (.*)", run))}
    assert needs == {**{need.name: need.specifier for need in DECLARED.values()}, "python": needs["python"]}
    assert str(needs["python"]) == PROJECT["requires-python"]


APART = {
    "fsspec": ("urls", "data"),
    "httptools": ("serve", "server"),
    "matplotlib": ("plot", "reports"),
    "msgspec": ("serve", "server"),
    "onnx": ("onnx", "game"),
    "pandas": ("river", "integrations"),
    "ray": ("ray", "core"),
    "river": ("river", "integrations"),
    "sklearn": ("sklearn", "integrations"),
    "starlette": ("arena", "arena"),
    "uvicorn": ("arena", "arena"),
}
"""Packages that are not dependencies: the extra that installs each, and the package of ours that imports it."""
SERVED = {"starlette", "uvicorn"}
"""Also in the extra `serve`, for `server`."""


def test_every_import_is_a_dependency_or_belongs_to_an_extra():
    known = packages_distributions()
    for path in (ROOT / "src/novikoff").rglob("*.py"):
        room = path.relative_to(ROOT / "src/novikoff").parts[0]
        for name in imported_by(path):
            if name == "_typeshed":  # known to type checkers only
                continue
            if name in APART:
                assert room == APART[name][1] or (name in SERVED and room == "server"), path
            else:
                assert re.sub("[_.]", "-", known[name][0]).lower() in DECLARED, path


def test_extras_list_the_packages_of_their_features():
    extras = {
        name: {Requirement(one).name for one in needs} for name, needs in PROJECT["optional-dependencies"].items()
    }
    for name, (extra, _) in APART.items():
        assert ("scikit-learn" if name == "sklearn" else name) in extras[extra]
    assert extras["serve"] >= SERVED
    (whole,) = map(Requirement, PROJECT["optional-dependencies"]["all"])
    assert whole.extras == {extra for extra, _ in APART.values()} - {"ray"} | {"serve"}


def imported_by(path):
    """Packages of others that the file imports."""
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    return imported - set(sys.stdlib_module_names) - {"novikoff", "novikoff_verify", ""}


ALONE = """
import contextlib, io, json, sys, traceback

sys.modules.update(sklearn=None, matplotlib=None)
found = {}
for name, code in json.loads(sys.argv[1]).items():
    out, error, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            exec(code, {"sys": sys})
        except SystemExit as end:
            status = end.code
        except Exception:
            status = 1
            traceback.print_exc()
    found[name] = [status, out.getvalue(), error.getvalue()]
print(json.dumps(found))
"""
"""One process in which the extras `sklearn` and `plot` seem not to be installed, for all that is tried there."""


def command(*arguments):
    return f"from novikoff.cli.main import main; sys.exit(main({[*map(str, arguments)]!r}))"


COMMANDS = {
    "run": (["run", "demo:breast-cancer", "--json"], '"mistakes": 21'),
    "compare": (["compare", "demo:iris", "-l", "perceptron", "-l", "arow"], "perceptron"),
    "explain": (["explain", "perceptron"], "Algorithm"),
    "list": (["list"], "perceptron"),
}


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory):
    """Status, output and errors of every attempt, and the folder with its files."""
    folder = tmp_path_factory.mktemp("without")
    model = "type('Model', (), {'partial_fit': None, 'predict': None})()"
    attempts = {
        **{name: command(*arguments) for name, (arguments, _) in COMMANDS.items()},
        "report": command("run", "demo:iris", "--report", folder / "report.html"),
        "python": "import novikoff as nk; ledger = nk.play('perceptron', 'demo:digits-even')\n"
        "print(ledger.rounds, len(ledger.certify()) > 0)",
        "png": command("run", "demo:iris", "--plot", folder / "plot.png"),
        "svg": command("run", "demo:iris", "--plot", folder / "plot.svg"),
        "estimators": "import novikoff.integrations.sklearn",
        "wrapped": f"import novikoff as nk; nk.wrap({model})",
    }
    alone = [sys.executable, "-c", ALONE, json.dumps(attempts)]
    done = subprocess.run(alone, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), folder


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_run_without_the_extras(without_extras, name):
    status, out, error = without_extras[0][name]
    assert status == 0, error
    assert COMMANDS[name][1] in out


def test_a_report_is_written_without_the_extras(without_extras):
    found, folder = without_extras
    assert found["report"][0] == 0
    assert "<svg" in (folder / "report.html").read_text()


def test_python_plays_without_the_extras(without_extras):
    assert without_extras[0]["python"] == [0, "1797 True\n", ""]


def test_missing_extra_is_named(without_extras):
    found, _ = without_extras
    status, _, error = found["png"]
    assert status == 2
    assert "a PNG file needs matplotlib, which is not installed" in error
    assert 'pip install "novikoff[plot]", or write an .svg file.\n' in error
    assert found["svg"][0] == 0
    for name in ("estimators", "wrapped"):
        assert 'needs scikit-learn: pip install "novikoff[sklearn]".' in found[name][2]


def test_numba_is_one_that_was_tested():
    """A place of its own is set for the stamp of the cache, and test_compiled.py shows that it works."""
    need = DECLARED["numba"]
    assert any(bound.operator == "<" for bound in need.specifier)
    assert version("numba") in need.specifier
    assert version("llvmlite") in DECLARED["llvmlite"].specifier
