"""Converter of docstrings to Markdown: sections, paragraphs, formulas, lists of names, links to theorems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from making.typeset import typeset
from novikoff.core.registry import CATALOG
from novikoff.reports.explanation import read_references, theorems

THEOREMS = frozenset(theorems())
LEARNERS = {entry.module: name for name, entry in CATALOG.items() if entry.room == "learner"}
NAMED = re.compile(r"(?P<names>[\w*.]+(?:, [\w*.]+)*)(?: {2,})(?P<meaning>\S.*)")
"""A line of a list of names: `rounds   number of rounds`."""

Heading = Callable[[str], str]


def bold(title: str) -> str:
    """Return the title of a section in bold, for places too small for a heading."""
    return f"**{title}**"


def markdown(text: str, up: str = "", heading: Heading = bold) -> str:
    """Return a docstring as Markdown.

    Args:
        text: Docstring without common indentation.
        up: Relative path from the page to the root of the site, such as "../".
        heading: Function from the title of a section to its heading.
    """
    parts = []
    for title, body in sections(text):
        name, _, remark = title.partition(" (")
        parts += [heading(escape(name))] if title else []
        parts += [f"*{escape(typeset(remark[0].upper() + remark[1:].removesuffix(')')))}.*"] if remark else []
        parts += [_block(block, up) for block in _blocks(body)]
    return "\n\n".join(parts)


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield title and lines of each section; lines before the first section have the title ""."""
    lines = text.strip("\n").splitlines()
    title, body = "", list[str]()
    for number, line in enumerate(lines):
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if line and line[0].isupper() and not line.endswith((".", ":", ",")) and follows.startswith("    "):
            if title or body:
                yield title, body
            title, body = line, []
        else:
            body.append(line[4:] if title and line.startswith("    ") else line)
    yield title, body


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield blocks of lines: paragraphs, and formulas, which are indented."""
    block: list[str] = []
    for line in [*lines, ""]:
        inner, before = line.startswith("    "), bool(block) and block[-1].startswith("    ")
        if block and (not line.strip() or (inner != before and not _list(block))):
            yield block
            block = []
        if line.strip():
            block.append(line)


def _list(block: list[str]) -> bool:
    return NAMED.fullmatch(block[0]) is not None


def _block(block: list[str], up: str) -> str:
    if block[0].startswith("    "):
        return "\n".join(["```text", *(typeset(line[4:]) for line in block), "```"])
    if _list(block):
        return _names(block, up)
    return paragraph(" ".join(map(str.strip, block)), up)


def _names(block: list[str], up: str) -> str:
    """Return names and their meanings as a list."""
    items: list[list[str]] = []
    for line in block:
        if (found := NAMED.fullmatch(line)) is not None:
            items.append([f"`{found['names']}`: ", found["meaning"]])
        elif not line.startswith(" "):
            items.append([f"`{line}`: "])
        else:
            items[-1].append(line.strip())
    return "\n".join(f"- {first}{paragraph(' '.join(rest), up)}" for first, *rest in items)


def paragraph(text: str, up: str = "") -> str:
    """Return prose as Markdown: code stays, files and references become links, the rest is escaped."""
    parts = re.split(r"(`[^`]+`|(?:\w+/)+\w+\.py|\[\w+\])", text)
    linked = "".join(_piece(part if number % 2 else typeset(part), up) for number, part in enumerate(parts))
    return re.sub(r"^([-+]|\d+\.)(?= )", r"\\\1", linked)


def _piece(part: str, up: str) -> str:
    if part.startswith("`") and part.endswith("`") and len(part) > 2:
        return part
    if (found := re.fullmatch(r"((?:\w+/)+)(\w+)\.py", part)) is not None:
        folder, name = found.groups()
        if folder.endswith("theorems/") and name in THEOREMS:
            return f"[{name}]({up}theorems/{name}.md)"
        if learner := LEARNERS.get(part.removesuffix(".py").replace("/", ".")):
            return f"[{learner}]({up}learners/{learner}.md)"
        return f"`{part}`"
    if part[1:-1] in read_references():
        return f"[{escape(part[1:-1])}]({up}references.md#{part[1:-1]})"
    return escape(part)


def escape(text: str) -> str:
    """Return Markdown that shows the text as it is."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"([\\`*_{}\[\]!])", r"\\\1", text)
