"""What is asked and answered over the wire."""

import asyncio
import json
import re
import time
import zipfile

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.server.app import MOST_BYTES
from novikoff.server.client import AsyncClient, Client
from novikoff.server.wire import STATUS


def test_rounds_repeats_and_conflicts(client):
    client.make()
    first = client.predict("a", {"free": 1, "from": "bob"})
    assert first == {"id": "a", "round": 1, "prediction": "spam", "score": 0.0, "version": 0, "repeated": False}
    assert client.predict("a", {"free": 1, "from": "bob"}) == {**first, "repeated": True}
    assert client.predict("a", {"free": 2, "from": "bob"}, 409)["error"]["code"] == "id_taken"
    came = client.label("a", "ham")
    assert came == {"id": "a", "round": 1, "arrival": 1, "prediction": "spam", "label": "ham", "mistake": True,
                    "repeated": False}  # fmt: skip
    assert client.label("a", "ham") == {**came, "repeated": True}
    assert client.label("a", "spam", 409)["error"]["code"] == "label_differs"
    assert client.label("b", "spam", 404)["error"] == {**client.label("b", "spam", 404)["error"], "id": "b"}
    learned = client.learn("c", {"free": 1}, "spam")
    assert (learned["round"], learned["arrival"], learned["repeated"]) == (2, 2, False)
    assert client.learn("c", {"free": 1}, "spam")["repeated"]
    assert client.learn("c", {"free": 1}, "ham", 409)["error"]["code"] == "label_differs"
    assert client.predict("c", {"free": 1})["repeated"]
    client.predict("d", {"free": 1})
    assert client.learn("d", {"free": 1}, "ham")["repeated"] is False  # it waited, and now has its label
    assert client.ask("GET", "/m/rounds/d")["state"] == "labelled"
    assert client.ask("GET", "/m/rounds/e", status=404)["error"]["code"] == "unknown_id"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"id": "a", "x": {"a": None}}, "bad_example"),
        ({"id": "a", "x": {"a": {"b": [1, "c"]}}}, "bad_example"),
        ({"id": "a", "x": "text"}, "bad_example"),
        ({"id": "a", "x": []}, "bad_example"),
        ({"id": "a", "x": {"a": 1}, "more": 1}, "bad_request"),
        ({"id": 7, "x": {"a": 1}}, "bad_request"),
        ({"id": "", "x": {"a": 1}}, "bad_request"),
        ({"id": "a\n", "x": {"a": 1}}, "bad_request"),
        ({"id": "a" * 201, "x": {"a": 1}}, "bad_request"),
        ([], "bad_request"),
    ],
)
def test_malformed_requests_are_refused(client, body, code):
    client.make()
    assert client.code("POST", "/v1/models/m/predict", body) == (STATUS[code], code)
    assert client.ask("GET", "/m")["predicted"] == 0


def test_json_is_read_strictly(client):
    client.make()
    for text, code in [
        ('{"id": "a", "x": {"a": 1, "a": 2}}', "bad_json"),
        ('{"id": "a", "id": "b", "x": {"a": 1}}', "bad_json"),
        ('{"id": "a", "x": {"a": 1}', "bad_json"),
        ('{"id": "a", "x": {"a": NaN}}', "bad_example"),
        ('{"id": "a", "x": {"a": 1e999}}', "bad_example"),
        ("[" * 100_000, "bad_json"),
        ("\xff", "bad_json"),
    ]:
        reply = client.http.post("/v1/models/m/predict", content=text.encode("latin-1"))
        assert (reply.status_code, reply.json()["error"]["code"]) == (STATUS[code], code), text[:50]


