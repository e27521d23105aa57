"""`experts`: combine the columns of a table of predictions, and certify the regret."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff import catalog, model
from novikoff.certificate import Certificate
from novikoff.cli.games import (
    INTERRUPTED,
    VIOLATED,
    Keeper,
    Saving,
    Telling,
    same_source,
    say_notes,
    size_of,
    watched,
)
from novikoff.errors import InputError, MismatchError, SourceError
from novikoff.game import play
from novikoff.ledger import Ledger
from novikoff.report import plain, terminal
from novikoff.report.progress import Progress
from novikoff.sources.expert_table import ExpertTable, expert_table
from novikoff.sources.layout import quoted
from novikoff.types import Batch, Position, Stream

if TYPE_CHECKING:
    from novikoff.report.regret import History

DEFAULT, SHARING, SLEEPING = "exponential-weights", "fixed-share", "sleeping-experts"
TOLD, SAID = 20, 5
"""Experts whose weights are told as JSON, and on a terminal."""


@dataclass(frozen=True)
class Asked:
    """What to play."""

    learner: str | None = None
    loss: str | None = None
    switches: int | None = None
    horizon: int | None = None
    sleeping: bool = False
    seed: int | None = None
    rounds: int | None = None

    def spec(self) -> str:
        """The learner: the one asked for, or the one that does what was asked for."""
        wanted = SHARING if self.switches is not None else SLEEPING if self.sleeping else None
        option = "--switches" if self.switches is not None else "--sleeping"
        if self.switches is not None and self.sleeping:
            raise InputError("experts that sleep cannot be followed by switches: leave out --switches or --sleeping.")
        if self.learner is None:
            return wanted or DEFAULT
        name = catalog.parse(self.learner).name
        if wanted and name != wanted:
            raise InputError(f"{option} is for {wanted}: got the learner {name}. Leave one of them out.")
        return self.learner


def run_experts(
    table: str, options: dict[str, Any], asked: Asked, saving: Saving, telling: Telling
) -> int:  # fmt: skip
    """`novikoff experts`; returns the exit code. `options` are the reader's."""
    saving.check()
    telling.check()
    saved = None if saving.resume is None else _saved(saving.resume, asked)
    spec = asked.spec() if saved is None else _spec_of(saved)
    parsed = catalog.parse(spec)
    catalog.entry(parsed.name, "learner")  # before a long pipe is looked at
    loss = asked.loss or (getattr(saved.learner, "loss", None) if saved else (parsed.named or {}).get("loss"))
    stream = expert_table(table, loss=loss, sleeping=parsed.name == SLEEPING, **options)
    said = say_notes(cast(Stream, stream), telling.quiet or telling.as_json)
    ledger = saved or Ledger(_learner(spec, stream, asked), source=stream.name, spec=spec)
    _check(ledger, stream)
    resume = saving.resume is not None and same_source(ledger, cast(Stream, stream))
    ledger.source = stream.name
    keeper = Keeper(ledger, saving)
    history = _history(telling)

    def game(look: Callable[[Ledger], None]) -> None:
        def watch(now: Ledger) -> None:
            keeper(now)
            if history is not None:
                history.see_if_due(now)
            look(now)

        shown = stream if history is None else _Sampled(stream, history)
        with _named(stream.experts):
            play(ledger.learner, shown, asked.rounds, progress=watch, ledger=ledger, riding=False, resume=resume)

    stopped = watched(game, Progress(asked.rounds, size_of(table)), telling)
    keeper.finish()
    say_notes(cast(Stream, stream), telling.quiet or telling.as_json, said)
    return _tell(ledger, spec, stream, telling, history, stopped)


