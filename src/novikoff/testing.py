"""Contracts for those who bring their own: a learner, a stream, a theorem. Ours are tested by the same.

    from novikoff.testing import check_learner

    def test_my_learner():
        check_learner(lambda: MyLearner(seed=3), [(x, y), ...], refused=["no number", math.nan])

Each check plays what it is given, and raises an AssertionError whose sentence says which contract failed, and how. It
needs no framework of tests.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from novikoff.certificate import Certificate
from novikoff.environment import as_stream, for_learner
from novikoff.errors import InputError, ModelFileError, NovikoffError, SpecError, shown
from novikoff.game import Game, play
from novikoff.ledger import RANK, Ledger
from novikoff.model import load, save
from novikoff.player import Player
from novikoff.registry import LEARNER
from novikoff.stream import Stream, adapted
from novikoff.types import Batch, Domain, Labels, Learner, Sparse

SIZES = (1, 7, 128, 1000)
"""Rows of the batches that a game is played in."""

NO_LABELS: tuple[Any, ...] = (7, 0.5, math.nan, None, "spam", True, False, np.True_, np.False_)
"""What is no label, whether they are -1 and +1 or 0, 1, 2."""


def check_learner(
    make: Callable[[], Learner], examples: Any, refused: Sequence[Any] = (), outcomes: Sequence[Any] | None = None
) -> None:
    """Check all that the library relies on in a learner.

    make       makes a fresh learner, the same each time
    examples   some to play on, hundreds at best: what `nk.play` takes, and can read again
    refused    values of x that are no examples for it
    outcomes   values of y that are no outcomes; None: what is no label
    """
    _check_members(make())
    batches = _batches(make, examples)
    if outcomes is None:
        outcomes = [] if Player(make()).pays else [*NO_LABELS, 0 if make().labels is None else -1]
    _check_asking(make, batches)
    ledger = _check_playing(make, batches)
    whole = _played(ledger)
    _check_same_again(make, batches, whole)
    _check_batches(make, batches, whole)
    _check_gaps(make, batches, whole)
    _check_predict_many(make, batches)
    _check_state(ledger.learner)
    _check_stopping(make, batches)
    _check_own_state(make, batches)
    _check_refusing(make, batches, refused, outcomes)
    for certificate in play(make(), examples).certify():
        check_certificate(certificate)


def check_stream(make: Callable[[], Stream]) -> None:
    """Check all that the library relies on in a stream.

    make   opens it anew, from the same source each time
    """
    stream = make()
    _check_declared(stream)
    rows = _check_numbering(stream)
    _check_memory(make())
    _check_reading_again(stream, rows)
    _check_going_on(make, rows)
    _check_fingerprint(make)


def check_certificate(certificate: Certificate) -> None:
    """Check that a certificate is one that may be told: it is not violated, and agrees with itself."""
    one = certificate
    what = f"the certificate of {one.theorem}"
    _require(isinstance(one.theorem, str) and one.theorem.isidentifier(), f"{what} must have the name of its theorem")
    _require(one.kind in ("D", "E", "P"), f"the kind of {what} must be D, E or P: it is {one.kind!r}")
    _require(one.side in ("upper", "lower"), f"the side of {what} must be upper or lower: it is {one.side!r}")
    _require(one.status in RANK, f"the status of {what} must be one of {', '.join(RANK)}: it is {one.status!r}")
    _require(one.status != "violated", f"a promise must be kept: {one}")
    must = f"{what} must have a reason if and only if it is not valid: it is {one.status}, for {one.reason!r}"
    _require(bool(one.reason) == (one.status != "valid"), must)
    standings = {assumption.standing for assumption in one.assumptions}
    refuted = "refuted" in standings
    _require(not refuted or one.status == "void", f"{what} must be void, an assumption is refuted: it is {one.status}")
    trusted = "trusted" in standings and one.status == "valid"
    _require(not trusted, f"{what} must be conditional, an assumption is trusted: it is valid")
    _require(math.isfinite(one.observed), f"what {what} observed must be finite: it is {one.observed}")
    if one.status == "void":
        _require(one.bound is None, f"{what} is void, and must have no bound: it has {one.bound}")
        return
    if one.bound is None or math.isnan(one.bound):
        _fail(f"{what} must have a bound, or be void: it is {one.status}, with {one.bound}")
    empty = one.bound >= one.trivial if one.side == "upper" else one.bound <= one.trivial
    must = f"{what} must be vacuous if and only if its bound says no more than {one.trivial}"
    _require(empty == (one.status == "vacuous"), f"{must}: it is {one.status}, with a bound of {one.bound}")
    if one.kind == "D":
        kept = one.observed <= one.bound if one.side == "upper" else one.observed >= one.bound
        _require(kept, f"{what} must be violated: {one.comparison()}")
    elif isinstance(one.bound, int) and one.status != "vacuous":
        _fail(f"a bound on an expectation is never rounded to an integer: {what} has {one.bound}")


# Learners


def _check_members(learner: Learner) -> None:
    name = type(learner).__name__
    for part in ("domain", "labels", *LEARNER):
        _require(hasattr(learner, part), f"a learner must have {', '.join(('domain', 'labels', *LEARNER))}: "
                 f"{name} has no {part}")  # fmt: skip
    _require(isinstance(learner.domain, Domain), f"the domain of {name} must be a Domain: it is {learner.domain!r}")
    labels = learner.labels
    must = f"the labels of {name} must be None for -1 and +1, or how many there are"
    _require(labels is None or (type(labels) is int and labels > 1), f"{must}: they are {labels!r}")
    facts: Any = learner.facts()
    params = getattr(facts, "__dataclass_params__", None)
    frozen = params is not None and params.frozen
    _require(frozen, f"the facts of {name} must be a frozen dataclass: they are {shown(facts)}")
    _plain(dataclasses.asdict(facts), f"the facts of {name}")


def _check_asking(make: Callable[[], Learner], batches: list[Batch]) -> None:
    learner = make()
    name = type(learner).__name__
    for t, (x, y) in enumerate(_rows(batches, 60), 1):
        before = copy.deepcopy(learner.state())
        said = [learner.predict_one(x) for _ in range(3)]
        same = said[0] == said[1] == said[2]
        _require(same, f"asking must change nothing: in round {t} {name} says {said[0]}, {said[1]}, {said[2]}")
        if Player(learner).draws and not Player(learner).pays:
            total = sum(Player(learner).chances(x).values())
            _require(math.isclose(total, 1.0), f"the chances of all labels must sum to 1: in round {t} to {total}")
        _require_same(learner.state(), before, f"asking must change nothing: in round {t} it changes {name}")
        learner.learn_one(x, y)


def _check_playing(make: Callable[[], Learner], batches: list[Batch]) -> Ledger:
    """Row by row, as everything else must be; returns the ledger of that game."""
    one, game = make(), _game(make())
    for t, (x, y) in enumerate(_rows(batches), 1):
        said = one.predict_one(x)
        one.learn_one(x, y)
        played = game.learn_one(x, y)
        _require(played == said, f"play_one must predict, then learn: in round {t} it says {played}, predict_one "
                 f"says {said}")  # fmt: skip
    _require_same(game.learner.state(), one.state(), "play_one must learn what learn_one learns")
    _require(one.facts() == game.learner.facts(), "the facts after the same rounds must be the same")
    return game.ledger


def _check_same_again(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    game = _game(make())
    for x, y in _rows(batches):
        game.learn_one(x, y)
    _same_game(game.ledger, whole, "the same game must be the same again (coins come from a seed)")


def _check_batches(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    if Player(make()).looped or isinstance(batches[0].x, list):
        return
    for size in SIZES:
        game = _game(make())
        for batch in batches:
            for start in range(0, len(batch), size):
                game.learn_batch(batch.part(start, start + size))
        _same_game(game.ledger, whole, f"learn_many must do what learn_one does, row by row (batches of {size})")


def _check_gaps(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    """The numbers of an array need not lie beside each other in memory."""
    if not all(isinstance(batch.x, np.ndarray) and batch.x.ndim == 2 for batch in batches):
        return
    gaps = [Batch(_with_gaps(batch.x), batch.y, batch.first) for batch in batches]
    must = "numbers with gaps between them must be read as those without"
    game = _game(make())
    for x, y in _rows(gaps):
        said = game.learner.predict_one(x)
        _require(game.learn_one(x, y) == said, f"{must}: predict_one does not")
    _same_game(game.ledger, whole, f"{must}, row by row")
    _same_game(_play(_game(make()), gaps), whole, f"{must}, in batches")


def _check_predict_many(make: Callable[[], Learner], batches: list[Batch]) -> None:
    game = _game(make())
    for batch in batches:
        middle = len(batch) // 2
        game.learn_batch(batch.part(0, middle))
        rest = batch.part(middle, len(batch))
        before = copy.deepcopy(game.learner.state())
        said, one = game.player.predict_many(rest), [game.learner.predict_one(x) for x, _ in rest.rows()]
        _require(np.asarray(said).tolist() == one, "predict_many must say what predict_one says of each row")
        _require_same(game.learner.state(), before, "predict_many must change nothing")
        game.learn_batch(rest)


def _check_state(learner: Learner) -> None:
    name, state = type(learner).__name__, learner.state()
    _plain(state, f"the state of {name}")
    again = type(learner).restore(copy.deepcopy(state))
    _require_same(again.state(), state, f"{name}.restore must give back the learner whose state it is")
    _require(again.facts() == learner.facts(), f"{name}.restore must give back the learner: its facts are others")


def _check_stopping(make: Callable[[], Learner], batches: list[Batch]) -> None:
    ledger = _play(_game(make()), batches)
    whole = _played(ledger)
    for cut in sorted({1, ledger.rounds // 6, ledger.rounds - 1} - {0}):
        part = _play(_game(make()), batches, 0, cut)
        again = _loaded(part)
        _require_same(again.learner.state(), part.learner.state(), f"a loaded learner must be as saved at round {cut}")
        _play(Game(again.learner, again), batches, cut)
        _same_game(again, whole, f"a game that is saved and loaded after round {cut} must go on as if it had not been")


def _check_own_state(make: Callable[[], Learner], batches: list[Batch]) -> None:
    game, rounds = _game(make()), sum(map(len, batches)) // 2
    _play(game, batches, 0, rounds)
    state = game.learner.state()
    then = copy.deepcopy(state)
    _play(game, batches, rounds)
    _require_same(state, then, "a state must stay as it is while the game goes on (copy the arrays that change)")


def _check_refusing(
    make: Callable[[], Learner], batches: list[Batch], refused: Sequence[Any], outcomes: Sequence[Any]
) -> None:
    game = _game(make())
    learner, name = game.learner, type(game.learner).__name__
    _play(game, batches, 0, 30)
    before = copy.deepcopy(learner.state())
    (x, y) = next(_rows(batches))
    for bad in refused:
        _require_refused(partial(learner.predict_one, bad), f"{name}.predict_one must refuse x = {shown(bad)}")
        _require_refused(partial(learner.learn_one, bad, y), f"{name}.learn_one must refuse x = {shown(bad)}")
    for bad in outcomes:
        _require_refused(partial(learner.learn_one, x, bad), f"{name}.learn_one must refuse y = {shown(bad)}")
    _require_same(learner.state(), before, f"{name} must be as it was after rounds that it refused")


def _require_refused(act: Callable[[], Any], must: str) -> None:
    try:
        act()
    except InputError:
        return
    except Exception as error:
        _fail(f"{must} with an InputError: it raises {type(error).__name__}: {error}")
    _fail(f"{must} with an InputError: it takes it")


# Streams


def _check_declared(stream: Stream) -> None:
    kind = type(stream).__name__
    for part in ("name", "domain", "labels", "rereadable", "batches"):
        _require(hasattr(stream, part), f"a stream must have name, domain, labels, rereadable and batches: {kind} has "
                 f"no {part}")  # fmt: skip
    _require(isinstance(stream.name, str) and stream.name != "", f"the name of {kind} must be a text: {stream.name!r}")
    _require(isinstance(stream.domain, Domain), f"the domain of {kind} must be a Domain: it is {stream.domain!r}")
    _require(type(stream.rereadable) is bool, f"rereadable of {kind} must be true or false: {stream.rereadable!r}")


def _check_numbering(stream: Stream) -> list[_Row]:
    """Batches follow each other, and are what the stream says of itself; returns the rows."""
    rows: list[_Row] = []
    for batch in stream.batches():
        first = len(rows) + 1
        _require(len(batch) > 0, f"no batch may be empty: the one at round {first} of {stream.name} is")
        must = f"batches must be numbered one after the other: one of {stream.name} begins at {batch.first}"
        _require(batch.first == first, f"{must}, not {first}")
        _check_kind(batch, stream)
        rows += _told(batch)
    _require(bool(rows), f"a stream must have rows: {stream.name} has none")
    labels = stream.labels
    _require(labels is None or isinstance(labels, Labels), f"labels of {stream.name} must be Labels: {labels!r}")
    if isinstance(labels, Labels) and labels.negative == labels.positive:
        _fail(f"labels of {stream.name} must differ: both are {labels.negative!r}")
    known = adapted(stream)
    if known.rows is not None:
        _require(
            known.rows == len(rows), f"the length of {stream.name} must be its rows, {len(rows)}: it is {known.rows}"
        )
    names, width = known.features, stream.domain.width
    if names is not None:
        _require(all(isinstance(name, str) for name in names), f"features of {stream.name} must be names: {names!r}")
        fits = width is None or stream.domain.kind not in ("vector", "point") or len(names) == width
        _require(fits, f"features of {stream.name} must name all of its {width} columns: they are {len(names)}")
    return rows


def _check_kind(batch: Batch, stream: Stream) -> None:
    kind, width, x, y = stream.domain.kind, stream.domain.width, batch.x, batch.y
    where = f"the batch at round {batch.first} of {stream.name}"
    if stream.labels is not None and y.ndim == 1:
        _require(bool(np.isin(y, (-1, 1)).all()), f"labels must be -1 and +1 in a batch: {where} has {shown(y)}")
    if isinstance(x, np.ndarray) and kind in ("vector", "point"):
        _require(x.ndim == 2, f"x must have two dimensions, rows and features: {where} has {x.ndim}")
        fits = width is None or x.shape[1] == width
        _require(fits, f"x must be as wide as the domain, {width}: {where} has {x.shape[1]} columns")
        _require(kind == "vector" or x.dtype.kind == "i", f"points are integers: {where} has {x.dtype}")
    if isinstance(x, np.ndarray) and kind == "index":
        _require(x.ndim == 1 and x.dtype.kind == "i", f"indices are integers, one a row: {where} has {x.dtype}")
    if isinstance(x, Sparse):
        _require(kind == "vector", f"sparse rows are of a domain of vectors: {where} is of {stream.domain}")


def _check_memory(stream: Stream) -> None:
    held = [(batch, _told(batch)) for batch in stream.batches() if batch.memory != "borrowed"]
    for batch, then in held:
        must = f"a batch whose memory is not borrowed must stay as it is: that at round {batch.first} of {stream.name}"
        _require(_told(batch) == then, f"{must} has changed")


def _check_reading_again(stream: Stream, rows: list[_Row]) -> None:
    if stream.rereadable:
        next(iter(stream.batches()))  # a pass that is left
        again = [row for batch in stream.batches() for row in _told(batch)]
        _require(again == rows, f"a rereadable stream must give the same rows again: {stream.name} gives others")
        return
    try:
        next(iter(stream.batches()), None)
    except NovikoffError:
        return
    _fail(f"a stream that is not rereadable must refuse a second pass: {stream.name} begins one")


def _check_going_on(make: Callable[[], Stream], rows: list[_Row]) -> None:
    """From the end of every batch on, in a stream that was opened anew."""
    ends, done = [], 0
    for batch in make().batches():
        done += len(batch)
        if batch.end is not None:
            ends.append((batch.end, done))
    for end, done in _some(ends):
        stream = make()
        _plain(end, f"the end of a batch of {stream.name}", arrays=False)
        left: list[_Row] = []
        for batch in stream.batches(json.loads(json.dumps(end))):
            must = f"rows must keep their numbers where a stream goes on: {stream.name} begins at {batch.first}"
            _require(batch.first == done + len(left) + 1, f"{must}, not {done + len(left) + 1}")
            left += _told(batch)
        must = f"a stream must go on where a batch ended: after {done} rows {stream.name} gives {len(left)}"
        _require(left == rows[done:], f"{must}, and not those that follow")


def _check_fingerprint(make: Callable[[], Stream]) -> None:
    stream = adapted(make())
    first = stream.fingerprint()
    _plain(first, f"the fingerprint of {stream.name}", arrays=False)
    same = first == stream.fingerprint() == adapted(make()).fingerprint()
    _require(same, f"a source that stays as it is must keep its fingerprint: {stream.name} has another")


# What they share


class _Row(NamedTuple):
    """A row in plain values, which can be compared."""

    x: Any
    y: Any


def _told(batch: Batch) -> list[_Row]:
    return [_Row(_value(x), _value(y)) for x, y in batch.rows()]


def _value(value: Any) -> Any:
    """Arrays as their bytes: equal to the last bit, NaN too."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    return tuple(map(_value, value)) if isinstance(value, tuple) else repr(value)


