"""Proofs of the kernel Perceptron and the budget learners, followed through a game.

Let f be the function of the learner, u that of the comparator, m the mistakes so far, D the hinge loss of u on them.
Kernel Perceptron
    m - D  <=  <f,u>  <=  ||u|| ||f||  <=  ||u|| sqrt(sum of K(x,x) over the mistakes).
Randomized budget
    m - D  <=  <f,u> + the sum of <Q,u> over the removed examples Q, with their signs: each mistake adds at least
    1 - (hinge loss of u), and a removal moves <Q,u> from one term to the other. The mean of ||f'||^2 over the draws of
    a removal is at most (1 - 2/B) ||f||^2 + the mean of K(z,z) over the list + K(x,x).
Forgetron
    With the sums S1, S2, P, Lam of forgetron_pathwise.py, in units of K / radius^2, and R^2 the largest K(x,x):
    m  <=  2 <f,u> - ||f||^2/R^2 + costs  <=  R^2 ||u||^2 + costs,
    costs = 2 D + 2 ||u|| S1 + (P - S2)/R^2 + 2 Lam: the distance of f from R^2 u cannot fall below 0.
<f,u> is known when u is, at the end: the changes of f are kept until then, as coefficients of examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.proof import CLOSE, MOST_NUMBERS, Played, Proof, Value, below
from novikoff.core.types import Sparse
from novikoff.linear.proofs import least

Vector = NDArray[np.float64]
Rows = NDArray[np.float64] | Sparse

RISES = "<f,u> rises by 1 - loss of u or more"
GROWS = "||f||^2 grows by K(x,x) or less"
ONLY = "f changes at mistakes only"
UNIT = 2.0**-40
"""Rounding error of ||f||^2 relative to the size of its terms: 8,000 of them."""
MEAN = "mean ||f'||^2 over the draws <= (1 - 2/B) ||f||^2 + mean K + K(x,x)"


class Store:
    """Examples by content, each kept once."""

    def __init__(self) -> None:
        self._rows: list[Any] = []
        self._places: dict[bytes, int] = {}
        self.numbers = 0

    def place(self, row: Any) -> int:
        """Return the number of an example: an array, or (indices, values)."""
        if isinstance(row, tuple):
            order = np.argsort(row[0], kind="stable")
            row = np.asarray(row[0], dtype=np.uint32)[order], np.asarray(row[1], dtype=np.float64)[order]
            key = row[0].tobytes() + b"|" + row[1].tobytes()
        else:
            row = np.array(row, dtype=np.float64).reshape(-1)
            key = row.tobytes()
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self._rows)
            self._rows.append(row)
            self.numbers += sum(map(len, row)) if isinstance(row, tuple) else len(row)
        return found

    def rows(self, places: list[int]) -> Rows:
        """Return some examples as rows of one matrix."""
        found = [self._rows[place] for place in places]
        if not any(isinstance(row, tuple) for row in found):
            width = max(map(len, found), default=0)  # a learner may have been widened; new columns were 0
            return np.array([np.append(row, np.zeros(width - len(row))) for row in found]).reshape(len(found), width)
        pairs = [
            row if isinstance(row, tuple) else (np.flatnonzero(row).astype(np.uint32), row[row != 0.0]) for row in found
        ]
        ends = np.cumsum([0, *(len(row[0]) for row in pairs)]).astype(np.uint64)
        places_, numbers = np.concatenate([row[0] for row in pairs]), np.concatenate([row[1] for row in pairs])
        return Sparse(ends, places_, numbers, int(places_.max(initial=0)) + 1)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of f: coefficients added to examples; `x` is the example of the round.

    Attributes:
        round: Its round.
        mistake: Whether the round was a mistake.
        added: Change of the coefficient of each example.
        removed: Coefficients of the examples that were removed, with their signs.
        x: Number of the example of the round.
        y: Label.
        norm2: ||f||^2 after the change.
        self_value: K(x,x).
        sums: S1, S2, P, Lam and the largest K(x,x), in units of K / radius^2, of a Forgetron.
        size: Size of the terms of ||f||^2, summed over all changes so far.
    """

    round: int
    mistake: bool
    added: dict[int, float]
    removed: dict[int, float]
    x: int
    y: int
    norm2: float
    self_value: float
    sums: tuple[float, ...] = ()
    size: float = 0.0


