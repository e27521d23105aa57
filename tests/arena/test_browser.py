"""The page in a real browser: every game by mouse and by keys, links, branches, saved files, strangers, and axe."""

import math
import re

import numpy as np
import pytest

import novikoff as nk
from helpers import one_in
from novikoff.arena.replay import replay
from novikoff.arena.scenes import SCENES
from novikoff.reports import sentences

GAMES = list(SCENES)
PLACES = [(0.2, 0.3), (0.7, 0.6), (0.45, 0.8), (0.9, 0.15), (0.6, 0.35), (0.3, 0.65)]


EMPTY = "#v=1&g=perceptron&o=bias:1&s=0&r=me&m=&t=0"


def open_page(page, port, link=EMPTY):
    page.goto(f"http://127.0.0.1:{port}/{link}")
    page.wait_for_selector("body[data-ready]")
    return page


def rounds(page, count):
    page.wait_for_selector(f"#round[max='{count}']", state="attached")


def click(page, places):
    page.locator("#scene").scroll_into_view_if_needed()
    box = page.locator("#scene").bounding_box()
    for x, y in places:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def choose(page, game):
    """Open the game without a round."""
    page.goto(f"{page.url.partition('#')[0]}#v=1&g={game}&o=&s=0&r=me&m=&t=0")
    page.wait_for_selector(f"nav button[name={game}][aria-current=page]")
    rounds(page, 0)


def limit(bound):
    """A bound as the page writes it: rounded up to two decimals."""
    return f"{bound:,.0f}" if bound == int(bound) else f"{math.ceil(bound * 100) / 100:.2f}"


def seen(page):
    """All that a person sees of the game."""
    return page.inner_html("#scene"), page.inner_html("#curve"), page.inner_text("#said"), page.inner_text("#promises")


def moves(page):
    return re.search(r"&m=([^&]*)", page.url)[1]


@pytest.mark.parametrize("game", one_in(2, GAMES))
def test_every_game_is_played_by_mouse_and_its_link_opens_the_same(page, port, game):
    open_page(page, port)
    choose(page, game)
    click(page, PLACES)
    rounds(page, len(PLACES))
    assert re.match(
        r"\S (Valid|Not informative|Holds if the assumptions hold|No guarantee) [a-z_0-9]+(, for .*)?$",
        page.locator(".card p").first.text_content(),
    )  # as it is read aloud
    assert page.inner_text("#said").startswith(f"Round {len(PLACES)}:")
    assert page.locator("#scene > *").count() > 5
    page.evaluate("document.activeElement.blur()")
    link, before = page.url, seen(page)
    page.goto("about:blank")
    open_page(page, port, link[link.index("#") :])
    rounds(page, len(PLACES))
    assert page.url == link
    assert seen(page) == before


@pytest.mark.parametrize("game", one_in(2, GAMES, 1))
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


def test_it_opens_on_a_half_played_game_that_invites_a_click(page, port):
    open_page(page, port, "")
    played = int(page.get_attribute("#round", "max"))
    assert page.inner_text("#invitation").endswith("can you make it err more often than the theorem allows?")
    paid, allowed = int(page.inner_text("#paid")), int(page.inner_text("#allowed"))
    assert 0 < paid <= allowed < played == int(page.inner_text("#rounds"))
    assert f"{paid} mistakes; guaranteed at most {allowed}." in page.inner_text("#promises")
    click(page, PLACES[:1])
    rounds(page, played + 1)
    page.keyboard.press("u")
    rounds(page, played)
    assert (int(page.inner_text("#paid")), int(page.inner_text("#allowed"))) == (paid, allowed)


WALK = """async () => { // back through all rounds: what score, chart and formulas say in each
    const $ = (id) => document.getElementById(id), found = [];
    for (;;) {
        const t = Number($("round").value), title = `Guarantees after ${t} round${t === 1 ? "" : "s"}`;
        for (let k = 0; $("promised").textContent !== title; k++) {
            if (k > 4000) throw new Error(`no certificates of round ${t}`);
            await new Promise((done) => setTimeout(done, 5)); }
        found.push([t, $("paid").textContent, $("allowed").textContent,
            [...document.querySelectorAll("#curve text.bound")].map((one) => one.textContent),
            [...document.querySelectorAll("#promises math")].map((one) => one.textContent).join(" "),
            document.querySelector("#promises .card p:nth-of-type(2)").textContent]);
        if (t === 1) return found;
        $("back").click(); } }"""


