"""Delayed: outcomes that come late to a learner and to its intervals."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from samples import VECTORS

SAMPLES = {"delayed": [("delayed:[logistic],delay=3", *VECTORS), ("delayed:[perceptron],delay=1", *VECTORS)]}
"""Samples for tests/test_every_learner.py."""

STEP, ALPHA = 0.05, 0.1


def numbers(count=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2))
    return x, x @ [1.0, 2.0] + rng.normal(size=count)


def test_prediction_is_that_of_the_learner_after_the_outcomes_that_came():
    x, y = numbers(30)
    ledger = nk.play(nk.Delayed(nk.VAW(), 4), (x, y), record=True)
    learner = nk.VAW()
    for t, found in enumerate(np.concatenate(ledger.predictions)):
        if t > 4:
            learner.learn_one(x[t - 5], y[t - 5])
        assert found == learner.predict_one(x[t])


def test_no_delay_is_the_learner_itself():
    stream = numbers(50)
    plain = nk.play("conformal:[vaw],alpha=0.1", stream)
    delayed = nk.play("conformal:[delayed:[vaw],delay=0],alpha=0.1", stream)
    assert (delayed.loss, delayed.coverage.missed) == (plain.loss, plain.coverage.missed)


def late(delay, stream):
    return nk.play(f"conformal:[delayed:[vaw],delay={delay}],alpha={ALPHA},step={STEP},delay={delay}", stream)


@pytest.mark.parametrize("delay", [1, 7])
def test_coverage_is_within_its_bound(delay):
    certificate = next(one for one in late(delay, numbers()).certify() if one.theorem == "coverage_deviation")
    assert certificate.status == "valid"
    assert certificate.bound == pytest.approx((1 + (delay + 1) * STEP) / (STEP * 200), rel=1e-6)


class Contrary(nk.VAW):
    """Predicts 0, so that the outcome alone decides whether an interval misses."""

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        pass


@pytest.mark.parametrize("delay", [0, 9])
def test_bound_with_a_delay_is_nearly_met_by_outcomes_that_miss_whenever_they_can(delay):
    learner = nk.Conformal(nk.Delayed(Contrary(), delay), ALPHA, 0.25, start=0.0, delay=delay)
    x, misses, most = [1.0], 0, 0.0
    for t in range(1, 41):
        _, high = learner.predict_set(x) or (0.0, 0.0)
        outcome = 1e6 * 2.0**t if np.isfinite(high) else 0.0
        played = learner.play_one(np.array(x), outcome)
        misses += played.sets[1] > 0
        most = max(most, misses - ALPHA * t)
    bound = (1 + (delay + 1) * 0.25) / 0.25
    assert 0.6 * bound < most <= bound
    if delay:
        assert most > (1 + 0.25) / 0.25  # the bound without a delay would be violated


def test_intervals_with_a_delay_do_not_see_the_outcomes_that_are_late():
    x, y = numbers(60)
    changed = y.copy()
    changed[40:] += 100.0
    learner = [nk.Conformal(nk.Delayed(nk.VAW(), 5), ALPHA, STEP, delay=5) for _ in range(2)]
    for t in range(45):
        for one, outcomes in zip(learner, (y, changed), strict=True):
            one.play_one(x[t], outcomes[t])
    assert learner[0].predict_set(x[45]) == learner[1].predict_set(x[45])
    for one in learner:
        one.arrive()
    assert learner[0].predict_set(x[45]) != learner[1].predict_set(x[45])


@pytest.mark.parametrize("stop", [3, 100])
@pytest.mark.parametrize("groups", ["", ",by=0"])
def test_resumed_game_with_a_delay_is_the_uninterrupted_one(tmp_path, stop, groups):
    x, y = numbers(120)
    stream = np.column_stack([np.arange(120) % 3, x]), y
    spec = f"conformal:[delayed:[vaw],delay=6{groups}],alpha=0.1,delay=6{groups.replace('by', 'groups')}"
    whole = nk.play(spec, stream)
    nk.save(nk.play(whole.spec, stream, rounds=stop), tmp_path / "m.nk")
    begun = nk.load(tmp_path / "m.nk")
    resumed = nk.play(begun.learner, stream, ledger=begun, resume=True)
    assert (resumed.loss, resumed.coverage.missed, float(resumed.coverage.size)) == (
        whole.loss, whole.coverage.missed, float(whole.coverage.size),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: nk.Delayed(nk.VAW(), -1), "from 0 to 10,000"),
        (lambda: nk.Delayed(nk.Hedge([nk.Perceptron()]), 1.5), "from 0 to 10,000"),
        (lambda: nk.Conformal(nk.VAW(), delay=2, rule="decaying"), "rule tracker"),
        (lambda: nk.Conformal(nk.Perceptron(), delay=2), "with probabilities"),
    ],
)
def test_impossible_delays_are_refused(make, why):
    with pytest.raises(InputError, match=why):
        make()
