from __future__ import annotations

import json
from fractions import Fraction
from itertools import count, islice

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError, LabelError, MismatchError, SourceError
from novikoff.core.types import Domain, Labels, Sparse
from novikoff.data.memory import Pairs, RegressionArrays, TargetPairs, targets
from novikoff.data.tables.table_formats import Frame
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.play import play


def labels_of(stream):
    return [int(batch.y[0]) for batch in stream.batches()]


def test_each_pair_is_a_batch_of_one_round_and_x_is_kept_as_it_is():
    x = object()
    first, second = Pairs([(x, 1), (Fraction(1, 3), -1)]).batches()
    assert first.x[0] is x
    assert (first.first, second.first) == (1, 2)
    assert first.y.dtype == np.int8
    assert (first.y.tolist(), second.y.tolist()) == ([1], [-1])


def test_a_list_can_be_read_again_and_a_generator_cannot():
    pairs = [(0, 1), (1, -1)]
    again = Pairs(pairs)
    assert again.rereadable
    assert labels_of(again) == labels_of(again) == [1, -1]
    once = Pairs(pair for pair in pairs)
    assert not once.rereadable
    assert labels_of(once) == [1, -1]
    with pytest.raises(SourceError, match=r"pairs has no items left\. Pass a list to read it again"):
        labels_of(once)
    assert not Pairs(zip([0], [1], strict=True)).rereadable
    with pytest.raises(InputError, match="2 passes need a stream that can be read again"):
        play(ThresholdHalving(5), (pair for pair in pairs), passes=2)


def test_an_endless_generator_is_played_as_far_as_asked_and_resumes_from_there():
    endless = ((t % 11, 1 if t % 11 >= 7 else -1) for t in count())
    ledger = play(ThresholdHalving(10), endless, rounds=100)
    assert ledger.rounds == 100
    assert next(endless)[0] == 100 % 11
    assert [batch.first for batch in islice(Pairs(endless).batches(), 3)] == [1, 2, 3]


def test_without_labels_y_is_minus_one_or_plus_one_in_any_number_type():
    assert labels_of(Pairs([(0, 1), (0, -1.0), (0, np.int8(1))])) == [1, -1, 1]
    assert Pairs([(0, 1)]).labels == Labels(-1, 1)
    assert Pairs([(0, 1)]).domain == Domain("any")
    assert Pairs([(0, 1)], domain=Domain("index", 3)).domain == Domain("index", 3)


@pytest.mark.parametrize("y", [0, False, True, 2, "1", None, float("nan"), float("inf"), [1]])
def test_any_other_label_is_an_error_that_names_the_item(y):
    with pytest.raises(SourceError, match=r"item 2 of mail: a label must be -1 or \+1.*: got .*the two label values"):
        labels_of(Pairs([(0, 1), (0, y)], name="mail"))


def test_an_array_is_no_label():
    for labels in (None, Labels(0, 1)):
        with pytest.raises(SourceError, match="item 1 of pairs"):
            labels_of(Pairs([(0, np.array([1, 1]))], labels=labels))


@pytest.mark.parametrize(
    ("negative", "positive"), [("ham", "spam"), (0, 1), (False, True), (1, 0), (None, "seen"), (1.5, 2.5)]
)
def test_labels_map_two_values_to_minus_and_plus_one(negative, positive):
    stream = Pairs([(0, positive), (0, negative)], labels=Labels(negative, positive))
    assert labels_of(stream) == [1, -1]
    with pytest.raises(SourceError, match=r"labels must be .* or .*: item 1 of pairs got 'third'"):
        labels_of(Pairs([(0, "third")], labels=Labels(negative, positive)))


def test_many_labels_are_integers_below_many():
    stream = Pairs([(0, 0), (0, np.int64(2))], multiclass=3)
    assert stream.labels is None
    assert labels_of(stream) == [0, 2]
    assert next(stream.batches()).y.dtype == np.int32
    for y in (3, -1, 0.5, True, "0", None):
        with pytest.raises(SourceError, match="item 1 of pairs: a label must be an integer from 0 to 2.*: got"):
            labels_of(Pairs([(0, y)], multiclass=3))


def test_labels_are_two_or_many_not_both():
    with pytest.raises(SourceError, match="labels are either binary or multiclass"):
        Pairs([], labels=Labels(), multiclass=3)


@pytest.mark.parametrize("item", [3, None, (1,), (1, 1, 1), "abc", []])
def test_an_item_that_is_not_a_pair_is_an_error_that_shows_it(item):
    stream = Pairs([(0, 1), (0, -1), item], name="mail")
    with pytest.raises(SourceError, match=r"each item must be a pair \(x, y\): item 3 of mail is"):
        labels_of(stream)


