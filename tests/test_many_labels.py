"""Labels of any kind and number: the same names and commands, whatever the source; new ones may come late."""

import numpy as np
import pytest

import novikoff as nk
from nearest_mean import NearestMean, NearestMeans
from novikoff import registry
from novikoff.catalog import make
from novikoff.learners.nesting import restored, saved


@pytest.fixture(autouse=True)
def nearest_mean(monkeypatch):
    """Known by one name, for two labels and for many."""
    monkeypatch.setattr(registry, "_registered", {room: {} for room in registry.GROUPS})
    monkeypatch.setattr(registry, "_registered_many", {})
    nk.register("nearest-mean", NearestMean, many=NearestMeans)


def test_a_name_has_a_class_for_two_labels_and_one_for_many():
    two, many = (make("nearest-mean", "learner", domain=nk.Domain("vector", 3), many=many) for many in (False, True))
    assert (type(two), type(many)) == (NearestMean, NearestMeans)
    assert registry.with_many()[-1] == "nearest-mean"


def test_a_model_file_tells_the_two_classes_of_a_name_apart():
    for learner in (NearestMean(2), NearestMeans(2)):
        learner.learn_one([1.0, 2.0], 1 if learner.labels is None else 0)
        again = restored(saved(learner))
        assert type(again) is type(learner)
        assert np.array_equal(again.sums, learner.sums)
