"""Numbers for Prometheus, in its text format, which is small enough to be written by hand (docs/decisions/0042)."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence


class Histogram:
    """How often something was at most so large. One thread counts; others may read."""

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits, self._counts, self._sum = tuple(limits), [0] * (len(limits) + 1), 0.0

    def observe(self, value: float) -> None:
        """Count one more."""
        self._counts[bisect.bisect_left(self._limits, value)] += 1
        self._sum += value

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """As Prometheus reads it."""
        total = 0
        for limit, count in zip((*self._limits, float("inf")), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{"+Inf" if limit == float("inf") else limit}"}} {total}'
        yield f"{name}_sum{{{labels}}} {self._sum}"
        yield f"{name}_count{{{labels}}} {total}"


def family(name: str, kind: str, help: str, lines: Iterable[str]) -> Iterator[str]:
    """A metric with its samples."""
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
    yield from lines
