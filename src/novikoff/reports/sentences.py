"""Certificates as plain sentences.

Bounds are rounded outward, so that the printed bound is valid as well. The explanation of a theorem is part of its
declaration (`Words` in core/certificate.py); a theorem without one is described by its quantity and side.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from novikoff.core.certificate import DECLARED, FAILED, Certificate, Side, Words, bound_text, number
from novikoff.core.errors import counted

ONE = re.compile(r"(?<![\d.,])1 (mistake|error|example|time|round|label|vector|point|group|epoch|dimension|row)s\b")
"""Count of one followed by a plural, which is corrected to the singular."""
EXPLAINED = 4
"""Significant digits in an explanation."""
SHOWN = 3
"""Significant digits in a report."""
PER_ROW = re.compile(r"(log|squared|absolute|hinge|logistic) loss")
"""Quantities that practitioners compare per row."""


SINCE = re.compile(r"log loss after round ([\d,]+)")
"""Quantity of a certificate that starts after some rounds."""


class _Outward(string.Formatter):
    """Formatter of quantities in a sentence; the format specs `up` and `down` choose the rounding."""

    def format_field(self, value: object, spec: str) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, int) and value.bit_length() > 100:
            return f"about 2^{value.bit_length() - 1}"
        return rounded(value, "lower" if spec == "down" else "upper")


def rounded(value: int | float, side: Side, figures: int = EXPLAINED) -> str:
    """Format a number with a few significant digits, rounded outward; a count as it is."""
    if isinstance(value, int) or not math.isfinite(value):
        return number(value)
    context = Context(prec=figures, rounding=ROUND_CEILING if side == "upper" else ROUND_FLOOR)
    near = float(context.create_decimal(repr(value)))
    return f"{near:,.0f}" if 10.0**figures <= abs(near) < 1e15 else f"{near:,.{figures}g}"


def per(bound: int | float, rows: int) -> str:
    """Format an upper bound per row with three significant digits, rounded up; the division is exact."""
    if not math.isfinite(bound):
        return number(bound)
    mean = Context(prec=SHOWN, rounding=ROUND_CEILING).divide(Decimal(bound), Decimal(rows))
    return brief(float(mean))


def brief(value: float) -> str:
    """Format an observed number with three significant digits: 0.128, 0.960, 1,240."""
    if not math.isfinite(value) or value == 0 or abs(value) >= 1e15:
        return f"{value:g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    places = SHOWN - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{places}f}" if places <= 6 else f"{value:.{SHOWN}g}"


def share(value: float) -> str:
    """Format an accuracy or another share of rows: 0.960, and more digits next to 1, as in 0.99987."""
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    rest = min(value, 1.0 - value)
    return f"{value:.{min(max(3, 1 - math.floor(math.log10(rest))), 6)}f}" if rest > 0 else f"{value:.3f}"


def sentence(certificate: Certificate, first: str = "") -> str:
    """Describe a certificate: what is guaranteed, why, and under which assumptions.

    Args:
        certificate: Any certificate.
        first: Its first clause, if it has figures per row; `headline` otherwise.
    """
    parts = [whole(first or headline(certificate))]
    if certificate.status in ("valid", "conditional"):
        if reason := why(certificate):
            parts.append(f"Why: {reason}.")
        parts += basis(certificate)
    elif certificate.status == "void" and (words := words_of(certificate)):
        parts.append(f"The theorem covers {words.covers}.")
    return " ".join(parts)


def headline(certificate: Certificate, rows: int | None = None, baseline: str = "", unit: str = "row") -> str:
    """State in one clause what was observed, what is guaranteed, and what a baseline does.

    Args:
        certificate: Any certificate.
        rows: Rows of the game, to state mistakes and losses per row.
        baseline: A baseline in the same unit, such as `always "benign": 0.373`.
        unit: What is counted: rows, or rounds of a weighted game.
    """
    if certificate.status == "violated":
        what = certificate.comparison() if certificate.exceeded else certificate.reason
        text = f"a proven bound was violated ({what}): this is a bug in novikoff, please report it"
    elif certificate.status == "void" or certificate.bound is None:
        text = _void(certificate.reason)
    elif certificate.status == "vacuous":
        text = _vacuous(certificate)
    else:
        text = claim(certificate, rows, unit) + (f"; {baseline}" if baseline else "")
    return ONE.sub(lambda found: f"1 {found[1]}", text)


def _void(reason: str) -> str:
    """State why there is no guarantee."""
    return f"an assumption failed: {reason.removeprefix(FAILED)}" if reason.startswith(FAILED) else reason


def _vacuous(certificate: Certificate) -> str:
    bound, trivial = bound_text(certificate.bound or 0, certificate.side), number(certificate.trivial)
    if certificate.side == "lower":
        return f"the guarantee (at least {bound}) always holds"
    if "mistakes" in certificate.quantity:
        return f"the guarantee ({bound} mistakes) is no better than the number of rounds"
    if certificate.quantity in ("risk", "mean risk"):
        return f"the guarantee (an error rate of at most {percent(certificate.bound)}) says nothing"
    reason = f" ({certificate.why})" if certificate.why else ""
    return f"the guarantee ({bound}) is no better than {trivial}{reason}"


def claim(certificate: Certificate, rows: int | None = None, unit: str = "row") -> str:
    """State what was observed and what is guaranteed; `rows` gives mistakes and losses per row."""
    return ONE.sub(lambda found: f"1 {found[1]}", _claim(certificate, rows, unit))


def _claim(certificate: Certificate, rows: int | None, unit: str) -> str:
    side, quantity, value = certificate.side, certificate.quantity, certificate.bound
    observed = bound_text(certificate.observed, side)
    bound = "" if value is None else bound_text(value, side)
    on_average = " in expectation over the random draws" if certificate.kind == "E" else ""
    if certificate.theorem.startswith("threshold_"):
        return f"{quantity} {brief(certificate.observed)}; on new examples guaranteed at {limit_of(certificate)}"
    if side == "lower":
        forced = f"{observed} mistakes forced" if quantity == "mistakes" else f"{quantity} {observed}"
        return f"{forced}; the adversary guarantees at least {bound}{on_average}"
    if quantity == "risk":
        return f"error rate on new examples guaranteed at most {percent(value)}"
    if quantity == "mean risk":
        return f"mean error rate of the hypotheses on new examples guaranteed at most {percent(value)}"
    if quantity == "risk of the average":
        return f"expected loss of the averaged weights on a new example guaranteed at most {bound}"
    if quantity == "deviation of coverage":
        group = f" of group {certificate.quantities['group']}" if "group" in certificate.quantities else ""
        return f"coverage{group} {about(certificate.observed)} from its target; guaranteed at most {percent(value)}"
    if rows and value is not None and (since := SINCE.fullmatch(quantity)) and (left := rows - _count(since[1])) > 0:
        per_row = f"log loss {brief(certificate.observed / left)} per {unit} after {unit} {since[1]}"
        return f"{per_row}; guaranteed at most {per(value, left)}"
    if quantity == "loss beyond the promise on a stretch":
        excess = (
            f"largest excess {brief(certificate.observed)}, guaranteed at most {rounded(value or 0.0, side, SHOWN)}"
        )
        return f"loss within its bound on every completed stretch ({excess})"
    if quantity == "supports":
        return f"{observed} examples stored; guaranteed at most {bound}"
    if quantity == "mistakes of the answers served":
        return f"{observed} of the served answers were wrong; guaranteed at most {bound}"
    if rows and value is not None and quantity in ("mistakes", "expected mistakes"):
        expected = quantity.removesuffix("mistakes")
        per_row = f"{brief(certificate.observed / rows)} {expected}mistakes per {unit} ({observed} in {rows:,})"
        return f"{per_row}; guaranteed at most {per(value, rows)} ({bound}){on_average}"
    if rows and value is not None and PER_ROW.fullmatch(quantity):
        per_row = f"{quantity} {brief(certificate.observed / rows)} per {unit}"
        return f"{per_row}; guaranteed at most {per(value, rows)}{on_average}"
    if quantity == "mistakes":
        return f"{observed} mistakes; guaranteed at most {bound}{on_average}"
    if quantity == "expected mistakes":
        return f"{observed} mistakes expected over its random draws; guaranteed at most {bound}"
    if quantity.endswith(", at most"):  # the comparator's loss is known from one side only
        quantity, observed = quantity.removesuffix(", at most"), f"at most {observed}"
    return f"{quantity} {observed}; guaranteed at most {bound}{on_average}"


def limit_of(certificate: Certificate) -> str:
    """Return a bound with three digits, rounded outward: "least 0.81"."""
    word = "most" if certificate.side == "upper" else "least"
    return f"{word} {rounded(certificate.bound or 0.0, certificate.side, SHOWN)}"


def _count(text: str) -> int:
    return int(text.replace(",", ""))


def why(certificate: Certificate) -> str:
    """Explain where the bound comes from; "" if the theorem has no explanation."""
    words, quantities = words_of(certificate), certificate.quantities
    text = _filled(certificate, (words.why, words.otherwise) if words else ())
    if text and quantities.get("hinge") and "comparator_mistakes" in quantities:
        wrong = counted(int(certificate.number("comparator_mistakes")), "mistake")
        text += f"; that classifier makes at most {wrong} itself"
    return text


def a_priori(certificate: Certificate) -> str:
    """Return the bound that was known before the game; "" if there was none."""
    words = words_of(certificate)
    return _filled(certificate, words.before if words else ())


def _filled(certificate: Certificate, texts: Iterable[str]) -> str:
    """Return the first text whose quantities the certificate has, with their values; "" if there is none."""
    for text in texts:
        try:
            return ONE.sub(lambda found: f"1 {found[1]}", _Outward().format(text, **certificate.quantities))
        except KeyError:
            continue
    return ""


def words_of(certificate: Certificate) -> Words | None:
    """Return the explanation that the certificate's theorem was declared with."""
    declared = DECLARED.get(certificate.theorem)
    return None if declared is None else declared.words


