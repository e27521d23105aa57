"""Stacks on forecasts: golden values, identities in exact arithmetic, float traps, and the theorems on them."""

import dataclasses
import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, setcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from helpers import one_in
from novikoff.core.errors import InputError, ModelFileError
from novikoff.mixtures import _loops
from novikoff.mixtures.stacks import Lags, LogisticStack, NumberStack, RecentLabels, SoftmaxStack, StackReplay
from novikoff.mixtures.theorems.number_stack_regret import number_stack_regret
from novikoff.mixtures.theorems.stack_regret import stack_regret


def stack_of(stream, **changes):
    """The facts of a stack whose examples are log-odds."""
    x, y = np.array([x for x, _ in stream]), np.array([y for _, y in stream], dtype=np.int8)
    stack = LogisticStack([1.0 / x.shape[1]] * x.shape[1])
    lost = float(np.logaddexp(0.0, -y * stack.play(x, y)).sum())
    return dataclasses.replace(stack.facts([f"member {j}" for j in range(x.shape[1])], lost), **changes)


def number_stack_of(stream, **changes):
    """The facts of a stack whose examples are forecasts of a number."""
    x, y = np.array([x for x, _ in stream]), np.array([float(y) for _, y in stream])
    stack = NumberStack([1.0 / x.shape[1]] * x.shape[1])
    lost = float(np.sum((stack.play(x, y) - y) ** 2))
    return dataclasses.replace(stack.facts(lost), **changes)


def number_stack_paid_more(facts, more):
    """It paid so much more, because its metric shrank."""
    paid = {name: getattr(facts, name) + more for name in ("unclipped", "loss", "observed")}
    return dataclasses.replace(facts, growth=facts.growth - more, **paid)


def waves(rounds):
    """One forecaster of three that is right."""
    return [((np.sin(t), 9.0, -9.0), float(np.sin(t))) for t in range(rounds)]


FORECASTS = st.lists(st.tuples(st.tuples(*[st.floats(-9, 9)] * 3), cases.LABELS), min_size=1, max_size=25)
CASES = {
    "stack_regret": cases.Case(
        FORECASTS, stack_of, [((3.0, 0.0), 1), ((-3.0, 0.0), -1)] * 20, None,
        lambda: stack_of([((3.0, 0.0), 1)] * 9, loss=99.0, observed=99.0),
        ((lambda: stack_of([((3.0, 0.0), 1)] * 9, observed=7.0), "its recorded forecasts"),
         (lambda: stack_of([((3.0, 0.0), 1)] * 9, least=7.0, dual=7.0), "agree with its steps")),
    ),
    "number_stack_regret": cases.Case(
        FORECASTS, number_stack_of, waves(40), lambda: number_stack_of([((5.0,), 5.0)] * 9),
        lambda: number_stack_paid_more(number_stack_of(waves(9)), 1e3),
        ((lambda: number_stack_of(waves(9), observed=7.0), "its recorded forecasts"),
         (lambda: number_stack_of(waves(9), least=-7.0), "known up to rounding"),
         (lambda: number_stack_of(waves(9), unclipped=1e9), "of its sums"),
         (lambda: number_stack_of(waves(9), range=-1e9), "the growth of the range")),
    ),
}  # fmt: skip

THREE = np.log([[[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]], [[0.1, 0.8, 0.1], [0.3, 0.4, 0.3]],
                [[0.2, 0.2, 0.6], [0.5, 0.25, 0.25]]])  # fmt: skip


def log_loss(played, y):
    return float(-played[np.arange(len(y)), y].sum())


def test_golden_stream_of_the_stack_for_numbers():
    y = np.array([2.0, 3.0, 1.0])
    stack = NumberStack([0.5, 0.5])
    played = stack.play([[1.0, 3.0], [2.0, 2.5], [0.0, 4.0]], y)
    np.testing.assert_allclose(played, [0.0, 2.0, 2.053097345], atol=1e-9)
    facts = stack.facts(float(np.sum((played - y) ** 2)))
    assert facts.unclipped == pytest.approx(1.671514018, abs=1e-9)
    assert facts.most == pytest.approx(1.097345133, abs=1e-9)
    assert facts.chi == pytest.approx(0.588871681, abs=1e-9)
    assert facts.credit == pytest.approx(0.003682388, abs=1e-9)
    assert facts.loss == pytest.approx(6.109014018, abs=1e-9)
    assert facts.range == 6.0
    assert number_stack_regret(dataclasses.replace(facts, replayed=True)).bound == pytest.approx(
        1.682534426 + 6.0, abs=2e-9
    )


