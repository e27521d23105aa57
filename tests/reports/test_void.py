"""Certificates that are void: the text says what is known, and not its opposite."""

import dataclasses
from functools import partial

import numpy as np
import pytest

import novikoff as nk
from novikoff.reports import plain
from novikoff.reports.sentences import capital, sentence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = np.where(RNG.random(100) < 0.5, 1, -1)
LINEAR = partial(nk.KernelPerceptron, kernel="linear")
NONE = "no comparator tried separates the labels"


def void(learner, source=(X, Y)):
    return [certificate for certificate in nk.play(learner, source).certify() if certificate.status == "void"]


@pytest.mark.parametrize("learner", [nk.Perceptron, lambda: nk.Ellipsoid(width=3), LINEAR])
def test_inseparable_labels_are_proved_so(learner):
    (certificate,) = void(learner())
    assert certificate.reason.startswith("nothing separates the labels with a positive margin: ")
    assert sentence(certificate).startswith(capital(certificate.reason) + ".")
    assert "does not apply" not in sentence(certificate)


@pytest.mark.parametrize(
    ("learner", "needs"),
    [
        (nk.Ellipsoid(width=2, margin=0.9), " with a normalised margin above 0.9"),
        (nk.Ellipsoid(width=2, grid=1), " with the margin of a target on the grid of 1"),
    ],
)
def test_a_margin_that_no_comparator_has_is_named(learner, needs):
    x = np.array([[1.0, 0.1], [1.0, -0.1]])
    found = nk.play(learner, (x, [1, -1])).certify()
    (certificate,) = (one for one in found if needs.split()[-1] in one.reason)
    assert certificate.reason == f"{NONE}{needs}; another one may"


def test_a_conflict_is_shown_with_its_rounds():
    (certificate,) = void(nk.Perceptron(), (np.array([[2.0], [1.0], [3.0]]), [1, 1, -1]))
    shown = "rounds 2 and 3 have examples of the same direction with opposite labels; a bias may change that"
    assert certificate.reason == f"nothing separates the labels with a positive margin: {shown}"
    assert plain.certificate(certificate)["quantities"]["inseparable"]["rows"] == [2, 3]


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


@pytest.mark.parametrize("learner", [nk.Perceptron, lambda: nk.Ellipsoid(width=3), LINEAR])
def test_json_names_the_failed_assumption_and_does_not_assert_it(learner):
    (certificate,) = void(learner())
    failed = [one["claim"] for one in plain.certificate(certificate)["assumptions"] if one["standing"] == "refuted"]
    assert all(claim.startswith("separation of the labels by one of the comparators") for claim in failed)
    assert not any("separates" in one["claim"] for one in plain.certificate(certificate)["assumptions"])
