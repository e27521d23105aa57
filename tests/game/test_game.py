"""The game: who may play whom, and what play does with each kind of environment."""

import itertools
import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.core.errors import InputError, MismatchError, SourceError, SpecError
from novikoff.core.observer import Calls
from novikoff.game.play import look_back

STREAM = [(5, -1), (8, -1), (9, 1)]


def test_game_takes_a_learner_or_a_spec():
    with pytest.raises(SpecError, match="perceptron"):
        nk.Game("perceptrn")
    assert nk.Game("perceptron").learn_one([1.0], -1) == 1
    assert nk.Game(nk.make("perceptron", "learner")).learn_one([1.0], -1) == 1


def test_a_driven_game_and_play_agree():
    game = nk.Game(nk.ThresholdHalving(10))
    said = []
    for x, y in STREAM:
        said.append(game.predict_one(x))
        assert game.learn_one(x, y) == said[-1]
    played = nk.play(nk.ThresholdHalving(10), STREAM, record=True)
    assert said == played.recorded().tolist() == [1, 1, -1]
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
    progress = Calls(lambda ledger: seen.append(ledger.rounds))
    nk.play(nk.Halving(nk.classes.thresholds(10)), (x, np.where(x > 4, 1, -1)), observers=[progress])
    assert seen == [256, 512, 768, 1000]


def test_a_mismatch_names_both_domains():
    with pytest.raises(MismatchError, match=r"index\[11\].*vector\[3\]"):
        nk.play(nk.ThresholdHalving(10), (np.zeros((4, 3)), [1, -1, 1, -1]))
    with pytest.raises(MismatchError, match="expected a stream"):
        nk.play(nk.ThresholdHalving(10), 17)


def test_a_game_against_an_adversary_must_have_an_end():
    with pytest.raises(InputError, match="a game against an adversary needs a number of rounds"):
        nk.play(nk.ThresholdHalving(10), GridBisection(10))


def test_an_adversary_of_two_labels_refuses_a_learner_of_many():
    learner = nk.Halving(nk.classes.table([[0, 1, 2]]))
    with pytest.raises(MismatchError, match="3 labels"):
        nk.play(learner, Contrarian(learner.domain), rounds=3)


def test_a_ledger_belongs_to_one_learner_and_one_kind_of_game():
    mine = nk.play(nk.ThresholdHalving(1000), [(500, -1)])
    with pytest.raises(MismatchError, match="belongs to another"):
        nk.play(nk.ThresholdHalving(1000), [(500, -1)], ledger=mine)
    duel = nk.play(nk.ThresholdHalving(100), GridBisection(100), rounds=3)
    with pytest.raises(MismatchError, match="against grid-bisection"):
        nk.play(duel.learner, [(5, 1)], ledger=duel)
    with pytest.raises(MismatchError, match="another adversary"):
        nk.play(duel.learner, GridBisection(100), rounds=3, ledger=duel)
    with pytest.raises(MismatchError, match="or none"):
        nk.play(mine.learner, GridBisection(1000), rounds=3, ledger=mine)
    nk.play(duel.learner, duel.adversary, rounds=3, ledger=duel)
    assert all(certificate.holds for certificate in duel.certify())


def test_interrupted_duel_has_no_adversary_certificate():
    class Fainting(nk.ThresholdHalving):
        def play_one(self, x, y):
            if self.rounds == 2 and not hasattr(self, "fainted"):
                self.fainted = True
                raise KeyboardInterrupt
            return super().play_one(x, y)

    learner, opponent = Fainting(1000), GridBisection(1000)
    ledger = nk.Ledger(learner, opponent)
    with pytest.raises(KeyboardInterrupt):
        nk.play(learner, opponent, rounds=20, ledger=ledger)
    nk.play(learner, opponent, rounds=20, ledger=ledger)
    upper, lower = ledger.certify()
    assert upper.holds
    assert (lower.status, lower.reason) == ("void", "a round was answered and not played")


