from __future__ import annotations

import bz2
import csv
import gzip
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import novikoff as nk
import samples
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data.reader import read
from novikoff.data.tables.column import is_missing
from novikoff.data.tables.table_formats import CSV
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.play import play

FILES = {"csv": (b"a,b,c,y\n" + samples.lines(lambda x, y: ",".join(map(str, [*x, y]))), {"chunk": 200})}
"""Sample for tests/data/test_every_stream.py."""

FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def all_of(stream):
    batches = list(stream.batches())
    assert [batch.first for batch in batches] == np.cumsum([1, *(len(b) for b in batches)])[:-1].tolist()
    return np.concatenate([b.x for b in batches]), np.concatenate([b.y for b in batches])


def fails(said, path, **options):
    """Reading must fail, and the message must name the file and say this."""
    with pytest.raises(SourceError) as caught:
        list(CSV(path, **options).batches())
    message = str(caught.value)
    assert str(path) in message
    assert said in message.replace(str(path), "FILE")
    return message


# what is read


def test_a_table_with_a_header_is_a_stream(write):
    path = write("length,width,kind\n1.5,2,ham\n-3e2,.5,spam\n")
    stream = CSV(path)
    x, y = all_of(stream)
    assert stream.name == str(path)
    assert stream.features == ("length", "width")
    assert stream.labels == Labels("ham", "spam")
    assert stream.domain == Domain("vector", 2)
    assert stream.rereadable
    assert stream.rows is None
    assert x.dtype == np.float64
    assert x.flags.c_contiguous
    assert x.tolist() == [[1.5, 2.0], [-300.0, 0.5]]
    assert y.dtype == np.int8
    assert y.tolist() == [-1, 1]


def test_integers_are_points_up_to_the_last_of_int64(write):
    stream = CSV(write(f"{2**63 - 1},{-(2**63)},0\n{2**53 + 1},7,1\n"))
    x, y = all_of(stream)
    assert stream.domain == Domain("point", 2)
    assert stream.features is None
    assert x.dtype == np.int64
    assert x.tolist() == [[2**63 - 1, -(2**63)], [2**53 + 1, 7]]
    assert y.tolist() == [-1, 1]


@pytest.mark.parametrize("cell", ["1.0", "1e3", str(2**63), "+1"])
def test_one_cell_that_is_not_written_as_an_integer_makes_all_of_them_real(write, cell):
    stream = CSV(write("1,0\n" * 5 + f"{cell},1\n"), chunk=4)
    x, _ = all_of(stream)
    assert stream.domain == Domain("vector", 1)
    assert x[:, 0].tolist() == [1.0] * 5 + [float(cell)]


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [
        "a,b,l\n1,2,u\n3,4,v\n",
        "a,b,l\n1,2,u\n3,4,v",
        "a,b,l\r\n1,2,u\r\n3,4,v\r\n",
        "a,b,l\r1,2,u\r3,4,v\r",
        "\n\na,b,l\n\n1,2,u\n\n\n3,4,v\n\n",
        "\r\n\r\na,b,l\r\n\r\n1,2,u\r\n3,4,v\r\n\r\n",
        'a,"b",l\n"1",2,"u"\n3,"4",v\n',
        "a\tb\tl\n1\t2\tu\n3\t4\tv\n",
        "a;b;l\n1;2;u\n3;4;v\n",
        " a , b , l \n 1 , 2 , u \n 3 , 4 , v \n",
        "\ufeffa,b,l\n1,2,u\n3,4,v\n",
        '"a","b","l"\r\n"1","2","u"\r\n"3","4","v"',
    ],
)
def test_line_ends_blank_lines_quotes_delimiters_and_blocks_make_no_difference(write, text, block):
    stream = CSV(write(text), chunk=block)
    x, y = all_of(stream)
    assert stream.features == ("a", "b")
    assert stream.labels == Labels("u", "v")
    assert x.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == [-1, 1]


