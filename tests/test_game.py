"""The game: who may play whom, and what play does with each kind of environment."""

import itertools

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import InputError, MismatchError, SourceError

STREAM = [(5, -1), (8, -1), (9, 1)]


def test_a_driven_game_and_play_agree():
    game = nk.Game(nk.ThresholdHalving(10))
    said = []
    for x, y in STREAM:
        said.append(game.predict_one(x))
        assert game.learn_one(x, y) == said[-1]
    played = nk.play(nk.ThresholdHalving(10), STREAM, record=True)
    assert said == played.said().tolist() == [1, 1, -1]
    assert game.ledger.mistakes == played.mistakes == 3
    assert game.ledger.certify() == played.certify()


def test_play_takes_arrays_lists_generators_and_streams():
    x, y = np.array([x for x, _ in STREAM]), np.array([y for _, y in STREAM])
    for environment in [(x, y), STREAM, iter(STREAM), nk.Arrays(x, y), nk.Pairs(STREAM)]:
        assert nk.play(nk.ThresholdHalving(10), environment).mistakes == 3


def test_rounds_cut_an_endless_stream():
    endless = ((x, 1 if x >= 3 else -1) for x in itertools.cycle(range(11)))
    ledger = nk.play(nk.ThresholdHalving(10), endless, rounds=1000)
    assert ledger.rounds == 1000
    assert nk.play(nk.ThresholdHalving(10), STREAM, rounds=0).rounds == 0


def test_passes_go_through_again():
    ledger = nk.play(nk.ThresholdHalving(10), STREAM, passes=3)
    assert (ledger.rounds, ledger.passes, ledger.mistakes) == (9, 3, 3)
    with pytest.raises(InputError, match="read again"):
        nk.play(nk.ThresholdHalving(10), iter(STREAM), passes=2)


def test_rounds_and_passes_together_stop_at_the_first_limit():
    assert nk.play(nk.ThresholdHalving(10), STREAM, rounds=4, passes=3).rounds == 4


def test_progress_is_called_with_the_ledger():
    seen = []
    x = np.arange(1000) % 11
    nk.play(
        nk.Halving(nk.classes.thresholds(10)), (x, np.where(x > 4, 1, -1)), progress=lambda led: seen.append(led.rounds)
    )
    assert seen == [256, 512, 768, 1000]


def test_a_mismatch_names_both_domains():
    with pytest.raises(MismatchError, match=r"index\[11\].*vector\[3\]"):
        nk.play(nk.ThresholdHalving(10), (np.zeros((4, 3)), [1, -1, 1, -1]))
    with pytest.raises(MismatchError, match="must be a stream"):
        nk.play(nk.ThresholdHalving(10), 17)


def test_a_game_against_an_adversary_must_have_an_end():
    from novikoff.adversaries.grid_bisection import GridBisection

    with pytest.raises(InputError, match="must have an end"):
        nk.play(nk.ThresholdHalving(10), GridBisection(10))


def test_an_adversary_of_two_labels_refuses_a_learner_of_many():
    from novikoff.adversaries.contrarian import Contrarian

    learner = nk.Halving(nk.classes.table([[0, 1, 2]]))
    with pytest.raises(MismatchError, match="3 labels"):
        nk.play(learner, Contrarian(learner.domain), rounds=3)


@pytest.mark.parametrize("arguments", [{"rounds": -1}, {"passes": 0}])
def test_impossible_lengths_are_refused(arguments):
    with pytest.raises(InputError):
        nk.play(nk.ThresholdHalving(10), STREAM, **arguments)


def test_an_error_in_a_batch_names_the_round():
    x = np.arange(600) % 11
    x[555] = 99
    y = np.where(x > 4, 1, -1)
    with pytest.raises(InputError, match="round 556"):
        nk.play(nk.Halving(nk.classes.thresholds(10)), (x, y))
    with pytest.raises(InputError, match="round 556"):
        nk.play(nk.ThresholdHalving(10), (x, y))


def test_many_labels_pass_through_and_two_values_can_be_many():
    rows = [[0, 1, 2], [0, 2, 1], [1, 1, 1]]
    ledger = nk.play(nk.Halving(nk.classes.table(rows)), (np.array([0, 1, 2]), np.array([0, 2, 1])))
    assert ledger.learner.survivor().startswith("row 1")
    two = nk.Arrays(np.array([0, 1, 2]), np.array([1, 1, 0]))
    assert two.labels == nk.Labels(0, 1)
    nk.play(nk.Halving(nk.classes.table(rows)), two)
    with pytest.raises(MismatchError, match="two labels"):
        nk.play(nk.ThresholdHalving(5), nk.Arrays(np.array([0, 1, 2]), np.array([0, 2, 1])))
    with pytest.raises(MismatchError, match="labels 0 .. 2"):
        nk.play(nk.Halving(nk.classes.table(rows)), nk.Arrays(np.array([0, 1]), np.array([-1, 1])))


def test_an_empty_stream_is_an_error():
    with pytest.raises(SourceError, match="empty"):
        nk.play(nk.ThresholdHalving(5), [])
