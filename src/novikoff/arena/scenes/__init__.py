"""Games of the arena, one per file."""

from __future__ import annotations

from novikoff.arena.scenes.bandits import BanditsScene
from novikoff.arena.scenes.boxes import BoxesScene
from novikoff.arena.scenes.budgets import BudgetsScene
from novikoff.arena.scenes.coins import CoinsScene
from novikoff.arena.scenes.drift import DriftScene
from novikoff.arena.scenes.ellipsoid import EllipsoidScene
from novikoff.arena.scenes.experts import ExpertsScene
from novikoff.arena.scenes.halfspaces import HalfspacesScene, SphereScene
from novikoff.arena.scenes.hinge import HingeScene
from novikoff.arena.scenes.intervals import IntervalsScene
from novikoff.arena.scenes.kernel import KernelScene
from novikoff.arena.scenes.perceptron import PerceptronScene
from novikoff.arena.scenes.race import RaceScene
from novikoff.arena.scenes.risk import RiskScene
from novikoff.arena.scenes.scene import Scene
from novikoff.arena.scenes.spam import SpamScene
from novikoff.arena.scenes.thresholds import ThresholdsScene
from novikoff.arena.scenes.tree import TreeScene
from novikoff.core.errors import InputError

SCENES: dict[str, type[Scene]] = {
    one.name: one
    for one in (
        PerceptronScene, HingeScene, ThresholdsScene, RaceScene, BoxesScene, HalfspacesScene, SphereScene,
        EllipsoidScene, KernelScene, BudgetsScene, CoinsScene, ExpertsScene, BanditsScene, IntervalsScene, DriftScene,
        TreeScene, RiskScene, SpamScene,
    )
}  # fmt: skip
"""Scenes by name, in the order of the page."""


def describe() -> list[dict[str, object]]:
    """Return the scenes with their options and rivals, as the page needs them."""
    return [
        {
            "name": scene.name,
            "title": scene.title,
            "learner": scene.learner_name,
            "about": " ".join((scene.__doc__ or "").split()),
            "rivals": list(scene.rivals),
            "options": {name: list(limits) for name, limits in scene.options.items()},
        }
        for scene in SCENES.values()
    ]


def chosen(name: object) -> type[Scene]:
    """Return the scene with this name."""
    if not isinstance(name, str) or name not in SCENES:
        raise InputError(f"a game must be one of {', '.join(SCENES)}: got {name!r}.")
    return SCENES[name]
