"""The decision tree of a game, drawn: its cuts, and counts and forecast of each node.

A node counts the rows that reached it since it exists, so the counts of two children may sum to less than those of
their parent, which were counted before the cut too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from novikoff.core.certificate import number
from novikoff.core.decision_tree import DrawnTree, Node
from novikoff.core.errors import counted
from novikoff.game.ledger import Ledger
from novikoff.reports import summary

MOST_NODES = 40
"""Largest number of drawn nodes; levels below are only counted."""
MOST_CATEGORIES = 4
"""Largest number of categories that are named."""


class Line(NamedTuple):
    """One node in a drawing.

    Attributes:
        lasts: For each ancestor but the root, and the node itself, whether it is its parent's second child.
        rule: Condition of the branch; "" at the root.
        node: The node.
        hidden: Number of leaves below that are not drawn.
    """

    lasts: tuple[bool, ...]
    rule: str
    node: Node
    hidden: int


def of(ledger: Ledger) -> DrawnTree | None:
    """Return the tree to draw; None if the learner has none, or no cut yet."""
    tree = ledger.player.drawn_tree()
    return None if tree is None or tree.root.left is None else tree


def caption(tree: DrawnTree) -> str:
    """Describe the drawing in one sentence."""
    return (
        f"{tree.title}: {counted(tree.root.leaves, 'leaf', 'leaves')}; each node with {tree.counted}; "
        "missing values go to the second branch unless stated"
    )


def lines(root: Node) -> list[Line]:
    """Return the nodes to draw, each before its children: all, or the first levels of a large tree."""
    depth = 0
    while _nodes(root, depth + 1) <= MOST_NODES and depth < _depth(root):
        depth += 1
    return list(_lines(root, (), "", depth))


def _depth(node: Node) -> int:
    return 0 if node.left is None or node.right is None else 1 + max(_depth(node.left), _depth(node.right))


def _nodes(node: Node, depth: int) -> int:
    if depth == 0 or node.left is None or node.right is None:
        return 1
    return 1 + _nodes(node.left, depth - 1) + _nodes(node.right, depth - 1)


def _lines(node: Node, lasts: tuple[bool, ...], rule: str, depth: int) -> Iterator[Line]:
    inside = node.left is not None and node.right is not None
    yield Line(lasts, rule, node, node.leaves if inside and depth == 0 else 0)
    if depth and node.left is not None and node.right is not None:
        left, right = rules(node)
        yield from _lines(node.left, (*lasts, False), left, depth - 1)
        yield from _lines(node.right, (*lasts, True), right, depth - 1)


def rules(node: Node) -> tuple[str, str]:
    """Return the conditions of the two branches of a node."""
    missing = " or missing" if node.missing_left else ""
    if node.categories:
        names = list(node.values)
        more = len(names) - MOST_CATEGORIES
        if more > 0:
            names[MOST_CATEGORIES:] = [f"{more} more"]
        some = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
        return f"{node.name} is {some}{missing}", f"{node.name} is not {some}"
    if math.isinf(node.cut):
        return f"{node.name} is known", f"{node.name} is missing"
    return f"{node.name} <= {node.cut:.6g}{missing}", f"{node.name} > {node.cut:.6g}"


def heads(ledger: Ledger) -> tuple[str, str]:
    """Return what is shown of each node: the counts, and the forecast."""
    if ledger.player.task == "regression":
        return "rows", "prediction"
    if ledger.player.task == "multiclass":
        return "rows", "most probable label"
    label = summary.label(ledger, ledger.label(1))
    return f"{label} / rows", f"P({label})"


def figures(ledger: Ledger, node: Node) -> tuple[str, str, float | None]:
    """Return the counts, the forecast, and the probability to draw; None for numbers."""
    total = f"{sum(node.counts):,}"
    if ledger.player.task == "regression":
        return total, number(node.forecast[0]), None
    if ledger.player.task == "multiclass":
        best = max(range(len(node.forecast)), key=node.forecast.__getitem__)
        chance = node.forecast[best]
        return total, f"{chance:.3f} {summary.label(ledger, ledger.label(best))}", chance
    return f"{node.counts[1]:,} / {total}", f"{node.forecast[1]:.3f}", node.forecast[1]


def describe(ledger: Ledger) -> Iterator[str]:
    """Yield the lines of a terminal; nothing if the learner has no tree."""
    if (tree := of(ledger)) is None:
        return
    yield caption(tree)
    counts, forecast = heads(ledger)
    drawn = lines(tree.root)
    texts = [_branch(line) + (line.rule or "all rows") for line in drawn]
    widest = max(map(len, texts))
    found = [figures(ledger, line.node) for line in drawn]
    wide = max(len(counts), *(len(one[0]) for one in found))
    yield f"  {'':<{widest}}  {counts:>{wide}}  {forecast}"
    for line, text, (rows, answer, _) in zip(drawn, texts, found, strict=True):
        below = f"  ({counted(line.hidden, 'leaf', 'leaves')} below)" if line.hidden else ""
        yield f"  {text:<{widest}}  {rows:>{wide}}  {answer}{below}"


def _branch(line: Line) -> str:
    """Return the connectors in front of a node."""
    if not line.lasts:
        return ""
    above = "".join("   " if last else "│  " for last in line.lasts[:-1])
    return above + ("└─ " if line.lasts[-1] else "├─ ")


def picture(ledger: Ledger) -> str:
    """Return the drawing as SVG; "" if the learner has no tree."""
    if (tree := of(ledger)) is None:
        return ""
    from novikoff.reports import svg

    rows = []
    for line in lines(tree.root):
        counts, answer, chance = figures(ledger, line.node)
        below = f" ({counted(line.hidden, 'leaf', 'leaves')} below)" if line.hidden else ""
        rows.append(svg.Outlined(line.lasts, (line.rule or "all rows") + below, counts, answer, chance))
    return svg.outline(rows, heads(ledger), caption(tree))


def plain(node: Node) -> dict[str, object]:
    """Return a tree as JSON values."""
    found: dict[str, object] = {"counts": list(node.counts), "forecast": list(node.forecast)}
    if node.left is not None and node.right is not None:
        found["column"] = node.name
        if node.categories:
            found["categories"] = list(node.values)
        else:
            found["at_most"] = None if math.isinf(node.cut) else node.cut
        found |= {"missing": "left" if node.missing_left else "right"}
        found |= {"left": plain(node.left), "right": plain(node.right)}
    return found
