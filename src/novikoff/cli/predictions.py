"""`predict`: what a saved learner or classifier says of each example, and how often it is right."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from novikoff import model
from novikoff.certificate import bound_text
from novikoff.cli.games import open_source, say_notes
from novikoff.errors import MismatchError
from novikoff.game import labels_of
from novikoff.ledger import Ledger
from novikoff.types import Labels


def predict_source(path: str, source: str, options: dict[str, Any], as_json: bool) -> int:
    """`novikoff predict`; returns the exit code."""
    saved = model.load(path)
    classifier: Any = saved.learner if isinstance(saved, Ledger) else saved.classifier
    if getattr(classifier, "outcomes", "labels") == "numbers":
        raise MismatchError(f"predictions must be labels: what {path} holds predicts numbers. Load it in Python.")
    stream = open_source(source, options)
    if not classifier.domain.admits(stream.domain):
        raise MismatchError(f"what {path} holds is for {classifier.domain}: {stream.name} shows {stream.domain}.")
    watch = None if isinstance(saved, Ledger) else Watch(saved)
    rows = mistakes = 0
    for batch in stream.batches():
        labels = Labels(*saved.labels) if saved.labels else stream.labels or Labels()
        if stream.labels is not None and stream.labels.positive != labels.positive:
            raise MismatchError(
                f"{labels.positive!r} is +1 in {path}: in {stream.name} it is {stream.labels.positive!r}. "
                f"Pass --positive {labels.positive}."
            )
        said = labels_of(classifier, batch)
        words = {-1: str(labels.decode(-1)), 1: str(labels.decode(1))} if classifier.labels is None else {}
        if not as_json:
            sys.stdout.write("".join(f"{words.get(label, label)}\n" for label in said.tolist()))
        wrong = said != batch.y
        rows += len(batch)
        mistakes += int(np.count_nonzero(wrong))
        if watch is not None:
            watch.see(wrong)
    say_notes(stream, as_json)
    rate = mistakes / rows if rows else 0.0
    promised = {} if watch is None else watch.told()
    if as_json:
        facts = {"model": path, "source": stream.name, "rows": rows, "mistakes": mistakes, "mistake_rate": rate}
        print(json.dumps({**facts, **promised}))
        return 0
    print(f"{rows:,} examples, {mistakes:,} not as labelled ({100 * rate:.3g} %)", file=sys.stderr)
    if watch is not None:
        print(watch.sentence(), file=sys.stderr)
    return 0


class Watch:
    """The promise of a classifier that was kept, beside the errors it now makes."""

    def __init__(self, kept: Any) -> None:
        self._kept, self._limit, self._monitor = kept, None, None
        certificate = kept.certificate
        if certificate is not None and certificate.bound is not None:
            self._limit = float(certificate.bound)
            if 0.0 < self._limit < 1.0 and not kept.drawn:  # a limit on the mean is none on what was drawn
                from novikoff.drift import Monitor

                self._monitor = Monitor(self._limit)

    def see(self, wrong: Any) -> None:
        if self._monitor is not None:
            self._monitor.see(wrong)

    def told(self) -> dict[str, Any]:
        alarm = None if self._monitor is None else self._monitor.alarm
        return {"how": self._kept.how, "limit": self._limit, "delta": self._kept.delta, "drawn": self._kept.drawn,
                "alarm": alarm}  # fmt: skip

    def sentence(self) -> str:
        """What was promised, and whether it can still be believed."""
        if self._limit is None:
            certificate = self._kept.certificate
            why = f": {certificate.reason}" if certificate is not None else ""
            return f"kept by {self._kept.how!r}: no limit on its risk is known{why}"
        promised = f"promised: risk <= {bound_text(self._limit, 'upper')} with probability {1 - self._kept.delta:.6g}"
        promised += " on average over the draw of it" if self._kept.drawn else ""
        if self._monitor is None or not self._monitor.alarm:
            return f"{promised}, if these are independent draws like those it was made from"
        return f"{promised}; these examples refute that they are independent draws like those it was made from"
