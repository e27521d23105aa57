"""Pages of the notebooks, with their stored outputs."""

from __future__ import annotations

from pathlib import Path

from nbconvert import MarkdownExporter

PLACE = Path(__file__).parents[1] / "notebooks"


def pages() -> dict[str, str | bytes]:
    """Return pages and their pictures by path."""
    made: dict[str, str | bytes] = {}
    for path in sorted(PLACE.glob("*.ipynb")):
        text, more = MarkdownExporter().from_filename(str(path), {"unique_key": path.stem})
        note = f"*This page is a notebook: [{path.name}]({path.name}){{ download }}.*"
        made[f"notebooks/{path.stem}.md"] = text.replace("\n", f"\n\n{note}\n\n", 1)
        made.update({f"notebooks/{name}": picture for name, picture in more["outputs"].items()})
    return made
