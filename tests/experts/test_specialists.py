"""Specialists: copies that begin with each block, their weights, and what is promised on every stretch."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from helpers import novikoff, same
from novikoff.core.errors import InputError, ModelFileError, SpecError
from novikoff.experts import _loops as experts_loops
from novikoff.experts.specialists import STEADY, Specialists, doublings, place, price
from novikoff.game.specs import make
from novikoff.reports import charts, game_chart, page, stretches
from samples import NAMED, SPARSE, VECTORS

SAMPLES = {
    "specialists": [
        ("specialists:[ftrl],block=16", *VECTORS),
        ("specialists:[logistic:bias=0],block=50", *SPARSE),
        ("specialists:[ftrl:metric=newton],block=100", *NAMED),
    ],
}
"""Samples for tests/test_every_learner.py."""


def of_specialists():
    """The same of copies begun at different times."""

    def make():
        return nk.Specialists(nk.FTRL(), 4)

    def game(stream):
        return cases.run_of(make(), stream)

    return cases.Case(
        cases.VECTORS,
        game,
        cases.apart(200),
        None,
        lambda: cases.run_of(cases.Stubborn(nk.FTRL(), 4), cases.apart(200)),
        (
            (lambda: cases.changed(game(cases.apart(50)), loss=7.0), "agrees with the ledger's"),
            (lambda: cases.changed(game(cases.apart(50)), rounds=7), "exactly the recorded rounds"),
            (lambda: cases.warm(make, cases.apart(8), cases.apart(8)), "warm start"),
        ),
    )


CASES = {
    "specialists_promise": of_specialists(),
    "specialists_regret": of_specialists(),
    "stretch_regret": of_specialists(),
}
"""Cases for tests/test_every_theorem.py."""

LN2 = math.log(2.0)


def drifting(rounds=600, every=150, seed=0, width=3):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rounds, width)), np.empty(rounds)
    for start in range(0, rounds, every):
        part = x[start : start + every]
        scores = part @ rng.normal(size=width) * 4.0 + rng.logistic(size=len(part))
        y[start : start + every] = np.where(scores > 0, 1, -1)
    return x, y


def direct(rounds, block, chances, y):
    """The theorem's own mixture: a weight for each stretch, in plain numbers. chances(start, t) is P(+1) of a copy."""
    weights, said, losses = {(STEADY, None): 0.5}, [], []
    for t in range(rounds):
        now = t // block + 1
        if t % block == 0:
            for k in range(doublings(now) + 1):
                weights[now, k] = math.exp(-price(now))
        awake = [(s, k) for s, k in weights if k is None or s <= now < s + 2**k]
        p = sum(weights[one] * chances(one[0], t) for one in awake) / sum(weights[one] for one in awake)
        said.append(p)
        right = p if y[t] == 1 else 1.0 - p
        losses.append(-math.log(right))
        for one in awake:
            paid = chances(one[0], t)
            weights[one] *= (paid if y[t] == 1 else 1.0 - paid) / right
    return said, losses, weights


def test_prices_are_those_of_a_prior_that_sums_to_a_half():
    total = sum((doublings(s) + 1) * math.exp(-price(s)) for s in range(1, 100_001))
    assert total == pytest.approx(0.5 * (1.0 - 1.0 / 100_001), rel=1e-12)
    assert [place(s) for s in range(1, 9)] == [0, 1, 3, 4, 7, 8, 10, 11]


def test_prices_and_the_stretches_of_a_run_of_blocks_have_their_golden_values():
    assert [price(8), price(5)] == pytest.approx([6.356107661, 4.094344562], abs=1e-8)
    told = nk.play(Specialists(nk.FTRL(), 1), drifting(20)).learner.between(3, 13)
    cover = sum(map(price, (3, 4, 8, 12)))  # [3] [4, 7] [8, 11] [12, 13]
    assert told.bound - told.begun == pytest.approx(cover, abs=1e-8)


