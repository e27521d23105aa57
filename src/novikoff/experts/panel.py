"""A panel of experts: their predictions and losses, validated.

Three kinds: columns of advice (N predictions and an outcome per round, with a loss), a table of losses (N per round, no
predictions), or a hypothesis class (each hypothesis an expert, a wrong label costs 1).

Priors are divided by their sum; where experts may sleep, only if the sum is above 1, so that some may join later.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.batch import still
from novikoff.core.errors import InputError, shown, whole
from novikoff.core.hypotheses import HasLengths, HypothesisClass, task_for
from novikoff.core.losses import CLIP, Loss
from novikoff.core.sizes import integer
from novikoff.core.types import Batch, Domain, Example, Label, Outcome, Task, check_label
from novikoff.experts import _loops
from novikoff.finite.classes.survivors import LARGEST, Enumerable, refuse_if_too_large
from novikoff.numerics.coins import start

LIGHTEST = 1e-150
"""Smallest prior weight; far above the underflow of exp, so that an expert's weight can fall further before it is 0."""


def weights_of(prior: object, size: int, hypotheses: object) -> Vector:
    """Return a prior as positive numbers."""
    if isinstance(prior, str):
        if prior != "length" or not isinstance(hypotheses, HasLengths):
            raise InputError(f"a prior must be one weight per expert: got {prior!r}, which only programs accept.")
        return np.array([math.ldexp(1.0, -hypotheses.length(i)) for i in range(size)])
    count = len(prior) if isinstance(prior, Collection) else None
    if not isinstance(prior, Collection) or count != size:
        given = shown(prior) if count is None else f"{count:,}"
        raise InputError(f"a prior must have one weight for each of {whole(size)} experts: got {given}.")
    try:
        weights = np.array([float(weight) for weight in prior])
    except (TypeError, ValueError, OverflowError):
        raise InputError("a prior must consist of positive finite numbers: it does not.") from None
    if not np.all(np.isfinite(weights)) or weights.min() <= 0.0:
        raise InputError(
            f"a prior must consist of positive finite numbers: got {weights.min():g}. Leave that expert out."
        )
    return weights


def prices_of(given: Vector | None, size: int, uniform: bool, partial: bool) -> Vector:
    """Return ln(1/prior) of each expert."""
    if given is None or (uniform and not partial):
        return np.broadcast_to(np.float64(math.log(size)), (size,))  # one number for all experts
    if partial and given.max() <= 1.0 and math.fsum(given.tolist()) <= 1.0:
        share = given
    else:
        scaled = np.ldexp(given, -int(np.frexp(given.max())[1]))  # exact, and the sum does not overflow
        share = scaled / math.fsum(scaled.tolist())
    if float(share.min()) < LIGHTEST:
        raise InputError(f"a prior must give every expert at least {LIGHTEST:g}: got {float(share.min()):g}.")
    return np.asarray(np.maximum(-np.log(share), 0.0))


Vector = NDArray[np.float64]


@runtime_checkable
class Voters(Enumerable, HypothesisClass, Protocol):
    """Hypothesis class whose hypotheses can be evaluated one by one."""


