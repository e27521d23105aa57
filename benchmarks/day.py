"""A day of the service in two minutes: varying traffic, late, missing and repeated labels, a drift at noon.

A service starts in an empty directory, and a client sends it the requests of a day, twelve minutes of it per second:
mails with a few features, whose labels arrive after minutes or hours, one in twenty never, one in ten twice. At noon
spam changes. The client counts the mistakes of the served predictions itself: they must equal those of the service, and
no bound may be violated. With --pictures DIR the dashboard is drawn at 8, 13 and 23 o'clock (playwright).
"""

import argparse
import heapq
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from novikoff.server.client import Client, ServiceError

HOURS, WAITS = 24.0, 6.0
"""Length of the day, and the waiting time after which a round expires, in hours."""


def started(folder, port):
    """Start the service; return its process, and a client once it answers."""
    command = [sys.executable, "-m", "novikoff", "serve", "--dir", folder, "--port", str(port), "--sync", "normal"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    token = Path(folder) / "token"
    for _ in range(600):
        if token.exists() and token.read_text().strip():
            client = Client(f"http://127.0.0.1:{port}", token.read_text().strip())
            try:
                client.models()
                return process, client
            except ServiceError:
                pass
        time.sleep(0.2)
    raise SystemExit("the service did not start")


def mail(rng, hour):
    """Return the features of a mail and its label. From noon on, spam has other words."""
    spam = rng.random() < 0.4
    new = hour >= HOURS / 2
    links, word = float(rng.poisson(1.0 + spam)), "offer" if spam != new else "hello"
    x = {"length": float(rng.normal(1.0 if spam else -1.0)), "links": links, "word": f"{word}{rng.integers(20)}"}
    return x, "spam" if spam else "ham"


def day(model, rng, seconds, rate, look):
    """Send the day; return the numbers of mails and labels, and of mistakes served as the client counts them."""
    begin, number, served, wrong, heard, labels = time.monotonic(), 0, {}, 0, set(), []
    while (hour := (time.monotonic() - begin) / seconds * HOURS) < HOURS:
        look(hour)
        lines = []
        for _ in range(rng.poisson(rate * (1.2 - math.cos(2 * math.pi * hour / HOURS)) / 10.0)):
            x, label = mail(rng, hour)
            number += 1
            lines.append({"op": "predict", "id": f"mail {number}", "x": x})
            if rng.random() >= 0.05:
                for _ in range(1 + (rng.random() < 0.1)):
                    heapq.heappush(labels, (hour + rng.exponential(0.5), f"mail {number}", label))
        while labels and labels[0][0] <= hour:
            _, id, label = heapq.heappop(labels)
            lines.append({"op": "label", "id": id, "label": label})
        for line, told in zip(lines, model.bulk(lines), strict=True):
            if "error" in told:
                assert told["error"]["code"] == "expired", told
            elif line["op"] == "predict":
                served[line["id"]] = told["prediction"]
            elif line["id"] not in heard:
                heard.add(line["id"])
                wrong += served[line["id"]] != line["label"]
        time.sleep(0.1)
    return number, len(heard), wrong


def main():
    parser = argparse.ArgumentParser("python -m benchmarks day", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rate", type=float, default=100.0, metavar="N", help="approximate number of mails per second")
    parser.add_argument("--port", type=int, default=19640)
    parser.add_argument("--pictures", metavar="DIR", help="folder for pictures of the dashboard (.png)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, client = started(folder, chosen.port)
        try:
            run_day(client, chosen, (Path(folder) / "token").read_text().strip())
        finally:
            process.terminate()
            process.wait(60)


def run_day(client, chosen, token):
    waits = WAITS / HOURS * chosen.seconds
    model = client.create("mail", "auto:fast=true", negative="ham", positive="spam", expire_seconds=waits)
    client.create("mail-perceptron", "perceptron:bias=1", negative="ham", positive="spam")
    hours = [8.0, 13.0, 23.0] if chosen.pictures else []

    def look(hour):
        if hours and hour >= hours[0]:
            picture(client.url, token, f"{chosen.pictures}/day-{hours.pop(0):.0f}h.png")

    sent, heard, wrong = day(model, np.random.default_rng(0), chosen.seconds, chosen.rate, look)
    found = model.certificate()
    print(f"{sent:,} mails, {heard:,} labels, {found['expired']:,} expired, {found['pending']:,} pending")
    print(f"{found['mistakes']:,} mistakes served (client: {wrong:,}), {found['changed']:,} predictions changed")
    for one in found["certificates"]:
        print(f"  {one['status']:<11} {one['theorem']}: {one['observed']:,.6g} <= {one['bound'] or math.nan:,.6g}")
    if (found["mistakes"], found["labelled"]) != (wrong, heard) or any(
        one["status"] == "violated" for one in found["certificates"]
    ):
        raise SystemExit("service and client disagree, or a bound is violated")


def picture(url, token, path):
    """Draw the dashboard in a browser, in the background."""
    command = [sys.executable, "-c", PICTURE, url, token, path]
    subprocess.Popen(command)


PICTURE = """
import sys
from shutil import which
from playwright.sync_api import sync_playwright
url, token, path = sys.argv[1:]
with sync_playwright() as driver:
    found = which("chromium-headless-shell") or which("chromium") or which("google-chrome")
    browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
    page = browser.new_context(http_credentials={"username": "novikoff", "password": token},
                               viewport={"width": 1000, "height": 900}).new_page()
    page.goto(url + "/#mail")
    page.wait_for_selector(".card", timeout=60000)
    page.wait_for_timeout(1500)
    page.screenshot(path=path, full_page=True)
    browser.close()
"""
