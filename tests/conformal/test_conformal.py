"""Sets around any learner: golden values, what is in a set, groups, the governor, and trackers that are broken."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.contrarian import Contrarian
from novikoff.conformal import _loops as conformal_loops
from novikoff.conformal._loops.conformal_layout import BINS
from novikoff.core.errors import InputError, ModelFileError
from novikoff.data.groups import Groups
from novikoff.reports import coverage
from samples import CLASSES, GRID, MATRIX, NAMED, NUMBERS, SPARSE, VECTORS

SAMPLES = {
    "conformal": [
        ("conformal:[ftrl],alpha=0.2", *VECTORS),
        ("conformal:[perceptron:bias=1,scale=standard],rule=quantile", *VECTORS),
        ("conformal:[ftrl],groups=0,rule=decaying,step=0.5", *GRID),
        ("conformal:[ftrl],groups=[0,2],step=0.5", *GRID),
        ("conformal:[perceptron],groups=0", *GRID),
        ("conformal:[arow],groups=2", *SPARSE),
        ("conformal:[perceptron:normalize=true],step=0.2", *SPARSE),
        ("conformal:[logistic],groups=red,step=0.5", *NAMED),
        ("conformal:[kernel-perceptron:gamma=0.5]", *VECTORS),
        ("conformal:[vaw]", *NUMBERS),
        ("conformal:[hedge:learners=[perceptron,[rbp:budget=20]]]", *VECTORS),
        (f"conformal:[halving:[{MATRIX}]],start=0", *CLASSES),
        (f"conformal:[consistent:[{MATRIX}],random=true]", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""


class Unmoved:
    """A rule for sets that never changes its mind."""

    def threshold(self):
        return 0.5

    def see(self, score):
        pass


def sets_changed(run, **values):
    """The run of one whose sets held other things."""
    return dataclasses.replace(run, coverage=dataclasses.replace(run.coverage, **values))


def of_sets(rule, tight, cheat, *wrong, times=30, groups=None):
    """A conformal learner around a constant: whatever the stream is."""
    game = lambda stream: cases.run_of(nk.Conformal(nk.Constant(), 0.1, 0.05, 0.5, groups, *rule), stream)
    sample = cases.orthogonal(3, times)
    void = tuple((lambda change=change: change(game(sample)), why) for change, why in wrong)
    return cases.Case(cases.VECTORS, game, sample, tight, lambda: cheat(game(sample)), void)


CASES = {
    "coverage_deviation": of_sets(
        (),
        lambda: cases.run_of(nk.Conformal(nk.Constant(), alpha=2**-10, step=0.25, start=0.0), Contrarian(), 10),
        lambda run: sets_changed(run, misses=(90,), missed=(90,), after=(0.5 + 0.05 * 81.0,)),
        (lambda run: sets_changed(run, after=(0.5,)), "moved by the step"),
        (lambda run: sets_changed(run, played=(89,)), "counts include"),
    ),
    "coverage_pinball": of_sets(
        (),
        lambda: cases.run_of(nk.Conformal(nk.Constant(), alpha=0.25, step=0.0625), cases.on_one_side(40)),
        lambda run: sets_changed(run, pinball=80.0),
        (lambda run: sets_changed(run, after=(0.5,)), "moved by the step"),
    ),
    "coverage_overlapping": of_sets(
        (),
        lambda: cases.run_of(
            nk.Conformal(nk.Constant(), 0.1, 0.05, 0.0, [0, 1]), [((1.0, float(other)), -1) for other in range(22)]
        ),
        lambda run: sets_changed(
            run,
            misses=(900, 0, 0),
            missed=(900, 0, 0),
            rounds=(900, 0, 0),
            played=(900, 0, 0),
            after=(0.5 + 0.1 * 810.0, 0.5, 0.5 + 0.05 * 810.0),
        ),
        (lambda run: sets_changed(run, after=(0.9, 0.9, 0.9)), "misses of its groups"),
        (lambda run: sets_changed(run, misses=(8, 8, 8)), "the thresholds counted the same"),
        times=300,
        groups=[0, 1],
    ),
    "coverage_decaying": of_sets(
        ("decaying",),
        lambda: cases.run_of(
            nk.Conformal(nk.Constant(), 0.1, 0.05, 0.0, rule="decaying"), [((1.0,), 1)] * 3500 + [((1.0,), -1)] * 1500
        ),
        lambda run: sets_changed(run, misses=(900,), missed=(900,), after=(810.0 * 0.05 / 30.0,), moved=(0.0,)),
        (lambda run: sets_changed(run, after=(0.9,)), "agree with the thresholds"),
        (lambda run: sets_changed(run, misses=(8,)), "the thresholds counted the same"),
        times=300,
    ),
    "coverage_governed": of_sets(
        ("quantile",),
        lambda: cases.run_of(nk.Conformal(nk.Constant(), rule=Unmoved()), Contrarian(), 2000),
        lambda run: sets_changed(run, misses=(90,), missed=(90,)),
        (lambda run: sets_changed(run, misses=(8,)), "the governor counted the same"),
    ),
}
"""Cases for tests/test_every_theorem.py."""

SCORES = np.array([0.5, 1.2, 3.0, 0.2, 0.9, 2.0, 1.5, 0.1])


def play(learner, environment, **more):
    ledger = nk.play(learner, environment, **more)
    return ledger, {one.theorem: one for one in ledger.certify()}


def labelled(rounds=400, seed=0, width=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, width))
    return x, np.where(x @ np.arange(1.0, width + 1) + rng.normal(size=rounds) > 0.0, 1, -1)


def numbered(rounds=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 2))
    return nk.RegressionArrays(x, 100.0 + x @ [3.0, -2.0] + rng.normal(size=rounds))


def test_the_tracker_has_its_golden_values():
    # scores of up to 3 here; ours are of up to 1, so all of it a quarter: thresholds and losses are a quarter too
    counts, history, paid = np.zeros((1, 2), dtype=np.int64), np.zeros((2, BINS)), np.zeros(1)
    q, missed, groups = np.empty(8), np.empty(8, dtype=bool), np.zeros(8, dtype=np.int64)
    conformal_loops.conformal.track(SCORES / 4, groups, counts, 0.2, 0.125, 0.25, history, paid, q, missed)
    rounds, misses = counts[0].tolist()
    after = [*(4 * q[1:]), 4 * (0.25 + 0.125 * (misses - 0.2 * rounds))]
    assert after == pytest.approx([0.9, 1.3, 1.7, 1.6, 1.5, 1.9, 1.8, 1.7], abs=1e-8)
    assert misses - 0.2 * rounds == pytest.approx(1.4, abs=1e-8)
    assert 4 * paid[0] == pytest.approx(2.96, abs=1e-8)

    def pinball(c):
        return np.where(c < SCORES, 0.8 * (SCORES - c), 0.2 * (c - SCORES)).sum()

    assert min(map(pinball, SCORES)) == pytest.approx(2.32, abs=1e-8)


def test_set_contains_every_label_with_score_up_to_the_threshold():
    learner = nk.Conformal(nk.FTRL(), alpha=0.1)
    nk.play(learner, labelled())
    q = learner.standing()["thresholds"][0]
    for x in labelled(50, seed=1)[0]:
        p = learner.probability_one(x)
        assert learner.predict_set(x) == tuple(y for y, chance in ((-1, 1.0 - p), (1, p)) if 1.0 - chance <= q)


@pytest.mark.parametrize("spec", ["ftrl", "auto:fast=true", "perceptron:bias=1", "arow", "ellipsoid", "constant",
                                  "rbp:budget=9"])  # fmt: skip
def test_predicted_set_is_the_counted_set(spec):
    game = nk.Game(nk.Conformal(nk.make(spec, "learner"), alpha=0.2))
    for t, (x, y) in enumerate(zip(*labelled(60), strict=True), 1):
        said, before = game.predict_set(x), game.ledger.coverage.missed
        game.learn_one(x, y)
        assert game.ledger.coverage.missed == before + (y not in said), t


def test_predicted_interval_matches_the_counted_one_and_starts_infinite():
    game = nk.Game(nk.Conformal(nk.VAW(), alpha=0.2))
    (batch,) = numbered(200).batches()
    assert game.predict_set(batch.x[0]) == (-math.inf, math.inf)
    lengths = []
    for x, y in batch.rows():
        said, before = game.predict_set(x), game.ledger.coverage.missed
        lengths.append(said[1] - said[0] if said else 0.0)
        game.learn_one(x, y)
        assert game.ledger.coverage.missed == before + (not said or not said[0] <= y <= said[1])
    assert game.ledger.coverage.everything >= 1
    finite = [length for length in lengths if math.isfinite(length)]
    assert game.ledger.coverage.mean_size == pytest.approx(sum(finite) / len(finite))


def test_sets_contain_the_labels_of_the_user():
    x, y = labelled(100)
    ledger = nk.play(nk.Conformal(nk.FTRL()), nk.Arrays(x, np.where(y == 1, "spam", "ham"), positive="spam"))
    said = {nk.Game(ledger.learner, ledger).predict_set(row) for row in x}
    assert said <= {(), ("ham",), ("spam",), ("ham", "spam")}
    assert len(said) > 1


@given(st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([-1, 1])), min_size=1, max_size=40),
       st.sampled_from([0.05, 0.1, 0.9]), st.sampled_from([0.001, 0.05, 1.0, 20.0]), st.floats(0.0, 1.0))  # fmt: skip
def test_coverage_is_as_guaranteed_on_every_stream(stream, alpha, step, start):
    learner = nk.Conformal(nk.Perceptron(bias=1.0), alpha=alpha, step=step, start=start, groups=lambda x: x[0] > 0)
    ledger, found = play(learner, [((x,), y) for x, y in stream])
    assert found["coverage_deviation"].status in ("valid", "vacuous")
    assert found["coverage_pinball"].status in ("valid", "vacuous")
    for rounds, misses, q in zip(ledger.coverage.rounds, ledger.coverage.misses, learner.standing()["thresholds"],
                                 strict=True):  # fmt: skip
        assert step * (misses - alpha * rounds) == pytest.approx(q - start, abs=1e-9)
        assert abs(misses - alpha * rounds) <= (1 + step) / step + 1e-9
        assert -step * alpha - 1e-9 <= q <= 1.0 + step * (1.0 - alpha) + 1e-9


def test_a_learner_that_is_always_wrong_is_covered_as_well():
    class Wrong(nk.FTRL):
        """Says the opposite of what it believes."""

        def _look(self, rows):
            return -super()._look(rows)

        def _score(self, rows, y):
            scores = -super()._score(rows, y)[0]
            return scores, scores

    ledger, found = play(nk.Conformal(Wrong(), alpha=0.1), labelled(2000))
    assert ledger.mistake_rate > 0.7
    assert found["coverage_deviation"].status == "valid"
    assert abs(ledger.coverage.missed / 2000 - 0.1) <= found["coverage_deviation"].bound < 0.0106


def test_contrarian_reaches_the_bound_but_for_one_step():
    learner = nk.Conformal(nk.Constant(), alpha=2**-10, step=0.25, start=0.0)
    _, found = play(learner, Contrarian(), rounds=10)
    assert found["coverage_deviation"].observed == 0.5 - 2**-10
    assert 0.5 <= found["coverage_deviation"].bound < 0.5 + 1e-12


def test_a_tracker_that_skips_updates_is_void():
    class Skips(nk.Conformal):
        def _cover(self, *args):
            sets = super()._cover(*args)
            if self._counts[0, 0] % 10 == 0:
                self._counts[0] -= (1, int(sets[0, 1]))
            return sets

        def learn_many(self, batch):
            return None

    _, found = play(Skips(nk.Constant(), alpha=0.1), labelled(200))
    assert found["coverage_deviation"].status == "void"
    assert "counts include" in found["coverage_deviation"].reason


@pytest.mark.parametrize(("low", "high", "y"), [(-1.0, 0.9, -1), (0.0, 2.0, 1)])
def test_a_tracker_that_clips_its_threshold_is_detected(monkeypatch, low, high, y):
    def clipped(scores, groups, counts, alpha, step, start, history, paid, q, missed):
        for t, score in enumerate(scores):
            q[t] = min(max(start + step * (counts[0, 1] - alpha * counts[0, 0]), low), high)
            missed[t] = not (score <= q[t] or q[t] >= 1.0)
            counts[0] += (1, missed[t])
            history[:, min(int(score * BINS), BINS - 1)] += (1.0, score)

    monkeypatch.setattr(conformal_loops.conformal, "track", clipped)
    _, found = play(nk.Conformal(nk.Constant(), alpha=0.1), [((0.0,), y)] * 2000)
    assert found["coverage_deviation"].status == "violated"


def test_each_group_has_its_coverage():
    x, y = labelled(3000)
    x[:, 0] = np.arange(3000) % 3
    y = np.where(x[:, 0] == 2, np.random.default_rng(1).choice([-1, 1], 3000), y)  # one group is noise
    ledger, found = play(nk.Conformal(nk.FTRL(), alpha=0.1, groups=0), (x, y))
    assert ledger.learner.standing()["groups"] == ["0", "1", "2"]
    assert ledger.coverage.rounds == [1000, 1000, 1000]
    assert all(abs(misses - 100) <= 21 for misses in ledger.coverage.misses)
    assert found["coverage_deviation"].quantities["groups"] == 3
    alone, _ = play(nk.Conformal(nk.FTRL(), alpha=0.1), (x, y))
    worst = np.bincount((np.arange(3000) % 3)[missed_rounds(x, y)]).max()
    assert worst > 121, alone  # one threshold for all leaves the noisy group short


def missed_rounds(x, y):
    """In which rounds one threshold for all missed."""
    game, missed = nk.Game(nk.Conformal(nk.FTRL(), alpha=0.1)), []
    for row, label in zip(x, y, strict=True):
        before = game.ledger.coverage.missed
        game.learn_one(row, label)
        missed.append(game.ledger.coverage.missed > before)
    return np.array(missed)


def test_groups_are_read_from_a_table_by_name(tmp_path):
    x, y = labelled(90)
    rows = [f"{a},{c},{label}" for (a, *_), c, label in zip(x, ["red", "green", "blue"] * 30, y, strict=True)]
    file = tmp_path / "table.csv"
    file.write_text("size,colour,label\n" + "\n".join(rows) + "\n")
    ledger = nk.play("conformal:[ftrl],groups=colour", file)
    assert ledger.learner.standing()["groups"] == ["red", "green", "blue"]
    assert ledger.coverage.rounds == [30, 30, 30]
    nk.save(ledger, tmp_path / "game.nk")
    assert nk.load(tmp_path / "game.nk").coverage.misses == ledger.coverage.misses
    with pytest.raises(InputError, match="groups must be a feature of the table"):
        nk.play("conformal:[ftrl],groups=shape", file)


def test_groups_beyond_the_limit_form_one_group(monkeypatch):
    monkeypatch.setattr("novikoff.data.groups.MOST", 3)
    learner = nk.Conformal(nk.Constant(), groups=lambda x: x)
    nk.play(learner, [(t % 7, 1) for t in range(70)])
    assert learner.standing()["groups"] == ["0", "1", "2", "others"]
    assert learner.standing()["rounds"] == [10, 10, 10, 40]


class Fixed:
    """A rule of the user's: one threshold for ever."""

    def __init__(self, q):
        self.q, self.seen = q, []

    def threshold(self):
        return self.q

    def see(self, score):
        self.seen.append(score)


