"""Run the benchmarks named, or all; options after the names are for those."""

import importlib
import itertools
import pathlib
import sys

here = pathlib.Path(__file__).parent
HELPERS = ("__init__", "__main__", "made", "timing")
given = list(itertools.takewhile(lambda argument: not argument.startswith("-"), sys.argv[1:]))
options = sys.argv[1 + len(given) :]
names = given or sorted(file.stem for file in here.glob("*.py") if file.stem not in HELPERS)
for name in names:
    print(f"== {name}", flush=True)
    sys.argv = [name, *options]
    importlib.import_module(f"benchmarks.{name}").main()
    print(flush=True)
