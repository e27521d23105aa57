"""A game as plain data: the object that --json prints."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from novikoff.core.certificate import Certificate
from novikoff.core.stream import Target
from novikoff.game.ledger import Ledger
from novikoff.reports import columns, coverage, decision_tree, segments, thresholds
from novikoff.reports.confusion import rates as label_rates
from novikoff.reports.summary import member_weights
from novikoff.reports.team import Member, members

if TYPE_CHECKING:
    from novikoff.drift.monitor import DriftTest
    from novikoff.evaluation.compare import Compared, Comparison, Spread
    from novikoff.evaluation.permutation import PermutationTest
    from novikoff.game.trace import Trace
    from novikoff.online_to_batch.finalize import OnlineToBatch


WEIGHTED = (
    "rates, baselines and tables count each row once, with its weight; rounds, mistakes, loss and certificates count a "
    "row of weight k as k rounds"
)
"""Explanation of the counts of a weighted game, printed with them."""
SERVED = (
    "rates and metrics are those of the predictions as they were served; rounds, mistakes, loss and certificates those "
    "of the predictions repeated when labels arrived"
)
"""Explanation of the counts of a game with late labels, printed with them."""


def game(
    ledger: Ledger, certificates: list[Certificate], learner: str, of_members: Sequence[Sequence[Certificate]] = ()
) -> dict[str, object]:  # fmt: skip
    """Return results and certificates of a game, and of each learner of a team, as JSON values."""
    plain: dict[str, object] = {
        "learner": learner,
        "source": ledger.source,
        "target": _target(ledger.target),
        "rounds": ledger.rounds,
        **({"mistakes": ledger.mistakes, "mistake_rate": ledger.mistake_rate} if ledger.counts else {}),
        "passes": ledger.passes,
        "seconds": ledger.seconds,
        "rounds_per_second": ledger.rounds / ledger.seconds if ledger.seconds else None,
        "size": ledger.player.size,
    }
    if not ledger.counts:
        plain["loss"], plain["loss_rate"] = ledger.loss, ledger.loss_rate
    if (weighted := ledger.weighted) is not None:
        lost = {"mistakes": weighted.mistakes} if ledger.counts else {"loss": weighted.loss}
        plain["weighted"] = {"rows": weighted.rows, "weight": weighted.rounds, **lost, "counts": WEIGHTED}
    if ledger.late is not None and (served := ledger.late.served) is not None:
        lost = {"mistakes": served.mistakes} if ledger.counts else {"loss": served.loss}
        plain["served"] = {"rounds": served.rounds, **lost, "unknown_probabilities": served.unknown, "counts": SERVED}
    plain |= {name: found for name in ("rmse", "mae", "r2") if (found := getattr(ledger, name)) is not None}
    if not ledger.deterministic:
        plain["expected_mistakes" if ledger.counts else "expected_loss"] = ledger.expected
    plain["baselines"] = baselines(ledger)
    if (confusion := ledger.confusion) is not None:
        rates = (
            {}
            if len(confusion.labels) != 2
            else {name: getattr(ledger, name) for name in ("precision", "recall", "f1")}
        )
        plain["confusion"] = {"labels": confusion.labels, "table": confusion.table, **rates}
        if ledger.player.numbered:
            plain["labels"] = [{**one._asdict(), "precision": one.precision, "recall": one.recall}
                               for one in label_rates(ledger)]  # fmt: skip
    if (area := ledger.auc) is not None:
        plain["auc"], plain["auc_interval"] = area.value, [area.low, area.high]
    if (survivor := ledger.player.survivor()) is not None:
        plain["survivor"] = survivor
    if (tree := ledger.player.drawn_tree()) is not None:
        plain["tree"] = {"title": tree.title, **decision_tree.plain(tree.root)}
    if ledger.hindsight is not None:
        from novikoff.reports import hindsight

        plain["hindsight"] = hindsight.describe(ledger.hindsight).plain
    if ledger.members:
        plain["members"] = [_member(member) for member in members(ledger, of_members)]
    measured = ledger.metrics
    if measured.log_loss is not None and measured.brier is not None and measured.rounds:
        mean = measured.log_loss / measured.rounds
        plain["log_loss"], plain["brier"] = mean if math.isfinite(mean) else None, measured.brier / measured.rounds
        bins = [found._asdict() for found in measured.calibration.table()]
        plain["calibration"] = {"error": measured.calibration.error, "bins": bins}
    if parts := member_weights(ledger):
        plain["forecasters"] = [{"name": name, "share": share, "weight": now} for name, share, now in parts]
    if (importance := columns.importance(ledger)) is not None:
        plain["importance"] = importance.plain()
    if (parts_of := segments.of(ledger)) is not None:
        plain["segments"] = segments.plain(parts_of)
    if ledger.coverage is not None:
        plain["sets"] = coverage.plain(ledger)
    if (part := ledger.since()) is not None:
        fields = part._asdict()
        infinite = fields["log_loss"] is not None and not math.isfinite(fields["log_loss"])
        plain["since"] = {**fields, **({"log_loss": None} if infinite else {})}
    if ledger.threshold is not None:
        limits = [certificate(one) for one in ledger.threshold.certificates]
        plain["threshold"] = {**thresholds.plain(ledger.threshold), "certificates": limits}
    if ledger.drift is not None:
        plain["drift"] = drift(ledger.drift.test)
    if claims := [claim for one in ledger.player.within.behaviours for claim in one.claims]:
        plain["behaviour"] = [{"claim": claim.claim, "standing": claim.standing} for claim in claims]
    plain["certificates"] = [certificate(one) for one in certificates]
    return plain


def drift(test: DriftTest) -> dict[str, object]:
    """Return a drift test as JSON values; without drift the chance of an alarm, ever, is at most alpha."""
    return {"alarm": test.alarm, "wealth": test.largest, "alpha": test.alpha, "examples": test.seen}


def baselines(ledger: Ledger) -> dict[str, object]:
    """Return the mistakes or the loss of the non-learning baselines on the same rounds, as JSON values."""
    costs = "mistakes" if ledger.counts else "loss"
    fields: dict[str, object] = {}
    if (constant := ledger.best_constant) is not None:
        fields["best_constant"] = {"says": constant.says, costs: constant.costs}
        if ledger.counts:
            fields["last_label"] = {costs: ledger.last_label}
    if ledger.player.task == "regression" and ledger.weighted is None:
        for name, found in (("mean_before", ledger.metrics.baselines.by_mean()),
                            ("last_number", ledger.metrics.baselines.by_previous())):  # fmt: skip
            if found is not None:
                fields[name] = found._asdict()
    return fields


def kept(classifier: OnlineToBatch) -> dict[str, object]:
    """Return a final classifier as JSON values."""
    plain = {name: getattr(classifier, name) for name in ("how", "drawn", "delta", "rounds", "index", "wealth")}
    return {**plain, "certificates": [certificate(one) for one in classifier.certificates]}


def permuted(test: PermutationTest) -> dict[str, object]:
    """Return a permutation test as JSON values."""
    return {"p": test.p, "observed": test.observed, "mean": test.mean, "shuffles": len(test.shuffled)}


def proof(trace: Trace) -> dict[str, object]:
    """Return the checks of a proof as JSON values."""
    lines, followed = trace.summary(), trace.proof
    if followed is None:
        return {"theorem": None, "checks": [], "summary": lines}
    checks = [
        {"claim": one.claim, "checked": one.checked, "of": one.of, "failed": one.failed,
         "failures": [{"round": t, "found": text} for t, text in one.failures]}
        for one in followed.checks
    ]  # fmt: skip
    ended = {"round": followed.ended_at, "reason": followed.ended} if followed.ended else None
    return {"theorem": followed.theorem, "checks": checks, "ended": ended, "summary": lines}


def _member(member: Member) -> dict[str, object]:
    fields: dict[str, object] = {"learner": member.name, "mistakes": member.mistakes, "weight": float(member.weight)}
    if member.weighted is not None:
        fields["weighted_mistakes"] = member.weighted
    if member.expected is not None:
        fields["expected_mistakes"] = member.expected
    return {**fields, "certificates": [certificate(one) for one in member.certificates]}


def certificate(one: Certificate) -> dict[str, object]:
    """Return a certificate as JSON values."""
    plain = {field.name: getattr(one, field.name) for field in dataclasses.fields(one) if field.name != "why"}
    plain["assumptions"] = [dataclasses.asdict(assumption) for assumption in one.assumptions]
    return plain


def _target(target: Target | None) -> dict[str, str] | None:
    """Return the target column and how it was chosen, as JSON values."""
    return None if target is None else target._asdict()


def comparison(found: Comparison) -> dict[str, object]:
    """Return a comparison as JSON values."""
    return {
        "source": found.source,
        "target": _target(found.target),
        "rows": found.rows,
        "passes": found.passes,
        "shuffles": found.shuffles,
        "seed": found.seed,
        "baselines": _constants(found),
        "by": found.by,
        "verdict": found.verdict,
        "differences": [
            {"better": one.better, "other": one.other, "amount": one.amount, "within": one.within, "clear": one.clear}
            for one in found.differences
        ],
        "learners": [_compared(compared) for compared in found.learners],
        **_weighted_rows(found),
    }


def _weighted_rows(found: Comparison) -> dict[str, object]:
    """Return what the figures of a comparison on weighted rows count, as JSON values."""
    game = found.learners[0].games[0]
    if game.rows is None:
        return {}
    return {"weighted": {"rows": game.rows, "weight": game.rounds, "counts": found.counted}}


def _constants(found: Comparison) -> dict[str, object]:
    """Return the best constant, and the previous-label baseline of each game, as JSON values."""
    games, constant = found.learners[0].games, found.constant
    if constant is None:
        return {}
    if games[0].last_label is None:
        return {"best_constant": {"says": constant.says, "loss": constant.costs}}
    best = {"says": constant.says, "mistakes": constant.costs}
    return {"best_constant": best, "last_label": {"mistakes": [game.last_label for game in games]}}


def _compared(compared: Compared) -> dict[str, object]:
    fields = {
        "learner": compared.learner,
        "rounds": compared.games[0].rounds,
        "mistakes": [game.mistakes for game in compared.games],
        "mistake_rate": _spread(compared.rate),
        "updates": _spread(compared.updates),
        "seconds": compared.seconds,
    }
    for by in ("log-loss", "auc", "mae", "rmse"):
        if (spread := compared.metric(by)) is not None:
            fields[by.replace("-", "_")] = _spread(spread)
    if compared.expected is not None:
        fields["expected_mistake_rate"] = _spread(compared.expected)
    fields["certificates"] = [certificate(one) for one in compared.certificates]
    return fields


def _spread(spread: Spread) -> dict[str, float | None]:
    return {"mean": spread.mean, "deviation": spread.deviation}