def _saved(path: str, asked: Asked) -> Ledger:
    """The game that goes on, which has its own learner: another may not be asked for."""
    ledger = model.load_game(path)
    saved = _spec_of(ledger)
    if asked.learner is not None or asked.sleeping or asked.switches is not None:
        wanted = catalog.parse(asked.spec())
        if wanted not in (catalog.parse(saved), catalog.Spec(catalog.parse(saved).name, (), {})):
            raise InputError(f"a game must go on with its own learner: {path} holds {saved}, not {asked.spec()}.")
    return ledger


def _spec_of(ledger: Ledger) -> str:
    return ledger.spec or catalog.learner_name(type(ledger.learner))


def _learner(spec: str, stream: ExpertTable, asked: Asked) -> Any:
    """The learner, told what it must know of the table."""
    parsed, horizon = catalog.parse(spec), asked.horizon
    if horizon is None and parsed.name == SHARING and "horizon" not in (parsed.named or {}):
        horizon = _rows(stream)
    return catalog.make(
        spec, "learner", experts=len(stream.experts), loss=stream.loss, switches=asked.switches, horizon=horizon,
        seed=asked.seed,
    )  # fmt: skip


def _check(ledger: Ledger, stream: ExpertTable) -> None:
    """Refuse a learner for another kind of game."""
    learner = ledger.learner
    if learner.domain.kind not in ("advice", "losses"):
        raise MismatchError(
            f"the learner must be one for expert advice, such as {DEFAULT}: {_spec_of(ledger)} plays on "
            f"{learner.domain}."
        )
    paid = getattr(learner, "loss", None)
    if paid != stream.loss:
        raise MismatchError(
            f"the learner must pay the loss that the table is read for: {_spec_of(ledger)} pays {paid}, {stream.name} "
            f"is read for {stream.loss}. Pass --loss {paid}, or choose another learner."
        )


def _rows(stream: ExpertTable) -> int:
    """How many rounds there will be."""
    rows = stream.count()
    if rows is None:
        raise InputError(
            f"{SHARING} must know how many rounds there will be: {stream.name} cannot be read twice. Pass --horizon N."
        )
    return rows


def _history(telling: Telling) -> History | None:
    if telling.plot is None:
        return None
    from novikoff.report.regret import History

    return History()


@contextmanager
def _named(experts: Sequence[str]) -> Iterator[None]:
    """Let errors of the learner, which knows its experts by number, name them as the table does."""
    try:
        yield
    except SourceError:
        raise
    except InputError as error:
        told = re.sub(
            r"\bexpert (\d+)\b", lambda found: f"expert {quoted(experts[int(found[1])])}", str(error), count=1
        )
        hint = " Scale it, leave the column out (--without), or pass another --loss." if "from 0 to 1" in told else ""
        raise InputError(told + hint) from error


class _Sampled:
    """The stream in smaller batches, which end where something is to be seen."""

    def __init__(self, stream: ExpertTable, history: History) -> None:
        self._stream, self._history = stream, history

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._stream.batches(start):
            done = 0
            while done < len(batch):
                due = self._history.due(batch.first - 1 + done)
                stop = min(due - batch.first + 1, len(batch))
                yield batch.part(done, stop)
                done = stop


def _tell(
    ledger: Ledger, spec: str, stream: ExpertTable, telling: Telling, history: History | None, stopped: bool
) -> int:
    """Print what happened and what was promised; the exit code."""
    certificates = ledger.certify() if telling.certify else []
    if telling.as_json:
        told = {**as_plain(ledger, certificates, spec, stream.experts), "interrupted": stopped, "notes": stream.notes}
        print(json.dumps(told))
    else:
        out = terminal.Out()
        out.line(f"{spec} on {ledger.source}", "bold")
        for line in lines(ledger, stream.experts):
            out.line(line)
        if telling.certify:
            terminal.show(out, certificates)
        if stopped:
            print(f"stopped by Ctrl-C after round {ledger.rounds:,}; this is what was done until then", file=sys.stderr)
    if telling.plot is not None and history is not None and ledger.rounds:
        from novikoff.report import plot, regret

        history.see_last(ledger)
        plot.save(regret.plot(history, certificates, stream.experts, spec, ledger.source), telling.plot)
        if not (telling.quiet or telling.as_json):
            print(f"plot written to {telling.plot}", file=sys.stderr)
    if any(certificate.status == "violated" for certificate in certificates):
        return VIOLATED
    return INTERRUPTED if stopped else 0


