"""Run the benchmarks named, or all."""

import importlib
import pathlib
import sys

here = pathlib.Path(__file__).parent
HELPERS = ("__init__", "__main__", "made", "timing")
names = sys.argv[1:] or sorted(file.stem for file in here.glob("*.py") if file.stem not in HELPERS)
for name in names:
    print(f"== {name}", flush=True)
    sys.argv = [name]
    importlib.import_module(f"benchmarks.{name}").main()
    print(flush=True)
