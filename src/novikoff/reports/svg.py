"""Pictures for pages, as SVG: curves over rounds, and shares of a whole. No library, a few kilobytes each.

Text and axes inherit the colour of the surrounding text, so the picture fits a dark page too. Lines differ by colour
and by dash; each has a name in the legend, and its last value at its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from novikoff.core.certificate import number

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#777777")
"""Palette of Okabe and Ito, safe for the colour-blind; brown and grey replace their yellow and black."""
CONSTANT = COLOURS[-1]
"""Colour of the best constant."""
DASHES = ("", "7 3", "2 3", "9 3 2 3")
WIDTH, HEIGHT = 680, 250
LEFT, RIGHT, BELOW, ROW = 58, 132, 36, 18
"""Room for the vertical axis, for last values, for the horizontal axis, and for one line of the legend."""
FAR = 4.0
"""Height of a line, relative to the highest of the others, from which on it is cut off; its name then says so."""
APART = 13.0
"""Pixels between two last values, at least."""
FINE = 0.75
"""Distance in pixels below which two points are drawn as one."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        name: Name in the legend.
        points: (round, value), by increasing round.
        colour: Colour of the line.
        dash: SVG dash pattern; "" for a solid line.
        steps: Draw steps, so that few mistakes are visible one by one.
        end: Text at its end; None for its last value.
        around: Half width of a band around the line at each point; empty for none.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: str = COLOURS[0]
    dash: str = ""
    steps: bool = False
    end: str | None = None
    around: Sequence[float] = ()


def lines(drawn: Sequence[Line], across: str, up: str, title: str) -> str:
    """Draw curves against `across`; `title` describes them to screen readers."""
    drawn = [line for line in drawn if line.points]
    last = max((line.points[-1][0] for line in drawn), default=1.0) or 1.0
    tops = [max(value for _, value in line.points) for line in drawn]
    low = min((min(value for _, value in line.points) for line in drawn), default=0.0)
    top, low = _top(tops), min(low, 0.0)
    head = ROW * len(drawn) + 10
    frame = _Frame(last, low, top + 0.04 * (top - low), head)
    parts = [frame.axes(across, up), *map(frame.curve, drawn)]
    ends = [(line.points[-1][1], number(line.points[-1][1]) if line.end is None else line.end, line.colour)
            for line, high in zip(drawn, tops, strict=True) if line.points[-1][1] <= frame.high]  # fmt: skip
    parts.append(frame.ends(ends))
    names = [line.name + (" (continues above)" if high > frame.high else "") for line, high in
             zip(drawn, tops, strict=True)]  # fmt: skip
    parts += [_legend(place, name, line.colour, line.dash) for place, (line, name) in
              enumerate(zip(drawn, names, strict=True))]  # fmt: skip
    return _picture(head + HEIGHT, title, parts)


def shares(rounds: Sequence[float], bands: Sequence[tuple[str, Sequence[float]]], title: str) -> str:
    """Draw stacked shares of a whole over rounds; a share is named at its end, unless it is small."""
    frame = _Frame(rounds[-1] or 1.0, 0.0, 1.0, 10)
    floor, parts, ends = [0.0] * len(rounds), [], []
    for place, (name, band) in enumerate(bands):
        colour = COLOURS[place % len(COLOURS)]
        above = [least + share for least, share in zip(floor, band, strict=True)]
        edge = [*zip(rounds, above, strict=True)], [*zip(rounds, floor, strict=True)][::-1]
        points = " ".join(f"{x:.1f},{y:.1f}" for some in edge for x, y in map(frame.place, some))
        parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.7"/>')
        if band[-1] >= 0.02:
            ends.append(((floor[-1] + above[-1]) / 2, f"{name} {100 * band[-1]:.0f} %", colour))
        floor = above
    return _picture(10 + HEIGHT, title, [*parts, frame.axes("rounds", "weights", percent=True), frame.ends(ends)])


def _top(tops: Sequence[float]) -> float:
    """Return the top of the frame; lines far above all others are cut off."""
    ranked = sorted((top for top in tops if math.isfinite(top)), reverse=True)
    while len(ranked) > 1 and ranked[0] > FAR * ranked[1] > 0.0:
        ranked.pop(0)
    return (ranked[0] if ranked else 1.0) or 1.0


