"""Building blocks of HTML reports: escaped text, tables, cards of certificates, and the document.

A page is one file without scripts and without external resources. It reads without its style sheet, prints well, and
follows the light or dark mode of the screen. File names, labels and column names are untrusted: all text is escaped.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from novikoff import __version__
from novikoff.core.certificate import Assumption, Certificate
from novikoff.core.errors import InputError, SpecError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.reports import sentences, svg
from novikoff.reports.charts import Bars, Panel, cut
from novikoff.reports.terminal import lines
from novikoff.reports.tiles import Tile

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
LONG, LONGEST_NOTE = 12, 90
"""Length of a tile's value from which it is set smaller, and largest length of its note."""
SHADE = 0.45
"""Opacity of the darkest cell of a matrix, on which text is still legible."""
GENERATOR = '<meta name="generator" content="novikoff'
"""Start of the tag that marks a file as a report of this library."""
ENDINGS = (".html", ".htm")
"""Suffixes of a report."""

STYLE = """
:root{color-scheme:light;--ink:#1c1c1c;--page:#fff;--faint:#5f5f5f;--line:#d9d9d6;--card:#f6f6f4;--good:#00694a;
--doubt:#7a5200;--bad:#a32a00;--accent:#0072b2}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;
--ink:#e8e8e6;--page:#161616;--faint:#a5a5a5;--line:#3c3c3c;--card:#212121;
--good:#4fd1a5;--doubt:#e8b44c;--bad:#ff8a5c;--accent:#56b4e9}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:74rem;margin:0 auto;
padding:1.6rem 1rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.55rem;line-height:1.25;margin:0 0 .2rem}
h2{font-size:1.15rem;margin:2.4rem 0 .8rem;padding-top:.9rem;border-top:1px solid var(--line)}
p{max-width:46rem}.faint{color:var(--faint)}.lead{font-size:1.08rem;margin:1rem 0}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:.8rem;margin:1.2rem 0}
.tiles>div{background:var(--card);border-radius:8px;padding:.8rem 1rem;border-top:4px solid var(--line)}
.tiles dt{color:var(--faint);font-size:.82rem;letter-spacing:.02em}
.tiles dd{margin:0;font-size:.86rem;line-height:1.35;color:var(--faint)}
.tiles dd:first-of-type{font-size:1.6rem;font-weight:700;line-height:1.25;margin:.15rem 0 .25rem;color:var(--ink);
font-variant-numeric:tabular-nums;overflow-wrap:normal}
.tiles dd.long{font-size:1.2rem}
.tiles>.good{border-color:var(--good)}.tiles>.good dd:first-of-type{color:var(--good)}
.tiles>.doubt{border-color:var(--doubt)}.tiles>.doubt dd:first-of-type{color:var(--doubt)}
.tiles>.bad{border-color:var(--bad)}.tiles>.bad dd:first-of-type{color:var(--bad)}
.charts{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:1.4rem 1.6rem;margin:1rem 0}
figure{margin:0;min-width:0}figcaption{font-weight:600;font-size:.95rem;margin-bottom:.2rem}
.hero{grid-column:span 2}.small{display:none}
table{border-collapse:collapse;margin:.8rem 0;max-width:100%}
th,td{text-align:left;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line);
font-variant-numeric:tabular-nums;vertical-align:top;overflow-wrap:normal}caption{text-align:left;color:var(--faint)}
thead th{color:var(--faint);font-weight:600;font-size:.88rem}
td,tbody th{white-space:nowrap}.sentences td:last-child{white-space:normal;min-width:7rem}
.matrix td{text-align:right;padding:.4rem .8rem;border:2px solid var(--page);min-width:3.4rem}
.matrix th,.matrix td{vertical-align:middle}
.matrix thead th{padding-left:.8rem;text-align:right}
.side{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:flex-start}
.wide{overflow-x:auto}.wide:focus-visible,summary:focus-visible{outline:2px solid var(--accent)}
.card{background:var(--card);border-left:4px solid var(--line);padding:.6rem 1rem;margin:.8rem 0;border-radius:4px;
max-width:48rem}
.valid{border-color:var(--good)}.conditional,.vacuous{border-color:var(--doubt)}.violated{border-color:var(--bad)}
.badge{font-weight:700;margin-right:.6rem}.valid .badge{color:var(--good)}
.conditional .badge,.vacuous .badge{color:var(--doubt)}.violated .badge{color:var(--bad)}
.card p{margin:.3rem 0}svg{display:block;width:100%;height:auto}.wide>svg{min-width:32rem;max-width:48rem}
pre{white-space:pre-wrap;font-size:.85rem;line-height:1.4;overflow-wrap:anywhere}
details{margin:.7rem 0}summary{cursor:pointer;color:var(--faint)}ul.plain{list-style:none;padding:0}
.stacked tbody th{white-space:normal;overflow-wrap:anywhere;min-width:8rem}.stacked td{white-space:normal}
@media (max-width:64rem){.charts{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media (max-width:48rem){.tiles{grid-template-columns:repeat(2,1fr)}}
@media (max-width:40rem){.charts{grid-template-columns:minmax(0,1fr)}.hero{grid-column:auto}
.large{display:none}.small{display:block}body{padding-top:1rem}h1{font-size:1.3rem}
.tiles{gap:.6rem}.tiles>div{padding:.6rem .7rem}
.tiles dd:first-of-type{font-size:1.15rem}.tiles dd.long{font-size:1.05rem}}
@media (max-width:40rem){.stacked thead{display:none}
.stacked tr,.stacked th,.stacked td{display:block;border:0;padding:0}
.stacked tr{border-bottom:1px solid var(--line);padding:.5rem 0}.stacked td:empty{display:none}
.stacked td::before{content:attr(data-head) ": ";color:var(--faint)}}
@media (max-width:40rem){tbody th{white-space:normal;overflow-wrap:anywhere}.sentences tbody th{overflow-wrap:normal}}
@media print{body{max-width:none;margin:0}.card,figure{break-inside:avoid}details>*:not(summary){display:none}}
"""


