"""Mistakes of the memorizer: one per different x."""

import novikoff as nk
from cases import INDICES, Case, broken, changed, run_of

SAMPLE = [(0, -1), (1, 1)] * 20
CASES = {
    "memorized_mistakes": Case(
        INDICES,
        lambda stream: run_of(nk.Memorizer(), stream),
        SAMPLE,
        lambda: run_of(nk.Memorizer(), [(x, -1) for x in range(9)]),
        lambda: run_of(broken(nk.Memorizer()), SAMPLE),
        (
            (lambda: run_of(nk.Memorizer(), [(0, -1), (1, 1), (0, 1)]), "first round 3"),
            (lambda: changed(run_of(nk.Memorizer(), SAMPLE), changes=1, changed_at=2), "not a function of x"),
        ),
        unless="not a function of x",
    )
}
"""Cases for tests/test_every_theorem.py."""


def test_warm_start_counts_new_points_only():
    learner = nk.Memorizer()
    nk.play(learner, [(0, -1), (1, -1)])
    (found,) = nk.play(learner, [(0, -1), (1, -1), (2, -1), (2, -1)]).certify()
    assert (found.observed, found.bound) == (1, 1)
