"""Style and files of figures: colours, axes, labels at the ends of lines, PNG or SVG.

`save` chooses the format by the suffix. Equal figures give equal files. matplotlib is imported with the first figure,
and no window is ever opened.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import InputError
from novikoff.core.overwriting import check_replaced, first_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg")
MADE_BY = "made by novikoff"
"""Metadata that marks a file as a plot of this library."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Palette of Okabe and Ito, safe for the colour-blind; brown replaces their yellow, which is hard to see."""
DASHES: tuple[object, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)))
"""Line styles, for more lines than colours."""
INK, FAINT = "#333333", "#DDDDDD"
CONSTANT = "#777777"
INCHES = (8.0, 4.8)
FONT = 9.5
LONGEST, LONGEST_REASON = 36, 70
"""Largest number of characters of a label, and of a reason."""
GRID = 200
"""Number of points of a computed curve."""
LARGE = 1e8
"""Numbers from here on are written with an exponent."""


def check(path: str, force: bool = False) -> None:
    """Refuse a file that cannot be written, or must not be replaced, before the game is played."""
    if PurePath(path).suffix.lower() not in ENDINGS:
        raise InputError(f"a plot must be a PNG or an SVG file: got {path}. End its name with .png or .svg.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"the folder {Path(path).parent} does not exist. Create it, or choose another.")
    if find_spec("matplotlib") is None:
        raise InputError('a plot needs matplotlib, which is not installed: pip install "novikoff[plot]".')
    check_replaced(path, "a plot", _is_plot, force, InputError)


def _is_plot(path: str) -> bool:
    """Return whether the file is a plot of this library, by its metadata."""
    begin = first_bytes(path, 2048)
    return MADE_BY.encode() in begin and (begin.startswith(b"\x89PNG\r\n\x1a\n") or b"<svg" in begin)


def save(figure: Figure, path: str, force: bool = False) -> None:
    """Write the figure to a file."""
    import matplotlib

    check(path, force)
    kind = PurePath(path).suffix.lower()[1:]
    metadata = {"Date": None, "Creator": MADE_BY} if kind == "svg" else {"Software": MADE_BY}
    with matplotlib.rc_context({"svg.hashsalt": "novikoff", "svg.fonttype": "none"}):
        try:
            figure.savefig(path, format=kind, dpi=150, metadata=metadata)
        except OSError as error:
            raise InputError(f"a plot must be writable: {path}: {error.strerror or error}.") from None


def new_figure(title: str, across: str, up: str, lines: int = 0) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes, tall enough for `lines` labels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES[0], max(INCHES[1], 1.4 + 0.24 * lines)))
    axes = figure.add_axes((0.09, 0.12, 0.72, 0.74))
    axes.set_title("\n".join(textwrap.wrap(title, 76)), loc="left", fontsize=FONT + 2.5, color=INK)
    quiet(axes, across, up)
    return figure, axes


def quiet(axes: Axes, across: str, up: str) -> None:
    """Style the axes."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel(across, fontsize=FONT + 0.5, color=INK)
    axes.set_ylabel(up, fontsize=FONT + 0.5, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#999999")
    axes.tick_params(labelsize=FONT, colors=INK, color="#999999")
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: brief(value)))


def line_up(figure: Figure) -> None:
    """Align all axes on the left and on the right."""
    left = max(axes.get_position().x0 for axes in figure.axes)
    right = min(axes.get_position().x1 for axes in figure.axes)
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((left, box.y0, right - left, box.height))


def place_title(axes: Axes, rows: int = 0, note: str = "") -> None:
    """Place the title above `rows` lines of legend, or above a note in small print."""
    if note:
        axes.annotate(note, (0, 1), (0, 5), "axes fraction", "offset points", fontsize=FONT - 0.5, color="#666666")
    lines = max(rows, 1 if note else 0)
    axes.set_title(axes.get_title(loc="left"), loc="left", pad=8 + lines * (FONT + 5.0))
    box, more = axes.get_position(), max(rows - 1, 0) + axes.get_title(loc="left").count("\n")
    lost = more * (FONT + 5.0) / (72 * INCHES[1])
    axes.set_position((box.x0, box.y0, box.width, box.height - lost))


def label_ends(figure: Figure, axes: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Label the lines (height, text, colour) at the right edge, without overlaps; a thin line leads to each label."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer: Any = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    texts = [axes.text(1.03, 0.5, text, transform=axes.transAxes, color=colour, fontsize=FONT, va="center")
             for _, text, colour in ends]  # fmt: skip
    boxes = [text.get_window_extent(renderer) for text in texts]
    box = axes.get_position()
    widest = max(extent.width for extent in boxes) / figure.bbox.width
    scale = axes.yaxis.get_tightbbox(renderer)
    left = box.x0 + 0.012 - (scale.x0 / figure.bbox.width if scale else 0.0)
    axes.set_position((left, box.y0, 1.0 - left - widest - 0.045, box.height))
    tall = axes.get_window_extent(renderer)
    least = 1.12 * max(extent.height for extent in boxes) / tall.height
    low, high = axes.get_ylim()
    wanted = [(height - low) / (high - low) for height, _, _ in ends]
    gap = 0.014 * figure.bbox.width / tall.width  # length of the thin line, as a fraction of the axes
    end = axes.transAxes.inverted().transform(axes.transData.transform((x, low)))[0]
    for text, want, place, (_, _, colour) in zip(texts, wanted, spread(wanted, least), ends, strict=True):
        text.set_position((1.0 + 1.4 * gap, place))
        axes.plot([end, 1.0 + 0.3 * gap, 1.0 + gap], [want, want, place], color=colour, linewidth=0.7,
                  transform=axes.transAxes, clip_on=False, label="_")  # fmt: skip


def spread(wanted: Sequence[float], least: float) -> list[float]:
    """Return places from 0 to 1, at least `least` apart, in the wanted order and closest to it in least squares."""
    ranked = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # sum of (wanted - rank * least) and count per block; means must not decrease
    for rank, i in enumerate(ranked):
        blocks.append([wanted[i] - rank * least, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    highest = 1.0 - (len(wanted) - 1) * least
    places = [0.0] * len(wanted)
    means = [total / count for total, count in blocks for _ in range(int(count))]
    for rank, (i, mean) in enumerate(zip(ranked, means, strict=True)):
        places[i] = min(max(mean, 0.0), highest) + rank * least
    return places


def short_source(source: str) -> str:
    """Return the last part of an absolute path; other sources as they are."""
    return PurePath(source).name if PurePath(source).is_absolute() else source


def cut(text: str, longest: int = LONGEST) -> str:
    """Shorten a label to `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def percent(rate: float) -> str:
    """Format a rate in percent, with three significant digits at most."""
    return f"{rate:.1f} %" if rate >= 10 else f"{rate:.3g} %"


def brief(value: float) -> str:
    """Format a number for an axis or the end of a line."""
    if abs(value) >= LARGE:
        return f"{value:.3g}".replace("e+", "e").replace("e0", "e")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
