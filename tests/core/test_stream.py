"""Streams: what one need not say, and what is made of a stream of another make."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.adapt import AdaptedStream, adapt_stream, is_stream
from novikoff.core.stream import Stream, there_before
from novikoff.core.types import Domain, Labels
from novikoff.data.as_stream import opened
from novikoff.data.column_names import matched
from novikoff.game.prepare import prepare


class Plain:
    """A stream with no more than it must have."""

    name, domain = "plain", Domain("vector", 2)

    def batches(self, start=None):
        yield nk.Batch(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, -1], np.int8), 1)


class Output(Plain):
    """A stream that says all there is to say."""

    labels, rereadable, fixed, features = Labels("no", "yes"), True, True, ("a", "b")
    experts, outcomes, loss, bits, unlabelled = ("e", "f"), "numbers", "squared", 7, True

    def __init__(self):
        self.notes = ["noted"]

    def __len__(self):
        return 2

    def fingerprint(self):
        return {"size": 5}


SAID = ("labels", "rereadable", "features", "experts", "outcomes", "loss", "bits", "unlabelled", "rows")


def said(stream):
    return {name: getattr(stream, name) for name in SAID}


def test_missing_stream_attributes_use_the_base_class():
    stream = adapt_stream(Plain())
    assert (stream.name, stream.domain) == ("plain", Domain("vector", 2))
    assert said(stream) == said(Stream)
    assert stream.notes == []
    assert stream.fingerprint() is None
    assert stream.count() is None
    with pytest.raises(TypeError, match="plain must be read"):
        len(stream)


def test_a_foreign_stream_is_adapted_for_a_learner_of_labels_or_numbers():
    assert isinstance(opened(Plain()), AdaptedStream)
    assert prepare("linear-mixture", Plain()).spec.name == "linear-mixture"
    assert prepare("linear-mixture", Output()).spec.name == "linear-mixture-regression"


def test_foreign_stream_attributes_are_read_lazily():
    telling = Output()
    stream = adapt_stream(telling)
    assert said(stream) == {**{name: getattr(telling, name) for name in SAID if name != "rows"}, "rows": 2}
    assert (len(stream), stream.count(), stream.fingerprint()) == (2, 2, {"size": 5})
    telling.labels = Labels(0, 1)
    telling.notes.append("noted later")
    assert (stream.labels, stream.notes) == (Labels(0, 1), ["noted", "noted later"])
    assert [len(batch) for batch in stream.batches()] == [2]


def test_foreign_stream_is_never_known_to_be_fixed():
    assert not there_before(adapt_stream(Output()))
    assert not there_before(matched(adapt_stream(Output()), ["b", "a"]))
    assert there_before(matched(nk.Losses(np.eye(2), experts=["a", "b"]), ["b", "a"]))


def test_a_built_in_source_is_taken_as_it_is():
    arrays = nk.Arrays([[1.0], [2.0]], [1, -1])
    assert adapt_stream(arrays) is arrays
    assert isinstance(adapt_stream(Plain()), AdaptedStream)
    assert is_stream(arrays)
    assert is_stream(Plain())
    assert not is_stream([(1, 1)])


def test_notes_are_a_streams_own():
    one, two = nk.Arrays([[1.0], [2.0]], [1, -1]), nk.Arrays([[1.0], [2.0]], [1, -1])
    one.notes.append("noted")
    assert (one.notes, two.notes) == (["noted"], [])


def test_a_stream_without_rows_is_still_a_stream():
    assert adapt_stream(Plain())


def test_a_stream_must_have_a_domain():
    class Nowhere:
        name = "nowhere"

        def batches(self, start=None):
            yield from ()

    with pytest.raises(AttributeError, match="domain"):
        nk.play(nk.Perceptron(), Nowhere())


def test_columns_in_another_order_leave_the_rest_as_it_is():
    telling = adapt_stream(Output())
    stream = matched(telling, ["b", "a"])
    assert said(stream) == {**said(telling), "features": ("b", "a"), "experts": ("f", "e")}
    assert stream.notes is telling.notes
    assert stream.fingerprint() == {"size": 5}
    assert next(stream.batches()).x.tolist() == [[2.0, 1.0], [4.0, 3.0]]
