"""repr() of what a user holds: one line with what it is and its main figures."""

import numpy as np
import pytest

import novikoff as nk

ROWS = np.array([[1.0, 0.0], [0.0, 1.0]] * 10)
LABELS = np.array([-1, 1] * 10)


def played(spec="perceptron:scale=none", **options):
    return nk.play(spec, (ROWS, LABELS), **options)


def game():
    found = nk.Game(nk.ThresholdHalving(10))
    found.learn_one(5, -1)
    return found


def logged(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arm,loss,probability\n" + "a,0,0.5\nb,1,0.5\n" * 10)
    return nk.evaluate_policies(path)


EXPECTED = {
    "arrays": (lambda: nk.Arrays(ROWS, LABELS), "<Arrays arrays, 20 rows>"),
    "regression": (lambda: nk.RegressionArrays(ROWS, ROWS[:, 0]), "<RegressionArrays targets, 20 rows, regression>"),
    "pairs": (lambda: nk.Pairs(iter([(1, -1)])), "<Pairs pairs>"),
    "game": (game, "<Game ThresholdHalving: 1 round, 1 mistake (100 %)>"),
    "ledger": (played, "<Ledger perceptron:scale=none on arrays: 20 rounds, 1 mistake (5 %)>"),
    "comparison": (
        lambda: nk.compare(["constant", "perceptron:scale=none"], (ROWS, LABELS)),
        "<Comparison on arrays, 20 rows: constant 50 %, perceptron:scale=none 5 %>",
    ),
    "compared learner": (
        lambda: nk.compare(["constant"], (ROWS, LABELS)).learners[0],
        "<Compared constant, 1 game: 50 %>",
    ),
    "permutation test": (
        lambda: nk.permutation_test("constant", (ROWS, LABELS), 9),
        "<PermutationTest constant on arrays, 9 shuffles: p = 0.6>",
    ),
    "repeated games": (
        lambda: nk.repeat("constant", (ROWS, LABELS), seeds=range(2)),
        "<Repeated constant on arrays, 2 seeds: mistakes 10 ± 0 (standard error 0)>",
    ),
    "conformal": (
        lambda: nk.Conformal(nk.Perceptron(), alpha=0.2),
        "<Conformal Perceptron(), target coverage 80 %>",
    ),
    "conformal, played": (
        lambda: played("conformal:[constant],alpha=0.5").learner,
        "<Conformal Constant(), target coverage 50 %: 50 % in 20 rounds>",
    ),
    "final classifier": (
        lambda: nk.finalize(played(candidates=3), "best", stream=(ROWS, LABELS)),
        "<OnlineToBatch best of Perceptron() on arrays, 20 rounds: risk <= 0.2705, conditional>",
    ),
    "final classifier without a bound": (
        lambda: nk.finalize(played(candidates=3), "last"),
        "<OnlineToBatch last of Perceptron() on arrays, 20 rounds: no bound>",
    ),
    "parallel perceptron": (
        lambda: nk.parallel_perceptron((ROWS, LABELS), shards=2, epochs=2),
        "<ParallelPerceptron on arrays, 2 shards, 2 epochs: 2 mistakes>",
    ),
    "hindsight": (lambda: nk.hindsight(nk.Arrays(ROWS, LABELS), threads=1), None),
    "drift test": (
        lambda: nk.DriftTest(),
        "DriftTest(seed=0, alpha=0.05, first=64, next_snapshot=64, wealth=1.0, largest=1.0)",
    ),
    "certificate": (lambda: played().certify()[0], None),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_repr_is_one_line_with_the_main_figures(name):
    make, expected = EXPECTED[name]
    found = repr(make())
    assert "\n" not in found
    assert " object at 0x" not in found
    assert len(found) < 160
    assert expected in (None, found)


def test_repr_of_a_policy_evaluation(tmp_path):
    found = repr(logged(tmp_path))
    assert found.startswith("<PolicyEvaluation ")
    assert found.endswith("log.csv, 20 rounds, 2 arms: mean loss 0.5>")
