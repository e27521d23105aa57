"""What is known by a name: learners, adversaries, classes, streams and formats; ours, and those that others bring.

Ours are the catalog below. A program brings its own learner or format with `nk.register("name", what)`, an installed
package with an entry point in the group novikoff.learners or novikoff.sources. These are read when a name is not of the
catalog, and when all names are listed: else they cost nothing. A name of the catalog stays what it is.
A model file from a stranger names learners too. It finds what is registered on this machine, by its name, and nothing
else: no file can make a module be imported.

`import novikoff` reads this file: what costs more than that is imported where it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeVar, overload

Room = Literal["learner", "adversary", "class", "stream", "format"]

GROUPS: Mapping[Room, str] = {"learner": "novikoff.learners", "format": "novikoff.sources"}
"""The groups of entry points."""

LEARNER = ("promises", "predict_one", "learn_one", "facts", "state", "restore")
"""What a learner's class must have."""


class Format(NamedTuple):
    """How files are read that somebody else's format is in.

    open         a function of the source (a path, "-" or a binary file) and of options, that returns a stream
    suffixes     names that end so are of this format, packed or not: (".xyz",)
    recognises   is it this format, by its first 64 KB, unpacked? Asked where none of ours fits
    """

    open: Callable[..., Any]
    suffixes: tuple[str, ...] = ()
    recognises: Callable[[bytes], bool] | None = None


class Entry(NamedTuple):
    """What a name stands for, and where that is written: a module of ours, or what somebody registered."""

    room: Room
    module: str
    attribute: str
    registered: Any = None

    def load(self) -> Callable[..., Any]:
        """The constructor; imports its module."""
        if self.registered is not None:
            made: Callable[..., Any] = self.registered.open if self.room == "format" else self.registered
            return made
        constructor: Callable[..., Any] = getattr(importlib.import_module(f"novikoff.{self.module}"), self.attribute)
        return constructor

    def doc(self) -> str:
        """The docstring of its module; of what was registered, its own if it has one."""
        import inspect

        if self.registered is not None and (text := self.load().__doc__):
            return inspect.cleandoc(text)
        module = self.module if self.registered is not None else f"novikoff.{self.module}"
        return inspect.cleandoc(importlib.import_module(module).__doc__ or "")

    def summary(self) -> str:
        """One line: of the function's docstring, or the module's."""
        import inspect

        constructor = self.load()
        several = inspect.isfunction(constructor) or self.room == "stream"  # several to a module
        text = inspect.getdoc(constructor) if several else self.doc()
        return ((text or "").splitlines() or [""])[0].rstrip(".")

    def arguments(self) -> str:
        """What it takes, as in a spec: "n, conservative=false"; for a format, the options of reading."""
        import inspect

        taken = list(inspect.signature(self.load()).parameters.values())
        return ", ".join(_shown(one.name, one.default) for one in taken[self.room == "format" :])


def _shown(name: str, default: Any) -> str:
    import inspect

    if default is inspect.Parameter.empty:
        return name
    plain = default is None or isinstance(default, bool)
    return f"{name}={str(default).lower() if plain else default}"