def basis(certificate: Certificate, checked: bool = True) -> Iterator[str]:
    """Yield what the guarantee rests on: assumptions, confidence, and with `checked` the preconditions verified."""
    trusted = [one.claim for one in certificate.assumptions if one.standing == "trusted"]
    if trusted:
        yield f"Assumes that {', and that '.join(trusted)}."
    if certificate.kind == "P" and "delta" in certificate.quantities:
        yield f"Holds with probability at least {100.0 * (1.0 - certificate.number('delta')):.6g} %."
    count = sum(one.standing == "checked" for one in certificate.assumptions) if checked else 0
    verified = {0: "", 1: "the precondition was checked"}.get(count, f"all {count} preconditions were checked")
    scope = ""
    if certificate.kind == "D" and certificate.side == "upper" and not trusted:
        scope = "Computed from this run alone, with no assumption about the data"
        if "regret" in certificate.quantity:
            scope = "Holds for every sequence, even an adversarial one"
    if scope or verified:
        yield (f"{scope}; {verified}." if verified else f"{scope}.") if scope else f"{capital(verified)}."


def about(value: float) -> str:
    """Format an observed share in percent, with three digits: 3.76 %, 36.7 %; 0 % where it is tiny."""
    return "0 %" if value < 1e-6 else f"{100 * value:.3g} %"


def percent(bound: float | None) -> str:
    """Format a guaranteed share in percent, rounded up."""
    return (
        f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(100.0 * float(bound or 0))):.3g} %"
    )


def percent_of(bound: int | float, rows: int) -> str:
    """Format an upper bound on a count as a share of the rows in percent, at most 100 %, rounded up; exact division."""
    if bound >= rows:
        return "100 %"
    return f"{float(Context(prec=SHOWN, rounding=ROUND_CEILING).divide(Decimal(bound), Decimal(rows)).scaleb(2)):.3g} %"


def capital(text: str, large: bool = True) -> str:
    """Return the text with its first letter in upper case, or in lower case."""
    return (text[:1].upper() if large else text[:1].lower()) + text[1:]


def whole(line: str) -> str:
    """Return a line as a sentence: with a capital and a full stop."""
    return line and capital(line) + ("" if line.endswith(".") else ".")