def test_golden_stream_of_the_stack_for_many_labels():
    y = np.array([0, 1, 0])
    stack = SoftmaxStack([0.5, 0.5], labels=3)
    played = stack.play(THREE, y)
    np.testing.assert_allclose(np.exp(played[0]), [0.381966011, 0.427050983, 0.190983006], atol=1e-9)
    facts = stack.facts(["a", "b"], log_loss(played, y), 3)
    assert facts.observed == pytest.approx(2.575441045, abs=1e-9)
    assert facts.delta == pytest.approx(0.233439593, abs=1e-9)
    assert facts.least - 1e-9 <= facts.delta <= facts.dual + 1e-9
    expected = [0.6733062, 0.52689263, 0.10267335, -0.03178075, -0.0708926]
    np.testing.assert_allclose(stack.weights, expected, atol=1e-8)
    assert stack_regret(facts).bound == pytest.approx(2.515819958 + 0.233439593, abs=1e-8)


def decimals(values):
    return [Decimal(float(value)) for value in values]


def solved(matrix, columns):
    """Solve a small symmetric system exactly or in many digits: the columns of A^-1 B."""
    rows = [list(row) + list(column) for row, column in zip(matrix, columns, strict=True)]
    for k in range(len(rows)):
        for i in range(len(rows)):
            if i != k:
                part = rows[i][k] / rows[k][k]
                rows[i] = [a - part * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [[value / row[k] for value in row[len(rows) :]] for k, row in enumerate(rows)]


def root_of(z0, v):
    """The z with z + v/2 tanh(z/2) = z0, by bisection in many digits."""
    low, high = sorted((z0, z0 - (v / 2 if z0 > 0 else -v / 2)))
    for _ in range(200):
        z = (low + high) / 2
        e = (-z).exp()
        low, high = (z, high) if z + v / 2 * (1 - e) / (1 + e) < z0 else (low, z)
    return z


def logistic_in_digits(odds, extras, y, centre, gamma, ridge=1):
    """The stack for two labels in 50 digits, from the text: scores, the sum of Delta, and F as (weight, function)."""
    setcontext(Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX))
    gamma, ridge, size = Decimal(gamma), Decimal(ridge), len(centre) + len(extras[0]) + 1
    one = [[Decimal(i == j) for j in range(size)] for i in range(size)]
    a, b = [[ridge * value for value in row] for row in one], [Decimal(0)] * size
    c = [*decimals(centre), *[Decimal(0)] * (size - len(centre))]
    scores, delta, rounds, turns = [], Decimal(0), [], [0] * size
    for t in range(len(y)):
        clipped = [min(max(value, Decimal(-8)), Decimal(8)) for value in decimals(odds[t])]
        x = [*clipped, *decimals(extras[t]), Decimal(1)]
        if gamma < 1:
            a, b = [[gamma * value for value in row] for row in a], [gamma * value for value in b]
            a[t % size][t % size] += size * (1 - gamma) * ridge
            turns[t % size] += 1
        p = [row[0] for row in solved(a, [[value] for value in x])]
        v, off = (sum(s * r for s, r in zip(p, q, strict=True)) for q in (x, b))
        middle = sum(s * r for s, r in zip(c, x, strict=True))
        z0 = middle + off
        z = root_of(z0, v)
        far = max(Decimal(1), *(abs(value) for value in x[: len(centre)])) / 2
        kappa = (far.exp() - (-far).exp()) / (far.exp() + (-far).exp()) / far
        q = 1 / (1 + (int(y[t]) * z).exp())
        g, h, e = -int(y[t]) * q, kappa * q * (1 - q), z - z0
        delta += (g * e + g * g * v / 2 - h * e * e / 2) / (1 + h * v)
        b = [s - (g - h * (z - middle)) * r for s, r in zip(b, x, strict=True)]
        a = [[a[i][j] + h * x[i] * x[j] for j in range(size)] for i in range(size)]
        scores.append(z)
        rounds.append((x, g, h, z))
    paid = [ridge * (gamma + size * (1 - gamma) * turn) for turn in turns]
    return scores, delta, rounds, paid, c


