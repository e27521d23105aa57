"""Charts as SVG, for pages and files. No library, a few kilobytes each.

Text and axes inherit the colour of the surrounding text, so a picture fits a dark page too. Curves differ by colour and
by dash; each has a name in the legend, and its last value at its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from novikoff.reports.charts import (
    COLOURS,
    CONTINUES,
    DASHES,
    Bars,
    Chart,
    Line,
    Panel,
    Points,
    Region,
    cut,
    short,
    spread,
    stairs,
    ticks,
)

WIDTH, HEIGHT = 680, 250
"""Size of a panel in pixels, without its legend."""
LEFT, RIGHT, BELOW, ROW = 58, 220, 36, 18
"""Least room for the vertical axis, most room for last values, and room for the horizontal axis and for one line of the
legend."""


class Size(NamedTuple):
    """Sizes of a picture in pixels.

    Attributes:
        width: Width of the picture.
        height: Height of a panel, without its legend.
        left: Least room for the vertical axis.
        right: Most room for last values and the names after them.
        names: Room for the names of bars.
    """

    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    names: int = 160

    def fits(self, pixels: float) -> int:
        """Return the number of characters that fit into so many pixels."""
        return max(int(pixels / CHARACTER), 4)


WIDE, NARROW = Size(), Size(360, 220, 50, 82, 126)
"""Sizes of a picture across the page, and of one of several side by side, which also fits a phone."""
LEAST_HEIGHT = 0.85
"""Smallest height of a narrow panel, relative to that of an ordinary one."""
CHARACTER = 6.9
"""Mean width of a character in pixels."""
APART = 13.0
"""Smallest distance in pixels between two last values."""
FINE = 0.75
"""Distance in pixels below which two points are drawn as one."""
LINE_HEIGHT = 16
"""Pixels per line of a title."""


def panel(one: Panel | Bars, size: Size = WIDE) -> str:
    """Return one panel as a picture."""
    height, inner = _bars(one, size) if isinstance(one, Bars) else _panel(one, size)
    return _picture(height, one.describe(), inner, size.width)


def chart(one: Chart, creator: str = "") -> str:
    """Return a chart as a picture on white; `creator` is written into its metadata."""
    parts, y = [f'<text x="12" y="{LINE_HEIGHT + 4}" font-size="15">{escape(cut(one.title, 88))}</text>'], 32.0
    if one.note:
        parts.append(f'<text x="12" y="{y + 8}" fill="#666666">{escape(one.note)}</text>')
        y += LINE_HEIGHT
    for part in one.panels:
        height, inner = _bars(part) if isinstance(part, Bars) else _panel(part)
        parts.append(f'<g transform="translate(0 {y})">{inner}</g>')
        y += height + 8
    made = f"<metadata>{escape(creator)}</metadata>" if creator else ""
    paper = f'<rect width="{WIDTH}" height="{y:.0f}" fill="white"/>'
    title = f"{one.title}. " + ". ".join(part.describe() for part in one.panels)
    return _picture(y, title, f'{made}{paper}<g fill="#333333" color="#333333">{"".join(parts)}</g>')


def _panel(one: Panel, size: Size = WIDE) -> tuple[float, str]:
    """Return the height and the content of a panel."""
    names = one.names()
    frame = _Frame(one, ROW * len(names) + 10, size)
    parts = [frame.region(region) for region in one.regions if region.points]
    parts += [frame.axes(), *(frame.curve(line) for line in one.lines if line.points)]
    parts += [frame.inside(region) for region in one.regions]
    parts.append(frame.ends(one.ends()))
    parts += [_legend(place, name, what, size) for place, (name, what) in enumerate(names)]
    return frame.bottom + BELOW, "".join(parts)


class _Frame:
    """Map from rounds and values to positions in the picture."""

    def __init__(self, one: Panel, head: int, size: Size = WIDE) -> None:
        self.panel, self.head, self.size = one, head, size
        (self.first, self.last), (self.low, self.high) = one.across_range(), one.up_range()
        tall = one.height if size is WIDE else max(one.height, LEAST_HEIGHT)
        self.bottom = head + int((size.height - BELOW) * tall)
        self.left, self.right = size.left, size.width - size.right
        widest = max((len(one.up_text(value)) for value in ticks(self.low, self.high)), default=0)
        self.left = max(self.left, int(CHARACTER * widest) + 28)
        if size is WIDE:  # as much as the texts at the ends of curves need
            longest = max((len(text) for _, text, _ in one.ends()), default=0)
            self.right = size.width - min(max(int(CHARACTER * longest) + 32, 24), size.right)
        else:
            self.right = size.width - (size.right if one.ends() else 14)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point."""
        if self.panel.log:
            along = math.log(x / self.first) / math.log(self.last / self.first)
        else:
            along = (x - self.first) / (self.last - self.first)
        up = (y - self.low) / (self.high - self.low)
        return self.left + (self.right - self.left) * along, self.bottom - (self.bottom - self.head) * up

    def axes(self) -> str:
        """Return the two axes, with ticks and names."""
        left, right, parts = self.left, self.right, []
        for value in ticks(self.low, self.high):
            _, y = self.place(self.first, value)
            parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke-opacity="0.15"/>')
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{self.panel.up_text(value)}</text>')
        for value in self._apart(self.panel.across_ticks()):
            x, _ = self.place(value, self.low)
            parts.append(f'<text x="{x:.1f}" y="{self.bottom + 16}" text-anchor="middle">{short(value)}</text>')
        middle, across = (self.head + self.bottom) / 2, escape(self.panel.across)
        parts.append(f'<text x="{(left + right) / 2}" y="{self.bottom + 32}" text-anchor="middle">{across}</text>')
        turned = f'transform="rotate(-90 12 {middle})"'
        parts.append(f'<text x="12" y="{middle}" {turned} text-anchor="middle">{escape(self.panel.up)}</text>')
        return f'<g stroke="currentColor" class="axes">{"".join(parts)}</g>'.replace("<text", '<text stroke="none"')

    def _apart(self, values: Sequence[float]) -> list[float]:
        """Return the values whose texts below the axis do not overlap."""
        kept: list[float] = []
        for value in values:
            wide = CHARACTER * (len(short(value)) + len(short(kept[-1]))) / 2 + 10 if kept else 0.0
            if not kept or self.place(value, self.low)[0] - self.place(kept[-1], self.low)[0] >= wide:
                kept.append(value)
        return kept

    def _clipped(self, drawn: str) -> str:
        """Return what is drawn, cut off at the edges of the frame."""
        left, wide, tall = self.left, self.right - self.left, self.bottom - self.head
        room = f'x="{left}" y="{self.head}" width="{wide}" height="{tall}"'
        return f'<svg {room} viewBox="{left} {self.head} {wide} {tall}">{drawn}</svg>'

    def curve(self, line: Line) -> str:
        """Return the curve and the band around it, cut off above the frame."""
        path: list[str] = []
        tall = self.high - self.low
        corners = stairs(line.points) if line.steps else line.points
        for part in within(corners, self.low - tall, self.high + tall):
            before = (-math.inf, math.inf)
            for k, point in enumerate(part):
                x, y = self.place(*point)
                if x - before[0] < FINE and abs(y - before[1]) < FINE and k + 1 < len(part):
                    continue
                path.append(f"{'L' if k else 'M'}{x:.1f} {y:.1f}")
                before = (x, y)
        wide = 1.2 if line.thin else 2
        drawn = f'<path d="{"".join(path)}" fill="none" stroke="{line.colour}" stroke-width="{wide}"{_dash(line)}/>'
        if line.marks:
            drawn += "".join(self._mark(line, k) for k in range(len(line.points)))
        elif len(line.around):
            step = max(1, len(line.points) // 100)
            band = [(x, y - wide, y + wide) for (x, y), wide in zip(line.points, line.around, strict=True)]
            drawn = self._polygon([*band[:-1:step], band[-1]], line.colour, 0.15) + drawn
        return self._clipped(drawn)

    def _mark(self, line: Line, k: int) -> str:
        """Return the mark at one point, with its error bar."""
        x, y = self.place(*line.points[k])
        drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{line.colour}"/>'
        if len(line.around):
            at, value = line.points[k]
            ends = [self.place(at, value + sign * line.around[k])[1] for sign in (-1, 1)]
            drawn += (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" '
                f'stroke="{line.colour}" stroke-width="1"/>'
            )
        return drawn

    def _polygon(self, points: Sequence[tuple[float, float, float]], colour: str, opacity: float) -> str:
        edge = [self.place(x, above) for x, _, above in points] + [self.place(x, low) for x, low, _ in points[::-1]]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in edge)
        return f'<polygon points="{corners}" fill="{colour}" fill-opacity="{opacity}"/>'

    def region(self, region: Region) -> str:
        """Return a shaded area."""
        return self._clipped(self._polygon(region.points, region.colour, region.opacity))

    def inside(self, region: Region) -> str:
        """Return the text inside a region."""
        if region.inside is None:
            return ""
        text, x, y = region.inside
        left, height = self.place(x, y)
        return f'<text x="{left:.1f}" y="{height + 4:.1f}" text-anchor="middle" fill="white">{escape(text)}</text>'

    def _short(self, text: str) -> str:
        """Shorten the text at the end of a curve: leave out the name after a value if both do not fit."""
        room = self.size.fits(self.size.width - self.right - 20)
        value, _, name = text.partition("  ")
        return value if name and self.size is not WIDE and len(text) > room else cut(text, room)

    def ends(self, ends: Sequence[tuple[float, str, str]]) -> str:
        """Return the texts at the ends of curves, moved apart where they would overlap."""
        wanted = [self.bottom + 4.0 - self.place(self.last, value)[1] for value, _, _ in ends]
        least = min(APART, (self.bottom + 4.0 - self.head) / max(len(ends) - 1, 1))
        return "".join(
            f'<text x="{self.right + 6}" y="{self.bottom + 8.0 - up:.1f}"><tspan fill="{colour}">● </tspan>'
            f"{escape(self._short(text))}</text>"
            for up, (_, text, colour) in zip(spread(wanted, least, self.bottom + 4.0 - self.head), ends, strict=True)
        )


