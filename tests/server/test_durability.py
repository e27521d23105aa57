"""What was answered is there, whatever happens; and the game is the one that was never stopped."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time

import httpx
import pytest

from novikoff.server import handlers
from novikoff.server.backup import back_up
from novikoff.server.recovery import DATABASE, snapshots
from novikoff.server.service import Service
from novikoff.server.store import FRAME, Arrival, Round, Store, lost_commits
from serving import opened, parts, played, rounds
from serving_process import Server, context

KINDS = [
    ({}, ("ham", "spam"), None),
    ({"learner": "logistic", "negative": 0, "positive": 1}, (0, 1), lambda coins: [coins.gauss(0, 1), 1]),
    ({"learner": "perceptron", "labels": "multiclass", "negative": None, "positive": None}, ("a", "b", 3, True), None),
    (
        {"learner": "hedge:learners=[[perceptron:bias=1],[perceptron]]", "negative": -1, "positive": 1},
        (-1, 1),
        None,
    ),
    ({"learner": "vaw", "negative": None, "positive": None}, (0.5, -1, 2), lambda coins: [coins.gauss(0, 1)]),
    (
        {"learner": "exponential-weights:loss=squared,experts=2", "negative": None, "positive": None},
        (0, 0.5, 1),
        lambda coins: [coins.random(), coins.random()],
    ),
    ({"learner": "threshold-halving:n=100", "negative": None, "positive": None}, (-1, 1),
     lambda coins: coins.randrange(100)),
]  # fmt: skip
"""Options, labels and examples of learners of every kind."""


def reopened(folder):
    """The game after a new start, and the log of the service."""
    with opened(folder) as client:
        return client.saved()


@pytest.mark.parametrize(("asked", "labels", "x"), KINDS)
def test_learners_of_every_kind_are_recovered_to_the_bit(tmp_path, asked, labels, x):
    with opened(tmp_path) as client:
        client.make(**asked)
        rounds(client, 100, labels=labels, x=x)  # the test of drift freezes the learner after 64 labels
        before = client.saved()
    assert before == played(tmp_path / "models/m" / DATABASE)
    assert reopened(tmp_path) == before  # from a snapshot
    for _, path in snapshots(tmp_path / "models/m"):
        path.unlink()
    assert reopened(tmp_path) == before  # from the first label on


@pytest.mark.parametrize(("asked", "labels", "x"), KINDS)
def test_lines_that_alternate_are_answered_as_one_by_one_to_the_bit(tmp_path, monkeypatch, asked, labels, x):
    coins, lines = random.Random(3), []
    for k in range(120):
        example = x(coins) if x else {f"f{coins.randrange(20)}": coins.gauss(0, 1) for _ in range(5)}
        late = 5 if 70 <= k < 90 else 0  # before and after, each label follows its prediction
        lines.append({"op": "predict", "id": f"{k}", "x": example})
        lines.insert(len(lines) - 2 * late + late, {"op": "label", "id": f"{k - late}", "label": coins.choice(labels)})
    lines.insert(100, {"op": "label", "id": "none", "label": labels[0]})
    lines.insert(150, {"op": "label", "id": lines[148]["id"], "label": [1]})
    found = []
    for alone in (True, False):
        with opened(tmp_path / f"{alone}") as client:
            client.make(**asked)
            client.learn("first", lines[0]["x"], labels[0])
            sizes = [1] * len(lines) if alone else [7, 100, len(lines)]
            replies, at = [], 0
            for size in sizes:
                text = "\n".join(map(json.dumps, lines[at : at + size]))
                at += size
                replies += map(json.loads, client.http.post("/v1/models/m/bulk", content=text).text.splitlines())
            for reply in replies:
                reply.pop("line", None)
            found.append((replies, client.saved()))
        assert reopened(tmp_path / f"{alone}") == found[-1][1]
        for _, path in snapshots(tmp_path / f"{alone}/models/m"):
            path.unlink()
        assert reopened(tmp_path / f"{alone}") == found[-1][1]
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]


def test_lines_that_alternate_are_played_in_blocks(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make()
        client.learn("first", {"f": 1}, "ham")
        play, counts = client.service.models["m"].play, []
        learn = play._learn
        monkeypatch.setattr(play, "_learn", lambda *args: (counts.append(len(args[1])), learn(*args)))
        lines = [one for k in range(200) for one in ({"op": "predict", "id": f"{k}", "x": {"f": k}},
                                                     {"op": "label", "id": f"{k}", "label": "spam"})]  # fmt: skip
        text = client.http.post("/v1/models/m/bulk", content="\n".join(map(json.dumps, lines))).text
        assert '"error"' not in text
        assert sum(counts) == 200
        assert len(counts) <= 10


def test_uploaded_model_is_recovered(tmp_path):
    with opened(tmp_path) as client:
        client.make("first")
        client.ask("POST", "/first/learn", {"id": "a", "x": {"f": 1}, "label": "ham"})
        file = client.http.get("/v1/models/first/model.nk?rows=true").content
        assert client.http.put("/v1/models/m/model.nk?bits=10", content=file).status_code == 201
        rounds(client, 30)
        before = client.saved()
    for _, path in snapshots(tmp_path / "models/m"):
        path.unlink()
    assert reopened(tmp_path) == before


def test_snapshots_that_cannot_be_used_are_passed_over(tmp_path, capfd):
    with opened(tmp_path, snapshot_every=10) as client:
        client.make()
        for seed in range(3):
            rounds(client, 20, seed)
            before = client.saved()  # answered by the thread that begins a snapshot: it has begun
            client.service.models["m"]._writer.join()
    folder = tmp_path / "models/m"
    newest, older = (path for _, path in snapshots(folder))
    good = newest.read_bytes()
    for damaged in (good[: len(good) // 2], b"", good.replace(b'"format": 3', b'"format": 9')):
        newest.write_bytes(damaged)
        assert reopened(tmp_path) == before
        assert "snapshot_unusable" in capfd.readouterr().err
    newest.unlink()
    (folder / "snapshot-999999.nk").write_bytes(good)  # of another label than its name has
    assert reopened(tmp_path) == before
    assert "rounds instead of 999,999" in capfd.readouterr().err
    older.write_bytes(good)  # of another moment
    assert reopened(tmp_path) == before


def test_database_is_open_once_only(tmp_path):
    first = Store(tmp_path / DATABASE)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        Store(tmp_path / DATABASE)
    first.close()
    Store(tmp_path / DATABASE).close()


def test_requests_beyond_the_queue_are_refused(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make()
        client.learn("a", {"f": 1}, "ham")
        monkeypatch.setattr("novikoff.server.actor.MOST_WAITING", 0)
        refused = client.http.post("/v1/models/m/learn", json={"id": "b", "x": {"f": 1}, "label": "ham"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        monkeypatch.undo()
        client.learn("b", {"f": 1}, "ham")


def kept(database):
    """Of how many labelled rounds the example is kept, and of how many it is not."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        query = "SELECT sum(typeof(x) = 'blob'), sum(typeof(x) = 'text') FROM rounds WHERE state > 0"
        found = db.execute(query).fetchone()
    db.close()
    return found


