"""`novikoff`: one command a verb. Exit codes: 0 done, 2 bad usage or input, 4 a certificate was violated."""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO, cast

from novikoff import __version__, kernels
from novikoff.cli.flags import flag
from novikoff.cli.output import Tolerant, silence
from novikoff.errors import NovikoffError, counted
from novikoff.kernels import clock
from novikoff.registry import names

SPEC = "name or name:key=value,… (see: novikoff list)"
METHODS = ("best", "random", "voted", "averaged", "last")
KINDS = ("columns", "drop", "number", "category", "text", "time")
READING = ("label", "weight", "positive", "header", "format", "bits", "skip_bad", "ignore_weights", "threads", *KINDS)
"""The options that go to the reader, by their names there."""


class Parser(ArgumentParser):
    """argparse's, but with one line for an error."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        self.exit(2, f"{self.prog}: {message}. See: {self.prog} --help\n")

    def unknown(self, words: list[str]) -> NoReturn:
        """Refuse words that mean nothing here, and name options that look like the first."""
        from difflib import get_close_matches

        close = get_close_matches(words[0], [name for name in self._option_string_actions if name.startswith("--")], 1)
        self.error(f"{' '.join(words)!r} means nothing here" + (f" ({close[0]}?)" if close else ""))


def demo(asked: Namespace) -> int:
    """A tour with no files: a few games and their certificates."""
    from novikoff.cli.demo import tour

    return tour()


def run(asked: Namespace) -> int:
    """Play a learner on a source of labelled examples, and certify it."""
    from novikoff.cli.games import Choice, Telling, run_source
    from novikoff.cli.saving import Saving

    defaults = {"seed": asked.seed, "normalize": asked.normalize or None, "scale": asked.scale}
    saving = Saving(asked.save, asked.save_every, asked.resume, asked.force, asked.same, asked.again)
    telling = Telling(
        asked.json,
        asked.quiet,
        not asked.no_certify,
        asked.hindsight,
        asked.plot,
        asked.force,
        asked.verbose,
        asked.permutation,
        asked.between,
    )
    choice = Choice(asked.keep, asked.candidates, asked.delta) if asked.keep else None
    if asked.cover is not None:
        defaults["cover"] = asked.cover
    rounds = (asked.passes, asked.rounds)
    return run_source(asked.learner, asked.source, _reading(asked), defaults, rounds, saving, telling, choice)


def compare(asked: Namespace) -> int:
    """Play several learners on the same source, and on the same shuffles of it: mean, deviation, time."""
    from novikoff.cli.comparison import Asked, compare_source
    from novikoff.cli.games import Telling

    wanted = Asked(asked.shuffles, asked.seed or 0, asked.passes, asked.rounds, asked.jobs)
    defaults = {"normalize": asked.normalize or None, "scale": asked.scale}
    telling = Telling(asked.json, asked.quiet, plot=asked.plot, force=asked.force)
    return compare_source(asked.source, asked.learners, _reading(asked), defaults, wanted, telling, asked.plot)


def predict(asked: Namespace) -> int:
    """Print what a saved learner says of each example of a source; it learns nothing."""
    from novikoff.cli.predictions import predict_source

    reading = _reading(asked)
    if reading["weight"] is not None:  # each row is predicted once, whatever it weighs
        reading["drop"] = [*(reading["drop"] or ()), reading["weight"]]
        reading["weight"] = None
    return predict_source(asked.model, asked.source, reading, asked.json, not asked.no_label, asked.scores)


def convert(asked: Namespace) -> int:
    """Write a source as an Arrow file: later runs map it into memory instead of parsing it."""
    from novikoff.cli.games import open_source, say_notes
    from novikoff.sources.convert import check_place
    from novikoff.sources.convert import convert as write

    check_place(asked.destination, asked.force)
    source = open_source(asked.source, _reading(asked))
    rows = write(source, asked.destination, force=asked.force)
    say_notes(source, silent=False)
    print(f"{counted(rows, 'row')} written to {asked.destination}")
    return 0


def columns(asked: Namespace) -> int:
    """Tell what the columns of a table are taken for: one line each, with its first value."""
    from novikoff.cli.games import describe, open_source

    for line in describe(open_source(asked.source, _reading(asked))):
        print(line)
    return 0


def duel(asked: Namespace) -> int:
    """Play a learner against an environment that answers back: what it promised, what was forced."""
    from novikoff.cli.games import Telling, run_duel

    return run_duel(
        asked.learner,
        asked.adversary,
        asked.rounds,
        asked.seed,
        Telling(asked.json, asked.quiet, verbose=asked.verbose),
    )


def experts(asked: Namespace) -> int:
    """Combine the columns of a table of predictions, and certify the regret against the best of them."""
    from novikoff.cli.experts import Asked, run_experts
    from novikoff.cli.games import Telling
    from novikoff.cli.saving import Saving

    reading = {name: getattr(asked, name) for name in ("outcome", "without", "header", "delimiter", "threads")}
    wanted = Asked(
        asked.learner, asked.loss, asked.switches, asked.horizon, asked.sleeping, asked.seed, asked.rounds
    )  # fmt: skip
    saving = Saving(asked.save, asked.save_every, asked.resume, asked.force, asked.same, asked.again)
    telling = Telling(asked.json, asked.quiet, not asked.no_certify, plot=asked.plot, force=asked.force,
                      verbose=asked.verbose)  # fmt: skip
    return run_experts(asked.table, reading, wanted, saving, telling)


def bandit(asked: Namespace) -> int:
    """Certify a log of arms, losses and probabilities; or play a bandit on a table of losses."""
    from novikoff.cli.bandits import Asked, refuse, run_bandit, run_log
    from novikoff.cli.games import Telling
    from novikoff.cli.saving import Saving

    reading = {name: getattr(asked, name) for name in ("header", "delimiter", "format", "threads")}
    telling = Telling(asked.json, asked.quiet, plot=asked.plot, force=asked.force, verbose=asked.verbose)
    columns = {name: getattr(asked, name) for name in ("arm", "loss", "reward", "probability", "range", "arms")}
    if asked.table is None and asked.resume is None:
        refuse("a learner that is played", {name: getattr(asked, name) for name in ("rounds", "save", "seed")})
        return run_log(asked.log, {**columns, "policies": asked.policy, "delta": asked.delta}, reading, telling)
    refuse("a log", {**columns, "policy": asked.policy})
    learner, source = (None, asked.log) if asked.table is None else (asked.log, asked.table)
    wanted = Asked(learner, source, asked.rounds, asked.seed)
    saving = Saving(asked.save, asked.save_every, asked.resume, asked.force, asked.same, asked.again)
    return run_bandit(wanted, reading, saving, telling)


def list_names(asked: Namespace) -> int:
    """Name the learners, adversaries, classes and embedded sources there are."""
    from novikoff.cli.names import list_all

    list_all(asked.json)
    return 0


def explain(asked: Namespace) -> int:
    """Tell what a name means: algorithm, theorem with its proof idea, cost, reference."""
    from novikoff.report.explanation import explain as explanation

    print(explanation(asked.name), end="")
    return 0


def parser() -> Parser:
    """All verbs and their options."""
    whole = Parser(
        "novikoff", description="Online learning that keeps its word: every run ends with a certificate.",
        epilog="novikoff VERB --help tells the options of a verb.", allow_abbrev=False,
    )  # fmt: skip
    whole.add_argument("--version", action="version", version=f"novikoff {__version__}")
    verbs = whole.add_subparsers(title="verbs", metavar="VERB", required=True)

    def verb(name: str, act: Callable[[Namespace], int]) -> Parser:
        added: Parser = verbs.add_parser(name, help=act.__doc__, description=act.__doc__, allow_abbrev=False)
        added.set_defaults(act=act, verb=added)
        return added

    verb("demo", demo)

    one = verb("run", run)
    one.add_argument("learner", nargs="?", metavar="LEARNER", help=f"{SPEC}; default: auto, or that of --resume")
    _add_source(one, nargs="?")
    one.add_argument("--passes", type=_integer(1), default=1, metavar="N", help="go through the source N times")
    one.add_argument("--rounds", type=_integer(0), metavar="N", help="stop after N rounds")
    _add_scaling(one)
    one.add_argument("--save", metavar="FILE", help="write learner and ledger, or the classifier kept, to this file")
    one.add_argument("--save-every", type=_integer(1), metavar="N", help="save every N rounds too")
    _add_resume(one)
    one.add_argument(
        "--keep",
        choices=METHODS,
        metavar="HOW",
        help=f"keep one classifier, with a limit on its risk: {', '.join(METHODS)}",
    )
    one.add_argument(
        "--candidates",
        type=_integer(1),
        default=50,
        metavar="N",
        help="hypotheses that --keep best compares (default: 50)",
    )
    one.add_argument(
        "--delta",
        type=_chance,
        default=0.05,
        metavar="D",
        help="limits on risk may fail with this chance (default: 0.05)",
    )
    one.add_argument(
        "--cover",
        type=_chance,
        metavar="C",
        help="say a set beside each prediction that holds the outcome in this share of rounds: 0.9, say",
    )
    one.add_argument("--hindsight", action="store_true", help="read the source again for the best comparators")
    one.add_argument("--plot", metavar="FILE", help="draw mistakes and bound against rounds, as .png or .svg")
    one.add_argument("--between", metavar="A:B", type=_between, help="how it did from round A to B (specialists:[…])")
    one.add_argument(
        "--permutation",
        type=_integer(1),
        metavar="N",
        help="play N shuffles too: do the rows become harder than a random order is? (199 if in doubt)",
    )
    _add_force(one)
    one.add_argument("--no-certify", action="store_true", help="no comparators, no certificates")
    _add_seed(one)
    _add_telling(one)
    _add_verbose(one)

    one = verb("compare", compare)
    _add_source(one)
    one.add_argument("-l", "--learner", dest="learners", action="append", required=True, metavar="LEARNER", help=SPEC)
    one.add_argument(
        "--shuffles", type=_integer(0), default=0, metavar="N", help="play N random orders (default: its own)"
    )
    one.add_argument("--passes", type=_integer(1), default=1, metavar="N", help="go through the rows N times")
    one.add_argument("--rounds", type=_integer(1), metavar="N", help="read the first N rows only")
    _add_scaling(one)
    one.add_argument("--jobs", type=_integer(1), metavar="N", help="games at a time (default: one a core)")
    one.add_argument("--plot", metavar="FILE", help="draw the mistake rates, as .png or .svg")
    _add_force(one)
    _add_seed(one)
    _add_telling(one)

    one = verb("predict", predict)
    one.add_argument("model", metavar="MODEL", help="a file that `run --save` wrote")
    _add_source(one)
    one.add_argument("--no-label", action="store_true", help="the source has no labels: all of it is features")
    one.add_argument("--scores", action="store_true", help="the score beside each label, the number whose sign is said")
    _add_json(one)

    _add_source(verb("columns", columns))

    one = verb("convert", convert)
    _add_source(one)
    one.add_argument("destination", metavar="DEST", help="the Arrow file to write")
    _add_force(one)

    one = verb("duel", duel)
    one.add_argument("learner", metavar="LEARNER", help=SPEC)
    one.add_argument("adversary", metavar="ADVERSARY", help=SPEC)
    one.add_argument("--rounds", type=_integer(1), default=1000, metavar="N", help="rounds to play (default: 1000)")
    _add_seed(one)
    _add_telling(one)
    _add_verbose(one)

    one = verb("experts", experts)
    table = "a file, or - for standard input: a column of outcomes, the others an expert's predictions each"
    one.add_argument("table", metavar="TABLE", help=table)
    one.add_argument("-l", "--learner", metavar="LEARNER", help=f"{SPEC}; default: exponential-weights")
    losses = ("zero-one", "absolute", "squared", "log", "table")
    what = "what a prediction costs (default: if the first rows leave no doubt); table: the columns are losses"
    one.add_argument("--loss", choices=losses, metavar="NAME", help=f"{', '.join(losses)}: {what}")
    one.add_argument("--switches", type=_integer(0), metavar="M", help="follow the best sequence with M switches")
    one.add_argument("--horizon", type=_integer(1), metavar="T", help="the rounds there will be, for learners that ask")
    one.add_argument("--sleeping", action="store_true", help="experts may say nothing: empty cells")
    one.add_argument("--rounds", type=_integer(0), metavar="N", help="stop after N rounds")
    one.add_argument("--save", metavar="FILE", help="write learner and ledger to this file")
    one.add_argument("--save-every", type=_integer(1), metavar="N", help="save every N rounds too")
    _add_resume(one)
    one.add_argument("--plot", metavar="FILE", help="draw regret, bound and weights against rounds, as .png or .svg")
    _add_force(one)
    one.add_argument("--no-certify", action="store_true", help="no certificates")
    _add_seed(one)
    _add_telling(one)
    _add_verbose(one)
    group = one.add_argument_group("reading the table")
    group.add_argument("--outcome", metavar="COLUMN", help="name or number (default: outcome, y, label …, or the last)")
    group.add_argument(
        "--without", metavar="COLUMN", action="append", default=[], help="leave a column out (again: more)"
    )
    group.add_argument("--header", action=BooleanOptionalAction, help="does a CSV file begin with names?")
    group.add_argument("--delimiter", metavar="CHARACTER", help="what stands between cells (default: look)")
    group.add_argument("--threads", type=_integer(1), metavar="N", help="threads that parse (default: one a core)")

    one = verb("bandit", bandit)
    one.add_argument("log", metavar="LOG | LEARNER", help="a log, a file or -; or a learner, to be played on a table")
    table = "of losses, a column for each arm: a file, - or stream:bandit-losses:key=value,…"
    one.add_argument("table", nargs="?", metavar="TABLE", help=table)
    one.add_argument("--plot", metavar="FILE", help="draw the limits of arms and policies, as .png or .svg")
    _add_force(one)
    _add_telling(one)
    _add_verbose(one)
    group = one.add_argument_group("reading a log")
    for name in ("arm", "loss", "reward", "probability"):
        group.add_argument(f"--{name}", metavar="COLUMN", help=f"name or number of the {name} (default: by its name)")
    what = "a policy: its probability of the arm that was played (again: more)"
    group.add_argument("--policy", metavar="COLUMN", action="append", default=[], help=what)
    group.add_argument("--range", type=_range, metavar="LEAST,MOST", help="of losses or rewards (default: 0,1)")
    group.add_argument("--arms", type=_integer(1), metavar="K", help="arms to choose from, if the log may not show all")
    group.add_argument(
        "--delta", type=_chance, default=0.05, metavar="D", help="limits may fail with this chance (default: 0.05)"
    )
    group.add_argument("--header", action=BooleanOptionalAction, help="does a CSV file begin with names?")
    group.add_argument("--delimiter", metavar="CHARACTER", help="what stands between cells (default: look)")
    group.add_argument("--format", metavar="NAME", help="csv, jsonl, arrow, parquet (default: look)")
    group.add_argument("--threads", type=_integer(1), metavar="N", help="threads that parse (default: one a core)")
    group = one.add_argument_group("playing a learner")
    group.add_argument("--rounds", type=_integer(0), metavar="N", help="stop after N rounds")
    group.add_argument("--save", metavar="FILE", help="write learner and ledger to this file")
    group.add_argument("--save-every", type=_integer(1), metavar="N", help="save every N rounds too")
    _add_resume(one)
    _add_seed(one)

    _add_json(verb("list", list_names))
    verb("explain", explain).add_argument("name", metavar="NAME", help="a name from: novikoff list")
    return whole


def _find_source(asked: Namespace, rest: list[str]) -> None:
    """Which words of `run` are what: the source is the last, and a learner may stand before it."""
    if asked.source is None and rest and (rest[0] == "-" or not rest[0].startswith("-")):
        asked.source = rest.pop(0)  # after options; argparse looks before them only
    if asked.source is None:
        asked.learner, asked.source = None, asked.learner
    name = (asked.source or "").partition(":")[0]
    if not name or (asked.learner in (None, "auto") and not os.path.exists(asked.source) and name in names("learner")):
        asked.verb.error("the following arguments are required: SOURCE")


def _add_source(verb: ArgumentParser, nargs: str | None = None) -> None:
    where = "a file, - for standard input, demo:NAME or stream:NAME:key=value,…"
    verb.add_argument("source", nargs=nargs, metavar="SOURCE", help=where)
    group = verb.add_argument_group("reading the source")
    group.add_argument("--label", metavar="COLUMN", help="the label: name, number or key (default: the last)")
    group.add_argument(
        "--weight", metavar="COLUMN", help="how often a row of a table counts: a column of whole numbers, no feature"
    )
    group.add_argument("--positive", metavar="LABEL", help="the label that is +1; every other is -1")
    group.add_argument("--header", action=BooleanOptionalAction, help="does a CSV file begin with names?")
    group.add_argument(
        "--format", metavar="NAME", help="csv, svmlight, vw, jsonl, text, arrow, parquet (default: look)"
    )
    group.add_argument("--bits", type=_integer(1, 28), metavar="N", help="bits of the hash of names (default: 18)")
    group.add_argument(
        "--skip-bad", type=_integer(0), metavar="N", help="skip up to N malformed lines, and report them"
    )
    group.add_argument("--ignore-weights", action="store_true", default=None, help="leave out importance weights (vw)")
    group.add_argument("--threads", type=_integer(1), metavar="N", help="threads that parse (default: one a core)")
    what = {
        "columns": "learn from these columns of a table (default: all but the label)",
        "drop": "leave these columns out",
        "number": "these are numbers, whatever they look like",
        "category": "these are categories",
        "text": "these are text, learned word by word",
        "time": "these are dates",
    }
    for kind, told in what.items():
        group.add_argument(f"--{kind}", metavar="COL,…", action="append", help=told)


def _add_scaling(verb: ArgumentParser) -> None:
    what = "bring features to one scale: standard, range or none (default: auto, standard for tables)"
    verb.add_argument("--scale", choices=("auto", "standard", "range", "none"), metavar="HOW", help=what)
    verb.add_argument("--normalize", action="store_true", help="divide each example, once scaled, by its length")


def _add_resume(verb: ArgumentParser) -> None:
    verb.add_argument("--resume", metavar="FILE", help="go on with the game in this file")
    verb.add_argument("--same", action="store_true", help="with --resume: the source is the one that was played")
    verb.add_argument("--again", action="store_true", help="with --resume: play the source from its beginning")


def _add_force(verb: ArgumentParser) -> None:
    verb.add_argument("--force", action="store_true", help="let what is written replace files of another kind")


def _add_seed(verb: ArgumentParser) -> None:
    verb.add_argument("--seed", type=_integer(), metavar="N", help="seed of the learner's coins, if it draws")


def _add_json(verb: ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="print one JSON object instead of the report")


def _add_telling(verb: ArgumentParser) -> None:
    _add_json(verb)
    verb.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def _add_verbose(verb: ArgumentParser) -> None:
    verb.add_argument("-v", "--verbose", action="store_true", help="print every certificate, and what it is from")


def _integer(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """What reads a whole number within these limits."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"must be a whole number: got {text!r}") from None
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
    """What reads a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number: got {text!r}") from None
    if not 0.0 < value < 1.0:
        raise ArgumentTypeError(f"must be between 0 and 1: got {value}")
    return value


def _range(text: str) -> tuple[float, float]:
    """What reads two numbers, the least and the largest."""
    try:
        least, most = map(float, text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"must be two numbers, LEAST,MOST: got {text!r}") from None
    return least, most


def _reading(asked: Namespace) -> dict[str, Any]:
    reading = {name: getattr(asked, name) for name in READING}
    return {**reading, **{kind: _columns(reading[kind]) for kind in KINDS}}


def _columns(given: list[str] | None) -> list[str] | None:
    """Columns that were named one by one, or several between commas."""
    return None if given is None else [name for some in given for name in some.split(",") if name]


def _say_compiling() -> None:
    print("novikoff: compiling, once", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; our own errors become one line on standard error and code 2.

    arguments   what stands after `novikoff` (default: what was typed, and the whole process is ours to set up)
    """
    if arguments is None:
        _set_up()
    words = sys.argv[1:] if arguments is None else list(arguments)
    whole = parser()
    if not words:
        whole.print_help()
        return 2
    try:
        asked, rest = whole.parse_known_args(words)
        if asked.act is run:
            _find_source(asked, rest)
        if asked.act is bandit and asked.table is None and rest and not rest[0].startswith("--"):
            asked.table = rest.pop(0)
        if rest:
            asked.verb.unknown(rest)
    except SystemExit as end:  # argparse has printed what was asked, or what is wrong
        return cast(int, end.code)
    heard, told = sys.stderr, clock.on_compiling
    sys.stderr = cast(TextIO, Tolerant(heard))
    code = 0
    if not getattr(asked, "quiet", False):
        clock.on_compiling = _say_compiling
    try:
        code = asked.act(asked)
        sys.stdout.flush()
    except NovikoffError as error:
        print(f"novikoff: {error.told(flag)}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("novikoff: stopped by Ctrl-C", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader of our output is gone; nothing may be written when Python ends
        silence(sys.stdout)
    finally:
        if arguments is not None:
            sys.stderr, clock.on_compiling = heard, told
    if arguments is None:
        gc.freeze()  # all will be gone in a moment: nothing is left to look through
    return code


def _set_up() -> None:
    """What holds for a whole process that does nothing but this."""
    kernels.spare_blas = True
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads spin, and take the cores from those that parse
    gc.set_threshold(50_000)  # imports make many objects and no garbage
    sys.set_int_max_str_digits(0)  # a grid of 10**5000 points is fine, and so is printing it


if __name__ == "__main__":
    sys.exit(main())
