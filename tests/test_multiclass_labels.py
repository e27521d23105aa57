"""Labels of any kind and number: the same names and commands, whatever the source; new ones may come late."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import novikoff as nk
from helpers import novikoff
from nearest_mean import NearestMean, NearestMeans, ProbableMeans
from novikoff.core import registry
from novikoff.core.adapt import adapt
from novikoff.core.nesting import restored, saved
from novikoff.game.specs import make
from novikoff.reports.summary import probabilities
from novikoff.testing import check_learner, check_stream


@pytest.fixture(autouse=True)
def nearest_mean(monkeypatch):
    """Known by one name, for two labels and for many."""
    monkeypatch.setattr(registry, "_registered", {room: {} for room in registry.GROUPS})
    monkeypatch.setattr(registry, "_registered_multiclass", {})
    nk.register("nearest-mean", NearestMean, multiclass=NearestMeans)


@pytest.mark.parametrize("kind", [NearestMeans, ProbableMeans])
def test_a_learner_of_many_labels_keeps_every_contract(kind):
    nk.register("these-means", NearestMean, multiclass=kind)
    check_learner(lambda: kind(2), flowers(), refused=[[0.0, np.nan], [1.0]])


def test_probabilities_of_many_labels_are_judged():
    x, y = flowers()
    ledger = nk.play(ProbableMeans(2), (x, y))
    assert 0 < ledger.log_loss < 120 * np.log(3)
    assert sum(ledger.calibration.rounds) == 120
    assert sum(ledger.calibration.positives) == 120 - ledger.mistakes
    assert 0 < ledger.brier < 120 * 2 / 3


def test_hedge_draws_one_of_learners_of_many_labels():
    x, y = flowers(400)
    ledger = nk.play("hedge:learners=[perceptron,[perceptron:bias=1]]", (x, y), labels="multiclass")
    assert ledger.labels == list(dict.fromkeys(y.tolist()))
    assert [one.status for one in ledger.certify() if one.theorem == "mixability_gaps"] == ["valid"]
    alone = [nk.play(spec, (x, y)).mistakes for spec in ("perceptron", "perceptron:bias=1")]
    assert [member.mistakes for member in ledger.members] == alone
    with pytest.raises(nk.core.errors.InputError, match="learners must all be binary or all be multiclass"):
        nk.Hedge([nk.Perceptron(), NearestMeans(2)])


@pytest.mark.parametrize("kind", [NearestMeans, ProbableMeans])
def test_sets_of_many_labels_hold_as_often_as_asked(kind):
    x, y = flowers(600)
    learner = nk.Conformal(kind(2), alpha=0.1)
    ledger = nk.play(learner, (x, y))
    assert all(one.status == "valid" for one in ledger.certify() if one.theorem == "coverage_deviation")
    assert abs(ledger.coverage.missed - 60) <= 21
    assert set(nk.Game(learner, ledger).predict_set([0.0, 0.0])) <= {"setosa", "versicolor", "virginica"}


def test_specialists_refuse_multiclass_with_an_explanation():
    with pytest.raises(nk.core.errors.InputError, match="must be a binary classifier: ProbableMeans is multiclass"):
        nk.Specialists(ProbableMeans(2))


def test_a_name_has_a_class_for_two_labels_and_one_for_many():
    two, many = (
        make("nearest-mean", "learner", domain=nk.Domain("vector", 3), multiclass=many) for many in (False, True)
    )
    assert (type(two), type(many)) == (NearestMean, NearestMeans)
    assert registry.with_multiclass()[-1] == "nearest-mean"


def test_a_model_file_distinguishes_the_two_classes_of_a_name():
    for learner in (NearestMean(2), NearestMeans(2)):
        learner.learn_one([1.0, 2.0], 1 if learner.labels is None else 0)
        again = restored(saved(adapt(learner))).original
        assert type(again) is type(learner)
        assert np.array_equal(again.sums, learner.sums)


def flowers(rows=120, seed=0):
    """Three kinds, each around a place of its own, in a random order."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, rows)
    x = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[kinds] + rng.normal(size=(rows, 2))
    return x, np.array(["setosa", "versicolor", "virginica"])[kinds]


def test_three_labels_in_arrays_are_a_game_of_many():
    x, y = flowers()
    ledger = nk.play("nearest-mean", (x, y))
    assert type(ledger.learner) is NearestMeans
    assert ledger.labels == list(dict.fromkeys(y.tolist()))
    assert ledger.rounds == 120
    assert 2 < ledger.mistakes < 20
    assert set(ledger.confusion.labels) == {"setosa", "versicolor", "virginica"}
    assert np.trace(ledger.confusion.table) == 120 - ledger.mistakes
    assert ledger.best_constant.says in ledger.labels


def test_two_labels_are_binary_unless_multiclass_is_requested():
    x, y = flowers()
    two = (x[y != "setosa"], y[y != "setosa"])
    assert type(nk.play("nearest-mean", two).learner) is NearestMean
    many = nk.play("nearest-mean", two, labels="multiclass")
    assert type(many.learner) is NearestMeans
    assert sorted(many.labels) == ["versicolor", "virginica"]


