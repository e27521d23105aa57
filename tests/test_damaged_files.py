"""Model files with one value changed are refused with a sentence, or played on: no crash, no error of another kind.

Every array and every value of the file of every learner is changed, one at a time: to -1, to something huge, to NaN,
shuffled, cut off, made longer, of another type; so are those of files with late labels, tables, kept hypotheses and
classifiers. `make test-bounds` plays them with checked indices, so that an index
from a file that goes beyond an array is an error too, even where memory happens to be there.

A short run writes and reads a few files. The slow tests try every change, without a file, which takes most of the time:
they restore what a file would have held. What one change has shown is not tried again: a ledger's counts are read in
the same way for all learners of one kind (`kind_of`), and a game whose comparators are fitted early (`settled`) differs
from the other one in its comparators only.
"""

import contextlib
import functools
import hashlib
import io
import itertools
import json
import math
import random
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

import numba
import numpy as np
import pytest

import novikoff as nk
from growing import GAMES, ROUNDS, in_turn, shortly
from novikoff.bandits._loops import bandit_layout
from novikoff.comparators import metric
from novikoff.core.adapt import adapt
from novikoff.core.errors import ModelFileError, NovikoffError
from novikoff.game import ledger_state, persistence
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.linear._loops import metric_layout, second_order_layout

CUT = 2 * ROUNDS // 3
FEW = 8 if numba.config.BOUNDSCHECK else 3
"""Changes per file in a short run: more, and of every game, where an index beyond an array is an error."""


def settled(tracker, keep):
    """Let comparators be fitted after a few rows, or keep them all."""
    for part in (tracker, getattr(tracker, "softmax", None), getattr(tracker, "rest", None)):
        for name in ("keep", "keep_rows"):
            if keep is not None and hasattr(part, name):
                setattr(part, name, keep)


@functools.cache
def saved(name, keep):
    """The state of a game, learner and ledger, after two thirds of its rounds."""
    growing = GAMES[name]
    game = Game(growing.make())
    settled(game.ledger.tracker, keep)
    for x, y in growing.rows[:CUT]:
        game.learn_one(x, y)
    return read(persistence.snapshot(game.ledger))


def read(what):
    """The contents of a file."""
    return persistence._from_plain(what.meta, what.arrays.__getitem__)


def opened(state):
    """What is restored from these contents of a file, or None: whatever fails while a file is read is refused."""
    try:
        return persistence._restored(ledger_state._owned(state), None, "a file")
    except Exception:
        return None


OWN = ("tracker", "before", "coverage", "members")
"""Parts of a ledger that depend on its learner."""
OTHER_MEMBERS = [("members", place) for place in range(1, 4)]
"""Beginnings of paths; one member shows how all are read."""


def kind_of(name):
    """What the reading of a ledger's other parts depends on."""
    player = adapt(GAMES[name].make())
    return player.task, player.loss, player.draws, player.probable, player.scores, player.covers


@functools.cache
def firsts():
    """The first game of each kind."""
    return set({kind_of(name): name for name in reversed(GAMES)}.values())


def part_of(path):
    """The part of a ledger, or of the ledger of a member, to which a path leads."""
    path = path[1:]
    while len(path) > 2 and path[0] == "members":
        path = path[2:]
    return path[0] if path else "members"


def changed(name, keep):
    """The paths that the slow test changes in the file of a game."""
    for path in leaves(saved(name, keep)):
        if keep is not None:
            new = path[:2] == ("ledger", "tracker")
        elif path[0] == "ledger":
            new = (part_of(path) in OWN or name in firsts()) and path[1:3] not in OTHER_MEMBERS
        else:
            new = path[0] == "state"
        if new:
            yield path


