"""What watches a game so that a classifier can be kept: the reservoir, the survivors, the average."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import novikoff as nk
from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.observer import Calls
from novikoff.core.types import Batch, StepResult
from novikoff.game.reservoir import HypothesisReservoir


class Counter:
    """A learner whose hypothesis is the number of examples it has seen."""

    conservative = True

    def __init__(self):
        self.seen = 0

    def predict_one(self, x):
        return 1

    def learn_one(self, x, y):
        self.seen += 1

    def state(self):
        return {"seen": self.seen}


def watch(reservoir, learner, rounds, batch=10_000):
    """Let it watch so many rounds, in batches."""
    ledger = SimpleNamespace(player=learner, passes=1)
    for start in range(0, rounds, batch):
        end = min(start + batch, rounds)
        while learner.seen < end:
            if reservoir.due(ledger, end - learner.seen) == 0:
                reservoir.look(ledger)
            part = reservoir.due(ledger, end - learner.seen)
            y = np.ones(part, dtype=np.int8)
            reservoir.see(Batch([None] * part, y, learner.seen + 1), StepResult(y, None, None))
            learner.seen += part


def kept_game(environment, seed=0, candidates=9, **options):
    """A Perceptron's game with these coins."""
    ledger = nk.Ledger(nk.Perceptron(bias=1.0))
    ledger.reservoir = HypothesisReservoir(ledger.learner, candidates, seed, averaging=True)
    return nk.play(ledger.learner, environment, ledger=ledger, **options)


def test_the_present_hypothesis_has_predicted_every_round_since_its_last_mistake():
    """Hypotheses 0, 1 and 3 predict 1, 2 and 3 rounds; of equal ones the older would be the candidate."""
    rows = [([1.0], -1), ([1.0], -1), ([1.0], 1), ([1.0], 1), ([1.0], 1), ([1.0], 1)]
    ledger = kept_game(rows, candidates=1)
    assert ledger.mistakes == 2
    assert ledger.reservoir.indices() == [3]


def data(rows=700, seed=0, width=6):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, width)), 3) * (rng.random((rows, width)) < 0.7)
    return x, np.where(x[:, 0] + 0.4 * rng.normal(size=rows) > 0, 1, -1)


def test_every_hypothesis_is_drawn_with_the_same_chance():
    rounds, seeds = 8, 8_000
    found = np.zeros(rounds)
    for seed in range(seeds):
        learner = Counter()
        reservoir = HypothesisReservoir(learner, seed=seed)
        watch(reservoir, learner, rounds, batch=1 + seed % 5)
        assert reservoir.drawn == {"seen": reservoir.index}
        found[reservoir.index] += 1
    expected = seeds / rounds
    assert np.sum((found - expected) ** 2 / expected) < 24.3  # chi-square, 7 degrees of freedom: 1 in 1,000


def test_games_of_one_length_draw_different_hypotheses_unless_they_have_a_seed():
    assert len({nk.play(nk.Perceptron(), data(), candidates=1).reservoir.index for _ in range(20)}) > 1
    assert len({kept_game(data(), seed=5).reservoir.index for _ in range(5)}) == 1


def test_a_million_rounds_take_a_few_copies():
    copies = []
    for seed in range(30):
        learner = Counter()
        reservoir = HypothesisReservoir(learner, seed=seed)
        watch(reservoir, learner, 1_000_000)
        copies.append(reservoir._copies)
    assert abs(np.mean(copies) - math.log(1e6)) < 3.0


def test_the_survivors_are_the_longest_stretches_between_mistakes():
    x, y = data()
    ledger = nk.play(nk.Perceptron(bias=1.0), (x, y), record=True, candidates=7)
    ends = [0, *(np.flatnonzero(ledger.recorded() != y) + 1).tolist(), len(y)]
    stretches = sorted(((b - a, -a) for a, b in pairwise(ends) if b > a), reverse=True)
    assert ledger.reservoir.indices() == sorted(-first for _, first in stretches[:7])


