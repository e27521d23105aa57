"""What Hedge passes on of its learners' promises: tight, true on arbitrary streams, and violated when it should be."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.core.certificate import Assumption, Certificate
from novikoff.core.types import Run
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.hedge import Hedge
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.hedge_expected import hedge_expected
from novikoff.experts.theorems.hedge_mistakes import hedge_mistakes
from novikoff.finite.classes import thresholds
from novikoff.finite.consistent import Consistent
from novikoff.finite.constant import Constant
from novikoff.finite.halving import Halving
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.linear.perceptron import Perceptron


def team(**rule):
    return nk.Hedge([nk.ThresholdHalving(7), nk.Constant(-1)], **rule)


def drawing_team():
    return nk.Hedge([nk.Consistent(thresholds(7), random=True, seed=5), nk.Constant(-1)], horizon=400)


CASES = {
    "hedge_mistakes": cases.Case(
        cases.INDICES,
        lambda stream: cases.run_of(team(), stream),
        cases.PLAIN * 5,
        None,
        lambda: cases.run_of(cases.broken(team()), cases.PLAIN * 5),
        (
            (lambda: cases.warm(team, cases.PLAIN, cases.PLAIN), "warm start"),
            (lambda: cases.changed(cases.run_of(team(), cases.PLAIN), apart=False), "independent of the learners"),
            (lambda: cases.changed(cases.run_of(team(), cases.PLAIN), rule="sleeping"), "no bound of this kind"),
        ),
        unless="not realizable",
    ),
    "hedge_expected": cases.Case(
        cases.INDICES,
        lambda stream: cases.run_of(drawing_team(), stream),
        cases.PLAIN * 10,
        None,
        None,
        (
            (lambda: cases.run_of(drawing_team(), GridBisection(7), 20), "fixed in advance"),
            (
                lambda: cases.changed(cases.run_of(drawing_team(), cases.PLAIN), apart=False),
                "independent of the learners",
            ),
        ),
        unless="not realizable",
    ),
}
"""Cases for tests/test_every_theorem.py."""

K, T = 4, 1000


def of(ledger, theorem):
    found = [certificate for certificate in ledger.certify() if certificate.theorem == theorem]
    return found[0] if found else None


def promise(bound, kind="D", quantity="mistakes", status="valid", **more):
    return Certificate("some_theorem", kind, "upper", quantity, 0, bound, T, status, **more)


def facts(**changes):
    """K learners after T rounds with the best fixed rate, when one of them was followed at once."""
    eta = math.sqrt(8 * math.log(K) / T)
    plain = ExpertsFacts(
        rule="fixed", rounds=T, experts=K, loss="table", play="draw", top=1.0, unit=1.0, eta=eta, rates=T * eta,
        gaps=T * eta / 8, last_gap=0.0, mixed=0.0, best=0, best_loss=0.0, comparator=0, comparator_loss=0.0,
        price=math.log(K), uniform=True, rounding=0.0, horizon=T, apart=True,
    )  # fmt: skip
    return dataclasses.replace(plain, **changes)


def run(members, after=None, expected=0.0, **changes):
    after = dataclasses.replace(after or facts(), mixed=expected)
    before = dataclasses.replace(after, rounds=0, rates=0.0, gaps=0.0, mixed=0.0)
    told = {"before": before, "after": after, "rounds": T, "mistakes": 0, "expected": expected, "constants": (0, T),
            "adaptive": False, "deterministic": False, "members": tuple(map(tuple, members))}  # fmt: skip
    return Run(**(told | changes))


def test_bound_of_a_single_learner_is_passed_on_unchanged():
    x = np.tile(np.eye(12), (2, 1))
    ledger = nk.play(Hedge([Perceptron()]), [(row, -1) for row in x])
    passed = of(ledger, "hedge_mistakes")
    own = ledger.members[0].certify()[0]
    assert own.bound == own.observed == 12  # orthogonal examples: each is a mistake once
    assert passed.observed == 12.0
    assert passed.bound == pytest.approx(12.0, rel=1e-9)
    assert (passed.kind, passed.status) == ("D", "valid")


def test_least_bound_and_best_rate_are_used():
    passed = hedge_mistakes(run([[promise(700)], [promise(600), promise(900)], [], [promise(650)]]))
    assert passed.bound == pytest.approx(600 + math.sqrt(T * math.log(K) / 2), rel=1e-9)
    assert passed.quantities["learner"] == 1
    assert passed.quantities["its_bound"] == 600
    assert (passed.kind, passed.status, passed.quantity) == ("D", "valid", "expected mistakes")


def test_without_a_horizon_it_costs_the_root_of_rounds_times_logarithm():
    rates = [2 * math.sqrt(math.log(K) / t) for t in range(1, T + 1)]
    after = facts(rule="anytime", eta=rates[-1], rates=math.fsum(rates), gaps=T)
    added = hedge_mistakes(run([[promise(100)]], after)).bound - 100
    assert 0.95 * math.sqrt(T * math.log(K)) < added <= math.sqrt(T * math.log(K))


def test_smaller_mixing_cost_is_used_except_in_expectation():
    after = facts(gaps=3.0)
    assert hedge_mistakes(run([[promise(600)]], after)).bound == pytest.approx(600 + math.log(K) / after.eta + 3)
    coins = hedge_expected(run([[promise(600.0, "E")]], after))
    assert coins.bound == pytest.approx(600 + math.sqrt(T * math.log(K) / 2))
    assert coins.kind == "E"


def test_few_mistakes_make_the_other_form_smaller():
    after = facts(eta=1.0, rates=float(T), gaps=float(T))
    small = (1.0 * 5 + math.log(K)) / (1 - math.exp(-1.0))
    assert hedge_mistakes(run([[promise(5)]], after)).bound == pytest.approx(small, rel=1e-9)
    assert hedge_expected(run([[promise(5.0, "E")]], after)).bound == pytest.approx(small, rel=1e-9)


def test_price_of_ada_hedge_and_fixed_share_matches_their_theorems():
    ada = facts(rule="adaptive", gaps=8.0, last_gap=0.5)
    assert hedge_mistakes(run([[promise(100)]], ada)).bound == pytest.approx(115.5)
    advance = math.sqrt(T * math.log(K)) + 4 / 3 * math.log(K) + 2
    assert hedge_expected(run([[promise(100.0, "E")]], ada)).bound == pytest.approx(100 + advance)
    share = facts(rule="share", alpha=0.01, switches=10, gaps=3.0)
    stays = (T - 1) * math.log(1 / 0.99)
    assert hedge_mistakes(run([[promise(100)]], share)).bound == pytest.approx(
        100 + (math.log(K) + stays) / share.eta + 3
    )


@pytest.mark.parametrize("theorem", [hedge_mistakes, hedge_expected])
def test_invalid_certificates_are_left_out(theorem):
    kind = "D" if theorem is hedge_mistakes else "E"
    broken = [
        promise(1, kind, status="violated", reason="a bug"),
        promise(None, kind, status="void", reason="no margin"),
    ]
    passed = theorem(run([broken, [promise(400, kind)]]))
    assert passed.quantities["its_bound"] == 400
    alone = theorem(run([broken, []]))
    assert alone.status == "void"
    assert "a bug" in alone.reason
    assert "no margin" in alone.reason
    assert theorem(run([[], []])) is None


def test_only_bounds_on_mistakes_are_passed_on():
    others = [promise(1, quantity="expected regret"), promise(1.0, "P"), promise(1, quantity="loss")]
    lower = dataclasses.replace(promise(1), side="lower")
    assert hedge_mistakes(run([[*others, lower]])) is None
    assert hedge_expected(run([[*others, lower]])) is None
    drawn = promise(1.5, quantity="expected mistakes")
    assert hedge_mistakes(run([[drawn]])) is None  # the learner's own coins are left: no bound on every stream
    assert hedge_expected(run([[drawn]])).quantities["its_bound"] == 1.5
    assert hedge_expected(run([[promise(1.5, quantity="expected loss")]])).status == "valid"


def test_trusted_assumptions_of_a_learner_stay_trusted():
    trusted = promise(10, status="conditional", assumptions=(Assumption("K is an inner product", "trusted"),))
    passed = hedge_mistakes(run([[trusted]]))
    assert passed.status == "conditional"
    assert "K is an inner product" in passed.reason


def test_prior_price_counts_for_its_learner_only():
    after = facts(uniform=False, comparator=1, price=3.0, gaps=0.0)
    passed = hedge_mistakes(run([[promise(1)], [promise(50)]], after))
    assert passed.quantities["learner"] == 1
    assert passed.bound == pytest.approx(50 + 3.0 / after.eta)
    assert hedge_mistakes(run([[promise(1)], []], after)).status == "void"
    assert hedge_expected(run([[], [promise(50.0, "E")]], after)).status == "void"  # it was found by looking


def test_increasing_rate_has_no_bound():
    rose = facts(rates=T * facts().eta / 2)
    assert hedge_mistakes(run([[promise(10)]], rose)).status == "void"
    assert hedge_mistakes(run([[promise(10)]], facts(rule="sleeping"))).status == "void"


def test_a_huge_bound_counts_as_the_rounds():
    passed = hedge_mistakes(run([[promise(10**4000, status="vacuous")]]))
    assert passed.status == "vacuous"
    assert math.isfinite(passed.bound)


def test_expected_mistakes_above_the_bound_violate_a_certainty_only():
    certain = run([[promise(10), promise(10.0, "E")]], expected=200.0)
    assert hedge_mistakes(certain).status == "violated"
    assert hedge_expected(certain).status == "valid"


@given(
    st.lists(
        st.tuples(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), st.sampled_from([-1, 1])), min_size=1, max_size=80
    ),
    st.sampled_from([{}, {"horizon": 40}, {"by": "ada-hedge"}, {"by": "fixed-share", "switches": 1, "horizon": 80}]),
)
def test_the_theorem_holds_on_arbitrary_streams(rounds, rule):
    ledger = nk.play(Hedge([Perceptron(), Perceptron(bias=1.0), Constant()], **rule), rounds)
    passed = of(ledger, "hedge_mistakes")
    assert passed.status in ("valid", "vacuous")
    own = [certificate.bound for certificate in ledger.members[0].certify() if certificate.holds]
    own += [certificate.bound for certificate in ledger.members[1].certify() if certificate.holds]
    assert min(ledger.members[0].mistakes, ledger.members[1].mistakes) <= min(own)
    assert ledger.expected <= passed.bound


def test_the_expectation_holds_for_learners_that_draw():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 21, 150)
    y = np.where(x >= 13, 1, -1)

    def team(seed):
        random = [Consistent(thresholds(20), random=True, seed=100 + seed), ExponentialWeights(thresholds(20), eta=0.5)]
        return Hedge([*random, Constant()], horizon=150, seed=seed)

    repeated = nk.repeat(team, (x, y), seeds=range(30))
    (verdict,) = [verdict for verdict in repeated.verdicts if verdict.theorem == "hedge_expected"]
    assert verdict.status == "valid"
    assert verdict.observed.mean < verdict.bound
    assert not [verdict for verdict in repeated.verdicts if verdict.status == "violated"]


def test_a_budget_learner_passes_its_expectation_on():
    x = np.tile(np.eye(6), (60, 1))
    team = Hedge([RandomizedBudgetPerceptron(4, "linear", seed=1), Constant()], horizon=360)
    ledger = nk.play(team, [(row, -1) for row in x])
    assert team.learners[0].supports.evictions > 0
    own = ledger.members[0].certify()[0]
    assert own.theorem == "rbp_expected"
    passed = of(ledger, "hedge_expected")
    assert passed.kind == "E"
    assert passed.quantities["its_bound"] == own.bound


def test_against_an_adversary_certainties_stand_and_expectations_are_void():
    team = Hedge([Halving(thresholds(20)), Consistent(thresholds(20), random=True), Constant()])
    ledger = nk.play(team, Contrarian(team.domain), rounds=100)
    for certificate in ledger.certify():
        assert certificate.status != "violated"
    expected = of(ledger, "hedge_expected")
    assert expected.status == "void"


def test_coins_that_a_learner_shares_are_detected_and_those_without_a_seed_are_trusted():
    team = Hedge([Halving(thresholds(20)), Consistent(thresholds(20), random=True)])
    ledger = nk.play(team, [(t % 21, 1 if t % 21 >= 7 else -1) for t in range(400)])
    for seed, status in [(0, "valid"), (None, "conditional"), (team.rule.seed, "void")]:
        team.learners[1].seed = seed
        assert of(ledger, "hedge_mistakes").status == status
