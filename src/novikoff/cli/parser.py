"""Command line parser: verbs, their arguments and options, and the converters of values."""

from __future__ import annotations

import re
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Callable, Mapping
from typing import NoReturn

from novikoff import __version__
from novikoff.cli import verbs
from novikoff.core.errors import close
from novikoff.core.registry import CATALOG

SPEC = "name or name:key=value,… (see: novikoff list)"
"""Help text of a spec."""
METHODS = ("best", "random", "voted", "averaged", "last")
"""Methods of --finalize."""


MEANT = {"--target": ["--label"], "--outcome": ["--label"], "--response": ["--label"], "--weights": ["--weight"]}
"""Options of other tools, and their names here."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "first steps": ("demo", "list", "explain", "compile", "completion"),
    "learn": ("run", "compare", "predict", "parallel-perceptron"),
    "inspect runs and data": ("report", "columns", "convert"),
    "serve": ("serve", "send", "backup", "restore", "export"),
    "forecasts and bandits": ("forecast", "experts", "bandit"),
    "theory": ("notes", "duel", "verify", "arena"),
}
"""Verbs by task, as `novikoff --help` lists them."""


CHOICE = re.compile(r"invalid choice: '?([^']*?)'? \(choose from (.*)\)$")
"""Message of argparse on a value that is none of its choices."""


class Parser(ArgumentParser):
    """Argument parser with one line per error, and verbs listed by task."""

    def format_help(self) -> str:
        """Return the help text; verbs are grouped by task."""
        actions = [action for action in self._actions if isinstance(action, _SubParsersAction)]
        if not actions:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        listed = {one.dest: one for one in actions[0]._choices_actions}
        for title, names in GROUPS.items():
            formatter.start_section(title)
            formatter.add_arguments([listed[name] for name in names])
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments([action for action in self._actions if action.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Print the error, the closest choice and where to look, and exit."""
        if wrong := CHOICE.search(message):
            choices = [one.strip(" '") for one in wrong[2].split(",")]
            guess = close(wrong[1], choices)
            message = f"{message[: wrong.start()]}must be one of {', '.join(choices)}: got {wrong[1]!r}"
            self.exit(2, f"{self.prog}: {message}. {guess}{' ' * bool(guess)}See: {self.prog} --help\n")
        self.exit(2, f"{self.prog}: {message}. See: {self.prog} --help\n")

    def unknown(self, words: list[str]) -> NoReturn:
        """Exit for unknown arguments, with the closest option."""
        from difflib import get_close_matches

        options = [name for name in self._option_string_actions if name.startswith("--")]
        close = [name for name in MEANT.get(words[0].partition("=")[0], ()) if name in options]
        close = close or get_close_matches(words[0], options, 1)
        self.error(f"unknown argument: {' '.join(words)}" + (f" (did you mean {close[0]}?)" if close else ""))

    def verbs(self) -> list[str]:
        """Return the names of the verbs."""
        return [name for action in self._actions if isinstance(action.choices, dict) for name in action.choices]


