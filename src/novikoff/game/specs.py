"""Specs: descriptions of learners as text, such as "halving:[thresholds:n=100],conservative=true".

A spec is `name` or `name:argument,argument,...`; an argument is `value` (in order) or `key=value`. A value is a
number (1e6 and 10**18 too), true, false, none, a word, or something in brackets: `[name:arguments]` is the object of
that spec, `[a,b,c]` a list of values. In a list of learners a word is a name, and each spec with arguments has brackets
of its own: "hedge:learners=[perceptron,[rbp:budget=100]]". Each member gets its own seed, derived from that of the
ensemble.
Every learner on vectors also takes `scale`: "perceptron:bias=1,scale=standard" means
"scaled:[perceptron:bias=1],standard" (data/scaled.py); the scale of an ensemble applies to its members.
Every learner with probabilities takes `drift`: "logistic:drift=true" means "specialists:[logistic],256"
(experts/specialists.py). `auto` has an option `drift` of its own: true mixes such copies with its other forecasters,
false leaves out every forecaster that adapts to changes.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin

from novikoff.core.adapt import adapt, is_ours, traits
from novikoff.core.errors import SpecError, close, shown
from novikoff.core.hypotheses import HypothesisClass
from novikoff.core.learner import Learner
from novikoff.core.registry import Entry, Room, entry, for_multiclass, lacking
from novikoff.core.types import Domain, Task
from novikoff.numerics.coins import coin


def make(spec: str | Spec, room: Room = "learner", domain: Domain | None = None, **defaults: object) -> Any:
    """Return the object that a spec describes.

    Args:
        spec: Spec, such as "perceptron:bias=1".
        room: Kind of object: "learner", "adversary", "class", "stream" or "format".
        domain: Domain of the game; fills in `width`, `dim` and `domain` if the spec omits them.
        **defaults: Other arguments, used if the constructor takes them and the spec omits them; `multiclass=True`
            selects multiclass counterparts of learners.

    Example:
        >>> import novikoff as nk
        >>> nk.make("perceptron:bias=1", "learner")
        Perceptron(bias=1.0)
    """
    if domain is not None:
        defaults = {"domain": domain, "width": domain.width, "dim": domain.width, **defaults}
    given = {key: value for key, value in defaults.items() if value is not None}
    return _build(parsed(spec), room, given)


def task(spec: Spec) -> Task:
    """Return the task of a spec's learner before it is made; a third-party learner is made to find out."""
    found = entry(spec.name, "learner")
    constructor: Any = found.load()
    if not (isinstance(constructor, type) and issubclass(constructor, Learner) and is_ours(constructor)):
        try:
            return adapt(make(spec, "learner")).task
        except SpecError:  # it needs the domain
            return "binary"
    signature = inspect.signature(constructor)
    taken = {name: value for name, value in (spec.named or {}).items()
             if name in signature.parameters or name not in AROUND}  # fmt: skip
    bound = _bind(Spec(spec.name, spec.positional, taken), signature, found)
    bound.apply_defaults()
    for name, types in _types(constructor).items():
        if types[0] is Learner and isinstance(inner := _one_spec(bound.arguments.get(name)), Spec):
            return task(inner)
    return constructor.task_of(bound.arguments)


def with_scale(spec: Spec, scale: str | None, by_default: bool, alone: bool = False) -> Spec:
    """Return the spec with a `scale`, unless it has one; a scaled learner also gets a constant feature, bias=1.

    Args:
        spec: Spec of a learner.
        scale: "standard", "range", "none", or "auto" or None for the default.
        by_default: Whether examples are scaled by default, to "standard".
        alone: Whether a requested scale also applies to learners that are not scaled by default.
    """
    asked = scale not in (None, "auto")
    if (inner := within(spec)) is not None:
        return around(spec, with_scale(inner, scale, by_default, alone))
    chosen = scale if asked else "standard" if by_default else "none"
    if "scale" in (spec.named or {}) or not (_is_scaled(spec) or (asked and alone)):
        return spec
    if chosen == "none" and not (asked and _is_scaled(spec)):
        return spec
    if chosen != "none":
        spec = _with_constant(spec)
    return Spec(spec.name, spec.positional, {**(spec.named or {}), "scale": None if chosen == "none" else chosen})


