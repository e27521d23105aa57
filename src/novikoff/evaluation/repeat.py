"""repeat: play one learner on one stream with many seeds, to test bounds that hold in expectation.

Method
    One game per seed, on the same rows. The verdict on a theorem depends on its kind:
    kind D   holds in every run: one run that violates it is enough.
    kind E   E[observed] <= E[bound]. With d the mean over the runs of observed - bound and s its standard error, the
             bound is violated if d - 3 s > 0; if the bound is the same in every run, this means that the mean observed
             minus 3 standard errors exceeds it. For a lower bound, d + 3 s < 0. Below 30 seeds there is no verdict.
    kind P   the number of runs in which it held is reported, without a verdict.
    A theorem that was void, or had no certificate, in some run is void.
    A bound that holds with equality is called violated about once in 500 times, by chance.
Cost
    The stream in memory, and one game per seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from novikoff.core.adapt import is_stream
from novikoff.core.certificate import RANK, Certificate, Kind, Side, Status, bound_text, number
from novikoff.core.errors import InputError, SpecError, named, shown
from novikoff.core.executors import Count, Executor, Over, executor
from novikoff.core.stream import Stream
from novikoff.core.types import Adversary, Source
from novikoff.data.as_stream import check_count
from novikoff.data.cached import hold
from novikoff.evaluation.compare import Finished, Spread, ended, on_rows
from novikoff.game.play import play
from novikoff.game.prepare import Made, Recipe, RowShape, called, labels_apart, learner_for, recipe, stream_for
from novikoff.game.specs import Spec

FEWEST = 30
"""Minimum number of seeds for a verdict on an expectation."""

ERRORS = 3.0
"""Number of standard errors by which a mean must miss its bound to violate it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of all runs on one theorem.

    Attributes:
        theorem: Name of the theorem.
        kind: D (deterministic), E (in expectation) or P (with high probability).
        side: "upper" or "lower".
        quantity: Bounded quantity.
        observed: Spread of the quantity over the runs.
        bound: Common bound of the runs, or the mean of their bounds; None if the theorem is void.
        status: Status as in a certificate: violated, void, vacuous, conditional or valid.
        reason: Why the status is not valid; "" if it is.
    """

    theorem: str
    kind: Kind
    side: Side
    quantity: str
    observed: Spread
    bound: int | float | None
    status: Status
    reason: str = ""

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        if self.bound is None:
            return f"{self.theorem}: {self.status}{why}"
        sign = "<=" if self.side == "upper" else ">="
        promised = f"guaranteed {sign} {bound_text(self.bound, self.side)}"
        return f"{self.theorem}: {self.status}: mean {self.quantity} {in_words(self.observed)}, {promised}{why}"


@dataclass(frozen=True, slots=True)
class Repeated:
    """Games of one learner, one per seed.

    Attributes:
        learner: Name of the learner.
        source: Name of the source.
        seeds: Seeds played.
        games: Summary of each game.
        verdicts: One for each theorem.
    """

    learner: str
    source: str
    seeds: tuple[int, ...]
    games: tuple[Finished, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def mistakes(self) -> Spread:
        """Mean, deviation and standard error of the mistakes."""
        return Spread.of([game.mistakes for game in self.games])

    @property
    def expected(self) -> Spread | None:
        """Spread of the expected mistakes of a randomized learner; else None."""
        chances = [game.expected for game in self.games if game.expected is not None]
        return Spread.of(chances) if len(chances) == len(self.games) else None

    def __repr__(self) -> str:
        return (
            f"<Repeated {self.learner} on {self.source}, {len(self.seeds)} seeds: mistakes {in_words(self.mistakes)}>"
        )

    def __str__(self) -> str:
        drawn = "" if self.expected is None else f", {self.expected.mean:,.6g} expected"
        seeds = "1 seed" if len(self.seeds) == 1 else f"{len(self.seeds)} seeds"
        first = f"{self.learner} on {self.source}, {seeds}: mistakes {in_words(self.mistakes)}{drawn}"
        return "\n".join([first, *(f"  {verdict}" for verdict in self.verdicts)])


def repeat(
    learner: Made,
    stream: Source | Callable[[int], Adversary],
    seeds: Iterable[int] = range(FEWEST),
    rounds: int | None = None,
    passes: int = 1,
    threads: int | None = None,
    progress: Count | None = None,
    on: str | Executor = "threads",
) -> Repeated:
    """Play the same stream once per seed.

    Args:
        learner: Spec without a seed, or a function of a seed that returns a learner.
        stream: Any source that `play` accepts, or a function of a seed that returns an adversary, for bounds in
            expectation over the adversary's randomness.
        seeds: Distinct integers, one per game.
        rounds: Number of leading rows to play, or of rounds against an adversary; None for all.
        passes: Passes over the rows in each game.
        threads: Number of games to run at a time; None for one per core.
        progress: Callback that receives the number of finished games and the number of all games.
        on: Executor of the games: "threads", "ray", or the address of a Ray cluster.

    Returns:
        The games and a verdict on each theorem.

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10
        >>> nk.repeat("perceptron", rows, seeds=range(3), threads=1).mistakes.mean
        1.0
    """
    make = recipe("repeat", learner, stream)
    given: Any = seeds
    if not isinstance(given, Iterable):
        raise InputError("seeds must be a list of integers", f"got {shown(given)}", "Write seeds=range(30).")
    players, each = executor(on, threads), tuple(seeds)
    if not all(isinstance(seed, (int, np.integer)) for seed in each):
        do = labels_apart("repeat", given) or "Write seeds=range(30)."
        raise InputError("seeds must be integers", f"got {named(given)}", do)
    check_count("passes", passes, 1)
    if rounds is not None:
        check_count("rounds", rounds, 1)
    if not each or len(set(each)) < len(each):
        raise InputError(
            f"seeds must be distinct, and at least one: got {len(each)}, {len(set(each))} of them distinct.",
            do=labels_apart("repeat", given) if isinstance(given, np.ndarray) else "",
        )
    if isinstance(make, Spec) and "seed" in (make.named or {}):
        raise SpecError(f"the spec of the learner must not set a seed: got {learner!r}. Remove the seed.")
    opponent: Callable[[int], Adversary] | None = stream if _makes(stream) else None
    held = None if opponent else hold(stream_for(make, stream), rounds)
    make = make if held is None else on_rows(make, held)
    games = players.map(_game, each, make, held, opponent, rounds, passes, progress=progress)
    source = held.name if held is not None else getattr(stream, "__name__", "an adversary")
    judged = verdicts(each, [game.certificates for game in games])
    return Repeated(called(make), source, each, tuple(games), tuple(judged))


def _game(
    over: Over, seed: int, make: Recipe, held: Stream | None, opponent: Callable[[int], Adversary] | None,
    rounds: int | None, passes: int,
) -> Finished:  # fmt: skip
    """Play and certify one game with this seed."""
    environment = held if opponent is None else opponent(seed)
    assert environment is not None
    player = learner_for(make, RowShape.of(environment), {"seed": seed})
    ledger = play(player, environment, rounds if held is None else None, passes, observers=[ended(over)])
    return Finished.of(ledger, certify=True)


def _makes(stream: object) -> TypeGuard[Callable[[int], Adversary]]:
    """Return whether `stream` is a function that makes adversaries."""
    if isinstance(stream, Adversary) and not isinstance(stream, type):
        raise InputError(f"each seed needs a new adversary: got {stream.name}. Pass a function of a seed.")
    return callable(stream) and not is_stream(stream)


def verdicts(seeds: Sequence[int], runs: Sequence[Sequence[Certificate]]) -> list[Verdict]:
    """Return a verdict on every theorem with a certificate in some run, sorted by status as in a ledger."""
    found: dict[str, dict[int, Certificate]] = {}
    for seed, certificates in zip(seeds, runs, strict=True):
        for certificate in certificates:
            found.setdefault(certificate.theorem, {})[seed] = certificate
    return sorted((_verdict(seeds, certificates) for certificates in found.values()), key=lambda v: RANK[v.status])


def _verdict(seeds: Sequence[int], found: Mapping[int, Certificate]) -> Verdict:
    certificates = list(found.values())
    first = certificates[0]
    observed = Spread.of([certificate.observed for certificate in certificates])
    status, reason = _judged(seeds, found)
    bounds = [certificate.bound for certificate in certificates if certificate.bound is not None]
    bound = None if status == "void" or not bounds else _together(bounds, first.side)
    return Verdict(first.theorem, first.kind, first.side, first.quantity, observed, bound, status, reason)


def _judged(seeds: Sequence[int], found: Mapping[int, Certificate]) -> tuple[Status, str]:
    """Return the status of a theorem over all runs, and the reason."""
    certificates = list(found.values())
    if broken := [seed for seed, certificate in found.items() if certificate.status == "violated"]:
        return "violated", f"{_of(broken, seeds)}: {found[broken[0]].reason}"
    if void := [seed for seed in seeds if seed not in found or found[seed].bound is None]:
        return "void", f"{_of(void, seeds)}: {found[void[0]].reason if void[0] in found else 'no certificate'}"
    if certificates[0].kind == "E" and len(seeds) >= FEWEST and (miss := _miss(certificates)) is not None:
        return "violated", f"{miss}: please report this"
    worst = max(certificates, key=lambda certificate: RANK[certificate.status])
    reasons = [worst.reason] if worst.reason else []
    if certificates[0].kind == "E" and len(seeds) < FEWEST and worst.status != "vacuous":
        few = f"too few seeds: {len(seeds)}, a verdict on an expectation needs {FEWEST}"
        return "conditional", "; ".join([*reasons, few])
    if certificates[0].kind == "P":
        kept = sum(_excess(certificate) <= 0 for certificate in certificates)
        reasons.append(f"held in {kept} of {len(seeds)} runs")
    return worst.status, "; ".join(reasons)


def _miss(certificates: Sequence[Certificate]) -> str | None:
    """Return a sentence on how far the mean misses its bound; None if chance explains it."""
    excess = Spread.of([_excess(certificate) for certificate in certificates])
    error = excess.standard_error or 0.0
    if not excess.mean - ERRORS * error > 0.0:
        return None
    return f"the mean misses the bound by {number(excess.mean)}, with a standard error of {error:.3g}"


def _excess(certificate: Certificate) -> float:
    """Return the excess of the observed quantity over the bound, or its shortfall from a lower bound."""
    bound = certificate.bound if certificate.bound is not None else math.nan
    return certificate.observed - bound if certificate.side == "upper" else bound - certificate.observed


def _together(bounds: Sequence[int | float], side: Side) -> int | float:
    """Return the common bound of the runs, or the mean of their bounds rounded outward."""
    if all(bound == bounds[0] for bound in bounds):
        return bounds[0]
    away = 1 if side == "upper" else -1
    if all(isinstance(bound, int) for bound in bounds):
        return away * -(-away * sum(bounds) // len(bounds))
    return math.nextafter(math.fsum(bounds) / len(bounds), away * math.inf)


def _of(some: Sequence[int], seeds: Sequence[int]) -> str:
    return (
        f"with seed {some[0]}" if len(some) == 1 else f"in {len(some)} of {len(seeds)} runs, first with seed {some[0]}"
    )


def in_words(spread: Spread) -> str:
    """Return mean, deviation and standard error of the mean as text."""
    if spread.deviation is None:
        return f"{spread.mean:,.6g}"
    return f"{spread.mean:,.6g} ± {spread.deviation:.3g} (standard error {spread.standard_error:.3g})"
