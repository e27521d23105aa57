"""Every contract of `novikoff.testing` can fail: a learner, a stream or a certificate broken on purpose is caught."""

import ctypes
import dataclasses
import subprocess
import sys
from fractions import Fraction
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

import novikoff as nk
from novikoff.core import registry
from novikoff.core.certificate import Assumption, Bound, theorem
from novikoff.core.errors import InputError
from novikoff.core.types import check_label
from novikoff.testing import check_certificate, check_learner, check_stream
from novikoff.testing.failing import require_same

X = np.random.default_rng(0).integers(-5, 6, (200, 2)).astype(float)
Y = np.where(X[:, 0] >= 0, 1, -1)
BAD = [[1.0], "a", None]


@dataclasses.dataclass(frozen=True)
class Facts:
    rounds: int


@theorem(kind="D", reference="")
def kept(run):
    return Bound(run.rounds)


class Sound:
    """Says the sign of the sum of y x."""

    promises = (kept,)
    labels = None

    def __init__(self):
        self.domain = nk.Domain("vector", 2)
        self.w, self.rounds = np.zeros(2), 0

    def _row(self, x):
        row = np.asarray(x, dtype=object)
        if row.shape != (2,) or not all(isinstance(value, (int, float)) for value in row.tolist()):
            raise InputError(f"x must be two numbers: got {x!r}.")
        return row.astype(float)

    def predict_one(self, x):
        return 1 if self._row(x) @ self.w >= 0 else -1

    def learn_one(self, x, y):
        row, y = self._row(x), check_label(y, None)
        self.w += y * row
        self.rounds += 1

    def play_one(self, x, y):
        prediction = self.predict_one(x)
        self.learn_one(x, y)
        return prediction

    def learn_many(self, batch):
        return np.array([self.play_one(x, y) for x, y in batch.rows()], dtype=np.int8)

    def predict_many(self, batch):
        return np.array([self.predict_one(x) for x, _ in batch.rows()], dtype=np.int8)

    def facts(self):
        return Facts(self.rounds)

    def state(self):
        return {"w": self.w.copy(), "rounds": self.rounds}

    @classmethod
    def restore(cls, state):
        learner = cls()
        learner.w, learner.rounds = np.array(state["w"]), state["rounds"]
        return learner


@pytest.fixture(autouse=True)
def nothing_else_registered(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {room: {} for room in registry.GROUPS})


def check(kind):
    nk.register("sound", kind)
    check_learner(kind, (X, Y), refused=BAD)


def test_a_sound_learner_passes_on_arrays_and_on_pairs():
    check(Sound)
    check_learner(Sound, list(zip(X.tolist(), Y.tolist(), strict=True)), refused=BAD)


# Learners, each with one thing wrong


def without(name):
    """A learner that lacks a member."""
    return type("Broken", (), {key: value for key, value in vars(Sound).items() if key != name})


class ChangesWhenAsked(Sound):
    def predict_one(self, x):
        self.w[0] += 1e-9
        return super().predict_one(x)


class SaysAnotherEachTime(Sound):
    times = count()

    def predict_one(self, x):
        self._row(x)
        return 1 if next(self.times) % 2 else -1


class DrawsFromNoDistribution(Sound):
    draws = True

    def chances(self, x):
        return {1: 0.5, -1: 0.4}


class LearnsBeforeItPredicts(Sound):
    def play_one(self, x, y):
        self.learn_one(x, y)
        return self.predict_one(x)


class PlaysWithoutLearningAll(Sound):
    def play_one(self, x, y):
        prediction = self.predict_one(x)
        self.learn_one(x, y)
        self.rounds += 1
        return prediction


class WearsOut(Sound):
    """What it learns depends on what others like it have learned before."""

    learned = count()

    def learn_one(self, x, y):
        super().learn_one(x, y)
        if next(self.learned) > 460:
            self.w += 1.0


class LearnsBatchesAtTheEnd(Sound):
    def learn_many(self, batch):
        said = self.predict_many(batch)
        for x, y in batch.rows():
            self.learn_one(x, y)
        return said


