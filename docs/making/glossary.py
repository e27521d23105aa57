"""The glossary on the site: a heading per term, so that the search leads to the term itself."""

from __future__ import annotations

import re

from novikoff.core.registry import CATALOG
from novikoff.reports.explanation import theorems
from novikoff.reports.glossary import GLOSSARY, Term

FOLDERS = {"learner": "learners", "adversary": "adversaries", "class": "classes", "stream": "streams"}
"""Folder of the pages of each kind of name."""


def page() -> str:
    """Return the glossary with a heading, its other names, its meaning and its links for each term."""
    lead = "Terms of online learning, as this documentation uses them. `novikoff explain TERM` prints an entry."
    parts = ["# Glossary", lead]
    for section, terms in GLOSSARY.items():
        parts.append(f"## {section}")
        parts += [_entry(term) for term in terms]
    return "\n\n".join(parts) + "\n"


def _entry(term: Term) -> str:
    """Return one term; the search weighs titles, so the other names are in the title too, in small print."""
    also = f" <small>{', '.join(term.also)}</small>" if term.also else ""
    place = re.sub(r"[^a-z0-9]+", "-", term.name.lower()).strip("-")
    lines = [f'### {term.name}{also} {{ #term-{place} data-toc-label="{term.name}" }}', term.meaning]
    links = [f"[{term.page}]({term.page})"] * bool(term.page) + [_link(name) for name in term.see]
    if links:
        lines.append("See " + ", ".join(links) + ".")
    if term.run:
        lines.append(f"Run `{term.run}`.")
    return "\n\n".join(lines)


def _link(name: str) -> str:
    """Return a link to the page of a name."""
    if name in theorems():
        return f"[`{name}`](theorems/{name}.md)"
    if name in CATALOG and CATALOG[name].room in FOLDERS:
        return f"[`{name}`]({FOLDERS[CATALOG[name].room]}/{name}.md)"
    return f"[`{name}`](oco.md)" if name == "oco" else f"`{name}`"
