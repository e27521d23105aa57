"""Weighted Majority: the rule by hand, exact comparisons, and the theorem on arbitrary classes and streams."""

import copy
import json
import math
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.contrarian import Contrarian
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.experts.theorems.weighted_majority_mistakes import mistake_bound, shrinkage
from novikoff.experts.weighted_majority import WeightedMajority, sign_at
from novikoff.finite.classes import cube, functions, halfspaces, programs, rectangles, sphere_cover, table, thresholds
from novikoff.finite.halving import Halving
from novikoff.game import ledger_state
from samples import CLASSES, GRID, INDICES, MATRIX, POINTS, PROGRAMS, VECTORS

SAMPLES = {
    "weighted-majority": [
        ("weighted-majority:[thresholds:n=20],beta=0.25", *INDICES),
        (
            "weighted-majority:[thresholds:n=20],beta=0.9,conservative=true",
            *INDICES,
        ),
        ("weighted-majority:[thresholds:n=20],beta=0", *INDICES),
        ("weighted-majority:[rectangles:m=8,dim=2]", *POINTS),
        ("weighted-majority:[halfspaces:n=2,dim=3]", *GRID),
        ("weighted-majority:[sphere-cover:dim=3,epsilon=0.3]", *VECTORS),
        ("weighted-majority:[programs:bits=12,width=3],prior=length", *PROGRAMS),
        (f"weighted-majority:[{MATRIX}]", *CLASSES),
        (f"weighted-majority:[{MATRIX}],prior=[1,2,3,4],beta=0.75,conservative=true", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""

CASES = {
    "weighted_majority_mistakes": cases.Case(
        cases.INDICES,
        lambda stream: cases.run_of(nk.WeightedMajority(thresholds(7)), stream),
        cases.PLAIN,
        None,
        lambda: cases.run_of(cases.broken(nk.WeightedMajority(thresholds(7))), cases.PLAIN),
        ((lambda: cases.run_of(nk.WeightedMajority(thresholds(7), beta=0.0), [(3, -1), (0, 1)]), "penalised"),),
    ),
}
"""Cases for tests/test_every_theorem.py."""

BETAS = [0.5, 0.25, 0.9, 1 / 3, 0.999999, 1 - 2**-53, 1e-300, 5e-324]


def rows_of(labels):
    return st.integers(1, 4).flatmap(
        lambda points: st.lists(
            st.lists(st.sampled_from(labels), min_size=points, max_size=points), min_size=1, max_size=25
        )
    )


class Twin:
    """The rule with Fractions, word for word; of equally heavy labels the first of `labels`."""

    def __init__(self, rows, labels, beta, prior, conservative):
        self.rows, self.labels, self.beta, self.conservative = rows, labels, Fraction(beta), conservative
        self.weights = [Fraction(weight) for weight in prior or [1] * len(rows)]

    def play_one(self, x, y):
        totals = dict.fromkeys(self.labels, Fraction(0))
        for weight, row in zip(self.weights, self.rows, strict=True):
            totals[row[x]] += weight
        said = max(self.labels, key=lambda label: totals[label])
        for i, row in enumerate(self.rows):
            if row[x] != y and (said != y or not self.conservative):
                self.weights[i] *= self.beta
        return said


def errors_of(rows, stream):
    return [sum(row[x] != y for x, y in stream) for row in rows]


def test_the_rule_by_hand():
    learner = WeightedMajority(table([[1, -1], [1, 1], [-1, 1]]), beta=0.5)
    assert learner.play_one(0, -1) == 1  # 2 against 1; weights become 1/2, 1/2, 1
    assert learner.penalties.tolist() == [1, 1, 0]
    assert learner.predict_one(0) == 1  # 1/2 + 1/2 against 1: a tie says +1
    assert learner.predict_one(1) == 1  # 1/2 + 1 against 1/2
    assert learner.play_one(0, 1) == 1  # right, and still number 2 is penalised: 1/2, 1/2, 1/2
    assert learner.penalties.tolist() == [1, 1, 1]
    assert learner.survivor().startswith("row 0")
    assert (learner.rounds, learner.size) == (2, 3)


def test_a_conservative_learner_is_changed_by_mistakes_only_and_counts_every_error():
    learner = WeightedMajority(table([[1], [1], [-1]]), conservative=True)
    learner.learn_one(0, 1)
    assert learner.penalties.tolist() == [0, 0, 0]
    assert learner.errors.tolist() == [0, 0, 1]
    learner.learn_one(0, -1)
    assert learner.penalties.tolist() == [1, 1, 0]
    assert learner.errors.tolist() == [1, 1, 1]


def test_tie_predicts_plus_one_or_the_smallest_label():
    assert WeightedMajority(table([[1], [-1]])).predict_one(0) == 1
    assert WeightedMajority(table([[2], [1], [0], [1], [2]])).predict_one(0) == 1
    heavy = WeightedMajority(table([[2], [1], [0]]), prior=[3, 1, 1])
    assert heavy.predict_one(0) == 2
    assert heavy.survivor().startswith("row 0")


def test_the_largest_label_a_table_can_hold_is_predicted():
    assert WeightedMajority(table([[2**15 - 1], [0], [2**15 - 1]])).predict_one(0) == 2**15 - 1


@given(
    st.sampled_from([0.0, *BETAS]) | st.floats(0, 1, exclude_max=True, allow_subnormal=False),
    st.dictionaries(st.integers(0, 30), st.integers(-9, 9), max_size=8),
)
def test_signs_are_exact(beta, votes):
    levels = sorted(votes)
    exact = sum((Fraction(beta) ** level * votes[level] for level in levels), Fraction(0))
    assert sign_at(beta, levels, [votes[level] for level in levels]) == (exact > 0) - (exact < 0)


@pytest.mark.parametrize("beta", [0.5, 0.75, 0.9])
def test_a_difference_far_below_the_precision_of_floats_is_seen(beta):
    levels, votes = [0, 1, 400], [2, -2, 1]
    p, power = beta.as_integer_ratio()
    votes[0], votes[1] = p * 2, -power * 2  # cancel exactly
    assert sign_at(beta, levels, votes) == 1
    assert sign_at(beta, levels, [-v for v in votes]) == -1
    assert sign_at(beta, levels[:2], votes[:2]) == 0
    assert sign_at(beta, [0, 10**12], [1, -(10**18)]) == 1  # no power of so high a degree is computed


def test_near_tie_below_float_precision_is_decided_exactly():
    learner = WeightedMajority(table([[1], [-1], [-1], [-1]]))
    for deep, said in ((10**6, -1), (60, -1), (0, -1)):
        state = learner.state() | {"rounds": 10**6, "penalties": np.array([0, 1, 1, deep])}
        assert WeightedMajority.restore(state).predict_one(0) == said
    state = learner.state() | {"rounds": 3, "penalties": np.array([0, 1, 2, 2])}
    assert WeightedMajority.restore(state).predict_one(0) == 1  # 1 against 1/2 + 1/4 + 1/4


@given(st.integers(2**55, 2**61), st.sampled_from([0.9, 0.7, 1 / 3, 0.5, 0.999]), st.booleans())
def test_weights_closer_than_float_precision_are_distinguished(heavy, beta, above):
    light = math.floor(heavy * Fraction(beta)) + above
    learner = WeightedMajority(table([[1], [-1]]), beta, prior=[light, heavy])
    learner = WeightedMajority.restore(learner.state() | {"rounds": 9, "penalties": np.array([8, 9])})
    assert learner.predict_one(0) == (1 if light >= heavy * Fraction(beta) else -1)


streams = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=50)
priors = st.none() | st.lists(st.integers(1, 2**40), min_size=25, max_size=25)


@given(rows_of([-1, 1]), streams, st.sampled_from([0.0, *BETAS]), priors, st.booleans())
def test_the_theorem_holds_on_arbitrary_classes_streams_and_priors(rows, stream, beta, prior, conservative):
    stream = [(x % len(rows[0]), 1 if y % 2 else -1) for x, y in stream]
    prior = prior and prior[: len(rows)]
    check(rows, [1, -1], stream, beta, prior, conservative)


@given(rows_of([0, 1, 2, 3]), streams, st.sampled_from(BETAS), priors, st.booleans())
def test_the_theorem_holds_with_many_labels(rows, stream, beta, prior, conservative):
    rows = [[3] * len(rows[0]), *rows][:25]
    stream = [(x % len(rows[0]), y) for x, y in stream]
    check(rows, range(4), stream, beta, prior and prior[: len(rows)], conservative)


def check(rows, labels, stream, beta, prior, conservative):
    learner = WeightedMajority(table(rows), beta, prior, conservative)
    twin = Twin(rows, labels, beta, prior, conservative)
    ledger = nk.Ledger(learner)
    dead = False
    for x, y in stream:
        said = learner.play_one(x, y)
        ledger.write(said, y)
        expected = twin.play_one(x, y)
        assert dead or said == expected  # with no weight left the rule goes on with the least penalised
        dead = sum(twin.weights) == 0
    errors = errors_of(rows, stream)
    (found,) = ledger.certify()
    assert found.theorem == "weighted_majority_mistakes"
    assert found.quantities["best_mistakes"] == min(errors)
    if dead:
        assert found.status == "void"
        return
    assert found.status in ("valid", "vacuous")
    weights = prior or [1] * len(rows)
    a_priori = min(mistake_bound(m, sum(weights) / w, beta) for m, w in zip(errors, weights, strict=True))
    assert ledger.mistakes <= found.bound <= a_priori + 1e-9 * (1 + a_priori) + 2e-12 / shrinkage(beta)
    share = float(sum(twin.weights) / sum(weights))
    if share > 1e-290:
        assert found.quantities["pathwise"] * shrinkage(beta) == pytest.approx(-math.log(share), abs=1e-12)
    # One mistake more than this and the exact weights would contradict the theorem.
    assert ((1 + Fraction(beta)) / 2) ** ledger.mistakes * sum(weights) >= sum(twin.weights)


def test_the_golden_bound():
    assert mistake_bound(5, 16, 0.5) == pytest.approx(21.684788, abs=1e-6)
    assert mistake_bound(0, 16, 0.0) == pytest.approx(4)
    assert mistake_bound(1, 16, 0.0) == math.inf
    assert mistake_bound(7, 1, 1 - 2**-53) == pytest.approx(14)  # ln(1/beta) / ln(2/(1+beta)) tends to 2


def test_the_certificate_of_the_golden_case():
    """16 functions of 4 points, labels flipped on 5 of 400 rounds."""
    stream = [(t % 4, -1 if t % 80 == 0 else 1) for t in range(400)]
    ledger = nk.play(WeightedMajority(cube(4)), stream)
    (found,) = ledger.certify()
    assert found.quantities["best_mistakes"] == 5
    assert found.quantities["a_priori"] == pytest.approx(21.684788, abs=1e-6)
    assert ledger.mistakes <= found.bound <= 21
    assert found.status == "valid"


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("rounds", [100, 101])
def test_no_deterministic_learner_beats_twice_the_best_hypothesis(beta, rounds):
    learner = WeightedMajority(table([[1], [-1]]), beta)
    ledger = nk.play(learner, Contrarian(learner.domain), rounds=rounds)
    assert ledger.mistakes == rounds
    assert learner.facts().best_mistakes == rounds // 2
    assert {c.theorem: c.status for c in ledger.certify()}["weighted_majority_mistakes"] == (
        "vacuous" if beta else "void"
    )


@given(rows_of([-1, 1]), st.data(), st.booleans())
def test_beta_zero_is_halving_while_some_hypothesis_is_perfect(rows, data, conservative):
    target = data.draw(st.sampled_from(rows))
    points = data.draw(st.lists(st.integers(0, len(rows[0]) - 1), min_size=1, max_size=30))
    stream = [(x, target[x]) for x in points]
    one = nk.play(WeightedMajority(table(rows), 0.0, conservative=conservative), stream, record=True)
    two = nk.play(Halving(table(rows), conservative=conservative), stream, record=True)
    assert one.recorded().tolist() == two.recorded().tolist()
    assert one.certify()[0].bound == two.certify()[0].bound
    assert one.learner.survivor() == two.learner.survivor()


def test_beta_zero_without_a_perfect_hypothesis_keeps_the_least_penalised():
    learner = WeightedMajority(table([[1, 1, 1], [-1, 1, 1], [-1, -1, 1]]), beta=0.0)
    ledger = nk.play(learner, [(0, 1), (1, -1), (2, -1)])
    assert learner.penalties.tolist() == [2, 3, 2]
    assert learner.predict_one(0) == 1  # a tie of the first and the last
    (found,) = ledger.certify()
    assert found.status == "void"
    assert "beta above 0" in found.reason
    later = nk.Ledger(learner)  # from here on somebody has weight again, so the promise has too
    nk.play(learner, [(0, -1), (1, -1)], ledger=later)
    assert later.mistakes == 1
    assert later.certify()[0].bound == 1


@pytest.mark.parametrize("conservative", [False, True])
def test_ledger_opened_in_the_middle_is_certified_by_the_weight_lost_since(conservative):
    rng = np.random.default_rng(4)
    x, noise = rng.integers(0, 31, 600), rng.random(600) < 0.15
    y = np.where((x >= 11) ^ noise, 1, -1)
    learner = WeightedMajority(thresholds(30), conservative=conservative)
    whole = nk.Ledger(learner)
    nk.play(learner, (x[:300], y[:300]), ledger=whole)
    late = nk.play(learner, (x[300:], y[300:]))
    (found,) = late.certify()
    assert found.status == "valid"
    assert late.mistakes <= found.bound
    assert not {"best_mistakes", "a_priori"} & set(found.quantities)  # they count from the first round
    all_of_it = math.log(31 + 1) + learner.facts().fewest * math.log(2) - learner.facts().spread
    assert found.quantities["pathwise"] < all_of_it / shrinkage(0.5)


class Stubborn(WeightedMajority):
    """Broken on purpose: it learns nothing."""

    def play_one(self, x, y):
        return self.predict_one(x)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_a_learner_that_learns_nothing_is_detected(beta):
    x = np.arange(300) % 6
    ledger = nk.play(Stubborn(thresholds(5), beta), (x, np.where(x >= 4, 1, -1)))
    assert ledger.certify()[0].status == "violated"


@pytest.mark.parametrize("beta", [0.5, 0.9, 0.999, 1e-300])
def test_a_million_penalties_lose_nothing(beta):
    penalties = np.array([10**6, 10**6 + 1, 10**6 + 3000, 3 * 10**6])
    learner = WeightedMajority(table([[1, -1], [-1, 1], [1, 1], [-1, -1]]), beta)
    learner = WeightedMajority.restore(learner.state() | {"rounds": 3 * 10**6, "penalties": penalties})
    assert (learner.predict_one(0), learner.predict_one(1)) == ((1, -1) if beta < 0.999 else (1, 1))
    assert learner.survivor().startswith("row 0")
    ledger = nk.play(learner, [(0, 1), (1, -1)] * 50)
    assert learner.facts().fewest == 10**6
    assert all(math.isfinite(v) for v in asdict(learner.facts()).values())
    assert ledger.mistakes <= ledger.certify()[0].bound
    exact = nk.play(WeightedMajority(table([[1], [-1]]), beta), [(0, 1)] * 5000)
    assert exact.mistakes == 0
    assert exact.certify()[0].status == "valid"


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("prior", [None, [3, 1, 4, 1, 5, 9, 2]])
def test_resume_matches_uninterrupted_run(prior, conservative):
    rng = np.random.default_rng(1)
    stream = [(int(x), int(y)) for x, y in zip(rng.integers(0, 6, 200), rng.choice([-1, 1], 200), strict=True)]
    whole = nk.play(WeightedMajority(thresholds(5), 0.9, prior, conservative), stream, record=True)
    first = nk.play(WeightedMajority(thresholds(5), 0.9, prior, conservative), stream[:77], record=True)
    ledger = ledger_state.restore(ledger_state.state_of(first), WeightedMajority.restore(first.learner.state()))
    nk.play(ledger.learner, stream[77:], ledger=ledger)
    assert ledger.recorded().tolist() == whole.recorded().tolist()
    assert ledger.certify() == whole.certify()
    assert ledger.learner.facts() == whole.learner.facts()
    one, two = ledger.learner.state(), whole.learner.state()
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[key], two[key]) for key in ("penalties", "errors", "prior", "rounds", "beta"))
    assert json.loads(json.dumps(asdict(whole.learner.facts()), allow_nan=False)) == asdict(whole.learner.facts())


