import copy
import dataclasses
import math

import numpy as np
import pytest

import novikoff as nk
from helpers import bits
from novikoff import numerics
from novikoff.convex._loops import ftrl_layout as lane
from novikoff.convex.ftrl import FTRL
from novikoff.convex.logistic import Logistic
from novikoff.core.errors import ModelFileError, SpecError
from novikoff.core.types import Batch, Sparse
from novikoff.game.game import Game
from novikoff.mixtures._loops import linear_mixture_layout as mix
from novikoff.mixtures.linear_mixture import LinearMixture
from samples import GRID, NAMED, SPARSE, VECTORS

SAMPLES = {
    "linear-mixture": [
        ("linear-mixture", *VECTORS),
        ("linear-mixture:fast=true", *GRID),
        ("linear-mixture:bias=0", *SPARSE),
        ("linear-mixture:fast=true", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

X = np.array([(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (-1, 2)], dtype=float)
Y = np.array([-1, -1, 1, -1, 1, 1], dtype=np.int8)


class Three(LinearMixture):
    """Two diagonal members and one of the second order."""

    def _planned(self, *_):
        return 1, 1, 0


class Ten(LinearMixture):
    """All but the members on random features."""

    def _planned(self, *_):
        return 4, 2, 0


def rings(rounds, seed=0):
    """Labels by the distance from the middle, which no plane separates; features of different scales."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    y = np.where((x**2).sum(axis=1) > 2.4, 1, -1).astype(np.int8)
    return x * np.array([1e-3, 1.0, 1e5]), y


def up(result, y):
    return np.where(y > 0, result.probabilities, 1.0 - result.probabilities)


def test_golden_values():
    learner = Three(bias=0.0)
    result = learner.learn_many(Batch(X, Y, 1))
    assert up(result, Y) == pytest.approx([0.5, 0.5, 0.388594516, 0.5, 0.519901604, 0.546729595], abs=1e-8)
    losses = learner._standing[mix.LOSS]
    assert losses == pytest.approx([4.249682031, 4.281705774, 4.291967022, 4.307861683], abs=1e-8)
    assert learner.weights == pytest.approx([0.258360509, 0.250217913, 0.247663493, 0.243758085], abs=1e-8)
    assert -np.log(result.probabilities).sum() == pytest.approx(4.282577045, abs=1e-8)
    result = Ten(bias=0.0).learn_many(Batch(X, Y, 1))
    assert up(result, Y) == pytest.approx([0.5, 0.5, 0.358148850, 0.5, 0.516416375, 0.556277746], abs=1e-8)
    assert -np.log(result.probabilities).sum() == pytest.approx(4.353577614, abs=1e-8)
    result = Ten().learn_many(Batch(X, Y, 1))
    assert up(result, Y)[-1] == pytest.approx(0.508754827, abs=1e-8)
    assert -np.log(result.probabilities).sum() == pytest.approx(4.363290182, abs=1e-8)


@pytest.mark.parametrize("more", [0, 22])
def test_members_do_the_same_as_when_they_play_alone(more):
    x, y = rings(150)
    x = np.hstack([x, np.sin(np.arange(150.0 * more)).reshape(150, more)])
    x[:75, 3:7] = 0.0  # sizes that grow late, between rows that are learned together
    scores = LinearMixture().learn_many(Batch(x, y, 1)).scores
    for j, alone in ((0, FTRL(rate=4.0)), (6, FTRL("newton", rate=0.25)), (8, Logistic(1.0)), (9, Logistic(0.01))):
        assert alone.learn_many(Batch(x, y, 1)).scores.tolist() == scores[:, j].tolist()


def test_first_row_determines_the_members():
    def members(x):
        learner = LinearMixture()
        learner.learn_one(x, 1)
        return learner.members

    assert members(np.ones(5)) == members(np.ones(256)) == 14
    assert members(np.ones(257)) == 8
    assert members({"a": 1.0}) == members((np.array([255]), np.array([1.0]))) == 14
    assert members((np.array([256]), np.array([1.0]))) == 8
    fast = LinearMixture(fast=True)
    fast.learn_one(np.ones(5), 1)
    assert (fast.members, fast.names) == (2, ["sqrt 1", "newton 1", "stack"])


@pytest.mark.parametrize("fast", [False, True])
def test_rows_and_batches_predict_and_learn_the_same_bits(fast):
    x, y = rings(60)
    together, single = LinearMixture(fast=fast), LinearMixture(fast=fast)
    said = together.learn_many(Batch(x, y, 1)).probabilities
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        before = copy.deepcopy(single.state()) if t % 20 == 5 else None
        probability = single.probability_one(row)
        assert before is None or bits(single.state()) == bits(before)
        played = single.play_one(row, label)
        assert played.probabilities == said[t]
        assert probability == pytest.approx(said[t] if label > 0 else 1.0 - said[t], abs=1e-15)
    assert bits(single.state()) == bits(together.state())
    assert bits(LinearMixture.restore(single.state()).state()) == bits(single.state())


def test_features_multiplied_by_powers_of_two_change_no_bit():
    x, y = rings(80)
    powers = 2.0 ** np.array([-300, 17, 200])
    one, two = LinearMixture().learn_many(Batch(x, y, 1)), LinearMixture().learn_many(Batch(x * powers, y, 1))
    assert one.scores.tolist() == two.scores.tolist()
    assert one.probabilities.tolist() == two.probabilities.tolist()


def test_random_features_learn_rings():
    x, y = rings(1500)
    ledger = nk.play(LinearMixture(), (x, y))
    assert ledger.log_loss / 1500 < 0.25
    assert ledger.mistakes / 1500 < 0.11
    assert nk.play(LinearMixture(fast=True), (x, y)).log_loss / 1500 > 0.5


def coins_between(seed, n=3000):
    """A plane, then n coin flips, then the plane again: members fall far behind and come back."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3 * n, 3))
    y = np.sign(x[:, 0])
    y[n : 2 * n] = rng.choice([-1, 1], n)
    return x, y.astype(np.int8)


def nobody_falls_behind(x, y, step=500):
    """Play and check, every so many rounds, that the mixture is within ln(J+1) of each forecaster that never slept."""
    learner, paid, losses, slept = LinearMixture(), 0.0, 0.0, []
    for start in range(0, len(y), step):
        some = y[start : start + step]
        played = learner.learn_many(Batch(x[start : start + step], some, start + 1))
        paid -= np.log(played.probabilities).sum()
        losses = losses + np.logaddexp(0.0, -some[:, None] * played.scores).sum(axis=0)
        steady = learner._standing[mix.SLEPT] == 0.0
        assert paid <= losses[steady].min() + math.log(learner.members + 1) + 1e-6
        assert steady[:8].all()
        assert steady[-1]
        assert np.exp(learner._standing[mix.LOG_WEIGHT]).sum() == pytest.approx(1.0, abs=1e-9)
        slept.append(int(learner._standing[mix.SLEPT].sum()))
    return learner, paid, slept


def test_mixture_never_falls_asleep_when_labels_turn_into_coins_and_back():
    x, y = coins_between(1)
    learner, paid, slept = nobody_falls_behind(x, y)
    assert slept[-1] > 0  # members did rest
    assert learner.size > 1
    assert paid < 9000 * 0.33  # 9,000 x .446 before members could wake


@pytest.mark.slow
def test_mixture_is_near_its_best_steady_member_on_long_streams():
    for seed in range(21):
        nobody_falls_behind(*coins_between(seed))
    rng = np.random.default_rng(7)
    for t in range(12):
        x = SHAPES[t % len(SHAPES)](rng, 5000, int(rng.integers(1, 6)))
        y = np.where(x @ rng.normal(size=x.shape[1]) >= 0.0, 1, -1)
        flipped = rng.random(5000) < (0.0, 0.2, 0.5)[t % 3]
        y[flipped] *= -1
        y[2500:] *= -1 if t % 2 else 1
        nobody_falls_behind(x, y.astype(np.int8))


def test_members_rest_when_they_fall_behind_and_wake_when_rounds_double():
    x, y = coins_between(1)
    learner = LinearMixture()
    learner.learn_many(Batch(x[:2047], y[:2047], 1))
    asleep = learner._standing[mix.IDLE] < 0.0
    assert asleep.any()
    assert not asleep[:8].any()
    assert not asleep[-1]
    weights, totals = learner._standing[mix.LOG_WEIGHT].copy(), learner._squares[3].copy()
    learner.learn_many(Batch(x[2047:2048], y[2047:2048], 2048))
    assert learner.size == learner.members + 1
    assert (learner._standing[mix.LOG_WEIGHT][asleep] == weights[asleep]).all()  # neither reset nor raised
    assert (learner._squares[3][asleep[8:]] == totals[asleep[8:]]).all()  # nothing learned asleep
    learner.learn_many(Batch(x[2048:2049], y[2048:2049], 2049))
    assert (learner._squares[3][:, 1] > totals[:, 1]).all()


def test_member_that_keeps_pace_does_not_rest():
    learner = LinearMixture()
    x, y = coins_between(1)
    learner.learn_many(Batch(x[:3001], y[:3001], 1))
    learner._standing[mix.LOG_WEIGHT, 8:14] -= 40.0  # hopeless, and from here on all see coins
    learner._standing[[mix.IDLE, mix.START], 8:14] = 0.0
    learner.learn_many(Batch(x[3001:4096], y[3001:4096], 3002))
    fell = learner._standing[mix.LOG_WEIGHT, 8:14]
    assert (fell < np.log(mix.LIGHT)).all()
    assert (learner._standing[mix.SLEPT, 8:14] == 0.0).any()


def late_features(rounds):
    """Sparse rows whose features 5 .. 8 come after round 1,100."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(rounds, 9)) * (rng.random((rounds, 9)) < 0.7)
    x[:1100, 5:] = 0.0
    return Sparse.of_dense(x), np.where(x.sum(axis=1) + rng.normal(size=rounds) > 0.0, 1, -1).astype(np.int8)


def sleepy(rows, y, asleep=(9, 11, 13)):
    """After 1,000 rounds these members sleep."""
    learner = LinearMixture()
    learner.learn_many(Batch(rows[:1000], y[:1000], 1))
    learner._standing[mix.IDLE, list(asleep)] = mix.ASLEEP
    return learner


def test_member_that_wakes_agrees_with_the_others_on_features_met_while_it_slept():
    rows, y = late_features(2200)
    learner = sleepy(rows, y)
    learner.learn_many(Batch(rows[1000:2200], y[1000:2200], 1001))
    slots = learner._slots[learner._slots >= 0]
    assert sorted(slots.tolist()) == list(range(10))  # 9 features and the constant
    for m, ridge in enumerate(learner._ridges):
        held, inverse, sums, totals = (part[m] for part in learner._matrices)
        assert totals[0] == 10
        lower, largest = np.tril(sums[:10, :10]), held[0, :10]
        whole = lower + np.tril(lower, -1).T + np.diag(ridge * largest**2)
        found = np.tril(inverse[:10, :10])
        assert (found + np.tril(found, -1).T) @ whole == pytest.approx(np.eye(10), abs=1e-8)


def test_waking_in_a_batch_and_row_by_row_gives_the_same_bits():
    rows, y = late_features(2060)
    together, single = sleepy(rows, y), sleepy(rows, y)
    said = together.learn_many(Batch(rows[1000:2060], y[1000:2060], 1001)).probabilities
    single.learn_many(Batch(rows[1000:2030], y[1000:2030], 1001))
    single = LinearMixture.restore(single.state())
    for t in range(2030, 2060):
        row = rows.row(t)
        asked = single.probability_one(row)
        played = single.play_one(row, int(y[t])).probabilities
        assert played == said[t - 1000]
        assert asked == pytest.approx(played if y[t] > 0 else 1.0 - played, abs=1e-15)
    assert bits(single.state()) == bits(together.state())


def test_model_saved_before_members_could_wake_is_refused_with_a_sentence():
    x, y = rings(20)
    learner = LinearMixture()
    learner.learn_many(Batch(x, y, 1))
    state = learner.state()
    state["standing"] = state["standing"][:4]
    with pytest.raises(ModelFileError, match="train it again"):
        LinearMixture.restore(state)


def test_text_column_empty_column_and_named_rows_keep_every_member():
    pandas = pytest.importorskip("pandas")
    x, y = rings(500)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(label=np.where(y > 0, "far", "near"))
    named = LinearMixture()
    game = Game(named)
    for row, label in zip(x, y.tolist(), strict=True):
        game.learn_one(dict(zip("abc", row.tolist(), strict=True)), label)
    played = {
        "array": nk.play(LinearMixture(), (x, y)),
        "text": nk.play(LinearMixture(), nk.Frame(frame.assign(note="same")[["note", *frame]])),
        "empty": nk.play(LinearMixture(), nk.Frame(frame.assign(empty=np.nan)[["empty", *frame]])),
        "named": game.ledger,
    }
    for ledger in played.values():
        assert ledger.learner.members == 14
        assert ledger.log_loss == pytest.approx(played["array"].log_loss, rel=0.15)  # .69 a round without
        assert {one.status for one in ledger.certify()} == {"valid"}


def test_constant_column_does_not_move_random_features():
    x, y = rings(300)
    plain, wide = LinearMixture(), LinearMixture()
    plain.learn_many(Batch(x, y, 1))
    wide.learn_many(Batch(np.hstack([x, np.full((300, 1), 5.0)]), y, 1))
    wide._turns[:, :3] = plain._turns
    wide._turns[:, 3], wide._shifts[:] = 1e3, plain._shifts
    rows = [numerics.nonzeros.of_dense(np.hstack([x[:5], np.full((5, more), 5.0)]), 1.0)[0] for more in (0, 1)]
    images = [learner.images_from_here([10, 12]).of(row) for learner, row in zip((plain, wide), rows, strict=True)]
    for one, other in zip(*images, strict=True):
        assert one.values.tolist() == other.values.tolist()


def test_feature_beyond_the_256th_retires_random_features_for_good():
    rng = np.random.default_rng(3)
    rows = [(np.arange(4), rng.normal(size=4)) for _ in range(2100)]
    rows[1500] = (np.array([0, 300]), np.ones(2))
    y = np.where([row[1][0] > 0.0 for row in rows], 1, -1).astype(np.int8)
    x = Sparse.of_rows(rows, 301)
    together, single = LinearMixture(), LinearMixture()
    played = together.learn_many(Batch(x, y, 1))
    assert (together._standing[mix.IDLE, 10:14] == mix.RETIRED).all()  # also after round 2,048
    assert (together._standing[mix.SLEPT, 10:14] >= 2100 - 1501).all()
    assert (played.scores[1501:, 10:14] == 0.0).all()
    single.learn_many(Batch(x[:1498], y[:1498], 1))
    for t in range(1498, 1504):
        asked = single.probability_one(rows[t])
        assert single.play_one(rows[t], int(y[t])).probabilities == played.probabilities[t]
        assert asked == pytest.approx(played.probabilities[t] if y[t] > 0 else 1.0 - played.probabilities[t], abs=1e-15)


@pytest.mark.parametrize("fast", [False, True])
def test_certificates_before_the_first_round(fast):
    found = Game(LinearMixture(fast=fast)).ledger.certify()
    assert {one.status for one in found} == {"vacuous"}


def test_wide_and_named_rows():
    rng = np.random.default_rng(0)
    ends = np.arange(0, 3001, 10, dtype=np.uint64)
    places = np.concatenate([np.sort(rng.choice(5000, 10, replace=False)) for _ in range(300)]).astype(np.uint32)
    y = np.where(places[::10] % 2 == 0, 1, -1).astype(np.int8)
    sparse = Sparse(ends, places, np.ones(3000), 5000)
    one, two = LinearMixture(), LinearMixture()
    said = one.learn_many(Batch(sparse, y, 1)).probabilities
    for t in range(300):
        row = {int(i): 1.0 for i in places[10 * t : 10 * t + 10]}
        assert two.play_one(row, int(y[t])).probabilities == said[t]
    named = LinearMixture()
    for t in range(100):
        named.learn_one({f"w{i}": 1.0 for i in places[10 * t : 10 * t + 10]}, int(y[t]))
    assert named.features.count == len({*places[:1000].tolist()})


SHAPES = [
    lambda rng, n, d: rng.normal(size=(n, d)),
    lambda rng, n, d: rng.integers(-2, 3, (n, d)).astype(float),
    lambda rng, n, d: rng.standard_t(1.2, size=(n, d)) * 10.0 ** rng.integers(-3, 4, d),
    lambda rng, n, d: np.eye(d)[rng.integers(0, d, n)],
]


@pytest.mark.parametrize("fast", [False, True])
def test_bound_holds_on_arbitrary_streams(fast):
    rng = np.random.default_rng(int(fast))
    for t in range(12):  # every shape with every rule for labels
        rounds, width = int(rng.integers(2, 60)), int(rng.integers(1, 5))
        x = SHAPES[t % len(SHAPES)](rng, rounds, width)
        learner = LinearMixture(fast=fast)
        game = Game(learner)
        planted = np.where(x @ rng.normal(size=width) >= 0.0, 1, -1)
        for row, label in zip(x, planted.tolist(), strict=True):
            game.learn_one(row, (label, -label if rng.random() < 0.2 else label, -learner.predict_one(row))[t % 3])
        for certificate in game.ledger.certify():
            assert certificate.status in ("valid", "vacuous"), str(certificate)
        best = learner._standing[mix.LOSS].min()
        assert game.ledger.log_loss <= best + math.log(learner.members + 1) + 1e-9


def said(ledger):
    return {certificate.theorem: certificate for certificate in ledger.certify()}


def test_bound_is_informative():
    x, y = rings(1500)
    certificate = said(nk.play(LinearMixture(), (x, y)))["linear_mixture_regret"]
    assert certificate.status == "valid"
    assert certificate.bound < 2.0 * certificate.observed < 0.4 * certificate.trivial
    assert certificate.quantities["member"].startswith("random features")


class Lying(LinearMixture):
    """Tells a lie after every other batch."""

    lie = None

    def _learn(self, rows, y):
        before = copy.deepcopy((self._held, self._matrices, self._waves, self._stack))
        played = super()._learn(rows, y)
        return self.lie(before, played) or played if self.rounds % 40 == 20 else played


def substitute(learner, before, played):
    """Something else than the mixture is played."""
    return played._replace(probabilities=np.where(np.arange(len(played.losses)) % 2, 0.5, played.probabilities))


def disguise(learner, before, played):
    """The same, and the weights are those of what was paid."""
    other = substitute(learner, before, played)
    learner._standing[mix.LOG_WEIGHT] += np.log(played.probabilities).sum() - np.log(other.probabilities).sum()
    return other


def favour(learner, before, played):
    """A member has more weight than it earned."""
    learner._standing[mix.LOG_WEIGHT, 1] += 0.1


def flatter(learner, before, played):
    """A member lost less than it did, it says, and the others more; the weights are those of that."""
    weights = learner.weights
    moved = np.full(len(weights), np.log((1.0 - weights[0] * np.exp(0.01)) / (1.0 - weights[0])))
    moved[0] = 0.01
    learner._standing[mix.LOG_WEIGHT] += moved
    learner._standing[mix.LOSS] -= moved


def skips(j):
    """A diagonal member learns nothing from the batch."""

    def skip(learner, before, played):
        for column in (lane.SHARED + j, lane.SHARED + len(learner._roots) + j):
            learner._held[:, column] = before[0][:, column]

    return skip


def skips_matrix(which, m, *parts):
    """The same of a member of the second order; of its sums of gradients, or of curvatures, alone."""

    def skip(learner, before, played):
        for part in parts:
            now, then = getattr(learner, which)[part][m], before[1 if which == "_matrices" else 2][part][m]
            now[...] = then

    return skip


def forgets(j):
    """The metric of a diagonal member shrinks."""

    def forget(learner, before, played):
        learner._held[:, lane.SHARED + len(learner._roots) + j] *= 0.01

    return forget


def forgets_matrix(learner, before, played):
    """That of a member of the second order."""
    learner._matrices[2][0] *= 0.25


def owes_less(j):
    """A member says that its scores were better against the gradients than they were."""

    def owe(learner, before, played):
        learner._totals[lane.LINEAR, j] -= 1.0

    return owe


def skips_stack(part):
    """The stack leaves out the batch from one of its sums."""

    def skip(learner, before, played):
        learner._stack[part][...] = before[3][part]

    return skip


def forgets_stack(learner, before, played):
    """The metric of the stack shrinks."""
    learner._stack[2][...] *= 0.25


SUMS = "the sums of the members agree"
LIES = {
    "substitute": (substitute, "the prediction is the mixture"),
    "disguise": (disguise, "the weights sum to 1"),
    "favour": (favour, "the prediction is the mixture"),
    "flatter": (flatter, "the losses of the members agree"),
    "skip sqrt": (skips(0), SUMS),
    "skip newton": (skips(5), SUMS),
    "skip gradients": (skips_matrix("_matrices", 1, 0), SUMS),
    "skip curvatures": (skips_matrix("_matrices", 1, 2), SUMS),
    "skip random features": (skips_matrix("_waves", 2, 0), SUMS),
    "forget": (forgets(2), "no metric shrank"),
    "forget a matrix": (forgets_matrix, "no metric shrank"),
    "owe less": (owes_less(3), SUMS),
    "skip gradients of the stack": (skips_stack(0), SUMS),
    "skip curvatures of the stack": (skips_stack(2), SUMS),
    "forget the stack": (forgets_stack, SUMS),
}
UNUSED = {
    ("owe less", "linear_mixture_frozen"),
    *((name, "linear_mixture_regret") for name in LIES if name.endswith("stack")),
}
"""Lies about what a theorem does not use."""


def lied(lie, x, y, keep):
    """What is said of the game; comparators keep so many bytes of rows."""
    learner = type("Liar", (Lying,), {"lie": lie or (lambda *_: None)})()
    ledger = nk.Ledger(learner)
    ledger.tracker = learner.tracker()
    ledger.tracker.keep = keep
    game = Game(learner, ledger)
    for start in range(0, len(x), 20):
        game.learn_batch(Batch(x[start : start + 20], y[start : start + 20], start + 1))
    return said(ledger)


@pytest.mark.parametrize("name", [None, *LIES])
@pytest.mark.parametrize("keep", [16_000_000, 3_000])
def test_learner_that_breaks_its_rule_is_detected(name, keep):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = np.where(x @ [1.0, -0.1, 2.0, 0.0] + rng.normal(size=200) < 0.0, -1, 1).astype(np.int8)
    lie, claim = LIES.get(name, (None, ""))
    found = lied(lie, x, y, keep)
    assert set(found) == (
        {"linear_mixture_regret", "linear_mixture_frozen"} if keep == 16_000_000 else {"linear_mixture_frozen"}
    )
    for theorem, certificate in found.items():
        if name is None or (name, theorem) in UNUSED:
            assert certificate.status == "valid", str(certificate)
        else:
            assert certificate.status == "void", str(certificate)
            assert claim in certificate.reason


@pytest.mark.parametrize("j", [0, 3, 7])
def test_a_member_that_skips_rounds_is_detected_beyond_the_rows_that_are_kept(j):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(400, 300)) * (rng.random((400, 300)) < 0.05)
    y = np.where(x[:, 0] + x @ rng.normal(size=300) < 0.0, -1, 1).astype(np.int8)
    for keep in (16_000_000, 3_000):
        assert {one.status for one in lied(None, x, y, keep).values()} <= {"valid", "vacuous"}
        assert all(SUMS in one.reason for one in lied(skips(j), x, y, keep).values())


def test_void_reason_names_random_features_if_only_they_stayed_awake():
    x, y = rings(300)
    ledger = nk.play(LinearMixture(), (x, y))
    facts = ledger.learner.facts()
    for awake, why in ((range(10, 15), "random features"), ([14], "no member was active")):
        told = dataclasses.replace(facts, slept=[j not in awake for j in range(15)])
        ledger.learner.facts = lambda told=told: told
        ledger.learner.goals = list
        ledger.tracker._cached = None
        found = said(ledger)["linear_mixture_regret"]
        assert (found.status, why in found.reason) == ("void", True), str(found)


@pytest.mark.parametrize("keep", [16_000_000, 3_000])
def test_bound_of_wide_rows_is_checked_with_and_without_stored_rows(keep):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(400, 300)) * (rng.random((400, 300)) < 0.02)
    y = np.where(x[:, 0] + x @ rng.normal(size=300) < 0.0, -1, 1)
    learner = LinearMixture()
    ledger = nk.Ledger(learner)
    ledger.tracker = learner.tracker()
    ledger.tracker.keep = keep
    game = Game(learner, ledger)
    game.learn_batch(Batch(x, y.astype(np.int8), 1))
    found = said(ledger)
    assert {one.status for one in found.values()} <= {"valid", "vacuous"}
    assert ("linear_mixture_regret" in found) == (keep == 16_000_000)
    if "linear_mixture_regret" in found:
        zero = 400 * np.log(2.0) + min(map(learner.facts().promised, range(8))) + np.log(9.0)
        assert ledger.log_loss <= found["linear_mixture_regret"].bound <= zero + 1e-6
    assert found["linear_mixture_frozen"].quantities["after"] <= 50


def test_it_plays_where_no_learner_is_named():
    x = np.random.default_rng(0).normal(size=(50, 2))
    y = np.where(x[:, 0] > 0.0, 1, -1)
    played = [nk.play(learner, (x, y)) for learner in (None, "auto", nk.Auto())]
    assert len({ledger.log_loss for ledger in played}) == 1
    assert type(nk.play("perceptron", (x, y)).player.within) is nk.Perceptron
    with pytest.raises(SpecError, match="threshold-halving takes n, .* n is missing"):
        nk.play("threshold-halving", (x, y))
