"""Contract of a learner."""

from __future__ import annotations

import copy
import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from novikoff.core.adapt import adapt
from novikoff.core.batch import still
from novikoff.core.errors import InputError, ModelFileError, SpecError, shown
from novikoff.core.learner import Ability, Learner
from novikoff.core.registry import LEARNER
from novikoff.core.types import Batch, Domain, Source
from novikoff.data.as_stream import as_stream, for_learner
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.persistence import load, save
from novikoff.game.play import play
from novikoff.testing.certificates import check_certificate
from novikoff.testing.failing import fail, require, require_plain, require_same

SIZES = (1, 7, 128, 1000)
"""Batch sizes in which a game is played."""

THREADS = 4
"""Number of threads that predict at the same time."""

NO_LABELS: tuple[object, ...] = (7, 0.5, math.nan, None, "spam", True, False, np.True_, np.False_)
"""Values that are never labels, neither among -1 and +1 nor among 0, 1, 2."""


def check_learner(
    make: Callable[[], Learner],
    examples: Source,
    refused: Sequence[object] = (),
    outcomes: Sequence[object] | None = None,
) -> None:
    """Check everything that the library relies on in a learner.

    Args:
        make: Function that returns a new learner, the same each time.
        examples: Rereadable source that `nk.play` accepts, preferably with hundreds of examples.
        refused: Values of x that the learner must reject.
        outcomes: Values of y that the learner must reject; None for values that are not labels.

    Raises:
        AssertionError: If the learner breaks a contract.
    """
    _check_members(make())
    batches = _batches(make, examples)
    if outcomes is None:
        made = adapt(make())
        outcomes = [*NO_LABELS, 0 if made.task == "binary" else -1] if made.learns_labels else []
    _check_asking(make, batches)
    ledger = _check_playing(make, batches)
    whole = _played(ledger)
    _check_same_again(make, batches, whole)
    _check_batches(make, batches, whole)
    _check_gaps(make, batches, whole)
    _check_predict_many(make, batches)
    _check_threads(make, batches)
    _check_state(ledger.learner)
    _check_stopping(make, batches)
    _check_own_state(make, batches)
    _check_refusing(make, batches, refused, outcomes)
    for certificate in play(make(), examples).certify():
        check_certificate(certificate)


def _check_members(learner: Learner) -> None:
    """Check the attributes of a learner and its facts."""
    name = type(learner).__name__
    for part in ("domain", "labels", *LEARNER):
        require(hasattr(learner, part), f"a learner must have {', '.join(('domain', 'labels', *LEARNER))}: "
                 f"{name} has no {part}")  # fmt: skip
    require(isinstance(learner.domain, Domain), f"the domain of {name} must be a Domain: it is {learner.domain!r}")
    labels = learner.labels
    must = f"the labels of {name} must be None for -1 and +1, or the number of labels"
    least = 0 if adapt(learner).numbered else 2
    require(labels is None or (type(labels) is int and labels >= least), f"{must}: they are {labels!r}")
    facts: Any = learner.facts()
    params = getattr(facts, "__dataclass_params__", None)
    frozen = params is not None and params.frozen
    require(frozen, f"the facts of {name} must be a frozen dataclass: they are {shown(facts)}")
    require_plain(dataclasses.asdict(facts), f"the facts of {name}")


def _check_asking(make: Callable[[], Learner], batches: list[Batch]) -> None:
    """Check that predicting changes nothing."""
    learner = make()
    name = type(learner).__name__
    for t, (x, y) in enumerate(_rows(batches, 60), 1):
        before = copy.deepcopy(learner.state())
        found = [learner.predict_one(x) for _ in range(3)]
        same = found[0] == found[1] == found[2]
        require(
            same, f"predicting must change nothing: in round {t} {name} predicts {found[0]}, {found[1]}, {found[2]}"
        )
        if adapt(learner).draws and adapt(learner).learns_labels:
            total = sum(adapt(learner).chances(x).values())
            require(math.isclose(total, 1.0), f"the chances of all labels must sum to 1: in round {t} to {total}")
        require_same(learner.state(), before, f"predicting must change nothing: in round {t} it changes {name}")
        learner.learn_one(x, y)


