"""Preparation of a game: one parse of the spec, one source opened, one learner made, by the same defaults everywhere.

`run`, `play`, `compare`, `repeat` and the estimators of scikit-learn come here, and so do the models of River and of
the service, whose rows come one by one and are not known beforehand.

Scaling
    The columns of tables and dense arrays are scaled by default, for learners whose result depends on the unit of a
    column (the Perceptron, the kernel learners), and these then get a constant feature, bias=1. `scale=none` in the
    spec, or as `scale`, gives the learner of the theorem on the numbers as they are. Sparse rows, pairs (x, y) and
    generated streams are not scaled, nor is a learner that was made by the caller.
Order
    The spec alone decides which source is opened, one of labels, of numbers or of losses (`Learner.task_of`). The
    source then decides the scale, the width, and whether labels are many; with these the learner is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from novikoff.core.errors import InputError, SpecError, named
from novikoff.core.learner import Learner, as_learner, is_learner
from novikoff.core.registry import entry
from novikoff.core.stream import Stream, is_stream
from novikoff.core.types import Adversary, Domain
from novikoff.data.as_stream import Wanted, as_stream, asked, check_many, opened, source_for
from novikoff.game import specs
from novikoff.game.specs import Spec

Made = str | Spec | Callable[[int], Learner]
"""What a fresh learner is made from: a spec of the catalog, or a function of the seed."""

LABELLED = frozenset({"table", "functions"})
"""Hypothesis classes that may have more than two labels: a learner on one is made once more, to count them."""

Recipe = Spec | Callable[[int], Learner]
"""The same, the spec parsed."""


class RowShape(NamedTuple):
    """What is known of the rows of a game before the first of them comes.

    domain   what x may be; None where that is not known
    scaled   are they columns of numbers, each in its own unit, which are scaled by default?
    many     are their labels many?
    name     of their source; None where they come one by one
    """

    domain: Domain | None = None
    scaled: bool = False
    multiclass: bool = False
    name: str | None = None

    @classmethod
    def of(cls, environment: Stream | Adversary) -> RowShape:
        """Those of a stream, or against an adversary."""
        if isinstance(environment, Stream):
            return cls(environment.domain, environment.scaled_by_default, environment.multiclass, environment.name)
        return cls(environment.domain)


class Prepared(NamedTuple):
    """What a game of a spec is played with.

    learner       fresh
    spec          of the learner, with its scaling
    environment   a stream, or the adversary as it was given
    """

    learner: Learner
    spec: Spec
    environment: Any


def prepare(
    spec: str | Spec, environment: Any, multiclass: bool = False, scale: str | None = None, alone: bool = False,
    defaults: Mapping[str, Any] | None = None,
) -> Prepared:  # fmt: skip
    """Open the environment and make the learner of a spec for it.

    many       labels are many, also where the first rows show two
    scale      "standard", "range", "none", or None for the default
    alone      a `scale` that is given also holds for learners that have no default
    defaults   arguments of the learner, where it takes them and the spec leaves them out
    """
    spec = specs.parsed(spec)
    if isinstance(environment, Adversary):
        return Prepared(learner_for(spec, RowShape.of(environment), defaults), spec, environment)
    if not multiclass and (other := specs.for_numbers(spec)) != spec:
        environment = opened(environment)
        spec = other if is_stream(environment) and environment.outcomes == "numbers" else spec
    stream = stream_for(spec, environment, multiclass)
    rows = RowShape.of(stream)
    spec = scaled(spec, rows, scale, alone)
    return Prepared(learner_for(spec, rows, defaults), spec, stream)


def stream_for(recipe: Recipe, environment: Any, multiclass: bool = False) -> Stream:
    """Open the environment for a learner that is still to be made; `many` as for `prepare`."""
    if not isinstance(recipe, Spec):
        return as_stream(environment, recipe(0), multiclass)
    wanted = Wanted(specs.task(recipe))
    if specs.names(recipe) & LABELLED:
        learner = specs.make(recipe, "learner")
        wanted = Wanted(learner.task, asked(learner), learner.domain)
    return source_for(environment, wanted, multiclass or None)


def scaled(spec: Spec, rows: RowShape, scale: str | None = None, alone: bool = False) -> Spec:
    """The spec with the scaling that it has on these rows; see `prepare`."""
    return specs.with_scale(spec, scale, rows.scaled, alone)


def learner_for(recipe: Recipe, rows: RowShape, defaults: Mapping[str, Any] | None = None) -> Learner:
    """Make a learner for these rows, that has learned nothing; a function gets the seed of the `defaults`."""
    given = dict(defaults or {})
    if not isinstance(recipe, Spec):
        own: Learner = as_learner(recipe(given.get("seed", 0)))
        return own
    learner: Learner = specs.make(recipe, "learner", domain=rows.domain, multiclass=rows.multiclass or None, **given)
    if rows.name is not None:
        check_many(learner, rows.multiclass, str(recipe), rows.name)
    return learner


def named_learner(text: str) -> Spec | None:
    """The spec, if it names a learner; else None."""
    try:
        spec = specs.parse(text)
        entry(spec.name, "learner")
    except SpecError:
        return None
    return spec


def recipe(function: str, made: Any, source: Any) -> Recipe:
    """What nk.`function` makes fresh learners from, checked before the source is read."""
    if isinstance(made, Spec):
        entry(made.name, "learner")
        return made
    if isinstance(made, str):
        if (spec := named_learner(made)) is None:
            check_order(function, made, source)
            spec = specs.parse(made)
            entry(spec.name, "learner")  # which refuses it
        return spec
    check_order(function, made, source)
    if not callable(made):
        kind = type(made).__name__
        do = f"Write lambda seed: {kind}(…)." if is_learner(made) else 'Pass "perceptron", say.'
        must = "a learner must be a spec or a function of a seed, to be made afresh for each game"
        raise SpecError(must, f"got {kind}", do)
    found: Callable[[int], Learner] = made
    return found


def called(recipe: Recipe) -> str:
    """The name of a learner that is made by a spec, or by a function."""
    return str(recipe) if isinstance(recipe, Spec) else str(getattr(recipe, "__name__", "learner"))


def check_order(function: str, learner: Any, source: Any) -> None:
    """Refuse the arguments of nk.`function` where a source stands first and a learner second; of `compare`, a list."""
    several = function == "compare" and isinstance(source, (list, tuple))
    each = list(source) if several else [source]
    if not each or not all(is_learner(one) or (isinstance(one, str) and named_learner(one)) for one in each):
        return
    if isinstance(learner, str) and named_learner(learner):
        return
    first = f"the source {learner!r}" if isinstance(learner, str) else named(learner)
    made = [repr(one) if function == "play" or isinstance(one, str) else f"lambda seed: {type(one).__name__}(…)"
            for one in each]  # fmt: skip
    written = f"[{', '.join(made)}]" if function == "compare" else made[0]
    do = f"Write nk.{function}({written}, source)."
    raise InputError("the learner must come before the source", f"got {first} and then the learner {source!r}", do)


def labels_apart(function: str, value: Any) -> str:
    """What to do where an argument is given labels that belong beside X; "" if it is given something else."""
    few = value is None or isinstance(value, (bool, int, float, str))
    return "" if few else f"If these are labels, pass them with X: nk.{function}(learner, (X, y))."