def text(*sentences: str) -> str:
    """Return each sentence as a paragraph."""
    return "".join(f"<p>{escape(one)}</p>" for one in sentences if one)


def heading(title: str, numbers: str) -> str:
    """Return the title of a page, and a line of figures."""
    return f'<h1>{escape(title)}</h1><p class="faint">{escape(numbers)}</p>'


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


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", sentences: bool = False,
    stacked: bool = False,
) -> str:  # fmt: skip
    """Return a table whose first column names the rows.

    Args:
        head: Column heads.
        rows: Cells of each row.
        caption: Caption above the table; "" for none.
        sentences: Whether the last column has sentences, which may wrap, instead of figures.
        stacked: Whether each row becomes a list of named cells on a narrow screen.
    """
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    classes = [name for name, wanted in (("sentences", sentences), ("stacked", stacked)) if wanted]
    kind = f' class="{" ".join(classes)}"' if classes else ""
    top = "".join(f'<th scope="col">{escape(one)}</th>' if one else "<td></td>" for one in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(_cell(name, cell, stacked) for name, cell in zip(head[1:], rest, strict=True))
        + "</tr>"
        for first, *rest in rows
    )
    return _wide(f"<table{kind}>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>", "A table")


def _cell(name: str, cell: object, named: bool) -> str:
    """Return a cell of a table; `named` repeats the head of its column, for narrow screens."""
    label = f' data-head="{escape(name)}"' if named and str(cell) else ""
    return f"<td{label}>{escape(str(cell))}</td>"


