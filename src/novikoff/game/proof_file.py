"""Proof files: the certificates of a game with what they follow from, for `novikoff verify` (docs/proofs.md).

`nk.play(..., proof=True)` records a digest of the rows as the learner played them, and which rounds were mistakes;
`Ledger.write_proof` adds the witness of each theorem (`witnessed` in core/certificate.py). No row is in a proof file.
The checker is the package novikoff_verify, which imports nothing of this one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.certificate import Certificate, DeclaredTheorem
from novikoff.core.display import Shown
from novikoff.core.errors import Advice, InputError, Option, counted
from novikoff.core.observer import Observer
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.core.types import Batch, Run, Sparse, StepResult, Theorem
from novikoff.kernel.kernel_learner import KernelLearner
from novikoff.mixtures.theorems.top_facts import TopFacts
from novikoff.mixtures.top_tracker import NumbersTracker, SwitchingTracker

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

FORMAT, VERSION = "novikoff-proof", 1
KINDS = {"vector": "vectors", "index": "points", "point": "points", "losses": "losses"}
"""Kind of rows by the domain of a learner."""
IN_ADVANCE = "n fixed in advance"
"""When a limit on the risk holds for one number of rounds, as its certificate prints it."""
FINEST = 1074
"""Every double is a whole multiple of 2^-1074."""
MOST_POINTS = 5_000
"""Largest number of rows, from the first, that may be centers of a function in the space of a kernel."""


class ProofRecord(Observer, Shown):
    """Digest of the rows of a game, and its mistakes.

    Args:
        ledger: Ledger of the game, before its first round.
        rows: File to write the canonical text of the rows to; None for none.
        force: Whether to replace any file.
    """

    def __init__(self, ledger: Ledger, rows: str | None = None, force: bool = False) -> None:
        if ledger.rounds or ledger.rounds_before:
            raise InputError("a proof must be recorded from the first round", f"{ledger.rounds:,} were played")
        self._ledger, self._player, self._digest = ledger, ledger.player, hashlib.sha256()
        self._wrong: list[NDArray[np.bool_]] = []
        self._first: dict[str, int] = {}  # number of the first row with this text, without its label
        self._widest = 0.0
        self._sets: list[NDArray[np.float64]] = []  # group of each round, and whether the outcome was missed
        self.mixture: SwitchingTracker | NumbersTracker | None = None
        """Tracker of the forecasts, if they are recorded instead of the rows of the source."""
        self.rounds = self.bits = self._seen = 0
        self._points = isinstance(ledger.player.within, KernelLearner)  # whether comparators consist of rows
        self.kind = KINDS.get(ledger.player.domain.kind, "")
        if self.kind == "vectors" and ledger.player.task == "regression":
            self.kind = "outcomes"
        if not self.kind:
            name = type(ledger.player.within.original).__name__
            raise InputError(f"a proof needs rows of numbers: {name} plays on {ledger.player.domain}. Leave it out.")
        self.path = rows
        """File of the rows; None if they are not written."""
        self._file: IO[str] | None = None  # open until the proof is written
        if rows is not None:
            check_replaced(rows, "a file of rows", is_rows, force, InputError)
            self._file = open(rows, "w", encoding="ascii", newline="\n")  # noqa: SIM115

    def __repr__(self) -> str:
        return f"<ProofRecord: {counted(self.rounds, 'round')}, SHA-256 {self.sha256[:12]}>"

    def __deepcopy__(self, memo: dict[int, object]) -> ProofRecord:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied.mixture = None
        copied._digest, copied._wrong, copied._file = self._digest.copy(), list(self._wrong), None
        copied._sets, copied._first = list(self._sets), dict(self._first)
        return copied

    @property
    def sha256(self) -> str:
        """Digest of the rows so far."""
        return self._digest.hexdigest()

    def see(self, batch: Batch, result: StepResult) -> None:
        """Add rounds that were played, as the learner saw their rows."""
        tracker = self._ledger.tracker
        if tracker is not None and tracker.scored and result.scores is not None:
            inner = tracker.inner(np.asarray(result.scores))
            self.mixture = inner if isinstance(inner, (SwitchingTracker, NumbersTracker)) else None
        if self.mixture is not None:
            self.kind, table = self.mixture.recorded(np.asarray(batch.y), np.asarray(result.scores))
            lines = text_of(table)
        else:
            lines = self._lines(self._player.seen_batch(batch))
        text = "".join(line + "\n" for line in lines)
        self._digest.update(text.encode())
        if self._file is not None:
            self._file.write(text)
        self.rounds += len(batch.y)
        if self.kind != "losses":
            self._wrong.append(np.asarray(result.predictions != batch.y))
        if result.sets is not None:
            self._sets.append(np.array(result.sets, np.float64).reshape(len(batch.y), -1)[:, :2])

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file of the rows."""
        if self._file is not None:
            self._file.close()

    def data(self, ledger: Ledger) -> dict[str, object]:
        """Return the description of the rows."""
        found: dict[str, object] = {
            "kind": self.kind,
            "rows": self.rounds,
            "sha256": self.sha256,
            "source": ledger.source,
        }
        if self.kind == "vectors":
            found["bits"] = self.bits
        if self.kind in ("vectors", "points") and ledger.labels is not None:
            numbers = range(len(ledger.labels)) if self._player.numbered else (-1, 1)
            found["labels"] = {str(name): number for name, number in zip(ledger.labels, numbers, strict=False)}
        plain = ledger.encoding is None or all(
            column.kind in ("number", "boolean") for column in ledger.encoding.columns
        )
        if self.kind != "forecasts" and ledger.feature_names and plain and not self._player.changes_examples:
            found["columns"] = list(ledger.feature_names)
            found["label"] = ledger.target.name if ledger.target is not None else None
        return found

    def wrong(self) -> str:
        """Return the rounds of the mistakes."""
        return packed(np.concatenate(self._wrong) if self._wrong else np.zeros(0, np.bool_))

    def missed(self, group: int | None) -> dict[str, str]:
        """Return the rounds whose sets missed the outcome, and those of a group."""
        if not self._sets:
            return {}
        sets = np.concatenate(self._sets)
        of_group = {} if group is None else {"group": packed(sets[:, 0] == group)}
        return {"missed": packed(sets[:, 1] > 0.0)} | of_group

    def located(self, witness: dict[str, object]) -> dict[str, object] | None:
        """Return a witness with numbers of rows for the centers of a function; None if one is not a row."""
        points: Any = witness["centers"]
        rows = points.rows() if isinstance(points, Sparse) else points
        found = [self._first.get(words_of(*nonzeros(row))) for row in rows]
        widest = {"widest": str(Fraction(self._widest))}
        return None if None in found else {**witness, "centers": found, **widest}

    def _lines(self, batch: Batch) -> Iterator[str]:
        """Yield the canonical text of each row."""
        if self.kind == "losses":
            yield from text_of(np.asarray(batch.y, np.float64))
            return
        labels = np.asarray(batch.y).tolist()
        if self.kind == "points":
            for (x, _), y in zip(batch.rows(), labels, strict=True):
                yield f"{y} {','.join(str(int(part)) for part in np.atleast_1d(np.asarray(x)).tolist())}"
            return
        for (places, values), y in zip(self._sparse(batch), labels, strict=True):
            self.bits = max(self.bits, bits_of(values))
            words = words_of(places, values)
            if self._points:
                square = float(np.sum(np.square(values))) * (1.0 + (len(values) + 8) * 2.0**-52)
                self._widest = max(self._widest, square)
                if self._seen < MOST_POINTS:
                    self._first.setdefault(words, self._seen)
            self._seen += 1
            label = float(y).hex() if self.kind == "outcomes" else str(y)
            yield f"{label} {words}" if words else label

    def _sparse(self, batch: Batch) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Yield places and values of each row that are not 0, by place."""
        features = self._player.within.features
        rows: Any = batch.x
        if isinstance(batch.x, list) and features is not None:
            rows = (features.row(x, learn=False) for x in batch.x)
        elif isinstance(batch.x, Sparse):
            rows = batch.x.rows()
        yield from map(nonzeros, rows)


def nonzeros(row: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return places and values of a row that are not 0, by place."""
    if isinstance(row, tuple):
        places, values = np.asarray(row[0]), np.asarray(row[1], np.float64)
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
    else:
        values = np.asarray(row, np.float64)
        places = np.arange(len(values))
    used = values != 0.0
    return places[used], values[used]


