"""Generator of the index of docs/decisions: number and title of each."""

from __future__ import annotations

from pathlib import Path

PLACE = Path(__file__).parents[1] / "decisions"


def pages() -> dict[str, str]:
    """Return the index by path."""
    listed = [f"- [{_title(path)}]({path.name})" for path in sorted(PLACE.glob("0*.md"))]
    lead = "Choices between reasonable alternatives: the question, the choice and the figures behind it."
    return {"decisions/index.md": "\n\n".join(["# Decisions", lead, "\n".join(listed)]) + "\n"}


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
