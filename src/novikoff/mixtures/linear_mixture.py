"""Linear mixture: the part of `auto` without trees. No parameter, no scaling, rows of any width.

Algorithm
    Members, each a separate learner that predicts P(+1):
        8 diagonal (convex/ftrl.py): metrics sqrt and newton, rates 4, 1, 1/4 and 1/16
        2 second-order (convex/logistic.py): ridges 1 and 0.01, on the first 256 features seen
        4 second-order on 256 random features of the standardised row (numerics/fourier.py), of four widths
    A stack: second-order logistic regression on the members' scores, clipped to -8 .. 8. P(+1) is the Bayes mixture of
    members and stack: weights start equal and are multiplied by the probability that each gave to the label; predict
    +1 if P(+1) is 1/2 or more. Second-order members rest after 1,000 rounds with a weight below 1e-6 if they also fell
    behind by 10 nats in these rounds, and wake after rounds 2048, 4096, 8192, ... (mixtures/_loops/resting.py).
    The first row determines the members: all 14 if it is an array of at most 256 numbers, or a sparse or named row
    without a feature beyond the 256th; otherwise the 8 diagonal ones. Random features use the columns of the first
    array, or features 1 to 256 of sparse rows: a feature beyond them retires these members for good. `fast`: two
    diagonal members, of rate 1, and the stack. `bias` c adds a constant feature of value c, unless c is 0. `seed`
    draws the random features. For streams that change, `linear-mixture:drift=true`: copies of this mixture, started
    every 256 rounds (experts/specialists.py), with a bound on every stretch.
    `novikoff explain` with diagonal-arow, passive-aggressive, coin-betting or scinol explains why they are not members.
Promise
    mixtures/theorems/linear_mixture_regret.py: L <= L_j + ln(J+1) for every member j, so for every member and every u
    L <= L_u + the regret of the member's theorem against u + ln(J+1).
    mixtures/theorems/linear_mixture_frozen.py: the same from any round on, against weights that a member, or the stack,
    had in that round.
Cost
    O(non-zeros of x) per round and 20 numbers per feature for the diagonal members; O(256^2) per round for each other
    member that is awake. With `drift`, that of 2 + log2(rounds / 256) copies: 20,000 rounds of 10 numbers took 5.5 s
    instead of 0.3 s, because most copies are too young to let members rest.
Reference
    [vovk1998] for the mixture; those of the members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.frozen import FrozenWeights
from novikoff.comparators.goal import Goal, Own, added_doubt
from novikoff.comparators.metric import Diagonal
from novikoff.comparators.metric_tracker import MetricTracker
from novikoff.comparators.random_features import Images
from novikoff.comparators.tracker import Tracker
from novikoff.convex._loops import ftrl_layout as lane
from novikoff.convex.logistic import curvature
from novikoff.core.attribution import Importances, mean_importances, spreads
from novikoff.core.feature_places import up_to
from novikoff.core.state import Argument, Array, Coded, Count
from novikoff.core.types import State, Theorem
from novikoff.linear._loops import second_order_layout as at
from novikoff.linear.matrix import full_metric, refresh, roomy, seen_places, stretches
from novikoff.linear.one_vs_rest import Matrices
from novikoff.linear.scale_free import Probabilistic
from novikoff.mixtures import _loops
from novikoff.mixtures._loops import linear_mixture_layout as mix
from novikoff.mixtures.forecasters import RATES, RIDGES, WIDTHS, Forecasters, Standing, plan_of
from novikoff.mixtures.theorems.linear_mixture_facts import LinearMixtureFacts
from novikoff.mixtures.theorems.linear_mixture_frozen import linear_mixture_frozen
from novikoff.mixtures.theorems.linear_mixture_regret import linear_mixture_regret
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import U0

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

RADIUS = 6.0
"""Scores up to which the curvature of the log loss is assumed."""
MOST_IMAGES = 20_000
"""Number of rounds up to which comparators recompute random features, at 2 KB per round."""


class LinearMixture(Forecasters, Probabilistic):
    """Binary classifier without parameters: a mixture of 14 learners and a stack on their scores.

    Args:
        fast: Whether to use two diagonal members only.
        seed: Seed of the random features.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        Log loss at most that of each of its J members plus ln(J + 1), and so at most that of any weights u plus the
        member's regret bound plus ln(J + 1) (`linear_mixture_regret`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.LinearMixture(), [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 2).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (linear_mixture_regret, linear_mixture_frozen)
    fields = (
        Argument("fast", bool),
        Argument("seed", int),
        *Probabilistic.fields,
        Coded("plan", list, plan_of, "one of a linear mixture", optional=True, at="_plan"),
        Count("width", most=at.LIMIT, at="_width"),
        Array("held", ("places", "_columns_held"), spare=0.0, at="_held"),
        Array("totals", at="_totals"),
        Array("slots", ("places",), np.int32, spare=-1, at="_slots"),
        Array("moments", at="_moments"),
        Standing("standing", at="_standing"),
        Matrices("matrices", ("_ridges.size",), "_met", "_slots", lower=False, at="_matrices", assigned=False),
        Matrices("waves", ("_widths.size",), "_angles", lower=False, at="_waves", assigned=False),
        Matrices("stack", (), "members", lower=False, at="_stack", assigned=False),
    )

    def __init__(self, fast: bool = False, seed: int = 0, bias: float = 1.0) -> None:
        super().__init__(bias)
        self._seeded(seed)
        self.fast, self._plan = bool(fast), None
        self._begin(((1.0,) if self.fast else RATES), (), (), 0)

    def _begin(
        self, rates: tuple[float, ...], ridges: tuple[float, ...], widths: tuple[float, ...], width: int
    ) -> None:
        """Create untrained members."""
        lanes = 2 * len(rates)
        self._roots = np.repeat([True, False], len(rates))
        self._per_rate = np.tile(1.0 / np.array(rates), 2)
        self._held, self._totals = np.zeros((1, lane.SHARED + 2 * lanes)), np.zeros((lane.TOTALS, lanes))
        self._slots, self._ridges = np.full(1, -1, dtype=np.int32), np.array(ridges)
        self._widths = np.array(widths)
        self._draw(width, mix.WAVES - 1 if widths else 0)
        members = self.members = lanes + len(ridges) + len(widths)
        counts = [0] * len(ridges) + [mix.WAVES] * len(widths) + [members]
        self._squares = _squares(counts, max(counts))
        self._standing = np.zeros((mix.STANDING, members + 1))
        self._standing[[mix.LOG_WEIGHT, mix.START]] = -np.log(members + 1.0)
        self._arrays()

    def _arrays(self) -> None:
        """Renew the arguments of the loop after arrays were replaced."""
        self._args = self._given(self._squares)

    def _given(self, squares: tuple[NDArray[np.float64], ...]) -> tuple[Any, ...]:
        """Return the records for the loop, with these arrays for the second-order members and the stack."""
        return (
            (self._roots, self._per_rate, self._held, self._totals), (self._slots, self._ridges, *squares),
            (self._turns, self._shifts, self._widths, self._moments), self._standing, curvature(RADIUS),
            self.features.kind != "array",
        )  # fmt: skip

    @property
    def _matrices(self) -> tuple[NDArray[np.float64], ...]:
        """Arrays of linear/_loops/second_order.py of the members on x."""
        return tuple(part[: len(self._ridges)] for part in self._squares)

    @property
    def _waves(self) -> tuple[NDArray[np.float64], ...]:
        """Arrays of linear/_loops/second_order.py of the members on random features."""
        return tuple(part[len(self._ridges) : -1] for part in self._squares)

    @property
    def _stack(self) -> tuple[NDArray[np.float64], ...]:
        return tuple(part[-1] for part in self._squares)

    @property
    def names(self) -> list[str]:
        """Names of the forecasters, in order."""
        return [*self._member_names, "stack"]

    def importances(self) -> Importances | None:
        """Return the mean of the weights of the members on x, those on random features left out."""
        if self._plan is None or not self.rounds:
            return None
        places, lanes, members = self.features.count + 1, len(self._roots), []
        for j in range(lanes + len(self._ridges)):
            weights = np.zeros(places)
            if j < lanes:
                metric = self._diagonal(j)
                np.divide(self._held[:places, lane.SHARED + j], metric, out=weights, where=metric > 0.0)
            else:
                (held, *_), totals, _, slots = self._of(j)
                here = np.flatnonzero((slots >= 0) & (slots < totals[at.COUNT]))
                weights[here] = held[at.WEIGHT, slots[here]]
            members.append(np.abs(weights[1:]))
        own, stacked = self._mixing, self._of(self.members)[0][0][at.WEIGHT, : self.members]
        influence = own[:-1] + own[-1] * stacked
        moments = self._moments if self._moments.shape[1] else None
        sizes, centred = spreads(self._held[1:places, 1], self.rounds, moments)
        return mean_importances(influence[: len(members)], members, sizes, centred)

    def _settle(self, rows: Nonzeros) -> None:
        """Choose the members by the first row."""
        if self._plan is None and len(rows.ends) > 1:
            width, small = self._first_row(rows)
            self._plan = self._planned(small)
            self._follow(width)

    def _follow(self, width: int) -> None:
        assert self._plan is not None
        rates, ridges, widths = self._plan
        self._begin(RATES[:rates] if rates > 1 else (1.0,), RIDGES[:ridges], WIDTHS[:widths], width if widths else 0)
        self._foresee()

    def _restart(self, width: int) -> None:
        if self._plan is not None:
            self._follow(width)

    @property
    def _columns_held(self) -> int:
        """Numbers per feature of the diagonal members."""
        return self._held.shape[1]

    @property
    def _met(self) -> int:
        """Number of features in the matrices of the members on x."""
        return int(self._matrices[3][:, at.COUNT].max(initial=0))

    @property
    def _angles(self) -> int:
        """Number of random features per member on them."""
        return mix.WAVES if len(self._widths) else 0

    def _make_room(self, places: int) -> None:
        if places >= len(self._held):
            spare = 0 if self.features.kind == "array" else min(len(self._held), 2**20)
            more = places + 1 - len(self._held) + spare
            self._held = np.vstack([self._held, np.zeros((more, self._held.shape[1]))])
            self._slots = np.append(self._slots, np.full(more, -1, dtype=np.int32))
            self._arrays()
        self._room(min(places, at.LIMIT))

    def _room(self, need: int) -> None:
        """Grow the matrices to `need` features."""
        room = self._squares[0].shape[2]
        if len(self._ridges) and need > room:
            made = _squares([0] * len(self._squares[0]), min(max(need, 2 * room), at.LIMIT))
            for now, then in zip(made, self._squares, strict=True):
                now[tuple(map(slice, then.shape))] = then
            self._squares = made
            self._arrays()

    def _score(self, rows: Nonzeros, y: NDArray[np.int8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._settle(rows)
        self._make_room(self.features.count + 1)
        scores, mixed = np.empty((len(y), self.members + 1)), np.empty(len(y))
        play: Any = _loops.linear_mixture.play
        for here in stretches(self.rounds, len(y)):
            some = y, True, scores, mixed
            if here.stop - here.start < len(y):
                some = y[here], True, scores[here], mixed[here]
            play(*self._args, self.rounds + here.start, astuple(rows.part(here)), *some)
            if (self.rounds + here.stop) % at.REFRESH == 0:
                refresh(self._squares, np.append(self._ridges, np.ones(len(self._widths) + 1)))
        return mixed, scores

    def _look(self, rows: Nonzeros) -> NDArray[np.float64]:
        if self._plan is None:
            return np.zeros(len(rows.ends) - 1)
        args, places = self._args, up_to(rows.places, len(self._held) - 1)
        if len(self._ridges):
            places, need = seen_places(self._slots, rows, self._met)
            if need > self._squares[0].shape[2]:
                args = self._given((*roomy(self._squares[0], self._squares[1], need), *self._squares[2:]))
        count = len(rows.ends) - 1
        scores, mixed, none = np.empty((count, self.members + 1)), np.empty(count), np.zeros(0, dtype=np.int8)
        play: Any = _loops.linear_mixture.play
        for t in range(count):  # each row is predicted as the next round
            ends = rows.ends if count == 1 else rows.ends[t : t + 2]
            play(*args, self.rounds, (ends, places, rows.values), none, False, scores[t:], mixed[t:])
        return mixed

    def tracker(self) -> Tracker:
        """Return comparators for a game that starts now; its first row determines the members."""
        lanes, kappa = 2 * (1 if self.fast else len(RATES)), curvature(RADIUS)
        kappas = [0.0] * lanes + ([] if self.fast else [kappa] * (len(RIDGES) + len(WIDTHS))) + [0.0]  # the stack's
        if self.rounds:
            return MetricTracker(self.bias, kappas, keep=0, fits=False, frozen=FrozenWeights(0, stacked=True))
        return MetricTracker(self.bias, kappas, fits=False, frozen=FrozenWeights(stacked=True))

    def _of(self, j: int) -> tuple[Any, NDArray[np.float64], float, NDArray[np.int32]]:
        """Return arrays, sums, ridge and slots of a second-order member or the stack."""
        m = j - len(self._roots)
        parts = [part[m] for part in self._squares]
        if m < len(self._ridges):
            return parts, parts[3], float(self._ridges[m]), self._slots[: self.features.count + 1]
        return parts, parts[3], 1.0, np.arange(self.members if j == self.members else mix.WAVES, dtype=np.int32)

    def _steps(self, j: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return -b of a second-order member or the stack per place, and a bound on its error."""
        (held, *_), totals, _, slots = self._of(j)
        here = (slots >= 0) & (slots < totals[at.COUNT])
        added, counts, sizes = np.zeros((3, len(slots)))
        added[here] = -held[at.MOMENT, slots[here]]
        if j < len(self._roots) + len(self._ridges):
            counts[here], sizes[here] = held[at.SEEN, slots[here]], held[at.LARGEST, slots[here]]
        else:  # random features are cosines times sqrt 2, the stack's x are clipped scores
            counts[here], sizes[here] = totals[at.UPDATES], mix.CLIP if j == self.members else np.sqrt(2.0)
        return added, (1.0 + float(totals[at.FARTHEST]) / 4.0) * added_doubt(counts, sizes)

    def _diagonal(self, j: int) -> NDArray[np.float64]:
        """Return the metric of a diagonal member per place."""
        held, lanes = self._held[: self.features.count + 1], len(self._roots)
        under = held[:, 0] ** 2 + held[:, lane.SHARED + lanes + j]
        metric: NDArray[np.float64] = (held[:, 3] * np.sqrt(under) if self._roots[j] else under) * self._per_rate[j]
        return metric

    def facts(self) -> LinearMixtureFacts:
        gained, dual, least, updates = [], [], [], self.rounds + 20
        places, lanes = self.features.count + 1, len(self._roots)
        for j in range(self.members):
            if j < lanes:
                _, delta, linear, size = (float(value) for value in self._totals[:, j])
                low, high = Diagonal(self._diagonal(j)).inverse_between(
                    self._held[:places, lane.SHARED + j], np.zeros(places)
                )
            else:
                (held, _, sums, _), totals, ridge, slots = self._of(j)
                delta, linear, size = (float(totals[k]) for k in (at.GAINED, at.LINEAR, at.LINEAR_SIZE))
                low, high = full_metric(slots, ridge, held, sums, totals).inverse_between(*self._steps(j))
            gained.append(delta)
            off = updates * 2.0 * U0 * size
            dual.append(linear + off + 0.5 * high)
            least.append(linear - off + 0.5 * low)
        standing = self._standing
        return LinearMixtureFacts(
            self.rounds, self.names, standing[mix.LOSS].tolist(), standing[mix.LOG_WEIGHT].tolist(),
            (standing[mix.SLEPT] > 0.0).tolist(), gained, dual, least,
        )  # fmt: skip

    def goals(self) -> list[Goal]:
        """Return the objective of a comparator for each member that never slept; second-order members first."""
        facts, lanes = self.facts(), len(self._roots)
        found = []
        for j in sorted(range(self.members), key=lambda j: (j < lanes, facts.promised(j))):
            random = j >= lanes + len(self._ridges)
            if not facts.slept[j] and not (random and self.rounds > MOST_IMAGES):
                found.append(self._goal(j, facts.promised(j)))
        return found

    def own_weights(self) -> list[Own]:
        """Return the weights of the stack and of each member that never slept, as comparators for later rounds."""
        found = []
        for j in range(self.members + 1 if self._plan is not None else 0):
            if self._standing[mix.SLEPT, j] > 0.0:
                continue
            if j < len(self._roots):
                goal, metric = self._goal(j, float(self._totals[lane.DELTA, j])), self._diagonal(j)
                weights = -np.divide(goal.added[0], metric, out=np.zeros_like(metric), where=metric > 0.0)
            else:
                (held, *_), totals, _, slots = self._of(j)
                goal, weights, here = self._goal(j, float(totals[at.GAINED])), np.zeros(len(slots)), slots >= 0
                weights[here] = held[at.WEIGHT, slots[here]]
            found.append(Own(goal, weights))
        return found

    def images_from_here(self, members: list[int]) -> Images:
        """Return the random features of the next rows as these members compute them."""
        widths = self._widths[np.array(members) - len(self._roots) - len(self._ridges)]
        return Images(self._turns, self._shifts, widths, self._moments.copy(), self.rounds)

    def _goal(self, j: int, promised: float) -> Goal:
        """Return the objective of a comparator under the theorem of a member or the stack."""
        places, lanes, second = self.features.count + 1, len(self._roots), len(self._ridges)
        if j < lanes:
            held = self._held[:places]
            added = held[:, lane.SHARED + j], added_doubt(held[:, 2], held[:, 0])
            linear = float(self._totals[lane.LINEAR, j])
            return Goal("log", Diagonal(self._diagonal(j)), promised, added, j, linear=linear)
        (held, _, sums, _), totals, ridge, slots = self._of(j)
        full, ridges, here = full_metric(slots, ridge, held, sums, totals), np.zeros(len(slots)), slots >= 0
        ridges[here] = ridge * held[at.LARGEST, slots[here]] ** 2
        images = self._images(j - lanes - second) if lanes + second <= j < self.members else None
        linear, stack = float(totals[at.LINEAR]), j == self.members
        return Goal("parabola", Diagonal(ridges), promised, self._steps(j), j, images, full, linear, stack)

    def _images(self, m: int) -> Callable[[Any], Any]:
        """Return the random features of a game's rows from the first on, as a member computes them."""

        def images(rows: Nonzeros) -> Any:
            moments = np.zeros_like(self._moments)
            return Images(self._turns, self._shifts, self._widths[m : m + 1], moments, 0.0).of(rows)[0]

        return images

    def after_restoring(self, found: State) -> None:
        self._require_plan()
        self._foresee()
        self._room(found["matrices"][0].shape[2])
        self._arrays()
        for name in ("matrices", "waves", "stack"):
            for part, saved in zip(getattr(self, f"_{name}"), found[name], strict=True):
                part[tuple(map(slice, saved.shape))] = saved


def _squares(counts: list[int], room: int) -> tuple[NDArray[np.float64], ...]:
    """Return arrays of linear/_loops/second_order.py for several members, with `counts` initial features of size 1."""
    held, totals = np.zeros((len(counts), at.HELD, room)), np.zeros((len(counts), at.TOTALS))
    inverse, sums = np.zeros((2, len(counts), room, room))
    for m, count in enumerate(counts):
        held[m, at.LARGEST, :count] = 1.0
        inverse[m, range(count), range(count)] = 1.0
    totals[:, at.COUNT] = counts
    return held, inverse, sums, totals
