"""Vowpal Wabbit text: what no other format has. The rest is in test_text_formats.py."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

import novikoff as nk
import samples
from helpers import tries
from novikoff.data._loops import vw as kernel
from novikoff.data.formats import labelled_lines
from novikoff.data.formats.vw import VW, read_line
from novikoff.data.hashing import hashed, murmur
from novikoff.numerics import decimals
from text_formats import VW as FORM
from text_formats import assert_bad_line, slow_hash, values

FILES = {
    "vw": (samples.lines(lambda x, y: f"{y} |f " + " ".join(f"w{i}:{v}" for i, v in enumerate(x))), {"chunk": 200})
}
"""Sample for tests/data/test_every_stream.py."""

BOTH = b"1 | 1:1\n-1 | 1:1\n"

F = hashed(b"f", 0) & (2**18 - 1)


@pytest.mark.parametrize(
    ("line", "indices", "numbers"),
    [
        (b"1 |", [], []),
        (b"1 | ", [], []),
        (b"1 |f", [], []),
        (b"1 |||f|", [], []),
        (b"  1   |  2:3 \t 4:5\t", [2, 4], [3, 5]),
        (b"1 | 0 3:2 12", [0, 3, 12], [1, 2, 1]),
        (b"1 | 9 2 5", [9, 2, 5], [1, 1, 1]),
        (b"1 |f 0 1 2", [F, F + 1, F + 2], [1, 1, 1]),
        (b"1 |f:2 0 1:3|f:-0.5 2:4", [F, F + 1, F + 2], [2, 6, -2]),
        (b"1 |f 0|f 1 | 7", [F, F + 1, 7], [1, 1, 1]),
        (b"1 | :5 :6 1:7 :8", [0, 1, 2], [5, 13, 8]),
        (b"1 |f :5 :6|f :8", [F, F + 1], [13, 6]),
        (b"1 |3 4", [7], [1]),
        (b"1 | 262143 262144 262145", [2**18 - 1, 0, 1], [1, 1, 1]),
        (b"1 | 007", [7], [1]),
        (b"1 | 0000000000000000000012", [12], [1]),
        (b"1 | 12345678901234567890123456789012345678901", [12345678901234567890123456789012345678901 % 2**18], [1]),
        (b"1 'tag | 2", [2], [1]),
        (b"1 'tag| 2", [2], [1]),
        (b"1 tag| 2", [2], [1]),
        (b"1 '| 2", [2], [1]),
        (b"1 1| 2", [2], [1]),
        (b"1 1 | 2", [2], [1]),
        (b"1 1.0 0 | 2", [2], [1]),
        (b"1 100e-2 -0.0 'tag | 2", [2], [1]),
        (b"1 1 0 tag| 2", [2], [1]),
        (b"1 1.0000000000000000000000000000 0.00000000000000000000000000000 | 2", [2], [1]),
        (b"1 | 1:0 2:-0 3:0.0", [1, 2, 3], [0.0, -0.0, 0.0]),
        (b"1 | 1:+1 2:1e-3 3:.5 4:5. 5:-.5e+2", [1, 2, 3, 4, 5], [1, 0.001, 0.5, 5, -50]),
        (b"1 | 1:0.1234567890123456789012345678901234567890", [1], [0.12345678901234568]),
        (b"1 | 1:1e-400 2:5e-324", [1, 2], [0, 5e-324]),
        (b"1 | 3 2 3:2 2:4 3:8", [3, 2], [11, 5]),
        (b"1 | 3:1e308 3:-1e308", [3], [0]),
        (b"1 | 3 3:123456789012345678901234567890", [3], [1.2345678901234568e29]),
        (b"1.0 | 1", [1], [1]),
        (b"100e-2 | 1", [1], [1]),
        (b"1.00000000000000000000000000 | 1", [1], [1]),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_format_in_all_its_forms(line, indices, numbers, end):
    assert FORM.read(b"-1 |\n" + line + end) == [(-1, [], b""), (1, indices, values(*numbers))]


@pytest.mark.parametrize(
    ("line", "indices"),
    [
        (b"1 |f 9:0.5 x:2 x:3", [34884, 76460]),
        (b"1 | 7 12345678901 name", [7, 7221, 214000]),
        (b"1 |a:2 x|b:3 y", [55432, 152274]),
        (b"1 |f a\tb:2", [14355, 146788]),
        (b"1 |1 5", [6]),
        (b"1 |f 007 1.5 -3", [34882, 53731, 12089]),
        ("1 |é é".encode(), [hashed("é".encode(), hashed("é".encode(), 0)) % 2**18]),
    ],
)
def test_indices_are_those_that_vowpal_wabbit_9_prints(line, indices):
    assert FORM.read(b"-1 |\n" + line)[1][1] == indices


def test_rows_are_those_of_vowpal_wabbit_itself():
    wabbit = pytest.importorskip("vowpalwabbit").Workspace("--quiet -b 14 --noconstant")
    rng = random.Random(3)
    for _ in range(500):
        line = FORM.table(rng, 1, ignore_weights=True).strip(b"\r\n").replace(b"\xff", b"e")
        if not line.strip(b" \t"):
            continue
        examples = wabbit.parse(line.decode())
        example = examples[0] if isinstance(examples, list) else examples
        want = {}
        for i, value in example.iter_features():
            want[i % 2**14] = want.get(i % 2**14, 0.0) + value
        label, row, ignored = read_line(line, 14, True)
        assert label == pytest.approx(example.get_simplelabel_label(), rel=1e-6)
        weights = example.get_simplelabel_weight(), example.get_simplelabel_initial()
        assert ignored == (weights != (1.0, 0.0)), line
        assert {i for i, v in row.items() if v} >= {i for i, v in want.items() if v}, line
        for i, value in row.items():
            assert want.get(i, 0.0) == pytest.approx(value, rel=1e-4, abs=1e-5), line
    wabbit.finish()


@settings(max_examples=tries(300))
@given(st.binary(max_size=30), st.integers(0, 2**32 - 1))
def test_the_hash_is_murmur(name, seed):
    assert murmur(name, seed) == murmurhash3_32(name, seed=seed, positive=True)
    assert hashed(name, seed) == slow_hash(name, seed)


def test_a_name_belongs_to_its_namespace():
    rows = FORM.read(b"1 |a x\n-1 |b x\n1 | x\n1 |a:3 x:2\n")
    assert len({tuple(indices) for _, indices, _ in rows}) == 3
    assert rows[3] == (1, rows[0][1], values(6))


@pytest.mark.parametrize("bits", [1, 5, 31, 32])
def test_an_index_is_below_two_to_the_bits(bits):
    line = b"1 |f a b c 4294967295 :1 | 4294967295 4294967296 99\n"
    want, _ = FORM.slow(line, bits)
    got = FORM.read(b"-1 |\n" + line, bits=bits)
    assert got[1] == (1, list(want[0][2]), values(*want[0][2].values()))


def test_the_padding_is_that_of_the_kernels():
    assert labelled_lines.PADDING >= decimals.PADDING


@pytest.mark.parametrize(
    ("line", "column", "must"),
    [
        (
            b"1 2.50 | 1",
            3,
            'an importance weight must be 1, because the theorems count every round once: %s has "2.50"',
        ),
        (b"1 0 'tag | 1", 3, 'an importance weight must be 1, because the theorems count every round once: %s has "0"'),
        (b"1 1 -.5 | 1", 5, 'a base must be 0, because the theorems know only the learner\'s score: %s has "-.5"'),
        (b"1 3 4 tag| 1", 3, 'an importance weight must be 1, because the theorems count every round once: %s has "3"'),
    ],
)
def test_an_importance_or_a_base_is_an_error_unless_it_is_ignored(line, column, must):
    text = BOTH + line + b"\n1 2 | 1\n"
    where = f"line 3, column {column} of a BytesIO"
    hint = "Pass ignore_weights=True to count every row once, or pass skip_bad=N to skip up to N bad lines."
    assert FORM.fails(text) == f"{must % where}. {hint}"
    for chunk in (1, 1000):
        stream = VW(io.BytesIO(text), ignore_weights=True, chunk=chunk)
        for _ in range(2):
            assert FORM.rows_of(stream.batches()) == FORM.read(BOTH + b"1 | 1\n1 | 1\n")
            assert stream.notes == [
                "importance weights and bases of 2 rows of a BytesIO ignored: each row counts once."
            ]


def test_ignored_weights_must_still_be_numbers():
    assert "an importance weight must be a finite number" in FORM.fails(BOTH + b"1 x | 1\n", ignore_weights=True)
    assert "a base must be a finite number" in FORM.fails(BOTH + b"1 2 x | 1\n", ignore_weights=True)


def test_weights_of_lines_read_by_python_are_noted():
    long = b"1.00000000000000000000000000 2 | 1\n"  # more digits than the kernel takes
    stream = VW(io.BytesIO(BOTH + long + b"1 3 | 1\n" + long), ignore_weights=True)
    assert FORM.rows_of(stream.batches()) == FORM.read(BOTH + b"1 | 1\n" * 3)
    assert stream.notes == ["importance weights and bases of 3 rows of a BytesIO ignored: each row counts once."]


def test_uninformative_weights_are_not_noted():
    stream = VW(io.BytesIO(b"1 1 | 1\n-1 1.0 0.0 | 1\n"), ignore_weights=True)
    list(stream.batches())
    assert stream.notes == []


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        (b"x | 1", 1, 'a label must be a finite number: line 3, column 1 of a BytesIO has "x"'),
        (b"nan | 1", 1, "a label must be a finite number"),
        (b"1e400 |", 1, "a label must be finite"),
        (b"1:2:0.5 | a", 1, "a label must be a finite number"),
        (b"shared | a", 1, "a label must be a finite number"),
        (b"1_0 | 1", 1, "a label must be a finite number"),
        (b"| a b", 1, 'a line must have a label: line 3, column 1 of a BytesIO has "| a b"'),
        (b"|f a b", 1, "a line must have a label"),
        (b"  |f a b", 1, "a line must have a label"),
        (b"1|f a b", 1, 'a line must have a label: line 3, column 1 of a BytesIO has "1|f a b"'),
        (b"'tag |f a", 1, "a line must have a label"),
        (b"1", 1, 'a line must have a bar before its features: line 3, column 1 of a BytesIO has "1"'),
        (b"1 2:3 4:5", 1, "a line must have a bar before its features"),
        (b"1\t| a", 2, 'words before the bar must have blanks between them: line 3, column 2 of a BytesIO has "\\t"'),
        (b"\t1 | a", 1, "words before the bar must have blanks between them"),
        (b"1 1 0 0 | a", 7, "a label must be one number, with an importance and a base at most: line 3, column 7 of"),
        (b"1 'tag 1 | a", 3, "an importance weight must be a finite number"),
        (b"1 tag | a", 3, 'an importance weight must be a finite number: line 3, column 3 of a BytesIO has "tag"'),
        (b"1 1 tag | a", 5, 'a base must be a finite number: line 3, column 5 of a BytesIO has "tag"'),
        (b"1 'a 'b | x", 3, "an importance weight must be a finite number"),
        (b"1 1e999 | a", 3, "an importance weight must be finite"),
        (b"1 |: a", 5, "a weight must be a finite number"),
        (b"1 |:2 a", 4, 'a namespace must have a name: line 3, column 4 of a BytesIO has ":2"'),
        (b"1 |f: a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has ""'),
        (b"1 |f:x a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has "x"'),
        (b"1 |f:1:2 a", 6, 'a weight must be a finite number: line 3, column 6 of a BytesIO has "1:2"'),
        (b"1 | a:nan", 7, "a value must be a finite number"),
        (b"1 | a:2 bb:inf", 12, "a value must be a finite number"),
        (b"1 | a:1e309", 7, "a value must be finite"),
        (b"1 | a:", 7, 'a value must be a finite number: line 3, column 7 of a BytesIO has ""'),
        (b"1 | :", 6, "a value must be a finite number"),
        (b"1 | a: 2", 7, "a value must be a finite number"),
        (b"1 | a:|f", 7, "a value must be a finite number"),
        (b"1 | city:paris", 10, 'a value must be a finite number: line 3, column 10 of a BytesIO has "paris"'),
        (b"1 | a:2x", 7, 'a value must be a finite number: line 3, column 7 of a BytesIO has "2x"'),
        (b"1 | a:2:3", 7, "a value must be a finite number"),
        (b"1 | a::3", 7, "a value must be a finite number"),
        (b"1 |f a|g b:0x10", 12, "a value must be a finite number"),
        (b"1 | a:1_0", 7, "a value must be a finite number"),
        (b"1 | a:2\xa0", 7, "a value must be a finite number"),
        (b"1 |f:1e200 a:1e200", 12, "a value times the weight of its namespace must be finite: line 3, column 12 of"),
        (b"1 | a:2\x0bb:3", 8, 'a line must have no control characters: line 3, column 8 of a BytesIO has "\\x0b"'),
        (b"1 | a\x00b", 6, "a line must have no control characters"),
        (b"1 |\x01a b", 4, "a line must have no control characters"),
        (b"1 \x01| b", 3, "a line must have no control characters"),
        (b"1 | a:2\rb:3", 8, 'a line must have no control characters: line 3, column 8 of a BytesIO has "\\r"'),
        (b"1 | a:2\r", 8, "a line must have no control characters"),
        (b"1 | 5:1e308 5:1e308", 13, "values of one index must have a finite sum"),
        (b"1 | 5:8e307 5:8e307 5:8e307", 21, "values of one index must have a finite sum"),
        (b"1," * 100, 1, 'has "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,..."'),
    ],
)
def test_a_bad_line_names_file_line_and_column(line, column, said):
    assert_bad_line(FORM, line, f"line 3, column {column} of a BytesIO has", said)


@given(
    st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 400), st.integers(1, 4), st.integers(1, 32),
    st.booleans(),
)  # fmt: skip
def test_rows_are_those_of_a_slow_reader_for_any_chunk_and_threads(rng, rows, chunk, threads, bits, ignore):
    data = b"1 | 1:1\n-1 |\n" + FORM.table(rng, rows, ignore)
    want, bad = FORM.expected(data, bits=bits, ignore_weights=ignore)
    assert not bad
    assert FORM.read(data, chunk=chunk, threads=threads, bits=bits, ignore_weights=ignore) == want


def test_loop_writes_nothing_beyond_its_output():
    rng = random.Random(8)
    tight = [b"1 | a b c\n", b"1 |\n" * 50, b"1 |" + b" a" * 40 + b"\n", b"1 | a\n\n", b"1 | a b|c d|\n"]
    for data in [*tight, *(FORM.mutated(rng) + b"\n" for _ in range(3000))]:
        rows, entries = len(data) // 4 + 1, len(data) // 2 + 1
        state = np.zeros(5, dtype=np.uint64)
        text = np.frombuffer(bytearray(data + b"1" * decimals.PADDING), dtype=np.uint8)
        sizes = {
            "labels": (rows, float),
            "lines": (rows, np.uint32),
            "indptr": (rows + 1, np.uint64),
            "indices": (entries, np.uint32),
            "values": (entries, float),
            "table": (kernel.SLOTS, np.uint32),
        }
        guarded = {name: np.full(size + 64, 123, dtype=kind) for name, (size, kind) in sizes.items()}
        guarded["table"][:] = 0
        arrays = [a[: sizes[n][0]] for n, a in guarded.items()]
        kernel.parse(text, np.uint64(len(data)), np.uint64(2**18 - 1), False, state, *arrays)
        for name, array in guarded.items():
            assert np.all(array[sizes[name][0] :] == (0 if name == "table" else 123)), (name, data)
        assert state[kernel.AT] <= len(data)


def test_a_game_on_vw_text_is_that_on_the_same_svmlight_text(tmp_path):
    rng = random.Random(12)
    lines = [
        (rng.choice([b"1", b"-1"]), b" ".join(b"%d:%.3f" % (i, rng.random()) for i in sorted(rng.sample(range(99), 9))))
        for _ in range(500)
    ]
    for name, middle in (("a.vw", b" | "), ("a.svm", b" ")):
        (tmp_path / name).write_bytes(b"\n".join(label + middle + row for label, row in lines))
    ours, theirs = (nk.play(nk.Perceptron(), nk.read(tmp_path / name)) for name in ("a.vw", "a.svm"))
    assert ours.mistakes == theirs.mistakes > 50
    weights, same = ours.learner.weights, theirs.learner.weights
    assert np.array_equal(weights[: len(same)], same)
    assert not weights[len(same) :].any()


@pytest.mark.parametrize(("name", "plus", "minus"), [("rcv1_small.dat", 459, 541), ("rcv1_small_test.data", 245, 255)])
def test_the_rcv1_sample_of_vowpal_wabbit_runs_as_it_is(name, plus, minus):
    places = (folder / "shared" / "data" / "rcv1_vw" / name for folder in Path(__file__).resolve().parents)
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        pytest.skip("the sample is not on this machine")
    stream = nk.read(path)
    ledger = nk.play(nk.Perceptron(), stream)
    assert stream.notes == ["format: vw"]
    assert ledger.rounds == plus + minus
    want, bad = FORM.slow(path.read_bytes())
    assert not bad
    assert FORM.read(path) == [(int(y), list(row), values(*row.values())) for _, y, row in want]
    assert [sum(y == sign for _, y, _ in want) for sign in (1, -1)] == [plus, minus]
    assert any(certificate.status == "valid" for certificate in ledger.certify())
    assert not any(certificate.status == "violated" for certificate in ledger.certify())
