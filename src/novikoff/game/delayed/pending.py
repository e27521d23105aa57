"""Pending: rounds that were predicted and wait for their labels, by id; and those that were answered, for repeats.

A label may come late, out of order, twice or never. The same again changes nothing: the same x under the same id gets
the same answer, the same label again is heard once. Another x under an id that is taken, and another label than the one
that came, are refused. So whoever sends may send again when in doubt.

`ById` asks and labels the rounds of a game by these ids; what is counted of them is in late.py.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from novikoff.core.errors import InputError, LateError, ModelFileError, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.types import Example, State, check_label

if TYPE_CHECKING:
    from novikoff.game.delayed.late import Late
    from novikoff.game.game import Game

MOST = 1_000_000
"""Rounds that may wait, and answered ones that are remembered, if nothing is said."""

Id = str | int


@dataclass(slots=True)
class Waiting:
    """A round whose label has not come.

    number    of the prediction, from 1
    x         the example, the caller's own no longer
    digest    of x, by which it is known again
    said      the label that was served, as the learner has labels; -1 of many labels, before there is any
    version   labels that had arrived by then
    at        when, in seconds
    """

    number: int
    x: Example
    digest: str
    said: Any
    version: int
    at: float


@dataclass(slots=True)
class Answered:
    """A round whose label came, or is no longer waited for.

    arrival   the number of its label, from 1; 0 if it expired
    label     the learner's; None if it expired
    """

    number: int
    digest: str
    said: Any
    arrival: int
    label: Any


class Pending:
    """The rounds of one game by id.

    most             how many may wait; as many answered ones are remembered
    expire_seconds   after so long a label is no longer waited for; None: never
    """

    def __init__(self, most: int = MOST, expire_seconds: float | None = None) -> None:
        if type(most) is not int or most < 1:
            raise InputError(f"most_pending must be a whole number from 1: got {shown(most)}.")
        if expire_seconds is not None and not expire_seconds > 0.0:
            raise InputError(f"expire_seconds must be a number above 0, or None: got {shown(expire_seconds)}.")
        self.most = most
        self.expire_seconds = None if expire_seconds is None else float(expire_seconds)
        self.waiting: dict[Id, Waiting] = {}
        self.answered: dict[Id, Answered] = {}
        self.clock = -math.inf

    def now(self, at: float) -> list[Id]:
        """Let it be so late; the ids whose labels are no longer waited for. A clock that jumps back stands still."""
        if not math.isfinite(at):
            raise InputError(f"a time must be a finite number of seconds: got {at}.")
        self.clock = max(self.clock, at)
        if self.expire_seconds is None:
            return []
        found = []
        for id, one in self.waiting.items():  # the oldest first
            if one.at + self.expire_seconds > self.clock:
                break
            found.append(id)
        for id in found:
            self._answer(id, 0, None)
        return found

    def known(self, id: Any, digest: str) -> Waiting | Answered | None:
        """The round of that id, if x is the same; None if it is new."""
        if not isinstance(id, (str, int)) or isinstance(id, bool):
            raise InputError(f"an id must be text or a whole number: got {shown(id)}.")
        found = self.waiting.get(id) or self.answered.get(id)
        if found is not None and found.digest != digest:
            raise LateError("an id must be of one example", f"{shown(id)} is of another x", "Choose a new one.",
                            code="id_taken")  # fmt: skip
        if found is None and len(self.waiting) >= self.most:
            do = "Send labels, let old rounds expire (expire_seconds), or allow more (most_pending)."
            raise LateError(f"at most {self.most:,} rounds may wait for labels", "so many do", do, code="pending_full")
        return found

    def check_form(self, x: Example) -> None:
        """Refuse an example of another form than the one that waits longest."""
        known = next((_form(one.x) for one in self.waiting.values()), None)
        told = _form(x)
        if known is not None and told is not None and told != known:
            raise InputError(f"examples must be of one form: got {told} after {known}.")

    def add(self, id: Id, one: Waiting) -> None:
        """A round that waits from now on."""
        self.waiting[id] = one

    def find(self, id: Id) -> Waiting | Answered:
        """The round of that id."""
        found = self.waiting.get(id) or self.answered.get(id)
        if found is None:
            raise LateError("an id must be of a round that was predicted",
                            f"{shown(id)} is not, or was answered long ago", "Predict first.",
                            code="unknown_id")  # fmt: skip
        return found

    def arrived(self, id: Id, arrival: int, label: Any) -> None:
        """The label of a round that waited has come, and was learned."""
        self._answer(id, arrival, label)

    def _answer(self, id: Id, arrival: int, label: Any) -> None:
        one = self.waiting.pop(id)
        self.answered[id] = Answered(one.number, one.digest, one.said, arrival, label)
        if len(self.answered) > self.most:
            del self.answered[next(iter(self.answered))]

    def state(self) -> State:
        waiting = [[id, one.number, plain(one.x), one.digest, _value(one.said), one.version, one.at]
                   for id, one in self.waiting.items()]  # fmt: skip
        answered = [[id, one.number, one.digest, _value(one.said), one.arrival, _value(one.label)]
                    for id, one in self.answered.items()]  # fmt: skip
        clock = self.clock if math.isfinite(self.clock) else None
        return {"most": self.most, "expire_seconds": self.expire_seconds, "clock": clock, "waiting": waiting,
                "answered": answered}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        found = cls(state["most"], state["expire_seconds"])
        found.clock = -math.inf if state["clock"] is None else float(state["clock"])
        for id, number, x, digest, said, version, at in state["waiting"]:
            found.waiting[id] = Waiting(number, example(x), digest, said, version, at)
        for id, number, digest, said, arrival, label in state["answered"]:
            found.answered[id] = Answered(number, digest, said, arrival, label)
        ids = len(state["waiting"]) + len(state["answered"])
        if len({*found.waiting, *found.answered}) != ids or len(found.waiting) > found.most:
            raise ModelFileError("ids of rounds that wait must be different, and no more than may wait.")
        return found


def _form(x: Example) -> str | None:
    """Of what form an example is; None where that is not told by its looks."""
    if isinstance(x, Mapping):
        return "named features" if x and all(isinstance(name, str) for name in x) else None
    one = isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim == 1)
    return f"an array of {len(x):,} numbers" if one and isinstance(x, (list, np.ndarray)) else None


def own(x: Example) -> Example:
    """A copy of x, which stays as it is whatever the caller does with his."""
    if isinstance(x, (int, float, str)):
        return x
    if isinstance(x, tuple) and all(isinstance(part, np.ndarray) for part in x):
        return tuple(part.copy() for part in x)
    return x.copy() if isinstance(x, (np.ndarray, dict)) else copy.deepcopy(x)


def digest(x: Example) -> str:
    """By what x is known again: the same numbers under the same names, in any order."""
    try:
        text = json.dumps(plain(x), sort_keys=True)
    except ModelFileError:
        text = repr(x.to_dict() if hasattr(x, "to_dict") else x)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def plain(x: Example) -> Any:
    """An example as JSON values, which `example` reads again to the bit."""
    if isinstance(x, Mapping):
        if all(isinstance(name, str) for name in x):
            return {"names": {name: _value(value) for name, value in x.items()}}
        return {"numbers": [[_value(place), _value(value)] for place, value in sorted(x.items())]}
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        return {"places": x[0].tolist(), "values": np.asarray(x[1]).tolist()}
    if isinstance(x, np.ndarray) and x.dtype.kind in "iufb":
        return x.tolist() if x.dtype.kind != "f" or np.isfinite(x).all() else _list(x.tolist())
    return _list(x) if isinstance(x, (list, tuple)) else _value(x)


def example(value: Any) -> Example:
    """The example that was written so."""
    if isinstance(value, list):
        return [example(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "names" in value:
        return {name: example(one) for name, one in value["names"].items()}
    if "numbers" in value:
        return {place: example(one) for place, one in value["numbers"]}
    return np.array(value["places"], dtype=np.uint32), np.array(value["values"], dtype=np.float64)


def _list(values: Any) -> list[Any]:
    return [_list(one) if isinstance(one, list) else _value(one) for one in values]


def _value(value: Any) -> Any:
    """A number or a text as a JSON value; a float that JSON has no word for, nan, under the key "number"."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (Integral, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else {"number": repr(float(value))}
    raise ModelFileError(
        f"an example that waits for its label must be numbers to be saved: got {shown(value)}. Give x as an array or "
        "as a mapping, or save when its label has come."
    )


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
        wrong = one.said != one.label if self._game.player.counts_mistakes else None
        return Answer(id, one.number, users(one.said), users(one.label), one.arrival, wrong, repeated=repeated)
