"""The kernel Perceptron's bounds: golden values, arbitrary streams and kernels, floats, broken learners, void ones."""

import dataclasses
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.game import ledger_state
from novikoff.game.play import play
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.kernel_perceptron import KernelPerceptron
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.theorems.kernel_facts import KernelFacts, growth2
from novikoff.kernel.theorems.kernel_hinge import kernel_hinge
from novikoff.kernel.theorems.kernel_lengths import kernel_lengths
from novikoff.kernel.theorems.kernel_margin import kernel_margin
from novikoff.kernel.theorems.kernel_squared_hinge import kernel_squared_hinge


def of_multiclass_kernel():
    """The kernel Perceptron of many labels."""

    def game(stream):
        return cases.run_of(nk.MulticlassKernelPerceptron("linear", labels=3), stream)

    def paid_more(run):
        tracked = dataclasses.replace(run.tracked, mistakes=140)
        return dataclasses.replace(cases.changed(run, updates=140), mistakes=140, tracked=tracked)

    sample = [(tuple(3.0 * np.eye(3)[t % 3]), t % 3) for t in range(150)]
    return cases.Case(
        cases.MANY_VECTORS,
        game,
        sample,
        lambda: cases.run_of(
            nk.MulticlassKernelPerceptron("linear", labels=2), [(x, 1) for x, _ in cases.orthogonal(12)]
        ),
        lambda: paid_more(game(sample)),
        (
            (lambda: dataclasses.replace(game(sample), rounds=1), "every round it learned from"),
            (lambda: cases.changed(game(sample), updates=70), "only on the mistakes of its scores"),
            (lambda: cases.changed(game(sample), new=7), "agrees with the ledger's"),
            (lambda: cases.changed(game(sample), evictions=1), "ever removed"),
        ),
    )


kernel_case = cases.of_vectors(
    lambda: nk.KernelPerceptron(**cases.LINEAR),
    lambda: cases.run_of(cases.opposite(nk.KernelPerceptron), cases.apart(20)),
    unless=cases.NARROW,
    more=(
        (
            lambda: cases.changed(cases.run_of(nk.KernelPerceptron(**cases.LINEAR), cases.orthogonal(3)), evictions=1),
            "ever removed",
        ),
    ),
)

CASES = {
    "multiclass_kernel_mistakes": of_multiclass_kernel(),
    "kernel_lengths": kernel_case,
    "kernel_hinge": kernel_case,
    "kernel_margin": kernel_case,
    "kernel_squared_hinge": kernel_case,
}
"""Cases for tests/test_every_theorem.py."""

THEOREMS = [kernel_hinge, kernel_lengths, kernel_margin, kernel_squared_hinge]
LINEAR = Kernel.of("linear")
SQUARED = Kernel.of("polynomial", degree=2, constant=1)
KERNELS = [
    LINEAR,
    SQUARED,
    Kernel.of("polynomial", degree=3, constant=0.5),
    Kernel.of("rbf", gamma=0.5),
    Kernel.of("polynomial", degree=2, constant=1, normalized=True),
    Kernel.of("linear", bias=0.5),
]
XOR = ([(1, 1), (1, -1), (-1, 1), (-1, -1)], [-1, 1, 1, -1])
WILD = [0.0, 1.0, -1.0, 0.1, 3.0, 1e16, -1e16, 1e-160, -3e-160, 1e-320, 5e-324, 1e150, 1e308, 2.0**-449, 2.0**449]
labels = st.sampled_from([-1, 1])


@dataclasses.dataclass
class Plain:
    """The kernel Perceptron in plain Python; the rule can be broken on purpose."""

    similarity: Kernel = LINEAR
    says: int = 1  # -1 says the opposite
    step: int = 1  # 0 never learns
    rounds: int = 0
    updates: int = 0
    points: list = dataclasses.field(default_factory=list)
    coefficients: dict = dataclasses.field(default_factory=dict)

    def facts(self):
        return KernelFacts(
            rounds=self.rounds,
            updates=self.updates,
            supports=self.updates,
            evictions=0,
            budget=None,
            similarity=self.similarity,
            empty=self.updates == 0,
        )

    def play(self, row, y):
        x, score = np.array(row, dtype=float), 0.0
        if self.points:
            values = self.similarity.matrix(np.array(self.points), x[None])[:, 0].tolist()
            for point, value in zip(self.points, values, strict=True):
                score += self.coefficients[point] * value
        prediction = self.says * (-1 if score < 0 else 1)
        self.rounds += 1
        if prediction != y:
            self.updates += 1
            key = tuple(x.tolist())
            if key not in self.coefficients:
                self.points.append(key)
            self.coefficients[key] = self.coefficients.get(key, 0) + self.step * y
        return prediction