def _check_playing(make: Callable[[], Learner], batches: list[Batch]) -> Ledger:
    """Check a game row by row against predict_one and learn_one; return its ledger, for comparison with others."""
    one, game = make(), _game(make())
    for t, (x, y) in enumerate(_rows(batches), 1):
        predicted = one.predict_one(x)
        one.learn_one(x, y)
        played = _learned(game, x, y)
        require(played == predicted, f"play_one must predict, then learn: in round {t} it predicts {played}, "
                 f"predict_one {predicted}")  # fmt: skip
    require_same(game.learner.state(), one.state(), "play_one must learn the same as learn_one")
    require(one.facts() == game.learner.facts(), "the facts after the same rounds must be the same")
    return game.ledger


def _check_same_again(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    """Check that a second game repeats the first."""
    game = _game(make())
    for x, y in _rows(batches):
        game.learn_one(x, y)
    _same_game(game.ledger, whole, "a repeated game must be the same (random numbers must come from a seed)")


def _check_batches(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    """Check that batches give the same game as single rows."""
    if adapt(make()).looped or isinstance(batches[0].x, list):
        return
    for size in SIZES:
        game = _game(make())
        for batch in batches:
            for start in range(0, len(batch), size):
                game.learn_batch(batch.part(start, start + size))
        _same_game(game.ledger, whole, f"learn_many must do the same as learn_one, row by row (batches of {size})")


def _check_gaps(make: Callable[[], Learner], batches: list[Batch], whole: _Played) -> None:
    """Check that non-contiguous arrays give the same game."""
    if not all(isinstance(batch.x, np.ndarray) and batch.x.ndim == 2 for batch in batches):
        return
    gaps = [Batch(_with_gaps(batch.x), batch.y, batch.first) for batch in batches]
    must = "non-contiguous arrays must be read like contiguous ones"
    game = _game(make())
    for x, y in _rows(gaps):
        predictions = game.learner.predict_one(x)
        require(_learned(game, x, y) == predictions, f"{must}: predict_one does not")
    _same_game(game.ledger, whole, f"{must}, row by row")
    _same_game(_play(_game(make()), gaps), whole, f"{must}, in batches")


def _check_predict_many(make: Callable[[], Learner], batches: list[Batch]) -> None:
    """Check that predict_many agrees with predict_one and changes nothing."""
    game = _game(make())
    for batch in batches:
        middle = len(batch) // 2
        game.learn_batch(batch.part(0, middle))
        rest = batch.part(middle, len(batch))
        before = copy.deepcopy(game.learner.state())
        predicted, one = game.player.predict_many(rest), [game.learner.predict_one(x) for x, _ in rest.rows()]
        require(np.asarray(predicted).tolist() == one, "predict_many must match predict_one on each row")
        _check_scores_many(game.player, rest)
        require_same(game.learner.state(), before, "predict_many must change nothing")
        game.learn_batch(rest)


def _check_scores_many(player: Learner, batch: Batch) -> None:
    """Check that scores and probabilities of a batch agree with those of single rows."""
    many: tuple[tuple[str, Ability], ...] = (("scores_many", "scores_one"), ("probabilities_many", "probabilities_one"))
    two: tuple[tuple[str, Ability], ...] = (("scores_many", "score_one"), ("probabilities_many", "probability_one"))
    for together, one in many if player.numbered else two:
        if player.has(one) and (player.probable or together == "scores_many"):
            single = [np.asarray(getattr(player.original, one)(x)).tolist() for x, _ in batch.rows()]
            found = getattr(player, together)(batch).tolist()
            require(found == single, f"{together} must match {one} on each row, to the bit")


def _check_threads(make: Callable[[], Learner], batches: list[Batch]) -> None:
    """Check that predictions from several threads equal those of one, to the bit."""
    game = _game(make())
    _play(game, batches, 0, sum(map(len, batches)) * 2 // 3)
    last = batches[-1].part(max(len(batches[-1]) - 12, 0), len(batches[-1]))
    asked = list(_questions(game.player, last))
    wanted = [_bits(ask()) for ask in asked]
    begins = range(0, len(asked), -(-len(asked) // THREADS))  # each thread begins with another query
    with ThreadPoolExecutor(THREADS) as threads:
        answers = list(threads.map(lambda k: [_bits(ask()) for ask in (*asked[k:], *asked[:k])], begins))
    same = all(answer == [*wanted[k:], *wanted[:k]] for k, answer in zip(begins, answers, strict=True))
    require(same, f"predictions of {type(game.learner).__name__} from several threads must equal those of one: they "
             "differ. Do not write into memory of the learner when it predicts")  # fmt: skip


QUESTIONS: tuple[Ability, ...] = (
    "score_one", "scores_one", "probability_one", "probabilities_one", "chances", "predict_set",
)  # fmt: skip
"""Methods that predict without learning, if a learner has them."""


def _questions(player: Learner, batch: Batch) -> Iterator[Callable[[], Any]]:
    """Yield every query that a learner can answer about these rows without learning."""
    learner: Any = player.original  # as its author wrote it
    for x, _ in batch.rows():
        yield partial(learner.predict_one, x)
        for name in QUESTIONS:
            if player.has(name):
                yield partial(getattr(learner, name), x)
    yield partial(player.predict_many, batch)
    if player.scores_rows:
        yield partial(player.scores_many, batch)
    if player.probable:
        yield partial(player.probabilities_many, batch)


def _bits(answer: object) -> object:
    """Return an answer in a form that is equal only if it is the same to the bit."""
    return (answer.shape, answer.tobytes()) if isinstance(answer, np.ndarray) else repr(answer)


def _check_state(learner: Learner) -> None:
    """Check that a learner restored from its state is the same."""
    name, state = type(learner).__name__, learner.state()
    require_plain(state, f"the state of {name}")
    again = type(learner).restore(copy.deepcopy(state))
    require_same(again.state(), state, f"{name}.restore must return a learner with the same state")
    require(again.facts() == learner.facts(), f"{name}.restore must return the same learner: its facts differ")


def _check_stopping(make: Callable[[], Learner], batches: list[Batch]) -> None:
    """Check that a game that is saved and loaded resumes without a difference."""
    ledger = _play(_game(make()), batches)
    whole = _played(ledger)
    for cut in sorted({1, ledger.rounds // 6, ledger.rounds - 1} - {0}):
        part = _play(_game(make()), batches, 0, cut)
        again = _loaded(part)
        require_same(again.learner.state(), part.learner.state(), f"a loaded learner must be as saved at round {cut}")
        _play(Game(again.learner, again), batches, cut)
        _same_game(again, whole, f"a game that is saved and loaded after round {cut} must continue as if it were not")


def _check_own_state(make: Callable[[], Learner], batches: list[Batch]) -> None:
    """Check that a state is a copy, and that a restored learner does not change the state."""
    game, rounds = _game(make()), sum(map(len, batches)) // 2
    _play(game, batches, 0, rounds)
    state = game.learner.state()
    then = copy.deepcopy(state)
    _play(game, batches, rounds)
    require_same(state, then, "a state must not change while the game goes on (copy the arrays that change)")
    again = _game(type(game.learner).restore(_read_only(state)))
    _play(again, batches, rounds)
    require_same(again.learner.state(), game.learner.state(), "a restored learner must own its arrays")
    require_same(state, then, "a restored learner must not change the state that it was restored from")


def _read_only(state: object) -> Any:
    """Return the same state with read-only arrays, as those of memory-mapped files are."""
    if isinstance(state, dict):
        return {key: _read_only(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_read_only(value) for value in state]
    return still(state) if isinstance(state, np.ndarray) else state


def _check_refusing(
    make: Callable[[], Learner], batches: list[Batch], refused: Sequence[object], outcomes: Sequence[object]
) -> None:
    """Check that invalid examples and outcomes raise an InputError and change nothing."""
    game = _game(make())
    learner, name = game.learner, type(game.learner).__name__
    _play(game, batches, 0, 30)
    before = copy.deepcopy(learner.state())
    (x, y) = next(_rows(batches))
    for bad in refused:
        _require_refused(partial(learner.predict_one, bad), f"{name}.predict_one must reject x = {shown(bad)}")
        _require_refused(partial(learner.learn_one, bad, y), f"{name}.learn_one must reject x = {shown(bad)}")
    for bad in outcomes:
        _require_refused(partial(learner.learn_one, x, bad), f"{name}.learn_one must reject y = {shown(bad)}")
    require_same(learner.state(), before, f"{name} must be unchanged after rounds that it rejected")


def _require_refused(act: Callable[[], Any], must: str) -> None:
    try:
        act()
    except InputError:
        return
    except Exception as error:
        fail(f"{must} with an InputError: it raises {type(error).__name__}: {error}")
    fail(f"{must} with an InputError: it accepts it")


def _batches(make: Callable[[], Learner], examples: object) -> list[Batch]:
    """Return the examples as batches of the learner's game."""
    learner = adapt(make())
    if isinstance(examples, Iterator):
        fail("examples must be readable more than once: got an iterator. Pass a list")
    stream = as_stream(examples, learner)
    numbering = Game(learner).numbering
    return [for_learner(batch, stream, learner, numbering) for batch in stream.batches()]


def _rows(batches: list[Batch], most: int | None = None) -> Iterator[tuple[Any, Any]]:
    rounds = (row for batch in batches for row in batch.rows())
    return rounds if most is None else (row for row, _ in zip(rounds, range(most), strict=False))


def _game(learner: Learner) -> Game:
    """Return a game that records every prediction."""
    game = Game(learner)
    game.ledger.predictions = []
    return game


def _learned(game: Game, x: object, y: object) -> object:
    """Play a round; return the prediction in the learner's internal labels."""
    predictions = game.learn_one(x, y)
    return 0 if predictions is None and game.player.numbered else predictions  # in the first round no label has a name


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
    """Return the same numbers as a non-contiguous array."""
    return np.stack([x, np.full_like(x, 7)], axis=2).reshape(len(x), -1)[:, ::2]


def _loaded(ledger: Ledger) -> Ledger:
    """Return the ledger after saving and loading it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            save(ledger, Path(folder) / "model.nk")
            again = load(Path(folder) / "model.nk")
        except (ModelFileError, SpecError) as error:
            fail(f"a game must be savable and loadable: {error}")
    assert isinstance(again, Ledger)
    return again


class _Played(NamedTuple):
    """Everything that two equal games must share."""

    predictions: list[Any]
    state: dict[str, Any]
    counted: dict[str, Any]
    certificates: list[str]


def _played(ledger: Ledger) -> _Played:
    counted = {part: getattr(ledger, part) for part in ("rounds", "mistakes", "loss", "expected", "curve")}
    certificates = [str(found) for found in ledger.certify(fixed=False)]
    return _Played(ledger.recorded().tolist(), ledger.learner.state(), counted, certificates)


def _same_game(ledger: Ledger, wanted: _Played, must: str) -> None:
    one = _played(ledger)
    if one.predictions != wanted.predictions:
        pairs = enumerate(zip(one.predictions, wanted.predictions, strict=False), 1)
        t = next((t for t, (left, right) in pairs if left != right), len(one.predictions) + 1)
        fail(f"{must}: the predictions differ from round {t} on")
    require_same(one.state, wanted.state, must)
    for part, left in one.counted.items():
        right = wanted.counted[part]
        require(left == right, f"{must}: {part} of the ledgers differ, {shown(left)} and {shown(right)}")
    certificates = one.certificates
    require(
        certificates == wanted.certificates,
        f"{must}: the certificates differ, {certificates} and {wanted.certificates}",
    )
