"""A game in stretches, in words and as a chart: log loss next to the best constant and the guarantee of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports.charts import COLOURS, DASH_DOT, DASHED, DOTTED, SOLID, Line, Panel, levels

MOST = 24
"""Largest number of stretches."""
LINES = (
    ("log loss per row", 0, SOLID),
    ("guaranteed there", 1, DASHED),
    ("best constant of the stretch", 7, DOTTED),
    ("copies started with the stretch", 2, SOLID),
    ("copy started in round 1", 5, DASH_DOT),
)
"""Name, colour and dashes of each line, in the order of `_levels`."""


def describe(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence on the stretches; nothing for a learner without guarantees on them."""
    parts = ledger.player.stretches(MOST)
    if len(parts) < 2:
        return
    longest, losses = max(part.rows for part in parts), [part.log_loss / part.rows for part in parts]
    constant = sum(part.log_loss < part.constant[0] for part in parts)
    steady = sum(part.log_loss < part.steady for part in parts)
    yield (
        f"Over {counted(len(parts), 'stretch', 'stretches')} of up to {longest:,} rows the log loss per row was "
        f"{min(losses):.3f} to {max(losses):.3f}: better than the stretch's best constant in {constant}, better than "
        f"a copy started in round 1 in {steady}."
    )


def _levels(parts: Sequence[Any]) -> list[list[float]]:
    """Return the lines of the chart, per row: learner, guarantee, and the baselines."""
    rows = [(part.log_loss, part.bound, part.constant[0], part.begun, part.steady) for part in parts]
    return [[value / part.rows for value, part in zip(line, parts, strict=True)] for line in zip(*rows, strict=True)]


def _top(levels: Sequence[Sequence[float]]) -> float:
    """Return the top of the chart: above all losses; guarantees may be cut off."""
    return 1.35 * max((value for line in (levels[0], *levels[2:]) for value in line if math.isfinite(value)), default=1)


def panels(ledger: Ledger) -> list[Panel]:
    """Return the chart of the stretches; nothing if there are none."""
    parts = ledger.player.stretches(MOST)
    if len(parts) < 2:
        return []
    values, edges = _levels(parts), [float(parts[0].first - 1), *(float(part.last) for part in parts)]
    lines = [
        Line(name, levels(line, edges), COLOURS[colour], dash, end=f"{line[-1]:.4f}", thin=colour > 0)
        for (name, colour, dash), line in zip(LINES, values, strict=True)
    ]
    return [Panel("log loss per row", "rounds", lines, low=0.0, high=_top(values))]