def test_a_learner_that_changes_without_mistakes_has_candidates_at_equal_distances():
    ledger = nk.play(nk.ThresholdHalving(20), [(i % 21, 1 if i % 21 >= 7 else -1) for i in range(100)], candidates=5)
    assert ledger.reservoir.indices() == [0, 20, 40, 60, 80]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_average_is_the_mean_of_all_weights(normalize, form):
    x, y = data()
    learner = nk.Perceptron(bias=2.0, normalize=normalize)
    ledger = nk.play(learner, (form(x), y), candidates=HypothesisReservoir(learner, averaging=True))
    norms = np.linalg.norm(x, axis=1, keepdims=True) if normalize else np.ones((len(x), 1))
    rows = np.c_[x / np.where(norms > 0, norms, 1.0), np.full(len(x), 2.0)]
    w, total = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for row, label in zip(rows, y, strict=True):
        total += w
        if (1 if w @ row >= 0 else -1) != label:
            w = w + label * row
    mean = np.append(learner.weights, learner.bias_weight) - ledger.reservoir.average.total / len(y)
    np.testing.assert_allclose(mean, total / len(y), rtol=1e-10, atol=1e-12)


def plain(reservoir):
    """All that is kept, without whether the rounds were fixed in advance."""
    state = {name: value for name, value in reservoir.state().items() if name not in ("average", "fixed", "exceeded")}
    return repr(state), reservoir.average.total


@pytest.mark.parametrize("sizes", [(1,), (7, 13), (256,), (5000,)])
def test_batches_of_any_size_keep_the_same(sizes):
    x, y = data()
    whole = kept_game((x, y))
    learner = nk.Perceptron(bias=1.0)
    game = nk.Game(learner, nk.Ledger(learner, reservoir=HypothesisReservoir(learner, 9, 0, averaging=True)))
    start = turn = 0
    while start < len(y):
        stop = start + sizes[turn % len(sizes)]
        game.learn_batch(Batch(x[start:stop], y[start:stop].astype(np.int8), start + 1))
        start, turn = stop, turn + 1
    (one, total), (two, other) = plain(whole.reservoir), plain(game.ledger.reservoir)
    assert one == two
    np.testing.assert_array_equal(total, other)


def test_single_rounds_keep_the_same_as_a_sweep():
    x, y = data()
    swept = kept_game((x, y)).reservoir
    looped = kept_game(list(zip(map(np.array, x), y.tolist(), strict=True))).reservoir
    (one, total), (two, other) = plain(swept), plain(looped)
    assert one == two
    np.testing.assert_array_equal(total, other)


def test_resumed_game_keeps_the_hypotheses_of_an_uninterrupted_game(tmp_path):
    x, y = data()
    whole = kept_game(nk.Arrays(x, y))
    for stop in (1, 64, 333):
        part = kept_game(nk.Arrays(x, y), rounds=stop)
        nk.save(part, tmp_path / "m.nk")
        again = nk.load(tmp_path / "m.nk")
        nk.play(again.learner, nk.Arrays(x, y), ledger=again, resume=True, candidates=9)
        (one, total), (two, other) = plain(whole.reservoir), plain(again.reservoir)
        assert one == two
        np.testing.assert_array_equal(total, other)


def test_a_second_pass_changes_nothing():
    x, y = data()
    once, twice = kept_game((x, y)).reservoir, kept_game((x, y), passes=3).reservoir
    assert (once.rounds, once.mistakes, once.index, once.indices()) == (
        twice.rounds,
        twice.mistakes,
        twice.index,
        twice.indices(),
    )
    assert twice.final is not None
    np.testing.assert_array_equal(once.average.total, twice.average.total)


class Stop(Exception):  # noqa: N818 - the player asked for it
    pass


def stop_at(rounds):
    def progress(ledger):
        if ledger.rounds == rounds:
            raise Stop

    return progress


