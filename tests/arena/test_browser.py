"""The page in a real browser: every game by mouse and by keys, links, branches, saved files, strangers, and axe."""

import re

import pytest

from novikoff.arena.scenes import SCENES

GAMES = list(SCENES)
PLACES = [(0.2, 0.3), (0.7, 0.6), (0.45, 0.8), (0.9, 0.15), (0.6, 0.35), (0.3, 0.65)]


def open_page(page, port, link=""):
    page.goto(f"http://127.0.0.1:{port}/{link}")
    page.wait_for_selector("body[data-ready]")
    return page


def rounds(page, count):
    page.wait_for_selector(f"#round[max='{count}']", state="attached")


def click(page, places):
    box = page.locator("#scene").bounding_box()
    for x, y in places:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def choose(page, game):
    page.click(f"nav button[name={game}]")
    page.wait_for_selector(f"nav button[name={game}][aria-current=page]")
    rounds(page, 0)


def seen(page):
    """All that a person sees of the game."""
    return page.inner_html("#scene"), page.inner_html("#curve"), page.inner_text("#said"), page.inner_text("#promises")


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_played_by_mouse(page, port, game):
    open_page(page, port)
    choose(page, game)
    click(page, PLACES)
    rounds(page, len(PLACES))
    assert page.locator(".card").count() >= 1
    assert page.inner_text("#said").startswith(f"Round {len(PLACES)}:")
    assert page.locator("#scene > *").count() > 5


@pytest.mark.parametrize("game", GAMES)
def test_every_game_is_played_by_keys_alone(page, port, game):
    open_page(page, port)
    choose(page, game)
    page.focus("#scene")
    for k in range(5):
        page.keyboard.press(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"][k])
        page.keyboard.press("Enter")
    rounds(page, 5)
    page.keyboard.press(",")
    page.keyboard.press(",")
    assert page.inner_text("#said").startswith("Round 3:")
    page.keyboard.press(".")
    assert page.inner_text("#said").startswith("Round 4:")


def test_keys_answer(page, port):
    open_page(page, port)
    page.focus("#scene")
    for key in "+-!":
        page.keyboard.press("ArrowLeft")
        page.keyboard.press(key)
    rounds(page, 3)
    assert re.search(r"m=(....p)(....m)(....[pm])&", page.url)


def test_a_hundred_quick_clicks_are_a_hundred_rounds(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    click(page, [((37 * k % 100) / 100, 0.5) for k in range(100)])
    rounds(page, 100)
    assert page.inner_text("#said").startswith("Round 100:")


@pytest.mark.parametrize("game", GAMES)
def test_a_link_opens_the_same_game(page, port, game):
    open_page(page, port)
    choose(page, game)
    click(page, PLACES)
    rounds(page, len(PLACES))
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(50)
    link, before = page.url, seen(page)
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("body[data-ready]")
    rounds(page, len(PLACES))
    assert page.url == link
    after = seen(page)
    assert (after[0], after[2], after[3]) == (before[0], before[2], before[3])


def test_rewinding_and_playing_begins_a_branch(page, port):
    open_page(page, port)
    click(page, PLACES)
    rounds(page, len(PLACES))
    for _ in range(3):
        page.click("#back")
    assert page.inner_text("#said").startswith("Round 3:")
    whole = page.url
    click(page, [(0.1, 0.9)])
    rounds(page, 4)
    moves = [re.search(r"&m=([^&]*)", url)[1] for url in (whole, page.url)]
    assert moves[1][:15] == moves[0][:15]
    assert len(moves[1]) == 20


def test_the_slow_way_shows_the_vote_first(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    page.check("#slow")
    click(page, [(0.9, 0.5)])
    page.wait_for_selector("#ask:not([hidden])")
    assert "vote +1" in page.inner_text("#said")
    page.click("#ask button[data-answer=p]")
    rounds(page, 1)
    click(page, [(0.95, 0.5)])
    page.wait_for_selector("#ask:not([hidden])")
    assert "No target could still say the opposite" in page.inner_text("#said")
    page.keyboard.press("!")
    rounds(page, 2)
    assert "Does not apply" in page.inner_text("#promises")


@pytest.mark.parametrize("rival", ["builtin", "target", "data"])
def test_rivals_play(page, port, rival):
    open_page(page, port)
    page.select_option("#rival", rival)
    rounds(page, 0)
    page.click("#ten")
    rounds(page, 10)
    if rival == "builtin":
        assert "The adversary promised to force at least 10 mistakes" in page.inner_text("#promises")
    page.click("#run")
    page.wait_for_selector("#round:not([max='10'])", state="attached")
    page.click("#run")
    assert int(page.get_attribute("#round", "max")) > 10


def test_options_begin_a_new_game(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    page.fill("#options input", "7")
    page.locator("#options input").blur()
    page.wait_for_selector("text=of 9")
    assert "o=n:7" in page.url


def test_a_saved_file_needs_no_server(page, port, tmp_path):
    open_page(page, port)
    click(page, PLACES)
    rounds(page, len(PLACES))
    said = page.inner_text("#said")
    with page.expect_download() as download:
        page.click("#save")
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    page.goto(file.as_uri())
    assert page.inner_text("#said") == said
    page.evaluate(
        "() => { const r = document.getElementById('round'); r.value = 2; r.dispatchEvent(new Event('input')); }"
    )
    assert page.inner_text("#said").startswith("Round 2:")
    assert page.locator(".card").count() >= 1


BAD = [
    "#v=1&g=perceptron&m=zzzzp", "#v=1&g=perceptron&o=bias:9&m=0000p", "#v=2&g=boxes&m=0000p", "#v=1&g=nothing",
    "#v=1&g=perceptron&m=<img src=x onerror=alert(1)>", "#v=1&g=perceptron&r=evil&m=A", "#v=1&g=perceptron&m=0000x",
    "#v=1&g=thresholds&o=n:99999999&m=00p", "#garbage",
]  # fmt: skip


@pytest.mark.parametrize("link", BAD)
def test_a_strangers_link_does_no_harm(page, port, link):
    open_page(page, port, link)
    click(page, [(0.5, 0.4)])
    rounds(page, 1)
    page.wrong[:] = [text for text in page.wrong if "400 (Bad Request)" not in text]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", ["perceptron", "boxes", "experts"])
def test_axe_finds_nothing(page, port, scheme, game):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=scheme)
    page.context.set_extra_http_headers({})
    open_page(page, port)
    choose(page, game)
    click(page, PLACES)
    rounds(page, len(PLACES))
    page.click("#help")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_phone_is_wide_enough(page, port):
    page.set_viewport_size({"width": 360, "height": 740})
    open_page(page, port)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
