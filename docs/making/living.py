"""Living figures: saved games of the arena, in the pages of learners and theorems and next to items of the lectures."""

from __future__ import annotations

import re

from novikoff.arena.saved import page, script_of
from novikoff.lectures.contents import ARENA

COMMAND = re.compile(r"`novikoff arena '(#[^']+)'`")
"""A command of the lectures that opens a game."""
PLACE = re.compile(r"<!-- arena: ([\w-]+) -->")
"""Place of a game in a page."""


def name_of(link: str) -> str:
    """Return the name of the file of a game: its scene, rival and options."""
    script = script_of(link)
    return "-".join([script["game"], script["rival"], *(f"{key}{value}" for key, value in script["options"].items())])


def pages() -> dict[str, str | bytes]:
    """Return the file of each game that the lectures name, from its first round on."""
    return {f"living/{name_of(link)}.html": page(re.sub(r"&t=\d+", "&t=0", link)) for link in ARENA}


def watched(text: str) -> str:
    """Add a link to the saved game to each command that opens it."""
    return COMMAND.sub(lambda found: f"{found[0]}<br>[watch it here](living/{name_of(found[1])}.html)", text)


def placed(text: str) -> str:
    """Put the game of a learner or theorem where a page has the comment `<!-- arena: NAME -->`."""
    return PLACE.sub(lambda found: frame(found[1], "").strip(), text)


def frame(name: str, up: str) -> str:
    """Return the saved game of a learner or theorem as a frame, "" if there is none; `up` leads to the site's root."""
    link = next((link for link, terms in ARENA.items() if name in terms), "")
    if not link:
        return ""
    file = f"{up}living/{name_of(link)}.html"
    return (
        f"Press *Run*, or play yourself: `novikoff arena '{link}'`.\n\n"
        f'<iframe class="living" src="{file}" title="A game of {name}" loading="lazy"></iframe>\n'
    )


def figure(name: str) -> str:
    """Return a section with the game of a learner or a theorem, "" if there is none."""
    found = frame(name, "../")
    return f"\n\n## Play it\n\n{found}" if found else ""