def leaves(state, path=()):
    """The paths of all arrays and values, and of lists and mappings; in a list of similar rows, of the ends."""
    if path:
        yield path
    if isinstance(state, dict):
        for key, value in state.items():
            yield from leaves(value, (*path, key))
    elif isinstance(state, (list, tuple)):
        similar = len({type(item) for item in state}) == 1 and isinstance(state[0], (list, int, float, str))
        for key in {0, len(state) - 1} if similar else range(min(len(state), 4)):
            yield from leaves(state[key], (*path, key))


def with_value(state, path, value):
    """The same with another value at that path."""
    if not path:
        return value
    if isinstance(state, dict):
        return {key: with_value(item, path[1:], value) if key == path[0] else item for key, item in state.items()}
    return [with_value(item, path[1:], value) if key == path[0] else item for key, item in enumerate(state)]


@np.errstate(all="ignore")
def changes(value, rng):
    """Other values in the place of one."""
    if isinstance(value, (dict, list, tuple)):
        return [None, 3, "text", [], {}, [*value, *value]]
    if value is None or isinstance(value, (bool, str)):
        return [None, "", "text", 3, -0.5, not value, [], {}]
    if not isinstance(value, np.ndarray):
        huge = 2.0**70 if isinstance(value, float) else 2**40
        return [-1, 0, value + 1, huge, math.nan if isinstance(value, float) else 3, None, "text"]
    found = [np.full_like(value, 0), np.full_like(value, 1), value[..., :-1] if value.ndim else value,
             np.concatenate([value, value]) if value.ndim else value, value.astype(np.float32),
             value.astype(np.int64 if value.dtype != np.int64 else np.uint32), value.reshape(-1)]  # fmt: skip
    limits = np.iinfo(value.dtype) if value.dtype.kind in "iu" else None
    for one in (-1, 2**31 - 1, limits.max, limits.min) if limits is not None else (-1, 2**40, math.nan):
        if limits is not None and not limits.min <= one <= limits.max:
            continue
        if value.size and value.dtype.kind in "iuf":
            places = {0, value.size // 2, value.size - 1}
            for place in {value.size - 1} if one != one else places:  # a number may be a count, and one NaN is as any
                other = value.copy()
                other.reshape(-1)[place] = one
                found.append(other)
            found.append(np.full_like(value, one))
    shuffled = value.reshape(-1).copy()
    rng.shuffle(shuffled)
    return [*found, shuffled.reshape(value.shape)]


def at(state, path):
    for key in path:
        state = state[key]
    return state


def file_of(state):
    """A model file with that state, whatever is in it."""
    arrays, file = {}, io.BytesIO()
    meta = {"novikoff": "0", "format": persistence.FORMAT, **persistence._plain(state, arrays)}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("meta.json", json.dumps(meta))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array, order="C"), allow_pickle=False)
    return file


def play_on(name, state):
    """Load, ask, play the rest, certify and save again, as far as files allow."""
    with refused_or_right() as right:
        ledger = persistence.load_game(file_of(state))
        ledger.certify(fixed=False)
        go_on(name, ledger)
    return right()


def restored_or_refused(name, state):
    """The same without a file: what is restored is asked, plays the rest and is certified."""
    ledger = opened(state)
    if ledger is not None:
        with refused_or_right():
            go_on(name, ledger)


def go_on(name, ledger):
    game, growing = Game(ledger.learner, ledger), GAMES[name]
    game.predict_one(growing.rows[CUT][0])
    for x, y in growing.rows[CUT:]:
        game.learn_one(x, y)
    ledger.certify(fixed=False)
    ledger_state.packed(ledger)


@contextlib.contextmanager
def refused_or_right():
    """Accept the errors that a damaged file may cause; the function that it yields returns whether there was none."""
    failed = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers out of range may overflow
            yield lambda: not failed
    except (NovikoffError, ArithmeticError) as error:  # figures that are wrong may overflow, or divide by 0
        failed.append(error)
    except ValueError as error:
        if "integer ratio" not in str(error):  # NaN has none
            raise
        failed.append(error)


