"""The theorem on forests: the identity of loss and disagreement, and forests that play another mean."""

import dataclasses

import numpy as np
import pytest

import novikoff as nk
from cases import VECTORS, Case, apart, changed, run_of
from helpers import one_in
from novikoff.trees.theorems.forest_mean import SLACK, forest_mean


def of_forest():
    """A forest: tight while its trees are single nodes, which all agree."""
    sample = apart(200)

    def game(stream):
        return run_of(nk.Forest(trees=3), stream)

    def off(name):
        return lambda: (lambda run: changed(run, **{name: getattr(run.after, name) + 1.0}))(game(sample))

    def disagreeing():
        run = game(sample)
        played = [one - 9.0 - run.after.disagreement for one in run.after.played]
        return changed(run, disagreement=-9.0, played=played)

    return Case(VECTORS, game, sample, lambda: game([((0.0,), 1)] * 7), lambda: changed(game(sample), bounds=[0.0] * 3),
                ((lambda: dataclasses.replace(game(sample), before=game(sample).after), "warm start"),
                 (lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds"),
                 (off("disagreement"), "less their disagreement"), (off("off"), "drift by rounding"),
                 (disagreeing, "not negative")))  # fmt: skip


CASES = {"forest_mean": of_forest()}


def test_bound_allows_for_rounding_of_the_disagreement():
    """A disagreement just below 0, and a loss just above the mean, are accepted, and added to the bound."""
    run = run_of(nk.Forest(trees=3), apart(200))
    mean, more = sum(run.after.played) / 3, 0.4 * SLACK * (1.0 + run.log_loss)
    agreeing = dataclasses.replace(changed(run, disagreement=0.0), log_loss=mean)
    plain = forest_mean(agreeing)
    assert plain.bound is not None
    below = forest_mean(dataclasses.replace(changed(agreeing, disagreement=-more), log_loss=mean + more))
    above = forest_mean(dataclasses.replace(agreeing, log_loss=mean + more))
    assert [one.bound - plain.bound for one in (below, above)] == pytest.approx([more, more], rel=0.01)


def noisy(rounds=1500, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 4))
    return x, np.where((x[:, 0] > 0) ^ (x[:, 1] > 0.5) ^ (rng.random(rounds) < 0.1), 1, -1)


@pytest.mark.parametrize("seed", one_in(2, range(3)))
def test_the_loss_is_the_mean_of_the_trees_less_their_disagreement(seed):
    ledger = nk.play(nk.Forest(trees=4, seed=seed), noisy(seed=seed))
    found = ledger.certify()[0]
    assert found.status == "valid"
    assert ledger.log_loss == pytest.approx(found.number("mean_loss") - found.number("disagreement"), abs=1e-8)
    assert found.number("disagreement") > 0.0
    assert found.bound == pytest.approx(found.number("mean_bound") - found.number("disagreement"))
    slack = found.number("mean_bound") - found.number("mean_loss")  # of the trees, on average
    assert 0.0 <= found.bound - found.observed == pytest.approx(slack, abs=1e-6)
    parts = sum(found.number(name) for name in ("constants", "regret", "price"))
    assert parts == pytest.approx(found.number("mean_bound"))


def test_the_disagreement_does_not_depend_on_the_labels():
    """Trees that were never regrown, so that their forecasts of a row are those of before, whatever its label."""
    from novikoff.trees.regrown import RegrownForest
    from novikoff.trees.store import RowStore

    x, y = noisy(600)
    found = []
    for last in (0.0, 1.0):
        store, forest = RowStore(), RegrownForest(trees=4)
        outcomes = np.append((y[:-1] > 0).astype(float), last)
        store.add(x, outcomes, np.zeros(4))
        forest.play(store, 600, np.zeros(4, np.int8))
        found.append(forest.disagreement.sum())
    assert found[0] == found[1] > 0.0


def test_a_disagreement_that_is_made_up_voids_the_bound():
    """A larger D would lower the bound: it must be that of the forecasts played."""
    run = run_of(nk.Forest(trees=3), list(zip(map(tuple, noisy()[0]), noisy()[1].tolist(), strict=True)))
    more = 10.0 * SLACK * (1.0 + run.log_loss)
    assert forest_mean(run).status == "valid"
    found = forest_mean(changed(run, disagreement=run.after.disagreement + more))
    assert found.status == "void"
    assert "less their disagreement" in found.reason


def test_a_forest_that_plays_another_mean_is_found():
    class Bold(nk.Forest):
        def _play(self, first, y):
            played = super()._play(first, y)
            return played._replace(probabilities=1.0 / (1.0 + np.exp(-y * (1.0 - 3.0 * played.scores))))

    found = nk.play(Bold(trees=3), noisy()).certify()[0]
    assert found.status == "void"
    assert "less their disagreement" in found.reason


def test_tree_with_altered_sums_is_detected():
    class Sly(nk.Forest):
        def facts(self):
            self.part.engine.forest.losses[0, 0, 0] += 1.0
            return super().facts()

    ledger = nk.play(nk.Forest(trees=3), noisy())
    ledger.learner.__class__ = Sly
    found = ledger.certify()[0]
    assert found.status == "void"
    assert "drift by rounding" in found.reason


def test_growing_labels_are_paid_for():
    x, y = noisy(600)
    labels = np.where(np.arange(600) < 300, y > 0, (y > 0) * 2).astype(int)
    order = {label: k for k, label in enumerate(dict.fromkeys(labels.tolist()))}
    ledger = nk.play(nk.MulticlassForest(trees=3), (x, np.array([order[label] for label in labels.tolist()])))
    found = ledger.certify()[0]
    assert found.status == "valid"
    assert found.number("price") > 2.0 * np.log(300)
