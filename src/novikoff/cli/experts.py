"""`experts`: combine the columns of a table of predictions, and certify the regret."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novikoff.cli.games import Output, check_files, ended, saved_game, spec_of, write_proof, write_report
from novikoff.cli.opening import notes, print_notes
from novikoff.cli.output import until_closed
from novikoff.cli.saving import Saving, continues
from novikoff.cli.watching import play_watched
from novikoff.core import registry
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.stream import Stream
from novikoff.data.column_names import matched
from novikoff.data.tables.read_experts import read_experts
from novikoff.experts.best_mixture import BestMixture, Mixture
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game import specs
from novikoff.game.ledger import Ledger
from novikoff.reports import experts, summary, terminal

if TYPE_CHECKING:
    from novikoff.reports.regret import History

DEFAULT, SHARING, SLEEPING = "exponential-weights", "fixed-share", "sleeping-experts"
"""Learner by default, with --switches, and with --sleeping."""
MIXED = 50
"""Largest number of experts for which the best mixture is computed: it costs a few microseconds per round."""


@dataclass(frozen=True)
class Request:
    """Learner, loss and length of the game to play."""

    learner: str | None = None
    loss: str | None = None
    switches: int | None = None
    horizon: int | None = None
    sleeping: bool = False
    seed: int | None = None
    rounds: int | None = None

    def spec(self) -> str:
        """Return the spec of the learner: the one named, or the one that the options imply."""
        wanted = SHARING if self.switches is not None else SLEEPING if self.sleeping else None
        option = "--switches" if self.switches is not None else "--sleeping"
        if self.switches is not None and self.sleeping:
            raise InputError("--switches and --sleeping cannot be combined: leave one of them out.")
        if self.learner is None:
            return wanted or DEFAULT
        name = specs.parse(self.learner).name
        if wanted and name != wanted:
            raise InputError(f"{option} is for {wanted}: got the learner {name}. Leave one of them out.")
        return self.learner


def run_experts(
    table: str, options: dict[str, object], request: Request, saving: Saving, output: Output
) -> int:  # fmt: skip
    """Run `novikoff experts` and return the exit code; `options` go to the reader."""
    check_files(saving, output)
    saved = None if saving.resume is None else _saved(saving.resume, request)
    spec = request.spec() if saved is None else spec_of(saved)
    parsed = specs.parse(spec)
    registry.entry(parsed.name, "learner")  # fails for an unknown name before a long pipe is read
    loss = request.loss or (saved.player.loss if saved else (parsed.named or {}).get("loss"))
    stream = _opened(table, options, loss, parsed.name == SLEEPING)
    if saved is not None and request.loss is None:
        stream.pair = (saved.fingerprint or {}).get("pair")  # the loss was detected on earlier rows, and is kept
    printed = print_notes(stream, output.quiet or output.as_json)
    ledger = saved or Ledger(_learner(parsed, stream, request), source=stream.name, spec=spec)
    _check(ledger, stream)
    stream = matched(stream, ledger.feature_names, saving.resume or "the learner")
    resume = continues(ledger, stream, table, saving)
    ledger.source = stream.name
    history = _history(output)
    mixing = BestMixture(len(stream.experts)) if _can_be_mixed(stream, ledger) else None
    more = [observer for observer in (history, mixing) if observer is not None]
    try:
        stopped = play_watched(
            ledger, stream, table, saving, output.quiet, request.rounds, observers=more, track=False, resume=resume,
            proof=output.recorded,
        )  # fmt: skip
    except InputError as error:  # the learner knows its experts by number
        if isinstance(expert := error.where.get("expert"), int):
            error.where["expert"] = stream.experts[expert]
        raise
    print_notes(stream, output.quiet or output.as_json, printed)
    mixture = None if mixing is None or not ledger.rounds else mixing.best()
    return _report(ledger, spec, stream, output, history, stopped, mixture)


def _opened(table: str, options: dict[str, Any], loss: str | None, sleeping: bool) -> Any:
    """Open a file, standard input, or stream:NAME:arguments."""
    if not table.startswith("stream:"):
        return read_experts(table, loss=loss, sleeping=sleeping, **options)
    if given := [name for name, value in options.items() if value]:
        raise InputError(f"a generated stream takes no reading options: got {', '.join(given)}.")
    stream = specs.make(table.removeprefix("stream:"), "stream")
    if stream.domain.kind not in ("advice", "losses"):
        raise InputError(f"a stream for experts must have advice or losses: {table} has {stream.domain}.")
    return stream


def _saved(path: str, request: Request) -> Ledger:
    """Load the game to resume."""
    chosen = request.learner is not None or request.sleeping or request.switches is not None
    return saved_game(path, request.spec() if chosen else None, horizon=request.horizon, seed=request.seed)


def _learner(spec: specs.Spec, stream: Stream, request: Request) -> Any:
    """Create the learner for this table."""
    horizon = request.horizon
    for option in ("horizon", "switches", "seed"):
        value, named = getattr(request, option), (spec.named or {}).get(option)
        if value is not None and named is not None and str(named) != str(value):
            raise InputError(f"{option} is given twice: --{option} {value} and {spec}. Leave one of them out.")
    if horizon is None and spec.name == SHARING and "horizon" not in (spec.named or {}):
        horizon = _rows(stream)
    return specs.make(
        spec, "learner", experts=len(stream.experts), loss=stream.loss, switches=request.switches, horizon=horizon,
        seed=request.seed,
    )  # fmt: skip


def _check(ledger: Ledger, stream: Stream) -> None:
    """Refuse a learner for another kind of game."""
    learner = ledger.learner
    if learner.domain.kind not in ("advice", "losses"):
        raise MismatchError(
            f"the learner must be for expert advice, such as {DEFAULT}: {spec_of(ledger)} needs {learner.domain}."
        )
    if not isinstance(learner.facts(), ExpertsFacts):
        raise MismatchError(
            f"the learner must observe the losses of all experts, as {DEFAULT} does: {spec_of(ledger)} observes one. "
            "Use it with `novikoff bandit`."
        )
    paid = ledger.player.loss
    if paid != stream.loss:
        raise MismatchError(
            f"learner and table must have the same loss: {spec_of(ledger)} has {paid}, {stream.name} "
            f"was read for {stream.loss}. Pass --loss {paid}, or choose another learner."
        )


def _rows(stream: Stream) -> int:
    """Return the number of rounds to come."""
    rows = stream.count()
    if rows is None:
        raise InputError(
            f"{SHARING} needs the number of rounds in advance, and {stream.name} cannot be read twice. "
            "Pass --horizon N."
        )
    return rows


def _can_be_mixed(stream: Stream, ledger: Ledger) -> bool:
    """Return whether to compute the best mixture: squared loss, few experts, none sleeping, a new game."""
    facts = ledger.player.facts()
    awake = isinstance(facts, ExpertsFacts) and facts.rule != "sleeping"
    return stream.loss == "squared" and 1 < len(stream.experts) <= MIXED and awake and ledger.rounds == 0


def _history(output: Output) -> History | None:
    if output.plot is None and output.report is None:
        return None
    from novikoff.reports.regret import History

    return History()


def _report(
    ledger: Ledger, spec: str, stream: Stream, output: Output, history: History | None, stopped: bool,
    mixture: Mixture | None,
) -> int:  # fmt: skip
    """Print the result and the certificates, and return the exit code."""
    certificates = ledger.certify() if output.certify else []
    if history is not None and ledger.rounds:
        history.see_last(ledger)
    if output.plot is not None and history is not None and ledger.rounds:
        from novikoff.reports import plot_file, regret

        chart = regret.chart(history, certificates, stream.experts, spec, ledger.source)
        plot_file.save(chart, output.plot, output.force)
        if not (output.quiet or output.as_json):
            print(f"plot written to {output.plot}", file=sys.stderr)
    fields: dict[str, object] = {}
    write_proof(ledger, output)
    if output.report is not None or output.as_json:
        fields = experts.as_plain(ledger, certificates, spec, stream.experts, mixture)
        fields |= {"interrupted": stopped, "notes": notes(stream)}
    if output.report is not None:
        from novikoff.reports import page

        more = list(experts.lines(ledger, stream.experts, mixture))[1:]
        text = page.game(ledger, certificates, spec, history=history,
                         experts=stream.experts, fields=fields, more=more, command=output.command)  # fmt: skip
        write_report(output, text)
    with until_closed():
        if output.as_json:
            print(json.dumps(fields))
        else:
            out = terminal.Out()
            out.line(f"{spec} on {ledger.source}", "bold")
            for line in experts.lines(ledger, stream.experts, mixture):
                out.line(line)
            terminal.wrapped(out, *summary.warnings(ledger, certificates))
            if output.certify:
                terminal.promised(out, certificates, output.verbose)
    return ended(ledger, output, stopped, certificates)
