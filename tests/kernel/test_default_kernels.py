"""Budget learners are linear, as in lecture notes, unless a kernel or a parameter of one is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import novikoff as nk

KINDS = (nk.RandomizedBudgetPerceptron, nk.Forgetron, nk.CrammerKandolaSinger, nk.TighterPerceptron)
NAMES = ("rbp", "forgetron", "cks", "tighter")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, "linear"),
        ({"gamma": 2.0}, "rbf"),
        ({"degree": 3}, "polynomial"),
        ({"constant": 0.5}, "polynomial"),
        ({"kernel": "rbf"}, "rbf"),
        ({"kernel": "polynomial"}, "polynomial"),
    ],
)
def test_named_parameters_name_the_kernel(kind: Any, given: dict[str, Any], found: str) -> None:
    given = {**given, "radius": 9.0} if kind is nk.Forgetron and found == "polynomial" else given
    kernel = kind(budget=5, **given).similarity
    assert kernel.kind == found
    assert kernel.gamma == (given.get("gamma", 1.0) if found == "rbf" else 0.0)
    assert kernel.degree == (given.get("degree", 2) if found == "polynomial" else 1)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_removal_the_default_is_the_perceptron(name: str) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(80, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.where(x @ [1.0, -2.0, 0.5] > 0, 1, -1)
    ours = nk.play(nk.make(f"{name}:budget=80", "learner"), (x, y), record=True)
    perceptron = nk.play(nk.Perceptron(), (x, y), record=True)
    assert ours.recorded().tolist() == perceptron.recorded().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_spec_as_in_the_notes_neither_scales_nor_adds_a_bias(name: str) -> None:
    ledger = nk.play(f"{name}:budget=20,scale=none", "demo:iris")
    kernel = ledger.learner.similarity  # type: ignore[attr-defined]
    assert (kernel.kind, kernel.bias) == ("linear", 0.0)
    assert not ledger.player.changes_examples
    plain = nk.play("perceptron:scale=none,bias=0", "demo:iris")
    assert not plain.player.changes_examples
    assert plain.learner.bias == 0.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_saved_learner_keeps_its_kernel(kind: Any, kernel: str, tmp_path: Any) -> None:
    more = {"radius": 5.0} if kind is nk.Forgetron and kernel == "linear" else {}
    rows = [(np.array([1.0, 0.5 * k]), 1 if k % 3 else -1) for k in range(12)]
    ledger = nk.play(kind(4, kernel, **more), rows)
    nk.save(ledger, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk").learner
    assert again.similarity == ledger.learner.similarity  # type: ignore[attr-defined]
    assert again.similarity.kind == kernel
    assert [again.predict_one(x) for x, _ in rows] == [ledger.learner.predict_one(x) for x, _ in rows]


def test_forgetron_without_kernel_and_radius_divides_examples_by_their_length() -> None:
    assert nk.Forgetron(5).similarity.normalized
    assert nk.Forgetron(5).radius2 == 1.0
    assert not nk.Forgetron(5, radius=2.0).similarity.normalized
    with pytest.raises(nk.NovikoffError, match="a linear kernel needs a radius"):
        nk.Forgetron(5, "linear")
