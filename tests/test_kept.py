"""A classifier kept from a game: which it is, what limits its risk, and its file."""

import numpy as np
import pytest
from scipy import sparse

import novikoff as nk
from novikoff.errors import InputError, ModelFileError
from novikoff.kept import HOWS, keep
from novikoff.risk import clopper_pearson


def data(rows=600, seed=0, width=5, noise=0.3):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, width)), 3) * (rng.random((rows, width)) < 0.8)
    return x, np.where(x[:, 0] - 0.5 * x[:, 1] + noise * rng.normal(size=rows) > 0, 1, -1)


def loop(x, y, bias=1.0):
    """Every hypothesis w_0 .. w_n of a Perceptron, and its mistakes."""
    rows = np.c_[x, np.full(len(x), bias)]
    w, all_w, wrong = np.zeros(rows.shape[1]), [], []
    for row, label in zip(rows, y, strict=True):
        all_w.append(w)
        wrong.append((1 if w @ row >= 0 else -1) != label)
        if wrong[-1]:
            w = w + label * row
    return np.array([*all_w, w]), np.array(wrong), rows


MAKERS = {
    "perceptron": lambda: nk.Perceptron(bias=1.0),
    "ellipsoid": lambda: nk.Ellipsoid(),
    "kernel": lambda: nk.KernelPerceptron(gamma=0.5),
    "rbp": lambda: nk.RandomizedBudgetPerceptron(30, gamma=0.5),
    "forgetron": lambda: nk.Forgetron(30, gamma=0.5),
    "tighter": lambda: nk.TighterPerceptron(10, gamma=0.5),
}


