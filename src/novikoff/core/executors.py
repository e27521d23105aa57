"""Executors for independent tasks: threads of this process, or Ray on one or more machines.

Promise
    Results are in the order of the items and are the same to the bit on every executor. The first item that fails
    raises its error. Ctrl-C or a failure ends the tasks already started: each polls a flag from time to time.
On Ray
    `on="ray"` uses the cluster that this process is connected to; if there is none, the cluster at RAY_ADDRESS, or one
    that runs on this machine; otherwise it starts Ray here. Any other text is the address of a cluster. A task lost
    with its worker or node is retried elsewhere. Shared arguments are put into Ray's store once; each task reads its
    own data. Ray is an optional dependency: pip install "novikoff[ray]".
Cost
    Threads: negligible. Ray: 3 to 5 s to start, about 1.5 ms per task; docs/ray.md has figures.
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
"""Function that returns whether the result of a running task is no longer needed."""

Count = Callable[[int, int], None]
"""Progress callback, called with the number of finished tasks and the number of tasks."""

SECONDS = 5.0
"""Connection timeout in seconds."""

RETRIES = 10
"""Maximum number of retries of a task whose Ray worker or node was lost."""

_known: dict[str, str] = {}
"""Address that was passed for each connected cluster, by the cluster's own address."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Executor(ABC):
    """Base class of executors."""

    @abstractmethod
    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: object, progress: Count | None = None
    ) -> list[Result]:
        """Return function(over, item, *shared) of every item; tasks start in the order of the items.

        Args:
            function: Task; its first argument is a function that returns whether to stop early.
            items: One item per task.
            *shared: Arguments that are the same for every task.
            progress: Called after each task with the number of finished tasks and of all tasks.
        """


class Threads(Executor):
    """A pool of threads.

    Args:
        count: Number of threads; None for one per core.
    """

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise InputError(f"threads must be at least 1: got {count}.")
        self.count = count or cores()

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: object, progress: Count | None = None
    ) -> list[Result]:
        each = list(items)
        if self.count > 1 and len(each) > 1:
            from novikoff.numerics import compiled  # noqa: F401 - numba's imports are not thread-safe
        over = threading.Event()
        pool = ThreadPoolExecutor(max(min(self.count, len(each)), 1), "task")
        results: list[Result] = []
        try:
            for future in [pool.submit(function, over.is_set, item, *shared) for item in each]:
                results.append(future.result())
                if progress:
                    progress(len(results), len(each))
        finally:
            over.set()  # after a failure or Ctrl-C, tasks that still run end early
            pool.shutdown(cancel_futures=True)
        return results


class Ray(Executor):
    """Tasks on a Ray cluster.

    Args:
        address: Address of the cluster; None for the default described in the module's docstring.
        cores: Cores per task.
    """

    def __init__(self, address: str | None = None, cores: int = 1) -> None:
        self._ray, self._cores = _connected(address), cores

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: object, progress: Count | None = None
    ) -> list[Result]:
        ray, each = self._ray, list(items)
        task = ray.remote(num_cpus=self._cores, max_retries=RETRIES, scheduling_strategy="SPREAD")(_call)
        try:
            packed, store = [ray.cloudpickle.dumps((function, item)) for item in each], ray.put(shared)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise InputError("only data and functions of data can be sent to other machines", f"{error}") from None
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
                "a task must finish", f"Ray gave up ({reason})",
                "It was retried: check the memory of the workers.",
            ) from None  # fmt: skip
        finally:
            if len(results) < len(each):
                _end(key)
        return results


def executor(on: str | Executor = "threads", threads: int | None = None) -> Executor:
    """Return the executor `on`: "threads", "ray", the address of a Ray cluster, or an executor."""
    if isinstance(on, Executor):
        return on
    if on == "threads":
        return Threads(threads)
    if threads is not None:
        raise InputError(
            f"threads apply to this process only: got {threads}, on {on}. Omit `threads`: Ray uses the cores of its "
            "cluster."
        )
    return Ray(None if on == "ray" else on)


def _call(packed: bytes, shared: Sequence[object], key: bytes, asked: float) -> Any:
    """Run one task; return an exception as a result, because Ray prints errors that are never fetched.

    Unpickling is inside the `try`, since it may fail too: a file may be missing on this machine.
    """
    over = _Over(key, asked)
    try:
        function, item = pickle.loads(packed)
        return None if over() else function(over, item, *shared)
    except Exception as error:
        return _Failed.of(error)


@dataclass(frozen=True)
class _Failed:
    """Exception raised by a task."""

    error: Exception

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return the exception in a form that can be pickled, with its traceback as text."""
        if isinstance(error, SourceError) and not {"line", "row"} & error.where.keys():
            error.advise("Every machine of the cluster must see it by this name: in a shared folder, or by a URL.")
        text = "".join(format_exception(error))
        if not isinstance(error, NovikoffError):
            error.add_note(text)
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return cls(RuntimeError(text))
        return cls(error)


class _Over:
    """Cancellation flag of a task; it is read from the cluster once per second, first one second after the start."""

    def __init__(self, key: bytes, asked: float) -> None:
        self._key, self._asked, self._ended = key, asked, False

    def __call__(self) -> bool:
        if not self._ended and not 0.0 <= time.time() - self._asked < 1.0:
            from ray.experimental.internal_kv import _internal_kv_get

            self._ended, self._asked = _internal_kv_get(self._key) is not None, time.time()
        return self._ended


def _end(key: bytes) -> None:
    """Cancel the remaining tasks by a key; ray.cancel kills this process if a task finishes at that moment."""
    from ray.experimental.internal_kv import _internal_kv_put

    _internal_kv_put(key, b"1")


def _check_there(address: str | None) -> None:
    """Raise `InputError` if nothing listens at the address; Ray itself would wait for minutes."""
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
        "a Ray cluster must have an address such as 10.0.0.1:6379", f"got {address!r} ({reason})",
        Advice("Start one as docs/ray.md describes, or pass ", Option("on", "ray"), " for Ray on this machine."),
    )  # fmt: skip


def _connected(address: str | None) -> Any:
    """Return the module ray, connected to a cluster."""
    try:
        import ray
    except ImportError:
        raise InputError('Ray is not installed: pip install "novikoff[ray]".') from None
    if ray.is_initialized():
        here = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", "local", here, _known.get(here)):
            raise InputError(
                f"a process can use one Ray cluster: this one is connected to {here}, got {address!r}. Pass "
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
                "the Ray cluster must accept this process", f"{address} does not ({reason})",
                "Install the cluster's version of Ray. If it needs a token, put that into ~/.ray/auth_token and set "
                "RAY_AUTH_MODE=token.",
            ) from None  # fmt: skip
        ray.init("local", num_cpus=cores(), include_dashboard=False, log_to_driver=False, logging_level=ERROR)
    if address is not None:
        _known[ray.get_runtime_context().gcs_address] = address
    return ray
