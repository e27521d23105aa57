"""Model files from outside: opened in a child process with limits, and damaged in every way that comes to mind."""

import io
import json
import random
import time
import warnings
import zipfile

import numba
import numpy as np
import pytest

import novikoff as nk
from growing import GAMES, ROUNDS
from novikoff.game import persistence
from novikoff.game.game import Game
from novikoff.server import inspection
from novikoff.server.inspection import Found, Request
from novikoff.server.recovery import Before
from novikoff.server.wire import Model, RefusedError
from serving import IN_CHILD, opened


def file_of(learner="perceptron"):
    """A model file of a short game on hashed features."""
    rows = [(np.array([1.0, 0.5 * (t % 3)]), 1 if t % 3 else -1) for t in range(20)]
    file = io.BytesIO()
    persistence.pack(persistence.snapshot(nk.play(learner, rows)), file)
    return file.getvalue()


def asked(tmp_path, content, **more):
    """The answer of a child, or the refusal."""
    path = tmp_path / "uploaded"
    path.write_bytes(content)
    (tmp_path / "new").mkdir(exist_ok=True)
    with path.open("rb") as file:
        return inspection.accept(file, tmp_path / "new", Model("of the file", **more), None)


def test_a_file_is_opened_in_a_child_and_served(tmp_path):
    with opened(tmp_path, child=True) as client:
        reply = client.http.put("/v1/models/m/model.nk", content=file_of())
        assert (reply.status_code, reply.json()["labelled"]) == (201, 20)
        assert client.predict("a", [1.0, 0.5])["prediction"] in (-1, 1)
        reply = client.http.put("/v1/models/n/model.nk", content=file_of()[:-30])
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "bad_model")
        assert [path.name for path in (tmp_path / "models").iterdir()] == ["m"]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise IndexError", "exit code 1"),
        ("import resource; resource.setrlimit(resource.RLIMIT_AS, ({memory}, -1)); bytes(10**10)", "exit code 1"),
        ("import time; time.sleep(60)", "more than 0.5 seconds"),
    ],
)
def test_a_file_that_ends_its_process_is_refused(tmp_path, monkeypatch, program, why):
    monkeypatch.setattr(inspection, "in_child", IN_CHILD)
    monkeypatch.setattr(inspection, "PROGRAM", program.replace("{memory}", str(10**9)))
    monkeypatch.setattr(inspection, "MOST_SECONDS", 0.5 if "sleep" in program else 60)
    with pytest.raises(RefusedError, match=why) as caught:
        asked(tmp_path, file_of())
    assert caught.value.code == "bad_model"


def test_a_model_that_ends_the_process_is_left_out_at_the_next_start(tmp_path, monkeypatch):
    with opened(tmp_path) as client:
        assert client.http.put("/v1/models/m/model.nk", content=file_of()).status_code == 201
        client.make("n")
        marked, end = tmp_path / "models/m/opening", time.monotonic() + 60
        while marked.exists():  # until its certificates were evaluated once
            assert time.monotonic() < end
            time.sleep(0.01)
    with opened(tmp_path) as client:
        assert client.ask("GET", "/m")["state"] == "ready"
    assert not marked.exists()
    marked.touch()  # the process was ended while it opened the model
    monkeypatch.setattr(inspection, "PROGRAM", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with opened(tmp_path, child=True) as client:
        found = client.ask("GET", "/m")
        assert (found["state"], "SIGSEGV" in found["reason"]) == ("failed", True)
        assert client.ask("GET", "/n")["state"] == "ready"
    monkeypatch.undo()
    with opened(tmp_path) as client:
        assert client.ask("GET", "/m")["state"] == "ready"


def with_meta(text, arrays=()):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", text)
        for name, content in arrays:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no archive", "bad_model"),
        (with_meta('{"novikoff": "0"}'), "bad_model"),
        (with_meta('{"novikoff": [' + "0," * inspection.MOST_VALUES + "0]}"), "too_large"),
        (with_meta("[" * (inspection.MOST_VALUES + 1)), "too_large"),
        (with_meta(" " * (inspection.MOST_DESCRIBED + 1)), "too_large"),
        (with_meta('{"novikoff": "0", "format": 3, "learner": ' + "[" * 5000 + "]" * 5000 + "}"), "bad_model"),
    ],
)
def test_files_beyond_the_limits_are_refused(tmp_path, content, code):
    with pytest.raises(RefusedError) as caught:
        asked(tmp_path, content)
    assert caught.value.code == code