CATALOG: Mapping[str, Entry] = {
    "consistent": Entry("learner", "finite.consistent", "Consistent"),
    "halving": Entry("learner", "finite.halving", "Halving"),
    "threshold-halving": Entry("learner", "finite.threshold_halving", "ThresholdHalving"),
    "rectangle-halving": Entry("learner", "finite.rectangle_halving", "RectangleHalving"),
    "tightest-box": Entry("learner", "finite.tightest_box", "TightestBox"),
    "cover-halving": Entry("learner", "finite.cover_halving", "CoverHalving"),
    "perceptron": Entry("learner", "linear.perceptron", "Perceptron"),
    "ellipsoid": Entry("learner", "linear.ellipsoid", "Ellipsoid"),
    "kernel-perceptron": Entry("learner", "kernel.kernel_perceptron", "KernelPerceptron"),
    "rbp": Entry("learner", "kernel.randomized_budget", "RandomizedBudgetPerceptron"),
    "forgetron": Entry("learner", "kernel.forgetron", "Forgetron"),
    "cks": Entry("learner", "kernel.crammer_kandola_singer", "CrammerKandolaSinger"),
    "tighter": Entry("learner", "kernel.tighter", "TighterPerceptron"),
    "scaled": Entry("learner", "data.scaled", "Scaled"),
    "conformal": Entry("learner", "conformal.conformal", "Conformal"),
    "weighted-majority": Entry("learner", "experts.weighted_majority", "WeightedMajority"),
    "randomized-weighted-majority": Entry(
        "learner", "experts.randomized_weighted_majority", "RandomizedWeightedMajority"
    ),
    "exponential-weights": Entry("learner", "experts.exponential_weights", "ExponentialWeights"),
    "ada-hedge": Entry("learner", "experts.ada_hedge", "AdaHedge"),
    "fixed-share": Entry("learner", "experts.fixed_share", "FixedShare"),
    "sleeping-experts": Entry("learner", "experts.sleeping_experts", "SleepingExperts"),
    "hedge": Entry("learner", "experts.hedge", "Hedge"),
    "specialists": Entry("learner", "experts.specialists", "Specialists"),
    "auto": Entry("learner", "mixtures.auto", "Auto"),
    "auto-regression": Entry("learner", "mixtures.auto_regression", "AutoRegression"),
    "ftrl": Entry("learner", "convex.ftrl", "FTRL"),
    "adagrad": Entry("learner", "convex.adagrad", "AdaGrad"),
    "logistic": Entry("learner", "convex.logistic", "Logistic"),
    "vaw": Entry("learner", "convex.vaw", "VAW"),
    "second-order-perceptron": Entry("learner", "linear.second_order_perceptron", "SecondOrderPerceptron"),
    "arow": Entry("learner", "linear.arow", "AROW"),
    "online-gradient": Entry("learner", "convex.online_gradient", "OnlineGradient"),
    "exp3-ix": Entry("learner", "bandits.exp3_ix", "Exp3IX"),
    "tsallis-inf": Entry("learner", "bandits.tsallis_inf", "TsallisINF"),
    "exp4": Entry("learner", "bandits.exp4", "Exp4"),
    "midpoint": Entry("learner", "finite.midpoint", "Midpoint"),
    "constant": Entry("learner", "finite.constant", "Constant"),
    "bisection": Entry("adversary", "adversaries.bisection", "Bisection"),
    "grid-bisection": Entry("adversary", "adversaries.grid_bisection", "GridBisection"),
    "rectangle-bisection": Entry("adversary", "adversaries.rectangle_bisection", "RectangleBisection"),
    "plane-bisection": Entry("adversary", "adversaries.plane_bisection", "PlaneBisection"),
    "contrarian": Entry("adversary", "adversaries.contrarian", "Contrarian"),
    "majority-flip": Entry("adversary", "adversaries.majority_flip", "MajorityFlip"),
    "coin-flip": Entry("adversary", "adversaries.coin_flip", "CoinFlip"),
    "orthogonal": Entry("adversary", "adversaries.orthogonal", "Orthogonal"),
    "budget-ruin": Entry("adversary", "adversaries.budget_ruin", "BudgetRuin"),
    "separable": Entry("stream", "data.generated", "Separable"),
    "noisy": Entry("stream", "data.generated", "Noisy"),
    "drifting": Entry("stream", "data.generated", "Drifting"),
    "hard-order": Entry("stream", "data.hard_order", "HardOrder"),
    "random-losses": Entry("stream", "data.random_losses", "RandomLosses"),
    "bandit-losses": Entry("stream", "data.bandit_losses", "BanditLosses"),
    "thresholds": Entry("class", "finite.classes.threshold", "Thresholds"),
    "rectangles": Entry("class", "finite.classes.rectangle", "Rectangles"),
    "halfspaces": Entry("class", "finite.classes.halfspace", "Halfspaces"),
    "sphere-cover": Entry("class", "finite.classes.sphere", "SphereCover"),
    "programs": Entry("class", "finite.classes.program", "Programs"),
    "table": Entry("class", "finite.classes.matrix", "Table"),
    "cube": Entry("class", "finite.classes.matrix", "cube"),
    "functions": Entry("class", "finite.classes.predicate", "Functions"),
    "arrow": Entry("format", "data.tables.table_formats", "Arrow"),
    "csv": Entry("format", "data.tables.table_formats", "CSV"),
    "jsonl": Entry("format", "data.tables.table_formats", "JSONL"),
    "parquet": Entry("format", "data.tables.table_formats", "Arrow"),
    "svmlight": Entry("format", "data.formats.svmlight", "Svmlight"),
    "text": Entry("format", "data.formats.labelled_text", "Text"),
    "vw": Entry("format", "data.formats.vw", "VW"),
}
"""What comes with novikoff."""

