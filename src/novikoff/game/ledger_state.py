"""Conversion of ledgers to plain data and back, for model files and pickles.

Plain values are declared as fields. Parts are not, because some need the learner to be restored, and some are imported
only if the file has them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from novikoff.comparators.tracker import restored
from novikoff.core.certificate import RANK, Assumption, Certificate
from novikoff.core.errors import Advice, ModelFileError, Option
from novikoff.core.learner import Learner
from novikoff.core.nesting import restored as restored_learner
from novikoff.core.nesting import saved
from novikoff.core.state import (
    Count,
    Field,
    Number,
    Sum,
    Tuples,
    Value,
    Values,
    integer,
    leaving_out_rows,
    require,
)
from novikoff.core.stream import Target
from novikoff.core.types import State
from novikoff.data.tables.encoding import Encoding
from novikoff.game.baselines import Baselines
from novikoff.game.ledger import Ledger, Proved
from novikoff.game.ledger_checks import check
from novikoff.game.metrics import Calibration, Ranking, ServedMetrics, WeightedMetrics

FORMAT = 3
"""Version of the format of saved games; 3 since `auto` includes trees."""

STORED = "the certificate in the file is correct; the file has no rows to recompute it from"
"""Assumption of a certificate that was loaded without its rows."""

WRITTEN = Advice("Pass a file that ", Option("save"), " wrote.")
"""Advice for a file that is not a model file."""

PARTS = ("baselines", "ranking", "calibration", "coverage", "encoding", "tracker", "reservoir", "late", "drift",
         "threshold")  # fmt: skip
"""Parts of a ledger with their own `state`; some may be None."""
MEASURED = ("baselines", "ranking", "calibration", "coverage")
"""Parts of `Metrics`."""
COUNTED: tuple[Field, ...] = (
    *map(Count, ("rounds", "mistakes", "positives", "impossible")),
    Count("_next", 1),
    Value("deterministic", bool),
    *(Sum(name, at=f"_{name}") for name in ("expected", "paid", "log_loss", "brier", "errors", "squares")),
    Tuples("curve", (int, int | float)),
)
"""Saved values of `Metrics`."""
WEIGHTED: tuple[Field, ...] = (Count("rows"), *COUNTED)
"""Saved values of `WeightedMetrics`."""
SERVED: tuple[Field, ...] = (Count("unknown"), *WEIGHTED)
"""Saved values of `ServedMetrics`."""
LEDGER: tuple[Field, ...] = (
    *COUNTED,
    Value("source", str),
    Value("spec", str),
    Number("seconds", 0.0),
    Value("fixed", bool),
    Value("repeated", bool),
    Value("position", dict | None),
    Value("fingerprint", dict | None),
    Values("earlier", dict),
    Values("labels", str | int | float | bool | None, optional=True),
    Values("feature_names", str, optional=True),
    *map(Count, ("passes", "answered")),
    Count("weighed", default=int),
    Tuples("bounds", (int, float)),
)
"""Saved values of a ledger."""


def state_of(ledger: Ledger, without_rows: bool = False) -> State:
    """Return the ledger, without the learner, as plain data.

    Args:
        ledger: Ledger of a game on a stream.
        without_rows: Whether to omit everything that holds training rows: comparators, whose certificates are stored
            instead, and rounds that wait for their labels, which expire.
    """
    if ledger.adversary is not None:
        raise ModelFileError("a game against an adversary cannot be saved.")
    if without_rows:
        ledger = _bare(ledger, ledger.certify(), ledger.certify_members())
    return _state_of(ledger)


def rows_held(ledger: Ledger, without_rows: bool = False) -> int:
    """Return the number of training rows, and of rows that wait for their labels, in a file of the ledger."""
    held = ledger.player.all_rows_held
    if without_rows:
        return held
    trackers = [one.tracker for one in (ledger, *ledger.members) if one.tracker is not None]
    stored = max(ledger.player.all_rows_stored, max((tracker.rows_held for tracker in trackers), default=0))
    seen = min(ledger.rounds, held + stored)
    pending = None if ledger.late is None else ledger.late.pending
    return seen + (0 if pending is None else len(pending.waiting))


def _bare(ledger: Ledger, certificates: list[Certificate], members: list[list[Certificate]]) -> Ledger:
    """Return the ledger without rows."""
    proved = Proved(ledger.rounds, tuple(certificates)) if ledger.proved is None else ledger.proved
    late = None if ledger.late is None else ledger.late.without_rows()
    bare = [_bare(member, proofs, []) for member, proofs in zip(ledger.members, members, strict=True)]
    return dataclasses.replace(ledger, tracker=None, hindsight=None, late=late, proved=proved, members=bare)


def _state_of(ledger: Ledger) -> State:
    parts = {name: getattr(ledger, name) for name in PARTS}
    proved = ledger.proved
    return {
        **{field.name: field.saved(ledger) for field in LEDGER},
        **{name: None if part is None else part.state() for name, part in parts.items()},
        "target": None if ledger.target is None else list(ledger.target),
        "before": dataclasses.asdict(ledger.before),
        "predictions": None if ledger.predictions is None else ledger.recorded(),
        "members": [_state_of(member) for member in ledger.members],
        "weighted": None if ledger.weighted is None else _measured(ledger.weighted, WEIGHTED),
        "served": None if ledger.late is None or ledger.late.served is None else _measured(ledger.late.served, SERVED),
        "proved": None
        if proved is None
        else {"rounds": proved.rounds, "certificates": [certificate_state(one) for one in proved.certificates]},
    }


def _measured(weighted: WeightedMetrics, fields: tuple[Field, ...]) -> State:
    """Return the counts of rows by weight, or of served predictions, as plain data."""
    parts = {name: getattr(weighted, name) for name in MEASURED}
    return {
        **{field.name: field.saved(weighted) for field in fields},
        **{name: None if part is None else part.state() for name, part in parts.items()},
    }


def certificate_state(certificate: Certificate) -> State:
    """Return a certificate as plain data, without quantities that are not plain."""
    fields = dataclasses.asdict(certificate)
    return {**fields, "quantities": {name: value for name, value in fields["quantities"].items() if _is_plain(value)}}


def restored_certificate(state: State) -> Certificate:
    """Return the certificate of a saved state; raise `ModelFileError` if it contradicts itself."""
    found = Certificate(**{**state, "assumptions": tuple(Assumption(**one) for one in state["assumptions"])})
    numbers = [value for value in (found.observed, found.bound, found.trivial) if value is not None]
    sound = found.status in RANK and found.side in ("upper", "lower") and found.kind in ("D", "E", "P")
    sound &= all(type(value) in (int, float) for value in numbers) and isinstance(found.quantities, dict)
    sound &= all(type(text) is str for text in (found.theorem, found.reason, found.quantity, found.reference))
    if sound and found.status == "valid" and found.kind == "D":
        bound, observed = found.bound, found.observed
        sound = bound is not None and (observed <= bound if found.side == "upper" else observed >= bound)
    require(sound, "a certificate must be consistent", f"{found.theorem}: {found.status}")
    return found


def _on_trust(certificate: Certificate) -> Certificate:
    """Return the certificate with status conditional, since it cannot be recomputed without the comparators."""
    stored = Assumption(STORED, "trusted")
    if certificate.bound is None or stored in certificate.assumptions:
        return certificate
    fields = {"status": "conditional", "reason": f"not checked: {STORED}"} if certificate.status == "valid" else {}
    if certificate.status == "conditional":
        fields = {"reason": f"{certificate.reason}; {STORED}"}
    return dataclasses.replace(certificate, assumptions=(*certificate.assumptions, stored), **fields)  # type: ignore[arg-type]


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic))


def packed(ledger: Ledger, checked: bool = False, without_rows: bool = False) -> State:
    """Return the ledger and its learner as plain data; `checked` if they are known to agree."""
    if not checked:
        check(ledger)  # a learner that learned without its ledger could not be restored
    with leaving_out_rows(without_rows):
        return {"format": FORMAT, **saved(ledger.player), "ledger": state_of(ledger, without_rows)}


def unpacked(state: State) -> Ledger:
    """Return the ledger that was packed, with its learner; arrays may be read-only or mapped."""
    check_format(state, "the pickle")
    state = _owned(state)
    return restore(state["ledger"], restored_learner(state))


def check_format(saved: object, where: str) -> None:
    """Raise `ModelFileError` if data has another format version; `where` is the file, for the message."""
    found = saved.get("format", 1) if isinstance(saved, dict) else None
    if type(found) is int and found == FORMAT:
        return
    must = f"a saved model must be of format {FORMAT}"
    if type(found) is int and 1 <= found < FORMAT:
        do = "Learn from the data again, or load it with that version."
        raise ModelFileError(must, f"{where} is of format {found}, written by an earlier version of novikoff", do)
    if type(found) is int and found > FORMAT:
        do = "Install that version to load it."
        raise ModelFileError(must, f"{where} is of format {found}, written by a later version of novikoff", do)
    raise ModelFileError(must, f"{where} has no format version", WRITTEN)


def _owned(value: object) -> Any:
    """Return the value with copies of all arrays."""
    if isinstance(value, dict):
        return {key: _owned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_owned(item) for item in value]
    return np.array(value) if isinstance(value, np.ndarray) else value


def restore(state: State, learner: Learner, from_file: bool = False) -> Ledger:
    """Return the ledger of `learner` with this saved state.

    Args:
        state: Saved state.
        learner: Restored learner.
        from_file: Whether certificates that cannot be recomputed become conditional; a pickle is trusted.
    """
    from novikoff.drift.monitor import DriftWatch
    from novikoff.game.coverage import Coverage
    from novikoff.game.delayed.late import Late
    from novikoff.game.reservoir import HypothesisReservoir
    from novikoff.game.thresholds import Threshold

    makers: dict[str, Any] = {
        "baselines": Baselines.restore,
        "ranking": Ranking.restore,
        "calibration": Calibration.restore,
        "coverage": Coverage.restore,
        "encoding": Encoding.restore,
        "tracker": restored,
        "reservoir": lambda part: HypothesisReservoir.restore(part, learner),
        "late": Late.restore,
        "drift": lambda part: DriftWatch.restore(part, learner),
        "threshold": Threshold.restore,
    }
    members = zip(state["members"], learner.learners, strict=True)
    fields: dict[str, Any] = {
        **_read(LEDGER, state),
        **{name: makers[name](state[name]) for name in PARTS if state.get(name) is not None},
        "target": Target(*map(str, state["target"])) if state.get("target") else None,
        "before": _facts_before(state["before"], learner.facts()),
        "predictions": None if state["predictions"] is None else [_predictions(state)],
        "members": [restore(*pair, from_file) for pair in members],
    }
    if state["weighted"] is not None:
        fields["weighted"] = WeightedMetrics(learner, **_counted(state["weighted"], WEIGHTED, makers))
    if state.get("served") is not None and (late := fields.get("late")) is not None:
        late.served = ServedMetrics(learner, **_counted(state["served"], SERVED, makers))
        late.served.coverage = fields.get("coverage")  # one record, counted on arrival
    if (proved := state["proved"]) is not None:
        kept = map(restored_certificate, proved["certificates"])
        certificates = tuple(map(_on_trust, kept) if from_file else kept)
        fields["proved"] = Proved(integer(proved, "rounds", 0, state["rounds"], of="certificates"), certificates)
    ledger = Ledger(learner, **fields)
    check(ledger)
    return ledger


def _counted(state: State, fields: tuple[Field, ...], makers: dict[str, Any]) -> dict[str, Any]:
    """Return the validated counts of `_measured`, as arguments of the constructor."""
    parts = {name: makers[name](state[name]) for name in MEASURED if state[name] is not None}
    return {**_read(fields, state), **parts}


def _read(fields: tuple[Field, ...], state: State) -> dict[str, Any]:
    """Return the validated values of a saved state, as arguments of the constructor."""
    return {field.path: field.restored(state, None, "a ledger") for field in fields}


def _predictions(state: State) -> Any:
    """Return the saved prediction of each round."""
    found = state["predictions"]
    sound = isinstance(found, np.ndarray) and found.ndim in (1, 2) and found.dtype.kind in "iuf"
    require(sound, "predictions of a ledger must be an array of numbers", found)
    return found


def _facts_before(saved: State, now: Any) -> Any:
    """Return the learner's facts when the game started, after checking their types against the facts `now`."""
    before = type(now)(**saved)
    for part in dataclasses.fields(now):
        then, since = getattr(before, part.name), getattr(now, part.name)
        if not (type(then) is type(since) or {type(then), type(since)} <= {int, float}):
            raise ModelFileError(f"{part.name} of a ledger must have the type that the learner uses: got {then!r}.")
    return before
