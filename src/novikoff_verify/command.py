"""Command: novikoff verify PROOF [DATA], or python -m novikoff_verify PROOF [DATA]."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from decimal import localcontext
from pathlib import Path
from typing import Any

from novikoff_verify.exact import DIGITS, NotCoveredError, RefutedError, number
from novikoff_verify.rows import mistakes, rows_of
from novikoff_verify.rules import Rule, rule
from novikoff_verify.theorems import Theorem, theorem

DEPTHS = ("arithmetic", "data", "replay")
FORMAT, VERSION = "novikoff-proof", 1
LARGEST = 64_000_000
"""Largest proof file in bytes."""
VERIFIED, REFUTED, UNCHECKED = 0, 1, 2
"""Exit codes."""


def read(path: str) -> dict[str, Any]:
    """Return the content of a proof file."""
    try:
        if Path(path).stat().st_size > LARGEST:
            raise NotCoveredError(f"{path}: a proof of more than {LARGEST:,} bytes")
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise NotCoveredError(f"{path}: {error.strerror}") from None
    try:
        proof = json.loads(text)
        if proof["format"] != FORMAT or proof["version"] != VERSION:
            raise NotCoveredError(f"{path}: a file of format {proof['format']!r}, version {proof['version']!r}")
        if not (proof["claims"] and all(isinstance(claim, dict) for claim in proof["claims"])):
            raise RefutedError("the proof claims nothing")
        return {**proof, "data": dict(proof["data"]), "learner": dict(proof["learner"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RefutedError(f"{path} is not a proof: {error!r}") from None


class Verification:
    """Result of a verification: per claim and depth, whether it was verified, and why not.

    Args:
        proof: Content of a proof file.
        data: Path of the data; None to check the arithmetic only.
        depth: Deepest check.
        progress: Function that is called with the number of rows read, every thousand rows.
    """

    def __init__(self, proof: dict[str, Any], data: str | None, depth: str = "replay", progress: Any = None) -> None:
        self.proof, self.results, self.notes = proof, {}, []  # type: dict[str, Any], dict[tuple[str, str], str], list[str]
        with localcontext(DIGITS):
            self._check(data, depth, progress)

    def _check(self, data: str | None, depth: str, progress: Any) -> None:
        """Check every claim to the depth that is asked for."""
        proof = self.proof
        names = [claim.get("theorem", "?") for claim in proof["claims"]]
        found: dict[str, Theorem] = {}
        for name, claim in zip(names, proof["claims"], strict=True):
            if (made := self._try(name, "arithmetic", lambda claim=claim: self._arithmetic(claim))) is not None:
                found[name] = made
        if data is None or depth == "arithmetic":
            return
        player = self._try("learner", "replay", lambda: rule(proof)) if depth == "replay" else None
        self._rows(found, player, data, progress)
        for name in names:
            if (name, "replay") not in self.results and ("learner", "replay") in self.results:
                self.results[name, "replay"] = self.results["learner", "replay"]
        self.results.pop(("learner", "replay"), None)

    def _arithmetic(self, claim: dict[str, Any]) -> Theorem:
        made = theorem(self.proof, claim)
        made.follows()
        return made

    def _try(self, name: str, depth: str, check: Any) -> Any:
        """Return the result of a check; record its outcome."""
        try:
            found = check()
            self.results[name, depth] = "verified"
            return found
        except RefutedError as error:
            self.results[name, depth] = f"REFUTED: {error}"
        except NotCoveredError as error:
            self.results[name, depth] = f"not covered: {error}"
        except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, IndexError) as error:
            self.results[name, depth] = f"REFUTED: the proof is incomplete or malformed: {error!r}"
        return None

    def _rows(self, found: dict[str, Theorem], player: Rule | None, data: str, progress: Any) -> None:
        """Check the sums of the data and replay the learner, in one pass."""
        summed = {name: one for name, one in found.items() if one.of_rows}
        for name in set(found) - set(summed):
            self.results[name, "data"] = "not covered: the sums of this theorem are not sums of rows"
        flags: Any = self._try("mistakes", "data", lambda: mistakes(self.proof)) if "wrong" in self.proof else None
        broken = self.results.pop(("mistakes", "data"), "verified")
        if broken != "verified":
            self.results.update({(name, "data"): broken for name in found})
            return

        def play(actor: Any, row: Any, wrong: bool) -> bool:
            actor.see(row, wrong)
            return True

        playing: dict[tuple[str, str], Any] = {(name, "data"): one for name, one in summed.items()}
        if player is not None:
            playing["learner", "replay"] = player
        t = 0
        try:
            for row in rows_of(data, self.proof["data"]):
                wrong = bool(flags[t]) if flags is not None and t < len(flags) else False
                t += 1
                for (name, depth), actor in list(playing.items()):
                    if (
                        self._try(name, depth, lambda actor=actor, row=row, wrong=wrong: play(actor, row, wrong))
                        is None
                    ):
                        self.results[name, depth] += f" (row {t:,})"
                        del playing[name, depth]
                if progress is not None and t % 1000 == 0:
                    progress(t)
        except (RefutedError, NotCoveredError) as error:
            word = "REFUTED" if isinstance(error, RefutedError) else "not covered"
            self.results.update({(name, "data"): f"{word}: {error}" for name in found})
            if player is not None:
                self.results["learner", "replay"] = f"{word}: {error}"
            return
        for (name, depth), actor in playing.items():
            self._try(name, depth, lambda actor=actor: (actor.end if isinstance(actor, Rule) else actor.sums)() or True)
        self.notes += player.notes if player is not None else []

    @property
    def refuted(self) -> bool:
        """Whether a check contradicts the proof."""
        return any(text.startswith("REFUTED") for text in self.results.values())

    @property
    def status(self) -> int:
        """Exit code: 0 if every claim was verified at some depth and none refuted, 1 if refuted, 2 otherwise."""
        if self.refuted:
            return REFUTED
        claimed = [claim.get("theorem", "?") for claim in self.proof["claims"]]
        return VERIFIED if all(self.results.get((n, "arithmetic")) == "verified" for n in claimed) else UNCHECKED

    def lines(self) -> list[str]:
        """Return the report."""
        found = []
        for claim in self.proof["claims"]:
            name, sign = claim.get("theorem", "?"), "<=" if claim.get("side", "upper") == "upper" else ">="
            try:
                values = f"{float(number(claim['observed'])):.6g} {sign} {float(number(claim['bound'])):.6g}"
            except (RefutedError, KeyError, OverflowError):
                values = "malformed"
            found.append(f"{name}: {claim.get('quantity', '')} {values}")
            found += [f"  {d:<11} {self.results[name, d]}" for d in DEPTHS if (name, d) in self.results]
            trusted = [a["claim"] for a in claim.get("assumptions", []) if a.get("standing") == "trusted"]
            found += [f"  trusted     {text}" for text in trusted]
        return found + [f"note: {note}" for note in self.notes]


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify a proof file and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="novikoff verify",
        description="Check the certificates of a run without trusting the program that made them.",
        epilog="Exit code: 0 verified, 1 refuted, 2 not checked.",
    )
    parser.add_argument("proof", metavar="PROOF", help="proof file (novikoff run ... --proof FILE)")
    parser.add_argument("data", metavar="DATA", nargs="?", help="the rows: CSV, svmlight, JSON lines or --proof-rows")
    parser.add_argument("--depth", choices=DEPTHS, default="replay", help="deepest check (default: replay)")
    given = parser.parse_args(arguments)
    return verify(given.proof, given.data, given.depth)


def verify(path: str, data: str | None = None, depth: str = "replay") -> int:
    """Verify a proof file, print the report and return the exit code."""
    started, shown = time.monotonic(), sys.stderr.isatty()

    def progress(rows: int) -> None:
        print(f"\r{rows:,} of {proof['data']['rows']:,} rows", end="", file=sys.stderr)

    try:
        proof = read(path)
        verified = Verification(proof, data, depth, progress if shown else None)
    except (RefutedError, NotCoveredError) as error:
        print(f"novikoff verify: {error}", file=sys.stderr)
        return REFUTED if isinstance(error, RefutedError) else UNCHECKED
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr)
    print("\n".join(verified.lines()))
    verdict = {VERIFIED: "verified", REFUTED: "REFUTED", UNCHECKED: "not verified"}[verified.status]
    without = "without data, only the arithmetic was checked; " if data is None else ""
    print(f"{verdict}: {without}{proof['data']['rows']:,} rows, {time.monotonic() - started:.1f} s")
    return verified.status