def test_a_mixture_with_sleepers_has_its_golden_values():
    """Three forecasters, 1 2 3 awake, then 1 3, 2 3, 1 2; who sleeps loses what the mixture does."""
    masses, logs, lost, said = np.array([0.5, 0.25, 0.25]), np.zeros(3), np.zeros(3), []
    up = np.array([[0.9, 0.5, 0.2], [0.8, 0.5, 0.4], [0.3, 0.6, 0.1], [0.7, 0.5, 0.5]])
    for awake, row, y in zip(([0, 1, 2], [0, 2], [1, 2], [0, 1]), up, (1, -1, 1, 1), strict=True):
        some, losses = logs[awake], np.empty((1, len(awake) + 1))
        chances = row[awake] if y == 1 else 1.0 - row[awake]
        right = experts_loops.specialists.mix(masses[awake], some, chances[np.newaxis], losses)[0]
        said.append(right if y == 1 else 1.0 - right)
        logs += math.log(right)
        logs[awake] = some
        lost[awake] += losses[0, -1] - losses[0, :-1]
    assert said == pytest.approx([0.625, 0.76, 0.35, 0.627272727], abs=1e-8)
    assert lost == pytest.approx([0.292020474, 0.089079630, -1.475906520], abs=1e-8)


def test_it_is_the_mixture_of_all_stretches_that_the_theorem_is_about():
    x, y = drifting(100, 25)
    block, copies = 4, {}

    def chances(start, t):
        if (start, t) not in copies:
            learner = nk.FTRL()
            for s in range(max(start - 1, 0) * block, len(x)):
                copies[start, s] = learner.probability_one(x[s])
                learner.learn_one(x[s], int(y[s]))
        return copies[start, t]

    said, losses, _ = direct(len(x), block, chances, y)
    learner = Specialists(nk.FTRL(), block)
    for t in range(len(x)):
        assert learner.probability_one(x[t]) == pytest.approx(said[t], rel=1e-12)
        learner.learn_one(x[t], int(y[t]))
    assert learner.facts().loss == pytest.approx(sum(losses), rel=1e-12)


@given(seed=st.integers(0, 2**32), block=st.integers(1, 40), cuts=st.lists(st.integers(0, 300), max_size=4))
def test_batches_of_any_size_leave_the_same_bits(seed, block, cuts):
    x, y = drifting(300, 70, seed)
    whole, parts = nk.Game(Specialists(nk.FTRL(), block)), nk.Game(Specialists(nk.FTRL(), block))
    whole.learn_batch(nk.Batch(x, y, 1))
    ends = [0, *sorted(cuts), 300]
    for start, stop in pairwise(ends):
        if stop - start == 1:
            parts.learn_one(x[start], int(y[start]))
        elif stop > start:
            parts.learn_batch(nk.Batch(x[start:stop], y[start:stop], start + 1))
    assert same(whole.learner.state(), parts.learner.state())
    assert whole.ledger.certify() == parts.ledger.certify()


@pytest.mark.parametrize("block", [1, 7, 64])
def test_every_run_of_blocks_keeps_its_bound(block):
    x, y = drifting(300)
    learner = Specialists(nk.Logistic(), block)
    ledger = nk.play(learner, (x, y))
    assert all(one.status in ("valid", "vacuous") for one in ledger.certify())
    for first in range(1, 300 - block, 13):
        for last in range(first + 2 * block, 301, 29):
            told = learner.between(first, last)
            assert first <= told.first <= told.last <= last
            assert (told.first - 1) % block == told.last % block == 0
            assert told.log_loss <= told.bound
    whole = learner.between(1, 300)
    assert whole.bound <= whole.steady + LN2 + 1e-6


def test_new_target_is_learned_quickly():
    x, y = drifting(6000, 1500, width=10)
    steady, copies = nk.play(nk.Logistic(), (x, y)), nk.play(Specialists(nk.Logistic()), (x, y))
    assert copies.mistakes < 0.7 * steady.mistakes
    found = {one.theorem: one for one in copies.certify()}
    bound, promise = found["specialists_regret"], found["specialists_promise"]
    assert bound.bound == pytest.approx(steady.log_loss + LN2)
    assert promise.bound == pytest.approx(steady.certify()[0].bound + LN2)


