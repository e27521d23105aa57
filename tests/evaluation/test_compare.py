"""Comparing learners: the same rows and shuffles for all, the figures of one play each, whatever the threads."""

import gc
import statistics
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError, Option, SourceError, SpecError
from novikoff.core.executors import Threads
from novikoff.core.types import Batch, Domain, Labels, Sparse
from novikoff.evaluation.compare import InMemoryStream, Spread, compare, hold, order
from novikoff.numerics.coins import coin

PERCEPTRONS = ["perceptron:scale=none", "perceptron:bias=1,scale=none", "perceptron:normalize=true,scale=none"]


def noisy_arrays(rows=400, width=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, width))
    y = np.where(x @ rng.normal(size=width) + rng.normal(size=rows) >= 0, 1, -1)
    return x, y


def same(game, ledger):
    """Is this all of what the ledger says, to the bit?"""
    assert (game.rounds, game.mistakes, game.updates) == (ledger.rounds, ledger.mistakes, ledger.learner.updates)
    marks = [point for point in game.curve if point in ledger.curve]
    assert marks == ledger.curve
    assert game.curve[-1] == (ledger.rounds, ledger.mistakes)


def figures(comparison):
    """Everything but the times."""
    return [
        (one.learner, [(g.rounds, g.mistakes, g.expected, g.updates, g.curve, g.certificates) for g in one.games])
        for one in comparison.learners
    ]


@pytest.mark.parametrize("seed", [0, 5, -3, 2**64 - 1])
def test_a_shuffle_goes_by_the_coins_of_its_rows(seed):
    for rows, number in [(1, 0), (2, 3), (257, 0), (257, 1)]:
        own = coin(seed, "shuffle", number)
        assert order(rows, seed, number).tolist() == sorted(range(rows), key=lambda row: coin(own, "shuffle", row))


def test_shuffles_differ_by_number_and_seed():
    orders = {tuple(order(50, seed, number).tolist()) for seed in range(4) for number in range(4)}
    assert len(orders) == 16
    assert all(sorted(one) == list(range(50)) for one in orders)


def test_every_row_is_as_often_first_as_any_other():
    firsts = np.bincount([order(5, 0, number)[0] for number in range(2000)], minlength=5)
    assert np.all(np.abs(firsts - 400) < 5 * np.sqrt(2000 * 0.2 * 0.8))


def test_each_game_is_one_play_on_the_shuffled_rows():
    x, y = noisy_arrays()
    comparison = compare(PERCEPTRONS, (x, y), shuffles=3, seed=7)
    assert [one.learner for one in comparison.learners] == PERCEPTRONS
    for one in comparison.learners:
        for number, game in enumerate(one.games):
            rows = order(len(y), 7, number)
            ledger = nk.play(nk.make(one.learner, "learner"), (x[rows], y[rows]))
            same(game, ledger)
            assert game.certificates == (tuple(ledger.certify()) if number == 0 else ())


def test_without_shuffles_the_rows_are_played_as_they_came():
    stream = nk.synthetic.noisy(rounds=2000, width=9, nonzeros=3)
    comparison = compare(PERCEPTRONS, stream)
    for one in comparison.learners:
        ledger = nk.play(nk.make(one.learner, "learner"), stream)
        (game,) = one.games
        same(game, ledger)
        assert game.certificates == tuple(ledger.certify())
    assert (comparison.source, comparison.rows, comparison.shuffles) == (stream.name, 2000, 0)


def test_sparse_rows_in_many_batches_are_shuffled(tmp_path):
    stream = nk.synthetic.noisy(rounds=10_000, width=400, nonzeros=5, seed=3)
    path = tmp_path / "rows.svm"
    lines, rows = [], []
    for batch in stream.batches():
        for (indices, values), label in batch.rows():
            rows.append(((indices, values), label))
            lines.append(f"{label} " + " ".join(f"{i}:{float(v)!r}" for i, v in zip(indices, values, strict=True)))
    path.write_text("\n".join(lines) + "\n")
    source = nk.Svmlight(str(path), chunk=2**14)
    assert sum(1 for _ in source.batches()) > 10
    (one,) = compare(["perceptron:bias=1"], source, shuffles=2).learners
    for number, game in enumerate(one.games):
        shuffled = [rows[row] for row in order(len(rows), 0, number).tolist()]
        same(game, nk.play(nk.Perceptron(bias=1.0), shuffled))


