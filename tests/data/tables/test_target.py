"""The column that is predicted: the last one unless a name is unmistakable, and always named with how it was chosen."""

import io
import json

import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff


@pytest.mark.parametrize(
    ("names", "target", "chosen"),
    [
        (["age", "class", "fare", "survived"], "survived", "last column"),
        (["carat", "x", "y", "z"], "z", "last column"),
        (["age", "survived", "y"], "y", "last column"),
        (["age", "survived", "class"], "class", "last column"),
        (["class", "age", "fare"], "class", "first column, by its name"),
        (["y", "x1", "x2"], "y", "first column, by its name"),
        (["class", "age", "y"], "y", "last column"),
        (["age", "target", "fare"], "target", "by its name"),
        (["Label", "age", "fare"], "Label", "by its name"),
        (["target", "age", "label"], "label", "by its name"),
    ],
)
def test_target_is_the_last_column_unless_its_name_is_unmistakable(names, target, chosen):
    rows = [[k % 5, (3 * k) % 7, k % 2, (k // 2) % 2][: len(names)] for k in range(40)]
    frame = pd.DataFrame(rows, columns=names)
    lines = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows).encode()
    for source in (
        nk.Frame(frame), nk.CSV(io.BytesIO(frame.to_csv(index=False).encode())), nk.JSONL(io.BytesIO(lines)),
    ):  # fmt: skip
        assert source.target_column == (target, chosen)


def test_class_behind_row_names_is_not_in_first_place():
    text = b'"","class","age","survived"\n' + b"".join(b'"%d",%d,%d,%d\n' % (k, k % 3, k % 7, k % 2) for k in range(30))
    assert nk.CSV(io.BytesIO(text)).target_column == ("survived", "last column")


def test_nested_objects_choose_as_tables_do():
    rows = [{"words": {"a": 1, "b": k}, "class": k % 3, "found": k % 2} for k in range(20)]
    stream = nk.JSONL(io.BytesIO("\n".join(map(json.dumps, rows)).encode()))
    assert nk.play("auto", stream).target == ("found", "last column")


@pytest.fixture
def folder(tmp_path):
    rows = "".join(f"{k % 3},{k % 7},{'yes' if k % 2 else 'no'}\n" for k in range(60))
    (tmp_path / "people.csv").write_text("age,class,survived\n" + rows)
    return tmp_path


def test_every_output_names_the_target_first(folder):
    code, out, _ = novikoff("run", "perceptron", "people.csv", "--report", "r.html", "--save", "m.nk", cwd=folder)
    assert code == 0
    assert "target: survived (last column)" in out.splitlines()[0]
    assert "target: survived (last column)" in (folder / "r.html").read_text()
    assert nk.load(folder / "m.nk").target == ("survived", "last column")
    _, out, _ = novikoff("run", "perceptron", "people.csv", "--label", "class", "--positive", "3", "--json", cwd=folder)
    assert json.loads(out)["target"] == {"name": "class", "chosen": "as asked"}
    _, out, _ = novikoff("compare", "people.csv", "-l", "perceptron", cwd=folder)
    assert "target: survived (last column)" in out.splitlines()[0]
    _, out, error = novikoff("predict", "m.nk", "people.csv", cwd=folder)
    assert "target: survived (last column)" in error.splitlines()[0]
    novikoff("convert", "people.csv", "people.arrow", cwd=folder)
    assert nk.read(folder / "people.arrow").target_column == ("survived", "last column")
    assert "target: survived (last column)" in repr(nk.play("perceptron", nk.read(folder / "people.csv")))


def test_model_finds_its_target_in_any_column(folder):
    novikoff("run", "perceptron", "people.csv", "--save", "m.nk", cwd=folder)
    frame = pd.read_csv(folder / "people.csv")
    frame[["survived", "age", "class"]].to_csv(folder / "other.csv", index=False)
    code, out, _ = novikoff("predict", "m.nk", "other.csv", "--json", cwd=folder)
    assert code == 0
    assert json.loads(out)["target"]["name"] == "survived"