def game(rows, labels, similarity=LINEAR, passes=1, learner=None, keep=400, tracked=None):
    """The run of a game on these rows, and the mistakes of each pass."""
    learner = learner or Plain(similarity)
    tracked = tracked or KernelTracker(similarity, keep, additive=True)
    before, mistakes = learner.facts(), []
    for _ in range(passes):
        mistakes.append(0)
        for row, y in zip(rows, labels, strict=True):
            wrong = learner.play(row, y) != y
            mistakes[-1] += wrong
            tracked.see_row(np.array(row, dtype=np.float64), y, wrong)
    points = np.array(learner.points, dtype=float).reshape(len(learner.points), len(rows[0]) if len(rows) else 0)
    coefficients = np.array([learner.coefficients[point] for point in learner.points], dtype=float)
    supports = SimpleNamespace(evictions=0, expansion=lambda: (points, coefficients))
    run = Run(
        before=before,
        after=learner.facts(),
        rounds=passes * len(rows),
        mistakes=sum(mistakes),
        expected=float(sum(mistakes)),
        constants=(0, 0),
        adaptive=False,
        deterministic=True,
        tracked=tracked.facts(SimpleNamespace(supports=supports)),
    )
    return run, mistakes


def streams(values, most=20, width=2):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, labels), min_size=1, max_size=most)


def split(stream):
    return [x for x, _ in stream], [y for _, y in stream]


@pytest.mark.parametrize("theorem", THEOREMS)
def test_xor_is_learned_with_a_square_kernel_within_the_golden_bound(theorem):
    run, mistakes = game(*XOR, SQUARED, passes=3)
    assert mistakes == [3, 1, 0]
    found = theorem(run)
    assert (found.observed, found.bound, found.status) == (4, 4, "valid")  # 4.5, as a whole number


def test_the_golden_bound_of_xor_is_nine_halves():
    run, _ = game(*XOR, SQUARED, passes=3)
    best = min(u.square for u in run.tracked.comparators if u.direction and u.hinge == 0)
    assert run.tracked.square >= 9
    assert float(run.tracked.square) == pytest.approx(9)
    assert Fraction(1, 2) <= best  # y' K^-1 y
    assert float(run.tracked.square * best) == pytest.approx(4.5, rel=1e-6)


def test_the_coefficients_of_xor_are_all_one():
    learner = Plain(SQUARED)
    game(*XOR, SQUARED, passes=3, learner=learner)
    assert [learner.coefficients[point] for point in XOR[0]] == XOR[1]


@pytest.mark.parametrize("similarity", KERNELS)
@given(
    stream=streams(st.integers(-3, 3) | st.floats(-2, 2)), passes=st.integers(1, 3), keep=st.sampled_from([0, 3, 400])
)
def test_the_theorems_hold_on_arbitrary_streams(similarity, stream, passes, keep):
    run, _ = game(*split(stream), similarity, passes, keep=keep)
    for theorem in THEOREMS:
        found = theorem(run)
        assert found.status in ("valid", "vacuous", "void")
        if found.status == "void":
            assert "separates" in found.reason or "rescale" in found.reason
        else:
            assert found.bound >= run.mistakes
    assert kernel_hinge(run).status == "void" or kernel_hinge(run).bound <= run.rounds


@pytest.mark.parametrize("similarity", KERNELS)
@given(stream=streams(st.sampled_from(WILD), most=10), passes=st.integers(1, 2))
def test_extreme_floats_never_break_the_bound(similarity, stream, passes):
    run, _ = game(*split(stream), similarity, passes)
    for theorem in THEOREMS:
        assert theorem(run).status in ("valid", "vacuous", "void")


@pytest.mark.parametrize("theorem", THEOREMS)
def test_a_ring_that_no_line_separates_is_bounded_with_the_rbf(theorem):
    coins = np.random.default_rng(3)
    angle, far = coins.uniform(0, 2 * math.pi, 600), coins.random(600) < 0.5
    radius = np.where(far, 2.0, 0.5)
    rows = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    run, _ = game(rows, np.where(far, 1, -1).tolist(), Kernel.of("rbf", gamma=1.0), keep=100)
    found = theorem(run)
    assert found.status == "valid"
    assert run.mistakes <= found.bound < 300


def test_labels_that_are_coins_are_hardly_bounded():
    coins = np.random.default_rng(4)
    run, _ = game(coins.normal(size=(150, 2)), coins.choice([-1, 1], 150).tolist(), Kernel.of("rbf", gamma=0.5))
    assert kernel_margin(run).status == "void"
    assert "no comparator" in kernel_margin(run).reason
    assert kernel_hinge(run).bound <= 150


