"""Explanations in the user's columns: why a row is predicted as it is, and which columns matter.

Why
    A linear learner's score is a sum of weight times value, a tree's a sum of steps along its path (`attribution` of
    the learner). The score of a mixture is not such a sum. The columns of the row replace those of a reference row one
    by one, in every order if there are at most 8 of them, otherwise in up to 16 orders drawn with a fixed seed, and the
    changes of the score are averaged (Shapley values). With `against`, any learner with scores is explained like this.
    score = base + contributions + rest: the rest is always shown.
Importance
    From the state of the learner: sizes of weights, gains of cuts, or for a mixture the mean over its members. Or the
    increase of the loss when the values of a column are exchanged between rows (permutation).
Columns
    Features of a table belong to the column they came from: categories, missing values and parts of dates are summed.
    A text gives its words. Words that share a hashed feature are one line.
Reference
    [breiman2001] for permutation, [strumbelj2014] for Shapley values by sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.attribution import Attribution, Kind, Method, Scale, entries_of
from novikoff.core.errors import InputError, shown
from novikoff.core.labels import Numbering, alike
from novikoff.core.types import Batch, CheckedRow, Example, Labels, LabelValue, Sparse

if TYPE_CHECKING:
    from novikoff.core.learner import Learner
    from novikoff.game.ledger import Ledger

Vector = NDArray[np.float64]
Key = int | str

ALL_ORDERS = 8
"""Largest number of columns that are replaced in every order."""
MOST_SCORES = 1024
"""Approximate limit of the number of rows scored for one explanation; at least two orders are tried."""
MOST_ORDERS = 16
"""Largest number of orders drawn, if there are more columns than `ALL_ORDERS`."""
MOST_ROWS = 500
"""Number of last rows for permutation."""
NOT_LINEAR = "perceptron, logistic, ftrl, tree, forest and auto explain their predictions"
BASES: Mapping[Method, str] = {"exact": "bias", "path": "start", "replacement": "reference row"}
"""Name of the part of a score before any column, by method."""


class Contribution(NamedTuple):
    """Part of a score that one column accounts for.

    Attributes:
        column: Column, or column and word of a text.
        value: Value of the column in the row, for a word how often it occurs; None if it is missing, "" if unknown.
        amount: Part of the score.
    """

    column: str
    value: object
    amount: float


@dataclass(frozen=True)
class Explanation:
    """The score of one row as a sum: base + contributions + rest.

    Attributes:
        prediction: Prediction for the row, in the user's labels.
        label: Label whose score it is: the positive one of two, otherwise the predicted one; None for numbers.
        scale: What the score is: "log-odds", "log probability", "score", or "number" for a predicted number.
        method: "exact", "path" or "replacement", as in core/attribution.py.
        score: The score.
        base: Part of the score before any column: bias, root of the trees, score of the reference row.
        contributions: Parts of the columns, the largest in size first.
        rest: What is left, rounding included.
    """

    prediction: LabelValue
    label: LabelValue | None
    scale: Scale
    method: Method
    score: float
    base: float
    contributions: tuple[Contribution, ...]
    rest: float

    @property
    def columns(self) -> list[str]:
        """Columns, those with the largest contributions first."""
        return [one.column for one in self.contributions]

    @property
    def amounts(self) -> list[float]:
        """Contributions in the same order."""
        return [one.amount for one in self.contributions]

    def plain(self) -> dict[str, object]:
        """Return the explanation as JSON values."""
        return {
            "prediction": _json(self.prediction), "label": _json(self.label), "scale": self.scale,
            "method": self.method, "score": self.score, "base": self.base, "rest": self.rest,
            "contributions": [{"column": one.column, "value": _json(one.value), "amount": one.amount}
                              for one in self.contributions],
        }  # fmt: skip

    def frame(self) -> Any:
        """Return a pandas frame with a row per column, and one each for base and rest; values are texts."""
        rows = [*self.contributions, Contribution(BASES[self.method], "", self.base),
                Contribution("rest", "", self.rest)]  # fmt: skip
        values = [None if one.value is None else str(one.value) for one in rows]
        return _frame({"column": [one.column for one in rows], "value": values,
                       "amount": [one.amount for one in rows]})  # fmt: skip

    def lines(self, most: int = 10) -> list[str]:
        """Return the explanation as text, with the `most` largest contributions and the sum of the others."""
        of = "" if self.label is None else f" of {self.label}"
        named = "prediction" if self.scale == "number" else f"{self.scale}{of}"
        found = [(one.amount, one.column + _shown(one.value)) for one in self.contributions if one.amount]
        if len(found) > most:
            others = found[most - 1 :]
            found = [*found[: most - 1], (sum(amount for amount, _ in others), f"{len(others):,} other columns")]
        found.append((self.base, BASES[self.method]))
        if abs(self.rest) > 1e-9 * (1.0 + abs(self.score)):
            found.append((self.rest, "rest"))
        return [f"{named} {self.score:+.4g}, by {_METHODS[self.method]}:",
                *(f"  {amount:+10.4g}  {name}" for amount, name in found)]  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([f"prediction: {self.prediction}", *self.lines()])


_METHODS: Mapping[Method, str] = {
    "exact": "weight times value",
    "path": "the cuts on its path",
    "replacement": "replacing the columns of a reference row",
}


@dataclass(frozen=True)
class Importance:
    """Importance of the columns, the largest first.

    Attributes:
        columns: Columns.
        values: Importance of each, in the same order.
        kind: "weights", "gain" or "share", from the state of the learner; "permutation" by exchanging values.
        unit: What the numbers are, in words.
        rows: Number of rows with which it was measured; None if it was not measured.
    """

    columns: list[str]
    values: list[float]
    kind: Kind
    unit: str
    rows: int | None = None

    def plain(self) -> dict[str, object]:
        """Return the importance as JSON values."""
        found: dict[str, object] = {"kind": self.kind, "unit": self.unit}
        found |= {"columns": self.columns, "values": self.values}
        return found if self.rows is None else {**found, "rows": self.rows}

    def frame(self) -> Any:
        """Return a pandas frame with the columns `column` and `importance`."""
        return _frame({"column": self.columns, "importance": self.values})

    def __str__(self) -> str:
        widest = max(map(len, self.columns), default=0)
        pairs = zip(self.columns, self.values, strict=True)
        return "\n".join([f"importance: {self.unit}", *(f"  {name:<{widest}}  {value:.4g}" for name, value in pairs)])


def _frame(columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    try:
        return pa.table(columns).to_pandas()
    except ImportError:
        raise InputError("a frame needs pandas: it is not installed. Use columns and values.") from None


def _json(value: object) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _shown(value: object) -> str:
    """Return a value for a line; "" if it is unknown."""
    if value is None:
        return " is missing"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return "" if text == "" else f" = {text if len(text) <= 40 else text[:39] + '…'}"


# Columns


class Translation:
    """Names of features in the user's columns.

    Args:
        ledger: Ledger of the learner.
        known: Names of features that only the caller knows, by index.
    """

    def __init__(self, ledger: Ledger, known: Mapping[int, str] | None = None) -> None:
        self.encoding, self._known = ledger.encoding, known or {}
        self.hashed = self.encoding is not None and self.encoding.bits is not None
        features = ledger.player.features
        self.names: list[str] = list(ledger.feature_names or ())
        if self.encoding is not None and not self.hashed:
            self.names = self.encoding.sources()
        elif features is not None and features.kind == "names":
            self.names = list(features.names)

    def column(self, place: int) -> str:
        """Return the column of a feature; x and its index if it has no name."""
        return self.names[place] if place < len(self.names) else self._known.get(place) or f"x{place}"

    def sums(self, values: Vector) -> tuple[list[str], list[float]]:
        """Return columns and the sums of their features' values, the largest first."""
        sums: dict[str, float] = dict.fromkeys(self.names, 0.0)
        for place in np.flatnonzero(values).tolist():
            sums[self.column(place)] = sums.get(self.column(place), 0.0) + float(values[place])
        ranked = sorted(sums.items(), key=lambda pair: -pair[1])
        return [name for name, _ in ranked], [value for _, value in ranked]


