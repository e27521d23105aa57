"""The Ellipsoid's theorems: golden values, hostile floats, ties, broken learners, and how near the bound one gets."""

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
from helpers import first_of, one_in
from novikoff.comparators.tally import Comparator
from novikoff.core.types import Run
from novikoff.linear.ellipsoid import Ellipsoid
from novikoff.linear.theorems.ellipsoid_facts import Ball, Body, bound, log_shrink
from novikoff.linear.theorems.ellipsoid_given_margin import ellipsoid_given_margin
from novikoff.linear.theorems.ellipsoid_margin import ellipsoid_margin

CASES = {
    "ellipsoid_margin": dataclasses.replace(
        cases.ellipsoid_case,
        tight=lambda: cases.run_of(nk.Ellipsoid(), [((3.0,), -1), ((3.0,), -1), ((-2.0,), 1)]),
    ),
    "ellipsoid_given_margin": dataclasses.replace(
        cases.ellipsoid_case,
        game=lambda stream: cases.run_of(nk.Ellipsoid(margin=0.05), stream),
        unless="margin above 0.05",
        broken=lambda: cases.run_of(cases.broken(nk.Ellipsoid(margin=0.05, width=3)), cases.on_one_side(90)),
        void=((lambda: cases.run_of(nk.Ellipsoid(margin=0.9), cases.apart(5, 0.05)), "margin above 0.9"),),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def tracked(rows, labels, directions, bias=0.0, normalize=True):
    """What comparators with these directions (the weight of the bias last) would have seen, exactly."""
    rows = np.asarray(rows, dtype=float)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    seen = rows / np.where(lengths > 0.0, lengths, 1.0) if normalize else rows
    seen = [[Fraction(value) for value in (*row, bias)] for row in seen.tolist()]
    comparators = [Comparator(0, 1.0, Fraction(0), Fraction(len(rows)), Fraction(len(rows)), Fraction(0))]
    for number, direction in enumerate(directions, 1):
        U = [Fraction(float(value)) for value in direction]
        least = min(y * sum(a * b for a, b in zip(U, x, strict=True)) for x, y in zip(seen, labels, strict=True))
        if least > 0:
            square = sum(a * a for a in U) / least**2
            comparators.append(Comparator(number, float(least), square, Fraction(0), Fraction(0), Fraction(0)))
    return SimpleNamespace(
        witness=None,
        rows=len(rows),
        square=max(sum(a * a for a in x) for x in seen),
        comparators=tuple(comparators),
        directions=tuple(np.asarray(direction, dtype=float) for direction in directions),
        bias=bias,
        normalize=normalize,
        invalid_reason="",
    )


def run_of(learner, rows, labels, u, before=None, **features):
    """The run of a learner on rows, beside the comparator u."""
    before = before or learner.facts()
    mistakes = sum(learner.play_one(x, y) != y for x, y in zip(np.asarray(rows, dtype=float), labels, strict=True))
    facts = tracked(rows, labels, [np.append(u, 0.0) if len(u) == len(rows[0]) else u], **features)
    return as_run(learner, before, len(rows), mistakes, facts)


def as_run(learner, before, rounds, mistakes, tracked):
    return Run(before=before, after=learner.facts(), rounds=rounds, mistakes=mistakes, expected=float(mistakes),
               constants=(0, 0), adaptive=False, deterministic=True, tracked=tracked)  # fmt: skip


def hostile(learner, u, least, rng, mode, most=4000):
    """Examples labelled -1, each a mistake, orthogonal to the centre, and with a margin of `least` or more beside u."""
    d, rows, tries = len(u), [], 0
    while len(rows) < most and tries < 20 and not learner.flaw:
        tries += 1
        w, J = learner.weights, learner.factor
        z = rng.normal(size=d)
        if mode != "random":
            z = J @ z if mode == "image" else np.linalg.lstsq(J.T, z, rcond=None)[0] if mode == "oblique" else z
        plain, away = without(z, w), without(u, w)
        reach = float(np.linalg.norm(away))
        if not reach > 1.000001 * least:
            break
        away /= reach
        across = without(plain, away)
        size, sine = float(np.linalg.norm(across)), 1.000001 * least / reach
        if mode != "least":
            sine = min(1.0, max(sine, abs(float(plain @ away)) / max(float(np.linalg.norm(plain)), 1e-300)))
        x = away
        if size > 1e-9 * float(np.linalg.norm(plain)):  # else, in the plane, all that is orthogonal to w is along u
            sides = [sine * away + side * math.sqrt(1.0 - sine * sine) / size * across for side in (1, -1)]
            x = max(sides, key=lambda side: np.linalg.norm(without(u, after(w, J, side))))
        x = without(x, w)
        for nudge in (0.0, 1e-17, 1e-16, 1e-15):
            example = nudge * w - x
            if learner.predict_one(example) == 1:
                break
        if learner.predict_one(example) == 1 and -(u @ example) > 0.5 * least:
            learner.play_one(example, -1)
            rows.append(example)
            tries = 0
    return rows


def without(v, w):
    """v, made orthogonal to w."""
    square = float(w @ w)
    return v - (v @ w) / square * w if square else v.copy()


def after(w, J, x):
    """Where the centre goes if -x is labelled -1."""
    image = J.T @ x
    return w + J @ image / float(np.linalg.norm(image)) / (len(w) + 1)


def hostile_run(d, least, mode, seed, **options):
    """The run of a game against `hostile`, certified with the target itself."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    learner = Ellipsoid(width=d, **options)
    before = learner.facts()
    rows = hostile(learner, u, least, rng, mode)
    return as_run(learner, before, len(rows), len(rows), tracked(rows, [-1] * len(rows), [np.append(u, 0.0)]))


KAPPA = {1: 0.5, 2: 0.7698003589, 3: 0.84375, 5: 0.904225, 10: 0.951150, 100: 0.995012}
SLIDE = {2: 0.846482, 3: 0.882497, 5: 0.920044, 10: 0.955563, 100: 0.995062}


def test_cut_leaves_golden_share_of_the_volume():
    for d, kappa in KAPPA.items():
        assert math.exp(-log_shrink(d)) == pytest.approx(kappa, abs=1e-6)
    for d, loose in SLIDE.items():  # e^(-1/(2d+2)), which the notes use
        assert math.exp(-1.0 / (2 * d + 2)) == pytest.approx(loose, abs=1e-6)
        assert log_shrink(d) > 1.0 / (2 * d + 2)
    assert log_shrink(10**6) == pytest.approx(1 / (2 * 10**6), rel=1e-5)  # no cancellation


def test_without_a_mistake_the_ball_touches_the_first_ellipsoid():
    found = ellipsoid_margin(run_of(Ellipsoid(), [[1.0, 0.2]] * 30, [1] * 30, [1.0, 0.0]))
    g = 1.0 / math.hypot(1.0, 0.2)
    assert found.quantities["reach"] == pytest.approx(1.0)
    assert found.bound == math.floor(2 * math.log1p(1 / g) / log_shrink(2))


coordinate = st.integers(-6, 6)


@given(st.data(), st.sampled_from([1, 2, 3, 5]), st.sampled_from(["centre", "deep"]), st.sampled_from([0.0, 2.0]))
def test_the_theorem_holds_on_separable_streams(data, d, cuts, bias):
    rows = data.draw(st.lists(st.lists(coordinate, min_size=d, max_size=d), min_size=1, max_size=25))
    u = data.draw(st.lists(coordinate, min_size=d + 1, max_size=d + 1))
    scores = [float(np.dot(row, u[:d])) + bias * u[d] for row in rows]
    rows = [row for row, score in zip(rows, scores, strict=True) if score] * 4
    labels = [1 if score > 0 else -1 for score in scores if score] * 4
    if not rows:
        return
    features = {"bias": bias, "normalize": False} if bias else {}
    run = run_of(Ellipsoid(bias, cuts=cuts), rows, labels, u if bias else u[:d], **features)
    found = ellipsoid_margin(run)
    assert found.status in ("valid", "vacuous"), str(found)
    assert run.mistakes <= found.bound
    assert found.quantities["reach"] < 1.0 + 1e-9
    d += bias > 0
    g = found.quantities["margin"]
    assert found.bound <= math.floor((d * math.log1p(1.0 / g) + 1.1e-3) / log_shrink(d) + 1e-6)
    assert found.bound <= 2 * d * (d + 1) * math.log1p(1.0 / g) + 1


def test_an_x_may_be_of_any_length():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 4))
    u = np.array([1.0, -2.0, 0.5, 1.0])
    rows = rows[np.abs(rows @ u) > 0.5]
    labels = np.where(rows @ u > 0, 1, -1).tolist()
    plain = ellipsoid_margin(run_of(Ellipsoid(), rows, labels, u))
    scaled = ellipsoid_margin(run_of(Ellipsoid(), rows * 2.0 ** rng.integers(-60, 60, (len(rows), 1)), labels, u))
    assert plain.status == "valid"
    assert (plain.observed, plain.bound) == (scaled.observed, scaled.bound)


HOSTILE = [
    (d, least, mode, cuts)
    for d in (2, 3, 4)
    for least in (1e-3, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15)
    for mode in ("random", "oblique", "image", "least")
    for cuts in ("centre", "deep")
]


@pytest.mark.parametrize("ninth", first_of(9))
def test_no_hostile_float_run_is_ever_violated(ninth):
    told, runs = set(), list(enumerate([*HOSTILE, *((5, 1e-13, "least", "deep"),) * 20]))
    assert len(runs) == 260
    for seed, (d, least, mode, cuts) in runs[ninth::9]:
        run = hostile_run(d, least, mode, seed, cuts=cuts)
        found = ellipsoid_margin(run)
        assert found.status in ("vacuous", "void", "valid"), (d, least, mode, cuts, str(found))
        told.add(found.status)
    assert told >= {"vacuous", "void"}  # all rounds are mistakes: no bound is below their number


def test_a_hostile_stream_gets_to_more_than_a_third_of_the_bound():
    run = hostile_run(10, 1e-8, "least", 1)
    found = ellipsoid_margin(run)
    plain = 10 * math.log1p(1.0 / found.quantities["margin"]) / log_shrink(10)
    assert 0.36 * plain < found.observed < 0.5 * plain
    assert found.quantities["reach"] < 1.0


def test_the_matrix_itself_loses_its_sign_where_the_factor_does_not():
    d, rng = 3, np.random.default_rng(0)
    learner, u = Ellipsoid(width=d), np.array([2.0, -1.0, 2.0]) / 3.0
    before = learner.facts()
    rows = hostile(learner, u, 1e-12, rng, "least")  # cuts orthogonal to w
    A, gone = np.eye(d), None
    for mistake, x in enumerate(rows):
        s2 = float(x @ A @ x)
        if s2 <= 0.0:
            gone = mistake
            break
        Ax = A @ x
        A = d * d / (d * d - 1.0) * (A - 2.0 / (d + 1) * np.outer(Ax, Ax) / s2)
    assert gone is not None  # as printed in the notes: the next step is the root of a negative number
    found = ellipsoid_margin(
        as_run(learner, before, len(rows), len(rows), tracked(rows, [-1] * len(rows), [[*u, 0.0]]))
    )
    assert found.status == "vacuous"
    assert found.observed == len(rows) > gone + 10


def test_ties_without_a_constant_feature_have_no_bound():
    grid = [(float(a), float(b)) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    rows = [x for _ in range(400) for x in grid]
    labels = [1 if -x[0] >= 0 else -1 for x in rows]  # w* = (-1, 0), sign(0) = +1
    run = run_of(Ellipsoid(), rows, labels, [-1.0, 0.0])
    assert run.mistakes > 500
    assert ellipsoid_margin(run).status == "void"
    with_constant = run_of(Ellipsoid(bias=1.0), rows, labels, [-1.0, 0.0, 0.5], bias=1.0, normalize=False)
    found = ellipsoid_margin(with_constant)
    assert found.status == "valid"
    assert found.observed <= found.bound < 60


@pytest.mark.parametrize("y", [-1, 1])
def test_a_zero_example_has_no_margin(y):
    run = run_of(Ellipsoid(), [[1.0, 0.0], [0.0, 0.0]], [1, y], [1.0, 0.0])
    found = ellipsoid_margin(run)
    assert (found.observed, found.status) == (int(y == -1), "void")
    assert ("zero example" in found.reason) == (y == -1)


def broken(learner, how):
    """A learner that does not keep to its rule."""
    play, kept = learner.play_one, {"turn": 0}

    def played(x, y):
        w, J, own, counts, *_ = learner._body
        before = (w.copy(), J.copy(), own.copy(), counts.copy())
        said = play(x, y)
        if said != y:
            kept["turn"] += 1
            if how == "never learns" or (how == "learns now and then" and kept["turn"] % 40):
                w[:], J[:], own[:], counts[:] = before
            elif how == "turns away":
                w[:] = 2.0 * before[0] - w
            elif how == "does not shrink":
                J[:], own[:] = before[1:3]
        elif how == "learns when right":
            learner._counts[0] += 1
        return said

    learner.play_one = played
    return learner


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("never learns", "violated"),
        ("learns now and then", "violated"),
        ("turns away", "void"),
        ("does not shrink", "void"),
        ("learns when right", "void"),
    ],
)
def test_a_broken_learner_is_detected(how, status):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3))
    u = np.array([-1.0, -1.0, -1.0])
    rows = rows[np.abs(rows @ u) > 0.3][:1500]
    labels = np.where(rows @ u > 0, 1, -1).tolist()
    assert ellipsoid_margin(run_of(Ellipsoid(), rows, labels, u)).status == "valid"
    found = ellipsoid_margin(run_of(broken(Ellipsoid(width=3), how), rows, labels, u))
    assert found.status == status, str(found)


def test_a_self_check_that_failed_stays_failed():
    learner = Ellipsoid(width=2)
    before = learner.facts()
    rows, labels = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.3, 1.0]], [-1, -1, -1, -1]
    learner.play_one(np.array(rows[0]), -1)
    learner._body[1][:] *= 1.01
    learner.play_one(np.array(rows[1]), -1)  # the second update: a look
    learner._body[1][:] /= 1.01
    for x in rows[2:]:
        learner.play_one(np.array(x), -1)
    run = as_run(learner, before, 4, 2, tracked(rows, labels, [[-1.0, -1.0, 0.0]]))
    found = ellipsoid_margin(run)
    assert found.status == "void"
    assert "check of the volume" in found.reason


def test_self_check_runs_at_the_end():
    learner = Ellipsoid(width=2)
    run = run_of(learner, [[1.0, 0.1], [0.1, 1.0]], [-1, -1], [-1.0, -1.0])
    assert ellipsoid_margin(run).status == "vacuous"
    after = dataclasses.replace(run.after, factor=run.after.factor * 1.01)
    assert "check of the volume" in ellipsoid_margin(dataclasses.replace(run, after=after)).reason
    thin = dataclasses.replace(run.after, factor=np.diag([1.0, 1e-14]))
    assert "too thin" in ellipsoid_margin(dataclasses.replace(run, after=thin)).reason
    for value in (math.nan, math.inf, 0.0):
        gone = dataclasses.replace(run.after, factor=np.full((2, 2), value))
        assert ellipsoid_margin(dataclasses.replace(run, after=gone)).status == "void"


def test_an_ellipsoid_without_the_comparator_is_void():
    run = run_of(Ellipsoid(), [[1.0, 0.1], [0.1, 1.0]] * 20, [-1, -1] * 20, [-1.0, -1.0])
    assert ellipsoid_margin(run).status == "valid"
    elsewhere = dataclasses.replace(run.after, centre=-run.after.centre)  # as if it had gone the wrong way
    found = ellipsoid_margin(dataclasses.replace(run, after=elsewhere))
    assert (found.status, "misses the comparator" in found.reason) == ("void", True)


def test_a_warm_start_is_void_and_so_are_other_features():
    learner = Ellipsoid(width=2)
    learner.learn_one([1.0, 0.0], -1)
    found = ellipsoid_margin(run_of(learner, [[1.0, 0.5]], [-1], [-1.0, 0.0]))
    assert (found.status, "unit ball" in found.reason) == ("void", True)
    run = run_of(Ellipsoid(), [[1.0, 0.5]] * 50, [-1] * 50, [-1.0, 0.0], normalize=False)
    assert "features" in ellipsoid_margin(run).reason
    run.tracked.normalize = True
    assert ellipsoid_margin(run).status == "valid"
    fewer = ellipsoid_margin(dataclasses.replace(run, mistakes=run.after.updates - 1))
    assert (fewer.status, "only on its mistakes" in fewer.reason) == ("void", True)
    run.tracked.rows = 49
    assert "every round" in ellipsoid_margin(run).reason
    run.tracked.invalid_reason = "a feature was not a number"
    assert ellipsoid_margin(run).reason == "a feature was not a number"


@pytest.mark.parametrize("seed", one_in(2, range(6)))
def test_the_reach_is_the_largest_over_the_ball(seed):
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    J, w, u = rng.normal(size=(d, d)) * 10.0 ** rng.integers(-2, 2, d), rng.normal(size=d), rng.normal(size=d)
    learner = Ellipsoid(width=d)
    facts = dataclasses.replace(learner.facts(), updates=1, centre=w, factor=J)
    ball = Ball(0.3, u / np.linalg.norm(u))
    found = Body.of(facts).reach(ball)
    sphere = rng.normal(size=(200_000, d))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    for _ in range(3):  # go uphill: the largest of a convex function is a fixed point of its gradient's direction
        inside = ball.centre * ball.u + ball.radius * sphere
        slope = np.linalg.solve(J.T, np.linalg.solve(J, (inside - w).T)).T
        sphere = slope / np.linalg.norm(slope, axis=1, keepdims=True)
    inside = ball.centre * ball.u + ball.radius * sphere
    largest = float(np.max(np.linalg.norm(np.linalg.solve(J, (inside - w).T), axis=0)))
    apart = float(np.linalg.norm(np.linalg.solve(J, ball.centre * ball.u - w)))
    simple = apart + ball.radius * float(np.linalg.norm(np.linalg.inv(J), 2))
    assert largest * (1 - 1e-9) <= found <= largest * (1 + 1e-3)
    assert found <= simple * (1 + 1e-9) <= math.sqrt(2) * found * (1 + 1e-9)


def test_the_reach_in_the_plane_against_a_fine_circle():
    u, J = np.array([1.0, 0.0]), np.diag([1.0, 0.2])
    facts = dataclasses.replace(Ellipsoid(width=2).facts(), updates=1, centre=np.zeros(2), factor=J)
    ball = Ball(0.3, u)
    angle = np.linspace(0.0, 2.0 * math.pi, 200_001)
    circle = ball.centre * u + ball.radius * np.column_stack([np.cos(angle), np.sin(angle)])
    largest = float(np.max(np.linalg.norm(circle / np.diag(J), axis=1)))
    assert Body.of(facts).reach(ball) == pytest.approx(largest, rel=1e-6)


def test_the_ball_touches_the_unit_sphere_and_the_level():
    for g, level in [(0.3, 0.0), (0.3, 0.1), (1e-6, 1e-7), (1.0, 0.5)]:
        ball = Ball(g, np.array([1.0]), level)
        assert ball.centre + ball.radius == pytest.approx(1.0)
        assert g * ball.centre - ball.radius == pytest.approx(level, abs=1e-15)


def test_given_margin_has_its_own_theorem():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(3000, 3))
    u = np.array([2.0, -1.0, 1.0]) / math.sqrt(6.0)
    normal = rows @ u / np.linalg.norm(rows, axis=1)
    rows, normal = rows[np.abs(normal) > 0.2], normal[np.abs(normal) > 0.2]
    labels = np.where(normal > 0, 1, -1).tolist()
    for given_margin in (0.01, 0.1, 0.19):
        run = run_of(Ellipsoid(margin=given_margin), rows, labels, u)
        assert ellipsoid_margin(run) is None
        found = ellipsoid_given_margin(run)
        assert found.status == "valid", str(found)
        g = found.quantities["margin"]
        assert g == pytest.approx(np.min(np.abs(normal)))
        without_depth = 3 * math.log((1 + g) / (g - given_margin)) / log_shrink(3)
        assert found.observed <= found.bound <= without_depth + 0.01
        assert found.quantities["depth"] > 0.0
        assert found.quantities["reach"] < 1.0 + 1e-9
    for too_much in (0.21, 0.9):
        found = ellipsoid_given_margin(run_of(Ellipsoid(margin=too_much), rows, labels, u))
        assert found.status == "void", str(found)


def test_deep_cuts_take_their_depth_off_the_bound():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(3000, 4))
    u = np.array([1.0, 1.0, -1.0, 0.0])
    rows = rows[np.abs(rows @ u) > 0.2]
    labels = np.where(rows @ u > 0, 1, -1).tolist()
    centre, deep = (ellipsoid_margin(run_of(Ellipsoid(cuts=cuts), rows, labels, u)) for cuts in ("centre", "deep"))
    assert centre.status == deep.status == "valid"
    assert deep.bound < centre.bound
    facts = run_of(Ellipsoid(), rows, labels, u).after
    ball = Ball(centre.quantities["margin"], u / math.sqrt(3.0))
    assert bound(facts, ball) == pytest.approx((4 * math.log1p(1 / ball.g) + 1e-3) / log_shrink(4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(40)))
def test_many_more_hostile_float_runs(seed):
    for d, least, mode, cuts in HOSTILE:
        found = ellipsoid_margin(hostile_run(d, least, mode, 1000 * (seed + 1) + d, cuts=cuts))
        assert found.status in ("vacuous", "void", "valid"), (d, least, mode, cuts, str(found))
