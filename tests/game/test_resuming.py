"""Games of every learner that are saved early and loaded go on to the bit, with features and labels that come late.

`make test-bounds` plays them with checked indices: a write beyond an array is an error there, not a wrong number.
"""

import io

import pytest

import novikoff as nk
from growing import GAMES, ROUNDS
from novikoff.core.registry import CATALOG
from novikoff.game import persistence
from novikoff.game.game import Game

CUTS = (0, 1, 2, ROUNDS // 2)


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
    return repr(ledger.learner.state()), ledger.loss, ledger.mistakes, ledger.expected, certificates


def test_every_learner_of_the_catalog_is_played():
    known = {name for name, entry in CATALOG.items() if entry.room == "learner"}
    tried = {nk.core.registry.learner_name(type(game.make())) for game in GAMES.values()}
    assert known <= tried


@pytest.mark.parametrize("name", GAMES)
def test_a_game_saved_early_goes_on_to_the_bit(name):
    game = GAMES[name]
    whole = Game(game.make())
    played(game, whole, 0, ROUNDS)
    for cut in CUTS:
        part = Game(game.make())
        played(game, part, 0, cut)
        ledger = again(part.ledger)
        loaded = Game(ledger.learner, ledger)
        loaded.player.predict_many(game.batch(cut, ROUNDS)) if game.dense and cut else None
        played(game, loaded, cut, ROUNDS)
        assert told(ledger) == told(whole.ledger)


@pytest.mark.parametrize("name", [name for name, game in GAMES.items() if game.dense])
def test_a_game_saved_early_goes_on_in_batches(name):
    game = GAMES[name]
    whole = Game(game.make())
    whole.learn_batch(game.batch(0, ROUNDS))
    for cut in CUTS[1:]:
        part = Game(game.make())
        part.learn_batch(game.batch(0, cut))
        ledger = again(part.ledger)
        Game(ledger.learner, ledger).learn_batch(game.batch(cut, ROUNDS))
        assert told(ledger) == told(whole.ledger)
