"""Kernels are imported at their first use, and by name."""

import subprocess
import sys

import pytest

from novikoff import kernels

LEARNERS = """
import importlib, pkgutil, sys
import novikoff.learners
for module in pkgutil.iter_modules(novikoff.learners.__path__):
    importlib.import_module(f"novikoff.learners.{module.name}")
from novikoff import ExponentialWeights, FixedShare, Forgetron, KernelPerceptron, Perceptron, SleepingExperts
experts = ExponentialWeights(3), FixedShare(3, 1, 9), SleepingExperts(3)
for learner in (Forgetron(), KernelPerceptron(), Perceptron(), *experts):
    learner.state()
assert Forgetron().predict_one([1.0]) == 1
assert not {"numba", "llvmlite"} & set(sys.modules), "numba takes its time"
from novikoff import kernels
assert kernels.coins.MASK and "numba" not in sys.modules
assert kernels.forgetron.SHARE and "numba" in sys.modules
"""


def test_learners_are_made_saved_and_asked_without_numba():
    done = subprocess.run([sys.executable, "-c", LEARNERS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_kernel_that_does_not_exist_is_no_attribute():
    with pytest.raises(AttributeError, match="nothing"):
        kernels.nothing  # noqa: B018
    assert not hasattr(kernels, "nothing")
    assert kernels.forgetron is sys.modules["novikoff.kernels.forgetron"]
