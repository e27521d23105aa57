"""Player: what a game calls, made of any learner. This file, and no other, asks what a learner can do.

A learner must have what `types.Learner` says. What it may have besides is here, each with what stands in for it:

    outcomes        "labels", or "numbers" for regression
    loss            what a prediction costs: "zero-one"
    costs           what predictions of numbers cost, many at once; the squared or the absolute difference, by `loss`
    draws           False; if True, `chances(x)` is the distribution that its predictions are drawn from
    conservative    False; True if it changes on its mistakes only
    sums_mistakes   False; True if its weights are the sum of y x~ over its mistakes, and what they were before;
                    `less(weights)` is then a copy whose weights are so much less
    scales          False; True if examples are better brought to one scale first, where they are rows of a table
                    (data/scaled.py)
    wants_bias      False; True if its `bias` is better 1 then, a constant feature
    numbered        False; True if its labels are many, numbered as they first come: where they are not announced, a
                    round may bring y == labels, a new one
    label_values    what the user calls these, in order: set by the ledger
    probabilities_one   P of each of many labels, of a learner that has them; the rest is that of labels never seen
    learners        those of a team, all of which play every round; none
    probability_one P(+1), of a learner on labels; its `play_one` and `learn_many` answer with the probability that it
                    gave to each label that came. A learner from outside that answers with a label alone is asked for
                    the probability before each label; its `learn_many` must answer with them
    play_one        predict, then learn, looking at x once
    learn_many      the same for every row of a batch, compiled; None, having done nothing, where it must go row by row
    predict_many    what it says of every row, learning nothing
    predict_ahead   predict_many where no label is shown between the rows; `predict_many` if the learner has none
    scores_many     the score of every row, or those of each of many labels, likewise
    probabilities_many   P(+1) of every row, or P of each of many labels, likewise
    tracker         the comparators that its theorems need, for a game that begins now; none
    score_one       the number whose sign is said of x
    scored          the scores of the last call: that of `play_one`, or an array of `learn_many`, each before its label
    predict_set     the set that is said beside the prediction; `standing()` tells of its thresholds
    mean            the learner whose weights are the mean of all it had, for convex losses
    features        how it numbers the features of x (core/feature_places.py)
    widen           let arrays be so wide from now on, where that is exact; new columns are refused
    within          the learner that learns, where another brings it its examples; itself
    seen            the last row, or batch, as it saw it, where it changes examples first; as it came
    again           a stream as it saw it, in a game of one pass from its first round on
    feature_names   of the columns it learned from, by which sources are matched: set by the ledger
    encoding        of the table it learned from, by which tables are read: set by the ledger
    size, updates   what it holds, and how often it changed
    survivor        a hypothesis that did best, in words
    between         what happened between two rounds, and what was promised there
    stretches       the game in parts, each as `between` tells of it, at most so many; none
    tale            what else it has to tell of its game, in lines
    shares          of a mixture: the mean of each forecaster's weight over all rounds; `names` and `weights` are theirs
    rows_held       training rows that its hypothesis is made of, which no file of it can do without; 0
    live            False; True if its state can be copied, but is no plain data to be saved in a file
    seed, names, weights, normalize

`play_one` and `learn_many` answer with labels, or with a `StepResult`: those of a learner that draws, of one that pays
another loss than a mistake, and of one with probabilities.

Learners from outside this package are shown rows that they cannot write into, and labels of their own. What predictions
of theirs cost is counted here, from the game's labels; their probabilities must be from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import apart
from novikoff.core.errors import Advice, InputError, MismatchError, Option
from novikoff.core.types import Batch, Distribution, Domain, Example, Label, Learner, StepResult

if TYPE_CHECKING:
    from novikoff.core.stream import Stream


class Player:
    """A learner with all that it can do, and what stands in for the rest."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.outcomes = outcomes(learner)
        self.loss: str = getattr(learner, "loss", None) or "zero-one"
        self.draws, self.conservative, self.sums_mistakes, self.numbered = (
            bool(getattr(learner, name, False)) for name in ("draws", "conservative", "sums_mistakes", "numbered")
        )
        self.members: tuple[Learner, ...] = tuple(getattr(learner, "learners", ()))
        self._learn_many: Callable[[Batch], Any] | None = getattr(learner, "learn_many", None)
        self._predict_many: Callable[[Batch], Any] | None = getattr(learner, "predict_many", None)
        self._foreign = not type(learner).__module__.startswith("novikoff.")
        self._play_own: Callable[[Example, Any], Any] = getattr(learner, "play_one", self._predict_then_learn)
        self.play_one = self._play_foreign if self._foreign else self._play_own
        self._asks = self._foreign and self.probable  # until it answers with probabilities itself

    @property
    def domain(self) -> Domain:
        """What x may be."""
        return self.learner.domain

    @property
    def pays(self) -> bool:
        """Does it take outcomes as they are, and answer with a `StepResult`: on advice, on losses, or of numbers?"""
        return self.outcomes == "numbers" or self.learner.domain.kind in ("advice", "losses")

    @property
    def counts(self) -> bool:
        """Are mistakes what it pays for?"""
        return self.loss == "zero-one"

    @property
    def probable(self) -> bool:
        """Does it say with what probability it expects a label?"""
        says = any(hasattr(self.within, name) for name in ("probability_one", "probabilities_one"))
        return self.outcomes == "labels" and says

    @property
    def looped(self) -> bool:
        """Does it play row by row?"""
        return self._learn_many is None

    def _predict_then_learn(self, x: Example, y: Label) -> Label:
        prediction = self.learner.predict_one(x)
        self.learner.learn_one(x, y)
        return prediction

    def _play_foreign(self, x: Example, y: Any) -> Any:
        """One round of a learner from outside, asked for its probabilities before it sees the label."""
        asked = self._ask(x, y) if self._asks else None
        played = self._play_own(self._shown(x), y.copy() if isinstance(y, np.ndarray) else y)
        if asked is not None:
            if isinstance(played, StepResult) and played.probabilities is not None:
                self._asks = False
            else:
                label = played.predictions if isinstance(played, StepResult) else played
                wrong = float(label != y)
                played = StepResult(label, wrong, wrong)._replace(**asked)
        return self._counted(played, y)

    def _ask(self, x: Example, y: Any) -> dict[str, Any]:
        """What its probabilities of x are worth when label y comes: fields of a `StepResult`."""
        learner: Any = self.learner
        asked: dict[str, Any] = {"expected": 1.0 - self.chances(x).get(y, 0.0)} if self.draws else {}
        if not self.numbered:
            p = float(learner.probability_one(self._shown(x)))
            return {**asked, "probabilities": p if y == 1 else 1.0 - p}
        known = np.array(learner.probabilities_one(self._shown(x)), dtype=np.float64)
        said = self.predict_one(x)
        p = float(known[y]) if y < len(known) else max(1.0 - float(known.sum()), 0.0)
        sure = float(known[said]) if 0 <= said < len(known) and y < len(known) else math.nan
        brier = float(known @ known) - (p * p if y < len(known) else 0.0) + (1.0 - p) ** 2
        return {**asked, "probabilities": p, "confidences": sure, "briers": brier}

    def _counted(self, played: Any, y: Any) -> Any:
        """What a learner from outside answered, its losses counted from the game's outcomes, probabilities checked."""
        if not isinstance(played, StepResult):
            return played
        if played.probabilities is not None:
            given = np.asarray(played.probabilities, dtype=np.float64)
            if not np.all((given >= 0.0) & (given <= 1.0)):
                wrong = given[~((given >= 0.0) & (given <= 1.0))][0] if given.ndim else given
                raise InputError(f"a probability must be from 0 to 1: {type(self.learner).__name__} gave {wrong:g}.")
        if self.outcomes == "numbers" and (hasattr(self.within, "costs") or self.loss in ("squared", "absolute")):
            losses = self.costs(np.asarray(played.predictions, dtype=np.float64), np.asarray(y, dtype=np.float64))
            played = played._replace(losses=losses, **({} if self.draws else {"expected": losses}))
        return played

    def _shown(self, x: Any) -> Any:
        """x as a learner from outside is shown it: copied, and arrays to be read only."""
        if not self._foreign:
            return x
        if isinstance(x, np.ndarray):
            return apart(x)
        if isinstance(x, tuple):
            return tuple(apart(part) if isinstance(part, np.ndarray) else part for part in x)
        return x.copy() if isinstance(x, (dict, list)) else x

    def predict_one(self, x: Example) -> Any:
        """What it says of x, learning nothing."""
        return self.learner.predict_one(self._shown(x))

    def learn_many(self, batch: Batch) -> NDArray[Any] | StepResult | None:
        """Play every row; None, having done nothing, if that must go row by row."""
        if self._learn_many is None or isinstance(batch.x, list):
            return None
        if not self._foreign:
            played: NDArray[Any] | StepResult | None = self._learn_many(batch)
            return played
        found = self._learn_many(batch.to_read())
        if found is not None and self._asks and (not isinstance(found, StepResult) or found.probabilities is None):
            raise MismatchError(
                f"learn_many of a learner with probabilities must answer with them: {type(self.learner).__name__} did "
                "not. Answer with a StepResult that has probabilities, or leave learn_many out."
            )
        return self._counted(found, batch.y)  # type: ignore[no-any-return]

    def predict_many(self, batch: Batch) -> NDArray[Any]:
        """What it says of every row, learning nothing."""
        if self._predict_many is not None and not isinstance(batch.x, list):
            predictions: NDArray[Any] = self._predict_many(batch.to_read() if self._foreign else batch)
            return predictions
        return np.array([self.predict_one(x) for x, _ in batch.rows()])

    def predict_ahead(self, batch: Batch) -> NDArray[Any]:
        """Predict rows that come without labels, learning nothing: the last outcome is not that of the row before."""
        ahead: Callable[[Batch], NDArray[Any]] | None = getattr(self.learner, "predict_ahead", None)
        return self.predict_many(batch) if ahead is None else ahead(batch)

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """The score of every row, or those of each of many labels, learning nothing."""
        one = "scores_one" if self.numbered else "score_one"
        return self._of_rows(batch, "scores_many", one, self.scores_rows, "a score")

    @property
    def scores_rows(self) -> bool:
        """Has it a score of x, or one of each of many labels?"""
        return hasattr(self.within, "scores_one" if self.numbered else "score_one")

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """P(+1) of every row, or P of each of many labels, learning nothing."""
        one = "probabilities_one" if self.numbered else "probability_one"
        return self._of_rows(batch, "probabilities_many", one, self.probable, "a probability")

    def _of_rows(self, batch: Batch, many: str, one: str, has: bool, what: str) -> NDArray[np.float64]:
        """What `many` says of all rows, or else `one` of each."""
        if not has:
            raise InputError(f"the learner must have {what}: {type(self.within).__name__} has none.")
        together, single = getattr(self.learner, many, None), getattr(self.learner, one)
        if together is not None and not isinstance(batch.x, list):
            found: NDArray[np.float64] = together(batch.to_read() if self._foreign else batch)
            return found
        return np.array([single(self._shown(x)) for x, _ in batch.rows()], dtype=np.float64)

    def chances(self, x: Example) -> Distribution:
        """The distribution of its prediction on x."""
        if not self.draws:
            return {self.predict_one(x): 1.0}
        distribution: Distribution = self.learner.chances(self._shown(x))  # type: ignore[attr-defined]
        return distribution

    def costs(self, said: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        """What predictions of numbers cost."""
        own = getattr(self.within, "costs", None)
        gaps = said - y
        found: NDArray[np.float64] = own(said, y) if own else np.abs(gaps) if self.loss == "absolute" else gaps * gaps
        return found

    def tracker(self) -> Any:
        """The comparators that its theorems need, for a game that begins now; None if they need none."""
        begin = getattr(self.learner, "tracker", None)
        return None if begin is None else begin()

    @property
    def scores(self) -> bool:
        """Has it a score, whose sign is what it says?"""
        return all(hasattr(one, "score_one") for one in (self.learner, self.within))

    @property
    def of_labels(self) -> Callable[[Example], Any] | None:
        """What gives each of many labels its probability, or else its score; None if nothing does."""
        if not self.numbered:
            return None
        found: Callable[[Example], Any] | None = getattr(self.learner, "probabilities_one", None)
        return found or getattr(self.learner, "scores_one", None)

    @property
    def covers(self) -> bool:
        """Does it say sets?"""
        return says_sets(self.learner)

    def standing(self) -> dict[str, Any]:
        """What theorems on coverage need to know of the thresholds of its sets."""
        found: dict[str, Any] = self.learner.standing()  # type: ignore[attr-defined]
        return found

    @property
    def tells_scores(self) -> bool:
        """Does the learner that learns keep the scores of its last call?"""
        return hasattr(self.within, "scored")

    @property
    def averages(self) -> bool:
        """Can it tell the mean of the weights it had?"""
        return hasattr(self.learner, "mean")

    @property
    def normalizes(self) -> bool:
        """Can it, or one of its team, divide examples by their length?"""
        return any(hasattr(Player(one).within, "normalize") for one in (self.learner, *self.members))

    @property
    def features(self) -> Any:
        """How it numbers the features of x; None if it does not."""
        return getattr(self.learner, "features", None)

    def check_hash(self, stream: Stream) -> None:
        """Refuse features that are hashed to other places than those it has weights of.

        Rows that it was shown in batches were as wide as there are places; of single rows it knows fewer.
        """
        if stream.bits is None:
            return
        places = 2**stream.bits
        for one in (self.learner, self.within, *self.members):
            features = Player(one).features
            if features is None or features.kind != "numbers" or features.count in (0, places):
                continue
            bits = features.count.bit_length() - 1
            if features.count > places or features.count == 2**bits:
                raise MismatchError(
                    f"names must be hashed as those that were learned from, to {features.count:,} places",
                    f"those of {stream.name} are hashed to {places:,}",
                    Advice("Pass ", Option("bits", bits), ".") if features.count == 2**bits else "",
                )

    def widen(self, width: int) -> None:
        """Let arrays be so wide from now on: a table has new columns at its end, in which all rows before were 0."""
        for member in self.members:
            Player(member).widen(width)
        features, fixed = self.features, getattr(self.learner, "domain", Domain("vector")).width
        had = fixed if features is None else features.count if features.kind == "array" else None
        if had is None or had >= width:
            return
        widen = getattr(self.learner, "widen", None)
        if widen is None:
            raise InputError(
                f"all columns of a table must be there in its first rows for {type(self.learner).__name__}",
                f"it has {had:,} features, and now there are {width:,}: a number is missing for the first time",
                Advice("Fill or drop such rows, pass ", Option("drop", letter="COLUMN"), ", or choose a learner that "
                       "takes new features, such as auto or perceptron."),
            )  # fmt: skip
        widen(width)

    @property
    def feature_names(self) -> list[str] | None:
        """Of the columns it learned from; None if they have none."""
        names: list[str] | None = getattr(self.learner, "feature_names", None)
        return names

    @feature_names.setter
    def feature_names(self, names: list[str]) -> None:
        with suppress(AttributeError):  # a learner with slots is known by its ledger only
            self.learner.feature_names = names  # type: ignore[attr-defined]

    @property
    def label_values(self) -> list[Any] | None:
        """What the user calls the labels that it numbers; None if it numbers none, or they have no names yet."""
        values: list[Any] | None = getattr(self.learner, "label_values", None)
        return values

    @label_values.setter
    def label_values(self, values: list[Any]) -> None:
        with suppress(AttributeError):
            self.learner.label_values = values  # type: ignore[attr-defined]

    @property
    def encoding(self) -> Any:
        """How the columns of the table it learned from become features; None if it was no table."""
        return getattr(self.learner, "encoding", None)

    @encoding.setter
    def encoding(self, encoding: Any) -> None:
        with suppress(AttributeError):
            self.learner.encoding = encoding  # type: ignore[attr-defined]

    @property
    def size(self) -> int | None:
        """What it holds; None if it does not say."""
        return getattr(self.learner, "size", None)

    @property
    def updates(self) -> int | None:
        """How often it changed; None if it does not say."""
        return getattr(self.learner, "updates", None)

    @property
    def within(self) -> Learner:
        """The learner that learns, which may be within another that brings it its examples."""
        found: Learner = getattr(self.learner, "within", self.learner)
        return found

    def seen(self, batch: Batch) -> Batch:
        """The batch of the last call, as the learner saw it: comparators must see the same."""
        found: Batch = getattr(self.learner, "seen", batch)
        return found

    def seen_row(self, x: Example, later: bool = False) -> Any:
        """The x of the last call as a row, as the learner saw it; or, if `later`, what will be encoded with others."""
        row = getattr(self.learner, "seen", None)
        return self.features.seen_row(x, later) if row is None else row

    @property
    def changes_examples(self) -> bool:
        """Does it change examples first?"""
        return hasattr(self.learner, "again")

    def again(self, stream: Any) -> Any:
        """The stream of a game of one pass, as the learner saw it."""
        return self.learner.again(stream) if hasattr(self.learner, "again") else stream

    def survivor(self) -> str | None:
        """A hypothesis that did best, in words; None if it has no hypotheses."""
        tell = getattr(self.learner, "survivor", None)
        return None if tell is None else str(tell())

    def tale(self) -> list[str]:
        """What else it has to tell of its game, in lines."""
        tell = getattr(self.learner, "tale", None)
        return [] if tell is None else list(tell())

    def between(self, first: int, last: int) -> Any:
        """What happened between two rounds, and what was promised there."""
        tell = getattr(self.learner, "between", None)
        if tell is None:
            raise InputError(
                "a learner to be asked about some of its rounds must promise something there: "
                f"{type(self.learner).__name__} does not. Play auto:drift=true, or another learner so."
            )
        return tell(first, last)

    def stretches(self, most: int) -> list[Any]:
        """The game in parts, at most so many, each as `between` tells of it; none if nothing is promised there."""
        tell = getattr(self.learner, "stretches", None)
        return [] if tell is None else list(tell(most))

    @property
    def live(self) -> bool:
        """Is its state no plain data, which no file can hold?"""
        return bool(getattr(self.learner, "live", False))

    @property
    def seed(self) -> int | None:
        """Of its coins; None if it has none."""
        return getattr(self.learner, "seed", None)

    @property
    def most(self) -> float:
        """Largest loss of a round; infinite where it is not known, or outcomes of any size are scaled before play."""
        facts: Any = self.learner.facts()
        known = not getattr(facts, "scaled", False)
        return 1.0 if self.counts else float(getattr(facts, "top", math.inf)) if known else math.inf

    def settings(self, name: str) -> list[Any]:
        """What it, or those of its team, were given for a parameter of that name; none if it has no such."""
        players = (self, *(Player(member) for member in self.members))
        having = [one for player in players for one in (player.learner, player.within)] + [self.learner.facts()]
        return [getattr(one, name) for one in having if hasattr(one, name)]

    @property
    def rows_held(self) -> int:
        """Training rows in its hypothesis, those of its team together."""
        members = sum(Player(member).rows_held for member in self.members)
        own = getattr(self.learner, "rows_held", None)
        return members + int(getattr(self.within, "rows_held", 0) if own is None and not members else own or 0)

    @property
    def weights(self) -> Any:
        """Of a team: the chance of each learner to be followed."""
        return getattr(self.learner, "weights", ())

    @property
    def shares(self) -> Any:
        """Of a mixture: the mean of each forecaster's weight over all rounds; none if it is no mixture."""
        return getattr(self.within, "shares", ())

    @property
    def names(self) -> list[str]:
        """Of a team: what its learners are called."""
        return list(getattr(self.learner, "names", ()))


def outcomes(learner: Any) -> str:
    """What a learner, or a class of learners, learns: "labels" or "numbers"."""
    return str(getattr(learner, "outcomes", "labels"))


def scales(kind: Any) -> bool:
    """Are examples better brought to one scale first, for learners of this class?"""
    return bool(getattr(kind, "scales", False))


def wants_bias(kind: Any) -> bool:
    """Is a constant feature better added then?"""
    return bool(getattr(kind, "wants_bias", False))


def says_sets(kind: Any) -> bool:
    """Do learners of this class say sets beside their predictions?"""
    return hasattr(kind, "predict_set")


def rounds_learned(facts: Any) -> int:
    """How many rounds a learner with these facts had learned from; 0 if they do not tell."""
    return int(getattr(facts, "rounds", 0))


def is_learner(value: Any) -> bool:
    """Is it a learner?"""
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("predict_one", "domain", "facts"))
