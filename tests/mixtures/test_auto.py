"""`auto` with trees and boosting: bits, mixed tables, new labels, certificates and their breaks."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.core.errors import InputError, SpecError
from novikoff.core.types import Sparse
from novikoff.mixtures import _loops
from novikoff.mixtures.auto import COPIES, CORRECTED
from novikoff.mixtures.stacks import Lags, NumberStack
from novikoff.reports.summary import ensemble
from novikoff.trees.residual import ResidualTree
from novikoff.trees.store import RowStore
from samples import NAMED, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "auto": [
        ("auto", *VECTORS),
        ("auto:bias=0,drift=false", *SPARSE),
        ("auto:fast=true", *NAMED),
        ("auto:drift=true", *VECTORS),
    ],
    "auto-regression": [("auto-regression", *NUMBERS), ("auto-regression:drift=false", *NUMBERS)],
}
"""Samples for tests/test_every_learner.py."""


def mixed_table(rows=400, seed=0):
    """A frame with a number, a number that is sometimes missing, and a category that gets new values."""
    coins = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": coins.normal(size=rows), "b": coins.choice(["x", "y", "z"], rows)})
    frame["c"] = np.where(coins.random(rows) < 0.1, np.nan, coins.normal(size=rows))
    frame.loc[rows // 2 :, "b"] = coins.choice(["x", "q", "r"], rows - rows // 2)
    score = frame.a + (frame.b == "x") + frame.c.fillna(0.0) + 0.3 * coins.normal(size=rows)
    frame["label"] = np.where(score > 0.3, "yes", "no")
    return frame


def rings(rows=600, labels=2, seed=1):
    """Labels by the distance from the origin, which no linear function tells apart."""
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, 3))
    found = np.digitize((x[:, :2] ** 2).sum(axis=1), np.linspace(1.0, 2.5, labels - 1))
    return x, pd.factorize(found)[0]


EACH = [nk.Auto, nk.MulticlassAuto, nk.AutoRegression]


def task(make, rows):
    """Rings as a task of the learner: two labels, three labels or numbers."""
    x, y = rings(rows, 3 if make is nk.MulticlassAuto else 2)
    found = {nk.Auto: 2 * y - 1, nk.AutoRegression: y + x[:, 0]}.get(make, y)
    return x, found.astype({nk.Auto: np.int8, nk.AutoRegression: np.float64}.get(make, np.int32))


def by_rows(learner, x, y):
    game = nk.Game(learner)
    for row, label in zip(x, y.tolist(), strict=True):
        game.predict_one(row)
        game.learn_one(row, label)
    return game.ledger


def by_batches(learner, x, y, *sizes):
    game, start = nk.Game(learner), 0
    for size in (*sizes, len(y)):
        stop = min(start + size, len(y))
        game.learn_batch(nk.Batch(x[start:stop], y[start:stop], start + 1))
        start = stop
    return game.ledger


@pytest.mark.parametrize(
    ("kind", "drift"),
    [(kind, drift) for kind in EACH for drift in (None, False)] + [(nk.Auto, True)],
)
def test_rows_batches_and_resumed_games_give_the_same_bits(kind, drift, tmp_path):
    make, (x, y) = partial(kind, drift=drift), task(kind, 290)
    whole = by_batches(make(), x, y)
    assert by_rows(make(), x, y).loss == whole.loss
    nk.save(by_batches(make(), x[:133], y[:133], 1, 70), tmp_path / "game.nk")
    resumed = nk.load(tmp_path / "game.nk")
    game = nk.Game(resumed.learner, resumed)
    game.learn_batch(nk.Batch(x[133:], y[133:], 134))
    assert resumed.loss == whole.loss
    assert resumed.log_loss == whole.log_loss
    np.testing.assert_array_equal(
        resumed.learner.predict_many(nk.Batch(x, y, 1)), whole.learner.predict_many(nk.Batch(x, y, 1))
    )
    assert [str(one) for one in resumed.certify()] == [str(one) for one in whole.certify()]


@pytest.mark.parametrize("make", EACH)
def test_predictions_and_copies_in_other_threads_change_no_bit(make, tmp_path):
    x, y = task(make, 170)
    whole, game = by_batches(make(), x, y), nk.Game(make())
    rows = nk.Batch(x[:12], y[:12], 1)
    with ThreadPoolExecutor(4) as pool:
        for start in range(0, 170, 34):
            here = slice(start, start + 34)
            if start == 68:  # some as single rows
                for row, label in zip(x[here], y[here].tolist(), strict=True):
                    game.learn_one(row, label)
            else:
                game.learn_batch(nk.Batch(x[here], y[here], start + 1))
            learner = game.learner
            alone = learner.predict_many(rows).tobytes(), [learner.predict_one(row) for row in x[:6]]
            many = [pool.submit(learner.predict_many, rows) for _ in range(4)]
            single = [pool.submit(learner.predict_one, row) for row in x[:6]]
            assert {one.result().tobytes() for one in many} == {alone[0]}
            assert [one.result() for one in single] == alone[1]
            if start == 102:  # saved and resumed in other threads
                pool.submit(nk.save, game.ledger, tmp_path / "game.nk").result()
                ledger = pool.submit(nk.load, tmp_path / "game.nk").result()
                game = nk.Game(ledger.learner, ledger)
    assert (game.ledger.loss, game.ledger.log_loss) == (whole.loss, whole.log_loss)
    assert game.learner.predict_many(rows).tobytes() == whole.learner.predict_many(rows).tobytes()
    assert [str(one) for one in game.ledger.certify()] == [str(one) for one in whole.certify()]


def test_batch_sizes_do_not_matter_on_mixed_tables(tmp_path):
    path = tmp_path / "table.csv"
    mixed_table().to_csv(path, index=False)
    losses = set()
    for size in (1, 37, 400):
        game = nk.Game(nk.Auto())
        for batch in nk.read(path).batches():
            for start in range(0, len(batch), size):
                game.learn_batch(batch.part(start, min(start + size, len(batch))))
        losses.add(game.ledger.log_loss)
    assert len(losses) == 1


def test_trees_help_where_linear_members_cannot():
    x, y = rings(1500)
    plain, whole = (nk.play(learner, (x, 2 * y - 1)) for learner in (nk.LinearMixture(fast=True), nk.Auto()))
    assert whole.log_loss < 0.5 * plain.log_loss


def test_the_certificate_is_met_with_little_slack():
    x, y = rings(1500)
    ledger = nk.play(nk.Auto(), (x, 2 * y - 1))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert ledger.log_loss <= certificate.bound <= 1.1 * ledger.log_loss
    weights = ledger.learner.weights
    assert len(weights) == len(ledger.learner.shares) == len(ledger.learner.names)
    assert weights.sum() == pytest.approx(1.0)
    assert ledger.learner.shares.sum() == pytest.approx(1.0)


class Careless(nk.Auto):
    """It mixes with weights that are not those of fixed share."""

    def _create(self):
        super()._create()
        play = self._top.play

        def wrong(odds, y):
            play(odds, y)
            return odds.mean(axis=1)

        self._top.play = wrong


def test_another_mixture_is_a_violation():
    x, y = rings(300)
    (certificate,) = nk.play(Careless(), (x, 2 * y - 1)).certify()
    assert certificate.status == "violated"


def test_a_trained_learner_voids_the_certificate():
    x, y = rings(300)
    learner = nk.Auto()
    nk.play(learner, (x, 2 * y - 1))
    assert {one.status for one in nk.play(learner, (x, 2 * y - 1)).certify()} <= {"void"}


def test_wide_rows_and_fast_play_the_linear_mixture_alone():
    coins = np.random.default_rng(0)
    x = coins.normal(size=(60, 300))
    y = np.where(x[:, 0] > 0, 1, -1)
    for learner, other in ((nk.Auto(), nk.LinearMixture()), (nk.Auto(fast=True), nk.LinearMixture(fast=True))):
        ours, theirs = nk.play(learner, (x, y)), nk.play(other, (x, y))
        assert ours.log_loss == theirs.log_loss
        assert [str(one) for one in ours.certify()] == [str(one) for one in theirs.certify()]
        assert ours.learner.names == theirs.learner.names


def test_labels_may_come_unannounced():
    x, y = rings(400, 4)
    order = np.argsort(y[:40], kind="stable")  # the labels of the first rows come one after the other
    x[:40], y[:40] = x[:40][order], y[:40][order]
    y = pd.factorize(y)[0]
    ledger = nk.play(nk.MulticlassAuto(), list(zip(x, y.tolist(), strict=True)))
    (certificate,) = ledger.certify()
    assert certificate.status == "valid"
    assert ledger.log_loss <= certificate.bound
    probabilities = ledger.learner.probabilities_one(x[0])
    assert probabilities.sum() == pytest.approx(1.0 - 0.25 / 401.0**2, abs=1e-12)


def test_numbers_are_predicted_better_than_by_linear_members():
    x, _ = rings(800)
    y = (x[:, :2] ** 2).sum(axis=1) * np.sign(x[:, 2])
    ours, theirs = (
        nk.play(one, nk.RegressionArrays(x, y)) for one in (nk.AutoRegression(), nk.LinearMixtureRegression())
    )
    assert ours.loss < 0.8 * theirs.loss
    (certificate,) = ours.certify()
    assert certificate.status == "valid"
    assert ours.loss <= certificate.bound


def test_huge_outcomes_are_played():
    x, y = rings(120)
    ledger = nk.play(nk.AutoRegression(), nk.RegressionArrays(x, (y - 0.5) * 2.0**250))
    assert np.isfinite(ledger.learner.predict_one(x[0]))


DRIFTS = [(None, "switching_regret"), (False, "mixture_regret"), (True, "switching_regret")]


@pytest.mark.parametrize(("drift", "theorem"), DRIFTS)
def test_drift_chooses_forecasters_and_theorem(drift, theorem):
    x, y = rings(400)
    ledger = nk.play(nk.Auto(drift=drift), (x, 2 * y - 1))
    (certificate,) = ledger.certify()
    assert (certificate.theorem, certificate.status) == (theorem, "valid")
    assert ledger.log_loss <= certificate.bound
    names = ledger.learner.names
    assert (COPIES in names) == (drift is True)
    adapts = any("forgetting" in name or "last" in name or "recent" in name for name in names)
    assert adapts == (drift is not False)


def test_drift_of_many_labels_and_numbers_may_be_false_but_not_true():
    x, y = rings(300, 3)
    (many,) = nk.play(nk.MulticlassAuto(drift=False), (x, y), labels="multiclass").certify()
    assert (many.theorem, many.status) == ("mixture_regret", "valid")
    for drift, forecasters in ((False, 4), (None, 6)):
        ledger = nk.play(nk.AutoRegression(drift=drift), nk.RegressionArrays(x, y + x[:, 0]))
        assert len(ledger.learner.names) == forecasters
        (numbers,) = ledger.certify()
        assert (numbers.theorem, numbers.status) == ("numbers_regret", "valid")
    for make in (nk.MulticlassAuto, nk.AutoRegression):
        with pytest.raises(InputError, match="drift=true needs two labels"):
            make(drift=True)


def test_wrong_drift_is_refused():
    with pytest.raises(InputError, match="drift must be True, False or None: got 3"):
        nk.Auto(drift=3)
    with pytest.raises(SpecError, match="drift of auto must be true or false: got 3"):
        nk.make("auto:drift=3")
    with pytest.raises(InputError, match="drift=true needs trees"):
        nk.Auto(fast=True, drift=True)
    with pytest.raises(InputError, match="drift=true needs a table of at most 256 columns"):
        nk.play(nk.Auto(drift=True), (np.ones((4, 300)), [1, -1, 1, -1]))


def test_copies_follow_a_change_of_the_labels():
    coins = np.random.default_rng(2)
    x = coins.normal(size=(1600, 4))
    y = np.where(x[:, 0] > 0.0, 1, -1)
    y[800:] *= -1
    plain, adapting, copies = (nk.play(nk.Auto(drift=drift), (x, y)).log_loss for drift in (False, None, True))
    assert adapting < 0.8 * plain
    assert copies < adapting + 5.0


def outcomes(make, frame):
    """The labels of a table for a task."""
    found = (frame.label == "yes").to_numpy() * 1
    if make is nk.Auto:
        return (2 * found - 1).astype(np.int8)
    if make is nk.MulticlassAuto:
        return (found + (frame.b == "y").to_numpy()).astype(np.int32)
    return found + frame.a.to_numpy()


@pytest.mark.parametrize("make", EACH)
def test_categories_and_missing_values_give_the_same_bits_in_rows_and_batches(make):
    frame = mixed_table(260)
    y = outcomes(make, frame)
    rows = frame[["a", "b", "c"]].assign(label=[f"label {one}" for one in y] if make is not nk.AutoRegression else y)
    whole = nk.play(make(), rows)
    part = nk.play(make(), rows, rounds=131)
    ended = nk.play(part.learner, rows, ledger=part, resume=True)
    assert (ended.loss, ended.learner.full) == (whole.loss, True)
    assert set(whole.learner.columns.kinds.tolist()) == {0, 1}
    (certificate,) = whole.certify()
    assert certificate.status == "valid"


@pytest.mark.parametrize("make", EACH)
def test_a_weighted_row_is_played_in_as_many_rounds(make, tmp_path):
    """Its rounds are one row for lags (test_copies_of_rows.py); the theorem counts them all."""
    x, y = rings(90, 3 if make is nk.MulticlassAuto else 2)
    weights = np.random.default_rng(4).integers(0, 4, 90)
    names = y + x[:, 0] if make is nk.AutoRegression else [f"label {one}" for one in y]
    path = tmp_path / "w.csv"
    pd.DataFrame(x, columns=["a", "b", "c"]).assign(label=names, w=weights).to_csv(path, index=False)
    options = {"outcomes": "numbers"} if make is nk.AutoRegression else {}
    ledger = nk.play(make(), nk.read(path, weight="w", **options))
    assert (ledger.rounds, ledger.metrics.rows) == (weights.sum(), (weights > 0).sum())
    assert ledger.learner.stored.count == ledger.rounds
    assert [one.status for one in ledger.certify()] == ["valid"]


@pytest.mark.parametrize("make", EACH)
def test_late_labels_are_learned_in_the_order_they_come(make):
    x, y = task(make, 150)
    y = y.tolist()
    late, plain = nk.Game(make()), nk.Game(make())
    for t in range(150):
        late.predict_one(x[t], id=t)
        if t >= 5:
            late.learn_one(t - 5, y[t - 5])
    for t in range(145):
        plain.learn_one(x[t], y[t])
    assert late.learner.predict_one(x[149]) == plain.learner.predict_one(x[149])
    assert late.learner.weights.tolist() == plain.learner.weights.tolist()
    assert all(one.status in ("valid", "conditional", "vacuous") for one in late.ledger.certify())


@pytest.mark.parametrize("make", EACH)
def test_wide_tables_sparse_rows_and_seeds(make):
    coins = np.random.default_rng(6)
    x = coins.normal(size=(160, 70)) * (coins.random((160, 70)) < 0.3)
    y = pd.factorize(x[:, 0] + x[:, 69] > 0)[0]
    y = {nk.Auto: (2 * y - 1).astype(np.int8), nk.AutoRegression: y + x[:, 1]}.get(make, y.astype(np.int32))
    for given in (x, Sparse.of_dense(x)):
        whole, parts = make().learn_many(nk.Batch(given, y, 1)), make()
        assert parts.learn_many(nk.Batch(given, y, 1).part(0, 61)).losses.tolist() == whole.losses[:61].tolist()
        assert parts.learn_many(nk.Batch(given, y, 1).part(61, 160)).losses.tolist() == whole.losses[61:].tolist()
        assert parts.full
    one, same, other = (make(seed=seed).learn_many(nk.Batch(x, y, 1)).scores for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("make", EACH)
def test_row_limit_in_force_gives_the_same_bits_in_rows_and_batches(make, monkeypatch):
    for name, value in {"SETTLED": 64, "MOST_BYTES": 8 * 8 * 64, "TOGETHER": 16, "SPARE": 32}.items():
        monkeypatch.setattr(f"novikoff.trees.store.{name}", value)
    for module in ("boosting", "regrown"):
        monkeypatch.setattr(f"novikoff.trees.{module}.TOGETHER", 16)
    x, y = task(make, 220)
    whole = by_batches(make(), x, y)
    assert whole.learner.rows_stored < 220
    assert by_rows(make(), x, y).loss == whole.loss
    assert by_batches(make(), x, y, 7, 50).loss == whole.loss


def test_a_label_that_comes_after_the_first_thousand_rows_of_a_batch_is_learned():
    x, y = rings(1100, 2)
    y[1050:] = 2
    whole, parts = nk.MulticlassAuto(), nk.MulticlassAuto()
    played = whole.learn_many(nk.Batch(x, y.astype(np.int32), 1))
    first = parts.learn_many(nk.Batch(x[:1040], y[:1040].astype(np.int32), 1))
    second = parts.learn_many(nk.Batch(x[1040:], y[1040:].astype(np.int32), 1041))
    assert played.probabilities.tolist() == [*first.probabilities.tolist(), *second.probabilities.tolist()]
    assert whole.labels == 3


def test_an_input_of_numbers_is_the_residual_tree_on_boosted_trees(monkeypatch):
    x, y = task(nk.AutoRegression, 200)
    seen, play = [], NumberStack.play
    monkeypatch.setattr(NumberStack, "play", lambda stack, inputs, y: [seen.append(inputs), play(stack, inputs, y)][1])
    by_rows(nk.AutoRegression(drift=False), x, y)
    inputs = np.concatenate(seen[::2])  # two stacks
    base, store, tree = inputs[:, 3].copy(), RowStore(), ResidualTree("numbers")
    base[0] = y[0]
    store.add(np.hstack([inputs[:, :1], Lags(None).columns(y), x]), y, np.zeros(8))
    corrected = tree.correct(store, np.zeros(8, np.int8), 0, 200, base)[1:]
    low, high = np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1]
    np.testing.assert_array_equal(inputs[1:, -2], corrected.clip(low, high))
    assert (inputs[0] == 0.0).all()
    assert (inputs[1:, -2] != inputs[1:, 3]).mean() > 0.5


def drawn(rounds, known, most=256):
    """The probability of a new label if labels are drawn at random from K, by the posterior of K in fractions."""
    posterior = {k: Fraction(math.perm(k, known), (k + 2) * (k + 3) * k**rounds) for k in range(known, most + 1)}
    whole = sum(posterior.values())
    return float(sum(chance * Fraction(k - known, k) for k, chance in posterior.items()) / whole)


@pytest.mark.parametrize(("rounds", "known"), [(1, 1), (2, 1), (3, 3), (7, 2), (12, 9), (300, 40), (40, 200)])
def test_the_reserve_for_a_new_label_agrees_with_fractions(rounds, known):
    found = np.empty(1)
    _loops.new_labels.reserve(rounds, np.array([known]), found)
    expected = 0.75 * drawn(rounds, known) + 0.25 / (rounds + 1) ** 2
    assert found[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "new",
    [np.arange(1000) % period == 0 for period in (10, 100, 1000)]
    + [np.arange(1000) < 10, np.isin(np.arange(1000), [0, 1, 2, 4, 5, 8, 11, 15, 22, 31])],
)
def test_the_reserve_costs_little_early_and_bounded_much_late(new):
    known, reserved = np.append(0, np.cumsum(new)[:-1]), np.empty(1000)
    _loops.new_labels.reserve(0, known, reserved)
    squares = np.arange(1.0, 1001.0) ** 2
    assert ((reserved >= 0.25 / squares) & (reserved <= 1.0)).all()
    others, former = -np.log1p(-reserved[~new]).sum(), np.log(squares[new]).sum() + math.log(2.0)
    assert others < 6.0 + 0.2 * new.sum()
    if new[:40].sum() == 10:
        assert others - np.log(reserved[new]).sum() < former - 10.0


def test_forecasters_join_after_32_and_128_rounds():
    x, y = rings(140)
    learner = nk.Auto()
    for rounds, awake in ((32, 1), (33, 2), (128, 2), (129, 17)):
        while learner.rounds < rounds:
            learner.play_one(x[learner.rounds], int(2 * y[learner.rounds] - 1))
        assert np.count_nonzero(learner.shares > 0.0) == awake, rounds
    short = nk.play(nk.Auto(), (x[:32], 2 * y[:32] - 1))
    (certificate,) = short.certify()
    assert short.log_loss == pytest.approx(nk.play(nk.LinearMixture(), (x[:32], 2 * y[:32] - 1)).log_loss, abs=1e-9)
    assert certificate.bound == pytest.approx(short.log_loss, abs=1e-6)


class Recorded(nk.Observer):
    def __init__(self):
        self.scores = []

    def see(self, batch, result):
        self.scores.append(np.array(result.scores))


def test_the_correction_is_the_residual_tree_on_the_second_stack():
    coins = np.random.default_rng(2)
    x = coins.normal(size=(500, 2))
    turned = (x[:, 0] > 0.0) & (np.arange(500) >= 300)  # the rule changes where column 0 is positive
    y = np.where((x[:, 1] > 0.0) != turned, 1, -1).astype(np.int8)
    seen = Recorded()
    learner = nk.play(nk.Auto(), (x, y), observers=[seen]).learner
    scores = dict(zip(learner.names, np.concatenate(seen.scores).T, strict=False))
    tree, store = ResidualTree("labels", 0.98), RowStore()
    store.add(np.hstack([Lags(0.5).columns((y > 0) * 1.0), x]), (y > 0) * 1.0, np.full(6, 0.5))
    corrected = tree.correct(store, np.zeros(6, np.int8), 0, 500, scores["stack with recent labels"])
    np.testing.assert_array_equal(corrected.clip(-30.0, 30.0), scores[CORRECTED])
    assert (scores[CORRECTED] != scores["stack with recent labels"]).sum() > 490


def steady_rows(rows=400):
    """Two labels of a rule that does not change, for which trees on few rows are worse than trees on all."""
    coins = np.random.default_rng(5)
    x = coins.normal(size=(rows, 4))
    return x, np.where(x[:, 0] * x[:, 1] + 0.3 * x[:, 2] > 0.0, 1, -1).astype(np.int8)


def rested(monkeypatch, behind=0.05, review=25):
    """Make windows short and reviews frequent, so that trees with a window rest within a few hundred rows."""
    for name, value in {"WINDOWS": (40, 80), "REVIEW": review, "BEHIND": behind}.items():
        monkeypatch.setattr(f"novikoff.mixtures.auto.{name}", value)


def test_trees_that_rest_give_the_same_bits_in_rows_batches_and_resumed_games(monkeypatch, tmp_path):
    rested(monkeypatch)
    x, y = steady_rows()
    whole = by_batches(nk.Auto(), x, y)
    assert by_rows(nk.Auto(), x, y).log_loss == whole.log_loss
    nk.save(by_batches(nk.Auto(), x[:187], y[:187], 3, 90), tmp_path / "game.nk")
    resumed = nk.load(tmp_path / "game.nk")
    nk.Game(resumed.learner, resumed).learn_batch(nk.Batch(x[187:], y[187:], 188))
    assert resumed.log_loss == whole.log_loss
    epochs = [forest.epochs for forest in whole.learner._forests]
    rested(monkeypatch, behind=math.inf)
    always = [forest.epochs for forest in by_batches(nk.Auto(), x, y).learner._forests]
    assert epochs[0] == always[0]
    assert epochs[1] < always[1]


def test_labels_that_follow_each_other_are_learned_where_the_columns_say_nothing():
    coins = np.random.default_rng(5)
    x, y = coins.normal(size=(600, 2)), np.cumsum(np.where(coins.random(600) < 0.9, 1, 0)) % 3
    adapting, plain = (nk.play(nk.MulticlassAuto(drift=drift), (x, y)) for drift in (None, False))
    assert adapting.mistakes < 0.5 * plain.mistakes
    (certificate,) = adapting.certify()
    assert certificate.status == "valid"
    assert adapting.log_loss <= certificate.bound <= 1.1 * adapting.log_loss


@pytest.mark.parametrize("kind", EACH)
def test_games_saved_where_trees_begin_to_grow_and_take_over_give_the_same_bits(kind, tmp_path, monkeypatch):
    for module in ("boosting", "regrown", "forest_regression"):  # builds are spread over many rounds
        monkeypatch.setattr(f"novikoff.trees.{module}.SHARE", 10)
    x, y = task(kind, 320)
    game, saved = nk.Game(kind()), {}
    game.learn_batch(nk.Batch(x[:226], y[:226], 1))
    for t in range(226, 320):
        learner = game.ledger.learner
        windowed = learner._boosted[1] if isinstance(learner._boosted, list) else learner._forests[1]
        now = windowed.building, windowed.rounds == windowed.next
        if kind is nk.AutoRegression:
            now = *now, learner._forest.began >= 0
        if now not in saved:
            saved[now] = t
            nk.save(game.ledger, tmp_path / f"{t}.nk")
        game.learn_batch(nk.Batch(x[t : t + 1], y[t : t + 1], t + 1))
    assert len(saved) >= 2
    for t in saved.values():
        resumed = nk.load(tmp_path / f"{t}.nk")
        nk.Game(resumed.learner, resumed).learn_batch(nk.Batch(x[t:], y[t:], t + 1))
        assert resumed.loss == game.ledger.loss
        assert [str(one) for one in resumed.certify()] == [str(one) for one in game.ledger.certify()]


@pytest.mark.parametrize("kind", [nk.Auto, nk.AutoRegression])
def test_a_table_of_256_columns_is_saved_and_resumed(kind, tmp_path):
    x = np.random.default_rng(0).normal(size=(12, 256))
    y = x[:, 0] if kind is nk.AutoRegression else np.where(x[:, 0] > 0.0, 1, -1).astype(np.int8)
    ledger = nk.play(kind(), (x, y))
    nk.save(ledger, tmp_path / "wide.nk")
    resumed = nk.load(tmp_path / "wide.nk")
    rows = nk.Batch(x, y, 1)
    np.testing.assert_array_equal(resumed.learner.predict_many(rows), ledger.learner.predict_many(rows))


class WithoutWindows(nk.AutoRegression):
    """Its trees on recent rows are fitted to all rows."""

    def _create(self):
        super()._create()
        for part in self._boosted:
            part.settings = replace(part.settings, window=0)


@pytest.mark.slow
def test_numbers_follow_a_change_by_trees_on_recent_rows():
    x = np.random.default_rng(3).uniform(-1.0, 1.0, (1500, 3))
    y = np.sign(x[:, 0] * x[:, 1]) * np.where(np.arange(1500) < 900, 1.0, -1.0) + 0.1 * x[:, 2]
    adapting, without = (nk.play(make(), (x, y)) for make in (nk.AutoRegression, WithoutWindows))
    assert adapting.loss < 0.95 * without.loss
    (certificate,) = adapting.certify()
    assert certificate.status == "valid"
    assert adapting.loss <= certificate.bound <= 1.1 * adapting.loss


def test_trees_with_a_window_are_refitted_after_a_change(monkeypatch):
    rested(monkeypatch)
    x, y = steady_rows(500)
    y[300:] *= -1
    learner = nk.Auto()
    learner.learn_many(nk.Batch(x[:300], y[:300], 1))
    before = [forest.epochs for forest in learner._forests[1:]]
    learner.learn_many(nk.Batch(x[300:], y[300:], 301))
    after = [forest.epochs for forest in learner._forests[1:]]
    assert after[0] >= before[0] + 4
    assert after[1] > before[1]


@pytest.mark.parametrize("make", EACH)
def test_mean_weights_are_kept_and_saved_in_all_tasks(make):
    x, y = task(make, 140)
    ledger = by_batches(make(), x, y)
    learner = ledger.learner
    assert len(learner.shares) == len(learner.names)
    assert learner.shares.sum() == pytest.approx(1.0)
    assert (learner.shares != learner.weights).any()
    assert make.restore(learner.state()).shares.tolist() == learner.shares.tolist()
    assert "mean weight (now)" in ensemble(ledger).note


@pytest.mark.parametrize("make", EACH)
def test_games_in_two_threads_are_the_games_alone(make):
    x, y = task(make, 120)
    alone = by_batches(make(), x, y).loss
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda sizes: by_batches(make(), x, y, *sizes).loss, [(), (50,)]))
    assert both == [alone, alone]
