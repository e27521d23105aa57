"""Is it the kernel Perceptron? Mistakes explain the function of every honest one, and of none that does otherwise."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import some
from novikoff.comparators.tracker import restored
from novikoff.core.types import Batch
from novikoff.data.arrays import Arrays
from novikoff.data.memory import Pairs
from novikoff.game.game import Game
from novikoff.game.play import play
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "polynomial", "degree": 3, "constant": 0.5},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "linear", "normalize_kernel": True, "bias": 0.3},
]
WILD = [0.0, 1.0, -1.0, 0.1, 1 / 3, 3.0, 1e5, -1e5, 1e-16, 1e8, -1e8, 1e-100, 1e-320]


def noisy(rows=400, width=4, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width)) * np.exp(coins.normal(size=(rows, 1)))
    x[coins.random((rows, width)) < 0.3] = 0.0
    return x, np.where(x[:, 0] * x[:, 1] + 0.3 * coins.normal(size=rows) > 0.2, 1, -1).astype(np.int8)


def as_stream(x, y, form):
    if form == "dense":
        return Arrays(np.asarray(x), np.asarray(y))
    name = (lambda i: i) if form == "numbers" else "f{}".format
    rows = [{name(i): float(v) for i, v in reversed(list(enumerate(row))) if v} for row in x]
    return Pairs(list(zip(rows, map(int, y), strict=True)))


def unexplained(learner, stream, keep=400, **options):
    """Of a game with comparators that are fitted on so many rows."""
    game = Game(learner)
    game.ledger.tracker.keep_rows = keep
    with np.errstate(all="ignore"):
        ledger = play(learner, stream, ledger=game.ledger, **options)
    facts = ledger.tracker.facts(learner)
    assert facts.mistakes == ledger.mistakes
    return facts.unexplained


@some(2, kernel=KERNELS, form=["dense", "numbers", "names"])
def test_an_honest_kernel_perceptron_is_explained_by_its_mistakes(kernel, form):
    stream = as_stream(*noisy(), form)
    for keep, passes in ((1, 1), (50, 1), (400, 3)):
        assert unexplained(KernelPerceptron(**kernel), stream, keep, passes=passes) <= 1.0


rows = st.lists(st.sampled_from(WILD), min_size=2, max_size=2)


@given(
    st.lists(st.tuples(rows, st.sampled_from([-1, 1])), min_size=1, max_size=20), st.sampled_from(KERNELS),
    st.sampled_from(["dense", "numbers", "names"]), st.sampled_from([1, 400]),
)  # fmt: skip
def test_hostile_floats_are_explained_or_not_checked(rounds, kernel, form, keep):
    x, y = np.array([row for row, _ in rounds]), np.array([label for _, label in rounds])
    found = unexplained(KernelPerceptron(**kernel), as_stream(x, y, form), keep, passes=2)
    assert found is None or found <= 1.0


def test_user_defined_kernel_is_validated():
    x, y = noisy(60)
    for form in ("dense", "names"):
        assert unexplained(KernelPerceptron(lambda z, x: float(z @ x) ** 2), as_stream(x, y, form)) <= 1.0


def test_a_game_that_was_stopped_and_resumed_is_explained():
    (x, y), learner = noisy(700), KernelPerceptron(gamma=0.5)
    tracker = learner.tracker()
    for start in range(0, 700, 100):
        batch = Batch(x[start : start + 100], y[start : start + 100], start + 1)
        tracker.see(batch, learner.learn_many(batch) != batch.y)
        learner, tracker = KernelPerceptron.restore(learner.state()), restored(tracker.state())
        assert tracker.facts(learner).unexplained <= 1.0


def test_features_that_came_later_are_handled():
    x, y = noisy(400, width=9)
    x[:200, 4:] = 0.0
    for form in ("numbers", "names"):
        assert unexplained(KernelPerceptron("polynomial"), as_stream(x, y, form), keep=100) <= 1.0


def honest(coefficients):
    return coefficients


def skip_half(coefficients):
    return np.where(np.arange(len(coefficients)) % 2 == 0, coefficients, 0.0)


def skip_one(coefficients):
    return np.where(np.arange(len(coefficients)) == 7, 0.0, coefficients)


def decay(coefficients):
    return coefficients * (1.0 - 1e-6) ** np.arange(len(coefficients), 0, -1)


def one_twice(coefficients):
    return coefficients + coefficients * (np.arange(len(coefficients)) == 5)


def not_a_number(coefficients):
    return coefficients * np.nan


TWISTS = [skip_half, skip_one, decay, one_twice, not_a_number]


def played(similarity, x, y, every_round=False):
    """A kernel Perceptron in numpy: which rounds were mistakes, and what it added."""
    gram, added = similarity.matrix(x, x), np.zeros(len(y))
    wrong = np.zeros(len(y), np.bool_)
    for t in range(len(y)):
        wrong[t] = (-1 if gram[t] @ added < 0.0 else 1) != y[t]
        added[t] = y[t] if wrong[t] or every_round else 0.0
    return wrong, added


def learner_of(examples, coefficients, evictions=0):
    return SimpleNamespace(supports=SimpleNamespace(evictions=evictions, expansion=lambda: (examples, coefficients)))


@some(2, twist=[honest, *TWISTS], kernel=KERNELS, keep=[20, 400])
def test_altered_learner_is_unexplained(twist, kernel, keep):
    similarity = KernelPerceptron(**kernel).similarity
    (x, y), tracker = noisy(), KernelTracker(similarity, keep, additive=True)
    wrong, added = played(similarity, x, y)
    tracker.see(Batch(x, y, 1), wrong)
    used = np.flatnonzero(added)
    found = tracker.facts(learner_of(x[used], twist(added[used]))).unexplained
    assert found <= 1.0 if twist is honest else found > 100.0


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_learner_that_learns_every_round_or_starts_elsewhere_is_not_explained(kernel):
    similarity = KernelPerceptron(**kernel).similarity
    (x, y), tracker = noisy(), KernelTracker(similarity, additive=True)
    wrong, added = played(similarity, x, y, every_round=True)
    tracker.see(Batch(x, y, 1), wrong)
    assert tracker.facts(learner_of(x, added)).unexplained > 1e3
    tracker, (wrong, added) = KernelTracker(similarity, additive=True), played(similarity, x, y)
    tracker.see(Batch(x, y, 1), wrong)
    assert tracker.facts(learner_of(np.vstack([x, x[:1]]), np.append(added, 1.0))).unexplained > 1e3
    assert tracker.facts(learner_of(x, added)).unexplained <= 1.0


def test_check_is_skipped_after_removals_or_if_not_additive():
    x, y = noisy()
    for learner in (RandomizedBudgetPerceptron(5, gamma=1.0), KernelPerceptron(gamma=1.0)):
        ledger = play(learner, Arrays(x, y))
        looked_at = ledger.tracker.facts(learner).unexplained is not None
        assert looked_at == isinstance(learner, KernelPerceptron)
    tracker = KernelTracker(Kernel.of("linear"))
    tracker.see(Batch(x, y, 1), np.zeros(400, np.bool_))
    assert tracker.facts(learner_of(x, np.ones(400))).unexplained is None
