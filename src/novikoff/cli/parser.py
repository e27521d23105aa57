"""The words of the command line: verbs, their arguments and options, and how each is read."""

from __future__ import annotations

from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Mapping
from typing import NoReturn

from novikoff import __version__
from novikoff.cli import verbs

SPEC = "name or name:key=value,… (see: novikoff list)"
METHODS = ("best", "random", "voted", "averaged", "last")


MEANT = {"--target": ["--label"], "--outcome": ["--label"], "--response": ["--label"], "--weights": ["--weight"]}
"""Options of other tools, and what they are called here."""


class Parser(ArgumentParser):
    """argparse's, but with one line for an error."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        self.exit(2, f"{self.prog}: {message}. See: {self.prog} --help\n")

    def unknown(self, words: list[str]) -> NoReturn:
        """Refuse words that mean nothing here, and name options that look like the first."""
        from difflib import get_close_matches

        options = [name for name in self._option_string_actions if name.startswith("--")]
        close = [name for name in MEANT.get(words[0].partition("=")[0], ()) if name in options]
        close = close or get_close_matches(words[0], options, 1)
        self.error(f"{' '.join(words)!r} means nothing here" + (f" ({close[0]}?)" if close else ""))

    def verbs(self) -> list[str]:
        """The verbs there are."""
        return [name for action in self._actions if isinstance(action.choices, dict) for name in action.choices]


def parser() -> Parser:
    """All verbs and their options."""
    whole = Parser(
        "novikoff", description="Online learning that keeps its word: every run ends with a certificate.",
        epilog="novikoff VERB --help tells the options of a verb.", allow_abbrev=False,
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

    verb("demo", verbs.demo)

    one = verb("run", verbs.run)
    one.add_argument("learner", nargs="?", metavar="LEARNER", help=f"{SPEC}; default: auto, or that of --resume")
    _add_source(one, nargs="?")
    one.add_argument("--passes", type=_integer(1), default=1, metavar="N", help="go through the source N times")
    one.add_argument("--rounds", type=_integer(0), metavar="N", help="stop after N rounds")
    _add_scaling(one)
    one.add_argument("--save", metavar="FILE", help="write learner and ledger, or the classifier kept, to this file")
    one.add_argument("--save-every", type=_integer(1), metavar="N", help="save every N rounds too")
    one.add_argument(
        "--without-rows",
        action="store_true",
        help="leave training rows out of the file: it predicts the same, and goes on with new comparators",
    )
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
    _add_delta(one)
    one.add_argument(
        "--cover",
        type=_chance,
        metavar="C",
        help="say a set beside each prediction that holds the outcome in this share of rounds: 0.9, say",
    )
    one.add_argument("--hindsight", action="store_true", help="read the source again for the best comparators")
    one.add_argument("--plot", metavar="FILE", help="draw mistakes and bound against rounds, as .png or .svg")
    _add_report(one)
    one.add_argument("--live", action="store_true", help="show the curve in the browser while it plays")
    one.add_argument("--between", metavar="A:B", type=_between, help="how it did from round A to B (auto:drift=true)")
    one.add_argument(
        "--permutation",
        dest="permutations",
        type=_integer(1),
        metavar="N",
        help="play N shuffles too: do the rows become harder than a random order is? (199 if in doubt)",
    )
    _add_force(one)
    one.add_argument("--no-certify", dest="certify", action="store_false", help="no comparators, no certificates")
    _add_seed(one)
    _add_telling(one)
    _add_verbose(one)

    one = verb("compare", verbs.compare)
    _add_source(one)
    one.add_argument("-l", "--learner", dest="learners", action="append", required=True, metavar="LEARNER", help=SPEC)
    one.add_argument(
        "--shuffles", type=_integer(0), default=0, metavar="N", help="play N random orders (default: its own)"
    )
    one.add_argument("--passes", type=_integer(1), default=1, metavar="N", help="go through the rows N times")
    one.add_argument("--rounds", type=_integer(1), metavar="N", help="read the first N rows only")
    _add_scaling(one)
    one.add_argument("--jobs", type=_integer(1), metavar="N", help="games at a time (default: one a core)")
    _add_on(one)
    one.add_argument("--plot", metavar="FILE", help="draw the mistake rates, as .png or .svg")
    _add_report(one)
    _add_force(one)
    _add_seed(one)
    _add_telling(one)

    one = verb("mix", verbs.mix)
    _add_source(one)
    one.add_argument("--shards", type=_integer(1), default=8, metavar="N", help="parts that learn at once (default: 8)")
    one.add_argument("--epochs", type=_integer(1), default=10, metavar="N", help="passes, at most (default: 10)")
    one.add_argument(
        "--weights", choices=("uniform", "mistakes"), default="uniform", help="how parts are mixed (default: uniform)"
    )
    one.add_argument("--bias", type=float, default=0.0, metavar="C", help="add a constant feature of value C")
    one.add_argument("--normalize", action="store_true", help="divide each example by its length")
    one.add_argument(
        "--held",
        type=_integer(0),
        default=0,
        metavar="N",
        help="hold back N more parts, to limit the risk of what is kept",
    )
    _add_delta(one)
    _add_on(one)
    one.add_argument("--save", metavar="FILE", help="write what there is to this file after each epoch")
    one.add_argument("--resume", metavar="FILE", help="go on with the run in this file, if it is there")
    _add_force(one)
    _add_telling(one)
    _add_verbose(one)

    one = verb("predict", verbs.predict)
    one.add_argument("model", metavar="MODEL", help="a file that `run --save` wrote")
    _add_source(one)
    one.add_argument("--no-label", action="store_true", help="the source has no labels: all of it is features")
    one.add_argument("--scores", action="store_true", help="the score beside each label, the number whose sign is said")
    _add_report(one)
    _add_force(one)
    _add_json(one)

    one = verb("columns", verbs.columns)
    _add_source(one)
    _add_json(one)

    one = verb("convert", verbs.convert)
    _add_source(one)
    one.add_argument("destination", metavar="DEST", help="the Arrow file to write")
    _add_force(one)

    one = verb("arena", verbs.arena)
    one.add_argument("link", nargs="?", metavar="LINK", help="a link of the page, in quotes, to open that game")
    one.add_argument(
        "--port", type=_integer(1, 65535), default=1962, metavar="N", help="where to listen (default: 1962)"
    )
    one.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")

    one = verb("serve", verbs.serve)
    one.add_argument("--dir", required=True, metavar="DIR", help="where the models are; a new directory will do")
    one.add_argument("--host", default="127.0.0.1", metavar="HOST", help="where to listen (default: 127.0.0.1)")
    one.add_argument(
        "--port", type=_integer(0, 65535), default=1963, metavar="N", help="the port (default: 1963; 0: any)"
    )
    one.add_argument("--token-file", metavar="FILE", help="the token (default: DIR/token, made and told once)")
    one.add_argument(
        "--sync",
        choices=("full", "normal"),
        default="full",
        help="full survives a loss of power, normal the death of the process and is faster (default: full)",
    )
    one.add_argument(
        "--snapshot-every",
        type=_integer(1),
        default=50_000,
        metavar="N",
        help="labels between two snapshots, which save time at a start (default: 50,000)",
    )

    one = verb("duel", verbs.duel)
    one.add_argument("learner", metavar="LEARNER", help=SPEC)
    one.add_argument("adversary", metavar="ADVERSARY", help=SPEC)
    one.add_argument("--rounds", type=_integer(1), default=1000, metavar="N", help="rounds to play (default: 1000)")
    _add_report(one)
    _add_force(one)
    _add_seed(one)
    _add_telling(one)
    _add_verbose(one)

    one = verb("experts", verbs.experts)
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
    _add_report(one)
    _add_force(one)
    one.add_argument("--no-certify", dest="certify", action="store_false", help="no certificates")
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

    one = verb("bandit", verbs.bandit)
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

    one = verb("send", verbs.send)
    _add_source(one)
    one.add_argument("--to", required=True, metavar="URL", help="of the service, such as http://127.0.0.1:1963")
    one.add_argument(
        "--model", metavar="NAME", help="of the model, made if it is not there (default: that of the file)"
    )
    one.add_argument("-l", "--learner", metavar="LEARNER", help=f"of a new model: {SPEC}; default: auto")
    one.add_argument("--token-file", metavar="FILE", help="with the service's token (default: NOVIKOFF_TOKEN is it)")
    one.add_argument(
        "--late", type=_integer(0), default=0, metavar="N", help="send each label N rows after its row, or a few more"
    )
    _add_telling(one)

    _add_json(verb("list", verbs.list_names))
    verb("explain", verbs.explain).add_argument("name", metavar="NAME", help="a name from: novikoff list")
    verb("completion", verbs.completion).add_argument("shell", choices=("bash", "zsh"), help="the shell it is for")
    return whole


def _add_source(verb: ArgumentParser, nargs: str | None = None) -> None:
    where = "a file, - for standard input, demo:NAME or stream:NAME:key=value,…"
    verb.add_argument("source", nargs=nargs, metavar="SOURCE", help=where)
    group = verb.add_argument_group("reading the source")
    default = "default: label or target, or class or y in the first column, or else the last"
    group.add_argument("--label", metavar="COLUMN", help=f"the label: name, number or key ({default})")
    group.add_argument(
        "--weight", metavar="COLUMN", help="how often a row of a table counts: a column of whole numbers, no feature"
    )
    group.add_argument(
        "--label-weights", metavar="LABEL=N,…", help="how often rows of a table count by their label: whole numbers"
    )
    group.add_argument("--positive", metavar="LABEL", help="the label that is +1; every other is -1")
    group.add_argument(
        "--labels", choices=("many",), help="more than two labels, or there may be (default: if the first rows show 3)"
    )
    group.add_argument("--header", action=BooleanOptionalAction, help="does a CSV file begin with names?")
    group.add_argument(
        "--format", metavar="NAME", help="csv, svmlight, vw, jsonl, text, arrow, parquet (default: look)"
    )
    group.add_argument(
        "--bits",
        type=_integer(1, 28),
        metavar="N",
        help="bits of the hash of names (default: 18); of a saved model those it learned with",
    )
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


def _add_delta(verb: ArgumentParser) -> None:
    what = "limits on risk may fail with this chance (default: 0.05)"
    verb.add_argument("--delta", type=_chance, default=0.05, metavar="D", help=what)


def _add_on(verb: ArgumentParser) -> None:
    verb.add_argument("--on", default="threads", metavar="WHERE", help="threads (default), ray, or a cluster's address")


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
    verb.add_argument("--json", dest="as_json", action="store_true", help="print one JSON object instead of the report")


def _add_telling(verb: ArgumentParser) -> None:
    _add_json(verb)
    verb.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def _add_report(verb: ArgumentParser) -> None:
    verb.add_argument("--report", metavar="FILE", help="write a page to read and to send, as .html")


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


EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("demo",),
    "run": (
        "run mail.csv                                     # auto, which has nothing to set",
        "run perceptron:bias=1 mail.svm --save m.nk       # keep learner and ledger",
        "run --resume m.nk mail.svm --save m.nk           # go on after the last save",
        "run logistic mail.csv --keep best --save kept.nk # one classifier, with a limit on its error",
        "run mail.csv --cover 0.9 --report page.html      # sets of labels; a page to read and to send",
    ),
    "compare": ("compare mail.csv -l perceptron -l auto --shuffles 20 --plot rates.png",),
    "predict": ("predict m.nk new.csv --scores", "predict kept.nk new.csv --no-label"),
    "columns": ("columns mail.csv", "columns mail.csv --category zip --drop id"),
    "convert": ("convert big.svm big.arrow",),
    "arena": ("arena", "arena --port 8000 --no-browser"),
    "duel": ("duel threshold-halving:n=1000 grid-bisection:n=1000 --rounds 40", "duel midpoint bisection --rounds 60"),
    "experts": (
        "experts forecasts.csv --loss squared",
        "experts forecasts.csv -l ada-hedge --plot regret.png",
        "experts losses.csv --loss table --switches 3 --horizon 10000",
    ),
    "bandit": (
        "bandit log.csv --policy candidate                # what a log says of other policies",
        "bandit exp3-ix stream:bandit-losses:gap=0.1      # a learner on a table of losses",
    ),
    "mix": (
        "mix 'part-*.svm' --shards 8 --held 1 --save m.nk # files as shards, one held back to limit the error",
        "mix big.svm --shards 100 --on ray                # on a cluster",
    ),
    "serve": ("serve --dir models", "serve --dir models --port 8000 --token-file token"),
    "send": ("send mail.csv --to http://127.0.0.1:1963 --token-file models/token",),
    "completion": ("completion bash > ~/.local/share/bash-completion/completions/novikoff",),
    "list": ("list", "list --json"),
    "explain": ("explain perceptron", "explain perceptron_margin"),
}
"""By verb: each as it is typed after `novikoff`."""


def examples_of(verb: str) -> str | None:
    """The examples of a verb, below each other."""
    if verb not in EXAMPLES:
        return None
    return "examples:\n" + "\n".join(f"  novikoff {one}" for one in EXAMPLES[verb])
