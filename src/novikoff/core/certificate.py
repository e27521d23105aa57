"""Certificates: the bound of a theorem, evaluated on a run, next to the observed value.

Bounds are rounded outward: a printed bound is never smaller than the theorem's (`side` upper) or larger
(`side` lower). A count is bounded by a whole number, an expectation never is (section "Soundness" of
docs/certificates.md).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

from novikoff.core.display import Shown
from novikoff.core.errors import counted, whole
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run

Kind = Literal["D", "E", "P"]
Side = Literal["upper", "lower"]
Status = Literal["violated", "void", "vacuous", "conditional", "valid"]
Standing = Literal["checked", "trusted", "refuted"]

RANK: Mapping[Status, int] = {"violated": 0, "valid": 1, "conditional": 2, "vacuous": 3, "void": 4}
"""Order in which certificates are listed."""

KINDS: Mapping[str, str] = {
    "D": "on every stream",
    "E": "in expectation over the random draws",
    "P": "with probability 1 - delta",
}
"""Description of each kind of theorem."""

FAILED = "assumption failed: "
"""Prefix of the reason of a certificate that is void because an assumption fails."""

MILLION = 1e6
"""Absolute value from which numbers are printed to the unit."""

MOST_BITS = 64
"""Maximum number of bits of a witness that is printed in full."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of a theorem.

    Args:
        claim: The assumption in words.
        standing: "checked" if it was verified on this run, "refuted" if it failed, "trusted" if it was not verified.

    Example:
        >>> import novikoff as nk
        >>> nk.Assumption("the stream was fixed in advance", "checked").standing
        'checked'
    """

    claim: str
    standing: Standing


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(Shown):
    """A theorem evaluated on a run: its bound and the observed value.

    Args:
        theorem: Name of the theorem, which is also the name of its module.
        kind: "D" if the bound holds on every stream, "E" in expectation over the draws, "P" with probability 1 - delta.
        side: "upper" if the theorem guarantees observed <= bound, "lower" for observed >= bound.
        quantity: Bounded quantity: "mistakes", "expected mistakes", "regret".
        observed: Value in this run.
        bound: Guaranteed value, rounded outward; None if the certificate is void.
        trivial: Value at which the bound is uninformative; the number of rounds, for mistakes.
        status: First that applies of "violated", "void", "vacuous", "conditional" and "valid".
        reason: Why the certificate is not valid; "" if it is.
        assumptions: Assumptions of the theorem, each with its standing.
        quantities: Quantities from which the bound was computed, by name.
        reference: Source of the theorem in the literature.
        why: Why a bound of `trivial` is uninformative, where that needs an explanation; not part of the JSON output.

    Example:
        >>> import novikoff as nk
        >>> ledger = nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1), (9, 1)])
        >>> certificate = ledger.certify()[0]
        >>> certificate.status, certificate.observed, certificate.bound
        ('vacuous', 3, 3)
        >>> print(certificate)
        halving_mistakes: vacuous: mistakes 3 <= 3 (no better than the trivial bound 3)
    """

    theorem: str
    kind: Kind
    side: Side
    quantity: str
    observed: int | float
    bound: int | float | None
    trivial: int | float
    status: Status
    reason: str = ""
    assumptions: tuple[Assumption, ...] = ()
    quantities: Mapping[str, object] = field(default_factory=dict)
    reference: str = ""
    why: str = field(default="", repr=False)

    @property
    def holds(self) -> bool:
        """Whether the certificate is neither void nor violated."""
        return self.status in ("valid", "conditional", "vacuous")

    @property
    def exceeded(self) -> bool:
        """Whether the observed value is beyond the bound."""
        if self.bound is None:
            return False
        return self.observed > self.bound if self.side == "upper" else self.observed < self.bound

    def number(self, name: str) -> float:
        """Return one of the quantities that is a number."""
        value = self.quantities[name]
        if not isinstance(value, (int, float)):
            raise TypeError(f"{name} of {self.theorem} must be a number: got {value!r}.")
        return value

    def __repr__(self) -> str:
        return f"<Certificate {self}>"

    def __str__(self) -> str:
        if self.bound is None:
            return f"{self.theorem}: {self.status}: {self.reason}"
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.theorem}: {self.status}: {self.comparison()}{why}"

    def comparison(self) -> str:
        """Return the observed value and the bound: "mistakes 3 <= 4"; one run may exceed a bound of kind E or P."""
        observed = f"{self.quantity} {number(self.observed)}"
        if self.bound is None:
            return observed
        upper, lower = (">", "<") if self.status == "violated" and self.exceeded else ("<=", ">=")
        promised = f"{upper if self.side == 'upper' else lower} {bound_text(self.bound, self.side)}"
        return f"{observed} {promised}" if self.kind == "D" else f"{observed} in this run, guaranteed {promised}"


def number(value: int | float) -> str:
    """Format an integer in full, any other number with six digits or, if it is at least a million, to the unit."""
    if isinstance(value, int):
        return whole(value)
    return f"{value:,.0f}" if MILLION <= abs(value) < 1e15 else f"{value:,.6g}"


def bound_text(bound: int | float, side: Side) -> str:
    """Format a bound with six digits, rounded outward so that the printed bound holds too."""
    if isinstance(bound, int) or not math.isfinite(bound):
        return number(bound)
    if MILLION <= abs(bound) < 1e15:
        return number(math.ceil(bound) if side == "upper" else math.floor(bound))
    context = Context(prec=6, rounding=ROUND_CEILING if side == "upper" else ROUND_FLOOR)
    return f"{float(context.create_decimal_from_float(bound)):,.6g}"


def fixed_in_advance(run: Run[object]) -> Assumption:
    """Return the assumption that the source did not react to the learner, which bounds on random draws need."""
    standing: Standing = "refuted" if run.adaptive else "checked" if run.fixed else "trusted"
    return Assumption("the stream was fixed in advance", standing)


def seen(claim: str, holds: bool) -> Assumption:
    """Return an assumption that this run verifies or refutes."""
    return Assumption(claim, "checked" if holds else "refuted")


def refutations(assumptions: Sequence[Assumption]) -> str:
    """Return the claims that failed, as a reason; "" if none did."""
    failed = "; ".join(assumption.claim for assumption in assumptions if assumption.standing == "refuted")
    return f"{FAILED}{failed}" if failed else ""


def warm_start(rounds: int, who: str = "the learner") -> str:
    """Return why a bound for an untrained learner does not apply; "" if none of its rounds were before this game."""
    return f"warm start: {who} had played {counted(rounds, 'round')} when the game started" if rounds else ""


def none_separates(more: str = "") -> str:
    """Return why a theorem on separable labels is void: the search found no separator, although one may exist.

    Args:
        more: Further requirement on the separator.
    """
    return f"no comparator tried separates the labels{more}; another one may"


def inseparable(proof: str) -> str:
    """Return why a theorem on separable labels is void: a proof, as a clause, that nothing separates them."""
    return f"nothing separates the labels with a positive margin: {proof}"


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of a theorem on one run.

    Attributes:
        value: Guaranteed value, rounded outward; None if it is void.
        assumptions: Assumptions; a refuted one makes the bound void.
        quantities: Quantities from which the bound was computed, by name.
        observed: Value in this run; by default the mistakes or expected mistakes of the run.
        trivial: Value at which the bound is uninformative; by default the rounds (`side` upper) or 0 (lower).
        quantity: Bounded quantity, where it depends on the run.
        expected: Whether the bound is on an expectation over the learner's draws, and is labelled as such.
        why: Why a bound of `trivial` is uninformative, where that needs an explanation.
        void: Why the theorem does not apply to this run; "" if it does.
        broken: What in the run contradicts the theorem, other than `observed` beyond `value`; "" for nothing.
    """

    value: int | float | None
    assumptions: Sequence[Assumption] = ()
    quantities: Mapping[str, object] = field(default_factory=dict)
    observed: int | float | None = None
    trivial: int | float | None = None
    quantity: str = ""
    expected: bool = False
    why: str = ""
    void: str = ""
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Text of a theorem for the reports; reports/sentences.py makes sentences of it.

    Attributes:
        covers: Completes "The theorem covers ...".
        why: Completes "Why: ..."; {norm:up} is the quantity `norm` rounded up, {margin:down} is rounded down.
        otherwise: Text that replaces `why` for a certificate that lacks one of its quantities.
        before: Bound that was known before the game, in the words of `why`; of several texts the first whose quantities
            the certificate has.
    """

    covers: str
    why: str = ""
    otherwise: str = ""
    before: tuple[str, ...] = ()


Where = Callable[[Run[Any]], bool]
Witness = Callable[[Run[Any]], Mapping[str, object] | None]
"""Function from a run to the witness of a claim in a proof file (docs/proofs.md); None if there is none."""
P = ParamSpec("P")
B = TypeVar("B", bound=Bound | None)


class DeclaredTheorem(Generic[P, B]):
    """A theorem with its declaration; called with a run, it returns a certificate, or None if it does not apply.

    Args:
        bound: Function from a run to a `Bound`; its name is the theorem's name and the name of its module.
        kind: See `Certificate`.
        side: See `Certificate`.
        quantity: See `Certificate`.
        reference: See `Certificate`.
        where: Predicate that selects the runs to which the theorem applies; None for all runs.
        words: Text for the reports; None to describe certificates by quantity and side.
    """

    def __init__(
        self, bound: Callable[P, B], kind: Kind, side: Side, quantity: str, reference: str, where: Where | None,
        words: Words | None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, bound)
        self.name: str = bound.__name__
        self.kind, self.side, self.quantity, self.reference, self.words = kind, side, quantity, reference, words
        self._where, self._bound = where, bound
        self.witness: Witness | None = None

    def witnessed(self, witness: Witness) -> Witness:
        """Declare the function that returns the exact quantities of a proof file, from which the bound follows."""
        self.witness = witness
        return witness

    @overload
    def __call__(self: DeclaredTheorem[P, Bound], *run: P.args, **more: P.kwargs) -> Certificate: ...

    @overload
    def __call__(self: DeclaredTheorem[P, Bound | None], *run: P.args, **more: P.kwargs) -> Certificate | None: ...

    def __call__(self, *run: Any, **more: Any) -> Certificate | None:
        if self._where is not None and not self._where(run[0]):
            return None
        bound: Bound | None = self._bound(*run, **more)
        return None if bound is None else self._judge(bound, run[0])

    def _judge(self, bound: Bound, run: Any) -> Certificate:
        """Return the certificate with the first status that applies; one run can violate only a theorem of kind D."""
        upper, value, assumptions = self.side == "upper", bound.value, tuple(bound.assumptions)
        observed, trivial = bound.observed, bound.trivial
        if "mistakes" not in self.quantity and (observed is None or (trivial is None and upper)):
            raise ValueError(f"a bound on {self.quantity} needs `observed` and `trivial`.")
        if observed is None:
            observed = run.expected if self.quantity == "expected mistakes" else run.mistakes
        if trivial is None:
            trivial = run.rounds if upper else 0
        # The order of the tests below is the order of the statuses: the first that applies is reported.
        trusted = "; ".join(assumption.claim for assumption in assumptions if assumption.standing == "trusted")
        status: Status = "valid"
        reason = bound.void or refutations(assumptions)
        if reason or value is None or value != value:
            status, reason, value = "void", reason or "the bound is not a number", None
        elif observed != observed:
            status, reason, value = "void", f"the observed {self.quantity} is not a number", None
        elif self.kind == "D" and (bound.broken or (observed > value if upper else observed < value)):
            status, reason = "violated", bound.broken or "a proven bound does not hold: this is a bug, please report it"
        elif value >= trivial if upper else value <= trivial:
            because = f": {bound.why}" if bound.why else ""
            status, reason = "vacuous", f"no better than the trivial bound {number(trivial)}{because}"
        elif trusted:
            status, reason = "conditional", f"not checked: {trusted}"
        quantity = f"expected {self.quantity}" if bound.expected else bound.quantity or self.quantity
        return Certificate(self.name, self.kind, self.side, quantity, observed, value, trivial, status, reason,
                           assumptions, dict(bound.quantities), self.reference, bound.why)  # fmt: skip


DECLARED: dict[str, DeclaredTheorem[Any, Any]] = {}
"""Every theorem declared in this process, by name.

