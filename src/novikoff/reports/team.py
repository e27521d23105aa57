"""A team of learners: what each did, how much it is trusted, what it promised; and which was best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger

LONGEST = 48
"""Characters of a learner's name, and of the reason why it promises nothing."""
HEADS = ("learner", "mistakes", "weight", "its own certificate")


@dataclass(frozen=True, slots=True)
class Member:
    """One learner of a team.

    mistakes       in rounds, as its certificates count them
    weighted       in a weighted game, what its wrong predictions weigh, each row predicted once; else None
    expected       the sum of its chances to err, if it draws; else None
    weight         the chance to be followed in the next round
    certificates   its own, the tightest first
    """

    name: str
    mistakes: int
    expected: float | None
    weight: float
    certificates: tuple[Certificate, ...]
    weighted: int | None = None

    @property
    def wrong(self) -> int:
        """What learners are compared by."""
        return self.mistakes if self.weighted is None else self.weighted


def members(ledger: Ledger, certificates: Sequence[Sequence[Certificate]]) -> list[Member]:
    """The learners of a team, in their order, each with its certificates if there are any."""
    of_each = certificates or [()] * len(ledger.members)
    return [
        Member(
            name=name,
            mistakes=own.mistakes,
            expected=None if own.deterministic else own.expected,
            weight=weight,
            certificates=tuple(certified),
            weighted=None if own.weighted is None else own.weighted.mistakes,
        )
        for own, name, weight, certified in zip(
            ledger.members, ledger.player.names, ledger.player.weights, of_each, strict=True
        )
    ]


def table(team: list[Member]) -> Iterator[str]:
    """A head, a line for each learner, and which was best."""
    cells = [HEADS, *(row(member) for member in team)]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    for name, mistakes, weight, promised in cells:
        yield f"  {name:<{widths[0]}}  {mistakes:>{widths[1]}}  {weight:>{widths[2]}}  {promised}".rstrip()
    if len(team) == 1:
        return
    best = min(team, key=lambda member: member.wrong)
    told = counted(best.mistakes, "mistake") if best.weighted is None else f"weight {best.wrong:,} predicted wrong"
    yield f"the best learner was {best.name}: {told}"


def row(member: Member) -> tuple[str, str, str, str]:
    """What the table has of a learner, as its heads are."""
    weight = f"{member.weight:.4f}" if member.weight >= 0.00005 else f"{member.weight:.0e}"
    made = f"{member.mistakes:,}"
    if member.weighted is not None:
        made = f"weight {member.weighted:,}; {made} in rounds"
    return _cut(member.name), made, weight, _promised(member.certificates)


def _promised(certificates: tuple[Certificate, ...]) -> str:
    """The tightest certificate in a few words."""
    if not certificates:
        return "none"
    best = certificates[0]
    if best.bound is None:
        return f"{best.theorem}: {best.status}: {_cut(best.reason)}"
    return f"{best.theorem}: {best.quantity} <= {bound_text(best.bound, best.side)}, {best.status}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