def test_the_best_is_the_candidate_with_the_least_limit():
    x, y = data()
    stream = nk.Arrays(x, y)
    ledger = nk.play(nk.Perceptron(bias=1.0), stream, keep=20)
    kept = keep(ledger, "best", delta=0.1, stream=stream)
    hypotheses, _, rows = loop(x, y)
    limits = {}
    for first in ledger.keeping.indices():
        said = np.where(rows[first:] @ hypotheses[first] >= 0, 1, -1)
        errors = int(np.count_nonzero(said != y[first:]))
        limits[first] = clopper_pearson(errors, len(y) - first, 0.1 / len(y))
    assert kept.index == min(limits, key=limits.get)
    assert kept.certificate.bound == pytest.approx(limits[kept.index], rel=1e-9)
    assert kept.certificate.kind == "P"
    assert kept.certificate.status == "conditional"
    np.testing.assert_allclose(
        np.append(kept.classifier.weights, kept.classifier.bias_weight), hypotheses[kept.index], rtol=1e-12
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_vote_is_that_of_every_hypothesis_as_often_as_it_predicted(form, normalize):
    x, y = data(200)
    new, _ = data(150, seed=1)
    learner = nk.Perceptron(bias=1.0, normalize=normalize)
    stream = nk.Arrays(x, y) if form is np.asarray else nk.SparseMatrix(form(x), y)
    kept = keep(nk.play(learner, stream, keep=5), "voted", stream=stream)
    votes, again = np.zeros(len(new)), nk.Perceptron(bias=1.0, normalize=normalize)
    for row, label in zip(x, y.tolist(), strict=True):
        votes += [again.predict_one(one) for one in new]
        again.learn_one(row, label)
    wanted = np.where(votes >= 0, 1, -1)
    said = [kept.predict_one(row if form is np.asarray else _pair(row)) for row in new]
    assert said == wanted.tolist()
    assert kept.classifier.size == learner.updates + 1


def _pair(row):
    places = np.flatnonzero(row)
    return places.astype(np.uint32), row[places]


def test_the_random_one_is_the_hypothesis_of_its_index():
    x, y = data()
    ledger = nk.play(nk.Perceptron(bias=1.0), (x, y), keep=3)
    kept = keep(ledger, "random")
    hypotheses, wrong, _ = loop(x, y)
    np.testing.assert_allclose(
        np.append(kept.classifier.weights, kept.classifier.bias_weight), hypotheses[kept.index], rtol=1e-12
    )
    assert [c.theorem for c in kept.certificates] == ["ensemble_risk_fixed", "ensemble_risk"]
    assert kept.certificate.quantities["mistakes"] == np.count_nonzero(wrong)


def test_a_game_that_was_not_played_to_its_end_has_only_the_limit_for_all_n():
    game = nk.Game(nk.Perceptron())
    from novikoff.keeping import Keeping

    game.ledger.keeping = Keeping(game.learner)
    for row, label in zip(*data(50), strict=True):
        game.learn_one(row, int(label))
    assert [c.theorem for c in keep(game.ledger, "random").certificates] == ["ensemble_risk"]


@pytest.mark.parametrize("how", ["averaged", "last"])
def test_no_limit_is_claimed_where_none_is_known(how):
    x, y = data()
    kept = keep(nk.play(nk.Perceptron(bias=1.0), (x, y), keep=3), how)
    assert kept.certificates == ()
    assert kept.certificate is None
    hypotheses, _, _ = loop(x, y)
    wanted = hypotheses[:-1].mean(axis=0) if how == "averaged" else hypotheses[-1]
    np.testing.assert_allclose(np.append(kept.classifier.weights, kept.classifier.bias_weight), wanted, rtol=1e-9)


def test_the_average_is_that_of_the_first_pass():
    x, y = data()
    once = keep(nk.play(nk.Perceptron(bias=1.0), (x, y), keep=3), "averaged")
    twice = keep(nk.play(nk.Perceptron(bias=1.0), (x, y), keep=3, passes=2), "averaged")
    np.testing.assert_array_equal(once.classifier.weights, twice.classifier.weights)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("how", HOWS)
def test_a_kept_classifier_comes_back_from_its_file(name, how, tmp_path):
    stream = nk.Arrays(*data(300))
    ledger = nk.play(MAKERS[name](), stream, keep=6)
    if how == "averaged" and name != "perceptron":
        with pytest.raises(InputError, match="averaged for the Perceptron"):
            keep(ledger, how, stream=stream)
        return
    kept = keep(ledger, how, stream=stream)
    nk.save(kept, tmp_path / "kept.nk")
    again = nk.load(tmp_path / "kept.nk")
    assert (again.how, again.index, again.delta, again.rounds) == (how, kept.index, 0.05, 300)
    assert [str(c) for c in again.certificates] == [str(c) for c in kept.certificates]
    assert again.certificates == kept.certificates
    for batch in nk.Arrays(*data(80, seed=5)).batches():
        said = kept.label_batch(batch)
        np.testing.assert_array_equal(said, again.label_batch(batch))
        np.testing.assert_array_equal(said, [again.predict_one(x) for x, _ in batch.rows()])


def test_finite_classes_can_be_kept_too(tmp_path):
    rows = [(i * 7 % 21, 1 if i * 7 % 21 >= 9 else -1) for i in range(200)]
    for how in ("best", "random", "voted", "last"):
        ledger = nk.play(nk.ThresholdHalving(20), rows, keep=5)
        kept = keep(ledger, how, stream=nk.Pairs(rows, domain=ledger.learner.domain))
        nk.save(kept, tmp_path / "kept.nk")
        assert [nk.load(tmp_path / "kept.nk").predict_one(i) for i in range(21)] == [
            kept.predict_one(i) for i in range(21)
        ]
    assert [keep(ledger, "last").predict_one(i) for i in range(21)] == [
        ledger.learner.predict_one(i) for i in range(21)
    ]


def test_a_stream_that_drifts_is_refuted():
    x, y = data(6000, noise=0.05)
    y = np.concatenate([y[:3000], -y[3000:]])
    stream = nk.Arrays(x, y)
    kept = keep(nk.play(nk.Perceptron(bias=1.0), stream, keep=10), "best", stream=stream)
    assert kept.wealth > 20
    assert kept.certificate.status == "void"
    assert "independent" in kept.certificate.reason


def test_a_stream_that_changed_is_noticed():
    x, y = data()
    ledger = nk.play(nk.Perceptron(bias=1.0), (x, y), keep=5)
    with pytest.raises(InputError, match="must stay as it was"):
        keep(ledger, "best", stream=nk.Arrays(x, -y))
    with pytest.raises(InputError, match="must stay as it was"):
        keep(ledger, "voted", stream=nk.Arrays(x[:-1], y[:-1]))


def test_wrong_requests_are_named():
    x, y = data(50)
    ledger = nk.play(nk.Perceptron(), (x, y), keep=5)
    with pytest.raises(InputError, match="one of best, random"):
        keep(ledger, "luckiest")
    with pytest.raises(InputError, match="between 0 and 1"):
        keep(ledger, "random", delta=1.0)
    with pytest.raises(InputError, match="no stream was given"):
        keep(ledger, "best")
    with pytest.raises(InputError, match="cannot be read again"):
        keep(ledger, "best", stream=nk.Pairs(iter([(x[0], 1)])))
    with pytest.raises(InputError, match="keep=50"):
        keep(nk.play(nk.Perceptron(), (x, y)), "random")


def test_a_file_with_a_classifier_is_not_a_game(tmp_path):
    from novikoff.model import load_game

    kept = keep(nk.play(nk.Perceptron(), data(50), keep=5), "last")
    nk.save(kept, tmp_path / "kept.nk")
    with pytest.raises(ModelFileError, match="a classifier that was kept"):
        load_game(tmp_path / "kept.nk")
