"""The status of a certificate, and its arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.certificate import Assumption, Bound, bound_text, floor_log2, outward, theorem
from novikoff.core.types import Run


def certificate(observed=3, bound=5, trivial=100, assumptions=(), kind="D", side="upper", void=""):
    @theorem(kind, "r", side=side)
    def t(run):
        return Bound(bound, list(assumptions), observed=observed, trivial=trivial, void=void)

    return t(None)


@theorem("D", "littlestone1988")
def some_mistakes(run):
    """A bound that runs tell the rest of."""
    return None if run is None else Bound(5)


def test_declared_fields_are_in_every_certificate():
    declared = (some_mistakes.name, some_mistakes.kind, some_mistakes.side, some_mistakes.quantity)
    assert declared == ("some_mistakes", "D", "upper", "mistakes")
    assert some_mistakes.__doc__.startswith("A bound")
    run = Run(None, None, 9, 3, 2.5, (4, 5), adaptive=False, deterministic=True)
    found = some_mistakes(run)
    assert (found.theorem, found.kind, found.side, found.quantity) == declared
    assert (found.reference, found.observed, found.trivial) == ("littlestone1988", 3, 9)
    assert some_mistakes(None) is None


def test_run_supplies_observed_value_for_mistakes_only():
    regret = theorem("D", "r", quantity="regret")(lambda run: Bound(5, observed=3))
    with pytest.raises(ValueError, match="a bound on regret needs `observed`"):
        regret(Run(None, None, 9, 3, 2.5, (4, 5), adaptive=False, deterministic=True))


def test_a_bound_that_is_kept_is_valid():
    assert certificate().status == "valid"
    assert certificate().holds
    assert str(certificate()) == "t: valid: mistakes 3 <= 5"


def test_only_an_exceeded_bound_of_kind_D_is_violated():
    assert certificate(observed=6).status == "violated"
    assert not certificate(observed=6).holds
    assert certificate(observed=6, kind="E").status == "valid"
    assert certificate(observed=6, kind="P").status == "valid"
    assert certificate(observed=4, bound=5, side="lower", trivial=0).status == "violated"
    assert certificate(observed=5, bound=5, side="lower", trivial=0).status == "valid"


def test_one_run_of_an_expectation_is_not_printed_as_an_inequality():
    assert certificate(observed=6, kind="E").comparison() == "mistakes 6 in this run, guaranteed <= 5"
    assert certificate(observed=6).comparison() == "mistakes 6 > 5"


@given(st.floats(1e-9, 1e12), st.sampled_from(["upper", "lower"]))
def test_printed_bound_is_rounded_outward(bound, side):
    shown = float(bound_text(bound, side).replace(",", ""))
    assert shown >= bound if side == "upper" else shown <= bound
    assert math.isclose(shown, bound, rel_tol=1e-5)


def test_whole_bounds_are_printed_whole():
    assert bound_text(1_234_567_890, "upper") == "1,234,567,890"
    assert bound_text(1.0833333343, "upper") == "1.08334"
    assert bound_text(5.6348479, "lower") == "5.63484"


def test_a_refuted_assumption_voids_even_a_broken_bound():
    broken = certificate(observed=6, assumptions=[Assumption("the labels are right", "refuted")])
    assert broken.status == "void"
    assert broken.bound is None
    assert "the labels are right" in broken.reason


def test_a_bound_that_is_not_a_number_is_void():
    assert certificate(bound=math.nan).status == "void"


@pytest.mark.parametrize("kind", ["D", "E", "P"])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_an_observation_that_is_not_a_number_is_void(kind, side):
    found = certificate(observed=math.nan, kind=kind, side=side)
    assert (found.status, found.bound) == ("void", None)
    assert found.reason == "the observed mistakes is not a number"


def test_a_bound_as_large_as_the_number_of_rounds_is_vacuous():
    assert certificate(bound=100).status == "vacuous"
    assert certificate(bound=0, observed=7, side="lower", trivial=0).status == "vacuous"


def test_violated_comes_before_vacuous():
    assert certificate(observed=101, bound=100).status == "violated"


def test_a_trusted_assumption_makes_it_conditional():
    trusting = certificate(assumptions=[Assumption("drawn independently", "trusted")])
    assert trusting.status == "conditional"
    assert "drawn independently" in trusting.reason


def test_void_gives_the_reason():
    nothing = certificate(void="warm start")
    assert (nothing.status, nothing.bound, str(nothing)) == ("void", None, "t: void: warm start")


@given(st.integers(1, 10**40), st.integers(1, 10**40))
def test_floor_log2_is_exact(a, b):
    above, below = max(a, b), min(a, b)
    k = floor_log2(above, below)
    assert below * 2**k <= above < below * 2 ** (k + 1)


def test_floor_log2_where_floats_are_wrong():
    assert floor_log2(2**60 - 1, 1) == 59
    assert math.floor(math.log2(2**60 - 1)) == 60  # what a float says


@pytest.mark.parametrize("bound", [0.0, 1.5, 1e9, -1.5, -1e6, -1e200])
def test_outward_never_lowers_a_bound(bound):
    assert outward(bound) > bound
    assert outward(bound) <= bound + abs(bound) * 1e-11 + 1e-8


def test_outward_keeps_infinity():
    assert outward(math.inf) == math.inf