def test_without_change_it_loses_at_most_ln_2():
    x, y = drifting(3000, 3000, width=5)
    steady, copies = nk.play(nk.Logistic(), (x, y)), nk.play(Specialists(nk.Logistic()), (x, y))
    assert steady.log_loss < copies.log_loss <= steady.log_loss + LN2


def test_mixing_costs_something_and_at_most_its_price():
    """Where the steady copy is sure and right early on; the copy begun with it says the same, so it is never all."""
    x, y = np.ones((4000, 1)), np.ones(4000)
    paid = nk.play(Specialists(nk.FTRL(), 1), (x, y)).log_loss - nk.play(nk.FTRL(), (x, y)).log_loss
    assert 0.17 < paid < 0.18 < LN2


class Stubborn(Specialists):
    """Leaves the weights as they are: it follows the newest copies."""

    def _mixed(self, chances, y):
        for copy in self._copies:
            copy.log = 0.0 if copy.start == max(one.start for one in self._copies) else -50.0
        return super()._mixed(chances, y)


class Liar(Specialists):
    """Says that it lost nothing."""

    def facts(self):
        return dataclasses.replace(super().facts(), loss=0.0)


class Excused(Specialists):
    """Says that its steady copy lost more than it did, so that it may lose more itself."""

    def facts(self):
        return dataclasses.replace(super().facts(), steady_loss=super().facts().steady_loss + 10.0)


def test_a_loss_that_the_steady_copy_did_not_pay_is_void():
    found = {one.theorem: one for one in nk.play(Excused(nk.Logistic(), 8), drifting(200, 200)).certify()}
    assert found["specialists_regret"].status == "void"
    assert "loss of the first copy" in found["specialists_regret"].reason


def test_weights_that_do_not_follow_the_losses_are_violated_and_a_loss_that_was_not_paid_is_void():
    x, y = drifting(640, 640)
    found = {one.theorem: one.status for one in nk.play(Stubborn(nk.Logistic(), 8), (x, y)).certify()}
    assert found["specialists_regret"] == "violated"
    assert found["stretch_regret"] == "violated"
    found = {one.theorem: one.status for one in nk.play(Liar(nk.Logistic(), 8), (x, y)).certify()}
    assert set(found.values()) == {"void"}


def test_a_learner_without_probabilities_or_with_a_past_is_refused():
    with pytest.raises(InputError, match="must predict probabilities: Perceptron does not"):
        Specialists(nk.Perceptron())
    learned = nk.FTRL()
    learned.learn_one([1.0], 1)
    with pytest.raises(InputError, match="a specialist must be untrained"):
        Specialists(learned)
    with pytest.raises(InputError, match="a block must be"):
        Specialists(nk.FTRL(), 0)
    with pytest.raises(InputError, match="must contain a whole block of 64"):
        nk.play(Specialists(nk.FTRL()), drifting(100)).learner.between(1, 63)


def test_saved_game_with_altered_copies_is_refused():
    state = nk.play(Specialists(nk.FTRL(), 8), drifting(100)).learner.state()
    state["copies"] = state["copies"][:-1]
    with pytest.raises(ModelFileError, match="the copies awake after 100 rounds"):
        Specialists.restore(state)


def test_command_line_reports_a_range_of_rounds():
    done = novikoff("run", "specialists:[logistic]", "demo:breast-cancer", "-q", "--between", "100:400")
    assert done.returncode == 0
    assert "Rounds 129 to 384: " in done.stdout.replace("\n", " ")
    assert "Largest weights: the copy started in round" in done.stdout.replace("\n", " ")
    refused = novikoff("run", "logistic", "demo:breast-cancer", "-q", "--between", "100:400")
    assert refused.returncode == 2
    assert "true with another learner" in refused.stderr
    assert "must be two rounds" in novikoff("run", "logistic", "demo:iris", "--between", "7").stderr


