"""The model file: plain data, whole or not there at all."""

import io
import json
import os
import warnings
import zipfile

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import ModelFileError
from novikoff.game import persistence
from novikoff.game.ledger_state import packed, unpacked
from novikoff.game.persistence import FORMAT


@pytest.fixture
def played():
    x = np.arange(100) % 11
    return nk.play(nk.Halving(nk.classes.thresholds(10)), (x, np.where(x >= 4, 1, -1)), record=True)


def test_a_game_resumes_from_its_file(tmp_path, played):
    nk.save(played, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    assert again.certify() == played.certify()
    assert again.recorded().tolist() == played.recorded().tolist()
    more = (np.array([3, 4, 5]), np.array([-1, 1, 1]))
    one = nk.play(again.learner, more, ledger=again)
    two = nk.play(played.learner, more, ledger=played)
    assert (one.rounds, one.mistakes, one.curve) == (two.rounds, two.mistakes, two.curve)
    assert one.certify() == two.certify()


def test_the_file_is_json_and_arrays(tmp_path, played):
    nk.save(played, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        assert all(name == "meta.json" or name.endswith(".npy") for name in archive.namelist())
        meta = json.loads(archive.read("meta.json"))
    assert meta["learner"] == "halving"
    assert meta["format"] == FORMAT
    assert list(tmp_path.iterdir()) == [tmp_path / "m.nk"]  # nothing is left beside it


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seconds", float("inf")),
        ("rounds", -1),
        ("rounds", 100.5),
        ("mistakes", True),
        ("paid", [float("nan"), 0.0]),
        ("feature_names", [1]),
    ],
)
def test_impossible_ledger_is_refused(tmp_path, played, field, value):
    nk.save(played, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(entries["meta.json"])
    assert field in meta["ledger"]
    meta["ledger"][field] = value
    with zipfile.ZipFile(tmp_path / "m.nk", "w") as archive:
        for name, content in {**entries, "meta.json": json.dumps(meta)}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match=f"{field} of a ledger must be"):
        nk.load(tmp_path / "m.nk")


def test_a_pickle_in_a_file_is_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "trapped"),))

    with zipfile.ZipFile(tmp_path / "m.nk", "w") as archive:
        state = {"hypotheses": {"class": "table", "matrix": {"__array__": "a"}}, "prior": None, "conservative": False}
        archive.writestr(
            "meta.json", json.dumps({"format": FORMAT, "learner": "halving", "state": state, "ledger": {}})
        )
        with archive.open("a.npy", "w") as entry:
            np.lib.format.write_array(entry, np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(ModelFileError):
        nk.load(tmp_path / "m.nk")
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "meta", ["{}", "[]", '{"format": 999}', f'{{"format": {FORMAT}, "learner": "os", "state": {{}}}}', "nonsense"]
)
def test_a_file_of_another_kind_is_refused(tmp_path, meta):
    with zipfile.ZipFile(tmp_path / "m.nk", "w") as archive:
        archive.writestr("meta.json", meta)
    with pytest.raises(ModelFileError):
        nk.load(tmp_path / "m.nk")


@pytest.mark.parametrize(("found", "told"), [(1, "earlier version.*Learn from the data again"), (9, "later version")])
def test_file_of_another_format_is_refused_with_a_remedy(tmp_path, played, found, told):
    nk.save(played, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["meta.json"] = json.dumps({**json.loads(parts["meta.json"]), "format": found}).encode()
    with zipfile.ZipFile(tmp_path / "m.nk", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match=f"m.nk is of format {found}, written by a.* {told}"):
        nk.load(tmp_path / "m.nk")
    nk.save(played, tmp_path / "m.nk")  # a model file of another format may be replaced
    assert nk.load(tmp_path / "m.nk").certify() == played.certify()


def test_pickle_of_an_earlier_format_is_refused_with_a_remedy(played):
    state = packed(played)
    del state["format"]
    with pytest.raises(ModelFileError, match="the pickle is of format 1, written by an earlier version"):
        unpacked(state)


def test_a_missing_or_broken_file_is_refused(tmp_path, played):
    with pytest.raises(ModelFileError, match="file not found"):
        nk.load(tmp_path / "nothing.nk")
    nk.save(played, tmp_path / "m.nk")
    whole = (tmp_path / "m.nk").read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "m.nk").write_bytes(whole[:cut])
        with pytest.raises(ModelFileError):
            nk.load(tmp_path / "m.nk")


def test_an_unwritable_place_is_an_error_and_the_old_file_stays(tmp_path, played):
    with pytest.raises(ModelFileError, match="must be writable"):
        nk.save(played, tmp_path / "no-such-folder" / "m.nk")


