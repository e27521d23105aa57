"""Who does tasks that do not wait for each other: threads of this process, or Ray on as many machines as it has.

Promise
    Results are in the order of the items, and the same to the bit, whoever does them. The first item that fails raises
    its own error. Ctrl-C, or a failure, ends what was begun: every task asks now and then whether it is over.
On Ray
    `on="ray"` is the cluster that this process is connected to; else the one of RAY_ADDRESS, or one that runs on this
    machine; else Ray is started here. Any other text is the address of a cluster. A task that is lost with its worker
    or its node is done again, elsewhere. What all tasks need is put into Ray's store once; each reads its own data.
    Ray is an extra: pip install "novikoff[ray]".
Cost
    Threads: none to speak of. Ray: 3 to 5 s to start, about 1.5 ms a task; docs/ray.md has numbers.
"""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from logging import ERROR
from traceback import format_exception
from typing import Any, Self, TypeVar

from novikoff.core.errors import Advice, InputError, NovikoffError, Option, SourceError

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

_known: dict[str, str] = {}
"""Clusters that were connected to, as they call themselves: by which address."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
            from novikoff.numerics import compiled  # noqa: F401 - what numba imports must not be imported by two at once
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
        try:
            packed, store = [ray.cloudpickle.dumps((function, item)) for item in each], ray.put(shared)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise InputError("what goes to other machines must be data, and functions of it", f"{error}") from None
        key, now = f"novikoff {uuid.uuid4()} is over".encode(), time.time()
        waiting = [task.remote(one, store, key, now) for one in packed]
        results: list[Result] = []
        try:
            for reference in waiting:
                result = ray.get(reference)
                if isinstance(result, _Failed):
                    raise result.error
                results.append(result)
                if progress:
                    progress(len(results), len(each))
        except ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0]
            raise NovikoffError(
                "a task must be done in the end", f"Ray gave it up ({reason})",
                "Each is begun anew some times: is there memory enough where it runs?",
            ) from None  # fmt: skip
        finally:
            if len(results) < len(each):
                _end(key)
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


def _call(packed: bytes, shared: Sequence[Any], key: bytes, asked: float) -> Any:
    """One task. What it raises is a result like any other: Ray prints errors that nobody asks for.

    It is unpacked here, as that may fail: a file may not be on this machine.
    """
    over = _Over(key, asked)
    try:
        function, item = pickle.loads(packed)
        return None if over() else function(over, item, *shared)
    except Exception as error:
        return _Failed.of(error)


@dataclass(frozen=True)
class _Failed:
    """What a task raised."""

    error: Exception

    @classmethod
    def of(cls, error: Exception) -> Self:
        """The error as it can be sent: with where it was, in words; of a source that was not there, why that may be."""
        if isinstance(error, SourceError) and not {"line", "row"} & error.where.keys():
            error.advise("Every machine of the cluster must see it by this name: in a shared folder, or by a URL.")
        told = "".join(format_exception(error))
        if not isinstance(error, NovikoffError):
            error.add_note(told)
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return cls(RuntimeError(told))
        return cls(error)


class _Over:
    """Was it ended? Asked of the cluster once a second, the first time a second after it was begun."""

    def __init__(self, key: bytes, asked: float) -> None:
        self._key, self._asked, self._ended = key, asked, False

    def __call__(self) -> bool:
        if not self._ended and not 0.0 <= time.time() - self._asked < 1.0:
            from ray.experimental.internal_kv import _internal_kv_get

            self._ended, self._asked = _internal_kv_get(self._key) is not None, time.time()
        return self._ended


def _end(key: bytes) -> None:
    """Let tasks end that are no longer wanted. (ray.cancel ends this process if one is done at that very moment.)"""
    from ray.experimental.internal_kv import _internal_kv_put

    _internal_kv_put(key, b"1")


def _check_there(address: str | None) -> None:
    """Refuse an address at which nobody answers: Ray would wait for minutes."""
    if address is None or address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    reason = "no host and port"
    if host and port.isdecimal():
        try:
            with socket.create_connection((host, int(port)), timeout=SECONDS):
                return
        except (OSError, OverflowError) as error:
            reason = str(error)
    raise InputError(
        "a cluster of Ray must be at an address as 10.0.0.1:6379", f"got {address!r} ({reason})",
        Advice("Start one as docs/ray.md says, or pass ", Option("on", "ray"), " for Ray on this machine."),
    )  # fmt: skip


def _connected(address: str | None) -> Any:
    """Ray, connected."""
    try:
        import ray
    except ImportError:
        raise InputError('tasks on Ray need it to be installed: it is not. pip install "novikoff[ray]".') from None
    if ray.is_initialized():
        here = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", "local", here, _known.get(here)):
            raise InputError(
                f"a process is connected to one cluster of Ray: this one to {here}, got {address!r}. Take "
                'on="ray", or call ray.shutdown() first.'
            )
        return ray
    _check_there(address)
    try:
        ray.init(address or "auto", log_to_driver=False, logging_level=ERROR)
    except (ConnectionError, ray.exceptions.RayError) as error:
        if address is not None:
            reason = str(error).partition("\n")[0]
            raise InputError(
                "a cluster of Ray must let this process in", f"{address} does not ({reason})",
                "Is it of one version? A token must be in ~/.ray/auth_token here, with RAY_AUTH_MODE=token.",
            ) from None  # fmt: skip
        ray.init("local", num_cpus=cores(), include_dashboard=False, log_to_driver=False, logging_level=ERROR)
    if address is not None:
        _known[ray.get_runtime_context().gcs_address] = address
    return ray
