"""A model keeps the names of its columns: sources with names are matched by them, sources without by position."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.core.errors import InputError, MismatchError
from novikoff.data.column_names import Matched, matched, names_of
from novikoff.data.tables.read_experts import read_experts
from novikoff.data.tables.table_formats import Frame
from novikoff.data.unlabelled import unlabelled
from novikoff.game.persistence import load, save


def target_frame(frame, label=None, **options):
    return Frame(frame, label, outcomes="numbers", **options)


def target_table(source, label=None, **options):
    return nk.read(source, label=label, outcomes="numbers", **options)


NAMES = ("a", "b", "c")
ORDERS = [("c", "b", "a"), ("b", "c", "a")]
x = np.random.default_rng(3).normal(size=(300, 3)).round(3)
y = np.where(x @ [3.0, -1.0, 0.5] >= 0, 1, 0)


def table(names=NAMES, rows=slice(None), label="y", target=y):
    columns = {name: x[rows, NAMES.index(name)] for name in names}
    return pa.table({**columns, label: target[rows]})


def as_csv(path, table, header=True):
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    lines = [",".join(table.column_names)] if header else []
    path.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def as_parquet(path, table, header=True):
    pq.write_table(table, path)
    return str(path)


def as_arrow(path, table, header=True):
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return str(path)


def as_jsonl(path, table, header=True):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return str(path)


FIRST, LATER = slice(0, 150), slice(150, 300)


def state_of(ledger):
    return ledger.mistakes, ledger.learner.weights.tolist()


# the view


def test_stream_in_matching_order_is_returned_unchanged():
    stream = nk.Frame(table())
    assert matched(stream, NAMES) is matched(stream, None) is stream
    assert matched(nk.Arrays(x, y), NAMES).features is None


@pytest.mark.parametrize("order", ORDERS)
def test_columns_come_in_the_order_of_the_names(order):
    stream = nk.Frame(table(order))
    turned = matched(stream, NAMES)
    assert isinstance(turned, Matched)
    (batch,) = turned.batches()
    assert np.array_equal(batch.x, x)
    assert batch.x.flags.c_contiguous
    assert (turned.features, turned.labels, turned.domain) == (NAMES, stream.labels, stream.domain)
    assert matched(turned, NAMES) is turned
    assert len(list(turned.batches(batch.end))) == 0


def test_integers_stay_whole_and_short_floats_short(tmp_path):
    (batch,) = matched(nk.Arrays([[1, 2]], [1], features=["q", "p"]), ("p", "q")).batches()
    assert (batch.x.tolist(), batch.x.dtype) == ([[2, 1]], np.int64)
    nk.convert(nk.Frame(table(ORDERS[0])), tmp_path / "c.arrow")
    (batch,) = matched(nk.read(tmp_path / "c.arrow"), NAMES).batches()
    assert np.array_equal(batch.x, x)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "b"), 'frame has no "c"'),
        (("a", "b", "c", "d"), 'frame has a new "d"'),
        (("a", "b", "d"), 'frame has no "c" and a new "d"'),
        (tuple("defghijk"), 'frame has no "a", "b", "c" and a new "d", "e", "f", "g", "h" and 3 more'),
    ],
)
def test_a_missing_or_a_new_column_is_an_error_that_names_it(names, said):
    stream = nk.Frame(pa.table({**{name: [1.0, 2.0] for name in names}, "y": [0, 1]}))
    with pytest.raises(MismatchError, match=f"columns must match those that m.nk was trained on: {said}"):
        matched(stream, NAMES, "m.nk")


def test_names_that_are_there_twice_are_matched_only_in_their_own_order():
    stream = nk.Arrays([[1, 2, 3]], [1], features=["a", "a", "b"])
    assert matched(stream, ("a", "a", "b")) is stream
    with pytest.raises(MismatchError, match='"a" occurs more than once, in arrays'):
        matched(stream, ("a", "b", "a"))
    with pytest.raises(MismatchError, match='"a" occurs more than once'):
        matched(stream, ("a", "b"))


def test_a_source_without_names_must_have_as_many_columns():
    with pytest.raises(MismatchError, match="the learner has 3 features: arrays has 2, without names"):
        matched(nk.Arrays(x[:, :2], y), NAMES)


def test_frames_name_their_columns_and_arrays_do_not():
    pd = pytest.importorskip("pandas")
    assert names_of(pd.DataFrame(x, columns=NAMES)) == names_of(table().drop_columns("y")) == NAMES
    assert names_of(x) is names_of(x.tolist()) is names_of(pd.DataFrame(x)) is None
    assert nk.Arrays(pd.DataFrame(x, columns=NAMES), y).features == NAMES
    assert nk.RegressionArrays(pd.DataFrame(x, columns=NAMES), y).features == NAMES
    assert nk.Advice(pd.DataFrame(x, columns=NAMES), y).experts == NAMES
    assert nk.Losses(pd.DataFrame(x, columns=NAMES)).experts == NAMES


# a second play


LEARNERS = {
    "perceptron": nk.Perceptron,
    "ellipsoid": nk.Ellipsoid,
    "kernel": lambda: nk.KernelPerceptron("rbf", gamma=0.5),
    "hedge": lambda: nk.Hedge([nk.Perceptron(), nk.Ellipsoid()]),
    "your own": lambda: Slotted(),
}


class Slotted:
    """A learner of somebody's own, which takes no further attribute."""

    __slots__ = ("_own", "domain", "labels")
    promises = ()

    def __init__(self):
        self._own = nk.Perceptron()
        self.domain, self.labels = self._own.domain, None

    def predict_one(self, x):
        return self._own.predict_one(x)

    def learn_one(self, x, y):
        self._own.learn_one(x, y)

    def facts(self):
        return self._own.facts()


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_second_play_matches_columns_by_name(name, order):
    mistakes = []
    for names in (NAMES, order):
        learner = LEARNERS[name]()
        ledger = nk.play(learner, table(rows=FIRST))
        nk.play(learner, table(names, LATER), ledger=ledger)
        assert ledger.feature_names == list(NAMES)
        mistakes.append(ledger.mistakes)
    assert mistakes[0] == mistakes[1]


