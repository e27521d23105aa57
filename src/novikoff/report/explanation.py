"""What a name means: algorithm, theorem with its proof idea, cost, reference; all from the docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from importlib import resources

from novikoff.catalog import CATALOG, entry
from novikoff.errors import SpecError


def explain(name: str) -> str:
    """The text for a learner, an adversary, a class or a theorem."""
    if name in CATALOG:
        found = entry(name)
        texts = [f"{name}:{found.arguments()}" if found.arguments() else name, "", found.doc()]
        for theorem in getattr(found.load(), "promises", ()):
            texts += ["", f"Theorem {theorem.name}", "", _doc(theorem.__module__)]
    else:
        texts = [_doc(f"novikoff.certificates.{_theorem(name)}")]
    text = "\n".join(texts)
    references = dict(_references(text))
    listed = [f"[{key}] {reference}" for key, reference in references.items()]
    return text + ("\n\n" + "\n".join(listed) if listed else "") + "\n"


def theorems() -> list[str]:
    """The names of all theorems: the files of certificates/, but for what theorems share."""
    files = resources.files("novikoff.certificates").iterdir()
    names = (file.name[:-3] for file in files if file.name.endswith(".py"))
    return sorted(name for name in names if name != "__init__" and not name.endswith("_facts"))


def _theorem(name: str) -> str:
    known = theorems()
    wanted = name.replace("-", "_")
    if wanted not in known:
        raise SpecError(f"a name to explain must be one of {', '.join([*CATALOG, *known])}: got {name!r}.")
    return wanted


def _doc(module: str) -> str:
    return inspect.cleandoc(importlib.import_module(module).__doc__ or "")


def _references(text: str) -> Iterator[tuple[str, str]]:
    bibliography = read_references()
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", text):
        if key in bibliography:
            yield key, bibliography[key]


def read_references() -> dict[str, str]:
    """Our references.bib: key -> "Authors: Title. Where, year"."""
    text = resources.files("novikoff").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, flags=re.DOTALL):
        fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", body + "\n"))
        where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or fields.get("note", "")
        authors = fields["author"].replace(" and ", ", ")
        found[key] = f"{authors}: {fields['title']}. {where}, {fields['year']}."
    return found