@pytest.mark.parametrize("q", [-1.0, 0.0, 0.2, 1.0])
def test_the_governor_makes_any_rule_safe(q):
    rule = Fixed(q)
    ledger, found = play(nk.Conformal(nk.FTRL(), alpha=0.1, rule=rule), labelled(3000))
    assert len(rule.seen) == 3000
    assert found["coverage_governed"].status == "valid"
    band = math.sqrt(3000 * math.log(3001))
    assert -band - 0.1 <= ledger.coverage.missed - 300 <= band + 0.9
    with pytest.raises(ModelFileError, match="plain data"):
        ledger.learner.state()


def test_steps_that_fall_keep_their_bound_and_settle():
    """The recurrence in plain floats; thresholds of independent scores come to rest."""
    x, y = labelled(3000)
    learner, scores, thresholds = nk.Conformal(nk.FTRL(), alpha=0.1, step=0.5, rule="decaying"), [], [0.5]
    game = nk.Game(learner)
    for t, (row, label) in enumerate(zip(x, y, strict=True)):
        p = learner.probability_one(row)
        scores.append(1.0 - (p if label == 1 else 1.0 - p))
        assert learner._threshold(0) == pytest.approx(thresholds[-1], abs=1e-12)
        missed = not (scores[-1] <= thresholds[-1] or thresholds[-1] >= 1.0)
        thresholds.append(thresholds[-1] + 0.5 / math.sqrt(t + 1) * (missed - 0.1))
        game.learn_one(row, label)
    whole = nk.play(nk.Conformal(nk.FTRL(), alpha=0.1, step=0.5, rule="decaying"), (x, y))
    assert whole.learner.state()["moving"].tolist() == learner.state()["moving"].tolist()
    (found,) = (one for one in whole.certify() if one.theorem.startswith("coverage"))
    assert (found.theorem, found.status) == ("coverage_decaying", "valid")
    assert found.bound == pytest.approx(1.5 / (0.5 * math.sqrt(3000)))
    assert abs(whole.coverage.missed - 300) <= 30
    assert np.std(thresholds[-1000:]) < 0.03


