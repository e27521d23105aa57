"""`notes`: the five lectures with something to run for every item, their errata, and checkers of the exercises."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from novikoff.core.errors import InputError
from novikoff.lectures.contents import LECTURES, Item, Lecture
from novikoff.lectures.errata import ERRATA
from novikoff.lectures.exercises import EXERCISES, check
from novikoff.reports.terminal import Out


def notes(words: Sequence[str], run: bool) -> int:
    """Print the contents, one lecture, errata, or the verdict on a solution; return the exit code."""
    out = Out()
    match list(words):
        case []:
            _contents(out)
            return 0
        case ["errata", *names]:
            return _errata(out, names)
        case ["check"]:
            _exercises(out)
            return 0
        case ["check", path]:
            return _check(out, path)
        case [number] if number.isdigit() and int(number) < len(LECTURES):
            return _lecture(out, LECTURES[int(number)], run)
    last = len(LECTURES) - 1
    raise InputError(
        f"notes takes a lecture from 0 to {last}, errata [NAME], or check FILE.py: got {' '.join(words)!r}."
    )


def _contents(out: Out) -> None:
    for lecture in LECTURES:
        counts = [f"{sum(item.kind == kind for item in lecture.items)} {kind}s"
                  for kind in ("definition", "algorithm", "theorem", "example", "exercise")
                  if any(item.kind == kind for item in lecture.items)]  # fmt: skip
        out.line(f"{lecture.number}  {lecture.title}", "bold")
        out.line(f"   {lecture.authors}: {', '.join(counts)}")
    out.line()
    out.line("novikoff notes 0                  items of a lecture, each with a command (--run plays them)")
    out.line("novikoff notes errata [NAME]      slips of the notes, with counterexamples")
    out.line("novikoff notes check [FILE.py]    exercises, and the verdict on your solution")


def _lecture(out: Out, lecture: Lecture, run: bool) -> int:
    out.line(f"{lecture.number}  {lecture.title}", "bold")
    out.line(f"   {lecture.authors}")
    failed = 0
    for title, items in lecture.sections:
        out.line()
        out.line(title, "bold")
        for item in items:
            failed += _item(out, item, run)
    return 1 if failed else 0


def _item(out: Out, item: Item, run: bool) -> int:
    """Print one item; with `run`, play its command. Return 1 if that failed."""
    out.line(f"  {item.kind}: {item.title}. {item.sentence}")
    if item.run:
        out.line(f"      novikoff {item.command}")
    if item.explain:
        out.line(f"      novikoff explain {item.explain}")
    if item.arena:
        out.line(f"      novikoff arena '{item.arena}'")
    if item.exercise:
        out.line("      novikoff notes check FILE.py")
    for name in item.errata:
        out.line(f"      novikoff notes errata {name}")
    if not (run and item.run):
        return 0
    from novikoff.cli.main import main

    sys.stdout.flush()
    code = main(shlex.split(item.run))
    out.line()
    return 1 if code else 0


def _errata(out: Out, names: Sequence[str]) -> int:
    """Print errata and compute their counterexamples; return 1 if a printed statement did not fail."""
    known = {one.name: one for one in ERRATA}
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no erratum is called {unknown[0]!r}: the names are {', '.join(known)}.")
    held = 0
    for one in [known[name] for name in names] or ERRATA:
        shown = one.show()
        held += not shown.wrong
        out.line(f"{one.name} (lecture {one.lecture}, {one.where})", "bold")
        out.line(f"  printed  {one.printed}")
        out.line(f"  correct  {one.correct}")
        out.line(f"  shown    {shown.text}")
    return 1 if held else 0


def _exercises(out: Out) -> None:
    for one in EXERCISES:
        out.line(f"{one.name} (lecture {one.lecture})", "bold")
        out.line(f"  {one.task}")
        out.line(f"  Define {one.defines}: {one.interface}.")


def _check(out: Out, path: str) -> int:
    exercise, verdict = check(path)
    out.line(f"{exercise.name}: {'certified' if verdict.solved else 'refuted'}", "bold")
    out.line(f"  {verdict.text}")
    return 0 if verdict.solved else 1
