"""Effects of requests on the game of a model and on its database, within one transaction."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import NovikoffError
from novikoff.game import persistence
from novikoff.server.alternatives import (
    MOST_SHADOWS,
    STALE,
    Branch,
    Shadow,
    branches,
    counts,
    shadow_files,
    shadow_of,
)
from novikoff.server.examples import check_form
from novikoff.server.recovery import Log, recover, recover_shadows
from novikoff.server.store import Arrival, DamagedError, Round, Store
from novikoff.server.wire import Label, Labelled, Learn, Model, Predict, Predicted, RefusedError, RoundRequest

Reply = Predicted | Labelled | RefusedError
Row = tuple[str, bytes] | None
STOPPED = 0.25
"""Largest part of expire_seconds by which rounds age while the service is stopped."""
NOTED = 60.0
"""Seconds after which the time is recorded again."""
MISTAKES, AMONG = 10, 2000
"""Largest number of mistakes that are listed, and of the last labels they are among."""
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
        shadows: Shadows by name.
        frozen: Whether labels are refused and predictions not recorded.
        team: Names of the deployed models of a team.
        followed: Number of recorded predictions of each of them.
        delays: Seconds from prediction to label, of labels that were not counted in metrics yet.
    """

    def __init__(self, store: Store, folder: Path, name: str, log: Log, accept_loss: bool = False) -> None:
        self._store, self._folder = store, folder
        self.play, self.snapped = recover(store, folder, name, log, accept_loss)
        facts = store.facts()
        self.model, self._branches = msgspec.convert(facts["model"], Model), branches(facts)
        self.shadows = recover_shadows(store, folder, self.play)
        self.frozen = bool(facts.get("frozen", False))
        self._resets: list[list[int]] = facts.get("drift_resets", [])
        self.team: list[str] = facts.get("team", {}).get("models", [])
        self._team_seed = int(facts.get("team", {}).get("seed", 0))
        self.followed = store.followed() if self.team else []
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
        if isinstance(first, Predict) and not first.record:
            self.unrecorded(run)
        elif not isinstance(first, Predict):
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
        if not free or self.frozen or len(rows) < len(predictions):
            return False
        if self._store.find([item.request.id for item in predictions]):
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
        self._shadow(rows, [y for y, *_ in found])
        return True

    def unrecorded(self, run: Sequence[Item]) -> None:
        """Answer predictions without a round, which the database is not needed for."""
        fits = [item for item in run if self._fits(item)]
        form = self.form or next((item.row[0] for item in fits if item.row), "pairs")
        for item in fits:
            if item.row and item.row[0] != form:
                item.reply = RefusedError("bad_example", "examples must have one form.", item.request.id)
        self._peek(form, [item for item in fits if item.row and item.row[0] == form])

    def _peek(self, form: str, items: Sequence[Item]) -> None:
        rows, members = [item.row[1] for item in items if item.row], self._members(items)
        if not items:
            return
        try:
            predictions, scores = self.play.predict(form, rows, False, members)
        except NovikoffError as error:
            if len(items) == 1:
                items[0].reply = RefusedError("bad_example", str(error), items[0].request.id)
                return
            for item in items:
                self._peek(form, [item])
            return
        version = self.play.ledger.rounds
        for k, (item, prediction, score) in enumerate(zip(items, predictions, scores, strict=True)):
            one = Round(self.rounds + 1, item.request.id, b"", prediction, score, version, 0.0, 0, 0)
            item.reply = self._predicted(one, False, None if members is None else int(members[k]))
            item.reply.round = None
            self._add(item, item.reply, True)

    def _members(self, items: Sequence[Item]) -> NDArray[np.int64] | None:
        """Return the model of the team that each id follows; None if the model is no team."""
        return self.play.follow([item.request.id for item in items], self._team_seed) if self.team else None

    def _shadow(self, rows: Sequence[bytes], y: Sequence[object]) -> None:
        """Let the shadows learn rows that were learned."""
        if self.shadows:
            labels = [self.play.decode(one) for one in y]
            for shadow in self.shadows.values():
                shadow.learn(self.form, rows, labels)

    def freeze(self, frozen: bool) -> None:
        """Refuse labels and record no predictions from now on, or no longer."""
        self.frozen = frozen
        self._store.set_facts(frozen=frozen)

    def reset_drift(self) -> None:
        """Begin the drift test again."""
        if self.play.ledger.drift is None:
            raise RefusedError("bad_request", "this model has no drift test: it is for classification.")
        self._resets.append([len(self._branches) - 1, self.labels])
        self._store.set_facts(drift_resets=self._resets)
        self.play.reset_drift()

    def roll_back(self, to: int, log: Log) -> None:
        """Write the game as it was after `to` labels, with which the model goes on once it is recovered."""
        if not 0 <= to < self.labels:
            raise RefusedError("bad_request", f"labels must be from 0 to {max(0, self.labels - 1):,}: got {to:,}.")
        if self.shadows:
            raise RefusedError("bad_request", "a model with shadows cannot be set back: delete its shadows first.")
        try:
            play, _ = recover(self._store, self._folder, self._folder.name, log, until=to)
        except DamagedError as error:
            raise RefusedError("bad_request", f"the game after {to:,} labels cannot be replayed: {error}.") from None
        late = play.late
        late.expired = self.play.late.expired
        late.predicted = late.labelled + late.expired + self.play.late.waiting
        base, lost = play.ledger.rounds - self.labels, self.play.ledger.rounds - play.ledger.rounds
        branch = Branch(self.labels, base, self._branches[-1].before - lost, self.rounds, len(self._branches))
        persistence.write(persistence.snapshot(play.ledger), self._folder / branch.file, force=True)
        self._store.set_facts(branches=[*self._branches[1:], branch])

    def add_shadow(self, name: str, learner: str, seed: int) -> bool:
        """Begin a shadow; return False if it exists."""
        known = self.shadows.get(name)
        if known is not None and (known.model.learner, known.model.seed) == (learner, seed):
            return False
        if known is not None:
            raise RefusedError("model_differs", "another shadow has this name: choose another, or delete it first.")
        if len(self.shadows) >= MOST_SHADOWS:
            raise RefusedError("models_full", f"a model must have at most {MOST_SHADOWS} shadows: delete one first.")
        if self.model.keep_examples is not None:
            raise RefusedError("bad_request", "a shadow needs all examples since its beginning: the model must be "
                               "without keep_examples.")  # fmt: skip
        shadow = shadow_of(self.model, name, learner, seed, counts(self.play, self.labels))
        self.shadows[name] = shadow
        self._note_shadows()
        return True

    def delete_shadow(self, name: str) -> None:
        """End a shadow."""
        self.shadow(name)
        for _, path in shadow_files(self._folder, name):  # another shadow may get the name
            path.unlink(missing_ok=True)
        del self.shadows[name]
        self._note_shadows()

    def shadow(self, name: str) -> Shadow:
        """Return the shadow of that name."""
        if name not in self.shadows:
            raise RefusedError("unknown_model", "there is no shadow of this name: create it with PUT first.")
        return self.shadows[name]

    def _note_shadows(self) -> None:
        self._store.set_facts(shadows={
            name: {"learner": one.model.learner, "seed": one.model.seed, "since": one.since}
            for name, one in self.shadows.items()
        })  # fmt: skip

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
        peeks: list[Item] = []
        room = self.model.most_pending - self.play.late.waiting
        for item in run:
            assert item.row is not None
            found = known.get(item.request.id)
            if found is not None:
                item.reply = self._predicted(found, True) if found.of(item.row[1]) else _taken(item)
                if isinstance(item.reply, Predicted):
                    now = found.version == self.play.ledger.rounds and found.seq > self._branches[-1].seq
                    self._add(item, item.reply, now)
            elif self.frozen:
                peeks.append(item)
            elif not self._fits(item):
                pass
            elif len(new) >= room:
                item.reply = RefusedError("pending_full", f"at most {self.model.most_pending:,} rounds may wait for "
                                          "labels. Send labels first.", item.request.id)  # fmt: skip
            else:
                new.append(item)
        self.unrecorded(peeks)
        rounds: list[Round] = []
        version, at = self.play.ledger.rounds, self.now()
        followed: list[tuple[int, int]] = []
        for item, prediction, score, member in self._predictions(new):
            assert item.row is not None
            self.rounds += 1
            rounds.append(Round.new(self.rounds, item.request.id, item.row[1], prediction, score, version, at))
            item.reply = self._predicted(rounds[-1], False, member)
            self._add(item, item.reply, True)
            if member is not None:
                followed.append((self.rounds, member))
                self.followed[member] += 1
        self._store.add_rounds(rounds)
        self._store.add_followed(followed)

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

    def _predictions(self, items: Sequence[Item]) -> Iterator[tuple[Item, Any, float | None, int | None]]:
        """Yield prediction, score and followed model of each item; refuse those that cannot be predicted."""
        if not items:
            return
        try:
            form, members = self._form_of(items), self._members(items)
            predictions, scores = self.play.predict(form, [item.row[1] for item in items if item.row], True, members)
            self._decide(form)
            yield from zip(items, predictions, scores, [None] * len(items) if members is None else members.tolist(),
                           strict=True)  # fmt: skip
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
            elif self.frozen:
                item.reply = RefusedError("frozen", "the model is frozen: it learns no labels.", item.request.id)
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
        stale = self._branches[-1].seq
        served = [(one.prediction, STALE if one.seq <= stale else one.version, one.score) for _, one in todo if one]
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
        learned = [x for x, result in zip(rows, results, strict=True) if not isinstance(result, NovikoffError)]
        self._shadow(learned, [arrival.y for arrival in arrivals])

    def _labels_at(self, one: Round) -> int:
        """Return the number of labels when a round was predicted."""
        base = next(branch.base for branch in reversed(self._branches) if branch.seq < one.seq)
        return one.version - base

    def _predicted(self, one: Round, repeated: bool, member: int | None = None) -> Predicted:
        found = Predicted(one.id, one.seq, self.play.decode(one.prediction), one.score, self._labels_at(one), repeated)
        if self.team and repeated:
            member = self._store.member(one.seq)
        if member is not None:
            found.member = self.team[member]
        if self.play.ledger.threshold is not None:
            found.decision = self.play.decision(one.score)
        return found

    def _labelled(self, one: Round, arrival: Arrival, repeated: bool) -> Labelled:
        play = self.play
        mistake = play.mistake(one.prediction, arrival.y)
        return Labelled(
            one.id, one.seq, arrival.n, play.decode(one.prediction), play.decode(arrival.y), mistake, repeated
        )

    def mistakes(self) -> list[dict[str, object]]:
        """Return the latest mistakes of the served predictions, or the largest of the last errors in regression."""
        known = self._store.wrong if self.play.ledger.counts else self._store.furthest
        return [
            {"id": one.id, "prediction": self.play.decode(one.prediction), "label": self.play.decode(arrival.y),
             "arrival": arrival.n, "at": one.at}
            for arrival, one in known(MISTAKES, AMONG)
        ]  # fmt: skip

    def describe(self, id: str) -> dict[str, object] | RefusedError:
        """Return the state of a round; runs in the actor's thread."""
        one = self._store.find([id]).get(id)
        if one is None:
            return RefusedError("unknown_id", "no round has this id: predict it first.", id)
        state = "waits" if one.state == 0 else "expired" if one.state < 0 else "labelled"
        found = {"id": id, "round": one.seq, "state": state, "prediction": self.play.decode(one.prediction),
                 "score": one.score, "version": self._labels_at(one), "at": one.at}  # fmt: skip
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
