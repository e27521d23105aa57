"""A game with expert advice, in words and as JSON: loss, best expert, regret, weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import counted
from novikoff.experts.best_mixture import Mixture
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.ledger import Ledger
from novikoff.reports import plain, summary, terminal

IN_JSON, LISTED = 20, 5
"""Largest number of experts whose weights are listed in JSON, and on a terminal."""


def lines(ledger: Ledger, experts: Sequence[str], mixture: Mixture | None = None) -> Iterator[str]:
    """Yield the results of a game with experts in words."""
    learner, facts = ledger.player, cast(ExpertsFacts, ledger.player.facts())
    drawn = "" if ledger.deterministic else f", {ledger.expected:,.6g} expected"
    paid = f"{facts.loss} loss {ledger.loss:,.6g} ({ledger.loss_rate:.4g} per round{drawn})"
    took = f"{ledger.seconds:.2f} s{terminal.speed(ledger)}"
    yield f"{_many(ledger.rounds, 'round')}, {_many(len(experts), 'expert')}, {paid}, {took}"
    if facts.rule == "sleeping":
        if facts.sleeper >= 0:
            awake = f"in the {counted(facts.sleeper_rounds, 'round')} it was active"
            yield f"nearest to its bound: regret {facts.sleeper_regret:,.6g} against {experts[facts.sleeper]} {awake}"
    else:
        regret = ledger.expected - facts.best_loss
        yield f"best expert: {experts[facts.best]}, loss {facts.best_loss:,.6g}; regret {regret:,.6g}"
    if (constant := ledger.best_constant) is not None:
        cost = counted(int(constant.costs), "mistake") if ledger.counts else f"loss {constant.costs:,.6g}"
        yield f"{summary.always(ledger)}: {cost}"
    if facts.path_losses:
        times = _many(len(facts.path_losses) - 1, "switch", "switches")
        regret = ledger.expected - facts.path_losses[-1]
        yield f"best sequence with at most {times}: loss {facts.path_losses[-1]:,.6g}; regret {regret:,.6g}"
    if mixture is not None:
        result = f"loss {mixture.upper:,.6g}; regret {ledger.expected - mixture.upper:,.6g}"
        yield f"best mixture: {_shares(mixture.weights, experts)}, {result}"
    yield "weights: " + _shares(learner.weights, experts)


def as_plain(
    ledger: Ledger, certificates: list[Certificate], spec: str, experts: Sequence[str], mixture: Mixture | None = None
) -> dict[str, object]:
    """Return the game as JSON values."""
    learner, facts = ledger.player, cast(ExpertsFacts, ledger.player.facts())
    sleeping = facts.rule == "sleeping"
    top = leading(learner.weights, IN_JSON)
    fields = plain.game(ledger, certificates, spec)
    found = fields.pop("certificates")
    for key in ("survivor", "expected_mistakes"):
        fields.pop(key, None)
    fields |= {
        "loss": ledger.loss,
        "expected_loss": ledger.expected,
        "loss_name": facts.loss,
        "play": facts.play,
        "experts": len(experts),
        "regret": facts.sleeper_regret if sleeping else ledger.expected - facts.best_loss,
        "best_expert": None if sleeping else {"name": experts[facts.best], "loss": facts.best_loss},
        "weights": {experts[i]: weight for i, weight in top},
        "others": len(experts) - len(top),
    }
    if sleeping and facts.sleeper >= 0:
        fields["against"] = {"name": experts[facts.sleeper], "rounds_awake": facts.sleeper_rounds}
    if facts.path_losses:
        fields["best_sequence"] = {"switches": len(facts.path_losses) - 1, "loss": facts.path_losses[-1]}
    if mixture is not None:
        fields["best_mixture"] = {
            "loss": mixture.upper,
            "loss_at_least": mixture.lower,
            "weights": {experts[i]: weight for i, weight in leading(mixture.weights, IN_JSON) if weight > 0.0},
        }
    return {**fields, "certificates": found}


def leading(weights: object, count: int) -> list[tuple[int, float]]:
    """Return the experts with the largest weights, ties by position."""
    weights = np.asarray(weights)
    order = np.argsort(-weights, kind="stable")[:count]
    return [(int(i), float(weights[i])) for i in order]


def _shares(weights: Any, experts: Sequence[str]) -> str:
    """Return the largest weights, and the rest, in words."""
    top = leading(weights, LISTED)
    listed = [f"{experts[i]} {_share(weight)}" for i, weight in top if weight > 0.0]
    others = int(np.count_nonzero(weights)) - len(listed)
    if others:
        rest = max(1.0 - sum(weight for _, weight in top), 0.0)
        listed.append(f"{others:,} more {_share(rest)}")
    return ", ".join(listed)


def _many(count: int, one: str, more: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {more or one + 's'}"


def _share(weight: float) -> str:
    return f"{100 * weight:.3g} %" if weight >= 1e-4 else "under 0.01 %"