def _bars(one: Bars, size: Size = WIDE) -> tuple[float, str]:
    """Return the height and the content of a bar chart."""
    low, high = one.across_range()
    longest = max((len(bar.end) for bar in one.bars), default=0)
    names, after = size.names, 60 if size is WIDE else min(CHARACTER * longest + 10, 132)
    right, head = size.width - after, 24 if one.level_name else 10
    bottom = head + ROW * len(one.bars) + 4

    def place(value: float) -> float:
        return names + (right - names) * (value - low) / (high - low)

    parts = []
    for value in ticks(low, high, 5 if size is WIDE else 3):
        x = f"{place(value):.1f}"
        parts.append(f'<line x1="{x}" x2="{x}" y1="{head}" y2="{bottom}" stroke="currentColor" stroke-opacity="0.15"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{short(value)}</text>')
    parts.append(f'<text x="{(names + right) / 2}" y="{bottom + 32}" text-anchor="middle">{escape(one.across)}</text>')
    colour = "#0072B2"
    for k, bar in enumerate(one.bars):
        y, opacity = head + ROW * k + 4, 0.75 if bar.mark is None else 0.35
        name = escape(cut(bar.name, size.fits(names - 12)))
        parts.append(f'<text x="{names - 8}" y="{y + 10}" text-anchor="end">{name}</text>')
        start, wide = place(min(bar.low, bar.high)), abs(place(bar.high) - place(bar.low))
        parts.append(
            f'<rect x="{start:.1f}" y="{y + 1}" width="{wide:.1f}" height="11" fill="{colour}" '
            f'fill-opacity="{opacity}"/>'
        )
        if bar.mark is not None:
            parts.append(f'<circle cx="{place(bar.mark):.1f}" cy="{y + 6.5}" r="4" fill="{colour}"/>')
        if bar.end:
            end = escape(cut(bar.end, max(size.fits(after), 14)))
            # side by side: in a column, clear of bars and level
            after_bar = place(max(bar.high, 0.0)) + 5 if size is WIDE else right + 6
            parts.append(f'<text x="{after_bar:.1f}" y="{y + 10}">{end}</text>')
    if one.level is not None:
        x = f"{place(one.level):.1f}"
        parts.append(f'<line x1="{x}" x2="{x}" y1="{head - 6}" y2="{bottom}" stroke="#D55E00" stroke-width="1.5"/>')
        parts.append(f'<text x="{x}" y="{head - 10}" text-anchor="middle">{escape(one.level_name)}</text>')
    return bottom + BELOW, "".join(parts)


