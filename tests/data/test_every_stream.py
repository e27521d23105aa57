"""The contract of a stream, over every format and every source in memory; packed, from a file object, and from a pipe.

Batches are small here, so that a pass has several. A format without a sample fails.
"""

import gzip
import io
import lzma
import sys

import pandas as pd
import pytest
import scipy.sparse

import novikoff as nk
from novikoff.core.registry import CATALOG
from novikoff.data.cached import hold
from novikoff.testing import check_stream
from samples import X, Y, collected

SMALL = {"ROWS_PER_BATCH": 16, "CELLS_PER_BATCH": 48, "ROWS_PER_BLOCK": 16}


FILES = collected("FILES")
PACKED = [name for name, (content, _) in FILES.items() if b"\0" not in content]  # text


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    for name in ("Advice", "synthetic"):
        getattr(nk, name)  # imports the modules that have the constants
    small = set()
    for name, module in list(sys.modules.items()):
        for constant in SMALL if name.startswith("novikoff.data.") else ():
            if hasattr(module, constant):
                monkeypatch.setattr(module, constant, SMALL[constant])
                small.add(constant)
    assert small == set(SMALL)


def test_every_format_has_a_sample():
    for name, entry in CATALOG.items():
        where = f"tests/{entry.module.replace('.', '/')}.py".replace(entry.module.rpartition(".")[2], f"test_{name}")
        assert entry.room != "format" or name in FILES, (
            f'{name} has no sample: add FILES = {{"{name}": (content, options)}} to {where} (tests/samples.py)'
        )


@pytest.mark.parametrize("name", FILES)
def test_every_format_keeps_the_contract(name, tmp_path):
    content, options = FILES[name]
    (tmp_path / "file").write_bytes(content)
    check_stream(lambda: nk.read(tmp_path / "file", format=name, **options))
    stream = nk.read(tmp_path / "file", format=name, **options)
    at_once = isinstance(stream, nk.Arrays)  # its file is read whole
    assert at_once or sum(1 for _ in stream.batches()) > 1, "the sample should have several batches"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
@pytest.mark.parametrize("name", PACKED)
def test_packed_files_keep_the_contract(name, pack, tmp_path):
    content, options = FILES[name]
    (tmp_path / "file").write_bytes(pack(content))
    check_stream(lambda: nk.read(tmp_path / "file", format=name, **options))


@pytest.mark.parametrize("name", FILES)
def test_file_objects_keep_the_contract(name):
    content, options = FILES[name]
    check_stream(lambda: nk.read(io.BytesIO(content), format=name, **options))


class Pipe(io.RawIOBase):
    """Bytes that come once."""

    def __init__(self, content):
        self._left = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._left.readinto(buffer)


@pytest.mark.parametrize("name", FILES)
def test_pipes_keep_the_contract(name):
    content, options = FILES[name]
    check_stream(lambda: nk.read(Pipe(content), format=name, **options))


def converted(folder):
    nk.convert(nk.Arrays(X / 4, Y), folder / "file.arrow")
    return lambda: nk.read(folder / "file.arrow")


def experts(folder):
    (folder / "table.csv").write_text("a,b,outcome\n" + "".join(f"{a / 9},{b / 9},{c % 2}\n" for a, b, c in X))
    return lambda: nk.read_experts(folder / "table.csv", loss="absolute")


IN_MEMORY = {
    "arrays": lambda: nk.Arrays(X / 4, Y, features=["a", "b", "c"]),
    "arrays of integers": lambda: nk.Arrays(X, Y),
    "indices": lambda: nk.Arrays(X[:, 0], Y),
    "many labels": lambda: nk.Arrays(X, X[:, 0], multiclass=9),
    "pairs": lambda: nk.Pairs(list(zip(X.tolist(), Y.tolist(), strict=True))),
    "pairs that come once": lambda: nk.Pairs(iter(list(zip(X.tolist(), Y.tolist(), strict=True)))),
    "frame": lambda: nk.Frame(pd.DataFrame({"a": X[:, 0], "b": X[:, 1] / 4, "y": Y})),
    "sparse matrix": lambda: nk.SparseMatrix(scipy.sparse.csr_matrix(X), Y),
    "targets": lambda: nk.RegressionArrays(X / 4, X[:, 0] / 9),
    "advice": lambda: nk.Advice(X / 9, X[:, 0] / 9),
    "losses": lambda: nk.Losses(X / 9),
    "held": lambda: hold(nk.Arrays(X, Y)),
    "separable": lambda: nk.synthetic.separable(rounds=50, width=4),
    "sparse separable": lambda: nk.synthetic.separable(rounds=50, width=9, nonzeros=3),
    "noisy": lambda: nk.synthetic.noisy(rounds=50, width=4, noise=0.2),
    "drifting": lambda: nk.synthetic.drifting(rounds=50, width=10, every=20),
    "hard order": lambda: nk.synthetic.hard_order(rounds=50, width=4, examples=20),
    "bandit losses": lambda: nk.synthetic.bandit_losses(arms=3, rounds=50, switches=2),
    "contexts": lambda: nk.ContextualLosses(X, X / 8.0),
    "advice on arms": lambda: nk.ContextualLosses(X, X / 8.0, advice=True),
    "random losses": lambda: nk.synthetic.random_losses(experts=3, rounds=50),
    "demo": lambda: nk.read("demo:papayas"),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_every_source_in_memory_keeps_the_contract(name):
    check_stream(IN_MEMORY[name])


@pytest.mark.parametrize("make", [converted, experts])
def test_other_files_keep_the_contract(make, tmp_path):
    check_stream(make(tmp_path))