@pytest.mark.parametrize("empty", [[], (), {}, iter([])])
def test_nothing_at_all_is_an_error(empty):
    with pytest.raises(SourceError, match="a source must not be empty: mail has no items"):
        labels_of(Pairs(empty, name="mail"))


def test_non_iterable_source_is_an_error():
    with pytest.raises(SourceError, match=r"pairs must be an iterable of \(x, y\): got int"):
        Pairs(3)


def test_bad_item_keeps_earlier_learning():
    learner = ThresholdHalving(10)
    with pytest.raises(SourceError, match="item 3 of"):
        play(learner, [(5, -1), (8, -1), (9, "?")])
    assert (learner.lo, learner.hi, learner.rounds) == (9, 11, 2)


def test_an_error_of_the_generator_itself_is_not_hidden():
    def broken():
        yield 0, 1
        raise OSError("the wire was cut")

    with pytest.raises(OSError, match="the wire was cut"):
        labels_of(Pairs(broken()))


def target_frame(frame, label=None, **options):
    return Frame(frame, label, outcomes="numbers", **options)


def rows(stream, start=None):
    x, y = [], []
    for batch in stream.batches(start):
        assert batch.y.dtype == np.float64
        x.append(batch.x)
        y.append(batch.y)
    return x, np.concatenate(y)


def test_arrays_become_doubles_with_unchanged_outcomes():
    X, y = np.arange(6).reshape(3, 2), [2, 0.5, -7]
    stream = RegressionArrays(X, y)
    (x,), outcomes = rows(stream)
    assert (x.dtype, x.tolist(), outcomes.tolist()) == (np.float64, X.tolist(), [2.0, 0.5, -7.0])
    assert (stream.domain, stream.labels, stream.outcomes, len(stream)) == (Domain("vector", 2), None, "numbers", 3)
    assert stream.features is None
    assert RegressionArrays(X, y, features=["a", "b"]).features == ("a", "b")


def test_one_column_may_be_given_flat():
    (x,), _ = rows(RegressionArrays([1, 2, 3], [0.0, 0.0, 1.0]))
    assert x.tolist() == [[1.0], [2.0], [3.0]]


def test_a_sparse_matrix_stays_sparse():
    X = scipy.sparse.csr_array(np.array([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    (x,), y = rows(RegressionArrays(X, [1.5, 2.5, 3.5]))
    assert isinstance(x, Sparse)
    assert (x.indices.tolist(), x.values.tolist(), x.width) == ([1, 0], [2.0, 1.0], 2)
    assert y.tolist() == [1.5, 2.5, 3.5]


def test_a_long_stream_resumes_where_it_stopped():
    X, y = np.arange(150_000.0)[:, None], np.arange(150_000.0) / 2
    stream = RegressionArrays(X, y)
    first = next(iter(stream.batches()))
    parts, outcomes = rows(stream, first.end)
    assert len(first) + len(outcomes) == 150_000
    assert np.array_equal(np.concatenate(parts)[:, 0], 2 * outcomes)
    assert outcomes[0] == y[len(first)]


def test_a_frame_has_its_target_by_name_or_last():
    frame = pa.table({"a": [1, 2], "target": [0.5, -0.5], "b": [3.0, 4.0]})
    (x,), y = rows(target_frame(frame))
    assert (x.tolist(), y.tolist()) == ([[1.0, 3.0], [2.0, 4.0]], [0.5, -0.5])
    stream = target_frame(frame, label="a", columns=["b"])
    (x,), y = rows(stream)
    assert (x.tolist(), y.tolist(), stream.features) == ([[3.0], [4.0]], [1.0, 2.0], ("b",))
    with pytest.raises(SourceError, match="a numeric column must contain numbers.* choose a classifier"):
        rows(target_frame(pa.table({"a": [1, 2], "y": ["big", "small"]})))
    assert rows(target_frame(pa.table({"a": [1, 2, 3], "y": [1.0, None, 2.0]})))[1].tolist() == [1.0, 2.0]


def test_pairs_come_one_by_one_and_may_be_endless():
    def endless():
        t = 0
        while True:
            t += 1
            yield {"a": 1.0}, t / 2

    stream = TargetPairs(endless())
    batches = stream.batches()
    assert [next(batches).y.tolist() for _ in range(3)] == [[0.5], [1.0], [1.5]]
    assert not stream.rereadable
    again = TargetPairs([([1.0], 2.0), ([3.0], 4.0)])
    assert again.rereadable
    assert rows(again, {"row": 1})[1].tolist() == [4.0]


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [2.0]], [1.0], "one length"),
        ([[1.0]], [[1.0]], "one dimension"),
        ([[1.0]], ["a"], "numbers"),
        ([[1.0], [2.0]], [1.0, np.nan], "finite: row 2"),
        ([[1.0], [np.inf]], [1.0, 2.0], "finite: row 2"),
        ([[1.0], [1.0, 2.0]], [1.0, 2.0], "different lengths"),
        ([["a"]], [1.0], "numbers"),
        (np.zeros((0, 2)), [], "empty"),
        (np.zeros((2, 0)), [1.0, 2.0], "column"),
        (np.zeros((2, 2, 2)), [1.0, 2.0], "dimensions"),
        (scipy.sparse.csr_array((2, 3)), [1.0], "one length"),
    ],
)
def test_invalid_table_of_numbers_is_refused(X, y, words):
    with pytest.raises(SourceError, match=words):
        RegressionArrays(X, y)