def test_a_game_that_was_interrupted_and_taken_up_again_has_the_rounds_of_its_source(tmp_path):
    rows = list(zip(*data(100), strict=True))
    ledger = nk.Ledger(nk.Perceptron())
    with pytest.raises(Stop):
        nk.play(ledger.learner, rows, ledger=ledger, candidates=5, observers=[Calls(stop_at(40))])
    assert not ledger.reservoir.fixed
    nk.save(ledger, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    nk.play(again.learner, rows, ledger=again, resume=True)
    assert again.reservoir.rounds == 100
    assert again.reservoir.fixed


def test_rounds_after_those_requested_were_not_fixed_in_advance(tmp_path):
    source = nk.Arrays(*data())
    ledger = nk.play(nk.Perceptron(), source, rounds=100, candidates=5)
    assert ledger.reservoir.fixed
    nk.play(ledger.learner, source, rounds=50, ledger=ledger, resume=True)
    assert ledger.reservoir.rounds == 150
    assert not ledger.reservoir.fixed
    nk.save(ledger, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    nk.play(again.learner, source, ledger=again, resume=True)
    assert again.reservoir.rounds == 700
    assert not again.reservoir.fixed


def test_the_end_of_a_second_pass_does_not_fix_the_rounds_of_the_first():
    rows = list(zip(*data(100), strict=True))
    ledger = nk.Ledger(nk.Perceptron())
    with pytest.raises(Stop):
        nk.play(ledger.learner, rows, ledger=ledger, candidates=5, observers=[Calls(stop_at(40))])
    nk.play(ledger.learner, rows, ledger=ledger)
    assert (ledger.passes, ledger.reservoir.rounds) == (2, 40)
    assert not ledger.reservoir.fixed


def test_learners_of_other_losses_have_no_classifiers():
    losses = np.random.default_rng(0).random((20, 3))
    with pytest.raises(InputError, match="candidates need a classifier"):
        nk.play(nk.ExponentialWeights(3, loss="table"), losses, candidates=5)


def test_hypotheses_are_kept_from_the_first_round():
    learner = nk.Perceptron()
    ledger = nk.play(learner, data())
    with pytest.raises(InputError, match="from the first round"):
        nk.play(learner, data(), ledger=ledger, candidates=5)
    with pytest.raises(InputError, match="from 1 to 10,000"):
        HypothesisReservoir(learner, 0)


def test_as_many_as_can_be_judged_may_be_kept():
    for candidates in (0, -3, 10_001, 10**12):
        with pytest.raises(InputError, match=r"from 1 to 10,000: got "):
            HypothesisReservoir(nk.Perceptron(), candidates)


@pytest.mark.parametrize(
    ("part", "damaged"),
    [
        ("survivors", damaged)
        for damaged in ([[-5, 0]], [[5, 5]], [[5, -(10**6)]], [[10**9, 0]], [[0, 0]], [[1, 0], [2, 0]], [[1.5, -0.5]],
                        {}, [1, 2], [[1]], "ab", None, [[1, 2, 3]], [[2**70, 0]], [[1, 0]] * 9)
    ]
    + [("candidates", 0), ("candidates", 2**70), ("candidates", 2.5), ("mistakes", 2**63), ("since", -1),
       ("rounds", 2**63), ("rounds", 10)],
)  # fmt: skip
def test_a_damaged_state_is_refused(part, damaged):
    x, y = data()
    learner = nk.Perceptron(bias=1.0)
    state = nk.play(learner, (x, y), candidates=7).reservoir.state()
    assert HypothesisReservoir.restore(state, learner).state() == state
    with pytest.raises(ModelFileError):
        HypothesisReservoir.restore({**state, part: damaged}, learner)


def test_labels_that_are_no_numbers_are_counted_as_mistakes():
    reservoir = HypothesisReservoir(nk.Perceptron(), 3)
    reservoir.see(
        Batch([0] * 4, np.array([1, 1, -1, 1], np.int8), 1),
        StepResult(np.array([1, None, -1, 2**70], dtype=object), None, None),
    )
    assert reservoir.mistakes == 2
    assert reservoir.indices() == [0, 2]


def test_nonconservative_learner_has_no_survivors():
    reservoir = HypothesisReservoir(nk.ThresholdHalving(20), 3)
    reservoir.see(Batch([0] * 4, np.ones(4, np.int8), 1), StepResult(np.array([1, -1, -1, 1], np.int8), None, None))
    assert (reservoir.mistakes, reservoir.state()["survivors"], reservoir.state()["since"]) == (2, [], 0)
