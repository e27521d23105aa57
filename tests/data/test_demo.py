from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data.demo import DEMOS, TASTY, THRESHOLD, demo, integers, table
from novikoff.data.reader import read
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.play import play


def all_of(stream):
    batches = list(stream.batches())
    return np.concatenate([b.x for b in batches]), np.concatenate([b.y for b in batches])


def test_papayas_are_tasty_exactly_inside_the_rectangle():
    stream = demo("papayas")
    x, y = all_of(stream)
    assert stream.domain == Domain("point", 2)
    assert stream.labels == Labels("not tasty", "tasty")
    assert stream.features == ("colour", "softness")
    assert x.shape == (2000, 2)
    assert (x.min(), x.max()) == (0, 100)
    (left, right), (low, high) = TASTY
    inside = [left <= colour <= right and low <= softness <= high for colour, softness in x.tolist()]
    assert (y == 1).tolist() == inside
    assert 0.2 < np.mean(inside) < 0.5


def test_thresholds_are_a_million_numbers_with_a_hidden_threshold():
    stream = demo("thresholds")
    x, y = all_of(stream)
    assert stream.domain == Domain("index", 1_000_001)
    assert x.shape == (1_000_000,)
    assert x.min() >= 0
    assert x.max() <= 1_000_000
    assert np.array_equal(y == 1, x >= THRESHOLD)
    assert y.dtype == np.int8
    assert len(np.unique(x // 1000)) >= 1000  # spread over all of the grid


def test_the_threshold_is_learned_with_the_mistakes_the_theorem_allows():
    ledger = play(ThresholdHalving(1_000_000), demo("thresholds"))
    assert ledger.rounds == 1_000_000
    assert ledger.mistakes <= 19
    assert all(certificate.holds for certificate in ledger.certify() if certificate.theorem == "halving_mistakes")


def test_demo_program_has_the_documented_target():
    stream = demo("program")
    x, y = all_of(stream)
    assert stream.domain == Domain("point", 4)
    assert stream.features == ("x0", "x1", "x2", "x3")
    assert x.shape == (10_000, 4)
    assert set(np.unique(x)) == {0, 1, 2}
    assert (y == 1).tolist() == [x[0] < x[2] and not x[1] for x in x.tolist()]
    assert len(np.unique(x, axis=0)) == 81


def test_it_snows_exactly_where_a_linear_rule_of_temperature_and_humidity_says_so():
    stream = demo("snow")
    x, y = all_of(stream)
    assert stream.labels == Labels("no snow", "snow")
    assert stream.features == ("temperature (°C)", "humidity (%)", "wind (km/h)")
    assert x.shape == (3650, 3)
    assert (y == 1).tolist() == [humidity >= 70 + 5 * temperature for temperature, humidity, _ in x.tolist()]
    assert (x[:, 1].min(), x[:, 1].max()) == (40, 100)
    assert 0.1 < np.mean(y == 1) < 0.4
    january, july = (x[:, 0][np.arange(3650) % 365 // 31 == month].mean() for month in (0, 6))
    assert january < 0 < 15 < july
    (bound,) = [one for one in play(nk.Perceptron(bias=1.0), stream).certify() if one.theorem == "perceptron_margin"]
    assert bound.status in ("valid", "vacuous")  # a linear classifier separates all days


def test_setosa_is_exactly_petal_length_below_sepal_width():
    stream = demo("iris")
    x, y = all_of(stream)
    assert stream.features == ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)")
    assert stream.labels == Labels("not setosa", "setosa")
    assert stream.domain == Domain("vector", 4)
    assert np.array_equal(y == 1, x[:, 2] < x[:, 1])
    assert np.count_nonzero(y == 1) == 50
    assert len(set(y[:20].tolist())) == 2  # shuffled: the table has all setosas first


def test_breast_cancer_is_malignant_against_benign():
    stream = demo("breast-cancer")
    x, y = all_of(stream)
    assert stream.labels == Labels("benign", "malignant")
    assert x.shape == (569, 30)
    assert np.count_nonzero(y == 1) == 212
    assert stream.features[0] == "mean radius"
    assert all(type(name) is str for name in stream.features)


def test_digits_are_even_against_odd():
    stream = demo("digits-even")
    x, y = all_of(stream)
    assert stream.labels == Labels("odd", "even")
    assert stream.domain == Domain("point", 64)
    _, pixels, digit = table("digits")
    even = {row.tobytes(): int(d) % 2 == 0 for row, d in zip(pixels.astype(np.int64), digit, strict=True)}
    assert (y == 1).tolist() == [even[row.tobytes()] for row in x]


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris"])
def test_real_tables_equal_those_of_scikit_learn(name):
    datasets = pytest.importorskip("sklearn.datasets")
    features, x, labels = table(name)
    theirs = getattr(datasets, f"load_{name}")()
    assert features == list(theirs.feature_names)
    assert np.array_equal(x, theirs.data)
    assert labels.tolist() == theirs.target_names[theirs.target].astype(str).tolist()


@pytest.mark.parametrize("name", DEMOS)
def test_every_demo_is_the_same_each_time_and_when_read_again(name):
    stream, other = demo(name), read(f"demo:{name}")
    assert stream.name == other.name == f"demo:{name}"
    assert stream.rereadable
    assert DEMOS[name].__doc__
    for one, two in zip((*all_of(stream), *all_of(stream)), (*all_of(other), *all_of(other)), strict=True):
        assert one.tobytes() == two.tobytes()
    assert stream.rows == len(stream) == len(all_of(stream)[1])
    assert stream.domain.kind == "index" or len(stream.features) == stream.domain.width


@pytest.mark.parametrize("name", ["papayas", "thresholds", "program"])
def test_generated_demos_are_the_same_on_every_machine(name):
    golden = {
        "papayas": "b5bf24fc493b95c8",
        "thresholds": "4dea2378779bf249",
        "program": "4a83d17378bb760f",
    }
    x, y = all_of(demo(name))
    assert hashlib.sha256(x.astype("<i8").tobytes() + y.tobytes()).hexdigest()[:16] == golden[name]


def test_integers_reach_every_value_and_no_other():
    assert set(integers(1000, 7, seed=0).tolist()) == set(range(7))
    assert integers(5, 1, seed=0).tolist() == [0] * 5


def test_unknown_demo_error_lists_the_demos():
    for ask in (lambda: demo("papaya"), lambda: read("demo:papaya")):
        with pytest.raises(SourceError, match="papayas, thresholds, program, iris, .*: got 'papaya'"):
            ask()


def test_a_demo_takes_no_options_but_those_left_open():
    assert read("demo:iris", label=None, positive=None).rows == 150
    with pytest.raises(SourceError, match="a demo takes no options: got label, positive"):
        read("demo:iris", label="x", positive=1, header=None)


def test_demos_import_neither_scikit_learn_nor_pyarrow_nor_numba():
    code = (
        "import sys; from novikoff.data import demo, reader; [reader.read(f'demo:{name}') for name in demo.DEMOS];"
        "print({'sklearn', 'pyarrow', 'numba'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"
