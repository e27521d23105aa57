"""Certificates in plain words: a sentence for each theorem, for whoever tells of them.

Every number in a sentence is rounded outward: what it says is promised too. A theorem without words of its own is told
by what its certificate says. The words of each are in its declaration (`Words` in core/certificate.py).
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from novikoff.core.certificate import DECLARED, FAILED, UNTRIED, Certificate, Side, Words, bound_text, number

ONE = re.compile(r"(?<![\d.,])1 (mistake|error|example|time|round|label|vector|point|group|epoch|dimension)s\b")
"""A number, and the plural that does not go with it."""
FIGURES = 4
"""Of a number that explains."""


class _Outward(string.Formatter):
    """Quantities in a sentence: `up` and `down` say where to round."""

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, int) and value.bit_length() > 100:
            return f"about 2^{value.bit_length() - 1}"
        return rounded(value, "lower" if spec == "down" else "upper")


def rounded(value: int | float, side: Side, figures: int = FIGURES) -> str:
    """A number with a few figures, rounded outward; a count as it is."""
    if isinstance(value, int) or not math.isfinite(value):
        return number(value)
    context = Context(prec=figures, rounding=ROUND_CEILING if side == "upper" else ROUND_FLOOR)
    told = float(context.create_decimal(repr(value)))
    return f"{told:,.0f}" if 10.0**figures <= abs(told) < 1e15 else f"{told:,.{figures}g}"


def sentence(certificate: Certificate, claimed: bool = False) -> str:
    """What a certificate says, why, and what it rests on; `claimed`: what it says was said before."""
    return _of_one(_sentence(certificate, claimed))


def _of_one(text: str) -> str:
    """The text, with the right word after a 1."""
    return ONE.sub(lambda found: f"1 {found[1]}", text)


def _sentence(certificate: Certificate, claimed: bool) -> str:
    if certificate.status == "violated":
        broken = f"A proven promise was broken ({certificate.comparison()})."
        return f"{broken} That is a bug in novikoff: please report it, with what was played."
    if certificate.status == "void" or certificate.bound is None:
        words = words_of(certificate)
        begin = f"This promise is for {words.covers}. " if words else ""
        return f"{begin}{_nothing_promised(certificate.reason)}"
    if certificate.status == "vacuous":
        return _nothing(certificate)
    trusted = [one.claim for one in certificate.assumptions if one.standing == "trusted"]
    parts = [f"If {', and '.join(trusted)}: {claim(certificate)}."] if trusted else []
    if not trusted and not claimed:
        parts = [capital(claim(certificate)) + "."]
    if certificate.kind == "P" and "delta" in certificate.quantities:
        parts.append(
            f"Statements made in this way are false in at most {percent(certificate.quantities['delta'])} of runs."
        )
    if reason := why(certificate):
        parts.append(f"Why: {reason}.")
    return " ".join([*parts, *rests_on(certificate)])


def _nothing_promised(reason: str) -> str:
    """Why a certificate is void: nothing was found, an assumption does not hold, or any other reason."""
    if reason.endswith(UNTRIED):
        return f"Nothing is promised here: {reason}."
    if reason.startswith(FAILED):
        return f"It does not apply here, as this does not hold: {reason.removeprefix(FAILED)}."
    return f"It does not apply here: {reason}."


def claim(certificate: Certificate) -> str:
    """What is promised, beside what happened."""
    return _of_one(_claim(certificate))


def _claim(certificate: Certificate) -> str:
    side, quantity = certificate.side, certificate.quantity
    observed = bound_text(certificate.observed, side)
    bound = "" if certificate.bound is None else bound_text(certificate.bound, side)
    if side == "lower":
        on = " on average over its coins" if certificate.kind == "E" else ""
        if quantity == "mistakes":
            return f"the adversary promised to force at least {bound} mistakes{on}, and forced {observed}"
        return f"the adversary promised to force a {quantity} of at least {bound}{on}; it was {observed}"
    if quantity == "risk":
        return f"the classifier that was kept is wrong on at most {percent(certificate.bound)} of new examples"
    if quantity == "mean risk":
        return f"its hypotheses are wrong, on average, on at most {percent(certificate.bound)} of new examples"
    if quantity == "risk of the average":
        return f"the mean of its weights loses at most {bound} on a new example, on average"
    if "regret" in quantity and certificate.kind == "E":
        return f"on average over its coins its regret is at most {bound}; in this run its {quantity} is {observed}"
    if certificate.kind == "E":
        return f"on average over its coins it makes at most {bound} mistakes; in this run {observed}"
    if quantity == "mistakes":
        return f"it made {observed} mistakes; the theorem allows at most {bound}"
    if quantity == "mistakes of the answers served":
        return f"{observed} of the answers served were wrong; the theorem allows at most {bound}"
    if quantity == "expected mistakes":
        return f"its chances of a mistake add up to {observed}; the theorem allows at most {bound}"
    if quantity == "deviation of coverage":
        where = f" of group {certificate.quantities['group']}" if "group" in certificate.quantities else ""
        return f"the share of misses{where} is {observed} from the one asked for; the theorem allows at most {bound}"
    if quantity == "supports":
        return f"it keeps {observed} examples; the theorem allows at most {bound}"
    if quantity.endswith(", at most"):  # what is compared with is known from one side
        quantity, observed = quantity.removesuffix(", at most"), f"at most {observed}"
    return f"its {quantity} is {observed}; the theorem allows at most {bound}"


def why(certificate: Certificate) -> str:
    """From what the bound follows; "" if the theorem has no words for it."""
    words = words_of(certificate)
    for text in (words.why, words.otherwise) if words else ():
        try:
            return _Outward().format(text, **certificate.quantities)
        except KeyError:
            continue
    return ""


def words_of(certificate: Certificate) -> Words | None:
    """The words that its theorem was declared with."""
    declared = DECLARED.get(certificate.theorem)
    return None if declared is None else declared.words


def rests_on(certificate: Certificate) -> Iterator[str]:
    """What is assumed, and what was checked."""
    checked = sum(one.standing == "checked" for one in certificate.assumptions)
    seen = {0: "", 1: "what it needs was checked"}.get(checked, f"the {checked} things it needs were checked")
    trusted = any(one.standing == "trusted" for one in certificate.assumptions)
    told = ""
    if certificate.kind == "D" and "regret" in certificate.quantity and not trusted:
        told = "It holds whatever comes, even if an enemy makes it up round by round"
    elif certificate.kind == "D" and certificate.side == "upper" and not trusted:
        told = "This is arithmetic about this very run: nothing is assumed of where rows come from"
    if told or seen:
        yield (f"{told}; {seen}." if seen else f"{told}.") if told else f"{capital(seen)}."


def _nothing(certificate: Certificate) -> str:
    bound = bound_text(certificate.bound or 0, certificate.side)
    if certificate.side == "lower":
        return f"True, but it tells nothing here: at least {bound} is promised, which is always so."
    trivial = number(certificate.trivial)
    if "mistakes" in certificate.quantity:
        return (
            f"True, but it tells nothing here: the bound is {bound}, and nobody can make more than {trivial} mistakes."
        )
    told = f" ({certificate.why})" if certificate.why else ""
    return f"True, but it tells nothing here: the bound is {bound}, and {trivial} is no promise{told}."


def about(share: float) -> str:
    """A share of what happened: 3.8 %, 36.7 %; 0 % where it is too small to be told."""
    return "0 %" if share < 1e-6 else f"{100 * share:.{2 if share < 0.0995 else 3}g} %"


def percent(bound: float | None) -> str:
    """A share that is promised, never less than it is."""
    return (
        f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(100.0 * float(bound or 0))):.3g} %"
    )


def capital(text: str, large: bool = True) -> str:
    """The text with its first letter large, or small."""
    return (text[:1].upper() if large else text[:1].lower()) + text[1:]


def whole(line: str) -> str:
    """A line as a sentence: with a capital, and a full stop."""
    return line and capital(line) + ("" if line.endswith(".") else ".")
