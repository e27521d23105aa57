"""NumPy archives: the choice of X and y, labels of every kind, sparse matrices, and the same table in CSV."""

import io

import numpy as np
import pytest
from scipy import sparse
from tests.mixed_rows import bits_of

import novikoff as nk
from novikoff.core.errors import SourceError

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(80, 4)).round(3)
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def saved(path, *arrays, **named):
    np.savez_compressed(path, *arrays, **named)
    return path


def archive():
    file = io.BytesIO()
    np.savez(file, X=X, y=Y)
    return file.getvalue()


FILES = {"npz": (archive(), {})}


def as_table(y=Y):
    lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return nk.read(io.BytesIO("\n".join(["a,b,c,d,label", *lines]).encode()))


def test_rows_match_csv_to_the_bit(tmp_path):
    stream = nk.read(saved(tmp_path / "t.npz", X=X, y=Y))
    assert stream.notes[0] == "format: npz"
    assert bits_of(stream) == bits_of(as_table())
    ledger, expected = nk.play("logistic", tmp_path / "t.npz"), nk.play("logistic", as_table())
    assert (ledger.mistakes, ledger.metrics.log_loss) == (expected.mistakes, expected.metrics.log_loss)


def test_choice_of_arrays(tmp_path):
    expected = bits_of(nk.Arrays(X, Y))
    swapped = np.where(Y == "yes", "no", "yes")
    for k, (arrays, named, options) in enumerate(
        [
            ((X, Y), {}, {}),
            ((Y, X), {}, {}),
            ((), {"rows": X, "classes": Y}, {}),
            ((), {"classes": Y, "rows": X}, {}),
            ((), {"X": X, "y": Y, "other": Y[:3]}, {}),
            ((), {"X": X, "y": swapped, "goal": Y}, {"label": "goal"}),
        ]
    ):
        assert bits_of(nk.read(saved(tmp_path / f"{k}.npz", *arrays, **named), **options)) == expected
    one = saved(tmp_path / "many.npz", x_train=X, y_train=Y, x_test=X, y_test=Y)
    with pytest.raises(SourceError, match='"x_train", "y_train", "x_test", "y_test"'):
        nk.read(one)
    with pytest.raises(SourceError, match="must be an array of the archive"):
        nk.read(one, label="goal")


def test_labels_of_every_kind(tmp_path):
    three = DRAW.choice(["a", "b", "c"], 80)
    ledger = nk.play("auto", saved(tmp_path / "three.npz", X=X, y=three))
    assert ledger.mistakes == nk.play("auto", (X, three)).mistakes
    numbers = nk.read(saved(tmp_path / "numbers.npz", X=X, y=X[:, 0] * 1.37))
    assert numbers.outcomes == "numbers"
    ledger = nk.play("auto", tmp_path / "numbers.npz")
    assert ledger.metrics.rmse == nk.play("auto", (X, X[:, 0] * 1.37)).metrics.rmse
    assert nk.read(tmp_path / "three.npz", positive="b").labels.positive == "b"


def test_sparse_matrix_of_scipy(tmp_path):
    matrix = sparse.random(80, 30, density=0.2, random_state=1, format="csr")
    sparse.save_npz(tmp_path / "alone.npz", matrix)
    with np.load(tmp_path / "alone.npz") as archive:
        parts = dict(archive)
    assert bits_of(nk.read(saved(tmp_path / "both.npz", **parts, y=Y))) == bits_of(nk.SparseMatrix(matrix, Y))
    with pytest.raises(SourceError, match="no other arrays than a sparse matrix"):
        nk.read(tmp_path / "alone.npz")
    with open(tmp_path / "both.npz", "rb") as file:
        assert bits_of(nk.NPZ(file)) == bits_of(nk.SparseMatrix(matrix, Y))


def test_unreadable_archives(tmp_path):
    with pytest.raises(SourceError, match="readable by NumPy"):
        nk.read(saved(tmp_path / "objects.npz", X=X, y=Y.astype(object)))
    with open(tmp_path / "one.npz", "wb") as file:
        np.save(file, X)
    with pytest.raises(SourceError, match="has one array"):
        nk.read(tmp_path / "one.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "objects.npz").read_bytes()[:500])
    with pytest.raises(SourceError, match="readable by NumPy"):
        nk.read(tmp_path / "cut.npz")
    (tmp_path / "text.npz").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="readable by NumPy"):
        nk.read(tmp_path / "text.npz")
    with pytest.raises(SourceError, match="there is no"):
        nk.read(tmp_path / "absent.npz")
    with pytest.raises(SourceError, match="got header"):
        nk.read(saved(tmp_path / "t.npz", X=X, y=Y), header=True)
