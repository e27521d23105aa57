"""`run` and `duel`: prepare the game, play it, report it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from novikoff.cli.opening import notes, open_source, print_columns, print_notes
from novikoff.cli.output import until_closed
from novikoff.cli.saving import Saving, continues
from novikoff.cli.watching import play_watched, watched
from novikoff.core import registry
from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError
from novikoff.core.learner import Learner
from novikoff.core.observer import Observer
from novikoff.core.stream import Stream
from novikoff.data.as_stream import as_stream
from novikoff.data.read_as import Reading, read_as
from novikoff.data.tables.alignment import adopted
from novikoff.game import persistence, specs
from novikoff.game.course import Recorder
from novikoff.game.ledger import Ledger
from novikoff.game.play import check_hindsight, look_back, looking_back, play
from novikoff.game.prepare import prepare
from novikoff.game.specs import Spec
from novikoff.game.thresholds import check_costs, check_probability, check_rule, check_scores
from novikoff.reports import plain, terminal
from novikoff.reports.bound_curve import Bounds
from novikoff.reports.progress import Progress

if TYPE_CHECKING:
    from novikoff.arena.live import Live
    from novikoff.comparators.search import Step
    from novikoff.core.certificate import Certificate
    from novikoff.evaluation.permutation import PermutationTest
    from novikoff.game.reservoir import HypothesisReservoir
    from novikoff.online_to_batch.finalize import Method, OnlineToBatch

VIOLATED = 4
"""Exit code for a violated certificate."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""
LOOKING_BACK = ("lags", "lag_columns", "by", "horizon")
"""Options about earlier rows and groups."""
IN_NAMES = ("normalize", "scale", "bias")
"""Options of the command line that become part of the learner's spec."""


@dataclass(frozen=True)
class Output:
    """Output options of a verb; `force` lets plot and report replace any file."""

    as_json: bool = False
    quiet: bool = False
    certify: bool = True
    hindsight: bool = False
    plot: str | None = None
    chart: str = "game"
    trace: str | None = None
    force: bool = False
    verbose: bool = False
    permutations: int | None = None
    between: tuple[int, int] | None = None
    report: str | None = None
    command: tuple[str, ...] = ()
    live: bool = False
    thresholds: bool = False
    after: int | None = None
    proof: str | None = None
    proof_rows: str | None = None

    @property
    def recorded(self) -> bool | str:
        """What is recorded for a proof file: nothing, the game, or the game and its rows to a file."""
        return self.proof_rows or self.proof is not None

    @property
    def traced(self) -> bool:
        """Whether the proof is followed round by round."""
        return self.trace is not None or self.chart == "proof"

    def check(self) -> None:
        """Refuse impossible output before the game begins."""
        if self.hindsight and not self.certify:
            raise InputError("--hindsight needs certificates: leave out --no-track.")
        if self.chart == "proof" and self.plot is None:
            raise InputError("--chart proof needs a file: pass --plot FILE too.")
        if self.chart == "thresholds" and self.plot is None:
            raise InputError("--chart thresholds needs a file: pass --plot FILE too.")
        if self.plot is not None:
            from novikoff.reports import plot_file

            plot_file.check(self.plot, self.force)
        if self.trace not in (None, "-"):
            from novikoff.game.trace import check_path

            check_path(str(self.trace), self.force)
        if self.recorded:
            from novikoff.game import proof_file

            if self.proof is None or not self.certify:
                raise InputError("--proof-rows needs --proof FILE, and certificates.")
            proof_file.check(self.proof, self.force)
        if self.report is not None:
            from novikoff.reports import html

            html.check(self.report, self.force)


def check_files(saving: Saving, output: Output) -> None:
    """Refuse files that cannot be written before the game begins."""
    saving.check()
    output.check()
    trace = None if output.trace == "-" else output.trace
    files = {"model": saving.path, "plot": output.plot, "trace": trace, "report": output.report}
    files |= {"proof": output.proof, "rows": output.proof_rows}
    named = [(what, path, os.path.realpath(path)) for what, path in files.items() if path]
    for place, (what, path, real) in enumerate(named):
        for other, _, same in named[:place]:
            if real == same:
                raise InputError(
                    f"the {other} and the {what} must be different files: got {path} for both. Rename one of them."
                )


