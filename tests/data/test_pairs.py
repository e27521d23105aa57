from __future__ import annotations

from fractions import Fraction
from itertools import count, islice

import numpy as np
import pytest

from novikoff.core.errors import InputError, SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data.pairs import Pairs
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
    with pytest.raises(SourceError, match=r"pairs has no items \(left\)\. Pass a list to read it again"):
        labels_of(once)
    assert not Pairs(zip([0], [1], strict=True)).rereadable
    with pytest.raises(InputError, match="2 passes need a stream that can be read again"):
        play(ThresholdHalving(5), (pair for pair in pairs), passes=2)


def test_an_endless_generator_is_played_as_far_as_asked_and_goes_on_from_there():
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
    with pytest.raises(SourceError, match=r"item 2 of mail: a label must be -1 or \+1.*: got .*the two values it uses"):
        labels_of(Pairs([(0, 1), (0, y)], name="mail"))


def test_an_array_is_no_label():
    for labels in (None, Labels(0, 1)):
        with pytest.raises(SourceError, match="item 1 of pairs"):
            labels_of(Pairs([(0, np.array([1, 1]))], labels=labels))


@pytest.mark.parametrize(
    ("negative", "positive"), [("ham", "spam"), (0, 1), (False, True), (1, 0), (None, "seen"), (1.5, 2.5)]
)
def test_labels_say_which_two_values_are_minus_one_and_plus_one(negative, positive):
    stream = Pairs([(0, positive), (0, negative)], labels=Labels(negative, positive))
    assert labels_of(stream) == [1, -1]
    with pytest.raises(SourceError, match=r"labels must be .* or .*: item 1 of pairs got 'third'"):
        labels_of(Pairs([(0, "third")], labels=Labels(negative, positive)))


def test_many_labels_are_whole_numbers_below_many():
    stream = Pairs([(0, 0), (0, np.int64(2))], many=3)
    assert stream.labels is None
    assert labels_of(stream) == [0, 2]
    assert next(stream.batches()).y.dtype == np.int32
    for y in (3, -1, 0.5, True, "0", None):
        with pytest.raises(SourceError, match="item 1 of pairs: a label must be a whole number from 0 to 2.*: got"):
            labels_of(Pairs([(0, y)], many=3))


def test_labels_are_two_or_many_not_both():
    with pytest.raises(SourceError, match="labels must be two or many"):
        Pairs([], labels=Labels(), many=3)


@pytest.mark.parametrize("item", [3, None, (1,), (1, 1, 1), "abc", []])
def test_an_item_that_is_not_a_pair_is_an_error_that_shows_it(item):
    stream = Pairs([(0, 1), (0, -1), item], name="mail")
    with pytest.raises(SourceError, match=r"each item must be a pair \(x, y\): item 3 of mail is"):
        labels_of(stream)


@pytest.mark.parametrize("empty", [[], (), {}, iter([])])
def test_nothing_at_all_is_an_error(empty):
    with pytest.raises(SourceError, match="a source must not be empty: mail has no items"):
        labels_of(Pairs(empty, name="mail"))


def test_what_cannot_be_gone_through_is_an_error():
    with pytest.raises(SourceError, match=r"pairs must be an iterable of \(x, y\): got int"):
        Pairs(3)


def test_a_bad_item_leaves_what_was_learned_before_it():
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