def parser() -> Parser:
    """Build the parser of all verbs and options."""
    whole = Parser(
        "novikoff", description="Online learning with certificates: every run ends with a proven bound on its loss.",
        epilog="Options and examples of a verb: novikoff VERB --help", allow_abbrev=False,
    )  # fmt: skip
    whole.add_argument("--version", action="version", version=f"novikoff {__version__}")
    added = whole.add_subparsers(title="verbs", metavar="VERB", required=True)

    def verb(name: str, act: Callable[[Namespace], int]) -> Parser:
        one: Parser = added.add_parser(
            name, help=act.__doc__, description=act.__doc__, epilog=examples_of(name), allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
        )  # fmt: skip
        one.set_defaults(act=act, verb=one, quiet=False)
        return one

    one = verb("demo", verbs.demo)
    one.add_argument(
        "--write", metavar="FOLDER", help="write tables to try things with (mail.csv and others), and stop"
    )

    one = verb("run", verbs.run)
    one.add_argument("learner", nargs="?", metavar="LEARNER", help=f"{SPEC}; default: auto, or the learner of --resume")
    _add_source(one, nargs="?")
    one.add_argument(
        "--passes", type=_integer(1), default=1, metavar="N", help="number of passes over the source (default: 1)"
    )
    one.add_argument("--rounds", type=_integer(0), metavar="N", help="maximum number of rounds")
    one.add_argument(
        "--after", type=_integer(0), metavar="N", help="report on the rows after row N too (default: since --resume)"
    )
    _add_task(one)
    _add_lags(one)
    one.add_argument(
        "--horizon", type=_integer(1), default=1, metavar="H", help="forecast H rows ahead, with lags from H on"
    )
    _add_scaling(one)
    one.add_argument("--save", metavar="FILE", help="checkpoint to write, or the classifier of --finalize")
    one.add_argument("--save-every", type=_integer(1), metavar="N", help="rounds between two checkpoints")
    one.add_argument(
        "--without-rows",
        action="store_true",
        help="save without training rows: same predictions, certificates restart when resumed",
    )
    _add_resume(one)
    one.add_argument(
        "--finalize",
        choices=METHODS,
        metavar="HOW",
        help=f"one final classifier with a bound on its error rate: {', '.join(METHODS)}",
    )
    one.add_argument(
        "--candidates",
        type=_integer(1),
        default=50,
        metavar="N",
        help="number of hypotheses that --finalize best compares (default: 50)",
    )
    _add_delta(one)
    one.add_argument(
        "--cover",
        type=_chance,
        metavar="C",
        help="prediction sets with this coverage, such as 0.9",
    )
    _add_thresholds(one)
    one.add_argument(
        "--hindsight", action="store_true", help="second pass for the best comparators, which tightens certificates"
    )
    _add_trace(one)
    _add_proof(one)
    _add_report(one)
    one.add_argument("--live", action="store_true", help="live curve in the browser")
    one.add_argument(
        "--between", metavar="A:B", type=_between, help="result and guarantee from round A to B (logistic:drift=true)"
    )
    one.add_argument(
        "--permutation",
        dest="permutations",
        type=_integer(1),
        metavar="N",
        help="permutation test for order effects with N shuffles, such as 199",
    )
    _add_force(one)
    one.add_argument("--no-track", dest="certify", action="store_false", help="skip comparators and certificates")
    _add_seed(one)
    _add_output(one)
    _add_verbose(one)

    one = verb("compare", verbs.compare)
    _add_source(one)
    one.add_argument("-l", "--learner", dest="learners", action="append", required=True, metavar="LEARNER", help=SPEC)
    one.add_argument(
        "--shuffles",
        type=_integer(0),
        default=0,
        metavar="N",
        help="number of random orders (default: 0, the order of the file)",
    )
    one.add_argument(
        "--passes", type=_integer(1), default=1, metavar="N", help="number of passes over the rows (default: 1)"
    )
    one.add_argument("--rounds", type=_integer(1), metavar="N", help="number of rows to read")
    one.add_argument(
        "--by",
        choices=("error", "log-loss", "auc", "mae", "rmse"),
        help="metric that ranks the learners (default: log-loss or error; for numbers rmse)",
    )
    _add_task(one)
    _add_scaling(one)
    one.add_argument("--jobs", type=_integer(1), metavar="N", help="number of parallel games (default: one per core)")
    _add_on(one)
    one.add_argument("--plot", metavar="FILE", help="plot of the error rates (.png or .svg)")
    one.add_argument("--cost", metavar="FILE", help="plot of the time per round, from one more game of each learner")
    _add_report(one)
    _add_force(one)
    _add_seed(one)
    _add_output(one)

    one = verb("parallel-perceptron", verbs.parallel_perceptron)
    _add_source(one)
    one.add_argument("--shards", type=_integer(1), default=8, metavar="N", help="number of shards (default: 8)")
    one.add_argument(
        "--epochs", type=_integer(1), default=10, metavar="N", help="maximum number of passes (default: 10)"
    )
    one.add_argument(
        "--weights",
        choices=("uniform", "mistakes"),
        default="uniform",
        help="weights of the shards in the average (default: uniform)",
    )
    one.add_argument("--bias", type=_number, default=0.0, metavar="C", help="value of a constant feature")
    one.add_argument("--normalize", action="store_true", help="scale each row to length 1")
    one.add_argument(
        "--held",
        type=_integer(0),
        default=0,
        metavar="N",
        help="number of extra shards held out to bound the error rate",
    )
    _add_delta(one)
    _add_on(one)
    one.add_argument("--save", metavar="FILE", help="checkpoint to write after each epoch")
    one.add_argument("--resume", metavar="FILE", help="checkpoint to resume, if it exists")
    _add_force(one)
    _add_output(one)
    _add_verbose(one)

    one = verb("predict", verbs.predict)
    one.add_argument("model", metavar="MODEL", help="model file written by `novikoff run --save`")
    _add_source(one)
    one.add_argument("--no-label", action="store_true", help="source without labels: all columns are features")
    one.add_argument("--scores", action="store_true", help="score next to each predicted label")
    one.add_argument("--probabilities", action="store_true", help="probability of each label, as a table")
    one.add_argument("--id", metavar="COLUMN", help="column to repeat next to each prediction, such as an id")
    one.add_argument("-o", "--output", metavar="FILE", help="file of predictions: .csv, .tsv, .jsonl or .parquet")
    one.add_argument(
        "--missing-columns",
        choices=("refuse", "impute"),
        default="refuse",
        help="columns that are absent or new: an error, or read as missing and ignored (default: refuse)",
    )
    one.add_argument("--threshold", type=_number, metavar="T",
                     help="positive from here on: a probability, or a score (default: that of the model)")  # fmt: skip
    one.add_argument("--why", action="store_true", help="contribution of each column to each prediction")
    _add_report(one)
    _add_force(one)
    _add_json(one)

    one = verb("report", verbs.report)
    one.add_argument("models", nargs="+", metavar="MODEL", help="file of `novikoff run --save`; two files are compared")
    one.add_argument(
        "-o", "--output", default="report.html", metavar="FILE", help="HTML report to write (default: report.html)"
    )
    _add_force(one)

    one = verb("columns", verbs.columns)
    _add_source(one)
    _add_json(one)

    one = verb("convert", verbs.convert)
    _add_source(one)
    one.add_argument("destination", metavar="DEST", help="Arrow file to write")
    _add_force(one)

    one = verb("export", verbs.export)
    one.add_argument("model", metavar="MODEL", help="model file of --save")
    one.add_argument("destination", metavar="DEST", help="file to write: .json or .onnx")
    one.add_argument("--format", choices=("json", "onnx"), help="format (default: by the ending of DEST)")
    _add_force(one)

    one = verb("arena", verbs.arena)
    one.add_argument("link", nargs="?", metavar="LINK", help="link of the arena, in quotes, to open that game")
    one.add_argument("--port", type=_integer(1, 65535), default=1962, metavar="N", help="port (default: 1962)")
    one.add_argument("--no-browser", action="store_true", help="print the address only")
    one.add_argument("--save", metavar="FILE", help="write the game of LINK as an HTML file that replays it, and stop")
    one.add_argument("--force", action="store_true", help="replace FILE even if it is not a saved game")

    one = verb("serve", verbs.serve)
    one.add_argument("--dir", required=True, metavar="DIR", help="directory of the models; created if missing")
    one.add_argument("--host", default="127.0.0.1", metavar="HOST", help="address to listen on (default: 127.0.0.1)")
    one.add_argument(
        "--port", type=_integer(0, 65535), default=1963, metavar="N", help="port (default: 1963; 0: any free port)"
    )
    one.add_argument(
        "--token-file", metavar="FILE", help="file of access tokens (default: DIR/token, created at the first start)"
    )
    one.add_argument(
        "--sync",
        choices=("full", "normal"),
        default="full",
        help="durability: full survives power loss, normal a crash of the process and is faster (default: full)",
    )
    one.add_argument(
        "--snapshot-every",
        type=_integer(1),
        default=50_000,
        metavar="N",
        help="labels between two snapshots, which speed up a restart (default: 50,000)",
    )
    one.add_argument(
        "--accept-loss", action="append", default=[], metavar="MODEL",
        help="play this model although acknowledged labels are missing from its database (may be repeated)",
    )  # fmt: skip
    one.add_argument("--access-log", action="store_true", help="write a line of the log for every request")

    one = verb("duel", verbs.duel)
    one.add_argument("learner", metavar="LEARNER", help=SPEC)
    one.add_argument("adversary", metavar="ADVERSARY", help=SPEC)
    one.add_argument("--rounds", type=_integer(1), default=1000, metavar="N", help="number of rounds (default: 1000)")
    _add_trace(one)
    _add_proof(one)
    _add_report(one)
    _add_force(one)
    _add_seed(one)
    _add_output(one)
    _add_verbose(one)

    one = verb("verify", verbs.verify)
    one.add_argument("proof", metavar="PROOF", help="proof file")
    one.add_argument(
        "data", metavar="DATA", nargs="?", help="its rows: .rows, CSV, JSON lines, svmlight (default: none)"
    )
    one.add_argument(
        "--depth", choices=("arithmetic", "data", "replay"), help="default: replay; without DATA arithmetic"
    )

    one = verb("experts", verbs.experts)
    table = "file, or - for standard input: one column of outcomes, one column of predictions per expert"
    one.add_argument("table", metavar="TABLE", help=table)
    one.add_argument("-l", "--learner", metavar="LEARNER", help=f"{SPEC}; default: exponential-weights")
    losses = ("zero-one", "absolute", "squared", "log", "table")
    what = "loss of a prediction (default: detected from the first rows); table: the columns are losses"
    one.add_argument("--loss", choices=losses, metavar="NAME", help=f"{', '.join(losses)}: {what}")
    one.add_argument(
        "--switches", type=_integer(0), metavar="M", help="compare with the best sequence of experts with M switches"
    )
    one.add_argument(
        "--horizon", type=_integer(1), metavar="T", help="total number of rounds, for learners that need it"
    )
    one.add_argument("--sleeping", action="store_true", help="experts may abstain: empty cells")
    one.add_argument("--rounds", type=_integer(0), metavar="N", help="maximum number of rounds")
    one.add_argument("--save", metavar="FILE", help="checkpoint to write")
    one.add_argument("--save-every", type=_integer(1), metavar="N", help="rounds between two checkpoints")
    _add_resume(one)
    one.add_argument("--plot", metavar="FILE", help="plot of regret, bound and weights over time (.png or .svg)")
    _add_proof(one)
    _add_report(one)
    _add_force(one)
    one.add_argument("--no-track", dest="certify", action="store_false", help="skip certificates")
    _add_seed(one)
    _add_output(one)
    _add_verbose(one)
    group = one.add_argument_group("reading the table")
    group.add_argument(
        "--outcome",
        metavar="COLUMN",
        help="column of outcomes, by name or number (default: outcome, y, label …, or the last)",
    )
    group.add_argument("--without", metavar="COLUMN", action="append", default=[], help="column to ignore (repeatable)")
    group.add_argument("--header", action=BooleanOptionalAction, help="whether a CSV file has a header line")
    group.add_argument("--delimiter", metavar="CHARACTER", help="delimiter of cells (default: detected)")
    group.add_argument(
        "--threads", type=_integer(1), metavar="N", help="number of parser threads (default: one per core)"
    )

    one = verb("forecast", verbs.forecast)
    one.add_argument("source", metavar="SOURCE", help="table with one row per time; - for standard input")
    one.add_argument("-l", "--learner", metavar="LEARNER", help="learner of numbers (default: auto)")
    one.add_argument("--label", metavar="COLUMN", help="column to forecast (default: the target of run)")
    one.add_argument(
        "--horizon", type=_integer(1), default=12, metavar="H", help="largest number of rows ahead (default: 12)"
    )
    _add_lags(one, 12)
    one.add_argument("--cover", type=_chance, default=0.9, metavar="C", help="coverage of the intervals (default: 0.9)")
    one.add_argument("--next", metavar="FILE", help="table of the rows to come, without the label: forecast them")
    one.add_argument("--save", metavar="FOLDER", help="folder for one model per number of steps")
    one.add_argument("--resume", metavar="FOLDER", help="folder to continue with the rows of SOURCE")
    one.add_argument("--plot", metavar="FILE", help="plot of coverage and error by number of steps (.png or .svg)")
    _add_force(one)
    _add_output(one)

    one = verb("bandit", verbs.bandit)
    one.add_argument(
        "log", metavar="LOG | LEARNER", help="log file, or - for standard input; or a learner to play on TABLE"
    )
    table = "table of losses, one column per arm: a file, - or stream:bandit-losses:key=value,…"
    one.add_argument("table", nargs="?", metavar="TABLE", help=table)
    one.add_argument("--plot", metavar="FILE", help="plot of the bounds of arms and policies (.png or .svg)")
    _add_report(one)
    _add_force(one)
    _add_output(one)
    _add_verbose(one)
    group = one.add_argument_group("reading a log")
    for name in ("arm", "loss", "reward", "probability"):
        group.add_argument(
            f"--{name}", metavar="COLUMN", help=f"column of the {name}, by name or number (default: {name})"
        )
    what = "policy to evaluate: column of its probabilities of the logged arm (repeatable)"
    group.add_argument("--policy", metavar="COLUMN", action="append", default=[], help=what)
    group.add_argument("--range", type=_range, metavar="LEAST,MOST", help="range of losses or rewards (default: 0,1)")
    group.add_argument("--arms", type=_integer(1), metavar="K", help="number of arms, if the log may not contain all")
    group.add_argument(
        "--delta", type=_chance, default=0.05, metavar="D", help="probability that the bounds may fail (default: 0.05)"
    )
    group.add_argument("--header", action=BooleanOptionalAction, help="whether a CSV file has a header line")
    group.add_argument("--delimiter", metavar="CHARACTER", help="delimiter of cells (default: detected)")
    group.add_argument("--format", metavar="NAME", help="csv, jsonl, arrow, parquet (default: detected)")
    group.add_argument(
        "--threads", type=_integer(1), metavar="N", help="number of parser threads (default: one per core)"
    )
    group = one.add_argument_group("playing a learner")
    group.add_argument("--rounds", type=_integer(0), metavar="N", help="maximum number of rounds")
    group.add_argument("--save", metavar="FILE", help="checkpoint to write")
    group.add_argument("--save-every", type=_integer(1), metavar="N", help="rounds between two checkpoints")
    _add_resume(one)
    _add_seed(one)
    group = one.add_argument_group("simulating many games")
    games = "number of games on stream:bandit-losses, each with another seed: mean pseudo-regret next to the theorems"
    group.add_argument("--games", type=_integer(1), metavar="N", help=games)
    group.add_argument(
        "--against", metavar="LEARNER", action="append", default=[], help="another learner to simulate (repeatable)"
    )

    one = verb("backup", verbs.backup)
    one.add_argument("directory", metavar="DIR", help="directory of the models")
    one.add_argument("to", metavar="TO", help="folder to write the backup to; must not exist")
    one.add_argument("--token-file", metavar="FILE", help="file of the token of a running service (default: DIR/token)")
    one = verb("restore", verbs.restore)
    one.add_argument("backup", metavar="BACKUP", help="folder of a backup")
    one.add_argument("directory", metavar="DIR", help="directory without any of these models; created if missing")

    one = verb("send", verbs.send)
    _add_source(one)
    one.add_argument("--to", required=True, metavar="URL", help="address of the service, such as http://127.0.0.1:1963")
    one.add_argument(
        "--model", metavar="NAME", help="name of the model, created if missing (default: name of the file)"
    )
    one.add_argument("-l", "--learner", metavar="LEARNER", help=f"learner of a new model: {SPEC}; default: auto")
    one.add_argument(
        "--token-file", metavar="FILE", help="file of the access token (default: the variable NOVIKOFF_TOKEN)"
    )
    one.add_argument("--late", type=_integer(0), default=0, metavar="N", help="delay of labels, in rows (at least N)")
    _add_output(one)

    _add_json(verb("list", verbs.list_names))
    verb("explain", verbs.explain).add_argument(
        "name",
        nargs="+",
        metavar="NAME",
        help="name of a learner, adversary, class, format or theorem (see: novikoff list), or a term",
    )
    one = verb("notes", verbs.notes)
    one.add_argument(
        "words", nargs="*", metavar="WORD", help="a lecture from 0 to 4, errata [NAME], or check [FILE.py]"
    )
    one.add_argument("--run", action="store_true", help="play the command of every item of the lecture")
    one = verb("compile", verbs.compile_ahead)
    one.add_argument("learners", nargs="*", metavar="LEARNER", help=f"{SPEC}; default: all learners")
    one.add_argument("--jobs", type=_integer(1), metavar="N", help="number of processes (default: one per core)")
    verb("completion", verbs.completion).add_argument("shell", choices=("bash", "zsh"), help="shell")
    return whole


