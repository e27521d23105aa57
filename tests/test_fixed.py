"""What is known to have been fixed in advance: files and things in memory. What code makes is trusted at most."""

import io
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.types import Domain
from novikoff.game.reservoir import HypothesisReservoir

ROUNDS = 400


def drawing(seed=3):
    return nk.ExponentialWeights(2, loss="table", play="draw", rate="anytime", seed=seed)


def against(learner):
    """Losses that cost the expert who is about to be drawn 1, and the other nothing."""
    losses = [0.0, 0.0]
    losses[int(learner.predict_one(None))] = 1.0
    return losses


class Reacting:
    """Looks like a list: it can be gone through again and again."""

    def __init__(self, learner):
        self.learner = learner

    def __iter__(self):
        return (against(self.learner) for _ in range(ROUNDS))


class ReactingList(list):
    def __iter__(self):
        return iter(Reacting(self.learner))


class Lazy:
    """One round, made when it is looked at."""

    def __init__(self, learner):
        self.learner = learner

    def __array__(self, dtype=None, copy=None):
        return np.array(against(self.learner))


class ReactingStream:
    """A stream of somebody's own, which says that it can be read again."""

    name, domain, labels, rereadable = "reacting", Domain("losses", 2), None, True

    def __init__(self, learner):
        self.learner = learner

    def batches(self, start=None):
        for t in range(ROUNDS):
            yield nk.Batch(None, np.array([against(self.learner)]), t + 1, {"row": t + 1})


class ReactingArrays(nk.Losses):
    def batches(self, start=None):
        return ReactingStream(self.learner).batches(start)


def a_stream(learner):
    return ReactingStream(learner)


def a_subclass(learner):
    stream = ReactingArrays(np.zeros((1, 2)))
    stream.learner = learner
    return stream


def an_own_method(learner):
    stream = nk.Losses(np.zeros((1, 2)))
    stream.batches = ReactingStream(learner).batches
    return stream


def a_list_of_its_own(learner):
    made = ReactingList([[0.0, 0.0]])
    made.learner = learner
    return made


def lazy_rounds(learner):
    return [Lazy(learner) for _ in range(ROUNDS)]


def drawn_loss(ledger):
    return next(certificate for certificate in ledger.certify() if certificate.theorem == "drawn_loss")


@pytest.mark.parametrize("make", [Reacting, a_list_of_its_own, a_stream, a_subclass, an_own_method, lazy_rounds])
def test_rounds_produced_by_code_are_trusted_at_most(make):
    learner = drawing()
    ledger = nk.play(learner, make(learner))
    certificate = drawn_loss(ledger)
    assert certificate.observed == ROUNDS > certificate.bound  # it did look at the draw
    assert certificate.status == "conditional"
    assert "not checked: the losses of a round do not depend on its draw" in certificate.reason
    assert not ledger.fixed


def test_custom_stream_with_reordered_columns_is_at_most_trusted():
    learner = drawing()
    nk.play(learner, nk.Losses([[0.0, 1.0]], experts=["a", "b"]))
    assert nk.play(learner, nk.Losses([[0.0, 1.0]], experts=["b", "a"])).fixed
    stream = ReactingStream(learner)
    stream.features = ("b", "a")
    ledger = nk.play(learner, stream)
    assert not ledger.fixed
    assert drawn_loss(ledger).status == "conditional"


def test_a_stream_of_somebodys_own_is_trusted_at_most_with_its_columns_in_another_order():
    learner = drawing()
    stream = ReactingStream(learner)
    stream.features = ("one", "two")
    nk.play(learner, stream, rounds=1)
    stream.features = ("two", "one")
    assert nk.play(learner, stream).rounds == ROUNDS
    assert not nk.play(learner, stream).fixed


def test_lists_chosen_round_by_round_are_not_one_list():
    learner, ledger = drawing(), None
    for _ in range(ROUNDS):
        ledger = nk.play(learner, [against(learner)], ledger=ledger)
    certificate = drawn_loss(ledger)
    assert certificate.observed == ROUNDS > certificate.bound
    assert certificate.status == "conditional"


def test_a_list_that_grew_is_not_the_list_it_was():
    learner, ledger, rounds = drawing(), None, []
    for _ in range(ROUNDS):
        rounds.append(against(learner))
        ledger = nk.play(learner, [*rounds, [0.0, 0.0]], rounds=1, ledger=ledger, resume=ledger is not None)
    assert ledger.rounds == ROUNDS
    assert drawn_loss(ledger).status == "conditional"


