"""The theorems of learners in a metric: they hold on arbitrary streams, and who breaks the rule is found out."""

import dataclasses
import math
from unittest import mock

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff.comparators import metric_tracker
from novikoff.comparators.metric import Diagonal, Full
from novikoff.comparators.metric_fit import best_for
from novikoff.convex.adagrad import AdaGrad
from novikoff.convex.ftrl import FTRL
from novikoff.convex.logistic import Logistic
from novikoff.convex.multiclass_ftrl import MulticlassFTRL
from novikoff.convex.vaw import VAW
from novikoff.core.types import Batch
from novikoff.game import ledger_state
from novikoff.game.game import Game
from novikoff.game.specs import make
from novikoff.linear.arow import AROW
from novikoff.linear.multiclass_perceptron import MulticlassPerceptron
from novikoff.linear.multiclass_second_order_perceptron import MulticlassSecondOrderPerceptron
from novikoff.linear.second_order_perceptron import SecondOrderPerceptron


def paid_more_since(run):
    """The same, in the rounds since copies of its weights were made."""
    frozen = tuple(dataclasses.replace(u, paid=u.paid + 500.0) for u in run.tracked.frozen)
    return dataclasses.replace(cases.paid_more(run), tracked=dataclasses.replace(run.tracked, frozen=frozen))


CASES = {
    "ftrl_regret": cases.of_metric(
        nk.FTRL, cases.apart(50), cases.paid_more, lambda: cases.run_of(nk.FTRL(bias=0.0), cases.orthogonal(12, 1))
    ),
    "ftrl_suffix": dataclasses.replace(
        cases.of_metric(nk.FTRL, cases.apart(50), paid_more_since),
        void=(
            (
                lambda: dataclasses.replace(cases.run_of(nk.FTRL(), cases.apart(50)), rounds=1),
                "evaluated on every round",
            ),
            (lambda: cases.changed(cases.run_of(nk.FTRL(), cases.apart(50)), rounds=7), "exactly the recorded rounds"),
            (lambda: cases.changed(cases.run_of(nk.FTRL(), cases.apart(50)), loss=7.0), "agrees with the ledger's"),
        ),
    ),
    "logistic_regret": cases.of_metric(nk.Logistic, cases.apart(50), cases.paid_more),
    "metric_mistakes": cases.of_metric(
        nk.SecondOrderPerceptron,
        cases.apart(20),
        lambda run: dataclasses.replace(
            cases.changed(run, mistakes=40, updates=40),
            mistakes=40,
            tracked=dataclasses.replace(run.tracked, mistakes=40, updates=40),
        ),
        lambda: cases.run_of(nk.SecondOrderPerceptron(ridge=0.5, bias=0.0), cases.orthogonal(12, 1)),
    ),
}
"""Cases for tests/test_every_theorem.py."""

