"""Plots: the mistakes of a game or its loss, the mistake rates of several learners, and what a budget buys.

Each function draws a figure and `save` writes it, as PNG or SVG by the ending of the file. The same figures make the
same file. matplotlib is imported when the first is drawn, and no window is ever opened.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import catalog
from novikoff.certificate import Certificate, bound_text
from novikoff.comparison import Compared, Comparison
from novikoff.errors import InputError, SpecError, counted
from novikoff.ledger import Ledger
from novikoff.replacing import check_replaced, first_bytes
from novikoff.reports import sentences, stretches, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg")
MADE_BY = "made by novikoff"
"""What a plot says of itself in the file, by which it is known as one."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Of Okabe and Ito, told apart by the colour-blind too; brown in place of their yellow, which is hard to see."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)))
"""For more lines than colours."""
INK, FAINT = "#333333", "#DDDDDD"
CONSTANT = "#777777"
INCHES = (8.0, 4.8)
ABOVE, BELOW = (0.09, 0.40, 0.72, 0.46), (0.09, 0.11, 0.72, 0.24)
"""Where the two pairs of axes of a game are."""
FONT = 9.5
LONGEST, LONGEST_REASON = 36, 70
"""Characters of a label."""
ELSEWHERE = ("coverage_", "stretch_")
"""Theorems that are drawn below, in axes of their own."""
GRID = 200
"""Points of a curve that is computed."""
FAR = 4.0
LARGE = 1e8
"""Numbers from here on are written in powers of ten."""
LOG_FROM = 1000
"""Rounds above which their axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Point:
    """A learner's mistake rate with a budget; deviation None of a single run."""

    learner: str
    budget: float
    rate: float
    deviation: float | None = None


def check(path: str, force: bool = False) -> None:
    """Refuse a file that cannot be written, or may not be replaced, before anything is played for it."""
    if PurePath(path).suffix.lower() not in ENDINGS:
        raise InputError(f"a plot must be a PNG or an SVG file: got {path}. End its name with .png or .svg.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"a plot must go into a folder that exists: {Path(path).parent} does not.")
    check_replaced(path, "a plot", _is_plot, force, InputError)


def _is_plot(path: str) -> bool:
    """Is it one of ours, by what it says of who made it?"""
    begin = first_bytes(path, 2048)
    return MADE_BY.encode() in begin and (begin.startswith(b"\x89PNG\r\n\x1a\n") or b"<svg" in begin)


def save(figure: Figure, path: str, force: bool = False) -> None:
    """Write the figure."""
    import matplotlib

    check(path, force)
    kind = PurePath(path).suffix.lower()[1:]
    metadata = {"Date": None, "Creator": MADE_BY} if kind == "svg" else {"Software": MADE_BY}
    with matplotlib.rc_context({"svg.hashsalt": "novikoff", "svg.fonttype": "none"}):
        try:
            figure.savefig(path, format=kind, dpi=150, metadata=metadata)
        except OSError as error:
            raise InputError(f"a plot must be writable: {path}: {error.strerror or error}.") from None


def game(
    ledger: Ledger, certificates: Sequence[Certificate], learner: str, hindsight: Iterable[tuple[str, float]] = ()
) -> Figure:
    """What was paid against rounds, above in all, below a round: mistakes, or the loss.

    Beside it the tightest bound, as a curve if the ledger has its `bounds`, and what others would have paid, (label,
    mistakes). What is of the whole game is a line above, and below what is left of it for each round. The best constant
    is drawn at the rate it has in the whole game.
    """
    from novikoff.reports.coverage import panels

    where = "on" if ledger.adversary is None else "against"
    what = "mistakes" if ledger.counts else f"{ledger.player.loss} loss"
    figure, axes = _figure(f"{learner} {where} {short_source(ledger.source)}", "", what)
    axes.set_position(ABOVE)
    below = figure.add_axes(BELOW)
    quiet(below, "rounds", "rate, %" if ledger.counts else "loss a round")
    rounds, paid = zip(*dict([(0, 0), *ledger.curve, (ledger.rounds, ledger.loss)]).items(), strict=True)
    style = "steps-post" if ledger.counts and ledger.mistakes < 100 else "default"  # few are seen one by one
    axes.plot(rounds, paid, color=COLOURS[0], linewidth=1.8, drawstyle=style, label=f"{what} of {cut(learner)}")
    levels, said = _levels(ledger, certificates, hindsight)
    for name, value, _, colour, dash in levels:
        if colour == COLOURS[1] and ledger.bounds:
            axes.plot(
                *zip(*_bounds(ledger, value), strict=True), color=colour, linewidth=1.5, linestyle=dash, label=name
            )
        elif colour == CONSTANT:
            axes.plot([0, ledger.rounds], [0, value], color=colour, linewidth=1.5, linestyle=dash, label=name)
        else:
            axes.axhline(value, color=colour, linewidth=1.5, linestyle=dash, label=name)
    if said:
        axes.plot([], [], " ", label=said)
    ends = [(float(paid[-1]), _number(paid[-1]), COLOURS[0])]
    far = _far(levels, [float(paid[-1]), *(bound for _, bound in ledger.bounds)])
    ends += [(value, text, colour) for _, value, text, colour, _ in levels if not (far and colour == CONSTANT)]
    axes.set_xlim(0, max(ledger.rounds, 1))
    highest = [*(value for value, _, _ in ends), *(bound for _, bound in ledger.bounds if len(levels))]
    axes.set_ylim(0, 1.05 * max(*highest, 1.0 if ledger.counts else 1e-9))
    axes.tick_params(labelbottom=False)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.1, frameon=False, fontsize=FONT)
    _place_title(axes, rows=len(axes.get_legend_handles_labels()[1]))
    label_ends(figure, axes, ledger.rounds, ends)
    _rates(figure, below, ledger, levels)
    line_up(figure)
    stretches.panel(figure, ledger)
    panels(figure, ledger, certificates)
    return figure


