"""Wrong calls in Python: each is one sentence that says what is wrong and what to do, never a raw exception."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import novikoff as nk

X, Y = np.zeros((4, 2)), [1, -1, 1, -1]
ROWS = [{"age": 3, "city": "a", "y": "no"}, {"age": 4, "city": "b", "y": "yes"}] * 6


@cache
def ledger():
    """A game, played when the first test needs it."""
    return nk.play("logistic", ROWS, label="y")


CALLS = [
    ("task", lambda: nk.play("auto", (X, Y), task="clasify"), 'Did you mean "classify"'),
    ("label arrays", lambda: nk.play("auto", (X, Y), label="y"), "label must be a column"),
    ("label col", lambda: nk.play("auto", ROWS, label="Y"), 'Did you mean "y"'),
    ("positive num", lambda: nk.play("auto", ROWS, label="age", positive=3, task="regress"), "leave one of them out"),
    ("stream opt", lambda: nk.play("auto", nk.read("demo:iris"), label="y"), "option of the reader"),
    ("game spec", lambda: nk.Game("perceptrn"), "the name of a learner"),
    ("game labels", lambda: nk.Game("auto", labels="spam"), "labels must be two values"),
    ("game one", lambda: nk.Game("auto", labels=["a"]), "labels must be two values"),
    ("game lbl obj", lambda: nk.Game(nk.Perceptron(), labels=("a", "b")), "made from a spec"),
    ("schema", lambda: nk.Game("auto", schema=3), "a schema must be a dict"),
    ("schema kind", lambda: nk.Game("auto", schema={"a": "float"}), "kind of a column must be one of"),
    ("game reg", lambda: nk.Game("auto", labels=("a", "b"), task="regress"), "leave one of them out"),
    ("ids", lambda: nk.Game("auto").predict_one({"a": "b"}, id="1"), "labels must be declared"),
    ("nested", lambda: nk.Game("auto", labels=("a", "b")).learn_one({"a": [1]}, "a"), "values of a row must be plain"),
    ("swap", lambda: nk.play(ROWS, "logistic"), "learner must come before the source"),
    ("hedge", lambda: nk.Hedge("perceptron"), "non-empty list"),
    ("hedge2", lambda: nk.Hedge(["perceptrn"]), "the name of a learner"),
    ("pred", lambda: ledger().predict(3), "rows must be examples"),
    ("pred2", lambda: ledger().predict([{"x": 1}]), "columns must match"),
    ("pred3", lambda: ledger().predict({"age": "old", "city": "a"}), "must contain numbers"),
    ("pred4", lambda: ledger().predict(X), "columns of training, by name"),
    ("pred5", lambda: ledger().predict(ROWS, missing_columns="drop"), "refuse or impute"),
    ("set", lambda: ledger().predict_set(ROWS[0]), "need a conformal learner"),
    ("cmp by", lambda: nk.compare(["logistic"], ROWS, by="logloss", label="y"), 'Did you mean "log-loss"'),
    ("cmp str", lambda: nk.compare("logistic", ROWS), "learners must be a list"),
    ("cmp task", lambda: nk.compare(["vaw"], ROWS, label="y"), "choose a classifier"),
    ("empty", lambda: nk.play("auto", []), "must not be empty"),
    ("none", lambda: nk.play("auto", None), "expected a stream"),
    ("int", lambda: nk.play("auto", 5), "expected a stream"),
    ("xonly", lambda: nk.play("auto", X), "a label must be"),
    (
        "missing label",
        lambda: nk.play("logistic", [{"a": "x", "y": "n"}, {"a": "z"}], label="y"),
        "1 row has no label",
    ),
    ("len", lambda: nk.play("logistic", ([{"a": "x"}], ["n", "y"])), "one length"),
    ("like", lambda: nk.read("demo:iris", like=3), "like must be a ledger"),
    ("missing", lambda: nk.read("demo:iris", missing_columns="x"), "refuse or impute"),
    ("rounds", lambda: nk.play("logistic", ROWS, rounds="3", label="y"), "rounds must be an integer"),
    ("passes", lambda: nk.play("logistic", ROWS, passes=0, label="y"), "passes must be at least 1"),
    ("adv", lambda: nk.play("logistic", nk.adversaries.Contrarian(3), label="y", rounds=3), "Leave them out"),
    ("count", lambda: nk.play("vaw", (X, [1.5, 2, 3, 4]), task="count"), "counts must be whole numbers"),
    ("proba", lambda: nk.play("perceptron", (X, Y)).predict_proba(X), "probabilities need a learner"),
    ("nan", lambda: nk.play("perceptron", (X, Y)).predict(X * np.nan), "finite numbers"),
    ("width", lambda: nk.play("perceptron", (X, Y)).predict(np.zeros((2, 3))), "must have 2 features"),
    ("third", lambda: nk.Game("auto", labels=("a", "b")).learn_one({"c": "d"}, "z"), "labels must be 'a' or 'b'"),
    ("batch", lambda: ledger().predict(next(nk.read("demo:iris").batches())), "one form"),
    ("make", lambda: nk.make("logistic:rate"), "must be a number"),
    ("load", lambda: nk.load("nowhere.nk"), "file not found"),
    ("frame", lambda: nk.forecast(pd.DataFrame({"a": range(99)}), "auto"), "got a value of type DataFrame"),
]


@pytest.mark.parametrize(("call", "words"), [one[1:] for one in CALLS], ids=[one[0] for one in CALLS])
def test_wrong_calls_are_answered_with_a_sentence(call, words):
    with pytest.raises(nk.NovikoffError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
