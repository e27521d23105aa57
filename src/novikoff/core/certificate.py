"""Certificate: what a theorem promised on this very stream, beside what happened.

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
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

from novikoff.core.display import Shown
from novikoff.core.errors import whole
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run

Kind = Literal["D", "E", "P"]
Side = Literal["upper", "lower"]
Status = Literal["violated", "void", "vacuous", "conditional", "valid"]
Standing = Literal["checked", "trusted", "refuted"]

RANK: Mapping[Status, int] = {"violated": 0, "valid": 1, "conditional": 2, "vacuous": 3, "void": 4}
"""In which order certificates are told."""

KINDS: Mapping[str, str] = {
    "D": "on every stream",
    "E": "in expectation over the random draws",
    "P": "with probability 1 - delta",
}

FAILED = "assumption failed: "
"""Begins the reason of a certificate that is void as something it assumes does not hold."""

MILLION = 1e6
MOST_BITS = 64
"""A witness longer than this is told by its length."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something the theorem needs. checked: seen to hold on this run; trusted: not; refuted: seen to fail."""

    claim: str
    standing: Standing


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(Shown):
    """A theorem evaluated on a run.

    theorem      its name, which is also the name of its file
    kind         D: holds on every stream · E: in expectation over coins · P: with probability 1 - delta
    side         upper: observed <= bound was promised · lower: observed >= bound
    quantity     what is bounded: "mistakes", "expected mistakes", "regret"
    observed     what happened
    bound        what was promised, rounded outward; None if the certificate is void
    trivial      the value at which the bound says nothing (rounds, for mistakes)
    status       violated · void · vacuous · conditional · valid: the first that applies
    reason       why it is not valid; "" if it is
    why          why a bound of `trivial` says nothing, where that needs a word; not told as JSON
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
        """Neither void nor violated."""
        return self.status in ("valid", "conditional", "vacuous")

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
        """Observed beside promised: "mistakes 3 <= 4". One run need not keep a promise of kind E or P."""
        observed = f"{self.quantity} {number(self.observed)}"
        if self.bound is None:
            return observed
        upper, lower = (">", "<") if self.status == "violated" else ("<=", ">=")
        promised = f"{upper if self.side == 'upper' else lower} {bound_text(self.bound, self.side)}"
        return f"{observed} {promised}" if self.kind == "D" else f"{observed} in this run, guaranteed {promised}"


def number(value: int | float) -> str:
    """A count as it is, anything else with six figures, or to the unit if it is large."""
    if isinstance(value, int):
        return whole(value)
    return f"{value:,.0f}" if MILLION <= abs(value) < 1e15 else f"{value:,.6g}"


def bound_text(bound: int | float, side: Side) -> str:
    """A bound with six figures, rounded outward: what is printed is promised too."""
    if isinstance(bound, int) or not math.isfinite(bound):
        return number(bound)
    if MILLION <= abs(bound) < 1e15:
        return number(math.ceil(bound) if side == "upper" else math.floor(bound))
    context = Context(prec=6, rounding=ROUND_CEILING if side == "upper" else ROUND_FLOOR)
    return f"{float(context.create_decimal_from_float(bound)):,.6g}"


def fixed_in_advance(run: Run[Any]) -> Assumption:
    """What bounds over the learner's coins need: a source that cannot have looked at them."""
    standing: Standing = "refuted" if run.adaptive else "checked" if run.fixed else "trusted"
    return Assumption("the stream was fixed in advance", standing)


def seen(claim: str, holds: bool) -> Assumption:
    """A claim that was looked at."""
    return Assumption(claim, "checked" if holds else "refuted")


def refutations(assumptions: Sequence[Assumption]) -> str:
    """Which claims were seen to fail; "" if none was."""
    failed = "; ".join(assumption.claim for assumption in assumptions if assumption.standing == "refuted")
    return f"{FAILED}{failed}" if failed else ""


def none_separates(more: str = "") -> str:
    """Why a theorem on separable labels is void: the search found no separator, which does not show that none exists.

    more   what the separator needs besides
    """
    return f"no comparator tried separates the labels{more}; another one may"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a theorem says of a run, beside its declaration.

    value         what is promised, rounded outward; None if it is void
    assumptions   one that was refuted makes it void
    quantities    what else there is to tell
    observed      what happened; the run knows it of mistakes and of expected mistakes
    trivial       the value at which the bound says nothing; without one it is the rounds (`side` upper) or 0 (lower)
    quantity      what is bounded in this run, where the declaration cannot say it
    expected      it is an expectation over the draws of the learner in this run, and is called so
    why           why a bound that is `trivial` says nothing, where that needs a word
    void          why the theorem does not apply to this run; "" if it does
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


