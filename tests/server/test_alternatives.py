"""Models side by side: earlier versions, frozen models, shadows and teams, as durable as everything else."""

import io
import json
import random
import shutil
import sqlite3

import pytest

from novikoff.server.actor import Look
from novikoff.server.backup import back_up_directory, restore
from novikoff.server.recovery import DATABASE, snapshots
from serving import opened, parts, rounds
from serving_process import Server, context

X = {"f1": 1.0, "f2": -1.0}


def learn(client, count, seed=0, name="m", turned=False):
    """Rounds with a rule that a linear learner finds."""
    coins = random.Random(seed)
    lines = []
    for k in range(count):
        x = {f"f{j}": coins.gauss(0, 1) for j in range(3)}
        label = "spam" if (x["f0"] > 0) != turned else "ham"
        lines.append({"op": "learn", "id": f"{seed}-{k}", "x": x, "label": label})
    text = client.http.post(f"/v1/models/{name}/bulk", content="\n".join(map(json.dumps, lines))).text
    assert '"error"' not in text


def shadow(client, name, shadow):
    """Learner and ledger of a shadow, byte by byte."""
    return parts(io.BytesIO(client.http.get(f"/v1/models/{name}/shadows/{shadow}/model.nk?rows=true").content))


def test_a_model_is_set_back_to_the_bit_and_goes_on_from_there(tmp_path):
    with opened(tmp_path, snapshot_every=30) as client:
        client.make()
        client.make("same")
        for name in ("m", "same"):
            learn(client, 50, name=name)
        before = client.saved("same")
        client.predict("waits", X)
        late = client.predict("late", X)
        learn(client, 40, seed=1)
        assert client.code("POST", "/v1/models/m/rollback", {"labels": 90}) == (400, "bad_request")
        assert client.code("POST", "/v1/models/m/rollback", {"labels": -1}) == (400, "bad_request")
        found = client.ask("POST", "/m/rollback", {"labels": 50})
        assert (found["labelled"], found["predicted"], found["pending"]) == (50, 52, 2)
        now = client.saved()
        assert now[1] == before[1]  # arrays
        assert now[0]["ledger"]["late"] == before[0]["ledger"]["late"] | {"predicted": 52}
        assert client.predict("late", X) == late | {"repeated": True}
        assert client.label("late", "ham")["arrival"] == 91  # labels are counted on
        learn(client, 20, seed=2)
        assert client.ask("GET", "/m/rounds/1-3")["state"] == "labelled"
        assert client.ask("GET", "/m/certificate")["labelled"] == 71
        after = client.saved()
        client.ask("POST", "/m/rollback", {"labels": 20})  # of the first branch
        assert client.ask("GET", "/m")["labelled"] == 20
        learn(client, 10, seed=3)
        last = client.saved()
    assert after != last
    for start in range(2):
        with opened(tmp_path) as client:
            assert client.saved() == last
            assert client.predict("late", X) == late | {"repeated": True}
            assert client.ask("GET", "/m/rounds/waits")["state"] == "waits"
        for _, path in snapshots(tmp_path / "models/m"):
            path.unlink()
        assert start == 0 or not snapshots(tmp_path / "models/m")
    back_up_directory(tmp_path, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "other")
    with opened(tmp_path / "other") as client:
        assert client.saved() == last


def test_a_rollback_that_was_cut_off_did_not_happen(tmp_path, monkeypatch):
    with opened(tmp_path, snapshot_every=10) as client:
        client.make()
        learn(client, 90)
        client.ask("POST", "/m/rollback", {"labels": 50})
        before = client.saved()
        set_facts = client.service.models["m"].store.set_facts

        def fail(**facts):
            if "branches" in facts:
                raise OSError("the disk is full")
            set_facts(**facts)

        with monkeypatch.context() as patched:
            patched.setattr(client.service.models["m"].store, "set_facts", fail)
            assert client.code("POST", "/v1/models/m/rollback", {"labels": 20}) == (503, "storage_failed")
            assert client.saved() == before
        while client.ask("GET", "/m")["state"] != "ready":
            pass
        learn(client, 10, seed=1)  # snapshot-100.nk, with 60 rounds
        client.saved()
        client.service.models["m"]._writer.join()
        client.ask("POST", "/m/rollback", {"labels": 60})  # 60 other rounds, of the first branch
        before = client.saved()
    with opened(tmp_path) as client:
        assert client.saved() == before