def test_indices_and_plain_objects_are_shuffled():
    points = [(t * 37 % 101, 1 if t * 37 % 101 >= 50 else -1) for t in range(80)]
    names = [({"a": t % 3, f"b{t % 7}": 1}, 1 if t % 3 == 1 else -1) for t in range(90)]
    for spec, pairs in [("threshold-halving:n=100", points), ("perceptron", names)]:
        (one,) = compare([spec], pairs, shuffles=2).learners
        for number, game in enumerate(one.games):
            shuffled = [pairs[row] for row in order(len(pairs), 0, number).tolist()]
            ledger = nk.play(nk.make(spec, "learner"), shuffled)
            assert (game.mistakes, game.curve) == (ledger.mistakes, tuple(ledger.curve))


@given(st.data())
def test_a_shuffle_of_sparse_rows_moves_whole_rows(data):
    parts, rows = [], []
    for _ in range(data.draw(st.integers(1, 4))):
        own = data.draw(st.lists(st.lists(st.integers(0, 20), unique=True, max_size=4), max_size=5))
        kind = data.draw(st.sampled_from([np.float32, np.float64]))
        spare = data.draw(st.integers(0, 2))  # a part may begin in the middle of its arrays
        indptr = np.cumsum([spare, *map(len, own)]).astype(np.uint64)
        indices = np.array([0] * spare + [i for row in own for i in row], dtype=np.uint32)
        values = np.arange(len(indices), dtype=kind) + len(rows)
        parts.append(Batch(Sparse(indptr, indices, values, 21), np.ones(len(own), np.int8), len(rows) + 1))
        rows += [(i.tolist(), v.tolist()) for i, v in parts[-1].x.rows()]
    if not rows:
        return
    y = np.arange(len(rows))
    parts = [Batch(part.x, y[part.first - 1 : part.first - 1 + len(part)], part.first) for part in parts]
    way = np.array(data.draw(st.permutations(range(len(rows)))))
    shuffled = InMemoryStream(nk.Pairs([(0, 1)]), parts).shuffled(way)
    (batch,) = shuffled.batches()
    assert [(i.tolist(), v.tolist()) for i, v in batch.x.rows()] == [rows[row] for row in way]
    assert batch.y.tolist() == way.tolist()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_nothing_depends_on_the_number_of_threads(threads):
    x, y = noisy_arrays(rows=3000)
    learners = [*PERCEPTRONS, "constant"]
    alone = compare(learners, (x, y), shuffles=4, threads=1)
    assert figures(compare(learners, (x, y), shuffles=4, threads=threads)) == figures(alone)


def test_passes_go_through_the_same_order_again():
    x, y = noisy_arrays()
    (one,) = compare(["perceptron:scale=none"], (x, y), shuffles=1, passes=3).learners
    rows = order(len(y), 0, 0)
    ledger = nk.play(nk.Perceptron(), (x[rows], y[rows]), passes=3)
    same(one.games[0], ledger)
    assert one.games[0].rounds == 1200


def test_randomized_learner_has_its_own_seed_per_game():
    pairs = [(t * 37 % 101, 1 if t * 37 % 101 >= 50 else -1) for t in range(60)]
    spec = "consistent:[thresholds:n=100],random=true"
    free, fixed = compare([spec, spec + ",seed=5"], pairs, shuffles=4, seed=11).learners
    for number in range(4):
        shuffled = [pairs[row] for row in order(60, 11, number).tolist()]
        for one, seed in [(free, 11 + number), (fixed, 5)]:
            ledger = nk.play(nk.Consistent(nk.classes.thresholds(100), random=True, seed=seed), shuffled)
            assert (one.games[number].mistakes, one.games[number].expected) == (ledger.mistakes, ledger.expected)
    assert free.expected == fixed.expected  # the chances do not depend on the coins here
    assert {game.mistakes for game in free.games} != {game.mistakes for game in fixed.games}
    assert compare(["perceptron"], noisy_arrays()).learners[0].expected is None


def test_functions_and_names_make_learners():
    def plain(seed):
        return nk.Perceptron()

    seen = []
    x, y = noisy_arrays()
    learners = {"mine": lambda seed: seen.append(seed) or nk.Perceptron(bias=1.0), "plain": plain}
    named = compare(learners, (x, y), shuffles=2, seed=40, threads=1)
    assert [one.learner for one in named.learners] == ["mine", "plain"]
    assert seen[-2:] == [40, 41]  # one was made before, to see how it reads arrays
    assert figures(named)[0][1] == figures(compare(["perceptron:bias=1,scale=none"], (x, y), shuffles=2, seed=40))[0][1]
    assert compare([plain], (x, y)).learners[0].learner == "plain"