def test_a_header_may_span_lines_and_a_label_may_hold_the_delimiter(write):
    stream = CSV(write('"length\nin cm",kind\n1,"a ""b"", c"\n2,d\n'))
    assert stream.features == ("length\nin cm",)
    assert stream.labels == Labels('a "b", c', "d")
    assert all_of(stream)[0].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("pack", "suffix"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lambda data: zstd(data), ".zst")]
)
def test_packed_files_are_unpacked(write, pack, suffix):
    text = "a,l\n" + "".join(f"{i},{i % 2}\n" for i in range(1000))
    stream = read(write(pack(text.encode()), f"mail.csv{suffix}"), chunk=64)
    x, y = all_of(stream)
    assert x[:, 0].tolist() == list(range(1000))
    assert y.tolist() == [-1, 1] * 500


def zstd(data):
    import pyarrow as pa

    return pa.Codec("zstd").compress(data, asbytes=True)


@FRESH
@given(data=st.data(), width=st.integers(1, 4), block=st.integers(1, 300), header=st.booleans())
def test_real_numbers_come_back_bit_for_bit_for_any_block(tmp_path, data, width, block, header):
    row = st.tuples(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=width, max_size=width))
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(rows), max_size=len(rows)))
    _round_trip(tmp_path, [cells for (cells,) in rows], signs, block, header, np.float64)


@FRESH
@given(data=st.data(), width=st.integers(1, 4), block=st.integers(1, 300), header=st.booleans())
def test_integers_come_back_bit_for_bit_for_any_block(tmp_path, data, width, block, header):
    row = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(rows), max_size=len(rows)))
    _round_trip(tmp_path, rows, signs, block, header, np.int64)


def _round_trip(tmp_path, rows, signs, block, header, dtype):
    path = tmp_path / "table.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        if header:
            writer.writerow([*(f"f{j}" for j in range(len(rows[0]))), "label"])
        writer.writerows([*map(repr, cells), sign] for cells, sign in zip(rows, signs, strict=True))
    stream = CSV(path, chunk=block)
    for _ in range(2):
        x, y = all_of(stream)
        assert x.dtype == dtype
        assert x.tobytes() == np.array(rows, dtype=dtype).tobytes()
        assert y.tolist() == signs
    assert stream.labels == Labels(-1, 1)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)
MEANINGLESS = ("nan", "inf", "infinity", "+nan", "-nan", "+inf", "-inf", "+infinity", "-infinity")


@FRESH
@given(pair=st.lists(texts, min_size=2, max_size=2), block=st.integers(1, 60), delimiter=st.sampled_from(",;\t"))
def test_any_two_texts_are_labels(tmp_path, pair, block, delimiter):
    cells = [text.strip() for text in pair]
    if any(map(is_missing, cells)) or any(cell.lower() in MEANINGLESS for cell in cells) or len(set(cells)) < 2:
        return
    path = tmp_path / "table.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([[1, pair[0]], [2, pair[1]], [3, pair[0]]])
    try:
        stream = CSV(path, chunk=block, delimiter=delimiter, header=False)
    except SourceError as error:  # 1 and 1.0 are the same label
        assert "every row" in str(error)  # noqa: PT017 - most pairs do not raise
        assert float(cells[0]) == float(cells[1])
        return
    _, y = all_of(stream)
    assert y[0] == y[2] == -y[1]


def test_a_row_may_be_longer_than_a_block(write):
    width = 1000
    text = "".join(",".join(map(str, range(i, i + width))) + f",{i % 2}\n" for i in range(4))
    stream = CSV(write(text), chunk=16)
    x, y = all_of(stream)
    assert np.array_equal(x, np.arange(width) + np.arange(4)[:, None])
    assert y.tolist() == [-1, 1, -1, 1]


def test_memory_does_not_grow_with_the_file(write):
    import pyarrow as pa

    def peak(rows):
        text = "".join(f"{i},{i * 0.5},{i % 2}\n" for i in range(rows))
        path = write(text, f"rows{rows}.csv")
        del text
        held = 0
        tracemalloc.start()
        stream = CSV(path, chunk=1 << 16)
        for batch in stream.batches():
            held = max(held, pa.total_allocated_bytes())
            assert len(batch) < 20_000
        _, python = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return python, held

    peak(100)  # imports
    small, small_held = peak(20_000)
    large, large_held = peak(200_000)
    assert large < 2 * small + 200_000
    assert large_held < 2 * small_held + 8_000_000
    assert large < 200_000 * 16  # the table itself would need that much, and more


