"""Whose labels are whose: a learner says -1 and +1, a game and what is kept of it say what the user does."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import helpers
import novikoff as nk
from novikoff.core.errors import InputError, SourceError
from novikoff.core.labels import Numbering
from novikoff.core.types import Domain
from novikoff.data.formats.svmlight import Svmlight

X = np.array([[1.0, 0.5], [-1.0, 0.25], [2.0, -1.0], [-0.5, -2.0]])
SIGNS = np.array([1, -1, 1, -1])
PAIRS = [(0, 1), (1, 2), (-1, 1), ("ham", "spam"), (False, True), (0.5, 2.5)]
pairs = pytest.mark.parametrize(("negative", "positive"), PAIRS, ids=str)


def labelled(negative, positive, signs=SIGNS):
    return [positive if sign == 1 else negative for sign in signs]


def kind(value):
    return type(value), value


# games and what is kept of them


@pairs
def test_game_predicts_and_learns_the_labels_of_its_source(negative, positive, tmp_path):
    plain = nk.Game(nk.Perceptron())
    for x, sign in [*zip(X, SIGNS, strict=True), ([1.0, 1.0], -1), ([0.5, -1.0], 1)]:
        plain.learn_one(x, sign)
    played = nk.play(nk.Perceptron(), (X, labelled(negative, positive)))
    nk.save(played, tmp_path / "m.nk")
    for ledger in (played, nk.load(tmp_path / "m.nk")):
        learner = ledger.learner
        game = nk.Game(learner, ledger)
        for x, sign in (([1.0, 1.0], -1), ([0.5, -1.0], 1)):
            said = learner.predict_one(x)
            assert said in (-1, 1)
            (told,), (y,) = labelled(negative, positive, [said]), labelled(negative, positive, [sign])
            assert kind(game.predict_one(x)) == kind(game.learn_one(x, y)) == kind(told)
        assert learner.weights.tolist() == plain.learner.weights.tolist()
        assert (ledger.rounds, ledger.mistakes) == (plain.ledger.rounds, plain.ledger.mistakes)


@pairs
@pytest.mark.parametrize("how", ["last", "random", "best", "voted"])
def test_kept_classifier_predicts_the_labels_of_its_source(negative, positive, how, tmp_path):
    stream = nk.Arrays(X, labelled(negative, positive))
    kept = nk.finalize(nk.play(nk.Perceptron(), stream, candidates=3), how, stream=stream)
    nk.save(kept, tmp_path / "k.nk")
    for one in (kept, nk.load(tmp_path / "k.nk")):
        (batch,) = stream.batches()
        signs = one.predict_many(batch)
        assert set(signs.tolist()) <= {-1, 1}
        assert [kind(one.predict_one(x)) for x in X] == [kind(one) for one in labelled(negative, positive, signs)]


@pytest.mark.parametrize("kind", [None, object])
def test_labels_are_numbered_in_order_of_appearance(kind):
    """Whether an array has one type or holds objects, and whether values come together or one by one."""
    values = np.array(["pear", "apple", "fig", "apple", "pear", "date"], dtype=kind)
    numbering = Numbering()
    assert numbering.encode_all(values).tolist() == [0, 1, 2, 1, 0, 3]
    assert numbering.encode_all(np.array(["lime", "date", "apple"], dtype=kind)).tolist() == [4, 3, 1]
    assert numbering.values == ["pear", "apple", "fig", "date", "lime"]
    one_by_one = Numbering()
    assert [one_by_one.encode(value) for value in values.tolist()] == [0, 1, 2, 1, 0, 3]


def test_bare_game_predicts_minus_one_and_one():
    game = nk.Game(nk.Perceptron())
    assert game.predict_one([1.0]) == game.learn_one([1.0], -1) == 1
    assert game.ledger.labels is None
    with pytest.raises(InputError, match="a label must be -1 or"):
        game.learn_one([1.0], 0)


def test_a_game_refuses_other_labels_than_its_own_and_stays_unchanged():
    ledger = nk.play(nk.Perceptron(), (X, labelled(0, 1)))
    game = nk.Game(ledger.learner, ledger)
    before = ledger.learner.weights.tolist()
    for y in (-1, 2, "1", None, np.array([1]), [0]):
        with pytest.raises(InputError, match="labels must be 0 or 1: got"):
            game.learn_one(X[0], y)
    assert (ledger.rounds, ledger.learner.weights.tolist()) == (4, before)
    assert game.learn_one(X[0], np.int64(1)) == 1
    assert game.learn_one(X[0], True) == 1  # where False is 0 and True is 1, nothing can be mistaken


def test_multiclass_and_regression_predictions_pass_through_unchanged():
    table = nk.classes.table([[0, 1, 2], [2, 1, 0]])
    ledger = nk.play(nk.Halving(table), nk.Arrays([0, 2], [2, 0]))  # two values, of the three there are
    assert ledger.labels == [0, 2]
    game = nk.Game(ledger.learner, ledger)
    assert game.predict_one(1) == ledger.learner.predict_one(1) == game.learn_one(1, 1)
    ledger = nk.play(nk.OnlineGradient(normalize=True), (X, [0.5, 0.25, 0.0, 1.0]))
    assert nk.Game(ledger.learner, ledger).predict_one(X[0]) == ledger.learner.predict_one(X[0])


def test_a_label_that_came_late_is_known_in_the_end():
    class Late:
        """At first only 1 has come, which could be of -1 and 1 as well."""

        name, domain, rereadable = "late", Domain("vector", 1), True
        labels = nk.Labels(-1, 1)

        def batches(self, start=None):
            yield nk.Batch(np.array([[1.0]]), np.array([1], np.int8), 1)
            self.labels = nk.Labels(0, 1)
            yield nk.Batch(np.array([[-1.0]]), np.array([-1], np.int8), 2)

    ledger = nk.play(nk.Perceptron(), Late())
    assert ledger.labels == [0, 1]
    nk.play(ledger.learner, nk.Arrays([[1.0], [2.0]], [1, 7], positive=1), ledger=ledger)
    assert ledger.labels == [0, 1]  # those of the first source


# booleans


def test_booleans_are_no_labels_where_these_are_minus_one_and_one():
    for y in (True, False, np.True_):
        for learner in (nk.Perceptron(), nk.Ellipsoid(), nk.KernelPerceptron(), nk.Hedge([nk.Perceptron()])):
            with pytest.raises(InputError, match="not a boolean"):
                learner.learn_one([1.0], y)
            with pytest.raises(InputError, match="not a boolean"):
                nk.Game(learner).learn_one([1.0], y)
            with pytest.raises(SourceError, match="item 1 of pairs: .*not a boolean"):
                nk.play(learner, [([1.0], y)])
        with pytest.raises(
            InputError, match=f"labels must be -1 or 1: got {y!r}".replace("(", r"\(").replace(")", r"\)")
        ):
            nk.Labels().encode(y)
        with pytest.raises(InputError):
            nk.Labels(1, 2).encode(y)
        assert nk.Labels(False, True).encode(y) == nk.Labels(0, 1).encode(y) == (1 if y else -1)
    ledger = nk.play(nk.Perceptron(), [([1.0], 1), ([2.0], -1)])
    with pytest.raises(InputError, match="not a boolean"):
        nk.Game(ledger.learner, ledger).learn_one([1.0], True)
    with pytest.raises(InputError, match="a label must be -1 or"):
        nk.Game(nk.Perceptron()).learn_batch(nk.Batch(X, SIGNS == 1, 1))
    assert (
        nk.play(nk.Perceptron(), nk.Pairs([([1.0], True), ([2.0], False)], labels=nk.Labels(False, True))).rounds == 2
    )


@pytest.fixture(params=["frame", "arrow", "parquet", "categories", "converted", "jsonl", "arrays"])
def booleans(request, tmp_path):
    """A source whose labels are True, False, True, False; and what opens it, with options."""
    y = pa.array(SIGNS == 1)
    table = pa.table({"a": X[:, 0], "y": y.dictionary_encode() if request.param == "categories" else y})
    path = tmp_path / f"table.{request.param}"
    if request.param in ("frame", "categories"):
        return lambda **options: nk.Frame(table, **options)
    if request.param == "arrays":
        return lambda **options: nk.Arrays(X, SIGNS == 1, **options)
    if request.param == "parquet":
        pq.write_table(table, path)
    elif request.param == "arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif request.param == "converted":
        nk.convert(nk.Frame(table), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return lambda **options: nk.read(path, **options)


def test_booleans_of_the_user_stay_booleans(booleans):
    ledger = nk.play(nk.Perceptron(), booleans(), record=True)
    assert [kind(one) for one in ledger.labels] == [(bool, False), (bool, True)]
    assert np.concatenate([batch.y for batch in booleans().batches()]).tolist() == SIGNS.tolist()
    assert (
        type(nk.Game(ledger.learner, ledger).predict_one(next(iter(next(iter(booleans().batches())).rows()))[0]))
        is bool
    )


@pytest.mark.parametrize("positive", [False, "False", "0", 0])
def test_either_boolean_can_be_the_positive_one(booleans, positive):
    ledger = nk.play(nk.Perceptron(), booleans(positive=positive))
    assert [kind(one) for one in ledger.labels] == [(bool, True), (bool, False)]
    assert np.concatenate([batch.y for batch in booleans(positive=positive).batches()]).tolist() == (-SIGNS).tolist()


def test_a_missing_boolean_and_one_alone():
    assert nk.Frame(pa.table({"a": [1.0, 2.0], "y": [True, True]})).labels == nk.Labels(False, True)
    (batch,) = nk.Frame(pa.table({"a": [1.0, 2.0, 3.0], "y": [True, None, False]})).batches()
    assert batch.y.tolist() == [1, -1]
    rows = ['{"a": 1, "y": true}'] * 1000 + ['{"a": 1, "y": 7}']
    with pytest.raises(SourceError, match="labels must be true or false, as the first is: line 1001"):
        list(nk.JSONL(io.BytesIO("\n".join(rows).encode())).batches())


def test_a_pandas_frame_of_booleans():
    pd = pytest.importorskip("pandas")
    for dtype in (bool, "boolean", object):
        labels = nk.Frame(pd.DataFrame({"a": X[:, 0], "y": pd.Series(SIGNS == 1, dtype=dtype)})).labels
        assert (labels.negative, labels.positive) == (False, True)
        assert type(labels.positive) is bool


# what is printed


def novikoff(*words):
    done = helpers.novikoff(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("labels", [(0, 1), (1, 2), (-1, 1), (0.5, 1.5), ("ham", "spam"), (False, True)], ids=str)
def test_predictions_in_json_are_of_the_kind_of_the_labels(tmp_path, labels):
    y = labelled(*labels)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), tmp_path / "t.parquet")
    novikoff("run", "perceptron", tmp_path / "t.parquet", "--save", tmp_path / "m.nk", "--passes", "9", "-q")
    told = json.loads(novikoff("predict", tmp_path / "m.nk", tmp_path / "t.parquet", "--json"))
    assert [kind(one) for one in told["predictions"]] == [kind(one) for one in y]
    assert told["mistakes"] == 0
    assert novikoff("predict", tmp_path / "m.nk", tmp_path / "t.parquet").split() == [str(one) for one in y]
    if isinstance(labels[0], bool):  # as pandas and R write them in text
        for no, yes in (("False", "True"), ("FALSE", "TRUE")):
            rows = [f"{a},{b},{yes if one else no}" for (a, b), one in zip(X, y, strict=True)]
            (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
            assert json.loads(novikoff("predict", tmp_path / "m.nk", tmp_path / "t.csv", "--json"))["mistakes"] == 0


# a bad line is not the fault of the labels before it


@pytest.mark.parametrize(
    ("make", "text", "said"),
    [
        (nk.JSONL, '{"a": 1, "y": "ham"}\n{"a": 3, "y": null}\n', "only .ham.*1 row has no label"),
        (nk.JSONL, '{"a": 1, "y": "ham"}\n{"a": 3\n', "a line must be one JSON object: line 2"),
        (Svmlight, "2 1:1\n3 1:x\n3 1:1\n", "line 2, column 5"),
        (nk.VW, "2 | a\n3 | a:x\n3 | a\n", "line 2"),
        (nk.Text, "ham\tx y\nspam without a tab\n", "line 2 of .* has no TAB"),
    ],
)  # fmt: skip
def test_a_bad_line_is_reported_before_a_label_that_is_alone_so_far(make, text, said):
    with pytest.raises(SourceError, match=said):
        list(make(io.BytesIO(text.encode())).batches())


def test_a_third_label_before_a_bad_line_is_reported_first():
    text = b'{"a": 1, "y": 2}\n{"a": 1, "y": 3}\n{"a": 1, "y": 4}\n{"a": null, "y": 3}\n'
    with pytest.raises(SourceError, match="line 3, column .y. of .* has a third"):
        list(nk.JSONL(io.BytesIO(text)).batches())
    with pytest.raises(SourceError, match="only 2"):
        list(nk.JSONL(io.BytesIO(b'{"a": 1, "y": 2}\n{"a": null, "y": 2}\n'), skip_bad=1).batches())
