"""Model files: a zip archive of meta.json and .npy arrays. Reading an untrusted file runs no code.

A file holds a learner's state and its ledger, so that a resumed game is certified as a whole; or a classifier made by
`nk.finalize`, with its certificates; or the result of `nk.parallel_perceptron`. It is written to a temporary file,
flushed to disk and renamed, so a crash leaves either the old file or the new one. Arrays are not compressed: that would
take longer than writing them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import math
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from novikoff import __version__
from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError, ModelFileError, absent, named, shown
from novikoff.core.overwriting import check_replaced
from novikoff.core.registry import find
from novikoff.core.types import State
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import FORMAT, WRITTEN, check_format, packed, restore, rows_held

if TYPE_CHECKING:
    from novikoff.distributed.mixed import ParallelPerceptron
    from novikoff.online_to_batch.finalize import OnlineToBatch

BEGIN = b'{"novikoff": '
"""First bytes of meta.json, which identify a model file."""

Arrays = Callable[[str], NDArray[Any]]
"""Function from an array's name in the file to the array."""

MOST_TIMES, SPARE = 8, 2**24
"""Maximum size of the unpacked contents: 8 times the size of the file plus 16 MB; `save` does not compress arrays."""
DEEPEST = 200
"""Maximum depth of nested values in meta.json."""

LONGEST = 4000
"""Maximum number of bits of an integer written as a JSON number; Python refuses more than 4,300 digits."""


def save(
    what: Ledger | OnlineToBatch | ParallelPerceptron,
    path: str | os.PathLike[str],
    force: bool = False,
    without_rows: bool = False,
) -> int:
    """Write a ledger with its learner, or a result of `nk.finalize` or `nk.parallel_perceptron`, to a model file.

    Args:
        what: Object to save.
        path: Model file.
        force: Whether to replace any file; by default only a model file or an empty file is replaced.
        without_rows: Whether to omit training rows, which only exact resuming needs: comparators restart, certificates
            stay as proved so far, and rounds that wait for their labels expire.

    Returns:
        Number of training rows in the file. With `without_rows` it is 0, except for learners whose hypothesis consists
        of training rows (kernels, votes).

    Example:
        >>> import os, tempfile
        >>> import novikoff as nk
        >>> path = os.path.join(tempfile.mkdtemp(), "model.nk")
        >>> ledger = nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1), (9, 1)])
        >>> nk.save(ledger, path)
        0
        >>> nk.load(path).mistakes
        3
    """
    write(snapshot(what, without_rows=without_rows), path, force)
    return rows_in(what, without_rows)


def rows_in(what: Ledger | OnlineToBatch | ParallelPerceptron, without_rows: bool = False) -> int:
    """Return the number of training rows in the model file of an object."""
    if isinstance(what, Ledger):
        return rows_held(what, without_rows)
    return what.rows_held


@runtime_checkable
class Result(Protocol):
    """The result of a finished game that a model file can hold: `OnlineToBatch` and `ParallelPerceptron`."""

    key: ClassVar[Literal["kept", "mixed"]]
    """Its key in meta.json."""

    @property
    def rows_held(self) -> int:
        """Number of training rows in its hypotheses."""

    def state(self) -> State:
        """Return its contents as plain data."""