def _some(ends: list[Any]) -> list[Any]:
    """All, or the first and the last few."""
    return ends if len(ends) <= 8 else [*ends[:4], *ends[-4:]]


def _batches(make: Callable[[], Learner], examples: Any) -> list[Batch]:
    """The examples as the learner's game takes them."""
    learner = make()
    if isinstance(examples, Iterator):
        _fail("examples must be there more than once: got an iterator. Pass a list")
    stream = as_stream(examples, learner)
    return [for_learner(batch, stream.labels, learner) for batch in stream.batches()]


def _rows(batches: list[Batch], most: int | None = None) -> Iterator[tuple[Any, Any]]:
    rounds = (row for batch in batches for row in batch.rows())
    return rounds if most is None else (row for row, _ in zip(rounds, range(most), strict=False))


def _game(learner: Learner) -> Game:
    """A game that remembers every prediction."""
    game = Game(learner)
    game.ledger.predictions = []
    return game


def _play(game: Game, batches: list[Batch], start: int = 0, stop: int | None = None) -> Ledger:
    """Play the rounds from `start` to `stop`."""
    done = 0
    for batch in batches:
        begin, end = max(start - done, 0), len(batch) if stop is None else min(stop - done, len(batch))
        if begin < end:
            game.learn_batch(batch.part(begin, end))
        done += len(batch)
    return game.ledger