def test_an_array_that_is_named_many_times_is_read_once(tmp_path):
    array = io.BytesIO()
    np.save(array, np.zeros(1_000_000))
    named = ",".join(['{"__array__": "a"}'] * 60)
    content = with_meta(f'{{"novikoff": "0", "format": 3, "learner": "perceptron", "state": [{named}]}}',
                        [("a.npy", array.getvalue())])  # fmt: skip
    with pytest.raises(RefusedError, match="named once|unpack"):
        asked(tmp_path, content)


def test_labels_without_utf8_are_refused(tmp_path):
    file = io.BytesIO(file_of())
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(parts.pop("meta.json"))
    meta["ledger"]["labels"] = ["\ud800", "b"]
    with pytest.raises(RefusedError, match="surrogate|label"):
        asked(tmp_path, with_meta(json.dumps(meta), parts.items()))


def changed(content, coins):
    """The same file with one to three arrays or values changed, or with other bytes."""
    if coins.random() < 0.05:
        other = bytearray(content)
        for _ in range(coins.randrange(1, 4)):
            other[coins.randrange(len(other))] ^= 1 << coins.randrange(8)
        return bytes(other)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(parts.pop("meta.json"))
    for _ in range(coins.choice((1, 1, 1, 2, 3))):
        if parts and coins.random() < 0.75:
            name = coins.choice(sorted(parts))
            array = np.load(io.BytesIO(parts[name])) if name.endswith(".npy") else None
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(_other(array, coins), order="C"), allow_pickle=False)
            parts[name] = file.getvalue()
        else:
            _change(meta, coins)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("meta.json", json.dumps(meta))
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


@np.errstate(all="ignore")
def _other(array, coins):
    """An array with other entries, shape or type."""
    kind = coins.random()
    if kind < 0.7 and array.size:
        found = array.copy()
        flat = found.reshape(-1)
        whole = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        values = (-1, 0, 1, 2, 7, 2**20, 2**31, 2**40) if whole else (-1.0, 0.0, 0.5, 1e300, np.nan, np.inf, 2.0**40)
        for _ in range(coins.choice((1, 1, 2, flat.size))):
            place = coins.randrange(flat.size)
            value = flat[place].item() + coins.choice((-1, 1)) if coins.random() < 0.4 else coins.choice(values)
            flat[place] = min(max(value, whole.min), whole.max) if whole else value
        return found
    if kind < 0.8:
        return array.reshape(-1)[: coins.randrange(array.size + 1)]
    if kind < 0.9:
        return np.concatenate([array, array]) if array.ndim else array.reshape(1)
    return array.astype(coins.choice((np.float64, np.float32, np.int64, np.uint32, np.int8, np.bool_)))


def _change(meta, coins):
    """Change one value somewhere in the state."""
    place, key = meta, coins.choice(("state", "ledger"))
    while isinstance(place[key], (dict, list)) and place[key] and "__array__" not in place[key]:
        place = place[key]
        key = coins.choice(sorted(place)) if isinstance(place, dict) else coins.randrange(len(place))
    known = place[key]
    near = [known + 1, known - 1, -known] if isinstance(known, (int, float)) else []
    place[key] = coins.choice([*near, None, -1, 0, 3, 2**40, 0.5, "text", [], {}, [1, 2], True])


def fuzzed(name, count, folder):
    """Open changed files of a learner as the child does; return how many are accepted."""
    coins, growing = random.Random(name), GAMES[name]
    game = Game(growing.make())
    for x, y in growing.rows[: 2 * ROUNDS // 3]:
        game.learn_one(x, y)
    file = io.BytesIO()
    persistence.pack(persistence.snapshot(game.ledger), file)
    accepted = 0
    for _ in range(count):
        content = changed(file.getvalue(), coins)
        (folder / "base.nk").unlink(missing_ok=True)
        try:
            inspection.check_size(io.BytesIO(content))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = inspection.done(Request(str(folder), Model("")), io.BytesIO(content))
        except RefusedError:
            continue
        if found.model is not None:
            accepted += 1
            assert isinstance(found.before, Before)
            persistence.load_game(folder / "base.nk")
        assert found != Found()
    return accepted


FEW = 100 if numba.config.BOUNDSCHECK else 3
"""Changes per learner: more, and of every learner, where an index beyond an array is an error."""


@pytest.mark.parametrize("name", GAMES if numba.config.BOUNDSCHECK else list(GAMES)[:: len(GAMES) // 4])
def test_changed_files_are_refused_or_played(tmp_path, name):
    fuzzed(name, FEW, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_many_changed_files_are_refused_or_played(tmp_path, name):
    print(f"{name}: {fuzzed(name, 200, tmp_path)} of 200 changed files accepted")