Certificates loaded from a file find their theorem here, because the learner that promises it was loaded before them.
"""


@overload
def theorem(
    kind: Kind, reference: str, quantity: str = "mistakes", side: Side = "upper", *, words: Words | None = None
) -> Callable[[Callable[P, B]], DeclaredTheorem[P, B]]: ...


@overload
def theorem(
    kind: Kind,
    reference: str,
    quantity: str = "mistakes",
    side: Side = "upper",
    *,
    where: Where,
    words: Words | None = None,
) -> Callable[[Callable[P, Bound | None]], DeclaredTheorem[P, Bound | None]]: ...


def theorem(
    kind: Kind,
    reference: str,
    quantity: str = "mistakes",
    side: Side = "upper",
    *,
    where: Where | None = None,
    words: Words | None = None,
) -> Callable[[Callable[P, Any]], DeclaredTheorem[P, Any]]:
    """Turn the decorated function, which computes a bound on a run, into a `DeclaredTheorem`.

    Args:
        kind: See `Certificate`.
        reference: See `Certificate`.
        quantity: See `Certificate`.
        side: See `Certificate`.
        where: Predicate that selects the runs to which the theorem applies; None for all runs.
        words: Text for the reports.
    """

    def declare(bound: Callable[P, Any]) -> DeclaredTheorem[P, Any]:
        DECLARED[bound.__name__] = made = DeclaredTheorem(bound, kind, side, quantity, reference, where, words)
        return made

    return declare


def has_comparators(run: Run[object]) -> bool:
    """Return whether comparators were tracked during the run."""
    return run.tracked is not None


def rule(*names: str) -> Where:
    """Return a predicate that is true of runs whose learner has one of these rules."""
    return lambda run: run.after.rule in names


NO_LARGER = "no larger regret is possible"
"""Explanation of a bound on the regret that is no better than `largest_regret`."""


def largest_regret(rounds: int, top: float, lost: float) -> float:
    """Return T top - L, the regret if every round costs `top` and the comparator's loss is L = `lost`."""
    return rounds * top - lost