MANY: Mapping[str, Entry] = {
    "perceptron": Entry("learner", "linear.multiclass_perceptron", "MulticlassPerceptron"),
    "ftrl": Entry("learner", "convex.multiclass_ftrl", "MulticlassFTRL"),
    "auto": Entry("learner", "mixtures.multiclass_auto", "MulticlassAuto"),
    "vaw": Entry("learner", "convex.multiclass_vaw", "MulticlassVAW"),
    "second-order-perceptron": Entry(
        "learner", "linear.multiclass_second_order_perceptron", "MulticlassSecondOrderPerceptron"
    ),
    "logistic": Entry("learner", "convex.multiclass_logistic", "MulticlassLogistic"),
    "kernel-perceptron": Entry("learner", "kernel.multiclass_kernel_perceptron", "MulticlassKernelPerceptron"),
}
"""Of a learner of two labels: the class of that name, with its arguments or most, that plays where labels are many."""

_registered_multiclass: dict[str, Entry] = {}
"""Those that were registered in this process."""

MANY_PREFIX = "many:"
"""Before the name of such a class, in model files."""

_registered: dict[Room, dict[str, Entry]] = {room: {} for room in GROUPS}
"""What was registered in this process, and the entry points that were asked for."""

What = TypeVar("What")


@overload
def register(name: str, *, multiclass: object = None) -> Callable[[What], What]: ...
@overload
def register(name: str, what: What, multiclass: object = None) -> What: ...
def register(name: str, what: object = None, multiclass: object = None) -> Any:
    """Let a learner's class, or a `Format`, be known by this name; without `what`, a decorator of the class.

    many   the learner's class for many labels, if it has one: it takes the same arguments

    It then has what ours have: specs, `nk.save`, `nk.load`, a place in `Hedge`, `novikoff list`, `explain` and `run`.
    This holds for the running program. An installed package names it in an entry point, of the group novikoff.learners
    or novikoff.sources.
    """
    if what is None:
        return lambda kind: register(name, kind, multiclass)
    found = _entry(name, what, "format" if isinstance(what, Format) else "learner")
    taken = CATALOG.get(name) or _registered[found.room].get(name)
    if taken is not None and taken[:3] != found[:3]:  # a class may be defined anew
        raise _error(f"a name must be free: {name} is the {taken.room} {taken.attribute}. Choose another.")
    _registered[found.room][name] = found
    if multiclass is not None:
        _registered_multiclass[name] = _entry(name, multiclass, "learner")
    return what


def for_multiclass(name: str) -> Entry | None:
    """The class for many labels of the learner of this name; None if it has none."""
    return MANY.get(name) or _registered_multiclass.get(name)


def with_multiclass() -> list[str]:
    """The names of the learners that have a class for many labels."""
    return [*MANY, *sorted(_registered_multiclass)]


def names(room: Room) -> list[str]:
    """The names of one room: ours in order, then those of others."""
    ours = [name for name, entry in CATALOG.items() if entry.room == room]
    return ours if room not in GROUPS else [*ours, *sorted({*_registered[room], *(name for name, _ in _points(room))})]


