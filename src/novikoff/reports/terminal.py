"""A game on a terminal: what happened, in a sentence; the tightest certificate in words; all of them if asked for."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from novikoff.core.certificate import KINDS, Certificate, bound_text, number
from novikoff.core.errors import counted
from novikoff.core.learner import adapt
from novikoff.game.ledger import Ledger
from novikoff.reports import coverage, sentences, stretches, summary
from novikoff.reports.confusion import confused
from novikoff.reports.team import members, table

if TYPE_CHECKING:
    from novikoff.evaluation.permutation import Permuted
    from novikoff.online_to_batch.keep import OnlineToBatch

COLOURS = {"valid": "green", "conditional": "yellow", "vacuous": "yellow", "void": "red", "violated": "bold red"}
WIDTH = 110
LONGEST = 32
"""Digits of a whole number that are still shown."""
MOST_RUNS = 1e9
"""More are not told."""
WARNING, ALARM = 5.0, 20.0
"""Wealth of a test of drift: from where on it is told as a warning, and as a fact."""


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
    of_members: Sequence[Sequence[Certificate]] = (), verbose: bool = False,
) -> None:  # fmt: skip
    """What happened beside what a constant would have done and what was allowed; the certificates."""
    where = "on" if ledger.adversary is None else "against"
    target = "" if ledger.target is None else f", target: {ledger.target}"
    out.line(f"{learner} {where} {ledger.source}{target}, {ledger.seconds:.2f} s{speed(ledger)}", "bold")
    say(out, summary.lead(ledger, certificates), *summary.worse(ledger, certificates), summary.runs(ledger))
    for line in (summary.named(ledger), summary.rates(ledger), summary.ranked(ledger), summary.errors(ledger)):
        if line:
            out.line(line)
    if (survivor := ledger.player.survivor()) is not None:
        out.line(f"learned: {survivor}")
    if told := probabilities(ledger):
        out.line(told)
        for line in calibrated(ledger) if verbose else ():
            out.line(line)
    for line in confused(ledger, verbose):
        out.line(line)
    say(out, *coverage.told(ledger, certificates))
    if ledger.members:
        for line in table(members(ledger, of_members)):
            out.line(line)
    say(out, *stretches.told(ledger), *ledger.player.tale())
    if carried := summary.carried(ledger, certificates):
        say(out, carried)
    say(out, watched(ledger))
    if certified:
        promised(out, certificates, verbose, said=True)
        if certificates and (told := summary.scaled(ledger)):
            out.line(told)
        if ledger.hindsight is not None:
            from novikoff.reports import hindsight

            for line in hindsight.told(ledger.hindsight).lines:
                out.line(line)


def say(out: Out, *texts: str) -> None:
    """Sentences, in lines that can be read."""
    for text in texts:
        for line in textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False):
            out.line(line)


def promised(out: Out, certificates: list[Certificate], verbose: bool = False, said: bool = False) -> None:
    """The tightest certificate in words, and the adversary's; all of them, with all that they are from, if verbose.

    said   what they promise of mistakes was said before
    """
    if verbose or not certificates:
        show(out, certificates)
        return
    told = [next((one for one in certificates if one.side == side), None) for side in ("upper", "lower")]
    told[0] = summary.tightest(certificates) or told[0]
    sets = coverage.deviation(certificates)
    told += [sets] if sets is not None and sets is not told[0] else []
    told += [one for one in certificates if one.status == "violated" and not any(one is other for other in told)]
    for one in told:
        if one is None:
            continue
        text = (
            f"{one.theorem}: {sentences.sentence(one, said and one.quantity in ('mistakes', 'deviation of coverage'))}"
        )
        first, *rest = textwrap.wrap(text, WIDTH - 14, break_on_hyphens=False)
        out.line(f"  {one.status:<11} ", COLOURS[one.status], first)
        for line in rest:
            out.line(" " * 14 + line)


def happened(ledger: Ledger) -> str:
    """Rounds and mistakes in words."""
    drawn = "" if ledger.deterministic else f", {ledger.expected:.4g} expected"
    if not ledger.counts:
        return f"{counted(ledger.rounds, 'round')}, loss {ledger.loss:.6g} ({ledger.loss_rate:.4g} a round{drawn})"
    rate = f"{100 * ledger.mistake_rate:.3g} %"
    return f"{counted(ledger.rounds, 'round')}, {counted(ledger.mistakes, 'mistake')} ({rate}{drawn})"


def probabilities(ledger: Ledger) -> str:
    """The mean losses of the probabilities beside those of the best probability that never changes; "" without any."""
    own = ledger.metrics
    rounds, log_loss, brier = own.rounds, own.log_loss, own.brier
    if log_loss is None or brier is None or not rounds:
        return ""
    per, p = summary.per_round(ledger), own.positives / rounds
    told = f"probabilities: log loss {log_loss / rounds:.4g} {per}, Brier score {brier / rounds:.4g}"
    shares, least = [p, 1.0 - p], p * (1.0 - p)
    if ledger.player.numbered:
        shares = [shown / rounds for shown in own.baselines.shown().values()]
        least = 1.0 - sum(share * share for share in shares)
    if not shares:  # too many labels
        return told
    entropy = sum(share * math.log(1.0 / share) for share in shares if share)
    return f"{told}; the best constant {entropy:.4g} and {least:.4g}"


def calibrated(ledger: Ledger) -> Iterator[str]:
    """What was said to be so probable, beside how often it came; nothing if no round was sorted."""
    found = ledger.metrics.calibration
    if not (rounds := sum(found.rounds)):
        return
    share = sum(found.positives) / rounds
    what, so = ("P(said)", "right") if ledger.player.numbered else ("P(+1)", "+1")
    counts = "rounds" if ledger.weighted is None else "weight"
    yield (
        f"calibration: {what} was {found.predicted / rounds:.4g} on average, and {share:.4g} of the {counts} were "
        f"{so}; within bins the two are {found.error:.2g} apart"
    )
    yield f"  {what:<10}  {counts:>9}  {'said':>6}  {'came':>6}"
    for low, high, count, said, came in found.table():
        yield f"  {f'{low:.1f} .. {high:.1f}':<10}  {count:>9,}  {said:>6.3f}  {came:>6.3f}"


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


def kept(out: Out, classifier: OnlineToBatch, verbose: bool = False) -> None:
    """Which classifier was kept, what limits its risk, and whether the examples looked independent."""
    after = "" if classifier.index is None else f", the hypothesis after {counted(classifier.index, 'example')}"
    votes = adapt(classifier.classifier).size if classifier.how == "voted" else None
    after += "" if votes is None else f" by {counted(votes, 'hypothesis', 'hypotheses')}"
    out.line(f"kept: {classifier.how}{after}", "bold")
    if classifier.certificates:
        promised(out, list(classifier.certificates), verbose)
        if classifier.drawn:
            out.line("  the mean is over the draw: what was drawn may be worse, 1/d times with chance d at most")
    else:
        out.line("  no limit on its risk is known", "yellow")
    if classifier.wealth is not None:
        say(out, f"  {drift(classifier.wealth)}")


def drift(wealth: float) -> str:
    """What the largest wealth of a test of drift says; independent examples make it w with a chance of 1/w at most."""
    told = bound_text(wealth, "upper")
    if wealth < WARNING:
        return f"drift test: no sign that the examples are not independent (wealth {told} at most)"
    chance = f"if they were, a test would find as much against it in at most 1 of {bound_text(wealth, 'lower')} runs"
    if wealth < ALARM:
        return f"drift test: the examples may not be independent: {chance}"
    return f"drift test: the examples are not independent: {chance}"


def watched(ledger: Ledger) -> str:
    """What the test of drift says that watched a game; "" if none did."""
    if ledger.drift is None:
        return ""
    wealth = ledger.drift.test.largest
    if ledger.late is None or wealth < WARNING:
        return drift(wealth)
    sure = "may not be" if wealth < ALARM else "are not"
    runs = bound_text(min(wealth, MOST_RUNS), "lower")
    return (f"drift test: the examples {sure} independent, or when labels came depended on them or on answers: were "
            f"it otherwise, a test would find as much against it in at most 1 of {runs} runs")  # fmt: skip


def permuted(test: Permuted) -> str:
    """What a permutation test of later mistakes says."""
    told = (
        f"permutation test: {test.observed:+,.6g} mistakes from the first half to the second, "
        f"{test.mean:+,.4g} on average in {len(test.shuffled):,} shuffles"
    )
    chance = f"a random order does as badly with a chance of at most {sentences.percent(test.p)}"
    if test.p <= 1.0 / ALARM:
        return f"{told}: the rows become harder, their order is not random; {chance}"
    if test.p <= 1.0 / WARNING:
        return f"{told}: the rows may become harder; {chance}"
    return f"{told}: no sign that the rows become harder (p = {test.p:.3g})"


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
