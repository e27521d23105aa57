"""Registry of names: learners, adversaries, classes, streams and formats, built-in and third-party.

Built-in names are in the catalog below. A program registers its own learner or format with `nk.register("name", what)`,
an installed package with an entry point in the group novikoff.learners or novikoff.sources. Entry points are read only
for names that are not in the catalog, and to list all names. They cannot replace a name of the catalog.
Model files name learners too. They can only refer to names that are registered on this machine: no file can cause a
module to be imported.

`import novikoff` imports this module, so it imports everything expensive inside functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, overload

Room = Literal["learner", "adversary", "class", "stream", "format"]
"""Kind of a registered object."""

GROUPS: Mapping[Room, str] = {"learner": "novikoff.learners", "format": "novikoff.sources"}
"""Entry-point group of each kind that other packages can provide."""

METHODS = ("predict_one", "learn_one")
"""Methods that a learner's class must have; core/adapt.py supplies the others."""
LEARNER = ("promises", *METHODS, "facts", "state", "restore")
"""Attributes of a learner with certificates of its own that can be saved."""


class Format(NamedTuple):
    """A file format: how it is opened and recognised.

    Args:
        open: Function open(source, **options) that returns a stream; the source is a path, "-" or a binary file.
        suffixes: Endings of file names of this format, without that of a compression: (".xyz",).
        recognises: Function that returns whether the first 64 KB, uncompressed, are of this format; called if no
            built-in format matches.
        unlabelled: Function unlabelled(source, regression, **options) that opens a source without labels, for
            prediction. None if there are no such files.
        recognises_unlabelled: Function that returns whether lines are of this format without labels; None if labelled
            and unlabelled sources look alike.

    Example:
        >>> import novikoff as nk
        >>> nk.Format(nk.CSV, suffixes=(".dat",)).suffixes
        ('.dat',)
    """

    open: Callable[..., Any]
    suffixes: tuple[str, ...] = ()
    recognises: Callable[[bytes], bool] | None = None
    unlabelled: Callable[..., Any] | None = None
    recognises_unlabelled: Callable[[Sequence[bytes]], bool] | None = None


class Entry(NamedTuple):
    """The object that a name stands for: an attribute of one of our modules, or a registered object.

    Attributes:
        room: Kind of the object.
        module: Its module, without "novikoff." if it is ours.
        attribute: Its name there.
        registered: The object itself, if it is not ours.
        suffixes: File suffixes of a format.
        mark: Bytes that every file of a format has near its beginning; if they are absent, its module is not imported.
    """

    room: Room
    module: str
    attribute: str
    registered: Any = None
    suffixes: tuple[str, ...] = ()
    mark: bytes = b""

    def load(self) -> Callable[..., Any]:
        """Return the constructor, importing its module."""
        if self.registered is not None:
            made: Callable[..., Any] = self.registered.open if self.room == "format" else self.registered
            return made
        constructor: Callable[..., object] = getattr(importlib.import_module(f"novikoff.{self.module}"), self.attribute)
        return constructor

    def doc(self) -> str:
        """Return the docstring of the module, or that of a registered object if it has one."""
        import inspect

        if self.registered is not None and (text := self.load().__doc__):
            return inspect.cleandoc(text)
        module = self.module if self.registered is not None else f"novikoff.{self.module}"
        return inspect.cleandoc(importlib.import_module(module).__doc__ or "")

    def summary(self) -> str:
        """Return the first line of the function's or the module's docstring."""
        import inspect

        constructor = self.load()
        several = inspect.isfunction(constructor) or self.room == "stream"  # a module may define several of these
        text = inspect.getdoc(constructor) if several else self.doc()
        return ((text or "").splitlines() or [""])[0].rstrip(".")

    def arguments(self) -> str:
        """Return the arguments as in a spec, "n, conservative=false"; for a format, its reading options."""
        import inspect

        taken = list(inspect.signature(self.load()).parameters.values())
        return ", ".join(_shown(one.name, one.default) for one in taken[self.room == "format" :])


