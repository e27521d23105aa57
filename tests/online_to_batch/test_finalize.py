"""A classifier kept from a game: which it is, what limits its risk, and its file."""

import numpy as np
import pytest
from scipy import sparse

import novikoff as nk
from novikoff.cli.predict import Watch
from novikoff.core.errors import InputError, ModelFileError
from novikoff.game.persistence import load_game
from novikoff.game.reservoir import HypothesisReservoir
from novikoff.online_to_batch.finalize import METHODS, OnlineToBatch, finalize
from novikoff.online_to_batch.risk import candidate_limit, clopper_pearson


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
    ledger = nk.play(nk.Perceptron(bias=1.0), stream, candidates=20)
    kept = finalize(ledger, "best", delta=0.1, stream=stream)
    hypotheses, _, rows = loop(x, y)
    limits = {}
    for first in ledger.reservoir.indices():
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
    kept = finalize(nk.play(learner, stream, candidates=5), "voted", stream=stream)
    votes, again, hypothesis = np.zeros(len(new)), nk.Perceptron(bias=1.0, normalize=normalize), []
    for row, label in zip(x, y.tolist(), strict=True):
        hypothesis.append(again.updates)
        votes += [again.predict_one(one) for one in new]
        again.learn_one(row, label)
    wanted = np.where(votes >= 0, 1, -1)
    said = [kept.predict_one(row if form is np.asarray else _pair(row)) for row in new]
    assert said == wanted.tolist()
    assert kept.classifier.size == learner.updates + 1
    assert kept.classifier.state()["counts"].tolist() == np.bincount(hypothesis, minlength=learner.updates + 1).tolist()


def _pair(row):
    places = np.flatnonzero(row)
    return places.astype(np.uint32), row[places]


def test_the_random_one_is_the_hypothesis_of_its_index():
    x, y = data()
    ledger = nk.play(nk.Perceptron(bias=1.0), (x, y), candidates=3)
    kept = finalize(ledger, "random")
    hypotheses, wrong, _ = loop(x, y)
    np.testing.assert_allclose(
        np.append(kept.classifier.weights, kept.classifier.bias_weight), hypotheses[kept.index], rtol=1e-12
    )
    assert [c.theorem for c in kept.certificates] == ["ensemble_risk_fixed", "ensemble_risk"]
    assert kept.certificate.quantities["mistakes"] == np.count_nonzero(wrong)


def test_a_game_that_was_not_played_to_its_end_has_only_the_limit_for_all_n():
    learner = nk.Perceptron()
    game = nk.Game(learner, nk.Ledger(learner, reservoir=HypothesisReservoir(learner)))
    for row, label in zip(*data(50), strict=True):
        game.learn_one(row, int(label))
    assert [c.theorem for c in finalize(game.ledger, "random").certificates] == ["ensemble_risk"]


@pytest.mark.parametrize("how", ["averaged", "last"])
def test_no_limit_is_claimed_where_none_is_known(how):
    x, y = data()
    kept = finalize(nk.play(nk.Perceptron(bias=1.0), (x, y), candidates=3), how, stream=(x, y))
    assert kept.certificates == ()
    assert kept.certificate is None
    hypotheses, _, _ = loop(x, y)
    wanted = hypotheses[:-1].mean(axis=0) if how == "averaged" else hypotheses[-1]
    np.testing.assert_allclose(np.append(kept.classifier.weights, kept.classifier.bias_weight), wanted, rtol=1e-9)