def damaged(name, keep):
    yield from all_changes(saved(name, keep), name)


def all_changes(state, name, paths=None):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for path in leaves(state) if paths is None else paths:
        if path[0] not in ("learner", "format", "novikoff"):
            for number, value in enumerate(changes(at(state, path), rng)):
                yield path, number, with_value(state, path, value)


@pytest.fixture
def solved_once(monkeypatch):
    """Solve each system of equations once.

    Most changes leave the matrices of a learner as they are, and solving their systems again in every certificate took
    nine tenths of the time for mixtures.
    """
    solve, found = metric._solved, {}

    def solved(*given):
        key = tuple(hashlib.blake2b(np.ascontiguousarray(one), digest_size=16).digest() for one in given)
        key += tuple(one.shape for one in given)
        if key not in found:
            if len(found) > 10_000:
                found.clear()
            found[key] = solve(*given)
        return found[key].copy()

    monkeypatch.setattr(metric, "_solved", solved)


KEEPS = (None, 8)
EVERY = list(itertools.product(GAMES, KEEPS))


SHORT = GAMES.keys() if numba.config.BOUNDSCHECK else shortly(GAMES)


@pytest.mark.parametrize(
    ("number", "name"),
    [pytest.param(k, name, marks=[] if name in SHORT else pytest.mark.slow) for k, name in enumerate(GAMES)],
)
def test_a_damaged_file_is_refused_or_played_on(number, name):
    cases = list(damaged(name, KEEPS[number % 2]))
    some = random.Random(len(cases)).sample(cases, min(FEW, len(cases)))
    assert failures(some, functools.partial(play_on, name)) == {}


@pytest.mark.slow
@pytest.mark.usefixtures("solved_once")
@pytest.mark.parametrize(("name", "keep"), EVERY)
def test_every_change_of_a_file_is_refused_or_played_on(name, keep):
    cases = all_changes(saved(name, keep), name, list(changed(name, keep)))
    assert failures(cases, functools.partial(restored_or_refused, name)) == {}


X = np.round(np.random.default_rng(0).normal(size=(40, 3)), 2)
Y = np.where(X[:, 0] + 0.3 * np.cos(np.arange(40)) >= 0.0, 1, -1)


def late_labels():
    game = Game(nk.Perceptron(bias=1.0), drift=nk.DriftTest(first=4))
    for t, (x, y) in enumerate(zip(X, Y.tolist(), strict=True)):
        game.predict_one(x, id=t)
        if t % 3:
            game.learn_one(t - 1, y)
    return game.ledger


def named_late_labels():
    game = Game(nk.make("linear-mixture"), most_pending=50, expire_seconds=5.0)
    for t, (x, y) in enumerate(zip(X, Y.tolist(), strict=True)):
        game.predict_one({"a": float(x[0]), "b": float(x[1])}, id=f"r{t}", at=float(t))
        game.learn_one(f"r{t}", y, at=float(t)) if t % 2 else None
    return game.ledger


