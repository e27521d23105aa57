"""Weighted rows: learned once for each unit of weight, predicted and scored once, with the weight."""

import json

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Batch
from novikoff.data.cached import hold
from novikoff.data.tables import row_weights as weighing
from novikoff.drift.monitor import DriftWatch
from novikoff.evaluation.compare import order
from novikoff.evaluation.permutation import fewer_mistakes
from novikoff.game.ledger_state import packed, unpacked
from novikoff.reports import page, plain, terminal
from novikoff.reports.sentences import share

RATES = ("mistake_rate", "loss_rate", "precision", "recall", "f1", "auc", "mae", "rmse", "r2", "confusion",
         "best_constant", "last_label")  # fmt: skip


def rows(n=300, seed=0, labels=2):
    """Rows, noisy labels, and weights from 0 to 4."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(3)
    noisy = x @ [1.0, -0.5, 0.2] + rng.normal(size=n)
    y = np.array(["no", "yes"])[(noisy > 0.4).astype(int)] if labels == 2 else np.array(["a", "b", "c"])[
        np.digitize(noisy, [-0.5, 0.7])]  # fmt: skip
    return x, y, rng.integers(0, 5, n)


def weighed(path, x, y, weights):
    lines = [f"{','.join(map(str, row))},{w},{label}" for row, w, label in zip(x, weights, y, strict=True)]
    path.write_text("a,b,c,w,label\n" + "\n".join(lines) + "\n")
    return str(path)


def measured(ledger):
    own = ledger.metrics
    return {**{name: getattr(ledger, name) for name in RATES}, "log_loss": own.log_loss, "brier": own.brier,
            "weight": own.rounds, "rows": own.rows, "calibration": own.calibration.table(), "curve": own.curve,
            "expected": own.expected}  # fmt: skip


def first_predictions(learner, x, y, weights):
    """What the learner predicts of each row before its first copy; y are its labels."""
    game = nk.Game(learner, track=False)
    said, chances, scores = [], [], []
    for row, label, weight in zip(x, y, weights, strict=True):
        if not weight:
            continue
        said.append(learner.predict_one(row))
        chances.append(learner.probability_one(row) if learner.has("probability_one") else np.nan)
        scores.append(learner.score_one(row) if learner.has("score_one") else np.nan)
        for _ in range(weight):
            game.learn_one(row, label)
    return np.array(said), np.array(chances), np.array(scores)


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "ftrl", "arow", "linear-mixture"])
def test_weighted_row_is_scored_once(tmp_path, spec):
    x, y, weights = rows()
    ledger = nk.play(nk.make(spec, "learner"), nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w"))
    signs = np.where(y == "yes", 1, -1)
    said, chances, scores = first_predictions(nk.make(spec, "learner"), x, signs, weights)
    true, w = signs[weights > 0], weights[weights > 0]
    total, wrong = w.sum(), w[said != true].sum()
    assert (ledger.rounds, ledger.weighted.rounds, ledger.weighted.rows) == (total, total, (weights > 0).sum())
    assert ledger.mistakes < wrong  # the copies after the first are easier
    assert ledger.mistake_rate == wrong / total
    right = w[(said == 1) & (true == 1)].sum()
    assert ledger.precision == right / w[said == 1].sum()
    assert ledger.recall == right / w[true == 1].sum()
    assert ledger.f1 == 2 * right / (w[said == 1].sum() + w[true == 1].sum())
    assert ledger.confusion.table == [[w[(true == came) & (said == one)].sum() for one in (-1, 1)] for came in (-1, 1)]
    assert ledger.best_constant.costs == min(w[true == 1].sum(), w[true == -1].sum())
    assert ledger.last_label == w[true != np.append(1, true[:-1])].sum()
    if ledger.auc is not None:
        above = np.sign(scores[true == 1][:, None] - scores[true == -1]) / 2 + 0.5
        pairs = w[true == 1][:, None] * w[true == -1]
        assert ledger.auc.low - 1e-9 <= (above * pairs).sum() / pairs.sum() <= ledger.auc.high + 1e-9
    if ledger.metrics.log_loss is not None:
        of_true = np.where(true == 1, chances, 1.0 - chances)
        assert ledger.metrics.log_loss == pytest.approx(-(w * np.log(of_true)).sum(), rel=1e-9)
        assert ledger.metrics.brier == pytest.approx((w * (1.0 - of_true) ** 2).sum(), rel=1e-9)
        bins = ledger.metrics.calibration.table()
        assert sum(one.rounds for one in bins) == total
        assert ledger.metrics.calibration.predicted == pytest.approx((w * chances).sum(), rel=1e-9)


def test_weighted_regression_is_scored_once(tmp_path):
    x, _, weights = rows()
    y = (x @ [2.0, -1.0, 0.5] + np.random.default_rng(1).normal(size=len(x))).round(3)
    path = weighed(tmp_path / "w.csv", x, y, weights)
    ledger = nk.play(nk.VAW(), nk.read(path, weight="w", outcomes="numbers"))
    said, _, _ = first_predictions(nk.VAW(), x, y, weights)
    true, w = y[weights > 0], weights[weights > 0]
    mean = (w * true).sum() / w.sum()
    assert ledger.mae == pytest.approx((w * abs(said - true)).sum() / w.sum(), rel=1e-9)
    assert ledger.rmse == pytest.approx(np.sqrt((w * (said - true) ** 2).sum() / w.sum()), rel=1e-9)
    lost = (w * (said - true) ** 2).sum() / (w * (true - mean) ** 2).sum()
    assert ledger.r2 == pytest.approx(1.0 - lost, rel=1e-9)
    assert ledger.loss < ledger.metrics.loss


@pytest.mark.parametrize("spec", ["auto", "perceptron", "hedge:learners=[perceptron,arow]"])
def test_many_labels_and_teams_are_scored_once(tmp_path, spec):
    x, y, weights = rows(labels=3 if "hedge" not in spec else 2)
    stream = nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w")
    ledger = nk.play(spec, stream, record=True)
    firsts = np.concatenate([batch.weights for batch in stream.batches()])
    names = (
        {value: code for code, value in enumerate(ledger.labels)} if ledger.player.numbered else {"no": -1, "yes": 1}
    )
    true = np.array([names[label] for label in np.repeat(y, weights)])
    wrong = firsts[ledger.recorded() != true].sum()
    assert ledger.mistake_rate == wrong / weights.sum()
    assert sum(map(sum, ledger.confusion.table)) == weights.sum()
    for member in ledger.members:
        assert member.weighted.rounds == weights.sum()
        assert member.mistakes < member.weighted.mistakes


def test_sets_of_weighted_rows_are_counted_once(tmp_path):
    x, y, weights = rows()
    stream = nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w")
    ledger = nk.play(nk.make("conformal:learner=[perceptron:bias=1]", "learner"), stream)
    assert ledger.weighted.coverage.played == weights.sum() == ledger.coverage.played
    assert ledger.weighted.coverage.missed != ledger.coverage.missed
    told = plain.game(ledger, ledger.certify(), "c")["sets"]
    assert told["misses"] == ledger.weighted.coverage.missed


@pytest.mark.parametrize("spec", ["perceptron", "auto", "kernel-perceptron", "hedge:learners=[perceptron,arow]"])
def test_metrics_do_not_depend_on_batches_or_on_stops_between_copies(tmp_path, spec, monkeypatch):
    x, y, weights = rows(120)
    path = weighed(tmp_path / "w.csv", x, y, weights)
    whole = nk.play(spec, nk.read(path, weight="w"))
    half = nk.play(spec, nk.read(path, weight="w"), rounds=77)
    again = unpacked(packed(half))
    assert measured(again) == measured(half)
    nk.play(again.learner, nk.read(path, weight="w"), ledger=again, resume=True)
    assert measured(again) == measured(whole)
    monkeypatch.setattr(weighing, "ROUNDS_TOGETHER", 5)
    assert measured(nk.play(spec, nk.read(path, weight="w"))) == measured(whole)


def test_rows_of_weight_one_leave_the_game_as_it_is_without_weights(tmp_path):
    x, y, _ = rows()
    path = weighed(tmp_path / "w.csv", x, y, np.ones(len(y), int))
    with_weights, without = nk.play("auto", nk.read(path, weight="w")), nk.play("auto", nk.read(path, drop="w"))
    assert with_weights.weighted is None
    assert all(getattr(with_weights, name) == getattr(without, name) for name in RATES)
    assert with_weights.log_loss == without.log_loss


def test_weights_may_begin_after_rows_without_them():
    x, y, weights = rows(200)
    signs, w = np.where(y == "yes", 1, -1), np.maximum(weights, 1)
    copies = np.repeat(np.arange(100, 200), w[100:])
    each = np.concatenate([[k, *[0] * (k - 1)] for k in w[100:]])
    late, early = nk.Game(nk.Perceptron()), nk.Game(nk.Perceptron())
    late.learn_batch(Batch(x[:100], signs[:100], 1))
    late.learn_batch(Batch(x[copies], signs[copies], 101, weights=each))
    for row, label, weight in zip(x, signs, [1] * 100 + w[100:].tolist(), strict=True):
        early.learn_one(row, label, weight=weight)
    late.learn_batch(Batch(x[:50], signs[:50], late.ledger.rounds + 1))
    for row, label in zip(x[:50], signs[:50], strict=True):
        early.learn_one(row, label)
    assert measured(late.ledger) == measured(early.ledger)
    assert late.ledger.weighted.rows == 250


@pytest.mark.parametrize("weight", [-1, float("nan"), "2", None])
def test_game_refuses_invalid_weights(weight):
    game = nk.Game(nk.Perceptron())
    with pytest.raises(InputError, match="a weight must be a number from 0"):
        game.learn_one([1.0], 1, weight=weight)
    assert game.ledger.rounds == 0


def test_row_of_weight_zero_is_not_learned():
    game = nk.Game(nk.Perceptron())
    game.learn_one([1.0], -1, weight=0)
    assert (game.ledger.rounds, game.ledger.weighted) == (0, None)


def test_row_with_an_id_has_weight_one():
    game = nk.Game(nk.Perceptron())
    game.predict_one([1.0], id="a")
    with pytest.raises(InputError, match="a row with an id must have weight 1"):
        game.learn_one("a", 1, weight=2)


@pytest.mark.parametrize("weights", [[1], [1, -1], [1.5, 1.0], [[1, 1]]])
def test_batch_refuses_weights_of_another_shape_or_kind(weights):
    with pytest.raises(InputError, match="weights of a batch must be 2 whole numbers from 0"):
        Batch(np.zeros((2, 1)), np.ones(2, np.int8), 1, weights=weights)


def test_labels_that_come_late_may_have_weights():
    x, y, weights = rows(100)
    signs, w = np.where(y == "yes", 1, -1).astype(np.int8), np.maximum(weights, 1)
    times = np.repeat(np.arange(100), w)
    batch = Batch(x[times], signs[times], 1, weights=np.concatenate([[k, *[0] * (k - 1)] for k in w]))
    game, plain_game = nk.Game(nk.Perceptron()), nk.Game(nk.Perceptron())
    game.learn_batch(batch, game.predict_batch(batch), np.zeros(len(batch), np.int64))
    plain_game.learn_batch(batch)
    assert game.ledger.weighted.mistakes == plain_game.ledger.weighted.mistakes
    assert game.ledger.mistake_rate == w[signs == -1].sum() / w.sum()  # +1 was served throughout, before any label
    assert (game.ledger.late.labelled, game.ledger.metrics.rows) == (w.sum(), 100)
    assert all(one.status != "violated" for one in game.ledger.certify())


def test_edited_weights_of_a_saved_game_are_refused(tmp_path):
    x, y, weights = rows()
    ledger = nk.play("perceptron", nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w"))
    for name, value in (("rows", 10**6), ("mistakes", 0), ("rounds", 3), ("positives", -1), ("paid", (np.inf, 0.0))):
        state = packed(ledger)
        state["ledger"]["weighted"][name] = value
        with pytest.raises(ModelFileError):
            unpacked(state)


def test_converted_file_keeps_weights(tmp_path):
    x, y, weights = rows()
    stream = nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w")
    nk.convert(stream, tmp_path / "w.arrow")
    want, found = nk.play("perceptron", stream), nk.play("perceptron", nk.read(str(tmp_path / "w.arrow")))
    assert measured(found) == measured(want)


# Independence


def many_copies(n=400, seed=0):
    """Independent draws whose labels are coin flips, each of weight 5."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).round(3), np.where(rng.random(n) < 0.5, "yes", "no"), np.full(n, 5)


