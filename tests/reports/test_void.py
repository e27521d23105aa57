"""Certificates that are void: the text says what is known, and not its opposite."""

import dataclasses

import numpy as np
import pytest

import novikoff as nk
from novikoff.reports import plain
from novikoff.reports.sentences import capital, sentence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = np.where(RNG.random(100) < 0.5, 1, -1)
NONE = "no comparator tried separates the labels"


def void(learner, source=(X, Y)):
    return [certificate for certificate in nk.play(learner, source).certify() if certificate.status == "void"]


@pytest.mark.parametrize("learner", [nk.Perceptron, lambda: nk.Ellipsoid(width=3), nk.KernelPerceptron])
def test_unsuccessful_search_does_not_claim_inseparability(learner):
    (certificate,) = void(learner())
    assert certificate.reason == f"{NONE}; another one may"
    assert sentence(certificate).startswith(capital(certificate.reason) + ".")
    assert "does not apply" not in sentence(certificate)


@pytest.mark.parametrize(
    ("learner", "needs"),
    [
        (nk.Ellipsoid(width=1, margin=0.9), " with a normalised margin above 0.9"),
        (nk.Ellipsoid(width=1, grid=1), " with the margin of a target on the grid of 1"),
    ],
)
def test_a_margin_that_no_comparator_has_is_named(learner, needs):
    x = np.array([[1.0], [1.0]])
    found = nk.play(learner, (x, [1, -1])).certify()
    (certificate,) = (one for one in found if needs.split()[-1] in one.reason)
    assert certificate.reason == f"{NONE}{needs}; another one may"


def test_an_assumption_that_failed_is_not_read_as_true():
    certificate = dataclasses.replace(
        nk.play(nk.Perceptron(), (X, Y)).certify()[0],
        status="void", bound=None, reason="assumption failed: the stream was fixed in advance",
    )  # fmt: skip
    assert "An assumption failed: the stream was fixed in advance." in sentence(certificate)


def test_any_other_reason_is_given_as_it_is():
    certificate = dataclasses.replace(
        nk.play(nk.Perceptron(), (X, Y)).certify()[0], status="void", bound=None, reason="warm start"
    )
    assert sentence(certificate).startswith("Warm start.")


@pytest.mark.parametrize("learner", [nk.Perceptron, lambda: nk.Ellipsoid(width=3), nk.KernelPerceptron])
def test_json_names_the_failed_assumption_and_does_not_assert_it(learner):
    (certificate,) = void(learner())
    failed = [one["claim"] for one in plain.certificate(certificate)["assumptions"] if one["standing"] == "refuted"]
    assert all(claim.startswith("separation of the labels by one of the comparators") for claim in failed)
    assert not any("separates" in one["claim"] for one in plain.certificate(certificate)["assumptions"])
