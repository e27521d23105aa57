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

__version__ = "0.1.0"

_HOMES = {
    "Arrays": "sources.arrays",
    "Assumption": "certificate",
    "Batch": "types",
    "Certificate": "certificate",
    "Consistent": "learners.consistent",
    "Domain": "types",
    "Game": "game",
    "Halving": "learners.halving",
    "Labels": "types",
    "Ledger": "ledger",
    "NovikoffError": "errors",
    "Pairs": "sources.pairs",
    "Run": "types",
    "ThresholdHalving": "learners.threshold_halving",
    "load": "model",
    "play": "game",
    "save": "model",
}
_ROOMS = ("classes",)

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
