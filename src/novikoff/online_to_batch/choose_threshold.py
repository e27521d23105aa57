"""choose_threshold: the score from which on new rows are predicted positive, with limits on new rows.

How
    A cost matrix, a precision, a recall or a value decides, on the scores that the game computed before each label was
    known, or on fresh rows (`data`). The limits hold for all thresholds, costs and times at once, so the choice costs
    nothing beyond the union bound in them.
What the limits are about
    Without `data`: a hypothesis of the run, drawn for each prediction. The last hypothesis, which predicts, has
    learned from more rows; nothing is proved about it. With `data`: that hypothesis.
Scores
    Of a learner with probabilities they are log-odds. Other scores, as the Perceptron's, may grow during the run: then
    a threshold of the whole run is too low at its end, and fresh rows are the better choice.
Reference
    [cesabianchi2008]; online_to_batch/theorems/threshold_cost.py has theorem and proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, named, shown
from novikoff.core.labels import alike
from novikoff.core.types import Labels, Source, signs
from novikoff.data.as_stream import as_stream
from novikoff.data.read_as import Reading, read_as
from novikoff.data.tables.alignment import adopted
from novikoff.game.ledger import Ledger
from novikoff.game.metrics import Ranking
from novikoff.game.thresholds import (
    THRESHOLDS,
    Threshold,
    Thresholds,
    check_probability,
    check_rule,
    check_scores,
    decide,
    log_odds,
    rounded_down,
    table_of,
)
from novikoff.online_to_batch.theorems.risk_facts import ThresholdFacts
from novikoff.online_to_batch.theorems.threshold_cost import threshold_cost
from novikoff.online_to_batch.theorems.threshold_precision import threshold_precision
from novikoff.online_to_batch.theorems.threshold_recall import threshold_recall

PROMISES = (threshold_cost, threshold_precision, threshold_recall)
"""Theorems about a threshold, which hold together."""


def choose_threshold(
    ledger: Ledger, cost: Mapping[str, float] | None = None, precision: float | None = None,
    recall: float | None = None, threshold: float | None = None, delta: float = 0.05, data: Source | None = None,
) -> Threshold:  # fmt: skip
    """Choose the threshold that `ledger.predict` and saved models use from now on.

    Args:
        ledger: Ledger of a game of two labels with scores.
        cost: Costs of a false positive and of a false negative, such as {"FP": 1, "FN": 5}: the threshold with the
            least cost, or the costs that are reported for another rule; 1 each by default.
        precision: Precision that is required: the threshold with the largest recall that has it.
        recall: Recall that is required: the threshold with the largest precision that has it.
        threshold: A given threshold: a probability, or a score for a learner without probabilities. It is rounded down
            by less than 1/128 of the score, to one of the thresholds that the limits cover.
        delta: Probability that one of the limits on new rows may fail.
        data: Fresh rows with labels, from which the learner has not learned; None for the rows of the game.

    Returns:
        The threshold, also stored as `ledger.threshold`, with its counts; `certificates` has the limits.

    Example:
        >>> import novikoff as nk
        >>> ledger = nk.play("logistic", "demo:breast-cancer")
        >>> found = nk.choose_threshold(ledger, cost={"FP": 1, "FN": 10})
        >>> found.row.recall > ledger.recall, found.value < 0.5
        (True, True)
    """
    given: object = ledger
    if not isinstance(given, Ledger):
        raise InputError("a threshold needs the ledger of a game", f"got {named(given)}", "Pass nk.play(...).")
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0:
        raise InputError(f"delta must be a probability between 0 and 1: got {shown(delta)}. 0.05 is usual.")
    rule, target, cost_fp, cost_fn = check_rule(cost, precision, recall, threshold)
    check_scores(ledger)
    probable = ledger.player.probable
    table = ledger.thresholds() if data is None else _scored(ledger, data)
    if rule == "fixed":
        assert target is not None
        if probable:
            check_probability(target)
        score = rounded_down(log_odds(target) if probable else target)
        counts = table.at(score)[2:]
    else:
        row = decide(table, rule, target, cost_fp, cost_fn, probable)
        score, counts = row.score, row[2:]
    test = None if ledger.drift is None or data is not None else ledger.drift.test
    ledger.threshold = Threshold(
        rule=rule, target=target, score=score, probable=probable, counts=list(counts), cost_fp=cost_fp,
        cost_fn=cost_fn, delta=float(delta), fresh=data is not None, wealth=None if test is None else test.largest,
        refuted=test is not None and test.alarm, late=data is None and ledger.late is not None,
        copies=data is None and ledger.weighted is not None, repeated=data is None and ledger.repeated,
        single=data is not None or (ledger.passes == 1 and not ledger.earlier),
    )  # fmt: skip
    return ledger.threshold


def given_threshold(ledger: Ledger, threshold: float) -> Threshold:
    """Return a given threshold for the predictions of a game, as `choose_threshold` rounds it, without counts."""
    check_scores(ledger)
    rule, target, cost_fp, cost_fn = check_rule(None, None, None, threshold)
    probable = ledger.player.probable
    if probable:
        check_probability(threshold)
    score = rounded_down(log_odds(threshold) if probable else threshold)
    before = ledger.threshold
    if before is not None:
        cost_fp, cost_fn = before.cost_fp, before.cost_fn
    return Threshold(rule=rule, target=target, score=score, probable=probable, counts=[0, 0, 0, 0], cost_fp=cost_fp,
                     cost_fn=cost_fn)  # fmt: skip


def on_fresh_rows(threshold: Threshold, counts: Sequence[int]) -> Threshold:
    """Return a threshold with its counts on rows from which the learner has not learned; its limits are about these.

    Args:
        threshold: Threshold that was chosen before.
        counts: True positives, false positives, false negatives, true negatives.
    """
    return Threshold(rule=threshold.rule, target=threshold.target, score=threshold.score, probable=threshold.probable,
                     counts=[int(one) for one in counts], cost_fp=threshold.cost_fp, cost_fn=threshold.cost_fn,
                     delta=threshold.delta, fresh=True)  # fmt: skip


def choose_again(ledger: Ledger) -> Threshold:
    """Choose the threshold of a game that went on by the rule of its present one."""
    old = ledger.threshold
    if old is None:
        raise InputError("a threshold must have been chosen before: this game has none. Call choose_threshold.")
    precision, recall, fixed = (old.target if old.rule == rule else None for rule in ("precision", "recall", "fixed"))
    return choose_threshold(ledger, {"FP": old.cost_fp, "FN": old.cost_fn}, precision, recall, fixed, old.delta)


def limits(threshold: Threshold) -> list[Certificate]:
    """Return the limits on cost, precision and recall on new rows; they hold together with probability 1 - delta."""
    tp, fp, fn, _ = threshold.counts
    facts = ThresholdFacts(
        rounds=threshold.rows, true_positives=tp, false_positives=fp, false_negatives=fn, cost_fp=threshold.cost_fp,
        cost_fn=threshold.cost_fn, thresholds=THRESHOLDS, delta=threshold.delta, fresh=threshold.fresh,
        independence="refuted" if threshold.refuted else "trusted", evidence=threshold.wealth or 1.0,
        late=threshold.late, copies=threshold.copies, repeated=threshold.repeated,
        single=threshold.single,
    )  # fmt: skip
    return [theorem(facts) for theorem in PROMISES]


def _scored(ledger: Ledger, data: object) -> Thresholds:
    """Return the thresholds of the learner's scores of fresh rows, from which it does not learn."""
    player, ranking = ledger.player, Ranking()
    stream = as_stream(read_as(data, Reading()), player)
    known = Labels(*ledger.labels) if ledger.labels else Labels()
    if ledger.labels:
        stream.expected = known
    stream = adopted(stream, ledger.encoding, ledger.feature_names, learn=False)
    player.check_hash(stream)
    for batch in stream.batches():
        if stream.labels is not None and not alike(stream.labels.positive, known.positive):
            raise MismatchError(
                f"{known.positive!r} must be the positive label, as in training",
                f"in {stream.name} it is {stream.labels.positive!r}",
                f"Pass nk.read(..., positive={known.positive!r}).",
            )
        ranking.add(np.asarray(player.scores_many(batch), dtype=np.float64).reshape(-1), signs(batch))
    if not ranking.rounds:
        raise InputError(f"fresh rows must be at least one: {stream.name} has none.")
    return table_of(ranking, player.probable)