class CountsBatches(Sound):
    """Says the same, and has learned something else."""

    batches = 0

    def learn_many(self, batch):
        self.batches += 1
        return super().learn_many(batch)

    def state(self):
        return {**super().state(), "batches": self.batches}


@theorem(kind="D", reference="")
def counted(run):
    return Bound(run.after.rounds)


class CountsBatchesAmongItsRounds(CountsBatches):
    """In its facts alone."""

    promises = (counted,)

    def facts(self):
        return Facts(self.rounds + self.batches)

    def state(self):
        return Sound.state(self)


def straight(x):
    """What is read by who takes the numbers of a row to lie beside each other."""
    return np.lib.stride_tricks.as_strided(x, x.shape, (*x.strides[:-1], x.itemsize)).copy()


class ReadsRowsThroughGaps(Sound):
    learn_many = None

    def _row(self, x):
        return super()._row(straight(x) if isinstance(x, np.ndarray) else x)


class PredictsManyOtherwise(Sound):
    def predict_many(self, batch):
        return -super().predict_many(batch)


class ChangesWhenAskedForMany(Sound):
    def predict_many(self, batch):
        said = super().predict_many(batch)
        self.w = self.w * (1 + 1e-9)
        return said


class IsNotPlain(Sound):
    def state(self):
        return {**super().state(), "more": Fraction(1, 3)}


class HasNumbersForKeys(Sound):
    def state(self):
        return {**super().state(), "more": {1: 2}}


class IsRestoredWithoutAPart(Sound):
    @classmethod
    def restore(cls, state):
        return super().restore({**state, "w": np.zeros(2)})


class IsRestoredToAnotherPath(Sound):
    """Its state is given back; what it says next is not."""

    odd = False

    @classmethod
    def restore(cls, state):
        learner = super().restore(state)
        learner.odd = True
        return learner

    def predict_one(self, x):
        return -1 if self.odd else super().predict_one(x)


class SharesItsArrays(Sound):
    def state(self):
        return {"w": self.w, "rounds": self.rounds}


class WritesToItsSavedState(Sound):
    """As a compiled loop would, whose arrays are not asked whether they are read-only."""

    def learn_one(self, x, y):
        if not self.w.flags.writeable:
            self.held = self.w  # as long as its memory is written to
            self.w = np.frombuffer((ctypes.c_double * 2).from_address(self.held.ctypes.data))
        super().learn_one(x, y)

    @classmethod
    def restore(cls, state):
        learner = cls()
        learner.w, learner.rounds = state["w"], state["rounds"]
        return learner


class TakesWhatIsNoExample(Sound):
    def _row(self, x):
        return np.resize(x, 2).astype(float) if isinstance(x, (list, np.ndarray)) else np.zeros(2)


class FailsOnWhatIsNoExample(Sound):
    def _row(self, x):
        return np.asarray(x, dtype=float).reshape(2)


class TakesWhatIsNoLabel(Sound):
    def learn_one(self, x, y):
        row = self._row(x)
        self.w += (1 if y == 1 else -1) * row
        self.rounds += 1


class LearnsFromWhatItRefuses(Sound):
    def learn_one(self, x, y):
        self.w[1] += 0.25
        super().learn_one(x, y)
        self.w[1] -= 0.25


class HasFactsThatChange(Sound):
    def facts(self):
        return {"rounds": self.rounds}


class HasNoDomain(Sound):
    def __init__(self):
        super().__init__()
        self.domain = "vector"


class HasOneLabel(Sound):
    labels = 1


@theorem(kind="D", reference="")
def broken(run):
    return Bound(0)