@pytest.mark.parametrize("change", [{"penalties": np.array([1, 0])}, {"penalties": np.array([1, -1, 0])},
                                    {"penalties": np.array([9, 0, 0])}, {"penalties": np.zeros(3)},
                                    {"errors": np.array([2, 0])}])  # fmt: skip
def test_counts_from_a_file_are_checked(change):
    learner = WeightedMajority(thresholds(1), conservative=True)
    nk.play(learner, [(0, 1), (1, -1)])
    with pytest.raises(
        ModelFileError, match="(penalties|errors) of a learner must (be 3 numbers|be at most 2|not be negative)"
    ):
        WeightedMajority.restore(learner.state() | change)


def test_bad_input_changes_nothing():
    for conservative in (False, True):
        learner = WeightedMajority(thresholds(9), conservative=conservative)
        nk.play(learner, [(3, 1), (8, -1)])
        before = copy.deepcopy(learner.state())
        for x, y in [(10, 1), (-1, 1), (2.5, 1), (math.nan, 1), (None, 1), (3, 0), (3, 2), (3, None), (3, math.nan)]:
            with pytest.raises(InputError):
                learner.learn_one(x, y)
        after = learner.state()
        assert all(np.array_equal(before[key], after[key]) for key in ("penalties", "errors", "rounds"))


