"""Prediction sets of a game, in words and as a chart: coverage next to its target, and size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.game.coverage import Coverage
from novikoff.game.ledger import Ledger
from novikoff.reports import sentences
from novikoff.reports.charts import BOUND, COLOURS, CONSTANT, DOTTED, GRID, Line, Panel, Region, levels
from novikoff.reports.summary import Metric

MOST = 8
"""Largest number of groups listed one by one."""
STRETCHES, SHORTEST = 40, 25
"""Largest number of stretches in a chart, and smallest number of rows in one."""


def metrics(ledger: Ledger, certificates: Sequence[Certificate]) -> Iterator[Metric]:
    """Yield coverage, size and groups of the prediction sets; nothing for a learner without sets."""
    found = ledger.metrics.coverage
    if found is None or not found.played:
        return
    held, rounds = found.played - found.missed, found.played
    what, it = ("sets", "label") if found.most is not None else ("intervals", "number")
    share = f"{held:,} of {rounds:,} {what} contain the {it}"
    if ledger.weighted is not None and ledger.coverage is not None:
        by_rounds = percent(1 - ledger.coverage.missed / ledger.rounds)
        share = f"by weight; {by_rounds} with each copy of a row counted as one round, as in certificates"
    yield Metric("coverage", percent(held / rounds), f"{share}; {_target(found, certificates)}")
    every = f"all {found.most} labels" if found.most else "everything"
    whole = f"{found.everything:,} contain {every} ({sentences.about(found.everything / rounds)})"
    empty = f"{found.empty:,} empty ({sentences.about(found.empty / rounds)})"
    size = "-" if found.mean_size is None else f"{found.mean_size:.4g}"
    name, mean = ("set size", "labels on average") if found.most is not None else ("interval", "mean length")
    yield Metric(name, size, f"{mean}; {whole}; {empty}")
    groups = found.by_group(ledger.player.standing())
    if len(groups) > 1:
        some = [group for group in groups[:MOST] if group[1]]
        each = [f"{name} {percent(1 - misses / played)} of {played:,}" for name, played, misses in some]
        more = f"; and {len(groups) - MOST:,} more" if len(groups) > MOST else ""
        yield Metric("by group", "", f"{', '.join(each)}{more}")


def deviation(certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the certificate of the coverage; None if there is none."""
    return next((one for one in certificates if one.quantity == "deviation of coverage"), None)


def _target(found: Coverage, certificates: Sequence[Certificate]) -> str:
    target = f"target {percent(1 - found.alpha)}"
    one = deviation(certificates)
    if one is None or one.bound is None or one.status == "vacuous" or "group" in one.quantities:
        return target
    low, high = max(1 - found.alpha - one.bound, 0.0), min(1 - found.alpha + one.bound, 1.0)
    low, high = math.floor(1e5 * low) / 1e3, math.ceil(1e5 * high) / 1e3
    return f"{target}, guaranteed {low:.5g} % to {high:.5g} %"


def plain(ledger: Ledger) -> dict[str, object]:
    """Return coverage and size as JSON values."""
    found = ledger.metrics.coverage
    assert found is not None
    standing, rounds = ledger.player.standing(), found.played
    fields: dict[str, object] = {
        "asked": 1 - found.alpha,
        "coverage": 1 - found.missed / rounds if rounds else None,
        "misses": found.missed,
        "mean_size": found.mean_size,
        "empty": found.empty,
        "everything": found.everything,
        "rule": standing["rule"],
        "thresholds": standing["thresholds"],
    }
    if len(standing["groups"]) > 1:
        fields["groups"] = [
            {"group": name, "rounds": played, "misses": misses} for name, played, misses in found.by_group(standing)
        ]
    return fields


def panels(ledger: Ledger, certificates: Sequence[Certificate]) -> list[Panel]:
    """Return the charts of coverage and size over time; nothing for a learner without sets."""
    found = ledger.metrics.coverage
    if found is None or len(found.curve) < 2:
        return []
    across = "rows" if ledger.weighted is None else "weight"
    one = deviation(certificates) if ledger.weighted is None else None
    return [_coverage_panel(found, one, across), _size_panel(found, across)]


def _stretches(found: Coverage) -> list[tuple[float, float, list[float]]]:
    """Split the game into stretches: first and last row of each, and the counts in between."""
    points = [(0, 0, 0, 0, 0.0), *found.curve]
    if points[-1][0] < found.played:
        points.append((found.played, found.missed, found.empty, found.everything, float(found.size)))
    chosen, least = [points[0]], max(found.played / STRETCHES, SHORTEST)
    for point in points[1:]:
        if point[0] - chosen[-1][0] >= least or point is points[-1]:
            chosen.append(point)
    return [
        (then[0], now[0], [after - before for before, after in zip(then, now, strict=True)])
        for then, now in pairwise(chosen)
    ]


def _coverage_panel(found: Coverage, one: Certificate | None, across: str) -> Panel:
    """Return coverage in stretches and up to each row, next to its target and the guarantee."""
    target, last = 100 * (1 - found.alpha), found.played
    first = max(last // 50, 1)
    stretches = _stretches(found)
    local = [100 * (1 - counted[1] / counted[0]) for _, _, counted in stretches]
    rates = [(float(t), 100 * (1 - misses / t)) for t, misses, *_ in found.curve if t >= first]
    rates.append((last, 100 * (1 - found.missed / last)))
    edges = [*(begin for begin, _, _ in stretches), last]
    lines = [
        Line("in each stretch of rows", levels(local, edges), COLOURS[5], end="", thin=True),
        Line("up to this row", rates, end=f"{rates[-1][1]:.4g} %"),
        Line("target", [(0, target), (last, target)], CONSTANT, DOTTED, end=f"{target:.4g} %"),
    ]
    regions = []
    if one is not None and one.bound is not None and "group" not in one.quantities:
        grid = np.linspace(first, last, GRID)
        if "band" in one.quantities:
            band = 100 * (np.sqrt(grid * np.log(grid + 1)) + 1) / grid
        elif one.theorem == "coverage_decaying":
            band = 100 * one.bound * np.sqrt(last / grid)
        else:
            band = 100 * one.bound * last / grid
        edges_of = zip(grid.tolist(), np.maximum(target - band, 0).tolist(), np.minimum(target + band, 100).tolist(),
                       strict=True)  # fmt: skip
        regions = [Region("guaranteed up to this row", list(edges_of), BOUND, 0.13)]
    low = max(min(*local, *(rate for _, rate in rates), target) - 3, 0)
    return Panel("coverage, %", across, lines, regions, low=low, high=100.5)


def _size_panel(found: Coverage, across: str) -> Panel:
    """Return mean sizes in stretches; infinite intervals are left out."""
    stretches = _stretches(found)
    open_ended = not found.most
    points: list[tuple[float, float]] = []
    for begin, end, counted in stretches:
        count = counted[0] - (counted[3] if open_ended else 0)
        if count:
            points += [(begin, counted[4] / count), (end, counted[4] / count)]
    mean = found.mean_size
    text = "everything" if mean is None else f"mean {mean:.3g}"
    up = "labels in a set" if found.most is not None else "length of an interval"
    high = 1.1 * max([*(size for _, size in points), 1e-9])
    return Panel(up, across, [Line("", points, COLOURS[2], end=text)], low=0.0, high=high, last=found.played,
                 height=0.6)  # fmt: skip


def percent(share: float) -> str:
    """Format a share in percent, with four significant digits."""
    return f"{100 * share:.4g} %"