class BreaksItsPromise(Sound):
    promises = (broken,)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        *((without(name), f"Broken has no {name}") for name in registry.LEARNER),
        (HasNoDomain, "must be a Domain: it is 'vector'"),
        (HasOneLabel, r"must be None for -1 and \+1, or the number of labels: they are 1"),
        (HasFactsThatChange, "must be a frozen dataclass"),
        (ChangesWhenAsked, "predicting must change nothing: in round 1 it changes ChangesWhenAsked: w differs"),
        (SaysAnotherEachTime, "predicting must change nothing: in round 1 SaysAnotherEachTime predicts"),
        (DrawsFromNoDistribution, "chances of all labels must sum to 1"),
        (LearnsBeforeItPredicts, "play_one must predict, then learn"),
        (PlaysWithoutLearningAll, "play_one must learn the same as learn_one: rounds differs"),
        (WearsOut, "a repeated game must be the same"),
        (LearnsBatchesAtTheEnd, r"learn_many must do the same as learn_one, row by row \(batches of 7\): the"),
        (CountsBatches, r"learn_many must do the same as learn_one, row by row \(batches of 1\): batches differs"),
        (CountsBatchesAmongItsRounds, r"row by row \(batches of 1\): the certificates differ"),
        (ReadsRowsThroughGaps, "non-contiguous arrays must be read like contiguous ones: predict_one does not"),
        (PredictsManyOtherwise, "predict_many must match predict_one"),
        (ChangesWhenAskedForMany, "predict_many must change nothing"),
        (IsNotPlain, r"must be plain data, JSON values and arrays: it has .*1/3"),
        (HasNumbersForKeys, "the key 1 is not text"),
        (IsRestoredWithoutAPart, "IsRestoredWithoutAPart.restore must return a learner with the same state: w"),
        (IsRestoredToAnotherPath, "after round 1 must continue as if it were not"),
        (SharesItsArrays, "must not change while the game goes on"),
        (WritesToItsSavedState, "must not change the state that it was restored from"),
        (TakesWhatIsNoExample, "must reject x = .* with an InputError: it accepts it"),
        (FailsOnWhatIsNoExample, "must reject x = .* with an InputError: it raises ValueError"),
        (TakesWhatIsNoLabel, "must reject y = 7 with an InputError: it accepts it"),
        (LearnsFromWhatItRefuses, "must be unchanged after rounds that it rejected: w differs"),
        (BreaksItsPromise, "a bound must not be violated: broken: violated"),
    ],
)  # fmt: skip
def test_a_learner_that_breaks_a_contract_is_caught(kind, says):
    registry._registered["learner"]["broken"] = registry.Entry("learner", "", "", kind)
    with pytest.raises(AssertionError, match=says):
        check_learner(kind, (X, Y), refused=BAD)


def test_unregistered_learner_is_asked_to_register():
    with pytest.raises(
        AssertionError, match="a game must be savable and loadable: .* Sound of .* is not. Call novikoff"
    ):
        check_learner(Sound, (X, Y))


def test_examples_must_be_there_more_than_once():
    with pytest.raises(AssertionError, match="Pass a list"):
        check_learner(Sound, iter([(X[0], 1)]))


# Streams


class Stream:
    """Ten rows in batches of four."""

    name, domain, labels, rereadable = "ten rows", nk.Domain("vector", 2), nk.Labels(), True
    features = ("a", "b")

    def __init__(self):
        self.x, self.y = X[:10].copy(), Y[:10].astype(np.int8)

    def __len__(self):
        return 10

    def batches(self, start=None):
        for first in range(start["row"] if start else 0, 10, 4):
            stop = min(first + 4, 10)
            yield nk.Batch(self.x[first:stop], self.y[first:stop], first + 1, {"row": stop})

    def fingerprint(self):
        return {"size": 10}


def test_a_sound_stream_passes():
    check_stream(Stream)
    check_stream(lambda: nk.Arrays(X, Y))


class SkipsANumber(Stream):
    def batches(self, start=None):
        for batch in super().batches(start):
            yield nk.Batch(batch.x, batch.y, batch.first + (batch.first > 4), batch.end)


class HasAnEmptyBatch(Stream):
    def batches(self, start=None):
        yield from super().batches(start)
        yield nk.Batch(self.x[:0], self.y[:0], 11)


class HasNoRows(Stream):
    def batches(self, start=None):
        return iter(())