@pytest.mark.parametrize("beta", [-0.1, 1, 1.0, 2, math.nan, math.inf, -math.inf, True, False, None, "0.5", 10**400,
                                  1 - Fraction(1, 10**30), 0.5j])  # fmt: skip
def test_an_impossible_beta_is_refused(beta):
    with pytest.raises(InputError, match="beta must be"):
        WeightedMajority(thresholds(3), beta)


@pytest.mark.parametrize("prior", [[1], [1, 0], [1, -1], [1, math.nan], ["a", "b"], [2**62, 2**62], "length"])
def test_an_impossible_prior_is_refused(prior):
    with pytest.raises(InputError):
        WeightedMajority(table([[1], [-1]]), prior=prior)


def test_a_prior_of_fractions_is_exact():
    learner = WeightedMajority(table([[1], [-1], [-1]]), prior=[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    assert learner.whole == 6
    assert learner.predict_one(0) == 1


def test_programs_may_be_weighed_by_their_length():
    hypotheses = programs(bits=10, width=2)
    learner = WeightedMajority(hypotheses, prior="length")
    weights = learner._prior.tolist()
    longest = hypotheses.length(hypotheses.size - 1)
    assert weights == [2 ** (longest - hypotheses.length(i)) for i in range(hypotheses.size)]
    again = WeightedMajority.restore(learner.state())
    assert again.state()["prior"] == "length"
    assert again.facts() == learner.facts()


def test_a_function_without_a_valid_label_has_no_vote_and_errs():
    def broken(x):
        raise ValueError

    learner = WeightedMajority(functions([broken, lambda x: "maybe", lambda x: x > 3, lambda x: -1]))
    assert learner.play_one(2, -1) == -1
    assert learner.penalties.tolist() == [1, 1, 0, 0]
    silent = WeightedMajority(functions([broken, broken]))
    assert nk.play(silent, [(0, -1), (0, 1), (0, -1)]).mistakes == 2  # nobody votes: a tie
    assert silent.facts().best_mistakes == 3


def test_voters_far_below_an_abstaining_one_are_compared():
    """Number 0 is right whenever it is asked before and silent on 0: floats see no weight at all behind the others."""
    hypotheses = functions([lambda x: None if x == 0 else 1, lambda x: -1, lambda x: 1 if x == 0 else -1])
    learner = WeightedMajority(hypotheses)
    nk.play(learner, [(1, 1)] * 1200)
    assert learner.penalties.tolist() == [0, 1200, 1200]
    assert learner.predict_one(0) == 1
    learner.learn_one(0, -1)  # number 2 is one behind number 1 from now on
    assert learner.predict_one(0) == -1


def test_a_tie_where_floats_have_all_but_vanished_is_a_tie():
    """2^-1074, the smallest float, against twice 2^-1075, which is none."""
    silent = lambda x: None if x == 0 else 1
    doubled = lambda x: 1 if x == 0 else -1
    learner = WeightedMajority(functions([silent, lambda x: 1 if x == 2 else -1, doubled, doubled]))
    nk.play(learner, [(1, 1)] * 1074 + [(2, 1)])
    assert learner.penalties.tolist() == [0, 1074, 1075, 1075]
    assert learner.predict_one(0) == 1


@pytest.mark.parametrize(
    ("hypotheses", "x"),
    [
        (thresholds(4), 2),
        (rectangles(3, 2), [1, 1]),
        (halfspaces(1, 2), [1, -2]),
        (halfspaces(2, 2, distinct=True, bias=True), [1, -2]),
        (sphere_cover(3, 0.5), [0.1, 0.2, -0.5]),
        (programs(bits=8, width=2), [1.0, 0.0]),
        (table([[0, 1], [2, 0], [1, 1]]), 1),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_class_can_be_played(hypotheses, x):
    learner = WeightedMajority(hypotheses)
    assert learner.size == hypotheses.size
    ledger = nk.play(learner, [(x, 1)] * 40)
    assert learner.predict_one(x) == 1
    assert ledger.mistakes <= ledger.certify()[0].bound
    assert WeightedMajority.restore(learner.state()).facts() == learner.facts()


def test_classes_of_several_parts_are_summed_whole(monkeypatch):
    stream = [(x, 1 if x >= 40 else -1) for x in (7, 50, 39, 40, 90, 12, 40)] * 3
    whole = nk.play(WeightedMajority(thresholds(99)), stream, record=True)
    monkeypatch.setattr("novikoff.experts.weighted_majority.PART", 7)
    parts = nk.play(WeightedMajority(thresholds(99)), stream, record=True)
    assert parts.recorded().tolist() == whole.recorded().tolist()
    assert parts.certify()[0].bound == whole.certify()[0].bound


def test_a_class_too_large_to_hold_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match=r"1,000,000,000,000,000,002.*smaller class"):
        WeightedMajority(thresholds(10**18))
    with pytest.raises(TooLargeError, match="points to be stored"):
        WeightedMajority(sphere_cover(3, 0.001, method="cube"))
