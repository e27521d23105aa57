"""Who does tasks that do not wait for each other: threads of this process, or Ray on as many machines as it has.

Promise
    Results are in the order of the items, and the same to the bit, whoever does them. The first item that fails raises
    its own error. Ctrl-C, or a failure, ends what was begun.
On Ray
    `on="ray"` is the cluster that this process is connected to; else the one of RAY_ADDRESS, or one that runs on this
    machine; else Ray is started here. Any other text is the address of a cluster. A task that is lost with its worker
    or its node is done again, elsewhere. What all tasks need is put into Ray's store once; each reads its own data.
    Ray is an extra: pip install "novikoff[ray]".
Cost
    Threads: none to speak of. Ray: 3 to 5 s to start, about 1.5 ms a task; docs/ray.md has numbers.
"""

from __future__ import annotations

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from logging import ERROR
from typing import Any, TypeVar

from novikoff.errors import InputError
from novikoff.sources.labelled_lines import cores

Item = TypeVar("Item")
Result = TypeVar("Result")

Over = Callable[[], bool]
"""Is a task that was begun no longer wanted?"""

Count = Callable[[int, int], None]
"""Called with how many tasks are done, and of how many."""

SECONDS = 5.0
"""To wait for an address."""

RETRIES = 10
"""How often a task may be lost with a worker or a node of Ray, and be done again."""


class Executor(ABC):
    """Does tasks."""

    @abstractmethod
    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any, progress: Count | None = None
    ) -> list[Result]:
        """function(over, item, *shared) of every item. They begin in their order."""


class Threads(Executor):
    """So many threads; None: one a core."""

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise InputError(f"threads must be at least 1: got {count}.")
        self.count = count or cores()

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any, progress: Count | None = None
    ) -> list[Result]:
        each = list(items)
        if self.count > 1 and len(each) > 1:
            from novikoff.kernels import compiled  # noqa: F401 - what numba imports must not be imported by two at once
        over = threading.Event()
        pool = ThreadPoolExecutor(max(min(self.count, len(each)), 1), "task")
        results: list[Result] = []
        try:
            for future in [pool.submit(function, over.is_set, item, *shared) for item in each]:
                results.append(future.result())
                if progress:
                    progress(len(results), len(each))
        finally:
            over.set()
            pool.shutdown(cancel_futures=True)
        return results


class Ray(Executor):
    """Tasks of Ray, each on so many cores, on the cluster of this address; None: as the file says."""

    def __init__(self, address: str | None = None, cores: int = 1) -> None:
        self._ray, self._cores = _connected(address), cores

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any, progress: Count | None = None
    ) -> list[Result]:
        ray, each = self._ray, list(items)
        task = ray.remote(num_cpus=self._cores, max_retries=RETRIES, scheduling_strategy="SPREAD")(_call)
        store = ray.put(shared)
        waiting = [task.remote(function, item, store) for item in each]
        results: list[Result] = []
        try:
            for reference in waiting:
                results.append(ray.get(reference))
                if progress:
                    progress(len(results), len(each))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        finally:
            for reference in waiting[len(results) :]:
                ray.cancel(reference, force=True)
        return results


def executor(on: str | Executor = "threads", threads: int | None = None) -> Executor:
    """Who is named: "threads", "ray" or the address of a cluster of Ray; or one that was made before."""
    if isinstance(on, Executor):
        return on
    if on == "threads":
        return Threads(threads)
    if threads is not None:
        raise InputError(f"threads are of this process: got {threads}, on {on}. Ray has as many as its cluster.")
    return Ray(None if on == "ray" else on)


def _call(function: Callable[..., Result], item: Any, shared: Sequence[Any]) -> Result:
    return function(_never, item, *shared)


def _never() -> bool:
    """Ray ends a task by itself."""
    return False


def _check_there(address: str | None) -> None:
    """Refuse an address at which nobody answers: Ray would wait for minutes."""
    if address is None or address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=SECONDS):
            return
    except (OSError, ValueError) as error:
        raise InputError(
            "a cluster of Ray must be at an address as 10.0.0.1:6379",
            f"got {address!r} ({error})",
            'Start one with "ray start", or leave the address out for Ray on this machine: on="ray".',
        ) from None


def _connected(address: str | None) -> Any:
    """Ray, connected."""
    try:
        import ray
    except ImportError:
        raise InputError('tasks on Ray need it to be installed: it is not. pip install "novikoff[ray]".') from None
    if not ray.is_initialized():
        _check_there(address)
        try:
            ray.init(address or "auto", log_to_driver=False, logging_level=ERROR)
        except ConnectionError:
            if address is not None:
                raise
            ray.init("local", num_cpus=cores(), include_dashboard=False, log_to_driver=False, logging_level=ERROR)
    return ray
