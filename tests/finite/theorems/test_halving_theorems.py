"""The theorems on Halving: with a prior, from the middle of a game, tight, void and violated."""

import pytest

import cases
import novikoff as nk
from novikoff.adversaries.majority_flip import MajorityFlip
from novikoff.core.certificate import draws_nothing
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.types import Run
from novikoff.finite.classes import cube, table, thresholds
from novikoff.finite.theorems.halving_mistakes import halving_mistakes
from novikoff.finite.theorems.halving_restarts import halving_restarts

FLIPS = [(0, -1), (1, -1), (2, -1)]

CASES = {
    "halving_mistakes": cases.of_hypotheses(
        lambda: nk.Halving(thresholds(7)),
        cases.PLAIN,
        lambda: cases.run_of(nk.Halving(cube(4)), MajorityFlip(4), 4),
        lambda: cases.run_of(cases.broken(nk.Halving(thresholds(7))), cases.PLAIN),
    ),
    "halving_restarts": cases.Case(
        cases.INDICES,
        lambda stream: cases.run_of(nk.Halving(thresholds(7)), stream),
        [(7, -1), (0, 1), *cases.PLAIN],
        lambda: cases.run_of(nk.Halving(cases.ROWS, prior=cases.PRIOR), FLIPS * 3),
        lambda: cases.run_of(cases.broken(nk.Halving(cases.ROWS)), [*FLIPS, *[(2, 1)] * 30]),
        (),
    ),
}
"""Cases for tests/test_every_theorem.py."""

# With weights 4 : 2 : 1 each of the three examples costs a mistake: the heavier hypothesis is wrong each time.
ROWS = [[1, 1, 1], [-1, 1, 1], [-1, -1, 1]]
PHASE = [(0, -1), (1, -1), (2, -1)]


def found(ledger):
    return {certificate.theorem: certificate for certificate in ledger.certify()}


@pytest.mark.parametrize("scale", [1, 2, 5])
@pytest.mark.parametrize("phases", [1, 2, 7])
def test_with_a_prior_the_restart_theorem_is_tight(scale, phases):
    learner = nk.Halving(table(ROWS), prior=[4 * scale, 2 * scale, scale])
    ledger = nk.play(learner, PHASE * phases)
    again = found(ledger)["halving_restarts"]
    assert ledger.mistakes == 3 * phases == again.bound
    assert again.status == "vacuous"  # every round was a mistake
    assert again.quantities == {"restarts": phases, "mistakes_per_phase": 3, "survivors": 3}


@pytest.mark.parametrize("last", [0, 1, 2])
def test_the_last_phase_is_counted_as_far_as_it_went(last):
    learner = nk.Halving(table(ROWS), prior=[8, 4, 2])
    ledger = nk.play(learner, [*PHASE, *PHASE[:last], *[(2, 1)] * 5])
    again = found(ledger)["halving_restarts"]
    assert ledger.mistakes == 3 + last == again.bound
    assert again.status == "valid"


@pytest.mark.parametrize(("warm", "bound"), [(0, 3), (1, 2), (2, 1)])
def test_the_first_phase_is_counted_from_where_the_ledger_was_opened(warm, bound):
    learner = nk.Halving(table(ROWS), prior=[8, 4, 2])
    for x, y in PHASE[:warm]:
        learner.learn_one(x, y)
    ledger = nk.play(learner, [*PHASE[warm:], *PHASE[:1], *[(2, 1)] * 5])
    again = found(ledger)["halving_restarts"]
    assert ledger.mistakes == bound + 1 == again.bound
    assert again.status == "valid"


def test_one_mistake_more_than_guaranteed_is_a_violation():
    before = VersionSpaceFacts(hypotheses=3, survivors=2, whole=14, weight=6, lightest=2, restarts=1, rounds=9)
    after = VersionSpaceFacts(hypotheses=3, survivors=1, whole=14, weight=2, lightest=2, restarts=3, rounds=59)
    bound = (1 + 1) + (2 + 1) + 2
    for mistakes, status in [(bound, "valid"), (bound + 1, "violated")]:
        run = Run(before, after, 50, mistakes, float(mistakes), (25, 25), adaptive=False, deterministic=True)
        assert (halving_restarts(run).bound, halving_restarts(run).status) == (bound, status)


def test_the_bound_known_beforehand_is_that_of_the_lightest_hypothesis():
    for prior, a_priori in [([8, 4, 2], 2), ([4, 2, 1], 2), ([3, 3, 3], 1), ([100, 10, 5], 4), (None, 1)]:
        ledger = nk.play(nk.Halving(table(ROWS), prior=prior), [(2, 1)])
        assert found(ledger)["halving_mistakes"].quantities["a_priori"] == a_priori


def test_a_restart_before_the_ledger_was_opened_voids_nothing():
    learner = nk.Halving(thresholds(3))
    for x, y in [(3, -1), (0, 1)]:
        learner.learn_one(x, y)
    assert learner.facts().restarts == 1
    ledger = nk.play(learner, [(1, -1), (2, 1)] * 5)
    certificates = found(ledger)
    assert list(certificates) == ["halving_mistakes"]
    assert certificates["halving_mistakes"].status == "valid"
    assert certificates["halving_mistakes"].bound == 2


@pytest.mark.parametrize("make", [nk.Halving, nk.Consistent, lambda h: nk.Consistent(h, random=True)])
def test_a_void_certificate_names_the_round_of_the_ledger_or_none(make):
    learner = make(thresholds(3))
    for x in (0, 1, 0):
        learner.learn_one(x, -1)
    (reason,) = [c.reason for c in nk.play(learner, [(3, -1), (0, 1)]).certify() if c.status == "void"]
    assert reason.startswith("not realizable: no hypothesis fits the labels up to round 2")
    (reason,) = [c.reason for c in nk.play(learner, [(3, -1), (0, 1)]).certify() if c.status == "void"]
    assert reason.startswith("not realizable: no hypothesis fits the labels")
    assert "up to" not in reason  # the learner remembers the first restart only, and that was before


@pytest.mark.parametrize("theorem", [halving_mistakes, halving_restarts])
def test_more_survivors_at_the_end_do_not_crash(theorem):
    before = VersionSpaceFacts(hypotheses=12, survivors=3, whole=12, weight=3, rounds=4)
    after = VersionSpaceFacts(hypotheses=12, survivors=12, whole=12, weight=12, restarts=1, emptied_at=6, rounds=8)
    run = Run(before, after, 4, 2, 2.0, (2, 2), adaptive=False, deterministic=True)
    assert theorem(run).status != "violated"


def test_refuted_assumption_is_phrased_as_refuted():
    run = Run(None, None, 1, 0, 0.5, (0, 1), adaptive=True, deterministic=False)
    assert draws_nothing(run).claim == "the learner is deterministic"
    assert draws_nothing(run).standing == "refuted"
