"""The vocabulary of pages: text made safe, tables, cards of certificates, and the document around them.

A page is one file without script and without anything from elsewhere. It reads without its style sheet, prints, and
is light or dark as the reader's screen is. Names of files, labels and columns may be anybody's: nothing goes into a
page unescaped.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from novikoff import __version__
from novikoff.core.certificate import Assumption, Certificate
from novikoff.core.errors import InputError, SpecError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.reports import sentences
from novikoff.reports.terminal import lines

BADGES = {
    "valid": ("✓", "Kept"),
    "conditional": ("✓", "Kept, if"),
    "vacuous": ("–", "Says nothing"),
    "void": ("–", "Does not apply"),
    "violated": ("✗", "BROKEN"),
}
STANDINGS = {"refuted": ("✗", "seen to fail"), "trusted": ("?", "taken on trust"), "checked": ("✓", "seen to hold")}
GENERATOR = '<meta name="generator" content="novikoff'
ENDINGS = (".html", ".htm")

STYLE = """
:root{color-scheme:light;--ink:#1c1c1c;--page:#fff;--faint:#666;--line:#ccc;--card:#f6f6f4;--good:#00694a;
--doubt:#7a5200;--bad:#a32a00}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;
--ink:#e8e8e6;--page:#161616;--faint:#a5a5a5;--line:#444;--card:#212121;
--good:#4fd1a5;--doubt:#e8b44c;--bad:#ff8a5c}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:46rem;margin:2rem auto;
padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}
.faint{color:var(--faint)}.lead{font-size:1.15rem;margin:1rem 0}
table{border-collapse:collapse;margin:.8rem 0;max-width:100%}
th,td{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;
vertical-align:top;overflow-wrap:normal}caption{text-align:left;color:var(--faint)}
td{white-space:nowrap}.told td:last-child{white-space:normal;min-width:7rem}
.wide{overflow-x:auto}.wide:focus-visible{outline:2px solid var(--good)}
.card{background:var(--card);border-left:4px solid var(--line);padding:.6rem 1rem;margin:.8rem 0;border-radius:4px}
.valid{border-color:var(--good)}.conditional,.vacuous{border-color:var(--doubt)}.violated{border-color:var(--bad)}
.badge{font-weight:700;margin-right:.6rem}.valid .badge{color:var(--good)}
.conditional .badge,.vacuous .badge{color:var(--doubt)}.violated .badge{color:var(--bad)}
.card p{margin:.3rem 0}svg{width:100%;height:auto}.wide>svg{min-width:32rem}
pre{white-space:pre-wrap;font-size:.85rem;line-height:1.4;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--faint)}ul.plain{list-style:none;padding:0}
@media print{body{max-width:none;margin:0}.card{break-inside:avoid}details>*:not(summary){display:none}}
"""


def text(*sentences: str) -> str:
    """Paragraphs."""
    return "".join(f"<p>{escape(one)}</p>" for one in sentences if one)


def part(title: str, *content: str) -> str:
    """A part of the page; nothing if it has no content."""
    inner = "".join(content)
    return f"<h2>{escape(title)}</h2>{inner}" if inner else ""


def folded(title: str, content: str) -> str:
    """What is seen when it is asked for."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def verbatim(content: str) -> str:
    """Text as it is."""
    return f"<pre>{escape(content)}</pre>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", told: bool = False) -> str:
    """A table; its first column names the rows. `told`: its last one has sentences, not figures."""
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    kind = ' class="told"' if told else ""
    top = "".join(f'<th scope="col">{escape(one)}</th>' if one else "<td></td>" for one in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return _wide(f"<table{kind}>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>", "A table")


def _wide(content: str, name: str) -> str:
    """What is moved sideways where the screen is narrow, by keys too."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{name}">{content}</div>'


def picture(drawn: str) -> str:
    """A picture, which is moved sideways where the screen is narrow."""
    return _wide(drawn, "A picture") if drawn else ""


def card(certificate: Certificate) -> str:
    """A certificate: how it stands, in words; why; and the theorem, folded."""
    mark, badge = BADGES[certificate.status]
    first, *rest = lines(certificate)
    figures = text(first, *rest) + _theorem(certificate.theorem)
    return (
        f'<div class="card {certificate.status}"><p><span class="badge">{mark} {badge}</span> '
        f'<span class="faint">{escape(certificate.theorem)}</span></p>'
        f"{text(sentences.sentence(certificate))}{folded('The theorem, and the figures', figures)}</div>"
    )


def _theorem(name: str) -> str:
    from novikoff.reports.explanation import explain

    try:
        return verbatim(explain(name))
    except SpecError:  # one that lives outside, and is not registered
        return ""


def rests_on(certificates: Iterable[Certificate]) -> str:
    """What the certificates need, each once: what was seen to fail first, then what is taken on trust."""
    found: dict[Assumption, list[str]] = {}
    for one in certificates:
        for assumption in one.assumptions:
            found.setdefault(assumption, []).append(one.theorem)
    ranked = sorted(found, key=lambda assumption: list(STANDINGS).index(assumption.standing))
    items = []
    for assumption in ranked:
        mark, standing = STANDINGS[assumption.standing]
        needed = f'<span class="faint"> ({standing}; for {escape(_list(found[assumption]))})</span>'
        items.append(f"<li>{mark} {escape(assumption.claim)}{needed}</li>")
    return f'<ul class="plain">{"".join(items)}</ul>' if items else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"


def again(command: Sequence[str] = (), fingerprint: Mapping[str, Any] | None = None) -> str:
    """How to do it again: the command, the versions, the source."""
    import numpy as np

    parts = [verbatim(shlex.join(command))] if command else []
    parts.append(text(f"novikoff {__version__}, Python {platform.python_version()}, numpy {np.__version__}."))
    if fingerprint:
        rows = [(name, ", ".join(map(str, value)) if isinstance(value, list) else value) for name, value in
                fingerprint.items()]  # fmt: skip
        parts.append(table(["source", ""], rows))
    return part("To do it again", *parts)


def as_json(values: Mapping[str, Any]) -> str:
    """Everything, for programs."""
    return folded("All of it, as JSON", verbatim(json.dumps(values, indent=1, default=str)))


def document(title: str, *content: str) -> str:
    """The whole page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{GENERATOR} {__version__}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(one for one in content if one)
        + "\n</main></body></html>\n"
    )


def check(path: str, force: bool = False) -> None:
    """Refuse a file that cannot be written, or may not be replaced, before anything is played for it."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError(f"a report must be an HTML file: got {path}. End its name with .html.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"a report must go into a folder that exists: {Path(path).parent} does not.")
    check_replaced(path, "a report", lambda name: GENERATOR.encode() in first_bytes(name, 1024), force, InputError)


def save(page: str, path: str, force: bool = False) -> None:
    """Write the page."""
    check(path, force)
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"a report must be writable: {path}: {error.strerror or error}.") from None
