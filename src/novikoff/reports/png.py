"""Charts as PNG, drawn by matplotlib, which is imported with the first figure. No window is ever opened."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from novikoff.reports.charts import (
    BOUND,
    COLOURS,
    DASHES,
    Bars,
    Chart,
    Line,
    Panel,
    Region,
    cut,
    short,
    spread,
    stairs,
    ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, GREY = "#333333", "#DDDDDD", "#999999"
"""Colours of text, of grid lines, and of axes."""
WIDTH, PANEL, ROW, BELOW = 8.0, 2.6, 0.2, 0.62
"""Inches: width of the figure; height of a panel, of a line of the legend, of the axis below a panel."""
FONT = 9.5
"""Font size in points."""
LEFT, RIGHT = 0.1, 0.77
"""Left and right end of all axes, as fractions of the width."""


def figure(one: Chart) -> Figure:
    """Return a chart as a figure of matplotlib."""
    from matplotlib.figure import Figure

    title = textwrap.wrap(one.title, 76) or [""]
    head = 0.28 + 0.22 * len(title) + (0.2 if one.note else 0.0)
    rooms = [_room(panel) for panel in one.panels]
    tall = head + sum(above + body + BELOW for above, body in rooms)
    drawn = Figure(figsize=(WIDTH, tall))
    drawn.text(0.012, 1.0 - 0.1 / tall, "\n".join(title), fontsize=FONT + 2.5, color=INK, va="top")
    if one.note:
        drawn.text(0.012, 1.0 - (head - 0.08) / tall, one.note, fontsize=FONT - 0.5, color="#666666", va="bottom")
    y = tall - head
    for panel, (above, body) in zip(one.panels, rooms, strict=True):
        left = 0.24 if isinstance(panel, Bars) else LEFT
        right = 0.93 if isinstance(panel, Bars) else RIGHT
        axes = drawn.add_axes((left, (y - above - body) / tall, right - left, body / tall))
        if isinstance(panel, Bars):
            _draw_bars(axes, panel)
        else:
            _draw(axes, panel)
        y -= above + body + BELOW
    return drawn


def _room(one: Panel | Bars) -> tuple[float, float]:
    """Return the inches of the legend and of the axes of a panel."""
    if isinstance(one, Bars):
        return (0.2 if one.level_name else 0.0), 0.32 * len(one.bars) + 0.1
    return ROW * len(one.names()), max(PANEL * one.height, 0.19 * len(one.ends()))


def _draw(axes: Axes, one: Panel) -> None:
    """Draw regions, curves, legend, and the texts at the ends of curves."""
    _quiet(axes, one.across, one.up)
    (first, last), (low, high) = one.across_range(), one.up_range()
    if one.log:
        axes.set_xscale("log")
    axes.set_xlim(first, last)
    axes.set_ylim(low, high)
    across, up = one.across_ticks(), ticks(low, high)
    axes.set_xticks(across, [short(value) for value in across])
    axes.set_xticks([], minor=True)
    axes.set_yticks(up, [one.up_text(value) for value in up])
    if low < 0.0:
        axes.axhline(0.0, color=GREY, linewidth=0.8, label="_")
    for region in one.regions:
        x, below, above = zip(*region.points, strict=True)
        axes.fill_between(x, below, above, color=region.colour, alpha=region.opacity, linewidth=0, label="_")
        if region.inside is not None:
            text, at, height = region.inside
            axes.text(at, height, text, color="white", fontsize=FONT, ha="center", va="center")
    for line in one.lines:
        if line.points:
            _curve(axes, line)
    handles = [(_handle(what), name) for name, what in one.names()]
    if handles:
        marks, names = zip(*handles, strict=True)
        axes.legend(marks, names, loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False,
                    fontsize=FONT)  # fmt: skip
    _label_ends(axes, one)


def _dash(line: Line) -> Any:
    return (0, tuple(0.55 * length for length in DASHES[line.dash])) if DASHES[line.dash] else "-"


def _curve(axes: Axes, line: Line) -> None:
    """Draw one curve, with its band or its error bars."""
    x, y = zip(*(stairs(line.points) if line.steps else line.points), strict=True)
    wide = 1.1 if line.thin else 1.8
    name = line.name or "_"
    if line.marks:
        axes.errorbar(x, y, yerr=list(line.around) or None, color=line.colour, linestyle=_dash(line), marker="o",
                      markersize=4, linewidth=wide, elinewidth=1, capsize=2.5, label=name)  # fmt: skip
        return
    axes.plot(x, y, color=line.colour, linestyle=_dash(line), linewidth=wide, label=name)
    if len(line.around):
        low = [value - wide for (_, value), wide in zip(line.points, line.around, strict=True)]
        high = [value + wide for (_, value), wide in zip(line.points, line.around, strict=True)]
        axes.fill_between([t for t, _ in line.points], low, high, color=line.colour, alpha=0.15, linewidth=0)


def _handle(what: Line | Region | None) -> object:
    """Return the mark of a legend entry."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(what, Line):
        return Line2D([], [], color=what.colour, linestyle=_dash(what), linewidth=1.8)
    if isinstance(what, Region):
        return Patch(color=what.colour, alpha=what.opacity, linewidth=0)
    return Line2D([], [], linestyle=" ")


def _label_ends(axes: Axes, one: Panel) -> None:
    """Label the curves at the right edge, without overlaps; a thin line leads to each label."""
    ends = one.ends()
    low, high = one.up_range()
    tall = axes.get_position().height * axes.figure.get_figheight()  # type: ignore[union-attr]
    wanted = [(value - low) / (high - low) for value, _, _ in ends]
    for want, place, (_, text, colour) in zip(wanted, spread(wanted, 0.17 / tall), ends, strict=True):
        axes.text(1.03, place, cut(text, 20), transform=axes.transAxes, color=colour, fontsize=FONT, va="center")
        axes.plot([1.0, 1.007, 1.025], [want, want, place], color=colour, linewidth=0.7, transform=axes.transAxes,
                  clip_on=False, label="_")  # fmt: skip


def _draw_bars(axes: Axes, one: Bars) -> None:
    """Draw bars with their marks, and the level."""
    _quiet(axes, one.across, "")
    for place, bar in enumerate(one.bars):
        axes.plot([bar.low, bar.high], [place, place], color=COLOURS[0], linewidth=6,
                  alpha=0.75 if bar.mark is None else 0.35, solid_capstyle="butt")  # fmt: skip
        if bar.mark is not None:
            axes.plot([bar.mark], [place], "o", color=COLOURS[0], markersize=5)
        if bar.end:
            axes.annotate(bar.end, (max(bar.high, 0.0), place), (4, 0), textcoords="offset points", fontsize=FONT,
                          va="center", color=INK)  # fmt: skip
    if one.level is not None:
        axes.axvline(one.level, color=BOUND, linewidth=1.5)
        axes.annotate(one.level_name, (one.level, 1.0), (0, 3), xycoords=("data", "axes fraction"),
                      textcoords="offset points", color=BOUND, fontsize=FONT, ha="center")  # fmt: skip
    axes.set_xlim(*one.across_range())
    axes.set_ylim(len(one.bars) - 0.5, -0.5)
    axes.set_yticks(range(len(one.bars)), [cut(bar.name, 26) for bar in one.bars], fontsize=FONT)


def _quiet(axes: Axes, across: str, up: str) -> None:
    """Style the axes."""
    axes.set_xlabel(across, fontsize=FONT + 0.5, color=INK)
    axes.set_ylabel(up, fontsize=FONT + 0.5, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(labelsize=FONT, colors=INK, color=GREY)
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
