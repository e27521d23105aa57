"""Pages of the Coq files, and links from each theorem to its machine-checked statement."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "proofs"))

import check_proofs  # noqa: E402

INDEX: dict[str, dict[str, Any]] = check_proofs.index()


def pages() -> dict[str, str]:
    """Return a page for each Coq file: its main statements, then the whole file."""
    return {f"proofs/{Path(file).stem}.md": _page(file) for file in check_proofs.files()}


def statement(file: str, name: str) -> str:
    """Return a theorem as the file states it, without its proof.

    Raises:
        LookupError: The file has no such theorem.
    """
    text = (ROOT / "proofs" / file).read_text(encoding="utf-8")
    found = re.search(rf"^( *)((?:Theorem|Lemma|Corollary) {name}\b.*?)\n *Proof\.", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError(f"proofs/{file} has no theorem {name!r}: correct proofs/index.toml.")
    return re.sub(rf"^{found[1]}", "", found[2], flags=re.MULTILINE)


def links(theorem: str, up: str) -> str:
    """Return links to the Coq theorems of a theorem; "" if it has none.

    Args:
        theorem: Name of the theorem in the software.
        up: Relative path from the page to the root of the site, such as "../".
    """
    row = INDEX.get(theorem)
    if row is None:
        return ""
    return ", ".join(f"[`{name}`]({up}proofs/{Path(row['file']).stem}.md#{name})" for name in row["theorems"])


def remark(theorem: str) -> str:
    """Return the sentence on a theorem's page that leads to its Coq statement; "" if it has none."""
    found = links(theorem, "../")
    if not found:
        return ""
    limits = f" Limits: {INDEX[theorem]['limits']}." if "limits" in INDEX[theorem] else ""
    return f"[Machine-checked](../machine-checked.md) in Coq: {found}.{limits}\n\n"


def table() -> str:
    """Return the table of status.md, one row for each Coq file with main theorems."""
    rows = ["| file | theorems | limits |", "|---|---|---|"]
    for file in check_proofs.files():
        named = {name: row for name, row in INDEX.items() if row["file"] == file}
        limits = "; ".join(f"`{name}`: {row['limits']}" for name, row in named.items() if "limits" in row)
        if named:
            rows.append(f"| [{file}](../proofs/{file}) | {', '.join(f'`{name}`' for name in named)} | {limits} |")
    return "\n".join(rows) + "\n"


def _page(file: str) -> str:
    text = (ROOT / "proofs" / file).read_text(encoding="utf-8")
    listed: dict[str, list[str]] = {}
    for theorem, row in INDEX.items():
        for name in row["theorems"] if row["file"] == file else ():
            listed.setdefault(name, []).append(f"[{theorem}](../theorems/{theorem}.md)")
    parts = [f"# {file}", "A Coq file of the [machine-checked theorems](../machine-checked.md)."]
    for name, used in listed.items():
        parts += [f"## {name}", f"For {', '.join(used)}.", f"```coq\n{statement(file, name)}\n```"]
    return "\n\n".join([*parts, "## The whole file", f"```coq\n{text.rstrip()}\n```"]) + "\n"
