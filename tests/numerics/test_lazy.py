"""Kernels are imported at their first use, and by name."""

import subprocess
import sys

import pytest

from novikoff import numerics
from novikoff.kernel import _loops as kernel_loops

LEARNERS = """
import sys
from novikoff.core.registry import CATALOG, MANY
for one in (*CATALOG.values(), *MANY.values()):
    if one.room == "learner":
        one.load()
from novikoff import ExponentialWeights, FixedShare, Forgetron, KernelPerceptron, Perceptron, SleepingExperts
experts = ExponentialWeights(3), FixedShare(3, 1, 9), SleepingExperts(3)
for learner in (Forgetron(), KernelPerceptron(), Perceptron(), *experts):
    learner.state()
assert Forgetron().predict_one([1.0]) == 1
assert not {"numba", "llvmlite"} & set(sys.modules), "numba takes its time"
from novikoff import numerics
from novikoff.kernel import _loops as kernel_loops
assert numerics.coins.MASK and "numba" not in sys.modules
assert kernel_loops.forgetron.SHARE and "numba" in sys.modules
"""


def test_learners_are_created_saved_and_queried_without_numba():
    done = subprocess.run([sys.executable, "-c", LEARNERS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_kernel_that_does_not_exist_is_no_attribute():
    with pytest.raises(AttributeError, match="nothing"):
        numerics.nothing  # noqa: B018
    assert not hasattr(numerics, "nothing")
    assert kernel_loops.forgetron is sys.modules["novikoff.kernel._loops.forgetron"]