@pytest.mark.parametrize("how", ["random", "best", "voted"])
def test_limits_on_the_risk_of_a_kept_classifier_are_void_with_weights(tmp_path, how):
    path = weighed(tmp_path / "w.csv", *many_copies())
    ledger = nk.play(nk.Perceptron(bias=1.0), nk.read(path, weight="w"), candidates=20)
    kept = nk.finalize(ledger, how, stream=nk.read(path, weight="w"))
    assert {one.status for one in kept.certificates} == {"void"}
    assert "rows had weights: some were played as several examples" in kept.certificates[0].reason
    assert kept.wealth is None
    assert type(kept).restore(kept.state()).certificates == kept.certificates
    plain_game = nk.play(nk.Perceptron(bias=1.0), nk.read(path, drop="w"), candidates=20)
    assert "void" not in {
        one.status for one in nk.finalize(plain_game, how, stream=nk.read(path, drop="w")).certificates
    }


def test_limit_on_the_risk_of_an_average_is_void_with_weights(tmp_path):
    x, _, weights = many_copies()
    path = weighed(tmp_path / "w.csv", x, x[:, 0].clip(-1, 1), weights)
    learner = nk.OnlineGradient(limit=9.0, low=-1.0, high=1.0)
    for reading, void in (({"weight": "w"}, True), ({"drop": "w"}, False)):
        ledger = nk.play(learner.restore(learner.state()), nk.read(path, outcomes="numbers", **reading), candidates=1)
        mean = nk.parallel_gradient(nk.read(path, outcomes="numbers", **reading), learner, shards=2)
        limits = [*nk.finalize(ledger, "averaged").certificates, *mean.certificates]
        drawn = [one.standing for limit in limits for one in limit.assumptions if "independent draws" in one.claim]
        assert drawn == (["refuted"] if void else ["trusted"]) * len(limits)


