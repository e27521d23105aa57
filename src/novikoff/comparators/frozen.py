"""Comparators that are copies of the learner's weights after 2^k rounds; each is evaluated until the next is made.

Algorithm
    After 2, 4, 8 ... rounds the weights of the learner, or of each of its members, are copied together with its sums so
    far; earlier copies are finished, and only a few of their sums are kept. Nothing is fitted, and no row is stored.
    The rows of a stack are the clipped scores that the members before it played.
Promise
    Losses of a copy are summed over every round until the next, rounded up (comparators/_loops/log_losses.py).
Cost
    O(non-zeros) per round for eight members, eight numbers per feature; members on random features O(256) each, plus
    the computation of these features; a stack O(members).
Reference
    [mcmahan2017].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators import _loops
from novikoff.comparators._loops import log_losses_layout as at
from novikoff.comparators.goal import HasOwnWeights, Own
from novikoff.comparators.random_features import Images
from novikoff.core.state import Array, Coded, Count, Field, Part, Stateful, array, require
from novikoff.core.types import State
from novikoff.numerics.sizes import U0, WAVES

Vector = NDArray[np.float64]
TOGETHER = 512
"""Number of rows whose random features are computed at a time: a few MB."""

GAINED, SQUARE, PULLED, PULL_DOUBT, BENT, BENT_DOUBT, PAID, LINEAR, NOTES = range(9)
"""Indices into the notes of a copy u: the sum of Delta so far; u'Au, or u'Lu with the ridge L; <G, u> and its possible
rounding error; u'Su, S the matrix added to the ridge, and its possible rounding error; the log losses and the g z of
the scores so far."""
LOST, DEFICIT, GREW, DUAL, LEAST, UNEXPLAINED, RESULTS = range(7)
"""Indices into the results of a copy: its loss and its deficit; the others as in `FrozenFacts`, without the g z."""


@dataclass(frozen=True, slots=True)
class FrozenFacts:
    """Facts about the copies of one member that were made after a given round.

    Attributes:
        member: Number of the member; 0 for a learner without members.
        after: Number of rounds before the first of the copies.
        before: Log loss of the member in these rounds, from its scores.
        paid: Log loss of the member since then.
        doubt: Possible rounding error of the two.
        log_loss: Log loss of the copies since then, rounded up.
        deficit: Excess of a second-order learner's approximation over that loss, rounded up; else 0.
        gained: Sum of the theorem since then, and the cost of the growth of the metric.
        dual: Upper bound on the same sum, computed from the learner's sums, rounding included.
        least: Lower bound on it.
        unexplained: Distance of the sums from the scores played, in units of rounding error.
    """

    member: int
    after: int
    before: float
    paid: float
    doubt: float
    log_loss: float
    deficit: float
    gained: float
    dual: float
    least: float
    unexplained: float

    @property
    def bound(self) -> float:
        """Bound on the log loss since the first copy."""
        return self.log_loss + self.deficit + max(self.gained, self.dual) + self.doubt


class Copies(NamedTuple):
    """Copies that are evaluated on the same rows.

    Attributes:
        owners: (K,) member that each copy belongs to; -1 for unused lanes.
        vectors: (places, K) weights, one copy per column.
        sums: (SUMS, K) sums of each copy.
    """

    owners: NDArray[np.int64]
    vectors: Vector
    sums: Vector


@dataclass(frozen=True)
class Lanes(Field):
    """State field of copies, or of a list of them, saved as owners, vectors and sums."""

    many: bool = False

    def pack(self, value: Any, owner: object) -> object:
        return [[part.copy() for part in one] for one in value] if self.many else [part.copy() for part in value]

    def unpack(self, state: State, owner: object, of: str) -> object:
        saved = state[self.name]
        require(isinstance(saved, (list, tuple)), f"{self.name} of {of} must be a list", saved)
        return [_lanes(one, of) for one in saved] if self.many else _lanes(saved, of)


class FrozenWeights(Stateful):
    """Copies of the weights of one learner that has `own_weights`.

    Args:
        first: Rounds before the first copy.
        stacked: Whether the last score is that of a stack on the others.
    """

    fields = (
        Array("told", (None, at.SCORE_SUMS), at="_score_sums", finite=False),
        Count("next"),
        Count("after", -1),
        Lanes("plain", at="_plain"),
        Part("images", Images, at="_images", optional=True),
        Lanes("on_images", True, at="_on_images"),
        Lanes("stack", at="_stack", optional=True),
        Coded("notes", lambda notes: _numbered(notes), lambda saved: _by_number(saved, NOTES), "arrays by member",
              at="_notes"),
        Coded("ended", lambda ended: [[after, _numbered(of_each)] for after, of_each in ended],
              lambda saved: [(int(after), _by_number(of_each, NOTES + RESULTS)) for after, of_each in saved],
              "rounds with arrays by member", at="_ended"),
    )  # fmt: skip
    described = "frozen copies"

    def __init__(self, first: int = 2, stacked: bool = False) -> None:
        self.next, self.after = int(first), -1
        self._plain = _copies([])  # on the original rows
        self._images: Images | None = None
        self._on_images: list[Copies] = []
        self._stack = _copies([]) if stacked else None  # on the scores of the other members
        self._notes: dict[int, Vector] = {}
        self._ended: list[tuple[int, dict[int, Vector]]] = []  # round of the copy, notes and results of each member
        self._score_sums = np.zeros((0, at.SCORE_SUMS))

    @property
    def losses(self) -> tuple[float, ...]:
        """Sum of the log losses of the scores, for each member."""
        return tuple(self._score_sums[:, at.LOSS].tolist())

    @property
    def _copied(self) -> list[Copies]:
        """All copies, in groups that see the same rows."""
        return [self._plain, *self._on_images, *([] if self._stack is None else [self._stack])]

    def freeze(self, learner: HasOwnWeights, rows: int) -> None:
        """Copy the weights of the learner, which has played `rows` rounds of the game."""
        members = learner.own_weights()
        if self.after >= 0:
            self._ended.append((self.after, self._results(members, rows)))
        waves = [one for one in members if one.goal.images is not None]
        stack = [one for one in members if one.goal.on_scores]
        self._plain = _copies([one for one in members if one.goal.images is None and not one.goal.on_scores])
        self._stack = None if self._stack is None else _copies(stack)
        self._images = learner.images_from_here([one.goal.member for one in waves]) if waves else None
        self._on_images = [_copies([one]) for one in waves]
        self._notes = {one.goal.member: self._noted(one) for one in members}
        self.after, self.next = rows, 2 * rows if rows else 2

    def _noted(self, member: Own) -> Vector:
        """Return the notes of a copy, in the order of `NOTES`."""
        goal, u = member
        (added, off), n = goal.added, int(np.count_nonzero(u))
        bent, bent_doubt = (0.0, 0.0) if goal.matrix is None else goal.matrix.bent(u)
        score_sums = self._score_sums[goal.member] if goal.member < len(self._score_sums) else np.zeros(at.SCORE_SUMS)
        return np.array([
            goal.promised, goal.penalty.square(u) * (1.0 - (n + 10) * 4.0 * U0), _dot(added, u),
            (n + 10) * 2.0 * U0 * _dot(np.abs(added), np.abs(u)) + _dot(off, np.abs(u)), bent, bent_doubt,
            score_sums[at.LOSS], score_sums[at.LINEAR],
        ])  # fmt: skip

    def see(self, rows: Any, y: NDArray[np.int8], scores: Vector, places: int, kappas: Vector) -> None:
        """Process the next rows and the scores that were played."""
        if not len(self._score_sums):
            self._score_sums = np.zeros((scores.shape[1], at.SCORE_SUMS))
            self._check_copies(scores.shape[1])
        check_members(len(self._score_sums), scores)
        known = self._plain.vectors
        if places > len(known):
            more = places - len(known) + min(len(known), 2**20)
            self._plain = self._plain._replace(vectors=np.vstack([known, np.zeros((more, known.shape[1]))]))
        see: Any = _loops.log_losses.see
        vectors, owners, sums = self._plain.vectors, self._plain.owners, self._plain.sums
        last = scores.shape[1] if self._stack is None else -1  # a stack has a kappa per row, and other rows
        members = np.ascontiguousarray(scores[:, :last])
        see(vectors, *rows, y, members, kappas[None, :last], owners, -1.0, sums, self._score_sums[:last])
        for start in range(0, len(y), TOGETHER):
            some = slice(start, start + TOGETHER)
            if self._stack is not None:
                self._see_stack(self._stack, y[some], scores[some])
            if self._images is None:
                continue
            part = rows._replace(ends=rows.ends[start : start + TOGETHER + 1])
            for copies, seen in zip(self._on_images, self._images.of(part), strict=True):
                j, score_sums = int(copies.owners[0]), np.zeros((1, at.SCORE_SUMS))
                played = np.ascontiguousarray(scores[some, j : j + 1])
                see(copies.vectors, *seen, y[some], played, kappas[None, j : j + 1], np.minimum(copies.owners, 0), -1.0,
                    copies.sums, score_sums)  # fmt: skip

    def _see_stack(self, stack: Copies, y: NDArray[np.int8], scores: Vector) -> None:
        """Process the rows of a stack, which are the scores of the members."""
        see: Any = _loops.log_losses.see
        stack_rows: Any = _loops.log_losses.stack_rows
        *rows, kappas = stack_rows(scores)
        played = np.ascontiguousarray(scores[:, -1:])
        owners = np.minimum(stack.owners, 0)  # its scores are the only column here
        see(stack.vectors, *rows, y, played, kappas, owners, -1.0, stack.sums, self._score_sums[-1:])

    def _check_copies(self, scores: int) -> None:
        """Raise an error if copies belong to other members, or a stack has too few weights."""
        stack = self._stack
        for copies in (self._plain, *self._on_images):
            _check_owners(copies, scores if stack is None else scores - 1)
        if stack is not None and len(stack.owners):
            _check_owners(stack, scores)
            must = f"the copy of a stack must have {scores - 1:,} weights"
            require(len(stack.vectors) >= scores - 1, must, stack.vectors.shape)

    def _results(self, members: Sequence[Own], rounds: int) -> dict[int, Vector]:
        """Return the results of every copy of an active member, with the learner's present metric."""
        found, slip = {}, (rounds + 20) * 2.0 * U0  # slip: relative error of a sum over all rounds
        for copies in self._copied:
            for goal, weights in members:
                if goal.member not in copies.owners:
                    continue
                k = copies.owners.tolist().index(goal.member)
                (added, off), note, sums = goal.added, self._notes[goal.member].tolist(), copies.sums[:, k].tolist()
                u, n = np.zeros(len(added)), min(len(added), len(copies.vectors))
                u[:n] = copies.vectors[:n, k]
                square, metric = goal.penalty.square(u), goal.matrix or goal.penalty
                low, high = metric.inverse_between(added, off, -weights)
                # The learner's sums have changed since the copy was made by <G, u> and u'Su over these rounds: the same
                # sums are computed from the scores that were played, and may differ by rounding only.
                kept = note[PULLED] + 0.5 * (note[BENT] + square)
                doubt = note[PULL_DOUBT] + 0.5 * note[BENT_DOUBT]
                size, slack = _dot(np.abs(added), np.abs(u)), _dot(off, np.abs(u)) + note[PULL_DOUBT]
                explained = slack + (slip + len(u) * 2.0 * U0) * (size + abs(note[PULLED]))
                explained += sums[at.PULL_DOUBT] + 2.0 * slip * abs(sums[at.PULL])
                unexplained = abs(_dot(added, u) - note[PULLED] - sums[at.PULL]) / (4.0 * explained + 1e-300)
                if goal.matrix is not None:
                    bent, bent_doubt = goal.matrix.bent(u)
                    explained = bent_doubt + note[BENT_DOUBT] + sums[at.BENT_DOUBT] + slip * sums[at.BENT]
                    off_by = abs(bent - note[BENT] - sums[at.BENT])
                    unexplained = max(unexplained, off_by / (4.0 * explained + 1e-300))
                result = np.empty(RESULTS)
                lost = result[LOST] = (sums[at.LOG] + sums[at.DOUBT]) * (1.0 + slip)
                result[DEFICIT] = 0.0
                if goal.loss == "parabola":
                    result[DEFICIT] = max((sums[at.PARABOLA] + sums[at.DOUBT]) * (1.0 + slip) - lost, 0.0)
                result[GREW] = goal.promised - note[GAINED] + 0.5 * (square - note[SQUARE])
                result[DUAL] = 0.5 * high + kept + doubt
                result[LEAST] = 0.5 * low + kept - doubt - (len(u) + 10) * 2.0 * U0 * square - slip * goal.promised
                result[UNEXPLAINED] = unexplained
                found[goal.member] = np.concatenate([self._notes[goal.member], result])
        return found

    def facts(self, learner: HasOwnWeights, rounds: int) -> tuple[FrozenFacts, ...]:
        """Return the facts of every active member for every round at which copies were made, by member."""
        if self.after < 0:
            return ()
        members, slip, found = learner.own_weights(), (rounds + 20) * 2.0 * U0, []
        copies = [*self._ended, (self.after, self._results(members, rounds))]
        for j in (one.goal.member for one in members):
            total, score_sums = (
                np.zeros(RESULTS),
                (self._score_sums[j] if j < len(self._score_sums) else np.zeros(at.SCORE_SUMS)).tolist(),
            )
            off = 2.0 * slip * score_sums[at.LINEAR_SIZE]
            # The copies from one round on are a sequence of comparators: their results add up, from the last backwards.
            for after, of_each in reversed(copies):
                if j not in of_each:
                    break
                note, result = of_each[j][:NOTES], of_each[j][NOTES:]
                unexplained = max(total[UNEXPLAINED], result[UNEXPLAINED])
                total = total + result
                total[UNEXPLAINED] = unexplained
                lost, deficit, grew, dual, least, unexplained = total.tolist()
                linear = score_sums[at.LINEAR] - float(note[LINEAR])
                found.append(
                    FrozenFacts(
                        member=j, after=after, before=float(note[PAID]), paid=score_sums[at.LOSS] - float(note[PAID]),
                        doubt=2.0 * slip * score_sums[at.LOSS], log_loss=lost, deficit=deficit, gained=grew,
                        dual=linear + off + dual, least=linear - off + least, unexplained=unexplained,
                    )
                )  # fmt: skip
        return tuple(one for one in found if math.isfinite(one.bound) and math.isfinite(one.unexplained))

    def after_restoring(self, found: State) -> None:
        known = len(self._score_sums) or None
        for copies, least in ((self._plain, 0), *((one, WAVES) for one in self._on_images)):
            check_lanes(copies, known, least)
        members = 0 if self._images is None else len(self._images.widths)
        require(len(self._on_images) == members, f"copies on random features must number {members}", self._on_images)
        for copies in self._on_images:
            sound = copies.owners.shape == (at.LANES,) and copies.owners[0] >= 0
            require(sound, "a copy must belong to a member", copies)
        if self._stack is not None:
            check_lanes(self._stack, known)
        if known is not None:
            self._check_copies(known)
        named = {int(j) for copies in self._copied for j in copies.owners if j >= 0}
        require(named == set(self._notes), "each copy must have notes", sorted(self._notes))


