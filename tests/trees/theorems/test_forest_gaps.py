"""The theorem on regression forests."""

import dataclasses

import numpy as np
import pytest

import novikoff as nk
from cases import TARGETS, Case, changed, run_of


def of_forest():
    """A forest: tight while its trees are single nodes, which all agree."""
    sample = [((float(t % 2),), float(t % 2)) for t in range(200)]

    def game(stream):
        x, y = map(np.array, zip(*stream, strict=True))
        return run_of(nk.ForestRegression(trees=3), nk.RegressionArrays(x.astype(float), y))

    def off(name):
        return lambda: (lambda run: changed(run, **{name: getattr(run.after, name) + 9.0}))(game(sample))

    return Case(TARGETS, game, sample, lambda: game([((0.0,), 1.0)] * 7),
                lambda: changed(game(sample), bounds=[0.0] * 3),
                ((lambda: dataclasses.replace(game(sample), before=game(sample).after), "warm start"),
                 (lambda: dataclasses.replace(game(sample), rounds=1), "exactly the recorded rounds"),
                 (off("disagreement"), "less their disagreement"), (off("off"), "drift by rounding")))  # fmt: skip


CASES = {"forest_gaps": of_forest()}


@pytest.mark.parametrize("name", ["plain", "scales", "heavy tails", "huge"])
def test_the_bound_holds_and_the_identity_is_met(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    y = x[:, 0] + np.abs(x[:, 1])
    y = {"plain": y, "scales": y * 10.0 ** rng.uniform(-6, 6, 500), "heavy tails": rng.standard_cauchy(500),
         "huge": 1e16 + 4.0 * y}[name]  # fmt: skip
    found = nk.play(nk.ForestRegression(trees=4), nk.RegressionArrays(x, y)).certify()[0]
    assert found.status in ("valid", "vacuous"), found.reason
    assert found.observed <= found.bound
    mean, apart = found.number("mean_loss"), found.number("disagreement")
    assert found.observed == pytest.approx(mean - apart, rel=1e-9)
    assert found.bound == pytest.approx(found.number("mean_bound") - apart, rel=1e-9)


def test_a_forest_that_plays_another_mean_is_found():
    class Bold(nk.ForestRegression):
        def _play(self, first, y):
            played = super()._play(first, y)
            said = 2.0 * played.predictions
            return played._replace(predictions=said, losses=(said - y) ** 2, expected=(said - y) ** 2)

    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    found = nk.play(Bold(trees=2), nk.RegressionArrays(x, x[:, 0])).certify()[0]
    assert found.status == "void"
    assert "less their disagreement" in found.reason
