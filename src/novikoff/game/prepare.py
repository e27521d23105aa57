"""Preparation of a game: parse the spec, open the source and make the learner, with the same defaults everywhere.

Used by `run`, `play`, `compare`, `repeat`, the scikit-learn estimators, and the River models and the service, whose
rows arrive one by one.

Scaling
    The columns of tables and dense arrays are scaled by default, for learners whose result depends on the unit of a
    column (the Perceptron, the kernel learners), and these then get a constant feature, bias=1. `scale=none` in the
    spec, or as `scale`, gives the learner of the theorem on the unscaled numbers. Sparse rows, pairs (x, y) and
    generated streams are not scaled, nor is a learner that was made by the caller.
Order
    The spec alone decides whether the source is opened for labels, numbers or losses (`Learner.task_of`). The source
    then decides the scale, the width, and whether labels are multiclass; with these the learner is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import InputError, SpecError, named
from novikoff.core.learner import Learner
from novikoff.core.registry import entry
from novikoff.core.stream import Stream
from novikoff.core.types import Adversary, Domain
from novikoff.data.as_stream import Wanted, as_stream, asked, check_many, opened, source_for
from novikoff.game import specs
from novikoff.game.specs import Spec

Made = str | Spec | Callable[[int], Learner]
"""Description of a new learner: a spec, or a function from a seed to a learner."""

LABELLED = frozenset({"table", "functions"})
"""Hypothesis classes that may have more than two labels: a learner on one is made in advance, to count them."""

Recipe = Spec | Callable[[int], Learner]
"""A parsed spec, or a function from a seed to a learner."""


class RowShape(NamedTuple):
    """Properties of the rows of a game that are known in advance.

    Attributes:
        domain: Domain of x; None if unknown.
        scaled: Whether rows have numeric columns in different units, which are scaled by default.
        multiclass: Whether labels are multiclass.
        name: Name of the source; None if rows arrive one by one.
    """

    domain: Domain | None = None
    scaled: bool = False
    multiclass: bool = False
    name: str | None = None

    @classmethod
    def of(cls, environment: Stream | Adversary) -> RowShape:
        """Return the shape of a stream's or an adversary's rows."""
        if isinstance(environment, Stream):
            return cls(environment.domain, environment.scaled_by_default, environment.multiclass, environment.name)
        return cls(environment.domain)


class Prepared(NamedTuple):
    """A learner and an environment, ready to play.

    Attributes:
        learner: New learner.
        spec: Spec of the learner, with its scaling.
        environment: A stream, or the adversary as given.
    """

    learner: Learner
    spec: Spec
    environment: Stream | Adversary


def prepare(
    spec: str | Spec, environment: object, multiclass: bool = False, scale: str | None = None, alone: bool = False,
    defaults: Mapping[str, object] | None = None,
) -> Prepared:  # fmt: skip
    """Open the environment and make the learner of a spec for it.

    Args:
        spec: Spec of a learner.
        environment: See `nk.play`.
        multiclass: Whether labels are multiclass even if the first rows have only two.
        scale: "standard", "range", "none", or None for the default.
        alone: Whether a given `scale` also applies to learners that are not scaled by default.
        defaults: Arguments of the learner, used if it takes them and the spec omits them.
    """
    spec = specs.parsed(spec)
    if isinstance(environment, Adversary):
        return Prepared(learner_for(spec, RowShape.of(environment), defaults), spec, environment)
    if not multiclass and (other := specs.for_numbers(spec)) != spec:
        environment = opened(environment)
        spec = other if isinstance(environment, Stream) and environment.outcomes == "numbers" else spec
    stream = stream_for(spec, environment, multiclass)
    rows = RowShape.of(stream)
    spec = scaled(spec, rows, scale, alone)
    return Prepared(learner_for(spec, rows, defaults), spec, stream)


def stream_for(recipe: Recipe, environment: object, multiclass: bool = False) -> Stream:
    """Open the environment for a learner that is not made yet; `multiclass` as for `prepare`."""
    if not isinstance(recipe, Spec):
        return as_stream(environment, adapt(recipe(0)), multiclass)
    wanted = Wanted(specs.task(recipe))
    if specs.names(recipe) & LABELLED:
        learner = adapt(specs.make(recipe, "learner"))
        wanted = Wanted(learner.task, asked(learner), learner.domain)
    return source_for(environment, wanted, multiclass or None)


def scaled(spec: Spec, rows: RowShape, scale: str | None = None, alone: bool = False) -> Spec:
    """Return the spec with its scaling on these rows; see `prepare`."""
    return specs.with_scale(spec, scale, rows.scaled, alone)


def learner_for(recipe: Recipe, rows: RowShape, defaults: Mapping[str, Any] | None = None) -> Learner:
    """Return a new learner for these rows; a function is called with the seed in `defaults`."""
    given = dict(defaults or {})
    if not isinstance(recipe, Spec):
        return adapt(recipe(given.get("seed", 0)))
    learner = adapt(specs.make(recipe, "learner", domain=rows.domain, multiclass=rows.multiclass or None, **given))

    if rows.name is not None:
        check_many(learner, rows.multiclass, str(recipe), rows.name)
    return learner


def named_learner(text: str) -> Spec | None:
    """Return the parsed spec if it names a learner; else None."""
    try:
        spec = specs.parse(text)
        entry(spec.name, "learner")
    except SpecError:
        return None
    return spec


def recipe(function: str, made: object, source: object) -> Recipe:
    """Return the recipe of nk.`function`'s learners, validated before the source is read."""
    if isinstance(made, Spec):
        entry(made.name, "learner")
        return made
    if isinstance(made, str):
        if (spec := named_learner(made)) is None:
            check_order(function, made, source)
            spec = specs.parse(made)
            entry(spec.name, "learner")  # raises SpecError
        return spec
    check_order(function, made, source)
    if not callable(made):
        kind = type(made).__name__
        do = f"Write lambda seed: {kind}(…)." if is_learner(made) else 'Pass a spec such as "perceptron".'
        must = "a learner must be a spec or a function of a seed, so that each game gets a new one"
        raise SpecError(must, f"got {kind}", do)
    found: Callable[[int], Learner] = made
    return found


def called(recipe: Recipe) -> str:
    """Return the name of a recipe's learner."""
    return str(recipe) if isinstance(recipe, Spec) else str(getattr(recipe, "__name__", "learner"))


def check_order(function: str, learner: object, source: object) -> None:
    """Raise `InputError` if nk.`function` was called with the source before the learner."""
    each = list(source) if function == "compare" and isinstance(source, (list, tuple)) else [source]
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


def labels_apart(function: str, value: object) -> str:
    """Return advice if an argument seems to be labels that belong with X; "" otherwise."""
    few = value is None or isinstance(value, (bool, int, float, str))
    return "" if few else f"If these are labels, pass them with X: nk.{function}(learner, (X, y))."