@pytest.mark.parametrize("gamma", [1.0, 0.998, 0.9])
@pytest.mark.parametrize("seed", one_in(2, range(8)))
def test_stack_for_two_labels_agrees_with_fifty_digits_and_its_theorem_holds(seed, gamma):
    rng = np.random.default_rng(seed)
    rounds, members = 9, 2
    y = rng.choice([-1, 1], rounds).astype(np.int8)
    odds, extras = rng.normal(0.0, [1.0, 9.0], (rounds, members)), rng.uniform(-0.5, 0.5, (rounds, 1))
    if seed % 4 == 3:  # against the members
        y = -np.sign(odds[:, 0]).astype(np.int8)
    stack = LogisticStack([0.5, 0.5], 1, gamma)
    played = stack.play(odds, y, extras)
    scores, delta, log, paid, c = logistic_in_digits(odds, extras, y, [0.5, 0.5], gamma)
    np.testing.assert_allclose(played, np.array(scores, dtype=float), atol=1e-11)
    facts = stack.facts(["a", "b"], float(np.logaddexp(0.0, -y * played).sum()))
    assert facts.delta == pytest.approx(float(delta), abs=1e-11)
    lost = sum((1 + (-int(label) * z).exp()).ln() for label, z in zip(y, scores, strict=True))
    fixed = [c, [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], *rng.normal(0.0, 1.0, (20, 4))]
    for k, u in enumerate(fixed):
        u = decimals(u)
        over, penalty = Decimal(0), sum(w * (s - r) ** 2 for w, s, r in zip(paid, u, c, strict=True)) / 2
        for label, (x, g, h, z) in zip(y, log, strict=True):
            s = sum(p * r for p, r in zip(u, x, strict=True))
            own, of_z = ((1 + (-int(label) * value).exp()).ln() for value in (s, z))
            over += max(own, of_z + g * (s - z) + h * (s - z) ** 2 / 2)
        assert lost <= over + penalty + delta
        if k < 3:  # the pool and the members, whose sums the stack keeps
            j = 2 if k == 0 else k - 1
            assert facts.over[j] == pytest.approx(float(over), rel=1e-11)
            assert facts.penalties[j] == pytest.approx(float(penalty), abs=1e-11)
    found = stack_regret(facts)
    assert found.status in ("conditional", "vacuous"), str(found)
    if gamma == 1.0:
        assert facts.dual == pytest.approx(float(delta), abs=1e-9)
    assert facts.least <= facts.delta + 1e-9


def softmax_twin(logs, y, centre, labels, gamma, scale=1.0):
    """The stack for many labels by its normal equations: ln P, sum of Delta, and (F, P, z, H) of each round."""
    members, size = len(centre), len(centre) + labels
    base = np.diag(np.repeat([4.0, 10.0], [members, labels]))
    a, b, c = base.copy(), np.zeros(size), np.r_[centre, np.zeros(labels)]
    played, delta, rounds = [], 0.0, []
    for row, label in zip(logs, y, strict=True):
        f = np.maximum(row, -8.0)
        f = np.vstack([f - f.mean(axis=1, keepdims=True), np.eye(labels) - 1.0 / labels])
        before = gamma * a + (1.0 - gamma) * base
        w = c + np.linalg.solve(before, gamma * b)
        z = f.T @ w
        p = np.exp(z - z.max())
        p /= p.sum()
        g, h = f @ (p - np.eye(labels)[label]), scale * f @ (np.diag(p) - np.outer(p, p)) @ f.T
        a, b = before + h, gamma * b + h @ (w - c) - g
        delta += 0.5 * g @ np.linalg.solve(a, g)
        played.append(np.log(p))
        rounds.append((f, w, g, h))
    return np.array(played), delta, rounds, base, c


