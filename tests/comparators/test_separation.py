"""Separators and proofs of inseparability: three outcomes, compared with a linear program and with exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog, minimize

import novikoff as nk
from novikoff.comparators.nearest_point import NearestPoint
from novikoff.comparators.rows import without_zeros
from novikoff.comparators.separation import Separator, chunks_of, regrouped, separate
from novikoff.comparators.witness import Witness, linear_witness


def search(x, y, bias=0.0, normalize=False):
    """Return the outcome, verified, and the search: "separated" only with a margin that holds for every row."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=np.int8)
    with np.errstate(over="ignore"):
        longest = float(np.max(np.sum(np.square(x), axis=1), initial=0.0))
    longest = (1.0 if normalize and longest else longest) + bias * bias
    found = separate(chunks_of(without_zeros(x), y), longest, bias, normalize)
    separator = Separator(found.u, bias, normalize)
    separator.see(x, y, np.zeros(len(y), bool))
    widest = separator.comparator(1) if found.found else None
    if found.witness is not None:
        check_witness(found.witness, x, y, bias, normalize)
    outcome = "unknown" if found.found and widest is None else found.outcome
    return outcome, found, separator, widest


def signed(x, y, bias=0.0):
    """Return the rows y x~ that count, as a float matrix."""
    x = np.column_stack([x, np.full(len(x), bias)]) if bias else np.asarray(x, dtype=float)
    ignored = ~x.any(axis=1) & (np.asarray(y) == 1)
    return (x * np.asarray(y)[:, None])[~ignored]


def check_witness(witness, x, y, bias=0.0, normalize=False):
    """Assert in fractions that the signed rows of the witness sum to zero."""
    assert len(witness.rows) == len(set(witness.rows)) == len(witness.labels) == len(witness.shares)
    assert all(y[row - 1] == label for row, label in zip(witness.rows, witness.labels, strict=True))
    if not witness.weights or (normalize and bias):
        assert math.isclose(math.fsum(witness.shares), 1.0)
        assert min(witness.shares) >= 0.0
        return
    assert min(witness.weights) > 0
    total = [Fraction(0)] * (x.shape[1] + 1)
    for row, label, weight in zip(witness.rows, witness.labels, witness.weights, strict=True):
        values = [*map(Fraction, x[row - 1].tolist()), Fraction(bias)]
        total = [one + label * weight * value for one, value in zip(total, values, strict=True)]
    assert not any(total)


def separable(z):
    """Return whether a linear program finds a vector with a positive margin on every row."""
    if not len(z):
        return True
    columns = z.shape[1]
    cut = linprog(
        np.append(np.zeros(columns), -1.0), A_ub=np.column_stack([-z, np.ones(len(z))]), b_ub=np.zeros(len(z)),
        bounds=[(-1.0, 1.0)] * columns + [(None, 1.0)],
    )  # fmt: skip
    return bool(-cut.fun > 1e-9)


def widest_margin(z):
    """Return the widest margin of a unit vector by a general solver, from the solution of the linear program."""
    columns = z.shape[1]
    unit = float(np.max(np.linalg.norm(z, axis=1)))
    start = linprog(np.zeros(columns), A_ub=-z / unit, b_ub=-np.ones(len(z)), bounds=[(None, None)] * columns).x
    found = minimize(
        lambda u: 0.5 * u @ u, start, jac=lambda u: u, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
        constraints={"type": "ineq", "fun": lambda u: z @ u / unit - 1.0, "jac": lambda _: z / unit},
    )  # fmt: skip
    u = found.x / np.min(z @ found.x / unit)
    return unit / math.sqrt(u @ u)


def random_stream(rng):
    rows, columns, most = rng.integers(1, 40), rng.integers(1, 6), int(rng.choice([1, 2, 4, 10]))
    x = rng.integers(-most, most + 1, (rows, columns)) / (most if rng.random() < 0.3 else 1)
    if rng.random() < 0.3:
        x = rng.normal(size=(rows, columns))
    bias = float(rng.choice([0.0, 1.0]))
    y = np.where(x @ rng.normal(size=columns) + bias * rng.normal() >= 0, 1, -1)
    return x, np.where(rng.random(rows) < rng.choice([0.0, 0.0, 0.1, 0.5]), -y, y), bias