def test_reading_again_gives_the_same_and_two_passes_may_run_side_by_side(write):
    stream = CSV(write("".join(f"{i},{i % 2}\n" for i in range(500))), chunk=50)
    for one, two in zip(stream.batches(), stream.batches(), strict=True):
        assert one.x.tobytes() == two.x.tobytes()
        assert one.y.tobytes() == two.y.tobytes()
        assert one.first == two.first


def test_a_pass_may_be_left_early(write):
    stream = CSV(write("".join(f"{i},{i % 2}\n" for i in range(500))), chunk=50)
    for _ in range(20):
        next(stream.batches())
    assert len(all_of(stream)[1]) == 500


def test_a_learner_plays_a_file(write):
    path = write("x,above\n" + "".join(f"{i * 37 % 101},{'yes' if i * 37 % 101 >= 60 else 'no'}\n" for i in range(101)))
    ledger = play(ThresholdHalving(100), read(path))
    assert ledger.rounds == 101
    assert ledger.mistakes <= 6
    assert ledger.source == str(path)


scraps = st.text(st.sampled_from(',;\t\n\r"01.-eab ?'), max_size=60).map(str.encode) | st.binary(max_size=40)


# columns


@pytest.mark.parametrize("name", ["label", "target", "LABEL", " target "])
def test_the_label_is_a_column_named_so(write, name):
    stream = CSV(write(f"a,{name},b\n1,0,2\n3,1,4\n"))
    assert stream.features == ("a", "b")
    assert all_of(stream)[0].tolist() == [[1, 2], [3, 4]]
    assert all_of(stream)[1].tolist() == [-1, 1]


def test_label_goes_before_y_and_the_last_column_is_the_label_if_none_is_named_so(write):
    assert CSV(write("x,y,label\n1,5,0\n3,6,1\n")).features == ("x", "y")
    assert CSV(write("a,b,c\n1,5,0\n3,6,1\n")).features == ("a", "b")
    assert CSV(write("1,5,0\n3,6,1\n")).labels == Labels(0, 1)


@pytest.mark.parametrize("label", ["b", 1, -2, "1", "-2"])
def test_the_label_can_be_named_or_numbered(write, label):
    stream = CSV(write("a,b,c\n1,u,0\n3,v,1\n"), label=label)
    assert stream.features == ("a", "c")
    assert stream.labels == Labels("u", "v")


@pytest.mark.parametrize("label", [1, -2, "1", "-2"])
def test_the_label_can_be_numbered_without_a_header(write, label):
    stream = CSV(write("1,u,0\n3,v,1\n"), label=label)
    assert stream.features is None
    assert all_of(stream)[0].tolist() == [[1, 0], [3, 1]]


def test_a_name_that_looks_like_a_number_is_a_name_first(write):
    stream = CSV(write("2,1,0\n5,6,u\n7,8,v\n"), label="0", header=True)
    assert stream.features == ("2", "1")
    assert CSV(write("2019,2020\n5,0\n6,1\n"), label="2020").features == ("2019",)


def test_columns_choose_the_features_and_their_order(write):
    path = write("id,a,text,b,label\nn1,1,some,2,0\nn2,3,words,4,1\n")
    for columns in (["b", "a"], [3, 1], ["3", -4]):
        stream = CSV(path, columns=columns)
        assert stream.features == ("b", "a")
        assert all_of(stream)[0].tolist() == [[2, 1], [4, 3]]
        assert all_of(stream)[1].tolist() == [-1, 1]
    assert CSV(path, columns="a").features == ("a",)


def test_a_column_requested_as_a_feature_is_not_guessed_to_be_the_label(write):
    stream = CSV(write("x,y,above\n1,5,0\n3,6,1\n"), columns=["x", "y"])
    assert stream.features == ("x", "y")
    assert stream.labels == Labels(0, 1)


@pytest.mark.parametrize("block", range(4, 40))
def test_text_that_is_not_utf8_or_spans_lines_is_fine_in_a_column_that_is_not_used(write, block):
    path = write(b'a,text,l\n1,\xff,0\n2,"x\n5,6,7\ny",1\n3,"\n",0\n')
    stream = CSV(path, columns=["a"], chunk=block)
    assert all_of(stream)[0].tolist() == [[1], [2], [3]]


def test_a_column_without_a_name_gets_one(write):
    assert CSV(write("a,,l\n0,1,u\n1,2,v\n")).features == ("a", "x1")