def _shown(name: str, default: object) -> str:
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
    "delayed": Entry("learner", "conformal.delayed", "Delayed"),
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
    "grouped": Entry("learner", "experts.grouped", "Grouped"),
    "auto": Entry("learner", "mixtures.auto", "Auto"),
    "auto-regression": Entry("learner", "mixtures.auto_regression", "AutoRegression"),
    "linear-mixture": Entry("learner", "mixtures.linear_mixture", "LinearMixture"),
    "linear-mixture-regression": Entry("learner", "mixtures.linear_mixture_regression", "LinearMixtureRegression"),
    "tree": Entry("learner", "trees.tree", "Tree"),
    "tree-regression": Entry("learner", "trees.tree_regression", "TreeRegression"),
    "forest": Entry("learner", "trees.forest", "Forest"),
    "forest-regression": Entry("learner", "trees.forest_regression", "ForestRegression"),
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
    "ucb1": Entry("learner", "bandits.ucb1", "UCB1"),
    "thompson": Entry("learner", "bandits.thompson", "Thompson"),
    "explore-then-commit": Entry("learner", "bandits.explore_then_commit", "ExploreThenCommit"),
    "midpoint": Entry("learner", "finite.midpoint", "Midpoint"),
    "constant": Entry("learner", "finite.constant", "Constant"),
    "memorizer": Entry("learner", "finite.memorizer", "Memorizer"),
    "history": Entry("learner", "integrations.history", "History"),
    "bisection": Entry("adversary", "adversaries.bisection", "Bisection"),
    "grid-bisection": Entry("adversary", "adversaries.grid_bisection", "GridBisection"),
    "rectangle-bisection": Entry("adversary", "adversaries.rectangle_bisection", "RectangleBisection"),
    "plane-bisection": Entry("adversary", "adversaries.plane_bisection", "PlaneBisection"),
    "contrarian": Entry("adversary", "adversaries.contrarian", "Contrarian"),
    "majority-flip": Entry("adversary", "adversaries.majority_flip", "MajorityFlip"),
    "coin-flip": Entry("adversary", "adversaries.coin_flip", "CoinFlip"),
    "orthogonal": Entry("adversary", "adversaries.orthogonal", "Orthogonal"),
    "budget-ruin": Entry("adversary", "adversaries.budget_ruin", "BudgetRuin"),
    "spammer": Entry("adversary", "adversaries.spammer", "Spammer"),
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
    # formats, in the order in which they are tried
    "csv": Entry("format", "data.tables.table_formats", "CSV", suffixes=(".csv", ".tsv", ".tab")),
    "arff": Entry("format", "data.tables.table_formats", "ARFF", suffixes=(".arff",), mark=b"@"),
    "svmlight": Entry(
        "format", "data.formats.svmlight", "Svmlight", suffixes=(".svm", ".svmlight", ".libsvm"), mark=b":"
    ),
    "vw": Entry("format", "data.formats.vw", "VW", suffixes=(".vw",), mark=b"|"),
    "jsonl": Entry("format", "data.tables.table_formats", "JSONL", suffixes=(".jsonl", ".ndjson", ".json"), mark=b"{"),
    "text": Entry("format", "data.formats.labelled_text", "Text", suffixes=(".txt", ".text"), mark=b"\t"),
    "arrow": Entry("format", "data.tables.table_formats", "Arrow", suffixes=(".arrow", ".feather"), mark=b"ARROW1"),
    "npz": Entry("format", "data.formats.npz", "NPZ", suffixes=(".npz",), mark=b"PK"),
    "parquet": Entry("format", "data.tables.table_formats", "Arrow", suffixes=(".parquet",), mark=b"PAR1"),
}
"""Built-in names."""