def test_dropped_examples_limit_how_far_a_model_is_set_back(tmp_path):
    with opened(tmp_path, snapshot_every=20) as client:
        client.make(keep_examples=5)
        actor = client.service.models["m"]
        for seed in range(6):
            learn(client, 20, seed=seed)
            client.saved()
            actor._writer.join()
        while actor.table.dropped_to < 80:
            client.saved()
        found = client.http.post("/v1/models/m/rollback", json={"labels": 30})
        assert (found.status_code, "cannot be replayed" in found.text) == (400, True)
        assert client.ask("POST", "/m/rollback", {"labels": 115})["labelled"] == 115
        before = client.saved()
    with opened(tmp_path) as client:
        assert client.saved() == before


def test_a_frozen_model_predicts_and_neither_learns_nor_records(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        learn(client, 30)
        known = client.predict("known", X)
        before = client.saved()
        assert client.ask("POST", "/m/freeze", {"frozen": True})["frozen"]
    with opened(tmp_path) as client:
        assert client.ask("GET", "/m")["frozen"]
        answer = client.predict("new", X)
        assert (answer["round"], answer["prediction"], answer["score"]) == (None, known["prediction"], known["score"])
        assert client.predict("known", X) == known | {"repeated": True}
        assert client.label("known", "ham", 409)["error"]["code"] == "frozen"
        assert client.learn("other", X, "ham", 409)["error"]["code"] == "frozen"
        assert client.learn("0-3", {"f0": 1}, "ham", 409)["error"]["code"] == "id_taken"
        assert client.code("GET", "/v1/models/m/rounds/new") == (404, "unknown_id")
        lines = [{"op": "predict", "id": "p", "x": X}, {"op": "label", "id": "p", "label": "ham"}]
        text = client.http.post("/v1/models/m/bulk", content="\n".join(map(json.dumps, lines))).text.splitlines()
        assert json.loads(text[0])["round"] is None
        assert json.loads(text[1])["error"]["code"] == "unknown_id"
        assert client.saved() == before
        assert 'novikoff_frozen{model="m"} 1' in client.http.get("/metrics").text
        assert client.code("POST", "/v1/models/m/freeze", {"frozen": 1}) == (400, "bad_request")
        client.ask("POST", "/m/freeze", {"frozen": False})
        client.label("known", "ham")


def test_predictions_that_are_not_recorded_change_nothing_and_work_on_a_full_disk(tmp_path):
    def peek(client, **more):
        return client.ask("POST", "/m/predict", {"id": "a", "x": X, "record": False, **more})

    with opened(tmp_path) as client:
        client.make()
        assert peek(client)["round"] is None  # before any other
        learn(client, 30)
        before, counts = client.saved(), client.ask("GET", "/m")
        first = peek(client, why=True)
        assert first["why"]["contributions"]
        assert (first["version"], first["repeated"]) == (30, False)
        assert client.code("POST", "/v1/models/m/predict", {"id": "a", "x": 1, "record": False}) == (422, "bad_example")
        assert (client.saved(), client.ask("GET", "/m")) == (before, counts)
        actor = client.service.models["m"]
        client.learn("real", X, "ham")
        before = client.saved()

        def limit(pages):
            from queue import SimpleQueue

            done = SimpleQueue()
            act = f"PRAGMA max_page_count={pages}"
            actor.look(Look(lambda one: one.store._db.execute(act) and None, done.put))
            done.get()

        limit(1)
        assert client.learn("big", {f"g{k}": k for k in range(2000)}, "ham", 503)["error"]["code"] == "storage_failed"
        score = peek(client)["score"]
        assert client.predict("b", X, 503)["error"]["code"] == "storage_failed"
        assert client.code("POST", "/v1/models/m/freeze", {"frozen": True}) == (503, "storage_failed")
        limit(10**9)
        while client.ask("GET", "/m")["state"] != "ready":
            pass
        assert client.predict("b", X)["score"] == score


def test_the_drift_test_begins_again_and_so_it_does_on_replay(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        learn(client, 600)
        learn(client, 600, seed=1, turned=True)
        assert client.ask("GET", "/m/certificate")["drift"]["alarm"]
        client.ask("DELETE", "/m/drift-test")
        assert not client.ask("GET", "/m/certificate")["drift"]["alarm"]
        assert 'novikoff_drift_alarm{model="m"} 0' in client.http.get("/metrics").text
        early = client.saved()
        learn(client, 100, seed=2, turned=True)
        before = client.saved()
        assert before[0]["ledger"]["drift"]["rounds"] == 100
        client.make("number", learner="vaw", negative=None, positive=None)
        assert client.code("DELETE", "/v1/models/number/drift-test") == (400, "bad_request")
        client.ask("POST", "/m/rollback", {"labels": 1200})
        assert client.saved()[0]["ledger"]["drift"] == early[0]["ledger"]["drift"]
        client.ask("DELETE", "/m/drift-test")
        learn(client, 20, seed=3, turned=True)
        before = client.saved()
    for _, path in snapshots(tmp_path / "models/m"):
        path.unlink()
    with opened(tmp_path) as client:
        assert client.saved() == before


@pytest.mark.parametrize("many", [False, True])
def test_a_shadow_learns_the_same_rows_and_is_compared(tmp_path, many):
    options = {"labels": "multiclass", "negative": None, "positive": None} if many else {}
    labels = ("a", "b", 3) if many else ("ham", "spam")
    with opened(tmp_path, snapshot_every=40) as client:
        client.make(**options)
        client.make("alone", learner="perceptron:bias=0.5", **options)
        rounds(client, 50, labels=labels)
        at = client.ask("GET", "/m")
        found = client.ask("PUT", "/m/shadows/b", {"learner": "perceptron:bias=0.5"}, 201)
        assert found["shadows"][0]["since"] == at["labelled"]
        client.ask("PUT", "/m/shadows/b", {"learner": "perceptron:bias=0.5"}, 200)
        assert client.code("PUT", "/v1/models/m/shadows/b", {"learner": "perceptron"}) == (409, "model_differs")
        assert client.code("PUT", "/v1/models/m/shadows/c", {"learner": "nothing"}) == (422, "bad_model")
        assert client.code("PUT", "/v1/models/m/shadows/B", {"learner": "perceptron"}) == (400, "bad_request")
        rounds(client, 100, seed=1, labels=labels)
        now = client.ask("GET", "/m")
        (found,) = client.ask("GET", "/m/shadows")["shadows"]
        assert found["labels"] == now["labelled"] - at["labelled"] > 50
        assert found["mistakes"]["served"] == now["mistakes"] - at["mistakes"]
        assert found["mistakes"]["arrival"] == now["arrival_mistakes"] - at["arrival_mistakes"]
        before, main = shadow(client, "m", "b"), client.saved()
        text = client.http.get("/metrics").text
        assert f'novikoff_shadow_mistakes{{model="m",shadow="b"}} {found["mistakes"]["shadow"]}' in text
        assert client.code("POST", "/v1/models/m/rollback", {"labels": 3}) == (400, "bad_request")
        # The shadow alone, on the same rows in the order of arrival.
        copy, read = tmp_path / "copy", tmp_path / "read"
        for there in (copy, read):
            shutil.copytree(tmp_path / "models", there)
        with sqlite3.connect(read / "m" / DATABASE) as db:
            query = "SELECT r.x, a.y FROM arrivals a JOIN rounds r USING (seq) WHERE a.n > ? ORDER BY a.n"
            rows = db.execute(query, (at["labelled"],)).fetchall()
        db.close()
        alone, play = client.service.models["alone"].play, client.service.models["m"].play
        alone.learn("pairs", [x for x, _ in rows], [play.decode(y) for _, y in rows])
        assert alone.ledger.mistakes == found["mistakes"]["shadow"]
        assert {k: v for k, v in client.saved("alone")[1].items() if k == "array0"} == {
            k: v for k, v in before[1].items() if k == "array0"
        }
    shutil.rmtree(tmp_path / "models/m")
    shutil.copytree(copy / "m", tmp_path / "models/m")  # as after kill -9
    for dropped in (False, True):
        if dropped:
            for path in (tmp_path / "models/m").glob("s*-*.nk"):
                path.unlink()
        with opened(tmp_path) as client:
            assert (shadow(client, "m", "b"), client.saved()) == (before, main)
            assert client.ask("GET", "/m/shadows")["shadows"] == [found]
    with opened(tmp_path) as client:
        client.ask("DELETE", "/m/shadows/b")
        assert not list((tmp_path / "models/m").glob("shadow-*"))
        assert client.code("DELETE", "/v1/models/m/shadows/b") == (404, "unknown_model")
        file = client.http.put("/v1/models/promoted/model.nk", content=client.http.get("/v1/models/m/model.nk").content)
        assert file.status_code == 201


def test_a_shadow_is_compared_on_numbers_and_needs_stored_examples(tmp_path):
    with opened(tmp_path) as client:
        client.make(learner="vaw", negative=None, positive=None)
        client.ask("PUT", "/m/shadows/b", {"learner": "vaw:ridge=2"}, 201)
        rounds(client, 40, labels=(0.5, 1, 2), x=lambda coins: [coins.gauss(0, 1)])
        (found,) = client.ask("GET", "/m/shadows")["shadows"]
        assert found["loss"]["shadow"] != found["loss"]["arrival"] > 0
        assert 'novikoff_shadow_loss{model="m",shadow="b"}' in client.http.get("/metrics").text
        client.make("short", keep_examples=3)
        assert client.code("PUT", "/v1/models/short/shadows/b", {"learner": "perceptron"}) == (400, "bad_request")


def ready(client, **more):
    """A team of two deployed models, of which the first is right."""
    client.make("good")
    client.make("bad")
    learn(client, 100, name="good")
    learn(client, 100, name="bad", turned=True)
    return client.ask("PUT", "/m/team", {"models": ["good", "bad"], **more}, 201)


def test_a_team_follows_deployed_models_by_id_with_a_certificate_of_its_regret(tmp_path):
    with opened(tmp_path) as client:
        assert [one["weight"] for one in ready(client, seed=7)["team"]] == [0.5, 0.5]
        answers = [client.predict(f"{k}", X) for k in range(40)]
        followed = {one["member"] for one in answers}
        assert followed == {"good", "bad"}  # drawn for each id
        assert client.predict("3", X) == answers[3] | {"repeated": True}
        by_member = {one["member"]: one["prediction"] for one in answers}
        assert all(one["prediction"] == by_member[one["member"]] for one in answers)
        assert by_member == {"good": client.ask("POST", "/good/predict", {"id": "q", "x": X})["prediction"],
                             "bad": client.ask("POST", "/bad/predict", {"id": "q", "x": X})["prediction"]}  # fmt: skip
        learn(client, 200, seed=5)
        found = client.ask("GET", "/m")["team"]
        assert found[0]["weight"] > 0.6
        assert sum(one["followed"] for one in found) == 40
        certificates = {one["theorem"]: one for one in client.ask("GET", "/m/certificate")["certificates"]}
        regret = certificates["anytime_regret"]
        assert regret["status"] == "valid"
        assert regret["observed"] <= regret["bound"]
        assert certificates["delayed_drawn"]["status"] == "conditional"
        text = client.http.get("/metrics").text
        assert 'novikoff_team_weight{model="m",member="good"} 0.' in text
        assert 'novikoff_team_followed_total{model="m",member="bad"}' in text
        before, later = client.saved(), client.predict("later", X)
        assert client.ask("GET", "/good")["labelled"] == 100  # the deployed models are not touched
        assert client.code("PUT", "/v1/models/x/team", {"models": ["good"]}) == (400, "bad_request")
        assert client.code("PUT", "/v1/models/x/team", {"models": ["good", "no"]}) == (404, "unknown_model")
        assert client.code("PUT", "/v1/models/m/team", {"models": ["good", "bad"]}) == (409, "model_differs")
        client.make("other", negative="no", positive="yes")
        assert client.code("PUT", "/v1/models/x/team", {"models": ["good", "other"]}) == (422, "bad_model")
    with opened(tmp_path) as client:
        assert client.predict("later", X) == later | {"repeated": True}
        client.label("later", "ham")
        assert client.predict("3", X)["member"] == answers[3]["member"]
        assert before != client.saved()


def test_a_challenger_replaces_the_champion_with_a_promise_on_switching(tmp_path):
    with opened(tmp_path) as client:
        ready(client, by="fixed-share", horizon=400, switches=1)
        learn(client, 150, seed=5)
        assert client.ask("GET", "/m")["team"][0]["weight"] > 0.6
        learn(client, 250, seed=6, turned=True)
        certificates = {one["theorem"]: one for one in client.ask("GET", "/m/certificate")["certificates"]}
        promise = certificates["fixed_share_regret"]
        assert promise["status"] == "valid"
        assert promise["observed"] <= promise["bound"] < 200
        wrong = {"models": ["good", "bad"], "by": "fixed-share"}
        assert client.code("PUT", "/v1/models/x/team", wrong) == (422, "bad_model")


def test_models_side_by_side_survive_a_kill(tmp_path, request, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "")
    processes, coins = context(), random.Random(5)
    server = Server(processes, tmp_path, "full")
    request.addfinalizer(lambda: server.kill())
    asked = {"learner": "perceptron:bias=1", "negative": "ham", "positive": "spam", "bits": 10}
    replies, sent = {}, {}
    for kill in range(2):
        with server.client() as http:
            if not kill:
                for name in ("a", "b"):
                    http.put(f"/{name}", json=asked).raise_for_status()
                made = http.put("/ab/team", json={"models": ["a", "b"]})
                assert made.status_code == 201, made.text
                http.put("/a/shadows/s", json={"learner": "perceptron"}).raise_for_status()
            for k in range(60):
                for name in ("a", "b", "ab"):
                    body = {"id": f"{kill}-{k}", "x": {f"f{coins.randrange(9)}": coins.gauss(0, 1)}}
                    sent[name, body["id"]] = body
                    replies[name, body["id"]] = http.post(f"/{name}/predict", json=body).json()
                    if coins.random() < 0.8:
                        http.post(f"/{name}/label", json={"id": body["id"], "label": coins.choice(("ham", "spam"))})
            http.post("/b/rollback", json={"labels": 20}).raise_for_status()
            http.delete("/a/drift-test").raise_for_status()
            http.post("/b/freeze", json={"frozen": bool(kill)}).raise_for_status()
            before = {name: http.get(f"/{name}/model.nk?rows=true").content for name in ("a", "b", "ab")}
            before["s"] = http.get("/a/shadows/s/model.nk?rows=true").content
        server.kill()
        server = Server(processes, tmp_path, "full")
        with server.client() as http:
            after = {name: http.get(f"/{name}/model.nk?rows=true").content for name in ("a", "b", "ab")}
            after["s"] = http.get("/a/shadows/s/model.nk?rows=true").content
            for name, content in before.items():
                for path, one in ((tmp_path / "one.nk", content), (tmp_path / "two.nk", after[name])):
                    path.write_bytes(one)
                assert parts(tmp_path / "one.nk") == parts(tmp_path / "two.nk"), name
            for (name, id), reply in replies.items():
                assert http.post(f"/{name}/predict", json=sent[name, id]).json() == reply | {"repeated": True}
            assert http.get("/b").json()["frozen"] is bool(kill)
