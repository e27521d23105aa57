"""HTML report of a result: a game, a game with experts, a comparison, or a final classifier.

The sentences are those of the terminal (reports/summary.py, reports/sentences.py); apart from the curves every number
is also in the JSON output. `report` writes a file; `fragment` is what a notebook displays.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from novikoff import __version__
from novikoff.core.certificate import Certificate, bound_text, number
from novikoff.core.errors import InputError, counted
from novikoff.core.learner import Learner
from novikoff.evaluation.compare import Comparison
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.online_to_batch.finalize import OnlineToBatch
from novikoff.reports import (
    charts,
    columns,
    comparisons,
    coverage,
    decision_tree,
    game_chart,
    hindsight,
    html,
    plain,
    quality,
    segments,
    sentences,
    stretches,
    summary,
    svg,
    terminal,
    thresholds,
    tiles,
)
from novikoff.reports.confusion import MOST as MOST_LABELS
from novikoff.reports.confusion import confusions
from novikoff.reports.team import HEADS, members
from novikoff.reports.team import row as team_row

if TYPE_CHECKING:
    from novikoff.reports.regret import History


OPEN = 2
"""Number of certificates that are not folded."""


def report(what: object, path: str, force: bool = False) -> None:
    """Write a ledger, a comparison or a final classifier as one self-contained HTML file.

    Args:
        what: A ledger, a comparison, or the result of `finalize`.
        path: Path of the file; ends with .html.
        force: Replace a file of another kind.
    """
    html.check(path, force)
    html.save(document(what), path, force)


def document(what: object, command: Sequence[str] = ()) -> str:
    """Return the HTML of a ledger, a comparison or a final classifier; `command` is the command line behind it."""
    if isinstance(what, Ledger):
        return game(what, what.certify(), what.spec or type(what.learner).__name__, command=command)
    if isinstance(what, Comparison):
        return comparisons.comparison(what, command)
    if isinstance(what, OnlineToBatch):
        return html.document(
            f"{what.how} classifier",
            f"<h1>Final classifier ({escape(what.how)})</h1>",
            html.tiles(tiles.of_limits(what.certificates)),
            kept(what),
            html.again(command),
            html.as_json(plain.kept(what)),
        )
    raise InputError("a report must be of a ledger, a comparison or a final classifier", f"got {type(what).__name__}")


def game(
    ledger: Ledger,
    certificates: Sequence[Certificate],
    learner: str,
    of_members: Sequence[Sequence[Certificate]] = (),
    classifier: OnlineToBatch | None = None,
    history: History | None = None,
    experts: Sequence[str] = (),
    fields: dict[str, object] | None = None,
    more: Sequence[str] = (),
    command: Sequence[str] = (),
) -> str:
    """Return the HTML of a game.

    Args:
        ledger: The game.
        certificates: Its certificates, the tightest first.
        learner: Name or spec of the learner.
        of_members: Certificates of each member of a team.
        classifier: A classifier kept from the game.
        history: Regret and weights over time, of a game with experts.
        experts: Names of the experts.
        fields: JSON of the game, where it holds more than `plain.game`.
        more: Further sentences.
        command: Command line that reproduces the game.
    """
    where = "on" if ledger.adversary is None else "against"
    title = f"{learner} {where} {charts.short_source(ledger.source)}"
    target = "" if ledger.target is None else f"target: {ledger.target}, "
    rounds = f"{target}{counted(ledger.rounds, 'round')}"
    numbers = f"{rounds}, {ledger.seconds:.2f} s{terminal.speed(ledger)}, novikoff {__version__}"
    everything = fields if fields is not None else plain.game(ledger, list(certificates), learner, of_members)
    found = segments.of(ledger)
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(numbers)}</p>',
        html.tiles(tiles.of_game(ledger, certificates, experts)),
        f'<p class="lead">{escape(lead(ledger, certificates))}</p>',
        html.part("Over time", over_time(ledger, certificates, history, experts)),
        html.part("Results", *happened(ledger, certificates, of_members, experts)),
        html.part("Which columns matter", what_matters(ledger)),
        "" if found is None else html.part("Where it errs", errs(ledger, found)),
        html.part("Further results", html.text(*map(sentences.whole, more))),
        html.part("Guarantees", *promised(ledger, certificates)),
        "" if classifier is None else html.part("Final classifier", kept(classifier)),
        html.part("Details", html.assumptions(certificates), proved(ledger),
                  html.again(command, ledger.source, ledger.fingerprint), html.as_json(everything)),
    )  # fmt: skip


def proved(ledger: Ledger) -> str:
    """Return a link to the proof file within the page; "" if the game recorded none."""
    if ledger.proof_record is None:
        return ""
    from novikoff.game.proof_file import text_of_proof

    try:
        text = text_of_proof(ledger)
    except InputError:
        return ""
    data = base64.b64encode(text.encode()).decode()
    link = f'<p><a download="proof.json" href="data:application/json;base64,{data}">proof.json</a></p>'
    how = "The guarantees as a file that a small independent program checks, with the rows that were played or without:"
    rows = ledger.proof_record.path or "ROWS"
    return html.folded(
        "Proof of the guarantees",
        html.text(how) + link + html.verbatim(shlex.join(["novikoff", "verify", "proof.json", rows])),
    )


def lead(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """Return the summary sentence; a violated bound comes first."""
    broken = [one.theorem for one in certificates if one.status == "violated"]
    summed = " ".join([sentences.capital(summary.lead(ledger, certificates)), *summary.warnings(ledger, certificates)])
    return (
        f"A proven bound was violated ({', '.join(broken)}): this is a bug, please report it. {summed}"
        if broken
        else summed
    )


def over_time(
    ledger: Ledger, certificates: Sequence[Certificate], history: History | None = None, experts: Sequence[str] = ()
) -> str:
    """Return the charts over rounds: totals and rates with baseline and guarantee, then every other guarantee."""
    drawn = [
        html.figure(one, hero=not k) for k, one in enumerate(game_chart.panels(ledger, certificates, experts=experts))
    ]
    if history is None:  # otherwise the regret is drawn next to its bound
        drawn += map(html.figure, game_chart.promised(ledger, certificates))
    if history is not None and history.moments:
        from novikoff.reports import regret

        drawn += [html.figure(one, hero=True) for one in regret.panels(history, certificates, experts)]
    drawn += map(html.figure, (*stretches.panels(ledger), *coverage.panels(ledger, certificates)))
    drawn.append(html.figure(quality.seconds(ledger)))
    text = html.text(*stretches.describe(ledger), summary.runs(ledger))
    return html.charts(*drawn) + text if ledger.rounds else ""


def happened(
    ledger: Ledger, certificates: Sequence[Certificate], of_members: Sequence[Sequence[Certificate]] = (),
    experts: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """Return the tables and charts of the predictions as a whole."""
    confusion = ledger.confusion if ledger.adversary is None else None
    shaded = ""
    if confusion is not None:
        shaded = _confused([summary.label(ledger, one) for one in confusion.labels], confusion.table)
    parts = [_metrics(ledger, certificates), html.side(_paid(ledger, certificates, experts), shaded)]
    curves = (quality.roc(ledger), quality.precision_recall(ledger), *quality.calibration(ledger))
    if ledger.threshold is not None:
        curves += tuple(thresholds.panels(ledger)[1:])  # costs; precision and recall are drawn above
    parts.append(html.charts(*map(html.figure, curves)))
    parts.append(html.text(summary.named(ledger)))
    if calibrated := list(terminal.calibration(ledger)):
        rows = [(f"{low:.1f} .. {high:.1f}", f"{count:,}", f"{predicted:.3f}", f"{observed:.3f}")
                for low, high, count, predicted, observed in ledger.metrics.calibration.table()]  # fmt: skip
        what = "P(predicted)" if ledger.player.numbered else "P(+1)"
        shown = html.table([what, game_chart.unit(ledger), "mean predicted", "observed"], rows)
        parts.append(html.folded(sentences.capital(calibrated[0]), shown))
    if ledger.members:
        parts.append(html.table(HEADS, [team_row(one) for one in members(ledger, of_members)], sentences=True))
    parts += _thresholds(ledger)
    parts.append(html.text(*ledger.player.tale(), summary.tightest_member(certificates)))
    parts.append(html.text(sentences.whole(drift) if (drift := terminal.watched(ledger)) else ""))
    return parts


def what_matters(ledger: Ledger) -> str:
    """Return the most important columns or words, and the drawn tree."""
    return html.charts(*(html.figure(one, hero=True) for one in columns.bars(ledger))) + tree(ledger)


def errs(ledger: Ledger, found: segments.Segments) -> str:
    """Return errors by segment: charts of the columns whose segments differ most, and all columns folded."""
    unit = "error rate" if ledger.counts else "mean absolute error"
    rows = [
        (column.name, one.name, f"{one.rows:,}", segments.rate(ledger, one.error / one.rows))
        for column in found.columns for one in column.segments
    ]  # fmt: skip
    listed = html.table(["column", "level or range", "rows", unit], rows)
    return (
        html.text(f"Columns whose levels, or quarters of the rows by value, differ most come first. {found.note}")
        + html.charts(*map(html.figure, segments.bars(ledger, found)))
        + html.folded(f"All {counted(len(found.columns), 'column')}", listed)
    )


def tree(ledger: Ledger) -> str:
    """Return the drawn tree with its caption; "" if the learner grows none."""
    if (drawn := decision_tree.of(ledger)) is None:
        return ""
    return html.text(sentences.whole(decision_tree.caption(drawn))) + html.picture(decision_tree.picture(ledger))


def _thresholds(ledger: Ledger) -> list[str]:
    """Return the folded table of thresholds, in steps of recall, if one was chosen."""
    chosen = ledger.threshold
    if chosen is None:
        return []
    heads = ["threshold" if chosen.probable else "score", "precision", "recall", "F1", "positive predictions",
             "false positives", "false negatives", "cost"]  # fmt: skip
    rows = []
    for one in thresholds.steps(ledger.thresholds(), [0.0, chosen.score]):
        rates = ("-" if rate is None else f"{rate:.3f}" for rate in (one.precision, one.recall, one.f1))
        counts = (one.true_positives + one.false_positives, one.false_positives, one.false_negatives)
        cost = sentences.brief(one.cost(chosen.cost_fp, chosen.cost_fn))
        rows.append((thresholds.value(one), *rates, *(f"{count:,}" for count in counts), cost))
    return [html.folded("Precision, recall and cost by threshold", html.table(heads, rows))]


def _confused(names: Sequence[str], table: Sequence[Sequence[int]]) -> str:
    """Return the confusion matrix, or the most frequent confusions of more than twenty labels."""
    if len(names) > MOST_LABELS:
        wrong = [(actual, predicted, f"{rounds:,}") for actual, predicted, rounds in confusions(names, table)]
        return html.table(["actual", "most often predicted instead", "rows"], wrong)
    return html.matrix(names, table, "Actual label (rows), predicted label (columns)")


def pictures(ledger: Ledger, certificates: Sequence[Certificate], experts: Sequence[str] = ()) -> list[str]:
    """Return mistakes or loss over time as SVG, with the guarantee and the baselines: totals, then rates."""
    return [svg.panel(one) for one in game_chart.panels(ledger, certificates, experts=experts)]


def _paid(ledger: Ledger, certificates: Sequence[Certificate], experts: Sequence[str] = ()) -> str:
    """Return a table of the learner, the best expert, the baselines and the guarantee."""
    measured = ledger.metrics

    def row(
        name: str, paid: float, text: str | None = None, rounds: int = max(measured.rounds, 1)
    ) -> tuple[str, str, str]:
        rate = sentences.about(paid / rounds) if ledger.counts else number(float(paid / rounds))
        return name, text or number(paid), rate

    rows = [row("learner", measured.mistakes if ledger.counts else measured.loss)]
    if not ledger.deterministic:
        rows.append(row("learner, in expectation over its random draws", measured.expected))
    if experts and isinstance(facts := ledger.player.facts(), ExpertsFacts) and facts.rule != "sleeping":
        rows.append(row(f"best expert, {experts[facts.best]}", facts.best_loss))
    if (constant := ledger.best_constant) is not None:
        rows.append(row(summary.always(ledger), constant.costs))
        if (again := summary.previous(ledger)) is not None:
            rows.append(row(summary.PREVIOUS, again))
    if ledger.weighted is not None:
        paid = ledger.mistakes if ledger.counts else ledger.loss
        rows.append(row("learner, each copy of a row counted as one round", paid, rounds=max(ledger.rounds, 1)))
    forced = [one for one in certificates if one.side == "lower" and one.quantity == "mistakes" and one.holds]
    rows += [row(f"forced, at least ({one.theorem})", float(one.bound), bound_text(one.bound, "lower"))
             for one in forced if one.bound is not None]  # fmt: skip
    best = summary.bounding(ledger, certificates)
    if best is not None and (value := summary.allowed(ledger, best)) is not None:
        allowed = "guaranteed at most" if ledger.weighted is None else "guaranteed at most, in rounds"
        bound = bound_text(value, "upper")
        rows.append(row(f"{allowed} ({best.theorem})", float(value), bound, max(ledger.rounds, 1)))
    return html.table(["", game_chart.quantity(ledger), f"per {summary.unit(ledger)}"], rows)


def _metrics(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """Return the table of metrics with their baselines."""
    sets = coverage.metrics(ledger, certificates)
    found = (*summary.metrics(ledger, verbose=True), *sets, *thresholds.metrics(ledger))
    return html.table(["metric", "value", "baselines"], found, sentences=True)


def promised(ledger: Ledger, certificates: Sequence[Certificate]) -> list[str]:
    """Return a card for each certificate."""
    if not certificates:
        return [html.text("No bound is known for this learner here.")]
    scaled = html.text(summary.scaled(ledger))
    found = [] if ledger.hindsight is None else hindsight.describe(ledger.hindsight).lines
    back = [sentences.whole(line) for line in found]
    cards = [html.card(one, summary.guarantee(ledger, one)) for one in certificates]
    cards += [html.card(one) for one in thresholds.certificates(ledger)]
    if len(cards) > OPEN + 1 and all(one.status != "violated" for one in certificates[OPEN:]):
        more = counted(len(cards) - OPEN, "further certificate")
        cards = [*cards[:OPEN], html.folded(sentences.capital(more), "".join(cards[OPEN:]))]
    before = summary.a_priori(certificates)
    return [*cards, html.text(f"A priori: {before}.") if before else "", scaled, html.text(*back)]


def kept(classifier: OnlineToBatch) -> str:
    """Return the bound on the risk of a final classifier, and whether the examples looked independent."""
    after = "" if classifier.index is None else f" It is the hypothesis after {counted(classifier.index, 'example')}."
    first = html.text(f"Method: {classifier.how}.{after}")
    cards = "".join(html.card(one) for one in classifier.certificates) or html.text("No bound on its risk is known.")
    drift = "" if classifier.wealth is None else sentences.whole(terminal.drift(classifier.wealth))
    return first + cards + html.text(drift)


def predictions(
    model: str, source: str, lines: Sequence[str], limits: Sequence[Certificate], facts: dict[str, Any],
    command: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return the HTML of predictions on new examples: metrics, and the bound on the risk."""
    title = f"{model} on {source}"
    first, *rest = map(sentences.whole, lines)
    confusion, rate, rows = facts.get("confusion"), facts.get("mistake_rate"), facts.get("rounds")
    error = "" if rate is None else sentences.about(rate)
    note = "" if rate is None or rows is None else f"{facts.get('mistakes', 0):,} mistakes in {rows:,} rows"
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        html.tiles(tiles.of_limits(limits, error, note)) if error or limits else "",
        f'<p class="lead">{escape(first)}</p>',
        html.text(*rest),
        _confused([str(one) for one in confusion["labels"]], confusion["table"]) if confusion else "",
        html.part("Guarantees", *(html.card(one) for one in limits)),
        html.part("Details", html.assumptions(limits), html.again(command), html.as_json(facts)),
    )