def test_limit_by_rows_held_back_is_void_with_weights(tmp_path):
    path = weighed(tmp_path / "w.csv", *many_copies())
    for reading, void in (({"weight": "w"}, True), ({"drop": "w"}, False)):
        mixed = nk.parallel_perceptron(nk.read(path, **reading), shards=2, epochs=2, held=1)
        found = next(one for one in mixed.certify() if one.theorem == "held_risk")
        assert (found.status == "void") == void
        saved = type(mixed).restore(mixed.state())
        assert [one.status for one in saved.certify()] == [one.status for one in mixed.certify()]


def test_drift_test_sees_each_weighted_row_once(tmp_path):
    alarms, seen = 0, set()
    for seed in range(8):
        path = weighed(tmp_path / "w.csv", *many_copies(600, seed))
        learner = nk.Perceptron(bias=1.0)
        ledger = nk.Ledger(learner, drift=DriftWatch())
        nk.play(learner, nk.read(path, weight="w"), ledger=ledger)
        alarms += ledger.drift.test.alarm
        seen.add(ledger.drift.rounds)
        unpacked(packed(ledger))
    assert alarms <= 2  # of 8: alpha is 0.05
    assert seen == {600}
    one_by_one = nk.Game(nk.Perceptron(bias=1.0), drift=nk.DriftTest())
    x, y, weights = many_copies()
    for row, label, weight in zip(x, y, weights.tolist(), strict=True):
        one_by_one.learn_one(row, 1 if label == "yes" else -1, weight=weight)
    assert one_by_one.ledger.drift.rounds == 400


