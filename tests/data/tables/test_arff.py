"""ARFF: the rows of the same table in CSV, declared types, sparse rows, quotes, comments, dates and errors."""

import gzip
import io
import re

import numpy as np
import pytest
from tests.mixed_rows import as_csv, bits_of, mixed

import novikoff as nk
from novikoff.core.errors import SourceError

HEADER = """% people
@RELATION people

@attribute age numeric
@attribute 'home city' {Rome, Oslo, 'New York'}  % where
@attribute class {no, yes}
@DATA
"""


def written(rows):
    """Return rows as ARFF: every second row is sparse, with all of its attributes."""
    cities = ", ".join(sorted({row["city"] for row in rows if row["city"]}))
    types = {
        "age": "REAL",
        "city": f"{{{cities}}}",
        "vip": "{True, False}",
        "day": "date yyyy-MM-dd",
        "amount": "numeric",
        "note": "string",
        "outcome": "{no, yes}",
    }
    lines = ["@relation r", *(f"@attribute {name} {types[name]}" for name in rows[0]), "@data"]
    for k, row in enumerate(rows):
        cells = ["?" if one is None else f"'{one}'" if " " in str(one) else str(one) for one in row.values()]
        lines.append("{" + ", ".join(f"{c} {one}" for c, one in enumerate(cells)) + "}" if k % 2 else ",".join(cells))
    return "\n".join(lines).encode()


FILES = {"arff": (written(mixed(40)), {"chunk": 300})}


def opened(text, **options):
    return nk.read(io.BytesIO(text.encode()), **options)


def cells(stream):
    """Return the cells of a table by column."""
    table = stream.reader
    found = {name: [] for name in table.names}
    for piece in table.read(None, dict.fromkeys(table.names, "category")):
        for name, one in piece.arrays.items():
            found[name] += one.to_pylist()
    return found


def games(*streams):
    for stream in streams:
        ledger = nk.play("auto", stream)
        yield ledger.mistakes, ledger.metrics.log_loss, [one.bound for one in ledger.certify()]


@pytest.mark.parametrize("text", [False, True])
def test_arff_matches_csv_to_the_bit(text):
    rows = mixed(text=text)
    arff, csv = nk.read(io.BytesIO(written(rows))), nk.read(io.BytesIO(as_csv(rows)))
    assert arff.notes[0] == "format: arff"
    assert arff.describe() == csv.describe()
    assert bits_of(arff) == bits_of(csv)


def test_game_on_arff_matches_csv():
    rows = mixed(120)
    first, second = games(nk.read(io.BytesIO(written(rows))), nk.read(io.BytesIO(as_csv(rows))))
    assert first == second


def test_quotes_comments_missing_and_separators():
    rows = "31, 'New York',yes % a comment\n% all\n\n?,Oslo,no\n4.5\tRome\tno\n 7 Oslo yes\n'8','R\\'s \\u00e9',no\n"
    found = cells(opened(HEADER + rows))
    assert found == {
        "age": ["31", None, "4.5", "7", "8"],
        "home city": ["New York", "Oslo", "Rome", "Oslo", "R's é"],
        "class": ["yes", "no", "no", "yes", "no"],
    }


def test_sparse_rows_have_zeros_and_first_values():
    header = "@relation r\n@attribute n numeric\n@attribute c {a,b}\n@attribute s string\n@attribute d date\n"
    header += "@attribute class {no,yes}\n@data\n"
    found = cells(opened(header + "{}\n{1 b, 2 'x y', 4 yes}\n{0 ?}\n{ 0 5 ,4 yes }\n"))
    assert found["n"] == ["0", "0", None, "5"]
    assert found["c"] == ["a", "b", "a", "a"]
    assert found["s"] == [None, "x y", None, None]
    assert found["d"] == ["1970-01-01T00:00:00"] * 4
    assert found["class"] == ["no", "yes", "no", "yes"]


