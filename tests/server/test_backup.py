"""Backups: whole, of one moment, verified when they are restored."""

import json
import shutil
import sqlite3
import threading

import pytest

from novikoff.cli.main import main
from novikoff.core.errors import InputError
from novikoff.server import backup
from novikoff.server.backup import LISTED, File, Saved, back_up_directory, back_up_service, read, restore
from novikoff.server.recovery import DATABASE
from serving import TOKEN, opened, rounds


def test_a_backup_of_a_running_service_is_restored_to_the_bit(tmp_path):
    service, other = tmp_path / "service", tmp_path / "other"
    service.mkdir()
    with opened(service, snapshot_every=20) as client:
        client.make()
        client.make("many", learner="perceptron", labels="multiclass", negative=None, positive=None)
        rounds(client, 40)
        client.predict("waits", {"f1": 1})
        client.ask("POST", "/many/learn", {"id": "a", "x": {"f": 1}, "label": "new"})
        before = client.saved()
        reply = client.http.post("/v1/backups/monday")
        assert (reply.status_code, [one["name"] for one in reply.json()["models"]]) == (201, ["m", "many"])
        assert client.code("POST", "/v1/backups/monday") == (400, "bad_request")  # exists
        assert client.code("POST", "/v1/backups/..") == (404, "nothing_here")
        rounds(client, 20, seed=1)  # not in the backup
    made = service / "backups" / "monday"
    assert restore(made, other).models[0].waiting >= 1
    with opened(other) as client:
        assert client.saved() == before
        assert client.ask("GET", "/m/rounds/waits")["state"] == "waits"
        assert client.label("waits", "ham")["repeated"] is False
        assert client.ask("GET", "/many/rounds/a")["label"] == "new"
    with pytest.raises(InputError, match="has m already"):
        restore(made, other)
    read(made)  # restoring has changed nothing in it


def test_a_backup_is_of_one_moment_while_requests_arrive(tmp_path):
    with opened(tmp_path, snapshot_every=20) as client:
        client.make()
        sender = threading.Thread(target=rounds, args=(client, 60))
        sender.start()
        for k in range(3):
            client.http.post(f"/v1/backups/b{k}").raise_for_status()
        sender.join()
    for k in range(3):
        found = restore(tmp_path / f"backups/b{k}", tmp_path / f"restored{k}").models[0]
        assert found.predicted - found.labelled == found.waiting


def test_the_command_backs_up_running_and_stopped_services(tmp_path, capsys):
    service = tmp_path / "service"
    service.mkdir()
    with opened(service) as client:
        client.make()
        client.learn("a", {"f": 1}, "ham")
        with pytest.raises(InputError, match="a service plays"):
            back_up_directory(service, tmp_path / "cold")
        back_up_service(service, tmp_path / "hot")
        assert not list((service / "backups").iterdir())
    assert main(["backup", str(service), str(tmp_path / "cold")]) == 0
    assert "1 model with 1 label" in capsys.readouterr().out
    assert main(["backup", str(service), str(tmp_path / "cold")]) == 2  # exists
    for name in ("hot", "cold"):
        assert main(["restore", str(tmp_path / name), str(tmp_path / f"from {name}")]) == 0
        with opened(tmp_path / f"from {name}") as client:
            assert client.learn("a", {"f": 1}, "ham")["repeated"]


def test_models_that_cannot_be_played_are_left_out_and_reported(tmp_path):
    with opened(tmp_path) as client:
        client.make()
        client.make("n")
    (tmp_path / "models/n" / DATABASE).write_bytes(b"nonsense" * 1000)
    found = back_up_directory(tmp_path, tmp_path / "cold")
    assert ([one.name for one in found.models], list(found.left_out)) == (["m"], ["n"])
    with opened(tmp_path) as client:
        made = client.http.post("/v1/backups/hot").json()
        assert list(made["left_out"]) == ["n"]
    assert [one.name for one in restore(tmp_path / "backups/hot", tmp_path / "other").models] == ["m"]


def test_a_backup_on_a_full_disk_fails_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with opened(tmp_path) as client:
        client.make()
        monkeypatch.setattr(backup.shutil, "copyfile", full)
        monkeypatch.setattr(backup.Store, "copy_to", full)
        assert client.code("POST", "/v1/backups/b") == (503, "storage_failed")
        assert not list((tmp_path / "backups").iterdir())
        client.learn("a", {"f": 1}, "ham")


def test_damaged_backups_are_refused(tmp_path):
    service, made = tmp_path / "service", tmp_path / "made"
    service.mkdir()
    with opened(service) as client:
        client.make()
        rounds(client, 20)
    back_up_directory(service, made)
    good = made / "models/m" / DATABASE

    def refused(change, why):
        bad = tmp_path / "bad"
        shutil.copytree(made, bad)
        change(bad)
        with pytest.raises(InputError, match=why):
            restore(bad, tmp_path / "other")
        assert not list((tmp_path / "other").glob("models/*"))
        shutil.rmtree(bad)

    def flip(folder):
        content = bytearray(good.read_bytes())
        content[len(content) // 2] ^= 1
        (folder / "models/m" / DATABASE).write_bytes(content)

    def edit(folder):
        with sqlite3.connect(folder / "models/m" / DATABASE) as db:
            db.execute("UPDATE arrivals SET said = -said WHERE n = 3")
        db.close()
        for path in (folder / "models/m").glob("snapshot-*"):
            path.unlink()
        path = folder / "models/m" / DATABASE
        relist(folder, [File(path.name, path.stat().st_size, backup._digest(path))])

    def relist(folder, files=None, **more):
        found = read(made)
        one = found.models[0]
        known = {"name": one.name, "predicted": one.predicted, "labelled": one.labelled, "waiting": one.waiting}
        found.models = [Saved(**{**known, **more}, files=one.files if files is None else files)]
        (folder / LISTED).write_bytes(backup.msgspec.json.encode(found))

    refused(flip, "is damaged or missing")
    refused(lambda folder: (folder / "models/m" / DATABASE).unlink(), "is damaged or missing")
    refused(lambda folder: (folder / LISTED).unlink(), "not a finished backup")
    refused(lambda folder: (folder / LISTED).write_text("{"), "is damaged")
    refused(lambda folder: relist(folder, name="../../etc"), "is not a model")
    refused(lambda folder: relist(folder, [File("../m", 1, "")]), "is not a model")
    refused(lambda folder: relist(folder, labelled=0), "other counts")
    refused(edit, "on replay")
    future = json.loads((made / LISTED).read_text()) | {"format": 99}
    refused(lambda folder: (folder / LISTED).write_text(json.dumps(future)), "install a newer one")


def test_only_tokens_of_administrators_make_backups(tmp_path):
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text(f"[tokens.a]\ntoken = '{TOKEN}'\nroles = ['read', 'predict', 'label']\n")
    with opened(tmp_path) as client:
        assert client.code("POST", "/v1/backups/b") == (403, "forbidden")