@pytest.mark.parametrize("gamma", [1.0, 0.99, 0.8])
@pytest.mark.parametrize("seed", one_in(2, range(6)))
def test_stack_for_many_labels_agrees_with_its_normal_equations_and_its_theorem_holds(seed, gamma):
    rng = np.random.default_rng(seed)
    rounds, labels = 25, int(rng.integers(2, 6))
    logs = np.log(rng.dirichlet(np.full(labels, 0.3), (rounds, 3)) + 1e-300)
    y = rng.integers(0, labels, rounds)
    if seed % 3 == 2:
        y = logs[:, 0].argmin(axis=1)
    stack = SoftmaxStack([0.5, 0.25, 0.25], labels, gamma)
    played = stack.play(logs, y)
    twin, delta, log, base, c = softmax_twin(logs, y, [0.5, 0.25, 0.25], labels, gamma)
    np.testing.assert_allclose(played, twin, atol=1e-9)
    facts = stack.facts(["a", "b", "c"], log_loss(played, y), labels)
    assert facts.delta == pytest.approx(delta, rel=1e-9)
    assert stack_regret(facts).status in ("conditional", "vacuous")
    longer = 1.0 + (1.0 - gamma) * (rounds - 1)
    fixed = [*np.eye(len(c))[:3], c, *rng.normal(0.0, 1.0, (20, len(c)))]
    for k, u in enumerate(fixed):
        over = 0.0
        for (f, w, g, h), label, lnp in zip(log, y, twin, strict=True):
            s = f.T @ u
            own = np.logaddexp.reduce(s) - s[label]
            over += max(own, -lnp[label] + g @ (u - w) + 0.5 * (u - w) @ h @ (u - w))
        penalty = 0.5 * longer * (u - c) @ base @ (u - c)
        assert facts.observed <= over + penalty + delta + 1e-9
        if k < 4:
            assert facts.over[k] == pytest.approx(over, rel=1e-9)
            assert facts.penalties[k] == pytest.approx(penalty, abs=1e-9)


def test_proved_curvature_leaves_no_deficit():
    rng = np.random.default_rng(0)
    logs, y = np.log(rng.dirichlet(np.full(4, 0.2), (200, 3)) + 1e-9), rng.integers(0, 4, 200)
    deficits = []
    for proved in (False, True):
        stack = SoftmaxStack([1 / 3] * 3, 4, proved=proved)
        facts = stack.facts("abc", log_loss(stack.play(logs, y), y), 4)
        deficits.append(max(np.subtract(facts.over, facts.losses)))
        assert facts.dual == pytest.approx(facts.delta, abs=1e-8)
    assert deficits[0] > 1.0
    assert abs(deficits[1]) <= 1e-9


def test_weights_beyond_the_range_of_the_members_have_a_deficit():
    odds, y = np.full((60, 1), 8.0), np.tile([1, -1], 30).astype(np.int8)
    stack = LogisticStack([2.0])
    facts = stack.facts(["a"], float(np.logaddexp(0.0, -y * stack.play(odds, y)).sum()))
    alone, pool = np.subtract(facts.over, facts.losses)
    assert alone == 0.0  # a score of 8, at which the curvature is proved
    assert pool > 1.0  # a score of 16
    assert stack_regret(facts).status in ("conditional", "vacuous")


@pytest.mark.parametrize("d", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-4, 0.0099, 0.0101, 0.1, 1.0, 10.0, 100.0])
def test_curvature_is_never_above_its_exact_value(d):
    setcontext(Context(prec=60))
    exact = 1 if d == 0.0 else 2 * ((-Decimal(d)).exp() + Decimal(d) - 1) / Decimal(d) ** 2
    found = Decimal(_loops.stacks.kappa(d))
    assert exact * (1 - Decimal("1e-9")) <= found <= exact * (1 + Decimal("2e-12"))
    assert found <= 1


