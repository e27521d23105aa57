"""Labels that come late, out of order, twice or never: what is counted, promised, refused and saved."""

import dataclasses

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff.core.errors import InputError, LateError, ModelFileError
from novikoff.game.delayed.pending import Pending
from novikoff.game.delayed.theorems import late_facts
from novikoff.game.ledger_state import restore, state_of
from novikoff.game.persistence import snapshot
from novikoff.game.reservoir import HypothesisReservoir


def late_run(learner, stream, delay):
    """What theorems on late labels are told: blocks are served, and their labels come from the last to the first."""
    game, stream = nk.Game(learner), list(stream)
    for start in range(0, len(stream), delay + 1):
        block = range(start, min(start + delay + 1, len(stream)))
        for t in block:
            game.predict_one(stream[t][0], t)
        for t in reversed(block):
            game.learn_one(t, stream[t][1])
    ledger, seen = game.ledger, []
    of_arrivals = tuple(one for one in ledger.certify() if not one.theorem.startswith("delayed_"))
    learner.promises = (seen.append,)
    ledger.certify()
    return dataclasses.replace(seen[0], arrivals=of_arrivals, tracked=None)


def served(run, **values):
    """The run, of which other things are told that were served."""
    return dataclasses.replace(run, late=dataclasses.replace(run.late, **values))


