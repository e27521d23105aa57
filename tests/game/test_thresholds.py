"""Thresholds: exact counts at each, the rule that chooses one, and predictions that use it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError, ModelFileError
from novikoff.game.metrics import RANKING_BINS, Ranking
from novikoff.game.thresholds import (
    Threshold,
    check_rule,
    decide,
    log_odds,
    lowest,
    probability,
    rounded_down,
    table_of,
)

HOSTILE = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e-300, -1e-300, 5e-324, 1e300, -1e300]


def ranking(scores, y):
    found = Ranking()
    found.add(np.array(scores, dtype=np.float64), np.array(y, dtype=np.int8))
    return found


def counts(scores, y, score):
    """True positives, false positives, false negatives, true negatives of a threshold, one row at a time."""
    said = [(0.0 if one != one else one) >= score and score < math.inf for one in scores]
    return tuple(sum(s is up and t == label for s, t in zip(said, y, strict=True))
                 for up, label in ((True, 1), (True, -1), (False, 1), (False, -1)))  # fmt: skip


def test_every_row_of_the_table_counts_its_own_predictions():
    rng = np.random.default_rng(3)
    scores = [*HOSTILE, *(rng.standard_normal(150) * 10.0 ** rng.integers(-25, 25, 150)).tolist()]
    y = rng.choice([-1, 1], len(scores)).tolist()
    table = table_of(ranking(scores, y), False)
    assert [one.threshold for one in table] == sorted({one.threshold for one in table})
    for one in table:
        assert one[2:] == counts(scores, y, one.score)
    assert table[-1][2:4] == (0, 0)
    assert table[0].recall == 1.0


def test_lower_ends_of_bins_are_those_of_the_counts():
    ends = lowest(np.arange(RANKING_BINS))
    assert (np.diff(ends) > 0).all()
    assert ends[RANKING_BINS // 2] == 0.0
    finite = ends[1:].tolist()
    assert ranking(finite, np.ones(len(finite))).counts()[0].tolist() == list(range(1, RANKING_BINS))
    for score in (-2.5, -1.0, 0.3, 1e30, 0.0):
        assert rounded_down(score) <= score
        assert ends[np.searchsorted(ends, rounded_down(score))] == rounded_down(score)
    assert rounded_down(math.inf) == math.inf


def test_probabilities_of_scores():
    assert [probability(one) for one in (0.0, -math.inf, math.inf)] == [0.5, 0.0, math.inf]
    for share in (1e-9, 0.2, 0.5, 0.999):
        assert probability(log_odds(share)) == pytest.approx(share)
    assert (log_odds(0.0), log_odds(1.0)) == (-math.inf, math.inf)


def hand():
    """Scores 3, 2, 1, -1, -2 with labels + - + - +."""
    return table_of(ranking([3.0, 2.0, 1.0, -1.0, -2.0], [1, -1, 1, -1, 1]), False)


@pytest.mark.parametrize(
    ("rule", "target", "fp", "fn", "expected"),
    [
        ("cost", None, 1.0, 1.0, (2, 1, 1, 1)),  # 2 errors at 1, at 3, and below all
        ("cost", None, 1.0, 5.0, (3, 2, 0, 0)),  # 2 at the lowest, 6 at 1
        ("cost", None, 5.0, 1.0, (1, 0, 2, 2)),
        ("precision", 0.6, 1.0, 1.0, (3, 2, 0, 0)),  # 3 of 5 at the lowest: recall 1
        ("precision", 0.65, 1.0, 1.0, (2, 1, 1, 1)),
        ("precision", 0.9, 1.0, 1.0, (1, 0, 2, 2)),
        ("recall", 0.6, 1.0, 1.0, (2, 1, 1, 1)),
        ("recall", 0.3, 1.0, 1.0, (1, 0, 2, 2)),
        ("recall", 1.0, 1.0, 1.0, (3, 2, 0, 0)),
    ],
)
def test_rule_chooses_the_threshold_found_by_hand(rule, target, fp, fn, expected):
    assert decide(hand(), rule, target, fp, fn, False)[2:] == expected


def test_cost_too_high_for_any_positive_prediction_chooses_none():
    table = table_of(ranking([2.0, 1.0], [-1, 1]), False)
    chosen = decide(table, "cost", None, 100.0, 1.0, False)
    assert chosen[2:] == (0, 0, 1, 1)
    assert chosen.threshold == math.inf


def test_unreachable_precision_names_the_largest():
    with pytest.raises(InputError, match="no threshold has a precision of 1 on these rows: the largest is 0.6667"):
        decide(table_of(ranking([3.0, 2.0, 1.0], [-1, 1, 1]), False), "precision", 1.0, 1.0, 1.0, False)


@pytest.fixture(scope="module")
def played():
    return nk.play("logistic", "demo:breast-cancer")


def test_own_predictions_are_the_row_at_zero(played):
    row = played.thresholds().at(0.0)
    (tn, fp), (fn, tp) = played.confusion.table
    assert row[2:] == (tp, fp, fn, tn)
    assert (row.precision, row.recall, row.threshold) == (played.precision, played.recall, 0.5)
    assert row.f1 == pytest.approx(played.f1)
    assert row.false_positive_rate == fp / (fp + tn)


def test_predictions_use_the_threshold_and_so_does_the_saved_model(played, tmp_path):
    rows = nk.read("demo:breast-cancer")
    own = played.predict(rows)
    shares = played.predict_proba(rows)[:, 1]
    chosen = nk.choose_threshold(played, cost={"FP": 1, "FN": 10})
    try:
        assert chosen.cost == min(one.cost(1, 10) for one in played.thresholds())
        expected = np.where(shares >= chosen.value, "malignant", "benign")
        assert (played.predict(rows) == expected).all()
        assert (own != expected).any()
        assert [one.status for one in chosen.certificates] == ["conditional"] * 3
        nk.save(played, tmp_path / "m.nk")
        loaded = nk.load(tmp_path / "m.nk")
        assert vars(loaded.threshold) == vars(chosen)
        assert (loaded.predict(nk.read("demo:breast-cancer")) == expected).all()
        nk.choose_threshold(played, threshold=0.5)
        assert (played.predict(nk.read("demo:breast-cancer")) == own).all()
    finally:
        played.threshold = None


def test_explanations_have_the_predictions_of_the_threshold(played):
    rows = next(iter(nk.read("demo:breast-cancer", like=played).batches())).x[:40]
    own = played.predict(rows)
    nk.choose_threshold(played, recall=1.0)
    try:
        found = played.predict(rows)
        assert (found != own).any()
        assert [played.why(row).prediction for row in rows] == found.tolist()
        assert [played.predict(row) for row in rows] == found.tolist()
    finally:
        played.threshold = None


def test_threshold_of_fresh_rows_is_about_the_model(played):
    try:
        chosen = nk.choose_threshold(played, recall=0.9, data="demo:breast-cancer")
        scores = played.player.scores_many(next(iter(nk.read("demo:breast-cancer", like=played).batches())))
        assert chosen.fresh
        assert chosen.counts[0] + chosen.counts[1] == int((scores >= chosen.score).sum())
        assert chosen.row.recall >= 0.9
        assert "not learned from" in chosen.certificates[0].reason
    finally:
        played.threshold = None


def test_weights_and_second_passes_leave_no_limit():
    x, y = np.random.default_rng(1).standard_normal((60, 2)), np.tile([1, -1], 30)
    twice = nk.choose_threshold(nk.play("logistic", (x, y), passes=2), cost={"FP": 1, "FN": 1})
    assert "each example was played once" in twice.certificates[0].reason
    again = nk.play("logistic", (x, y))
    again = nk.play(again.learner, (x, y), ledger=again)  # the same rows, which the ledger cannot know
    chosen = nk.choose_threshold(again, cost={"FP": 1, "FN": 1})
    once = chosen.certificates[0].assumptions[1]
    assert (once.claim, once.standing) == ("each example was played once", "trusted")
    game = nk.Game(nk.Logistic())
    for one, label in zip(x, y, strict=True):
        game.learn_one(one, int(label), weight=2)
    chosen = nk.choose_threshold(game.ledger, recall=0.5)
    assert chosen.rows == 120
    assert {one.status for one in chosen.certificates} == {"void"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a threshold needs a rule"),
        ({"cost": {"FP": 1}}, "costs must be those of FP"),
        ({"cost": {"FP": 1, "FN": 0}}, "costs must be positive numbers"),
        ({"cost": {"FP": 1, "FN": math.inf}}, "costs must be positive numbers"),
        ({"precision": 1.5}, "precision must be above 0 and at most 1"),
        ({"recall": True}, "recall must be above 0"),
        ({"precision": 0.9, "recall": 0.9}, "cannot be combined"),
        ({"cost": {"FP": 10**400, "FN": 1}}, "costs must be positive numbers"),
        ({"threshold": math.nan}, "threshold must be a finite number"),
        ({"threshold": -math.inf}, "threshold must be a finite number"),
        ({"threshold": 10**400}, "threshold must be a finite number"),
    ],
)
def test_impossible_rules_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        check_rule(*(given.get(name) for name in ("cost", "precision", "recall", "threshold")))


def test_games_without_scores_of_two_labels_are_refused():
    with pytest.raises(InputError, match="thresholds need a learner with scores for two labels"):
        nk.play("threshold-halving:10", [(5, -1), (8, 1)]).thresholds()
    with pytest.raises(InputError, match="at least one row"):
        nk.Game(nk.Logistic()).ledger.thresholds()
    with pytest.raises(InputError, match="from 0 to 1"):
        nk.choose_threshold(nk.play(nk.Logistic(), [([1.0], 1), ([0.0], -1)]), threshold=7)


def test_fresh_rows_with_the_other_positive_label_are_refused(played):
    frame = nk.read("demo:breast-cancer")
    frame.labels = nk.Labels("malignant", "benign")
    with pytest.raises(MismatchError, match="must be the positive label"):
        nk.choose_threshold(played, recall=0.5, data=frame)


def test_altered_threshold_of_a_model_file_is_refused():
    state = Threshold("cost", None, 0.25, True, [3, 2, 1, 4]).state()
    assert vars(Threshold.restore(state)) == vars(Threshold("cost", None, 0.25, True, [3, 2, 1, 4]))
    for name, value in (("score", math.nan), ("counts", [1, 2]), ("rule", "best"), ("delta", 0.0), ("cost_fp", -1.0)):
        with pytest.raises(ModelFileError):
            Threshold.restore({**state, name: value})
