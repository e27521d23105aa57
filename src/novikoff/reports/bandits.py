"""Bandits in words, as JSON and as a chart: loss, regret, and a lower limit on the loss of each arm or policy.

In a simulation the true losses are known, and are printed next to the limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from novikoff import __version__
from novikoff.bandits.off_policy import Limits, PolicyEvaluation
from novikoff.bandits.theorems.bandit_facts import BanditFacts, at_least
from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import Advice, Option
from novikoff.evaluation.simulate_bandits import BanditSimulation
from novikoff.game.ledger import Ledger
from novikoff.reports import game_chart, html, plain, sentences, terminal, tiles
from novikoff.reports.charts import DASHED, Bar, Bars, Chart, Line, Panel, cut, short_source, style
from novikoff.reports.tiles import VERDICTS, Tile

LISTED = 10
"""Largest number of arms listed on a terminal, and drawn."""


def lines(ledger: Ledger, names: Sequence[str]) -> Iterator[str]:
    """Yield the results of a bandit game in words."""
    facts = ledger.player.facts()
    assert isinstance(facts, BanditFacts)  # the games of `novikoff bandit`
    paid = f"loss {ledger.loss:,.6g} ({ledger.loss_rate:.4g} per round)"
    took = f"{ledger.seconds:.2f} s{terminal.speed(ledger)}"
    what = "arm" if facts.policies == facts.arms else "expert"
    yield f"{ledger.rounds:,} rounds, {facts.arms:,} arms, {paid}, {took}"
    if facts.table:
        best = _name(names, facts.best) if what == "arm" else f"expert {facts.best}"
        true = f"{facts.best_loss:,.6g} ({facts.best_loss / ledger.rounds:.4g} per round)"
        yield f"best {what}: {best}, loss {true}; regret {ledger.loss - facts.best_loss:,.6g}"
    else:
        yield "regret unknown: the losses of the other arms were not observed"
    if facts.plays and facts.arms > 1:
        most = max(range(facts.arms), key=facts.plays.__getitem__)
        yield f"most played: {_name(names, most)}, {facts.plays[most]:,} times"


def of_game(ledger: Ledger, certificates: list[Certificate], spec: str, names: Sequence[str]) -> dict[str, object]:
    """Return the bandit game as JSON values."""
    facts = ledger.player.facts()
    assert isinstance(facts, BanditFacts)  # the games of `novikoff bandit`
    fields = plain.game(ledger, certificates, spec)
    found = fields.pop("certificates")
    for key in ("mistakes", "mistake_rate", "survivor", "baselines"):
        fields.pop(key, None)
    if not facts.table:
        fields.pop("expected_loss", None)
    fields |= {"arms": facts.arms, "regret": ledger.loss - facts.best_loss if facts.table else None}
    if facts.table:
        best = _name(names, facts.best) if facts.policies == facts.arms else facts.best
        fields["best"] = {"name": best, "loss": facts.best_loss}
    if facts.plays:
        return {**fields, "plays": list(facts.plays), "certificates": found}
    fields["costs_at_least"] = [max(at_least(facts, sums, facts.policies), 0.0) for sums in facts.sums]
    return {**fields, "certificates": found}


def of_log(found: PolicyEvaluation) -> dict[str, object]:
    """Return a log as JSON values."""
    return {
        "source": found.source,
        "rounds": found.rounds,
        "arms": len(found.arms),
        "rewards": found.rewards,
        "total": found.total,
        "mean": found.mean,
        "plays": dict(zip(found.arms, found.plays, strict=True)),
        "delta": found.delta,
        "limits": [
            {"policy": one.policy, "estimate": one.estimate, "at_least": one.low, "at_most": one.high}
            for one in found.limits
        ],
        "certificates": [plain.certificate(one) for one in found.certify()],
    }


def of_policies(found: PolicyEvaluation) -> Iterator[str]:
    """Yield a log in words: its loss or reward, and the limits of each policy."""
    what = "reward" if found.rewards else "loss"
    yield f"{found.rounds:,} rounds, {len(found.arms):,} arms, {what} {found.total:,.6g} ({found.mean:.4g} per round)"
    if not found.limits:
        return
    listed = shown(found)
    width = max(len(name(found, one)) for one in listed)
    yield f"  {'policy':<{width}}  {f'{what} per round, about':>22}  {'at least':>9}  {'at most':>9}"
    for one in listed:
        low, high = (bound_text(value, side) for value, side in ((one.low, "lower"), (one.high, "upper")))  # type: ignore[arg-type]
        yield f"  {name(found, one):<{width}}  {one.estimate:>22.4g}  {low:>9}  {high:>9}"
    left = len(found.limits) - len(listed)
    if left:
        yield Advice(f"  and {left:,} more arms (", Option("json"), " lists all)")
    yield f"All of these limits hold at once, with probability at least {1 - found.delta:g}."
    yield from _verdict(found, what)
    if found.rewards:
        yield f"Below, the loss of a round is {found.most:g} minus its reward."


def _verdict(found: PolicyEvaluation, what: str) -> Iterator[str]:
    """Yield the policies that are certainly better than the logged one, or that there is none."""
    better = [one for one in found.limits if (one.low > found.mean if found.rewards else one.high < found.mean)]
    best = min(found.limits, key=lambda one: -one.low if found.rewards else one.high)
    if better:
        side, limit = ("at least", bound_text(best.low, "lower")) if found.rewards else (
            "at most", bound_text(best.high, "upper"))  # fmt: skip
        played = f"{found.mean:.4g}"
        gain = f"{what} {side} {limit} per round instead of {played}"
        yield f"{name(found, best)} is better than the logged policy: {gain}."
        return
    edge = max(one.high for one in found.limits) if found.rewards else min(one.low for one in found.limits)
    side, limit = ("at most", bound_text(edge, "upper")) if found.rewards else ("at least", bound_text(edge, "lower"))
    yield f"No policy is known to be better than the logged one; each has a {what} of {side} {limit} per round."


def shown(found: PolicyEvaluation) -> list[Limits]:
    """Return the arms with the best estimates, and every requested policy."""
    arms, others = found.limits[: len(found.arms)], found.limits[len(found.arms) :]
    return [*sorted(arms, key=lambda one: -one.estimate if found.rewards else one.estimate)[:LISTED], *others]


def name(found: PolicyEvaluation, one: Limits) -> str:
    """Return the name of a policy."""
    return f"always {cut(one.policy)}" if one in found.limits[: len(found.arms)] else cut(one.policy)


def _name(names: Sequence[str], arm: int) -> str:
    return names[arm] if arm < len(names) else f"arm {arm}"


def chart_of_log(found: PolicyEvaluation) -> Chart:
    """Return the limits of each policy as a bar, and the logged policy as a line."""
    rows = [Bar(name(found, one), one.low, one.high, one.estimate) for one in shown(found)]
    across = f"{'reward' if found.rewards else 'loss'} per round, between its limits"
    return Chart(f"policies on {short_source(found.source)}", [_bars(across, rows, found.mean)])


def chart_of_game(ledger: Ledger, names: Sequence[str], spec: str) -> Chart:
    """Return the lower limit of each arm next to its estimate or, in a simulation, its true loss."""
    learner: Any = ledger.learner
    facts: BanditFacts = learner.facts()
    finest = int(np.argmin(facts.gammas))
    totals = learner.totals if facts.table else [sums[finest] for sums in facts.sums]
    rounds = ledger.rounds
    if facts.plays:
        order = sorted(range(facts.arms), key=lambda k: -facts.plays[k])[:LISTED]
        mean = {k: f"{facts.plays[k]:,}, mean loss {facts.means[k]:.3g}" for k in order}
        played = [Bar(_name(names, k), 0.0, facts.plays[k], None, mean[k]) for k in order]
        return Chart(f"{spec} on {short_source(ledger.source)}", [Bars("plays of each arm", played)])
    rows = [
        Bar(_name(names, k) if facts.policies == facts.arms else f"expert {k}",
            max(at_least(facts, facts.sums[k], facts.policies), 0.0) / rounds, 1.0, totals[k] / rounds)
        for k in np.argsort(totals, kind="stable")[:LISTED].tolist()
    ]  # fmt: skip
    across = f"loss per round: lower limit, and the {'truth' if facts.table else 'estimate'}"
    return Chart(f"{spec} on {short_source(ledger.source)}", [_bars(across, rows, ledger.loss_rate)])


def simulated(found: BanditSimulation) -> Iterator[str]:
    """Yield a simulation in words: a table of the learners."""
    yield f"{found.games:,} games of {found.rounds:,} rounds: pseudo-regret, mean and standard error"
    width = max(len(one.learner) for one in found.learners)
    yield f"  {'learner':<{width}}  {'mean':>9}  {'error':>7}  {'guaranteed at most':>18}  theorem"
    for one in found.learners:
        spread, verdict = one.pseudo_regret, one.verdict
        error = "" if spread.standard_error is None else f"{spread.standard_error:.2g}"
        bound = "" if verdict is None or verdict.bound is None else bound_text(verdict.bound, "upper")
        named = "none in expectation" if verdict is None else f"{verdict.theorem}: {verdict.status}"
        yield f"  {one.learner:<{width}}  {spread.mean:>9,.4g}  {error:>7}  {bound:>18}  {named}"
    for one in found.learners:
        if one.verdict is not None and one.verdict.reason:
            yield f"{one.verdict.theorem} is {one.verdict.status}: {one.verdict.reason}."


def of_simulation(found: BanditSimulation) -> dict[str, object]:
    """Return a simulation as JSON values."""
    learners = [
        {
            "learner": one.learner,
            "pseudo_regret": one.pseudo_regret.mean,
            "standard_error": one.pseudo_regret.standard_error,
            "theorem": None if one.verdict is None else one.verdict.theorem,
            "status": None if one.verdict is None else one.verdict.status,
            "reason": None if one.verdict is None else one.verdict.reason,
            "bound": None if one.verdict is None else one.verdict.bound,
            "curve": [list(point) for point in one.curve],
            "bounds": [list(point) for point in one.bounds],
        }
        for one in found.learners
    ]
    return {"source": found.source, "rounds": found.rounds, "games": found.games, "learners": learners}


def chart_of_simulation(found: BanditSimulation) -> Chart:
    """Return the mean pseudo-regret of each learner over the rounds, and the theorems' bounds in a panel of its own."""
    lines, bounds = [], []
    for place, one in enumerate(found.learners):
        colour, _ = style(place)
        around = [2.0 * error for error in one.errors]
        end = f"{one.curve[-1][1]:,.4g}  {cut(one.learner)}"
        lines.append(Line(cut(one.learner), one.curve, colour, end=end, around=around))
        if one.bounds and one.verdict is not None:
            bounds.append(Line(one.verdict.theorem, one.bounds, colour, DASHED))
    panels = [Panel("mean pseudo-regret", "rounds", lines)]
    if bounds:
        panels.append(Panel("bound on its expectation", "rounds", bounds))
    note = f"mean of {found.games:,} games; bands: two standard errors"
    return Chart(f"Pseudo-regret on {short_source(found.source)}", panels, note)