@dataclass(frozen=True)
class Choice:
    """Online-to-batch conversion of `--finalize`: its method, number of candidates and confidence."""

    how: Method
    candidates: int
    delta: float

    def reservoir(self, stream: Stream, ledger: Ledger, seed: int | None) -> HypothesisReservoir:
        """Return the reservoir for the hypotheses of a game; refuse an impossible method before the game begins."""
        from novikoff.game.reservoir import HypothesisReservoir
        from novikoff.online_to_batch.finalize import check_method

        check_method(self.how, ledger.player)
        if self.how in ("best", "voted") and not stream.rereadable:
            raise InputError(
                f"--finalize {self.how} reads the source twice, and {stream.name} cannot be read again. Save it to a "
                "file, or use --finalize random."
            )
        return HypothesisReservoir(ledger.learner, self.candidates, seed, averaging=self.how == "averaged")


@dataclass
class Cut:
    """Options about the threshold of positive predictions.

    Attributes:
        costs: Costs of a false positive and of a false negative, as FP=1,FN=5.
        precision: Required precision.
        recall: Required recall.
        threshold: Given threshold.
        delta: Probability that a limit on new rows may fail.
        failed: Why no threshold was chosen; "" if one was, or none was requested.
    """

    costs: str | None = None
    precision: float | None = None
    recall: float | None = None
    threshold: float | None = None
    delta: float = 0.05
    failed: str = ""

    @property
    def given(self) -> bool:
        """Whether a rule was given."""
        return any(one is not None for one in (self.costs, self.precision, self.recall, self.threshold))

    def check(self) -> None:
        """Refuse an impossible rule before anything is read."""
        if self.given:
            check_rule(self.cost, self.precision, self.recall, self.threshold)

    def check_for(self, ledger: Ledger) -> None:
        """Refuse a threshold that the learner cannot have."""
        if self.given:
            check_scores(ledger)
            if self.threshold is not None and ledger.player.probable:
                check_probability(self.threshold)

    @property
    def cost(self) -> dict[str, float] | None:
        """Costs by name; None if none were given."""
        if self.costs is None:
            return None
        try:
            parts = [one.partition("=") for one in self.costs.split(",")]
            found = {name.strip().upper(): float(number) for name, _, number in parts}
            check_costs(found)
        except (InputError, ValueError):
            must = "--costs must be those of a false positive and a false negative, both above 0"
            raise InputError(must, f"got {self.costs}", "Write --costs FP=1,FN=5.") from None
        return found

    def choose(self, ledger: Ledger) -> None:
        """Choose the threshold after a game; that of a resumed game is chosen again by its own rule."""
        before = ledger.threshold
        if not ledger.rounds or not (self.given or (before is not None and not before.fresh)):
            return
        from novikoff.online_to_batch.choose_threshold import choose_again, choose_threshold

        try:
            if self.given:
                choose_threshold(ledger, self.cost, self.precision, self.recall, self.threshold, self.delta)
            else:
                choose_again(ledger)
        except InputError as error:
            self.failed = str(error)


