"""The game of one model: its learner, its ledger, and what the user calls the labels. It knows no disk and no wire.

The game is played in the order in which labels arrive (late.py). Rows come as bytes (examples.py), in batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, NovikoffError, SpecError, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, Labels, StepResult, check_label
from novikoff.drift.monitor import DriftTest, DriftWatch
from novikoff.game import specs
from novikoff.game.delayed.late import Late
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.persistence import ledger_of, snapshot
from novikoff.game.prepare import RowShape, learner_for
from novikoff.server.examples import EXACT, PAIRS, Rows
from novikoff.server.wire import Model

MOST_LABELS = 10_000
MOST_LETTERS = 200
MOST_BITS = 24


class Heard(Observer):
    """What the learner said in the rounds that were played."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def see(self, batch: Batch, result: StepResult) -> None:
        self.said += np.asarray(result.predictions).tolist()


def check_options(asked: Model) -> None:
    """Refuse what a model cannot be, whatever its learner."""
    if not 1 <= asked.bits <= MOST_BITS:
        raise SpecError(f"bits must be from 1 to {MOST_BITS}: got {asked.bits}.")
    if not 1 <= asked.most_pending <= 10**9:
        raise SpecError(f"most_pending must be from 1 to 10^9: got {asked.most_pending}.")
    if asked.expire_seconds is not None and not 0.0 < asked.expire_seconds < math.inf:
        raise SpecError(f"expire_seconds must be above 0: got {asked.expire_seconds}.")
    if asked.keep_examples is not None and not 0 <= asked.keep_examples <= 10**15:
        raise SpecError(f"keep_examples must be an integer from 0: got {asked.keep_examples}.")


def begin(asked: Model, name: str) -> Ledger:
    """The ledger of a new game, as it was asked for."""
    check_options(asked)
    if (asked.negative is None) != (asked.positive is None) or (asked.positive is not None and asked.labels):
        raise SpecError("negative and positive must be given together, and not with labels.")
    if asked.positive is not None and asked.positive == asked.negative:
        raise SpecError(f"negative and positive must differ: both are {asked.positive!r}.")
    learner = learner_for(
        specs.parse(asked.learner), RowShape(multiclass=asked.labels == "multiclass"), {"seed": asked.seed}
    )
    ledger = Ledger(learner, source=f"the service, {name}", spec=asked.learner)
    if learner.task == "losses":
        raise SpecError("a learner of the service must be shown examples: this one plays on losses alone.")
    if asked.labels and not ledger.player.numbered:
        raise SpecError(f"labels can be many where the learner takes many: {asked.learner} does not.")
    if asked.positive is not None:
        if not ledger._signs:
            raise SpecError("negative and positive are for a learner of two labels: this one is of others.")
        ledger.labels = [asked.negative, asked.positive]
    ledger.fingerprint = {"bits": asked.bits}  # a file that goes out tells how its features were hashed
    return ledger


def bits_of(ledger: Ledger, asked: int | None) -> int:
    """With how many bits features are hashed in a game that goes on here; refused if its own were not hashed so."""
    known = (ledger.fingerprint or {}).get("bits")
    for learner in (ledger.player, ledger.player.within, *ledger.player.learners):
        features = learner.features
        if features is None or features.kind in (None, "array"):
            continue
        found = features.count.bit_length() - 1
        if features.kind == "names" or features.count != 2**found:
            raise SpecError("a game to be served must be on objects whose features are hashed, as in JSON lines, or on "
                            "arrays of numbers: the features of this one are named or numbered.")  # fmt: skip
        known = found
    if known is not None and asked not in (None, known):
        raise SpecError(f"bits must be those of the file, {known}: its weights are of features that were hashed so.")
    bits = int(known or asked or Model("").bits)
    ledger.fingerprint = {**(ledger.fingerprint or {}), "bits": bits}
    return bits


