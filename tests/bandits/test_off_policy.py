"""Logs: the limits against the truth of a simulation, in every format; and what is refused, with the reason."""

import io
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import novikoff as nk
from novikoff.core.errors import InputError, SourceError

NAMES = ("red", "green", "blue")


def simulated(rounds=3000, seed=0, gap=0.3):
    """A log of EXP3-IX, with the losses that were not seen; `even` plays all arms alike, `blue` always the last."""
    table = nk.synthetic.bandit_losses(arms=3, gap=gap, rounds=rounds, seed=seed).losses(0, rounds)
    learner, rows = nk.Exp3IX(3, horizon=rounds, seed=seed), []
    for losses in table:
        arm = learner.predict_one()
        chance = learner.chances()[arm]
        learner.learn_one(None, float(losses[arm]))
        rows.append((NAMES[arm], losses[arm], chance, 1 / 3, float(arm == 2)))
    return pd.DataFrame(rows, columns=["arm", "loss", "probability", "even", "blue"]), table, learner


@pytest.fixture(scope="module", autouse=True)
def log():
    """Play the log when a test needs it, not when tests are collected."""
    global LOG, TABLE, LEARNER
    LOG, TABLE, LEARNER = simulated()


def test_the_limits_hold_the_truth():
    found = nk.evaluate_policies(LOG, policies=["even", "blue"])
    truth = {**dict(zip(NAMES, TABLE.mean(axis=0), strict=True)), "even": TABLE.mean()}
    assert [one.policy for one in found.limits[3:]] == ["even", "blue"]
    assert sorted(found.arms) == sorted(NAMES)
    for one in found.limits[:4]:
        assert one.low <= truth[one.policy] <= one.high
        assert one.low <= one.estimate <= one.high
    always, column = (
        next(one for one in some if one.policy == "blue") for some in (found.limits[:3], found.limits[3:])
    )
    assert (always.low, always.high) == pytest.approx((column.low, column.high))
    assert found.rounds == 3000
    assert found.total == LOG.loss.sum()


def test_log_certificate_matches_the_game_except_trusted_assumptions():
    game = nk.Game(nk.Exp3IX(3, horizon=3000, seed=0))
    for loss in LOG.loss.tolist():
        game.learn_one(None, loss)
    of_game = next(one for one in game.ledger.certify() if one.theorem == "observable_regret")
    of_log = nk.evaluate_policies(LOG).regret
    assert of_log.bound == pytest.approx(of_game.bound, rel=1e-9)
    assert of_log.observed == pytest.approx(of_game.observed, rel=1e-9)
    assert of_log.status == "conditional"
    assert {one.claim for one in of_log.assumptions if one.standing == "trusted"} == {
        "the losses of a round were fixed before its draw",
        "the logged probabilities are those the arms were drawn with",
        "there were no arms other than the 3 of the log",
    }
    assert of_log.quantity == "estimated regret"
    assert LOG.loss.sum() - TABLE.sum(axis=0).min() <= of_log.bound


def csv(delimiter):
    return io.BytesIO(LOG.to_csv(index=False, sep=delimiter).encode())


def parquet(folder):
    pq.write_table(pa.Table.from_pandas(LOG), folder / "log.parquet", row_group_size=500)
    return folder / "log.parquet"


