"""Every theorem with its proof: a page each from the docstring of its file, an index, and the references."""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict

from making.docstrings import escape, markdown
from novikoff.bandits import off_policy
from novikoff.core.registry import CATALOG, MANY
from novikoff.distributed import mixed
from novikoff.drift import monitor
from novikoff.game.delayed import late
from novikoff.online_to_batch.keep import PROMISES
from novikoff.reports.explanation import read_references, theorems

KINDS = {
    "D": "on every stream",
    "E": "in expectation over the learner's coins",
    "P": "with probability 1 - delta",
}
ROOMS = {"learner": "learners", "adversary": "adversaries"}


def pages() -> dict[str, str]:
    """Each page by its place."""
    promised = _promised()
    made = {f"theorems/{name}.md": _page(name, promised[name]) for name in theorems()}
    return {**made, "theorems/index.md": _index(promised), "references.md": _references()}


def _promised() -> dict[str, list[str]]:
    """Of each theorem, links to those who promise it."""
    found: dict[str, list[str]] = defaultdict(list)
    for entries, beside in ((CATALOG, ""), (MANY, " of many labels")):
        for name, one in entries.items():
            for theorem in getattr(one.load(), "promises", ()):
                found[theorem.name].append(f"[{name}](../{ROOMS[one.room]}/{name}.md){beside}")
    for theorem in PROMISES:
        found[theorem.name].append("a classifier that was [kept](../guides/error-limit.md)")
    for theorem in late.PROMISES:
        found[theorem.name].append("a game whose labels come [late](../certificates.md)")
    for theorem in off_policy.PROMISES:
        found[theorem.name].append("a [log](../bandits.md) of a bandit")
    for theorem in monitor.PROMISES:
        found[theorem.name].append("a [test of drift](../guides/drift.md)")
    for theorem in mixed.PROMISES:
        found[theorem.name].append("the Perceptron on shards, [mixed](../ray.md)")
    return found


def _page(name: str, promised: list[str]) -> str:
    module = importlib.import_module(theorems()[name])
    theorem = getattr(module, name)
    facts = f"Kind {theorem.kind}: holds {KINDS[theorem.kind]}. Promised by {', '.join(promised)}."
    text = markdown(inspect.cleandoc(module.__doc__ or ""), "../", "## {}".format)
    return f"# {name}\n\n{facts}\n\n{text}\n\nWritten in `src/{module.__name__.replace('.', '/')}.py`.\n"


def _index(promised: dict[str, list[str]]) -> str:
    rows = ["| theorem | what it bounds | kind | promised by |", "|---|---|---|---|"]
    for name in theorems():
        module = importlib.import_module(theorems()[name])
        told = escape((module.__doc__ or "").strip().splitlines()[0].rstrip("."))
        rows.append(f"| [{name}]({name}.md) | {told} | {getattr(module, name).kind} | {', '.join(promised[name])} |")
    kinds = "; ".join(f"**{kind}**: {told}" for kind, told in KINDS.items())
    lead = f"Each page has the statement, the assumptions and the proof. Kinds: {kinds}."
    more = "What is tight, and how each was tested: [status](../status.md)."
    return "\n\n".join(["# Theorems", lead, more, "\n".join(rows)]) + "\n"


def _references() -> str:
    listed = [f'- <span id="{key}">**{key}**</span> {escape(told)}' for key, told in sorted(read_references().items())]
    return "# References\n\n" + "\n".join(listed) + "\n"
