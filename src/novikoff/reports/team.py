"""A team of learners: mistakes, weight and certificate of each, and the best one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from novikoff.core.certificate import Certificate, bound_text
from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger

LONGEST = 48
"""Largest length of a learner's name, and of the reason of a void certificate."""
HEADS = ("learner", "mistakes", "weight", "certificate")
"""Column heads of the table."""


@dataclass(frozen=True, slots=True)
class Member:
    """One learner of a team.

    Attributes:
        name: Its spec.
        mistakes: Mistakes in rounds, as its certificates count them.
        expected: Expected mistakes, if it draws at random; else None.
        weight: Probability of being followed in the next round.
        certificates: Its certificates, the tightest first.
        weighted: Weight of its wrong predictions in a weighted game, each row predicted once; else None.
    """

    name: str
    mistakes: int
    expected: float | None
    weight: float
    certificates: tuple[Certificate, ...]
    weighted: int | None = None

    @property
    def wrong(self) -> int:
        """Criterion by which learners are compared."""
        return self.mistakes if self.weighted is None else self.weighted


def members(ledger: Ledger, certificates: Sequence[Sequence[Certificate]]) -> list[Member]:
    """Return the learners of a team in order, each with its certificates."""
    of_each = certificates or [()] * len(ledger.members)
    return [
        Member(
            name=name,
            mistakes=game.mistakes,
            expected=None if game.deterministic else game.expected,
            weight=weight,
            certificates=tuple(certified),
            weighted=None if game.weighted is None else game.weighted.mistakes,
        )
        for game, name, weight, certified in zip(
            ledger.members, ledger.player.names, ledger.player.weights, of_each, strict=True
        )
    ]


def table(team: list[Member]) -> Iterator[str]:
    """Yield a head, a line per learner, and the best learner."""
    cells = [HEADS, *(row(member) for member in team)]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    for name, mistakes, weight, promised in cells:
        yield f"  {name:<{widths[0]}}  {mistakes:>{widths[1]}}  {weight:>{widths[2]}}  {promised}".rstrip()
    if len(team) == 1:
        return
    best = min(team, key=lambda member: member.wrong)
    result = counted(best.mistakes, "mistake") if best.weighted is None else f"weight {best.wrong:,} predicted wrong"
    yield f"best learner: {best.name}, {result}"


def row(member: Member) -> tuple[str, str, str, str]:
    """Return the cells of one learner."""
    weight = f"{member.weight:.4f}" if member.weight >= 0.00005 else f"{member.weight:.0e}"
    made = f"{member.mistakes:,}"
    if member.weighted is not None:
        made = f"weight {member.weighted:,}; {made} in rounds"
    return _cut(member.name), made, weight, _promised(member.certificates)


def _promised(certificates: tuple[Certificate, ...]) -> str:
    """Return the tightest certificate in a few words."""
    if not certificates:
        return "none"
    best = certificates[0]
    if best.bound is None:
        return f"{best.theorem}: {best.status}: {_cut(best.reason)}"
    return f"{best.theorem}: {best.quantity} <= {bound_text(best.bound, best.side)}, {best.status}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