def _add_source(verb: ArgumentParser, nargs: str | None = None) -> None:
    where = "file, - for standard input, demo:NAME or stream:NAME:key=value,…"
    verb.add_argument("source", nargs=nargs, metavar="SOURCE", help=where)
    group = verb.add_argument_group("reading the source")
    default = "default: label or target, or class or y in the first column, or else the last"
    group.add_argument("--label", metavar="COLUMN", help=f"column of the label: name, number or key ({default})")
    group.add_argument("--weight", metavar="COLUMN", help="column of row weights, also fractional; not a feature")
    group.add_argument("--label-weights", metavar="LABEL=N,…", help="row weights by label; or balanced")
    group.add_argument("--positive", metavar="LABEL", help="positive label; all others are negative")
    group.add_argument(
        "--labels", choices=("multiclass",), help="multiclass (default: if the first rows have 3 or more labels)"
    )
    group.add_argument("--header", action=BooleanOptionalAction, help="whether a CSV file has a header line")
    formats = ", ".join(name for name, entry in CATALOG.items() if entry.room == "format")
    group.add_argument("--format", metavar="NAME", help=f"{formats} (default: detected)")
    group.add_argument(
        "--bits",
        type=_integer(1, 28),
        metavar="N",
        help="bits of the feature hash (default: 18, or those of the saved model)",
    )
    group.add_argument(
        "--presence", action="store_true", default=None, help="count each word of a text once: present or absent"
    )
    group.add_argument("--encoding", metavar="NAME", help="encoding of a table, such as cp1252 (default: detected)")
    group.add_argument(
        "--missing", metavar="TEXT,…", help="further cells that mean a missing value, such as unknown,-999"
    )
    group.add_argument(
        "--date-format", metavar="FORMAT", help="format of dates, such as %%d/%%m/%%Y (default: detected)"
    )
    group.add_argument("--skip-bad", type=_integer(0), metavar="N", help="maximum number of malformed lines to skip")
    group.add_argument("--ignore-weights", action="store_true", default=None, help="ignore importance weights (vw)")
    group.add_argument(
        "--threads", type=_integer(1), metavar="N", help="number of parser threads (default: one per core)"
    )
    what = {
        "columns": "feature columns of a table (default: all but the label)",
        "drop": "columns to ignore",
        "number": "columns to read as numbers",
        "category": "columns to read as categories",
        "text": "columns to read as text, word by word",
        "time": "columns to read as dates",
    }
    for kind, help in what.items():
        group.add_argument(f"--{kind}", metavar="COL,…", action="append", help=help)