class KernelPerceptronProof(Proof):
    """The proof of the kernel Perceptron's theorem; base class of those of the budget learners."""

    theorem = "kernel_hinge"
    potentials: tuple[str, ...] = ("<f,u>", "||f||^2", "supports")
    chain: tuple[str, ...] = ("m - D", "<f,u>", "||u|| ||f||", "||u|| sqrt(sum K(x,x))")
    scale = "mistakes"
    needs_rows = True

    def __init__(self, learner: Any) -> None:
        super().__init__()
        self._kernel, self._store = learner.similarity, Store()
        self._f = self._read(learner)
        self._start = dict(self._f)
        self._norm2 = self._start2 = float(learner.supports.norm2()) if self._f else 0.0
        self._size = 0.0  # of the terms of ||f||^2
        self._marks = learner.supports.coefficients.tobytes()
        self._changes: list[Change] = []
        self._kept = self._numbers = self._events = 0
        self._gains: list[float] = []
        self._ended_at = -1

    def _read(self, learner: Any) -> dict[int, float]:
        """Return f as coefficients of examples."""
        rows, coefficients = learner.supports.expansion()
        each = rows.rows() if isinstance(rows, Sparse) else rows
        found: dict[int, float] = {}
        for row, coefficient in zip(each, coefficients.tolist(), strict=True):
            place = self._store.place(row)
            found[place] = found.get(place, 0.0) + coefficient
        return found

    @property
    def events(self) -> int:
        return self._events

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        self.mistakes += played.mistake
        marks = learner.supports.coefficients.tobytes()
        if played.mistake or marks != self._marks:
            if not played.mistake:
                self.step(ONLY, False, played.round, "coefficients changed")
            self._note(learner, played)
            self._marks = marks
        return None, self._norm2, learner.supports.count

    def _note(self, learner: Any, played: Played) -> None:
        after = self._read(learner)
        x = self._store.place(played.x)
        added = {place: after.get(place, 0.0) - self._f.get(place, 0.0) for place in {**self._f, **after}}
        added = {place: value for place, value in added.items() if value}
        removed = self._removed(after, x, int(played.y)) if learner.supports.evictions else {}
        norm2, self_value, score, size = self._grown(added, x)
        self._events, self._size = self._events + 1, self._size + size
        if played.mistake:
            self._grow(learner, played, norm2, self_value, score, removed, max(size, self_value))
        self._numbers += len(added) + len(removed) + 8
        if self._kept == self._events - 1 and self._numbers + self._store.numbers <= MOST_NUMBERS:
            self._changes.append(
                Change(played.round, played.mistake, added, removed, x, int(played.y), norm2, self_value,
                       self._sums(learner), self._size)
            )  # fmt: skip
            self._kept += 1
        self._f, self._norm2 = after, norm2

    def _removed(self, after: dict[int, float], x: int, y: int) -> dict[int, float]:
        """Return the coefficients that left the list; x itself was appended with coefficient y."""
        left = {**self._f, x: self._f.get(x, 0.0) + y}
        found = {place: value - after.get(place, 0.0) for place, value in left.items()}
        return {place: value for place, value in found.items() if value}

    def _grown(self, added: dict[int, float], x: int) -> tuple[float, float, float, float]:
        """Return ||f||^2 after the change, K(x,x), f(x) before it, and the size of the terms of all three.

        The terms of K(z,x) are at most of size sqrt(K(z,z) K(x,x)).
        """
        old, new = list(self._f), [*added, x]
        values = np.array([*added.values(), 0.0])
        columns = self._store.rows(new)
        between = self._kernel.matrix(columns, columns)
        lengths = np.sqrt(np.maximum(np.diagonal(between), 0.0))
        scores, length = np.zeros(len(new)), 0.0
        if old:
            rows, coefficients = self._store.rows(old), np.array([self._f[place] for place in old])
            scores = coefficients @ self._kernel.matrix(rows, columns)
            length = float(np.abs(coefficients) @ np.sqrt(np.maximum(self._kernel.self_product(rows), 0.0)))
        norm2 = self._norm2 + 2.0 * float(values @ scores) + float(values @ between @ values)
        moved = float(np.abs(values) @ lengths) + float(lengths[-1])
        return norm2, float(between[-1, -1]), float(scores[-1]), moved * (2.0 * length + moved)

    def _grow(
        self, learner: object, played: Played, norm2: float, self_value: float, score: float,
        removed: dict[int, float], size: float,
    ) -> None:  # fmt: skip
        """Check the step of ||f||^2."""
        rise, found = norm2 - self._norm2, f"||f||^2 {self._norm2:.6g} -> {norm2:.6g}, K(x,x) = {self_value:.6g}"
        self.step(GROWS, below(rise, self_value, size), played.round, found)

    def _sums(self, learner: object) -> tuple[float, ...]:
        return ()

    def end(self, tracked: Any, tracker: Any) -> None:
        if self._ended_at == self._events:
            return
        self._ended_at = self._events
        self._gains = []
        self._steps.pop(RISES, None)
        self.restart()
        functions = None if tracker is None or tracked is None else tracker.functions()
        best = None if functions is None else least(tracked, len(functions[1]))
        if functions is None or best is None or not len(functions[0]):
            return
        u, sizes = self._comparator(functions[0], functions[1][best.direction - 1] / best.scale)
        self._follow(u, sizes, math.sqrt(max(float(best.square), 0.0)))

    def _comparator(self, points: Rows, beta: Vector) -> tuple[Vector, Vector]:
        """Return u(x) of every kept example, and the size of its terms."""
        every = self._store.rows(list(range(len(self._store._rows))))
        if not len(every):
            return np.zeros(0), np.zeros(0)
        if isinstance(every, np.ndarray) and isinstance(points, np.ndarray) and every.shape[1] != points.shape[1]:
            width = max(every.shape[1], points.shape[1])
            every, points = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (every, points))
        lengths = [np.sqrt(np.maximum(self._kernel.self_product(rows), 0.0)) for rows in (every, points)]
        return self._kernel.matrix(every, points) @ beta, lengths[0] * float(lengths[1] @ np.abs(beta))

    def _follow(self, u: Vector, sizes: Vector, norm: float) -> None:
        """Evaluate the chain at every change that was kept."""

        def on(f: dict[int, float]) -> tuple[float, float]:
            """Return <f,u> and the size of its terms."""
            return (sum(value * float(u[place]) for place, value in f.items()),
                    sum(abs(value) * float(sizes[place]) for place, value in f.items()))  # fmt: skip

        product, size = on(self._start)
        start, hinge, length2, moved, mistakes, total = product, 0.0, self._start2, 0.0, 0, self.mistakes
        for change in self._changes:
            (gain, more), (out, less) = on(change.added), on(change.removed)
            reach = more + less + float(sizes[change.x])
            product, moved, size = product + gain, moved + out, size + reach
            self._gains.append(product)
            if not change.mistake:
                continue
            loss = max(0.0, 1.0 - change.y * float(u[change.x]))
            mistakes, hinge, length2 = mistakes + 1, hinge + loss, length2 + change.self_value
            self.mistakes, size = mistakes, size + 1.0 + loss
            self._rise(change, gain + out, loss, 1.0 + loss + reach)
            values = self._values(change, mistakes, hinge, product - start, moved, length2, norm)
            self.point(change.round, values, self._size_of(change, size, norm))
        self.mistakes = total
        for _ in range(total - mistakes):  # changes that were not kept
            self.point(0, (None,) * len(self.chain))

    def _rise(self, change: Change, gain: float, loss: float, size: float) -> None:
        """Check the step of <f,u>."""
        found = f"<f,u> rises by {gain:.6g}, loss of u {loss:.6g}"
        self.step(RISES, below(1.0 - loss, gain, size), change.round, found)

    def _size_of(self, change: Change, size: float, norm: float) -> float:
        """Return the size of the chain's terms: an error of e in ||f||^2 is one of up to sqrt(e) in ||f||."""
        square = max(change.norm2, 0.0)
        return size + norm * (math.sqrt(square + UNIT * change.size) - math.sqrt(square)) / CLOSE

    def _values(
        self, change: Change, mistakes: int, hinge: float, product: float, moved: float, length2: float, norm: float
    ) -> tuple[float, ...]:
        length = norm * math.sqrt(max(change.norm2, 0.0))
        return mistakes - hinge, product, length, norm * math.sqrt(length2)

    def late(self, events: int, values: tuple[Value, ...]) -> tuple[Value, ...]:
        if events == 0:
            return (0.0 if not self._start else None), *values[1:]
        return (self._gains[events - 1] if events <= len(self._gains) else None), *values[1:]


