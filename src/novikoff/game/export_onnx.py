"""ONNX form of an exported model (game/export.py), in doubles.

Inputs
    One per column, of shape (rows, 1), with its name: doubles with NaN for missing values, or strings with "" for them.
Outputs
    `label` (rows,): for numbers, the prediction. `scores` (rows, outputs). `probabilities` (rows, labels), if the model
    has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError

OPSET, ML_OPSET, IR = 17, 3, 8
"""Versions of the operators and of the format: those of onnxruntime 1.13 and later."""
STEPS = 12
"""Steps of Newton's method; the error of a step is squared by the next."""
RESULTS = ("label", "scores", "probabilities")
"""Names of the outputs."""


class Graph:
    """A graph in construction.

    Args:
        model: Exported model as JSON values.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        try:
            self.onnx: Any = import_module("onnx")
        except ImportError:
            raise InputError(
                "an ONNX file needs the package onnx", "it is not installed", "pip install 'novikoff[onnx]'"
            ) from None
        self.model = model
        self.helper = self.onnx.helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self._names = 0

    def constant(self, values: object) -> str:
        """Return the name of a constant."""
        name = self._name()
        array = np.asarray(values)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        """Add a node; return the name of its output."""
        name = self._name() if output is None else output
        learned = kind in ("LabelEncoder", "TreeEnsembleRegressor")
        domain = {"domain": "ai.onnx.ml"} if learned else {}
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], **domain, **attributes))
        return name

    def _name(self) -> str:
        self._names += 1
        return f"novikoff: {self._names}"

    def take(self, column: Mapping[str, Any]) -> str:
        """Add the input of a column; return its name, with missing numbers replaced if the column says so."""
        number, proto = column["kind"] == "number", self.onnx.TensorProto
        name: str = column["name"]
        if name in RESULTS or name.startswith("novikoff: "):
            must = f"a column of an ONNX model must not be named like one of its outputs, {', '.join(RESULTS)}"
            raise InputError(must, f"got {name}", "Rename it before training.")
        kind = proto.DOUBLE if number else proto.STRING
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["rows", 1]))
        if not number or column["fill"] is None:
            return name
        return self.add("Where", self.add("IsNaN", name), self.constant(float(column["fill"])), name)

    def encoded(self, name: str, values: Mapping[str, float], other: float) -> str:
        """Return doubles for the strings of an input; `other` for those that are not listed."""
        found = self.add(
            "LabelEncoder", name, keys_strings=list(values), values_floats=list(values.values()), default_float=other
        )
        return self.add("Cast", found, to=self.onnx.TensorProto.DOUBLE)

    def linear(self) -> str:
        """Return the scores of a linear model."""
        columns, doubles = {one["name"]: one for one in self.model["columns"]}, self.onnx.TensorProto.DOUBLE
        parts, unseen = [], []
        for term in self.model["terms"]:
            name = self.take(columns[term["column"]])
            if "values" in term:
                size = len(term["values"])
                places = {value: float(row) for row, value in enumerate(term["values"])}
                places |= {"": float(size)} if columns[term["column"]]["fill"] is None else {}
                rows = self.add("Cast", self.encoded(name, places, size + 1.0), to=self.onnx.TensorProto.INT64)
                flat = self.add("Reshape", rows, self.constant(np.array([-1])))
                table = np.vstack([np.eye(size + 1), np.zeros(size + 1)])  # the last row is of categories never seen
                parts.append(self.add("Gather", self.constant(table), flat, axis=0))
                if "spread" in self.model:
                    never = np.array([[0.0]] * (size + 1) + [[self.model["unseen"]]])
                    unseen.append(self.add("Gather", self.constant(never), flat, axis=0))
            else:
                gone = self.add("IsNaN", name)
                parts += [self.add("Where", gone, self.constant(0.0), name), self.add("Cast", gone, to=doubles)]
        r = self.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
        weights = np.array(self.model["weights"])
        scores = self.add("MatMul", r, self.constant(weights[:, 1:].T.copy()))
        scores = self.add("Add", scores, self.constant(weights[:, :1].T.copy()))
        return self.played(scores, r, unseen) if "spread" in self.model else scores

    def played(self, score: str, r: str, unseen: list[str]) -> str:
        """Return the score that is played, from that of the weights; `unseen` are parts of v."""
        q = np.array(self.model["spread"])
        products = self.add("Mul", self.add("MatMul", r, self.constant(q[1:, 1:].copy())), r)
        square = self.add("ReduceSum", products, self.constant(np.array([1])), keepdims=1)
        linear = self.add("MatMul", r, self.constant(2.0 * q[1:, :1]))
        v = self.add("Add", self.add("Add", square, linear), self.constant(q[:1, :1].copy()))
        for part in unseen:
            v = self.add("Add", v, part)
        v, one = self.add("Max", v, self.constant(0.0)), self.constant(1.0)
        if self.model["output"] == "number":
            return self.add("Div", score, self.add("Add", v, one))
        half, quarter = self.constant(0.5), self.constant(0.25)
        size, slope = self.add("Abs", score), self.add("Mul", v, quarter)
        z = self.add("Div", size, self.add("Add", slope, one))
        for _ in range(STEPS):  # Newton's method from below, as in the scorer
            t = self.tanh(self.add("Mul", z, half))
            below = self.add("Sub", self.add("Sub", size, z), self.add("Mul", self.add("Mul", v, half), t))
            rise = self.add("Add", self.add("Mul", slope, self.add("Sub", one, self.add("Mul", t, t))), one)
            z = self.add("Add", z, self.add("Div", below, rise))
        return self.add("Mul", z, self.add("Sign", score))

    def tanh(self, x: str) -> str:
        """Return tanh in doubles, from the sigmoid: tanh x = 2 sigmoid(2x) - 1."""
        two, one = self.constant(2.0), self.constant(1.0)
        return self.add("Sub", self.add("Mul", self.add("Sigmoid", self.add("Mul", x, two)), two), one)

    def trees(self) -> str:
        """Return the scores of trees."""
        columns = {one["name"]: one for one in self.model["columns"]}
        used: dict[str, str] = {}
        features: list[str] = []
        places: dict[str, int] = {}
        nodes: dict[str, list[Any]] = {
            name: [] for name in ("tree", "id", "feature", "mode", "cut", "yes", "no", "gone")
        }
        leaves: list[tuple[int, int, float]] = []  # tree, number of the node, number of the leaf in its tree
        values: list[list[Any]] = [[] for _ in self.model["trees"]]

        def feature(node: Mapping[str, Any]) -> int:
            name = node["column"]
            if name not in used:
                used[name] = self.take(columns[name])
            key = name if "cut" in node else f"{name} {node['in']} {node['known']} {node['others']} {node['missing']}"
            if key not in places:
                source = used[name]
                if "cut" not in node:
                    sides = {"left": 0.0, "right": 1.0}
                    values = dict.fromkeys(node["known"], 1.0) | dict.fromkeys(node["in"], 0.0)
                    gone = {"": sides[node["missing"]]} if columns[name]["fill"] is None else {}
                    source = self.encoded(source, values | gone, sides[node["others"]])
                places[key] = len(features)
                features.append(source)
            return places[key]

        def add(node: Mapping[str, Any], tree: int, start: int) -> int:
            """Add a node as number `start`, and those below; return the next free number."""
            inside = "value" not in node
            here = len(nodes["id"])
            mode, cut = ("BRANCH_LEQ", node.get("cut", 0.5)) if inside else ("LEAF", 0.0)
            gone = int(inside and node["missing"] == "left")
            row = (tree, start, feature(node) if inside else 0, mode, cut, 0, 0, gone)
            for column, value in zip(nodes.values(), row, strict=True):
                column.append(value)
            if not inside:
                leaves.append((tree, start, float(len(values[tree]))))
                values[tree].append(node["value"])
                return start + 1
            nodes["yes"][here] = start + 1
            nodes["no"][here] = after = add(node["left"], tree, start + 1)
            return add(node["right"], tree, after)

        for tree, root in enumerate(self.model["trees"]):
            add(root, tree, 0)
        if not features:  # no tree has a cut: any column counts the rows
            features.append(self.encoded_any(next(iter(columns.values()))))
        for name, column in columns.items():
            if name not in used and name not in {one.name for one in self.inputs}:
                self.take(column)
        x = features[0] if len(features) == 1 else self.add("Concat", *features, axis=1)
        proto, tensor = self.onnx.TensorProto, self.helper.make_tensor
        tree_ids, node_ids, numbers = zip(*leaves, strict=True)
        # The operator sums in single precision: it finds the leaf of each tree, whose scores are then taken in doubles.
        found = self.add(
            "TreeEnsembleRegressor", x, n_targets=len(values), aggregate_function="SUM", post_transform="NONE",
            nodes_treeids=nodes["tree"], nodes_nodeids=nodes["id"], nodes_featureids=nodes["feature"],
            nodes_modes=nodes["mode"], nodes_truenodeids=nodes["yes"], nodes_falsenodeids=nodes["no"],
            nodes_missing_value_tracks_true=nodes["gone"],
            nodes_values_as_tensor=tensor("cuts", proto.DOUBLE, [len(nodes["cut"])], nodes["cut"]),
            target_treeids=tree_ids, target_nodeids=node_ids, target_ids=tree_ids,
            target_weights_as_tensor=tensor("leaves", proto.DOUBLE, [len(numbers)], numbers),
        )  # fmt: skip
        reached = self.add("Cast", found, to=proto.INT64)
        total = ""
        for tree, table in enumerate(values):
            leaf = self.add("Gather", reached, self.constant(np.array(tree)), axis=1)
            score = self.add("Gather", self.constant(np.array(table, dtype=np.float64)), leaf, axis=0)
            total = self.add("Add", total, score) if total else score
        return self.add("Div", total, self.constant(float(len(values))))

    def encoded_any(self, column: Mapping[str, Any]) -> str:
        """Return doubles (rows, 1) made of any column."""
        name = self.take(column)
        return name if column["kind"] == "number" else self.encoded(name, {"": 0.0}, 0.0)

    def labels(self) -> NDArray[Any]:
        """Return the labels as an array of one type: whole numbers, or else strings."""
        names = self.model["labels"]
        whole = all(isinstance(one, int) and not isinstance(one, bool) for one in names)
        return np.array(names, dtype=np.int64) if whole else np.array([str(one) for one in names], dtype=object)

    def finish(self) -> bytes:
        """Return the file."""
        model, helper, proto = self.model, self.helper, self.onnx.TensorProto
        scores = self.add("Identity", self.linear() if model["model"] == "linear" else self.trees(), output="scores")
        outputs = [helper.make_tensor_value_info("scores", proto.DOUBLE, ["rows", None])]
        if model["output"] == "number":
            self.add("Reshape", scores, self.constant(np.array([-1])), output="label")
            kind = proto.DOUBLE
        else:
            labels = self.labels()
            kind = proto.INT64 if labels.dtype.kind == "i" else proto.STRING
            if "threshold" in model:
                over = self.add("GreaterOrEqual", scores, self.constant(float(model["threshold"])))
                place = self.add("Reshape", self.add("Cast", over, to=proto.INT64), self.constant(np.array([-1])))
            else:
                place = self.add("ArgMax", scores, axis=1, keepdims=0)
            self.add("Gather", self.constant(labels), place, output="label")
        outputs.insert(0, helper.make_tensor_value_info("label", kind, ["rows"]))
        if model["output"] in ("log-odds", "softmax"):
            if model["output"] == "softmax":
                self.add("Softmax", scores, axis=1, output="probabilities")
            else:
                chance = self.add("Sigmoid", scores)
                rest = self.add("Sub", self.constant(1.0), chance)
                self.add("Concat", rest, chance, axis=1, output="probabilities")
            outputs.append(helper.make_tensor_value_info("probabilities", proto.DOUBLE, ["rows", None]))
        graph = helper.make_graph(self.nodes, "novikoff", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="novikoff")
        self.onnx.checker.check_model(made)
        content: bytes = made.SerializeToString()
        return content


def onnx_model(model: Mapping[str, Any]) -> bytes:
    """Return an exported model as an ONNX file.

    Args:
        model: Model as JSON values (game/export.py).
    """
    return Graph(model).finish()
