"""Objects of mixed values in the service: encoded like rows of a table, also after a new start."""

import io

import pandas as pd
import pytest

import novikoff as nk
from mixed_rows import apart, mixed
from novikoff.game import persistence
from serving import opened


def downloaded(client, name="m"):
    return persistence.load_game(io.BytesIO(client.http.get(f"/v1/models/{name}/model.nk?rows=true").content))


@pytest.mark.parametrize("spec", ["auto", "perceptron"])
def test_service_predicts_as_the_same_table(tmp_path, spec):
    rows = mixed(120)
    asked = {"learner": spec, "negative": "no", "positive": "yes", "schema": {}}
    found = []
    with opened(tmp_path) as client:
        client.make(**asked)
        for k, (x, y) in enumerate(map(apart, rows[:70])):
            found.append(client.learn(f"{k}", x, y)["prediction"])
        client.make(status=200, **asked)
    with opened(tmp_path) as client:  # recovered from the database
        for k, (x, y) in enumerate(map(apart, rows[70:]), 70):
            found.append(client.learn(f"{k}", x, y)["prediction"])
        ledger = downloaded(client)
    expected = nk.play(spec, pd.DataFrame(rows), label="outcome", record=True)
    assert [1 if one == "yes" else -1 for one in found] == expected.recorded().tolist()
    assert ledger.log_loss == expected.log_loss
    assert ledger.encoding.places == expected.encoding.places


def test_late_labels_of_records_are_learned_and_recovered(tmp_path):
    rows = [apart(row) for row in mixed(60)]
    with opened(tmp_path) as client:
        client.make(learner="logistic", negative="no", positive="yes", schema={})
        for k, (x, _) in enumerate(rows):
            assert client.predict(f"{k}", x)["prediction"] in ("no", "yes")
            if k >= 5:
                client.label(f"{k - 5}", rows[k - 5][1])
        before = client.saved()
        assert client.ask("POST", "/m/predict", {"id": "why", "x": rows[0][0], "why": True})["why"]["contributions"]
    with opened(tmp_path) as client:
        assert client.saved()[0]["ledger"]["encoding"] == before[0]["ledger"]["encoding"]


def test_objects_that_do_not_fit_are_refused(client):
    client.make(learner="logistic", negative="no", positive="yes", schema={"age": "number", "city": "category"})
    client.learn("a", {"age": 31, "city": "Rome"}, "no")
    refused = client.predict("b", {"age": "old", "city": "Rome"}, 422)
    assert refused["error"]["code"] == "bad_example"
    assert "numeric column" in refused["error"]["message"]
    assert "value of type list" in client.predict("c", {"age": [1]}, 422)["error"]["message"]
    assert client.predict("d", {}, 422)["error"]["code"] == "bad_example"
    client.make("other", 422, learner="logistic", schema={"age": "numbre"})


def test_game_on_a_table_is_uploaded_and_predicts_objects(client, tmp_path):
    ledger = nk.play("logistic", pd.DataFrame(mixed()), label="outcome")
    nk.save(ledger, tmp_path / "m.nk")
    reply = client.http.put("/v1/models/m/model.nk", content=(tmp_path / "m.nk").read_bytes())
    assert reply.status_code == 201, reply.text
    for k, row in enumerate(mixed(30, seed=5)):
        x, _ = apart(row)
        assert client.predict(f"{k}", x)["prediction"] == ledger.predict(x)


def test_service_answers_with_the_decision_of_the_threshold(tmp_path):
    ledger = nk.play("logistic", pd.DataFrame(mixed()), label="outcome")
    chosen = nk.choose_threshold(ledger, cost={"FP": 1, "FN": 30})
    nk.save(ledger, tmp_path / "m.nk")
    rows = [apart(row) for row in mixed(30, seed=5)]
    with opened(tmp_path / "service") as client:
        client.http.put("/v1/models/m/model.nk", content=(tmp_path / "m.nk").read_bytes())
        answers = [client.predict(f"{k}", x) for k, (x, _) in enumerate(rows)]
        again = client.predict("0", rows[0][0])
        told = client.http.get("/v1/models/m").json()["threshold"]
        client.label("1", rows[1][1])
    assert [one["decision"] for one in answers] == [ledger.predict(x) for x, _ in rows]
    assert [one["decision"] for one in answers] != [one["prediction"] for one in answers]
    assert (again["repeated"], again["decision"]) == (True, answers[0]["decision"])
    assert (told["threshold"], told["rule"]) == (chosen.value, "cost")
    with opened(tmp_path / "service") as client:  # recovered
        assert client.predict("2", rows[2][0])["decision"] == answers[2]["decision"]
        client.make("plain", learner="perceptron")
        assert "decision" not in client.ask("POST", "/plain/predict", {"id": "a", "x": {"f": 1}})
