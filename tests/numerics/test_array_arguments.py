"""Arrays of compiled loops are documented where they are used: in the docstring of the function or of its module."""

import ast
import re
from pathlib import Path

import novikoff

PACKAGE = Path(novikoff.__file__).parent
LOOPS = sorted(path for folder in ("numerics", "*/_loops") for path in PACKAGE.glob(f"{folder}/[!_]*.py"))

ARRAYS = re.compile(r"NDArray|\b(Vector|Numbers|Counts|Places|Words|Offsets|Singles|Weights|Indices)\b")
"""Annotations of arrays: NDArray, and the aliases of the modules of loops."""
COMPILED = re.compile(r"compiled|inlined|inner")
"""Decorators of compiled functions (numerics/compiled.py)."""


def aliases():
    """Return the names that modules of loops give to types of arrays."""
    written = "\n".join(path.read_text(encoding="utf-8") for path in LOOPS)
    return set(re.findall(r"^(\w+) = NDArray\[", written, re.MULTILINE))


def undocumented(path):
    """Yield the array arguments of compiled functions that neither the function nor its module describes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    general = ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.FunctionDef) and any(COMPILED.search(ast.unparse(one)) for one in node.decorator_list)
        ):
            continue
        text = f"{general}\n{ast.get_docstring(node) or ''}"
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        arrays = (one.arg for one in given if one.annotation and ARRAYS.search(ast.unparse(one.annotation)))
        for name in arrays:
            if not re.search(rf"(?<![\w.]){name}(?!\w)", text):
                yield f"{path.relative_to(PACKAGE)}: {name} of {node.name}"


def test_array_arguments_of_loops_are_documented():
    assert [found for path in LOOPS for found in undocumented(path)] == []


def test_aliases_of_arrays_are_known():
    assert {name for name in aliases() if not ARRAYS.search(name)} == set()


def test_an_argument_without_description_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    loop = tmp_path / "loop.py"
    loop.write_text('"""Sums of x (rows,)."""\n\n@compiled\ndef add(x: Vector, w: Vector, t: int):\n    """Add."""\n')
    assert list(undocumented(loop)) == ["loop.py: w of add"]
