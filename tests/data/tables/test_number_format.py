"""Numbers as people write them."""

import io

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import SourceError
from novikoff.data.tables.column import recognise
from novikoff.data.tables.number_format import formats, parsed, value_of


@pytest.mark.parametrize(
    ("cell", "form", "value"),
    [
        ("$1,234.50", ".$", 1234.5),
        ("-$5", ".$", -5.0),
        ("$-5", ".$", -5.0),
        ("($1,234.50)", ".$", -1234.5),
        ("€ 12", ".€", 12.0),
        ("12 %", ".%", 12.0),
        ("0", ".%", 0.0),
        ("3,5", ",", 3.5),
        ("1.234,50", ",", 1234.5),
        ("1.234.567", ",", 1234567.0),
        ("1,234,567.25", ".", 1234567.25),
        ("12,34,567", ".", 1234567.0),
        ("1'234.5", ".", 1234.5),
        ("1\u00a0234", ".", 1234.0),
        ("1\u202f234,5", ",", 1234.5),
        ("−7", ".", -7.0),
        ("1e3", ".", 1000.0),
        (",5", ",", 0.5),
    ],
)
def test_value_of_formatted_number(cell: str, form: str, value: float) -> None:
    assert value_of(cell, form) == value


@pytest.mark.parametrize(
    ("cell", "form"),
    [("1,23", "."), ("0,123.5", "."), ("1,2345", "."), ("1.5", ",€"), ("$5", ".€"), ("5", ".%"), ("--5", "."),
     ("-$-5", ".$"), ("(-5)", "."), ("$5%", ".$"), ("", "."), ("12 34", "."), ("2024-01-03", "."), ("03.01.2024", ","),
     ("1.2.3", ","), ("(5", "."), ("5)", ".")],
)  # fmt: skip
def test_other_cells_are_not_numbers_of_the_format(cell: str, form: str) -> None:
    assert value_of(cell, form) is None


def test_formats_of_a_column() -> None:
    assert formats(["1,234", "12,345"]) == [".", ","]  # thousands or three decimals
    assert formats(["1,234", "12,5"]) == [","]
    assert formats(["1,234", "12.5"]) == ["."]
    assert formats(["$5", "€5"]) == []  # two units
    assert formats(["5 %", "0.5"]) == []
    assert formats(["5 %", "0"]) == [".%", ",%"]
    assert formats(["1,5", "1.5"]) == []


def table(text: str, **options: object) -> nk.CSV:
    return nk.CSV(io.BytesIO(text.encode()), **options)  # type: ignore[arg-type]


def column(text: str, **options: object) -> list[float]:
    return [float(row[0]) for batch in table(text, **options).batches() for row in np.asarray(batch.x)]


@pytest.mark.parametrize("threads", [1, 2])
def test_formatted_column_equals_plain_column(threads: int) -> None:
    values = [round(37.25 * k - 300, 2) for k in range(50)]
    plain = "a,y\n" + "".join(f"{v},{k % 2}\n" for k, v in enumerate(values))
    expected = column(plain)
    for how in ('"${:,.2f}"', '"{:,.2f}"', "{:.2f} %", "{:.2f} €"):
        written = "a,y\n" + "".join(how.format(v) + f",{k % 2}\n" for k, v in enumerate(values))
        assert column(written, threads=threads) == expected
    german = "a;y\n" + "".join(
        f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + f";{k % 2}\n" for k, v in enumerate(values)
    )
    assert column(german) == expected


def test_columns_that_prove_the_decimal_mark_decide_for_the_others() -> None:
    assert column("a;b;y\n1,234;1,5;0\n2,345;2,5;1\n") == [1.234, 2.345]
    assert column("a;b;y\n1,234;1.5;0\n2,345;2.5;1\n") == [1234.0, 2345.0]
    assert column("a;b;y\n1.234;1,5;0\n2.345;2,5;1\n") == [1234.0, 2345.0]
    assert column("a;y\n1,234;0\n2,345;1\n") == [1234.0, 2345.0]


def test_note_shows_how_a_formatted_number_is_read() -> None:
    (note,) = table("a;b;y\n1,25;3,5;0\n2,25;2,5;1\n").notes
    assert str(note) == 'a, b of a BytesIO: "1,25" is read as the number 1.25. For a category pass category="a".'
    assert table("a;y\n1,25;0\n2,25;1\n", category="a").describe()[0] == "a: category (1,25, ...)"


def test_later_cell_of_another_format_is_an_error() -> None:
    rows = "".join(f'"${k % 900 + 1},000",{k % 2}\n' for k in range(1, 1001))  # more than the rows of detection
    for cell in ("€5", "soon", '"1,5"'):
        with pytest.raises(SourceError, match="with a decimal point: line 1002"):
            column(f"a,y\n{rows}{cell},1\n")


def test_prediction_reads_the_format_of_its_own_table() -> None:
    rows = [(round(1.5 * k, 2), k % 2) for k in range(1, 60)]
    german = "a;y\n" + "".join(f"{str(a).replace('.', ',')};{y}\n" for a, y in rows)
    plain = "a;y\n" + "".join(f"{a};{y}\n" for a, y in rows)
    trained = nk.play("logistic", table(german))
    stream = table(plain)
    stream.adopt(table(german).encoding, learn=False)
    assert [float(x[0]) for batch in stream.batches() for x in np.asarray(batch.x)] == [a for a, _ in rows]
    assert trained.rounds == len(rows)
    few = table("a;y\n1,234;0\n2,345;1\n")  # fits both marks: read as in training
    few.adopt(table(german).encoding, learn=False)
    assert [float(x[0]) for batch in few.batches() for x in np.asarray(batch.x)] == [1.234, 2.345]


def test_formatted_outcomes_are_regression_outcomes() -> None:
    rows = [(k, round(1000.5 + 3 * k, 2)) for k in range(40)]
    written = table("a;price\n" + "".join(f"{a};${y:,.2f}\n" for a, y in rows), outcomes="numbers")
    assert written.numeric
    assert [float(y) for batch in written.batches() for y in batch.y] == [y for _, y in rows]


def test_percentages_of_two_values_stay_labels() -> None:
    stream = table("a;y\n1;50 %\n2;70 %\n3;50 %\n")
    assert not stream.numeric
    assert stream.labels is None or stream.labels.positive == "70 %"


def test_random_numbers_survive_every_format() -> None:
    random = np.random.default_rng(5)
    for value in [round(float(v), 2) for v in random.normal(0, 10.0 ** random.integers(0, 9, 400))]:
        plain = f"{value:.2f}"
        assert parsed(plain, ".") == (float(plain), "")
        assert value_of(f"{value:,.2f}", ".") == value
        assert value_of(f"{value:,.2f}".translate(str.maketrans(",.", ".,")), ",") == value
        assert value_of(f"{value:,.2f}".replace(",", "\u202f") + " €", ".€") == value


def test_dates_and_codes_keep_their_kind() -> None:
    assert recognise("", ["13.01.2024", "14.01.2024"]).kind == "time"
    assert recognise("", ["A1", "B2"]).kind == "category"
    assert recognise("", ["10.0.0.1", "10.0.0.2"]).kind == "category"
    assert recognise("", ["555 123 4567", "555 123 4568"]).kind == "category"
