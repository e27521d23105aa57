"""`run` and `duel`: build the players, play, tell."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from novikoff.cli.opening import notes, open_source, say_columns, say_notes
from novikoff.cli.output import while_heard
from novikoff.cli.saving import Saving, goes_on
from novikoff.cli.watching import play_watched, watched
from novikoff.core import registry
from novikoff.core.errors import InputError
from novikoff.core.learner import Learner, adapt
from novikoff.core.observer import Observer
from novikoff.core.stream import Stream
from novikoff.data.as_stream import as_stream
from novikoff.data.tables.alignment import adopted
from novikoff.game import persistence, specs
from novikoff.game.ledger import Ledger
from novikoff.game.play import check_hindsight, look_back, play
from novikoff.game.prepare import prepare
from novikoff.game.specs import Spec
from novikoff.reports import plain, terminal
from novikoff.reports.bound_curve import Bounds
from novikoff.reports.progress import Progress

if TYPE_CHECKING:
    from novikoff.arena.live import Live
    from novikoff.comparators.search import Step
    from novikoff.core.certificate import Certificate
    from novikoff.evaluation.permutation import Permuted
    from novikoff.game.reservoir import HypothesisReservoir
    from novikoff.online_to_batch.keep import Method, OnlineToBatch

VIOLATED = 4
INTERRUPTED = 130
IN_NAMES = ("normalize", "scale", "bias")
"""Options beside the learner's name that are written in it once it plays."""


@dataclass(frozen=True)
class Telling:
    """How a game is told; `force`: the plot and the report replace whatever file is there."""

    as_json: bool = False
    quiet: bool = False
    certify: bool = True
    hindsight: bool = False
    plot: str | None = None
    force: bool = False
    verbose: bool = False
    permutations: int | None = None
    between: tuple[int, int] | None = None
    report: str | None = None
    command: tuple[str, ...] = ()
    live: bool = False

    def check(self) -> None:
        """Refuse what cannot be told before the game begins."""
        if self.hindsight and not self.certify:
            raise InputError("--hindsight needs certificates: leave out --no-certify.")
        if self.plot is not None:
            from novikoff.reports import drawing

            drawing.check(self.plot, self.force)
        if self.report is not None:
            from novikoff.reports import html

            html.check(self.report, self.force)


def check_files(saving: Saving, telling: Telling) -> None:
    """Refuse what cannot be written before the game begins."""
    saving.check()
    telling.check()
    files = {"model": saving.path, "plot": telling.plot, "report": telling.report}
    named = [(what, path, os.path.realpath(path)) for what, path in files.items() if path]
    for place, (what, path, real) in enumerate(named):
        for other, _, same in named[:place]:
            if real == same:
                raise InputError(
                    f"the {other} and the {what} must be different files: got {path} for both. Rename one of them."
                )


@dataclass(frozen=True)
class Choice:
    """Which classifier to keep, of how many candidates, with what confidence."""

    how: Method
    candidates: int
    delta: float

    def reservoir(self, stream: Stream, ledger: Ledger, seed: int | None) -> HypothesisReservoir:
        """In which the game remembers its hypotheses; refuses before it begins what cannot be kept."""
        from novikoff.game.reservoir import HypothesisReservoir
        from novikoff.online_to_batch.keep import check_method

        check_method(self.how, ledger.learner)
        if self.how in ("best", "voted") and not stream.rereadable:
            raise InputError(
                f"--keep {self.how} reads the source twice, and {stream.name} cannot be read again. Save it to a file, "
                "or use --keep random."
            )
        return HypothesisReservoir(ledger.learner, self.candidates, seed, averaging=self.how == "averaged")


