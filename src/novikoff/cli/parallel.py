"""`parallel-perceptron`: train the Perceptron on shards of a source, and average the weights after every epoch."""

from __future__ import annotations

import json
from typing import Any

from novikoff.cli.comparison import Counter
from novikoff.cli.games import VIOLATED, Output
from novikoff.cli.opening import notes, open_source, print_notes
from novikoff.cli.output import until_closed
from novikoff.cli.saving import Saving
from novikoff.core.errors import counted
from novikoff.distributed.mixed import ParallelPerceptron
from novikoff.distributed.parallel_perceptron import parallel_perceptron
from novikoff.reports import plain
from novikoff.reports.sentences import about
from novikoff.reports.terminal import Out, promised


def train_source(
    source: str, reading: dict[str, object], options: dict[str, Any], saving: Saving, output: Output
) -> int:  # fmt: skip
    """Run `novikoff parallel-perceptron` and return the exit code; `reading` goes to the reader."""
    saving.check()
    stream = open_source(source, reading)
    silent = output.quiet or output.as_json
    printed = print_notes(stream, silent)
    counter = Counter(not output.quiet, "shards")
    try:
        mixed = parallel_perceptron(
            stream, **options, progress=counter, save=saving.path, resume=saving.resume, force=saving.force
        )
    finally:
        counter.clear()
    print_notes(stream, silent, printed)
    certificates = mixed.certify()
    with until_closed():
        if output.as_json:
            found = [plain.certificate(one) for one in certificates]
            print(json.dumps({**facts(mixed), "certificates": found, "notes": notes(stream)}))
        else:
            out = Out()
            show(out, mixed)
            for one in certificates:
                promised(out, [one], output.verbose)
    return VIOLATED if any(one.status == "violated" for one in certificates) else 0


def facts(mixed: ParallelPerceptron) -> dict[str, Any]:
    """Return the result as JSON fields."""
    epochs = [
        {"mistakes": list(one.mistakes), "weights": list(one.parts), "errors": one.errors} for one in mixed.epochs
    ]
    return {"source": mixed.source, "rows": list(mixed.rows), "held": mixed.trials, "mistakes": mixed.mistakes,
            "epochs": epochs, "kept": mixed.kept.how}  # fmt: skip


def show(out: Out, mixed: ParallelPerceptron) -> None:
    """Print what was trained, and one line per epoch."""
    rows = counted(sum(mixed.rows), "row")
    spec = ",".join(
        f"{name}={value}" for name, value in (("bias", mixed.asked.bias), ("normalize", mixed.asked.normalize)) if value
    )
    name = f"perceptron:{spec}" if spec else "perceptron"
    out.line(f"{name} on {mixed.source}: {rows} in {counted(mixed.asked.shards, 'shard')}", "bold")
    for number, epoch in enumerate(mixed.epochs, 1):
        wrong = sum(epoch.mistakes)
        line = f"epoch {number}: {wrong:,} mistakes ({about(wrong / max(sum(mixed.rows), 1))})"
        if epoch.errors is not None:
            share = about(epoch.errors / max(mixed.trials, 1))
            line += f"; after averaging, {epoch.errors:,} errors on {mixed.trials:,} held-out rows ({share})"
        out.line(line)
    if mixed.averaged_errors is not None:
        out.line(f"mean of the weights of all epochs: {mixed.averaged_errors:,} errors on held-out rows")
    if mixed.asked.held:
        best = "the mean" if mixed.kept.classifier is not mixed.best else "the epoch with the fewest errors"
        out.line(f"final classifier: {best}")