def fractions_of(values):
    return [Fraction(float(value)) for value in values]


@pytest.mark.parametrize("gamma", [1.0, 0.9921875, 0.5])
@pytest.mark.parametrize("seed", one_in(2, range(10)))
def test_stack_for_numbers_agrees_with_exact_fractions_and_its_theorem_holds(seed, gamma):
    rng = np.random.default_rng(seed)
    rounds, members = 7, 2 + seed % 2
    forecasts = rng.integers(-8, 9, (rounds, members)) / 4.0
    y = rng.integers(-20, 21, rounds) / 4.0
    if seed % 3 == 1:
        forecasts[:3] = forecasts[:3, :1]  # equal for a while
    if seed % 3 == 2:
        forecasts *= 2.0 ** rng.integers(-20, 20, rounds)[:, None]
    centre = [0.5, 0.5] if members == 2 else [0.5, 0.25, 0.25]
    stack = NumberStack(centre, 1.0, gamma)
    played = stack.play(forecasts, y)
    facts = stack.facts(float(np.sum((played - y) ** 2)))
    decay, u0 = Fraction(gamma), fractions_of(centre)
    zero = Fraction(0)
    sums, b, largest = [[zero] * members for _ in range(members)], [zero] * members, [zero] * members
    loss = chi_sum = credit = growth = squares = phis = last = zero
    rows = []
    for t in range(rounds):
        p, outcome = fractions_of(forecasts[t]), Fraction(float(y[t]))
        m = sum(s * r for s, r in zip(u0, p, strict=True))
        x, r = [value - m for value in p], outcome - m
        largest = [max(one, abs(value)) for one, value in zip(largest, x, strict=True)]
        here = [j for j in range(members) if largest[j]]
        sums, b = [[decay * value for value in row] for row in sums], [decay * value for value in b]
        a = [[sums[i][j] + (i == j) * largest[i] ** 2 for j in here] for i in here]
        w = solved(a, [[x[j], b[j]] for j in here])
        v, s = (sum((x[j] * row[k] for j, row in zip(here, w, strict=True)), zero) for k in (0, 1))
        phi = sum((b[j] * row[1] for j, row in zip(here, w, strict=True)), zero)
        yhat, chi = s / (1 + v), v / (1 + v)
        growth += decay * last - phi
        assert decay * last - phi >= 0
        last = phi - yhat**2 * (1 + v) + 2 * r * yhat + r * r * chi
        loss, chi_sum, credit = loss + (yhat - r) ** 2, chi_sum + r * r * chi, credit + yhat**2 * v
        squares, phis = squares + r * r, phis + last
        sums = [[sums[i][j] + x[i] * x[j] for j in range(members)] for i in range(members)]
        b = [one + r * value for one, value in zip(b, x, strict=True)]
        rows.append((x, r))
    hindsight = squares - last - (1 - decay) * (phis - last)
    assert loss == hindsight + chi_sum - credit - growth
    for u in ([zero] * members, *(fractions_of(one) for one in rng.integers(-8, 9, (20, members)) / 4.0)):
        fixed = sum((sum(s * q for s, q in zip(u, x, strict=True)) - r) ** 2 for x, r in rows)
        penalty = sum((s * q) ** 2 for s, q in zip(u, largest, strict=True)) * (1 + (1 - decay) * (rounds - 1))
        assert loss <= fixed + penalty + chi_sum - credit
    for name, exact in (("unclipped", loss), ("squares", squares), ("chi", chi_sum), ("credit", credit)):
        assert getattr(facts, name) == pytest.approx(float(exact), rel=1e-9, abs=1e-9 * float(squares))
    assert facts.most == pytest.approx(float(hindsight), abs=1e-9 * float(squares))
    found = number_stack_regret(facts)
    assert found.status in ("conditional", "vacuous"), str(found)