def test_bulk_answers_line_by_line(client):
    client.make()
    lines = [
        '{"op": "predict", "id": "a", "x": {"f": 1}}',
        "",
        "nonsense",
        '{"op": "label", "id": "a", "label": "ham"}',
        '{"op": "predict", "id": "b", "x": {"f": 1}}',
        '{"op": "label", "id": "a", "label": "ham"}',
        '{"op": "forget", "id": "a"}',
        '{"op": "learn", "id": "c", "x": {"f": 2}, "label": "spam"}',
        '{"op": "label", "id": "c", "label": "ham"}',
    ]
    told = [
        json.loads(one) for one in client.http.post("/v1/models/m/bulk", content="\n".join(lines)).text.splitlines()
    ]
    assert [one.get("line") for one in told] == [None, 3, None, None, None, 7, None, 9]
    assert told[0]["prediction"] == "spam"
    assert told[3]["prediction"] == "ham"  # the label before it was learned
    assert told[4]["repeated"]
    assert [one["error"]["code"] for one in told if "error" in one] == ["bad_json", "bad_request", "label_differs"]


def test_requests_need_authorisation(client):
    client.make()
    for given in (
        "",
        "Bearer wrong",
        f"token {client.http.headers['authorization'][7:]}",
        "Basic bm92aWtvZmY6d3Jvbmc=",
    ):
        reply = client.http.get("/v1/models", headers={"authorization": given})
        assert reply.status_code == 401
    assert client.http.get("/healthz", headers={"authorization": ""}).status_code == 200
    assert client.http.get("/readyz", headers={"authorization": ""}).status_code == 200
    elsewhere = {"origin": "http://elsewhere.example"}
    assert client.http.get("/v1/models", headers=elsewhere).status_code == 403
    assert client.http.get("/v1/models", headers={"origin": str(client.http.base_url).rstrip("/")}).status_code == 200


def test_names_and_paths_lead_nowhere_else(client, tmp_path):
    assert (tmp_path / "models").stat().st_mode & 0o077 == 0
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for name in ("..", "%2e%2e", "a%2fb", ".hidden", "A", "a" * 65, "a b", "é"):
        status, _ = client.code("PUT", f"/v1/models/{name}", {"learner": "perceptron"})
        assert status in (400, 404, 405)
    for path in ("/v1/models/../../token", "/token", "/v1/models/%2e%2e/model.nk", "//etc/passwd"):
        assert client.http.get(path).status_code in (400, 404)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_large_bodies_are_refused(client):
    client.make()
    body = {"id": "a", "x": {"f": "x" * MOST_BYTES}}
    assert client.code("POST", "/v1/models/m/predict", body) == (413, "too_large")
    line = json.dumps({"op": "predict", **body}) + "x" * MOST_BYTES
    assert json.loads(client.http.post("/v1/models/m/bulk", content=line).text)["error"]["code"] == "too_large"


def test_refused_requests_change_nothing(client):
    client.make()
    assert client.learn("a", [1, 2], "neither", 422)["error"]["code"] == "bad_label"
    lines = ['{"op": "learn", "id": "b", "x": [1, 2], "label": "neither"}',
             '{"op": "predict", "id": "c", "x": {"f": 1}}',
             '{"op": "predict", "id": "d", "x": [1, 2]}']  # fmt: skip
    told = [
        json.loads(one) for one in client.http.post("/v1/models/m/bulk", content="\n".join(lines)).text.splitlines()
    ]
    assert [one.get("error", {}).get("code") for one in told] == ["bad_label", None, "bad_example"]
    assert "an array of 2 numbers after an object" in told[2]["error"]["message"]


@pytest.mark.parametrize("learner", ["perceptron", "auto"])
def test_proof_of_a_served_model_is_verified_by_arithmetic(client, learner):
    from novikoff_verify.command import UNCHECKED, VERIFIED, Verification

    client.make(learner=learner)
    for k in range(12):
        client.learn(f"a{k}", {"f": float(k % 5) - 2.0, "g": 1}, "spam" if k % 5 > 2 else "ham")
    proof = client.ask("GET", "/m/proof")
    assert Verification(proof, None).status == VERIFIED
    assert Verification(proof, __file__).status == UNCHECKED


