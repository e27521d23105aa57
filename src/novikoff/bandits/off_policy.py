"""Off-policy evaluation: the regret of a log of bandit rounds, and the cost of other policies.

Log
    A table with one row per round: the arm played, its loss (or reward) and the probability with which that arm was
    played. It is read once, in constant memory. Losses are from 0 to 1; `range` sets another least and largest value. A
    reward counts as the loss (most - reward) / (most - least). Further columns may hold, for each policy, its
    probability of the arm that was played.
Regret
    bandits/theorems/observable_regret.py: at most S less the smallest lower limit on the cost of a constant arm.
Limits
    bandits/theorems/policy_limits.py: lower and upper limits on the cost of each policy, all at once, including the
    policies that always play one arm.
Check of the probabilities
    If every loss were 1, each arm would cost exactly T. If the same lower limit for these losses, with a delta of 1e-6,
    is above T, the probabilities are not those of the draws, and nothing is certified. Probabilities that are too large
    are not detected in this way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.bandits.theorems.bandit_facts import DELTA, GAMMAS, BanditFacts, at_least
from novikoff.bandits.theorems.observable_regret import observable_regret
from novikoff.bandits.theorems.policy_limits import PolicyFacts, policy_limits
from novikoff.core.certificate import Certificate
from novikoff.core.errors import Advice, InputError, Option, SourceError, quoted, shown
from novikoff.core.types import Run
from novikoff.data.arrays import is_frame
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column
from novikoff.data.tables.table_reader import Piece, Reader

Vector = NDArray[np.float64]

ARM = ("arm", "action", "choice")
"""Recognised names of the column of arms, in upper or lower case."""
LOSS = ("loss", "cost")
"""Recognised names of the column of losses."""
REWARD = ("reward", "gain")
"""Recognised names of the column of rewards."""
PROBABILITY = ("probability", "propensity", "prob", "p")
"""Recognised names of the column of probabilities."""

NOTHING = "Without it there is no guarantee."
"""End of the advice for a log without probabilities."""
MOST_ARMS = 100_000
"""Largest number of arms of a log; more are probably another column."""
PROMISES = (observable_regret, policy_limits)
"""Theorems of this module, for the registry."""
IMPOSSIBLE = 1e-6
"""Significance level at which the probabilities of a log are refuted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Loss or reward of a policy per round: between `low` and `high`, with a point `estimate`."""

    policy: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PolicyEvaluation:
    """Result of the evaluation of a log.

    Attributes:
        rounds: Number of rows.
        arms: Names of the arms, in order of appearance.
        plays: How often each arm was played.
        total: Total loss, or reward, of the arms played.
        rewards: Whether the log has rewards (more is better); the certificate counts `most` - reward as the loss.
        most: Largest possible loss or reward.
        regret: Certificate of the regret against the best arm.
        limits: Limits on the mean per round of each constant arm, then of each policy, all at once.
        delta: Probability that the limit on the regret fails, and that one of `limits` fails.
        source: Name of the source.
        notes: Notes of the reader.
    """

    rounds: int
    arms: tuple[str, ...]
    plays: tuple[int, ...]
    total: float
    rewards: bool
    most: float
    regret: Certificate
    limits: tuple[Limits, ...]
    delta: float
    source: str
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        played = f"{self.rounds:,} rounds, {len(self.arms):,} arms"
        return (
            f"<PolicyEvaluation {self.source}, {played}: mean {'reward' if self.rewards else 'loss'} {self.mean:.4g}>"
        )

    @property
    def mean(self) -> float:
        """Mean loss or reward of the arms played, per round."""
        return self.total / self.rounds

    def certify(self) -> list[Certificate]:
        """Return the certificates."""
        return [self.regret]


def evaluate_policies(
    log: object, arm: str | int | None = None, loss: str | int | None = None, reward: str | int | None = None,
    probability: str | int | None = None, policies: Sequence[str | int] = (), range: Sequence[float] | None = None,
    arms: int | None = None, delta: float = DELTA, gammas: Sequence[float] = GAMMAS, **reading: object,
) -> PolicyEvaluation:  # fmt: skip
    """Return the regret of a log of arms, losses and probabilities, and the cost of other policies.

    Args:
        log: A path, "-" for standard input, a binary file, or a data frame.
        arm: Column of the arm, by name or number; by default one with a recognised name.
        loss: Column of the loss, in the same way.
        reward: Column of the reward, instead of `loss`.
        probability: Column of the probability with which the arm was played.
        policies: Columns with the probability that each policy gives the arm played.
        range: Least and largest possible loss or reward; None for 0 and 1.
        arms: Number of arms to choose from, if the log does not contain all.
        delta: Probability that limits fail.
        gammas: Grid of gamma, fixed before the log was seen.
        reading: Options of the reader: format, header, delimiter, threads ...
    """
    if not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0:
        raise InputError(f"delta must be between 0 and 1: got {shown(delta)}.")
    if not gammas or not all(isinstance(gamma, (int, float)) and 1e-8 <= gamma <= 1.0 for gamma in gammas):
        raise InputError(f"gammas must be numbers from 1e-8 to 1: got {shown(gammas)}.")
    if arms is not None and (not isinstance(arms, int) or arms < 1):
        raise InputError(f"arms must be a positive integer: got {shown(arms)}.")
    reader = _reader(log, reading)
    columns = _Columns.of(reader, arm, loss, reward, probability, policies)
    sums = _Sums(columns, _limits(range), np.array(gammas, dtype=np.float64))
    for piece in reader.pieces(None, columns.wanted()):
        sums.see(piece, reader.name)
    return sums.result(arms, float(delta), reader)


def _reader(log: Any, reading: dict[str, Any]) -> Reader:
    """Return the reader of the log: a table of any format, or a frame."""
    from novikoff.data.reader import read
    from novikoff.data.tables.table import Table
    from novikoff.data.tables.table_formats import Frame

    given = {name: value for name, value in reading.items() if value is not None}
    stream: Any = Frame(log, **given) if is_frame(log) else read(log, **given)
    if not isinstance(stream, Table):
        raise SourceError(
            f"a log must be a table with columns for arm, loss and probability: {stream.name} is not a table."
        )
    return stream.reader


def _limits(given: Sequence[float] | None) -> tuple[float, float]:
    low, high = (0.0, 1.0) if given is None else (float(value) for value in given)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"a range must be two numbers, the smallest and the largest: got {shown(given)}.")
    return low, high


@dataclass(frozen=True)
class _Columns:
    """Names of the columns by role."""

    arm: str
    paid: str
    rewards: bool
    probability: str
    policies: tuple[str, ...]

    @classmethod
    def of(
        cls, reader: Reader, arm: str | int | None, loss: str | int | None, reward: str | int | None,
        probability: str | int | None, policies: Sequence[str | int],
    ) -> _Columns:  # fmt: skip
        """Return the named columns, or those with a recognised name."""
        if loss is not None and reward is not None:
            raise InputError("a log must have either losses or rewards: got both. Leave one of them out.")
        why = "a log must have the probability with which each arm was drawn"
        paying = Option("loss", letter="COLUMN")
        chance = _column(reader, probability, PROBABILITY, "probability", Option("probability", letter="COLUMN"), why)
        paid = (
            _column(reader, loss, LOSS, "loss", paying)
            if reward is None and (loss is not None or _called(reader, LOSS))
            else None
        )
        return cls(
            _column(reader, arm, ARM, "arm", Option("arm", letter="COLUMN")),
            paid or _column(reader, reward, REWARD, "loss or reward", paying), paid is None, chance,
            tuple(_column(reader, one, (), "policy", Option("policy", letter="COLUMN")) for one in policies),
        )  # fmt: skip

    def wanted(self) -> dict[str, Any]:
        """Return the columns to read and their types."""
        numbers = (self.paid, self.probability, *self.policies)
        if len({self.arm, *numbers}) < 3 + len(self.policies):
            raise SourceError(f"a column must be used only once: got {', '.join(map(quoted, (self.arm, *numbers)))}.")
        return {self.arm: "category", **dict.fromkeys(numbers, "number")}


def _called(reader: Reader, names: Sequence[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(reader.names)}
    return next((lower[name] for name in names if name in lower), None) if reader.named else None


def _column(
    reader: Reader, asked: str | int | None, names: Sequence[str], what: str, option: Option, why: str = ""
) -> str:
    """Return the requested column, or the one with a recognised name; `option` is the option that requests it."""
    there = ", ".join(map(quoted, reader.names[:50])) if reader.named else f"0 to {len(reader.names) - 1}"
    if asked is None:
        if found := _called(reader, names):
            return found
        must = why or f"a log must have a column for the {what}"
        raise SourceError(
            must, f"the columns of {reader.name} are {there}, and none is called {' or '.join(names)}",
            Advice("Pass ", option, f". {NOTHING}" if why else "."),
        )  # fmt: skip
    if asked in reader.names:
        return str(asked)
    if isinstance(asked, int) or str(asked).lstrip("-").isdigit():
        number = int(asked)
        if -len(reader.names) <= number < len(reader.names):
            return reader.names[number]
    raise SourceError(f"the column of the {what} must be one of {there}: {reader.name} has no {asked!r}.")


class _Sums:
    """Sums over the rounds of a log, for each arm, policy and gamma."""

    def __init__(self, columns: _Columns, limits: tuple[float, float], gammas: Vector) -> None:
        self._columns, (self._low, self._high), self._gammas = columns, limits, gammas
        self._arms: dict[str, int] = {}
        self._plays = np.zeros(0, dtype=np.int64)
        self._rounds, self._lost = 0, 0.0
        wide = (len(columns.policies), len(gammas))
        self._of_arms = [np.zeros((0, len(gammas))), np.zeros((0, len(gammas)))]  # sums of losses, and of 1 - loss
        self._of_policies = [np.zeros(wide), np.zeros(wide)]

    def see(self, piece: Piece, name: str) -> None:
        """Add rows."""
        if piece.rows:
            try:
                self._add(*self._read(piece))
            except SourceError as error:
                row = error.where.pop("row", 0)
                raise error.at(**piece.where(row)).at(source=name) from None
        if piece.error is not None:
            raise piece.error

    def _read(self, piece: Piece) -> tuple[NDArray[np.int64], Vector, Vector, list[Vector]]:
        """Return arm numbers, losses from 0 to 1, probabilities, and the probabilities of each policy."""
        columns = self._columns
        names, codes = cells.distinct(piece.arrays[columns.arm])
        if (codes < 0).any():
            raise cells.missing(int(np.argmax(codes < 0)), columns.arm, "arms")
        places = np.array([self._arms.setdefault(name, len(self._arms)) for name in names], dtype=np.int64)
        if len(self._arms) > MOST_ARMS:
            raise SourceError(
                f"a log must have at most {MOST_ARMS:,} arms: it has more. Is {quoted(columns.arm)} the arm?"
            )
        chances = self._numbers(piece, columns.probability, "probabilities")
        _refuse(~((chances > 0.0) & (chances <= 1.0)), chances, columns.probability,
                "probabilities must be above 0 and at most 1",
                "Log the probability with which the arm was chosen.")  # fmt: skip
        what = "rewards" if columns.rewards else "losses"
        paid = self._numbers(piece, columns.paid, what)
        low, high = self._low, self._high
        do = Advice("Pass ", Option("range", letter="LEAST,MOST"), ".")
        _refuse(~((paid >= low) & (paid <= high)), paid, columns.paid, f"{what} must be from {low:g} to {high:g}", do)
        losses = (high - paid) / (high - low) if columns.rewards else (paid - low) / (high - low)
        policies = [self._numbers(piece, one, "probabilities of a policy") for one in columns.policies]
        for one, shares in zip(columns.policies, policies, strict=True):
            _refuse(~((shares >= 0.0) & (shares <= 1.0)), shares, one, "probabilities must be from 0 to 1",
                    "It is the policy's probability of the logged arm.")  # fmt: skip
        return places[codes], np.clip(losses, 0.0, 1.0), chances, policies

    def _numbers(self, piece: Piece, column: str, what: str) -> Vector:
        try:
            values = cells.numbers(piece.arrays[column], Column(column, "number")).astype(np.float64, copy=False)
        except SourceError as error:
            error.do = "Correct the cell, or name another column."
            raise
        if np.isnan(values).any():
            raise cells.missing(int(np.argmax(np.isnan(values))), column, what)
        return values

    def _add(self, arms: NDArray[np.int64], losses: Vector, chances: Vector, policies: list[Vector]) -> None:
        count = len(self._arms)
        new = count - len(self._plays)
        self._plays = np.concatenate([self._plays, np.zeros(new, dtype=np.int64)])
        self._plays += np.bincount(arms, minlength=count)
        self._of_arms = [np.concatenate([kept, np.zeros((new, len(self._gammas)))]) for kept in self._of_arms]
        for c, gamma in enumerate(self._gammas.tolist()):
            for side, values in enumerate((losses, 1.0 - losses)):
                weighed = values / (chances + gamma)
                self._of_arms[side][:, c] += np.bincount(arms, weights=weighed, minlength=count)
                for k, shares in enumerate(policies):
                    self._of_policies[side][k, c] += float(np.sum(shares * weighed))
        self._rounds += len(arms)
        self._lost += math.fsum(losses.tolist())

    def result(self, arms: int | None, delta: float, reader: Reader) -> PolicyEvaluation:
        """Return the result."""
        if not self._rounds:
            raise SourceError(f"a source must not be empty: {reader.name} has no rows.")
        seen, columns = len(self._arms), self._columns
        if arms is not None and arms < seen:
            raise SourceError(
                f"arms must be at least the number of logged arms: got {arms:,}, and {reader.name} has {seen:,}."
            )
        span = self._high - self._low
        sums = [*_tuples(self._of_arms[0]), *[(0.0,) * len(self._gammas)] * ((arms or seen) > seen)]
        facts = BanditFacts(
            "log", self._rounds, arms or seen, arms or seen, self._lost, tuple(self._gammas.tolist()), tuple(sums),
            top=span, delta=delta, named=arms is not None,
        )  # fmt: skip
        facts = replace(facts, suspect=self._suspect(facts))
        empty = replace(facts, rounds=0, lost=0.0, sums=tuple((0.0,) * len(self._gammas) for _ in sums))
        run = Run(empty, facts, self._rounds, 0, 0.0, (0, 0), adaptive=False, deterministic=False,
                  loss=span * self._lost, fixed=False)  # fmt: skip
        regret = observable_regret(run)
        assert regret is not None  # there are rounds
        total = self._lost * span + self._low * self._rounds
        if columns.rewards:
            total = self._high * self._rounds - self._lost * span
        return PolicyEvaluation(
            self._rounds, tuple(self._arms), tuple(self._plays.tolist()), total, columns.rewards, self._high, regret,
            tuple(self._limits_of(run)), delta, reader.name, tuple(map(str, reader.notes)),
        )  # fmt: skip

    def _suspect(self, facts: BanditFacts) -> str:
        """Return why the probabilities cannot be those of the draws; "" if they can."""
        strict = replace(facts, delta=IMPOSSIBLE)
        for name, k in self._arms.items():
            ones = tuple((self._of_arms[0][k] + self._of_arms[1][k]).tolist())
            if at_least(strict, ones, facts.arms) > self._rounds:
                return (
                    f"arm {quoted(name)} was played {self._plays[k]:,} times, far more often than they allow; by "
                    "chance this happens in fewer than 1 of a million logs"
                )
        return ""

    def _limits_of(self, run: Run[BanditFacts]) -> Iterator[Limits]:
        """Yield limits of each arm, then of each policy; nothing where the theorem is void."""
        names = [*self._arms, *self._columns.policies]
        losses, savings = ([*_tuples(self._of_arms[s]), *_tuples(self._of_policies[s])] for s in (0, 1))
        policies, span = run.after.arms + len(self._columns.policies), self._high - self._low
        for name, lost, saved in zip(names, losses, savings, strict=True):
            limit = policy_limits(PolicyFacts(run, policies, lost, saved))
            if limit.bound is None:
                continue
            low, about, high = limit.number("at_least"), limit.observed, limit.bound
            values = [self._low + span * value for value in (about, low, high)]
            if self._columns.rewards:
                values = [self._high - span * value for value in (about, high, low)]
            yield Limits(name, *values)


def _refuse(bad: NDArray[np.bool_], values: Vector, column: str, must: str, do: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise cells.bad_cell(row, column, must, f"has {values[row]:g}", do)


def _tuples(array: Vector) -> list[tuple[float, ...]]:
    return [tuple(row) for row in array.tolist()]
