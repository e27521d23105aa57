"""Tables that get new columns at their end: the same game as if these had been 0 from the first row on."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Labels
from novikoff.game.specs import make

CUTS = [(0, 100, 3), (100, 170, 4), (170, 300, 5)]
LEARNERS = ["perceptron:bias=1", "kernel-perceptron:gamma=0.5", "rbp:budget=20", "forgetron:budget=20",
            "cks:budget=9", "tighter:budget=9", "hedge:learners=[perceptron,[rbp:budget=9]]"]  # fmt: skip


class Growing(Stream):
    """Rows of 3, then 4, then 5 columns; or, `whole`, of 5 from the start."""

    rereadable = table = True

    def __init__(self, whole, numbers=False):
        rng = np.random.default_rng(0)
        self.name, self.labels, self.domain = "growing", None if numbers else Labels(), Domain("vector")
        self.outcomes = "numbers" if numbers else "labels"
        self._x = rng.normal(size=(300, 5)) * [1, 10, 100, 1, 3]
        for start, stop, width in CUTS:
            self._x[start:stop, width:] = 0.0
        says = self._x @ [1, -0.1, 0.01, 2, 1] + 0.3 * rng.normal(size=300)
        self._y = np.clip(says / 9, -1, 1) if numbers else np.where(says > 0, 1, -1).astype(np.int8)
        self._whole = whole

    def batches(self, start=None):
        begin = start["row"] if start else 0
        for first, stop, width in CUTS:
            if first >= begin:
                x = self._x[first:stop, : 5 if self._whole else width].copy()
                yield Batch(x, self._y[first:stop], first + 1, {"row": stop})


def both(spec, **options):
    numbers = spec.startswith("online-gradient")
    return [nk.play(make(spec, "learner"), Growing(whole, numbers), record=True, **options) for whole in (False, True)]


@pytest.mark.parametrize("scale", ["none", "standard", "range"])
@pytest.mark.parametrize("spec", LEARNERS)
def test_new_columns_were_zero_before(spec, scale):
    grown, whole = both(f"{spec},scale={scale}")
    assert grown.recorded().tolist() == whole.recorded().tolist()
    assert [(c.theorem, c.status, c.bound) for c in grown.certify()] == [
        (c.theorem, c.status, c.bound) for c in whole.certify()
    ]


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_new_columns_of_a_regression_were_zero_before(scale):
    grown, whole = both(f"online-gradient:normalize=true,scale={scale}")
    assert grown.loss == whole.loss
    assert grown.certify() == whole.certify()


@pytest.mark.parametrize("spec", LEARNERS)
def test_a_game_on_a_table_that_grew_is_saved_and_resumes(spec, tmp_path):
    ledger = nk.play(make(f"{spec},scale=standard", "learner"), Growing(False), rounds=170, record=True)
    nk.save(ledger, tmp_path / "game.nk")
    again = nk.load(tmp_path / "game.nk")
    nk.play(again.learner, Growing(False), ledger=again, resume=True)
    assert again.recorded().tolist() == both(f"{spec},scale=standard")[0].recorded().tolist()


@pytest.mark.parametrize("spec", ["ellipsoid", "ellipsoid:scale=range"])
def test_a_learner_of_a_fixed_width_suggests_a_fix(spec):
    with pytest.raises(
        InputError, match=r"Ellipsoid needs all columns in the first rows: it has 3 features, and now there"
    ):
        nk.play(make(spec, "learner"), Growing(False))


@pytest.mark.parametrize("make_it", [nk.Perceptron, nk.KernelPerceptron, lambda: nk.Scaled(nk.Perceptron())])
@pytest.mark.parametrize("width", [2, 4])
def test_arrays_of_another_width_are_a_mistake_of_the_caller(make_it, width):
    learner = make_it()
    nk.play(learner, (np.eye(3), [1, -1, 1]))
    with pytest.raises(InputError, match="3"):
        nk.play(learner, (np.eye(width), [1, -1, 1, 1][:width]))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_hindsight_sees_new_columns(scale):
    grown, whole = both(f"perceptron:bias=1,scale={scale}", hindsight=True)
    assert grown.hindsight.facts.invalid_reason == ""
    assert grown.hindsight.hinge.low <= grown.hindsight.hinge.high
    assert grown.hindsight.hinge.high == pytest.approx(whole.hindsight.hinge.high, rel=0.02)
