"""Summary of a game: metrics next to their baselines, warnings, and the guarantee in one sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from novikoff.core.certificate import Certificate, DeclaredTheorem, bound_text, number, outward
from novikoff.core.errors import counted
from novikoff.core.types import Prediction
from novikoff.game.baselines import Plain
from novikoff.game.ledger import Ledger
from novikoff.reports import columns, sentences
from novikoff.reports.sentences import about, brief, capital, claim, headline, percent_of, share

PREVIOUS = "repeating the previous label"
"""Name of the baseline that predicts the label of the row before."""
PREVIOUS_NUMBER = "repeating the previous number"
"""Name of the baseline that predicts the number of the row before."""
CLOSE = 1.25
"""Largest ratio of a baseline's error to that of the learner at which the two are close."""
REPEATS, STUCK, CHANGES = 0.75, 0.75, 20
"""Agreement with the previous label beyond chance, share of the label's changes at which the prediction stays at the
previous label, and least number of changes, from which on a learner is reported to repeat the previous label."""
RUN_ERRORS = 2.0
"""Number of standard errors by which label changes must be rarer than in a random order to report long runs."""
NAMED, MOST = 0.05, 4
"""Smallest weight at which a member of an ensemble is named, and the largest number of named members."""
VISIBLE = 0.001
"""Smallest width of an AUC interval that is printed."""


class Metric(NamedTuple):
    """One line of a summary.

    Attributes:
        name: Name of the metric, such as "accuracy".
        value: Its value, formatted.
        note: Counts and baselines.
    """

    name: str
    value: str
    note: str


def a_priori(certificates: Sequence[Certificate]) -> str:
    """Return the bound on mistakes that was known before the game; "" if there was none."""
    return next(filter(None, map(sentences.a_priori, certificates)), "")


def metrics(ledger: Ledger, verbose: bool = False) -> Iterator[Metric]:
    """Yield the metrics of a game, each with its baselines; `verbose` adds the weights of an ensemble's members."""
    if ledger.adversary is not None or not ledger.rounds:
        yield _rounds(ledger)
        return
    yield _accuracy(ledger) if ledger.counts else _loss(ledger)
    yield from probabilities(ledger)
    for metric in (ranking(ledger), rates(ledger), *errors(ledger), ensemble(ledger) if verbose else None,
                   importance(ledger), since(ledger)):  # fmt: skip
        if metric is not None:
            yield metric


def _rounds(ledger: Ledger) -> Metric:
    """Return mistakes or loss of a game against an adversary."""
    if not ledger.counts:
        return Metric(f"{ledger.player.loss} loss", number(ledger.loss), f"in {counted(ledger.rounds, 'round')}")
    expected = "" if ledger.deterministic else f", {number(ledger.expected)} expected"
    return Metric("mistakes", f"{ledger.mistakes:,}", f"in {counted(ledger.rounds, 'round')}{expected}")


def _accuracy(ledger: Ledger) -> Metric:
    measured, parts = ledger.metrics, []
    if ledger.weighted is None:
        parts.append(f"{counted(measured.mistakes, 'mistake')} in {counted(measured.rounds, 'row')}")
    else:
        parts.append(f"over a total weight of {measured.rounds:,} ({counted(ledger.weighted.rows, 'row')})")
    if not ledger.deterministic:
        parts.append(f"{number(measured.expected)} expected over the random draws")
    if (constant := ledger.best_constant) is not None:
        parts.append(f"{always(ledger)}: {share(1.0 - constant.costs / measured.rounds)}")
    if (again := previous(ledger)) is not None:
        parts.append(f"{PREVIOUS}: {share(1.0 - again / measured.rounds)}")
    return Metric("accuracy", share(1.0 - ledger.mistake_rate), "; ".join(parts))


