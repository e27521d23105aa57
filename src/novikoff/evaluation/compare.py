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
Verdict
    Learners are ranked by one metric: log loss if all predict probabilities, otherwise the error rate; for numbers the
    root mean squared error, or the mean absolute one. The difference of two learners on the same rows is given with the
    half width of a 95 % interval, from its means over 30 blocks of consecutive rows: 2.05 standard errors of their mean
    (Student's t with 29 degrees of freedom). Blocks allow for rows that depend on their neighbours; shuffles use the
    same rows again, so their intervals are averaged and do not shrink. The difference of two AUCs has an interval only
    over shuffles. None of this is a certificate: it is an estimate.
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
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate
from novikoff.core.display import Shown
from novikoff.core.errors import Advice, InputError, MismatchError, Option, SpecError, close, counted
from novikoff.core.errors import named as kind_of
from novikoff.core.executors import Count, Executor, Over, Threads, executor
from novikoff.core.observer import Calls, Observer
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Source, Task
from novikoff.data.as_stream import check_asked, check_count, opened
from novikoff.data.cached import MOST_BYTES, InMemoryStream, hold
from novikoff.data.read_as import AskedTask, Reading, read_as
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

Metric = Literal["error", "log-loss", "auc", "mae", "rmse"]
METRICS: tuple[Metric, ...] = get_args(Metric)
UNITS = {"log-loss": " log loss per row", "auc": " AUC", "mae": " mean absolute error", "rmse": " RMSE"}
"""Units of differences, by metric."""
BLOCKS, SHORTEST, FEWEST = 30, 10, 5
"""Number of blocks of a game, smallest number of rounds of a block, and smallest number of blocks for an interval."""


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
        log_loss: Mean log loss of predicted probabilities; None without them.
        auc: Area under the ROC curve; None if there are not two labels, or no scores.
        mae: Mean absolute error of predicted numbers; None for labels.
        rmse: Root mean squared error; None for labels and for other losses.
        blocks: Rounds, and total mistakes or loss, log loss and absolute error after each block of rows.
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
    log_loss: float | None = None
    auc: float | None = None
    mae: float | None = None
    rmse: float | None = None
    blocks: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(cls, ledger: Ledger, certify: bool, blocks: Sequence[tuple[float, ...]] = ()) -> Self:
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
            log_loss=None if metrics.log_loss is None or not metrics.rounds else metrics.log_loss / metrics.rounds,
            auc=None if ledger.auc is None else ledger.auc.value,
            mae=ledger.mae,
            rmse=ledger.rmse,
            blocks=(*blocks, totals(ledger)),
        )

    def metric(self, by: Metric) -> float | None:
        """Return a metric of the game; None if it has none."""
        return self.mistakes / self.rounds if by == "error" else getattr(self, by.replace("-", "_"))


def totals(ledger: Ledger) -> tuple[float, ...]:
    """Return rounds, mistakes or loss, log loss and absolute error so far."""
    metrics = ledger.metrics
    paid = metrics.mistakes if ledger.counts else metrics.loss
    return float(metrics.rounds), float(paid), float(metrics.log_loss or 0.0), metrics.absolute


