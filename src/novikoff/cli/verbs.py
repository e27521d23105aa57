"""The verbs of the command line, one function each: from parsed arguments to an exit code.

The first line of a docstring is the help text of its verb.
"""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import InputError, counted

if TYPE_CHECKING:
    from novikoff.cli.games import Telling
    from novikoff.cli.saving import Saving

KINDS = ("columns", "drop", "number", "category", "text", "time")
READING = (
    "label",
    "labels",
    "weight",
    "label_weights",
    "positive",
    "header",
    "format",
    "bits",
    "skip_bad",
    "ignore_weights",
    "threads",
    *KINDS,
)
"""Options passed on to the reader."""


def demo(asked: Namespace) -> int:
    """Run a short tour on built-in data."""
    from novikoff.cli.demo import tour

    return tour()


def run(asked: Namespace) -> int:
    """Train and evaluate a learner row by row, with a certificate."""
    from novikoff.cli.games import Choice, run_source

    defaults = {"seed": asked.seed, "normalize": asked.normalize or None, "scale": asked.scale}
    choice = Choice(asked.keep, asked.candidates, asked.delta) if asked.keep else None
    if asked.cover is not None:
        defaults["cover"] = asked.cover
    rounds = (asked.passes, asked.rounds)
    return run_source(
        asked.learner, asked.source, _reading(asked), defaults, rounds, _saving(asked), _telling(asked), choice
    )


def compare(asked: Namespace) -> int:
    """Compare learners on the same source and the same shuffles."""
    from novikoff.cli.comparison import Asked, compare_source

    wanted = Asked(asked.shuffles, asked.seed or 0, asked.passes, asked.rounds, asked.jobs, asked.on)
    defaults = {"normalize": asked.normalize or None, "scale": asked.scale}
    return compare_source(asked.source, asked.learners, _reading(asked), defaults, wanted, _telling(asked))


def mix(asked: Namespace) -> int:
    """Train a Perceptron on shards in parallel, on threads or Ray."""
    from novikoff.cli.mix import mix_source
    from novikoff.cli.saving import Saving

    options = ("shards", "epochs", "weights", "bias", "normalize", "held", "delta", "on")
    saving = Saving(asked.save, None, asked.resume, asked.force)
    return mix_source(
        asked.source, _reading(asked), {name: getattr(asked, name) for name in options}, saving, _telling(asked)
    )


def predict(asked: Namespace) -> int:
    """Predict each row of a source with a saved model."""
    from novikoff.cli.predict import predict_source

    reading = _reading(asked)
    if reading["weight"] is not None:  # each row is predicted once, whatever it weighs
        reading["drop"] = [*(reading["drop"] or ()), reading["weight"]]
        reading["weight"] = None
    reading["label_weights"] = None
    labelled, telling = not asked.no_label, _telling(asked)
    return predict_source(asked.model, asked.source, reading, asked.as_json, labelled, asked.scores, telling)


def convert(asked: Namespace) -> int:
    """Convert a source to an Arrow file, which loads faster."""
    from novikoff.cli.opening import open_source, say_notes, say_target
    from novikoff.data.convert import check_place
    from novikoff.data.convert import convert as write

    check_place(asked.destination, asked.force)
    source = open_source(asked.source, _reading(asked))
    if source.several:
        source.show_many()
    rows = write(source, asked.destination, force=asked.force)
    say_target(source, silent=False)
    say_notes(source, silent=False)
    print(f"{counted(rows, 'row')} written to {asked.destination}")
    return 0


def columns(asked: Namespace) -> int:
    """Show how the columns of a table are interpreted."""
    from novikoff.cli.opening import notes, open_source, opened_table

    table = opened_table(open_source(asked.source, _reading(asked)))
    if asked.as_json:
        columns = [dict(zip(("name", "kind", "first"), one, strict=True)) for one in table.described()]
        print(json.dumps({"source": table.name, "columns": columns, "notes": notes(table)}))
        return 0
    for line in table.describe():
        print(line)
    return 0


def duel(asked: Namespace) -> int:
    """Play a learner against an adversary."""
    from novikoff.cli.games import run_duel

    return run_duel(asked.learner, asked.adversary, asked.rounds, asked.seed, _telling(asked))


