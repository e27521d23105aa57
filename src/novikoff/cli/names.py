"""`list`: every name that `run`, `duel`, `experts`, `bandit` and `explain` accept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import get_args

from novikoff.core.errors import SpecError
from novikoff.core.registry import Room, entry, for_multiclass, names
from novikoff.data.demo import DEMOS
from novikoff.reports.terminal import Out

TITLES: Mapping[str, str] = {
    "learner": "learners (run, duel, experts, bandit)",
    "adversary": "adversaries (duel)",
    "stream": "generated streams (run: stream:noisy:width=50,noise=0.2)",
    "class": "hypothesis classes (in brackets: halving:[thresholds:n=100])",
    "format": "file formats (run: --format csv; detected by default)",
}
"""Heading of each kind of name."""


def list_all(as_json: bool) -> None:
    """Print all registered names by kind, and the embedded sources."""
    rooms = {room: {name: _entry(name, room) for name in names(room)} for room in get_args(Room)}
    if as_json:
        plain = {room: {name: arguments for name, (_, arguments) in known.items()} for room, known in rooms.items()}
        print(json.dumps({**plain, "source": [f"demo:{name}" for name in DEMOS]}))
        return
    out = Out()
    width = max(len(name) for known in rooms.values() for name in known)
    for room, known in rooms.items():
        out.line(TITLES[room], "bold")
        for name, (summary, arguments) in known.items():
            out.line(f"  {name:<{width}} {summary}")
            if arguments:
                out.line(f"  {'':<{width}} {arguments}", "dim")
        out.line()
    out.line("sources (run)", "bold")
    out.line("  a file, " + ", ".join(f"demo:{name}" for name in DEMOS))


def _entry(name: str, room: Room) -> tuple[str, str]:
    """Return summary and arguments of a name, or why it cannot be loaded if its package is broken."""
    try:
        found = entry(name, room)
        multiclass = "; multiclass" if room == "learner" and for_multiclass(name) else ""
        return found.summary() + multiclass, found.arguments()
    except SpecError as error:
        return str(error), ""