class Asked(NamedTuple):
    """A row to explain.

    Attributes:
        x: The row as the learner takes it.
        cells: Values by column, None where missing; empty if they are known by place only.
        words: Columns and words by place, of hashed rows.
    """

    x: Example
    cells: Mapping[str, object]
    words: Mapping[int, str]


def asked(ledger: Ledger, x: Example, cells: Mapping[str, object] | None = None) -> Asked:
    """Return a row of the user as the learner takes it, with the names of its features.

    Args:
        ledger: Ledger of the learner.
        x: Dict, array, row of a frame, text of a learner of texts, or an encoded row.
        cells: Values by column of an encoded row; None if they are unknown.
    """
    from novikoff.data.hashing import murmur, words_of
    from novikoff.data.tables.alignment import adopted_row, arrays_of_row, columns_of_row
    from novikoff.data.tables.records import cell_value

    encoding, features = ledger.encoding, ledger.player.features
    if isinstance(x, str) and encoding is None:
        count = 0 if features is None or features.kind != "numbers" else features.count
        if count < 2 or count & (count - 1):
            raise InputError(f"a text can be explained by a learner of texts only: got {shown(x)}.")
        found = {murmur(word, 0) & (count - 1): word.decode(errors="replace") for word in words_of(x.encode())}
        from novikoff.data.tables.encoding import counted

        data = np.frombuffer(x.encode(), dtype=np.uint8)
        ends = np.zeros(1, np.int64), np.array([len(data)], np.int64)
        return Asked(next(iter(counted(data, *ends, 0, count.bit_length() - 1).rows())), {}, found)
    names = columns_of_row(x, encoding)
    row: Any = x
    if cells is None:
        cells = {name: cell_value(row[name]) for name in names} if names is not None else {}
    if not cells and isinstance(x, Mapping):
        cells = {str(key): value for key, value in x.items()}
    if names is not None:
        row = adopted_row(x, encoding, ledger.feature_names)
    words: dict[int, str] = {}
    if encoding is not None and encoding.bits is not None and cells:
        for entry in encoding.entries(arrays_of_row(cells, encoding)):
            name = f"{entry.column}: {entry.word}" if entry.word else entry.column
            words[entry.place] = f"{words[entry.place]} + {name}" if entry.place in words else name
    return Asked(row, cells, words)


