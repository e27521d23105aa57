"""Grouped: a common learner and one per group, their weights, and what is promised in each group."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.experts import _loops as experts_loops
from samples import VECTORS

SAMPLES = {"grouped": [("grouped:[ftrl],by=0", *VECTORS), ("grouped:[logistic],by=1", *VECTORS)]}
"""Samples for tests/test_every_learner.py."""

LN2 = math.log(2.0)


def rows(count, seed=0, groups=3, alike=False):
    """Rows (group, value) in which group 0 has the opposite label of the others, unless they are alike."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.integers(0, groups, count), rng.normal(size=count)]).astype(float)
    return x, np.where((x[:, 1] > 0) == ((x[:, 0] > 0) | alike), 1, -1)


class Careless(nk.Grouped):
    """Broken: it predicts the opposite of the mixture's probabilities."""

    def _mix(self, group, chances, y):
        predicted, wrong, mixed = super()._mix(group, chances, y)
        lost = -np.log(1e-6) * np.ones(len(y))
        self._sums[group, 1] += lost.sum() + np.log(mixed).sum()
        return -predicted, 1.0 - wrong, np.full(len(y), 1e-6)


def of_labels():
    def make():
        return nk.Grouped(nk.FTRL(), 0)

    def game(stream):
        return cases.run_of(make(), stream)

    def some():
        return game(rows(60))

    return cases.Case(
        st.integers(0, 2**20).map(lambda seed: rows(80, seed)),
        game,
        rows(300, alike=True),
        None,
        lambda: cases.run_of(Careless(nk.FTRL(), 0), rows(100)),
        (
            (lambda: cases.changed(some(), rounds=7), "exactly the recorded rounds"),
            (lambda: dataclasses.replace(some(), log_loss=7.0), "sum to the ledger's"),
            (lambda: cases.warm(make, rows(20), rows(20, 1)), "warm start"),
        ),
    )


def numbers(count, seed=0):
    x, y = rows(count, seed)
    return x, y * 3.0 + x[:, 1]


class Astray(nk.Grouped):
    """Broken: its numbers are 100 too large."""

    def _hedge(self, group, said, y):
        before = self._sums[group, 1]
        found, _ = super()._hedge(group, said, y)
        self._sums[group, 1] = before + ((found + 100.0 - y) ** 2).sum()
        return found + 100.0, (found + 100.0 - y) ** 2


def of_numbers():
    def make():
        return nk.Grouped(nk.VAW(), 0)

    def game(stream):
        return cases.run_of(make(), stream)

    return cases.Case(
        st.integers(0, 2**20).map(lambda seed: numbers(80, seed)),
        game,
        numbers(300),
        None,
        lambda: cases.run_of(Astray(nk.VAW(), 0), numbers(100)),
        (
            (lambda: cases.changed(game(numbers(50)), rounds=7), "exactly the recorded rounds"),
            (lambda: dataclasses.replace(game(numbers(50)), loss=7.0), "sum to the ledger's"),
            (lambda: cases.warm(make, numbers(20), numbers(20, 1)), "warm start"),
        ),
    )


CASES = {"grouped_regret": of_labels(), "grouped_promise": of_labels(), "grouped_squares": of_numbers()}
"""Cases for tests/test_every_theorem.py."""


@pytest.mark.parametrize(("learner", "stream"), [(nk.FTRL, rows(90)), (nk.VAW, numbers(90))], ids=["labels", "numbers"])
def test_what_is_predicted_is_what_is_counted_also_on_the_first_row_of_a_group(learner, stream):
    game, served = nk.Game(nk.Grouped(learner(), 0)), []
    ask = game.learner.predict_one if learner is nk.VAW else game.learner.probability_one
    for x, y in zip(*stream, strict=True):
        served.append(ask(x))
        game.learn_one(x, y)
    p = np.array(served)
    lost = (p - stream[1]) ** 2 if learner is nk.VAW else -np.log(np.where(stream[1] == 1, p, 1.0 - p))
    for ledger in (game.ledger, nk.play(nk.Grouped(learner(), 0), stream)):
        assert (ledger.loss if learner is nk.VAW else ledger.log_loss) == pytest.approx(lost.sum(), rel=1e-12)