S6 = (
    np.array([(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (-1, 2)], dtype=float),
    np.array([-1, -1, 1, -1, 1, 1], dtype=np.int8),
)
U = np.array([0.0, 0.5, 1.0])  # the constant has no weight
SPECS = [
    "ftrl", "ftrl:newton,rate=4", "logistic", "logistic:ridge=1,radius=1,scale_free=false", "arow",
    "arow:diagonal=true", "second-order-perceptron", "second-order-perceptron:diagonal=true,scale_free=false",
    "vaw:probabilities=true",
]  # fmt: skip


def found(ledger):
    """The certificate, but that against the learner's own weights."""
    (certificate,) = (one for one in ledger.certify() if one.theorem != "ftrl_suffix")
    return certificate


def against(learner, u):
    """The comparator u of a game on S6."""
    ledger = nk.play(learner, S6)
    tracker = ledger.tracker
    with mock.patch.object(metric_tracker, "best_for", return_value=[u]):
        return found(ledger), tracker.facts(learner).comparators[1]


def test_golden_bounds():
    certificate, u = against(FTRL(bias=0.0), U)
    assert u.log_loss == pytest.approx(3.291170223, abs=1e-8)
    assert u.log_loss + u.square / 2 + certificate.quantities["delta"] == pytest.approx(6.368394527, abs=1e-8)
    certificate, u = against(FTRL("newton", bias=0.0), U)
    assert u.log_loss + u.square / 2 + certificate.quantities["delta"] == pytest.approx(7.917166833, abs=1e-8)
    certificate, u = against(Logistic(ridge=1.0, scale_free=False, bias=0.0), U)
    assert u.parabola + u.square / 2 + certificate.quantities["delta"] == pytest.approx(5.241791119, abs=1e-8)
    for learner, bound in (
        (SecondOrderPerceptron(scale_free=False, bias=0.0), 8.795831523),
        (SecondOrderPerceptron(diagonal=True, scale_free=False, bias=0.0), 8.479583314),
        (AROW(scale_free=False, bias=0.0), 7.472135955),
    ):
        certificate, u = against(learner, U)
        idle = learner.updates - learner.mistakes
        value = u.hinge - idle + math.sqrt(u.square * certificate.quantities["gained"])
        assert (u.hinge, value) == pytest.approx((4.0, bound), abs=1e-8)


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_theorem_on_mistakes_is_tight_on_orthogonal_examples(diagonal):
    learner = SecondOrderPerceptron(ridge=0.5, diagonal=diagonal, bias=0.0)
    certificate = found(nk.play(learner, (np.eye(12), np.full(12, -1))))
    value = certificate.quantities["hinge"] + math.sqrt(
        certificate.quantities["square"] * certificate.quantities["gained"]
    )
    assert (certificate.observed, value) == pytest.approx((12, 12.0), abs=1e-6)


def test_ftrl_is_within_five_percent_on_orthogonal_examples():
    certificate = found(nk.play(FTRL(bias=0.0), (np.eye(12), np.full(12, -1))))
    assert 1.0 < certificate.bound / certificate.observed < 1.05


def stream(rng):
    """Rows and labels of any kind: of very different scales, sparse, growing, with zero rows; labels of any sort."""
    rounds, width = int(rng.integers(2, 60)), int(rng.integers(1, 6))
    x = [
        lambda: rng.normal(size=(rounds, width)),
        lambda: rng.integers(-2, 3, (rounds, width)).astype(float),
        lambda: rng.standard_t(1.2, size=(rounds, width)),
        lambda: rng.normal(size=(rounds, width)) * 10.0 ** rng.integers(-3, 4, width),
        lambda: np.eye(width)[rng.integers(0, width, rounds)],
        lambda: rng.normal(size=(rounds, width)) * (rng.random((rounds, width)) < 0.4),
        lambda: rng.normal(size=(rounds, width)) * np.geomspace(1.0, 100.0, rounds)[:: rng.choice([-1, 1]), None],
    ][rng.integers(7)]()
    x[rng.random(rounds) < 0.05] = 0.0
    planted = np.where(x @ rng.normal(size=width) >= 0.0, 1, -1)
    kind = rng.integers(4)
    y = np.where(rng.random(rounds) < (0.0, 0.15, 0.5, 0.5)[kind], -planted, planted)
    return x, None if kind == 3 else y.astype(np.int8)


def played(spec, x, y):
    """A game; labels against the learner where there are none."""
    learner = make(spec, "learner")
    if y is not None:
        return nk.play(learner, (x, y))
    game = Game(learner)
    for row in x:
        game.learn_one(row, -learner.predict_one(row))
    return game.ledger


@pytest.mark.parametrize("number", [20, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("spec", SPECS)
def test_the_theorems_hold_on_arbitrary_streams(spec, number):
    rng = np.random.default_rng(SPECS.index(spec) + number)
    for _ in range(number):
        certificate = found(played(spec, *stream(rng)))
        assert certificate.status in ("valid", "vacuous"), str(certificate)


def test_gained_sum_may_be_negative():
    """Its curvature pays for more than its steps cost: the slack of a comparison is of its size, not of its sign."""
    x = 1.1 ** np.arange(60.0)[:, None]
    ledger = played("logistic:ridge=1,radius=1,scale_free=false", x, np.ones(60, dtype=np.int8))
    assert ledger.learner.facts().gained < -1.0
    assert found(ledger).status in ("valid", "vacuous")


def naive_ftrl(x, y, metric, rate, u):
    """FTRL by its definition, in numpy: log loss, and the bound with u."""
    width = x.shape[1]
    largest, squares, seen, size, gradient, curve = np.zeros((6, width))
    loss, delta, comparator = 0.0, 0.0, 0.0
    for row, label in zip(x, y, strict=True):
        here = row != 0.0
        largest[here] = np.maximum(largest, np.abs(row))[here]
        squares[here] += row[here] ** 2
        seen[here] += 1
        size[here] = np.maximum(size[here], np.sqrt(squares[here] / seen[here]))
        root = np.sqrt(largest**2 + curve)
        a = (size if metric == "sqrt" else root) * root / rate
        z0, v = -(gradient[here] * row[here] / a[here]).sum(), (row[here] ** 2 / a[here]).sum()
        low, high = min(z0, 0.0), max(z0, 0.0)
        for _ in range(200):
            z = (low + high) / 2
            low, high = (z, high) if z + v / 2 * math.tanh(z / 2) < z0 else (low, z)
        q = 1 / (1 + math.exp(label * z))
        loss += math.log1p(math.exp(-label * z))
        delta += v * q * (1 - q) / 2
        gradient -= label * q * row
        curve += q * (1 - q) * row**2
        comparator += np.logaddexp(0.0, -label * (u @ row))
    root = np.sqrt(largest**2 + curve)
    a = (size if metric == "sqrt" else root) * root / rate
    return loss, comparator + (a * u * u).sum() / 2 + delta


@pytest.mark.parametrize("metric", ["sqrt", "newton"])
def test_ftrl_and_its_bound_match_a_naive_version(metric):
    rng, slack = np.random.default_rng(0), []
    for _ in range(10):
        x, y = stream(rng)
        y = np.where(rng.random(len(x)) < 0.5, 1, -1) if y is None else y
        learner = FTRL(metric, bias=0.0)
        ledger = nk.play(learner, (x, y))
        tracker = ledger.tracker
        u = np.zeros(x.shape[1] + 1)
        tracker.catch_up()
        rows, labels, scores = tracker._together()
        best = best_for(learner.goals()[0], rows, tracker.places, labels, scores[:, 0], 0.0)[0]
        u[: len(best)] = best
        loss, bound = naive_ftrl(x, y, metric, 1.0, u[1:])
        zero = naive_ftrl(x, y, metric, 1.0, 0.0 * u[1:])[1]
        assert ledger.log_loss == pytest.approx(loss, abs=1e-7)
        assert found(ledger).bound == pytest.approx(min(bound, zero), abs=1e-6)
        for _ in range(5):  # no other is much better
            other = u[1:] * (1.0 + 0.3 * rng.normal(size=x.shape[1]))
            assert naive_ftrl(x, y, metric, 1.0, other)[1] >= found(ledger).bound - 1e-3
        slack.append((bound - loss) / len(x))
    assert min(slack) < 0.1


def test_the_best_in_hindsight_of_vaw_is_exact():
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, _ = stream(rng)
        y = rng.normal(size=len(x)) * 10.0
        learner = VAW(ridge=2.0, scale_free=False, bias=0.0)
        ledger = nk.play(learner, (x, y))
        certificate, facts = found(ledger), learner.facts()
        a = 2.0 * np.eye(x.shape[1]) + x.T @ x
        u = np.linalg.solve(a, x.T @ y)
        least = 2.0 * u @ u + ((x @ u - y) ** 2).sum()
        assert certificate.quantities["best_in_hindsight"] == pytest.approx(least, rel=1e-6)
        assert ledger.loss == pytest.approx(
            facts.most + facts.chi - facts.credit, rel=1e-6
        )  # equality: the ridge is fixed
        assert certificate.status in ("valid", "vacuous")


class Skipping(FTRL):
    """Learns nothing from every other round, and does not say so."""

    def _score(self, rows, y):
        held = self._held.copy()
        played = super()._score(rows, y)
        if self.rounds % 2:
            self._held[:, 4:] = held[:, 4:]
        return played


class Shrinking(FTRL):
    """Forgets half of its curvature now and then."""

    def _score(self, rows, y):
        if self.rounds % 10 == 9:
            self._held[:, [0, 3, 5]] *= 0.25
        return super()._score(rows, y)


class Pretending(Logistic):
    """Plays another score than it learns with."""

    def play_one(self, x, y):
        return super().play_one(x, y)._replace(probabilities=0.3)


class Careless(AROW):
    """Says the opposite of what it learns with, now and then."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(predictions=-played.predictions) if self.rounds % 5 == 4 else played


@pytest.mark.parametrize("kind", [Skipping, Shrinking, Pretending, Careless])
def test_learners_that_break_their_rule_are_detected(kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4))
    y = np.where(x @ rng.normal(size=4) + rng.normal(size=200) >= 0.0, 1, -1)
    game = Game(kind())
    for row, label in zip(x, y.tolist(), strict=True):
        game.learn_one(row, label)
    assert found(game.ledger).status in ("void", "violated")
    honest = Game(kind.__mro__[1]())
    for row, label in zip(x, y.tolist(), strict=True):
        honest.learn_one(row, label)
    assert found(honest.ledger).status in ("valid", "vacuous")


class MoreUpdates(AROW):
    """Claims updates that it did not make."""

    def facts(self):
        return dataclasses.replace(super().facts(), updates=super().facts().updates + 50)


def claiming_less(kind):
    """A learner that claims to have gained less than it did, in its facts and in its goals."""

    class Claiming(kind):
        def facts(self):
            facts = super().facts()
            lower = {name: getattr(facts, name) - 1000.0 for name in ("gained", "dual", "least")}
            return dataclasses.replace(facts, **lower)

        def goals(self):
            return [goal._replace(promised=goal.promised - 1000.0) for goal in super().goals()]

    return Claiming()


def noisy(labels=2):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4))
    scores = x @ rng.normal(size=(4, labels)) + rng.normal(size=(200, labels))
    return (x, scores.argmax(axis=1)) if labels > 2 else (x, np.where(scores[:, 0] >= 0.0, 1, -1))


def test_updates_are_counted_from_the_scores():
    certificate = found(nk.play(MoreUpdates(), noisy()))
    assert certificate.status == "void"
    assert "it learned in exactly the rounds in which its scores require it" in certificate.reason


@pytest.mark.parametrize("kind", [FTRL, Logistic, AROW, SecondOrderPerceptron, AdaGrad])
def test_bound_ignores_claims_of_the_learner(kind):
    honest, claimed = (
        {one.theorem: one for one in nk.play(learner, noisy()).certify() if one.theorem != "ftrl_suffix"}
        for learner in (kind(), claiming_less(kind))
    )
    for name, one in claimed.items():
        assert one.status == honest[name].status == "valid"
        assert one.observed == honest[name].observed <= one.bound <= honest[name].bound


@pytest.mark.parametrize("kind", [MulticlassFTRL, MulticlassPerceptron, MulticlassSecondOrderPerceptron])
def test_multiclass_bound_ignores_claims_of_the_learner(kind):
    for learner in (kind(), claiming_less(kind)):
        (certificate,) = nk.play(learner, noisy(3), labels="multiclass").certify()
        assert certificate.status in ("valid", "vacuous")
        assert certificate.observed <= certificate.bound


@pytest.mark.parametrize("spec", SPECS)
def test_warm_start_is_void_except_for_theorems_from_any_start(spec):
    learner = make(spec, "learner")
    learner.learn_many(Batch(*S6, 1))
    said = {certificate.theorem: certificate.status for certificate in nk.play(learner, S6).certify()}
    kind = spec.partition(":")[0]
    assert said.pop("ftrl_suffix", None) in (("valid", "vacuous") if kind == "ftrl" else (None,))
    assert said == ({f"{kind}_regret": "void"} if kind in ("ftrl", "vaw") else {})  # others have nothing to watch by


def test_one_pass_comparators_are_fitted_on_the_first_rows_and_see_all():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 5)) * 10.0 ** np.arange(5)
    y = np.where((x / 10.0 ** np.arange(5)) @ rng.normal(size=5) + rng.normal(size=4000) >= 0.0, 1, -1).astype(np.int8)
    for spec in ("ftrl", "logistic", "arow"):
        bounds = []
        for keep, size in ((16_000_000, 4000), (30_000, 4000), (30_000, 7)):
            learner = make(spec, "learner")
            ledger = nk.Ledger(learner)
            ledger.tracker = learner.tracker()
            ledger.tracker.keep = keep
            game = Game(learner, ledger)
            for start in range(0, 4000, size):
                game.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
            if keep == 30_000:
                ledger = ledger_state.restore(ledger_state.state_of(ledger), learner)
                assert ledger.tracker.facts(learner).fitted < 500
            certificate = found(ledger)
            assert certificate.status == "valid", str(certificate)
            bounds.append(certificate.bound)
        assert bounds[0] <= bounds[1] == bounds[2]
        assert bounds[1] < 1.6 * bounds[0]


def test_the_forms_of_a_metric_are_bounds_also_where_it_is_nearly_singular():
    rng = np.random.default_rng(6)
    for _ in range(200):
        d = int(rng.integers(1, 6))
        x = rng.integers(-3, 4, (int(rng.integers(1, 9)), d)).astype(float)
        x[:, -1] = x[:, 0]
        ridge = 2.0 ** rng.integers(-30, 5, d)
        b = rng.integers(-9, 10, d).astype(float)
        full = Full(np.arange(d), ridge, x.T @ x, len(x))
        exact = exact_inverse_square(full.matrix, b)
        least, most = full.inverse_between(b, np.zeros(d))
        assert least <= exact <= most == full.inverse_square(b, np.zeros(d))
        assert full.inverse_square(b, np.zeros(d)) <= exact * (1.0 + 1e-4) + 1e-4
        low, high = Diagonal(ridge).inverse_between(b, np.full(d, 0.5))
        assert low <= (b * b / ridge).sum() <= Diagonal(ridge).inverse_square(b, np.zeros(d)) <= high
        assert full.square(b) >= b @ full.matrix @ b


def exact_inverse_square(matrix, b):
    """b'A^-1 b in fractions."""
    from fractions import Fraction

    d = len(b)
    rows = [[Fraction(v) for v in row] + [Fraction(c)] for row, c in zip(matrix.tolist(), b.tolist(), strict=True)]
    for i in range(d):
        for j in range(i + 1, d):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [left - factor * right for left, right in zip(rows[j], rows[i], strict=True)]
    w = [Fraction(0)] * d
    for i in range(d - 1, -1, -1):
        w[i] = (rows[i][d] - sum(rows[i][j] * w[j] for j in range(i + 1, d))) / rows[i][i]
    return float(sum(Fraction(c) * v for c, v in zip(b.tolist(), w, strict=True)))


def test_a_ledger_and_its_learner_must_agree_on_the_loss():
    ledger = nk.play(FTRL(), S6)
    facts = ledger.learner.facts()
    ledger.learner.facts = lambda: dataclasses.replace(facts, loss=facts.loss - 1.0)
    assert found(ledger).status == "void"


class SkippingVAW(VAW):
    """Learns nothing from every other round, and does not say so."""

    def _learn(self, rows, y):
        arrays = self.matrix.held, self.matrix.inverse, self.matrix.sums
        before = [array.copy() for array in arrays]
        played = super()._learn(rows, y)
        if self.rounds % 2:
            for array, then in zip(arrays, before, strict=True):
                array[...] = then
        return played


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_vaw_that_skips_rounds_is_detected(probabilities):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4))
    y = x @ rng.normal(size=4) + 0.3 * rng.normal(size=200)
    for kind, status in ((SkippingVAW, "void"), (VAW, "valid")):
        game = Game(kind(probabilities=probabilities))
        for row, outcome in zip(x, (np.where(y < 0.0, -1, 1) if probabilities else y).tolist(), strict=True):
            game.learn_one(row, outcome)
        assert found(game.ledger).status == status


@pytest.mark.parametrize("spec", ["arow", "second-order-perceptron"])
def test_features_that_are_the_same_and_a_tiny_ridge_still_have_a_certificate(spec):
    rng = np.random.default_rng(4)
    x = np.repeat(rng.normal(size=(200, 1)), 3, axis=1)
    y = np.where(x[:, 0] * np.where(rng.random(200) < 0.2, -1, 1) < 0.0, -1, 1)
    assert found(played(f"{spec}:ridge=1e-13", x, y)).status in ("valid", "vacuous", "void")


@pytest.mark.parametrize("spec", ["logistic", "arow", "arow:diagonal=true", "second-order-perceptron"])
def test_error_of_the_sums_grows_with_the_examples_even_if_the_metric_does_not(spec):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(50, 2))
    doubts = []
    for size in (1.0, 2.0**20):
        learner = make(f"{spec}{',' if ':' in spec else ':'}scale_free=false,bias=0", "learner")
        nk.play(learner, (x[:1] * size, [-1]))
        doubts.append(learner.goals()[0].added[1][1:])
    assert doubts[1] == pytest.approx(2.0**20 * doubts[0])


