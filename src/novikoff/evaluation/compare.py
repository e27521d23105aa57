"""compare: play several learners on the same rows and on the same shuffles of them.

Method
    The source is read once and held in memory. Without shuffles each learner plays the rows in their original order;
    with N shuffles it plays N games, and game k uses the same order for every learner: row i has the random number
    coin(coin(seed, "shuffle", k), "shuffle", i), and rows are sorted by these numbers. A weighted row moves as a whole
    and counts once, with its weight (metrics.py).
    A randomized learner uses seed + k in game k, unless its spec sets a seed.
    Games run in parallel, on threads or on Ray (executors.py). Each game equals one `play` of that learner on those
    rows, to the bit; only the times depend on the executor. Pass threads=1 for undisturbed times.
    Comparators are tracked only in the first game of each learner, which is the one that is certified.
Cost
    The source in memory, plus one copy for each shuffle being played.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import InputError, SpecError, counted
from novikoff.core.errors import named as kind_of
from novikoff.core.executors import Count, Executor, Over, Threads, executor
from novikoff.core.observer import Calls, Observer
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Task
from novikoff.data.as_stream import check_asked, check_count
from novikoff.data.cached import MOST_BYTES, InMemoryStream, hold
from novikoff.game import specs
from novikoff.game.baselines import Constant
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from novikoff.game.prepare import (
    Made,
    Recipe,
    RowShape,
    called,
    check_order,
    labels_apart,
    learner_for,
    recipe,
    scaled,
    stream_for,
)
from novikoff.game.specs import Spec
from novikoff.numerics.coins import coin, coins


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of one figure over several runs.

    Attributes:
        mean: Mean over the runs.
        deviation: Sample standard deviation; None for a single run.
        runs: Number of runs.
    """

    mean: float
    deviation: float | None
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return the spread of these values."""
        mean = math.fsum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None, 1)
        square = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
        return cls(mean, math.sqrt(square), len(values))

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean; None for a single run."""
        return None if self.deviation is None else self.deviation / math.sqrt(self.runs)


