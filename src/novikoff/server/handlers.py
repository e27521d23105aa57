"""What requests do to the game of a model and to its database, within one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from novikoff.core.errors import NovikoffError
from novikoff.server.examples import check_form
from novikoff.server.recovery import Log, recover
from novikoff.server.store import Arrival, Round, Store
from novikoff.server.wire import Asked, Labelled, Learn, Model, Predict, Predicted, RefusedError

Reply = Predicted | Labelled | RefusedError
Row = tuple[str, bytes] | None
DROPPED_AT_ONCE = 1000
"""Examples that are dropped in one commit."""


@dataclass(slots=True, eq=False)
class Item:
    """One thing that was asked, and its answer."""

    asked: Asked
    row: Row
    reply: Reply | None = None


class Answering:
    """Answers requests, in the thread of the actor; what it writes counts once the transaction is committed.

    play         the game
    model        as it was asked for
    labels       that came
    rounds       that were predicted
    dropped_to   of rounds up to that label the examples are no longer kept
    snapped      after which label the snapshot was that the game was made from
    """

    def __init__(self, store: Store, folder: Path, name: str, log: Log) -> None:
        self._store = store
        self.play, self.snapped = recover(store, folder, name, log)
        facts = store.facts()
        self.model, self._base = msgspec.convert(facts["model"], Model), facts["base"]
        self.form, self._expired_to = facts["form"], facts["expired_to"]
        self.dropped_to: int = facts.get("dropped_to", 0)
        self.play.rows.numbers.update(dict.fromkeys(facts.get("numbers", ())))
        self._numbers = len(self.play.rows.numbers)
        self.rounds, self.labels = store.counts()
        self._anchor = max(time.time(), store.latest()) - time.monotonic()

    def now(self) -> float:
        """Seconds that never run back: not when the clock is set, and not over a restart."""
        return self._anchor + time.monotonic()

    def any_old(self) -> bool:
        """Could a round have expired?"""
        return self.model.expire_seconds is not None and self.rounds > self._expired_to

    def expire(self) -> None:
        """Rounds that are too old wait no longer."""
        if not self.any_old():
            return
        until = self.now() - (self.model.expire_seconds or 0.0)
        last, waiting = self._store.old(self._expired_to, until)
        if last > self._expired_to:
            self._store.expire(waiting)
            if self.model.keep_examples is not None:
                self._store.drop(waiting)
            self.play.late.expire(len(waiting))
            self._expired_to = last
            self._store.set_facts(expired_to=last, expired=self.play.late.expired)

    def to_drop(self, sound: int) -> int:
        """Up to which label examples need no longer be kept, if that many labels are in two sound snapshots."""
        keep = self.model.keep_examples
        return 0 if keep is None else min(sound, self.labels - keep)

    def drop(self, until: int) -> None:
        """Drop some examples, up to that label."""
        self.dropped_to = self._store.drop_labelled(self.dropped_to, until, DROPPED_AT_ONCE)
        self._store.set_facts(dropped_to=self.dropped_to)

    def predict(self, run: Sequence[Item]) -> None:
        """Predictions, of which no two have the same id."""
        if self.form is None and len(run) > 1:  # the first that is taken decides: one after the other
            for item in run:
                self.predict([item])
            return
        known = self._store.find([item.asked.id for item in run])
        new: list[Item] = []
        room = self.model.most_pending - self.play.late.waiting
        for item in run:
            assert item.row is not None
            found = known.get(item.asked.id)
            if found is not None:
                item.reply = self._predicted(found, True) if found.of(item.row[1]) else _taken(item)
            elif not self._fits(item):
                pass
            elif len(new) >= room:
                item.reply = RefusedError("pending_full", f"at most {self.model.most_pending:,} rounds may wait for "
                                          "labels. Send labels first.", item.asked.id)  # fmt: skip
            else:
                new.append(item)
        rounds: list[Round] = []
        version, at = self.play.ledger.rounds, self.now()
        for item, said, score in self._said(new):
            assert item.row is not None
            self.rounds += 1
            rounds.append(Round.new(self.rounds, item.asked.id, item.row[1], said, score, version, at))
            item.reply = self._predicted(rounds[-1], False)
        self._store.add_rounds(rounds)

    def _fits(self, item: Item) -> bool:
        """Is the example of the form of those before?"""
        assert item.row is not None
        try:
            check_form(self.form, item.row[0])
        except NovikoffError as error:
            item.reply = RefusedError("bad_example", str(error), item.asked.id)
            return False
        return True

    def _form_of(self, items: Sequence[Item]) -> str:
        """The form of all examples: where there are none yet, that of the only one that is asked for."""
        return self.form or next(item.row[0] for item in items if item.row)

    def _decide(self, form: str) -> None:
        """An example was taken: those to come must be of its form, and its numbers are known as such."""
        numbers = list(self.play.rows.numbers)
        if len(numbers) > self._numbers:
            self._numbers = len(numbers)
            self._store.set_facts(numbers=numbers)
        if self.form is None:
            self.form = form
            self._store.set_facts(form=form)

    def _said(self, items: Sequence[Item]) -> Iterator[tuple[Item, Any, float | None]]:
        """What is said of each; those of which nothing can be said are refused."""
        if not items:
            return
        try:
            form = self._form_of(items)
            said, scores = self.play.predict(form, [item.row[1] for item in items if item.row])
            self._decide(form)
            yield from zip(items, said, scores, strict=True)
        except NovikoffError as error:
            if len(items) == 1:
                items[0].reply = RefusedError("bad_example", str(error), items[0].asked.id)
                return
            for item in items:
                yield from self._said([item])

    def label(self, run: Sequence[Item]) -> None:
        """Labels of rounds that wait, or, in a run of `learn`, of rounds that were not there; no id comes twice."""
        if self.form is None and len(run) > 1:
            for item in run:
                self.label([item])
            return
        known = self._store.find([item.asked.id for item in run])
        came = self._store.arrivals([one.state for one in known.values() if one.state > 0])
        todo: list[tuple[Item, Round | None]] = []
        for item in run:
            found = known.get(item.asked.id)
            refused = self._settled(item, found, came)
            if refused is not None:
                item.reply = refused
            elif found is not None or self._fits(item):
                todo.append((item, found))
        for waited in (True, False):  # those that waited first: a round that waits and is learned anew is rare
            self._learn([one for one in todo if (one[1] is not None) == waited], waited)

    def _settled(self, item: Item, found: Round | None, came: dict[int, Arrival]) -> Reply | None:
        """The answer, if nothing is to be learned."""
        id = item.asked.id
        if found is None:
            if isinstance(item.asked, Learn):
                return None
            return RefusedError(
                "unknown_id", "a label must be of a round that was predicted: this id is not known.", id
            )
        if item.row is not None and not found.of(item.row[1]):
            return _taken(item)
        if found.state < 0:
            return RefusedError("expired", "a label must come in time: this round waits no longer.", id)
        if found.state == 0:
            return None
        assert not isinstance(item.asked, Predict)
        arrival = came[found.state]
        try:
            same = self.play.encode(item.asked.label) == arrival.y
        except NovikoffError as error:
            return RefusedError("bad_label", str(error), id)
        if same:
            return self._labelled(found, arrival, True)
        return RefusedError("label_differs", "a label cannot be changed: this round has another.", id)

    def _learn(self, todo: Sequence[tuple[Item, Round | None]], waited: bool) -> None:
        if not todo:
            return
        form = self._form_of([item for item, _ in todo])
        labels = [item.asked.label for item, _ in todo if not isinstance(item.asked, Predict)]
        rows = [_bytes(one) if one else item.row[1] if item.row else b"" for item, one in todo]
        served = [(one.said, one.version) for _, one in todo if one]
        names, others, version, at = len(self.play.values), self.play.late.waiting, self.play.ledger.rounds, self.now()
        results = self.play.learn(form, rows, labels, served if waited else None)
        rounds: list[Round] = []
        arrivals: list[Arrival] = []
        for (item, one), x, result in zip(todo, rows, results, strict=True):
            if isinstance(result, NovikoffError):
                item.reply = RefusedError("bad_label", str(result), item.asked.id)
                continue
            self._decide(form)
            self.labels += 1
            y, said = result
            if one is None:
                self.rounds += 1
                one = Round.new(self.rounds, item.asked.id, x, said, None, version, at, self.labels)
                rounds.append(one)
            else:
                others -= 1
            version += 1
            arrivals.append(Arrival(self.labels, one.seq, y, said, others))
            item.reply = self._labelled(one, arrivals[-1], False)
        self._store.add_rounds(rounds)
        self._store.add_arrivals(arrivals)
        if waited:
            self._store.settle((arrival.n, arrival.seq) for arrival in arrivals)
        if len(self.play.values) > names:
            self._store.add_labels(names, self.play.values[names:])

    def _predicted(self, one: Round, repeated: bool) -> Predicted:
        return Predicted(one.id, one.seq, self.play.decode(one.said), one.score, one.version - self._base, repeated)

    def _labelled(self, one: Round, arrival: Arrival, repeated: bool) -> Labelled:
        play = self.play
        mistake = play.mistake(one.said, arrival.y)
        return Labelled(one.id, one.seq, arrival.n, play.decode(one.said), play.decode(arrival.y), mistake, repeated)

    def told(self, id: str) -> dict[str, Any] | RefusedError:
        """What is known of a round, in the actor's thread."""
        one = self._store.find([id]).get(id)
        if one is None:
            return RefusedError("unknown_id", "a round must have been predicted: this id is not known.", id)
        state = "waits" if one.state == 0 else "expired" if one.state < 0 else "labelled"
        found = {"id": id, "round": one.seq, "state": state, "prediction": self.play.decode(one.said),
                 "score": one.score, "version": one.version - self._base, "at": one.at}  # fmt: skip
        if one.state > 0:
            arrival = self._store.arrivals([one.state])[one.state]
            found |= {"arrival": arrival.n, "label": self.play.decode(arrival.y),
                      "mistake": self.play.mistake(one.said, arrival.y)}  # fmt: skip
        return found


def _bytes(one: Round) -> bytes:
    """The example of a round that waits, which is kept."""
    assert isinstance(one.x, bytes)
    return one.x


def _taken(item: Item) -> RefusedError:
    return RefusedError(
        "id_taken", "an id must be new, or of the same x: it was predicted with another.", item.asked.id
    )
