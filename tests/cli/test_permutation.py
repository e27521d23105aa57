"""`run --permutation N`: is the order of the rows a random one?"""

import json

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.cli.main import main
from novikoff.evaluation.permutation import PermutationTest
from novikoff.reports import terminal


@pytest.fixture
def rows(tmp_path):
    """What is to be learned changes its sign in the middle, and then there is nothing to learn."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = np.where(np.arange(400) < 200, np.sign(x[:, 0]), rng.choice([-1, 1], 400)).astype(int)
    (tmp_path / "rows.svm").write_text("".join(f"{s} 0:{a} 1:{b}\n" for s, (a, b) in zip(y, x, strict=True)))
    return str(tmp_path / "rows.svm")


def test_rows_that_become_harder_are_found(rows, capsys):
    assert main(["run", "perceptron", rows, "--permutation", "39", "-q", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["permutation"]
    assert told == {"p": 0.025, "observed": told["observed"], "mean": told["mean"], "shuffles": 39}
    assert told["observed"] > told["mean"] + 20
    want = nk.permutation_test("perceptron", nk.read(rows), 39)
    assert (want.p, want.observed, want.mean) == (told["p"], told["observed"], told["mean"])
    assert main(["run", "perceptron", rows, "--permutation", "39", "-q"]) == 0
    assert "the rows become harder, their order is not random" in " ".join(capsys.readouterr().out.split())


def test_verdict_of_a_permutation_test_depends_on_p():
    def said(p):
        return terminal.permuted(PermutationTest("perceptron", "rows", p, 3.0, (1.0, 2.0)))

    assert "their order is not random" in said(0.05)
    assert "the rows may become harder" in said(0.2)
    assert "no evidence that the rows become harder (p = 0.21)" in said(0.21)


def test_a_test_that_could_not_be_made_is_refused_before_the_game(rows, tmp_path, capsys):
    model = str(tmp_path / "m.nk")
    main(["run", "perceptron", rows, "--rounds", "9", "--save", model, "-q"])
    assert main(["run", "perceptron", rows, "--permutation", "3", "--resume", model, "-q"]) == 2
    assert "leave out --resume" in capsys.readouterr().err
    done = novikoff("run", "perceptron", "-", "--permutation", "3", "-q", input="1 1:1\n-1 2:1\n")
    assert done.returncode == 2
    assert "permutation reads the source twice, and" in done.stderr