def test_an_adversary_that_played_elsewhere_is_judged_from_here_on():
    opponent = GridBisection(1000)
    ledger = nk.Ledger(nk.ThresholdHalving(1000), opponent)
    nk.play(nk.ThresholdHalving(1000), opponent, rounds=3)
    nk.play(ledger.learner, opponent, rounds=3, ledger=ledger)
    assert all(certificate.holds for certificate in ledger.certify())


def test_an_adversary_never_sees_how_the_coin_fell():
    heard = []

    class Listening(Contrarian):
        def answer(self, prediction):
            heard.append(dict(prediction))
            return super().answer(prediction)

    for seed in range(8):
        learner = nk.Consistent(nk.classes.thresholds(3), random=True, seed=seed)
        nk.play(learner, Listening(learner.domain), rounds=1)
    assert heard == [{1: 1 / 5, -1: 4 / 5}] * 8


@pytest.mark.parametrize("spec", ["threshold-halving:n=10", "halving:[thresholds:n=10]", "perceptron"])
def test_labels_and_lengths_of_a_batch_are_checked_before_learning(spec):
    class Wrong:
        name, domain, labels, rereadable = "wrong", nk.Domain("vector", 1), nk.Labels(), True

        def batches(self, start=None):
            yield nk.Batch(np.array([[1], [2], [3]]), np.array([1, 1, 0], dtype=np.int8), 1)

    ledger = nk.Ledger(nk.make(spec, "learner"))
    with pytest.raises(InputError, match="round 3"):
        nk.play(ledger.learner, Wrong(), ledger=ledger)
    assert ledger.rounds in (0, 2)  # none of a batch, or those before the wrong one
    assert ledger.learner.state()["rounds"] == ledger.rounds
    with pytest.raises(InputError, match="label for each example"):
        nk.Batch(np.zeros(3), np.ones(2, dtype=np.int8), 1)


def test_an_error_in_mid_batch_leaves_learner_and_ledger_in_step():
    for learner in (nk.ThresholdHalving(10), nk.ThresholdHalving(2**62), nk.Halving(nk.classes.thresholds(10))):
        ledger = nk.Ledger(learner)
        with pytest.raises(InputError, match="round 4"):
            nk.play(learner, (np.array([[5.0], [8.0], [9.0], [2.5]]), np.array([-1, -1, 1, 1])), ledger=ledger)
        rounds = learner.state()["rounds"]
        assert ledger.rounds == rounds == 3


def test_two_pairs_are_two_rounds_and_two_lists_are_arrays():
    assert nk.play(nk.ThresholdHalving(10), ((5, 1), (8, 1))).learner.hi == 5
    assert nk.play(nk.ThresholdHalving(10), ([5, 8], [1, 1])).learner.hi == 5


def test_recording_begins_with_the_first_round():
    ledger = nk.play(nk.ThresholdHalving(10), STREAM)
    with pytest.raises(InputError, match="first round"):
        nk.play(ledger.learner, STREAM, ledger=ledger, record=True)


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
    with pytest.raises(MismatchError, match="the learner is binary: the stream is multiclass"):
        nk.play(nk.ThresholdHalving(5), nk.Arrays(np.array([0, 1, 2]), np.array([0, 2, 1])))
    with pytest.raises(MismatchError, match="labels 0 .. 2"):
        nk.play(nk.Halving(nk.classes.table(rows)), nk.Arrays(np.array([0, 1]), np.array([-1, 1])))


def test_an_empty_stream_is_an_error():
    with pytest.raises(SourceError, match="empty"):
        nk.play(nk.ThresholdHalving(5), [])


class Reticent:
    """A stream whose batches do not all say where they end."""

    name, domain, labels, rereadable = "reticent", nk.Domain("index"), nk.Labels(), True

    def __init__(self, x, y, sizes, ends):
        self.x, self.y, self.sizes, self.ends = x, y, sizes, ends

    def batches(self, start=None):
        row = start["row"] if start else 0
        for size, told in zip(itertools.cycle(self.sizes), itertools.cycle(self.ends), strict=False):
            if row >= len(self.y):
                return
            stop = min(row + size, len(self.y))
            yield nk.Batch(self.x[row:stop], self.y[row:stop], row + 1, {"row": stop} if told else None)
            row = stop


