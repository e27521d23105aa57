"""parallel_gradient: train one regression model on shards of a source, one pass over each, with a bound on its risk.

Algorithm
    The source is cut into shards (`Stream.parts`). Online gradient descent plays each shard once, from zero weights, on
    the chosen executor (executors.py). The result is the mean of the weights before each round of all shards: the mean
    of the shards' means, each weighted by its number of rounds.
Promise
    convex/theorems/average_risk.py and average_risk_always.py, whose proofs have a line on shards: with n the rows of
    all shards the expected loss on a new example is at most the mean loss of all rounds plus a deviation term for n
    rows. Shards do not enlarge that term; they only enlarge the mean loss, as each starts from zero weights. The result
    is the same to the bit on every executor.
Cost
    One pass. Each shard returns only its weights, 8 bytes per feature.
Reference
    [cesabianchi2004].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff.comparators.rereading import note_skipped
from novikoff.convex.online_gradient import OnlineGradient
from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts
from novikoff.core.certificate import Assumption
from novikoff.core.errors import InputError
from novikoff.core.executors import Count, Executor, Over, executor
from novikoff.core.observer import Calls
from novikoff.core.stream import Stream
from novikoff.core.types import Run, Source, State
from novikoff.data.as_stream import as_stream
from novikoff.game import specs
from novikoff.game.play import play
from novikoff.online_to_batch.finalize import OnlineToBatch, average_limits

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

Shard = tuple[State, int, float, float, bool, list[tuple[int, str]]]
"""Final state, rounds, sums of losses and of squared losses, whether some rows were copies, and skipped rows."""


def parallel_gradient(
    source: Source,
    learner: str | OnlineGradient = "online-gradient",
    shards: int = 8,
    delta: float = 0.05,
    on: str | Executor = "threads",
    threads: int | None = None,
    progress: Count | None = None,
) -> OnlineToBatch:
    """Return the mean of the weights of online gradient descent over shards of a source.

    Args:
        source: Rereadable source that `play` accepts (path, file pattern, URL or arrays), with numeric outcomes.
        learner: Spec or untrained learner of online gradient descent; a risk bound needs `limit`, `low` and `high`.
        shards: Number of parts that are trained in parallel.
        delta: Probability that the risk bound may fail.
        on: Executor of the shards: "threads", "ray", or the address of a Ray cluster.
        threads: Number of threads; None for one per core.
        progress: Callback that receives the number of finished shards and the number of all shards.

    Returns:
        The averaged model with its certificates.

    Example:
        >>> import novikoff as nk
        >>> x, y = [[0.0], [1.0]] * 50, [0.0, 1.0] * 50
        >>> kept = nk.parallel_gradient((x, y), "online-gradient:limit=1,low=0,high=1", shards=2, threads=1)
        >>> kept.rounds, len(kept.certificates)
        (100, 2)
    """
    made: Any = specs.make(learner, "learner") if isinstance(learner, str) else learner
    if not isinstance(made, OnlineGradient) or made.rounds:
        raise InputError(
            "averaging needs an untrained online gradient descent learner",
            f"got {type(made).__name__}",
            "Its loss is convex and bounded, so the mean of the weights loses no more than the weights on average. For "
            "labels use parallel_perceptron.",
        )
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0:
        raise InputError(f"delta must be a probability between 0 and 1: got {delta!r}. 0.05 is usual.")
    stream = as_stream(source, cast(Any, made))
    if not stream.rereadable:
        raise InputError(f"averaging reads the source again: {stream.name} cannot. Save it in a file.")
    played = executor(on, threads).map(_play, stream.parts(shards), made.state(), progress=progress)
    note_skipped(stream, [shard[5] for shard in played])
    some = [shard for shard in played if shard[1]]
    if not some:
        raise InputError(f"a source must not be empty: {stream.name} has no rows.")
    learners = [OnlineGradient.restore(state) for state, *_ in some]
    rounds = [count for _, count, *_ in some]
    n, lost = sum(rounds), math.fsum(loss for _, _, loss, *_ in some)
    run: Run[OnlineGradientFacts] = Run(
        before=made.facts(), after=together([one.facts() for one in learners]), rounds=n, mistakes=0, expected=lost,
        constants=(0, n), adaptive=False, deterministic=True, loss=lost, repeated=any(shard[4] for shard in some),
        squares=math.fsum(shard[3] for shard in some),
    )  # fmt: skip
    cut = Assumption(
        "which shard a row is in does not depend on the rows",
        "checked" if stream.extent() == stream.rows else "trusted",
    )
    limits = tuple(replace(one, assumptions=(*one.assumptions, cut)) for one in average_limits(run, delta, fixed=True))
    names = None if stream.features is None else [str(name) for name in stream.features]
    return OnlineToBatch(
        "averaged", mean(learners, rounds), limits, float(delta), n,
        source=stream.name, feature_names=names, encoding=stream.encoding,
    )  # fmt: skip


def together(facts: Sequence[OnlineGradientFacts]) -> OnlineGradientFacts:
    """Return the facts of all shards together: sums, and maxima of the largest values."""
    sums: dict[str, Any] = {name: math.fsum(getattr(one, name) for one in facts) for name in
            ("squares", "steps", "linear", "pull", "comparator_loss", "doubt")}  # fmt: skip
    return replace(
        facts[0], **sums, rounds=sum(one.rounds for one in facts), horizon=0, reach=max(one.reach for one in facts),
        places=max(one.places for one in facts), longest=max(one.longest for one in facts),
        scaled=any(one.scaled for one in facts), grown=any(one.grown for one in facts),
    )  # fmt: skip


def mean(learners: Sequence[OnlineGradient], rounds: Sequence[int]) -> OnlineGradient:
    """Return one learner with the mean of the averages, each weighted by its rounds, added in order."""
    widest = max(learners, key=lambda one: one.features.count)
    if len(learners) == 1:
        return widest.mean()
    n, total, constant = sum(rounds), np.zeros(widest.features.count), 0.0
    for one, count in zip(learners, rounds, strict=True):
        total[: one.features.count] += count * one.averaged
        constant += count * one.averaged_constant
    return widest.having(total / n, constant / n)


def _play(over: Over, shard: Stream, state: State) -> Shard:
    """Play one shard once, from the initial state."""
    learner = OnlineGradient.restore(state)

    def look(ledger: Ledger) -> None:
        if over():
            raise InterruptedError

    ledger = play(learner, shard, track=False, observers=[Calls(look)])
    copies = ledger.weighted is not None
    return learner.state(), ledger.rounds, ledger.loss, ledger.squares, copies, list(shard.skipped)