def test_the_average_is_that_of_the_first_pass():
    x, y = data()
    games = [nk.play(nk.Perceptron(bias=1.0), (x, y), candidates=3, passes=passes) for passes in (1, 2)]
    learner = nk.Perceptron(bias=1.0)
    games.append(nk.play(learner, (x, y), candidates=HypothesisReservoir(learner, averaging=True), passes=3))
    one, two, three = (finalize(game, "averaged", stream=(x, y)).classifier.weights for game in games)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_a_game_played_without_its_average_has_none(tmp_path):
    ledger = nk.Ledger(nk.Perceptron())
    ledger.reservoir = HypothesisReservoir(ledger.learner, 5, averaging=False)
    nk.play(ledger.learner, data(50), ledger=ledger)
    nk.save(ledger, tmp_path / "game.nk")
    for game in (ledger, nk.load(tmp_path / "game.nk")):
        with pytest.raises(
            InputError, match="an average needs the game to store it, or a stream that can be read again"
        ):
            finalize(game, "averaged")
        assert finalize(game, "last").rounds == 50


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("how", METHODS)
def test_a_kept_classifier_comes_back_from_its_file(name, how, tmp_path):
    stream = nk.Arrays(*data(300))
    ledger = nk.play(MAKERS[name](), stream, candidates=6)
    if how == "averaged" and name != "perceptron":
        with pytest.raises(InputError, match="averaging needs a binary Perceptron"):
            finalize(ledger, how, stream=stream)
        return
    kept = finalize(ledger, how, stream=stream)
    nk.save(kept, tmp_path / "kept.nk")
    again = nk.load(tmp_path / "kept.nk")
    assert (again.how, again.index, again.delta, again.rounds) == (how, kept.index, 0.05, 300)
    assert [str(c) for c in again.certificates] == [str(c) for c in kept.certificates]
    assert again.certificates == kept.certificates
    for batch in nk.Arrays(*data(80, seed=5)).batches():
        said = kept.predict_many(batch)
        np.testing.assert_array_equal(said, again.predict_many(batch))
        np.testing.assert_array_equal(said, [again.predict_one(x) for x, _ in batch.rows()])


def test_finite_classes_can_be_finalized(tmp_path):
    rows = [(i * 7 % 21, 1 if i * 7 % 21 >= 9 else -1) for i in range(200)]
    for how in ("best", "random", "voted", "last"):
        ledger = nk.play(nk.ThresholdHalving(20), rows, candidates=5)
        kept = finalize(ledger, how, stream=nk.Pairs(rows, domain=ledger.learner.domain))
        nk.save(kept, tmp_path / "kept.nk")
        assert [nk.load(tmp_path / "kept.nk").predict_one(i) for i in range(21)] == [
            kept.predict_one(i) for i in range(21)
        ]
    assert [finalize(ledger, "last").predict_one(i) for i in range(21)] == [
        ledger.learner.predict_one(i) for i in range(21)
    ]


def test_a_stream_that_drifts_is_refuted():
    x, y = data(6000, noise=0.05)
    y = np.concatenate([y[:3000], -y[3000:]])
    stream = nk.Arrays(x, y)
    kept = finalize(nk.play(nk.Perceptron(bias=1.0), stream, candidates=10), "best", stream=stream)
    assert kept.wealth > 20
    assert kept.refuted
    assert kept.certificate.status == "void"
    assert "independent" in kept.certificate.reason


def test_a_drift_voids_the_limit_but_not_the_choice():
    x, y = data(6000, noise=0.3)
    y = np.concatenate([y[:3000], -y[3000:]])
    stream = nk.Arrays(x, y)
    ledger = nk.play(nk.Perceptron(bias=1.0), stream, candidates=50)
    kept = finalize(ledger, "best", stream=stream)
    assert kept.certificate.bound is None
    hypotheses, _, rows = loop(x, y)
    limits = {}
    for first in ledger.reservoir.indices():
        errors = int(np.count_nonzero(np.where(rows[first:] @ hypotheses[first] >= 0, 1, -1) != y[first:]))
        limits[first] = clopper_pearson(errors, len(y) - first, 0.05 / len(y))
    assert kept.index == min(limits, key=limits.get)


def test_the_best_of_a_game_of_no_fixed_length_is_judged_for_all_n_and_t():
    x, y = data(300)
    learner = nk.Perceptron(bias=1.0)
    game = nk.Game(learner, nk.Ledger(learner, reservoir=HypothesisReservoir(learner, 10)))
    for row, label in zip(x, y.tolist(), strict=True):
        game.learn_one(row, label)
    stream = nk.Arrays(x, y)
    kept = finalize(game.ledger, "best", stream=stream)
    hypotheses, _, rows = loop(x, y)
    limits = {}
    for first in game.ledger.reservoir.indices():
        errors = int(np.count_nonzero(np.where(rows[first:] @ hypotheses[first] >= 0, 1, -1) != y[first:]))
        limits[first] = candidate_limit(errors, len(y) - first, first, 0.05)
    assert kept.index == min(limits, key=limits.get)
    assert kept.certificate.bound == limits[kept.index]
    assert kept.certificate.quantities["when"] == "for all n at once"
    assert finalize(game.ledger, "voted", stream=stream).certificate.quantities["when"] == "for all n at once"