# Pages


def page_of_game(
    ledger: Ledger, certificates: list[Certificate], names: Sequence[str], spec: str, fields: dict[str, Any],
    command: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return the HTML report of a bandit game."""
    title = f"{spec} on {short_source(ledger.source)}"
    first, *rest = map(sentences.whole, lines(ledger, names))
    drawn = [html.figure(one, hero=not k) for k, one in enumerate(game_chart.panels(ledger, certificates))]
    drawn += map(html.figure, game_chart.promised(ledger, certificates))
    arms = [html.figure(one, hero=True) for one in chart_of_game(ledger, names, spec).panels] if ledger.rounds else []
    return html.document(
        title,
        html.heading(title, f"novikoff {__version__}"),
        html.tiles(_tiles(ledger, certificates, names)) if ledger.rounds else "",
        f'<p class="lead">{escape(first)}</p>',
        html.part("Over time", html.charts(*drawn)),
        html.part("Arms", html.charts(*arms), html.text(*rest)),
        html.part("Guarantees", *map(html.card, certificates)),
        html.part("Details", html.assumptions(certificates), html.again(command, ledger.source, ledger.fingerprint),
                  html.as_json(fields)),
    )  # fmt: skip


def _tiles(ledger: Ledger, certificates: Sequence[Certificate], names: Sequence[str]) -> list[Tile]:
    """Return loss, best arm, guarantee and verdict of a game."""
    facts = ledger.player.facts()
    assert isinstance(facts, BanditFacts)  # the games of `novikoff bandit`
    loss, _, promise, verdict = tiles.of_game(ledger, certificates)
    if not facts.table:
        return [loss, Tile("Best arm", "unknown", "the losses of the other arms were not observed"), promise, verdict]
    best = _name(names, facts.best) if facts.policies == facts.arms else f"expert {facts.best}"
    regret = ledger.loss - facts.best_loss
    note = f"{best}; regret {sentences.brief(regret)}"
    return [loss, Tile("Best arm", sentences.brief(facts.best_loss / ledger.rounds), note), promise, verdict]


def page_of_log(found: PolicyEvaluation, fields: dict[str, Any], command: Sequence[str] = ()) -> str:
    """Return the HTML report of a bandit log."""
    title = f"Policies on {short_source(found.source)}"
    certificates, what = found.certify(), "reward" if found.rewards else "loss"
    first, *_ = of_policies(found)
    verdict = [sentences.whole(line) for line in _verdict(found, what)] if found.limits else []
    rows = [(name(found, one), f"{one.estimate:.4g}", bound_text(one.low, "lower"), bound_text(one.high, "upper"))
            for one in shown(found)]  # fmt: skip
    table = html.table(["policy", f"{what} per round, about", "at least", "at most"], rows, stacked=True)
    chart = chart_of_log(found).panels[0] if found.limits else None
    return html.document(
        title,
        html.heading(title, f"novikoff {__version__}"),
        html.tiles(_tiles_of_log(found, certificates)),
        html.text(sentences.whole(str(first))),
        *(f'<p class="lead">{escape(one)}</p>' for one in verdict),
        html.part("Policies", html.charts(html.figure(chart, hero=True)), table if rows else ""),
        html.part("Guarantees", *map(html.card, certificates)),
        html.part("Details", html.assumptions(certificates), html.again(command, found.source), html.as_json(fields)),
    )


def _tiles_of_log(found: PolicyEvaluation, certificates: Sequence[Certificate]) -> list[Tile]:
    """Return the logged policy, the best estimate, its limit and the verdict."""
    what = "Reward" if found.rewards else "Loss"
    tiles_ = [Tile(f"{what} per round", sentences.brief(found.mean), f"logged policy, {found.rounds:,} rounds")]
    if not found.limits:
        return tiles_
    best = max(found.limits, key=lambda one: one.low if found.rewards else -one.high)
    side, limit = "≤", sentences.rounded(best.high, "upper", 3)
    if found.rewards:
        side, limit = "≥", sentences.rounded(best.low, "lower", 3)
    better = best.low > found.mean if found.rewards else best.high < found.mean
    status = certificates[0].status if certificates else "void"
    tiles_.append(Tile("Best policy", sentences.brief(best.estimate), f"{name(found, best)}, estimate"))
    tiles_.append(Tile("Guarantee", f"{side} {limit}", f"with probability {100 * (1 - found.delta):g} %"))
    if not better:
        return [*tiles_, Tile("Verdict", "None is better", "no policy is known to be better than the log", "doubt")]
    _, mood = VERDICTS[status]
    return [*tiles_, Tile("Verdict", "✓ Better", f"{name(found, best)} is better than the log", mood)]


def page_of_simulation(found: BanditSimulation, fields: dict[str, Any], command: Sequence[str] = ()) -> str:
    """Return the HTML report of a simulation."""
    title = f"Pseudo-regret on {short_source(found.source)}"
    best = min(found.learners, key=lambda one: one.pseudo_regret.mean)
    rows = []
    for one in found.learners:
        error, verdict = one.pseudo_regret.standard_error, one.verdict
        bound = "" if verdict is None or verdict.bound is None else bound_text(verdict.bound, "upper")
        named = "none in expectation" if verdict is None else f"{verdict.theorem}: {verdict.status}"
        mean = sentences.brief(one.pseudo_regret.mean)
        rows.append((one.learner, mean, "" if error is None else f"{error:.2g}", bound, named))
    heads = ["learner", "pseudo-regret", "standard error", "guaranteed at most", "theorem"]
    broken = any(one.verdict is not None and one.verdict.status == "violated" for one in found.learners)
    held = sum(one.verdict is not None and one.verdict.status == "valid" for one in found.learners)
    strip = [Tile("Lowest pseudo-regret", sentences.brief(best.pseudo_regret.mean), best.learner),
             Tile("Games", f"{found.games:,}", f"of {found.rounds:,} rounds")]  # fmt: skip
    if best.verdict is not None and best.verdict.bound is not None:
        strip.append(Tile("Guarantee", f"≤ {sentences.rounded(best.verdict.bound, 'upper', 3)}", best.learner))
    strip.append(
        Tile(
            "Verdict",
            "✗ VIOLATED" if broken else "✓ Bounds hold" if held else "No guarantee",
            f"{held} of {len(found.learners)} bounds valid",
            "bad" if broken else "good" if held else "doubt",
        )
    )
    return html.document(
        title,
        html.heading(title, f"novikoff {__version__}"),
        html.tiles(strip),
        html.part("Over time", html.charts(*(html.figure(one, hero=not k)
                                             for k, one in enumerate(chart_of_simulation(found).panels)))),
        html.part("Results", html.table(heads, rows, sentences=True, stacked=True)),
        html.part("Details", html.again(command, found.source), html.as_json(fields)),
    )  # fmt: skip


def _bars(across: str, rows: Sequence[Bar], played: float) -> Bars:
    return Bars(across, rows, played, f"logged: {played:.4g}")
