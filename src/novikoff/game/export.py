"""Export of linear models and trees: a JSON file in the user's columns, or ONNX (game/export_onnx.py).

The exported model is fixed: it does not learn. Scaling is folded into the weights, so a number counts weight times
value, a category its own weight. A tree has at each leaf the prediction of the mixture of its prunings.

Exactness
    The Perceptron without scaling, trees and forests: the same predictions, up to the rounding of sums. Other linear
    learners let a row count in its own scaling or metric before they predict it, which changes its score by the order
    of 1/rounds: the export has the weights as they are. `largest` of `Exported` measures the difference on given rows.
Refused
    Learners whose score is neither linear nor a tree, hashed features, dates, and normalised rows.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.convex.logistic import Logistic
from novikoff.convex.vaw import VAW
from novikoff.core.decision_tree import Node
from novikoff.core.errors import Advice, InputError, MismatchError, Option, shown
from novikoff.core.overwriting import first_bytes
from novikoff.data._loops.scaling import CENTRE, FACTOR, FIRST, LARGEST
from novikoff.data.scaled import Scaled
from novikoff.data.tables.column import NO_FEATURE, NO_NUMBER
from novikoff.linear._loops.second_order_layout import LIMIT
from novikoff.linear.scale_free import Probabilistic
from novikoff.trees.learner import TableLearner

if TYPE_CHECKING:
    from novikoff.core.attribution import Coefficients
    from novikoff.core.learner import Learner, Predictor
    from novikoff.data.tables.encoding import Meaning
    from novikoff.game.ledger import Ledger

Format = Literal["json", "onnx"]
FORMATS = ("json", "onnx")
"""Formats of exported models."""
VERSION = 1
"""Version of the JSON format."""
ALL_LEFT = sys.float_info.max
"""Cut of a node whose numbers all go left."""


@dataclass(frozen=True)
class Exported:
    """An exported model.

    Attributes:
        path: Path of the file.
        format: "json" or "onnx".
        kind: "linear" or "trees".
        columns: Number of columns.
    """

    path: str
    format: Format
    kind: Literal["linear", "trees"]
    columns: int


def export(ledger: Ledger, path: str | os.PathLike[str], format: str | None = None) -> Exported:
    """Implement `Ledger.export`."""
    ending = Path(path).suffix.lstrip(".").lower()
    chosen = ending if format is None and ending in FORMATS else format
    if chosen not in FORMATS:
        what = f"got {shown(format)}" if format is not None else f"got the file {os.fspath(path)}"
        raise InputError("an export must be json or onnx", what, "Name the file model.json or model.onnx.")
    model = exported(ledger)
    if chosen == "json":
        content = (json.dumps(model, indent=1, allow_nan=False) + "\n").encode()
    else:
        from novikoff.game.export_onnx import onnx_model

        content = onnx_model(model)
    Path(path).write_bytes(content)
    return Exported(os.fspath(path), "json" if chosen == "json" else "onnx", model["model"], len(model["columns"]))


def is_exported(path: str) -> bool:
    """Return whether a file is an exported model."""
    first = first_bytes(path, 200)
    return b'"novikoff-export"' in first or (first[:1] == b"\x08" and b"novikoff" in first[:20])


def exported(ledger: Ledger) -> dict[str, Any]:
    """Return the model as JSON values; raise `MismatchError` if it cannot be exported."""
    player, encoding = ledger.player, ledger.encoding
    name = ledger.spec or type(player.within.original).__name__
    if not ledger.rounds:
        raise MismatchError("a model must have played before it is exported: this one has not.")
    if player.draws or player.covers or player.learners or player.task not in ("binary", "multiclass", "regression"):
        raise _refused(name)
    if not isinstance(player.within, TableLearner):
        _own_weights(player, name)  # raises, if there are none, before the columns are looked at
    if encoding is not None:
        for column in encoding.columns:
            if column.kind in ("time", "text"):
                kind = "dates" if column.kind == "time" else "text"
                raise MismatchError(
                    f"a column of {kind} cannot be exported", f"{column.name} is one",
                    Advice("Pass ", Option("drop", column.name), " to train without it."),
                )  # fmt: skip
        if encoding.bits is not None:
            raise MismatchError("hashed features cannot be exported: they have no columns. Train without bits.")
    within = player.within
    kind = "trees" if isinstance(within, TableLearner) else "linear"
    parts = _trees(ledger, within) if isinstance(within, TableLearner) else _linear(ledger, name)
    threshold = 0.0 if ledger.threshold is None else ledger.threshold.score
    signs = player.task == "binary"
    from novikoff.game.predicting import classes

    names = None if player.task == "regression" else [one if _plain(one) else str(one) for one in classes(ledger)]
    return {
        "format": "novikoff-export", "version": VERSION, "learner": name, "rounds": ledger.rounds, "model": kind,
        "output": parts.pop("output"), "labels": names,
        **({"threshold": min(threshold, ALL_LEFT)} if signs else {}), **parts,
    }  # fmt: skip


def _plain(label: object) -> bool:
    return isinstance(label, (str, int, float, bool))


def _refused(name: str) -> MismatchError:
    return MismatchError(
        "only linear models and trees can be exported", f"{name} is neither",
        "Play logistic, ftrl, perceptron, tree or forest, and export that model.",
    )  # fmt: skip


def _meanings(ledger: Ledger, count: int) -> list[Meaning]:
    """Return the column and the kind of each feature."""
    from novikoff.data.tables.encoding import Meaning

    if ledger.encoding is not None:
        return ledger.encoding.meanings()[:count]
    return [Meaning(name, "number") for name in _names(ledger, count)]


def _names(ledger: Ledger, count: int) -> list[str]:
    """Return the name of each feature that is a column by itself."""
    features, names = ledger.player.features, list(ledger.feature_names or ())
    if not names and features is not None and features.kind == "names":
        names = list(map(str, features.names))
    base = "x" if features is None or features.kind == "array" else ""
    return [*names[:count], *(f"{base}{k}" for k in range(len(names), count))]


def _columns(ledger: Ledger, meanings: Sequence[Meaning]) -> list[dict[str, Any]]:
    """Return name, kind, texts that mean a missing value, and the substitute for it, of each column.

    The substitute is None if missing values are features of their own.
    """
    encoding = ledger.encoding
    tokens = [] if encoding is None else encoding.missing
    found: dict[str, dict[str, Any]] = {}
    gaps = {one.column for one in meanings if one.kind == "missing"}
    for one in meanings:
        if one.kind == "category":
            # Without missing values in training, one is like a category that was never seen: "".
            fill: float | str | None = None if one.column in gaps else ""
            missing = sorted({*NO_FEATURE, *tokens})
            found[one.column] = {"name": one.column, "kind": "category", "missing": missing, "fill": fill}
        elif one.column not in found:
            mean = 0.0 if encoding is None else encoding.means.get(one.column, 0.0)
            fill = None if one.column in gaps else mean
            missing = sorted({*NO_NUMBER, *tokens})
            found[one.column] = {"name": one.column, "kind": "number", "missing": missing, "fill": fill}
    return list(found.values())


def _own_weights(player: Learner, name: str) -> Coefficients:
    """Return the weights of a linear learner; raise `MismatchError` if there are none, or with other probabilities."""
    inner: Predictor = player.learner if isinstance(player, Scaled) else player
    own = inner.linear_weights()
    if own is None or (player.task == "binary" and player.probable and not isinstance(inner, Probabilistic)):
        raise _refused(name)
    return own


def _linear(ledger: Ledger, name: str) -> dict[str, Any]:
    player = ledger.player
    own = _own_weights(player, name)
    inner: Predictor = player.learner if isinstance(player, Scaled) else player
    odds = isinstance(inner, Probabilistic)
    factor, shift = _scaling(player, own.weights.shape[1])
    weights = own.weights[:, : len(factor)] * factor
    output = "number" if player.task == "regression" else "log-odds" if odds else "score"
    if player.task == "multiclass" and player.probable:
        output = "softmax"
    meanings = _meanings(ledger, len(factor))
    columns = _columns(ledger, meanings)
    terms: dict[str, dict[str, Any]] = {one["name"]: {"column": one["name"]} for one in columns}
    for one in meanings:
        if one.kind == "category":
            terms[one.column].setdefault("values", []).append(one.category)
    places, begin = [], 1
    for term in terms.values():
        term["at"] = begin
        begin += len(term.get("values", [0])) + 1
    for one in meanings:
        term = terms[one.column]
        values = term.get("values", [0])
        after = {"number": 0, "missing": len(values)}
        places.append(term["at"] + (values.index(one.category) if one.kind == "category" else after[one.kind]))
    found = np.zeros((len(weights), begin))
    found[:, 0] = own.intercepts - weights @ shift
    found[:, places] = weights
    parts: dict[str, Any] = {"output": output, "columns": columns, "terms": [
        {name: value for name, value in term.items() if name != "at"} for term in terms.values()
    ], "weights": found.tolist()}  # fmt: skip
    if isinstance(inner, (Logistic, VAW)):
        if isinstance(inner, VAW) and not (inner.low is None and inner.high is None):
            raise MismatchError("limits of predictions cannot be exported: train vaw without low and high.")
        scaled = np.diag([inner.bias, *factor])  # from (1, features) to the constant and the scaled features
        scaled[1:, 0] = -factor * shift
        spread = np.zeros((begin, begin))
        into = np.ix_([0, *places], [0, *places])
        spread[into] = scaled.T @ inner.matrix.spread(len(factor) + 1) @ scaled
        full = inner.matrix.count >= LIMIT  # later features have no place in the matrix
        parts |= {"spread": spread.tolist(), "unseen": 0.0 if full else 1.0 / inner.matrix.ridge}
    return parts


def _scaling(player: Predictor, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return factor and shift (features,) with which (x - shift) * factor is x after scaling."""
    if not isinstance(player, Scaled):
        return np.ones(count), np.zeros(count)
    known = player.scaler._seen[:, :count]
    shift = np.zeros(known.shape[1])
    if player.scale == "range":
        return np.divide(1.0, known[LARGEST], out=shift.copy(), where=known[LARGEST] > 0.0), shift
    if player.features.kind == "array":  # sparse features are not centred
        shift = known[FIRST] + known[CENTRE]
    return known[FACTOR].copy(), shift


