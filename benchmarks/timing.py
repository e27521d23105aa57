"""Timing of alternated runs, reported as medians of ratios."""

import os
import statistics
import subprocess
import sys
import time

REPEATS = 7


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def process(arguments):
    """Return seconds and peak resident megabytes (without mapped files) of a whole process."""
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=compiled)
    peak = 0.0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as status:
                told = dict(line.split(":", 1) for line in status)
            peak = max(peak, int(told.get("RssAnon", "0").split()[0]) / 1024)
        except (OSError, ValueError, IndexError):
            pass
        try:
            child.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
    if child.returncode:
        sys.exit(f"{arguments} failed with {child.returncode}")
    return time.perf_counter() - start, peak


def alternated(actions, repeats=REPEATS):
    """Return a list of seconds by name; runs alternate, so that a slow moment of the machine affects all."""
    times = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            times[name].append(seconds(action))
    return times


def ratio(slow, fast):
    """Return the median of the ratios of runs in the same turn."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def line(against, what, got, wanted):
    mark = "" if got >= wanted else "   BELOW"
    print(f"{against:<52} {what:<34} {got:>7.2f}x  (at least {wanted:g}x){mark}", flush=True)
