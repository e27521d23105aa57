"""The Forgetron's bounds: golden tables, arbitrary streams and shrinkings, floats, broken learners, void ones."""

import dataclasses
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.game.play import play
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.forgetron import Forgetron as Learner
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.theorems.forgetron_pathwise import Costs, forgetron_pathwise, mixtures, pathwise
from novikoff.kernel.theorems.forgetron_theorem import forgetron_theorem, longest
from novikoff.kernel.theorems.kernel_facts import KernelFacts

forgetron_case = cases.of_vectors(
    lambda: nk.Forgetron(90, "linear", radius=6.0),
    lambda: cases.run_of(cases.broken(nk.Forgetron(90, "linear", radius=1.0)), [((1.0, 0.0), -1)] * 60),
    tight=False, sample=[((5.0, 0.0), -1)] * 60,
)  # fmt: skip

CASES = {
    "forgetron_pathwise": forgetron_case,
    "forgetron_theorem": dataclasses.replace(
        forgetron_case,
        unless="above the R^2",
        void=(
            *forgetron_case.void,
            (lambda: cases.run_of(nk.Forgetron(9, "linear", radius=1.0), cases.BOTH), "at least 83"),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

LINEAR = Kernel.of("linear")
RBF = Kernel.of("rbf", gamma=0.5)
THEOREMS = [forgetron_pathwise, forgetron_theorem]
labels = st.sampled_from([-1, 1])


def tuned(learner, r, score):
    """The largest phi with Q <= (15/32) M."""
    s = learner.weights[r]
    a, b = s * s * learner.K[r][r] - 2 * s * learner.ys[r] * score, 2 * s
    c = learner.Q - 15 / 32 * learner.mistakes
    return 1.0 if a + b + c <= 0 else -2 * c / (b + math.sqrt(b * b - 4 * a * c))


def basic(learner):
    n, norm = learner.budget + 1, math.sqrt(learner.norm2)
    u = 0.25 * math.sqrt(n / math.log(n))
    return min(n ** (-1 / (2 * n)), u / norm if norm else math.inf)


class Forgetron:
    """Plain Python on a table of K / radius2; `phis` says how much to shrink on each mistake instead of the rule."""

    def __init__(self, rows, ys, budget, similarity=LINEAR, radius2=1.0, self_tuned=True, phis=None, forgets=True):
        x = np.array(rows, dtype=float)
        self.K = (similarity.matrix(x, x) / radius2).tolist()
        self.rows, self.ys, self.budget, self.similarity = rows, ys, budget, similarity
        self.radius2, self.self_tuned, self.phis, self.forgets = radius2, self_tuned, phis, forgets
        self.weights, self.mistakes, self.evictions, self.norm2 = {}, 0, 0, 0.0
        self.S1 = self.S2 = self.P = self.Lam = self.Q = 0.0
        self.trace = []

    def score(self, t):
        return sum(w * self.ys[k] * self.K[k][t] for k, w in self.weights.items())

    def play(self, t):
        score = self.score(t)
        if (1 if score >= 0 else -1) == self.ys[t]:
            return
        self.mistakes += 1
        self.weights[t] = 1.0
        self.norm2 = max(self.norm2 + 2 * self.ys[t] * score + self.K[t][t], 0.0)
        full = len(self.weights) > self.budget
        r = next(iter(self.weights))
        if self.phis:
            phi = self.phis[self.mistakes % len(self.phis)]
        elif self.self_tuned:
            phi = tuned(self, r, self.score(r)) if full else 1.0
        else:
            phi = basic(self)
        self.S1 += (1 - phi) * math.sqrt(self.norm2)
        self.S2 += (1 - phi * phi) * self.norm2
        self.norm2 *= phi * phi
        self.weights = {k: w * phi for k, w in self.weights.items()}
        if full:
            weight, mu = self.weights[r], self.ys[r] * self.score(r)
            cost = weight * weight * self.K[r][r] - 2 * weight * mu
            self.P, self.Lam, self.Q = self.P + cost, self.Lam + weight, self.Q + cost + 2 * weight
            self.norm2 = max(self.norm2 - 2 * weight * mu + weight * weight * self.K[r][r], 0.0)
            del self.weights[r]
            self.evictions += 1
            self.trace.append((phi, cost + 2 * weight, self.Q))
        else:
            self.trace.append((phi, 0.0, self.Q))
        if not self.forgets:
            self.weights = {}

    def facts(self, rounds):
        return KernelFacts(
            rounds=rounds,
            updates=self.mistakes,
            supports=len(self.weights),
            evictions=self.evictions,
            budget=self.budget,
            similarity=self.similarity,
            empty=not self.weights,
            radius2=self.radius2,
            S1=self.S1,
            S2=self.S2,
            P=self.P,
            Lam=self.Lam,
            Q=self.Q,
            tuned=self.self_tuned,
        )


def game(rows, ys, budget, similarity=LINEAR, keep=400, **options):
    learner = Forgetron(rows, ys, budget, similarity, **options)
    before, tracked = learner.facts(0), KernelTracker(similarity, keep)
    for t, (row, y) in enumerate(zip(rows, ys, strict=True)):
        before_round = learner.mistakes
        learner.play(t)
        tracked.see_row(np.array(row, dtype=np.float64), y, learner.mistakes > before_round)
    mistakes = learner.mistakes
    after = learner.facts(len(rows))
    run = Run(before, after, len(rows), mistakes, float(mistakes), (0, 0), False, True, tracked.facts())
    return run, learner


CYCLE = np.eye(3).tolist() * 4, [-1] * 12


def test_the_golden_table_of_the_self_tuned_learner():
    run, learner = game(*CYCLE, 2)
    assert run.mistakes == 12
    table = [(1, 1, 1), (0.646447, 0.875, 1.875), (0.419417, 0.46875, 2.34375), (1, 0.46875, 2.8125),
             (0.646447, 0.46875, 3.28125), (0.419417, 0.46875, 3.75)]  # fmt: skip
    for found, golden in zip(learner.trace[2:], table, strict=False):
        assert found == pytest.approx(golden, abs=1e-6)
    sums = [learner.S1, learner.S2, learner.Q]
    assert sums == pytest.approx([4.015338075, 8.818099542, 5.625], abs=1e-8)


def test_the_golden_table_of_the_basic_learner():
    run, learner = game(*CYCLE, 2, self_tuned=False)
    phis = [0.413122, 0.381822, 0.381822, 0.382415, 0.382330]
    assert [phi for phi, _, _ in learner.trace[:5]] == pytest.approx(phis, abs=1e-6)
    assert [psi for _, psi, _ in learner.trace[2:5]] == pytest.approx([0.116829, 0.108395, 0.108535], abs=1e-6)
    assert (run.mistakes, learner.Q) == (12, pytest.approx(1.0943569))


@pytest.mark.parametrize(("s", "golden"), [(0.5, 16.511670), (1.0, 13.716440)])
def test_golden_values_of_the_pathwise_bound(s, golden):
    run, learner = game(*CYCLE, 2)
    sums = [Fraction(value) for value in (learner.S1, learner.S2, learner.P, learner.Lam)]
    norm, loss = Fraction(s * math.sqrt(3)), Fraction(12 * max(0.0, 1 - s))
    assert float(pathwise(norm, loss, *sums, Fraction(1))) == pytest.approx(golden, abs=1e-6)
    costs = Costs.of(run, 2)
    assert costs.least == pytest.approx(1)
    assert golden - 1e-6 <= costs.bound(norm, loss) <= golden + 1e-3


def test_the_certificate_finds_the_golden_comparator_or_a_better_one():
    run, _ = game(*CYCLE, 2)
    found = forgetron_pathwise(run)
    assert (found.observed, found.status) == (12, "vacuous")  # every round was a mistake
    assert 12 <= found.bound <= 13


rows_of = lambda values, most: st.lists(st.tuples(st.lists(values, min_size=2, max_size=2), labels), min_size=1,
                                        max_size=most)  # fmt: skip


@given(
    rows_of(st.integers(-2, 2) | st.floats(-2, 2), 25),
    st.integers(1, 6),
    st.sampled_from([LINEAR, RBF, Kernel.of("polynomial", degree=2)]),
    st.sampled_from([True, False]),
    st.none() | st.lists(st.floats(0.05, 1.0), min_size=1, max_size=5),
    st.sampled_from([1.0, 0.01, 40.0]),
)
def test_the_pathwise_bound_holds_on_arbitrary_streams_however_it_shrinks(
    stream, budget, similarity, tune, phis, radius2
):
    rows, ys = [x for x, _ in stream], [y for _, y in stream]
    if phis is None and radius2 < 1:  # the rule of phi needs R to be right
        radius2 = 40.0
    run, _ = game(rows, ys, budget, similarity, radius2=radius2, self_tuned=tune, phis=phis)
    found = forgetron_pathwise(run)
    assert found.status in ("valid", "vacuous", "void")
    assert found.status != "void" or "rescale" in found.reason
    assert found.bound is None or found.bound >= run.mistakes


@given(rows_of(st.integers(-2, 2), 20), st.integers(1, 4), st.tuples(*[st.fractions(-1, 1, max_denominator=4)] * 2))
def test_the_pathwise_bound_holds_for_every_comparator_and_every_radius(stream, budget, g):
    rows, ys = [x for x, _ in stream], [y for _, y in stream]
    run, learner = game(rows, ys, budget, radius2=8.0)
    loss = sum((max(Fraction(0), 1 - y * (g[0] * x[0] + g[1] * x[1])) for x, y in stream), Fraction(0))
    norm = Fraction(math.sqrt(8 * (g[0] ** 2 + g[1] ** 2)))  # in units of K / 8
    sums = [Fraction(value) for value in (learner.S1, learner.S2, learner.P, learner.Lam)]
    for square in (1, 2, 10):
        assert run.mistakes <= pathwise(norm, loss, *sums, Fraction(square)) + Fraction(1, 10**6)


def noisy(rows, flips, seed=0, width=3):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    y = np.where((x**2).sum(axis=1) > width, 1, -1)
    y[coins.random(rows) < flips] *= -1
    return x.tolist(), y.tolist()


@pytest.mark.parametrize("self_tuned", [True, False])
def test_pathwise_bound_is_informative_where_the_theorem_is_not(self_tuned):
    run, learner = game(*noisy(600, 0.0), 20, RBF, self_tuned=self_tuned)
    assert learner.evictions > 0
    pathwise, theorem = forgetron_pathwise(run), forgetron_theorem(run)
    assert pathwise.status in ("valid", "vacuous")
    assert theorem.status == "void"
    assert "at least 83" in theorem.reason


def test_an_easy_stream_is_bounded_well_below_its_rounds():
    coins = np.random.default_rng(5)
    y = np.where(coins.random(800) < 0.5, 1, -1)
    x = (y[:, None] * np.array([[1.0, 0.0]]) + 0.3 * coins.normal(size=(800, 2))).tolist()
    run, _ = game(x, y.tolist(), 5, RBF)
    found = forgetron_pathwise(run)
    assert run.mistakes <= found.bound < 400


@pytest.mark.parametrize("self_tuned", [True, False])
def test_the_theorem_holds_with_a_budget_of_83(self_tuned):
    coins = np.random.default_rng(6)
    y = np.where(coins.random(500) < 0.5, 1, -1)
    x = np.stack([0.95 * y, coins.uniform(-0.2, 0.2, 500)], axis=1).tolist()
    run, _ = game(x, y.tolist(), 83, self_tuned=self_tuned)
    found = forgetron_theorem(run)
    assert found.status == "valid"
    assert run.mistakes <= found.bound == 2  # 2/0.95^2, as a whole number
    assert found.quantities["norm"] <= found.quantities["U"]
    assert forgetron_pathwise(run).bound <= found.bound


def test_the_theorem_holds_when_the_list_is_full():
    run, learner = game(*noisy(600, 0.2), 83, RBF)
    assert learner.evictions > 0
    removing = learner.Q
    assert removing <= 15 / 32 * run.mistakes + 1e-9
    found = forgetron_theorem(run)
    assert found.status in ("valid", "vacuous")
    assert run.mistakes <= found.bound


def test_two_comparators_are_mixed_where_that_is_better_than_either():
    """||g||^2 + 2 D for lengths 0 and 2, losses 3 and 0: 4 p^2 + 6 (1 - p) is least at p = 3/4."""
    nothing = Fraction(0)
    costs = Costs(0, 1, nothing, nothing, nothing, nothing, Fraction(1), nothing)
    mixed = list(mixtures([nothing, Fraction(2)], [Fraction(3), nothing], costs, 0, 2))
    assert mixed == [(Fraction(3, 2), Fraction(3, 4))]
    assert costs.bound(*mixed[0]) == Fraction(15, 4)
    assert list(mixtures([nothing, Fraction(2)], [Fraction(30), nothing], costs, 0, 2)) == []


def test_comparators_above_the_norm_limit_are_left_out():
    coins = np.random.default_rng(6)
    y = np.where(coins.random(300) < 0.5, 1, -1)
    x = (y[:, None] * np.array([[3.0, 0.0]]) + 0.05 * coins.normal(size=(300, 2))).tolist()
    run, _ = game(x, y.tolist(), 83, RBF)
    found = forgetron_theorem(run)
    assert 0.9 < found.quantities["norm"] <= found.quantities["U"] < 1.1
    assert found.status == "vacuous"  # with ||g||^2 = 2 there would be no loss


def test_the_length_that_comparators_may_have():
    assert longest(83) == pytest.approx(1.0885, abs=1e-4)
    assert longest(15_500) == pytest.approx(10, abs=0.05)
    for budget in range(83, 1000, 7):  # rounded down, as every shorter comparator is covered
        with localcontext(prec=40):
            exact = (Decimal(budget + 1) / Decimal(budget + 1).ln()).sqrt() / 4
        assert exact * Decimal("0.999999999998") < Decimal(longest(budget)) <= exact


@pytest.mark.parametrize(("budget", "enough"), [(82, False), (83, True)])
def test_the_theorem_needs_a_budget_of_83(budget, enough):
    run, _ = game([[1.0]] * 3, [-1] * 3, budget)
    assert (forgetron_theorem(run).status != "void") == enough


def test_example_beyond_the_radius_voids_the_theorem_but_not_the_sums():
    rows, ys = [[2.0, 0.0], [0.0, 1.0]] * 10, [-1, 1] * 10
    short, _ = game(rows, ys, 90, radius2=1.0)
    assert forgetron_theorem(short).status == "void"
    assert "R^2" in forgetron_theorem(short).reason
    assert forgetron_pathwise(short).holds
    assert forgetron_theorem(game(rows, ys, 90, radius2=4.0)[0]).holds


def test_costs_that_no_forgetron_has_make_the_theorem_void():
    run, _ = game(*noisy(300, 0.2), 83, RBF)
    for change, why in (({"P": 1e6}, "15/32"), ({"S1": 1e6}, "1/32")):
        found = forgetron_theorem(dataclasses.replace(run, after=dataclasses.replace(run.after, **change)))
        assert found.status == "void"
        assert why in found.reason


@pytest.mark.parametrize("theorem", THEOREMS)
def test_refuted_assumptions_make_it_void(theorem):
    run, _ = game(*noisy(100, 0.1), 83, RBF)
    for part, why in (
        ({"before": dataclasses.replace(run.before, empty=False)}, "warm start"),
        ({"after": dataclasses.replace(run.after, updates=0)}, "only on its mistakes"),
        ({"after": dataclasses.replace(run.after, S1=math.nan)}, "not finite"),
        ({"tracked": dataclasses.replace(run.tracked, rows=3)}, "every round"),
        ({"tracked": dataclasses.replace(run.tracked, invalid_reason="out of range")}, "out of range"),
    ):
        found = theorem(dataclasses.replace(run, **part))
        assert found.status == "void"
        assert why in found.reason


@pytest.mark.parametrize("theorem", THEOREMS)
def test_no_comparators_no_certificate(theorem):
    run, _ = game([[1.0]], [-1], 83)
    assert theorem(dataclasses.replace(run, tracked=None)) is None


@pytest.mark.parametrize("theorem", THEOREMS)
def test_the_rounding_of_the_run_is_accounted_for(theorem):
    coins = np.random.default_rng(6)
    y = np.where(coins.random(300) < 0.5, 1, -1)
    x = (y[:, None] * np.array([[3.0, 0.0]]) + 0.05 * coins.normal(size=(300, 2))).tolist()
    run, _ = game(x, y.tolist(), 83, RBF)
    rough = dataclasses.replace(run, tracked=dataclasses.replace(run.tracked, error=Fraction(1, 1000)))
    assert theorem(rough).bound > theorem(run).bound


def test_rows_of_zeros_are_handled():
    run, _ = game([[0.0]] * 5, [-1] * 5, 2)
    found = forgetron_pathwise(run)
    assert (found.observed, found.bound, found.status) == (5, 5, "vacuous")


@pytest.mark.parametrize("basic", [False, True])
@pytest.mark.parametrize("arguments", [{"gamma": 0.5}, {"kernel": "polynomial", "radius": 40.0}])
def test_the_learner_itself_is_certified_as_its_plain_twin_is(arguments, basic):
    rows, ys = noisy(300, 0.1)
    learner = Learner(12, basic=basic, **arguments)
    ledger = play(learner, (np.array(rows), np.array(ys)))
    radius2 = arguments.get("radius", 1.0) ** 2
    similarity = Kernel.of(**{name: value for name, value in arguments.items() if name != "radius"})
    run, twin = game(rows, ys, 12, similarity, radius2=radius2, self_tuned=not basic)
    facts = learner.facts()
    assert ledger.mistakes == run.mistakes
    assert twin.evictions > 0
    for name in ("S1", "S2", "P", "Lam", "Q", "radius2"):
        assert getattr(facts, name) == pytest.approx(getattr(run.after, name), rel=1e-9, abs=1e-9)
    found = {certificate.theorem: certificate for certificate in ledger.certify()}
    assert found["forgetron_pathwise"].bound == pytest.approx(forgetron_pathwise(run).bound, abs=1)
    assert found["forgetron_theorem"].status == "void"
