"""Saved state: a learner declares its fields once; saving, restoring and validation are derived from them.

    class Perceptron(Learner):
        fields = (
            Argument("bias", float),
            Count("rounds"),
            Count("updates", most="rounds"),
            Part("features"),
            Array("weights", ("features.count",), finite=False),
        )

`state()` reads the fields; `restore(state)` checks each, calls the constructor with the arguments, and assigns the rest
in the declared order. A size or limit is a number, or the path of an attribute that was restored before: "rounds",
"features.count". Attributes that follow from the fields, and relations that a declaration cannot express, go into
`after_restoring`.

A model file may be damaged, edited or untrusted: every value that compiled code uses as an index, an end, a shape or a
count is validated here first. Classes that implement `state` and `restore` by hand give the reason, and use the
functions below.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass
from operator import le
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import ModelFileError, brief, shown
from novikoff.core.types import State
from novikoff.numerics.total import Total

MOST_ROUNDS = 2**62
"""Largest count: compiled loops hold counts in 64 bits."""

Limit = int | float | str
"""A number, or the path of an attribute that holds it."""
Size = int | str | None
"""Length of one dimension: a number, the path of an attribute that holds it, or None for any."""


def lookup(owner: object, path: str) -> Any:
    """Return the value at a path such as "features.count", or "_sums.2" for an element of an array or a tuple."""
    found: Any = owner
    for step in path.split("."):
        if isinstance(found, dict):
            found = found[step]
        else:
            found = found[int(step)] if step.isdigit() else getattr(found, step)
    return found


def _assign(owner: object, path: str, value: object) -> None:
    before, _, last = path.rpartition(".")
    target: Any = lookup(owner, before) if before else owner
    if last.isdigit():
        target[int(last)] = value
    else:
        setattr(target, last, value)


@dataclass(frozen=True, eq=False, repr=False)
class Field(ABC):
    """One value of a saved object.

    Attributes:
        name: Key in the saved state.
        at: Path of the attribute that holds the value; `name` by default.
        argument: Whether the constructor takes the value, as its argument `name`.
        optional: Whether the value may be None.
        assigned: False if `after_restoring` assigns the value, or if it is a constant.
        when: Path of an attribute; the field is saved only if that is true.
        default: Function that returns the value for files of earlier versions, which lack it; None if none do.
    """

    name: str
    _: KW_ONLY
    at: str = ""
    argument: bool = False
    optional: bool = False
    assigned: bool = True
    when: str = ""
    default: Callable[[], object] | None = None

    def present(self, owner: object) -> bool:
        """Return whether this object saves the field."""
        return not self.when or bool(lookup(owner, self.when))

    @property
    def path(self) -> str:
        """Path of the attribute that holds the value."""
        return self.at or self.name

    def saved(self, owner: object) -> object:
        """Return the value of an object as plain data."""
        value = lookup(owner, self.path)
        return None if value is None and self.optional else self.pack(value, owner)

    def restored(self, state: State, owner: object, of: str) -> object:
        """Return the validated value of a saved state.

        Args:
            state: Saved state.
            owner: Object with the fields declared before this one; None for arguments.
            of: Kind of object, for messages.
        """
        require(isinstance(state, Mapping), f"{of} must be saved as a mapping from names to values", state)
        if self.default is not None and self.name not in state:
            return self.default()
        require(self.name in state, f"{self.name} of {of} must be saved", sorted(state))
        return None if self.optional and state[self.name] is None else self.unpack(state, owner, of)

    def assign(self, owner: object, value: object) -> None:
        """Assign a restored value to its attribute."""
        if self.assigned:
            _assign(owner, self.path, value)

    @abstractmethod
    def pack(self, value: object, owner: object) -> object:
        """Return a value as plain data."""

    @abstractmethod
    def unpack(self, state: State, owner: object, of: str) -> object:
        """Return the saved value or raise `ModelFileError`; `owner` has the fields declared before."""


@dataclass(frozen=True, eq=False, repr=False)
class Value(Field):
    """A plain value of a type, or of a union of types; `object` accepts any."""

    kind: type[object] | UnionType = object

    def pack(self, value: object, owner: object) -> object:
        return value.copy() if isinstance(value, (np.ndarray, list)) else value

    def unpack(self, state: State, owner: object, of: str) -> object:
        return arguments(state, {self.name: self.kind}, of)[self.name]


@dataclass(frozen=True, eq=False, repr=False)
class Argument(Value):
    """An argument of the constructor, which validates its range."""

    _: KW_ONLY
    argument: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Count(Field):
    """An integer from `least` to `most`."""

    least: Limit = 0
    most: Limit = MOST_ROUNDS

    def pack(self, value: Any, owner: object) -> object:
        return int(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        return integer(state, self.name, limit_of(owner, self.least), limit_of(owner, self.most), of)


@dataclass(frozen=True, eq=False, repr=False)
class Values(Field):
    """A list of values of one type.

    Attributes:
        kind: Type, or union of types, of each value.
        size: Length of the list; None for any.
        least: Smallest allowed number.
        most: Largest allowed number.
    """

    kind: type[object] | UnionType
    size: Size = None
    least: Limit = -math.inf
    most: Limit = math.inf

    def pack(self, value: Any, owner: object) -> object:
        return list(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        found, size = state[self.name], size_of(owner, self.size)
        must = f"{self.name} of {of} must be a list{'' if size is None else f' of {size:,}'}"
        require(isinstance(found, (list, tuple)) and size in (None, len(found)), must, found)
        least, most = limit_of(owner, self.least), limit_of(owner, self.most)
        for one in found:
            sound = is_of(one, self.kind) and (not isinstance(one, (int, float)) or least <= one <= most)
            require(sound, f"{self.name} of {of} must be {words(self.kind)}{_between(least, most)}", one)
        return list(found)


@dataclass(frozen=True, eq=False, repr=False)
class Tuples(Field):
    """A list of tuples, saved as a list of lists; `kinds` has the type, or union of types, of each entry."""

    kinds: tuple[Any, ...]

    def pack(self, value: Any, owner: object) -> object:
        return [list(one) for one in value]

    def unpack(self, state: State, owner: object, of: str) -> object:
        found, count = state[self.name], len(self.kinds)
        require(isinstance(found, (list, tuple)), f"{self.name} of {of} must be a list", found)
        for one in found:
            sound = isinstance(one, (list, tuple)) and len(one) == count and all(map(is_of, one, self.kinds))
            require(sound, f"{self.name} of {of} must be lists of {', '.join(map(words, self.kinds))}", one)
        return [tuple(one) for one in found]


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Field):
    """One of the values `among`."""

    among: tuple[Any, ...]

    def pack(self, value: object, owner: object) -> object:
        return value

    def unpack(self, state: State, owner: object, of: str) -> object:
        value = state[self.name]
        known = any(type(value) is type(one) and value == one for one in self.among)
        require(known, f"{self.name} of {of} must be one of {', '.join(map(str, self.among))}", value)
        return value


@dataclass(frozen=True, eq=False, repr=False)
class First(Field):
    """The number of the first round that `times` counts; 0 if there was none.

    If `times` of `rounds` rounds were counted, the first is at most rounds - times + 1.
    """

    times: str

    def pack(self, value: Any, owner: object) -> object:
        return int(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        rounds, times = lookup(owner, "rounds"), lookup(owner, self.times)
        return integer(state, self.name, min(times, 1), rounds - times + 1 if times else 0, of)


@dataclass(frozen=True, eq=False, repr=False)
class Number(Field):
    """A number from `least` to `most`; with finite=False any number, infinities and NaN included."""

    least: Limit = -math.inf
    most: Limit = math.inf
    finite: bool = True

    def pack(self, value: Any, owner: object) -> object:
        return float(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        if not self.finite:
            return float(arguments(state, {self.name: float}, of)[self.name])
        value, least, most = number(state, self.name, of), limit_of(owner, self.least), limit_of(owner, self.most)
        require(least <= value <= most, f"{self.name} of {of} must be from {least:g} to {most:g}", value)
        return value


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Field):
    """A `Total`, saved as two numbers: the sum and its compensation for rounding; both must be finite if `finite`."""

    finite: bool = True

    def pack(self, value: Any, owner: object) -> object:
        return [value.sum, value.lost]

    def unpack(self, state: State, owner: object, of: str) -> object:
        return Total(*pair(state, self.name, of, self.finite))


@dataclass(frozen=True, eq=False, repr=False)
class Array(Field):
    """An array with its shape, type and range.

    Attributes:
        shape: Size of each dimension; None for the shape of the array that the object already has.
        dtype: Type of the numbers.
        finite: Whether all numbers must be finite.
        spare: Value of the rows that the array has in memory beyond its first size; they are not saved, and one such
            row is appended on restoring. None if all rows are saved.
        nonnegative: Whether no number may be negative; or the columns of the last dimension to which that applies.
        least: Smallest allowed number; None for no limit.
        most: Largest allowed number; None for no limit.
        inplace: Whether to write into the array that the object already has, because others share it.
    """

    shape: tuple[Size, ...] | None = None
    dtype: Any = np.float64
    _: KW_ONLY
    finite: bool = True
    spare: float | None = None
    nonnegative: bool | Sequence[int] = False
    least: Limit | None = None
    most: Limit | None = None
    inplace: bool = False

    def assign(self, owner: object, value: Any) -> None:
        if not self.inplace:
            super().assign(owner, value)
        elif value is not None:
            lookup(owner, self.path)[tuple(map(slice, value.shape))] = value

    def restored(self, state: State, owner: object, of: str) -> object:
        found = super().restored(state, owner, of)
        fits = not self.inplace or (found is None) == (lookup(owner, self.path) is None)
        require(fits, f"{self.name} of {of} must be null exactly if the learner does not use it", state.get(self.name))
        return found

    def pack(self, value: Any, owner: object) -> object:
        if self.shape is None:
            return value.copy()
        sizes = [size_of(owner, size) for size in self.shape]
        found = value[tuple(map(slice, sizes))]
        if self.spare is not None and (missing := (sizes[0] or 0) - len(found)) > 0:
            return np.concatenate([found, np.full((missing, *found.shape[1:]), self.spare, found.dtype)])
        return found.copy()

    def unpack(self, state: State, owner: object, of: str) -> object:
        sizes = lookup(owner, self.path).shape if self.shape is None else self.shape
        shape = tuple(size_of(owner, size) for size in sizes)
        found = array(state, self.name, shape, self.dtype, self.finite, of)
        if self.nonnegative is not False:
            some = found if self.nonnegative is True else found[..., list(self.nonnegative)]
            require(bool((some >= 0).all()), f"{self.name} of {of} must not be negative", some)
        if self.least is not None:
            least = limit_of(owner, self.least)
            require(bool((found >= least).all()), f"{self.name} of {of} must be at least {least:,}", found)
        if self.most is not None:
            most = limit_of(owner, self.most)
            require(bool((found <= most).all()), f"{self.name} of {of} must be at most {most:,}", found)
        if self.spare is None:
            return found
        return np.concatenate([found, np.full((1, *found.shape[1:]), self.spare, found.dtype)])


class Saved(Protocol):
    """An object with a `state` and a class method that restores it."""

    def state(self) -> State: ...

    @classmethod
    def restore(cls, state: State) -> Any: ...


@dataclass(frozen=True, eq=False, repr=False)
class Part(Field):
    """An object with its own state.

    Attributes:
        kind: Class of the part, which restores it; None if the constructor of the owner makes the part, which then
            loads its state.
        places: Path of a size that is passed to the `state` and `load` of the part.
        given: Attributes of the owner that are passed to the constructor of the part and are not in its state.
    """

    kind: type[Saved] | None = None
    _: KW_ONLY
    places: str = ""
    given: tuple[str, ...] = ()

    def restored(self, state: State, owner: object, of: str) -> object:
        found = super().restored(state, owner, of)
        fits = self.kind is not None or (found is None) == (lookup(owner, self.path) is None)
        require(fits, f"{self.name} of {of} must be null exactly if the learner does not use it", state.get(self.name))
        return found

    def pack(self, value: Any, owner: object) -> object:
        return value.state(lookup(owner, self.places)) if self.places else value.state()

    def unpack(self, state: State, owner: object, of: str) -> object:
        if self.kind is not None:
            return self.made(state[self.name], owner)
        part = lookup(owner, self.path)
        part.load(state[self.name], *([lookup(owner, self.places)] if self.places else []))
        return part

    def made(self, saved: object, owner: object) -> Any:
        """Return a part of class `kind` with this state."""
        kind: Any = self.kind
        given = {name: getattr(owner, name) for name in self.given}
        return kind.restore_with(saved, **given) if given else kind.restore(saved)


@dataclass(frozen=True, eq=False, repr=False)
class Parts(Part):
    """A list of objects with their own states; without a `kind` they are made by the constructor of the owner."""

    def pack(self, value: Any, owner: object) -> object:
        return [super(Parts, self).pack(part, owner) for part in value]

    def unpack(self, state: State, owner: object, of: str) -> object:
        saved = state[self.name]
        if self.kind is not None:
            require(isinstance(saved, list), f"{self.name} of {of} must be a list", saved)
            return [self.made(one, owner) for one in saved]
        parts = lookup(owner, self.path)
        fit = isinstance(saved, list) and len(saved) == len(parts)
        require(fit, f"{self.name} of {of} must be a list of {len(parts)}", saved)
        for part, one in zip(parts, saved, strict=True):
            part.load(one, *([lookup(owner, self.places)] if self.places else []))
        return parts


@dataclass(frozen=True, eq=False, repr=False)
class Coded(Field):
    """A value saved in another form; `decode` raises TypeError, ValueError or ZeroDivisionError if that is invalid."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    must: str

    def pack(self, value: object, owner: object) -> object:
        return self.encode(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        return read(state[self.name], self.decode, f"{self.name} of {of} must be {self.must}")


def limit_of(owner: object, limit: Limit) -> Any:
    """Return a limit as a number."""
    return lookup(owner, limit) if isinstance(limit, str) else limit


def size_of(owner: object, size: Size) -> int | None:
    """Return the length of a dimension; None for any."""
    return int(lookup(owner, size)) if isinstance(size, str) else size


_KEEPS_ROWS = ContextVar("keeps_rows", default=True)


def keeps_rows() -> bool:
    """Return whether the state that is being made may contain training rows which only exact resuming needs."""
    return _KEEPS_ROWS.get()


@contextmanager
def leaving_out_rows(without: bool = True) -> Iterator[None]:
    """Omit training rows that only exact resuming needs from all states made in this block, nested ones included."""
    token = _KEEPS_ROWS.set(not without)
    try:
        yield
    finally:
        _KEEPS_ROWS.reset(token)


class Stateful:
    """An object that can be saved and restored.

    Attributes:
        fields: Fields to save, in the order of restoring.
        described: Kind of object, for messages.
    """

    __slots__ = ()

    fields: ClassVar[tuple[Field, ...]] = ()
    described: ClassVar[str] = "a learner"

    def state(self) -> State:
        """Return the state as plain data."""
        if not self.fields:
            raise TypeError(f"{type(self).__name__} cannot be saved: declare its `fields`, or write state and restore.")
        return {field.name: field.saved(self) for field in self.fields if field.present(self)}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return an object with this saved state."""
        return cls.restore_with(state)

    @classmethod
    def restore_with(cls, state: State, **given: object) -> Self:
        """Return an object with this saved state, and with arguments of the constructor that are not saved."""
        made = cls(**cls.arguments(state), **given)
        made.load(state)
        return made

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        """Return the validated arguments of the constructor."""
        return {field.name: field.restored(state, None, cls.described) for field in cls.fields if field.argument}

    def load(self, state: State) -> None:
        """Load a saved state, except for the arguments of the constructor."""
        found = {}
        for field in self.fields:
            if field.argument or not field.present(self):
                continue
            found[field.name] = value = field.restored(state, self, self.described)
            field.assign(self, value)
        self.after_restoring(found)

    def after_restoring(self, found: State) -> None:
        """Set attributes that follow from the fields, and raise `ModelFileError` if fields contradict each other.

        Args:
            found: Validated values of the fields, by name.
        """


def require(sound: bool, must: str, value: object) -> None:
    """Raise `ModelFileError` unless `sound`; `must` is the requirement, `value` the saved value."""
    if not sound:
        raise ModelFileError(f"{must}: the file has {shown(value)}.")


def integer(state: State, name: str, least: int = 0, most: int = MOST_ROUNDS, of: str = "a learner") -> int:
    """Return an integer of the state, from `least` to `most`."""
    value = state[name]
    must = f"{name} of {of} must be an integer from {brief(least)} to {brief(most)}"
    require(type(value) is int and least <= value <= most, must, value)
    return int(value)


def number(state: State, name: str, of: str = "a learner") -> float:
    """Return a finite number of the state."""
    value = state[name]
    sound = type(value) in (int, float) and abs(value) < math.inf
    require(sound, f"{name} of {of} must be a finite number", value)
    return float(value)


def pair(state: State, name: str, of: str = "a learner", finite: bool = True) -> tuple[float, float]:
    """Return two numbers of the state, finite ones by default: a sum and its compensation for rounding."""
    found = state[name]
    require(isinstance(found, (list, tuple)) and len(found) == 2, f"{name} of {of} must be two numbers", found)
    if not finite and all(is_of(part, float) for part in found):
        return float(found[0]), float(found[1])
    parts = {"sum": found[0], "lost": found[1]}
    return number(parts, "sum", f"{name} of {of}"), number(parts, "lost", f"{name} of {of}")


def flag(state: State, name: str, of: str = "a learner") -> bool:
    """Return a boolean of the state."""
    require(type(state[name]) is bool, f"{name} of {of} must be true or false", state[name])
    return bool(state[name])


def array(
    state: State, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, finite: bool = True,
    of: str = "a learner",
) -> NDArray[Any]:  # fmt: skip
    """Return a copy of an array of the state after checking its type and shape; None in `shape` allows any size."""
    value = state[name]
    sound = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == len(shape)
    sound = sound and all(size in (None, found) for size, found in zip(shape, value.shape, strict=True))
    sizes = " x ".join("any" if size is None else f"{size:,}" for size in shape)
    must = f"{name} of {of} must be {sizes} numbers of type {np.dtype(dtype)}"
    require(sound, must, value.shape if isinstance(value, np.ndarray) else value)
    require(not finite or bool(np.isfinite(value).all()), f"{name} of {of} must be finite", value)
    return np.array(value, order="C")


def ends(state: State, name: str, rows: int | None, dtype: object = np.int64, of: str = "rows") -> NDArray[Any]:
    """Return the (rows + 1,) row borders of the state: 0, then the end of each row, never decreasing."""
    found = array(state, name, (None if rows is None else rows + 1,), dtype, of=of)
    rising = len(found) > 0 and found[0] == 0 and bool((found[1:] >= found[:-1]).all())
    require(rising, f"{name} of {of} must begin with 0 and not decrease", found[:3])
    return found


def indices(state: State, name: str, size: int | None, below: int, dtype: object = np.uint32, of: str = "rows") -> Any:
    """Return an array of indices of the state, each at least 0 and less than `below`."""
    found = array(state, name, (size,), dtype, of=of)
    sound = len(found) == 0 or (int(found.min()) >= 0 and int(found.max()) < below)
    require(sound, f"{name} of {of} must be at least 0 and below {brief(below)}", found[:3])
    return found


T = TypeVar("T")
Corner = TypeVar("Corner", bound=tuple[Any, ...])

Schema = Mapping[str, Any]
"""Type (or union of types) of each saved constructor argument; `object` if only the constructor checks it."""

WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text", NoneType: "none"}
"""Names of types in messages."""


def arguments(state: State, schema: Schema, of: str = "a learner") -> dict[str, Any]:
    """Return the saved constructor arguments after checking their types."""
    for name, kind in schema.items():
        require(is_of(state[name], kind), f"{name} of {of} must be {words(kind)}", state[name])
    return {name: state[name] for name in schema}


def _kinds(kind: object) -> tuple[Any, ...]:
    """Return the types of a union; integers are numbers too."""
    kinds = get_args(kind) or (kind,)
    return (int, *kinds) if float in kinds else kinds


def is_of(value: object, kind: object) -> bool:
    """Return whether a value is of a type, or of one of a union; a boolean is not an integer."""
    kinds = _kinds(kind)
    return isinstance(value, kinds) and (type(value) is not bool or bool in kinds or object in kinds)


def words(kind: object) -> str:
    """Return the name of a type, or of a union of types, for a message."""
    return " or ".join(WORDS.get(one, one.__name__) for one in _kinds(kind))


def _between(least: float, most: float) -> str:
    """Return the range of a number for a message."""
    return "" if (least, most) == (-math.inf, math.inf) else f" from {least:,} to {most:,}"


def read(saved: object, parse: Callable[[Any], T], must: str) -> T:
    """Return parse(saved); raise `ModelFileError` if that fails."""
    try:
        return parse(saved)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(f"{must}: the file has {shown(saved)} ({error}).") from None


def corners(state: State, parse: Callable[[Any], Corner]) -> tuple[Corner, Corner] | tuple[None, None]:
    """Return the corners `low` and `high` of a box; (None, None) for the empty box."""
    if state["low"] is None and state["high"] is None:
        return None, None
    low, high = (read(state[name], parse, f"{name} of a box must be a corner") for name in ("low", "high"))
    require(all(map(le, low, high)), "low of a box must not be above high", state["low"])
    return low, high
