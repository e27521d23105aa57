"""Tables as streams: the same game from every format, labels, errors that say where."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import bits
from novikoff.core.errors import MismatchError, SourceError
from novikoff.data.scaled import Scaled
from novikoff.data.tables.alignment import adopted
from novikoff.data.tables.columnar import ArrowTable, FrameTable
from novikoff.data.tables.csv_reader import Delimited
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.json_rows import Objects
from novikoff.data.tables.table import Table

ROWS = 1_500
WORDS = "free money now call me later today love you meeting at noon win prize claim hello"


@pytest.fixture(scope="module")
def frame():
    """Numbers, two kinds of missing values, a category that appears late, a date, text, an id, a label yes or no."""
    draw = np.random.default_rng(0)
    words = np.array(WORDS.split())
    age, colour = draw.normal(40, 12, ROWS).round(1), draw.choice(["red", "green", "blue"], ROWS)
    colour[1_200:1_210] = "violet"
    messages = [" ".join(draw.choice(words, draw.integers(4, 12))) for _ in range(ROWS)]
    score = (age - 40) / 12 + (colour == "red") + np.array([1.5 * ("free" in m) for m in messages]) - 0.8
    frame = pd.DataFrame(
        {
            "id": np.arange(1, ROWS + 1) + 5_000,
            "age": age,
            "income": draw.lognormal(10, 1, ROWS).round(2),
            "colour": colour,
            "joined": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 700_000, ROWS), unit="min"),
            "message": messages,
            "member": draw.random(ROWS) < 0.5,
            "late": np.nan,
            "bought": np.where(score + draw.normal(0, 0.5, ROWS) > 0, "yes", "no"),
        }
    )
    frame.loc[draw.random(ROWS) < 0.05, "age"] = np.nan
    frame.loc[draw.random(ROWS) < 0.03, "colour"] = None
    frame.loc[1_100:, "late"] = draw.normal(size=ROWS - 1_100)
    return frame


def readers(frame, folder):
    """The frame in every format."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "t.parquet", index=False)
    frame.to_feather(folder / "t.arrow")
    rows = frame.assign(joined=frame["joined"].astype(str)).astype(object).where(frame.notna(), None)
    lines = [json.dumps(row) for row in rows.to_dict("records")]
    (folder / "t.jsonl").write_text("\n".join(lines))
    yield "csv", lambda: Delimited(folder / "t.csv")
    yield "chunks", lambda: Delimited(folder / "t.csv", chunk=3_000)
    yield "tsv", lambda: Delimited(folder / "t.tsv")
    yield "jsonl", lambda: Objects(folder / "t.jsonl", chunk=5_000)
    yield "parquet", lambda: ArrowTable(folder / "t.parquet")
    yield "arrow", lambda: ArrowTable(folder / "t.arrow")
    yield "pandas", lambda: FrameTable(frame)
    yield "pipe", lambda: Delimited(Pipe((folder / "t.csv").read_bytes()))