def find(name: str, room: Room | None = None) -> Entry | None:
    """The entry of a name; None if nothing is called so."""
    if name.startswith(MANY_PREFIX) and room == "learner":
        return for_multiclass(name.removeprefix(MANY_PREFIX))
    if name in CATALOG:
        return CATALOG[name] if room in (None, CATALOG[name].room) else None
    for group in GROUPS:
        if room in (None, group) and (found := _registered[group].get(name) or _load(name, group)):
            return found
    return None


def entry(name: str, room: Room | None = None) -> Entry:
    """The entry of a name, or an error that lists the names there are."""
    found = find(name, room)
    if found is None:
        listed = ", ".join(names(room) if room else CATALOG)
        kind = "an adversary" if room == "adversary" else f"a {room or 'learner, adversary or class'}"
        raise _error(f"the name of {kind} must be one of {listed}: got {name!r}.")
    return found


def learner_name(kind: type) -> str:
    """The name of a learner's class."""
    for name, ours in CATALOG.items():
        if ours.room == "learner" and ours.attribute == kind.__name__ and ours.load() is kind:
            return name
    for name, other in _registered["learner"].items():
        if other.registered is kind:
            return name
    for name, one in (*MANY.items(), *_registered_multiclass.items()):
        if one.attribute == kind.__qualname__ and one.load() is kind:
            return MANY_PREFIX + name
    for name, point in _points("learner"):
        if point.attribute == kind.__qualname__ and (found := find(name, "learner")) and found.registered is kind:
            return name
    raise _error(
        f"a saved learner must be registered: {kind.__name__} of {kind.__module__} is not. "
        f'Call novikoff.register("name", {kind.__name__}), here and where it is loaded.'
    )


def formats() -> Iterator[tuple[str, Format | Exception]]:
    """The formats that others bring; in place of one that cannot be loaded, why."""
    for name in names("format"):
        if name not in CATALOG:
            try:
                yield name, entry(name, "format").registered
            except Exception as error:
                yield name, error


class _Point(NamedTuple):
    """An entry point of an installed package."""

    attribute: str
    value: str
    package: str
    load: Callable[[], Any]


def _points(room: Room) -> list[tuple[str, _Point]]:
    """The entry points of installed packages, each with its name; a name of the catalog stays ours."""
    from importlib.metadata import entry_points

    return [
        (one.name, _Point(one.attr, one.value, one.dist.name if one.dist else "", one.load))
        for one in entry_points(group=GROUPS[room])
        if one.name not in CATALOG
    ]


def _load(name: str, room: Room) -> Entry | None:
    """What an installed package brings by this name; None if none does."""
    points = {point.value: point for other, point in _points(room) if other == name}
    if not points:
        return None
    if len(points) > 1:
        homes = " and ".join(f"{point.value} of {point.package}" for point in points.values())
        raise _error(f"one package may bring the {room} {name}: {homes} do. Remove one of them.")
    (point,) = points.values()
    try:
        what = point.load()
    except Exception as error:
        raise _error(
            f"the {room} {name} must be importable: {point.value} of {point.package} is not "
            f"({type(error).__name__}: {error}). Install the package anew, or remove it."
        ) from error
    found = _registered[room][name] = _entry(name, what, room)
    return found


def lacking(kind: object) -> list[str]:
    """What a class does not have of all that a learner must have."""
    return [part for part in LEARNER if not hasattr(kind, part)]


def _entry(name: str, what: Any, room: Room) -> Entry:
    """The entry of what somebody brings, if it is what it must be."""
    import re

    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise _error(f"a name must be of letters, digits and hyphens: got {name!r}.")
    if room == "format":
        if not isinstance(what, Format):
            raise _error(f"a format must be a novikoff.Format: {name} is a {type(what).__name__}.")
        return Entry(room, what.open.__module__, what.open.__qualname__, what)
    missing = lacking(what)
    if not isinstance(what, type) or missing:
        lacks = f"has no {', '.join(missing)}" if isinstance(what, type) else f"is a {type(what).__name__}"
        raise _error(f"a learner must be a class with {', '.join(LEARNER)}: {name} {lacks}.")
    return Entry(room, what.__module__, what.__qualname__, what)


def _error(text: str) -> Exception:
    from novikoff.core.errors import SpecError

    return SpecError(text)