@pytest.mark.parametrize("gamma", [1.0, 0.99])
@pytest.mark.parametrize("kind", ["equal for long", "wild scales", "one member twice", "heavy tails", "trend", "tiny"])
def test_stack_for_numbers_is_sound_where_an_inverse_would_not_be(kind, gamma):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.normal(0.0, 1.0, 400)
        forecasts = y[:, None] + rng.normal(0.0, [0.1, 0.5, 1.0, 2.0, 4.0], (400, 5))
        if kind == "equal for long":
            forecasts[:100] = forecasts[:100, :1]
            forecasts[200:300] = forecasts[200:300, :1]
        elif kind == "wild scales":
            forecasts *= 10.0 ** rng.integers(-6, 7, (400, 1))
        elif kind == "one member twice":
            forecasts[:, 1] = forecasts[:, 0]
        elif kind == "heavy tails":
            y += rng.standard_t(1, 400)
        elif kind == "trend":
            y += np.arange(400.0)
        elif kind == "tiny":
            y, forecasts = y * 1e-140, forecasts * 1e-140
        stack = NumberStack([0.2] * 5, 0.1, gamma)
        played = stack.play(forecasts, y)
        assert np.isfinite(played).all()
        found = number_stack_regret(stack.facts(float(np.sum((played - y) ** 2))))
        assert found.status in ("conditional", "vacuous"), str(found)


def test_round_one_counts_in_the_price_of_learning():
    stack = NumberStack([0.5, 0.5])
    played = stack.play([[-1.0, 1.0]], np.array([5.0]))
    facts = stack.facts(25.0)
    assert played.tolist() == [0.0]
    assert facts.chi == pytest.approx(25.0 * 2.0 / 3.0)  # v = 2, as x = (-1, 1) and L = 1


def test_inverse_of_a_forgetting_stack_stays_symmetric_and_right():
    rng = np.random.default_rng(0)
    rounds = 30_000
    y = rng.choice([-1, 1], rounds).astype(np.int8)
    odds = rng.normal(0.0, 2.0, (rounds, 5)) + y[:, None]
    for gamma in (1.0, 0.998, 0.9):
        stack = LogisticStack([0.2] * 5, 0, gamma)
        stack.play(odds, y)
        _, ridge, sums, inverse, *_ = stack.arrays
        assert (inverse == inverse.T).all()
        assert (sums == sums.T).all()
        exact = np.linalg.inv(sums + np.diag(ridge))
        np.testing.assert_allclose(inverse, exact, atol=1e-12 * np.abs(exact).max())


def streams(count=3):
    row = st.tuples(st.tuples(*[st.floats(-9, 9)] * count), st.sampled_from([-1, 1]))
    return st.lists(row, min_size=1, max_size=25)


@given(streams(), st.integers(0, 25), st.sampled_from([1.0, 0.9]))
def test_batches_rows_and_resumed_stacks_are_the_same_to_the_bit(stream, cut, gamma):
    z, y = np.array([row for row, _ in stream]), np.array([label for _, label in stream], dtype=np.int8)
    logs = np.stack([-np.logaddexp(0.0, z), -np.logaddexp(0.0, -z)], axis=2)
    for make, x, learn in (
        (lambda: LogisticStack([0.5, 0.25, 0.25], 0, gamma), z, y),
        (lambda: SoftmaxStack([0.5, 0.25, 0.25], 0, gamma), logs, (y > 0).astype(np.int64)),
        (lambda: NumberStack([0.5, 0.25, 0.25], 1.0, gamma), z, y.astype(float)),
    ):
        whole, parts = make(), make()
        expected, found = whole.play(x, learn), []
        for t in range(len(y)):
            looked = parts.look(x[t : t + 1])
            found.append(parts.play(x[t : t + 1], learn[t : t + 1])[0])
            if not isinstance(parts, SoftmaxStack) or learn[t] < learn[:t].max(initial=-1) + 1:
                assert np.array_equal(looked[0], found[-1])
            if t == cut:
                parts = type(parts).restore(parts.state())
        assert np.array_equal(expected, np.array(found))
        assert repr(whole.state()) == repr(parts.state())