def run_source(
    learner: str | None, source: str, options: dict[str, Any], defaults: dict[str, Any], length: tuple[int, int | None],
    saving: Saving, output: Output, choice: Choice | None = None, cut: Cut | None = None,
) -> int:  # fmt: skip
    """Run `novikoff run` and return the exit code.

    Args:
        learner: Spec of the learner; None for `auto`, or for the learner of the game to resume.
        source: Source, as on the command line.
        options: Options of the reader.
        defaults: Options of the learner, used where its spec has none.
        length: Number of passes, and maximum number of rounds.
        saving: Checkpoint to write or resume.
        output: Output options.
        choice: Classifier to keep, or None.
        cut: Rule of the threshold of positive predictions, or None.
    """
    cut = cut or Cut()
    if choice is not None and cut.given:
        raise InputError("--finalize and a threshold cannot be combined: leave one of them out.")
    cut.check()
    check_files(saving, output)
    passes, rounds = length
    if choice is not None and "cover" in defaults:
        raise InputError("--finalize and --cover cannot be combined: leave one of them out.")
    if choice is not None and choice.how == "averaged" and saving.resume is None and defaults.get("scale") is None:
        defaults = {**defaults, "scale": "none"}  # weights on different scales have no average
    if saving.resume is None:
        saved, spec = None, specs.parse(learner or "auto")
        numbers = specs.task(spec) == "regression"
        if passes > 1 and "lags" in defaults:
            raise InputError("--lags is for one pass: leave out --passes.")
        stream, ledger = _begun(spec, open_source(source, options, numbers), defaults)
    else:
        saved = ledger = saved_game(saving.resume, learner, **defaults)
        numbers = saved.player.task == "regression"
        stream = as_stream(open_source(source, options, numbers), saved.player)
    if output.permutations:
        _check_permuted(stream, ledger, saving)
    reservoir = 0 if choice is None else choice.reservoir(stream, ledger, defaults.get("seed"))
    resume = continues(ledger, stream, source, saving)
    ledger.source = stream.name
    if saved is not None and saved.encoding is not None:
        stream = adopted(stream, saved.encoding, saved.feature_names)
    _check_proof(ledger, output)
    cut.check_for(ledger)
    if output.thresholds or output.chart == "thresholds":
        check_scores(ledger)
    printed = print_notes(stream, output.quiet or output.as_json)
    print_columns(stream, output.quiet or output.as_json)
    drawing = drawn(output)
    live = _live(ledger, output) if output.live else None
    drawing += [] if live is None else [live]

    if output.hindsight:
        check_hindsight(ledger, stream, resume, passes)
    stopped = play_watched(
        ledger, stream, source, saving, output.quiet, rounds, passes, drawing, track=output.certify, resume=resume,
        candidates=reservoir, trace=output.traced, ended=cut.choose,
        after=output.after, proof=output.recorded,
    )  # fmt: skip
    if live is not None:
        live.end(ledger)
    kept = None if choice is None or stopped else _keep(ledger, stream, choice, saving, output.quiet)
    if output.hindsight and not stopped:
        on_step = None if output.quiet or output.as_json else _print_step
        ledger.hindsight = look_back(ledger, stream, play, on_step)
    print_notes(stream, output.quiet or output.as_json, printed)
    if cut.failed and not output.as_json:
        print(f"note: {cut.failed} The threshold is unchanged.", file=sys.stderr)
    test = None
    if output.permutations and not stopped:
        from novikoff.evaluation.permutation import permutation_test

        again = open_source(source, options, numbers)
        test = permutation_test(ledger.spec, again, output.permutations, defaults.get("seed") or 0, rounds=rounds)
    more = [*notes(stream), *([cut.failed] if cut.failed else [])]
    code = _report(ledger, spec_of(ledger), output, stopped, more, kept, test)
    if live is not None:
        live.close()
    return code


def drawn(output: Output) -> list[Observer]:
    """Return the observers whose points a plot or a report needs."""
    if not (output.plot or output.report):
        return []
    return [Recorder(), Bounds()] if output.certify else [Recorder()]


def _check_proof(ledger: Ledger, output: Output) -> None:
    """Refuse to draw a proof that is not followed, before the game begins."""
    if output.chart == "proof" and ledger.player.within.proof() is None:
        raise InputError(
            f"--chart proof needs a learner whose proof is followed: {spec_of(ledger)} has none. Leave it out, or play "
            "perceptron, ellipsoid, halving, weighted-majority or a kernel learner."
        )


