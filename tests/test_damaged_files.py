"""Model files with one value changed are refused with a sentence, or played on: no crash, no error of another kind.

Every array and every number of the file of every learner is changed, one at a time: to -1, to something huge, to NaN,
shuffled, cut off, made longer, of another type. `make test-bounds` plays them with checked indices, so that an index
from a file that goes beyond an array is an error too, even where memory happens to be there.
"""

import functools
import io
import itertools
import json
import math
import random
import warnings
import zipfile
import zlib

import numpy as np
import pytest

import novikoff as nk
from growing import GAMES, ROUNDS
from novikoff.bandits._loops import bandit_layout
from novikoff.core.errors import ModelFileError, NovikoffError
from novikoff.game import ledger_state, persistence
from novikoff.game.game import Game
from novikoff.linear._loops import metric_layout, second_order_layout

CUT = 2 * ROUNDS // 3
FEW = 8
"""Changes per file in a short run."""


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
    return ledger_state.packed(game.ledger)


def leaves(state, path=()):
    """The paths of all arrays and numbers."""
    if isinstance(state, dict):
        for key, value in state.items():
            yield from leaves(value, (*path, key))
    elif isinstance(state, (list, tuple)):
        for key, value in enumerate(state[:4]):
            yield from leaves(value, (*path, key))
    elif isinstance(state, (np.ndarray, int, float)) and not isinstance(state, bool):
        yield path


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
    if not isinstance(value, np.ndarray):
        huge = 2.0**70 if isinstance(value, float) else 2**40
        return [-1, 0, value + 1, huge, math.nan if isinstance(value, float) else 3, None, "text"]
    found = [np.full_like(value, 0), np.full_like(value, 1), value[..., :-1] if value.ndim else value,
             np.concatenate([value, value]) if value.ndim else value, value.astype(np.float32),
             value.astype(np.int64 if value.dtype != np.int64 else np.uint32), value.reshape(-1)]  # fmt: skip
    limits = np.iinfo(value.dtype) if value.dtype.kind in "iu" else None
    for one in (-1, 2**31 - 1, 2**40 if limits is None else limits.max, math.nan if limits is None else limits.min):
        if limits is not None and not limits.min <= one <= limits.max:
            continue
        if value.size and value.dtype.kind in "iuf":
            for place in {0, value.size // 2, value.size - 1}:
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers out of range may overflow
            ledger = persistence.load_game(file_of(state))
            game, growing = Game(ledger.learner, ledger), GAMES[name]
            x, _ = growing.rows[CUT]
            game.predict_one(x)
            ledger.certify(fixed=False)
            for x, y in growing.rows[CUT:]:
                game.learn_one(x, y)
            ledger.certify(fixed=False)
            persistence.snapshot(ledger)
    except (NovikoffError, ArithmeticError):  # figures that are wrong may overflow, or divide by 0
        return False
    except ValueError as error:
        if "integer ratio" not in str(error):  # NaN has none
            raise
        return False
    return True


def damaged(name, keep):
    state, rng = saved(name, keep), np.random.default_rng(zlib.crc32(name.encode()))
    for path in leaves(state):
        if path[:1] != ("learner",):
            for number, value in enumerate(changes(at(state, path), rng)):
                yield path, number, with_value(state, path, value)


KEEPS = (None, 8)
EVERY = list(itertools.product(GAMES, KEEPS))


@pytest.mark.parametrize(("number", "name"), list(enumerate(GAMES)))
def test_a_damaged_file_is_refused_or_played_on(number, name):
    cases = list(damaged(name, KEEPS[number % 2]))
    for path, change, state in random.Random(len(cases)).sample(cases, min(FEW, len(cases))):
        try:
            play_on(name, state)
        except Exception as error:
            raise AssertionError(f"{path}, change {change}: {error!r}") from error


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keep"), EVERY)
def test_every_change_of_a_file_is_refused_or_played_on(name, keep):
    failed = {}
    for path, number, state in damaged(name, keep):
        try:
            play_on(name, state)
        except Exception as error:
            failed[path, number] = repr(error)
    assert failed == {}


@pytest.mark.parametrize(("number", "name"), list(enumerate(GAMES)))
def test_an_unchanged_file_is_played_on(number, name):
    assert play_on(name, saved(name, KEEPS[number % 2]))


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
        ("logistic dense", ("ledger", "tracker", "kept", "places"), put(0, 2**31)),
        ("adagrad dense", ("ledger", "tracker", "kept", "ends"), put(3, -1)),
        ("many ftrl dense", ("ledger", "tracker", "kept", "y"), put(0, 77)),
        ("auto dense", ("ledger", "tracker", "frozen", "plain", 0), put(0, 2**20)),
        ("arow:diagonal=true dense", ("state", "totals"), put(metric_layout.MISTAKES, 0.0)),
        ("arow dense", ("state", "matrix", "totals"), put(second_order_layout.LOSS, 1.0)),
        ("arow dense", ("state", "matrix", "totals"), put(second_order_layout.UPDATES, 1e6)),
        ("exp3-ix:3", ("state", "estimates"), lambda array: np.multiply(array, 0.1, out=array)),
        ("exp3-ix:3", ("state", "estimates"), lambda array: np.multiply(array, 3.0, out=array)),
        ("tsallis-inf:3", ("state", "estimates"), lambda array: np.multiply(array, 0.01, out=array)),
        ("exp3-ix:3", ("state", "numbers"), put(bandit_layout.LOST, 0.5)),
        ("online-gradient:low=-30,high=30,limit=10 dense", ("state", "held"), put(0, 0.9)),
    ],
)  # fmt: skip
def test_figures_and_indices_that_contradict_the_rest_are_refused(name, path, change):
    with pytest.raises(ModelFileError):
        persistence.load(edited(saved(name, None), path, change))


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
