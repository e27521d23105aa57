"""Our docstrings as Markdown: sections, paragraphs, formulas, lists of names; references and theorems become links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from novikoff.core.registry import CATALOG
from novikoff.reports.explanation import read_references, theorems

THEOREMS = frozenset(theorems())
LEARNERS = {entry.module: name for name, entry in CATALOG.items() if entry.room == "learner"}
NAMED = re.compile(r"(?P<names>[\w*.]+(?:, [\w*.]+)*)(?: {2,})(?P<told>\S.*)")
"""A line of a list of names: `rounds   how many to play`."""

Heading = Callable[[str], str]


def bold(title: str) -> str:
    """A section where a heading would be too much."""
    return f"**{title}**"


def markdown(text: str, up: str = "", heading: Heading = bold) -> str:
    """The docstring as Markdown. up: the way from the page to the root of the site, "../" say."""
    parts = []
    for title, body in sections(text):
        name, _, beside = title.partition(" (")
        parts += [heading(escape(name))] if title else []
        parts += [f"*{escape(beside[0].upper() + beside[1:].removesuffix(')'))}.*"] if beside else []
        parts += [_block(block, up) for block in _blocks(body)]
    return "\n\n".join(parts)


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) of each section; what comes before the first has no title."""
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
    """Lines that belong together: between empty lines, and formulas, which stand further to the right, apart."""
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
        return "\n".join(["```text", *(line[4:] for line in block), "```"])
    if _list(block):
        return _names(block, up)
    return paragraph(" ".join(map(str.strip, block)), up)


def _names(block: list[str], up: str) -> str:
    """Names and what they mean, as a list."""
    told: list[list[str]] = []
    for line in block:
        if (found := NAMED.fullmatch(line)) is not None:
            told.append([f"`{found['names']}`: ", found["told"]])
        elif not line.startswith(" "):
            told.append([f"`{line}`: "])
        else:
            told[-1].append(line.strip())
    return "\n".join(f"- {first}{paragraph(' '.join(rest), up)}" for first, *rest in told)


def paragraph(text: str, up: str = "") -> str:
    """Plain prose, all its signs kept; between backquotes code; what is written elsewhere becomes a link."""
    parts = re.split(r"(`[^`]+`|(?:\w+/)+\w+\.py|\[\w+\])", text)
    told = "".join(_piece(part, up) for part in parts)
    return re.sub(r"^([-+]|\d+\.)(?= )", r"\\\1", told)


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
    """Plain text as Markdown that shows just that."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"([\\`*_{}\[\]!])", r"\\\1", text)