def of_late(game, learner=nk.Perceptron):
    """On late labels: the Perceptron, or another learner, and (`game`) how it is broken."""

    def whole():
        return late_run(learner(), cases.apart(30), 3)

    return cases.Case(
        cases.VECTORS, lambda stream: late_run(learner(), stream, len(stream) // 3), cases.apart(30),
        lambda: late_run(learner(), [row for row in cases.orthogonal(9, 1) for _ in range(5)], 4),
        game,
        ((lambda: served(whole(), labelled=59), "game in order of arrival"),
         (lambda: dataclasses.replace(whole(), arrivals=tuple(
             dataclasses.replace(one, bound=None, status="void", reason="it was broken") for one in whole().arrivals)),
          "no valid bound"),),
    )  # fmt: skip


def test_log_loss_too_small_for_the_mistakes_bounds_none():
    """A log loss that leaves rounds with new labels out is below ln 2 per mistake."""
    run = late_run(nk.Perceptron(), cases.apart(30), 3)
    whole = dataclasses.replace(run.arrivals[0], quantity="log loss", observed=0.7 * run.mistakes, bound=100.0)
    less = dataclasses.replace(whole, observed=0.69 * run.mistakes, bound=run.mistakes / 2.0)
    assert run.mistakes > 0
    assert late_facts.least(dataclasses.replace(run, arrivals=(whole,))) == (144, whole)
    assert late_facts.least(dataclasses.replace(run, arrivals=(whole, less))) == (144, whole)
    assert late_facts.least(dataclasses.replace(run, arrivals=(less,))) is None


def test_clock_never_goes_back():
    pending = Pending(most=9, expire_seconds=5.0)
    pending.now(10.0)
    game = nk.Game(nk.Perceptron(), most_pending=9, expire_seconds=5.0)
    game.predict_one([1.0], id="a", at=10.0)
    game.predict_one([1.0], id="b", at=3.0)
    assert (pending.now(3.0), pending.clock) == ([], 10.0)
    assert game.ledger.late.expired == 0
    game.predict_one([1.0], id="c", at=14.5)
    assert game.ledger.late.expired == 0  # b waits since 10, not since 3
    game.predict_one([1.0], id="d", at=15.5)
    assert game.ledger.late.expired == 2


CASES = {
    "delayed_mistakes": of_late(lambda: served(late_run(nk.Perceptron(), cases.apart(30), 3), mistakes=60, changed=0)),
    "delayed_conservative": of_late(
        lambda: served(late_run(nk.Perceptron(), cases.apart(30), 3), mistakes=60, others=3)
    ),
    "delayed_drawn": dataclasses.replace(
        of_late(None, lambda: nk.Hedge([nk.Perceptron(), nk.Perceptron(bias=1.0)])), tight=None
    ),
}
"""Cases for tests/test_every_theorem.py."""

LEARNERS = {
    "perceptron": nk.Perceptron,
    "scaled": lambda: nk.Scaled(nk.Perceptron(bias=1.0)),
    "linear-mixture": lambda: nk.LinearMixture(fast=True),
    "ftrl": nk.FTRL,
    "second-order": nk.SecondOrderPerceptron,
    "rbp": lambda: nk.RandomizedBudgetPerceptron(20, "rbf", gamma=0.5),
    "multiclass": nk.MulticlassPerceptron,
    "many-linear-mixture": lambda: nk.MulticlassLinearMixture(fast=True),
    "hedge": lambda: nk.make("hedge:learners=[[perceptron:bias=1],[ftrl]]", "learner"),
}


def rows(rng, count, multiclass=False, noise=0.3):
    x = rng.normal(size=(count, 4))
    y = np.where(x @ [1.0, -1.0, 0.5, 0.0] + noise * rng.normal(size=count) > 0, 1, -1)
    return x, (np.where(y == 1, np.where(x[:, 3] > 0, "a", "b"), "c") if multiclass else y).tolist()


def schedule(rng, count, delay, missing=0.1):
    """What happens, in order: ("predict", t) and ("label", t), some labels twice and some never."""
    delays = rng.geometric(1.0 / (delay + 1.0), count) - 1 if delay else np.zeros(count)
    events = [(t, 0, rng.random(), "predict", t) for t in range(count)]
    for t in range(count):
        if rng.random() >= missing:
            at = t + delays[t]
            events.append((at, 1, rng.random(), "label", t))
            if rng.random() < 0.1:
                events.append((at + rng.integers(0, 20), 2, rng.random(), "label", t))
    return [event[3:] for event in sorted(events)]


def played(game, x, y, events):
    """M and F, counted without the ledger."""
    served, wrong, different, done = {}, 0, 0, set()
    for what, t in events:
        if what == "predict":
            served[t] = game.predict_one(x[t], f"row {t}")
        elif t not in done:
            now = game.predict_one(x[t]) if game.ledger.rounds or not game.player.numbered else y[t]
            assert game.learn_one(f"row {t}", y[t]) == served[t]
            wrong, different = wrong + (served[t] != y[t]), different + (served[t] != now)
            done.add(t)
        else:
            before = state_of(game.ledger)
            assert game.learn_one(f"row {t}", y[t]) == served[t]
            assert same(before["late"] | {"pending": None}, state_of(game.ledger)["late"] | {"pending": None})
    return wrong, different


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def check(learner, rng, count, delay):
    multiclass = numbered(learner)
    game = nk.Game(learner)
    x, y = rows(rng, count, multiclass)
    wrong, different = played(game, x, y, schedule(rng, count, delay))
    late = game.ledger.late
    assert late.mistakes == wrong
    if not game.player.draws:
        assert late.changed == different
    promised = [one for one in game.ledger.certify() if one.theorem.startswith("delayed_")]
    evicted = [one.reason for one in promised if one.status == "void"]
    assert all("rbp_no_eviction" in reason for reason in evicted), promised
    assert not any(one.status == "violated" for one in promised), promised
    assert all(one.observed == wrong for one in promised)
    return promised


def numbered(learner):
    return nk.Game(learner).player.numbered


def schedules(name, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        promised = check(LEARNERS[name](), rng, int(rng.integers(5, 150)), int(rng.integers(0, 60)))
        names = [one.theorem for one in promised]
        assert "delayed_mistakes" in names or name in ("hedge", "rbp")  # hedge draws, and rbp where one was evicted
        assert ("delayed_drawn" in names) == (name == "hedge")
        assert "delayed_conservative" in names or name not in ("perceptron", "second-order", "multiclass")


@pytest.mark.parametrize("name", LEARNERS)
def test_no_schedule_violates_either_bound(name):
    schedules(name, range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_none_of_a_thousand_schedules_violates_either_bound(name):
    schedules(name, range(3, 115))


def test_without_delay_nothing_changes_and_the_bound_is_the_learners():
    rng = np.random.default_rng(0)
    x, y = rows(rng, 200)
    late, plain = nk.Game(nk.Perceptron()), nk.Game(nk.Perceptron())
    for t in range(200):
        late.predict_one(x[t], t)
        late.learn_one(t, y[t])
        plain.learn_one(x[t], y[t])
    first, second, third, *_ = late.ledger.certify()
    assert (first.theorem, second.theorem) == ("delayed_mistakes", "delayed_conservative")
    assert first.bound == second.bound == third.bound == plain.ledger.certify()[0].bound
    assert snapshot(late.ledger).meta["state"] == snapshot(plain.ledger).meta["state"]


def test_the_adversary_meets_both_bounds():
    game, tau, k = nk.Game(nk.Perceptron(bias=0.0)), 2, 3
    for row in np.eye(k):
        ids = [f"{row} {i}" for i in range(tau + 1)]
        for id in ids:
            game.predict_one(row, id)
        for id in ids:
            game.learn_one(id, -1)
    late = game.ledger.late
    assert (late.mistakes, late.arrival_mistakes, late.changed, late.others) == (9, 3, 6, 2)
    assert [one.bound for one in game.ledger.certify()[:2]] == [9, 9]


@pytest.mark.parametrize("name", ["perceptron", "linear-mixture", "multiclass", "hedge"])
def test_batches_match_rounds_by_id(name):
    multiclass = numbered(LEARNERS[name]())
    x, y = rows(np.random.default_rng(1), 240, multiclass)
    numbers = {label: code for code, label in enumerate(dict.fromkeys(y[39::-1]))}  # as they come
    codes = np.array([numbers[label] for label in y]) if multiclass else np.array(y)
    one, batched = nk.Game(LEARNERS[name]()), nk.Game(LEARNERS[name]())
    for start in range(0, 240, 40):
        group = np.arange(start, start + 40)
        for t in group:
            one.predict_one(x[t], int(t))
        served = batched.predict_batch(nk.Batch(x[group], np.ones(40), start + 1))
        versions = np.full(40, batched.ledger.rounds)
        for t in group[::-1]:
            one.learn_one(int(t), y[t])
        back = slice(None, None, -1)
        batched.learn_batch(
            nk.Batch(x[group][back].copy(), codes[group][back].copy(), start + 1), served[back], versions
        )
    assert same(one.learner.state(), batched.learner.state())
    assert one.ledger.late._counts() == batched.ledger.late._counts()


@pytest.mark.parametrize("name", LEARNERS)
def test_game_saved_in_the_middle_matches_uninterrupted_game(name, tmp_path):
    rng = np.random.default_rng(2)
    x, y = rows(rng, 150, numbered(LEARNERS[name]()))
    events = schedule(rng, 150, 10)
    whole, half = nk.Game(LEARNERS[name]()), nk.Game(LEARNERS[name]())
    for k, (what, t) in enumerate(events):
        if k == len(events) // 2:
            nk.save(half.ledger, tmp_path / "half.nk")
            ledger = nk.load(tmp_path / "half.nk")
            half = nk.Game(ledger.learner, ledger)
        for game in (whole, half):
            game.predict_one(x[t], t, at=float(k)) if what == "predict" else game.learn_one(t, y[t], at=float(k))
    one, other = snapshot(whole.ledger), snapshot(half.ledger)
    assert one.meta == other.meta
    assert all(array.tobytes() == other.arrays[name].tobytes() for name, array in one.arrays.items())


def refused(code, call, *args, **more):
    with pytest.raises(LateError) as caught:
        call(*args, **more)
    assert caught.value.code == code


def test_invalid_predictions_and_labels_are_refused_and_change_nothing():
    game = nk.Game(nk.Perceptron(), most_pending=2, expire_seconds=10)
    x = np.array([1.0, 2.0])
    game.predict_one(x, "a", at=0.0)
    x[0] = 7.0  # the caller's array is the caller's
    refused("id_taken", game.predict_one, x, "a", at=0.0)
    assert game.predict_one([1.0, 2.0], "a", at=0.0) == 1  # the same again
    game.predict_one(x, "b", at=5.0)
    refused("pending_full", game.predict_one, x, "c", at=5.0)
    refused("unknown_id", game.learn_one, "c", 1, at=5.0)
    with pytest.raises(nk.NovikoffError, match="label"):
        game.learn_one("a", "spam", at=5.0)
    assert game.find("a").label is None
    game.learn_one("a", -1, at=9.0)
    assert game.find("a")[:7] == ("a", 1, 1, -1, 1, True, False)
    refused("label_differs", game.learn_one, "a", 1, at=9.0)
    refused("id_taken", game.predict_one, x, "a", at=9.0)  # also when it was answered
    refused("expired", game.learn_one, "b", 1, at=15.0)
    game.predict_one(x, "c", at=3.0)  # a clock that jumps back stands still
    assert game.find("b").expired
    assert not game.find("c").expired
    late = game.ledger.late
    assert (late.predicted, late.labelled, late.expired, late.waiting) == (3, 1, 1, 1)
    refused("expired", game.learn_one, "c", 1, at=25.0)
    with pytest.raises(nk.NovikoffError, match="id must be"):
        game.predict_one(x, 1.5)


def test_answered_rounds_are_remembered_as_many_as_may_wait():
    game = nk.Game(nk.Perceptron(), most_pending=2)
    for t in range(4):
        game.predict_one([1.0], t)
        game.learn_one(t, 1)
    refused("unknown_id", game.learn_one, 1, 1)
    assert game.learn_one(2, 1) == 1


def test_rounds_with_numbers_that_are_missing_wait_and_are_saved(tmp_path):
    """An expert that is silent says nan, which JSON has no word for."""
    rng = np.random.default_rng(0)
    advice, y = rng.random((30, 4)), rng.random(30)
    advice[rng.random(advice.shape) < 0.3] = np.nan
    advice[:, 0] = 0.5
    game = nk.Game(nk.SleepingExperts(experts=4, loss="squared"))
    for t in range(30):
        game.predict_one(advice[t], id=str(t))
    for t in range(15):
        game.learn_one(str(t), y[t])
    nk.save(game.ledger, tmp_path / "m.nk")
    loaded = nk.load(tmp_path / "m.nk")
    again = nk.Game(loaded.learner, loaded)
    for t in range(29, 14, -1):
        assert again.predict_one(advice[t], id=str(t)) == game.find(str(t)).prediction
        assert again.learn_one(str(t), y[t]) == game.learn_one(str(t), y[t])
    assert again.ledger.loss == game.ledger.loss


def test_examples_of_every_kind_wait_and_are_saved():
    kinds = {"names": {"a": 1.0, "b": 2}, "numbers": {3: 1.0, 17: 2.0}, "array": np.array([1.0, 2.0]),
             "list": [1, 2], "pair": (np.array([3, 17], np.uint32), np.array([1.0, 2.0]))}  # fmt: skip
    for x in kinds.values():
        game = nk.Game(nk.Perceptron())
        game.predict_one(x, "one", at=0.0)
        ledger = state_of(game.ledger)
        other = nk.Perceptron()
        again = nk.Game(other, restore(ledger, other))
        assert again.predict_one(x, "one", at=0.0) == 1
        for one in (game, again):
            one.learn_one("one", -1, at=0.0)
        assert same(game.learner.state(), again.learner.state())


def test_counts_that_contradict_each_other_are_refused():
    game = nk.Game(nk.Perceptron())
    game.predict_one([1.0], "a")
    game.learn_one("a", -1)
    state = state_of(game.ledger)
    for name, value in (("labelled", 2), ("mistakes", 5), ("changed", -1), ("predicted", 0)):
        with pytest.raises(ModelFileError):
            restore(state | {"late": state["late"] | {name: value}}, game.learner)


def test_uncounted_served_predictions_are_violated():
    game = nk.Game(nk.Perceptron(bias=0.0))
    for row in np.eye(3):
        for k in range(9):
            game.predict_one(row, f"{row}{k}")
        for k in range(9):
            game.learn_one(f"{row}{k}", -1)
    assert game.ledger.certify()[0].bound == game.ledger.late.mistakes == 27
    game.ledger.late.changed = 0
    assert game.ledger.certify()[0].status == "violated"
    game.ledger.late.others = 0
    assert game.ledger.certify()[1].status == "violated"


@pytest.mark.parametrize("second", [[1.0, 2.0, 3.0], np.array([1.0]), {"a": 1.0}])
def test_examples_of_another_form_are_refused_before_their_labels_come(second):
    game = nk.Game(nk.Perceptron())
    game.predict_one([1.0, 2.0], "a")
    with pytest.raises(InputError, match=r"of one form: got .* after an array of 2 numbers"):
        game.predict_one(second, "b")
    assert game.ledger.late.predicted == 1
    game.learn_one("a", -1)
    game.predict_one(np.array([2.0, 1.0]), "b")


def drawn(seed, count=60, delay=8):
    """The game of experts that are right at random, served in blocks before their labels come."""
    rng = np.random.default_rng(seed)
    game = nk.Game(nk.make(f"randomized-weighted-majority:experts=3,seed={seed}", "learner"))
    x, y = rng.choice([-1.0, 1.0], (count, 3)), rng.choice([-1, 1], count)
    x[:, 0] = np.where(rng.random(count) < 0.8, y, -y)
    for start in range(0, count, delay):
        block = range(start, min(start + delay, count))
        for t in block:
            game.predict_one(x[t], t)
        for t in block:
            game.learn_one(t, int(y[t]))
    found = next(one for one in game.ledger.certify() if one.theorem == "delayed_drawn")
    return game.ledger.late, found


@pytest.mark.parametrize("seeds", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_drawn_predictions_have_a_bound_with_a_probability(seeds):
    games = [drawn(seed) for seed in range(seeds)]
    for late, found in games:
        assert (found.kind, found.quantities["its_theorem"], found.quantities["delta"]) == ("P", "drawn_loss", 0.05)
        assert found.bound == found.quantities["its_bound"] + late.changed
        assert found.observed == late.mistakes <= late.arrival_mistakes + late.changed
        assert "do not depend on its draw" in found.reason or found.status == "vacuous"
    assert sum(found.observed > found.bound for _, found in games) <= 0.05 * seeds


def test_bound_on_draws_fails_without_the_changed_predictions():
    class Flips(nk.Perceptron):
        """It serves the opposite of what it says when the label comes."""

        play_one = nk.Perceptron.play_one

        def predict_one(self, x):
            return -super().predict_one(x)

    game = nk.Game(nk.Hedge([Flips(), Flips()]))
    for t in range(400):
        game.predict_one([1.0], t)
        game.learn_one(t, 1)
    late = game.ledger.late
    found = next(one for one in game.ledger.certify() if one.theorem == "delayed_drawn")
    assert found.observed <= found.bound
    late.changed = 0
    found = next(one for one in game.ledger.certify() if one.theorem == "delayed_drawn")
    assert found.observed > found.bound


def test_a_learner_that_exceeds_its_bound_breaks_this_one():
    class Stubborn(nk.Perceptron):
        """It says +1 of everything, and that it changes with every mistake."""

        def predict_one(self, x):
            return 1

        def play_one(self, x, y):
            super().play_one(x, y)
            return 1

    game = nk.Game(Stubborn())
    for t in range(40):
        game.predict_one([1.0], t)
        game.learn_one(t, -1)
    assert not any(one.holds for one in game.ledger.certify()[:2])


def test_risk_is_conditional_on_arrival_and_void_after_an_alarm():
    from novikoff.drift.monitor import DriftWatch
    from novikoff.game.ledger import Ledger

    for shift in (False, True):
        learner = nk.Perceptron()
        ledger = Ledger(learner, reservoir=HypothesisReservoir(learner, seed=1), drift=DriftWatch())
        game = nk.Game(learner, ledger)
        x, y = rows(np.random.default_rng(3), 1500)
        for t in range(1500):
            game.predict_one(x[t], t)
            if t >= 20:
                late = t - 20
                game.learn_one(late, -y[late] if shift and late > 700 else y[late])
        assert ledger.drift.test.alarm == shift
        limit = nk.finalize(ledger, "random").certificates[0]
        claim = limit.assumptions[0]
        assert "when a label came did not depend" in claim.claim
        assert limit.status == ("void" if shift else "conditional")
        again = restore(state_of(ledger), learner)
        assert same(again.drift.state(), ledger.drift.state())
        assert dataclasses.asdict(nk.finalize(again, "random").certificates[0]) == dataclasses.asdict(limit)