def _trees(ledger: Ledger, learner: TableLearner) -> dict[str, Any]:
    columns = learner.columns
    names = ledger.feature_names
    known = _columns(ledger, _meanings(ledger, len(columns.column_of)))
    if ledger.encoding is None:  # absent features of sparse rows are 0
        names = _names(ledger, columns.count)
        known = [{"name": columns.name(j, names), "kind": "number", "missing": sorted(NO_NUMBER), "fill": 0.0}
                 for j in range(columns.count)]  # fmt: skip
    trees = [_node(root, learner, names) for root in learner.leaves()]
    output = "softmax" if ledger.player.task == "multiclass" else learner.scale
    return {"output": output, "columns": known, "trees": trees}


def _node(node: Node, learner: TableLearner, features: list[str] | None) -> dict[str, Any]:
    """Return a node of a tree whose leaves have scores."""
    if node.left is None or node.right is None:
        return {"value": list(node.forecast)}
    columns = learner.columns
    known = columns.categories[node.column]
    below = {"left": _node(node.left, learner, features), "right": _node(node.right, learner, features)}
    found: dict[str, Any] = {"column": columns.name(node.column, features)}
    if columns.kinds[node.column] == 0:
        found["cut"] = min(node.cut, ALL_LEFT)
    else:
        last = learner.last_category
        left = {known[code] for code in node.categories if code < min(last, len(known))}
        others = last in node.categories
        found["in"] = sorted(left | set(known[last:]) if others else left)
        found["others"] = "left" if others else "right"
        found["known"] = sorted({*known} - {*found["in"]}) if others else []
    return {**found, "missing": "left" if node.missing_left else "right", **below}
