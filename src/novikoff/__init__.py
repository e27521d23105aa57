"""novikoff: online learning with certificates.

    import novikoff as nk

    ledger = nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1), (9, 1)])
    for certificate in ledger.certify():
        print(certificate)

Names are imported on first use, so `import novikoff` is fast and does not import numpy.
"""

from __future__ import annotations

import importlib

from novikoff.core.registry import CATALOG, MANY

__version__ = "0.1.0"

_HOMES = {
    **{entry.attribute: entry.module for entry in CATALOG.values() if entry.room in ("learner", "format")},
    **{entry.attribute: entry.module for entry in MANY.values()},
    "Advice": "data.memory",
    "Arrays": "data.arrays",
    "Assumption": "core.certificate",
    "Ball": "convex.sets",
    "BanditSimulation": "evaluation.simulate_bandits",
    "Batch": "core.types",
    "Box": "convex.sets",
    "Certificate": "core.certificate",
    "Comparison": "evaluation.compare",
    "Domain": "core.types",
    "Costs": "evaluation.cost",
    "DriftTest": "drift.monitor",
    "Format": "core.registry",
    "Frame": "data.tables.table_formats",
    "Game": "game.game",
    "Labels": "core.types",
    "Learner": "core.learner",
    "Ledger": "game.ledger",
    "Losses": "data.memory",
    "Monitor": "drift.monitor",
    "NovikoffError": "core.errors",
    "Observer": "core.observer",
    "OnlineMinimisation": "convex.minimise_online",
    "OnlineMinimiser": "convex.minimise_online",
    "OnlineToBatch": "online_to_batch.finalize",
    "ParallelPerceptron": "distributed.mixed",
    "PermutationTest": "evaluation.permutation",
    "PolicyEvaluation": "bandits.off_policy",
    "Projected": "convex.sets",
    "Repeated": "evaluation.repeat",
    "Hindsight": "comparators.hindsight",
    "Pairs": "data.memory",
    "Forecast": "game.forecasting",
    "Run": "core.types",
    "Kernel": "kernel.kernels",
    "Simplex": "convex.sets",
    "SparseMatrix": "data.arrays",
    "Stream": "core.stream",
    "RegressionArrays": "data.memory",
    "ContextualLosses": "data.memory",
    "choose_threshold": "online_to_batch.choose_threshold",
    "comparator_losses": "distributed.comparator_losses",
    "compare": "evaluation.compare",
    "convert": "data.convert",
    "evaluate_policies": "bandits.off_policy",
    "explain": "reports.explanation",
    "finalize": "online_to_batch.finalize",
    "follow": "game.following",
    "forecast": "game.forecasting",
    "read_experts": "data.tables.read_experts",
    "hindsight": "comparators.hindsight",
    "list": "reports.listing",
    "load": "game.persistence",
    "make": "game.specs",
    "measure_cost": "evaluation.cost",
    "minimise_online": "convex.minimise_online",
    "parallel_gradient": "online_to_batch.parallel_gradient",
    "parallel_perceptron": "distributed.parallel_perceptron",
    "permutation_test": "evaluation.permutation",
    "play": "game.play",
    "read": "data.tables.reading",
    "register": "core.registry",
    "repeat": "evaluation.repeat",
    "report": "reports.page",
    "save": "game.persistence",
    "simulate_bandits": "evaluation.simulate_bandits",
    "wrap": "integrations.wrap",
}
_ROOMS = {
    "adversaries": "adversaries",
    "classes": "finite.classes",
    "synthetic": "data.synthetic",
    "testing": "testing",
}

__all__ = ["__version__", *sorted(_HOMES.keys() - {"list"}), *_ROOMS]  # a star import must not hide the built-in list


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"novikoff.{_HOMES[name]}"), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"novikoff.{_ROOMS[name]}")
    else:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "list"])