class Blocks(Observer):
    """Observer that records the totals of a game at the ends of blocks of equal length.

    Args:
        rounds: Number of rounds of the game.
    """

    def __init__(self, rounds: int) -> None:
        count = min(BLOCKS, max(rounds // SHORTEST, 1))
        self._ends = [rounds * k // count for k in range(1, count)]
        self.found: list[tuple[float, ...]] = []

    def due(self, ledger: Ledger, rounds: int) -> int:
        ahead = self._ends[len(self.found)] - ledger.rounds if len(self.found) < len(self._ends) else rounds
        return max(min(ahead, rounds), 0)

    def look(self, ledger: Ledger) -> None:
        if len(self.found) < len(self._ends) and ledger.rounds >= self._ends[len(self.found)]:
            self.found.append(totals(ledger))


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two learners in one metric.

    Attributes:
        better: Learner with the better value.
        other: The other learner.
        metric: Metric.
        amount: By how much it is better.
        within: Half width of the 95 % interval of the amount; None if it cannot be estimated.
    """

    better: str
    other: str
    metric: Metric
    amount: float
    within: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.within is not None and self.amount > self.within

    def __str__(self) -> str:
        times, unit = (
            (100.0, " percentage points of error rate") if self.metric == "error" else (1.0, UNITS[self.metric])
        )
        digits = (
            3 if self.within is None else min(max(1 - math.floor(math.log10(max(times * self.within, 1e-12))), 0), 12)
        )
        amount = f"{times * self.amount:.{digits}f}" if self.within is not None else f"{times * self.amount:.3g}"
        if self.within is None:
            return f"{self.better} is ahead of {self.other} by {amount}{unit}; its uncertainty is unknown"
        both = f"{amount} ± {times * self.within:.{digits}f}{unit}"
        if self.clear:
            return f"{self.better} is better than {self.other} by {both}"
        return f"{self.better} and {self.other} do not differ clearly: {both}"


@dataclass(frozen=True, slots=True)
class Compared:
    """Games of one learner, one per shuffle."""

    learner: str
    games: tuple[Finished, ...]

    def __repr__(self) -> str:
        return f"<Compared {self.learner}, {counted(len(self.games), 'game')}: {self.figure}>"

    @property
    def figure(self) -> str:
        """Mean error rate, or root mean squared error, in words."""
        if (rmse := self.metric("rmse")) is not None:
            return f"RMSE {rmse.mean:.3g}"
        return f"{100 * self.rate.mean:.3g} %"

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

    def metric(self, by: Metric) -> Spread | None:
        """Return mean and deviation of a metric over the games; None if a game has none."""
        found = [game.metric(by) for game in self.games]
        known = [value for value in found if value is not None]
        return Spread.of(known) if len(known) == len(found) else None

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
        by: Metric that ranks the learners.
    """

    source: str
    rows: int
    passes: int
    shuffles: int
    seed: int
    learners: tuple[Compared, ...]
    target: Target | None = None
    by: Metric = "error"

    @property
    def ranking(self) -> list[Compared]:
        """Learners, the best first."""
        known = [one for one in self.learners if one.metric(self.by) is not None]
        return sorted(known, key=self._rank)

    def _rank(self, one: Compared) -> float:
        spread = one.metric(self.by)
        assert spread is not None
        return -spread.mean if self.by == "auc" else spread.mean

    @property
    def differences(self) -> list[Difference]:
        """Differences of the best learner and each other one, the smallest first."""
        ranked = self.ranking
        return [_difference(ranked[0], other, self.by) for other in ranked[1:]]

    @property
    def verdict(self) -> str:
        """Comparison of the best learner with the next one, in one sentence; "" for a single learner."""
        return f"{self.differences[0]}." if self.differences else ""

    def frame(self) -> object:
        """Return a pandas frame with one row per learner and one column per metric, the best learner first."""
        import pyarrow as pa

        ranked = [*self.ranking, *(one for one in self.learners if one.metric(self.by) is None)]
        columns: dict[str, list[object]] = {"learner": [one.learner for one in ranked]}
        for by in METRICS:
            spreads = [one.metric(by) for one in ranked]
            if by == "error" and self.learners[0].games[0].mae is not None:
                continue
            if any(spread is not None for spread in spreads):
                columns[by.replace("-", "_")] = [None if spread is None else spread.mean for spread in spreads]
        within = {one.other: one for one in self.differences}
        columns["behind_best"] = [within[one.learner].amount if one.learner in within else 0.0 for one in ranked]
        columns["plus_minus"] = [within[one.learner].within if one.learner in within else None for one in ranked]
        columns["seconds"] = [one.seconds for one in ranked]
        try:
            return pa.table(columns).to_pandas()
        except ImportError:
            raise InputError("a frame needs pandas: it is not installed. Use learners.") from None

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
        rates = ", ".join(f"{one.learner} {one.figure}" for one in self.learners)
        return f"<Comparison on {self.source}, {counted(self.rows, 'row')}: {rates}>"


def compare(
    learners: Sequence[Made] | Mapping[str, Made],
    source: Source,
    shuffles: int = 0,
    seed: int = 0,
    passes: int = 1,
    threads: int | None = None,
    progress: Count | None = None,
    rounds: int | None = None,
    defaults: Mapping[str, Any] | None = None,
    labels: str | None = None,
    on: str | Executor = "threads",
    by: Metric | None = None,
    label: str | int | None = None,
    positive: object = None,
    task: AskedTask | None = None,
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
        by: Metric that ranks the learners: "error", "log-loss", "auc", "mae" or "rmse"; None to choose.
        label: Column of the label, as in `play`.
        positive: Label that is +1, as in `play`.
        task: "classify", "regress" or "count", as in `play`.

    Returns:
        The games of every learner, with metrics and certificates: `verdict` is the result in one sentence, and
        `frame()` a table.

    Example:
        >>> import novikoff as nk
        >>> rows = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10
        >>> found = nk.compare(["perceptron", "perceptron:bias=1"], rows, threads=1)
        >>> [one.games[0].mistakes for one in found.learners]
        [1, 2]
        >>> nk.compare(["logistic", "perceptron"], "demo:breast-cancer", threads=1).by
        'error'
    """
    check_asked(labels)
    if by is not None and by not in METRICS:
        raise InputError(f"by must be {', '.join(METRICS)} or None", f"got {by!r}", close(by, METRICS))
    named = _named(learners, source)
    opened = read_as(source, Reading(label, positive, task))
    check_count("shuffles", shuffles, 0, labels_apart("compare", shuffles))
    check_count("passes", passes, 1)
    if rounds is not None:
        check_count("rounds", rounds, 1)
    players = executor(on, threads)
    opened, named = for_outcomes(opened, named, labels == "multiclass")
    held = hold(stream_for(named[0][1], opened, labels == "multiclass"), rounds)
    for name, make in named:
        if isinstance(make, Spec):
            _check_task(specs.task(make), name or str(make), held)
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
    ranked_by = _ranked_by(compared, by)
    return Comparison(held.name, held.units, passes, shuffles, seed, tuple(compared), held.target_column, ranked_by)


def for_outcomes(
    source: object, named: list[tuple[str | None, Recipe]], multiclass: bool
) -> tuple[object, list[tuple[str | None, Recipe]]]:
    """Return the source, opened if it may have numbers, and the learners: `auto` as its form for numbers, as in `run`.

    Args:
        source: Source of the games.
        named: Learners with their names.
        multiclass: Whether labels are multiclass.
    """
    both = [make for _, make in named if isinstance(make, Spec) and specs.for_numbers(make) != make]
    if multiclass or not both:
        return source, named
    source = opened(source)
    if not (isinstance(source, Stream) and source.outcomes == "numbers"):
        return source, named
    return source, [(name, specs.for_numbers(make) if isinstance(make, Spec) else make) for name, make in named]


def _ranked_by(compared: Sequence[Compared], asked: Metric | None) -> Metric:
    """Return the metric of a comparison: the one that was asked for, or the first that every learner has."""
    numbers = compared[0].games[0].mae is not None
    order: tuple[Metric, ...] = ("rmse", "mae") if numbers else ("log-loss", "error")
    if asked is None:
        return next(by for by in order if all(_has(one, by) for one in compared))
    wrong = (asked in ("mae", "rmse")) != numbers
    lacking = next((one.learner for one in compared if not _has(one, asked)), None)
    if wrong or lacking is not None:
        why = ("these are classifiers" if not numbers else "these predict numbers") if wrong else f"{lacking} has none"
        raise InputError(f"by={asked} needs learners that have this metric", why, f"Use by={order[-1]}.")
    return asked


def _has(one: Compared, by: Metric) -> bool:
    found = one.metric(by)
    return found is not None and math.isfinite(found.mean)


def _difference(one: Compared, other: Compared, by: Metric) -> Difference:
    """Return the difference of two learners on the same rows, with its uncertainty."""
    pairs = list(zip(one.games, other.games, strict=True))
    gaps = [(b.metric(by) or 0.0) - (a.metric(by) or 0.0) for a, b in pairs]
    amount = abs(math.fsum(gaps) / len(gaps))
    if by == "auc":
        spread = Spread.of(gaps)
        from scipy.stats import t

        error = spread.standard_error
        return Difference(one.learner, other.learner, by, amount, None if error is None else
                          float(t.ppf(0.975, spread.runs - 1)) * error)  # fmt: skip
    column = {"error": 1, "rmse": 1, "log-loss": 2, "mae": 3}[by]
    found = [_block_width(a.blocks, b.blocks, column) for a, b in pairs]
    known = [width for width in found if width is not None]
    within = math.sqrt(math.fsum(width**2 for width in known) / len(known)) if known else None
    if by == "rmse" and within is not None:  # a - b = (a^2 - b^2) / (a + b)
        total = math.fsum((a.rmse or 0.0) + (b.rmse or 0.0) for a, b in pairs) / len(pairs)
        within = within / total if total else None
    return Difference(one.learner, other.learner, by, amount, within)


def _block_width(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]], column: int) -> float | None:
    """Return the half width of the 95 % interval of the difference per round; None with fewer than `FEWEST` blocks."""
    if len(one) < FEWEST or len(one) != len(other):
        return None
    from scipy.stats import t

    a, b = np.array(one), np.array(other)
    rounds = np.diff(a[:, 0], prepend=0.0)
    with np.errstate(invalid="ignore"):
        gaps = np.diff(a[:, column] - b[:, column], prepend=0.0) / rounds
    if not np.isfinite(gaps).all():
        return None
    return float(t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / math.sqrt(len(gaps)))


def _game(
    over: Over, asked: tuple[Recipe, int], orders: _Orders, seed: int, passes: int, given: dict[str, object]
) -> Finished:
    """Play one learner on one order of the rows."""
    make, number = asked
    with orders.lent(number) as stream:
        learner = learner_for(make, RowShape.of(orders.held), {"seed": seed + number, **given})
        _check_task(learner.task, type(learner.original).__name__, orders.held)
        ledger = Ledger(learner, source=orders.held.name)
        blocks = Blocks(stream.rows * passes)
        play(learner, stream, passes=passes, ledger=ledger, track=number == 0, observers=[ended(over), blocks])
        return Finished.of(ledger, certify=number == 0, blocks=blocks.found)


def ended(over: Over) -> Observer:
    """Return an observer that stops a game which is no longer needed."""

    def look(ledger: Ledger) -> None:
        if over():
            raise _StoppedError

    return Calls(look)


class _StoppedError(Exception):
    """Stop of a game because another game failed or the user pressed Ctrl-C."""


def _named(learners: Sequence[Made] | Mapping[str, Made], source: object) -> list[tuple[str | None, Recipe]]:
    """Return each learner with its name, if given; check all of them before anything is read."""
    if isinstance(learners, str):
        check_order("compare", learners, source)
        raise SpecError(f"learners must be a list: got {learners!r} alone. Write [{learners!r}].")
    given: object = learners
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
    return [(name, recipe("compare", made, source)) for name, made in each]


def _check_task(task: Task, name: str, held: Stream) -> None:
    """Raise MismatchError if the outcomes are numbers and the learner is a classifier, or the other way round."""
    if (task == "regression") != (held.outcomes == "numbers"):
        what = "predicts numbers" if task == "regression" else "is a classifier"
        has = "labels" if task == "regression" else "numbers"
        raise MismatchError(
            "learners that are compared must have the same task", f"{name} {what}, and {held.name} is read with {has}",
            Advice("Choose another, or pass ", Option("task", "regress" if has == "labels" else "classify"), "."),
        )  # fmt: skip


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
