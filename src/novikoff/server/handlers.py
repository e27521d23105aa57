"""Effects of requests on the game of a model and on its database, within one transaction."""

from __future__ import annotations

import math
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
from novikoff.server.wire import Label, Labelled, Learn, Model, Predict, Predicted, RefusedError, RoundRequest

Reply = Predicted | Labelled | RefusedError
Row = tuple[str, bytes] | None
STOPPED = 0.25
"""Largest part of expire_seconds by which rounds age while the service is stopped."""
NOTED = 60.0
"""Seconds after which the time is recorded again."""
DROPPED_AT_ONCE = 1000
"""Examples dropped per commit."""


@dataclass(slots=True, eq=False)
class Item:
    """One requested operation, and its reply; `body` is the reply as JSON, encoded before the commit."""

    request: RoundRequest
    row: Row
    reply: Reply | None = None
    body: bytes = b""


class Answering:
    """State of a model, which answers requests in the thread of its actor; writes take effect with the commit.

    Attributes:
        play: Game.
        model: Options that the model was created with.
        labels: Number of labels.
        rounds: Number of predicted rounds.
        dropped_to: Last label up to which examples are no longer stored.
        snapped: Label of the snapshot from which the game was rebuilt.
        delays: Seconds from prediction to label, of labels that were not counted in metrics yet.
    """

    def __init__(self, store: Store, folder: Path, name: str, log: Log, accept_loss: bool = False) -> None:
        self._store = store
        self.play, self.snapped = recover(store, folder, name, log, accept_loss)
        facts = store.facts()
        self.model, self._base = msgspec.convert(facts["model"], Model), facts["base"]
        self.form, self._expired_to = facts["form"], facts["expired_to"]
        self.dropped_to: int = facts.get("dropped_to", 0)
        self.play.rows.numbers.update(dict.fromkeys(facts.get("numbers", ())))
        self._numbers = len(self.play.rows.numbers)
        self.rounds, self.labels = store.counts()
        self.delays: list[float] = []
        self._grace: list[list[float]] = facts.get("grace", [])
        self._anchor, self._noted = self._begin_clock(facts.get("noted"), store.latest()) - time.monotonic(), -math.inf

    def now(self) -> float:
        """Return the time in seconds, monotonic even when the clock is set and across restarts."""
        return self._anchor + time.monotonic()

    def _begin_clock(self, noted: float | None, latest: float) -> float:
        """Return the time to begin with; it is never before a time that was recorded earlier.

        The clock may have been set ahead while the service was stopped. Of the time that it was stopped at most
        `STOPPED` of expire_seconds counts, so that no restart expires many waiting rounds at once: rounds that were
        predicted before get the rest in addition.
        """
        now, known = time.time(), max(latest, noted or 0.0)
        limit = self.model.expire_seconds
        if limit is not None and known and now - known > limit * STOPPED:
            self._grace.append([self.rounds, now - known - limit * STOPPED])
        return max(now, known)

    def note_time(self) -> None:
        """Record the time until which the service has been running."""
        if self.model.expire_seconds is not None:
            self._noted = self.now()
            self._store.set_facts(noted=self._noted, grace=self._grace)

    def _allowance(self, seq: float) -> float:
        """Return the seconds that a round may wait in addition to expire_seconds."""
        return sum(seconds for last, seconds in self._grace if seq <= last)

    def any_old(self) -> bool:
        """Return whether a round may have expired."""
        return self.model.expire_seconds is not None and self.rounds > self._expired_to

    def expire(self) -> None:
        """Expire rounds that are too old."""
        if not self.any_old():
            return
        if self.now() - self._noted > min(NOTED, (self.model.expire_seconds or 0.0) * STOPPED / 2.0):
            self.note_time()
        self._grace = [one for one in self._grace if one[0] > self._expired_to]
        until = self.now() - (self.model.expire_seconds or 0.0) - self._allowance(self._expired_to + 1)
        before = int(min((last for last, _ in self._grace), default=self.rounds))  # later rounds have another allowance
        last, waiting = self._store.old(self._expired_to, before, until)
        if last > self._expired_to:
            self._store.expire(waiting)
            if self.model.keep_examples is not None:
                self._store.drop(waiting)
            self.play.late.expire(len(waiting))
            self._expired_to = last
            self._store.set_facts(expired_to=last, expired=self.play.late.expired)

    def to_drop(self, sound: int) -> int:
        """Return the label up to which examples can be dropped, if `sound` labels are in two verified snapshots."""
        keep = self.model.keep_examples
        return 0 if keep is None else min(sound, self.labels - keep)

    def drop(self, until: int) -> None:
        """Drop some examples, up to a label."""
        self.dropped_to = self._store.drop_labelled(self.dropped_to, until, DROPPED_AT_ONCE)
        self._store.set_facts(dropped_to=self.dropped_to)

    def answer(self, run: Sequence[Item]) -> None:
        """Answer predictions, labels, or pairs of a prediction and its label; no two with the same id."""
        first = run[0].request
        if not isinstance(first, Predict):
            self.label(run)
        elif len(run) == 1 or isinstance(run[1].request, Predict):
            self.predict(run)
        elif not self._pairs(run[::2], run[1::2]):
            for item in run:
                self.answer([item])

    def _pairs(self, predictions: Sequence[Item], labels: Sequence[Item]) -> bool:
        """Answer new rounds, each labelled before the next prediction, in one batch; return False if none is played."""
        rows = [item.row[1] for item in predictions if item.row and item.row[0] == self.form and not _asks(item)]
        free = self.play.late.waiting < self.model.most_pending
        if not free or len(rows) < len(predictions) or self._store.find([item.request.id for item in predictions]):
            return False
        version, at, names = self.play.ledger.rounds, self.now(), len(self.play.values)
        asked = [item.request.label for item in labels if isinstance(item.request, Label)]
        found = self.play.learn_pairs(self.form, rows, asked)
        if found is None:
            return False
        self._decide(self.form)
        others = self.play.late.waiting
        rounds: list[Round] = []
        arrivals: list[Arrival] = []
        for k, (x, (y, prediction, score)) in enumerate(zip(rows, found, strict=True)):
            self.rounds, self.labels = self.rounds + 1, self.labels + 1
            id = predictions[k].request.id
            rounds.append(Round.new(self.rounds, id, x, prediction, score, version + k, at, self.labels))
            arrivals.append(Arrival(self.labels, self.rounds, y, prediction, others))
            predictions[k].reply = self._predicted(rounds[-1], False)
            labels[k].reply = self._labelled(rounds[-1], arrivals[-1], False)
        self.delays += [0.0] * len(rounds)
        self._write(rounds, arrivals, names)
        return True

    def _write(self, rounds: Sequence[Round], arrivals: Sequence[Arrival], names: int) -> None:
        """Write new rounds, labels, and the classes after the first `names`."""
        self._store.add_rounds(rounds)
        self._store.add_arrivals(arrivals)
        if len(self.play.values) > names:
            self._store.add_labels(names, self.play.values[names:])

    def predict(self, run: Sequence[Item]) -> None:
        """Answer predictions, no two with the same id."""
        if self.form is None and len(run) > 1:  # one at a time, because the first accepted example decides the form
            for item in run:
                self.predict([item])
            return
        known = self._store.find([item.request.id for item in run])
        new: list[Item] = []
        room = self.model.most_pending - self.play.late.waiting
        for item in run:
            assert item.row is not None
            found = known.get(item.request.id)
            if found is not None:
                item.reply = self._predicted(found, True) if found.of(item.row[1]) else _taken(item)
                if isinstance(item.reply, Predicted):
                    self._add(item, item.reply, found.version == self.play.ledger.rounds)
            elif not self._fits(item):
                pass
            elif len(new) >= room:
                item.reply = RefusedError("pending_full", f"at most {self.model.most_pending:,} rounds may wait for "
                                          "labels. Send labels first.", item.request.id)  # fmt: skip
            else:
                new.append(item)
        rounds: list[Round] = []
        version, at = self.play.ledger.rounds, self.now()
        for item, prediction, score in self._predictions(new):
            assert item.row is not None
            self.rounds += 1
            rounds.append(Round.new(self.rounds, item.request.id, item.row[1], prediction, score, version, at))
            item.reply = self._predicted(rounds[-1], False)
            self._add(item, item.reply, True)
        self._store.add_rounds(rounds)

    def _add(self, item: Item, reply: Predicted, now: bool) -> None:
        """Add explanation, probabilities and prediction set, if the prediction is that of the game `now`."""
        assert item.row is not None
        if _asks_why(item):
            reply.why = self._explained(item) if now else None
        if isinstance(item.request, Predict) and item.request.probabilities:
            reply.probabilities = self.play.probabilities(*item.row) if now else None
        if self.play.learner.covers:
            reply.set = self.play.set_of(*item.row) if now else None

    def _explained(self, item: Item) -> dict[str, Any]:
        """Return the score of an example as a sum over its features."""
        assert item.row is not None
        assert isinstance(item.request, Predict)
        return self.play.why(*item.row, item.request.x)

    def _fits(self, item: Item) -> bool:
        """Return whether the example has the form of earlier ones; refuse it otherwise."""
        assert item.row is not None
        try:
            check_form(self.form, item.row[0])
        except NovikoffError as error:
            item.reply = RefusedError("bad_example", str(error), item.request.id)
            return False
        if isinstance(item.request, Predict) and item.request.probabilities and not self.play.learner.probable:
            item.reply = RefusedError("bad_request", "this learner predicts no probabilities: choose auto, logistic, "
                                      "ftrl, tree or forest, or leave out probabilities.", item.request.id)  # fmt: skip
            return False
        if _asks_why(item):
            try:
                self._explained(item)
            except NovikoffError as error:
                item.reply = RefusedError("bad_request", f"{error} Or leave out why.", item.request.id)
                return False
        return True

    def _form_of(self, items: Sequence[Item]) -> str:
        """Return the form of all examples; without one yet, the form of the only example in the run."""
        return self.form or next(item.row[0] for item in items if item.row)

    def _decide(self, form: str) -> None:
        """Record the form, and which features are numbers, once an example is accepted."""
        numbers = list(self.play.rows.numbers)
        if len(numbers) > self._numbers:
            self._numbers = len(numbers)
            self._store.set_facts(numbers=numbers)
        if self.form is None:
            self.form = form
            self._store.set_facts(form=form)

    def _predictions(self, items: Sequence[Item]) -> Iterator[tuple[Item, Any, float | None]]:
        """Yield prediction and score of each item; refuse those that cannot be predicted."""
        if not items:
            return
        try:
            form = self._form_of(items)
            predictions, scores = self.play.predict(form, [item.row[1] for item in items if item.row])
            self._decide(form)
            yield from zip(items, predictions, scores, strict=True)
        except NovikoffError as error:
            if len(items) == 1:
                items[0].reply = RefusedError("bad_example", str(error), items[0].request.id)
                return
            for item in items:
                yield from self._predictions([item])

    def label(self, run: Sequence[Item]) -> None:
        """Answer labels of waiting rounds or, in a run of `learn`, of new rounds; no id occurs twice."""
        if self.form is None and len(run) > 1:
            for item in run:
                self.label([item])
            return
        known = self._store.find([item.request.id for item in run])
        came = self._store.arrivals([one.state for one in known.values() if one.state > 0])
        todo: list[tuple[Item, Round | None]] = []
        for item in run:
            found = known.get(item.request.id)
            refused = self._settled(item, found, came)
            if refused is not None:
                item.reply = refused
            elif found is not None or self._fits(item):
                todo.append((item, found))
        for waited in (True, False):  # waiting rounds first; `learn` on a waiting round is rare
            self._learn([one for one in todo if (one[1] is not None) == waited], waited)

    def _settled(self, item: Item, found: Round | None, came: dict[int, Arrival]) -> Reply | None:
        """Return the reply if there is nothing to learn."""
        id = item.request.id
        if found is None:
            if isinstance(item.request, Learn):
                return None
            return RefusedError("unknown_id", "no round has this id: predict it first.", id)
        if item.row is not None and not found.of(item.row[1]):
            return _taken(item)
        if found.state < 0:
            return RefusedError("expired", "this round has expired: its label came too late.", id)
        if found.state == 0:
            return None
        assert not isinstance(item.request, Predict)
        arrival = came[found.state]
        try:
            same = self.play.encode(item.request.label) == arrival.y
        except NovikoffError as error:
            return RefusedError("bad_label", str(error), id)
        if same:
            return self._labelled(found, arrival, True)
        return RefusedError("label_differs", "this round has another label, and labels cannot be changed.", id)

    def _learn(self, todo: Sequence[tuple[Item, Round | None]], waited: bool) -> None:
        if not todo:
            return
        form = self._form_of([item for item, _ in todo])
        labels = [item.request.label for item, _ in todo if not isinstance(item.request, Predict)]
        rows = [_bytes(one) if one else item.row[1] if item.row else b"" for item, one in todo]
        served = [(one.prediction, one.version, one.score) for _, one in todo if one]
        names, others, version, at = len(self.play.values), self.play.late.waiting, self.play.ledger.rounds, self.now()
        results = self.play.learn(form, rows, labels, served if waited else None)
        rounds: list[Round] = []
        arrivals: list[Arrival] = []
        for (item, one), x, result in zip(todo, rows, results, strict=True):
            if isinstance(result, NovikoffError):
                item.reply = RefusedError("bad_label", str(result), item.request.id)
                continue
            self._decide(form)
            self.labels += 1
            y, prediction = result
            if one is None:
                self.rounds += 1
                one = Round.new(self.rounds, item.request.id, x, prediction, None, version, at, self.labels)
                rounds.append(one)
            else:
                others -= 1
                self.delays.append(at - one.at)
            version += 1
            arrivals.append(Arrival(self.labels, one.seq, y, prediction, others))
            item.reply = self._labelled(one, arrivals[-1], False)
        self._write(rounds, arrivals, names)
        if waited:
            self._store.settle((arrival.n, arrival.seq) for arrival in arrivals)

    def _predicted(self, one: Round, repeated: bool) -> Predicted:
        found = Predicted(
            one.id, one.seq, self.play.decode(one.prediction), one.score, one.version - self._base, repeated
        )
        if self.play.ledger.threshold is not None:
            found.decision = self.play.decision(one.score)
        return found

    def _labelled(self, one: Round, arrival: Arrival, repeated: bool) -> Labelled:
        play = self.play
        mistake = play.mistake(one.prediction, arrival.y)
        return Labelled(
            one.id, one.seq, arrival.n, play.decode(one.prediction), play.decode(arrival.y), mistake, repeated
        )

    def describe(self, id: str) -> dict[str, object] | RefusedError:
        """Return the state of a round; runs in the actor's thread."""
        one = self._store.find([id]).get(id)
        if one is None:
            return RefusedError("unknown_id", "no round has this id: predict it first.", id)
        state = "waits" if one.state == 0 else "expired" if one.state < 0 else "labelled"
        found = {"id": id, "round": one.seq, "state": state, "prediction": self.play.decode(one.prediction),
                 "score": one.score, "version": one.version - self._base, "at": one.at}  # fmt: skip
        if one.state > 0:
            arrival = self._store.arrivals([one.state])[one.state]
            found |= {"arrival": arrival.n, "label": self.play.decode(arrival.y),
                      "mistake": self.play.mistake(one.prediction, arrival.y)}  # fmt: skip
        return found


def _bytes(one: Round) -> bytes:
    """Return the example of a waiting round, which is always stored."""
    assert isinstance(one.x, bytes)
    return one.x


def _asks(item: Item) -> bool:
    """Return whether more than the prediction is requested."""
    return isinstance(item.request, Predict) and (item.request.why or item.request.probabilities)


def _asks_why(item: Item) -> bool:
    return isinstance(item.request, Predict) and item.request.why


def _taken(item: Item) -> RefusedError:
    return RefusedError("id_taken", "this id was used with another x: use a new id.", item.request.id)
