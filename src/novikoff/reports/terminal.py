"""A game on a terminal: metrics with baselines, then the certificate in one sentence; all of them if verbose."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from novikoff.core.certificate import KINDS, Certificate, bound_text, number
from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports import columns, coverage, decision_tree, sentences, stretches, summary, thresholds
from novikoff.reports.confusion import confused
from novikoff.reports.team import members, table

if TYPE_CHECKING:
    from novikoff.evaluation.permutation import PermutationTest
    from novikoff.game.trace import Trace
    from novikoff.online_to_batch.finalize import OnlineToBatch

COLOURS = {"valid": "green", "conditional": "yellow", "vacuous": "yellow", "void": "red", "violated": "bold red"}
"""Style of each status."""
WIDTH, LEAST = 110, 50
"""Line width at which text is wrapped if that of the terminal is unknown, and the smallest one."""
NAMES, VALUES = 13, 7
"""Widths of the columns of metrics."""
INDENT = 2 + NAMES + 2
"""Indentation of wrapped lines."""
LONGEST = 32
"""Largest number of digits of a printed integer."""
MOST_RUNS = 1e9
"""Largest printed odds of a drift test."""
WARNING, ALARM = 5.0, 20.0
"""Wealth of a drift test from which on it is a warning, and an alarm."""


class Out:
    """Standard output, in colour on a terminal: only then is rich imported, which takes a while.

    Attributes:
        width: Line width: that of the terminal or of COLUMNS, at most WIDTH.
    """

    def __init__(self) -> None:
        self.width = max(min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH), LEAST)
        self._console: Any = None
        if sys.stdout.isatty():
            from rich.console import Console

            self._console = Console(highlight=False, markup=False, soft_wrap=True)

    def line(self, text: str = "", style: str = "", rest: str = "") -> None:
        """Print one line: `text` in this style, `rest` in none."""
        if self._console is None:
            print(text + rest)
        else:
            from rich.text import Text

            self._console.print(Text(text, style=style).append(rest, style=""))


def game(
    out: Out, ledger: Ledger, certificates: list[Certificate], learner: str, certified: bool = True,
    of_members: Sequence[Sequence[Certificate]] = (), verbose: bool = False,
) -> None:  # fmt: skip
    """Print a game: metrics next to their baselines, warnings, and the certificate in one sentence.

    Args:
        out: Where to print.
        ledger: The game.
        certificates: Its certificates, the tightest first.
        learner: Name or spec of the learner.
        certified: Whether certificates were requested.
        of_members: Certificates of each member of a team.
        verbose: Print all certificates with their quantities, calibration, and rates per label.
    """
    where = "on" if ledger.adversary is None else "against"
    target = "" if ledger.target is None else f", target: {ledger.target}"
    played = counted(ledger.rounds, "row" if ledger.adversary is None and ledger.weighted is None else "round")
    took = f"{played} in {ledger.seconds:.2f} s{speed(ledger)}"
    for line in _fitted(f"{learner} {where} {ledger.source}{target}: {took}", out.width):
        out.line(line, "bold")
    sets = coverage.metrics(ledger, certificates)
    for metric in (*summary.metrics(ledger, verbose), *sets, *thresholds.metrics(ledger)):
        field(out, metric.name, metric.value, metric.note)
    wrapped(out, *summary.warnings(ledger, certificates), summary.runs(ledger))
    if verbose and (labels := summary.named(ledger)):
        out.line(labels)
    if (survivor := ledger.player.survivor()) is not None:
        out.line(f"learned: {survivor}")
    for line in decision_tree.describe(ledger) if verbose else ():
        out.line(line)
    if verbose and (calibrated := list(calibration(ledger))):
        wrapped(out, calibrated[0])
        for line in calibrated[1:]:
            out.line(line)
    if verbose and (importance := columns.importance(ledger)) is not None:
        for line in columns.table(importance):
            out.line(line)
    for line in confused(ledger, verbose):
        out.line(line)
    if ledger.members:
        for line in table(members(ledger, of_members)):
            out.line(line)
    if behaved := summary.behaviour(ledger):
        field(out, "behaviour", "", behaved)
    wrapped(out, *stretches.describe(ledger), *ledger.player.tale())
    wrapped(out, watched(ledger))
    if certified:
        promised(out, certificates, verbose, ledger)
        if verbose and ledger.threshold is not None:
            show(out, thresholds.certificates(ledger))
        if before := summary.a_priori(certificates):
            field(out, "a priori", "", f"{before}.")
        if verbose:
            wrapped(out, summary.tightest_member(certificates), summary.scaled(ledger))
        if ledger.hindsight is not None:
            from novikoff.reports import hindsight

            for line in hindsight.describe(ledger.hindsight).lines:
                out.line(line)


def _fitted(text: str, width: int) -> list[str]:
    """Return the lines of a title; it is only broken in a terminal that is narrower than WIDTH."""
    return [text] if width >= WIDTH else textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def field(out: Out, name: str, value: str, note: str = "", style: str = "") -> None:
    """Print a name, its value and a note in columns; a long note is wrapped, an empty value takes no column."""
    column = f"{value:<{VALUES}}  " if value else ""
    first, *rest = textwrap.wrap(note, out.width - INDENT - len(column), break_long_words=False) or [""]
    out.line(f"  {name:<{NAMES}}  ", style, f"{column}{first}".rstrip())
    for line in rest:
        out.line(" " * (INDENT + len(column)) + line)


def wrapped(out: Out, *texts: str) -> None:
    """Print sentences, wrapped."""
    for text in texts:
        for line in textwrap.wrap(text, out.width, break_long_words=False, break_on_hyphens=False):
            out.line(line)


def promised(out: Out, certificates: list[Certificate], verbose: bool = False, ledger: Ledger | None = None) -> None:
    """Print the tightest certificate in one sentence, and the adversary's; all of them in full if verbose.

    Args:
        out: Where to print.
        certificates: Certificates, the tightest first.
        verbose: Print every certificate with its explanation and quantities.
        ledger: The game, for figures per row and baselines.
    """
    if verbose or not certificates:
        show(out, certificates)
        return
    chosen = [summary.principal(certificates), next((one for one in certificates if one.side == "lower"), None)]
    sets = coverage.deviation(certificates)
    chosen += [sets] if sets is not None and sets is not chosen[0] else []
    chosen += [one for one in certificates if one.status == "violated" and not any(one is other for other in chosen)]
    for one in chosen:
        if one is None:
            continue
        text = sentences.headline(one) if ledger is None else summary.guarantee(ledger, one)
        basis = " ".join(sentences.basis(one, checked=False)) if one.status in ("valid", "conditional") else ""
        if basis and ledger is not None and ledger.weighted is not None:
            basis = f"Each copy of a row counts as one round. {basis}"
        if basis and ledger is not None and ledger.late is not None and not one.theorem.startswith("delayed_"):
            basis = f"It is about the predictions repeated when labels arrived; metrics are of those served. {basis}"
        room = out.width - INDENT
        first, *rest = textwrap.wrap(f"{one.status}: {text}.", room, break_on_hyphens=False)
        rest += textwrap.wrap(f"{basis} ({one.theorem}; details: -v)".strip(), room, break_on_hyphens=False)
        out.line(f"  {'certificate':<{NAMES}}  ", COLOURS[one.status], first)
        for line in rest:
            out.line(" " * INDENT + line)


def happened(ledger: Ledger) -> str:
    """Return rounds and mistakes, or loss, in one clause."""
    expected = "" if ledger.deterministic else f", {ledger.expected:.4g} expected"
    rounds = counted(ledger.rounds, "round")
    if not ledger.counts:
        return f"{rounds}, loss {ledger.loss:.6g} ({ledger.loss_rate:.4g} per round{expected})"
    rate = f"{100 * ledger.mistake_rate:.3g} %"
    return f"{rounds}, {counted(ledger.mistakes, 'mistake')} ({rate}{expected})"


def calibration(ledger: Ledger) -> Iterator[str]:
    """Yield predicted probabilities next to observed frequencies; nothing without probabilities."""
    found = ledger.metrics.calibration
    if not (rounds := sum(found.rounds)):
        return
    frequency = sum(found.positives) / rounds
    what, event = ("P(predicted)", "right") if ledger.player.numbered else ("P(+1)", "+1")
    counts = "rows" if ledger.weighted is None else "weight"
    yield (
        f"calibration: mean {what} {found.predicted / rounds:.3f}, {frequency:.3f} of the {counts} were {event}; "
        f"expected calibration error {found.error:.2g}"
    )
    yield f"  {what:<12}  {counts:>9}  {'predicted':>9}  {'observed':>9}"
    for low, high, count, predicted, observed in found.table():
        yield f"  {f'{low:.1f} .. {high:.1f}':<12}  {count:>9,}  {predicted:>9.3f}  {observed:>9.3f}"


def speed(ledger: Ledger) -> str:
    """Return rounds per second; "" for a short game."""
    if ledger.rounds < 1000 or not ledger.seconds:
        return ""
    return f" ({ledger.rounds / ledger.seconds:,.0f} rows per second)"


def show(out: Out, certificates: list[Certificate]) -> None:
    """Print each certificate: status, observed and guaranteed value, explanation, quantities."""
    if not certificates:
        field(out, "certificate", "", "none: no bound is known for this learner here", "yellow")
    printed: dict[str, object] = {}
    for certificate in certificates:
        first, *rest = lines(certificate, printed, out.width)
        printed |= certificate.quantities
        out.line(f"  {certificate.status:<11} ", COLOURS[certificate.status], first)
        for line in rest:
            out.line(" " * 14 + line)


def kept(out: Out, classifier: OnlineToBatch, verbose: bool = False) -> None:
    """Print the final classifier, the bound on its risk, and whether the examples looked independent."""
    after = "" if classifier.index is None else f", the hypothesis after {counted(classifier.index, 'example')}"
    votes = classifier.predictor.size if classifier.how == "voted" else None
    after += "" if votes is None else f" by {counted(votes, 'hypothesis', 'hypotheses')}"
    out.line(f"final classifier: {classifier.how}{after}", "bold")
    if classifier.certificates:
        promised(out, list(classifier.certificates), verbose)
        if classifier.drawn:
            wrapped(out, "  The bound is on the mean risk over the random draw: for every d, the risk of the drawn "
                     "hypothesis is at most 1/d times the bound with probability at least 1 - d.")  # fmt: skip
    else:
        out.line("  no bound on its risk is known", "yellow")
    if classifier.wealth is not None:
        wrapped(out, f"  {drift(classifier.wealth)}")


def followed(out: Out, trace: Trace) -> None:
    """Print the result of each inequality of the proof."""
    about = "" if trace.proof is None else f" of {trace.proof.theorem}"
    first, *rest = trace.summary()
    field(out, "proof", "", first + (f" (proof{about})" if about else ""), "bold red" if "FAILED" in first else "")
    for line in rest:
        field(out, "", "", line, "bold red" if "FAILED" in line else "")


def drift(wealth: float) -> str:
    """Describe the largest wealth of a drift test; independent examples reach w with probability at most 1/w."""
    if wealth < WARNING:
        return f"drift test: no evidence against independent examples (wealth at most {bound_text(wealth, 'upper')})"
    odds = f"independent examples would give as much evidence in at most 1 of {bound_text(wealth, 'lower')} runs"
    return f"drift test: the examples {'may not be' if wealth < ALARM else 'are not'} independent: {odds}"


def watched(ledger: Ledger) -> str:
    """Describe the drift test of a game; "" if there was none."""
    if ledger.drift is None:
        return ""
    wealth = ledger.drift.test.largest
    if ledger.late is None or wealth < WARNING:
        return drift(wealth)
    sure = "may not be" if wealth < ALARM else "are not"
    runs = bound_text(min(wealth, MOST_RUNS), "lower")
    return (f"drift test: the examples {sure} independent, or the delays of labels depended on examples or answers: "
            f"otherwise there would be as much evidence in at most 1 of {runs} runs")  # fmt: skip


def permuted(test: PermutationTest) -> str:
    """Describe a permutation test for order effects."""
    found = (
        f"permutation test for order effects: {test.observed:+,.6g} mistakes from the first half to the second, "
        f"{test.mean:+,.4g} on average in {len(test.shuffled):,} shuffles"
    )
    chance = f"a random order does as badly with probability at most {sentences.percent(test.p)}"
    if test.p <= 1.0 / ALARM:
        return f"{found}: the rows become harder, their order is not random; {chance}"
    if test.p <= 1.0 / WARNING:
        return f"{found}: the rows may become harder; {chance}"
    return f"{found}: no evidence that the rows become harder (p = {test.p:.3g})"


def lines(certificate: Certificate, printed: Mapping[str, object] | None = None, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of a certificate: "halving_mistakes: mistakes 3 <= 4, on every stream", then why.

    Args:
        certificate: Any certificate.
        printed: Quantities printed just before; equal ones are left out.
        width: Line width.
    """
    on_what = KINDS[certificate.kind]
    if certificate.side == "lower" and certificate.kind == "D":
        on_what = "for every deterministic learner"
    yield f"{certificate.theorem}: {certificate.comparison()}" + ("" if certificate.bound is None else f", {on_what}")
    explained = ""
    if certificate.status in ("valid", "conditional") and (reason := sentences.why(certificate)):
        explained = f"Why: {reason}."
    for text in (certificate.reason, explained, quantities(certificate, printed or {})):
        yield from textwrap.wrap(text, width - 14)


def quantities(certificate: Certificate, printed: Mapping[str, object]) -> str:
    """Return the quantities that the bound was computed from, without those printed just before, and without proofs."""
    new = (
        pair
        for pair in certificate.quantities.items()
        if not isinstance(pair[1], dict) and (pair[0] not in printed or printed[pair[0]] != pair[1])
    )
    return ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in new)


def _short(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    text = number(value)
    return text if len(text) <= LONGEST or isinstance(value, float) else f"about 2^{value.bit_length() - 1}"
