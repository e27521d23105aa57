"""Rounds that are asked by id: predicted now, labelled later (pending.py has what waits, late.py what is counted)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from novikoff.core.errors import LateError, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.types import Example, check_label
from novikoff.game.delayed.pending import Answered, Id, Pending, Waiting, digest, own

if TYPE_CHECKING:
    from novikoff.game.delayed.late import Late
    from novikoff.game.game import Game


class Answer(NamedTuple):
    """What is known of a round.

    round        the number of the prediction, from 1
    prediction   what was served, in the user's labels; None of many labels, before there is any
    label        in the user's labels; None as long as it has not come
    arrival      the number of the label, from 1; None as long as it has not come
    mistake      was what was served wrong? None as long as that is not known
    expired      the label is no longer waited for
    repeated     it was known before: nothing has changed
    """

    id: Id
    round: int
    prediction: Any
    label: Any = None
    arrival: int | None = None
    mistake: bool | None = None
    expired: bool = False
    repeated: bool = False


class ById:
    """The rounds of a game that have ids."""

    def __init__(self, game: Game, most: int, expire_seconds: float | None) -> None:
        self._game = game
        self._pending = Pending(most, expire_seconds)

    def predict(self, x: Example, id: Id, at: float | None) -> Answer:
        """Serve x, unless that was done."""
        late = self._game._be_late()
        pending = self._book(late)
        self._expire(late, at)
        mark = digest(x)
        found = pending.known(id, mark)
        if found is not None:
            return self._told(id, found, repeated=True)
        game = self._game
        if not game.ledger.rounds and game.learner.domain.kind == "vector":
            pending.check_form(x)  # the learner has seen none, and would learn of no second form
        untold = game.player.numbered and not game.learner.labels
        said = -1 if untold else game._say_one(x)
        one = Waiting(late.predicted + 1, own(x), mark, said, late.labelled, pending.clock)
        pending.add(id, one)
        late.predict(1)
        return self._told(id, one)

    def learn(self, id: Id, y: Any, at: float | None) -> Answer:
        """Learn the label of a round, unless that was done."""
        late = self._game._be_late()
        pending = self._book(late)
        self._expire(late, at)
        found = pending.find(id)
        if isinstance(found, Answered):
            if found.label is None:
                raise LateError("a label must come in time", f"that of {shown(id)} is no longer waited for",
                                code="expired")  # fmt: skip
            if self._label(y) != found.label:
                told = self._told(id, found).label
                raise LateError("a label must stay what it was", f"{shown(id)} has {told!r}, and now got {shown(y)}",
                                code="label_differs")  # fmt: skip
            return self._told(id, found, repeated=True)
        with late.expecting([found.said], [found.version], 1):
            self._game._learn_one(found.x, y)
        pending.arrived(id, late.labelled, self._label(y))
        return self._told(id, pending.find(id))

    def find(self, id: Id) -> Answer:
        """What is known of a round."""
        return self._told(id, self._book(self._game._be_late()).find(id), repeated=True)

    def _book(self, late: Late) -> Pending:
        if late.pending is None:
            late.pending = self._pending
        return late.pending

    def _expire(self, late: Late, at: float | None) -> None:
        late.expire(len(self._book(late).now(time.time() if at is None else at)))

    def _label(self, y: Any) -> Any:
        """A label of the user's as the learner has it; None of one that is not known."""
        game, labels = self._game, self._game._users_labels()
        if isinstance(labels, Numbering):
            return labels.find(one_label(y))
        if labels is not None:
            return labels.encode(y)
        return float(y) if game.player.pays else check_label(y, game.learner.labels)

    def _told(self, id: Id, one: Waiting | Answered, repeated: bool = False) -> Answer:
        labels = self._game._users_labels()

        def users(label: Any) -> Any:
            if isinstance(labels, Numbering) and label == -1:
                return None
            return label if labels is None else labels.decode(label)

        if isinstance(one, Waiting):
            return Answer(id, one.number, users(one.said), repeated=repeated)
        if one.label is None:
            return Answer(id, one.number, users(one.said), expired=True, repeated=repeated)
        wrong = one.said != one.label if self._game.player.counts else None
        return Answer(id, one.number, users(one.said), users(one.label), one.arrival, wrong, repeated=repeated)
