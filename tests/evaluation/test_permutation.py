"""Is the order of the rows a random one? Its level on rows in random order, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from novikoff.core.errors import InputError, SpecError
from novikoff.data.memory import Losses
from novikoff.data.reader import read
from novikoff.evaluation.compare import compare
from novikoff.evaluation.permutation import PermutationTest, fewer_mistakes, later_mistakes, permutation_test
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.linear.perceptron import Perceptron


def rows(rng, n, flip_at=None, noise=0.05):
    x = rng.standard_normal((n, 2))
    truth = x[:, 0] if flip_at is None else np.where(np.arange(n) < flip_at, x[:, 0], -x[:, 0])
    return x, np.where((truth >= 0) ^ (rng.random(n) < noise), 1, -1)


def test_the_statistic_compares_the_halves():
    assert later_mistakes(np.array([True, False, True, True])) == 1.0
    assert later_mistakes(np.array([True, True, False])) == -1.0  # the middle one counts for neither
    assert later_mistakes(np.array([True])) == later_mistakes(np.array([], dtype=bool)) == 0.0


def test_p_is_a_rank_and_never_zero():
    stream = rows(np.random.default_rng(1), 80)
    told = permutation_test("perceptron", stream, permutations=19, seed=3)
    assert isinstance(told, PermutationTest)
    assert len(told.shuffled) == 19
    assert told.p == float(told) == (1 + sum(value >= told.observed for value in told.shuffled)) / 20
    assert permutation_test("perceptron", stream, 9, statistic=lambda wrong: 0.0).p == 1.0  # ties count against it
    best = permutation_test("perceptron", stream, 9, statistic=First(), threads=1)
    assert best.p == 0.1  # the smallest there can be
    assert "over 9 shuffles: p = 0.1" in str(best)


class First:
    """Large for the first it is asked of: in one thread, the rows as they came."""

    def __init__(self):
        self.asked = None

    def __call__(self, wrong):
        if self.asked is None:
            self.asked = wrong.copy()
        return float(np.array_equal(wrong, self.asked))


def test_it_plays_the_rows_as_they_came_and_the_shuffles_of_compare():
    stream = rows(np.random.default_rng(2), 60)
    told = permutation_test("perceptron", stream, 5, seed=4, statistic=lambda wrong: float(wrong.sum()))
    assert told.observed == compare(["perceptron"], stream).learners[0].games[0].mistakes
    shuffled = compare(["perceptron"], stream, shuffles=5, seed=4).learners[0].games
    assert list(told.shuffled) == [game.mistakes for game in shuffled]


def test_threads_and_seeds():
    stream = rows(np.random.default_rng(3), 60)
    one, two, other = (
        permutation_test("perceptron", stream, 15, seed, threads=n) for seed, n in ((1, 1), (1, 2), (2, 1))
    )
    assert one == two
    assert one.shuffled != other.shuffled


def test_learner_factory_is_accepted_and_counts_are_reported():
    told: list[tuple[int, int]] = []
    stream = rows(np.random.default_rng(4), 40)
    made = permutation_test(lambda seed: Perceptron(), stream, 4, progress=lambda done, of: told.append((done, of)))
    assert made.shuffled == permutation_test("perceptron:scale=none", stream, 4).shuffled
    assert told[-1] == (5, 5)


def test_a_learner_that_draws_has_the_same_coins_in_every_game():
    seeds = []

    def make(seed):
        seeds.append(seed)
        return Perceptron()

    permutation_test(make, rows(np.random.default_rng(5), 30), 6, seed=9)
    assert set(seeds) <= {0, 9}  # 0 is asked what rows it takes, and plays nothing
    assert seeds.count(9) == 7


def test_rows_that_become_harder_are_found():
    rng = np.random.default_rng(6)
    noise = np.where(np.arange(300) < 180, 0.02, 0.35)
    found = [permutation_test("perceptron", rows(rng, 300, noise=noise), 39, seed=k).p for k in range(8)]
    assert sum(p <= 0.05 for p in found) >= 7


def test_a_target_that_changes_is_found():
    rng = np.random.default_rng(7)
    found = [
        permutation_test("perceptron", rows(rng, 300, flip_at=200), 39, seed=k, statistic=fewer_mistakes).p
        for k in range(8)
    ]
    assert sum(p <= 0.05 for p in found) >= 7


@pytest.mark.parametrize(
    "streams", [60, pytest.param(500, marks=pytest.mark.slow)], ids=["some streams", "many streams"]
)
def test_rows_in_random_order_are_refused_as_often_as_they_may_be(streams):
    rng = np.random.default_rng(8)
    ps = [permutation_test("perceptron", rows(rng, 40), 9, seed=k, threads=1).p for k in range(streams)]
    for level in (0.1, 0.3, 0.5):
        assert sum(p <= level for p in ps) <= binom.ppf(0.999, streams, level)
    assert min(ps) <= 0.2


def test_invalid_arguments_are_refused():
    stream = rows(np.random.default_rng(9), 10)
    with pytest.raises(InputError, match="permutations must be at least 1: got 0"):
        permutation_test("perceptron", stream, 0)
    with pytest.raises(SpecError):
        permutation_test("nobody", stream)
    with pytest.raises(SpecError, match="so that each game gets a new one"):
        permutation_test(Perceptron(), stream)
    with pytest.raises(InputError, match="a statistic must be a number: got nan, with shuffle 0"):
        permutation_test("perceptron", stream, 3, statistic=lambda wrong: float("nan"))
    with pytest.raises(InputError, match="threads must be at least 1"):
        permutation_test("perceptron", stream, 3, threads=0)


def test_learners_without_label_predictions_are_refused():
    table = Losses(np.random.default_rng(10).random((20, 3)))
    with pytest.raises(InputError, match=r"is for classification: ExponentialWeights plays on losses\[3\]"):
        permutation_test(lambda seed: ExponentialWeights(3, loss="table"), table, 3)


def test_many_labels_are_numbered_in_the_order_played():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((90, 2))
    y = np.array(["a", "b", "c"])[np.digitize(x[:, 0], [-0.4, 0.4])]
    told = permutation_test("perceptron", (x, y), 19, statistic=fewer_mistakes)
    games = compare(["perceptron"], (x, y), shuffles=19, labels="multiclass").learners[0].games
    assert list(told.shuffled) == [-game.mistakes for game in games]
    assert told.observed == -compare(["perceptron"], (x, y), labels="multiclass").learners[0].games[0].mistakes


def test_statistic_sees_each_weighted_row_once(tmp_path):
    (tmp_path / "w.csv").write_text("a,w,label\n" + "".join(f"{k}.5,{1 + k % 3},{'ny'[k % 2]}\n" for k in range(8)))
    stream = read(str(tmp_path / "w.csv"), weight="w")
    assert permutation_test("perceptron", stream, 1, statistic=len, threads=1).observed == 8


@pytest.mark.slow
def test_level_holds_for_many_labels_and_for_weights(tmp_path):
    small = {"multiclass": 0, "weights": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((60, 2)).round(3)
        y = np.array(["a", "b", "c"])[np.digitize(x[:, 0] + rng.standard_normal(60), [-0.4, 0.4])]
        small["multiclass"] += permutation_test("perceptron", (x, y), 19, seed, statistic=fewer_mistakes).p <= 0.05
        weights = rng.integers(1, 9, 60)
        cells = zip(x, weights, y == "a", strict=True)
        lines = "\n".join(f"{a},{b},{w},{'yes' if label else 'no'}" for (a, b), w, label in cells)
        (tmp_path / "w.csv").write_text(f"a,b,w,label\n{lines}\n")
        stream = read(str(tmp_path / "w.csv"), weight="w")
        small["weights"] += permutation_test("perceptron", stream, 19, seed).p <= 0.05
    assert max(small.values()) <= binom.ppf(0.999, 100, 0.05)
