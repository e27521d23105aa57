"""Bisection over the reals: a mistake in every round, and a threshold that fits them all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.bisection import Bisection
from novikoff.adversaries.theorems.bisection_forced import BisectionFacts, bisection_forced, witness_text
from novikoff.finite.classes.predicate import Functions
from novikoff.finite.constant import Constant
from novikoff.finite.midpoint import Midpoint

CASES = {
    "bisection_forced": cases.of_adversary(Bisection, nk.Midpoint, 20),
}
"""Cases for tests/test_every_theorem.py."""

LABELS = st.sampled_from([-1, 1])


def never(x):
    raise AssertionError("this adversary needs no probe")


def transcript(adversary, said):
    """The (x, y) that the adversary shows to someone who says these."""
    shown = []
    for prediction in said:
        x = adversary.ask(never)
        shown.append((x, adversary.answer({prediction: 1.0})))
    return shown


def threshold(theta, x):
    return 1 if x >= theta else -1


@given(st.lists(LABELS, max_size=80), st.booleans())
def test_the_witness_fits_every_answer_for_any_predictions(said, exact):
    adversary = Bisection(exact=exact)
    for x, y in transcript(adversary, said):
        assert threshold(adversary.witness(), x) == y
    assert 0 < adversary.witness() <= 1


@given(st.lists(LABELS, max_size=80))
def test_every_answer_contradicts_the_prediction_and_every_x_is_new(said):
    shown = transcript(Bisection(), said)
    assert [y for _, y in shown] == [-prediction for prediction in said]
    assert len({x for x, _ in shown}) == len(said)
    assert all(type(x) is Fraction and 0 < x < 1 for x, _ in shown)


@given(st.lists(st.floats(0.0, 1.0), max_size=40))
def test_likelier_label_is_contradicted_and_ties_count_as_plus_one(chances):
    adversary = Bisection()
    for chance in chances:
        x = adversary.ask(never)
        y = adversary.answer({1: chance, -1: 1.0 - chance})
        assert y == (-1 if chance >= 1.0 - chance else 1)
        assert threshold(adversary.witness(), x) == y


def test_querying_twice_gives_the_same_x():
    adversary = Bisection()
    assert adversary.ask(never) == adversary.ask(never) == Fraction(1, 2)
    adversary.answer({1: 1.0})
    assert adversary.ask(never) == Fraction(3, 4)


def test_the_first_rounds_by_hand():
    assert transcript(Bisection(), [1, -1, 1]) == [(Fraction(1, 2), -1), (Fraction(3, 4), 1), (Fraction(5, 8), -1)]


@pytest.mark.parametrize("learner", [Midpoint(), Constant(1), Constant(-1)], ids=["midpoint", "plus", "minus"])
def test_ten_thousand_rounds_are_ten_thousand_mistakes(learner):
    adversary = Bisection()
    ledger = nk.play(learner, adversary, rounds=10_000)
    assert ledger.mistakes == 10_000
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert (certificate.side, certificate.kind, certificate.bound, certificate.observed) == (
        "lower",
        "D",
        10_000,
        10_000,
    )
    assert len(certificate.quantities["witness"]) < 40


def test_ten_thousand_rounds_against_a_learner_that_predicts_both_labels():
    adversary = Bisection()
    bits = format(3**6400, "b")[:10_000]
    shown = transcript(adversary, [1 if bit == "1" else -1 for bit in bits])
    theta = adversary.witness()
    assert all(threshold(theta, x) == y for x, y in shown[::37])
    assert witness_text(adversary.facts()) == "theta = a number of 10,001 bits"


@pytest.mark.parametrize(("label", "forced"), [(1, 53), (-1, 1074)])
def test_doubles_die_after_53_rounds_upwards_and_1074_downwards(label, forced):
    adversary = Bisection(exact=False)
    ledger = nk.play(Constant(label), adversary, rounds=1200)
    assert adversary.exhausted_at == forced + 1
    (certificate,) = ledger.certify()
    assert certificate.bound == certificate.quantities["forced"] == forced
    assert certificate.quantities["exhausted_at"] == forced + 1
    assert certificate.status == "valid"
    assert certificate.observed >= forced


@given(st.lists(LABELS, min_size=80, max_size=120))
def test_in_doubles_the_forced_rounds_are_those_before_exhaustion(said):
    adversary = Bisection(exact=False)
    shown = transcript(adversary, said)
    last = adversary.exhausted_at - 1 if adversary.exhausted_at else len(said)
    assert last >= 53
    assert [y for _, y in shown[:last]] == [-prediction for prediction in said[:last]]
    theta = adversary.witness()
    assert all(threshold(theta, x) == y for x, y in shown)


def test_after_exhaustion_the_answers_do_not_depend_on_the_predictions():
    kind, cruel = Bisection(exact=False), Bisection(exact=False)
    transcript(kind, [1] * 53)
    transcript(cruel, [1] * 53)
    assert transcript(kind, [1] * 20) == transcript(cruel, [-1] * 20)


def test_rounds_before_the_ledger_was_opened_are_not_counted():
    adversary = Bisection(exact=False)
    transcript(adversary, [1] * 50)
    (certificate,) = nk.play(Constant(1), adversary, rounds=10).certify()
    assert certificate.bound == 3
    (certificate,) = nk.play(Constant(1), adversary, rounds=10).certify()
    assert (certificate.bound, certificate.status) == (0, "vacuous")


def test_the_certificate_is_void_for_a_learner_that_draws():
    learner = nk.Consistent(Functions([lambda x: x >= 0.3, lambda x: x >= 0.6]), random=True)
    (certificate,) = [c for c in nk.play(learner, Bisection(), rounds=5).certify() if c.side == "lower"]
    assert certificate.status == "void"
    assert certificate.bound is None
    assert certificate.reason == "assumption failed: the learner is deterministic"


def test_one_mistake_too_few_is_a_violation():
    before, after = BisectionFacts(0, 0, Fraction(1)), BisectionFacts(9, 0, Fraction(1, 3))
    run = nk.Run(before, after, rounds=9, mistakes=8, expected=8.0, constants=(4, 5), adaptive=True, deterministic=True)
    assert bisection_forced(run).status == "violated"


def test_no_rounds_force_nothing():
    (certificate,) = nk.play(Midpoint(), Bisection(), rounds=0).certify()
    assert (certificate.bound, certificate.status) == (0, "vacuous")


def test_a_short_witness_is_reported_in_full():
    (certificate,) = nk.play(Constant(1), Bisection(), rounds=3).certify()
    assert certificate.quantities["witness"] == "theta = 1"
    (certificate,) = nk.play(Constant(-1), Bisection(), rounds=3).certify()
    assert certificate.quantities["witness"] == "theta = 1/8"


def test_interval_that_was_never_exhausted_is_not_reported():
    (certificate,) = nk.play(nk.Constant(1), Bisection(exact=False), rounds=53).certify()
    assert set(certificate.quantities) == {"forced", "witness"}
    (certificate,) = nk.play(nk.Constant(1), Bisection(exact=False), rounds=54).certify()
    assert certificate.quantities["exhausted_at"] == 54


@pytest.mark.parametrize("width", [1, 3])
@given(st.lists(LABELS, min_size=1, max_size=40))
def test_on_vectors_every_prediction_is_wrong_and_a_halfspace_has_all_labels(width, predictions):
    adversary = Bisection(domain=nk.Domain("vector", width))
    shown = transcript(adversary, predictions)
    assert all(len(x) == width and not any(x[1:]) for x, _ in shown)
    assert [y for _, y in shown] == [-label for label in predictions]
    theta = adversary.witness()
    assert all((1 if x[0] - theta >= 0 else -1) == y for x, y in shown)  # weights (1, 0, ..), bias -theta


@given(st.integers(1, 5000), st.lists(LABELS, min_size=30, max_size=30))
def test_on_a_grid_it_forces_at_least_the_logarithm_and_stays_consistent(n, predictions):
    adversary = Bisection(domain=nk.Domain("index", n + 1))
    shown = transcript(adversary, predictions)
    forced = sum(y != label for (_, y), label in zip(shown[: adversary.exhausted_at - 1], predictions, strict=False))
    assert forced == adversary.exhausted_at - 1 >= (n + 2).bit_length() - 1
    assert all(0 <= x <= n and (1 if x >= adversary.witness() else -1) == y for x, y in shown)


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "kernel-perceptron", "ftrl", "arow", "linear-mixture"])
def test_any_learner_on_vectors_errs_in_every_round(spec):
    learner = nk.make(spec)
    ledger = nk.play(learner, Bisection(domain=learner.domain), rounds=40)
    assert ledger.mistakes == 40
    (forced,) = [one for one in ledger.certify() if one.theorem == "bisection_forced"]
    assert (forced.bound, forced.status) == (40, "valid")


def test_halving_on_a_grid_meets_its_bound():
    learner = nk.make("halving:[thresholds:n=1000]")
    ledger = nk.play(learner, Bisection(domain=learner.domain), rounds=30)
    assert {one.bound for one in ledger.certify()} == {ledger.mistakes} == {9}