def words_of(places: NDArray[Any], values: NDArray[np.float64]) -> str:
    """Return the canonical text of a row without its label."""
    return " ".join(f"{place}:{value.hex()}" for place, value in zip(places.tolist(), values.tolist(), strict=True))


def packed(flags: NDArray[np.bool_]) -> str:
    """Return rounds as text: a bit per round, compressed."""
    return base64.b64encode(zlib.compress(np.packbits(flags, bitorder="little").tobytes(), 9)).decode()


def text_of(table: NDArray[np.float64]) -> Iterator[str]:
    """Yield the canonical text of rows of numbers without a label."""
    yield from (" ".join(map(float.hex, row)) for row in table.tolist())


def bits_of(values: NDArray[np.float64]) -> int:
    """Return the smallest b >= 0 for which all values are whole multiples of 2^-b; 1074 if one is not finite."""
    if not len(values):
        return 0
    if not np.all(np.isfinite(values)):
        return FINEST
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    last = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)  # exact: a power of two
    return int(max((53 - exponents - last).max(), 0))


def claims(
    evaluated: Iterable[tuple[Theorem, Run[Any], Certificate]], record: ProofRecord | None
) -> Iterator[dict[str, object]]:
    """Yield a claim for each certificate that holds and has a witness."""
    for theorem, run, certificate in evaluated:
        if not certificate.holds or not isinstance(theorem, DeclaredTheorem) or theorem.witness is None:
            continue
        witness = theorem.witness(run)
        own = None if witness is None else dict(witness)
        if own is not None and "centers" in own:
            own = None if record is None else record.located(own)
        if own is None:
            continue
        yield claim(certificate, own)