@given(seed=st.integers(0, 2**32), rounds=st.integers(1, 400), step=st.sampled_from([0.01, 0.2, 1.0, 30.0]),
       alpha=st.sampled_from([0.05, 0.5, 0.9]), start=st.floats(0, 1))  # fmt: skip
def test_steps_that_fall_keep_their_bound_against_scores_that_look_first(seed, rounds, step, alpha, start):
    rng, counts, history = np.random.default_rng(seed), np.zeros((1, 2), dtype=np.int64), np.zeros((2, BINS))
    moving, q, missed = np.array([[start, 0.0]]), np.empty(1), np.empty(1, dtype=np.bool_)
    period, above, most = rng.integers(1, 100), rng.random(), 0.0
    for t in range(rounds):
        misses = (t // period) % 2 == 0 if seed % 3 else rng.random() < above
        score = np.array([min(max(np.nextafter(moving[0, 0], 2.0), 0.0), 1.0) if misses else 0.0])
        conformal_loops.conformal.track_decaying(
            score, np.zeros(1, dtype=np.int64), counts, alpha, step, moving, history, q, missed
        )
        ahead = counts[0, 1] - alpha * counts[0, 0]
        most = max(most, abs(ahead) * step / ((1.0 + step) * math.sqrt(t + 1)))
        assert moving[0, 0] * math.sqrt(t + 1) / step - moving[0, 1] == pytest.approx(ahead, abs=1e-9)
    assert most <= 1.0


def test_groups_that_overlap_move_the_threshold_together():
    """By two columns: the threshold of a row is start + step times what both of its groups are ahead by."""
    x, y = labelled(600)
    x[:, 1], x[:, 2] = x[:, 1] > 0.0, np.arange(600) % 3
    learner, ahead = nk.Conformal(nk.FTRL(), alpha=0.2, step=0.25, groups=[1, 2]), {}
    game = nk.Game(learner)
    for row, label in zip(x, y, strict=True):
        p, parts = learner.probability_one(row), (f"1={row[1]:.0f}", f"2={row[2]:.0f}")
        q = 0.5 + 0.25 * sum(ahead.get(part, 0.0) for part in parts)
        assert learner._threshold_of(row) == pytest.approx(q, abs=1e-9)
        missed = not (1.0 - (p if label == 1 else 1.0 - p) <= q or q >= 1.0)
        for part in parts:
            ahead[part] = ahead.get(part, 0.0) + missed - 0.2
        game.learn_one(row, label)
    whole = nk.play(nk.Conformal(nk.FTRL(), alpha=0.2, step=0.25, groups=[1, 2]), (x, y))
    assert whole.learner.standing()["thresholds"] == learner.standing()["thresholds"]
    found = {one.theorem: one for one in whole.certify() if one.theorem.startswith("coverage")}
    assert set(found) == {"coverage_overlapping"}
    assert found["coverage_overlapping"].status == "valid"
    worst = found["coverage_overlapping"].quantities["group"]
    assert abs(ahead[worst]) == pytest.approx(max(map(abs, ahead.values())))
    told = {name: misses - 0.2 * rounds for name, rounds, misses in whole.coverage.by_group(learner.standing())}
    assert told == pytest.approx(ahead)
    again = nk.Conformal.restore(learner.state())
    assert again.predict_set(x[0]) == learner.predict_set(x[0])
    assert learner._threshold_of([0.0, 1.0, 7.0]) == pytest.approx(0.5 + 0.25 * ahead["1=1"])  # 7 never came
    (groups,) = (one for one in coverage.metrics(whole, whole.certify()) if one.name == "by group")
    assert groups.note.startswith("1=")


def test_overlapping_groups_are_distinguished_for_any_text():
    values = ["x", "x &", "x & y", "x & & y", "&", " & ", "x &y"]
    groups = Groups(["a", "b"])
    groups.places([groups.key(None, {"a": value, "b": "& z"}) for value in values])
    cells = groups.overlapping()
    assert cells.pop("b=& z") == list(range(len(values)))
    assert sorted(cells.values()) == [[place] for place in range(len(values))]


@given(seed=st.integers(0, 2**32), rounds=st.integers(1, 300), step=st.sampled_from([0.01, 0.2, 5.0]),
       alpha=st.sampled_from([0.05, 0.5, 0.9]), start=st.floats(0, 1), columns=st.integers(2, 4))  # fmt: skip
def test_groups_that_overlap_keep_their_bound_against_scores_that_look_first(seed, rounds, step, alpha, start, columns):
    rng = np.random.default_rng(seed)
    learner = nk.Conformal(nk.Constant(), alpha, step, start, list(range(columns)))
    game = nk.Game(learner)
    rows = rng.integers(0, 3, (rounds, columns)).astype(float)
    for row in rows:
        q = learner._threshold_of(row)  # a constant has the scores 0 and 1
        held = (row[0] == 0) if seed % 2 else 0.0 <= q < 1.0 and rng.random() < 0.8
        game.learn_one(row, 1 if held else -1)
    (found,) = (one for one in game.ledger.certify() if one.theorem == "coverage_overlapping")
    assert found.status in ("valid", "vacuous"), str(found)


def test_a_tracker_of_groups_that_overlap_that_skips_an_update_is_void():
    learner = nk.Conformal(nk.FTRL(), groups=[0, 1])
    game = nk.Game(learner)
    for t, (row, label) in enumerate(zip(*labelled(60), strict=True)):
        game.learn_one(np.sign(row), label)
        if t == 30:
            learner._counts[0, 1] += 1
    (found,) = (one for one in game.ledger.certify() if one.theorem == "coverage_overlapping")
    assert found.status == "void"


def test_a_tracker_of_falling_steps_that_skips_an_update_is_void():
    learner = nk.Conformal(nk.FTRL(), rule="decaying")
    game = nk.Game(learner)
    for t, (row, label) in enumerate(zip(*labelled(60), strict=True)):
        before = learner._moving.copy()
        game.learn_one(row, label)
        if t == 30:
            learner._moving = before
    (found,) = (one for one in game.ledger.certify() if one.theorem == "coverage_decaying")
    assert (found.status, "agree with the thresholds" in found.reason) == ("void", True)


def test_the_quantile_of_all_scores_is_their_quantile():
    learner = nk.Conformal(nk.FTRL(), alpha=0.1, rule="quantile")
    game, scores = nk.Game(learner), []
    for t, (x, y) in enumerate(zip(*labelled(300), strict=True)):
        p = learner.probability_one(x)
        wanted = math.ceil(0.9 * (t + 1))
        q = learner._threshold(0)
        if wanted > t:
            assert q == 1.0
        else:
            true = sorted(scores)[wanted - 1]
            assert true <= q <= true + 1 / BINS + 1e-12
        game.learn_one(x, y)
        scores.append(1.0 - (p if y == 1 else 1.0 - p))


def test_comparators_and_theorems_of_the_inner_learner_stay():
    x, y = labelled(300)
    alone, around = nk.play(nk.Perceptron(), (x, y)), nk.play(nk.Conformal(nk.Perceptron()), (x, y))
    assert around.mistakes == alone.mistakes
    assert {one.theorem: one.bound for one in alone.certify()}.items() <= {
        one.theorem: one.bound for one in around.certify()
    }.items()


@pytest.mark.parametrize(("more", "must"), [
    ({"alpha": 0.0}, "alpha must be between"), ({"alpha": 1.0}, "alpha must be"), ({"step": 0.0}, "step must be"),
    ({"start": 1.5}, "start must be"), ({"rule": "best"}, "a rule must be"), ({"groups": -1}, "groups must be"),
    ({"groups": 0, "rule": "quantile"}, "groups need rule"), ({"groups": [0]}, "need several distinct columns"),
    ({"groups": [0, 0]}, "need several distinct columns"), ({"groups": [0, 1], "rule": "decaying"}, "groups need rule"),
])  # fmt: skip
def test_invalid_arguments_are_refused(more, must):
    with pytest.raises(InputError, match=must):
        nk.Conformal(nk.Perceptron(), **more)


def test_it_is_around_one_learner_on_examples():
    for learner in (nk.ExponentialWeights(experts=2), nk.Conformal(nk.Perceptron()), "perceptron"):
        with pytest.raises(InputError, match="conformal needs a learner on examples"):
            nk.Conformal(learner)
    with pytest.raises(InputError, match="Put conformal around the team"):
        nk.Hedge([nk.Conformal(nk.Perceptron()), nk.Perceptron()])
    with pytest.raises(InputError, match="scale its inner learner"):
        nk.Scaled(nk.Conformal(nk.Perceptron()))
