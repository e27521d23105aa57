"""Validation of a team: its learners, their common domain, and the separate coins of its rule."""

from __future__ import annotations

from collections.abc import Sequence

from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import InputError, MismatchError, counted, shown
from novikoff.core.learner import Learner
from novikoff.core.types import Domain
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.numerics.coins import MASK

KINDS = ("index", "point", "vector", "any")
"""Kinds of domains, the narrowest first."""


def team(learners: Sequence[Learner]) -> list[Learner]:
    """Return the learners; raise InputError if they cannot form a team."""
    if not isinstance(learners, (list, tuple)) or not learners:
        raise InputError(f"learners must be a non-empty list: got {shown(learners)}.")
    players: list[Learner] = []
    for k, learner in enumerate(learners):
        if not is_learner(learner):
            raise InputError(f"learners must be learners: number {k + 1} is {shown(learner)}.")
        player = adapt(learner)
        if player.learners:
            raise InputError(f"teams cannot be nested: number {k + 1} is a team. Put its learners in this team.")
        if player.covers:
            raise InputError(
                f"conformal learners cannot be in a team: number {k + 1} is one. Put conformal around the team."
            )
        if player.task == "regression":
            raise InputError(
                f"learners must be classifiers: number {k + 1} is a regressor. For regression use auto-regression."
            )
        if player.task == "multiclass" and player.fixed_labels:
            raise InputError(f"learners must have the labels -1 and +1: number {k + 1} has {player.labels} labels.")
        if player.task in ("advice", "losses"):
            raise InputError(f"learners must take examples: number {k + 1} needs {player.domain}.")
        if players and player.task != players[0].task:
            raise InputError(f"learners must all be binary or all be multiclass: number {k + 1} is {player.task}.")
        if any(learner is other for other in learners[:k]):
            raise InputError(f"learners must be different objects: number {k + 1} is repeated. Make another instance.")
        players.append(player)
    return players


def common_domain(learners: Sequence[Learner]) -> Domain:
    """Return the narrowest domain that every learner admits."""
    domains = [learner.domain for learner in learners]
    candidates = {*domains, Domain("point", 1), Domain("vector", 1)}  # a single number may also be an index
    shared = [domain for domain in candidates if all(one.admits(domain) for one in domains)]
    if not shared:
        raise MismatchError(
            f"the learners of a team must take the same examples: got {', '.join(map(str, domains))}. "
            "Choose learners for the same examples."
        )
    declared = [domain for domain in shared if domain in domains]
    return min(declared or shared, key=narrowness)


def narrowness(domain: Domain) -> tuple[bool, int, int]:
    """Return a sort key that puts the narrowest domains first: known widths, then by kind."""
    kind = KINDS.index(domain.kind) if domain.kind in KINDS else len(KINDS)
    return domain.width is None, kind, domain.width or 0


def checked_rule(rule: Learner, experts: int, taken: set[int | None]) -> Learner:
    """Return the caller's rule; raise InputError unless it fits the learners and its coins are separate."""
    player = adapt(rule) if is_learner(rule) else None
    if player is None or player.task != "losses" or not player.draws:
        raise InputError(
            f"a rule must be a learner on losses that draws: got {shown(rule)}. Create it with loss=table, play=draw."
        )
    rule = player
    if rule.domain.width != experts:
        raise InputError(
            f"a rule must have one expert for each of {counted(experts, 'learner')}: it has {rule.domain.width}."
        )
    if not isinstance(rule.facts(), ExpertsFacts):
        name = type(rule.original).__name__
        raise InputError(f"a rule must provide the facts of the expert theorems: {name} does not.")
    if word(rule) is None:
        raise InputError(f"a rule must have a seed: {type(rule.original).__name__} has none.")
    if word(rule) in taken:
        raise InputError(f"the rule and a learner must have different seeds: both have {word(rule)}. Change one.")
    return rule


def word(learner: Learner) -> int | None:
    """Return the part of its seed that determines its coins; None without a seed."""
    return None if learner.seed is None else int(learner.seed) & MASK