class RandomizedBudgetProof(KernelPerceptronProof):
    """The pathwise part of the proof for the randomized budget, and its step for ||f||^2 in the mean."""

    theorem = "rbp_expected"
    chain = ("m - D", "<f,u> + sum <Q,u>")

    def _grow(
        self, learner: Any, played: Played, norm2: float, self_value: float, score: float,
        removed: dict[int, float], size: float,
    ) -> None:  # fmt: skip
        if not removed:
            super()._grow(learner, played, norm2, self_value, score, removed, size)
            return
        # Over the draw Q of B examples, whose sum is f: mean ||f - Q + y x||^2
        #   = ||f||^2 (1 - 2/B) + mean K(z,z) + K(x,x) + 2 y f(x) (1 - 1/B).
        budget, list_ = learner.budget, list(self._f)
        counts = np.array([abs(self._f[place]) for place in list_])
        selfs = float(counts @ self._kernel.self_product(self._store.rows(list_))) / budget
        limit = (1.0 - 2.0 / budget) * self._norm2 + selfs + self_value
        mean = limit + 2.0 * played.y * score * (1.0 - 1.0 / budget)
        found = f"mean {mean:.6g}, limit {limit:.6g}"
        self.step(MEAN, below(mean, limit, size + max(self._norm2, limit)), played.round, found)

    def _values(
        self, change: Change, mistakes: int, hinge: float, product: float, moved: float, length2: float, norm: float
    ) -> tuple[float, ...]:
        return mistakes - hinge, product + moved


