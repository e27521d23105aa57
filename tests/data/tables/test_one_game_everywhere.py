"""A table with numbers, text, dates, categories and gaps: the same predictions to the bit, however its rows come in."""

import io
import json

import pandas as pd
import pyarrow as pa
import pytest

import novikoff as nk
from mixed_rows import apart, as_csv, mixed
from novikoff.game import persistence
from serving import opened

ROWS = mixed(120, text=True)
KINDS = {"age": "number", "city": "category", "vip": "boolean", "day": "time", "amount": "number", "note": "text"}
SPEC = "logistic:scale=standard"


def frame():
    return pd.DataFrame(ROWS)


def stream():
    return pa.Table.from_pandas(frame(), preserve_index=False).to_reader(max_chunksize=7)


def lines():
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


DOORS = {
    "frame": frame,
    "pieces of a frame": lambda: [frame()[:50], frame()[50:]],
    "Arrow stream": stream,
    "CSV": lambda: nk.CSV(io.BytesIO(as_csv(ROWS)), label="outcome"),
    "JSON lines": lambda: nk.JSONL(io.BytesIO(lines()), label="outcome"),
    "JSON array": lambda: nk.JSONL(io.BytesIO(json.dumps(ROWS).encode()), label="outcome"),
    "list of dicts": lambda: ROWS,
    "iterator of dicts": lambda: iter(ROWS),
    "pairs": lambda: [apart(row) for row in ROWS],
}
"""Sources that `nk.play` takes."""


def result(ledger):
    """Log loss of all rows, to the bit, and the probabilities of some rows afterwards."""
    later = [apart(row)[0] for row in mixed(12, seed=9, text=True)]
    return ledger.log_loss, ledger.mistakes, [tuple(one) for one in ledger.predict_proba(later)]


@pytest.fixture(scope="module")
def wanted():
    return result(nk.play(SPEC, frame(), label="outcome"))


@pytest.mark.parametrize("door", DOORS)
def test_same_predictions_from_every_source(door, wanted):
    given = DOORS[door]()
    named = {} if isinstance(given, nk.Stream) or door == "pairs" else {"label": "outcome"}
    assert result(nk.play(SPEC, given, **named)) == wanted


def test_same_predictions_row_by_row(wanted):
    game = nk.Game(SPEC, labels=("no", "yes"), schema=KINDS)
    for row in ROWS:
        game.learn_one(*apart(row))
    assert result(game.ledger) == wanted


def test_same_predictions_from_events(wanted):
    loop = nk.follow(ROWS, SPEC, label="outcome", labels=("no", "yes"), schema=KINDS)
    assert result(loop.run()) == wanted


def test_same_predictions_one_by_one_and_together(wanted):
    ledger = nk.play(SPEC, frame(), label="outcome")
    later = [apart(row)[0] for row in mixed(12, seed=9, text=True)]
    together = ledger.predict_proba(pd.DataFrame(later))
    assert [tuple(ledger.predict_proba(row).values()) for row in later] == [tuple(one) for one in together]
    assert [tuple(one) for one in together] == wanted[2]


def test_same_predictions_from_the_service(wanted, tmp_path):
    with opened(tmp_path) as client:
        client.make(learner=SPEC, negative="no", positive="yes", schema=KINDS)
        for k, (x, y) in enumerate(map(apart, ROWS)):
            client.learn(f"{k}", x, y)
        ledger = persistence.load_game(io.BytesIO(client.http.get("/v1/models/m/model.nk?rows=true").content))
    assert result(ledger) == wanted
