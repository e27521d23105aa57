"""`nk.follow`: events with late labels give the game of the same calls; repeats and problems do not stop the loop."""

import asyncio
import json
import random
from collections import deque

import pytest
from tests.mixed_rows import apart, mixed

import novikoff as nk
from novikoff.core.errors import InputError

ROWS = mixed(120)


class Message:
    """A message of a queue whose value is JSON bytes: an attribute as in kafka-python, or a method."""

    def __init__(self, event, method):
        content = event if isinstance(event, bytes) else json.dumps(event).encode()
        self.value = (lambda: content) if method else content


class Consumer:
    """A stand-in for a consumer: `poll` returns a message, or None when there is none; iteration ends there."""

    def __init__(self, events, method):
        self._waiting = deque(Message(event, method) for event in events)

    def poll(self, timeout):
        return self._waiting.popleft() if self._waiting else None

    def __iter__(self):
        return self

    def __next__(self):
        if not self._waiting:
            raise StopIteration
        return self._waiting.popleft()


def late_events(most=30, seed=4):
    """Return events: each row without its label, and the label by id up to `most` events later; some labels never."""
    draw = random.Random(seed)
    timed = []
    for k, row in enumerate(ROWS[:80]):
        x, y = apart(row)
        timed.append((k, {"order": k, **x}))
        if draw.random() < 0.9:
            timed.append((k + draw.uniform(0.5, most), {"order": k, "outcome": y}))
    return [event for _, event in sorted(timed, key=lambda one: one[0])]


def played(events, labels=("no", "yes")):
    """Return the game of the same calls by hand, and its predictions."""
    game = nk.Game("auto", labels=labels)
    found = []
    for event in events:
        x = {key: value for key, value in event.items() if key not in ("order", "outcome")}
        known = "outcome" in event
        found.append(game.learn_one(event["order"], event["outcome"]) if known else game.predict_one(x, event["order"]))
    return game, found


def figures(ledger):
    return ledger.rounds, ledger.mistakes, ledger.metrics.log_loss, [one.bound for one in ledger.certify()]


@pytest.mark.parametrize("kind", ["dicts", "messages", "polled", "text"])
def test_late_labels_give_the_game_of_the_same_calls(kind):
    events = late_events()
    game, predictions = played(events)
    consumer = Consumer(events, kind == "polled")
    source = {
        "dicts": events,
        "messages": consumer,
        "polled": iter(lambda: consumer.poll(1.0), None),
        "text": map(json.dumps, events),
    }[kind]
    loop = nk.follow(source, id="order", label="outcome", labels=("no", "yes"))
    answers = list(loop)
    assert [one.prediction for one in answers] == predictions
    assert [one.learned for one in answers] == ["outcome" in event for event in events]
    assert not loop.problems
    assert figures(loop.ledger) == figures(game.ledger)


def test_asynchronous_source():
    events = late_events()

    async def arriving():
        for event in events:
            await asyncio.sleep(0)
            yield event

    async def followed(source):
        loop = nk.follow(source, "logistic", id="order", label="outcome", labels=("no", "yes"))
        return [one.prediction async for one in loop], figures(loop.ledger)

    once = nk.follow(events, "logistic", id="order", label="outcome", labels=("no", "yes"))
    expected = [one.prediction for one in once], figures(once.ledger)
    assert asyncio.run(followed(arriving())) == expected
    assert asyncio.run(followed(events)) == expected
    with pytest.raises(InputError, match="Write async for"):
        list(nk.follow(arriving(), "logistic"))
    with pytest.raises(InputError, match="async for answer in nk.follow"):
        nk.play("logistic", arriving())


def test_repeated_events_change_nothing():
    events = late_events()
    once = nk.follow(events, "logistic", id="order", label="outcome", labels=("no", "yes"))
    first = [one.prediction for one in once]
    twice = nk.follow([event for event in events for _ in range(2)], "logistic", id="order", label="outcome",
                      labels=("no", "yes"))  # fmt: skip
    answers = list(twice)
    assert [one.prediction for one in answers[1::2]] == first
    assert not any(one.learned for one in answers[1::2])
    assert figures(once.ledger) == figures(twice.ledger)


def test_labels_with_their_events():
    by_hand = nk.Game("logistic", labels=("no", "yes"))
    expected = [by_hand.learn_one(*apart(row)) for row in ROWS]
    loop = nk.follow(ROWS, "logistic", label="outcome", labels=("no", "yes"))
    assert [one.prediction for one in loop] == expected
    assert figures(loop.ledger) == figures(by_hand.ledger)
    with_ids = nk.follow([{"id": k, **row} for k, row in enumerate(ROWS)], "logistic", id="id", label="outcome",
                         labels=("no", "yes"))  # fmt: skip
    assert [one.prediction for one in with_ids] == expected
    assert with_ids.ledger.rounds == 120


def test_any_labels_by_default_and_numbers_by_task():
    events = [{"id": k, "age": k % 7, "city": "abc"[k % 3]} for k in range(60)]
    labels = [{"id": k, "label": ["low", "middle", "high"][k % 3]} for k in range(60)]
    loop = nk.follow([one for both in zip(events, labels, strict=True) for one in both], id="id")
    answers = list(loop)
    assert answers[0].prediction is None
    assert answers[-2].prediction == "high"
    numbers = [{"id": k, "label": k % 3 * 1.5} for k in range(60)]
    regressed = nk.follow([one for both in zip(events, numbers, strict=True) for one in both], id="id", task="regress")
    assert isinstance(list(regressed)[-2].prediction, float)
    assert regressed.run() is regressed.ledger


def test_problems_are_counted_and_do_not_stop_the_loop():
    events = [
        {"id": 1, "age": 3, "city": "Rome"},
        {"id": 9, "label": "yes"},
        {"age": 3},
        {"id": 1, "age": 4, "city": "Oslo"},
        {"id": 1, "label": "yes"},
        {"id": 1, "label": "no"},
        Message(b"{not json", False),
        Message([1, 2], True),
        {"id": 2, "label": None},
        {"id": 3, "age": 5, "city": "Rome", "label": float("nan")},
    ]
    loop = nk.follow(events, "logistic", id="id", labels=("no", "yes"))
    answers = list(loop)
    assert loop.problems == {"unknown_id": 2, "id_taken": 1, "label_differs": 1, "not_a_dict": 2, "no_features": 1}
    assert [one.problem is None for one in answers] == [k in (0, 4, 9) for k in range(10)]
    assert loop.ledger.rounds == 1


def test_game_is_continued():
    events = late_events()
    game = nk.Game("logistic", labels=("no", "yes"))
    for part in (events[:100], events[100:]):
        nk.follow(part, game, id="order", label="outcome").run()
    whole = nk.follow(events, "logistic", id="order", label="outcome", labels=("no", "yes")).run()
    assert figures(game.ledger) == figures(whole)
    with pytest.raises(InputError, match="leave out labels"):
        nk.follow(events, game, labels=("no", "yes"))
    with pytest.raises(InputError, match="events must be an iterable"):
        nk.follow({"id": 1})


def test_own_function_for_the_value():
    loop = nk.follow([("key", row) for row in ROWS], "logistic", label="outcome", labels=("no", "yes"),
                     value=lambda message: message[1])  # fmt: skip
    assert loop.run().rounds == 120