def _loss(ledger: Ledger) -> Metric:
    measured, constant = ledger.metrics, ledger.best_constant
    over = counted(measured.rounds, "row")
    if ledger.weighted is not None:
        over = f"a total weight of {measured.rounds:,} ({counted(ledger.weighted.rows, 'row')})"
    parts = [f"mean over {over}"]
    if not ledger.deterministic:
        parts.append(f"{brief(measured.expected / measured.rounds)} expected over the random draws")
    if constant is not None:
        parts.append(f"{always(ledger)}: {brief(constant.costs / measured.rounds)}")
    return Metric(f"{ledger.player.loss} loss", brief(ledger.loss_rate), "; ".join(parts))


def probabilities(ledger: Ledger) -> Iterator[Metric]:
    """Yield log loss and Brier score next to those of the best constant probability; nothing without probabilities."""
    measured = ledger.metrics
    rounds, log_loss, brier = measured.rounds, measured.log_loss, measured.brier
    if log_loss is None or brier is None or not rounds:
        return
    p, constant = measured.positives / rounds, entropy(ledger)
    least = p * (1.0 - p)
    if ledger.player.numbered:
        least = 1.0 - sum((shown / rounds) ** 2 for shown in measured.baselines.shown().values())
    constants = ["" if constant is None else f"best constant: {brief(value)}" for value in (constant or 0.0, least)]
    yield Metric("log loss", brief(log_loss / rounds), constants[0])
    yield Metric("Brier score", brief(brier / rounds), constants[1])


def ranking(ledger: Ledger) -> Metric | None:
    """Return the area under the ROC curve; None where it is unknown."""
    area = ledger.auc if ledger.adversary is None else None
    if area is None:
        return None
    known = f"between {share(area.low)} and {share(area.high)}; " if area.high - area.low >= VISIBLE else ""
    return Metric("AUC", f"{area.value:.3f}", f"{known}chance: 0.5")


def rates(ledger: Ledger) -> Metric | None:
    """Return F1, precision and recall of the positive label, next to always predicting it; None where undefined."""
    known = [f"{name} {share(value)}" for name, value in (("precision", ledger.precision), ("recall", ledger.recall))
             if value is not None]  # fmt: skip
    if not known or ledger.adversary is not None:
        return None
    positives = ledger.metrics.positives / ledger.metrics.rounds
    name = quoted(ledger, ledger.label(1))
    constant = f"; always {name}: {share(2 * positives / (1 + positives))}" if positives else ""
    f1 = "undefined" if ledger.f1 is None else share(ledger.f1)
    return Metric("F1", f1, f"{', '.join(known)} for {name}{constant}")


def errors(ledger: Ledger) -> Iterator[Metric]:
    """Yield RMSE and R^2, and the mean absolute error, of predicted numbers, each with its baselines."""
    if ledger.mae is None:
        return
    constant, before, again = ledger.best_constant, plain_errors(ledger, "mean"), plain_errors(ledger, "previous")
    if ledger.rmse is not None:
        parts = []
        if constant is not None and ledger.r2 is not None:
            parts.append(f"best constant: {brief(math.sqrt(constant.costs / ledger.metrics.rounds))}")
        if again is not None and again.rmse <= CLOSE * ledger.rmse:
            parts.append(f"{PREVIOUS_NUMBER}: {brief(again.rmse)}")
        if constant is not None and ledger.r2 is not None:
            parts.append(f"R^2 {ledger.r2:.3g}")
        yield Metric("RMSE", brief(ledger.rmse), "; ".join(parts))
    parts = [] if before is None else [f"mean of the rows before: {brief(before.mae)}"]
    if again is not None and again.mae <= CLOSE * ledger.mae:
        parts.append(f"{PREVIOUS_NUMBER}: {brief(again.mae)}")
    yield Metric("MAE", brief(ledger.mae), "; ".join(parts) or "mean absolute error")


def plain_errors(ledger: Ledger, which: Literal["mean", "previous"]) -> Plain | None:
    """Return the errors of a baseline for numbers; None where it is not defined, as in a game with weights."""
    if ledger.adversary is not None or ledger.weighted is not None or ledger.player.task != "regression":
        return None
    found = ledger.metrics.baselines
    return found.by_mean() if which == "mean" else found.by_previous()


def member_weights(ledger: Ledger) -> list[tuple[str, float, float]]:
    """Return name, mean weight over all rounds and present weight of each member of an ensemble, the heaviest first."""
    within = ledger.player.within
    shares = within.shares
    if not len(shares) or not ledger.rounds:
        return []
    parts = zip(within.names, map(float, shares), map(float, within.weights), strict=True)
    return sorted(parts, key=lambda part: -part[1])


def ensemble(ledger: Ledger) -> Metric | None:
    """Return the mean and present weights of an ensemble's members; None for any other learner."""
    parts = [part for part in member_weights(ledger) if max(part[1:]) >= NAMED][:MOST]
    if not parts:
        return None
    weights = (f"{name} {about(mean)} ({about(now)})" for name, mean, now in parts)
    return Metric("ensemble", "", f"mean weight (now): {', '.join(weights)}")


def importance(ledger: Ledger) -> Metric | None:
    """Return the columns that matter most; None where that is unknown."""
    found = columns.importance(ledger)
    return None if found is None else Metric("columns", "", columns.line(found))


def since(ledger: Ledger) -> Metric | None:
    """Return the results of the last part of a game next to those before it; None if no part is marked."""
    part, mark = ledger.since(), ledger.mark
    if part is None or mark is None or part.rounds <= 0 or not part.after or part.weight <= 0:
        return None
    before = ledger.metrics.rounds - part.weight
    unit = counted(part.rounds, "row") if ledger.weighted is None else f"weight {part.weight:,}"
    parts = []
    if part.mistakes is not None:
        value = share(1.0 - part.mistakes / part.weight)
        parts.append(f"accuracy over {unit}: {counted(part.mistakes, 'mistake')}")
        parts.append(f"before: {share(1.0 - mark.sums['mistakes'] / before)}" if before else "")
        if part.best_constant is not None:
            parts.append(f"best constant: {share(1.0 - part.best_constant)}")
        if part.last_label is not None and previous(ledger) is not None:
            parts.append(f"{PREVIOUS}: {share(1.0 - part.last_label)}")
    else:
        value = brief(part.loss_rate or 0.0)
        parts.append(f"mean {ledger.player.loss} loss over {unit}")
        parts.append(f"before: {brief(mark.sums['loss'] / before)}" if before else "")
    if part.log_loss is not None:
        parts.append(f"log loss {brief(part.log_loss)}")
    if part.auc is not None:
        parts.append(f"AUC {part.auc:.3f}")
    parts += [f"{name} {brief(one)}" for name, one in (("RMSE", part.rmse), ("MAE", part.mae)) if one is not None]
    return Metric(f"after {part.after:,}", value, "; ".join(filter(None, parts)))


def lead(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """Return the first sentences: the result, the baseline and the guarantee."""
    parts = [_happened(ledger)]
    constant = ledger.best_constant
    if ledger.adversary is not None:
        parts += [claim(one) for one in certificates if one.side == "lower" and one.holds][:1]
    elif constant is not None and ledger.counts:
        total, again = ledger.metrics.rounds, previous(ledger)
        parts.append(f"{always(ledger)}: {about(constant.costs / total)}")
        if again is not None:
            parts.append(f"{PREVIOUS}: {about(again / total)}")
    elif constant is not None and ledger.metrics.rounds:
        parts.append(f"{always(ledger)}: {brief(constant.costs / ledger.metrics.rounds)}")
    if ledger.weighted is not None:
        parts.append(f"certificates count each copy of a row as one round: {_in_rounds(ledger)}")
    if best := tightest(certificates):
        bound, per_row = bound_text(best.bound or 0, "upper"), ledger.adversary is None and ledger.weighted is None
        if per_row and best.bound is not None and best.quantity in ("mistakes", "expected mistakes") and ledger.rounds:
            within = " in expectation over the random draws" if best.kind == "E" else " on these rows"
            parts.append(f"guaranteed at most {percent_of(best.bound, ledger.rounds)}{within}")
        elif best.kind == "E":
            parts.append(f"guaranteed at most {bound} in expectation over the random draws")
        elif "regret" in best.quantity:
            parts.append(f"{best.quantity.removesuffix(', at most')} guaranteed at most {bound}")
        else:
            parts.append(f"guaranteed at most {bound}" + (" on these rows" if ledger.adversary is None else ""))
    elif (first := principal(certificates)) is not None and first.status in ("valid", "conditional"):
        return "; ".join(parts) + f". {capital(guarantee(ledger, first))}."
    return "; ".join(parts) + "."


def guarantee(ledger: Ledger, certificate: Certificate) -> str:
    """Return a certificate as one clause, per row, next to the baseline in the same unit.

    In a weighted game a round is one copy of a row, as certificates count them, and no baseline is known per round.
    """
    if ledger.adversary is not None:
        return headline(certificate)
    base, rows = "", ledger.rounds
    if ledger.weighted is None:
        if certificate.quantity in ("mistakes", "expected mistakes") and (constant := ledger.best_constant) is not None:
            base = f"{always(ledger)}: {brief(constant.costs / rows)} ({constant.costs:,})" if rows else ""
        elif certificate.quantity == "log loss":
            base = next((one.note for one in probabilities(ledger) if one.name == "log loss"), "")
        elif certificate.quantity == f"{ledger.player.loss} loss" and (constant := ledger.best_constant) is not None:
            base = f"{always(ledger)}: {brief(constant.costs / rows)}" if rows else ""
    return headline(certificate, rows or None, base, "row" if ledger.weighted is None else "round")


def behaviour(ledger: Ledger) -> str:
    """Return what a learner from outside was seen to do, and which theorems follow; "" for other learners."""
    parts = []
    for one in (one for one in ledger.player.within.behaviours if one.rounds == ledger.rounds):
        claims = "; ".join(f"{claim.claim}: {claim.standing}" for claim in one.claims)
        theorems = ", ".join(theorem.name for theorem in one.promises if isinstance(theorem, DeclaredTheorem))
        if claims:
            parts.append(claims + (f", so the theorems of {one.name} apply ({theorems})" if theorems else ""))
    return "; ".join(parts)


def warnings(ledger: Ledger, certificates: Sequence[Certificate]) -> Iterator[str]:
    """Yield a sentence where the learner, or its guarantee, is worse than the best constant."""
    constant, best = ledger.best_constant, tightest(certificates)
    if constant is None or ledger.adversary is not None or not ledger.rounds:
        return
    if ledger.metrics.loss > constant.costs:
        yield f"Worse than {always(ledger, ' predicting')}, which learns nothing."
    again, repeated = plain_errors(ledger, "previous"), repeats(ledger)
    if again is not None and ledger.mae is not None and again.mae < ledger.mae:
        yield f"Worse than {PREVIOUS_NUMBER}: mean absolute error {brief(ledger.mae)} against {brief(again.mae)}."
    if repeated:
        yield repeated
    most = None if best is None else allowed(ledger, best)
    if most is not None and most > constant.costs:
        costs = f"{constant.costs:,}" if ledger.counts else number(constant.costs)
        bound = bound_text(most, "upper")
        yield f"The guarantee ({bound}) is weaker than what {always(ledger, ' predicting')} achieves ({costs})."


def previous(ledger: Ledger) -> int | None:
    """Return the mistakes of the previous-label baseline; None if it is not defined for this game."""
    if ledger.adversary is not None or not ledger.player.learns_labels or not ledger.rounds:
        return None
    return ledger.last_label


def repeats(ledger: Ledger) -> str:
    """Return a warning where the predictions mostly repeat the label of the row before; "" where they do not.

    Agreement is measured beyond chance, as by Cohen's kappa, since a rare label repeats without being copied; and in
    the rows whose label changes, since a learner that follows the changes of sorted rows does not copy.
    """
    found = ledger.metrics.baselines
    if previous(ledger) is None or ledger.weighted is not None or not found.counts or found.changes < CHANGES:
        return ""
    rounds, predicted = ledger.metrics.rounds, Counter[Prediction]()
    for (prediction, _), count in found.counts.items():
        predicted[prediction] += count
    chance = sum(predicted[label] * count for label, count in found.shown().items()) / rounds**2
    agreement = (found.repeats / rounds - chance) / (1.0 - chance) if chance < 1.0 else 0.0
    if agreement < REPEATS or found.stuck < STUCK * found.changes:
        return ""
    return (
        f"The predictions mostly repeat the previous label: in {about(found.repeats / rounds)} of the rows, and in "
        f"{about(found.stuck / found.changes)} of those where the label changed. Where labels come late, expect worse."
    )


def runs(ledger: Ledger) -> str:
    """Return a hint where labels come in long runs, as in a file sorted by label; "" where they do not.

    In a random order the label changes in a share 1 - sum of p^2 of the rows. The hint is for less than half as many
    changes, if there are enough rows to rule out chance.
    """
    measured, again = ledger.metrics, previous(ledger)
    shown = measured.baselines.shown().values()
    changes = measured.rounds - sum(count * count for count in shown) / measured.rounds if shown else 0.0
    if again is None or not 2 * again < changes:
        return ""
    rows = measured.rounds if ledger.weighted is None else ledger.weighted.rows
    if (1.0 - again / changes) * math.sqrt(changes / 2.0 * rows / measured.rounds) < RUN_ERRORS:
        return ""
    if ledger.weighted is None:
        made = f"makes only {counted(again, 'mistake')}"
    else:
        made = f"has an error rate of only {about(again / measured.rounds)}"
    near = ", better than the learner" if again < measured.mistakes else ""
    return (
        f"Labels come in long runs: {PREVIOUS} {made}{near}. The rows may be sorted by label or by time. "
        "Shuffle them if their order carries no meaning."
    )


def allowed(ledger: Ledger, certificate: Certificate) -> int | float | None:
    """Return the mistakes, or the loss, that a certificate allows; None if it bounds something else."""
    quantities, quantity = certificate.quantities, certificate.quantity
    if certificate.bound is None or (ledger.counts and quantity not in ("mistakes", "expected mistakes")):
        return None
    if ledger.counts:
        return certificate.bound
    if quantity == f"{ledger.player.loss} loss":
        return certificate.bound
    against = quantity == f"regret against the {quantities.get('comparator')}" and certificate.status != "vacuous"
    return outward(certificate.bound + certificate.number("comparator_loss")) if against else None


def bounding(ledger: Ledger, certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the tightest informative bound on the mistakes, or on the loss; None if there is none."""
    found = (one for one in certificates if one.side == "upper" and allowed(ledger, one) is not None)
    best = next(found, None)
    return None if best is None or best.status == "vacuous" else best


def bounding_log_loss(certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the tightest informative bound on the log loss of the whole game; None if there is none."""
    found = (one for one in certificates if one.side == "upper" and one.quantity == "log loss")
    return next((one for one in found if one.status in ("valid", "conditional")), None)


def entropy(ledger: Ledger) -> float | None:
    """Return the log loss per row of the best constant probabilities; None without probabilities."""
    measured = ledger.metrics
    if measured.log_loss is None or not measured.rounds:
        return None
    shares = [measured.positives / measured.rounds, 1.0 - measured.positives / measured.rounds]
    if ledger.player.numbered:
        shares = [shown / measured.rounds for shown in measured.baselines.shown().values()]
    return sum(one * math.log(1.0 / one) for one in shares if one) if shares else None


def always(ledger: Ledger, verb: str = "") -> str:
    """Name the best constant, as in `always "benign"`; the outcomes of forecasts may be texts unknown to the ledger."""
    constant = ledger.best_constant
    if constant is None:
        return ""
    if ledger.counts:
        labels = ledger.player.learns_labels
        return f"always{verb} {quoted(ledger, constant.says) if labels else 'the most frequent outcome'}"
    return f"always{verb} {brief(constant.says)}"


def tightest(certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the best informative upper bound on mistakes, regret or squared loss; None if there is none."""
    found = (one for one in certificates if one.side == "upper" and one.status in ("valid", "conditional"))
    quantities = ("mistakes", "regret", "squared loss")
    return next((one for one in found if any(what in one.quantity for what in quantities)), None)


def principal(certificates: Sequence[Certificate]) -> Certificate | None:
    """Return the upper bound to print first: on mistakes, regret or squared loss, else on the log loss, else any."""
    upper = [one for one in certificates if one.side == "upper"]
    log_loss = (one for one in upper if one.quantity == "log loss" and one.status in ("valid", "conditional"))
    return tightest(certificates) or next(log_loss, None) or next(iter(upper), None)


def tightest_member(certificates: Sequence[Certificate]) -> str:
    """Name the member of an ensemble that the tightest bound compares with; "" if there is none."""
    member = next((one.quantities["member"] for one in certificates if "member" in one.quantities), None)
    return f"The tightest bound comes from the member {member}." if member else ""


def named(ledger: Ledger) -> str:
    """State which label is +1 and which is -1; "" if the labels are -1 and +1."""
    if ledger.labels is None or ledger.labels == [-1, 1] or ledger.player.task == "multiclass":
        return ""
    return f"Labels: {ledger.labels[1]} is +1, {ledger.labels[0]} is -1."


def scaled(ledger: Ledger) -> str:
    """State that certificates refer to scaled rows; "" if rows were not scaled."""
    if not any(one.changes_examples for one in (ledger.player, *ledger.player.learners)):
        return ""
    return "Rows were scaled as they arrived: comparators, lengths and margins refer to the scaled rows."


def label(ledger: Ledger, value: object) -> str:
    """Return a label as the user writes it; -1 and +1 with their sign."""
    signs = ledger.player.task != "multiclass" and ledger.labels in (None, [-1, 1])
    return f"{value:+d}" if signs and value in (-1, 1) else str(value)


def quoted(ledger: Ledger, value: object) -> str:
    """Return a label for a sentence: a text in quotes, a number without."""
    return f'"{value}"' if isinstance(value, str) and '"' not in value else label(ledger, value)


def unit(ledger: Ledger) -> str:
    """Return the unit of all means: a row, or a unit of weight."""
    return "row" if ledger.weighted is None else "unit of weight"


def _happened(ledger: Ledger) -> str:
    """Return the error of the predictions: over rounds, or in a weighted game over rows by their weights."""
    measured = ledger.weighted
    if measured is None:
        return _in_rounds(ledger)
    expected = "" if ledger.deterministic else f", {number(measured.expected)} expected"
    weight = f"total weight {measured.rounds:,} ({counted(measured.rows, 'row')}, each predicted once{expected})"
    if not ledger.counts:
        return f"loss {number(measured.loss)} over {weight}, {brief(ledger.loss_rate)} per unit of weight"
    return f"error rate {about(ledger.mistake_rate)} over {weight}"


def _in_rounds(ledger: Ledger) -> str:
    rounds = counted(ledger.rounds, "row" if ledger.adversary is None and ledger.weighted is None else "round")
    expected = "" if ledger.deterministic else f", {number(ledger.expected)} expected"
    if not ledger.counts:
        per = "row" if rounds.endswith(("row", "rows")) else "round"
        rate = brief(ledger.loss / max(ledger.rounds, 1))
        return f"loss {number(ledger.loss)} in {rounds} ({rate} per {per}{expected})"
    made = counted(ledger.mistakes, "mistake")
    return f"{made} in {rounds} ({about(ledger.mistakes / max(ledger.rounds, 1))}{expected})"
