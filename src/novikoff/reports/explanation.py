"""What a name means: algorithm, theorem with its proof idea, cost, reference; all from the docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import novikoff
from novikoff.core.errors import SpecError
from novikoff.core.registry import CATALOG, entry, find, for_many, names
from novikoff.core.types import Theorem
from novikoff.reports.absent import ABSENT, ALIASES
from novikoff.reports.frames import FRAMES

OURS = re.compile(r"novikoff\.(\w+\.)+theorems\.")


def explain(name: str) -> str:
    """The text for a learner, an adversary, a class, a format or a theorem; why some learners are not here."""
    if name not in CATALOG and name.replace("-", "_") in theorems():  # installed packages need not be looked through
        return _with_references(_doc_of(_theorem(name)))
    if (frame := ALIASES.get(name.lower(), name.lower())) in FRAMES and not find(name):
        return _with_references(FRAMES[frame])
    if (absent := ALIASES.get(name.lower(), name.lower())) in ABSENT and not find(name):
        return ABSENT[absent]
    if found := find(name):
        texts = [f"{name}:{found.arguments()}" if found.arguments() else name, "", found.doc()]
        for theorem in getattr(found.load(), "promises", ()):
            texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
        if found.room == "learner" and (many := for_many(name)):
            texts += ["", "Where labels are many", "", many.doc()]
            for theorem in getattr(many.load(), "promises", ()):
                texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
    else:
        texts = [_doc_of(_theorem(name))]
    return _with_references("\n".join(texts))


def _with_references(text: str) -> str:
    """The text, and what it cites."""
    references = dict(_references(text))
    listed = [f"[{key}] {reference}" for key, reference in references.items()]
    return text + ("\n\n" + "\n".join(listed) if listed else "") + "\n"


@cache
def theorems() -> dict[str, str]:
    """Every theorem and its module: the files of each package's `theorems` folder, but for what theorems share."""
    root = Path(novikoff.__file__).parent
    files = sorted(root.glob("**/theorems/*.py"), key=lambda file: file.stem)
    modules = {file.stem: ".".join(("novikoff", *file.relative_to(root).with_suffix("").parts)) for file in files}
    return {name: module for name, module in modules.items() if name != "__init__" and not name.endswith("_facts")}


def _theorem(name: str) -> Any:
    """The theorem of that name: ours, or one that a registered learner promises."""
    wanted = name.replace("-", "_")
    if wanted in theorems():
        return getattr(importlib.import_module(theorems()[wanted]), wanted)
    others = [learner for learner in names("learner") if learner not in CATALOG]
    promised = {theorem.name: theorem for learner in others for theorem in promises(learner)}
    if wanted not in promised:
        known = [*CATALOG, *others, *theorems(), *promised]
        raise SpecError(f"a name to explain must be one of {', '.join(known)}: got {name!r}.")
    return promised[wanted]


def promises(learner: str) -> tuple[Theorem, ...]:
    """The theorems of a learner; none if it cannot be loaded."""
    try:
        found: tuple[Theorem, ...] = entry(learner, "learner").load().promises  # type: ignore[attr-defined]
    except SpecError:
        return ()
    return found


def _doc_of(theorem: Any) -> str:
    """Statement and proof: the docstring of its file, if it is ours; else its own, or that of its file."""
    own = None if OURS.match(theorem.__module__) else theorem.__doc__
    return inspect.cleandoc(own or importlib.import_module(theorem.__module__).__doc__ or "")


def _references(text: str) -> Iterator[tuple[str, str]]:
    bibliography = read_references()
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", text):
        if key in bibliography:
            yield key, bibliography[key]


def read_references() -> dict[str, str]:
    """Our references.bib: key -> "Authors: Title. Where, year"."""
    text = resources.files("novikoff.reports").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, flags=re.DOTALL):
        fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", body + "\n"))
        where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or fields.get("note", "")
        authors = fields["author"].replace(" and ", ", ")
        found[key] = f"{authors}: {fields['title']}. {where}, {fields['year']}."
    return found
