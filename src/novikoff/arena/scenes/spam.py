"""A spam filter that learns from mail after mail: a weight per word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from novikoff.arena.scenes.plane import separable
from novikoff.arena.scenes.scene import Place, Scene
from novikoff.core.learner import Learner
from novikoff.linear.perceptron import Perceptron

SPAM = (
    "win a free prize today, click now", "cheap pills, free delivery", "your account is locked, click this link",
    "you are the winner of our lottery", "limited offer: cheap watches", "earn money from home, no risk",
    "free money, reply now", "urgent: confirm your account today", "hot offer only today, click here",
    "no risk, free trial, win money", "dear friend, I have money for you", "your parcel waits, pay the fee now",
    "lose weight fast with our pills", "cheap flights, limited offer", "claim your prize before tonight",
    "free tickets for the winner", "click here for a free report", "urgent: your invoice, pay now",
    "meet hot singles tonight", "win a watch, reply today",
)  # fmt: skip
"""Mails that are spam."""
HAM = (
    "lunch today at noon?", "the report for the meeting is here", "can you review my draft tonight",
    "minutes of the meeting on monday", "your flights to the conference are booked", "invoice for the office chairs",
    "thank you for the report", "are you free for lunch on friday", "the train is late, start without me",
    "a question on your draft", "party at my home on saturday", "reply to the reviewer before monday",
    "your account of the trip made me laugh", "the kids have a free day today", "notes of the lecture on margins",
    "please confirm the meeting on friday", "the link to the lecture notes", "is the conference fee paid",
    "we won the match last night", "dinner tonight, pay what you like",
)  # fmt: skip
"""Mails that are not."""
NEXT = 5
"""Mails that the page offers next."""
HEAVIEST = 6
"""Words that the page shows on each side."""


def words_of(mail: str) -> list[str]:
    """Return the words of a mail."""
    return "".join(one if one.isalpha() else " " for one in mail.lower()).split()


VOCABULARY = {word: place for place, word in enumerate(sorted({w for mail in SPAM + HAM for w in words_of(mail)}))}
"""Number of each word."""


class SpamScene(Scene):
    """A filter reads mails and learns a weight per word. Send the mail that it misjudges."""

    name, title, learner_name = "spam", "Spam", "perceptron"
    rivals: ClassVar[tuple[str, ...]] = ("data", "me", "builtin")
    ordered = True

    def __init__(self, options: Mapping[str, int], seed: int, rival: str) -> None:
        super().__init__(options, seed, rival)
        mails = [*((mail, 1) for mail in SPAM), *((mail, -1) for mail in HAM)]
        self._mails = [mails[i] for i in self.coins.permutation(len(mails))]
        self._sent: list[int] = []

    def opponent(self) -> None:
        """Return None: the built-in rival only chooses the order of the mails."""

    def made(self) -> Learner:
        return Perceptron(bias=1.0)

    def limits(self) -> list[tuple[int, int]]:
        return [(0, len(SPAM) + len(HAM) - 1)]

    def example(self, place: Place) -> Any:
        self._place = place[0]
        return self._row(place[0])

    def _row(self, mail: int) -> Any:
        row = np.zeros(len(VOCABULARY))
        row[[VOCABULARY[word] for word in words_of(self._mails[mail][0])]] = 1.0
        return row

    def _score(self, mail: int) -> float:
        weights = self.learner.weights
        return float(self._row(mail)[: len(weights)] @ weights) + float(self.learner.bias_weight)

    def _waiting(self) -> list[int]:
        """Return the next mails in order: those that were sent least often."""
        counts = np.bincount(self._sent, minlength=len(self._mails))
        return [int(mail) for mail in np.argsort(counts, kind="stable")[:NEXT]]

    def data(self, number: int) -> tuple[Place, int]:
        """Return the next mail and its label; for the built-in rival, the one that the filter misjudges worst."""
        counts = np.bincount(self._sent, minlength=len(self._mails))
        mail = number % len(self._mails)
        if self.rival == "builtin":
            fresh = np.flatnonzero(counts == counts.min()).tolist()
            mail = min(fresh, key=lambda one: self._mails[one][1] * self._score(one))
        return [mail], self._mails[mail][1]

    def fits(self, x: object, y: int) -> bool:
        return separable([([*row, 1.0], label) for row, label in [*self.shown, (x, y)]])

    def learn(self, x: object, y: int) -> int:
        self._sent.append(self._place)
        return super().learn(x, y)

    def view(self) -> dict[str, object]:
        weights = self.learner.weights
        found = {word: float(weights[place]) for word, place in VOCABULARY.items()
                 if place < len(weights) and weights[place] != 0.0}  # fmt: skip
        ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
        last = self._sent[-1] if self._sent else None
        return {
            "mail": None if last is None else [self._mails[last][0], self._mails[last][1]],
            "weights": {word: found[word] for word in words_of(self._mails[last][0]) if word in found}
            if last is not None else {},
            "spam": [one for one in ranked if one[1] > 0][:HEAVIEST],
            "ham": [one for one in ranked[::-1] if one[1] < 0][:HEAVIEST],
            "known": len(found),
            "next": [[mail, *self._mails[mail], self._score(mail)] for mail in self._waiting()],
        }  # fmt: skip
