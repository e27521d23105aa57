"""Metrics in the text format of Prometheus, which is small enough to write by hand (docs/decisions/0042)."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence


class Histogram:
    """Histogram of a metric: counts up to each limit. One thread observes; others may read."""

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits, self._counts, self._sum = tuple(limits), [0] * (len(limits) + 1), 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect.bisect_left(self._limits, value)] += 1
        self._sum += value

    def within(self, part: float) -> float | None:
        """Return the smallest limit that this part of the values is below; None without any value."""
        counts, total = list(self._counts), 0
        for limit, count in zip((*self._limits, float("inf")), counts, strict=True):
            total += count
            if total and total >= part * sum(counts):
                return min(limit, self._limits[-1])
        return None

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Yield the histogram in the text format."""
        total = 0
        for limit, count in zip((*self._limits, float("inf")), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{"+Inf" if limit == float("inf") else limit}"}} {total}'
        yield f"{name}_sum{{{labels}}} {self._sum}"
        yield f"{name}_count{{{labels}}} {total}"


def family(name: str, kind: str, help: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a metric with its help, type and samples."""
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    yield from lines


SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Limits of the histogram of a request's seconds."""


class Requests:
    """Requests of a service, by route and status, and their seconds by route."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], int] = {}
        self._seconds: dict[str, Histogram] = {}

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._counts[route, status] = self._counts.get((route, status), 0) + 1
        if route not in self._seconds:
            self._seconds[route] = Histogram(SECONDS)
        self._seconds[route].observe(seconds)

    def lines(self) -> Iterator[str]:
        """Yield both metrics in the text format."""
        counts = [f'novikoff_requests_total{{route="{route}",status="{status}"}} {count}'
                  for (route, status), count in sorted(self._counts.items())]  # fmt: skip
        yield from family("novikoff_requests_total", "counter", "Requests by route and status.", counts)
        full = "novikoff_request_seconds"
        seconds = [line for route, one in sorted(self._seconds.items()) for line in one.lines(full, f'route="{route}"')]
        yield from family(full, "histogram", "Seconds per request.", seconds)
