"""Sleeping experts (specialists): each may sit out any round, and is compared on the rounds it was awake.

Algorithm
    R_i = 0.  In round t the experts A_t are awake (NaN: asleep); p_t(i) is proportional to
    prior_i exp(eta_t R_i / unit) among them.  h_t = <p_t, l_t>, and m_t = -(unit/eta_t) ln of the mean of
    exp(-eta_t l_t / unit) under p_t; then R_i += m_t - l_{t,i} for those awake.
    Say the weighted mean of those awake, or follow one that is drawn. In a game of losses it is not known before the
    round who is awake: asked then, it answers as if all were.
    If all are asleep the round is skipped: 0.5 is said (-1 in a game of losses), it costs nothing, and no one learns.
    eta is as given; or 2 sqrt(ln N / t), t the rounds that were not skipped. A prior may add up to less than 1, as
    1/(i(i+1)) does, so that experts may join at any time: one that has not come is asleep.
Promise
    certificates/sleeping_regret.py: for every expert, over the rounds it was awake, regret at most
    unit ln(1/prior_i) / eta_T + the sum of h_t - m_t; so at most S sqrt(T ln N) for all, without a prior.
    certificates/drawn_loss.py: for the expert drawn.
Cost
    O(N) a round, about 100 bytes for each expert.
Rounding
    As in learners/standings.py, with R for the losses so far: what is added to all that are awake by the error of m_t
    costs its size. The gaps of an expert are added as they are: 2 u T times their sum.
Reference
    [freund1997b].
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.certificates.drawn_loss import drawn_loss
from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.certificates.sleeping_regret import sleeping_regret
from novikoff.learners.panel import Panel, arguments, positive
from novikoff.learners.restoring import integer, require
from novikoff.learners.standings import CHUNK, NUMBERS, numbers_of, rounding, vector_of
from novikoff.losses import CLIP
from novikoff.types import Batch, Distribution, Example, Played, State, Theorem

Vector = NDArray[np.float64]

ARRAYS = ("far", "near", "lost", "gaps", "rates")


class SleepingExperts:
    """Exponential weights among those who are awake."""

    promises: ClassVar[tuple[Theorem, ...]] = (sleeping_regret, drawn_loss)

    def __init__(
        self, experts: int, eta: float | None = None, loss: str = "zero-one", play: str | None = None,
        prior: Any = None, clip: float = CLIP, seed: int = 0,
    ) -> None:  # fmt: skip
        self._panel = panel = Panel(experts, loss, play, prior, clip, seed, sleep=True)
        self.domain, self.labels, self.draws, self.loss = panel.domain, panel.labels, panel.draws, panel.loss.name
        self._given = eta
        fixed = None if eta is None else positive(eta, "eta", " Leave it out for one that falls.")
        self._rounds = Sleeping(panel, panel.loss.top, fixed)

    @property
    def size(self) -> int:
        """Experts."""
        return self._panel.size

    @property
    def rounds(self) -> int:
        """Played so far."""
        return self._rounds.rounds

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of the experts, in a round to come in which all are awake; they add up to 1."""
        return self._rounds.weights()

    def chances(self, x: Example) -> Distribution:
        """The chance of each answer."""
        return self._panel.chances(self._rounds, x)

    def predict_one(self, x: Example) -> Any:
        return self._panel.predict(self._rounds, x)

    def learn_one(self, x: Example, y: Any) -> None:
        self._panel.play_one(self._rounds, x, y)

    def play_one(self, x: Example, y: Any) -> Any:
        """Predict, then learn, looking at the experts once."""
        return self._panel.play_one(self._rounds, x, y)

    def sweep(self, batch: Batch) -> Played | None:
        """Every row in order, compiled."""
        return self._panel.sweep(self._rounds, batch)

    def facts(self) -> ExpertsFacts:
        return self._rounds.facts()

    def state(self) -> State:
        return {**self._panel.state(), "eta": self._given, "sleeping": self._rounds.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(**arguments(state), eta=state["eta"])
        learner._rounds.load(state["sleeping"])
        return learner


class Sleeping:
    """What each expert would have gained on the mix while it was awake."""

    def __init__(self, panel: Panel, unit: float, eta: float | None) -> None:
        self.panel, self.unit = panel, unit
        count = panel.size
        rate = 0.0 if count == 1 else 1.0 / unit if eta is None else eta / unit
        self._rule = (eta is None and count > 1, rate, math.log(count), panel.loss.top, panel.code, panel.loss.clip,
                      panel.draws, panel.coins)  # fmt: skip
        self._table = np.zeros(len(ARRAYS) * count)
        self._awake = np.zeros(count, dtype=np.int64)
        self._prior = panel.log_prior[:count]
        self._counts = np.zeros(2, dtype=np.int64)
        self._numbers = np.zeros(NUMBERS)
        self._room = np.concatenate([np.zeros(3 * count), np.ones(count), np.zeros(count + -(-count // CHUNK))])

    @property
    def rounds(self) -> int:
        """Played so far, those that were skipped included."""
        return int(self._counts[0])

    def play(self, rows: Vector, outcomes: Vector) -> tuple[Vector, Vector, Vector]:
        """Every row in order: what was said, what it cost, what it costs on average."""
        said, paid, mean = (np.empty(len(rows)) for _ in range(3))
        kernels.sleeping.sweep(self._table, self._awake, self._prior, self._counts, self._numbers, self._rule,
                       rows.reshape(-1), outcomes, self._room, said, paid, mean)  # fmt: skip
        return said, paid, mean

    def predict(self, row: Vector) -> float:
        """What would be said now."""
        return float(kernels.sleeping.predict(self._table, self._prior, self._counts, self._rule, row, self._room))

    def weights(self, row: Vector | None = None) -> Vector:
        """Of a round to come, 0 for those asleep; without advice all are awake."""
        row = self.panel.blank if row is None else row
        kernels.sleeping.predict(self._table, self._prior, self._counts, self._rule, row, self._room)
        count = self.panel.size
        found = np.where(np.isnan(row), 0.0, self._room[4 * count : 5 * count])
        total = float(found.sum())
        return np.asarray(found / total if total > 0.0 else found)

    def facts(self) -> ExpertsFacts:
        panel, unit, numbers = self.panel, self.unit, self._numbers.tolist()
        far, near, lost, gaps, rates = self._table.reshape(len(ARRAYS), -1)
        awake = self._awake
        eta = numbers[10] * unit
        woke = awake > 0
        gained = far + near
        promised = panel.prices * (unit / eta) if eta > 0.0 else np.zeros(panel.size)
        sleeper = int(np.where(woke, gained - promised, -math.inf).argmax()) if woke.any() else -1
        best = int(np.where(woke, lost, math.inf).argmin()) if woke.any() else 0
        one = max(sleeper, 0)
        return ExpertsFacts(
            rule="sleeping",
            rounds=self.rounds,
            experts=panel.size,
            loss=panel.loss.name,
            play=panel.play,
            top=panel.loss.top,
            unit=unit,
            eta=eta,
            rates=(numbers[4] + numbers[5]) * unit,
            gaps=numbers[2] + numbers[3],
            last_gap=numbers[11],
            mixed=numbers[0] + numbers[1],
            best=best,
            best_loss=float(lost[best]),
            comparator=best,
            comparator_loss=float(lost[best]),
            price=float(panel.prices[best]) if panel.size > 1 else 0.0,
            uniform=panel.uniform,
            rounding=rounding(panel, self.rounds, unit / eta if eta > 0.0 else 0.0)
            + _plain_sums(panel, self.rounds, numbers[2] + numbers[3]),
            sleeper=sleeper,
            sleeper_regret=float(gained[one] + gaps[one]),
            sleeper_gaps=float(gaps[one]),
            sleeper_rates=float(rates[one]) * unit,
            sleeper_price=float(panel.prices[one]) if panel.size > 1 else 0.0,
            sleeper_rounds=int(awake[one]),
            clip=panel.loss.clip,
        )

    def state(self) -> State:
        arrays = {name: row.copy() for name, row in zip(ARRAYS, self._table.reshape(len(ARRAYS), -1), strict=True)}
        return {**arrays, "awake": self._awake.copy(), "rounds": self.rounds, "played": int(self._counts[1]),
                "numbers": self._numbers.tolist()}  # fmt: skip

    def load(self, state: State) -> None:
        """Become the one whose `state` this is."""
        self._counts[0] = integer(state, "rounds")
        self._counts[1] = integer(state, "played", 0, self.rounds)
        for name, row in zip(ARRAYS, self._table.reshape(len(ARRAYS), -1), strict=True):
            row[:] = vector_of(state[name], self.panel.size, name)
        awake = state["awake"]
        sound = isinstance(awake, np.ndarray) and awake.dtype == np.int64 and awake.shape == (self.panel.size,)
        sound = sound and awake.min() >= 0 and awake.max() <= self._counts[1]
        require(sound, f"awake of a learner must count 0 to {self._counts[1]:,} rounds of each expert", awake)
        self._awake[:] = awake
        self._numbers[:] = numbers_of(state)


def _plain_sums(panel: Panel, rounds: int, gaps: float) -> float:
    """What sums that are added up plainly may be off, beyond `rounding`: the gaps, and N terms at high rates."""
    terms = panel.size * panel.loss.top / 300.0
    return 0.0 if panel.size == 1 else 2.0 * rounds * (gaps + terms) * 2.0**-53
