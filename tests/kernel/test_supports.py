"""What the five learners that keep supports have in common."""

import copy

import numpy as np
import pytest

import novikoff as nk
from helpers import same, some, sparse
from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Batch
from novikoff.kernel import _loops as kernel_loops
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger
from novikoff.kernel.forgetron import Forgetron
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.kernel.supports import Supports
from novikoff.kernel.tighter import TighterPerceptron

LEARNERS = {
    "kernel-perceptron": KernelPerceptron,
    "rbp": lambda **k: RandomizedBudgetPerceptron(20, seed=3, **k),
    "rbp of one": lambda **k: RandomizedBudgetPerceptron(1, **k),
    "forgetron": lambda **k: Forgetron(20, radius=3.0, **k),
    "forgetron of one": lambda **k: Forgetron(1, radius=3.0, **k),
    "basic forgetron": lambda **k: Forgetron(20, radius=3.0, basic=True, **k),
    "cks": lambda **k: CrammerKandolaSinger(20, **k),
    "cks with a margin": lambda **k: CrammerKandolaSinger(20, beta=0.5, **k),
    "cks that distils": lambda **k: CrammerKandolaSinger(None, distill=True, **k),
    "cks that does both": lambda **k: CrammerKandolaSinger(7, beta=0.25, distill=True, **k),
    "tighter": lambda **k: TighterPerceptron(20, **k),
    "tighter of one": lambda **k: TighterPerceptron(1, beta=0.5, **k),
}
KERNELS = {
    "linear": {"kernel": "linear", "bias": 1.0},
    "polynomial": {"kernel": "polynomial", "degree": 3, "constant": 1.0, "normalize_kernel": True},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
}
every = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def stream(rows=400, width=5, seed=0, whole=False):
    """A ring, with noise, so that budgets are full soon; some examples come again."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (rows, width)).astype(float) if whole else rng.normal(size=(rows, width))
    x[:, 1:] *= rng.random((rows, width - 1)) < 0.6
    x[rng.random(rows) < 0.03] = 0.0
    x[rows // 2 :] = x[: rows - rows // 2]
    y = np.where((x * x).sum(axis=1) > np.median((x * x).sum(axis=1)), 1, -1)
    return x, np.where(rng.random(rows) < 0.15, -y, y).astype(np.int8)


@every
@each_kernel
def test_batches_of_any_size_and_single_rows_leave_the_same_predictions_and_state(make, kernel):
    x, y = stream()
    single = make(**kernel)
    said = [single.play_one(row, int(label)) for row, label in zip(x, y, strict=True)]
    assert single.size >= min(15, single.supports.most)
    for size in (7, 400):
        learner = make(**kernel)
        parts = [learner.learn_many(Batch(x[k : k + size], y[k : k + size], k + 1)) for k in range(0, len(y), size)]
        assert np.concatenate(parts).tolist() == said
        assert same(learner.state(), single.state())
        assert learner.facts() == single.facts()


@every
@each_kernel
def test_predicting_changes_nothing_and_matches_the_next_round(make, kernel):
    x, y = stream(120)
    learner = make(**kernel)
    for row, label in zip(x, y, strict=True):
        before = copy.deepcopy(learner.state())
        asked = learner.predict_one(row)
        assert same(learner.state(), before)
        assert learner.play_one(row, int(label)) == asked


@every
def test_dense_sparse_and_wide_rows_play_the_same_on_integers(make, monkeypatch):
    x, y = stream(whole=True)
    rows = sparse(x)
    for kernel in (KERNELS["linear"], KERNELS["rbf"]):
        dense, thin, single, wide = (make(**kernel) for _ in range(4))
        said = dense.learn_many(Batch(x, y, 1)).tolist()
        assert thin.learn_many(Batch(rows, y, 1)).tolist() == said
        assert [single.play_one(row, int(label)) for row, label in zip(rows.rows(), y, strict=True)] == said
        assert same(thin.state(), single.state())
        assert dense.supports.coefficients.tolist() == thin.supports.coefficients.tolist()
        with monkeypatch.context() as small:
            small.setattr("novikoff.kernel._loops.cache.LARGEST_POINTS", 0)
            assert wide.learn_many(Batch(rows, y, 1)).tolist() == said
        assert len(wide.supports.cache.spread) > 0
        assert same(wide.state(), thin.state())


@every
def test_narrow_and_wide_sparse_rows_play_the_same_on_any_numbers(make, monkeypatch):
    x, y = stream(width=12)
    rows = sparse(x)
    for kernel in KERNELS.values():
        usual, wide, later = (make(**kernel) for _ in range(3))
        said = usual.learn_many(Batch(rows, y, 1)).tolist()
        first = later.learn_many(Batch(rows[:100], y[:100], 1)).tolist()
        with monkeypatch.context() as small:
            small.setattr("novikoff.kernel._loops.cache.LARGEST_POINTS", 0)
            assert wide.learn_many(Batch(rows, y, 1)).tolist() == said
            assert first + later.learn_many(Batch(rows[100:], y[100:], 101)).tolist() == said
        assert same(wide.state(), usual.state())
        assert same(later.state(), usual.state())


@every
def test_the_order_of_features_and_zeros_among_them_change_nothing(make):
    x, y = stream(150)
    tidy, messy = make(**KERNELS["rbf"]), make(**KERNELS["rbf"])
    rng = np.random.default_rng(1)
    for row, label in zip(x, y, strict=True):
        order = rng.permutation(5).astype(np.uint32)
        kept = np.flatnonzero(row).astype(np.uint32)
        assert tidy.play_one((kept, row[kept]), int(label)) == messy.play_one((order, row[order]), int(label))
    assert same(tidy.state()["supports"], messy.state()["supports"])


@every
def test_named_features_play_as_numbered_ones(make):
    x, y = stream(150)
    names = ["a", "b", "c", "d", "e"]
    named, numbered = make(**KERNELS["rbf"]), make(**KERNELS["rbf"])
    order = {}
    for row, label in zip(x, y, strict=True):
        example = {names[i]: float(row[i]) for i in np.flatnonzero(row)}
        for name in example:
            order.setdefault(name, len(order))
        numbers = {order[name]: value for name, value in example.items()}
        assert named.predict_one(example) == numbered.predict_one(numbers)
        assert named.play_one(example, int(label)) == numbered.play_one(numbers, int(label))
    assert same(named.state()["supports"], numbered.state()["supports"])


@every
def test_features_that_were_never_seen_are_zero_in_the_supports(make):
    x, y = stream(100)
    learner = make(kernel="linear", bias=1.0)
    learner.learn_many(Batch(sparse(x), y, 1))
    seen = (np.array([0, 1], np.uint32), np.array([1.0, -2.0]))
    more = (np.array([0, 1, 90_000], np.uint32), np.array([1.0, -2.0, 5.0]))
    assert learner.score_one(more) == learner.score_one(seen)
    learner.play_one(more, -learner.predict_one(more))
    assert learner.size >= 1


@some(3, make=LEARNERS.values(), kernel=KERNELS.values())
def test_user_defined_kernel_plays_as_the_kernel_it_computes(make, kernel):
    x, y = stream(70, whole=True)
    similarity = Kernel.of(kernel["kernel"], kernel.get("gamma", 1.0), kernel.get("degree", 2), 1.0)

    def function(z, x):
        return similarity.matrix(z[None], x[None])[0, 0]

    rest = {name: kernel[name] for name in ("normalize_kernel", "bias") if name in kernel}
    own, ours = make(kernel=function, **rest), make(**kernel)
    assert own.learn_many(Batch(x, y, 1)) is None  # it is played row by row
    assert nk.play(own, (x, y), record=True).recorded().tolist() == ours.learn_many(Batch(x, y, 1)).tolist()
    assert own.supports.coefficients.tolist() == ours.supports.coefficients.tolist()
    assert own.supports.examples()["points"].tolist() == ours.supports.examples()["points"].tolist()
    assert (own.size, own.updates, own.rounds) == (ours.size, ours.updates, ours.rounds)


@every
def test_user_defined_kernel_takes_sparse_rows_as_arrays(make):
    x, y = stream(100, whole=True)
    own = make(kernel=lambda z, x: float(z @ x) + 1.0)
    ours = make(kernel="linear", bias=1.0)
    said = [own.play_one(row, int(label)) for row, label in zip(sparse(x).rows(), y, strict=True)]
    assert said == ours.learn_many(Batch(sparse(x), y, 1)).tolist()
    row = (np.array([3], np.uint32), np.array([2.0]))
    assert own.score_one(row) == ours.score_one(row)


@every
def test_failing_user_defined_kernel_changes_nothing(make):
    x, y = stream(60, whole=True)
    failing = []
    own = make(kernel=lambda z, x: float("nan") if failing else float(z @ x))
    names = [{f"f{i}": float(row[i]) for i in np.flatnonzero(row)} for row in x]
    nk.play(own, zip(names, y.tolist(), strict=True))
    before = (own.rounds, own.updates, own.features.state(), own.supports.examples(), own.supports.coefficients)
    failing.append(True)
    with pytest.raises(InputError, match="a kernel must return finite numbers"):
        own.learn_one({"f0": 1.0, "new": 2.0}, 1)
    after = (own.rounds, own.updates, own.features.state(), own.supports.examples(), own.supports.coefficients)
    assert all(same(one, two) for one, two in zip(before, after, strict=True))


@every
def test_error_of_a_user_defined_kernel_names_the_round_and_the_ledger_stops_before_it(make):
    x, y = stream(60, whole=True)
    x = np.abs(x) + 0.5
    x[40] = -1.0
    own = make(kernel=lambda z, x: float(z @ x) if x[0] > 0 else float("inf"))
    ledger = nk.Ledger(own)
    with pytest.raises(InputError, match="round 41: a kernel must return finite numbers"):
        nk.play(own, (x, y), ledger=ledger)
    assert ledger.rounds == own.rounds == 40


@every
@pytest.mark.parametrize("bare", [{}, []], ids=["mapping", "array"])
def test_arrays_may_follow_examples_without_features(make, bare):
    x, y = stream(120, width=300, whole=True)
    learner, told = make(kernel="linear", bias=1.0), make(kernel="linear", bias=1.0)
    for label in (-1, 1, -1):
        assert learner.play_one(bare, label) == told.play_one(np.zeros(300), label)
    for row, label in zip(x, y, strict=True):
        before = copy.deepcopy(learner.state())
        assert learner.predict_one(row) == told.predict_one(row)
        assert same(learner.state(), before)
        assert learner.play_one(row, int(label)) == told.play_one(row, int(label))
    assert same(learner.state(), told.state())


@every
@each_kernel
def test_resume_matches_uninterrupted_run(make, kernel):
    x, y = stream()
    for rows in (x, sparse(x)):
        whole = make(**kernel)
        said = whole.learn_many(Batch(rows, y, 1)).tolist()
        part = make(**kernel)
        first = part.learn_many(Batch(rows[:211], y[:211], 1)).tolist()
        again = type(part).restore(copy.deepcopy(part.state()))
        assert same(again.state(), part.state())
        assert first + again.learn_many(Batch(rows[211:], y[211:], 212)).tolist() == said
        assert same(again.state(), whole.state())
        assert again.facts() == whole.facts()


@every
def test_untrained_learner_is_restored(make):
    learner = make(**KERNELS["rbf"])
    again = type(learner).restore(learner.state())
    assert same(again.state(), learner.state())
    assert again.predict_one([1.0, 2.0]) == 1
    x, y = stream(60)
    assert again.learn_many(Batch(x, y, 1)).tolist() == learner.learn_many(Batch(x, y, 1)).tolist()


@every
def test_there_are_never_more_supports_than_the_budget(make):
    x, y = stream(300)
    learner = make(**KERNELS["rbf"])
    for row, label in zip(x, y, strict=True):
        learner.learn_one(row, int(label))
        assert learner.size <= learner.supports.most
        assert learner.facts().supports - learner.size in (0, learner.updates - learner.size)
    if learner.supports.budget:
        assert learner.supports.cache.slots.shape[1] < learner.supports.budget + 16
        assert learner.updates - learner.supports.evictions == learner.size


@every
def test_sparse_rows_that_left_free_their_memory(make):
    x, y = stream(4000, width=8)
    learner = make(**KERNELS["rbf"])
    learner.learn_many(Batch(sparse(x), y, 1))
    held = len(learner.supports.examples()["numbers"])
    assert len(learner.supports.cache.numbers) <= max(64, 4 * max(held, 8 * learner.size))


@every
def test_bad_examples_and_labels_are_refused_and_change_nothing(make):
    x, y = stream(60)
    learner = make(**KERNELS["rbf"])
    learner.learn_many(Batch(x, y, 1))
    before = copy.deepcopy(learner.state())
    for bad in ([1.0], [np.nan] * 5, [np.inf] * 5, ["a"] * 5, None, {"a": 1.0}, (np.array([0]), np.array([1.0]))):
        with pytest.raises(InputError):
            learner.predict_one(bad)
        with pytest.raises(InputError):
            learner.learn_one(bad, 1)
    for label in (0, 2, 0.5, None, "spam"):
        with pytest.raises(InputError):
            learner.learn_one(x[0], label)
    with pytest.raises(InputError):
        learner.learn_many(Batch(sparse(x), y, 61))
    with pytest.raises(InputError):
        learner.learn_many(Batch(np.ones((3, 4)), np.ones(3, np.int8), 61))
    assert same(learner.state(), before)


@pytest.mark.parametrize("kind", [RandomizedBudgetPerceptron, Forgetron, CrammerKandolaSinger, TighterPerceptron])
@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "ten", 2**40])
def test_budget_must_be_a_positive_integer(kind, budget):
    with pytest.raises(InputError, match="budget"):
        kind(budget)


@pytest.mark.parametrize("kind", [CrammerKandolaSinger, TighterPerceptron])
@pytest.mark.parametrize("beta", [-0.1, np.nan, np.inf, "much", None])
def test_insertion_margin_must_not_be_negative(kind, beta):
    with pytest.raises(InputError, match="beta"):
        kind(5, beta=beta)


@every
def test_a_batch_of_integers_or_short_floats_is_one_of_doubles(make):
    x, y = stream(100, whole=True)
    said = [make(**KERNELS["rbf"]).learn_many(Batch(x.astype(kind), y, 1)).tolist() for kind in (float, "f4", "i8")]
    assert said[0] == said[1] == said[2]


@every
def test_read_only_arrays_are_played_and_not_changed(make):
    x, y = stream(50)
    rows = sparse(x)
    arrays = (x, y, rows.indptr, rows.indices, rows.values)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    dense, thin = (make(**KERNELS["rbf"]) for _ in range(2))
    dense.learn_many(Batch(x, y, 1))
    thin.learn_many(Batch(rows[10:], y[10:], 1))
    assert (dense.updates > 0, thin.updates > 0) == (True, True)
    assert all(np.array_equal(array, was) for array, was in zip(arrays, before, strict=True))


def test_kernels_are_compiled_for_labels_of_one_kind():
    x, y = stream(50)
    held = y.copy()
    held.flags.writeable = False
    for labels in (y, held):
        learner = KernelPerceptron()
        learner.learn_many(Batch(x, labels, 1))
        learner.play_one(x[0], 1)
    assert len(kernel_loops.kernel_perceptron.learn_many.signatures) == 1


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_too_small_a_budget_errs_on_every_example_it_does_not_hold(budget):
    examples = np.eye(budget + 1)
    for make in (
        lambda: RandomizedBudgetPerceptron(budget, "linear", seed=1),
        lambda: Forgetron(budget, "linear", radius=1.0),
        lambda: CrammerKandolaSinger(budget, "linear"),
        lambda: TighterPerceptron(budget, "linear"),
    ):
        learner = make()
        for _ in range(40):
            missing = next(x for x in examples if learner.predict_one(x) == 1)
            learner.learn_one(missing, -1)
        assert learner.updates == 40
    free = KernelPerceptron("linear")
    x = np.tile(examples, (5, 1))
    assert int(np.sum(free.learn_many(Batch(x, np.full(len(x), -1, np.int8), 1)) == 1)) == budget + 1


@pytest.mark.parametrize("size", [1e-200, 1e160])
def test_numbers_beyond_the_doubles_stop_nothing(size):
    x, y = stream(60)
    for make in LEARNERS.values():
        for kernel in ({"kernel": "polynomial", "degree": 3}, {"kernel": "rbf"}):
            one, two = make(**kernel), make(**kernel)
            said = one.learn_many(Batch(x * size, y, 1)).tolist()
            assert [two.play_one(row, int(label)) for row, label in zip(x * size, y, strict=True)] == said


def test_the_norm_is_that_of_the_sum():
    x, y = stream(100)
    learner = Forgetron(20, gamma=0.3)
    learner.learn_many(Batch(x, y, 1))
    points, coefficients = learner.supports.examples()["points"], learner.supports.coefficients
    wanted = coefficients @ learner.similarity.matrix(points, points) @ coefficients
    assert np.isclose(learner.supports.norm2(), wanted, rtol=1e-12)
    assert np.isclose(learner.norm2, wanted, rtol=1e-9)


def damaged(state, **changes):
    state = copy.deepcopy(state)
    for path, value in changes.items():
        where = state
        *names, last = path.split("__")
        for name in names:
            where = where[name]
        where[last] = value
    return state


@pytest.mark.parametrize("thin", [False, True])
def test_damaged_states_are_refused(thin):
    x, y = stream(100)
    learner = RandomizedBudgetPerceptron(10, gamma=0.3)
    learner.learn_many(Batch(sparse(x) if thin else x, y, 1))
    state = learner.state()
    bad = [
        {"budget": 3},
        {"supports__updates": 2},
        {"supports__evictions": learner.supports.evictions + 1},
        {"supports__slots__coefficients": np.ones(9)},
        {"supports__slots__coefficients": np.full(10, np.nan)},
        {"supports__slots__labels": np.zeros(10, np.int8)},
        {"supports__slots__born": np.zeros(10)},
        {"features__count": 3},
        {"features__kind": "array" if thin else "numbers"},
        {"rounds": -1},
    ]
    if thin:
        held = state["supports"]["examples"]
        bad += [
            {"features__kind": None},
            {"supports__examples__indptr": held["indptr"][::-1].copy()},
            {"supports__examples__indptr": held["indptr"][:0]},
            {"supports__examples__places": np.full_like(held["places"], 0)},
            {"supports__examples__places": held["places"].astype(np.int64)},
            {"supports__examples__numbers": np.full_like(held["numbers"], np.inf)},
        ]
    else:
        bad += [
            {"supports__examples__points": np.full((10, 5), np.nan)},
            {"supports__examples__points": np.ones((10, 4))},
            {"supports__examples__points": np.ones(10)},
        ]
    for change in bad:
        with pytest.raises(ModelFileError):
            RandomizedBudgetPerceptron.restore(damaged(state, **change))


def test_supports_hold_nothing_before_the_first_example():
    supports = Supports(Kernel.of("rbf"), 5)
    assert (supports.count, supports.updates, supports.evictions) == (0, 0, 0)
    assert supports.norm2() == 0.0
    assert all(len(array) == 0 for name, array in supports.examples().items() if name != "indptr")
    supports.load(supports.state(), dense=False, features=0)
    assert supports.count == 0


def test_an_explicit_zero_in_a_sparse_row_changes_no_score():
    import novikoff as nk

    for own in ("linear", lambda a, b: float(a @ b)):
        learner = nk.KernelPerceptron(own)
        learner.learn_one({"a": 1.0, "b": 1.0}, -1)
        assert learner.score_one({"b": 1.0}) == learner.score_one({"a": 0.0, "b": 1.0}) == -1.0
        assert learner.score_one({"c": 0.0}) == 0.0
