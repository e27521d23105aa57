"""Weights of the rows of any source: a list, a column and the keys of dicts give the same game."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.core.errors import InputError, NovikoffError, SourceError
from novikoff.core.weights import Balance, rounds_of
from novikoff.integrations.river import NovikoffClassifier


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 2))
    return x, np.where(x[:, 0] > 0.8, "yes", "no"), rng.choice([0.0, 0.3, 1.0, 2.5], 300)


def figures(ledger):
    learner = ledger.learner.within
    return ledger.rounds, ledger.mistakes, ledger.weighted.mistakes, ledger.weighted.rows, learner.weights.tolist()


def records(x, y, **more):
    names = ("a", "b", "label", *more)
    return [dict(zip(names, row, strict=True)) for row in zip(*x.T.tolist(), y.tolist(), *more.values(), strict=True)]


def test_every_form_of_weights_gives_the_same_game(rows):
    x, y, weights = rows
    times = rounds_of(weights)
    want = figures(nk.play("perceptron", (x, y), weights=weights))
    assert want[0] == times.sum() != np.ceil(weights).sum()
    repeated = nk.play("perceptron", (x.repeat(times, 0), y.repeat(times)))
    assert (repeated.rounds, repeated.mistakes, repeated.learner.within.weights.tolist()) == (*want[:2], want[4])
    column = records(x, y, weight=weights.tolist())
    assert figures(nk.play("perceptron", column, label="label", weights="weight")) == want
    assert figures(nk.play("perceptron", records(x, y), label="label", weights=weights)) == want
    game = nk.Game("perceptron:scale=standard,bias=1", labels=("no", "yes"))
    for row, label, weight in zip(x, y.tolist(), weights.tolist(), strict=True):
        game.learn_one(row, label, weight=weight)
    assert figures(game.ledger) == want  # a row of weight 1 or 0 has a coin too: it is that of its number
    model = NovikoffClassifier("perceptron:scale=standard,bias=1")
    for row, label, weight in zip(records(x, y), y.tolist(), weights.tolist(), strict=True):
        model.learn_one({"a": row["a"], "b": row["b"]}, label, w=weight)
    assert model.ledger.rounds == want[0]


def test_label_weights_of_arrays_and_tables_agree(rows):
    x, y, _ = rows
    for by in ({"yes": 2.5}, {"yes": 3, "no": 0.5}, "balanced"):
        arrays = nk.play("perceptron", (x, y), label_weights=by)
        assert figures(nk.play("perceptron", records(x, y), label="label", label_weights=by)) == figures(arrays)
    times = rounds_of(Balance().weights(y == "yes"))
    assert arrays.rounds == times.sum()
    assert arrays.weighted.rows == 300  # no row is left out


def test_weighted_pairs_are_played_row_by_row(rows):
    x, y, weights = rows
    pairs = [({"a": a, "b": b}, 1 if label == "yes" else -1) for (a, b), label in zip(x.tolist(), y, strict=True)]
    found = nk.play(nk.Perceptron(), pairs, weights=weights)
    assert figures(found) == figures(nk.play(nk.Perceptron(), (x, np.where(y == "yes", 1, -1)), weights=weights))


@pytest.mark.parametrize("form", ["arrays", "table"])
def test_weighted_games_resume_with_the_same_coins(rows, form):
    x, y, weights = rows
    source = (x, y) if form == "arrays" else records(x, y)
    options = {"label": "label"} if form == "table" else {}
    options |= {"weights": weights, "label_weights": "balanced"}
    part = nk.play("perceptron", source, rounds=100, **options)
    whole = nk.play(part.learner, source, ledger=part, resume=True, **options)
    assert figures(whole) == figures(nk.play("perceptron", source, **options))


def test_hindsight_sees_weighted_rows(rows):
    x, y, weights = rows
    found = nk.play("perceptron", (x, y), weights=weights, hindsight=True)
    assert found.certify()[0].status == "valid"
    assert found.certify()[0].bound <= nk.play("perceptron", (x, y), weights=weights).certify()[0].bound


def test_bounds_for_independent_draws_are_void_with_fractional_weights(rows, tmp_path):
    x, y, _ = rows
    lines = [f"{a},{b},0.5,{label}" for (a, b), label in zip(x.tolist(), y, strict=True)]
    (tmp_path / "w.csv").write_text("\n".join(["a,b,w,label", *lines]))
    stream = nk.read(str(tmp_path / "w.csv"), weight="w")
    kept = nk.finalize(nk.play("perceptron", stream, candidates=20), "best", stream=stream)
    assert {one.status for one in kept.certificates} == {"void"}  # the rows that were left out may differ


def test_wrong_weights_are_refused(rows):
    x, y, weights = rows
    with pytest.raises(InputError, match="for 300 rows"):
        nk.play("perceptron", (x, y), weights=weights[:-1])
    with pytest.raises(InputError, match="must be one of a table"):
        nk.play("perceptron", (x, y), weights="w")
    with pytest.raises(SourceError, match="for classification"):
        nk.play("vaw", (x, x[:, 0]), label_weights="balanced")
    with pytest.raises(InputError, match="an adversary has none"):
        nk.play("ellipsoid", PlaneBisection(), rounds=3, weights=[1.0])
    with pytest.raises(NovikoffError, match="label weights must be a dict"):
        nk.play("perceptron", (x, y), label_weights="balance")