def _with_gaps(x: Any) -> Any:
    """The same numbers, not beside each other in memory."""
    return np.stack([x, np.full_like(x, 7)], axis=2).reshape(len(x), -1)[:, ::2]


def _loaded(ledger: Ledger) -> Ledger:
    """The ledger, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            save(ledger, Path(folder) / "model.nk")
            again = load(Path(folder) / "model.nk")
        except (ModelFileError, SpecError) as error:
            _fail(f"a game must be saved and loaded: {error}")
    assert isinstance(again, Ledger)
    return again


class _Played(NamedTuple):
    """All of a game that another must have too."""

    said: list[Any]
    state: dict[str, Any]
    counted: dict[str, Any]
    certificates: list[str]


def _played(ledger: Ledger) -> _Played:
    counted = {part: getattr(ledger, part) for part in ("rounds", "mistakes", "loss", "expected", "curve")}
    certificates = [str(found) for found in ledger.certify(fixed=False)]
    return _Played(ledger.said().tolist(), ledger.learner.state(), counted, certificates)


def _same_game(ledger: Ledger, wanted: _Played, must: str) -> None:
    one = _played(ledger)
    if one.said != wanted.said:
        pairs = enumerate(zip(one.said, wanted.said, strict=False), 1)
        t = next((t for t, (left, right) in pairs if left != right), len(one.said) + 1)
        _fail(f"{must}: the predictions differ from round {t} on")
    _require_same(one.state, wanted.state, must)
    for part, left in one.counted.items():
        right = wanted.counted[part]
        _require(left == right, f"{must}: {part} of the ledgers differ, {shown(left)} and {shown(right)}")
    told = one.certificates
    _require(told == wanted.certificates, f"{must}: the certificates differ, {told} and {wanted.certificates}")


def _plain(value: Any, what: str, arrays: bool = True) -> None:
    """Plain data: what JSON can hold, and arrays of numbers."""
    if isinstance(value, dict):
        for key, item in value.items():
            _require(isinstance(key, str), f"{what} must be plain data: the key {key!r} is no text")
            _plain(item, what, arrays)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _plain(item, what, arrays)
    elif isinstance(value, np.ndarray):
        _require(arrays and value.dtype.kind in "biuf", f"{what} must be plain data: it has an array of {value.dtype}")
    else:
        plain = value is None or isinstance(value, (str, int, float, bool, np.generic))
        _require(plain, f"{what} must be plain data, JSON values and arrays: it has {shown(value)}")


def _require_same(one: Any, other: Any, must: str) -> None:
    if (where := _difference(one, other)) is not None:
        _fail(f"{must}: {where or 'the state'} differs")


def _difference(one: Any, other: Any) -> str | None:
    """Where two states differ; None if they are the same to the last bit."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        return None if same else ""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        parts = ((key, one[key], other[key]) for key in one)
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        parts = ((str(k), *pair) for k, pair in enumerate(zip(one, other, strict=True)))
    else:
        return None if type(one) is type(other) and (one == other or (one != one and other != other)) else ""
    for key, left, right in parts:
        if (inner := _difference(left, right)) is not None:
            return f"{key}.{inner}".rstrip(".")
    return None


def _require(sound: bool, sentence: str) -> None:
    if not sound:
        _fail(sentence)


def _fail(sentence: str) -> NoReturn:
    raise AssertionError(f"{sentence}.")
