"""Comparators in hindsight for learners in a metric: the u whose bound is least, with the metric of the end.

Algorithm
    Where all rows of a game were kept, those that watched it are the best already (comparators/metric_tracker.py).
    Else the source is read again: a learner like the one that played plays the game once more, so that the scores are
    known again, and its comparators keep more rows. Where these are all, u is the best in hindsight; where they are
    not, u is fitted to those kept, each counting for as many as there are rounds to a row kept, and sees every row.
Promise
    The facts are those of the second game, which must end with the same numbers as the first, to the bit; else the
    source has changed, and nothing of it is used.
Cost
    A second game, `memory` bytes, and a fit.
Reference
    [liu1989] for the fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from novikoff.comparators.blocks import MEMORY
from novikoff.comparators.metric_facts import MetricComparatorFacts
from novikoff.comparators.metric_tracker import MetricTracker

CHANGED = "the source changed between the game and the comparators' reading"


@dataclass(frozen=True, slots=True)
class MetricHindsight:
    """What was found.

    facts     for the certificates, beside those of the comparators that watched the game
    reads     of the source after the game; 0 where all rows had been kept
    flaw      why nothing of it is used; "" if all is well
    seconds   that it took
    """

    facts: MetricComparatorFacts
    reads: int
    flaw: str
    seconds: float

    def joined(self, tracked: Any) -> MetricComparatorFacts:
        """The comparators that watched the game, and these."""
        known: MetricComparatorFacts = tracked
        if self.flaw or not self.reads:
            return known
        found = self.facts
        return replace(known, fitted=max(known.fitted, found.fitted),
                       comparators=known.comparators + found.comparators,
                       unexplained=max(known.unexplained, found.unexplained))  # fmt: skip


def look_again(
    tracker: MetricTracker, learner: Any, play: Callable[[Any, MetricTracker], object], now: Callable[[], float],
    memory: int = MEMORY,
) -> MetricHindsight:  # fmt: skip
    """Good comparators for a game that was played.

    tracker   of the game
    learner   that played it, from nothing learned
    play      plays it again: a learner like it, and comparators for it
    """
    began, facts = now(), tracker.facts(learner)
    if tracker.kept_all:
        return MetricHindsight(facts, 0, "", now() - began)
    kind = type(learner)
    fresh = kind(**{name: getattr(learner, name) for name in inspect.signature(kind).parameters})
    again: MetricTracker = fresh.tracker()
    again.keep, again.frozen, again.aim = memory, None, (learner.goals(), tracker.rows)
    play(fresh, again)
    same = again.rows == tracker.rows and fresh.facts() == learner.facts()
    return MetricHindsight(again.facts(learner) if same else facts, 1, "" if same else CHANGED, now() - began)