@pytest.mark.parametrize("ends", [[True], [False], [True, False, False]])
@pytest.mark.parametrize("spec", ["threshold-halving:n=50", "halving:[thresholds:n=50],conservative=true"])
def test_a_game_that_stops_anywhere_resumes_where_it_stopped(spec, ends):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 51, 700)
    y = np.where(rng.random(700) < 0.1, -1, np.where(x > 17, 1, -1)).astype(np.int8)
    stream = Reticent(x, y, [100, 3, 270], ends)
    whole = nk.play(nk.make(spec, "learner"), stream, passes=2, record=True)
    for cuts in ([1], [100, 1, 2], [256, 300], [699, 1], [700], [701, 400]):
        ledger = nk.Ledger(nk.make(spec, "learner"), predictions=[])
        for cut in cuts:
            nk.play(ledger.learner, stream, rounds=cut, passes=2, ledger=ledger, resume=True)
        assert ledger.rounds == sum(cuts)
        nk.play(ledger.learner, stream, passes=2, ledger=ledger, resume=True)
        assert ledger.recorded().tolist() == whole.recorded().tolist()
        assert (ledger.rounds, ledger.passes) == (1400, 2)
        assert {**ledger.position, "end": None} == {**whole.position, "end": None} == {
            "passes": 2, "at": None, "skip": 0, "end": None
        }  # fmt: skip
        nk.play(ledger.learner, stream, passes=2, ledger=ledger, resume=True)
        assert ledger.rounds == 1400  # nothing is left


def test_play_takes_sparse_matrices_and_data_frames():
    import pyarrow as pa
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (300, 5)).astype(float)
    y = np.where(x @ [1, -2, 0, 1, 1] >= 0, 1, -1)
    dense = nk.play(nk.Perceptron(), (x, y), record=True)
    for environment in (
        (csr_array(x), y),
        pa.table({**{f"f{j}": x[:, j] for j in range(5)}, "label": y}),
    ):
        assert nk.play(nk.Perceptron(), environment, record=True).recorded().tolist() == dense.recorded().tolist()


def test_another_positive_label_may_not_follow_and_nothing_is_learned_of_it():
    ledger = nk.play(nk.ThresholdHalving(10), (np.array([1, 9]), np.array(["ham", "spam"])))
    nk.play(ledger.learner, (np.array([2, 8]), np.array(["eggs", "spam"])), ledger=ledger)
    with pytest.raises(MismatchError, match="'spam' must stay"):
        nk.play(ledger.learner, (np.array([2, 8]), np.array(["spam", "tea"])), ledger=ledger)
    assert ledger.rounds == ledger.learner.rounds == 4


def test_hindsight_tightens_the_certificates_and_never_loosens_them():
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    plain = nk.play(nk.Perceptron(bias=1.0, normalize=True), (x, y))
    back = nk.play(nk.Perceptron(bias=1.0, normalize=True), (x, y), hindsight=True)
    assert back.mistakes == plain.mistakes
    for certificate in plain.certify():
        (found,) = [c for c in back.certify() if c.theorem == certificate.theorem]
        if certificate.bound is not None:
            assert found.bound <= certificate.bound
    assert back.certify()[0].bound <= math.floor(back.hindsight.hinge.high)
    assert back.hindsight.hinge.low <= back.hindsight.hinge.high <= 1.01 * back.hindsight.hinge.low


def test_hindsight_is_refused_where_it_cannot_be():
    pairs = iter([([1.0, 2.0], 1), ([2.0, 1.0], -1)])
    with pytest.raises(nk.NovikoffError, match="read again"):
        nk.play(nk.Perceptron(), pairs, hindsight=True)
    with pytest.raises(nk.NovikoffError, match="linear and kernel learners"):
        nk.play(nk.ThresholdHalving(10), [(3, 1)], hindsight=True)


