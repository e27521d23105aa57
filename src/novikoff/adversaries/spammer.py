"""Adaptive spammer: it disguises its mail with the words of earlier mails that passed the filter.

Strategy
    A mail is a vector of words, present (1) or absent (0). It is spam (+1) if it has one of the hidden spam words.
    Every third mail is ordinary: three good words at random. The others are spam: one spam word, each in turn, and a
    disguise of good words. A good word gains a point with each spam mail that passes, and loses one with each that is
    caught; the disguise has the words with the most points. It gets one word longer after a mail that was caught, and
    short again after all good words were tried together. So a filter that passes every mail with a certain good word
    catches at most as many mails as there are good words.
Forces
    Nothing on every learner: one that knows the spam words makes no mistake. The Perceptron's bound for the witness is
    a limit on what the spammer can do.
Witness
    u: number of good words + 1 for a spam word, -1 for a good word. It has y<u,x> >= 1 on every mail, as each has at
    most all good words, and an ordinary one has a good word.
Cost
    O(words log words) time per round, O(words) memory. Zeros and ones, so the learner's sums are exact.
Reference
    [dalvi2004] for adversarial classification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Label, Theorem
from novikoff.numerics.coins import coin

ORDINARY = 3
"""Every third mail is ordinary, and has at most three words."""


@dataclass(frozen=True, slots=True)
class SpammerFacts:
    """Mails so far.

    Attributes:
        rounds: Number of mails.
        sent: Number of spam mails.
        passed: Number of spam mails that the learner did not catch.
    """

    rounds: int
    sent: int
    passed: int


class Spammer:
    """Adversary that edits its spam until the learner lets it pass.

    Args:
        words: Number of words, and of features.
        spam: Number of hidden spam words.
        seed: Seed of the spam words and of the ordinary mails.

    Guarantee:
        None for every learner. All labels agree with one target, `witness()`, so learners of linear classifiers have
        their bounds.

    Example:
        >>> import novikoff as nk
        >>> adversary = nk.adversaries.Spammer(words=8, spam=2)
        >>> nk.play(nk.Perceptron(), adversary, rounds=60).mistakes
        19
        >>> adversary.witness()
        (7, -1, -1, -1, -1, 7, -1, -1)
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()

    def __init__(self, words: int = 50, spam: int = 10, seed: int = 0) -> None:
        self.words = integer(words, "words", "the number of words must be an integer from 2", 2)
        self.spam = integer(spam, "spam", "the number of spam words must be a positive integer", 1)
        self.seed = integer(seed, "seed", "a seed must be an integer")
        if self.spam >= self.words:
            raise InputError(f"there must be fewer spam words than words: got spam={spam}, words={words}.")
        self.name = f"spammer:words={self.words},spam={self.spam},seed={self.seed}"
        self.domain = Domain("vector", self.words)
        order = sorted(range(self.words), key=lambda word: coin(self.seed, "spammer: words", word))
        self._spam, self._good = order[: self.spam], order[self.spam :]
        self._points = dict.fromkeys(self._good, 0)  # mails that passed with this word, minus those that were caught
        self._length = 0  # words of the disguise
        self._disguise: list[int] = []
        self.rounds = self.sent = self.passed = 0

    @property
    def ordinary(self) -> bool:
        """Whether the current mail is ordinary."""
        return self.rounds % ORDINARY == ORDINARY - 1

    def ask(self, probe: Callable[[Example], Distribution]) -> NDArray[np.float64]:
        x = np.zeros(self.words)
        if self.ordinary:
            for k in range(ORDINARY):
                x[self._good[coin(self.seed, "spammer: mail", ORDINARY * self.rounds + k) % len(self._good)]] = 1.0
            return x
        best = sorted(self._good, key=lambda word: -self._points[word])  # stable: equal points in the first order
        self._disguise = best[: self._length]
        x[self._disguise] = 1.0
        x[self._spam[self.sent % self.spam]] = 1.0
        return x

    def answer(self, prediction: Distribution) -> Label:
        if self.ordinary:
            self.rounds += 1
            return -1
        passes = prediction.get(-1, 0.0) > prediction.get(1, 0.0)
        for word in self._disguise:
            self._points[word] += 1 if passes else -1
        if not passes:
            self._length = self._length + 1 if self._length < len(self._good) else 0
        self.rounds, self.sent, self.passed = self.rounds + 1, self.sent + 1, self.passed + passes
        return 1

    def witness(self) -> tuple[int, ...]:
        """Return the weights u of a linear classifier that labels every mail as answered; positive for spam words."""
        spam = {*self._spam}
        return tuple(len(self._good) + 1 if word in spam else -1 for word in range(self.words))

    def facts(self) -> SpammerFacts:
        return SpammerFacts(self.rounds, self.sent, self.passed)
