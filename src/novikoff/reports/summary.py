"""What happened in a game, in sentences: beside what a constant would have done, and what was allowed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from novikoff.core.certificate import Certificate, bound_text, number, outward
from novikoff.core.errors import counted
from novikoff.core.learner import adapt
from novikoff.game.ledger import Ledger
from novikoff.reports.sentences import about, capital, claim

PREVIOUS = "repeating the previous label"
SURE = 2.0
"""Standard errors by which labels must change less often than in a random order, to be called long runs."""
NAMED, MOST = 0.05, 4
"""The weight from which on a forecaster is named, and how many are."""


def lead(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """The first sentence: what happened, what a constant would have done, what was allowed."""
    parts = [_happened(ledger)]
    constant = ledger.best_constant
    if ledger.adversary is not None:
        parts += [capital(claim(one), False) for one in certificates if one.side == "lower" and one.holds][:1]
    elif constant is not None and ledger.counts:
        weight, again = None if ledger.weighted is None else ledger.weighted.rounds, previous(ledger)
        costs = f" makes {constant.costs:,}" if weight is None else f": {about(constant.costs / weight)}"
        if again is not None:
            costs += f", {PREVIOUS} " + (f"{again:,}" if weight is None else about(again / weight))
        parts.append(f"{always(ledger)}{costs}")
    elif constant is not None:
        parts.append(f"{always(ledger)} loses {number(constant.costs)}")
    if ledger.weighted is not None:
        parts.append(f"certificates count rounds, one for each copy of a row: {_in_rounds(ledger)}")
    if best := tightest(certificates):
        where = "on exactly these rows " if ledger.adversary is None else ""
        if best.quantity in ("mistakes", "squared loss") and best.kind == "D":
            parts.append(f"{where}the theorem allows at most {bound_text(best.bound or 0, 'upper')}")
        elif "mistakes" in best.quantity:
            parts.append(f"{where}the theorem allows {bound_text(best.bound or 0, 'upper')} on average over its coins")
        elif "regret" in best.quantity:
            article = "an" if best.quantity.startswith("e") else "a"
            quantity = best.quantity.removesuffix(", at most")
            parts.append(f"the theorem allows {article} {quantity} of at most {bound_text(best.bound or 0, 'upper')}")
    return "; ".join(parts) + "."


def worse(ledger: Ledger, certificates: Sequence[Certificate]) -> Iterator[str]:
    """Said plainly: the learner, or its bound, is worse than the best constant."""
    constant, best = ledger.best_constant, tightest(certificates)
    if constant is None or ledger.adversary is not None or not ledger.rounds:
        return
    if ledger.metrics.loss > constant.costs:
        yield f"It did worse than {always(ledger)}, which learns nothing."
    most = None if best is None else allowed(ledger, best)
    if most is not None and most > constant.costs:
        costs = f"makes {constant.costs:,}" if ledger.counts else f"loses {number(constant.costs)}"
        told = f"it allows {bound_text(most, 'upper')}, and {always(ledger)} {costs}"
        yield f"The bound says less than a constant does: {told}."


def previous(ledger: Ledger) -> int | None:
    """Mistakes of the previous-label baseline; None where it means nothing."""
    if ledger.adversary is not None or ledger.player.pays or not ledger.rounds:
        return None
    return ledger.last_label


def runs(ledger: Ledger) -> str:
    """A hint where labels come in long runs, as in a file sorted by label; "" where they do not.

    In a random order the label changes in a share 1 - sum of p^2 of the rows. The hint is for less than half as many
    changes, if there are enough rows for that to be no chance.
    """
    own, again = ledger.metrics, previous(ledger)
    shown = own.baselines.shown().values()
    changes = own.rounds - sum(count * count for count in shown) / own.rounds if shown else 0.0
    if again is None or not 2 * again < changes:
        return ""
    rows = own.rounds if ledger.weighted is None else ledger.weighted.rows
    if (1.0 - again / changes) * math.sqrt(changes / 2.0 * rows / own.rounds) < SURE:
        return ""
    if ledger.weighted is None:
        made = f"makes only {counted(again, 'mistake')}"
    else:
        made = f"has an error of only {about(again / own.rounds)}"
    near = ", less than the learner" if again < own.mistakes else ""
    return (
        f"Labels come in long runs: {PREVIOUS} {made}{near}. The rows may be sorted by label, or follow each other in "
        "time. Shuffle them if their order carries no meaning."
    )


def allowed(ledger: Ledger, certificate: Certificate) -> int | float | None:
    """How many mistakes, or what loss, a certificate allows; None if it does not say."""
    told, quantity = certificate.quantities, certificate.quantity
    if certificate.bound is None or (ledger.counts and quantity not in ("mistakes", "expected mistakes")):
        return None
    if ledger.counts:
        return certificate.bound
    if quantity == f"{ledger.player.loss} loss":
        return certificate.bound
    against = quantity == f"regret against the {told.get('comparator')}" and certificate.status != "vacuous"
    return outward(certificate.bound + told["comparator_loss"]) if against else None


def bounding(ledger: Ledger, certificates: Sequence[Certificate]) -> Certificate | None:
    """The tightest that says something of the mistakes, or of the loss; None if none does."""
    found = (one for one in certificates if one.side == "upper" and allowed(ledger, one) is not None)
    best = next(found, None)
    return None if best is None or best.status == "vacuous" else best


def always(ledger: Ledger) -> str:
    """The best constant in words; the outcomes of forecasts may be texts, of which the ledger knows nothing."""
    constant = ledger.best_constant
    if constant is None:
        return ""
    if ledger.counts:
        return f"always saying {'the most frequent outcome' if ledger.player.pays else label(ledger, constant.says)}"
    return f"always saying {number(constant.says)}"


def tightest(certificates: Sequence[Certificate]) -> Certificate | None:
    """The best upper bound on the mistakes, the regret or the squared loss of this run; None if none says something."""
    found = (one for one in certificates if one.side == "upper" and one.status in ("valid", "conditional"))
    told = ("mistakes", "regret", "squared loss")
    return next((one for one in found if any(what in one.quantity for what in told)), None)


def rates(ledger: Ledger) -> str:
    """Precision, recall and F1 of +1, and what one has who always says +1; "" where there are none."""
    told = (("precision", ledger.precision), ("recall", ledger.recall), ("F1", ledger.f1))
    known = [f"{name} {about(value)}" for name, value in told if value is not None and ledger.adversary is None]
    if not known:
        return ""
    share, name = ledger.metrics.positives / ledger.metrics.rounds, label(ledger, ledger.label(1))
    constant = f"; always saying {name}: {about(share)}, 100 %, {about(2 * share / (1 + share))}" if share else ""
    return f"For {name}: {', '.join(known)}{constant}."


def errors(ledger: Ledger) -> str:
    """Of predicted numbers: the mean absolute error, with squared loss beside RMSE and R^2; "" of labels."""
    if ledger.mae is None:
        return ""
    told, constant = f"Mean absolute error {number(ledger.mae)}", ledger.best_constant
    if ledger.rmse is None:
        return told + "."
    told = f"RMSE {number(ledger.rmse)}, {capital(told, False)}"
    if constant is None or ledger.r2 is None:
        return told + "."
    rmse = math.sqrt(constant.costs / ledger.metrics.rounds)
    return f"{told}; the best constant: RMSE {number(rmse)} (R^2 {ledger.r2:.3g})."


def ranked(ledger: Ledger) -> str:
    """How well the scores rank the labels; "" where that is not known."""
    area = ledger.auc if ledger.adversary is None else None
    if area is None:
        return ""
    low, high = math.floor(1e4 * area.low) / 1e4, math.ceil(1e4 * area.high) / 1e4
    within = f"for certain from {low:.4f} to {high:.4f}; " if area.low < area.high else ""
    return f"AUC {area.value:.4f} ({within}scores at random: 0.5)."


def forecasters(ledger: Ledger) -> list[tuple[str, float, float]]:
    """Of a mixture: the name, the mean weight over all rounds and the weight now of each, the heaviest first."""
    within = ledger.player.within
    shares = within.shares
    if not len(shares) or not ledger.rounds:
        return []
    parts = zip(within.names, map(float, shares), map(float, within.weights), strict=True)
    return sorted(parts, key=lambda part: -part[1])


def carried(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """Who carried the predictions of a mixture, and who promises the least; "" if it is none."""
    parts = [part for part in forecasters(ledger) if max(part[1:]) >= NAMED][:MOST]
    if not parts:
        return ""
    told = ", ".join(f"{name} {about(share)} (now {about(now)})" for name, share, now in parts)
    promised = next((one.quantities["member"] for one in certificates if "member" in one.quantities), None)
    promised = "the stack" if promised == "stack" else promised
    return f"Mean weights: {told}." + (f" The smallest promise is that of {promised}." if promised else "")


def named(ledger: Ledger) -> str:
    """What the user's labels stand for; "" if they are -1 and +1."""
    if ledger.labels is None or ledger.labels == [-1, 1] or ledger.learner.labels is not None:
        return ""
    return f"Labels: {ledger.labels[1]} is +1, {ledger.labels[0]} is -1."


