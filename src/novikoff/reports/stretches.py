"""A game in stretches, in words and as a plot: log loss next to the best constant and the guarantee of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 24
"""Largest number of stretches."""
LINES = (
    ("log loss per row", 0, ""),
    ("guaranteed there", 1, "7 3"),
    ("best constant of the stretch", 7, "2 3"),
    ("copies started with the stretch", 2, ""),
    ("copy started in round 1", 5, "9 3 2 3"),
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
    """Return the lines of the plot, per row: learner, guarantee, and the baselines."""
    rows = [(part.log_loss, part.bound, part.constant[0], part.begun, part.steady) for part in parts]
    return [[value / part.rows for value, part in zip(line, parts, strict=True)] for line in zip(*rows, strict=True)]


def _top(levels: Sequence[Sequence[float]]) -> float:
    """Return the top of the plot: above all losses, but not above all guarantees."""
    return 1.35 * max((value for line in (levels[0], *levels[2:]) for value in line if math.isfinite(value)), default=1)


def picture(ledger: Ledger) -> str:
    """Draw the stretches as SVG; "" if there are none."""
    from novikoff.reports import svg

    parts = ledger.player.stretches(MOST)
    if len(parts) < 2:
        return ""
    levels = _levels(parts)
    top, drawn = _top(levels), []
    for (name, colour, dash), line in zip(LINES, levels, strict=True):
        points = [(float(end), min(value, top)) for part, value in zip(parts, line, strict=True)
                  for end in (part.first - 1, part.last)]  # fmt: skip
        drawn.append(svg.Line(name, points, svg.COLOURS[colour], dash, end=f"{line[-1]:.4f}"))
    title = f"log loss per row in {len(parts)} stretches: {', '.join(f'{value:.4f}' for value in levels[0])}"
    return svg.lines(drawn, "rounds", "log loss per row", title)


def panel(figure: Figure, ledger: Ledger) -> None:
    """Add the stretches below the plot of a game."""
    from novikoff.reports import svg

    parts = ledger.player.stretches(MOST)
    if len(parts) < 2:
        return
    wide, tall = figure.get_size_inches()
    more = 2.9
    figure.set_size_inches(wide, tall + more)
    kept = tall / (tall + more)
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((box.x0, 1.0 - kept + kept * box.y0, box.width, kept * box.height))
    above = figure.axes[0].get_position()
    axes = figure.add_axes((above.x0, 0.45 / (tall + more), above.width, (1.0 - kept) * 0.56))
    drawing.quiet(axes, "rounds", "log loss per row")
    levels, edges = _levels(parts), [parts[0].first - 1, *(part.last for part in parts)]
    ends = []
    for (name, colour, dash), line in zip(LINES, levels, strict=True):
        style: Any = "-" if not dash else (0, tuple(float(part) / 2 for part in dash.split()))
        width = 1.8 if colour == 0 else 1.2
        axes.stairs(line, edges, color=svg.COLOURS[colour], linestyle=style, linewidth=width, baseline=None, label=name)
        ends.append((line[-1], f"{line[-1]:.4f}", svg.COLOURS[colour]))
    top = _top(levels)
    axes.set_xlim(0, ledger.rounds)
    axes.set_ylim(0, top)
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False, fontsize=drawing.FONT, ncols=2
    )
    drawing.label_ends(figure, axes, ledger.rounds, [end for end in ends if end[0] <= top])
    drawing.line_up(figure)
