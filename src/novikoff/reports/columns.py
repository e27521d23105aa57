"""Importance of the columns of a table, in reports: one line, a table if verbose, and a bar chart."""

from __future__ import annotations

from novikoff.core.errors import counted
from novikoff.game.explanation import Importance, held_importance
from novikoff.game.ledger import Ledger
from novikoff.reports.charts import Bar, Bars
from novikoff.reports.sentences import brief

NAMED, LISTED = 3, 20
"""Number of columns in the line, and in the table and the chart."""


def importance(ledger: Ledger) -> Importance | None:
    """Return the importance of the columns of a table by what the learner holds; None if there is none to report."""
    if ledger.adversary is not None or not ledger.rounds or (ledger.encoding is None and not ledger.feature_names):
        return None
    found = held_importance(ledger)
    return found if found is not None and len(found.columns) > 1 and any(found.values) else None


def line(found: Importance) -> str:
    """Return the columns that matter most, and what the numbers are."""
    pairs = [pair for pair in zip(found.columns, found.values, strict=True) if pair[1]][:NAMED]
    return f"most important: {', '.join(f'{name} {brief(value)}' for name, value in pairs)} ({found.unit})"


def table(found: Importance) -> list[str]:
    """Return a line per column, at most 20, for a terminal."""
    shown, more = found.columns[:LISTED], len(found.columns) - LISTED
    widest = max(map(len, shown))
    pairs = zip(shown, found.values, strict=False)
    lines = [f"importance of columns ({found.unit}):"]
    lines += [f"  {name:<{widest}}  {brief(value)}" for name, value in pairs]
    return [*lines, f"  and {counted(more, 'column')} more"] if more > 0 else lines


def bars(ledger: Ledger) -> list[Bars]:
    """Return the chart of importance; none if there is nothing to draw."""
    found = importance(ledger)
    if found is None:
        return []
    pairs = list(zip(found.columns, found.values, strict=True))[:LISTED]
    return [Bars(f"importance: {found.unit}", [Bar(name, 0.0, value, end=brief(value)) for name, value in pairs])]
