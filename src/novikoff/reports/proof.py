"""The proof of a theorem on one game: its rounds as a table, and the chain of its inequalities as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from novikoff.game.ledger import Ledger
from novikoff.game.trace import Trace, TraceRow
from novikoff.reports.charts import COLOURS, DASH_DOT, DASHED, DOTTED, SOLID, Chart, Line, Panel, brief, short_source

FIRST, MISTAKES, LAST = 10, 40, 5
"""Number of first rounds, of later mistakes and of last rounds that are printed."""
WIDEST_X = 40
"""Largest width of the column of x."""
FEW = 60
"""Largest number of points that are marked one by one."""
DASHES = (DASHED, SOLID, DASH_DOT, DOTTED)
"""Line style of each member of the chain: the side of the mistakes is dashed, the potential solid."""


def table(trace: Trace) -> Iterator[str]:
    """Yield the lines of the table: the first rounds, mistakes, the last rounds, and the number of those left out."""
    rows = trace.rows
    chosen = _chosen(rows)
    columns = [[name] for name in trace.columns]
    for row in chosen:
        for column, cell in zip(columns, (*row[:5], *row.potentials), strict=True):
            column.append(_cell(cell))
    columns[1] = [text if len(text) <= WIDEST_X else text[: WIDEST_X - 3] + "..." for text in columns[1]]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in zip(*columns, strict=True)
    ]
    yield lines[0]
    before = rows[0].t - 1 if rows else 0
    for row, line in zip(chosen, lines[1:], strict=True):
        if row.t > before + 1:
            left = row.t - before - 1
            yield f"... {left:,} {'round' if left == 1 else 'rounds'}"
        before = row.t
        yield line


def _chosen(rows: Sequence[TraceRow]) -> list[TraceRow]:
    """Return the rounds to print."""
    if len(rows) <= FIRST + LAST + 10:
        return list(rows)
    middle = [row for row in rows[FIRST:-LAST] if row.mistake is True]
    return [*rows[:FIRST], *middle[:MISTAKES], *rows[-LAST:]]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "x" if value else ""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + " ".join(_cell(one) for one in value) + "]"
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else str(value)


def chart(trace: Trace, ledger: Ledger, learner: str) -> Chart:
    """Return the chart of the proof: every member of its chain of inequalities, after each mistake."""
    where = "on" if ledger.adversary is None else "against"
    checks = trace.summary()
    title = f"{learner} {where} {short_source(ledger.source)}"
    proof = trace.proof
    if proof is None or not proof.points:
        why = checks[0] if proof is None else "the chain of inequalities has no values: no comparator, or no mistake"
        return Chart(f"proof: {title}", [Panel("", "mistakes", notes=[why])])
    across = [float(point.round if proof.every_round else point.mistakes) for point in proof.points]
    marked = len(across) <= FEW
    lines = []
    for k, name in enumerate(proof.chain):
        points = [(t, point.values[k]) for t, point in zip(across, proof.points, strict=True)]
        lines.append(Line(name, points, COLOURS[k], DASHES[k % len(DASHES)], marks=marked and k < 2,
                          end=brief(float(f"{points[-1][1]:.4g}"))))  # fmt: skip
    values = [value for point in proof.points for value in point.values]
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 1.0
    across_name, bottom = "rounds" if proof.every_round else "mistakes", low - room if low < 0.0 else 0.0
    panel = Panel(proof.scale, across_name, lines, notes=checks, low=bottom, high=high + room)
    return Chart(f"proof of {proof.theorem}: {title}", [panel])