def test_model_without_a_proof_file_has_none(client):
    client.make(learner="adagrad")
    assert client.code("GET", "/v1/models/m/proof") == (404, "nothing_here")


def test_regression_models_report_no_mistakes(client):
    client.make(learner="vaw", negative=None, positive=None)
    for k in range(8):
        client.learn(f"a{k}", [k % 3], 2.0 * (k % 3))
    told = client.ask("GET", "/m/certificate")
    assert (told["mistakes"], told["arrival_mistakes"], told["loss_name"]) == (None, None, "squared")
    assert told["loss"] < told["baselines"]["best_constant"]["loss"] * 2
    assert "novikoff_mistakes_total{" not in client.http.get("/metrics").text


def test_an_alarm_of_drift_is_reported_with_its_guarantee(client):
    client.make()
    calm = [{"f": float(k % 5) - 2.0, "g": 1} for k in range(1500)]
    lines = [{"op": "learn", "id": str(k), "x": x, "label": "spam" if (x["f"] > 0) != (k > 700) else "ham"}
             for k, x in enumerate(calm)]  # fmt: skip
    for some, alarm in ((lines[:700], False), (lines[700:], True)):
        client.http.post("/v1/models/m/bulk", content="\n".join(map(json.dumps, some)))
        told = client.ask("GET", "/m/certificate")["drift"]
        assert (told["alarm"], told["alpha"]) == (alarm, 0.05)
        assert ("are not independent, or the delays of labels" in told["sentence"]) == alarm
        assert f'novikoff_drift_alarm{{model="m"}} {int(alarm)}' in client.http.get("/metrics").text
    assert told["examples"] == 1500 - 64


def test_pending_is_bounded_and_rounds_expire(client):
    client.make(most_pending=2, expire_seconds=60)
    client.predict("a", {"f": 1})
    client.predict("b", {"f": 1})
    assert client.predict("c", {"f": 1}, 429)["error"]["code"] == "pending_full"
    table = client.service.models["m"].table
    table._anchor += 61  # a minute later
    assert client.predict("c", {"f": 1})["round"] == 3
    assert client.label("a", "ham", 410)["error"]["code"] == "expired"
    assert client.predict("a", {"f": 1})["repeated"]
    told = client.ask("GET", "/m/certificate")
    assert (told["predicted"], told["pending"], told["expired"]) == (3, 1, 2)


def test_models_are_created_as_requested(client):
    client.make()
    client.make(status=200)
    assert client.make(status=409, bits=11)["error"]["code"] == "model_differs"
    for asked in (
        {"learner": "perceptrn"},
        {"learner": "perceptron:bias=x"},
        {"bits": 60},
        {"positive": None},
        {"positive": "ham"},
        {"labels": "multiclass"},
        {"learner": "exponential-weights:loss=table,experts=3"},
    ):
        assert client.make("n", status=422, **asked)["error"]["code"] == "bad_model"
    assert client.code("PUT", "/v1/models/n", {"learner": "perceptron", "bits": "18"})[0] == 400
    assert [one["name"] for one in client.ask("GET", "")["models"]] == ["m"]


def test_a_certificate_is_that_of_the_game(client):
    client.make()
    for k in range(30):
        client.predict(f"a{k}", {"f": k % 3, "g": k % 2})
    for k in range(30):
        client.label(f"a{k}", "spam" if k % 2 else "ham")
    told = client.ask("GET", "/m/certificate")
    first = told["certificates"][0]
    assert (first["theorem"], first["observed"]) == ("delayed_mistakes", told["mistakes"])
    assert told["mistakes"] <= told["arrival_mistakes"] + told["changed"]
    assert first["bound"] >= told["mistakes"]