def one_row(frame: Any) -> dict[str, object]:
    """Return the only row of a frame as a dict."""
    import narwhals as nw

    found = nw.from_native(frame)
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    if len(found) != 1:
        raise InputError(f"why() explains one row: got {len(found):,}. Call it for each row.")
    return dict(zip(found.columns, found.row(0), strict=True))


# One prediction


def why(
    ledger: Ledger, x: Example, label: LabelValue | None = None, against: Example | None = None,
    cells: Mapping[str, object] | None = None, words: Mapping[int, str] | None = None,
) -> Explanation:  # fmt: skip
    """Explain the prediction of one row: see `Ledger.why`; `cells` and `words` as in `Asked`."""
    player, row, names = ledger.player, asked(ledger, x, cells), Translation(ledger)
    row = row if words is None else row._replace(words=words)
    found = None if against is not None else player.attribution(row.x)
    if found is None:
        found = replaced(ledger, row, None if against is None else asked(ledger, against).x, names)
    sums: dict[str, Vector] = {}
    shown_values: dict[str, object] = {}
    own = dict(zip(*map(np.ndarray.tolist, entries_of(_row(ledger, row.x))), strict=True))
    for place, value in zip(found.places.tolist(), found.values, strict=True):
        name = row.words.get(place) or names.column(place)
        sums[name] = sums[name] + value if name in sums else value
        if name not in shown_values:
            known = names.encoding is None or names.encoding.dense or place in row.words
            shown_values[name] = row.cells[name] if name in row.cells else own.get(place, 0.0) if known else ""
    which, sign = _output(ledger, player, found, label)
    parts = [Contribution(name, shown_values[name], sign * float(value[which])) for name, value in sums.items()]
    parts.sort(key=lambda one: -abs(one.amount))
    labelled = None if player.task == "regression" else label
    if labelled is None and player.task != "regression":
        labelled = ledger.label(which if player.numbered else 1)
    number = player.task == "regression"  # as rows without outcomes in between are predicted
    if ledger.threshold is not None and not number:
        prediction: LabelValue = ledger.label(ledger.threshold.predict_one(player, row.x))
    else:
        prediction = float(found.score[0]) if number else ledger.label(player.predict_one(row.x))
    return Explanation(
        prediction, labelled, found.scale, found.method, sign * float(found.score[which]),
        sign * float(found.base[which]), tuple(parts), sign * float(found.rest[which]),
    )  # fmt: skip


def _output(ledger: Ledger, player: Learner, found: Attribution, label: LabelValue | None) -> tuple[int, float]:
    """Return the output that is the score of a label, and its sign."""
    if player.numbered:
        if label is None:
            return int(np.argmax(found.score)) if len(found.score) else 0, 1.0
        number = Numbering(list(ledger.labels or ())).find(label)
        if number is None or number >= len(found.score):
            raise InputError(f"label must be one of {ledger.labels}: got {shown(label)}.")
        return number, 1.0
    if label is None or player.task == "regression":
        return 0, 1.0
    names = [ledger.label(-1), ledger.label(1)]
    if not any(alike(name, label) for name in names):
        raise InputError(f"label must be one of {names}: got {shown(label)}.")
    return 0, 1.0 if alike(names[1], label) else -1.0


