"""The notebooks print what is stored in them: their cells are run here, without a kernel."""

import ast
import io
import json
import re
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("nothing_else_registered")

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def played(source, scope):
    """What a cell prints, and what it shows: the value of its last line, as a page if it is one."""
    body, out, shown = ast.parse(source).body, io.StringIO(), ""
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(out):
        exec(compile(ast.Module(body, []), "cell", "exec"), scope)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope) if last else None
    if value is not None:
        shown = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
    return out.getvalue(), words(shown)


def words(shown):
    """What is read on a page: neither its markup nor its pictures."""
    return re.sub(r"<[^>]*>", " ", shown).split()


def stored(cell):
    """The same, as it is in the file."""
    printed = "".join("".join(one["text"]) for one in cell["outputs"] if one.get("name") == "stdout")
    results = [one["data"] for one in cell["outputs"] if one["output_type"] == "execute_result"]
    assert all(one["output_type"] in ("stream", "execute_result") for one in cell["outputs"])
    return printed, words("".join("".join(one.get("text/html", one["text/plain"])) for one in results))


def test_three_notebooks_exist():
    assert [path.stem for path in NOTEBOOKS] == ["a-new-learner", "forecasters", "spam"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_reproduces_its_stored_output(path, tmp_path):
    scope = {"__name__": "notebook"}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert any(cell["outputs"] for cell in cells)
    with chdir(tmp_path):
        for number, cell in enumerate(cells, start=1):
            assert played("".join(cell["source"]), scope) == stored(cell), f"cell {number}"
