"""`compare`: every learner on the same source, as a table and a plot."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import dataclass

from novikoff.cli.games import VIOLATED, Output, write_report
from novikoff.cli.opening import notes, open_source, print_notes
from novikoff.cli.output import until_closed
from novikoff.core.errors import counted
from novikoff.data.read_as import AskedTask, Reading, read_as
from novikoff.evaluation.compare import Compared, Comparison, Metric, Spread, compare, for_outcomes
from novikoff.game import specs
from novikoff.game.prepare import stream_for
from novikoff.game.specs import Spec
from novikoff.reports import plain, sentences
from novikoff.reports.progress import QUIET
from novikoff.reports.terminal import Out

NAMES: dict[Metric, str] = {"error": "error rate %", "log-loss": "log loss", "auc": "AUC", "mae": "MAE", "rmse": "RMSE"}
"""Column heads of the metrics."""
LONGEST_REASON = 60
"""Largest number of characters of the reason of a void certificate."""


@dataclass(frozen=True)
class Request:
    """Order, length and executor of the games to compare."""

    shuffles: int = 0
    seed: int = 0
    passes: int = 1
    rounds: int | None = None
    jobs: int | None = None
    on: str = "threads"
    by: Metric | None = None
    task: AskedTask | None = None
    cost: str | None = None


def compare_source(
    source: str, learners: list[str], options: dict[str, object], defaults: dict[str, object], request: Request,
    output: Output,
) -> int:  # fmt: skip
    """Run `novikoff compare` and return the exit code; `options` go to the reader, `defaults` to the learners."""
    output.check()
    if request.cost is not None:
        from novikoff.reports import plot_file

        plot_file.check(request.cost, output.force)
    made = [specs.parse(learner) for learner in learners]
    opened = read_as(open_source(source, options), Reading(task=request.task))
    opened, named = for_outcomes(opened, [(None, one) for one in made], options.get("labels") == "multiclass")
    made = [one for _, one in named if isinstance(one, Spec)]
    stream = stream_for(made[0], opened)
    silent = output.quiet or output.as_json
    printed = print_notes(stream, silent)
    counter = Counter(not output.quiet)
    given = {name: value for name, value in defaults.items() if value is not None}
    try:
        comparison = compare(
            made, stream, request.shuffles, request.seed, request.passes, request.jobs, counter, request.rounds, given,
            on=request.on, by=request.by,
        )  # fmt: skip
    finally:
        counter.clear()
    print_notes(stream, silent, printed)
    if output.plot is not None:
        from novikoff.reports.comparisons import chart
        from novikoff.reports.plot_file import save

        save(chart(comparison), output.plot, output.force)
        if not silent:
            print(f"plot written to {output.plot}", file=sys.stderr)
    if request.cost is not None:
        from novikoff.evaluation.cost import measure_cost
        from novikoff.reports.comparisons import cost_chart

        costs = measure_cost(made, open_source(source, options), request.rounds)
        plot_file.save(cost_chart(costs), request.cost, output.force)
        if not silent:
            print(f"plot of the time per round written to {request.cost}", file=sys.stderr)
    if output.report is not None:
        from novikoff.reports import comparisons

        write_report(output, comparisons.comparison(comparison, output.command))
    with until_closed():
        if output.as_json:
            print(json.dumps({**plain.comparison(comparison), "notes": notes(stream)}))
        else:
            show(Out(), comparison)
    broken = any(one.status == "violated" for learner in comparison.learners for one in learner.certificates)
    return VIOLATED if broken else 0


class Counter:
    """Counter of finished games or shards on a terminal, shown once they take a while."""

    def __init__(self, wanted: bool, what: str = "games") -> None:
        self._wanted, self._what = wanted and sys.stderr.isatty(), what
        self._start, self._shown = time.perf_counter(), False

    def __call__(self, done: int, of: int) -> None:
        if self._wanted and time.perf_counter() - self._start > QUIET:
            self._shown = True
            sys.stderr.write(f"\r{done:,} of {of:,} {self._what} done")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def show(out: Out, comparison: Comparison) -> None:
    """Print what was played, then one line per learner."""
    rows = counted(comparison.rows, "row") + (f", {comparison.passes} passes" if comparison.passes > 1 else "")
    target = "" if comparison.target is None else f", target: {comparison.target}"
    how = "in the given order"
    if comparison.shuffles:
        how = f"{counted(comparison.shuffles, 'shuffle')} of seed {comparison.seed}" + (
            ", mean ± standard deviation" if comparison.shuffles > 1 else ""
        )
    out.line(f"{counted(len(comparison.learners), 'learner')} on {comparison.source}{target}: {rows}, {how}", "bold")
    head, *lines = table(comparison)
    out.line(head, "dim")
    for line in lines:
        out.line(line)
    if (constant := comparison.constant) is not None:
        rounds = comparison.learners[0].games[0].rounds
        if comparison.learners[0].games[0].mae is not None:
            out.line(f"always predicting {constant.says:.4g}: RMSE {math.sqrt(constant.costs / rounds):.4g}")
        else:
            out.line(f"always predicting {constant.says}: {sentences.about(constant.costs / rounds)}")
    if comparison.verdict:
        out.line(comparison.verdict, "bold")
    if comparison.counted is not None:
        out.line(comparison.counted)


def table(comparison: Comparison) -> list[str]:
    """Return a header and one line per learner, in the given order; "expected" only if some learner is randomised."""
    first = comparison.learners[0].games[0]
    digits = max(2, round(math.log10(first.rounds)) - 2)  # enough for one mistake to change the figure
    shown = [by for by in NAMES if any(one.metric(by) is not None for one in comparison.learners)]
    if first.mae is not None:
        shown.remove("error")
    randomised = any(compared.expected is not None for compared in comparison.learners)
    metrics = [NAMES[by] for by in shown] + ["expected %"] * randomised
    heads = ["learner", *metrics, "updates", "seconds", "certificate of the first game"]
    cells = [heads] + [_cells(compared, digits, shown, randomised) for compared in comparison.learners]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        middle = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *middle, row[-1]]).rstrip())
    return lines


def _cells(compared: Compared, digits: int, shown: list[Metric], randomised: bool) -> list[str]:
    found = [(by, compared.metric(by)) for by in shown]
    metrics = [
        "" if spread is None else _spread(spread, 100, digits) if by == "error" else _figure(spread)
        for by, spread in found
    ]
    if randomised:
        metrics.append("" if compared.expected is None else _spread(compared.expected, 100, digits))
    updates = _spread(compared.updates, 1, 0 if len(compared.games) == 1 else 1)
    return [compared.learner, *metrics, updates, f"{compared.seconds:.3g}", _certified(compared)]


def _figure(spread: Spread) -> str:
    """Return a metric with three digits or so, and its deviation."""
    return f"{spread.mean:.4g}" + ("" if spread.deviation is None else f" ± {spread.deviation:.2g}")


def _spread(spread: Spread, times: int, digits: int) -> str:
    mean = f"{times * spread.mean:,.{digits}f}"
    return mean if spread.deviation is None else f"{mean} ± {times * spread.deviation:,.{digits}f}"


def _certified(compared: Compared) -> str:
    """Return the tightest certificate of the first game: result, bound and status."""
    if not compared.certificates:
        return "none: no bound is known"
    best = compared.certificates[0]
    if best.bound is not None:
        return f"{best.comparison()}, {best.status}"
    reason = best.reason if len(best.reason) <= LONGEST_REASON else best.reason[: LONGEST_REASON - 1] + "…"
    return f"{best.status}: {reason}"