def test_declared_types_decide_between_numbers_and_categories():
    header = "@relation r\n@attribute grade {1,2,3}\n@attribute zip string\n@attribute label numeric\n"
    header += "@attribute when date 'dd/MM/yyyy HH:mm'\n@attribute class {0.5,1.5,2.5}\n@data\n"
    stream = opened(header + "1,02139,1,'03/04/2024 10:30',0.5\n2,02140,2,'04/04/2024 10:30',1.5\n3,1,3,?,2.5\n")
    kinds = {name: kind for name, kind, _ in stream.described()}
    assert kinds == {
        "grade": "category",
        "zip": "category",
        "label": "number",
        "when": "date and time",
        "class": "label",
    }
    assert cells(stream)["when"][0] == "2024-04-03T10:30:00"
    assert stream.label == "class"
    assert stream.multiclass
    asked = opened(header + "1,02139,1,'03/04/2024 10:30',0.5\n2,02140,2,'04/04/2024 10:30',1.5\n", number="zip")
    assert {name: kind for name, kind, _ in asked.described()}["zip"] == "number"


def test_last_attribute_is_the_class_whatever_the_names():
    stream = opened("@relation r\n@attribute target numeric\n@attribute z {a,b}\n@data\n1,a\n2,b\n")
    assert stream.label == "z"
    assert (
        opened("@relation r\n@attribute target {a,b}\n@attribute z numeric\n@data\na,1\nb,2\n", label=0).label
        == "target"
    )


def test_more_attributes_than_first_rows(tmp_path):
    names = [f"@attribute a{k} numeric" for k in range(3000)]
    header = "\n".join(["@relation wide", *names, "@attribute class {no,yes}", "@data", ""])
    path = tmp_path / "wide.arff.gz"
    path.write_bytes(gzip.compress((header + "{2 7, 3000 yes}\n{2999 1}\n" * 2).encode()))
    stream = nk.read(path)
    batch = next(stream.batches())
    assert batch.x.shape == (4, 3000)
    assert batch.y.tolist() == [1, -1, 1, -1]
    assert batch.x[0, 2] == 7
    assert np.count_nonzero(batch.x) == 4


def test_resume_inside_a_file(tmp_path):
    path = tmp_path / "t.arff"
    path.write_bytes(written(mixed(200)))
    stream = nk.ARFF(path, chunk=1000)
    whole = [(batch.first, batch.y.tolist(), batch.end) for batch in stream.batches()]
    middle = len(whole) // 2
    assert whole[middle][2] is not None
    rest = [(batch.first, batch.y.tolist(), batch.end) for batch in stream.batches(whole[middle][2])]
    assert rest == whole[middle + 1 :]


def test_rows_without_labels():
    rows = mixed(60)
    ledger = nk.play("logistic", nk.read(io.BytesIO(written(rows))))
    as_arff = nk.read(io.BytesIO(written(rows)), like=ledger)
    as_table = nk.read(io.BytesIO(as_csv(rows)), like=ledger)
    assert ledger.predict_proba(as_arff).tobytes() == ledger.predict_proba(as_table).tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a numeric\n", "must have a line @data"),
        ("@relation r\n@data\n1\n", "must declare attributes"),
        ("@relation r\n@attribute a relational\n@data\n1\n", 'has "relational" for "a"'),
        ("@relation r\nattribute a\n@data\n1\n", "line 2"),
        ("@relation r\n@attribute a numeric\n@attribute c {x\n@data\n1,x\n", r"must end with }"),
        (HEADER, "no rows after @data"),
    ],
)
def test_bad_headers(text, message):
    with pytest.raises(SourceError, match=message):
        opened(text)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,Rome", "3 values, one per attribute.*line 11"),
        ("1,'Rome,yes", "quote must be closed.*line 11"),
        ("{7 1}", "from 0 to 2.*line 11"),
        ("{0 1, 0 2}", "line 11.*0 twice"),
        ("{0 1, 2}", r"\{number value.*line 11"),
        ("1,Rome,yes,{5}", r"weight in braces.*line 11"),
        ("old,Rome,yes", 'has "old".*line 11|line 11.*has "old"'),
    ],
)
def test_bad_rows_are_reported_with_their_line_or_skipped(row, message):
    text = HEADER + "1,Rome,no\n% comment\n2,Oslo,yes\n" + row + "\n3,Rome,no\n"
    with pytest.raises(SourceError) as caught:
        list(opened(text).batches())
    assert re.search(message, str(caught.value)), caught.value
    with pytest.raises(SourceError, match=message):
        list(nk.ARFF(io.BytesIO(text.encode()), chunk=12).batches())
    if "old" not in row:
        stream = opened(text, skip_bad=1)
        assert sum(len(batch) for batch in stream.batches()) == 3
        assert [line for line, _ in stream.skipped] == [11]
