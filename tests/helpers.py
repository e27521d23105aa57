"""What many tests need: the command line in this process, states compared to the bit, rows without their zeros."""

import io
import itertools
import os
import pickle
import re
import time
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from threading import Thread
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings

from novikoff.cli.main import main
from novikoff.core.executors import Executor
from novikoff.core.types import Sparse

COMPILING = "novikoff: compiling (first run only)\n"
"""Said or not, by what was compiled before: no test may depend on it."""


def first_of(count):
    """The number 0 for a parameter; in `make test-all` also those up to `count`."""
    return [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, count))]


def one_in(every, values, first=0):
    """Values for a parameter, one in `every` from number `first` on; in `make test-all` also the others."""
    return [pytest.param(value, marks=[] if number % every == first else [pytest.mark.slow])
            for number, value in enumerate(values)]  # fmt: skip


def tries(most):
    """How many examples hypothesis tries: a third of them in a short run."""
    return most if settings.default.max_examples > 100 else most // 3


def drive(test, errors):
    """Show a drift test the errors of each block: errors[t] is that of round t + 1, of the snapshot at hand."""
    at = test.first
    while at < len(errors):
        test.refresh()
        block = errors[at : min(test.next_snapshot, len(errors))]
        test.see(block)
        at += len(block)
    return test


def some(every, **values):
    """Combinations of these values for parameters, in a short run one in `every`; in `make test-all` the others too.

    Each value occurs in a short run, if all parameters have at least `every` values.
    """
    combinations = []
    for chosen in itertools.product(*map(enumerate, values.values())):
        slow = sum(number for number, _ in chosen) % every > 0
        combinations.append(pytest.param(*(value for _, value in chosen), marks=[pytest.mark.slow] if slow else []))
    return pytest.mark.parametrize(tuple(values), combinations)


def drawing(make, arms, losses):
    """The bandit whose coins draw these arms, if they cost so much: `make` is given seeds."""
    for seed in range(5000):
        learner = make(seed)
        for arm, loss in zip(arms, losses, strict=True):
            if learner.predict_one() != arm:
                break
            learner.learn_one(None, loss)
        else:
            return make(seed)
    raise AssertionError("no seed draws these arms")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def novikoff(*arguments, input="", cwd="."):
    """The command line without a process of its own: exit code, standard output, standard error."""
    out, error = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(error), typed(input):
        code = main([*map(str, arguments)])
    return Done(code, out.getvalue(), error.getvalue().replace(COMPILING, ""))


@contextmanager
def typed(given):
    """A pipe with this text or these bytes as standard input."""
    reading, writing = os.pipe()

    def write():
        with suppress(BrokenPipeError), open(writing, "wb") as pipe:  # who is refused reads nothing
            pipe.write(given.encode() if isinstance(given, str) else given)

    writer = Thread(target=write)
    writer.start()
    with open(reading) as pipe, patch("sys.stdin", pipe):
        yield
    writer.join()


def same(one: Any, two: Any) -> bool:
    """Are two states equal to the bit, with types and arrays?"""
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        alike = type(one) is type(two) and one.dtype == two.dtype
        return alike and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    return type(one) is type(two) and one == two


def bits(state: Any) -> Any:
    """Return plain data in a form that is equal only if it is the same to the bit."""
    if isinstance(state, np.ndarray):
        return state.dtype.str, state.shape, state.tobytes()
    if isinstance(state, dict):
        return {key: bits(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [bits(value) for value in state]
    return repr(state)  # tells -0.0 from 0.0, and NaN is NaN


def sparse(rows):
    """The rows of a matrix, as its nonzero values."""
    x = np.asarray(rows, dtype=np.float64)
    where, places = np.nonzero(x)
    ends = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(x)))]).astype(np.uint64)
    return Sparse(ends, places.astype(np.uint32), x[where, places], x.shape[1])


def csr(rows, width=None):
    """Rows given as {index: value}."""
    ends = np.cumsum([0] + [len(row) for row in rows]).astype(np.uint64)
    indices = np.array([i for row in rows for i in row], dtype=np.uint32)
    values = np.array([v for row in rows for v in row.values()], dtype=np.float64)
    return Sparse(ends, indices, values, max(map(max, filter(None, rows)), default=-1) + 1 if width is None else width)


def soon(holds, seconds=60.0):
    """Does it hold within so many seconds?"""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def without_times(text):
    """Mask durations: `0.01 s (12,345 rows per second)` at the end of a line, and a column of seconds."""
    text = re.sub(r"(?:(?<=, )|(?<= in ))[\d.]+ s( \([\d,]+ rows per second\))?$", "TIME", text, flags=re.MULTILINE)
    lines = text.splitlines()
    for head, line in enumerate(lines):
        if "  seconds  " in line:  # in each line below, between the column before and the word's end
            end = line.index("  seconds  ") + len("  seconds")
            start, width = len(line[: end - len("seconds")].rstrip()), len("  seconds")
            lines[head] = f"{line[:start]}{'seconds':>{width}}{line[end:]}"
            for k in range(head + 1, len(lines)):
                one = lines[k]
                if re.fullmatch(r" +[\d.]+", one[start:end]):
                    lines[k] = f"{one[:start]}{'TIME':>{width}}{one[end:]}"
    return "\n".join(lines)


class Sent(Executor):
    """As Ray does it: whatever a task is given is sent, and nothing comes back but results."""

    tasks = 0

    def map(self, function, items, *shared, progress=None):
        self.tasks = len(items)
        packed = [pickle.dumps((item, *shared)) for item in items]
        return [pickle.loads(pickle.dumps(function(lambda: False, *pickle.loads(one)))) for one in packed]
