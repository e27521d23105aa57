"""`predict --scores`: the number whose sign is said, beside each label."""

import json

import pytest

import novikoff as nk
from helpers import novikoff


@pytest.fixture
def folder(tmp_path):
    lines = [f"{a},{b},{'yes' if a > b else 'no'}" for a in range(6) for b in range(6)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    return tmp_path


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "perceptron:scale=none", "forgetron:budget=9", "ellipsoid"])
def test_score_is_printed_next_to_the_label(folder, spec):
    novikoff("run", spec, "rows.csv", "--save", "m.nk", "-q", cwd=folder)
    plain, scored = (novikoff("predict", "m.nk", "rows.csv", *more, cwd=folder) for more in ((), ("--scores",)))
    cells = [line.split("\t") for line in scored.stdout.splitlines()]
    assert [label for label, _ in cells] == plain.stdout.splitlines()
    assert all((label == "yes") == (float(score) >= 0.0) for label, score in cells)
    learner = nk.load(folder / "m.nk").learner
    rows = [x for batch in nk.read(folder / "rows.csv").batches() for x, _ in batch.rows()]
    assert [float(score) for _, score in cells] == [learner.score_one(x) for x in rows]
    told = json.loads(novikoff("predict", "m.nk", "rows.csv", "--scores", "--json", cwd=folder).stdout)
    assert told["predictions"] == [[label, float(score)] for label, score in cells]


@pytest.mark.parametrize("spec", ["constant", "hedge:learners=[perceptron,constant]", "halving:[programs:bits=8]"])
def test_a_learner_without_a_score_is_reported(folder, spec):
    novikoff("run", spec, "rows.csv", "--save", "m.nk", "-q", cwd=folder)
    code, _, error = novikoff("predict", "m.nk", "rows.csv", "--scores", cwd=folder)
    assert code == 2
    assert "--scores needs a classifier with scores: that of m.nk has none." in error