MANY: Mapping[str, Entry] = {
    "perceptron": Entry("learner", "linear.multiclass_perceptron", "MulticlassPerceptron"),
    "ftrl": Entry("learner", "convex.multiclass_ftrl", "MulticlassFTRL"),
    "auto": Entry("learner", "mixtures.multiclass_auto", "MulticlassAuto"),
    "linear-mixture": Entry("learner", "mixtures.multiclass_linear_mixture", "MulticlassLinearMixture"),
    "tree": Entry("learner", "trees.multiclass_tree", "MulticlassTree"),
    "forest": Entry("learner", "trees.multiclass_forest", "MulticlassForest"),
    "vaw": Entry("learner", "convex.multiclass_vaw", "MulticlassVAW"),
    "second-order-perceptron": Entry(
        "learner", "linear.multiclass_second_order_perceptron", "MulticlassSecondOrderPerceptron"
    ),
    "logistic": Entry("learner", "convex.multiclass_logistic", "MulticlassLogistic"),
    "kernel-perceptron": Entry("learner", "kernel.multiclass_kernel_perceptron", "MulticlassKernelPerceptron"),
}
"""Multiclass counterparts of binary learners, by name; they take the same arguments, or most of them."""

_registered_multiclass: dict[str, Entry] = {}
"""Multiclass counterparts registered in this process."""

MANY_PREFIX = "many:"
"""Prefix of the name of a multiclass counterpart in model files."""

_registered: dict[Room, dict[str, Entry]] = {room: {} for room in GROUPS}
"""Objects registered in this process, and entry points loaded so far."""

What = TypeVar("What")


@overload
def register(name: str, *, multiclass: object = None) -> Callable[[What], What]: ...
@overload
def register(name: str, what: What, multiclass: object = None) -> What: ...
def register(name: str, what: object = None, multiclass: object = None) -> Any:
    """Register a learner's class or a `Format` under a name; without `what`, return a class decorator.

    A registered learner works like a built-in one: in specs, `nk.save`, `nk.load`, `Hedge`, `novikoff list`, `explain`
    and `run`. Registration lasts for the running process; installed packages use an entry point instead, in the group
    novikoff.learners or novikoff.sources.

    Args:
        name: Letters, digits and hyphens.
        what: A learner's class or a `Format`; None to use the result as a decorator.
        multiclass: The learner's multiclass counterpart, which takes the same arguments; None if there is none.

    Example:
        >>> import novikoff as nk
        >>> @nk.register("my-perceptron")
        ... class MyPerceptron(nk.Perceptron):
        ...     pass
        >>> nk.make("my-perceptron:bias=1", "learner")
        MyPerceptron(bias=1.0)
    """
    if what is None:
        return lambda kind: register(name, kind, multiclass)
    found = _entry(name, what, "format" if isinstance(what, Format) else "learner")
    taken = CATALOG.get(name) or _registered[found.room].get(name)
    if taken is not None and taken[:3] != found[:3]:  # the same class may be defined again, as in a notebook
        raise _error(f"a name must not be taken: {name} is the {taken.room} {taken.attribute}. Choose another.")
    _registered[found.room][name] = found
    if multiclass is not None:
        _registered_multiclass[name] = _entry(name, multiclass, "learner")
    return what


def made(spec: str) -> Any:
    """Return a new learner from its spec; game/specs.py is imported on first use, as the learners are."""
    return importlib.import_module("novikoff.game.specs").make(spec, "learner")


def for_multiclass(name: str) -> Entry | None:
    """Return the multiclass counterpart of the learner of this name; None if there is none."""
    return MANY.get(name) or _registered_multiclass.get(name)


def with_multiclass() -> list[str]:
    """Return the names of the learners that have a multiclass counterpart."""
    return [*MANY, *sorted(_registered_multiclass)]


def names(room: Room) -> list[str]:
    """Return the names of one kind: built-in names in catalog order (formats sorted), then third-party names."""
    ours = [name for name, entry in CATALOG.items() if entry.room == room]
    if room == "format":
        ours.sort()
    return ours if room not in GROUPS else [*ours, *sorted({*_registered[room], *(name for name, _ in _points(room))})]


