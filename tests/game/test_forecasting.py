"""nk.forecast: several steps ahead, with an interval for each."""

import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.core.errors import InputError
from novikoff.reports.forecast_chart import chart


def series(count=80, shops=1):
    rng = np.random.default_rng(0)
    week = np.repeat(np.arange(count), shops)
    shop = np.tile(np.arange(shops), count)
    sales = 20 + 5 * shop + 8 * np.sin(week * np.pi / 2) + rng.normal(size=len(week))
    return pd.DataFrame({"shop": [f"s{one}" for one in shop], "season": week % 4, "sales": sales.round(3)})


@pytest.fixture(scope="module")
def found():
    return nk.forecast("vaw", series(), horizon=3, lags=4, label="sales")


def test_each_number_of_steps_is_a_game_of_its_own(found):
    for h, ledger in enumerate(found.ledgers, 1):
        alone = nk.play("conformal:[vaw],alpha=0.1,step=0.05", series(), lags=4, horizon=h, task="regress")
        assert (ledger.loss, ledger.coverage.missed) == (alone.loss, alone.coverage.missed)
        assert f"sales lag {h}" in ledger.encoding.places
    assert all(one.bound >= one.observed for certificates in found.certify() for one in certificates)


def test_results_by_number_of_steps(found):
    for one in found.steps():
        assert one.rows == 80
        assert abs(one.coverage - one.target) <= one.guaranteed
        assert one.mae <= one.rmse
    assert len(chart(found).panels) == 2


def test_forecast_of_a_row_uses_all_outcomes_so_far():
    whole = series()
    found = nk.forecast("vaw", whole[:-3], horizon=3, lags=4)
    ahead = found.predict(whole[-3:].drop(columns="sales"))
    assert [one.steps for one in ahead] == [1, 2, 3]
    for h, one in enumerate(ahead, 1):
        alone = nk.play("vaw", whole[:-3], lags=4, horizon=h, task="regress")
        alone.player.arrive()
        assert one.prediction == alone.predict(whole[-3:].drop(columns="sales"))[h - 1]
        assert one.low <= one.prediction <= one.high


def test_groups_are_series_of_their_own():
    found = nk.forecast("vaw", series(40, shops=2), horizon=2, lags=3, by="shop", label="sales")
    ahead = found.predict([{"shop": shop, "season": 0} for shop in ("s0", "s1", "s0")])
    assert [one.steps for one in ahead] == [1, 1, 2]
    with pytest.raises(InputError, match="at most 2 rows to come"):
        found.predict([{"shop": "s0", "season": 0}] * 3)


def test_forecast_in_groups_sees_no_label_of_later_times():
    frame, cut = series(30, shops=3), 60
    later = frame.copy()
    later.loc[cut:, "sales"] += 50.0
    for h in (2, 3):
        first, second = (
            nk.play("conformal:[vaw]", one, lags=2, by="shop", horizon=h, task="regress", record=True)
            for one in (frame, later)
        )
        known = cut + 3 * h  # rows whose time is at most h times after the last unchanged one
        before, after = (np.concatenate(one.predictions)[:known] for one in (first, second))
        assert before.tolist() == after.tolist()
        assert first.predict_set(frame[:1]) != second.predict_set(frame[:1])


def test_saved_forecasts_continue_with_further_rows(tmp_path, found):
    nk.forecast("vaw", series()[:50], horizon=3, lags=4).save(tmp_path)
    later = nk.forecast(nk.Forecast.load(tmp_path), series()[50:])
    assert [one.loss for one in later.ledgers] == [one.loss for one in found.ledgers]


def test_command_line_forecasts_the_rows_to_come(tmp_path, found):
    series().to_csv(tmp_path / "sales.csv", index=False)
    series()[["shop", "season"]][:2].to_csv(tmp_path / "next.csv", index=False)
    given = ("forecast", "sales.csv", "-l", "vaw", "--horizon", "3", "--lags", "4", "--next", "next.csv")
    said = novikoff(*given, "--json", "--save", "models", cwd=tmp_path)
    fields = json.loads(said.stdout)
    assert [one["mae"] for one in fields["steps"]] == [one.mae for one in found.steps()]
    ahead = found.predict(series()[["shop", "season"]][:2])
    assert [one["prediction"] for one in fields["next"]] == [one.prediction for one in ahead]
    said = novikoff(*given, "--plot", "steps.svg", cwd=tmp_path)
    assert (said.returncode, "at least" in said.stdout, (tmp_path / "steps.svg").exists()) == (0, True, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("vaw", iter([{"a": 1.0}])), "must be held"),
        (("perceptron", series()), "predicts labels"),
        (("nothing", series()), "need the spec of a learner"),
        (("vaw", series(), 0), "horizon must be at least 1"),
    ],
)
def test_wrong_calls_are_refused(arguments, why):
    with pytest.raises(InputError, match=why):
        nk.forecast(*arguments)