class Play:
    """A game that goes on.

    ledger   of the game so far
    bits     features are hashed to 2^bits places
    """

    def __init__(self, ledger: Ledger, bits: int) -> None:
        if ledger.late is None:
            ledger.late = Late.begin(ledger)
        if ledger.drift is None and ledger.counts:
            ledger.drift = DriftWatch()
        self._heard = Heard()
        self.game, self.ledger, self.late = Game(ledger.learner, ledger, observers=[self._heard]), ledger, ledger.late
        self.learner = ledger.player
        self.rows, self._bits = Rows(ledger.player.domain, bits), bits
        self._labels = None if ledger.labels is None or ledger.player.numbered else Labels(*ledger.labels)
        self._scored = ledger._signs and ledger.player.scores

    def warm_up(self, form: str | None) -> None:
        """Let kernels be compiled: play a round or two of another game."""
        twin = Play(ledger_of(snapshot(self.ledger)), self._bits)
        kind, _, width = (form or "pairs").partition(" ")
        row = np.zeros(1, PAIRS).tobytes() if kind == "pairs" else bytes(8 * int(width or 1))
        with suppress(NovikoffError):
            twin.predict(form or "pairs", [row])
            said = twin.decode(1) if self.ledger._signs else 0.0
            twin.learn(form or "pairs", [row] * 2, [said] * 2)
            if twin.ledger.drift is not None:  # its first bets come much later
                twin.ledger.drift = DriftWatch(DriftTest(first=1))
                Play(twin.ledger, self._bits).learn(form or "pairs", [row] * 4, [said] * 4)

    def predict(self, form: str, rows: Sequence[bytes]) -> tuple[list[object], list[float | None]]:
        """What is said of each row, as the learner has labels, and its score; None if it has none."""
        batch = self.rows.batch(form, rows, np.ones(len(rows), np.int8), self.ledger.rounds + 1)
        scores: list[float | None] = [None] * len(rows)
        if self._scored:
            found = self.learner.scores_many(batch).tolist()
            scores = [score if math.isfinite(score) else None for score in found]
        return self.game.predict_batch(batch).tolist(), scores

    def learn(
        self, form: str, rows: Sequence[bytes], labels: Sequence[Any], served: Sequence[tuple[Any, int]] | None = None
    ) -> list[tuple[Any, Any] | NovikoffError]:  # fmt: skip
        """Learn rounds in their order: for each y and what was said on arrival, as the learner has labels, or an error.

        labels   the user's
        served   what had been answered, and the version then; None: nothing, predict and label come together
        """
        results: list[tuple[object, object] | NovikoffError] = []
        some = len(rows)
        while (at := len(results)) < len(rows):
            part = slice(at, at + some)
            self._heard.said.clear()
            y: list[Any] = []
            try:
                y = self._encoded(labels[part])
                self._learn(form, rows[part], self._array(y), None if served is None else served[part])
            except NovikoffError as error:
                if some == 1:
                    results.append(error)
                    self._cut()
                    continue
                some = 1  # one of them is not as it must be
            results += zip(y, self._heard.said, strict=False)
        return results

    def _learn(
        self, form: str, rows: Sequence[bytes], y: NDArray[Any], served: Sequence[tuple[Any, int]] | None
    ) -> None:  # fmt: skip
        batch = self.rows.batch(form, rows, y, self.ledger.rounds + 1)
        if served is None:
            self.game.learn_batch(batch)
        else:
            said, versions = zip(*served, strict=True)
            self.game.learn_batch(batch, np.array(said), np.array(versions, np.int64))

    def replay(
        self, form: str, rows: Sequence[bytes], y: Sequence[object], served: Sequence[tuple[object, int, int]]
    ) -> list[object]:  # fmt: skip
        """Play rounds again, each with what was answered, the version, and how many others waited; what is said."""
        self._heard.said.clear()
        batch = self.rows.batch(form, rows, self._array(y), self.ledger.rounds + 1)
        said, versions, others = zip(*served, strict=True)
        most = max(self.late.others, *others)
        self.game.learn_batch(batch, np.array(said), np.array(versions, np.int64))
        self.late.others = most  # of the rounds that are predicted by now, not all were then
        return list(self._heard.said)

    def _array(self, y: Sequence[Any]) -> NDArray[Any]:
        kinds = {"binary": np.int8, "multiclass": np.int64}
        return np.array(y, kinds.get(self.learner.task, np.float64))

    @property
    def values(self) -> list[Any]:
        """Of many labels: what the user calls each number."""
        return [] if self.game.numbering is None else self.game.numbering.values

    def name_labels(self, values: Sequence[object]) -> None:
        """These come next, of many labels."""
        for value in values:
            self._numbering().encode(value)

    def _numbering(self) -> Numbering:
        assert self.game.numbering is not None
        return self.game.numbering

    def _cut(self) -> None:
        """Forget labels of which nothing was learned."""
        if self.learner.numbered:
            self._numbering().cut(self.learner.labels or 0)

    def _encoded(self, labels: Sequence[object]) -> list[object]:
        """Labels of the user's as the learner has them."""
        self._cut()
        found = [self.encode(label, new=True) for label in labels]
        if len(self.values) > MOST_LABELS:
            self._cut()
            raise InputError(f"there must be at most {MOST_LABELS:,} labels.")
        return found

    def encode(self, label: object, new: bool = False) -> object:
        """A label of the user's as the learner has it; of many, None if it is not known. new: it may become so."""
        label = float(label) if type(label) is int and abs(label) < EXACT else label
        if isinstance(label, str) and len(label) > MOST_LETTERS:
            raise InputError(f"a label must have at most {MOST_LETTERS} letters: got {len(label):,}.")
        if self.learner.numbered:
            label = one_label(label)
            return self._numbering().encode(label) if new else self._numbering().find(label)
        if not self.learner.learns_labels:
            if type(label) is not float or not math.isfinite(label):
                raise InputError("an outcome must be a finite number.")
            return label
        if self._labels is not None:
            try:
                return self._labels.encode(label)
            except InputError:
                two = f"{self._labels.negative!r} or {self._labels.positive!r}"
                raise InputError(f"a label must be {two}: got {shown(label)}.") from None
        whole = int(label) if type(label) is float and label.is_integer() and abs(label) < EXACT else label
        return check_label(whole, self.learner.labels)

    def decode(self, label: Any) -> Any:
        """A label as the user calls it; None where nothing was said."""
        if self.learner.numbered:
            return None if label is None or label < 0 else self._numbering().decode(label)
        return label if self._labels is None else self._labels.decode(label)

    def mistake(self, said: object, y: object) -> bool | None:
        """Was that wrong? None where outcomes are no labels."""
        return bool(said != y) if self.ledger.counts else None
