"""The processes of a whole run begin with the games of different learners (growing.py).

Loops are compiled once, not by every process (numerics/caching.py); this way processes do not wait for one another.
"""

import warnings
from contextlib import suppress

WHOLE = 5000
"""Fewest tests for which the learners are played first: a folder of tests needs the loops of a few."""


def play_others(number, count):
    """Play a game of every `count`-th learner, from that of this number on."""
    from growing import GAMES, ROUNDS
    from novikoff.game.game import Game

    for name in list(GAMES)[number::count]:
        game = GAMES[name]
        with suppress(Exception), warnings.catch_warnings():  # what fails is for the tests to report
            warnings.simplefilter("ignore")
            by_rows = Game(game.make())
            for x, y in game.rows:
                by_rows.learn_one(x, y)
            by_rows.ledger.certify(fixed=False)
            if game.dense:
                in_batches = Game(game.make())
                in_batches.learn_batch(game.batch(0, ROUNDS))
                in_batches.player.predict_many(game.batch(0, ROUNDS))
