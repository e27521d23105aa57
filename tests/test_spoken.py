"""Specs and paths wherever Python takes learners and streams."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import MismatchError, SpecError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 2)) * [1, 1000]
    lines = [f"{a},{b},{'yes' if a + b / 1000 > 0 else 'no'}" for a, b in x]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["text", "path"])
def test_a_spec_plays_a_path_scaled(table, kind):
    told = nk.play("perceptron:bias=1", kind(table))
    same = nk.play(nk.Scaled(nk.Perceptron(bias=1)), nk.read(table))
    assert told.spec == "perceptron:bias=1,scale=standard"
    assert (told.mistakes, told.source) == (same.mistakes, same.source)
    assert told.certify() == same.certify()


def test_a_learner_plays_a_path_as_it_is(table):
    raw = nk.play(nk.Perceptron(bias=1), table)
    assert raw.mistakes == nk.play(nk.Perceptron(bias=1), nk.read(table)).mistakes
    assert raw.mistakes == nk.play("perceptron:bias=1,scale=none", table).mistakes


def test_spec_plays_every_other_source(table):
    x, y = np.eye(3), [1, -1, 1]
    assert type(nk.play("perceptron:scale=none", (x, y)).learner) is nk.Perceptron
    assert nk.play("tightest-box", "demo:iris").learner.domain.width == 4
    assert nk.play("threshold-halving:n=8", nk.adversaries.GridBisection(8), rounds=5).rounds == 5
    ledger = nk.play("online-gradient:normalize=true,low=0,high=1", (x, np.array([0.0, 1.0, 0.5])))
    assert ledger.rounds == 3


def test_regression_reads_a_path(tmp_path):
    (tmp_path / "rain.csv").write_text("a,b,y\n1,2,0.5\n2,1,0.25\n0,1,1\n")
    assert nk.play("online-gradient:normalize=true", tmp_path / "rain.csv").rounds == 3
    assert nk.play(nk.OnlineGradient(normalize=True), tmp_path / "rain.csv").rounds == 3


def test_several_games_take_paths(table):
    found = nk.compare(["perceptron", "constant"], table, shuffles=2)
    assert [one.learner for one in found.learners] == ["perceptron:bias=1,scale=standard", "constant"]
    assert nk.compare({"raw": "perceptron:scale=none"}, str(table)).learners[0].learner == "raw"
    assert nk.repeat("rbp:budget=9", table, seeds=range(2)).learner == "rbp:budget=9,scale=standard"
    assert nk.permutation_test("perceptron", table, 3).learner == "perceptron:bias=1,scale=standard"


def test_a_classifier_is_kept_with_the_path(table):
    ledger = nk.play("perceptron", table, candidates=5)
    assert nk.finalize(ledger, "best", stream=table).certificate is not None


def test_unknown_learners_and_files_are_reported(table):
    with pytest.raises(SpecError, match='must be known: got .perceptrom.. Did you mean "perceptron"'):
        nk.play("perceptrom", table)
    with pytest.raises(nk.NovikoffError, match="nothing.csv"):
        nk.play("perceptron", "nothing.csv")
    with pytest.raises(MismatchError, match="read with a loss"):
        nk.play(nk.AdaHedge(3), str(table))
    with pytest.raises(MismatchError, match="the ledger must belong to this learner"):
        nk.play("perceptron", table, ledger=nk.play("perceptron", table))


def test_repr_of_results_is_one_line(table):
    ledger = nk.play("perceptron:bias=1", table)
    assert (
        repr(ledger)
        == f"<Ledger perceptron:bias=1,scale=standard on {table}, target: label (by its name): 150 rounds, "
        f"{ledger.mistakes} mistakes ({100 * ledger.mistakes / 150:.3g} %)>"
    )
    assert repr(nk.play(nk.Perceptron(), (np.eye(2), [1, -1]))).startswith("<Ledger Perceptron on ")
    first = ledger.certify()[0]
    assert repr(first) == f"<Certificate {first}>"
    found = nk.compare(["constant"], table)
    rate = 100 * found.learners[0].rate.mean
    assert repr(found) == f"<Comparison on {table}, 150 rows: constant {rate:.3g} %>"
    assert repr(nk.play("online-gradient:normalize=true", (np.eye(2), [0.5, 0.5]))).endswith("squared loss 0.5>")