@pytest.mark.parametrize("order", ORDERS)
def test_a_learner_that_plays_on_with_another_ledger_keeps_its_names(order):
    ledgers = []
    for names in (NAMES, order):
        learner = nk.Perceptron()
        nk.play(learner, table(rows=FIRST))
        ledgers.append(nk.play(learner, table(names, LATER)))
    assert state_of(ledgers[0]) == state_of(ledgers[1])
    with pytest.raises(MismatchError, match='has no "c"'):
        nk.play(learner, table(NAMES[:2]))


def test_refused_rows_leave_the_game_unchanged():
    learner = nk.Perceptron()
    ledger = nk.play(learner, table(rows=FIRST))
    before = state_of(ledger)
    with pytest.raises(MismatchError):
        nk.play(learner, table(("a", "b"), LATER), ledger=ledger)
    assert (state_of(ledger), ledger.rounds) == (before, 150)


def test_names_are_kept_only_of_rows_that_were_played():
    learner = nk.Perceptron()
    nk.play(learner, [({7: 1.0}, 1)])
    with pytest.raises(InputError, match="one form"):
        nk.play(learner, table())
    assert getattr(learner, "feature_names", None) is None
    nk.play(learner, [({9: 1.0}, -1)])


def test_sources_without_names_are_matched_by_position_and_then_named():
    learner = nk.Perceptron()
    ledger = nk.play(learner, (x[FIRST], y[FIRST]))
    assert ledger.feature_names is None
    nk.play(learner, table(rows=LATER), ledger=ledger)
    plain = nk.play(nk.Perceptron(), (x, y))
    assert state_of(ledger) == state_of(plain)
    assert ledger.feature_names == list(NAMES)
    nk.play(learner, table(ORDERS[0], FIRST), ledger=ledger)
    other = nk.play(nk.Perceptron(), (np.concatenate([x, x[FIRST]]), np.concatenate([y, y[FIRST]])))
    assert state_of(ledger) == state_of(other)
    with pytest.raises(MismatchError, match="has 3 features: arrays has 2, without names"):
        nk.play(learner, (x[:, :2], y), ledger=ledger)


