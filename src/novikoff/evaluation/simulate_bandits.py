"""simulate_bandits: the pseudo-regret of several bandits over many simulated games, next to their theorems.

Method
    Game k is played on the table of `bandit-losses` with seed + k, the same for all learners; a learner that draws uses
    seed + k too. The means of the arms are known, so the pseudo-regret is: the sum of the gaps of the arms played. A
    theorem in expectation is evaluated on every game, with the true means; its verdict is that of `repeat`: violated if
    the mean of pseudo-regret - bound is more than 3 standard errors above 0. A theorem on the expected regret applies,
    because the expected pseudo-regret is at most the expected regret.
Cost
    One game per learner and seed, in parallel on threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.core.certificate import Certificate, number
from novikoff.core.errors import InputError, MismatchError, shown
from novikoff.core.executors import Count, Over, executor
from novikoff.core.learner import Learner
from novikoff.core.types import Run
from novikoff.data.as_stream import check_count
from novikoff.data.bandit_losses import BanditLosses
from novikoff.evaluation.compare import Spread
from novikoff.evaluation.repeat import Verdict, in_words, verdicts
from novikoff.game import specs

POINTS = 100
"""Number of points of a curve."""
BOUNDS = 50
"""Number of games over which the bound is averaged at each point of its curve."""

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulatedBandit:
    """Games of one bandit.

    Attributes:
        learner: Spec of the learner.
        pseudo_regret: Spread of the pseudo-regret over the games.
        curve: Pairs (t, mean pseudo-regret after t rounds).
        errors: Standard error of the mean at each point of the curve.
        bounds: Pairs (t, bound on the expected pseudo-regret after t rounds); empty without a theorem.
        verdict: Verdict on the theorem in expectation; None if the learner has none.
    """

    learner: str
    pseudo_regret: Spread
    curve: tuple[tuple[int, float], ...]
    errors: tuple[float, ...]
    bounds: tuple[tuple[int, float], ...]
    verdict: Verdict | None

    def __str__(self) -> str:
        promised = "no theorem in expectation" if self.verdict is None else str(self.verdict)
        return f"{self.learner}: pseudo-regret {in_words(self.pseudo_regret)}\n  {promised}"


@dataclass(frozen=True, slots=True, repr=False)
class BanditSimulation:
    """Simulated games of several bandits on the same tables.

    Attributes:
        source: Name of the stream of the first game.
        rounds: Rounds of each game.
        games: Number of games.
        learners: Results of each learner.
    """

    source: str
    rounds: int
    games: int
    learners: tuple[SimulatedBandit, ...]

    def __repr__(self) -> str:
        means = ", ".join(f"{one.learner} {one.pseudo_regret.mean:,.4g}" for one in self.learners)
        return f"<BanditSimulation {self.games:,} games of {self.rounds:,} rounds, mean pseudo-regret: {means}>"

    def __str__(self) -> str:
        first = f"{self.games:,} games of {self.rounds:,} rounds on {self.source}"
        return "\n".join([first, *map(str, self.learners)])


def simulate_bandits(
    learners: str | Sequence[str],
    stream: str | BanditLosses = "bandit-losses",
    games: int = 1000,
    threads: int | None = None,
    progress: Count | None = None,
) -> BanditSimulation:
    """Play bandits on many simulated tables and compare their pseudo-regret with their theorems.

    Args:
        learners: Specs of bandits, without arms and seed.
        stream: A `bandit-losses` stream without switches, or its spec; game k uses its seed + k.
        games: Number of games.
        threads: Number of games to run at a time; None for one per core.
        progress: Callback that receives the number of finished games and of all games.

    Returns:
        Mean pseudo-regret, its curve and the verdict on the theorem of each learner.

    Example:
        >>> import novikoff as nk
        >>> found = nk.simulate_bandits(["ucb1", "tsallis-inf"], "bandit-losses:means=[0.2,0.8],rounds=500", games=30)
        >>> [one.verdict.status for one in found.learners]
        ['valid', 'valid']
    """
    named = [learners] if isinstance(learners, str) else list(learners)
    opened: Any = specs.make(stream.removeprefix("stream:"), "stream") if isinstance(stream, str) else stream
    if not isinstance(opened, BanditLosses):
        raise InputError(f"a simulation needs a bandit-losses stream, whose means are known: got {shown(stream)}.")
    opened.means()  # refuse switches
    check_count("games", games, 1)
    seeds = range(opened.seed, opened.seed + games)
    done = 0

    def counted(finished: int, _: int) -> None:
        if progress is not None:
            progress(done + finished, games * len(named))

    found = []
    for spec in named:
        _made(spec, opened)  # refuse a wrong spec before the games
        played = executor("threads", threads).map(_game, seeds, spec, opened, progress=counted)
        found.append(_summary(spec, list(seeds), played))
        done += games
    return BanditSimulation(opened.name, opened.rounds, games, tuple(found))


@dataclass(frozen=True, slots=True)
class _Played:
    regrets: Vector  # pseudo-regret at each point of the grid
    grid: NDArray[np.int64]
    bounds: Vector  # bound at each point, or empty
    certificates: tuple[Certificate, ...]


def _made(spec: str, stream: BanditLosses) -> Learner:
    learner: Any = specs.make(spec, "learner", arms=len(stream.experts), seed=stream.seed)
    facts = learner.facts() if isinstance(learner, Learner) else None
    if not isinstance(facts, BanditFacts) or learner.task != "losses":
        raise MismatchError(f"the learner must be a bandit on losses, such as ucb1 or tsallis-inf: {spec} is not.")
    made: Learner = learner
    return made


def _game(over: Over, seed: int, spec: str, stream: BanditLosses) -> _Played:
    """Play and certify one game."""
    table = stream.reseeded(seed)
    learner, means = _made(spec, table), table.means()
    before: Any = learner.facts()
    arms, lost, expected = [], 0.0, 0.0
    for batch in table.batches():
        if over():
            break
        result: Any = learner.learn_many(batch)
        arms.append(result.predictions)
        lost, expected = lost + float(result.losses.sum()), expected + float(result.expected.sum())
    grid = np.unique(np.linspace(1, table.rounds, min(POINTS, table.rounds)).astype(np.int64))
    gaps = means - means.min()
    regrets = np.cumsum(gaps[np.concatenate(arms)])[grid - 1] if arms else np.zeros(len(grid))
    after: Any = learner.facts()
    if after.plays:
        after = replace(after, means=tuple(means.tolist()), source="prior" if table.uniform else "means")
    run = Run(before, after, table.rounds, 0, expected, (0, 0), False, not learner.draws, loss=lost)
    certificates = tuple(
        replace(one, observed=float(regrets[-1]), quantity="pseudo-regret") for one in _in_expectation(learner, run)
    )
    bounds = np.empty(0)
    if certificates and certificates[0].bound is not None and seed - stream.seed < BOUNDS:
        shorter = (replace(run, rounds=int(t), after=replace(after, rounds=int(t))) for t in grid)
        bounds = np.array([_in_expectation(learner, short)[0].bound for short in shorter], np.float64)
    return _Played(regrets, grid, bounds, certificates)


def _in_expectation(learner: Learner, run: Run[Any]) -> list[Certificate]:
    found = (theorem(run) for theorem in learner.promises if theorem.kind == "E")
    return [one for one in found if one is not None]


def _summary(spec: str, seeds: list[int], games: list[_Played]) -> SimulatedBandit:
    table = np.stack([game.regrets for game in games])
    grid = games[0].grid.tolist()
    means = table.mean(axis=0)
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(games)) if len(games) > 1 else np.zeros(len(grid))
    curves = [game.bounds for game in games if len(game.bounds)]
    bounds = np.stack(curves).mean(axis=0).tolist() if curves else []
    return SimulatedBandit(
        spec,
        Spread.of(table[:, -1].tolist()),
        tuple(zip(grid, means.tolist(), strict=True)),
        tuple(errors.tolist()),
        tuple(zip(grid, bounds, strict=True)) if bounds else (),
        _verdict(seeds, [game.certificates for game in games]),
    )


def _verdict(seeds: list[int], runs: list[tuple[Certificate, ...]]) -> Verdict | None:
    """Return the verdict on the theorem; it is vacuous if the mean bound is, not if that of some game is."""
    taken = [tuple(_informative(one) for one in certificates) for certificates in runs]
    judged = verdicts(seeds, taken)
    if not judged:
        return None
    trivial = float(np.mean([certificates[0].trivial for certificates in runs]))
    if judged[0].status == "valid" and judged[0].bound is not None and judged[0].bound >= trivial:
        reason = f"no better than the trivial bound {number(trivial)}"
        return replace(judged[0], status="vacuous", reason=reason)
    return judged[0]


def _informative(certificate: Certificate) -> Certificate:
    return replace(certificate, status="valid", reason="") if certificate.status == "vacuous" else certificate
