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
