"""Comparators in hindsight for learners in a metric: the u whose bound is least, with the final metric.

Algorithm
    If all rows of a game were kept, the comparators of the game are already the best (comparators/metric_tracker.py).
    Otherwise the source is read again: a fresh copy of the learner replays the game, which reproduces the scores, and
    its comparators keep more rows. If all rows fit, u is the best in hindsight; if not, u is fitted to the kept rows,
    each weighted by the number of rounds per kept row, and evaluated on every row.
Promise
    The facts are those of the second game, which must end with the same numbers as the first, to the bit; otherwise the
    source has changed, and the result is not used.
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
from novikoff.comparators.hindsight import CHANGED
from novikoff.comparators.metric_facts import MetricComparatorFacts
from novikoff.comparators.metric_tracker import MetricTracker

"""Reason why facts are not used: the source changed."""


@dataclass(frozen=True, slots=True)
class MetricHindsight:
    """Comparators found in hindsight.

    Attributes:
        facts: Facts for the certificates, in addition to those of the comparators during the game.
        reads: Number of times the source was read after the game; 0 if all rows had been kept.
        flaw: Reason why the result is not used; "" if it is.
        seconds: Duration.
    """

    facts: MetricComparatorFacts
    reads: int
    flaw: str
    seconds: float

    def joined(self, tracked: Any) -> MetricComparatorFacts:
        """Return these facts joined with those of the comparators during the game."""
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
    """Find good comparators for a game that was played.

    Args:
        tracker: Tracker of the game.
        learner: Learner that played it, untrained at the start.
        play: Function that plays the game again, given a fresh learner and its tracker.
        now: Clock.
        memory: Bytes of rows to keep.
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
