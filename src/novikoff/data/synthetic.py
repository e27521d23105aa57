"""Synthetic streams, generated from a seed: `nk.synthetic.separable(rounds=10_000, width=20, margin=0.1)`."""

from __future__ import annotations

from novikoff.data.bandit_losses import BanditLosses
from novikoff.data.generated import Drifting, Noisy, Separable
from novikoff.data.hard_order import HardOrder
from novikoff.data.random_losses import RandomLosses

separable = Separable
noisy = Noisy
drifting = Drifting
hard_order = HardOrder
random_losses = RandomLosses
bandit_losses = BanditLosses

__all__ = ["bandit_losses", "drifting", "hard_order", "noisy", "random_losses", "separable"]