# headers


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b,l\n1,2,u\n3,4,v\n", True),
        ("1,2,u\n3,4,v\n", False),
        ("1,2,l\n3,4,u\n5,6,v\n", None),  # three labels: nothing says that the first line is a header
    ],
)
def test_a_header_is_sniffed_from_a_name_above_a_number(write, text, header):
    path = write(text)
    if header is None:
        message = fails("line", path)
        assert ("third" in message) == text.startswith("1")
    else:
        assert CSV(path).features == (("a", "b") if header else None)
        assert len(all_of(CSV(path))[1]) == 2


def test_ambiguous_first_row_needs_header_option(write):
    path = write("id,2019,l\n1,2,u\n3,4,v\n")
    fails('all names or all numbers: line 1 of FILE has "id" and "2019". Pass header=True', path)
    assert CSV(path, header=True).features == ("id", "2019")
    fails('a numeric column must contain numbers: line 1, column 0 (from 0) of FILE has "id"', path, header=False)


def test_header_option_overrides_sniffing(write):
    assert CSV(write("1,2,0\n3,4,1\n5,6,0\n"), header=True).features == ("1", "2")
    assert len(all_of(CSV(write("1,2,0\n3,4,1\n5,6,0\n"), header=True))[1]) == 2
    message = fails(
        "a numeric column must contain numbers: line 1, column 0 (from 0)", write("a,l\n1,u\n2,v\n"), header=False
    )
    assert "If the line is a header, pass header=True." in message


# delimiters


def test_the_delimiter_is_the_one_that_makes_numbers(write):
    assert CSV(write("a;b, c;l\n1;2;u\n3;4;v\n")).features == ("a", "b, c")
    assert CSV(write("a\tb;c\tl\n1\t2\tu,1;2\n3\t4\tv,1;2\n")).labels == Labels("u,1;2", "v,1;2")
    assert CSV(write("a|l\n1|u\n2|v\n"), delimiter="|").labels == Labels("u", "v")


@pytest.mark.parametrize("delimiter", ["", ",,", "\n", '"', "é"])
def test_a_delimiter_must_be_one_plain_character(write, delimiter):
    with pytest.raises(SourceError, match="a delimiter must be one character"):
        CSV(write("1,2\n"), delimiter=delimiter)


# labels


