"""The command `novikoff`. Exit codes: 0 success, 2 bad usage or input, 4 violated certificate, 130 Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TextIO, cast

from novikoff import numerics
from novikoff.cli import verbs
from novikoff.cli.output import Tolerant, flag, silence
from novikoff.cli.parser import parser
from novikoff.core.errors import NovikoffError
from novikoff.core.registry import names
from novikoff.numerics import clock


def _announce_compiling() -> None:
    print("novikoff: compiling (first run only)", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; a NovikoffError becomes one line on standard error and code 2.

    Args:
        arguments: Arguments after `novikoff`; by default those of the process, which is then configured for speed.
    """
    if arguments is None:
        _set_up()
    words = sys.argv[1:] if arguments is None else list(arguments)
    whole = parser()
    if not words:
        whole.print_help()
        return 2
    try:
        if _is_source(words[0]) and words[0] not in whole.verbs():
            whole.error(f"missing verb before the source {words[0]}. Try: novikoff run {words[0]}")
        args, rest = whole.parse_known_args(words)
        if args.act is verbs.run:
            _find_source(args, rest)
        if args.act is verbs.bandit and args.table is None and rest and not rest[0].startswith("--"):
            args.table = rest.pop(0)
        if rest:
            args.verb.unknown(rest)
    except SystemExit as end:  # argparse has printed the help or an error
        return cast(int, end.code)
    args.command = ("novikoff", *words)
    stderr, on_compiling = sys.stderr, clock.on_compiling
    sys.stderr = cast(TextIO, Tolerant(stderr))
    code = 0
    if not args.quiet:
        clock.on_compiling = _announce_compiling
    try:
        code = args.act(args)
        sys.stdout.flush()
    except NovikoffError as error:
        print(f"novikoff: {error.told(flag)}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("novikoff: stopped by Ctrl-C", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader of the output is gone; Python must not write at exit either
        silence(sys.stdout)
    finally:
        if arguments is not None:
            sys.stderr, clock.on_compiling = stderr, on_compiling
    if arguments is None:
        gc.freeze()  # the process ends: a last collection would be wasted time
    return code


def _find_source(args: Namespace, rest: list[str]) -> None:
    """Find learner and source of `run`: the source is the last argument, a learner may precede it."""
    if args.source is None and rest and (rest[0] == "-" or not rest[0].startswith("-")):
        args.source = rest.pop(0)  # the source after options, where argparse does not look for it
    if args.source is None:
        args.learner, args.source = None, args.learner
    if args.learner is not None and _is_model(args.learner):
        continues = f"novikoff run {args.source} --resume {args.learner}"
        args.verb.error(f"expected a learner, got the model file {args.learner}. To resume it: {continues}")
    if args.source is not None and _is_model(args.source):
        args.verb.error(
            f"expected a source, got the model file {args.source}. To resume it: novikoff run SOURCE --resume "
            f"{args.source}. To predict: novikoff predict {args.source} SOURCE"
        )
    name = (args.source or "").partition(":")[0]
    first = (args.learner or "").partition(":")[0]
    if first and first not in names("learner") and name in names("learner") and not os.path.exists(args.source):
        args.verb.error(f"the learner comes before the source. Try: novikoff run {args.source} {args.learner}")
    if not name or (args.learner in (None, "auto") and not os.path.exists(args.source) and name in names("learner")):
        args.verb.error("the following arguments are required: SOURCE")


def _is_model(word: str) -> bool:
    """Return whether the word is a model file."""
    if not os.path.isfile(word):
        return False
    from zipfile import is_zipfile  # imported here: it takes a tenth of the start of a process

    if not is_zipfile(word):
        return False
    from novikoff.game.persistence import is_model

    return is_model(word)


def _is_source(word: str) -> bool:
    """Return whether the word is a file or a named source."""
    return os.path.isfile(word) or word.startswith(("demo:", "stream:"))


def _set_up() -> None:
    """Configure the process for the command line."""
    numerics.spare_foreign = True
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its idle threads spin, and slow the parser threads down
    gc.set_threshold(50_000)  # imports create many objects and no garbage
    sys.set_int_max_str_digits(0)  # grids may have 10**5000 points, and the number is printed


if __name__ == "__main__":
    sys.exit(main())