def test_invalid_source_is_refused():
    with pytest.raises(MismatchError, match="expected a stream, arrays"):
        targets(3)
    with pytest.raises(SourceError, match="pair"):
        list(targets([1, 2, 3]).batches())
    with pytest.raises(SourceError, match="empty"):
        list(targets([]).batches())
    with pytest.raises(SourceError, match="item 2"):
        list(targets([([1.0], 1.0), ([1.0], "a")]).batches())


@pytest.fixture
def outcomes(tmp_path):
    """The same rows, whose outcomes are numbers, as arrays, svmlight and Vowpal Wabbit text."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(300, 3)).round(3)
    y = (x @ [3.0, -1.0, 0.5] + 100.0).round(3)
    svmlight, vw = tmp_path / "rows.svm", tmp_path / "rows.vw"
    rows = [" ".join(f"{j}:{v}" for j, v in enumerate(row)) for row in x.tolist()]
    svmlight.write_text("".join(f"{outcome} {row}\n" for outcome, row in zip(y.tolist(), rows, strict=True)))
    vw.write_text("".join(f"{outcome} | {row}\n" for outcome, row in zip(y.tolist(), rows, strict=True)))
    (tmp_path / "new.svm").write_text("".join(f"{row}\n" for row in rows))
    return (scipy.sparse.csr_matrix(x), y), str(svmlight), str(vw)


@pytest.mark.parametrize("learner", ["linear-mixture-regression", "vaw", "online-gradient"])
def test_numbers_of_svmlight_and_vowpal_wabbit_text_are_those_of_arrays(outcomes, learner):
    arrays, svmlight, vw = outcomes
    losses = [nk.play(learner, source, record=True) for source in (arrays, svmlight, vw)]
    assert losses[1].recorded().tolist() == losses[0].recorded().tolist()
    assert losses[2].loss == pytest.approx(losses[0].loss, rel=1e-9)  # features in another order
    assert [one.best_constant for one in losses] == [losses[0].best_constant] * 3


def test_a_game_on_numbers_of_svmlight_resumes_and_predicts(outcomes, tmp_path, capsys):
    _, svmlight, _ = outcomes
    whole, model = nk.play("vaw", svmlight), str(tmp_path / "m.nk")
    assert main(["run", "vaw", svmlight, "--rounds", "123", "--save", model, "-q"]) == 0
    assert main(["run", "vaw", svmlight, "--resume", model, "--save", model, "-q"]) == 0
    assert nk.load(model).loss == whole.loss
    said = []
    for source in ([svmlight], [str(tmp_path / "new.svm"), "--no-label"]):
        capsys.readouterr()
        assert main(["predict", model, *source, "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out)["predictions"])
    assert said[0] == said[1]
    assert len({*said[0]}) > 200


def test_auto_plays_numbers_of_svmlight_as_such_unless_one_is_named_as_positive(outcomes, capsys):
    _, svmlight, vw = outcomes
    for source in (svmlight, vw):
        ledger = nk.play(None, source)
        assert (type(ledger.learner).__name__, ledger.rounds) == ("AutoRegression", 300)
    assert main(["run", svmlight]) == 0
    assert "is numeric: regression. For classification pass --positive" in capsys.readouterr().err
    assert main(["run", svmlight, "--positive", "100", "-q", "-v"]) == 0
    assert "Labels: 100 is +1" in capsys.readouterr().out


def test_numbers_taken_for_labels_suggest_a_fix(outcomes):
    with pytest.raises(LabelError, match="has a third.*look like numbers to predict: choose a regression learner"):
        nk.play("perceptron", outcomes[1])


def test_a_file_of_words_to_predict_advises_a_learner_of_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,big\n2,small\n")
    with pytest.raises(SourceError, match='column "y".* choose a classifier'):
        nk.play("vaw", path)