def test_ellipsoid_is_certified_in_hindsight():
    ledger = nk.play(nk.Ellipsoid(), nk.read("demo:iris"), passes=5, hindsight=True)
    tracked = nk.play(nk.Ellipsoid(), nk.read("demo:iris"), passes=5)
    (better,), (other,) = ledger.certify(), tracked.certify()
    assert better.status == "valid"
    assert ledger.mistakes <= better.bound <= other.bound


def test_hindsight_ignores_rounds_played_elsewhere(tmp_path):
    """200 noisy rows, then 200 separable ones of the same kind: looking back on the second alone would promise 8."""
    rng = np.random.default_rng(0)
    noisy, clean = tmp_path / "a.svm", tmp_path / "b.svm"
    noisy.write_text("".join(f"{rng.choice([-1, 1])} {t % 4 + 1}:1\n" for t in range(200)))
    clean.write_text("".join(f"{1 if t % 4 < 2 else -1} {t % 4 + 1}:1\n" for t in range(200)))
    learner = nk.Perceptron()
    ledger = nk.play(learner, nk.read(noisy))
    with pytest.raises(InputError, match="hindsight needs all rounds of a game: 200 were played before"):
        nk.play(learner, nk.read(clean), ledger=ledger, hindsight=True)
    learner = nk.Perceptron()
    ledger = nk.play(learner, nk.read(noisy))
    ledger.hindsight = look_back(ledger, nk.read(clean), nk.play)  # another source with as many rows of the same length
    assert ledger.hindsight.facts.invalid_reason
    assert ledger.certify()[0].status != "violated"


def test_a_last_pass_that_was_broken_off_has_no_hindsight():
    x = np.eye(4)[np.arange(40) % 4]
    ledger = nk.play(nk.Perceptron(), (x, np.where(np.arange(40) % 2, 1, -1)), passes=2, rounds=60, hindsight=True)
    assert ledger.hindsight.facts.invalid_reason
    assert all(certificate.status != "violated" for certificate in ledger.certify())


def test_hindsight_on_other_rows_in_memory_is_noticed_by_the_comparators_of_the_game():
    rng = np.random.default_rng(0)
    x = np.eye(4)[np.arange(200) % 4]
    ledger = nk.play(nk.Perceptron(), (x, rng.choice([-1, 1], 200)))
    ledger.hindsight = look_back(ledger, nk.Arrays(x, np.where(np.arange(200) % 4 < 2, 1, -1)), nk.play)
    assert ledger.hindsight.facts.invalid_reason
    assert ledger.certify()[0].status != "violated"


def test_a_game_that_is_left_before_the_first_batch_of_a_pass_counts_the_pass_once():
    class LeftError(Exception):
        pass

    class Leaving(nk.Arrays):
        def batches(self, start=None):
            if leave.pop(0):
                raise LeftError
            return super().batches(start)

    rows = Leaving(np.eye(3), [1, -1, 1])
    for leave in ([True, True, False, False], [False, True, False]):
        ledger = nk.Ledger(nk.Perceptron())
        while leave:
            try:
                nk.play(ledger.learner, rows, passes=2, ledger=ledger, resume=True)
            except LeftError:
                continue
        assert (ledger.rounds, ledger.passes) == (6, 2)


def test_a_table_must_be_read_for_the_loss_that_the_learner_pays(tmp_path):
    path = tmp_path / "chances.csv"
    path.write_text("a,b,y\n0.9,0.2,1\n0.8,0.1,1\n")
    with pytest.raises(MismatchError, match="it has zero-one, .* is read with squared"):
        nk.play(nk.ExponentialWeights(2), nk.read_experts(path))
    assert nk.play(nk.ExponentialWeights(2, loss="squared"), nk.read_experts(path)).rounds == 2