@pytest.mark.parametrize("source", [
    lambda folder: csv(","), lambda folder: csv("\t"), parquet, lambda folder: pa.Table.from_pandas(LOG),
    lambda folder: io.BytesIO(LOG.to_json(orient="records", lines=True, double_precision=15).encode()),
])  # fmt: skip
def test_every_format_gives_the_same_result(source, tmp_path):
    found, wanted = (
        nk.evaluate_policies(source(tmp_path), policies=["even"]),
        nk.evaluate_policies(LOG, policies=["even"]),
    )
    assert found.arms == wanted.arms
    assert found.plays == wanted.plays
    assert found.regret.bound == pytest.approx(wanted.regret.bound)
    for one, other in zip(found.limits, wanted.limits, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_limits_of_one_less_the_loss_are_mirrored():
    found, other = (
        nk.evaluate_policies(LOG, policies=["even"]),
        nk.evaluate_policies(LOG.assign(loss=1.0 - LOG.loss), policies=["even"]),
    )
    for one, mirrored in zip(found.limits, other.limits, strict=True):
        assert (one.low, one.high) == pytest.approx((1.0 - mirrored.high, 1.0 - mirrored.low))


def test_limits_on_a_log_by_hand():
    """One arm, certain, that costs 1/4: both sides are S - ln(2 * 7 / delta) / (2 gamma) at its best."""
    log = pd.DataFrame({"arm": ["a"] * 4000, "loss": [0.0, 0.0, 0.0, 1.0] * 1000, "probability": [1.0] * 4000})
    (found,) = nk.evaluate_policies(log, arms=1).limits
    gammas = [10 ** (-k / 2) for k in range(2, 9)]
    allowance = {gamma: math.log(14 / 0.05) / (2 * gamma) for gamma in gammas}
    assert found.low == pytest.approx(max(1000 / (1 + g) - allowance[g] for g in gammas) / 4000)
    assert found.high == pytest.approx(1 - max(3000 / (1 + g) - allowance[g] for g in gammas) / 4000)


def test_rewards_and_ranges_are_reported_in_their_units():
    log = LOG.assign(reward=10.0 - 4.0 * LOG.loss).drop(columns="loss")
    found, plain = nk.evaluate_policies(log, range=(6, 10)), nk.evaluate_policies(LOG)
    assert found.rewards
    assert found.regret.bound == pytest.approx(4 * plain.regret.bound)
    assert found.total == pytest.approx(10 * 3000 - 4 * plain.total)
    for one, other in zip(found.limits, plain.limits, strict=True):
        assert (one.low, one.high) == pytest.approx((10 - 4 * other.high, 10 - 4 * other.low))
    dollars = nk.evaluate_policies(LOG.assign(loss=100 * LOG.loss - 20), range=(-20, 80))
    assert dollars.regret.bound == pytest.approx(100 * plain.regret.bound)


def test_regret_with_unplayed_arms_is_vacuous():
    found = nk.evaluate_policies(LOG, arms=5)
    assert found.regret.status == "vacuous"
    assert "the 3 of the log" not in str(found.regret.assumptions)
    assert nk.evaluate_policies(LOG, arms=3).regret.status == "conditional"


def test_probabilities_that_are_too_small_are_refuted():
    found = nk.evaluate_policies(LOG.assign(probability=0.5 * LOG.probability))
    assert found.regret.status == "void"
    assert "far more often than they allow" in found.regret.reason
    assert found.limits == ()
    assert nk.evaluate_policies(LOG.assign(probability=0.97 * LOG.probability)).regret.status == "conditional"


def test_columns_are_recognised_or_named():
    log = LOG.rename(columns={"arm": "Action", "loss": "COST", "probability": "propensity"})
    assert nk.evaluate_policies(log).regret.bound == nk.evaluate_policies(LOG).regret.bound
    log = LOG.rename(columns={"arm": "a", "loss": "b", "probability": "c"})
    assert (
        nk.evaluate_policies(log, arm="a", loss="b", probability=2).regret.bound
        == nk.evaluate_policies(LOG).regret.bound
    )


def one(**changes):
    row = {"arm": "a", "loss": 0.5, "probability": 0.5, **changes}
    return pd.DataFrame([{"arm": "b", "loss": 1.0, "probability": 0.5}, row])


@pytest.mark.parametrize(("log", "options", "words"), [
    (one().drop(columns="probability"), {}, r"a log must have the probability with which.*none is called"),
    (one().drop(columns="loss"), {}, r"a column for the loss or reward"),
    (one().drop(columns="arm"), {}, r"a column for the arm.*arm=COLUMN"),
    (one(probability=0.0), {}, r"probabilities must be above 0 and at most 1: row 2, column \"probability\".*has 0"),
    (one(probability=1.5), {}, r"probabilities must be above 0.*has 1.5"),
    (one(probability=math.nan), {}, r"probabilities must not be missing: row 2"),
    (one(loss=7.0), {}, r"losses must be from 0 to 1: row 2, column \"loss\".*has 7.*range=LEAST,MOST"),
    (one(loss=-1.0), {"range": (0, 10)}, r"losses must be from 0 to 10.*has -1"),
    (one(loss="x").astype({"loss": str}), {}, r"a numeric column must contain numbers"),
    (one(arm=None), {}, r"arms must not be missing: row 2"),
    (one(q=1.5), {"policies": ["q"]}, r"probabilities must be from 0 to 1"),
    (one(), {"policies": ["q"]}, r"the column of the policy must be one of"),
    (one(), {"loss": "loss", "reward": "loss"}, r"got both"),
    (one(), {"arm": "loss"}, r"a column must be used only once"),
    (one(), {"arms": 1}, r"arms must be at least the number of logged arms"),
    (one(), {"range": (1, 0)}, r"a range must be two numbers, the smallest and the largest"),
    (one(), {"delta": 0}, r"delta must be between 0 and 1"),
    (one(), {"gammas": []}, r"gammas must be"),
])  # fmt: skip
def test_invalid_logs_are_refused_with_the_reason(log, options, words):
    if "q" in options.get("policies", ()) and "q" in log:
        log = log.assign(q=[0.5, 1.5])
    with pytest.raises((SourceError, InputError), match=words):
        nk.evaluate_policies(log, **options)


def test_errors_name_the_line_number():
    with pytest.raises(SourceError, match=r"line 3, column \"loss\""):
        nk.evaluate_policies(io.BytesIO(b"arm,loss,p\na,1,0.5\nb,3,0.5\n"))
    with pytest.raises(SourceError, match="a log must be a table"):
        nk.evaluate_policies(io.BytesIO(b"1 1:0.5\n0 2:1\n"), format="svmlight")


def test_pieces_of_any_size_give_the_same_result():
    text = LOG.to_csv(index=False).encode()
    whole, parts = (
        nk.evaluate_policies(io.BytesIO(text)),
        nk.evaluate_policies(io.BytesIO(text), format="csv", chunk=2000),
    )
    assert parts.regret.bound == pytest.approx(whole.regret.bound)
    assert parts.plays == whole.plays


@pytest.mark.slow
def test_limits_of_policies_fail_in_few_of_1000_logs():
    """Both sides of three arms and two policies, at once; 50 of 1,000 would be allowed."""
    failed = 0
    for seed in range(1000):
        log, table, _ = simulated(200, seed, gap=0.1 * (seed % 5))
        found = nk.evaluate_policies(log, policies=["even", "blue"], arms=3)
        truth = {**dict(zip(NAMES, table.mean(axis=0), strict=True)), "even": table.mean()}
        failed += any(not low.low <= truth[low.policy] <= low.high for low in found.limits)
    assert failed <= 50


def test_the_estimate_of_a_policy_is_right_on_average():
    errors = []
    for seed in range(30):
        log, table, _ = simulated(300, seed, gap=0.2)
        found = nk.evaluate_policies(log, policies=["even"])
        errors.append(found.limits[-1].estimate - table.mean())
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(30) + 0.01
