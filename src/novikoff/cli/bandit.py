"""`bandit`: certify the log of a bandit, or play one on a table of losses."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from novikoff.bandits.off_policy import bandit
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.cli.games import Telling, check_files, ended, saved_game, spec_of
from novikoff.cli.opening import notes, say_notes
from novikoff.cli.output import flag, while_heard
from novikoff.cli.saving import Saving, goes_on
from novikoff.cli.watching import play_watched
from novikoff.core.errors import InputError, MismatchError, with_options
from novikoff.data.tables.read_experts import read_experts
from novikoff.game import specs
from novikoff.game.ledger import Ledger
from novikoff.reports import bandits, terminal

LEARNERS = "exp3-ix or tsallis-inf"


@dataclass(frozen=True)
class Asked:
    """What to play."""

    learner: str | None
    source: str
    rounds: int | None = None
    seed: int | None = None


def refuse(whose: str, options: dict[str, Any]) -> None:
    """Refuse options that would change nothing."""
    for name, value in options.items():
        if value not in (None, []):
            raise InputError(f"--{name} is for {whose}: got {value}. Leave it out.")


def run_log(log: str, columns: dict[str, Any], reading: dict[str, Any], telling: Telling) -> int:
    """`novikoff bandit LOG`; returns the exit code."""
    telling.check()
    found = bandit(log, **columns, **reading)
    if not (telling.quiet or telling.as_json):
        for note in found.notes:
            print(with_options(note, flag), file=sys.stderr)
    if telling.plot is not None and not found.limits:
        print("no plot: there are no bounds to draw", file=sys.stderr)
    elif telling.plot is not None:
        from novikoff.reports import drawing

        drawing.save(bandits.plot_log(found), telling.plot, telling.force)
    with while_heard():
        if telling.as_json:
            print(json.dumps({**bandits.of_log(found), "notes": list(found.notes)}))
        else:
            out = terminal.Out()
            out.line(found.source, "bold")
            for line in bandits.of_policies(found):
                out.line(with_options(line, flag))
            terminal.promised(out, found.certify(), telling.verbose)
    return 0


def run_bandit(asked: Asked, reading: dict[str, Any], saving: Saving, telling: Telling) -> int:
    """`novikoff bandit LEARNER SOURCE`; returns the exit code."""
    check_files(saving, telling)
    saved = None if saving.resume is None else saved_game(saving.resume, asked.learner, seed=asked.seed)
    stream: Any = _opened(asked.source, reading)
    said = say_notes(stream, telling.quiet or telling.as_json)
    ledger = saved or _begun(asked, stream)
    if not isinstance(ledger.learner.facts(), BanditFacts) or ledger.learner.domain.kind != "losses":
        raise MismatchError(f"the learner must be a bandit on losses, such as {LEARNERS}: {spec_of(ledger)} is not.")
    resume = goes_on(ledger, stream, asked.source, saving)
    ledger.source = stream.name
    stopped = play_watched(ledger, stream, asked.source, saving, telling.quiet, asked.rounds, resume=resume)
    say_notes(stream, telling.quiet or telling.as_json, said)
    return _tell(ledger, stream, telling, stopped)


def _opened(source: str, reading: dict[str, Any]) -> Any:
    """A generated stream, or a table with the losses of an arm in each column."""
    if not source.startswith("stream:"):
        return read_experts(
            source, loss="table", **{name: reading[name] for name in ("header", "delimiter", "threads")}
        )
    stream = specs.make(source.removeprefix("stream:"), "stream")
    if stream.domain.kind != "losses":
        raise MismatchError(
            f"a stream for bandits must have losses, as bandit-losses does: {source} has {stream.domain}."
        )
    return stream


def _begun(asked: Asked, stream: Any) -> Ledger:
    spec = asked.learner or ""
    learner = specs.make(spec, "learner", arms=len(stream.experts), seed=asked.seed)
    return Ledger(learner, source=stream.name, spec=spec)


def _tell(ledger: Ledger, stream: Any, telling: Telling, stopped: bool) -> int:
    """Print what happened and what was promised; the exit code."""
    certificates = ledger.certify() if telling.certify else []
    spec = spec_of(ledger)
    if telling.plot is not None and ledger.rounds:
        from novikoff.reports import drawing

        drawing.save(bandits.plot_game(ledger, stream.experts, spec), telling.plot, telling.force)
    with while_heard():
        if telling.as_json:
            told = bandits.of_game(ledger, certificates, spec, stream.experts)
            print(json.dumps({**told, "interrupted": stopped, "notes": notes(stream)}))
        else:
            out = terminal.Out()
            out.line(f"{spec} on {ledger.source}", "bold")
            for line in bandits.lines(ledger, stream.experts):
                out.line(line)
            if telling.certify:
                terminal.promised(out, certificates, telling.verbose)
    return ended(ledger, telling, stopped, certificates)
