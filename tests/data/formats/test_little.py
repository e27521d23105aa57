"""A little text is read by Python, and no kernel is compiled for it: the rows are the same, and so is what is wrong."""

import io
import random

import numpy as np
import pytest

from novikoff.core.errors import SourceError
from novikoff.data._loops import cells
from novikoff.data._loops import svmlight as svmlight_kernel
from novikoff.data._loops import vw as vw_kernel
from novikoff.data.formats import lines
from novikoff.data.formats.svmlight import Svmlight
from novikoff.data.formats.vw import VW
from novikoff.data.tables.read_experts import read_experts

coins = random.Random(5)


@pytest.fixture(autouse=True, scope="module")
def kernels_read_all_text():
    """Not here."""


NUMBERS = [
    "0",
    "1",
    "-1",
    "0.5",
    ".25",
    "7.",
    "-0.0",
    "1e-3",
    "+2",
    "123456789.123456789",
    "0.1",
    "3.14159265358979",
    "1e300",
]


def entries(name):
    return " ".join(f"{name(k)}:{coins.choice(NUMBERS)}" for k in coins.choices(range(1, 40), k=coins.randrange(1, 9)))


def ends(lines):
    return "".join(line + coins.choice(["\n", "\n", "\r\n", "\n\n"]) for line in lines).encode()


SVMLIGHT = ends(f"{coins.choice([1, -1])} {entries(str)}{coins.choice(['', ' # so', ' '])}" for _ in range(300))
WABBIT = ends(
    f"{coins.choice([1, -1])} {coins.choice(['|', '|f', '|g:2'])} {entries('name{}'.format)}" for _ in range(300)
)
TABLE = b"outcome,a,b,c\n" + ends(
    f'{coins.choice("01")},{coins.random():.4f},{coins.choice(["0", "1", " 0.5", ".25", "1e-3"])},"{coins.random()}"'
    for _ in range(300)
)

READERS = {
    "svmlight": (lambda text: Svmlight(io.BytesIO(text)), SVMLIGHT, b"1 2:x\n", svmlight_kernel),
    "vw": (lambda text: VW(io.BytesIO(text)), WABBIT, b"1 | a:x\n", vw_kernel),
    "experts": (lambda text: read_experts(io.BytesIO(text), loss="squared"), TABLE, b"1,0.5,0.5\n", cells),
}
each_format = pytest.mark.parametrize(("reader", "text", "bad", "kernel"), READERS.values(), ids=READERS)


def rows(stream):
    """Every row, and what is wrong in the end."""
    found = []
    try:
        for batch in stream.batches():
            found += [(np.asarray(x).tobytes() if batch.x is not None and isinstance(batch.x, np.ndarray) else
                       (x[0].tobytes(), x[1].tobytes()), y) for x, y in batch.rows()]  # fmt: skip
    except SourceError as error:
        return found, str(error)
    return found, ""


@each_format
def test_python_and_the_kernel_read_the_same_rows(reader, text, bad, kernel, monkeypatch):
    by_python = [rows(reader(text)), rows(reader(text + bad + text))]
    monkeypatch.setattr(lines, "LITTLE", 0)
    by_kernel = [rows(reader(text)), rows(reader(text + bad + text))]
    assert by_python == by_kernel
    assert [len(found) for found, _ in by_python] == [300, 300]
    assert [bool(wrong) for _, wrong in by_python] == [False, True]


@each_format
def test_a_little_text_needs_no_kernel_and_more_of_it_does(reader, text, bad, kernel, monkeypatch):
    monkeypatch.setattr(kernel, "parse", lambda *_: 1 / 0)
    monkeypatch.setattr(kernel, "parse_all", lambda *_: 1 / 0, raising=False)
    stream = reader(text)
    for _ in range(lines.LITTLE // len(text)):  # also in several passes
        assert len(rows(stream)[0]) == 300
    with pytest.raises(ZeroDivisionError):
        rows(stream)