def test_a_failed_save_leaves_the_old_file(tmp_path, played, monkeypatch):
    nk.save(played, tmp_path / "m.nk")
    old = (tmp_path / "m.nk").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match="No space left"):
        nk.save(played, tmp_path / "m.nk")
    assert (tmp_path / "m.nk").read_bytes() == old
    assert list(tmp_path.iterdir()) == [tmp_path / "m.nk"]


def write(path, state, ledger="{}", learner="halving", **arrays):
    """A model file by hand; states and arrays as text and bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "meta.json", f'{{"format": {FORMAT}, "learner": "{learner}", "state": {state}, "ledger": {ledger}}}'
        )
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)


@pytest.mark.parametrize(
    "learner",
    [
        nk.Halving(nk.classes.thresholds(10)),
        nk.WeightedMajority(nk.classes.thresholds(10), conservative=True),
        nk.ThresholdHalving(10),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_file_with_any_byte_changed_is_the_same_game_or_refused(tmp_path, learner):
    x = np.arange(60) % 11
    played = nk.play(learner, (x, np.where(x >= 4, 1, -1)))
    nk.save(played, tmp_path / "m.nk")
    whole = (tmp_path / "m.nk").read_bytes()
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(800):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)).tolist():
            data[place] = int(rng.integers(0, 256))
        (tmp_path / "m.nk").write_bytes(data)
        try:
            assert nk.load(tmp_path / "m.nk").certify() == played.certify()
        except ModelFileError:
            refused += 1
    assert refused > 500


def test_json_nested_too_deep_is_refused(tmp_path):
    write(tmp_path / "m.nk", "[" * 100_000 + "]" * 100_000)
    with pytest.raises(ModelFileError, match="must be whole"):
        nk.load(tmp_path / "m.nk")


@pytest.mark.parametrize("shape", ["(10000000000000,)", "(10000000000,)", "(4,)", "(2,)"])
def test_array_with_false_header_is_refused_before_allocation(tmp_path, shape):
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24)
    state = '{"hypotheses": {"class": "table", "matrix": {"__array__": "a"}}, "prior": null, "conservative": false}'
    write(tmp_path / "m.nk", state, a=data)
    with pytest.raises(ModelFileError, match="the size that its header states"):
        nk.load(tmp_path / "m.nk")


def test_an_array_that_is_named_more_than_once_is_refused(tmp_path):
    file = io.BytesIO()
    np.save(file, np.zeros((2, 2), np.int64))
    twice = '{"hypotheses": {"matrix": {"__array__": "a"}, "again": [{"__array__": "a"}, {"__array__": "a"}]}}'
    write(tmp_path / "m.nk", twice, a=file.getvalue())
    with pytest.raises(ModelFileError, match="must be named once"):
        nk.load(tmp_path / "m.nk")


@pytest.mark.parametrize("where", ["meta.json", "a.npy"])
def test_a_small_file_that_unpacks_to_much_more_is_refused(tmp_path, played, where):
    nk.save(played, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk", "a", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # meta.json is in it twice
        archive.writestr(where, b" " * (persistence.SPARE + 2**20))
    with pytest.raises(ModelFileError, match="must unpack to at most 1[0-9],"):
        nk.load(tmp_path / "m.nk")


def test_learners_nested_too_deeply_are_refused(tmp_path):
    depth = persistence.DEEPEST + 1
    write(tmp_path / "m.nk", '{"learner": ' * depth + "0" + "}" * depth)
    with pytest.raises(ModelFileError, match="at most 200 deep"):
        nk.load(tmp_path / "m.nk")


def test_a_file_that_does_not_fit_into_memory_is_refused(tmp_path, played, monkeypatch):
    nk.save(played, tmp_path / "m.nk")

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(zipfile.ZipFile, "read", full)
    with pytest.raises(ModelFileError, match="fit into memory"):
        nk.load(tmp_path / "m.nk")


@pytest.mark.parametrize("n", [2**4000 - 3, 2**4001, 10**5000], ids=["short", "long", "longer"])
def test_integers_of_any_length_are_kept(tmp_path, n):
    ledger = nk.play(nk.ThresholdHalving(n), [(n // 2, -1), (n, 1), (n // 3, -1)])
    nk.save(ledger, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    assert again.learner.state() == ledger.learner.state()
    assert again.certify() == ledger.certify()
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        assert json.loads(archive.read("meta.json"))["learner"] == "threshold-halving"


@pytest.mark.parametrize("force", [False, True])
def test_a_model_file_replaces_another_kind_of_file_only_by_force(tmp_path, played, force):
    path = tmp_path / "precious.txt"
    path.write_text("my thesis")
    if force:
        nk.save(played, path, force=True)
        assert nk.load(path).rounds == played.rounds
        return
    with pytest.raises(ModelFileError, match="must not replace a file of another kind: .*precious.txt .* force=True"):
        nk.save(played, path)
    assert path.read_text() == "my thesis"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_file_replaces_a_model_file_or_an_empty_one(tmp_path, played):
    path = tmp_path / "m.nk"
    path.touch()
    nk.save(played, path)
    with path.open("rb") as reading:
        nk.save(nk.play(nk.ThresholdHalving(10), [(5, -1)]), path)
        assert nk.load(reading).rounds == played.rounds  # who has the old file open reads all of it
    assert nk.load(path).rounds == 1
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("meta.json", '{"title": "of somebody else"}')
    with pytest.raises(ModelFileError, match="another kind"):
        nk.save(played, tmp_path / "book.zip")


def test_a_model_file_replaces_neither_a_folder_nor_a_device(tmp_path, played):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ModelFileError, match="must be written to a regular file"):
            nk.save(played, path, force=True)


ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = np.where(ROWS[:, 0] + 0.3 * np.roll(ROWS[:, 1], 1) >= 0.0, 1, -1)
THRESHOLDS = (np.arange(60) % 11, np.where(np.arange(60) % 11 >= 4, 1, -1))


def kept(how):
    return nk.finalize(nk.play(nk.Perceptron(), (ROWS, LABELS), candidates=9), how, stream=(ROWS, LABELS))


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (
            lambda: nk.play(nk.ExponentialWeights(3, loss="table", seed=1), np.abs(ROWS) / 9.0),
            [("ledger.paid.0", 1e6), ("ledger.paid.1", 0.5), ("ledger.expected.0", 1e6), ("ledger.curve.1.1", 7.0)],
        ),
        (lambda: nk.play(nk.OnlineGradient(limit=9), (ROWS, np.clip(ROWS[:, 0], -1, 1))), [("ledger.paid.0", 1e6)]),
        (
            lambda: nk.play(nk.WeightedMajority(nk.classes.thresholds(10)), THRESHOLDS),
            [("ledger.before.fewest", 1), ("ledger.before.fewest", -1), ("ledger.before.spread", 1e6),
             ("ledger.before.spread", -5.0), ("ledger.before.spread", 1.0)],
        ),
        (
            lambda: nk.play(nk.RandomizedBudgetPerceptron(5, seed=1), (ROWS, LABELS)),
            [("state.budget", 1_000_000), ("state.budget", 6)],
        ),
        *((
            lambda how=how: kept(how),
            [("kept.certificates.0.observed", 1.5), ("kept.certificates.0.observed", -5),
             ("kept.certificates.0.bound", 2), ("kept.certificates.0.bound", 1.0)],
        ) for how in ("best", "voted", "random")),
    ],
)  # fmt: skip
def test_unreachable_state_in_a_file_is_refused(make, changes, tmp_path):
    nk.save(make(), tmp_path / "m.nk")
    nk.load(tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for place, value in changes:
        meta = json.loads(parts["meta.json"])
        *path, last = (int(key) if key.isdigit() else key for key in place.split("."))
        inner = meta
        for key in path:
            inner = inner[key]
        assert inner[last] != value
        inner[last] = value
        with zipfile.ZipFile(tmp_path / "changed.nk", "w") as archive:
            for name, content in {**parts, "meta.json": json.dumps(meta)}.items():
                archive.writestr(name, content)
        with pytest.raises(ModelFileError):
            nk.load(tmp_path / "changed.nk")


@pytest.mark.parametrize(
    "make",
    [nk.Perceptron, lambda: nk.KernelPerceptron(gamma=0.5), lambda: nk.Hedge([nk.Perceptron(), nk.Ellipsoid()])],
    ids=["perceptron", "kernel", "team"],
)
def test_state_to_save_does_not_change_while_the_game_continues(make, tmp_path):
    x = np.random.default_rng(0).normal(size=(200, 3))
    rounds = x, np.where(x[:, 0] > 0, 1, -1)
    then, now = (nk.play(make(), rounds, rounds=100, record=True) for _ in range(2))
    taken = persistence.snapshot(now)
    nk.play(now.learner, rounds, ledger=now, resume=True)
    persistence.write(taken, tmp_path / "model.nk")
    again = nk.load(tmp_path / "model.nk")
    assert again.recorded().tolist() == then.recorded().tolist()
    assert again.certify() == then.certify()


@pytest.mark.parametrize("spec", ["auto:fast=true", "ftrl", "adagrad", "perceptron:bias=1", "vaw"])
def test_a_game_that_was_saved_before_its_first_round_can_be_saved_after_others(spec, tmp_path):
    learner = nk.make(spec, "learner")
    game, rng = nk.Game(learner), np.random.default_rng(0)
    nk.save(game.ledger, tmp_path / "before.nk")
    again = nk.load(tmp_path / "before.nk")
    for played in (game, nk.Game(again.learner, again)):
        x = rng.normal(size=(20, 3))
        played.learn_batch(nk.Batch(x, np.sign(x[:, 0]).astype(np.int8), 1))
        nk.save(played.ledger, tmp_path / "after.nk")
        assert nk.load(tmp_path / "after.nk").rounds == 20
