"""Status of the models: as JSON, and as metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from novikoff.server.actor import Actor
from novikoff.server.prometheus import Histogram, family
from novikoff.server.service import Service

COUNTERS = (
    ("predictions", "predicted", "Predicted rounds."),
    ("labels", "labelled", "Labels received."),
    ("mistakes", "mistakes", "Labelled rounds with a wrong served prediction."),
    ("arrival_mistakes", "arrival_mistakes", "Mistakes of the game in the order in which labels arrived."),
    ("changed", "changed", "Labelled rounds whose prediction had changed when the label arrived."),
    ("expired", "expired", "Rounds that expired without a label."),
)
"""Metric, attribute and help text of each counter."""
OF_LABELS = ("mistakes", "arrival_mistakes")
"""Counts of classification only; regression has a loss instead."""


def describe(actor: Actor) -> dict[str, Any]:
    """Return a model and its counts."""
    found: dict[str, Any] = {"name": actor.name, "state": actor.state, "reason": actor.reason or None}
    if actor.state in ("ready", "storage_failed"):
        found |= {"model": msgspec.to_builtins(actor.model), "pending": actor.play.late.waiting}
        found |= {name: _count(actor, name) for _, name, _ in COUNTERS}
    return found


def _count(actor: Actor, name: str) -> int | None:
    """Return a count, or None if the model does not have it."""
    known = actor.play.ledger.counts or name not in OF_LABELS
    return getattr(actor.play.late, name) if known else None


def metrics(service: Service, request_seconds: Histogram) -> str:
    """Return all metrics in the text format of Prometheus."""
    return "\n".join(_metrics(service, request_seconds)) + "\n"


def _metrics(service: Service, request_seconds: Histogram) -> Iterator[str]:
    models = sorted(service.models.items())
    played = [actor for _, actor in models if actor.state in ("ready", "storage_failed")]
    for name, count, help in COUNTERS:
        full = f"novikoff_{name}_total"
        counts = [(one, found) for one in played if (found := _count(one, count)) is not None]
        yield from family(full, "counter", help, _each(full, counts))
    waiting = _each("novikoff_pending", [(one, one.play.late.waiting) for one in played])
    yield from family("novikoff_pending", "gauge", "Rounds waiting for their labels.", waiting)
    tests = [(one, one.play.ledger.drift.test) for one in played if one.play.ledger.drift is not None]
    for name, help, values in (
        ("novikoff_drift_alarm", "1 if the labelled examples are not draws from one distribution; the chance of a "
         "false alarm, ever, is at most 0.05.", [(one, int(test.alarm)) for one, test in tests]),
        ("novikoff_drift_wealth", "Largest wealth so far of the drift test, which bets against one distribution; 20 "
         "is an alarm.", [(one, test.largest) for one, test in tests]),
    ):  # fmt: skip
        yield from family(name, "gauge", help, _each(name, values))
    bounds = [f'novikoff_bound{{model="{one.name}",theorem="{name}"}} {bound}' for one in played
              for name, bound in _bounds(service.certified(one))]  # fmt: skip
    yield from family("novikoff_bound", "gauge", "Bound of a theorem on the stream so far.", bounds)
    ready = _each("novikoff_ready", [(one, int(one.state == "ready")) for _, one in models])
    yield from family("novikoff_ready", "gauge", "1 if the model is ready.", ready)
    for name, help in (
        ("commit_seconds", "Seconds per group, including its commit."),
        ("commit_ops", "Requests per commit."),
    ):
        full = f"novikoff_{name}"
        lines = [line for one in played for line in getattr(one, name).lines(full, f'model="{one.name}"')]
        yield from family(full, "histogram", help, lines)
    seconds = request_seconds.lines("novikoff_request_seconds", 'service="novikoff"')
    yield from family("novikoff_request_seconds", "histogram", "Seconds per request.", seconds)


def _each(name: str, values: Sequence[tuple[Actor, float]]) -> Iterator[str]:
    return (f'{name}{{model="{actor.name}"}} {value}' for actor, value in values)


def _bounds(certificate: dict[str, Any] | None) -> Iterator[tuple[str, float]]:
    """Yield name and bound of each theorem that holds."""
    for one in (certificate or {"certificates": []})["certificates"]:
        if one["status"] in ("valid", "conditional", "vacuous") and one["bound"] is not None:
            yield one["theorem"], one["bound"]
