"""`list`: every name that `run`, `duel`, `experts` and `explain` take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import get_args

from novikoff.catalog import CATALOG, Room, names
from novikoff.report.terminal import Out
from novikoff.sources.demo import DEMOS

TITLES: Mapping[str, str] = {
    "learner": "learners (run, duel, experts)",
    "adversary": "adversaries (duel)",
    "stream": "generated streams (run: stream:noisy:width=50,noise=0.2)",
    "class": "classes of hypotheses (in brackets: halving:[thresholds:n=100])",
}


def list_all(as_json: bool) -> None:
    """Print the catalog, room by room, and the embedded sources."""
    if as_json:
        rooms = {room: {name: CATALOG[name].arguments() for name in names(room)} for room in get_args(Room)}
        print(json.dumps({**rooms, "source": [f"demo:{name}" for name in DEMOS]}))
        return
    out = Out()
    width = max(map(len, CATALOG))
    for room in get_args(Room):
        out.line(TITLES[room], "bold")
        for name in names(room):
            out.line(f"  {name:<{width}} {CATALOG[name].summary()}")
            if arguments := CATALOG[name].arguments():
                out.line(f"  {'':<{width}} {arguments}", "dim")
        out.line()
    out.line("sources (run)", "bold")
    out.line("  a file, " + ", ".join(f"demo:{name}" for name in DEMOS))
