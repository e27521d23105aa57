"""Convex sets: projections are the nearest points, diameters are attained, linear functions are minimised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff as nk
from novikoff.core.errors import InputError

SETS = {
    "ball": nk.Ball(1.5, dim=3),
    "ball elsewhere": nk.Ball(0.5, dim=3, center=[1.0, 2.0, 3.0]),
    "box": nk.Box([-1.0, 0.0, 2.0], [1.0, 3.0, 2.5]),
    "simplex": nk.Simplex(3),
    "large simplex": nk.Simplex(3, total=4.0),
}
POINTS = arrays(np.float64, 3, elements=st.floats(-5, 5))


@pytest.mark.parametrize("name", SETS)
@given(v=POINTS, w=POINTS)
def test_projection_is_the_nearest_point(name, v, w):
    here = SETS[name]
    near, other = here.project(v), here.project(w)
    assert here.project(near) == pytest.approx(near, abs=1e-12)
    assert (v - near) @ (other - near) <= 1e-9  # the angle at the nearest point is not acute
    assert np.linalg.norm(near - other) <= here.diameter
    assert v @ here.least(v) <= v @ near + 1e-9
    assert here.project(here.least(v)) == pytest.approx(here.least(v), abs=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_diameter_is_attained(name):
    here, rng = SETS[name], np.random.default_rng(0)
    ends = [here.least(rng.normal(size=3)) for _ in range(300)] + [here.least(v) for v in np.eye(3)]
    farthest = max(float(np.linalg.norm(a - b)) for a in ends for b in ends)
    assert farthest == pytest.approx(here.diameter, rel=0.02)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nk.Ball(0.0, dim=2),
        lambda: nk.Ball(1.0, dim=0),
        lambda: nk.Ball(1.0, dim=2, center=[1.0]),
        lambda: nk.Box(1.0, 0.0, dim=2),
        lambda: nk.Box([0.0, 0.0], [1.0, 1.0, 1.0]),
        lambda: nk.Box("a", 1.0),
        lambda: nk.Simplex(0),
        lambda: nk.Simplex(2, total=-1.0),
        lambda: nk.Projected(3, diameter=1.0, start=[0.0]),
        lambda: nk.Projected(lambda v: v, diameter=np.inf, start=[0.0]),
        lambda: nk.Projected(lambda v: v, diameter=1.0, start=[np.nan]),
        lambda: nk.Projected(lambda v: v[:1], diameter=1.0, start=[0.0, 0.0]).project(np.zeros(2)),
    ],
)
def test_wrong_arguments_are_refused(make):
    with pytest.raises(InputError):
        make()