def _with_constant(spec: Spec) -> Spec:
    """Return the spec, or the specs of its ensemble, with bias=1 if the learner wants it and the spec omits it.

    Scaled columns have mean 0: without a constant feature no weight can express that one label is rarer.
    """
    constructor, named = entry(spec.name, "learner").load(), dict(spec.named or {})
    signature = inspect.signature(constructor)
    for name, parameter in signature.parameters.items():
        if TEAM in _types(constructor)[name]:
            given = named.get(name, spec.positional[0] if spec.positional else [])
            team = [_with_constant(one) if _is_scaled(one) else one for one in _specs(given, parameter, spec.name)]
            if name in named:
                return Spec(spec.name, spec.positional, {**named, name: team})
            return Spec(spec.name, (team, *spec.positional[1:]), named)
    if not traits(constructor).wants_bias:
        return spec
    try:
        bound = signature.bind_partial(*spec.positional, **named).arguments
    except TypeError:  # reported when it is made
        return spec
    return spec if "bias" in bound else Spec(spec.name, spec.positional, {**named, "bias": 1})


def within(spec: Spec) -> Spec | None:
    """Return the spec of the learner inside conformal, grouped or another one that wraps it; None for others."""
    constructor = entry(spec.name, "learner").load()
    if not traits(constructor).sets:
        return None
    found = _one_spec(spec.positional[0] if spec.positional else (spec.named or {}).get("learner"))
    return found if isinstance(found, Spec) else None


def by_groups(spec: Spec, by: str) -> Spec:
    """Return the spec with groups around the learner, inside conformal."""
    if (inner := within(spec)) is not None:
        return around(spec, by_groups(inner, by))
    return Spec("grouped", (spec,), {"by": by})


def ahead(spec: Spec, horizon: int, by: str | None = None) -> Spec:
    """Return the spec for forecasts `horizon` rows ahead: outcomes come late to the learner, and to its intervals.

    With groups, one row later: not all rows of one time have come when a row is predicted.
    """
    if horizon == 1:
        return spec
    delay: dict[str, Any] = {"delay": horizon - 1 if by is None else horizon}
    inner = within(spec)
    if inner is None or spec.name == "grouped":
        return Spec("delayed", (spec,), delay if by is None else {**delay, "by": by})
    found = around(spec, ahead(inner, horizon, by))
    groups = {} if by is None else {"groups": by}
    return Spec(found.name, found.positional, {**(found.named or {}), **groups, **delay})


def around(spec: Spec, inner: Spec) -> Spec:
    """Return the spec with another inner learner."""
    if spec.positional:
        return Spec(spec.name, (inner, *spec.positional[1:]), spec.named)
    named = {key: inner if key == "learner" else value for key, value in (spec.named or {}).items()}
    return Spec(spec.name, (), named)


def _is_scaled(spec: Spec) -> bool:
    """Return whether the learner, or one of its ensemble, is scaled by default and the spec leaves the scale open."""
    if "scale" in (spec.named or {}):
        return False
    constructor = entry(spec.name, "learner").load()
    for name, parameter in inspect.signature(constructor).parameters.items():
        if TEAM in _types(constructor)[name]:
            given = (spec.named or {}).get(name, spec.positional[0] if spec.positional else [])
            return any(map(_is_scaled, _specs(given, parameter, spec.name)))
    return traits(constructor).scales