def write_proof(ledger: Ledger, output: Output, risks: Sequence[Certificate] = ()) -> None:
    """Write the proof file that was asked for, with limits on the risk of a classifier that is kept."""
    if output.proof is not None:
        ledger.write_proof(output.proof, output.force, risks)
        if not (output.quiet or output.as_json):
            data = output.proof_rows or ledger.source
            print(f"proof written to {output.proof}; check it: novikoff verify {output.proof} {data}", file=sys.stderr)


def _live(ledger: Ledger, output: Output) -> Live:
    """Start the live page of a game, and print its address."""
    from novikoff.arena.live import Live

    live = Live(spec_of(ledger), certify=output.certify)
    print(f"live curve: {live.address}", file=sys.stderr, flush=True)
    return live


def _check_permuted(stream: Stream, ledger: Ledger, saving: Saving) -> None:
    """Refuse a permutation test that cannot follow the game, before the game begins."""
    if not stream.rereadable:
        raise InputError(
            f"--permutation reads the source twice, and {stream.name} cannot be read again. Save it to a file."
        )
    if saving.resume is not None:
        raise InputError("--permutation needs a new learner: leave out --resume.")
    if not ledger.player.learns_labels:
        raise InputError("--permutation is for classification: choose a classifier.")


def _keep(ledger: Ledger, stream: Stream, choice: Choice, saving: Saving, quiet: bool) -> OnlineToBatch:
    from novikoff.online_to_batch.finalize import finalize

    kept = finalize(ledger, choice.how, choice.delta, stream)
    saving.write(kept, quiet)
    return kept


def _begun(spec: Spec, stream: Stream, defaults: dict[str, Any]) -> tuple[Stream, Ledger]:
    """Return the stream and the ledger of a new game."""
    stream = read_as(stream, Reading(task=defaults.get("task")))
    if any(name in defaults for name in LOOKING_BACK):
        spec, stream = _looking_back(spec, stream, defaults)
    given = {name: value for name, value in defaults.items() if name not in ("scale", "cover", "task", *LOOKING_BACK)}
    requested = covering(spec, defaults["cover"]) if "cover" in defaults else spec
    requested = specs.ahead(requested, defaults.get("horizon", 1), defaults.get("by"))
    learner, playing, opened = prepare(
        requested, stream, stream.multiclass, defaults.get("scale"), alone=True, defaults=given
    )
    assert isinstance(opened, Stream)
    stream = opened
    if defaults.get("normalize"):
        check_normalized(learner, str(spec))
    return stream, Ledger(learner, source=stream.name, spec=str(in_force(playing, learner, defaults)))


def _looking_back(spec: Spec, stream: Stream, defaults: dict[str, Any]) -> tuple[Spec, Stream]:
    """Return the spec with groups, and the stream with lags."""
    by = defaults.get("by")
    numbers, columns = specs.task(spec) == "regression", defaults.get("lag_columns", ())
    horizon = defaults.get("horizon", 1)
    stream = looking_back(stream, numbers, defaults.get("lags"), columns, by, horizon=horizon)
    return spec if by is None else specs.by_groups(spec, by), stream


def covering(spec: Spec, cover: float) -> Spec:
    """Wrap a learner in conformal sets with this coverage."""
    return Spec("conformal", (spec,), {"alpha": float(1 - Decimal(repr(cover)))})


