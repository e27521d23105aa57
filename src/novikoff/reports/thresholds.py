"""Thresholds of a game in words, as a table and as charts: precision against recall, and cost against the threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from novikoff.core.certificate import Certificate
from novikoff.game.ledger import Ledger
from novikoff.game.thresholds import Threshold, ThresholdRow, Thresholds
from novikoff.reports import sentences, summary
from novikoff.reports.charts import BOUND, COLOURS, CONSTANT, DOTTED, SOLID, Chart, Line, Panel, short_source
from novikoff.reports.sentences import brief, share
from novikoff.reports.summary import Metric

POINTS = 300
"""Largest number of points of a curve."""
ROWS = 20
"""Number of steps of recall in a printed table."""


def metrics(ledger: Ledger) -> Iterator[Metric]:
    """Yield the threshold that predictions use, and its limits on new rows; nothing without one."""
    chosen = ledger.threshold
    if chosen is None:
        return
    name = summary.quoted(ledger, ledger.label(1))
    unit = "unit of weight" if chosen.copies else "row"
    parts = [f"{_rule(chosen)}: {name} from {value(chosen.row)} on", *_rates(chosen.row), _costs(ledger, chosen, unit)]
    if chosen.fresh:
        parts.append(f"counted on {chosen.rows:,} fresh rows")
    elif not chosen.probable:
        parts.append("these scores may grow during a run: fresh rows are a better choice (nk.choose_threshold)")
    yield Metric("threshold", value(chosen.row), "; ".join(part for part in parts if part))
    yield Metric("on new rows", "", limits(chosen))


def _rule(chosen: Threshold) -> str:
    if chosen.rule == "cost":
        return "least cost"
    return "given" if chosen.rule == "fixed" else f"{chosen.rule} at least {chosen.target:g}"


def _rates(row: ThresholdRow) -> list[str]:
    known = (("precision", row.precision), ("recall", row.recall))
    return [f"{name} {share(rate)}" for name, rate in known if rate is not None]


def value(row: ThresholdRow) -> str:
    """Return a threshold as text; "none" for the one that no row reaches."""
    if math.isinf(row.threshold) and row.threshold > 0:
        return "none"
    return share(row.threshold) if 0.5 < row.threshold < 1.0 else f"{row.threshold:.3g}"


def _costs(ledger: Ledger, chosen: Threshold, unit: str) -> str:
    """Return the cost next to that of the learner's own predictions and of the better constant."""
    if chosen.rule != "cost" and chosen.cost_fp == chosen.cost_fn == 1.0:
        return ""
    found = f"cost {brief(chosen.cost)} per {unit} for FP={chosen.cost_fp:g}, FN={chosen.cost_fn:g}"
    others = []
    if not chosen.fresh and ledger.metrics.ranking.rounds == chosen.rows:
        own = ledger.thresholds().at(0.0).cost(chosen.cost_fp, chosen.cost_fn)
        others.append(f"at {'0.5' if chosen.probable else '0'}: {brief(own)}")
    others.append(f"best constant: {brief(chosen.constant_cost)}")
    return f"{found} ({'; '.join(others)})"


def limits(chosen: Threshold) -> str:
    """Return the limits on new rows as one sentence, or why there are none."""
    found = chosen.certificates
    if void := next((one for one in found if one.status == "void"), None):
        return f"no limit: {sentences.headline(void)}"
    names = {one.theorem: one.quantity.partition(" over ")[0] for one in found}
    if chosen.rule != "cost" and chosen.cost_fp == chosen.cost_fn == 1.0:
        names["threshold_cost"] = "error rate"
    said = [f"{names[one.theorem]} at {sentences.limit_of(one)}" for one in found if one.status != "vacuous"]
    if not said:
        return "no limit is informative for so few rows"
    about = "this model" if chosen.fresh else "a hypothesis of the run, drawn for each prediction"
    sure = f"with probability {100 * (1 - chosen.delta):.6g} %"
    return f"guaranteed for {about}: {', '.join(said)}; {sure}, if rows are independent draws from one distribution"


def certificates(ledger: Ledger) -> list[Certificate]:
    """Return the certificates of the threshold; empty without one."""
    return [] if ledger.threshold is None else ledger.threshold.certificates


def steps(table: Thresholds, extra: Sequence[float] = ()) -> list[ThresholdRow]:
    """Return at most ROWS rows, in about equal steps of recall, and those of further scores."""
    found: dict[float, ThresholdRow] = {one.score: one for one in (table.at(score) for score in extra)}
    for step in range(ROWS + 1):
        near = min(table[:-1] or table, key=lambda one: abs((one.recall or 0.0) - step / ROWS))
        found.setdefault(near.score, near)
    return sorted(found.values(), key=lambda one: one.score)