class _Frame:
    """Map from rounds and values to positions in the picture."""

    def __init__(self, last: float, low: float, high: float, head: int) -> None:
        self.last, self.low, self.high, self.head = last, low, max(high, low + 1e-12), head
        self.bottom = head + HEIGHT - BELOW

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return the position of a point."""
        x, y = point
        up = (y - self.low) / (self.high - self.low)
        return LEFT + (WIDTH - LEFT - RIGHT) * x / self.last, self.bottom - (self.bottom - self.head) * up

    def axes(self, across: str, up: str, percent: bool = False) -> str:
        """Return the two axes, with ticks and names."""
        right, parts = WIDTH - RIGHT, []
        for value in ticks(self.low, self.high):
            _, y = self.place((0.0, value))
            text = f"{100 * value:.0f} %" if percent else short(value)
            parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke-opacity="0.15"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for value in ticks(0.0, self.last):
            x, _ = self.place((value, 0.0))
            parts.append(f'<text x="{x:.1f}" y="{self.bottom + 16}" text-anchor="middle">{short(value)}</text>')
        middle = (self.head + self.bottom) / 2
        parts.append(
            f'<text x="{(LEFT + right) / 2}" y="{self.bottom + 32}" text-anchor="middle">{escape(across)}</text>'
        )
        turned = f'transform="rotate(-90 12 {middle})"'
        parts.append(f'<text x="12" y="{middle}" {turned} text-anchor="middle">{escape(up)}</text>')
        return f'<g stroke="currentColor" class="axes">{"".join(parts)}</g>'.replace("<text", '<text stroke="none"')

    def curve(self, line: Line) -> str:
        """Return the curve and the band around it, cut off above the frame."""
        room = f'x="{LEFT}" y="{self.head}" width="{WIDTH - LEFT - RIGHT}" height="{self.bottom - self.head}"'
        view = f'viewBox="{LEFT} {self.head} {WIDTH - LEFT - RIGHT} {self.bottom - self.head}"'
        path: list[str] = []
        for part in within(stairs(line.points) if line.steps else line.points, self.low, 2 * self.high - self.low):
            before = (-math.inf, math.inf)
            for k, point in enumerate(part):
                x, y = self.place(point)
                if x - before[0] < FINE and abs(y - before[1]) < FINE and k + 1 < len(part):
                    continue
                path.append(f"{'L' if k else 'M'}{x:.1f} {y:.1f}")
                before = (x, y)
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        drawn = f'<path d="{"".join(path)}" fill="none" stroke="{line.colour}" stroke-width="2"{dash}/>'
        if len(line.around):
            up = [(x, y + wide) for (x, y), wide in zip(line.points, line.around, strict=True)]
            down = [(x, y - wide) for (x, y), wide in zip(line.points, line.around, strict=True)]
            step = max(1, len(up) // 100)
            edge = [*up[::step], up[-1], down[-1], *down[::-step]]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, edge))
            drawn = f'<polygon points="{points}" fill="{line.colour}" fill-opacity="0.15"/>{drawn}'
        return f"<svg {room} {view}>{drawn}</svg>"

    def ends(self, ends: Sequence[tuple[float, str, str]]) -> str:
        """Return the texts at the ends of lines, moved apart where they would overlap."""
        ranked = sorted(ends, reverse=True)
        places: list[float] = []
        for value, _, _ in ranked:
            y = self.place((0.0, value))[1]
            places.append(max(y, places[-1] + APART) if places else y)
        lowest = self.bottom + 4.0
        for i in reversed(range(len(places))):
            places[i] = min(places[i], lowest)
            lowest = places[i] - APART
        x = f'x="{WIDTH - RIGHT + 6}"'
        parts = [
            f'<text {x} y="{y + 4:.1f}"><tspan fill="{colour}">● </tspan>{escape(cut(text))}</text>'
            for y, (_, text, colour) in zip(places, ranked, strict=True)
        ]
        return "".join(parts)


def stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a staircase: each value holds until the next round."""
    corners = [(later, value) for (_, value), (later, _) in pairwise(points)]
    return [points[0], *(corner for two in zip(corners, points[1:], strict=True) for corner in two)]


def within(points: Sequence[tuple[float, float]], low: float, high: float) -> list[list[tuple[float, float]]]:
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


def short(value: float) -> str:
    """Format a number for an axis: 20,000, and 400 M above a million."""
    for unit, name in ((1e9, "G"), (1e6, "M")):
        if unit <= abs(value) < 1e4 * unit:
            return f"{value / unit:,.6g} {name}"
    return f"{value:,.6g}"


def cut(text: str, most: int = 20) -> str:
    """Shorten a text to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers from low to high."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / wanted))
    step *= next((m for m in (1.0, 2.0, 5.0) if (high - low) / (m * step) <= wanted), 10.0)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _legend(place: int, name: str, colour: str, dash: str) -> str:
    y = ROW * place + 12
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{LEFT}" x2="{LEFT + 30}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dashed}/>'
        f'<text x="{LEFT + 38}" y="{y}">{escape(name)}</text>'
    )


def _picture(height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" fill="currentColor" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )
