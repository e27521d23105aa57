"""Consistency checks of a ledger and its learner, for model files that may be damaged or edited.

A game has no more mistakes than rounds, a curve that follows its schedule and never decreases, a learner that played
exactly the rounds of the ledger, and comparators and stored hypotheses of the same rounds. The values inside a learner
are checked when it is restored (core/state.py).
"""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import TYPE_CHECKING

from novikoff.core.errors import ModelFileError, shown

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger
    from novikoff.game.metrics import Metrics, ServedMetrics, WeightedMetrics

SLACK = 1e-9
"""Relative tolerance of sums of floats."""


def check(ledger: Ledger) -> None:
    """Raise `ModelFileError` if a ledger contradicts itself or its learner."""
    _counts(ledger)
    _measured(ledger)
    if (weighted := ledger.weighted) is not None:
        _weighted(weighted, ledger)
        _measured(weighted)
    if ledger.late is not None and (served := ledger.late.served) is not None:
        _served(served, ledger)
    _errors(ledger)
    _bounds(ledger)
    _learner(ledger)
    _companions(ledger)


def _measured(metrics: Metrics) -> None:
    _sums(metrics)
    _baselines(metrics)
    _ranking(metrics)
    _calibration(metrics)
    _curve(metrics)


def _weighted(weighted: WeightedMetrics, ledger: Ledger) -> None:
    most = min(ledger.rounds, weighted.rounds)
    require(
        weighted.rows <= most,
        f"rows must be at most {most:,}, the smaller of its rounds and their weight",
        weighted.rows,
    )
    for name in ("mistakes", "positives"):
        value = getattr(weighted, name)
        require(value <= weighted.rounds, f"{name} must be at most the weight of its rows", value)
    require(type(weighted.deterministic) is bool, "deterministic must be true or false", weighted.deterministic)
    if weighted.coverage is not None:
        played = weighted.coverage.played
        require(played == weighted.rounds, f"its sets must have its weight {weighted.rounds:,}", played)


def _served(served: ServedMetrics, ledger: Ledger) -> None:
    """Check the metrics of served predictions against the counts of the game."""
    _sums(served)
    _curve(served)
    if ledger.weighted is None and ledger.late is not None:
        must = f"served predictions must have its {ledger.late.mistakes:,} mistakes in {ledger.rounds:,} rounds"
        require([served.mistakes, served.rounds] == [ledger.late.mistakes, ledger.rounds], must,
                [served.mistakes, served.rounds])  # fmt: skip
    must = f"unknown probabilities must be of its {served.rounds:,} served predictions"
    require(0 <= served.unknown <= served.rounds, must, served.unknown)
    if not served.unknown:
        _calibration(served)
    sound = served.ranking.rounds <= served.rounds
    require(sound, f"scores must be of its {served.rounds:,} served predictions", served.ranking.rounds)


def next_mark(t: int) -> int:
    """Return the round of the next point of a curve after round t: every round up to 1,000, then in steps of 1 %.

    >>> next_mark(7), next_mark(1010)
    (8, 1021)
    """
    return t + 1 if t < 1000 else math.ceil(1.01 * t)


def require(sound: bool, must: str, value: object) -> None:
    """Raise `ModelFileError` unless `sound`; `must` is the requirement, `value` the actual value."""
    if not sound:
        raise ModelFileError(f"a saved game must be consistent: {must}, but it has {shown(value)}.")


def _counts(ledger: Ledger) -> None:
    rounds = ledger.rounds
    require(ledger.mistakes <= rounds, f"mistakes must be at most its {rounds:,} rounds", ledger.mistakes)
    require(ledger.positives <= rounds, f"rounds labelled +1 must be at most its {rounds:,} rounds", ledger.positives)
    require(ledger.passes <= rounds + 1, "each pass must have a round", ledger.passes)
    require(ledger.seconds >= 0.0, "seconds must not be negative", ledger.seconds)
    if ledger.player.numbered:
        known, names = ledger.player.labels, ledger.labels or []
        require(len(names) <= (known or 0), f"it must have at most {known} labels, as its learner has", names)
    elif ledger.labels is not None:
        require(len(ledger.labels) == 2, "it must have two labels", ledger.labels)
    for name, value in (("deterministic", ledger.deterministic), ("fixed", ledger.fixed)):
        require(type(value) is bool, f"{name} must be true or false", value)
    if ledger.predictions is not None:
        recorded = sum(map(len, ledger.predictions))
        require(recorded == rounds, f"there must be a prediction for each of its {rounds:,} rounds", recorded)


