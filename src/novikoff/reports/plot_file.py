"""Files of charts: PNG or SVG, by the suffix. Equal charts give equal files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path, PurePath

from novikoff.core.errors import InputError
from novikoff.core.overwriting import check_replaced, first_bytes
from novikoff.reports import svg
from novikoff.reports.charts import Chart

MADE_BY = "made by novikoff"
"""Metadata that marks a file as a plot of this library."""


def check(path: str, force: bool = False) -> None:
    """Refuse a file that cannot be written, or must not be replaced, before the game is played."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in (".png", ".svg"):
        raise InputError(f"a plot must be a PNG or an SVG file: got {path}. End its name with .png or .svg.")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"the folder {Path(path).parent} does not exist. Create it, or choose another.")
    if suffix == ".png" and find_spec("matplotlib") is None:
        message = (
            'a PNG file needs matplotlib, which is not installed: pip install "novikoff[plot]", or write an .svg file.'
        )
        raise InputError(message)
    check_replaced(path, "a plot", _is_plot, force, InputError)


def _is_plot(path: str) -> bool:
    """Return whether the file is a plot of this library, by its metadata."""
    begin = first_bytes(path, 65536)
    return MADE_BY.encode() in begin and (begin.startswith(b"\x89PNG\r\n\x1a\n") or b"<svg" in begin)


def save(chart: Chart, path: str, force: bool = False) -> None:
    """Write a chart to a file."""
    check(path, force)
    try:
        if PurePath(path).suffix.lower() == ".svg":
            Path(path).write_text(svg.chart(chart, MADE_BY), encoding="utf-8")
        else:
            from novikoff.reports import png

            png.figure(chart).savefig(path, format="png", dpi=150, metadata={"Software": MADE_BY})
    except OSError as error:
        raise InputError(f"a plot must be writable: {path}: {error.strerror or error}.") from None
