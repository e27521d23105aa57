"""`report`: the HTML report of a saved run, or of two."""

from __future__ import annotations

from pathlib import Path

from novikoff.core.errors import InputError
from novikoff.game import persistence
from novikoff.reports import html


def write(models: list[str], output: str, force: bool, command: tuple[str, ...]) -> int:
    """Write the report of one run, or of two, and return the exit code."""
    if len(models) > 2:
        raise InputError(f"a report is of one run or of two: got {len(models)} files.")
    html.check(output, force)
    ledgers = [persistence.load_game(path) for path in models]
    names = [Path(path).name for path in models]
    if len(ledgers) == 1:
        from novikoff.reports import page

        text = page.document(ledgers[0], command)
    else:
        from novikoff.reports import two_runs

        if names[0] == names[1]:
            names = models
        text = two_runs.page(ledgers[0], ledgers[1], (names[0], names[1]), command)
    html.save(text, output, force)
    print(f"report written to {output}")
    return 0
