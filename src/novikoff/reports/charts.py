"""Charts as data, without their rendering: `svg` renders them for pages and .svg files, `png` for .png files.

A chart is a title over panels. A panel has curves and shaded regions over rounds, or bars. Ranges, ticks, the legend
and the texts at the ends of curves are decided here, so that both renderers show the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from novikoff.core.certificate import number

Points = Sequence[tuple[float, float]]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#777777")
"""Palette of Okabe and Ito, safe for the colour-blind; brown and grey replace their yellow and black."""
BOUND, CONSTANT = COLOURS[1], COLOURS[-1]
"""Colours of guarantees and of the best constant."""
SOLID, DASHED, DOTTED, DASH_DOT = range(4)
"""Line styles, as indices into DASHES."""
DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 3), (9, 3, 2, 3))
"""Lengths of dashes and gaps of each style, in pixels."""
FAR = 4.0
"""Ratio of a curve to the highest other one above which it is cut off; its name in the legend then says so."""
GRID = 200
"""Number of points of a computed curve."""
LONGEST, LONGEST_REASON = 36, 70
"""Largest number of characters of a label, and of a reason."""
CONTINUES = " (continues above)"
"""End of the name of a curve that is cut off at the top."""
LARGE = 1e8
"""Smallest number that is written with an exponent."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        name: Name in the legend; "" to leave it out.
        points: (round, value), by increasing round.
        colour: Colour of the line.
        dash: SOLID, DASHED, DOTTED or DASH_DOT.
        steps: Draw steps, so that few mistakes are visible one by one.
        end: Text at its end; None for its last value, "" for nothing.
        around: Half width of a band around the line at each point; empty for none.
        marks: Draw a mark at each point, and `around` as error bars.
        thin: Draw a thin line.
    """

    name: str
    points: Points
    colour: str = COLOURS[0]
    dash: int = SOLID
    steps: bool = False
    end: str | None = None
    around: Sequence[float] = ()
    marks: bool = False
    thin: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """One shaded area.

    Attributes:
        name: Name in the legend; "" to leave it out.
        points: (round, lower edge, upper edge), by increasing round.
        colour: Colour of the area.
        opacity: Opacity of the area.
        end: Text at the middle of its right edge; "" for nothing.
        inside: Text inside, and where: (text, round, value); None for nothing.
    """

    name: str
    points: Sequence[tuple[float, float, float]]
    colour: str = COLOURS[0]
    opacity: float = 0.15
    end: str = ""
    inside: tuple[str, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves and regions over one pair of axes.

    Attributes:
        up: Name of the vertical axis.
        across: Name of the horizontal axis.
        lines: Curves.
        regions: Shaded areas, drawn below the curves.
        notes: Further lines of the legend, such as the reason why no bound is drawn.
        low: Bottom of the vertical axis; None for 0 or the lowest value.
        high: Top of the vertical axis; None for the highest value, where curves far above the rest are cut off.
        first: Left end of the horizontal axis.
        last: Right end; None for the last point.
        log: Logarithmic horizontal axis.
        at: Ticks of the horizontal axis; empty for round numbers.
        percent: The values are shares of 1, shown in percent.
        height: Height relative to that of an ordinary panel.
        title: Heading in a report; "" for the name of the vertical axis.
    """

    up: str
    across: str
    lines: Sequence[Line] = ()
    regions: Sequence[Region] = ()
    notes: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    first: float = 0.0
    last: float | None = None
    log: bool = False
    at: Sequence[float] = ()
    percent: bool = False
    height: float = 1.0
    title: str = ""

    @property
    def heading(self) -> str:
        """The heading in a report."""
        return self.title or sentence_case(self.up)

    def across_range(self) -> tuple[float, float]:
        """Return the ends of the horizontal axis."""
        ends = [line.points[-1][0] for line in self.lines if line.points]
        ends += [region.points[-1][0] for region in self.regions if region.points]
        last = max(ends, default=1.0) if self.last is None else self.last
        return self.first, last if last > self.first else self.first + 1.0

    def up_range(self) -> tuple[float, float]:
        """Return the ends of the vertical axis."""
        low, high = self.low, self.high
        finite = [value for line in self.lines for _, value in line.points if math.isfinite(value)]
        finite += [value for region in self.regions for _, *edges in region.points for value in edges]
        if low is None:
            low = min([0.0, *finite])
        if high is None:
            tops = [top(line.points) for line in self.lines if line.points]
            tops += [max(above for _, _, above in region.points) for region in self.regions if region.points]
            high = _highest(tops)
            high += 0.04 * (high - low)
        return low, high if high > low else low + max(1e-12, 1e-12 * abs(low))

    def names(self) -> list[tuple[str, Line | Region | None]]:
        """Return the entries of the legend: name, and curve or region; None for notes."""
        _, high = self.up_range()
        found: list[tuple[str, Line | Region | None]] = [
            (line.name + (CONTINUES if top(line.points) > high else ""), line)
            for line in self.lines
            if line.name and line.points
        ]
        found += [(region.name, region) for region in self.regions if region.name]
        return [*found, *((note, None) for note in self.notes)]

    def ends(self) -> list[tuple[float, str, str]]:
        """Return (value, text, colour) at the right edge, for each curve and region that ends inside the panel."""
        low, high = self.up_range()
        found = [
            (line.points[-1][1], number(line.points[-1][1]) if line.end is None else line.end, line.colour)
            for line in self.lines
            if line.points
        ]
        found += [(0.5 * sum(region.points[-1][1:]), region.end, region.colour) for region in self.regions]
        return [(value, text, colour) for value, text, colour in found if text and low <= value <= high]

    def describe(self) -> str:
        """Describe the panel for screen readers: its axes, and the last value of each curve."""
        last = [f"{name} {number(line.points[-1][1])}" for name, line in self.names() if isinstance(line, Line)]
        last += [region.end for region in self.regions if region.end]
        return f"{self.up} against {self.across}" + (f": {', '.join(last)}" if last else "")

    def up_text(self, value: float) -> str:
        """Format a tick of the vertical axis."""
        return f"{100 * value:.0f} %" if self.percent else short(value)

    def across_ticks(self) -> list[float]:
        """Return the ticks of the horizontal axis."""
        first, last = self.across_range()
        if self.at:
            return list(self.at)
        return log_ticks(first, last) if self.log else ticks(first, last)


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart: a range and a mark in it.

    Attributes:
        name: Name at the left.
        low: Left end of the bar.
        high: Right end of the bar.
        mark: Position of the dot; None for none.
        end: Text after the bar; "" for nothing.
    """

    name: str
    low: float
    high: float
    mark: float | None = None
    end: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars, one per row.

    Attributes:
        across: Name of the horizontal axis.
        bars: Rows, from the top.
        level: Position of a vertical line; None for none.
        level_name: Name of that line.
        title: Heading in a report; "" for the name of the axis.
    """

    across: str
    bars: Sequence[Bar]
    level: float | None = None
    level_name: str = ""
    title: str = ""

    @property
    def heading(self) -> str:
        """The heading in a report."""
        return self.title or sentence_case(self.across)

    def across_range(self) -> tuple[float, float]:
        """Return the ends of the horizontal axis; 0 is always shown."""
        values = [value for bar in self.bars for value in (bar.low, bar.high, bar.mark) if value is not None]
        values += [] if self.level is None else [self.level]
        low, high = min([0.0, *values]), max([0.0, *values])
        return low, high if high > low else low + 1.0

    def describe(self) -> str:
        """Describe the chart for screen readers."""
        rows = [f"{bar.name} {bar.end or number(bar.high if bar.mark is None else bar.mark)}" for bar in self.bars]
        return f"{self.across}: {', '.join(rows)}"


