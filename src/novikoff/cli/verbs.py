"""The verbs of the command line, one function each: from parsed arguments to an exit code.

The first line of a docstring is the help text of its verb.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import InputError, counted

if TYPE_CHECKING:
    from novikoff.cli.games import Output
    from novikoff.cli.saving import Saving
    from novikoff.core.weights import LabelWeights

KINDS = ("columns", "drop", "number", "category", "text", "time")
"""Reading options that take lists of columns."""
READING = (
    "label",
    "labels",
    "weight",
    "label_weights",
    "positive",
    "header",
    "format",
    "bits",
    "presence",
    "skip_bad",
    "ignore_weights",
    "threads",
    "encoding",
    "missing",
    "date_format",
    *KINDS,
)
"""Options passed on to the reader."""


def demo(args: Namespace) -> int:
    """Run a short tour on built-in data."""
    from novikoff.cli.demo import tour, write_files

    return tour() if args.write is None else write_files(args.write)


def run(args: Namespace) -> int:
    """Train and evaluate a learner row by row, with a certificate."""
    from novikoff.cli.games import Choice, Cut, run_source
    from novikoff.cli.learner_file import own_learner

    defaults = {"seed": args.seed, "normalize": args.normalize or None, "scale": args.scale, "task": args.task}
    choice = Choice(args.finalize, args.candidates, args.delta) if args.finalize else None
    if args.cover is not None:
        defaults["cover"] = args.cover
    defaults |= _looking_back(args)
    rounds = (args.passes, args.rounds)
    learner = own_learner(args.learner)
    cut = Cut(args.costs, args.precision, args.recall, args.threshold, args.delta)
    return run_source(learner, args.source, _reading(args), defaults, rounds, _saving(args), _output(args), choice, cut)


def _looking_back(args: Namespace) -> dict[str, Any]:
    """Return the options about lags, groups and horizons that were given."""
    given = {"lags": args.lags, "lag_columns": _columns(args.lag_columns), "by": args.by, "horizon": args.horizon}
    return {name: value for name, value in given.items() if value is not None and (name, value) != ("horizon", 1)}


def forecast(args: Namespace) -> int:
    """Forecast a table several rows ahead, with intervals."""
    from novikoff.cli.forecast import forecast_source

    given = {"cover": args.cover, "label": args.label, "lag_columns": (), "horizon": 12, **_looking_back(args)}
    return forecast_source(args.learner, args.source, {**given, "horizon": args.horizon}, args.next,
                           (args.resume, args.save), _output(args))  # fmt: skip


def compare(args: Namespace) -> int:
    """Compare learners on the same source and the same shuffles."""
    from novikoff.cli.comparison import Request, compare_source
    from novikoff.cli.learner_file import own_learner

    wanted = Request(
        args.shuffles, args.seed or 0, args.passes, args.rounds, args.jobs, args.on, args.by, args.task, args.cost
    )
    defaults = {"normalize": args.normalize or None, "scale": args.scale}
    learners = [own_learner(one) or "" for one in args.learners]
    return compare_source(args.source, learners, _reading(args), defaults, wanted, _output(args))


def parallel_perceptron(args: Namespace) -> int:
    """Train a Perceptron on shards in parallel, on threads or Ray."""
    from novikoff.cli.parallel import train_source
    from novikoff.cli.saving import Saving

    options = ("shards", "epochs", "weights", "bias", "normalize", "held", "delta", "on")
    saving = Saving(args.save, None, args.resume, args.force)
    return train_source(
        args.source, _reading(args), {name: getattr(args, name) for name in options}, saving, _output(args)
    )


def predict(args: Namespace) -> int:
    """Predict each row of a source with a saved model."""
    from novikoff.cli.predict import Form, predict_source

    reading = _reading(args)
    if reading["weight"] is not None:  # each row is predicted once, whatever its weight
        reading["drop"] = [*(reading["drop"] or ()), reading["weight"]]
        reading["weight"] = None
    reading["label_weights"] = None
    labelled, output = not args.no_label, _output(args)
    form = Form(args.id, args.probabilities, args.output, args.missing_columns, args.threshold)
    return predict_source(args.model, args.source, reading, args.as_json, labelled, args.scores, output, args.why, form)


def report(args: Namespace) -> int:
    """Write the HTML report of a saved run, or of two compared."""
    from novikoff.cli.report import write

    return write(args.models, args.output, args.force, args.command)


def convert(args: Namespace) -> int:
    """Convert a source to an Arrow file, which loads faster."""
    from novikoff.cli.opening import open_source, print_notes, print_target
    from novikoff.data.convert import check_place
    from novikoff.data.convert import convert as write

    check_place(args.destination, args.force)
    source = open_source(args.source, _reading(args))
    if source.several:
        source.show_many()
    rows = write(source, args.destination, force=args.force)
    print_target(source, silent=False)
    print_notes(source, silent=False)
    print(f"{counted(rows, 'row')} written to {args.destination}")
    return 0


def export(args: Namespace) -> int:
    """Export a linear model or trees to JSON or ONNX."""
    from novikoff.core.overwriting import check_replaced
    from novikoff.game import persistence
    from novikoff.game.export import is_exported
    from novikoff.game.ledger import Ledger

    saved = persistence.load(args.model)
    if not isinstance(saved, Ledger):
        raise InputError("only a saved game can be exported", f"{args.model} is a classifier of --finalize",
                         "Pass the file of run --save.")  # fmt: skip
    check_replaced(args.destination, "an exported model", is_exported, args.force, InputError)
    made = saved.export(args.destination, args.format)
    print(f"{saved.spec}: {made.kind} on {counted(made.columns, 'column')} written to {made.path} ({made.format})")
    return 0


def columns(args: Namespace) -> int:
    """Show how the columns of a table are interpreted."""
    from novikoff.cli.opening import notes, open_source, opened_table

    table = opened_table(open_source(args.source, _reading(args)))
    if args.as_json:
        columns = [dict(zip(("name", "kind", "first"), one, strict=True)) for one in table.described()]
        print(json.dumps({"source": table.name, "columns": columns, "notes": notes(table)}))
        return 0
    for line in table.describe():
        print(line)
    return 0


def duel(args: Namespace) -> int:
    """Play a learner against an adversary."""
    from novikoff.cli.games import run_duel
    from novikoff.cli.learner_file import own_learner

    return run_duel(own_learner(args.learner) or "", args.adversary, args.rounds, args.seed, _output(args))


def verify(args: Namespace) -> int:
    """Check the proof file of a run, with a program that imports nothing of novikoff."""
    from novikoff_verify.command import verify as checked

    return checked(args.proof, args.data, args.depth)


def arena(args: Namespace) -> int:
    """Watch and play the games of the theorems in the browser."""
    from novikoff.cli.arena import open_arena, save_game

    if args.save is not None:
        return save_game(args.link, args.save, args.force)
    return open_arena(args.link, args.port, not args.no_browser)


def serve(args: Namespace) -> int:
    """Serve models over HTTP, with delayed labels and certificates."""
    from pathlib import Path

    from novikoff.server.server import serve as answer

    token = None if args.token_file is None else Path(args.token_file)
    answer(Path(args.dir), args.host, args.port, token, args.sync, args.snapshot_every, args.access_log,
           args.accept_loss)  # fmt: skip
    return 0


def backup(args: Namespace) -> int:
    """Back up the models of a service, which may be running."""
    from pathlib import Path

    from novikoff.server.backup import back_up_directory, back_up_service, in_use

    directory, to = Path(args.directory), Path(args.to)
    tokens = None if args.token_file is None else Path(args.token_file)
    if not (directory / "models").is_dir():
        raise InputError(f"{directory} has no models: pass the --dir of the service.")
    made = back_up_service(directory, to, tokens) if in_use(directory) else back_up_directory(directory, to)
    labels = sum(one.labelled for one in made.models)
    print(f"{counted(len(made.models), 'model')} with {counted(labels, 'label')} backed up to {to}")
    for name, why in made.left_out.items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    return 1 if made.left_out else 0


def restore(args: Namespace) -> int:
    """Restore the models of a backup, and replay each game to verify it."""
    from pathlib import Path

    from novikoff.server.backup import restore as restored

    found = restored(Path(args.backup), Path(args.directory))
    labels = sum(one.labelled for one in found.models)
    what = f"{counted(len(found.models), 'model')} with {counted(labels, 'label')}"
    print(f"{what} restored to {args.directory}, and verified by a replay")
    return 0


def experts(args: Namespace) -> int:
    """Combine forecasts and certify the regret against the best one."""
    from novikoff.cli.experts import Request, run_experts

    reading = {name: getattr(args, name) for name in ("outcome", "without", "header", "delimiter", "threads")}
    wanted = Request(
        args.learner, args.loss, args.switches, args.horizon, args.sleeping, args.seed, args.rounds
    )  # fmt: skip
    return run_experts(args.table, reading, wanted, _saving(args), _output(args))


def bandit(args: Namespace) -> int:
    """Evaluate policies on a bandit log, or play a bandit."""
    from novikoff.cli.bandit import Request, refuse, run_bandit, run_log, run_simulation

    reading = {name: getattr(args, name) for name in ("header", "delimiter", "format", "threads")}
    columns = {name: getattr(args, name) for name in ("arm", "loss", "reward", "probability", "range", "arms")}
    if args.table is None and args.resume is None:
        played = ("rounds", "save", "seed", "games", "against")
        refuse("a learner that is played", {name: getattr(args, name) for name in played})
        return run_log(args.log, {**columns, "policies": args.policy, "delta": args.delta}, reading, _output(args))
    refuse("a log", {**columns, "policy": args.policy})
    if args.games is not None:
        refuse("a single game", {"save": args.save, "resume": args.resume})
        wanted = Request(args.log, args.table, args.rounds, args.seed)
        return run_simulation(wanted, args.games, args.against, _output(args))
    refuse("many games, with --games", {"against": args.against})
    learner, source = (None, args.log) if args.table is None else (args.log, args.table)
    wanted = Request(learner, source, args.rounds, args.seed)
    return run_bandit(wanted, reading, _saving(args), _output(args))


def send(args: Namespace) -> int:
    """Stream a source through a service; sent again, it resumes."""
    from novikoff.cli.send import send_source

    return send_source(
        args.source, _reading(args), args.to, args.model, args.learner, args.token_file, args.late,
        args.as_json, args.quiet,
    )  # fmt: skip


def list_names(args: Namespace) -> int:
    """List all names: learners, adversaries, streams, formats."""
    from novikoff.cli.names import list_all

    list_all(args.as_json)
    return 0


def explain(args: Namespace) -> int:
    """Explain a name (algorithm, theorem with proof, cost) or a term of online learning."""
    from novikoff.reports.explanation import explain as explanation

    print(explanation(" ".join(args.name)), end="")
    return 0


def notes(args: Namespace) -> int:
    """Show the five lecture notes: every item with a command, errata, and checkers of the exercises."""
    from novikoff.cli.notes import notes as shown

    return shown(args.words, args.run)


def compile_ahead(args: Namespace) -> int:
    """Compile learners ahead, so that their first run is as fast as later ones."""
    from novikoff.cli.compiling import compile_learners

    return compile_learners(args.learners, args.jobs)


def completion(args: Namespace) -> int:
    """Print a completion script for a shell."""
    from novikoff.cli.completion import script

    print(script(args.shell))
    return 0


def _output(args: Namespace) -> Output:
    """Return the output options of a verb."""
    from novikoff.cli.games import Output

    given = vars(args)
    return Output(**{one.name: given[one.name] for one in fields(Output) if one.name in given})


def _saving(args: Namespace) -> Saving:
    from novikoff.cli.saving import Saving

    without = vars(args).get("without_rows", False)
    return Saving(args.save, args.save_every, args.resume, args.force, args.same, args.again, without)


def _reading(args: Namespace) -> dict[str, Any]:
    reading = {name: getattr(args, name) for name in READING}
    if reading["label_weights"] is not None:
        reading["label_weights"] = _weights(reading["label_weights"])
    if reading["missing"] is not None:
        reading["missing"] = [token for token in reading["missing"].split(",") if token]
    return {**reading, **{kind: _columns(reading[kind]) for kind in KINDS}}


def _weights(given: str) -> LabelWeights:
    """Parse label weights such as spam=5,ham=0.5, or balanced."""
    from novikoff.core.weights import BALANCED

    if given.strip() == BALANCED:
        return BALANCED
    found: dict[str, float] = {}
    for label, _, weight in [part.rpartition("=") for part in given.split(",") if part]:
        try:
            found[label] = float(weight)
        except ValueError:
            label = ""
        if not label:
            must = "--label-weights must be LABEL=N,… with numbers N, or balanced"
            raise InputError(must, f"got {given}", "Write --label-weights spam=5,ham=0.5.")
    return found


def _columns(given: list[str] | None) -> list[str] | None:
    """Split column names that are separated by commas."""
    return None if given is None else [name for some in given for name in some.split(",") if name]