def test_shuffles_move_rows_with_all_their_copies(tmp_path):
    x, y, weights = rows(50)
    held = hold(nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w"))
    assert (held.units, len(held)) == ((weights > 0).sum(), weights.sum())
    shuffle = order(held.units, 0, 0)
    mixed = held.shuffled(shuffle)
    found = np.concatenate([batch.x for batch in mixed.batches()])
    assert found.tolist() == np.repeat(x[weights > 0][shuffle], weights[weights > 0][shuffle], axis=0).tolist()
    scored = np.concatenate([batch.weights for batch in mixed.batches()])
    assert scored[scored > 0].tolist() == weights[weights > 0][shuffle].tolist()


def test_comparison_of_learners_counts_weights(tmp_path):
    x, y, weights = rows()
    path = weighed(tmp_path / "w.csv", x, y, weights)
    found = nk.compare(["perceptron"], nk.read(path, weight="w"))
    ledger = nk.play("perceptron", nk.read(path, weight="w"))
    assert found.learners[0].rate.mean == ledger.weighted.mistakes / weights.sum()
    assert found.learners[0].games[0].last_label == ledger.last_label
    shuffled = nk.compare(["perceptron"], nk.read(path, weight="w"), shuffles=5)
    plain_rate = nk.compare(["perceptron"], nk.read(path, drop="w"), shuffles=5).learners[0].rate.mean
    assert abs(shuffled.learners[0].rate.mean - plain_rate) < 0.1


def test_permutation_test_sees_each_weighted_row_once(tmp_path):
    x, y, weights = rows(60)
    seen = []
    stream = nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w")
    nk.permutation_test("perceptron", stream, 3, statistic=lambda wrong: float(seen.append(len(wrong)) or 0), threads=1)
    assert seen == [(weights > 0).sum()] * 4
    assert weights.max() > 1


def test_permutation_test_of_weighted_independent_rows_finds_nothing(tmp_path):
    small = 0
    for seed in range(8):
        x, y, weights = rows(60, seed)
        path = weighed(tmp_path / f"{seed}.csv", x, y, weights)
        stream = nk.read(path, weight="w")
        small += nk.permutation_test("perceptron", stream, 19, seed, statistic=fewer_mistakes).p <= 0.05
    assert small <= 2


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 77, 150])
@pytest.mark.parametrize("spec", ["perceptron", "linear-mixture"])
def test_weight_that_is_counted_was_played_where_rounds_are_limited(tmp_path, spec, rounds):
    x, y, weights = rows()
    path = weighed(tmp_path / "w.csv", x, y, weights)
    ledger = nk.play(spec, nk.read(path, weight="w"), rounds=rounds)
    assert ledger.weighted is None or ledger.weighted.rounds == ledger.rounds
    assert rounds <= ledger.rounds < rounds + weights.max()
    assert ledger.rounds in np.cumsum(weights)
    again = nk.play(ledger.learner, nk.read(path, weight="w"), ledger=ledger, resume=True)
    whole = nk.play(spec, nk.read(path, weight="w"))
    assert (again.rounds, again.mistakes, again.weighted.mistakes) == (
        whole.rounds, whole.mistakes, whole.weighted.mistakes,
    )  # fmt: skip
    held = nk.compare([spec], nk.read(path, weight="w"), rounds=rounds)
    assert held.learners[0].games[0].rounds in np.cumsum(weights)


