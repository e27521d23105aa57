"""Names: "halving:[thresholds:n=100],conservative=true" is a learner.

A spec is `name` or `name:argument,argument,...`; an argument is `value` (in order) or `key=value`. A value is a
number (1e6 and 10**18 too), true, false, none, a word, or something in brackets: `[name:arguments]` is what that spec
names, `[a,b,c]` a list of values. In a list of learners a word is a name, and each spec has brackets of its own:
"hedge:learners=[perceptron,[rbp:budget=100]]". Each of these has a seed of its own, spread from that of the team.
Every learner on vectors takes `scale`, whatever else it takes: "perceptron:bias=1,scale=standard" is
"scaled:[perceptron:bias=1],standard" (data/scaled.py); that of a team is for its learners.
Every learner with probabilities takes `drift`: "auto:drift=true" is "specialists:[auto],256" (experts/specialists.py).
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

from novikoff.core.errors import SpecError, shown
from novikoff.core.hypotheses import HypothesisClass
from novikoff.core.learner import Learner, Task, adapt, has_sets, is_ours, scales, wants_bias
from novikoff.core.registry import Entry, Room, entry, for_multiclass, lacking
from novikoff.core.types import Domain
from novikoff.numerics.coins import coin


def make(spec: str | Spec, room: Room = "learner", domain: Domain | None = None, **defaults: Any) -> Any:
    """What a spec names.

    domain     where the game is played: fills in `width`, `dim` and `domain` where the spec leaves them out
    many       True: learners are those for many labels, where they have a class for that
    defaults   other arguments, used where the constructor takes them and the spec leaves them out
    """
    if domain is not None:
        defaults = {"domain": domain, "width": domain.width, "dim": domain.width, **defaults}
    given = {key: value for key, value in defaults.items() if value is not None}
    return _build(parsed(spec), room, given)


def task(spec: Spec) -> Task:
    """The task of the learner of a spec, before it is made; one from outside this package is made to look at it."""
    found = entry(spec.name, "learner")
    constructor: Any = found.load()
    if not (isinstance(constructor, type) and issubclass(constructor, Learner) and is_ours(constructor)):
        try:
            return adapt(make(spec, "learner")).task
        except SpecError:  # it must know the domain first
            return "binary"
    signature = inspect.signature(constructor)
    own = {key: value for key, value in (spec.named or {}).items() if key in signature.parameters or key not in AROUND}
    bound = _bind(Spec(spec.name, spec.positional, own), signature, found)
    bound.apply_defaults()
    for name, types in _types(constructor).items():
        if types[0] is Learner and isinstance(inner := _one_spec(bound.arguments.get(name)), Spec):
            return task(inner)
    return constructor.task_of(bound.arguments)


def with_scale(spec: Spec, scale: str | None, by_default: bool, alone: bool = False) -> Spec:
    """The spec with the scale of its examples, where it leaves that open, and then with a constant feature, bias=1.

    scale        "standard", "range", "none", or "auto" (or None): as by default
    by_default   are the examples scaled by default, to "standard"?
    alone        a scale that was asked for also holds for a learner that has no default
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
    """The spec, or the learners of its team, with bias=1 where that is theirs to say and was not said.

    Scaled columns have mean 0: without a constant feature no weight can say that one label is rarer.
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
    if not wants_bias(constructor):
        return spec
    try:
        said = signature.bind_partial(*spec.positional, **named).arguments
    except TypeError:  # told when it is made
        return spec
    return spec if "bias" in said else Spec(spec.name, spec.positional, {**named, "bias": 1})


def within(spec: Spec) -> Spec | None:
    """The spec of the learner that conformal, or another that says sets, has within; None of others."""
    constructor = entry(spec.name, "learner").load()
    if not has_sets(constructor):
        return None
    found = _one_spec(spec.positional[0] if spec.positional else (spec.named or {}).get("learner"))
    return found if isinstance(found, Spec) else None


def around(spec: Spec, inner: Spec) -> Spec:
    """The same spec, with another learner within."""
    if spec.positional:
        return Spec(spec.name, (inner, *spec.positional[1:]), spec.named)
    named = {key: inner if key == "learner" else value for key, value in (spec.named or {}).items()}
    return Spec(spec.name, (), named)


def _is_scaled(spec: Spec) -> bool:
    """Is it for a learner that examples may be scaled for, or a team of such, and leaves that open?"""
    if "scale" in (spec.named or {}):
        return False
    constructor = entry(spec.name, "learner").load()
    for name, parameter in inspect.signature(constructor).parameters.items():
        if TEAM in _types(constructor)[name]:
            given = (spec.named or {}).get(name, spec.positional[0] if spec.positional else [])
            return any(map(_is_scaled, _specs(given, parameter, spec.name)))
    return scales(constructor)


def for_numbers(spec: Spec) -> Spec:
    """The spec of the learner that plays where outcomes are numbers: `auto` is then another."""
    if (inner := within(spec)) is not None:
        return around(spec, for_numbers(inner))
    return Spec(FOR_NUMBERS[spec.name], spec.positional, spec.named) if spec.name in FOR_NUMBERS else spec


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec.

    text   as it was given; None of one that was made of parts
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
    """The spec, parsed unless it is already."""
    return parse(spec) if isinstance(spec, str) else spec


def parse(text: str) -> Spec:
    """The parts of a spec; nested ones are `Spec` too."""
    name, colon, rest = text.strip().partition(":")
    if not re.fullmatch(r"[A-Za-z][\w-]*", name) or (colon and not rest.strip()):
        raise SpecError(f"a spec must be name or name:key=value,…: got {text!r}. Try `novikoff list`.")
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for part in _split(rest) if colon else []:
        key, equals, value = _key_value(part)
        if equals:
            if key in named:
                raise SpecError(f"an argument must be given once: {key} is there twice in {text!r}.")
            named[key] = _value(value)
        elif named:
            raise SpecError(
                f"arguments without a name must come first: got {part!r} after a named one in {text!r}. "
                "In a list, put each spec in brackets of its own."
            )
        else:
            positional.append(_value(part))
    return Spec(name, tuple(positional), named, text)


def _split(text: str) -> list[str]:
    """The parts between commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    if depth != 0:
        raise SpecError(f"brackets must close: they do not in {text!r}.")
    parts.append(text[start:].strip())
    if "" in parts:
        raise SpecError(f"an argument must not be empty: one is in {text!r}.")
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


