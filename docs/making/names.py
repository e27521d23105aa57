"""`make names`: renew the files that list every name, from the registry, the docstrings and the cases of theorems.

`__init__.pyi`, `adversaries/__init__.py`, proofs/Assumptions.v, glossary.md, errata.md and lectures.md are rewritten
as a whole. The pages learners/index.md, stability.md, status.md and architecture.md get a row or a word for each new
name, which states only what the tests check. Existing rows are kept, so that any row may be edited by hand; a row whose
name no longer exists is removed. The table of machine-checked theorems in status.md comes from proofs/index.toml.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests")]

import novikoff as nk  # noqa: E402
from making import proofs  # noqa: E402
from making.docstrings import escape, sections  # noqa: E402
from making.theorems import owners  # noqa: E402
from novikoff.core.certificate import DECLARED  # noqa: E402
from novikoff.core.registry import CATALOG, Entry, Room  # noqa: E402
from novikoff.game import specs  # noqa: E402
from novikoff.lectures import errata  # noqa: E402
from novikoff.lectures.contents import page  # noqa: E402
from novikoff.reports import glossary  # noqa: E402
from novikoff.reports.explanation import theorems  # noqa: E402

WIDEST = 120
MADE = "# Made by `make names` from core/registry.py: do not edit."
AREAS = {"finite": "finite classes", "experts": "experts", "bandits": "bandits", "conformal": "sets and drift"}
"""Area of stability.md of the learners of a family; others are learners for labels or for numbers."""

CHECKED = "machine-checked.md) page has what that means.\n"
"""End of the paragraph of status.md before the table of machine-checked theorems."""


def renewed() -> dict[Path, str]:
    """Return the text of each file as it should be."""
    package, docs = ROOT / "src" / "novikoff", ROOT / "docs"
    made = {package / "__init__.pyi": public_names(), package / "adversaries" / "__init__.py": adversaries()}
    made |= {docs / "glossary.md": glossary.page(), docs / "errata.md": errata.page(), docs / "lectures.md": page()}
    made[ROOT / "proofs" / "Assumptions.v"] = proofs.check_proofs.assumptions()
    pages = {"learners/index.md": learners, "stability.md": stability, "status.md": status, "architecture.md": packages}
    return {**made, **{docs / page: renew((docs / page).read_text(encoding="utf-8")) for page, renew in pages.items()}}


def public_names() -> str:
    """Return the names of the package for type checkers."""
    homes = sorted((home, _rank(name), name) for name, home in nk._HOMES.items())
    lines = [_import(f"novikoff.{home}", f"{name} as {name}") for home, _, name in homes]
    rooms = sorted((f".{home}".rpartition(".")[0] or ".", name) for name, home in nk._ROOMS.items())
    lines += ["", *(f"from {home} import {name} as {name}" for home, name in rooms)]
    lead = '"""Public names for type checkers and editors; `__init__.py` imports each on first use."""'
    return _text(
        lead, "", MADE, "", "import builtins", "", *lines, "", "__version__: str", "__all__: builtins.list[str]"
    )


def adversaries() -> str:
    """Return the package of adversaries."""
    found = sorted((entry.module, entry.attribute) for entry in CATALOG.values() if entry.room == "adversary")
    imports = [_import(f"novikoff.{module}", name) for module, name in found]
    lead = '"""Adaptive adversaries, each with a witness: a target consistent with all its labels."""'
    listed = [f'    "{name}",' for name in sorted(name for _, name in found)]
    return _text(
        lead, "", MADE, "", "from __future__ import annotations", "", *imports, "", "__all__ = [", *listed, "]"
    )


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _rank(name: str) -> int:
    """Return the place of a name among imports from one module: constants, classes, functions."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


def _import(module: str, what: str) -> str:
    line = f"from {module} import {what}"
    return line if len(line) <= WIDEST else f"from {module} import (\n    {what},\n)"


def _room(*rooms: Room) -> dict[str, Entry]:
    return {name: entry for name, entry in CATALOG.items() if entry.room in rooms}


def learners(page: str) -> str:
    """Return the page of learners with a row for each learner, and every other name in its list."""
    kept = [line for line in page.splitlines() if not (found := re.match(r"\| `([\w-]+)", line)) or found[1] in CATALOG]
    rows = [number for number, line in enumerate(kept) if line.startswith("|")]
    kept[rows[-1] + 1 : rows[-1] + 1] = [
        f"| `{name}` | {_guarantee(entry)} | {_cost(entry)} |" for name, entry in _room("learner").items()
        if not re.search(rf"^\| `{name}[:`]", page, re.MULTILINE)
    ]  # fmt: skip
    page = _text(*kept)
    for room in ("adversary", "class", "stream", "format"):
        known = [name for name in _room(room) if f"`{name}`" in page]  # type: ignore[arg-type]
        first = min(known, key=lambda name: page.index(f"`{name}`"))
        for name in _room(room):  # type: ignore[arg-type]
            if name not in known:
                page = page.replace(f"`{first}`", f"`{first}`, `{name}`", 1)
    return page