def scaled(ledger: Ledger) -> str:
    """That certificates speak of rows as the learner saw them; "" if they were not scaled."""
    if not any(adapt(one).changes_examples for one in (ledger.learner, *ledger.player.learners)):
        return ""
    return "Rows were scaled as they came: what is said of classifiers, lengths and margins is of the scaled rows."


def label(ledger: Ledger, value: Any) -> str:
    """A label as the user calls it; with its sign, where it is one."""
    signs = ledger.learner.labels is None and ledger.labels in (None, [-1, 1])
    return f"{value:+d}" if signs and value in (-1, 1) else str(value)


def _happened(ledger: Ledger) -> str:
    """The error of the predictions: over rounds, or in a weighted game over rows by their weights."""
    own = ledger.weighted
    if own is None:
        return _in_rounds(ledger)
    drawn = "" if ledger.deterministic else f", {number(own.expected)} expected"
    weighed = f"total weight {own.rounds:,} ({counted(own.rows, 'row')}, each predicted once{drawn})"
    if not ledger.counts:
        return f"loss {number(own.loss)} in {weighed}, {number(ledger.loss_rate)} per unit of weight"
    return f"error {about(ledger.mistake_rate)} of {weighed}"


def per_round(ledger: Ledger) -> str:
    """What means of a game are taken over."""
    return "a round" if ledger.weighted is None else "per unit of weight"


def _in_rounds(ledger: Ledger) -> str:
    rounds = counted(ledger.rounds, "round")
    drawn = "" if ledger.deterministic else f", {number(ledger.expected)} expected"
    if not ledger.counts:
        return f"loss {number(ledger.loss)} in {rounds} ({number(ledger.loss / max(ledger.rounds, 1))} a round{drawn})"
    made = counted(ledger.mistakes, "mistake")
    return f"{made} in {rounds} ({about(ledger.mistakes / max(ledger.rounds, 1))}{drawn})"
