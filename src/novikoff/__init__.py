"""novikoff: online learning that keeps its word.

    import novikoff as nk

    ledger = nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1), (9, 1)])
    for certificate in ledger.certify():
        print(certificate)

Names are imported when first used, so `import novikoff` is quick and imports no numpy.
"""

from __future__ import annotations

import importlib
from typing import Any

from novikoff.registry import CATALOG, MANY

__version__ = "0.1.0"

_HOMES = {
    **{entry.attribute: entry.module for entry in CATALOG.values() if entry.room in ("learner", "format")},
    **{entry.attribute: entry.module for entry in MANY.values()},
    "Advice": "sources.advice",
    "Arrays": "sources.arrays",
    "Assumption": "certificate",
    "Batch": "types",
    "Certificate": "certificate",
    "Domain": "types",
    "DriftTest": "drift",
    "Format": "registry",
    "Frame": "tables.formats",
    "Game": "game",
    "Labels": "types",
    "Ledger": "ledger",
    "Losses": "sources.advice",
    "Monitor": "drift",
    "NovikoffError": "errors",
    "Observer": "observer",
    "Pairs": "sources.pairs",
    "Run": "types",
    "Similarity": "similarity",
    "SparseMatrix": "sources.frames",
    "Stream": "stream",
    "Targets": "sources.targets",
    "Contexts": "sources.contexts",
    "average": "averaging",
    "bandit": "off_policy",
    "comparator_sums": "summing",
    "compare": "comparison",
    "convert": "sources.convert",
    "expert_table": "tables.expert_table",
    "hindsight": "comparators.hindsight",
    "keep": "online_to_batch",
    "load": "model",
    "make": "catalog",
    "mix": "mixing",
    "permutation_test": "permutation",
    "play": "playing",
    "read": "tables.reading",
    "register": "registry",
    "repeat": "repetition",
    "report": "reports.page",
    "save": "model",
    "wrap": "learners.wrapped",
}
_ROOMS = ("adversaries", "classes", "synthetic", "testing")

__all__ = ["__version__", *sorted(_HOMES), *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"novikoff.{_HOMES[name]}"), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"novikoff.{name}")
    else:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
