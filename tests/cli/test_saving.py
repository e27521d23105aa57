"""Saves are copied by the game and written by a thread: one at a time, errors told, the last one whole."""

import threading
import zipfile

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.saving import Keeper, Saving
from novikoff.core.errors import ModelFileError
from novikoff.game import persistence


@pytest.fixture
def ledger():
    return nk.play(nk.Perceptron(), (np.eye(4), [1, -1, 1, 1]))


def play_on(ledger):
    nk.play(ledger.learner, (np.eye(4), [1, -1, 1, 1]), ledger=ledger)


def test_one_save_is_written_at_a_time_and_the_game_does_not_wait(ledger, tmp_path, monkeypatch):
    go_on, written, write = threading.Event(), [], persistence.write

    def slow(what, path, force):
        assert go_on.wait(60)
        write(what, path, force)
        written.append(nk.load(path).rounds)

    monkeypatch.setattr(persistence, "write", slow)
    with Keeper(ledger, Saving(str(tmp_path / "m.nk"), 1)) as keeper:
        for _ in range(3):  # the first is being written while the others come due
            play_on(ledger)
            keeper.rest(ledger)
        assert written == []
        go_on.set()
        keeper._thread.join()
        play_on(ledger)
        keeper.rest(ledger)
    assert written == [8, 20]
    keeper.finish()
    assert nk.load(tmp_path / "m.nk").rounds == 20


def test_the_last_save_waits_for_the_one_before(ledger, tmp_path, monkeypatch):
    go_on, begun, write = threading.Event(), threading.Event(), persistence.write

    def slow(what, path, force):
        if threading.current_thread().name == "saving":
            begun.set()
            assert go_on.wait(60)
        write(what, path, force)

    monkeypatch.setattr(persistence, "write", slow)
    keeper = Keeper(ledger, Saving(str(tmp_path / "m.nk"), 1))
    play_on(ledger)
    keeper.rest(ledger)
    assert begun.wait(60)
    play_on(ledger)
    threading.Timer(0.05, go_on.set).start()
    keeper.finish()
    assert nk.load(tmp_path / "m.nk").rounds == 12


def test_an_error_of_the_thread_ends_the_game(ledger, tmp_path, monkeypatch):
    def full(what, path, force):
        raise ModelFileError("a model file must be writable: no space left.")

    monkeypatch.setattr(persistence, "write", full)
    for at_the_end in (False, True):
        keeper = Keeper(ledger, Saving(str(tmp_path / "m.nk"), 1))
        play_on(ledger)
        keeper.rest(ledger)
        keeper._thread.join()
        with pytest.raises(ModelFileError, match="no space left"):
            keeper.finish() if at_the_end else keeper.rest(ledger)


def test_a_game_that_fails_leaves_nothing_half_written(ledger, tmp_path):
    def fail():
        with Keeper(ledger, Saving(str(tmp_path / "m.nk"), 1)) as keeper:
            play_on(ledger)
            keeper.rest(ledger)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert nk.load(tmp_path / "m.nk").rounds == 8
    assert list(tmp_path.iterdir()) == [tmp_path / "m.nk"]


def test_saved_files_are_not_compressed(ledger, tmp_path):
    nk.save(ledger, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
