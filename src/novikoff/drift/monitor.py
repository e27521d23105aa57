"""Sequential tests of the assumption that examples are independent draws from one distribution.

Drift test
    At rounds 64, 128, 256, ... the hypothesis is frozen, and wealth is bet on its errors up to the next such round, by
    the rule of drift/theorems/drift_alarm.py, which limits the probability of a false alarm. Small bets detect small
    changes. The alarm is raised when the wealth reaches 1/alpha.
    A change exactly at a round where the hypothesis is frozen is not detected: run a second test with another `first`,
    each with alpha/2. The redistributed shares decrease, so that the wealth does not vanish in a long stream without
    drift: it falls at most as n^(-2/3). With a constant share of 0.01 it would be e^-380 after 100,000 examples, and no
    later change could be detected.
Monitor
    A classifier with certified risk is frozen, and wealth is bet on its errors, by the rule of
    drift/theorems/monitor_alarm.py, which limits the probability of a false alarm. The alarm is raised when the wealth
    reaches 2/alpha. Without fresh capital the wealth of a good classifier would vanish, and no later drift could be
    detected.
Exactness
    Examples are processed one after the other, in a compiled loop: batches of any size, and interruptions, give the
    same bits. Betting stops once the wealth is 2^300.
Cost
    O(1) memory; 10 million examples in 0.4 s (test) and 0.2 s (monitor), without the predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, ModelFileError, shown
from novikoff.core.learner import Learner
from novikoff.core.observer import Observer
from novikoff.core.state import MOST_ROUNDS, Argument, Array, Count, Number, Stateful, integer, require
from novikoff.core.types import Batch, State, StepResult
from novikoff.drift.theorems.drift_alarm import DriftFacts, drift_alarm
from novikoff.drift.theorems.monitor_alarm import MonitorFacts, monitor_alarm
from novikoff.numerics.coins import start

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

ALPHA = 0.05
"""Default probability that a drift test ever raises a false alarm."""
OFTEN = 0.01
"""Largest share of the capital of a drift test that is redistributed before a bet."""
BET_SIZES = np.array([1.0, 0.25, 0.0625])
"""Sizes of the bets of a drift test; small ones detect small changes."""
ENOUGH = 2.0**300
"""Wealth at which betting stops, far above any alarm, so that it does not overflow."""
BETS = 8
"""Number of bets of a monitor."""
EVERY = 1024
"""Number of examples after which a monitor adds capital."""
PROMISES = (drift_alarm, monitor_alarm)
"""Theorems of this module, for the registry."""


@dataclass(eq=False)
class DriftTest(Stateful):
    """Sequential test for drift that bets on the errors of frozen hypotheses.

    Call `refresh` at each round `next_snapshot`, then `see` with the errors of that snapshot.

    Args:
        seed: Seed of its coins, used by nothing else.
        alpha: Probability that it ever raises a false alarm.
        first: First round at which the hypothesis is frozen.

    Guarantee:
        On exchangeable examples the probability of an alarm, ever, is at most alpha (`drift_alarm`).

    Example:
        >>> import novikoff as nk
        >>> import numpy as np
        >>> test = nk.DriftTest(first=4)
        >>> test.refresh()
        >>> test.see(np.array([False, False, True, False]))
        >>> test.seen, test.alarm
        (4, False)
    """

    fields = (
        Argument("seed", int),
        Argument("alpha", float),
        Count("first", 1, argument=True),
        Count("next_snapshot", "first", 2 * MOST_ROUNDS),
        Number("largest", 0.0),
        Number("wealth", 0.0, "largest"),
        Array("counts", (3,), np.int64, at="_counts", nonnegative=True),
        Array("capital", (len(BET_SIZES), 3), at="_capital", nonnegative=True),
    )
    described = "a drift test"

    seed: int = 0
    alpha: float = ALPHA
    first: int = 64
    next_snapshot: int = field(init=False)
    wealth: float = field(init=False, default=1.0)
    largest: float = field(init=False, default=1.0)
    _counts: NDArray[np.int64] = field(init=False, repr=False)
    _capital: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_alpha(self.alpha)
        if not isinstance(self.first, int) or self.first < 1:
            raise InputError(f"first must be a positive whole number of rounds: got {shown(self.first)}.")
        self.next_snapshot = self.first
        self._counts = np.zeros(3, dtype=np.int64)
        self._capital = np.full((len(BET_SIZES), 3), 1.0 / (3 * len(BET_SIZES)))
        self._start: Any = np.uint64(start(self.seed, f"drift {self.first}"))

    @property
    def seen(self) -> int:
        """Number of examples bet on."""
        return int(self._counts[0])

    @property
    def left(self) -> int:
        """Number of examples left in the block; 0 before the first snapshot."""
        begun = self.next_snapshot > self.first
        return self.next_snapshot // 2 - int(self._counts[1]) if begun else 0

    @property
    def alarm(self) -> bool:
        """Whether the wealth ever reached 1/alpha, which refutes independent draws from one distribution."""
        return self.facts().alarm

    def facts(self) -> DriftFacts:
        return DriftFacts(self.seen, self.largest, self.alpha)

    def certify(self) -> list[Certificate]:
        """Return the limit on the wealth; it is void after an alarm."""
        return [drift_alarm(self.facts())]

    def refresh(self) -> None:
        """Start a block with a newly frozen hypothesis, after round `next_snapshot`."""
        if self.left:
            raise InputError(
                f"a snapshot must be taken at round {self.next_snapshot:,}: {self.left:,} examples are still to come."
            )
        self.next_snapshot *= 2
        self._counts[1:] = 0

    def see(self, errors: NDArray[np.number] | NDArray[np.bool_]) -> None:
        """Bet on whether the snapshot errs on each of the next examples."""
        wrong = _errors(errors)
        if len(wrong) > self.left:
            raise InputError(
                f"errors must be of one snapshot: got {len(wrong):,}, and it has {self.left:,} examples left up to "
                f"round {self.next_snapshot:,}. Take the snapshot of that round first (refresh)."
            )
        if not len(wrong):
            return
        from novikoff.drift._loops.drift import learn_many

        self.wealth, self.largest = learn_many(
            wrong, self._start, self._counts, self._capital, BET_SIZES, OFTEN, self.wealth, self.largest, ENOUGH
        )

    def after_restoring(self, found: State) -> None:
        seen, number, ones = self._counts.tolist()
        block, rest = divmod(self.next_snapshot, self.first)
        sound = not rest and not block & (block - 1) and ones <= number <= seen and self.left >= 0
        require(
            sound and (block > 1 or not seen),
            "the counts of a saved drift test must match its snapshots",
            found["counts"],
        )


class DriftWatch(Observer):
    """Observer that runs a drift test in a game, freezing the learner at each snapshot.

    `nk.Game(learner, drift=nk.DriftTest())` has one as `ledger.drift`; its `test` has the wealth and the alarm.
    With delayed labels the examples are tested in the order in which their labels arrive: an alarm then means that they
    are not independent draws from one distribution, or that the delay of a label depends on its example or on a
    prediction. Only the first round of a weighted row counts: rows may be independent draws, copies of a row are not.

    Args:
        test: The drift test; None for the default one.
    """

    sees_copies = False

    def __init__(self, test: DriftTest | None = None) -> None:
        self.test = DriftTest() if test is None else test
        self.rounds = 0
        self._frozen: Learner | None = None
        self._state: State | None = None  # state of the frozen learner

    @classmethod
    def begin(cls, ledger: Ledger, test: DriftTest) -> Self:
        """Return a watch for a game from now on: its mistakes are the errors."""
        if ledger.drift is not None:
            raise InputError("the game already has a drift test: ledger.drift.")
        if not ledger.counts or ledger.player.task == "losses":
            raise MismatchError("a drift test needs a classifier, whose mistakes it counts: this learner is not one.")
        return cls(test)

    def due(self, ledger: Ledger, rounds: int) -> int:
        return min(rounds, self.test.next_snapshot - self.rounds)

    def look(self, ledger: Ledger) -> None:
        if self.rounds == self.test.next_snapshot:
            self.test.refresh()
            self._frozen, self._state = ledger.player.copy(), None

    def see(self, batch: Batch, result: StepResult) -> None:
        once = slice(None) if batch.weights is None else batch.weights > 0
        if self._frozen is not None:
            self.test.see((np.asarray(self._frozen.predict_many(batch)) != batch.y)[once])
        self.rounds += len(batch.y[once])

    def check(self, ledger: Ledger) -> None:
        """Raise ModelFileError if the rounds differ from those of the ledger."""
        seen = self.rounds <= ledger.rounds and self.test.seen == max(0, self.rounds - self.test.first)
        if not seen or (self._frozen is None) != (self.test.next_snapshot == self.test.first):
            raise ModelFileError(f"a drift test must have seen the rounds of its game: it saw {self.rounds:,}.")

    def state(self) -> State:
        if self._frozen is not None and self._state is None:
            self._state = self._frozen.state()
        return {"test": self.test.state(), "rounds": self.rounds, "frozen": self._state}

    @classmethod
    def restore(cls, state: State, learner: Learner) -> Self:
        """Return the watch with this `state`; by hand, because the frozen learner is of the class of `learner`."""
        watch = cls(DriftTest.restore(state["test"]))
        watch.rounds = integer(state, "rounds", of="a drift test")
        watch._frozen = None if state["frozen"] is None else learner.from_state(state["frozen"])
        return watch


@dataclass(eq=False)
class Monitor(Stateful):
    """Sequential test of the certified risk of a classifier that bets on its errors.

    Args:
        limit: Certified limit on the risk.
        alpha: Probability that it ever raises a false alarm, in addition to the certificate's delta.

    Guarantee:
        While the risk is at most `limit`, the probability of an alarm, ever, is at most alpha (`monitor_alarm`).

    Example:
        >>> import novikoff as nk
        >>> import numpy as np
        >>> monitor = nk.Monitor(limit=0.1)
        >>> monitor.see(np.ones(20, dtype=bool))
        >>> monitor.alarm
        True
    """

    fields = (
        Argument("limit", float),
        Argument("alpha", float),
        Count("seen"),
        Count("errors", most="seen"),
        Number("largest", 0.0),
        Number("wealth", 0.0, "largest"),
        Array("capital", (BETS,), at="_capital", nonnegative=True),
    )
    described = "a monitor"

    limit: float
    alpha: float = 0.05
    seen: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    wealth: float = field(init=False, default=1.0)
    largest: float = field(init=False, default=1.0)
    _capital: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_alpha(self.alpha)
        if not 0.0 < self.limit < 1.0:
            raise InputError(f"a limit must be between 0 and 1: got {shown(self.limit)}. Certify the classifier first.")
        parts: NDArray[np.float64] = np.ldexp(1.0, -np.arange(1, BETS + 1))
        self._gains = 1.0 + parts * ((1.0 - self.limit) / self.limit)
        self._losses = 1.0 - parts
        self._capital = np.zeros(BETS)

    @property
    def alarm(self) -> bool:
        """Whether the wealth ever reached 2/alpha, which refutes the certified risk or independent examples."""
        return self.facts().alarm

    def facts(self) -> MonitorFacts:
        return MonitorFacts(self.seen, self.errors, self.largest, self.limit, self.alpha)

    def certify(self) -> list[Certificate]:
        """Return the limit on the wealth; it is void after an alarm."""
        return [monitor_alarm(self.facts())]

    def see(self, errors: NDArray[np.number] | NDArray[np.bool_]) -> None:
        """Bet on whether the classifier errs on each of the next examples."""
        wrong = _errors(errors)
        if not len(wrong):
            return
        from novikoff.drift._loops.drift import watch

        self.wealth, self.largest = watch(
            wrong, self.seen, self._capital, self._gains, self._losses, EVERY, self.wealth, self.largest, ENOUGH
        )
        self.seen += len(wrong)
        self.errors += int(np.count_nonzero(wrong))


def _check_alpha(alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must be a probability between 0 and 1: got {shown(alpha)}. 0.05 is usual.")


def _errors(errors: NDArray[np.number] | NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the errors as booleans, one per example."""
    wrong = np.asarray(errors)
    if wrong.ndim != 1 or (wrong.dtype != np.bool_ and not np.isin(wrong, (0, 1)).all()):
        raise InputError(f"errors must be a one-dimensional array of booleans: got {shown(errors)}.")
    return np.ascontiguousarray(wrong, dtype=np.bool_)
