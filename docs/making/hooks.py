"""Hooks of mkdocs: generated pages, and links to files outside docs/."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

from making import decisions, glossary, learners, living, notebooks, proofs, reference, theorems  # noqa: E402
from making.typeset import shown  # noqa: E402

BOOSTS = {
    "glossary.md": 6,
    "start.md": 12,
    "tutorial.md": 12,
    "learners/": 3,
    "adversaries/": 2,
    "classes/": 3,
    "scikit-learn.md": 3,
}
BOOSTS |= dict.fromkeys(("api/", "proofs/", "SECURITY.md"), 0.2)
"""Weight of pages in the search of the site: terms lead to the glossary, not to references that mention them."""
ABOVE = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
"""Pages of the site that are in the root of the repository."""
_made: dict[str, str | bytes] = {}


def on_config(config: Any) -> Any:
    """Generate the pages, and replace "learners/*" in the navigation by the pages of that folder."""
    _made.clear()
    for room in (learners, theorems, proofs, reference, decisions, notebooks, living):
        _made.update(room.pages())
    _made.update({name: (ROOT / name).read_text(encoding="utf-8") for name in ABOVE})
    config.nav = _listed(config.nav)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for path, text in _made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """Adapt links to files whose path on the site differs from that in the repository, and show inner products."""
    path = page.file.src_uri
    boost = next((boost for folder, boost in BOOSTS.items() if path.startswith(folder)), None)
    if boost is not None:
        page.meta["search"] = {"boost": boost}
    if path.startswith("decisions/"):  # for contributors: a search leads to how things are used
        page.meta["search"] = {"exclude": True}
    if path == "glossary.md":
        return shown(glossary.page())
    text = living.placed(text)
    if path == "lectures.md":
        text = living.watched(text)
    if path.startswith(("learners/", "theorems/")):
        text += living.figure(PurePosixPath(path).stem)
    if path == "learners/index.md":  # in the repository there are no pages to lead to
        text = re.sub(r"^\| `([\w-]+)((?::[^`]*)?)` \|", r"| [`\1\2`](\1.md) |", text, flags=re.MULTILINE)
    if path in ABOVE:
        text = re.sub(r"\]\(docs/", "](", text)
        text = text.replace("](README.md", "](index.md")
    else:
        up = "../" * (path.count("/") + 1)
        text = text.replace(f"]({up}README.md", f"]({up[3:]}index.md")
        text = re.sub(rf"\]\({up}proofs/(\w+)\.v", rf"]({up[3:]}proofs/\1.md", text)
        for name in ABOVE:
            text = text.replace(f"]({up}{name}", f"]({up[3:]}{name}")
    return re.sub(r"(\]\([\w./]*decisions)/?\)", r"\1/index.md)", shown(text))


def on_post_page(output: str, **_: Any) -> str:
    """Name each list of the navigation for screen readers, each by another name, and leave no header cell empty."""
    output = output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    output = re.sub(r'aria-labelledby="__nav_([\d_]+)_label"', r'aria-label="Pages \1"', output)
    seen: Counter[str] = Counter()

    def numbered(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return found[0] if seen[found[1]] == 1 else f'{found[0][:-1]} {seen[found[1]]}"'

    output = re.sub(r'<nav class="md-nav" aria-label="([^"]*)"', numbered, output)
    return re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", output)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Name the lists of the page that is shown for a missing one."""
    return on_post_page(output_content) if template_name.endswith(".html") else output_content


def _listed(items: list[Any]) -> list[Any]:
    listed: list[Any] = []
    for item in items:
        if isinstance(item, dict):
            listed += [{title: _listed(below) if isinstance(below, list) else below} for title, below in item.items()]
        elif item.endswith("/*"):
            folder = item[:-1]
            there = {*_made, *(str(path.relative_to(DOCS)) for path in (DOCS / folder).glob("*.md"))}
            listed += sorted(
                path
                for path in there
                if path.startswith(folder) and path.endswith(".md") and not path.endswith("index.md")
            )
        else:
            listed.append(item)
    return listed
