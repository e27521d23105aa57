"""parallel_perceptron: the Perceptron on several parts of a source in parallel, mixed after every epoch.

Algorithm
    The source is cut into shards (`Stream.parts`). In each epoch every shard is read once, on the chosen executor
    (executors.py), by a Perceptron that starts from the mixed weights of the epoch before, zero at first; the new mixed
    weights are the mean of the final weights of all shards, weighted by `weights`. An epoch without a mistake is the
    last.
    A few comparators are fitted on the first rows of every shard. In the first epoch every shard sums their losses; in
    each epoch a check compares the weights of every shard with the sum of its mistakes.
Promise
    distributed/theorems/mixing_mistakes.py: K <= D + a sqrt K for every u. With held-out shards,
    online_to_batch/theorems/held_risk.py bounds the risk of the final classifier: among the weights after each epoch
    and their mean, the one with the fewest errors there. Shards are mixed in their order: weights, mistakes and
    certificates are the same to the bit on every executor, however often a shard had to be read again, and wherever a
    run was interrupted and resumed.
Cost
    Each epoch reads the source once. Each shard sends only its weights, 8 bytes per feature, and never its rows.
Reference
    [mcdonald2010].
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.rereading import note_skipped, rows_of, two_labels
from novikoff.comparators.rows import RowBuffer, chosen, sizes, without_zeros
from novikoff.core.errors import InputError
from novikoff.core.executors import Count, Executor, Over, executor
from novikoff.core.stream import Stream
from novikoff.core.types import Source, State
from novikoff.data.as_stream import as_stream
from novikoff.distributed.mixed import Asked, Epoch, ParallelPerceptron, Vector, unseen, weights_of, with_weights
from novikoff.game import persistence
from novikoff.linear.perceptron import Perceptron

Skipped = list[tuple[int, str]]
"""Number and message of each bad row that was skipped."""

FIT_BYTES = 16_000_000
"""Bytes of rows that comparators are fitted on."""


def parallel_perceptron(
    source: Source,
    shards: int = 8,
    epochs: int = 10,
    weights: str | Sequence[int] = "uniform",
    bias: float = 0.0,
    normalize: bool = False,
    held: int = 0,
    delta: float = 0.05,
    on: str | Executor = "threads",
    threads: int | None = None,
    progress: Count | None = None,
    save: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> ParallelPerceptron:
    """Train the Perceptron on shards of a source in parallel, and mix the weights after every epoch.

    Args:
        source: Rereadable source that `play` accepts: path, file pattern, URL or arrays.
        shards: Number of parts that are trained in parallel.
        epochs: Maximum number of epochs; an epoch without a mistake is the last.
        weights: How the final weights of shards are mixed: "uniform", "mistakes", or integers, one per shard.
        bias: Value of a constant feature; 0 for none.
        normalize: Whether to divide each x by its norm.
        held: Number of further parts of the same size that are held out for evaluation.
        delta: Probability that the risk bound may fail.
        on: Executor of the shards: "threads", "ray", or the address of a Ray cluster.
        threads: Number of threads; None for one per core.
        progress: Callback that receives the number of finished shards and the number of shards in all epochs.
        save: File to write after each epoch.
        resume: File of a run to resume, if it exists; its settings must be the same.
        force: Whether to overwrite an existing file at `save`.

    Returns:
        The mixed Perceptron; `kept` is the classifier to use, `certify()` returns the certificates.

    Example:
        >>> import novikoff as nk
        >>> x, y = [[1.0, 0.0], [0.0, 1.0]] * 10, [-1, 1] * 10
        >>> mixed = nk.parallel_perceptron((x, y), shards=2, threads=1)
        >>> mixed.mistakes, mixed.certify()[0].status
        (2, 'valid')
    """
    asked = Asked(shards, epochs, weights if isinstance(weights, str) else tuple(weights), float(bias), bool(normalize),
                  held, delta)  # fmt: skip
    stream = two_labels(as_stream(source, Perceptron()), "mixing")
    workers = executor(on, threads)
    if save is not None:
        persistence.check_place(save, force)
    cuts = stream.cuts(shards + held)
    parts = [stream.part(first, last) for first, last in pairwise(cuts)]
    mixed = _resumed(resume, asked, stream, cuts) if resume is not None and os.path.exists(resume) else None
    if mixed is None:
        [scorer] = workers.map(_fit, [parts[:shards]], asked.bias, asked.normalize)
        mixed = _begun(
            asked, stream, cuts, LinearScorer.restore_with(scorer, bias=asked.bias, normalize=asked.normalize)
        )
    while not mixed.done:
        done = len(mixed.epochs)

        def report(shard: int, of: int, done: int = done) -> None:
            if progress is not None:
                progress(done * shards + shard, epochs * shards)

        skipped = _epoch(mixed, parts, workers, report)
        if not done:
            note_skipped(stream, skipped)
        if save is not None:
            persistence.save(mixed, save, force)
    return mixed


def _begun(asked: Asked, stream: Stream, cuts: list[int], scorer: LinearScorer) -> ParallelPerceptron:
    """Return the state before the first epoch."""
    labels = None if stream.labels is None else [stream.labels.negative, stream.labels.positive]
    names = None if stream.features is None else [str(name) for name in stream.features]
    return ParallelPerceptron(
        asked, Perceptron(asked.bias, asked.normalize), [unseen(scorer) for _ in range(asked.shards)], np.zeros(1),
        stream.name, cuts=cuts, fingerprint=stream.fingerprint() or None, labels=labels, feature_names=names,
        encoding=stream.encoding,
    )  # fmt: skip


def _resumed(path: Any, asked: Asked, stream: Stream, cuts: list[int]) -> ParallelPerceptron:
    saved = persistence.load(path)
    if not isinstance(saved, ParallelPerceptron):
        raise InputError(f"only a run of parallel_perceptron can be resumed: {path} has something else.")
    then, now = saved.asked.state(), asked.state()
    differs = [f"{name}={then[name]}" for name in now if name != "epochs" and then[name] != now[name]]
    if differs or saved.cuts != cuts or saved.fingerprint != (stream.fingerprint() or None):
        what = ", ".join(differs) or "another source"
        raise InputError(f"a resumed run must have the same options: {path} has {what}. Use these, or start again.")
    if saved.asked.held and saved.asked.epochs != asked.epochs:
        raise InputError(
            f"epochs must be fixed in advance for a bound on the risk: {path} has {saved.asked.epochs}, got "
            f"{asked.epochs}."
        )
    saved.asked = asked
    return saved


@dataclass(frozen=True, eq=False)
class _Played:
    """Result of one shard in one epoch."""

    weights: Vector
    features: State
    rows: int
    mistakes: int
    updates: int
    unexplained: float
    seen: State | None
    fingerprints: list[Any]
    skipped: Skipped


def _epoch(mixed: ParallelPerceptron, parts: Sequence[Stream], workers: Executor, report: Count) -> list[Skipped]:
    """Play one more epoch; return the bad rows of its parts."""
    asked, first = mixed.asked, not mixed.epochs
    shards, held = parts[: asked.shards], parts[asked.shards :]
    start = mixed.learner.state()
    comparators = unseen(mixed.scorers[0]).state()
    played: list[_Played] = workers.map(_play, shards, start, comparators, first, progress=report)
    mistakes = tuple(one.mistakes for one in played)
    rows = tuple(one.rows for one in played)
    if first:
        mixed.rows = rows
        mixed.scorers = [
            LinearScorer.restore_with(one.seen or {}, bias=asked.bias, normalize=asked.normalize) for one in played
        ]
        mixed.marks = [one.fingerprints[0] for one in played]
    marks = [[mark, mark] for mark in mixed.marks]
    mixed.same_rows &= rows == mixed.rows and [one.fingerprints for one in played] == marks
    mixed.own_mistakes &= all(one.mistakes == one.updates for one in played)
    mixed.unexplained = max([mixed.unexplained, *(one.unexplained for one in played)])
    chosen_parts = asked.parts(mistakes)
    widest = max(played, key=lambda one: int(one.features["count"]))
    weights = mean([one.weights for one in played], chosen_parts)
    mixed.learner = with_weights(
        Perceptron.restore({**start, "features": widest.features, "weights": np.zeros(len(weights) - 1),
                            "rounds": start["rounds"] + sum(rows), "updates": start["updates"] + sum(mistakes)}),
        weights,
    )  # fmt: skip
    mixed.total = padded(mixed.total, len(weights)) + weights
    errors, skipped = None, [one.skipped for one in played]
    if held:
        errors, mixed.trials, mixed.copies, more = _errors(workers, held, mixed.learner)
        skipped += more
        if all(epoch.errors is None or errors < epoch.errors for epoch in mixed.epochs):
            mixed.best = mixed.learner
    mixed.epochs.append(Epoch(mistakes, chosen_parts, errors))
    if held and mixed.done:
        mixed.averaged_errors, *_ = _errors(workers, held, mixed.averaged)
    return skipped


def mean(ends: Sequence[Vector], parts: Sequence[int]) -> Vector:
    """Return the weighted mean of the weights of shards, added in their order; the bias weight is last."""
    total = np.zeros(max(map(len, ends)))
    for end, part in zip(ends, parts, strict=True):
        total += float(part) * padded(end, len(total))
    return total / float(sum(parts))


def padded(weights: Vector, width: int) -> Vector:
    """Return the weights widened with zeros to `width`, the bias weight last."""
    if len(weights) == width:
        return weights
    return np.concatenate([weights[:-1], np.zeros(width - len(weights)), weights[-1:]])


def _errors(workers: Executor, held: Sequence[Stream], learner: Perceptron) -> tuple[int, int, bool, list[Skipped]]:
    """Return errors and number of held-out rows, whether some are copies, and those that were skipped."""
    errors, rows, copies, skipped = zip(*workers.map(_judge, held, learner.state()), strict=True)
    return sum(errors), sum(rows), any(copies), list(skipped)


def _fit(over: Over, shards: Sequence[Stream], bias: float, normalize: bool) -> State:
    """Return the state of comparators fitted on the first rows of every shard; these rows are not counted."""
    kept = RowBuffer()
    for number, shard in enumerate(shards, 1):
        room = FIT_BYTES * number // len(shards)
        for batch in shard.batches():
            x, y = rows_of(batch)
            some = int(np.searchsorted(np.cumsum(sizes(x)), max(room - kept.size, 0))) + 1
            kept.add(without_zeros(x[:some]), y[:some], np.zeros(len(y[:some]), np.bool_))
            if kept.size >= room or over():
                break
    if not kept.rows:
        raise InputError("a source must not be empty: no shard has a row.")
    x, y, _ = kept.together()
    return LinearScorer.fitted(without_zeros(x), y, bias, normalize).state()


def _play(over: Over, shard: Stream, state: State, scorer: State, first: bool) -> _Played:
    """Play one shard once; the comparators see every row in the first epoch, and only the mistakes later."""
    learner = Perceptron.restore({**state, "weights": np.array(state["weights"])})
    begin, before = weights_of(learner), learner.updates
    watching = LinearScorer.restore_with(scorer, bias=learner.bias, normalize=learner.normalize)
    prints, rows, mistakes = [shard.fingerprint()], 0, 0
    for batch in shard.batches():
        if over():
            raise InterruptedError
        x, y = rows_of(batch)
        wrong = learner.learn_many(batch) != y
        if first:
            watching.see(x, y, wrong)
        elif wrong.any():
            watching.see(chosen(x, wrong), y[wrong], wrong[wrong])
        rows, mistakes = rows + len(y), mistakes + int(np.count_nonzero(wrong))
    prints.append(shard.fingerprint())
    end = weights_of(learner)
    moved = watching.unexplained(begin if np.any(begin) else None, end)
    seen = watching.state() if first else None
    return _Played(end, learner.features.state(), rows, mistakes, learner.updates - before, moved, seen, prints,
                   list(shard.skipped))  # fmt: skip


def _judge(over: Over, shard: Stream, state: State) -> tuple[int, int, bool, Skipped]:
    """Return errors and number of rows of a part, whether some are copies, and those that were skipped."""
    learner = Perceptron.restore({**state, "weights": np.array(state["weights"])})
    errors, rows, copies = 0, 0, False
    for batch in shard.batches():
        if over():
            raise InterruptedError
        errors += int(np.count_nonzero(learner.predict_many(batch) != batch.y))
        rows += len(batch)
        copies |= batch.weights is not None and bool((batch.weights > 1).any())
    return errors, rows, copies, list(shard.skipped)