class Panel:
    """N experts, the loss they suffer and how they are followed.

    Args:
        experts: Number of experts, or a hypothesis class.
        loss: Name of the loss; "table" for rows of losses.
        play: "mean", "draw" or None for the default of the loss.
        prior: Prior weights, or None.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        seed: Seed of the draws.
        sleep: Whether experts may abstain (NaN) and a prior may sum to less than 1.
    """

    def __init__(
        self, experts: object, loss: str = "zero-one", play: str | None = None, prior: object = None,
        clip: float = CLIP, seed: int = 0, sleep: bool = False,
    ) -> None:  # fmt: skip
        self.hypotheses: Voters | None = None
        self.labels: int | None = None
        self.task: Task = "losses" if loss == "table" else "advice"
        if isinstance(experts, (int, np.integer)) and not isinstance(experts, bool):
            self.size = integer(experts, "experts", "the number of experts must be an integer", 1)
            if self.size > LARGEST:
                raise InputError(f"there must be at most {LARGEST:,} experts: got {whole(self.size)}.")
            self.loss = Loss.of(loss, clip)
            self.domain = Domain("losses" if loss == "table" else "advice", self.size)
        else:
            self._ask(experts, loss, sleep)
        self.code = Loss("table").code if self.hypotheses is not None else self.loss.code
        self.clip = clip
        self.play = self._checked_play(play)
        self.draws = self.play == "draw"
        self.sleep = sleep
        self.seed = integer(seed, "seed", "a seed must be an integer", -(2**63))
        self.coins: Any = np.uint64(start(self.seed, "expert"))
        self.given = None if prior is None else weights_of(prior, self.size, self.hypotheses)
        self.by_length = isinstance(prior, str)
        self.uniform = self.given is None or bool(np.all(self.given == self.given[0]))
        self.prices = prices_of(self.given, self.size, self.uniform, partial=sleep)
        self.blank = still(np.zeros(self.size))

    def _ask(self, hypotheses: object, loss: str, sleep: bool) -> None:
        """Take the hypotheses of a class as experts."""
        if not isinstance(hypotheses, Voters) or sleep:
            otherwise = "" if sleep else " or a class whose hypotheses can be evaluated one by one"
            raise InputError(f"experts must be an integer{otherwise}: got {shown(hypotheses)}.")
        if loss != "zero-one":
            raise InputError(f"the loss of a class of hypotheses must be zero-one: got {shown(loss)}.")
        refuse_if_too_large(hypotheses.name, hypotheses.size, "Each is an expert here: use a smaller class.")
        hypotheses.space()  # raises here, not in the first round, if the class is too large
        self.hypotheses = hypotheses
        self.size = hypotheses.size
        self.loss = Loss.of(loss)
        self.domain, self.labels, self.task = hypotheses.domain, hypotheses.labels, task_for(hypotheses.labels)

    def _checked_play(self, play: str | None) -> str:
        if play is None:
            return "mean" if self.loss.convex else "draw"
        if play not in ("mean", "draw"):
            raise InputError(f'play must be "mean" or "draw": got {shown(play)}.')
        if play == "mean" and self.loss.name == "zero-one":
            raise InputError('play must be "draw" with the zero-one loss, which is not convex: got "mean".')
        return play

    @property
    def log_prior(self) -> Vector:
        """Log prior for compiled loops, padded to a multiple of eight; empty if uniform."""
        if self.uniform and not (self.sleep and self.given is not None):
            return np.zeros(0)
        return padded(-self.prices, 0.0)

    def one(self, x: Example, y: Outcome) -> tuple[Vector, Vector, NDArray[np.integer] | None]:
        """Return one validated round: a row of advice or losses, the outcome, and the labels of hypotheses."""
        if self.hypotheses is not None:
            label = check_label(y, self.labels)
            choices = self.choices(x)
            return still((choices != label).astype(np.float64)[np.newaxis]), still(np.zeros(1)), choices
        if self.task == "losses":
            if x is not None:
                raise InputError(f"x must be None in a game of losses: got {shown(x)}. Pass the losses as y.")
            return self.row(y)[np.newaxis], still(np.zeros(1)), None
        row = self.row(x)
        return row[np.newaxis], still(np.array([self.loss.check_outcome(y)])), None

    def batch(self, batch: Batch) -> tuple[Vector, Vector]:
        """Return validated rounds of advice or losses."""
        table = self.task == "losses"
        given = batch.y if table else batch.x
        rows = still(self._doubles(given))
        if rows.ndim != 2 or rows.shape[1] != self.size:
            raise InputError(f"expected {self._numbers()} per round: got shape {rows.shape}.")
        self._check(rows, batch.first)
        if table:
            return rows, still(np.zeros(len(rows)))
        outcomes = still(self._doubles(batch.y))
        if outcomes.shape != (len(rows),):
            raise InputError(f"expected one outcome per round: got shape {outcomes.shape}.")
        low, high = (-math.inf, math.inf) if self.loss.name == "zero-one" else (0.0, 1.0)
        good = np.isfinite(outcomes) & (outcomes >= low) & (outcomes <= high)
        if self.loss.name == "log":
            good &= (outcomes == 0.0) | (outcomes == 1.0)
        if not good.all():
            t = int(np.flatnonzero(~good)[0])
            try:
                self.loss.check_outcome(float(outcomes[t]))
            except InputError as error:
                error.at(round=batch.first + t)
                raise
        return rows, outcomes

    def row(self, values: Any) -> Vector:
        """Return one validated number per expert."""
        row = still(self._doubles(values))
        if row.shape != (self.size,) or np.ndim(values) != 1:
            got = shown(values) if np.ndim(values) == 0 else f"shape {np.shape(values)}"
            raise InputError(f"expected {self._numbers()} per round: got {got}.")
        self._check(row[np.newaxis], None)
        return row

    def _doubles(self, values: object) -> Vector:
        try:
            return encode.doubles(values)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"expected {self._numbers()} per round: got {shown(values)}.") from None

    def _numbers(self) -> str:
        what = "losses" if self.task == "losses" else "predictions"
        return f"{self.size:,} {what}, one for each expert,"

    def _check(self, rows: Vector, first: int | None) -> None:
        largest = float(np.finfo(np.float64).max)
        low, high = (-largest, largest) if self.loss.name == "zero-one" else (0.0, 1.0)
        t, i = _loops.advice.flaw(rows, low, high, self.sleep)
        if t < 0:
            return
        error = self.loss.beyond(int(i), float(rows[t, i]))
        if math.isnan(rows[t, i]) and not self.sleep:
            error.do = "Use sleeping-experts if experts may abstain (NaN)."
        raise error if first is None else error.at(round=first + int(t))

    def choices(self, x: Example) -> NDArray[np.integer]:
        """Return the label of x under each hypothesis."""
        assert self.hypotheses is not None
        return self.hypotheses.labels_of(self.hypotheses.encode(x), None)

    def label(self, choice: int) -> Label:
        """Return the label of a hypothesis; +1 (0 in multiclass) if it is not valid."""
        binary = self.task == "binary"
        valid = choice in (-1, 1) if binary else 0 <= choice < (self.labels or 0)
        return int(choice) if valid else int(binary)

    def describe(self, expert: int) -> str:
        """Return a readable name of an expert."""
        return f"expert {expert}" if self.hypotheses is None else self.hypotheses.describe(expert)

    @property
    def experts(self) -> Any:
        """The experts as passed to the constructor: a hypothesis class, or their number."""
        return self.size if self.hypotheses is None else self.hypotheses

    @property
    def prior(self) -> Any:
        """The prior as passed to the constructor."""
        return "length" if self.by_length else self.given


def padded(values: Vector, filling: float) -> Vector:
    """Return `values` padded with `filling` to a multiple of eight."""
    room = np.full(-(-len(values) // 8) * 8, filling)
    room[: len(values)] = values
    return room


def is_number(value: object) -> bool:
    """Return whether `value` is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def positive(value: object, name: str, hint: str = "") -> float:
    """Return `value` as a float if it is positive and finite; raise InputError otherwise."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise InputError(f"{name} must be a positive number: got {shown(value)}.{hint}")
    return float(value)