def suffix(ledger):
    (certificate,) = (one for one in ledger.certify() if one.theorem == "ftrl_suffix")
    return certificate


def test_since_a_round_ftrl_is_measured_by_the_weights_it_had_then():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(70, 3)) * [1.0, 100.0, 0.01]
    y = np.where(x @ [1.0, -0.01, 50.0] + rng.normal(size=70) < 0.0, -1, 1)
    learner, scores, frozen, values = FTRL(bias=0.0), [], {}, {}
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        if t in (2, 4, 8, 16, 32, 64):
            frozen[t] = learner.weights.copy(), learner.diagonal()[1:], learner.sums[1]
        scores.append(learner.score_one(row))
        learner.learn_one(row, label)
    bound, until, metric, added = 0.0, 70, learner.diagonal()[1:], learner.sums[1]
    for after, (w, then, delta) in sorted(frozen.items(), reverse=True):  # each copy until the next
        bound += np.logaddexp(0.0, -(y * (x @ w))[after:until]).sum() + ((metric - then) * w * w).sum() / 2
        until, metric = after, then
        if after <= 70 / 4:
            values[after] = bound + added - delta, np.logaddexp(0.0, -(y * scores)[after:]).sum()
    certificate = suffix(nk.play(FTRL(bias=0.0), (x, y)))
    after = certificate.quantities["after"]
    assert (certificate.bound, certificate.observed) == pytest.approx(values[after], abs=1e-8)
    assert certificate.quantity == f"log loss after round {after}"
    assert certificate.trivial == pytest.approx((70 - after) * math.log(2.0))
    assert min(bound - paid for bound, paid in values.values()) == pytest.approx(
        certificate.bound - certificate.observed
    )