def line_up(figure: Figure) -> None:
    """All axes from the same left to the same right."""
    left = max(axes.get_position().x0 for axes in figure.axes)
    right = min(axes.get_position().x1 for axes in figure.axes)
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((left, box.y0, right - left, box.height))


def _levels(
    ledger: Ledger, certificates: Sequence[Certificate], hindsight: Iterable[tuple[str, float]]
) -> tuple[list[tuple[str, float, str, str, Any]], str]:
    """Levels to draw: (label, value, value in words, colour, dashes); and why there is no bound among them."""
    found: list[tuple[str, float, str, str, Any]] = []
    constant, why, what = ledger.best_constant, "", f"the {ledger.player.loss} loss"
    best = summary.bounding(ledger, certificates)
    if best is not None:
        value = summary.allowed(ledger, best) or 0.0
        loss = "the loss that the bound on its regret allows" if "regret" in best.quantity else f"bound on {what}"
        name = f"bound on {best.quantity}" if ledger.counts else loss
        when = "up to each round" if ledger.bounds else f"after {counted(ledger.rounds, 'round')}"
        name += f" {when} ({best.theorem}, {best.status})"
        found.append((name, float(value), bound_text(value, "upper"), COLOURS[1], DASHES[1]))
    elif bounds := [
        c for c in certificates if c.side == "upper" and not c.theorem.startswith(("coverage_", "stretch_"))
    ]:
        reason = cut(bounds[0].reason, LONGEST_REASON)
        why = f"no bound to draw: {bounds[0].theorem} is {bounds[0].status}" + (f" ({reason})" if reason else "")
        if bounds[0].status in ("valid", "conditional") and bounds[0].quantity != "mistakes":
            allows = bound_text(bounds[0].bound or 0.0, "upper")
            quantity = bounds[0].quantity.removesuffix(", at most")
            why = cut(f"not drawn: {bounds[0].theorem} allows a {quantity} of at most {allows}", LONGEST_REASON + 20)
    if constant is not None and ledger.adversary is None:
        name = f"{cut(summary.always(ledger))}, the best constant ({_number(constant.costs)} in all)"
        found.append((name, float(constant.costs), _number(constant.costs), CONSTANT, DASHES[2]))
    for colour, (name, value) in zip(COLOURS[2:], hindsight, strict=False):
        found.append((f"{name}, in hindsight", float(value), _number(value), colour, DASHES[2]))
    return found, why


