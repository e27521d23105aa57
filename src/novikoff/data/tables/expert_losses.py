"""Which loss a table of predictions is for, if its first rows leave no doubt; else it is asked for.

squared     all numbers from 0 to 1, some written with decimals: chances, and what came of them (the Brier score). No
            other value may come: the loss itself refuses what is not from 0 to 1
zero-one    the outcome and every expert have text: labels, which can only be compared
zero-one    two whole numbers, which outcomes and experts share, and no other value: with two values every loss is the
            zero-one loss, but for its scale. A third value that comes later is refused
Everything else has two readings. 50 and 60 for an outcome of 55 may be labels, both wrong, or degrees, both near.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, Option, SourceError, quoted
from novikoff.data.layout import WHOLE, is_number
from novikoff.data.tables.column import is_missing
from novikoff.data.tables.expert_cells import ZERO_ONE, Chosen

Pair = tuple[float, float]
"""The only two values that there are."""

LOSSES = Advice(
    "Pass ", ZERO_ONE, " (right or wrong), absolute or squared (numbers from 0 to 1), log (chances "
    "of an outcome that is 0 or 1) or table (the columns are losses)."
)  # fmt: skip
SHOWN = 3


def columns_of(chosen: Chosen, rows: Sequence[Sequence[str]]) -> dict[int, list[str]]:
    """The cells of the outcome and the experts, by the number of their column; short rows have fewer."""
    return {c: [cells[c] for cells in rows if c < len(cells)] for c in chosen.wanted}


def suggested(columns: Mapping[int, Sequence[str]], chosen: Chosen, name: str) -> tuple[str, Pair | None, list[str]]:
    """The loss for values like these, the pair of them if there are two, and a note that says so.

    A wrong cell among numbers (text, or 1e999) does not make them text: it is refused when its line comes.
    """
    there = {c: [cell.strip(" \t") for cell in cells if not is_missing(cell)] for c, cells in columns.items()}
    texts = {c: [cell for cell in cells if not is_number(cell)] for c, cells in there.items()}
    numbers = {cell: float(cell) for cells in there.values() for cell in cells if is_number(cell)}
    finite = {cell: value for cell, value in numbers.items() if math.isfinite(value)}
    decimals = [cell for cell in finite if not WHOLE.fullmatch(cell)]
    values = sorted(set(finite.values()))
    outcomes = chosen.outcome if chosen.outcome is not None else -1
    if texts[outcomes]:
        if all(texts[c] for c in chosen.used if there[c]):
            why = f"the first rows have text, such as {quoted(texts[outcomes][0])}"
            return "zero-one", None, [_note("zero-one", why)]
        numeric = next(c for c in chosen.used if there[c] and not texts[c])
        what = f"text as outcomes, such as {quoted(texts[outcomes][0])}, and numbers in {chosen.column(numeric)}"
    elif there[outcomes] and decimals and values[0] >= 0.0 and values[-1] <= 1.0:
        return "squared", None, [_note("squared", "the first rows have numbers from 0 to 1 with decimals")]
    elif any(texts.values()):
        textual = next(c for c in chosen.used if texts[c])
        what = f"numbers as outcomes, and text in {chosen.column(textual)}, such as {quoted(texts[textual][0])}"
    elif len(values) == 2 and not decimals and _share(there, outcomes, finite):
        why = f"the first rows have no other values than {shown(values[0])} and {shown(values[1])}"
        return "zero-one", (values[0], values[1]), [_note("zero-one", why)]
    elif not values:
        what = "no values"
    elif len(values) == 1:
        what = f"no other value than {shown(values[0])}"
    else:
        some = ", ".join(map(shown, values[:SHOWN])) + (" …" if len(values) > SHOWN else "")
        what = f"the numbers {some}, which may be labels or amounts"
    must = "a loss must be named where the values allow more than one"
    raise SourceError(must, f"the first rows of {name} have {what}", LOSSES)


def _share(there: Mapping[int, Sequence[str]], outcomes: int, numbers: Mapping[str, float]) -> bool:
    """Is an outcome among the predictions?"""
    came = {numbers.get(cell) for cell in there[outcomes]}
    return any(numbers.get(cell) in came for c, cells in there.items() if c != outcomes for cell in cells)


def _note(loss: str, why: str) -> str:
    return Advice(f"loss: {loss} ({why}); ", Option("loss"), " takes another")


def another(x: NDArray[np.float64], y: NDArray[np.float64], pair: Pair) -> tuple[int, int | None] | None:
    """Where the first value is that is not one of the pair: row, and expert (None: the outcome). NaN is silence."""
    wrong = (x != pair[0]) & (x != pair[1]) & ~np.isnan(x)
    wrong_outcomes = (y != pair[0]) & (y != pair[1])
    rows = np.flatnonzero(wrong.any(axis=1) | wrong_outcomes)
    if not len(rows):
        return None
    row = int(rows[0])
    return row, int(np.flatnonzero(wrong[row])[0]) if wrong[row].any() else None


def not_of_the_pair(value: str | float, pair: Sequence[float], outcome: bool) -> SourceError:
    """What is said of a third value."""
    what = "outcomes" if outcome else "predictions"
    must = f"{what} must be {shown(pair[0])} or {shown(pair[1])} where the zero-one loss was chosen by these two values"
    return SourceError(must, f"has {quoted(value) if isinstance(value, str) else shown(value)}", LOSSES)


def told_of(experts: Sequence[str], pair: Pair | None) -> dict[str, Any]:
    """What a game that goes on must find again: the experts, and the pair if there is one."""
    return {"experts": list(experts), **({} if pair is None else {"pair": list(pair)})}


def shown(value: float) -> str:
    """A number as a table has it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
