"""Saved games: the file of a link has the same game, and nothing of a stranger's link is run."""

import json
import re

import pytest

from novikoff.arena.replay import replay
from novikoff.arena.saved import page, script_of
from novikoff.cli.main import main
from novikoff.core.errors import InputError

LINK = "#v=1&g=thresholds&o=n:9&s=3&r=me&m=05p02m&t=1"


def game_in(text):
    return json.loads(re.search(r"^const game = (.*);$", text, re.MULTILINE)[1])


def test_script_of_a_link_is_the_one_that_the_page_plays():
    assert script_of(LINK) == {
        "v": 1, "game": "thresholds", "options": {"n": 9}, "seed": 3, "rival": "me", "moves": [[[5], "p"], [[2], "m"]],
    }  # fmt: skip
    plane = script_of("http://127.0.0.1:1962/#v=1&g=perceptron&o=bias:1&s=0&r=me&m=00zzpA5k2sm&t=2&hide=answers")
    assert plane["moves"] == [[[-100, 1195], "p"], "a", [[100, 0], "m"]]


def test_saved_game_has_the_frames_curve_and_certificates_of_its_link():
    found, played = game_in(page(LINK)), replay({**script_of(LINK), "fields": True, "curve": True})
    played.pop("ms"), found.pop("ms")
    assert found == json.loads(json.dumps({"game": "thresholds", "t": 1, **played}))


def test_saved_game_loads_nothing():
    text = page(LINK)
    assert "default-src 'none'" in text
    assert not re.search(r"^\s*(import|export) ", text, re.MULTILINE)
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}  # of elements: nothing is loaded
    assert set(re.findall(r"\w+://[^\"']*", text)) == names
    assert not re.search(r"@(name|policy|style|link|code|game|player)@", text)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("#v=2&g=perceptron", "from the arena"), ("nothing", "from the arena"), ("#v=1&g=evil", "must be one of"),
        ("#v=1&g=thresholds&o=n:x", "must be integers"), ("#v=1&g=thresholds&o=n:999999", "from 1 to 1000"),
        ("#v=1&g=thresholds&o=n:9&m=!!p", "base-36"), ("#v=1&g=thresholds&o=n:9&m=05", "the answer one of"),
        ("#v=1&g=thresholds&o=n:9&m=zzp", "from 0 to 9"), ("#v=1&g=thresholds&r=evil&m=A", "must be one of"),
    ],
)  # fmt: skip
def test_broken_links_are_refused_with_a_sentence(link, why):
    with pytest.raises(InputError, match=why):
        page(link)


def test_text_of_a_link_is_escaped():
    text = page(LINK + "&x=<script>alert(1)</script>'\"")
    assert "<script>alert" not in text


def test_command_line_saves_a_game_and_does_not_replace_other_files(tmp_path, capsys):
    file = tmp_path / "game.html"
    assert main(["arena", LINK, "--save", str(file)]) == 0
    assert game_in(file.read_text(encoding="utf-8"))["game"] == "thresholds"
    assert main(["arena", LINK, "--save", str(file)]) == 0
    file.write_text("my notes")
    assert main(["arena", LINK, "--save", str(file)]) != 0
    assert "must not replace" in capsys.readouterr().err
    assert main(["arena", LINK, "--save", str(file), "--force"]) == 0
    assert main(["arena", "--save", str(file)]) != 0
    assert "needs a link" in capsys.readouterr().err
