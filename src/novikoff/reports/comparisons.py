"""Report of a comparison: a page with deviations, intervals and a picture, and a figure.

The page has the learners and the baselines; the figure has their error rates over time, or by budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from novikoff import __version__
from novikoff.core.certificate import number
from novikoff.core.errors import SpecError, counted
from novikoff.evaluation.compare import Compared, Comparison, Spread
from novikoff.game import specs
from novikoff.reports import html, plain, summary, svg
from novikoff.reports.drawing import (
    COLOURS,
    CONSTANT,
    DASHES,
    brief,
    cut,
    label_ends,
    new_figure,
    percent,
    place_title,
    short_source,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def comparison(found: Comparison, command: Sequence[str] = ()) -> str:
    """Return the page of a comparison: a table with deviations and intervals, and the picture."""
    title = f"{counted(len(found.learners), 'learner')} on {found.source}"
    target = "" if found.target is None else f"target: {found.target}, "
    rounds = found.learners[0].games[0].rounds
    how = "in the given order"
    if found.shuffles:
        how = f"in {counted(found.shuffles, 'random order')}, the same for all (seed {found.seed})"
    best = min(found.learners, key=lambda one: one.rate.mean)
    counts = isinstance(found.learners[0].games[0].mistakes, int)
    lead = f"{best.learner} has the lowest {'error rate' if counts else 'loss'}, {_share(best.rate.mean, counts)}"
    if (constant := found.constant) is not None:
        lead += f"; always predicting {constant.says}: {_share(constant.costs / rounds, counts)}"
    cards = [html.folded(one.learner, "".join(map(html.card, one.certificates))) for one in found.learners
             if one.certificates]  # fmt: skip
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(target + counted(found.rows, "row"))}, {escape(how)}, novikoff {__version__}</p>',
        f'<p class="lead">{escape(lead)}.</p>',
        html.part(
            "Results",
            html.picture(curves(found)),
            table(found),
            "" if found.counted is None else html.text(found.counted),
        ),
        html.part("Guarantees", html.text("First game of each learner:") if cards else "", *cards),
        html.part("Assumptions", html.rests_on([one for each in found.learners for one in each.certificates])),
        html.again(command),
        html.as_json(plain.comparison(found)),
    )


def table(found: Comparison) -> str:
    """Return the table of learners and baselines."""
    first = found.learners[0].games[0]
    counts = isinstance(first.mistakes, int)
    heads = ["learner", "error rate" if counts else "loss per row", "standard deviation", "95 % interval of the mean",
             "updates", "seconds", "certificate of the first game"]  # fmt: skip
    rows = [_row(one, counts) for one in found.learners]
    if (constant := found.constant) is not None:
        rows.append((f"always {constant.says}", _share(constant.costs / first.rounds, counts), *[""] * 5))
    if first.last_label is not None:
        again = Spread.of(
            [one.last_label / one.rounds for one in found.learners[0].games if one.last_label is not None]
        )
        rows.append((summary.PREVIOUS, *_spread(again, counts), *[""] * 3))
    return html.table(heads, rows, sentences=True)


def curves(found: Comparison) -> str:
    """Draw the mean rate of each learner over time, within one standard deviation, and the best constant."""
    across = "rounds" if found.counted is None else "weight"
    unit = "mistakes" if isinstance(found.learners[0].games[0].mistakes, int) else "loss per row"
    times, drawn = (100.0 if unit == "mistakes" else 1.0), []
    for place, one in enumerate(found.learners):
        rounds, mean, deviation = one.curve()
        first = int((rounds < max(rounds[-1] // 100, 1)).sum())  # the rates of the first rounds are noise
        points = [(float(t), times * float(rate)) for t, rate in zip(rounds[first:], mean[first:], strict=True)]
        around = [times * float(wide) for wide in deviation[first:]] if len(one.games) > 1 else ()
        colour, dash = svg.COLOURS[place % len(svg.COLOURS)], svg.DASHES[place // len(svg.COLOURS) % len(svg.DASHES)]
        end = f"{points[-1][1]:.3g}" + (" %" if unit == "mistakes" else "")
        drawn.append(svg.Line(one.learner, points, colour, dash, end=end, around=around))
    if (constant := found.constant) is not None:
        last = float(found.learners[0].games[0].rounds)
        rate = times * constant.costs / last
        drawn.append(svg.Line(f"always {constant.says}", [(0.0, rate), (last, rate)], svg.CONSTANT,
                              svg.DASHES[2], end=f"{rate:.3g}" + (" %" if unit == "mistakes" else "")))  # fmt: skip
    return svg.lines(drawn, across, f"{unit}, %" if unit == "mistakes" else unit, f"{unit} of each learner")


def _row(one: Compared, counts: bool) -> tuple[str, ...]:
    best = one.certificates[0] if one.certificates else None
    promise = "none: no bound is known" if best is None else f"{best.comparison()}, {best.status}"
    return (one.learner, *_spread(one.rate, counts), number(round(one.updates.mean, 1)), f"{one.seconds:.3g}", promise)


def _spread(rate: Spread, counts: bool) -> tuple[str, str, str]:
    """Return mean, standard deviation, and confidence interval of the mean over all orders."""
    wide = "" if rate.deviation is None else _share(rate.deviation, counts)
    return _share(rate.mean, counts), wide, _interval(rate, counts)


def _interval(rate: Spread, counts: bool) -> str:
    """Return the 95 % interval of the mean over all orders, by Student's t; "" for a single game."""
    if rate.standard_error is None:
        return ""
    from scipy.stats import t

    half = float(t.ppf(0.975, rate.runs - 1)) * rate.standard_error
    return f"{_share(max(rate.mean - half, 0.0), counts)} to {_share(rate.mean + half, counts)}"


