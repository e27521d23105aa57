"""Rounds that wait for their labels, by id, and answered rounds, which are remembered for repeated calls.

A label may arrive late, out of order, twice or never. A repeated call changes nothing, so a sender may safely retry:
the same x under the same id gets the same answer, and the same label is learned once. A different x under a used id,
or a different label for a labelled round, raises `LateError`.

`ById` predicts and labels the rounds of a game by these ids; late.py counts them.
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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from novikoff.core.errors import InputError, LateError, ModelFileError, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.state import Coded, Count, Number, Stateful, Tuples, Values, read, require
from novikoff.core.types import Example, LabelValue, Outcome, Prediction, State, check_label
from novikoff.game.metrics import Forecast

if TYPE_CHECKING:
    from novikoff.game.delayed.late import Late
    from novikoff.game.game import Game

MOST = 1_000_000
"""Default maximum number of waiting rounds, and of remembered answered rounds."""

Id = str | int


@dataclass(slots=True)
class Waiting:
    """A round whose label has not arrived.

    Attributes:
        number: Number of the prediction, counted from 1.
        x: Owned copy of the example.
        digest: Digest of x, to recognise it.
        prediction: Served prediction in the learner's labels; -1 while no multiclass label is known.
        version: Number of labels that had arrived when it was served.
        at: Time of the prediction, in seconds.
        forecast: Served log-odds or score of two labels, or probabilities of labels; None if there are none.
    """

    number: int
    x: Example
    digest: str
    prediction: Prediction
    version: int
    at: float
    forecast: list[float] | None = None


@dataclass(slots=True)
class Answered:
    """A round whose label has arrived or expired.

    Attributes:
        number: Number of the prediction, counted from 1.
        digest: Digest of x.
        prediction: Served prediction.
        arrival: Number of its label in the order of arrival, counted from 1; 0 if it expired.
        label: Label as the learner encodes it; None if it expired.
    """

    number: int
    digest: str
    prediction: Prediction
    arrival: int
    label: Any


class Pending(Stateful):
    """The rounds of one game by id.

    Args:
        most: Maximum number of waiting rounds, and of remembered answered rounds.
        expire_seconds: Seconds after which a missing label expires; None for never.
    """

    fields = (
        Count("most", 1, argument=True),
        Number("expire_seconds", 0.0, optional=True, argument=True),
        Coded("clock", lambda clock: clock if math.isfinite(clock) else None,
              lambda saved: -math.inf if saved is None else float(saved), "a time"),
        Tuples("waiting", (str | int, int, object, str, object, int, float), at="_waiting", assigned=False),
        Values("forecasts", list | None, at="_forecasts", assigned=False, default=lambda: None),
        Tuples("answered", (str | int, int, str, object, int, object), at="_answered", assigned=False),
    )  # fmt: skip
    described = "waiting rounds"

    def __init__(self, most: int = MOST, expire_seconds: float | None = None) -> None:
        if type(most) is not int or most < 1:
            raise InputError(f"most_pending must be an integer from 1: got {shown(most)}.")
        if expire_seconds is not None and not expire_seconds > 0.0:
            raise InputError(f"expire_seconds must be a number above 0, or None: got {shown(expire_seconds)}.")
        self.most = most
        self.expire_seconds = None if expire_seconds is None else float(expire_seconds)
        self.waiting: dict[Id, Waiting] = {}
        self.answered: dict[Id, Answered] = {}
        self.clock = -math.inf

    def now(self, at: float) -> list[Id]:
        """Advance the clock, which never goes back, and return the ids of the rounds that expire."""
        if not math.isfinite(at):
            raise InputError(f"a time must be a finite number of seconds: got {at}.")
        self.clock = max(self.clock, at)
        if self.expire_seconds is None:
            return []
        found = []
        for id, one in self.waiting.items():  # oldest first
            if one.at + self.expire_seconds > self.clock:
                break
            found.append(id)
        for id in found:
            self._answer(id, 0, None)
        return found

    def known(self, id: Id, digest: str) -> Waiting | Answered | None:
        """Return the round of that id if x is the same; None if the id is new."""
        if not isinstance(id, (str, int)) or isinstance(id, bool):
            raise InputError(f"an id must be text or a whole number: got {shown(id)}.")
        found = self.waiting.get(id) or self.answered.get(id)
        if found is not None and found.digest != digest:
            raise LateError("an id must belong to one example", f"{shown(id)} was used for another x",
                            "Choose a new one.", code="id_taken")  # fmt: skip
        if found is None and len(self.waiting) >= self.most:
            do = "Send labels, let old rounds expire (expire_seconds), or allow more (most_pending)."
            raise LateError(
                f"at most {self.most:,} rounds may wait for labels", "that many do already", do, code="pending_full"
            )
        return found

    def check_form(self, x: Example) -> None:
        """Raise `InputError` if an example differs in form from the one that waits longest."""
        known = next((_form(one.x) for one in self.waiting.values()), None)
        form = _form(x)
        if known is not None and form is not None and form != known:
            raise InputError(f"examples must be of one form: got {form} after {known}.")

    def add(self, id: Id, one: Waiting) -> None:
        """Add a waiting round."""
        self.waiting[id] = one

    def find(self, id: Id) -> Waiting | Answered:
        """Return the round of that id; raise `LateError` if there is none."""
        found = self.waiting.get(id) or self.answered.get(id)
        if found is None:
            raise LateError("an id must belong to a predicted round",
                            f"{shown(id)} does not, or its round is no longer remembered", "Predict first.",
                            code="unknown_id")  # fmt: skip
        return found

    def arrived(self, id: Id, arrival: int, label: object) -> None:
        """Mark a waiting round as labelled."""
        self._answer(id, arrival, label)

    def _answer(self, id: Id, arrival: int, label: object) -> None:
        one = self.waiting.pop(id)
        self.answered[id] = Answered(one.number, one.digest, one.prediction, arrival, label)
        if len(self.answered) > self.most:
            del self.answered[next(iter(self.answered))]

    @property
    def _waiting(self) -> list[list[Any]]:
        """Waiting rounds as plain data."""
        return [[id, one.number, plain(one.x), one.digest, _value(one.prediction), one.version, one.at]
                for id, one in self.waiting.items()]  # fmt: skip

    @property
    def _forecasts(self) -> list[object]:
        """Forecasts of the waiting rounds as plain data."""
        return [None if one.forecast is None else _list(one.forecast) for one in self.waiting.values()]

    @property
    def _answered(self) -> list[list[object]]:
        """Answered rounds as plain data."""
        return [[id, one.number, one.digest, _value(one.prediction), one.arrival, _value(one.label)]
                for id, one in self.answered.items()]  # fmt: skip

    def after_restoring(self, found: State) -> None:
        self.waiting = {id: Waiting(number, read(x, example, "a waiting example must be plain data"), *rest)
                        for id, number, x, *rest in found["waiting"]}  # fmt: skip
        forecasts = found["forecasts"] or [None] * len(self.waiting)
        require(len(forecasts) == len(self.waiting), "there must be a forecast per waiting round", len(forecasts))
        for one, forecast in zip(self.waiting.values(), forecasts, strict=True):
            values: Any = None if forecast is None else [example(value) for value in forecast]
            require(
                values is None or all(type(value) is float for value in values), "forecasts must be numbers", values
            )
            one.forecast = values
        self.answered = {id: Answered(*rest) for id, *rest in found["answered"]}
        ids = len(found["waiting"]) + len(found["answered"])
        sound = len({*self.waiting, *self.answered}) == ids and len(self.waiting) <= self.most
        require(sound, f"ids of waiting rounds must be distinct, and at most {self.most:,}", ids)


def _form(x: Example) -> str | None:
    """Return the form of an example in words; None if x does not determine it."""
    if isinstance(x, Mapping):
        return "named features" if x and all(isinstance(name, str) for name in x) else None
    one = isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim == 1)
    return f"an array of {len(x):,} numbers" if one and isinstance(x, (list, np.ndarray)) else None


def own(x: Example) -> Example:
    """Return an owned copy of x."""
    if isinstance(x, (int, float, str)):
        return x
    if isinstance(x, tuple) and all(isinstance(part, np.ndarray) for part in x):
        return tuple(part.copy() for part in x)
    return x.copy() if isinstance(x, (np.ndarray, dict)) else copy.deepcopy(x)


def digest(x: Example) -> str:
    """Return a digest of x that is the same for equal values under equal names, in any order."""
    try:
        text = json.dumps(plain(x), sort_keys=True)
    except ModelFileError:
        text = repr(x.to_dict() if hasattr(x, "to_dict") else x)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def plain(x: Example) -> Any:
    """Return an example as JSON values, which `example` restores to the bit."""
    if isinstance(x, Mapping):
        if all(isinstance(name, str) for name in x):
            return {"names": {name: _value(value) for name, value in x.items()}}
        return {"numbers": [[_value(place), _value(value)] for place, value in sorted(x.items())]}
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        return {"places": x[0].tolist(), "values": np.asarray(x[1]).tolist()}
    if isinstance(x, np.ndarray) and x.dtype.kind in "iufb":
        return x.tolist() if x.dtype.kind != "f" or np.isfinite(x).all() else _list(x.tolist())
    return _list(x) if isinstance(x, (list, tuple)) else _value(x)


def example(value: object) -> Example:
    """Return the example that `plain` has converted."""
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


def _list(values: Any) -> list[object]:
    return [_list(one) if isinstance(one, list) else _value(one) for one in values]


def _value(value: object) -> object:
    """Return a number or a text as a JSON value; infinities and NaN under the key "number"."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (Integral, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else {"number": repr(float(value))}
    raise ModelFileError(
        f"an example that waits for its label must consist of numbers to be saved: got {shown(value)}. Pass x as an "
        "array or a mapping, or save after its label has arrived."
    )