def _sums(metrics: Metrics) -> None:
    most = metrics.rounds * _top(metrics) if metrics.rounds else 0.0  # the largest loss may be infinite
    for name, value in (("expected", metrics.expected), ("loss", metrics.loss)):
        slack = SLACK * max(1.0, abs(value))
        require(-slack <= value <= most + slack, f"{name} must be from 0 to the largest loss of its rounds", value)
    if not metrics.player.draws:
        must = "a deterministic learner must not have drawn predictions"
        require(metrics.deterministic, must, metrics.deterministic)
    least = metrics.loss * metrics.loss / max(metrics.rounds, 1) * (1.0 - SLACK)  # by the Cauchy-Schwarz inequality
    sound = metrics.player.task != "regression" or metrics.counts or not metrics.squares < least
    require(sound, "the sum of its squared losses must be at least (sum of losses)^2 / rounds", metrics.squares)
    if metrics.deterministic:
        slack = 0.0 if metrics.counts else SLACK * max(1.0, abs(metrics.loss))
        sound = abs(metrics.expected - metrics.loss) <= slack
        require(sound, "the expected loss must be the loss if nothing is drawn", metrics.expected)


def _errors(ledger: Ledger) -> None:
    if ledger.mae is not None and ledger.rmse is not None:
        most = ledger.rmse * (1.0 + SLACK)
        require(0.0 <= ledger.mae <= most, "the mean absolute error must be from 0 to its RMSE", ledger.mae)


def _calibration(metrics: Metrics) -> None:
    found = metrics.calibration
    counted = sum(found.rounds)
    if counted and metrics.player.numbered:
        right = metrics.rounds - metrics.mistakes  # confidences may be unknown in rounds with new labels
        must = f"its bins must have {metrics.rounds:,} rounds, {right:,} of them right, at most"
        require(counted <= metrics.rounds and sum(found.positives) <= right, must, counted)
    elif counted:  # empty for a learner without probabilities
        must = f"its bins must have {metrics.rounds:,} rounds, {metrics.positives:,} of them +1"
        require((counted, sum(found.positives)) == (metrics.rounds, metrics.positives), must, counted)


def _baselines(metrics: Metrics) -> None:
    found, rounds, labelled = metrics.baselines, metrics.rounds, metrics.player.loss != "table"
    summed = 0 if metrics.counts or not labelled else rounds
    require(found.numbers == summed, f"its baselines must have {summed:,} numbers", found.numbers)
    require(found.changes <= (rounds if metrics.counts else 0), "labels can change once per round", found.changes)
    if found.counts is None or not metrics.counts:
        require(metrics.counts or not found.counts, "a game without labels must have no table of labels", found.counts)
        return
    counted, right = sum(found.counts.values()), sum(n for (given, label), n in found.counts.items() if given == label)
    shown = sum(n for (_, label), n in found.counts.items() if label == 1)
    must = (
        f"its table of labels must have {rounds:,} rounds, {metrics.mistakes:,} mistakes and {metrics.positives:,} +1"
    )
    require((counted, counted - right, shown) == (rounds, metrics.mistakes, metrics.positives), must,
            [counted, counted - right, shown])  # fmt: skip
    values = {label for pair in found.counts for label in pair}
    allowed = {-1, 1} if metrics._signs else range(metrics.player.labels) if metrics.player.labels else values
    require(all(label in allowed for label in values), "its table must have the learner's labels only", sorted(values))


