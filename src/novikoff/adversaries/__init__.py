"""Adaptive adversaries, each with a witness: a target consistent with all its labels."""

# Made by `make names` from core/registry.py: do not edit.

from __future__ import annotations

from novikoff.adversaries.bisection import Bisection
from novikoff.adversaries.budget_ruin import BudgetRuin
from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.adversaries.majority_flip import MajorityFlip
from novikoff.adversaries.orthogonal import Orthogonal
from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.adversaries.rectangle_bisection import RectangleBisection
from novikoff.adversaries.spammer import Spammer

__all__ = [
    "Bisection",
    "BudgetRuin",
    "CoinFlip",
    "Contrarian",
    "GridBisection",
    "MajorityFlip",
    "Orthogonal",
    "PlaneBisection",
    "RectangleBisection",
    "Spammer",
]