def test_labels_may_appear_unannounced():
    y = np.array([0, 0, 2, 1, 2])
    logs = np.log(np.random.default_rng(0).dirichlet(np.ones(3), (5, 2)))
    stack = SoftmaxStack([0.5, 0.5])
    assert np.isneginf(stack.look(logs)).all()
    played = stack.play(logs, y)
    assert stack.known == 3
    assert np.isneginf(played[:2, 1:]).all()
    assert np.isfinite(played[2:]).all()
    np.testing.assert_allclose(np.exp(played).sum(axis=1), 1.0)
    facts = stack.facts(["a", "b"], log_loss(played, y), 3)
    assert facts.delta == pytest.approx(facts.dual, abs=1e-9)
    assert stack_regret(facts).status in ("conditional", "vacuous")
    with pytest.raises(InputError, match="from 0 to 2: got 3"):
        stack.play(logs[:1], np.array([3]))
    with pytest.raises(InputError, match="from 0 to 2: got -1"):
        stack.play(logs[:2], np.array([-1, 1]))


def test_recent_labels_by_hand():
    recent = RecentLabels()
    y = np.array([0, 1, 1])
    np.testing.assert_array_equal(recent.columns(y), [[math.nan, math.nan], [0.0, math.nan], [1.0, 0.0]])
    found = recent.play(y, 2)
    half = [0.5, (1 + 0.5) / (1 + 1), (1 + 0.5) / (2 + 1)]  # frequency of label 0, smoothed
    mean = [1.0 * half[0], 0.5 + 0.5 * half[1], 0.25 + 0.25 * half[2]]  # of rate 1/2, its start replaced by frequencies
    np.testing.assert_allclose(found[:, 0, 0], [0.9 * a + 0.1 * b for a, b in zip(mean, half, strict=True)], rtol=1e-15)
    np.testing.assert_allclose(found.sum(axis=2), 1.0, rtol=1e-15)


def test_recent_labels_are_the_same_in_rows_batches_and_resumed():
    y = np.random.default_rng(0).integers(0, 3, 40)
    y[25:][y[25:] == 0] = 3  # a label that comes late, in round 26 or later, played alone
    late = int(np.argmax(y == 3))
    whole, single = RecentLabels(), RecentLabels()
    columns = whole.columns(y)
    parts = [whole.play(y[:late], 3), whole.play(y[late : late + 1], 3), whole.play(y[late + 1 :], 4)]
    for t, label in enumerate(y):
        known = 3 if t <= late else 4
        if t == 30:
            single = RecentLabels.restore(single.state())
        np.testing.assert_array_equal(single.columns_ahead(1), columns[t : t + 1])
        looked = single.look(2, known)
        np.testing.assert_array_equal(single.columns(np.array([label])), columns[t : t + 1])
        played = single.play(np.array([label]), known)
        part, place = (0, t) if t < late else (1, 0) if t == late else (2, t - late - 1)
        np.testing.assert_array_equal(played[0], parts[part][place])
        np.testing.assert_array_equal(looked, np.repeat(played, 2, axis=0))
    assert parts[2][0, 0, 3] > 0.45  # after its first round a new label has half of the mean of rate 1/2


def test_damaged_recent_labels_are_refused():
    recent = RecentLabels()
    recent.columns(np.array([0, 1]))
    recent.play(np.array([0, 1]), 2)
    for name, value in (("means", np.zeros((2, 4))), ("previous", np.array([5.0, 0.0])), ("counts", np.zeros(5))):
        with pytest.raises(ModelFileError):
            RecentLabels.restore({**recent.state(), name: value})


def test_lags_start_at_a_half_for_labels_and_at_the_first_outcome_for_numbers():
    y = np.array([1.0, 0.0, 1.0])
    lags = Lags(0.5)
    np.testing.assert_allclose(lags.columns(y)[1:], [[1.0, 0.75, 0.55, 0.51], [0.0, 0.375, 0.495, 0.4998]])
    assert lags.look(2).tolist() == [lags.look()[0].tolist()] * 2
    numbers = Lags()
    np.testing.assert_allclose(numbers.columns(y + 4.0)[:2], [[0.0] * 4, [5.0] * 4])
    again = Lags.restore(numbers.state())
    assert again.columns(y).tolist() == numbers.columns(y).tolist()