def _guarantee(entry: Entry) -> str:
    """Return the section of the class's docstring, in one line."""
    found = re.search(r"^Guarantee:\n((?: {4}.*\n?|\n)+)", inspect.getdoc(entry.load()) or "", re.MULTILINE)
    if found is None:
        raise LookupError(f"the docstring of {entry.attribute} ({entry.module}) has no section Guarantee.")
    text = " ".join(found[1].split()).rstrip(".").replace("|", r"\|")
    return text[0].lower() + text[1:]


def _cost(entry: Entry) -> str:
    """Return the first sentence of a section of the module's docstring."""
    found = dict(sections(entry.doc())).get("Cost")
    if found is None:
        raise LookupError(f"the docstring of the module {entry.module} has no section Cost.")
    return re.split(r"[.;](?= |$)", " ".join(" ".join(found).split()))[0].replace("|", r"\|")


def stability(page: str) -> str:
    """Return the page of tiers, with new learners and formats among the experimental names."""
    start = page.index("\n## ")
    end = page.index("\n## ", start + 1)
    names = page[start:end]
    for listed in re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*\|$", names, re.MULTILINE))):
        if listed not in nk.__all__:
            names = re.sub(rf"`{listed}` ?", "", names)
    for name in nk.__all__:
        if f"`{name}`" not in names and (area := _area(name)):
            row = re.compile(rf"^(\| {area} \|.*\|)(.*?) ?\|$", re.MULTILINE)
            names = row.sub(rf"\1\2 `{name}` |", names)
    return page[:start] + names + page[end:]


def _area(public: str) -> str:
    """Return the area of the class of a learner or format; "" for other names."""
    for name, entry in (*CATALOG.items(), *nk.core.registry.MANY.items()):
        if entry.attribute == public and entry.room == "format":
            return "sources"
        if entry.attribute == public and entry.room == "learner":
            regression = specs.task(specs.Spec(name, (), {})) == "regression" and name not in nk.core.registry.MANY
            return AREAS.get(entry.module.partition(".")[0], f"learners for {'numbers' if regression else 'labels'}")
    return ""


def status(page: str) -> str:
    """Return the page of status with a row for each theorem, and the name of each learner and adversary."""
    from samples import collected

    kept = [line for line in page.splitlines() if not (named := _theorems(line)) or {*named} & {*theorems()}]
    rows = [number for number, line in enumerate(kept) if _theorems(line)]
    known = {name for line in kept for name in _theorems(line)}
    cases, found, new = collected("CASES"), owners(), list[str]()
    for name in theorems():
        if name not in known:
            if name not in cases:
                raise SystemExit(
                    f'{name} has no case: add CASES = {{"{name}": Case(...)}} to its test file (tests/cases.py).'
                )
            new.append(_row(name, cases[name], [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", owner) for owner in found[name]]))
    kept[rows[-1] + 1 : rows[-1] + 1] = new
    page = _text(*kept)
    for name, entry in _room("learner", "adversary").items():
        promises = getattr(entry.load(), "promises", ())
        if promises:
            page = re.sub(rf"(?<=none is claimed, for )(.*?)`{name}`, ", r"\1", page)
        if name in page:
            continue
        if promises:
            page = re.sub(
                rf"^(\| `{promises[0].name}`.*? \| .*?) \|", rf"\1, {name} |", page, count=1, flags=re.MULTILINE
            )
        else:
            page = page.replace("none is claimed, for ", f"none is claimed, for `{name}`, ")
    before, heading, rest = page.partition(CHECKED)
    return f"{before}{heading}\n{proofs.table()}\n{rest[rest.index('## ') :]}"


def packages(page: str) -> str:
    """Return the page of the architecture with a row for each package; a new one is a family."""
    for path in sorted((ROOT / "src" / "novikoff").glob("*/__init__.py")):
        family = path.parent.name
        if f"`{family}/`" not in page:
            told = path.read_text(encoding="utf-8").split('"""')[1].splitlines()[0].rstrip(".")
            page = re.sub(r"^(?=\| `mixtures/` )", f"| `{family}/` | {told} |\n", page, count=1, flags=re.MULTILINE)
    return page


def _theorems(line: str) -> list[str]:
    """Return the theorems of a row of the table."""
    return re.findall(r"`(\w+)`", line.split(" | ")[0]) if line.startswith("| `") else []


def _row(name: str, case: object, owners: list[str]) -> str:
    theorem = DECLARED[name]
    proved = "yes" if theorem.kind == "D" else f"yes (kind {theorem.kind})"
    tight = "yes" if case.tight is not None else "unknown"  # type: ignore[attr-defined]
    tested = "arbitrary streams" + ("; broken learners are reported as `violated`" if theorem.kind == "D" else "")
    return f"| `{name}` | {escape(', '.join(owners))} | {proved} | {tight} | {tested} |"


def main() -> None:
    """Write the files that are stale."""
    try:
        made = renewed()
    except (LookupError, AssertionError) as error:
        raise SystemExit(str(error)) from None
    for path, text in made.items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"renewed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
