"""Hedge over learners: whom it follows, that all of them learn, and that its coins are its own."""

import copy
import json
import math
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from helpers import same, some
from novikoff.adversaries.contrarian import Contrarian
from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError, MismatchError, ModelFileError, SpecError
from novikoff.core.nesting import restored, saved
from novikoff.core.types import Batch, Domain, Sparse
from novikoff.data.arrays import Arrays
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.hedge import Hedge
from novikoff.finite.classes import thresholds
from novikoff.finite.consistent import Consistent
from novikoff.finite.constant import Constant
from novikoff.finite.halving import Halving
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game import specs
from novikoff.game.game import Game
from novikoff.kernel.randomized_budget import RandomizedBudgetPerceptron
from novikoff.linear.ellipsoid import Ellipsoid
from novikoff.linear.perceptron import Perceptron
from novikoff.numerics.coins import uniform
from samples import INDICES, NAMED, SPARSE, VECTORS

SAMPLES = {
    "hedge": [
        ("hedge:learners=[perceptron,[rbp:budget=20,gamma=0.5]]", *VECTORS),
        (
            "hedge:learners=[[perceptron:bias=1],ellipsoid,[kernel-perceptron:gamma=0.5]],horizon=300,seed=2",
            *VECTORS,
        ),
        (
            "hedge:learners=[[consistent:[thresholds:n=20],random=true],[threshold-halving:n=20]],by=ada-hedge",
            *INDICES,
        ),
        ("hedge:learners=[[perceptron:bias=0.5],[tighter:budget=7]]", *SPARSE),
        ("hedge:learners=[perceptron,[forgetron:budget=9,gamma=0.5]]", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""

RULES = [{}, {"horizon": 200}, {"by": "ada-hedge"}, {"by": "fixed-share", "switches": 3, "horizon": 200}]


def linear(rounds=200, seed=0, noise=0.1, width=3):
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, (rounds, width)).astype(float)
    y = np.where(x @ rng.normal(size=width) + 0.7 >= 0, 1, -1)
    return x, np.where(rng.random(rounds) < noise, -y, y)


def five():
    return [
        Perceptron(),
        Perceptron(bias=1.0),
        Ellipsoid(bias=1.0, width=3),
        RandomizedBudgetPerceptron(10, "linear", seed=3),
        Constant(),
    ]


def on_indices():
    """Learners that learn many at once, that do not, and that draw."""
    return [
        ThresholdHalving(20),
        Halving(thresholds(20)),
        Consistent(thresholds(20), random=True, seed=5),
        ExponentialWeights(thresholds(20), eta=0.5, seed=5),
        Constant(-1),
    ]


def test_weights_are_exponential_in_the_mistakes_of_each():
    hedge = Hedge([Constant(1), Constant(-1)], horizon=8)
    assert hedge.weights.tolist() == [0.5, 0.5]
    eta = math.sqrt(math.log(2))  # sqrt(8 ln 2 / 8)
    chances = []
    for y in (1, 1, -1):
        weights = hedge.weights
        played = hedge.play_one(0, y)
        chances.append(weights[1] if y == 1 else weights[0])
        assert played.expected == pytest.approx(chances[-1], rel=1e-14)
        assert played.members.tolist() == [1, -1]
        assert played.losses == (played.predictions != y)
    assert chances[1] == pytest.approx(1 / (1 + math.exp(eta)), rel=1e-14)
    assert hedge.weights[0] == pytest.approx(1 / (1 + math.exp(-eta)), rel=1e-14)  # mistakes 1 and 2


def test_without_a_horizon_the_rate_falls():
    hedge = Hedge([Constant(1), Constant(-1)])
    for t in range(1, 5):
        hedge.learn_one(0, 1)
        eta = 2 * math.sqrt(math.log(2) / (t + 1))
        assert hedge.weights[1] == pytest.approx(1 / (1 + math.exp(eta * t)), rel=1e-13)


def test_team_member_plays_as_alone_and_is_recorded():
    x, y = linear()
    hedge = Hedge(five())
    ledger = nk.play(hedge, (x, y))
    for alone, learner, own in zip(five(), hedge.learners, ledger.members, strict=True):
        record = nk.play(alone, (x, y))
        assert same(alone.state(), learner.state())
        assert (own.rounds, own.mistakes, own.curve) == (record.rounds, record.mistakes, record.curve)
        assert [str(c) for c in own.certify()] == [str(c) for c in record.certify()]
    assert hedge.facts().best_loss == min(own.mistakes for own in ledger.members)


@pytest.mark.parametrize("rule", RULES)
def test_the_record_of_learners_that_draw_has_their_chances(rule):
    rng = np.random.default_rng(4)
    x = rng.integers(0, 21, 200)
    y = np.where(x >= 7, 1, -1)
    ledger = nk.play(Hedge(on_indices(), **rule), (x, y))
    for alone, own in zip(on_indices(), ledger.members, strict=True):
        record = nk.play(alone, (x, y))
        assert (own.mistakes, own.expected, own.deterministic) == (
            record.mistakes,
            record.expected,
            record.deterministic,
        )
    assert [own.deterministic for own in ledger.members] == [True, True, False, False, True]


@some(2, kind=["vectors", "indices", "sparse"], rule=RULES)
def test_rounds_and_batches_of_any_size_are_the_same_game(kind, rule):
    x, y = linear()
    team = five
    if kind == "indices":
        rng = np.random.default_rng(2)
        x, team = rng.integers(0, 21, 200), on_indices
        y = np.where(rng.random(200) < 0.1, -1, np.where(x >= 7, 1, -1))
    rows = [(np.flatnonzero(row).astype(np.uint32), row[row != 0]) for row in x] if kind == "sparse" else x
    single = Hedge(team(), seed=7, **rule)
    looped = Game(single)
    said = [looped.learn_one(row, int(label)) for row, label in zip(rows, y, strict=True)]
    for size in (1, 7, 64, 200):
        hedge = Hedge(team(), seed=7, **rule)
        ledger = nk.Ledger(hedge, predictions=[])
        game = Game(hedge, ledger)
        for start in range(0, 200, size):
            part = slice(start, start + size)
            piece = batch_of(rows[part]) if kind == "sparse" else x[part]
            game.learn_batch(Batch(piece, y[part].astype(np.int8), start + 1))
        assert ledger.recorded().tolist() == said
        assert same(hedge.state(), single.state())
        assert ledger.expected == looped.ledger.expected
        assert [str(c) for c in ledger.certify()] == [str(c) for c in looped.ledger.certify()]


def batch_of(rows):
    indptr = np.cumsum([0, *(len(places) for places, _ in rows)]).astype(np.uint64)
    places, values = (np.concatenate([row[k] for row in rows]) for k in (0, 1))
    return Sparse(indptr, places.astype(np.uint32), values, 3)


@pytest.mark.parametrize("rule", RULES)
def test_resume_matches_uninterrupted_run(rule, tmp_path):
    x, y = linear()
    whole = nk.play(Hedge(five(), seed=1, **rule), (x, y), record=True)
    for cut in (1, 60, 199):
        part = nk.play(Hedge(five(), seed=1, **rule), (x[:cut], y[:cut]), record=True)
        nk.save(part, tmp_path / "team.nk")
        again = nk.load(tmp_path / "team.nk")
        assert same(again.learner.state(), part.learner.state())
        ledger = nk.play(again.learner, (x[cut:], y[cut:]), ledger=again)
        assert ledger.recorded().tolist() == whole.recorded().tolist()
        assert same(ledger.learner.state(), whole.learner.state())
        told = lambda game: [(c.theorem, c.observed, c.bound) for c in sorted(game.certify(), key=lambda c: c.theorem)]
        assert told(ledger) == told(whole)  # in parts, the stream is trusted to have been fixed in advance
        assert [own.mistakes for own in ledger.members] == [own.mistakes for own in whole.members]


def test_predicting_changes_nothing_and_matches_the_next_round():
    x, y = linear(60)
    hedge = Hedge(five())
    for row, label in zip(x, y, strict=True):
        before = copy.deepcopy(hedge.state())
        said, chances = hedge.predict_one(row), hedge.chances(row)
        assert same(hedge.state(), before)
        assert math.isclose(sum(chances.values()), 1.0, rel_tol=1e-12)
        assert hedge.play_one(row, int(label)).predictions == said


def test_prediction_is_drawn_by_the_probabilities():
    said = [Hedge([Constant(1), Constant(-1)], seed=seed).predict_one(0) for seed in range(2000)]
    assert abs(np.mean(said)) < 4 / math.sqrt(2000)


# The coins


class Echo:
    """Errs, on rounds labelled +1, if the coin by which experts are drawn is above one half (or below)."""

    promises = ()
    labels = None

    def __init__(self, above, coins):
        self.above, self.coins, self.t = above, coins, 0
        self.domain = Domain("any")

    def predict_one(self, x):
        high = uniform(self.coins, "expert", self.t) >= 0.5
        return -1 if high == self.above else 1

    def learn_one(self, x, y):
        self.t += 1

    def facts(self):
        return Constant().facts()


class Told(Echo):
    """The same, and it tells its seed."""

    @property
    def seed(self):
        return self.coins


def test_shared_coins_would_break_the_bound():
    team = [Echo(False, 0), Echo(True, 0)]  # they hide that they have the rule's seed
    hedge = Hedge(team, by=ExponentialWeights(2, horizon=1000, loss="table", play="draw", seed=0))
    ledger = nk.play(hedge, [(0, 1)] * 1000)
    best = min(own.mistakes for own in ledger.members)
    assert ledger.mistakes > 700  # it follows the one that errs
    assert best + math.sqrt(1000 * math.log(2) / 2) < 560
    (drawn,) = [c for c in ledger.certify() if c.theorem == "drawn_loss"]
    assert drawn.observed > drawn.bound


@pytest.mark.parametrize("kind", [Echo, Told])
def test_the_seed_of_a_team_is_spread_so_that_learners_with_the_same_one_have_other_coins(kind):
    paid = []
    for seed in range(8):
        ledger = nk.play(Hedge([kind(False, seed), kind(True, seed)], horizon=300, seed=seed), [(0, 1)] * 300)
        paid.append(ledger.mistakes - ledger.expected)
    assert abs(np.mean(paid)) < 4 * math.sqrt(300 / 4 / 8)


def test_a_seed_that_a_learner_has_is_passed_over():
    first = Hedge([Constant(), Constant(-1)], seed=9).rule.seed
    hedge = Hedge([Told(True, first), Told(False, 1)], seed=9)
    assert hedge.rule.seed != first
    assert hedge.rule.seed == Hedge([Told(True, first), Constant()], seed=9).rule.seed


@pytest.mark.parametrize("seed", [4, 4 + 2**64, 4 - 2**64])
def test_a_rule_with_the_seed_of_a_learner_is_refused(seed):
    rule = ExponentialWeights(2, loss="table", play="draw", seed=4)
    for learner in (Consistent(thresholds(3), random=True, seed=seed), ExponentialWeights(thresholds(3), seed=4)):
        with pytest.raises(InputError, match="the rule and a learner must have different seeds"):
            Hedge([learner, Constant()], by=rule)


def test_learners_may_share_their_coins():
    x = np.arange(60) % 21
    y = np.where(x >= 7, 1, -1)
    team = [Consistent(thresholds(20), random=True, seed=5) for _ in range(2)]
    ledger = nk.play(Hedge(team, seed=5), (x, y))
    assert ledger.members[0].mistakes == ledger.members[1].mistakes == ledger.expected


# What a team is made of


@pytest.mark.parametrize(
    ("team", "domain"),
    [
        ([Perceptron(), Constant()], Domain("vector")),
        ([Perceptron(), Ellipsoid(width=4)], Domain("vector", 4)),
        ([ThresholdHalving(20), ThresholdHalving(10), Constant()], Domain("index", 11)),
        ([ThresholdHalving(20), Perceptron()], Domain("point", 1)),
        ([Constant(), Constant(-1)], Domain("any")),
    ],
)
def test_a_team_plays_where_all_of_it_can(team, domain):
    assert Hedge(team).domain == domain


def test_a_number_is_an_index_for_one_and_a_vector_for_another():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 21, (100, 1))
    y = np.where(x[:, 0] >= 7, 1, -1)
    ledger = nk.play(Hedge([ThresholdHalving(20), Perceptron(bias=1.0)]), (x, y))
    assert ledger.members[0].mistakes == nk.play(ThresholdHalving(20), (x, y)).mistakes
    assert ledger.members[1].mistakes == nk.play(Perceptron(bias=1.0), (x, y)).mistakes


SEVERAL = "table:matrix=[[0,1,2,0,1],[0,1,2,0,0]]"


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Hedge([]), InputError, "must be a non-empty list"),
        (lambda: Hedge(Perceptron()), InputError, "must be a non-empty list"),
        (lambda: Hedge([Perceptron]), InputError, "number 1 is"),
        (lambda: Hedge([Perceptron(), 3]), InputError, "number 2 is 3"),
        (lambda: Hedge([(p := Perceptron()), p]), InputError, "number 2 is repeated"),
        (lambda: Hedge([Hedge([Perceptron()]), Constant()]), InputError, "Put its learners in this team"),
        (lambda: Hedge([specs.make(f"halving:[{SEVERAL}]", "learner")]), InputError, "3 labels"),
        (lambda: Hedge([Ellipsoid(width=3), Ellipsoid(width=4)]), MismatchError, r"vector\[3\], vector\[4\]"),
        (
            lambda: Hedge([ThresholdHalving(9), Ellipsoid(width=3)]),
            MismatchError,
            "the learners of a team must take the same examples",
        ),
        (lambda: Hedge([ExponentialWeights(3)]), InputError, r"number 1 needs advice\[3\]"),
        (lambda: Hedge([Constant()], by="follow-the-leader"), InputError, "must be exponential-weights"),
        (lambda: Hedge([Constant()], by="fixed-share"), InputError, "horizon and switches"),
        (lambda: Hedge([Constant()], by="ada-hedge", horizon=3), InputError, "needs no horizon"),
        (lambda: Hedge([Constant()], switches=3), InputError, "need by = fixed-share"),
        (lambda: Hedge([Constant()], by=Perceptron()), InputError, "a learner on losses that draws"),
        (lambda: Hedge([Constant()], by=ExponentialWeights(1, loss="table", play="mean")), InputError, "that draws"),
        (
            lambda: Hedge([Constant()], by=ExponentialWeights(2, loss="table", play="draw")),
            InputError,
            "one expert for each of 1 learner",
        ),
        (
            lambda: Hedge([Constant()], horizon=3, by=ExponentialWeights(1, loss="table", play="draw")),
            InputError,
            "horizon and switches must be left out if `by` is a learner",
        ),
        (lambda: Hedge([Constant()], names=["a", "b"]), InputError, "names must be"),
        (lambda: Hedge([Constant()], seed=0.5), InputError, "a seed must be"),
        (lambda: Hedge([Perceptron(), nk.OnlineGradient()]), InputError, "number 2 is a regressor"),
    ],
)
def test_invalid_teams_are_refused_with_a_reason(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_one_learner_is_followed_always():
    x, y = linear()
    ledger = nk.play(Hedge([Perceptron()]), (x, y), record=True)
    alone = nk.play(Perceptron(), (x, y), record=True)
    assert ledger.recorded().tolist() == alone.recorded().tolist()
    assert ledger.expected == ledger.mistakes == alone.mistakes


# All play, or none


def test_invalid_round_changes_no_learner():
    x, y = linear(60)
    hedge = Hedge(five())
    nk.play(hedge, (x, y))
    before = copy.deepcopy(hedge.state())
    for bad in ([1.0, 2.0], [1.0, math.nan, 1.0], [1.0, math.inf, 1.0], None, "a", {"red": 1.0}):
        with pytest.raises(InputError):
            hedge.learn_one(bad, 1)
    for label in (0, 7, 0.5, None, "spam"):
        with pytest.raises(InputError):
            hedge.learn_one(x[0], label)
    assert same(hedge.state(), before)


def test_strictest_learner_is_checked_first():
    team = [ThresholdHalving(20), ThresholdHalving(10)]
    hedge = Hedge(team)
    before = copy.deepcopy(hedge.state())
    with pytest.raises(InputError, match="in round 2"):
        hedge.learn_many(Batch(np.array([3, 15]), np.array([1, 1], dtype=np.int8), 1))
    assert same(hedge.state(), before)
    nk.play(hedge, [(3, 1)])


def test_round_refused_by_the_last_learner_changes_no_learner():
    hedge = Hedge([ThresholdHalving(20), Consistent(thresholds(20), random=True), ThresholdHalving(10)])
    before = copy.deepcopy(hedge.state())
    with pytest.raises(InputError, match="from 0 to 10"):
        hedge.learn_one(15, 1)
    assert same(hedge.state(), before)
    hedge.learn_one(3, 1)


class Fails(Constant):
    """Cannot learn its third example."""

    rounds = 0

    def learn_one(self, x, y):
        if self.rounds == 2:
            raise InputError("an example must be liked: this is not.")
        self.rounds += 1


@pytest.mark.parametrize("batched", [False, True])
def test_inconsistent_team_refuses_to_play(batched, tmp_path):
    hedge = Hedge([Perceptron(), Fails()])
    x, y = linear(5)
    stream = Arrays(x, y) if batched else list(zip(x, y.tolist(), strict=True))
    with pytest.raises(InputError, match="round 3: an example must be liked"):
        nk.play(hedge, stream)
    for act in (lambda: hedge.learn_one(x[0], 1), lambda: hedge.learn_many(Batch(x, y, 1)), hedge.state):
        with pytest.raises(InputError, match="have played the same rounds"):
            act()


# Saved teams


def test_a_saved_learner_must_be_registered():
    with pytest.raises(SpecError, match="Echo of .* is not"):
        saved(adapt(Echo(True, 0)))
    with pytest.raises(SpecError):
        Hedge([Fails(), Constant()]).state()


@pytest.mark.parametrize("name", ["os", "os:system", "thresholds", "Perceptron", "", 3, ["perceptron"], None])
def test_model_file_can_only_name_learners(name):
    with pytest.raises(ModelFileError, match="must be registered here"):
        restored({"learner": name, "state": {}})


def test_a_changed_file_is_refused(tmp_path):
    x, y = linear(30)
    nk.save(nk.play(Hedge(five()), (x, y)), tmp_path / "team.nk")
    for change in (
        lambda state: state["learners"].pop(),
        lambda state: state["rule"].update(learner="perceptron"),
        lambda state: state.update(names=["only", "two"]),
        lambda state: state.update(learners={}),
        lambda state: state["learners"][0].update(learner="ellipsoid"),
    ):
        with zipfile.ZipFile(tmp_path / "team.nk") as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        meta = json.loads(parts["meta.json"])
        change(meta["state"])
        with zipfile.ZipFile(tmp_path / "other.nk", "w") as archive:
            for name, data in (parts | {"meta.json": json.dumps(meta).encode()}).items():
                archive.writestr(name, data)
        with pytest.raises(ModelFileError):
            nk.load(tmp_path / "other.nk")


# Against an environment that answers back


def test_the_guarantees_hold_against_a_contrarian():
    hedge = Hedge([ThresholdHalving(20), Halving(thresholds(20)), Constant(), Constant(-1)])
    ledger = nk.play(hedge, Contrarian(hedge.domain), rounds=300)
    found = {c.theorem: c for c in ledger.certify()}
    assert {"anytime_regret", "mixability_gaps", "drawn_loss"} <= set(found)
    assert all(c.status != "violated" for c in found.values())
    assert ledger.expected >= 150  # the label with the smaller chance is the true one
    assert found["anytime_regret"].observed <= math.sqrt(300 * math.log(4))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from([-1, 1])), min_size=1, max_size=60), st.sampled_from(RULES)
)
def test_regret_and_certificates_hold_on_arbitrary_streams(rounds, rule):
    ledger = nk.play(Hedge(on_indices(), **rule), rounds)
    found = ledger.certify()
    assert all(c.status in ("valid", "vacuous", "void") for c in found), [str(c) for c in found]
    names = ("anytime_regret", "fixed_rate_regret", "ada_hedge_regret", "fixed_share_regret")
    (regret,) = [c for c in found if c.theorem in names]
    assert regret.bound >= regret.observed
    if regret.theorem != "fixed_share_regret":  # that one is against learners in turn
        best = min(own.mistakes for own in ledger.members)
        assert regret.observed == pytest.approx(ledger.expected - best, abs=1e-9)