class SaysAnotherLength(Stream):
    def __len__(self):
        return 11


class NamesTooFew(Stream):
    features = ("a",)


class NamesByNumber(Stream):
    features = (0, 1)


class IsWider(Stream):
    domain = nk.Domain("vector", 3)


class ShowsPoints(Stream):
    domain = nk.Domain("point", 2)


class ShowsIndices(Stream):
    domain = nk.Domain("index")


class HasOtherLabels(Stream):
    def __init__(self):
        super().__init__()
        self.y = self.y + 1


class HasOneLabelTwice(Stream):
    labels = nk.Labels(1, 1)


class HasWordsForLabels(Stream):
    labels = ("ham", "spam")


class ReusesItsArrays(Stream):
    def batches(self, start=None):
        buffer = np.empty((4, 2))
        for batch in super().batches(start):
            rows = buffer[: len(batch)]
            rows[:] = batch.x
            yield nk.Batch(rows, batch.y, batch.first, batch.end, "owned")


class ForgetsToBeginAgain(Stream):
    done = 0

    def batches(self, start=None):
        self.x = np.roll(self.x, self.done)
        self.done += 1
        yield from super().batches(start)


class BeginsAgainThoughItCannot(Stream):
    rereadable = False


class ComesOnce(Stream):
    rereadable, left = False, False

    def batches(self, start=None):
        if self.left:
            raise InputError("a source must be rereadable to be read again: this is not.")
        self.left = True
        return super().batches(start)


class BeginsAnewWhereItShouldGoOn(Stream):
    def batches(self, start=None):
        return super().batches(None)


class SkipsARowWhereItGoesOn(Stream):
    def batches(self, start=None):
        self.x = np.roll(self.x, 1 if start else 0, axis=0)
        return super().batches(start)


class NumbersFromOneWhereItGoesOn(Stream):
    def batches(self, start=None):
        begun = start["row"] if start else 0
        for batch in super().batches(start):
            yield nk.Batch(batch.x, batch.y, batch.first - begun, batch.end)


class EndsSomewhereUnsaid(Stream):
    def batches(self, start=None):
        for batch in super().batches(start and {"row": start["at"]["row"]}):
            yield nk.Batch(batch.x, batch.y, batch.first, {"at": Fraction(1)})


class IsNeverTheSame(Stream):
    times = count()

    def fingerprint(self):
        return {"size": next(self.times)}


class HasAFingerprintThatIsNotPlain(Stream):
    def fingerprint(self):
        return {"size": object()}


class HasNoName(Stream):
    name = ""


class HasNoDomainAtAll(Stream):
    domain = None


class MayBeReread(Stream):
    rereadable = "yes"


def test_a_stream_that_comes_once_passes():
    check_stream(ComesOnce)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (type("Nothing", (), {}), "Nothing has no name"),
        (HasNoName, "must be text"),
        (HasNoDomainAtAll, "must be a Domain"),
        (MayBeReread, "must be true or false"),
        (SkipsANumber, "numbered consecutively: one of ten rows begins at 6, not 5"),
        (HasAnEmptyBatch, "no batch may be empty: the one at round 11"),
        (HasNoRows, "a stream must have rows"),
        (SaysAnotherLength, "must be 10, its rows: it is 11"),
        (NamesTooFew, "must name all of its 2 columns: there are 1 names"),
        (NamesByNumber, "must be names"),
        (IsWider, "as wide as the domain, 3: the batch at round 1 of ten rows has 2 columns"),
        (ShowsPoints, "points are integers"),
        (ShowsIndices, "indices are integers"),
        (HasOtherLabels, "labels must be -1 and \\+1 in a batch"),
        (HasOneLabelTwice, "must differ: both are 1"),
        (HasWordsForLabels, "must be Labels"),
        (ReusesItsArrays, "whose memory is not borrowed must not change: the one at round 1"),
        (ForgetsToBeginAgain, "must repeat its rows"),
        (BeginsAgainThoughItCannot, "must reject a second pass"),
        (BeginsAnewWhereItShouldGoOn, "must keep their numbers when a stream resumes: ten rows begins at 1, not 5"),
        (SkipsARowWhereItGoesOn, "must resume where a batch ended: after 4 rows ten rows yields 6"),
        (NumbersFromOneWhereItGoesOn, "must keep their numbers when a stream resumes"),
        (EndsSomewhereUnsaid, "the end of a batch of ten rows must be plain data"),
        (IsNeverTheSame, "the fingerprint of an unchanged source must not change"),
        (HasAFingerprintThatIsNotPlain, "the fingerprint of ten rows must be plain data"),
    ],
)
def test_a_stream_that_breaks_a_contract_is_caught(kind, says):
    with pytest.raises(AssertionError, match=says):
        check_stream(kind)