def fragment(what: Any) -> str:
    """Return what a notebook displays of a result: tables and a picture that need no style sheet."""
    if isinstance(what, Certificate):
        return html.card(what)
    if isinstance(what, Comparison):
        return html.plain_tiles(tiles.of_comparison(what)) + _image(comparisons.picture(what)) + comparisons.table(what)
    if isinstance(what, OnlineToBatch):
        return kept(what)
    if isinstance(what, Learner):
        return _learner(what)
    certificates = what.certify()
    cards = "".join(html.card(one) for one in certificates if one.holds or one.status == "violated")
    drawn = [*game_chart.panels(what, certificates), *game_chart.promised(what, certificates)]
    drawn += [one for one in (quality.roc(what), *quality.calibration(what)[:1]) if one is not None]
    return (
        html.plain_tiles(tiles.of_game(what, certificates))
        + f"<p><b>{escape(lead(what, certificates))}</b></p>"
        + "".join(_image(svg.panel(one, svg.NARROW), 360) for one in drawn)
        + _metrics(what, certificates)
        + _paid(what, certificates)
        + "".join(_image(svg.panel(one, svg.NARROW), 360) for one in columns.bars(what))
        + _image(decision_tree.picture(what))
        + cards
    )


def _learner(one: Learner) -> str:
    """Return a learner as a table: domain, theorems, size."""
    about = next(iter((type(one.within.original).__doc__ or "").strip().splitlines()), "")
    rows = [
        ("plays on", str(one.domain)),
        ("promises", ", ".join(theorem.name for theorem in one.promises) or "nothing"),
    ]
    rows += [] if one.size is None else [("holds", f"{one.size:,}")]
    return f"<p><b>{escape(repr(one))}</b></p>{html.text(about)}{html.table(['', ''], rows)}"


def _image(drawn: str, wide: int = svg.WIDTH) -> str:
    """Return a picture that displays even where inline SVG is not allowed: black on white."""
    if not drawn:
        return ""
    data = base64.b64encode(drawn.encode()).decode()
    title = drawn.partition("<title>")[2].partition("</title>")[0].replace('"', "&quot;")  # escaped already
    style = f"background:white;max-width:{wide}px;width:100%"
    return f'<img style="{style}" alt="{title}" src="data:image/svg+xml;base64,{data}">'
