"""Contract of a certificate."""

from __future__ import annotations

import math

from novikoff.core.certificate import RANK, Certificate
from novikoff.testing.failing import fail, require


def check_certificate(certificate: Certificate) -> None:
    """Raise an AssertionError if a certificate is violated or inconsistent."""
    one = certificate
    what = f"the certificate of {one.theorem}"
    require(isinstance(one.theorem, str) and one.theorem.isidentifier(), f"{what} must have the name of its theorem")
    require(one.kind in ("D", "E", "P"), f"the kind of {what} must be D, E or P: it is {one.kind!r}")
    require(one.side in ("upper", "lower"), f"the side of {what} must be upper or lower: it is {one.side!r}")
    require(one.status in RANK, f"the status of {what} must be one of {', '.join(RANK)}: it is {one.status!r}")
    require(one.status != "violated", f"a bound must not be violated: {one}")
    must = f"{what} must have a reason if and only if it is not valid: it is {one.status}, for {one.reason!r}"
    require(bool(one.reason) == (one.status != "valid"), must)
    standings = {assumption.standing for assumption in one.assumptions}
    refuted = "refuted" in standings
    require(not refuted or one.status == "void", f"{what} must be void, an assumption is refuted: it is {one.status}")
    trusted = "trusted" in standings and one.status == "valid"
    require(not trusted, f"{what} must be conditional, an assumption is trusted: it is valid")
    require(math.isfinite(one.observed), f"the observed value of {what} must be finite: it is {one.observed}")
    if one.status == "void":
        require(one.bound is None, f"{what} is void, and must have no bound: it has {one.bound}")
        return
    if one.bound is None or math.isnan(one.bound):
        fail(f"{what} must have a bound, or be void: it is {one.status}, with {one.bound}")
    empty = one.bound >= one.trivial if one.side == "upper" else one.bound <= one.trivial
    must = f"{what} must be vacuous if and only if its bound is no better than {one.trivial}"
    require(empty == (one.status == "vacuous"), f"{must}: it is {one.status}, with a bound of {one.bound}")
    if one.kind == "D":
        kept = one.observed <= one.bound if one.side == "upper" else one.observed >= one.bound
        require(kept, f"{what} must be violated: {one.comparison()}")
    elif isinstance(one.bound, int) and one.status != "vacuous":
        fail(f"a bound on an expectation is never rounded to an integer: {what} has {one.bound}")