def test_a_model_goes_out_and_in_again(client, tmp_path):
    client.make()
    for k in range(20):
        client.learn(f"a{k}", {"f": k}, "spam" if k % 2 else "ham")
    client.predict("waits", {"f": 1})
    path = tmp_path / "out.nk"
    path.write_bytes(client.http.get("/v1/models/m/model.nk").content)
    assert nk.load(path).rounds == 20
    other = client.http.put("/v1/models/other/model.nk?bits=18", content=path.read_bytes())
    assert (other.status_code, "the model was trained with 10" in other.text) == (422, True)
    reply = client.http.put("/v1/models/again/model.nk", content=path.read_bytes())
    assert (reply.status_code, reply.json()["labelled"], reply.json()["expired"]) == (201, 20, 1)
    assert reply.json()["model"]["bits"] == 10
    named = nk.Game(nk.Perceptron())
    named.learn_one({"a": 1.0}, -1)
    for game, status in ((nk.play("perceptron", ([[1.0], [-1.0]], [1, -1])), 201), (named.ledger, 422)):
        nk.save(game, tmp_path / "played.nk")
        played = (tmp_path / "played.nk").read_bytes()
        assert client.http.put("/v1/models/played/model.nk", content=played).status_code == status
        client.http.delete("/v1/models/played?confirm=played")
    assert client.http.put("/v1/models/again/model.nk", content=path.read_bytes()).status_code == 409
    told = [client.ask("POST", f"/{name}/learn", {"id": "z", "x": {"f": 3}, "label": "ham"}) for name in ("m", "again")]
    assert told[0]["prediction"] == told[1]["prediction"]
    assert client.http.put("/v1/models/bad/model.nk", content=b"PK\3\4nonsense").status_code == 422
    for name, pieces in (("array0.npy", 16), ("meta.json", 1)):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb, bomb.open(name, "w") as entry:
            for _ in range(pieces):
                entry.write(bytes(2**26))
        assert client.http.put("/v1/models/bad/model.nk", content=path.read_bytes()).status_code == 413


def test_the_client_asks_for_all_that_can_be_asked(client):
    url, token = str(client.http.base_url), client.http.headers["authorization"].split()[1]
    with Client(url, token) as ours:
        model = ours.create("m", "perceptron:bias=1", bits=10, keep_examples=100)
        said = model.predict({"f": np.float64(1.0)})
        assert model.label(said["id"], np.int64(-1))["mistake"] == (said["prediction"] == 1)
        again = ours.upload("again", model.download(), most_pending=7)
        assert (again.describe()["labelled"], again.describe()["model"]["most_pending"]) == (1, 7)
        assert (ours.delete("again"), ours.delete("again")) == (True, False)

    async def ask():
        async with AsyncClient(url, token) as theirs:
            model = await theirs.upload("again", await theirs.model("m").download())
            assert (await model.describe())["labelled"] == 1
            assert await theirs.delete("again")
            return await theirs.models()

    assert [one["name"] for one in asyncio.run(ask())] == ["m"]
    for wrong in ("http://127.0.0.1:x", "http://127.0.0.1:99999", "ftp://a", "http://"):
        with pytest.raises(InputError, match="an address must be like"):
            Client(wrong)


