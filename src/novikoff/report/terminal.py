"""A game on a terminal: what happened, then its certificates, two lines each."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from novikoff.certificate import KINDS, Certificate, bound_text, number
from novikoff.ledger import Ledger
from novikoff.player import Player
from novikoff.report.team import members, table

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.online_to_batch import OnlineToBatch

COLOURS = {"valid": "green", "conditional": "yellow", "vacuous": "yellow", "void": "red", "violated": "bold red"}
WIDTH = 110
LONGEST = 32
"""Digits of a whole number that are still shown."""


class Out:
    """Standard output, in colour on a terminal: only then is rich imported, which takes a while."""

    def __init__(self) -> None:
        self._console: Any = None
        if sys.stdout.isatty():
            from rich.console import Console

            self._console = Console(highlight=False, markup=False, soft_wrap=True)

    def line(self, text: str = "", style: str = "", rest: str = "") -> None:
        """One line: `text` in this style, `rest` in none."""
        if self._console is None:
            print(text + rest)
        else:
            from rich.text import Text

            self._console.print(Text(text, style=style).append(rest, style=""))


def game(
    out: Out, ledger: Ledger, certificates: list[Certificate], learner: str, certified: bool = True,
    of_members: Sequence[Sequence[Certificate]] = (),
) -> None:  # fmt: skip
    """Rounds, mistakes and time; what survived, or the learners of a team; the certificates."""
    where = "on" if ledger.adversary is None else "against"
    out.line(f"{learner} {where} {ledger.source}", "bold")
    out.line(f"{happened(ledger)}, {ledger.seconds:.2f} s{speed(ledger)}")
    if (survivor := ledger.player.survivor()) is not None:
        out.line(f"learned: {survivor}")
    if ledger.log_loss is not None and ledger.brier is not None and ledger.rounds:
        out.line(probabilities(ledger, ledger.log_loss, ledger.brier))
    if ledger.members:
        for line in table(members(ledger, of_members)):
            out.line(line)
    if certified:
        show(out, certificates)
        if ledger.hindsight is not None:
            for line in looking_back(ledger.hindsight):
                out.line(line)


def happened(ledger: Ledger) -> str:
    """Rounds and mistakes in words."""
    drawn = "" if ledger.deterministic else f", {ledger.expected:.4g} expected"
    if not ledger.counts:
        return f"{ledger.rounds:,} rounds, loss {ledger.loss:.6g} ({ledger.loss_rate:.4g} a round{drawn})"
    rate = f"{100 * ledger.mistake_rate:.3g} %"
    return f"{ledger.rounds:,} rounds, {ledger.mistakes:,} mistakes ({rate}{drawn})"


def probabilities(ledger: Ledger, log_loss: float, brier: float) -> str:
    """The losses of the probabilities, a round, beside those of the best probability that never changes."""
    rounds, p = ledger.rounds, ledger.positives / ledger.rounds
    entropy = -sum(part * math.log(part) for part in (p, 1.0 - p) if part)
    return (
        f"probabilities: log loss {log_loss / rounds:.4g} a round, Brier score {brier / rounds:.4g}; "
        f"the best constant {entropy:.4g} and {p * (1.0 - p):.4g}"
    )


def speed(ledger: Ledger) -> str:
    """Rounds per second, if there were enough to tell."""
    if ledger.rounds < 1000 or not ledger.seconds:
        return ""
    return f" ({ledger.rounds / ledger.seconds:,.0f} rounds a second)"


def show(out: Out, certificates: list[Certificate]) -> None:
    """Each certificate: its status, what was observed beside what was promised, and from what."""
    if not certificates:
        out.line("  no certificate: no mistake bound is known for this learner here", "yellow")
    told: dict[str, Any] = {}
    for certificate in certificates:
        first, *rest = lines(certificate, told)
        told |= certificate.quantities
        out.line(f"  {certificate.status:<11} ", COLOURS[certificate.status], first)
        for line in rest:
            out.line(" " * 14 + line)


def kept(out: Out, classifier: OnlineToBatch) -> None:
    """Which classifier was kept, what limits its risk, and whether the examples looked independent."""
    after = "" if classifier.index is None else f", the hypothesis after {classifier.index:,} examples"
    votes = Player(classifier.classifier).size if classifier.how == "voted" else None
    after += "" if votes is None else f" by {votes:,} hypotheses"
    out.line(f"kept: {classifier.how}{after}", "bold")
    if classifier.certificates:
        show(out, list(classifier.certificates))
        if classifier.drawn:
            out.line("  the mean is over the draw: what was drawn may be worse, 1/d times with chance d at most")
    else:
        out.line("  no limit on its risk is known", "yellow")
    if classifier.wealth is not None:
        found = "refutes" if classifier.refuted else "does not refute"
        out.line(f"  drift test: wealth {number(classifier.wealth)} at most, {found} that examples are independent")


def looking_back(found: Hindsight) -> Iterator[str]:
    """How close the comparators of hindsight are to the best there are."""
    if found.facts.invalid_reason:
        yield f"hindsight: nothing was found: {found.facts.invalid_reason}"
        return
    if found.margin is not None and found.margin.high > 0.0:
        low, high = bound_text(found.margin.low, "lower"), bound_text(found.margin.high, "upper")
        yield f"hindsight: the margin is from {low} to {high}"
    brackets = (("lengths", found.lengths), ("hinge", found.hinge), ("squared hinge", found.squared_hinge))
    for name, bracket in brackets:
        if bracket is not None:
            least, ours = math.floor(bracket.low), math.floor(bracket.high)
            yield f"hindsight: by the {name} no comparator promises less than {least:,}; ours {ours:,}"
    where = "in memory" if found.in_memory else f"read {found.reads} times"
    yield f"hindsight: {found.epochs:,} epochs, {found.seconds:.2f} s, {where}"


def lines(certificate: Certificate, told: Mapping[str, Any] | None = None) -> Iterator[str]:
    """The certificate in words: "halving_mistakes: mistakes 3 <= 4, on every stream", then why and from what.

    told   quantities that were told just before: what is the same is not told again
    """
    on_what = KINDS[certificate.kind]
    if certificate.side == "lower" and certificate.kind == "D":
        on_what = "on every learner that draws nothing"
    yield f"{certificate.theorem}: {certificate.comparison()}" + ("" if certificate.bound is None else f", {on_what}")
    for text in (certificate.reason, quantities(certificate, told or {})):
        yield from textwrap.wrap(text, WIDTH - 14)


def quantities(certificate: Certificate, told: Mapping[str, Any]) -> str:
    """What the bound was computed from, but for what was told."""
    new = ((name, value) for name, value in certificate.quantities.items() if name not in told or told[name] != value)
    return ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in new)


def _short(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    text = number(value)
    return text if len(text) <= LONGEST or isinstance(value, float) else f"about 2^{value.bit_length() - 1}"
