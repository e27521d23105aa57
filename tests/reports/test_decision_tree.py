"""The drawn pruning: the same counts and forecasts in terminal, page, notebook and JSON, and those of the ledger."""

import base64
import json
import math
import re

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.decision_tree import Node
from novikoff.game.ledger import Ledger
from novikoff.reports import decision_tree, page, plain, terminal

TABLE = "age,colour,label\n" + "".join(
    f"{'?' if t % 9 == 0 else t % 50},{['red', 'green', 'blue', '?'][t * 7 % 4]},"
    f"{'yes' if (t * 7 % 4 == 1) ^ (t % 50 > 40) else 'no'}\n"
    for t in range(1500)
)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> Ledger:
    path = tmp_path_factory.mktemp("tree") / "rows.csv"
    path.write_text(TABLE)
    return nk.play("tree", str(path))


def nodes(root):
    """All nodes, each before its children."""
    return [root] if root.left is None else [root, *nodes(root.left), *nodes(root.right)]


def test_counts_and_leaves_are_those_of_the_ledger_and_the_certificate(ledger):
    root = ledger.learner.pruning()
    table = {name: sum(row) for name, row in zip(ledger.confusion.labels, ledger.confusion.table, strict=True)}
    assert root.counts == (table["no"], table["yes"])
    assert sum(root.counts) == ledger.rounds
    assert root.leaves == ledger.certify()[0].number("leaves") > 2
    for node in nodes(root):
        if node.left is not None:
            assert all(a + b <= c for a, b, c in zip(node.left.counts, node.right.counts, node.counts, strict=True))


def test_terminal_lists_every_node_with_its_counts_and_probability(ledger):
    caption, head, *lines = decision_tree.describe(ledger)
    root = ledger.learner.pruning()
    assert f"{root.leaves} leaves" in caption
    assert head.split() == ["yes", "/", "rows", "P(yes)"]
    assert len(lines) == len(nodes(root)) == 2 * root.leaves - 1
    for line, node in zip(lines, nodes(root), strict=True):
        assert line.endswith(f"{node.counts[1]:,} / {sum(node.counts):,}  {node.forecast[1]:.3f}")
    assert lines[0].split()[:2] == ["all", "rows"]
    assert "colour is green" in lines[1]


def test_only_verbose_output_draws_the_tree(ledger, capsys):
    found = ledger.certify()
    terminal.game(terminal.Out(), ledger, found, "tree")
    assert "pruning of the tree:" not in capsys.readouterr().out
    terminal.game(terminal.Out(), ledger, found, "tree", verbose=True)
    assert "best pruning of the tree:" in capsys.readouterr().out


def test_page_and_notebook_show_the_same_figures(ledger):
    root, drawn = ledger.learner.pruning(), decision_tree.picture(ledger)
    texts = re.findall(r">([^<>]+)</text>", drawn)
    for node in nodes(root):
        assert f"{node.counts[1]:,} / {sum(node.counts):,}" in texts
        assert f"{node.forecast[1]:.3f}" in texts
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="12" fill="#', drawn)]
    assert widths == pytest.approx([84 * node.forecast[1] for node in nodes(root)], abs=0.05)
    assert drawn in page.document(ledger)
    encoded = base64.b64encode(drawn.encode()).decode()
    assert encoded in page.fragment(ledger)


def test_json_has_cuts_counts_and_forecasts(ledger):
    found = json.loads(json.dumps(plain.game(ledger, [], "tree")))["tree"]

    def same(node: Node, values) -> None:
        assert values["counts"] == list(node.counts)
        assert values["forecast"] == list(node.forecast)
        assert ("column" in values) == (node.left is not None)
        if node.left is not None:
            assert values["column"] == node.name
            assert values.get("categories", []) == list(node.values)
            assert values.get("at_most") == (node.cut if math.isfinite(node.cut) else None)
            assert values["missing"] == ("left" if node.missing_left else "right")
            same(node.left, values["left"])
            same(node.right, values["right"])

    same(ledger.learner.pruning(), found)


def test_labels_and_numbers_have_their_own_figures():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 2))
    labels = nk.play(nk.MulticlassTree(labels=3), (x, (x[:, 0] > 0.0) + (x[:, 0] > 1.0).astype(int)))
    root, lines = labels.learner.pruning(), list(decision_tree.describe(labels))
    best = int(np.argmax(root.forecast))
    assert lines[2].endswith(f"900  {root.forecast[best]:.3f} {best}")
    numbers = nk.play(nk.TreeRegression(), nk.RegressionArrays(x, np.where(x[:, 0] > 0.0, 5.0, 1.0)))
    root, lines = numbers.learner.pruning(), list(decision_tree.describe(numbers))
    assert root.counts == (900,)
    assert lines[1].split() == ["rows", "prediction"]
    assert "<rect" not in decision_tree.picture(numbers)


def test_the_first_tree_of_a_forest_is_drawn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 2))
    for learner in (nk.Forest(trees=2), nk.ForestRegression(trees=2)):
        y = np.where(x[:, 0] > 0.0, 1, -1)
        source = nk.RegressionArrays(x, 1.0 * y) if isinstance(learner, nk.ForestRegression) else (x, y)
        ledger = nk.play(learner, source)
        caption, _, root, *_ = decision_tree.describe(ledger)
        assert caption.startswith("first of 2 trees, its best pruning since it was regrown: ")
        drawn = learner.drawn_tree().root
        assert drawn.name == "x0"
        assert abs(drawn.cut) < 0.1
        assert 0 < sum(drawn.counts) < 450  # the rows since the last trees took over
        assert f"{sum(drawn.counts):,}" in root


def test_a_large_tree_is_cut_off_and_says_how_much_is_below():
    def full(depth):
        if depth == 0:
            return Node(-1, math.nan, (), False, (1, 2), (0.4, 0.6))
        return Node(0, 1.5, (), False, (1, 2), (0.4, 0.6), full(depth - 1), full(depth - 1), "x0")

    drawn = decision_tree.lines(full(7))
    assert len(drawn) == 31
    assert sum(line.hidden for line in drawn) == 2**7
    assert sum(line.hidden for line in decision_tree.lines(full(4))) == 0


def test_rules_name_categories_and_missing_values():
    leaf = Node(-1, math.nan, (), False, (1,), (0.0,))

    def of(cut, values, missing):
        return decision_tree.rules(
            Node(0, cut, tuple(range(len(values))), missing, (1,), (0.0,), leaf, leaf, "c", values)
        )

    assert of(math.nan, ("a",), True) == ("c is a or missing", "c is not a")
    assert of(math.nan, tuple("abcdef"), False)[0] == "c is one of a, b, c, d, 2 more"
    assert of(2.5, (), True) == ("c <= 2.5 or missing", "c > 2.5")
    assert of(math.inf, (), False) == ("c is known", "c is missing")


def test_nothing_is_drawn_without_a_cut():
    for learner in (nk.Tree(), nk.Perceptron()):
        played = nk.play(learner, (np.ones((20, 1)), np.array([1, -1] * 10)))
        assert list(decision_tree.describe(played)) == []
        assert decision_tree.picture(played) == ""
