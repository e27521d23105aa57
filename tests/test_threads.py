"""Predictions from several threads at a time: they write into nothing shared, and answer as one thread does.

That nothing is written is checked without threads: all memory that a learner holds must be the same, bit for bit, after
other rows were predicted. Threads then predict on learners large enough for their calls to overlap.
"""

import types
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import novikoff as nk
import test_multiclass
from novikoff.core.adapt import adapt
from novikoff.core.types import Batch, Sparse
from novikoff.data.as_stream import as_stream, for_learner
from novikoff.game.specs import make
from samples import examples
from test_every_forecaster import SAMPLES as FORECASTERS
from test_every_forecaster import stream as forecasts
from test_every_learner import CASES, CHOSEN, IDS

THREADS = 8


def named(spec):
    return partial(make, spec, "learner")


def samples():
    for k, (name, (spec, stream, _)) in enumerate(zip(IDS, CASES, strict=True)):
        marks = [] if k in CHOSEN else pytest.mark.slow
        yield pytest.param(named(spec), lambda stream=stream: examples(stream, 0.1), id=name, marks=marks)
    for k, (spec, table) in enumerate(FORECASTERS):
        yield pytest.param(named(spec), partial(forecasts, table), id=spec, marks=pytest.mark.slow if k % 4 else [])
    for k, kind in enumerate(test_multiclass.EVERY):
        yield pytest.param(kind, test_multiclass.stream, id=f"many-{k}")


def memory(thing, path="", found=None, seen=None):
    """All numbers and texts that can be reached from an object, by the path to each."""
    found, seen = ({}, {}) if found is None else (found, seen)
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        found[path] = (thing.shape, thing.tobytes())
    elif isinstance(thing, (int, float, str, bytes, type(None), np.generic)):
        found[path] = repr(thing)
    elif id(thing) not in seen and not isinstance(thing, (type, types.ModuleType, types.FunctionType)):
        seen[id(thing)] = thing
        found[path] = type(thing).__name__
        if isinstance(thing, dict):
            parts = list(thing.items())
        elif isinstance(thing, (list, tuple, set, frozenset, np.ndarray)):
            parts = list(enumerate(thing))
        else:
            slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
            parts = [*vars(thing).items()] if hasattr(thing, "__dict__") else []
            parts += [(name, getattr(thing, name)) for name in slots if hasattr(thing, name)]
        for name, part in parts:
            memory(part, f"{path}.{name}", found, seen)
    return found


QUESTIONS = ("score_one", "scores_one", "probability_one", "probabilities_one", "chances", "predict_set")


def ask(player, batch):
    """All that can be asked about the rows."""
    learner, answers = player.original, []
    for x, _ in batch.rows():
        answers += [learner.predict_one(x), *(getattr(learner, name)(x) for name in QUESTIONS if player.has(name))]
    answers.append(player.predict_many(batch))
    answers += [player.scores_many(batch)] if player.scores_rows else []
    answers += [player.probabilities_many(batch)] if player.probable else []
    return [(a.shape, a.tobytes()) if isinstance(a, np.ndarray) else repr(a) for a in answers]


@pytest.mark.parametrize(("kind", "stream"), list(samples()))
def test_predictions_write_into_no_memory_of_the_learner(kind, stream):
    learner = kind()
    game, source = nk.Game(learner), as_stream(stream(), learner)
    batches = [for_learner(batch, source, adapt(learner), game.numbering) for batch in source.batches()]
    whole = batches[0]
    game.learn_batch(whole.part(0, 2 * len(whole) // 3))
    before = memory(learner)
    ask(game.player, whole.part(len(whole) - 4, len(whole)))
    after = memory(learner)
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == set()


def wide_rows(rows, seed=0):
    """Sparse rows of 20 out of 2^19 features: supports that no dense block has room for."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(2**19, (rows, 20)).astype(np.uint32), axis=1)
    ends = np.arange(0, 20 * rows + 1, 20, dtype=np.uint64)
    x = Sparse(ends, places.ravel(), rng.normal(size=20 * rows), 2**19)
    return x, np.where(rng.random(rows) < 0.5, -1, 1)


def dense_rows(rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 10)), np.where(rng.random(rows) < 0.5, -1, 1)


LARGE = [
    ("kernel-perceptron:gamma=0.1", dense_rows), ("kernel-perceptron:polynomial,degree=3", dense_rows),
    ("kernel-perceptron:linear", wide_rows), ("rbp:budget=500,gamma=0.1", dense_rows),
    ("forgetron:budget=500,gamma=0.1", dense_rows), ("tighter:budget=200,gamma=0.1", dense_rows),
    ("cks:budget=500,gamma=0.1", dense_rows), ("auto", dense_rows), ("logistic", dense_rows), ("arow", dense_rows),
]  # fmt: skip


def from_threads(calls):
    """The answers of several threads, each of which makes all calls in an order of its own."""
    orders = [np.random.default_rng(k).permutation(len(calls)).tolist() for k in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda order: [(k, calls[k]()) for k in order], orders))
    return [pair for answers in found for pair in answers]


@pytest.mark.parametrize(("spec", "rows"), LARGE, ids=[f"{k}-{spec}" for k, (spec, _) in enumerate(LARGE)])
def test_scores_from_threads_are_those_of_one_thread(spec, rows):
    x, y = rows(1200)
    learner = make(spec, "learner")
    nk.Game(learner).learn_batch(Batch(x, y, 1))
    batch = Batch(*rows(160, seed=1), 1)
    parts = [batch.part(k, k + 20) for k in range(0, 160, 20)]
    calls = [partial(learner.scores_many, part) for part in parts]
    calls += [partial(learner.score_one, x) for x, _ in parts[0].rows()]
    wanted = [np.array(call()).tobytes() for call in calls]
    wrong = [k for k, answer in from_threads(calls) if np.array(answer).tobytes() != wanted[k]]
    assert wrong == []


def test_estimators_answer_from_threads_as_from_one():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    from novikoff.integrations.sklearn import AutoClassifier, KernelPerceptronClassifier

    x, y = dense_rows(600)
    frame = pandas.DataFrame(x)
    frame.columns = frame.columns.map(str)
    for model, rows in ((KernelPerceptronClassifier(gamma=0.1), x), (AutoClassifier(), frame)):
        model.fit(rows, y)
        calls = [partial(model.decision_function, rows[k : k + 50]) for k in range(0, 600, 50)]
        wanted = [call().tobytes() for call in calls]
        assert [k for k, answer in from_threads(calls) if answer.tobytes() != wanted[k]] == []
