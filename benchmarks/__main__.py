"""Run the named benchmarks, or all of them; options after the names are passed on."""

import ast
import importlib
import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
HELPERS = ("__init__", "__main__", "made", "quality_page", "quality_peers", "quality_streams", "real", "timing")
USAGE = "python -m benchmarks [NAME ...] [OPTION ...]"


def documents():
    """Return the docstring of each benchmark by name, without importing it."""
    files = sorted(file for file in HERE.glob("*.py") if file.stem not in HELPERS)
    return {file.stem: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) for file in files}


def takes_options(name):
    return "import argparse" in (HERE / f"{name}.py").read_text(encoding="utf-8")


def listing(docs):
    widest = max(map(len, docs))
    return "\n".join(f"  {name:<{widest}}  {text.splitlines()[0]}" for name, text in docs.items())


def main(arguments):
    docs = documents()
    given = list(itertools.takewhile(lambda argument: not argument.startswith("-"), arguments))
    options = arguments[len(given) :]
    asks = "-h" in options or "--help" in options
    if asks and not given:
        print(f"{USAGE}\n\n{__doc__} NAME --help lists the options of one.\n\n{listing(docs)}")
        return 0
    unknown = [name for name in given if name not in docs]
    if unknown:
        print(f"unknown benchmark: {', '.join(unknown)}. Available:\n{listing(docs)}", file=sys.stderr)
        return 2
    if options and not given:
        print(
            f"{options[0]} must follow the name of a benchmark: {USAGE}. Available:\n{listing(docs)}", file=sys.stderr
        )
        return 2
    without = [name for name in given if options and not takes_options(name)]
    if without and not asks:
        print(f"{', '.join(without)} takes no options: got {' '.join(options)}.", file=sys.stderr)
        return 2
    for name in given or docs:
        if asks and name in without:
            print(docs[name])
            continue
        print(f"== {name}", flush=True)
        sys.argv = [name, *options]
        importlib.import_module(f"benchmarks.{name}").main()
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