@dataclass(frozen=True, slots=True)
class Words:
    """Text of a theorem for the reports; reports/sentences.py makes sentences of it.

    Attributes:
        covers: Completes "The theorem covers ...".
        why: Completes "Why: ..."; {norm:up} is the quantity `norm` rounded up, {margin:down} is rounded down.
        otherwise: Replaces `why` for a certificate that lacks one of its quantities.
    """

    covers: str
    why: str = ""
    otherwise: str = ""


Where = Callable[[Run[Any]], bool]
P = ParamSpec("P")
B = TypeVar("B", bound=Bound | None)


class DeclaredTheorem(Generic[P, B]):
    """A theorem and its declaration; of a run it makes a certificate, or None where it has nothing to say.

    name         that of its function, and of its file
    kind, side, quantity, reference   as in every certificate of it
    where        is it a run that the theorem speaks of? Of others it has nothing to say
    words        its text for the reports; None: the reports describe its certificates by quantity and side
    """

    def __init__(
        self, bound: Callable[P, B], kind: Kind, side: Side, quantity: str, reference: str, where: Where | None,
        words: Words | None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, bound)
        self.name: str = bound.__name__
        self.kind, self.side, self.quantity, self.reference, self.words = kind, side, quantity, reference, words
        self._where, self._bound = where, bound

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
        """The status is the first that applies; one run can violate a theorem of kind D only."""
        upper, value, assumptions = self.side == "upper", bound.value, tuple(bound.assumptions)
        observed, trivial = bound.observed, bound.trivial
        if "mistakes" not in self.quantity and (observed is None or (trivial is None and upper)):
            raise ValueError(f"a bound on {self.quantity} needs `observed` and `trivial`.")
        if observed is None:
            observed = run.expected if self.quantity == "expected mistakes" else run.mistakes
        if trivial is None:
            trivial = run.rounds if upper else 0
        trusted = "; ".join(assumption.claim for assumption in assumptions if assumption.standing == "trusted")
        status: Status = "valid"
        reason = bound.void or refutations(assumptions)
        if reason or value is None or value != value:
            status, reason, value = "void", reason or "the bound is not a number", None
        elif observed != observed:
            status, reason, value = "void", f"the observed {self.quantity} is not a number", None
        elif self.kind == "D" and (observed > value if upper else observed < value):
            status, reason = "violated", "a proven bound does not hold: this is a bug, please report it"
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

A certificate that was loaded from a file finds its theorem here: the learner that promises it was loaded with it.
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
    """Declare a theorem: the function below, which finds its bound on a run, becomes one that makes a certificate."""

    def declare(bound: Callable[P, Any]) -> DeclaredTheorem[P, Any]:
        DECLARED[bound.__name__] = made = DeclaredTheorem(bound, kind, side, quantity, reference, where, words)
        return made

    return declare


def has_comparators(run: Run[Any]) -> bool:
    """Did comparators watch the game?"""
    return run.tracked is not None


def rule(*names: str) -> Where:
    """Is the learner's rule one of these?"""
    return lambda run: run.after.rule in names


NO_LARGER = "no larger regret is possible"


def largest_regret(rounds: int, top: float, lost: float) -> float:
    """The regret of who loses the most there is in every round, against a comparator that `lost` so much: T top - L."""
    return rounds * top - lost


def draws_nothing(run: Run[Any]) -> Assumption:
    """What an adversary needs that answers with the opposite: it hears the prediction, not merely its chances."""
    return seen("the learner is deterministic", run.deterministic)


def not_realizable(run: Run[VersionSpaceFacts]) -> str:
    """Why a theorem on realizable streams is void: no hypothesis was left. "" if one always was.

    The round is the ledger's; not known if the learner had begun again before the ledger was opened.
    """
    before, after = run.before, run.after
    if after.restarts == before.restarts:
        return ""
    when = "" if before.restarts else f" up to round {after.emptied_at - before.rounds:,}"
    return f"not realizable: no hypothesis fits the labels{when}"


def floor_log2(above: int, below: int) -> int:
    """floor(log2(above / below)), exactly, for whole numbers above >= below >= 1."""
    return (above // below).bit_length() - 1


def outward(bound: float) -> float:
    """An upper bound computed in floats, made larger by its rounding: never floored, for expectations and regrets."""
    return bound * (1.0 + math.copysign(1e-12, bound)) + 1e-9 if math.isfinite(bound) else bound