@pytest.mark.parametrize(
    "make",
    [nk.Perceptron, nk.Ellipsoid, nk.KernelPerceptron, lambda: nk.Forgetron(20), lambda: nk.Hedge([nk.Perceptron()])],
)
def test_arrays_after_arrays_must_have_the_same_width(make):
    learner = make()
    nk.play(learner, (x, y))
    with pytest.raises((MismatchError, InputError), match="3"):
        nk.play(learner, (x[:, :2], y))


@pytest.mark.parametrize("order", ORDERS)
def test_frame_row_is_matched_by_name(order):
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(x, columns=list(NAMES))
    other = [row for _, row in rows[list(order)].iterrows()]
    ledger = nk.play(nk.Perceptron(), table(rows=FIRST), candidates=9)
    game, kept = nk.Game(ledger.learner, ledger), nk.finalize(ledger, "last")
    for k, row in enumerate(x):
        assert game.predict_one(other[k]) == kept.predict_one(other[k]) == game.predict_one(row)
    with pytest.raises(MismatchError, match='x has no "c"'):
        game.predict_one(rows.iloc[0][["a", "b"]])
    with pytest.raises(MismatchError, match='x has a new "d"'):
        game.learn_one(pd.Series([1.0] * 4, index=[*NAMES, "d"]), 1)
    games = [nk.Game(nk.Perceptron()) for _ in range(3)]
    for k, label in enumerate(2 * y - 1):
        for game, row in zip(games, (x[k], rows.iloc[k], other[k] if k else rows.iloc[0]), strict=True):
            game.learn_one(row, label)
    assert state_of(games[0].ledger) == state_of(games[1].ledger) == state_of(games[2].ledger)
    assert games[1].ledger.feature_names == list(NAMES)
    played = [nk.play(nk.Perceptron(), table(target=2 * y - 1)).learner for _ in range(2)]
    one, two = nk.play(played[0], zip(other, 2 * y - 1, strict=True)), nk.play(played[1], (x, 2 * y - 1))
    assert state_of(one) == state_of(two)


def test_points_are_matched():
    whole = {"p": [0, 5, 9, 3], "q": [1, 1, 0, 0], "y": [-1, 1, 1, -1]}
    learners = [nk.TightestBox(2, 10), nk.TightestBox(2, 10)]
    for learner, names in zip(learners, ("pqy", "qpy"), strict=True):
        nk.play(learner, pa.table(whole))
        nk.play(learner, pa.table({name: whole[name] for name in names}))
    assert learners[0].state() == learners[1].state()


def test_numbers_are_predicted_from_columns_by_name(tmp_path):
    target = np.clip(x @ [0.3, -0.1, 0.2], -1, 1).round(6)
    states = []
    for k, names in enumerate((NAMES, ORDERS[0], ORDERS[1])):
        learner = nk.OnlineGradient(normalize=True)
        nk.play(learner, target_frame(table(target=target, rows=FIRST)))
        later = table(names, LATER, target=target)
        source = [
            later,
            target_table(as_csv(tmp_path / "t.csv", later)),
            target_table(as_jsonl(tmp_path / "t.jsonl", later)),
        ]
        nk.play(learner, source[k])
        states.append(learner.weights.tolist())
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("loss", ["squared", "table"])
def test_experts_keep_their_places(tmp_path, loss):
    unit, learners = (x - x.min()) / (x.max() - x.min()), []
    for names in (NAMES, *ORDERS):
        learner = nk.ExponentialWeights(3, loss=loss)
        for number, (order, rows) in enumerate([(NAMES, FIRST), (names, LATER)]):
            columns = {name: unit[rows, NAMES.index(name)] for name in order}
            outcome = {} if loss == "table" else {"outcome": y[rows]}
            path = as_csv(tmp_path / f"{number}.csv", pa.table({**columns, **outcome}))
            nk.play(learner, read_experts(path, loss=loss))
        learners.append(learner)
    weights = [learner.weights.tolist() for learner in learners]
    assert weights[0] == weights[1] == weights[2]


def test_learners_that_are_compared_meet_columns_as_they_know_them():
    learner = nk.Perceptron()
    nk.play(learner, table(rows=FIRST))

    def taught(seed):
        copy = nk.Perceptron.restore(learner.state())
        copy.feature_names = learner.feature_names
        return copy

    mistakes = [nk.compare([taught], table(names, LATER)).learners[0].games[0].mistakes for names in (NAMES, *ORDERS)]
    assert mistakes[0] == mistakes[1] == mistakes[2]