def saved_game(path: str, wanted: str | None, **options: object) -> Ledger:
    """Load the game to resume; refuse another learner, or other options, than it was started with."""
    ledger = persistence.load_game(path)
    cover, held = options.pop("cover", None), specs.parse(spec_of(ledger))
    lags = None if ledger.encoding is None else ledger.encoding.lags
    kept = {} if lags is None else {"lags": lags.count, "lag_columns": lags.columns, "by": lags.by,
                                    "horizon": lags.horizon}  # fmt: skip
    for name in LOOKING_BACK if ledger.player.task not in ("advice", "losses") else ():
        if (asked := options.pop(name, None)) is not None and asked != kept.get(name):
            flag = name.replace("_", "-")
            raise InputError(
                f"a resumed game keeps its {flag}: that of {path} has {kept.get(name)}. Leave out --{flag}."
            )
    if cover is not None:
        has = ledger.coverage.alpha if ledger.coverage is not None else None
        if has is None or has != float(1 - Decimal(repr(cover))):
            found = "has no prediction sets" if has is None else f"has a cover of {float(1 - Decimal(repr(has)))}"
            raise InputError(f"a resumed game keeps its learner: that of {path} {found}. Leave out --cover.")
    if wanted is not None:
        requested = specs.parse(wanted)
        held = held if requested.name == held.name else specs.within(held) or held
        if not any(_within(one, held) for one in (requested, specs.for_numbers(requested))):
            raise InputError(
                f"a resumed game keeps its learner: {path} has {spec_of(ledger)}, not {wanted}. Leave the learner out."
            )
    _check_own(ledger.player, path, **options)
    return ledger


def _within(wanted: Spec, saved: Spec) -> bool:
    """Return whether a spec is that of the saved learner: by name alone, or with its options.

    Options of IN_NAMES may be left out: the command line added them to the saved spec.
    """
    named, kept = wanted.named or {}, saved.named or {}
    less = {key: value for key, value in kept.items() if key in named or key not in IN_NAMES}
    return wanted in (Spec(saved.name, (), {}), Spec(saved.name, saved.positional, less))


def in_force(spec: Spec, learner: Learner, defaults: dict[str, object]) -> Spec:
    """Return the learner's spec with those options of the command line that took effect."""
    given = {name: defaults[name] for name in IN_NAMES if defaults.get(name) is not None}
    more = {name: value for name, value in given.items()
            if name not in (spec.named or {}) and value in learner.settings(name)}  # fmt: skip
    return Spec(spec.name, spec.positional, {**(spec.named or {}), **more}) if more else spec


def spec_of(ledger: Ledger) -> str:
    """Return the spec of the learner of a game."""
    return ledger.spec or registry.learner_name(type(ledger.learner))


def _check_own(player: Learner, path: str, **requested: object) -> None:
    """Refuse options that contradict those of the saved learner: they would have no effect."""
    if requested.get("scale") == "auto":
        requested["scale"] = None
    for name, value in requested.items():
        has = player.settings(name) or (["none"] if name == "scale" else [])
        if value is not None and has and value not in has:
            raise InputError(
                f"a resumed game keeps its learner: that of {path} has {name} {has[0]}, not {value}. "
                f"Leave out --{name}."
            )


def check_normalized(learner: Learner, spec: str) -> None:
    """Refuse --normalize for a learner that does not divide examples by their length."""
    if not learner.normalizes:
        raise InputError(
            f"--normalize is not an option of {spec}. Leave it out; kernels are normalised with normalize_kernel=true."
        )


def _print_step(step: Step) -> None:
    """Print the result of one problem of the search for comparators."""
    if step.problem == "margin":
        result = f"margin to {100 * (1 - step.bound / step.limit):.2g} %" if step.bound > 0 else "no margin"
    else:
        result = f"{step.problem} bound {step.bound:.6g}, at best {step.limit:.6g}"
    print(f"hindsight: {result}, {step.epochs} epochs, {step.seconds:.1f} s", file=sys.stderr)


def run_duel(learner: str, adversary: str, rounds: int, seed: int | None, output: Output) -> int:
    """Run `novikoff duel` and return the exit code."""
    output.check()
    player = adapt(specs.make(learner, "learner", seed=seed))
    opponent = specs.make(adversary, "adversary", domain=player.domain, seed=seed)
    opponent.name = adversary
    ledger = Ledger(player, opponent, source=adversary, passes=1)
    _check_proof(ledger, output)

    def game(watching: list[Observer]) -> None:
        play(player, opponent, rounds=rounds, ledger=ledger, observers=watching, trace=output.traced,
             proof=output.recorded)  # fmt: skip

    return _report(ledger, learner, output, watched(game, Progress(rounds), output.quiet), [], None)