def run_source(
    learner: str | None, source: str, options: dict[str, Any], defaults: dict[str, Any], length: tuple[int, int | None],
    saving: Saving, telling: Telling, choice: Choice | None = None,
) -> int:  # fmt: skip
    """`novikoff run`; returns the exit code.

    `options` are the reader's, `defaults` the learner's; `length` is passes and rounds. Where no learner is named that
    of the game to resume goes on, and in a new game `auto` plays.
    """
    check_files(saving, telling)
    passes, rounds = length
    if choice is not None and "cover" in defaults:
        raise InputError("--keep and --cover cannot be combined: leave one of them out.")
    if choice is not None and choice.how == "averaged" and saving.resume is None and defaults.get("scale") is None:
        defaults = {**defaults, "scale": "none"}  # weights on different scales have no average
    if saving.resume is None:
        saved, spec = None, specs.parse(learner or "auto")
        numbers = specs.task(spec) == "regression"
        stream, ledger = _begun(spec, open_source(source, options, numbers), defaults)
    else:
        saved = ledger = saved_game(saving.resume, learner, **defaults)
        numbers = saved.player.outcomes == "numbers"
        stream = as_stream(open_source(source, options, numbers), saved.learner)
    if telling.permutations:
        _check_permuted(stream, ledger, saving)
    keep = 0 if choice is None else choice.reservoir(stream, ledger, defaults.get("seed"))
    resume = goes_on(ledger, stream, source, saving)
    ledger.source = stream.name
    if saved is not None and saved.encoding is not None:
        stream = adopted(stream, saved.encoding, saved.feature_names)
    said = say_notes(stream, telling.quiet or telling.as_json)
    say_columns(stream, telling.quiet or telling.as_json)
    drawing: list[Observer] = [Bounds()] if (telling.plot or telling.report) and telling.certify else []
    live = _live(ledger, telling) if telling.live else None
    drawing += [] if live is None else [live]

    if telling.hindsight:
        check_hindsight(ledger, stream, resume, passes)
    stopped = play_watched(
        ledger, stream, source, saving, telling.quiet, rounds, passes, drawing, track=telling.certify, resume=resume,
        keep=keep,
    )  # fmt: skip
    if live is not None:
        live.end(ledger)
    kept = None if choice is None or stopped else _keep(ledger, stream, choice, saving, telling.quiet)
    if telling.hindsight and not stopped:
        tell = None if telling.quiet or telling.as_json else _say_step
        ledger.hindsight = look_back(ledger, stream, play, tell)
    say_notes(stream, telling.quiet or telling.as_json, said)
    test = None
    if telling.permutations and not stopped:
        from novikoff.evaluation.permutation import permutation_test

        again = open_source(source, options, numbers)
        test = permutation_test(ledger.spec, again, telling.permutations, defaults.get("seed") or 0, rounds=rounds)
    code = _tell(ledger, spec_of(ledger), telling, stopped, notes(stream), kept, test)
    if live is not None:
        live.close()
    return code


def _live(ledger: Ledger, telling: Telling) -> Live:
    """A page that shows the game as it goes, at the address that is said."""
    from novikoff.arena.live import Live

    live = Live(spec_of(ledger), certify=telling.certify)
    print(f"live curve: {live.address}", file=sys.stderr, flush=True)
    return live


def _check_permuted(stream: Stream, ledger: Ledger, saving: Saving) -> None:
    """Refuse a permutation test before the game begins, if it cannot be made after it."""
    if not stream.rereadable:
        raise InputError(
            f"--permutation reads the source twice, and {stream.name} cannot be read again. Save it to a file."
        )
    if saving.resume is not None:
        raise InputError("--permutation needs a new learner: leave out --resume.")
    if ledger.player.pays:
        raise InputError("--permutation is for classification: choose a classifier.")


def _keep(ledger: Ledger, stream: Stream, choice: Choice, saving: Saving, quiet: bool) -> OnlineToBatch:
    from novikoff.online_to_batch.keep import keep

    kept = keep(ledger, choice.how, choice.delta, stream)
    saving.write(kept, quiet)
    return kept


def _begun(spec: Spec, stream: Stream, defaults: dict[str, Any]) -> tuple[Stream, Ledger]:
    """The stream and the ledger of a game that begins."""
    given = {name: value for name, value in defaults.items() if name not in ("scale", "cover")}
    asked = covering(spec, defaults["cover"]) if "cover" in defaults else spec
    learner, playing, stream = prepare(
        asked, stream, stream.multiclass, defaults.get("scale"), alone=True, defaults=given
    )
    if defaults.get("normalize"):
        check_normalized(learner, str(spec))
    return stream, Ledger(learner, source=stream.name, spec=str(in_force(playing, learner, defaults)))


def covering(spec: Spec, cover: float) -> Spec:
    """The learner, with sets that hold the outcome in this share of rounds."""
    return Spec("conformal", (spec,), {"alpha": float(1 - Decimal(repr(cover)))})


def saved_game(path: str, wanted: str | None, **options: Any) -> Ledger:
    """The game in a file, which goes on with its own learner: another, or other options, may not be wanted."""
    ledger = persistence.load_game(path)
    cover, held = options.pop("cover", None), specs.parse(spec_of(ledger))
    if cover is not None:
        has = ledger.coverage.alpha if ledger.coverage is not None else None
        if has is None or has != float(1 - Decimal(repr(cover))):
            says = "has no prediction sets" if has is None else f"has a cover of {float(1 - Decimal(repr(has)))}"
            raise InputError(f"a resumed game keeps its learner: that of {path} {says}. Leave out --cover.")
    if wanted is not None:
        asked = specs.parse(wanted)
        held = held if asked.name == held.name else specs.within(held) or held
        if not any(_within(one, held) for one in (asked, specs.for_numbers(asked))):
            raise InputError(
                f"a resumed game keeps its learner: {path} has {spec_of(ledger)}, not {wanted}. Leave the learner out."
            )
    _check_own(ledger.learner, path, **options)
    return ledger


def _within(wanted: Spec, saved: Spec) -> bool:
    """Is what is wanted the saved learner, by its name alone or with its options? Those beside it may be left out."""
    named, own = wanted.named or {}, saved.named or {}
    less = {key: value for key, value in own.items() if key in named or key not in IN_NAMES}
    return wanted in (Spec(saved.name, (), {}), Spec(saved.name, saved.positional, less))


