"""A learner of a table refuses batches that another table encoded; `nk.read(..., like=)` encodes rows as it learned."""

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.core.errors import MismatchError, SourceError

LEARNERS = ("logistic", "perceptron", "kernel-perceptron", "linear-mixture", "auto", "arow")


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(0)
    colour = draw.choice(["red", "green", "blue"], 200)
    frame = pd.DataFrame({"colour": colour, "size": draw.normal(size=200)})
    return frame.assign(bought=np.where((colour == "red") == (frame["size"] > -1), "yes", "no"))


@pytest.fixture(scope="module")
def new(frame):
    """Rows in which the colours come in another order, without labels."""
    other = {"red": "green", "green": "blue", "blue": "red"}[frame.colour[0]]
    return frame[frame.colour == other].drop(columns="bought")


def answers(learner, stream):
    """What a learner answers to the batches of a stream, by every method that it has."""
    names = ("predict_many", "scores_many", "probabilities_many")
    has = (True, learner.scores_rows, learner.probable)
    methods = [getattr(learner, name) for name, there in zip(names, has, strict=True) if there]
    return [np.concatenate([np.atleast_1d(method(batch)) for batch in stream.batches()]) for method in methods]


@pytest.mark.parametrize("name", LEARNERS)
def test_batch_of_another_encoding_is_refused(frame, new, name):
    learner = nk.play(name, nk.Frame(frame)).learner
    for method in ("predict_many", "scores_many", "probabilities_many", "learn_many"):
        for batch in nk.Frame(new, labelled=False).batches():
            with pytest.raises(MismatchError, match="encoded like the training rows.*like=ledger"):
                getattr(learner, method)(batch)


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_read_like_the_ledger_are_answered_as_rows_one_by_one(frame, new, name):
    ledger = nk.play(name, nk.Frame(frame))
    game = nk.Game(ledger.learner, ledger)
    said = answers(ledger.learner, nk.read(new, like=ledger, labelled=False))[0]
    labels = {1: ledger.labels[1], -1: ledger.labels[0]}
    assert [labels[one] for one in said.tolist()] == [game.predict_one(row) for _, row in new.iterrows()]


def test_saved_model_and_kept_classifier_refuse_and_read_alike(frame, new, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    ledger = nk.play("logistic", nk.read(tmp_path / "t.csv"), candidates=20)
    nk.save(ledger, tmp_path / "m.nk")
    loaded, kept = nk.load(tmp_path / "m.nk"), nk.finalize(ledger, "last")
    alike = answers(loaded.learner, nk.read(tmp_path / "new.csv", like=loaded, labelled=False))
    for one, other in zip(alike, answers(ledger.learner, nk.read(new, like=ledger, labelled=False)), strict=True):
        np.testing.assert_array_equal(one, other)
    for batch in nk.read(new, like=kept, labelled=False).batches():
        kept.predict_many(batch)
    for batch in nk.Frame(new, labelled=False).batches():
        for model in (loaded.learner, kept):
            with pytest.raises(MismatchError, match="encoded"):
                model.predict_many(batch)


def test_batch_of_a_table_that_agrees_is_taken(frame):
    numbers = frame.assign(weight=frame["size"] ** 2)[["size", "weight", "bought"]]
    ledger = nk.play("logistic", nk.Frame(numbers))
    again = answers(ledger.learner, nk.Frame(numbers.drop(columns="bought"), labelled=False))
    for one, other in zip(again, answers(ledger.learner, nk.read(numbers, like=ledger)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_game_that_is_taught_batches_keeps_their_encoding(frame, new):
    game = nk.Game(nk.Logistic())
    for batch in nk.Frame(frame).batches():
        game.learn_batch(batch)
    for batch in nk.Frame(new, labelled=False).batches():
        with pytest.raises(MismatchError, match="encoded"):
            game.predict_batch(batch)


def test_like_must_be_a_model(new):
    with pytest.raises(SourceError, match="like must be a ledger"):
        nk.read(new, like=nk.Logistic())
