"""Cells without a value, categories that were never seen, and labels that never come: nothing is silently wrong."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.core.errors import LabelError
from novikoff.data.tables.alignment import adopted, adopted_row


@pytest.fixture
def frame():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.normal(40, 10, 200), "zip": draw.integers(10, 14, 200)})
    return frame.assign(bought=np.where(frame.age + frame.zip > 52, "yes", "no"))


def as_csv(frame, **options):
    return nk.CSV(io.BytesIO(frame.to_csv(index=False).encode()), **options)


def predicted(ledger, stream):
    """The rows of a stream, as the learner of a game is shown them to predict, and what the stream reports."""
    stream = adopted(stream, ledger.encoding, ledger.feature_names, learn=False)
    rows = [batch.x if isinstance(batch.x, np.ndarray) else batch.x.dense() for batch in stream.batches()]
    return np.concatenate(rows), stream.notes


@pytest.mark.parametrize("options", [{}, {"category": ["zip"]}, {"category": ["zip"], "bits": 10}])
def test_number_missing_at_prediction_counts_as_the_mean(frame, options):
    ledger = nk.play("logistic", as_csv(frame, **options))
    new = frame.assign(age=[np.nan, *frame.age[1:]])
    filled = frame.assign(age=[frame.age.mean(), *frame.age[1:]])
    (shown, notes), (wanted, _) = (predicted(ledger, as_csv(one, **options)) for one in (new, filled))
    np.testing.assert_allclose(shown, wanted)
    assert any("1 row of" in note and "without a number in age" in note and "the mean" in note for note in notes)
    if not options:
        row = adopted_row({"zip": 12}, ledger.encoding, ledger.feature_names)
        assert row[0] == pytest.approx(frame.age.mean())


@pytest.mark.parametrize("options", [{}, {"category": ["zip"]}, {"category": ["zip"], "bits": 10}])
def test_number_missing_in_training_is_predicted_as_it_was_learned(frame, options):
    frame.loc[5, "age"] = np.nan
    ledger = nk.play("logistic", as_csv(frame, **options))
    learned = np.concatenate(
        [x if isinstance(x, np.ndarray) else x.dense() for x in (b.x for b in as_csv(frame, **options).batches())]
    )
    shown, notes = predicted(ledger, as_csv(frame, **options))
    np.testing.assert_array_equal(shown, learned)
    assert not any("without a number" in note for note in notes)


def test_means_are_saved_with_the_model(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    novikoff("run", "logistic", "t.csv", "--save", "m.nk", cwd=tmp_path)
    assert nk.load(tmp_path / "m.nk").encoding.means["age"] == pytest.approx(frame.age.mean())
    frame.assign(age=np.nan).to_csv(tmp_path / "new.csv", index=False)
    _, _, error = novikoff("predict", "m.nk", "new.csv", cwd=tmp_path)
    assert "200 rows of new.csv without a number in age, where none was missing in training" in error


@pytest.mark.parametrize("token", ["None", "<NA>", "#N/A", "-", "--", ".", "missing", "Missing", "NA", "n/a", "?", ""])
def test_tokens_for_missing_keep_a_column_of_numbers(token):
    cells = [str(k) if k % 3 else token for k in range(60)]
    frame = pd.DataFrame({"a": cells, "b": range(60), "label": ["x", "y"] * 30})
    text = frame.to_csv(index=False).encode()
    for stream in (nk.CSV(io.BytesIO(text)), nk.CSV(io.BytesIO(text), chunk=100), nk.Frame(frame)):
        assert {name: what for name, what, _ in stream.described()}["a"] == "number"
        x = np.concatenate([batch.x for batch in stream.batches()])
        assert x[:, 0].tolist() == [k if k % 3 else 0 for k in range(60)]
        assert x[:, 2].tolist() == [float(k % 3 == 0) for k in range(60)]


@pytest.mark.parametrize("word", ["unknown", "not asked"])
def test_word_that_makes_numbers_a_category_is_reported(word):
    cells = [str(k) if k % 3 else word for k in range(60)]
    frame = pd.DataFrame({"a": cells, "b": range(60), "c": ["x", "y", "3"] * 20, "label": ["x", "y"] * 30})
    told = f'is read as a category: its cells are numbers except for "{word}"'
    for make in (as_csv, nk.Frame):
        notes = make(frame).notes
        assert [note for note in notes if "category" in note] == [note for note in notes if told in note] != []
        assert not any("category" in note for note in make(frame, category=["a"]).notes)


def test_dash_is_a_category_and_a_label_where_the_others_are_words():
    frame = pd.DataFrame({"a": ["-", "x", "+"] * 20, "approved": ["+", "-"] * 30})
    for stream in (as_csv(frame), nk.Frame(frame)):
        assert stream.labels is not None
        assert {stream.labels.negative, stream.labels.positive} == {"+", "-"}
        assert "a=-" in stream.encoding.places
    frame["approved"] = ["None", "some"] * 30
    for stream in (as_csv(frame), nk.Frame(frame)):
        assert {stream.labels.negative, stream.labels.positive} == {"None", "some"}
        assert sum(len(batch) for batch in stream.batches()) == 60


def test_category_of_an_integer_is_the_same_as_text_and_as_a_real_number(frame):
    ledger = nk.play("logistic", nk.Frame(frame, category=["zip"]))
    learned, _ = predicted(ledger, nk.Frame(frame, category=["zip"]))
    for other in (frame.zip.astype(float), frame.zip.astype(str), frame.zip.astype(float).astype(str)):
        shown, notes = predicted(ledger, nk.Frame(frame.assign(zip=other), category=["zip"]))
        np.testing.assert_array_equal(shown, learned)
        assert not any("category" in note for note in notes)


def test_new_categories_are_counted_and_reported(frame):
    ledger = nk.play("logistic", nk.Frame(frame, category=["zip"]))
    _, notes = predicted(ledger, nk.Frame(frame.assign(zip=[99, 98, *frame.zip[2:]]), category=["zip"]))
    assert any("2 rows of frame with a category of zip that was not in training, the first" in note for note in notes)


def test_spaces_around_labels_are_left_out_and_reported(frame):
    frame["bought"] = [f" {label}" if k % 3 else f"{label} " for k, label in enumerate(frame.bought)]
    for stream in (as_csv(frame), nk.Frame(frame), nk.Arrays(frame[["age", "zip"]], frame.bought)):
        ledger = nk.play("perceptron", stream)
        assert ledger.labels == ["no", "yes"]
        assert any("spaces around labels" in note for note in stream.notes)
    assert nk.play("perceptron", (frame[["age", "zip"]].to_numpy(), frame.bought)).labels == ["no", "yes"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--positive", "YES"), 'has "no", "yes", not "YES". Pass --positive and one of these.'),
        (("--label-weights", "maybe=3"), 'has "no", "yes", not "maybe".'),
    ],
)
def test_label_that_never_comes_is_an_error_that_lists_the_labels(frame, tmp_path, options, told):
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, _, error = novikoff("run", "perceptron", "t.csv", *options, cwd=tmp_path)
    assert code == 2
    assert told in error


def test_later_source_of_a_game_may_be_without_the_positive_label(frame, tmp_path):
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame[frame.bought == "no"].to_csv(tmp_path / "two.csv", index=False)
    novikoff("run", "perceptron", "one.csv", "--positive", "yes", "--save", "m.nk", cwd=tmp_path)
    code, _, error = novikoff("run", "two.csv", "--positive", "yes", "--resume", "m.nk", cwd=tmp_path)
    assert code == 0, error
    assert nk.play("perceptron", nk.read(tmp_path / "two.csv", positive="yes")).positives == 0  # no other label came
    with pytest.raises(LabelError, match="the positive label must occur"):
        nk.play("perceptron", nk.read(tmp_path / "two.csv", positive="No"))


def test_service_takes_text_for_a_number_where_numbers_came_before():
    from novikoff.core.types import Domain
    from novikoff.server.examples import Rows

    rows = Rows(Domain("vector"), 18)
    assert rows.read({"age": "75"}) != rows.read({"age": 75})  # nothing was known: a category
    assert rows.read({"age": "75"}) == rows.read({"age": 75.0})
    assert rows.read({"zip": "75"}) != rows.read({"age": "75"})
    assert json.dumps(list(rows.numbers)) == '["age"]'
