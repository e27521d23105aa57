"""`bandit`: certify the log of a bandit, or play one on a table of losses."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from typing import Any

from novikoff.bandits.off_policy import evaluate_policies
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.cli.games import Output, check_files, ended, saved_game, spec_of, write_report
from novikoff.cli.opening import notes, print_notes
from novikoff.cli.output import flag, until_closed
from novikoff.cli.saving import Saving, continues
from novikoff.cli.watching import play_watched
from novikoff.core.errors import InputError, MismatchError, with_options
from novikoff.data.tables.read_experts import read_experts
from novikoff.game import specs
from novikoff.game.ledger import Ledger
from novikoff.reports import bandits, terminal

LEARNERS = "exp3-ix, tsallis-inf or ucb1"
"""Examples of bandits, for an error text."""


@dataclass(frozen=True)
class Request:
    """Learner, source and length of the game to play."""

    learner: str | None
    source: str
    rounds: int | None = None
    seed: int | None = None


def refuse(use: str, options: dict[str, object]) -> None:
    """Refuse options that would have no effect; `use` is what they are for."""
    for name, value in options.items():
        if value not in (None, []):
            raise InputError(f"--{name} is for {use}: got {value}. Leave it out.")


def run_log(log: str, columns: dict[str, Any], reading: dict[str, Any], output: Output) -> int:
    """Run `novikoff bandit LOG` and return the exit code."""
    output.check()
    found = evaluate_policies(log, **columns, **reading)
    if not (output.quiet or output.as_json):
        for note in found.notes:
            print(with_options(note, flag), file=sys.stderr)
    if output.plot is not None and not found.limits:
        print("no plot: there are no bounds to draw", file=sys.stderr)
    elif output.plot is not None:
        from novikoff.reports import plot_file

        plot_file.save(bandits.chart_of_log(found), output.plot, output.force)
    if output.report is not None:
        write_report(output, bandits.page_of_log(found, bandits.of_log(found), output.command))
    with until_closed():
        if output.as_json:
            print(json.dumps({**bandits.of_log(found), "notes": list(found.notes)}))
        else:
            out = terminal.Out()
            out.line(found.source, "bold")
            for line in bandits.of_policies(found):
                out.line(with_options(line, flag))
            terminal.promised(out, found.certify(), output.verbose)
    return 0


def run_bandit(request: Request, reading: dict[str, object], saving: Saving, output: Output) -> int:
    """Run `novikoff bandit LEARNER SOURCE` and return the exit code."""
    check_files(saving, output)
    saved = None if saving.resume is None else saved_game(saving.resume, request.learner, seed=request.seed)
    stream: Any = _opened(request.source, reading)
    printed = print_notes(stream, output.quiet or output.as_json)
    ledger = saved or _begun(request, stream)
    if not isinstance(ledger.player.facts(), BanditFacts) or ledger.player.task != "losses":
        raise MismatchError(f"the learner must be a bandit on losses, such as {LEARNERS}: {spec_of(ledger)} is not.")
    resume = continues(ledger, stream, request.source, saving)
    ledger.source = stream.name
    stopped = play_watched(ledger, stream, request.source, saving, output.quiet, request.rounds, resume=resume)
    print_notes(stream, output.quiet or output.as_json, printed)
    return _report(ledger, stream, output, stopped)


def run_simulation(request: Request, games: int, against: list[str], output: Output) -> int:
    """Run `novikoff bandit LEARNER STREAM --games N` and return the exit code."""
    from novikoff.data.bandit_losses import BanditLosses
    from novikoff.evaluation.simulate_bandits import simulate_bandits

    output.check()
    name, _, more = request.source.removeprefix("stream:").partition(":")
    if not request.source.startswith("stream:") or name != "bandit-losses":
        raise MismatchError(f"many games need a simulator: got {request.source}. Pass stream:bandit-losses:key=value,…")
    changed = {key: value for key, value in (("rounds", request.rounds), ("seed", request.seed)) if value is not None}
    spec = specs.parse(f"{name}:{more}" if more else name)
    stream: BanditLosses = specs.make(replace(spec, named={**(spec.named or {}), **changed}), "stream")
    found = simulate_bandits([request.learner or "", *against], stream, games)
    if output.plot is not None:
        from novikoff.reports import plot_file

        plot_file.save(bandits.chart_of_simulation(found), output.plot, output.force)
    if output.report is not None:
        write_report(output, bandits.page_of_simulation(found, bandits.of_simulation(found), output.command))
    with until_closed():
        if output.as_json:
            print(json.dumps(bandits.of_simulation(found)))
        else:
            out = terminal.Out()
            out.line(found.source, "bold")
            for line in bandits.simulated(found):
                out.line(line)
    broken = any(one.verdict is not None and one.verdict.status == "violated" for one in found.learners)
    return 1 if broken else 0


def _opened(source: str, reading: dict[str, Any]) -> Any:
    """Open a generated stream, or a table with one column of losses per arm."""
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


def _begun(request: Request, stream: Any) -> Ledger:
    spec = request.learner or ""
    learner = specs.make(spec, "learner", arms=len(stream.experts), seed=request.seed)
    return Ledger(learner, source=stream.name, spec=spec)


def _report(ledger: Ledger, stream: Any, output: Output, stopped: bool) -> int:
    """Print the result and the certificates, and return the exit code."""
    certificates = ledger.certify() if output.certify else []
    spec = spec_of(ledger)
    if output.plot is not None and ledger.rounds:
        from novikoff.reports import plot_file

        plot_file.save(bandits.chart_of_game(ledger, stream.experts, spec), output.plot, output.force)
    fields: dict[str, Any] = {}
    if output.report is not None or output.as_json:
        fields = bandits.of_game(ledger, certificates, spec, stream.experts)
        fields |= {"interrupted": stopped, "notes": notes(stream)}
    if output.report is not None:
        page = bandits.page_of_game(ledger, certificates, stream.experts, spec, fields, output.command)
        write_report(output, page)
    with until_closed():
        if output.as_json:
            print(json.dumps(fields))
        else:
            out = terminal.Out()
            out.line(f"{spec} on {ledger.source}", "bold")
            for line in bandits.lines(ledger, stream.experts):
                out.line(line)
            if output.certify:
                terminal.promised(out, certificates, output.verbose)
    return ended(ledger, output, stopped, certificates)