def test_every_copy_knows_the_encoding_of_the_table():
    frame = pd.DataFrame({"a": np.arange(40) % 7, "b": ["x", "y"] * 20, "label": ["no", "yes", "yes", "no"] * 10})
    learner = Specialists(nk.Logistic(), 8)
    ledger = nk.play(learner, frame)
    assert ledger.encoding is not None
    assert {id(copy.learner.encoding) for copy in learner._copies} == {id(ledger.encoding)}
    assert learner.encoding is ledger.encoding


def test_drift_in_a_spec_is_specialists_around_the_learner():
    learner = make("linear-mixture:fast=true,seed=3,drift=true", "learner")
    assert isinstance(learner, Specialists)
    assert (learner.block, type(learner.steady), learner.steady.fast, learner.steady.seed) == (
        256,
        nk.LinearMixture,
        True,
        3,
    )
    assert isinstance(make("linear-mixture:drift=false", "learner"), nk.LinearMixture)
    with pytest.raises(SpecError, match="drift of linear-mixture must be true or false: got 3"):
        make("linear-mixture:drift=3", "learner")
    with pytest.raises(InputError, match="must predict probabilities: LinearMixtureRegression does not"):
        make("linear-mixture-regression:drift=true", "learner")


def test_drift_learns_a_new_target_and_costs_at_most_ln_2_otherwise():
    x, y = drifting(2048, 512, width=10)
    assert nk.play("linear-mixture:drift=true", (x, y)).log_loss < 0.88 * nk.play("linear-mixture", (x, y)).log_loss
    x, y = drifting(768, 768)
    plain, drift = nk.play("linear-mixture", (x, y)), nk.play("linear-mixture:drift=true", (x, y))
    assert drift.log_loss <= plain.log_loss + LN2
    assert drift.spec == "linear-mixture:drift=true"
    told = {one.theorem: one.status for one in drift.certify()}
    assert set(told) == {"specialists_regret", "specialists_promise", "stretch_regret"}
    assert set(told.values()) <= {"valid", "vacuous"}


def test_stretches_are_the_whole_game_in_parts_that_cost_one_price_each():
    learner = nk.play(Specialists(nk.FTRL(), 8), drifting(333)).learner
    for most in (2, 5, 24, 1000):
        parts = learner.stretches(most)
        assert 1 < len(parts) <= most
        assert [parts[0].first, *(part.last + 1 for part in parts)] == [*(part.first for part in parts), 329]
        assert all(part == learner.between(part.first, part.last) for part in parts)
        for part in parts[1:-1]:
            assert part.bound - part.begun == pytest.approx(price((part.first - 1) // 8 + 1), abs=1e-6)
    assert nk.play(Specialists(nk.FTRL(), 8), drifting(7)).learner.stretches(5) == []


def test_stretches_are_described_and_drawn():
    ledger = nk.play(Specialists(nk.FTRL(), 8), drifting(333))
    parts = ledger.learner.stretches(24)
    panels = game_chart.chart(ledger, ledger.certify(), "specialists:[ftrl]").panels
    drawn = {line.name: line.points for line in panels[-1].lines}
    edges = [0, *(part.last for part in parts)]
    for name, values in (("log loss per row", [part.log_loss for part in parts]),
                         ("guaranteed there", [part.bound for part in parts]),
                         ("best constant of the stretch", [part.constant[0] for part in parts])):  # fmt: skip
        each = [one / part.rows for one, part in zip(values, parts, strict=True)]
        assert drawn[name] == charts.levels(each, edges)
    assert [panel for panel in panels if "guaranteed there" in str(panel)] == [panels[-1]]
    (told,) = stretches.describe(ledger)
    better = sum(part.log_loss < part.constant[0] for part in parts)
    assert f"Over {len(parts)} stretches of up to 16 rows" in told
    assert f"better than the stretch's best constant in {better}," in told
    assert "guaranteed there" in page.document(ledger)
    plain = nk.play(nk.FTRL(), drifting(333))
    assert not list(stretches.describe(plain))
    assert "guaranteed there" not in page.document(plain)
    assert "Best constant of these rounds: " in str(parts[0])