def test_rounds_that_the_caller_plays_are_the_callers():
    learner = drawing()
    ledger = nk.play(learner, [[0.0, 1.0]])
    assert ledger.fixed
    game = nk.Game(learner, ledger)
    for _ in range(ROUNDS // 2):
        game.learn_one(None, against(learner))
    assert drawn_loss(ledger).status == "conditional"
    learner = drawing()
    ledger = nk.play(learner, [[0.0, 1.0]])
    for _ in range(ROUNDS):
        nk.Game(learner, ledger).learn_batch(nk.Batch(None, np.array([against(learner)]), 1))
    assert drawn_loss(ledger).status == "conditional"


@pytest.mark.parametrize("rounds", [np.tile([0.0, 1.0], (ROUNDS, 1)), [[0.0, 1.0]] * ROUNDS, ([0.0, 1.0],) * ROUNDS,
                                    [np.array([0.0, 1.0])] * ROUNDS, [[Fraction(0), np.float32(1)]] * ROUNDS,
                                    nk.synthetic.random_losses(2, ROUNDS)])  # fmt: skip
def test_arrays_and_lists_of_plain_values_are_fixed(rounds):
    ledger = nk.play(drawing(), rounds)
    assert ledger.fixed
    assert drawn_loss(ledger).status == "valid"


def budget():
    return nk.RandomizedBudgetPerceptron(2, kernel="linear", seed=1)


PAIRS = [([float(k % 3 - 1), 1.0], 1 if k % 3 else -1) for k in range(60)]


class Odd:
    """A pair that is taken apart by code."""

    def __iter__(self):
        return iter(PAIRS[0])


class Number(float):
    pass


@pytest.mark.parametrize(
    ("source", "known"),
    [
        (PAIRS, True),
        (tuple(PAIRS), True),
        ([({"a": 1, "b": np.float64(x[0])}, y) for x, y in PAIRS], True),
        ((np.array([x for x, _ in PAIRS]), np.array([y for _, y in PAIRS])), True),
        ([*PAIRS, Odd()], False),
        ([*PAIRS, ([Number(1.0), 1.0], 1)], False),
        ([*PAIRS, (np.array([1.0, Number(1.0)], dtype=object), 1)], False),
        ((pair for pair in PAIRS), False),
    ],
)
def test_pairs_are_fixed_if_they_are_plain_and_in_a_list(source, known):
    assert nk.play(budget(), source).fixed == known


def test_a_list_of_pairs_of_numbers_is_fixed_and_an_object_is_not():
    class Numbers:
        def __iter__(self):
            return iter([([0.5], 0.5)] * 9)

    assert nk.play(nk.OnlineGradient(), [([0.5], 0.5)] * 9).fixed
    assert not nk.play(nk.OnlineGradient(), Numbers()).fixed


class Writing(io.BytesIO):
    """A file object whose bytes may be made as they are read."""

    def readinto(self, buffer):
        return super().readinto(buffer)


class Raw(io.RawIOBase):
    def __init__(self, content):
        super().__init__()
        self.inner = io.BytesIO(content)

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, place, whence=0):
        return self.inner.seek(place, whence)

    def tell(self):
        return self.inner.tell()

    def readinto(self, buffer):
        return self.inner.readinto(buffer)


def text():
    return b"".join(b"%+d 1:%d 2:1\n" % (y, x[0]) for x, y in PAIRS)


@pytest.mark.parametrize("format", ["svmlight", "jsonl", "text", "vw"])
def test_a_file_of_somebodys_own_is_trusted(format, tmp_path):
    lines = {
        "svmlight": text(),
        "jsonl": b"".join(b'{"a": %d, "b": 1, "y": %d}\n' % (x[0], y) for x, y in PAIRS),
        "text": b"".join(b"%d\tword%d and more\n" % (y, x[0] + 1) for x, y in PAIRS),
        "vw": b"".join(b"%d | a:%d b:1\n" % (y, x[0]) for x, y in PAIRS),
    }[format]
    path = tmp_path / "rows"
    path.write_bytes(lines)
    assert nk.play(budget(), nk.read(path, format=format)).fixed
    assert nk.play(budget(), nk.read(io.BytesIO(lines), format=format)).fixed
    with path.open("rb") as file:
        assert nk.play(budget(), nk.read(file, format=format)).fixed
    assert not nk.play(budget(), nk.read(Writing(lines), format=format)).fixed
    assert not nk.play(budget(), nk.read(io.BufferedReader(Raw(lines)), format=format)).fixed


def test_a_table_of_experts_from_a_file_of_somebodys_own_is_trusted():
    table = b"a,b\n" + b"0.0,1.0\n" * 30
    assert nk.play(drawing(), nk.read_experts(io.BytesIO(table), loss="table")).fixed
    assert not nk.play(drawing(), nk.read_experts(Writing(table), loss="table")).fixed


def test_a_game_that_resumes_in_its_file_stays_fixed_and_in_another_does_not(tmp_path):
    one, two = tmp_path / "one.svm", tmp_path / "two.svm"
    one.write_bytes(text())
    two.write_bytes(text())
    ledger = nk.play(budget(), nk.read(one), rounds=20)
    again = nk.play(ledger.learner, nk.read(one), ledger=ledger, resume=True)
    assert again.rounds == len(PAIRS)
    assert again.fixed
    ledger = nk.play(budget(), nk.read(one), rounds=20)
    assert not nk.play(ledger.learner, nk.read(two), ledger=ledger).fixed
    ledger = nk.play(budget(), nk.read(one), rounds=20)
    assert not nk.play(ledger.learner, nk.read(one), ledger=ledger).fixed  # from its first row, whenever one likes
    ledger = nk.play(budget(), nk.read(one), rounds=20)
    one.write_bytes(text() + b"-1 1:1\n")
    assert not nk.play(ledger.learner, nk.read(one), ledger=ledger, resume=True).fixed


def test_end_of_the_game_is_not_known_in_advance():
    class Ending:
        def __iter__(self):
            return iter(PAIRS)

    def kept(source, rounds):
        learner = nk.Perceptron()
        return nk.play(learner, source, rounds=rounds, candidates=HypothesisReservoir(learner, 5)).reservoir.fixed

    assert kept(PAIRS, None)
    assert kept(PAIRS, 1000)
    assert kept(PAIRS, 50)
    for make in (Ending, lambda: iter(PAIRS)):
        assert not kept(make(), None)
        assert not kept(make(), 1000)  # it ended before
        assert kept(make(), 50)