def in_force(spec: Spec, learner: Learner, defaults: dict[str, Any]) -> Spec:
    """The learner as it plays: with the options that were given beside its name, where it has them and says them so."""
    given = {name: defaults[name] for name in IN_NAMES if defaults.get(name) is not None}
    more = {name: value for name, value in given.items()
            if name not in (spec.named or {}) and value in adapt(learner).settings(name)}  # fmt: skip
    return Spec(spec.name, spec.positional, {**(spec.named or {}), **more}) if more else spec


def spec_of(ledger: Ledger) -> str:
    """The learner of a game, as it was asked for."""
    return ledger.spec or registry.learner_name(type(ledger.learner))


def _check_own(learner: Any, path: str, **asked: Any) -> None:
    """Refuse options for a learner that goes on if it began with others: they would change nothing."""
    player = adapt(learner)
    if asked.get("scale") == "auto":
        asked["scale"] = None
    for name, value in asked.items():
        has = player.settings(name) or (["none"] if name == "scale" else [])
        if value is not None and has and value not in has:
            raise InputError(
                f"a game must go on with its own learner: that of {path} has {name} {has[0]}, not {value}. "
                f"Leave out --{name}."
            )


def check_normalized(learner: Any, spec: str) -> None:
    """Refuse --normalize for a learner that does not divide examples by their length."""
    if not adapt(learner).normalizes:
        raise InputError(
            f"--normalize is not an option of {spec}. Leave it out; kernels are normalised with normalize_kernel=true."
        )


def _say_step(step: Step) -> None:
    """A problem of the search was solved."""
    if step.problem == "margin":
        told = f"margin to {100 * (1 - step.bound / step.limit):.2g} %" if step.bound > 0 else "no margin"
    else:
        told = f"{step.problem} bound {step.bound:.6g}, at best {step.limit:.6g}"
    print(f"hindsight: {told}, {step.epochs} epochs, {step.seconds:.1f} s", file=sys.stderr)


def run_duel(learner: str, adversary: str, rounds: int, seed: int | None, telling: Telling) -> int:
    """`novikoff duel`; returns the exit code."""
    player = specs.make(learner, "learner", seed=seed)
    opponent = specs.make(adversary, "adversary", domain=player.domain, seed=seed)
    opponent.name = adversary
    ledger = Ledger(player, opponent, source=adversary, passes=1)

    def game(watching: list[Observer]) -> None:
        play(player, opponent, rounds=rounds, ledger=ledger, observers=watching)

    return _tell(ledger, learner, telling, watched(game, Progress(rounds), telling.quiet), [], None)


def _tell(
    ledger: Ledger, learner: str, telling: Telling, stopped: bool, notes: list[str], kept: OnlineToBatch | None,
    test: Permuted | None = None,
) -> int:  # fmt: skip
    """Print what happened and what was promised; the exit code."""
    of_members = ledger.certify_members() if telling.certify else []
    certificates = ledger.certify(members=of_members) if telling.certify else []
    between = None if telling.between is None else ledger.player.between(*telling.between)
    if telling.plot is not None:
        from novikoff.reports import drawing, hindsight, plot

        levels = [] if ledger.hindsight is None else hindsight.told(ledger.hindsight).levels
        drawing.save(plot.game(ledger, certificates, learner, levels), telling.plot, telling.force)
    told: dict[str, Any] = {}
    if telling.report is not None or telling.as_json:
        told = {**plain.game(ledger, certificates, learner, of_members), "interrupted": stopped, "notes": notes}
        told |= {} if kept is None else {"kept": plain.kept(kept)}
        told |= {} if test is None else {"permutation": plain.permuted(test)}
        told |= {} if between is None else {"between": between._asdict()}
    if telling.report is not None:
        from novikoff.reports import page

        more = [] if test is None else [terminal.permuted(test)]
        more += [] if between is None else [str(between)]
        write_report(
            telling,
            page.game(ledger, certificates, learner, of_members, kept, told=told, more=more, command=telling.command),
        )
    with while_heard():
        if telling.as_json:
            print(json.dumps(told))
        else:
            out = terminal.Out()
            terminal.game(out, ledger, certificates, learner, telling.certify, of_members, telling.verbose)
            if kept is not None:
                terminal.kept(out, kept, telling.verbose)
            if test is not None:
                terminal.say(out, terminal.permuted(test))
            if between is not None:
                terminal.say(out, str(between))
    return ended(ledger, telling, stopped, certificates, *of_members)


def write_report(telling: Telling, text: str) -> None:
    """Write the page that was asked for, and say so."""
    from novikoff.reports import html

    assert telling.report is not None
    html.save(text, telling.report, telling.force)
    if not (telling.quiet or telling.as_json):
        print(f"report written to {telling.report}", file=sys.stderr)


def ended(ledger: Ledger, telling: Telling, stopped: bool, *certificates: Sequence[Certificate]) -> int:
    """The exit code of a game; that it was stopped is said."""
    if stopped and not telling.as_json:
        print(f"stopped by Ctrl-C after round {ledger.rounds:,}; results so far", file=sys.stderr)
    if any(certificate.status == "violated" for found in certificates for certificate in found):
        return VIOLATED
    return INTERRUPTED if stopped else 0