@pytest.mark.parametrize("kind", [Skipping, Shrinking])
def test_skipping_or_forgetting_is_detected_by_own_weights(kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 4))
    y = np.where(x @ rng.normal(size=4) + rng.normal(size=200) >= 0.0, 1, -1)
    for who, statuses in ((kind, ["void"]), (FTRL, ["valid", "vacuous"])):
        game = Game(who())
        for row, label in zip(x, y.tolist(), strict=True):
            game.learn_one(row, label)
        assert suffix(game.ledger).status in statuses


def test_a_learner_that_learned_before_is_measured_by_the_weights_it_came_with():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 4))
    y = np.where(x @ rng.normal(size=4) + rng.normal(size=300) >= 0.0, 1, -1).astype(np.int8)
    learner = FTRL()
    learner.learn_many(Batch(x[:100], y[:100], 1))
    ledger = nk.play(learner, (x[100:103], y[100:103]))
    assert ledger.tracker.frozen._ended[0][0] == 0
    certificate = suffix(ledger)
    assert (certificate.status, certificate.quantities["after"]) == ("valid", 0)
    assert found(ledger).status == "void"
    bounds = set()
    for size in (200, 7, 1):
        learner = FTRL()
        learner.learn_many(Batch(x[:100], y[:100], 1))
        game = Game(learner)
        for start in range(100, 300, size):
            game.learn_batch(Batch(x[start : start + size], y[start : start + size], start - 99))
            ledger = ledger_state.restore(ledger_state.state_of(game.ledger), learner)
            game = Game(learner, ledger) if size == 7 else game
        bounds.add(suffix(game.ledger).bound)
    assert len(bounds) == 1