def compared_with_a_linear_program(seed, streams):
    rng, counts = np.random.default_rng(seed), {"separated": 0, "inseparable": 0}
    for _ in range(streams):
        x, y, bias = random_stream(rng)
        z = signed(x, y, bias)
        if not len(z):
            continue
        outcome, *_ = search(x, y, bias)
        assert outcome == ("separated" if separable(z) else "inseparable"), (x, y, bias)
        counts[outcome] += 1
    return counts


def test_outcomes_agree_with_a_linear_program_on_random_streams():
    counts = compared_with_a_linear_program(0, 300)
    assert min(counts.values()) > 50


@pytest.mark.slow
def test_outcomes_agree_with_a_linear_program_on_ten_thousand_random_streams():
    assert sum(compared_with_a_linear_program(1, 10_000).values()) > 9_900


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(-2, 2)), st.data())
def test_outcomes_agree_with_a_linear_program_on_arbitrary_integers(x, data):
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(x), max_size=len(x))))
    z = signed(x, y)
    if len(z):
        assert search(x, y)[0] == ("separated" if separable(z) else "inseparable")


def test_margins_are_the_widest():
    rng, ratios = np.random.default_rng(2), []
    for _ in range(60):
        x, y, bias = random_stream(rng)
        z = signed(x, y, bias)
        if len(z) and separable(z):
            _, found, _, widest = search(x, y, bias)
            best = widest_margin(z)
            assert float(widest.square) ** -0.5 <= found.limit
            assert found.limit >= best * (1.0 - 1e-7)
            ratios.append(best / float(widest.square) ** -0.5)
    assert len(ratios) > 20
    assert max(ratios) < 1.001


def test_margin_is_a_lower_bound_in_exact_arithmetic():
    rng = np.random.default_rng(3)
    for scale in (1.0, 1e-140, 1e120, 1e-3):
        for _ in range(20):
            x, y, bias = random_stream(rng)
            outcome, _, separator, widest = search(x * scale, y, bias)
            if outcome != "separated":
                continue
            u = [Fraction(value) for value in separator.u.tolist()]
            margins = [
                int(label) * (sum(a * Fraction(b) for a, b in zip(u, row, strict=False)) + u[-1] * Fraction(bias))
                for row, label in zip((x * scale).tolist(), y, strict=True)
                if any(row) or label == -1 or bias
            ]
            assert min(margins) >= Fraction(separator.least) > 0
            assert widest.square * min(margins) ** 2 >= sum(value**2 for value in u)


@pytest.mark.parametrize("factor", [2.0**-400, 1e-100, 1e100, 2.0**400])
def test_rescaled_rows_have_the_same_outcome(factor):
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, y, _ = random_stream(rng)
        if len(signed(x, y)):
            assert search(x * factor, y)[0] == search(x, y)[0]


@pytest.mark.parametrize("factor", [1e300, 5e-324, 1e-310])
def test_rows_beyond_the_range_give_no_separator(factor):
    x, y = np.array([[1.0, 2.0], [2.0, 1.0]]) * factor, [1, -1]
    assert search(x, y)[0] != "separated"
    (margin,) = (one for one in nk.play(nk.Perceptron(), (x, y)).certify() if one.theorem == "perceptron_margin")
    assert margin.status == "void"


def test_rows_of_very_different_lengths_are_separated():
    x = np.array([[1e9, 1.0], [1e9, -1.0], [-1e-9, 1e-12]])
    outcome, *_ = search(x, [1, 1, -1])
    assert outcome == "separated"


def test_columns_of_very_different_sizes_are_separated():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(50, 4)) * [1e6, 1.0, 1e-6, 1e-3]
    y = np.where(x @ np.array([1e-6, 1.0, 1e6, 1e3]) > 0, 1, -1)
    assert search(x, y)[0] == "separated"


def test_duplicates_and_repeats_change_nothing():
    x, y = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, -1.0]]), np.array([1, -1, -1])
    once, many = search(x, y)[3], search(np.repeat(x, 50, axis=0), np.repeat(y, 50))[3]
    assert float(once.square) == pytest.approx(float(many.square))


def test_dense_and_sparse_rows_give_the_same_bound():
    rng = np.random.default_rng(6)
    x = rng.integers(-2, 3, (40, 5)).astype(float)
    y = np.where(x @ [1.0, -2.0, 0.5, 3.0, 0.25] + 0.1 > 0, 1, -1)
    dense = nk.play(nk.Perceptron(bias=1.0), (x, y)).certify()
    rows = [({k: v for k, v in enumerate(row) if v}, int(label)) for row, label in zip(x.tolist(), y, strict=True)]
    sparse = nk.play(nk.Perceptron(bias=1.0), rows).certify()
    assert {one.theorem: one.bound for one in dense} == {one.theorem: one.bound for one in sparse}