@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_theorem_accounts_for_the_rounding_of_a_long_run(theorem):
    """With 2^24 examples in the list a score may be off by 2^-5 of R^2 for each of them."""
    run, _ = game(np.eye(40), [-1] * 40, passes=2)
    tracked = dataclasses.replace(run.tracked, mistakes=2**24)
    long = dataclasses.replace(
        run, mistakes=2**24, after=dataclasses.replace(run.after, updates=2**24), tracked=tracked
    )
    assert growth2(run, 40) < 1 + Fraction(1, 10**11)
    assert growth2(long, 2**24) == pytest.approx(1 + 2.0**-4, rel=1e-6)
    assert theorem(run).bound == 40
    assert theorem(long).bound == (80 if theorem is kernel_lengths else 42)  # 80: the rounds


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize(
    ("broken", "status"), [({"says": -1}, "violated"), ({"step": 0}, "void"), ({"step": -1}, "void")]
)
def test_a_broken_learner_is_detected(theorem, broken, status):
    rows, ys = [[1, 2], [2, -1]] * 20, [-1, 1] * 20
    run, _ = game(rows, ys, SQUARED, learner=Plain(SQUARED, **broken))
    assert theorem(run).status == status
    assert status == "violated" or "nothing else changed it" in theorem(run).reason


@pytest.mark.parametrize("theorem", THEOREMS)
def test_refuted_assumptions_make_it_void(theorem):
    run, _ = game(np.eye(3), [-1] * 3)
    for part, why in (
        ({"after": dataclasses.replace(run.after, evictions=1)}, "ever removed"),
        ({"after": dataclasses.replace(run.after, rounds=4)}, "every round"),
        ({"before": dataclasses.replace(run.before, empty=False)}, "warm start"),
        ({"tracked": dataclasses.replace(run.tracked, similarity=SQUARED)}, "learner's K"),
        ({"tracked": dataclasses.replace(run.tracked, invalid_reason="out of range")}, "out of range"),
    ):
        found = theorem(dataclasses.replace(run, **part))
        assert found.status == "void"
        assert why in found.reason


@pytest.mark.parametrize("theorem", THEOREMS)
def test_user_defined_kernel_is_trusted_to_be_an_inner_product(theorem):
    run, _ = game(np.eye(4), [-1] * 4, Kernel.of(lambda z, x: float(z @ x)), passes=2)
    found = theorem(run)
    assert (found.bound, found.status) == (4, "conditional")
    assert "inner product, at least as accurate as a sum" in found.reason


@pytest.mark.parametrize("theorem", THEOREMS)
def test_a_gamma_so_small_that_distances_overflow_is_void(theorem):
    """K(x,z) is 0.98 and computed as 0: ||x-z||^2 is infinite."""
    similarity = Kernel.of("rbf", gamma=1e-312)
    x = np.array([[1e155], [-1e155]])
    assert similarity.matrix(x, x)[0, 1] == 0.0
    run, _ = game(x, [-1, -1], similarity)
    assert (theorem(run).status, "gamma" in theorem(run).reason) == ("void", True)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_kernel_that_is_not_an_inner_product_is_void(theorem):
    run, _ = game([[1.0], [2.0]], [-1, -1], Kernel.of(lambda z, x: -float(z @ x)))
    assert theorem(run).status == "void"
    assert "not an inner product" in theorem(run).reason


def test_facts_come_back_from_a_model_file():
    facts = Plain(SQUARED).facts()
    assert KernelFacts(**dataclasses.asdict(facts)) == facts


@pytest.mark.parametrize("arguments", [{"kernel": "linear"}, {"gamma": 0.5}, {"kernel": "polynomial", "bias": 0.5}])
def test_the_learner_itself_is_certified_as_its_plain_twin_is(arguments):
    coins = np.random.default_rng(8)
    x = coins.normal(size=(250, 3)).round(2)
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * coins.normal(size=250) > 0.1, 1, -1)
    ledger = play(KernelPerceptron(**arguments), (x, y), passes=2)
    run, mistakes = game(x, y.tolist(), Kernel.of(**arguments), passes=2)
    assert ledger.mistakes == sum(mistakes)
    found = {certificate.theorem: certificate for certificate in ledger.certify()}
    for theorem in THEOREMS:
        plain = theorem(run)
        own = found[theorem.__name__]
        assert (own.status, own.bound) == (plain.status, plain.bound)


@pytest.mark.parametrize("stop", [100, 450])
def test_a_game_that_was_stopped_is_certified_as_a_whole(stop):
    coins = np.random.default_rng(11)
    x = coins.normal(size=(700, 3))
    y = np.where(x[:, 0] * x[:, 1] > 0.1, 1, -1)
    whole = play(KernelPerceptron(gamma=0.5), (x, y))
    first = play(KernelPerceptron(gamma=0.5), (x[:stop], y[:stop]))
    learner = KernelPerceptron.restore(first.learner.state())
    ledger = ledger_state.restore(ledger_state.state_of(first), learner)
    play(learner, (x[stop:], y[stop:]), ledger=ledger)
    assert ledger.mistakes == whole.mistakes
    assert ledger.certify() == whole.certify()
