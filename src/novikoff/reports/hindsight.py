"""The best comparators in hindsight: in words, as JSON, and as a level of a plot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from novikoff.comparators.hindsight import Hindsight
from novikoff.comparators.limits import Bracket
from novikoff.comparators.metric_hindsight import MetricHindsight
from novikoff.core.certificate import bound_text, inseparable, none_separates
from novikoff.core.errors import counted
from novikoff.kernel.comparators.hindsight import KernelHindsight


@dataclass(frozen=True, slots=True)
class Description:
    """Distance of the comparators from the best possible ones.

    Attributes:
        lines: Sentences.
        plain: JSON values.
        levels: (label, mistakes) that the best comparator would guarantee, at least.
    """

    lines: list[str]
    plain: dict[str, Any]
    levels: list[tuple[str, float]]


def describe(found: Hindsight | MetricHindsight | KernelHindsight) -> Description:
    """Describe linear comparators, or those in a metric or in the feature space of a kernel."""
    if isinstance(found, KernelHindsight):
        margin = [found.margin.low, found.margin.high if math.isfinite(found.margin.high) else None]
        plain = {"margin": margin, "flaw": found.flaw, "reads": found.reads, "seconds": found.seconds}
        return Description([f"hindsight: {_in_a_kernel(found)}"], plain, [])
    if isinstance(found, MetricHindsight):
        plain = {"flaw": found.flaw, "fitted": found.facts.fitted, "reads": found.reads, "seconds": found.seconds}
        return Description([f"hindsight: {_in_a_metric(found)}"], plain, [])
    reason = found.facts.invalid_reason
    least = math.floor(min(found.hinge.low, found.lengths.low)) if not reason else 0
    return Description(
        [f"hindsight: {line}" for line in _linear(found)],
        _plain(found),
        [] if reason else [("no linear comparator guarantees less", least)],
    )


def _in_a_kernel(found: KernelHindsight) -> str:
    if found.flaw:
        return f"no comparator was found: {found.flaw}"
    if found.witness is not None:
        return inseparable(found.witness.text(found.space))
    if found.separator is None:
        return none_separates()
    return f"{_best_margin(found.margin)}, of a function of {counted(found.points, 'row')}"


def _best_margin(margin: Bracket) -> str:
    low, high = bound_text(margin.low, "lower"), bound_text(margin.high, "upper")
    return f"the best margin is between {low} and {high}"


def _in_a_metric(found: MetricHindsight) -> str:
    fitted, rows = found.facts.fitted, found.facts.rows
    if found.flaw:
        return f"no comparator was found: {found.flaw}"
    if fitted == rows:
        return f"the comparators are optimal for all {rows:,} rows"
    return f"the comparators are optimal for {fitted:,} of {rows:,} rows and were evaluated on all"


def _linear(found: Hindsight) -> Iterator[str]:
    if found.facts.invalid_reason:
        yield f"no comparator was found: {found.facts.invalid_reason}"
        return
    if found.facts.witness is not None:
        yield inseparable(found.facts.witness.text())
    elif found.margin is not None and found.margin.high > 0.0:
        yield _best_margin(found.margin)
    brackets = (("lengths", found.lengths), ("hinge", found.hinge), ("squared hinge", found.squared_hinge))
    for name, bracket in brackets:
        if bracket is not None:
            least, ours = math.floor(bracket.low), math.floor(bracket.high)
            yield f"{name} bound: {ours:,} found, {least:,} is the least possible"
    where = "in memory" if found.in_memory else f"read {counted(found.reads, 'time')}"
    yield f"{found.epochs:,} epochs, {found.seconds:.2f} s, {where}"


def _plain(found: Hindsight) -> dict[str, object]:
    brackets = {name: getattr(found, name) for name in ("margin", "hinge", "squared_hinge", "lengths")}
    plain: dict[str, object] = {
        name: None if bracket is None else [bracket.low, bracket.high if math.isfinite(bracket.high) else None]
        for name, bracket in brackets.items()
    }
    rest = {name: getattr(found, name) for name in ("epochs", "reads", "seconds")}
    return {**plain, "flaw": found.facts.invalid_reason, **rest}