def _build(spec: Spec, room: Room | None, defaults: Mapping[str, Any]) -> Any:
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
    arguments, inner = _bind(spec, signature, found).arguments, defaults  # inner: for what is in brackets
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
            scale = None  # each of its learners has it
            defaults = {**defaults, "names": [written(one) for one in specs]}
            inner = {**defaults, "experts": len(specs), **RULE, "seed": coin(seed, "rule", 0)}
        else:
            wanted: Room | None = "class" if types[0] is HypothesisClass else "learner" if types[0] is Learner else None
            arguments[name] = _fit(_resolve(arguments[name], wanted, inner), parameter, types, spec.name)
    learner = _drifting(constructor(**arguments)) if drift else constructor(**arguments)
    return learner if scale is None else _scaled(learner, scale, spec.name)


def _bind(spec: Spec, signature: inspect.Signature, found: Entry) -> inspect.BoundArguments:
    """The arguments of a spec by the names of the constructor's parameters; unknown ones are refused."""
    try:
        return signature.bind_partial(*spec.positional, **(spec.named or {}))
    except TypeError as error:
        raise SpecError(f"{_takes(spec, found)}: {error}. Try `novikoff explain {spec.name}`.") from None


def _takes(spec: Spec, found: Entry) -> str:
    return f"{spec.name} takes {found.arguments() or 'nothing'}"


def _scale(spec: Spec, constructor: Any, defaults: Mapping[str, Any]) -> tuple[Spec, str | None]:
    """The spec without its scale, and that; None for none. One that is not the spec's is for learners that scale."""
    named = dict(spec.named or {})
    team = any(TEAM in types for types in _types(constructor).values())
    default = defaults.get("scale") if team or scales(constructor) else None
    scale = named.pop("scale", default)
    if scale not in (None, *SCALES):
        raise SpecError(f"scale of {spec.name} must be {', '.join(SCALES)} or none: got {shown(scale)}.")
    return Spec(spec.name, spec.positional, named), scale


def _scaled(learner: Any, scale: Any, name: str) -> Any:
    from novikoff.data.scaled import Scaled

    if learner.domain.kind != "vector":
        raise SpecError(f"scale is for learners on vectors: {name} plays on {learner.domain}. Leave it out.")
    return Scaled(learner, scale)


def _drift(spec: Spec) -> tuple[Spec, bool]:
    """The spec without its drift, and that."""
    named = dict(spec.named or {})
    drift = named.pop("drift", False)
    if not isinstance(drift, bool):
        raise SpecError(f"drift of {spec.name} must be true or false: got {shown(drift)}.")
    return Spec(spec.name, spec.positional, named), drift


def _drifting(learner: Any) -> Any:
    from novikoff.experts.specialists import Specialists

    return Specialists(learner, BLOCK)


def _team(specs: list[Spec], seed: int, defaults: Mapping[str, Any]) -> list[Any]:
    """The learners of a team, each with a seed of its own where its spec leaves it out."""
    return [_build(spec, "learner", {**defaults, "seed": coin(seed, "learner", k)}) for k, spec in enumerate(specs)]