def _wide(content: str, name: str) -> str:
    """Return content that scrolls sideways on a narrow screen, with the keyboard as well."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{name}">{content}</div>'


def picture(drawn: str) -> str:
    """Return a picture that scrolls sideways on a narrow screen."""
    return _wide(drawn, "A picture") if drawn else ""


def tiles(found: Sequence[Tile]) -> str:
    """Return the tiles of a page; "" if there are none."""
    if not found:
        return ""
    inner = "".join(
        f'<div class="{one.mood or "plain"}"><dt>{escape(one.name)}</dt>'
        f"<dd{' class=long' if len(one.value) > LONG else ''}>{escape(one.value)}</dd>"
        f"<dd>{escape(cut(one.note, LONGEST_NOTE))}</dd></div>"
        for one in found
    )
    return f'<dl class="tiles">{inner}</dl>'


def plain_tiles(found: Sequence[Tile]) -> str:
    """Return the tiles as a table that needs no style sheet, for notebooks."""
    colours = {"good": "#1a8a63", "doubt": "#a06f00", "bad": "#c8400a", "": "inherit"}
    cells = "".join(
        '<td style="text-align:left;vertical-align:top;padding:8px 18px 8px 0;min-width:110px;white-space:normal">'
        f'<div style="opacity:.7">{escape(one.name)}</div>'
        f'<div style="font-size:1.5em;font-weight:700;color:{colours[one.mood]}">{escape(one.value)}</div>'
        f'<div style="opacity:.7">{escape(cut(one.note, LONGEST_NOTE))}</div></td>'
        for one in found
    )
    return f"<table><tbody><tr>{cells}</tr></tbody></table>" if found else ""


def matrix(names: Sequence[str], table: Sequence[Sequence[int]], caption: str) -> str:
    """Return a confusion matrix whose cells are shaded by their share of the row."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = []
    for name, counts in zip(names, table, strict=True):
        total = max(sum(counts), 1)
        cells = "".join(
            f'<td style="background:rgba(0,114,178,{SHADE * count / total:.3f})">{count:,}</td>' for count in counts
        )
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    above = f"<caption>{escape(caption)}</caption>"
    head = f'<tr><th scope="col">actual</th>{top}</tr>'
    return _wide(f'<table class="matrix">{above}<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>', "A table")


def side(*parts: str) -> str:
    """Return parts side by side where there is room."""
    return f'<div class="side">{"".join(parts)}</div>' if any(parts) else ""


def charts(*figures: str) -> str:
    """Return figures side by side, as many as fit; "" if there are none."""
    inner = "".join(figures)
    return f'<div class="charts">{inner}</div>' if inner else ""


def figure(panel: Panel | Bars | None, hero: bool = False) -> str:
    """Return a chart with its heading; as `hero` it is twice as wide where there is room."""
    if panel is None:
        return ""
    small = svg.panel(panel, svg.NARROW)
    drawn = f'<div class="large">{svg.panel(panel)}</div><div class="small">{small}</div>' if hero else small
    kind = ' class="hero"' if hero else ""
    return f"<figure{kind}><figcaption>{escape(panel.heading)}</figcaption>{drawn}</figure>"


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


def assumptions(certificates: Iterable[Certificate]) -> str:
    """Return the assumptions of all certificates, folded; "" if there are none."""
    inner = rests_on(certificates)
    return folded(f"Assumptions: {inner.count('<li>')}", inner) if inner else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"


def again(command: Sequence[str] = (), source: str = "", fingerprint: Mapping[str, object] | None = None) -> str:
    """Return, folded, where the results come from: date, file with its hash, versions, and the command to repeat it."""
    import numpy as np

    now = datetime.now(UTC)
    versions = f"novikoff {__version__}, Python {platform.python_version()} and numpy {np.__version__}"
    parts = [text(f"Written on {_day(now)} at {now:%H:%M} UTC by {versions}.", _file(source, fingerprint or {}))]
    if command:
        parts += [text("To repeat the run:"), verbatim(shlex.join(command))]
    return folded("Provenance: date, source, command", "".join(parts))


def _day(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"


def _file(source: str, fingerprint: Mapping[str, object]) -> str:
    """Describe the source: for a file, its size, date and hash, if it is still the file that was read."""
    path = Path(source)
    try:
        if not source or not path.is_file():
            return f"Source: {source}." if source else ""
        now, then = path.stat(), fingerprint.get("mtime_ns")
        day = _day(datetime.fromtimestamp(now.st_mtime, UTC))
        about = f"Source: {path.name}, {now.st_size:,} bytes, of {day}"
        if then is not None and (then, fingerprint.get("size")) != (now.st_mtime_ns, now.st_size):
            return f"{about}; it was changed after the run."
        with path.open("rb") as file:
            return f"{about}; SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}."
    except OSError:
        return f"Source: {source}."


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
