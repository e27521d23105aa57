"""What goes over the wire: requests, replies and refusals, as JSON.

A key that is there twice is refused, as in JSON lines. What bodies must hold is said once, by the types below, which
/openapi.json tells too.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypeVar

import msgspec

from novikoff.data.formats.jsonl import unrepeated
from novikoff.data.formats.lines import BadLineError

MOST_ID = 200
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
Kind = Literal["predict", "label", "learn"]

STATUS = {
    "bad_json": 400, "bad_request": 400, "unconfirmed": 400, "unauthorized": 401, "foreign": 403,
    "unknown_model": 404, "unknown_id": 404, "nothing_here": 404, "wrong_method": 405, "id_taken": 409,
    "label_differs": 409, "model_differs": 409,
    "expired": 410, "too_large": 413, "bad_example": 422, "bad_label": 422, "bad_model": 422, "pending_full": 429,
    "models_full": 429, "overloaded": 503, "storage_failed": 503, "not_ready": 503,
}  # fmt: skip
"""The codes of errors, and the HTTP status of each."""


class RefusedError(Exception):
    """A request that is refused: its code, and what must be."""

    def __init__(self, code: str, message: str, id: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.id = code, message, id

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def told(self) -> dict[str, Any]:
        """As it is sent."""
        return {"error": {"code": self.code, "message": self.message, "id": self.id}}


class Predict(msgspec.Struct, forbid_unknown_fields=True):
    """What does the learner say of x? `x` is an object of features, an array of numbers, or a number."""

    id: str
    x: Any = None
    kind = "predict"


class Label(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a round that was predicted."""

    id: str
    label: Any
    kind = "label"


class Learn(msgspec.Struct, forbid_unknown_fields=True):
    """Predict and label at once."""

    id: str
    label: Any
    x: Any = None
    kind = "learn"


class Model(msgspec.Struct, forbid_unknown_fields=True):
    """A model to be made.

    learner          its spec: "perceptron:bias=1"
    negative         what the user calls -1
    positive         what the user calls +1
    labels           "multiclass": any values, numbered as they come; None: two, or numbers, as the learner has it
    bits             features of objects are hashed to 2^bits places
    seed             of the learner's coins
    most_pending     rounds that may wait for their labels
    expire_seconds   after so many a round waits no longer; None: for ever
    keep_examples    of so many of the last labelled rounds x is kept, once two snapshots know the others; None: of all
    """

    learner: str
    negative: str | int | float | bool | None = None
    positive: str | int | float | bool | None = None
    labels: Literal["multiclass"] | None = None
    bits: int = 18
    seed: int = 0
    most_pending: int = 1_000_000
    expire_seconds: float | None = None
    keep_examples: int | None = None


class Predicted(msgspec.Struct):
    """What was said: `version` labels had been learned by then."""

    id: str
    round: int
    prediction: Any
    score: float | None
    version: int
    repeated: bool


class Labelled(msgspec.Struct):
    """A label that was learned, as the `arrival`-th; `prediction` is what had been said."""

    id: str
    round: int
    arrival: int
    prediction: Any
    label: Any
    mistake: bool | None
    repeated: bool


Asked = Predict | Label | Learn
KINDS: dict[str, type[Asked]] = {"predict": Predict, "label": Label, "learn": Learn}
ROWS = json.JSONDecoder(object_pairs_hook=unrepeated, parse_int=float)
PLAIN = json.JSONDecoder(object_pairs_hook=unrepeated)
encode = msgspec.json.Encoder(enc_hook=float).encode  # numpy's numbers, and fractions
T = TypeVar("T")


def decode(body: bytes, decoder: json.JSONDecoder = ROWS) -> Any:
    """JSON whose objects have each key once.

    msgspec is six times as fast as json, and lets a key be there twice. Each key has a colon: where there are as many
    keys as colons, none was. Where not, as when a text has a colon in it, and where anything is wrong, json reads it.
    """
    try:
        found = msgspec.json.decode(body)
        if body.count(b":") == _keys(found):
            return found
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    try:
        return decoder.decode(body.decode())
    except UnicodeDecodeError:
        raise RefusedError("bad_json", "a body must be UTF-8: it is not.") from None
    except json.JSONDecodeError as error:
        raise RefusedError("bad_json", f"a body must be JSON: {error.msg} at character {error.pos + 1}.") from None
    except BadLineError as error:
        raise RefusedError("bad_json", str(error.error(b""))) from None
    except (RecursionError, ValueError):  # so deep, or a number of 5,000 digits
        raise RefusedError("bad_json", "a body must be plain: it is too deep, or has too long a number.") from None


def _keys(found: object) -> int:
    """How many keys there are, also in what is within."""
    if type(found) is dict:
        return len(found) + sum(_keys(one) for one in found.values() if type(one) is dict or type(one) is list)
    return sum(map(_keys, found)) if type(found) is list else 0


def request(found: object, kind: type[T]) -> T:
    """What was asked, as one of the types above."""
    try:
        return msgspec.convert(found, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RefusedError("bad_request", f"a request must be as /docs tells: {error}.") from None


def asked(found: Any, kind: type[Asked]) -> Asked:
    """A request of a round, whose id was checked."""
    one = request(found, kind)
    if not 0 < len(one.id) <= MOST_ID or not one.id.isprintable():
        raise RefusedError("bad_request", f"an id must be 1 to {MOST_ID} printable characters.")
    return one


def bulk_line(line: bytes) -> Asked:
    """A line of a bulk request: {"op": "predict", …}."""
    found = decode(line)
    if not isinstance(found, dict):
        raise RefusedError("bad_request", "a line must be one JSON object.")
    kind = found.pop("op", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise RefusedError("bad_request", "op must be predict, label or learn.", _id(found))
    try:
        return asked(found, KINDS[kind])
    except RefusedError as refusal:
        refusal.id = _id(found)
        raise


def _id(found: dict[str, object]) -> str | None:
    """The id, if it can be told."""
    one = found.get("id")
    return one if isinstance(one, str) and len(one) <= MOST_ID and one.isprintable() else None


def checked_name(name: str) -> str:
    """The name of a model, which is that of a folder too."""
    if not NAME.fullmatch(name):
        raise RefusedError(
            "bad_request", "the name of a model must be 1 to 64 of a-z, 0-9, . _ and -, the first a letter or a digit."
        )
    return name
