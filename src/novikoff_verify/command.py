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

from novikoff_verify.exact import DIGITS, NotCoveredError, RefutedError, count, number, require, unique
from novikoff_verify.rows import MOST, flags, rows_of
from novikoff_verify.rules import Rule, rule
from novikoff_verify.theorems import Theorem, theorem

DEPTHS = ("arithmetic", "data", "replay")
FORMAT, VERSION = "novikoff-proof", 1
LARGEST = 64_000_000
"""Largest proof file in bytes."""
LEARNER = "the learner"
"""Name of the replay among the checks."""
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
        return well_formed(json.loads(text, object_pairs_hook=unique))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RefutedError(f"{path} is not a proof: {error!r:.200}") from None


def well_formed(proof: dict[str, Any]) -> dict[str, Any]:
    """Return a proof whose outer form is that of docs/proofs.md; raise an error for any other."""
    if proof["format"] != FORMAT or proof["version"] != VERSION:
        raise NotCoveredError(f"a file of format {proof['format']!r:.40}, version {proof['version']!r:.40}")
    data, claims = proof["data"], proof["claims"]
    count(data["rows"], "rows", MOST)
    require(isinstance(data["kind"], str) and isinstance(proof["learner"], dict), "rows and learner must have a kind")
    require(isinstance(claims, list) and bool(claims), "the proof claims nothing")
    names = [claim["theorem"] for claim in claims]
    require(all(isinstance(name, str) for name in names), "a claim must name a theorem")
    require(len(set(names)) == len(names), "two claims are of one theorem")
    for claim in claims:
        require(isinstance(claim["witness"], dict), "a claim must have a witness")
        for assumption in claim.get("assumptions", []):
            sound = isinstance(assumption["claim"], str) and assumption["standing"] in ("checked", "trusted")
            require(sound, "a claim rests on an assumption that failed")
    return proof