def for_numbers(spec: Spec) -> Spec:
    """Return the spec of the regression counterpart, which `auto` has."""
    if (inner := within(spec)) is not None:
        return around(spec, for_numbers(inner))
    return Spec(FOR_NUMBERS[spec.name], spec.positional, spec.named) if spec.name in FOR_NUMBERS else spec


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec.

    Attributes:
        name: Registered name.
        positional: Positional arguments.
        named: Keyword arguments.
        text: Text as given; None for a spec made from parts.
    """

    name: str
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] | None = None
    text: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return written(self) if self.text is None else self.text


def names(value: object) -> set[str]:
    """Return the names in a spec: its own, and those of nested specs."""
    if isinstance(value, Spec):
        inner = [*value.positional, *(value.named or {}).values()]
        return {value.name}.union(*map(names, inner))
    return set().union(*map(names, value)) if isinstance(value, (list, tuple)) else set()


def parsed(spec: str | Spec) -> Spec:
    """Return the spec, parsed if it is a text."""
    return parse(spec) if isinstance(spec, str) else spec


def parse(text: str) -> Spec:
    """Return the parsed spec; nested ones are `Spec` too."""
    name, colon, rest = text.strip().partition(":")
    if not re.fullmatch(r"[A-Za-z][\w-]*", name) or (colon and not rest.strip()):
        raise SpecError(f"a spec must be name or name:key=value,…: got {text!r}. Try `novikoff list`.")
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for part in _split(rest) if colon else []:
        key, equals, value = _key_value(part)
        if equals:
            if key in named:
                raise SpecError(f"argument {key} is given twice in {text!r}.")
            named[key] = _value(value)
        elif named:
            raise SpecError(
                f"positional arguments must come first: got {part!r} after a named one in {text!r}. "
                "In a list, put each spec in brackets of its own."
            )
        else:
            positional.append(_value(part))
    return Spec(name, tuple(positional), named, text)


def _split(text: str) -> list[str]:
    """Return the parts between commas outside brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth > DEEPEST:
            raise SpecError(f"brackets of a spec must be nested at most {DEEPEST} deep: got {shown(text)}.")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    if depth != 0:
        raise SpecError(f"a bracket is not closed in {text!r}.")
    parts.append(text[start:].strip())
    if "" in parts:
        raise SpecError(f"there is an empty argument in {text!r}.")
    return parts


def _key_value(part: str) -> tuple[str, str, str]:
    match = re.match(r"([A-Za-z_]\w*)\s*=\s*(.+)$", part)
    return (match[1], "=", match[2]) if match else ("", "", part)


