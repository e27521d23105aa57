"""`novikoff`: one command a verb. Exit codes: 0 done, 2 bad usage or input, 4 a certificate was violated."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from novikoff import __version__, kernels
from novikoff.errors import NovikoffError

app = typer.Typer(
    name="novikoff",
    help="Online learning that keeps its word: every run ends with a certificate.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LearnerSpec = Annotated[str, typer.Argument(metavar="LEARNER", help="name or name:key=value,… (see: novikoff list)")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the learner's coins, if it draws.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the report.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


def _version(asked: bool) -> None:
    if asked:
        print(f"novikoff {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """A tour with no files: a few games and their certificates."""
    from novikoff.cli.demo import tour

    raise typer.Exit(tour())


Label = Annotated[str | None, typer.Option(help="The label column: its name or number (default: the last).")]
Positive = Annotated[str | None, typer.Option(help="The label that is +1; every other is -1.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Does a CSV file begin with names?")]
Format = Annotated[str | None, typer.Option("--format", help="csv, svmlight, text, arrow or parquet (default: look).")]
Bits = Annotated[int | None, typer.Option(min=1, max=28, help="Bits of the hash of words in text (default: 18).")]
SkipBad = Annotated[int | None, typer.Option(min=0, help="Skip up to so many malformed lines, and report them.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads that parse (default: one a core).")]
SourceSpec = Annotated[
    str, typer.Argument(metavar="SOURCE", help="a file, - for standard input, demo:NAME or stream:NAME:key=value,…")
]


def _reading(*values: Any) -> dict[str, Any]:
    """The options that go to the reader, by their names there."""
    return dict(zip(("label", "positive", "header", "format", "bits", "skip_bad", "threads"), values, strict=True))


@app.command()
def run(
    learner: LearnerSpec,
    source: SourceSpec,
    passes: Annotated[int, typer.Option(min=1, help="How often to go through the source.")] = 1,
    rounds: Annotated[int | None, typer.Option(min=0, help="Stop after so many rounds.")] = None,
    seed: Seed = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide each example by its length.")] = False,
    label: Label = None,
    positive: Positive = None,
    header: Header = None,
    kind: Format = None,
    bits: Bits = None,
    skip_bad: SkipBad = None,
    threads: Threads = None,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="Write learner and ledger to this file.")] = None,
    save_every: Annotated[int | None, typer.Option(min=1, metavar="N", help="Save every N rounds too.")] = None,
    resume: Annotated[str | None, typer.Option(metavar="FILE", help="Go on with the game in this file.")] = None,
    no_certify: Annotated[bool, typer.Option("--no-certify", help="No comparators, no certificates.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play a learner on a source of labelled examples, and certify it."""
    from novikoff.cli.games import Saving, Telling, run_source

    options = _reading(label, positive, header, kind, bits, skip_bad, threads)
    defaults = {"seed": seed, "normalize": normalize or None}
    saving, telling = Saving(save, save_every, resume), Telling(as_json, quiet, not no_certify)
    raise typer.Exit(run_source(learner, source, options, defaults, passes, rounds, saving, telling))


@app.command()
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="a file that `run --save` wrote")],
    source: SourceSpec,
    label: Label = None,
    positive: Positive = None,
    header: Header = None,
    kind: Format = None,
    bits: Bits = None,
    skip_bad: SkipBad = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Print what a saved learner says of each example of a source; it learns nothing."""
    from novikoff.cli.predictions import predict_source

    options = _reading(label, positive, header, kind, bits, skip_bad, threads)
    raise typer.Exit(predict_source(model, source, options, as_json))


@app.command()
def convert(
    source: SourceSpec,
    destination: Annotated[str, typer.Argument(metavar="DEST", help="the Arrow file to write")],
    label: Label = None,
    positive: Positive = None,
    header: Header = None,
    kind: Format = None,
    bits: Bits = None,
    skip_bad: SkipBad = None,
    threads: Threads = None,
) -> None:
    """Write a source as an Arrow file: later runs map it into memory instead of parsing it."""
    from novikoff.cli.games import open_source
    from novikoff.sources.convert import convert as write

    options = _reading(label, positive, header, kind, bits, skip_bad, threads)
    rows = write(open_source(source, options), destination)
    print(f"{rows:,} rows written to {destination}")


@app.command()
def duel(
    learner: LearnerSpec,
    adversary: Annotated[
        str, typer.Argument(metavar="ADVERSARY", help="name or name:key=value,… (see: novikoff list)")
    ],
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds to play.")] = 1000,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play a learner against an environment that answers back: what it promised, what was forced."""
    from novikoff.cli.games import Telling, run_duel

    raise typer.Exit(run_duel(learner, adversary, rounds, seed, Telling(as_json, quiet)))


@app.command("list")
def list_names(as_json: AsJson = False) -> None:
    """Name the learners, adversaries, classes and embedded sources there are."""
    from novikoff.cli.names import list_all

    list_all(as_json)


@app.command()
def explain(name: Annotated[str, typer.Argument(metavar="NAME", help="a name from: novikoff list")]) -> None:
    """Tell what a name means: algorithm, theorem with its proof idea, cost, reference."""
    from novikoff.report.explanation import explain as explanation

    print(explanation(name), end="")


def main() -> None:
    """Run the command line; our own errors become one line on standard error and exit code 2."""
    kernels.spare_blas = True
    sys.set_int_max_str_digits(0)  # a grid of 10**5000 points is fine, and so is printing it
    try:
        app()
    except NovikoffError as error:
        print(f"novikoff: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
