"""`--task`: the same whole numbers as classes, as numbers and as counts."""

import json

import pytest

from novikoff.cli.main import main


@pytest.fixture
def table(tmp_path):
    rows = [f"{k % 5},{'ab'[k % 2]},{k % 3}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("x,c,y\n" + "\n".join(rows) + "\n")
    return str(tmp_path / "rows.csv")


def test_whole_numbers_are_classes_with_a_note(table, capsys):
    assert main(["run", "logistic", table]) == 0
    assert (
        "3 whole numbers, taken for classes. To predict them as numbers pass --task regress." in capsys.readouterr().err
    )


def test_task_regress_predicts_them_as_numbers(table, capsys):
    assert main(["run", "auto", table, "--task", "regress", "--json"]) == 0
    assert "rmse" in json.dumps(json.loads(capsys.readouterr().out))


def test_counts_must_be_whole_and_not_negative(table, tmp_path, capsys):
    assert main(["run", "vaw", table, "--task", "count", "-q"]) == 0
    (tmp_path / "bad.csv").write_text("x,c,y\n" + "".join(f"{k},a,{k - 1}\n" for k in range(40)))
    assert main(["run", "vaw", str(tmp_path / "bad.csv"), "--task", "count"]) == 2
    assert "counts must be whole numbers from 0: row 1" in capsys.readouterr().err


def test_task_classify_takes_many_numbers_for_classes(tmp_path, capsys):
    (tmp_path / "many.csv").write_text("x,c,y\n" + "".join(f"{k % 4},{'ab'[k % 2]},{k % 30}\n" for k in range(90)))
    assert main(["run", "auto", str(tmp_path / "many.csv"), "--rounds", "30"]) == 0
    assert "--task classify" in capsys.readouterr().err
    assert main(["run", "logistic", str(tmp_path / "many.csv"), "--task", "classify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mistakes"] > 0