class Pipe(io.RawIOBase):
    """Bytes that come once, a few at a time."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self._content.read(min(len(buffer), 7_777))
        buffer[: len(piece)] = piece
        return len(piece)


def promised(ledger):
    return [(certificate.theorem, certificate.status, certificate.bound) for certificate in ledger.certify()]


@pytest.mark.parametrize("drop", [["id"], ["id", "message"]], ids=["hashed", "numbered"])
def test_every_format_gives_the_same_game_to_the_bit(frame, tmp_path, drop):
    played = {}
    for name, make in readers(frame, tmp_path):
        learner = Scaled(nk.Perceptron(bias=1.0))
        ledger = nk.play(learner, Table(make(), drop=drop))
        played[name] = (ledger.rounds, ledger.mistakes, learner.within.weights.tobytes(), promised(ledger))
    first = played["csv"]
    assert first[0] == ROWS
    assert first[1] < 0.4 * ROWS
    for name, game in played.items():
        assert game == first, name


def test_columns_are_reported(frame):
    told = Table(FrameTable(frame)).describe()
    kinds = [line.split(": ")[1].split(" (")[0] for line in told]
    assert kinds[:5] == ["number", "number", "number", "category", "date and time"]
    assert kinds[5:] == ["text, word by word", "boolean", "unknown", "label"]


def test_column_name_with_colon_is_reported_with_its_kind():
    frame = pd.DataFrame({"a: b": [0.5, 1.5, 2.5], "y": [0, 1, 0]})
    assert Table(FrameTable(frame)).describe()[0] == "a: b: number (0.5, ...)"


def test_an_id_is_pointed_out(frame):
    assert any("id of frame differs in each of the first " in note for note in Table(FrameTable(frame)).notes)


def test_kinds_can_be_overruled(frame):
    table = Table(FrameTable(frame), category=["id"], text=["colour"], drop=["message"], columns=["id", "colour"])
    assert [column.kind for column in table.columns] == ["category", "text"]


def test_another_order_of_columns_is_matched_by_name(frame):
    table = Table(FrameTable(frame), drop=["id"])
    batch = next(table.batches())
    other = Table(FrameTable(frame[list(reversed(frame.columns))]), label="bought", drop=["id"])
    other.adopt(Encoding.restore(table.encoding.state()))
    again = next(other.batches())
    assert np.array_equal(again.x.indices, batch.x.indices)
    assert np.array_equal(again.x.values, batch.x.values)


def test_a_column_that_is_missing_or_new_is_named(frame):
    encoding = Table(FrameTable(frame), drop=["id"]).encoding
    with pytest.raises(MismatchError, match='has no "age"'):
        Table(FrameTable(frame.drop(columns="age")), drop=["id"]).adopt(encoding)
    with pytest.raises(MismatchError, match='has a new "zip"'):
        Table(FrameTable(frame.assign(zip=1))).adopt(encoding)


def test_a_pass_resumes_where_a_batch_ended(frame, tmp_path):
    for name, make in readers(frame, tmp_path):
        if name not in ("chunks", "jsonl"):
            continue
        table = Table(make(), drop=["id"])
        batches = list(table.batches())
        assert len(batches) > 3
        rest = list(table.batches(batches[2].end))
        for part in (lambda b: b.y, lambda b: b.x.values, lambda b: b.x.indices):
            assert np.array_equal(*(np.concatenate([part(batch) for batch in some]) for some in (rest, batches[3:])))
        assert rest[0].first == batches[3].first


def played(text, learner=None, **options):
    return nk.play(learner or nk.Perceptron(), Table(Delimited(io.BytesIO(text.encode())), **options))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must not be empty"),
        ("a,b,label\n", "no rows"),
        ("a,label\n1,yes\n2,yes\n", 'only "yes"'),
        ("a,label\n1,yes\n2,no\nx,no\n", 'line 4, column "a"'),
        ("a,label\n1,yes\n2,no\ninf,no\n", "must be finite"),
        ("a,label\n1,yes\n2,no\n3,maybe\n", 'a third value, "maybe"'),
        ("a,label\n1,yes\n2,no\n3,no,4\n", "line 4"),
        ('a,label\n1,yes\n2,no\n"3,no\n', "quote left open"),
    ],
)
def test_errors_name_their_location(text, says):
    with pytest.raises(SourceError) as caught:
        played(text)
    assert says in str(caught.value)


def test_rows_before_a_fault_are_played():
    learner = nk.Perceptron()
    with pytest.raises(SourceError, match="line 5"):
        played("a,label\n1,yes\n2,no\n3,no\nx,no\n", learner)
    assert learner.rounds == 3


def test_bad_rows_can_be_skipped():
    reader = Delimited(io.BytesIO(b"a,label\n1,yes\n2,no\nx,no\n3,no,4\n5,yes\n"), skip_bad=2)
    assert nk.play(nk.Perceptron(), Table(reader)).rounds == 3
    assert [line for line, _ in reader.skipped] == [4, 5]


@pytest.mark.parametrize("chunk", [10, 2**20])
def test_rows_without_a_label_are_skipped_and_those_with_a_third_are_errors(chunk):
    rows = [(1, "yes"), (2, "no"), (3, ""), (4, "yes"), (5, "Na"), (6, "no")]
    text = "a,label\n" + "".join(f"{a},{label}\n" for a, label in rows)
    objects = "\n".join(json.dumps({"a": a, "label": label or None}) for a, label in rows)
    for make, content in ((Delimited, text), (Objects, objects)):
        table = Table(make(io.BytesIO(content.encode()), chunk=chunk))
        batches = list(table.batches())
        assert np.concatenate([batch.x for batch in batches])[:, 0].tolist() == [1, 2, 4, 6]
        assert table.notes[-1].endswith("2 rows of a BytesIO without a label skipped.")
        assert [batch.first for batch in batches] == np.cumsum([1, *map(len, batches)])[:-1].tolist()
        for k, batch in enumerate(batches):
            if batch.end is not None:
                rest = [y for later in table.batches(batch.end) for y in later.y.tolist()]
                assert rest == [y for later in batches[k + 1 :] for y in later.y.tolist()]
    third = Table(Delimited(io.BytesIO(text.replace("Na", "maybe").encode()), skip_bad=2, chunk=chunk))
    with pytest.raises(SourceError, match='a third value, "maybe"'):
        list(third.batches())
    numbers = Delimited(io.BytesIO(b"a,y\n1,2.5\n2,\n3,4\n"), chunk=chunk)
    assert np.concatenate([b.y for b in Table(numbers, outcomes="numbers").batches()]).tolist() == [2.5, 4.0]


def test_error_behind_a_skipped_row_names_its_own_line():
    rows = "".join(f"{k},{'yes' if k % 2 else 'no'}\n" for k in range(1200))
    with pytest.raises(SourceError, match="line 1205"):
        list(Table(Delimited(io.BytesIO(f"a,label\n{rows}1,\n2,\n3,yes\n4,maybe\n".encode()))).batches())


def test_row_without_a_label_is_an_error_at_prediction():
    trained = Table(Delimited(io.BytesIO(b"a,label\n1,yes\n2,no\n3,yes\n")))
    new = Table(Delimited(io.BytesIO(b"a,label\n1,yes\n2,\n3,no\n")))
    new.adopt(trained.encoding, learn=False)
    with pytest.raises(SourceError, match='labels must not be missing: line 3, column "label"'):
        list(new.batches())


def test_given_tokens_are_missing_values_also_at_prediction():
    text = b"a,town,label\n1,Rome,yes\n-999,unknown,no\nUnknown,Oslo,yes\n4,Rome,unknown\n5,Rome,no\n"
    plain = b"a,town,label\n1,Rome,yes\n,,no\n,Oslo,yes\n4,Rome,\n5,Rome,no\n"
    marked, same = Table(Delimited(io.BytesIO(text)), missing=["unknown", "-999"]), Table(Delimited(io.BytesIO(plain)))
    left, right = (list(one.batches()) for one in (marked, same))
    assert [b.y.tolist() for b in left] == [b.y.tolist() for b in right]
    assert [b.x.indices.tolist() for b in left] == [b.x.indices.tolist() for b in right]
    assert [b.x.values.tolist() for b in left] == [b.x.values.tolist() for b in right]
    new = Table(Delimited(io.BytesIO(b"a,town,label\n-999,unknown,yes\n2,Rome,no\n")))
    new.adopt(type(marked.encoding).restore(marked.encoding.state()), learn=False)
    assert [b.x.values.tolist() for b in new.batches()] == [[1.0, 1.0, 2.0, 1.0]]


def test_date_format_is_used_before_the_others():
    text = b"when,label\n20240103,yes\n20240104,no\n20240105,yes\n"
    assert Table(Delimited(io.BytesIO(text))).describe()[0] == "when: number (20240103, ...)"
    assert Table(Delimited(io.BytesIO(text)), date_format="%Y%m%d").describe()[0] == "when: date (20240103, ...)"
    european = b"when,label\n01/02/2024,yes\n03/02/2024,no\n"
    (note,) = Table(Delimited(io.BytesIO(european))).notes
    assert 'could be day first. If it is, pass date_format="%d/%m/%Y".' in note
    assert not Table(Delimited(io.BytesIO(european)), date_format="%d/%m/%Y").notes
    for wrong in ("%d/%m", "day", "%Q"):
        with pytest.raises(SourceError, match="a date format must"):
            Table(Delimited(io.BytesIO(text)), date_format=wrong)


def test_number_that_may_mean_missing_is_noted():
    rows = "".join(f"{-999 if k % 9 == 0 else k},{'yes' if k % 2 else 'no'}\n" for k in range(1, 40))
    notes = Table(Delimited(io.BytesIO(f"a,label\n{rows}".encode()))).notes
    assert any("a of a BytesIO is -999 in 4 rows, unlike its other numbers" in note for note in notes)


def test_quoted_cells_may_hold_delimiters_quotes_and_new_lines():
    text = 'a,word,label\n1,"x, ""y""\nz",yes\n2,w,no\n3,"w",yes\n'
    for chunk in (8, 2**20):
        table = Table(Delimited(io.BytesIO(text.encode()), chunk=chunk))
        y = np.concatenate([batch.y for batch in table.batches()])
        assert y.tolist() == [1, -1, 1]
        assert table.encoding.features == ("a", 'word=x, "y"\nz', "word=w")


def test_a_table_of_words_alone_has_a_header():
    table = Table(Delimited(io.BytesIO(b"size,taste,eat\nbig,sweet,yes\nsmall,sour,no\nbig,sour,yes\nbig,sweet,no\n")))
    assert table.label == "eat"
    assert [column.name for column in table.columns] == ["size", "taste"]


def test_a_table_without_a_header_is_matched_by_position():
    table = Table(Delimited(io.BytesIO(b"1,2,yes\n3,4,no\n")))
    assert table.features is None
    assert next(table.batches()).x.tolist() == [[1, 2], [3, 4]]


def test_numbers_to_be_predicted():
    table = Table(Delimited(io.BytesIO(b"a,price\n1,2.5\n3,4\n")), outcomes="numbers")
    assert next(table.batches()).y.tolist() == [2.5, 4.0]


def test_rows_without_labels():
    table = Table(Delimited(io.BytesIO(b"a,b\n1,2\n3,4\n")), labelled=False)
    batch = next(table.batches())
    assert batch.x.tolist() == [[1, 2], [3, 4]]
    assert table.labels is None


def test_hexadecimal_numbers_are_not_numbers():
    with pytest.raises(SourceError, match='"0x10"'):
        played("a,label\n1,yes\n2,no\n0x10,no\n")


def test_values_of_several_types_are_the_same_however_json_is_cut():
    odd = [{"c": c, "y": 0} for c in ("1.50", 2, True, "1_000", 1.5)]
    content = "\n".join(json.dumps(row) for row in [{"c": "x", "y": 1}, *odd] * 3).encode()
    for chunk in (1, 40, 100, 2**20):
        stream = Table(Objects(io.BytesIO(content), chunk=chunk))
        list(stream.batches())
        assert stream.encoding.features == ("c=x", "c=1.50", "c=2", "c=true", "c=1_000", "c=1.5")


def test_text_among_numbers_of_json_must_be_written_as_a_number():
    content = b'{"a": 1, "y": 1}\n' * 1000 + b'{"a": "1_000", "y": 0}\n'
    with pytest.raises(SourceError, match="1_000"):
        list(Table(Objects(io.BytesIO(content))).batches())


def test_columns_are_recognised_across_the_row_groups_of_a_file(tmp_path):
    frame = pd.DataFrame({"a": [None, None, 3.0, 4.0], "y": [0, 1, 0, 1]})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=2)
    assert Table(ArrowTable(tmp_path / "t.parquet")).encoding.state() == Table(FrameTable(frame)).encoding.state()


def test_a_number_that_was_never_missing_may_be_at_prediction():
    learned = nk.play(
        "perceptron", nk.Frame(pd.DataFrame({"a": [1.0, -2.0, 3.0], "b": [2.0, 1.0, -5.0], "y": [1, 0, 1]}))
    )
    shown = nk.Frame(pd.DataFrame({"b": [2.0, np.nan], "a": [np.nan, -2.0]}), labelled=False)
    (batch,) = adopted(shown, learned.encoding, learned.feature_names, learn=False).batches()
    np.testing.assert_allclose(batch.x, [[2 / 3, 2.0], [-2.0, -2 / 3]])  # the means of what was learned from
    assert len(learned.player.predict_many(batch)) == 2
    assert learned.encoding.features == ("a", "b")


def test_half_a_character_in_json_is_an_error_with_its_line():
    with pytest.raises(SourceError, match="line 2"):
        list(
            Table(Objects(io.BytesIO(b'{"a": "x", "y": 0}\n{"a": "\\ud800", "y": 1}\n{"a": "x", "y": 0}\n'))).batches()
        )
    (batch,) = Table(Objects(io.BytesIO(b'{"a": "\\ud83d\\ude00", "y": 0}\n{"a": "x", "y": 1}\n'))).batches()
    assert len(batch) == 2


@pytest.mark.parametrize("spec", ["ftrl", "logistic", "second-order-perceptron", "arow", "arow:diagonal=true"])
def test_a_number_that_is_missing_late_is_the_same_game_however_the_table_is_cut(spec):
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"a": draw.normal(50, 20, 120), "b": draw.normal(size=120)})
    frame["y"] = (frame.a - 50) / 20 + frame.b > 0
    frame.loc[100::3, "a"] = np.nan
    content = frame.to_csv(index=False).encode()
    whole = nk.play(spec, nk.CSV(io.BytesIO(content)))
    cut = nk.play(spec, nk.CSV(io.BytesIO(content), chunk=200))
    assert whole.curve == cut.curve
    assert bits(whole.learner.state()) == bits(cut.learner.state())
    assert [c.bound for c in whole.certify()] == [c.bound for c in cut.certify()]


def test_numbers_as_people_write_them_are_pointed_out_and_not_as_an_id(frame):
    frame["income"] = [f"${income:,.2f}" for income in frame.income]
    told = [note for note in Table(FrameTable(frame)).notes if note.startswith("income")]
    assert len(told) == 1
    assert '"$53,239.22" is read as the number 53239.22' in told[0]
    assert not any(
        note.startswith("income")
        for note in Table(FrameTable(frame), category=["income"], drop=["id"]).notes
        if "numbers" in note
    )


@pytest.mark.filterwarnings("error")
def test_a_lazy_frame_is_played_without_a_warning(frame):
    polars = pytest.importorskip("polars")
    assert nk.play("perceptron", polars.from_pandas(frame.drop(columns="id")).lazy()).rounds == len(frame)


def test_classifier_on_numbers_suggests_regression_learners():
    text = "a,price\n" + "".join(f"{k},{k * 1.5 + 0.25}\n" for k in range(30))
    with pytest.raises(SourceError, match="choose a regression learner, such as auto-regression"):
        list(Table(Delimited(io.BytesIO(text.encode()))).batches())