def test_examples_that_two_snapshots_know_are_dropped_and_nothing_else_is(tmp_path):
    folder = tmp_path / "models/m"
    with opened(tmp_path, snapshot_every=40) as client:
        client.make(keep_examples=10)
        actor = client.service.models["m"]
        first = client.learn("first", {"f": 1}, "ham")
        for seed in range(4):
            rounds(client, 60, seed)
            client.saved()
            actor._writer.join()
        until, end = actor.table.to_drop(actor._sound[0]), time.monotonic() + 20
        while actor.table.dropped_to < until:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert client.learn("first", {"f": 1}, "ham") == {**first, "repeated": True}
        assert client.learn("first", {"f": 2}, "ham", 409)["error"]["code"] == "id_taken"
        before, labelled = client.saved(), client.ask("GET", "/m")["labelled"]
    assert until >= 40
    assert kept(folder / DATABASE) == (labelled - until, until)
    assert reopened(tmp_path) == before
    (_, newest), _ = snapshots(folder)
    newest.write_bytes(b"")
    assert reopened(tmp_path) == before  # the older one knows all that was dropped
    for _, path in snapshots(folder):
        path.unlink()
    with opened(tmp_path) as client:
        assert "no longer stored" in client.ask("GET", "/m")["reason"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failed_transaction_writes_nothing(tmp_path, error):
    """Not even what was written before the error; the next transaction works."""
    store = Store(tmp_path / DATABASE)
    with store.transaction():
        store.set_facts(kept=1)

    def fail():
        with store.transaction():
            store.set_facts(kept=2, lost=3)
            store.add_rounds([Round.new(1, "a", b"x", 1, 0.0, 0, 0.0, 0)])
            store.add_arrivals([Arrival(1, 1, 1, 1, 0)])
            raise error

    with pytest.raises(error):
        fail()
    assert (store.facts(), store.find(["a"]), store.counts()) == ({"kept": 1}, {}, (0, 0))
    store.close()
    store = Store(tmp_path / DATABASE)
    assert (store.facts(), store.counts()) == ({"kept": 1}, (0, 0))
    with store.transaction():
        store.set_facts(kept=4)
    assert store.facts() == {"kept": 4}
    store.close()


def test_pages_of_dropped_examples_are_free_again(tmp_path):
    store = Store(tmp_path / DATABASE)
    with store.transaction():
        store.add_rounds([Round.new(k, f"{k}", bytes(400), 1, 0.0, k, 0.0, k) for k in range(1, 2001)])
        store.add_arrivals([Arrival(k, k, 1, 1, 0) for k in range(1, 2001)])
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    with store.transaction():
        assert store.drop_labelled(0, 1900, 1500) == 1500
        assert store.drop_labelled(1500, 1900, 1500) == 1900
    assert store._db.execute("PRAGMA freelist_count").fetchone()[0] > pages / 3
    assert [store.find([f"{k}"])[f"{k}"].of(bytes(400)) for k in (1, 1900, 1901)] == [True, True, True]
    assert not store.find(["1"])["1"].of(bytes(401))
    store.close()


def test_a_full_disk_loses_nothing_and_passes(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        rounds(client, 20)
        before = client.saved()
        actor = client.service.models["m"]
        limited = threading.Event()

        def limit(pages):
            client.app.service.models["m"]._store._db.execute(f"PRAGMA max_page_count={pages}")

        from novikoff.server.actor import Look

        def in_the_thread(act):
            limited.clear()
            actor.look(Look(lambda _: act(), lambda _: limited.set()))
            limited.wait(10)

        in_the_thread(lambda: limit(1))  # no smaller than it is: not a page more
        refused = client.learn("big", {f"g{k}": k for k in range(2000)}, "ham", 503)
        assert (refused["error"]["code"], refused["error"]["id"]) == ("storage_failed", "big")
        assert client.ask("GET", "/m")["state"] == "storage_failed"
        assert client.predict("later", {"f": 1}, 503)["error"]["code"] == "storage_failed"
        assert client.saved() == before  # it can be looked at, and nothing of the group has happened
        assert client.http.get("/readyz").status_code == 503
        assert client.http.get("/readyz?failed=allow").status_code == 200
        in_the_thread(lambda: limit(10**9))
        end = time.monotonic() + 20
        while client.ask("GET", "/m")["state"] != "ready":
            assert time.monotonic() < end
            time.sleep(0.05)
        assert client.learn("big", {f"g{k}": k for k in range(2000)}, "ham")["repeated"] is False
        rounds(client, 20, 1)
        before = client.saved()
    assert before == played(tmp_path / "models/m" / DATABASE) == reopened(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a disk")
def test_a_small_disk_that_is_filled_or_becomes_read_only(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk]).returncode:
        pytest.skip("cannot mount")
    try:
        with opened(disk) as client:
            client.make()
            acknowledged = 0
            filler = disk / "filler"
            filler.write_bytes(bytes(4_500_000))
            for k in range(3000):
                reply = client.http.post("/v1/models/m/learn", json={"id": f"a{k}", "x": {"f": k}, "label": "ham"})
                if reply.status_code == 503:
                    break
                acknowledged += 1
            assert reply.json()["error"]["code"] == "storage_failed"
            filler.unlink()
            end = time.monotonic() + 20
            while client.ask("GET", "/m")["state"] != "ready":
                assert time.monotonic() < end
                time.sleep(0.05)
            assert client.ask("GET", "/m")["labelled"] == acknowledged
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with opened(disk) as client:
            told = client.ask("GET", "/m")
            assert told["state"] == "failed"
            assert "the disk must be writable" in told["reason"]
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        with opened(disk) as client:
            assert client.ask("GET", "/m")["labelled"] == acknowledged
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_damaged_database_is_not_played_and_the_others_are(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        client.make("other")
        rounds(client, 200)
    database = tmp_path / "models/m" / DATABASE
    good = database.read_bytes()
    for _, path in snapshots(tmp_path / "models/m"):
        path.unlink()
    with sqlite3.connect(database) as db:
        (x,) = db.execute("SELECT x FROM rounds JOIN arrivals USING (seq) WHERE n = 50").fetchone()
    db.close()
    at = good.index(x)
    flipped = bytearray(good)
    flipped[at + 5] ^= 1  # a bit of an example, of which SQLite knows nothing
    for bad, why in ((flipped, "wrong checksum"), (b"nonsense" * 1000, "not a database")):
        database.write_bytes(bad)
        with opened(tmp_path) as client:
            told = client.ask("GET", "/m")
            assert told["state"] == "failed"
            assert why in told["reason"]
            assert client.predict("a", {"f": 1}, 503)["error"]["code"] == "storage_failed"
            assert client.ask("GET", "/other")["state"] == "ready"
    with_lie = database
    with_lie.write_bytes(good)
    with sqlite3.connect(database) as db:
        db.execute("UPDATE arrivals SET said = -said WHERE n = 50")
    db.close()
    with opened(tmp_path) as client:
        assert "on replay" in client.ask("GET", "/m")["reason"]


def test_a_model_is_played_by_one_process(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        with opened(tmp_path, wait=False) as second:
            assert second.code("GET", "/v1/models/m") == (503, "not_ready")
            assert second.code("DELETE", "/v1/models/m?confirm=m") == (503, "not_ready")
            assert second.code("PUT", "/v1/models/n", {"learner": "perceptron"}) == (503, "not_ready")
            found = second.http.get("/readyz")
            assert (found.status_code, found.json()["reason"]) == (503, "another process serves the directory")
            assert second.http.get("/healthz").status_code == 200
        client.learn("a", {"f": 1}, "ham")


def test_a_waiting_service_takes_over_when_the_first_ends(tmp_path):
    with opened(tmp_path) as first:
        first.make()
        first.learn("a", {"f": 1}, "ham")
        successor = opened(tmp_path, wait=False)
        second = successor.__enter__()
        assert (tmp_path / "address").read_text().strip() == str(first.http.base_url).rstrip("/")
    try:
        end = time.monotonic() + 60
        while second.http.get("/readyz").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert second.learn("a", {"f": 1}, "ham")["repeated"]
        assert (tmp_path / "address").read_text().strip() == str(second.http.base_url).rstrip("/")
    finally:
        successor.__exit__(None, None, None)


def test_a_failed_model_makes_the_service_unready_unless_allowed(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        client.make("n")
        assert client.http.get("/readyz").json() == {"ready": True, "models": {"ready": 2}}
    (tmp_path / "models/m" / DATABASE).write_bytes(b"nonsense" * 1000)
    with opened(tmp_path) as client:
        for more, status, ready in (("", 503, False), ("?failed=allow", 200, True)):
            found = client.http.get(f"/readyz{more}")
            assert (found.status_code, found.json()) == (status, {"ready": ready, "models": {"failed": 1, "ready": 1}})


@pytest.mark.parametrize("kept", [True, False])
def test_a_model_that_lost_its_log_is_not_played_unless_that_is_accepted(tmp_path, kept):
    folder, copy = tmp_path / "models/m", tmp_path / "copy"
    with opened(tmp_path, snapshot_every=20) as client:
        client.make()
        rounds(client, 40)
        actor = client.service.models["m"]
        client.saved()
        actor._writer.join()
        labelled = client.ask("GET", "/m")["labelled"]
        shutil.copytree(folder, copy)  # as after kill -9
    assert not (folder / "playing").exists()  # stopped in order
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    log = folder / f"{DATABASE}-wal"
    if kept:
        log.write_bytes(log.read_bytes()[:-1000].replace(b"ham", b"spa"))  # SQLite stops at the first wrong page
        log.write_bytes(log.read_bytes()[:100])
    else:
        log.unlink()
    for _ in range(2):  # it stays refused
        with opened(tmp_path) as client:
            found = client.ask("GET", "/m")
            assert found["state"] == "failed"
            assert "acknowledged" in found["reason"]
            assert "with the option accept-loss and the name m" in found["reason"]
    with opened(tmp_path, accept_loss=["m"]) as client:
        found = client.ask("GET", "/m")
        assert found["state"] in ("ready", "failed")  # without any page of its own nothing is left to play
        lost = found
    if lost["state"] == "ready":
        assert lost["labelled"] < labelled
        with opened(tmp_path) as client:
            assert client.ask("GET", "/m")["state"] == "ready"


def frames(log):
    """Offset of each frame of a write-ahead log, and whether it ends a commit."""
    content = log.read_bytes()
    return [(at, content[at + 4 : at + 8] != bytes(4)) for at in range(32, len(content) - FRAME + 1, FRAME)]


def test_a_log_with_damage_before_its_end_is_not_played_unless_that_is_accepted(tmp_path):
    folder, copy = tmp_path / "models/m", tmp_path / "copy"
    with opened(tmp_path) as client:
        client.make()
        rounds(client, 10)
        client.saved()
        labelled = client.ask("GET", "/m")["labelled"]
        shutil.copytree(folder, copy)  # as after kill -9
    log, found = folder / f"{DATABASE}-wal", frames(copy / f"{DATABASE}-wal")
    ends = [at for at, ends in found if ends]
    assert len(ends) > 10
    assert lost_commits(copy / log.name) == 0

    def damaged(change, whole, lost):
        """State, reason and labels after the log was changed."""
        shutil.rmtree(folder)
        shutil.copytree(copy, folder)
        content = bytearray(log.read_bytes())
        log.write_bytes(change(content) or content)
        assert (lost_commits(log) > 1) == lost
        if not whole:
            return {}
        with opened(tmp_path) as client:
            return client.ask("GET", "/m")

    def flip(at):
        def change(content):
            content[at] ^= 1

        return change

    def hole(first, last):
        def change(content):
            content[first:last] = bytes(last - first)

        return change

    middle, last = found[len(found) // 2][0], ends[-2] + FRAME
    told = damaged(flip(middle + 1000), True, True)
    with opened(tmp_path) as client:  # it stays refused
        assert client.ask("GET", "/m") == told
    assert told["state"] == "failed"
    assert "model.sqlite-wal is damaged before its last" in told["reason"]
    assert "with the option accept-loss and the name m" in told["reason"]
    for at in (0, 9, 20, 30, middle + 1, middle + 9, middle + 20, middle + 4000, ends[-2] + 100):
        damaged(flip(at), False, True)
    damaged(hole(middle, middle + 9000), False, True)
    for torn in (hole(last + 100, last + 300), lambda content: content[: last + 3000], lambda content: content[:last]):
        told = damaged(torn, True, False)
        assert (told["state"], told["labelled"] >= labelled - 1) == ("ready", True)
    damaged(flip(middle + 1000), False, True)
    with opened(tmp_path, accept_loss=["m"]) as client:
        found = client.ask("GET", "/m")
        assert found["state"] in ("ready", "failed")
    if found["state"] == "ready":
        assert found["labelled"] < labelled
        with opened(tmp_path) as client:
            assert client.ask("GET", "/m")["state"] == "ready"


def test_a_failed_takeover_is_tried_again_and_a_service_that_stops_meanwhile_leaves_no_model(tmp_path, monkeypatch):
    with opened(tmp_path) as first:
        first.make()
        waiting = Service(tmp_path)
        waiting.start()
        begin, calls = waiting._begin, []

        def fail_once():
            calls.append(waiting.readiness()["ready"])
            begin()
            if len(calls) == 1:
                raise OSError("no file can be opened")

        monkeypatch.setattr(waiting, "_begin", fail_once)
        stopped = Service(tmp_path)
        stopped.start()
        taking, going = threading.Event(), threading.Event()
        monkeypatch.setattr(stopped._directory, "acquire", lambda: (taking.set(), going.wait(20))[1] and False)
        assert taking.wait(20)
        stopping = threading.Thread(target=stopped.stop)
        stopping.start()
        going.set()
        stopping.join()
        assert not stopped.models
    try:
        end = time.monotonic() + 60
        while not waiting.readiness()["ready"]:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert calls == [False, False]
        assert list(waiting.models) == ["m"]
        assert waiting.models["m"].state == "ready"
    finally:
        waiting.stop()


def test_views_and_requests_are_refused_when_the_model_ends_by_a_bug(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make()
        client.learn("a", {"f": 1}, "ham")
        actor = client.service.models["m"]
        monkeypatch.setattr(actor, "_play", lambda jobs, count: 1 / 0)
        assert "division by zero" in back_up([actor], tmp_path / "backup").left_out["m"]  # it does not wait forever
        assert client.ask("GET", "/m")["state"] == "failed"


def test_a_failed_start_does_not_take_the_log_for_lost(tmp_path, monkeypatch):
    folder, copy = tmp_path / "models/m", tmp_path / "copy"
    with opened(tmp_path) as client:
        client.make()
        rounds(client, 20)
        shutil.copytree(folder, copy)
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    recover = handlers.recover
    monkeypatch.setattr(handlers, "recover", None)
    for _ in range(2):
        with opened(tmp_path) as client:
            assert "not callable" in client.ask("GET", "/m")["reason"]
    monkeypatch.setattr(handlers, "recover", recover)
    with opened(tmp_path) as client:
        assert client.ask("GET", "/m")["state"] == "ready"


def test_a_clock_that_jumps_ahead_while_stopped_expires_nothing_at_once(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make(expire_seconds=1000)
        client.predict("a", {"f": 1})
    now, week = time.time(), 7 * 86400.0
    monkeypatch.setattr(handlers.time, "time", lambda: now + week)
    for _ in range(2):
        with opened(tmp_path) as client:
            client.predict("b", {"f": 1})
            assert client.ask("GET", "/m/rounds/a")["state"] == "waits"
            assert client.ask("GET", "/m/rounds/b")["at"] >= now + week
    with opened(tmp_path) as client:
        table = client.service.models["m"].table
        table._anchor += 760.0  # a quarter of the limit passed while the service was stopped
        end = time.monotonic() + 30
        while client.ask("GET", "/m/rounds/a")["state"] == "waits":
            assert time.monotonic() < end
        assert client.ask("GET", "/m/rounds/b")["state"] == "waits"
        table._anchor += 300.0
        while client.ask("GET", "/m/rounds/b")["state"] == "waits":
            assert time.monotonic() < end


def test_a_clock_that_jumps_back_changes_nothing(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        client.make(expire_seconds=1000)
        client.predict("a", {"f": 1})
        first = client.ask("GET", "/m/rounds/a")["at"]
    now = time.time()
    monkeypatch.setattr(handlers.time, "time", lambda: now - 1e6)
    with opened(tmp_path) as client:
        client.predict("b", {"f": 1})
        assert client.ask("GET", "/m/rounds/b")["at"] >= first
        assert client.label("a", "ham")["repeated"] is False


def test_a_model_that_is_removed_is_gone_and_its_name_is_free(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        rounds(client, 30)
        client.ask("GET", "/m/certificate")
        assert client.code("DELETE", "/v1/models/m?confirm=n") == (400, "unconfirmed")
        assert client.code("DELETE", "/v1/models/n?confirm=n") == (404, "unknown_model")
        assert client.ask("DELETE", "/m?confirm=m") == {"name": "m", "state": "deleted"}
        assert client.code("DELETE", "/v1/models/m?confirm=m") == (404, "unknown_model")
        assert list((tmp_path / "models").iterdir()) == []
        client.make(learner="perceptron")
        assert client.ask("GET", "/m/certificate")["labelled"] == 0
        client.learn("a", {"f": 1}, "ham")
    os.rename(tmp_path / "models/m", tmp_path / "models/.gone-m")  # killed while it was removed
    with opened(tmp_path) as client:
        assert client.ask("GET", "")["models"] == []
    assert list((tmp_path / "models").iterdir()) == []


def traffic(server, name, coins, acknowledged, sent, until):
    """Single requests and bulk ones until the server is gone; what was acknowledged is written down."""
    waiting = []
    with server.client() as client:
        try:
            for k in range(10**6):
                if until is not None and k >= until:
                    return
                lines = []
                for j in range(coins.choice((1, 1, 1, 40))):
                    x = {f"f{coins.randrange(50)}": round(coins.gauss(0, 1), 3) for _ in range(4)}
                    lines.append({"op": "predict", "id": f"{name}-{k}-{j}", "x": x})
                    sent[f"{name}-{k}-{j}"] = x
                    waiting.append({"id": f"{name}-{k}-{j}", "label": coins.choice(("ham", "spam"))})
                for _ in range(coins.randrange(2 * len(lines))):
                    lines.append({"op": "label", **waiting.pop(coins.randrange(len(waiting)))}) if waiting else None
                if len(lines) > 3:
                    text = client.post("/m/bulk", content="\n".join(map(json.dumps, lines))).text
                    acknowledged += zip(lines, map(json.loads, text.splitlines()), strict=False)
                else:
                    for line in lines:
                        body = {key: value for key, value in line.items() if key != "op"}
                        acknowledged.append((line, client.post(f"/m/{line['op']}", json=body).json()))
        except (httpx.HTTPError, json.JSONDecodeError):
            return  # it was killed: what was being read was not acknowledged


def half_written(folder):
    """Is a snapshot being written, or was it when the process died?"""
    return [name for name in os.listdir(folder) if name.endswith(".part")]


@pytest.mark.parametrize(
    ("sync", "kills", "keep"),
    [
        ("full", 2, None),
        ("normal", 1, 0),
        *(pytest.param(s, 100, keep, marks=pytest.mark.slow) for s in ("full", "normal") for keep in (None, 50)),
    ],
)
def test_kills_lose_nothing_that_was_acknowledged(tmp_path, request, monkeypatch, sync, kills, keep):
    monkeypatch.setenv("PYTHONPATH", "")  # the context sets it
    processes = context()
    coins = random.Random(f"{sync}{kills}")
    acknowledged, sent, inside, model = [], {}, 0, tmp_path / "models/m"
    server = Server(processes, tmp_path, sync)
    with server.client() as client:
        asked = {"learner": "perceptron:bias=1", "negative": "ham", "positive": "spam", "bits": 10}
        asked["keep_examples"] = keep
        assert client.put("/m", json=asked).status_code == 201
    request.addfinalizer(lambda: server.kill())
    for kill in range(kills):
        loaded = kill % 2 == 0
        until = None if loaded else coins.randrange(1, 5)
        names = [f"{kill}-{number}" for number in range(4 if loaded else 1)]
        threads = [
            threading.Thread(target=traffic, args=(server, name, random.Random(name), acknowledged, sent, until))
            for name in names
        ]
        for thread in threads:
            thread.start()
        enough, end = len(acknowledged) + (40 if loaded else 1), time.monotonic() + 60
        while len(acknowledged) < enough and time.monotonic() < end:
            time.sleep(0.01)
        if kill % 4 == 0:
            while not half_written(model) and time.monotonic() < end:
                pass  # a snapshot is written after every 200 labels
        else:
            time.sleep(coins.uniform(0, 0.3))
        server.kill()
        inside += bool(half_written(model))
        for thread in threads:
            thread.join()
        server = Server(processes, tmp_path, sync)
        assert not half_written(model)  # what was left of it does not stay
    assert len(acknowledged) > 20 * kills
    assert inside >= kills // 10
    with server.client() as client:
        text = "\n".join(json.dumps(line) for line, _ in acknowledged)
        again = [json.loads(line) for line in client.post("/m/bulk", content=text).text.splitlines()]
        assert again == [{**reply, "repeated": True} for _, reply in acknowledged]
        (tmp_path / "recovered.nk").write_bytes(client.get("/m/model.nk?rows=true").content)
    server.process.terminate()
    server.process.join()
    assert parts(tmp_path / "recovered.nk") == played(model / DATABASE, sent=sent)
    print(f"{kills} kills, {inside} of them while a snapshot was written, sync {sync}, keep_examples {keep}: "
          f"{len(acknowledged):,} acknowledged, 0 lost")  # fmt: skip
