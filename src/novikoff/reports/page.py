"""A result as a page: a game, a game with experts, a comparison, a classifier that was kept.

The words are those of the terminal (reports/summary.py, reports/sentences.py), and every number is one that `--json`
has, but for the curve. `report` writes a file; `fragment` is what a notebook shows.
"""

from __future__ import annotations

import base64
import platform
import shlex
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from novikoff import __version__
from novikoff.certificate import Certificate, bound_text, number
from novikoff.comparison import Compared, Comparison, Spread
from novikoff.errors import InputError, counted
from novikoff.ledger import Ledger
from novikoff.online_to_batch import OnlineToBatch
from novikoff.player import Player, is_learner
from novikoff.reports import coverage, hindsight, html, plain, sentences, stretches, summary, svg, terminal
from novikoff.reports.confusion import MOST as MOST_LABELS
from novikoff.reports.confusion import confusions
from novikoff.reports.team import HEADS, members
from novikoff.reports.team import row as team_row

if TYPE_CHECKING:
    from novikoff.reports.regret import History

CONSTANT = "#777777"
FEW = 100
"""Mistakes that are drawn as steps."""


def report(what: Any, path: str, force: bool = False) -> None:
    """Write a ledger, a comparison or a classifier that was kept as one HTML file, which needs nothing else.

    path    ends with .html
    force   replace a file of another kind
    """
    html.check(path, force)
    html.save(document(what), path, force)


def document(what: Any, command: Sequence[str] = ()) -> str:
    """The page of a ledger, a comparison or a classifier that was kept; `command` is what was typed for it."""
    if isinstance(what, Ledger):
        return game(what, what.certify(), what.spec or type(what.learner).__name__, command=command)
    if isinstance(what, Comparison):
        return comparison(what, command)
    if isinstance(what, OnlineToBatch):
        return html.document(
            f"{what.how} classifier",
            f"<h1>The classifier that was kept ({escape(what.how)})</h1>",
            kept(what),
            again(command),
            html.as_json(plain.kept(what)),
        )
    raise InputError(
        "a report must be of a ledger, a comparison or a classifier that was kept", f"got {type(what).__name__}"
    )


def game(
    ledger: Ledger,
    certificates: Sequence[Certificate],
    learner: str,
    of_members: Sequence[Sequence[Certificate]] = (),
    classifier: OnlineToBatch | None = None,
    history: History | None = None,
    experts: Sequence[str] = (),
    told: dict[str, Any] | None = None,
    more: Sequence[str] = (),
    command: Sequence[str] = (),
) -> str:
    """The page of a game.

    of_members   the certificates of each learner of a team
    history      of a game with experts: regret and weights as it went; `experts` are their names
    told         what --json prints of it, where that is more than `plain.game`
    more         other sentences about it
    """
    where = "on" if ledger.adversary is None else "against"
    title = f"{learner} {where} {ledger.source}"
    numbers = (
        f"{counted(ledger.rounds, 'round')}, {ledger.seconds:.2f} s{terminal.speed(ledger)}, novikoff {__version__}"
    )
    everything = told if told is not None else plain.game(ledger, list(certificates), learner, of_members)
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(numbers)}</p>',
        f'<p class="lead">{escape(lead(ledger, certificates))}</p>',
        html.part("What happened", *happened(ledger, certificates, of_members, history, experts), html.text(*more)),
        html.part("What was promised", *promised(ledger, certificates)),
        html.part("What this rests on", html.rests_on(certificates)),
        "" if classifier is None else html.part("The classifier that was kept", kept(classifier)),
        again(command, ledger),
        html.as_json(everything),
    )


