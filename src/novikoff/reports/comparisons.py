"""Report of a comparison: a page with deviations and intervals, and a chart.

The page has the learners and the baselines; the chart has their error rates over time, or by budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from novikoff import __version__
from novikoff.core.certificate import number
from novikoff.core.errors import SpecError, counted
from novikoff.evaluation.compare import Compared, Comparison, Spread
from novikoff.evaluation.cost import Costs
from novikoff.game import specs
from novikoff.reports import html, plain, summary, svg, tiles
from novikoff.reports.charts import COLOURS, CONSTANT, DOTTED, Chart, Line, Panel, cut, percent, short_source, style


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
    verdict = f"{found.verdict} " if found.verdict else ""
    lead = (
        verdict
        + f"{best.learner} has the lowest {'error rate' if counts else 'loss'}, {_share(best.rate.mean, counts)}"
    )
    if (constant := found.constant) is not None:
        lead += f"; always predicting {constant.says}: {_share(constant.costs / rounds, counts)}"
    cards = [html.folded(one.learner, "".join(map(html.card, one.certificates))) for one in found.learners
             if one.certificates]  # fmt: skip
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(target + counted(found.rows, "row"))}, {escape(how)}, novikoff {__version__}</p>',
        html.tiles(tiles.of_comparison(found)),
        f'<p class="lead">{escape(lead)}.</p>',
        html.part(
            "Results",
            html.charts(html.figure(chart(found).panels[0], hero=True)),
            table(found),
            "" if found.counted is None else html.text(found.counted),
        ),
        html.part("Guarantees", html.text("First game of each learner:") if cards else "", *cards),
        html.part(
            "Details",
            html.assumptions([one for each in found.learners for one in each.certificates]),
            html.again(command, found.source),
            html.as_json(plain.comparison(found)),
        ),
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
    kept = [k for k in range(len(heads)) if any(row[k] for row in rows)]  # one order has no deviation
    return html.table([heads[k] for k in kept], [[row[k] for k in kept] for row in rows], sentences=True, stacked=True)


def picture(found: Comparison) -> str:
    """Return the chart of a comparison as SVG."""
    return svg.panel(chart(found).panels[0])


def chart(found: Comparison) -> Chart:
    """Return the rates of the learners over time, or by budget if nothing else differs."""
    source = short_source(found.source)
    if points := budget_points(found):
        return budgets(points, f"Error rate on {source}, by budget", _spread_note(found))
    panel, note = _over_time(found)
    return Chart(f"{panel.up.partition(' up to')[0].capitalize()} on {source}", [panel], note)


def _over_time(found: Comparison) -> tuple[Panel, str]:
    """Return the mean rate of each learner up to each row, within one standard deviation, and the best constant."""
    counts = isinstance(found.learners[0].games[0].mistakes, int)
    times, words = (100.0, percent) if counts else (1.0, lambda rate: f"{rate:.3g}")
    banded = found.shuffles > 1 and len(found.learners) < len(COLOURS)  # more bands would be unreadable
    each = [learner.curve() for learner in found.learners]
    total = int(each[0][0][-1])
    first = max(total // 50, 1)  # the rate of fewer rounds is noise
    lines, low, high = [], np.inf, 0.0
    for place, (learner, (rounds, mean, deviation)) in enumerate(zip(found.learners, each, strict=True)):
        colour, dash = style(place)
        shown = rounds >= first
        t, rate, band = rounds[shown], times * mean[shown], times * deviation[shown]
        points = list(zip(t.tolist(), rate.tolist(), strict=True))
        end = f"{words(rate[-1])}  {learner.learner}"
        lines.append(Line(learner.learner, points, colour, dash, end=end, around=band.tolist() if banded else ()))
        band = np.where(t < min(5 * first, total), 0.0, band)  # the wide band at the start may be cut off
        low, high = min(low, float((rate - band).min())), max(high, float((rate + band).max()))
    note, constant = _spread_note(found, banded), found.constant
    if constant is not None:
        level, name = times * constant.costs / total, f"always {cut(str(constant.says))}"
        if level > 2 * high:  # the curves of the learners would be flat
            note += f"; {name} {words(level)}"
        else:
            ends = [(first, level), (total, level)]
            lines.append(Line(name, ends, CONSTANT, DOTTED, end=f"{words(level)}  {name}"))
            low, high = min(low, level), max(high, level)
    pad = 0.06 * (high - low) or max(0.05 * high, 0.1)
    bottom = 0.0 if low < 0.5 * high else max(low - pad, 0.0)
    across = "rounds" if found.counted is None else "weight"
    up = "error rate up to this row, %" if counts else "loss per row, up to this row"
    panel = Panel(up, across, lines, low=bottom, high=high + pad, first=first, last=max(total, first + 1),
                  log=total > LOG_FROM, height=max(1.2, 0.085 * len(lines)))  # fmt: skip
    return panel, note


def _row(one: Compared, counts: bool) -> tuple[str, ...]:
    best = one.certificates[0] if one.certificates else None
    promise = (
        "none: no bound is known"
        if best is None
        else f"{best.comparison().replace('<=', '≤').replace('>=', '≥')}, {best.status}"
    )
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


def budgets(points: Sequence[Point], title: str = "Error rate by budget", note: str = "") -> Chart:
    """Return the error rate by budget, with one line per learner."""
    learners: dict[str, list[Point]] = {}
    for point in points:
        learners.setdefault(point.learner, []).append(point)
    lines = []
    for place, (name, series) in enumerate(learners.items()):
        series = sorted(series, key=lambda point: point.budget)
        rates = [(point.budget, 100 * point.rate) for point in series]
        errors = [100 * (point.deviation or 0.0) for point in series] if series[0].deviation is not None else []
        end = f"{percent(rates[-1][1])}  {name}"
        lines.append(Line(name, rates, *style(place), end=end, around=errors, marks=True))
    sizes = sorted({point.budget for point in points})
    ends = [rate + sign * wide for line in lines for (_, rate), wide in
            zip(line.points, line.around or [0.0] * len(line.points), strict=True) for sign in (-1, 1)]  # fmt: skip
    pad = 0.08 * (max(ends) - min(ends)) or 0.1
    panel = Panel("error rate, %", "budget (stored examples)", lines, low=max(min(ends) - pad, 0.0),
                  high=max(ends) + pad, first=sizes[0] / 1.15, last=sizes[-1] * 1.15, log=True, at=_apart(sizes),
                  height=1.2)  # fmt: skip
    return Chart(title, [panel], note)


def budget_points(comparison: Comparison) -> list[Point]:
    """Return one point per learner if all have budgets, and each has a peer that differs in budget only; else []."""
    points = [_budget_point(learner) for learner in comparison.learners]
    found = [point for point in points if point is not None]
    sizes: dict[str, set[float]] = {}
    for point in found:
        sizes.setdefault(point.learner, set()).add(point.budget)
    alone = len(found) < len(points) or any(len(series) < 2 for series in sizes.values())
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


def cost_chart(found: Costs) -> Chart:
    """Return the microseconds per round of each learner, and the seconds so far."""
    per_round, total = [], []
    for place, one in enumerate(found.learners):
        colour, dash = style(place)
        name = cut(one.learner)
        each = [(t, 1e6 * seconds) for t, seconds in one.per_round]
        per_round.append(Line(name, each, colour, dash, end=f"{each[-1][1]:,.3g}  {name}"))
        total.append(Line(name, one.curve, colour, dash, end=f"{one.seconds:,.3g}  {name}"))
    panels = [Panel("microseconds per round", "rounds", per_round), Panel("seconds so far", "rounds", total)]
    return Chart(f"Cost on {short_source(found.source)}", panels, "process time of one game of each learner")