@pytest.mark.parametrize(
    ("cells", "labels", "signs"),
    [
        (["-1", "+1", "1"], Labels(-1, 1), [-1, 1, 1]),
        (["0", "1", "1.0"], Labels(0, 1), [-1, 1, 1]),
        (["9", "10", "9.0"], Labels(9, 10), [-1, 1, -1]),
        (["0.5", "-2.5", ".5"], Labels(-2.5, 0.5), [1, -1, 1]),
        (["True", "False", " True"], Labels("False", "True"), [1, -1, 1]),
        (["10", "9a", "10"], Labels("10", "9a"), [-1, 1, -1]),
        (["1", "1", "1"], Labels(-1, 1), [1, 1, 1]),
        (["0", "0", "0"], Labels(0, 1), [-1, -1, -1]),
        (["-1", "-1", "-1.0"], Labels(-1, 1), [-1, -1, -1]),
        (["ü", "é", "ü"], Labels("é", "ü"), [1, -1, 1]),
    ],
)
def test_two_values_are_sorted_and_numbers_as_numbers(write, cells, labels, signs):
    path = write("".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    stream = CSV(path, header=False)
    assert all_of(stream)[1].tolist() == signs
    assert stream.labels == labels
    assert type(stream.labels.positive) is type(labels.positive)


@pytest.mark.parametrize(
    ("positive", "labels", "signs"),
    [
        ("ham", Labels('not "ham"', "ham"), [1, -1, -1, -1, 1]),
        ("unsure", Labels('not "unsure"', "unsure"), [-1, -1, -1, 1, -1]),
    ],
)
def test_positive_is_one_value_against_all_others(write, positive, labels, signs):
    stream = CSV(write("1,ham\n2,spam\n3,other\n4,unsure\n5,ham\n"), positive=positive, chunk=6)
    assert stream.labels == labels
    assert all_of(stream)[1].tolist() == signs


@pytest.mark.parametrize("positive", [0, "0", 0.0, "0.0"])
def test_positive_may_be_a_number_or_its_text(write, positive):
    stream = CSV(write("5,0\n6,1\n"), positive=positive)
    assert stream.labels == Labels(1, 0)
    assert all_of(stream)[1].tolist() == [1, -1]


def test_many_labels_are_integers_below_many(write):
    path = write("a,l\n1,0\n2,2.0\n3,1\n")
    stream = CSV(path, multiclass=3, chunk=4)
    _, y = all_of(stream)
    assert stream.labels is None
    assert y.dtype == np.int32
    assert y.tolist() == [0, 2, 1]
    fails('labels must be integers from 0 to 1: line 3, column "l" of FILE has 2', path, multiclass=2)
    fails('line 2, column "l" of FILE has "u"', write("a,l\n1,u\n2,v\n"), multiclass=2)
    fails('line 2, column "l" of FILE has -1', write("a,l\n1,-1\n2,1\n"), multiclass=2)


@pytest.mark.parametrize("multiclass", [0, -1, 2**31 + 1])
def test_there_may_be_as_many_labels_as_int32_can_distinguish(write, multiclass):
    with pytest.raises(SourceError, match=f"labels must be from 1 to 2.31: got multiclass={multiclass}"):
        CSV(write("a,l\n1,0\n2,1\n"), multiclass=multiclass)
    assert all_of(CSV(write(f"a,l\n1,0\n2,{2**31 - 1}\n"), multiclass=2**31))[1].tolist() == [0, 2**31 - 1]


# faults


def test_a_missing_file_and_a_directory_are_errors(tmp_path):
    for opened in (CSV, read):
        with pytest.raises(SourceError, match=r"file not found: .*mail\.csv\. Check the name"):
            opened(tmp_path / "mail.csv")
        with pytest.raises(SourceError, match=r"a source must be a file: .* is a directory"):
            opened(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("text", ["", "\n", "\n\r\n\n", "\ufeff"])
def test_an_empty_file_is_an_error(write, text):
    fails("a source must not be empty: FILE has no rows", write(text))


def test_separator_at_the_end_of_each_line_is_ignored(write):
    stream = nk.read(write("a,b,\n1,x,\n2,y,\n"))
    assert (stream.target_column.name, [column.name for column in stream.encoding.columns]) == ("b", ["a"])


@pytest.mark.parametrize("text", ["a,b,label\n", "\na,b,label", "a,b,label\n\n\n"])
def test_a_header_alone_is_an_error(write, text):
    line = 1 + text.startswith("\n")
    fails(f"a source must not be empty: FILE has a header on line {line} and no rows", write(text))


def test_missing_label_column_error_lists_available_columns(write):
    path = write("a,b,c\n1,2,0\n3,4,1\n")
    fails("the label column must be one of a, b, c: 'kind' is not a column of FILE", path, label="kind")
    fails("the label column must be one of a, b, c: 3 is not a column of FILE", path, label=3)
    fails("the label column must be one of a, b, c: -4 is not a column of FILE", path, label=-4)
    fails("a feature column must be one of a, b, c: 'd' is not a column of FILE", path, columns=["a", "d"])
    path = write("1,2,0\n3,4,1\n")
    fails("the label column must be one of 0 to 2: 3 is not a column of FILE", path, label=3)
    fails("the label column must be one of 0 to 2: 'kind' is not a column", path, label="kind", header=False)


def test_a_column_is_used_once_and_there_must_be_a_feature(write):
    path = write("a,b,l\n1,2,u\n3,4,v\n")
    fails('a column must be used once: column "l" of FILE is used twice', path, label="l", columns=["a", "l"])
    fails('a column must be used once: column "a" of FILE is used twice', path, columns=["a", "b", "a"])
    fails("a table must have a label and a feature: FILE has", write("0\n1\n0\n"))
    fails("a table must have a label and a feature: FILE has", path, columns=[])


FAULTS = [
    ("abc", 'a numeric column must contain numbers: line {line}, column "b" of FILE has "abc"'),
    ("1,5", 'a numeric column must contain numbers: line {line}, column "b" of FILE has "1,5"'),
    ("1_000", 'a numeric column must contain numbers: line {line}, column "b" of FILE has "1_000"'),
    ("1 2", 'a numeric column must contain numbers: line {line}, column "b" of FILE has "1 2"'),
    ("x" * 100, 'column "b" of FILE has "' + "x" * 37 + '..."'),
    ("inf", 'numbers must be finite: line {line}, column "b" of FILE has inf'),
    ("-Infinity", 'numbers must be finite: line {line}, column "b" of FILE has -inf'),
    ("1e400", 'numbers must be finite: line {line}, column "b" of FILE has inf'),
]


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize(("cell", "said"), FAULTS)
@pytest.mark.parametrize("place", [0, 1, 7, 19])
def test_a_feature_that_is_no_number_is_an_error_that_names_its_line_and_column(write, cell, said, place, block):
    rows = [f'{i},"{cell if i == place else i}",{"uv"[i % 2]}' for i in range(20)]
    rows.insert(5, "")  # a blank line counts as a line
    line = place + 2 + (place >= 5)
    message = fails(said.format(line=line), write("a,b,l\n" + "\n".join(rows)), chunk=block)
    assert message.count(". ") >= 1  # it goes on with what to do


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("cell", ["0x10", "0XFF", " 0x0", '"0x1f"', '"0"x1f', "0xFFFFFFFFFFFFFFFF"])
@pytest.mark.parametrize("other", ["2", "2.5"])
def test_a_hexadecimal_number_is_no_number(write, cell, other, block):
    """Pyarrow reads them in columns of whole numbers, the last as -1."""
    shown = cell.replace('"', "").strip()
    path = write(f"a,l\n1,u\n{other},v\n\n{cell},u\n3,u\n")
    fails(f'a numeric column must contain numbers: line 5, column "a" of FILE has "{shown}"', path, chunk=block)


def test_0x_in_a_label_or_a_column_that_is_not_used_is_fine(write):
    stream = CSV(write("a,0x,l\n1,0x1,0x10\n2,0X2,0xff\n"), columns=["a"])
    x, y = all_of(stream)
    assert (x.dtype, x.tolist(), y.tolist()) == (np.int64, [[1], [2]], [-1, 1])


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("w", 'labels must take two values: line 5, column "label" of FILE has a third value, "w"'),
    ],
)
def test_an_invalid_label_is_an_error_that_names_its_line_and_column(write, cell, said, block):
    fails(said, write(f"label,a\nu,1\nv,2\nu,3\n{cell},4\nu,5\n"), chunk=block)