def plain(text: str) -> str:
    """Return a text of a proof without line ends, or anything else that a terminal obeys."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:300]


class Verification:
    """Result of a verification: per claim and depth, whether it was verified, and why not.

    Args:
        proof: Content of a proof file.
        data: Path of the data; None to check the arithmetic only.
        depth: Depth to check to; by default that which the data allow.
        progress: Function that is called with the number of rows read, every thousand rows.
    """

    def __init__(self, proof: dict[str, Any], data: str | None, depth: str | None = None, progress: Any = None) -> None:
        self.proof, self.results, self.notes = well_formed(proof), {}, []  # type: dict[str, Any], dict[tuple[str, str], str], list[str]
        self.depths = DEPTHS[: DEPTHS.index(depth or ("arithmetic" if data is None else "replay")) + 1]
        self.claims = {claim["theorem"]: claim for claim in proof["claims"]}
        self.theorems: dict[str, Theorem] = {}
        with localcontext(DIGITS):
            self._check(data, progress)
        for name in self.claims:
            for depth in self.depths:
                self.results.setdefault((name, depth), "not checked")

    def _check(self, data: str | None, progress: Any) -> None:
        """Check every claim to the depth that is asked for."""
        for name, claim in self.claims.items():
            if (made := self._try(name, "arithmetic", lambda claim=claim: self._arithmetic(claim))) is not None:
                self.theorems[name] = made
        if data is None or "data" not in self.depths:
            return
        player = self._try(LEARNER, "replay", lambda: rule(self.proof)) if "replay" in self.depths else None
        self._rows(player, data, progress)
        learner = self.results.pop((LEARNER, "replay"), None)
        for name, one in self.theorems.items():
            if "replay" in self.depths and one.replays:
                self.results[name, "replay"] = self.results[name, "data"]
            elif learner is not None:
                self.results[name, "replay"] = learner

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
            self.results[name, depth] = f"REFUTED: the proof is incomplete or malformed: {error!r:.200}"
        return None

    def _rows(self, player: Rule | None, data: str, progress: Any) -> None:
        """Check the sums of the data and replay the learner, in one pass."""
        playing: dict[tuple[str, str], Any] = {(name, "data"): one for name, one in self.theorems.items()}
        if player is not None:
            playing[LEARNER, "replay"] = player
        for key, one in list(playing.items()):
            if isinstance(one, Theorem) and not one.of_rows:
                self.results[key] = "not covered: the sums of this theorem are not sums of rows"
                del playing[key]

        def play(actor: Any, row: Any, wrong: bool) -> bool:
            actor.see(row, wrong)
            return True

        t = 0
        try:
            wrong = flags(self.proof, "wrong") if "wrong" in self.proof else lambda t: False
            for row in rows_of(data, self.proof["data"]):
                mistake = wrong(t)
                t += 1
                for (name, depth), actor in list(playing.items()):
                    if (
                        self._try(name, depth, lambda actor=actor, row=row, wrong=mistake: play(actor, row, wrong))
                        is None
                    ):
                        self.results[name, depth] += f" (row {t:,})"
                        del playing[name, depth]
                if progress is not None and t % 1000 == 0:
                    progress(t)
        except (RefutedError, NotCoveredError) as error:
            word = "REFUTED" if isinstance(error, RefutedError) else "not covered"
            self.results.update({(name, "data"): f"{word}: {error}" for name in self.theorems})
            if player is not None:
                self.results[LEARNER, "replay"] = f"{word}: {error}"
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
        """Exit code: 0 if every claim was verified at every depth that was asked for, 1 if one was refuted, else 2."""
        if self.refuted:
            return REFUTED
        asked = [self.results[name, depth] for name in self.claims for depth in self.depths]
        return VERIFIED if all(text == "verified" for text in asked) else UNCHECKED

    @property
    def reached(self) -> str:
        """Deepest depth at which every claim was verified; "" if no depth was."""
        found = ""
        for depth in self.depths:
            if any(self.results[name, depth] != "verified" for name in self.claims):
                break
            found = depth
        return found

    def lines(self) -> list[str]:
        """Return the report."""
        found = []
        for name, claim in self.claims.items():
            one = self.theorems.get(name)
            try:
                sign = "<=" if one is None or one.side == "upper" else ">="
                values = f"{float(number(claim['observed'])):.6g} {sign} {float(number(claim['bound'])):.6g}"
            except (RefutedError, KeyError, OverflowError):
                values = "malformed"
            found.append(f"{plain(name)}: {claim['quantity'] if one else ''} {values}")
            found += [f"  {depth:<11} {plain(self.results[name, depth])}" for depth in self.depths]
            trusted = [a["claim"] for a in claim.get("assumptions", []) if a["standing"] == "trusted"]
            found += [f"  trusted     {plain(text)}" for text in (*trusted, *(one.trusted if one else ()))]
        if self.depths[-1] == "data":
            found.append("note: that the learner made these predictions is trusted: it was not replayed")
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
    parser.add_argument("--depth", choices=DEPTHS, help="depth to check to (default: replay; without DATA arithmetic)")
    given = parser.parse_args(arguments)
    return verify(given.proof, given.data, given.depth)


def verify(path: str, data: str | None = None, depth: str | None = None) -> int:
    """Verify a proof file, print the report and return the exit code."""
    started, shown = time.monotonic(), sys.stderr.isatty()

    def progress(rows: int) -> None:
        print(f"\r{rows:,} of {proof['data']['rows']:,} rows", end="", file=sys.stderr)

    try:
        proof = read(path)
        verified = Verification(proof, data, depth, progress if shown else None)
    except (RefutedError, NotCoveredError) as error:
        print(f"novikoff verify: {plain(str(error))}", file=sys.stderr)
        return REFUTED if isinstance(error, RefutedError) else UNCHECKED
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr)
    print("\n".join(verified.lines()))
    verdict = {VERIFIED: "verified", REFUTED: "REFUTED", UNCHECKED: "NOT VERIFIED"}[verified.status]
    if verified.status == UNCHECKED and verified.reached:
        verdict += f" beyond {verified.reached} (to accept that: --depth {verified.reached})"
    without = "without data, only the arithmetic was checked; " if data is None else ""
    print(f"{verdict}: {without}{proof['data']['rows']:,} rows, {time.monotonic() - started:.1f} s")
    return verified.status
