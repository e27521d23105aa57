"""A comparison as a page: the learners and those who learn nothing, with deviations, intervals and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from novikoff import __version__
from novikoff.core.certificate import number
from novikoff.core.errors import counted
from novikoff.evaluation.compare import Compared, Comparison, Spread
from novikoff.reports import html, plain, summary, svg


def comparison(found: Comparison, command: Sequence[str] = ()) -> str:
    """The page of a comparison: a table with deviations and intervals, and the picture."""
    title = f"{counted(len(found.learners), 'learner')} on {found.source}"
    target = "" if found.target is None else f"target: {found.target}, "
    rounds = found.learners[0].games[0].rounds
    how = "in their own order"
    if found.shuffles:
        how = f"in {counted(found.shuffles, 'random order')}, the same for all (seed {found.seed})"
    best = min(found.learners, key=lambda one: one.rate.mean)
    counts = isinstance(found.learners[0].games[0].mistakes, int)
    told = f"{best.learner} has the lowest {'mistake rate' if counts else 'loss'}, {_share(best.rate.mean, counts)}"
    if (constant := found.constant) is not None:
        told += f"; always saying {constant.says} has {_share(constant.costs / rounds, counts)}"
    cards = [html.folded(one.learner, "".join(map(html.card, one.certificates))) for one in found.learners
             if one.certificates]  # fmt: skip
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(target + counted(found.rows, "row"))}, {escape(how)}, novikoff {__version__}</p>',
        f'<p class="lead">{escape(told)}.</p>',
        html.part(
            "What happened",
            html.picture(curves(found)),
            table(found),
            "" if found.counted is None else html.text(found.counted),
        ),
        html.part("What was promised", html.text("Of the first game of each learner:") if cards else "", *cards),
        html.part("What this rests on", html.rests_on([one for each in found.learners for one in each.certificates])),
        html.again(command),
        html.as_json(plain.comparison(found)),
    )


def table(found: Comparison) -> str:
    """The learners, and those who learn nothing."""
    first = found.learners[0].games[0]
    counts = isinstance(first.mistakes, int)
    heads = ["learner", "mistakes" if counts else "loss a round", "deviation", "95 % interval of the mean", "updates",
             "seconds", "the first game, certified"]  # fmt: skip
    rows = [_row(one, counts) for one in found.learners]
    if (constant := found.constant) is not None:
        rows.append((f"always saying {constant.says}", _share(constant.costs / first.rounds, counts), *[""] * 5))
    if first.last_label is not None:
        again = Spread.of(
            [one.last_label / one.rounds for one in found.learners[0].games if one.last_label is not None]
        )
        rows.append((summary.PREVIOUS, *_spread(again, counts), *[""] * 3))
    return html.table(heads, rows, told=True)


def curves(found: Comparison) -> str:
    """The mean rate of each learner against rounds, within one deviation; and the best constant."""
    across = "rounds" if found.counted is None else "weight"
    unit = "mistakes" if isinstance(found.learners[0].games[0].mistakes, int) else "loss a round"
    times, drawn = (100.0 if unit == "mistakes" else 1.0), []
    for place, one in enumerate(found.learners):
        rounds, mean, deviation = one.curve()
        first = int((rounds < max(rounds[-1] // 100, 1)).sum())  # the rates of the first rounds are all over the place
        points = [(float(t), times * float(rate)) for t, rate in zip(rounds[first:], mean[first:], strict=True)]
        around = [times * float(wide) for wide in deviation[first:]] if len(one.games) > 1 else ()
        colour, dash = svg.COLOURS[place % len(svg.COLOURS)], svg.DASHES[place // len(svg.COLOURS) % len(svg.DASHES)]
        end = f"{points[-1][1]:.3g}" + (" %" if unit == "mistakes" else "")
        drawn.append(svg.Line(one.learner, points, colour, dash, end=end, around=around))
    if (constant := found.constant) is not None:
        last = float(found.learners[0].games[0].rounds)
        rate = times * constant.costs / last
        drawn.append(svg.Line(f"always saying {constant.says}", [(0.0, rate), (last, rate)], svg.CONSTANT,
                              svg.DASHES[2], end=f"{rate:.3g}" + (" %" if unit == "mistakes" else "")))  # fmt: skip
    return svg.lines(drawn, across, f"{unit}, %" if unit == "mistakes" else unit, f"{unit} of each learner")


def _row(one: Compared, counts: bool) -> tuple[str, ...]:
    best = one.certificates[0] if one.certificates else None
    promise = "no theorem bounds it" if best is None else f"{best.comparison()}, {best.status}"
    return (one.learner, *_spread(one.rate, counts), number(round(one.updates.mean, 1)), f"{one.seconds:.3g}", promise)


def _spread(rate: Spread, counts: bool) -> tuple[str, str, str]:
    """The mean, the deviation, and where the mean over all orders is."""
    wide = "" if rate.deviation is None else _share(rate.deviation, counts)
    return _share(rate.mean, counts), wide, _interval(rate, counts)


def _interval(rate: Spread, counts: bool) -> str:
    """Where the mean over all orders is, by Student's t; "" of one game."""
    if rate.standard_error is None:
        return ""
    from scipy.stats import t

    half = float(t.ppf(0.975, rate.runs - 1)) * rate.standard_error
    return f"{_share(max(rate.mean - half, 0.0), counts)} to {_share(rate.mean + half, counts)}"


def _share(value: float, counts: bool) -> str:
    return f"{100 * value:.3g} %" if counts else f"{value:.4g}"
