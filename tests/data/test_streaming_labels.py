from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import LabelError, SourceError
from novikoff.core.types import Labels
from novikoff.data.streaming_labels import StreamingLabels


def encode(labels, *values):
    try:
        return labels.encode(np.array(values)).tolist()
    except LabelError as error:
        raise error.at(line=error.where.pop("row") + 10, source="mail.svm") from None


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 1), (1, 2), (-3.5, -2), (0.25, 1e300), (7, 8)])
def test_the_larger_of_two_values_is_plus_one(low, high):
    labels = StreamingLabels()
    assert encode(labels, float(high), low, low, high) == [1, -1, -1, 1]
    assert labels.labels == Labels(low, high)
    assert encode(labels, float(low)) == [-1]
    assert labels.settled


def test_labels_are_int8_and_integers_are_shown_whole():
    labels = StreamingLabels()
    assert labels.encode(np.array([1.0, 2.0])).dtype == np.int8
    assert str(labels.labels) == "1 is -1, 2 is +1"


def test_text_is_sorted_as_text():
    labels = StreamingLabels()
    assert encode(labels, "spam", "ham") == [1, -1]
    assert labels.labels == Labels("ham", "spam")
    with pytest.raises(LabelError, match='has a third value, "eggs"'):
        encode(labels, "eggs")


def test_nothing_is_known_before_the_first_value():
    labels = StreamingLabels()
    assert labels.labels is None
    assert encode(labels) == []
    assert labels.labels is None


@pytest.mark.parametrize(("value", "sign"), [(-1, -1), (0, -1), (1, 1)])
def test_lone_label_value_has_its_usual_sign(value, sign):
    labels = StreamingLabels()
    assert encode(labels, float(value), value) == [sign, sign]
    assert labels.labels is not None
    assert labels.labels.decode(sign) == value
    assert not labels.settled


@pytest.mark.parametrize(("first", "second"), [(1, 0), (1, -1), (1, 0.5), (0, 1), (0, 7), (-1, 0), (-1, 1)])
def test_a_second_value_may_come_late(first, second):
    labels = StreamingLabels()
    sign = encode(labels, float(first))[0]
    assert encode(labels, float(first), second) == [sign, -sign]
    assert labels.labels == Labels(min(first, second), max(first, second))


@pytest.mark.parametrize(("first", "second", "taken"), [(1, 2, "+1"), (0, -1, "-1"), (-1, -2, "-1")])
def test_contradicting_second_value_is_an_explained_error(first, second, taken):
    labels = StreamingLabels()
    encode(labels, float(first))
    larger = max(first, second)
    with pytest.raises(LabelError) as caught:
        encode(labels, float(first), first, second)
    assert caught.value.where["line"] == 12
    assert str(caught.value) == (
        f"the larger of two labels must be +1: line 12 of mail.svm has {second}, after rows with {first} only, "
        f"which was read as {taken}. Pass positive={larger}."
    )
    assert encode(labels, float(first)) == [int(taken)]  # the rows before it are good


def test_a_second_value_seen_in_time_decides():
    labels = StreamingLabels()
    labels.look(np.array([1.0, 1.0]))
    assert labels.labels is None
    labels.look(np.array([1.0, 2.0]))
    assert labels.labels == Labels(1, 2)
    assert encode(labels, 1.0, 1.0) == [-1, -1]


@pytest.mark.parametrize("value", [2.0, -2.0, 0.5])
def test_a_lone_value_that_could_be_either_is_an_error(value):
    with pytest.raises(LabelError, match=r"labels must take two values: up to line 10 of mail.svm there is only") as e:
        encode(StreamingLabels(), value, value)
    assert e.value.where["line"] == 10


def test_a_third_value_is_an_error_that_names_the_line():
    labels = StreamingLabels()
    with pytest.raises(LabelError) as caught:
        encode(labels, 1.0, 2.0, 1.0, 3.0, 4.0)
    assert caught.value.where["line"] == 13
    assert str(caught.value) == (
        "labels must take two values: line 13 of mail.svm has a third value, 3, after 1 and 2. "
        'Pass positive=2 to treat every other value as -1, or labels="multiclass" if there are more than two.'
    )
    assert isinstance(caught.value, SourceError)


def test_one_value_against_every_other():
    labels = StreamingLabels(positive=2)
    assert labels.labels == Labels("not 2", 2)
    assert labels.settled
    assert encode(labels, 1.0, 2.0) == [-1, 1]
    assert labels.labels == Labels(1, 2)
    assert encode(labels, 3.0, 1.0) == [-1, -1]
    assert labels.labels == Labels("not 2", 2)
    assert not labels.absent


def test_a_positive_value_that_never_came_is_absent():
    labels = StreamingLabels(positive="9")
    assert not labels.absent
    assert encode(labels, 1.0, 2.0) == [-1, -1]
    assert labels.absent
    with pytest.raises(LabelError, match="the positive label must be a number, not 'spam'"):
        encode(StreamingLabels(positive="spam"), 1.0)
    assert encode(StreamingLabels(positive=1), "1", "01") == [1, -1]


def test_many_labels_stay_as_they_are():
    labels = StreamingLabels(multiclass=3)
    got = labels.encode(np.array([0.0, 2.0, 1.0]))
    assert got.tolist() == [0, 2, 1]
    assert got.dtype == np.int32
    assert labels.labels is None
    for wrong in (3.0, -1.0, 0.5):
        with pytest.raises(LabelError, match="integers from 0 to 2: line 11 of mail.svm has"):
            encode(labels, 0.0, wrong)
    with pytest.raises(LabelError, match='has "spam"'):
        encode(labels, "spam")


def test_positive_and_many_do_not_go_together():
    with pytest.raises(SourceError, match="binary or multiclass"):
        StreamingLabels(positive=1, multiclass=3)
    with pytest.raises(SourceError, match="from 1 to 2"):
        StreamingLabels(multiclass=0)
    with pytest.raises(SourceError, match="from 1 to 2"):
        StreamingLabels(multiclass=2**31 + 1)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1), st.data())
def test_resume_matches_uninterrupted_read(values, data):
    cut = data.draw(st.integers(0, len(values)))

    def run(resume):
        labels, out = StreamingLabels(), []
        try:
            out += encode(labels, *values[:cut])
            if resume:
                state = json.loads(json.dumps(labels.state()))
                labels = StreamingLabels()
                labels.load(state)
            out += encode(labels, *values[cut:])
        except LabelError as error:
            out.append(str(error))
        return out, labels.labels

    assert run(False) == run(True)