def test_a_zero_example_labelled_plus_is_no_obstacle_without_a_bias():
    x, y = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.5]], [1, 1, -1]
    assert search(x, y)[0] == "separated"
    (margin,) = (one for one in nk.play(nk.Perceptron(), (x, y)).certify() if one.theorem == "perceptron_margin")
    assert margin.bound is not None


def test_a_zero_example_labelled_minus_is_a_proof():
    outcome, found, *_ = search([[0.0, 0.0], [1.0, 0.0]], [-1, 1])
    assert (outcome, found.witness.rows) == ("inseparable", (1,))
    assert found.witness.text() == "round 1 has a zero example labelled -1"


def test_normalized_rows_with_a_bias():
    x, y = np.array([[3.0, 4.0], [6.0, 8.0], [1.0, 0.0]]), [1, -1, 1]
    outcome, found, *_ = search(x, y, bias=1.0, normalize=True)
    assert outcome == "inseparable"
    assert found.witness.rows == (1, 2)
    assert search(x, [1, 1, -1], bias=1.0, normalize=True)[0] == "separated"


def test_witness_weights_are_exact_for_fractions_without_short_digits():
    x = np.array([[0.1, 0.3], [-0.7, 0.2], [0.5, -0.9]])
    outcome, found, *_ = search(x, [1, 1, 1])
    assert outcome == "inseparable"
    check_witness(found.witness, x, [1, 1, 1])
    assert found.witness.weights


def test_a_wrong_set_of_rows_gives_no_witness():
    rows = [(np.array([0, 1]), np.array([1.0, 0.0])), (np.array([0, 1]), np.array([0.0, 1.0]))]
    assert linear_witness([0, 1], rows, [1, 1], [0.5, 0.5], 0.0, False) is None
    almost = [(np.array([0]), np.array([1.0])), (np.array([0]), np.array([1.0 + 2.0**-52]))]
    found = linear_witness([0, 1], almost, [1, -1], [0.5, 0.5], 0.0, False)
    assert found.weights == (2**52 + 1, 2**52)


def test_witness_survives_its_plain_form():
    witness = search([[1.0], [1.0]], [1, -1])[1].witness
    assert Witness.of_plain(witness.plain()) == witness
    with pytest.raises(ValueError, match="a label and a positive weight"):
        Witness.of_plain({**witness.plain(), "rows": []})


def test_many_dimensions_of_noise_are_proved_inseparable():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(400, 30)), np.where(rng.random(400) < 0.5, 1, -1)
    outcome, found, *_ = search(x, y)
    assert outcome == "inseparable"
    z = x[[row - 1 for row in found.witness.rows]] * np.array(found.witness.labels)[:, None]
    assert np.abs(np.array(found.witness.shares) @ z).max() < 1e-12


def test_chunks_do_not_depend_on_the_parts():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(6000, 3)), np.where(rng.random(6000) < 0.5, 1, -1).astype(np.int8)
    whole = list(chunks_of(without_zeros(x), y)())
    for size in (7, 1000, 6000):
        parts = list(regrouped((x[k : k + size], y[k : k + size]) for k in range(0, len(y), size)))
        assert [(chunk.first, len(chunk.y)) for chunk in parts] == [(chunk.first, len(chunk.y)) for chunk in whole]
        assert all(np.array_equal(a.x.dense(), b.x.dense()) for a, b in zip(parts, whole, strict=True))


def test_nearest_point_of_a_triangle():
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 0.0]])
    nearest = NearestPoint()
    nearest.add(np.zeros((0, 3)), corners @ corners.T)
    nearest.solve(0.0)
    assert nearest.square == pytest.approx(1.0)
    assert sorted(nearest.corral.tolist()) == [0, 1]
    nearest.keep(np.array([0, 1]))
    assert nearest.products().tolist() == pytest.approx([1.0, 1.0])


def test_search_of_many_dimensions_ends_with_its_budget():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(600, 150)), np.where(rng.random(600) < 0.5, 1, -1).astype(np.int8)
    chunks, longest = chunks_of(without_zeros(x), y), float(np.square(x).sum(axis=1).max())
    nearest = NearestPoint()
    nearest.add(np.zeros((0, 600)), (x @ x.T) * np.outer(y, y))
    nearest.solve(0.0, work=2e6)
    assert 2e6 <= nearest.work < 4e7  # one step enters at most TOGETHER corners
    # What an unfinished search has found is a candidate only if it separates the rows.
    assert separate(chunks, longest, 0.0, False, work=2e6).outcome == "unknown"
    separable = chunks_of(without_zeros(x), np.where(x[:, 0] > 0.0, 1, -1).astype(np.int8))
    assert separate(separable, longest, 0.0, False, work=1e3).outcome == "unknown"
    assert separate(separable, longest, 0.0, False).found