def _add_delta(verb: ArgumentParser) -> None:
    what = "probability that the bound on the error rate may fail (default: 0.05)"
    verb.add_argument("--delta", type=_chance, default=0.05, metavar="D", help=what)


def _add_thresholds(verb: ArgumentParser) -> None:
    group = verb.add_argument_group("threshold of positive predictions, saved with the model")
    group.add_argument(
        "--costs", metavar="FP=N,FN=N", help="threshold of least cost, such as FP=1,FN=5: a missed positive costs 5"
    )
    group.add_argument("--precision", type=_number, metavar="P", help="threshold with this precision and most recall")
    group.add_argument("--recall", type=_number, metavar="R", help="threshold with this recall and most precision")
    group.add_argument("--threshold", type=_number, metavar="T", help="this threshold: a probability, or a score")
    group.add_argument("--thresholds", action="store_true", help="table of precision and recall by threshold")


def _add_on(verb: ArgumentParser) -> None:
    verb.add_argument(
        "--on", default="threads", metavar="WHERE", help="threads (default), ray, or the address of a cluster"
    )


def _add_scaling(verb: ArgumentParser) -> None:
    what = "feature scaling: standard, range or none (default: auto, which is standard for tables)"
    verb.add_argument("--scale", choices=("auto", "standard", "range", "none"), metavar="HOW", help=what)
    verb.add_argument("--normalize", action="store_true", help="scale each row to length 1, after --scale")