def test_a_spec_makes_a_team_that_is_compared_and_repeated():
    x, y = linear(120)
    spec = "hedge:learners=[perceptron,[rbp:budget=5,kernel=linear]]"
    (row,) = nk.compare([spec], (x, y), shuffles=2).learners
    assert row.expected is not None
    repeated = nk.repeat(spec, (x, y), seeds=range(3))
    assert len({game.mistakes for game in repeated.games}) > 1
    assert all(verdict.status != "violated" for verdict in repeated.verdicts)
    with pytest.raises(SpecError):
        nk.repeat("hedge:learners=[perceptron],seed=3", (x, y), seeds=range(3))


@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_learners_with_probabilities_or_scores_have_their_own_certificates_in_a_team(one_at_a_time):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 3))
    y = np.where(x[:, 0] + rng.normal(size=120) > 0, 1, -1)

    def played(learner):
        if not one_at_a_time:
            return nk.play(learner, (x, y))
        game = nk.Game(learner)
        for row, label in zip(x, y.tolist(), strict=True):
            game.learn_one(row, label)
        return game.ledger

    kinds = (nk.Logistic, nk.FTRL, nk.Perceptron, nk.AROW, nk.SecondOrderPerceptron, nk.AdaGrad)
    alone = [played(kind()) for kind in kinds]
    team = played(nk.Hedge([kind() for kind in kinds]))
    assert team.certify_members() == [ledger.certify() for ledger in alone]
    assert [one.log_loss for one in team.members] == [one.log_loss for one in alone]
