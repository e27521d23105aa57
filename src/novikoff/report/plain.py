"""A game as plain data: the object that --json prints."""

from __future__ import annotations

import dataclasses
from typing import Any

from novikoff.certificate import Certificate
from novikoff.ledger import Ledger


def game(ledger: Ledger, certificates: list[Certificate], learner: str) -> dict[str, Any]:
    """What happened and what was promised, as JSON values."""
    plain: dict[str, Any] = {
        "learner": learner,
        "source": ledger.source,
        "rounds": ledger.rounds,
        "mistakes": ledger.mistakes,
        "mistake_rate": ledger.mistake_rate,
        "passes": ledger.passes,
        "seconds": ledger.seconds,
        "rounds_per_second": ledger.rounds / ledger.seconds if ledger.seconds else None,
        "size": getattr(ledger.learner, "size", None),
    }
    if not ledger.deterministic:
        plain["expected_mistakes"] = ledger.expected
    if hasattr(ledger.learner, "survivor"):
        plain["survivor"] = ledger.learner.survivor()
    plain["certificates"] = [_certificate(certificate) for certificate in certificates]
    return plain


def _certificate(certificate: Certificate) -> dict[str, Any]:
    plain = {field.name: getattr(certificate, field.name) for field in dataclasses.fields(certificate)}
    plain["assumptions"] = [dataclasses.asdict(assumption) for assumption in certificate.assumptions]
    return plain