class Busy(nk.Constant):
    """Says +1, and counts every round as a change."""

    def __init__(self):
        super().__init__()
        self.updates = np.int64(0)

    def learn_one(self, x, y):
        self.updates += 1


def test_updates_are_those_that_the_learner_counts_and_mistakes_where_it_does_not():
    busy, constant = compare({"busy": lambda seed: Busy(), "constant": "constant"}, noisy_arrays()).learners
    (game,) = busy.games
    assert (game.updates, type(game.updates)) == (400, int)
    assert game.mistakes == constant.games[0].mistakes == constant.games[0].updates < 400


def test_defaults_are_for_learners_that_leave_them_out():
    x, y = noisy_arrays()
    given = compare(["perceptron", "perceptron:normalize=false", "constant"], (x, y), defaults={"normalize": True})
    plain = compare(["perceptron:normalize=true", "perceptron", "constant"], (x, y))
    assert [own for _, own in figures(given)] == [own for _, own in figures(plain)]


def test_means_and_deviations_are_those_of_statistics():
    x, y = noisy_arrays()
    (one,) = compare(["perceptron"], (x, y), shuffles=6).learners
    rates = [game.mistakes / 400 for game in one.games]
    assert one.rate.mean == pytest.approx(statistics.mean(rates), rel=1e-15)
    assert one.rate.deviation == pytest.approx(statistics.stdev(rates), rel=1e-12)
    assert one.rate.standard_error == pytest.approx(statistics.stdev(rates) / 6**0.5, rel=1e-12)
    assert one.updates.mean == pytest.approx(statistics.mean([game.updates for game in one.games]))
    assert Spread.of([3.0]) == Spread(3.0, None, 1)
    rounds, mean, deviation = one.curve()
    assert rounds.tolist() == list(range(1, 401))
    assert (mean[-1], deviation[-1]) == (pytest.approx(one.rate.mean), pytest.approx(one.rate.deviation))
    at = [dict(game.curve)[100] / 100 for game in one.games]
    assert (mean[99], deviation[99]) == (pytest.approx(statistics.mean(at)), pytest.approx(statistics.stdev(at)))


class Counted:
    """Ten batches of ten rows; how often it is read, and in the same array each time."""

    name, domain, labels, rereadable = "counted", Domain("vector", 2), Labels(), False

    def __init__(self):
        self.passes = self.given = 0

    def batches(self, start=None):
        self.passes += 1
        x, y = np.empty((10, 2)), np.empty(10, dtype=np.int8)
        for number in range(10):
            x[:] = np.random.default_rng(number).normal(size=(10, 2))
            y[:] = np.where(x[:, 0] + x[:, 1] >= 0.1, 1, -1)
            self.given += 1
            yield Batch(x, y, 10 * number + 1)


def test_the_source_is_read_once_and_its_arrays_may_be_used_again():
    stream = Counted()
    comparison = compare(["perceptron", "constant"], stream, passes=2)
    assert stream.passes == 1
    assert comparison.learners[0].games[0].rounds == 200
    assert (
        comparison.learners[0].games[0].mistakes
        == nk.play(nk.Perceptron(), InMemoryStream(stream, [*hold(Counted()).batches()]), passes=2).mistakes
    )
    rows = np.concatenate([np.random.default_rng(number).normal(size=(10, 2)) for number in range(10)])
    y = np.where(rows.sum(axis=1) >= 0.1, 1, -1)
    assert comparison.learners[0].games[0].mistakes == nk.play(nk.Perceptron(), (rows, y), passes=2).mistakes


def test_only_the_first_rows_are_held_if_requested():
    stream = Counted()
    comparison = compare(["perceptron"], stream, rounds=25)
    assert (comparison.rows, stream.given) == (25, 3)
    assert comparison.learners[0].games[0].rounds == 25


def test_a_source_that_does_not_fit_is_refused_and_the_advice_is_good():
    with pytest.raises(
        SourceError, match=r"must fit in 1,000 bytes of memory: the first 60 rows of counted .* rounds=(\d+)\."
    ) as error:
        hold(Counted(), limit=1000)
    fit = next(part.value for part in error.value.do.parts if isinstance(part, Option))
    assert 40 <= fit < 60
    assert len(hold(Counted(), rounds=fit, limit=1000)) == fit
    sparse = nk.synthetic.noisy(rounds=5000, width=100, nonzeros=4)
    with pytest.raises(SourceError, match="rounds="):
        hold(sparse, limit=5000 * 4 * 12)
    assert hold(sparse, limit=5000 * (4 * 12 + 9) + 100).size == 5000 * (4 * 12 + 9) + 8 * sum(
        1 for _ in sparse.batches()
    )


