"""Ugly files: each gives the game of its clean form, or one sentence that says what to do."""

import codecs
import gzip
import io
import json
import zipfile
from datetime import date, timedelta

import pytest

import novikoff as nk
from novikoff.core.errors import NovikoffError

COUNT = 40
NAMES = ["age", "income", "city", "day", "paid"]
ROWS = [
    [20 + 7 * t % 41, 1000.5 + 137 * t % 9000, ["Rome", "Oslo", "Lima"][t * t % 3], date(2024, 1, 5) + timedelta(t),
     "yes" if (t * 7) % 5 < 2 else "no"]
    for t in range(COUNT)
]  # fmt: skip


def text(rows=ROWS, names=NAMES, comma=",", end="\n", last=True):
    lines = [comma.join(map(str, row)) for row in ([names] if names else []) + [list(row) for row in rows]]
    return end.join(lines) + (end if last else "")


def each(column, write):
    """The rows with another spelling of one column."""
    place = NAMES.index(column)
    return [[*row[:place], write(row[place]), *row[place + 1 :]] for row in ROWS]


def quoted(rows):
    return text([[f'"{cell}"' for cell in row] for row in rows], [f'"{name}"' for name in NAMES])


def zipped(name, *more):
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as archive:
        for one in (name, *more):
            archive.writestr(one, text())
    return found.getvalue()


def objects(rows=ROWS):
    return [dict(zip(NAMES, [*row[:3], str(row[3]), row[4]], strict=True)) for row in rows]


def with_line(number, line):
    lines = text().splitlines()
    return "\n".join([*lines[:number], line, *lines[number:]]) + "\n"


SAME = {
    "clean": text(),
    "byte order mark": codecs.BOM_UTF8 + text().encode(),
    "UTF-16 with mark": text().encode("utf-16"),
    "UTF-16 big-endian with mark": codecs.BOM_UTF16_BE + text().encode("utf-16-be"),
    "UTF-16 without mark": text().encode("utf-16-le"),
    "Windows line ends": text(end="\r\n"),
    "old Mac line ends": text(end="\r"),
    "no last line end": text(last=False),
    "blank lines at the end": text() + "\n\n\n",
    "blank lines between": text(end="\n\n"),
    "blank line first": "\n" + text(),
    "semicolons": text(comma=";"),
    "tabs": text(comma="\t"),
    "bars": text(comma="|"),
    "sep=; line": "sep=;\n" + text(comma=";"),
    "sep=, line": "sep=,\r\n" + text(end="\r\n"),
    "comments first": "# a table\n# of customers\n" + text(),
    "spaces after commas": text(comma=", "),
    "spaces around all": text(comma=" , "),
    "spaces around semicolons": text(comma=" ; "),
    "all quoted": quoted(ROWS),
    "text quoted": text(each("city", lambda city: f'"{city}"')),
    "trailing commas": "\n".join(line + "," for line in text().splitlines()) + "\n",
    "trailing semicolons": "\n".join(line + ";" for line in text(comma=";").splitlines()) + "\n",
    "dollars": text(each("income", lambda one: f'"${one:,.2f}"')),
    "euros": text(each("income", lambda one: f"{one:.2f} €")),
    "thousands": text(each("income", lambda one: f'"{one:,.2f}"')),
    "decimal commas": text(each("income", lambda one: f"{one:.1f}".replace(".", ",")), comma=";"),
    "European thousands": text(
        each("income", lambda one: f"{one:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")), comma=";"
    ),
    "Swiss thousands": text(each("income", lambda one: f"{one:,.2f}".replace(",", "'"))),
    "percent": text(each("age", lambda one: f"{one} %")),
    "percent without space": text(each("age", lambda one: f"{one}%")),
    "plus signs": text(each("age", lambda one: f"+{one}")),
    "whole numbers with decimals": text(each("age", lambda one: f"{one}.0")),
    "mixed whole and decimal": text(each("age", lambda one: f"{one}.0" if one % 2 else one)),
    "exponents": text(each("income", lambda one: f"{one:.6e}")),
    "leading zeros": text(each("age", lambda one: f"{one:04d}")),
    "dates with points": text(each("day", lambda one: f"{one:%d.%m.%Y}")),
    "American dates": text(each("day", lambda one: f"{one:%m/%d/%Y}")),
    "dates with names": text(each("day", lambda one: f"{one:%d %b %Y}")),
    "ISO dates with midnight": text(each("day", lambda one: f"{one}")),
    "JSON array": json.dumps(objects()),
    "JSON array over lines": json.dumps(objects(), indent=2),
    "JSON lines": "\n".join(map(json.dumps, objects())),
    "JSON lines with blank lines": "\n\n".join(map(json.dumps, objects())) + "\n",
    "zip of one CSV": zipped("customers.csv"),
    "gzip": gzip.compress(text().encode()),
    "index of pandas": text([[t, *row] for t, row in enumerate(ROWS)], ["", *NAMES]),
    "two columns of one name": text(names=["age", "age", "city", "day", "paid"]),
    "column without a name or a value": text([[*row[:4], "", row[4]] for row in ROWS], [*NAMES[:4], "", "paid"]),
    "row without a label": with_line(3, "44,2000.5,Rome,2024-01-20,"),
}
"""Files that give the game of the clean one."""

