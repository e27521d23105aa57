"""Training rows in files: a checkpoint holds some, and prints how many; a model without rows holds none, verbatim.

Files and pickles are searched for the bytes of every training row: as doubles, in single precision, and as JSON text.
"""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import novikoff as nk
from growing import GAMES, ROUNDS, in_turn
from helpers import bits, novikoff
from novikoff.core.state import leaving_out_rows
from novikoff.game import ledger_state, persistence
from novikoff.game.game import Game
from novikoff.integrations.sklearn import AutoClassifier, NovikoffClassifier
from novikoff.reports.summary import tightest

MADE_OF_ROWS = (
    "kernel-perceptron", "rbp", "forgetron", "cks", "tighter", "rectangle-halving", "midpoint", "scale=standard",
    "scaled:", "memorizer", "history",
)  # fmt: skip
"""Learners whose hypothesis is made of training rows."""


def numbers(x):
    """The numbers of a row beside each other in memory, if they are at least two that are not 0."""
    if isinstance(x, dict):
        x = np.array(list(x.values()))
    elif isinstance(x, tuple) and isinstance(x[0], np.ndarray):
        x = x[1]
    return x if isinstance(x, np.ndarray) and x.dtype == np.float64 and np.count_nonzero(x) > 1 else None


def forms(row):
    """The bytes that a row may be kept as."""
    yield row.tobytes()
    yield row.astype(np.float32).tobytes()
    yield json.dumps(row.tolist())[1:-1].encode()


def found_in(data, rows):
    """How many of the rows are in the bytes."""
    return sum(any(form in data for form in forms(row)) for row in rows)


def file_of(ledger, without_rows):
    file = io.BytesIO()
    persistence.pack(persistence.snapshot(ledger, without_rows=without_rows), file)
    return file


def cells(x):
    """The numbers of a row by their features."""
    if isinstance(x, tuple):
        return dict(zip(x[0].tolist(), x[1].tolist(), strict=True))
    return x if isinstance(x, dict) else dict(enumerate(np.ravel(x).tolist()))


def rows_of(name):
    """Rows of numbers with a feature that others have too: sums over features of one row are that row's numbers."""
    rows = [x for x, _ in GAMES[name].rows if numbers(x) is not None]
    common = {
        feature: [abs(cells(x)[feature]) for x in rows if cells(x).get(feature)] for x in rows for feature in cells(x)
    }
    return [
        numbers(x)
        for x in rows
        if any(len(common[feature]) > 8 and abs(value) < max(common[feature]) for feature, value in cells(x).items())
    ]


@in_turn()
def test_a_model_without_rows_holds_none_and_predicts_the_same(name):
    game = Game(GAMES[name].make())
    for x, y in GAMES[name].rows:
        game.learn_one(x, y)
    ledger, rows = game.ledger, rows_of(name)
    held = persistence.rows_in(ledger, without_rows=True)
    file = file_of(ledger, without_rows=True)
    assert (held > 0) == any(part in name for part in MADE_OF_ROWS)
    assert held or found_in(file.getvalue(), rows) == 0
    again = persistence.load_game(file)
    with leaving_out_rows():
        assert bits(again.learner.state()) == bits(ledger.learner.state())
    known, found = ledger.certify(), again.certify()
    assert [(one.theorem, one.observed, one.bound) for one in found] == [
        (one.theorem, one.observed, one.bound) for one in known
    ]
    assert all(one.status != "valid" for one in found)
    x, y = GAMES[name].rows[0]
    Game(again.learner, again).learn_one(x, y)  # it goes on
    assert again.rounds == ROUNDS + 1
    once_more = persistence.load_game(file_of(again, without_rows=False))
    assert bits(ledger_state.packed(once_more)) == bits(ledger_state.packed(again))