def test_drawn_hypothesis_is_bounded_on_average_only():
    stream = nk.Arrays(*data(300))
    ledger = nk.play(nk.Perceptron(bias=1.0), stream, candidates=6)
    drawn = [
        finalize(ledger, "random"),
        finalize(nk.play(nk.Ellipsoid(), stream, candidates=6), "voted", stream=stream),
    ]
    for kept in drawn:
        assert kept.drawn
        assert {certificate.quantity for certificate in kept.certificates} == {"mean risk"}
    for how in ("best", "voted"):
        kept = finalize(ledger, how, stream=stream)
        assert not kept.drawn
        assert kept.certificate.quantity == "risk"


def test_rows_in_another_order_are_noticed_though_the_mistakes_are_as_many():
    x, y = np.eye(6), np.array([-1, -1, -1, 1, 1, 1])
    ledger = nk.play(nk.Perceptron(), (x, y), candidates=3)
    for how in ("best", "voted"):
        finalize(ledger, how, stream=nk.Arrays(x, y))
        with pytest.raises(InputError, match="ends in another state"):
            finalize(ledger, how, stream=nk.Arrays(np.ascontiguousarray(x[:, ::-1]), y))


def test_a_file_that_changed_is_noticed_and_one_that_followed_is_not_taken_for_it(tmp_path):
    x, y = data(200)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file, rows in zip(files, (slice(0, 100), slice(100, 200)), strict=True):
        np.savetxt(file, np.c_[x[rows], y[rows]], delimiter=",", fmt="%.3f")
    learner = nk.Perceptron()
    ledger = nk.play(learner, nk.read(str(files[0])), candidates=5)
    alone = finalize(ledger, "best", stream=nk.read(str(files[0])))
    nk.play(learner, nk.read(str(files[1])), ledger=ledger)
    assert finalize(ledger, "best", stream=nk.read(str(files[0]))).certificates == alone.certificates
    again = nk.play(nk.Perceptron(), nk.read(str(files[0])), candidates=5)
    x[99] *= 1.5  # the last row, so that neither mistakes nor weights need to differ
    np.savetxt(files[0], np.c_[x[:100], y[:100]], delimiter=",", fmt="%.4f")
    with pytest.raises(InputError, match="the stream has changed since the game"):
        finalize(again, "best", stream=nk.read(str(files[0])))


def test_the_stream_may_be_given_as_to_play():
    x, y = data(100)
    ledger = nk.play(nk.Perceptron(), (x, y), candidates=3)
    whole = finalize(ledger, "best", stream=nk.Arrays(x, y))
    assert finalize(ledger, "best", stream=(x, y)).certificates == whole.certificates


def test_a_drawn_classifier_is_not_watched_by_a_limit_on_the_mean():
    x, y = data(2000)
    stream = nk.Arrays(x, y)
    ledger = nk.play(nk.Perceptron(bias=1.0), stream, candidates=5)
    wrong = np.ones(500, dtype=bool)
    for how, alarm, told in (("random", None, "mean over the random draw"), ("best", True, "too many errors")):
        watch = Watch(finalize(ledger, how, stream=stream))
        watch.see(wrong)
        assert watch.fields()["alarm"] is alarm
        assert told in watch.sentence()


def test_a_regression_is_kept_as_its_average(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(400, 3))
    y = np.clip(x @ [0.4, -0.2, 0.1] + 0.2, -1, 1)
    for loss in ("squared", "absolute"):
        learner = nk.OnlineGradient(limit=2.0, bias=1.0, loss=loss)
        weights, own = np.zeros(3), 0.0
        for t in range(len(y)):
            if t:
                weights, own = weights + learner.weights, own + learner.constant_weight
            learner.play_one(x[t], y[t])
        learner = nk.OnlineGradient(limit=2.0, bias=1.0, loss=loss)
        ledger = nk.play(learner, (x, y), candidates=1)
        kept = finalize(ledger, "averaged", delta=0.1)
        nk.save(kept, tmp_path / "kept.nk")
        again = nk.load(tmp_path / "kept.nk")
        said = [kept.predict_one(row) for row in x]
        assert said == [again.predict_one(row) for row in x]
        np.testing.assert_allclose(said, x @ (weights / len(y)) + own / len(y), rtol=1e-9, atol=1e-12)
        assert {c.theorem for c in kept.certificates} == {"average_risk", "average_risk_always"}
        assert {c.quantities["delta"] for c in kept.certificates} == {0.05}
        bounds = [c.bound for c in kept.certificates]
        assert bounds == sorted(bounds)
        for how in ("best", "random", "voted", "last"):
            with pytest.raises(InputError, match="predicts numbers"):
                finalize(ledger, how, stream=(x, y))
    twice = nk.play(nk.OnlineGradient(limit=2.0), (x, y), candidates=1, passes=2)
    with pytest.raises(InputError, match="an average for regression needs one pass"):
        finalize(twice, "averaged")


