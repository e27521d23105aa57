"""Features that a table gets late, a missing value or a category: every learner gives a result, or says what to do."""

import io

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import bits, some
from novikoff.core.errors import NovikoffError
from novikoff.data.tables.table_reader import RECOGNISED_ROWS
from novikoff.mixtures.linear_mixture import LinearMixture
from samples import has_labels, learner_samples

ROWS = 1_200
FIXED = {
    "consistent": "consistent:[rectangles:m=8]",
    "halving": "halving:[rectangles:m=8]",
    "threshold-halving": "threshold-halving:n=20",
    "rectangle-halving": "rectangle-halving:m=8",
    "tightest-box": "tightest-box",
    "cover-halving": "cover-halving",
    "ellipsoid": "ellipsoid",
    "weighted-majority": "weighted-majority:[rectangles:m=8]",
    "randomized-weighted-majority": "randomized-weighted-majority:[rectangles:m=8]",
    "exponential-weights": "exponential-weights:[rectangles:m=8]",
    "ada-hedge": "ada-hedge:[rectangles:m=8]",
    "fixed-share": "fixed-share:[rectangles:m=8],switches=2,horizon=300",
    "midpoint": "midpoint",
}
"""Learners on a domain of fixed width: they say so."""
GROWING = {
    "perceptron": "perceptron:scale=standard",
    "auto": "auto",
    "ftrl": "ftrl",
    "logistic": "logistic",
    "vaw": "vaw:probabilities=true",
    "second-order-perceptron": "second-order-perceptron",
    "arow": "arow",
    "kernel-perceptron": "kernel-perceptron",
    "rbp": "rbp:budget=20",
    "forgetron": "forgetron:budget=20",
    "cks": "cks:budget=20",
    "tighter": "tighter:budget=20",
    "scaled": "kernel-perceptron:scale=range",
    "hedge": "hedge:learners=[perceptron,[rbp:budget=20]]",
    "constant": "constant",
    "online-gradient": "online-gradient:numbers=true",
    "auto-regression": "auto-regression:numbers=true",
}
OTHERS = [
    samples[0][0]
    for name, samples in learner_samples().items()
    if name not in {*FIXED, *GROWING} and has_labels(samples[0][0])
]


def late(kind):
    """A table in which something is there for the first time after the rows by which columns are recognised."""
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"a": draw.integers(0, 8, ROWS).astype(object), "b": draw.integers(0, 8, ROWS)})
    if kind == "category":
        frame["colour"] = draw.choice(["red", "blue"], ROWS)
        frame.loc[[1_100, 1_170], "colour"] = "green"
    frame["y"] = np.where(frame.a > frame.b, 1, 0)
    if kind == "missing":
        frame.loc[[1_100, 1_150], "a"] = None
        frame.loc[1_150:1_160, "b"] = None
    return frame.to_csv(index=False).encode()


def outcome(spec, content, **options):
    """What comes of a game: a result, or the sentence that says why not."""
    if spec.endswith(":numbers=true"):
        spec, options = spec.removesuffix(":numbers=true"), {**options, "outcomes": "numbers"}
    try:
        ledger = nk.play(spec, nk.CSV(io.BytesIO(content), **options))
    except NovikoffError as error:
        return str(error)
    return ledger.rounds, ledger.curve, bits(ledger.learner.state()), [c.bound for c in ledger.certify()]


@pytest.mark.parametrize("spec", OTHERS)
def test_any_other_learner_gives_a_result_or_a_sentence(spec):
    for content in map(late, ("missing", "category")):
        assert outcome(spec, content) == outcome(spec, content, chunk=500)


@some(2, spec=GROWING.values(), kind=["missing", "category"])
def test_learners_that_grow_play_the_same_game_however_the_table_is_cut(spec, kind):
    content = late(kind)
    whole, cut = outcome(spec, content), outcome(spec, content, chunk=500)
    assert whole[0] == ROWS, whole
    assert whole == cut


@some(2, spec=FIXED.values(), kind=["missing", "category"])
def test_learners_of_fixed_width_suggest_a_fix_for_any_batches(spec, kind):
    content = late(kind)
    whole, cut = outcome(spec, content), outcome(spec, content, chunk=500)
    assert isinstance(whole, str)
    assert whole == cut
    assert any(word in whole.rsplit(". ", 1)[-1] for word in ("pass", "Pass", "Choose", "Write", "choose")), whole


def test_the_ellipsoid_takes_new_features_if_they_are_hashed():
    for kind in ("missing", "category"):
        whole = outcome("ellipsoid", late(kind), bits=4)
        assert whole[0] == ROWS
        assert whole == outcome("ellipsoid", late(kind), bits=4, chunk=500)


def test_missing_values_of_the_first_rows_are_features_from_the_first_row_on():
    frame = pd.DataFrame({"a": range(50), "b": [1.5] * 50, "y": [0, 1] * 25}).astype(object)
    frame.loc[30, "b"] = None
    frame.loc[40, "a"] = None
    for stream in (nk.CSV(io.BytesIO(frame.to_csv(index=False).encode()), chunk=20), nk.Frame(frame)):
        assert stream.domain.width == 4
        assert {batch.x.shape[1] for batch in stream.batches()} == {4}
        assert stream.encoding.features == ("a", "b", "b is missing", "a is missing")
    assert outcome("ellipsoid", frame.to_csv(index=False).encode())[0] == 50


def test_rows_grow_wider_at_the_row_that_needs_it():
    stream = nk.CSV(io.BytesIO(late("missing")))
    assert [(batch.first, batch.x.shape[1]) for batch in stream.batches()] == [(1, 2), (1_101, 3), (1_151, 4)]
    assert ROWS > 1_101 > RECOGNISED_ROWS


def test_game_saved_before_a_new_feature_resumes_to_the_same_end(tmp_path):
    content = tmp_path / "late.csv"
    content.write_bytes(late("missing"))
    whole = nk.play("auto", nk.CSV(content))
    begun = nk.play("auto", nk.CSV(content), rounds=1_050)
    assert begun.encoding.width == 2
    nk.save(begun, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    ended = nk.play(again.learner, nk.CSV(content), ledger=again, resume=True)
    assert bits(ended.learner.state()) == bits(whole.learner.state())
    assert ended.encoding.state() == whole.encoding.state()


def test_random_features_are_of_the_columns_of_the_first_row():
    learner = LinearMixture()
    nk.play(learner, nk.CSV(io.BytesIO(late("missing"))))
    assert learner.features.count == 4
    assert learner.state()["width"] == 2
    assert LinearMixture.restore(learner.state()).state()["moments"].shape == (2, 2)