def _copies(members: Sequence[Own]) -> Copies:
    """Return copies of the weights of members that see the same rows."""
    owners, vectors = in_lanes([one.goal.member for one in members], [one.weights for one in members])
    return Copies(owners, vectors, np.zeros((at.SUMS, len(owners))))


def in_lanes(owners: Sequence[int], vectors: Sequence[Vector]) -> tuple[NDArray[np.int64], Vector]:
    """Return owners and vectors side by side in lanes of eight; unused lanes have owner -1 and zeros."""
    lanes = -(-len(owners) // at.LANES) * at.LANES
    whose, weights = np.full(lanes, -1, np.int64), np.zeros((max(map(len, vectors), default=0), lanes))
    whose[: len(owners)] = owners
    for k, vector in enumerate(vectors):
        weights[: len(vector), k] = vector
    return whose, weights


def _numbered(arrays: dict[int, Vector]) -> State:
    return {str(j): array.copy() for j, array in arrays.items()}


def _by_number(state: State, size: int) -> dict[int, Vector]:
    return {int(j): array(state, j, (size,), finite=False, of=FrozenWeights.described) for j in state}


def check_members(members: int, scores: Vector) -> None:
    """Raise an error if the number of members differs from that in the file."""
    if members != scores.shape[1]:
        require(False, f"sums in the file must have the learner's {scores.shape[1]:,} members", members)


def _check_owners(copies: Copies, members: int) -> None:
    sound = bool(((copies.owners >= -1) & (copies.owners < members)).all())
    require(sound, f"copies must belong to the {members:,} members", copies.owners)


def _lanes(saved: Any, of: str) -> Copies:
    """Return the copies of a saved state."""
    sound = isinstance(saved, (list, tuple)) and len(saved) == len(Copies._fields)
    require(sound, f"{of} must have owners, vectors and sums", saved)
    named = dict(zip(Copies._fields, saved, strict=True))
    return Copies(array(named, "owners", (None,), np.int64, of=of), array(named, "vectors", (None, None), of=of),
                  array(named, "sums", (at.SUMS, None), finite=False, of=of))  # fmt: skip


def check_lanes(copies: Copies, members: int | None, least: int = 0) -> None:
    """Raise `ModelFileError` for copies of a saved state that do not fit together.

    Args:
        copies: Owners, vectors and sums.
        members: Number of members; None if not known yet.
        least: Minimum number of places of the vectors.
    """
    lanes, shapes = len(copies.owners), [part.shape for part in copies]
    sound = lanes % at.LANES == 0 and copies.vectors.shape[1] == copies.sums.shape[1] == lanes
    require(sound, f"copies must come in lanes of {at.LANES}", shapes)
    _check_owners(copies, 2**31 if members is None else members)
    require(lanes == 0 or len(copies.vectors) >= least, f"copies must have {least:,} weights", shapes)


def _dot(a: Vector, b: Vector) -> float:
    """Return <a, b> without `@`, whose threads would compete with those that parse and play."""
    here = b != 0.0  # unused places then change nothing, not even the rounding
    return float(np.sum(a[here] * b[here]))