def lines(ledger: Ledger, experts: Sequence[str]) -> Iterator[str]:
    """What happened, in words."""
    learner: Any = ledger.learner
    facts = learner.facts()
    drawn = "" if ledger.deterministic else f", {ledger.expected:,.6g} expected"
    paid = f"{facts.loss} loss {ledger.loss:,.6g} ({ledger.loss_rate:.4g} a round{drawn})"
    took = f"{ledger.seconds:.2f} s{terminal.speed(ledger)}"
    yield f"{ledger.rounds:,} rounds, {len(experts):,} experts, {paid}, {took}"
    if facts.rule == "sleeping":
        if facts.sleeper >= 0:
            awake = f"in the {facts.sleeper_rounds:,} rounds it was awake"
            yield f"nearest to its bound: regret {facts.sleeper_regret:,.6g} against {experts[facts.sleeper]} {awake}"
    else:
        regret = ledger.expected - facts.best_loss
        yield f"best expert: {experts[facts.best]}, loss {facts.best_loss:,.6g}; regret {regret:,.6g}"
    if facts.path_losses:
        switches = len(facts.path_losses) - 1
        times = "1 switch" if switches == 1 else f"{switches:,} switches"
        regret = ledger.expected - facts.path_losses[-1]
        yield f"best sequence with at most {times}: loss {facts.path_losses[-1]:,.6g}; regret {regret:,.6g}"
    top = leading(learner.weights, SAID)
    told = [f"{experts[i]} {_share(weight)}" for i, weight in top]
    if len(experts) > len(top):
        rest = max(1.0 - sum(weight for _, weight in top), 0.0)
        told.append(f"{len(experts) - len(top):,} more {_share(rest)}")
    yield "weights: " + ", ".join(told)


def as_plain(ledger: Ledger, certificates: list[Certificate], spec: str, experts: Sequence[str]) -> dict[str, Any]:
    """The game as JSON values."""
    learner: Any = ledger.learner
    facts = learner.facts()
    sleeping = facts.rule == "sleeping"
    top = leading(learner.weights, TOLD)
    told = plain.game(ledger, certificates, spec)
    found = told.pop("certificates")
    for key in ("survivor", "expected_mistakes"):
        told.pop(key, None)
    if not ledger.counts:
        told.pop("mistakes"), told.pop("mistake_rate")
    told |= {
        "loss": ledger.loss,
        "expected_loss": ledger.expected,
        "loss_name": facts.loss,
        "play": facts.play,
        "experts": len(experts),
        "regret": facts.sleeper_regret if sleeping else ledger.expected - facts.best_loss,
        "best_expert": None if sleeping else {"name": experts[facts.best], "loss": facts.best_loss},
        "weights": {experts[i]: weight for i, weight in top},
        "others": len(experts) - len(top),
    }
    if sleeping and facts.sleeper >= 0:
        told["against"] = {"name": experts[facts.sleeper], "rounds_awake": facts.sleeper_rounds}
    if facts.path_losses:
        told["best_sequence"] = {"switches": len(facts.path_losses) - 1, "loss": facts.path_losses[-1]}
    return {**told, "certificates": found}


def leading(weights: Any, count: int) -> list[tuple[int, float]]:
    """The experts with the largest weights, the first of equals first."""
    weights = np.asarray(weights)
    order = np.argsort(-weights, kind="stable")[:count]
    return [(int(i), float(weights[i])) for i in order]


def _share(weight: float) -> str:
    return f"{100 * weight:.3g} %" if weight >= 1e-4 else "under 0.01 %"