def within(points: Points, low: float, high: float) -> list[list[tuple[float, float]]]:
    """Return the parts of a curve between two heights, cut where it crosses one; no point is moved."""
    parts: list[list[tuple[float, float]]] = [[]]
    for k, (x, y) in enumerate(points):
        ends = sorted({0.0, 1.0, *(crossings(points[k - 1], (x, y), (low, high)) if k else ())})
        for start, stop in pairwise(ends) if k else ():
            one, two = (_between(points[k - 1], (x, y), part) for part in (start, stop))
            if low <= _between(points[k - 1], (x, y), 0.5 * (start + stop))[1] <= high:
                parts[-1] = parts[-1] or [one]
                parts[-1].append(two)
            elif parts[-1]:
                parts.append([])
    return [part for part in parts if part] or [[point] for point in points if low <= point[1] <= high]


def crossings(one: tuple[float, float], two: tuple[float, float], heights: Sequence[float]) -> list[float]:
    """Return the fractions of the segment between two points at which it crosses these heights."""
    rise = two[1] - one[1]
    found = [(height - one[1]) / rise for height in heights if rise != 0.0 and math.isfinite(rise)]
    return [part for part in found if 0.0 < part < 1.0]


def _between(one: tuple[float, float], two: tuple[float, float], part: float) -> tuple[float, float]:
    """Return the point at this fraction of a segment."""
    if part in (0.0, 1.0):
        return two if part else one
    return one[0] + part * (two[0] - one[0]), one[1] + part * (two[1] - one[1])


