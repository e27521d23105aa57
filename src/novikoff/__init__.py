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
    "AdaHedge": "learners.ada_hedge",
    "Advice": "sources.advice",
    "Arrays": "sources.arrays",
    "Arrow": "sources.arrow",
    "Assumption": "certificate",
    "Batch": "types",
    "CSV": "sources.csv",
    "Certificate": "certificate",
    "Consistent": "learners.consistent",
    "Constant": "learners.constant",
    "CoverHalving": "learners.cover_halving",
    "CrammerKandolaSinger": "learners.crammer_kandola_singer",
    "Domain": "types",
    "DriftTest": "drift",
    "Ellipsoid": "learners.ellipsoid",
    "ExponentialWeights": "learners.exponential_weights",
    "FixedShare": "learners.fixed_share",
    "Forgetron": "learners.forgetron",
    "Frame": "sources.frames",
    "Game": "game",
    "Halving": "learners.halving",
    "Hedge": "learners.hedge",
    "JSONL": "sources.jsonl",
    "KernelPerceptron": "learners.kernel_perceptron",
    "Labels": "types",
    "Ledger": "ledger",
    "Losses": "sources.advice",
    "Midpoint": "learners.midpoint",
    "Monitor": "drift",
    "NovikoffError": "errors",
    "OnlineGradient": "learners.online_gradient",
    "Pairs": "sources.pairs",
    "Perceptron": "learners.perceptron",
    "RandomizedBudgetPerceptron": "learners.randomized_budget",
    "RandomizedWeightedMajority": "learners.randomized_weighted_majority",
    "RectangleHalving": "learners.rectangle_halving",
    "Run": "types",
    "Similarity": "similarity",
    "SleepingExperts": "learners.sleeping_experts",
    "SparseMatrix": "sources.frames",
    "Svmlight": "sources.svmlight",
    "Targets": "sources.targets",
    "Text": "sources.text",
    "ThresholdHalving": "learners.threshold_halving",
    "TighterPerceptron": "learners.tighter",
    "TightestBox": "learners.tightest_box",
    "VW": "sources.vw",
    "WeightedMajority": "learners.weighted_majority",
    "compare": "comparison",
    "convert": "sources.convert",
    "expert_table": "sources.expert_table",
    "hindsight": "comparators.hindsight",
    "keep": "online_to_batch",
    "load": "model",
    "make": "catalog",
    "permutation_test": "permutation",
    "play": "game",
    "read": "sources.reader",
    "repeat": "repetition",
    "save": "model",
}
_ROOMS = ("adversaries", "classes", "streams")

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