def check_numbers(page, port, game, seed, count):
    """In every round, chart, score and first card have the number that the library has for the rounds so far."""
    rival = "target" if "target" in SCENES[game].rivals else SCENES[game].rivals[-1]
    page.goto("about:blank")  # else the next address only changes the game of an open page
    open_page(page, port, f"#v=1&g={game}&o=&s={seed}&r={rival}&m={'A' * count}&t={count}")
    rounds(page, count)
    walked = page.evaluate(WALK)
    assert [t for t, *_ in walked] == list(range(count, 0, -1))
    for t, paid, allowed, written, formulas, card in walked:
        found = replay({"v": 1, "game": game, "rival": rival, "seed": seed, "moves": ["a"] * t})
        last = found["frames"][-1]["paid"]
        assert paid in (f"{last:g}", f"{last:.2f}")
        assert "NaN" not in formulas
        if not found["curve"]:
            assert allowed == (f"{found['apriori']:g}" if found["apriori"] else "\u2013")
            assert not written
            continue
        _, bound, _, text = found["curve"][-1]
        if game == "risk":
            text = sentences.percent(found["certificates"][0]["bound"])
        assert allowed == (text.removesuffix(" %") if game == "risk" else limit(bound))
        assert [one.removesuffix(" \u2191") for one in written] == [f"at most {allowed}"]
        if game not in ("experts", "intervals"):  # theirs are of the regret, and of the coverage
            assert text in card
        known = [one["bound"] for one in found["certificates"] if "of" not in one and one["bound"] is not None]
        if game == "risk":
            known = [100.0 * one for one in known]
        assert bound in known or game in ("experts", "intervals")


@pytest.mark.parametrize("game", GAMES)
def test_chart_score_and_certificates_have_the_same_number_in_every_round(page, port, game):
    check_numbers(page, port, game, 3, 6)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_numbers_agree_in_fifty_games(page, port, game):
    for seed in range(50):
        check_numbers(page, port, game, seed, 25)