def test_table_that_grew_after_copying_weights_has_a_bound():
    learner = FTRL()
    game = Game(learner)
    game.learn_batch(Batch(np.ones((15, 1)), np.array([1, -1, 1] * 5, np.int8), 1))
    before = suffix(game.ledger).bound
    learner.widen(7)
    game.ledger.tracker._cached = None
    assert suffix(game.ledger).bound == before
    game.learn_batch(Batch(np.zeros((1, 7)), np.array([1], np.int8), 16))
    assert suffix(game.ledger).status in ("valid", "vacuous")


def test_weights_of_any_length_are_no_float_drift():
    game, x = Game(FTRL(rate=2.0**20)), np.ones((2**15, 1))
    for first in range(1, 2**18, len(x)):
        game.learn_batch(Batch(x, np.ones(len(x), np.int8), first))
    assert suffix(game.ledger).status in ("valid", "vacuous")


def test_bound_by_own_weights_holds_on_arbitrary_streams():
    rng = np.random.default_rng(10)
    for _ in range(60):
        ledger = played(f"ftrl:{rng.choice(['sqrt', 'newton'])},rate={2.0 ** rng.integers(-3, 4)}", *stream(rng))
        for one in ledger.certify():
            assert one.status in ("valid", "vacuous"), str(one)
