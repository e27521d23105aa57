"""Games of every learner that are saved early and loaded go on to the bit, with features and labels that come late.

`make test-bounds` plays them with checked indices: a write beyond an array is an error there, not a wrong number.
"""

import io
from functools import cache

import pytest

import novikoff as nk
from growing import GAMES, ROUNDS, shortly
from helpers import bits
from novikoff.core.registry import CATALOG
from novikoff.game import persistence
from novikoff.game.game import Game

CUTS = (0, 1, 2, ROUNDS // 2)


def cuts(names, every, one_in=1):
    """Every game with every cut; a short run has one kind of rows of one in `one_in` learners and one cut, in turn."""
    found, taken = [], [name for name in names if name in shortly(names)][::one_in]
    for number, name in enumerate(names):
        short = every[number % len(every)] if name in taken else None
        found += [pytest.param(name, cut, marks=[] if cut == short else pytest.mark.slow) for cut in every]
    return pytest.mark.parametrize(("name", "cut"), found)


def played(game, ledger, start, stop):
    for x, y in game.rows[start:stop]:
        ledger.learn_one(x, y)


def again(ledger):
    """The ledger, saved and loaded."""
    file = io.BytesIO()
    persistence.pack(persistence.snapshot(ledger), file)
    return persistence.load_game(io.BytesIO(file.getvalue()))


def told(ledger):
    """All of a game that another must have too."""
    certificates = [str(found) for found in ledger.certify(fixed=False)]
    return bits(ledger.learner.state()), ledger.loss, ledger.mistakes, ledger.expected, certificates


@cache
def whole_by_rows(name):
    """What an uninterrupted game ends with."""
    whole = Game(GAMES[name].make())
    played(GAMES[name], whole, 0, ROUNDS)
    return told(whole.ledger)


@cache
def whole_in_one_batch(name):
    whole = Game(GAMES[name].make())
    whole.learn_batch(GAMES[name].batch(0, ROUNDS))
    return told(whole.ledger)


def test_every_learner_of_the_catalog_is_played():
    known = {name for name, entry in CATALOG.items() if entry.room == "learner"}
    tried = {nk.core.registry.learner_name(type(game.make())) for game in GAMES.values()}
    assert known <= tried


@cuts(GAMES, CUTS)
def test_a_game_saved_early_resumes_to_the_bit(name, cut):
    game = GAMES[name]
    part = Game(game.make())
    played(game, part, 0, cut)
    ledger = again(part.ledger)
    loaded = Game(ledger.learner, ledger)
    loaded.player.predict_many(game.batch(cut, ROUNDS)) if game.dense and cut else None
    played(game, loaded, cut, ROUNDS)
    assert told(ledger) == whole_by_rows(name)


@cuts([name for name, game in GAMES.items() if game.dense], CUTS[1:], one_in=2)
def test_a_game_saved_early_resumes_in_batches(name, cut):
    game = GAMES[name]
    part = Game(game.make())
    part.learn_batch(game.batch(0, cut))
    ledger = again(part.ledger)
    Game(ledger.learner, ledger).learn_batch(game.batch(cut, ROUNDS))
    assert told(ledger) == whole_in_one_batch(name)