def _specs(value: Any, parameter: inspect.Parameter, owner: str) -> list[Spec]:
    """The specs of a team's learners."""
    specs = [_one_spec(item) for item in value] if isinstance(value, list) else []
    if not specs or not all(isinstance(one, Spec) for one in specs):
        raise SpecError(
            f"{parameter.name} of {owner} must be a list of learners: got {written(value)}. "
            f"Write {owner}:{parameter.name}=[perceptron,[rbp:budget=100]], say."
        )
    return specs


def _one_spec(item: Any) -> Any:
    """A learner in a list: a name, a spec, or either in brackets of its own."""
    if isinstance(item, list) and len(item) == 1:
        item = item[0]
    return parse(item) if isinstance(item, str) else item


def written(value: Any) -> str:
    """A parsed spec, or a value in one, as it is written."""
    if isinstance(value, Spec):
        named = [f"{key}={_nested(item)}" for key, item in (value.named or {}).items()]
        arguments = ",".join([*map(_nested, value.positional), *named])
        return f"{value.name}:{arguments}" if arguments else value.name
    if isinstance(value, list):
        return f"[{','.join(map(_nested, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _nested(value: Any) -> str:
    return f"[{written(value)}]" if isinstance(value, Spec) else written(value)


def _resolve(value: Any, room: Room | None, defaults: Mapping[str, Any]) -> Any:
    """The value, with what the specs in it name in their place."""
    if isinstance(value, Spec):
        return _build(value, room, defaults)
    return [_resolve(item, room, defaults) for item in value] if isinstance(value, list) else value


@lru_cache(maxsize=256)
def _types(constructor: Callable[..., Any]) -> Mapping[str, tuple[Any, ...]]:
    """The types that each argument may have: one, or those of a union. TEAM for a list of learners."""
    function = constructor.__init__ if isinstance(constructor, type) else constructor  # type: ignore[misc]
    scope = {**vars(typing), **KNOWN, **getattr(inspect.unwrap(function), "__globals__", {})}
    found = {}
    for name, parameter in inspect.signature(constructor).parameters.items():
        kind = _evaluated(parameter.annotation, scope)
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        found[name] = tuple(TEAM if _is_team(one, scope) else one for one in (_evaluated(one, scope) for one in kinds))
    return found


def _evaluated(annotation: Any, scope: dict[str, Any]) -> Any:
    """The type that an annotation means, which may be text; Any if it names what is imported for type checkers only."""
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    if not isinstance(text, str):
        return annotation
    try:
        return eval(text, scope)  # the text of a program that is running: no stranger's
    except Exception:
        return Any


def _is_team(kind: Any, scope: dict[str, Any]) -> bool:
    """Is it a list of learners, or another collection of them?"""
    origin, members = get_origin(kind), (_evaluated(one, scope) for one in get_args(kind))
    return isinstance(origin, type) and issubclass(origin, Iterable) and any(map(_is_learner, members))


def _is_learner(kind: Any) -> bool:
    return kind is Learner or (isinstance(kind, type) and not lacking(kind))


def _fit(value: Any, parameter: inspect.Parameter, types: tuple[Any, ...], owner: str) -> Any:
    """The value as the parameter's type, where that is a plain one."""
    wanted = types[0]
    if wanted not in KINDS or (value is None and NoneType in types):
        return value
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if wanted is float and type(value) is int and abs(value) < 2**1023:
        return float(value)
    if wanted is HypothesisClass:
        sound = hasattr(value, "space")
        advice = f" Write {owner}:[thresholds:n=100], say; `novikoff list` names the classes."
    elif wanted is Domain:
        sound, advice = isinstance(value, Domain), " Leave it out."
    else:
        sound, advice = type(value) is wanted, ""
    if not sound:
        raise SpecError(f"{parameter.name} of {owner} must be {KINDS[wanted]}: got {shown(value)}.{advice}")
    return value


TEAM = "a list of learners"
"""In place of the type of a parameter that takes learners."""

FOR_NUMBERS: Mapping[str, str] = {"auto": "auto-regression"}
"""Learners of labels, and what they are called where outcomes are numbers."""

AROUND = ("scale", "drift")
"""Arguments that every learner takes, whatever its constructor does: they put another learner around it."""

SCALES = ("standard", "range")
"""What `scale` may be besides none."""

BLOCK = 256
"""Rounds of a block where a spec says drift=true (docs/decisions/0028-drift-around-auto.md)."""

KNOWN: Mapping[str, Any] = {kind.__name__: kind for kind in (Learner, HypothesisClass, Domain)}
"""Types that an annotation may name though they were imported for type checkers only; and those of typing."""

RULE: Mapping[str, Any] = {"loss": "table", "play": "draw"}
"""What a team's rule, in brackets, is given where it takes these: its experts are the learners, a mistake costs 1."""

KINDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    HypothesisClass: "a class in brackets",
    Domain: "that of the game, which cannot be written",
}
"""The types of parameters that are checked, in words."""