@pytest.mark.parametrize("spec", ["perceptron", "logistic", "linear-mixture", "kernel-perceptron"])
def test_a_checkpoint_holds_rows_and_counts_them(spec, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    ledger = nk.play(nk.make(spec, "learner"), (x, np.where(x[:, 0] > 0.0, 1, -1)))
    assert nk.save(ledger, tmp_path / "m.nk") == 60
    assert nk.save(ledger, tmp_path / "m.nk", without_rows=True) == (ledger.learner.size if "kernel" in spec else 0)


@pytest.mark.parametrize(("scale", "held"), [("standard", 1), ("range", 0)])
def test_a_standard_scale_holds_the_first_row_and_counts_it(scale, held):
    x = np.random.default_rng(0).normal(size=(60, 4))
    ledger = nk.play(nk.make(f"perceptron:scale={scale}", "learner"), (x, np.where(x[:, 0] > 0.0, 1, -1)))
    assert persistence.rows_in(ledger, without_rows=True) == held
    assert found_in(file_of(ledger, without_rows=True).getvalue(), list(x)) == held


def test_certificates_of_a_model_without_rows_stay_as_proved():
    x = np.random.default_rng(0).normal(size=(400, 3))
    y = np.where(x @ [1.0, 2.0, -1.0] > 0.0, 1, -1)
    ledger = nk.play(nk.Logistic(), (x[:300], y[:300]))
    before = ledger.certify()
    again = persistence.load_game(file_of(ledger, without_rows=True))
    assert [(one.theorem, one.bound) for one in again.certify()] == [(one.theorem, one.bound) for one in before]
    proved = str(again.certify()[0]).partition(": ")[2]
    nk.play(again.learner, (x[300:], y[300:]), ledger=again)
    (after,) = again.certify()
    assert (after.status, after.bound) == ("void", None)
    assert after.reason == f"a model file omitted its comparators after 300 rounds; proved until then: {proved}"


def test_a_resumed_model_without_rows_shows_no_bound_of_its_first_rounds():
    """A bound on 300 rounds is none on 600: neither in the report nor in the theorem of a team."""
    x = np.random.default_rng(0).normal(size=(600, 3))
    y = np.where(x @ [1.0, 2.0, -1.0] + np.random.default_rng(1).normal(size=600) > 0.0, 1, -1)
    for spec in ("perceptron", "hedge:learners=[perceptron,arow]"):
        ledger = nk.play(nk.make(spec, "learner"), (x[:300], y[:300]))
        again = persistence.load_game(file_of(ledger, without_rows=True))
        nk.play(again.learner, (x[300:], y[300:]), ledger=again)
        nk.play(ledger.learner, (x[300:], y[300:]), ledger=ledger)
        known = {one.theorem: one for one in ledger.certify()}
        for one in again.certify():
            assert one.status == "void" or one == known[one.theorem]
        assert any(one.status == "void" for one in again.certify())
        assert tightest(again.certify()) is None or spec != "perceptron"


def test_certificate_of_a_file_without_rows_is_trusted_and_not_valid():
    x = np.random.default_rng(0).normal(size=(300, 3))
    ledger = nk.play(nk.Logistic(), (x, np.where(x[:, 0] > 0.0, 1, -1)))
    assert [one.status for one in ledger.certify()] == ["valid"]
    once = persistence.load_game(file_of(ledger, without_rows=True))
    twice = persistence.load_game(file_of(once, without_rows=True))
    for again in (once, twice):
        (found,) = again.certify()
        assert (found.status, found.bound) == ("conditional", ledger.certify()[0].bound)
        assert found.reason.startswith("not checked: the certificate in the file is correct")
        assert [one.standing for one in found.assumptions].count("trusted") == 1
    assert persistence.load_game(file_of(ledger, without_rows=False)).certify() == ledger.certify()


def test_an_edited_certificate_in_a_file_is_refused():
    x = np.random.default_rng(0).normal(size=(300, 3))
    ledger = nk.play(nk.Logistic(), (x, np.where(x[:, 0] > 0.0, 1, -1)))
    what = persistence.snapshot(ledger, without_rows=True)
    what.meta["ledger"]["proved"]["certificates"][0]["bound"] = 1e-3
    file = io.BytesIO()
    persistence.pack(what, file)
    with pytest.raises(nk.core.errors.ModelFileError, match="must be consistent"):
        persistence.load(file)


@pytest.mark.parametrize("spec", ["perceptron", "perceptron:scale=none", "arow", "auto"])
def test_pickles_of_estimators_hold_no_rows_but_the_first_that_scaling_keeps(spec):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5))
    y = np.where(x[:, 0] + x[:, 1] > 0.0, "spam", "ham")
    one = (AutoClassifier() if spec == "auto" else NovikoffClassifier(spec)).fit(x, y)
    data = pickle.dumps(one)
    assert found_in(data, list(x)) == (spec == "perceptron")  # deviations are measured from the first row played
    again = pickle.loads(data)
    assert again.predict(x).tolist() == one.predict(x).tolist()
    assert [str(found) for found in again.certificates_] == [str(found) for found in one.certificates_]
    again.partial_fit(x[:10], y[:10])


def test_rounds_that_wait_for_labels_expire_in_a_model_without_rows():
    game = Game(nk.Logistic())
    for k in range(5):
        game.predict_one([float(k), 1.5 + k], id=f"round {k}")
    game.learn_one("round 1", 1)
    assert persistence.rows_in(game.ledger) == 5
    again = persistence.load_game(file_of(game.ledger, without_rows=True))
    assert (again.late.waiting, again.late.expired) == (0, 4)
    assert b"round 2" not in file_of(game.ledger, without_rows=True).getvalue()


def table(path, rows=300, bad=None):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, 3))
    lines = [",".join(map(repr, row.tolist())) + f",{'yes' if row[0] > 0.0 else 'no'}" for row in x]
    if bad is not None:
        lines[bad] = "1,2,yes"
    path.write_text("a,b,c,label\n" + "\n".join(lines) + "\n")
    return x


def test_the_command_line_prints_which_kind_of_file_it_wrote(tmp_path):
    x = table(tmp_path / "t.csv")
    done = novikoff("run", "logistic", "t.csv", "--save", "m.nk", cwd=tmp_path)
    assert "saved m.nk: a checkpoint, with 300 training rows (--without-rows leaves them out)" in done.stderr
    done = novikoff("run", "logistic", "t.csv", "--save", "m.nk", "--without-rows", cwd=tmp_path)
    assert "saved m.nk: a model, without training rows" in done.stderr
    assert found_in((tmp_path / "m.nk").read_bytes(), list(x)) == 0
    done = novikoff("run", "kernel-perceptron", "t.csv", "--save", "m.nk", "--without-rows", cwd=tmp_path)
    assert "a model that contains " in done.stderr
    done = novikoff("run", "logistic", "t.csv", "--without-rows", cwd=tmp_path)
    assert (done.returncode, "pass --save FILE" in done.stderr) == (2, True)


def test_failed_run_keeps_earlier_learning(tmp_path):
    table(tmp_path / "t.csv", 9000, bad=8500)
    done = novikoff("run", "perceptron", "t.csv", "--save", "m.nk", cwd=tmp_path)
    assert done.returncode != 0
    assert "before the error" in done.stderr
    ledger = nk.load(tmp_path / "m.nk")
    assert 0 < ledger.rounds <= 8500
    assert zipfile.is_zipfile(tmp_path / "m.nk")