def arena(asked: Namespace) -> int:
    """Watch and play the games of the theorems in the browser."""
    from novikoff.cli.arena import open_arena

    return open_arena(asked.link, asked.port, not asked.no_browser)


def serve(asked: Namespace) -> int:
    """Serve models over HTTP, with delayed labels and certificates."""
    from pathlib import Path

    from novikoff.server.server import serve as answer

    token = None if asked.token_file is None else Path(asked.token_file)
    answer(Path(asked.dir), asked.host, asked.port, token, asked.sync, asked.snapshot_every)
    return 0


def experts(asked: Namespace) -> int:
    """Combine forecasts and certify the regret against the best one."""
    from novikoff.cli.experts import Asked, run_experts

    reading = {name: getattr(asked, name) for name in ("outcome", "without", "header", "delimiter", "threads")}
    wanted = Asked(
        asked.learner, asked.loss, asked.switches, asked.horizon, asked.sleeping, asked.seed, asked.rounds
    )  # fmt: skip
    return run_experts(asked.table, reading, wanted, _saving(asked), _telling(asked))


def bandit(asked: Namespace) -> int:
    """Evaluate policies on a bandit log, or play a bandit."""
    from novikoff.cli.bandit import Asked, refuse, run_bandit, run_log

    reading = {name: getattr(asked, name) for name in ("header", "delimiter", "format", "threads")}
    columns = {name: getattr(asked, name) for name in ("arm", "loss", "reward", "probability", "range", "arms")}
    if asked.table is None and asked.resume is None:
        refuse("a learner that is played", {name: getattr(asked, name) for name in ("rounds", "save", "seed")})
        return run_log(asked.log, {**columns, "policies": asked.policy, "delta": asked.delta}, reading, _telling(asked))
    refuse("a log", {**columns, "policy": asked.policy})
    learner, source = (None, asked.log) if asked.table is None else (asked.log, asked.table)
    wanted = Asked(learner, source, asked.rounds, asked.seed)
    return run_bandit(wanted, reading, _saving(asked), _telling(asked))


def send(asked: Namespace) -> int:
    """Stream a source through a service; sent again, it resumes."""
    from novikoff.cli.send import send_source

    return send_source(
        asked.source, _reading(asked), asked.to, asked.model, asked.learner, asked.token_file, asked.late,
        asked.as_json, asked.quiet,
    )  # fmt: skip


def list_names(asked: Namespace) -> int:
    """List all names: learners, adversaries, streams, formats."""
    from novikoff.cli.names import list_all

    list_all(asked.as_json)
    return 0


def explain(asked: Namespace) -> int:
    """Explain a name: algorithm, theorem with proof, cost."""
    from novikoff.reports.explanation import explain as explanation

    print(explanation(asked.name), end="")
    return 0


def completion(asked: Namespace) -> int:
    """Print a completion script for a shell."""
    from novikoff.cli.completion import script

    print(script(asked.shell))
    return 0


def _telling(asked: Namespace) -> Telling:
    """Return the output options of a verb."""
    from novikoff.cli.games import Telling

    return Telling(**{one.name: getattr(asked, one.name) for one in fields(Telling) if hasattr(asked, one.name)})


def _saving(asked: Namespace) -> Saving:
    from novikoff.cli.saving import Saving

    without = getattr(asked, "without_rows", False)
    return Saving(asked.save, asked.save_every, asked.resume, asked.force, asked.same, asked.again, without)


def _reading(asked: Namespace) -> dict[str, Any]:
    reading = {name: getattr(asked, name) for name in READING}
    if reading["label_weights"] is not None:
        reading["label_weights"] = _weights(reading["label_weights"])
    return {**reading, **{kind: _columns(reading[kind]) for kind in KINDS}}


def _weights(given: str) -> dict[str, int]:
    """Parse label weights such as spam=5,ham=1."""
    parts = [part.rpartition("=") for part in given.split(",") if part]
    for label, _, weight in parts:
        if not label or not weight.strip().isdecimal():
            raise InputError(f"--label-weights must be LABEL=N,… with integers N: got {given}.")
    return {label: int(weight) for label, _, weight in parts}


def _columns(given: list[str] | None) -> list[str] | None:
    """Split column names that are separated by commas."""
    return None if given is None else [name for some in given for name in some.split(",") if name]
