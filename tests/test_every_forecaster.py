"""The contracts, over every learner that plays on advice or losses, for every loss that it takes.

A sample is a spec and the kind of table it is played on.
"""

import math
from functools import partial

import numpy as np
import pytest

import novikoff as nk
from novikoff.game.specs import make
from novikoff.testing import check_certificate, check_learner

ROUNDS, EXPERTS = 150, 6


def losses(seed, **_):
    return None, np.random.default_rng(seed).random((ROUNDS, EXPERTS))


def numbers(seed, whole=False, asleep=False):
    """Probabilities, some better than others; outcomes in [0, 1], or 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROUNDS)
    y = np.round(y) if whole else y
    quality = np.linspace(0.0, 1.0, EXPERTS)
    x = np.clip(quality * y[:, None] + (1 - quality) * rng.random((ROUNDS, EXPERTS)), 0.0, 1.0)
    if asleep:
        x[rng.random(x.shape) < 0.3] = math.nan
        x[:, 0] = np.where(np.isnan(x[:, 0]), 0.5, x[:, 0])
    return x, y


def votes(seed, **_):
    x, y = numbers(seed, whole=True)
    return np.round(x), y


TABLES = {
    "table": losses,
    "absolute": numbers,
    "squared": numbers,
    "log": lambda seed: numbers(seed, whole=True),
    "zero-one": votes,
    "asleep": lambda seed: numbers(seed, asleep=True),
}
SAMPLES = [
    (f"{spec}experts={EXPERTS},loss={loss}", loss)
    for spec in (
        "exponential-weights:", "exponential-weights:rate=doubling,", "exponential-weights:horizon=150,seed=4,",
        "exponential-weights:eta=0.4,prior=[1,2,3,4,5,6],", "ada-hedge:", "fixed-share:switches=2,horizon=150,",
        "fixed-share:switches=0,horizon=150,prior=[6,5,4,3,2,1],", "sleeping-experts:", "sleeping-experts:eta=0.3,",
    )
    for loss in ("table", "absolute", "squared", "log", "zero-one")
]  # fmt: skip
SAMPLES += [(f"{spec},play=draw", loss) for spec, loss in SAMPLES if loss in ("table", "squared", "log")]
SAMPLES += [(f"randomized-weighted-majority:experts={EXPERTS},loss={loss}", loss) for loss in ("zero-one", "table")]
SAMPLES += [(f"sleeping-experts:experts={EXPERTS},loss={loss}", "asleep") for loss in ("absolute", "squared")]
every = pytest.mark.parametrize(
    ("spec", "table"),
    [pytest.param(*sample, id=sample[0], marks=pytest.mark.slow if k % 2 else []) for k, sample in enumerate(SAMPLES)],
)
"""Every learner with every loss; a short run has half of them, between them all learners and losses."""


def stream(table, seed=0):
    x, y = TABLES[table](seed)
    return nk.Losses(y) if x is None else nk.Advice(x, y)


@every
def test_every_contract_is_kept(spec, table):
    x, y = TABLES[table](3)
    bad, wrong = [], ["a", None]
    if x is None:
        wrong += [[0.5] * 5, [0.5] * 7, [1.5, *y[0, 1:]], [-0.1, *y[0, 1:]]]
        wrong += [] if "sleeping" in spec else [[math.nan, *y[0, 1:]]]
    else:
        bad += [[0.5] * 5, [0.5] * 7, "a", [math.inf, *x[0, 1:]]]
        bad += [] if "sleeping" in spec else [[math.nan, *x[0, 1:]]]
        wrong += [math.inf, math.nan]
        if "zero-one" not in spec:
            bad.append([1.5, *x[0, 1:]])
            wrong += [1.5, -0.5]
    check_learner(partial(make, spec, "learner"), stream(table, 3), refused=bad, outcomes=wrong)


@every
def test_weights_are_a_distribution(spec, table):
    learner, (x, y) = make(spec, "learner"), TABLES[table](0)
    for t in range(40):
        learner.learn_one(None if x is None else x[t], y[t])
        assert math.isclose(float(np.sum(learner.weights)), 1.0, rel_tol=1e-12)


@every
def test_no_certificate_is_violated_and_some_are_informative(spec, table):
    said = set()
    for seed in range(5):
        for certificate in nk.play(make(spec, "learner"), stream(table, seed)).certify():
            check_certificate(certificate)
            said.add(certificate.status)
    assert said <= {"valid", "vacuous", "void"}
    assert "valid" in said
