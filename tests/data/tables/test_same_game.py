"""One table in every format, through `play`, `save`, `load` and the command line: the same game to the bit."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.data.tables.test_table import Pipe

import novikoff as nk
from novikoff.cli.main import main
from novikoff.data.tables.alignment import adopted

ROWS = 300
WORDS = np.array(
    [
        "free",
        "money",
        "now",
        "call",
        "me",
        "later",
        "today",
        "love",
        "you",
        "meeting",
        "at",
        "noon",
        "win",
        "prize",
        "claim",
        "hello",
    ]
)


@pytest.fixture(scope="module")
def frame():
    """Numbers, two kinds of missing values, categories that appear late, a date, free text, an id, a label."""
    draw = np.random.default_rng(1)
    colour = draw.choice(["red", "green", "blue"], ROWS)
    colour[250:255] = "violet"
    joined = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 700_000, ROWS), unit="min")
    frame = pd.DataFrame(
        {
            "id": np.arange(ROWS) + 5_000,
            "age": draw.normal(40, 12, ROWS).round(1),
            "colour": colour,
            "joined": joined.strftime("%Y-%m-%d %H:%M:%S"),
            "message": [" ".join(draw.choice(WORDS, draw.integers(4, 12))) for _ in range(ROWS)],
            "bought": np.where(draw.random(ROWS) < 0.4, "yes", "no"),
        }
    )
    frame.loc[draw.random(ROWS) < 0.05, "age"] = np.nan
    frame.loc[draw.random(ROWS) < 0.03, "colour"] = None
    return frame


def sources(frame, folder):
    """The frame in every format, by name: what `play` takes or `read` opens."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t", na_rep="NA")
    frame.to_parquet(folder / "t.parquet", index=False)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("csv", "tsv", "jsonl", "parquet"):
        yield name, lambda drop, name=name: nk.read(folder / f"t.{name}", drop=drop)
    yield "pipe", lambda drop: nk.read(Pipe((folder / "t.csv").read_bytes()), drop=drop)
    yield "pandas", lambda drop: nk.Frame(frame, drop=drop)
    try:
        import polars
    except ImportError:
        return
    yield "polars", lambda drop: nk.Frame(polars.from_pandas(frame), drop=drop)
    yield "polars, lazy", lambda drop: nk.Frame(polars.from_pandas(frame).lazy(), drop=drop)
    yield "polars, a file not read yet", lambda drop: nk.Frame(polars.scan_parquet(folder / "t.parquet"), drop=drop)


def told(ledger):
    certificates = [(one.theorem, one.status, one.bound) for one in ledger.certify()]
    return ledger.rounds, ledger.mistakes, ledger.learner.weights.tobytes(), certificates, ledger.encoding.state()


@pytest.mark.parametrize("drop", [["id"], ["id", "message"]], ids=["hashed", "numbered"])
def test_every_format_plays_the_same_game_whole_and_saved_and_resumed(frame, tmp_path, drop):
    whole = None
    for name, make in sources(frame, tmp_path):
        ledger = nk.play(nk.Perceptron(), make(drop))
        whole = whole or told(ledger)
        assert told(ledger) == whole, name
        begun = nk.play(nk.Perceptron(), make(drop), rounds=123)
        nk.save(begun, tmp_path / "m.nk", force=True)
        again = nk.load(tmp_path / "m.nk")
        assert told(nk.play(again.learner, make(drop), ledger=again, resume=True)) == whole, name


def test_a_game_that_follows_reads_another_order_of_columns_by_name(frame):
    ledgers = []
    for order in (list(frame.columns), list(reversed(frame.columns))):
        ledger = nk.play(nk.Perceptron(), nk.Frame(frame, drop=["id"]))
        ledgers.append(nk.play(ledger.learner, nk.Frame(frame[order], label="bought", drop=["id"]), ledger=ledger))
    assert told(ledgers[0]) == told(ledgers[1])


def test_kept_classifiers_know_the_table(frame, tmp_path):
    ledger = nk.play(nk.Perceptron(), nk.Frame(frame, drop=["id", "message"]), candidates=5)
    kept = nk.finalize(ledger, "last")
    nk.save(kept, tmp_path / "k.nk")
    assert nk.load(tmp_path / "k.nk").encoding.state() == kept.encoding.state() == ledger.encoding.state()


def test_at_prediction_a_new_category_gets_no_place(frame):
    ledger = nk.play(nk.Perceptron(), nk.Frame(frame, drop=["id", "message"]))
    before = ledger.encoding.state()
    new = frame.assign(colour="pink")
    stream = adopted(nk.Frame(new, drop=["id", "message"]), ledger.encoding, None, learn=False)
    (batch,) = stream.batches()
    assert batch.x.width > len(before["places"])
    assert len(ledger.learner.predict_many(batch)) == ROWS
    assert ledger.encoding.state() == before


def test_the_command_line_runs_and_predicts_with_columns_in_another_order(frame, tmp_path, capsys):
    list(sources(frame, tmp_path))
    model, mixed = str(tmp_path / "m.nk"), tmp_path / "mixed.csv"
    frame[list(reversed(frame.columns))].to_csv(mixed, index=False)
    assert main(["columns", str(tmp_path / "t.csv"), "--category", "id"]) == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = ["category", "number", "category", "date and time", "text, word by word", "label"]
    assert [line.split(": ")[1].split(" (")[0] for line in lines] == kinds
    assert main(["run", "perceptron", str(tmp_path / "t.csv"), "--drop", "id", "--save", model]) == 0
    assert "joined: date and time" in capsys.readouterr().err
    said = []
    for name in ("t.csv", "t.tsv", "t.jsonl", "t.parquet", "mixed.csv"):
        assert main(["predict", model, str(tmp_path / name), "--drop", "id"]) == 0, name
        said.append(capsys.readouterr().out)
    assert len(said[0].splitlines()) == ROWS
    assert set(said) == {said[0]}