@dataclass(frozen=True)
class Snapshot:
    """Contents of a model file, independent of the running game: plain values and copies of the arrays."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def snapshot(
    what: Ledger | OnlineToBatch | ParallelPerceptron, checked: bool = False, without_rows: bool = False
) -> Snapshot:
    """Return the present contents of a model file.

    Args:
        what: Ledger, kept classifier or mixture.
        checked: Whether the ledger is known to agree with its learner.
        without_rows: See `save`.
    """
    given: object = what
    if not isinstance(given, (Ledger, Result)):
        do = "Pass the ledger of nk.play, or the result of nk.finalize, first, and the path second."
        raise InputError("save needs a game or a classifier", f"got {shown(what)}", do)
    arrays: dict[str, Any] = {}
    meta: dict[str, Any] = {"novikoff": __version__, "format": FORMAT}
    if isinstance(what, Ledger):
        meta |= _plain(packed(what, checked, without_rows), arrays)
    else:
        meta[what.key] = _plain(what.state(), arrays)
    return Snapshot(meta, {name: np.array(array) for name, array in arrays.items()})


def write(what: Snapshot, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write a snapshot to `path` and flush it to disk; may be called from any thread."""
    check_place(path, force)
    target = Path(path)
    part = target.with_name(target.name + f".{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            pack(what, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        flush(target.absolute().parent)
    except OSError as error:
        raise ModelFileError(f"a model file must be writable: {target}: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


def pack(what: Snapshot, file: BinaryIO) -> None:
    """Write a snapshot to an open file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("meta.json", json.dumps(what.meta, allow_nan=False))
        for name, array in what.arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def flush(path: Path) -> None:
    """Flush a file, or the directory entries of a folder, to disk where the system allows it."""
    with contextlib.suppress(OSError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def check_place(path: str | os.PathLike[str], force: bool = False) -> None:
    """Raise `ModelFileError` if a model file would replace a file of another kind, unless forced."""
    check_replaced(path, "a model file", is_model, force, ModelFileError)


def is_model(path: str) -> bool:
    """Return whether the file at `path` is a model file of any version."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("meta.json") as meta:
            return meta.read(len(BEGIN)) == BEGIN
    except (OSError, KeyError, zipfile.BadZipFile):
        return False


def load(path: str | os.PathLike[str] | BinaryIO) -> Ledger | OnlineToBatch | ParallelPerceptron:
    """Return the ledger with its learner, the classifier or the mixture that was saved by `nk.save`.

    Args:
        path: Model file, or an open binary file. An untrusted file runs no code.

    Raises:
        ModelFileError: If the file is missing, of another kind, damaged, or inconsistent.

    Example:
        >>> import os, tempfile
        >>> import novikoff as nk
        >>> path = os.path.join(tempfile.mkdtemp(), "model.nk")
        >>> _ = nk.save(nk.play(nk.ThresholdHalving(10), [(5, -1), (8, -1)]), path)
        >>> ledger = nk.load(path)
        >>> nk.play(ledger.learner, [(9, 1)], ledger=ledger).rounds
        3
    """
    _check_kind(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if "meta.json" not in archive.namelist():
                raise _other_kind(path, "a zip archive without a model")
            arrays = _Unpacked(archive, _called(path))
            meta = json.loads(archive.read("meta.json"))
            if not isinstance(meta, dict) or "format" not in meta:
                raise _other_kind(path, "a zip archive without a model")
            check_format(meta, _called(path))
            return _restored(meta, arrays, path)
    except FileNotFoundError:
        raise ModelFileError(absent(path)) from None
    except ModelFileError:
        raise
    except MemoryError:
        raise ModelFileError(f"a model file must fit into memory: {path} does not, or is damaged.") from None
    except Exception as error:  # a damaged file may fail anywhere: in zlib, in json, in a learner's restore
        why = str(error) or type(error).__name__
        raise ModelFileError(f"a model file must be whole: {_called(path)} is damaged or was edited ({why}).") from None


KINDS = (
    (b"PK", ""), (b"\x80", "a pickle"), (b"ARROW1", "an Arrow file"), (b"PAR1", "a Parquet file"),
    (b"\x93NUMPY", "a NumPy array"), (b"\x1f\x8b", "a gzip file"), (b"<", "an HTML or XML page"),
    (b"{", "a JSON file"), (b"[", "a JSON file"),
)  # fmt: skip
"""First bytes of files and the kind they identify; a model file is a zip archive."""


def _check_kind(path: object) -> None:
    """Raise `ModelFileError` if `path` is not a file or is recognised as another kind."""
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "read") or not hasattr(path, "seek"):
            do = "It is in memory already: use it as it is." if isinstance(path, Ledger) else "Pass the path."
            raise ModelFileError("load needs a file", f"got {named(path)}", do)
        return
    if os.path.isdir(path):
        raise _other_kind(path, "a folder")
    try:
        with open(path, "rb") as file:
            begin = file.read(16)
    except OSError:  # reported where the file is opened
        return
    kind = next((kind for start, kind in KINDS if begin.startswith(start)), "a table or other text")
    if not begin or kind:
        raise _other_kind(path, kind if begin else "empty")


def _other_kind(path: object, kind: str) -> ModelFileError:
    return ModelFileError("a model file must be one that novikoff saved", f"{_called(path)} is {kind}", WRITTEN)


def _called(path: object) -> str:
    """Return the name of the file for a message."""
    return str(path) if isinstance(path, (str, os.PathLike)) else "the file"


def ledger_of(what: Snapshot) -> Ledger:
    """Return a copy of the ledger and its learner, independent of the originals."""
    found = _restored(what.meta, what.arrays.__getitem__, "a snapshot")
    assert isinstance(found, Ledger)
    return found


OTHERS = {
    "kept": ("novikoff.online_to_batch.finalize", "OnlineToBatch"),
    "mixed": ("novikoff.distributed.mixed", "ParallelPerceptron"),
}
"""Contents other than a game: key in meta.json, module and class."""


def _restored(meta: Any, array: Arrays, path: object) -> Ledger | OnlineToBatch | ParallelPerceptron:
    """Return the contents of a model file.

    Args:
        meta: Contents of meta.json.
        array: Function from an array's name to the array.
        path: Name of the file, for messages.
    """
    for key, (module, name) in OTHERS.items():
        if key in meta:
            other: Any = getattr(importlib.import_module(module), name)
            return cast("OnlineToBatch | ParallelPerceptron", other.restore(_from_plain(meta[key], array)))
    known = find(meta["learner"], "learner")
    if known is None:
        raise ModelFileError(
            f"the learner of a model file must be registered here: {_called(path)} holds {meta['learner']!r}. "
            "Install the package that provides it, or call nk.register first."
        )
    kind: Any = known.load()
    state = _from_plain(meta["state"], array)
    return restore(_from_plain(meta["ledger"], array), adapt(kind.restore(state)), from_file=True)


def load_game(path: str | os.PathLike[str] | BinaryIO) -> Ledger:
    """Return the ledger saved at `path`; raise `ModelFileError` for a classifier or a mixture."""
    saved = load(path)
    if isinstance(saved, Ledger):
        return saved
    what = "a result of parallel_perceptron" if saved.key == "mixed" else "a classifier made by finalize"
    raise ModelFileError(f"only a game can be resumed: {_called(path)} has {what}.")


def _plain(value: object, arrays: dict[str, object]) -> Any:
    """Return a value as JSON; arrays are replaced by their names in the zip, long integers by their digits."""
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"__array__": name}
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return {"__int__": f"{value:x}"}
    if isinstance(value, dict):
        return {key: _plain(item, arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, arrays) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    what = value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"
    raise ModelFileError(
        f"only plain data can be saved: {what} is not. Pickle it, and load only pickles that you trust."
    )


def _from_plain(value: object, array: Arrays, depth: int = 0) -> Any:
    """Invert `_plain`; `array` returns an array by its name, `depth` is that of the value."""
    if depth > DEEPEST:
        raise ModelFileError(f"a model file must nest values at most {DEEPEST} deep: this one goes deeper.")
    if isinstance(value, list):
        return [_from_plain(item, array, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"__array__"}:
        return array(value["__array__"])
    if set(value) == {"__float__"}:
        return float(value["__float__"])
    if set(value) == {"__int__"}:
        return int(value["__int__"], 16)
    return {key: _from_plain(item, array, depth + 1) for key, item in value.items()}


class _Unpacked:
    """Arrays of a model file by name; each may be read only once, so that a small file cannot fill the memory.

    Args:
        archive: Open model file.
        called: Name of the file, for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, called: str) -> None:
        entries = archive.infolist()
        size, most = sum(entry.file_size for entry in entries), _size(archive) * MOST_TIMES + SPARE
        if size > most:
            must = f"a model file of this size must unpack to at most {most:,} bytes"
            raise ModelFileError(must, f"{called} has {size:,}")
        self._archive, self._taken, self._called = archive, set[str](), called

    def __call__(self, name: str) -> NDArray[Any]:
        if name in self._taken:
            must = "each array of a model file must be named once"
            raise ModelFileError(must, f"{self._called} names {shown(name)} more often")
        self._taken.add(name)
        return _array(self._archive.read(f"{name}.npy"))


def _size(archive: zipfile.ZipFile) -> int:
    """Return the size of an open archive in bytes."""
    file = cast(BinaryIO, archive.fp)
    place = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(place)
    return size


def _array(data: bytes) -> NDArray[Any]:
    """Return the array of a .npy entry; check its size first, so that a false header allocates nothing."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ModelFileError(
            f"an array must have the size that its header states: {shape} of {dtype} is not {len(data):,} bytes."
        )
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