def test_picture_is_painted_before_the_certificates_are_there(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    held = []
    page.route("**/api/play", lambda route: route.continue_() if '"certify":false' in route.request.post_data
               else held.append(route))  # fmt: skip
    before = page.inner_html("#scene")
    click(page, PLACES[:1])
    page.wait_for_selector("#said:text('Round 1:')")
    assert page.inner_html("#scene") != before
    assert page.inner_text("#rounds") == "0"
    for route in held:
        route.continue_()
    rounds(page, 1)
    assert page.inner_text("#rounds") == "1"
    assert page.inner_text("#promised") == "Guarantees after 1 round"


def test_a_dragged_point_moves_and_the_game_is_played_again(page, port):
    open_page(page, port, "#v=1&g=perceptron&o=bias:0&s=0&r=me&m=4g3ap1c1cm&t=2")
    page.locator("#scene").scroll_into_view_if_needed()
    box = page.locator("#scene").bounding_box()
    at = lambda x, y: (box["x"] + box["width"] * (x + 1) / 2, box["y"] + box["height"] * (1 - y) / 2)
    page.mouse.move(*at(0.6, 0.18))
    page.mouse.down()
    page.mouse.move(*at(0.6, 0.4))
    page.mouse.move(*at(0.5, 0.8))
    page.mouse.up()
    page.wait_for_url("**m=46*")
    rounds(page, 2)
    assert moves(page).startswith("4650p1c1cm")


@pytest.mark.parametrize("game", one_in(3, GAMES))
def test_thumbnail_opens_a_game_that_is_half_played(page, port, game):
    open_page(page, port)
    opened = set()
    for _ in range(2):  # what was played is not there when the game is opened again
        choose(page, "thresholds" if game == "perceptron" else "perceptron")
        page.click(f"nav button[name={game}]")
        page.wait_for_selector(f"nav button[name={game}][aria-current=page]")
        page.wait_for_function("Number(document.getElementById('round').max) > 1")
        played = int(page.get_attribute("#round", "max"))
        page.wait_for_selector(f"h2:text-is('Guarantees after {played} rounds')")
        assert page.inner_text("#rounds") == str(played)
        assert page.inner_text("#invitation").startswith(f"{SCENES[game].title}.")
        opened.add(page.url)
        click(page, [(0.5, 0.5)])
        rounds(page, played + 1)
    assert len(opened) == 1


def test_arrow_u_is_dragged_and_the_guarantee_is_that_of_the_new_u(page, port):
    made = {"v": 1, "game": "hinge", "rival": "target", "moves": ["a"] * 12}
    open_page(page, port, f"#v=1&g=hinge&o=u:150,v:0&s=0&r=target&m={'A' * 12}&t=12")
    before = replay({**made, "options": {"u": 150, "v": 0}})["curve"][-1][1]
    assert page.inner_text("#allowed") == limit(before)
    box = page.locator("#scene").bounding_box()
    at = lambda u, v: (box["x"] + box["width"] * (u / 3 + 1) / 2, box["y"] + box["height"] * (1 - v / 3) / 2)
    page.mouse.move(*at(1.5, 0.0))
    page.mouse.down()
    page.mouse.move(*at(1.2, 0.3))
    page.mouse.move(*at(0.9, -0.6))
    page.mouse.up()
    page.wait_for_url(re.compile("o=u:(89|90|91),v:-(59|60|61)&"))
    u, v = map(int, re.search("o=u:([0-9]+),v:(-[0-9]+)&", page.url).groups())
    after = replay({**made, "options": {"u": u, "v": v}})["curve"][-1][1]
    assert after != before
    page.wait_for_selector(f"#allowed:text-is('{limit(after)}')")
    rounds(page, 12)


def test_formula_has_the_value_of_the_bound(page, port):
    for link in (
        "#v=1&g=hinge&o=u:120,v:90&s=1&r=target&m=AAAAAAAAAAAA&t=12",
        EMPTY.replace("m=&t=0", "m=4g3ap1c1cm&t=2"),
    ):
        page.goto("about:blank")
        open_page(page, port, link)
        for card in page.locator("#promises .card").all():
            if "hinge" in card.locator("p").first.text_content():
                value = float(card.locator("math[data-value]").get_attribute("data-value"))
                bound = math.floor(value + 1e-9)
                assert re.search(rf"at most {bound}\b|\({bound} mistakes\)", card.locator("p").nth(1).text_content())


def test_picture_moves_to_the_next_round_unless_motion_is_unwanted(page, port):
    link = "#v=1&g=thresholds&o=n:100&s=0&r=builtin&m=AAA&t="
    sample = """async () => { const seen = new Set(); document.getElementById('forward').click();
        for (const end = performance.now() + 400; performance.now() < end;) {
            seen.add([...document.querySelectorAll('#scene rect.fill-ink')].at(-1).getAttribute('width'));
            await new Promise(requestAnimationFrame); }
        return seen.size; }"""
    widths, ends = {}, set()
    for motion in ("no-preference", "reduce"):
        page.emulate_media(reduced_motion=motion)
        page.goto("about:blank")
        open_page(page, port, link + "0")
        widths[motion] = page.evaluate(sample)
        page.wait_for_selector("h2:text-is('Guarantees after 1 round')")
        ends.add(page.inner_html("#scene"))
    assert widths["reduce"] == 1
    assert widths["no-preference"] > 3
    assert len(ends) == 1


def test_the_place_under_the_pointer_is_described(page, port):
    open_page(page, port, "#v=1&g=thresholds&o=n:9&s=0&r=me&m=05p&t=1")
    page.hover("#scene", position={"x": 5, "y": 100})
    assert page.text_content("#value") == "x = 0: 1 of 6 thresholds left vote +1"
    page.mouse.move(0, 0)
    assert page.text_content("#value") == ""
    assert "thresholds still consistent" in page.text_content("#legend")


def test_a_lesson_is_walked_through(page, port):
    open_page(page, port, "")
    page.select_option("#lessons", label="0. Mistake bounds")
    page.wait_for_selector("#lesson-step:text('step 1 of')")
    last = int(page.inner_text("#lesson-step").split()[-1])
    texts = set()
    for k in range(1, last + 1):
        page.wait_for_selector(f"#lesson-step:text('step {k} of')")
        texts.add(page.inner_text("#lesson-text"))
        assert page.is_hidden("#error")
        if k < last:
            page.click("#lesson-next")
    assert len(texts) == last
    assert page.is_disabled("#lesson-next")
    page.click("#lesson-back")
    page.wait_for_selector(f"#lesson-step:text('step {last - 1} of')")
    page.goto("about:blank")
    open_page(page, port, "#lesson=experts.2")
    assert page.inner_text("#lesson-title") == "4. Experts, regret, bandits and change"
    page.click("#lesson-end")
    assert page.is_hidden("#lesson")
    assert "lesson" not in page.url


def test_a_link_can_hide_the_options(page, port):
    open_page(page, port)
    page.check("#plain")
    link = page.url
    assert link.endswith("&plain=1")
    page.goto("about:blank")
    open_page(page, port, link[link.index("#") :])
    assert not page.is_visible("#rival")
    assert not page.is_visible("nav")
    click(page, PLACES[:2])
    rounds(page, 2)


def test_hidden_target_is_shown_on_request(page, port):
    open_page(page, port, "#v=1&g=thresholds&o=n:9&s=0&r=target&m=AA&t=2")
    before = page.locator("#scene line").count()
    page.click("#reveal")
    page.wait_for_selector("#reveal[aria-pressed=true]")
    page.wait_for_function(f"document.querySelectorAll('#scene line').length > {before}")
    page.click("#reveal")
    assert page.locator("#scene line").count() == before


def test_keys_answer(page, port):
    open_page(page, port)
    page.focus("#scene")
    for key in "+-!":
        page.keyboard.press("ArrowLeft")
        page.keyboard.press(key)
    rounds(page, 3)
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#note") == "point \u22120.15, 0.05"
    assert re.search(r"m=(....p)(....m)(....[pm])&", page.url)


def test_a_hundred_quick_clicks_are_a_hundred_rounds(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    click(page, [((37 * k % 100) / 100, 0.5) for k in range(100)])
    rounds(page, 100)
    assert page.inner_text("#said").startswith("Round 100:")


def test_rewinding_and_playing_begins_a_branch(page, port):
    open_page(page, port)
    click(page, PLACES)
    rounds(page, len(PLACES))
    for _ in range(3):
        page.click("#back")
    assert page.inner_text("#said").startswith("Round 3:")
    page.wait_for_selector("text=Guarantees after 3 rounds")
    page.locator("#promises > details > summary").click()
    assert "no better than the number of rounds" in page.inner_text("#promises")
    page.locator(".card summary").first.click()
    page.wait_for_selector("text=Proof")
    whole = moves(page)
    click(page, [(0.1, 0.9)])
    rounds(page, 4)
    page.wait_for_selector("text=Guarantees after 4 rounds")
    assert moves(page)[:15] == whole[:15]
    assert len(moves(page)) == 20
    assert page.locator(".card details[open]").count() == 1


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
    assert "No target allows the opposite" in page.inner_text("#said")
    page.keyboard.press("!")
    rounds(page, 2)
    assert "No guarantee" in page.inner_text("#promises")


@pytest.mark.parametrize("rival", ["builtin", "target", "data"])
def test_rivals_play(page, port, rival):
    open_page(page, port)
    page.select_option("#rival", rival)
    rounds(page, 0)
    page.click("#ten")
    rounds(page, 10)
    if rival == "builtin":
        assert "the adversary guarantees at least 10" in page.inner_text("#promises")
    page.evaluate("""() => { const real = setTimeout; window.waits = [];
        window.setTimeout = (act, wait) => { waits.push(wait); return real(act, 0); }; }""")
    for speed, wait in (("slow", 1000), ("fast", 0)):
        page.select_option("#speed", label=speed)
        before = page.get_attribute("#round", "max")
        page.click("#run")
        page.wait_for_selector(f"#round:not([max='{before}'])", state="attached")
        page.click("#run")
        page.wait_for_selector("#run:text('Run')")
        assert page.evaluate("waits.at(-1)") == wait
    assert re.fullmatch("A{12,}", moves(page))


def test_options_begin_a_new_game(page, port):
    open_page(page, port)
    choose(page, "thresholds")
    page.fill("#options input", "7")
    page.locator("#options input").blur()
    page.wait_for_selector("text=of 9")
    assert "o=n:7" in page.url


@pytest.mark.parametrize("game", ["kernel", "experts"])
def test_a_saved_file_needs_no_server(page, port, tmp_path, game):
    open_page(page, port)
    choose(page, game)
    click(page, PLACES)
    rounds(page, len(PLACES))
    said = page.inner_text("#said")
    page.evaluate("document.activeElement.blur()")
    before = page.inner_html("#scene")
    with page.expect_download() as download:
        page.click("#save")
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    page.goto(file.as_uri())
    assert page.inner_text("#said") == said
    assert page.inner_html("#scene") == before
    for _ in range(4):
        page.click("#back")
    assert page.inner_text("#said").startswith("Round 2:")
    assert page.inner_html("#scene") != before
    assert ("border" in page.inner_html("#scene")) == (game == "kernel")
    assert page.locator(".card").count() >= 1
    assert f"novikoff arena '#v=1&g={game}" in page.inner_text("code")


def test_answers_that_are_hidden_are_guessed(page, port):
    open_page(page, port, "#v=1&g=thresholds&o=n:9&s=0&r=me&m=05m08p07p&t=0&hide=answers")
    assert page.is_checked("#hide")
    page.click("#forward")
    assert page.inner_text("#said") == "Round 1: the learner predicts +1. Your answer?"
    assert page.locator("#scene text", has_text="?").count() == 1
    assert "0 to 10 left" in page.text_content("#scene")
    page.evaluate("() => { document.getElementById('round').value = 3; document.getElementById('round').dispatchEvent("
                  "new Event('input')); }")  # fmt: skip
    assert page.inner_text("#said").startswith("Round 1: the learner predicts")
    page.click("#guess button[data-guess='-1']")
    assert page.inner_text("#said") == "Round 1: the learner predicted +1, the answer was \u22121. 1 mistake so far."
    assert page.inner_text("#note") == "You were right."
    assert page.url.endswith("&t=1&hide=answers")
    page.keyboard.press(".")
    page.keyboard.press("-")
    assert page.inner_text("#note") == "You were wrong."
    page.uncheck("#hide")
    assert page.url.endswith("&t=2")
    page.click("#forward")
    assert page.inner_text("#said").startswith("Round 3: the learner predicted")


def test_honest_answers_give_the_reason_they_are_not_the_opposite(page, port):
    open_page(page, port, "#v=1&g=thresholds&o=n:9&s=0&r=me&m=05p&t=1")
    click(page, [(0.9, 0.5)])
    rounds(page, 2)
    assert page.inner_text("#note").startswith("No threshold allows the opposite")


def test_a_bound_in_the_curve_is_rounded_up(page, port):
    open_page(page, port, "#v=1&g=experts&o=&s=0&r=me&m=01p01p02p02p&t=4")
    allowed = page.evaluate("""async () => { const answer = await fetch("api/play", { method: "POST", headers: {
        "Content-Type": "application/json" }, body: JSON.stringify({ v: 1, game: "experts", moves:
        [1, 1, 2, 2].map((k) => [[k], "p"]) }) }); return (await answer.json()).curve[0][1]; }""")
    written = float(page.text_content("#curve text.bound").removeprefix("at most "))
    assert allowed <= written < allowed + 0.01


def test_bound_is_drawn_in_steps_above_the_loss_in_every_round(page, port):
    open_page(page, port, f"#v=1&g=experts&o=&s=0&r=me&m={'01p02p01p03p' * 5}&t=20")
    corners = page.locator("#curve path.minus-line").get_attribute("d")
    assert "L" not in corners
    allowed = [tuple(map(float, step.split("H"))) for step in corners.removeprefix("M38 ").split("V")]
    paid = page.locator("#curve path.plus-line").last.get_attribute("d").removeprefix("M").split("L")
    for x, y in (map(float, point.split()) for point in paid):
        assert y >= next(height for height, until in allowed if x <= until + 0.1) - 0.1


def test_games_play_where_the_browser_forbids_links(page, port):
    page.add_init_script("history.replaceState = () => { throw new DOMException('too many', 'SecurityError'); }")
    open_page(page, port)
    click(page, PLACES)
    rounds(page, len(PLACES))


def test_a_server_that_is_gone_is_named(page, port):
    open_page(page, port)
    page.route("**/api/*", lambda route: route.abort())
    click(page, PLACES[:1])
    page.wait_for_selector("#error:not([hidden])")
    assert "start novikoff arena again" in page.inner_text("#error")
    page.wrong[:] = [text for text in page.wrong if "ERR_FAILED" not in text]


BAD = {
    "#v=1&g=perceptron&m=zzzzp": "from -100 to 100", "#v=1&g=perceptron&o=bias:9&m=0000p": "from 0 to 1",
    "#v=1&g=perceptron&o=bias:9&m=": "from 0 to 1", "#v=2&g=boxes&m=0000p": "version",
    "#v=1&g=nothing": "must be one of",
    "#v=1&g=perceptron&m=<img src=x onerror=alert(1)>": "must", "#v=1&g=perceptron&r=evil&m=A": "must be one of",
    "#v=1&g=perceptron&m=0000x": "the answer one of", "#v=1&g=thresholds&o=n:99999999&m=00p": "from 1 to 1000",
    "#v=1&g=perceptron&m=0000o0000o": "must be p or m", "#garbage": "",
}  # fmt: skip


def test_untrusted_link_does_no_harm_and_is_explained(page, port):
    for link, why in BAD.items():
        page.goto("about:blank")
        open_page(page, port, link)
        assert why in page.inner_text("#error"), link
        played = int(page.get_attribute("#round", "max"))
        click(page, [(0.5, 0.4)])
        rounds(page, played + 1)
    page.wrong[:] = [text for text in page.wrong if "400 (Bad Request)" not in text]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", one_in(3, GAMES))
def test_page_passes_axe(page, port, scheme, game):
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


def test_a_phone_is_wide_enough_for_every_scene(page, port):
    page.set_viewport_size({"width": 375, "height": 740})
    open_page(page, port)
    for game in GAMES:
        page.click(f"nav button[name={game}]")
        page.wait_for_selector(f"nav button[name={game}][aria-current=page]")
        page.wait_for_url(f"**g={game}&**")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 375, game
        box = page.locator("#scene").bounding_box()
        assert box["y"] + box["height"] < 740, game


def test_reports_are_read_by_everybody(page, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    x = np.random.default_rng(0).normal(size=(60, 2))
    ledger = nk.play("perceptron:bias=1", (x, np.where(x[:, 0] > 0, "a long name of a label", "<b>")))
    compared = nk.compare(["perceptron", "hedge:learners=[[perceptron],[perceptron:bias=1]]"], (x, x[:, 0] > 0))
    for name, what, searched in (("game", ledger, "dark"), ("comparison", compared, "light")):
        nk.report(what, str(tmp_path / f"{name}.html"))
        for scheme, width in (("light", 900), ("dark", 390)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            page.goto((tmp_path / f"{name}.html").as_uri())
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            if scheme == searched:
                found = axe.Axe().run(page)
                assert found.violations_count == 0, found.generate_report()