def find(name: str, room: Room | None = None) -> Entry | None:
    """Return the entry of a name; None if it is unknown."""
    if name.startswith(MANY_PREFIX) and room == "learner":
        return for_multiclass(name.removeprefix(MANY_PREFIX))
    if name in CATALOG:
        return CATALOG[name] if room in (None, CATALOG[name].room) else None
    for group in GROUPS:
        if room in (None, group) and (found := _registered[group].get(name) or _load(name, group)):
            return found
    return None


def entry(name: str, room: Room | None = None) -> Entry:
    """Return the entry of a name; raise `SpecError` with the known names if it is unknown."""
    found = find(name, room)
    if found is None:
        from novikoff.core.errors import close

        known = list(names(room) if room else CATALOG)
        kind = "an adversary" if room == "adversary" else f"a {room or 'learner, adversary or class'}"
        if guess := close(name, known):
            raise _error(f"the name of {kind} must be known: got {name!r}. {guess} `novikoff list` has all names.")
        raise _error(f"the name of {kind} must be one of {', '.join(known)}: got {name!r}.")
    return found


def learner_name(kind: type) -> str:
    """Return the registered name of a learner's class; raise `SpecError` if it has none."""
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


def format_of(name: str) -> Format:
    """Return the format of a name: the module of a built-in one has it in its `FORMATS`."""
    found = entry(name, "format")
    if found.registered is not None:
        registered: Format = found.registered
        return registered
    listed: Mapping[str, Format] = getattr(importlib.import_module(f"novikoff.{found.module}"), "FORMATS", {})
    if name not in listed:
        file = f"src/novikoff/{found.module.replace('.', '/')}.py"
        raise RuntimeError(f'{file} must declare FORMATS = {{"{name}": Format({found.attribute}, ...)}}.')
    return listed[name]


def formats() -> Iterator[tuple[str, Format | Exception]]:
    """Yield the name of each third-party format with the format, or with the exception if it cannot be loaded."""
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
    """Return the entry points of installed packages by name, without names of the catalog."""
    from importlib.metadata import entry_points

    return [
        (one.name, _Point(one.attr, one.value, one.dist.name if one.dist else "", one.load))
        for one in entry_points(group=GROUPS[room])
        if one.name not in CATALOG
    ]


def _load(name: str, room: Room) -> Entry | None:
    """Load the entry point of this name; return None if no package has one."""
    points = {point.value: point for other, point in _points(room) if other == name}
    if not points:
        return None
    if len(points) > 1:
        homes = " and ".join(f"{point.value} of {point.package}" for point in points.values())
        raise _error(f"only one package may provide the {room} {name}: {homes} do. Remove one of them.")
    (point,) = points.values()
    try:
        what = point.load()
    except Exception as error:
        raise _error(
            f"the {room} {name} must be importable: {point.value} of {point.package} is not "
            f"({type(error).__name__}: {error}). Reinstall the package, or remove it."
        ) from error
    found = _registered[room][name] = _entry(name, what, room)
    return found


def lacking(kind: object) -> list[str]:
    """Return the methods of a learner's class that `kind` lacks."""
    return [part for part in METHODS if not hasattr(kind, part)]


def _entry(name: str, what: object, room: Room) -> Entry:
    """Return the entry of a third-party object; raise `SpecError` if the name or the object is invalid."""
    import re

    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise _error(f"a name must consist of letters, digits and hyphens, a letter first: got {name!r}.")
    if room == "format":
        if not isinstance(what, Format):
            raise _error(f"a format must be a novikoff.Format: {name} is a {type(what).__name__}.")
        return Entry(room, what.open.__module__, what.open.__qualname__, what)
    missing = lacking(what)
    if not isinstance(what, type) or missing:
        lacks = f"has no {', '.join(missing)}" if isinstance(what, type) else f"is a {type(what).__name__}"
        raise _error(f"a learner must be a class with {', '.join(METHODS)}: {name} {lacks}.")
    return Entry(room, what.__module__, what.__qualname__, what)


def _error(text: str) -> Exception:
    from novikoff.core.errors import SpecError

    return SpecError(text)
