"""Chunks that kernels read, against the same left to pyarrow and Python: the same rows to the bit, the same errors."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers import tries
from novikoff.core.errors import NovikoffError
from novikoff.core.types import Sparse
from novikoff.data.formats import lines
from novikoff.data.layout import runs
from novikoff.data.tables.csv_reader import Delimited, PlainCells
from novikoff.data.tables.table import Table

WHOLE = st.one_of(
    st.integers(-999, 999).map(str),
    st.sampled_from(["", "-0", "007", "+5", " 5", "1.0", "9007199254740993", "-", "123456789012345", "9" * 16, "0x1f"]),
)
NUMBERS = st.one_of(
    st.floats(-1e9, 1e9).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["", "NA", "nan", "-nan", "?", "null", " 7 ", "-0.0", "5.", ".5", "1e400", "inf", "1_0", "\t"]),
)
WORDS = st.one_of(
    st.sampled_from(["Rome", "Oslo", "Lima", "", "NA", " Rome", "ångström", "abcdefgh", "abcdefghi", "abcdefgh\0"]),
    st.text(st.sampled_from("ab é€"), max_size=20),
)
DAYS = st.sampled_from(["2024-01-01", "2024-02-29", "1969-12-31", "2024-1-1", "", "never"])
LABELS = st.sampled_from(["no", "yes", "no", "yes", "no", "yes", "", "maybe"])
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\r"])
TAIL = st.lists(st.tuples(WHOLE, NUMBERS, WORDS, DAYS, LABELS, ENDS), max_size=8)
FIRST = "2,0.5,Rome,2024-03-01,no\n3,1.5,Oslo,2024-03-02,yes\n" * 5


def outcome(content, little, kept, chosen, **options):
    """All that a table gives, up to what is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LITTLE", 2**30 if little else 0)
        told = []
        try:
            table = Table(Delimited(io.BytesIO(content), **options), columns=kept, **chosen)
            for batch in table.batches():
                x = [batch.x.indptr, batch.x.indices, batch.x.values] if isinstance(batch.x, Sparse) else [batch.x]
                parts = [part + 0 if part.dtype.kind == "f" else part for part in [*x, batch.y]]  # -0 is 0
                told += [(part.dtype, part.shape, part.tobytes()) for part in parts] + [batch.first, batch.end]
            told += [table.features, table.encoding.state(), table.skipped]
        except NovikoffError as error:
            told.append(str(error))
        return told


@given(
    TAIL, st.sampled_from([None, ["n"], ["n", "x"], ["n", "city"]]), st.sampled_from([64, 400, 10**6]), st.booleans()
)
@example([("1", "0.5", "\xff", "2024-01-01", "no", "\n")], None, 64, False)
@example([("-0", "", "Rome", "2024-01-01", "no", "\n"), ("", "", "Rome", "", "no", "\n")], ["n", "x"], 10**6, False)
@example([("1.0", "0.5", "Rome", "2024-01-01", "no", "\n")], ["n"], 10**6, False)
@example([("9007199254740993", "0.5", "Rome", "2024-01-01", "no", "\n")], ["n"], 10**6, False)
@example([("1", "", "Rome", "2024-01-01", "no", "\n")], ["n", "city"], 10**6, True)
@settings(max_examples=tries(60), deadline=None)
def test_compiled_readers_agree_with_pyarrow_and_python(tail, kept, chunk, skip):
    chosen = {"label": "x", "outcomes": "numbers"} if kept == ["n", "city"] else {}
    rows = "".join(",".join(row[:-1]) + row[-1] for row in tail)
    content = b"n,x,city,day,label\n" + (FIRST + rows).encode("latin-1" if "\xff" in rows else "utf-8")
    options = {"chunk": chunk, "threads": 1, "skip_bad": 2 if skip else 0}
    assert outcome(content, False, kept, chosen, **options) == outcome(content, True, kept, chosen, **options)


def test_loops_number_colliding_values_and_distinguish_long_ones():
    draw = np.random.default_rng(3)
    words = ["w" * int(length) + str(k) for k, length in enumerate(draw.integers(0, 40, 3000))]
    cells = [words[k] for k in draw.integers(0, len(words), 20_000)]
    text = "".join(f"{word},{k % 7}.5\n" for k, word in enumerate(cells)).encode()
    plain = PlainCells(["w", "x"], ",", {"w": "category", "x": "number"}, set())
    rows, arrays = plain.arrays(bytearray(text + bytes(80)), len(text))
    assert rows == 20_000
    assert arrays["w"].to_pylist() == cells
    assert arrays["w"].dictionary.to_pylist() == list(dict.fromkeys(cells))
    assert arrays["x"].to_pylist() == [k % 7 + 0.5 for k in range(20_000)]


@pytest.mark.parametrize("text", ['1,"a"\n', "1,a\rb\n", "1,\0\n", "\ufeff1,a\n", "1,a,b\n", "1\n", "one,a\n"])
def test_irregular_chunk_goes_to_the_general_reader(text, monkeypatch):
    monkeypatch.setattr(lines, "LITTLE", 0)
    plain = PlainCells(["x", "w"], ",", {"x": "number", "w": "category"}, set())
    good, bad = b"2,b\r\n3,c\n", text.encode()
    assert plain.arrays(bytearray(good + bytes(80)), len(good)) is not None
    assert plain.arrays(bytearray(bad + good + bytes(80)), len(bad + good)) is None


def test_runs_are_columns_that_follow_each_other():
    assert runs([0, 1, 2, 5, 7, 8]).tolist() == [[0, 3], [5, 1], [7, 2]]
    assert runs([]).shape == (0, 2)
    assert runs([3, 2]).tolist() == [[3, 1], [2, 1]]
