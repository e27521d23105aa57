"""Lags: cells of earlier rows as columns, by group; resumed and predicted from the last rows that were played."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from helpers import novikoff
from novikoff.core.batch import Sparse
from novikoff.core.errors import InputError, MismatchError, SourceError
from novikoff.data.tables.lags import Lags


def rows(count=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "shop": rng.choice(["a", "b", "c"], count),
            "price": rng.integers(1, 9, count).astype(float),
            "sold": rng.integers(0, 20, count).astype(float),
        }
    )


def direct(frame, lags, horizon=1, by=None, sources=("sold",)):
    """Lags by pandas."""
    found = {}
    for source in sources:
        for lag in range(horizon, horizon + lags):
            column = frame[source] if by is None else frame.groupby(by)[source]
            found[f"{source} lag {lag}"] = column.shift(lag)
    return pd.DataFrame(found)


def encoded(frame, *names, **options):
    """The columns `names` of the features of a table with lags, NaN where they are missing."""
    table = nk.Frame(frame, label="sold", outcomes="numbers")
    table.look_back(Lags(**options))
    batches = list(table.batches())
    places, width = table.encoding.places, table.encoding.width
    dense = [b.x.dense(width) if isinstance(b.x, Sparse) else b.x for b in batches]
    x = np.vstack([np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in dense])
    found = {}
    for name in names:
        gone = x[:, places[f"{name} is missing"]] if f"{name} is missing" in places else np.zeros(len(x))
        found[name] = np.where(gone == 1.0, np.nan, x[:, places[name]])
    return pd.DataFrame(found)


@pytest.mark.parametrize(
    "options",
    [{"count": 2}, {"count": 3, "by": "shop"}, {"count": 2, "horizon": 4, "by": "shop", "columns": ["price"]}],
)
def test_lags_are_the_cells_of_earlier_rows_of_the_group(options):
    frame, sources = rows(), ("sold", *options.get("columns", ()))
    wanted = direct(frame, options["count"], options.get("horizon", 1), options.get("by"), sources)
    pd.testing.assert_frame_equal(encoded(frame, *wanted, **options), wanted)


def test_rows_without_a_label_count_and_their_lag_is_missing():
    frame = rows(12)
    frame.loc[5, "sold"] = None
    found = encoded(frame, "sold lag 1", count=1)["sold lag 1"].tolist()
    wanted = frame["sold"].shift(1).drop(index=5).tolist()
    assert found == pytest.approx(wanted, nan_ok=True)


@settings(deadline=None)
@given(st.integers(1, 58), st.integers(0, 2**16))
def test_no_feature_depends_on_the_label_of_its_row_or_later_ones(cut, seed):
    frame = rows()
    later = frame.copy()
    shuffled = np.random.default_rng(seed).permutation(later["sold"].iloc[cut:])
    later.loc[cut:, "sold"] = shuffled + 0.5
    names = [f"sold lag {lag}" for lag in (1, 2, 3)]
    before, after = (encoded(one, *names, count=3, by="shop") for one in (frame, later))
    pd.testing.assert_frame_equal(before[: cut + 1], after[: cut + 1])
    played = [nk.play("vaw", one, label="sold", lags=3, by="shop", record=True) for one in (frame, later)]
    first, second = (np.concatenate(one.predictions) for one in played)
    assert first[: cut + 1].tolist() == second[: cut + 1].tolist()


def test_copies_of_a_weighted_row_are_one_row():
    frame = rows(30)
    heavy = frame.assign(weight=[1, 3] * 15)
    table = nk.Frame(heavy, label="sold", weight="weight", outcomes="numbers")
    table.look_back(Lags(2))
    place = table.encoding.places["sold lag 1"]
    found = np.concatenate([batch.x.dense()[batch.weights > 0, place] for batch in table.batches()])
    assert found[1:].tolist() == frame["sold"].shift(1)[1:].tolist()
    ledger = nk.play("vaw", nk.Frame(heavy, label="sold", weight="weight", outcomes="numbers"), lags=2)
    assert ledger.encoding.lags.past == {"": [[one] for one in frame["sold"].iloc[-2:]]}


@pytest.mark.parametrize("stop", [1, 23, 59])
@pytest.mark.parametrize("options", [{"lags": 2}, {"lags": 3, "by": "shop", "lag_columns": ["price"], "horizon": 2}])
def test_resumed_game_is_the_uninterrupted_one_to_the_bit(tmp_path, stop, options):
    frame = rows()
    frame.to_csv(tmp_path / "sales.csv", index=False)
    path, model = str(tmp_path / "sales.csv"), str(tmp_path / "m.nk")
    whole = nk.play("vaw", path, **options)
    nk.save(nk.play("vaw", path, rounds=stop, **options), model)
    begun = nk.load(model)
    resumed = nk.play(begun.learner, path, ledger=begun, resume=True)
    assert (resumed.loss, resumed.encoding.lags.past) == (whole.loss, whole.encoding.lags.past)
    nk.save(nk.play("vaw", frame[:stop], **options), model)
    begun = nk.load(model)
    appended = nk.play(begun.learner, frame[stop:], ledger=begun)
    assert (appended.loss, appended.encoding.lags.past) == (whole.loss, whole.encoding.lags.past)


def test_batches_are_single_rows():
    frame = rows()
    game = nk.play("vaw", frame, lags=2, by="shop")
    single = nk.play("vaw", frame.to_dict("records"), label="sold", lags=2, by="shop")
    by_one = nk.play("vaw", frame[:1], lags=2, by="shop")
    for t in range(1, len(frame)):
        by_one = nk.play(by_one.learner, frame[t : t + 1], ledger=by_one)
    assert game.loss == single.loss == by_one.loss


def test_game_row_by_row_continues_the_lags():
    frame = rows()
    whole = nk.play("vaw", frame, lags=2, by="shop", lag_columns=["price"])
    begun = nk.play("vaw", frame[:20], lags=2, by="shop", lag_columns=["price"])
    game = nk.Game(begun.learner, begun)
    for row in frame[20:].to_dict("records"):
        sold = row.pop("sold")
        game.learn_one(row, sold)
    assert (begun.loss, begun.encoding.lags.past) == (whole.loss, whole.encoding.lags.past)
    with pytest.raises(MismatchError, match="in the order of its rows"):
        game.predict_one({"shop": "a", "price": 1.0}, id=1)


def test_predictions_continue_from_the_last_rows():
    frame = rows()
    ledger = nk.play("vaw", frame, lags=1, lag_columns="price", by="shop")
    new = pd.DataFrame({"shop": ["a", "b", "a"], "price": [1.0, 2.0, 3.0]})
    found = ledger.predict(new)
    lags = {shop: frame[frame["shop"] == shop].iloc[-1] for shop in "ab"}
    explicit = [{**row, "sold lag 1": lags[row["shop"]]["sold"], "price lag 1": lags[row["shop"]]["price"]}
                for row in new.to_dict("records")[:2]]  # fmt: skip
    assert found[:2].tolist() == [ledger.predict(row) for row in new.to_dict("records")[:2]]
    assert found[:2].tolist() == [ledger.predict(row) for row in explicit]
    # The label of the first new row is unknown, and its price is known.
    third = {"shop": "a", "price": 3.0, "sold lag 1": None, "price lag 1": 1.0}
    assert found[2] == ledger.predict(third)
    labelled = new.assign(sold=[5.0, 6.0, 7.0])  # the labels are what is predicted: they are no lags
    assert ledger.predict(labelled).tolist() == found.tolist()


def test_lags_of_labels_and_categories_are_categories():
    frame = pd.DataFrame({"day": list("mtwtf") * 4, "state": ["up", "down"] * 10})
    ledger = nk.play("logistic", frame, lags=1, lag_columns=["day"])
    assert {"state lag 1=up", "state lag 1=down", "day lag 1=m"} <= set(ledger.encoding.places)
    assert ledger.mistakes <= 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"lags": 0}, "lags must be an integer from 1"),
        ({"lags": 1, "by": "shp"}, 'has no "shp"'),
        ({"lags": 1, "lag_columns": ["prize"]}, 'has no "prize"'),
        ({"lags": 1, "passes": 2}, "one pass"),
        ({"lag_columns": ["price"]}, "lag_columns need lags"),
        ({"lags": 1, "horizon": 0}, "horizon must be at least 1"),
        ({"lags": 1, "weights": [2] * 60}, "must be one of its columns"),
    ],
)
def test_impossible_lags_are_refused(options, why):
    with pytest.raises((InputError, SourceError), match=why):
        nk.play("vaw", rows(), **options)


def test_column_named_like_a_lag_is_refused():
    with pytest.raises(SourceError, match="name of its own"):
        nk.play("vaw", rows().rename(columns={"price": "sold lag 1"}), lags=1)


def test_game_keeps_its_lags():
    ledger = nk.play("vaw", rows(), lags=1)
    with pytest.raises(MismatchError, match="keeps its lags"):
        nk.play(ledger.learner, rows(), ledger=ledger, lags=2)


def test_command_line_saves_resumes_and_predicts_with_lags(tmp_path):
    frame = rows()
    frame[:40].to_csv(tmp_path / "first.csv", index=False)
    frame[40:].to_csv(tmp_path / "second.csv", index=False)
    frame[["shop", "price"]][:4].to_csv(tmp_path / "new.csv", index=False)
    novikoff("run", "vaw", tmp_path / "first.csv", "--lags", "2", "--by", "shop", "--save", tmp_path / "m.nk")
    novikoff("run", tmp_path / "second.csv", "--resume", tmp_path / "m.nk", "--save", tmp_path / "m.nk")
    whole = nk.play("vaw", frame, lags=2, by="shop")
    assert nk.load(tmp_path / "m.nk").loss == whole.loss
    said = novikoff("predict", tmp_path / "m.nk", tmp_path / "new.csv", "--no-label").stdout.split()
    assert [float(one) for one in said] == whole.predict(frame[["shop", "price"]][:4]).tolist()