def test_lying_or_drifting_stack_is_detected():
    rng = np.random.default_rng(1)
    y = rng.choice([-1, 1], 200).astype(np.int8)
    odds = rng.normal(0.0, 1.0, (200, 2)) + y[:, None]
    stack = LogisticStack([0.5, 0.5])
    facts = stack.facts(["a", "b"], float(np.logaddexp(0.0, -y * stack.play(odds, y)).sum()))
    assert stack_regret(facts).status == "conditional"
    for change, why in (({"observed": facts.loss + 0.1}, "recorded forecasts"), ({"delta": facts.delta / 2}, "drift")):
        found = stack_regret(dataclasses.replace(facts, **change))
        assert found.status == "void"
        assert why in found.reason
    assert stack_regret(dataclasses.replace(facts, loss=900.0, observed=900.0)).status == "violated"
    stack._moment[0] += 1e-3  # sums that are not those of the steps
    assert stack_regret(stack.facts(["a", "b"], facts.observed)).status == "void"


def replays():
    rng = np.random.default_rng(5)
    y = rng.choice([-1, 1], 60).astype(np.int8)
    odds, lags = rng.normal(0.0, 1.0, (60, 2)) + y[:, None], Lags(0.5).columns((1.0 + y) / 2.0) - 0.5
    logs = np.stack([-np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)], axis=2)
    labels = (y > 0).astype(np.int64)
    return {
        "two labels": (lambda: LogisticStack([0.5, 0.5], 4, 0.98), (odds, y), {"extras": lags}, stack_regret),
        "many labels": (lambda: SoftmaxStack([0.5, 0.5]), (logs, labels), {}, stack_regret),
        "numbers": (lambda: NumberStack([0.5, 0.5]), (odds, 3.0 * y), {}, number_stack_regret),
    }


@pytest.mark.parametrize("kind", ["two labels", "many labels", "numbers"])
def test_a_replay_checks_every_round_of_a_stack(kind):
    make, (x, y), more, theorem = replays()[kind]
    played = make().play(x, y, **more)
    whole, parts, wrong = StackReplay(make()), StackReplay(make()), StackReplay(make())
    whole.see(x, y, played, *more.values())
    for t in range(len(y)):
        parts.see(x[t : t + 1], y[t : t + 1], played[t : t + 1], *(one[t : t + 1] for one in more.values()))
        parts = StackReplay.restore(parts.state())
    assert parts.facts(["a", "b"]) == whole.facts(["a", "b"])
    found = theorem(whole.facts(["a", "b"]))
    assert found.status in ("valid", "vacuous"), str(found)
    assert "trusted" not in {one.standing for one in found.assumptions}
    assert whole.off == 0.0
    other = played.copy()
    other[17] += 1e-6
    wrong.see(x, y, other, *more.values())
    assert wrong.off_at == 18
    found = theorem(wrong.facts(["a", "b"]))
    assert found.status == "violated"
    assert "round 18 is not that of the stack" in found.reason


def test_damaged_stacks_are_refused():
    state = LogisticStack([0.5, 0.5], 1, 0.9).state()
    for name, value in (("sums", np.zeros((3, 3))), ("inverse", np.full((4, 4), math.nan)), ("diagonal", -np.ones(4))):
        with pytest.raises(ModelFileError):
            LogisticStack.restore({**state, name: value})
    state = SoftmaxStack([0.5, 0.5]).state()
    with pytest.raises(ModelFileError):
        SoftmaxStack.restore({**state, "known": 3})


@pytest.mark.parametrize("make", [
    lambda: LogisticStack([]), lambda: LogisticStack([0.5], gamma=0.0), lambda: LogisticStack([0.1] * 40, gamma=0.5),
    lambda: LogisticStack([0.5], extras=-1),
    lambda: SoftmaxStack([0.5], ridge=0.0), lambda: SoftmaxStack([0.5], labels=-1), lambda: NumberStack([0.5, 0.4]),
])  # fmt: skip
def test_arguments_are_checked(make):
    with pytest.raises(InputError):
        make()