def test_held_stream_resumes_at_the_given_position():
    held = hold(Counted())
    assert [batch.first for batch in held.batches()] == list(range(1, 101, 10))
    assert [batch.first for batch in held.batches({"row": 70})] == [71, 81, 91]
    assert len(held) == 100


def test_a_shuffle_is_dropped_after_its_last_game(monkeypatch):
    live, most = weakref.WeakSet(), []
    whole = InMemoryStream.shuffled

    def shuffled(self, way):
        gc.collect()
        made = whole(self, way)
        live.add(made)
        most.append(len(live))
        return made

    monkeypatch.setattr(InMemoryStream, "shuffled", shuffled)
    gc.freeze()  # what other tests left need not be looked through each time
    compare(["perceptron", "constant"], noisy_arrays(), shuffles=5, threads=1)
    gc.unfreeze()
    assert len(most) == 5
    assert max(most) <= 2  # that of the last game may not have been collected yet


def test_bad_requests_are_refused_before_reading():
    stream = Counted()
    for learners, error, words in [
        ([], SpecError, "compare needs at least one learner"),
        ("perceptron", SpecError, r"\['perceptron'\]"),
        ([nk.Perceptron()], SpecError, "lambda seed: Perceptron"),
        (["perceptron", "nothing"], SpecError, "nothing"),
        (["perceptron", "bisection"], SpecError, "bisection"),
    ]:
        with pytest.raises(error, match=words):
            compare(learners, stream)
    with pytest.raises(InputError, match="shuffles"):
        compare(["perceptron"], stream, shuffles=-1)
    with pytest.raises(InputError, match="rounds"):
        compare(["perceptron"], stream, rounds=0)
    assert stream.passes == 0
    for threads in (0, -1):
        with pytest.raises(InputError, match="threads"):
            compare(["perceptron"], noisy_arrays(), shuffles=2, threads=threads)
        with pytest.raises(InputError, match="threads"):
            compare(["perceptron"], noisy_arrays(), threads=threads)


@pytest.mark.parametrize("spec", ["linear-mixture-regression", "adagrad:loss=absolute"])
def test_regression_learners_are_not_compared_with_classifiers(spec):
    x, _ = noisy_arrays()
    with pytest.raises(MismatchError, match=f"must have the same task: {spec} predicts numbers, and arrays"):
        compare(["perceptron", spec], (x, x[:, 0]))


def test_an_empty_source_is_refused():
    with pytest.raises(SourceError, match="must not be empty"):
        compare(["perceptron"], [])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_task_that_fails_is_reported_and_the_others_end(threads):
    ended = threading.Event()

    def good(over):
        return 1

    def late(over):
        ended.wait(0.05)
        raise InputError("first")

    def early(over):
        raise InputError("second")

    def endless(over):
        while not over():
            ended.wait(0.001)

    with pytest.raises(InputError, match="first"):
        Threads(threads).map(lambda over, task: task(over), [good, late, early, endless])


def test_a_learner_that_cannot_take_the_rows_is_reported():
    with pytest.raises(nk.NovikoffError, match="needs examples of domain index"):
        compare(["perceptron", "threshold-halving:n=10"], noisy_arrays(), shuffles=2)


def test_progress_hears_of_every_game():
    heard = []
    compare(["perceptron", "constant"], noisy_arrays(), shuffles=3, progress=lambda done, of: heard.append((done, of)))
    assert heard == [(done, 6) for done in range(1, 7)]


def test_many_labels_are_played_as_they_are():
    table = np.array([[0, 1, 2, 1], [2, 2, 1, 0], [0, 1, 2, 0]])
    stream = [(t * 7 % 4, int(table[2][t * 7 % 4])) for t in range(40)]
    (one,) = compare([lambda seed: nk.Halving(nk.classes.table(table))], stream, shuffles=2).learners
    shuffled = [stream[row] for row in order(40, 0, 1).tolist()]
    assert one.games[1].mistakes == nk.play(nk.Halving(nk.classes.table(table)), shuffled).mistakes