# model files


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_arrow])
@pytest.mark.parametrize("order", ORDERS)
def test_a_saved_game_resumes_by_name(tmp_path, write, order):
    save(nk.play(nk.Perceptron(), table(rows=FIRST)), tmp_path / "m.nk")
    states = []
    for names in (NAMES, order):
        ledger = load(tmp_path / "m.nk")
        assert ledger.feature_names == ledger.learner.feature_names == list(NAMES)
        nk.play(ledger.learner, nk.read(write(tmp_path / "later", table(names, LATER))), ledger=ledger)
        states.append(state_of(ledger))
    assert states[0] == states[1]


def test_kept_classifier_keeps_the_names(tmp_path):
    frame = table(rows=FIRST)
    learner = nk.Perceptron()
    ledger = nk.play(learner, frame, candidates=10)
    for how in ("best", "voted", "last"):
        kept = nk.finalize(ledger, how, stream=table(ORDERS[0], FIRST))  # read again by name, too
        save(kept, tmp_path / "k.nk")
        assert load(tmp_path / "k.nk").feature_names == kept.feature_names == list(NAMES)


def test_comparators_in_hindsight_read_columns_by_name():
    from novikoff.game.play import look_back

    ledger = nk.play(nk.Perceptron(), table())
    plain, turned = (look_back(ledger, nk.Frame(one), nk.play) for one in (table(), table(ORDERS[1])))
    assert plain.facts == turned.facts


# the command line


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    train = as_csv(folder / "train.csv", table(rows=FIRST))
    assert novikoff("run", "perceptron", train, "--save", folder / "m.nk", "-q")[0] == 0
    assert novikoff("run", "perceptron", train, "--finalize", "last", "--save", folder / "k.nk", "-q")[0] == 0
    return folder


@pytest.mark.parametrize("model", ["m.nk", "k.nk"])
def test_predict_matches_columns_by_name_and_lists_missing_ones(saved, tmp_path, model):
    later = as_csv(tmp_path / "later.csv", table(rows=LATER))
    code, said, _ = novikoff("predict", saved / model, later)
    assert code == 0
    turned = as_parquet(tmp_path / "turned.parquet", table(ORDERS[0], LATER))
    code, same, told = novikoff("predict", saved / model, turned)
    assert (code, same) == (0, said)
    assert "are in another order: they are matched by name" in told
    bare = as_csv(tmp_path / "bare.csv", table(rows=LATER), header=False)
    code, same, told = novikoff("predict", saved / model, bare)
    assert (code, same) == (0, said)
    assert "have no names: they are matched by position" in told
    unknown = as_csv(tmp_path / "unknown.csv", table(rows=LATER).rename_columns(["a", "q", "c", "y"]))
    code, _, told = novikoff("predict", saved / model, unknown)
    assert code == 2
    assert 'unknown.csv has no "b" and a new "q"' in told
    bare = as_csv(tmp_path / "unlabelled.csv", table(ORDERS[1], LATER).drop_columns("y"))
    assert novikoff("predict", saved / model, bare, "--no-label")[:2] == (0, said)


def test_resume_matches_columns_by_name(saved, tmp_path):
    told = []
    for names in (NAMES, ORDERS[0]):
        later = as_csv(tmp_path / "later.csv", table(names, LATER))
        code, said, _ = novikoff("run", "perceptron", later, "--resume", saved / "m.nk", "--json")
        assert code == 0
        told.append({key: json.loads(said)[key] for key in ("rounds", "mistakes", "certificates")})
    assert told[0] == told[1]
    assert told[0]["rounds"] == 300
    code, _, error = novikoff(
        "run", "perceptron", as_csv(tmp_path / "few.csv", table(("a", "b"))), "--resume", saved / "m.nk"
    )
    assert code == 2
    assert 'few.csv has no "c"' in error


def test_examples_without_labels_have_their_names(tmp_path):
    named = unlabelled(as_csv(tmp_path / "n.csv", table().drop_columns("y")))
    bare = unlabelled(as_csv(tmp_path / "b.csv", table().drop_columns("y"), header=False))
    assert (named.features, bare.features) == (NAMES, None)
