"""What the theorems of a learner and of its adversary say of a game, by its ledger."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novikoff.core.certificate import RANK, Certificate
from novikoff.core.errors import counted
from novikoff.core.types import Run, Theorem

if TYPE_CHECKING:
    from novikoff.distributed.comparator_sums import ComparatorSums
    from novikoff.game.ledger import Ledger


@dataclass(frozen=True)
class Proved:
    """Certificates of the first `rounds` rounds of a game, as they stood then."""

    rounds: int
    certificates: tuple[Certificate, ...]

    def besides(self, found: Sequence[Certificate]) -> list[Certificate]:
        """Void certificates of the theorems that have nothing to say of the whole game, with what was proved then.

        None of them is a bound on the game as it is now: no report and no theorem on a team may take it for one.
        """
        known = {one.theorem for one in found}
        return [
            dataclasses.replace(one, bound=None, status="void", reason=f"{self.reason}: {str(one).partition(': ')[2]}")
            for one in self.certificates
            if one.theorem not in known
        ]

    @property
    def reason(self) -> str:
        """Why nothing is known of the whole game."""
        return f"a model file left its comparators out after {counted(self.rounds, 'round')}; proved until then"


def certify(
    ledger: Ledger, adaptive: bool, fixed: bool | None, members: Sequence[Sequence[Certificate]] | None,
    comparators: ComparatorSums | None,
) -> list[Certificate]:  # fmt: skip
    """`Ledger.certify`."""
    proved = ledger.proved
    if proved is not None and proved.rounds == ledger.rounds and comparators is None:
        return list(proved.certificates)
    adaptive = adaptive or ledger.adversary is not None
    fixed = ledger.fixed if fixed is None else fixed
    tracked = None if ledger.tracker is None else ledger.tracker.facts(ledger.player.within)
    if ledger.hindsight is not None and tracked is not None:
        tracked = ledger.hindsight.joined(tracked)
    if comparators is not None:
        tracked = comparators.joined(ledger, tracked)
    members = ledger.certify_members(adaptive, fixed) if members is None else members
    before, after = ledger.before, ledger.learner.facts()
    told = tuple(map(tuple, members))
    found = _evaluate(ledger, ledger.learner.promises, before, after, adaptive, fixed, tracked, told)
    adversary = ledger.adversary
    if adversary is not None:
        forced = _evaluate(ledger, adversary.promises, ledger.adversary_before, adversary.facts(), True, False)
        found += forced if ledger.answered == ledger.rounds else [_broken_off(certificate) for certificate in forced]
    found = sorted(found, key=lambda c: (c.side != "upper", RANK[c.status], _tightness(c)))
    found = found if ledger.late is None else [*_of_the_served(ledger, found), *found]
    return found if proved is None else [*found, *proved.besides(found)]


def _of_the_served(ledger: Ledger, found: list[Certificate]) -> list[Certificate]:
    """What is promised of answers whose labels came late, by what is promised of the game of arrivals."""
    from novikoff.game.delayed.late import PROMISES

    before, after = ledger.before, ledger.learner.facts()
    return _evaluate(ledger, PROMISES, before, after, False, ledger.fixed, arrivals=tuple(found))


def _evaluate(
    ledger: Ledger, theorems: tuple[Theorem, ...], before: Any, after: Any, adaptive: bool, fixed: bool,
    tracked: Any = None, members: tuple[tuple[Certificate, ...], ...] = (), arrivals: tuple[Certificate, ...] = (),
) -> list[Certificate]:  # fmt: skip
    """The certificates of these theorems that have something to say."""
    conservative = ledger.player.conservative and not ledger.player.changes_examples
    run = Run(
        before=before,
        after=after,
        rounds=ledger.rounds,
        mistakes=ledger.mistakes,
        expected=ledger.expected,
        constants=(ledger.positives, ledger.rounds - ledger.positives),
        adaptive=adaptive,
        deterministic=ledger.deterministic,
        tracked=tracked,
        loss=ledger.loss,
        squares=ledger.squares,
        members=members,
        fixed=fixed,
        repeated=ledger.repeated or ledger.weighted is not None,
        log_loss=ledger.log_loss,
        brier=ledger.brier,
        predicted=ledger.calibration.predicted if ledger.player.probable else None,
        coverage=None if ledger.coverage is None else ledger.coverage.facts(ledger.player.standing()),
        late=None if ledger.late is None else ledger.late.facts(conservative),
        arrivals=arrivals,
    )
    certificates = (theorem(run) for theorem in theorems)
    return [certificate for certificate in certificates if certificate is not None]


def _broken_off(certificate: Certificate) -> Certificate:
    """The void certificate of an adversary that answered a round which was then not played."""
    return dataclasses.replace(certificate, bound=None, status="void", reason="a round was answered and not played")


def _tightness(certificate: Certificate) -> float:
    """How far what was promised is from what happened: bounds on mistakes, losses and regrets are compared by that.

    What is promised of sets comes after what is promised of predictions.
    """
    if certificate.theorem.startswith("coverage_"):
        return math.inf
    return 0.0 if certificate.bound is None else abs(certificate.bound - certificate.observed)
