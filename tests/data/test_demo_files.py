"""Demo tables as files: the same on every machine, readable as tables of practice are, and never over other files."""

import csv
import hashlib

import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError
from novikoff.data.demo_files import MAILS, NEW, files, write


def test_mails_are_the_same_on_every_machine():
    text, _ = files()["mail.csv"]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4e51ef7389da62d3"


def test_new_mails_follow_and_have_no_label():
    found = {name: list(csv.DictReader(text.splitlines())) for name, (text, _) in files().items()}
    assert [int(row["id"]) for row in found["mail.csv"]] == list(range(1, MAILS + 1))
    assert [int(row["id"]) for row in found["new.csv"]] == list(range(MAILS + 1, MAILS + NEW + 1))
    assert "label" not in found["new.csv"][0]
    assert {row["label"] for row in found["mail.csv"]} == {"spam", "ham"}
    assert any(row["length"] == "" for row in found["mail.csv"])
    assert len(found["tumours.csv"]) == 569
    assert {row["species"] for row in found["flowers.csv"]} == {"setosa", "versicolor", "virginica"}


def test_tumours_are_those_of_the_demo(tmp_path):
    write(tmp_path)
    from_file = nk.play("perceptron", str(tmp_path / "tumours.csv"), positive="malignant")
    assert from_file.mistakes == nk.play("perceptron", "demo:breast-cancer").mistakes


def test_columns_are_read_as_numbers_categories_dates_and_text(tmp_path):
    write(tmp_path)
    source = nk.read(str(tmp_path / "mail.csv"), drop=["id"])
    kinds = {column.name: column.kind for column in source.columns}
    assert kinds["subject"] == "text"
    assert (kinds["date"], kinds["sender"], kinds["links"]) == ("time", "category", "number")


def test_other_files_are_kept(tmp_path, capsys):
    assert main(["demo", "--write", str(tmp_path / "example")]) == 0
    assert "mail.csv" in capsys.readouterr().out
    assert main(["demo", "--write", str(tmp_path / "example")]) == 0  # the same files
    (tmp_path / "example" / "new.csv").write_text("mine")
    with pytest.raises(InputError, match="other content"):
        write(tmp_path / "example")
    assert (tmp_path / "example" / "new.csv").read_text() == "mine"
