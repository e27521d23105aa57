"""Covers of the sphere: every unit vector has a point within epsilon, and Halving on them keeps its bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, TooLargeError
from novikoff.finite._loops import linear as kernel
from novikoff.finite.classes import restore_class
from novikoff.finite.classes.sphere import LARGEST_COVER, SphereCover, corollary, cover_size
from novikoff.finite.halving import Halving
from novikoff.game.play import play

ROUNDING = 4e-15
METHODS = [("circle", 2), *itertools.product(("cube", "latitude"), range(1, 6))]
EPSILONS = (2.0, 1.9, 1.42, 1.0, 0.5, 0.3, 0.1)


def plain_twin(function):
    return getattr(function, "py_func", function)  # itself where nothing is compiled


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def distances(probes, points):
    """From each probe to the nearest point, without cancellation."""
    found = []
    for part in np.array_split(probes, max(1, len(probes) * points.shape[1] // 1_000_000)):
        nearest = points[:, np.argmax(part @ points, axis=1)].T
        found.append(np.linalg.norm(part - nearest, axis=1))
    return np.concatenate(found)


def adversarial_probes(cover, rng):
    """Poles, cube corners, cell corners, the edges of the latitude bands, and random probes pushed outward."""
    dim, points = cover.dim, cover.points
    corners = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=dim)))
    probes = [unit(corners[np.any(corners != 0, axis=1)])]
    k = math.ceil(math.sqrt(dim - 1) / cover.epsilon)
    if k and (k + 1) ** (dim - 1) < 3000:
        cells = np.array(list(itertools.product(np.arange(k + 1) * 2 / k - 1, repeat=dim - 1)))
        probes += [unit(np.insert(cells, face, side, axis=1)) for face in range(dim) for side in (-1.0, 1.0)]
    heights = np.unique(np.arccos(np.clip(np.round(points[0], 12), -1, 1)))
    if dim > 1 and len(heights) > 1:
        edges = (heights[1:] + heights[:-1]) / 2
        around = unit(rng.normal(size=(200, dim - 1)))
        probes += [np.insert(np.sin(f) * around, 0, np.cos(f), axis=1) for f in edges[:: max(1, len(edges) // 10)]]
    climbing = unit(rng.normal(size=(200, dim)))
    for _ in range(30):  # away from the nearest point, with smaller and smaller steps
        nearest = points[:, np.argmax(climbing @ points, axis=1)].T
        probes.append(climbing)
        away = climbing - nearest
        climbing = unit(climbing + away * rng.uniform(0, 0.5, size=(200, 1)))
    return np.concatenate(probes)


def margin_stream(dim, margin, rounds, seed):
    """Examples with y <u, x> >= margin ||x|| and lengths up to 1, many of them right at the margin."""
    rng = np.random.default_rng(seed)
    u = unit(rng.normal(size=(1, dim)))[0]
    stream = []
    for _ in range(rounds):
        y = int(rng.choice([-1, 1]))
        across = rng.normal(size=dim)
        across -= (across @ u) * u
        length = np.linalg.norm(across)
        across = across / length if length > 1e-9 else np.zeros(dim)
        along = margin if rng.random() < 0.5 else rng.uniform(margin, 1)
        x = y * (along * u + math.sqrt(1 - along**2) * across)
        stream.append((x * rng.uniform(0.01, 1), y))
    return stream


def test_the_sizes_are_the_golden_ones():
    assert [SphereCover(2, epsilon).size for epsilon in (0.5, 0.05, 0.1)] == [7, 63, 32]
    assert SphereCover(2, 0.1, "cube").size == 40
    assert SphereCover(3, 0.1, "cube").size == 1350
    assert SphereCover(3, 0.1).size == 661
    assert [SphereCover(4, 0.25, method).size for method in ("cube", "latitude")] == [2744, 1074]
    assert [SphereCover(3, 0.5, method).size for method in ("cube", "latitude")] == [54, 33]
    assert [SphereCover(4, 0.5, method).size for method in ("cube", "latitude")] == [512, 146]
    assert (63).bit_length() - 1 == 5


def test_the_sizes_are_exact_where_the_quotients_are_whole():
    assert [SphereCover(2, epsilon).size for epsilon in (1, math.sqrt(2), 2)] == [3, 2, 1]
    assert [SphereCover(2, 1 / k, "cube").size for k in (1, 2, 3, 7, 10, 49)] == [4, 8, 12, 28, 40, 196]
    assert SphereCover(5, 0.5, "cube").size == 10 * 4**4
    assert SphereCover(3, 2).size == 1
    assert SphereCover(1, 2).size == SphereCover(1, 0.01).size == 2


def small_enough():
    """Covers of every method and dimension; where a finer one has very many points, one of 0.6 instead."""
    for method, dim in METHODS:
        fine = [(cover_size(dim, epsilon, method) or LARGEST_COVER) <= 20_000 for epsilon in EPSILONS]
        yield from ((method, dim, epsilon) for epsilon, small in zip(EPSILONS, fine, strict=True) if small)
        yield from () if all(fine) else ((method, dim, 0.6),)


@pytest.mark.parametrize(("method", "dim", "epsilon"), [*small_enough()])
def test_every_probe_of_the_sphere_is_within_epsilon(method, dim, epsilon):
    cover = SphereCover(dim, epsilon, method)
    assert cover.points.shape == (dim, cover.size)
    assert np.abs(np.linalg.norm(cover.points, axis=0) - 1).max() <= ROUNDING
    rng = np.random.default_rng(dim)
    probes = np.concatenate([unit(rng.normal(size=(500, dim))), adversarial_probes(cover, rng)])
    assert distances(probes, cover.points).max() <= epsilon + ROUNDING


@pytest.mark.parametrize(("method", "dim"), [case for case in METHODS if case[1] > 1])
def test_probes_detect_a_thin_cover(method, dim):
    # The worst place found is not far inside epsilon: the same points are no cover for 0.7 epsilon.
    cover = SphereCover(dim, 0.5, method)
    assert distances(adversarial_probes(cover, np.random.default_rng(0)), cover.points).max() > 0.7 * 0.5


def test_the_circle_is_as_thin_as_can_be():
    points = SphereCover(2, 0.5).points
    halfway = np.array([[math.cos(math.pi / 7), math.sin(math.pi / 7)]])
    assert distances(halfway, points)[0] == pytest.approx(2 * math.sin(math.pi / 14))
    assert 2 * math.sin(math.pi / 14) <= 0.5 < 2 * math.sin(math.pi / 12)  # 6 would not do


def test_latitude_is_never_larger_than_cube():
    for dim, epsilon in itertools.product(range(1, 6), (1.9, 1.2, 1.0, 0.7, 0.5, 0.35, 0.25)):
        assert cover_size(dim, epsilon, "latitude") <= cover_size(dim, epsilon, "cube")


def test_the_corollary_of_the_notes_is_larger_than_the_certificate():
    assert [corollary(2, 0.1), corollary(3, 0.1), corollary(10, 0.25, 5)] == [12, 19, 73]
    assert SphereCover(2, 0.1 / 2).size.bit_length() - 1 == 5
    assert SphereCover(3, 0.1 / 2).size.bit_length() - 1 == 11
    for margin, radius in [(0, 1), (-1, 1), (2, 1), (math.nan, 1), (1, math.inf)]:
        with pytest.raises(InputError):
            corollary(2, margin, radius)


@pytest.mark.parametrize(("method", "dim"), METHODS)
@pytest.mark.parametrize("margin", [0.9, 0.5, 0.3])
def test_halving_on_a_cover_is_never_void_on_a_stream_with_the_margin(method, dim, margin):
    if (cover_size(dim, margin / 2, method) or LARGEST_COVER) > 100_000:
        margin = 0.9
    cover = SphereCover(dim, margin / 2, method)
    for seed, conservative in itertools.product(range(3), (False, True)):
        ledger = play(Halving(cover, conservative=conservative), margin_stream(dim, margin, 100, seed))
        certificate = ledger.certify()[0]
        assert certificate.theorem == "halving_mistakes"
        assert certificate.status == "valid"
        assert ledger.mistakes <= certificate.bound <= cover.size.bit_length() - 1 <= corollary(dim, margin)


def test_margin_below_the_cover_leaves_no_survivor():
    turned = [math.pi / 7 + side * math.acos(0.3) for side in (-1, 1)]
    stream = [((math.cos(angle), math.sin(angle)), 1) for angle in turned]
    ledger = play(Halving(SphereCover(2, 0.5)), stream)
    assert {c.theorem: c.status for c in ledger.certify()}["halving_mistakes"] == "void"


@given(dim=st.integers(1, 4), seed=st.integers(0, 10**6), power=st.sampled_from([-1000, -300, 0, 300, 1000]))
def test_all_and_listed_points_vote_alike_at_every_scale(dim, seed, power):
    rng = np.random.default_rng(seed)
    cover = SphereCover(dim, 0.4)
    x = rng.normal(size=dim)
    encoded = cover.encode(np.ldexp(x, power))
    everyone = cover.labels_of(encoded, None)
    assert everyone.tolist() == cover.labels_of(cover.encode(x), None).tolist()
    members = np.sort(rng.permutation(cover.size)[: cover.size // 2 + 1])
    assert cover.labels_of(encoded, members).tolist() == everyone[members].tolist()
    plain = np.empty(cover.size, dtype=np.int8)
    plain_twin(kernel.label_points)(cover.points, encoded, plain)
    assert plain.tolist() == everyone.tolist()
    listed = np.empty(len(members), dtype=np.int8)
    plain_twin(kernel.label_members)(cover.points, encoded, members, listed)
    assert listed.tolist() == everyone[members].tolist()


def test_huge_and_tiny_examples_are_labelled_by_direction():
    cover = SphereCover(2, 0.1)
    expected = cover.labels_of(cover.encode([3, -4]), None).tolist()
    for scale in (1e-300, 1e300, 5e-324, 4e307):
        assert cover.labels_of(cover.encode([3 * scale, -4 * scale]), None).tolist() == expected
    assert set(cover.labels_of(cover.encode([0, -0.0]), None).tolist()) == {1}


def test_more_points_than_a_block_are_all_labelled():
    cover = SphereCover(2, 0.001)
    assert cover.size > 2 * kernel.BLOCK
    x = np.array([0.3, -0.7])
    assert cover.labels_of(cover.encode(x), None).tolist() == np.where(x @ cover.points >= 0, 1, -1).tolist()


def test_survivor_outside_the_cover_is_detected():
    cover = SphereCover(2, 0.5)
    for member in (-1, 7):
        with pytest.raises(IndexError, match="a survivor must be a point of the cover"):
            cover.labels_of(cover.encode([1, 1]), np.array([member]))


def test_the_class_and_its_survivors_are_restored():
    for cover in (SphereCover(3, 0.2), SphereCover(3, 0.2, "cube"), SphereCover(2, 0.1), SphereCover(1, 1)):
        again = restore_class(cover.state())
        assert again.state() == cover.state()
        assert again.name == cover.name
        stream = margin_stream(cover.dim, 0.5, 20, 3)
        learner = Halving(cover)
        for x, y in stream[:5]:
            learner.learn_one(x, y)
        other = Halving.restore(learner.state())
        assert [other.play_one(x, y) for x, y in stream[5:]] == [learner.play_one(x, y) for x, y in stream[5:]]
        assert other.facts() == learner.facts()


def test_names_and_hypotheses_are_readable():
    assert SphereCover(3, 0.1).name == "sphere-cover:dim=3,epsilon=0.1"
    assert SphereCover(2, 0.5, "circle").name == "sphere-cover:dim=2,epsilon=0.5"
    assert SphereCover(2, 0.5, "cube").name == "sphere-cover:dim=2,epsilon=0.5,method=cube"
    assert SphereCover(1, 0.5).describe(1) == "-1*x[0] >= 0"
    assert SphereCover(2, 0.5).describe(1) == "0.62349*x[0] + 0.781831*x[1] >= 0"


def test_a_cover_too_large_is_refused_before_memory_is_taken():
    with pytest.raises(TooLargeError, match="31,415,926,536"):
        SphereCover(2, 1e-10).space()
    assert SphereCover(10, 0.1, "cube").size == 20 * 30**9
    with pytest.raises(TooLargeError, match=f"{20 * 30**9:,}"):
        SphereCover(10, 0.1, "cube").space()
    for dim in (3, 5, 30, 1000):
        with pytest.raises(TooLargeError, match="has more. Use a larger epsilon"):
            SphereCover(dim, 1e-5).space()
    with pytest.raises(TooLargeError, match="has more"):
        SphereCover(1000, 1e-12, "cube").space()
    assert cover_size(3, 0.1, "latitude", limit=661) == 661
    assert cover_size(3, 0.1, "latitude", limit=660) is None


@pytest.mark.parametrize("epsilon", [0, -0.1, 2.0001, math.nan, math.inf, 5e-324])
def test_invalid_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be above 0"):
        SphereCover(2, epsilon)


def test_invalid_dimension_or_method_is_refused():
    for dim in (0, -1, 1.5):
        with pytest.raises(InputError, match="dimension"):
            SphereCover(dim, 0.5)
    with pytest.raises(InputError, match="one of circle, cube, latitude"):
        SphereCover(3, 0.5, "random")
    with pytest.raises(InputError, match="dim = 2"):
        SphereCover(3, 0.5, "circle")


@pytest.mark.parametrize("x", [[1], [1, 2, 3], [math.nan, 1], [math.inf, 1], ["a", "b"], None, [[1, 2]]])
def test_bad_input_is_refused_and_changes_nothing(x):
    learner = Halving(SphereCover(2, 0.3))
    learner.learn_one([1, 2], -1)
    before = learner.facts()
    with pytest.raises(InputError):
        learner.predict_one(x)
    with pytest.raises(InputError):
        learner.learn_one(x, 1)
    with pytest.raises(InputError):
        learner.learn_one([1, 2], 0)
    assert learner.facts() == before