def test_learner_without_multiclass_form_lists_those_with_one():
    with pytest.raises(nk.core.errors.MismatchError, match=r"ellipsoid.* is for two.*nearest-mean.*positive=VALUE"):
        nk.play("ellipsoid", flowers())


def test_a_game_of_the_callers_own_takes_any_labels_as_they_come():
    x, y = flowers()
    game, whole = nk.Game(NearestMeans(2)), nk.play(NearestMeans(2), (x, y))
    assert game.predict_one(x[0]) is None
    for row, label in zip(x, y.tolist(), strict=True):
        asked = game.predict_one(row)
        assert game.learn_one(row, label) == asked
    assert (game.ledger.mistakes, game.ledger.labels) == (whole.mistakes, whole.labels)
    assert game.predict_one([4.0, 0.0]) == "versicolor"


def test_a_label_that_a_refused_round_brought_is_forgotten():
    game = nk.Game(NearestMeans(2))
    game.learn_one([0.0, 0.0], "a")
    with pytest.raises(nk.core.errors.InputError):
        game.learn_one([np.nan, 0.0], "b")
    game.learn_one([1.0, 1.0], "c")
    assert game.ledger.labels == ["a", "c"]


@pytest.mark.parametrize("label", [None, float("nan"), np.float64("nan"), float("inf")])
def test_a_missing_label_is_no_label_in_a_game_of_the_callers_own_either(label):
    game = nk.Game(NearestMeans(2))
    game.learn_one([0.0, 0.0], "a")
    with pytest.raises(nk.core.errors.InputError, match="a label must be text, a boolean or a finite number"):
        game.learn_one([0.0, 0.0], label)
    assert (game.ledger.labels, game.ledger.rounds) == (["a"], 1)


def test_the_best_constant_of_one_label_loses_nothing_and_not_less():
    ledger = nk.play("ftrl", (np.eye(3), np.array(["a"] * 3)), labels="multiclass")
    assert [one.note for one in probabilities(ledger)] == ["best constant: 0", "best constant: 0"]