def draws_nothing(run: Run[object]) -> Assumption:
    """Return the assumption that the learner is deterministic, so that an adversary can contradict every prediction."""
    return seen("the learner is deterministic", run.deterministic)


def not_realizable(run: Run[VersionSpaceFacts]) -> str:
    """Return why a theorem on realizable streams is void: the version space became empty; "" if it never did.

    The round is the ledger's; it is omitted if the learner had restarted before the ledger was opened.
    """
    before, after = run.before, run.after
    if after.restarts == before.restarts:
        return ""
    when = "" if before.restarts else f" up to round {after.emptied_at - before.rounds:,}"
    return f"not realizable: no hypothesis fits the labels{when}"


def floor_log2(above: int, below: int) -> int:
    """Return floor(log2(above / below)) exactly, for integers above >= below >= 1."""
    return (above // below).bit_length() - 1


def outward(bound: float) -> float:
    """Increase an upper bound by its rounding error; not floored, so it suits expectations and regrets."""
    return bound * (1.0 + math.copysign(1e-12, bound)) + 1e-9 if math.isfinite(bound) else bound


def parts(**terms: float) -> dict[str, object] | None:
    """Return the witness of a bound that is a sum of terms; None if one is not finite."""
    if not all(map(math.isfinite, terms.values())):
        return None
    return {"parts": {name: str(Fraction(term)) for name, term in terms.items()}}