class Answer(NamedTuple):
    """The state of a round with an id.

    Attributes:
        id: Id of the round.
        round: Number of the prediction, counted from 1.
        prediction: Served prediction in the user's labels; None while no multiclass label is known.
        label: Label in the user's labels; None until it arrives.
        arrival: Number of the label, counted from 1; None until it arrives.
        mistake: Whether the served prediction was wrong; None if unknown.
        expired: Whether the label has expired.
        repeated: Whether the call was a repetition that changed nothing.
    """

    id: Id
    round: int
    prediction: LabelValue
    label: LabelValue = None
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
        """Serve a prediction for x, or return the earlier one."""
        late = self._game._delay_labels()
        pending = self._book(late)
        self._expire(late, at)
        mark = digest(x)
        found = pending.known(id, mark)
        if found is not None:
            return self._state_of(id, found, repeated=True)
        game = self._game
        if not game.ledger.rounds and game.player.domain.kind == "vector":
            pending.check_form(x)  # the learner has seen no example yet and cannot check the form
        no_label_yet = game.player.numbered and not game.player.labels
        prediction, forecast = (-1, []) if no_label_yet else game._forecast_one(x)
        one = Waiting(late.predicted + 1, own(x), mark, prediction, late.labelled, pending.clock, forecast)
        pending.add(id, one)
        late.predict(1)
        return self._state_of(id, one)

    def learn(self, id: Id, y: Outcome, at: float | None) -> Answer:
        """Learn the label of a round, unless it was learned before."""
        late = self._game._delay_labels()
        pending = self._book(late)
        self._expire(late, at)
        found = pending.find(id)
        if isinstance(found, Answered):
            if found.label is None:
                raise LateError("a label must arrive in time", f"round {shown(id)} has expired",
                                code="expired")  # fmt: skip
            if self._label(y) != found.label:
                known = self._state_of(id, found).label
                raise LateError("a label cannot be changed", f"{shown(id)} has {known!r}, and now got {shown(y)}",
                                code="label_differs")  # fmt: skip
            return self._state_of(id, found, repeated=True)
        numbered, values = self._game.player.numbered, found.forecast
        forecast = None if values is None else Forecast(None, np.array(values)) if numbered else Forecast(values[0])
        with late.expecting([found.prediction], [found.version], 1, [forecast]):
            self._game._learn_one(found.x, y)
        pending.arrived(id, late.labelled, self._label(y))
        return self._state_of(id, pending.find(id))

    def find(self, id: Id) -> Answer:
        """Return the state of a round."""
        return self._state_of(id, self._book(self._game._delay_labels()).find(id), repeated=True)

    def _book(self, late: Late) -> Pending:
        if late.pending is None:
            late.pending = self._pending
        return late.pending

    def _expire(self, late: Late, at: float | None) -> None:
        late.expire(len(self._book(late).now(time.time() if at is None else at)))

    def _label(self, y: Any) -> object:
        """Return the learner's label of a user's label; None if it is unknown."""
        game, labels = self._game, self._game._users_labels()
        if isinstance(labels, Numbering):
            return labels.find(one_label(y))
        if labels is not None:
            return labels.encode(y)
        return check_label(y, game.player.labels) if game.player.learns_labels else float(y)

    def _state_of(self, id: Id, one: Waiting | Answered, repeated: bool = False) -> Answer:
        """Return the state of a round in the user's labels."""
        labels = self._game._users_labels()

        def users(label: Any) -> object:
            if isinstance(labels, Numbering) and label == -1:
                return None
            return label if labels is None else labels.decode(label)

        if isinstance(one, Waiting):
            return Answer(id, one.number, users(one.prediction), repeated=repeated)
        if one.label is None:
            return Answer(id, one.number, users(one.prediction), expired=True, repeated=repeated)
        wrong = one.prediction != one.label if self._game.player.counts_mistakes else None
        return Answer(id, one.number, users(one.prediction), users(one.label), one.arrival, wrong, repeated=repeated)
