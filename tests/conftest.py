"""Set up before anything is imported: how many examples hypothesis tries, the cache of compiled loops, one thread for
linear algebra, no garbage collection while tests are collected, two directions to collect them in, and which
combinations are slow.

A short run tries a few examples of each property, the same ones each time: a change is to blame for what fails in it. A
long one (`make test-all`) draws new ones, thirty times as many. What fails is kept in .hypothesis, and tried first from
then on; it belongs into the test as an `@example`.

Compiled loops stay in the cache until a file changes that they depend on (numerics/compiled.py).

Several processes whose matrices are solved by several threads each wait for one another: ten times as long.

Every second process collects the last files first: pytest rewrites the assertions of a file that is new, which takes
most of the time of collecting, and one process finds on disk what another has rewritten.

Modules and tests stay to the end, so garbage collection need not go through them, and it need not run every 700
objects: that took a third of the time of collecting tests, a tenth of compiling and a twentieth of running.
"""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings  # imports no numpy

import compiling

gc.disable()
os.environ.pop("COLUMNS", None)  # set in workers of pytest-xdist: output would be wrapped at the width of the caller
checked = "-bounds" if os.environ.get("NUMBA_BOUNDSCHECK", "0") != "0" else ""  # other code, which needs its own cache
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"novikoff-numba{checked}"))

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
MISSING = "no browser: install one (`make browser`) to test the page"

settings.register_profile("short", max_examples=12, deadline=None, print_blob=True, derandomize=True)
settings.register_profile("long", max_examples=400, deadline=None, print_blob=True)
settings.load_profile("short")


WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if isinstance(collector, pytest.Dir) and int(WORKER.removeprefix("gw") or 0) % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items):
    """Mark most combinations of several parameters as slow: a short run has each value of each parameter."""
    if WORKER:
        items.sort(key=lambda item: item.path)  # the same order in every process
    found = {}
    for item in items:
        left_alone = item.get_closest_marker("slow") or item.get_closest_marker("every_combination")
        if hasattr(item, "callspec") and not left_alone:
            found.setdefault(item.nodeid.partition("[")[0], []).append((item, values_of(item)))
    for combinations in found.values():
        seen, kept = set(), set()
        for needed in (set.__eq__, set.__and__):  # first those of which every value is new, then those with a new one
            for item, values in combinations:
                if needed(values - seen, values):
                    seen |= values
                    kept.add(item)
        for item, _ in combinations:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def values_of(item):
    """The values of a test's parameters; those that are given together are one."""
    together = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [part.replace(" ", "").split(",") if isinstance(part, str) else list(part) for part in together]
    given = [[name] for name in item.callspec.params if not any(name in group for group in names)]  # by fixtures
    return {tuple((name, id(item.callspec.params[name])) for name in group) for group in (*names, *given)}


def pytest_collection_finish(session):
    gc.freeze()
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and len(session.items) > compiling.WHOLE:
        compiling.play_others(int(worker["workerid"].removeprefix("gw")), worker["workercount"])
    gc.set_threshold(20_000)
    gc.enable()


@pytest.fixture
def nothing_else_registered(monkeypatch):
    """Learners that a test registers are gone after it."""
    from novikoff.core import registry

    monkeypatch.setattr(registry, "_registered", {room: {} for room in registry.GROUPS})


@pytest.fixture(scope="module")  # as long as it runs asyncio.run is refused: other files need that
def browser():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        assert not os.environ.get("NOVIKOFF_NEEDS_BROWSER"), MISSING
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run"]  # fmt: skip
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=quiet)
        yield running
        running.close()


@pytest.fixture(scope="session")
def weigh():
    from small_games import weighted

    return weighted


@pytest.fixture(scope="session")
def perceptron():
    from small_games import Plain

    return Plain


@pytest.fixture(scope="session")
def game():
    from small_games import play

    return play