@pytest.mark.parametrize("block", [8, 1 << 20])
@pytest.mark.parametrize(("row", "cells"), [("5", 1), ("5,6", 2), ("5,6,u,7", 4), ("5,6,u,", 4), (" ", 1)])
def test_a_ragged_row_is_an_error_that_names_its_line(write, row, cells, block):
    path = write(f"a,b,l\n1,2,u\n3,4,v\n{row}\n7,8,u\n")
    fails(f"every row must have 3 cells, as the first has: line 4 of FILE has {cells}.", path, chunk=block)


# read


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.CSV", "t.tab", "t.txt", "t.data", "t"])
def test_read_detects_a_table_by_name_or_content(write, name):
    stream = read(write("a\tl\n1\tu\n2\tv\n", name), positive="u")
    assert isinstance(stream, CSV)
    assert stream.labels == Labels("v", "u")
    assert len(all_of(read(str(write("1,u\n2,v\n", name))))[1]) == 2


def test_read_reports_an_empty_file(write):
    with pytest.raises(SourceError, match="a source must not be empty"):
        read(write("", "nothing"))


def test_read_takes_a_path_or_a_name(write):
    with pytest.raises(SourceError, match="a source must be a path or demo:NAME: got list"):
        read([(0, 1)])


def test_a_zero_byte_an_open_quote_and_a_damaged_packed_file_are_errors(write):
    fails("text must be without zero bytes: FILE has some", write(b"a,l\n1,u\n2\0,v\n"))
    fails("Is a quote left open?", write('a,l\n1,u\n2,"v\n3,u\n'))
    fails("FILE is", write(gzip.compress(b"a,l\n" + b"1,u\n2,v\n" * 9000)[:-20]))


def test_one_label_alone_is_an_error_unless_it_is_named(write):
    path = write("a,l\n1,spam\n2,spam\n")
    fails('labels must take two values: up to line 3, column "l" of FILE there is only "spam"', path)
    assert all_of(CSV(path, positive="spam"))[1].tolist() == [1, 1]