def test_service_describes_itself(client):
    client.make()
    client.learn("a", {"f": 1}, "ham")
    text, end = "", time.monotonic() + 60
    while 'novikoff_bound_as_of_label{model="m"} 1' not in text and time.monotonic() < end:  # in the background
        text = client.http.get("/metrics").text
    assert 'novikoff_predictions_total{model="m"} 1' in text
    assert 'novikoff_bound{model="m",theorem="delayed_mistakes"}' in text
    assert re.search(r'novikoff_commit_seconds_bucket\{model="m",le="\+Inf"\} 1\n', text)
    assert 'novikoff_certificates{model="m",status="violated"} 0' in text
    assert 'novikoff_requests_total{route="learn",status="200"} 1' in text
    assert re.search(r'novikoff_disk_bytes\{model="m"\} [1-9]', text)
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in text.splitlines())
    document = client.http.get("/openapi.json").json()
    assert document["components"]["schemas"].keys() >= {"Predict", "Label", "Learn", "Model"}
    page = client.http.get("/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert all(path in page.text for path in document["paths"])
    assert not re.search(r"https?://|src=", page.text)


def test_probabilities_and_prediction_sets_are_answered(client):
    client.make(learner="logistic")
    client.make("sets", learner="conformal:[logistic]")
    client.make("wide", learner="conformal:[vaw]", negative=None, positive=None)
    for t in range(30):
        client.learn(f"r{t}", {"free": 1.0} if t % 2 else {"see": 1.0}, "spam" if t % 2 else "ham")
        x = {"id": f"r{t}", "x": {"free": 1.0}}
        client.ask("POST", "/sets/learn", {**x, "label": "spam" if t % 3 else "ham"})
        client.ask("POST", "/wide/learn", {**x, "label": float(t % 4)})
    asked = {"id": "a", "x": {"free": 1.0}, "probabilities": True}
    found = client.ask("POST", "/m/predict", asked)
    ham, spam = found["probabilities"]
    assert (ham["label"], spam["label"]) == ("ham", "spam")
    assert ham["probability"] + spam["probability"] == pytest.approx(1.0)
    assert spam["probability"] > 0.5
    assert client.ask("POST", "/m/predict", asked) == {**found, "repeated": True}
    client.label("a", "spam")
    assert client.ask("POST", "/m/predict", asked)["probabilities"] is None
    assert "probabilities" not in client.predict("b", {"free": 1.0})
    assert set(client.ask("POST", "/sets/predict", {"id": "a", "x": {"free": 1.0}})["set"]) <= {"ham", "spam"}
    low, high = client.ask("POST", "/wide/predict", {"id": "a", "x": {"free": 1.0}})["set"]
    assert low is None or low <= high
    client.make("plain")
    refused = client.ask("POST", "/plain/predict", asked, 400)
    assert refused["error"]["code"] == "bad_request"


def test_a_prediction_is_explained_in_the_names_that_were_sent(client):
    client.make(learner="ftrl")
    for t in range(20):
        client.learn(f"r{t}", {"free": 1, "words": 3} if t % 2 else {"see": 1, "words": 2}, "spam" if t % 2 else "ham")
    asked = {"id": "a", "x": {"free": 2, "home": 1}, "why": True}
    found = client.ask("POST", "/m/predict", asked)
    why = found["why"]
    assert why["prediction"] == found["prediction"] == "spam"
    assert why["score"] == found["score"]
    assert {one["column"]: one["value"] for one in why["contributions"]} == {"free": 2, "home": 1}
    assert why["base"] + sum(one["amount"] for one in why["contributions"]) + why["rest"] == pytest.approx(why["score"])
    assert client.ask("POST", "/m/predict", asked) == found | {"repeated": True}
    assert "why" not in client.predict("b", {"free": 2})
    client.label("a", "spam")
    assert client.ask("POST", "/m/predict", asked)["why"] is None  # a label was learned since
    importance = client.ask("GET", "/m/importance")
    assert {*importance["columns"]} >= {"free", "see", "words"}
    assert importance["kind"] == "weights"


def test_what_cannot_be_explained_is_refused_and_not_a_round(client):
    client.make(learner="kernel-perceptron")
    client.learn("r", {"free": 1}, "spam")
    body = {"id": "a", "x": {"free": 1}, "why": True}
    assert client.code("POST", "/v1/models/m/predict", body) == (400, "bad_request")
    assert client.code("GET", "/v1/models/m/rounds/a") == (404, "unknown_id")
    assert client.code("GET", "/v1/models/m/importance") == (400, "bad_request")
    assert client.predict("a", {"free": 1})["prediction"] == "spam"


def test_a_wrong_method_is_answered_with_those_allowed(client):
    client.make()
    found = client.http.request("TRACE", "/v1/models/m")
    assert (found.status_code, found.headers["allow"]) == (405, "DELETE, GET, HEAD, PUT")
    assert found.json()["error"]["code"] == "wrong_method"
    assert client.http.post("/metrics").headers["allow"] == "GET, HEAD"
