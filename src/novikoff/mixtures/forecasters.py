"""Base classes of the linear mixtures: random features, names, weights and plan of the members."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.state import Array, require
from novikoff.core.types import State
from novikoff.linear._loops.second_order_layout import LIMIT
from novikoff.linear.scale_free import Rows
from novikoff.mixtures._loops import linear_mixture_layout as mix

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

RATES = (4.0, 1.0, 0.25, 0.0625)
"""Learning rates of the diagonal members, for each metric."""
RIDGES = (1.0, 0.01)
"""Ridges of the second-order members."""
WIDTHS = (2.0, 0.5, 0.125, 0.03125)
"""Values of g of the random features, whose W is drawn from N(0, 2g/d)."""
PLANS = ((1, 0, 0), (len(RATES), 0, 0), (len(RATES), len(RIDGES), len(WIDTHS)))
"""Possible numbers of rates, ridges and random-feature members."""


class LinearMembers(Rows):
    """Base class of the linear mixtures: learners on x, and on random features of the columns of its first row.

    Attributes:
        seed: Seed of the random features.
    """

    seed: int
    features: Features
    replaces = True
    _turns: NDArray[np.float64]
    _shifts: NDArray[np.float64]
    _moments: NDArray[np.float64]

    def _seeded(self, seed: int) -> None:
        """Set the seed, checked."""
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise InputError(f"a seed must be an integer from 0 to 2^63 - 1: got {shown(seed)}.")
        self.seed = seed

    def _draw(self, width: int, waves: int) -> None:
        """Draw random features of rows of `width` columns; `waves` is 0 for none."""
        coins = np.random.default_rng(self.seed)
        self._turns = coins.normal(size=(waves, width)) / (2.0 * np.pi)
        self._shifts, self._moments = coins.random(waves), np.zeros((2, width))

    def _first_row(self, rows: Nonzeros) -> tuple[int, bool]:
        """Return the number of columns for random features, and whether the first row is within their limit."""
        if self.features.kind == "array":
            return self.features.count, 0 < self.features.count <= LIMIT
        return LIMIT, int(rows.places[: rows.ends[1]].max(initial=0)) <= LIMIT

    @property
    def _width(self) -> int:
        """Number of columns that random features use."""
        return int(self._moments.shape[1])

    @_width.setter
    def _width(self, width: int) -> None:
        self._restart(width)

    @abstractmethod
    def _restart(self, width: int) -> None:
        """Create the untrained members of a saved mixture, with random features of `width` columns."""

    @abstractmethod
    def _make_room(self, places: int) -> None:
        """Grow to `places` features, the constant one included."""

    def widen(self, width: int) -> None:
        """Grow to `width` features; weights of new columns are 0, and random features ignore them."""
        if self.features.widen(width):
            self._make_room(width + 1)


class Forecasters(LinearMembers):
    """Linear mixture of forecasters with probabilities, some of which rest.

    `_standing` has one row per quantity of _loops/linear_mixture_layout.py, one column per forecaster.

    Attributes:
        fast: Whether to use two diagonal members only.
    """

    rounds: int
    fast: bool
    _plan: tuple[int, int, int] | None
    """Numbers of rates, ridges and random-feature members, settled by the first row."""
    _standing: NDArray[np.float64]
    _roots: NDArray[np.bool_]
    _per_rate: NDArray[np.float64]
    _ridges: NDArray[np.float64]
    _widths: NDArray[np.float64]

    def _planned(self, small: bool) -> tuple[int, int, int]:
        """Return the plan for a first row that is, or is not, within the limit of random features."""
        return PLANS[0] if self.fast else PLANS[2 if small else 1]

    @property
    def _member_names(self) -> list[str]:
        """Names of the diagonal, the second-order and the random-feature members."""
        rates = [1.0 / value for value in self._per_rate]
        diagonal = [f"{'sqrt' if root else 'newton'} {rate:g}" for root, rate in zip(self._roots, rates, strict=True)]
        full = [f"second order {ridge:g}" for ridge in self._ridges]
        return [*diagonal, *full, *(f"random features {g:g}" for g in self._widths)]

    def _foresee(self) -> None:
        """Reserve places for the features that random features may use, so that predictions find new ones."""
        if len(self._widths) and self.features.kind != "array":
            self._make_room(LIMIT + 1)

    def _require_plan(self) -> None:
        """Raise an error if the plan of a saved mixture does not match its arguments."""
        sound = self._plan is None or (self._plan[0] == 1) == self.fast
        require(sound, "the members of a saved linear mixture must match its setting `fast`", self._plan)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the forecasters, in order."""
        return self._mixing

    @property
    def _mixing(self) -> NDArray[np.float64]:
        """Weights of the members and the stack; `weights` is overridden where they are one input of many."""
        weights: NDArray[np.float64] = np.exp(self._standing[mix.LOG_WEIGHT])
        return weights

    @property
    def shares(self) -> NDArray[np.float64]:
        """Mean weight of each forecaster over all rounds, among those awake."""
        shares: NDArray[np.float64] = self._standing[mix.SHARE] / max(self.rounds, 1)
        return shares

    @property
    def size(self) -> int:
        """Number of forecasters awake."""
        return int(np.count_nonzero(self._standing[mix.IDLE] >= 0.0))


@dataclass(frozen=True)
class Standing(Array):
    """Saved `_standing` of forecasters."""

    def unpack(self, state: State, owner: object, of: str) -> object:
        saved, rows = state[self.name], mix.STANDING
        kept = isinstance(saved, np.ndarray) and len(saved) == rows
        require(
            kept,
            f"a saved linear mixture must have {rows} numbers per member, older ones have fewer: train it again",
            saved,
        )
        found = cast(NDArray[np.float64], super().unpack(state, owner, of))
        idle, slept = found[mix.IDLE, [0, -1]], found[mix.SLEPT, [0, -1]]  # a diagonal member and the stack never rest
        awake = bool((idle >= 0.0).all() and (slept == 0.0).all())
        require(awake, "the first member of a linear mixture and its stack must have been awake", [idle, slept])
        return found


def plan_of(saved: Any) -> tuple[int, int, int]:
    """Return the plan that was saved as a list."""
    return PLANS[PLANS.index(tuple(saved))]