def _row(ledger: Ledger, x: Example) -> Vector | CheckedRow:
    """Return a row of the learner as places and values."""
    features = ledger.player.features
    if features is not None:
        return features.row(x, learn=False)
    if isinstance(x, tuple) and len(x) == 2:
        return CheckedRow((np.asarray(x[0], np.uint32), np.asarray(x[1], np.float64)))
    if isinstance(x, Mapping):
        return CheckedRow((np.arange(len(x), dtype=np.uint32), np.array([float(value) for value in x.values()])))
    return np.asarray(x, dtype=np.float64).reshape(-1)


def replaced(ledger: Ledger, row: Asked, against: Example | None, names: Translation) -> Attribution:
    """Return the score of a row as the sum of the changes when its columns replace those of a reference row."""
    player = ledger.player
    numbers = player.task == "regression"
    if not (player.scores_rows or numbers) or not (player.replaces or against is not None):
        kind = type(player.within.original).__name__
        raise InputError(
            "an explanation needs a learner whose score comes from columns", f"{kind} has no such score",
            f"Pass against=, a row to compare with: {NOT_LINEAR}." if player.scores_rows or numbers else
            f"Choose another learner: {NOT_LINEAR}.",
        )  # fmt: skip
    reference = player.reference() if against is None else _row(ledger, against)
    own, other = _entries(_row(ledger, row.x)), {} if reference is None else _entries(reference)
    groups: dict[str, list[int]] = {}
    for place in sorted({*own, *other}):
        groups.setdefault(row.words.get(place) or names.column(place), []).append(place)
    changed = [places for places in groups.values() if any(own.get(p, 0.0) != other.get(p, 0.0) for p in places)]
    make = _maker(ledger, row.x)

    def scores(chosen: Sequence[NDArray[np.bool_]]) -> Vector:
        rows = []
        for mask in chosen:
            here = dict(other)
            for places, takes in zip(changed, mask.tolist(), strict=True):
                if takes:
                    for place in places:
                        here.pop(place, None)
                        if place in own:
                            here[place] = own[place]
            rows.append(here)
        return scored(player, make(rows))

    base, values, score = shapley(scores, len(changed))
    places = np.array([places[0] for places in changed], dtype=np.int64)
    scale: Scale = "number" if numbers else "probability" if _of_chances(player) else "score"
    scale = "log-odds" if scale == "score" and player.probable else scale
    return Attribution("replacement", scale, score, base, places, values)


def scored(player: Learner, batch: Batch) -> Vector:
    """Return the scores (rows, outputs) of a batch, the probabilities of many labels, or the numbers predicted."""
    if player.task == "regression":
        found: NDArray[Any] = player.predict_ahead(batch)
    else:
        found = player.probabilities_many(batch) if _of_chances(player) else player.scores_many(batch)
    return np.asarray(found, dtype=np.float64).reshape(len(batch), -1)


def _of_chances(player: Learner) -> bool:
    """Return whether scores are replaced by probabilities: those of many labels, if there are any."""
    return player.numbered and player.probable