# Certificates


def mine(bound, kind="D", side="upper", observed=3):
    """The certificate of a theorem on a run of nine rounds."""
    declared = theorem(kind, reference="", side=side)(lambda run: bound)
    found = declared(SimpleNamespace(mistakes=observed, rounds=9))
    return dataclasses.replace(found, theorem="mine")


FINE = mine(Bound(5))
LOWER = mine(Bound(3), side="lower", observed=5)
VOID = mine(Bound(None, void="why"))


def test_certificates_that_agree_with_themselves_pass():
    trusting = mine(Bound(5.5, [Assumption("so", "trusted")]), kind="E")
    empty = mine(Bound(9))
    for certificate in (FINE, LOWER, VOID, trusting, empty):
        check_certificate(certificate)
    assert (trusting.status, empty.status) == ("conditional", "vacuous")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"theorem": "two words"}, "must have the name of its theorem"),
        ({"kind": "X"}, "must be D, E or P"),
        ({"side": "left"}, "must be upper or lower"),
        ({"status": "fine"}, "must be one of violated, valid"),
        (
            {"status": "violated", "reason": "broke"},
            "a bound must not be violated: mine: violated: mistakes 3 <= 5 .broke",
        ),
        ({"reason": "no reason"}, "must have a reason if and only if it is not valid"),
        ({"status": "vacuous"}, "must have a reason if and only if it is not valid"),
        ({"assumptions": (Assumption("so", "refuted"),)}, "must be void, an assumption is refuted"),
        ({"assumptions": (Assumption("so", "trusted"),)}, "must be conditional, an assumption is trusted"),
        ({"observed": float("nan")}, "must be finite"),
        ({"status": "void", "reason": "why"}, "is void, and must have no bound: it has 5"),
        ({"bound": None}, "must have a bound, or be void"),
        ({"bound": float("nan")}, "must have a bound, or be void"),
        ({"bound": 9}, "must be vacuous if and only if its bound is no better than 9"),
        ({"status": "vacuous", "reason": "why"}, "must be vacuous if and only if"),
        ({"observed": 6}, "must be violated: mistakes 6"),
        ({"kind": "E"}, "never rounded to an integer"),
    ],
)
def test_a_certificate_that_contradicts_itself_is_caught(change, says):
    with pytest.raises(AssertionError, match=says):
        check_certificate(dataclasses.replace(FINE, **change))


def test_a_lower_bound_that_was_not_reached_is_caught():
    with pytest.raises(AssertionError, match="must be violated"):
        check_certificate(dataclasses.replace(LOWER, observed=2))


def test_no_framework_of_tests_is_needed():
    code = "import sys, novikoff.testing; assert not {'pytest', 'hypothesis', 'numba'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_states_are_compared_to_the_bit():
    nothing, number = np.array([1.0, np.nan]), np.array([0.0])
    require_same({"a": nothing, "b": [number]}, {"a": nothing.copy(), "b": [number.copy()]}, "same")
    for other in (-number, number.astype(np.float32), np.zeros((1, 1)), np.array([5e-324])):
        with pytest.raises(AssertionError, match=r"states must agree: b\.0 differs"):
            require_same({"a": nothing, "b": [number]}, {"a": nothing, "b": [other]}, "states must agree")
