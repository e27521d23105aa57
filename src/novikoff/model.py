"""The model file: one zip of meta.json and .npy arrays. Reading one from a stranger runs no code.

It holds the learner's state and the ledger, so that a game that goes on later is certified as a whole. It is
written beside its place, flushed to the disk and moved there, so a crash leaves the old file or the new one.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from novikoff import __version__
from novikoff.catalog import entry, learner_name
from novikoff.errors import ModelFileError
from novikoff.ledger import Ledger

FORMAT = 1


def save(ledger: Ledger, path: str | os.PathLike[str]) -> None:
    """Write the ledger and its learner to `path`."""
    arrays: dict[str, Any] = {}
    meta = {
        "novikoff": __version__,
        "format": FORMAT,
        "learner": learner_name(type(ledger.learner)),
        "state": _without_arrays(ledger.learner.state(), arrays),
        "ledger": _without_arrays(ledger.state(), arrays),
    }
    target = Path(path)
    beside = target.with_name(target.name + f".{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("meta.json", json.dumps(meta, allow_nan=False))
                for name, array in arrays.items():
                    with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise ModelFileError(f"a model file must be writable: {target}: {error.strerror}.") from None
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> Ledger:
    """The ledger saved at `path`, with its learner, ready to go on."""
    try:
        with zipfile.ZipFile(path) as archive:
            meta = json.loads(archive.read("meta.json"))
            if not isinstance(meta, dict) or meta.get("format") != FORMAT:
                raise ModelFileError(f"a model file must be of format {FORMAT}: {path} is not.")
            state = _with_arrays(meta["state"], archive)
            kind: Any = entry(meta["learner"], "learner").load()
            return Ledger.restore(_with_arrays(meta["ledger"], archive), kind.restore(state))
    except FileNotFoundError:
        raise ModelFileError(f"a model file must exist: there is none at {path}.") from None
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"a model file must be whole: {path} is not one of ours ({error}).") from None


def _without_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    """The value with each array replaced by the name it has in the zip."""
    if isinstance(value, np.ndarray):
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"__array__": name}
    if isinstance(value, dict):
        return {key: _without_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(item, arrays) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _with_arrays(value: Any, archive: zipfile.ZipFile) -> Any:
    """The inverse of `_without_arrays`."""
    if isinstance(value, dict):
        if set(value) == {"__array__"}:
            data = io.BytesIO(archive.read(f"{value['__array__']}.npy"))
            return np.lib.format.read_array(data, allow_pickle=False)
        return {key: _with_arrays(item, archive) for key, item in value.items()}
    return [_with_arrays(item, archive) for item in value] if isinstance(value, list) else value
