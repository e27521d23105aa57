"""A learner, its theorem and a file format from outside novikoff."""

from dataclasses import dataclass

import numpy as np

import novikoff as nk
from novikoff.core.certificate import Bound, Words, seen, theorem
from novikoff.core.encode import point
from novikoff.core.state import Argument, Array, Count, Stateful
from novikoff.core.types import check_label
from novikoff.data.formats.origin import Origin


@theorem(
    kind="D",
    reference="valiant1984",
    words=Words(
        covers="labels that are +1 exactly when one of some features is on",
        why="each mistake eliminates at least one of the {began} remaining features",
    ),
)
def elimination_mistakes(run):
    """Bound the mistakes of elimination if it misses no +1.

    Theorem (upper)
        If no round labelled +1 is missed, then M <= the number of eliminated features.
        This holds if y = +1 exactly when a feature of some set S is on, and then M <= n - |S|.
    Assumptions
        no round labelled +1 is missed (checked).
    Proof
        Every mistake is a round labelled -1 in which a remaining feature is on: it is eliminated, and only once.
        A feature of S is never on in a round labelled -1, so all of S remains, and no +1 is missed.
    """
    missed = run.after.missed - run.before.missed
    eliminated = run.before.left - run.after.left
    assumptions = [seen("no round labelled +1 is missed", missed == 0)]
    return Bound(eliminated, assumptions, {"began": run.before.left})


@dataclass(frozen=True)
class Facts:
    left: int
    missed: int


class Elimination(Stateful):
    """Learner of a disjunction: predicts +1 if a feature is on that was off in every round labelled -1.

    Algorithm
        Start with all n features. Predict +1 if a remaining feature is on. After a round labelled -1, eliminate all
        features that were on in it.
    Promise
        elimination_mistakes: M <= the number of eliminated features, if no +1 is missed.
    Cost
        O(n) per round.
    Reference
        Valiant: A theory of the learnable. Communications of the ACM 27, 1984.
    """

    promises = (elimination_mistakes,)
    labels = None  # -1 and +1
    fields = (Argument("width", int), Array("left", ("width",), bool), Count("missed"))  # what is saved

    def __init__(self, width: int):
        self.domain, self.width = nk.Domain("point", width), width
        self.left, self.missed = np.ones(width, dtype=bool), 0

    def predict_one(self, x):
        return 1 if (self.left & self._on(x)).any() else -1

    def learn_one(self, x, y):
        on, y = self._on(x), check_label(y, self.labels)
        if y == -1:
            self.left &= ~on
        elif not (self.left & on).any():
            self.missed += 1

    def _on(self, x):
        return point(x, len(self.left), 0, 1) == 1

    def facts(self):
        return Facts(int(self.left.sum()), self.missed)


def read_bits(source):
    """Read lines of a label and bits: "+ 0110"."""
    origin = Origin(source)
    with origin.open() as file:
        rows = [line.split() for line in file.read().decode().splitlines()]
    return nk.Arrays([[int(bit) for bit in bits] for _, bits in rows], [label for label, _ in rows], positive="+",
                     name=origin.name)  # fmt: skip


BITS = nk.Format(read_bits, suffixes=(".bits",), recognises=lambda head: head[:2] in (b"+ ", b"- "))