def _far(levels: Sequence[tuple[str, float, str, str, Any]], others: Sequence[float]) -> bool:
    """Is the best constant so high that it would leave the rest no room? Its line then leads out of sight."""
    near = max(*others, *(value for _, value, _, colour, _ in levels if colour != CONSTANT), 1e-9)
    return any(value > FAR * near for _, value, _, colour, _ in levels if colour == CONSTANT)


def _bounds(ledger: Ledger, last: float) -> list[tuple[int, float]]:
    """The bounds up to some rounds, and the last."""
    return [*((t, bound) for t, bound in ledger.bounds if t < ledger.rounds), (ledger.rounds, last)]


def _rates(figure: Figure, axes: Axes, ledger: Ledger, levels: Sequence[tuple[str, float, str, str, Any]]) -> None:
    """What was paid a round up to each round; the rate of fewer rounds than one in fifty is noise."""
    times, words = (100.0, _percent) if ledger.counts else (1.0, _rate)
    promised = sentences.percent if ledger.counts else lambda rate: sentences.rounded(rate, "upper", 3)
    first, last = max(ledger.rounds // 50, 1), max(ledger.rounds, 1)
    points = [(t, times * paid / t) for t, paid in dict([*ledger.curve, (last, ledger.loss)]).items() if t >= first]
    rounds, rates = zip(*points, strict=True)
    axes.plot(rounds, rates, color=COLOURS[0], linewidth=1.8, label="_")
    grid = np.linspace(first, last, GRID)
    ends, highest = [(float(rates[-1]), words(rates[-1]), COLOURS[0])], [1e-9]
    for _, value, _, colour, dash in levels:
        rate = times * value / last
        at: Sequence[float] = grid.tolist()
        over: Sequence[float] = [rate] * GRID if colour == CONSTANT else (times * value / grid).tolist()
        if colour == COLOURS[1] and ledger.bounds:
            shown = [(t, times * bound / t) for t, bound in _bounds(ledger, value) if t >= first]
            at, over = zip(*shown, strict=True)
            highest.append(max(over))
        axes.plot(at, over, color=colour, linewidth=1.5, linestyle=dash, label="_")
        ends.append((rate, promised(value / last) if colour == COLOURS[1] else words(rate), colour))
    axes.set_xlim(0, last)
    axes.set_ylim(0, 1.05 * max(*rates, *(rate for rate, _, _ in ends), *highest))
    label_ends(figure, axes, last, ends)


def compared(comparison: Comparison) -> Figure:
    """The mistake rates of the learners against rounds; or against their budgets, if these are all that differs."""
    points = budget_points(comparison)
    source = short_source(comparison.source)
    if points:
        return budgets(points, f"Mistakes on {source}, by budget", _spread_note(comparison))
    many = len(comparison.learners)
    banded = comparison.shuffles > 1 and many <= len(COLOURS)  # more would be mud
    figure, axes = _figure(f"Mistakes on {source}", "rounds", "mistake rate up to this round, %", lines=many)
    curves = [learner.curve() for learner in comparison.learners]
    total = int(curves[0][0][-1])
    first = max(total // 50, 1)  # the rate of fewer rounds is noise
    ends, low, high = [], np.inf, 0.0
    for number, (learner, (rounds, mean, deviation)) in enumerate(zip(comparison.learners, curves, strict=True)):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        shown = rounds >= first
        t, rate, band = rounds[shown], 100 * mean[shown], 100 * deviation[shown]
        axes.plot(t, rate, color=colour, linestyle=dash, linewidth=1.8, label=learner.learner)
        if banded:
            axes.fill_between(t, rate - band, rate + band, color=colour, alpha=0.15 if many < 5 else 0.08, linewidth=0)
        ends.append((float(rate[-1]), f"{cut(learner.learner)}  {_percent(rate[-1])}", colour))
        band[t < min(5 * first, total)] = 0.0  # where it is wide it may be cut off, not the line
        low, high = min(low, float((rate - band).min())), max(high, float((rate + band).max()))
    note, constant = _spread_note(comparison, banded), comparison.constant
    if constant is not None:
        level, name = 100 * constant.costs / total, f"always {cut(str(constant.says))}"
        if level > 2 * high:  # it would leave the learners no room
            note += f"; {name} {_percent(level)}"
        else:
            axes.axhline(level, color=CONSTANT, linewidth=1.5, linestyle=DASHES[2], label=name)
            ends.append((level, f"{name}  {_percent(level)}", CONSTANT))
            low, high = min(low, level), max(high, level)
    _rounds_axis(axes, first, total)
    pad = 0.06 * (high - low) or max(0.05 * high, 0.1)
    axes.set_ylim(0 if low < 0.5 * high else max(low - pad, 0), high + pad)
    _place_title(axes, note=note)
    label_ends(figure, axes, total, ends)
    return figure


def budgets(points: Sequence[Point], title: str = "Mistakes by budget", note: str = "") -> Figure:
    """Mistake rate against budget, a line for each learner."""
    figure, axes = _figure(title, "budget (examples kept)", "mistake rate, %")
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(point.learner, []).append(point)
    ends = []
    for number, (name, own) in enumerate(lines.items()):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        own = sorted(own, key=lambda point: point.budget)
        rates = [100 * point.rate for point in own]
        errors = [100 * (point.deviation or 0.0) for point in own] if own[0].deviation is not None else None
        at = [point.budget for point in own]
        axes.errorbar(at, rates, yerr=errors, color=colour, linestyle=dash, marker="o", markersize=4, linewidth=1.8,
                      elinewidth=1, capsize=2.5, label=name)  # fmt: skip
        ends.append((rates[-1], f"{cut(name)}  {_percent(rates[-1])}", colour))
    sizes = sorted({point.budget for point in points})
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / 1.15, sizes[-1] * 1.15)
    axes.set_xticks(_apart(sizes), [_number(size) for size in _apart(sizes)])
    axes.set_xticks([], minor=True)
    _place_title(axes, note=note)
    label_ends(figure, axes, sizes[-1], ends)
    return figure


def budget_points(comparison: Comparison) -> list[Point]:
    """A point for each learner, if all have a budget and each has a fellow that differs by its budget only; else []."""
    points = [_budget_point(learner) for learner in comparison.learners]
    found = [point for point in points if point is not None]
    sizes: dict[str, set[float]] = {}
    for point in found:
        sizes.setdefault(point.learner, set()).add(point.budget)
    alone = len(found) < len(points) or any(len(own) < 2 for own in sizes.values())
    return [] if alone else found


def _budget_point(learner: Compared) -> Point | None:
    try:
        spec = catalog.parse(learner.learner)
    except SpecError:  # a name that the caller gave
        return None
    others = dict(spec.named or {})
    budget = others.pop("budget", None)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or budget <= 0:
        return None
    rest = [str(value) for value in spec.positional] + [f"{key}={value}" for key, value in others.items()]
    name = spec.name + (":" + ",".join(rest) if rest else "")
    return Point(name, budget, learner.rate.mean, learner.rate.deviation)


def _figure(title: str, across: str, up: str, lines: int = 0) -> tuple[Figure, Axes]:
    """A figure with one quiet pair of axes, tall enough for labels of so many lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES[0], max(INCHES[1], 1.4 + 0.24 * lines)))
    axes = figure.add_axes((0.09, 0.12, 0.72, 0.74))
    axes.set_title("\n".join(textwrap.wrap(title, 76)), loc="left", fontsize=FONT + 2.5, color=INK)
    quiet(axes, across, up)
    return figure, axes


def quiet(axes: Axes, across: str, up: str) -> None:
    """What all axes look like."""
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
        axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))


def _place_title(axes: Axes, rows: int = 0, note: str = "") -> None:
    """The title above `rows` lines of legend, or above a note in small letters."""
    if note:
        axes.annotate(note, (0, 1), (0, 5), "axes fraction", "offset points", fontsize=FONT - 0.5, color="#666666")
    lines = max(rows, 1 if note else 0)
    axes.set_title(axes.get_title(loc="left"), loc="left", pad=8 + lines * (FONT + 5.0))
    box, more = axes.get_position(), max(rows - 1, 0) + axes.get_title(loc="left").count("\n")
    lost = more * (FONT + 5.0) / (72 * INCHES[1])
    axes.set_position((box.x0, box.y0, box.width, box.height - lost))


def _rounds_axis(axes: Axes, first: int, last: int) -> None:
    """Rounds from `first` to `last`: in powers of ten if they are many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if last > LOG_FROM:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if last < 1000 * first else (1.0,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axes.set_xlim(first, max(last, first + 1))


def label_ends(figure: Figure, axes: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Beside the right edge, what each line is: (height, text, colour). No two overlap; a hair leads to each."""
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
    gap = 0.014 * figure.bbox.width / tall.width  # the hair, as a part of the axes
    end = axes.transAxes.inverted().transform(axes.transData.transform((x, low)))[0]
    for text, want, place, (_, _, colour) in zip(texts, wanted, spread(wanted, least), ends, strict=True):
        text.set_position((1.0 + 1.4 * gap, place))
        axes.plot([end, 1.0 + 0.3 * gap, 1.0 + gap], [want, want, place], color=colour, linewidth=0.7,
                  transform=axes.transAxes, clip_on=False, label="_")  # fmt: skip


def spread(wanted: Sequence[float], least: float) -> list[float]:
    """Places from 0 to 1, `least` apart, in the order of those wanted and as near to them as can be (least squares)."""
    ranked = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # sums of (wanted - rank * least), and how many: means must not fall
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


def _apart(sizes: Sequence[float]) -> list[float]:
    """Those that can be written beside each other on a logarithmic axis."""
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if kept[-1] / size >= (sizes[-1] / sizes[0]) ** (1 / 12):
            kept.append(size)
    return kept[::-1]


def _spread_note(comparison: Comparison, deviation: bool = True) -> str:
    rows = counted(comparison.rows, "row") + (f", {comparison.passes} passes" if comparison.passes > 1 else "")
    if comparison.shuffles > 1:
        give = ", give or take one standard deviation" if deviation else ""
        return f"{rows}; mean over {comparison.shuffles} shuffles{give}"
    return rows + ("; shuffled once" if comparison.shuffles else "; in their own order")


def short_source(source: str) -> str:
    """A path by its last part."""
    return PurePath(source).name if PurePath(source).is_absolute() else source


def cut(text: str, longest: int = LONGEST) -> str:
    """A label, not too long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _percent(rate: float) -> str:
    return f"{rate:.1f} %" if rate >= 10 else f"{rate:.3g} %"


def _rate(rate: float) -> str:
    return _number(float(f"{rate:.3g}"))


def _number(value: float) -> str:
    if abs(value) >= LARGE:
        return f"{value:.3g}".replace("e+", "e").replace("e0", "e")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