GRIDS = [(d, n, seed) for d in (2, 3, 5) for n in (1, 2, 4) for seed in (0, 1)]


def grid_stream(d, n, seed):
    """Return 400 points of the grid {-1, -1 + 1/n, .., 1}^d with the labels of a target on it, ties left out."""
    rng = np.random.default_rng(seed)
    grid = np.arange(-n, n + 1) / n
    target = np.zeros(d)
    while not target.any():
        target = rng.choice(grid, d)
    x = rng.choice(grid, (400, d))
    scores = np.round(x @ target * n * n)
    return x[scores != 0], np.where(scores[scores != 0] > 0, 1, -1)


@pytest.mark.parametrize(("d", "n", "seed"), GRIDS)
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_grid_streams_get_the_bound_of_the_widest_margin(d, n, seed, bias):
    x, y = grid_stream(d, n, seed)
    z = signed(x, y, bias)
    best = float(np.max(np.sum(z**2, axis=1))) / widest_margin(z) ** 2
    margins = {}
    for learner in (nk.Perceptron(bias=bias), nk.Ellipsoid(width=d, bias=bias)):
        for one in nk.play(learner, (x, y)).certify():
            margins[one.theorem] = one
    assert margins["ellipsoid_margin"].status in ("valid", "vacuous")
    assert margins["perceptron_margin"].status in ("valid", "vacuous")
    assert margins["perceptron_margin"].bound <= 1.001 * best + 1
    assert margins["perceptron_margin"].bound >= math.floor(best * (1.0 - 1e-9))


def test_rows_beyond_the_kept_ones_are_separated_by_the_separator_of_the_kept_ones():
    rng = np.random.default_rng(9)
    x = rng.integers(-2, 3, (3000, 3)) / 2.0
    scores = np.round(x @ [1.0, -0.5, 1.0] * 4)
    x, y = x[scores != 0], np.where(scores[scores != 0] > 0, 1, -1)
    learner = nk.Perceptron()
    tracker = learner.tracker()
    tracker.keep = 20_000
    ledger = nk.play(learner, (x, y), ledger=nk.Ledger(learner, tracker=tracker))
    assert tracker.rows_held == 0
    (margin,) = (one for one in ledger.certify() if one.theorem == "perceptron_margin")
    assert margin.bound <= nk.hindsight((x, y), threads=1).facts.square / Fraction(widest_margin(signed(x, y))) ** 2 + 1


def test_a_proof_on_the_kept_rows_is_saved_and_resumed(tmp_path):
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(2000, 3)), np.where(rng.random(2000) < 0.5, 1, -1)
    learner = nk.Perceptron()
    tracker = learner.tracker()
    tracker.keep = 10_000
    ledger = nk.play(learner, (x, y), ledger=nk.Ledger(learner, tracker=tracker))
    before = tracker.facts().witness
    again = type(tracker).restore(tracker.state())
    assert before is not None
    assert again.facts().witness == before
    old = {name: value for name, value in tracker.state().items() if name != "witness"}
    assert type(tracker).restore(old).facts().witness is None
    assert any("nothing separates" in one.reason for one in ledger.certify())


@pytest.mark.parametrize("memory", [2**28, 2_000])
def test_hindsight_finds_the_widest_margin_in_and_out_of_memory(memory):
    x, y = grid_stream(3, 4, 0)
    found = nk.hindsight(nk.Arrays(x, y), threads=1, memory=memory)
    best = widest_margin(signed(x, y))
    assert found.in_memory == (memory > 2_000)
    assert found.margin.low <= best * (1.0 + 1e-9)
    assert found.margin.high >= best * (1.0 - 1e-9)
    assert found.margin.gap < 1e-3


@pytest.mark.parametrize("memory", [2**28, 2_000])
def test_hindsight_proves_that_nothing_separates(memory):
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(300, 4)), np.where(rng.random(300) < 0.5, 1, -1)
    found = nk.hindsight(nk.Arrays(x, y), threads=1, memory=memory)
    assert (found.margin.low, found.margin.high) == (0.0, 0.0)
    check_witness(found.facts.witness, x, y)


