"""`nk.forecast`: forecasts of several steps, learned directly, with an interval for each.

For each number of steps h there is a game of its own: row t is predicted from its columns, from lags h, h+1, ..., and
by a learner that has learned the rows up to the h-th before it. So the outcome of a forecast comes h - 1 rounds late.
With groups, each a series of its own, rows are counted within the group, and outcomes come one row later still: not all
rows of one time have come when a row is predicted. Intervals are conformal (conformal/conformal.py), and their
thresholds wait for the outcomes too: the coverage of each number of steps is guaranteed on every series, and in each
group, by conformal/theorems/coverage_deviation.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, named, shown
from novikoff.core.types import Source
from novikoff.data.arrays import is_frame
from novikoff.data.as_stream import check_count
from novikoff.data.tables.lags import Lags
from novikoff.game.ledger import Ledger
from novikoff.game.persistence import load, save
from novikoff.game.play import play
from novikoff.game.prepare import named_learner
from novikoff.game.specs import Spec, for_numbers, parsed
from novikoff.game.specs import task as task_of

FILE = "steps-{:04}.nk"
"""Name of the model file of each number of steps."""


class Steps(NamedTuple):
    """Results of the forecasts of one number of steps.

    Attributes:
        steps: Number of rows ahead.
        rows: Number of forecasts.
        mae: Mean absolute error.
        rmse: Root of the mean squared error.
        coverage: Share of outcomes inside their interval.
        target: Requested coverage.
        guaranteed: Guaranteed largest distance between the two.
        length: Mean length of the finite intervals; None if there are none.
    """

    steps: int
    rows: int
    mae: float
    rmse: float
    coverage: float
    target: float
    guaranteed: float
    length: float | None


class Ahead(NamedTuple):
    """A forecast of a row whose outcome is not known.

    Attributes:
        steps: Number of rows ahead, in its group.
        prediction: Predicted number.
        low: Lower end of the interval.
        high: Upper end.
    """

    steps: int
    prediction: float
    low: float
    high: float


class Forecast:
    """Games for forecasts of 1 to `horizon` steps.

    Attributes:
        ledgers: Ledger of each number of steps, from 1.
    """

    def __init__(self, ledgers: Sequence[Ledger]) -> None:
        self.ledgers = list(ledgers)

    def __repr__(self) -> str:
        first = self.ledgers[0]
        return f"<Forecast of {len(self.ledgers)} steps by {first.spec}: {first.rounds:,} rows>"

    @property
    def horizon(self) -> int:
        """Largest number of steps."""
        return len(self.ledgers)

    def certify(self) -> list[list[Certificate]]:
        """Return the certificates of each number of steps."""
        return [ledger.certify() for ledger in self.ledgers]

    def steps(self) -> list[Steps]:
        """Return error and coverage of each number of steps."""
        return [_steps(h, ledger) for h, ledger in enumerate(self.ledgers, 1)]

    def predict(self, rows: object) -> list[Ahead]:
        """Return forecasts of the next rows, in their order: the j-th row of a group is j steps ahead.

        Args:
            rows: Frame, or list of dicts, with the columns of the rows to come, without their labels; at most `horizon`
                rows per group.
        """
        listed = _listed(rows)
        lags = self._lags
        counts: dict[str, int] = {}
        ahead = []
        for row in listed:
            group = lags.row(row).group
            counts[group] = counts.get(group, 0) + 1
            ahead.append(counts[group])
        if max(ahead, default=1) > self.horizon:
            must = f"there must be at most {self.horizon} rows to come per group"
            raise InputError(must, f"got {max(ahead)}", "Play with a larger horizon.")
        found: dict[int, Ahead] = {}
        for h in sorted(set(ahead)):
            later = _arrived(self.ledgers[h - 1])
            numbers, sets = later.predict(listed), later.predict_set(listed)
            for t, steps in enumerate(ahead):
                if steps == h:
                    low, high = sets[t] or (float(numbers[t]), float(numbers[t]))
                    found[t] = Ahead(h, float(numbers[t]), float(low), float(high))
        return [found[t] for t in range(len(listed))]

    @property
    def _lags(self) -> Lags:
        encoding = self.ledgers[0].encoding
        lags = None if encoding is None else encoding.lags
        assert lags is not None
        return lags

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write one model file per number of steps to a folder."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for h, ledger in enumerate(self.ledgers, 1):
            save(ledger, place / FILE.format(h))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Forecast:
        """Return the forecasts that `save` has written."""
        ledgers: list[Ledger] = []
        while (path := Path(folder) / FILE.format(len(ledgers) + 1)).exists():
            found = load(path)
            if not isinstance(found, Ledger):
                raise InputError(f"{path} must be a saved game.")
            ledgers.append(found)
        if not ledgers:
            raise InputError("a folder of forecasts must have model files", f"{folder} has no {FILE.format(1)}")
        return cls(ledgers)


def _steps(h: int, ledger: Ledger) -> Steps:
    coverage, mae, rmse = ledger.coverage, ledger.mae, ledger.rmse
    assert coverage is not None
    assert mae is not None
    assert rmse is not None
    held, most = 1.0 - coverage.missed / coverage.played, 1.0
    for one in ledger.certify():
        if one.theorem == "coverage_deviation" and one.bound is not None:
            found: Any = one.quantities  # misses and rounds of one group; each group is off by as many rounds at most
            most = min(one.bound * found["rounds_counted"] * found.get("groups", 1) / coverage.played, 1.0)
    return Steps(h, ledger.rounds, mae, rmse, held, 1.0 - coverage.alpha, most, coverage.mean_size)


def _arrived(ledger: Ledger) -> Ledger:
    """Return a copy of the ledger whose learner has taken the outcomes of all rows as known."""
    learner = ledger.player.copy()
    learner.encoding = ledger.player.encoding
    learner.feature_names = ledger.player.feature_names
    learner.arrive()
    return ledger.with_learner(learner)


def _listed(rows: Any) -> list[Mapping[str, Any]]:
    """Return rows to come as dicts."""
    if is_frame(rows):
        import narwhals as nw

        frame = nw.from_native(rows)
        whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return list(whole.iter_rows(named=True))
    if not isinstance(rows, (list, tuple)) or not all(isinstance(one, Mapping) for one in rows):
        raise InputError("rows to come must be a frame or a list of dicts", f"got {named(rows)}")
    return list(rows)


def forecast(
    learner: str | Forecast | None, source: Source, horizon: int = 12, lags: int = 12, lag_columns: Sequence[str] = (),
    by: str | None = None, cover: float = 0.9, step: float = 0.05, label: str | int | None = None,
) -> Forecast:  # fmt: skip
    """Play a table of numbers in its order, and forecast each row from 1 to `horizon` rows before it.

    Args:
        learner: Spec of a learner of numbers; None for `auto`; or forecasts to continue with further rows.
        source: File, frame or list of dicts, one row per time.
        horizon: Largest number of steps ahead.
        lags: Number of lags of the label (data/tables/lags.py), from `steps` on.
        lag_columns: Columns that have lags too.
        by: Column of groups: several series in one table.
        cover: Coverage of the intervals.
        step: Step of the thresholds of the intervals: larger ones adapt faster.
        label: Column to forecast.

    Returns:
        The games: results, certificates, forecasts of the rows to come.

    Example:
        >>> import novikoff as nk
        >>> rows = [{"week": t % 4, "sales": 10.0 + t % 4} for t in range(60)]
        >>> found = nk.forecast("vaw", rows, horizon=2, lags=4, label="sales")
        >>> [one.steps for one in found.steps()]
        [1, 2]
        >>> [one.steps for one in found.predict([{"week": 0}, {"week": 1}])]
        [1, 2]
    """
    held = isinstance(source, (str, os.PathLike, list, tuple)) or is_frame(source)
    if not held:
        do = "Pass a path, a frame or a list of dicts."
        raise InputError("a source of forecasts is read once per step, so it must be held", f"got {named(source)}", do)
    if isinstance(learner, Forecast):
        return Forecast([play(one.learner, source, ledger=one, label=label) for one in learner.ledgers])
    check_count("horizon", horizon, 1)
    if not isinstance(cover, (int, float)) or not 0.0 < cover < 1.0:
        raise InputError(f"cover must be between 0 and 1: got {shown(cover)}.")
    spec = _spec("auto" if learner is None else learner)
    named_by = {} if by is None else {"groups": by}
    sets = Spec("conformal", (spec,), {"alpha": round(1.0 - cover, 12), "step": step, **named_by})
    return Forecast(list(_games(str(sets), source, horizon, lags, lag_columns, by, label)))


def _games(
    spec: str, source: Source, horizon: int, lags: int, columns: Sequence[str], by: str | None, label: str | int | None
) -> Iterator[Ledger]:
    for h in range(1, horizon + 1):
        yield play(spec, source, label=label, task="regress", lags=lags, lag_columns=columns, by=by, horizon=h)


def _spec(learner: object) -> Spec:
    """Return the spec of a learner of numbers."""
    if not isinstance(learner, str) or named_learner(learner) is None:
        do = 'Write nk.forecast("auto", source).'
        raise InputError("forecasts need the spec of a learner", f"got {shown(learner)}", do)
    spec = for_numbers(parsed(learner))
    if task_of(spec) != "regression":
        raise InputError(f"forecasts are of numbers: {learner} predicts labels. Use auto or vaw.")
    return spec
