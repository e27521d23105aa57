"""User interfaces: time of a report, of the arena's replies, of a click in the browser, and the cost of --live.

The report is compared with matplotlib's plot of the same run, --live with the same run without it. Clicks are timed
only if a browser is installed.
"""

import shutil
import statistics
import threading
import time

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, ratio, seconds
from novikoff.arena.live import Live
from novikoff.arena.replay import replay
from novikoff.arena.scenes import SCENES
from novikoff.reports import game_chart, page, png

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
WANTED = {"kernel": 120}


def main():
    coins = np.random.default_rng(0)
    x = coins.normal(size=(1_000_000, 8))
    rows = nk.Arrays(x, np.where(x[:, 0] + coins.normal(size=len(x)) > 0, 1, -1))
    ledger = nk.play("perceptron", rows)
    certificates = ledger.certify()

    def made():
        return page.game(ledger, certificates, "perceptron")

    def plotted():
        png.figure(game_chart.chart(ledger, certificates, "perceptron")).savefig("/dev/null")

    times = alternated({"page": made, "plot": plotted})
    print(f"report of 1,000,000 rounds: {len(made()) / 1000:.1f} kB, {1e3 * statistics.median(times['page']):.1f} ms, "
          f"{ratio(times['plot'], times['page']):.0f}x as fast as the same plot with matplotlib")  # fmt: skip
    _live(x)
    for name, scene in SCENES.items():
        limits = scene({}, 0, "me").limits()
        moves = [[[int(coins.integers(a, b + 1)) for a, b in limits], "pm"[k % 2]] for k in range(100)]
        script = {"v": 1, "game": name, "moves": moves, "from": 100, "field": True}
        took = statistics.median(seconds(lambda: replay(script)) for _ in range(9))  # noqa: B023
        print(f"arena, {name}: {1e3 * took:.1f} ms to replay a game of 100 rounds")
    _clicks()


def _live(x):
    """Print the cost of --live on a run that is long enough for a dozen updates."""
    y = np.where(x[:, 0] > 0, 1, -1)

    def stream():
        return nk.Arrays(np.tile(x, (1, 4)), y)

    rows, lives = stream(), []

    def watched():  # a new Live for each run, as in `run --live`: its budget is a share of the run's time
        lives.append(Live("logistic"))
        nk.play("logistic", rows, observers=lives[-1:])

    times = alternated({"watched": watched, "alone": lambda: nk.play("logistic", rows)})
    for live in lives:
        live.close(0.0)
    print(f"--live: {ratio(times['watched'], times['alone']):.3f}x the time of the run alone (at most 1.02x)")


def _clicks():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        print("clicks were not timed: no browser is installed (`make browser`)")
        return
    import uvicorn
    from playwright.sync_api import sync_playwright

    from novikoff.arena.server import app, warm_up

    warm_up()
    server = uvicorn.Server(uvicorn.Config(app(1961), host="127.0.0.1", port=1961, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    timed = """() => new Promise((done) => {
        const scene = document.getElementById("scene"), said = document.getElementById("said"), box = scene.getBoundingClientRect();
        const begin = performance.now(), before = said.textContent;
        new MutationObserver((_, seen) => { seen.disconnect(); requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))); })
            .observe(said, { childList: true, characterData: true, subtree: true });
        scene.dispatchEvent(new MouseEvent("click", { clientX: box.left + Math.random() * box.width, clientY: box.top + Math.random() * box.height, bubbles: true }));
    })"""  # noqa: E501
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        one = browser.new_page()
        begin = time.perf_counter()
        one.goto("http://127.0.0.1:1961/")
        one.wait_for_selector("body[data-ready]")
        print(f"page: {1e3 * (time.perf_counter() - begin):.0f} ms until it is ready (at most 300)")
        for name in SCENES:
            one.click(f"nav button[name={name}]")
            one.wait_for_selector(f"nav button[name={name}][aria-current=page]")
            took = [one.evaluate(timed) for _ in range(30)]
            wanted = WANTED.get(name, 50)
            print(f"{name}: {statistics.median(took):.0f} ms from click to paint, rounds 1 to 30 (at most {wanted})")
        browser.close()
    server.should_exit = True


if __name__ == "__main__":
    main()