def _add_task(verb: ArgumentParser) -> None:
    what = "predict labels, numbers, or whole numbers from 0 (default: decided from the first rows)"
    verb.add_argument("--task", choices=("classify", "regress", "count"), help=what)


def _add_lags(verb: ArgumentParser, lags: int | None = None) -> None:
    default = "" if lags is None else f" (default: {lags})"
    verb.add_argument(
        "--lags", type=_integer(1), default=lags, metavar="K", help=f"labels of K earlier rows as features{default}"
    )
    verb.add_argument("--lag-columns", metavar="COL,…", action="append", help="columns that have lags too")
    verb.add_argument("--by", metavar="COLUMN", help="groups: lags within them, and a learner for each")


def _add_resume(verb: ArgumentParser) -> None:
    verb.add_argument("--resume", metavar="FILE", help="checkpoint to resume")
    verb.add_argument("--same", action="store_true", help="with --resume: continue where the same source stopped")
    verb.add_argument("--again", action="store_true", help="with --resume: read the source from its beginning")


def _add_force(verb: ArgumentParser) -> None:
    verb.add_argument("--force", action="store_true", help="overwrite files of another kind")


def _add_seed(verb: ArgumentParser) -> None:
    verb.add_argument("--seed", type=_integer(), metavar="N", help="random seed of the learner")