def _share(value: float, counts: bool) -> str:
    return f"{100 * value:.3g} %" if counts else f"{value:.4g}"


LOG_FROM = 1000
"""Largest number of rounds on a linear axis; beyond it the axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Point:
    """Error rate of a learner with a given budget; the deviation is None for a single run."""

    learner: str
    budget: float
    rate: float
    deviation: float | None = None


def compared(comparison: Comparison) -> Figure:
    """Draw the error rates of the learners over time, or by budget if nothing else differs."""
    points = budget_points(comparison)
    source = short_source(comparison.source)
    if points:
        return budgets(points, f"Error rate on {source}, by budget", _spread_note(comparison))
    learners = len(comparison.learners)
    banded = comparison.shuffles > 1 and learners <= len(COLOURS)  # more bands would be unreadable
    across = "rounds" if comparison.counted is None else "weight"
    figure, axes = new_figure(f"Error rate on {source}", across, "error rate up to this row, %", lines=learners)
    curves = [learner.curve() for learner in comparison.learners]
    total = int(curves[0][0][-1])
    first = max(total // 50, 1)  # the rate of fewer rounds is noise
    ends, low, high = [], np.inf, 0.0
    for place, (learner, (rounds, mean, deviation)) in enumerate(zip(comparison.learners, curves, strict=True)):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)]
        shown = rounds >= first
        t, rate, band = rounds[shown], 100 * mean[shown], 100 * deviation[shown]
        axes.plot(t, rate, color=colour, linestyle=dash, linewidth=1.8, label=learner.learner)
        if banded:
            axes.fill_between(
                t, rate - band, rate + band, color=colour, alpha=0.15 if learners < 5 else 0.08, linewidth=0
            )
        ends.append((float(rate[-1]), f"{cut(learner.learner)}  {percent(rate[-1])}", colour))
        band[t < min(5 * first, total)] = 0.0  # the wide band at the start may be cut off, the line may not
        low, high = min(low, float((rate - band).min())), max(high, float((rate + band).max()))
    note, constant = _spread_note(comparison, banded), comparison.constant
    if constant is not None:
        level, name = 100 * constant.costs / total, f"always {cut(str(constant.says))}"
        if level > 2 * high:  # the curves of the learners would be flat
            note += f"; {name} {percent(level)}"
        else:
            axes.axhline(level, color=CONSTANT, linewidth=1.5, linestyle=DASHES[2], label=name)
            ends.append((level, f"{name}  {percent(level)}", CONSTANT))
            low, high = min(low, level), max(high, level)
    _rounds_axis(axes, first, total)
    pad = 0.06 * (high - low) or max(0.05 * high, 0.1)
    axes.set_ylim(0 if low < 0.5 * high else max(low - pad, 0), high + pad)
    place_title(axes, note=note)
    label_ends(figure, axes, total, ends)
    return figure


def budgets(points: Sequence[Point], title: str = "Error rate by budget", note: str = "") -> Figure:
    """Draw the error rate by budget, with one line per learner."""
    figure, axes = new_figure(title, "budget (stored examples)", "error rate, %")
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(point.learner, []).append(point)
    ends = []
    for place, (name, own) in enumerate(lines.items()):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)]
        own = sorted(own, key=lambda point: point.budget)
        rates = [100 * point.rate for point in own]
        errors = [100 * (point.deviation or 0.0) for point in own] if own[0].deviation is not None else None
        at = [point.budget for point in own]
        axes.errorbar(at, rates, yerr=errors, color=colour, linestyle=dash, marker="o", markersize=4, linewidth=1.8,
                      elinewidth=1, capsize=2.5, label=name)  # fmt: skip
        ends.append((rates[-1], f"{cut(name)}  {percent(rates[-1])}", colour))
    sizes = sorted({point.budget for point in points})
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / 1.15, sizes[-1] * 1.15)
    axes.set_xticks(_apart(sizes), [brief(size) for size in _apart(sizes)])
    axes.set_xticks([], minor=True)
    place_title(axes, note=note)
    label_ends(figure, axes, sizes[-1], ends)
    return figure


def budget_points(comparison: Comparison) -> list[Point]:
    """Return one point per learner if all have budgets, and each has a peer that differs in budget only; else []."""
    points = [_budget_point(learner) for learner in comparison.learners]
    found = [point for point in points if point is not None]
    sizes: dict[str, set[float]] = {}
    for point in found:
        sizes.setdefault(point.learner, set()).add(point.budget)
    alone = len(found) < len(points) or any(len(own) < 2 for own in sizes.values())
    return [] if alone else found


def _budget_point(learner: Compared) -> Point | None:
    try:
        spec = specs.parse(learner.learner)
    except SpecError:  # a name that the caller gave
        return None
    others = dict(spec.named or {})
    budget = others.pop("budget", None)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or budget <= 0:
        return None
    rest = [str(value) for value in spec.positional] + [f"{key}={value}" for key, value in others.items()]
    name = spec.name + (":" + ",".join(rest) if rest else "")
    return Point(name, budget, learner.rate.mean, learner.rate.deviation)


def _rounds_axis(axes: Axes, first: int, last: int) -> None:
    """Set the axis of rounds from `first` to `last`: logarithmic if there are many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if last > LOG_FROM:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if last < 1000 * first else (1.0,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: brief(value)))
    axes.set_xlim(first, max(last, first + 1))


def _apart(sizes: Sequence[float]) -> list[float]:
    """Return the sizes whose labels do not overlap on a logarithmic axis."""
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if kept[-1] / size >= (sizes[-1] / sizes[0]) ** (1 / 12):
            kept.append(size)
    return kept[::-1]


def _spread_note(comparison: Comparison, deviation: bool = True) -> str:
    rows = counted(comparison.rows, "row") + (f", {comparison.passes} passes" if comparison.passes > 1 else "")
    if comparison.shuffles > 1:
        give = " ± one standard deviation" if deviation else ""
        return f"{rows}; mean over {comparison.shuffles} shuffles{give}"
    return rows + ("; shuffled once" if comparison.shuffles else "; in the given order")
