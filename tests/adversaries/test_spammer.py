"""The adaptive spammer: its labels fit one target, and it edits its mail until the learner lets it pass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.adversaries.spammer import Spammer
from novikoff.core.errors import NovikoffError


def never(x):
    raise AssertionError("this adversary needs no probe")


def mails(adversary, filter, rounds):
    """The mails, predictions and labels of a game with a fixed filter, or with answers that are a list."""
    found = []
    for t in range(rounds):
        x = adversary.ask(never)
        prediction = filter[t % len(filter)] if isinstance(filter, list) else filter(x)
        found.append((x, prediction, adversary.answer({prediction: 1.0})))
    return found


@given(
    st.integers(2, 12).flatmap(lambda words: st.tuples(st.just(words), st.integers(1, words - 1))),
    st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=30),
    st.integers(0, 5),
)
def test_every_label_fits_the_witness_whatever_is_predicted(sizes, predictions, seed):
    adversary = Spammer(*sizes, seed)
    u = np.array(adversary.witness())
    for x, _, y in mails(adversary, predictions, 60):
        assert set(x.tolist()) <= {0.0, 1.0}
        assert y * (u @ x) >= 1
        assert (y == 1) == bool(x[u > 0].any())  # the target in words: a mail with a spam word is spam
    assert tuple(u) == adversary.witness()  # fixed from the start, whatever was predicted
    assert sum(u > 0) == sizes[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_filter_that_trusts_one_word_is_passed_for_ever_after_as_many_mails_as_good_words(seed):
    adversary = Spammer(20, 4, seed)
    good = [word for word, weight in enumerate(adversary.witness()) if weight < 0]
    for trusted in (good[0], good[7], good[-1]):
        adversary = Spammer(20, 4, seed)
        spam = [(x, p) for x, p, y in mails(adversary, lambda x, word=trusted: -1 if x[word] else 1, 150) if y == 1]
        caught = [p == 1 for _, p in spam]
        assert sum(caught) <= len(good)
        assert not any(caught[len(good) :])
        assert all(x[trusted] for x, _ in spam[len(good) :])
        assert adversary.passed == len(spam) - sum(caught)


def test_words_of_mails_that_passed_are_kept_and_those_of_caught_mails_avoided():
    adversary = Spammer(6, 1)  # five good words
    good = np.array(adversary.witness()) < 0
    # Of eight mails the third and the sixth are ordinary; one spam mail passes, the fourth.
    sent = [{*np.flatnonzero(x * good).tolist()} for x, _, _ in mails(adversary, [1, 1, -1, -1, 1, -1, 1, 1], 8)]
    none, first, _, second, third, _, fourth, fifth = sent
    assert (len(none), len(first)) == (0, 1)
    assert len(second) == 2  # longer, as the last was caught
    assert not first & second  # other words, as that one was caught
    assert third == second  # the words of the mail that passed
    assert len(fourth) == 3
    assert not first & fourth  # words without a point come before it
    assert first <= fifth  # the words caught least often


def test_it_costs_the_perceptron_more_than_spam_without_a_disguise():
    adversary = Spammer()
    ledger = nk.play(nk.Perceptron(), adversary, rounds=600)
    plain = Spammer()
    stream = [(x, y) for x, _, y in mails(plain, [-1], 600)]  # every mail passes, so none is ever disguised
    assert ledger.mistakes > 3 * nk.play(nk.Perceptron(), stream).mistakes
    found = {one.theorem: one for one in ledger.certify()}
    assert {one.side for one in found.values()} == {"upper"}  # it guarantees no number of mistakes
    assert all(ledger.mistakes <= one.bound for one in found.values() if one.holds)
    assert found["perceptron_margin"].status in ("valid", "vacuous")  # the labels fit one target


def test_same_seed_gives_the_same_game_and_another_seed_another_target():
    games = [
        nk.play(nk.Perceptron(), nk.make("spammer:words=30,spam=5,seed=1", "adversary"), rounds=200) for _ in range(2)
    ]
    assert games[0].mistakes == games[1].mistakes > 0
    assert Spammer(30, 5, 1).witness() != Spammer(30, 5, 2).witness()


@pytest.mark.parametrize(("words", "spam"), [(1, 1), (5, 5), (5, 0), (5, 6), (2.5, 1)])
def test_invalid_sizes_are_refused(words, spam):
    with pytest.raises(NovikoffError):
        Spammer(words, spam)
