"""Names: "halving:[thresholds:n=100],conservative=true" is a learner.

A spec is `name` or `name:argument,argument,...`; an argument is `value` (in order) or `key=value`. A value is a
number (1e6 and 10**18 too), true, false, none, a word, or something in brackets: `[name:arguments]` is what that spec
names, `[a,b,c]` a list of values. In a list of learners a word is a name, and each spec has brackets of its own:
"hedge:learners=[perceptron,[rbp:budget=100]]". Each of these has a seed of its own, spread from that of the team.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from novikoff.errors import SpecError, shown
from novikoff.kernels.coins import coin
from novikoff.types import Domain

Room = Literal["learner", "adversary", "class", "stream"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of the catalog and where what it names is written."""

    room: Room
    module: str
    attribute: str

    def load(self) -> Callable[..., Any]:
        """The constructor; imports its module."""
        constructor: Callable[..., Any] = getattr(importlib.import_module(f"novikoff.{self.module}"), self.attribute)
        return constructor

    def doc(self) -> str:
        """The docstring of its module."""
        return inspect.cleandoc(importlib.import_module(f"novikoff.{self.module}").__doc__ or "")

    def summary(self) -> str:
        """One line: of the function's docstring, or the module's."""
        constructor = self.load()
        own = inspect.isfunction(constructor) or self.room == "stream"  # several to a module
        text = inspect.getdoc(constructor) if own else self.doc()
        return (text or "").splitlines()[0].rstrip(".")

    def arguments(self) -> str:
        """What it takes, as in a spec: "n, conservative=false"."""
        return ", ".join(_shown(parameter) for parameter in inspect.signature(self.load()).parameters.values())


CATALOG: Mapping[str, Entry] = {
    "consistent": Entry("learner", "learners.consistent", "Consistent"),
    "halving": Entry("learner", "learners.halving", "Halving"),
    "threshold-halving": Entry("learner", "learners.threshold_halving", "ThresholdHalving"),
    "rectangle-halving": Entry("learner", "learners.rectangle_halving", "RectangleHalving"),
    "tightest-box": Entry("learner", "learners.tightest_box", "TightestBox"),
    "cover-halving": Entry("learner", "learners.cover_halving", "CoverHalving"),
    "perceptron": Entry("learner", "learners.perceptron", "Perceptron"),
    "ellipsoid": Entry("learner", "learners.ellipsoid", "Ellipsoid"),
    "kernel-perceptron": Entry("learner", "learners.kernel_perceptron", "KernelPerceptron"),
    "rbp": Entry("learner", "learners.randomized_budget", "RandomizedBudgetPerceptron"),
    "forgetron": Entry("learner", "learners.forgetron", "Forgetron"),
    "cks": Entry("learner", "learners.crammer_kandola_singer", "CrammerKandolaSinger"),
    "tighter": Entry("learner", "learners.tighter", "TighterPerceptron"),
    "weighted-majority": Entry("learner", "learners.weighted_majority", "WeightedMajority"),
    "randomized-weighted-majority": Entry(
        "learner", "learners.randomized_weighted_majority", "RandomizedWeightedMajority"
    ),
    "exponential-weights": Entry("learner", "learners.exponential_weights", "ExponentialWeights"),
    "ada-hedge": Entry("learner", "learners.ada_hedge", "AdaHedge"),
    "fixed-share": Entry("learner", "learners.fixed_share", "FixedShare"),
    "sleeping-experts": Entry("learner", "learners.sleeping_experts", "SleepingExperts"),
    "hedge": Entry("learner", "learners.hedge", "Hedge"),
    "auto": Entry("learner", "learners.auto", "Auto"),
    "ftrl": Entry("learner", "learners.ftrl", "Ftrl"),
    "logistic": Entry("learner", "learners.logistic", "Logistic"),
    "vaw": Entry("learner", "learners.vaw", "Vaw"),
    "second-order-perceptron": Entry("learner", "learners.second_order_perceptron", "SecondOrderPerceptron"),
    "arow": Entry("learner", "learners.arow", "Arow"),
    "online-gradient": Entry("learner", "learners.online_gradient", "OnlineGradient"),
    "midpoint": Entry("learner", "learners.midpoint", "Midpoint"),
    "constant": Entry("learner", "learners.constant", "Constant"),
    "bisection": Entry("adversary", "adversaries.bisection", "Bisection"),
    "grid-bisection": Entry("adversary", "adversaries.grid_bisection", "GridBisection"),
    "rectangle-bisection": Entry("adversary", "adversaries.rectangle_bisection", "RectangleBisection"),
    "contrarian": Entry("adversary", "adversaries.contrarian", "Contrarian"),
    "majority-flip": Entry("adversary", "adversaries.majority_flip", "MajorityFlip"),
    "coin-flip": Entry("adversary", "adversaries.coin_flip", "CoinFlip"),
    "orthogonal": Entry("adversary", "adversaries.orthogonal", "Orthogonal"),
    "budget-ruin": Entry("adversary", "adversaries.budget_ruin", "BudgetRuin"),
    "separable": Entry("stream", "sources.generated", "Separable"),
    "noisy": Entry("stream", "sources.generated", "Noisy"),
    "drifting": Entry("stream", "sources.generated", "Drifting"),
    "hard-order": Entry("stream", "sources.hard_order", "HardOrder"),
    "random-losses": Entry("stream", "sources.random_losses", "RandomLosses"),
    "thresholds": Entry("class", "classes.threshold", "Thresholds"),
    "rectangles": Entry("class", "classes.rectangle", "Rectangles"),
    "halfspaces": Entry("class", "classes.halfspace", "Halfspaces"),
    "sphere-cover": Entry("class", "classes.sphere", "SphereCover"),
    "programs": Entry("class", "classes.program", "Programs"),
    "table": Entry("class", "classes.matrix", "Table"),
    "cube": Entry("class", "classes.matrix", "cube"),
    "functions": Entry("class", "classes.predicate", "Functions"),
}