def lead(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """The one sentence for who reads no further; a promise that was broken comes before all else."""
    broken = [one.theorem for one in certificates if one.status == "violated"]
    told = " ".join([sentences.capital(summary.lead(ledger, certificates)), *summary.worse(ledger, certificates)])
    return f"A proven promise was broken ({', '.join(broken)}): please report this page. {told}" if broken else told


def happened(
    ledger: Ledger, certificates: Sequence[Certificate], of_members: Sequence[Sequence[Certificate]] = (),
    history: History | None = None, experts: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """The picture, the tables, and what else there is to say of the rounds."""
    parts = [html.picture(picture(ledger, certificates)), _paid(ledger, certificates, experts)]
    if history is not None and history.moments:
        parts += _trusted(history, certificates, experts)
    confusion = ledger.confusion if ledger.adversary is None else None
    if confusion is not None and len(confusion.labels) > MOST_LABELS:
        wrong = [(summary.label(ledger, came), summary.label(ledger, said), f"{rounds:,}")
                 for came, said, rounds in confusions(ledger)]  # fmt: skip
        parts.append(html.table(["shown", "said most often instead", "rounds"], wrong))
    elif confusion is not None:
        names = [summary.label(ledger, one) for one in confusion.labels]
        rows = [(name, *(f"{count:,}" for count in said)) for name, said in zip(names, confusion.table, strict=True)]
        parts.append(html.table(["shown, said:", *names], rows))
    parts.append(html.text(*(tell(ledger) for tell in (summary.named, summary.rates, summary.ranked, summary.errors))))
    if ledger.log_loss is not None and ledger.brier is not None and ledger.rounds:
        parts.append(html.text(sentences.capital(terminal.probabilities(ledger, ledger.log_loss, ledger.brier)) + "."))
        if calibrated := list(terminal.calibrated(ledger)):
            rows = [(f"{low:.1f} .. {high:.1f}", f"{count:,}", f"{said:.3f}", f"{came:.3f}")
                    for low, high, count, said, came in ledger.calibration.table()]  # fmt: skip
            what = "P(said)" if ledger.player.numbered else "P(+1)"
            shown = html.table([what, "rounds", "said, on average", "came"], rows)
            parts.append(html.folded(sentences.capital(calibrated[0]), shown))
    parts.append(html.text(*coverage.told(ledger, list(certificates))))
    if ledger.members:
        parts.append(html.table(HEADS, [team_row(one) for one in members(ledger, of_members)]))
    if drawn := stretches.picture(ledger):
        parts.append(html.picture(drawn))
    parts.append(html.text(*stretches.told(ledger), *ledger.player.tale(), summary.carried(ledger, certificates)))
    return parts


def picture(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """What was paid against rounds, beside the best constant and the tightest bound."""
    if not ledger.rounds:
        return ""
    what = "mistakes" if ledger.counts else f"{ledger.player.loss} loss"
    paid = list(dict([(0, 0), *ledger.curve, (ledger.rounds, ledger.loss)]).items())
    drawn = [svg.Line(what, paid, steps=ledger.counts and ledger.mistakes < FEW)]
    best = summary.bounding(ledger, certificates)
    if best is not None and (value := summary.allowed(ledger, best)) is not None:
        bounds = [(t, bound) for t, bound in ledger.bounds if t < ledger.rounds]
        ends = (
            [*bounds, (ledger.rounds, float(value))] if bounds else [(0, float(value)), (ledger.rounds, float(value))]
        )
        name = f"allowed by {best.theorem}" + ("" if bounds else ", in all")
        drawn.append(svg.Line(name, ends, svg.COLOURS[1], svg.DASHES[1], end=bound_text(value, "upper")))
    if (constant := ledger.best_constant) is not None and ledger.adversary is None:
        line = [(0, 0.0), (ledger.rounds, float(constant.costs))]
        drawn.append(svg.Line(summary.always(ledger), line, CONSTANT, svg.DASHES[2], end=number(constant.costs)))
    told = f"{what} against rounds: {', '.join(f'{line.name} {number(line.points[-1][1])}' for line in drawn)}"
    return svg.lines(drawn, "rounds", what, told)


def _paid(ledger: Ledger, certificates: Sequence[Certificate], experts: Sequence[str] = ()) -> str:
    """Who paid what: the learner, the best of the experts, those who learn nothing, and what was allowed."""
    unit, rounds = "mistakes" if ledger.counts else f"{ledger.player.loss} loss", max(ledger.rounds, 1)

    def row(who: str, paid: float, told: str | None = None) -> tuple[str, str, str]:
        rate = sentences.about(paid / rounds) if ledger.counts else f"{paid / rounds:.6g}"
        return who, told or number(paid), rate

    rows = [row("the learner", ledger.mistakes if ledger.counts else ledger.loss)]
    if not ledger.deterministic:
        rows.append(row("the learner, on average over its coins", ledger.expected))
    if experts and (facts := ledger.learner.facts()).rule != "sleeping":
        rows.append(row(f"the best expert, {experts[facts.best]}", facts.best_loss))
    if ledger.adversary is None and (constant := ledger.best_constant) is not None:
        rows.append(row(summary.always(ledger), constant.costs))
        if ledger.counts and ledger.last_label is not None:
            rows.append(row("the last label again", ledger.last_label))
    best = summary.bounding(ledger, certificates)
    if best is not None and (value := summary.allowed(ledger, best)) is not None:
        rows.append(row(f"allowed at most ({best.theorem})", float(value), bound_text(value, "upper")))
    return html.table(["", unit, "a round"], rows)


def promised(ledger: Ledger, certificates: Sequence[Certificate]) -> list[str]:
    """A card for each certificate."""
    if not certificates:
        return [html.text("No mistake bound is known for this learner here.")]
    told = html.text(summary.scaled(ledger))
    found = [] if ledger.hindsight is None else hindsight.told(ledger.hindsight).lines
    back = [sentences.capital(line) + "." for line in found]
    return [*(html.card(one) for one in certificates), told, html.text(*back)]


def _trusted(history: History, certificates: Sequence[Certificate], names: Sequence[str]) -> list[str]:
    """Regret against its bound, and whom the learner trusted."""
    from novikoff.reports.regret import leading

    seen = history.moments
    best = next((one for one in certificates if one.side == "upper" and one.holds and "regret" in one.quantity), None)
    theorem = "" if best is None else best.theorem
    regret = [(m.rounds, m.bounds.get(theorem, (m.regret, 0.0))[0]) for m in seen]
    drawn = [svg.Line("regret" if best is None else best.quantity, regret)]
    if bounds := [(m.rounds, m.bounds[theorem][1]) for m in seen if theorem in m.bounds]:
        end = bound_text(bounds[-1][1], "upper")
        drawn.append(svg.Line(f"allowed by {theorem}", bounds, svg.COLOURS[1], svg.DASHES[1], end=end))
    told = f"regret against rounds: at the end {number(regret[-1][1])}"
    chosen = leading(history)[: len(svg.COLOURS) - 1]
    step = max(1, len(seen) // 200)
    kept = [*range(0, len(seen) - 1, step), len(seen) - 1]
    bands = [(_name(names, expert), [float(history.weights(expert)[i]) for i in kept]) for expert in chosen]
    rest = [max(0.0, 1.0 - sum(band[i] for _, band in bands)) for i in range(len(kept))]
    if max(rest) > 1e-9:
        bands.append(("others", rest))
    shares = svg.shares([float(seen[i].rounds) for i in kept], bands, "the weights of the experts against rounds")
    regrets = svg.lines(drawn, "rounds", "regret", told)
    return [html.picture(regrets), html.text("Whom it trusted:"), html.picture(shares)]


def _name(names: Sequence[str], expert: int) -> str:
    return names[expert] if expert < len(names) else f"expert {expert + 1}"


def kept(classifier: OnlineToBatch) -> str:
    """What limits the risk of a classifier, and whether the examples looked independent."""
    after = "" if classifier.index is None else f" It is the hypothesis after {counted(classifier.index, 'example')}."
    first = html.text(f"Kept: {classifier.how}.{after}")
    cards = "".join(html.card(one) for one in classifier.certificates) or html.text("No limit on its risk is known.")
    drift = "" if classifier.wealth is None else sentences.capital(terminal.drift(classifier.wealth)) + "."
    return first + cards + html.text(drift)


def comparison(found: Comparison, command: Sequence[str] = ()) -> str:
    """The page of a comparison: a table with deviations and intervals, and the picture."""
    title = f"{counted(len(found.learners), 'learner')} on {found.source}"
    rounds = found.learners[0].games[0].rounds
    how = "in their own order"
    if found.shuffles:
        how = f"in {counted(found.shuffles, 'random order')}, the same for all (seed {found.seed})"
    best = min(found.learners, key=lambda one: one.rate.mean)
    counts = isinstance(found.learners[0].games[0].mistakes, int)
    unit = "mistakes" if counts else "loss a round"
    told = f"{best.learner} has the lowest {'mistake rate' if counts else 'loss'}, {_share(best.rate.mean, counts)}"
    if (constant := found.constant) is not None:
        told += f"; always saying {constant.says} has {_share(constant.costs / rounds, counts)}"
    heads = ["learner", unit, "deviation", "95 % of such means", "updates", "seconds", "the first game, certified"]
    [_row(one, counts) for one in found.learners]
    cards = [html.folded(one.learner, "".join(map(html.card, one.certificates))) for one in found.learners
             if one.certificates]  # fmt: skip
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{escape(counted(found.rows, "row"))}, {escape(how)}, novikoff {__version__}</p>',
        f'<p class="lead">{escape(told)}.</p>',
        html.part(
            "What happened",
            html.picture(curves(found, unit)),
            html.table(heads, [_row(one, counts) for one in found.learners]),
        ),
        html.part("What was promised", html.text("Of the first game of each learner:") if cards else "", *cards),
        again(command),
        html.as_json(plain.comparison(found)),
    )


def curves(found: Comparison, unit: str) -> str:
    """The mean rate of each learner against rounds, within one deviation; and the best constant."""
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
        drawn.append(svg.Line(f"always saying {constant.says}", [(0.0, rate), (last, rate)], CONSTANT,
                              svg.DASHES[2], end=f"{rate:.3g}" + (" %" if unit == "mistakes" else "")))  # fmt: skip
    return svg.lines(drawn, "rounds", f"{unit}, %" if unit == "mistakes" else unit, f"{unit} of each learner")


def _row(one: Compared, counts: bool) -> tuple[str, ...]:
    rate = one.rate
    wide = "" if rate.deviation is None else _share(rate.deviation, counts)
    best = one.certificates[0] if one.certificates else None
    promise = "no theorem bounds it" if best is None else f"{best.comparison()}, {best.status}"
    return (one.learner, _share(rate.mean, counts), wide, _interval(rate, counts), number(round(one.updates.mean, 1)),
            f"{one.seconds:.3g}", promise)  # fmt: skip


def _interval(rate: Spread, counts: bool) -> str:
    """Where the mean over all orders is, by Student's t; "" of one game."""
    if rate.standard_error is None:
        return ""
    from scipy.stats import t

    half = float(t.ppf(0.975, rate.runs - 1)) * rate.standard_error
    return f"{_share(max(rate.mean - half, 0.0), counts)} to {_share(rate.mean + half, counts)}"


def _share(value: float, counts: bool) -> str:
    return f"{100 * value:.3g} %" if counts else f"{value:.4g}"


def predictions(
    model: str, source: str, told: Sequence[str], limits: Sequence[Certificate], facts: dict[str, Any],
    command: Sequence[str] = (),
) -> str:  # fmt: skip
    """The page of what a saved learner said of new examples: how often it was right, beside what limits its risk."""
    title = f"{model} on {source}"
    first, *rest = told
    return html.document(
        title,
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(sentences.capital(first))}.</p>',
        html.text(*(sentences.capital(one) + "." for one in rest)),
        html.part("What was promised", *(html.card(one) for one in limits)),
        html.part("What this rests on", html.rests_on(limits)),
        again(command),
        html.as_json(facts),
    )


def again(command: Sequence[str] = (), ledger: Ledger | None = None) -> str:
    """How to do it again: the command, the versions, the source."""
    import numpy as np

    parts = [html.verbatim(shlex.join(command))] if command else []
    parts.append(html.text(f"novikoff {__version__}, Python {platform.python_version()}, numpy {np.__version__}."))
    if ledger is not None and ledger.fingerprint:
        parts.append(html.table(["source", ""], [(name, value) for name, value in ledger.fingerprint.items()]))
    return html.part("To do it again", *parts)


def fragment(what: Any) -> str:
    """What a notebook shows of a result: plain tables and the picture, which need no style sheet."""
    if isinstance(what, Certificate):
        return html.card(what)
    if isinstance(what, Comparison):
        counts = isinstance(what.learners[0].games[0].mistakes, int)
        heads = ["learner", "mistakes" if counts else "loss a round", "deviation", "95 % of such means", "updates",
                 "seconds", "the first game, certified"]  # fmt: skip
        return _image(curves(what, heads[1])) + html.table(heads, [_row(one, counts) for one in what.learners])
    if isinstance(what, OnlineToBatch):
        return kept(what)
    if is_learner(what):
        return _learner(what)
    certificates = what.certify()
    cards = "".join(html.card(one) for one in certificates if one.holds or one.status == "violated")
    return (
        f"<p><b>{escape(lead(what, certificates))}</b></p>"
        + _image(picture(what, certificates))
        + _paid(what, certificates)
        + cards
    )


def _learner(one: Any) -> str:
    """What a learner is, what it holds, and what it promises."""
    player = Player(one)
    about = next(iter((type(player.within).__doc__ or "").strip().splitlines()), "")
    rows = [
        ("plays on", str(one.domain)),
        ("promises", ", ".join(theorem.name for theorem in one.promises) or "nothing"),
    ]
    rows += [] if player.size is None else [("holds", f"{player.size:,}")]
    return f"<p><b>{escape(repr(one))}</b></p>{html.text(about)}{html.table(['', ''], rows)}"


def _image(drawn: str) -> str:
    """A picture that also shows where inline SVG is not allowed: black on white."""
    if not drawn:
        return ""
    data = base64.b64encode(drawn.encode()).decode()
    return f'<img style="background:white;max-width:680px;width:100%" alt="" src="data:image/svg+xml;base64,{data}">'
