"""`nk.follow`: a game over events as they arrive, with labels that come later, such as messages of a queue.

Events
    An event is a dict, or a message whose `value` is a dict or JSON text, as the clients of Kafka have it. An event
    without its label is predicted, and kept by its id. An event with the label of an earlier id is learned from the
    kept features; its own features are ignored. An event with features and a label, of a new id, is predicted and then
    learned. Without ids, an event with a label is learned at once, and one without is predicted only.
Repeats
    Queues deliver messages at least once: a repeated event gets the same prediction and is not learned again.
Problems
    A label of an unknown or expired id, a label that changes, an id with other features, and a message that is not a
    dict do not stop the loop: the answer says what is wrong, and `problems` counts them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from novikoff.core.errors import InputError, LateError, named
from novikoff.core.learner import Learner
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.specs import parsed
from novikoff.game.specs import task as task_of


class Followed(NamedTuple):
    """The result of one event.

    Attributes:
        event: The event, as it came.
        id: Its id; None if there is none.
        prediction: Prediction for it, in the user's labels; None if there is none, or before the first label.
        label: Its label; None if it has none.
        learned: Whether the event was learned from.
        problem: Reason why the event was not used; None if it was.
    """

    event: Any
    id: Any = None
    prediction: Any = None
    label: Any = None
    learned: bool = False
    problem: str | None = None


class Following:
    """A loop over events: iterate to play the game, by `for`, or by `async for` over an asynchronous source.

    Args:
        events: Events, see `follow`.
        game: Game to play.
        id: Key of the id; None if there are no ids.
        label: Key of the label.
        value: Function that returns the dict of an event; None for the usual messages.

    Attributes:
        game: The game.
        problems: Number of events that were not used, by code: unknown_id, expired, label_differs, id_taken,
            pending_full, no_features or not_a_dict.
    """

    def __init__(
        self, events: Any, game: Game, id: str | None, label: str, value: Callable[[Any], Mapping[str, Any]] | None
    ) -> None:
        self._events, self.game, self._id, self._label = events, game, id, label
        self._value = value or message_value
        self.problems: Counter[str] = Counter()

    @property
    def ledger(self) -> Ledger:
        """The ledger of the game: counts, metrics and certificates."""
        return self.game.ledger

    def __iter__(self) -> Iterator[Followed]:
        if not isinstance(self._events, Iterable):
            raise InputError("an asynchronous source must be followed asynchronously", "got for", "Write async for.")
        return map(self.take, self._events)

    async def __aiter__(self) -> AsyncIterator[Followed]:
        if isinstance(self._events, AsyncIterable):
            async for event in self._events:
                yield self.take(event)
        else:
            for event in self._events:
                yield self.take(event)

    def run(self) -> Ledger:
        """Play all events and return the ledger."""
        for _ in self:
            pass
        return self.ledger

    def take(self, event: object) -> Followed:
        """Play one event: predict it, learn it, or both."""
        try:
            found = self._value(event)
        except ValueError as error:
            return self._refused(Followed(event), "not_a_dict", f"a message must be a JSON object: {error}")
        if not isinstance(found, Mapping):
            return self._refused(Followed(event), "not_a_dict", f"an event must be a dict: got {named(found)}.")
        id = None if self._id is None else found.get(self._id)
        y = found.get(self._label)
        y = None if y is None or y != y else y
        x = {key: cell for key, cell in found.items() if key not in (self._id, self._label)}
        answer = Followed(event, id, None, y)
        if self._id is not None and id is None:
            return self._refused(answer, "unknown_id", f"an event must have an id: it has no {self._id!r}.")
        try:
            return self._played(answer, x)
        except LateError as error:
            return self._refused(answer, error.code, str(error))

    def _played(self, answer: Followed, x: dict[str, object]) -> Followed:
        id, y, game = answer.id, answer.label, self.game
        before = game.ledger.rounds
        if id is None:
            if not x:
                return self._refused(answer, "no_features", "an event must have features: it has none.")
            prediction = game.predict_one(x) if y is None else game.learn_one(x, y)
        elif y is None or not self._knows(id):
            if not x:
                code = "no_features" if y is None else "unknown_id"
                return self._refused(answer, code, f"an event without features must have an earlier id: got {id!r}.")
            prediction = game.predict_one(x, id)
            if y is not None:
                game.learn_one(id, y)
        else:
            prediction = game.learn_one(id, y)
        return answer._replace(prediction=prediction, learned=game.ledger.rounds > before)

    def _knows(self, id: Any) -> bool:
        """Return whether an event with this id was predicted."""
        late = self.game.ledger.late
        if late is None or late.pending is None:
            return False
        try:
            self.game.find(id)
        except LateError:
            return False
        return True

    def _refused(self, answer: Followed, code: str, problem: str) -> Followed:
        self.problems[code] += 1
        return answer._replace(problem=problem)


def follow(
    events: Iterable[object] | AsyncIterable[object], learner: Game | Learner | str = "auto", id: str | None = None,
    label: str = "label", labels: object = None, task: str | None = None, schema: object = None,
    value: Callable[[object], Mapping[str, object]] | None = None, **options: object,
) -> Following:  # fmt: skip
    """Play a game over events as they arrive; labels may come later, by id.

    Args:
        events: Iterable or asynchronous iterable of dicts or messages: a list, a consumer of a queue, a socket. A
            consumer that is polled becomes one by `iter(lambda: consumer.poll(1.0), None)`.
        learner: Spec, learner, or a `Game` to continue.
        id: Key of the id by which labels find their events; None if labels come with their events.
        label: Key of the label; absent, None or NaN if it is not known yet.
        labels: As in `Game`; None for any labels in a game with ids.
        task: "classify", "regress" or "count", as in `Game`.
        schema: Kinds of columns, as in `Game`.
        value: Function that returns the dict of an event; by default a dict as it is, or the JSON object in its
            attribute or method `value`.
        **options: Further options of `Game`, such as `expire_seconds` and `most_pending`.

    Returns:
        The loop, which yields a `Followed` per event; `run()` plays all and returns the ledger.

    Example:
        >>> import novikoff as nk
        >>> events = [{"id": 1, "age": 31, "city": "Rome"}, {"id": 2, "age": 58, "city": None}, {"id": 1, "paid": "no"}]
        >>> loop = nk.follow(events, "logistic", id="id", label="paid", labels=("no", "yes"))
        >>> [(answer.id, answer.learned) for answer in loop]
        [(1, False), (2, False), (1, True)]
        >>> loop.ledger.rounds
        1
    """
    if not isinstance(events, (Iterable, AsyncIterable)) or isinstance(events, (str, bytes, Mapping)):
        do = "Pass a list, a generator, or iter(lambda: consumer.poll(1.0), None)."
        raise InputError("events must be an iterable of dicts or messages", f"got {named(events)}", do)
    given: dict[str, Any] = {"labels": labels, "task": task, "schema": schema, **options}
    given = {name: one for name, one in given.items() if one is not None}
    if isinstance(learner, Game):
        if given:
            raise InputError(f"options are those of the game, which is given: leave out {', '.join(given)}.")
        return Following(events, learner, id, label, value)
    undeclared = id is not None and labels is None and task in (None, "classify")
    if undeclared and isinstance(learner, str) and task_of(parsed(learner)) == "binary":
        given["labels"] = "multiclass"  # the learner is made at the first prediction, before any label is known
    return Following(events, Game(learner, **given), id, label, value)


def message_value(event: object) -> Any:
    """Return the dict of an event: itself, or the content of a message of a queue, in JSON."""
    if isinstance(event, Mapping):
        return event
    if not isinstance(event, (str, bytes, bytearray)) and hasattr(event, "value"):
        event = event.value() if callable(event.value) else event.value
    return json.loads(event) if isinstance(event, (str, bytes, bytearray)) else event
