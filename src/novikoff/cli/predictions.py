"""`predict`: what a saved learner says of each example, and how often it is right."""

from __future__ import annotations

import json
import sys
from typing import Any

from novikoff import model
from novikoff.cli.games import open_source, say_notes
from novikoff.errors import MismatchError
from novikoff.types import Labels


def predict_source(path: str, source: str, options: dict[str, Any], as_json: bool) -> int:
    """`novikoff predict`; returns the exit code."""
    ledger = model.load(path)
    learner = ledger.learner
    stream = open_source(source, options)
    if not learner.domain.admits(stream.domain):
        raise MismatchError(f"the learner of {path} plays on {learner.domain}: {stream.name} shows {stream.domain}.")
    rows = mistakes = 0
    for batch in stream.batches():
        labels = Labels(*ledger.labels) if ledger.labels else stream.labels or Labels()
        if stream.labels is not None and stream.labels.positive != labels.positive:
            raise MismatchError(
                f"{labels.positive!r} is +1 in {path}: in {stream.name} it is {stream.labels.positive!r}. "
                f"Pass --positive {labels.positive}."
            )
        said = [learner.predict_one(x) for x, _ in batch.rows()]
        words = {-1: str(labels.decode(-1)), 1: str(labels.decode(1))} if learner.labels is None else {}
        sys.stdout.write("".join(f"{words.get(label, label)}\n" for label in said) if not as_json else "")
        rows += len(batch)
        mistakes += sum(one != other for one, other in zip(said, batch.y.tolist(), strict=True))
    say_notes(stream, as_json)
    rate = mistakes / rows if rows else 0.0
    if as_json:
        print(
            json.dumps({"model": path, "source": stream.name, "rows": rows, "mistakes": mistakes, "mistake_rate": rate})
        )
    else:
        print(f"{rows:,} examples, {mistakes:,} not as labelled ({100 * rate:.3g} %)", file=sys.stderr)
    return 0