def test_the_mixture_has_the_values_of_the_posterior():
    logs, losses, mixed = np.zeros(2), np.empty((3, 3)), np.empty(3)
    chances = np.array([[0.9, 0.5], [0.8, 0.1], [0.2, 0.6]])
    experts_loops.grouped.mix(logs, chances, losses, mixed)
    direct, weights = [], np.array([0.5, 0.5])
    for row in chances:
        direct.append(weights @ row)
        weights = weights * row / (weights @ row)
    assert mixed == pytest.approx(direct, rel=1e-14)
    assert -np.log(mixed).sum() == pytest.approx(-math.log((0.9 * 0.8 * 0.2 + 0.5 * 0.1 * 0.6) / 2), rel=1e-14)


def test_a_group_pays_ln_2_if_its_own_learner_is_always_wrong():
    logs, losses, mixed = np.zeros(2), np.empty((5, 3)), np.empty(5)
    experts_loops.grouped.mix(logs, np.array([[0.7, 0.0]] * 5), losses, mixed)
    assert losses[:, 2].sum() == pytest.approx(losses[:, 0].sum() + LN2, rel=1e-14)


@given(st.lists(st.tuples(*[st.floats(-50, 50)] * 3), max_size=60))
def test_numbers_lose_at_most_the_better_plus_twice_the_gap(found):
    said, y = np.array([row[:2] for row in found]).reshape(-1, 2), np.array([row[2] for row in found])
    sums, out, losses = np.zeros(6), np.empty(len(y)), np.empty(len(y))
    experts_loops.grouped.hedge(sums, said, y, out, losses)
    assert losses.sum() <= min(((said - y[:, None]) ** 2).sum(axis=0), default=0.0) + 2.0 * sums[4] + 1e-6
    assert np.all((out >= said.min(axis=1) - 1e-9) & (out <= said.max(axis=1) + 1e-9))


def test_leader_that_changes_costs_a_gap_even_at_an_infinite_rate():
    sums, out, losses = np.zeros(6), np.empty(2), np.empty(2)
    said = np.array([[1.0, 1.0], [1.0, 0.0]])  # a tie, then the mean of both
    experts_loops.grouped.hedge(sums, said, np.array([1.0, 0.0]), out, losses)
    assert (out.tolist(), losses.tolist(), sums[4]) == ([1.0, 0.5], [0.0, 0.25], 0.5)


def test_group_that_differs_is_predicted_by_its_own_learner():
    x, y = rows(600)
    ledger = nk.play("grouped:[logistic],by=0", (x, y))
    alone = nk.play("logistic", (x, y))
    assert ledger.log_loss < 0.6 * alone.log_loss
    found = {group.name: group for group in ledger.learner.groups()}
    assert found["0"].weight > 0.99
    assert all(group.loss <= group.bound for group in found.values())
    assert sum(group.rounds for group in found.values()) == 600
    assert sum(group.wrong for group in found.values()) == ledger.mistakes


def test_new_group_is_predicted_by_the_common_learner():
    x, y = rows(200)
    learner = nk.play("grouped:[logistic],by=0", (x, y)).learner
    new = np.array([9.0, 0.3])
    assert learner.probability_one(new) == learner.common.probability_one(new)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: nk.Grouped(nk.Perceptron(), 0), "must predict probabilities: Perceptron does not"),
        (lambda: nk.Grouped(nk.VAW(), None), "one column"),
        (lambda: nk.play(nk.Logistic(), [{"g": "a", "y": 1}, {"g": "b", "y": 0}], label="y", by="g"), "needs? a spec"),
        (lambda: nk.play("logistic", rows(5), by="g"), "need a table"),
    ],
)
def test_what_cannot_be_grouped_is_refused(make, why):
    with pytest.raises(InputError, match=why):
        make()