def _dash(line: Line) -> str:
    lengths = " ".join(f"{length:g}" for length in DASHES[line.dash])
    return f' stroke-dasharray="{lengths}"' if lengths else ""


def _legend(place: int, name: str, what: Line | Region | None, size: Size = WIDE) -> str:
    y, left, mark = ROW * place + 12, size.left if size is WIDE else 12, ""
    if size is not WIDE and len(name) > (room := size.fits(size.width - left - 38)):
        name = cut(name.removesuffix(CONTINUES), room)
    if isinstance(what, Line):
        mark = (
            f'<line x1="{left}" x2="{left + 30}" y1="{y - 4}" y2="{y - 4}" stroke="{what.colour}" '
            f'stroke-width="2"{_dash(what)}/>'
        )
    elif what is not None:
        mark = (
            f'<rect x="{left}" y="{y - 9}" width="30" height="10" fill="{what.colour}" fill-opacity="{what.opacity}"/>'
        )
    return f'{mark}<text x="{left + 38 if what is not None else left}" y="{y}">{escape(name)}</text>'


class Outlined(NamedTuple):
    """One line of an outline.

    Attributes:
        lasts: For each ancestor but the root, and the line itself, whether it is the last of its siblings.
        text: Text of the line.
        counts: First figure.
        figure: Second figure.
        share: Length of the bar, from 0 to 1; None for no bar.
    """

    lasts: tuple[bool, ...]
    text: str
    counts: str
    figure: str
    share: float | None


def outline(lines: Sequence[Outlined], heads: tuple[str, str], title: str) -> str:
    """Return a tree as a picture: one line per node, indented, with its figures and a bar.

    Args:
        lines: Nodes, each before its children.
        heads: Names of the two figures.
        title: Title of the picture.
    """
    step, indent, count, bar, wide = 22, 16, 466, 478, 84
    parts = [
        f'<text x="{count}" y="14" text-anchor="end" fill-opacity="0.7">{escape(cut(heads[0], 20))}</text>',
        f'<text x="{bar}" y="14" fill-opacity="0.7">{escape(cut(heads[1], 28))}</text>',
    ]
    for place, line in enumerate(lines):
        y, x = 34 + step * place, 8 + indent * len(line.lasts)
        tall = next((k for k, other in enumerate(lines[:place][::-1]) if len(other.lasts) < len(line.lasts)), 0) + 1
        if line.lasts:  # from the parent's line down, and across
            parts.append(f'<path d="M{x - 10} {y - 4 - step * tall + 6}V{y - 4}h7" fill="none" stroke="currentColor" '
                         'stroke-opacity="0.45"/>')  # fmt: skip
        room = int((count - 66 - x) / 6.3)
        parts.append(f'<text x="{x}" y="{y}"><title>{escape(line.text)}</title>{escape(cut(line.text, room))}</text>')
        parts.append(f'<text x="{count}" y="{y}" text-anchor="end">{escape(line.counts)}</text>')
        after = bar
        if line.share is not None:
            parts.append(f'<rect x="{bar}" y="{y - 10}" width="{wide}" height="12" fill-opacity="0.12"/>')
            parts.append(f'<rect x="{bar}" y="{y - 10}" width="{wide * line.share:.1f}" height="12" '
                         f'fill="{COLOURS[0]}"/>')  # fmt: skip
            after += wide + 8
        parts.append(f'<text x="{after}" y="{y}">{escape(cut(line.figure, 17))}</text>')
    return _picture(34 + step * len(lines), title, "".join(parts))


def _picture(height: float, title: str, inner: str, width: int = WIDTH) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" role="img" fill="currentColor" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>{inner}</svg>'
    )
