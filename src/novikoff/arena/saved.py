"""Saved games: a game of the arena as one HTML file that replays it without a server.

The file has the frames, the code of the page that draws them, and a content policy that blocks every request.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from novikoff.arena.replay import VERSION, replay
from novikoff.arena.scenes import chosen
from novikoff.arena.scenes.scene import checked_options
from novikoff.core.errors import InputError

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"
"""Content policy of a saved game."""
DRAWING = ("draw.js", "plane.js", "finite.js", "advice.js", "scenes.js", "formula.js", "charts.js")
"""Modules of the page that draw, in the order of their imports."""
FAMILIES = {"plane.js": "PLANE", "finite.js": "FINITE", "advice.js": "ADVICE"}
"""Object of the scenes in each module that has some; a saved game needs one of them."""


def script_of(link: str) -> dict[str, Any]:
    """Return the script of a link, as page/link.js writes it."""
    _, _, state = link.partition("#")
    given = dict(parse_qsl(state, keep_blank_values=True))
    if given.get("v") != str(VERSION) or "g" not in given:
        raise InputError(f"a link must be from the arena, with #v={VERSION}&g=… in it: got {link}.")
    try:
        options = {name: int(value) for name, _, value in (part.partition(":") for part in _parts(given.get("o", "")))}
        seed = int(given.get("s", "0"))
    except ValueError:
        raise InputError(f"options and seed of a link must be integers: got {link}.") from None
    kind, rival = chosen(given["g"]), given.get("r", "me")
    limits = kind(checked_options(kind, options), 0, "me").limits()
    moves = _moves(given.get("m", ""), [least for least, _ in limits])
    return {"v": VERSION, "game": kind.name, "options": options, "seed": seed, "rival": rival, "moves": moves}


def _parts(options: str) -> list[str]:
    return [part for part in options.split(",") if part]


def _moves(text: str, least: list[int]) -> list[Any]:
    """Return the moves of a link: A for the rival's, else two base-36 digits per coordinate and the answer."""
    moves: list[Any] = []
    at, width = 0, 2 * len(least)
    while at < len(text):
        if text[at] == "A":
            moves.append("a")
            at += 1
            continue
        digits = [text[at + 2 * i : at + 2 * i + 2] for i in range(len(least))]
        try:
            place = [int(pair, 36) + low for pair, low in zip(digits, least, strict=True)]
        except ValueError:
            raise InputError(f"a move of a link must have two base-36 digits per coordinate: got {digits}.") from None
        moves.append([place, text[at + width : at + width + 1]])
        at += width + 1
    return moves


def page(link: str) -> str:
    """Return the HTML file of the game of a link.

    Args:
        link: Link of the arena, from "#v=1" on or a whole address; the file opens at its round.
    """
    script = script_of(link)
    _, _, state = link.partition("#")
    played = replay({**script, "fields": True, "curve": True})
    count = len(script["moves"])
    shown = dict(parse_qsl(state)).get("t", "")
    game = {"game": script["game"], "t": int(shown) if shown.isdecimal() else count, **played}
    texts = {
        "name": html.escape(f"{chosen(script['game']).title}, {count} round{'' if count == 1 else 's'}"),
        "policy": POLICY,
        "style": _read("arena.css"),
        "link": html.escape(f"#{state}"),
        "code": re.sub(r"^(import .*$|export )", "", "".join(_drawing(script["game"])), flags=re.MULTILINE),
        "game": json.dumps(game, allow_nan=False).replace("<", "\\u003c"),
        "player": _read("saved.js"),
    }
    return re.sub(r"@(\w+)@", lambda token: texts[token[1]], _read("saved.html"))


def _drawing(game: str) -> Iterator[str]:
    """Yield the modules that draw a game; of families of scenes without it only an empty object."""
    for name in DRAWING:
        text = _read(name)
        needed = name not in FAMILIES or f"\n  {game}: {{" in text
        yield text if needed else f"const {FAMILIES[name]} = {{}};\n"


def _read(name: str) -> str:
    return resources.files("novikoff.arena").joinpath("page", name).read_text(encoding="utf-8")
