"""Prediction sets of a game, in words and as a plot: coverage next to its target, and size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.game.coverage import Coverage
from novikoff.game.ledger import Ledger
from novikoff.reports import drawing, sentences
from novikoff.reports.summary import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8
"""Largest number of groups listed one by one."""
STRETCHES, SHORTEST = 40, 25
"""Largest number of stretches in a plot, and smallest number of rows in one."""


def metrics(ledger: Ledger, certificates: Sequence[Certificate]) -> Iterator[Metric]:
    """Yield coverage, size and groups of the prediction sets; nothing for a learner without sets."""
    found = ledger.metrics.coverage
    if found is None or not found.played:
        return
    held, rounds = found.played - found.missed, found.played
    what, it = ("sets", "label") if found.most is not None else ("intervals", "number")
    share = f"{held:,} of {rounds:,} {what} contain the {it}"
    if ledger.weighted is not None and ledger.coverage is not None:
        by_rounds = _percent(1 - ledger.coverage.missed / ledger.rounds)
        share = f"by weight; {by_rounds} with each copy of a row counted as one round, as in certificates"
    yield Metric("coverage", _percent(held / rounds), f"{share}; {_target(found, certificates)}")
    every = f"all {found.most} labels" if found.most else "everything"
    whole = f"{found.everything:,} contain {every} ({sentences.about(found.everything / rounds)})"
    empty = f"{found.empty:,} empty ({sentences.about(found.empty / rounds)})"
    size = "-" if found.mean_size is None else f"{found.mean_size:.4g}"
    name, mean = ("set size", "labels on average") if found.most is not None else ("interval", "mean length")
    yield Metric(name, size, f"{mean}; {whole}; {empty}")
    groups = found.by_group(ledger.player.standing())
    if len(groups) > 1:
        some = [group for group in groups[:MOST] if group[1]]
        each = [f"{name} {_percent(1 - misses / played)} of {played:,}" for name, played, misses in some]
        more = f"; and {len(groups) - MOST:,} more" if len(groups) > MOST else ""
        yield Metric("by group", "", f"{', '.join(each)}{more}")


def deviation(certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the certificate of the coverage; None if there is none."""
    return next((one for one in certificates if one.quantity == "deviation of coverage"), None)


def _target(found: Coverage, certificates: Sequence[Certificate]) -> str:
    target = f"target {_percent(1 - found.alpha)}"
    one = deviation(certificates)
    if one is None or one.bound is None or one.status == "vacuous" or "group" in one.quantities:
        return target
    low, high = max(1 - found.alpha - one.bound, 0.0), min(1 - found.alpha + one.bound, 1.0)
    low, high = math.floor(1e5 * low) / 1e3, math.ceil(1e5 * high) / 1e3
    return f"{target}, guaranteed {low:.5g} % to {high:.5g} %"


def plain(ledger: Ledger) -> dict[str, Any]:
    """Return coverage and size as JSON values."""
    found = ledger.metrics.coverage
    assert found is not None
    standing, rounds = ledger.player.standing(), found.played
    fields: dict[str, Any] = {
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


def panels(figure: Figure, ledger: Ledger, certificates: Sequence[Certificate]) -> None:
    """Draw coverage and size over time below the plot of a game."""
    found = ledger.metrics.coverage
    if found is None or len(found.curve) < 2:
        return
    wide, tall = figure.get_size_inches()
    figure.set_size_inches(wide, 2 * tall)
    left, width = 0.0, 1.0
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((box.x0, 0.5 + box.y0 / 2, box.width, box.height / 2))
        left, width = box.x0, box.width
    above = figure.add_axes((left, 0.275, width, 0.165))
    below = figure.add_axes((left, 0.055, width, 0.165))
    drawing.quiet(above, "", "coverage, %")
    across = "rows" if ledger.weighted is None else "weight"
    drawing.quiet(below, across, "labels in a set" if found.most is not None else "length of an interval")
    _draw_coverage(figure, above, found, deviation(certificates) if ledger.weighted is None else None)
    _draw_sizes(figure, below, found)
    drawing.line_up(figure)


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


def _draw_coverage(figure: Figure, axes: Axes, found: Coverage, one: Certificate | None) -> None:
    target, last = 100 * (1 - found.alpha), found.played
    first = max(last // 50, 1)
    stretches = _stretches(found)
    local = [100 * (1 - counted[1] / counted[0]) for _, _, counted in stretches]
    points = [(t, 100 * (1 - misses / t)) for t, misses, *_ in found.curve if t >= first]
    points.append((last, 100 * (1 - found.missed / last)))
    rounds, rates = zip(*points, strict=True)
    ends = [*(begin for begin, _, _ in stretches), last]
    axes.stairs(local, ends, color=drawing.COLOURS[5], linewidth=1.0, baseline=None, label="in each stretch of rows")
    axes.plot(rounds, rates, color=drawing.COLOURS[0], linewidth=1.8, label="up to this row")
    axes.axhline(target, color=drawing.CONSTANT, linewidth=1.5, linestyle=drawing.DASHES[2], label="target")
    if one is not None and one.bound is not None and "group" not in one.quantities:
        grid = np.linspace(first, last, drawing.GRID)
        if "band" in one.quantities:
            band = 100 * (np.sqrt(grid * np.log(grid + 1)) + 1) / grid
        elif one.theorem == "coverage_decaying":
            band = 100 * one.bound * np.sqrt(last / grid)
        else:
            band = 100 * one.bound * last / grid
        high, low = np.minimum(target + band, 100), np.maximum(target - band, 0)
        axes.fill_between(
            grid, low, high, color=drawing.COLOURS[1], alpha=0.13, linewidth=0, label="guaranteed up to this row"
        )
    axes.set_xlim(0, last)
    axes.set_ylim(max(min(*local, *rates, target) - 3, 0), 100.5)
    axes.tick_params(labelbottom=False)
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False, fontsize=drawing.FONT, ncols=2
    )
    drawing.label_ends(figure, axes, last, [(rates[-1], f"{rates[-1]:.4g} %", drawing.COLOURS[0]),
                                            (target, f"{target:.4g} %", drawing.CONSTANT)])  # fmt: skip


def _draw_sizes(figure: Figure, axes: Axes, found: Coverage) -> None:
    """Return mean sizes in stretches; infinite intervals are left out."""
    stretches = _stretches(found)
    open_ended = not found.most
    counts = [counted[0] - (counted[3] if open_ended else 0) for _, _, counted in stretches]
    sizes = [
        counted[4] / count if count else math.nan for count, (_, _, counted) in zip(counts, stretches, strict=True)
    ]
    axes.stairs(sizes, [*(begin for begin, _, _ in stretches), found.played], color=drawing.COLOURS[2], linewidth=1.8,
                baseline=None)  # fmt: skip
    axes.set_xlim(0, found.played)
    mean = found.mean_size
    known = [size for size in sizes if math.isfinite(size)]
    axes.set_ylim(0, 1.1 * max([*known, 1e-9]))
    text = "everything" if mean is None else f"mean {mean:.3g}"
    drawing.label_ends(figure, axes, found.played, [(known[-1] if known else 0.0, text, drawing.COLOURS[2])])


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