def _report(
    ledger: Ledger, learner: str, output: Output, stopped: bool, notes: list[str], kept: OnlineToBatch | None,
    test: PermutationTest | None = None,
) -> int:  # fmt: skip
    """Print the result and the certificates, and return the exit code."""
    of_members = ledger.certify_members() if output.certify else []
    certificates = ledger.certify(members=of_members) if output.certify else []
    between = None if output.between is None else ledger.player.between(*output.between)
    if output.plot is not None:
        from novikoff.reports import game_chart, hindsight, plot_file, proof, thresholds

        levels = [] if ledger.hindsight is None else hindsight.describe(ledger.hindsight).levels
        if output.chart == "thresholds":
            plot_file.save(thresholds.chart(ledger, learner), output.plot, output.force)
        elif output.chart == "proof" and ledger.trace is not None:
            plot_file.save(proof.chart(ledger.trace, ledger, learner), output.plot, output.force)
        else:
            plot_file.save(game_chart.chart(ledger, certificates, learner, levels), output.plot, output.force)
    if ledger.trace is not None and output.trace not in (None, "-"):
        ledger.trace.save(str(output.trace), output.force)
    write_proof(ledger, output, () if kept is None else kept.certificates)
    fields: dict[str, object] = {}
    if output.report is not None or output.as_json:
        fields = {**plain.game(ledger, certificates, learner, of_members), "interrupted": stopped, "notes": notes}
        fields |= {} if kept is None else {"kept": plain.kept(kept)}
        fields |= {} if test is None else {"permutation": plain.permuted(test)}
        if ledger.trace is not None:
            fields["proof"] = plain.proof(ledger.trace)
            fields |= {"trace": list(ledger.trace.records())} if output.trace == "-" else {}
        if output.thresholds and ledger.rounds:
            from novikoff.reports import thresholds

            fields["thresholds"] = thresholds.plain_table(ledger)
        fields |= {} if between is None else {"between": between._asdict()}
    if output.report is not None:
        from novikoff.reports import page

        more = [] if test is None else [terminal.permuted(test)]
        more += [] if between is None else [str(between)]
        write_report(
            output,
            page.game(
                ledger, certificates, learner, of_members, kept, fields=fields, more=more, command=output.command
            ),
        )
    with until_closed():
        if output.as_json:
            print(json.dumps(fields))
        else:
            out = terminal.Out()
            if ledger.trace is not None and output.trace == "-":
                from novikoff.reports import proof

                for line in proof.table(ledger.trace):
                    out.line(line)
                out.line()
            terminal.game(out, ledger, certificates, learner, output.certify, of_members, output.verbose)
            if output.thresholds and ledger.rounds:
                from novikoff.reports import thresholds

                for line in thresholds.lines(ledger):
                    out.line(line)
            if kept is not None:
                terminal.kept(out, kept, output.verbose)
            if ledger.trace is not None:
                terminal.followed(out, ledger.trace)
            if test is not None:
                terminal.wrapped(out, terminal.permuted(test))
            if between is not None:
                terminal.wrapped(out, str(between))
    code = ended(ledger, output, stopped, certificates, *of_members)
    promised = bool(ledger.player.within.promises)  # a learner from outside may be another one
    return VIOLATED if promised and ledger.trace is not None and ledger.trace.failed else code


def write_report(output: Output, text: str) -> None:
    """Write the report, and print where it is."""
    from novikoff.reports import html

    assert output.report is not None
    html.save(text, output.report, output.force)
    if not (output.quiet or output.as_json):
        print(f"report written to {output.report}", file=sys.stderr)


def ended(ledger: Ledger, output: Output, stopped: bool, *certificates: Sequence[Certificate]) -> int:
    """Return the exit code of a game; print that it was interrupted."""
    if stopped and not output.as_json:
        print(f"stopped by Ctrl-C after round {ledger.rounds:,}; results so far", file=sys.stderr)
    if any(certificate.status == "violated" for found in certificates for certificate in found):
        return VIOLATED
    return INTERRUPTED if stopped else 0