def _add_json(verb: ArgumentParser) -> None:
    verb.add_argument("--json", dest="as_json", action="store_true", help="JSON output")


def _add_output(verb: ArgumentParser) -> None:
    _add_json(verb)
    verb.add_argument("-q", "--quiet", action="store_true", help="no notes or progress on standard error")


def _add_report(verb: ArgumentParser) -> None:
    verb.add_argument("--report", metavar="FILE", help="HTML report to write")


def _add_trace(verb: ArgumentParser) -> None:
    verb.add_argument("--plot", metavar="FILE", help="plot of mistakes and bound over time (.png or .svg)")
    verb.add_argument(
        "--chart",
        choices=("game", "proof", "thresholds"),
        default="game",
        help="what --plot draws: the game, the inequalities of the proof on this run, or precision and recall by "
        "threshold (default: game)",
    )
    verb.add_argument(
        "--trace",
        nargs="?",
        const="-",
        metavar="FILE",
        help="table of the rounds with the potentials of the proof (.csv or .jsonl; default: print a part of it)",
    )


def _add_proof(verb: ArgumentParser) -> None:
    verb.add_argument("--proof", metavar="FILE", help="proof of the certificates, for novikoff verify (.json)")
    verb.add_argument(
        "--proof-rows", metavar="FILE", help="rows as the learner played them, for novikoff verify (.rows)"
    )