def names(room: Room) -> list[str]:
    """The names of one room, in order."""
    return [name for name, entry in CATALOG.items() if entry.room == room]


def learner_name(kind: type) -> str:
    """The catalog's name of a learner's class."""
    for name, entry in CATALOG.items():
        if entry.room == "learner" and entry.attribute == kind.__name__ and entry.load() is kind:
            return name
    raise SpecError(f"a saved learner must be of the catalog: {kind.__name__} is not.")


def entry(name: str, room: Room | None = None) -> Entry:
    """The entry of a name, or an error that lists the names there are."""
    found = CATALOG.get(name)
    if found is None or (room and found.room != room):
        known = ", ".join(names(room) if room else CATALOG)
        raise SpecError(f"the name of a {room or 'learner, adversary or class'} must be one of {known}: got {name!r}.")
    return found


def make(text: str, room: Room, domain: Domain | None = None, **defaults: Any) -> Any:
    """What a spec names.

    domain     where the game is played: fills in `width`, `dim` and `domain` where the spec leaves them out
    defaults   other arguments, used where the constructor takes them and the spec leaves them out
    """
    if domain is not None:
        defaults = {"domain": domain, "width": domain.width, "dim": domain.width, **defaults}
    return _build(parse(text), room, {key: value for key, value in defaults.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec."""

    name: str
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] | None = None


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
    return Spec(name, tuple(positional), named)


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
    constructor = found.load()
    signature = inspect.signature(constructor)
    takes = f"{spec.name} takes {found.arguments() or 'nothing'}"
    try:
        bound = signature.bind_partial(*spec.positional, **(spec.named or {}))
    except TypeError as error:
        raise SpecError(f"{takes}: {error}. Try `novikoff explain {spec.name}`.") from None
    arguments, inner = bound.arguments, defaults  # inner: for what is in brackets
    for name, parameter in signature.parameters.items():
        if name not in arguments and name in defaults:
            arguments[name] = defaults[name]
        if name not in arguments and parameter.default is parameter.empty:
            raise SpecError(f"{takes}: {name} is missing. Write {spec.name}:{name}=…")
        if name in arguments and _kind(parameter) == TEAM:
            seed = _fit(arguments.get("seed", defaults.get("seed", 0)), signature.parameters["seed"], spec.name)
            specs = _specs(arguments[name], parameter, spec.name)
            arguments[name] = _team(specs, seed, defaults)
            defaults = {**defaults, "names": [written(one) for one in specs]}
            inner = {**defaults, "experts": len(specs), **RULE, "seed": coin(seed, "rule", 0)}
        elif name in arguments:
            wanted: Room | None = "class" if _kind(parameter) == "HypothesisClass" else None
            arguments[name] = _fit(_resolve(arguments[name], wanted, inner), parameter, spec.name)
    return constructor(**arguments)


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


def _kind(parameter: inspect.Parameter) -> str:
    """The first type of its annotation."""
    return str(parameter.annotation).split(" | ")[0]


def _fit(value: Any, parameter: inspect.Parameter, owner: str) -> Any:
    """The value as the parameter's type, where that is a plain one."""
    wanted = _kind(parameter)
    if wanted not in KINDS or (value is None and str(parameter.annotation).endswith("None")):
        return value
    if wanted == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    if wanted == "float" and type(value) is int and abs(value) < 2**1023:
        return float(value)
    if wanted == "HypothesisClass":
        sound = hasattr(value, "space")
        advice = f" Write {owner}:[thresholds:n=100], say; `novikoff list` names the classes."
    elif wanted == "Domain":
        sound, advice = isinstance(value, Domain), " Leave it out."
    else:
        sound, advice = type(value) is {"int": int, "float": float, "bool": bool}[wanted], ""
    if not sound:
        raise SpecError(f"{parameter.name} of {owner} must be {KINDS[wanted]}: got {shown(value)}.{advice}")
    return value


TEAM = "Sequence[Learner]"
"""The type of a parameter that takes learners."""

RULE: Mapping[str, Any] = {"loss": "table", "play": "draw"}
"""What a team's rule, in brackets, is given where it takes these: its experts are the learners, a mistake costs 1."""

KINDS: Mapping[str, str] = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "HypothesisClass": "a class in brackets",
    "Domain": "that of the game, which cannot be written",
}
"""The types of parameters that are checked, in words."""


def _shown(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    default = parameter.default
    shown = str(default).lower() if default is None or isinstance(default, bool) else str(default)
    return f"{parameter.name}={shown}"