REFUSED = {
    "ragged row": (with_line(3, "20,1000"), "line 4"),
    "row too long": (with_line(3, "20,1000.5,Rome,2024-01-08,no,7,8"), "line 4"),
    "header only": (text([]), "no rows"),
    "empty": (b"", "empty"),
    "blank": (b"\n \n\n", "no rows|empty|a label and a feature"),
    "one column": (text([[row[4]] for row in ROWS], ["paid"]), "a label and a feature"),
    "labels all missing": (text(each("paid", lambda one: "")), "label"),
    "one label": (text(each("paid", lambda one: "yes")), "two values"),
    "zip of two": (zipped("a.csv", "b.csv"), "one file"),
    "open quote": (with_line(3, '20,"1000.5,Rome,2024-01-08,no'), "quot"),
    "NUL bytes": (text().encode().replace(b"Rome", b"Ro\0me"), "NUL|zero byte|null"),
    "damaged gzip": (gzip.compress(text().encode())[:60], "compress|damaged|gzip|cut|incomplete"),
    "number and word": (with_line(30, "many,1000.5,Rome,2024-01-08,no"), "many|age"),
}
"""Files that are refused, or read with a note, with words of the sentence."""


def played(path):
    ledger = nk.play("logistic", str(path), record=True)
    return ledger.rounds, ledger.mistakes, ledger.log_loss


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    path = tmp_path_factory.mktemp("clean") / "table.csv"
    path.write_text(text())
    return played(path)


@pytest.mark.parametrize("name", SAME)
def test_ugly_file_gives_the_game_of_its_clean_form(name, clean, tmp_path):
    content = SAME[name]
    path = tmp_path / ("table.csv.gz" if name == "gzip" else "table.csv")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert played(path) == clean


@pytest.mark.parametrize("name", REFUSED)
def test_unreadable_file_is_refused_with_a_sentence(name, tmp_path):
    content, words = REFUSED[name]
    path = tmp_path / ("table.csv.gz" if "gzip" in name else "table.csv")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(NovikoffError, match=words) as caught:
        played(path)
    assert "\n" not in str(caught.value)


TOKENS = ["NA", "NaN", "nan", "None", "null", "NULL", "N/A", "#N/A", "<NA>", "?", "-", ".", "#DIV/0!", "n/a", " "]
"""Ways to write that a number is missing."""


@pytest.mark.parametrize("token", TOKENS)
def test_missing_number_may_be_written_in_many_ways(token, tmp_path):
    found = []
    for cell in ("", token):
        path = tmp_path / "table.csv"
        path.write_text(text([[row[0] if t % 6 else cell, *row[1:]] for t, row in enumerate(ROWS)]))
        found.append(played(path))
    assert found[0] == found[1]


def test_number_that_stands_for_a_missing_one_is_pointed_out(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text([[row[0] if t % 6 else -999, *row[1:]] for t, row in enumerate(ROWS)]))
    assert any("-999" in str(note) for note in nk.read(path).notes)
