"""Messages of the service: requests, replies and refusals, as JSON.

A repeated key is refused, as in JSON lines. The types below define the bodies; /openapi.json is generated from them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypeVar

import msgspec

from novikoff.data.formats.jsonl import unrepeated
from novikoff.data.formats.lines import BadLineError

MOST_ID = 200
"""Largest number of characters of an id."""
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
"""Valid name of a model."""
Kind = Literal["predict", "label", "learn"]

STATUS = {
    "bad_json": 400, "bad_request": 400, "unconfirmed": 400, "unauthorized": 401, "foreign": 403, "forbidden": 403,
    "unknown_model": 404, "unknown_id": 404, "nothing_here": 404, "wrong_method": 405, "id_taken": 409, "frozen": 409,
    "label_differs": 409, "model_differs": 409, "too_slow": 408,
    "expired": 410, "too_large": 413, "bad_example": 422, "bad_label": 422, "bad_model": 422, "pending_full": 429,
    "rate_limited": 429, "models_full": 429, "certificate_failed": 500, "overloaded": 503, "storage_failed": 503,
    "not_ready": 503,
}  # fmt: skip
"""HTTP status of each error code."""


class RefusedError(Exception):
    """A refused request: an error code, and a message."""

    def __init__(self, code: str, message: str, id: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.id = code, message, id

    @property
    def status(self) -> int:
        """HTTP status."""
        return STATUS[self.code]

    def fields(self) -> dict[str, Any]:
        """Return the JSON body."""
        return {"error": {"code": self.code, "message": self.message, "id": self.id}}


class Predict(msgspec.Struct, forbid_unknown_fields=True):
    """Predict x: an object of features, an array of numbers, or a number.

    `why` asks for an explanation, `probabilities` for the probability of each label. Without `record` nothing is
    stored: the round has no number and takes no label, and it is answered on a full disk too.
    """

    id: str
    x: Any = None
    why: bool = False
    probabilities: bool = False
    record: bool = True
    kind = "predict"


class Label(msgspec.Struct, forbid_unknown_fields=True):
    """Label a predicted round."""

    id: str
    label: Any
    kind = "label"


class Learn(msgspec.Struct, forbid_unknown_fields=True):
    """Predict and label in one request."""

    id: str
    label: Any
    x: Any = None
    kind = "learn"


class Model(msgspec.Struct, forbid_unknown_fields=True):
    """A model to create.

    Attributes:
        learner: Spec, such as "perceptron:bias=1".
        negative: User's name of the label -1.
        positive: User's name of the label +1.
        labels: "multiclass" for any number of labels, in order of appearance; None for two labels, or numbers.
        bits: Bits of the feature hash, for objects of features.
        schema: None to hash objects of features. {} to encode them like rows of a table, with text, dates and null:
            kinds are detected from the first row that is learned. Or the kind of each column: {"age": "number"}.
        seed: Random seed of the learner.
        most_pending: Largest number of rounds waiting for their labels.
        expire_seconds: Seconds after which a round stops waiting; None for never.
        keep_examples: Number of last labelled rounds whose x stays stored; earlier ones are dropped once two
            snapshots include them. None for all.
    """

    learner: str
    negative: str | int | float | bool | None = None
    positive: str | int | float | bool | None = None
    labels: Literal["multiclass"] | None = None
    bits: int = 18
    schema: dict[str, str] | None = None
    seed: int = 0
    most_pending: int = 1_000_000
    expire_seconds: float | None = None
    keep_examples: int | None = None


class Predicted(msgspec.Struct):
    """A prediction; `version` is the number of labels learned before it.

    With `why`, the score as a sum over the features of x; with `probabilities`, a list of labels and probabilities; of
    conformal models, the prediction set: labels, or the ends of an interval (null is infinite). Each is null if the
    answer is repeated and labels were learned since. With a model file for which a threshold was chosen, `decision` is
    the label by that threshold; `prediction` stays the learner's own, which counts and certificates are about. `member`
    is the model of a team that was followed. `round` is null if the prediction was not recorded.
    """

    id: str
    round: int | None
    prediction: Any
    score: float | None
    version: int
    repeated: bool
    why: Any | msgspec.UnsetType = msgspec.UNSET
    probabilities: Any | msgspec.UnsetType = msgspec.UNSET
    set: Any | msgspec.UnsetType = msgspec.UNSET
    decision: Any | msgspec.UnsetType = msgspec.UNSET
    member: str | msgspec.UnsetType = msgspec.UNSET


class Labelled(msgspec.Struct):
    """A learned label, the `arrival`-th; `prediction` is the served one."""

    id: str
    round: int
    arrival: int
    prediction: Any
    label: Any
    mistake: bool | None
    repeated: bool


class Freeze(msgspec.Struct, forbid_unknown_fields=True):
    """Freeze a model, or let it learn again. A frozen model refuses labels and records no predictions."""

    frozen: bool


class Rollback(msgspec.Struct, forbid_unknown_fields=True):
    """Set a model back to what it was after that many labels."""

    labels: int


class Shadow(msgspec.Struct, forbid_unknown_fields=True):
    """A learner that learns from the rows of a model from now on, and is not served."""

    learner: str
    seed: int = 0


class Team(msgspec.Struct, forbid_unknown_fields=True):
    """A new model that follows one of several deployed models, drawn for each id by weights that learn.

    Attributes:
        models: Names of the deployed models, which are copied.
        by: "exponential-weights", "ada-hedge", or "fixed-share", whose best model may change `switches` times in
            `horizon` labels.
        horizon: Number of labels, if known.
        switches: Number of changes of the best model.
        seed: Seed of the draws.
    """

    models: list[str]
    by: Literal["exponential-weights", "ada-hedge", "fixed-share"] = "exponential-weights"
    horizon: int | None = None
    switches: int | None = None
    seed: int = 0


RoundRequest = Predict | Label | Learn
KINDS: dict[str, type[RoundRequest]] = {"predict": Predict, "label": Label, "learn": Learn}
ROWS = json.JSONDecoder(object_pairs_hook=unrepeated, parse_int=float)
"""Decoder of examples, whose numbers are doubles."""
PLAIN = json.JSONDecoder(object_pairs_hook=unrepeated)
"""Decoder of options, whose integers stay integers."""
encode = msgspec.json.Encoder(enc_hook=float).encode  # numpy numbers and fractions become floats
T = TypeVar("T")


def decode(body: bytes, decoder: json.JSONDecoder = ROWS) -> Any:
    """Decode JSON whose objects have each key once.

    msgspec is six times as fast as json, but accepts repeated keys. Every key has a colon: if there are as many keys as
    colons, none was repeated. Otherwise, as when a text contains a colon, and on any error, json decodes the body.
    """
    try:
        found = msgspec.json.decode(body)
        if body.count(b":") == _keys(found):
            return found
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    try:
        found = decoder.decode(body.decode())
        json.dumps(found, ensure_ascii=False).encode()  # json accepts half of a surrogate pair, which has no UTF-8
        return found
    except UnicodeEncodeError:
        raise RefusedError("bad_json", "a text has half of a surrogate pair, which is no character.") from None
    except UnicodeDecodeError:
        raise RefusedError("bad_json", "the body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise RefusedError("bad_json", f"the body is not JSON: {error.msg} at character {error.pos + 1}.") from None
    except BadLineError as error:
        raise RefusedError("bad_json", str(error.error(b""))) from None
    except (RecursionError, ValueError):  # too deep, or a number of 5,000 digits
        raise RefusedError("bad_json", "the body is nested too deeply, or has too long a number.") from None


def _keys(found: object) -> int:
    """Return the number of keys, including nested ones."""
    if type(found) is dict:
        return len(found) + sum(_keys(one) for one in found.values() if type(one) is dict or type(one) is list)
    return sum(map(_keys, found)) if type(found) is list else 0


def request(found: object, kind: type[T]) -> T:
    """Convert a decoded body to one of the types above."""
    try:
        return msgspec.convert(found, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RefusedError("bad_request", f"invalid request: {error}. See /docs.") from None


def round_request(found: object, kind: type[RoundRequest]) -> RoundRequest:
    """Return a request for a round, with a valid id."""
    one = request(found, kind)
    if not 0 < len(one.id) <= MOST_ID or not one.id.isprintable():
        raise RefusedError("bad_request", f"an id must be 1 to {MOST_ID} printable characters.")
    return one


def bulk_line(line: bytes) -> RoundRequest:
    """Decode a line of a bulk request: {"op": "predict", …}."""
    found = decode(line)
    if not isinstance(found, dict):
        raise RefusedError("bad_request", "a line must be one JSON object.")
    kind = found.pop("op", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise RefusedError("bad_request", "op must be predict, label or learn.", _id(found))
    try:
        return round_request(found, KINDS[kind])
    except RefusedError as refusal:
        refusal.id = _id(found)
        raise


def _id(found: dict[str, object]) -> str | None:
    """Return the id if it is valid, else None."""
    one = found.get("id")
    return one if isinstance(one, str) and len(one) <= MOST_ID and one.isprintable() else None


def checked_name(name: str) -> str:
    """Return the name of a model if it is valid; it is the name of its folder too."""
    if not NAME.fullmatch(name):
        raise RefusedError(
            "bad_request", "a model's name must be 1 to 64 of a-z, 0-9, . _ and -, starting with a letter or digit."
        )
    return name
