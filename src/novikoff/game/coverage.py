"""Coverage of prediction sets, counted by the ledger independently of the learner."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.conformal._loops.conformal_layout import BINS
from novikoff.conformal.theorems.coverage_facts import CoverageFacts
from novikoff.core.state import MOST_ROUNDS, Argument, Count, Stateful, Sum, Tuples, Values, array, require
from novikoff.core.types import Standing, State
from novikoff.game.ledger_checks import next_mark
from novikoff.numerics.total import Total


@dataclass(slots=True)
class Coverage(Stateful):
    """Counts of the prediction sets of a game.

    Attributes:
        opened: The learner's `standing` when the game started.
        rounds: Rounds of each group.
        misses: Outcomes outside their set, per group.
        empty: Number of empty sets.
        everything: Number of sets that contain everything.
        size: Total number of labels in all sets, or total length of all finite intervals.
        curve: (t, misses, empty, everything, size) after t rounds, at the marks of the ledger's curve.
    """

    fields = (
        Argument("opened", dict),
        Values("rounds", int, None, 0, MOST_ROUNDS),
        Values("misses", int, "groups", 0, MOST_ROUNDS),
        Count("empty"),
        Count("everything"),
        Sum("size"),
        Tuples("curve", (int, int, int, int, float)),
        Count("next", 1, at="_next"),
    )
    described = "prediction sets"

    opened: Standing
    rounds: list[int] = field(default_factory=list)
    misses: list[int] = field(default_factory=list)
    empty: int = 0
    everything: int = 0
    size: Total = field(default_factory=Total)
    curve: list[tuple[int, int, int, int, float]] = field(default_factory=list)
    _next: int = 1

    @property
    def alpha(self) -> float:
        """Target miss rate."""
        return float(self.opened["alpha"])

    @property
    def most(self) -> int | None:
        """Number of labels; None for numbers, 0 if new labels may appear."""
        return self.opened["most"]

    @property
    def groups(self) -> int:
        """Number of groups seen."""
        return len(self.rounds)

    @property
    def played(self) -> int:
        """Rounds of all groups."""
        return sum(self.rounds)

    @property
    def missed(self) -> int:
        """Misses of all groups."""
        return sum(self.misses)

    @property
    def mean_size(self) -> float | None:
        """Mean number of labels in a set, or mean length of the finite intervals; None if there are none."""
        counted = self.played - (0 if self.most else self.everything)
        return float(self.size) / counted if counted else None

    def by_group(self, now: Standing) -> list[tuple[str, int, int]]:
        """Return name, rounds and misses of each group, including overlapping ones; `now` is the learner's standing."""
        # Counts are kept per cell; if groups overlap, a group is a union of cells.
        if not now["overlapping"]:
            return list(zip(now["groups"], self.rounds, self.misses, strict=False))
        items = now["overlapping"].items()

        def within(counts: list[int], cells: list[int]) -> int:
            return sum(counts[k] for k in cells if k < len(counts))

        return [(name, within(self.rounds, cells), within(self.misses, cells)) for name, cells in items]

    def write(self, sets: NDArray[np.float64]) -> None:
        """Add the sets of consecutive rounds.

        Args:
            sets: (rows, 3) group, whether the outcome was missed, size.
        """
        if not len(sets):
            return
        groups, missed, sizes = sets[:, 0].astype(np.int64), sets[:, 1] > 0.0, sets[:, 2]
        full = sizes == self.most if self.most else np.isinf(sizes)
        sums = np.cumsum([missed, sizes < 0.0, full], axis=1)  # (3, rows) misses, empty and full sets so far
        counted = np.where((sizes < 0.0) | np.isinf(sizes), 0.0, sizes)  # sizes that enter the mean
        at, done, before = 0, self.played, (self.missed, self.empty, self.everything)
        while self._next <= done + len(sets):
            stop = self._next - done
            self.size.add_all(counted[at:stop])
            at = stop
            misses, empty, everything = (then + int(new) for then, new in zip(before, sums[:, stop - 1], strict=True))
            self.curve.append((self._next, misses, empty, everything, float(self.size)))
            self._next = next_mark(self._next)
        self.size.add_all(counted[at:])
        self.empty += int(sums[1, -1])
        self.everything += int(sums[2, -1])
        count = max(int(groups.max()) + 1, len(self.rounds))
        for counts, found in ((self.rounds, groups), (self.misses, groups[missed])):
            counts += [0] * (count - len(counts))
            for group, new in enumerate(np.bincount(found, minlength=count).tolist()):
                counts[group] += new

    def facts(self, now: Standing) -> CoverageFacts:
        """Return the facts for the theorems; `now` is the learner's standing at the end."""
        then, groups = self.opened, len(now["groups"])
        before = [*then["thresholds"], *[now["start"]] * (groups - len(then["thresholds"]))]
        padded = [[*counts, *[0] * (groups - len(counts))] for counts in (self.rounds, self.misses)]
        # Pinball loss of every fixed threshold on the grid k / BINS, from the number and the sum of the scores per bin:
        # alpha (q - s) for scores s below q, (1 - alpha) (s - q) above. The regret bound adds the squared distance
        # from the initial thresholds, over twice the step; `best` minimises the total.
        counts, sums = now["history"] - then["history"]
        alpha, ends = now["alpha"], np.arange(BINS + 1) / BINS
        below = np.array([np.append(0.0, np.cumsum(part)) for part in (counts, sums)])
        above = below[:, -1:] - below
        paid = alpha * (ends * below[0] - below[1]) + (1.0 - alpha) * (above[1] - ends * above[0])
        begun = np.array([q for q, rounds in zip(before, padded[0], strict=True) if rounds])
        paid += ((ends[:, None] - begun) ** 2).sum(axis=1) / (2.0 * now["step"])
        best = int(np.argmin(paid))
        return CoverageFacts(
            alpha, now["step"], now["rule"], tuple(now["groups"]), tuple(padded[0]), tuple(padded[1]), tuple(before),
            tuple(now["thresholds"]), tuple(now["rounds"]), tuple(now["misses"]), now["pinball"] - then["pinball"],
            float(ends[best]), float(paid[best]), tuple(now["moved"]), now["start"],
            tuple((name, tuple(cells)) for name, cells in now["overlapping"].items()), now["columns"],
            now["delay"],
        )  # fmt: skip

    def check(self, rounds: int, now: Standing) -> None:
        """Raise `ModelFileError` if the counts contradict the ledger's rounds or the learner."""
        require(self.played == rounds, f"it must have a prediction set in each of its {rounds:,} rounds", self.played)
        require(self.missed + self.empty >= self.empty >= 0, "counts of sets must not be negative", self.empty)
        require(self.empty + self.everything <= rounds, "a set must not be both empty and full", self.everything)
        require(now["alpha"] == self.alpha, "its sets must have the alpha of the learner", self.alpha)
        since = sum(now["rounds"]) - sum(self.opened["rounds"])
        require(since == rounds, f"the learner must have predicted sets in its {rounds:,} rounds", since)

    def after_restoring(self, found: State) -> None:
        opened: Any = self.opened
        lists = [opened[name] for name in ("groups", "rounds", "misses", "thresholds", "moved")]
        sound = all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists)
        require(sound and isinstance(opened["overlapping"], dict), "sets must have one value per group", lists[0])
        numbers = [opened[name] for name in ("alpha", "step", "start", "pinball", "columns")]
        numbers += [value for one in lists[1:] for value in one]
        sound = all(type(value) in (int, float) and math.isfinite(value) for value in numbers)
        require(sound, "values of sets must be finite numbers", numbers)
        array(opened, "history", (2, BINS), of="sets")
        must = f"the next point of the curve of sets must be after its {self.played:,} rounds"
        sound = self._next == next_mark(self.curve[-1][0] if self.curve else 0) > self.played
        require(sound and [point[0] for point in self.curve] == sorted({point[0] for point in self.curve}), must,
                self._next)  # fmt: skip