def claim(certificate: Certificate, witness: dict[str, object]) -> dict[str, object]:
    """Return the claim of a certificate with its witness, which may have a bound of its own."""
    return {
        "theorem": certificate.theorem,
        "kind": certificate.kind,
        "side": certificate.side,
        "quantity": certificate.quantity,
        "observed": exact(certificate.observed),
        "bound": exact(witness.pop("bound", certificate.bound)),
        "status": certificate.status,
        "assumptions": [{"claim": one.claim, "standing": one.standing} for one in certificate.assumptions],
        "witness": witness,
    }


def risk_claim(certificate: Certificate) -> dict[str, object] | None:
    """Return the claim of a limit on a risk; None if the checker does not know it."""
    given = certificate.quantities
    names = {"ensemble_risk": ("rounds", "mistakes"), "best_risk": ("rounds", "first", "errors", "trials")}.get(
        certificate.theorem, ()
    )
    whole = all(name in given for name in names)
    late = certificate.theorem == "best_risk" and given.get("when") != IN_ADVANCE
    if not names or not whole or late or not certificate.holds:
        return None
    witness = {name: given[name] for name in names}
    return claim(certificate, {**witness, "delta": str(Fraction(certificate.number("delta")))})


def exact(value: Any) -> int | str:
    """Return a number in a form that loses nothing: a whole number, or a hexadecimal float."""
    return value if isinstance(value, int) else float(value).hex()


def write_proof(ledger: Ledger, path: str | Path, force: bool = False, risks: Sequence[Certificate] = ()) -> None:
    """Implement `Ledger.write_proof`."""
    if ledger.proof_record is not None:
        ledger.proof_record.close()
    text = text_of_proof(ledger, risks)
    check(path, force)
    Path(path).write_text(text, encoding="utf-8")


def text_of_proof(ledger: Ledger, risks: Sequence[Certificate] = (), recorded: bool = True) -> str:
    """Return the content of the proof file of a game.

    Args:
        ledger: The game.
        risks: Limits on the risk of a classifier made from it.
        recorded: Whether the rows were recorded. If not, the proof names no data: only its arithmetic can be checked.
    """
    from novikoff import __version__
    from novikoff.game.ledger import evaluated

    record = ledger.proof_record if recorded else None
    if recorded and (record is None or record.rounds != ledger.rounds):
        do = Advice("Play the game with ", Option("proof", value=True), ", in one session.")
        raise InputError("a proof must be recorded while the game is played", "this one was not", do)
    found = list(evaluated(ledger))
    made = [*claims(found, record), *(one for risk in risks if (one := risk_claim(risk)) is not None)]
    if not made:
        raise InputError(
            "a proof must have a certificate to prove: none of this game has a proof file "
            '(docs/proofs.md lists the theorems). Play "perceptron", "halving:[...]", or auto.'
        )
    if record is None:
        rule, data = unrecorded(ledger, found)
    else:
        rule = ledger.player.within.textbook() if record.mixture is None else record.mixture.textbook()
        data = record.data(ledger)
    content: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"novikoff {__version__}",
        "spec": ledger.spec,
        "learner": _plain(rule or {"rule": None}),
        "data": data,
        "claims": made,
    }
    if record is not None and record.kind != "losses" and ledger.player.learns_labels:
        content["wrong"] = record.wrong()
    sets: list[Any] = [one["witness"] for one in made if one["theorem"] == "coverage_deviation"]
    if record is not None and sets:
        content |= record.missed(sets[0].get("group"))
    return json.dumps(content, indent=1) + "\n"


def unrecorded(
    ledger: Ledger, found: Iterable[tuple[Theorem, Run[Any], Certificate]]
) -> tuple[dict[str, object] | None, dict[str, object]]:
    """Return the rule of the learner and the description of rows that were not recorded."""
    kind, rule = KINDS.get(ledger.player.domain.kind, ""), ledger.player.within.textbook()
    for _, run, _ in found:
        if isinstance(run.tracked, TopFacts):
            shares = run.tracked.path is not None
            kind = "numbers" if ledger.player.task == "regression" else "forecasts"
            name = "ada-hedge" if kind == "numbers" else "fixed-share" if shares else "bayes"
            prior = [float(weight).hex() for weight in run.tracked.prior]
            rule = {"rule": name, "prior": prior, "joins": list(run.tracked.joins or [0] * len(prior))}
    return rule, {"kind": kind, "rows": ledger.rounds, "sha256": None, "source": ledger.source, "bits": FINEST}


def check(path: str | Path, force: bool = False) -> None:
    """Raise `InputError` if writing a proof to `path` would replace a file of another kind."""
    check_replaced(path, "a proof file", is_proof, force, InputError)


def is_proof(path: str) -> bool:
    """Return whether a file is a proof file."""
    return f'"format": "{FORMAT}"'.encode() in first_bytes(path, 64)


def is_rows(path: str) -> bool:
    """Return whether a file has the canonical text of rows."""
    first = first_bytes(path, 1000).split(b"\n")[0].decode("ascii").split(" ")
    return bool(first) and all(word.rpartition(":")[2].lstrip("-").startswith("0x") for word in first[1:])


def _plain(value: Any) -> Any:
    """Return a value with arrays as lists."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
