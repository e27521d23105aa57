"""One short use of every package that novikoff is installed with: `make test-minima` runs it on the oldest of each."""

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff

ROWS = 60


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=ROWS).round(3), rng.choice(["red", "green", "blue"], ROWS)
    label = np.where(size + (colour == "red") > 0.3, "yes", "no")
    return {"size": size.tolist(), "colour": colour.tolist(), "label": label.tolist()}


def mistakes(source):
    return nk.play("perceptron", source).mistakes


@pytest.fixture(scope="module")
def wanted(columns):
    import pandas as pd

    return mistakes(pd.DataFrame(columns))


def test_frames_of_every_library_are_the_same_game(columns, wanted):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert mistakes(frame) == wanted


def test_tables_of_every_format_are_the_same_game(columns, wanted, tmp_path):
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet

    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    for name in ("t.csv", "t.jsonl", "t.parquet", "t.arrow"):
        assert mistakes(tmp_path / name) == wanted, name


def test_columns_of_every_kind_are_read(tmp_path):
    import pandas as pd
    import polars as pl

    columns = {
        "when": pd.to_datetime(["2024-01-01", "2024-02-03", None, "2024-05-06"]),
        "sure": [True, False, True, False],
        "kind": pd.Categorical(["a", "b", "a", "b"]),
        "multiclass": [1, 2, 3, 4],
        "part": [0.5, None, 1.5, 2.0],
        "label": ["yes", "no", "yes", "no"],
    }
    frame = pd.DataFrame(columns)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, pl.from_pandas(frame), tmp_path / "t.parquet"):
        assert nk.play("perceptron", source).rounds == 4


def test_sparse_matrices_of_scipy_are_read():
    import scipy.sparse

    x = scipy.sparse.random(ROWS, 8, density=0.4, format="csr", random_state=0)
    y = np.where(np.arange(ROWS) % 2, 1, -1)
    assert nk.play("perceptron", (x, y)).rounds == ROWS


def test_estimators_of_scikit_learn_fit():
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from novikoff.integrations.sklearn import NovikoffClassifier

    x = np.random.default_rng(0).normal(size=(ROWS, 3))
    model = make_pipeline(StandardScaler(), NovikoffClassifier("perceptron:bias=1"))
    assert cross_val_score(model, x, x[:, 0] > 0.0, cv=3).mean() > 0.7


def test_the_command_line_reports_draws_and_completes(columns, tmp_path):
    import pandas as pd

    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    done = novikoff(
        "run", "perceptron", "t.csv", "--plot", "p.png", "--report", "r.html", "--save", "m.nk", cwd=tmp_path
    )
    assert (done.returncode, (tmp_path / "p.png").exists(), (tmp_path / "r.html").exists()) == (0, True, True)
    assert novikoff("predict", "m.nk", "t.csv", cwd=tmp_path).returncode == 0
    assert "novikoff" in novikoff("completion", "bash").stdout


def test_urls_are_read_by_fsspec(columns):
    import fsspec
    import pandas as pd

    with fsspec.open("memory://smoke.csv", "w") as file:
        pd.DataFrame(columns).to_csv(file, index=False)
    assert nk.play("perceptron", "memory://smoke.csv").rounds == ROWS


def test_the_service_answers(tmp_path):
    from serving import opened

    with opened(tmp_path) as client:
        client.make()
        client.learn("1", {"a": 1.0}, "spam")
        assert client.predict("2", {"a": 1.0})["prediction"] == "spam"


def test_models_of_river_learn():
    from novikoff.integrations.river import NovikoffClassifier

    model = NovikoffClassifier("perceptron")
    for k in range(ROWS):
        model.learn_one({"a": float(k % 5), "b": 1.0}, k % 5 > 2)
    assert model.predict_one({"a": 4.0, "b": 1.0}) is True
