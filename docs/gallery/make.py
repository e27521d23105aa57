"""Make the pictures of the gallery and the README from real runs: python docs/gallery/make.py.

All but the README's need a browser (`make browser`); `python docs/gallery/make.py README` makes that one alone.
"""

import pathlib
import shutil
import sys
import tempfile
import threading
import time

import novikoff as nk
from novikoff.cli.main import main as novikoff
from novikoff.reports import game_chart, plot_file
from novikoff.reports.bound_curve import Bounds
from novikoff.reports.charts import Chart

HERE = pathlib.Path(__file__).parent
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
PORT = 1963
HEIGHTS = {"report": 810, "comparison": 1010, "experts": 830}
"""Height of each report's picture in pixels: it ends below a chart or a table."""
ARENA = {"arena": ("light", 860, ""), "arena-dark": ("dark", 860, "#lesson=finite-classes.2")}
"""Colour scheme, height and link of each picture of the arena; without a link it opens on a half-played game."""


def certificate():
    """Plot the README's run: mistakes, the guaranteed maximum and the best constant, and the rates below."""
    ledger = nk.play("perceptron", "demo:breast-cancer", observers=[Bounds()])
    panels = game_chart.panels(ledger, ledger.certify())
    plot_file.save(Chart("perceptron on demo:breast-cancer", panels), str(HERE / "certificate.png"), force=True)


def reports(folder):
    """Write the reports of a run, a comparison and a game of experts, and return their names."""
    runs = {
        "report": ["run", "demo:breast-cancer"],
        "comparison": [
            "compare",
            "demo:breast-cancer",
            "-l",
            "perceptron",
            "-l",
            "logistic",
            "-l",
            "auto",
            "--shuffles",
            "5",
        ],
        "experts": ["experts", "stream:random-losses:10,2000"],
    }
    for name, words in runs.items():
        assert novikoff([*words, "--report", str(folder / f"{name}.html"), "-q"]) == 0
    return list(runs)


def pages():
    """Make the pictures of reports and of the arena."""
    import uvicorn
    from playwright.sync_api import sync_playwright

    from novikoff.arena.server import app, warm_up

    browser_path = next(path for name in BROWSERS if (path := shutil.which(name)))
    warm_up()
    server = uvicorn.Server(uvicorn.Config(app(PORT), host="127.0.0.1", port=PORT, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        folder = pathlib.Path(place)
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 800, "height": 1000})
        for name in reports(folder):
            page.set_viewport_size({"width": 1180, "height": HEIGHTS[name]})
            for scheme, ending in (("light", ""), ("dark", "-dark")) if name == "report" else (("light", ""),):
                page.emulate_media(color_scheme=scheme)
                page.goto((folder / f"{name}.html").as_uri())
                page.screenshot(path=HERE / f"{name}{ending}.png")
        page.emulate_media(color_scheme="light")
        arena(page)
        browser.close()
    server.should_exit = True


def arena(page):
    """Make the pictures of the arena."""
    for name, (scheme, height, link) in ARENA.items():
        page.set_viewport_size({"width": 1100, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto("about:blank")
        page.goto(f"http://127.0.0.1:{PORT}/{link}")
        page.wait_for_selector("body[data-ready]")
        page.wait_for_timeout(300)
        page.screenshot(path=HERE / f"{name}.png")


def main():
    """Make every picture, or the README's alone."""
    certificate()
    if sys.argv[1:] != ["README"]:
        pages()
    print(f"pictures of novikoff {nk.__version__} in {HERE}")


if __name__ == "__main__":
    main()