def lines(ledger: Ledger) -> Iterator[str]:
    """Yield the table of thresholds, in steps of recall."""
    table, chosen = ledger.thresholds(), ledger.threshold
    what = "weight" if ledger.weighted is not None else "rows"
    name = "threshold" if ledger.player.probable else "score"
    costs = "" if chosen is None else f"  {'cost':>9}"
    heads = (name, "precision", "recall", "F1", "positive", "false +", "false -")
    yield f"  {'  '.join(f'{one:>9}' for one in heads)}{costs}  ({what}; of {len(table):,} thresholds)"
    for one in steps(table, [0.0] if chosen is None else [0.0, chosen.score]):
        precision, recall = ("-" if rate is None else f"{rate:.3f}" for rate in (one.precision, one.recall))
        cost = "" if chosen is None else f"  {brief(one.cost(chosen.cost_fp, chosen.cost_fn)):>9}"
        mark = " <- chosen" if chosen is not None and one.score == table.at(chosen.score).score else ""
        mark += " <- default" if one.score == table.at(0.0).score else ""
        positive = one.true_positives + one.false_positives
        yield (
            f"  {value(one):>9}  {precision:>9}  {recall:>9}  {one.f1:>9.3f}  {positive:>9,}  "
            f"{one.false_positives:>9,}  {one.false_negatives:>9,}{cost}{mark}"
        )


def panels(ledger: Ledger) -> list[Panel]:
    """Return precision against recall, and cost against the threshold, if one was chosen."""
    return [] if ledger.threshold is None else _panels(ledger)


def chart(ledger: Ledger, learner: str) -> Chart:
    """Return the chart of all thresholds."""
    return Chart(f"thresholds of {learner} on {short_source(ledger.source)}", _panels(ledger))


def _panels(ledger: Ledger) -> list[Panel]:
    table, chosen = ledger.thresholds(), ledger.threshold
    rows = [one for one in table if one.precision is not None and one.recall is not None]
    if not rows:
        return []
    few = [rows[k * (len(rows) - 1) // max(min(len(rows), POINTS) - 1, 1)] for k in range(min(len(rows), POINTS))]
    name = summary.quoted(ledger, ledger.label(1))
    curve = [(one.recall or 0.0, one.precision or 0.0) for one in reversed(few)]
    always = rows[0].precision or 0.0
    drawn = [
        Line("precision at each recall", curve, end=""),
        Line(f"always {name}", [(0.0, always), (1.0, always)], CONSTANT, DOTTED, end=f"{always:.3g}"),
    ]
    marked = [("default", table.at(0.0), COLOURS[2])]
    if chosen is not None:
        marked.append((f"chosen: {value(chosen.row)}", chosen.row, BOUND))
    for text, one, colour in marked:
        if one.precision is not None and one.recall is not None:
            drawn.append(Line(text, [(one.recall, one.precision)], colour, SOLID, end="", marks=True))
    found = [Panel("precision", "recall", drawn, low=0.0, high=1.03, last=1.0)]
    if chosen is None or not chosen.probable:
        return found
    fp, fn = chosen.cost_fp, chosen.cost_fn
    unit = "row" if ledger.weighted is None else "unit of weight"
    costs = [(one.threshold, one.cost(fp, fn)) for one in few]
    best = table[-1].cost(fp, fn), rows[0].cost(fp, fn)
    words = [
        Line(f"FP={fp:g}, FN={fn:g}", costs, end="", steps=False),
        Line("best constant", [(0.0, min(best)), (1.0, min(best))], CONSTANT, DOTTED, end=brief(min(best))),
    ]
    if not math.isinf(chosen.value):
        words.append(Line("", [(chosen.value, chosen.cost)], BOUND, SOLID, end="", marks=True))
    high = 1.1 * max(*best, *(cost for _, cost in costs)) if max(best) < 8 * min(best) else 3.0 * min(best)
    return [*found, Panel(f"cost per {unit}", "threshold", words, low=0.0, high=max(high, 1e-9), last=1.0, height=0.6)]


def plain(chosen: Threshold) -> dict[str, object]:
    """Return a threshold as JSON values, without its certificates."""
    row = chosen.row
    finite = {"threshold": chosen.value, "score": chosen.score}
    return {
        **{name: number if math.isfinite(number) else None for name, number in finite.items()},
        "rule": chosen.rule,
        "target": chosen.target,
        "costs": {"FP": chosen.cost_fp, "FN": chosen.cost_fn},
        **_plain_row(row),
        "cost": chosen.cost,
        "fresh": chosen.fresh,
        "counts": "weight" if chosen.copies else "rows",
    }


def plain_table(ledger: Ledger) -> list[dict[str, object]]:
    """Return every threshold as JSON values; null for the one that no row reaches."""
    return [
        {"threshold": one.threshold if math.isfinite(one.threshold) else None, **_plain_row(one)}
        for one in ledger.thresholds()
    ]


def _plain_row(row: ThresholdRow) -> dict[str, object]:
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives", "precision", "recall", "f1")
    return {name: getattr(row, name) for name in names}
