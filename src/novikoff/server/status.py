"""Status of the models: as JSON, and as metrics for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from novikoff.game.ledger import Ledger
from novikoff.reports import plain, thresholds
from novikoff.server.actor import Actor
from novikoff.server.prometheus import Requests, family
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
FAMILIES: dict[str, tuple[str, str]] = {
    **{f"{name}_total": ("counter", help) for name, _, help in COUNTERS},
    "loss_total": ("counter", "Loss of a regression, in the order in which outcomes arrived."),
    "pending": ("gauge", "Rounds waiting for their labels."),
    "queue": ("gauge", "Requests waiting for the model."),
    "drift_alarm": ("gauge", "1 if the labelled examples are not draws from one distribution; the chance of a false "
                    "alarm, ever, is at most 0.05."),
    "drift_wealth": ("gauge", "Largest wealth so far of the drift test, which bets against one distribution; 20 is an "
                     "alarm."),
    "drift_alarm_seconds": ("gauge", "Seconds since the alarm of the drift test was seen."),
    "set_rounds_total": ("counter", "Rounds with prediction sets, in the order in which labels arrived."),
    "set_misses_total": ("counter", "Labels outside their prediction set."),
    "set_miss_target": ("gauge", "Requested fraction of labels outside their set."),
    "bound": ("gauge", "Bound of a theorem, on the stream up to novikoff_bound_as_of_label."),
    "bound_as_of_label": ("gauge", "Number of labels at which bounds were evaluated."),
    "bound_age_seconds": ("gauge", "Seconds since bounds were evaluated."),
    "certificates": ("gauge", "Certificates by status; one that is violated is a bug."),
    "certificate_failed": ("gauge", "1 if the last evaluation of certificates failed; see the log."),
    "snapshot_behind": ("gauge", "Labels since the last snapshot: how many a restart replays."),
    "disk_bytes": ("gauge", "Size of the model's files."),
    "disk_free_bytes": ("gauge", "Free space of the directory's disk."),
    "ready": ("gauge", "1 if the model is ready."),
    "frozen": ("gauge", "1 if the model is frozen."),
    "shadow_labels": ("gauge", "Labels that a shadow has learned."),
    "shadow_mistakes": ("gauge", "Mistakes of a shadow, in the order in which labels arrived."),
    "shadow_served_mistakes": ("gauge", "Mistakes of the served predictions since the shadow began."),
    "shadow_loss": ("gauge", "Loss of a regression of a shadow."),
    "team_weight": ("gauge", "Probability that the next prediction follows this model of a team."),
    "team_followed_total": ("counter", "Recorded predictions that followed this model of a team."),
}  # fmt: skip
"""Type and help text of each metric."""
HISTOGRAMS = {
    "commit_seconds": "Seconds per group, including its commit.",
    "commit_ops": "Requests per commit.",
    "label_seconds": "Seconds from a prediction to its label.",
}
"""Help text of each histogram of a model."""
STATUSES = ("valid", "conditional", "vacuous", "void", "violated")
"""Statuses of certificates."""
ADVICE = {
    "failed": "Read the log of the service. Restore the folder of {name} from a backup, or delete the model with "
    "DELETE /v1/models/{name}?confirm={name}.",
    "storage_failed": "Free space on the disk, or make it writable: {name} then goes on by itself. Nothing was lost; "
    "predictions with record: false are answered.",
}
"""What to do about a model in one of these states."""
OF_LABELS = ("mistakes", "arrival_mistakes")
"""Counts of classification only; regression has a loss instead."""


def describe(actor: Actor) -> dict[str, object]:
    """Return a model and its counts."""
    found: dict[str, object] = {"name": actor.name, "state": actor.state, "reason": actor.reason or None}
    if actor.state in ("ready", "storage_failed"):
        found |= {"model": msgspec.to_builtins(actor.model), "pending": actor.play.late.waiting}
        found |= {name: _count(actor, name) for _, name, _ in COUNTERS}
        found["frozen"] = actor.table.frozen
        if actor.table.team:
            weights = zip(actor.table.team, actor.play.weights(), actor.table.followed, strict=True)
            found["team"] = [{"model": one, "weight": w, "followed": n} for one, w, n in weights]
        if (threshold := actor.play.ledger.threshold) is not None:
            found["threshold"] = thresholds.plain(threshold)
    return found


def overview(service: Service, actor: Actor) -> dict[str, object]:
    """Return a row of the table of models; nothing is evaluated."""
    found = describe(actor)
    row: dict[str, Any] = {"name": actor.name, "state": actor.state, "reason": actor.reason or None}
    row |= {"advice": ADVICE.get(actor.state, "").format(name=actor.name) or None, "disk": service.size(actor)}
    if "model" not in found:
        return row
    ledger, late = actor.play.ledger, actor.play.late
    row |= {name: found[name] for name in ("pending", "predicted", "labelled", "frozen")}
    row |= {"learner": actor.model.learner, "counts": ledger.counts, "latency": actor.commit_seconds.within(0.95)}
    row["drift_alarm"] = None if ledger.drift is None else ledger.drift.test.alarm
    labels = late.labelled
    row["error"] = (late.mistakes if ledger.counts else ledger.loss) / labels if labels else None
    row["baseline"] = _baseline(ledger, labels)
    return row


def _baseline(ledger: Ledger, labels: int) -> float | None:
    """Return the error of the best non-learning baseline; None without one, or if a label arrives meanwhile."""
    what = "mistakes" if ledger.counts else "loss"
    try:
        found = [one.get(what) for one in plain.baselines(ledger).values() if isinstance(one, dict)]
    except RuntimeError:  # the thread of the model adds a label to what is read here
        return None
    best: float | None = min((one for one in found if one is not None), default=None)
    return best / labels if best is not None and labels else None


def _count(actor: Actor, name: str) -> int | None:
    """Return a count, or None if the model does not have it."""
    known = actor.play.ledger.counts or name not in OF_LABELS
    return getattr(actor.play.late, name) if known else None


def metrics(service: Service, requests: Requests, sees: Callable[[str], bool] = lambda name: True) -> str:
    """Return the metrics of the models that `sees` accepts, in the text format of Prometheus.

    Nothing is evaluated here: bounds and sizes of files come from the background (service.py), with their age.
    """
    models = [actor for name, actor in sorted(service.models.items()) if sees(name)]
    return "\n".join([*_metrics(service, models), *requests.lines()]) + "\n"


def _metrics(service: Service, models: Sequence[Actor]) -> Iterator[str]:
    played = [actor for actor in models if actor.state in ("ready", "storage_failed")]
    found: dict[str, list[str]] = {name: [] for name in FAMILIES}

    def add(name: str, actor: Actor, value: float, more: str = "") -> None:
        found[name].append(f'novikoff_{name}{{model="{actor.name}"{more}}} {value}')

    for actor in models:
        add("ready", actor, int(actor.state == "ready"))
    for actor in played:
        play, now = actor.play, time.monotonic()
        late, ledger = play.late, play.ledger
        for name, count, _ in COUNTERS:
            if (value := _count(actor, count)) is not None:
                add(f"{name}_total", actor, value)
        if not ledger.counts:
            add("loss_total", actor, ledger.loss, f',loss="{ledger.player.loss}"')
        add("pending", actor, late.waiting)
        add("queue", actor, actor.waiting)
        add("snapshot_behind", actor, max(0, actor.table.labels - actor.snapped))
        if ledger.drift is not None:
            test = ledger.drift.test
            add("drift_alarm", actor, int(test.alarm))
            add("drift_wealth", actor, test.largest)
        if actor.alarmed is not None:
            add("drift_alarm_seconds", actor, round(now - actor.alarmed, 3))
        if ledger.coverage is not None:
            add("set_rounds_total", actor, sum(ledger.coverage.rounds))
            add("set_misses_total", actor, sum(ledger.coverage.misses))
            add("set_miss_target", actor, ledger.coverage.alpha)
        if (known := service.evaluated(actor)) is not None:
            for theorem, bound in _bounds(known.found):
                add("bound", actor, bound, f',theorem="{theorem}"')
            statuses = [one["status"] for one in known.found["certificates"]]
            for status in STATUSES:
                add("certificates", actor, statuses.count(status), f',status="{status}"')
            add("bound_as_of_label", actor, known.found["as_of_arrival"])
            add("bound_age_seconds", actor, round(now - known.at, 3))
        _alternatives(actor, add)
        add("certificate_failed", actor, int(service.failing(actor)))
        if (size := service.size(actor)) is not None:
            add("disk_bytes", actor, size)
    found["disk_free_bytes"] = [f"novikoff_disk_free_bytes {service.free}"] if service.free is not None else []
    for name, (kind, help) in FAMILIES.items():
        yield from family(f"novikoff_{name}", kind, help, found[name])
    for name, help in HISTOGRAMS.items():
        full = f"novikoff_{name}"
        lines = [line for one in played for line in getattr(one, name).lines(full, f'model="{one.name}"')]
        yield from family(full, "histogram", help, lines)


def _alternatives(actor: Actor, add: Callable[[str, Actor, float, str], None]) -> None:
    """Add the metrics of shadows and teams."""
    table = actor.table
    add("frozen", actor, int(table.frozen), "")
    for name, shadow in list(table.shadows.items()):
        more, ledger = f',shadow="{name}"', shadow.play.ledger
        add("shadow_labels", actor, ledger.rounds, more)
        if ledger.counts:
            add("shadow_mistakes", actor, ledger.mistakes, more)
            add("shadow_served_mistakes", actor, table.play.late.mistakes - shadow.since["served"], more)
        else:
            add("shadow_loss", actor, ledger.loss, more)
    if table.team:
        for member, weight, followed in zip(table.team, table.play.weights(), table.followed, strict=True):
            add("team_weight", actor, weight, f',member="{member}"')
            add("team_followed_total", actor, followed, f',member="{member}"')


def _bounds(certificate: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield name and bound of each theorem that holds."""
    for one in certificate["certificates"]:
        if one["status"] in ("valid", "conditional", "vacuous") and one["bound"] is not None:
            yield one["theorem"], one["bound"]