@dataclass(frozen=True, slots=True)
class Chart:
    """A title, a note in small print, and panels one below the other."""

    title: str
    panels: Sequence[Panel | Bars]
    note: str = ""


def sentence_case(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def style(place: int) -> tuple[str, int]:
    """Return colour and dashes of the curve at this place among many."""
    colours = COLOURS[:-1]  # the last, grey, is for the best constant
    return colours[place % len(colours)], place // len(colours) % len(DASHES)


def top(points: Points) -> float:
    """Return the largest finite value of a curve."""
    return max((value for _, value in points if math.isfinite(value)), default=0.0)


def _highest(tops: Sequence[float]) -> float:
    """Return the top of a panel; curves far above all others are cut off."""
    ranked = sorted(tops, reverse=True)
    while len(ranked) > 1 and ranked[0] > FAR * ranked[1] > 0.0:
        ranked.pop(0)
    return (ranked[0] if ranked else 1.0) or 1.0


def stairs(points: Points) -> list[tuple[float, float]]:
    """Return the corners of a staircase: each value holds until the next round."""
    corners = [(later, value) for (_, value), (later, _) in pairwise(points)]
    return [points[0], *(corner for two in zip(corners, points[1:], strict=True) for corner in two)]


def levels(values: Sequence[float], edges: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a staircase: value k holds from edge k to edge k + 1."""
    return [(edge, value) for value, two in zip(values, pairwise(edges), strict=True) for edge in two]


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers from low to high."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / wanted))
    step *= next((m for m in (1.0, 2.0, 5.0) if (high - low) / (m * step) <= wanted), 10.0)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten from low to high, with 2 and 5 times each where there is room."""
    between = (1.0, 2.0, 5.0) if high < 1000 * low else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [k * 10.0**power for power in powers for k in between if low <= k * 10.0**power <= high]


def short(value: float) -> str:
    """Format a number for an axis: 20,000, and 400 M above a million."""
    for unit, name in ((1e9, "G"), (1e6, "M")):
        if unit <= abs(value) < 1e4 * unit:
            return f"{value / unit:,.6g} {name}"
    return f"{value:,.6g}"


def brief(value: float) -> str:
    """Format a number for the end of a curve."""
    if abs(value) >= LARGE:
        return f"{value:.3g}".replace("e+", "e").replace("e0", "e")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def percent(rate: float) -> str:
    """Format a rate in percent, with three significant digits at most."""
    return f"{rate:.1f} %" if rate >= 10 else f"{rate:.3g} %"


def cut(text: str, longest: int = LONGEST) -> str:
    """Shorten a label to `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def short_source(source: str) -> str:
    """Return the last part of an absolute path; other sources as they are."""
    return PurePath(source).name if PurePath(source).is_absolute() else source


def spread(wanted: Sequence[float], least: float, highest: float = 1.0) -> list[float]:
    """Return places from 0 to `highest`, at least `least` apart, in the wanted order and closest in least squares."""
    ranked = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Isotonic regression by pooling adjacent violators: blocks of labels that touch move together.
    blocks: list[list[float]] = []  # sum of (wanted - rank * least) and count per block; means must not decrease
    for rank, i in enumerate(ranked):
        blocks.append([wanted[i] - rank * least, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    most = highest - (len(wanted) - 1) * least
    places = [0.0] * len(wanted)
    means = [total / count for total, count in blocks for _ in range(int(count))]
    for rank, (i, mean) in enumerate(zip(ranked, means, strict=True)):
        places[i] = min(max(mean, 0.0), most) + rank * least
    return places
