"""What a column is, from its first cells."""

from datetime import date, datetime

import pytest

from novikoff.data.tables.column import Column, formatted_number, looks_like_id, moment, names_apart, recognise


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3e4"], "number"),
        (["1", "", "NA", "n/a", "NaN", "null", "?", "7"], "number"),
        (["true", "False"], "boolean"),
        (["red", "green", "red"], "category"),
        (["1", "two"], "category"),
        (["1", "2", "two"], "number"),
        (["12,5", "13,1"], "number"),
        (["2024-01-05", "2024-12-31"], "time"),
        (["2024-01-05T10:00:00Z", "2024-01-05T10:00:00+02:00"], "time"),
        (["31.12.2024", "01.01.2025"], "time"),
        (["12/31/2024"], "time"),
        (["2024-13-05"], "category"),
        (["a fine day in the sun", "nothing but rain and clouds", "we went out to sea"], "text"),
        (["the same five words again", "the same five words again"], "category"),
        ([], "unknown"),
        (["", None, "NaN", float("nan")], "unknown"),
        ([1, 2, None], "number"),
        ([1.5, float("nan")], "number"),
        ([True, False], "boolean"),
        ([date(2024, 1, 5)], "time"),
        ([datetime(2024, 1, 5, 12)], "time"),
    ],
)
def test_kind_is_determined_by_nonmissing_cells(cells, kind):
    assert recognise("c", cells).kind == kind


def test_a_date_has_hours_if_one_cell_is_not_at_midnight():
    assert not recognise("c", ["2024-01-05 00:00:00", "2024-01-06 00:00:00"]).timed
    assert recognise("c", ["2024-01-05 00:00:00", "2024-01-06 00:30:00"]).timed
    assert not recognise("c", [datetime(2024, 1, 5)]).timed


def test_days_before_months_are_known_by_a_day_beyond_twelve():
    assert recognise("c", ["01/02/2024", "13/02/2024"]).form == "%d/%m/%Y"
    assert recognise("c", ["01/02/2024", "02/13/2024"]).form == "%m/%d/%Y"


def test_a_zone_is_heeded():
    assert moment("2024-01-05T10:00:00+02:00", "%Y-%m-%dT%H:%M:%S") == moment(
        "2024-01-05T08:00:00Z", "%Y-%m-%dT%H:%M:%S"
    )


def test_an_id_is_different_in_every_row():
    words = [f"w{k}" for k in range(30)]
    assert looks_like_id(Column("order", "category"), words)
    assert not looks_like_id(Column("order", "category"), [*words, "w0"])
    assert looks_like_id(Column("row", "number"), list(map(str, range(5, 35))))
    assert looks_like_id(Column("user_id", "number"), [str(k * k + 1) for k in range(30)])
    assert not looks_like_id(Column("income", "number"), [str(k * k + 1) for k in range(30)])
    assert not looks_like_id(Column("order", "category"), words[:10])


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_names_of_many_columns_are_not_all_compared_with_each_other():
    names = [Counted(f"c{k}") for k in range(2_000)]
    found = names_apart(names)
    assert Counted.compared <= 3 * len(names)
    assert found == names
    assert names_apart(["a", "", "a", "x1", "a"]) == ["a", "x1", "a (column 2)", "x1 (column 3)", "a (column 4)"]


@pytest.mark.parametrize(
    ("cells", "form"),
    [(["$15,506.21", "$7", "-$3.50"], ".$"), (["12,5", "13", "1.234,75"], ","), (["40 %", "7 %", "12.5%"], ".%"),
     (["9 €", "1 200 €", "3 €"], ".€")],
)  # fmt: skip
def test_formatted_numbers_are_numbers(cells, form):
    assert recognise("price", ["", *cells]) == Column("price", "number", form)
    assert formatted_number(Column("price", "number", form), ["", *cells]) == cells[0]


@pytest.mark.parametrize("cells", [["red", "blue", "$5"], ["01.02.2021", "02/03/2021", "x"], ["A1", "B2", "C3"]])
def test_other_cells_are_categories(cells):
    assert recognise("price", cells).kind == "category"


def test_ambiguous_order_of_day_and_month_is_reported():
    assert str(recognise("when", ["01/02/2021", "03/04/2021"])) == "when: date, month first"
    assert str(recognise("when", ["13/02/2021", "03/04/2021"])) == "when: date, day first"
    assert str(recognise("when", ["2021-02-13"])) == "when: date"
