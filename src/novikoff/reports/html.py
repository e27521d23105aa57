"""Building blocks of HTML reports: escaped text, tables, cards of certificates, and the document.

A page is one file without scripts and without external resources. It reads without its style sheet, prints well, and
follows the light or dark mode of the screen. File names, labels and column names are untrusted: all text is escaped.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from novikoff import __version__
from novikoff.core.certificate import Assumption, Certificate
from novikoff.core.errors import InputError, SpecError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.reports import sentences
from novikoff.reports.terminal import lines

BADGES = {
    "valid": ("✓", "Valid"),
    "conditional": ("✓", "Holds if the assumptions hold"),
    "vacuous": ("–", "Not informative"),
    "void": ("–", "No guarantee"),
    "violated": ("✗", "VIOLATED"),
}
"""Mark and text of each status."""
STANDINGS = {
    "refuted": ("✗", "refuted in this run"),
    "trusted": ("?", "not verifiable, trusted"),
    "checked": ("✓", "verified in this run"),
}
"""Mark and text of each standing of an assumption, in the order of display."""
GENERATOR = '<meta name="generator" content="novikoff'
"""Start of the tag that marks a file as a report of this library."""
ENDINGS = (".html", ".htm")
"""Suffixes of a report."""

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
td{white-space:nowrap}.sentences td:last-child{white-space:normal;min-width:7rem}
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
    """Return each sentence as a paragraph."""
    return "".join(f"<p>{escape(one)}</p>" for one in sentences if one)


def part(title: str, *content: str) -> str:
    """Return a section of the page; "" if it has no content."""
    inner = "".join(content)
    return f"<h2>{escape(title)}</h2>{inner}" if inner else ""


def folded(title: str, content: str) -> str:
    """Return content that is folded until it is opened."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def verbatim(content: str) -> str:
    """Return preformatted text."""
    return f"<pre>{escape(content)}</pre>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", sentences: bool = False) -> str:
    """Return a table whose first column names the rows.

    Args:
        head: Column heads.
        rows: Cells of each row.
        caption: Caption above the table; "" for none.
        sentences: Whether the last column has sentences, which may wrap, instead of figures.
    """
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    kind = ' class="sentences"' if sentences else ""
    top = "".join(f'<th scope="col">{escape(one)}</th>' if one else "<td></td>" for one in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return _wide(f"<table{kind}>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>", "A table")


def _wide(content: str, name: str) -> str:
    """Return content that scrolls sideways on a narrow screen, with the keyboard as well."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{name}">{content}</div>'


def picture(drawn: str) -> str:
    """Return a picture that scrolls sideways on a narrow screen."""
    return _wide(drawn, "A picture") if drawn else ""


def card(certificate: Certificate, headline: str = "") -> str:
    """Return a certificate: status, sentence, explanation, and the theorem folded.

    Args:
        certificate: Any certificate.
        headline: Its first sentence, with figures per row and a baseline; made from the certificate alone if empty.
    """
    mark, badge = BADGES[certificate.status]
    first, *rest = lines(certificate)
    figures = text(first, *rest) + _theorem(certificate.theorem)
    return (
        f'<div class="card {certificate.status}"><p><span class="badge">{mark} {badge}</span> '
        f'<span class="faint">{escape(certificate.theorem)}</span></p>'
        f"{text(sentences.sentence(certificate, headline))}{folded('Theorem and figures', figures)}</div>"
    )


def _theorem(name: str) -> str:
    from novikoff.reports.explanation import explain

    try:
        return verbatim(explain(name))
    except SpecError:  # a theorem of another package that is not registered
        return ""


def rests_on(certificates: Iterable[Certificate]) -> str:
    """Return the assumptions of all certificates: refuted ones first, then trusted ones, then checked ones."""
    found: dict[Assumption, list[str]] = {}
    for one in certificates:
        for assumption in one.assumptions:
            found.setdefault(assumption, []).append(one.theorem)
    ranked = sorted(found, key=lambda assumption: list(STANDINGS).index(assumption.standing))
    items = []
    for assumption in ranked:
        mark, standing = STANDINGS[assumption.standing]
        needed = f'<span class="faint"> ({standing}; used by {escape(_list(found[assumption]))})</span>'
        items.append(f"<li>{mark} {escape(assumption.claim)}{needed}</li>")
    return f'<ul class="plain">{"".join(items)}</ul>' if items else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"


def again(command: Sequence[str] = (), fingerprint: Mapping[str, object] | None = None) -> str:
    """Return how to reproduce the run: command, versions, source."""
    import numpy as np

    parts = [verbatim(shlex.join(command))] if command else []
    parts.append(text(f"novikoff {__version__}, Python {platform.python_version()}, numpy {np.__version__}."))
    if fingerprint:
        rows = [(name, ", ".join(map(str, value)) if isinstance(value, list) else value) for name, value in
                fingerprint.items()]  # fmt: skip
        parts.append(table(["source", ""], rows))
    return part("Reproduce this run", *parts)


def as_json(values: Mapping[str, object]) -> str:
    """Return everything as folded JSON."""
    return folded("Everything as JSON", verbatim(json.dumps(values, indent=1, default=str)))


def document(title: str, *content: str) -> str:
    """Return the whole page."""
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
    """Raise InputError, before a game is played, for a path that cannot be written or must not be replaced."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError(f"a report must be an HTML file: got {path}. End its name with .html.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"the folder {Path(path).parent} does not exist. Create it, or choose another.")
    check_replaced(path, "a report", lambda name: GENERATOR.encode() in first_bytes(name, 1024), force, InputError)


def save(page: str, path: str, force: bool = False) -> None:
    """Write the page to a file."""
    check(path, force)
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"a report must be writable: {path}: {error.strerror or error}.") from None
