"""Majority votes of the hypotheses of a game, each weighted by the number of rounds it predicted.

Steps   the voted Perceptron [freund1999]: the hypotheses are w_0, w_0 + y_1 x_1, ... over its mistakes, and only the
        mistakes are stored. They are added again, one by one, in the learner's arithmetic, so every vote equals the
        prediction of that hypothesis. O(mistakes * non-zeros) time for a row; a batch shares the additions.
Drawn   any learner: hypotheses drawn uniformly from those of the game, one vote each.
A tie predicts +1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner, Predictor
from novikoff.core.state import MOST_ROUNDS, array, ends, indices, require
from novikoff.core.types import Batch, Domain, Example, Label, Sparse, State
from novikoff.linear.perceptron import Perceptron
from novikoff.numerics.records import SparseRows, astuple


class VotedPerceptron(Predictor):
    """Majority vote of a Perceptron's hypotheses.

    Args:
        learner: The Perceptron before its first mistake.
    """

    features: Features

    def __init__(self, learner: Perceptron) -> None:
        self.first = learner
        self.features = Features()
        self.features.load(learner.features.state())
        self._rows: list[tuple[NDArray[np.uint32], NDArray[np.float64]]] = []
        self._signs: list[int] = []
        self._counts: list[int] = [0]

    @property
    def domain(self) -> Domain:
        return self.first.domain

    @property
    def size(self) -> int:
        """Number of voting hypotheses."""
        return len(self._counts)

    @property
    def rows_held(self) -> int:
        """Number of stored training rows: those of its mistakes."""
        return len(self._rows)

    def add(self, batch: Batch, wrong: NDArray[np.int64]) -> None:
        """Append the rounds of a batch; `wrong` holds the rows that were mistakes."""
        if isinstance(batch.x, Sparse):
            self.features.meet("numbers", batch.x.width)
        done = 0
        for row in wrong.tolist():
            self._counts[-1] += row + 1 - done
            done = row + 1
            self._rows.append(_row(batch, row, self.features))
            self._signs.append(int(batch.y[row]))
            self._counts.append(0)
        self._counts[-1] += len(batch) - done

    def predict_one(self, x: Example) -> Label:
        """Return the majority prediction for x."""
        row = self.features.row(x, learn=False)
        votes = self._votes(Sparse.of_rows([row]) if isinstance(row, tuple) else row[None, :])
        return 1 if votes[0] >= 0 else -1

    def predict_many(self, batch: Batch) -> NDArray[np.int8]:
        """Return the majority prediction for every row."""
        if not isinstance(batch.x, (Sparse, np.ndarray)):
            return np.array([self.predict_one(row) for row, _ in batch.rows()], dtype=np.int8)
        return np.where(self._votes(self.features.rows(batch, learn=False)) >= 0, np.int8(1), np.int8(-1))

    def _votes(self, x: Sparse | NDArray[np.generic]) -> NDArray[np.int64]:
        """Return the votes for +1 minus those for -1, for every row."""
        from novikoff.online_to_batch._loops import voting

        votes = np.zeros(len(x), np.int64)
        signs, counts = np.array(self._signs, np.int8), np.array(self._counts, np.int64)
        steps = Sparse.of_rows(self._rows)
        width = max(x.width if isinstance(x, Sparse) else x.shape[1], steps.width, self.features.count)
        weights = np.zeros(width)
        weights[: len(self.first.weights)] = self.first.weights
        bias_weight, rule = np.array([self.first.bias_weight]), (self.first.bias, self.first.normalize)
        if isinstance(x, Sparse):
            added, rows = SparseRows(*steps.arrays), SparseRows(*x.arrays)
            voting.votes_sparse(weights, bias_weight, astuple(added), signs, counts, astuple(rows), *rule, votes)
        else:
            voting.votes_dense(weights, bias_weight, steps.values.reshape(-1, width), signs, counts, x, *rule, votes)
        return votes

    def state(self) -> State:
        steps = Sparse.of_rows(self._rows)
        return {"learner": self.first.state(), "features": self.features.state(), "indptr": steps.indptr,
                "indices": steps.indices, "values": steps.values, "signs": np.array(self._signs, np.int8),
                "counts": np.array(self._counts, np.int64)}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> VotedPerceptron:
        """Return the vote with this `state`; written by hand, because rows are stored one by one."""
        steps, of = cls(Perceptron.restore(state["learner"])), "a vote"
        steps.features.load(state["features"])
        width, dense = max(steps.features.count, 1), steps.features.kind == "array"
        last = ends(state, "indptr", None, np.uint64, of)
        size, rows = int(last[-1]), len(last) - 1
        places = indices(state, "indices", size, width, of=of)
        numbers, signs = (
            array(state, "values", (size,), finite=False, of=of),
            array(state, "signs", (rows,), np.int8, of=of),
        )
        counts = array(state, "counts", (rows + 1,), np.int64, of=of)
        whole = not dense or bool((np.diff(last.astype(np.int64)) == steps.features.count).all())
        require(whole, f"rows of a vote must have {steps.features.count:,} numbers", last[:3])
        sound = set(signs.tolist()) <= {-1, 1} and bool(((counts >= 0) & (counts <= MOST_ROUNDS)).all())
        require(sound, "signs of a vote must be -1 and +1, and counts not negative", signs[:3])
        sparse = Sparse(last, places, numbers, width, checked=True)
        steps._counts, steps._signs = counts.tolist(), signs.tolist()
        steps._rows = [(i.copy(), v.copy()) for i, v in sparse.rows()]
        return steps


class RandomVote(Predictor):
    """Majority vote of randomly drawn hypotheses, one vote each."""

    domain: Domain
    labels: int | None

    def __init__(self, voters: list[Learner]) -> None:
        self.voters = voters
        self.domain, self.task, self.fixed_labels = voters[0].domain, voters[0].task, voters[0].fixed_labels
        # Hypotheses from early rounds may know fewer labels.
        self.labels = max(voter.labels or 0 for voter in voters) if self.task == "multiclass" else None

    @property
    def size(self) -> int:
        """Number of voting hypotheses."""
        return len(self.voters)

    @property
    def rows_held(self) -> int:
        """Number of training rows stored in the hypotheses."""
        return sum(voter.all_rows_held for voter in self.voters)

    def predict_one(self, x: Example) -> Label:
        """Return the majority prediction for x."""
        return _winner([int(voter.predict_one(x)) for voter in self.voters], self.labels)

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        """Return the majority prediction for every row."""
        predictions = [(voter, voter.predict_many(batch)) for voter in dict.fromkeys(self.voters)]
        choices = np.array(_choices(self.labels))
        votes = sum(self.voters.count(voter) * (choices[:, None] == labels) for voter, labels in predictions)
        winners: NDArray[np.number] = choices[np.argmax(votes, axis=0)]
        return winners


def _winner(votes: list[Label], labels: int | None) -> Label:
    """Return the label with the most votes; ties go to +1, or in multiclass to the smallest label."""
    return max(_choices(labels), key=lambda label: votes.count(label))


def _choices(labels: int | None) -> list[Label]:
    """Return the possible labels, in the order in which they win ties."""
    return [1, -1] if labels is None else list(range(labels))


def _row(batch: Batch, row: int, features: Features) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return an owned copy of one row of a batch."""
    if isinstance(batch.x, Sparse):
        indices, values = batch.x.row(row)
        return indices.copy(), values.astype(np.float64)
    x = features.row(batch.example(row), learn=True)
    if isinstance(x, tuple):
        return np.array(x[0], np.uint32), np.array(x[1], np.float64)
    return np.arange(len(x), dtype=np.uint32), np.array(x, np.float64)