def test_repeated_name_is_no_name(write):
    path = write("a,a,l\n1,2,u\n3,4,v\n")
    assert CSV(path).features == ("a", "a (column 1)")
    fails("'a' is the name of several columns of FILE. Choose by number: 0 or 1.", path, label="a")
    assert CSV(path, drop="l", label=0).features == ("a (column 1)",)


def test_repeated_name_is_left_out_twice(write):
    assert CSV(write("a,b,a,l\n1,2,3,u\n4,5,6,v\n"), drop="a").features == ("b",)
    assert CSV(write("a,b,a,l\n1,2,3,u\n4,5,6,v\n"), drop=2).features == ("a", "b")


def test_a_quote_within_a_character_is_no_utf8(write):
    euro = "\u20ac".encode()
    split = b'a,b,l\n1,"x' + euro[:2] + b'"' + euro[2:] + b'",u\n2,y,v\n'
    fails('text must be UTF-8: line 2, column "b" of FILE', write(split), encoding="utf-8")
    latin = b'a,b,l\n1,"' + euro[2:] + b',x",u\n2,y,v\n'
    assert all_of(CSV(write(latin), drop="b"))[0].tolist() == [[1], [2]]


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"])
@pytest.mark.parametrize("chunk", [7, 2**20])
def test_encoding_is_detected(write, code, chunk):
    rows = 300 if chunk == 7 else 5_000
    text = "".join(f"{k},Nîmes {k % 7},Å,{'uv'[k % 2]}\n" for k in range(rows))
    plain = CSV(write("a,town,b,l\n" + text, "plain.csv"), chunk=chunk)
    other = CSV(write(("a,town,b,l\n" + text).encode(code), f"{code}.csv"), chunk=chunk)
    assert next(str(note) for note in other.notes if "is read as" in note).startswith(f"{other.name} is read as ")
    for one, same in zip(plain.batches(), other.batches(), strict=True):
        assert one.y.tolist() == same.y.tolist()
        assert one.x.indices.tolist() == same.x.indices.tolist()
        assert one.x.values.tolist() == same.x.values.tolist()
    assert plain.encoding.places == other.encoding.places


def test_converted_table_resumes_where_it_stopped(write):
    text = "a,town,l\n" + "".join(f"{k},Nîmes {k % 7},{'uv'[k % 2]}\n" for k in range(3_000))
    stream = CSV(write(text.encode("cp1252"), "latin.csv"), chunk=4_000)
    batches = list(stream.batches())
    for batch in batches[:-1:3]:
        if batch.end is not None:
            rest = [y for later in stream.batches(batch.end) for y in later.y.tolist()]
            assert rest == [y for later in batches[batches.index(batch) + 1 :] for y in later.y.tolist()]


def test_damaged_utf8_is_not_read_as_another_encoding(write):
    damaged = "a,l\nMünchen,u\nNîmes,v\n".encode() + b"\xff,v\n"
    fails('text must be UTF-8: line 4, column "a" of FILE', write(damaged))


def test_given_encoding_is_used(write):
    stream = CSV(write("a,label\nПариж,u\nРим,v\n".encode("cp1251")), encoding="cp1251")
    assert stream.describe()[0] == "a: category (Париж, ...)"
    with pytest.raises(SourceError, match="an encoding must be one that Python knows"):
        CSV(write("a,l\n1,u\n"), encoding="klingon")


@pytest.mark.parametrize("above", ["sep=;\n", '"sep=;"\r\n', "# written by hand\n# twice\n", "#\n\n"])
def test_lines_above_the_table_are_skipped(write, above):
    stream = CSV(write(above + "a;b;l\n1;2;u\n3;x;v\n5;6;u\n7;8;u\n"))
    assert stream.reader.names == ["a", "b", "l"]
    lines = above.count("\n")
    fails(f'line {lines + 3}, column "b" of FILE has "x"', write(above + "a;b;l\n1;2;u\n3;x;v\n5;6;u\n7;8;u\n"))
    bare = CSV(write(above + "1;2;0\n3;4;1\n"), header=False)
    assert all_of(bare)[0].tolist() == [[1, 2], [3, 4]]


def test_header_may_begin_with_a_number_sign(write):
    assert CSV(write("# note\n#a,b,l\n1,2,u\n3,4,v\n")).reader.names == ["#a", "b", "l"]