def _add_verbose(verb: ArgumentParser) -> None:
    verb.add_argument(
        "-v", "--verbose", action="store_true", help="all certificates, with the quantities they are computed from"
    )


def _integer(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Return a converter to an integer within these limits."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"must be an integer: got {text!r}") from None
        if (least is not None and value < least) or (most is not None and value > most):
            limits = f"at least {least}" if most is None else f"{least} to {most}"
            raise ArgumentTypeError(f"must be {limits}: got {value}")
        return value

    return number


def _between(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal()):
        raise ArgumentTypeError(f"must be two rounds, such as 1001:2000: got {text!r}")
    return int(first), int(last)


def _chance(text: str) -> float:
    """Convert to a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number: got {text!r}") from None
    if not 0.0 < value < 1.0:
        raise ArgumentTypeError(f"must be between 0 and 1: got {value}")
    return value


def _number(text: str) -> float:
    """Convert to a number."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number: got {text!r}") from None


def _range(text: str) -> tuple[float, float]:
    """Convert to two numbers, the smallest and the largest."""
    try:
        least, most = map(float, text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"must be two numbers, LEAST,MOST: got {text!r}") from None
    return least, most


EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("demo", "demo --write example"),
    "run": (
        "run mail.csv                                     # auto: nothing to tune",
        "run perceptron:bias=1 mail.svm --save m.nk       # write a checkpoint",
        "run --resume m.nk mail.svm --save m.nk           # resume it",
        "run logistic mail.csv --finalize best            # one classifier, error rate bounded",
        "run mail.csv --costs FP=1,FN=5 --save m.nk         # a missed positive costs five times as much",
        "run mail.csv --cover 0.9 --report page.html      # prediction sets; HTML report",
        "run perceptron mail.csv --trace --plot p.png --chart proof  # the proof, round by round",
        "run perceptron mail.csv --proof mail.json --proof-rows mail.rows  # for novikoff verify",
    ),
    "report": (
        "report model.nk                                 # writes report.html",
        "report before.nk after.nk -o change.html        # two runs: before and after, reference and current",
    ),
    "compare": ("compare mail.csv -l perceptron -l auto --shuffles 20 --plot rates.png",),
    "predict": (
        "predict m.nk new.csv --scores",
        "predict final.nk new.csv --no-label",
        "predict m.nk new.csv --no-label --id customer --probabilities -o predictions.csv",
    ),
    "columns": ("columns mail.csv", "columns mail.csv --category zip --drop id"),
    "convert": ("convert big.svm big.arrow",),
    "export": ("export m.nk model.json", "export m.nk model.onnx"),
    "arena": ("arena", "arena --port 8000 --no-browser"),
    "duel": (
        "duel threshold-halving:n=1000 grid-bisection:n=1000 --rounds 40",
        "duel midpoint bisection --rounds 60",
        "duel threshold-halving:n=1000 grid-bisection:n=1000 --rounds 12 --trace",
    ),
    "experts": (
        "experts forecasts.csv --loss squared",
        "experts forecasts.csv -l ada-hedge --plot regret.png",
        "experts losses.csv --loss table --switches 3 --horizon 10000",
    ),
    "forecast": (
        "forecast sales.csv --horizon 7 --lags 14 --by shop",
        "forecast sales.csv --horizon 7 --next week.csv   # forecasts of the rows to come",
    ),
    "bandit": (
        "bandit log.csv --policy candidate                # evaluate other policies on a log",
        "bandit exp3-ix stream:bandit-losses:gap=0.1      # a learner on a table of losses",
        "bandit ucb1 stream:bandit-losses:means=[0.2,0.5] --games 1000   # pseudo-regret over many games",
    ),
    "parallel-perceptron": (
        "parallel-perceptron 'part-*.svm' --held 1         # files as shards, one held out",
        "parallel-perceptron big.svm --shards 100 --on ray # on a cluster",
    ),
    "serve": ("serve --dir models", "serve --dir models --port 8000 --token-file token"),
    "backup": ("backup models /mnt/backups/monday",),
    "restore": ("restore /mnt/backups/monday models",),
    "verify": (
        "verify mail.json mail.rows                       # sums and mistakes, recomputed from the rows",
        "verify mail.json                                 # the arithmetic alone",
    ),
    "send": ("send mail.csv --to http://127.0.0.1:1963 --token-file models/token",),
    "compile": ("compile", "compile auto perceptron"),
    "completion": ("completion bash > ~/.local/share/bash-completion/completions/novikoff",),
    "list": ("list", "list --json"),
    "notes": ("notes", "notes 1 --run", "notes errata rate-without-root", "notes check solution.py"),
    "explain": ("explain perceptron", "explain perceptron_margin", "explain version space"),
}
"""Examples of each verb, without `novikoff`."""


def examples_of(verb: str) -> str | None:
    """Return the examples of a verb, one per line."""
    if verb not in EXAMPLES:
        return None
    return "examples:\n" + "\n".join(f"  novikoff {one}" for one in EXAMPLES[verb])
