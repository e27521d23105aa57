"""One preparation for every way into a game: the same rows and spec make the same mistakes, wherever they come from."""

import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff

LEARNERS = ("perceptron", "kernel-perceptron", "logistic", "auto")
DEMO = "demo:breast-cancer"


@pytest.fixture(scope="module")
def rows():
    """The demo as X and the labels as they are written."""
    stream = nk.read(DEMO)
    x, y = (np.concatenate([getattr(batch, part) for batch in stream.batches()]) for part in "xy")
    return x, np.array([stream.labels.decode(label) for label in y.tolist()])


@pytest.fixture(scope="module")
def sources(rows, tmp_path_factory):
    """The same rows as everything that `play` takes."""
    x, y = rows
    frame = pd.DataFrame(x, columns=[f"feature {j}" for j in range(x.shape[1])]).assign(diagnosis=y)
    folder = tmp_path_factory.mktemp("rows")
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False)
    novikoff("convert", DEMO, "rows.arrow", cwd=folder)
    paths = {name: str(folder / name) for name in ("rows.csv", "rows.parquet", "rows.arrow")}
    return {"demo": DEMO, "arrays": (x, y), "frame": frame, **paths}


@pytest.mark.parametrize("learner", LEARNERS)
def test_same_rows_make_the_same_mistakes_through_play_and_compare(sources, learner):
    played = {name: nk.play(learner, source) for name, source in sources.items()}
    assert len({ledger.mistakes for ledger in played.values()}) == 1
    assert len({ledger.spec for ledger in played.values()}) == 1
    compared = nk.compare([learner], sources["arrays"]).learners[0]
    assert (compared.learner, compared.games[0].mistakes) == (played["demo"].spec, played["demo"].mistakes)


def test_command_line_plays_as_python_does(sources):
    for learner in ("perceptron", "auto"):
        wanted = nk.play(learner, sources["arrays"])
        for name in ("demo", "rows.csv"):
            code, out, error = novikoff("run", learner, sources[name], "--json")
            assert code == 0, error
            assert (json.loads(out)["learner"], json.loads(out)["mistakes"]) == (wanted.spec, wanted.mistakes)
        code, out, error = novikoff("compare", sources["demo"], "-l", learner, "--json")
        assert code == 0, error
        found = json.loads(out)["learners"][0]
        assert (found["learner"], found["mistakes"]) == (wanted.spec, [wanted.mistakes])


def test_repeat_and_permutation_test_prepare_as_play_does(rows):
    wanted = nk.play("perceptron", rows)
    repeated = nk.repeat("perceptron", rows, seeds=[0])
    assert (repeated.learner, repeated.games[0].mistakes) == (wanted.spec, wanted.mistakes)
    assert nk.permutation_test("perceptron", rows, permutations=1).learner == wanted.spec


def test_numbers_to_be_predicted_are_prepared_as_labels_are(rows):
    x = rows[0]
    assert nk.Targets(x[:, 1:], x[:, 0]).scaled_by_default
    frame = pd.DataFrame(x[:, ::-1], columns=[f"x{j}" for j in range(x.shape[1])])
    losses = {nk.play("auto", source).loss for source in (frame, (x[:, :0:-1], x[:, 0]))}
    assert len(losses) == 1


def test_spec_without_scale_and_a_learner_that_was_made_play_the_numbers_as_they_are(rows):
    plain = nk.play(nk.Perceptron(), rows)
    asked = nk.play("perceptron:scale=none", rows)
    scaled = nk.play("perceptron", rows)
    assert plain.mistakes == asked.mistakes
    assert scaled.spec == "perceptron:bias=1,scale=standard"
    assert scaled.mistakes < plain.mistakes / 2


def test_sparse_rows_pairs_and_generated_streams_are_not_scaled(rows):
    from scipy import sparse

    x, y = rows
    for source in (
        (sparse.csr_matrix(x), y),
        [(row, 1 if label == "malignant" else -1) for row, label in zip(x.tolist(), y, strict=True)],
        nk.synthetic.separable(rounds=50, width=5, margin=0.1),
    ):
        assert nk.play("perceptron", source, rounds=20).spec == "perceptron"


def test_scale_none_on_the_command_line_is_written_in_the_spec_and_kept_in_the_permutation_test(sources):
    code, out, error = novikoff("run", "perceptron", sources["rows.csv"], "--scale", "none", "--permutation", "2",
                                "--json")  # fmt: skip
    assert code == 0, error
    told = json.loads(out)
    assert told["learner"] == "perceptron:scale=none"
    unscaled = nk.permutation_test("perceptron:scale=none", sources["rows.csv"], permutations=2)
    assert told["permutation"]["observed"] == unscaled.observed