def test_zip_archive_with_one_table_is_read(write, tmp_path):
    def packed(name, **files):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, text in files.items():
                archive.writestr(inside.replace("_", "."), text)
        return tmp_path / name

    text = "a,l\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(3_000))
    path = packed("one.csv.zip", one_csv=text)
    assert all_of(read(path))[0].tolist() == all_of(read(write(text)))[0].tolist()
    with pytest.raises(SourceError, match=r"must contain one file: .* has a.csv, b.csv"):
        read(packed("two.zip", a_csv=text, b_csv=text))
    with zipfile.ZipFile(tmp_path / "sheet.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    with pytest.raises(SourceError, match="is an office document. Save the sheet as CSV"):
        read(tmp_path / "sheet.xlsx")


def test_mixed_date_formats_are_reported_with_two_examples(write):
    fails('when of FILE has "2024-01-02" and "03/04/2024"', write("when,l\n2024-01-02,u\n03/04/2024,v\n"), time="when")
    fails('"Jan 5", which is not a date in a known format', write("when,l\n2024-01-02,u\nJan 5,v\n"), time="when")
    fails('"7", which is not a date in a known format', write("when,l\n7,u\n8,v\n"), time="when")


def test_text_that_is_not_utf8_is_an_error_that_names_its_line_and_column(write):
    text = b"a,l\n" + b"1,u\n2,v\n" * 20 + b"\xff,v\n"
    fails('text must be UTF-8: line 42, column "a" of FILE', write(text), encoding="utf-8")
    fails("text must be UTF-8: line 1, column 1 (from 0) of FILE", write(b"a,\xffl\n1,u\n2,v\n"), encoding="utf-8")


def test_text_that_resembles_a_number_is_an_error(write):
    fails('has "-nan"', write("a,y\n1,1\n-nan,0\n3,1\n4,1\n"))


def test_a_chunk_that_python_reads_again_has_the_cells_it_had(write):
    path = write(b'a,b,c,y\n1,"u\rv",\xe9,1\n NA ,  na  ,\xe9,0\n3,w,x,1\n4,"u\rv",x,1\n')
    stream = CSV(path, drop="c", text="b")
    batches = list(stream.batches())
    assert sum(map(len, batches)) == 4
    assert [len(indices) for batch in batches for indices, _ in batch.x.rows()] == [3, 2, 2, 3]


def test_columns_of_one_name_are_distinguished(write):
    x, _ = all_of(CSV(write("a (column 2),a,a,y\n1,2,3,0\n5,6,7,1\n")))
    assert x.tolist() == [[1, 2, 3], [5, 6, 7]]


def test_a_quote_right_behind_the_byte_order_mark_opens_a_cell_in_chunks_of_any_size(write):
    path = write(b'\xef\xbb\xbf"u\nv",2,0\n"w",4,1\n"w",6,1\n')
    for chunk in (4, 2**20):
        stream = CSV(path, header=False, chunk=chunk)
        assert sum(map(len, stream.batches())) == 3


def test_presence_counts_each_word_of_a_text_column_once(write, tmp_path):
    rows = "mail,age,label\ncall now call now call,3,spam\nsee you at six,4,ham\ncall me,5,ham\n"
    path = write(rows)
    counted, once = (next(CSV(path, text=["mail"], presence=p).batches()).x for p in (False, True))
    assert sorted(counted.values.tolist()) == [1.0] * 6 + [2.0, 3.0, 3.0, 4.0, 5.0]  # ages are 3, 4 and 5
    assert sorted(once.values.tolist()) == [1.0] * 8 + [3.0, 4.0, 5.0]
    assert np.array_equal(counted.indices, once.indices)
    assert read(path, text=["mail"], presence=True).encoding.presence
    ledger = nk.play("perceptron", CSV(path, text=["mail"], presence=True))
    nk.save(ledger, tmp_path / "model.nk")
    saved = nk.load(tmp_path / "model.nk")
    assert saved.encoding.presence  # so new rows are counted in the same way
    new = [{"mail": "see " * n, "age": 3} for n in (1, 50)]
    assert len({saved.why(row).score for row in new}) == 1
    plain = nk.play("perceptron", CSV(path, text=["mail"]))
    assert len({plain.why(row).score for row in new}) == 2
    assert not saved.encoding.agrees(plain.encoding)