def test_another_source_may_bring_new_labels_and_the_old_ones_in_another_order(tmp_path):
    x, y = flowers()
    first = nk.play("nearest-mean", (x[:60], y[:60]))
    nk.save(first, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    assert again.labels == first.labels
    later = np.where(y[60:] == "setosa", "lily", y[60:])[::-1]
    nk.play(again.learner, (x[60:][::-1], later), ledger=again)
    assert again.labels == [*first.labels, "lily"]
    assert again.rounds == 120
    assert again.learner.labels == 4


def test_all_sources_in_memory_play_the_same_game():
    import pandas as pd

    x, y = flowers()
    whole = nk.play("nearest-mean:width=2", (x, y))
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": y})
    for source, labels in (
        (pairs, "multiclass"),
        (nk.Arrays(x, y, multiclass=True), None),
        (frame, None),
        (pl.from_pandas(frame), None),
    ):
        ledger = nk.play("nearest-mean:width=2", source, labels=labels)
        assert (ledger.mistakes, ledger.labels) == (whole.mistakes, whole.labels)
        assert np.array_equal(ledger.learner.sums, whole.learner.sums)


@pytest.fixture
def files(tmp_path):
    """The flowers, in every format."""
    x, y = flowers()
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": y})
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    rows = frame.to_dict("records")
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    number = {kind: k for k, kind in enumerate(dict.fromkeys(y.tolist()))}
    entries = [f"1:{a!r} 2:{b!r}" for a, b in x.tolist()]
    (tmp_path / "f.svm").write_text("".join(f"{number[k]} {e}\n" for k, e in zip(y, entries, strict=True)))
    (tmp_path / "f.vw").write_text(
        "".join(f"{number[k]} | {e.replace('1:', 'a:')}\n" for k, e in zip(y, entries, strict=True))
    )
    (tmp_path / "f.txt").write_text(
        "".join(f"{k}\tsome words {k[:2]} and {t % 7} of {k[-3:]} more\n" for t, k in enumerate(y))
    )
    return tmp_path


def test_files_of_every_format_play_the_same_game(files):
    x, y = flowers()
    whole = nk.play("nearest-mean", (x, y))
    for name in ("f.csv", "f.parquet", "f.jsonl"):
        ledger = nk.play("nearest-mean:width=2", files / name)
        assert (ledger.mistakes, ledger.labels) == (whole.mistakes, whole.labels), name
        assert np.array_equal(ledger.learner.sums, whole.learner.sums)
    plain = nk.play("perceptron:scale=none", (x, y))
    svm = nk.play("perceptron", files / "f.svm")
    assert (svm.mistakes, svm.labels) == (plain.mistakes, [0, 1, 2])
    assert np.array_equal(svm.learner.weights[:, 1:], plain.learner.weights)
    for name, labels in (("f.vw", [0, 1, 2]), ("f.txt", whole.labels)):
        assert nk.play("perceptron", files / name).labels == labels


def test_a_third_label_that_comes_late_ends_a_game_of_two_and_suggests_a_fix(files):
    lines = (files / "f.txt").read_text().splitlines(keepends=True)
    two = [line for line in lines if not line.startswith("setosa")]
    (files / "late.txt").write_text("".join(two * 80) + "setosa\tsome words\n")
    with pytest.raises(
        nk.core.errors.LabelError, match='has a third value, "setosa".* or labels="multiclass" if there are more'
    ):
        nk.play("perceptron", files / "late.txt")
    ledger = nk.play("perceptron", files / "late.txt", labels="multiclass")
    assert ledger.labels[2] == "setosa"
    assert ledger.mistakes >= 3


def test_labels_keep_their_source_values():
    x = np.arange(12.0).reshape(6, 2)
    for values in ([1.5, 2.0, 7.0] * 2, [True, False, True] * 2, [3, 1, 2] * 2):
        labels = nk.play(NearestMeans(2), (x, values)).labels
        assert [(type(one), one) for one in labels] == [
            (int if one == 2.0 or one == 7.0 else type(one), one) for one in dict.fromkeys(values)
        ]


def test_on_the_command_line_a_game_is_saved_resumes_and_predicts_labels(files):
    whole = novikoff("run", "perceptron", "f.csv", "--save", "whole.nk", "--json", cwd=files)
    novikoff("run", "perceptron", "f.csv", "--rounds", "50", "--save", "part.nk", cwd=files)
    novikoff("run", "--resume", "part.nk", "f.csv", "--save", "again.nk", cwd=files)
    one, two = (novikoff("predict", name, "f.csv", cwd=files) for name in ("whole.nk", "again.nk"))
    assert one.stdout == two.stdout
    assert set(one.stdout.split()) == {"setosa", "versicolor", "virginica"}
    scored = novikoff("predict", "whole.nk", "f.csv", "--scores", cwd=files).stdout.splitlines()[0].split("\t")
    assert {part.partition("=")[0] for part in scored[1:]} == {"setosa", "versicolor", "virginica"}
    told = json.loads(whole.stdout)
    assert [one["shown"] for one in told["labels"]] == [sum(row) for row in told["confusion"]["table"]]


@pytest.mark.parametrize("how", ["best", "random", "voted", "last"])
def test_a_classifier_is_kept_of_many_labels(files, how):
    kept = novikoff(
        "run", "perceptron:normalize=true", "f.csv", "--finalize", how, "--save", "k.nk", "--seed", "1", cwd=files
    )
    assert "final classifier: " in kept.stdout, kept.stderr
    said = novikoff("predict", "k.nk", "f.csv", cwd=files)
    assert {"setosa", "versicolor"} <= set(said.stdout.split()), said.stderr


def test_unkeepable_learner_is_refused_with_the_valid_flags(files):
    told = novikoff("run", "perceptron:scale=none", "f.csv", "--finalize", "averaged", cwd=files)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.endswith("Use --finalize best or --finalize voted.\n")


def test_multiclass_brier_score_is_that_of_the_predictions():
    x, y = flowers(80)
    learner, known, brier, sure = make("ftrl", "learner", multiclass=True), [], 0.0, []
    for row, label in zip(x, y.tolist(), strict=True):
        chances = learner.probabilities_one(row)
        new = 1.0 - chances.sum()
        if label in known:
            code = known.index(label)
            brier += (chances**2).sum() + new**2 - chances[code] ** 2 + (1.0 - chances[code]) ** 2
            sure.append(chances.max())
        else:  # the most it can be
            code = len(known)
            known.append(label)
            brier += 2.0 * (1.0 - new) ** 2
        learner.learn_one(row, code)
    ledger = nk.play("ftrl", (x, y))
    assert ledger.brier == pytest.approx(brier, rel=1e-9)
    assert ledger.calibration.predicted == pytest.approx(sum(sure), rel=1e-9)


@pytest.mark.parametrize("name", ["f.csv", "f.parquet", "f.jsonl", "f.svm", "f.vw", "f.txt"])
def test_a_stream_of_many_labels_keeps_every_contract(files, name):
    check_stream(lambda: nk.read(files / name, labels="multiclass"))


def test_the_labels_of_a_model_are_known_in_a_source_that_writes_them_as_text(files):
    x, _ = flowers()
    ledger = nk.play("nearest-mean", (x, [3, 1, 2] * 40))
    nk.play(ledger.learner, (x, np.array(["1", "2", "3", "4"] * 30)), ledger=ledger)
    assert ledger.labels == [3, 1, 2, "4"]


def test_integers_are_the_labels_that_were_announced():
    x = np.eye(4)
    assert nk.play(nk.MulticlassPerceptron(labels=3), (x, [2, 0, 2, 1])).learner.counts.tolist() == [1, 1, 2]
    named = nk.play(nk.MulticlassPerceptron(labels=3), (x, ["c", "a", "c", "b"]))
    assert (named.learner.counts.tolist(), named.labels) == ([2, 1, 1], ["c", "a", "b"])
    with pytest.raises(nk.core.errors.InputError, match="labels are announced"):
        nk.play(nk.MulticlassPerceptron(labels=3), (x, [2, 0, 3, 1]))