def test_a_stream_that_changed_is_noticed():
    x, y = data()
    ledger = nk.play(nk.Perceptron(bias=1.0), (x, y), candidates=5)
    with pytest.raises(InputError, match="the stream has changed since the game"):
        finalize(ledger, "best", stream=nk.Arrays(x, -y))
    with pytest.raises(InputError, match="the stream has changed since the game"):
        finalize(ledger, "voted", stream=nk.Arrays(x[:-1], y[:-1]))


def test_wrong_requests_are_named():
    x, y = data(50)
    ledger = nk.play(nk.Perceptron(), (x, y), candidates=5)
    with pytest.raises(InputError, match="one of best, random"):
        finalize(ledger, "luckiest")
    for delta in (0.0, 1.0, float("nan"), "0.05", True):
        with pytest.raises(InputError, match="between 0 and 1"):
            finalize(ledger, "random", delta=delta)
    with pytest.raises(InputError, match="no stream was given"):
        finalize(ledger, "best")
    with pytest.raises(InputError, match="cannot be read again"):
        finalize(ledger, "best", stream=nk.Pairs(iter([(x[0], 1)])))
    with pytest.raises(InputError, match="candidates=50"):
        finalize(nk.play(nk.Perceptron(), (x, y)), "random")


@pytest.mark.parametrize(
    ("name", "value"),
    [("delta", 7.0), ("delta", "x"), ("labels", [1]), ("wealth", "a"), ("rounds", 0), ("how", "luck"), ("voters", []),
     ("bound", "0.1"), ("bound", -1.0), ("bound", None), ("status", "sure"), ("kind", "D")],
)  # fmt: skip
def test_impossible_saved_bound_is_refused(name, value):
    state = finalize(nk.play(nk.Perceptron(), data(50), candidates=5), "random").state()
    (state if name in state else state["certificates"][0])[name] = value
    with pytest.raises((InputError, ModelFileError)):
        OnlineToBatch.restore(state)


def test_a_file_with_a_classifier_is_not_a_game(tmp_path):

    kept = finalize(nk.play(nk.Perceptron(), data(50), candidates=5), "last")
    nk.save(kept, tmp_path / "kept.nk")
    with pytest.raises(ModelFileError, match="a classifier made by finalize"):
        load_game(tmp_path / "kept.nk")


@pytest.mark.parametrize("learner", ["ftrl", "auto:fast=true", "vaw:probabilities=true"])
def test_brier_score_of_probabilistic_learner_is_bounded(learner, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 3))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=600) > 0.0, 1, -1)
    ledger = nk.play(learner, (x, y), candidates=9)
    kept = nk.finalize(ledger, "random")
    *_, scored, always = kept.certificates
    assert [one.quantity for one in kept.certificates] == ["mean risk"] * 2 + ["mean risk in Brier score"] * 2
    assert ledger.brier / 600 <= scored.observed <= ledger.brier / 600 + 1 / 600
    assert scored.observed < scored.bound <= always.bound < 1.0
    assert scored.quantities["brier"] == ledger.reservoir.brier
    nk.save(ledger, tmp_path / "game.nk")
    again = nk.finalize(load_game(tmp_path / "game.nk"), "random")
    assert [one.bound for one in again.certificates] == [one.bound for one in kept.certificates]
    best = nk.finalize(ledger, "best", stream=(x, y))
    assert best.certificate.status == "conditional"
    assert np.mean(best.predict_many(nk.Batch(x, y.astype(np.int8), 1)) != y) < 0.2


def test_the_brier_score_of_new_examples_is_within_its_limit():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2))
    y = np.where(x[:, 0] + rng.normal(size=4000) > 0.0, 1, -1)
    ledger = nk.play("ftrl", (x[:400], y[:400]), candidates=9)
    kept = nk.finalize(ledger, "random")
    said = np.array([kept.classifier.probability_one(row) for row in x[400:]])
    brier = np.mean((said - (y[400:] > 0)) ** 2)
    assert brier < kept.certificates[2].bound < 0.4
