"""docs/stability.md gives every public name and every command exactly one tier."""

import re
from pathlib import Path

import pytest

import novikoff as nk
from novikoff.cli.parser import parser

PAGE = (Path(__file__).parent.parent / "docs" / "stability.md").read_text()
_, NAMES, REST = re.split("^## .*$", PAGE, flags=re.MULTILINE)


def tiers(table):
    """The names of the tiers in rows `| area | stable | experimental |`."""
    rows = re.findall(r"^\| ([\w ]+) \|(.*)\|(.*)\|$", table, re.MULTILINE)
    return [[name for row in rows for name in re.findall(r"`([\w-]+)`", row[column])] for column in (1, 2)]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (NAMES, set(nk.__all__)),
        (re.search(r"^\| commands .*$", REST, re.MULTILINE)[0], set(parser().verbs())),
    ],
    ids=["names", "commands"],
)
def test_every_public_name_has_one_tier(table, expected):
    stable, experimental = tiers(table)
    listed = [*stable, *experimental]
    assert set(listed) == expected, "run make names, or add the name to docs/stability.md"
    assert len(listed) == len(expected), "a name is listed twice"
