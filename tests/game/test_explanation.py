"""Why a row is predicted as it is, and which columns matter: sums, names of columns, refusals."""

import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff
from nearest_mean import NearestMeans
from novikoff.core.errors import InputError
from novikoff.data.hashing import murmur, words_of
from novikoff.data.tables.alignment import adopted_row
from novikoff.game.explanation import shapley
from novikoff.reports.sentences import brief

BINARY = (
    "perceptron", "perceptron:bias=1,normalize=true", "ellipsoid:bias=1", "ftrl", "ftrl:metric=newton", "logistic",
    "arow", "arow:diagonal=true", "second-order-perceptron", "adagrad", "vaw:probabilities=true", "tree", "forest",
)  # fmt: skip
MANY = ("perceptron:bias=1", "logistic", "vaw:probabilities=true", "second-order-perceptron", "tree")
NUMBERS = (
    "vaw", "adagrad:loss=squared", "online-gradient", "online-gradient:bias=1,normalize=true", "tree-regression",
    "forest-regression",
)  # fmt: skip


def frame(rows=500, seed=0):
    """A table with numbers, categories, dates and missing values; the label depends on age and job."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame({
        "age": rng.integers(20, 60, rows),
        "job": rng.choice(["clerk", "smith", "cook", None], rows),
        "day": pd.date_range("2024-01-01", periods=rows, freq="D"),
        "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
    })  # fmt: skip
    found["label"] = np.where((found.age > 40) | (found.job == "smith"), "yes", "no")
    return found


def arrays(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)) * [1.0, 10.0, 0.1, 3.0]
    z = x[:, 0] + x[:, 1] / 10 + 0.3 * rng.normal(size=rows)
    return x, z


def total(found):
    return found.base + sum(found.amounts) + found.rest


@pytest.mark.parametrize("spec", [*BINARY, *NUMBERS])
def test_contributions_sum_to_the_score(spec):
    x, z = arrays()
    ledger = nk.play(spec, (x, z if spec in NUMBERS else np.where(z > 0, 1, -1)))
    for row in x[:10]:
        found = ledger.why(row)
        score = ledger.player.predict_one(row) if spec in NUMBERS else ledger.player.score_one(row)
        assert found.score == score
        assert total(found) == pytest.approx(score, abs=1e-12)
        assert abs(found.rest) < 1e-9 * (1.0 + abs(score)) or (spec.startswith("vaw:") and abs(score) == 1.0)  # clipped
        assert {*found.columns} == {"x0", "x1", "x2", "x3"}


@pytest.mark.parametrize("spec", MANY)
def test_contributions_of_each_label_sum_to_its_score(spec):
    x, z = arrays()
    ledger = nk.play(spec, (x, np.digitize(z, [-0.5, 0.5])), labels="multiclass")
    for row in x[:5]:
        scores = ledger.player.scores_one(row)
        assert ledger.why(row).label == ledger.why(row).prediction
        for number, name in enumerate(ledger.labels):
            found = ledger.why(row, label=name)
            assert found.score == scores[number]
            assert abs(found.rest) < 1e-9
    with pytest.raises(InputError, match="label must be one of"):
        ledger.why(x[0], label="none of them")


def test_the_caution_of_multiclass_ftrl_is_the_rest():
    x, z = arrays()
    ledger = nk.play("ftrl", (x, np.digitize(z, [-0.5, 0.5])), labels="multiclass")
    found = [ledger.why(x[0], label=name).rest for name in ledger.labels]
    assert sum(found) == pytest.approx(0.0, abs=1e-9)
    assert max(map(abs, found)) > 1e-6


def test_a_perceptron_by_hand():
    rows = [({"free": 2.0, "call": 1.0}, 1), ({"see": 1.0}, -1)]
    ledger = nk.play("perceptron:bias=1", rows)  # the second row is a mistake: see -1, bias -1
    found = ledger.why({"see": 3.0, "free": 1.0})
    assert (found.score, found.base, found.rest, found.method, found.scale) == (-4.0, -1.0, 0.0, "exact", "score")
    assert found.contributions == (("see", 3.0, -3.0), ("free", 1.0, 0.0))
    assert ledger.why({"see": 3.0}, label=-1).score == 4.0


def test_a_row_beyond_the_range_learned_has_a_rest():
    x, z = arrays()
    ledger = nk.play("logistic", (x, np.where(z > 0, 1, -1)))
    found = ledger.why(50.0 * x[0])
    assert abs(found.rest) > 0.5
    assert total(found) == pytest.approx(found.score)
    assert any(line.endswith("rest") for line in found.lines())


@pytest.mark.parametrize("spec", ["logistic", "ftrl", "tree", "forest"])
def test_columns_of_a_table(spec):
    table = frame()
    ledger = nk.play(spec, table)
    for t in (3, 4, 5, 200):
        found = ledger.why(table.iloc[t])
        assert {*found.columns} <= {"age", "job", "day", "size"}
        assert total(found) == pytest.approx(found.score)
        assert abs(found.rest) < 1e-9
        given = {one.column: one.value for one in found.contributions}
        assert given["age"] == table.age[t]
        assert given["job"] == table.job[t] or (given["job"] is None and table.job.isna()[t])
        row = table.drop(columns="label").iloc[t]
        assert ledger.why(row.to_dict()) == found == ledger.why(table.iloc[[t]])
    missing = int(np.flatnonzero(table.job.isna())[0])
    assert "job is missing" in str(ledger.why(table.iloc[missing]))
    found = ledger.importance()
    assert sorted(found.columns) == ["age", "day", "job", "size"]
    assert found.values == sorted(found.values, reverse=True)
    if spec in ("tree", "forest"):
        assert {*found.columns[:2]} == {"age", "job"}
        assert found.kind == "gain"


def test_words_of_a_text_column():
    text = ["win a free prize now", "see you at home tonight", "free money, win big", "lunch at noon with you"] * 20
    labels = ["spam", "ham", "spam", "ham"] * 20
    table = pd.DataFrame({"n": range(80), "message": [f"{one} {t}" for t, one in enumerate(text)], "label": labels})
    ledger = nk.play("ftrl", nk.Frame(table, text=["message"]))
    found = ledger.why({"n": 3, "message": "Free lunch"})
    assert {*found.columns} == {"n", "message: free", "message: lunch"}
    assert abs(found.rest) < 1e-12
    by = dict(zip(found.columns, found.amounts, strict=True))
    assert by["message: free"] > 0.0 > by["message: lunch"]
    with pytest.raises(InputError, match="hashed"):
        ledger.importance()


def test_words_that_share_a_feature_are_one_line():
    words = {murmur(word.encode(), murmur(b"message", 0)) & 3: word for word in ("a1", "b2", "c3", "d4", "e5", "f6")}
    assert len(words) < 6
    table = pd.DataFrame({"message": ["a1 b2 c3", "d4 e5 f6"] * 10, "label": ["x", "y"] * 10})
    ledger = nk.play("ftrl", nk.Frame(table, text=["message"], bits=2))
    found = ledger.why({"message": "a1 b2 c3 d4 e5 f6"})
    assert any(" + " in name for name in found.columns)
    assert total(found) == pytest.approx(found.score)


def test_a_text_of_a_learner_of_texts(tmp_path):
    path = tmp_path / "mail.txt"
    path.write_text("spam\twin a free prize\nham\tsee you at home\n" * 20)
    ledger = nk.play("ftrl", nk.Text(str(path), bits=12))
    found = ledger.why("Free! free, home")
    assert {*found.columns} == {"free", "home"}
    assert abs(found.rest) < 1e-12
    assert {one.column: one.value for one in found.contributions} == {"free": 2.0, "home": 1.0}
    assert words_of(b"Free! free, home") == [b"free", b"home"]


def test_scaled_columns_keep_their_names():
    table = frame().drop(columns=["job", "day"]).dropna()
    ledger = nk.play("perceptron", nk.Frame(table))
    assert ledger.player.changes_examples
    found = ledger.why(table.iloc[7])
    assert {*found.columns} == {"age", "size"}
    assert abs(found.rest) < 1e-12
    assert ledger.importance().unit == "weight, columns scaled"


def test_weights_are_standardised_where_the_learner_knows_the_scale():
    x, _z = arrays(2000)
    x[:, 3] = 7.0 + 1e-3 * x[:, 3]
    ledger = nk.play("vaw", (x, 2.0 * x[:, 0] - 0.3 * x[:, 1]))
    found = dict(zip(ledger.importance().columns, ledger.importance().values, strict=True))
    assert found["x0"] == pytest.approx(2.0, rel=0.1)
    assert found["x1"] == pytest.approx(3.0, rel=0.1)
    assert found["x3"] < 0.05  # nearly constant, though far from 0


@pytest.mark.parametrize("spec", ["logistic", "tree", "kernel-perceptron"])
def test_permutation_finds_the_columns_that_matter(spec):
    x, z = arrays(400)
    data = x, np.where(z > 0, 1, -1)
    found = nk.play(spec, data).importance("permutation", data, rows=200)
    assert found.kind == "permutation"
    assert found.rows == 200
    assert {*found.columns[:2]} == {"x0", "x1"}
    assert found.values[1] > 2 * abs(found.values[2])


def test_permutation_on_the_stored_rows_and_on_a_table():
    table = frame()
    ledger = nk.play("tree", table)
    stored, given = ledger.importance("permutation"), ledger.importance("permutation", table)
    assert stored == given
    assert {*stored.columns[:2]} == {"age", "job"}
    assert nk.play("logistic", table).importance(data=table).columns[0] in ("age", "job")


def test_shapley_values_by_hand():
    def both(masks):  # 1 if both of the first two columns are taken, 10 more for the third
        return np.array([[float(mask[0] and mask[1]) + 10.0 * mask[2]] for mask in masks])

    base, values, score = shapley(both, 3)
    assert (base[0], score[0]) == (0.0, 11.0)
    assert values[:, 0] == pytest.approx([0.5, 0.5, 10.0])

    def wide(masks):
        return np.array([[float(mask[0] and mask[1]) + mask[2:].sum()] for mask in masks])

    base, values, score = shapley(wide, 30)
    assert values[:, 0] == pytest.approx([0.5, 0.5, *[1.0] * 28])
    assert base[0] + values.sum() == pytest.approx(score[0])


def test_another_row_to_compare_with():
    x, z = arrays()
    data = x, np.where(z > 0, 1, -1)
    ledger = nk.play("kernel-perceptron", data)
    with pytest.raises(InputError, match="against="):
        ledger.why(x[0])
    found = ledger.why(x[0], against=x[1])
    assert found.method == "replacement"
    assert total(found) == pytest.approx(found.score)
    assert abs(found.rest) < 1e-9
    assert found.base == pytest.approx(ledger.player.score_one(x[1]))
    linear = nk.play("perceptron:scale=none", data)
    weights = linear.player.weights
    by = dict(zip(*(lambda e: (e.columns, e.amounts))(linear.why(x[0], against=x[1])), strict=True))
    assert [by[f"x{j}"] for j in range(4)] == pytest.approx(weights * (x[0] - x[1]))


def test_learners_from_outside_are_refused_in_one_sentence():
    x, z = arrays()
    ledger = nk.play(NearestMeans(4), (x, np.digitize(z, [-0.5, 0.5])))
    with pytest.raises(InputError, match="an explanation needs a learner whose score comes from columns"):
        ledger.why(x[0])
    with pytest.raises(InputError, match="Pass data="):
        ledger.importance()
    found = ledger.importance("permutation", (x, np.digitize(z, [-0.5, 0.5])))
    assert sorted(found.columns) == ["x0", "x1", "x2", "x3"]
    assert "mistakes" in found.unit


def test_learners_from_outside_may_explain_themselves():
    class Own:
        def predict_one(self, x):
            return 1

        def learn_one(self, x, y):
            pass

        def importances(self):
            return nk.Perceptron().importances()._replace(values=np.array([1.0, 3.0]))

    assert nk.play(Own(), [([1.0, 2.0], 1)]).importance().columns == ["x1", "x0"]


def test_wrong_calls():
    x, z = arrays()
    ledger = nk.play("logistic", (x, np.where(z > 0, 1, -1)))
    with pytest.raises(InputError, match="kind must be None"):
        ledger.importance("shap")
    with pytest.raises(InputError, match='"gain", and Logistic has "weights"'):
        ledger.importance("gain")
    with pytest.raises(InputError, match="one of"):
        ledger.why(x[0], label="yes")
    with pytest.raises(InputError, match="a text can be explained by a learner of texts"):
        ledger.why("words")
    table = frame()
    with pytest.raises(InputError, match="why\\(\\) explains one row: got 2"):
        nk.play("logistic", table).why(table.iloc[0], against=table.iloc[:2])


def test_frames_and_json():
    table = frame()
    ledger = nk.play("logistic", table)
    found, why = ledger.importance(), ledger.why(table.iloc[0])
    assert found.frame().column.tolist() == found.columns
    assert found.frame().importance.tolist() == found.values
    assert why.frame().amount.sum() == pytest.approx(why.score)
    assert json.loads(json.dumps(why.plain()))["score"] == why.score
    assert json.loads(json.dumps(found.plain()))["columns"] == found.columns


def test_the_sum_of_the_others_is_one_line():
    x = np.eye(30)
    ledger = nk.play("perceptron:scale=none", (np.vstack([x, x]), np.array([-1] * 59 + [1])))
    found = ledger.why(np.ones(30))
    lines = found.lines(5)
    assert "25 other columns" in lines[5]
    assert len(lines) == 1 + 5 + 1
    assert sum(float(line.split()[0]) for line in lines[1:]) == pytest.approx(found.score, rel=1e-3)


def test_saved_ledgers_explain_the_same(tmp_path):
    table = frame()
    for spec in ("logistic", "tree"):
        ledger = nk.play(spec, table)
        nk.save(ledger, tmp_path / "model.nk")
        again = nk.load(tmp_path / "model.nk")
        assert again.why(table.iloc[3]) == ledger.why(table.iloc[3])
        assert again.importance() == ledger.importance()


@pytest.mark.parametrize("spec", ["auto", "linear-mixture", "auto:fast=true", "auto:drift=true"])
def test_mixtures_are_explained_by_replacing_columns(spec):
    table = frame(300)
    ledger = nk.play(spec, table)
    for t in (3, 200):
        found = ledger.why(table.iloc[t])
        score = ledger.player.score_one(adopted_row(table.iloc[t], ledger.encoding, ledger.feature_names))
        assert found.method == "replacement"
        assert found.scale == "log-odds"
        assert found.score == pytest.approx(score)
        assert total(found) == pytest.approx(score)
        assert abs(found.rest) < 1e-9
        assert {*found.columns} <= {"age", "job", "day", "size"}
    found = ledger.importance()
    assert sorted(found.columns) == ["age", "day", "job", "size"]
    assert found.kind == ("share" if spec in ("auto", "auto:drift=true") else "weights")


def test_the_importance_of_auto_finds_the_columns_that_matter():
    table = frame(800)
    ledger = nk.play("auto", table)
    found = ledger.importance()
    assert {*found.columns[:2]} == {"age", "job"}
    assert sum(found.values) == pytest.approx(1.0)
    assert {*ledger.importance("permutation", rows=100).columns[:2]} == {"age", "job"}


@pytest.mark.parametrize("spec", ["auto", "linear-mixture"])
def test_mixtures_of_many_labels_and_of_numbers(spec):
    x, z = arrays()
    many = nk.play(spec, (x, np.digitize(z, [-0.5, 0.5])), labels="multiclass")
    found = many.why(x[0])
    assert found.scale == "probability"
    assert found.score == many.player.probabilities_one(x[0]).max()
    assert total(found) == pytest.approx(found.score)
    assert {*many.importance().columns[:2]} == {"x0", "x1"}
    numbers = nk.play(f"{spec}-regression", (x, z))
    found = numbers.why(x[0])
    assert found.scale == "number"
    assert found.prediction == found.score == numbers.player.predict_ahead(nk.Batch(x[:1], z[:1], 1))[0]
    assert total(found) == pytest.approx(found.score)
    assert {*numbers.importance().columns[:2]} == {"x0", "x1"}


def test_the_columns_in_terminal_json_page_and_python_are_the_same(tmp_path):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    found = nk.play("tree", str(tmp_path / "rows.csv")).importance()
    lines = novikoff("run", "tree", "rows.csv", "--report", "page.html", cwd=tmp_path).stdout.splitlines()
    pairs = [pair for pair in zip(found.columns, found.values, strict=True) if pair[1]][:3]
    named = ", ".join(f"{name} {brief(value)}" for name, value in pairs)
    assert any(line.split(maxsplit=1)[1] == f"most important: {named} (nats gained by cuts)" for line in lines[1:])
    told = json.loads(novikoff("run", "tree", "rows.csv", "--json", cwd=tmp_path).stdout)["importance"]
    assert told == found.plain()
    page = (tmp_path / "page.html").read_text()
    assert page.count(f"{found.columns[0]} {brief(found.values[0])}") >= 2  # the line, and the description of the bars
    verbose = novikoff("run", "tree", "rows.csv", "-v", cwd=tmp_path).stdout
    assert "importance of columns (nats gained by cuts):" in verbose


@pytest.mark.parametrize("spec", ["logistic", "forest", "auto"])
def test_predict_why_agrees_with_python(spec, tmp_path):
    table = frame()
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.iloc[:3].to_csv(tmp_path / "new.csv", index=False)
    novikoff("run", spec, "rows.csv", "--save", "model.nk", cwd=tmp_path)
    ledger = nk.load(tmp_path / "model.nk")
    told = json.loads(novikoff("predict", "model.nk", "new.csv", "--why", "--json", cwd=tmp_path).stdout)["predictions"]
    printed = novikoff("predict", "model.nk", "new.csv", "--why", cwd=tmp_path).stdout
    for t, one in enumerate(told):
        row = {**table.drop(columns="label").iloc[t].to_dict(), "day": str(table.day[t].date())}
        found = ledger.why(row)
        assert (one["prediction"], one["score"], one["base"]) == (found.prediction, found.score, found.base)
        assert {each["column"]: each["amount"] for each in one["contributions"]} == dict(
            zip(found.columns, found.amounts, strict=True)
        )
        assert "\n  ".join(["", *found.lines()]) in printed


def test_predict_why_refuses_final_classifiers_and_scores(tmp_path):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    novikoff("run", "logistic", "rows.csv", "--save", "model.nk", cwd=tmp_path)
    wrong = novikoff("predict", "model.nk", "rows.csv", "--why", "--scores", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--why prints scores" in wrong.stderr
    novikoff("run", "perceptron", "rows.csv", "--finalize", "voted", "--save", "final.nk", cwd=tmp_path)
    wrong = novikoff("predict", "final.nk", "rows.csv", "--why", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "final classifier" in wrong.stderr


def test_words_of_a_text_column_on_the_command_line(tmp_path):
    rows = [f"{t},win a free prize {t},spam" if t % 2 else f"{t},see you at home {t},ham" for t in range(40)]
    (tmp_path / "mail.csv").write_text("n,message,label\n" + "\n".join(rows) + "\n")
    novikoff("run", "ftrl", "mail.csv", "--text", "message", "--save", "model.nk", cwd=tmp_path)
    printed = novikoff("predict", "model.nk", "mail.csv", "--why", cwd=tmp_path).stdout
    assert "message: free = 1" in printed
    assert "message: home = 1" in printed