def shapley(scores: Callable[[Sequence[NDArray[np.bool_]]], Vector], count: int) -> tuple[Vector, Vector, Vector]:
    """Return the score of the reference, the mean change (columns, outputs) by each column, and the score of the row.

    Args:
        scores: Function from masks, true for columns of the row, to scores (masks, outputs).
        count: Number of columns.
    """
    if count <= ALL_ORDERS:
        masks = np.array([[bool(code >> j & 1) for j in range(count)] for code in range(2**count)], dtype=np.bool_)
        found = scores(list(masks.reshape(2**count, count)))
        values = np.zeros((count, found.shape[1]))
        for j in range(count):
            others = [k for k in range(count) if k != j]
            for size in range(count):
                weight = 1.0 / (count * comb(count - 1, size))
                for some in combinations(others, size):
                    code = sum(1 << k for k in some)
                    values[j] += weight * (found[code | 1 << j] - found[code])
        return found[0], values, found[-1]
    pairs = max(1, min(MOST_ORDERS, MOST_SCORES // (count + 1)) // 2)
    coins = np.random.default_rng(0)
    orders = [order for _ in range(pairs) for one in [coins.permutation(count)] for order in (one, one[::-1])]
    masks = np.zeros((len(orders), count + 1, count), dtype=np.bool_)
    for order, mask in zip(orders, masks, strict=True):
        for step, column in enumerate(order.tolist()):
            mask[step + 1 :, column] = True
    found = scores(list(masks.reshape(-1, count)))
    found = found.reshape(len(orders), count + 1, -1)
    values = np.zeros((count, found.shape[2]))
    for order, along in zip(orders, found, strict=True):
        values[order] += np.diff(along, axis=0) / len(orders)
    return found[0, 0], values, found[0, -1]


def _entries(row: Vector | CheckedRow) -> dict[int, float]:
    """Return the values other than 0 of a row by place."""
    places, values = entries_of(row)
    return {place: value for place, value in zip(places.tolist(), values.tolist(), strict=True) if value}


def _maker(ledger: Ledger, x: Example) -> Callable[[Sequence[dict[int, float]]], Batch]:
    """Return a function from rows by place to a batch of the form in which the learner takes rows."""
    features = ledger.player.features
    if isinstance(x, Mapping) and isinstance(next(iter(x), ""), str):
        keys = list(x) if features is None else None

        def named(rows: Sequence[dict[int, float]]) -> Batch:
            known = keys or (list(features.names) if features is not None else [])
            made: list[Example] = [
                {known[place]: value for place, value in row.items() if place < len(known)} for row in rows
            ]
            return Batch(made, np.zeros(len(rows)), 1)

        return named
    if isinstance(x, (tuple, Mapping)):
        width = 0 if features is None else features.count
        return lambda rows: Batch(sparse(rows, width), np.zeros(len(rows)), 1)
    count = np.asarray(x).size

    def dense(rows: Sequence[dict[int, float]]) -> Batch:
        table = np.zeros((len(rows), count))
        for line, row in zip(table, rows, strict=True):
            line[list(row)] = list(row.values())
        return Batch(table, np.zeros(len(rows)), 1)

    return dense


def sparse(rows: Sequence[Mapping[int, float]], width: int) -> Sparse:
    """Return rows by place as sparse rows."""
    pairs = [(np.array(list(row), dtype=np.uint32), np.array(list(row.values()), dtype=np.float64)) for row in rows]
    return Sparse.of_rows(pairs, width)


# All rows


def held_importance(ledger: Ledger, known: Mapping[int, str] | None = None) -> Importance | None:
    """Return the importance of the columns by what the learner holds; None if it holds none, or they are hashed."""
    names = Translation(ledger, known)
    found = None if names.hashed else ledger.player.importances()
    return None if found is None else Importance(*names.sums(found.values), found.kind, found.unit)


def importance(
    ledger: Ledger, kind: Kind | None = None, data: object = None, rows: int = MOST_ROWS,
    names: Mapping[int, str] | None = None,
) -> Importance:  # fmt: skip
    """Return the importance of the columns: see `Ledger.importance`; `names` as in `Translation`."""
    if kind not in (None, "weights", "gain", "share", "permutation"):
        raise InputError(f'kind must be None or "permutation": got {shown(kind)}.')
    translation, player = Translation(ledger, names), ledger.player
    if kind != "permutation" and data is None:
        found = held_importance(ledger, names)
        if found is not None and kind in (None, found.kind):
            return found
        if kind is not None:
            own = "none" if found is None else f'"{found.kind}"'
            raise InputError(
                f'kind must fit the learner: got "{kind}", and {type(player.original).__name__} has {own}.'
            )
    if translation.hashed:
        raise InputError(
            "importance needs features with names: those of this table are hashed, because of a text column or on "
            "request. Explain single rows with why()."
        )
    batch = player.last_rows(rows) if data is None else _given(ledger, data, rows)
    if batch is None or not len(batch):
        raise InputError(
            "importance needs weights, cuts or rows", f"{type(player.within.original).__name__} holds none",
            "Pass data=, rows with labels, for the importance by permutation.",
        )  # fmt: skip
    return permutation(ledger, batch, translation)


def permutation(ledger: Ledger, batch: Batch, names: Translation) -> Importance:
    """Return the increase of the mean loss when the values of a column are exchanged between rows."""
    player, coins = ledger.player, np.random.default_rng(0)
    before, unit = losses(player, batch)
    places = _places(batch, names)
    order, mean = coins.permutation(len(batch)), float(np.mean(before))
    values = [float(np.mean(losses(player, _exchanged(batch, keys, order))[0])) - mean for keys in places.values()]
    ranked = sorted(zip(places, values, strict=True), key=lambda pair: -pair[1])
    return Importance(
        [name for name, _ in ranked], [value for _, value in ranked], "permutation",
        f"increase of the {unit} per row when its values are exchanged", len(batch),
    )  # fmt: skip


def losses(player: Learner, batch: Batch) -> tuple[Vector, str]:
    """Return the loss of each row and its name: log loss if there are probabilities, otherwise the learner's."""
    y = np.asarray(batch.y)
    if player.task == "regression":
        predicted = player.predict_ahead(batch).astype(np.float64)
        return np.asarray(player.costs(predicted, y.astype(np.float64))), f"{player.loss} loss"
    if not player.probable:
        return (player.predict_many(batch) != y).astype(np.float64), "mistakes"
    chances = player.probabilities_many(batch)
    came = chances[np.arange(len(y)), y.astype(np.int64)] if player.numbered else np.where(y > 0, chances, 1 - chances)
    return -np.log(np.maximum(came, np.finfo(np.float64).tiny)), "log loss"


def _places(batch: Batch, names: Translation) -> dict[str, list[Key]]:
    """Return the features of each column that occur in a batch."""
    found: dict[str, list[Key]] = {}
    if isinstance(batch.x, np.ndarray):
        for place in range(batch.table().shape[1]):
            found.setdefault(names.column(place), []).append(place)
        return found
    keys: set[Key] = {key for row in _mappings(batch) for key in row}
    for key in sorted(keys, key=lambda key: (isinstance(key, str), key)):
        found.setdefault(key if isinstance(key, str) else names.column(key), []).append(key)
    return found


def _mappings(batch: Batch) -> list[dict[Any, float]]:
    rows: Iterable[Any] = (x for x, _ in batch.rows())
    return [dict(x) if isinstance(x, Mapping) else dict(zip(x[0].tolist(), x[1].tolist(), strict=True)) for x in rows]


def _exchanged(batch: Batch, keys: Sequence[Key], order: NDArray[np.intp]) -> Batch:
    """Return the batch in which row t has these features of row order[t]."""
    if isinstance(batch.x, np.ndarray):
        table, columns = batch.table().copy(), np.array(keys, dtype=np.int64)
        table[:, columns] = table[np.ix_(order, columns)]
        return Batch(table, batch.y, batch.first, encoding=batch.encoding)
    rows, taken = _mappings(batch), {*keys}
    made = [
        {**{key: value for key, value in rows[t].items() if key not in taken},
         **{key: value for key, value in rows[s].items() if key in taken}}
        for t, s in enumerate(order.tolist())
    ]  # fmt: skip
    x: Any = sparse(made, batch.x.width) if isinstance(batch.x, Sparse) else made
    return Batch(x, batch.y, batch.first, encoding=batch.encoding)


def _given(ledger: Ledger, data: object, rows: int) -> Batch | None:
    """Return the last rows of a source, as the learner takes them; None if there are none."""
    from novikoff.data.as_stream import as_stream, for_learner
    from novikoff.data.tables.alignment import adopted

    player = ledger.player
    stream = adopted(as_stream(data, player, player.numbered), ledger.encoding, ledger.feature_names, learn=False)
    numbering = Numbering(list(ledger.labels or ())) if player.numbered else None
    if ledger.labels and numbering is None and player.learns_labels:
        stream.expected = Labels(*ledger.labels)
    last: list[Batch] = []
    for batch in stream.batches():
        last.append(for_learner(batch, stream, player, numbering))
        while sum(map(len, last[1:])) >= rows:
            last.pop(0)
        last[-1] = last[-1].kept()
    if not last:
        return None
    xs: list[Any] = [batch.x for batch in last]
    y = np.concatenate([batch.y for batch in last])
    if isinstance(xs[0], np.ndarray):
        widest = max(x.shape[1] for x in xs)
        x: Any = np.concatenate([np.pad(x, ((0, 0), (0, widest - x.shape[1]))) for x in xs])
    elif isinstance(xs[0], Sparse):
        x = Sparse.concatenated(xs)
    else:
        x = [row for part in xs for row in part]
    return Batch(x[-rows:] if not isinstance(x, Sparse) else x[max(len(y) - rows, 0) :], y[-rows:], 1)