class ForgetronProof(KernelPerceptronProof):
    """The pathwise proof of the Forgetron: the distance of f from R^2 u, and the costs of shrinking and removal."""

    theorem = "forgetron_pathwise"
    chain = ("m", "2 <f,u> - ||f||^2/R^2 + costs", "R^2 ||u||^2 + costs")

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self._radius2 = float(learner.radius2)
        self._sums_before = self._sums(learner)

    def _grow(
        self, learner: object, played: Played, norm2: float, self_value: float, score: float,
        removed: dict[int, float], size: float,
    ) -> None:  # fmt: skip
        claim = "y f(x) <= 0 at a mistake"
        self.step(claim, below(played.y * score, 0.0, size), played.round, f"y f(x) = {played.y * score:.6g}")

    def _sums(self, learner: Any) -> tuple[float, ...]:
        facts = learner.facts()
        return facts.S1, facts.S2, facts.P, facts.Lam

    def _rise(self, change: Change, gain: float, loss: float, size: float) -> None:
        """Check nothing: the Forgetron shrinks f, so <f,u> has no step of its own."""

    def _largest(self) -> float:
        """Return R^2 in units of K / radius^2; 1 if all examples are zero."""
        return max(one.self_value for one in self._changes) / self._radius2 or 1.0

    def _size_of(self, change: Change, size: float, norm: float) -> float:
        (S1, S2, P, Lam), length = change.sums, norm * math.sqrt(self._radius2)
        parts = (change.norm2 + change.size) / self._radius2 + P + S2
        return 2.0 * (size + length * S1 + Lam) + parts / self._largest()

    def _values(
        self, change: Change, mistakes: int, hinge: float, product: float, moved: float, length2: float, norm: float
    ) -> tuple[float, ...]:
        S1, S2, P, Lam = (now - then for now, then in zip(change.sums, self._sums_before, strict=True))
        square = self._largest()
        length = norm * math.sqrt(self._radius2)  # of u, in units of K / radius^2
        costs = 2.0 * hinge + 2.0 * length * S1 + (P - S2) / square + 2.0 * Lam
        low = 2.0 * product - change.norm2 / self._radius2 / square
        return mistakes, low + costs, square * length * length + costs