def table(learner, **options):
    """A game on a table with a category, missing numbers, a date, weights and labels in words."""
    rows = ["size,colour,day,weight,label"]
    for t, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        size = "" if t % 9 == 5 else x[0]
        rows.append(f"{size},{['red', 'blue', 'green'][t % 3]},2024-01-{1 + t % 28:02d},{1 + t % 2},{'ny'[y > 0]}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("\n".join(rows))
        return nk.play(learner, nk.CSV(str(path), label="label", weight="weight"), record=True, **options)


def kept(how):
    return nk.finalize(nk.play(nk.Perceptron(), (X, Y), candidates=5), how, stream=(X, Y))


FILES = {
    "late labels": late_labels,
    "named late labels": named_late_labels,
    "table": lambda: table("logistic:scale=standard"),
    "hashed table": lambda: table(nk.Perceptron()),
    "hypotheses": lambda: nk.play(nk.Perceptron(bias=1.0), (X, Y), candidates=5, passes=2),
    "average": lambda: nk.play(nk.Logistic(), (X, Y), candidates=5),
    "without rows": lambda: nk.play(nk.Logistic(), (X, Y)),
    **{f"kept {how}": functools.partial(kept, how) for how in ("best", "random", "voted", "averaged", "last")},
    "mixed": lambda: nk.parallel_perceptron((X, Y), 2, 2, held=10),
}


@functools.cache
def saved_file(name):
    return read(persistence.snapshot(FILES[name](), without_rows=name == "without rows"))


def load(state):
    return persistence.load(file_of(state))


def use(state, load=load):
    """Load a file and do with it what can be done."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = load(state)
            if found is None:
                return False
            persistence.snapshot(found)
            if not isinstance(found, Ledger):
                found.certify() if hasattr(found, "epochs") else found.predict_one(X[0])
                return True
            found.certify(fixed=False)
            if found.encoding is None:
                named = found.learner.features.kind == "names"
                game = Game(found.learner, found)
                for t, (x, y) in enumerate(zip(X[:8], Y[:8].tolist(), strict=True)):
                    x = {"a": float(x[0]), "c": float(x[1])} if named else x
                    game.predict_one(x, id=f"n{t}", at=50.0 + t) if found.late is not None else game.predict_one(x)
                    game.learn_one(f"n{t}", y, at=50.0 + t) if found.late is not None else game.learn_one(x, y)
            if found.reservoir is not None:
                nk.finalize(found, "random" if found.reservoir.labelled else "averaged")
            found.certify(fixed=False)
            persistence.snapshot(found)
    except (NovikoffError, ArithmeticError):
        return False
    return True


def failures(cases, play):
    failed = {}
    for path, number, state in cases:
        try:
            play(state)
        except Exception as error:
            failed[path, number] = repr(error)
    return failed


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_of_any_kind_is_refused_or_used(name):
    assert use(saved_file(name))
    cases = list(all_changes(saved_file(name), name))
    assert failures(random.Random(name).sample(cases, 5 * FEW), use) == {}


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("hypotheses", ("ledger", "labels"), [-1, 1, -1, 1]),
        ("hypotheses", ("ledger", "reservoir", "drawn", "weights"), np.zeros(2)),
        ("late labels", ("ledger", "late", "pending", "most"), 0),
        ("late labels", ("ledger", "drift", "test", "counts"), np.array([36, 4, 5])),
        ("table", ("ledger", "encoding", "places"), ["size", "size"]),
        ("kept voted", ("kept", "voters", 0, 1, "indices"), np.full(3, 2**31, np.uint32)),
        ("mixed", ("mixed", "rows"), [1]),
        ("mixed", ("mixed", "total"), np.zeros(9)),
    ],
)
def test_parts_that_contradict_the_rest_of_a_file_are_refused(name, path, value):
    with pytest.raises(ModelFileError):
        persistence.load(file_of(with_value(saved_file(name), path, value)))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_change_of_a_file_of_any_kind_is_refused_or_used(name):
    assert failures(all_changes(saved_file(name), name), functools.partial(use, load=opened)) == {}


@in_turn()
def test_an_unchanged_file_is_played_on(name):
    assert play_on(name, saved(name, KEEPS[len(name) % 2]))


def edited(state, path, change):
    """A file with an array changed by a function."""
    array = at(state, path).copy()
    change(array)
    return file_of(with_value(state, path, array))


def put(place, value):
    return lambda array: array.reshape(-1).__setitem__(place, value)


@pytest.mark.parametrize(
    ("name", "path", "change"),
    [
        ("logistic dense", ("ledger", "tracker", "kept", "ends"), put(-1, 2**40)),
        ("auto dense", ("state", "stored", "y"), put(-1, 2.0)),
        ("auto dense", ("state", "stored", "y"), put(0, -1.0)),
        ("many auto dense", ("state", "stored", "y"), put(0, 77.0)),
        ("logistic dense", ("ledger", "tracker", "kept", "places"), put(0, 2**31)),
        ("adagrad dense", ("ledger", "tracker", "kept", "ends"), put(3, -1)),
        ("many ftrl dense", ("ledger", "tracker", "kept", "y"), put(0, 77)),
        ("linear-mixture dense", ("ledger", "tracker", "frozen", "plain", 0), put(0, 2**20)),
        ("arow:diagonal=true dense", ("state", "totals"), put(metric_layout.MISTAKES, 0.0)),
        ("arow dense", ("state", "matrix", "totals"), put(second_order_layout.LOSS, 1.0)),
        ("arow dense", ("state", "matrix", "totals"), put(second_order_layout.UPDATES, 1e6)),
        ("forgetron:budget=3,gamma=0.5 dense", ("ledger", "tracker", "scorer", "largest"), put(0, -1.0)),
        ("exp3-ix:3", ("state", "estimates"), lambda array: np.multiply(array, 0.1, out=array)),
        ("exp3-ix:3", ("state", "estimates"), lambda array: np.multiply(array, 3.0, out=array)),
        ("tsallis-inf:3", ("state", "estimates"), lambda array: np.multiply(array, 0.01, out=array)),
        ("exp3-ix:3", ("state", "numbers"), put(bandit_layout.LOST, 0.5)),
        ("online-gradient:low=-30,high=30,limit=10 dense", ("state", "held"), put(0, 0.9)),
    ],
)  # fmt: skip
def test_figures_and_indices_that_contradict_the_rest_are_refused(name, path, change):
    with pytest.raises(ModelFileError):
        persistence.load(edited(saved(name, 8 if "scorer" in path else None), path, change))


@pytest.mark.parametrize(
    ("name", "path"),
    [("auto dense", ("boosted", 2)), ("auto dense", ("forests", 0)), ("many auto dense", ("boosted",))],
)
def test_trees_that_have_seen_more_rows_than_were_stored_are_refused(name, path):
    state, path = saved(name, None), ("state", *path, "rounds")
    with pytest.raises(ModelFileError, match="more rows than the store"):
        persistence.load(file_of(with_value(state, path, at(state, path) + 1)))


def test_comparators_of_another_kind_than_the_mixture_are_refused():
    state = saved("auto dense", None)
    assert state["state"]["full"]
    with pytest.raises(ModelFileError, match="exactly if trees play"):
        persistence.load(file_of(with_value(state, ("state", "full"), False)))


def test_an_expected_loss_other_than_the_loss_is_refused_where_nothing_is_drawn():
    state = saved("perceptron dense", None)
    other = [state["ledger"]["mistakes"] + 1.0, 0.0]
    for change in ({"expected": other}, {"expected": other, "deterministic": False}):
        with pytest.raises(ModelFileError, match="must"):
            persistence.load(file_of({**state, "ledger": {**state["ledger"], **change}}))


@pytest.mark.parametrize("how", ["best", "random", "voted"])
def test_the_limit_of_a_kept_classifier_is_proved_again(how):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    stream = (x, np.where(x[:, 0] + 0.3 * rng.normal(size=300) > 0.0, 1, -1))
    ledger = nk.play(nk.Perceptron(), stream, candidates=20)
    kept = nk.finalize(ledger, how, stream=stream)
    what = persistence.snapshot(kept)
    assert kept.certificate.bound > 0.05

    def loaded():
        file = io.BytesIO()
        persistence.pack(what, file)
        return persistence.load(file)

    assert loaded().certificates == kept.certificates
    for name, value in (("bound", kept.certificate.observed + 0.01), ("bound", 0.9), ("observed", 0.0)):
        told = what.meta["kept"]["certificates"][0]
        before, told[name] = told[name], value
        with pytest.raises(ModelFileError):
            loaded()
        told[name] = before
