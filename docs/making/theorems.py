"""Pages of the theorems from the docstrings of their modules, their index, and the references."""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict

from making import proofs
from making.docstrings import escape, markdown
from novikoff.bandits import off_policy
from novikoff.convex import minimise_online
from novikoff.core.registry import CATALOG, MANY
from novikoff.distributed import mixed
from novikoff.drift import monitor
from novikoff.game.delayed import late
from novikoff.mixtures import stacks, tops
from novikoff.online_to_batch import choose_threshold as threshold
from novikoff.online_to_batch.finalize import PROMISES
from novikoff.reports.explanation import read_references, theorems

KINDS = {
    "D": "on every stream",
    "E": "in expectation over the learner's random draws",
    "P": "with probability 1 - delta",
}
ROOMS = {"learner": "learners", "adversary": "adversaries"}


def pages() -> dict[str, str]:
    """Return the pages by path."""
    promised = owners()
    made = {f"theorems/{name}.md": _page(name, promised[name]) for name in theorems()}
    return {**made, "theorems/index.md": _index(promised), "references.md": _references()}


def owners() -> dict[str, list[str]]:
    """Return links to the learners and functions of each theorem."""
    found: dict[str, list[str]] = defaultdict(list)
    for entries, remark in ((CATALOG, ""), (MANY, " (multiclass)")):
        for name, one in entries.items():
            for theorem in getattr(one.load(), "promises", ()):
                found[theorem.name].append(f"[{name}](../{ROOMS[one.room]}/{name}.md){remark}")
    for theorem in PROMISES:
        found[theorem.name].append("a [kept classifier](../guides/error-limit.md)")
    for theorem in threshold.PROMISES:
        found[theorem.name].append("a [threshold](../guides/thresholds.md)")
    for theorem in late.PROMISES:
        found[theorem.name].append("a game with [late labels](../certificates.md)")
    for theorem in off_policy.PROMISES:
        found[theorem.name].append("a bandit [log](../bandits.md)")
    for theorem in monitor.PROMISES:
        found[theorem.name].append("a [drift test](../guides/drift.md)")
    for theorem in mixed.PROMISES:
        found[theorem.name].append("the Perceptron [mixed over shards](../ray.md)")
    for theorem in minimise_online.PROMISES:
        found[theorem.name].append("[losses of your own](../oco.md)")
    for theorem in tops.PROMISES:
        found[theorem.name].append("a mixture of forecasts (`novikoff.mixtures.tops`)")
    for theorem in stacks.PROMISES:
        found[theorem.name].append("a stack on forecasts (`novikoff.mixtures.stacks`)")
    return found


def _page(name: str, promised: list[str]) -> str:
    module = importlib.import_module(theorems()[name])
    theorem = getattr(module, name)
    facts = f"Kind {theorem.kind}: holds {KINDS[theorem.kind]}. Guaranteed for {', '.join(promised)}."
    text = markdown(inspect.cleandoc(module.__doc__ or ""), "../", "## {}".format)
    return (
        f"# {name}\n\n{facts}\n\n{proofs.remark(name)}{text}\n\nSource: `src/{module.__name__.replace('.', '/')}.py`.\n"
    )


def _index(promised: dict[str, list[str]]) -> str:
    rows = ["| theorem | bound on | kind | guaranteed for | machine-checked |", "|---|---|---|---|---|"]
    for name in theorems():
        module = importlib.import_module(theorems()[name])
        statement = escape((module.__doc__ or "").strip().splitlines()[0].rstrip("."))
        cells = [f"[{name}]({name}.md)", statement, getattr(module, name).kind, ", ".join(promised[name])]
        rows.append(f"| {' | '.join([*cells, proofs.links(name, '../')])} |")
    kinds = "; ".join(f"**{kind}**: {told}" for kind, told in KINDS.items())
    lead = f"Each page has the statement, the assumptions and the proof. Kinds: {kinds}."
    more = (
        "Tightness and tests of each theorem: [status](../status.md). The last column has the Coq statements of "
        "theorems whose mathematics is [machine-checked](../machine-checked.md)."
    )
    return "\n\n".join(["# Theorems", lead, more, "\n".join(rows)]) + "\n"


def _references() -> str:
    listed = [f'- <span id="{key}">**{key}**</span> {escape(told)}' for key, told in sorted(read_references().items())]
    return "# References\n\n" + "\n".join(listed) + "\n"
