"""One preparation for every way into a game: the same rows and spec make the same mistakes, wherever they come from."""

import contextlib
import functools
import io
import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.cli.main import main
from novikoff.core.errors import MismatchError
from novikoff.game import specs
from novikoff.server.model_game import begin
from novikoff.server.wire import Model
from novikoff.testing.failing import require_same
from samples import learner_samples
from test_every_forecaster import SAMPLES as FORECASTERS

LEARNERS = ("perceptron", "kernel-perceptron", "logistic", "linear-mixture")
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
    assert nk.RegressionArrays(x[:, 1:], x[:, 0]).scaled_by_default
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


def run(learner, source):
    """`novikoff run`, in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["run", learner, source, "--json"]) == 0
    return json.loads(out.getvalue())


def fit(learner, rows, **options):
    sklearn = pytest.importorskip("novikoff.integrations.sklearn")
    return sklearn.NovikoffClassifier(learner, shuffle=False, **options).fit(*rows)


@pytest.mark.parametrize(
    "learner", ["perceptron", "kernel-perceptron", "arow", "hedge:[perceptron,arow],seed=0", "linear-mixture:seed=0"]
)
def test_every_face_plays_the_same_rows_alike(rows, learner):
    wanted = nk.play(learner, rows)
    told, fitted = run(learner, DEMO), fit(learner, rows)
    assert (told["learner"], told["mistakes"]) == (wanted.spec, wanted.mistakes)
    compared, repeated = nk.compare([learner], rows), wanted
    if "seed" not in learner:
        repeated = nk.repeat(learner, rows, seeds=[0]).games[0]
    assert compared.learners[0].games[0].mistakes == repeated.mistakes == wanted.mistakes
    assert (fitted.ledger_.spec, fitted.ledger_.mistakes) == (wanted.spec, wanted.mistakes)
    require_same(fitted.ledger_.learner.state(), wanted.learner.state(), "fit must learn as play does")
    x = np.ascontiguousarray(rows[0])
    said = wanted.player.predict_many(nk.Batch(x, np.ones(len(x), dtype=np.int8), 1))
    assert np.array_equal(fitted.predict(x) == wanted.labels[1], said == 1)


@pytest.mark.parametrize("learner", ["perceptron", "arow", "linear-mixture", "perceptron:scale=standard"])
def test_river_and_the_service_play_single_rows_as_pairs_are_played(rows, learner):
    river = pytest.importorskip("novikoff.integrations.river")
    x, y = rows[0][:100], np.where(rows[1][:100] == "malignant", 1, -1)
    pairs = [
        ({f"x{j}": value for j, value in enumerate(row)}, int(label)) for row, label in zip(x.tolist(), y, strict=True)
    ]
    wanted = nk.play(learner, pairs, record=True)
    model = river.NovikoffClassifier(learner)
    game = nk.Game(begin(Model(learner), "rows").learner)
    for t, ((row, label), said) in enumerate(zip(pairs, wanted.predictions, strict=True)):
        assert model.predict_one(row) == (said == 1) if t else model.predict_one(row) is None  # no label is known yet
        model.learn_one(row, label == 1)
        assert game.learn_one(row, label) == said
    assert model.ledger.mistakes == game.ledger.mistakes == wanted.mistakes


@pytest.fixture
def counted(monkeypatch):
    """How often a spec was parsed, and a Perceptron made."""
    counts = {"parsed": 0, "made": 0}

    def count(name, function):
        @functools.wraps(function)
        def counting(*given, **named):
            counts[name] += 1
            return function(*given, **named)

        return counting

    monkeypatch.setattr(specs, "parse", count("parsed", specs.parse))
    monkeypatch.setattr(nk.Perceptron, "__init__", count("made", nk.Perceptron.__init__))
    return counts


@pytest.mark.parametrize(
    "face",
    [
        lambda rows: run("perceptron", DEMO),
        lambda rows: nk.play("perceptron", rows),
        lambda rows: nk.play("perceptron", Orthogonal(4), rounds=3),
        lambda rows: nk.compare(["perceptron"], rows),
        lambda rows: nk.repeat("perceptron", rows, seeds=[0]),
        lambda rows: fit("perceptron", rows),
        lambda rows: begin(Model("perceptron"), "rows"),
        lambda rows: pytest.importorskip("novikoff.integrations.river").NovikoffClassifier("perceptron"),
    ],
    ids=["run", "play", "duel", "compare", "repeat", "fit", "service", "River"],
)
def test_spec_is_parsed_once_and_one_learner_is_made(rows, counted, face):
    face(rows)
    assert counted == {"parsed": 1, "made": 1}


SPECS = {spec for samples in learner_samples().values() for spec, _, _ in samples} | {spec for spec, _ in FORECASTERS}


@pytest.mark.parametrize("spec", sorted(spec for spec in SPECS if "[table" not in spec))  # its labels are in the table
def test_task_of_a_spec_is_that_of_its_learner(spec):
    assert specs.task(specs.parse(spec)) == nk.make(spec, "learner").task


@pytest.mark.parametrize("learner", ["halving", "weighted-majority", "consistent"])
def test_labels_of_a_hypothesis_class_are_those_of_the_source(learner):
    rounds = [(1, 1), (3, 1), (2, 2)]
    spec = f"{learner}:[table:matrix=[[0,1,2,2],[2,1,1,1]]]"
    assert nk.play(spec, rounds).mistakes == nk.play(nk.make(spec, "learner"), rounds).mistakes


def test_regressor_reads_numbers_however_the_label_is_named(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    frame = pd.DataFrame({"a": rows[:, 0], "b": ["u", "v"] * 30, "y": rows[:, 1]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    weighted, path = frame.assign(w=1.0)[["w", "a", "b", "y"]], str(tmp_path / "rows.csv")
    expected = nk.play("vaw", frame).loss
    games = [
        nk.play("vaw", frame, label="y"),
        nk.play(nk.VAW(), frame, label="y"),
        nk.play("vaw", path, label="y"),
        nk.play("vaw", (frame[["a", "b"]], frame["y"])),
        nk.play("vaw", weighted, weights="w"),
        nk.play("vaw", nk.read(path), task="regress"),
    ]
    assert [one.loss for one in games] == [expected] * len(games)
    assert "vaw RMSE" in repr(nk.compare(["vaw"], frame, label="y"))
    for source, options in ((nk.read(path), {}), (frame, {"positive": "x"})):
        with pytest.raises(MismatchError, match="needs numbers: .* has labels. Pass task=.regress., or"):
            nk.play("vaw", source, **options)
