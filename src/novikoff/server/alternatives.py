"""Models side by side: earlier versions, frozen models, shadows, and teams of deployed models.

All of it is recorded in the facts of the model (store.py), in the commit in which it takes effect, and replayed with
the labels (recovery.py).

    branches      rollbacks: label at which the game was set back, and the counts that it goes on with
    drift_resets  (branch, label) at which the drift test began again
    frozen        whether labels are refused and predictions not recorded
    shadows       learners that learn from the same rows and are not served: options, and counts when they began
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from novikoff.core.errors import ModelFileError, NovikoffError
from novikoff.experts.hedge import Hedge
from novikoff.game import persistence
from novikoff.game.ledger import Ledger
from novikoff.server import wire
from novikoff.server.model_game import Play, begin
from novikoff.server.wire import Model, RefusedError, Team

MOST_SHADOWS = 4
"""Largest number of shadows of a model."""
MOST_MEMBERS = 16
"""Largest number of models in a team."""
STALE = 2**62
"""Version of predictions of a game that was set back since: none of its labels explains that they change."""


class Branch(NamedTuple):
    """The game from a rollback on, or from the first label on.

    Attributes:
        at: Number of labels at the rollback.
        base: Rounds of the game minus number of labels.
        before: Predicted rounds of the game minus those in the database.
        seq: Last round predicted before.
        number: Number of rollbacks.
    """

    at: int
    base: int
    before: int
    seq: int
    number: int

    @property
    def file(self) -> str:
        """Name of the file with the game that the branch begins with."""
        return f"base-{self.number}.nk" if self.number else "base.nk"


def branches(facts: Mapping[str, Any]) -> list[Branch]:
    """Return all branches; the first one begins with the game."""
    first = Branch(0, int(facts["base"]), int(facts["predicted_before"]), -1, 0)
    return [first, *(Branch(*one) for one in facts.get("branches", ()))]


@dataclass(slots=True, eq=False)
class Shadow:
    """A learner that learns the rows of a model in the same order and is not served.

    Attributes:
        play: Its game.
        model: Its options.
        since: Counts of the model when it began: labels, mistakes of the served predictions, mistakes or loss of the
            game in the order of arrival, log loss.
    """

    play: Play
    model: Model
    since: dict[str, Any]

    def learn(self, form: str, rows: Sequence[bytes], labels: Sequence[object]) -> None:
        """Learn rows with labels in the user's names; those that it refuses are left out."""
        if rows:
            self.play.learn(form, rows, labels)

    def describe(self, name: str, main: Play, labels: int) -> dict[str, object]:
        """Return the losses of both games, each predicted before its label was known, since the shadow began."""
        ledger = self.play.ledger
        found: dict[str, Any] = {"name": name, "learner": self.model.learner, "seed": self.model.seed}
        now = counts(main, labels)
        found |= {"since": self.since["labels"], "labels": ledger.rounds}
        found["refused"] = labels - self.since["labels"] - ledger.rounds
        if main.ledger.counts:
            found["mistakes"] = {"served": now["served"] - self.since["served"],
                                 "arrival": now["paid"] - self.since["paid"], "shadow": ledger.mistakes}  # fmt: skip
        else:
            found["loss"] = {"arrival": now["paid"] - self.since["paid"], "shadow": ledger.loss}
        ours = None if now["log_loss"] is None else now["log_loss"] - (self.since["log_loss"] or 0.0)
        found["log_loss"] = {"arrival": ours, "shadow": ledger.log_loss}
        return found


def counts(play: Play, labels: int) -> dict[str, Any]:
    """Return the counts of a game that its shadows are compared with."""
    late, ledger = play.late, play.ledger
    return {"labels": labels, "served": late.mistakes, "paid": ledger.mistakes if ledger.counts else ledger.loss,
            "log_loss": ledger.log_loss}  # fmt: skip


def shadow_of(main: Model, name: str, learner: str, seed: int, since: dict[str, Any]) -> Shadow:
    """Return a new shadow of a model."""
    model = msgspec.structs.replace(main, learner=learner, seed=seed)
    try:
        return Shadow(Play(begin(model, name), model.bits, model.schema), model, since)
    except NovikoffError as error:
        raise RefusedError("bad_model", str(error)) from None


def compiled(main: Model, name: str, asked: wire.Shadow, form: str | None) -> None:
    """Compile the loops of a shadow that is to begin, or refuse it; in any thread."""
    shadow_of(main, name, asked.learner, asked.seed, {}).play.warm_up(form)


def shadow_file(name: str, labels: int) -> str:
    """Return the name of the file with the snapshot of a shadow."""
    return f"shadow-{name}-{labels}.nk"


def shadow_files(folder: Path, name: str) -> list[tuple[int, Path]]:
    """Return the snapshots of a shadow, the newest first."""
    found = []
    for path in folder.glob(f"shadow-{name}-*.nk"):
        number = path.stem.removeprefix(f"shadow-{name}-")
        if number.isdigit():
            found.append((int(number), path))
    return sorted(found, reverse=True)


def restored(shadow: Shadow, folder: Path, name: str, labelled: int) -> tuple[Shadow, int]:
    """Return a shadow from its newest snapshot, and the label of that; as it began without one."""
    since = shadow.since["labels"]
    for n, path in shadow_files(folder, name):
        try:
            ledger = persistence.load_game(path)
        except ModelFileError:  # it only saves time
            continue
        if since <= n <= labelled and ledger.rounds <= n - since and ledger.spec == shadow.model.learner:
            play = Play(ledger, shadow.model.bits, shadow.model.schema)
            return Shadow(play, shadow.model, shadow.since), n
    return shadow, since


def team(asked: Team, found: Sequence[tuple[str, Model, persistence.Snapshot]]) -> tuple[bytes, Model]:
    """Return the game of a team of deployed models as a file, and its options.

    Args:
        asked: Request.
        found: Name, options and game of each model.
    """
    (_, first, _), *others = found
    for name, model, _ in others:
        for option in ("negative", "positive", "labels", "bits", "schema"):
            if getattr(model, option) != getattr(first, option):
                raise RefusedError("bad_model", f"models of a team must have the same {option}: {name} differs from "
                                   f"{found[0][0]}.")  # fmt: skip
    ledgers = [persistence.ledger_of(what) for _, _, what in found]
    if any(one.encoding is not None for one in ledgers):
        raise RefusedError("bad_model", "models of a team must hash features or take arrays, without a schema.")
    names = [one.labels for one in ledgers]
    if first.labels == "multiclass" and any(one != names[0] for one in names):
        raise RefusedError("bad_model", "multiclass models of a team must know the same labels, in the same order.")
    try:
        learners = [one.learner for one in ledgers]
        game = Hedge(learners, horizon=asked.horizon, by=asked.by, switches=asked.switches, seed=asked.seed,
                     names=[name for name, *_ in found])  # fmt: skip
        ledger = Ledger(game, source=f"the service, {', '.join(asked.models)}", spec="hedge")
        ledger.labels, ledger.fingerprint = names[0], {"bits": first.bits}
    except NovikoffError as error:
        raise RefusedError("bad_model", str(error)) from None
    file = io.BytesIO()
    persistence.pack(persistence.snapshot(ledger), file)
    return file.getvalue(), first