def test_late_labels_get_the_margin_bound():
    x, y = grid_stream(2, 2, 0)
    learner = nk.Perceptron()
    game = nk.Game(learner)
    for t in range(len(y)):
        game.predict_one(x[t], id=t)
        if t >= 5:
            game.learn_one(t - 5, int(y[t - 5]))
    for t in range(len(y) - 5, len(y)):
        game.learn_one(t, int(y[t]))
    found = [one for one in game.ledger.certify() if one.theorem == "perceptron_margin"]
    assert found[0].status in ("valid", "vacuous")


@pytest.mark.parametrize("size", [1e160, 1e200, 1.7e308, 1e-140, 1e-161, 1e-200, 1e-300])
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("hindsight", [False, True])
def test_rows_whose_norms_overflow_or_underflow_are_not_separated(size, bias, hindsight):
    x = np.array([[0.5, 0.0], [0.0, size], [0.0, -size]] * 10)
    y = np.array([1, -1, 1] * 10)
    ledger = nk.play(nk.Perceptron(normalize=True, bias=bias), nk.Arrays(x, y), hindsight=hindsight)
    # The learner divides by 0 or infinity, or by an inaccurate norm: to it these rows are not what they are in reals.
    assert {one.status for one in ledger.certify()}.isdisjoint({"violated"})
    found = separate(chunks_of(without_zeros(x), y.astype(np.int8)), 1.0 + bias * bias, bias, True)
    assert (found.outcome, found.limit) == ("unknown", math.inf)
    separator = Separator(np.array([0.5, -1.0, 0.0]), bias, True)
    separator.see(x, y.astype(np.int8), np.zeros(len(y), bool))
    assert separator.comparator(1) is None


class PredictsMinus:
    """A Perceptron that predicts -1 if its score is 0."""

    def __init__(self):
        self.weights = np.zeros(2)

    def predict_one(self, x):
        return 1 if self.weights @ x > 0.0 else -1

    def learn_one(self, x, y):
        if self.predict_one(x) != y:
            self.weights = self.weights + y * x


def test_zero_rows_that_were_mistakes_need_a_margin():
    rows = [(np.array(x), 1) for x in ([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0])]
    ledger = nk.play(PredictsMinus(), rows)
    assert ledger.mistakes == 6
    found = {one.theorem: one for one in ledger.certify()}
    assert found["perceptron_margin"].status == "void"
    assert {one.status for one in found.values()} <= {"void", "vacuous"}
    # A learner that predicts +1 makes no mistake on them, and has the bound of the other rows.
    found = {one.theorem: one for one in nk.play(nk.Perceptron(), rows).certify()}
    assert (found["perceptron_margin"].observed, found["perceptron_margin"].bound) == (0, 2)


def test_examples_that_differ_in_the_last_digit_are_not_called_the_same():
    near = Witness.of([0, 1], [1, -1], [10**40, 10**40 + 1])
    assert near.shares == (0.5, 0.5)
    assert near.text() == "rounds 1 and 2 have examples of the same direction with opposite labels"
    assert Witness.of([0, 1], [1, -1], [3, 3]).text() == "rounds 1 and 2 have the same example with opposite labels"


def test_rows_of_very_different_lengths_with_a_bias_are_separated():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-4, 5, (30, 1))
    y = np.where(x @ [1.0, -2.0, 0.5] >= 0, 1, -1)
    outcome, _, separator, _ = search(x, y, bias=1.0)
    assert outcome == "separated"
    assert least_margin(separator.u, x, y, 1.0) > 0


def least_margin(u, x, y, bias):
    """Return the least margin of u on all rows, exactly."""
    rows = [[*map(Fraction, row), Fraction(bias)] for row in x.tolist()]
    weights = [Fraction(weight) for weight in u.tolist()]
    return min(
        int(label) * sum(map(math.prod, zip(weights, row, strict=True))) for row, label in zip(rows, y, strict=True)
    )


def test_hindsight_knows_the_rows_of_a_game_whose_separator_has_length_two():
    # Rounded to float32 the length 2 - 3e-15 is 2, the next power of two.
    x = np.array([[-1.367646940142464e-09], [1.3874540849556638e-08], [4.405785680727803e-09]])
    ledger = nk.play(nk.Perceptron(normalize=True), nk.Arrays(x, np.array([1, -1, -1])), hindsight=True)
    assert ledger.hindsight.facts.invalid_reason == ""