def _value(text: str) -> Any:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1].strip()
        parts = _split(inner) if inner else []
        return parse(inner) if parts and ":" in _outside_brackets(parts[0]) else [_value(part) for part in parts]
    words: Mapping[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    if power := re.fullmatch(r"(\d{1,100})\*\*(\d{1,5})", text):
        return int(power[1]) ** int(power[2])
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _outside_brackets(text: str) -> str:
    return re.sub(r"\[.*\]", "", text)


def _build(spec: Spec, room: Room | None, defaults: Mapping[str, object]) -> Any:
    found = entry(spec.name, room)
    if defaults.get("multiclass") and found.room == "learner":
        found = for_multiclass(spec.name) or found
    constructor = found.load()
    signature = inspect.signature(constructor)
    scale, drift = None, False
    if found.room == "learner" and "scale" not in signature.parameters:
        spec, scale = _scale(spec, constructor, defaults)
    if found.room == "learner" and "drift" not in signature.parameters:
        spec, drift = _drift(spec)
    arguments, inner = _bind(spec, signature, found).arguments, defaults  # inner: defaults of nested specs
    for name, parameter in signature.parameters.items():
        if name not in arguments and name in defaults:
            arguments[name] = defaults[name]
        if name not in arguments and parameter.default is parameter.empty:
            raise SpecError(f"{_takes(spec, found)}: {name} is missing. Write {spec.name}:{name}=…")
        if name not in arguments:
            continue
        types = _types(constructor)[name]
        if types[0] is Learner:
            arguments[name] = _one_spec(arguments[name])
        if TEAM in types:
            seed = arguments.get("seed", defaults.get("seed", 0))
            if "seed" in signature.parameters:
                seed = _fit(seed, signature.parameters["seed"], (int,), spec.name)
            specs = _specs(arguments[name], parameter, spec.name)
            arguments[name] = _team(specs, seed, {**defaults, "scale": scale})
            scale = None  # applied to each of its learners
            defaults = {**defaults, "names": [written(one) for one in specs]}
            inner = {**defaults, "experts": len(specs), **RULE, "seed": coin(seed, "rule", 0)}
        else:
            wanted: Room | None = "class" if types[0] is HypothesisClass else "learner" if types[0] is Learner else None
            arguments[name] = _fit(_resolve(arguments[name], wanted, inner), parameter, types, spec.name)
    learner = _drifting(constructor(**arguments)) if drift else constructor(**arguments)
    return learner if scale is None else _scaled(learner, scale, spec.name)


def _bind(spec: Spec, signature: inspect.Signature, found: Entry) -> inspect.BoundArguments:
    """Return the arguments of a spec by parameter name; raise `SpecError` for unknown ones."""
    try:
        return signature.bind_partial(*spec.positional, **(spec.named or {}))
    except TypeError as error:
        unknown = next((name for name in spec.named or {} if name not in signature.parameters), None)
        if unknown is not None and (guess := close(unknown, signature.parameters)):
            raise SpecError(f"{_takes(spec, found)}: got {unknown}. {guess}") from None
        raise SpecError(f"{_takes(spec, found)}: {error}. Try `novikoff explain {spec.name}`.") from None


def _takes(spec: Spec, found: Entry) -> str:
    return f"{spec.name} takes {found.arguments() or 'nothing'}"


def _scale(spec: Spec, constructor: object, defaults: Mapping[str, object]) -> tuple[Spec, str | None]:
    """Return the spec without its scale, and the scale; a default scale applies only to learners that want scaling."""
    named = dict(spec.named or {})
    team = any(TEAM in types for types in _types(constructor).values())
    default = defaults.get("scale") if team or traits(constructor).scales else None
    scale = named.pop("scale", default)
    if scale is not None:
        from novikoff.data.scaled import SCALES

        if scale not in SCALES:
            raise SpecError(f"scale of {spec.name} must be {', '.join(SCALES)} or none: got {shown(scale)}.")
    return Spec(spec.name, spec.positional, named), scale


def _scaled(learner: Any, scale: Any, name: str) -> Any:
    from novikoff.data.scaled import Scaled

    if learner.domain.kind != "vector":
        raise SpecError(f"scale is for learners on vectors: {name} plays on {learner.domain}. Leave it out.")
    return Scaled(learner, scale)


def _drift(spec: Spec) -> tuple[Spec, bool]:
    """Return the spec without its drift, and the drift."""
    named = dict(spec.named or {})
    drift = named.pop("drift", False)
    if not isinstance(drift, bool):
        raise SpecError(f"drift of {spec.name} must be true or false: got {shown(drift)}.")
    return Spec(spec.name, spec.positional, named), drift


def _drifting(learner: Any) -> Any:
    from novikoff.experts.specialists import Specialists

    return Specialists(learner, BLOCK)


def _team(specs: list[Spec], seed: int, defaults: Mapping[str, object]) -> list[Any]:
    """Return the learners of an ensemble, each with its own seed if its spec omits it."""
    return [_build(spec, "learner", {**defaults, "seed": coin(seed, "learner", k)}) for k, spec in enumerate(specs)]


def _specs(value: object, parameter: inspect.Parameter, owner: str) -> list[Spec]:
    """Return the specs of an ensemble's learners."""
    specs = [_one_spec(item) for item in value] if isinstance(value, list) else []
    if not specs or not all(isinstance(one, Spec) for one in specs):
        raise SpecError(
            f"{parameter.name} of {owner} must be a list of learners: got {written(value)}. "
            f"For example, write {owner}:{parameter.name}=[perceptron,[rbp:budget=100]]."
        )
    return specs


def _one_spec(item: object) -> Any:
    """Return a learner of a list, given as a name, a spec, or either in brackets, as a spec."""
    if isinstance(item, list) and len(item) == 1:
        item = item[0]
    return parse(item) if isinstance(item, str) else item


def written(value: object) -> str:
    """Return a parsed spec, or a value in one, as text."""
    if isinstance(value, Spec):
        named = [f"{key}={_nested(item)}" for key, item in (value.named or {}).items()]
        arguments = ",".join([*map(_nested, value.positional), *named])
        return f"{value.name}:{arguments}" if arguments else value.name
    if isinstance(value, list):
        return f"[{','.join(map(_nested, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _nested(value: object) -> str:
    return f"[{written(value)}]" if isinstance(value, Spec) else written(value)


def _resolve(value: object, room: Room | None, defaults: Mapping[str, object]) -> Any:
    """Return the value with nested specs replaced by their objects."""
    if isinstance(value, Spec):
        return _build(value, room, defaults)
    return [_resolve(item, room, defaults) for item in value] if isinstance(value, list) else value


@lru_cache(maxsize=256)
def _types(constructor: Callable[..., Any]) -> Mapping[str, tuple[Any, ...]]:
    """Return the types that each argument may have: one, or those of a union; TEAM for a list of learners."""
    function = constructor.__init__ if isinstance(constructor, type) else constructor  # type: ignore[misc]
    scope = {**vars(typing), **KNOWN, **getattr(inspect.unwrap(function), "__globals__", {})}
    found = {}
    for name, parameter in inspect.signature(constructor).parameters.items():
        kind = _evaluated(parameter.annotation, scope)
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        found[name] = tuple(TEAM if _is_team(one, scope) else one for one in (_evaluated(one, scope) for one in kinds))
    return found


def _evaluated(annotation: object, scope: dict[str, object]) -> Any:
    """Return the type of an annotation, which may be text; Any if it is imported for type checkers only."""
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    if not isinstance(text, str):
        return annotation
    try:
        return eval(text, scope)  # safe: an annotation of code that is already loaded
    except Exception:
        return Any


def _is_team(kind: object, scope: dict[str, object]) -> bool:
    """Return whether the type is a collection of learners."""
    origin, members = get_origin(kind), [_evaluated(one, scope) for one in get_args(kind)]
    if len(members) == 1 and get_origin(members[0]) in (Union, UnionType):  # learners or their specs
        members = [_evaluated(one, scope) for one in get_args(members[0])]
    return isinstance(origin, type) and issubclass(origin, Iterable) and any(map(_is_learner, members))


def _is_learner(kind: object) -> bool:
    return kind is Learner or (isinstance(kind, type) and not lacking(kind))


def _fit(value: Any, parameter: inspect.Parameter, types: tuple[Any, ...], owner: str) -> Any:
    """Return the value converted to the parameter's type, if that is a plain one; raise `SpecError` on a mismatch."""
    wanted = types[0]
    if wanted not in KINDS or (value is None and NoneType in types):
        return value
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if wanted is float and type(value) is int and abs(value) < 2**1023:
        return float(value)
    if wanted is HypothesisClass:
        sound = isinstance(value, HypothesisClass)
        advice = f" For example, write {owner}:[thresholds:n=100]; `novikoff list` names the classes."
    elif wanted is Domain:
        sound, advice = isinstance(value, Domain), " Leave it out."
    else:
        sound, advice = type(value) is wanted, ""
    if not sound:
        raise SpecError(f"{parameter.name} of {owner} must be {KINDS[wanted]}: got {shown(value)}.{advice}")
    return value


TEAM = "a list of learners"
"""Marker for the type of a parameter that takes several learners."""

DEEPEST = 32
"""Maximum depth of nested brackets."""

FOR_NUMBERS: Mapping[str, str] = {"auto": "auto-regression", "linear-mixture": "linear-mixture-regression"}
"""Regression counterparts of classifiers, by name."""

AROUND = ("scale", "drift")
"""Arguments that every learner takes in a spec; they wrap it in another learner."""

BLOCK = 256
"""Rounds per block for drift=true (docs/decisions/0028-drift-around-auto.md)."""

KNOWN: Mapping[str, Any] = {kind.__name__: kind for kind in (Learner, HypothesisClass, Domain)}
"""Types that an annotation may name although they are imported for type checkers only."""

RULE: Mapping[str, Any] = {"loss": "table", "play": "draw"}
"""Defaults of an ensemble's rule, in brackets: its experts are the learners, and a mistake costs 1."""

KINDS: Mapping[Any, str] = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    HypothesisClass: "a class in brackets",
    Domain: "the domain of the game, which a spec cannot contain",
}
"""Validated parameter types, in words."""