def _ranking(metrics: Metrics) -> None:
    found = metrics.ranking
    counts = [found.rounds, found.positives]
    sound = found.rounds == 0 or counts == [metrics.rounds, metrics.positives]
    must = f"it must have scores of its {metrics.rounds:,} rounds, {metrics.positives:,} of them +1"
    require(sound, must, counts)


def _top(metrics: Metrics) -> float:
    """Return the largest loss of a round."""
    return metrics.player.largest_loss


def _curve(metrics: Metrics) -> None:
    rounds, places, wanted, t = metrics.rounds, [t for t, _ in metrics.curve], [], 1
    while t <= rounds:
        wanted.append(t)
        t = next_mark(t)
    require(places == wanted, f"the curve must have {len(wanted):,} points up to round {rounds:,}", places[-3:])
    require(metrics._next == t, f"the next point of the curve must be at round {t:,}", metrics._next)
    slack, top = 0.0 if metrics.counts else SLACK * max(1.0, abs(metrics.loss)), _top(metrics)
    for (before, less), (t, paid) in pairwise([(0, 0), *metrics.curve, (rounds, metrics.loss)]):
        sound = less - slack <= paid <= less + ((t - before) * top if t > before else 0.0) + slack
        require(sound, "a curve must not decrease, nor rise by more than the largest loss", [less, paid])


def _bounds(ledger: Ledger) -> None:
    for (before, _), (t, bound) in pairwise([(0, 0.0), *ledger.bounds]):
        sound = type(t) is int and type(bound) is float and before < t <= ledger.rounds and 0.0 <= bound < math.inf
        require(sound, "bounds must be at its rounds, in order", [t, bound])


def _learner(ledger: Ledger) -> None:
    """Compare the learner's facts now with those at the start of the game."""
    then, now = ({part.name: getattr(facts, part.name) for part in dataclasses.fields(facts)}
                 for facts in (ledger.before, ledger.player.facts())
)  # fmt: skip
    if "rounds" in now:
        must = f"the learner must have played its {ledger.rounds:,} rounds, after those it had played before"
        played = now["rounds"] - then["rounds"]
        require(then["rounds"] >= 0 and played == ledger.rounds, must, [then["rounds"], now["rounds"]])
    if {"loss", "mistakes"} <= now.keys() and now["loss"] == 0.0 and ledger.late is None and not ledger.repeated:
        must = f"the learner must have made its {ledger.mistakes:,} mistakes"
        require(now["mistakes"] - then["mistakes"] == ledger.mistakes, must, now["mistakes"])
    if "arms" in now:
        sound = abs(now["lost"] - then["lost"] - ledger.loss) <= SLACK * max(1.0, abs(ledger.loss))
        require(sound, f"the learner must have the loss of its rounds, {ledger.loss:g}", now["lost"])
    for name in ("updates", "evictions", "restarts", "fewest"):
        if name in now:
            must = f"{name} must grow by at most its {ledger.rounds:,} rounds"
            require(0 <= then[name] <= now[name] <= then[name] + ledger.rounds, must, [then[name], now[name]])


def _companions(ledger: Ledger) -> None:
    """Check that ensemble members, comparators and stored hypotheses have the same rounds."""
    rounds = ledger.rounds
    for member in ledger.members:
        counts = [member.rounds, member.positives]
        require(
            counts == [rounds, ledger.positives], f"each member of an ensemble must have its {rounds:,} rounds", counts
        )
    if ledger.tracker is not None:
        require(ledger.tracker.rows == rounds, "comparators must have seen its rounds", ledger.tracker.rows)
        ledger.tracker.check(ledger.learner)
    if ledger.coverage is not None:
        ledger.coverage.check(rounds, ledger.player.standing())
    if ledger.late is not None:
        ledger.late.check(ledger)
    if ledger.drift is not None:
        ledger.drift.check(ledger)
    kept = ledger.reservoir
    if kept is not None and kept.labelled:
        counts = [kept.rounds, kept.mistakes]
        sound = kept.rounds <= rounds and kept.mistakes <= ledger.mistakes
        if ledger.passes <= 1:
            sound = counts == [rounds, ledger.mistakes]
        require(sound, f"stored hypotheses must be from its {rounds:,} rounds", counts)