# Reports


def test_comparison_names_the_unit_of_rates_and_bounds(tmp_path, capsys):
    x, y, weights = rows()
    path = weighed(tmp_path / "w.csv", x, y, weights)
    told = (
        f"{(weights > 0).sum()} rows of weight {weights.sum():,}. Rates count each row once, with its weight; updates"
    )
    assert main(["compare", path, "-l", "perceptron", "--weight", "w", "--report", str(tmp_path / "r.html")]) == 0
    assert told in capsys.readouterr().out
    assert told in (tmp_path / "r.html").read_text()
    assert main(["compare", path, "-l", "perceptron", "--weight", "w", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["weighted"]
    assert (found["rows"], found["weight"]) == ((weights > 0).sum(), weights.sum())
    assert told in found["counts"]
    assert main(["compare", path, "-l", "perceptron", "--drop", "w"]) == 0
    assert "weight" not in capsys.readouterr().out


@pytest.fixture
def game(tmp_path):
    x, y, weights = rows()
    return nk.play("auto", nk.read(weighed(tmp_path / "w.csv", x, y, weights), weight="w")), weights


def test_output_counts_weights(game, capsys):
    ledger, weights = game
    terminal.game(terminal.Out(), ledger, ledger.certify(), "auto", verbose=True)
    told = " ".join(capsys.readouterr().out.split())
    accuracy = f"accuracy {share(1.0 - ledger.mistake_rate)} over a total weight of {weights.sum():,}"
    assert f"{accuracy} ({(weights > 0).sum()} rows); " in told
    assert "of the weight were +1" in told


def test_json_has_both_counts(game):
    ledger, weights = game
    told = plain.game(ledger, ledger.certify(), "auto")
    assert (told["rounds"], told["mistakes"]) == (ledger.rounds, ledger.mistakes)
    assert told["mistake_rate"] == ledger.weighted.mistakes / weights.sum()
    counted = told["weighted"]
    assert (counted["rows"], counted["weight"]) == ((weights > 0).sum(), weights.sum())
    assert counted["mistakes"] == ledger.weighted.mistakes
    assert told["log_loss"] == ledger.weighted.log_loss / weights.sum()
    assert sum(one["rounds"] for one in told["calibration"]["bins"]) == weights.sum()
    json.dumps(told, allow_nan=False)


def test_page_distinguishes_weights_and_rounds(game):
    ledger, _ = game
    shown = page.document(ledger)
    assert "weight predicted wrong" in shown
    assert "learner, each copy of a row counted as one round" in shown
    assert "of total weight" in repr(ledger) or "of weight" in repr(ledger)


def test_label_weights_do_not_inflate_precision_and_recall(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 3)).round(3)
    y = np.where(rng.random(1500) < 1 / (1 + np.exp(2.6 - x @ [1.0, 0.8, -0.6])), "yes", "no")
    path = weighed(tmp_path / "w.csv", x, y, np.ones(1500, int))
    told = []
    for more in ([], ["--label-weights", "yes=7"]):
        assert main(["run", "perceptron", path, "--drop", "w", "--json", *more]) == 0
        told.append(json.loads(capsys.readouterr().out))
    once, seven = (one["confusion"] for one in told)
    assert seven["recall"] < once["recall"] + 0.3
    assert seven["table"][1][1] % 7 == seven["table"][1][0] % 7 == 0  # every "yes" counts 7 times, right or wrong