@dataclass(frozen=True, slots=True)
class Finished:
    """Summary of one finished game.

    Attributes:
        rounds: Number of rounds; in a weighted game the total weight of the rows, in which all figures are counted.
        mistakes: Number of mistakes, or the total loss if the loss is not zero-one.
        expected: Expected mistakes given the past, for a randomized learner; else None.
        updates: Number of updates of the learner, or its mistakes if it does not count updates.
        seconds: Duration of the game.
        curve: Pairs (t, mistakes after t rounds) for increasing t; the last is the end of the game.
        certificates: Certificates, the tightest first; empty if the game was not certified.
        constant: Best constant prediction on these rows, with its cost; None if unknown.
        last_label: Mistakes of the baseline that repeats the previous label.
        rows: Number of rows played in a weighted game; else None.
    """

    rounds: int
    mistakes: int | float
    expected: float | None
    updates: int
    seconds: float
    curve: tuple[tuple[int, int | float], ...]
    certificates: tuple[Certificate, ...]
    constant: Constant | None = None
    last_label: int | None = None
    rows: int | None = None

    @classmethod
    def of(cls, ledger: Ledger, certify: bool) -> Self:
        """Summarize a ledger; certify the game only if `certify`."""
        metrics = ledger.metrics
        paid = metrics.mistakes if ledger.counts else metrics.loss
        curve = dict([*metrics.curve, (metrics.rounds, paid)])
        updates = ledger.player.updates
        return cls(
            rounds=metrics.rounds,
            mistakes=paid,
            expected=None if ledger.deterministic else metrics.expected,
            updates=int(updates) if isinstance(updates, Integral) else ledger.mistakes,
            seconds=ledger.seconds,
            curve=tuple(curve.items()),
            certificates=tuple(ledger.certify()) if certify else (),
            constant=ledger.best_constant,
            last_label=ledger.last_label,
            rows=None if ledger.weighted is None else ledger.weighted.rows,
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """Games of one learner, one per shuffle."""

    learner: str
    games: tuple[Finished, ...]

    def __repr__(self) -> str:
        return f"<Compared {self.learner}, {counted(len(self.games), 'game')}: {100 * self.rate.mean:.3g} %>"

    @property
    def rate(self) -> Spread:
        """Mistakes per round."""
        return Spread.of([game.mistakes / game.rounds for game in self.games])

    @property
    def expected(self) -> Spread | None:
        """Expected mistakes per round of a randomized learner; else None."""
        chances = [game.expected / game.rounds for game in self.games if game.expected is not None]
        return Spread.of(chances) if len(chances) == len(self.games) else None

    @property
    def updates(self) -> Spread:
        """Updates of the learner, or mistakes if it does not count updates."""
        return Spread.of([game.updates for game in self.games])

    @property
    def seconds(self) -> float:
        """Mean duration of a game, without the first of several, which may compile and tracks comparators."""
        return Spread.of([game.seconds for game in self.games[1:] or self.games]).mean

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Certificates of the first game, tightest first."""
        return self.games[0].certificates

    def curve(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return rounds, and mean and deviation of the mistake rate up to each; the deviation of a single game is 0."""
        curves = np.array([game.curve for game in self.games])
        rounds, rates = curves[0, :, 0], curves[:, :, 1] / curves[:, :, 0]
        deviation = rates.std(axis=0, ddof=1) if len(rates) > 1 else np.zeros(len(rounds))
        return rounds, rates.mean(axis=0), deviation


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """Games of every learner, in the order in which the learners were given.

    Attributes:
        source: Name of the source.
        rows: Number of rows of the source.
        passes: Passes over the rows in each game.
        shuffles: Number of shuffles; 0 if the rows were played in their original order.
        seed: Seed of the shuffles and of randomized learners.
        learners: Games of each learner.
        target: Column that was predicted and how it was chosen; None if the labels have no column.
    """

    source: str
    rows: int
    passes: int
    shuffles: int
    seed: int
    learners: tuple[Compared, ...]
    target: Target | None = None

    @property
    def constant(self) -> Constant | None:
        """Best constant prediction, the same in every order of the rows; None if unknown."""
        return self.learners[0].games[0].constant

    @property
    def counted(self) -> str | None:
        """Explanation of the counts of a game with weighted rows; None if every row has weight 1."""
        game = self.learners[0].games[0]
        if game.rows is None:
            return None
        text = f"{counted(game.rows, 'row')} of weight {game.rounds:,}. Rates count each row once, with its weight"
        return f"{text}; updates and certificates count rounds, one for each copy of a row."

    def __repr__(self) -> str:
        rates = ", ".join(f"{one.learner} {100 * one.rate.mean:.3g} %" for one in self.learners)
        return f"<Comparison on {self.source}, {counted(self.rows, 'row')}: {rates}>"


def compare(
    learners: Sequence[Made] | Mapping[str, Made],
    source: object,
    shuffles: int = 0,
    seed: int = 0,
    passes: int = 1,
    threads: int | None = None,
    progress: Count | None = None,
    rounds: int | None = None,
    defaults: Mapping[str, Any] | None = None,
    labels: str | None = None,
    on: str | Executor = "threads",
) -> Comparison:
    """Play every learner on the same rows.

    Args:
        learners: Specs such as "perceptron:bias=1", or functions of a seed that return a learner. A mapping names them.
        source: Any source that `play` accepts, except an adversary.
        shuffles: Number of random orders to play; 0 plays the rows in their original order.
        seed: Seed of the shuffles; a randomized learner uses `seed` plus the number of the shuffle.
        passes: Passes over the rows in each game.
        threads: Number of games to run at a time; None for one per core.
        progress: Callback that receives the number of finished games and the number of all games.
        rounds: Number of leading rows to use; None for all.
        defaults: Arguments for every learner that accepts them and whose spec leaves them out, such as
            {"normalize": True}; "scale" is "auto" by default, which scales as `play` does.
        labels: "multiclass" if there are, or may be, more than two labels, as in `play`.
        on: Executor of the games: "threads", "ray", or the address of a Ray cluster.

    Returns:
        The games of every learner, with mistake rates and certificates.

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10
        >>> found = nk.compare(["perceptron", "perceptron:bias=1"], rows, threads=1)
        >>> [one.games[0].mistakes for one in found.learners]
        [1, 2]
    """
    check_asked(labels)
    named = _named(learners, source)
    check_count("shuffles", shuffles, 0, labels_apart("compare", shuffles))
    check_count("passes", passes, 1)
    if rounds is not None:
        check_count("rounds", rounds, 1)
    players = executor(on, threads)
    held = hold(stream_for(named[0][1], source, labels == "multiclass"), rounds)
    given = dict(defaults or {})
    scale = given.pop("scale", None)
    named = [(name, on_rows(make, held, scale)) for name, make in named]
    orders = _Orders(held, shuffles, seed, uses=len(named))
    players = orders.most(players) if isinstance(players, Threads) else players
    asked = [(make, number) for number in range(max(shuffles, 1)) for _, make in named]
    games = players.map(_game, asked, orders, seed, passes, given, progress=progress)
    compared = [
        Compared(called(make) if name is None else name, tuple(games[k :: len(named)]))
        for k, (name, make) in enumerate(named)
    ]
    return Comparison(held.name, held.units, passes, shuffles, seed, tuple(compared), held.target_column)


def _game(
    over: Over, asked: tuple[Recipe, int], orders: _Orders, seed: int, passes: int, given: dict[str, Any]
) -> Finished:
    """Play one learner on one order of the rows."""
    make, number = asked
    with orders.lent(number) as stream:
        learner = learner_for(make, RowShape.of(orders.held), {"seed": seed + number, **given})
        _check_task(learner.task, type(learner.original).__name__)
        ledger = Ledger(learner, source=orders.held.name)
        play(learner, stream, passes=passes, ledger=ledger, track=number == 0, observers=[ended(over)])
        return Finished.of(ledger, certify=number == 0)


def ended(over: Over) -> Observer:
    """Return an observer that stops a game which is no longer needed."""

    def look(ledger: Ledger) -> None:
        if over():
            raise _StoppedError

    return Calls(look)


class _StoppedError(Exception):
    """Stop of a game because another game failed or the user pressed Ctrl-C."""


def _named(learners: Sequence[Made] | Mapping[str, Made], source: Any) -> list[tuple[str | None, Recipe]]:
    """Return each learner with its name, if given; check all of them before anything is read."""
    if isinstance(learners, str):
        check_order("compare", learners, source)
        raise SpecError(f"learners must be a list: got {learners!r} alone. Write [{learners!r}].")
    given: Any = learners
    if not isinstance(given, (Sequence, Mapping)):
        check_order("compare", learners, source)
        do = 'Write nk.compare(["perceptron", "auto"], source).'
        raise SpecError("learners must be a list, before the source", f"got {kind_of(given)}", do)
    if isinstance(learners, Mapping):
        each: list[tuple[str | None, Made]] = list(learners.items())
    else:
        each = [(None, made) for made in learners]
    if not each:
        raise SpecError("compare needs at least one learner: got none. Name two or more.")
    if not all(isinstance(made, (str, Spec)) or callable(made) for _, made in each):
        check_order("compare", learners, source)
    named = [(name, recipe("compare", made, source)) for name, made in each]
    for name, make in named:
        if isinstance(make, Spec):
            _check_task(specs.task(make), name or str(make))
    return named


def _check_task(task: Task, name: str) -> None:
    """Raise InputError for a learner that predicts numbers."""
    if task == "regression":
        raise InputError(
            "compare needs classifiers",
            f"{name} predicts numbers",
            "Run each by itself: its report has its loss and that of the best constant.",
        )


def on_rows(recipe: Recipe, stream: Stream, scale: str | None = None) -> Recipe:
    """Return the recipe of a learner; a spec without a scale gets the scale that fits the stream."""
    return scaled(recipe, RowShape.of(stream), scale) if isinstance(recipe, Spec) else recipe


def order(rows: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return the row numbers of shuffle `number` of `rows` rows, in the order to play."""
    return np.argsort(coins(coin(seed, "shuffle", number), "shuffle", 0, rows), kind="stable")


class _Orders:
    """Shuffles of a source; each is made when its first game begins, and dropped after its last."""

    def __init__(self, held: InMemoryStream, shuffles: int, seed: int, uses: int) -> None:
        self.held, self._shuffles, self._seed, self._uses = held, shuffles, seed, uses
        self._locks = [threading.Lock() for _ in range(shuffles)]
        self._streams: dict[int, InMemoryStream] = {}
        self._left: dict[int, int] = {}

    @contextmanager
    def lent(self, number: int) -> Iterator[InMemoryStream]:
        """Lend shuffle `number` to one game."""
        if not self._shuffles:
            yield self.held
            return
        lock = self._locks[number]
        with lock:
            if number not in self._streams:
                self._streams[number] = self.held.shuffled(order(self.held.units, self._seed, number))
                self._left[number] = self._uses
        try:
            yield self._streams[number]
        finally:
            with lock:
                self._left[number] -= 1
                if not self._left[number]:
                    del self._streams[number]

    def most(self, asked: Threads) -> Threads:
        """Limit the threads so that the shuffles being played fit in `MOST_BYTES`.

        With n threads at most (n - 2) / uses + 2 shuffles are in memory.
        """
        if not self._shuffles:
            return asked
        fit = max(MOST_BYTES // max(self.held.size, 1), 1)
        return Threads(min(asked.count, (fit - 1) * self._uses + 1))

    def __reduce__(self) -> Any:
        return type(self), (self.held, self._shuffles, self._seed, self._uses)
