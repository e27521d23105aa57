"""The four tiles at the top of a report: error, baseline, guarantee and verdict, each read at one glance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from novikoff.core.certificate import Certificate, bound_text, number
from novikoff.core.errors import counted
from novikoff.evaluation.compare import Comparison
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.reports import coverage, sentences, summary
from novikoff.reports.sentences import about, brief

Mood = Literal["", "good", "doubt", "bad"]
"""Colour of a tile."""
VERDICTS: dict[str, tuple[str, Mood]] = {
    "valid": ("✓ Guaranteed", "good"),
    "conditional": ("✓ If assumptions hold", "doubt"),
    "vacuous": ("Not informative", "doubt"),
    "void": ("No guarantee", "doubt"),
    "violated": ("✗ VIOLATED", "bad"),
}
"""Verdict on each status of the certificate, and its colour."""


class Tile(NamedTuple):
    """One tile.

    Attributes:
        name: What it shows.
        value: The figure.
        note: What the figure counts.
        mood: Colour of the figure.
    """

    name: str
    value: str
    note: str
    mood: Mood = ""


def of_game(ledger: Ledger, certificates: Sequence[Certificate], experts: Sequence[str] = ()) -> list[Tile]:
    """Return the tiles of a game."""
    if not ledger.rounds:
        return []
    if ledger.coverage is not None and ledger.metrics.coverage is not None and ledger.metrics.coverage.played:
        return _covered(ledger, certificates)
    baseline, cost = _baseline(ledger, certificates, experts)
    promise, first = _promise(ledger, certificates)
    return [_error(ledger), baseline, promise, _verdict(ledger, first, cost)]


def _error(ledger: Ledger) -> Tile:
    measured = ledger.metrics
    if ledger.counts:
        what = "weight" if ledger.weighted is not None else "rounds" if ledger.adversary is not None else "rows"
        note = f"{counted(measured.mistakes, 'mistake')} in {measured.rounds:,} {what}"
        if not ledger.deterministic:
            note += f"; {number(measured.expected)} expected"
        return Tile("Error", about(ledger.mistake_rate), note)
    if ledger.rmse is not None:
        return Tile("Error (RMSE)", brief(ledger.rmse), f"mean absolute error {brief(ledger.mae or 0.0)}")
    if ledger.mae is not None:
        return Tile("Mean absolute error", brief(ledger.mae), f"in {counted(ledger.rounds, 'row')}")
    kind = "" if ledger.player.loss == "table" else f"{ledger.player.loss} "
    return Tile(f"{kind}loss per round".capitalize(), brief(ledger.loss_rate), f"{number(ledger.loss)} in total")


def _baseline(ledger: Ledger, certificates: Sequence[Certificate], experts: Sequence[str]) -> tuple[Tile, float | None]:
    """Return the best of the non-learning baselines, and its error in the unit of the first tile."""
    rows, constant = max(ledger.metrics.rounds, 1), ledger.best_constant
    facts = ledger.player.facts()
    if experts and isinstance(facts, ExpertsFacts) and facts.rule != "sleeping":
        paid = facts.best_loss / max(ledger.rounds, 1)
        text = about(paid) if ledger.counts else brief(paid)
        return Tile("Best expert", text, experts[facts.best]), None
    if ledger.adversary is not None:
        forced = next(
            (one for one in certificates if one.side == "lower" and one.bound is not None and one.holds), None
        )
        if forced is not None and forced.bound is not None:
            return Tile("Forced", f"≥ {bound_text(forced.bound, 'lower')}", forced.quantity), None
    found: list[tuple[float, str]] = []
    if constant is not None and ledger.counts:
        found.append((constant.costs / rows, summary.always(ledger)))
        if (again := summary.previous(ledger)) is not None:
            found.append((again / rows, summary.PREVIOUS))
    elif constant is not None:
        mean = constant.costs / rows
        found.append((math.sqrt(mean) if ledger.rmse is not None else mean, summary.always(ledger)))
    before = summary.plain_errors(ledger, "previous")
    if before is not None and ledger.mae is not None:
        found.append((before.rmse if ledger.rmse is not None else before.mae, summary.PREVIOUS_NUMBER))
    if not found:
        return Tile("Baseline", "–", "none is defined for this game"), None
    cost, name = min(found)
    return Tile("Baseline", about(cost) if ledger.counts else brief(cost), name), cost


def _promise(ledger: Ledger, certificates: Sequence[Certificate]) -> tuple[Tile, Certificate | None]:
    """Return the guarantee, and the certificate that it is from."""
    broken = next((one for one in certificates if one.status == "violated"), None)
    first = broken or summary.principal(certificates)
    if first is None:
        return Tile("Guarantee", "–", "no bound is known for this learner"), None
    if first.bound is None or first.status == "void":
        return Tile("Guarantee", "–", sentences.headline(first)), first
    rows, plain = ledger.rounds, ledger.weighted is None
    most = summary.allowed(ledger, first)
    expected = " in expectation" if first.kind == "E" else ""
    if ledger.counts and most is not None and plain and ledger.adversary is None:
        note = f"at most {bound_text(most, 'upper')} mistakes{expected} on these rows"
        return Tile("Guarantee", f"≤ {sentences.percent_of(most, rows)}", note), first
    if ledger.rmse is not None and most is not None and plain:
        root = math.nextafter(math.sqrt(most / rows), math.inf)
        note = f"RMSE; total squared loss at most {bound_text(most, 'upper')}"
        return Tile("Guarantee", f"≤ {sentences.rounded(root, 'upper', 3)}", note), first
    if first.quantity == "log loss" and plain:
        constant = summary.entropy(ledger)
        best = "" if constant is None else f", best constant {brief(constant)}"
        note = f"log loss per row; observed {brief(first.observed / rows)}{best}"
        return Tile("Guarantee", f"≤ {sentences.per(first.bound, rows)}", note), first
    sign = "≤" if first.side == "upper" else "≥"
    note = f"{first.quantity.removesuffix(', at most')}{expected}; observed {_figure(first.observed)}"
    return Tile("Guarantee", f"{sign} {sentences.rounded(first.bound, first.side, 4)}", note), first


def _verdict(ledger: Ledger, first: Certificate | None, cost: float | None) -> Tile:
    """Return the status of the guarantee, and how the error compares with the baseline."""
    text, mood = VERDICTS["void" if first is None else first.status]
    error = ledger.rmse if ledger.rmse is not None else ledger.mae if ledger.mae is not None else ledger.loss_rate
    note = ""
    if cost is not None and ledger.adversary is None:
        note = _compared(error, cost, ledger.counts)
        if error > cost and mood == "good":
            mood = "doubt"
    elif first is not None and first.bound is not None and first.side == "upper":
        most = sentences.rounded(first.bound, "upper", 4)
        note = f"{first.quantity.removesuffix(', at most')} {_figure(first.observed)}, at most {most}"
    return Tile("Verdict", text, note, mood)


def _compared(error: float, cost: float, counts: bool) -> str:
    """Compare the error with that of a baseline."""
    what = "errors" if counts else "error"
    if error == cost:
        return "as good as the baseline"
    if error > cost:
        return f"worse than the baseline by {about(error - cost) if counts else brief(error - cost)}"
    if error == 0.0:
        return f"no {what}; the baseline makes {about(cost) if counts else brief(cost)}"
    if cost >= 2.0 * error:
        return f"{_times(cost / error)} times fewer errors than the baseline" if counts else (
            f"error {_times(cost / error)} times smaller than the baseline's")  # fmt: skip
    return f"{about(1.0 - error / cost)} {'fewer errors' if counts else 'less error'} than the baseline"


def _figure(value: int | float) -> str:
    """Format a count in full, any other number with three digits."""
    return number(value) if isinstance(value, int) else brief(value)


def _times(ratio: float) -> str:
    """Format a ratio, rounded down."""
    return f"{math.floor(10 * ratio) / 10:.1f}" if ratio < 10 else f"{math.floor(ratio):,}"


def _covered(ledger: Ledger, certificates: Sequence[Certificate]) -> list[Tile]:
    """Return the tiles of a game with prediction sets."""
    found = ledger.metrics.coverage
    assert found is not None
    kind = "sets" if found.most is not None else "intervals"
    share = 1.0 - found.missed / found.played
    size = "unbounded" if found.mean_size is None else f"{found.mean_size:.3g}"
    mean = f"mean size {size} labels" if found.most is not None else f"mean length {size}"
    one = coverage.deviation(certificates)
    promise, (text, mood) = Tile("Guarantee", "–", "no bound on the coverage"), VERDICTS["void"]
    if one is not None:
        text, mood = VERDICTS[one.status]
        if one.bound is not None and one.status != "vacuous":
            low, high = max(1 - found.alpha - one.bound, 0.0), min(1 - found.alpha + one.bound, 1.0)
            span = f"{math.floor(1000 * low) / 10:.3g} to {math.ceil(1000 * high) / 10:.3g} %"
            promise = Tile("Guarantee", span, "coverage on these rows")
        else:
            promise = Tile("Guarantee", "–", sentences.headline(one))
    return [
        Tile("Coverage", coverage.percent(share), f"of {found.played:,} {kind}; {mean}"),
        Tile("Target", coverage.percent(1 - found.alpha), _error(ledger).note),
        promise,
        Tile("Verdict", text, f"{100 * abs(share - 1 + found.alpha):.2g} points from the target", mood),
    ]


def of_comparison(found: Comparison) -> list[Tile]:
    """Return the tiles of a comparison: the two best learners, the baseline, and the verdict."""
    counts = isinstance(found.learners[0].games[0].mistakes, int)
    show = about if counts else brief
    ranked = sorted(found.learners, key=lambda one: one.rate.mean)
    what = "error" if counts else "loss"
    tiles = [Tile(f"Lowest {what}", show(ranked[0].rate.mean), ranked[0].learner)]
    if len(ranked) > 1:
        tiles.append(Tile("Second", show(ranked[1].rate.mean), ranked[1].learner))
    first = found.learners[0].games[0]
    if (constant := found.constant) is not None:
        tiles.append(Tile("Baseline", show(constant.costs / first.rounds), f"always {constant.says}"))
    clear = [one for one in found.differences if one.clear]
    if found.differences:
        sure = len(clear) == len(found.differences)
        text = "Clear winner" if sure else "No clear winner"
        note = f"{len(clear)} of {counted(len(ranked) - 1, 'other learner')} clearly worse"
        tiles.append(Tile("Verdict", text, note, "good" if sure else "doubt"))
    else:
        statuses = [one.certificates[0].status for one in ranked if one.certificates]
        broken = "violated" in statuses
        held = sum(status == "valid" for status in statuses)
        tiles.append(Tile("Verdict", "✗ VIOLATED" if broken else "One order each",
                          f"{held} of {counted(len(ranked), 'guarantee')} valid", "bad" if broken else ""))  # fmt: skip
    return tiles


def of_limits(limits: Sequence[Certificate], error: str = "", note: str = "") -> list[Tile]:
    """Return the tiles of a final classifier, or of its predictions: error, limit on new rows, verdict."""
    tiles = [Tile("Error", error, note)] if error else []
    if not limits:
        return [*tiles, Tile("Limit on new rows", "–", "no bound on the risk is known", "doubt")]
    first = limits[0]
    value = "–" if first.bound is None else f"≤ {sentences.percent(float(first.bound))}"
    text, mood = VERDICTS[first.status]
    return [*tiles, Tile("Limit on new rows", value, first.quantity), Tile("Verdict", text, "", mood)]
